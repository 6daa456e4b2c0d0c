"""The contract of `Manager`, on each backend, against truth tables."""

from __future__ import annotations

import gc
import subprocess
import sys
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stead_sym.engines.symbolic.bdd.manager import HAS_CUDD, Manager, deep_stack

BITS = ("a", "b", "c", "d", "e")
ROWS = [dict(zip(BITS, row, strict=True)) for row in product((False, True), repeat=len(BITS))]
BACKENDS = ["autoref", pytest.param("cudd", marks=pytest.mark.skipif(not HAS_CUDD, reason="no CUDD here"))]

tables = st.frozensets(st.integers(0, len(ROWS) - 1))
bit_sets = st.frozensets(st.sampled_from(BITS))


@pytest.fixture(params=BACKENDS)
def backend(request):
    return request.param


def fresh(backend):
    manager = Manager(backend)
    manager.declare_bottom(BITS)
    return manager


def function(manager, table):
    """The function that is true in these rows."""
    return manager.disj(manager.cube(ROWS[i]) for i in sorted(table))


def table_of(manager, f):
    return frozenset(i for i, row in enumerate(ROWS) if manager.satisfies(f, row))


def rows(predicate):
    return frozenset(i for i, row in enumerate(ROWS) if predicate(row))


def number(row):
    return ROWS.index(row)


def laws(check):
    """The check, on a new manager, for generated functions."""
    return settings(max_examples=50)(check)


def test_a_function_is_its_table(backend):
    @laws
    @given(tables)
    def check(table):
        m = fresh(backend)
        assert table_of(m, function(m, table)) == table

    check()


@pytest.mark.parametrize("referring", ["the manager", "a diagram"])
def test_a_search_for_cycles_that_finds_a_manager_says_nothing(backend, referring, monkeypatch):
    """It takes objects apart in any order: `dd` would miss the diagrams that are still there."""
    said = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    for _ in range(3):
        manager = fresh(backend)
        cycle = [manager if referring == "the manager" else manager.var("a") & manager.var("b")]
        cycle.append(cycle)
        del manager, cycle
        gc.collect()
    assert said == []


