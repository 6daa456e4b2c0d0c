"""Events, several agents, any initial database, keys, wildcards, orders and `x in s` together: on generated
deployments that have them all, both engines agree, on the literal domain and with representatives.

The explicit engine, written state by state from the definitions, is the oracle; what a D0 is, and who may
make which step, is written again in `engine_pairs`.
"""

from __future__ import annotations

from itertools import chain, combinations, pairwise
from math import prod

import pytest
from hypothesis import event, given, note, reject, settings
from hypothesis import strategies as st

import stead_sym.logic.syntax as fo
from engine_pairs import (
    MAX_STATES,
    by_name,
    examples,
    is_at_fault,
    is_initial,
    replay,
    scoped_subformulas,
    some_by_name,
)
from generated.formulas import assignments
from generated.workflows import workflows
from stead_sym.agents.roles import wrap_all
from stead_sym.deployment.deployment import print_deployment
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.restriction import normal_restriction, theorem_restriction
from stead_sym.engines.explicit.check import Labelling
from stead_sym.engines.explicit.explore import Graph
from stead_sym.errors import DefinitionError, NoInitialState, Undecided
from stead_sym.relational.canonical import canonical_form
from stead_sym.relational.instance import Fact, Instance
from whole import verify

pytestmark = pytest.mark.gate

KINDS = ("any", "p", "q", "one", "some")
kinds = st.tuples(*[st.sampled_from(KINDS)] * 3)


def given_agents(deployment, kinds):
    """Return the agents of the deployment: a policy, everything, or a function that looks at names."""
    functions = {"one": by_name(1), "some": some_by_name(2)}
    names = [role.name for role in deployment.agents]
    return {name: functions.get(kind, kind) for name, kind in zip(names, kinds, strict=False)}


def solved(deployment, agents, **options):
    """The result, or the error that says that there is none."""
    try:
        return verify(deployment, agents, findings=False, **options)
    except (DefinitionError, NoInitialState) as error:
        return error.with_traceback(None)  # its frames hold the engine


def by_explicit(deployment, agents="any"):
    """Return what the explicit engine finds; the example is given up where there are too many states."""
    note(f"{agents}\n{deployment}")
    try:
        return solved(deployment, agents, engine="explicit", max_states=MAX_STATES)
    except Undecided:
        reject()


def answers(result):
    return {name: verdict.holds for name, verdict in result.verdicts.items()}


def decisions(result):
    return {name: (run.contexts, run.queries) for name, run in result.agents.items()}


def assert_no_initial_state(deployment, agents):
    for domain in ("theorem", "normal"):
        assert isinstance(solved(deployment, agents, domain=domain), NoInitialState)


def assert_evidence(deployment, agents, result, explicit):
    """Every run that is shown is one of the deployment, from a D0 of which the verdict is true, and each step
    is its actor's."""
    for spec in deployment.specs:
        verdict = result[spec.name]
        if verdict.trace is not None:
            event(f"evidence of {min(len(verdict.trace.steps), 3)} steps")
            replay(deployment, result.engine.restriction, wrap_all(deployment, agents), verdict.trace)
            shown = spec.formula if verdict.holds else fo.Not(spec.formula)
            # the first names of representatives are those of the literal domain
            assert verdict.trace.start in explicit.engine.satisfying(shown, {})


def assert_same_literally(deployment, explicit, symbolic):
    """Everything but evidence: counts, decisions, verdicts, who may call what, satisfying sets."""
    assert dict(symbolic.domain) == dict(explicit.domain)
    assert (symbolic.initial, symbolic.states, symbolic.transitions) == (
        explicit.initial,
        explicit.states,
        explicit.transitions,
    )
    assert decisions(symbolic) == decisions(explicit)
    assert answers(symbolic) == answers(explicit)
    for tool in deployment.tools_and_events:
        for selected in (False, True):
            for condition in (fo.TRUE, tool.guard, fo.Not(tool.guard)):
                expected = explicit.engine.is_called(tool.name, condition, selected=selected)
                found = symbolic.engine.is_called(tool.name, condition, selected=selected)
                assert found == expected, (tool.name, condition, selected)
    for spec in deployment.specs:
        for formula, scope in scoped_subformulas(spec.formula):
            for sigma in assignments(scope, explicit.restriction.values):
                expected = explicit.engine.satisfying(formula, sigma)
                found = symbolic.engine.satisfying(formula, sigma)
                assert found.count == expected.count, f"{formula} under {sigma}"
                assert all(state in found for state in expected.states), f"{formula} under {sigma}"


