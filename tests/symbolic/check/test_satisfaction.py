"""The operators of CTL against the definition of each, on the graphs of generated deployments.

⟦op f g⟧ is computed from ⟦f⟧ and ⟦g⟧ by the text of the definition: runs are infinite, a fair one meets
each constraint for ever, and a state starts a run with a property iff some path leads to a cycle that has it.
"""

from __future__ import annotations

from itertools import product

import networkx as nx
import pytest
from hypothesis import event, given, reject, settings
from hypothesis import strategies as st

import stead_sym.logic.syntax as fo
from engine_pairs import both, by_name, examples, some_by_name
from generated.deployments import deployments
from generated.formulas import Signature, assignments, formulas
from stead_sym.deployment.language import parse_deployment
from stead_sym.errors import Undecided


class Runs:
    """The runs of an explicit graph, by the definitions."""

    def __init__(self, pair):
        graph = pair.explicit._graph
        self.states = frozenset(graph.states)
        self.graph = nx.DiGraph()
        self.graph.add_nodes_from(graph.states)
        for state, targets in zip(graph.states, graph.targets, strict=True):
            self.graph.add_edges_from((state, graph.states[target]) for target in targets)
        self.fair = [pair.explicit.satisfying(f, {}).states for f in pair.deployment.fair]

    def always(self, states):
        """Return where a fair run starts that stays in ``states``: some path within them leads to a cycle
        within them, or rather a component, that holds a state of each constraint."""
        inside = self.graph.subgraph(states)
        cores = set()
        for component in nx.strongly_connected_components(inside):
            cyclic = len(component) > 1 or any(inside.has_edge(state, state) for state in component)
            if cyclic and all(component & constraint for constraint in self.fair):
                cores |= component
        return frozenset(cores).union(*(nx.ancestors(inside, state) for state in cores))

    def next(self, states):
        """Return where a fair run has its second state in ``states``."""
        ahead = states & self.always(self.states)
        return frozenset(s for s in self.states if ahead.intersection(self.graph.successors(s)))

    def until(self, left, right):
        """Return where a fair run has a state of ``right``, and until then states of ``left``."""
        goals = right & self.always(self.states)
        inside = self.graph.subgraph(left | goals)
        return goals.union(*(nx.ancestors(inside.subgraph(left | {goal}), goal) for goal in goals))

    def cases(self, f, g):
        """Each operator over f and g, with what it says of the states, given ⟦f⟧ and ⟦g⟧. A universal one
        says that no run breaks it."""

        def expected(of_f, of_g):
            everything, no_f, no_g = self.states, self.states - of_f, self.states - of_g
            broken = self.until(no_g, no_f & no_g)
            return {
                fo.Not(f): no_f,
                fo.And((f, g)): of_f & of_g,
                fo.Or((f, g)): of_f | of_g,
                fo.Implies(f, g): no_f | of_g,
                fo.Iff(f, g): (of_f & of_g) | (no_f & no_g),
                fo.Next("E", f): self.next(of_f),
                fo.Next("A", f): everything - self.next(no_f),
                fo.Future("E", f): self.until(everything, of_f),
                fo.Future("A", f): everything - self.always(no_f),
                fo.Globally("E", f): self.always(of_f),
                fo.Globally("A", f): everything - self.until(everything, no_f),
                fo.Until("E", f, g): self.until(of_f, of_g),
                fo.Until("E", f, g, weak=True): self.until(of_f, of_g) | self.always(of_f),
                fo.Until("A", f, g): everything - broken - self.always(no_g),
                fo.Until("A", f, g, weak=True): everything - broken,
            }

        return expected


@st.composite
def explored(draw):
    """Both engines, and two formulas over a variable x, perhaps temporal."""
    deployment = draw(deployments(specs=1, max_tools=2))
    agent = draw(st.sampled_from(["any", by_name(1), some_by_name(2)]))
    try:
        pair = both(deployment, agent, max_states=40)
    except Undecided:
        reject()
    relations = {relation.name: relation.sorts for relation in deployment.schema.relations}
    signature = Signature(relations, deployment.constants)
    scope = {"x": draw(st.sampled_from(signature.sorts))}
    made = formulas(signature, scope, depth=2, temporal=draw(st.booleans()))
    return pair, scope, draw(made), draw(made)


