"""Choices among indistinguishable records: whether a verdict depends on them.

No equivariant agent selects just one of several calls that an automorphism of its context maps to each other
(Proposition "No equivariant symmetry breaking"), so in the verified system any call of their orbit may
happen. A deployed agent takes one of them. If the engine shows that no choice changes a verdict
(`Engine.whatever_chosen`), nothing more is done. Otherwise single choices are tried on the literal domain:
the first of the interchangeable calls in the order of their identifiers, the second, and so on, in all
contexts and in each alone.

The decision: this is left out if it would take long, or if a context comes up that the run did not have; no
agent is asked for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

from stead_sym.agents.roles import Wrappers
from stead_sym.agents.wrapper import NotAsked
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import Spec
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.engines.explicit.check import Labelling
from stead_sym.engines.explicit.choices import Place, chosen, orbits
from stead_sym.engines.explicit.explore import explore
from stead_sym.engines.protocol import Engine
from stead_sym.errors import Undecided
from stead_sym.logic.syntax import Expanded

MOST_STATES = 100_000
"""The most states for which `verify` asks what is true whatever is chosen."""

MOST_LITERAL = 100
"""The most states of the literal domain on which it tries single choices."""

MOST_CHOICES = 24
"""The most single choices that are tried."""


def single_choices(sizes: Mapping[Place, int]) -> Iterator[tuple[Collection[Place], int]]:
    """The places with the rank that is taken there: the same everywhere, then each in one place alone. The
    ``sizes`` are those of the largest orbits."""
    for rank in range(max(sizes.values(), default=0)):
        yield tuple(sizes), rank
    if len(sizes) > 1:
        for place, size in sizes.items():
            for rank in range(size):
                yield (place,), rank


class Alike:
    """What the choices among records alike do to verdicts, as far as it takes little time to know. ``engine``
    has explored the deployment under ``wrappers``, and decided ``specs``."""

    def __init__(
        self, deployment: Deployment, engine: Engine, wrappers: Wrappers, specs: Sequence[Spec]
    ) -> None:
        self._deployment = deployment
        self._engine = engine
        self._wrappers = wrappers
        self._specs = specs

    @property
    def _is_large(self) -> bool:
        return bool(self._deployment.fair_actions) or self._engine.states > MOST_STATES

    def keep(self, formula: Expanded, *, holds: bool) -> bool:
        """Whether it is known that no choice changes the verdict."""
        return not self._is_large and self._engine.whatever_chosen(formula, holds=holds)

    def count(self, formula: Expanded, *, holds: bool) -> tuple[int, int] | None:
        """The number of single choices with which the verdict is the same, and the number that were tried;
        None if the verdict is the same with all, or none was tried."""
        truths = [choice.holds_initially(formula) for choice in self._choices]
        same = truths.count(holds)
        return (same, len(truths)) if same < len(truths) else None

    @cached_property
    def _choices(self) -> Sequence[Labelling]:
        """The single choices; none under constraints of fairness, where there may be many states or many ways
        to go on from one, and where an agent would have to be asked."""
        deployment = self._deployment
        by_formula = deployment.initially or any(
            effect.is_ensure for tool in deployment.tools_and_events for effect in tool.effects
        )
        if by_formula or deployment.fair or self._is_large or self._engine.states > MOST_LITERAL:
            return ()
        silent = {name: wrapper and wrapper.from_memory() for name, wrapper in self._wrappers.items()}
        try:
            restriction = theorem_restriction(deployment, self._specs)
            graph = explore(deployment, silent, restriction, max_states=MOST_LITERAL)
            alike = orbits(graph, silent)
        except (Undecided, NotAsked):
            return ()
        sizes: dict[Place, int] = {}
        for orbit in (orbit for here in alike for orbit in here):
            sizes[orbit.place] = max(len(orbit.calls), sizes.get(orbit.place, 0))
        tried = islice(single_choices(sizes), MOST_CHOICES)
        return [Labelling(chosen(graph, alike, places, rank), restriction) for places, rank in tried]