@settings(max_examples=examples(50, slow=600))
@given(workflows(specs=2), kinds)
def test_both_engines_agree_on_the_literal_domain(deployment, kinds):
    agents = given_agents(deployment, kinds)
    explicit = by_explicit(deployment, agents)
    if isinstance(explicit, NoInitialState):
        assert_no_initial_state(deployment, agents)
        return
    assert not isinstance(explicit, DefinitionError), explicit  # it is sound by construction
    event(f"initial: {explicit.initial > 1}, agents: {len(agents)}, states: {explicit.states > 1}")
    symbolic = solved(deployment, agents, domain="theorem")
    assert_same_literally(deployment, explicit, symbolic)
    for result in (explicit, symbolic):
        assert_evidence(deployment, agents, result, explicit)


@settings(max_examples=examples(60, slow=600))
@given(workflows(specs=4), kinds)
def test_representatives_give_the_same_verdicts(deployment, kinds):
    agents = given_agents(deployment, kinds)
    explicit = by_explicit(deployment, agents)
    if isinstance(explicit, NoInitialState):
        assert_no_initial_state(deployment, agents)
        return
    normal = solved(deployment, agents, domain="normal")
    assert answers(normal) == answers(explicit)
    assert normal.initial <= explicit.initial
    assert normal.states <= explicit.states
    assert decisions(normal) == decisions(explicit)
    assert_evidence(deployment, agents, normal, explicit)


@settings(max_examples=examples(50, slow=600))
@given(workflows(sound=False, specs=1, depth=3), kinds)
def test_a_breach_of_the_definition_is_found_by_both(deployment, kinds):
    """A bound, a key, a state in which nothing may happen, a call or an event without an effect: which of
    several comes first depends on the search, that there is one does not."""
    agents = given_agents(deployment, kinds)
    explicit = by_explicit(deployment, agents)
    if isinstance(explicit, NoInitialState):
        assert_no_initial_state(deployment, agents)
        return
    event(type(explicit).__name__)
    literal = theorem_restriction(deployment, deployment.specs)
    for domain in ("theorem", "normal"):
        found = solved(deployment, agents, domain=domain)
        if not isinstance(explicit, DefinitionError):
            assert not isinstance(found, DefinitionError), found
            assert answers(found) == answers(explicit)
            continue
        assert isinstance(found, DefinitionError), (explicit, found)
        for error in (explicit, found):
            over = containing(literal, error.trace)
            replay(deployment, over, wrap_all(deployment, agents), error.trace, leaves_domain=True)
            assert is_at_fault(deployment, over, error)


def containing(restriction, trace):
    """The restriction with all values of the run, whose names may be those of representatives."""
    values = {sort: dict.fromkeys(known) for sort, known in restriction.values.items()}
    for state in trace.states[:-1]:
        for sort, active in state.active_domain.items():
            values[sort] |= dict.fromkeys(sorted(active))
    return restriction.extended({sort: tuple(known) for sort, known in values.items()})


@settings(max_examples=examples(60, slow=600))
@given(workflows(sound=False))
def test_what_is_printed_reads_as_the_same_deployment(deployment):
    assert parse_deployment(print_deployment(deployment)) == deployment


# initial states


MOST_FACTS = 9  # D0 is tried for all sets of as many facts


def instances(deployment, values):
    """All instances over the values, of the facts of `init` and any of the relations of `initially any`."""
    facts = sorted(
        Fact(relation.name, args)
        for relation in deployment.schema.relations
        if relation.name in deployment.initially.relations
        for args in tuples(relation, values)
    )
    if len(facts) > MOST_FACTS:
        reject()
    subsets = chain.from_iterable(combinations(facts, number) for number in range(len(facts) + 1))
    return {Instance(deployment.schema, deployment.init.facts.union(some)) for some in subsets}


