"""Transitions over pairs (D, ν): the states together with the values that a formula's variables hold.

Over the literal domain an assignment never changes. With representatives it is stored as ν̂, in which
a value that is dead (active in no fact, and no constant) is only a mark, and
    (D, ν̂) → (D', retire(rebirth(ν̂))):
a dead value may be among the fresh ones that the transition draws and takes the name drawn; a value
that dies is replaced by a free mark. `naming` has the proof.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from stead_sym.relational.schema import Value
from stead_sym.symbolic.encoding import Vector
from stead_sym.symbolic.manager import Bdd
from stead_sym.symbolic.plan import Plan
from stead_sym.symbolic.transition import Partition, RelationalPartition, Transitions


class Pairs:
    """The transition relation over the state bits and some vectors, those of the variables V."""

    def __init__(self, plan: Plan, transitions: Transitions, vectors: Sequence[Vector]) -> None:
        self.plan = plan
        self.encoding = plan.encoding
        self.manager = plan.encoding.manager
        self.transitions = transitions
        self.vectors = tuple(vectors)
        self._of_sort: dict[str, list[Vector]] = {}
        for vector in self.vectors:
            self._of_sort.setdefault(vector.sort, []).append(vector)
        self._retiring: dict[str, dict[str, Bdd]] = {}
        self._deaths: dict[tuple[Partition, str], Mapping[Value, Bdd]] = {}

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

    def preimage(self, target: Bdd) -> Bdd:
        """The pairs with a successor in ``target``."""
        return self.manager.disj(self.through(partition, target) for partition in self.transitions)

    def through(self, partition: Partition | RelationalPartition, target: Bdd) -> Bdd:
        """The pairs that one partition takes into ``target``."""
        if self.plan.naming.literal or not self.vectors:
            return partition.preimage(target)
        if isinstance(partition, RelationalPartition):
            return self._ensuring(partition, self.manager.substitute(target, self._retirement))
        risen = self._rebirth(target, partition.action.fresh)
        return self._before(partition, risen, tuple(self._of_sort))

    def _before(self, partition: Partition, target: Bdd, sorts: tuple[str, ...]) -> Bdd:
        """`Partition.preimage` of the pairs whose values of ``sorts`` retire into ``target``.

        Few partitions let a value die, and those mostly one that they name; the substitution of
        `_retirement` is only made where several variables could hold the values that do.
        """
        m = self.manager
        if not sorts:
            return partition.preimage(target)
        first, rest = sorts[0], sorts[1:]
        dying = self._dying(partition, first)
        if not dying:
            return self._before(partition, target, rest)
        if len(self._of_sort[first]) > 1:
            return self._before(partition, m.substitute(target, self._retirement_of(first)), rest)
        (vector,) = self._of_sort[first]
        (mark,) = self._marks(first, (vector,))
        dead = m.disj(self.encoding.is_value(vector, value) & when for value, when in dying.items())
        living = self._before(partition, target, rest) & ~dead
        marked = m.cofactor(target, self.encoding.code(vector, mark))
        return living | (dead & self._before(partition, marked, rest))

    def _dying(self, partition: Partition, sort: str) -> Mapping[Value, Bdd]:
        """The values of a sort that the partition may take the last fact from, and where it does."""
        if (partition, sort) not in self._deaths:
            m, encoding = self.manager, self.encoding
            vector = self._of_sort[sort][0]
            active = encoding.active(sort, vector)
            before = partition.enabled & active & ~self._is_constant(vector)
            dies = before & ~m.substitute(active, partition.updates) if before != m.false else m.false
            values = encoding.tuples(m.exist(encoding.state_bits, dies), (vector,))
            self._deaths[partition, sort] = {
                value: m.cofactor(dies, encoding.code(vector, value)) for (value,) in values
            }
        return self._deaths[partition, sort]

    # rebirth

    def _rebirth(self, target: Bdd, fresh: Sequence[tuple[str, Value]]) -> Bdd:
        """The ν̂ that are in ``target``, or would be if each fresh value were one of their dead ones
        or a new one."""
        m, result = self.manager, target
        for sort, value in fresh:
            vectors = self._of_sort.get(sort, [])
            code = {v: {b: m.true if bit else m.false for b, bit in self.encoding.code(v, value).items()}
                    for v in vectors}  # fmt: skip
            risen = [
                m.substitute(result, self._where(vectors, mark, code)) for mark in self._marks(sort, vectors)
            ]
            result = m.disj([result, *risen])
        return result

    def _where(
        self, vectors: Sequence[Vector], mark: Value, code: Mapping[Vector, Mapping[str, Bdd]]
    ) -> Mapping[str, Bdd]:
        """The substitution that turns the vectors holding ``mark`` into something else."""
        m = self.manager
        return {
            bit: m.ite(self.encoding.is_value(vector, mark), code[vector][bit], m.var(bit))
            for vector in vectors
            for bit in vector.bits
        }

    def _ensuring(self, partition: RelationalPartition, retired: Bdd) -> Bdd:
        """`through` for an `ensure`, whose fresh values are all those that D' has and D has not."""
        m, encoding = self.manager, self.encoding
        after = m.substitute(retired, partition.prime)
        for sort, vectors in self._of_sort.items():
            drawn = encoding.unused(sort, vectors, "held")
            new = m.conj(
                [
                    encoding.active(sort, drawn, primed=True),
                    ~encoding.active(sort, drawn),
                    ~self._is_constant(drawn),
                    *(~encoding.equal(vector, drawn) for vector in vectors),
                ]
            )
            code = {v: dict(zip(v.bits, map(m.var, drawn.bits), strict=True)) for v in vectors}
            for mark in self._marks(sort, vectors):
                risen = m.substitute(after, self._where(vectors, mark, code))
                after = after | m.and_exist(frozenset(drawn.bits), new, risen)
        return m.and_exist(partition.primed_bits, partition.relation, after)

    # retirement

    @cached_property
    def _retirement(self) -> Mapping[str, Bdd]:
        """retire, as a substitution for the vectors' bits over the successor's bits and old vectors."""
        return {bit: new for sort in self._of_sort for bit, new in self._retirement_of(sort).items()}

    def _retirement_of(self, sort: str) -> Mapping[str, Bdd]:
        """retire for the vectors of one sort: a dead value becomes the mark of its equals among the
        earlier vectors, else the first mark that no vector holds or has just been given."""
        if sort in self._retiring:
            return self._retiring[sort]
        m, encoding = self.manager, self.encoding
        result = self._retiring[sort] = dict[str, Bdd]()
        vectors = self._of_sort[sort]
        given: list[Mapping[Value, Bdd]] = []  # per vector and mark: it dies and gets this mark
        for j, vector in enumerate(vectors):
            dies = ~m.disj([encoding.active(sort, vector), self._is_constant(vector), self._is_mark(vector)])
            equals = [encoding.equal(vector, earlier) for earlier in vectors[:j]]
            alone, before = ~m.disj(equals), m.true
            gets: dict[Value, Bdd] = {}
            for mark in self._marks(sort, vectors):
                free = ~m.disj(
                    [
                        *(encoding.is_value(other, mark) for other in vectors if other != vector),
                        *(earlier[mark] for earlier in given),
                    ]
                )
                inherited = m.disj(
                    equal & earlier[mark] for equal, earlier in zip(equals, given, strict=True)
                )
                gets[mark] = dies & (inherited | (alone & before & free))
                before = before & ~free
            given.append(gets)
            for bit in vector.bits:
                marked = m.disj(when for mark, when in gets.items() if encoding.code(vector, mark)[bit])
                result[bit] = m.ite(dies, marked, m.var(bit))
        return result

    def _marks(self, sort: str, vectors: Sequence[Vector]) -> Sequence[Value]:
        """As many marks as vectors: more are never held at once."""
        return self.encoding.phantoms[sort][: len(vectors)]

    def _is_mark(self, vector: Vector) -> Bdd:
        return self.encoding.is_among(vector, self._marks(vector.sort, self._of_sort[vector.sort]))

    def _is_constant(self, vector: Vector) -> Bdd:
        return self.encoding.is_among(vector, self.plan.deployment.constants[vector.sort])
