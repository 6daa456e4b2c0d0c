"""States as bits: coding and decoding, atoms, relations over vectors; fields of one fact and of several."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from engine_pairs import examples
from stead_sym.engines.symbolic.bdd.manager import Manager
from stead_sym.engines.symbolic.encode.encoding import Encoding, Field
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Schema, Sort

SCHEMA = Schema(
    (Sort("a"), Sort("k", ("k1", "k2"))),
    (
        Relation("P", ("a",)),
        Relation("R", ("a", "k")),
        Relation("E", ("a", "a")),
        Relation("S", ("k",)),
        Relation("Z", ()),
    ),
)
VALUES = {"a": ("a1", "a2", "a3"), "k": ("k1", "k2")}
STATIC = (Fact("S", ("k2",)),)


def all_facts(relation):
    return [Fact(relation.name, args) for args in product(*(VALUES[sort] for sort in relation.sorts))]


DYNAMIC = [fact for relation in SCHEMA.relations if relation.name != "S" for fact in all_facts(relation)]
SINGLE = [[fact] for fact in DYNAMIC]
# a value of a has one status at most; all of E is one field; the rest are single
GROUPED = [
    *([f for f in DYNAMIC if f.relation == "R" and f.args[0] == a] for a in VALUES["a"]),
    [f for f in DYNAMIC if f.relation == "E"],
    *([f] for f in DYNAMIC if f.relation in "PZ"),
]


def encoded(groups):
    fields = [Field.of(group) for group in groups]
    return Encoding(Manager(), SCHEMA, VALUES, STATIC, fields)


@st.composite
def encodings_with_states(draw):
    """An encoding, and a state that it can code."""
    groups = draw(st.sampled_from([SINGLE, GROUPED]))
    facts = [draw(st.sampled_from([None, *group])) for group in groups]
    state = Instance(SCHEMA, frozenset({*STATIC, *(fact for fact in facts if fact is not None)}))
    return encoded(groups), state


def here(encoding, function, state):
    """The value of a function of the state bits in the state."""
    return encoding.manager.satisfies(function, encoding.encode(state))


def at(encoding, function, vectors, values):
    """The function with values for some vectors."""
    code = {}
    for vector, value in zip(vectors, values, strict=True):
        code |= encoding.code(vector, value)
    return encoding.manager.cofactor(function, code)


@given(encodings_with_states())
def test_decoding_undoes_encoding(drawn):
    encoding, state = drawn
    assignment = encoding.encode(state)
    assert assignment.keys() == encoding.state_bits
    assert encoding.decode(assignment) == state


def test_a_field_of_several_facts_is_log_coded():
    for size in range(1, 9):
        facts = [Fact("E", (f"a{i}", "a1")) for i in range(size)]
        field = Field.of(facts)
        codes = [tuple(field.code(fact)[bit] for bit in field.bits) for fact in (None, *facts)]
        assert len(set(codes)) == size + 1
        assert not any(codes[0])
        assert 2 ** (len(field.bits) - 1) < size + 1 <= 2 ** len(field.bits)


@given(encodings_with_states())
def test_atoms_say_which_facts_hold(drawn):
    encoding, state = drawn
    for relation in SCHEMA.relations:
        for fact in all_facts(relation):
            assert here(encoding, encoding.atom(fact), state) == (fact in state)
    assert all(here(encoding, encoding.well_coded(field), state) for field in encoding.fields)


def test_the_facts_of_a_field_exclude_each_other():
    encoding = encoded(GROUPED)
    m = encoding.manager
    for field in encoding.fields:
        for fact in field.facts:
            for other in field.facts:
                both = encoding.atom(fact) & encoding.atom(other)
                assert (both == m.false) == (fact != other)
        assert m.count(encoding.well_coded(field), frozenset(field.bits)) == len(field.facts) + 1


@given(encodings_with_states())
def test_primed_atoms_are_copies(drawn):
    encoding, _ = drawn
    m = encoding.manager
    bits = {bit: encoding.primed(bit) for bit in encoding.state_bits}
    rename = {bit: m.var(primed) for bit, primed in bits.items()}
    for fact in DYNAMIC:
        assert encoding.atom(fact, primed=True) == m.substitute(encoding.atom(fact), rename)


@settings(max_examples=examples(30))
@given(encodings_with_states())
def test_relations_over_vectors(drawn):
    encoding, state = drawn
    x, y, q = encoding.vector("var", "a", 0), encoding.vector("var", "a", 1), encoding.vector("var", "k", 0)
    for a, b, k in product(VALUES["a"], VALUES["a"], VALUES["k"]):
        for name, vectors, args in [
            ("P", (x,), (a,)),
            ("R", (y, q), (b, k)),
            ("E", (x, y), (a, b)),
            ("S", (q,), (k,)),
            ("E", (x, x), (a, a)),
        ]:
            distinct = tuple(dict.fromkeys(vectors))
            f = at(encoding, encoding.relation(name, vectors), distinct, args[: len(distinct)])
            assert here(encoding, f, state) == (Fact(name, args) in state)
        half = at(encoding, encoding.relation("E", (a, y)), (y,), (b,))
        assert here(encoding, half, state) == (Fact("E", (a, b)) in state)


@given(encodings_with_states())
def test_the_active_domain(drawn):
    encoding, state = drawn
    for sort, values in VALUES.items():
        vector = encoding.vector("var", sort, 0)
        for value in values:
            expected = value in state.active_domain[sort]
            assert here(encoding, encoding.active(sort, value), state) == expected
            assert (
                here(encoding, at(encoding, encoding.active(sort, vector), [vector], [value]), state)
                == expected
            )
