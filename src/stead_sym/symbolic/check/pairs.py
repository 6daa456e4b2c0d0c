"""Transitions over pairs (D, ν): the states together with the values that a formula's variables hold.

Over the literal domain an assignment never changes. With representatives it is stored as ν̂, in which
a value that is dead (active in no fact, and no constant) is only a mark, and
    (D, ν̂) → (D', retire(rebirth(ν̂))):
a dead value may be among the fresh ones that the transition draws and takes the name drawn; a value
that dies is replaced by a free mark. `encode.representatives` has the proof. Both are
relations that depend on D and D' alone: the values drawn are those that D' has and D has not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import combinations

from stead_sym.progress import Pulse
from stead_sym.relational.schema import Value
from stead_sym.symbolic.bdd.manager import Bdd
from stead_sym.symbolic.bdd.relation import Relation
from stead_sym.symbolic.encode.encoding import Vector, bits_of
from stead_sym.symbolic.plan.planner import Plan
from stead_sym.symbolic.step.transitions import Transitions


class Pairs:
    """The transition relation over the state bits and some vectors, those of the variables V."""

    def __init__(
        self, plan: Plan, transitions: Transitions, vectors: Sequence[Vector], report: Pulse
    ) -> None:
        self.plan = plan
        self.encoding = plan.encoding
        self.manager = plan.encoding.manager
        self.vectors = tuple(vectors)
        self._transitions = transitions
        self._report = report
        self._of_sort: dict[str, list[Vector]] = {}
        for vector in self.vectors:
            self._of_sort.setdefault(vector.sort, []).append(vector)

    @cached_property
    def assignments(self) -> Bdd:
        """What the vectors may hold beside a state: any value of U_f, or with representatives an
        active value, a constant or a mark."""
        m, encoding = self.manager, self.encoding
        if self.plan.naming.literal:
            return m.conj(encoding.valid(vector) for vector in self.vectors)
        return m.conj(
            encoding.valid(v, phantoms=True)
            & m.disj([encoding.active(v.sort, v), self._is_constant(v), self._is_mark(v)])
            for v in self.vectors
        )

    @cached_property
    def relation(self) -> Relation:
        """(D, ν̂) → (D', ν̂')."""
        moved = [v for sort, vectors in self._of_sort.items() if self._mortal(sort) for v in vectors]
        if not moved:
            return self._transitions
        m = self.manager
        moving = [*self._transitions.moving]
        for vector in moved:
            moving += zip(vector.bits, self.encoding.successor(vector).bits, strict=True)
        holding = m.conj(
            self._holding(sort, vectors) for sort, vectors in self._of_sort.items() if self._mortal(sort)
        )
        parts = (part & holding for part in self._transitions.parts)
        return Relation(m, parts, moving, self._report)

    def _mortal(self, sort: str) -> bool:
        """Whether there are names for values that can die."""
        others = self.plan.deployment.outside(sort, self.encoding.values[sort])
        return bool(others) and not self.plan.naming.literal

    def _holding(self, sort: str, vectors: Sequence[Vector]) -> Bdd:
        """ν̂' = retire(rebirth(ν̂)) for the vectors of one sort, over D and D'."""
        m, encoding = self.manager, self.encoding
        risen = [encoding.vector("risen", sort, k) for k in range(len(vectors))]
        after = [encoding.successor(vector) for vector in vectors]
        relation = m.conj(
            [
                *(encoding.valid(v, phantoms=True) for v in (*vectors, *risen, *after)),
                *self._rebirth(sort, vectors, risen),
                *self._retirement(sort, risen, after),
            ]
        )
        return m.exist(frozenset(bits_of(risen)), relation)

    # rebirth

    def _rebirth(self, sort: str, vectors: Sequence[Vector], risen: Sequence[Vector]) -> Iterable[Bdd]:
        """``risen`` is ``vectors`` with some marks replaced by values drawn, each by one of its own."""
        m, encoding = self.manager, self.encoding
        for vector, after in zip(vectors, risen, strict=True):
            drawn = m.conj(
                [
                    encoding.active(sort, after, primed=True),
                    ~encoding.active(sort, after),
                    ~self._is_constant(after),
                ]
            )
            yield encoding.equal(vector, after) | (self._is_mark(vector) & drawn)
        for (v, after), (w, other) in combinations(zip(vectors, risen, strict=True), 2):
            yield encoding.equal(v, w).equiv(encoding.equal(after, other))

    # retirement

    def _retirement(self, sort: str, risen: Sequence[Vector], after: Sequence[Vector]) -> Iterable[Bdd]:
        """``after`` is ``risen`` with dead values replaced: one becomes the mark of its equals among the
        earlier vectors, else the first mark that no vector holds or has just been given."""
        m, encoding = self.manager, self.encoding
        given: list[dict[Value, Bdd]] = []  # per vector and mark: it dies and gets this mark
        for j, vector in enumerate(risen):
            active = encoding.active(sort, vector, primed=True)
            dies = ~m.disj([active, self._is_constant(vector), self._is_mark(vector)])
            equals = [encoding.equal(vector, earlier) for earlier in risen[:j]]
            alone, before = ~m.disj(equals), m.true
            gets: dict[Value, Bdd] = {}
            for mark in self._marks(sort):
                free = ~m.disj(
                    [
                        *(encoding.is_value(other, mark) for other in risen if other != vector),
                        *(earlier[mark] for earlier in given),
                    ]
                )
                inherited = m.disj(
                    equal & earlier[mark] for equal, earlier in zip(equals, given, strict=True)
                )
                gets[mark] = dies & (inherited | (alone & before & free))
                before = before & ~free
            given.append(gets)
            marked = m.disj(when & encoding.is_value(after[j], mark) for mark, when in gets.items())
            yield m.ite(dies, marked, encoding.equal(vector, after[j]))

    def _marks(self, sort: str) -> Sequence[Value]:
        """As many marks as vectors: more are never held at once."""
        return self.encoding.phantoms[sort][: len(self._of_sort[sort])]

    def _is_mark(self, vector: Vector) -> Bdd:
        return self.encoding.is_among(vector, self._marks(vector.sort))

    def _is_constant(self, vector: Vector) -> Bdd:
        return self.encoding.is_among(vector, self.plan.deployment.constants[vector.sort])
