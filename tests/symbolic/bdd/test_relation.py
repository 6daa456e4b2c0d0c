"""Images, preimages, fixpoints and counts of relations, against sets of pairs."""

from __future__ import annotations

from itertools import pairwise, product

from hypothesis import given
from hypothesis import strategies as st

from stead_sym.engines.symbolic.bdd.manager import Manager
from stead_sym.engines.symbolic.bdd.relation import Relation
from stead_sym.support.progress import Pulse

BITS, STAYS = ("a", "b"), "s"
"""Two bits that move, and one that the relation leaves as it is but may depend on."""
STATES = tuple(product((False, True), repeat=3))
STEPS = tuple((s, t) for s in STATES for t in STATES if s[2] == t[2])

sets = st.frozensets(st.sampled_from(STATES))
steps = st.frozensets(st.sampled_from(STEPS), max_size=12)


class Made:
    """The relation that is the union of some sets of steps, one part for each."""

    def __init__(self, parts):
        self.manager = m = Manager()
        m.declare_bottom([STAYS, *(name for bit in BITS for name in (bit, f"{bit}'"))])
        self.steps = frozenset().union(*parts)
        self.relation = Relation(
            m,
            [m.disj(map(self.step, sorted(part))) for part in parts],
            [(bit, f"{bit}'") for bit in BITS],
            Pulse(),
        )

    def state(self, state):
        return dict(zip((*BITS, STAYS), state, strict=True))

    def step(self, pair):
        before, after = pair
        moved = zip([f"{bit}'" for bit in BITS], after[:2], strict=True)
        return self.manager.cube({**self.state(before), **dict(moved)})

    def function(self, states):
        return self.manager.disj(self.manager.cube(self.state(state)) for state in sorted(states))

    def members(self, function):
        return frozenset(state for state in STATES if self.manager.satisfies(function, self.state(state)))


@given(st.lists(steps, min_size=1, max_size=3), sets)
def test_images(parts, states):
    made = Made(parts)
    post = made.relation.image(made.function(states))
    pre = made.relation.preimage(made.function(states))
    assert made.members(post) == {t for s, t in made.steps if s in states}
    assert made.members(pre) == {s for s, t in made.steps if t in states}


@given(st.lists(steps, min_size=1, max_size=3), sets, sets)
def test_least_fixpoints(parts, states, through):
    made = Made(parts)
    found = set(states)
    while more := {t for s, t in made.steps if s in found} - found:
        found |= more
    assert made.members(made.relation.reachable(made.function(states), made.function(states))) == found
    found = set(states)
    while more := {s for s, t in made.steps if t in found and s in through} - found:
        found |= more
    reaching = made.relation.reaching(made.function(states), made.function(through))
    assert made.members(reaching) == found


@given(st.lists(steps, min_size=1, max_size=3), sets, sets)
def test_a_fixpoint_may_end_where_something_is_wrong(parts, states, wrong):
    made = Made(parts)
    start = made.function(states)
    everything = made.members(made.relation.reachable(start, start))
    found = made.members(made.relation.reachable(start, start, made.function(wrong)))
    assert states <= found <= everything
    assert found == everything or found & wrong


@given(st.lists(steps, min_size=1, max_size=3), st.booleans())
def test_pairs_are_counted_once_however_many_parts_make_them(parts, high):
    """Over the bits that move: the bit that stays is fixed."""
    made = Made(parts)
    here = made.manager.var(STAYS) if high else ~made.manager.var(STAYS)
    relation = Relation(
        made.manager,
        [made.manager.cofactor(part, {STAYS: high}) for part in made.relation.parts],
        made.relation.moving,
        Pulse(),
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
