"""Values as bits: vectors, each a variable that ranges over the values of one sort.

A *log-coded* vector numbers the values; it is above the state bits: with x on top, P(x, …) is a decision tree
over x. Those of one sort are interleaved, so that x = y takes a node or two per bit.

A *one-hot* vector has a bit per value, of which exactly one holds, each next to the bits of the record that
it names. A diagram for a set of pairs (D, x) with x on top holds a copy of the states for each value of x.
With the bits of x next to the records it is about twice as large as that of the states: from the top down it
only has to encode if the record that x names has been passed. The bits for one value are adjacent, whichever
vectors they belong to: if they were apart, x = y would take 2^n nodes for n values.

A `fresh` statement may draw a value *beyond* the restriction U_f. Log-coded vectors have codes for a few of
these; a one-hot vector for a fresh value has no bit set then. A vector for a variable of a specification has
no bit set if it is *dead*: the variable's value occurs in no fact and is no constant. For two of these an
additional bit, `same_dead`, encodes that their values are equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType
from typing import assert_never

import stead_sym.logic.syntax as fo
from stead_sym.engines.symbolic.bdd.manager import Bdd, Bits, Manager
from stead_sym.engines.symbolic.bdd.union import union
from stead_sym.relational.schema import Value, is_numeral

HELD = "held"
"""The role of vectors for variables of specifications."""
FRESH = "fresh"
"""The role of vectors for fresh values, if these are any unused ones."""
PARAM = "param"
"""The role of vectors for parameters of calls, and for views; one-hot, except for numbers."""
FAIR = "fair"
"""The role of vectors for the arguments of a constraint on actions, coded like parameters."""
ONE_HOT = frozenset({HELD, FRESH, PARAM, FAIR, "name"})
"""The roles of one-hot vectors: these four, and names of a context."""


@dataclass(frozen=True, slots=True)
class Vector:
    """A variable of one sort.

    Log-coded, ``bits`` have the most significant first; ``one_hot``, there is one bit per value. ``mortal``:
    the vector may be dead, with none of its bits set.
    """

    sort: str
    bits: tuple[str, ...]
    one_hot: bool = False
    mortal: bool = False

    def __hash__(self) -> int:
        """Return the hash of one bit.

        No two vectors share any, and a one-hot vector has a bit for each record.
        """
        return hash(self.bits[0])


class Values:
    """The values of one restriction as bits.

    ``values`` are those of U_f per sort, ``beyond`` is the number of additional ones that log-coded vectors
    can name. ``mortal`` are the sorts whose values a variable of a specification may outlive. ``first`` is
    the least integer of each sort of integers: the code of a value is its offset from it.
    """

    def __init__(
        self,
        manager: Manager,
        values: Mapping[str, tuple[Value, ...]],
        beyond: Mapping[str, int] = MappingProxyType({}),
        mortal: Set[str] = frozenset(),
        beside: Mapping[Value, str] = MappingProxyType({}),
    ) -> None:
        """Create the codes; ``beside`` maps a value to the state bit below its bits in one-hot vectors."""
        self.manager = manager
        self.values = values
        self.beyond = {
            sort: tuple(f"{sort}?{k}" for k in range(1, beyond.get(sort, 0) + 1)) for sort in values
        }
        self.first = {
            sort: int(listed[0]) for sort, listed in values.items() if listed and all(map(is_numeral, listed))
        }
        self.mortal = mortal
        self._beside = beside
        self._codes = {
            sort: {value: k for k, value in enumerate((*listed, *self.beyond[sort]))}
            for sort, listed in values.items()
        }
        self._vectors: dict[tuple[str, str, int], Vector] = {}
        self._neighbours: dict[tuple[str, Value], str] = {}  # the topmost one-hot bit of a value
        self._names: dict[str, tuple[Vector, Value]] = {}  # the vector and the value of a one-hot bit
        self._of_weight: dict[int, str] = {}  # the topmost bit of each weight of interleaved fields
        self._is_value: dict[tuple[Vector, Value], Bdd] = {}
        self._valid: dict[Vector, Bdd] = {}

    @staticmethod
    def is_beyond(value: Value) -> bool:
        """Return True if the value represents one outside U_f (its name is no identifier of the language)."""
        return "?" in value

    @staticmethod
    def primed(bit: str) -> str:
        """Return the successor's copy of a bit, directly below it."""
        return f"{bit}'"

    # Declaration.

    def vector(self, role: str, sort: str, index: int) -> Vector:
        """Return the ``index``-th vector of a sort in a role.

        The role is one of `ONE_HOT`, or `var`, log-coded, for variables that are quantified or enumerated at
        once.
        """
        key = (role, sort, index)
        if key not in self._vectors:
            name = _name(role, sort, index)
            if self._is_one_hot(role, sort):
                vector = self._declare_one_hot(name, sort, role == HELD and sort in self.mortal)
            else:
                vector = self._declare(name, sort)
            self._vectors[key] = vector
        return self._vectors[key]

    def _is_one_hot(self, role: str, sort: str) -> bool:
        """Return True if vectors of the role and sort are one-hot.

        A number names no record. Parameters that are numbers are log-coded: their one-hot bits, one for each
        number, would be above all others.
        """
        return role in ONE_HOT and not (role in (PARAM, FAIR) and sort in self.first)

    def _standing_above(self, foreseen: Mapping[tuple[str, str], int]) -> Mapping[str | None, Sequence[str]]:
        """Return the bits of the first one-hot vectors of each role and sort, by the state bit below them.

        ``foreseen`` has the number of vectors. Bits are listed from the top; those above all state bits are
        under None.
        """
        of_value: dict[tuple[str, Value], list[str]] = {}
        for (role, sort), number in foreseen.items():
            if not self._is_one_hot(role, sort):
                continue
            for name in (_name(role, sort, index) for index in range(number)):
                for value in self.values[sort]:
                    of_value.setdefault((sort, value), []).append(_one_hot_bit(name, value))
        above: dict[str | None, list[str]] = {}
        for (sort, value), bits in of_value.items():
            above.setdefault(self._beside.get(value), []).extend(reversed(bits))
            self._neighbours[sort, value] = bits[-1]
        return above

    def _declare(self, name: str, sort: str) -> Vector:
        width = max(1, (len(self._codes[sort]) - 1).bit_length())
        bits = tuple(f"{name}.{j}" for j in range(width))
        log_coded = [v for v in reversed(self._vectors.values()) if not v.one_hot]
        beside = next((v for v in log_coded if v.sort == sort), None)
        if beside is None and sort in self.first:  # interleave integers of all sorts by weight
            beside = next((v for v in log_coded if v.sort in self.first), None)
        below = () if beside is None else beside.bits[-width:]
        own = bits[: width - len(below)]
        if below:
            for bit in own:
                self.manager.declare_above(bit, below[0])
        elif sort in self.first and self._of_weight:
            most = max(self._of_weight)
            for weight, bit in zip(reversed(range(width)), own, strict=True):
                self.manager.declare_above(bit, self._of_weight[min(weight, most)])
            return Vector(sort, bits)
        elif sort in self.first and log_coded:  # below the names, which are enumerated first
            lowest = max(bits_of(log_coded), key=self.manager.level)
            for bit in reversed(own):
                self.manager.declare_below(bit, lowest)
        else:
            self.manager.declare_top(own)
        for bit, neighbour in zip(bits[len(own) :], below, strict=True):
            self.manager.declare_below(bit, neighbour)
        return Vector(sort, bits)

    def _declare_one_hot(self, name: str, sort: str, mortal: bool) -> Vector:
        bits = {
            value: _one_hot_bit(name, value) for value in self.values[sort] or ("",)
        }  # at least one bit, which identifies the vector
        for value, bit in bits.items():
            if self.manager.has(bit):
                continue
            neighbour = self._neighbours.get((sort, value)) or self._beside.get(value)
            if neighbour is None:
                self.manager.declare_top((bit,))
            else:
                self.manager.declare_above(bit, neighbour)
            self._neighbours[sort, value] = bit
        vector = Vector(sort, tuple(bits.values()), one_hot=True, mortal=mortal)
        self._names |= {bit: (vector, value) for value, bit in bits.items()}
        return vector

    def successor(self, vector: Vector) -> Vector:
        """Return the successor's copy of a one-hot vector."""
        bits = tuple(map(self.primed, vector.bits))
        for bit, copy in zip(vector.bits, bits, strict=True):
            if not self.manager.has(copy):
                self.manager.declare_below(copy, bit)
        return Vector(vector.sort, bits, vector.one_hot, vector.mortal)

    def unused(self, sort: str, taken: Iterable[Vector | Value], role: str = "var") -> Vector:
        """Return the first vector of the sort and role that is not taken."""
        used, index = set(taken), 0
        while (vector := self.vector(role, sort, index)) in used:
            index += 1
        return vector

    def distinct(self, sorts: Iterable[str], role: str = "var") -> tuple[Vector, ...]:
        """Return pairwise distinct vectors of these sorts."""
        vectors: list[Vector] = []
        for sort in sorts:
            vectors.append(self.unused(sort, vectors, role))
        return tuple(vectors)

    def of_role(self, role: str) -> Iterator[tuple[Vector, int]]:
        """Yield the existing vectors of a role, each with its index."""
        for (own, _, index), vector in self._vectors.items():
            if own == role:
                yield vector, index

    def beside(self, value: Value) -> str | None:
        """Return the state bit below a value's bits in one-hot vectors; None if there is none."""
        return self._beside.get(value)

    # Coding.

    def bit(self, vector: Vector, value: Value) -> str:
        """Return the bit of a one-hot vector that encodes vector = value."""
        return vector.bits[self._codes[vector.sort][value]]

    def code(self, vector: Vector, value: Value) -> Mapping[str, bool]:
        """Return the bits that encode vector = value."""
        number = self._codes[vector.sort][value]
        if vector.one_hot:
            return {bit: k == number for k, bit in enumerate(vector.bits)}
        return coded(vector.bits, number)

    def assignment_code(
        self, living: Mapping[Vector, Value], dead: Mapping[Vector, Value]
    ) -> Mapping[str, bool]:
        """Return the bits that encode the values of some vectors.

        The values of ``dead`` are arbitrary names: only the equalities among them are encoded.
        """
        code: dict[str, bool] = {}
        for vector, value in living.items():
            code |= self.code(vector, value)
        for vector in dead:
            code |= dict.fromkeys(vector.bits, False)
        return code | self._dead_code(living, dead)

    def holding(self, living: Mapping[Vector, Value], dead: Mapping[Vector, Value]) -> Bdd:
        """Return `assignment_code` as a function that no other assignment satisfies.

        For a living one-hot vector it tests one bit instead of one for each value.
        """
        named = (self.is_value(vector, value) for vector, value in living.items())
        return self.manager.conj(
            [*named, *map(self.dead, dead), self.manager.cube(self._dead_code(living, dead))]
        )

    def _dead_code(self, living: Mapping[Vector, Value], dead: Mapping[Vector, Value]) -> dict[str, bool]:
        """Return the bits that encode which of some vectors hold equal dead values."""
        return {
            self.same_dead(left, right): left in dead and dead[left] == dead.get(right)
            for left, right in self.mortal_pairs((*living, *dead))
        }

    def value(self, vector: Vector, assignment: Mapping[str, bool]) -> Value:
        """Return the value that an assignment to the vector's bits encodes."""
        if vector.one_hot:
            number = next(k for k, bit in enumerate(vector.bits) if assignment[bit])
        else:
            number = number_in(vector.bits, assignment)
        return (*self.values[vector.sort], *self.beyond[vector.sort])[number]

    def tuples(self, function: Bdd, vectors: Sequence[Vector]) -> Iterator[tuple[Value, ...]]:
        """Yield the tuples of values that satisfy a function of these vectors alone.

        The function must imply that each one-hot vector has a value.
        """
        if vectors and all(vector.one_hot for vector in vectors):
            for on in self.manager.sets(function):
                named = dict(map(self._names.__getitem__, on))
                yield tuple(named[vector] for vector in vectors)
            return
        bits = sorted(bits_of(vectors), key=self.manager.level)  # so that the enumeration builds no diagram
        for assignment, _ in self.manager.cases(function, bits):
            yield tuple(self.value(vector, assignment) for vector in vectors)

    # Dead values.

    def dead(self, vector: Vector) -> Bdd:
        """Return the condition that the vector is dead: none of its bits is set."""
        return self.none(vector)

    def same_dead(self, left: Vector, right: Vector) -> str:
        """Return the bit that encodes that two mortal vectors of one sort hold the same dead value."""
        bit = "~".join(sorted((left.bits[0], right.bits[0])))
        if not self.manager.has(bit):
            self.manager.declare_bottom([bit, self.primed(bit)])
        return bit

    @staticmethod
    def mortal_pairs(vectors: Iterable[Vector | Value]) -> Iterator[tuple[Vector, Vector]]:
        """Yield the pairs of mortal vectors of one sort among the terms."""
        mortal = {v: None for v in vectors if isinstance(v, Vector) and v.mortal}
        for left, right in combinations(sorted(mortal, key=lambda v: v.bits), 2):
            if left.sort == right.sort:
                yield left, right

    def held_bits(self, vectors: Iterable[Vector]) -> tuple[str, ...]:
        """Return the bits of an assignment to the vectors: their own, and those for equal dead ones."""
        listed = tuple(vectors)
        return bits_of(listed) + tuple(self.same_dead(*pair) for pair in self.mortal_pairs(listed))

    # Functions of vectors.

    def is_value(self, term: Vector | Value, value: Value) -> Bdd:
        """Return term = value.

        For a one-hot vector this assumes that at most one of its bits is set.
        """
        if isinstance(term, str):
            return self.manager.true if term == value else self.manager.false
        if term.one_hot:
            number = self._codes[term.sort].get(value, len(term.bits))
            return self.manager.var(term.bits[number]) if number < len(term.bits) else self.manager.false
        key = (term, value)
        if key not in self._is_value:
            known = value in self._codes[term.sort]
            self._is_value[key] = self.manager.point(self.code(term, value)) if known else self.manager.false
        return self._is_value[key]

    def is_among(self, vector: Vector, values: Iterable[Value]) -> Bdd:
        """Return the condition that the vector names one of the values."""
        return self.table(vector, dict.fromkeys(values, self.manager.true))

    def equal(self, left: Vector | Value, right: Vector | Value) -> Bdd:
        """Return left = right; two dead vectors are equal iff their `same_dead` bit is set."""
        if isinstance(left, str):
            return self.is_value(right, left)
        if isinstance(right, str):
            return self.is_value(left, right)
        if left == right:
            return self.manager.true
        m = self.manager
        if left.one_hot or right.one_hot:
            living = self.equal_living(left, right)
            mortal = left.mortal and right.mortal
            return living | m.var(self.same_dead(left, right)) if mortal else living
        pairs = zip(reversed(left.bits), reversed(right.bits), strict=True)
        result = m.true
        for a, b in pairs:  # least significant first, so that each step adds a bit on top
            result = m.var(a).equiv(m.var(b)) & result
        return result

    def equal_living(self, left: Vector, right: Vector) -> Bdd:
        """Return the condition that two vectors, at least one of them one-hot, name the same value of U_f."""
        values = self.values[left.sort]
        return self.manager.disj(self.is_value(left, v) & self.is_value(right, v) for v in values)

    def equal_valid(self, left: Vector | Value, right: Vector) -> Bdd:
        """Return left = right and that the right one, which is not mortal, names a value.

        For a one-hot vector it tests value by value that no other bit is set: a diagram of the equality alone
        would distinguish all sets of bits.
        """
        assert not right.mortal
        if not right.one_hot:
            return self.equal(left, right) & self.valid(right)
        m, values = self.manager, self.values[right.sort]
        return m.disj(self.is_value(left, v) & m.point(self.code(right, v)) for v in values)

    def compares(self, ordering: fo.Ordering, sort: str, left: Vector | Value, right: Vector | Value) -> Bdd:
        """Return left < right, and so on, for two terms of an ordered sort.

        Its values are listed in ascending order.
        """
        m, values = self.manager, self.values[sort]
        named = [self.is_value(right, value) for value in values]
        below, above = m.false, m.disj(named)
        entries: dict[Value, Bdd] = {}
        for place, value in enumerate(values):
            following = above & ~named[place]  # only the values after this one are left
            match ordering:
                case "<":
                    entries[value] = following
                case "<=":
                    entries[value] = above
                case ">":
                    entries[value] = below
                case ">=":
                    entries[value] = below | named[place]
                case "succ":
                    entries[value] = named[place + 1] if place + 1 < len(values) else m.false
                case _:
                    assert_never(ordering)
            below, above = below | named[place], following
        return entries[left] if isinstance(left, str) else self.table(left, entries)

    def valid(self, vector: Vector) -> Bdd:
        """Return the condition that the vector names a value of U_f; a mortal one may be dead."""
        if vector not in self._valid:
            if vector.one_hot:
                one = self.is_among(vector, self.values[vector.sort])
                self._valid[vector] = one | self.dead(vector) if vector.mortal else one
            else:
                self._valid[vector] = self.below(vector.bits, len(self.values[vector.sort]))
        return self._valid[vector]

    def none(self, vector: Vector) -> Bdd:
        """Return the condition that no bit of a one-hot vector is set.

        A vector for a fresh value then denotes one outside U_f.
        """
        return self.manager.cube(dict.fromkeys(vector.bits, False))

    def below(self, bits: tuple[str, ...], count: int) -> Bdd:
        """Return the condition that the number in ``bits``, most significant first, is below ``count``."""
        m = self.manager
        result = m.false
        for j, bit in enumerate(reversed(bits)):
            low = ~m.var(bit)
            result = (low | result) if count >> j & 1 else (low & result)
        return m.true if count >= 1 << len(bits) else result

    def choice(
        self, terms: tuple[Vector | Value, ...], leaves: Sequence[tuple[tuple[Value, ...], Bdd]]
    ) -> Bdd:
        """Return ⋁ over the leaves (u, f) of terms = u ∧ f.

        It implies that each one-hot vector has one value.
        """
        if not terms:
            return self.manager.disj(leaf for _, leaf in leaves)
        vectors = [term for term in terms if isinstance(term, Vector)]
        if len(vectors) > 1 and all(vector.one_hot for vector in vectors):
            return self._one_hot_choice(terms, leaves)
        first, rest = terms[0], terms[1:]
        groups: dict[Value, list[tuple[tuple[Value, ...], Bdd]]] = {}
        for args, leaf in leaves:
            groups.setdefault(args[0], []).append((args[1:], leaf))
        if isinstance(first, str):
            return self.choice(rest, groups.get(first, []))
        # The leaves may come from a set; sorted, every process builds the same diagrams in the same order.
        return self.table(first, {value: self.choice(rest, groups[value]) for value in sorted(groups)})

    def _one_hot_choice(
        self, terms: tuple[Vector | Value, ...], leaves: Iterable[tuple[tuple[Value, ...], Bdd]]
    ) -> Bdd:
        """Return `choice` for several one-hot vectors: one bit of each is set and the others are idle.

        Nested tables would take as many steps as there are pairs of values.
        """
        m = self.manager
        idle = {bit: ~m.var(bit) for term in terms if isinstance(term, Vector) for bit in term.bits}
        cases: list[tuple[Bdd, Bits]] = []
        for args, leaf in leaves:
            chosen: dict[Vector, Value] = {}
            if all(
                (chosen.setdefault(term, value) if isinstance(term, Vector) else term) == value
                for term, value in zip(terms, args, strict=True)
            ):
                codes = [(vector, self._codes[vector.sort].get(value)) for vector, value in chosen.items()]
                bits = [vector.bits[code] for vector, code in codes if code is not None]
                if len(bits) == len(codes):  # otherwise a variable has another sort, and the atom is false
                    cases.append((m.conj([leaf, *map(m.var, bits)]), frozenset(bits)))
        return union(m, cases, idle)

    def table(self, vector: Vector, entries: Mapping[Value, Bdd]) -> Bdd:
        """Return ⋁ over the entries (u, f) of vector = u ∧ f, built from the least significant bit up."""
        m = self.manager
        if vector.one_hot:
            return self.one_hot_table(vector, entries)
        codes = self._codes[vector.sort]
        level = {codes[value]: entry for value, entry in entries.items()}
        for bit in reversed(vector.bits):
            high = m.var(bit)
            level = {
                prefix: m.ite(high, level.get(prefix << 1 | 1, m.false), level.get(prefix << 1, m.false))
                for prefix in {number >> 1 for number in level}
            }
        return level.get(0, m.false)

    def one_hot_table(
        self,
        vector: Vector,
        entries: Mapping[Value, Bdd],
        others: Mapping[Value, Bdd] = MappingProxyType({}),
    ) -> Bdd:
        """Return `table` for a one-hot vector, with ``others[v]`` for all values v but the named one.

        It implies that exactly one bit holds: a disjunction that leaves this open takes 2^n nodes if the n
        bits are above the entries.
        """
        m = self.manager
        of_bit = dict(zip(vector.bits, self.values[vector.sort], strict=False))
        none, one = m.true, m.false  # none of the bits so far holds; one does, with its entry
        for bit in sorted(vector.bits, key=m.level, reverse=True):
            value = of_bit.get(bit, "")
            high, idle = m.var(bit), others.get(value, m.true)
            one = m.ite(high, entries.get(value, m.false) & none, idle & one)
            none = ~high & idle & none
        return one


def _name(role: str, sort: str, index: int) -> str:
    return f"{role}.{sort}.{index}"


def _one_hot_bit(vector: str, value: Value) -> str:
    return f"{vector}={value}"


def coded(bits: Sequence[str], number: int) -> Mapping[str, bool]:
    """Return the values of the bits, the most significant first, that encode a number."""
    last = len(bits) - 1
    return {bit: bool(number >> (last - j) & 1) for j, bit in enumerate(bits)}


def number_in(bits: Iterable[str], assignment: Mapping[str, bool]) -> int:
    """Return the number that the bits encode; a missing bit is 0."""
    return int("".join("01"[assignment.get(bit, False)] for bit in bits), 2)


def bits_of(terms: Iterable[Vector | Value]) -> tuple[str, ...]:
    """Return the bits of the vectors among the terms, in order; a value has none."""
    return tuple(bit for term in terms if isinstance(term, Vector) for bit in term.bits)
