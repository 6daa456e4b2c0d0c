"""Write a deployment as SQL: its tables, the rows of `init`, and each tool as one transaction.

What is written is in the subset and the spelling that `stead-sym import --sql` reads: SELECTs that have to
return a row are the guard, and INSERT, UPDATE and DELETE the effect.

One decision: an effect reads the state before it, and statements run one after the other. So a statement that
reads a table comes before those that change it; if no order does that, the tool is left out with its reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import assert_never

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import (
    Assign,
    Choose,
    Clear,
    Delete,
    Effect,
    Ensure,
    Fresh,
    Insert,
    Statement,
    Tool,
)
from stead_sym.errors import InputError, Span
from stead_sym.export.conditions import Cell
from stead_sym.export.sql_conditions import (
    YES,
    Condition,
    Join,
    OutsideSql,
    Scope,
    SqlConditions,
    all_of,
    any_of,
    negation,
)
from stead_sym.export.sql_tables import (
    SQL_DIALECTS,
    THERE,
    Dialect,
    SqlTable,
    rows_text,
    schema_text,
    sql_tables,
    text_literal,
)
from stead_sym.logic.sorts import is_wildcard
from stead_sym.logic.substitution import expand, fresh_name
from stead_sym.relational.schema import Schema

SCHEMA, ROWS, TOOLS = "schema.sql", "rows.sql", "tools.sql"

_NO_PARAMETERS = re.compile(
    "alter|as|between|create|cross|distinct|drop|else|except|fetch|for|from|glob|grant|having|ilike|inner|insert"
    "|intersect|into|join|like|notnull|on|only|outer|returning|rollback|select|then|union|using|values|variadic"
    "|when|where|with",
    re.IGNORECASE,
)
"""Words that `sqlglot` does not read as the names of parameters."""


@dataclass(frozen=True, slots=True)
class Sql:
    """A deployment as SQL: what creates its ``tables``, the ``rows`` of `init`, and its ``tools``.

    ``left_out`` says what is not in it, each with its place and reason.
    """

    tables: str
    rows: str
    tools: str
    left_out: tuple[str, ...]

    def write(self, folder: str | Path) -> None:
        """Write the files into a folder, which is created if it does not exist; no file without rows."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in ((SCHEMA, self.tables), (ROWS, self.rows), (TOOLS, self.tools)):
            if text or name != ROWS:
                (folder / name).write_text(text, encoding="utf-8")


def to_sql(deployment: Deployment, dialect: Dialect = "postgres") -> Sql:
    """Return a deployment as SQL for `postgres` or `sqlite`.

    Raise `InputError` for another dialect, and for a deployment without relations.
    """
    if dialect not in SQL_DIALECTS:
        raise InputError(f"{dialect!r} is no dialect to export; take {' or '.join(SQL_DIALECTS)}")
    tables = sql_tables(deployment, dialect)
    if not tables:
        raise InputError(f"{deployment.name} has no relations to export; write `relation NAME(…)`")
    left_out = [
        f"{name} total {table.relation.total}: no constraint of SQL says it"
        for name, table in tables.items()
        if table.relation.total is not None
    ]
    texts = []
    for tool in deployment.written.tools:
        try:
            texts.append(_Transaction(deployment, tables, tool).text())
        except OutsideSql as error:
            left_out.append(f"{tool.name}, {error}")
            texts.append(f"-- left out: {' '.join(f'{tool.name}, {error}'.split())}\n")
    head = f"-- The tables of {deployment.name}.\n"
    return Sql(
        head + schema_text(deployment, tables, dialect),
        rows_text(deployment, tables),
        "\n".join(texts),
        tuple(left_out),
    )


@dataclass(frozen=True, slots=True)
class _Change:
    """A statement that changes the table of a relation; ``reads`` are the relations of its queries.

    ``keys`` are those of the only row that an UPDATE changes, None if there may be several.
    """

    kind: str
    relation: str
    text: str
    reads: frozenset[str]
    span: Span | None
    keys: tuple[fo.Term, ...] | None = None


