"""First-order conditions on a call as expressions of Cedar, over the attributes of entities.

Cedar has no quantifiers. One decision: ∃y. f is expressed without one in three ways. If a key determines y,
y is an attribute. If y occurs in one atom, there is a set with all its values, or a Boolean. If it occurs in
two, their sets have a common element, or one is not a subset of the other. ∀y. f is ¬∃y. ¬f.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

import stead_sym.logic.syntax as fo
from stead_sym.analyses.shield.cedar_names import Vocabulary, column_name, key, member
from stead_sym.analyses.shield.guards import negated
from stead_sym.logic.evaluate import ORDERINGS
from stead_sym.logic.substitution import fresh_name, substitute


class InexpressibleError(ValueError):
    """A condition that no expression of Cedar over the attributes is equivalent to, with the reason."""


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression; the higher its ``level`` the tighter it binds.

    ``parts`` are the operands of a conjunction or disjunction, and the only operand of a negation.
    """

    text: str
    level: int
    parts: tuple[Expression, ...] = ()

    def at(self, level: int) -> str:
        """Return the text, in parentheses unless it binds as tightly as this."""
        return self.text if self.level >= level else f"({self.text})"


_OR, _AND, _RELATION, _UNARY, _MEMBER = range(5)
_TRUE, _FALSE = Expression("true", _MEMBER), Expression("false", _MEMBER)


@dataclass(frozen=True, slots=True)
class Bound:
    """The term that a variable stands for, and its sort."""

    text: str
    sort: str


