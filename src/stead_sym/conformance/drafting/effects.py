"""Statements that explain what the runs of a tool changed.

Each relation is explained on its own: columns that are set, rows that are inserted, rows that are deleted. Of
each the value comes first and then the condition, which is the smallest that tells the rows apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal as OneOf
from typing import TypeAlias

from stead_sym.conformance.drafting.changes import Change, Right, Updated, rights
from stead_sym.conformance.drafting.literals import Case, Literal, Own, Templates
from stead_sym.conformance.drafting.separate import Inseparable, separate
from stead_sym.conformance.drafting.written import fresh_names
from stead_sym.deployment.deployment import Deployment
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Relation, Value

MOST_OF_WHERE = 4
"""The most literals of the condition of a statement."""
_MOST_TRIED = 4_000
"""The most combinations of values that are tried for the columns of inserted rows."""

Word: TypeAlias = OneOf["insert", "set", "set column", "delete"]


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a draft.

    ``row`` are the variables of the columns of ``over``, the relation whose rows it goes through, if any.
    ``args`` are the values of the columns, of ``column`` only if it sets one. ``support`` is the number of
    runs in which it changed something.
    """

    word: Word
    relation: str
    args: tuple[Right, ...]
    over: str | None
    row: tuple[Own, ...]
    where: tuple[Literal, ...]
    support: int
    column: int | None = None


class Unexplained(Exception):
    """No template explains what a run changed; ``change`` is the smallest such run."""

    def __init__(self, reason: str, change: Change) -> None:
        super().__init__(reason)
        self.reason, self.change = reason, change


