"""The decisions that a verification covers, looked up for the state of a live database.

The state is read as an instance, small enough to be the state of a verification.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import sqlalchemy as sa

from stead_sym.analyses.covered_decisions import CoveredDecisions, listed_calls
from stead_sym.data.spelling import Unusable
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Call, Tool
from stead_sym.errors import CanonicalLimit, DeclarationError, Undecided
from stead_sym.guard.cells import Cells
from stead_sym.guard.decision import ToolCall
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Value


@dataclass(frozen=True, slots=True)
class LiveState:
    """The facts of a database, and for each value of an infinite sort in them the content it stands for."""

    instance: Instance
    contents: Mapping[tuple[str, Value], object]
    cells: Cells

    def content(self, value: Value, sort: str) -> object:
        """Return what stands for a value; raise `InputError` if nothing can."""
        held = (sort, value) in self.contents
        return self.contents[sort, value] if held else self.cells.content(value, sort)

    def as_proposed(self, call: Call, sorts: Mapping[str, str]) -> ToolCall:
        """Return a call on the state as an agent proposes it: the arguments by name, with their sorts."""
        pairs = zip(sorts.items(), call.args, strict=True)
        given = {name: self.cells.shown(self.content(value, sort), sort) for (name, sort), value in pairs}
        return ToolCall(call.tool, given)


def read_state(connection: sa.Connection, cells: Cells) -> LiveState:
    """Return the state of the database.

    Raise `Undecided` if a content stands for no value of its finite sort, and for more rows than a state
    within the bounds of the deployment has.
    """
    deployment = cells.deployment
    contents: dict[tuple[str, Value], object] = {}
    facts = [
        fact
        for relation in deployment.schema.relations
        for fact in _facts(connection, relation, _capacity(deployment, relation), cells, contents)
    ]
    return LiveState(Instance.of(deployment.schema, facts), contents, cells)


def _facts(
    connection: sa.Connection,
    relation: Relation,
    capacity: int | None,
    cells: Cells,
    contents: dict[tuple[str, Value], object],
) -> Iterator[Fact]:
    """Yield the facts of a relation, and note the contents of their values."""
    table = cells.rows_of(relation.name, listed=False)
    columns: list[sa.ColumnElement[Any]] = [
        cells.column(table, relation.name, place).expression for place in range(relation.arity)
    ]
    query = sa.select(*(columns or [sa.literal_column("1")])).select_from(table)  # 1 names no table
    query = query.where(*cells.is_fact(table, relation.name)).distinct()
    rows = connection.execute(query.limit(None if capacity is None else capacity + 1)).all()
    if capacity is not None and len(rows) > capacity:
        raise Undecided(
            f"{relation.name} has more than {capacity} facts, the most that any verified state has"
        )
    for row in rows:
        args = []
        for content, sort in zip(row, relation.sorts, strict=False):  # 1 stands for no columns
            try:
                value = cells.value(content, sort)
            except Unusable as error:
                raise Undecided(f"a column of {relation.name} {error}") from None
            if not cells.schema.is_finite(sort):
                contents[sort, value] = content
            args.append(value)
        yield Fact(relation.name, tuple(args))


def _capacity(deployment: Deployment, relation: Relation) -> int | None:
    """Return how many facts of a relation a state within the bounds has at most; None without bounds."""
    if deployment.unbounded.intersection(relation.sorts):
        return None
    return prod(
        len(values)
        if (values := deployment.schema.sort(sort).values) is not None
        else deployment.bounds[sort] + len(deployment.constants[sort])
        for sort in relation.sorts
    )


@dataclass(frozen=True, slots=True)
class LiveCoverage:
    """The verified decisions of the guarded agent, over the cells of its database."""

    decisions: CoveredDecisions
    cells: Cells

    def at(self, connection: sa.Connection) -> CoveredNow:
        """Return what is covered in the state that a transaction sees."""
        return CoveredNow(self, connection)


@dataclass(frozen=True, slots=True)
class _Covered:
    """The covered calls in a state, or why there are none."""

    calls: frozenset[Call] = frozenset()
    state: LiveState | None = None
    why_none: str = ""


@dataclass
class CoveredNow:
    """The calls that are covered in the state of one transaction, which is read once, when it is needed."""

    coverage: LiveCoverage
    connection: sa.Connection = field(repr=False)

    @property
    def is_whole(self) -> bool:
        """True if every offered call is covered."""
        return self.coverage.decisions.is_any

    def gap(self, tool: Tool, contents: Mapping[str, object]) -> str:
        """Return why the verification does not cover a call, or "" if it does."""
        if self.is_whole:
            return ""
        found, value = self._found, self.coverage.cells.value
        if found.state is None:
            return found.why_none
        call = Call(tool.name, tuple(value(contents[p.name], p.sort) for p in tool.params))
        return (
            "" if call in found.calls else f"{listed_calls(found.calls)} was verified here, and not this call"
        )

    def calls(self) -> Iterator[tuple[str, Mapping[str, object]]]:
        """Yield the covered calls, unless every one is, as tools with what stands for their arguments."""
        state = self._found.state
        if state is not None:
            tools = {tool.name: tool for tool in self.coverage.decisions.deployment.tools}
            for call in sorted(self._found.calls):
                pairs = zip(tools[call.tool].params, call.args, strict=True)
                yield call.tool, {p.name: state.content(value, p.sort) for p, value in pairs}

    @cached_property
    def _found(self) -> _Covered:
        decisions = self.coverage.decisions
        try:
            state = read_state(self.connection, self.coverage.cells)
            context = decisions.context(state.instance)
            calls = decisions.calls(context) if context.calls else None
        except (CanonicalLimit, DeclarationError, Undecided) as why:
            return _Covered(why_none=str(why))
        if calls is None:
            return _Covered(why_none=f"no context like it was met{decisions.beyond(context)}")
        return _Covered(calls, state)
