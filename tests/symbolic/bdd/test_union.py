"""The union of functions of a few variables each is their disjunction, with all others idle in each."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from engine_pairs import examples
from stead_sym.engines.symbolic.bdd.manager import Manager
from stead_sym.engines.symbolic.bdd.union import union

BITS = ("a", "b", "c", "d", "e")
"""Of each bit there is a copy, but for the last, which is idle where it is not set."""
COPIED = BITS[:-1]


@st.composite
def parts(draw):
    """Some bits, with the rows of a table over these and their copies."""
    own = draw(st.lists(st.sampled_from(BITS), max_size=2, unique=True))
    names = sorted({*own, *(f"{bit}'" for bit in own if bit in COPIED)})
    rows = list(product((False, True), repeat=len(names)))
    return frozenset(own), [
        dict(zip(names, row, strict=True)) for row in draw(st.lists(st.sampled_from(rows)))
    ]


@settings(max_examples=examples(100))
@given(st.lists(parts(), max_size=5), st.permutations(BITS))
def test_all_but_its_own_variables_are_idle_in_each_function(chosen, order):
    m = Manager()
    m.declare_bottom(name for bit in order for name in ((bit, f"{bit}'") if bit in COPIED else (bit,)))
    idle = {bit: m.var(bit).equiv(m.var(f"{bit}'")) if bit in COPIED else ~m.var(bit) for bit in BITS}
    functions = [(m.disj(map(m.cube, rows)), own) for own, rows in chosen]
    expected = m.disj(f & m.conj(idle[bit] for bit in BITS if bit not in own) for f, own in functions)
    assert union(m, functions, idle) == expected
