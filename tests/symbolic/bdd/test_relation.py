"""Images, preimages, fixpoints and counts of relations, against sets of pairs."""

from __future__ import annotations

from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine_pairs import examples
from stead_sym.engines.symbolic.bdd import relation as relations
from stead_sym.engines.symbolic.bdd.manager import Manager
from stead_sym.engines.symbolic.bdd.relation import Relation
from stead_sym.support.progress import Pulse

BITS, STAYS = ("a", "b"), "s"
"""Two bits that move, and one that the relation leaves as it is but may depend on."""
STATES = tuple(product((False, True), repeat=3))
STEPS = tuple((s, t) for s in STATES for t in STATES if s[2] == t[2])

CHOSEN = ("c", "d", "e")
"""Above the bits, between them and below: a step may be there for some of their values only."""

sets = st.frozensets(st.sampled_from(STATES))
steps = st.frozensets(st.sampled_from(STEPS), max_size=12)
choices = st.dictionaries(
    st.sampled_from(STEPS), st.dictionaries(st.sampled_from(CHOSEN), st.booleans(), min_size=1), max_size=12
)
little = st.sampled_from((relations._CHEAP_STEP, -1))
"""Breadth first, and by saturation from the first step on."""


class Made:
    """The relation that is the union of some sets of steps, one part for each."""

    def __init__(self, parts, choices=None):
        self.manager = m = Manager()
        self.choices = choices or {}
        m.declare_bottom(["c", STAYS, "a", "a'", "d", "b", "b'", "e"])
        self.steps = frozenset().union(*parts)
        self.relation = Relation(
            m,
            [m.disj(map(self.step, sorted(part))) for part in parts],
            [(bit, f"{bit}'") for bit in BITS],
            Pulse(),
            frozenset(CHOSEN),
        )

    def state(self, state):
        return dict(zip((*BITS, STAYS), state, strict=True))

    def step(self, pair):
        before, after = pair
        moved = zip([f"{bit}'" for bit in BITS], after[:2], strict=True)
        return self.manager.cube({**self.state(before), **dict(moved), **self.choices.get(pair, {})})

    def function(self, states):
        return self.manager.disj(self.manager.cube(self.state(state)) for state in sorted(states))

    def members(self, function):
        return frozenset(state for state in STATES if self.manager.satisfies(function, self.state(state)))


@given(st.lists(steps, min_size=1, max_size=3), choices, sets)
def test_images(parts, choices, states):
    made = Made(parts, choices)
    post = made.relation.image(made.function(states))
    pre = made.relation.preimage(made.function(states))
    assert made.members(post) == {t for s, t in made.steps if s in states}
    assert made.members(pre) == {s for s, t in made.steps if t in states}


@settings(max_examples=examples(300))
@given(st.lists(steps, min_size=1, max_size=3), choices, sets, sets, little)
def test_least_fixpoints(parts, choices, states, through, little):
    made = Made(parts, choices)
    start, here = made.function(states), made.function(through)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(relations, "_CHEAP_STEP", little)
        reached = [made.relation.reachable(start, start) for _ in range(2)]  # what is kept serves again,
        reaching = [made.relation.reaching(start, here)]
        made.manager.declare_top(["x"])  # and where levels have changed
        reaching.append(made.relation.reaching(start, here))
        inside = made.relation.within(here).reachable(start, start)
    found = set(states)
    while more := {t for s, t in made.steps if s in found} - found:
        found |= more
    assert [*map(made.members, reached)] == [found] * 2
    found = set(states)
    while more := {t for s, t in made.steps if s in found & through} - found:
        found |= more
    assert made.members(inside) == found
    found = set(states)
    while more := {s for s, t in made.steps if t in found and s in through} - found:
        found |= more
    assert [*map(made.members, reaching)] == [found] * 2


@given(st.lists(steps, min_size=1, max_size=3), sets, sets)
def test_a_fixpoint_may_end_where_something_is_wrong(parts, states, wrong):
    made = Made(parts)
    start = made.function(states)
    everything = made.members(made.relation.reachable(start, start))
    is_wrong = made.function(wrong)
    found = made.members(
        made.relation.reachable(start, start, lambda states: states & is_wrong != made.manager.false)
    )
    assert states <= found <= everything
    assert found == everything or found & wrong


@given(st.lists(steps, min_size=1, max_size=3), choices, st.booleans())
def test_pairs_are_counted_once_however_many_parts_make_them(parts, choices, high):
    """Over the bits that move: the bit that stays is fixed."""
    made = Made(parts, choices)
    here = made.manager.var(STAYS) if high else ~made.manager.var(STAYS)
    relation = Relation(
        made.manager,
        [made.manager.cofactor(part, {STAYS: high}) for part in made.relation.parts],
        made.relation.moving,
        Pulse(),
        made.relation.chosen,
    )
    assert here != made.manager.false
    assert relation.count(made.manager.true) == sum(s[2] == high for s, _ in made.steps)


@given(st.permutations(range(16)), st.integers(1, 16))
def test_runs_of_any_length_are_followed_to_their_end(walk, length):
    """The states of one walk: its last state is reached from its first alone, and the other way round."""
    walk = walk[:length]
    m = Manager()
    bits = tuple(f"n{j}" for j in range(4))
    m.declare_bottom(name for bit in bits for name in (bit, f"{bit}'"))

    def state(number, names=bits):
        return m.cube({name: bool(number >> j & 1) for j, name in enumerate(names)})

    copies = tuple(f"{bit}'" for bit in bits)
    steps = m.disj(state(s) & state(t, copies) for s, t in pairwise(walk))
    relation = Relation(m, [steps], list(zip(bits, copies, strict=True)), Pulse())
    everything = m.disj(map(state, walk))
    assert relation.reachable(state(walk[0]), state(walk[0])) == everything
    assert relation.reaching(state(walk[-1]), m.true) == everything
