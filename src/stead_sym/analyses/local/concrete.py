"""An abstract run that breaks a question, followed in the deployment itself.

States of the deployment are searched, those first of which the abstraction says that fewer steps may break
the question; those with one image come one after the other, so that no kind of state waits for another. It
never says more than it takes, since each run has an image. Only steps are tried of which the abstraction says
that they may come nearer, or, where none of these does, that they do not lead far away: no other call is
enumerated, and no state that is not on such a run.

One decision: a run is found or not, and what is found is evidence by itself. So the number of states tried is
bounded, and the values that names stand for are tried by what the facts say of them, a few of each kind.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product

import stead_sym.logic.syntax as fo
from stead_sym.analyses.local.field import Field
from stead_sym.analyses.local.loops import Loops
from stead_sym.analyses.local.moves import Action
from stead_sym.analyses.local.runs import Runs
from stead_sym.analyses.local.start import OUTSIDE, names_in
from stead_sym.analyses.local.values import is_constant, is_name, sort_of
from stead_sym.deployment.callers import step_by
from stead_sym.deployment.semantics import breaks_claim, each_call
from stead_sym.deployment.trace import Step, Trace
from stead_sym.engines.symbolic.bdd.manager import Bdd, Manager
from stead_sym.evidence.prefix import endless_evidence, refutation
from stead_sym.logic.kernel import Core, core
from stead_sym.logic.substitution import substitute, with_constants
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value

SLACK = 6
"""The maximum number of steps of a run beyond those that the abstraction needs."""

MOST_LOOPS = 8
"""The maximum number of states from which an endless run is searched for a specification."""

MOST_RINGS = 64
MOST_WAYS = 48
"""The maximum number of successors of a state by one action."""

MOST_VALUES = 200
"""The maximum number of choices of values for the names."""


@dataclass(frozen=True, slots=True)
class _At:
    """A state of a run, where ``goal`` is still to be shown, with the values of names."""

    state: Instance
    goal: Core
    values: Mapping[Value, Value]
    before: tuple[_At, Step] | None = None

    @property
    def run(self) -> Trace:
        """Return the run that leads here."""
        steps: list[Step] = []
        at = self
        while at.before is not None:
            at, step = at.before
            steps.append(step)
        return Trace(at.state, tuple(reversed(steps)), None)

    @property
    def length(self) -> int:
        return 0 if self.before is None else self.before[0].length + 1


@dataclass(frozen=True, slots=True)
class FollowedRun:
    """A run, and what is ``known`` of all runs from its last state (`evidence.prefix.refutation`).

    That is shown on at most ``facts`` facts, if the search for the run asks for that itself.
    """

    run: Trace
    known: frozenset[fo.Formula] = frozenset()
    facts: int = 0


class Following:
    """The search for a run that shows ``goal``, and so that the ``sentence`` is true (``holds``) or false.

    For a sentence that holds the run is endless, since a finite one need not have a continuation.
    """

    def __init__(
        self,
        field: Field,
        runs: Runs,
        bits: Mapping[Core, Bdd],
        inside: Mapping[Value, Bdd],
        sentence: fo.Expanded,
        goal: Core,
        *,
        holds: bool,
    ) -> None:
        self._field, self._runs, self._sentence, self._goal = field, runs, sentence, goal
        self._of_truth = holds
        self._m: Manager = runs.manager
        self._bits = {fact: _label(bit) for fact, bit in bits.items()}
        self._inside = {one: _label(bit) for one, bit in inside.items()}
        self._variables = {one: fo.Var(one) for one in inside}
        self.tried = 0
        """The number of states that were searched."""
        self._rings_of: dict[Core, list[Bdd]] = {}
        self._leading_to: dict[tuple[Core, int], tuple[Bdd, list[tuple[Action, Bdd]]]] = {}
        self._free_of: dict[Core, Core] = {}
        self._about_all: set[Core] = set()

    def run(self, most: int, loops: int = MOST_LOOPS) -> FollowedRun | None:
        """Return a run if one is found among at most ``most`` states.

        None is searched if no abstract run shows the goal.
        """
        if not any(ring != self._m.false for ring in self._rings(self._goal)):
            return None
        waiting: list[tuple[int, int, int, bool, _At]] = []
        seen: set[tuple[Instance, Core, tuple[Value, ...]]] = set()
        number = 0
        furthest: dict[tuple[Value, ...], int] = {}
        alike: Counter[tuple[Core, tuple[Value, ...], frozenset[str]]] = Counter()

        def add(at: _At) -> bool:
            """Return True if a run through the state may go on to the end."""
            nonlocal number
            number += 1
            key = at.state, at.goal, tuple(at.values.values())
            if key in seen:
                return False
            seen.add(key)
            image = self._image(at)
            distance = self._distance(at.goal, image)
            if distance is None:
                return False
            length = at.length
            longest = furthest.setdefault(key[2], distance + SLACK)
            if length + distance > longest:
                return False
            kind = *key[1:], frozenset(label for label, true in image.items() if true)
            heapq.heappush(waiting, (2 * distance + length + alike[kind], distance, -number, False, at))
            alike[kind] += 1
            return True

        for values in self._choices():
            add(_At(self._field.initial, self._goal, values))
        loops = min(MOST_LOOPS, len(self._field.endless) + loops)
        most, first = number + min(most, self._field.left), number
        while waiting and number < most:
            rank, distance, _, wide, at = heapq.heappop(waiting)
            self.tried += not wide
            done, following, for_ever = self._moves(at)
            if done and not self._of_truth:
                known = self._known(at)
                if refutation(self._sentence, at.run, known) is not None:
                    return FollowedRun(at.run, known)
            for body in (fo.TRUE,) if done and self._of_truth else for_ever:
                key = at.state, body, tuple(at.values.items())
                if key not in self._field.endless and len(self._field.endless) < loops:
                    self._field.endless.add(key)
                    if run := self._endless(at, body):
                        return FollowedRun(run)
            if breaks_claim(self._field.deployment, at.state):
                continue  # no run goes on from here
            allowed = distance + 1 if wide else distance - 1
            nearer = False
            for goal in following:
                for step in self._steps(at, goal, allowed):
                    nearer |= add(_At(step.state, goal, at.values, (at, step)))
                    if number >= most:
                        break
            if not wide and following:
                number += 1
                heapq.heappush(waiting, (rank + 3, distance, -number, True, at))
        self._field.left -= number - first
        return None

    def _choices(self) -> Iterator[Mapping[Value, Value]]:
        """Yield values for the names, one or two of each kind."""
        for kind in islice(self._field.start.kinds(tuple(self._inside), self._bits), MOST_VALUES):
            spare = {sort: iter(self._field.unused(sort)) for sort in map(sort_of, kind)}
            values = {
                one: next(spare[sort_of(one)], OUTSIDE) if value == OUTSIDE else value
                for one, value in kind.items()
            }
            if OUTSIDE not in values.values():
                yield values

    def choices(self, states: Bdd) -> Iterator[Mapping[str, Sequence[Value]]]:
        """Yield values for the names, by sort, with which D0 has its image among these states."""
        for values in self._choices():
            if self._m.satisfies(states, self._image(_At(self._field.initial, self._goal, values))):
                by_sort: dict[str, list[Value]] = {}
                for one, value in values.items():
                    by_sort.setdefault(sort_of(one), []).append(value)
                yield by_sort

    # the abstraction

    def _distance(self, goal: Core, image: Mapping[str, bool]) -> int | None:
        """Return the least number of steps from an abstract state that may show a goal; None if none may."""
        return next((k for k, ring in enumerate(self._rings(goal)) if self._m.satisfies(ring, image)), None)

    def _image(self, at: _At) -> Mapping[str, bool]:
        image = {label: self._holds(fact, at) for fact, label in self._bits.items()}
        for one, label in self._inside.items():
            image[label] = self._field.start.knows(sort_of(one), at.values[one])
        return image

    def _rings(self, goal: Core) -> list[Bdd]:
        """Return the abstract states by the number of steps that may show a goal."""
        if goal not in self._rings_of:
            rings: list[Bdd] = []
            for now, later in _alternatives(goal):
                own = [self._m.true] if later is None else self._rings_ahead(later)
                may = self._where(now)
                rings = [a & may | b for a, b in _padded(own, rings, self._m.false)]
            self._rings_of[goal] = rings
        return self._rings_of[goal]

    def _rings_ahead(self, goal: Core) -> list[Bdd]:
        runs, m = self._runs, self._m
        match goal:
            case fo.Next("E", body):
                return [m.false, *map(runs.preimage, self._rings(body))]
            case fo.Globally("E"):
                return [runs.known(goal, m.true).may]
            case fo.Until("E", left, right):
                through, last = runs.may(left), self._rings(right)
                rings: list[Bdd] = []
                seen = layer = m.false
                while len(rings) < len(last) or (layer != m.false and len(rings) < MOST_RINGS):
                    layer = runs.preimage(layer) & through if layer != m.false else m.false
                    if len(rings) < len(last):
                        layer = layer | last[len(rings)]
                    layer = layer & ~seen
                    seen = seen | layer
                    rings.append(layer)
                return rings
            case _:
                return []

    def _where(self, goal: Core) -> Bdd:
        """Return where a goal may be true of a state, and what it says of all runs surely is."""
        if not fo.is_temporal(goal):
            return self._runs.may(goal)
        if isinstance(goal, fo.And):
            return self._m.conj(map(self._where, goal.parts))
        self._about_all.add(goal)
        return self._runs.surely(goal)

    def _known(self, at: _At) -> frozenset[fo.Formula]:
        """Return what is surely true of all runs from a state, as far as the goal asks for it."""
        values = {one: fo.Const(value) for one, value in at.values.items()}
        known = (one for one in self._about_all if self._holds(one, at))
        return frozenset(core(substitute(self._free(one), values)) for one in known)

    # the deployment

    def _holds(self, formula: Core, at: _At) -> bool:
        if fo.is_temporal(formula):
            return self._m.satisfies(self._where(formula), self._image(at))
        values = {one: at.values[one] for one in names_in(formula)}
        return self._field.holds(self._free(formula), at.state, values)

    def _free(self, formula: Core) -> Core:
        """Return the formula with a variable for each name."""
        if formula not in self._free_of:
            self._free_of[formula] = with_constants(formula, self._variables)
        return self._free_of[formula]

    def _endless(self, at: _At, body: Core) -> Trace | None:
        """Return an endless run to the state, and on through states of the body, that shows the sentence."""
        near = {sort_of(one): [value] for one, value in at.values.items()}
        loops = Loops(self._field, at.state, lambda state: self._holds(body, replace(at, state=state)), near)
        if (found := loops.forever()) is None:
            return None
        steps, loop = found
        before = at.run
        run = replace(before, steps=(*before.steps, *steps), loop=len(before.steps) + loop)
        return run if endless_evidence(self._sentence, run, self._of_truth) is not None else None

    def _moves(self, at: _At) -> tuple[bool, list[Core], list[Core]]:
        """Return if the state shows the goal, and what shows it after a step, or if true for ever."""
        done, following, for_ever = False, dict[Core, None](), dict[Core, None]()
        waiting = [at.goal]
        while waiting:
            for now, later in _alternatives(waiting.pop()):
                if self._holds(now, at):
                    match later:
                        case None:
                            done = True
                        case fo.Next("E", body):
                            following[body] = None
                        case fo.Until("E", left, right):
                            waiting.append(right)
                            if self._holds(left, at):
                                following[later] = None
                        case fo.Globally("E", body):
                            if self._holds(body, at):
                                for_ever[body] = None
                        case _:
                            pass
        return done, list(following), list(for_ever)

    def _steps(self, at: _At, goal: Core, allowed: int) -> Iterator[Step]:
        """Yield steps that may lead to states from which at most ``allowed`` further steps show the goal."""
        m, field = self._m, self._field
        if allowed < 0:
            return
        target, actions = self._leading(goal, allowed)
        image = self._image(at)
        ways: dict[tuple[str, int, tuple[tuple[str, Value], ...]], None] = {}
        for action, before in actions:
            if m.satisfies(before, image):
                ways[action.tool, action.by, _given(action, at.values)] = None
        if m.satisfies(target, image):
            yield from self._idle(at.state)
        for name, by, given in ways:
            calls = each_call(field.deployment, field.deployment.tool(name), at.state, dict(given))
            after = ((call, one) for call in calls for one in field.after(call, at.state, by))
            for call, one in islice(after, MOST_WAYS):
                yield step_by(field.deployment, call, one, field.actor(call, at.state))

    def _leading(self, goal: Core, allowed: int) -> tuple[Bdd, list[tuple[Action, Bdd]]]:
        """Return the states from which ``allowed`` steps may do, and the actions with those before."""
        if (goal, allowed) not in self._leading_to:
            target = self._m.disj(self._rings(goal)[: allowed + 1])
            before = ((one, self._runs.before(one, target)) for one in self._runs.actions if one.tool)
            actions = [(action, states) for action, states in before if states != self._m.false]
            self._leading_to[goal, allowed] = target, actions
        return self._leading_to[goal, allowed]

    def _idle(self, state: Instance) -> Iterator[Step]:
        """Yield one step by each alternative of the tools and events, also if it changes no fact."""
        field = self._field
        for tool in field.deployment.tools_and_events:
            for by in range(len(tool.effects)):
                after = (
                    (call, one)
                    for call in each_call(field.deployment, tool, state, {})
                    for one in field.after(call, state, by)
                )
                for call, one in islice(after, 1):
                    yield step_by(field.deployment, call, one, field.actor(call, state))


def _label(bit: Bdd) -> str:
    [label] = bit.support
    return label


def _given(action: Action, values: Mapping[Value, Value]) -> tuple[tuple[str, Value], ...]:
    """Return the values of the deployment that an action gives to variables."""
    found = ((name, values.get(v, v)) for name, v in action.values.items() if is_constant(v) or is_name(v))
    return tuple(sorted(found))


def _alternatives(goal: Core) -> Iterator[tuple[fo.Formula, Core | None]]:
    """Yield ways to show a goal: a formula to hold now, and at most one about runs.

    Goals that need several runs have none.
    """
    match goal:
        case _ if not fo.is_temporal(goal):
            yield goal, None
        case fo.Next("E"):
            yield fo.TRUE, goal
        case fo.Until("E", left) | fo.Globally("E", left) if not fo.is_temporal(left):
            yield fo.TRUE, goal
        case fo.Not(fo.And(parts)):
            for part in parts:
                yield from _alternatives(core(fo.Not(part)))
        case fo.Not(fo.Until("E") | fo.Next("E") | fo.Globally("E")):  # a claim about all runs
            yield goal, None
        case fo.And(parts):
            for ways in product(*(list(_alternatives(part)) for part in parts)):
                later = [one for _, one in ways if one is not None]
                if len(later) <= 1:
                    yield core(fo.conjunction(tuple(now for now, _ in ways))), later[0] if later else None
        case _:
            pass


def _padded(left: Sequence[Bdd], right: Sequence[Bdd], unit: Bdd) -> Iterator[tuple[Bdd, Bdd]]:
    for k in range(max(len(left), len(right))):
        yield left[k] if k < len(left) else unit, right[k] if k < len(right) else unit
