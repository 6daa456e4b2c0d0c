"""Runs over a few records, explored up to isomorphism: what verdicts for every number are compared with.

Nothing of the search for views, of the engines or of fragments is used here: only the definition of a step
(`deployment.semantics`), the truth of a sentence in a state, and canonical forms. Two states that differ by a
renaming of records are explored once.

The states are explored by levels: level n has what is reached over at most n records of each sort. A level
that takes more than its part of the budget is left, and the next one continues from the states met. Random
walks from what is left end the exploration. The budget counts calls, outcomes and canonical forms. Each state
of `reached` is reached by a run, and up to the level `complete` all states are explored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from random import Random

import stead_sym.logic.syntax as fo
from stead_sym.agents.roles import Wrappers
from stead_sym.agents.selection import selections
from stead_sym.deployment.claims import ALWAYS_A_STEP
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.initial import initial_states
from stead_sym.deployment.restriction import around, normal_restriction
from stead_sym.deployment.semantics import outcomes, possible
from stead_sym.deployment.tool import Call
from stead_sym.errors import NoInitialState
from stead_sym.logic.evaluate import holds
from stead_sym.relational.canonical import canonical_form
from stead_sym.relational.instance import Instance, broken_keys, broken_references, out_of_range
from stead_sym.relational.schema import Value

INITIAL, MOST_TO_BEGIN_WITH = 60, 3
STEPS = 25
GONE = "gone"
"""The name of a value that no fact has any more. None is brought in again under it, so that it stays away."""


@dataclass(frozen=True, slots=True)
class Obligation:
    """AG ∀x (p → A[l W r]), ``once`` AG ∀x (p → AX l); without ``since`` A[l W r] at first."""

    binders: tuple[fo.Binder, ...]
    since: fo.Expanded | None
    left: fo.Expanded
    right: fo.Expanded = fo.FALSE
    once: bool = False


def obligation(formula: fo.Expanded) -> Obligation | None:
    """Return what a specification of the generated forms obliges runs to, or None for another form."""
    if isinstance(formula, fo.Until):
        return Obligation((), None, formula.left, formula.right)
    if not isinstance(formula, fo.Globally):
        return None
    body, binders, since = formula.body, list[fo.Binder](), fo.TRUE
    while isinstance(body, fo.Forall):
        binders.append(body.binder)
        body = body.body
    if isinstance(body, fo.Implies):
        since, body = body.left, body.right
    match body:
        case fo.Until("A", left, right, True):
            return Obligation(tuple(binders), since, left, right)
        case fo.Globally("A", left):
            return Obligation(tuple(binders), since, left)
        case fo.Next("A", left):
            return Obligation(tuple(binders), since, left, once=True)
        case _:
            return None


@dataclass(frozen=True, slots=True)
class Step:
    """A step to a state, up to isomorphism, with the names that the values before it have there."""

    tool: str
    state: Instance
    names: Mapping[Value, Value]


class FewRecords:
    """The states that runs reach over at most ``most`` records of each sort, as many as a ``budget`` allows.

    With ``wrappers`` agents select as these do, else whatever they are offered. A run ends where a key or a
    bound is broken.
    """

    def __init__(
        self, deployment: Deployment, wrappers: Wrappers | None, most: int, budget: int, seed: int
    ) -> None:
        self.deployment, self.wrappers, self.most = deployment, wrappers, most
        self.random = Random(seed)
        self.rigid = frozenset(value for values in deployment.constants.values() for value in values)
        self.reached: dict[Instance, int] = {}
        self.expanded: dict[Instance, tuple[Step, ...]] = {}
        self.broken: set[str] = set()
        self.possible: set[str] = set()
        self.selected: set[str] = set()
        self.work = 0
        self.complete = -1
        self._pending: list[list[Instance]] = [[] for _ in range(most + 1)]
        few = deployment.within(dict.fromkeys(deployment.unbounded, most))
        self._restriction = normal_restriction(few)
        self.initial = tuple(dict.fromkeys(state for state in self._starting() if self._meet(state, 0)))
        self._explore(budget)
        self._walk(budget + budget // 4)

    def _starting(self) -> Iterator[Instance]:
        deployment, found = self.deployment, False
        for number in range(min(self.most, MOST_TO_BEGIN_WITH) + 1):
            few = deployment.within(dict.fromkeys(deployment.unbounded, number))
            try:
                states = initial_states(few, normal_restriction(few).values, INITIAL)
            except NoInitialState:
                continue
            found = True
            yield from (canonical_form(state, self.rigid).instance for state in states)
        if not found:
            raise NoInitialState("no database over a few records")

    def records(self, state: Instance) -> int:
        """Return the largest number of records of a sort."""
        active = state.active_domain
        return max(len(self.deployment.outside(s, active[s])) for s in self.deployment.unbounded)

    def _meet(self, state: Instance, level: int) -> bool:
        """Record a state, and return whether runs continue there."""
        level = max(level, self.records(state))
        if level > self.most:
            return False
        if state not in self.reached:
            broken = set(self._claims_broken(state))
            self.broken |= broken
            if any(name.startswith(("bound ", "key of ")) for name in broken):
                return False
            self.reached[state] = level
            self._pending[level].append(state)
        return True

    def _claims_broken(self, state: Instance) -> Iterator[str]:
        """Yield the claims about bounds, keys, references and integers that a state breaks."""
        deployment, schema = self.deployment, self.deployment.schema
        for sort, active in state.active_domain.items():
            if sort in deployment.bounds and sort not in deployment.unbounded:
                bound = deployment.bounds[sort]
                if len(deployment.outside(sort, active)) > bound:
                    yield f"bound {sort} {bound}"
        yield from (f"key of {fact.relation}" for fact, _ in broken_keys(schema, state.facts))
        yield from (reference.name for _, reference in broken_references(schema, state.facts))
        yield from (f"range of {fact.relation}" for fact, _ in out_of_range(schema, state.facts))

    def _expand(self, state: Instance) -> tuple[Step, ...]:
        if state not in self.expanded:
            found = dict.fromkeys(self._steps(state))
            self.work += len(found)
            level = self.reached[state]
            self.expanded[state] = tuple(
                Step(tool, form.instance, form.labelling)
                for tool, form in ((tool, canonical_form(after, self.rigid)) for tool, after in found)
                if self._meet(form.instance, level)
            )
        return self.expanded[state]

    def _steps(self, state: Instance) -> Iterator[tuple[str, Instance]]:
        for call in self._calls(state):
            led = False
            for after in self._outcomes(call, state):
                led = True
                yield call.tool, after
            if not led:
                self.broken.add(f"{call.tool} has an effect")

    def _calls(self, state: Instance) -> list[Call]:
        calls = possible(self.deployment, state)
        self.work += 1 + len(calls)
        if not calls:
            self.broken.add(ALWAYS_A_STEP)
        self.possible |= {call.tool for call in calls}
        if self.wrappers is not None:
            calls = frozenset(selections(self.deployment, self.wrappers, state, calls))
        self.selected |= {call.tool for call in calls}
        return sorted(calls)

    def _outcomes(self, call: Call, state: Instance) -> Iterator[Instance]:
        for after in outcomes(
            self.deployment, call, state, around(self.deployment, self._restriction, state)
        ):
            self.work += 1
            yield after

    def _explore(self, budget: int) -> None:
        whole = True
        for level, pending in enumerate(self._pending):
            end = self.work + (budget - self.work) // (self.most + 1 - level)
            while pending and self.work < end:
                place = self.random.randrange(len(pending))
                pending[place], pending[-1] = pending[-1], pending[place]
                self._expand(pending.pop())
            whole = whole and not pending
            if whole:
                self.complete = level

    def _walk(self, budget: int) -> None:
        left = [state for pending in self._pending for state in pending]
        while left and self.work < budget:
            state = self.random.choice(left)
            for _ in range(STEPS):
                for call in self.random.sample(calls := self._calls(state), len(calls)):
                    found = [canonical_form(s, self.rigid).instance for s in set(self._outcomes(call, state))]
                    self.work += len(found)
                    level = self.reached[state]
                    found = sorted((s for s in found if s != state and self._meet(s, level)), key=str)
                    if found:
                        break
                else:
                    break
                state = self.random.choice(found)

    def violates(self, sentences: Iterable[fo.Expanded]) -> Instance | None:
        """Return a state in which some sentence is false, or None."""
        told = tuple(sentences)
        return next((s for s in self.reached if not all(holds(f, s) for f in told)), None)

    @cached_property
    def _columns(self) -> Mapping[str, tuple[Value, ...] | None]:
        return {sort.name: sort.values for sort in self.deployment.schema.sorts}

    def _values(self, binder: fo.Binder, state: Instance) -> Iterable[Value]:
        listed = self._columns[binder.sort]
        return sorted(state.active_domain[binder.sort]) if listed is None else listed

    def breaks(self, owed: Obligation) -> Instance | None:
        """Return the last state of a run that breaks an obligation, or None."""
        names = [binder.name for binder in owed.binders]
        todo: list[tuple[Instance, tuple[Value, ...]]] = []
        if owed.since is None:
            todo += [(state, ()) for state in self.initial]
        else:
            for state in self.expanded:
                for values in product(*(self._values(binder, state) for binder in owed.binders)):
                    if holds(owed.since, state, dict(zip(names, values, strict=True))):
                        todo.append((state, values))
        seen = set(todo)
        while todo:
            state, values = todo.pop()
            sigma = dict(zip(names, values, strict=True))
            if not owed.once:
                if holds(owed.right, state, sigma):
                    continue
                if not holds(owed.left, state, sigma):
                    return state
            for step in self.expanded.get(state, ()):
                pairs = zip(values, owed.binders, strict=True)
                there = tuple(self._named(step, value, binder) for value, binder in pairs)
                if owed.once:
                    if not holds(owed.left, step.state, dict(zip(names, there, strict=True))):
                        return step.state
                elif (step.state, there) not in seen:
                    seen.add((step.state, there))
                    todo.append((step.state, there))
        return None

    def _named(self, step: Step, value: Value, binder: fo.Binder) -> Value:
        if self._columns[binder.sort] is not None or value in self.rigid:
            return value
        return step.names.get(value, GONE)
