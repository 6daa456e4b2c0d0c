"""The variables of the checker: a bit per fact that may change, and one-hot bits for values.

    fact P(u1, …, uq)          the bit `P(u1, …, uq)`, and its copy for the successor
    x = u for a vector x       the bit `x=u`; x is the i-th vector of its sort, `sort#i`
    x ~ y for two dead ones    the bit `x~y`

A vector represents a variable that a formula holds. In mode `normal` it may be dead: none of its bits is set.
One decision: the order is the reversed order of the hints of the certificate. It determines how large
diagrams become, never what they mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

from stead_sym.engines.symbolic.bdd.manager import Bdd, Manager
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Value, tells_history

Leaf = tuple[tuple[Value, ...], Bdd]


@dataclass(frozen=True, eq=False)
class Vector:
    """A variable over the ``values`` of a sort, with a bit for each.

    Two vectors are equal only if they are the same object.
    """

    name: str
    sort: str
    bits: Mapping[Value, str]
    mortal: bool = False
    primed: bool = False

    def __str__(self) -> str:
        """Return the name."""
        return self.name


@dataclass
class Space:
    """The bits of one certificate.

    ``atoms`` are the facts that may change, with their bits; a ``static`` fact is true; any other is false.
    """

    manager: Manager
    domain: Mapping[str, tuple[Value, ...]]
    atoms: Mapping[Fact, str]
    static: frozenset[Fact]
    mortal: frozenset[str]
    vectors: dict[str, Vector] = field(default_factory=dict)
    _by_level: dict[Vector, Sequence[tuple[Value, Bdd]]] = field(default_factory=dict)

    @property
    def bits(self) -> tuple[str, ...]:
        """The bits of the facts and of the existing vectors, without copies."""
        vectors = [vector for vector in self.vectors.values() if not vector.primed]
        own = (bit for vector in vectors for bit in vector.bits.values())
        same = (same_dead_bit(*pair) for pair in mortal_pairs(vectors))
        return (*self.atoms.values(), *own, *same)

    @cached_property
    def database(self) -> tuple[Fact, ...]:
        """The facts of the database that may change."""
        return tuple(fact for fact in self.atoms if not tells_history(fact.relation))

    @cached_property
    def told(self) -> tuple[Fact, ...]:
        """The facts about the last step and the past that may change."""
        return tuple(fact for fact in self.atoms if tells_history(fact.relation))

    def now(self, fact: Fact) -> Bdd:
        """Return the states in which a listed fact holds."""
        return self.manager.var(self.atoms[fact])

    def after(self, fact: Fact) -> Bdd:
        """Return the successor states in which a listed fact holds, over the copies."""
        return self.manager.var(copy_of(self.atoms[fact]))

    # vectors

    def vector(self, sort: str, index: int, kind: str = "") -> Vector:
        """Return the ``index``-th vector of a sort.

        Vectors for the names of contexts have another ``kind``.
        """
        name = f"{kind}{sort}#{index}"
        if name not in self.vectors:
            bits = {value: f"{name}={value}" for value in self.domain[sort]}
            self.vectors[name] = Vector(name, sort, bits, mortal=not kind and sort in self.mortal)
        return self.vectors[name]

    def unused(self, sort: str, taken: Iterable[Vector | Value]) -> Vector:
        """Return the first vector of the sort that is not taken."""
        used, index = {id(term) for term in taken}, 0
        while id(vector := self.vector(sort, index)) in used:
            index += 1
        return vector

    def copied(self, vector: Vector) -> Vector:
        """Return the vector of the successor's copies."""
        name = copy_of(vector.name)
        if name not in self.vectors:
            bits = {value: copy_of(bit) for value, bit in vector.bits.items()}
            self.vectors[name] = Vector(name, vector.sort, bits, vector.mortal, primed=True)
        return self.vectors[name]

    def is_value(self, term: Vector | Value, value: Value) -> Bdd:
        """Return term = value, for a vector of which one bit is set."""
        if isinstance(term, str):
            return self.manager.true if term == value else self.manager.false
        bit = term.bits.get(value)
        return self.manager.false if bit is None else self.manager.var(bit)

    def dead(self, vector: Vector) -> Bdd:
        """Return where no bit of the vector is set."""
        return self.manager.cube(dict.fromkeys(vector.bits.values(), False))

    def code(self, vector: Vector, value: Value) -> Mapping[str, bool]:
        """Return the bits of vector = value."""
        return {bit: known == value for known, bit in vector.bits.items()}

    def table(self, vector: Vector, entries: Mapping[Value, Bdd]) -> Bdd:
        """Return ⋁ over the entries (u, f) of: exactly the bit `vector=u` is set, and f."""
        m = self.manager
        if vector not in self._by_level:
            ranked = sorted(vector.bits.items(), key=lambda pair: m.level(pair[1]), reverse=True)
            self._by_level[vector] = [(value, m.var(bit)) for value, bit in ranked]
        none, one = m.true, m.false
        for value, bit in self._by_level[vector]:
            one = m.ite(bit, entries.get(value, m.false) & none, one)
            none = ~bit & none
        return one

    def exactly_one(self, vector: Vector) -> Bdd:
        """Return where exactly one bit of the vector is set."""
        return self.table(vector, dict.fromkeys(vector.bits, self.manager.true))

    def choice(self, terms: tuple[Vector | Value, ...], leaves: Sequence[Leaf]) -> Bdd:
        """Return ⋁ over the leaves (u, f) of terms = u ∧ f."""
        if not terms:
            return self.manager.disj(leaf for _, leaf in leaves)
        first, rest = terms[0], terms[1:]
        groups: dict[Value, list[Leaf]] = {}
        for args, leaf in leaves:
            groups.setdefault(args[0], []).append((args[1:], leaf))
        if isinstance(first, str):
            return self.choice(rest, groups.get(first, []))
        return self.table(first, {value: self.choice(rest, group) for value, group in groups.items()})

    def same_dead(self, left: Vector, right: Vector) -> Bdd:
        """Return the bit that states that two dead vectors hold the same value."""
        return self.manager.var(same_dead_bit(left, right))

    def equal_living(self, left: Vector, right: Vector) -> Bdd:
        """Return where the two vectors name the same value."""
        m = self.manager
        return self.table(left, {value: m.var(bit) for value, bit in right.bits.items()})

    def equal(self, left: Vector | Value, right: Vector | Value) -> Bdd:
        """Return left = right; two dead vectors are equal where their bit is set."""
        if isinstance(left, str):
            return self.is_value(right, left)
        if isinstance(right, str):
            return self.is_value(left, right)
        if left is right:
            return self.manager.true
        living = self.equal_living(left, right)
        return living | self.same_dead(left, right) if left.mortal and right.mortal else living


def copy_of(bit: str) -> str:
    """Return the successor's copy of a bit or vector."""
    return f"{bit}'"


def same_dead_bit(left: Vector, right: Vector) -> str:
    """Return the name of the bit of two mortal vectors."""
    first, second = sorted((left.name.rstrip("'"), right.name.rstrip("'")), key=lambda n: (len(n), n))
    return f"{first}~{second}" + "'" * left.primed


def mortal_pairs(vectors: Iterable[Vector]) -> list[tuple[Vector, Vector]]:
    """Return the pairs of mortal vectors of one sort."""
    mortal = sorted((v for v in vectors if v.mortal), key=lambda v: (v.sort, v.name))
    return [(left, right) for left, right in combinations(mortal, 2) if left.sort == right.sort]
