"""Messages about text that is written out of habit from another language."""

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
AMOUNT = (
    "`count` and `sum` say what they go over:"
    " `(count x: s. P(x)) <= 3`, `(sum a for x: s, a: n. P(x, a)) <= 3`"
)
WINDOWS = "there are no windows of time: let an event count, or ask for `once` and `since`"
INTEGERS = "of integers there are `+`, `-`, `count` and `sum`"
STEP = "of a step into the state speaks `did tool(x)`"
OLD = "write `set P(k).c = v + 1 for v where P(k, v)`: the old value has to be named"
EXPECT = "write `spec NAME expect fails f`, or `expect holds`"
GATE = "write `gate NAME`, and lines `permit tool(x)` and `forbid tool(x)` below"
HEAD = "write `gate NAME default deny refuses`, of which either part may be left out, `allow` for `deny`"
CALLS = "write `calls sequential`, `calls batch N` or `calls parallel N`"
LINE = "tool pay(c: case)\ngate g\n  "
RANGE = "of integers `sort n = 0..9` has those from 0 to 9"
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
    ("spec s true since false @since true",
     "`f since g since h` reads in two ways: put one of them in parentheses"),
    ("spec s State(_, open) @previously", "the operator stands before its formula: `previously f`, `once f`"),
    ("spec s once State(_, open) @in the last 3 days", WINDOWS),
    ("spec s once State(_, open) @within 3 days", WINDOWS),
    ("spec s once@[0,3] State(_, open)", WINDOWS),
    ("spec s once<=3 @State(_, open)", WINDOWS),
    ("spec s State(_, open) since 3 @days", WINDOWS),
    ("spec s prev @State(_, open)", "of the state before speaks `previously f`"),
    ("spec s ever @State(_, open)", "of what was at some time speaks `once f`"),
    ("spec s State(_, open) @S State(_, done)", "`f since g` says that f has held since g"),
    ("spec s called @pay(x)", STEP),
    ("spec s AG offered @pay",
     "a call is named with all its arguments: `offered tool(x)`, `offered tool(_)`"),
    ("relation Up(case) spec s AG count(Up) @<= 2", "write `atmost 2 x. Up(x)`"),
    ("relation Up(case) spec s AG (count(Up) @< 2)", "write `atmost 1 x. Up(x)`"),
    ("relation Up(case) spec s AG count(Up@(x)) > 2", "write `atleast 3 x. Up(x)`"),
    ("relation Up(case) spec s AG count @Up >= 2", "write `atleast 2 x. Up(x)`"),
    ("relation Up(case) spec s AG count @Up = 2", "write `exactly 2 x. Up(x)`"),
    ("relation Up(case) spec s AG count(Up) @< 0", AMOUNT),
    ("spec s AG count(State) @<= 2", AMOUNT),
    ("spec s last(pay@(x))", STEP),
    ("spec s did @pay", "a step is named with all its arguments: `did tool(x)`, `did tool(_)`"),
    ("spec s refused @pay", "a step is named with all its arguments: `refused tool(x)`, `refused tool(_)`"),
    ("spec s forall c, d: case. c <@> d", "write `!=`"),
    ("spec s forall c, d, e: case. c < d @< e", "compare twice: `1 <= x & x <= 3`"),
    ("spec s forall x: state. x @in {open, done}", "compare: `1 <= x & x <= 3`, `x = a | x = b`"),
    ("spec s forall x: state. x <= 3@.5", "numbers are integers"),
    ("spec s AG sum(a) @<= 3", AMOUNT),
    ("spec s AG sum(State@.state) <= 3", AMOUNT),
    ("spec s AG count(@*) <= 3", AMOUNT),
    ("spec s AG count(c@: case) <= 3", AMOUNT),
    ("spec s AG (count c: case @where State(c, open)) <= 3", AMOUNT),
    ("spec s AG count @c: case. State(c, open) < 2",
     "parentheses are missing: `(count c: case. State(c, open)) < 2`"),
    ("spec s AG (count c: case. State(c, open) @< 2)",
     "parentheses are missing: `(count c: case. State(c, open)) < 2`"),
    ("spec s AG (true & count @c: case, k in state. (State(c, k) | Seen(c, _)) >= 2)",
     "parentheses are missing: `(count c: case, k in state. …) >= 2`"),
    ("spec s AG (Seen(_, _) -> sum @1 for c: case. State(c, open) = 2)",
     "parentheses are missing: `(sum 1 for c: case. State(c, open)) = 2`"),
    ("spec s AG count @c: case. State(c, open) <= count c: case. State(c, done)",
     "parentheses are missing: `(count c: case. State(c, open)) <= …`"),
    ("spec s AG max(a) @<= 3", INTEGERS),
    ("spec s AG (max @a for a: amount. Left(a)) <= 3", INTEGERS),
    ("spec s AG @|State| <= 3",
     "a formula stands before `|`; how many facts there are is `(count x: s. P(x))`"),
    ("@// the rest", "a comment begins with `#`"),
    ("spec s true\n@-- the rest", "a comment begins with `#`"),
    ("sort n = 0..3 relation N(n) spec s forall x. N(x @* 2)", "of arithmetic there are `+` and `-`"),
    ("spec go@-ahead true", "a name has letters, digits and `_`, and no `-`"),
    ('spec s State(_, @"open")', "a value is written without quotes"),
    ("spec s State(_, @'open')", "a value is written without quotes"),
    ("spec s AG forall c @(State(c, open))", DOT),
    ("spec s AG forall c: @(State(c, open))", DOT),
    ("spec s AG exists c @State(c, open)", DOT),
    ("tool t() guard exists State@(_, open)", DOT),
    ("spec s exists c, d @in State. true",
     "one variable stands before `in`, a finite sort behind it: `exists x in s. exists y in t. P(x, y)`"),
    ("spec s G @forall c. State(c, open)", TEMPORAL),
    ("spec s always @forall c. State(c, open)", TEMPORAL),
    ("spec s F(State@(_, open))", TEMPORAL),
    ("spec s (State(_, open) @U State(_, done))", "`A[f U g]` speaks of all runs, `E[f U g]` of some run"),
    ("spec s AG forall c. (c@.state = open)",
     "a record has no fields: write the fact, such as `Status(x, open)`, or by columns"
     " `Order(id = x, status = open)`"),
    ("spec s State@[c]", "arguments stand in parentheses: `P(x)`"),
    ("spec s State(case@: c, state: open)", "a column is named so: `P(c = x)`"),
    ("spec s State(case = c, state @!= open)",
     "a column equals something there; name its value and compare that: `P(k = x, c = v) & v > 1`"),
    ("tool t(c: case) effect set State(c).state @+= open", OLD),
    ("tool t(c: case) effect set State(c).state = State@(c).state", OLD),
    ("tool t(c: case) effect set State(c).state = done@, case = c",
     "one column is set at a time: write `set P(k).c = t` again for the next"),
    ("tool t(c: case) effect set State @= open",
     "`set P(k, v)` replaces the fact of a key; without a key: `delete P(_)` and `insert P(v)`"),
    ("tool t(c: case) effect insert into @State values (c, open)", "write `insert P(x)`, `delete P(x, _)`"),
    ("tool t(c: case) effect set State(c, n +@= 1)",
     "there is no `+=`: name the old value, as in `set P(k, v + 1) for v where P(k, v)`"),
    ("spec s AG count @c: case. State(c, open)", AMOUNT),
    ("tool t(c: case) effect ensure State'(id @= c, x)",
     "arguments stand there in their order, without names of columns"),
    ("tool t(c: case) effect set State(c, done) @if State(c, open)", CONDITION.format("where")),
    ("tool t(c: case) policy p call t(c) @where State(c, open)", CONDITION.format("when")),
    ("tool t(c: case) @when State(c, open)", CONDITION.format("guard")),
    ("tool t() policy p call t()\n  @else call t()",
     "the lines are tried from the top: write `call …` alone"),
    ("tool t(c: case) guard State(c, open) @set State(c, done)", "statements stand below `effect`"),
    ("tool t(c: case) effect @State(c, done) = true", FACTS),
    ("tool t(c: case) effect @State -= c", FACTS),
    ("tool t(c: case) effect @update State set state = done", FACTS),
    (f"{LINE}permit pay(c) @unless State(c, done)", "negate the condition: `when ~f`, `where ~f`"),
    (f"{LINE}permit pay @when State(_, done)", "all arguments of the tool stand there: `pay(x, _)`"),
    (f"{LINE}forbid @*", "write a line for each tool"),
    (f"{LINE}forbid pay(@*)", "any value is `_`"),
    (f"{LINE}forbid pay(c @+ 1)",
     "arguments are variables, constants and `_` there; compare them behind `when`"),
    (f"{LINE}forbid pay(c) @by desk", "a gate is about all agents: leave `by` out"),
    (f"{LINE}@allow pay(c)", "write `permit`"),
    (f"{LINE}@deny pay(c)", "write `forbid`"),
    ("@gate g:\n  permit pay(c)", GATE),
    ("spec s true\n@permit pay(c)", GATE),
    ("@gate g default maybe\n  forbid pay(_)", HEAD),
    ("gate g refuses @default deny\n  forbid pay(_)", HEAD),
    ("gate g default deny @default allow", HEAD),
    ("gate g default deny refuses @refuses", HEAD),
    ("@calls batch", CALLS),
    ("tool t() policy p call t()\n@calls parallel two", CALLS),
    ("@calls batch 2000000000000", CALLS),
    ("@calls 2", CALLS),
    ("calls batch 2 @on refusal retry", "write `on refusal skip` or `on refusal stop`"),
    ("spec s true\n@terminal if State(_, done)", "write `terminal when f`, or `terminal` alone"),
    ("@expect fails spec s true", EXPECT),
    ("spec s expect @fail true", EXPECT),
    ("spec s expects @fails true", EXPECT),
    ("spec s fails @AG true", EXPECT),
    ("spec s expect fails for @any AG true",
     "`for` stands before `expect`: `spec NAME for any expect fails f`"),
    ("spec s under @any AG true", "write `spec NAME for any f`"),
    ("sort n = @int", RANGE),
    ("sort n@: 0..3", RANGE),
    ("relation Due(case references State@(case))",
     "the relation alone stands there, `references P`: its key is meant"),
    ("relation Due(case: id@: id)",
     "a column is `SORT`, or `NAME: SORT`, and `key` or `references P` stand after it"),
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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("spec s once pay(c)", "pay is a tool, where a relation is expected; `did pay(…)` says that it was"
         " the last step, `offered pay(…)` that it may be called"),
        ("spec s AG ~come(_)", "come is an event, where a relation is expected; `did come(…)` says that"
         " it was the last step"),
        ("spec s AG offered come(c)", "come is an event, which no agent is offered; write its guard"),
        ("spec s AG refused(c)",
         "unknown relation refused; write `refused tool(x)`: the step into the state was"),
        ("spec s AG refused come(_)", "come is an event, which nobody refuses; write `did come(…)`"),
        ("spec s AG offered(c)", "unknown relation offered; write `offered tool(x)`: this call may be made"),
        ("spec s AG offered payy(_)", "unknown tool payy after `offered`; did you mean pay?"),
        ("tool t(c: case) effect set Due(c).owed = owed + 1",
         "unknown name owed: no binder declares it and it is no constant of the deployment; a"
         " column's name is no value: name that, as in `P(owed = x)`, `for x where P(k, x)`"),
    ],
)  # fmt: skip
def test_a_name_of_another_kind_is_told_what_it_is(text: str, message: str) -> None:
    more = "sort n = 0..3\nrelation Due(id: case key, owed: n)\ntool pay(c: case)\nevent come(c: case)\n"
    with pytest.raises(st.errors.DeclarationError) as caught:
        st.parse_deployment(BASE + more + text, "f")
    assert str(caught.value).partition(": ")[2].startswith(message)


@pytest.mark.parametrize("word", ["True", "FALSE"])
def test_truth_is_written_small(word: str) -> None:
    with pytest.raises(st.errors.DeclarationError, match=f"unknown relation {word}; write `{word.lower()}`"):
        st.parse_deployment(f"{BASE}tool t() guard {word}")
