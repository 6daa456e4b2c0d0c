"""Colours for the blocks of the language on the site: a lexer for Pygments."""

from __future__ import annotations

from typing import ClassVar

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

__all__ = ["SteadLexer"]

ITEMS = (
    *(
        "agent",
        "bound",
        "define",
        "deployment",
        "event",
        "fair",
        "gate",
        "init",
        "initially",
        "instructions",
        "policy",
    ),
    *("invariant", "relation", "sort", "spec", "system", "terminal", "text", "tool", "tools", "view"),
)
PARTS = (
    *(
        "allow",
        "any",
        "batch",
        "call",
        "calls",
        "choose",
        "clear",
        "default",
        "delete",
        "deny",
        "each",
        "effect",
        "empty",
        "ensure",
        "env",
        "expect",
        "fails",
        "for",
        "forbid",
        "fresh",
        "from",
        "guard",
        "holds",
    ),
    *("in", "insert", "into", "key", "on", "outcome", "parallel", "permit", "query"),
    *("references", "refusal", "refuses", "rigid", "same", "sequential", "set", "skip", "stop", "strong"),
    *("table", "total", "when", "where"),
)
LOGIC = (
    "AF",
    "AG",
    "AX",
    "EF",
    "EG",
    "EX",
    "A",
    "E",
    "U",
    "W",
    "and",
    "atleast",
    "atmost",
    "count",
    "exactly",
    "exists",
)
MORE_LOGIC = (
    *(
        "by",
        "did",
        "false",
        "forall",
        "historically",
        "not",
        "offered",
        "once",
        "or",
        "previously",
        "refused",
        "since",
        "succ",
        "sum",
    ),
    "true",
)


class SteadLexer(RegexLexer):
    """The words of the language where they may stand for something else, too: colours need no parser."""

    name = "stead"
    aliases: ClassVar[list[str]] = ["stead"]
    tokens: ClassVar[dict[str, list[object]]] = {
        "root": [
            (r"#.*$", Comment.Single),
            (r'"""(.|\n)*?"""', String),
            (r'"[^"\n]*"', String),
            (words((*LOGIC, *MORE_LOGIC), prefix=r"\b", suffix=r"\b"), Operator.Word),
            (words(ITEMS, prefix=r"^(?:\s*)", suffix=r"\b"), Keyword.Declaration),
            (words(PARTS, prefix=r"\b", suffix=r"\b"), Keyword),
            (r"[A-Za-z]\w*(?='?\()", Name.Function),
            (r"\d+", Number),
            (r"[A-Za-z_]\w*'?", Name),
            (r"<->|->|~>|<=|>=|!=|\.\.|[~!&|=<>]", Operator),
            (r"[(){}\[\],:.]", Punctuation),
            (r"\s+|.", Text),
        ]
    }
