"""The normal form of a formula has its truth value in each database that keeps the keys."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stead_sym.logic.syntax as fo
from generated.formulas import Signature, formulas
from stead_sym.analyses.local.facts import renamed
from stead_sym.analyses.local.normal import Normal
from stead_sym.deployment.language import parse_deployment
from stead_sym.logic.evaluate import holds
from stead_sym.logic.kernel import core
from stead_sym.relational.instance import Instance

DEPLOYMENT = """
deployment normal
sort thing, team
sort level = { low < high < top }
relation Owner(thing key, team)
relation Level(thing key, level)
relation Near(thing, thing)
relation Held(thing)
relation On(team, thing)
init
  Owner(a, g)
  Near(a, b)
spec none AG true
"""
FILE = parse_deployment(DEPLOYMENT)
VALUES = {"thing": ("a", "b", "c"), "team": ("g", "h"), "level": ("low", "high", "top")}
RELATIONS = {one.name: one.sorts for one in FILE.schema.relations}
SIGNATURE = Signature(
    RELATIONS, {s: v[:2] for s, v in VALUES.items()}, names=("x", "y", "z"), declared=("level",)
)
SINGLE = "Held"
"""A relation that has at most one tuple."""


def key(relation):
    """The columns that determine the others; none determine the tuple of the one with a single tuple."""
    return () if relation == SINGLE else FILE.schema.relation(relation).keys or None


def databases(random, number):
    """Databases in which the keys hold."""
    for _ in range(number):
        facts, share = [], random.choice((0.2, 0.4, 0.7))
        for relation, sorts in RELATIONS.items():
            taken = set()
            tuples = [*product(*(VALUES[sort] for sort in sorts))]
            random.shuffle(tuples)
            for args in tuples:
                columns = key(relation)
                own = args if columns is None else tuple(args[column] for column in columns)
                if random.random() < share and own not in taken:
                    taken.add(own)
                    facts.append((relation, args))
        yield Instance.of(FILE.schema, facts)


def query(random, scope, depth=2):
    """∃x … (atoms, equations and negated queries), of which some imply others."""
    binders = [
        fo.Binder(f"v{depth}{k}", sort, declared=sort == "level")
        for k in range(random.randint(1, 3))
        for sort in (random.choice(("thing", "thing", "team", "level")),)
    ]
    scope = {**scope, **{one.name: one.sort for one in binders}}

    def term(sort):
        known = [fo.Var(name) for name, of in scope.items() if of == sort] * 3
        return random.choice([*known, fo.Const(random.choice(VALUES[sort]))])

    def atom():
        relation = random.choice([*RELATIONS])
        return fo.Atom(relation, tuple(map(term, RELATIONS[relation])))

    parts = [atom() for _ in range(random.randint(1, 5))]
    if random.random() < 0.4:
        sort = random.choice([*VALUES])
        parts.append(fo.Equal(term(sort), term(sort)))
    if depth and random.random() < 0.7:
        inner = query(random, scope, depth - 1)
        parts.append(inner if random.random() < 0.5 else fo.Not(inner))
    random.shuffle(parts)
    formula = fo.And(tuple(parts)) if len(parts) > 1 else parts[0]
    for binder in binders:
        formula = fo.Exists(binder, formula)
    return formula


def check(formula, random, number=12):
    normal = Normal(FILE.schema, key)(formula)
    free = sorted(fo.free_variables(formula))
    assert fo.free_variables(normal) <= set(free)
    for database in databases(random, number):
        for values in product(VALUES["thing"], repeat=len(free)):
            assignment = dict(zip(free, values, strict=True))
            found = holds(formula, database, assignment), holds(normal, database, assignment)
            assert found[0] == found[1], (str(formula), str(normal), str(database), assignment)
    return normal


def number_of(kind, formula):
    return sum(isinstance(part, kind) for part in fo.subformulas(formula))


def test_queries_have_the_truth_value_of_their_normal_form():
    random, fewer = Random(5), 0
    for _ in range(500):
        formula = query(random, {"w": "thing"} if random.random() < 0.3 else {})
        normal = check(formula, random)
        fewer += number_of(fo.Atom, normal) < number_of(fo.Atom, formula)
    assert fewer > 80


@given(formulas(SIGNATURE, {"w": "thing"}, depth=4), st.integers(0, 1000))
def test_formulas_have_the_truth_value_of_their_normal_form(formula, seed):
    check(formula, Random(seed), 6)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        # by a key: there is one owner
        ("exists s, t: team. (Owner(a, s) & Owner(a, t) & On(t, b))", "exists s. (Owner(a, s) & On(s, b))"),
        ("(exists x. (Held(x) & Near(x, a))) & exists y. (Held(y) & Near(y, b))",
         "exists x. (Held(x) & Near(x, a) & Near(x, b))"),
        # an atom that another one implies
        ("exists x. (Near(x, a) & exists y. Near(y, a))", "exists x. Near(x, a)"),
        ("exists x. (Near(x, x) & exists y. Near(x, y))", "exists x. Near(x, x)"),
        ("Near(a, b) & exists y. Near(a, y)", "Near(a, b)"),
        ("exists x. (Near(x, b) & ~(~(exists y. Near(y, b)) & On(g, x)))", "exists x. Near(x, b)"),
        # no quantifier around a part that it does not bind, the determined variable outermost
        ("exists x, s. (Owner(a, s) & On(s, x) & Near(x, b))",
         "exists s. (Owner(a, s) & exists x. (On(s, x) & Near(x, b)))"),
        ("exists x. (On(g, x) & Near(a, b))", "Near(a, b) & exists x. On(g, x)"),
        # a variable that is a declared value
        ("exists l in level. (Level(a, l) & l = high)", "Level(a, high)"),
    ],
)  # fmt: skip
def test_what_a_formula_becomes(written, expected):
    normal = Normal(FILE.schema, key)
    assert as_fact_text(normal(FILE.formula(written))) == as_fact_text(core(FILE.formula(expected)))


@pytest.mark.parametrize(
    "written",
    [
        "exists x, y. (Near(x, a) & Near(y, b))",
        "exists s, t: team. (On(s, a) & On(t, b))",
        "exists x. exists y. (Near(x, y) & Near(y, x))",
        "exists x. (Held(x) & ~(exists y. (Near(y, a) & Near(x, y))))",
        "exists l: level. (l = high)",
    ],
)
def test_what_has_to_stay(written):
    formula = FILE.formula(written)
    normal = check(formula, Random(3), 60)
    assert number_of(fo.Atom, normal) == number_of(fo.Atom, core(formula))


def as_fact_text(formula):
    """The formula with its bound variables named by their place."""
    return str(renamed(formula)[0])
