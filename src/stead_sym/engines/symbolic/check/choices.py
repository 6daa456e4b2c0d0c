"""Truth for every resolution of ties: the game of `engines.protocol.Engine.whatever_chosen` on diagrams.

For each agent and tool a *family* G holds, over the state bits and the tool's selectors, one orbit of calls
for each state that has one. With E_ω the steps of the tool,

    pre_G(X) = { D : G(D) ≠ ∅, and for all ω(u) in G(D) some D' ∈ X with E_ω(D, u, D') }
    pre_sure(X) = ⋃_G pre_G(X) ∪ the preimage by all calls whose orbit is a singleton.

One decision: states that show one context have equally many orbits, so that families are few, however many
contexts there are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from weakref import proxy

from stead_sym.agents.base import DecisionContext
from stead_sym.deployment.tool import Call
from stead_sym.engines.symbolic.bdd.manager import Bdd, Bits
from stead_sym.engines.symbolic.bdd.relation import Relation
from stead_sym.engines.symbolic.check.held_values import Pairs
from stead_sym.engines.symbolic.check.satisfaction import Checker
from stead_sym.engines.symbolic.encode.values import Vector
from stead_sym.engines.symbolic.explore.contexts import ContextFinder
from stead_sym.engines.symbolic.explore.reach import ReachableStates
from stead_sym.engines.symbolic.step.formulas import Environment
from stead_sym.engines.symbolic.step.transitions import Transitions
from stead_sym.logic.kernel import Core, core
from stead_sym.logic.syntax import Expanded, Iff, Not, is_temporal


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices among symmetric calls.

    ``families`` are tools with orbits of several calls (see the module). ``rest`` are the steps by the other
    calls and the events.
    """

    families: tuple[tuple[str, Bdd], ...]
    rest: Transitions


def choices(model: ReachableStates) -> Choices:
    """Return the orbits of the calls that are selected in the reachable states."""
    m = model.manager
    families: list[tuple[str, Bdd]] = []
    rest = {event.name: [model.transitions.selected[event.name]] for event in model.deployment.events}
    rest |= {tool.name: [] for tool in model.deployment.tools}
    finders = {finder.agent.name: finder for finder in model.finders}
    for agent, selection in model.by_agent.items():
        alike = dict.fromkeys(selection, m.false)
        if agent in finders:
            for tool, family in _families(finders[agent], selection, model.reached):
                families.append((tool, family))
                alike[tool] = alike[tool] | family
        for tool, calls in selection.items():
            rest[tool].append(calls & ~alike[tool])
    joined = {tool: m.disj(parts) for tool, parts in rest.items()}
    alone = Transitions.empty(model.encoding, model.tools, model.report, model.actors).selecting(joined)
    return Choices(tuple(families), alone)


def _families(finder: ContextFinder, selection: Mapping[str, Bdd], reached: Bdd) -> Iterator[tuple[str, Bdd]]:
    """Yield the families of an agent's tools, of which it selects these calls.

    If no state has two orbits of a tool, all its calls are one family; otherwise the orbits are computed
    context by context.
    """
    orbits = {context: finder.wrapper.orbits(context, calls) for context, calls in finder.contexts.items()}
    split: list[tuple[str, Mapping[DecisionContext, Collection[Call]]]] = []
    for tool, calls in selection.items():
        own = {context: [one for one in here if min(one).tool == tool] for context, here in orbits.items()}
        several = {context: [one for one in here if len(one) > 1] for context, here in own.items()}
        number = max(map(len, several.values()), default=0)
        if number == 1 == max(map(len, own.values())):
            yield tool, calls
        else:
            numbered = ({c: here[k] for c, here in several.items() if k < len(here)} for k in range(number))
            split += ((tool, family) for family in numbered)
    if split:
        yield from finder.families(split, reached)


