"""States and values as bits.

A *field* holds at most one of a tuple of mutually exclusive facts, log-coded: code 0 says none of
them, code i the i-th. A fact that shares its field with no other takes one bit, the baseline. Facts
of relations that no effect writes have no bits: they are true or false for good.

A *vector* is a log-coded variable that ranges over the values of one sort. Besides the values of
the restriction it can name a few *phantoms*, values outside U_f that a `fresh` statement may
draw as long as no fact of D' holds them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Schema, Value
from stead_sym.symbolic.bdd.manager import Bdd, Bits, Manager


@dataclass(frozen=True)
class Field:
    """Mutually exclusive facts and the bits that code which of them holds (most significant first)."""

    facts: tuple[Fact, ...]
    bits: tuple[str, ...]

    @classmethod
    def of(cls, facts: Sequence[Fact]) -> Field:
        """The field of these facts, its bits named after the first."""
        name = str(facts[0]) if len(facts) == 1 else f"{facts[0]}|{len(facts)}"
        return cls(tuple(facts), tuple(f"{name}.{j}" for j in range(len(facts).bit_length())))

    @cached_property
    def number(self) -> Mapping[Fact, int]:
        """The code of each fact; 0 is for none."""
        return {fact: k for k, fact in enumerate(self.facts, 1)}

    def code(self, fact: Fact | None) -> Mapping[str, bool]:
        """The bits that say that ``fact``, or none of the facts, holds."""
        return coded(self.bits, 0 if fact is None else self.number[fact])


SPREAD = frozenset({"held", "risen", "name", "param"})
"""The roles of spread vectors: variables of specifications, before and within a transition, names of a
context, and parameters of calls."""


@dataclass(frozen=True, slots=True)
class Vector:
    """A variable of one sort. Log-coded, ``bits`` have the most significant first; ``spread``, there is
    one bit per value, of which exactly one holds."""

    sort: str
    bits: tuple[str, ...]
    spread: bool = False


class Encoding:
    """The bits of one restriction: atoms over state bits, and vectors over values.

    ``static`` are the facts that hold in every state, ``fields`` the ones that come and go; a fact in
    neither is false in every state. ``phantoms`` says how many values beyond U_f vectors can name.
    """

    def __init__(
        self,
        manager: Manager,
        schema: Schema,
        values: Mapping[str, tuple[Value, ...]],
        static: Iterable[Fact],
        fields: Iterable[Field],
        phantoms: Mapping[str, int],
        beside: Mapping[Value, str] = MappingProxyType({}),
        spare: Mapping[str, Value] = MappingProxyType({}),
    ) -> None:
        """``beside`` names for a value the state bit that its bits in spread vectors stand above.
        ``spare`` are those of ``values``, one per sort, that no state holds: an `ensure` may come to
        them, which shows that it can exceed a bound."""
        self.manager = manager
        self.spare = spare
        self._beside = beside
        self.schema = schema
        self.values = values
        self.static = frozenset(static)
        self.fields = tuple(fields)
        self.phantoms = {
            sort: tuple(f"{sort}?{k}" for k in range(1, phantoms.get(sort, 0) + 1)) for sort in values
        }
        self._codes = {
            sort: {value: k for k, value in enumerate((*listed, *self.phantoms[sort]))}
            for sort, listed in values.items()
        }
        self._field_of = {fact: field for field in self.fields for fact in field.facts}
        self._atoms: dict[tuple[Fact, bool], Bdd] = {}
        self._vectors: dict[tuple[str, str, int], Vector] = {}
        self._relations: dict[tuple[str, tuple[Vector | Value, ...], bool], Bdd] = {}
        self._active: dict[tuple[str, Vector | Value, bool], Bdd] = {}
        self._values: dict[tuple[Vector, Value], Bdd] = {}
        self._valid: dict[tuple[Vector, bool], Bdd] = {}
        manager.declare_bottom(
            name for field in self.fields for bit in field.bits for name in (bit, self.primed(bit))
        )

    # states

    @cached_property
    def state_bits(self) -> Bits:
        return frozenset(bit for field in self.fields for bit in field.bits)

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The state bits in the order of the fields, whatever the diagrams' order is by now."""
        return tuple(bit for field in self.fields for bit in field.bits)

    @cached_property
    def dynamic_facts(self) -> Mapping[str, tuple[Fact, ...]]:
        """The facts that have bits, per relation, sorted."""
        grouped: dict[str, list[Fact]] = {relation.name: [] for relation in self.schema.relations}
        for fact in sorted(self._field_of):
            grouped[fact.relation].append(fact)
        return {name: tuple(facts) for name, facts in grouped.items()}

    @cached_property
    def static_facts(self) -> Mapping[str, tuple[Fact, ...]]:
        """The facts that hold in every state, per relation, sorted."""
        grouped: dict[str, list[Fact]] = {relation.name: [] for relation in self.schema.relations}
        for fact in sorted(self.static):
            grouped[fact.relation].append(fact)
        return {name: tuple(facts) for name, facts in grouped.items()}

    def field(self, fact: Fact) -> Field | None:
        """The field of a fact that comes and goes; None for one that is constant."""
        return self._field_of.get(fact)

    def atom(self, fact: Fact, primed: bool = False) -> Bdd:
        """The states in which the fact holds (``primed``: over the bits of the successor)."""
        key = (fact, primed)
        if key not in self._atoms:
            field = self._field_of.get(fact)
            if field is None:
                self._atoms[key] = self.manager.true if fact in self.static else self.manager.false
            else:
                code = field.code(fact)
                if primed:
                    code = {self.primed(bit): value for bit, value in code.items()}
                self._atoms[key] = self.manager.point(code)
        return self._atoms[key]

    @staticmethod
    def primed(bit: str) -> str:
        """The successor's copy of a state bit, right below it."""
        return f"{bit}'"

    @cached_property
    def primed_bits(self) -> Bits:
        return frozenset(map(self.primed, self.state_bits))

    def has_code(self, state: Instance) -> bool:
        """Whether an assignment to the state bits stands for this instance: it holds what always holds,
        nothing that never does, and no two facts of one field."""
        coming = state.facts - self.static
        fields = {self._field_of[fact].bits for fact in coming if fact in self._field_of}
        return self.static <= state.facts and len(fields) == len(coming)

    def encode(self, state: Instance) -> Mapping[str, bool]:
        """The assignment to the state bits that stands for this instance, which has one (`has_code`)."""
        assignment = dict.fromkeys(self.state_bits, False)
        for fact in state.facts - self.static:
            assignment.update(self._field_of[fact].code(fact))
        return assignment

    def decode(self, assignment: Mapping[str, bool]) -> Instance:
        """The instance that an assignment to the state bits stands for."""
        facts = set(self.static)
        for field in self.fields:
            if number := number_in(field.bits, assignment):
                facts.add(field.facts[number - 1])
        return Instance(self.schema, frozenset(facts))

    def well_coded(self, field: Field, primed: bool = False) -> Bdd:
        """The field holds a code that stands for something."""
        bits = tuple(map(self.primed, field.bits)) if primed else field.bits
        return self._below(bits, len(field.facts) + 1)

    # vectors

    def is_phantom(self, value: Value) -> bool:
        """The value stands for one outside U_f (its name is no identifier of the language)."""
        return "?" in value

    def vector(self, role: str, sort: str, index: int) -> Vector:
        """The ``index``-th vector of a sort in a role (`var`: variables that are quantified at once or
        gone through; `SPREAD`: those that stay together with sets of states).

        A log-coded vector stands above the state bits: with x on top, P(x, …) is a decision tree over
        x. Those of one sort are interleaved, so that x = y takes a node or two per bit.

        A spread one has the bit "x is this case" beside the bits of this case. With x on top a set of
        pairs (D, x) costs a copy of the states per value of x; beside its record it costs one flag,
        "the record that x names has been seen".
        """
        key = (role, sort, index)
        if key not in self._vectors:
            declare = self._declare_spread if role in SPREAD else self._declare
            self._vectors[key] = declare(f"{role}.{sort}.{index}", sort)
        return self._vectors[key]

    def successor(self, vector: Vector) -> Vector:
        """The successor's copy of a spread vector: each bit right below the one it is a copy of."""
        bits = tuple(map(self.primed, vector.bits))
        for bit, copy in zip(vector.bits, bits, strict=True):
            if not self.manager.has(copy):
                self.manager.declare_below(copy, bit)
        return Vector(vector.sort, bits, vector.spread)

    def _declare(self, name: str, sort: str) -> Vector:
        width = max(1, (len(self._codes[sort]) - 1).bit_length())
        bits = tuple(f"{name}.{j}" for j in range(width))
        coded = (v for v in reversed(self._vectors.values()) if v.sort == sort and not v.spread)
        beside = next(coded, None)
        if beside is None:
            self.manager.declare_top(bits)
        else:
            for bit, neighbour in zip(bits, beside.bits, strict=True):
                self.manager.declare_below(bit, neighbour)
        return Vector(sort, bits)

    def _declare_spread(self, name: str, sort: str) -> Vector:
        bits = {value: f"{name}={value}" for value in self._codes[sort] or ("",)}  # a bit, to have a name
        for value, bit in bits.items():
            if value in self._beside:
                self.manager.declare_above(bit, self._beside[value])
            else:
                self.manager.declare_top((bit,))
        return Vector(sort, tuple(bits.values()), spread=True)

    def unused(self, sort: str, taken: Iterable[Vector | Value], role: str = "var") -> Vector:
        """The first vector of the sort and role that is not taken."""
        used, index = set(taken), 0
        while (vector := self.vector(role, sort, index)) in used:
            index += 1
        return vector

    def distinct(self, sorts: Iterable[str], role: str = "var") -> tuple[Vector, ...]:
        """Vectors of these sorts, no two of them the same."""
        vectors: list[Vector] = []
        for sort in sorts:
            vectors.append(self.unused(sort, vectors, role))
        return tuple(vectors)

    def code(self, vector: Vector, value: Value) -> Mapping[str, bool]:
        """The bits that say vector = value."""
        number = self._codes[vector.sort][value]
        if vector.spread:
            return {bit: k == number for k, bit in enumerate(vector.bits)}
        return coded(vector.bits, number)

    def value(self, vector: Vector, assignment: Mapping[str, bool]) -> Value:
        """The value that an assignment to the vector's bits says."""
        if vector.spread:
            number = next(k for k, bit in enumerate(vector.bits) if assignment[bit])
        else:
            number = number_in(vector.bits, assignment)
        return (*self.values[vector.sort], *self.phantoms[vector.sort])[number]

    def tuples(self, function: Bdd, vectors: Sequence[Vector]) -> Iterator[tuple[Value, ...]]:
        """The tuples of values that satisfy a function of these vectors alone."""
        bits = bits_of(vectors)
        while function != self.manager.false:
            assignment = self.manager.pick(function, bits)
            function = function & ~self.manager.cube(assignment)
            yield tuple(self.value(vector, assignment) for vector in vectors)

    def is_value(self, term: Vector | Value, value: Value) -> Bdd:
        """term = value (for a spread vector, where exactly one of its bits holds)."""
        if isinstance(term, str):
            return self.manager.true if term == value else self.manager.false
        if term.spread:
            number = self._codes[term.sort].get(value)
            return self.manager.false if number is None else self.manager.var(term.bits[number])
        key = (term, value)
        if key not in self._values:
            known = value in self._codes[term.sort]
            self._values[key] = self.manager.point(self.code(term, value)) if known else self.manager.false
        return self._values[key]

    def is_among(self, vector: Vector, values: Iterable[Value]) -> Bdd:
        """The vector names one of the values."""
        return self.table(vector, dict.fromkeys(values, self.manager.true))

    def equal(self, left: Vector | Value, right: Vector | Value) -> Bdd:
        """left = right, bit by bit."""
        if isinstance(left, str):
            return self.is_value(right, left)
        if isinstance(right, str):
            return self.is_value(left, right)
        m = self.manager
        if left.spread or right.spread:
            values = self._codes[left.sort]
            return m.disj(self.is_value(left, v) & self.is_value(right, v) for v in values)
        pairs = zip(reversed(left.bits), reversed(right.bits), strict=True)
        result = m.true
        for a, b in pairs:  # least significant first: each step adds a bit on top
            result = m.var(a).equiv(m.var(b)) & result
        return result

    def valid(self, vector: Vector, phantoms: bool = False) -> Bdd:
        """The vector names a value of U_f, or with ``phantoms`` one of those too."""
        key = (vector, phantoms)
        if key not in self._valid:
            count = len(self.values[vector.sort]) + (len(self.phantoms[vector.sort]) if phantoms else 0)
            if vector.spread:
                among = frozenset(vector.bits[:count])
                self._valid[key] = self.manager.exactly_one(frozenset(vector.bits), among)
            else:
                self._valid[key] = self._below(vector.bits, count)
        return self._valid[key]

    def _below(self, bits: tuple[str, ...], count: int) -> Bdd:
        """The number coded by ``bits`` (most significant first) is less than ``count``."""
        m = self.manager
        result = m.false
        for j, bit in enumerate(reversed(bits)):
            low = ~m.var(bit)
            result = (low | result) if count >> j & 1 else (low & result)
        return m.true if count >= 1 << len(bits) else result

    def relation(self, name: str, terms: tuple[Vector | Value, ...], primed: bool = False) -> Bdd:
        """P(t1, …, tq) over the state bits and the bits of the vectors among the terms.

        A decision tree over each vector in turn, with the atoms at its leaves: as many steps as P
        has facts that can hold, whatever the number of vectors.
        """
        key = (name, terms, primed)
        if key not in self._relations:
            facts = self.static_facts[name] + self.dynamic_facts[name]
            leaves = [(fact.args, self.atom(fact, primed)) for fact in facts]
            self._relations[key] = self.choice(terms, leaves)
        return self._relations[key]

    def choice(
        self, terms: tuple[Vector | Value, ...], leaves: Sequence[tuple[tuple[Value, ...], Bdd]]
    ) -> Bdd:
        """⋁ over the leaves (u, f) of terms = u ∧ f."""
        if not terms:
            return self.manager.disj(leaf for _, leaf in leaves)
        first, rest = terms[0], terms[1:]
        groups: dict[Value, list[tuple[tuple[Value, ...], Bdd]]] = {}
        for args, leaf in leaves:
            groups.setdefault(args[0], []).append((args[1:], leaf))
        if isinstance(first, str):
            return self.choice(rest, groups.get(first, []))
        return self.table(first, {value: self.choice(rest, group) for value, group in groups.items()})

    def table(self, vector: Vector, entries: Mapping[Value, Bdd]) -> Bdd:
        """⋁ over the entries (u, f) of vector = u ∧ f, built bit by bit from the least one up."""
        m = self.manager
        if vector.spread:
            return m.disj(self.is_value(vector, value) & entry for value, entry in entries.items())
        codes = self._codes[vector.sort]
        level = {codes[value]: entry for value, entry in entries.items()}
        for bit in reversed(vector.bits):
            high = m.var(bit)
            level = {
                prefix: m.ite(high, level.get(prefix << 1 | 1, m.false), level.get(prefix << 1, m.false))
                for prefix in {number >> 1 for number in level}
            }
        return level.get(0, m.false)

    def active(self, sort: str, term: Vector | Value, primed: bool = False) -> Bdd:
        """term ∈ ad(D): the value stands in some fact of the state."""
        key = (sort, term, primed)
        if key not in self._active:
            if isinstance(term, str):
                facts = self._facts_holding.get(term, ())
                self._active[key] = self.manager.disj(self.atom(fact, primed) for fact in facts)
            else:
                entries = {value: self.active(sort, value, primed) for value in self.values[sort]}
                active = self.table(term, entries)
                self._active[key] = active & self.valid(term) if term.spread else active
        return self._active[key]

    @cached_property
    def _facts_holding(self) -> Mapping[Value, tuple[Fact, ...]]:
        """For each value the facts that hold it: those that come and go, and the static ones."""
        holding: dict[Value, list[Fact]] = {}
        for fact in (*sorted(self._field_of), *sorted(self.static)):
            for value in set(fact.args):
                holding.setdefault(value, []).append(fact)
        return {value: tuple(facts) for value, facts in holding.items()}


def coded(bits: Sequence[str], number: int) -> Mapping[str, bool]:
    """The values of the bits, the most significant first, that say a number."""
    last = len(bits) - 1
    return {bit: bool(number >> (last - j) & 1) for j, bit in enumerate(bits)}


def number_in(bits: Iterable[str], assignment: Mapping[str, bool]) -> int:
    """The number that the bits say, 0 for those that the assignment leaves out."""
    return int("".join("01"[assignment.get(bit, False)] for bit in bits), 2)


def bits_of(terms: Iterable[Vector | Value]) -> tuple[str, ...]:
    """The bits of the vectors among the terms, in order; a value has none."""
    return tuple(bit for term in terms if isinstance(term, Vector) for bit in term.bits)
