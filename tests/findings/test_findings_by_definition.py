"""Findings against their definitions, state by state, on generated deployments; both engines say the same.

The definitions are written out over the explicit graph: what is offered, selected, enabled and changed by the
concrete semantics, where an implication is evaluated by walking the formula, fair runs by strongly connected
components, what a replacement does by labelling.
"""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import pytest
from hypothesis import event, given, reject, settings
from hypothesis import strategies as st

import stead_sym.logic.syntax as fo
from engine_pairs import examples
from generated.deployments import deployments
from stead_sym.agents.base import DecisionContext
from stead_sym.agents.roles import wrap
from stead_sym.agents.rules import RuleAgent
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.deployment.semantics import offer, outcomes, view
from stead_sym.engines.explicit.check import Labelling
from stead_sym.engines.explicit.explore import explore
from stead_sym.errors import Undecided
from stead_sym.verification.findings.conditions import changes
from stead_sym.verification.findings.finding import Finding
from stead_sym.verification.findings.occurrences import occurrences, replaced
from stead_sym.verification.findings.static import implication_for_some
from stead_sym.verification.verify import verify

MAX_STATES = 60


class Reference:
    """The graph of a deployment under an agent, and the definitions over it."""

    def __init__(self, deployment, agent):
        self.deployment = deployment
        self.restriction = theorem_restriction(deployment, deployment.specs)
        self.wrapper = wrap(deployment, agent)
        self.graph = explore(deployment, {"": self.wrapper}, self.restriction, max_states=MAX_STATES)
        self.labelling = Labelling(self.graph, self.restriction)
        self.successors = {
            state: {self.graph.states[j] for _, j in self.graph.edges[i]}
            for i, state in enumerate(self.graph.states)
        }

    def selected(self, state):
        offered = offer(self.deployment, state)
        return offered if self.wrapper is None else self.wrapper.calls(view(self.deployment, state), offered)

    def after(self, tool, effect):
        """(D, D') for every selected call of the tool, by this alternative alone."""
        core = self.deployment
        alone = replace(tool, effects=(effect,))
        tools = tuple(alone if t.name == tool.name else t for t in core.written.tools)
        only = replace(core, written=replace(core.written, tools=tools))
        for state in self.graph.states:
            for call in self.selected(state):
                if call.tool == tool.name:
                    for outcome in outcomes(only, call, state, self.restriction):
                        yield state, outcome

    def fair_states(self):
        """The states from which some run visits each constraint infinitely often."""
        runs = nx.DiGraph((a, b) for a, after in self.successors.items() for b in after)
        constraints = [self.labelling.satisfying(f) for f in self.deployment.fair]
        good = {
            state
            for component in nx.strongly_connected_components(runs)
            if runs.subgraph(component).number_of_edges() and all(component & c for c in constraints)
            for state in component
        }
        return {state for state in self.graph.states if good & (nx.descendants(runs, state) | {state})}

    def evaluated(self, formula, path):
        """The pairs (D, σ) at which the occurrence is evaluated, premises on the way being true."""
        fair = self.fair_states()
        pairs = [(self.deployment.init, {})]
        for k in path:
            following = []
            for state, sigma in pairs:
                if isinstance(formula, fo.Quantified):
                    values = state.active_domain[formula.binder.sort]
                    following += [(state, {**sigma, formula.binder.name: u}) for u in values]
                elif isinstance(formula, fo.Next):
                    following += [(after, sigma) for after in self.successors[state] & fair]
                elif isinstance(formula, fo.Temporal):
                    following += [(after, sigma) for after in self.reachable(state) & fair]
                elif not (isinstance(formula, fo.Implies) and k == 1) or self.labelling.holds(
                    formula.left, state, sigma
                ):
                    following.append((state, sigma))
            unique = {(state, tuple(sorted(sigma.items()))) for state, sigma in following}
            pairs = [(state, dict(sigma)) for state, sigma in unique]
            formula = fo.children(formula)[k]
        return pairs

    def reachable(self, state):
        found, todo = {state}, [state]
        while todo:
            for after in self.successors[todo.pop()] - found:
                found.add(after)
                todo.append(after)
        return found


def by_kind(findings, kind):
    return [finding for finding in findings if finding.kind == kind]


def check(reference, result):
    d, graph = reference.deployment, reference.graph
    offered = {call.tool for state in graph.states for call in offer(d, state)}
    selected = {call.tool for state in graph.states for call in reference.selected(state)}

    def named(kind):
        return {finding.text.split(" is ")[0] for finding in by_kind(result.findings, kind)}

    assert named("never offered") == {tool.name for tool in d.tools} - offered
    assert named("never selected") == offered - selected

    idle, still = set(), set()
    for tool in d.tools:
        for number, effect in enumerate(tool.effects, 1):
            if tool.name in selected:
                name = tool.name if len(tool.effects) == 1 else f"alternative {number} of {tool.name}"
                pairs = list(reference.after(tool, effect))
                certain = changes(effect, d.schema, d.constants) is None
                if not pairs:
                    idle.add(name)
                elif effect.statements and not certain and all(a == b for a, b in pairs):
                    still.add(name)
    assert {f.text.split(" applies ")[0] for f in by_kind(result.findings, "never enabled")} == idle
    assert {f.text.split(" changes ")[0] for f in by_kind(result.findings, "no change")} == still

    if reference.wrapper is not None:
        agent = RuleAgent.of(d, "p")
        rules = agent.policy.rules
        matching, deciding = set(), set()
        for state in graph.states:
            context = DecisionContext(view(d, state), offer(d, state))
            here = [k for k, rule in enumerate(rules) if agent.matches(rule, context)]
            matching |= set(here)
            deciding |= set(here[:1])
        assert len(by_kind(result.findings, "rule never matches")) == len(
            {str(rules[k]) for k in range(len(rules)) if k not in matching}
        )

    fair = graph.states[0] in reference.fair_states()
    assert bool(by_kind(result.findings, "unfair")) == (not fair)
    if not fair:
        on_all = Labelling(graph, reference.restriction, ())  # where no run is fair, each is a finite one's
        for spec in d.specs:
            fairly, completely = (
                reference.labelling.holds(spec.formula, d.init),
                on_all.holds(spec.formula, d.init),
            )
            assert result[spec.name].holds is (False if not completely else True if fairly else None)
        return
    for spec in d.specs:
        check_spec(reference, spec, [finding for finding in result.findings if finding.spec == spec.name])


