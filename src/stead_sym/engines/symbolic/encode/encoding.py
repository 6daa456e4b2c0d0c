"""States as bits, and the atoms of formulas over them.

A *field* holds at most one of a tuple of mutually exclusive facts, log-coded: code 0 means none of them, code
i the i-th. A fact that shares its field with no other takes one bit. Facts that no effect can make true or
false have no bits: each is true in every state or false in every state.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from stead_sym.engines.symbolic.bdd.manager import Bdd, Bits, Manager
from stead_sym.engines.symbolic.encode.values import Values, Vector, coded, number_in
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Schema, Value


@dataclass(frozen=True)
class Field:
    """Mutually exclusive facts and the bits that encode which of them holds (most significant first)."""

    facts: tuple[Fact, ...]
    bits: tuple[str, ...]

    def __hash__(self) -> int:
        """Return the hash of one bit; no two fields share any, and a field may have many facts."""
        return hash(self.bits[0])

    @classmethod
    def of(cls, facts: Sequence[Fact]) -> Field:
        """Return the field of these facts, with bits named after the first."""
        name = facts[0].key if len(facts) == 1 else f"{facts[0].key}|{len(facts)}"
        return cls(tuple(facts), tuple(f"{name}.{j}" for j in range(len(facts).bit_length())))

    @cached_property
    def number(self) -> Mapping[Fact, int]:
        """The code of each fact; 0 means none."""
        return {fact: k for k, fact in enumerate(self.facts, 1)}

    def code(self, fact: Fact | None) -> Mapping[str, bool]:
        """Return the values of the bits if ``fact`` holds, or if none of the facts does."""
        return coded(self.bits, 0 if fact is None else self.number[fact])


class Encoding(Values):
    """The bits of one restriction: atoms over state bits, and vectors over values.

    ``static`` are the facts that hold in every state, ``fields`` those that change; a fact in neither is
    false in every state.

    Invariants:

    - no fact is in two fields, and none is both in a field and static;
    - no two fields share a bit, `state_bits` is the union of the bits of the fields, and each state bit has
      its copy (`Values.primed`) directly below it in the order of the variables;
    - a code of a field is 0, for none of its facts, or i, for the i-th; larger numbers are no codes
      (`well_coded`), and `encode` and `decode` are inverse between the instances that have a code
      (`has_code`) and the assignments to the state bits in which every field is well coded;
    - the bits of vectors are no state bits, so quantifying these leaves an assignment unchanged.

    That no reachable state holds two facts of a field is no invariant of this class: it is assumed
    (`encode.mutex`) and checked (`step.invariants`).
    """

    def __init__(
        self,
        manager: Manager,
        schema: Schema,
        values: Mapping[str, tuple[Value, ...]],
        static: Iterable[Fact] = (),
        fields: Iterable[Field] = (),
        beyond: Mapping[str, int] = MappingProxyType({}),
        mortal: Set[str] = frozenset(),
        beside: Mapping[Value, str] = MappingProxyType({}),
        at_most: Sequence[tuple[int, Sequence[Value]]] = (),
        foreseen: Mapping[tuple[str, str], int] = MappingProxyType({}),
        interleaved: Sequence[Field] = (),
    ) -> None:
        """Declare the bits.

        The bits of the ``interleaved`` fields are ordered by weight, at the place of the first of them.
        ``at_most``: in every state that matters (`care`) at most this number of these values are active.
        ``foreseen``: the number of one-hot vectors of a role and sort that are declared with the state bits.
        Others are inserted on demand, which takes time linear in the number of all variables for each bit.
        """
        super().__init__(manager, values, beyond, mortal, beside)
        self.schema = schema
        self._at_most = tuple(at_most)
        self.static = frozenset(static)
        self.fields = tuple(fields)
        self._field_of = {fact: field for field in self.fields for fact in field.facts}
        self._atoms: dict[tuple[Fact, bool], Bdd] = {}
        self._relations: dict[tuple[str, tuple[Vector | Value, ...], bool], Bdd] = {}
        self._active: dict[tuple[str, Vector | Value, bool], Bdd] = {}
        self._at: dict[tuple[str, int], dict[Value, list[Fact]]] = {}
        self._tables: dict[tuple[int, tuple[Value, ...]], Sequence[Bdd]] = {}
        above = self._standing_above(foreseen)
        manager.declare_bottom(above.get(None, ()))
        together = tuple(self._by_weight(interleaved))
        for field in self.fields:
            for bit in together if field in interleaved else field.bits:
                if not manager.has(bit):
                    manager.declare_bottom((*above.get(bit, ()), bit, self.primed(bit)))

    def _by_weight(self, fields: Sequence[Field]) -> Iterator[str]:
        """Yield the bits of some fields, those with the greatest weight first; numbers join each weight."""
        for weight in reversed(range(max((len(field.bits) for field in fields), default=0))):
            bits = [field.bits[-1 - weight] for field in fields if weight < len(field.bits)]
            self._of_weight[weight] = bits[0]
            yield from bits

    # States.

    def are_states(self, function: Bdd) -> bool:
        """Return True if the function is one of the state bits alone, a set of states."""
        return function.support <= self.state_bits

    @cached_property
    def state_bits(self) -> Bits:
        """The bits of all fields."""
        return frozenset(self.order)

    @cached_property
    def history_bits(self) -> Bits:
        """The bits of the record of the past, outside the database."""
        told = {relation.name for relation in self.schema.history}
        return frozenset(b for field in self.fields if field.facts[0].relation in told for b in field.bits)

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The state bits in the order of the fields, independently of the current variable order."""
        return tuple(bit for field in self.fields for bit in field.bits)

    @cached_property
    def dynamic_facts(self) -> Mapping[str, tuple[Fact, ...]]:
        """The facts that have bits, per relation, sorted."""
        return self._grouped(self._field_of)

    @cached_property
    def static_facts(self) -> Mapping[str, tuple[Fact, ...]]:
        """The facts that hold in every state, per relation, sorted."""
        return self._grouped(self.static)

    def _grouped(self, facts: Iterable[Fact]) -> Mapping[str, tuple[Fact, ...]]:
        every = (*self.schema.relations, *self.schema.history)
        grouped: dict[str, list[Fact]] = {relation.name: [] for relation in every}
        for fact in sorted(facts):
            grouped[fact.relation].append(fact)
        return {name: tuple(own) for name, own in grouped.items()}

    def field(self, fact: Fact) -> Field | None:
        """Return the field of a fact that changes; None for one that is constant."""
        return self._field_of.get(fact)

    def atom(self, fact: Fact, primed: bool = False) -> Bdd:
        """Return the states in which the fact holds (``primed``: over the bits of the successor)."""
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

    @cached_property
    def primed_bits(self) -> Bits:
        """The copies of the state bits for the successor."""
        return frozenset(map(self.primed, self.state_bits))

    def has_code(self, state: Instance) -> bool:
        """Return True if an assignment to the state bits represents this instance.

        The instance must hold all static facts, no fact that never holds, and no two facts of one field.
        """
        coming = state.facts - self.static
        fields = {self._field_of[fact].bits for fact in coming if fact in self._field_of}
        return self.static <= state.facts and len(fields) == len(coming)

    def encode(self, state: Instance) -> Mapping[str, bool]:
        """Return the assignment to the state bits that represents this instance.

        The instance must have one (`has_code`).
        """
        assignment = dict.fromkeys(self.state_bits, False)
        for fact in state.facts - self.static:
            assignment.update(self._field_of[fact].code(fact))
        return assignment

    def decode(self, assignment: Mapping[str, bool]) -> Instance:
        """Return the instance that an assignment to the state bits represents."""
        facts = set(self.static)
        for field in self.fields:
            if number := number_in(field.bits, assignment):
                facts.add(field.facts[number - 1])
        return Instance(self.schema, frozenset(facts))

    def well_coded(self, field: Field, primed: bool = False) -> Bdd:
        """Return the condition that the field holds a code of one of its facts, or of none."""
        bits = tuple(map(self.primed, field.bits)) if primed else field.bits
        return self.below(bits, len(field.facts) + 1)

    # Atoms and active values.

    def relation(self, name: str, terms: tuple[Vector | Value, ...], primed: bool = False) -> Bdd:
        """Return P(t1, …, tq) over the state bits and the bits of the vectors among the terms.

        It is a decision tree over each vector in turn, with the atoms at its leaves. It takes one step for
        each fact of P that can hold with the values among the terms, independently of the number of vectors.
        """
        key = (name, terms, primed)
        if key not in self._relations:
            fixed = next(((k, term) for k, term in enumerate(terms) if isinstance(term, str)), None)
            facts = self.facts_of(name) if fixed is None else self.facts_at(name, *fixed)
            leaves = [(fact.args, self.atom(fact, primed)) for fact in facts]
            self._relations[key] = self.choice(terms, leaves)
        return self._relations[key]

    def facts_of(self, relation: str) -> tuple[Fact, ...]:
        """Return the facts of a relation that can hold."""
        return self.static_facts[relation] + self.dynamic_facts[relation]

    def facts_at(self, relation: str, position: int, value: Value) -> Sequence[Fact]:
        """Return the facts of a relation that can hold and have the value at a position."""
        key = (relation, position)
        if key not in self._at:
            self._at[key] = {}
            for fact in self.facts_of(relation):
                self._at[key].setdefault(fact.args[position], []).append(fact)
        return self._at[key].get(value, ())

    def active(self, sort: str, term: Vector | Value, primed: bool = False) -> Bdd:
        """Return term ∈ ad(D): the value occurs in some fact of the state."""
        key = (sort, term, primed)
        if key not in self._active:
            if isinstance(term, str):
                facts = (f for f in self._facts_holding.get(term, ()) if self._stands(sort, term, f))
                self._active[key] = self.manager.disj(self.atom(fact, primed) for fact in facts)
            else:
                care = self.care if not primed else self.manager.true
                entries = {value: self.active(sort, value, primed) & care for value in self.values[sort]}
                self._active[key] = self.table(term, entries)
        return self._active[key]

    def _stands(self, sort: str, value: Value, fact: Fact) -> bool:
        """Return True if the fact has the value in a column of the sort.

        A numeral may be in columns of other sorts too.
        """
        return (sort, value) in zip(self.schema.relation(fact.relation).sorts, fact.args, strict=True)

    def more_active(self, number: int, values: Iterable[Value]) -> Bdd:
        """Return the states with more than ``number`` of the values, which are no numerals, active."""
        return self._thresholds(number + 1, tuple(values))[-1]

    def most_active(self, states: Bdd, values: Iterable[Value], limit: int) -> int:
        """Return min(``limit``, max { |ad(D) ∩ values| : D ∈ states }); 0 for the empty set.

        The values are no numerals.
        """
        thresholds = self._thresholds(limit + 1, tuple(values))
        if limit and not states <= ~thresholds[limit]:  # an inclusion test builds no diagram
            return limit
        return bisect_left(range(limit), True, key=lambda k: states <= ~thresholds[k + 1])

    def _thresholds(self, number: int, values: tuple[Value, ...]) -> Sequence[Bdd]:
        """Return, at position k for k up to ``number``, the states with at least k of the values active.

        They are cached: the test of a bound and the maximum number of active values use the same table.
        """
        key = (number, values)
        if key not in self._tables:
            holding = (self._facts_holding.get(value, ()) for value in values)
            active = (self.manager.disj(map(self.atom, facts)) for facts in holding)
            self._tables[key] = self.manager.thresholds(number, active)
        return self._tables[key]

    @cached_property
    def doubled_keys(self) -> Bdd:
        """The states that hold two facts which agree on the columns of a declared key.

        A field for the facts of one key holds at most one of them, so such a key needs no test.
        """
        m = self.manager
        groups: dict[tuple[str, tuple[Value, ...]], list[Fact]] = {}
        for relation in self.schema.relations:
            if relation.keys:
                for fact in self.static_facts[relation.name] + self.dynamic_facts[relation.name]:
                    groups.setdefault((relation.name, relation.key(fact.args)), []).append(fact)
        return m.disj(
            m.at_least(2, map(self.atom, group))
            for group in groups.values()
            if len({self._field_of.get(fact) for fact in group}) > 1 or self.static.issuperset(group[:2])
        )

    @cached_property
    def dangling(self) -> Bdd:
        """The states with a dangling reference."""
        m = self.manager
        return m.disj(
            self._having(reference.relation, reference.column, value)
            & ~self._having(reference.target, reference.into, value)
            for reference in self.schema.references
            for value in self.values[self.schema.relation(reference.target).sorts[reference.into]]
        )

    def _having(self, relation: str, column: int, value: Value) -> Bdd:
        """Return the states in which some fact of the relation has the value in the column."""
        facts = self._facts_holding.get(value, ())
        return self.manager.disj(
            self.atom(fact) for fact in facts if fact.relation == relation and fact.args[column] == value
        )

    @cached_property
    def care(self) -> Bdd:
        """The care set: functions of states and vectors have to be correct on these states only.

        They are the states that respect the bounds (``at_most``), with well-coded fields; all reachable
        states are among them. A function can be exponentially smaller if it is arbitrary elsewhere. Without
        ``at_most`` the care set is everything, including the codes of no state.
        """
        m = self.manager
        if not self._at_most:
            return m.true
        within = (~self.more_active(number, values) for number, values in self._at_most)
        return m.conj([*within, *map(self.well_coded, self.fields)])

    @cached_property
    def _facts_holding(self) -> Mapping[Value, tuple[Fact, ...]]:
        """The facts of the database that hold each value: those that change, and the static ones."""
        holding: dict[Value, list[Fact]] = {}
        told = {relation.name for relation in self.schema.history}
        for fact in (*sorted(self._field_of), *sorted(self.static)):
            if fact.relation in told:
                continue
            for value in set(fact.args):
                holding.setdefault(value, []).append(fact)
        return {value: tuple(facts) for value, facts in holding.items()}
