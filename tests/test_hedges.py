"""Hedges against the truth: a verdict is hedged exactly if some agent within what was verified gives another.

`verification.scope` has the definition. All agents are tried that go by the state, and where none of them
gives another verdict those that also remember what the first steps led to.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, combinations, product

import pytest

import stead_sym as st
import stead_sym.logic.syntax as fo
from brute_force import context_automorphisms
from engine_pairs import examples
from stead_sym.agents.roles import wrap_all
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.deployment.semantics import offer, view
from stead_sym.engines.explicit.check import Labelling
from stead_sym.engines.explicit.explore import Graph, explore
from stead_sym.errors import DefinitionError, Undecided

MOST_STATES = 16
MOST_AGENTS = 200
SAMPLED = 30
SPECS = 4

TEXT = """
deployment choosing
sort a
relation P(a)
relation M(a)
relation F()
bound a 2
init {init}
view P(x) where true
{hidden}view M(x) where true
view F() where true
tool take(x: a)
  guard P(x){guard}
{take}
tool turn(x: a)
  guard {turning}
{turn}
tool stay()
{event}
policy eager
  call take(x)
  call turn(x)
  call stay()
policy by_turns
  call turn(x) when F()
  call take(x) when ~F()
  call stay()
policy marked
  call take(x) when M(x)
  call stay() when ~F()
  call turn(x)
  call stay()