def check_spec(reference, spec, findings):
    labelling, init = reference.labelling, reference.deployment.init
    holds = labelling.holds(spec.formula, init)
    empty, premises = set(), set()
    for occurrence in occurrences(spec.formula):
        part = occurrence.formula
        if isinstance(part, fo.Quantified):
            sort = part.binder.sort
            if not any(state.active_domain[sort] for state in reference.graph.states):
                empty.add(sort)
        if any(map(implication_for_some, occurrence.above)):
            continue  # another finding says why parts of it do not matter
        if isinstance(part, fo.Implies) and occurrence.polarity == 1:
            where = reference.evaluated(spec.formula, (*occurrence.path, 0))
            if not any(labelling.holds(part.left, state, sigma) for state, sigma in where):
                premises.add(str(part.left))
    said = {f.text.split("value of ")[1].split(",")[0] for f in by_kind(findings, "no value")}
    assert said <= empty
    assert bool(said) == bool(empty)
    for finding in by_kind(findings, "premise never true"):
        event("premise never true")
        assert finding.text.split("`")[1] in premises
    if premises and not by_kind(findings, "no value") and not by_kind(findings, "no value initially"):
        trivial = {
            str(o.formula.left)
            for o in occurrences(spec.formula)
            if (isinstance(o.formula, fo.Implies) and fo.FALSE in (o.formula.right, o.formula.left))
            or (isinstance(o.formula, fo.Implies) and o.formula.left == fo.TRUE)
        }
        assert premises <= trivial or by_kind(findings, "premise never true")
    for finding in by_kind(findings, "vacuous"):
        event("vacuous")
        text = finding.text.split("`")[1]
        matching = [o for o in occurrences(spec.formula) if str(o.formula) == text]
        if (said := finding.text.split("`")[3]) not in ("true", "false"):
            event("vacuous but for its range")
            assert any(holds_with_range(reference, spec.formula, o, said) == holds for o in matching)
            continue
        by = fo.TRUE if said == "true" else fo.FALSE
        assert any(
            labelling.holds(replaced(spec.formula, o.path, by), init) == holds
            and by == (fo.TRUE if (o.polarity < 0) == holds else fo.FALSE)
            for o in matching
        )


def holds_with_range(reference, formula, occurrence, said):
    """Return if the formula holds with what the text says in the place of a premise that implies it."""
    sorts = {f.binder.name: f.binder.sort for f in occurrence.above if isinstance(f, fo.Quantified)}
    by = reference.deployment.formula(said, sorts)
    weaker = replaced(formula, occurrence.path, fo.And((occurrence.formula, fo.Not(by))))
    init = reference.deployment.init
    assert occurrence.polarity < 0
    assert reference.labelling.holds(replaced(formula, occurrence.path, by), init)
    assert reference.labelling.holds(weaker, init)
    return True


@given(st.data())
@settings(max_examples=examples(40), deadline=None)
def test_findings_are_what_they_say(data):
    deployment = data.draw(deployments())
    agent = deployment.policy("p") if data.draw(st.booleans()) else "any"
    try:
        reference = Reference(deployment, agent)
    except Undecided:
        reject()
    results = [
        verify(deployment, agent, engine=engine, domain="theorem") for engine in ("explicit", "symbolic")
    ]
    assert results[0].findings == results[1].findings
    for finding in results[0].findings:
        assert isinstance(finding, Finding)
        event(finding.kind)
    check(reference, results[0])


SHADOWED = """
deployment shadowed
sort a
sort k = { k1, k2 } rigid
relation Chosen(a)
relation Rated(k, a)
init
  Chosen(c1)
  Chosen(c2)
  Rated(k1, c1)
  Rated(k1, c2)
bound a 2
tool choose_only(p: a)
  guard Chosen(p)
  effect
    delete Chosen(p) for p: a
    insert Chosen(p)
tool rate_only(p: a)
  guard Rated(k1, p)
  effect
    delete Rated(p, u) for p: k, u: a
    insert Rated(k1, p)
spec s EF true
"""


@pytest.mark.parametrize("engine", ["explicit", "symbolic"])
def test_a_deletion_may_have_a_variable_named_as_a_parameter(engine):
    """Which the insertion beside it is about: the facts of all others go, so that something changes."""
    result = verify(parse_deployment(SHADOWED), engine=engine)
    assert not by_kind(result.findings, "no change")
