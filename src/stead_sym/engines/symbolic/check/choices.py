"""Truth for all choices among the calls that agents may make, on diagrams.

This is the game of `engines.protocol.Engine.whatever_chosen`.

A *family* G holds, over the state bits and the selectors of one tool or several, for each state the calls of
which a chooser makes at least one: all calls of an agent that is free; of one that is tied one orbit, for
each state that has one. With E_ω the steps of the tool,

    pre_G(X) = { D : G(D) ≠ ∅, and for all ω(u) in G(D) some D' ∈ X with E_ω(D, u, D') }
    pre_sure(X) = ⋃_G pre_G(X) ∪ the preimage by all calls that are the only ones of their family.

One decision: states that show one context have equally many orbits, so that families are few, however many
contexts there are. If not all contexts were enumerated, as those of a compiled policy, orbits are replaced by
supersets: with S_ω the selected calls and ≈ of `ContextFinder.classes`,

    pre_ω(X) = { D : some ω(u) in S_ω(D) such that all ω(v) in S_ω(D) with u ≈ v lead to some D' ∈ X }.

An orbit lies within one class of ≈, so that a chooser has more to choose from: less is shown, and nothing
that is false.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from weakref import proxy

import stead_sym.logic.syntax as fo
from stead_sym.agents.base import DecisionContext
from stead_sym.deployment.tool import Call
from stead_sym.engines.protocol import Choosers
from stead_sym.engines.symbolic.bdd.manager import Bdd, Bits, Manager
from stead_sym.engines.symbolic.bdd.relation import Relation
from stead_sym.engines.symbolic.check.held_values import Pairs
from stead_sym.engines.symbolic.check.satisfaction import Checker
from stead_sym.engines.symbolic.encode.values import Vector
from stead_sym.engines.symbolic.explore.contexts import ContextFinder
from stead_sym.engines.symbolic.explore.reach import ReachableStates
from stead_sym.engines.symbolic.step.formulas import Environment
from stead_sym.engines.symbolic.step.transitions import Transitions
from stead_sym.logic.kernel import Core, core


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices of the choosers.

    ``families`` are, per tool, the calls of which at least one is made (see the module). ``classes`` are an
    agent, a tool and its calls, of which one of each class is made. ``rest`` are the steps by the other calls
    and the events.
    """

    families: tuple[Mapping[str, Bdd], ...]
    classes: tuple[tuple[ContextFinder, str, Bdd], ...]
    rest: Transitions


def choices(model: ReachableStates, choosers: Choosers) -> Choices:
    """Return the choices of the choosers in the reachable states."""
    m = model.manager
    families: list[Mapping[str, Bdd]] = []
    classes: list[tuple[ContextFinder, str, Bdd]] = []
    rest = {event.name: [model.transitions.selected[event.name]] for event in model.deployment.events}
    rest |= {tool.name: [] for tool in model.deployment.tools}
    for agent, selection in model.by_agent.items():
        if agent in choosers.free:
            families.append({tool: calls & model.reached for tool, calls in selection.items()})
            continue
        for finder in model.finders_of(agent) if agent in choosers.tied else ():
            own = finder.own(selection)
            if not model.has_met(finder):
                classes += ((finder, tool, calls & model.reached) for tool, calls in own.items())
                selection = {tool: calls & ~own[tool] for tool, calls in selection.items()}
                continue
            for tool, family in _families(finder, own, model.reached):
                families.append({tool: family})
                selection = {**selection, tool: selection[tool] & ~family}
        for tool, calls in selection.items():
            rest[tool].append(calls)
    joined = {tool: m.disj(parts) for tool, parts in rest.items()}
    alone = Transitions.empty(model.encoding, model.tools, model.report, model.actors).selecting(joined)
    return Choices(tuple(families), tuple(classes), alone)


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
    """Truth for all choices of the choosers, under the deployment's `fair` sentences.

    Its constraints on actions are not heeded.
    """

    def __init__(self, model: ReachableStates, choosers: Choosers) -> None:
        self._possible, self._sure = _Bound(model), _Sure(model, choosers)
        self._possible.dual, self._sure.dual = proxy(self._sure), proxy(self._possible)  # no cycle

    def decides(self, formula: fo.Expanded, *, holds: bool) -> bool:
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

    def is_initial(self, formula: fo.Expanded) -> bool:
        """Return True if every D0 is in the set."""
        return self.model.initial & ~self._set(core(formula), {}) == self.manager.false

    def _sat(self, formula: Core, env: Environment) -> Bdd:
        everywhere = self.operators(self.pairs(formula, env)).everywhere
        match formula:
            case fo.Not(body) if fo.is_temporal(body):
                return everywhere & ~self.dual._set(body, env)
            case fo.Iff(left, right) if fo.is_temporal(formula):
                dual = self.dual
                neither = ~dual._alike(left, env) & ~dual._alike(right, env)
                return everywhere & (self._alike(left, env) & self._alike(right, env) | neither)
            case _:
                return super()._sat(formula, env)


