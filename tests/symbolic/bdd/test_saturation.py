"""Saturation and shortest runs against breadth-first search on small relations given as tables."""

from __future__ import annotations

import gc
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine_pairs import examples
from stead_sym.engines.symbolic.bdd.fixpoint import shortest
from stead_sym.engines.symbolic.bdd.manager import Manager
from stead_sym.engines.symbolic.bdd.relation import Relation
from stead_sym.engines.symbolic.bdd.saturation import Saturation
from stead_sym.support.progress import Pulse

MOVING = [("a", "a'"), ("b", "b'"), ("c", "c'")]
KEPT = "k"  # a bit between those that move, which keeps its value
ORDER = ["a", "a'", KEPT, "b", "b'", "c", "c'"]
STATES = range(16)  # the bits a, b, c, k of a number, most significant first

steps = st.frozensets(st.tuples(st.integers(0, 7), st.integers(0, 7), st.booleans()), max_size=24)
relations = st.lists(steps, min_size=1, max_size=3)
partial = st.dictionaries(st.sampled_from(ORDER), st.booleans(), min_size=1)
sets_of_states = st.frozensets(st.sampled_from(STATES), max_size=6)


def bits(number, copies=False):
    return {copy if copies else bit: bool(number >> 2 - j & 1) for j, (bit, copy) in enumerate(MOVING)}


ROWS = {
    (s, t, k): {**bits(s), **bits(t, copies=True), KEPT: k}
    for s, t, k in product(range(8), range(8), (False, True))
}


def matching(cubes):
    """The steps of a relation that says nothing of some bits: these are anything before and afterwards."""
    return frozenset(step for step, row in ROWS.items() if any(cube.items() <= row.items() for cube in cubes))


loose = st.lists(partial, min_size=1, max_size=3).map(matching)


class World:
    """The same states and steps as diagrams and as plain sets; a step is possible for one value of k."""

    def __init__(self, relations, backend=None):
        self.m = Manager(backend)
        self.m.declare_bottom(ORDER)
        cubes = (
            [self.m.cube({**bits(s), **bits(t, copies=True), KEPT: k}) for s, t, k in steps]
            for steps in relations
        )
        self.parts = [self.m.disj(list(part)) for part in cubes]
        self.steps = {(s << 1 | k, t << 1 | k) for steps in relations for s, t, k in steps}
        self.relation = Relation(self.m, self.parts, MOVING, Pulse())

    def diagram(self, states):
        return self.m.disj(self.m.cube({**bits(s >> 1), KEPT: bool(s & 1)}) for s in states)

    def members(self, function):
        return {s for s in STATES if self.m.satisfies(function, {**bits(s >> 1), KEPT: bool(s & 1)})}

    def layers(self, start, through):
        """The states exactly 0, 1, … steps from ``start``, each step from a state in ``through``."""
        layers, seen = [set(start)], set(start)
        while layers[-1]:
            layers.append({t for s, t in self.steps if s in layers[-1] & through} - seen)
            seen |= layers[-1]
        return layers[:-1]


def assert_least_closed(relations, start, backend):
    world = World(relations, backend)
    reached = set().union(*world.layers(start, set(STATES)))
    found = Saturation(world.m, world.parts, MOVING).closure(world.diagram(start))
    assert world.members(found) == reached
    world.steps = {(t, s) for s, t in world.steps}
    reaching = set().union(*world.layers(start, set(STATES)))
    found = Saturation(world.m, world.parts, MOVING, backward=True).closure(world.diagram(start))
    assert world.members(found) == reaching
    return world


@pytest.mark.parametrize("backend", [None, "autoref"])
def test_a_saturated_set_is_the_least_closed_one(backend):
    @settings(max_examples=examples(60))
    @given(relations, sets_of_states)
    def check(relations, start):
        assert_least_closed(relations, start, backend)

    check()


@pytest.mark.gate
@pytest.mark.parametrize("backend", [None, "autoref"])
def test_relations_that_say_nothing_of_some_bits(backend):
    @settings(max_examples=examples(15))
    @given(st.lists(loose, min_size=1, max_size=2), sets_of_states)
    def check(relations, start):
        gc.disable()  # so that what keeps itself alive is still there afterwards, as young as it was
        gc.collect(0)  # what is older is in another generation
        try:
            assert_least_closed(relations, start, backend)
            assert not any(isinstance(thing, Saturation) for thing in gc.get_objects(generation=0))
        finally:
            gc.enable()

    check()


@settings(max_examples=examples(60))
@given(relations, sets_of_states, sets_of_states)
def test_reaching_goes_through_the_states_that_it_may(relations, target, through):
    world = World(relations)
    found = set(target)
    while more := {s for s, t in world.steps if t in found and s in through} - found:
        found |= more
    assert world.members(world.relation.reaching(world.diagram(target), world.diagram(through))) == found


@settings(max_examples=examples(60))
@given(relations, st.sampled_from(STATES), sets_of_states, sets_of_states)
def test_a_shortest_run_is_one(relations, start, through, target):
    world = World(relations)
    distances = [k for k, layer in enumerate(world.layers({start}, through)) if layer & target]
    names = frozenset([*(bit for bit, _ in MOVING), KEPT])
    sets = shortest(
        world.relation, world.diagram({start}), world.diagram(through), world.diagram(target), names
    )
    if sets is None:
        assert not distances
        return
    start_of, *sets = sets
    assert world.members(start_of) == {start}
    assert len(sets) == min(distances)
    here = {start}
    for ahead in map(world.members, sets):  # whichever member of a set is taken, the run goes on
        assert here <= through
        assert all(any((s, t) in world.steps for t in ahead) for s in here)
        here = {t for s, t in world.steps if s in here and t in ahead}
    assert here <= target


def test_a_copy_has_to_be_right_below_its_bit():
    m = Manager()
    m.declare_bottom(["a", "b", "a'"])
    with pytest.raises(ValueError, match="a' is not right below a"):
        Saturation(m, [m.true], [("a", "a'")])


def test_independent_records_are_not_interleaved():
    """A thousand bits that each rise on their own: as many results as bits, not as subsets of them."""
    m = Manager()
    moving = [(f"x{i}", f"x{i}'") for i in range(1000)]
    m.declare_bottom([name for pair in moving for name in pair])
    same = [m.var(b).equiv(m.var(copy)) for b, copy in moving]
    rest, rises = m.true, m.false
    for (b, copy), equal in reversed(list(zip(moving, same, strict=True))):
        rises = (equal & rises) | (~m.var(b) & m.var(copy) & rest)
        rest = equal & rest
    start = m.cube({b: False for b, _ in moving})
    assert Saturation(m, [rises], moving).closure(start) == m.true
