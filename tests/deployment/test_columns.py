"""Columns by their names against atoms by position, and sets of columns against what the page says."""

from __future__ import annotations

import itertools
import random
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

import stead_sym as st
from engine_pairs import assert_same_answers, examples
from generated.workflows import workflows
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.deployment.semantics import successors
from stead_sym.deployment.tool import Call
from stead_sym.relational.instance import Fact, Instance

BASE = """deployment d
sort o
sort s = { x1, x2 } rigid
relation R(id: o key, st: s, num: s)
relation P(o)
bound o 1
init R(id = o1, num = x2, st = x1)
define D(z: o) = R(z, x1, _)
"""

ERRORS = [
    ("init R(id = o2, st = x1)", "9:6: a fact of R has a value in every column; add num"),
    ("spec a R(id = o1, x1, x2)", "9:10: R has arguments with and without a column's name;"),
    ("spec a R(ide = o1)", "9:16: R has no column ide; did you mean id?"),
    ("spec a P(id = o1)", "9:15: P has no column id; name it in `relation P(…)`, as in `id: SORT`"),
    ("spec a R(id = o1, id = o1)", "9:8: R has the column id twice here; leave one out"),
    ("spec a R(st = o1)", "9:15: o1 is of sort o, but argument 2 of R is of sort s;"),
    ("spec a D(z = o1)", "9:8: D is a define, which has no columns;"),
    ("tool t(z: o) effect insert R(id = z)", "9:28: `insert` needs all columns of R: add st, num"),
    ("tool t(z: o) effect set R(id = z, st = x1)", "9:25: `set` needs all columns of R: add num; `set R(…)."),
    ("tool t(z: o) effect set R(z, st = x1)", "9:30: R has arguments with and without a column's name; write"
     " `set R(z).st = x1`"),
    ("tool t(z: o) effect set R(z, st = x1, num = x2)", "9:30: R has arguments with and without a column's"
     " name; write `set R(z).st = x1` and `set R(z).num = x2`"),
    ("sort n = 0..3 relation Q(k: o key, c: n) tool t(z: o) effect set Q(z, c = v + 1) for v where Q(z, v)",
     "9:71: Q has arguments with and without a column's name; write `set Q(z).c = v + 1`"),
    ("tool t(z: o) effect set R(st = x1, z)", "9:27: R has arguments with and without a column's name; name"),
    ("tool t(z: o) effect insert R(z, st = x1)", "9:33: R has arguments with and without a column's"
     " name; name"),
    ("tool t(z: o) effect set R(z).id = o1", "9:25: id is a column of the key of R;"),
    ("tool t(z: o) effect set R(z, x1).st = x2", "9:25: the key of R has 1 columns, not 2;"),
    ("tool t(z: o) effect set R.st = x2", "9:25: the key of R has 1 columns, not 0;"),
    ("tool t(z: o) effect set R(_).st = x2", "9:25: `_` says of no value that `set` should add it;"),
    ("tool t(z: o) effect set R(z).st = _", "9:25: `_` says of no value that `set` should add it;"),
    ("tool t(z: o) effect set R(id = z).st = x1", "9:25: before the dot stands the key of R,"),
    ("tool t(z: o) effect set P(z).st = x1", "9:25: P declares no key,"),
    ("tool t(z: o) effect set R(z).sta = x1", "9:25: R has no column sta; did you mean st?"),
    ("view R(id = o)", '9:11: unexpected "="; arguments stand there in their order,'),
    ("relation Q(a: o, a: s)", "9:10: column of Q, a is declared twice"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), ERRORS)
def test_what_does_not_fit_is_told_with_its_place(text: str, message: str) -> None:
    with pytest.raises(st.errors.InputError) as caught:
        parse_deployment(BASE + text, "f")
    assert str(caught.value).startswith(f"f:{message}")