"""
EFFECTS = (
    "  effect delete P(x)",
    "  effect insert F()",
    "  effect delete F()",
    "  effect insert M(x)",
    "  effect when M(x)\n    delete P(x)\n  effect when ~M(x)\n    insert F()",
    "  effect\n    delete P(x)\n  effect\n    insert F()",
    "  effect when F()\n    delete F()\n  effect when ~F()\n    insert M(x)",
)
EVENTS = (
    "",
    "event tick()\n  guard ~F()\n  effect insert F()",
    "event tock()\n  guard F()\n  effect delete F()",
    "event lose(x: a)\n  guard P(x) & M(x)\n  effect delete P(x)",
    "event mark(x: a)\n  guard P(x) & F()\n  effect insert M(x)",
)
ATOMS = (
    "P(c)",
    "~P(d)",
    "M(c)",
    "F()",
    "~F()",
    "P(_)",
    "exists x. (P(x) & M(x))",
    "forall x. (P(x) -> M(x))",
)
FORMS = (
    *("EX {0}", "AX {0}", "EF {0}", "AF {0}", "EG {0}", "AG {0}"),
    *("E[{0} U {1}]", "A[{0} U {1}]", "A[{0} W {1}]"),
    *("({0} & {1})", "({0} | {1})", "({0} -> {1})", "~{0}", "({0} <-> {1})"),
    *("(forall x. (P(x) -> {0}))", "(exists x. (P(x) & {0}))"),
)


def formula(draw: random.Random, depth: int) -> str:
    if depth == 0 or draw.random() < 0.15:
        return f"({draw.choice(ATOMS)})"
    form = draw.choice(FORMS)
    return form.format(*(formula(draw, depth - 1) for _ in range(2)))


def deployment_of(draw: random.Random) -> st.Deployment:
    """Two records, of which one may be marked, which the agent may not be shown."""
    text = TEXT.format(
        init=" ".join(["P(c)", "P(d)", *(["M(c)"] if draw.random() < 0.6 else [])]),
        hidden=draw.choice(["", "# "]),
        guard=draw.choice(["", " & ~F()"]),
        take=draw.choice(EFFECTS),
        turning=draw.choice(["P(x)", "P(x) & F()", "P(x) & M(x)"]),
        turn=draw.choice(EFFECTS),
        event=draw.choice(EVENTS),
    )
    specs = (f"spec s{k} {formula(draw, draw.choice([1, 2, 2, 3]))}" for k in range(SPECS))
    return st.parse_deployment(text + "\n".join(specs))


def families(graph: Graph, who: str) -> list[list[tuple[st.Call, ...]]]:
    """Per state the sets of calls of each of which the agent makes one at least, by trying all renamings."""
    deployment, [wrapper] = graph.deployment, wrap_all(graph.deployment, who).values()
    [role] = deployment.agents
    found = []
    for state, acting in zip(graph.states, graph.actors, strict=True):
        mine = sorted(call for call, agents in acting.items() if agents)
        if wrapper is None:
            found.append([tuple(mine)])
            continue
        shown = st.DecisionContext(view(deployment, state, role), offer(deployment, state, role))
        alphas = [*context_automorphisms(shown, wrapper.tools, wrapper.rigid)]
        orbits = {tuple(sorted({call.rename(alpha) for alpha in alphas})) for call in mine}
        found.append(sorted(orbits))
    return found


def nonempty(calls: Sequence[st.Call]) -> Iterator[tuple[st.Call, ...]]:
    return chain.from_iterable(combinations(calls, size) for size in range(1, len(calls) + 1))


def agents_within(
    graph: Graph, families: Sequence[Sequence[tuple[st.Call, ...]]], draw: random.Random
) -> tuple[Iterator[Graph], bool]:
    """Return what is left of the graph under each agent within it, and if these are all; some of many."""
    choices = [[*product(*map(nonempty, here))] for here in families]
    if math.prod(map(len, choices)) <= MOST_AGENTS:
        return (_made(graph, plan) for plan in product(*choices)), True
    plans = ([draw.choice(here) for here in choices] for _ in range(SAMPLED))
    single = (
        [draw.choice([one for one in here if _is_narrow(one)]) for here in choices] for _ in range(SAMPLED)
    )
    return (_made(graph, plan) for plan in chain(plans, single)), False


def _is_narrow(parts: Sequence[Sequence[st.Call]]) -> bool:
    return all(len(part) == 1 for part in parts)


def _made(graph: Graph, plan: Sequence[Sequence[Sequence[st.Call]]]) -> Graph:
    edges = []
    for out, acting, here in zip(graph.edges, graph.actors, plan, strict=True):
        made = {call for calls in here for call in calls}
        edges.append(tuple((call, target) for call, target in out if not acting[call] or call in made))
    return replace(graph, edges=tuple(edges))


def remembering(graph: Graph, steps: int) -> tuple[Graph, list[int]]:
    """The graph with its first steps as a tree, and the state of the graph that each of its states is."""
    assert graph.initial == 1, "one tree"
    of = [0, *range(len(graph.states))]
    edges = [(), *(tuple((call, 1 + target) for call, target in out) for out in graph.edges)]
    tree = [0]
    for _ in range(steps - 1):
        leaves = tree
        tree = []
        for node in leaves:
            out = []
            for call, target in graph.edges[of[node]]:
                tree.append(len(of))
                out.append((call, len(of)))
                of.append(target)
                edges.append(())
            edges[node] = tuple(out)
    for node in tree:
        edges[node] = edges[1 + of[node]]
    larger = replace(
        graph,
        states=tuple(graph.states[k] for k in of),
        edges=tuple(edges),
        offered=tuple(graph.offered[k] for k in of),
        actors=tuple(graph.actors[k] for k in of),
    )
    return larger, of


def differs(
    graph: Graph, who: str, restriction: st.Restriction, sentence: fo.Expanded, holds: bool, *, longest: int
) -> bool | None:
    """Return if some agent gives another verdict; None where none was found and not all were tried that go by
    the state."""
    choosing, draw, exhaustive = families(graph, who), random.Random(0), False
    for steps in range(longest + 1):
        larger, of = (graph, range(len(graph.states))) if steps == 0 else remembering(graph, steps)
        agents, all_ = agents_within(larger, [choosing[k] for k in of], draw)
        if any(Labelling(one, restriction).holds_initially(sentence) != holds for one in agents):
            return True
        exhaustive |= steps == 0 and all_
    return False if exhaustive else None


def compared(seed: int) -> Iterator[tuple[str, bool, bool | None]]:
    """For each specification of a generated deployment that is small: its formula, whether its verdict is
    hedged, and whether two agents differ."""
    draw = random.Random(seed)
    deployment = deployment_of(draw)
    who, engine = (
        draw.choice(["any", "any", "any", "eager", "by_turns", "marked"]),
        draw.choice(["symbolic", "explicit"]),
    )
    restriction = theorem_restriction(deployment, deployment.specs)
    try:
        graph = explore(deployment, wrap_all(deployment, who), restriction, max_states=MOST_STATES)
    except (DefinitionError, Undecided):
        return
    result = st.verify(deployment, who, engine=engine, findings=False)
    for spec in deployment.specs:
        verdict = result[spec.name]
        assert verdict.holds is not None
        hedged, longest = bool(verdict.scope), 3 if verdict.scope else 1
        found = differs(graph, who, restriction, spec.formula, verdict.holds, longest=longest)
        yield f"{who}: {spec.formula}", hedged, found


def test_a_verdict_is_hedged_exactly_if_some_agent_gives_another():
    seen: Counter[tuple[bool, bool | None]] = Counter()
    for seed in range(examples(60, slow=2000)):
        for subject, hedged, differing in compared(seed):
            seen[hedged, differing] += 1
            assert hedged or not differing, f"seed {seed}: {subject} is not hedged"
    assert seen[True, True] > sum(seen.values()) / 20
    assert seen[False, False] > sum(seen.values()) / 4


FLAGS = """
deployment flags
sort flag = {{ {flags} }} rigid
sort colour = {{ red, blue }} {rigid}
relation On(flag)
relation Last(colour)
event raise(x: flag)
  guard ~On(x)
  effect insert On(x)
