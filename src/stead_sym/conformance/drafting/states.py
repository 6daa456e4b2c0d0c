"""Small databases of a schema: random ones, and those that differ from a given one in one fact.

One decision: they need not be reachable. What a tool does is learnt from any database that keeps keys,
references and invariants, since the tools that would lead there may have no effect yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count, islice
from random import Random

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Call, Tool
from stead_sym.logic.evaluate import holds
from stead_sym.relational.instance import Fact, Instance, broken_keys, broken_references
from stead_sym.relational.schema import Relation, Schema, Value

_NUMBERS = (1, 2, 2, 2, 3)
"""Numbers of identifiers of a sort in a random database, besides constants."""
_ROWS = (0, 1, 1, 2, 2, 3)
"""Numbers of rows of a relation that are drawn."""
_DENSE = 0.4
"""The share of random databases in which few values are in rows of all relations."""
_FEW = (1, 1, 2)
_ROWS_IF_DENSE = (1, 1, 2)
_DRAWN = 8
"""The number of random databases that are drawn until one is sound."""
_MORE = 6
"""The number of databases with one row more of each relation, around a database."""
_MOST_COMPLETED = 8
"""The most rows that are added since others refer to them."""


def numbered(sort: str) -> Iterator[Value]:
    """Yield names for identifiers of a sort."""
    return (f"{sort}{number}" for number in count(1))


class States:
    """Databases of a deployment, by a generator of random numbers."""

    def __init__(self, deployment: Deployment, random: Random) -> None:
        self.deployment, self.random = deployment, random
        self.schema: Schema = deployment.schema
        self.invariants: list[fo.Expanded] = [
            spec.formula.body
            for spec in deployment.specs
            if spec.helps
            and isinstance(spec.formula, fo.Globally)
            and not fo.is_temporal(spec.formula.body)
            and not fo.tells_of_steps(spec.formula.body)
        ]
        self._order = self._by_references()

    def _by_references(self) -> list[Relation]:
        """Return the relations, those that are referred to first."""
        order: list[Relation] = []
        left = list(self.schema.relations)
        while left:
            ready = [
                r for r in left if all(to == r.name or any(o.name == to for o in order) for _, to in r.refers)
            ]
            order += ready or left[:1]
            left = [relation for relation in left if relation not in order]
        return order

    def is_sound(self, state: Instance) -> bool:
        """Return True if a database keeps keys, references and invariants."""
        return (
            next(iter(broken_keys(self.schema, state.facts)), None) is None
            and next(iter(broken_references(self.schema, state.facts)), None) is None
            and all(holds(invariant, state, {}) for invariant in self.invariants)
        )

    def values(self, numbers: Sequence[int] = _NUMBERS) -> Mapping[str, list[Value]]:
        """Return some values of each sort: all that it lists, or one of these numbers of identifiers."""
        found = {}
        for sort in self.schema.sorts:
            if sort.values is not None:
                found[sort.name] = list(sort.values)
                continue
            known = set(self.deployment.constants[sort.name])
            new = (name for name in numbered(sort.name) if name not in known)
            number = self.random.choice(numbers)
            some = self.random.sample(sorted(known), min(len(known), self.random.choice((0, 1, 2))))
            found[sort.name] = [*some, *islice(new, number)]
        return found

    def random_state(self) -> Instance | None:
        """Return a random database, None if keys, references or invariants allow none of those drawn."""
        return next((state for _ in range(_DRAWN) if (state := self._drawn()) is not None), None)

    def _drawn(self) -> Instance | None:
        dense = self.random.random() < _DENSE
        values, facts = self.values(_FEW if dense else _NUMBERS), set[Fact]()
        rows: dict[str, list[tuple[Value, ...]]] = {}
        for relation in self._order:
            made: dict[tuple[Value, ...], tuple[Value, ...]] = {}
            for _ in range(self.random.choice(_ROWS_IF_DENSE if dense else _ROWS)):
                args = self._args(relation, values, rows)
                if args is not None:
                    made.setdefault(relation.key(args) if relation.keys else args, args)
            rows[relation.name] = list(made.values())
            facts.update(Fact(relation.name, args) for args in made.values())
        state = Instance(self.schema, frozenset(facts))
        return state if self.is_sound(state) else None

    def _args(
        self,
        relation: Relation,
        values: Mapping[str, list[Value]],
        rows: Mapping[str, list[tuple[Value, ...]]],
    ) -> tuple[Value, ...] | None:
        """Return a row, None if there is nothing to refer to."""
        refers = dict(relation.refers)
        args = []
        for place, sort in enumerate(relation.sorts):
            among = values[sort]
            target = refers.get(place)
            if target is not None and target != relation.name:
                [into] = self.schema.relation(target).keys
                among = [row[into] for row in rows.get(target, ())]
            if not among:
                return None
            args.append(self.random.choice(among))
        return tuple(args)

    def neighbours(self, state: Instance) -> Iterator[Instance]:
        """Yield databases that differ in one fact: without it, with another value in a column, with one more.

        Without a fact the facts that refer to it are gone too, and with one more those are there that it
        refers to.
        """
        values = {
            sort.name: list(sort.values or sorted(state.active_domain[sort.name]))
            for sort in self.schema.sorts
        }
        for fact in sorted(state.facts):
            without = self._without(state.facts - {fact})
            if without is not None:
                yield without
            relation = self.schema.relation(fact.relation)
            for place, sort in enumerate(relation.sorts):
                for value in values[sort]:
                    args = (*fact.args[:place], value, *fact.args[place + 1 :])
                    other = Instance(self.schema, state.facts - {fact} | {Fact(fact.relation, args)})
                    if value != fact.args[place] and self.is_sound(other):
                        yield other
        for relation in self.schema.relations:
            for _ in range(_MORE):
                other_or_none = self.grown(state, relation)
                if other_or_none is not None and other_or_none != state:
                    yield other_or_none

    def grown(self, state: Instance, relation: Relation) -> Instance | None:
        """Return a database with one row more of a relation, and with the rows that it refers to.

        The row has values that are there or one new identifier of each sort. None if it has the key of
        another row, or if an invariant fails.
        """
        values = {}
        for sort in self.schema.sorts:
            active = sorted(state.active_domain[sort.name])
            new = next(name for name in numbered(sort.name) if name not in active)
            values[sort.name] = list(sort.values or [*active, new, new])
        row = tuple(self.random.choice(values[sort]) for sort in relation.sorts)
        facts = state.facts | {Fact(relation.name, row)}
        for _ in range(_MOST_COMPLETED):
            broken = min(broken_references(self.schema, facts), default=None, key=lambda pair: pair[0])
            if broken is None:
                break
            fact, reference = broken
            target = self.schema.relation(reference.target)
            cells = [self.random.choice(values[sort]) for sort in target.sorts]
            cells[reference.into] = fact.args[reference.column]
            facts |= {Fact(target.name, tuple(cells))}
        other = Instance(self.schema, facts)
        return other if self.is_sound(other) else None

    def _without(self, facts: frozenset[Fact]) -> Instance | None:
        """Return the database without the facts that refer to missing ones; None if an invariant fails."""
        while broken := {fact for fact, _ in broken_references(self.schema, facts)}:
            facts -= broken
        state = Instance(self.schema, facts)
        return state if self.is_sound(state) else None

    def calls(self, tool: Tool, state: Instance, most: int) -> list[Call]:
        """Return some calls of a tool, over the values of a state and an unknown identifier of each sort."""
        ranges: list[list[Value]] = []
        number = 1
        for param in tool.params:
            listed = self.schema.sort(param.sort).values
            active = sorted(state.active_domain[param.sort])
            ranges.append([*active, unknown(param.sort)] if listed is None else list(listed))
            number *= len(ranges[-1])
        if number <= most:
            return [Call(tool.name, args) for args in _every(ranges)]
        found: dict[Call, None] = {}
        for _ in range(most * 2):
            args = tuple(self._one(choices) for choices in ranges)
            found[Call(tool.name, args)] = None
        return list(found)[:most]

    def _one(self, choices: list[Value]) -> Value:
        """Return one of the values, the last (an unknown one) seldom."""
        if len(choices) > 1 and self.random.random() < 0.9:
            return self.random.choice(choices[:-1] if choices[-1].endswith("_unknown") else choices)
        return choices[-1] if choices[-1].endswith("_unknown") else self.random.choice(choices)


def unknown(sort: str) -> Value:
    """Return an identifier that is in no database."""
    return f"{sort}_unknown"


def _every(ranges: list[list[Value]]) -> Iterator[tuple[Value, ...]]:
    if not ranges:
        yield ()
        return
    for first in ranges[0]:
        for rest in _every(ranges[1:]):
            yield (first, *rest)
