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
from stead_sym.deployment.printer import print_line
from stead_sym.deployment.tool import Tool
from stead_sym.errors import InputError
from stead_sym.guard.cells import Cell, Cells
from stead_sym.guard.decision import Allowed, Decision, Denied, ToolCall
from stead_sym.guard.queries import Item, Queries, Slot
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
class _Line:
    """A line of a gate for a tool, as it is printed."""

    text: str
    permits: bool


@dataclass(frozen=True, slots=True)
class _GateLines:
    """The lines of a gate for a tool; ``denies`` if one of them has to permit a call."""

    gate: str
    denies: bool
    lines: tuple[_Line, ...]


@dataclass(frozen=True, slots=True)
class _Plan:
    """What decides the calls of a tool.

    ``guard`` is as it is printed. The ``query`` has a column for the guard, one for each line of the
    ``gates``, and one for each bound; each is true in favour of the call. ``formula`` is true of the calls
    that guard and gates let through, and ``possibly`` has one column: it is possibly true.
    """

    tool: Tool
    guard: str
    gates: tuple[_GateLines, ...]
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
    ) -> None:
        """Build the queries that decide; raise `InputError` if a formula is none of a live database."""
        self._deployment = deployment
        self._cells = cells
        self._queries = Queries(cells)
        self._bounds = list(self._bounded()) if bounds else []
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

    def decide(self, connection: sa.Connection, call: ToolCall, contents: Mapping[str, object]) -> Decision:
        """Return the decision about a call with the contents that stand for its arguments."""
        plan = self._plans[call.tool]
        row = iter(map(bool, connection.execute(plan.query, _given(contents)).one()))
        decision = self._judged(call, plan, next(row), row)
        if isinstance(decision, Allowed) or decision.reason == "past a bound" or not self._cells.any_loose:
            return decision
        if not connection.execute(plan.possibly, _given(contents)).scalar_one():
            return decision
        why = f"{decision.why}; that depends on a content which no value of its finite sort stands for"
        return replace(decision, reason="undecided", why=why)

    def _judged(self, call: ToolCall, plan: _Plan, guard: bool, row: Iterator[bool]) -> Decision:
        """Return the decision by the columns of the query, of which ``row`` has all after the first."""
        denied = None if guard else Denied(call, "not offered", f"its guard is not true: {plan.guard}")
        by = [f"guard {plan.guard}"]
        for gate in plan.gates:
            verdicts = [(line, next(row)) for line in gate.lines]
            permitting = [line.text for line, verdict in verdicts if line.permits and verdict]
            by.extend(f"gate {gate.gate}: {text}" for text in permitting)
            forbidding = [line.text for line, verdict in verdicts if not line.permits and not verdict]
            if forbidding:
                why = f"gate {gate.gate} does not let it through: {forbidding[0]}"
                denied = denied or Denied(call, "not allowed", why, gate.gate)
            elif gate.denies and not permitting:
                why = f"no line of gate {gate.gate} permits it"
                denied = denied or Denied(call, "not allowed", why, gate.gate)
        for (sort, bound, _), within in zip(self._bounds, row, strict=True):
            if not within:
                why = f"more than {bound} values of sort {sort} are in use, for which nothing is verified"
                return Denied(call, "past a bound", why)
        return denied or Allowed(call, tuple(by))

    def within_bounds(self, connection: sa.Connection) -> bool:
        """Return True if the database keeps all bounds."""
        if not self._bounds:
            return True
        return all(connection.execute(sa.select(*(condition for _, _, condition in self._bounds))).one())

    def allowed(self, connection: sa.Connection, limit: int) -> Sequence[ToolCall]:
        """Return calls that are allowed, at most ``limit`` of each tool."""
        if not self.within_bounds(connection):
            return ()
        plans = self._plans.values()
        return [call for plan in plans for call in self._listed(connection, plan, None, {}, limit)]

    def instead(
        self, connection: sa.Connection, of: Tool | None, contents: Mapping[str, object], limit: int
    ) -> Sequence[ToolCall]:
        """Return at most ``limit`` calls that are allowed, first those about the values of a call."""
        if not limit or not self._plans or not self.within_bounds(connection):
            return ()
        plans = sorted(self._plans.values(), key=lambda plan: plan.tool is of)  # other tools first
        found: list[ToolCall] = []
        for related, each in ((of, limit), (None, max(1, limit // len(plans)))):
            for plan in plans:
                if len(found) < limit and (related is None or _shared(plan.tool, related)):
                    more = self._listed(connection, plan, related, _given(contents), each)
                    found.extend(call for call in more if call not in found)
        return tuple(found[:limit])

    def _listed(
        self,
        connection: sa.Connection,
        plan: _Plan,
        related: Tool | None,
        given: Mapping[str, object],
        limit: int,
    ) -> Sequence[ToolCall]:
        """Return calls of a tool that guard and gates let through, with values of a call of ``related``."""
        found: list[ToolCall] = []
        params = plan.tool.params
        for query in self._listing(plan, related):
            for row in connection.execute(query.limit(limit - len(found)), given):
                with suppress(Unusable):  # a content that no call can name
                    shown = zip(params, row, strict=False)  # a tool without parameters has one column
                    named = {p.name: self._cells.shown(u, p.sort) for p, u in shown}
                    call = ToolCall(plan.tool.name, named)
                    if call not in found:
                        found.append(call)
            if len(found) >= limit:
                break
        return found

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
        lines_of: list[_GateLines] = []
        for gate in gates:
            own = [line for line in gate.lines if line.tool == tool.name]
            formulas = [deployment.formula(matched(line, tool), sorts) for line in own]
            lines = [_Line(print_line(line), line.permits) for line in own]
            if lines or gate.denies:
                lines_of.append(_GateLines(gate.name, gate.denies, tuple(lines)))
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
        columns += [condition for _, _, condition in self._bounds]
        labelled: list[sa.ColumnElement[Any]] = [
            column.label(f"c{place}") for place, column in enumerate(columns)
        ]
        query: sa.Select[Any] = sa.select(*labelled)
        written = next(one for one in deployment.written.tools if one.name == tool.name)
        formula = conjunction(tuple(parts))
        possibly = sa.select(self._queries.condition(formula, scope, surely=False))
        return _Plan(tool, str(written.guard), tuple(lines_of), formula, query, possibly)

    def _bounded(self) -> Iterator[tuple[str, int, sa.ColumnElement[bool]]]:
        """Yield each bounded sort, its bound, and the condition that the database keeps it."""
        for sort, bound in self._deployment.bounds.items():
            if sort not in self._deployment.unbounded and not self._is_finite(sort):
                constants = self._deployment.constants[sort]
                others = conjunction(tuple(Not(Equal(Var("x"), Const(one))) for one in constants))
                few = Count("atmost", bound, Binder("x", sort), others)
                yield sort, bound, self._queries.condition(few, {}, surely=True)

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
