"""What a message says of what is written out of habit from another language."""

from __future__ import annotations

import pytest

import stead_sym as st
from stead_sym.logic.derived import OPERATORS
from stead_sym.logic.habits import _HABITS

BASE = """deployment desk
sort case, clerk
sort state = { open, done } rigid
relation State(case key, state)
relation Seen(case, clerk)
"""
DOT = "variables end with a dot: `forall x. P(x)`, `exists x, y. P(x, y)`"
TEMPORAL = "`AG`, `AF` and `AX` speak of all runs, `EG`, `EF` and `EX` of some run"
CONDITION = "a condition begins with `{}` here"
FACTS = "a fact is put in with `insert`, taken out with `delete`, replaced with `set`"

SLIPS = [
    ("spec s AG (State(_, open) @=> State(_, done))", "write `->`"),
    ("spec s AG forall c. (c =@> c)", "write `->`"),
    ("spec s AG forall c, d. c =@= d", "equality is one `=`"),
    ("spec s Seen(_, _) &@& Seen(_, _)", "write one `&`, or `and`"),
    ("spec s Seen(_, _) |@| Seen(_, _)", "write one `|`, or `or`"),
    *(
        (f"spec s true {left} false @{right} true",
         f"`f {left} g {right} h` reads in two ways: put one of them in parentheses")
        for left in OPERATORS for right in OPERATORS
    ),
    ("@// the rest", "a comment begins with `#`"),
    ("spec s true\n@-- the rest", "a comment begins with `#`"),
    ("sort n = 0..3 relation N(n) spec s forall x. N(x @+ 1)",
     "there is no arithmetic: `succ(x, y)` says that y is the next after x"),
    ("spec go@-ahead true", "a name has letters, digits and `_`, and no `-`"),
    ('spec s State(_, @"open")', "a value is written without quotes"),
    ("spec s State(_, @'open')", "a value is written without quotes"),
    ("spec s AG forall c @(State(c, open))", DOT),
    ("spec s AG forall c: @(State(c, open))", DOT),
    ("spec s AG exists c @State(c, open)", DOT),
    ("tool t() guard exists State@(_, open)", DOT),
    ("spec s G @forall c. State(c, open)", TEMPORAL),
    ("spec s always @forall c. State(c, open)", TEMPORAL),
    ("spec s F(State@(_, open))", TEMPORAL),
    ("spec s (State(_, open) @U State(_, done))", "`A[f U g]` speaks of all runs, `E[f U g]` of some run"),
    ("spec s AG forall c. (c@.state = open)",
     "a record has no fields: write the fact, such as `Status(x, open)`, or by columns"
     " `Order(id = x, status = open)`"),
    ("tool t(c: case) effect set State(c).state @+= open",
     "`set P(k).c = t` takes one value, without arithmetic"),
    ("tool t(c: case) effect ensure State'(id @= c, x)",
     "arguments stand there in their order, without names of columns"),
    ("tool t(c: case) effect set State(c, done) @if State(c, open)", CONDITION.format("where")),
    ("tool t(c: case) policy p call t(c) @where State(c, open)", CONDITION.format("when")),
    ("tool t(c: case) @when State(c, open)", CONDITION.format("guard")),
    ("tool t() policy p call t()\n  @else call t()",
     "the lines are tried from the top: write `call …` alone"),
    ("tool t(c: case) guard State(c, open) @set State(c, done)", "statements stand below `effect`"),
    ("tool t(c: case) effect @State(c, done) = true", FACTS),
    ("relation Due(case: id@: id)", "a column is `SORT`, or `NAME: SORT`, and `key` stands after it"),
    ("spec s@: true", "no colon stands there"),
    ("tool t()@: effect clear Seen", "no colon stands there"),
    ("tool t() effect clear Seen@; clear State", "nothing stands between items, or between statements"),
    ("tool t() @{ effect clear Seen }", "there are no braces: an item ends where the next one begins"),
    ('init from "c.csv" into State(Case @No, state)',
     'a column whose name has a space stands in double quotes: "Card No"'),
    ("@action t()", "write `tool`"),
    ("@Table t(case)", "write `relation`"),
    ("@relatoin t(case)", "did you mean relation?"),
    ("tool t() @efect clear Seen", "did you mean effect?"),
    ("tool t() effect @instert Seen(a, b)", "did you mean insert?"),
]  # fmt: skip


@pytest.mark.parametrize(("slip", "mend"), SLIPS)
def test_a_habit_is_told_what_to_write_instead(slip: str, mend: str) -> None:
    before, _, after = slip.partition("@")
    lines = (BASE + before).split("\n")
    with pytest.raises(st.errors.ParseError) as caught:
        st.parse_deployment(BASE + before + after, "f")
    place, _, message = str(caught.value).partition(": ")
    assert place == f"f:{len(lines)}:{len(lines[-1]) + 1}"
    assert message.partition("; ")[2] == mend


def test_every_habit_is_met_above() -> None:
    assert {known.mend for known in _HABITS} <= {mend for _, mend in SLIPS}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("spec s AG (Seen(_, _) & @", "a formula"),  # an end has no habit
        ("bound case @-1", "a number or `any`"),  # a sign, and no arithmetic
        ("relation Due(@3)", "a name or `)`"),
        ("spec s Seen(_ @_)", "`=`, `,` or `)`"),
    ],
)  # fmt: skip
def test_without_a_habit_the_message_lists_what_could_stand_there(text: str, expected: str) -> None:
    with pytest.raises(st.errors.ParseError, match="unexpected") as caught:
        st.parse_deployment(BASE + text.replace("@", ""), "f")
    assert str(caught.value).endswith(f"; expected {expected}")


@pytest.mark.parametrize("word", ["True", "FALSE"])
def test_truth_is_written_small(word: str) -> None:
    with pytest.raises(st.errors.DeclarationError, match=f"unknown relation {word}; write `{word.lower()}`"):
        st.parse_deployment(f"{BASE}tool t() guard {word}")