class Whatever:
    """Truth for every resolution of ties, under the deployment's `fair` sentences.

    The deployment must have no constraints on actions.
    """

    def __init__(self, model: ReachableStates) -> None:
        self._possible, self._sure = _Bound(model), _Sure(model)
        self._possible.dual, self._sure.dual = proxy(self._sure), proxy(self._possible)  # no cycle

    def decides(self, formula: Expanded, *, holds: bool) -> bool:
        """Return True if every resolution makes the sentence true at each D0, or false at some.

        ``holds`` selects the claim. Every finite run must also be a prefix of a fair one under every
        resolution.
        """
        if self._sure.hidden != self._sure.manager.false:
            return False
        return self._sure.is_initial(formula) if holds else not self._possible.is_initial(formula)


class _Bound(Checker):
    """possible ⟦f⟧ ⊇ the pairs at which f is true under some resolution (may)."""

    dual: _Bound

    def __init__(self, model: ReachableStates) -> None:
        super().__init__(model, model.deployment.fair)

    def is_initial(self, formula: Expanded) -> bool:
        """Return True if every D0 is in the set."""
        return self.model.initial & ~self._set(core(formula), {}) == self.manager.false

    def _sat(self, formula: Core, env: Environment) -> Bdd:
        everywhere = self.operators(self.pairs(formula, env)).everywhere
        match formula:
            case Not(body) if is_temporal(body):
                return everywhere & ~self.dual._set(body, env)
            case Iff(left, right) if is_temporal(formula):
                dual = self.dual
                neither = ~dual._alike(left, env) & ~dual._alike(right, env)
                return everywhere & (self._alike(left, env) & self._alike(right, env) | neither)
            case _:
                return super()._sat(formula, env)


class _Sure(_Bound):
    """sure ⟦f⟧ ⊆ the pairs at which f is true under every resolution (must)."""

    @cached_property
    def _choices(self) -> Choices:
        return choices(self.model)

    def _pairing(self, vectors: Sequence[Vector]) -> Pairs:
        return _ChoicePairs(self.model, self._choices, vectors)


class _ChoicePairs(Pairs):
    """Pairs of a state and an assignment, with an adversary that picks a call of each family."""

    def __init__(self, model: ReachableStates, choices: Choices, vectors: Sequence[Vector]) -> None:
        super().__init__(model.plan, choices.rest, vectors, model.report)
        self._model = model
        self._choices = choices

    @cached_property
    def relation(self) -> Relation:
        """The relation with pre_sure instead of pre."""
        model, rest = self._model, self._choices.rest
        families = [
            _Family(calls, model.offers.selectors(tool), self.along([calls & model.tools[tool].steps]))
            for tool, calls in self._choices.families
        ]
        return _Game(self.along(rest.parts, rest.chosen), families)


@dataclass(frozen=True, slots=True)
class _Family:
    calls: Bdd
    selectors: Bits
    steps: Relation

    def leading(self, target: Bdd) -> Bdd:
        """Return pre_G(X)."""
        m = self.steps.manager
        lost = m.exist(self.selectors, self.calls & ~self.steps.preimage(target))
        return m.exist(self.selectors, self.calls) & ~lost


class _Game(Relation):
    """The relation of the other steps, with pre_sure as its preimage.

    pre_sure is no preimage of single steps, so only `preimage`, `within` and `reaching` may be used.
    """

    def __init__(self, rest: Relation, families: Sequence[_Family]) -> None:
        super().__init__(rest.manager, rest.parts, rest.moving, rest._report, rest.chosen)
        self._families = families

    def preimage(self, target: Bdd) -> Bdd:
        """Return pre_sure(X)."""
        return self.manager.disj(
            [super().preimage(target), *(family.leading(target) for family in self._families)]
        )

    def within(self, states: Bdd) -> Relation:
        """Return the relation itself: the callers intersect its preimages with the set."""
        return self

    def reaching(self, target: Bdd, through: Bdd) -> Bdd:
        """Return μZ. X ∨ (S ∧ pre(Z)), with pre of the whole Z in each round.

        Between rounds the states that reach Z by the other steps alone are added by saturation.
        """
        reached = target
        while (larger := reached | through & self.preimage(reached)) != reached:
            reached = super().reaching(larger, through)
        return reached
