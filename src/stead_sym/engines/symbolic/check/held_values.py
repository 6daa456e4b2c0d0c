r"""Pairs (D, ν) of a state and the values of a formula's variables, and the transitions between them.

Over the literal domain an assignment never changes. With representatives a pair is coded as (D, ν̂, ∼), see
"What an assignment is" in `encode.representatives`:

    ν̂(x) ∈ ad(D) ∪ C, or x is dead: ν(x) is active in no fact of D and no constant;
    x ∼ y  iff  x and y are dead and ν(x) = ν(y).

(D, ν̂, ∼) → (D', ν̂', ∼') iff D → D' and, for all variables x and y of one sort,

    keeps(x):    x lives and ν̂(x) ∈ ad(D') ∪ C  ⟹  ν̂'(x) = ν̂(x),
                 x lives and ν̂(x) ∉ ad(D') ∪ C  ⟹  x is dead in ν̂',
                 x is dead  ⟹  x is dead in ν̂', or ν̂'(x) ∈ ad(D') \\ (ad(D) ∪ C);
    same(x, y):  x and y hold the same value before iff they do afterwards.

The third line is rebirth: a fresh value may be one that a variable still holds. The conditions depend on D
and D' alone, since the drawn values are those that D' has and D has not.

If a state records its last step, ad(D) in the definition of a code also has the arguments of that step: `did
w(x)` may be true of a value that has left with the step. In the next step such a variable behaves like a dead
one: no argument of a step is inactive, so its value is in the next state iff it is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import combinations, permutations

from stead_sym.engines.symbolic.bdd.manager import Bdd, Bits
from stead_sym.engines.symbolic.bdd.relation import Relation
from stead_sym.engines.symbolic.encode.values import Vector
from stead_sym.engines.symbolic.plan.planner import Plan
from stead_sym.engines.symbolic.step.transitions import Transitions
from stead_sym.relational.schema import Value
from stead_sym.support.progress import Pulse


class Pairs:
    """The pairs over the state bits and the `bits` of some vectors, those of the variables V.

    Invariant: the code of a pair restricted to V' ⊂ V is the code of the restricted pair. So a set computed
    over V' is one over V without change, intersected with `assignments`.
    """

    def __init__(
        self, plan: Plan, transitions: Transitions, vectors: Sequence[Vector], report: Pulse
    ) -> None:
        self.plan = plan
        self.encoding = plan.encoding
        self.manager = plan.encoding.manager
        self.vectors = tuple(vectors)
        self._steps = plan.deployment.history.whole_steps
        """The relations that record the arguments of the last step."""
        self._mortal = tuple(vector for vector in self.vectors if vector.mortal)
        self._transitions = transitions
        self._report = report

    @cached_property
    def bits(self) -> Bits:
        """The bits of an assignment: those of the vectors, and one per pair that may be dead together."""
        return frozenset(self.encoding.held_bits(self.vectors))

    @cached_property
    def assignments(self) -> Bdd:
        """The codes of assignments in a state, over the state bits and `bits`.

        A vector names any value of U_f or, if it is mortal, an active value, a constant or nothing; ∼ is an
        equivalence on the dead ones.
        """
        m, encoding = self.manager, self.encoding
        return m.conj(
            [
                *(encoding.valid(v) for v in self.vectors if not v.mortal),
                *(encoding.dead(v) | self._lives(v) for v in self._mortal),
                *self._equivalence(),
            ]
        )

    def _lives(self, vector: Vector) -> Bdd:
        """Return the condition that the vector names an active value, a constant, or one of the last step."""
        constants = self.plan.deployment.constants[vector.sort]
        listed = self.encoding.active(vector.sort, vector) | self.encoding.is_among(vector, constants)
        of_step = {value: self.of_step(vector.sort, value) for value in self.encoding.values[vector.sort]}
        return listed | self.encoding.table(vector, of_step) if self._steps else listed

    def of_step(self, sort: str, value: Value, *, primed: bool = False) -> Bdd:
        """Return the states whose last step has the value among its arguments."""
        encoding = self.encoding
        return self.manager.disj(
            encoding.atom(fact, primed)
            for relation in self._steps
            for fact in encoding.dynamic_facts[relation.name]
            if (sort, value) in zip(relation.sorts, fact.args, strict=True)
        )

    def _equivalence(self) -> Iterator[Bdd]:
        """Yield the conditions that ∼ holds between dead vectors only, and is transitive."""
        m, encoding = self.manager, self.encoding
        for left, right in encoding.mortal_pairs(self._mortal):
            both = encoding.dead(left) & encoding.dead(right)
            yield ~m.var(encoding.same_dead(left, right)) | both
        for left, middle, right in permutations(self._mortal, 3):
            if left.sort == middle.sort == right.sort and left.bits < right.bits:
                first = m.var(encoding.same_dead(left, middle)) & m.var(encoding.same_dead(middle, right))
                yield ~first | m.var(encoding.same_dead(left, right))

    # Transitions.

    @cached_property
    def relation(self) -> Relation:
        """The relation (D, ν̂, ∼) → (D', ν̂', ∼')."""
        transitions = self._transitions
        return self.along(transitions.parts, transitions.chosen) if self._mortal else transitions

    def along(self, parts: Iterable[Bdd], chosen: Bits = frozenset()) -> Relation:
        """Return the relation restricted to some of the steps D → D', which may range over other bits too.

        See `Relation` for these bits.
        """
        moving = (*self._transitions.moving, *self._moving)
        kept = (part & self._keeping for part in parts)
        return Relation(self.manager, kept, moving, self._report, chosen)

    @cached_property
    def _moving(self) -> Sequence[tuple[str, str]]:
        """The bits of mortal vectors with their copies."""
        for vector in self._mortal:
            self.encoding.successor(vector)
        return [(bit, self.encoding.primed(bit)) for bit in self.encoding.held_bits(self._mortal)]

    @cached_property
    def _keeping(self) -> Bdd:
        """The conjunction of keeps(x) and same(x, y) for all variables."""
        return self.manager.conj([*map(self._keeps, self._mortal), *self._keep_equality()])

    def _keeps(self, vector: Vector) -> Bdd:
        """Return keeps(x), over the vector, its copy, D and D'."""
        encoding, sort = self.encoding, vector.sort
        after, constants = encoding.successor(vector), self.plan.deployment.constants[sort]
        stays: dict[Value, Bdd] = {}
        drawn: dict[Value, Bdd] = {}
        now = {value: encoding.is_value(after, value) for value in encoding.values[sort]}
        for value, named in now.items():
            if value in constants:
                stays[value] = named
            else:
                active = encoding.active(sort, value, primed=True)
                stays[value] = named.equiv(active | self.of_step(sort, value, primed=True))
                drawn[value] = active & ~encoding.active(sort, value)
        lives = encoding.one_hot_table(vector, stays, {value: ~named for value, named in now.items()})
        reborn = encoding.dead(after) | encoding.table(after, drawn)
        if not self._steps:
            return lives | (encoding.dead(vector) & reborn)
        left = {
            value: ~encoding.active(sort, value) for value in encoding.values[sort] if value not in constants
        }
        gone = encoding.table(vector, left)
        return (lives & ~gone) | ((encoding.dead(vector) | gone) & reborn)

    def _keep_equality(self) -> Iterator[Bdd]:
        """Yield same(x, y) for all x and y of one sort, over their vectors and the copies of these."""
        m, encoding = self.manager, self.encoding
        for left, right in combinations(self._mortal, 2):
            if left.sort == right.sort:
                after = encoding.successor(left), encoding.successor(right)
                bit = encoding.primed(encoding.same_dead(left, right))
                together = m.var(bit) & encoding.dead(after[0]) & encoding.dead(after[1])
                yield encoding.equal(left, right).equiv(encoding.equal_living(*after) | together)
                yield ~m.var(bit) | together