class _Transaction:
    """A tool while it is written."""

    def __init__(self, deployment: Deployment, tables: Mapping[str, SqlTable], tool: Tool) -> None:
        self._deployment = deployment
        self._schema: Schema = deployment.schema
        self._tables = tables
        self._tool = tool
        self._conditions = SqlConditions(tables, deployment.schema)
        self._scope: dict[str, Cell[str]] = {p.name: Cell(f":{p.name}", p.sort) for p in tool.params}
        self._fresh: list[Cell[str]] = []
        conditions = (tool.guard, *(effect.when for effect in tool.effects))  # without it there is no effect
        self._guard = fo.conjunction(tuple(map(self._expanded, conditions)))
        self._known = {param.name for param in tool.params}
        self._written = Counter(
            statement.atom.relation
            for effect in tool.effects
            for statement in effect.statements
            if isinstance(statement, Insert | Assign)
        )

    def text(self) -> str:
        """Return the transaction; raise `OutsideSql`, with the place."""
        tool = self._tool
        for param in tool.params:
            if _NO_PARAMETERS.fullmatch(param.name):
                raise self._outside(f"the parameter {param.name} is a word of SQL; rename it", tool.span)
        for part in (*fo.conjuncts(tool.guard), *(effect.when for effect in tool.effects)):
            if fo.tells_of_steps(part):
                raise self._outside(
                    f"`{part}` is about the past, which tables do not have; keep what matters in one",
                    part.span or tool.span,
                )
        effect = self._effect()
        changes = self._ordered([*self._changes(effect)])
        words = tool.description
        if tool.event:
            words = f"Not called by an agent: an event. {words}".strip()
        told = [f"-- {line}" for line in words.splitlines()]
        lines = [f"-- name: {tool.name}", *told, *self._selects(), *(one.text for one in changes)]
        if len(lines) == 1 + len(told):
            lines.append("SELECT 1 WHERE TRUE")
        head, body = lines[: 1 + len(told)], lines[1 + len(told) :]
        return "\n".join([*head, *(f"{one};" for one in body)]) + "\n"

    def _expanded(self, formula: fo.Formula) -> fo.Formula:
        return expand(formula, self._deployment.names.definitions)

    def _outside(self, why: str, span: Span | None) -> OutsideSql:
        line = "" if span is None else f"line {span.line}: "
        return OutsideSql(f"{line}{why}")

    def _effect(self) -> Effect:
        """Return the only alternative of the tool."""
        tool = self._tool
        if len(tool.effects) != 1:
            raise self._outside(
                f"it has {len(tool.effects)} alternatives, and a transaction has one outcome; write a tool"
                " for each",
                tool.effects[1].span or tool.span,
            )
        [effect] = tool.effects
        if effect.refused:
            raise self._outside("it is refused, which changes nothing; leave the tool out", effect.span)
        return effect

    # the guard

    def _selects(self) -> Iterator[str]:
        """Yield the SELECTs that have to return a row."""
        loose = [param for param in self._tool.params if not self._conditions.gives(self._guard, param.name)]
        for part in fo.conjuncts(self._guard):
            try:
                yield from self._select(part)
            except OutsideSql as error:
                raise self._outside(str(error), part.span or self._tool.span) from None
        for param in loose:
            if not self._schema.is_finite(param.sort):
                self._conditions.begin()
                there = any_of([*self._conditions.somewhere(self._scope[param.name])])
                yield f"SELECT 1 WHERE {there.text}"
        for place, cell in enumerate(self._fresh):
            self._conditions.begin()
            others = [one.expression for one in self._fresh[:place] if one.sort == cell.sort]
            others += map(text_literal, self._deployment.constants[cell.sort])
            known = [Condition(f"{cell.expression} <> {other}") for other in others]
            nowhere = [negation(one) for one in self._conditions.somewhere(cell)]
            yield f"SELECT 1 WHERE {all_of([*nowhere, *known]).text}"

    def _select(self, part: fo.Formula) -> Iterator[str]:
        """Yield what asks for a conjunct of the guard."""
        self._conditions.begin()
        if isinstance(part, fo.Atom):
            yield f"SELECT 1{self._row(part).query}"
            return
        if isinstance(part, fo.Exists):
            joins = [*self._conditions.joins((), [part], self._scope, surely=True)]
            if len(joins) == 1 and joins[0].sources:
                yield f"SELECT 1{joins[0].query}"
                return
            yield f"SELECT 1 WHERE {any_of([join.is_not_empty for join in joins]).text}"
            return
        condition = self._conditions.condition(part, self._scope)
        if condition != YES:
            yield f"SELECT 1 WHERE {condition.text}"

    def _row(self, atom: fo.Atom) -> Join:
        """Return the query for the row of a fact without variables."""
        table = self._tables[atom.relation]
        self._conditions.read.add(atom.relation)
        where = all_of(
            [
                Condition(f"{column} = {self._conditions.content(term, self._scope, sort)}")
                for column, term, sort in zip(table.columns, atom.args, table.relation.sorts, strict=True)
            ]
        )
        return Join((table.name,), where, {})

    # the effect

    def _changes(self, effect: Effect) -> Iterator[_Change]:
        """Yield the statements that the effect is, in any order."""
        columns: dict[tuple[object, ...], list[Assign]] = {}
        for statement in effect.statements:
            if isinstance(statement, Assign) and statement.column is not None:
                alike = (
                    statement.atom.relation,
                    statement.atom.args[:-1],
                    statement.binders,
                    statement.where,
                )
                columns.setdefault(alike, []).append(statement)
        for statement in effect.statements:
            try:
                yield from self._statement(statement)
            except OutsideSql as error:
                raise self._outside(str(error), statement.span or self._tool.span) from None
        for sets in columns.values():
            atom, span = sets[0].atom, sets[0].span
            names = self._schema.relation(atom.relation).columns
            values = [(names.index(one.column or ""), one.atom.args[-1]) for one in sets]
            try:
                yield self._updated(
                    atom.relation, atom.args[:-1], values, sets[0].binders, sets[0].where, span
                )
            except OutsideSql as error:
                raise self._outside(str(error), span or self._tool.span) from None

    def _statement(self, statement: Statement) -> Iterator[_Change]:
        match statement:
            case Fresh(binder):
                self._new(binder)
            case Choose(binder):
                raise OutsideSql(f"`choose {binder}` is decided by nobody; make {binder.name} a parameter")
            case Ensure():
                raise OutsideSql("`ensure` relates two states; write what is inserted and deleted")
            case Clear(relations):
                for relation in relations:
                    text = f"DELETE FROM {self._tables[relation].name}"
                    yield _Change("delete", relation, text, frozenset(), statement.span)
            case Insert(atom, binders, where):
                yield from self._inserted(atom, binders, where, statement.span)
            case Delete(atom, binders, where):
                yield self._deleted(atom, binders, where, statement.span)
            case Assign() if statement.column is None:
                yield from self._assigned(statement)
            case Assign():
                pass  # together with the other columns of the row
            case _:
                assert_never(statement)

    def _new(self, binder: fo.Binder) -> None:
        """Let a new identifier be a parameter of the transaction."""
        word = f"{binder.name}_id" if _NO_PARAMETERS.fullmatch(binder.name) else binder.name
        name = fresh_name(word, self._known)
        self._known.add(name)
        cell = Cell(f":{name}", binder.sort)
        self._scope[binder.name] = cell
        self._fresh.append(cell)

    def _inserted(
        self, atom: fo.Atom, binders: Sequence[fo.Binder], where: fo.Formula, span: Span | None
    ) -> Iterator[_Change]:
        table, conditions = self._tables[atom.relation], self._conditions
        into = f"INSERT INTO {table.name} ({', '.join(table.written)})"
        where = self._expanded(where)
        conditions.begin()
        if not binders and where == fo.TRUE:
            cells = self._cells(atom, self._scope)
            new = {cell.expression for cell in self._fresh} & {cells[place] for place in table.key}
            alone = self._written[atom.relation] == 1
            ending = "" if new and alone else " ON CONFLICT DO NOTHING"
            text = f"{into} VALUES ({', '.join(cells)}){ending}"
            yield _Change("insert", atom.relation, text, frozenset(conditions.read), span)
            return
        for join in [*conditions.joins(binders, [where], self._scope, surely=True)]:
            cells = self._cells(atom, join.scope)
            sources = f" FROM {', '.join(join.sources)}" if join.sources else ""
            # without WHERE, SQLite takes the next ON for one of FROM
            text = f"{into} SELECT {', '.join(cells)}{sources} WHERE {join.where.text} ON CONFLICT DO NOTHING"
            yield _Change("insert", atom.relation, text, frozenset(conditions.read), span)

    def _cells(self, atom: fo.Atom, scope: Scope) -> list[str]:
        """Return what a fact has in the columns of its row."""
        sorts = self._schema.relation(atom.relation).sorts
        cells = [
            self._conditions.content(term, scope, sort) for term, sort in zip(atom.args, sorts, strict=True)
        ]
        return cells or [THERE[1]]

    def _deleted(
        self, atom: fo.Atom, binders: Sequence[fo.Binder], where: fo.Formula, span: Span | None
    ) -> _Change:
        table = self._tables[atom.relation]
        self._conditions.begin(atom.relation)
        own = [(k, term) for k, term in enumerate(atom.args) if not is_wildcard(term)]
        condition, _ = self._of_row(table, own, binders, [self._expanded(where)])
        text = f"DELETE FROM {table.name}{condition}"
        return _Change("delete", atom.relation, text, frozenset(self._conditions.read), span)

    def _of_row(
        self,
        table: SqlTable,
        own: Sequence[tuple[int, fo.Term]],
        binders: Sequence[fo.Binder],
        parts: Sequence[fo.Formula],
    ) -> tuple[str, Scope]:
        """Return the WHERE for the rows that hold these terms at these places and satisfy the parts.

        The cells of variables in a row come with it.
        """
        bound = {binder.name for binder in binders}
        scope = {name: cell for name, cell in self._scope.items() if name not in bound}
        given: list[tuple[int, fo.Term]] = []
        for place, term in own:
            if isinstance(term, fo.Var) and term.name in bound and term.name not in scope:
                sort = table.relation.sorts[place]
                scope[term.name] = Cell(f"{table.name}.{table.columns[place]}", sort)
            else:
                given.append((place, term))
        found = []
        for place, term in given:
            content = self._conditions.content(term, scope, table.relation.sorts[place])
            found.append(Condition(f"{table.name}.{table.columns[place]} = {content}"))
        left = [binder for binder in binders if binder.name not in scope]
        names = {binder.name for binder in left}
        about = [part for part in parts if fo.free_variables(part) & names]
        found += [self._conditions.condition(part, scope) for part in parts if part not in about]
        if left:
            whole = fo.quantify(fo.Exists, left, fo.conjunction(tuple(about)))
            found.append(self._conditions.condition(whole, scope))
        condition = all_of(found)
        return f" WHERE {condition.text}" * (condition != YES), scope

    def _assigned(self, statement: Assign) -> Iterator[_Change]:
        """Yield what replaces the rows of keys."""
        atom, binders, where = statement.atom, statement.binders, statement.where
        table = self._tables[atom.relation]
        others = [
            name
            for name, one in self._tables.items()
            if any(to == atom.relation for _, to in one.relation.refers)
        ]
        if others and (binders or where != fo.TRUE):
            raise OutsideSql(
                f"{others[0]} refers to {atom.relation}, whose rows are replaced under a condition; set their"
                " columns"
            )
        keys = tuple(atom.args[place] for place in table.key)
        if not others:
            gone = tuple(
                term if place in table.key else fo.Wildcard(table.relation.sorts[place])
                for place, term in enumerate(atom.args)
            )
            yield self._deleted(replace(atom, args=gone), binders, where, statement.span)
        elif len(keys) < len(atom.args):
            values = [(place, term) for place, term in enumerate(atom.args) if place not in table.key]
            yield self._updated(atom.relation, keys, values, (), fo.TRUE, statement.span)
        yield from self._inserted(atom, binders, where, statement.span)

    def _updated(
        self,
        relation: str,
        keys: Sequence[fo.Term],
        values: Sequence[tuple[int, fo.Term]],
        binders: Sequence[fo.Binder],
        where: fo.Formula,
        span: Span | None,
    ) -> _Change:
        """Return the statement that sets columns of the rows with these keys."""
        table, conditions = self._tables[relation], self._conditions
        conditions.begin(relation)
        slots, items = conditions.flat(binders, [self._expanded(where)])
        own = [*zip(table.key, keys, strict=True)]
        parts = []
        for item in items:  # the row itself, if its other columns are read
            match item:
                case fo.Atom(name, args) if name == relation and [args[k] for k in table.key] == [*keys]:
                    own += [(k, term) for k, term in enumerate(args) if k not in table.key]
                case _:
                    parts.append(item)
        condition, scope = self._of_row(table, own, [*slots.values()], parts)
        cells = []
        for place, term in values:
            lost = sorted(fo.free_variables(fo.Equal(term, term)) - scope.keys())
            if lost:
                raise OutsideSql(
                    f"{lost[0].partition(' ')[0]} is looked up in another table; make it a parameter that the"
                    " guard checks"
                )
            content = conditions.content(term, scope, table.relation.sorts[place])
            cells.append(f"{table.columns[place]} = {content}")
        text = f"UPDATE {table.name} SET {', '.join(cells)}{condition}"
        pinned = all(str(term) not in slots for term in keys)
        return _Change(
            "update", relation, text, frozenset(conditions.read), span, tuple(keys) if pinned else None
        )

    # the order

    def _ordered(self, changes: Sequence[_Change]) -> list[_Change]:
        """Return the statements so that each reads what the effect reads; raise `OutsideSql` if none does."""
        for k, one in enumerate(changes):
            for other in changes[:k]:
                if one.relation == other.relation and not self._together(one, other):
                    raise self._outside(
                        f"rows of {one.relation} are changed by two statements, which may be the same rows;"
                        " let the guard say that their keys differ, or write two tools",
                        one.span or self._tool.span,
                    )
        place = {name: k for k, name in enumerate(self._tables)}
        rank = {
            id(one): {
                "delete": (0, -place[one.relation]),
                "update": (1, 0),
                "insert": (2, place[one.relation]),
            }[one.kind]
            for one in changes
        }
        left, ordered = sorted(changes, key=lambda one: rank[id(one)]), list[_Change]()
        while left:
            first = next(
                (one for one in left if not any(_before(other, one) for other in left if other is not one)),
                None,
            )
            if first is None:
                raise self._outside(
                    f"what is done to {left[0].relation} depends on what another statement changes, and"
                    " the other way round; write two tools",
                    left[0].span or self._tool.span,
                )
            left.remove(first)
            ordered.append(first)
        return ordered

    def _together(self, one: _Change, other: _Change) -> bool:
        """Return True if two statements that change one table may follow each other, in the right order."""
        kinds = {one.kind, other.kind}
        if kinds == {"update", "delete"}:
            return False
        if kinds != {"update"}:
            return True
        if not any(self._reads_row(change) for change in (one, other)):
            return True
        if one.keys is None or other.keys is None:
            return False
        apart = {
            pair
            for part in fo.conjuncts(self._guard)
            if isinstance(part, fo.Not) and isinstance(part.body, fo.Equal)
            for pair in ((part.body.left, part.body.right), (part.body.right, part.body.left))
        }
        return any(pair in apart or _different(*pair) for pair in zip(one.keys, other.keys, strict=True))

    def _reads_row(self, change: _Change) -> bool:
        """Return True if a statement reads columns of its table that are no key."""
        table = self._tables[change.relation]
        others = [column for k, column in enumerate(table.columns) if k not in table.key]
        return change.relation in change.reads or any(
            re.search(rf"(?<![\w\"]){re.escape(f'{table.name}.{column}')}(?![\w\"])", change.text)
            for column in others
        )


def _before(one: _Change, other: _Change) -> bool:
    """Return True if a statement has to come before another one."""
    if one.relation == other.relation and one.kind != other.kind:
        return other.kind == "insert" or other.relation in one.reads
    return other.relation in one.reads


def _different(one: fo.Term, other: fo.Term) -> bool:
    return isinstance(one, fo.Const) and isinstance(other, fo.Const) and one.value != other.value
