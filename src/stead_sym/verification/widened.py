"""Contexts in which a selected call stands for several, with what would distinguish these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import stead_sym.logic.syntax as fo
from stead_sym.agents.base import DecisionContext
from stead_sym.agents.roles import Wrappers
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import AgentRole
from stead_sym.deployment.tool import Call
from stead_sym.relational.schema import Value


@dataclass(frozen=True, slots=True)
class Widened:
    """A canonical decision context that is not action-rigid (Definition "Action-rigidity").

    More may happen there than the base agent ``selected``: ``possible`` are all images of these calls under
    the automorphisms of the context. ``alike`` are the values outside B in which the ``possible`` calls
    differ. ``remedy`` describes what would distinguish them.
    """

    agent: str
    context: DecisionContext
    selected: frozenset[Call]
    possible: frozenset[Call]
    alike: tuple[Value, ...]
    remedy: str

    def __str__(self) -> str:
        """Return the selected and the possible calls, with the remedy."""
        calls = ", ".join(map(str, sorted(self.possible)))
        chosen = ", ".join(map(str, sorted(self.selected)))
        return f"{chosen} is selected, any of {calls} may happen; {self.remedy}"


def widened(deployment: Deployment, wrappers: Wrappers) -> Iterator[Widened]:
    """Yield the contexts that were met in which a selected call stands for several."""
    for role in deployment.agents:
        wrapper = wrappers[role.name]
        if wrapper is not None:
            yield from _widened(deployment, role, wrapper)


def _widened(deployment: Deployment, role: AgentRole, wrapper: CanonicalWrapper) -> Iterator[Widened]:
    for context, selected in wrapper.decisions:
        possible = wrapper.orbit(context, selected)
        if possible != selected:
            alike = _alike(context, selected, possible, wrapper)
            yield Widened(
                role.name, context, selected, possible, tuple(alike), _remedy(deployment, role, alike)
            )


def _alike(
    context: DecisionContext,
    selected: frozenset[Call],
    possible: frozenset[Call],
    wrapper: CanonicalWrapper,
) -> Mapping[Value, str]:
    """Return the values, with their sorts, in which calls of one tool differ at the same parameter."""
    sorts: dict[Value, str] = {}
    params = {tool.name: tool.params for tool in wrapper.tools}
    for tool in sorted({call.tool for call in possible - selected}):
        calls = sorted(call for call in possible if call.tool == tool)
        for param, values in zip(params[tool], zip(*(call.args for call in calls), strict=True), strict=True):
            if len(set(values)) > 1:
                sorts.update((value, param.sort) for value in sorted(values))
    return sorts


def _remedy(deployment: Deployment, role: AgentRole, alike: Mapping[Value, str]) -> str:
    """Return what would distinguish the values, in words.

    This is a relation over their sorts that the agent is not shown, or only in part, or a new one.
    """
    sorts = set(alike.values())
    values = " and ".join(alike) if len(alike) < 4 else f"{len(alike)} values such as {min(alike)}"
    whole = {view.relation for view in role.views if view.where == fo.TRUE}
    hidden = [
        relation.name
        for relation in deployment.schema.relations
        if role.views and relation.name not in whole and sorts.intersection(relation.sorts)
    ]
    if hidden:
        return f"nothing shown tells {values} apart; a `view` of {' or '.join(hidden)} could"
    listed = ", ".join(sorted(sorts))
    return f"nothing tells {values} apart; a relation in which each {listed} has a place of its own would"
