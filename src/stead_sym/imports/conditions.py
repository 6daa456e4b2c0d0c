"""Translate conditions of SQL to formulas over the relations of a deployment.

A condition of SQL is true, false or unknown, because a column that is NULL equals nothing. A formula is
therefore built for "true" and another one for "false"; where neither holds, the condition is unknown.

One decision: what is outside of the subset is an error with its place (`OutsideSubset`), never left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.imports.sorts import DraftSort
from stead_sym.imports.sql import bare, literal_of
from stead_sym.imports.tables import Table, Tables
from stead_sym.imports.tidy import exists, pinned, without_equations
from stead_sym.imports.transactions import Transaction, kind_of, parameter_of, source_of, sources_of
from stead_sym.logic.folding import negate

_ORDERINGS: Mapping[str, fo.Ordering] = {"LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}
_OPPOSITE: Mapping[fo.Ordering, fo.Ordering] = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_GENERATED = frozenset({"lastval", "last_insert_rowid", "last_insert_id", "scope_identity"})
"""The functions that return the key that the last INSERT generated."""
_AGGREGATES = frozenset({"Count", "Sum", "Max", "Min", "Avg", "ArrayAgg", "GroupConcat"})


class OutsideSubset(Exception):
    """An error for SQL that is not translated; its text says what and why."""


@dataclass(frozen=True)
class Layout:
    """The relations of a table: key and other columns in one, each that may be NULL in another.

    ``terms`` are the columns of the first relation, in its order, and ``maybe`` the relations of the others.
    Columns are in lower case, with their names in the deployment and their sorts.
    """

    table: Table
    relation: str
    terms: Mapping[str, tuple[str, DraftSort]]
    maybe: Mapping[str, tuple[str, str, DraftSort]]

    @property
    def key(self) -> tuple[str, ...]:
        """The columns of the primary key, in lower case."""
        return tuple(name.lower() for name in self.table.primary_key)

    def sort(self, column: str) -> DraftSort | None:
        """Return the sort of a column; None if it is not kept."""
        if column in self.terms:
            return self.terms[column][1]
        return self.maybe[column][2] if column in self.maybe else None

    @property
    def key_names(self) -> tuple[str, ...]:
        """The names of the key's columns in the deployment."""
        return tuple(self.terms[one][0] for one in self.key)


@dataclass(frozen=True)
class Row:
    """A row of a table, with a variable for each column of its first relation."""

    layout: Layout
    variables: Mapping[str, fo.Var]

    @property
    def binders(self) -> tuple[fo.Binder, ...]:
        """The variables with their sorts."""
        return tuple(fo.Binder(v.name, self.layout.terms[c][1].name) for c, v in self.variables.items())

    @property
    def key(self) -> tuple[fo.Var, ...]:
        """The variables of the key."""
        return tuple(self.variables[one] for one in self.layout.key)

    @property
    def atom(self) -> fo.Atom:
        """The atom that says that the row is there, with named columns."""
        names = tuple(self.layout.terms[column][0] for column in self.variables)
        return fo.Atom(self.layout.relation, tuple(self.variables.values()), columns=names)

    def maybe(self, column: str, term: fo.Term) -> fo.Atom:
        """Return the atom that says that a column that may be NULL holds this."""
        relation, name, _ = self.layout.maybe[column]
        return fo.Atom(relation, (*self.key, term), columns=(*self.layout.key_names, name))


@dataclass(frozen=True)
class Value:
    """The meaning of an expression: nothing (NULL), or a term where ``parts`` hold for its ``binders``."""

    term: fo.Term | None
    sort: str | None
    binders: tuple[fo.Binder, ...] = ()
    parts: tuple[fo.Formula, ...] = ()


Where: TypeAlias = Callable[[Row], Sequence[fo.Formula]]


