"""Relations that a specification reads and that nothing ever fills: they are empty in every state.

Vacuity (`reached`) does not say so of a part of a conjunction, which only makes a specification more careful
where facts of it can come about. So it is asked of the text, of every formula in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator

from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Effect, Ensure, Insert
from stead_sym.logic.syntax import Empty, Same, conjuncts, relations_in
from stead_sym.verification.findings.finding import Finding


def never_filled(deployment: Deployment) -> Iterator[Finding]:
    """The relations that a specification reads, itself or in a define, of which neither a D0 nor an effect
    has facts."""
    names = {relation.name for relation in deployment.schema.relations}
    filled = {fact.relation for fact in deployment.init.facts}
    if deployment.initially is not None:
        filled.update(deployment.initially.relations)
    for tool in deployment.tools_and_events:
        filled.update(*(_filling(effect, names) for effect in tool.effects))
    for spec in deployment.specs:
        for relation in relations_in(spec.formula):
            if relation not in filled:
                yield Finding(
                    "never filled",
                    spec.span,
                    f"{spec.name} reads {relation}, which is empty in every state: no fact of it is there at"
                    " the start, and no effect inserts one",
                    "insert it where it comes about, or ask about something that can",
                    spec.name,
                )


def _filling(effect: Effect, names: set[str]) -> set[str]:
    """The relations that may have more facts after the alternative: with `ensure` all but those that a
    conjunct `same(P)` or `empty(P)` leaves as they are or empties."""
    if not effect.is_ensure:
        return {s.atom.relation for s in effect.statements if isinstance(s, Insert)}
    formulas = (s.formula for s in effect.statements if isinstance(s, Ensure))
    kept = (part for formula in formulas for part in conjuncts(formula))
    return names - {part.relation for part in kept if isinstance(part, Same | Empty)}
