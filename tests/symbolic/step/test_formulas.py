"""Formulas as diagrams against their truth in instances, over all states of a small encoding."""

from __future__ import annotations

from itertools import combinations, product

from hypothesis import given, settings
from hypothesis import strategies as st

import stead_sym.logic.syntax as fo
from engine_pairs import examples
from generated.formulas import Signature, assignments, formulas
from stead_sym.deployment.ensure import ensured
from stead_sym.engines.symbolic.bdd.manager import Manager
from stead_sym.engines.symbolic.encode.encoding import Encoding, Field
from stead_sym.engines.symbolic.encode.values import PARAM
from stead_sym.engines.symbolic.step.formulas import Compiler
from stead_sym.logic.evaluate import holds
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Schema, Sort

SCHEMA = Schema(
    (Sort("a"), Sort("k", ("k1", "k2"))),
    (Relation("P", ("a",)), Relation("R", ("a", "k")), Relation("S", ("k",))),
)
VALUES = {"a": ("a1", "a2"), "k": ("k1", "k2")}
STATIC = Fact("S", ("k2",))
SIGNATURE = Signature(
    {r.name: r.sorts for r in SCHEMA.relations}, {"a": ("a1",), "k": ("k1", "k2")}, declared=("k",)
)
COLUMNS = {"a": ("P", "R"), "k": ("S", "R")}


def facts(name):
    sorts = SCHEMA.relation(name).sorts
    return [Fact(name, args) for args in product(*(VALUES[sort] for sort in sorts))]


def compiler():
    """Each value of a has one R-fact at most; S(k2) is static, S(k1) is not."""
    fields = [[f for f in facts("R") if f.args[0] == a] for a in VALUES["a"]]
    fields += [[f] for f in (*facts("P"), Fact("S", ("k1",)))]
    return Compiler(Encoding(Manager(), SCHEMA, VALUES, (STATIC,), map(Field.of, fields), {"a": 1}))


def states(encoding):
    """All states that the encoding can code."""
    for chosen in product(*((None, *field.facts) for field in encoding.fields)):
        yield Instance(SCHEMA, frozenset({STATIC, *(fact for fact in chosen if fact is not None)}))


@st.composite
def scoped(draw, **options):
    scope = draw(st.sampled_from([{}, {"x": "a"}, {"x": "a", "y": "k"}]))
    return draw(formulas(SIGNATURE, scope, depth=3, **options)), scope


@settings(max_examples=examples(40))
@given(scoped())
def test_a_formula_holds_in_the_states_and_under_the_values_that_it_says(drawn):
    """⟦f⟧ over vectors, and with values in their place, is the truth of f in each state."""
    formula, scope = drawn
    made = compiler()
    m, encoding = made.manager, made.encoding
    vectors = dict(zip(scope, encoding.distinct(scope.values()), strict=True))
    over_vectors = made.formula(formula, vectors)
    for sigma in assignments(scope, VALUES):
        code = {}
        for name, value in sigma.items():
            code |= encoding.code(vectors[name], value)
        under = m.cofactor(over_vectors, code)
        assert under == made.formula(formula, sigma)
        for state in states(encoding):
            assert m.satisfies(under, encoding.encode(state)) == holds(formula, state, sigma)


@settings(max_examples=examples(80))
@given(scoped(primed={r.name: r.sorts for r in SCHEMA.relations}), st.integers(0, 71))
def test_a_joint_formula_holds_of_the_successors_that_it_ensures(drawn, number):
    """⟦f⟧ over D ⊕ D', for one D and all D' that can be coded, against the search for models."""
    formula, scope = drawn
    made = compiler()
    m, encoding = made.manager, made.encoding
    everything = list(states(encoding))
    before = everything[number % len(everything)]
    for sigma in assignments(scope, VALUES):
        relation = m.cofactor(made.formula(formula, sigma, joint=True), encoding.encode(before))
        expected = set(ensured(formula, before, VALUES, sigma))
        for after in everything:
            code = {encoding.primed(bit): on for bit, on in encoding.encode(after).items()}
            assert m.satisfies(relation, code) == (after in expected)


@settings(max_examples=examples(40))
@given(scoped())
def test_a_formula_is_read_of_one_state_and_of_two_in_either_order(drawn):
    """Quantifiers range over ad(D) in one reading and over ad(D ⊕ D') in the other, whichever comes first."""
    formula, scope = drawn
    made = compiler()
    again = Compiler(made.encoding)
    for sigma in assignments(scope, VALUES):
        one, two = made.formula(formula, sigma), made.formula(formula, sigma, joint=True)
        assert again.formula(formula, sigma, joint=True) == two
        assert again.formula(formula, sigma) == one


@given(st.integers(-1, 5), st.lists(st.sets(st.integers(0, 7)), max_size=4))
def test_at_least(number, members):
    m = Manager()
    bits = ("a", "b", "c")
    m.declare_bottom(bits)
    made = compiler()
    made.manager = m
    rows = [dict(zip(bits, row, strict=True)) for row in product((False, True), repeat=3)]
    functions = [m.disj(m.cube(rows[i]) for i in sorted(member)) for member in members]
    found = made.manager.at_least(number, functions)
    for i, row in enumerate(rows):
        assert m.satisfies(found, row) == (sum(i in member for member in members) >= number)


def test_a_bound_variable_may_have_the_name_of_one_in_scope():
    """What a formula means depends on its free variables only: also over one-hot vectors, which a bound
    variable of the same name shadows, it is kept for other scopes."""
    made = Compiler(compiler().encoding, PARAM)
    encoding = made.encoding
    x = fo.Binder("x", "k")
    for formula in (
        fo.Exists(x, fo.Equal(fo.Var("x"), fo.Var("x"))),
        fo.Count("atleast", 2, x, fo.Not(fo.Atom("S", (fo.Var("x"),)))),
    ):
        found = made.formula(formula, {"x": encoding.vector(PARAM, "k", 0)})
        assert encoding.are_states(found)
        assert found == Compiler(encoding, PARAM).formula(formula, {})


def test_counts_count_active_values_only():
    """Over each subset of P as state, for every number."""
    made = compiler()
    m, encoding = made.manager, made.encoding
    vector = encoding.vector("var", "a", 0)
    active = encoding.active("a", vector)
    for size in range(3):
        for chosen in combinations(VALUES["a"], size):
            code = encoding.encode(Instance(SCHEMA, frozenset({STATIC, *(Fact("P", (a,)) for a in chosen)})))
            for number in range(4):
                assert m.satisfies(made.so_many(number, vector, active), code) == (size >= number)