class Explanation:
    """The search for the statements of one tool."""

    def __init__(
        self, deployment: Deployment, params: Sequence[Own], taken: frozenset[str], changes: Sequence[Change]
    ) -> None:
        self.deployment, self.params, self.taken = deployment, tuple(params), taken
        self.changes = sorted(changes, key=lambda one: (len(one.before), one.number))
        self.plain = Templates(deployment, self.params)

    def statements(self) -> Iterator[Statement]:
        """Yield the statements; raise `Unexplained`."""
        for relation in self.deployment.schema.relations:
            touched = [
                c for c in self.changes if any(f.relation == relation.name for f in c.added | c.removed)
            ]
            if not touched:
                continue
            inserting = [c for c in touched if c.inserted(relation)]
            updating = [c for c in touched if [*c.updated(relation)]]
            whole = self._whole(relation, inserting, updating) if inserting and updating else None
            if whole is not None:
                yield whole
            else:
                if updating:
                    yield from self._columns(relation, updating)
                if inserting:
                    yield self._insert(relation, inserting)
            if any(c.deleted(relation) for c in touched):
                yield self._delete(relation)

    # rows as a whole

    def _whole(
        self, relation: Relation, inserting: Sequence[Change], updating: Sequence[Change]
    ) -> Statement | None:
        """Return a statement that sets rows that may be there, if one explains both."""
        runs = list(dict.fromkeys([*inserting, *updating]))

        def rows(change: Change) -> list[Fact]:
            return [*change.inserted(relation), *(one.after for one in change.updated(relation))]

        try:
            return self._placed("set", relation, runs, rows)
        except Unexplained:
            return None

    def _insert(self, relation: Relation, runs: Sequence[Change]) -> Statement:
        word: Word = "insert"
        try:
            return self._placed(word, relation, runs, lambda change: change.inserted(relation))
        except Unexplained as error:
            for source in self.deployment.schema.relations:
                if (found := self._copied(relation, source, runs)) is not None:
                    return found
            raise error

    def _placed(
        self, word: Word, relation: Relation, runs: Sequence[Change], rows: Callable[[Change], list[Fact]]
    ) -> Statement:
        """Return a statement that places one row."""
        for change in runs:
            if len(rows(change)) > 1:
                raise Unexplained(f"it inserts {len(rows(change))} rows of {relation.name}", change)
        cases = [(change, change.case()) for change in runs]
        args = []
        for place, sort in enumerate(relation.sorts):
            wanted = [rows(change)[0].args[place] for change in runs]
            args.append(self._first_right(self.plain, sort, cases, wanted, f"{_shown(relation, place)}"))
        there = set(runs)
        others = [c for c in self.changes if c not in there]
        negatives = [c for c in others if not self._is_there(relation, args, c)]
        where = self._condition(self.plain, [c.case() for c in runs], negatives, relation)
        return Statement(word, relation.name, tuple(args), None, (), where, len(runs))

    def _is_there(self, relation: Relation, args: Sequence[Right], change: Change) -> bool:
        """Return True if the row is there after a run that did not place it."""
        case = change.case()
        values = [change.value(one, case, self.plain) for one in args]
        return Fact(relation.name, tuple(str(one) for one in values)) in change.after and None not in values

    def _condition(
        self, templates: Templates, positives: Sequence[Case], negatives: Sequence[Change], relation: Relation
    ) -> tuple[Literal, ...]:
        found = separate(templates, positives, [change.case() for change in negatives], MOST_OF_WHERE)
        if isinstance(found, Inseparable):
            raise Unexplained(
                f"no condition tells when it inserts a row of {relation.name}", negatives[found.number]
            )
        return found.literals

    def _first_right(
        self,
        templates: Templates,
        sort: str,
        cases: Sequence[tuple[Change, Case]],
        wanted: Sequence[Value],
        shown: str,
        column: Own | None = None,
    ) -> Right:
        """Return the simplest value that a column gets in all of these runs; raise `Unexplained`."""
        for right in self._rights(templates, sort, cases, wanted, column):
            return right
        raise Unexplained(f"no template explains the value of {shown}", cases[0][0])

    def _rights(
        self,
        templates: Templates,
        sort: str,
        cases: Sequence[tuple[Change, Case]],
        wanted: Sequence[Value],
        column: Own | None = None,
    ) -> Iterator[Right]:
        """Yield what explains the value of a column in all of these cases, the simplest first."""
        changes = list(dict.fromkeys(change for change, _ in cases))
        for right in rights(templates, sort, changes, column):
            if all(
                change.value(right, case, templates) == value
                for (change, case), value in zip(cases, wanted, strict=True)
            ):
                yield right

    # rows of a relation

    def _row(self, relation: Relation) -> tuple[Own, ...]:
        """Return variables for the columns of a row."""
        taken = {*self.taken, *(one.name for one in self.params)}
        row = []
        for sort in relation.sorts:
            name = next(fresh_names(taken, sort))
            taken.add(name)
            row.append(Own(name, sort))
        return tuple(row)

    def _copied(self, relation: Relation, source: Relation, runs: Sequence[Change]) -> Statement | None:
        """Return a statement that inserts a row for each of some rows of another relation, if one does."""
        row = self._row(source)
        templates = Templates(self.deployment, [*self.params, *row])
        cases = {
            c: [(args, c.case(row, args)) for args in sorted(c.before.tuples(source.name))] for c in runs
        }
        ranges: list[list[Right]] = []
        for place, sort in enumerate(relation.sorts):
            ranges.append(
                [
                    right
                    for right in rights(templates, sort, runs)
                    if all(
                        any(c.value(right, case, templates) == fact.args[place] for _, case in cases[c])
                        for c in runs
                        for fact in c.inserted(relation)
                    )
                ]
            )
        for number, args in enumerate(product(*ranges)):
            if number >= _MOST_TRIED:
                return None
            if not any(isinstance(one, Own) and one in row for one in args):
                continue
            positives, negatives, explained = [], [], True
            for change in self.changes:
                made = set()
                rows = cases.get(change) or [
                    (cells, change.case(row, cells)) for cells in sorted(change.before.tuples(source.name))
                ]
                wanted = set(change.inserted(relation))
                for _, case in rows:
                    fact = Fact(relation.name, tuple(str(change.value(o, case, templates)) for o in args))
                    if fact in wanted:
                        made.add(fact)
                        positives.append(case)
                    elif fact not in change.after:
                        negatives.append(case)
                explained &= made == wanted
            if explained and positives:
                found = separate(templates, positives, negatives, MOST_OF_WHERE)
                if not isinstance(found, Inseparable):
                    return Statement(
                        "insert", relation.name, args, source.name, row, found.literals, len(runs)
                    )
        return None

    def _columns(self, relation: Relation, runs: Sequence[Change]) -> Iterator[Statement]:
        """Yield the statements that set the columns of rows that stay."""
        row = self._row(relation)
        templates = Templates(self.deployment, [*self.params, *row])
        for place in range(relation.arity):
            if place in relation.keys:
                continue
            pairs = [
                (change, one)
                for change in runs
                for one in change.updated(relation)
                if one.before.args[place] != one.after.args[place]
            ]
            if not pairs:
                continue
            try:
                yield self._column(relation, place, row, templates, [pairs])
            except Unexplained as error:
                groups: dict[tuple[str, ...], list[tuple[Change, Updated]]] = {}
                for change, one in pairs:
                    key = relation.key(one.before.args)
                    groups.setdefault(
                        tuple(n for n, u in sorted(change.sigma.items()) if u in key), []
                    ).append((change, one))
                if len(groups) < 2:
                    raise error
                for group in groups.values():
                    rest = [other for other in groups.values() if other is not group]
                    yield self._column(relation, place, row, templates, [group, *rest])

    def _column(
        self,
        relation: Relation,
        place: int,
        row: tuple[Own, ...],
        templates: Templates,
        groups: Sequence[Sequence[tuple[Change, Updated]]],
    ) -> Statement:
        """Return the statement that sets a column of the rows of the first group, and of no others."""
        pairs = groups[0]
        cases = [(change, change.case(row, one.before.args)) for change, one in pairs]
        wanted = [one.after.args[place] for _, one in pairs]
        chosen = {(change, one.before) for change, one in pairs}
        shown = _shown(relation, place)
        trouble: Unexplained | None = None
        for right in self._rights(templates, relation.sorts[place], cases, wanted, row[place]):
            others: list[tuple[Change, Case]] = []
            for change in self.changes:
                for args in sorted(change.before.tuples(relation.name)):
                    fact = Fact(relation.name, args)
                    if (change, fact) in chosen:
                        continue
                    case = change.case(row, args)
                    if fact not in change.after or change.value(right, case, templates) != args[place]:
                        others.append((change, case))
            found = separate(
                templates, [case for _, case in cases], [case for _, case in others], MOST_OF_WHERE
            )
            if not isinstance(found, Inseparable):
                runs = len({change for change, _ in pairs})
                return Statement(
                    "set column", relation.name, (right,), relation.name, row, found.literals, runs, place
                )
            trouble = trouble or Unexplained(
                f"no condition tells the rows whose {shown} it sets", others[found.number][0]
            )
        raise trouble or Unexplained(f"no template explains the value of {shown}", pairs[0][0])

    def _delete(self, relation: Relation) -> Statement:
        """Return the statement that deletes rows."""
        row = self._row(relation)
        templates = Templates(self.deployment, [*self.params, *row])
        positives: list[Case] = []
        negatives: list[tuple[Change, Case]] = []
        runs = 0
        for change in self.changes:
            gone = set(change.deleted(relation))
            runs += bool(gone)
            for args in sorted(change.before.tuples(relation.name)):
                case = change.case(row, args)
                if Fact(relation.name, args) in gone:
                    positives.append(case)
                else:
                    negatives.append((change, case))
        found = separate(templates, positives, [case for _, case in negatives], MOST_OF_WHERE)
        if isinstance(found, Inseparable):
            raise Unexplained(
                f"no condition tells the rows of {relation.name} that it deletes", negatives[found.number][0]
            )
        return Statement("delete", relation.name, row, relation.name, row, found.literals, runs)


def _shown(relation: Relation, place: int) -> str:
    """Return a column with its relation."""
    return f"{relation.name}.{relation.column(place)}"
