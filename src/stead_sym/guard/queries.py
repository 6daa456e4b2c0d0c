"""First-order formulas as conditions of SQL over the tables that a deployment is bound to.

A formula is read in one of two ways. *Surely* true means true whatever the contents that a finite sort does
not list stand for; *possibly* true means not surely false. Without such contents both are the truth in the
instance that the tables hold. Negation exchanges them, and no condition is ever NULL.

One decision: ∃x1 … xn. f becomes a join of the atoms among the conjuncts of f, which give the variables their
values, so that the database chooses the order and the indices. A variable that no atom has ranges over every
column of its sort, or over the list of a finite sort.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, assert_never

import sqlalchemy as sa

from stead_sym.guard.cells import Cell, Cells
from stead_sym.logic.evaluate import ORDERINGS
from stead_sym.logic.syntax import (
    INTEGERS,
    And,
    Atom,
    Compare,
    Const,
    Count,
    Derived,
    Did,
    Each,
    Empty,
    Equal,
    Exists,
    Expanded,
    Forall,
    Formula,
    Future,
    Globally,
    Iff,
    Implies,
    Next,
    Not,
    Or,
    Previously,
    Same,
    Since,
    Sum,
    Tally,
    Term,
    Truth,
    Until,
    Use,
    Var,
    Weight,
    is_compound,
    leaves,
    unexpanded,
    unfollowed,
    unquantified,
    unresolved,
)  # fmt: skip

Condition: TypeAlias = sa.ColumnElement[bool]
Scope: TypeAlias = Mapping[str, Cell]
"""The cells of the free variables of a formula."""

_LISTED = "in "  # before the name of a finite sort: the relation of its values
_ZERO = sa.literal_column("0", sa.BigInteger())
_ONE = sa.literal_column("1", sa.BigInteger())


@dataclass(frozen=True, slots=True, eq=False)
class Slot:
    """A variable of a join; ``declared`` if it ranges over all values of a finite sort."""

    sort: str
    declared: bool = False


Item: TypeAlias = tuple[Formula, Mapping[str, Cell | Slot]]
"""A formula with the cells or slots of its free variables."""


@dataclass(frozen=True, slots=True)
class Join:
    """The rows of ``tables`` that satisfy the ``conditions``; ``cells`` are what the variables are there."""

    tables: Sequence[sa.FromClause]
    conditions: Sequence[Condition]
    cells: Mapping[Slot, Cell]

    def select(self, *columns: sa.ColumnElement[Any]) -> sa.Select[Any]:
        """Return the query for columns of these rows; other tables are those of the query around it."""
        where = sa.and_(sa.true(), *self.conditions)
        return sa.select(*columns).select_from(*self.tables).where(where).correlate_except(*self.tables)

    @property
    def is_not_empty(self) -> Condition:
        """The condition that there is such a row."""
        return sa.exists(self.select(_ONE)) if self.tables else sa.and_(sa.true(), *self.conditions)


@dataclass(slots=True)
class _Draft:
    """A join that is being built: the variables that have cells, and the rows of atoms that give them."""

    slots: list[Slot]
    items: list[Item] = field(default_factory=list)
    cells: dict[Slot, Cell] = field(default_factory=dict)
    rows: list[tuple[Atom, Mapping[str, Cell | Slot], sa.FromClause, frozenset[int]]] = field(
        default_factory=list
    )
    conditions: list[Condition] = field(default_factory=list)

    def scope(self, scope: Mapping[str, Cell | Slot]) -> Scope:
        """Return the cells of all variables."""
        return {name: one if isinstance(one, Cell) else self.cells[one] for name, one in scope.items()}

    def has(self, term: Term, scope: Mapping[str, Cell | Slot]) -> bool:
        """Return True if all variables of a term, which has no tally, have cells."""
        if isinstance(term, Sum):
            return self.has(term.left, scope) and self.has(term.right, scope)
        if isinstance(term, Var):
            one = scope[term.name]
            return isinstance(one, Cell) or one in self.cells
        return isinstance(term, Const)


class Queries:
    """Formulas over a deployment's relations as conditions of SQL.

    ``sought`` are the columns of tables in which the queries so far look for a value.
    """

    def __init__(self, cells: Cells) -> None:
        self.cells = cells
        self.sought: set[tuple[str, str]] = set()

    def condition(self, formula: Expanded, scope: Scope, *, surely: bool) -> Condition:
        """Return the condition that the formula is surely, or possibly, true.

        Raise `DeclarationError` for a formula about the past, `InputError` for a constant without content.
        """

        def here(part: Formula) -> Condition:
            return self.condition(part, scope, surely=surely)

        def not_here(part: Formula) -> Condition:
            return sa.not_(self.condition(part, scope, surely=not surely))

        match formula:
            case Truth(value):
                return sa.true() if value else sa.false()
            case Equal(left, right):
                return self._equal(left, right, scope, surely)
            case Compare():
                return self._compares(formula, scope, surely)
            case Atom() | Exists():
                joins = self.joins((), [(formula, scope)], surely)
                return sa.or_(sa.false(), *(join.is_not_empty for join in joins))
            case Not(body):
                return not_here(body)
            case And(parts):
                return sa.and_(*map(here, parts))
            case Or(parts):
                return sa.or_(*map(here, parts))
            case Implies(left, right):
                return sa.or_(not_here(left), here(right))
            case Iff(left, right):
                both, neither = (here(left), here(right)), (not_here(left), not_here(right))
                return sa.or_(sa.and_(*both), sa.and_(*neither))
            case Forall(binder, body):
                return not_here(Exists(binder, Not(body)))
            case Count():
                return self._counts(formula, scope, surely)
            case Since() | Previously() | Did():
                raise unfollowed(formula)
            case Use() | Derived():
                raise unexpanded(formula)
            case Same() | Empty() | Next() | Future() | Globally() | Until() | Each() | Weight():
                raise ValueError(f"no condition on a database: {formula}")
            case _:
                assert_never(formula)

    def rows(self, slots: Sequence[Slot], items: Sequence[Item], surely: bool) -> Iterator[Join]:
        """Yield joins as `joins`; with ``surely`` all variables have contents that their sorts list."""
        for join in self.joins(slots, items, surely):
            loose = [join.cells[slot] for slot in slots if join.cells[slot].loose] if surely else []
            yield Join(join.tables, [*join.conditions, *map(self.cells.known, loose)], join.cells)

    # joins

    def joins(self, slots: Sequence[Slot], items: Sequence[Item], surely: bool) -> Iterator[Join]:
        """Yield joins whose rows are the values of the variables for which all formulas are true."""
        draft = _flattened(slots, items)
        if draft is None:
            return
        atoms = [(formula, scope) for formula, scope in draft.items if isinstance(formula, Atom)]
        for atom, scope in atoms:
            self._add_row(draft, atom, scope)
        while any(self._set_equal(draft, slot, surely) for slot in draft.slots):
            pass
        missing = next((slot for slot in draft.slots if slot not in draft.cells), None)
        if missing is not None:
            for narrowed in self._ranged(draft, missing):
                yield from self.joins(draft.slots, narrowed, surely)
            return
        for atom, scope, alias, own in draft.rows:
            draft.conditions.extend(self._of_row(atom, draft.scope(scope), alias, own, surely))
        for formula, scope in draft.items:
            if not isinstance(formula, Atom):
                draft.conditions.append(self.condition(formula, draft.scope(scope), surely=surely))
        yield Join([alias for _, _, alias, _ in draft.rows], draft.conditions, draft.cells)

    def _add_row(self, draft: _Draft, atom: Atom, scope: Mapping[str, Cell | Slot]) -> None:
        """Add a row of the atom's table, which gives their values to variables that have none."""
        alias = self.cells.rows_of(atom.relation.removeprefix(_LISTED), listed=_is_listed(atom))
        own: set[int] = set()
        for place, term in enumerate(atom.args):
            slot = scope[term.name] if isinstance(term, Var) else None
            if isinstance(slot, Slot) and slot not in draft.cells:
                draft.cells[slot] = self._cell_of_row(atom, alias, place)
                own.add(place)
        draft.rows.append((atom, scope, alias, frozenset(own)))

    def _cell_of_row(self, atom: Atom, alias: sa.FromClause, place: int) -> Cell:
        if _is_listed(atom):
            return Cell(alias.c.v, atom.relation.removeprefix(_LISTED))
        return self.cells.column(alias, atom.relation, place)

    def _of_row(
        self, atom: Atom, scope: Scope, alias: sa.FromClause, own: frozenset[int], surely: bool
    ) -> Iterator[Condition]:
        """Yield the conditions that a row is the fact that an atom denotes; ``own`` places give values."""
        if not _is_listed(atom):
            yield from self.cells.is_fact(alias, atom.relation)
        for place, term in enumerate(atom.args):
            if place in own:
                continue
            cell = self._cell_of_row(atom, alias, place)
            expression, known = self._term(term, scope, cell.sort)
            if cell.loose and (known or is_compound(term) or not surely):
                known = [*known, self.cells.known(cell)]
            if not _is_listed(atom):
                rows = self.cells.bound.rows[atom.relation]
                self.sought.add((rows.table, rows.columns[place]))
            yield _judged(cell.expression == expression, known, surely)

    def _set_equal(self, draft: _Draft, slot: Slot, surely: bool) -> bool:
        """Give a variable the value of a term that it has to be equal to; return False if there is none."""
        if slot in draft.cells:
            return False
        for formula, scope in draft.items:
            match formula:
                case Equal(Var(name), term) if scope[name] is slot and draft.has(term, scope):
                    pass
                case Equal(term, Var(name)) if scope[name] is slot and draft.has(term, scope):
                    pass
                case _:
                    continue
            expression, known = self._term(term, draft.scope(_within(scope, term)), slot.sort)
            cell = draft.cells[slot] = Cell(expression, slot.sort)
            if slot.declared:
                draft.conditions.append(_judged(self.cells.known(cell), known, surely))
            else:
                active = [
                    join.is_not_empty
                    for item in self._facts_with(slot.sort, cell)
                    for join in self.joins((), [item], surely)
                ]
                draft.conditions.append(_judged(sa.or_(sa.false(), *active), known, surely))
            return True
        return False

    def _ranged(self, draft: _Draft, slot: Slot) -> Iterator[Sequence[Item]]:
        """Yield the formulas with one more that gives a variable its values; all together are all values."""
        items = draft.items
        for place, (formula, scope) in enumerate(items):
            if isinstance(formula, Or) and all(_gives(part, scope, slot) for part in formula.parts):
                for part in formula.parts:
                    yield [*items[:place], (part, scope), *items[place + 1 :]]
                return
        if slot.declared:
            yield [*items, (Atom(_LISTED + slot.sort, (Var("v"),)), {"v": slot})]
            return
        for item in self._facts_with(slot.sort, slot):
            yield [*items, item]

    def _facts_with(self, sort: str, one: Cell | Slot) -> Iterator[Item]:
        """Yield, for each column of a sort, the atom that some fact has the value there."""
        for relation in self.cells.schema.relations:
            args = tuple(Var(str(place)) for place in range(relation.arity))
            for place, other in enumerate(relation.sorts):
                if other == sort:
                    scope: dict[str, Cell | Slot] = {
                        var.name: Slot(own) for var, own in zip(args, relation.sorts, strict=True)
                    }
                    yield Atom(relation.name, args), {**scope, str(place): one}

    # terms

    def _term(self, term: Term, scope: Scope, sort: str) -> tuple[sa.ColumnElement[Any], list[Condition]]:
        """Return the content of a term, and the conditions under which it is known."""
        match term:
            case Var(name):
                cell = scope[name]
                return cell.expression, [self.cells.known(cell)] if cell.loose else []
            case Const(value):
                if sort == INTEGERS or self.cells.schema.sort(sort).is_numeric:
                    return sa.literal(int(value), sa.BigInteger()), []
                return self.cells.literal(value, sort).expression, []
            case Sum(left, sign, right):
                (one, known), (other, more) = (self._term(t, scope, INTEGERS) for t in (left, right))
                return (one + other if sign == "+" else one - other), [*known, *more]
            case Tally(each):
                return self._total(each, scope)
            case _:
                raise unquantified(term) if str(term) == "_" else unresolved(term)  # type: ignore[arg-type]

    def _equal(self, left: Term, right: Term, scope: Scope, surely: bool) -> Condition:
        if isinstance(left, Const) and isinstance(right, Const):
            return sa.true() if left.value == right.value else sa.false()
        variable = next((term for term in (left, right) if isinstance(term, Var)), None)
        compound = is_compound(left) or is_compound(right)
        sort = INTEGERS if compound or variable is None else scope[variable.name].sort
        (one, known), (other, more) = (self._term(term, scope, sort) for term in (left, right))
        return _judged(one == other, [*known, *more], surely)

    def _compares(self, comparison: Compare, scope: Scope, surely: bool) -> Condition:
        sort = comparison.sort
        one, known = self._term(comparison.left, scope, sort)
        other, more = self._term(comparison.right, scope, sort)
        if sort != INTEGERS and not self.cells.schema.sort(sort).is_numeric:
            one, other = (self.cells.rank(expression, sort) for expression in (one, other))
        if comparison.ordering == "succ":
            return _judged(one + 1 == other, [*known, *more], surely)
        return _judged(ORDERINGS[comparison.ordering](one, other), [*known, *more], surely)  # type: ignore[arg-type]

    def _counts(self, count: Count, scope: Scope, surely: bool) -> Condition:
        slot = Slot(count.binder.sort, count.binder.declared)
        items: list[Item] = [(count.body, {**scope, count.binder.name: slot})]

        def number(surely: bool) -> sa.ColumnElement[Any]:
            """Return the least, or the largest, number of values; no more are counted than decide it."""
            selects = []
            for join in self.rows([slot], items, surely):
                values = join.select(join.cells[slot].expression.label("v")).distinct()
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

    def _total(self, each: Formula, scope: Scope) -> tuple[sa.ColumnElement[Any], list[Condition]]:
        """Return the value of a tally, and the condition that it does not depend on unlisted contents."""
        slots: list[Slot] = []
        inner: Mapping[str, Cell | Slot] = scope
        while isinstance(each, Each):
            slots.append(Slot(each.binder.sort, each.binder.declared))
            inner, each = {**inner, each.binder.name: slots[-1]}, each.body
        assert isinstance(each, Weight)
        weight, condition = each.of, each.condition

        def selects(surely: bool) -> list[sa.Select[Any]]:
            found = []
            for join in self.rows(slots, [(condition, inner)], surely):
                here = _Draft([], cells=dict(join.cells)).scope(inner)
                parts = [self._term(term, here, INTEGERS) for term in weight]
                added = [part for part, _ in parts] or [_ONE]
                total: sa.ColumnElement[Any] = added[0]
                for more in added[1:]:
                    total = total + more
                columns = [join.cells[slot].expression.label(f"c{k}") for k, slot in enumerate(slots)]
                one = join.select(*columns, total.label("w")).distinct()
                found.append(one.where(*(known for _, own in parts for known in own)) if surely else one)
            return found

        total = _aggregate(selects(True), lambda rows: sa.func.coalesce(sa.func.sum(rows.c.w), 0))
        if not self.cells.any_loose:
            return total, []
        least, most = (_aggregate(selects(surely), lambda _: sa.func.count()) for surely in (True, False))
        return total, [least == most]