class Conditions:
    """The conditions of one deployment as expressions over the attributes of a vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary

    def expression(self, formula: fo.Expanded, scope: Mapping[str, Bound]) -> Expression:
        """Return an expression equivalent to the formula; raise `InexpressibleError` if none was found."""

        def here(part: fo.Formula) -> Expression:
            return self.expression(part, scope)

        match formula:
            case fo.Truth(value):
                return _TRUE if value else _FALSE
            case fo.Equal(left, right):
                return self._equal(left, "==", right, scope)
            case fo.Not(fo.Equal(left, right)):
                return self._equal(left, "!=", right, scope)
            case fo.Compare():
                return self._compares(formula, scope)
            case fo.Atom() | fo.Exists():
                return self._exists(formula, scope)
            case fo.Not(fo.Forall(binder, body)):
                return here(fo.Exists(binder, negated(body)))
            case fo.Not(body):
                return _not(here(body))
            case fo.Forall(binder, body):
                return _not(here(fo.Exists(binder, negated(body))))
            case fo.And(parts):
                return _all(map(here, parts))
            case fo.Or(parts):
                return _any(map(here, parts))
            case fo.Implies(left, right):
                return _any((here(negated(left)), here(right)))
            case fo.Iff(left, right):
                return Expression(f"{here(left).at(_UNARY)} == {here(right).at(_UNARY)}", _RELATION)
            case fo.Count():
                raise InexpressibleError(f"`{formula}` counts records, which Cedar does not")
            case fo.Since() | fo.Previously() | fo.Did():
                raise InexpressibleError(f"`{formula}` is about the past, of which a request does not tell")
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
                raise ValueError(f"no condition on a call: {formula}")
            case _:
                assert_never(formula)

    # quantifiers

    def _exists(self, formula: fo.Atom | fo.Exists, scope: Mapping[str, Bound]) -> Expression:
        pending: dict[str, str] = {}
        return self._distributed(tuple(_flattened(formula, pending, scope)), pending, scope)

    def _distributed(
        self, items: Sequence[fo.Formula], pending: Mapping[str, str], scope: Mapping[str, Bound]
    ) -> Expression:
        """Return ∃ pending. ⋀ items, where ∃ is moved into the disjunctions that have pending variables."""
        for place, item in enumerate(items):
            parts = _alternatives(item)
            if len(parts) > 1 and not pending.keys().isdisjoint(fo.free_variables(item)):
                cases = []
                for part in parts:
                    own = dict(pending)
                    one = tuple(_flattened(part, own, scope))
                    cases.append(self._distributed((*items[:place], *one, *items[place + 1 :]), own, scope))
                return _any(cases)
        return self._joined(items, dict(pending), scope)

    def _joined(
        self, items: Sequence[fo.Formula], pending: dict[str, str], scope: Mapping[str, Bound]
    ) -> Expression:
        """Return ∃ pending. ⋀ items, with ``pending`` the sorts of the variables."""
        known, rest, found = dict(scope), list(items), list[Expression]()
        while (atom := next((one for one in rest if self._is_determined(one, pending)), None)) is not None:
            assert isinstance(atom, fo.Atom)
            rest.remove(atom)
            found.extend(self._values_of(atom, known, pending))
        for item in rest:
            if pending.keys().isdisjoint(fo.free_variables(item)):
                whole = isinstance(item, fo.Atom)
                found.append(
                    self._projected(item, frozenset(), known) if whole else self.expression(item, known)
                )
        left = [item for item in rest if not pending.keys().isdisjoint(fo.free_variables(item))]
        used = dict.fromkeys(
            name for item in left for name in sorted(fo.free_variables(item)) if name in pending
        )
        if unused := [name for name in pending if name not in used]:
            raise InexpressibleError(f"`{unused[0]}` ranges over all records, which Cedar does not")
        for item in left:
            own = fo.free_variables(item) & pending.keys()
            if any(name in fo.free_variables(other) for other in left if other is not item for name in own):
                continue
            found.append(self._projected(item, own, known))
            for name in own:
                del used[name]
        for name in used:
            found.append(
                self._common(name, [one for one in left if name in fo.free_variables(one)], known, pending)
            )
        return _all(found)

    def _is_determined(self, item: fo.Formula, pending: Mapping[str, str]) -> bool:
        """Return True for an atom with a known entity as its key, which determines the other columns."""
        if not isinstance(item, fo.Atom) or any(map(fo.is_compound, item.args)):
            return False
        relation = self.vocabulary.schema.relation(item.relation)
        if len(relation.keys) != 1 or relation.arity == 1:
            return False
        [column] = relation.keys
        term = item.args[column]
        is_known = isinstance(term, fo.Const) or (isinstance(term, fo.Var) and term.name not in pending)
        return is_known and self.vocabulary.is_entity(relation.sorts[column])

    def _values_of(
        self, atom: fo.Atom, known: dict[str, Bound], pending: dict[str, str]
    ) -> Iterable[Expression]:
        """Yield the conditions that there is the fact; its pending variables become attributes."""
        relation = self.vocabulary.schema.relation(atom.relation)
        [column] = relation.keys
        others = tuple(place for place in range(relation.arity) if place != column)
        attribute = self.vocabulary.attribute(relation, column, others, keyed=True)
        holder = self._term(atom.args[column], relation.sorts[column], known)
        yield Expression(f"{holder} has {key(attribute.name)}", _RELATION)
        value = member(holder, attribute.name)
        for place in others:
            own = member(value, column_name(relation, place)) if len(others) > 1 else value
            term = atom.args[place]
            if isinstance(term, fo.Var) and term.name in pending:
                known[term.name] = Bound(own, relation.sorts[place])
                del pending[term.name]
            else:
                yield Expression(f"{own} == {self._term(term, relation.sorts[place], known)}", _RELATION)

    def _projected(self, item: fo.Formula, own: frozenset[str], known: Mapping[str, Bound]) -> Expression:
        """Return ∃ own. item, for variables that occur nowhere else."""
        if not isinstance(item, fo.Atom) or not _once(item, own):
            raise _without_quantifier(sorted(own)[0], [item])
        relation = self.vocabulary.schema.relation(item.relation)
        free = [
            place for place, term in enumerate(item.args) if isinstance(term, fo.Var) and term.name in own
        ]
        bound = [place for place in range(relation.arity) if place not in free]
        anchor = self._anchor(item, bound)
        columns = tuple(place for place in bound if place != anchor)
        holder = (
            "resource" if anchor is None else self._term(item.args[anchor], relation.sorts[anchor], known)
        )
        attribute = self.vocabulary.attribute(relation, anchor, columns)
        held = member(holder, attribute.name)
        values = [self._term(item.args[place], relation.sorts[place], known) for place in columns]
        if not values:
            return Expression(held, _MEMBER)
        record = ", ".join(
            f"{key(column_name(relation, place))}: {value}"
            for place, value in zip(columns, values, strict=True)
        )
        return Expression(f"{held}.contains({values[0] if len(values) == 1 else f'{{{record}}}'})", _MEMBER)

    def _anchor(self, atom: fo.Atom, bound: Sequence[int]) -> int | None:
        """Return the first bound column with an entity, a variable if there is one."""
        sorts = self.vocabulary.schema.relation(atom.relation).sorts
        holders = [place for place in bound if self.vocabulary.is_entity(sorts[place])]
        return min(holders, key=lambda place: (not isinstance(atom.args[place], fo.Var), place), default=None)

    def _common(
        self, name: str, items: Sequence[fo.Formula], known: Mapping[str, Bound], pending: Mapping[str, str]
    ) -> Expression:
        """Return ∃ name. ⋀ items by the sets of the values for which the items are true, or false."""
        if any(not pending.keys() & fo.free_variables(item) <= {name} for item in items):
            raise _without_quantifier(name, items)
        sets = [self._set(name, item, known, pending) for item in items]
        match sets:
            case [(left, True), (right, True)]:
                return Expression(f"{left}.containsAny({right})", _MEMBER)
            case [(left, True), (right, False)] | [(right, False), (left, True)]:
                return Expression(f"!{right}.containsAll({left})", _UNARY)
            case _:
                raise _without_quantifier(name, items)

    def _set(
        self, name: str, item: fo.Formula, known: Mapping[str, Bound], pending: Mapping[str, str]
    ) -> tuple[str, bool]:
        """Return the set of the values of a variable for which an item is true, or those for which it is not.

        The latter with False.
        """
        match item:
            case fo.Not(body):
                found, positive = self._set(name, body, known, pending)
                return found, not positive
            case fo.Equal(fo.Var(left), right) if left == name and name not in _names(right):
                return f"[{self._term(right, pending[name], known)}]", True
            case fo.Equal(left, fo.Var(right)) if right == name and name not in _names(left):
                return f"[{self._term(left, pending[name], known)}]", True
            case fo.Atom() | fo.Exists():
                inner: dict[str, str] = {}
                [atom, *others] = _flattened(item, inner, {**known, **dict.fromkeys(pending)})
                own = frozenset((*inner, name))
                if others or not isinstance(atom, fo.Atom) or not _once(atom, own):
                    raise _without_quantifier(name, [item])
                relation = self.vocabulary.schema.relation(atom.relation)
                [column] = (place for place, term in enumerate(atom.args) if term == fo.Var(name))
                bound = [place for place, term in enumerate(atom.args) if not _names(term) & own]
                anchor = self._anchor(atom, bound)
                if [place for place in bound if place != anchor]:
                    raise _without_quantifier(name, [item])
                holder = (
                    "resource"
                    if anchor is None
                    else self._term(atom.args[anchor], relation.sorts[anchor], known)
                )
                return member(holder, self.vocabulary.attribute(relation, anchor, (column,)).name), True
            case _:
                raise _without_quantifier(name, [item])

    # terms

    def _term(self, term: fo.Term, sort: str, known: Mapping[str, Bound]) -> str:
        match term:
            case fo.Var(name):
                return known[name].text
            case fo.Const(value):
                return str(int(value)) if sort == fo.INTEGERS else self.vocabulary.literal(value, sort)
            case fo.Sum(left, sign, right):
                return (
                    f"({self._term(left, fo.INTEGERS, known)} {sign} {self._term(right, fo.INTEGERS, known)})"
                )
            case fo.Tally():
                raise InexpressibleError(f"`{term}` counts records, which Cedar does not")
            case _:
                raise fo.unquantified(term) if str(term) == "_" else fo.unresolved(term)  # type: ignore[arg-type]

    def _equal(self, left: fo.Term, sign: str, right: fo.Term, scope: Mapping[str, Bound]) -> Expression:
        sorts = (
            scope[term.name].sort for term in (left, right) if isinstance(term, fo.Var) and term.name in scope
        )
        compound = fo.is_compound(left) or fo.is_compound(right)
        sort = fo.INTEGERS if compound else next(sorts, None)
        if sort is None:  # two constants
            return _TRUE if (left == right) == (sign == "==") else _FALSE
        return Expression(
            f"{self._term(left, sort, scope)} {sign} {self._term(right, sort, scope)}", _RELATION
        )

    def _compares(self, comparison: fo.Compare, scope: Mapping[str, Bound]) -> Expression:
        left, right, sort = comparison.left, comparison.right, comparison.sort
        if sort == fo.INTEGERS or self.vocabulary.schema.sort(sort).is_numeric:
            one, other = (self._term(term, sort, scope) for term in (left, right))
            if comparison.ordering == "succ":
                return Expression(f"{one} + 1 == {other}", _RELATION)
            return Expression(f"{one} {comparison.ordering} {other}", _RELATION)
        values = self.vocabulary.schema.sort(sort).values or ()
        holds = ORDERINGS[comparison.ordering]
        return _any(
            _all(
                (
                    self._equal(right, "==", fo.Const(above), scope),
                    self._among(left, [v for k, v in enumerate(values) if holds(k, rank)], sort, scope),
                )
            )
            for rank, above in enumerate(values)
        )

    def _among(
        self, term: fo.Term, values: Sequence[str], sort: str, scope: Mapping[str, Bound]
    ) -> Expression:
        if isinstance(term, fo.Const):
            return _TRUE if term.value in values else _FALSE
        if not values:
            return _FALSE
        listed = ", ".join(self.vocabulary.literal(value, sort) for value in values)
        return Expression(f"[{listed}].contains({self._term(term, sort, scope)})", _MEMBER)


def _flattened(
    formula: fo.Formula, binders: dict[str, str], taken: Mapping[str, object]
) -> Iterable[fo.Formula]:
    """Yield f1, f2, … such that the formula is ∃ binders. f1 ∧ f2 ∧ …, and add to the binders."""
    match formula:
        case fo.Exists(binder, body):
            name = fresh_name(binder.name, {*taken, *binders})
            binders[name] = binder.sort
            renamed = body if name == binder.name else substitute(body, {binder.name: fo.Var(name)})
            yield from _flattened(renamed, binders, taken)
        case fo.And(parts):
            for part in parts:
                yield from _flattened(part, binders, taken)
        case _:
            yield formula


def _alternatives(formula: fo.Formula) -> tuple[fo.Formula, ...]:
    match formula:
        case fo.Or(parts):
            return parts
        case fo.Implies(left, right):
            return (negated(left), right)
        case fo.Not(fo.And() | fo.Forall() as body):
            return _alternatives(negated(body))
        case _:
            return (formula,)


def _names(term: fo.Term) -> frozenset[str]:
    return fo.free_variables(fo.Equal(term, term))


def _once(atom: fo.Atom, names: frozenset[str]) -> bool:
    """Return True if each of these variables is one argument of the atom and in no other."""
    own = [term.name for term in fo.terms(atom) if isinstance(term, fo.Var) and term.name in names]
    whole = [term.name for term in atom.args if isinstance(term, fo.Var) and term.name in names]
    return len(own) == len(set(own)) and own == whole


def _without_quantifier(name: str, items: Sequence[fo.Formula]) -> InexpressibleError:
    said = " and ".join(f"`{item}`" for item in items)
    return InexpressibleError(
        f"Cedar has no quantifier for `{name}` in {said}, and no `key` of a relation makes it the only one"
    )


def _all(parts: Iterable[Expression]) -> Expression:
    kept = [part for part in parts if part != _TRUE]
    if _FALSE in kept:
        return _FALSE
    if len(kept) < 2:
        return kept[0] if kept else _TRUE
    flat = tuple(one for part in kept for one in (part.parts if part.level == _AND else (part,)))
    return Expression(" && ".join(part.at(_RELATION) for part in flat), _AND, flat)


def _any(parts: Iterable[Expression]) -> Expression:
    kept = [part for part in parts if part != _FALSE]
    if _TRUE in kept:
        return _TRUE
    if len(kept) < 2:
        return kept[0] if kept else _FALSE
    flat = tuple(one for part in kept for one in (part.parts if part.level == _OR else (part,)))
    return Expression(" || ".join(part.at(_RELATION) for part in flat), _OR, flat)


def _not(part: Expression) -> Expression:
    if part in (_TRUE, _FALSE):
        return _FALSE if part == _TRUE else _TRUE
    return Expression(f"!{part.at(_MEMBER)}", _UNARY, (part,))


def laid_out(expression: Expression) -> tuple[str, list[str]]:
    """Return the expression as lines after the word `when` or `unless`."""
    word = "when"
    if expression.level == _UNARY and expression.parts:
        word, [expression] = "unless", expression.parts
    if not expression.parts or expression.level == _UNARY:
        return word, [expression.text]
    sign = " &&" if expression.level == _AND else " ||"
    *most, last = (part.at(_RELATION) for part in expression.parts)
    return word, [*(f"{part}{sign}" for part in most), last]