class _Sure(_Bound):
    """sure ⟦f⟧ ⊆ the pairs at which f is true under every resolution (must)."""

    def __init__(self, model: ReachableStates, choosers: Choosers) -> None:
        super().__init__(model)
        self._choosers = choosers

    @cached_property
    def _choices(self) -> Choices:
        return choices(self.model, self._choosers)

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
        m, rest = self.manager, self._choices.rest
        families: list[_Family | _Classes] = [
            _Family(tuple(self._calls(tool, calls) for tool, calls in family.items() if calls != m.false))
            for family in self._choices.families
        ]
        families += (
            _Classes(self._calls(tool, calls), *finder.classes(tool))
            for finder, tool, calls in self._choices.classes
        )
        return _Game(self.along(rest.parts, rest.chosen), families)

    def _calls(self, tool: str, calls: Bdd) -> _Calls:
        model = self._model
        return _Calls(calls, model.offers.selectors(tool), self.along([calls & model.tools[tool].steps]))


@dataclass(frozen=True, slots=True)
class _Calls:
    """Calls of one tool, over the state bits and its selectors, and the steps that they make."""

    calls: Bdd
    selectors: Bits
    steps: Relation

    def losing(self, target: Bdd) -> Bdd:
        """Return the calls that do not lead to X."""
        return self.calls & ~self.steps.preimage(target)


@dataclass(frozen=True, slots=True)
class _Family:
    """One family of calls, by tool."""

    parts: tuple[_Calls, ...]

    def leading(self, target: Bdd, m: Manager) -> Bdd:
        """Return pre_G(X)."""
        lost = m.disj(m.exist(part.selectors, part.losing(target)) for part in self.parts)
        return m.disj(m.exist(part.selectors, part.calls) for part in self.parts) & ~lost


@dataclass(frozen=True, slots=True)
class _Classes:
    """Calls with their classes: ``alike`` is ≈ over the state bits, the selectors and their counterparts.

    ``others`` maps each bit of the selectors to its counterpart.
    """

    of: _Calls
    alike: Bdd
    others: Mapping[str, str]

    def leading(self, target: Bdd, m: Manager) -> Bdd:
        """Return pre_ω(X)."""
        others = {bit: m.var(other) for bit, other in self.others.items()}
        losing = m.substitute(self.of.losing(target), others)
        lost = m.and_exist(frozenset(self.others.values()), losing, self.alike)
        return m.exist(self.of.selectors, self.of.calls & ~lost)


class _Game(Relation):
    """The relation of the other steps, with pre_sure as its preimage.

    pre_sure is no preimage of single steps, so only `preimage`, `within` and `reaching` may be used.
    """

    def __init__(self, rest: Relation, families: Sequence[_Family | _Classes]) -> None:
        super().__init__(rest.manager, rest.parts, rest.moving, rest._report, rest.chosen)
        self._families = families

    def preimage(self, target: Bdd) -> Bdd:
        """Return pre_sure(X)."""
        return self.manager.disj(
            [super().preimage(target), *(one.leading(target, self.manager) for one in self._families)]
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
