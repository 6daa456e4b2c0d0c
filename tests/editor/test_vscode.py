"""The VS Code extension: its grammar colours what the language's grammar reads, its snippets can be read."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from lark import Lark, Token, Tree

from stead_sym.cli.editor.describe import KEYWORDS
from stead_sym.cli.new import TEMPLATES, template
from stead_sym.deployment.files import load_text, packaged_examples
from stead_sym.deployment.language import parse_deployment, read_items
from stead_sym.errors import InputError
from stead_sym.logic.derived import OPERATORS
from stead_sym.logic.parser import FORMULA_GRAMMAR

FOLDER = Path(__file__).parents[2] / "editor" / "vscode"
GRAMMAR = json.loads((FOLDER / "syntaxes" / "stead.tmLanguage.json").read_text(encoding="utf-8"))
SNIPPETS = json.loads((FOLDER / "snippets" / "stead.json").read_text(encoding="utf-8"))
TESTS = Path(__file__).parents[1]
TEXTS = {
    **{name: load_text(name)[0] for name in packaged_examples()},
    **{name: template(name) for name in TEMPLATES},
    **{p.stem: p.read_text() for p in sorted(TESTS.glob("conformance2/*.stead"))[::4]},
    "derived": "deployment d\n" + "".join(f"spec s{k} true {o} false\n" for k, o in enumerate(OPERATORS)),
    **{p.stem: p.read_text() for p in sorted((TESTS / "examples").glob("*.stead"))},
}


@cache
def colouring() -> Any:
    base = pytest.importorskip("textmate_grammar.parsers.base", reason="it colours as VS Code does")
    logging.getLogger("textmate_grammar").setLevel(logging.CRITICAL)
    return base.LanguageParser(GRAMMAR)


def scopes(text: str) -> dict[tuple[int, int], str]:
    """The innermost scope of every character, by line and column from 0."""
    found: dict[tuple[int, int], str] = {}
    for (line, column), part, names in colouring().parse_string(text).flatten():
        for offset in range(len(part)):
            found[line, column + offset] = names[-1]
    return found


@cache
def lexer() -> Lark:
    grammar = files("stead_sym.deployment").joinpath("deployment.lark").read_text(encoding="utf-8")
    return Lark(
        FORMULA_GRAMMAR + grammar,
        parser="lalr",
        start=["deployment"],
        propagate_positions=True,
        keep_all_tokens=True,
    )


def tokens(text: str) -> Iterator[Token]:
    """Every token of a text, as the language's own grammar reads it."""
    todo: list[Any] = [lexer().parse(text, start="deployment")]
    while todo:
        item = todo.pop()
        if isinstance(item, Token):
            yield item
        elif isinstance(item, Tree):
            todo += item.children


def fits(token: Token, scope: str) -> bool:
    """Return if the scope is one for the kind of token."""
    match token.type:
        case "NAME" | "PRIMED":
            return scope.startswith(("variable.", "entity.name."))
        case "INT":
            return scope.startswith("constant.numeric")
        case "STRING" | "LONG":
            return scope.startswith("string.")
        case "TRUE" | "FALSE":
            return scope.startswith("constant.language")
        case _ if token[0].isalpha():
            return scope.startswith(("keyword.", "storage."))
        case (
            "DERIVED"
            | "_IFF"
            | "_IMPLIES"
            | "_OR"
            | "_AND"
            | "_NOT"
            | "ORDERING"
            | "_EQUAL"
            | "_UNEQUAL"
            | "_BELOW"
            | "_DOTS"
        ):
            return scope.startswith("keyword.operator")
        case _:
            return not scope.startswith(("keyword.", "string.", "comment."))


@pytest.mark.parametrize("name", TEXTS)
def test_every_token_has_the_colour_of_its_kind(name: str) -> None:
    text = TEXTS[name]
    found = scopes(text)
    wrong = [
        (token.line, token.column, token.type, str(token), scope)
        for token in tokens(text)
        for scope in [found.get((token.line - 1, token.column - 1), "")]  # type: ignore[operator]
        if not fits(token, scope)
    ]
    assert wrong == []


def test_comments_are_comments_and_not_in_texts() -> None:
    text = 'deployment d # tool x()\ntool t() "not # a comment"\nsystem """# nor\nthis # """\n'
    found = scopes(text)
    assert found[0, 16].startswith("comment.")
    assert found[1, 15].startswith("string.")
    assert found[2, 12].startswith("string.")
    assert found[3, 3].startswith("string.")


def test_every_keyword_is_in_the_grammar_and_every_word_there_is_one() -> None:
    patterns = json.dumps(GRAMMAR["repository"])
    words = set(
        re.findall(r"[a-z]{2,}", " ".join(re.findall(r'"(?:match|begin)": "((?:[^"\\]|\\.)*)"', patterns)))
    )
    missing = {word for word in KEYWORDS if word.islower() and len(word) > 1} - words
    assert missing <= {"same", "empty", "succ"}
    assert words <= set(KEYWORDS)


@pytest.mark.parametrize("name", SNIPPETS)
def test_a_snippet_is_in_the_language(name: str) -> None:
    body = "\n".join(SNIPPETS[name]["body"])
    while re.search(r"\$\{\d+:[^{}]*\}", body):
        given = dict(re.findall(r"\$\{(\d+):([^{}]*)\}", body))
        innermost = {number: text for number, text in given.items() if "$" not in text}
        for number, text in innermost.items():
            body = body.replace(f"${{{number}:{text}}}", text)
            body = re.sub(rf"\${number}\b", text, body)
        assert innermost, body
    body = body.replace("$0", "")
    assert "$" not in body
    if name == "deployment":
        assert len(parse_deployment(body).specs) == 1
    else:
        read_items(f"deployment d\n{body}", "f")


def test_a_wrong_snippet_would_be_seen() -> None:
    with pytest.raises(InputError):
        read_items("deployment d\ntool x(", "f")


def test_the_manifest_names_what_is_there() -> None:
    manifest = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
    contributes = manifest["contributes"]
    paths = [
        manifest["main"],
        *(language["configuration"] for language in contributes["languages"]),
        *(grammar["path"] for grammar in contributes["grammars"]),
        *(snippet["path"] for snippet in contributes["snippets"]),
    ]
    for path in paths:
        assert (FOLDER / path).is_file(), path
    assert contributes["grammars"][0]["scopeName"] == GRAMMAR["scopeName"]
    json.loads((FOLDER / "language-configuration.json").read_text(encoding="utf-8"))
