"""Conditions of SQL as text, in the subset that `stead-sym import --sql` reads.

One decision: what this subset cannot say is an error that says why (`OutsideSql`), never another condition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias, assert_never

import stead_sym.logic.syntax as fo
from stead_sym.export.conditions import Cell, Conditions
from stead_sym.export.sql_tables import SqlTable, literal
from stead_sym.logic.evaluate import ORDERINGS
from stead_sym.logic.substitution import substitute
from stead_sym.relational.schema import Schema

_MOST_COUNTED = 4
"""The largest number up to which values are counted that are no rows of one table."""
_MOST_QUERIES = 200
"""The largest number of queries that a tool may have."""
_COMPARED = {"atleast": ">=", "atmost": "<=", "exactly": "="}


class OutsideSql(Exception):
    """An error for what is not said in SQL; its text says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of SQL; it ``binds`` as tightly as OR (0), AND (1), NOT (2), or a comparison (3)."""

    text: str
    binds: int = 3
    negated: str = field(default="", compare=False)
    """The opposite comparison, if there is one."""

    def within(self, binds: int) -> str:
        """Return the text as a part of a condition that binds like this."""
        return f"({self.text})" if self.binds < binds else self.text


YES, NO = Condition("TRUE"), Condition("FALSE")


def all_of(parts: Iterable[Condition]) -> Condition:
    """Return the conjunction."""
    kept = [part for part in dict.fromkeys(parts) if part != YES]
    if NO in kept or not kept:
        return NO if kept else YES
    return kept[0] if len(kept) == 1 else Condition(" AND ".join(one.within(1) for one in kept), 1)


def any_of(parts: Iterable[Condition]) -> Condition:
    """Return the disjunction."""
    kept = [part for part in dict.fromkeys(parts) if part != NO]
    if YES in kept or not kept:
        return YES if kept else NO
    return kept[0] if len(kept) == 1 else Condition(" OR ".join(one.within(0) for one in kept), 0)


def negation(part: Condition) -> Condition:
    """Return the negation."""
    if part in (YES, NO):
        return NO if part == YES else YES
    return Condition(part.negated) if part.negated else Condition(f"NOT {part.within(3)}", 2)


Scope: TypeAlias = Mapping[str, Cell[str]]
"""The cells of the free variables of a formula."""
Source: TypeAlias = tuple[str, str]
"""A table as it stands in FROM, and its name in the query."""


@dataclass(frozen=True, slots=True)
class Join:
    """The rows of ``sources`` for which ``where`` is true; ``scope`` has what the variables are there."""

    sources: tuple[str, ...]
    where: Condition
    scope: Scope

    @property
    def query(self) -> str:
        """The part of a SELECT behind its columns."""
        listed = f" FROM {', '.join(self.sources)}" if self.sources else ""
        return listed + (f" WHERE {self.where.text}" if self.where != YES or not self.sources else "")

    @property
    def is_not_empty(self) -> Condition:
        """The condition that there is such a row."""
        return Condition(f"EXISTS (SELECT 1{self.query})") if self.sources else self.where


class SqlConditions(Conditions[Condition, str, Source, Join]):
    """Formulas over the tables of an export; ``read`` are the relations that they have read so far."""

    joins_all: ClassVar[bool] = False

    def __init__(self, tables: Mapping[str, SqlTable], schema: Schema) -> None:
        super().__init__(schema, [table.relation for table in tables.values()])
        self.read: set[str] = set()
        self._tables = tables
        self._names: Counter[str] = Counter()
        self._queries = 0

    def begin(self, relation: str | None = None) -> None:
        """Begin a statement, which changes the table of a relation, if any."""
        self.read = set()
        self._names = Counter() if relation is None else Counter([self._tables[relation].name])

    def condition(self, formula: fo.Expanded, scope: Scope, *, surely: bool = True) -> Condition:
        """Return the condition that a formula is true; raise `OutsideSql`."""
        if isinstance(formula, fo.Since | fo.Previously | fo.Did):
            raise OutsideSql(
                f"`{formula}` is about the past, which tables do not have; keep what matters in one"
            )
        return super().condition(formula, scope, surely=surely)

    def content(self, term: fo.Term, scope: Scope, sort: str) -> str:
        """Return the content of a term of this sort."""
        return self.term(term, scope, sort)[0]

    def somewhere(self, cell: Cell[str]) -> Iterator[Condition]:
        """Yield, for each column of the cell's sort, the condition that a row has its content there."""
        for fact in self.facts_with(fo.Binder("x", cell.sort)):
            yield self.condition(fact, {"x": cell})

    # what is written

    _all_of = staticmethod(all_of)
    _any_of = staticmethod(any_of)
    _negation = staticmethod(negation)

    def _equal(self, one: str, other: str) -> Condition:
        return YES if one == other else Condition(f"{one} = {other}", negated=f"{one} <> {other}")

    def _literal(self, value: str, sort: str) -> str:
        return literal(value, None if sort == fo.INTEGERS else self.schema.sort(sort))

    def _added(self, one: str, sign: str, other: fo.Term, addend: str) -> str:
        return f"{one} {sign} {f'({addend})' if isinstance(other, fo.Sum) else addend}"

    def _rows_of(self, relation: str) -> Source:
        self.read.add(relation)
        table = self._tables[relation].name
        self._names[table] += 1
        if self._names[table] == 1:
            return table, table
        name = table.strip('"') + f"_{self._names[table]}"
        if any(other.name == name for other in self._tables.values()):
            return self._rows_of(relation)
        return f"{table} AS {name}", name

    def _column(self, rows: Source, relation: str, place: int) -> Cell[str]:
        table = self._tables[relation]
        return Cell(f"{rows[1]}.{table.columns[place]}", table.relation.sorts[place])

    def _known(self, cell: Cell[str]) -> Condition:
        return YES  # by a constraint of the column

    def _joined(self, rows: Sequence[Source], conditions: Sequence[Condition], scope: Scope) -> Join | None:
        self._queries += 1
        if self._queries > _MOST_QUERIES:
            raise OutsideSql(
                "it gets too long, because variables range over all columns of their sorts; write the"
                " relation that has them, as in `exists x. P(x) & …`"
            )
        where = all_of(conditions)
        return None if where == NO else Join(tuple(source for source, _ in rows), where, scope)

    def _not_empty(self, join: Join) -> Condition:
        return join.is_not_empty

    def _listed(
        self, binder: fo.Binder, slots: Mapping[str, fo.Binder], items: Sequence[fo.Formula]
    ) -> Iterator[tuple[Sequence[fo.Binder], Sequence[fo.Formula]]]:
        others = [other for other in slots.values() if other is not binder]
        for value in self.schema.sort(binder.sort).values or ():
            yield others, [substitute(item, {binder.name: fo.Const(value)}) for item in items]

    def _compared(self, comparison: fo.Compare, scope: Scope, surely: bool) -> Condition:
        sort, left, right = comparison.sort, comparison.left, comparison.right
        if sort == fo.INTEGERS or self.schema.sort(sort).is_numeric:
            one, other = (self.content(term, scope, sort) for term in (left, right))
            if comparison.ordering == "succ":
                return Condition(f"{one} + 1 = {other}")
            return Condition(f"{one} {comparison.ordering} {other}")
        rank = self.schema.sort(sort).rank  # no order of texts: by the values
        cases = []
        for value in rank:
            first = self.condition(fo.Equal(left, fo.Const(value)), scope)
            second = [
                self.condition(fo.Equal(right, fo.Const(other)), scope)
                for other in rank
                if ORDERINGS[comparison.ordering](rank[value], rank[other])
            ]
            cases.append(all_of([first, any_of(second)]))
        return any_of(cases)

    # counting

    def _counted(self, count: fo.Count, scope: Scope, surely: bool) -> Condition:
        rows = self._number([count.binder], count.body, scope)
        if rows is not None:
            return Condition(f"{rows} {_COMPARED[count.comparison]} {count.number}")
        match count.comparison:
            case "atleast":
                return self._several(count.number, count, scope)
            case "atmost":
                return negation(self._several(count.number + 1, count, scope))
            case "exactly":
                more = negation(self._several(count.number + 1, count, scope))
                return all_of([self._several(count.number, count, scope), more])
            case _:
                assert_never(count.comparison)

    def _several(self, number: int, count: fo.Count, scope: Scope) -> Condition:
        """Return the condition that there are at least so many values."""
        if number > _MOST_COUNTED:
            raise OutsideSql(
                f"`{count}` counts values that are no rows of one table; count those of one relation"
            )
        binders = [self.apart(count.binder) for _ in range(number)]
        parts = [substitute(count.body, {count.binder.name: fo.Var(one.name)}) for one in binders]
        apart = [
            fo.Not(fo.Equal(fo.Var(one.name), fo.Var(other.name)))
            for k, one in enumerate(binders)
            for other in binders[:k]
        ]
        formula = fo.conjunction((*parts, *apart)) if number else fo.TRUE
        return self.condition(fo.quantify(fo.Exists, binders, formula), scope)

    def _total(self, tally: fo.Tally, scope: Scope) -> tuple[str, Sequence[Condition]]:
        binders, each = [], tally.each
        while isinstance(each, fo.Each):
            binders.append(each.binder)
            each = each.body
        assert isinstance(each, fo.Weight)
        if each.of:
            raise OutsideSql(f"`{tally}` is a sum; `stead-sym import` reads counts only")
        number = self._number(binders, each.condition, scope)
        if number is None:
            raise OutsideSql(
                f"`{tally}` counts values that are no rows of one table; count those of one relation"
            )
        return number, ()

    def _number(self, binders: Sequence[fo.Binder], body: fo.Formula, scope: Scope) -> str | None:
        """Return the number of the values of variables if they are rows of one table, else None."""
        own = [self.apart(binder) for binder in binders]
        names = {old.name: fo.Var(new.name) for old, new in zip(binders, own, strict=True)}
        slots, items = self.flat(own, [substitute(body, names)])
        counted = {binder.name for binder in own}
        for atom in items:
            if not isinstance(atom, fo.Atom) or not counted <= {str(term) for term in atom.args}:
                continue
            keys = [atom.args[place] for place in self._tables[atom.relation].key]
            if all(
                str(key) in counted or not fo.free_variables(fo.Equal(key, key)) & slots.keys()
                for key in keys
            ):
                break
        else:
            return None
        row = self._rows_of(atom.relation)
        new = [place for place, term in enumerate(atom.args) if str(term) in slots]
        inner = {**scope, **{str(atom.args[k]): self._column(row, atom.relation, k) for k in reversed(new)}}
        where = [*self.of_row(row, atom, (), inner, surely=True)]
        rest = [item for item in items if item is not atom]
        others = {name: one for name, one in slots.items() if name not in inner}
        plain = [item for item in rest if not fo.free_variables(item) & others.keys()]
        where += [self.condition(item, inner) for item in plain]
        if others:
            left = (
                fo.conjunction(tuple(item for item in rest if item not in plain))
                if rest != plain
                else fo.TRUE
            )
            for binder in others.values():
                left = fo.Exists(binder, left)
            where.append(self.condition(left, inner))
        return f"(SELECT COUNT(*){Join(row[:1], all_of(where), {}).query})"
