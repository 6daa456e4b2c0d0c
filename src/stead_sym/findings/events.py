"""Findings about events, keys and `initially any`: what reads well and is not what was meant.

One decision: starvation is tried, not guessed. A specification that fails is checked again under the evident
fairness constraints, one at a time: that some tool, or some event, is not enabled for ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from stead_sym.agent.roles import Wrappers
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.keys import respects
from stead_sym.deployment.parts import Spec
from stead_sym.deployment.tool import Assign, Insert, Tool
from stead_sym.engine import Engine
from stead_sym.findings.finding import Finding
from stead_sym.findings.ranges import changed_by, relations_in
from stead_sym.logic.syntax import (
    TRUE,
    Binder,
    Exists,
    Expanded,
    Formula,
    Future,
    Globally,
    Not,
    Truth,
    Until,
    subformulas,
)

_TRIED = 12
"""So many fairness constraints are tried for a specification at most."""


def endless_events(deployment: Deployment) -> Iterator[Finding]:
    """Events that nothing ever disables, where a specification asks for something to come and no `fair` line
    says that the events leave room for it."""
    if deployment.fair or not any(_asks_for_progress(spec.formula) for spec in deployment.specs):
        return
    changing = {name for tool in deployment.tools_and_events for name in changed_by(tool)}
    for event in deployment.events:
        read = relations_in(event.guard)
        unbounded = any(deployment.schema.sort(param.sort).values is None for param in event.params)
        if not unbounded and changing.isdisjoint(read) and event.guard != Truth(False):
            yield Finding(
                "endless event",
                event.span,
                f"nothing ends the guard of {event.name}, so that a run may consist of it alone from some"
                " state on: whatever should come at last (`AF`, `A[… U …]`) need not",
                "give it a guard that its effect makes false, or add a `fair` line",
            )


def keys_at_risk(deployment: Deployment) -> Iterator[Finding]:
    """Insertions into a relation with a key that nothing keeps from adding a second fact with the same
    key."""
    for tool, written in zip(deployment.tools_and_events, deployment.written.tools, strict=True):
        for effect, own in zip(tool.effects, written.effects, strict=True):
            setting = [(s.atom, s.binders) for s in own.statements if isinstance(s, Assign)]
            for statement in effect.statements:
                if isinstance(statement, Insert) and (statement.atom, statement.binders) not in setting:
                    relation = deployment.schema.relation(statement.atom.relation)
                    if relation.keys and not respects(
                        tool, effect, statement, relation.keys, deployment.schema
                    ):
                        yield Finding(
                            "key at risk",
                            statement.span or effect.span or tool.span,
                            f"`insert {statement.atom}` of {tool.name} may add a second fact with its key",
                            f"write `set {statement.atom}`, which replaces the one that is there, or ask in"
                            " the guard that there is none",
                        )


def no_room_initially(deployment: Deployment) -> Iterator[Finding]:
    """`initially any` of a relation over an unbounded sort of which no value but constants may be active."""
    lines = deployment.initially
    for name in () if lines is None else lines.relations:
        for sort in dict.fromkeys(deployment.schema.relation(name).sorts):
            if deployment.bounds.get(sort, 1) == 0:
                has = "its constants only" if deployment.constants[sort] else "no value at all"
                yield Finding(
                    "no room initially",
                    lines.span if lines else None,
                    f"`initially any {name}` speaks of databases that hold {has} of sort {sort}, whose"
                    " bound is 0",
                    f"write `bound {sort} N` with as many as the databases in question may have",
                )


def starved(
    deployment: Deployment, engine: Engine, specs: Sequence[Spec], wrappers: Wrappers
) -> Iterator[Finding]:
    """The specifications that fail, and hold once some tool or event is not enabled for ever; each with the
    first such constraint of `_TRIED`. Tools that only agents have which may select anything are left out:
    such an agent may well never select them. Tools that an agent passes over in some state come last, since
    it may be the agent that keeps them waiting, and the finding says so."""
    if not deployment.events and len(deployment.agents) == 1:
        return
    failing = [spec for spec in specs if _asks_for_progress(spec.formula) and not engine.holds(spec.formula)]
    if not failing:
        return
    waiting: dict[Formula, list[str]] = {}
    decided = {tool for role in deployment.agents if wrappers[role.name] is not None for tool in role.tools}
    passed = {
        tool.name
        for tool in deployment.tools
        if engine.calling(tool.name, TRUE, selected=True).count
        < engine.calling(tool.name, TRUE, selected=False).count
    }
    for tool in sorted(deployment.tools_and_events, key=lambda tool: tool.name in passed):
        if not tool.event and tool.name not in decided:
            continue
        if not any(effect.statements for effect in tool.effects):  # to wait is not to be kept waiting
            continue
        if tool.guard != TRUE or tool.params:  # otherwise it is enabled in every state
            waiting.setdefault(_not_enabled(deployment, tool), []).append(tool.name)
    for constraint, names in islice(waiting.items(), _TRIED):
        if not failing:
            return
        fairly = engine.under((*deployment.fair, constraint), deployment.fair_actions)
        if not fairly.is_fair_everywhere:
            continue
        instead = ", or the agent selects something else" if passed.intersection(names) else ""
        for spec in [spec for spec in failing if fairly.holds(spec.formula)]:
            failing.remove(spec)
            yield Finding(
                "starvation",
                spec.span,
                f"{spec.name} fails, but only by runs in which {' and '.join(names)} could happen at any time"
                f" from some step on, and others act instead{instead}; it holds under `fair {constraint}`",
                "add that line if your system cannot go on like that, or let the others wait in their guards",
                spec.name,
            )


def _not_enabled(deployment: Deployment, tool: Tool) -> Expanded:
    """No call of the tool is offered: its parameters range as in `semantics.offer`."""
    formula: Formula = tool.guard
    for param in reversed(tool.params):
        finite = deployment.schema.sort(param.sort).values is not None
        formula = Exists(Binder(param.name, param.sort, declared=finite), formula)
    return Not(formula)


def _asks_for_progress(formula: Formula) -> bool:
    """Whether the formula says of all runs that something comes, or of some run that nothing does: what
    fairness has a say in."""
    return any(
        isinstance(part, Future | Globally | Until)
        and (part.path == "A") == isinstance(part, Future | Until)
        and not (isinstance(part, Until) and part.weak)
        for part in subformulas(formula)
    )
