"""The winning region of agents that keep sentences true against the events and the outcomes of calls.

For a set X of states let G(X) be the deployment's transitions from X by events, and by those calls of which
every outcome is in X: the allowed calls. For demands ψ, sentences that must hold in every state, the winning
region is the greatest fixpoint

    Win = νX. { D ∈ X : D ⊨ ψ in G(X), every event of D leads into X, and D has a step in G(X) or may end }.

A demand has path quantifiers E only, none below a negation, so more transitions never make it false.
Therefore the operator is monotone and the fixpoint exists. (A state that may end has a loop if nothing else
is left. It adds nothing to EF and E U, and demands with EX and EG are not for deployments with `terminal`
lines.)

In G(Win) every reachable state satisfies the demands. Conversely, any restriction of the agents under which
they always hold stays in Win: its reachable states are a post-fixpoint of the operator. So the calls that
G(Win) allows are the most permissive choice (Ramadge and Wonham 1987, for the supremal controllable
sublanguage), and they do not depend on the names of values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property

import stead_sym.logic.syntax as fo
from stead_sym.deployment.trace import Step, Trace
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.engines.symbolic.check.satisfaction import Checker
from stead_sym.engines.symbolic.explore.reach import ReachableStates
from stead_sym.engines.symbolic.step.transitions import Transitions
from stead_sym.relational.instance import Instance


class Game:
    """The game G(X) for the set ``states`` over the state bits.

    ``model`` has its transitions and X as its reached states. Agents select all offered calls.
    """

    def __init__(self, whole: ReachableStates, states: Bdd) -> None:
        self._whole = whole
        self.states = states
        self.allowed: Mapping[str, Bdd] = {name: self._allowed(name) for name in whole.tools}
        """Per tool and event the calls of G(X), over the state bits and its selectors."""
        self.model = copy(whole)
        self.model.by_agent = {
            agent: {name: of & self.allowed[name] for name, of in calls.items()}
            for agent, calls in whole.by_agent.items()
        }
        empty = Transitions.empty(whole.encoding, whole.tools, whole.report, whole.actors)
        self.model.transitions = empty.selecting(self.allowed)
        self.model.reached = states

    def _allowed(self, name: str) -> Bdd:
        calls = self._whole.transitions.selected[name] & self.states
        return calls if self._whole.deployment.tool(name).event else calls & ~self._leaving(name)

    def _leaving(self, name: str) -> Bdd:
        """Return the calls with an outcome outside X, over the state bits and the tool's selectors."""
        m, moving = self._whole.manager, self._whole.transitions.moving
        return m.and_exist(
            frozenset(copied for _, copied in moving), self._whole.transitions.steps_by(name), self._outside
        )

    @cached_property
    def _outside(self) -> Bdd:
        """¬X over the copies of the state bits."""
        m = self._whole.manager
        return m.substitute(
            ~self.states, {bit: m.var(copied) for bit, copied in self._whole.transitions.moving}
        )

    @cached_property
    def pushed_out(self) -> Bdd:
        """The states of X from which an event leads out of it."""
        m, offers = self._whole.manager, self._whole.offers
        events = (event.name for event in self._whole.deployment.events)
        return self.states & m.disj(m.exist(offers.selectors(name), self._leaving(name)) for name in events)

    @cached_property
    def stuck(self) -> Bdd:
        """The states of X from which no step of G(X) leads into X, and in which no run may end."""
        going = self.model.transitions.preimage(self.states)
        return self.states & ~going & ~self.model.compiler.formula(self.model.deployment.may_end, {})

    def denied(self, name: str) -> Bdd:
        """Return the calls of a tool that are possible in X and not in G(X)."""
        return self._whole.transitions.selected[name] & self.states & ~self.allowed[name]

    @cached_property
    def reached(self) -> Bdd:
        """The states that G(X) reaches from the initial states in X."""
        start = self.model.initial & self.states
        return self.model.transitions.reachable(start, start)


class Winning:
    """The games on X0 = R ⊃ X1 ⊃ … ⊃ Xn = Win for some demands, computed on construction."""

    def __init__(self, model: ReachableStates, demands: Sequence[fo.Expanded]) -> None:
        self.model = model
        checker = Checker(model)
        at_once = (checker.sat(demand, {}) for demand in demands if not fo.is_temporal(demand))
        self._kept = model.manager.conj([model.reached, *at_once])
        """The states in which the demands without path quantifiers hold."""
        self._later = tuple(demand for demand in demands if fo.is_temporal(demand))
        self.games = [Game(model, model.reached)]
        while (smaller := self._smaller(self.last)) != self.last.states:
            self.games.append(Game(model, smaller))
            model.report("shield", sets=len(self.games))

    def _smaller(self, game: Game) -> Bdd:
        """Return the operator of the fixpoint, at X."""
        states = game.states & self._kept & ~game.pushed_out & ~game.stuck
        return states & self._demanded(game) if states == game.states else states

    def _demanded(self, game: Game) -> Bdd:
        """Return the states in which the demands with path quantifiers hold.

        They need fixpoints of their own, so they are evaluated only when no other condition shrinks X.
        """
        checker = Checker(game.model)
        return self.model.manager.conj([game.states, *(checker.sat(demand, {}) for demand in self._later)])

    @property
    def last(self) -> Game:
        """The game on Win."""
        return self.games[-1]

    @property
    def lost(self) -> Bdd:
        """The initial states outside Win."""
        return self.model.initial & ~self.last.states

    def losing_run(self) -> Trace:
        """Return a run from a lost initial state that events and outcomes can force, whatever agents do.

        Each step leads to a state that left X earlier, and the last state is one where a demand is false. If
        only calls are left, all have a lost outcome, and one of them is taken.
        """
        m, encoding = self.model.manager, self.model.encoding
        state = encoding.decode(m.pick(self.lost, encoding.order))
        start, steps = state, list[Step]()
        while True:
            game = self._left(state)
            if not self.model.contains(game.pushed_out | game.stuck, state):
                return Trace(start, tuple(steps), of_many=not self.model.has_one_initial)
            pushed = self.model.contains(game.pushed_out, state)
            makers = self.model.deployment.events if pushed else self.model.deployment.tools_and_events
            steps.append(self._out_of(game, state, [maker.name for maker in makers]))
            state = steps[-1].state

    def _left(self, state: Instance) -> Game:
        """Return the last game that contains the state."""
        return next(game for game in reversed(self.games) if self.model.contains(game.states, state))

    def _out_of(self, game: Game, state: Instance, names: Sequence[str]) -> Step:
        """Return a step by one of these tools and events to a state outside the game."""
        model, m = self.model, self.model.manager
        point = model.singleton(state)
        for name in names:
            if (found := model.transitions.after(name, point) & ~game.states) != m.false:
                after = model.encoding.decode(m.pick(found, model.encoding.order))
                return model.step_between(state, after, {name: model.transitions.selected[name]})
        raise AssertionError(f"{state} is lost, and nothing leads out of what is left")
