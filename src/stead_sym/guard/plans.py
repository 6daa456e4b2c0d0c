"""The queries that decide the calls of tools, and those that list the calls that are allowed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa

from stead_sym.data.spelling import Unusable
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.gates import matched
from stead_sym.deployment.parts import Gate
from stead_sym.deployment.tool import Tool
from stead_sym.errors import InputError
from stead_sym.guard.cells import Cell, Cells
from stead_sym.guard.coverage import LiveCoverage
from stead_sym.guard.decision import Allowed, Decision, NeverMet, ToolCall
from stead_sym.guard.queries import Item, Queries, Slot
from stead_sym.guard.rules import Rules, bounds_of, rules_for
from stead_sym.logic.syntax import (
    Binder,
    Const,
    Count,
    Equal,
    Expanded,
    Not,
    Var,
    conjunction,
    disjunction,
    tells_of_steps,
)

_ARGUMENT = "arg_"  # before a parameter's name: what stands for its argument in queries


@dataclass(frozen=True, slots=True)
class _Plan:
    """The conditions that decide the calls of a tool.

    The ``query`` has a column for the guard, one for each line of the gates, and one for each bound, as the
    ``rules`` have them; each is true in favour of the call. ``formula`` is true of the calls that guard and
    gates let through, and ``possibly`` has one column: it is possibly true.
    """

    tool: Tool
    rules: Rules
    formula: Expanded
    query: sa.Select[Any]
    possibly: sa.Select[Any]


class Plans:
    """Queries over the bound tables for the tools of an agent, behind gates and within bounds."""

    def __init__(
        self,
        deployment: Deployment,
        cells: Cells,
        tools: Iterable[Tool],
        gates: Sequence[Gate],
        *,
        bounds: bool,
        coverage: LiveCoverage | None = None,
        never_met: NeverMet | None = None,
    ) -> None:
        """Build the queries that decide; raise `InputError` if a formula is none of a live database."""
        self._coverage = coverage
        self._never_met = never_met
        self._deployment = deployment
        self._cells = cells
        self._queries = Queries(cells)
        self._bounds = dict(self._bounded()) if bounds else {}
        self._listings: dict[tuple[str, str | None], Sequence[sa.Select[Any]]] = {}
        self._plans = {tool.name: self._plan(tool, gates) for tool in tools}

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools by name."""
        return {name: plan.tool for name, plan in self._plans.items()}

    @property
    def sought(self) -> Iterable[tuple[str, str]]:
        """The columns of tables in which the queries so far look for a value."""
        return self._queries.sought

    def decide(
        self,
        connection: sa.Connection,
        call: ToolCall,
        contents: Mapping[str, object],
        approved: str | None = None,
    ) -> Decision:
        """Return the decision about a call with the contents that stand for its arguments."""
        plan = self._plans[call.tool]
        row = connection.execute(plan.query, _given(contents)).one()
        read = plan.rules.reading([bool(value) for value in row])
        decision = plan.rules.decide(call, read)
        if isinstance(decision, Allowed) and self._coverage is not None:
            gap = self._coverage.gap(connection, plan.tool, contents)
            return plan.rules.decide(call, replace(read, gap=gap), approved)
        if isinstance(decision, Allowed) or decision.reason == "past a bound" or not self._cells.any_loose:
            return decision
        possibly = bool(connection.execute(plan.possibly, _given(contents)).scalar_one())
        return plan.rules.decide(call, replace(read, possibly=possibly))

    def within_bounds(self, connection: sa.Connection) -> bool:
        """Return True if the database keeps all bounds."""
        return not self._bounds or all(connection.execute(sa.select(*self._bounds.values())).one())

    def allowed(self, connection: sa.Connection, limit: int) -> Sequence[ToolCall]:
        """Return calls that are allowed, at most ``limit`` of each tool."""
        if not self.within_bounds(connection):
            return ()
        among = self._among(connection)
        plans = self._plans.values()
        return [call for plan in plans for call in self._listed(connection, plan, None, {}, limit, among)]

    def _among(self, connection: sa.Connection) -> Sequence[ToolCall] | None:
        """Return the covered calls, or None if whatever guard and gates let through may be listed."""
        if self._coverage is None or self._never_met == "allow":
            return None
        return self._coverage.calls(connection)

    def instead(
        self, connection: sa.Connection, of: Tool | None, contents: Mapping[str, object], limit: int
    ) -> Sequence[ToolCall]:
        """Return at most ``limit`` calls that are allowed, first those about the values of a call."""
        if not limit or not self._plans or not self.within_bounds(connection):
            return ()
        among = self._among(connection)
        plans = sorted(self._plans.values(), key=lambda plan: plan.tool is of)  # other tools first
        found: list[ToolCall] = []
        for related, each in ((of, limit), (None, max(1, limit // len(plans)))):
            for plan in plans:
                if len(found) < limit and (related is None or _shared(plan.tool, related)):
                    more = self._listed(connection, plan, related, _given(contents), each, among)
                    found.extend(call for call in more if call not in found)
        return tuple(found[:limit])

    def _listed(
        self,
        connection: sa.Connection,
        plan: _Plan,
        related: Tool | None,
        given: Mapping[str, object],
        limit: int,
        among: Sequence[ToolCall] | None,
    ) -> Sequence[ToolCall]:
        """Return calls of a tool that guard and gates let through, with values of a call of ``related``."""
        found: list[ToolCall] = []
        params = plan.tool.params
        for query in self._listing(plan, related):
            most = query.limit(limit - len(found)) if among is None else query
            for row in connection.execute(most, given):
                with suppress(Unusable):  # a content that no call can name
                    shown = zip(params, row, strict=False)  # a tool without parameters has one column
                    named = {p.name: self._cells.shown(u, p.sort) for p, u in shown}
                    call = ToolCall(plan.tool.name, named)
                    if call not in found and (among is None or call in among):
                        found.append(call)
            if len(found) >= limit:
                break
        if among is not None:
            found.sort(key=among.index)
        return found[:limit]

    def _listing(self, plan: _Plan, related: Tool | None) -> Sequence[sa.Select[Any]]:
        """Return the queries for the calls of a tool that guard and gates let through."""
        key = plan.tool.name, None if related is None else related.name
        if key not in self._listings:
            slots = [Slot(p.sort, self._is_finite(p.sort)) for p in plan.tool.params]
            scope: dict[str, Cell | Slot] = dict(zip((p.name for p in plan.tool.params), slots, strict=True))
            items: list[Item] = [(plan.formula, dict(scope))]
            for name, among in _shared(plan.tool, related).items():
                cells = {f"given {p.name}": self._parameter(p) for p in among}  # no name has a space
                same = disjunction(tuple(Equal(Var(name), Var(other)) for other in cells))
                items.append((same, {name: scope[name], **cells}))
            self._listings[key] = [
                join.select(
                    *(join.cells[slot].expression for slot in slots), sa.literal_column("1")
                ).distinct()
                for join in self._queries.rows(slots, items, surely=True)
            ]
        return self._listings[key]

    def _plan(self, tool: Tool, gates: Sequence[Gate]) -> _Plan:
        deployment = self._deployment
        sorts = {param.name: param.sort for param in tool.params}
        scope = {param.name: self._parameter(param) for param in tool.params}
        guard = deployment.formula(f"offered {tool.name}({', '.join(sorts)})", sorts)
        favouring, parts = [guard], [guard]
        for gate in gates:
            own = [line for line in gate.lines if line.tool == tool.name]
            formulas = [deployment.formula(matched(line, tool), sorts) for line in own]
            favour = [f if line.permits else Not(f) for line, f in zip(own, formulas, strict=True)]
            favouring.extend(favour)
            parts.extend(f for line, f in zip(own, favour, strict=True) if not line.permits)
            if gate.denies:
                parts.append(
                    disjunction(tuple(f for line, f in zip(own, favour, strict=True) if line.permits))
                )
        if any(map(tells_of_steps, favouring)):
            raise InputError(
                f"what decides {tool.name} depends on steps, which live data do not tell: keep what matters"
                " in a relation, instead of `did` and `once`"
            )
        columns = [self._queries.condition(formula, scope, surely=True) for formula in favouring]
        columns += self._bounds.values()
        labelled: list[sa.ColumnElement[Any]] = [
            column.label(f"c{place}") for place, column in enumerate(columns)
        ]
        query: sa.Select[Any] = sa.select(*labelled)
        bounds = {sort: deployment.bounds[sort] for sort in self._bounds}
        rules = rules_for(tool, gates, deployment, bounds, self._never_met)
        formula = conjunction(tuple(parts))
        possibly = sa.select(self._queries.condition(formula, scope, surely=False))
        return _Plan(tool, rules, formula, query, possibly)

    def _bounded(self) -> Iterator[tuple[str, sa.ColumnElement[bool]]]:
        """Yield each bounded sort, and the condition that the database keeps its bound."""
        for sort, bound in bounds_of(self._deployment).items():
            others = conjunction(
                tuple(Not(Equal(Var("x"), Const(one))) for one in self._deployment.constants[sort])
            )
            few = Count("atmost", bound, Binder("x", sort), others)
            yield sort, self._queries.condition(few, {}, surely=True)

    def _parameter(self, param: Binder) -> Cell:
        return Cell(sa.bindparam(_ARGUMENT + param.name, type_=self._cells.type_of(param.sort)), param.sort)

    def _is_finite(self, sort: str) -> bool:
        return self._deployment.schema.sort(sort).values is not None

    def try_all(self, connection: sa.Connection) -> None:
        """Run each query once, so that the database has refused what it refuses."""
        for plan in self._plans.values():
            samples = {_ARGUMENT + p.name: self._cells.sample(p.sort) for p in plan.tool.params}
            connection.execute(plan.query, samples).one()
            for query in self._listing(plan, None):
                connection.execute(query.limit(1)).all()


def _given(contents: Mapping[str, object]) -> Mapping[str, object]:
    return {_ARGUMENT + name: content for name, content in contents.items()}


def _shared(tool: Tool, related: Tool | None) -> Mapping[str, Sequence[Binder]]:
    """Return the parameters of a tool with those of another that have the same sort."""
    if related is None:
        return {}
    shared = {p.name: [other for other in related.params if other.sort == p.sort] for p in tool.params}
    return {name: among for name, among in shared.items() if among}
