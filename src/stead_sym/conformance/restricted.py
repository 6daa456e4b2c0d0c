"""The values over which the calls of one state are compared."""

from __future__ import annotations

from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.restriction import Derivation, Restriction
from stead_sym.relational.instance import Instance


def small_restriction(deployment: Deployment, state: Instance | None = None) -> Restriction:
    """Return a restriction to constants and the values of a state; beyond it are those that are fresh."""
    active = {} if state is None else state.active_domain
    values = {
        sort.name: sort.values
        or (*dict.fromkeys([*deployment.constants[sort.name], *sorted(active.get(sort.name, ()))]),)
        for sort in deployment.schema.sorts
    }
    return Restriction(
        values,
        {
            sort.name: Derivation(sort.name, 0, 0, 0, None, sort.values is not None, len(values[sort.name]))
            for sort in deployment.schema.sorts
        },
    )