def _flattened(slots: Sequence[Slot], items: Sequence[Item]) -> _Draft | None:
    """Return the conjuncts, with the variables of those that are ∃; None if one is `false`."""
    draft = _Draft(list(slots))
    left = list(reversed(items))
    while left:
        formula, scope = left.pop()
        match _pushed(formula):
            case Truth(value):
                if not value:
                    return None
            case And(parts):
                left.extend((part, scope) for part in reversed(parts))
            case Exists(binder, body):
                draft.slots.append(Slot(binder.sort, binder.declared))
                left.append((body, {**scope, binder.name: draft.slots[-1]}))
            case other:
                draft.items.append((other, scope))
    return draft


def _pushed(formula: Formula) -> Formula:
    """Return an equivalent formula without ¬ above ∧, ∨, → or ∀, nor → itself, at the top."""
    match formula:
        case Implies(left, right):
            return Or((Not(left), right))
        case Not(Truth(value)):
            return Truth(not value)
        case Not(Not(body)):
            return _pushed(body)
        case Not(And(parts)):
            return Or(tuple(map(Not, parts)))
        case Not(Or(parts)):
            return And(tuple(map(Not, parts)))
        case Not(Implies(left, right)):
            return And((left, Not(right)))
        case Not(Forall(binder, body)):
            return Exists(binder, Not(body))
        case _:
            return formula


