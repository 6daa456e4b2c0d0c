"""Recognize syntax of other languages, and suggest this language's counterpart.

One decision: this runs only after the parser has rejected a text. It changes a message, never the language.
If no habit is recognized, the message lists the tokens that were expected.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass

from stead_sym.logic.derived import OPERATORS
from stead_sym.logic.names import nearest

_ITEM, _CONNECTIVE = "_DEPLOYMENT", "_AND"
"""Terminals that represent their group: the start of an item, the continuation of a formula."""


@dataclass(frozen=True, slots=True)
class _Habit:
    """A habit and its suggestion ``mend``.

    ``here`` matches at the position of the error and ``before`` up to it, both on its line. At least one of
    the terminals ``wants`` is allowed there, and none of ``not_wants``; an empty set is no condition.
    """

    mend: str
    here: str
    before: str = ""
    wants: frozenset[str] = frozenset()
    not_wants: frozenset[str] = frozenset()

    def fits(self, before: str, here: str, allowed: Set[str]) -> bool:
        """Return True if the habit matches at a position where the terminals ``allowed`` are expected."""
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
_AMOUNT = (
    "`count` and `sum` say what they go over:"
    " `(count x: s. P(x)) <= 3`, `(sum a for x: s, a: n. P(x, a)) <= 3`"
)
_NO_WINDOWS = "there are no windows of time: let an event count, or ask for `once` and `since`"
_ONE_CALL = "arguments are variables, constants and `_` there; compare them behind `when`"
_EXPECT = "write `spec NAME expect fails f`, or `expect holds`"
_PAST = r"\b(?:once|historically|previously|since)"
_CALLS = r"calls\b(?=\s*(?:batch|parallel|sequential|\d|#|$))"
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
    _Habit("`f since g since h` reads in two ways: put one of them in parentheses", r"since\b",
           before=r"\bsince\b.*"),
    _Habit("the operator stands before its formula: `previously f`, `once f`",
           r"(?:previously|once|historically)\b", wants=_of(_CONNECTIVE)),
    _Habit(_NO_WINDOWS, r"(?:in|within|during|for)\s+(?:the\s+)?(?:last\b|past\b|\d+\s+\w)",
           wants=_of(_CONNECTIVE)),
    _Habit(_NO_WINDOWS, r"\[|(?:step|day|hour|minute|second|week|month)s?\b", before=_PAST + r"\s*\d*\s*"),
    _Habit(_NO_WINDOWS, r"[\w(~!]", before=_PAST + r"\s*[<>]=?\s*\d+\s*"),
    _Habit("of the state before speaks `previously f`", r"[\w(~!]", wants=_of(_CONNECTIVE),
           before=r"\b(?:prev|previous|yesterday|Y)\s+"),
    _Habit("of what was at some time speaks `once f`", r"[\w(~!]", before=r"\b(?:ever|past|formerly|O|P)\s+",
           wants=_of(_CONNECTIVE)),
    _Habit("`f since g` says that f has held since g", r"S\b", wants=_of(_CONNECTIVE)),
    _Habit("of a step into the state speaks `did tool(x)`", r"\w",
           before=r"\b(?:called|call|invoked|executed|happened|after)\s+", wants=_of(_CONNECTIVE)),
    _Habit("of a step into the state speaks `did tool(x)`", r"\(",
           before=r"\b(?:last|called|happened)\s*\(\s*\w+"),
    _Habit("a step is named with all its arguments: `did tool(x)`, `did tool(_)`", r"\w", before=r"\bdid\s+"),
    _Habit("a step is named with all its arguments: `refused tool(x)`, `refused tool(_)`", r"\w",
           before=r"\brefused\s+", not_wants=_of("_INSERT")),
    _Habit("a call is named with all its arguments: `offered tool(x)`, `offered tool(_)`", r"\w",
           before=r"\boffered\s+"),
    _Habit("write `!=`", r">", before="<"),
    _Habit("compare twice: `1 <= x & x <= 3`", r"[<>]=?", before=r"[<>]=?\s*\w+\s*", wants=_of(_CONNECTIVE)),
    _Habit("compare: `1 <= x & x <= 3`, `x = a | x = b`", r"(?:not\s+)?in\b", wants=_of("_EQUAL")),
    _Habit("numbers are integers", r"\.\s*\d", before=r"\d"),
    _Habit("a comment begins with `#`", r"//|/\*|--"),
    _Habit("of arithmetic there are `+` and `-`", r"[*/%]", before=r"[\w)]\s*", wants=_of("SIGN")),
    _Habit(_AMOUNT, r"\w", before=r"\b(?:count|sum)\s+"),
    _Habit(_AMOUNT, r"(?:where|when|if|with|such)\b|\|", before=r"\b(?:count|sum)\b.*", wants=_of("_DOT")),
    _Habit(_AMOUNT, r"[.:*]", before=r"\b(?:count|sum)\s*\([^()]*"),
    _Habit(_AMOUNT, r"[-+<>=!]", before=r"\b(?:count|sum)\s*\([^()]*\)\s*"),
    _Habit("a formula stands before `|`; how many facts there are is `(count x: s. P(x))`", r"\|",
           not_wants=_of(_CONNECTIVE)),
    _Habit("of integers there are `+`, `-`, `count` and `sum`", r"[-+<>=!]|\w", wants=_of(_CONNECTIVE),
           before=r"\b(?:max|min|avg|average|len|size|abs|number|total)(?:\s+|\s*\([^()]*\)\s*)"),
    _Habit("a name has letters, digits and `_`, and no `-`", r"-\w", before=r"\w"),
    _Habit("a value is written without quotes", r"[\"']", wants=_of("NAME"), not_wants=_of("STRING", "TEXT")),
    _Habit(
        "one variable stands before `in`, a finite sort behind it: `exists x in s. exists y in t. P(x, y)`",
        r"in\b",
        before=r"\b(?:forall|exists)\s+\w+(?:\s*,\s*\w+)+\s*",
    ),
    _Habit(_DOT, r"[\w(~!]", before=r"\b(?:forall|exists)\s[\w\s,:]*", wants=_of("_DOT")),
    _Habit(_DOT, r"[(~!]", before=r"\b(?:forall|exists)\s[\w\s,:]*:\s*"),
    _Habit(_TEMPORAL, r"[\w(~!\[]", before=_LINEAR + r"\s*(?:\(\s*[~!]?\w*\s*)?"),
    _Habit("`A[f U g]` speaks of all runs, `E[f U g]` of some run", r"[UW]\b",
           wants=_of(_CONNECTIVE, "_IFF", "_RPAR")),
    _Habit("arguments stand there in their order, without names of columns", r"=",
           before=r"(?:\w'|\b(?:call|view|tool|fair|did)\b.*\w)\s*\([^()]*\w\s*", wants=_of("_COMMA")),
    _Habit("a column is named so: `P(c = x)`", r":", before=r"\w\s*\((?:[^()]*,)?\s*\w+\s*",
           wants=_of("_EQUAL")),
    _Habit("a column equals something there; name its value and compare that: `P(k = x, c = v) & v > 1`",
           r"[<>!]", before=r"\w\s*\([^()]*=[^()]*,\s*\w+\s*", wants=_of("_COMMA")),
    _Habit("write `set P(k).c = v + 1 for v where P(k, v)`: the old value has to be named", r"[-+]=",
           before=r"\.\s*\w+\s*"),
    _Habit("write `set P(k).c = v + 1 for v where P(k, v)`: the old value has to be named", r"[.(]",
           before=r"\bset\b.*=\s*\w+"),
    _Habit("one column is set at a time: write `set P(k).c = t` again for the next", r",|and\b|&",
           before=r"\bset\b[^=]*\.\s*\w+\s*=\s*\w+\s*"),
    _Habit("`set P(k, v)` replaces the fact of a key; without a key: `delete P(_)` and `insert P(v)`",
           r"[-+:]?=", before=r"\bset\s+\w+\s*"),
    _Habit("arguments stand in parentheses: `P(x)`", r"\[", before=r"\w"),
    _Habit("write `insert P(x)`, `delete P(x, _)`", r"\w+", before=r"\b(?:insert\s+into|delete\s+from)\s+"),
    _Habit("there is no `+=`: name the old value, as in `set P(k, v + 1) for v where P(k, v)`", r"=",
           before=r"\w\s*[-+]"),
    _Habit("a record has no fields: write the fact, such as `Status(x, open)`, or by columns"
           " `Order(id = x, status = open)`", r"\.\s*[A-Za-z_]", before=r"\w"),
    _Habit("negate the condition: `when ~f`, `where ~f`", r"unless\b"),
    _Habit("all arguments of the tool stand there: `pay(x, _)`", r"(?:when|where|if)\b|\n",
           before=r"\b(?:permit|forbid|call)\s+\w+\s*", wants=_of("_LPAR")),
    _Habit("write a line for each tool", r"\*", before=r"\b(?:permit|forbid|call)\s+"),
    _Habit("any value is `_`", r"\*", before=r"[(,]\s*"),
    _Habit(_ONE_CALL, r"[-+]", before=r"\b(?:permit|forbid|call)\b[^()]*\([^()]*"),
    _Habit("a gate is about all agents: leave `by` out", r"by\b", before=r"\b(?:permit|forbid)\b.*",
           wants=_of("LINE")),
    _Habit("write `permit`", r"(?:allow|accept|grant)\b", wants=_of("LINE")),
    _Habit("write `forbid`", r"(?:deny|block|reject|refuse|prohibit|disallow)\b", wants=_of("LINE")),
    _Habit("write `gate NAME default deny refuses`, of which either part may be left out, `allow` for `deny`",
           r"default\b|refuses\b|\w+", before=r"\bgate\s+\w+\s.*", wants=_of(_ITEM)),
    _Habit("write `gate NAME default deny refuses`, of which either part may be left out, `allow` for `deny`",
           r"gate\s+\w+[ \t]+\w", wants=_of(_ITEM)),
    _Habit("write `gate NAME`, and lines `permit tool(x)` and `forbid tool(x)` below",
           r"(?:gate|permit|forbid)\b", wants=_of(_ITEM)),
    _Habit("write `on refusal skip` or `on refusal stop`", r"\w", wants=_of(_ITEM),
           before=r"\bcalls\s+(?:batch|parallel)\s+\d+\s+"),
    _Habit("write `calls sequential`, `calls batch N` or `calls parallel N`", _CALLS, wants=_of(_ITEM)),
    _Habit("write `terminal when f`, or `terminal` alone", r"terminal\b", wants=_of(_ITEM)),
    _Habit(_EXPECT, r"expect\b", wants=_of(_ITEM)),
    _Habit("`for` stands before `expect`: `spec NAME for any expect fails f`", r"\w",
           before=r"\bexpect\s+(?:fails|holds)\s+for\s+"),
    _Habit(_EXPECT, r"\w", before=r"\bspec\s+\w+\s.*\b(?:expects?|expected|should|fails|holds)\s+"),
    _Habit("write `spec NAME for any f`", r"\w", before=r"\bspec\s+\w+\s+(?:under|of|with|by)\s+"),
    _Habit("a condition begins with `where` here", _CONDITION, wants=_of("_WHERE")),
    _Habit("a condition begins with `when` here", _CONDITION, wants=_of("_WHEN")),
    _Habit("a condition begins with `guard` here", _CONDITION, wants=_of("_GUARD")),
    _Habit("the lines are tried from the top: write `call …` alone", r"(?:else|elif|otherwise|default)\b",
           wants=_of("_CALL")),
    _Habit("statements stand below `effect`", r"(?:choose|fresh|insert|delete|set|clear|ensure)\b",
           wants=_of("_EFFECT"), not_wants=_of("_INSERT")),
    _Habit("a fact is put in with `insert`, taken out with `delete`, replaced with `set`",
           r"\w+\s*(?:[([.]|[-+:]?=)|update\b|add\b|remove\b",
           wants=_of("_INSERT")),
    _Habit("the relation alone stands there, `references P`: its key is meant", r"\(",
           before=r"\breferences\s+\w+\s*"),
    _Habit("a column is `SORT`, or `NAME: SORT`, and `key` or `references P` stand after it", r"[:\w]",
           before=r"\brelation\b.*", wants=_of("KEY")),
    _Habit("of integers `sort n = 0..9` has those from 0 to 9", r"\[|int\w*\b|nat\w*\b|number\b|:",
           before=r"\bsort\s+\w+\s*=?\s*"),
    _Habit("no colon stands there", r":", before=_HEADS, not_wants=_of("_COLON")),
    _Habit("nothing stands between items, or between statements", r"[,;]", wants=_of(_ITEM)),
    _Habit("there are no braces: an item ends where the next one begins", r"[{}]", wants=_of(_ITEM)),
    _Habit('a column whose name has a space stands in double quotes: "Card No"', r"\w", before=r"\w[ \t]+",
           wants=_of("OPTIONAL")),
)  # fmt: skip

_COUNTED = re.compile(r"\bcount\s*\(?\s*(\w+)\s*(?:\([\w\s,]*\))?\s*\)?\s*(<=|>=|==?|<|>)\s*(\d{1,9})\b")
"""`count(P) <= 2`, `count P(x) <= 2` and the like."""

_OVER = r"\w+(?:\s*:\s*\w+|\s+in\s+\w+)?"
_AMOUNTS = re.compile(rf"\b(count\s+|sum\s+)(?:[^.]*?\bfor\s+)?{_OVER}(?:\s*,\s*{_OVER})*\s*\.\s*")
"""The head of `count x: s. …` or `sum a for x: s, a: n. …`; its group is the word."""
_COMPARED = re.compile(r"\s*((?:[<>]=?|!?=)\s*)(-?\w+)")
_ATOM = re.compile(r"~?\w+(?:\([^()]*\))?\s*")

_ITEMS = {
    "action": "tool", "function": "tool", "operation": "tool", "def": "tool",
    "transition": "event", "environment": "event",
    "type": "sort", "enum": "sort", "class": "sort", "domain": "sort",
    "table": "relation", "predicate": "relation", "var": "relation",
    "property": "spec", "assert": "spec", "check": "spec",
    "fairness": "fair", "rule": "policy", "role": "agent", "const": "init", "constant": "init",
    "end": "terminal", "final": "terminal", "finished": "terminal", "accepting": "terminal",
    "deadlock": "terminal",
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
    """Return the suggestion for the text at ``place``, where ``allowed`` are the expected terminals.

    None if no habit is recognized.
    """
    begin, end = text.rfind("\n", 0, place) + 1, text.find("\n", place)
    before, here = text[begin:place], text[place : end if end >= 0 else len(text)]
    if (word := re.match(r"[A-Za-z_]\w*", here)) is not None:
        if _ITEM in allowed and not before.strip() and word[0].lower() in _ITEMS:
            return f"write `{_ITEMS[word[0].lower()]}`"
        known = [
            keyword
            for terminal in _KEYWORDS
            if terminal in allowed and not (terminal == _ITEM and re.search(r"\bexpect\s*$", before))
            for keyword in _KEYWORDS[terminal]
        ]
        if re.match(_CALLS, here) is None and (
            question := nearest(word[0], (keyword for keyword in known if keyword != word[0]), "")
        ):
            return question
    if (counted := _counted(text, begin, place, before + here)) is not None:
        return counted
    if (grouped := _grouped(before, here)) is not None:
        return grouped
    return next((known.mend for known in _HABITS if known.fits(before, here, allowed)), None)


def _counted(text: str, begin: int, place: int, line: str) -> str | None:
    """Return the suggestion for `count(P) <= 2` around the ``place``, if P may have one column."""
    for found in _COUNTED.finditer(line):
        relation, ordering, number = found[1], found[2], int(found[3])
        columns = re.search(rf"\brelation\s+{relation}\s*\(([^()]*)\)", text)
        if not found.start() < place - begin <= found.end() or (columns and "," in columns[1]):
            continue
        number += {"<": -1, ">": 1}.get(ordering, 0)
        word = {"<": "atmost", ">": "atleast"}.get(ordering[0], "exactly")
        if number >= 0:
            return f"write `{word} {number} x. {relation}(x)`"
    return None


def _grouped(before: str, here: str) -> str | None:
    """Return the suggestion for a `count` or `sum` that is compared without parentheses around it.

    The error is behind the word if a formula is expected, and at the comparison if parentheses begin before
    the word.
    """
    line, place = before + here, len(before)
    for head in _AMOUNTS.finditer(line):
        compared = None
        if place == head.end(1):
            compared = _COMPARED.search(line, head.end())
        elif place > head.end() and line.count("(", head.end(), place) == line.count(")", head.end(), place):
            compared = _COMPARED.match(line, place)
        if compared is not None:
            body = line[head.end() : compared.start()].strip()
            body = body if _ATOM.fullmatch(body) else "…"
            other = "…" if compared[2] in ("count", "sum") else compared[2]
            return f"parentheses are missing: `({head[0].strip()} {body}) {compared[1]}{other}`"
    return None
