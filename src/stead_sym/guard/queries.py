"""Conditions over the tables that a deployment is bound to, as expressions of SQLAlchemy; none is ever NULL.

One decision: all atoms among the conjuncts of a formula are rows of one join, so that the database chooses
the order and the indices.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias, assert_never

import sqlalchemy as sa

import stead_sym.logic.syntax as fo
from stead_sym.export.conditions import Cell, Conditions
from stead_sym.guard.cells import Cells, SqlCell
from stead_sym.logic.evaluate import ORDERINGS
from stead_sym.logic.substitution import substitute

Condition: TypeAlias = sa.ColumnElement[bool]
Content: TypeAlias = sa.ColumnElement[Any]
Scope: TypeAlias = Mapping[str, SqlCell]
"""The cells of the free variables of a formula."""

_LISTED = "in "  # before the name of a finite sort: the relation of its values
_ZERO = sa.literal_column("0", sa.BigInteger())
_ONE = sa.literal_column("1", sa.BigInteger())


@dataclass(frozen=True, slots=True)
class Join:
    """The rows of ``tables`` that satisfy the ``conditions``; ``scope`` has what the variables are there."""

    tables: Sequence[sa.FromClause]
    conditions: Sequence[Condition]
    scope: Scope

    def select(self, *columns: Content) -> sa.Select[Any]:
        """Return the query for columns of these rows; other tables are those of the query around it."""
        where = sa.and_(sa.true(), *self.conditions)
        return sa.select(*columns).select_from(*self.tables).where(where).correlate_except(*self.tables)


class Queries(Conditions[Condition, Content, sa.FromClause, Join]):
    """Formulas over a deployment's relations as conditions of SQL.

    ``sought`` are the columns of tables in which the queries so far look for a value.
    """

    joins_all: ClassVar[bool] = True

    def __init__(self, cells: Cells) -> None:
        super().__init__(cells.schema, cells.schema.relations)
        self.cells = cells
        self.sought: set[tuple[str, str]] = set()

    def rows(
        self, binders: Sequence[fo.Binder], parts: Sequence[fo.Formula], scope: Scope, *, surely: bool
    ) -> Iterator[Join]:
        """Yield joins as `joins`; with ``surely`` all variables have contents that their sorts list."""
        for join in self.joins(binders, parts, scope, surely=surely):
            own = [join.scope[binder.name] for binder in binders]
            listed = [self._known(cell) for cell in own if surely and cell.loose]
            yield Join(join.tables, [*join.conditions, *listed], join.scope)

    # what is written

    def _all_of(self, parts: Iterable[Condition]) -> Condition:
        return sa.and_(sa.true(), *parts)

    def _any_of(self, parts: Iterable[Condition]) -> Condition:
        return sa.or_(sa.false(), *parts)

    def _negation(self, part: Condition) -> Condition:
        return sa.not_(part)

    def _equal(self, one: Content, other: Content) -> Condition:
        return one == other

    def _literal(self, value: str, sort: str) -> Content:
        if sort == fo.INTEGERS or self.schema.sort(sort).is_numeric:
            return sa.literal(int(value), sa.BigInteger())
        return self.cells.literal(value, sort).expression

    def _added(self, one: Content, sign: str, other: fo.Term, addend: Content) -> Content:
        return one + addend if sign == "+" else one - addend

    def _rows_of(self, relation: str) -> sa.FromClause:
        return self.cells.rows_of(relation.removeprefix(_LISTED), listed=relation.startswith(_LISTED))

    def _column(self, rows: sa.FromClause, relation: str, place: int) -> SqlCell:
        if relation.startswith(_LISTED):
            return Cell(rows.c.v, relation.removeprefix(_LISTED))
        return self.cells.column(rows, relation, place)

    def _known(self, cell: SqlCell) -> Condition:
        return self.cells.known(cell)

    def _joined(self, rows: Sequence[sa.FromClause], conditions: Sequence[Condition], scope: Scope) -> Join:
        return Join(rows, conditions, scope)

    def _not_empty(self, join: Join) -> Condition:
        return sa.exists(join.select(_ONE)) if join.tables else self._all_of(join.conditions)

    def _listed(
        self, binder: fo.Binder, slots: Mapping[str, fo.Binder], items: Sequence[fo.Formula]
    ) -> Iterator[tuple[Sequence[fo.Binder], Sequence[fo.Formula]]]:
        yield [*slots.values()], [fo.Atom(_LISTED + binder.sort, (fo.Var(binder.name),)), *items]

    def of_row(
        self, rows: sa.FromClause, atom: fo.Atom, own: Collection[int], scope: Scope, surely: bool
    ) -> Iterator[Condition]:
        """Yield the conditions that a row is the fact that an atom denotes, and note what they look for."""
        if not atom.relation.startswith(_LISTED):
            yield from self.cells.is_fact(rows, atom.relation)
            bound = self.cells.bound.rows[atom.relation]
            others = set(range(len(atom.args))).difference(own)
            self.sought |= {(bound.table, bound.columns[place]) for place in others}
        yield from super().of_row(rows, atom, own, scope, surely)

    def _equated(
        self,
        slots: Mapping[str, fo.Binder],
        items: Sequence[fo.Formula],
        cells: dict[str, SqlCell],
        surely: bool,
    ) -> Iterator[Condition]:
        """Give variables the values of terms that they have to be equal to."""
        sides = [
            pair
            for item in items
            if isinstance(item, fo.Equal)
            for pair in ((item.left, item.right), (item.right, item.left))
        ]
        while (found := next((pair for pair in sides if _gives(*pair, slots, cells)), None)) is not None:
            binder, term = slots[str(found[0])], found[1]
            expression, known = self.term(term, cells, binder.sort)
            cell = cells[binder.name] = Cell(expression, binder.sort)
            facts = () if binder.declared else self.facts_with(binder)
            active = [self.condition(fact, cells, surely=surely) for fact in facts]
            yield self.judged(self._known(cell) if binder.declared else self._any_of(active), known, surely)

    def _compared(self, comparison: fo.Compare, scope: Scope, surely: bool) -> Condition:
        sort = comparison.sort
        one, known = self.term(comparison.left, scope, sort)
        other, more = self.term(comparison.right, scope, sort)
        if sort != fo.INTEGERS and not self.schema.sort(sort).is_numeric:
            one, other = (self.cells.rank(expression, sort) for expression in (one, other))
        if comparison.ordering == "succ":
            return self.judged(one + 1 == other, [*known, *more], surely)
        return self.judged(ORDERINGS[comparison.ordering](one, other), [*known, *more], surely)  # type: ignore[arg-type]

    # counting

    def _counted(self, count: fo.Count, scope: Scope, surely: bool) -> Condition:
        def number(surely: bool) -> Content:
            """Return the least, or the largest, number of values; no more are counted than decide it."""
            selects = []
            for join in self.rows([count.binder], [count.body], scope, surely=surely):
                values = join.select(join.scope[count.binder.name].expression.label("v")).distinct()
                limited = values.limit(count.number + 1).subquery()
                selects.append(sa.select(limited.c.v))
            return _aggregate(selects, lambda _: sa.func.count())

        least, most = number(True), number(False)
        match count.comparison:
            case "atleast":
                return (least if surely else most) >= count.number
            case "atmost":
                return (most if surely else least) <= count.number
            case "exactly":
                if surely:
                    return sa.and_(least >= count.number, most <= count.number)
                return sa.and_(least <= count.number, most >= count.number)
            case _:
                assert_never(count.comparison)

    def _total(self, tally: fo.Tally, scope: Scope) -> tuple[Content, Sequence[Condition]]:
        binders: list[fo.Binder] = []
        each = tally.each
        while isinstance(each, fo.Each):
            binders.append(self.apart(each.binder))
            each = substitute(each.body, {each.binder.name: fo.Var(binders[-1].name)})
        assert isinstance(each, fo.Weight)
        weight, condition = each.of, each.condition

        def selects(surely: bool) -> list[sa.Select[Any]]:
            found = []
            for join in self.rows(binders, [condition], scope, surely=surely):
                parts = [self.term(term, join.scope, fo.INTEGERS) for term in weight]
                added = [part for part, _ in parts] or [_ONE]
                total: Content = added[0]
                for more in added[1:]:
                    total = total + more
                columns = [join.scope[b.name].expression.label(f"c{k}") for k, b in enumerate(binders)]
                one = join.select(*columns, total.label("w")).distinct()
                found.append(one.where(*(known for _, own in parts for known in own)) if surely else one)
            return found

        total = _aggregate(selects(True), lambda rows: sa.func.coalesce(sa.func.sum(rows.c.w), 0))
        if not self.cells.any_loose:
            return total, []
        least, most = (_aggregate(selects(surely), lambda _: sa.func.count()) for surely in (True, False))
        return total, [least == most]


def _gives(variable: fo.Term, term: fo.Term, slots: Mapping[str, fo.Binder], cells: Scope) -> bool:
    """Return True if a variable without a cell is equal to a term whose variables all have cells."""
    if not isinstance(variable, fo.Var) or variable.name not in slots or variable.name in cells:
        return False
    return fo.free_variables(fo.Equal(term, term)) <= cells.keys()


def _aggregate(selects: Sequence[sa.Select[Any]], of: Any) -> Content:
    """Return an aggregate over the distinct rows of queries, 0 if there are no queries."""
    if not selects:
        return _ZERO
    rows = (selects[0] if len(selects) == 1 else sa.union(*selects)).subquery()
    number: Content = sa.select(sa.cast(of(rows), sa.BigInteger())).select_from(rows).scalar_subquery()
    return number
