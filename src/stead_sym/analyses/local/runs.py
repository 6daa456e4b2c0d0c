"""The runs of an abstraction, and where temporal formulas must, or may, be true along them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import stead_sym.logic.syntax as fo
from stead_sym.analyses.local.lasting import Lasting
from stead_sym.analyses.local.moves import Action, Move, Sure
from stead_sym.analyses.local.reading import Known, Reading
from stead_sym.analyses.local.relations import Relations
from stead_sym.engines.symbolic.bdd.manager import Bdd, Manager
from stead_sym.logic.kernel import Core


@dataclass(frozen=True, slots=True)
class Left:
    """A ``region`` where a run may stay for ever by ``moves``, if there are any, and ``ends`` in it."""

    region: Bdd
    moves: Sequence[Move]
    ends: Bdd


class Runs:
    """Runs by ``actions`` through the states that are ``possible``.

    An action that changes none of the facts may happen in each.
    """

    def __init__(
        self,
        manager: Manager,
        actions: Iterable[Action],
        possible: Bdd,
        reading: Reading,
        fair: Iterable[Sure] = (),
        sure: Iterable[Sure] = (),
        lasting: Lasting | None = None,
    ) -> None:
        """``fair`` have to happen, and ``sure`` can, if every finite run is the prefix of a fair one.

        ``lasting`` tells what may go on for ever; without it anything may. ``left`` are the regions where a
        run may stay although a formula asks that it leave.
        """
        self.manager = self._m = manager
        self._possible, self._reading = possible, reading
        self._fair, self._sure, self._lasting = tuple(fair), tuple(sure), lasting
        self.left: list[Left] = []
        self.actions = tuple(actions)
        self._all = Relations(manager, self.actions, manager.true)
        self._of: dict[frozenset[Move], Relations] = {}
        self._known: dict[tuple[Core, Bdd, Bdd], Known] = {}

    def may(self, formula: Core) -> Bdd:
        """Return the abstract states in which a first-order formula may be true."""
        return self._reading(formula).may & self._possible

    def surely(self, formula: Core) -> Bdd:
        """Return abstract states in which a formula, about runs, too, must be true."""
        return self.known(formula, self._possible).must & self._possible

    def image(self, states: Bdd) -> Bdd:
        """Return the states to which an action leads from these."""
        return self._all.image(states) & self._possible

    def reached(self, states: Bdd) -> Bdd:
        """Return the states that can be reached from these."""
        return self._all.reached(states, self._possible)

    def preimage(self, states: Bdd) -> Bdd:
        """Return the states from which a step leads into these, which are possible."""
        return self._all.before(states)

    def before(self, action: Action, states: Bdd) -> Bdd:
        """Return the states from which one action leads into these."""
        return Relations(self._m, [action], self._m.false).before(states & self._possible)

    def is_made(self, move: Move, states: Bdd) -> bool:
        """Return if a move may be made in some of the states."""
        return self._by([move]).before(self._m.true) & states != self._m.false

    def _by(self, moves: Iterable[Move]) -> Relations:
        """Return the relation of some moves alone."""
        key = frozenset(moves)
        if key not in self._of:
            self._of[key] = Relations.of_moves(self._m, key)
        return self._of[key]

    def layers(self, initial: Bdd, bad: Bdd, through: Bdd | None = None) -> list[Bdd]:
        """Return the states reached in 0, 1, … steps and no fewer, up to the first layer with a bad one.

        The steps go on from states of ``through`` only, if it is given.
        """
        layers, reached = [initial], initial
        while layers[-1] & bad == self._m.false:
            going = layers[-1] if through is None else layers[-1] & through
            layer = self.image(going) & ~reached
            if layer == self._m.false:
                break
            reached = reached | layer
            layers.append(layer)
        return layers

    def on_the_way(self, layers: Sequence[Bdd], bad: Bdd) -> Iterator[tuple[Action, Bdd]]:
        """Yield the actions of the shortest runs through the layers to a bad state, and where they start."""
        m, target = self._m, layers[-1] & bad
        for layer in reversed(layers[:-1]):
            for action in self.actions:
                if (before := self.before(action, target) & layer) != m.false:
                    yield action, before
            target = self.preimage(target) & layer

    def ways(self, f: Core, states: Bdd, within: Bdd) -> Iterator[Iterator[tuple[Action, Bdd]]]:
        """Yield the actions by which a formula may come true of some states, stage by stage.

        With each come the states from which it may do so.

        A run that shows E… has to take these: first to where the operator's last part may be true, then on.
        """
        match f:
            case fo.Until("E", left, right):
                target = self.known(right, within).may & within
                layers = self.layers(states, target, self.known(left, within).may)
                yield self.on_the_way(layers, target)
                yield from self.ways(right, layers[-1] & target, within)
            case fo.Next("E", body):
                target = self.known(body, within).may & within
                false = self._m.false
                before = ((one, self.before(one, target) & states) for one in self.actions)
                yield ((one, some) for one, some in before if some != false)
                yield from self.ways(body, self.image(states) & target, within)
            case fo.And(parts):
                for part in parts:
                    yield from self.ways(part, states, within)
            case fo.Not(fo.Not(body)):
                yield from self.ways(body, states, within)
            case _:
                pass  # no step matters, or all do

    def known(self, f: Core, within: Bdd, asked: Bdd | None = None) -> Known:
        """Return where a closed formula of the kernel must, and may, be true in the states ``within``.

        No step leaves ``within``. The less states are ``asked`` for, by default all, the better it is known
        there what goes on for ever.
        """
        if not fo.is_temporal(f):
            return self._reading(f)
        asked = within if asked is None else asked & within
        if (f, within, asked) not in self._known:
            self._known[f, within, asked] = self._computed(f, within, asked)
        return self._known[f, within, asked]

    def _computed(self, f: Core, within: Bdd, asked: Bdd) -> Known:
        m = self._m
        match f:
            case fo.Not(body):
                return ~self.known(body, within, asked)
            case fo.And(parts):
                whole = self._reading.true
                for part in sorted(parts, key=fo.is_temporal):
                    whole = whole & self.known(part, within, asked & whole.may)
                return whole
            case fo.Iff(left, right):
                a, b = self.known(left, within), self.known(right, within)
                return (a & b) | (~a & ~b)
            case fo.Next("E", body):
                known = self.known(body, within)
                surely = self._surely_before(known.must & within, within)
                return Known(surely, self.preimage(known.may & within))
            case fo.Until("E", left, right):
                a, b = self.known(left, within), self.known(right, within)
                surely = self._surely_reaching(a.must & within, b.must & within, within)
                return Known(surely, self._all.reaching(a.may & within, b.may & within))
            case fo.Globally("E", body):
                states = self._staying(self.known(body, within).may & within)
                if self._lasting is not None and states & asked != m.false:
                    states = self._staying_from(states & asked, states, self._lasting)
                return Known(m.false, states)
            case _:
                return self._reading.nothing  # a quantifier over runs

    def _surely_reaching(self, through: Bdd, target: Bdd, within: Bdd) -> Bdd:
        """Return states from which a run surely leads through some states to the target."""
        before = self._m.false
        while target != before:
            before = target
            target = target | (through & self._surely_before(target, within))
        return target

    def _surely_before(self, states: Bdd, within: Bdd) -> Bdd:
        """Return states from which something can happen that surely leads into these.

        It may be in several ways, and all of them do.
        """
        return self._m.disj(one.enabled & self._leading(one, states, within) for one in self._sure)

    def _leading(self, one: Sure, states: Bdd, within: Bdd) -> Bdd:
        """Return the states from which each way in which something can happen leads into ``states``."""
        return ~self._by(one.moves).before(within & ~states)

    def helpful(self, f: Core, within: Bdd, at: Bdd | None = None) -> Iterator[Sure]:
        """Yield what may lead a run where a subformula E… asks for, without being surely enabled there.

        It does so ``at`` some of these states, by default in any.
        """
        at = within if at is None else at
        match f:
            case fo.Until("E", left, right):
                target = self.known(f, within).must & within
                yield from self._leading_to(target, self.known(left, within).may & at & ~target, within)
                yield from self.helpful(right, within, at)
            case fo.Next("E", body):
                open_ = at & ~self.known(f, within).must
                yield from self._leading_to(self.known(body, within).must & within, open_, within)
                yield from self.helpful(body, within, at)
            case fo.Not() | fo.And() | fo.Iff() | fo.Globally() if fo.is_temporal(f):
                for part in fo.children(f):
                    yield from self.helpful(part, within, at)
            case _:
                pass  # no step matters, or a quantifier over runs

    def _leading_to(self, target: Bdd, states: Bdd, within: Bdd) -> Iterator[Sure]:
        """Yield what leads from some of the states to the target, but is not surely enabled there."""
        for one in self._sure:
            leads = self._by(one.changing).before(target) & self._leading(one, target, within)
            if leads & states & ~one.enabled != self._m.false:
                yield one

    def _staying(self, states: Bdd) -> Bdd:
        """Return a superset of the states from which a fair run stays in these for ever.

        The images of the states of a fair run that stays there are such a set Z: from each the run comes to a
        state where the event is not enabled, or from which a step by it leads into Z. So they are in the
        largest one. A strong constraint asks the same of an event that is enabled for ever.
        """
        before = self._m.false
        while states != before:
            before = states
            for fair in self._fair:
                met = ~fair.enabled | self._by(fair.moves).before(states)
                states = self._all.reaching(states, states & met)
        return states

    def _staying_from(self, starts: Bdd, states: Bdd, lasting: Lasting) -> Bdd:
        """Return the same superset, smaller among the states that can be reached from ``starts`` in it.

        A run that stays ends, or comes back for ever to states among which it makes moves that are lasting
        there.
        """
        m = self._m
        region = self._all.reached(starts & states, states)
        tail, before, moves = region, m.false, list[Move]()
        while tail not in (before, m.false):
            before = tail
            moves = lasting(self._made(lasting.moves, tail))
            tail = self._coming_back(tail, moves)
        ends = region & ~lasting.surely_goes_on(region)
        self.left.append(Left(region, () if tail == m.false else tuple(moves), ends))
        return (states & ~region) | self._all.reaching(region, tail | ends)

    def _made(self, moves: Iterable[Move], states: Bdd) -> Mapping[Move, Bdd]:
        """Return the moves that may lead from some of the states into them, with where they start."""
        found = {move: states & self._by([move]).before(states) for move in moves}
        return {move: where for move, where in found.items() if where != self._m.false}

    def _coming_back(self, states: Bdd, moves: Iterable[Move]) -> Bdd:
        """Return a superset of those of the states that a fair run by these moves comes back to for ever."""
        made, before = frozenset(moves), self._m.false
        while states != before:
            before = states
            states = states & self._by(made).before(states)
            for fair in self._fair:
                target = states & (~fair.enabled | self._by(made.intersection(fair.moves)).before(states))
                states = self._by(made).reaching(states, target)
        return states
