"""Live data in which identifiers of different sorts are spelled alike, told apart.

The decision: inside the package the name of a value fixes its sort. Data from outside need not keep to that
(two tables number their rows from 1, a case is called `open`), so what comes from there goes through here
first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Schema, Value


@dataclass(frozen=True, slots=True)
class Apart:
    """An instance in which each value is of one sort. ``own`` leads from the names that were given to values
    back to the values' own; a value that ``own`` lacks has kept its name."""

    instance: Instance
    own: Mapping[Value, Value]


def apart(instance: Instance, owners: Mapping[Value, Sequence[str]]) -> Apart:
    """The instance with another name for each value u of a sort s that also stands in another sort, or that
    ``owners`` gives to others: its name is `u@s`, or the next with more of `@` that nothing has.

    Two (sort, value) pairs never get one name, so that the renaming is an isomorphism of sorted instances.
    """
    if _is_apart(instance, owners):
        return Apart(instance, {})
    schema = instance.schema
    sorts: dict[Value, set[str]] = {}
    for fact in instance.facts:
        for sort, value in _sorted(schema, fact):
            sorts.setdefault(value, set()).add(sort)
    names: dict[tuple[str, Value], Value] = {}
    taken = sorts.keys() | owners.keys()
    for value, found in sorts.items():
        own = owners.get(value, () if len(found) > 1 else found)
        for sort in found.difference(own):
            at = "@"
            while f"{value}{at}{sort}" in taken:
                at += "@"
            names[sort, value] = f"{value}{at}{sort}"
    facts = frozenset(
        Fact(fact.relation, tuple(names.get(pair, pair[1]) for pair in _sorted(schema, fact)))
        for fact in instance.facts
    )
    return Apart(Instance(schema, facts), {name: value for (_, value), name in names.items()})


def _is_apart(instance: Instance, owners: Mapping[Value, Sequence[str]]) -> bool:
    """Whether every value is of one sort already: almost always, and found out fast."""
    columns = {relation.name: relation.sorts for relation in instance.schema.relations}
    sorts: dict[Value, str] = {}
    return all(
        sort in owners[value] if value in owners else sorts.setdefault(value, sort) == sort
        for relation, args in instance.facts
        for sort, value in zip(columns[relation], args, strict=True)
    )


def _sorted(schema: Schema, fact: Fact) -> Iterable[tuple[str, Value]]:
    """The arguments of a fact with the sorts of their positions."""
    return zip(schema.relation(fact.relation).sorts, fact.args, strict=True)
