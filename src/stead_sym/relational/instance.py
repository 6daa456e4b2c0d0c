"""Facts, instances, active domains and renamings.

See the paper's Definitions "Typed schema and instance" and "C-isomorphism".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from stead_sym.errors import DeclarationError
from stead_sym.relational.schema import Reference, Relation, Schema, Value, in_words
from stead_sym.support.html import Displayed, paragraph, table


class Fact(NamedTuple):
    """A ground atom P(u1, …, uq)."""

    relation: str
    args: tuple[Value, ...]

    def __str__(self) -> str:
        """Return the fact as it is written in a formula."""
        return in_words(self.relation, self.args)

    @property
    def key(self) -> str:
        """A text that is unique to the fact: `once P(x)` of a and the sentence `once P(a)` have one `str`."""
        return f"{self.relation}({', '.join(self.args)})"

    def rename(self, renaming: Mapping[Value, Value]) -> Fact:
        """Return P(ι(u1), …, ι(uq)); values that ``renaming`` lacks keep their names."""
        return Fact(self.relation, tuple(renaming.get(u, u) for u in self.args))


@dataclass(frozen=True)
class Instance(Displayed):
    """A D-instance: a finite set of well-sorted facts over ``schema``.

    Two instances are equal iff their facts are. Membership, iteration (sorted) and length are those of the
    set of facts. Facts of the schema's ``history`` are not part of the ``database`` and are not printed.
    """

    schema: Schema = field(compare=False, repr=False)
    facts: frozenset[Fact]

    @classmethod
    def of(cls, schema: Schema, facts: Iterable[Fact | tuple[str, tuple[Value, ...]]]) -> Instance:
        """Return the instance with these facts.

        Raise `DeclarationError` if one does not fit the schema, and `TypeError` if one is not a relation
        with a tuple of values.
        """
        instance = cls(schema, frozenset(map(_fact, facts)))
        for fact in instance.facts:
            relation = relation_of(fact, schema)
            for sort, value in zip(map(schema.sort, relation.sorts), fact.args, strict=True):
                if sort.rigid and value not in sort.rank:
                    raise DeclarationError(
                        f"{value} in {fact} is no value of the rigid sort {sort.name}; there are"
                        f" {', '.join(sort.values or ())}"
                    )
        return instance

    def __contains__(self, fact: object) -> bool:
        """Return True if the instance holds the fact."""
        return fact in self.facts

    def __iter__(self) -> Iterator[Fact]:
        """Iterate over the facts in ascending order."""
        return iter(sorted(self.facts))

    def __len__(self) -> int:
        """Return the number of facts."""
        return len(self.facts)

    def __str__(self) -> str:
        """Return the facts of the database as a set."""
        return "{ " + ", ".join(map(str, self.database)) + " }" if self.database.facts else "{ }"

    def _repr_html_(self) -> str:
        """Return one table for each nonempty relation, its columns headed by their sorts."""
        shown = [relation for relation in self.schema.relations if self.tuples(relation.name)]
        tables = (table(r.name, r.sorts, sorted(self.tuples(r.name))) for r in shown)
        return "".join(tables) if shown else paragraph("no facts")

    @cached_property
    def active_domain(self) -> Mapping[str, frozenset[Value]]:
        """ad(D), per sort: the values that occur in some fact of the database; every sort is a key."""
        active: dict[str, set[Value]] = {sort.name: set() for sort in self.schema.sorts}
        for fact in self.database.facts:
            for sort, value in zip(self.schema.relation(fact.relation).sorts, fact.args, strict=True):
                active[sort].add(value)
        return {sort: frozenset(values) for sort, values in active.items()}

    @cached_property
    def database(self) -> Instance:
        """The instance without its record of the past; the instance itself if it has no such record."""
        told = self.schema.telling
        kept = frozenset(fact for fact in self.facts if fact.relation not in told) if told else self.facts
        return self if len(kept) == len(self.facts) else Instance(self.schema, kept)

    @property
    def evident(self) -> frozenset[Fact]:
        """The facts that a run displays.

        These are the facts of the database and the record of the past, without the last step and the state
        before it, which the run itself displays.
        """
        return frozenset(f for f in self.facts if not f.relation.startswith(("did ", "previously ")))

    @cached_property
    def by_relation(self) -> Mapping[str, frozenset[tuple[Value, ...]]]:
        """D(P) for every relation P that holds a fact, as an index for repeated look-ups."""
        found: dict[str, set[tuple[Value, ...]]] = {}
        for fact in self.facts:
            found.setdefault(fact.relation, set()).add(fact.args)
        return {relation: frozenset(tuples) for relation, tuples in found.items()}

    def matching(self, relation: str, pattern: Sequence[Value | None]) -> Iterator[tuple[Value, ...]]:
        """Return the tuples of D(P) that match the pattern, in which None matches any value."""
        fixed = [(place, value) for place, value in enumerate(pattern) if value is not None]
        narrowed = [self._having(relation, place, value) for place, value in fixed]
        tuples = min(narrowed, key=len) if narrowed else self.by_relation.get(relation, ())
        return (args for args in tuples if all(args[place] == value for place, value in fixed))

    def _having(self, relation: str, place: int, value: Value) -> Collection[tuple[Value, ...]]:
        """Return the tuples of D(P) with this value at a position, from 0; build the index on first use."""
        index = self._columns.get((relation, place))
        if index is None:
            index = {}
            for args in self.by_relation.get(relation, ()):
                index.setdefault(args[place], []).append(args)
            self._columns[relation, place] = index
        return index.get(value, ())

    @cached_property
    def _columns(self) -> dict[tuple[str, int], dict[Value, list[tuple[Value, ...]]]]:
        return {}

    def rename(self, renaming: Mapping[Value, Value]) -> Instance:
        """Return ι(D) = { P(ι(u)) : P(u) ∈ D }; values that ``renaming`` lacks keep their names."""
        return Instance(self.schema, frozenset(fact.rename(renaming) for fact in self.facts))

    def tuples(self, relation: str) -> frozenset[tuple[Value, ...]]:
        """Return D(P), the tuples of one relation."""
        return frozenset(fact.args for fact in self.facts if fact.relation == relation)


def _fact(pair: Fact | tuple[str, tuple[Value, ...]]) -> Fact:
    match pair:
        case (str(relation), tuple(args)) if all(isinstance(value, str) for value in args):
            return Fact(relation, args)
    raise TypeError(f"{pair!r} is no fact; give a relation with a tuple of values, each a text")


def relation_of(fact: Fact, schema: Schema) -> Relation:
    """Return the relation of a fact; raise `DeclarationError` if it is unknown or has another arity."""
    relation = schema.relation(fact.relation)
    if len(fact.args) != relation.arity:
        raise DeclarationError(
            f"{fact} has {len(fact.args)} arguments; {relation.name} takes {relation.arity}"
        )
    return relation


def out_of_range(schema: Schema, facts: Iterable[Fact]) -> Iterator[tuple[Fact, int]]:
    """Yield the facts with an integer outside its column's sort, each with the column, from 0.

    No instance of the schema holds such a fact; it represents the attempted write of an effect.
    """
    for fact in facts:
        for column, sort in enumerate(map(schema.sort, schema.relation(fact.relation).sorts)):
            if sort.is_numeric and fact.args[column] not in sort.rank:
                yield fact, column


def broken_keys(schema: Schema, facts: Iterable[Fact]) -> Iterator[tuple[Fact, Fact]]:
    """Yield pairs of different facts with the same key, for relations that declare one."""
    first_with_key: dict[tuple[str, tuple[Value, ...]], Fact] = {}
    for fact in facts:
        relation = schema.relation(fact.relation)
        if relation.keys:
            first = first_with_key.setdefault((fact.relation, relation.key(fact.args)), fact)
            if first != fact:
                yield first, fact


def broken_references(schema: Schema, facts: Iterable[Fact]) -> Iterator[tuple[Fact, Reference]]:
    """Yield the facts with a dangling reference: a value that is missing in the referenced relation."""
    if not schema.references:
        return
    held = frozenset(facts)
    for reference in schema.references:
        there = {fact.args[reference.into] for fact in held if fact.relation == reference.target}
        for fact in held:
            if fact.relation == reference.relation and fact.args[reference.column] not in there:
                yield fact, reference