def by_name(text: str, d: st.Deployment, choose: random.Random) -> str:
    """The text with columns c0, c1, … in every relation, and most atoms by them, in any order."""

    def named(found: re.Match[str]) -> str:
        args = [arg.strip() for arg in found["args"].split(",")]
        cells = [f"c{k} = {arg}" for k, arg in enumerate(args) if arg != "_"]
        if not cells or choose.random() < 0.2:
            return found[0]
        choose.shuffle(cells)
        return f"{found['name']}({', '.join(cells)})"

    names = "|".join(re.escape(r.name) for r in d.schema.relations if r.arity)
    atom = re.compile(rf"\b(?P<name>{names})\((?P<args>[^()]+)\)") if names else re.compile("(?!)")
    lines = []
    for line in text.split("\n"):
        word = (line.split() or [""])[0]
        if word == "view":
            head, where, condition = line.partition(" where ")
            line = head + where + atom.sub(named, condition)
        elif word != "relation":
            line = atom.sub(named, line)
        lines.append(line)
    return "\n".join(lines)


@given(workflows(), hs.randoms(use_true_random=False))
@settings(max_examples=examples(200, quick=25))
def test_named_and_positional_atoms_are_the_same(deployment: st.Deployment, choose: random.Random) -> None:
    relations = tuple(
        replace(r, columns=tuple(f"c{k}" for k in range(r.arity))) for r in deployment.schema.relations
    )
    text = str(deployment)
    for old, new in zip(deployment.schema.relations, relations, strict=True):
        text = text.replace(f"{old}\n", f"{new}\n")
    named = parse_deployment(by_name(text, deployment, choose))
    assert named.written == deployment.written
    assert parse_deployment(str(named)) == named
    assert list(named.init) == list(deployment.init)


# sets of columns, read off the language page: per row, the values that each of its columns is given

VALUES = {"o": ("o1", "o2", "o3"), "s": ("x1", "x2")}


def column_sets(choose: random.Random, relation: tuple[str, ...]) -> tuple[str, list[tuple]]:
    """An effect of sets of columns of R(key…, c0, c1), as text and as (key, column, value, condition)."""
    lines, read = [], []
    for _ in range(choose.randint(1, 3)):
        over, where = choose.choice([("", ""), ("", ""), ("v", ""), ("v", "Q(v)"), ("v", "~Q(v)")])
        keys = [choose.choice(["p", "q", "o1", *over]) for _ in relation]
        column = choose.randint(0, 1)
        value = choose.choice(["x1", "x2", "w"])
        lines.append(
            f"set R({', '.join(keys)}).c{column} = {value}"
            + (f" for {over}: o" if over else "")
            + (f" where {where}" if where else "")
        )
        read.append((keys, column, value, over, where))
    return "\n    ".join(lines), read


def meant(state: frozenset[Fact], read: list[tuple], values: dict[str, str]) -> frozenset[Fact]:
    active = {v for fact in state for v in fact.args if v.startswith("o")}
    marked = {fact.args[0] for fact in state if fact.relation == "Q"}
    after = {fact for fact in state if fact.relation != "R"}
    for row in (fact.args for fact in state if fact.relation == "R"):
        given: tuple[set[str], set[str]] = (set(), set())
        for keys, column, value, over, where in read:
            for v in active if over else ("",):
                scope = {**values, "v": v}
                if where and (v in marked) == where.startswith("~"):
                    continue
                if tuple(scope.get(k, k) for k in keys) == row[:-2]:
                    given[column].add(scope.get(value, value))
        new = [given[k] or {row[-2 + k]} for k in (0, 1)]
        after.update(Fact("R", (*row[:-2], *pair)) for pair in itertools.product(*new))
    return frozenset(after)


def test_sets_of_columns_change_each_row_once() -> None:
    for seed in range(examples(60)):
        choose = random.Random(seed)
        keys = ("o",) * choose.randint(1, 2)
        columns = ", ".join(f"k{k}: o key" for k in range(len(keys)))
        effect, read = column_sets(choose, keys)
        init = {(*k, choose.choice("12")) for k in itertools.product(("o1", "o2"), repeat=len(keys))}
        facts = [f"R({', '.join(row[:-1])}, x{row[-1]}, x{choose.choice('12')})" for row in sorted(init)]
        text = f"""deployment d
sort o
sort s = {{ x1, x2 }} rigid
relation R({columns}, c0: s, c1: s)
relation Q(o)
relation Seen()
init {" ".join(facts)} Q(o2)
tool t(p: o, q: o, w: s)
  guard ~Seen()
  effect
    insert Seen()
    {effect}
tool idle()
policy p
  call t(p, q, w)
  call idle()
spec a AG forall z: o. Q(z) -> AG R({"z, " * len(keys)}_, x1)
spec b EF exists z: o. R({"z, " * len(keys)}x2, x1)
"""
        d = parse_deployment(text)
        assert parse_deployment(str(d)) == d
        restriction = theorem_restriction(d, d.specs)
        for p, q, w in itertools.product(("o1", "o2"), ("o1", "o2"), ("x1", "x2")):
            found = successors(d, Call("t", (p, q, w)), d.init, restriction)
            expected = meant(frozenset(d.init), read, {"p": p, "q": q, "w": w}) | {Fact("Seen", ())}
            assert found.inside == (Instance(d.schema, expected),), text
        assert_same_answers(d)
        assert_same_answers(d, "p")