@dataclass
class Reading:
    """The rows that a transaction reads, as the statements before have left them.

    ``deleted`` are the conditions of what has been deleted from tables, ``inserted`` the keys of what has
    been inserted, and ``changed`` the tables whose other columns have been changed, with the lines. ``fresh``
    are the parameters of new identifiers, and ``generated`` is the key of the last INSERT.
    """

    transaction: Transaction
    tables: Tables
    layouts: Mapping[str, Layout]
    parameters: Mapping[str, tuple[str, DraftSort | str]]
    spelled: Mapping[tuple[str, str], str]
    deleted: dict[str, list[Where]] = field(default_factory=dict)
    inserted: dict[str, list[Mapping[str, fo.Term]]] = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)
    fresh: dict[str, fo.Var] = field(default_factory=dict)
    generated: fo.Var | None = None
    rows: dict[int, Row] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    def _returns_rows(self, parsed: Any) -> None:
        """Raise `OutsideSubset` for a query that returns other rows than those that its WHERE selects."""
        for word in ("group", "having", "offset", "windows", "qualify", "laterals"):
            if parsed.args.get(word):
                raise OutsideSubset(f"{word.upper()} is not translated")
        limit = parsed.args.get("limit")
        if limit is not None and literal_of(limit.expression) in (None, "0"):
            raise OutsideSubset("this LIMIT is not translated; write a number above 0, or leave it out")
        if any(type(one.unalias()).__name__ in _AGGREGATES for one in parsed.expressions):
            raise OutsideSubset("an aggregate returns a row in any case; compare it in a WHERE")

    def _some(self, parsed: Any) -> fo.Formula:
        """Return the formula "the query selects a row"."""
        binders, parts = self._opened(parsed)
        return exists(binders, parts)

    def _opened(self, parsed: Any) -> tuple[list[fo.Binder], list[fo.Formula]]:
        """Return the variables of the rows of a query, and the formulas that hold of what it selects."""
        if kind_of(parsed) != "select":
            raise OutsideSubset(f"{type(parsed).__name__.upper()} is not translated")
        binders: list[fo.Binder] = []
        parts: list[fo.Formula] = []
        for source in sources_of(parsed):
            row, held = self._row(source)
            binders += row.binders
            parts += held
        for join in parsed.args.get("joins") or ():
            if join.side or (join.kind or "").upper() not in ("", "INNER", "CROSS"):
                raise OutsideSubset(
                    f"{join.side or join.kind} JOIN is not translated; write a query with EXISTS"
                )
            if join.args.get("using") or join.args.get("method"):
                raise OutsideSubset("USING and NATURAL are not translated; write ON with the columns")
            if (on := join.args.get("on")) is not None:
                parts.append(self._true(on))
        if (where := parsed.args.get("where")) is not None:
            parts.append(self._true(where.this))
        return binders, parts

    # conditions

    def _true(self, node: Any) -> fo.Formula:
        """Return the formula "the condition is true"."""
        node = bare(node)
        match type(node).__name__:
            case "And":
                return fo.conjunction((self._true(node.this), self._true(node.expression)))
            case "Or":
                return fo.disjunction((self._true(node.this), self._true(node.expression)))
            case "Not":
                return self._false(node.this)
            case "Exists":
                return self._some(bare(node.this))
            case "Is":
                return self._is(node)
            case "In":
                return self._in(node, positive=True)
            case "Between":
                low = self._compared("GTE", node.this, node.args["low"], positive=True)
                return fo.conjunction(
                    (low, self._compared("LTE", node.this, node.args["high"], positive=True))
                )
            case "EQ" | "NEQ" | "LT" | "LTE" | "GT" | "GTE" as kind:
                return self._compared(kind, node.this, node.expression, positive=True)
            case "Boolean":
                return fo.TRUE if node.this else fo.FALSE
            case "Column" | "Placeholder" | "Parameter":
                return self._flag(node, "true")
        raise OutsideSubset(f"`{self._sql(node)}` is not translated")

    def _false(self, node: Any) -> fo.Formula:
        """Return the formula "the condition is false"."""
        node = bare(node)
        match type(node).__name__:
            case "And":
                return fo.disjunction((self._false(node.this), self._false(node.expression)))
            case "Or":
                return fo.conjunction((self._false(node.this), self._false(node.expression)))
            case "Not":
                return self._true(node.this)
            case "Exists" | "Is":
                return negate(self._true(node))
            case "In":
                return self._in(node, positive=False)
            case "Between":
                low = self._compared("GTE", node.this, node.args["low"], positive=False)
                return fo.disjunction(
                    (low, self._compared("LTE", node.this, node.args["high"], positive=False))
                )
            case "EQ" | "NEQ" | "LT" | "LTE" | "GT" | "GTE" as kind:
                return self._compared(kind, node.this, node.expression, positive=False)
            case "Boolean":
                return fo.FALSE if node.this else fo.TRUE
            case "Column" | "Placeholder" | "Parameter":
                return self._flag(node, "false")
        raise OutsideSubset(f"`{self._sql(node)}` is not translated")

    def _is(self, node: Any) -> fo.Formula:
        other = bare(node.expression)
        if type(other).__name__ == "Null":
            value = self._value(node.this, None)
            if value.term is None:
                return fo.TRUE
            return negate(exists(value.binders, value.parts))
        if type(other).__name__ == "Boolean":
            return self._true(node.this) if other.this else self._false(node.this)
        raise OutsideSubset(f"`{self._sql(node)}` is not translated")

    def _flag(self, node: Any, text: str) -> fo.Formula:
        """Return the formula "this column or parameter, of a boolean, is this"."""
        value = self._value(node, None)
        number = ("false", "true").index(text)
        known = self.spelled.get((value.sort or "", self.tables.booleans[number]))
        if known is None:
            raise OutsideSubset(f"`{self._sql(node)}` is no condition; compare it")
        return self._held(value, lambda term: fo.Equal(term, fo.Const(known)))

    def _in(self, node: Any, *, positive: bool) -> fo.Formula:
        query = node.args.get("query")
        if query is None:
            parts = [self._compared("EQ", node.this, one, positive=positive) for one in node.expressions]
            return fo.disjunction(tuple(parts)) if positive else fo.conjunction(tuple(parts))
        select = bare(query.this if type(query).__name__ == "Subquery" else query)
        if kind_of(select) != "select" or len(select.expressions) != 1:
            raise OutsideSubset(f"`{self._sql(node)}` is not translated")
        self._returns_rows(select)
        binders, parts = self._opened(select)
        compared = self._compared("EQ", node.this, select.expressions[0].unalias(), positive=positive)
        if positive:
            return exists(binders, [*parts, compared])
        return negate(exists(binders, [*parts, negate(compared)]))

    def _compared(self, kind: str, left: Any, right: Any, *, positive: bool) -> fo.Formula:
        """Return the formula "the comparison is true", or "false"; neither if a side is NULL."""
        left, right = bare(left), bare(right)
        new = any(parameter_of(one) in self.fresh for one in (left, right))
        if new and kind in ("EQ", "NEQ") and any(literal_of(one) is not None for one in (left, right)):
            return (
                fo.FALSE if positive == (kind == "EQ") else fo.TRUE
            )  # a new identifier is none that is named
        sort = self._sort(left) or self._sort(right)
        if sort is None:
            for one in (left, right):
                if type(one).__name__ == "Column":
                    self._of_row(*self._column(one))  # it is not kept
            raise OutsideSubset(f"nothing says what `{self._sql(left)}` and `{self._sql(right)}` are")
        if sort == fo.INTEGERS:
            sort = None
        a = self._value(left, sort if isinstance(sort, DraftSort) else None, integers=sort is None)
        b = self._value(right, sort if isinstance(sort, DraftSort) else None, integers=sort is None)
        if a.sort != b.sort and None not in (a.sort, b.sort) and not self._integers(a, b):
            raise OutsideSubset(
                f"`{self._sql(left)}` ({a.sort}) is compared with `{self._sql(right)}` ({b.sort})"
            )
        if kind in ("EQ", "NEQ"):
            equal = positive == (kind == "EQ")
            if any(isinstance(sort, DraftSort) and _is_beyond(sort, one.term) for one in (a, b)):
                never = fo.FALSE if equal else fo.TRUE  # a number that no row has
                return self._held(a, lambda _: self._held(b, lambda _: never))
            return self._held(
                a, lambda x: self._held(b, lambda y: fo.Equal(x, y) if equal else fo.Not(fo.Equal(x, y)))
            )
        if not self._integers(a, b):
            raise OutsideSubset(
                f"the values of {a.sort} have no order; `{self._sql(left)}` is compared by one"
            )
        ordering = _ORDERINGS[kind] if positive else _OPPOSITE[_ORDERINGS[kind]]
        return self._held(a, lambda x: self._held(b, lambda y: fo.Compare(ordering, x, y)))

    def _integers(self, *values: Value) -> bool:
        numbers = {sort.name for sort in self._sorts() if sort.low is not None} | {fo.INTEGERS}
        return all(value.sort in numbers for value in values)

    def _sorts(self) -> Iterator[DraftSort]:
        for layout in self.layouts.values():
            yield from (sort for _, sort in layout.terms.values())
            yield from (sort for _, _, sort in layout.maybe.values())
        yield from (sort for _, sort in self.parameters.values() if isinstance(sort, DraftSort))

    def _held(self, value: Value, says: Callable[[fo.Term], fo.Formula]) -> fo.Formula:
        """Return the formula "the value is not NULL, and this holds of it"."""
        if value.term is None:
            return fo.FALSE
        return exists(list(value.binders), [*value.parts, says(value.term)])

    # values

    def _sort(self, node: Any) -> DraftSort | str | None:
        """Return the sort of an expression, `INTEGERS` for a COUNT; None if the other side says it."""
        match type(node).__name__:
            case "Column":
                row, column = self._column(node)
                return row.layout.sort(column)
            case "Placeholder" | "Parameter":
                word = parameter_of(node) or ""
                _, sort = self.parameters[word]
                return sort if isinstance(sort, DraftSort) else None
            case "Subquery":
                select = bare(node.this)
                if kind_of(select) == "select" and len(select.expressions) == 1:
                    inner = select.expressions[0].unalias()
                    return fo.INTEGERS if type(inner).__name__ == "Count" else None
                return None
            case "Add" | "Sub":
                return self._sort(bare(node.this)) or self._sort(bare(node.expression))
            case _:
                return None

    def _value(self, node: Any, sort: DraftSort | None, *, integers: bool = False) -> Value:
        """Return what an expression stands for, where the other side or the column has this sort."""
        node = bare(node)
        match type(node).__name__:
            case "Column":
                row, column = self._column(node)
                return self._fits(self._of_row(row, column), sort, node)
            case "Placeholder" | "Parameter":
                return self._fits(self._parameter(parameter_of(node) or ""), sort, node)
            case "Null":
                return Value(None, None if sort is None else sort.name)
            case "Subquery":
                return self._number_of_rows(node)
            case "Add" | "Sub" as kind:
                a, b = (self._value(one, sort, integers=integers) for one in (node.this, node.expression))
                if a.term is None or b.term is None:
                    return Value(None, fo.INTEGERS)
                if not self._integers(a, b):
                    raise OutsideSubset(f"`{self._sql(node)}` is no sum of integers that are kept")
                sign: fo.Sign = "+" if kind == "Add" else "-"
                return Value(
                    fo.Sum(a.term, sign, b.term), fo.INTEGERS, (*a.binders, *b.binders), (*a.parts, *b.parts)
                )
        if (
            type(node).__name__.lower() in _GENERATED
            or self._sql(node).lower().partition("(")[0] in _GENERATED
        ):
            if self.generated is None:
                raise OutsideSubset(f"`{self._sql(node)}` is read before an INSERT generates a key")
            return Value(self.generated, None if sort is None else sort.name)
        text = literal_of(node)
        if text is None:
            raise OutsideSubset(f"`{self._sql(node)}` is not translated")
        return self._text(text, sort, self._sql(node), integers=integers)

    def _text(self, text: str, sort: DraftSort | None, said: str, *, integers: bool = False) -> Value:
        """Return what a literal stands for; ``said`` is how it is written."""
        if integers or (sort is not None and sort.low is not None):
            if not text.lstrip("-").isdigit():
                raise OutsideSubset(f"`{said}` is no integer")
            return Value(fo.Const(str(int(text))), fo.INTEGERS)
        if sort is None or not sort.finite:
            raise OutsideSubset(f"`{said}` is one identifier; make it a parameter")
        if sort.values == self.tables.booleans and text in ("0", "1", "true", "false"):
            text = self.tables.booleans[text in ("1", "true")]
        known = self.spelled.get((sort.name, text))
        if known is None:
            raise OutsideSubset(f"`{said}` is no value of {sort.name}")
        return Value(fo.Const(known), sort.name)

    def _fits(self, value: Value, sort: DraftSort | None, node: Any) -> Value:
        if sort is None or value.sort == sort.name or (sort.low is not None and self._integers(value)):
            return value
        raise OutsideSubset(f"`{self._sql(node)}` is of the sort {value.sort}, and is taken for {sort.name}")

    def _parameter(self, word: str) -> Value:
        if word in self.fresh:
            sort = self.parameters[word][1]
            return Value(self.fresh[word], sort.name if isinstance(sort, DraftSort) else None)
        name, known = self.parameters[word]
        if isinstance(known, str):
            raise OutsideSubset(f"the parameter {word} is {known}")
        return Value(fo.Var(name), known.name)

    def _number_of_rows(self, node: Any) -> Value:
        """Return the number of rows that a query counts."""
        select = bare(node.this)
        counted = None
        if kind_of(select) == "select" and len(select.expressions) == 1:
            counted = select.expressions[0].unalias()
        if counted is None or type(counted).__name__ != "Count":
            raise OutsideSubset(f"`{self._sql(node)}` is not translated; compare a COUNT, or write EXISTS")
        if select.args.get("group") or select.args.get("having"):
            raise OutsideSubset("GROUP BY is not translated")
        binders, parts = self._opened(select)
        what = counted.this
        if type(what).__name__ == "Column":
            value = self._value(what, None)
            parts = [*parts, exists(value.binders, value.parts)]
        elif type(what).__name__ not in ("Star", "Literal"):
            raise OutsideSubset(f"`{self._sql(counted)}` is not translated")
        keys = {v.name for source in sources_of(select) for v in self.rows[id(source)].key}
        names = [binder.name for binder in binders if binder.name in keys]
        over, held = without_equations(binders, parts, names[:1])
        body: fo.Formula = fo.Weight((), exists([one for one in over if one.name not in keys], held))
        for binder in reversed([one for one in over if one.name in keys]):
            body = fo.Each(binder, body)
        return Value(fo.Tally(body), fo.INTEGERS)

    # rows

    def _layout(self, source: Any) -> Layout:
        """Return how a table is kept."""
        if type(source).__name__ != "Table":
            raise OutsideSubset(f"`{self._sql(source)}` is no table")
        if self.tables.table(source.name) is None:
            raise OutsideSubset(f"there is no table {source.name}")
        layout = self.layouts.get(source.name.lower())
        if layout is None:
            raise OutsideSubset(f"{source.name} has no primary key that is kept; its rows may be alike")
        return layout

    def _untouched(self, layout: Layout) -> None:
        """Raise `OutsideSubset` if rows of the table have been inserted or changed."""
        name = layout.table.name.lower()
        if name in self.changed or name in self.inserted:
            raise OutsideSubset(
                f"{layout.table.name} is changed before; write one statement, or read it first"
            )

    def _row(self, source: Any) -> tuple[Row, list[fo.Formula]]:
        """Return a row of a source, known by it, and the formulas that say that it is there."""
        row, held = self._open(self._layout(source))
        self.rows[id(source)] = row
        return row, held

    def _open(self, layout: Layout, *, keys_only: bool = False) -> tuple[Row, list[fo.Formula]]:
        """Return a row as the statements before have left it; ``keys_only`` if nothing else is read."""
        name = layout.table.name.lower()
        if not keys_only:
            self._untouched(layout)
        row = Row(layout, {column: self._variable(own) for column, (own, _) in layout.terms.items()})
        held: list[fo.Formula] = [row.atom]
        for where in self.deleted.get(name, ()):
            held.append(negate(fo.conjunction(tuple(where(row)))))
        return row, held

    def _as_of_now(self, selected: Where) -> Where:
        """Return a condition that is read in the state that the statements up to now have left."""
        before = {name: list(wheres) for name, wheres in self.deleted.items()}
        fixed = dict(self.changed), dict(self.inserted)

        def then(row: Row) -> Sequence[fo.Formula]:
            now = self.deleted, self.changed, self.inserted
            self.deleted, (self.changed, self.inserted) = before, fixed
            try:
                return selected(row)
            finally:
                self.deleted, self.changed, self.inserted = now

        return then

    @contextmanager
    def _bound(self, source: Any, row: Row) -> Iterator[None]:
        """Let a source stand for this row."""
        before = self.rows.get(id(source))
        self.rows[id(source)] = row
        yield
        if before is not None:
            self.rows[id(source)] = before

    def _column(self, node: Any) -> tuple[Row, str]:
        """Return the row and the column, in lower case, that an expression names."""
        found = source_of(node, self.tables)
        if found is None or id(found[0]) not in self.rows:
            raise OutsideSubset(f"`{self._sql(node)}` is no column of one table")
        return self.rows[id(found[0])], node.name.lower()

    def _of_row(self, row: Row, column: str) -> Value:
        """Return what a column of a row holds."""
        if column in row.variables:
            return Value(row.variables[column], row.layout.terms[column][1].name)
        if column in row.layout.maybe:
            _, name, sort = row.layout.maybe[column]
            variable = self._variable(name)
            return Value(
                variable, sort.name, (fo.Binder(variable.name, sort.name),), (row.maybe(column, variable),)
            )
        raise OutsideSubset(f"{row.layout.table.name}.{column} is not kept, and is read")

    def _equal(self, left: Value, right: Value) -> fo.Formula:
        """Return the formula that says that a column holds a value; the value's own parts are assumed."""
        assert left.term is not None
        assert right.term is not None
        return exists(list(left.binders), [*left.parts, fo.Equal(left.term, right.term)])

    def _is_one(self, row: Row, parts: Sequence[fo.Formula]) -> bool:
        """Return True if the formulas hold for one row at most."""
        binders = {binder.name for binder in row.binders}
        images = pinned(binders, parts)
        return all(str(images.get(one.name, one)) not in binders for one in row.key)

    def _variable(self, name: str) -> fo.Var:
        """Return a variable that no other formula of the tool has."""
        number, free = 2, name
        while free in self.names:
            free, number = f"{name}{number}", number + 1
        self.names.add(free)
        return fo.Var(free)

    def _sql(self, node: Any) -> str:
        return " ".join(node.sql(dialect=self.transaction.dialect).split())[:80]


def _is_beyond(sort: DraftSort, term: fo.Term | None) -> bool:
    """Return True if a term is an integer outside of the range of a sort."""
    if sort.low is None or sort.high is None or not isinstance(term, fo.Const):
        return False
    return not sort.low <= int(term.value) <= sort.high