def _gives(formula: Formula, scope: Mapping[str, Cell | Slot], slot: Slot) -> bool:
    """Return True if the formula has a conjunct that gives a variable its values."""
    match _pushed(formula):
        case Atom(_, args):
            return any(isinstance(term, Var) and scope.get(term.name) is slot for term in args)
        case Equal(Var(name), Const()) | Equal(Const(), Var(name)):
            return scope.get(name) is slot
        case And(parts):
            return any(_gives(part, scope, slot) for part in parts)
        case Or(parts):
            return all(_gives(part, scope, slot) for part in parts)
        case Exists(binder, body):
            inner = {name: one for name, one in scope.items() if name != binder.name}
            return _gives(body, inner, slot)
        case _:
            return False


def _is_listed(atom: Atom) -> bool:
    return atom.relation.startswith(_LISTED)


def _within(scope: Mapping[str, Cell | Slot], term: Term) -> Mapping[str, Cell | Slot]:
    """Return the scope of the variables of a term without tallies."""
    names = {leaf.name for leaf in leaves(term) if isinstance(leaf, Var)}
    return {name: one for name, one in scope.items() if name in names}


def _judged(condition: Condition, known: Iterable[Condition], surely: bool) -> Condition:
    """Return the condition if all contents are known, else False, or True if not ``surely``."""
    known = list(known)
    if not known:
        return condition
    return sa.and_(condition, *known) if surely else sa.or_(condition, *map(sa.not_, known))


def _aggregate(selects: Sequence[sa.Select[Any]], of: Any) -> sa.ColumnElement[Any]:
    """Return an aggregate over the distinct rows of queries, 0 if there are no queries."""
    if not selects:
        return _ZERO
    rows = (selects[0] if len(selects) == 1 else sa.union(*selects)).subquery()
    number: sa.ColumnElement[Any] = (
        sa.select(sa.cast(of(rows), sa.BigInteger())).select_from(rows).scalar_subquery()
    )
    return number
