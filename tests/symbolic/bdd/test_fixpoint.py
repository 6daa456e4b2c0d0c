"""Shortest runs and EG under fairness, against graphs that are searched state by state."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stead_sym.engines.symbolic.bdd.fixpoint import globally, shortest
from stead_sym.engines.symbolic.bdd.manager import Manager
from stead_sym.engines.symbolic.bdd.relation import Relation
from stead_sym.support.progress import Pulse

BITS = ("a", "b", "c")
STATES = range(8)

edges = st.frozensets(st.tuples(st.sampled_from(STATES), st.sampled_from(STATES)), max_size=20)
sets = st.frozensets(st.sampled_from(STATES))


class Graph:
    def __init__(self, edges):
        self.manager = m = Manager()
        m.declare_bottom([name for bit in BITS for name in (bit, f"{bit}'")])
        steps = (
            m.cube({**self.code(s), **{f"{bit}'": on for bit, on in self.code(t).items()}})
            for s, t in sorted(edges)
        )
        self.edges = edges
        self.relation = Relation(m, [m.disj(steps)], [(bit, f"{bit}'") for bit in BITS], Pulse())

    def code(self, state):
        return {bit: bool(state >> k & 1) for k, bit in enumerate(BITS)}

    def function(self, states):
        return self.manager.disj(self.manager.cube(self.code(state)) for state in sorted(states))

    def members(self, function):
        return frozenset(s for s in STATES if self.manager.satisfies(function, self.code(s)))

    def after(self, states, within):
        """All that can be reached in one step or more through ``within``, its end included."""
        found, new = set(), {t for s, t in self.edges if s in states} & set(within)
        while new:
            found |= new
            new = {t for s, t in self.edges if s in new} & set(within) - found
        return found


def distance(edges, start, through, target):
    layer, seen, steps = {start}, {start}, 0
    while layer:
        if layer & target:
            return steps
        layer = {t for s, t in edges if s in layer and s in through} - seen
        seen |= layer
        steps += 1
    return None


@given(edges, st.sampled_from(STATES), sets, sets)
def test_a_shortest_run(edges, start, through, target):
    graph = Graph(edges)
    run = shortest(
        graph.relation,
        graph.function({start}),
        graph.function(through),
        graph.function(target),
        frozenset(BITS),
    )
    expected = distance(edges, start, through, target)
    if expected is None:
        assert run is None
        return
    begin, *run = run
    assert graph.members(begin) == {start}
    assert len(run) == expected
    here = {start}
    for ahead in run:  # whichever member of the set ahead a step leads to, the run goes on from there
        assert here <= through
        members = graph.members(ahead)
        for state in here:
            assert members & {t for s, t in edges if s == state}
        here = members & {t for s, t in edges if s in here}
    assert here <= target


@given(edges, sets, st.lists(sets, max_size=2))
def test_globally_under_fairness(edges, body, constraints):
    """EG f: a cycle within f that meets every constraint is reached through f."""
    graph = Graph(edges)
    on_cycle = set()
    for state in body:
        component = {t for t in graph.after({state}, body) if state in graph.after({t}, body)}
        if state in component and all(component & fair for fair in constraints):
            on_cycle.add(state)
    expected = {s for s in body if s in on_cycle or graph.after({s}, body) & on_cycle}
    found = globally(graph.relation, graph.function(body), [graph.function(fair) for fair in constraints])
    assert graph.members(found) == expected
