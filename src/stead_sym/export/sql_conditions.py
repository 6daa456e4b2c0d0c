"""First-order formulas as conditions of SQL, in the subset that `stead-sym import --sql` reads.

A quantifier ranges over active values, which are those in some column of the sort. So ∃x. f is a query whose
tables are those of atoms among the conjuncts of f, which give the variables their values. A variable that no
atom has gets its values from each column of its sort in turn.

One decision: what this subset cannot say is an error that says why (`OutsideSql`), never another condition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from stead_sym.export.sql_tables import SqlTable, literal
from stead_sym.logic.substitution import substitute
from stead_sym.logic.syntax import (
    INTEGERS,
    TRUE,
    And,
    Atom,
    Binder,
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
    Name,
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
    Wildcard,
    conjunction,
    free_variables,
    is_compound,
    unexpanded,
)  # fmt: skip
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

    def within(self, binds: int) -> str:
        """Return the text as a part of a condition that binds like this."""
        return f"({self.text})" if self.binds < binds else self.text


YES, NO = Condition("TRUE"), Condition("FALSE")


def all_of(parts: Sequence[Condition]) -> Condition:
    """Return the conjunction."""
    kept = [part for part in dict.fromkeys(parts) if part != YES]
    if NO in kept or not kept:
        return NO if kept else YES
    return kept[0] if len(kept) == 1 else Condition(" AND ".join(one.within(1) for one in kept), 1)


def any_of(parts: Sequence[Condition]) -> Condition:
    """Return the disjunction."""
    kept = [part for part in dict.fromkeys(parts) if part != NO]
    if YES in kept or not kept:
        return YES if kept else NO
    return kept[0] if len(kept) == 1 else Condition(" OR ".join(one.within(0) for one in kept), 0)


def negation(part: Condition) -> Condition:
    """Return the negation."""
    if part in (YES, NO):
        return NO if part == YES else YES
    return Condition(f"NOT {part.within(3)}", 2)


@dataclass(frozen=True, slots=True)
class Cell:
    """An expression of SQL that has the content for a value of a sort."""

    text: str
    sort: str


Scope: TypeAlias = Mapping[str, Cell]
"""The cells of the free variables of a formula."""


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


class Conditions:
    """Formulas over a deployment's relations; ``read`` are the relations that they have read so far."""

    def __init__(self, tables: Mapping[str, SqlTable], schema: Schema) -> None:
        self.read: set[str] = set()
        self._tables = tables
        self._schema = schema
        self._names: Counter[str] = Counter()
        self._bound = 0
        self._queries = 0

    def begin(self, relation: str | None = None) -> None:
        """Begin a statement, which changes the table of a relation, if any."""
        self.read = set()
        self._names = Counter() if relation is None else Counter([self._tables[relation].name])

    def condition(self, formula: Expanded, scope: Scope) -> Condition:
        """Return the condition that a formula is true; raise `OutsideSql`."""
        match formula:
            case Truth(value):
                return YES if value else NO
            case Equal(left, right):
                return self._equal(left, right, scope, "=")
            case Not(Equal(left, right)):
                return self._equal(left, right, scope, "<>")
            case Compare():
                return self._compares(formula, scope)
            case Atom() | Exists():
                return any_of([join.is_not_empty for join in self.joins((), [formula], scope)])
            case Not(body):
                return negation(self.condition(body, scope))
            case And(parts):
                return all_of([self.condition(part, scope) for part in parts])
            case Or(parts):
                return any_of([self.condition(part, scope) for part in parts])
            case Implies(left, right):
                return self.condition(Or((Not(left), right)), scope)
            case Iff(left, right):
                return self.condition(Or((And((left, right)), And((Not(left), Not(right))))), scope)
            case Forall(binder, body):
                return negation(self.condition(Exists(binder, Not(body)), scope))
            case Count():
                return self._counts(formula, scope)
            case Since() | Previously() | Did():
                raise OutsideSql(
                    f"`{formula}` is about the past, which tables do not have; keep what matters in one"
                )
            case Use() | Derived():
                raise unexpanded(formula)
            case Same() | Empty() | Next() | Future() | Globally() | Until() | Each() | Weight():
                raise ValueError(f"no condition on a database: {formula}")
            case _:
                assert_never(formula)

    def somewhere(self, cell: Cell) -> Iterator[Condition]:
        """Yield, for each column of the cell's sort, the condition that a row has its content there."""
        for relation, place in self._places(cell.sort):
            table = self._tables[relation]
            source, name = self._source(relation)
            yield Condition(
                f"EXISTS (SELECT 1 FROM {source} WHERE {name}.{table.columns[place]} = {cell.text})"
            )

    # queries

    def joins(self, binders: Sequence[Binder], parts: Sequence[Formula], scope: Scope) -> Iterator[Join]:
        """Yield queries whose rows, together, are the values of the variables with which all parts hold."""
        slots, items = self.flat(binders, parts)
        inner = {name: cell for name, cell in scope.items() if name not in slots}
        sources, where = list[str](), list[Condition]()
        rows: list[tuple[str, Atom]] = []
        for item in items:
            if not isinstance(item, Atom):
                continue
            if any(isinstance(t, Var) and t.name in slots and t.name not in inner for t in item.args):
                source, name = self._source(item.relation)
                sources.append(source)
                rows.append((name, item))
                self._give(name, item, slots, inner)
        missing = next((name for name in slots if name not in inner), None)
        if missing is not None and slots[missing].declared:
            others = [binder for name, binder in slots.items() if name != missing]
            for value in self._schema.sort(slots[missing].sort).values or ():
                known = {missing: Const(value)}
                yield from self.joins(others, [substitute(item, known) for item in items], scope)
            return
        if missing is not None:
            for narrowed in self._ranged(slots[missing], items):
                yield from self.joins(list(slots.values()), narrowed, scope)
            return
        self._queries += 1
        if self._queries > _MOST_QUERIES:
            raise OutsideSql(
                "it gets too long, because variables range over all columns of their sorts; write the"
                " relation that has them, as in `exists x. P(x) & …`"
            )
        taken = [item for _, item in rows]
        for name, item in rows:
            where += self._of_row(name, item, inner)
        for item in items:
            if item in taken:
                taken.remove(item)
            elif isinstance(item, Atom):
                where.append(self._fact(item, inner))
            else:
                where.append(self.condition(item, inner))
        if (whole := all_of(where)) != NO:
            yield Join(tuple(sources), whole, inner)

    def flat(
        self, binders: Sequence[Binder], parts: Sequence[Formula]
    ) -> tuple[dict[str, Binder], list[Formula]]:
        """Return the variables and the conjuncts, with those of ∃ among them under names of their own."""
        slots = {binder.name: binder for binder in binders}
        left, items = list(reversed(parts)), list[Formula]()
        while left:
            match left.pop():
                case Not(Not(body)):
                    left.append(body)
                case Not(Forall(binder, body)):
                    left.append(Exists(binder, Not(body)))
                case Not(Implies(one, other)):
                    left.append(And((one, Not(other))))
                case Not(Or(listed)):
                    left += [Not(one) for one in reversed(listed)]
                case And(listed):
                    left += reversed(listed)
                case Exists(binder, body):
                    own = self._apart(binder)
                    slots[own.name] = own
                    left.append(substitute(body, {binder.name: Var(own.name)}))
                case other:
                    items.append(other)
        return slots, items

    def _apart(self, binder: Binder) -> Binder:
        """Return the binder with a name that no formula has."""
        self._bound += 1
        return replace(binder, name=f"{binder.name.partition(' ')[0]} {self._bound}")

    def _ranged(self, binder: Binder, items: Sequence[Formula]) -> Iterator[Sequence[Formula]]:
        """Yield the parts with what gives a variable its values; all together are all values."""
        for place, item in enumerate(items):
            if isinstance(item, Or) and all(_gives(part, binder.name) for part in item.parts):
                for part in item.parts:
                    yield [*items[:place], part, *items[place + 1 :]]
                return
        for relation, place in self._places(binder.sort):
            others = [Binder("", sort) for sort in self._schema.relation(relation).sorts]
            names = [self._apart(other) for other in others]
            args = [Var(binder.name if k == place else one.name) for k, one in enumerate(names)]
            atom: Formula = Atom(relation, tuple(args))
            for k, one in enumerate(names):
                if k != place:
                    atom = Exists(one, atom)
            yield [atom, *items]

    def _places(self, sort: str) -> Iterator[tuple[str, int]]:
        """Yield the columns of a sort."""
        for name, table in self._tables.items():
            for place, own in enumerate(table.relation.sorts):
                if own == sort:
                    yield name, place

    def _source(self, relation: str) -> tuple[str, str]:
        """Return a table as it stands in FROM, and its name in the query."""
        self.read.add(relation)
        table = self._tables[relation].name
        self._names[table] += 1
        if self._names[table] == 1:
            return table, table
        name = table.strip('"') + f"_{self._names[table]}"
        if any(other.name == name for other in self._tables.values()):
            return self._source(relation)
        return f"{table} AS {name}", name

    def _give(self, name: str, atom: Atom, slots: Mapping[str, Binder], inner: dict[str, Cell]) -> None:
        """Give the variables of an atom that have no cells those of its row."""
        table = self._tables[atom.relation]
        for place, term in enumerate(atom.args):
            if isinstance(term, Var) and term.name in slots and term.name not in inner:
                inner[term.name] = Cell(f"{name}.{table.columns[place]}", table.relation.sorts[place])

    def _of_row(self, name: str, atom: Atom, scope: Scope) -> Iterator[Condition]:
        """Yield the conditions that a row is the fact that an atom denotes."""
        table = self._tables[atom.relation]
        for place, term in enumerate(atom.args):
            content = f"{name}.{table.columns[place]}"
            given = self.term(term, scope, table.relation.sorts[place])
            if given != content:
                yield Condition(f"{content} = {given}")

    def _fact(self, atom: Atom, scope: Scope) -> Condition:
        """Return the condition that a fact is there."""
        source, name = self._source(atom.relation)
        where = all_of([*self._of_row(name, atom, scope)])
        return Join((source,), where, {}).is_not_empty

    # terms

    def term(self, term: Term, scope: Scope, sort: str) -> str:
        """Return the content of a term of this sort."""
        match term:
            case Var(name):
                return scope[name].text
            case Const(value):
                return literal(value, None if sort == INTEGERS else self._schema.sort(sort))
            case Sum(left, sign, right):
                one, other = (self.term(part, scope, INTEGERS) for part in (left, right))
                return f"{one} {sign} {f'({other})' if isinstance(right, Sum) else other}"
            case Tally():
                return self._total(term, scope)
            case Name() | Wildcard():
                raise ValueError(f"{term} is no term of an expanded formula")
            case _:
                assert_never(term)

    def _equal(self, left: Term, right: Term, scope: Scope, operator: str) -> Condition:
        if isinstance(left, Const) and isinstance(right, Const):
            return YES if (left.value == right.value) == (operator == "=") else NO
        if left == right:
            return YES if operator == "=" else NO
        variable = next((term for term in (left, right) if isinstance(term, Var)), None)
        compound = is_compound(left) or is_compound(right)
        sort = INTEGERS if compound or variable is None else scope[variable.name].sort
        return Condition(f"{self.term(left, scope, sort)} {operator} {self.term(right, scope, sort)}")

    def _compares(self, comparison: Compare, scope: Scope) -> Condition:
        sort, left, right = comparison.sort, comparison.left, comparison.right
        if sort == INTEGERS or self._schema.sort(sort).is_numeric:
            one, other = (self.term(term, scope, sort) for term in (left, right))
            if comparison.ordering == "succ":
                return Condition(f"{one} + 1 = {other}")
            return Condition(f"{one} {comparison.ordering} {other}")
        rank = self._schema.sort(sort).rank  # no order of texts: by the values
        cases = []
        for value in rank:
            first = self._equal(left, Const(value), scope, "=")
            second = [
                self._equal(right, Const(other), scope, "=")
                for other in rank
                if _in_order(comparison.ordering, rank[value], rank[other])
            ]
            cases.append(all_of([first, any_of(second)]))
        return any_of(cases)

    # counting

    def _counts(self, count: Count, scope: Scope) -> Condition:
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

    def _several(self, number: int, count: Count, scope: Scope) -> Condition:
        """Return the condition that there are at least so many values."""
        if number > _MOST_COUNTED:
            raise OutsideSql(
                f"`{count}` counts values that are no rows of one table; count those of one relation"
            )
        binders = [self._apart(count.binder) for _ in range(number)]
        parts = [substitute(count.body, {count.binder.name: Var(one.name)}) for one in binders]
        apart = [
            Not(Equal(Var(one.name), Var(other.name)))
            for k, one in enumerate(binders)
            for other in binders[:k]
        ]
        formula = conjunction((*parts, *apart)) if number else TRUE
        for binder in reversed(binders):
            formula = Exists(binder, formula)
        return self.condition(formula, scope)

    def _total(self, tally: Tally, scope: Scope) -> str:
        """Return the number that a tally denotes."""
        binders, each = [], tally.each
        while isinstance(each, Each):
            binders.append(each.binder)
            each = each.body
        assert isinstance(each, Weight)
        if each.of:
            raise OutsideSql(f"`{tally}` is a sum; `stead-sym import` reads counts only")
        number = self._number(binders, each.condition, scope)
        if number is None:
            raise OutsideSql(
                f"`{tally}` counts values that are no rows of one table; count those of one relation"
            )
        return number

    def _number(self, binders: Sequence[Binder], body: Formula, scope: Scope) -> str | None:
        """Return the number of the values of variables if they are rows of one table, else None."""
        own = [self._apart(binder) for binder in binders]
        names = {old.name: Var(new.name) for old, new in zip(binders, own, strict=True)}
        slots, items = self.flat(own, [substitute(body, names)])
        counted = {binder.name for binder in own}
        for atom in items:
            if not isinstance(atom, Atom) or not counted <= {str(term) for term in atom.args}:
                continue
            keys = [atom.args[place] for place in self._tables[atom.relation].key]
            if all(str(key) in counted or not free_variables(Equal(key, key)) & slots.keys() for key in keys):
                break
        else:
            return None
        source, name = self._source(atom.relation)
        inner = dict(scope)
        self._give(name, atom, slots, inner)
        where = [*self._of_row(name, atom, inner)]
        rest = [item for item in items if item is not atom]
        others = {name: one for name, one in slots.items() if name not in inner}
        plain = [item for item in rest if not free_variables(item) & others.keys()]
        where += [self.condition(item, inner) for item in plain]
        if others:
            left = conjunction(tuple(item for item in rest if item not in plain)) if rest != plain else TRUE
            for binder in others.values():
                left = Exists(binder, left)
            where.append(self.condition(left, inner))
        return f"(SELECT COUNT(*){Join((source,), all_of(where), {}).query})"


def _gives(formula: Formula, name: str) -> bool:
    """Return True if the formula has an atom among its conjuncts that gives a variable its values."""
    match formula:
        case Atom(_, args):
            return Var(name) in args
        case And(parts):
            return any(_gives(part, name) for part in parts)
        case Or(parts):
            return all(_gives(part, name) for part in parts)
        case Exists(binder, body):
            return binder.name != name and _gives(body, name)
        case _:
            return False


def _in_order(ordering: str, one: int, other: int) -> bool:
    """Return True if two positions are in this order."""
    return {
        "<": one < other,
        "<=": one <= other,
        ">": one > other,
        ">=": one >= other,
        "succ": one + 1 == other,
    }[ordering]
