"""Walk through the states of the diagrams, in the deployment's own identifiers.

The diagrams may name values by representatives and lose the names of dead ones. A `Place` pairs a real state
with the corresponding state of the diagrams and the renaming between the two. Every step is made in both; a
value that is reborn gets its old name back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from stead_sym.deployment.callers import step_by
from stead_sym.deployment.trace import Step
from stead_sym.engines.symbolic.bdd.fixpoint import shortest
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.engines.symbolic.check.held_values import Pairs
from stead_sym.engines.symbolic.check.satisfaction import Checker
from stead_sym.engines.symbolic.encode.values import Vector
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value


@dataclass(frozen=True, slots=True)
class Place:
    """A real state and the state of the diagrams it is renamed to: ``known`` = ``names``(``real``)."""

    real: Instance
    known: Instance
    names: Mapping[Value, Value]


class Walks:
    """Runs of a checked deployment, from one place to the next.

    Its states are those that it has returned.
    """

    def __init__(self, checker: Checker) -> None:
        self.checker = checker
        self.model = checker.model
        self.encoding = checker.encoding
        self.manager = checker.manager
        self.literal = checker.model.plan.naming.literal
        self._places: dict[Instance, Place] = {}
        self._sorts: dict[Value, str] = {}
        self._last: tuple[Bdd, Instance, Bdd] | None = None

    def place(self, state: Instance) -> Place:
        """Return the place of a state that was returned before."""
        return self._places[state]

    def enter(self, state: Instance) -> None:
        """Start at an initial state, under the names that the diagrams use."""
        outside = self.model.deployment.outside
        active = () if self.literal else state.active_domain.items()
        own = {value: value for sort, values in active for value in outside(sort, values)}
        self._enter(Place(state, state, own))

    def _enter(self, place: Place) -> None:
        """Record a returned state, and the sorts of its values."""
        self._places[place.real] = place
        for sort, values in place.real.active_domain.items():
            self._sorts.update(dict.fromkeys(values, sort))

    def _is_mortal(self, vector: Vector, value: Value) -> bool:
        """Return True if the value can die while the vector holds it."""
        return vector.mortal and value not in self.model.deployment.constants[vector.sort]

    def _sort(self, value: Value) -> str:
        if value not in self._sorts:  # a value of the restriction that no state has held so far
            self._sorts[value] = next(s for s, values in self.encoding.values.items() if value in values)
        return self._sorts[value]

    def _in(
        self, pairs: Bdd, place: Place, env: Mapping[str, Vector], assignment: Mapping[str, Value]
    ) -> bool:
        """Return True if (D, σ) is in a set of pairs, D and σ under the names that the diagrams use."""
        held = self.encoding.holding(*self._living_and_dead(place, env, assignment))
        return self._here(pairs, place) & held != self.manager.false

    def _here(self, pairs: Bdd, place: Place) -> Bdd:
        """Return the assignments that are in a set of pairs with the state of a place.

        The last result is cached: it is needed for each value of a variable, possibly as many as records.
        """
        if self._last is None or self._last[:2] != (pairs, place.known):
            here = self.manager.exist(self.encoding.state_bits, pairs & self.model.singleton(place.known))
            self._last = pairs, place.known, here
        return self._last[2]

    def code(
        self, place: Place, env: Mapping[str, Vector], assignment: Mapping[str, Value]
    ) -> Mapping[str, bool]:
        """Return the bits of (D, σ) under the names that the diagrams use."""
        living, dead = self._living_and_dead(place, env, assignment)
        return {**self.encoding.encode(place.known), **self.encoding.assignment_code(living, dead)}

    def _living_and_dead(
        self, place: Place, env: Mapping[str, Vector], assignment: Mapping[str, Value]
    ) -> tuple[Mapping[Vector, Value], Mapping[Vector, Value]]:
        """Return the values of the living vectors and of the dead ones.

        The former are under the names that the diagrams use, the latter under their own.
        """
        held = {vector: assignment[name] for name, vector in env.items()}
        dead = {v: u for v, u in held.items() if self._is_mortal(v, u) and u not in place.names}
        return {v: place.names.get(u, u) for v, u in held.items() if v not in dead}, dead

    def run(
        self,
        pairs: Pairs,
        through: Bdd,
        target: Bdd,
        place: Place,
        env: Mapping[str, Vector],
        assignment: Mapping[str, Value],
    ) -> tuple[Step, ...]:
        """Return a shortest run through ``through`` into ``target``, empty if the pair is in it."""
        start = self.manager.cube(self.code(place, env, assignment))
        bits = self.encoding.state_bits | pairs.bits
        sets = shortest(pairs.relation, start, through, target, bits)
        if sets is None:
            raise ValueError("no such run: the caller relies on a formula that does not hold")
        steps: list[Step] = []
        for ahead in sets[1:]:
            steps.append(self.step_into(ahead, place, env, assignment))
            place = self._places[steps[-1].state]
        return tuple(steps)

    def step_into(
        self, pairs: Bdd, place: Place, env: Mapping[str, Vector], assignment: Mapping[str, Value]
    ) -> Step:
        """Return a step into a set of pairs."""
        for after in self.successors_in(pairs, place, env, assignment):
            return self.step_to(place, after)
        raise ValueError(f"no step leads from {place.real} where it should")

    def step_to(
        self,
        place: Place,
        after: Place,
        among: Mapping[str, Bdd] | None = None,
        agent: str | None = None,
    ) -> Step:
        """Return the step between two places, with its call.

        If ``among`` or ``agent`` is given, the call is one of these, by that agent.
        """
        step = self.model.step_between(place.known, after.known, among, agent)
        self._enter(after)
        real = {name: value for value, name in place.names.items()}
        return step_by(self.model.deployment, step.call.rename(real), after.real, step.actor)

    def successors_in(
        self,
        pairs: Bdd,
        place: Place,
        env: Mapping[str, Vector],
        assignment: Mapping[str, Value],
        like: Place | None = None,
    ) -> Iterator[Place]:
        """Yield the successors D' such that (D', σ) is in a set of pairs.

        Those most like the place ``like`` come first. A new value may have the name of a value of σ that
        is no longer active.
        """
        held = frozenset(self.encoding.held_bits(env.values()))
        within = self.manager.exist(held, pairs)
        for known in self.model.successors(place.known, within, None if like is None else like.known):
            for names in self._renamings(place, known, assignment):
                real = known.rename({name: value for value, name in names.items()})
                after = Place(real, known, names)
                if self._in(pairs, after, env, assignment):
                    yield after

    def _renamings(
        self, place: Place, after: Instance, assignment: Mapping[str, Value]
    ) -> Iterator[Mapping[Value, Value]]:
        """Yield the possible real names of the values of ``after``.

        A value that stays keeps its name. A new one takes that of a dead value of the assignment, or an
        unused one. A value of the last step that is not active is dead in the next state.
        """
        if self.literal:
            yield {}
            return
        back = {name: value for value, name in place.names.items()}
        kept: dict[Value, Value] = {}
        new: list[tuple[str, Value]] = []
        standing = set[Value]()
        for sort, values in after.active_domain.items():
            before = place.known.active_domain[sort]
            standing.update(before)
            of_step = _of_history(after, sort).intersection(before)
            for name in sorted(self.model.deployment.outside(sort, values | of_step)):
                if name in before:
                    kept[back[name]] = name
                else:
                    new.append((sort, name))
        held = {value for value in assignment.values() if place.names.get(value) not in standing}
        dead = held - self.model.deployment.all_constants
        options = [[None, *sorted(v for v in dead if self._sort(v) == sort)] for sort, _ in new]
        for choice in product(*options):
            risen = [value for value in choice if value is not None]
            if len(set(risen)) == len(risen):
                names, taken = dict(kept), {*place.names, *held, *risen}
                for (sort, name), value in zip(new, choice, strict=True):
                    own = value if value is not None else self._unused(sort, name, taken)
                    taken.add(own)
                    names[own] = name
                yield names

    def _unused(self, sort: str, name: Value, taken: set[Value]) -> Value:
        """Return the name itself, or the next value of the sort that is not ``taken``."""
        if name not in taken:
            return name
        pool: Sequence[Value] = (
            *self.model.deployment.outside(sort, self.encoding.values[sort]),
            *self.model.restriction.beyond(sort, len(taken) + 1),
        )
        return next(value for value in pool if value not in taken)


def _of_history(state: Instance, sort: str) -> frozenset[Value]:
    """Return the values of a sort that occur in a state's record of the past."""
    schema = state.schema
    return frozenset(
        value
        for relation in schema.history
        for args in state.by_relation.get(relation.name, ())
        for own, value in zip(relation.sorts, args, strict=True)
        if own == sort
    )
