"""Robustness of verdicts under open choices: establish that a verdict does not depend on them.

`scope` determines the agents and the calls with an open choice. The verdict does not depend on them if its
evidence is forced: each step is an event's, or the only one that its agent can make. A game in which the
agent is the opponent can show the same (`Engine.whatever_chosen`). Otherwise, if the choice is among
symmetric records, single choices are tried on the literal domain: the first of the interchangeable calls in
the order of their identifiers, the second, and so on, in all contexts and in each one alone.

One decision: games and single choices are skipped if they would take long, or if they meet a context that the
run did not have. No agent is queried for them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice, repeat

import stead_sym.logic.syntax as fo
from stead_sym.agents.roles import Wrappers
from stead_sym.agents.rules import RuleAgent
from stead_sym.agents.selection import context_of
from stead_sym.agents.wrapper import NotAsked
from stead_sym.deployment.callers import caller, callers
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import Spec
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.deployment.semantics import offer
from stead_sym.deployment.trace import Step
from stead_sym.engines.explicit.check import Labelling
from stead_sym.engines.explicit.choices import Place, chosen, orbits
from stead_sym.engines.explicit.explore import explore
from stead_sym.engines.protocol import Choosers, Engine
from stead_sym.errors import CanonicalLimit, Undecided
from stead_sym.evidence.tree import Evidence, Run, Unshown
from stead_sym.relational.instance import Instance
from stead_sym.verification.findings.occurrences import asks_for_progress, quantifies

MOST_STATES = 100_000
"""The largest number of states for which `verify` decides truth for every resolution of the choices."""

MOST_LITERAL = 100
"""The largest number of states of the literal domain on which single choices are tried."""

MOST_CHOICES = 24
"""The largest number of single choices that are tried."""


def single_choices(sizes: Mapping[Place, int]) -> Iterator[tuple[Collection[Place], int]]:
    """Yield places with the rank to take there: first the same rank everywhere, then each place alone.

    ``sizes`` are those of the largest orbits.
    """
    for rank in range(max(sizes.values(), default=0)):
        yield tuple(sizes), rank
    if len(sizes) > 1:
        for place, size in sizes.items():
            for rank in range(size):
                yield (place,), rank


class Open:
    """The effect of open choices on verdicts, as far as it can be decided quickly.

    ``engine`` has explored the deployment under ``wrappers`` and decided ``specs``; it is None before the
    exploration is complete.
    """

    def __init__(
        self, deployment: Deployment, engine: Engine | None, wrappers: Wrappers, specs: Sequence[Spec]
    ) -> None:
        self._deployment = deployment
        self._engine = engine
        self._wrappers = wrappers
        self._specs = specs

    @cached_property
    def _silent(self) -> Wrappers:
        """The wrappers, such that only policies are queried."""
        return {
            name: one and (one.without_memory() if isinstance(one.agent, RuleAgent) else one.from_memory())
            for name, one in self._wrappers.items()
        }

    @property
    def choosers_make_fair(self) -> bool:
        """True if `fair` lines constrain an agent's choices: sentences, or calls of tools.

        Every other constraint is met by some continuation of every finite run, for every resolution of the
        choices.
        """
        actions = self._deployment.fair_actions
        return bool(self._deployment.fair) or any(action.kind == "tool" for action in actions)

    def keeps(
        self, formula: fo.Expanded, choosers: Choosers, evidence: Evidence | None, *, holds: bool
    ) -> bool:
        """Return True if it is established that no choice changes the verdict."""
        forced = evidence is not None and self._forces(formula, choosers, evidence)
        return forced or self._wins(formula, choosers, holds=holds)

    # evidence

    def _forces(self, formula: fo.Expanded, choosers: Choosers, evidence: Evidence) -> bool:
        """Return True if everything that the evidence rests on exists for every resolution of the choices.

        This requires that every step of a run is forced; claims about all runs keep their truth if runs are
        removed. If a choice may violate fairness, only finite runs are certain to count, and claims about all
        runs are not.
        """
        root = evidence.root
        if root.holds and evidence.of_many:
            return False
        unsure = self.choosers_make_fair
        if unsure and (root.holds or asks_for_progress(formula)):
            return False
        for node in evidence.nodes:
            match node.reason:
                case Unshown():
                    if unsure or not quantifies(node.formula, "A" if node.holds else "E"):
                        return False
                case Run(steps, ends=ends):
                    states = (node.state, *(step.state for step in steps))
                    if not all(map(self._is_forced, repeat(choosers), states, steps[:ends])):
                        return False
                case _:
                    pass
        return True

    def _is_forced(self, choosers: Choosers, state: Instance, step: Step) -> bool:
        """Return True if the call of a step is made in the state for every resolution of the choices."""
        deployment = self._deployment
        if step.actor is None or deployment.tool(step.call.tool).event:
            return True
        role = deployment.agent(step.actor)
        wrapper = self._silent[role.name]
        if role.name not in choosers.free | choosers.tied:
            return True
        if wrapper is None:
            role = caller(deployment, role, step.call)
            [(_, offered)] = callers(deployment, role, offer(deployment, state, role))
            return len(offered) == 1
        shown = context_of(deployment, wrapper, state, role, step.call)
        try:
            [decision] = wrapper.decide([shown])
        except (NotAsked, CanonicalLimit):
            return False
        if role.name in choosers.free:
            return len(decision.calls) == 1
        orbits = wrapper.orbits(decision.canonical, decision.selected)
        alone = (call.rename(decision.names) for orbit in orbits if len(orbit) == 1 for call in orbit)
        return step.call in alone

    # game

    def _wins(self, formula: fo.Expanded, choosers: Choosers, *, holds: bool) -> bool:
        """Return True if the game shows that no choice changes the verdict.

        The game has no constraints on actions. Those on events and on turns matter only to a formula that
        asks for progress, since every finite run is the prefix of one that meets them.
        """
        deployment, engine = self._deployment, self._engine
        if engine is None or engine.states > MOST_STATES:
            return False
        if deployment.fair_actions and (self.choosers_make_fair or asks_for_progress(formula)):
            return False
        return engine.whatever_chosen(formula, choosers, holds=holds)

    # trials

    def count(self, formula: fo.Expanded, *, holds: bool) -> tuple[int, int] | None:
        """Return the number of single choices that keep the verdict, and the number that were tried.

        The result is None if all of them keep the verdict, or none was tried.
        """
        truths = [choice.holds_initially(formula) for choice in self._choices]
        same = truths.count(holds)
        return (same, len(truths)) if same < len(truths) else None

    @cached_property
    def _choices(self) -> Sequence[Labelling]:
        """The labellings of the single choices.

        There are none under fairness constraints, if there may be many states or many successors of one, and
        if an agent would have to be queried.
        """
        deployment = self._deployment
        if self._engine is None:
            return ()
        by_formula = deployment.initially or deployment.has_ensure
        fair = deployment.fair or deployment.fair_actions
        if by_formula or fair or self._engine.states > MOST_LITERAL:
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