event lower(x: flag)
  guard On(x)
  effect delete On(x)
tool pick(c: colour)
  effect
    clear Last
    insert Last(c)
policy p
  call pick(c)
spec none AG ~Last(_)
spec no_red AG ~Last(red)
spec first AX ~Last(red)
"""


@pytest.mark.parametrize("number", [2, 11])
@pytest.mark.parametrize("rigid", ["rigid", ""])
def test_hedges_do_not_depend_on_whether_contexts_were_counted(number, rigid):
    """With eleven flags they are not. Colours that are not rigid are a choice before one is picked."""
    flags = st.parse_deployment(FLAGS.format(flags=", ".join("abcdefghijk"[:number]), rigid=rigid))
    result = st.verify(flags, "p", findings=False)
    assert (result.contexts is None) == (number == 11)
    assert result["none"].holds is False
    assert result["first"].holds is False
    assert {name: bool(verdict.scope) for name, verdict in result.verdicts.items()} == {
        "none": False,
        "no_red": False,
        "first": not rigid,
    }


ASKED = """
deployment asked
relation Asked()
relation Approved()
tool ask()
  guard ~Asked()
  effect insert Asked()
tool wait()
{approve} approve()
  guard Asked() & ~Approved()
  effect insert Approved()
spec can_approve AG (Asked() & ~Approved() -> EX Approved())
spec never_asked AG ~Asked()
"""


@pytest.mark.parametrize("engine", ["symbolic", "explicit"])
@pytest.mark.parametrize("approve", ["event", "tool"])
def test_what_events_do_is_true_of_every_agent(engine, approve):
    result = st.verify(st.parse_deployment(ASKED.format(approve=approve)), engine=engine)
    rests = ("this rests on what some agent does; a specific agent may do otherwise",)
    assert result["can_approve"].scope == (rests if approve == "tool" else ())
    assert result["never_asked"].scope == ("some agent violates this; a specific agent may not",)
    finding = [one for one in result.findings if one.kind == "about no given agent"]
    assert [one.spec for one in finding] == ["can_approve"] * (approve == "tool")
    assert all("`spec can_approve for any`" in one.remedy for one in finding)


BOTH = """
deployment both
relation Done()
agent clerk
  tools work, wait
agent chief
  tools work, rest
tool work()
  effect insert Done()
tool wait()
tool rest()
spec done EF Done()
"""


@pytest.mark.parametrize("engine", ["symbolic", "explicit"])
def test_choices_that_change_a_verdict_only_together_are_told(engine):
    result = st.verify(st.parse_deployment(BOTH), {"clerk": "any", "chief": "any"}, engine=engine)
    [said] = result["done"].scope
    assert said == "some choice of agents in the place of clerk and chief does this; a specific agent may not"


BROKEN = """
deployment broken
sort a
relation P(a)
relation Q(a)
bound a 2
init P(c) P(d)
tool mark(x: a)
  guard P(x) & ~Q(_)
  effect insert Q(x)
tool idle()
{more}
policy p
  call mark(x)
  call idle()
spec no_c AG ~Q(c)
"""


@pytest.mark.parametrize("engine", ["symbolic", "explicit"])
@pytest.mark.parametrize("agent", ["any", "p"])
@pytest.mark.parametrize("guard", ["true", "Q(c)"])
def test_a_run_that_breaks_a_claim_is_hedged_if_it_has_a_choice(engine, agent, guard):
    """What ends an exploration is told of before it is known which other contexts there are."""
    event = f"event come()\n  guard {guard}\n  effect\n    fresh z: a\n    insert P(z)"
    result = st.verify(st.parse_deployment(BROKEN.format(more=event)), agent, engine=engine)
    verdict = next(iter(result.verdicts.values()))
    assert verdict.claim
    assert verdict.holds is False
    assert bool(verdict.scope) == (guard != "true")