def test_a_step_that_changes_a_named_column_is_told_by_it() -> None:
    d = parse_deployment(BASE + "tool t(z: o) effect set R(z).st = x2\nspec a AG R(st = x1)")
    trace = st.verify(d, "any")["a"].trace
    assert trace is not None
    assert "R(o1).st: x1 -> x2" in str(trace)


def test_in_python_columns_have_names_too() -> None:
    d = st.build_deployment(
        "d",
        sorts={"o": None, "s": st.rigid("x1", "x2")},
        relations={"R": "id: o key, st: s"},
        init=["R(st = x1, id = o1)"],
        tools=[st.tool("t", "z: o", effect="set R(z).st = x2")],
        specs={"a": st.logic.AG(st.logic.atom("R", st="x1"))},
    )
    assert d == parse_deployment(str(d))
    assert d == parse_deployment(
        """deployment d sort o sort s = { x1, x2 } rigid relation R(id: o key, st: s) init R(o1, x1)
        tool t(z: o) effect set R(z).st = x2 spec a AG R(_, x1)"""
    )
    with pytest.raises(TypeError, match="name the columns of all, or of none"):
        st.logic.atom("R", "o1", st="x1")


@pytest.mark.parametrize("options", [{"engine": "explicit"}, {"domain": "theorem"}, {"domain": "normal"}])
def test_a_set_of_a_column_is_the_set_that_it_stands_for(options: dict[str, str]) -> None:
    """`set R(k).c = t for z where f` is `set R(k, x, t) for z, x where R(k, x, _) & f`, with a row and
    without one, whichever column it is, with and without variables of its own."""
    plain = {
        "set R(p).b = w": "set R(p, x, w) for x where R(p, x, _)",
        "set R(p).a = w": "set R(p, w, y) for y where R(p, _, y)",
        "set R(p).a = y for y where R(p, _, y)": "set R(p, y, y) for y where R(p, _, y)",
        "set R(z).b = w for z where Q(z)": "set R(z, x, w) for z, x where R(z, x, _) & Q(z)",
        "set R(p).b = w where Q(p)": "set R(p, x, w) for x where R(p, x, _) & Q(p)",
    }
    text = """deployment d
sort o
sort s = {{ s1, s2 }} rigid
relation R(id: o key, a: s, b: s)
relation Q(o)
bound o {n}
event come(w: s) guard ~atleast {n} z: o. z = z
  effect fresh z: o insert R(z, w, s1)
  effect fresh z: o insert Q(z)
event mark(z: o) guard R(z, _, _) effect insert Q(z)
event leave(z: o) guard R(z, _, _) effect delete R(z, _, _)
event forget(z: o) guard Q(z) effect delete Q(z)
tool t(p: o, w: s) guard R(p, _, _) | Q(p) effect {}
spec a AG forall z. (R(z, s1, s1) -> AX ~R(z, s1, s2))
spec b AG forall z. (Q(z) -> AX (R(z, _, s2) -> Q(z)))
spec c EF exists z. (R(z, s2, s2) & EX R(z, s1, s2))
spec d AG (R(_, _, _) -> EX R(_, s2, _))
"""
    told, records = set(), 1 if "engine" in options else 2
    for column, written in plain.items():
        one, other = (
            st.verify(parse_deployment(text.format(effect, n=records)), "any", findings=False, **options)
            for effect in (column, written)
        )
        found = [{name: verdict.holds for name, verdict in v.verdicts.items()} for v in (one, other)]
        assert found[0] == found[1]
        assert (one.states, one.transitions) == (other.states, other.transitions)
        told.add(tuple(found[0].values()))
    assert len(told) > 1
