"""Findings on fairness: starvation, the fairness of actions that rules it out, and idle agents.

An idle agent is one that does nothing and for which a specification holds by the `fair` lines as well.

One decision: every proposal is tried first. It is fairness of events, of agents' turns and of outcomes only,
which every system can implement and which does not constrain an agent's choices. It is proposed only if it
does not make a specification true for an agent that does nothing (`Engine.under`, ``idle``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, combinations, islice
from typing import TYPE_CHECKING, TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.deployment.parts import FairAction, Spec
from stead_sym.deployment.terminal import called
from stead_sym.verification.findings.finding import Finding
from stead_sym.verification.findings.occurrences import asks_for_progress
from stead_sym.verification.readings import answer, has_fair_run

if TYPE_CHECKING:
    from stead_sym.agents.roles import Wrappers
    from stead_sym.deployment.deployment import Deployment
    from stead_sym.engines.protocol import Engine

_MAX_TOOLS = 12
"""The largest number of tools that are tried for a specification."""
_MAX_SETS = 30
"""The largest number of sets of constraints that are tried for a specification, the small ones first."""


def starved(
    deployment: Deployment, engine: Engine, specs: Sequence[Spec], wrappers: Wrappers
) -> Iterator[Finding]:
    """Yield the specifications that fail only by unfair runs.

    On these runs others act for ever while an event or an agent could act, or a possible outcome never comes.
    The finding has a smallest set of constraints on actions under which the specification holds, or the
    reason why none is proposed. Outcomes are constrained only if events and turns are not enough.
    """
    outcomes = _outcomes(deployment)
    if not deployment.events and len(deployment.agents) == 1 and not outcomes:
        return
    failing = [spec for spec in specs if asks_for_progress(spec.formula) and not engine.holds(spec.formula)]
    candidates = _candidates(deployment)
    written = (deployment.fair, deployment.fair_actions)
    for spec in failing:
        passes_idle: tuple[FairAction, ...] = ()
        proposed = False
        for actions in chain(
            _that_help(deployment, engine, spec, candidates, ()),
            _that_help(deployment, engine, spec, candidates, outcomes) if outcomes else (),
        ):
            more = (*written[1], *actions)
            if _turned_green_idle(deployment, engine, spec.formula, written, (written[0], more)):
                passes_idle = passes_idle or actions
                continue
            proposed = True
            add = "add these lines" if len(actions) > 1 else "add that line"
            wait = ", or let the others wait in their guards" if _acting(actions) else ""
            yield _starvation(
                spec,
                _left_out(actions),
                f"it holds under {_lines(actions)}",
                f"{add} if your system cannot go on like that{wait}",
            )
            break
        if passes_idle and not proposed:
            yield _starvation(
                spec,
                _left_out(passes_idle),
                f"it would hold under {_lines(passes_idle)}, for an agent that does nothing as well",
                "say what the agent has to do, or let the others wait in their guards",
            )
        elif not proposed and (names := _waiting(deployment, engine, spec, wrappers)):
            who = " and ".join(names)
            if _act_at_last(deployment, engine, spec, names):
                yield _starvation(
                    spec,
                    f"{who} could act {_FOR_EVER}, and others act instead",
                    "no fairness of events, of turns and of outcomes changes that",
                    "let the others wait in their guards, or the agent select it",
                )
            else:
                yield _starvation(
                    spec,
                    f"{who} could act {_FOR_EVER}, and does not help even if it acts again and again",
                    "no fairness of events, of turns and of outcomes changes that",
                    "write what may come of it as several alternatives, each with its own `effect`, so that"
                    " `fair outcome` can speak of them, or let it end",
                )


_FOR_EVER = "at any time from some step on"


def _left_out(actions: Sequence[FairAction]) -> str:
    """Return, in words, what happens on the runs that fairness of these actions leaves out."""
    parts = list[str]()
    if acting := _acting(actions):
        when = "again and again" if any(one.strong for one in acting) else _FOR_EVER
        parts.append(f"{_who(acting)} could act {when}, and others act instead")
    if outcomes := [one for one in actions if one.kind == "outcome"]:
        parts.append(f"{_who(outcomes)} is taken again and again, and a possible outcome of it never comes")
    return ", or on which ".join(parts)


def _acting(actions: Sequence[FairAction]) -> Sequence[FairAction]:
    """Return the constraints that are about events and turns."""
    return [one for one in actions if one.kind != "outcome"]


def _act_at_last(deployment: Deployment, engine: Engine, spec: Spec, names: Sequence[str]) -> bool:
    """Return True if the specification holds under strong fairness of these tools or events."""
    events = {event.name for event in deployment.events}
    acting = (FairAction("event" if name in events else "tool", name, strong=True) for name in names)
    fairly = engine.under(deployment.fair, (*deployment.fair_actions, *acting))
    return fairly.is_fair_everywhere and fairly.holds(spec.formula)


def _starvation(spec: Spec, left_out: str, more: str, remedy: str) -> Finding:
    return Finding(
        "starvation",
        spec.span,
        f"{spec.name} fails, but only by runs on which {left_out}; {more}",
        remedy,
        spec.name,
    )


def passed_by_idle_agents(deployment: Deployment, engine: Engine, specs: Sequence[Spec]) -> Iterator[Finding]:
    """Yield the specifications that hold by the `fair` lines alone, for an agent that does nothing too.

    If the lines about events are enough for the verified agent there is no finding; `by_events` covers this
    case.
    """
    if not deployment.fair and not deployment.fair_actions:
        return
    lines = (deployment.fair, deployment.fair_actions)
    for spec in specs:
        if (
            engine.holds(spec.formula)
            and not engine.under((), ()).holds(spec.formula)
            and not engine.under((), _of_events(deployment)).holds(spec.formula)
            and _turned_green_idle(deployment, engine, spec.formula, ((), ()), lines)
        ):
            yield Finding(
                "idle agent",
                spec.span,
                f"{spec.name} holds by the `fair` lines alone: with them it holds for an agent that does"
                " nothing, too",
                "assume only what others do (`fair event …`), or ask for something that the agent has to do",
                spec.name,
            )


def by_events(deployment: Deployment, engine: Engine, formula: fo.Expanded) -> str:
    """Return the sentence that qualifies a verdict `holds` if it rests on the lines about events alone.

    It holds then for an agent that does nothing too. For any other verdict the result is empty. This is no
    finding: the lines assume nothing of the agent, and nothing is required of it.
    """
    lines = ((), _of_events(deployment))
    if (
        lines[1]
        and engine.hidden is None
        and engine.under(*lines).holds(formula)
        and not engine.under((), ()).holds(formula)
        and _turned_green_idle(deployment, engine, formula, ((), ()), lines)
    ):
        kinds = " and ".join(f"`fair {kind}`" for kind in sorted({action.kind for action in lines[1]}))
        return f"this rests on {kinds} lines alone: it holds for an agent that does nothing, too"
    return ""


def _of_events(deployment: Deployment) -> tuple[FairAction, ...]:
    """Return the constraints on others: those on events, and on outcomes of events."""
    events = {event.name for event in deployment.events}
    return tuple(one for one in deployment.fair_actions if one.kind != "agent" and one.name in events)


_Lines: TypeAlias = tuple[Sequence[fo.Formula], Sequence[FairAction]]
"""Fairness constraints: sentences, and those on actions."""


def _turned_green_idle(
    deployment: Deployment, engine: Engine, formula: fo.Expanded, before: _Lines, after: _Lines
) -> bool:
    """Return True if the sentence holds for idle agents under ``after`` and not under ``before``.

    If no run is fair under ``after``, the result is False. Constraints on outcomes of tools are left out. A
    call that an idle agent makes on its own changes nothing, whatever its outcome. A call that it makes
    because nothing else can happen is not idleness.
    """
    if answer(engine.under(*_of_idle(deployment, before), idle=True), formula).holds:
        return False
    fairly = engine.under(*_of_idle(deployment, after), idle=True)
    return has_fair_run(fairly) and bool(answer(fairly, formula).holds)


def _of_idle(deployment: Deployment, lines: _Lines) -> _Lines:
    """Return the constraints without those on outcomes of tools."""
    tools = {tool.name for tool in deployment.tools}
    fair, actions = lines
    return fair, [one for one in actions if one.kind != "outcome" or one.name not in tools]


def _outcomes(deployment: Deployment) -> tuple[FairAction, ...]:
    """Return a constraint on each tool or event that has several outcomes."""
    batched = {tool.carries for tool in deployment.tools_and_events}
    several = (
        tool.name
        for tool in deployment.tools_and_events
        if len(tool.effects) > 1 and tool.is_written and tool.name not in batched
    )
    constrained = {one.name for one in deployment.fair_actions if one.kind == "outcome"}
    return tuple(FairAction("outcome", name) for name in several if name not in constrained)


def _candidates(deployment: Deployment) -> tuple[FairAction, ...]:
    """Return the constraints that an event happens that changes something, or that an agent gets a turn."""
    events = [
        FairAction("event", event.name)
        for event in deployment.events
        if event.is_written and any(effect.statements for effect in event.effects)
    ]
    single = (agent for agent in deployment.agents if agent.each is None)
    return (*events, *(FairAction("agent", agent.name or None) for agent in single))


def _that_help(
    deployment: Deployment,
    engine: Engine,
    spec: Spec,
    candidates: Sequence[FairAction],
    outcomes: Sequence[FairAction],
) -> Iterator[tuple[FairAction, ...]]:
    """Yield minimal sets of constraints under which the specification holds, weak ones if these are enough.

    The small sets come first, up to `_MAX_SETS`. With ``outcomes`` each set contains one of these.
    """

    def helps(actions: Sequence[FairAction]) -> bool:
        fairly = engine.under(deployment.fair, (*deployment.fair_actions, *actions))
        return fairly.is_fair_everywhere and fairly.holds(spec.formula)

    strong = tuple(replace(one, strong=True) for one in candidates)
    weak = () if deployment.in_batches else (tuple(candidates),)
    kinds = ((*kind, *outcomes) for kind in (*weak, strong))
    kind = next((kind for kind in kinds if helps(kind)), None)
    if kind is None:
        return
    helpful: list[frozenset[FairAction]] = []
    sets = (s for size in range(1, len(kind) + 1) for s in combinations(kind, size))
    sets = (s for s in sets if not outcomes or not set(outcomes).isdisjoint(s))
    for actions in islice(sets, _MAX_SETS):
        if not any(smaller <= frozenset(actions) for smaller in helpful) and helps(actions):
            helpful.append(frozenset(actions))
            yield actions if deployment.in_batches else _weakened(actions, helps)
    if not helpful:
        kept = list(kind)
        for one in kind:
            if helps([other for other in kept if other != one]):
                kept.remove(one)
        yield tuple(kept) if deployment.in_batches else _weakened(tuple(kept), helps)


def _weakened(
    actions: tuple[FairAction, ...], helps: Callable[[Sequence[FairAction]], bool]
) -> tuple[FairAction, ...]:
    """Return the same constraints, each weak if that is enough."""
    for k, one in enumerate(actions):
        weaker = (*actions[:k], replace(one, strong=False), *actions[k + 1 :])
        if one.strong and helps(weaker):
            actions = weaker
    return actions


def _who(actions: Sequence[FairAction]) -> str:
    return " and ".join(one.name or "the agent" for one in actions)


def _lines(actions: Sequence[FairAction]) -> str:
    return " and ".join(f"`fair {one}`" for one in actions)


def _waiting(deployment: Deployment, engine: Engine, spec: Spec, wrappers: Wrappers) -> tuple[str, ...]:
    """Return tools or events such that the specification would hold if they were not enabled for ever.

    Tools of agents that may select anything are left out: such an agent may never select them.
    """
    waiting: dict[fo.Formula, list[str]] = {}
    decided = {tool for role in deployment.agents if wrappers[role.name] is not None for tool in role.tools}
    for tool in deployment.tools_and_events:
        if tool.carries or (not tool.event and tool.name not in decided):
            continue
        if not any(effect.statements for effect in tool.effects):  # an idle call makes no progress
            continue
        if tool.guard != fo.TRUE or tool.params:  # otherwise it is enabled in every state
            waiting.setdefault(fo.Not(called(tool, deployment.schema)), []).append(tool.name)
    for constraint, names in islice(waiting.items(), _MAX_TOOLS):
        fairly = engine.under((*deployment.fair, constraint), deployment.fair_actions)
        if fairly.is_fair_everywhere and fairly.holds(spec.formula):
            return tuple(names)
    return ()
