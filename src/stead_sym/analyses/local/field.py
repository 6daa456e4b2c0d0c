"""The deployment in which runs are followed: calls, with some of their values given, and their successors."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType

import stead_sym.logic.syntax as fo
from stead_sym.analyses.local.facts import deciding
from stead_sym.analyses.local.start import Start
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.history import begun
from stead_sym.deployment.restriction import Restriction, normal_restriction
from stead_sym.deployment.semantics import given, outcomes, within
from stead_sym.deployment.tool import Call
from stead_sym.logic.evaluate import holds
from stead_sym.logic.kernel import Core
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value

MOST_SEARCHED = 3_000
"""The maximum number of successors that are tried for a specification."""


def can_be_followed(deployment: Deployment) -> bool:
    """Return if runs are looked for: there is one initial state, and every sort has a bound."""
    return deployment.initially is None and not deployment.unbounded


class Field:
    """A deployment in which runs are followed, with what is the same for all questions."""

    def __init__(
        self,
        deployment: Deployment,
        start: Start,
        selected: Mapping[tuple[str, str], fo.Formula] = MappingProxyType({}),
    ) -> None:
        """Set up the search in a deployment, from a start.

        ``selected`` gives, by agent and tool, the condition under which the agent selects a call, if other
        agents have the tool, too.
        """
        self.deployment, self.start, self._selected = deployment, start, selected
        self.left = MOST_SEARCHED
        """The number of successors that may still be tried for the specification."""
        self.endless: set[tuple[Instance, Core, tuple[tuple[Value, Value], ...]]] = set()
        """States from which an endless run was looked for, with the condition and the values of its names."""

        self._known: dict[Hashable, bool] = {}

    @cached_property
    def restriction(self) -> Restriction:
        """Return the domain with representatives of fresh values."""
        return normal_restriction(self.deployment)

    @cached_property
    def initial(self) -> Instance:
        """Return the state D0 of `init`, with its history."""
        return begun(self.deployment, self.deployment.init)

    @cached_property
    def roles(self) -> Mapping[str, tuple[str, ...]]:
        """Return the agents of each tool."""
        agents = self.deployment.agents
        names = dict.fromkeys(name for role in agents for name in role.tools)
        return {name: tuple(role.name for role in agents if name in role.tools) for name in names}

    def callers(self, call: Call, state: Instance) -> tuple[str, ...]:
        """Return the agents that may make a call; none for an event."""
        roles = self.roles.get(call.tool, ())
        if len(roles) < 2:
            return roles
        sigma = given(self.deployment, call)
        parts = ((role, self._selected.get((role, call.tool))) for role in roles)
        return tuple(role for role, f in parts if f is None or holds(f, state, sigma))

    def actor(self, call: Call, state: Instance) -> str | None:
        """Return the first agent that may make a call; None for an event."""
        return next(iter(self.callers(call, state)), None)

    def unused(self, sort: str) -> Sequence[Value]:
        """Return the values of a sort outside C."""
        return self.deployment.outside(sort, self.restriction.values[sort])

    def holds(self, formula: Core, state: Instance, values: Mapping[str, Value]) -> bool:
        """Return True if (D, σ) ⊨ f; looked up if the relations that decide it are as in an earlier state."""
        if isinstance(formula, fo.Atom):
            return holds(formula, state, values)
        relations = sorted(deciding(formula, self.deployment.schema))
        read = tuple(state.by_relation.get(relation) for relation in relations)
        key = formula, tuple(values.items()), read
        if key not in self._known:
            self._known[key] = holds(formula, state, values)
        return self._known[key]

    def after(self, call: Call, state: Instance, by: int) -> Iterator[Instance]:
        """Yield the successors by an alternative of a call."""
        actor = self.actor(call, state)
        for found in outcomes(self.deployment, call, state, self.restriction, actor, by=by):
            if within(self.restriction, found):
                yield found
