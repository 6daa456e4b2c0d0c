"""What is written out of habit from another language, and what this one writes there.

One decision: this is looked at only where the parser has refused a text. It changes a message, never what is
in the language; where no habit is recognised, the message lists what could have stood there.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass

from stead_sym.logic.derived import OPERATORS
from stead_sym.logic.names import nearest

_ITEM, _CONNECTIVE = "_DEPLOYMENT", "_AND"
"""Terminals that stand for their group: where an item could begin, where a formula could go on."""


@dataclass(frozen=True, slots=True)
class _Habit:
    """``here`` begins at the place of the error, ``before`` ends there, both on its line. ``wants`` are
    terminals of which one could have stood there, ``not_wants`` such of which none could; empty: any."""

    mend: str
    here: str
    before: str = ""
    wants: frozenset[str] = frozenset()
    not_wants: frozenset[str] = frozenset()

    def fits(self, before: str, here: str, allowed: Set[str]) -> bool:
        return (
            re.match(self.here, here) is not None
            and re.search(f"(?:{self.before})$", before) is not None
            and (not self.wants or not self.wants.isdisjoint(allowed))
            and self.not_wants.isdisjoint(allowed)
        )


def _of(*terminals: str) -> frozenset[str]:
    return frozenset(terminals)


_CONDITION = r"(?:if|when|where|while|unless|given|requires?|pre|precondition|guard)\b"
_LINEAR = r"\b(?:G|F|X|always|globally|eventually|finally|next)"
_TEMPORAL = "`AG`, `AF` and `AX` speak of all runs, `EG`, `EF` and `EX` of some run"
_DOT = "variables end with a dot: `forall x. P(x)`, `exists x, y. P(x, y)`"
_HEADS = r"^\s*(?:deployment|init|tool|event|define|view|policy|agent|spec|guard|effect)\b.*"

_HABITS = (
    _Habit("write `->`", r"=+>"),
    _Habit("write `->`", r">", before="=+"),
    _Habit("equality is one `=`", r"=", before="="),
    _Habit("write one `&`, or `and`", r"&", before="&"),
    _Habit("write one `|`, or `or`", r"\|", before=r"\|"),
    *(
        _Habit(f"`f {left} g {right} h` reads in two ways: put one of them in parentheses",
               re.escape(right), before=f"{re.escape(left)}.*")
        for left in OPERATORS
        for right in OPERATORS
    ),
    _Habit("a comment begins with `#`", r"//|/\*|--"),
    _Habit(
        "there is no arithmetic: `succ(x, y)` says that y is the next after x",
        r"[-+]\s*[0-9]",
        before=r"[\w)]\s*",
        wants=_of(_CONNECTIVE, "_COMMA", "_RPAR"),
    ),
    _Habit("a name has letters, digits and `_`, and no `-`", r"-\w", before=r"\w"),
    _Habit("a value is written without quotes", r"[\"']", wants=_of("NAME"), not_wants=_of("STRING", "TEXT")),
    _Habit(_DOT, r"[\w(~!]", before=r"\b(?:forall|exists)\s[\w\s,:]*", wants=_of("_DOT")),
    _Habit(_DOT, r"[(~!]", before=r"\b(?:forall|exists)\s[\w\s,:]*:\s*"),
    _Habit(_TEMPORAL, r"[\w(~!\[]", before=_LINEAR + r"\s*(?:\(\s*[~!]?\w*\s*)?"),
    _Habit("`A[f U g]` speaks of all runs, `E[f U g]` of some run", r"[UW]\b",
           wants=_of(_CONNECTIVE, "_IFF", "_RPAR")),
    _Habit("arguments stand there in their order, without names of columns", r"=",
           before=r"(?:\w'|\b(?:call|view|tool|fair)\b.*\w)\s*\([^()]*\w\s*", wants=_of("_COMMA")),
    _Habit("`set P(k).c = t` takes one value, without arithmetic", r"[-+]=", before=r"\.\s*\w+\s*"),
    _Habit("a record has no fields: write the fact, such as `Status(x, open)`, or by columns"
           " `Order(id = x, status = open)`", r"\.\s*[A-Za-z_]", before=r"\w"),
    _Habit("a condition begins with `where` here", _CONDITION, wants=_of("_WHERE")),
    _Habit("a condition begins with `when` here", _CONDITION, wants=_of("_WHEN")),
    _Habit("a condition begins with `guard` here", _CONDITION, wants=_of("_GUARD")),
    _Habit("the lines are tried from the top: write `call …` alone", r"(?:else|elif|otherwise|default)\b",
           wants=_of("_CALL")),
    _Habit("statements stand below `effect`", r"(?:choose|fresh|insert|delete|set|clear|ensure)\b",
           wants=_of("_EFFECT"), not_wants=_of("_INSERT")),
    _Habit("a fact is put in with `insert`, taken out with `delete`, replaced with `set`", r"\w+\s*\(",
           wants=_of("_INSERT")),
    _Habit("a column is `SORT`, or `NAME: SORT`, and `key` stands after it", r"[:\w]",
           before=r"\brelation\b.*", wants=_of("KEY")),
    _Habit("no colon stands there", r":", before=_HEADS, not_wants=_of("_COLON")),
    _Habit("nothing stands between items, or between statements", r"[,;]", wants=_of(_ITEM)),
    _Habit("there are no braces: an item ends where the next one begins", r"[{}]", wants=_of(_ITEM)),
    _Habit('a column whose name has a space stands in double quotes: "Card No"', r"\w", before=r"\w[ \t]+",
           wants=_of("OPTIONAL")),
)  # fmt: skip

_ITEMS = {
    "action": "tool", "function": "tool", "operation": "tool", "def": "tool",
    "transition": "event", "environment": "event",
    "type": "sort", "enum": "sort", "class": "sort", "domain": "sort",
    "table": "relation", "predicate": "relation", "var": "relation",
    "property": "spec", "assert": "spec", "check": "spec",
    "fairness": "fair", "rule": "policy", "role": "agent", "const": "init", "constant": "init",
    "final": "terminal", "finished": "terminal", "accepting": "terminal", "deadlock": "terminal",
    "guardrail": "gate", "gateway": "gate", "firewall": "gate",
    "module": "deployment", "system_prompt": "system",
}  # fmt: skip

_KEYWORDS = {
    _ITEM: (
        "deployment", "sort", "relation", "init", "text", "initially", "bound", "define", "tool", "event",
        "agent", "view", "policy", "system", "instructions", "fair", "terminal", "gate", "spec",
    ),
    "_GUARD": ("guard",),
    "_EFFECT": ("effect",),
    "_WHEN": ("when",),
    "_WHERE": ("where",),
    "_CALL": ("call",),
    "LINE": ("permit", "forbid"),
    "_INSERT": ("choose", "fresh", "insert", "delete", "set", "clear", "ensure"),
    "RIGID": ("rigid",),
    "KEY": ("key",),
}  # fmt: skip


def habit(text: str, place: int, allowed: Set[str]) -> str | None:
    """What to write in place of what stands at ``place`` of the text, where one of the terminals ``allowed``
    could have stood; None where nothing is recognised."""
    begin, end = text.rfind("\n", 0, place) + 1, text.find("\n", place)
    before, here = text[begin:place], text[place : end if end >= 0 else len(text)]
    if (word := re.match(r"[A-Za-z_]\w*", here)) is not None:
        if _ITEM in allowed and not before.strip() and word[0].lower() in _ITEMS:
            return f"write `{_ITEMS[word[0].lower()]}`"
        known = [keyword for terminal in _KEYWORDS if terminal in allowed for keyword in _KEYWORDS[terminal]]
        if question := nearest(word[0], (keyword for keyword in known if keyword != word[0]), ""):
            return question
    return next((known.mend for known in _HABITS if known.fits(before, here, allowed)), None)
