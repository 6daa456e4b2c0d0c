"""First-order formulas as conditions of SQL, whatever writes the SQL.

A quantifier ranges over active values, which are those in some column of the sort. So ∃x1 … xn. f becomes
joins of tables: those of atoms among the conjuncts of f give the variables their values. A variable that no
atom has ranges over every column of its sort, or over the list of a finite sort.

A formula is read in one of two ways. *Surely* true means true whatever the contents that a finite sort does
not list stand for; *possibly* true means not surely false. Without such contents both are the truth in the
instance that the tables hold. Negation exchanges them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, TypeVar, assert_never

import stead_sym.logic.syntax as fo
from stead_sym.logic.folding import negate
from stead_sym.logic.substitution import substitute
from stead_sym.relational.schema import Relation, Schema

C = TypeVar("C")
X = TypeVar("X")
R = TypeVar("R")
J = TypeVar("J")


@dataclass(frozen=True, slots=True)
class Cell(Generic[X]):
    """An expression of SQL that has the content for a value of a sort.

    If it is ``loose``, the content may be none that the sort lists.
    """

    expression: X
    sort: str
    loose: bool = False


class Conditions(ABC, Generic[C, X, R, J]):
    """Formulas over a deployment's relations as conditions C; a scope has the cells of free variables.

    Their expressions are X, the rows of a table in a query R, and joins of them J.
    """

    joins_all: ClassVar[bool]
    """All atoms among conjuncts are rows of a join, and equations give values; else atoms only if needed."""

    def __init__(self, schema: Schema, relations: Sequence[Relation]) -> None:
        self.schema = schema
        self._relations = relations
        self._bound = 0

    # what is written

    @abstractmethod
    def _all_of(self, parts: Iterable[C]) -> C:
        """Return the conjunction."""

    @abstractmethod
    def _any_of(self, parts: Iterable[C]) -> C:
        """Return the disjunction."""

    @abstractmethod
    def _negation(self, part: C) -> C:
        """Return the negation of a condition that is never NULL."""

    @abstractmethod
    def _equal(self, one: X, other: X) -> C:
        """Return the condition that two contents are equal."""

    @abstractmethod
    def _literal(self, value: str, sort: str) -> X:
        """Return the content that stands for a constant of a sort, or for an integer."""

    @abstractmethod
    def _added(self, one: X, sign: str, other: fo.Term, addend: X) -> X:
        """Return the sum or the difference of two integers, the second with its term."""

    @abstractmethod
    def _rows_of(self, relation: str) -> R:
        """Return new rows of the table of a relation."""

    @abstractmethod
    def _column(self, rows: R, relation: str, place: int) -> Cell[X]:
        """Return the cell of a relation's column."""

    @abstractmethod
    def _joined(self, rows: Sequence[R], conditions: Sequence[C], scope: Mapping[str, Cell[X]]) -> J | None:
        """Return the rows that satisfy the conditions, None if there are none for sure."""

    @abstractmethod
    def _not_empty(self, join: J) -> C:
        """Return the condition that there is such a row."""

    @abstractmethod
    def _compared(self, comparison: fo.Compare, scope: Mapping[str, Cell[X]], surely: bool) -> C:
        """Return the condition of a comparison."""

    @abstractmethod
    def _counted(self, count: fo.Count, scope: Mapping[str, Cell[X]], surely: bool) -> C:
        """Return the condition of a counting quantifier."""

    @abstractmethod
    def _total(self, tally: fo.Tally, scope: Mapping[str, Cell[X]]) -> tuple[X, Sequence[C]]:
        """Return the value of a tally, and the conditions under which it is known."""

    @abstractmethod
    def _listed(
        self, binder: fo.Binder, slots: Mapping[str, fo.Binder], items: Sequence[fo.Formula]
    ) -> Iterator[tuple[Sequence[fo.Binder], Sequence[fo.Formula]]]:
        """Yield variables and formulas that together let a variable have all values of its finite sort."""

    @abstractmethod
    def _known(self, cell: Cell[X]) -> C:
        """Return the condition that the content of a cell is one that its finite sort lists."""

    def _equated(
        self,
        slots: Mapping[str, fo.Binder],
        items: Sequence[fo.Formula],
        cells: dict[str, Cell[X]],
        surely: bool,
    ) -> Iterable[C]:
        """Give variables the values that equations say; return the conditions that these are in range."""
        return ()

    # formulas

    def condition(self, formula: fo.Expanded, scope: Mapping[str, Cell[X]], *, surely: bool) -> C:
        """Return the condition that the formula is surely, or possibly, true.

        Raise `DeclarationError` for a formula about the past, `InputError` for a constant without content.
        """

        def here(part: fo.Formula) -> C:
            return self.condition(part, scope, surely=surely)

        def not_here(part: fo.Formula) -> C:
            return self._negation(self.condition(part, scope, surely=not surely))

        match formula:
            case fo.Truth(value):
                return self._all_of(()) if value else self._any_of(())
            case fo.Equal(left, right):
                return self._equality(left, right, scope, surely)
            case fo.Compare():
                return self._compared(formula, scope, surely)
            case fo.Atom() | fo.Exists():
                return self._any_of(map(self._not_empty, self.joins((), [formula], scope, surely=surely)))
            case fo.Not(body):
                return not_here(body)
            case fo.And(parts):
                return self._all_of(map(here, parts))
            case fo.Or(parts):
                return self._any_of(map(here, parts))
            case fo.Implies(left, right):
                return self._any_of((not_here(left), here(right)))
            case fo.Iff(left, right):
                both = self._all_of((here(left), here(right)))
                return self._any_of((both, self._all_of((not_here(left), not_here(right)))))
            case fo.Forall(binder, body):
                return not_here(fo.Exists(binder, fo.Not(body)))
            case fo.Count():
                return self._counted(formula, scope, surely)
            case fo.Since() | fo.Previously() | fo.Did():
                raise fo.unfollowed(formula)
            case fo.Use() | fo.Derived():
                raise fo.unexpanded(formula)
            case (
                fo.Same()
                | fo.Empty()
                | fo.Next()
                | fo.Future()
                | fo.Globally()
                | fo.Until()
                | fo.Each()
                | fo.Weight()
            ):
                raise ValueError(f"no condition on a database: {formula}")
            case _:
                assert_never(formula)

    def _equality(self, left: fo.Term, right: fo.Term, scope: Mapping[str, Cell[X]], surely: bool) -> C:
        if isinstance(left, fo.Const) and isinstance(right, fo.Const):
            return self._all_of(()) if left.value == right.value else self._any_of(())
        variable = next((term for term in (left, right) if isinstance(term, fo.Var)), None)
        compound = fo.is_compound(left) or fo.is_compound(right)
        sort = fo.INTEGERS if compound or variable is None else scope[variable.name].sort
        (one, known), (other, more) = (self.term(term, scope, sort) for term in (left, right))
        return self.judged(self._equal(one, other), [*known, *more], surely)

    def term(self, term: fo.Term, scope: Mapping[str, Cell[X]], sort: str) -> tuple[X, Sequence[C]]:
        """Return the content of a term of a sort, and the conditions under which it is known."""
        match term:
            case fo.Var(name):
                cell = scope[name]
                return cell.expression, [self._known(cell)] if cell.loose else []
            case fo.Const(value):
                return self._literal(value, sort), []
            case fo.Sum(left, sign, right):
                (one, known), (other, more) = (self.term(t, scope, fo.INTEGERS) for t in (left, right))
                return self._added(one, sign, right, other), [*known, *more]
            case fo.Tally():
                return self._total(term, scope)
            case _:
                raise fo.unquantified(term) if str(term) == "_" else fo.unresolved(term)  # type: ignore[arg-type]

    def judged(self, condition: C, known: Sequence[C], surely: bool) -> C:
        """Return the condition if all contents are known, else False, or True if not ``surely``."""
        if not known:
            return condition
        if surely:
            return self._all_of((condition, *known))
        return self._any_of((condition, *map(self._negation, known)))

    # joins

    def joins(
        self,
        binders: Sequence[fo.Binder],
        parts: Sequence[fo.Formula],
        scope: Mapping[str, Cell[X]],
        *,
        surely: bool,
    ) -> Iterator[J]:
        """Yield joins whose rows, together, are the values of the variables for which all parts hold."""
        slots, items = self.flat(binders, parts)
        if fo.Truth(False) in items:
            return
        cells = {name: cell for name, cell in scope.items() if name not in slots}
        rows: dict[int, tuple[R, set[int]]] = {}
        for number, item in enumerate(items):
            if isinstance(item, fo.Atom):
                own = _given(item, slots.keys() - cells.keys())
                if self.joins_all or own or (len(items) == 1 and not slots):
                    rows[number] = self._rows_of(item.relation), own
                    for place in own:
                        cells[str(item.args[place])] = self._column(rows[number][0], item.relation, place)
        conditions = [*self._equated(slots, items, cells, surely)]
        missing = next((binder for name, binder in slots.items() if name not in cells), None)
        if missing is not None:
            for some, narrowed in self._ranged(missing, slots, items):
                yield from self.joins(some, narrowed, scope, surely=surely)
            return
        for number, (row, own) in rows.items():
            item = items[number]
            assert isinstance(item, fo.Atom)
            conditions += self.of_row(row, item, own, cells, surely)
        others = [item for number, item in enumerate(items) if number not in rows]
        conditions += [self.condition(item, cells, surely=surely) for item in others]
        if (join := self._joined([row for row, _ in rows.values()], conditions, cells)) is not None:
            yield join

    def flat(
        self, binders: Sequence[fo.Binder], parts: Sequence[fo.Formula]
    ) -> tuple[dict[str, fo.Binder], list[fo.Formula]]:
        """Return the variables and the conjuncts, with those of ∃ among them under names of their own."""
        slots = {binder.name: binder for binder in binders}
        left, items = list(reversed(parts)), list[fo.Formula]()
        while left:
            match _pushed(left.pop()):
                case fo.Truth(True):
                    pass
                case fo.And(listed):
                    left += reversed(listed)
                case fo.Exists(binder, body):
                    own = self.apart(binder)
                    slots[own.name] = own
                    left.append(substitute(body, {binder.name: fo.Var(own.name)}))
                case other:
                    items.append(other)
        return slots, items

    def apart(self, binder: fo.Binder) -> fo.Binder:
        """Return the binder with a name that no formula has."""
        self._bound += 1
        return replace(binder, name=f"{binder.name.partition(' ')[0]} {self._bound}")

    def of_row(
        self, rows: R, atom: fo.Atom, own: Collection[int], scope: Mapping[str, Cell[X]], surely: bool
    ) -> Iterator[C]:
        """Yield the conditions that a row is the fact that an atom denotes; ``own`` places give values."""
        for place, term in enumerate(atom.args):
            if place in own:
                continue
            cell = self._column(rows, atom.relation, place)
            expression, known = self.term(term, scope, cell.sort)
            if cell.loose and (known or fo.is_compound(term) or not surely):
                known = [*known, self._known(cell)]
            yield self.judged(self._equal(cell.expression, expression), known, surely)

    def _ranged(
        self, binder: fo.Binder, slots: Mapping[str, fo.Binder], items: Sequence[fo.Formula]
    ) -> Iterator[tuple[Sequence[fo.Binder], Sequence[fo.Formula]]]:
        """Yield the variables and formulas with what gives one its values; all together are all values."""
        for place, item in enumerate(items):
            if isinstance(item, fo.Or) and all(self.gives(part, binder.name) for part in item.parts):
                for part in item.parts:
                    yield [*slots.values()], [*items[:place], part, *items[place + 1 :]]
                return
        if binder.declared:
            yield from self._listed(binder, slots, items)
            return
        for atom in self.facts_with(binder):
            yield [*slots.values()], [atom, *items]

    def facts_with(self, binder: fo.Binder) -> Iterator[fo.Formula]:
        """Yield, for each column of a variable's sort, that some fact has its value there."""
        for relation in self._relations:
            for place, sort in enumerate(relation.sorts):
                if sort == binder.sort:
                    others = [self.apart(fo.Binder("", one)) for one in relation.sorts]
                    others[place] = binder
                    formula: fo.Formula = fo.Atom(relation.name, tuple(fo.Var(one.name) for one in others))
                    for other in others:
                        if other is not binder:
                            formula = fo.Exists(other, formula)
                    yield formula

    def gives(self, formula: fo.Formula, name: str) -> bool:
        """Return True if the formula is only true for values that a conjunct of it gives a variable."""
        match _pushed(formula):
            case fo.Truth(value):
                return not value
            case fo.Atom(_, args):
                return fo.Var(name) in args
            case fo.Equal(fo.Var(other), fo.Const()) | fo.Equal(fo.Const(), fo.Var(other)):
                return self.joins_all and other == name
            case fo.And(parts):
                return any(self.gives(part, name) for part in parts)
            case fo.Or(parts):
                return all(self.gives(part, name) for part in parts)
            case fo.Exists(binder, body):
                return binder.name != name and self.gives(body, name)
            case _:
                return False


def _given(atom: fo.Atom, names: Collection[str]) -> set[int]:
    """Return the first place of each of these variables in an atom."""
    places = {
        term.name: place for place, term in reversed([*enumerate(atom.args)]) if isinstance(term, fo.Var)
    }
    return {place for name, place in places.items() if name in names}


def _pushed(formula: fo.Formula) -> fo.Formula:
    """Return an equivalent formula without ¬ above ∧, ∨, → or ∀, nor → itself, at the top."""
    match formula:
        case fo.Implies(left, right):
            return fo.Or((negate(left), right))
        case fo.Not(fo.Truth(value)):
            return fo.Truth(not value)
        case fo.Not(fo.Not(body)):
            return _pushed(body)
        case fo.Not(fo.And(parts)):
            return fo.Or(tuple(map(negate, parts)))
        case fo.Not(fo.Or(parts)):
            return fo.And(tuple(map(negate, parts)))
        case fo.Not(fo.Implies(left, right)):
            return fo.And((left, negate(right)))
        case fo.Not(fo.Forall(binder, body)):
            return fo.Exists(binder, negate(body))
        case _:
            return formula