def tuples(relation, values):
    rows = [()]
    for sort in relation.sorts:
        rows = [(*row, value) for row in rows for value in values[sort]]
    return rows


def starting(max_bound=1):
    """Deployments with `initially any`, small enough to try all instances."""
    return workflows(specs=1, depth=2, max_actions=2).filter(
        lambda d: (
            d.initially is not None
            and max(d.bounds.values()) <= max_bound
            and _open_facts(d, normal_restriction(d).sizes) <= MOST_FACTS
        )
    )


def _open_facts(deployment, sizes):
    relations = map(deployment.schema.relation, deployment.initially.relations)
    return sum(prod(sizes[sort] for sort in relation.sorts) for relation in relations)


def literal_initial(result):
    """The initial states of the symbolic engine, listed."""
    model = result.engine._model
    m, left, bits = model.manager, model.initial, model.encoding.order
    while left != m.false:
        code = m.pick(left, bits)
        left = left & ~m.cube({bit: code.get(bit, False) for bit in bits})
        yield model.encoding.decode(code)


@settings(max_examples=examples(25, slow=300))
@given(starting())
def test_the_initial_states_are_those_of_the_definition(deployment):
    """Every instance over U_f that is one word by word, and no other: by both engines."""
    literal = theorem_restriction(deployment, deployment.specs)
    expected = {state for state in instances(deployment, literal.values) if is_initial(deployment, state)}
    event(f"initial states: {min(len(expected), 4)}")
    explicit = by_explicit(deployment)
    if isinstance(explicit, NoInitialState):
        assert not expected
        assert_no_initial_state(deployment, "any")
        return
    graph = explicit.engine._graph
    assert set(graph.states[: graph.initial]) == expected
    found = list(literal_initial(solved(deployment, "any", domain="theorem")))
    assert set(found) == expected
    assert len(found) == len(expected)


def reached_from(graph, first):
    """The part of a graph that one state reaches, that state being the only initial one."""
    order = {first: 0}
    for source in (queue := [first]):
        for target in graph.targets[source]:
            if target not in order:
                order[target] = len(order)
                queue.append(target)
    return Graph(
        graph.deployment,
        1,
        tuple(graph.states[i] for i in order),
        tuple(tuple((call, order[target]) for call, target in graph.edges[i]) for i in order),
        tuple(graph.offered[i] for i in order),
        tuple(graph.actors[i] for i in order),
    )


@settings(max_examples=examples(20, slow=300))
@given(workflows(specs=4, max_actions=3).filter(lambda d: d.initially is not None and not d.fair), kinds)
def test_what_holds_holds_from_every_initial_state_alone(deployment, kinds):
    """A specification is asked of the graphs that single D0 span; R is their union."""
    agents = given_agents(deployment, kinds)
    explicit = by_explicit(deployment, agents)
    if isinstance(explicit, NoInitialState) or explicit.initial == 1:
        reject()
    graph = explicit.engine._graph
    alone = [reached_from(graph, i) for i in range(graph.initial)]
    assert {state for part in alone for state in part.states} == set(graph.states)
    labellings = [Labelling(part, explicit.restriction) for part in alone]
    for domain in ("theorem", "normal"):
        result = solved(deployment, agents, domain=domain)
        for spec in deployment.specs:
            everywhere = all(labelling.holds_initially(spec.formula) for labelling in labellings)
            assert result[spec.name].holds is everywhere, spec
            event(f"holds from some: {len({x.holds_initially(spec.formula) for x in labellings}) > 1}")


@settings(max_examples=examples(25, slow=300))
@given(starting(max_bound=2))
def test_representatives_start_from_every_class_of_initial_states_and_nothing_else(deployment):
    """Over |C_S| + b_S values every class has a member, since no D0 has more active."""
    fixed = frozenset(deployment.sort_of_constant)
    few = {
        sort: known[: len(deployment.constants[sort]) + deployment.bounds.get(sort, 0)]
        for sort, known in theorem_restriction(deployment, deployment.specs).values.items()
    }
    expected = {
        canonical_form(state, fixed).instance
        for state in instances(deployment, few)
        if is_initial(deployment, state)
    }
    event(f"classes: {min(len(expected), 4)}")
    normal = solved(deployment, "any", domain="normal")
    if isinstance(normal, NoInitialState):
        assert not expected
        return
    found = list(literal_initial(normal))
    assert all(is_initial(deployment, state) for state in found)
    assert {canonical_form(state, fixed).instance for state in found} == expected


