"""Expand `set P(k).c = t`, together with the other such sets of P in the same effect.

Alone it is `set P(k, y, t) for y where P(k, y, _)`: the fact with the key k gets t in the column c and keeps
its other columns; if there is no such fact, nothing happens. Several sets of one effect may have keys with
the same value, for example two parameters that stand for the same record. Together they are then one change
of one fact. So the sets with the same words before the dot and after `for` form a group. Any of the other
groups may have the same key as this one: for each subset of them there is an insertion, on the condition
that the keys of exactly this subset are equal to the key of the group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from stead_sym.deployment.tool import Assign, Delete, Insert, Statement
from stead_sym.errors import Span
from stead_sym.logic.substitution import substitute, substitute_terms, without_wildcards
from stead_sym.logic.syntax import (
    TRUE,
    Atom,
    Binder,
    Const,
    Equal,
    Exists,
    Expanded,
    Formula,
    Not,
    Resolved,
    Term,
    Var,
    Wildcard,
    conjunction,
)  # fmt: skip
from stead_sym.relational.schema import Relation


@dataclass(frozen=True, slots=True)
class _Group:
    """Sets of some columns of the facts with one key, for the same values.

    ``values`` has what each column is set to.
    """

    key: tuple[Term, ...]
    binders: tuple[Binder, ...]
    where: Formula
    values: dict[int, tuple[Term, ...]]
    span: Span | None

    def apart(self, names: Iterator[str]) -> _Group:
        """Return the same group with variables of its own."""
        binders = tuple(replace(binder, name=next(names)) for binder in self.binders)
        images: dict[str, Term] = {
            old.name: Var(new.name) for old, new in zip(self.binders, binders, strict=True)
        }

        def image(terms: tuple[Term, ...]) -> tuple[Term, ...]:
            return substitute_terms(terms, images)

        values = {column: image(terms) for column, terms in self.values.items()}
        return replace(
            self, key=image(self.key), binders=binders, where=substitute(self.where, images), values=values
        )

    def meets(self, other: _Group) -> tuple[Formula, ...] | None:
        """Return its condition with the one that both keys have the same values; None if they never have."""
        pairs = [(t, u) for t, u in zip(self.key, other.key, strict=True) if t != u]
        if any(isinstance(t, Const) and isinstance(u, Const) for t, u in pairs):
            return None
        return (*(Equal(t, u) for t, u in pairs), *((self.where,) if self.where != TRUE else ()))


def without_columns(
    sets: Sequence[Assign], relation: Relation, closed: Callable[[Resolved], Expanded], names: Iterator[str]
) -> Iterator[Statement]:
    """Yield the deletions and insertions for these sets of columns of one relation, in one effect.

    ``names`` are names that do not occur in the effect.
    """
    groups = _groups(sets, relation, closed)
    if len(groups) > 1:
        groups = [group.apart(names) for group in groups]
    for group in groups:
        yield _deletion(group, relation, names)
    for first, group in enumerate(groups):
        kept = tuple(negation for other in groups[:first] for negation in _apart_from(other, group))
        for others, condition in _parts(group, groups[first + 1 :]):
            yield from _insertions(group, others, (*kept, *condition), relation, names)


def _groups(
    sets: Sequence[Assign], relation: Relation, closed: Callable[[Resolved], Expanded]
) -> list[_Group]:
    found: dict[object, _Group] = {}
    for one in sets:
        *key, value = one.atom.args
        column = relation.columns.index(str(one.column))
        group = found.setdefault(
            (tuple(key), one.binders, one.where),
            _Group(tuple(key), one.binders, closed(one.where), {}, one.span),
        )
        if value not in (known := group.values.get(column, ())):
            group.values[column] = (*known, value)
    return list(found.values())


def _deletion(group: _Group, relation: Relation, names: Iterator[str]) -> Delete:
    row: list[Term] = [Wildcard(sort) for sort in relation.sorts]
    for column, term in zip(relation.keys, group.key, strict=True):
        row[column] = term
    args, wild = without_wildcards(row, names)
    return Delete(Atom(relation.name, args), (*group.binders, *wild), group.where, span=group.span)


def _parts(
    group: _Group, others: Sequence[_Group]
) -> Iterator[tuple[tuple[_Group, ...], tuple[Formula, ...]]]:
    """Yield each subset of the other groups, with the condition that exactly their keys equal this key."""
    if not others:
        yield (), ()
        return
    other, *rest = others
    for part, condition in _parts(group, rest):
        yield part, (*_apart_from(other, group), *condition)
        if (meeting := other.meets(group)) is not None:
            yield (other, *part), (*meeting, *condition)


def _apart_from(other: _Group, group: _Group) -> tuple[Formula, ...]:
    """Return the condition that the other group does not set the fact with the key of this one."""
    meeting = other.meets(group)
    if meeting is None:
        return ()
    formula = conjunction(meeting)
    for binder in reversed(other.binders):
        formula = Exists(binder, formula)
    return (Not(formula),)


def _insertions(
    group: _Group,
    others: Sequence[_Group],
    condition: Sequence[Formula],
    relation: Relation,
    names: Iterator[str],
) -> Iterator[Insert]:
    """Yield insertions of the fact with the key of the group, as all of these groups set it."""
    binders = [binder for each in (group, *others) for binder in each.binders]
    values: dict[int, tuple[Term, ...]] = {}
    for each in (group, *others):
        for column, terms in each.values.items():
            values[column] = tuple(dict.fromkeys((*values.get(column, ()), *terms)))
    row: list[Term] = []
    replaced, key = list[Binder](), iter(group.key)
    for column, sort in enumerate(relation.sorts):
        if column in relation.keys:
            row.append(next(key))
            continue
        old = Binder(next(names), sort, wild=True)
        row.append(Var(old.name))
        (replaced if column in values else binders).append(old)
    old_fact: Formula = Atom(relation.name, tuple(row), sorts=relation.sorts)
    for old in reversed(replaced):
        old_fact = Exists(old, old_fact)
    own = (group.where,) if group.where != TRUE else ()
    where = conjunction((old_fact, *own, *condition))
    for chosen in product(*values.values()):
        new = dict(zip(values, chosen, strict=True))
        args = tuple(new.get(column, term) for column, term in enumerate(row))
        yield Insert(Atom(relation.name, args, sorts=relation.sorts), tuple(binders), where, span=group.span)