def test_a_manager_in_a_cycle_at_the_end_of_the_process(backend):
    program = f"""
from stead_sym.engines.symbolic.bdd.manager import Manager
manager = Manager({backend!r})
manager.declare_bottom("ab")
cycle = [manager, manager.var("a") & manager.var("b")]
cycle.append(cycle)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stderr == ""


def test_connectives(backend):
    @laws
    @given(tables, tables, tables)
    def check(s, t, u):
        m = fresh(backend)
        f, g, h = (function(m, x) for x in (s, t, u))
        everything = frozenset(range(len(ROWS)))
        assert table_of(m, f & g) == s & t
        assert table_of(m, f | g) == s | t
        assert table_of(m, ~f) == everything - s
        assert table_of(m, f.equiv(g)) == everything - (s ^ t)
        assert table_of(m, m.ite(f, g, h)) == (s & t) | (u - s)
        assert m.conj([f, g, h]) == f & g & h
        assert m.disj([f, g, h]) == f | g | h
        assert (m.conj([]), m.disj([])) == (m.true, m.false)
        assert (f == g) == (s == t)

    check()


def test_quantification(backend):
    @laws
    @given(tables, tables, bit_sets)
    def check(s, t, bits):
        m = fresh(backend)
        f, g = function(m, s), function(m, t)

        def some(table):
            kept = [bit for bit in BITS if bit not in bits]
            keys = {tuple(ROWS[i][bit] for bit in kept) for i in table}
            return rows(lambda row: tuple(row[bit] for bit in kept) in keys)

        assert table_of(m, m.exist(bits, f)) == some(s)
        assert m.and_exist(bits, f, g) == m.exist(bits, f & g)
        assert not m.exist(bits, f).support & bits

    check()


def test_substitution_is_simultaneous(backend):
    @laws
    @given(tables, st.dictionaries(st.sampled_from(BITS), tables))
    def check(s, values):
        m = fresh(backend)
        f = function(m, s)
        new = m.substitute(f, {bit: function(m, table) for bit, table in values.items()})
        assert table_of(m, new) == rows(
            lambda row: number({b: number(row) in values[b] if b in values else row[b] for b in BITS}) in s
        )

    check()


def test_a_swap(backend):
    m = fresh(backend)
    f = m.cube({"a": True, "b": False})
    assert m.substitute(f, {"a": m.var("b"), "b": m.var("a")}) == m.cube({"a": False, "b": True})


def test_cofactors_and_cases(backend):
    @laws
    @given(tables, st.dictionaries(st.sampled_from(BITS), st.booleans()), st.permutations(BITS))
    def check(s, fixed, order):
        m = fresh(backend)
        f = function(m, s)
        assert table_of(m, m.cofactor(f, fixed)) == rows(lambda row: number({**row, **fixed}) in s)
        first = order[:2]
        expected = {tuple(ROWS[i][bit] for bit in first) for i in s}
        found = list(m.cases(f, first))
        assert {tuple(assignment[bit] for bit in first) for assignment, _ in found} == expected
        assert len(found) == len(expected)
        assert all(leaf == m.cofactor(f, assignment) for assignment, leaf in found)

    check()


def test_pick_takes_ones_first_where_a_bit_matters(backend):
    @laws
    @given(tables.filter(bool), st.permutations(BITS))
    def check(s, order):
        m = Manager(backend)
        m.declare_bottom(order)
        member = m.pick(function(m, s), BITS)
        assert number(member) in s
        left = [ROWS[i] for i in s]
        for k, bit in enumerate(order):
            rests = [
                {tuple(row[b] for b in order[k + 1 :]) for row in left if row[bit] == on} for on in (0, 1)
            ]
            assert member[bit] == (bool(rests[1]) and rests[0] != rests[1])
            left = [row for row in left if row[bit] == member[bit]]

    check()


def test_pick_covers_bits_outside_the_support(backend):
    m = fresh(backend)
    member = m.pick(m.var("c"), BITS)
    assert member.keys() == set(BITS)
    assert member["c"]
    with pytest.raises(ValueError, match="empty set"):
        m.pick(m.false, BITS)


def test_nearest_differs_in_as_few_bits_as_any_row(backend):
    @laws
    @given(tables.filter(bool), st.sampled_from(ROWS))
    def check(s, row):
        m = fresh(backend)
        member = m.nearest(function(m, s), row)
        assert number(member) in s
        assert distance(member, row) == min(distance(ROWS[i], row) for i in s)

    def distance(one, other):
        return sum(one[bit] != other[bit] for bit in BITS)

    check()
    m = fresh(backend)
    for row in ROWS:
        assert m.nearest(m.true, row) == row
    with pytest.raises(ValueError, match="empty set"):
        m.nearest(m.false, ROWS[0])


def test_count_is_the_number_of_rows(backend):
    @laws
    @given(tables, bit_sets, bit_sets)
    def check(s, gone, more):
        m = fresh(backend)
        m.declare_bottom(["outside"])
        f = function(m, s)
        assert m.count(f, frozenset(BITS)) == len(s)
        assert m.count(f, frozenset({*BITS, "outside"})) == 2 * len(s)
        assert m.count(~f, frozenset(BITS)) == len(ROWS) - len(s)
        g = m.exist(gone, f)
        over = m.support(g) | more
        assert m.count(g, over) << len(BITS) - len(over) == len(table_of(m, g))

    check()


@pytest.mark.parametrize("number", [60, 1200])
def test_count_is_exact_beyond_floats(backend, number):
    names = [f"x{i}" for i in range(number)]
    m = Manager(backend)
    m.declare_bottom(names)
    everything = frozenset(names)
    odd = m.false
    for name in reversed(names):
        odd = m.ite(m.var(name), ~odd, odd)
    assert m.count(m.true, everything) == 1 << number
    assert m.count(odd, everything) == 1 << (number - 1)
    assert m.count(m.var(names[0]) | m.var(names[-1]), everything) == 3 << (number - 2)
    one = m.cube(dict.fromkeys(names, True))
    assert m.count(one, everything) == 1
    assert m.count(~one, everything) == (1 << number) - 1  # not a double
    assert m.satisfies(one, dict.fromkeys(names, True))
    if backend == "cudd":  # the cofactors of the other backend recurse in Python
        assert m.pick(one, names) == dict.fromkeys(names, True)


def test_variables_are_inserted_where_they_belong(backend):
    """Declaring on top or below keeps every function; the order shows in what is placed beside what."""

    @laws
    @given(tables, st.sampled_from(BITS))
    def check(s, neighbour):
        m = fresh(backend)
        f = function(m, s)
        m.declare_top(["t1", "t2"])
        m.declare_below("n", neighbour)
        assert table_of(m, f) == s
        assert m.count(f, frozenset(BITS)) == len(s)
        assert m.has("t1")
        assert m.has("n")
        assert not m.has("absent")
        g = f & m.var("t2") & ~m.var("n")
        assert m.exist(frozenset({"t2", "n"}), g) == f
        assert m.count(g, frozenset({*BITS, "t1", "t2", "n"})) == 2 * len(s)

    check()


def test_a_cube_is_a_conjunction_of_literals(backend):
    @laws
    @given(st.dictionaries(st.sampled_from(BITS), st.booleans()))
    def check(assignment):
        m = fresh(backend)
        literals = [m.var(b) if value else ~m.var(b) for b, value in assignment.items()]
        assert m.cube(assignment) == m.conj(literals)
        assert m.point(assignment) == m.cube(assignment)

    check()


DEEP = """
from stead_sym.engines.symbolic.bdd.manager import Manager, deep_stack
m = Manager("cudd")
names = [f"x{i}" for i in range(80_000)]
m.declare_bottom(names)
with deep_stack():
    even, odd = (m.cube(dict.fromkeys(names[k::2], True)) for k in (0, 1))
    assert (even & odd).dag_size == 80_001
    assert m.count(m.exist(frozenset(names[::2]), even & odd), frozenset(names)) == 1 << 40_000
"""


@pytest.mark.skipif(not HAS_CUDD, reason="no CUDD here")
def test_diagrams_may_be_deeper_than_the_usual_stack():
    """In a process of its own: without the stack CUDD does not raise an exception, it ends the process."""
    subprocess.run([sys.executable, "-c", DEEP], check=True, timeout=120)


@pytest.mark.parametrize("soft", [1 << 22, 1 << 23, 1 << 28])
def test_the_stack_limit_is_raised_and_restored(soft):
    """Also when contexts are nested, when the work raises, and where it decorates a function."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_STACK)
    if before[1] != resource.RLIM_INFINITY:
        pytest.skip("the hard limit leaves nothing to raise")

    def limit():
        return resource.getrlimit(resource.RLIMIT_STACK)

    enough = (max(soft, 1 << 27), before[1])
    try:
        resource.setrlimit(resource.RLIMIT_STACK, (soft, before[1]))
        with deep_stack():
            assert limit() == enough
            with deep_stack():
                assert limit() == enough
            assert limit() == enough
        assert limit() == (soft, before[1])
        with pytest.raises(KeyError), deep_stack():
            raise KeyError
        assert limit() == (soft, before[1])
        assert [deep_stack()(limit)() for _ in range(2)] == [enough, enough]
        assert limit() == (soft, before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, before)
