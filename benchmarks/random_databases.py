"""Compare a deployment and its system on random small databases, which need not be reachable."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from stead_sym.conformance.binding import Binding
from stead_sym.conformance.conform import Comparison
from stead_sym.conformance.drafting.drafted import has_effect
from stead_sym.conformance.drafting.states import States
from stead_sym.conformance.found import Difference
from stead_sym.conformance.system import CannotLoad, opened
from stead_sym.conformance.walks import small_restriction
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.semantics import calls_of


def compare_calls(
    deployment: Deployment, binding: Binding, *, seed: int, number: int
) -> Iterator[tuple[bool, Difference | None]]:
    """Yield for each call on up to ``number`` databases if it is offered, and how the system differs.

    The calls are those that the deployment offers and up to 20 others of each tool that has an effect.
    """
    states = States(deployment, Random(seed))
    tools = [tool for tool in deployment.tools if tool.name in binding.tools and has_effect(tool)]
    with opened(deployment, binding) as system:
        for state in filter(None, (states.random_state() for _ in range(number))):
            comparison = Comparison(deployment, binding, system, small_restriction(deployment, state))
            try:
                comparison.load(state)
            except CannotLoad:
                continue
            for tool in tools:
                allowed = calls_of(deployment, tool, state)
                for call in sorted(allowed | set(states.calls(tool, state, 20))):
                    found = comparison.compare(tool, call, state, call in allowed)
                    yield call in allowed, found if isinstance(found, Difference) else None
