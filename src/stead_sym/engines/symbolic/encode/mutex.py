"""Mutex groups: relations that are functional in some of their columns, so that they can be log-coded.

A key of P is a set of columns such that no state holds two P-facts that agree on them. A declared key is
relied on: a step that violates it is detected (`step.updates`) and is an error if it is reachable. Other keys
are *assumed* here from the syntax of the effects. Once the actions are compiled with the resulting encoding,
each assumption is *checked* as an inductive invariant (no action leads from a state with at most one fact per
key to one with two, see `step.invariants`). If the check fails, the assumption is dropped, and there is
another encoding (`plan.guess`). The exploration relies on checked assumptions and declared keys only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from itertools import combinations
from typing import TypeAlias

from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.keys import respects
from stead_sym.deployment.tool import Insert
from stead_sym.engines.symbolic.encode.encoding import Field
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Relation, Schema, Value

Columns: TypeAlias = tuple[int, ...]
"""Some columns of a relation, from 0, in order."""

Key: TypeAlias = tuple[str, Columns]
"""A relation and the columns that determine the others."""

_FEW = 3  # the maximum number of records that one field may choose between, see `_scattered`


def fields(
    deployment: Deployment, dynamic: Iterable[Fact], keys: Mapping[str, Sequence[Columns]]
) -> Iterator[Field]:
    """Yield the fields of the facts that change.

    There is one per value of the best of the ``keys`` of their relation, or one per fact if no key saves
    bits.
    """
    of: dict[str, list[Fact]] = {}
    for fact in dynamic:
        of.setdefault(fact.relation, []).append(fact)
    for relation in deployment.schema.relations:
        facts = of.get(relation.name, [])
        best = [[fact] for fact in facts]
        for key in keys[relation.name]:
            grouped = list(_by_key(facts, key))
            if _cost(grouped) >= _cost(best):
                continue
            if any(_scattered(group, deployment.schema.rigid) for group in grouped):
                continue
            if _holds_initially(deployment, relation, key, grouped):
                best = grouped
        numeric = [deployment.schema.sort(sort).is_numeric for sort in relation.sorts]
        for group in best:
            yield Field.of(sorted(group, key=partial(_place, numeric)))


def _place(numeric: Sequence[bool], fact: Fact) -> tuple[tuple[int, Value], ...]:
    """Return the position of a fact in its field; numbers in their order, so that their codes add up."""
    pairs = zip(numeric, fact.args, strict=True)
    return tuple((int(value) if is_number else 0, value) for is_number, value in pairs)


def _holds_initially(
    deployment: Deployment, relation: Relation, key: Columns, grouped: Iterable[Iterable[Fact]]
) -> bool:
    """Return True if no D0 has two facts of a group.

    If D0 may have any facts of the relation, only a declared key guarantees that.
    """
    if deployment.initially is not None and relation.name in deployment.initially.relations:
        return bool(relation.keys) and set(relation.keys) <= set(key)
    return all(sum(fact in deployment.init for fact in group) <= 1 for group in grouped)


def _scattered(group: Sequence[Fact], rigid: Set[Value]) -> bool:
    """Return True if the facts mention more than a few records, and no record is common to all of them.

    Such facts tell *which* record has some property: `Focus(x)`, of which at most one holds. A single field
    for all of them would be above the bits of the records, and a diagram would hold a copy of these for each
    of its codes. With a bit of its own next to each record the diagram only has to encode, from the top down,
    if the record with the property has been passed.
    """
    values = [set(fact.args) - rigid for fact in group]
    return len(list(filter(None, values))) > _FEW and not set.intersection(*values)


def possible_keys(deployment: Deployment) -> Mapping[str, tuple[Columns, ...]]:
    """Return, per relation, the keys that every insertion syntactically respects, and the declared ones.

    Those with the fewest columns come first.
    """
    return {relation.name: tuple(_keys(deployment, relation)) for relation in deployment.schema.relations}


def singles(deployment: Deployment, keys: Mapping[str, Sequence[Columns]]) -> frozenset[str]:
    """Return the relations that apparently hold at most one fact.

    Relaxed reachability relies on it. The facts that it leaves out cannot hold before the first state with
    two facts of the relation, which the check detects.
    """
    return frozenset(
        relation.name
        for relation in deployment.schema.relations
        if relation.arity
        and () in keys[relation.name]
        and not (deployment.initially is not None and relation.name in deployment.initially.relations)
        and len(deployment.init.tuples(relation.name)) <= 1
        and any(
            _writes(statement, relation.name)
            for tool in deployment.tools_and_events
            for effect in tool.effects
            for statement in effect.statements
        )
    )


def _writes(statement: object, relation: str) -> bool:
    return isinstance(statement, Insert) and statement.atom.relation == relation


def keys_of(field: Field) -> frozenset[Key]:
    """Return the keys that two facts of a field would violate: any columns on which all its facts agree."""
    first = field.facts[0]
    columns = range(len(first.args))
    agreeing = [k for k in columns if len({fact.args[k] for fact in field.facts}) == 1]
    return frozenset((first.relation, key) for size in columns for key in combinations(agreeing, size))


def is_declared(field: Field, schema: Schema) -> bool:
    """Return True if the facts of a field agree on the columns of a declared key.

    Then no reachable state may hold two of them, without any assumption.
    """
    keys = schema.relation(field.facts[0].relation).keys
    return bool(keys) and all(len({fact.args[k] for fact in field.facts}) == 1 for k in keys)


def _by_key(facts: Iterable[Fact], key: Sequence[int]) -> Iterator[list[Fact]]:
    groups: dict[tuple[str, ...], list[Fact]] = {}
    for fact in facts:
        groups.setdefault(tuple(fact.args[k] for k in key), []).append(fact)
    yield from groups.values()


def _cost(groups: Sequence[Sequence[Fact]]) -> tuple[int, int]:
    """Return the numbers of bits and of fields that an encoding takes.

    With equal bits the encoding with fewer fields is better, since it excludes more sets of facts.
    """
    return sum(len(group).bit_length() for group in groups), len(groups)


def _keys(deployment: Deployment, relation: Relation) -> Iterator[Columns]:
    if deployment.has_ensure:
        return
    effects = [(tool, effect) for tool in deployment.tools_and_events for effect in tool.effects]
    declared = set(relation.keys)
    for size in range(relation.arity):
        for key in combinations(range(relation.arity), size):
            if (declared and declared.issubset(key)) or all(
                respects(tool, effect, statement, key, deployment.schema)
                for tool, effect in effects
                for statement in effect.statements
                if isinstance(statement, Insert) and statement.atom.relation == relation.name
            ):
                yield key
