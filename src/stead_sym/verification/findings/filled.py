"""Findings on relations that a specification or a line of the file reads and that are empty in every state.

Vacuity (`reached`) does not report a part of a conjunction, which only strengthens a specification if it can
be true. So this check is on the text, and the same for every formula.
"""

from __future__ import annotations

from collections.abc import Iterator

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Effect, Ensure, Insert
from stead_sym.errors import Span
from stead_sym.logic.substitution import expand
from stead_sym.verification.findings.finding import Finding


def never_filled(deployment: Deployment) -> Iterator[Finding]:
    """Yield the relations that are read and that are empty in every D0 and filled by no effect.

    The readers are specifications, gates, policies, and `fair` and `terminal` lines, with their defines.
    """
    names = {relation.name for relation in deployment.schema.relations}
    filled = {fact.relation for fact in deployment.init.facts}
    if deployment.initially is not None:
        filled.update(deployment.initially.relations)
    for tool in deployment.tools_and_events:
        filled.update(*(_filling(effect, names) for effect in tool.effects))
    for reader, formula, place, spec in _readers(deployment):
        for relation in fo.relations_in(formula):
            if relation not in filled:
                yield Finding(
                    "never filled",
                    place,
                    f"{reader} reads {relation}, which is empty in every state: no fact of it is there at"
                    " the start, and no effect inserts one",
                    "insert it where it comes about, or ask about something that can",
                    spec,
                )


def _readers(deployment: Deployment) -> Iterator[tuple[str, fo.Expanded, Span | None, str | None]]:
    """Yield every reader of relations except guards and effects.

    Each is given in words, with its formula, its position, and the name of a specification or None.
    """
    for spec in deployment.specs:
        yield spec.name, spec.formula, spec.span, spec.name
    for gate in deployment.written.gates:
        for line in gate.lines:
            kind = "permit" if line.permits else "forbid"
            when = expand(line.when, deployment.names.definitions)
            yield f"`{kind} {line.tool}(…)` of gate {gate.name}", when, line.span, None
    for policy in dict.fromkeys(policy for agent in deployment.agents for policy in agent.policies):
        for rule in policy.rules:
            yield f"`call {rule.tool}(…)` of policy {policy.name}", rule.when, rule.span, None
    for constraint in deployment.fair:
        yield f"`fair {constraint}`", constraint, constraint.span, None
    for terminal in deployment.written.terminal:
        yield "`terminal when …`", expand(terminal.when, deployment.names.definitions), terminal.span, None


def _filling(effect: Effect, names: set[str]) -> set[str]:
    """Return the relations that may have more facts after the alternative.

    For an `ensure` these are all but those that a conjunct `same(P)` or `empty(P)` leaves unchanged or
    empties.
    """
    if not effect.is_ensure:
        return {s.atom.relation for s in effect.statements if isinstance(s, Insert)}
    formulas = (s.formula for s in effect.statements if isinstance(s, Ensure))
    kept = (part for formula in formulas for part in fo.conjuncts(formula))
    return names - {part.relation for part in kept if isinstance(part, fo.Same | fo.Empty)}
