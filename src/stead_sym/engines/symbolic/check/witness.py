"""Runs out of satisfying sets, in the deployment's own identifiers: what evidence needs.

The diagrams may name values by representatives and forget what dead ones were called. A `Place` keeps
a real state beside the state that the diagrams know it as, with the renaming between the two, and
every step is made in both; a value that comes back gets its old name back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

from stead_sym.deployment.trace import Step, Trace
from stead_sym.engines.symbolic.bdd.fixpoint import shortest
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.engines.symbolic.check.fair_lassos import FairLassos
from stead_sym.engines.symbolic.check.held_values import Pairs
from stead_sym.engines.symbolic.check.lassos import Lassos
from stead_sym.engines.symbolic.check.satisfaction import Checker
from stead_sym.engines.symbolic.encode.values import Vector
from stead_sym.logic.sorts import used_sort
from stead_sym.logic.syntax import TRUE, Formula, free_variables
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value


@dataclass(frozen=True, slots=True)
class Place:
    """A real state and the state of the diagrams it is renamed to: ``known`` = ``names``(``real``)."""

    real: Instance
    known: Instance
    names: Mapping[Value, Value]


class Witness:
    """The `evidence.Model` of a checked deployment (`evidence.build`). States are those that it has handed
    out."""

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
        """The place of a state that was handed out."""
        return self._places[state]

    def enter(self, state: Instance) -> None:
        """Begin at an initial state, under the names that the diagrams use."""
        outside = self.model.deployment.outside
        active = () if self.literal else state.active_domain.items()
        own = {value: value for sort, values in active for value in outside(sort, values)}
        self._enter(Place(state, state, own))

    def _enter(self, place: Place) -> None:
        """Note a state that was handed out, and the sorts of its values."""
        self._places[place.real] = place
        for sort, values in place.real.active_domain.items():
            self._sorts.update(dict.fromkeys(values, sort))

    @property
    def goes_on(self) -> bool:
        """Whether a run that ends counts only if it goes on fairly."""
        return self.checker.is_constrained and not self.checker.completed

    def holds(self, formula: Formula, state: Instance, assignment: Mapping[str, Value]) -> bool:
        """(D, σ) ⊨ f."""
        env, _, satisfying = self._sat(formula, formula, assignment)
        return self._in(satisfying, self._places[state], env, assignment)

    def states(self, formula: Formula, assignment: Mapping[str, Value]) -> Bdd:
        """{ D ∈ R : (D, σ) ⊨ f }, over the state bits; σ under the names that the diagrams use.

        With representatives a value of σ stands for itself where it is active, and for a dead one elsewhere.
        """
        m = self.manager
        env, pairs, satisfying = self._sat(formula, formula, assignment)
        held = {vector: assignment[name] for name, vector in env.items()}
        mortal = sorted({value for vector, value in held.items() if self._is_mortal(vector, value)})
        found = []
        for number in range(len(mortal) + 1):
            for dying in combinations(mortal, number):
                dead = {vector: value for vector, value in held.items() if value in dying}
                living = {vector: value for vector, value in held.items() if value not in dying}
                sorts = {value: self._sort(value) for value in mortal}
                there = {u: self.encoding.active(s, u) | pairs.of_step(s, u) for u, s in sorts.items()}
                condition = m.conj(~active if u in dying else active for u, active in there.items())
                code = self.encoding.assignment_code(living, dead)
                found.append(condition & m.cofactor(satisfying, code))
        return m.disj(found)

    def _is_mortal(self, vector: Vector, value: Value) -> bool:
        """Whether the value can die while the vector holds it."""
        return vector.mortal and value not in self.model.deployment.constants[vector.sort]

    def step(self, formula: Formula, state: Instance, assignment: Mapping[str, Value]) -> Step:
        """A transition to a state of f."""
        env, _, satisfying = self._sat(formula, formula, assignment)
        return self.step_into(self.checker.fairly(satisfying), self._places[state], env, assignment)

    def until(
        self, left: Formula, right: Formula, state: Instance, assignment: Mapping[str, Value]
    ) -> tuple[Step, ...]:
        """A shortest run through states of f to one of g."""
        both = left & right
        env, pairs, through = self._sat(left, both, assignment)
        target = self.checker.fairly(self._sat(right, both, assignment)[2])
        return self.run(pairs, through, target, self._places[state], env, assignment)

    def forever(
        self, body: Formula, state: Instance, assignment: Mapping[str, Value]
    ) -> tuple[tuple[Step, ...], int]:
        """A run that stays in f for ever and meets each fairness constraint in its loop.

        Without constraints it is a shortest one, as far as `lassos.MOST_IMAGES` allow to find out; with them
        it need not be, which is hard to have (Clarke, Grumberg, McMillan and Zhao 1995).
        """
        env, pairs, holding = self._sat(body, body, assignment)
        operators = self.checker.operators(pairs)
        stay = operators.exists_globally(holding)
        if operators.steps is not None:
            return FairLassos(self, operators, operators.steps, stay, env, assignment).found(state)
        search = Lassos(self, pairs, stay, env, assignment)
        found = search.in_rounds(state)
        return found if self.checker.constraints else search.shorter(state, *found)

    def run_into(self, states: Bdd) -> Trace:
        """A shortest run from an initial state into a set of reachable states."""
        start = self.model.trace_to(states).start
        self.enter(start)
        pairs = self.checker.pairs(TRUE, {})
        steps = self.run(pairs, self.model.reached, states, self._places[start], {}, {})
        return Trace(start, steps, of_many=not self.model.has_one_initial)

    # sets and runs, also for `lassos`

    def _sat(
        self, formula: Formula, scope: Formula, assignment: Mapping[str, Value]
    ) -> tuple[Mapping[str, Vector], Pairs, Bdd]:
        """⟦f⟧ over vectors for the free variables of ``scope``."""
        sorts = {x: self._sort_of(x, assignment[x], scope) for x in free_variables(scope)}
        env = self.checker.vectors(scope, sorts)
        pairs = self.checker.pairs(scope, env)
        return env, pairs, self.checker.sat(formula, env) & pairs.assignments

    def _sort_of(self, name: str, value: Value, scope: Formula) -> str:
        """The sort of a free variable: that of its value, and for a numeral of several sorts that of its
        uses."""
        listed = self.encoding.schema.listed.get(value, ())
        if len(listed) > 1:
            return used_sort(scope, name, self.encoding.schema) or listed[0]
        return self._sort(value)

    def _sort(self, value: Value) -> str:
        if value not in self._sorts:  # a value of the restriction that no state so far has held
            self._sorts[value] = next(s for s, values in self.encoding.values.items() if value in values)
        return self._sorts[value]

    def _in(
        self, pairs: Bdd, place: Place, env: Mapping[str, Vector], assignment: Mapping[str, Value]
    ) -> bool:
        """Whether (D, σ) is in a set of pairs, D and σ under the names that the diagrams use."""
        held = self.encoding.holding(*self._living_and_dead(place, env, assignment))
        return self._here(pairs, place) & held != self.manager.false

    def _here(self, pairs: Bdd, place: Place) -> Bdd:
        """The assignments that are in a set of pairs with the state of a place. The last ones are kept: they
        are asked for each value of a variable, of which there may be as many as records."""
        if self._last is None or self._last[:2] != (pairs, place.known):
            here = self.manager.exist(self.encoding.state_bits, pairs & self.model.singleton(place.known))
            self._last = pairs, place.known, here
        return self._last[2]

    def code(
        self, place: Place, env: Mapping[str, Vector], assignment: Mapping[str, Value]
    ) -> Mapping[str, bool]:
        """The bits of (D, σ) under the names that the diagrams use."""
        living, dead = self._living_and_dead(place, env, assignment)
        return {**self.encoding.encode(place.known), **self.encoding.assignment_code(living, dead)}

    def _living_and_dead(
        self, place: Place, env: Mapping[str, Vector], assignment: Mapping[str, Value]
    ) -> tuple[Mapping[Vector, Value], Mapping[Vector, Value]]:
        """What σ gives to the vectors, under the names that the diagrams use; and those that are dead, under
        their own."""
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
        """A shortest run through ``through`` into ``target``, of no step where the pair is in it."""
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
        """A step into a set of pairs."""
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
        """The step between two places, with the call that makes it; one ``among`` these, by that ``agent``,
        if they are given."""
        step = self.model.step_between(place.known, after.known, among, agent)
        self._enter(after)
        real = {name: value for value, name in place.names.items()}
        return Step(step.call.rename(real), after.real, step.actor)

    def successors_in(
        self,
        pairs: Bdd,
        place: Place,
        env: Mapping[str, Vector],
        assignment: Mapping[str, Value],
        like: Place | None = None,
    ) -> Iterator[Place]:
        """Where a step may lead so that (D', σ) is in a set of pairs; first what is most ``like`` a place. A
        fresh value may be one that the assignment still holds."""
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
        """The real names that the values of ``after`` may have: a value that stays keeps its own, a
        new one takes that of a dead value held by the assignment, or one not in use. A value of the last step
        that is not active is dead in the next."""
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
        dead = held.difference(*self.model.deployment.constants.values())
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
        """The name itself, or the next value of the sort that is not ``taken``."""
        if name not in taken:
            return name
        pool: Sequence[Value] = (
            *self.model.deployment.outside(sort, self.encoding.values[sort]),
            *self.model.restriction.beyond(sort, len(taken) + 1),
        )
        return next(value for value in pool if value not in taken)


def _of_history(state: Instance, sort: str) -> frozenset[Value]:
    """The values of a sort that stand in what a state keeps beside the database."""
    schema = state.schema
    return frozenset(
        value
        for relation in schema.history
        for args in state.by_relation.get(relation.name, ())
        for own, value in zip(relation.sorts, args, strict=True)
        if own == sort
    )