def listed(engine, states, formula, sigma):
    """⟦f⟧ under an assignment, as the symbolic engine has it."""
    found = engine.satisfying(formula, sigma)
    members = frozenset(state for state in states if state in found)
    assert found.count == len(members)
    return members


@settings(max_examples=examples(40))
@given(explored())
def test_each_operator_is_its_definition(drawn):
    pair, scope, f, g = drawn
    runs = Runs(pair)
    event(f"fair: {bool(runs.fair)}")
    expected = runs.cases(f, g)
    for sigma in assignments(scope, pair.restriction.values):
        sets = [listed(pair.symbolic, runs.states, part, sigma) for part in (f, g)]
        for formula, states in expected(*sets).items():
            assert listed(pair.symbolic, runs.states, formula, sigma) == states, f"{formula} under {sigma}"


@settings(max_examples=examples(30))
@given(explored())
def test_quantifiers_range_over_the_active_values_of_the_state_at_hand(drawn):
    """⟦∃x. f⟧ = ⋃ over u of { D : u ∈ ad(D) } ∩ ⟦f[u]⟧ and ⟦∀x. f⟧ the complement of ⟦∃x. ¬f⟧; the
    quantifier reads ad(D) where it is evaluated, whatever operators stand inside."""
    pair, scope, f, _ = drawn
    sort = scope["x"]
    binder = fo.Binder("x", sort)
    states = Runs(pair).states
    some, every = frozenset(), states
    for value in pair.restriction.values[sort]:
        active = frozenset(state for state in states if value in state.active_domain[sort])
        there = listed(pair.symbolic, states, f, {"x": value})
        some |= active & there
        every &= there | (states - active)
    assert listed(pair.symbolic, states, fo.Exists(binder, f), {}) == some
    assert listed(pair.symbolic, states, fo.Forall(binder, f), {}) == every


@settings(max_examples=examples(30))
@given(explored())
def test_atoms_hold_where_their_facts_do(drawn):
    pair, scope, _, _ = drawn
    states = Runs(pair).states
    for relation in pair.deployment.schema.relations:
        names = tuple(f"x{k}" for k in range(relation.arity))
        for args in product(*(pair.restriction.values[sort] for sort in relation.sorts)):
            sigma = dict(zip(names, args, strict=True))
            expected = frozenset(s for s in states if args in s.tuples(relation.name))
            atom = fo.Atom(relation.name, tuple(map(fo.Var, names)))
            assert listed(pair.symbolic, states, atom, sigma) == expected
    for u, v in product(pair.restriction.values[scope["x"]], repeat=2):
        same = listed(pair.symbolic, states, fo.Equal(fo.Var("x"), fo.Var("y")), {"x": u, "y": v})
        assert same == (states if u == v else frozenset())


_MANY = """
deployment many
relation A()
relation B()
initially any A, B
tool rest()
"""


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("A()", False),
        ("~A()", False),
        ("~~A()", False),
        ("A() | ~A()", True),
        ("(AG A()) | AG ~A()", True),
        ("(AG A()) & EF A()", False),
        ("A() -> B()", False),
        ("A() -> EF A()", True),
        ("A() <-> B()", False),
        ("EF A()", False),
        ("EG ~A()", False),
        ("~EF A()", False),
        ("~AG A()", False),
        ("AG (A() -> AX A())", True),
        ("AG A()", False),
    ],
)
def test_a_sentence_holds_where_it_holds_at_every_initial_state(text, holds):
    """Each of the four states is a D0 and stays as it is: what holds at some D0 does not hold."""
    pair = both(parse_deployment(_MANY))
    formula = pair.deployment.formula(text)
    assert [engine.holds(formula) for engine in pair] == [holds, holds]
