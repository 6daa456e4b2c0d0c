"""The queries that decide the calls of tools, and those that list the calls that are allowed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa

import stead_sym.logic.syntax as fo
from stead_sym.data.spelling import Unusable
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.gates import matched
from stead_sym.deployment.parts import Gate
from stead_sym.deployment.tool import Tool
from stead_sym.errors import InputError
from stead_sym.export.conditions import Cell
from stead_sym.guard.cells import Cells, SqlCell
from stead_sym.guard.coverage import CoveredNow, LiveCoverage
from stead_sym.guard.decision import Allowed, Decision, NeverMet, Proposal, Reading, ToolCall, shown
from stead_sym.guard.queries import Queries
from stead_sym.guard.rules import Rules, bounds_of, rules_for
from stead_sym.logic.names import nearest

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
    formula: fo.Expanded
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

    def contents(self, call: ToolCall) -> Mapping[str, object]:
        """Return what stands for the arguments of a call of a tool; raise `Unusable`."""
        params = self._plans[call.tool].tool.params
        names = [param.name for param in params]
        for name in call.arguments:
            if name not in names:
                there = f"there are {', '.join(names)}" if names else "it takes none"
                name = shown(name)
                raise Unusable(f"there is no argument {name}; {nearest(name, names, there)}")
        contents = {}
        for param in params:
            if param.name not in call.arguments:
                raise Unusable(f"the argument {param.name} is missing")
            try:
                contents[param.name] = self._cells.argument(call.arguments[param.name], param.sort)
            except Unusable as error:
                raise Unusable(f"the argument {param.name} {error}") from None
        return contents

    def covered(self, connection: sa.Connection) -> CoveredNow | None:
        """Return what the verification covers in the state that a transaction sees, or None without one."""
        return None if self._coverage is None else self._coverage.at(connection)

    def decide(
        self,
        connection: sa.Connection,
        proposal: Proposal,
        contents: Mapping[str, object],
        covered: CoveredNow | None,
    ) -> Decision:
        """Return the decision about a call with the contents that stand for its arguments."""
        call, plan = proposal.call, self._plans[proposal.call.tool]
        read = self._read(connection, plan, contents)
        decision = plan.rules.decide(call, read)
        if isinstance(decision, Allowed) and covered is not None:
            gap = covered.gap(plan.tool, contents)
            return plan.rules.decide(call, replace(read, gap=gap), proposal.approved)
        if isinstance(decision, Allowed) or decision.reason == "past a bound" or not self._cells.any_loose:
            return decision
        possibly = bool(connection.execute(plan.possibly, _given(contents)).scalar_one())
        return plan.rules.decide(call, replace(read, possibly=possibly))

    def _read(self, connection: sa.Connection, plan: _Plan, contents: Mapping[str, object]) -> Reading:
        row = connection.execute(plan.query, _given(contents)).one()
        return plan.rules.reading([bool(value) for value in row])

    def _within_bounds(self, connection: sa.Connection) -> bool:
        return not self._bounds or all(connection.execute(sa.select(*self._bounds.values())).one())

    def allowed(self, connection: sa.Connection, limit: int) -> Sequence[ToolCall]:
        """Return calls that are allowed, at most ``limit`` of each tool."""
        covered = self.covered(connection)
        if not self._within_bounds(connection):
            return ()
        plans = self._plans.values()
        return [call for plan in plans for call in self._listed(connection, plan, None, {}, limit, covered)]

    def instead(
        self,
        connection: sa.Connection,
        of: Tool | None,
        contents: Mapping[str, object],
        limit: int,
        covered: CoveredNow | None,
    ) -> Sequence[ToolCall]:
        """Return at most ``limit`` calls that are allowed, first those about the values of a call."""
        if not limit or not self._plans or not self._within_bounds(connection):
            return ()
        plans = sorted(self._plans.values(), key=lambda plan: plan.tool is of)  # other tools first
        found: list[ToolCall] = []
        for related, each in ((of, limit), (None, max(1, limit // len(plans)))):
            for plan in plans:
                if len(found) < limit and (related is None or _shared(plan.tool, related)):
                    more = self._listed(connection, plan, related, contents, each, covered)
                    found.extend(call for call in more if call not in found)
        return tuple(found[:limit])

    def _listed(
        self,
        connection: sa.Connection,
        plan: _Plan,
        related: Tool | None,
        given: Mapping[str, object],
        limit: int,
        covered: CoveredNow | None,
    ) -> Sequence[ToolCall]:
        """Return calls of a tool that are allowed, with values of a call of ``related``."""
        every = covered is None or covered.is_whole or self._never_met == "allow"
        rows = (
            self._let_through(connection, plan, related, given, limit)
            if covered is None or every
            else self._held(connection, plan, related, given, covered)
        )
        found: list[ToolCall] = []
        for contents in rows:
            with suppress(Unusable):  # a content that no call can name
                call = ToolCall(plan.tool.name, self._named(plan.tool, contents))
                if call not in found:
                    found.append(call)
            if len(found) >= limit:
                break
        return found

    def _named(self, tool: Tool, contents: Mapping[str, object]) -> Mapping[str, object]:
        """Return the arguments of a call with these contents; raise `Unusable` if no call can have them."""
        named = {p.name: self._cells.shown(contents[p.name], p.sort) for p in tool.params}
        for param in tool.params:
            self._cells.argument(named[param.name], param.sort)
        return named

    def _let_through(
        self,
        connection: sa.Connection,
        plan: _Plan,
        related: Tool | None,
        given: Mapping[str, object],
        limit: int,
    ) -> Iterator[Mapping[str, object]]:
        """Yield the contents of calls that guard and gates let through, first ``limit``, some more often."""
        params = plan.tool.params  # without any there is one column nevertheless
        for query in self._listing(plan, related):
            most, has_more = limit, True
            while has_more:  # if some are of no call
                rows = connection.execute(query.limit(most), _given(given)).all()
                yield from ({p.name: u for p, u in zip(params, row, strict=False)} for row in rows)
                has_more, most = 0 < most == len(rows), 8 * most

    def _held(
        self,
        connection: sa.Connection,
        plan: _Plan,
        related: Tool | None,
        given: Mapping[str, object],
        covered: CoveredNow,
    ) -> Iterator[Mapping[str, object]]:
        """Yield the contents of covered calls that guard and gates let through."""
        shared = _shared(plan.tool, related)
        for tool, contents in covered.calls():
            if tool == plan.tool.name and all(
                contents[name] in [given[p.name] for p in among] for name, among in shared.items()
            ):
                read = self._read(connection, plan, contents)
                if isinstance(plan.rules.decide(ToolCall(tool, {}), read), Allowed):
                    yield contents

    def _listing(self, plan: _Plan, related: Tool | None) -> Sequence[sa.Select[Any]]:
        """Return the queries for the calls of a tool that guard and gates let through."""
        key = plan.tool.name, None if related is None else related.name
        if key not in self._listings:
            params = [replace(p, declared=self._is_finite(p.sort)) for p in plan.tool.params]
            parts, scope = [plan.formula], dict[str, SqlCell]()
            for name, among in _shared(plan.tool, related).items():
                cells = {f"given {p.name}": self._parameter(p) for p in among}  # no name has a space
                parts.append(fo.disjunction(tuple(fo.Equal(fo.Var(name), fo.Var(other)) for other in cells)))
                scope |= cells
            self._listings[key] = [
                join.select(
                    *(join.scope[p.name].expression for p in params), sa.literal_column("1")
                ).distinct()
                for join in self._queries.rows(params, parts, scope, surely=True)
            ]
        return self._listings[key]

    def _plan(self, tool: Tool, gates: Sequence[Gate]) -> _Plan:
        deployment = self._deployment
        sorts = tool.scope
        scope = {param.name: self._parameter(param) for param in tool.params}
        guard = deployment.formula(f"offered {tool.name}({', '.join(sorts)})", sorts)
        favouring, parts = [guard], [guard]
        for gate in gates:
            own = [line for line in gate.lines if line.tool == tool.name]
            formulas = [deployment.formula(matched(line, tool), sorts) for line in own]
            favour = [f if line.permits else fo.Not(f) for line, f in zip(own, formulas, strict=True)]
            favouring.extend(favour)
            parts.extend(f for line, f in zip(own, favour, strict=True) if not line.permits)
            if gate.denies:
                parts.append(
                    fo.disjunction(tuple(f for line, f in zip(own, favour, strict=True) if line.permits))
                )
        if any(map(fo.tells_of_steps, favouring)):
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
        formula = fo.conjunction(tuple(parts))
        possibly = sa.select(self._queries.condition(formula, scope, surely=False))
        return _Plan(tool, rules, formula, query, possibly)

    def _bounded(self) -> Iterator[tuple[str, sa.ColumnElement[bool]]]:
        """Yield each bounded sort, and the condition that the database keeps its bound."""
        for sort, bound in bounds_of(self._deployment).items():
            others = fo.conjunction(
                tuple(
                    fo.Not(fo.Equal(fo.Var("x"), fo.Const(one))) for one in self._deployment.constants[sort]
                )
            )
            few = fo.Count("atmost", bound, fo.Binder("x", sort), others)
            yield sort, self._queries.condition(few, {}, surely=True)

    def _parameter(self, param: fo.Binder) -> SqlCell:
        return Cell(sa.bindparam(_ARGUMENT + param.name, type_=self._cells.type_of(param.sort)), param.sort)

    def _is_finite(self, sort: str) -> bool:
        return self._deployment.schema.is_finite(sort)

    def try_all(self, connection: sa.Connection) -> None:
        """Run each query once, so that the database has refused what it refuses."""
        for plan in self._plans.values():
            samples = {_ARGUMENT + p.name: self._cells.sample(p.sort) for p in plan.tool.params}
            connection.execute(plan.query, samples).one()
            for query in self._listing(plan, None):
                connection.execute(query.limit(1)).all()


def _given(contents: Mapping[str, object]) -> Mapping[str, object]:
    return {_ARGUMENT + name: content for name, content in contents.items()}


def _shared(tool: Tool, related: Tool | None) -> Mapping[str, Sequence[fo.Binder]]:
    """Return the parameters of a tool with those of another that have the same sort."""
    if related is None:
        return {}
    shared = {p.name: [other for other in related.params if other.sort == p.sort] for p in tool.params}
    return {name: among for name, among in shared.items() if among}
