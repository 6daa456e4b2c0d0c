r"""Pairs of a state and an assignment to variables that a formula holds, and the steps between them.

In mode `theorem` an assignment ν is constant. In mode `normal` a pair is (D, ν̂, ∼), where ν̂(x) is a value
of ad(D) ∪ C or dead, and x ∼ y for dead x and y with ν(x) = ν(y). For D → D' the pair steps to all (D', ν̂',
∼') with

    ν̂(x) = u ∈ C                       ⟹  ν̂'(x) = u
    ν̂(x) = u ∉ C,  u ∈ ad(D')           ⟹  ν̂'(x) = u
    ν̂(x) = u ∉ C,  u ∉ ad(D')           ⟹  x is dead in ν̂'
    x is dead                           ⟹  x is dead in ν̂', or ν̂'(x) ∈ ad(D') \ (ad(D) ∪ C)
    x, y hold the same value before     ⟺  they do afterwards

The fourth line is a value that returns. If states record the last step, a value of that step has a name
although it is not active (read "∈ ad(D'), or of the step into D'"), and the next step treats it as dead.
`symbolic.encode.representatives` explains why these pairs are exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import permutations

from stead_sym.certificate.checker.formulas import Facts, Formulas
from stead_sym.certificate.checker.space import Space, Vector, copy_of, mortal_pairs, same_dead_bit
from stead_sym.engines.symbolic.bdd.manager import Bdd, Bits
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Schema, Value

NOTHING: Mapping[tuple[str, Value], Sequence[Fact]] = {}


class Steps:
    """The steps D → D' of R: a relation per tool over the bits of facts and their copies."""

    def __init__(
        self,
        space: Space,
        schema: Schema,
        now: Formulas,
        constants: dict[str, tuple[Value, ...]],
        reached: Bdd,
        of_steps: Mapping[tuple[str, Value], Sequence[Fact]] = NOTHING,
    ) -> None:
        """Set up the formulas over D'.

        ``of_steps`` has for each value the facts that state that the last step has it (`past.of_steps`).
        """
        self.space = space
        self.now = now
        self.constants = constants
        self.reached = reached
        self.of_steps = of_steps
        self.parts: tuple[Bdd, ...] = ()
        self.later = Formulas(
            space,
            schema,
            Facts(
                schema,
                {f: space.after(f) for f in space.atoms} | dict.fromkeys(space.static, space.manager.true),
            ),
        )
        self._pairs: dict[tuple[str, ...], Pairs] = {}

    def pairs(self, vectors: Sequence[Vector]) -> Pairs:
        """Return the pairs over these vectors."""
        listed = sorted(vectors, key=lambda vector: vector.name)
        key = tuple(vector.name for vector in listed)
        if key not in self._pairs:
            self._pairs[key] = Pairs(self, listed)
        return self._pairs[key]


class Pairs:
    """The pairs over the bits of the facts and of some vectors."""

    def __init__(self, steps: Steps, vectors: Sequence[Vector]) -> None:
        self._now, self._later = steps.now, steps.later  # not the steps, which refer to the pairs
        self._constants, self._reached, self._of_tools = steps.constants, steps.reached, steps.parts
        self._of_steps = steps.of_steps
        self.space = steps.space
        self.manager = steps.space.manager
        self.vectors = tuple(vectors)
        self._mortal = tuple(vector for vector in vectors if vector.mortal)

    @cached_property
    def everywhere(self) -> Bdd:
        """R with all assignments."""
        m, space = self.manager, self.space
        result = self._reached
        for vector in self.vectors:
            if vector.mortal:
                constants = self._constants[vector.sort]
                living = {
                    value: m.true if value in constants else self._lives(vector.sort, value)
                    for value in vector.bits
                }
                result = result & (space.table(vector, living) | space.dead(vector))
            else:
                result = result & space.exactly_one(vector)
        for left, right in mortal_pairs(self._mortal):
            result = result & (~space.same_dead(left, right) | (space.dead(left) & space.dead(right)))
        for left, middle, right in permutations(self._mortal, 3):
            if left.sort == middle.sort == right.sort:
                chain = space.same_dead(left, middle) & space.same_dead(middle, right)
                result = result & (~chain | space.same_dead(left, right))
        return result

    @cached_property
    def bits(self) -> Bits:
        """The bits of the facts and of the assignments."""
        own = [bit for vector in self.vectors for bit in vector.bits.values()]
        return frozenset((*self._moving, *own))

    @cached_property
    def _moving(self) -> tuple[str, ...]:
        own = [bit for vector in self._mortal for bit in vector.bits.values()]
        same = [same_dead_bit(*pair) for pair in mortal_pairs(self._mortal)]
        return (*self.space.atoms.values(), *own, *same)

    @cached_property
    def _parts(self) -> tuple[Bdd, ...]:
        if not self._mortal:
            return self._of_tools
        keeping = self.manager.conj([*map(self._keeps, self._mortal), *self._keep_equality()])
        return tuple(part & keeping for part in self._of_tools)

    def _lives(self, sort: str, value: Value, *, after: bool = False) -> Bdd:
        """Return where the value is active, or one of the last step."""
        fact_of = self.space.after if after else self.space.now
        told = self.manager.disj(map(fact_of, self._of_steps.get((sort, value), ())))
        return (self._later if after else self._now).active(sort, value) | told

    def _keeps(self, vector: Vector) -> Bdd:
        m, space, sort = self.manager, self.space, vector.sort
        after, constants = space.copied(vector), self._constants[sort]
        gone = space.dead(after)
        outside = [value for value in vector.bits if value not in constants]
        drawn = {u: self._later.active(sort, u) & ~self._now.active(sort, u) for u in outside}
        back = gone | space.table(after, drawn)
        entries: dict[Value, Bdd] = {}
        for value in vector.bits:
            same = m.cube(space.code(after, value))
            if value in constants:
                entries[value] = same
                continue
            entries[value] = m.ite(self._lives(sort, value, after=True), same, gone)
            if (sort, value) in self._of_steps:  # it may live only by the last step, until the next
                entries[value] = m.ite(self._now.active(sort, value), entries[value], back)
        return space.table(vector, entries) | (space.dead(vector) & back)

    def _keep_equality(self) -> Iterator[Bdd]:
        space = self.space
        for left, right in mortal_pairs(self._mortal):
            after = space.copied(left), space.copied(right)
            yield space.equal(left, right).equiv(space.equal(*after))
            yield ~space.same_dead(*after) | (space.dead(after[0]) & space.dead(after[1]))

    @cached_property
    def _copies(self) -> frozenset[str]:
        return frozenset(map(copy_of, self._moving))

    @cached_property
    def _prime(self) -> dict[str, Bdd]:
        return {bit: self.manager.var(copy_of(bit)) for bit in self._moving}

    def preimage(self, target: Bdd) -> Bdd:
        """Return pre(X) for X ⊆ `everywhere`, within `everywhere`."""
        m = self.manager
        after = m.substitute(target, self._prime)
        return self.everywhere & m.disj(m.and_exist(self._copies, part, after) for part in self._parts)

    @property
    def domain(self) -> Bdd:
        """The pairs with a step."""
        return self.manager.disj(self.manager.exist(self._copies, part) for part in self._parts)

    def image_by(self, part: Bdd, states: Bdd) -> Bdd:
        """Return the successors of some states by one relation, for pairs without vectors."""
        m = self.manager
        after = m.and_exist(frozenset(self._moving), states, part)
        return m.substitute(after, {copy_of(bit): m.var(bit) for bit in self._moving})
