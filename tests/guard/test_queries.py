"""Conditions of SQL are true where the evaluator says that their formulas are."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as some
from live import binding, fill, tables

import stead_sym as st
import stead_sym.logic.syntax as fo
from generated.formulas import Signature, assignments, formulas
from generated.integers import Texts
from generated.strategies import instances
from stead_sym.conformance.bound_tables import BoundTables
from stead_sym.deployment.gates import matched
from stead_sym.export.conditions import Cell
from stead_sym.guard.cells import Cells
from stead_sym.guard.queries import Queries
from stead_sym.logic.evaluate import holds
from stead_sym.relational.instance import Fact, Instance

DENSE = st.parse_deployment("""
deployment dense
sort a, b
sort s = { s0, s1, s2 }
sort o = { low < middle < high }
relation P(a)
relation Q(a, b)
relation R(b, s)
relation T(a, o)
relation S(s)
relation N()
init P(k)
""")
INTEGERS = st.parse_deployment("""
deployment integers
sort rec
sort n = 0..3
sort m = -1..2
relation R(rec, n)
relation L(m)
relation F(rec)
""")
SIGNATURE = Signature(
    {r.name: r.sorts for r in DENSE.schema.relations},
    DENSE.constants,
    ("x", "y", "z"),
    ordered=("o",),
    declared=("s", "o"),
    wildcards=True,
)


class Asked:
    """The queries of a deployment over tables of its own."""

    def __init__(self, deployment, checked=True, url="sqlite://"):
        self.deployment = deployment
        self.connection = tables(deployment.schema, checked, url)
        bound = BoundTables(deployment, binding(deployment.schema), self.connection)
        self.cells = Cells(deployment, bound, self.connection)
        self.queries = Queries(self.cells)

    def fill(self, facts):
        fill(self.connection, self.deployment.schema, facts)

    def truths(self, formula, scope):
        """Return what the database says of the formula, surely and possibly, for given values."""
        cells = {
            name: Cell(sa.bindparam(f"given_{name}", type_=self.cells.type_of(sort)), sort)
            for name, sort in scope.items()
        }
        both = [sa.select(self.queries.condition(formula, cells, surely=surely)) for surely in (True, False)]

        def truth(values):
            given = {f"given_{name}": self.cells.content(u, scope[name]) for name, u in values.items()}
            return [bool(self.connection.execute(one, given).scalar()) for one in both]

        return truth


def pool(deployment, sort):
    declared = deployment.schema.sort(sort)
    return declared.values or (*deployment.constants[sort], f"{sort}0", f"{sort}1")


def agree(asked, formula, scope, instance):
    truth = asked.truths(formula, scope)
    values = {sort: pool(asked.deployment, sort) for sort in scope.values()}
    for assignment in assignments(scope, values):
        assert truth(assignment) == [holds(formula, instance, assignment)] * 2, assignment


@pytest.fixture(scope="module")
def dense():
    return Asked(DENSE)


@pytest.fixture(scope="module")
def integers():
    return Asked(INTEGERS)


SCOPES = some.dictionaries(some.sampled_from(("x", "w")), some.sampled_from(SIGNATURE.sorts), max_size=2)


@given(data=some.data())
def test_a_condition_is_true_where_its_formula_is(dense, data):
    scope = data.draw(SCOPES)
    written = data.draw(formulas(SIGNATURE, scope, depth=4))
    instance = data.draw(instances(DENSE.schema))
    dense.fill(instance.facts)
    agree(dense, DENSE.formula(written, scope), scope, instance)


FORMS = [
    "exists x: a. x = k",
    "exists x: a, y: a. (x = y & y = k)",
    "forall x: a. x = k",
    "exists x: a. ~P(x)",
    "exists x: a. true",
    "exists x: o. x = low",
    "exists x: o. x > low",
    "exists x: o. succ(x, high)",
    "exists x in o. ~T(_, x)",
    "exists x in o. x = middle",
    "forall x in o. exists y: a. T(y, x)",
    "exists x: a. (P(x) & x = k | T(x, high))",
    "exists x: a. (P(x) | exists y: b. Q(x, y))",
    "exists x: a, y: a. (P(x) & P(y) & x != y)",
    "~exists x: a. (T(x, low) & ~P(x))",
    "(exists x: a. P(x)) <-> N()",
    "atleast 2 x: a. true",
    "atmost 1 x: a. P(x)",
    "atmost 0 x: a. T(x, low)",
    "exactly 1 x: a. P(x)",
    "exactly 2 x: a. (P(x) | T(x, _))",
]


@pytest.mark.parametrize("text", FORMS)
def test_each_form_is_read_alike(dense, text):
    formula = DENSE.formula(text)
    facts = [Fact("P", ("k",)), Fact("P", ("a0",)), Fact("P", ("a1",)), Fact("T", ("a0", "low"))]
    facts += [Fact("T", ("k", "high")), Fact("Q", ("a2", "b0")), Fact("N", ())]
    for number in range(0, 2 ** len(facts), 3):
        chosen = frozenset(fact for place, fact in enumerate(facts) if number >> place & 1)
        dense.fill(chosen)
        agree(dense, formula, {}, Instance(DENSE.schema, chosen))


@given(seed=some.integers(0, 10**9), data=some.data())
def test_integers_are_counted_and_summed_alike(integers, seed, data):
    scope = data.draw(some.sampled_from(({}, {"x": "rec"}, {"x": "n", "y": "m"})))
    formula = INTEGERS.formula(Texts(Random(seed)).formula(dict(scope), 2), scope)
    instance = data.draw(instances(INTEGERS.schema))
    integers.fill(instance.facts)
    agree(integers, formula, scope, instance)


@pytest.mark.parametrize("checked", [True, False], ids=["checked", "unchecked"])
@pytest.mark.parametrize("name", st.deployment.packaged_examples())
def test_the_guards_and_gates_of_the_examples(name, checked):
    deployment, random = st.load(name), Random(7)
    asked = Asked(deployment, checked)
    formulas_of = list(guards_and_lines(deployment))
    assert formulas_of
    for _ in range(5):
        facts = {
            Fact(relation.name, tuple(random.choice(pool(deployment, sort)) for sort in relation.sorts))
            for relation in deployment.schema.relations
            for _ in range(random.randint(0, 3))
        }
        asked.fill(facts)
        instance = Instance(deployment.schema, frozenset(facts))
        for formula, scope in formulas_of:
            truth = asked.truths(formula, scope)
            values = list(product(*(pool(deployment, sort) for sort in scope.values())))
            for args in random.sample(values, min(6, len(values))):
                assignment = dict(zip(scope, args, strict=True))
                assert truth(assignment) == [holds(formula, instance, assignment)] * 2, (formula, assignment)


def guards_and_lines(deployment):
    """Yield `offered` of each tool, and each line of a gate, unless it is about steps."""
    for tool in deployment.tools:
        scope = {param.name: param.sort for param in tool.params}
        lines = [line for gate in deployment.written.gates for line in gate.lines if line.tool == tool.name]
        read = [f"offered {tool.name}({', '.join(scope)})", *(matched(line, tool) for line in lines)]
        for formula in (deployment.formula(one, scope) for one in read):
            if not fo.tells_of_steps(formula):
                yield formula, scope


UNLISTED = {"s": ("s7", "s8"), "o": ("higher",), "n": ("7", "9"), "m": ("12",)}


def completions(deployment, facts):
    """Yield the instances in which each unlisted value is some listed one of its sort."""
    schema = deployment.schema
    found = sorted(
        {
            (sort, value)
            for fact in facts
            for sort, value in zip(schema.relation(fact.relation).sorts, fact.args, strict=True)
            if schema.sort(sort).values and value not in schema.sort(sort).values
        }
    )
    for chosen in product(*(schema.sort(sort).values for sort, _ in found)):
        stands = dict(zip(found, chosen, strict=True))
        yield Instance(
            schema,
            frozenset(
                Fact(
                    fact.relation,
                    tuple(
                        stands.get((sort, value), value)
                        for sort, value in zip(schema.relation(fact.relation).sorts, fact.args, strict=True)
                    ),
                )
                for fact in facts
            ),
        )


@some.composite
def spoilt(draw, deployment):
    """Facts some of which have values that their finite sorts do not list."""
    schema = deployment.schema
    facts = set()
    for fact in sorted(draw(instances(schema, max_facts=5)).facts):
        sorts = schema.relation(fact.relation).sorts
        args = (
            draw(some.sampled_from((value, value, *UNLISTED.get(sort, ()))))
            for sort, value in zip(sorts, fact.args, strict=True)
        )
        facts.add(Fact(fact.relation, tuple(args)))
    return facts


def bracketed(asked, formula, scope, facts):
    asked.fill(facts)
    truth = asked.truths(formula, scope)
    values = {sort: pool(asked.deployment, sort) for sort in scope.values()}
    every = list(completions(asked.deployment, facts))
    for assignment in assignments(scope, values):
        surely, possibly = truth(assignment)
        found = {holds(formula, instance, assignment) for instance in every}
        assert not surely or found == {True}, assignment
        assert possibly or found == {False}, assignment


@pytest.fixture(scope="module")
def loose_dense():
    return Asked(DENSE, checked=False)


@pytest.fixture(scope="module")
def loose_integers():
    return Asked(INTEGERS, checked=False)


@given(data=some.data())
def test_what_is_sure_holds_whatever_unlisted_contents_stand_for(loose_dense, data):
    scope = data.draw(SCOPES)
    formula = DENSE.formula(data.draw(formulas(SIGNATURE, scope, depth=3)), scope)
    bracketed(loose_dense, formula, scope, data.draw(spoilt(DENSE)))


@given(seed=some.integers(0, 10**9), data=some.data())
def test_what_is_sure_of_integers_holds_whatever_they_are(loose_integers, seed, data):
    scope = data.draw(some.sampled_from(({}, {"x": "rec"}, {"x": "n"})))
    formula = INTEGERS.formula(Texts(Random(seed)).formula(dict(scope), 2), scope)
    bracketed(loose_integers, formula, scope, data.draw(spoilt(INTEGERS)))


@pytest.mark.parametrize(
    "text",
    [
        "atleast 2 x: s. S(x)",
        "exactly 1 x: s. S(x)",
        "atmost 1 x: s. S(x)",
        "~atmost 1 x: s. S(x)",
        "exists x in s. (S(x) & x != s1)",
        "exists x in s. (S(x) & ~R(_, x))",
        "forall x: s. (S(x) -> x = s0)",
        "exists x: s, y: s. (S(x) & S(y) & ~(x = y))",
    ],
)
@pytest.mark.parametrize("unlisted", [("s7",), ("s0", "s7"), ("s7", "s8"), ("s0", "s1", "s7")])
def test_an_unlisted_content_may_be_one_that_is_there(loose_dense, text, unlisted):
    facts = [Fact("S", (value,)) for value in unlisted] + [Fact("R", ("b0", "s0"))]
    bracketed(loose_dense, DENSE.formula(text), {}, facts)


@pytest.mark.parametrize(
    "text",
    [
        "(count x: m. L(x)) = 2",
        "(count x: m. L(x)) >= 2",
        "(sum x for x: m. L(x)) > 11",
        "(sum y for x: rec, y: n. R(x, y)) < 9",
        "~((sum y for x: rec, y: n. R(x, y)) < 9)",
        "exists x: rec, y: n. (R(x, y) & y + 1 > 7)",
        "exists y in n. (R(_, y) & y > 3)",
    ],
)
@pytest.mark.parametrize("unlisted", ["7", "2"])
def test_an_integer_that_no_sort_has_may_be_one_that_is_there(loose_integers, text, unlisted):
    facts = [Fact("L", ("0",)), Fact("L", ("12",)), Fact("R", ("rec0", "1")), Fact("R", ("rec1", unlisted))]
    bracketed(loose_integers, INTEGERS.formula(text), {}, facts)
