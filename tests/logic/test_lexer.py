"""The lexer of the language gives the tokens of lark's own, and its errors."""

from __future__ import annotations

import random
from importlib.resources import files

import pytest
from lark import Lark, Token
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from stead_sym.deployment import language
from stead_sym.deployment.files import packaged_examples, packaged_text
from stead_sym.logic.parser import FORMULA_GRAMMAR

WORDS = [
    "U",
    "W",
    "or",
    "once",
    "since",
    "-",
    "<",
    "'",
    '"',
    "~>",
    "terminal when",
    "$",
    "count",
    "sum",
    "in",
]
"""Words whose meaning depends on what the parser allows, and characters that begin no word."""


@pytest.fixture(scope="module")
def plain():
    """Return the parser with lark's own lexer."""
    grammar = files("stead_sym.deployment").joinpath("deployment.lark").read_text(encoding="utf-8")
    settings = {"parser": "lalr", "propagate_positions": True, "maybe_placeholders": True}
    return Lark(FORMULA_GRAMMAR + grammar, start=list(language._STARTS), **settings)


def parsed(parser, text):
    """Return the tree with all places, or all that messages are made of."""
    try:
        tree = parser.parse(text, start="deployment")
    except UnexpectedInput as error:
        place = (error.pos_in_stream, error.line, error.column)
        match error:
            case UnexpectedToken():
                return (*place, error.token.type, error.token, error.expected, error.accepts)
            case UnexpectedCharacters():
                return (*place, error.char, error.allowed)
            case _:
                return (*place, type(error))
    tokens = [
        (node.type, str(node), node.start_pos, node.line, node.column, node.end_pos)
        for node in tree.scan_values(lambda value: isinstance(value, Token))
    ]
    return tree, tokens


def altered(text, dice):
    """Return the text with one word replaced, removed or added."""
    place, words = dice.randrange(len(text)), ["", *WORDS]
    return text[:place] + f" {dice.choice(words)} " + text[place + dice.choice([0, 0, 1, 8]) :]


@pytest.mark.parametrize("name", packaged_examples())
def test_files_have_the_tokens_and_errors_of_the_lexer_of_lark(plain, name):
    text, dice, outcomes = packaged_text(name), random.Random(name), set()
    for one in (text, *(altered(text, dice) for _ in range(40))):
        found = parsed(language._parser(), one)
        assert found == parsed(plain, one)
        outcomes.add(len(found))
    assert len(outcomes) == 3  # trees, unexpected tokens and unexpected characters
