"""Vectors, log-coded and one-hot: each function against its definition, at every assignment to bits."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine_pairs import examples
from stead_sym.engines.symbolic.bdd.manager import Manager
from stead_sym.engines.symbolic.encode.values import Values, bits_of, coded, number_in

SORTS = {"a": ("a1", "a2", "a3"), "k": ("k1", "k2"), "none": ()}
STATE = ("s", "t")
"""Bits that what a table chooses between may depend on."""
DEAD = None
"""The name that a mortal vector without a bit has."""
NOTHING = "no value"
"""The name of an assignment to bits that is the code of no value."""

functions = st.frozensets(st.tuples(st.booleans(), st.booleans()))
"""Functions of `STATE`, by the rows on which they are true."""
entries = st.dictionaries(st.sampled_from([*SORTS["a"], "a?1", "a?2"]), functions)
ROLES = ("var", "name", "param", "fresh", "held")


def made(beyond=0, mortal=("a",)):
    manager = Manager()
    manager.declare_bottom(STATE)
    return Values(manager, SORTS, {"a": beyond}, frozenset(mortal))


def function(m, rows):
    return m.disj(m.cube(dict(zip(STATE, row, strict=True))) for row in sorted(rows))


def assignments(bits):
    return [dict(zip(bits, row, strict=True)) for row in product((False, True), repeat=len(bits))]


def named(values, vector, assignment):
    """Return what an assignment to a vector's bits names, from the text of the module: a log code is a
    number, the most significant bit first; a one-hot code has one bit."""
    listed = (*values.values[vector.sort], *values.beyond[vector.sort])
    if vector.one_hot:
        on = [k for k, bit in enumerate(vector.bits) if assignment[bit]]
        if len(on) == 1 and values.values[vector.sort]:
            return listed[on[0]]
        return DEAD if vector.mortal and not on else NOTHING
    number = sum(1 << k for k, bit in enumerate(reversed(vector.bits)) if assignment[bit])
    return listed[number] if number < len(listed) else NOTHING


def test_numbers_as_bits():
    for width in range(1, 5):
        bits = [f"b{j}" for j in range(width)]
        codes = [coded(bits, number) for number in range(1 << width)]
        assert [number_in(bits, code) for code in codes] == list(range(1 << width))
        assert [tuple(code.values()) for code in codes] == sorted(tuple(code.values()) for code in codes)
    assert number_in(["b", "c"], {"b": True}) == 2


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("beyond", range(6))
def test_codes_stand_for_the_values_and_some_beyond(role, beyond):
    values = made(beyond)
    m = values.manager
    for sort in ("a", "k"):
        vector = values.vector(role, sort, 0)
        assert (vector.one_hot, vector.mortal) == (role != "var", role == "held" and sort == "a")
        outside = values.beyond[sort] if role == "var" else ()
        listed = (*SORTS[sort], *outside)
        assert [values.is_beyond(value) for value in listed] == [v not in SORTS[sort] for v in listed]
        for value in listed:
            assert named(values, vector, values.code(vector, value)) == value
            assert values.value(vector, values.code(vector, value)) == value
        for here in assignments(vector.bits):
            value = named(values, vector, here)
            inside = value in SORTS[sort] or value is DEAD
            assert m.satisfies(values.valid(vector), here) == inside
            if vector.one_hot:
                assert m.satisfies(values.none(vector), here) == (not any(here.values()))
            if vector.mortal:
                assert m.satisfies(values.dead(vector), here) == (value is DEAD)


def test_a_sort_without_values_has_a_vector_that_names_nothing():
    values = made()
    for role in ("name", "param"):
        assert values.valid(values.vector(role, "none", 0)) == values.manager.false
    assert values.valid(values.vector("var", "none", 0)) == values.manager.false


@pytest.mark.parametrize("role", ROLES)
def test_vectors_are_the_same_when_asked_for_again(role):
    values = made()
    first = values.vector(role, "a", 0)
    assert values.vector(role, "a", 0) == first
    assert values.unused("a", [first, "a1"], role) == values.vector(role, "a", 1) != first
    together = values.distinct(["a", "k", "a", "a"], role)
    assert len(set(bits_of(together))) == sum(len(vector.bits) for vector in together)
    assert [vector.sort for vector in together] == ["a", "k", "a", "a"]
    assert together[0] == first


@pytest.mark.parametrize("role", ROLES)
@settings(max_examples=examples(25))
@given(entries)
def test_a_table_selects_by_value(role, table):
    values = made(beyond=2)
    m, vector = values.manager, values.vector(role, "a", 0)
    found = values.table(vector, {value: function(m, rows) for value, rows in table.items()})
    for here in assignments(vector.bits):
        expected = table.get(named(values, vector, here), frozenset())
        assert m.cofactor(found, here) == function(m, expected), here
    among = values.is_among(vector, table)
    for here in assignments(vector.bits):
        assert m.satisfies(among, here) == (named(values, vector, here) in table)


@settings(max_examples=examples(40))
@given(entries, entries)
def test_a_one_hot_table_says_something_of_all_other_values_too(table, others):
    """⋁ over u of (vector = u ∧ entries[u] ∧ ⋀ over v ≠ u of others[v]); nothing where no one bit holds."""
    values = made()
    m, vector = values.manager, values.vector("held", "a", 0)
    diagrams = [{v: function(m, rows) for v, rows in given.items()} for given in (table, others)]
    found = values.one_hot_table(vector, *diagrams)
    for here in assignments(vector.bits):
        value = named(values, vector, here)
        expected = m.conj(diagrams[1].get(v, m.true) for v in SORTS["a"] if v != value)
        assert m.cofactor(found, here) == expected & diagrams[0].get(value, m.false), here


@settings(max_examples=examples(40))
@given(
    st.dictionaries(st.tuples(*map(st.sampled_from, (SORTS["a"], SORTS["k"], SORTS["a"]))), functions),
    st.sampled_from(ROLES),
    st.sampled_from(ROLES),
    st.booleans(),
    st.booleans(),
)
def test_a_choice_is_a_table_over_tuples(leaves, left, right, fixed, twice):
    """Also where a term is a value, and where a vector stands in two places."""
    values = made()
    m = values.manager
    x, q = values.vector(left, "a", 0), values.vector(right, "k", 0)
    y = x if twice else values.vector(right, "a", 1)
    terms = (x, "k2" if fixed else q, y)
    found = values.choice(terms, [(args, function(m, rows)) for args, rows in leaves.items()])
    for u, k, v in product(*(SORTS[sort] for sort in "aka")):
        if (twice and u != v) or (fixed and k != "k2"):
            continue
        here = {**values.code(x, u), **values.code(q, k), **values.code(y, v)}
        assert m.cofactor(found, here) == function(m, leaves.get((u, k, v), frozenset()))


@pytest.mark.parametrize(("left", "right"), list(product(["name", "param"], repeat=2)))
def test_a_choice_has_no_tuple_for_vectors_of_another_sort(left, right):
    """A formula may put a variable where its sort does not belong: the atom is false of it."""
    values = made()
    m = values.manager
    q, r = values.vector(left, "k", 0), values.vector(right, "k", 1)
    assert q.one_hot
    assert r.one_hot
    leaves = [(("a1", "a2"), m.true), (("a1", "k1"), m.true), (("k2", "k1"), m.var("s"))]
    only = m.cofactor(values.choice((q, r), leaves), {**values.code(q, "k2"), **values.code(r, "k1")})
    assert only == m.var("s")
    assert values.choice((q, r), leaves[:2]) == m.false


@pytest.mark.parametrize(("left", "right"), list(product(ROLES, repeat=2)))
def test_equality_is_that_of_the_values_named(left, right):
    """Of two dead vectors the bit beside them says whether they hold the same value."""
    values = made(beyond=1)
    m = values.manager
    x, y = values.vector(left, "a", 0), values.vector(right, "a", 1)
    bits = values.held_bits([x, y])
    assert len(bits) == len(x.bits) + len(y.bits) + (x.mortal and y.mortal)
    assert values.equal(x, x) == m.true
    for here in assignments(bits):
        u, v = named(values, x, here), named(values, y, here)
        both_dead = u is v is DEAD
        together = x.mortal and y.mortal and here[values.same_dead(x, y)]
        if NOTHING in (u, v) or (together and not both_dead):
            continue  # no code of two values
        same = together if both_dead else u == v
        assert m.satisfies(values.equal(x, y), here) == same, here
        assert values.equal(x, y) == values.equal(y, x)
        for value in (*SORTS["a"], "a?1"):
            assert m.satisfies(values.equal(value, x), here) == (u == value)
            assert values.equal(x, value) == values.is_value(x, value)
    assert values.equal("a1", "a1") == m.true
    assert values.equal("a1", "a2") == m.false


@pytest.mark.parametrize("roles", [("var", "var"), ("name", "name"), ("held", "name"), ("param", "held")])
def test_equality_takes_a_few_nodes_per_bit(roles):
    """Two log-coded vectors are interleaved; the bits of one-hot ones stand together by value."""
    for number in (4, 16, 64):
        values = Values(Manager(), {"a": tuple(f"a{k}" for k in range(number))})
        x, y = (values.vector(role, "a", index) for index, role in enumerate(roles))
        assert values.equal(x, y).dag_size <= 4 * len(x.bits) + 1


@pytest.mark.parametrize("left", ["var", "name", "param", "fresh", "held"])
@pytest.mark.parametrize("right", ["var", "name", "param"])
def test_equality_with_a_valid_vector(left, right):
    values = made(beyond=1)
    one, other = values.vector(left, "a", 0), values.vector(right, "a", 1)
    both = values.equal(one, other) & values.valid(other)
    assert values.equal_valid(one, other) == both
    for value in SORTS["a"]:
        fixed = values.is_value(other, value) & values.valid(other)
        assert values.equal_valid(value, other) == fixed


@pytest.mark.parametrize("roles", [("var", "param"), ("param", "var"), ("name", "param")])
def test_equality_with_a_valid_one_hot_vector_is_small_wherever_its_bits_are(roles):
    """Without what makes it valid all sets of its bits are told apart: 2^60 of them."""
    values = Values(Manager(), {"a": tuple(f"a{k}" for k in range(60))})
    vectors = {role: values.vector(role, "a", index) for index, role in enumerate(roles)}
    left = next(vector for role, vector in vectors.items() if role != "param")
    assert values.equal_valid(left, vectors["param"]).dag_size < 60 * 60


def test_an_assignment_is_coded_up_to_the_names_of_its_dead_values():
    """Over all assignments to three mortal vectors and one that is not: two have the same code iff they agree
    where they live and their dead values are the same for the same vectors; equality is read off the code;
    and what is said of some of the vectors does not depend on the others."""
    values = made()
    m = values.manager
    vectors = (*(values.vector("held", "a", k) for k in range(3)), values.vector("held", "k", 0))
    names = (*SORTS["a"][:2], "dead 1", "dead 2", "dead 3")
    codes = {}
    for held in product(names, names, names, ("k1", "k2")):
        pairs = dict(zip(vectors, held, strict=True))
        living = {vector: value for vector, value in pairs.items() if not value.startswith("dead")}
        dead = {vector: value for vector, value in pairs.items() if vector not in living}
        code = values.assignment_code(living, dead)
        assert code.keys() == set(values.held_bits(vectors))
        first = {value: held.index(value) for value in held if value.startswith("dead")}
        key = tuple(first.get(value, value) for value in held)
        assert codes.setdefault(key, code) == code
        for left, right in product(vectors[:3], repeat=2):
            assert m.satisfies(values.equal(left, right), code) == (pairs[left] == pairs[right])
        some = values.assignment_code(
            {v: u for v, u in living.items() if v != vectors[1]},
            {v: u for v, u in dead.items() if v != vectors[1]},
        )
        assert some.items() <= code.items()
    assert len({frozenset(code.items()) for code in codes.values()}) == len(codes)


@settings(max_examples=examples(40))
@given(st.sets(st.tuples(st.sampled_from(SORTS["a"]), st.sampled_from(SORTS["k"]))), st.sampled_from(ROLES))
def test_the_tuples_of_a_function(members, role):
    values = made(mortal=())
    m = values.manager
    x, q = values.distinct(["a", "k"], role)
    relation = m.disj(m.cube({**values.code(x, u), **values.code(q, k)}) for u, k in sorted(members))
    found = list(values.tuples(relation, (x, q)))
    assert len(found) == len(members)
    assert set(found) == members


def test_successors_copies_stand_right_below():
    values = made()
    vector = values.vector("held", "a", 0)
    after = values.successor(vector)
    assert values.successor(vector) == after
    assert (after.sort, after.one_hot, after.mortal) == ("a", True, True)
    for bit, copy in zip(vector.bits, after.bits, strict=True):
        assert copy == values.primed(bit)
        assert values.manager.level(copy) == values.manager.level(bit) + 1