@settings(max_examples=examples(20, slow=200))
@given(workflows(specs=2), kinds)
def test_satisfying_sets_are_closed_under_renaming_what_is_not_named(deployment, kinds):
    """Isomorphic initial states are bisimilar, so that renaming a D0 changes nothing of what holds from it:
    with D0 all of them, R and every ⟦f⟧ are unions of classes."""
    agents = given_agents(deployment, kinds)
    explicit = by_explicit(deployment, agents)
    if isinstance(explicit, NoInitialState):
        reject()
    symbolic = solved(deployment, agents, domain="theorem")
    for spec in deployment.specs:
        expected = explicit.engine.satisfying(spec.formula, {})
        found = symbolic.engine.satisfying(spec.formula, {})
        for sort, values in symbolic.restriction.values.items():
            if sort not in deployment.bounds:
                continue
            for left, right in pairwise(deployment.outside(sort, values)):
                for state in expected.states:
                    renamed = state.rename({left: right, right: left})
                    assert renamed in found
                    assert renamed in expected


CONDITIONS = """
deployment conditions
sort k = { u, v } rigid
sort n = 0..2
sort m = 0..1
relation F(k)
relation P(k)
relation Q()
relation N(n)
relation E(k, k)
init
  F(u)
  N(1)
%s
event replace(x: k)
  effect
    clear F
    insert F(x)
event meet()
  guard P(u) & F(v)
  effect
    insert Q()
event pair()
  guard F(u) & F(v)
  effect
    insert Q()
tool rest()
event forget()
  effect
    clear N
"""


@pytest.mark.parametrize(
    ("lines", "spec", "holds"),
    [
        # what the condition says of a D0 does not bind the only fact of F to what it was there
        ("initially any P where forall x. P(x) -> F(x)", "P(u) -> EF Q()", True),
        ("initially any P where forall x. P(x) -> F(x)", "~P(v) & AG ~P(v)", True),
        # a sentence is asked of each D0, not of each of its parts
        ("initially any P", "P(v) | ~P(v)", True),
        ("initially any P", "P(v) -> F(v)", False),
        # that every step leaves F one fact at most says nothing of D0
        ("initially any F", "F(v) -> EF Q()", True),
        # a fact of `init` that the condition excludes leaves no D0, also where it can be deleted
        ("initially any N where forall x. N(x) -> x = 2", "true", None),
        ("initially any N where forall x. N(x) -> x >= 1", "N(1) & ~N(0)", True),
        ("initially any P where exists x. P(x) -> x = u", "~P(v)", False),
        # what is said of some tuples only, or besides, narrows nothing
        ("initially any P where forall x: n. P(u) -> x = 1", "~P(u)", False),
        ("initially any P where forall x: k, z: n. P(x) -> z = 1", "~P(v)", False),
        ("initially any E where forall x. E(x, x) -> x = u", "~E(u, v)", False),
        ("initially any E where forall x. E(x, x) -> x = u", "~E(v, u)", False),
        ("initially any E where forall x. E(x, x) -> x = u", "~E(v, v)", True),
        # numerals are active in the sort of their column only
        ("", "~exists x: m. x = x", True),
        ("", "exists x: n. x = x", True),
    ],
)
def test_what_a_condition_on_the_initial_states_rules_out(lines, spec, holds):
    deployment = parse_deployment(CONDITIONS % lines + f"spec s\n  {spec}\n")
    for options in ({"engine": "explicit"}, {"domain": "theorem"}, {"domain": "normal"}):
        result = solved(deployment, "any", **options)
        if holds is None:
            assert isinstance(result, NoInitialState)
        else:
            assert result["s"].holds is holds
