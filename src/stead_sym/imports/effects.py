"""Translate a transaction in SQL to the guard and the effect of a tool.

The guard is true where the transaction is carried out: every SELECT returns a row, and no constraint refuses
a statement. Where it is true, the effect leads to the database that the transaction leaves.

One decision: statements run one after the other, and an effect reads the old state only. So each statement is
translated for the rows that those before it have left; what would need more is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import stead_sym.logic.syntax as fo
from stead_sym.deployment.tool import Assign, Delete, Fresh, Insert, Statement
from stead_sym.imports.conditions import Layout, OutsideSubset, Reading, Row, Value, Where
from stead_sym.imports.sorts import DraftSort
from stead_sym.imports.tables import COMPUTED, ForeignKey, Table, Tables
from stead_sym.imports.tidy import exists, pinned, tidied, without_new, without_repetition
from stead_sym.imports.transactions import (
    SqlStatement,
    Transaction,
    absent,
    assignments,
    inserted_columns,
    kind_of,
    parameter_of,
    sources_of,
)
from stead_sym.logic.folding import fold, negate


@dataclass(frozen=True, slots=True)
class Translated:
    """The guard and the effect of a transaction.

    ``dropped`` are the parameters of new identifiers, which the effect chooses; ``left_out`` are columns that
    are written to and not kept. ``unknown`` are the parameters with which SQL may change something though the
    identifier is nowhere in the database: a call that a deployment does not offer.
    """

    guard: fo.Formula
    statements: tuple[Statement, ...]
    dropped: frozenset[str]
    left_out: tuple[str, ...]
    unknown: tuple[str, ...]


def translate(
    transaction: Transaction,
    tables: Tables,
    layouts: Mapping[str, Layout],
    parameters: Mapping[str, tuple[str, DraftSort | str]],
    spelled: Mapping[tuple[str, str], str],
) -> Translated:
    """Return the guard and the effect of a transaction.

    ``layouts`` are those of the tables that are kept, by names in lower case; ``parameters`` are the names in
    the deployment with their sorts, or why they have none; ``spelled`` are the values of finite sorts by
    texts. Raise `OutsideSubset`.
    """
    return _Translation(transaction, tables, layouts, parameters, spelled).translated()


@dataclass
class _Translation(Reading):
    """A transaction while it is translated; ``left_out`` are columns that are written to and not kept.

    ``there`` are parameters that are inserted as keys, and that a SELECT has found before.
    """

    guard: list[fo.Formula] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    left_out: dict[str, None] = field(default_factory=dict)
    line: int = 0
    there: frozenset[str] = frozenset()

    def translated(self) -> Translated:
        """Translate all statements."""
        self.names = {name for name, _ in self.parameters.values()}
        for statement in self.transaction.statements:
            self._new_identifiers(statement)
        self._nowhere()
        for statement in self.transaction.statements:
            self.line = statement.line
            try:
                self._statement(statement)
            except OutsideSubset as error:
                raise OutsideSubset(f"line {statement.line}: {error}") from None
        whole = fo.conjunction(tuple(self.guard))
        there = {w for w, v in self.fresh.items() if fold(without_new(whole, {v.name})) == fo.FALSE}
        if there - self.there:
            again = self.transaction, self.tables, self.layouts, self.parameters, self.spelled
            return _Translation(*again, there=self.there | there).translated()
        new = {one.binder.name for one in self.statements if isinstance(one, Fresh)}
        guard = fold(fo.conjunction(tuple(without_new(one, new) for one in self.guard)))
        guard = fold(without_repetition(guard))
        unknown = [
            word
            for word, (name, sort) in self.parameters.items()
            if isinstance(sort, DraftSort)
            and not sort.finite
            and word not in self.fresh
            and not self._needs(name, guard)
        ]
        return Translated(
            guard, tuple(self.statements), frozenset(self.fresh), tuple(self.left_out), tuple(unknown)
        )

    def _needs(self, name: str, guard: fo.Formula) -> bool:
        """Return True if nothing changes with a parameter whose value is nowhere in the database."""
        if fold(without_new(guard, {name})) == fo.FALSE:
            return True
        changes = [one for one in self.statements if isinstance(one, Insert | Delete | Assign)]
        return all(
            fold(without_new(one.where, {name})) == fo.FALSE
            or (not isinstance(one, Insert) and not one.binders and fo.Var(name) in _key_of(one))
            for one in changes
        )

    def _statement(self, statement: SqlStatement) -> None:
        parsed = statement.parsed
        if parsed.args.get("with_") or parsed.args.get("with"):
            raise OutsideSubset("WITH is not translated; write the query where it is used")
        match kind_of(parsed):
            case "select":
                self._select(parsed)
            case "insert":
                self._insert(parsed)
            case "update":
                self._update(parsed)
            case _:
                self._delete(parsed)

    # SELECT

    def _select(self, parsed: Any) -> None:
        """Require that a query returns a row."""
        if not sources_of(parsed) and parsed.args.get("where") is None:
            raise OutsideSubset("this SELECT always returns a row; write SELECT 1 WHERE …")
        self._returns_rows(parsed)
        self.guard.append(self._some(parsed))

    # INSERT

    def _new_identifiers(self, statement: SqlStatement) -> None:
        """Choose an identifier for each parameter that is inserted as a key of its own."""
        for table, column, value in assignments(statement, self.tables):
            layout, word = self.layouts.get(table.name.lower()), parameter_of(value)
            inserted = kind_of(statement.parsed) == "insert" and word not in {*self.fresh, *self.there}
            if layout is not None and inserted and word and _identifies(layout, column.lower()):
                self.fresh[word] = self._fresh(layout.terms[column.lower()][1])

    def _nowhere(self) -> None:
        """Choose an identifier for each parameter that no column of its sort may hold."""
        asked: dict[str, set[tuple[str, str]]] = {}
        for statement in self.transaction.statements:
            where = statement.parsed.args.get("where")
            if kind_of(statement.parsed) == "select" and not sources_of(statement.parsed) and where:
                for word, column in absent(where.this):
                    asked.setdefault(word, set()).add(column)
        for word, columns in asked.items():
            sort = self.parameters[word][1]
            if not isinstance(sort, DraftSort) or sort.finite or word in self.fresh:
                continue
            kept = {
                (name, column)
                for name, layout in self.layouts.items()
                for column in (*layout.terms, *layout.maybe)
                if layout.sort(column) is sort
            }
            if kept <= columns:
                self.fresh[word] = self._fresh(sort)

    def _insert(self, parsed: Any) -> None:
        conflict = parsed.args.get("conflict")
        plain = conflict is not None and conflict.sql().upper() == "ON CONFLICT DO NOTHING"
        if (conflict and not plain) or parsed.args.get("alternative") or parsed.args.get("ignore"):
            raise OutsideSubset(
                "what happens on a conflict is not translated; write a plain INSERT, or DO NOTHING"
            )
        schema = parsed.this
        layout = self._layout(schema.this if type(schema).__name__ == "Schema" else schema)
        columns = [one.lower() for one in inserted_columns(parsed, layout.table)]
        values = parsed.expression
        if parsed.args.get("default"):
            self._new(layout, {}, [], [], [], ignored=plain)
            return
        name = layout.table.name.lower()
        if kind_of(values) == "select":
            self._returns_rows(values)
            binders, parts = self._opened(values)
            sources = [self.rows[id(source)] for source in sources_of(values)]
            given = dict(zip(columns, (one.unalias() for one in values.expressions), strict=False))
            if len(given) != len(columns) or len(given) != len(values.expressions):
                raise OutsideSubset("the numbers of columns and values differ")
            if name in self.inserted and not plain:
                raise OutsideSubset(f"rows are inserted into {layout.table.name} twice; write one INSERT")
            self._new(layout, given, binders, parts, sources, ignored=plain)
            return
        if type(values).__name__ != "Values":
            raise OutsideSubset("an INSERT without VALUES or SELECT is not translated")
        for row in values.expressions:
            cells = row.expressions if type(row).__name__ == "Tuple" else [row]
            if len(cells) != len(columns):
                raise OutsideSubset("the numbers of columns and values differ")
            self._new(layout, dict(zip(columns, cells, strict=True)), [], [], [], ignored=plain)

    def _new(
        self,
        layout: Layout,
        given: Mapping[str, Any],
        binders: list[fo.Binder],
        parts: list[fo.Formula],
        sources: Sequence[Row],
        *,
        ignored: bool,
    ) -> None:
        """Insert a row with these values for all ``binders`` with which ``parts`` hold.

        Rows whose key is there already are ``ignored``, or else refused.
        """
        table, name = layout.table, layout.table.name.lower()
        if name in self.changed and any(set(map(str.lower, one)) != set(layout.key) for one in table.unique):
            raise OutsideSubset(
                f"{table.name} is changed on line {self.changed[name]}, and then inserted into"
            )
        whole = set(layout.terms) == set(layout.key) and not layout.maybe
        if ignored and table.unique - {table.primary_key}:
            raise OutsideSubset(
                f"{table.name} has several keys, and a conflict is ignored; write a plain INSERT"
            )
        for column in given:
            if table.column(column) is None:
                raise OutsideSubset(f"{table.name} has no column {column}")
            self._note(layout, column)
        cells: dict[str, Value] = {}
        one = all(self._is_one(source, parts) for source in sources)
        for column in layout.terms:
            cells[column] = self._cell(layout, column, given, bulk=not one)
        alike = ignored and whole  # the same row, inserted twice, is one fact
        if not one and not alike and not self._once(layout, cells, binders, parts, sources):
            raise OutsideSubset("a row may be inserted for several rows under one key; select the keys too")
        for column in layout.maybe:
            sort = layout.maybe[column][2]
            cells[column] = (
                self._value(given[column], sort) if column in given else self._default(layout, column, sort)
            )
        if not self._not_null([cells[column] for column in layout.terms], binders, parts):
            return
        terms_of = {column: cells[column].term for column in layout.terms}
        kept = {column: term for column, term in terms_of.items() if term is not None}
        more = [binder for column in layout.terms for binder in cells[column].binders]
        holds = [*parts, *(part for column in layout.terms for part in cells[column].parts)]
        over = [*binders, *more]
        missing = self._constrain(layout, cells, over, holds, updated=None, ignored=ignored)
        holds += [] if whole else missing
        self._write(
            Insert(fo.Atom(layout.relation, tuple(kept.values())), tuple(over), fo.conjunction(tuple(holds)))
        )
        for column, (relation, _, _) in layout.maybe.items():
            cell = cells[column]
            if cell.term is not None:
                args = (*(kept[one] for one in layout.key), cell.term)
                where = fo.conjunction((*holds, *cell.parts))
                self._write(Insert(fo.Atom(relation, args), (*over, *cell.binders), where))
        self.inserted.setdefault(name, []).append(kept if not parts else {})

    def _cell(
        self,
        layout: Layout,
        column: str,
        given: Mapping[str, Any],
        *,
        bulk: bool,
    ) -> Value:
        """Return what is inserted into a column; a new identifier if it is a key that nothing else gives."""
        sort = layout.terms[column][1]
        if column in given:
            return self._value(given[column], sort)
        default = self._default(layout, column, sort)
        if default.term is not None:
            return default
        if not _identifies(layout, column) or bulk:
            raise OutsideSubset(f"no value is given for {layout.table.name}.{column}; write it")
        self.generated = self._fresh(sort)
        return Value(self.generated, sort.name)

    def _default(self, layout: Layout, column: str, sort: DraftSort) -> Value:
        """Return what a column gets that an INSERT gives no value."""
        found = layout.table.column(column)
        default = None if found is None else found.default
        if default is None or (default == COMPUTED and _identifies(layout, column)):
            return Value(None, sort.name)
        if default == COMPUTED:
            raise OutsideSubset(f"the database computes {layout.table.name}.{column}; give a value")
        return self._text(default, sort, default)

    def _fresh(self, sort: DraftSort) -> fo.Var:
        variable = self._variable(sort.name)
        self.statements.append(Fresh(fo.Binder(variable.name, sort.name)))
        return variable

    def _once(
        self,
        layout: Layout,
        cells: Mapping[str, Value],
        binders: list[fo.Binder],
        parts: list[fo.Formula],
        sources: Sequence[Row],
    ) -> bool:
        """Return True if different rows of a query give different keys."""
        images = pinned({b.name for b in binders}, parts)
        keys = {str(cells[column].term) for column in layout.key}
        keys |= {str(images.get(one, one)) for one in keys}
        for source in sources:
            for variable in source.key:
                image = str(images.get(variable.name, variable))
                if image in {b.name for b in binders} and image not in keys:
                    return False
        return True

    # UPDATE

    def _update(self, parsed: Any) -> None:
        for word in ("from_", "from", "joins", "limit", "order"):
            if parsed.args.get(word):
                raise OutsideSubset("an UPDATE of several tables, or of some rows only, is not translated")
        layout = self._layout(parsed.this)
        name = layout.table.name.lower()
        self._untouched(layout)
        row, held = self._row(parsed.this)
        where = parsed.args.get("where")
        if where is not None:
            held = [*held, self._true(where.this)]
        cells: dict[str, Value] = {}
        for one in parsed.expressions:
            column = one.this.name.lower()
            if layout.table.column(column) is None:
                raise OutsideSubset(f"{layout.table.name} has no column {column}")
            if column in layout.key:
                raise OutsideSubset(f"{layout.table.name}.{column} identifies a row, and is changed")
            self._note(layout, column)
            if (sort := layout.sort(column)) is not None:
                cells[column] = self._value(one.expression, sort)
        binders = list(row.binders)
        if not self._not_null([cells[column] for column in cells if column in layout.terms], binders, held):
            return
        self._constrain(layout, cells, binders, held, updated=row)
        for column, cell in cells.items():
            over, parts = [*binders, *cell.binders], (*held, *cell.parts)
            if column in layout.terms:
                assert cell.term is not None
                written = fo.Atom(layout.relation, (*row.key, cell.term))
                self._write(Assign(written, tuple(over), fo.conjunction(parts), layout.terms[column][0]), row)
                continue
            relation, _, _ = layout.maybe[column]
            if cell.term is not None:
                self._write(
                    Assign(fo.Atom(relation, (*row.key, cell.term)), tuple(over), fo.conjunction(parts))
                )
            if cell.term is None or cell.parts:
                absent = () if cell.term is None else (fo.Not(exists(cell.binders, cell.parts)),)
                gone = fo.Atom(relation, row.key, columns=layout.key_names)
                self._write(Delete(gone, tuple(binders), fo.conjunction((*held, *absent))), row)
        if cells:
            self.changed[name] = self.line

    # DELETE

    def _delete(self, parsed: Any) -> None:
        if any(parsed.args.get(word) for word in ("using", "joins", "limit", "order", "tables")):
            raise OutsideSubset("a DELETE by several tables, or of some rows only, is not translated")
        source = parsed.this
        layout = self._layout(source)
        where = parsed.args.get("where")

        def selected(row: Row) -> Sequence[fo.Formula]:
            if where is None:
                return ()
            with self._bound(source, row):
                return (self._true(where.this),)

        self._remove(layout, selected, ())

    def _remove(self, layout: Layout, selected: Where, above: tuple[str, ...]) -> None:
        """Delete the rows that are selected, and what refers to them where the schema says so."""
        name = layout.table.name.lower()
        if name in above:
            raise OutsideSubset(
                f"a deletion from {layout.table.name} leads back to itself by ON DELETE CASCADE"
            )
        self._untouched(layout)
        for table in self.tables.tables:
            for key in table.foreign_keys:
                if key.table.lower() == name:
                    self._referring(layout, selected, table, key, (*above, name))
        row, held = self._open(layout)
        held = [*held, *selected(row)]
        gone = fo.Atom(layout.relation, row.key, columns=layout.key_names)
        self._write(Delete(gone, row.binders, fo.conjunction(tuple(held))), row)
        for relation, _, _ in layout.maybe.values():
            self._write(Delete(replace(gone, relation=relation), row.binders, fo.conjunction(tuple(held))))
        self.deleted.setdefault(name, []).append(self._as_of_now(selected))

    def _referring(
        self, layout: Layout, selected: Where, table: Table, key: ForeignKey, above: tuple[str, ...]
    ) -> None:
        """Refuse a deletion, or delete or change the rows that refer to what is deleted."""
        child = self.layouts.get(table.name.lower())
        if child is None:
            raise OutsideSubset(
                f"{table.name} refers to {layout.table.name}, and is not kept; keep it by --table"
            )

        def refers(row: Row) -> Sequence[fo.Formula]:
            parent, held = self._open(layout)
            equal = self._equal_columns(row, key.columns, parent, key.referenced or layout.table.primary_key)
            return (exists(list(parent.binders), [*held, *selected(parent), *equal]),)

        if key.on_delete == "cascade":
            self._remove(child, refers, above)
            return
        if key.on_delete == "set default":
            raise OutsideSubset(f"ON DELETE SET DEFAULT of {table.name} is not translated")
        row, held = self._open(child)
        held = [*held, *refers(row)]
        if key.on_delete == "set null":
            for column in key.columns:
                if column.lower() not in child.maybe:
                    raise OutsideSubset(f"{table.name}.{column} would be set to NULL, and may not be NULL")
                relation = child.maybe[column.lower()][0]
                gone = fo.Atom(relation, row.key, columns=child.key_names)
                self._write(Delete(gone, row.binders, fo.conjunction(tuple(held))), row)
            self.changed[table.name.lower()] = self.line
            return
        if child is layout:
            held = [*held, fo.Not(fo.conjunction(tuple(selected(row))))]
        self.guard.append(fo.Not(exists(list(row.binders), held)))

    def _equal_columns(
        self, row: Row, columns: Sequence[str], other: Row, others: Sequence[str]
    ) -> Sequence[fo.Formula]:
        """Return the formulas that say that two rows agree on these columns, none of them NULL."""
        parts = []
        for mine, theirs in zip(columns, others, strict=True):
            left, right = self._of_row(row, mine.lower()), self._of_row(other, theirs.lower())
            assert left.term is not None
            assert right.term is not None
            parts.append(
                exists(
                    [*left.binders, *right.binders],
                    [*left.parts, *right.parts, fo.Equal(left.term, right.term)],
                )
            )
        return parts

    # constraints

    def _not_null(
        self, values: Sequence[Value], binders: Sequence[fo.Binder], parts: Sequence[fo.Formula]
    ) -> bool:
        """Require that columns get no NULL; return False if a column gets NULL wherever it is written."""
        for value in values:
            if value.term is None:
                self.guard.append(fo.Not(exists(binders, parts)))
                return False
            if value.parts:
                self.guard.append(
                    fo.Not(exists(binders, [*parts, fo.Not(exists(value.binders, value.parts))]))
                )
        return True

    def _constrain(
        self,
        layout: Layout,
        cells: Mapping[str, Value],
        binders: list[fo.Binder],
        parts: Sequence[fo.Formula],
        updated: Row | None,
        ignored: bool = False,
    ) -> Sequence[fo.Formula]:
        """Require that the new contents of columns break no key, reference or range.

        ``updated`` is the row whose other columns stay as they are, None for a new row. If a row whose key is
        there is ``ignored``, return the conditions that it is not there, which are required of nothing.
        """
        table = layout.table
        missing: list[fo.Formula] = []

        def refused(part: fo.Formula, more: Sequence[Value] = ()) -> None:
            over = [*binders, *(binder for value in more for binder in value.binders)]
            held = [*parts, *(one for value in more for one in value.parts)]
            self.guard.append(fo.Not(exists(over, [*held, part])))

        def content(column: str) -> Value:
            return cells[column] if column in cells or updated is None else self._of_row(updated, column)

        for column, cell in cells.items():
            sort = layout.sort(column)
            assert sort is not None
            if isinstance(cell.term, fo.Const) and sort.low is not None and sort.high is not None:
                if not sort.low <= int(cell.term.value) <= sort.high:
                    raise OutsideSubset(f"{cell.term} is no value of {table.name}.{column}")
            elif cell.sort != sort.name and sort.low is not None and sort.high is not None and cell.term:
                low, high = fo.Const(str(sort.low)), fo.Const(str(sort.high))
                inside = fo.conjunction((fo.Compare("<=", low, cell.term), fo.Compare("<=", cell.term, high)))
                refused(fo.Not(inside), [cell])
        keys = {layout.key, *(tuple(map(str.lower, unique)) for unique in table.unique)}
        for key in sorted(keys):
            if updated is not None and not set(key) & cells.keys():
                continue
            if any(layout.sort(column) is None for column in key):
                self.left_out[f"UNIQUE ({', '.join(key)}) of {table.name}"] = None
                continue
            values = [content(column) for column in key]
            if any(value.term is None for value in values):
                continue
            if updated is not None and not self._is_one(updated, parts):
                raise OutsideSubset(f"{', '.join(key)} is unique, and changed in several rows")
            other, held = self._open(layout, keys_only=True)
            equal = [self._equal(self._of_row(other, c), v) for c, v in zip(key, values, strict=True)]
            apart = () if updated is None else (fo.Not(_same(other.key, updated.key)),)
            there = exists(list(other.binders), [*held, *equal, *apart])
            if ignored:
                missing.append(negate(there))
            else:
                refused(there, values)
            for earlier in self.inserted.get(table.name.lower(), ()):
                if ignored and set(layout.key) == set(layout.terms):
                    continue
                if ignored or not set(key) <= earlier.keys():
                    raise OutsideSubset(
                        f"several rows are inserted into {table.name}, and {key[0]} is unique"
                    )
                refused(_same([earlier[c] for c in key], [v.term for v in values if v.term is not None]))
        for reference in table.foreign_keys:
            columns = [column.lower() for column in reference.columns]
            if updated is not None and not set(columns) & cells.keys():
                continue
            if any(layout.sort(column) is None for column in columns):
                self.left_out[f"the reference of {', '.join(columns)} in {table.name}"] = None
                continue
            values = [content(column) for column in columns]
            if any(value.term is None for value in values):
                continue
            refused(fo.Not(self._target(reference, values)), values)
        return missing

    def _target(self, reference: ForeignKey, values: Sequence[Value]) -> fo.Formula:
        """Return the formula "what the values refer to is there"."""
        layout = self.layouts.get(reference.table.lower())
        if layout is None:
            raise OutsideSubset(f"{reference.table} is referred to, and is not kept; keep it by --table")
        columns = [name.lower() for name in reference.referenced or layout.table.primary_key]
        if set(columns) != set(layout.key) and reference.table.lower() in self.changed:
            raise OutsideSubset(f"{reference.table} is changed, and then referred to by {columns[0]}")
        row, held = self._open(layout, keys_only=True)
        equal = [self._equal(self._of_row(row, c), v) for c, v in zip(columns, values, strict=True)]
        found = [exists(list(row.binders), [*held, *equal])]
        for earlier in self.inserted.get(reference.table.lower(), ()):
            if not earlier or any(column not in earlier for column in columns):
                raise OutsideSubset(f"rows are inserted into {reference.table}, and then referred to")
            found.append(_same([earlier[c] for c in columns], [v.term for v in values if v.term is not None]))
        return fo.disjunction(tuple(found))

    def _note(self, layout: Layout, column: str) -> None:
        if layout.sort(column) is None:
            self.left_out[f"{layout.table.name}.{column}"] = None

    def _write(self, statement: Insert | Delete | Assign, row: Row | None = None) -> None:
        """Add a statement, with the row that it changes if it changes nothing where this is not there."""
        there = None if row is None else fo.Atom(row.layout.relation, row.key, columns=row.layout.key_names)
        self.statements.append(tidied(statement, there))


def _key_of(statement: Delete | Assign) -> tuple[fo.Term, ...]:
    """Return the terms of a statement that have to be in the database for it to change something."""
    if isinstance(statement, Delete):
        return statement.atom.args
    return statement.atom.args[:-1] if statement.column is not None else ()


def _identifies(layout: Layout, column: str) -> bool:
    """Return True if a column is the key of its table, of identifiers that refer to nothing else."""
    refers = any(column in map(str.lower, key.columns) for key in layout.table.foreign_keys)
    return layout.key == (column,) and not layout.terms[column][1].finite and not refers


def _same(left: Sequence[fo.Term], right: Sequence[fo.Term]) -> fo.Formula:
    """Return the formula "the terms are equal, place by place"."""
    return fo.conjunction(tuple(fo.Equal(a, b) for a, b in zip(left, right, strict=True)))
