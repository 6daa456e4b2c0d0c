"""The agents that verdicts are about: each verdict without a caveat is true of every narrower agent."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from itertools import chain, combinations, islice, product

import pytest
from hypothesis import event, given, reject, settings
from hypothesis import strategies as some

import stead_sym as st
import stead_sym.logic.syntax as fo
from engine_pairs import by_name, examples
from generated.workflows import workflows
from stead_sym.agents.roles import wrap_all
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.engines.explicit.check import Labelling
from stead_sym.engines.explicit.explore import Graph, explore
from stead_sym.errors import DefinitionError, InputError, Undecided
from stead_sym.verification.findings.occurrences import quantifies
from stead_sym.verification.readings import FAIR_ALONE, LEFT_OUT_TOO, NO_RUN_FAIR
from stead_sym.verification.scope import Narrower, missed, rarest

MOST_STATES = 16
MOST_NARROWER = 16

IDLE = """
deployment idle
relation Done()
tool work()
  guard ~Done()
  effect
    insert Done()
tool wait()
policy lazy
  call wait()
spec possible EF Done()
spec always_possible AG EF Done()
"""


def selections(calls: frozenset[st.Call]) -> list[frozenset[st.Call]]:
    """The nonempty subsets, the single calls first; of many calls the first few subsets."""
    listed = sorted(calls)
    sizes = (combinations(listed, n) for n in range(1, len(listed) + 1))
    return [*map(frozenset, islice(chain.from_iterable(sizes), 16))]


def narrower(deployment: Deployment, graph: Graph, seed: int) -> list[Graph]:
    """Graphs of agents that select fewer calls, by the state: all of them, or some where there are many."""
    names = [role.name for role in deployment.agents]
    place, choices = [], []
    for state, acting in enumerate(graph.actors):
        for name in names:
            if mine := frozenset(call for call, agents in acting.items() if name in agents):
                place.append((state, name))
                choices.append(selections(mine))
    if math.prod(map(len, choices)) <= MOST_NARROWER:
        plans = [*product(*choices)]
    else:
        draw = random.Random(seed)
        plans = [tuple(map(draw.choice, choices)) for _ in range(MOST_NARROWER)]
    found = []
    for plan in plans:
        kept = dict(zip(place, plan, strict=True))
        actors = []
        for state, acting in enumerate(graph.actors):
            still = {
                call: tuple(a for a in agents if call in kept[state, a]) for call, agents in acting.items()
            }
            actors.append({call: still[call] for call, agents in acting.items() if still[call] or not agents})
        edges = tuple(
            tuple((call, target) for call, target in out if call in acting)
            for out, acting in zip(graph.edges, actors, strict=True)
        )
        found.append(replace(graph, edges=edges, actors=tuple(actors)))
    return found


def whom(verdict: st.Verdict) -> set[str]:
    """The sentences beside a verdict that are about agents, and not about fair runs."""
    return set(verdict.scope) - {FAIR_ALONE, LEFT_OUT_TOO, NO_RUN_FAIR}


def answered(fairly: Labelling, completely: Labelling, formula: fo.Expanded) -> bool | None:
    """The answer by the law of `readings`, from the labelling of each reading."""
    where_fair = fo.Implies(fo.Globally("E", fo.TRUE), formula)
    if not (fairly.holds_initially(where_fair) and completely.holds_initially(formula)):
        return False
    return fairly.holds_initially(formula) or None


@settings(max_examples=examples(12, slow=2000))
@given(workflows(), some.sampled_from(["any", "one", "two"]), some.integers(0, 9))
def test_what_is_said_without_a_caveat_is_true_of_every_narrower_agent(deployment, who, seed) -> None:
    agent = "any" if who == "any" else {role.name: by_name(who) for role in deployment.agents}
    restriction = theorem_restriction(deployment, deployment.specs)
    try:
        graph = explore(deployment, wrap_all(deployment, agent), restriction, max_states=MOST_STATES)
        result = st.verify(deployment, agent)
    except (DefinitionError, Undecided, InputError):
        reject()
    known = [spec for spec in deployment.specs if result[spec.name].holds is not None]
    for less in narrower(deployment, graph, seed):
        fairly, completely = Labelling(less, restriction), Labelling(less, restriction, completed=True)
        for spec in known:
            verdict = result[spec.name]
            truth = answered(fairly, completely, spec.formula)
            if truth not in (None, verdict.holds):
                event(f"{verdict.word} under {who} and differs for a narrower agent")
                assert whom(verdict), spec.formula
            found = any(f.kind == "about no given agent" and f.spec == spec.name for f in result.findings)
            assert found == bool(verdict.holds and whom(verdict))


@pytest.mark.parametrize(
    ("formula", "universal", "existential"),
    [
        ("P()", True, True),
        ("AG P()", True, False),
        ("~EF P()", True, False),
        ("AX P() -> P()", False, True),
        ("AX P() -> AX P()", False, False),
        ("EX P() -> AX P()", True, False),
        ("A[EX P() U P()]", False, False),
        ("A[AX P() U P()]", True, False),
        ("E[AX P() W P()]", False, False),
        ("E[EX P() W P()]", False, True),
        ("AX P() <-> P()", False, False),
        ("(P() <-> true) & AX P()", True, False),
        ("atmost 1 x. AX R(x)", False, True),
        ("atmost 1 x. EX R(x)", True, False),
        ("atleast 1 x. AX R(x)", True, False),
        ("exactly 1 x. AX R(x)", False, False),
        ("exactly 1 x. R(x)", True, True),
        ("AG EF P()", False, False),
    ],
)
def test_the_polarity_of_a_formula(formula: str, universal: bool, existential: bool) -> None:
    deployment = st.parse_deployment(
        "deployment d\nsort a\nrelation P()\nrelation R(a)\nbound a 1\ntool t()\n"
    )
    expanded = deployment.formula(formula)
    assert (quantifies(expanded, "A"), quantifies(expanded, "E")) == (universal, existential)


@pytest.mark.parametrize(
    ("formula", "holds", "told"),
    [
        ("EF P()", True, False),
        ("EF P()", False, True),
        ("AG P()", True, True),
        ("AG P()", False, False),
        ("AG EF P()", True, True),
        ("AG EF P()", False, True),
        ("P()", True, False),
    ],
)
def test_what_is_left_out_is_told_where_more_could_change_the_verdict(formula, holds, told) -> None:
    deployment = st.parse_deployment("deployment d\nrelation P()\ntool t()\n")
    assert bool(Narrower("less").says(deployment.formula(formula), holds=holds)) == told


def test_what_some_agent_could_do_is_said_of_no_given_one() -> None:
    idle = st.parse_deployment(IDLE)
    free, lazy = st.verify(idle), st.verify(idle, "lazy")
    for spec in ("possible", "always_possible"):
        assert free[spec].holds
        [said] = free[spec].scope
        assert said in (
            "some agent does this; a specific agent may not",
            "this rests on what some agent does; a specific agent may do otherwise",
        )
        assert lazy[spec].holds is False
        assert lazy[spec].scope == ()
        [finding] = [f for f in free.findings if f.spec == spec]
        assert finding.kind == "about no given agent"
        assert f"spec {spec} for any" in finding.remedy


def test_a_specification_for_any_agent_is_no_finding() -> None:
    free = st.verify(st.parse_deployment(IDLE.replace("spec possible EF", "spec possible for any EF")))
    assert free["possible"].scope[0].startswith("some agent does this")
    assert [f.spec for f in free.findings if f.kind == "about no given agent"] == ["always_possible"]


def test_progress_that_a_fair_tool_promises_is_said_of_no_given_agent() -> None:
    fair = st.parse_deployment(
        f"{IDLE}fair tool work\nspec done AF Done()\nspec kept AG (Done() -> AX Done())\n"
    )
    free, lazy = st.verify(fair), st.verify(fair, "lazy")
    assert free["done"].holds
    assert lazy["done"].holds is False
    [said] = free["done"].scope
    assert "rests on `fair` lines" in said
    assert free["kept"].holds
    assert free["kept"].scope == ()


def test_an_agent_without_a_choice_is_a_given_one() -> None:
    text = """
deployment marking
sort a = { b, c }
relation R(a)
relation Marked(a)
init %s
tool mark(x: a)
  guard R(x)
  effect
    insert Marked(x)
spec possible EF Marked(b)
"""
    for init, choice in (("R(b)", False), ("R(b) R(c)", True)):
        result = st.verify(st.parse_deployment(text % init))
        assert bool(result["possible"].scope) == choice


def test_samples_say_what_they_may_have_missed() -> None:
    assert rarest(10) == pytest.approx(0.2589, abs=1e-4)
    for samples, contexts in ((1, 1), (10, 1), (10, 7), (200, 40)):
        p = rarest(samples, contexts)
        assert contexts * (1 - p) ** samples == pytest.approx(0.05)
    assert missed("bot", 10, 1) == (
        "an answer of bot rarer than 26 % in some context may be missing, at 95 % (its one context was asked"
        " 10 times)"
    )
    assert missed("bot", 10, 7) == (
        "an answer of bot rarer than 39 % in some context may be missing, at 95 % (7 contexts were asked 10"
        " times each; 26 % for one of them alone)"
    )
