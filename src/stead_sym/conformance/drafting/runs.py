"""Runs of the tools of a system on small databases.

One decision: the states around a run that changed something come before further random ones. They show on
which facts the change depends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

from stead_sym.conformance.conform import Comparison
from stead_sym.conformance.drafting.states import States
from stead_sym.conformance.system import CannotLoad, System, Unlisted
from stead_sym.deployment.tool import Call, Tool
from stead_sym.relational.canonical import canonical_form, isomorphic
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Value
from stead_sym.support.progress import Progress

_CALLS_OF_STATE = 8
"""The most calls of a tool in one state."""
_AROUND = 60
"""The number of runs that changed something around which states are looked at."""
_ALIKE = 4
"""The same of runs that found rows in the same relations and changed the same ones."""
_WAITING = 6
"""The number of such states for every three random ones, drawn from all that wait."""
_GROWN = 4
"""The number of states for every three random ones that have a few rows more than that of a run."""
_LARGEST = 16
"""The most rows of a state that has grown from others."""
_NEIGHBOURS = 30
"""The most states that are looked at around a run."""
_TWICE = 12
"""The number of runs that are made twice."""


@dataclass(frozen=True, slots=True)
class Run:
    """A call of a tool in a state.

    ``after`` is None if the system wrote a value that no sort lists, which ``trouble`` then says. ``said`` is
    what the tool says if it refuses, and ``beyond`` are the columns that changed and are in no relation.
    """

    number: int
    call: Call
    before: Instance
    after: Instance | None
    said: str | None
    is_known: bool = True
    """True if all its arguments are values that are there, or that a sort lists."""
    beyond: tuple[str, ...] = ()
    trouble: str | None = None

    @property
    def changed(self) -> bool:
        """Return True if the call changed something that a relation has."""
        return self.after != self.before

    @property
    def size(self) -> tuple[int, int]:
        """Return what smaller runs are compared by."""
        return len(self.before), self.number


@dataclass
class Observed:
    """The runs of one tool, in order, each call of a state once."""

    tool: Tool
    runs: list[Run] = field(default_factory=list)
    unlike: tuple[Run, Run] | None = None
    """Two runs of one call in one state that end differently."""
    changed: list[Run] = field(default_factory=list)
    """The runs that changed something, of calls with values that are there."""
    seen: set[tuple[Instance, Call]] = field(default_factory=set)

    def note(self, run: Run) -> None:
        """Keep a run."""
        self.runs.append(run)
        if run.changed and run.is_known and run.after is not None:
            self.changed.append(run)


class Observer:
    """The runs of the tools of a system, on states that are chosen as they go."""

    def __init__(
        self, comparison: Comparison, tools: list[Tool], random: Random, progress: Progress | None = None
    ) -> None:
        self.comparison = comparison
        self.deployment = comparison.deployment
        self.system: System = comparison.system
        self.states = States(self.deployment, random)
        self.random = random
        self.progress = progress
        self.observed = {tool.name: Observed(tool) for tool in tools}
        self.refused: dict[str, Instance] = {}
        """By reason the first state that the database does not take."""
        self.loaded = 0
        self._waiting: list[tuple[str, Instance, Call | None]] = []
        self._around: Counter[object] = Counter()
        self._known: set[Instance] = set()

    def observe(self, most: int, done: Collection[str] = ()) -> None:
        """Make runs until each tool that is not done has so many, or until no new states are found."""
        idle = 0
        asked = [one for name, one in self.observed.items() if name not in done]
        while idle < 200 and (left := [one for one in asked if len(one.runs) < most]):
            before = sum(len(one.runs) for one in left)
            for state, tools, call in self._next(left):
                self._run_all(state, tools, most, call)
            idle = 0 if sum(len(one.runs) for one in left) > before else idle + 1
            if self.progress is not None:
                self.progress(
                    "drafting", states=self.loaded, runs=sum(len(o.runs) for o in self.observed.values())
                )
        self.comparison.restore()

    def _next(self, left: list[Observed]) -> Iterator[tuple[Instance, list[Observed], Call | None]]:
        """Yield the next states with the tools that are to be run there, and with the call if it is one."""
        names = {one.tool.name for one in left}
        for _ in range(_WAITING):
            if not self._waiting:
                break
            at = self.random.randrange(len(self._waiting))
            self._waiting[at], self._waiting[-1] = self._waiting[-1], self._waiting[at]
            name, state, call = self._waiting.pop()
            if name in names:
                yield state, [self.observed[name]], call
        for one in left:
            for _ in range(_GROWN):
                if (grown := self._grown(one)) is not None:
                    yield grown[0], [one], grown[1]
        for _ in range(3):
            if (state_or_none := self.states.random_state()) is not None:
                yield state_or_none, left, None

    def _grown(self, one: Observed) -> tuple[Instance, Call] | None:
        """Return the state of some run, changed or not, with a few rows more, and the call of that run."""
        among = one.changed if one.changed and self.random.random() < 0.5 else one.runs
        if not among or not self.deployment.schema.relations:
            return None
        run = self.random.choice(among)
        state = run.before
        for _ in range(self.random.choice((1, 2, 3))):
            relation = self.random.choice(self.deployment.schema.relations)
            state = self.states.grown(state, relation) or state
        return (state, run.call) if len(state) <= _LARGEST and run.is_known else None

    def _run_all(self, state: Instance, tools: list[Observed], most: int, given: Call | None) -> None:
        """Make calls of these tools in a state, unless the database refuses it; one given call first."""
        try:
            self.comparison.load(state)
        except CannotLoad as error:
            self.refused.setdefault(str(error), state)
            return
        self.loaded += 1
        for one in tools:
            calls = self.states.calls(one.tool, state, _CALLS_OF_STATE)
            if given is not None:
                calls = [given, *self.random.sample(calls, min(len(calls), 1))]
            for call in calls:
                if len(one.runs) >= most:
                    break
                if (state, call) not in one.seen:
                    one.seen.add((state, call))
                    self._note(one, self._run(one, call, state))

    def _run(self, one: Observed, call: Call, state: Instance) -> Run:
        """Make a call in the state that was loaded last."""
        self.comparison.restore()
        said = self.system.run(call)
        after, trouble = self._after()
        changed = self.comparison.elsewhere(state, after)
        known = all(
            self.deployment.schema.is_finite(param.sort) or value in state.active_domain[param.sort]
            for param, value in zip(one.tool.params, call.args, strict=True)
        )
        return Run(len(one.runs), call, state, after, said, known, changed, trouble)

    def _after(self) -> tuple[Instance | None, str | None]:
        try:
            return self.system.state(), None
        except Unlisted as error:
            return None, str(error)

    def _note(self, one: Observed, run: Run) -> None:
        """Keep a run, look at the states around it, and make some runs twice."""
        one.note(run)
        changed = len(one.changed) if run.changed else 0
        if one.unlike is None and (0 < changed <= _TWICE or run.number < _TWICE):
            again = self._run(one, run.call, run.before)
            if not self._alike(run, again):
                one.unlike = (run, again)
        name = one.tool.name
        if run.changed and run.is_known and self._is_new(name, run):
            found = list(self.states.neighbours(run.before))
            self.random.shuffle(found)
            self._waiting.extend((name, state, run.call) for state in found[:_NEIGHBOURS])
        if run.changed and run.after is not None and run.is_known and len(run.after) <= 12:
            self._later(run.after)

    def _is_new(self, name: str, run: Run) -> bool:
        """Return True for a run that is like few before it, and note it."""
        changed = frozenset[Fact]() if run.after is None else run.before.facts ^ run.after.facts
        there = frozenset(fact.relation for fact in run.before.facts)
        kind = (name, there, frozenset(fact.relation for fact in changed))
        if self._around[name] >= _AROUND or self._around[kind] >= _ALIKE:
            return False
        self._around.update([name, kind])
        return True

    def _later(self, after: Instance) -> None:
        """Have the state that a run led to looked at by all tools, once up to renaming."""
        if len(self._known) > 300:
            return
        renamed = renamed_shortly(after, self.deployment.constants)
        form = canonical_form(renamed, self.deployment.all_constants).instance
        if form not in self._known and self.states.is_sound(renamed):
            self._known.add(form)
            self._waiting.extend((name, renamed, None) for name in self.observed)

    def _alike(self, one: Run, other: Run) -> bool:
        """Return True if two runs of one call in one state end alike, up to fresh identifiers."""
        if one.after is None or other.after is None or (one.said is None) != (other.said is None):
            return one.after is other.after and (one.said is None) == (other.said is None)
        fixed = self.deployment.all_constants.union(one.call.args, *one.before.active_domain.values())
        return isomorphic(one.after, other.after, fixed)


def renamed_shortly(state: Instance, constants: Mapping[str, tuple[str, ...]]) -> Instance:
    """Return a state with short names for the identifiers that are no constants."""
    renaming: dict[Value, Value] = {}
    for sort, values in state.active_domain.items():
        if not state.schema.is_finite(sort):
            others = sorted(values - set(constants[sort]))
            renaming |= {value: f"{sort}{number}" for number, value in enumerate(others, 1)}
    return state.rename(renaming)
