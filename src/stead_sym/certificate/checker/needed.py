"""The number of values that keep the truth of a formula, or the effect of a step, in a part of an instance.

These are the numbers of the theorem for an arbitrary number of records, recomputed from the deployment
(`docs/theory.md`, "For every number of records"). A formula f is *kept* by r values if, wherever it is true,
some r values keep it true in every part that contains them. One decision: the formula is traversed once
from the root, and each variable in scope carries how many values it has at a time and on which variables they
depend:

    ∀x, x of an open sort      arbitrarily many: nothing may depend on it;
    ∀x, x of a finite sort     as many as the sort has;
    ∃x, "at least n x"         1, or n, for each value of the variables that the formula depends on;
    x of a statement's fact    as many as |C| and the part have.

A witness of ∃x then counts once for all values of the variables on which it depends. A disjunction takes the
larger side if all variables have one value, and both sides otherwise: different values may need different
sides.

The numbers are by sort, so that values of some sorts can be left out of the count. If a bound is assumed of
these sorts, an instance has no more of their values than it allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import assert_never

import stead_sym.logic.syntax as fo
from stead_sym.certificate.verdict import CertificateRejected
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import (
    Assign,
    Choose,
    Clear,
    Delete,
    Effect,
    Ensure,
    Fresh,
    Insert,
    Statement,
    Tool,
)
from stead_sym.logic.kernel import Core, core, outside_kernel


@dataclass(frozen=True, slots=True, eq=False)
class _Ranging:
    """The number of values of a variable at a time, for each value of the variables ``on`` which it depends.

    None means no fixed number. Two are equal only if they are the same object: a name may be bound again.
    """

    number: int | None
    on: tuple[_Ranging, ...] = ()


Scope = Mapping[str, _Ranging]


class Needed:
    """The numbers of one deployment, without the values of sorts of which the ``bounds`` are assumed."""

    def __init__(self, deployment: Deployment, bounds: Mapping[str, int] | None = None) -> None:
        self.deployment = deployment
        self._schema, self._bounds = deployment.schema, bounds or {}

    def open(self, sort: str) -> bool:
        """Return whether an arbitrary number of values of the sort may be in use, and is counted."""
        return self._infinite(sort) and sort not in self._bounds

    def _infinite(self, sort: str) -> bool:
        return not self._schema.is_finite(sort)

    def columns(self, relation: str) -> int:
        """Return how many columns of a relation have open sorts."""
        return sum(self.open(sort) for sort in self._schema.relation(relation).sorts)

    def beside(self, sort: str) -> int:
        """Return a_S: the maximal number of values that occur together with one of this sort in a fact."""
        others = [
            self.columns(relation.name) - self.open(sort)
            for relation in self._schema.relations
            if sort in relation.sorts
        ]
        return max([0, *others])

    def true(self, formula: fo.Formula) -> int:
        """Return how many values keep a formula true; raise `CertificateRejected` if no number does."""
        return self._kept(core(formula), True, {}, several=False)

    def false(self, formula: fo.Formula) -> int:
        """Return how many values keep a formula false; raise `CertificateRejected` if no number does."""
        return self._kept(core(formula), False, {}, several=False)

    def _kept(self, f: Core, wanted: bool, scope: Scope, *, several: bool) -> int:
        match f:
            case fo.Truth() | fo.Equal() | fo.Compare() | fo.Atom():
                return 0
            case fo.Not(body):
                return self._kept(body, not wanted, scope, several=several)
            case fo.And(parts):
                needs = [self._kept(part, wanted, scope, several=several) for part in parts]
                return sum(needs) if wanted or several else max(needs, default=0)
            case fo.Iff(left, right):
                ways = [
                    self._kept(left, side, scope, several=several)
                    + self._kept(right, side == wanted, scope, several=several)
                    for side in (True, False)
                ]
                return sum(ways) if several else max(ways)
            case fo.Exists(binder, body) if wanted:
                return self._witnesses(f, 1, binder, body, scope, several)
            case fo.Count("atleast", number, binder, body) if wanted:
                return self._witnesses(f, number, binder, body, scope, several or number > 1)
            case fo.Exists(binder, body) | fo.Count("atleast", _, binder, body):
                values = self._schema.sort(binder.sort).values
                every = _Ranging(None if values is None else len(values))
                return self._kept(body, False, {**scope, binder.name: every}, several=True)
            case _:
                raise outside_kernel(f)

    def _witnesses(
        self, f: Core, number: int, binder: fo.Binder, body: Core, scope: Scope, several: bool
    ) -> int:
        """Return the number of values for ``number`` witnesses of the body.

        It includes the values that keep the body true.
        """
        own = 0
        if not binder.declared:
            own = self.open(binder.sort) + (
                0 if names_in_fact(body, binder.name) else self.beside(binder.sort)
            )
        on = tuple(scope[name] for name in fo.free_variables(f) if name in scope)
        inner = {**scope, binder.name: _Ranging(number, on)}
        total = number * own * _times(on, f) if own else 0
        return total + self._kept(body, True, inner, several=several)

    # steps

    def step(self, tool: Tool, effect: Effect, k: int, about: frozenset[str] | None = None) -> int:
        """Return n for an alternative and parts on k values, or for facts ``about`` some relations in these.

        It is the largest k + m − v + g over the statements; 0 if none of them concerns these facts.
        """
        if not any(_is_about(statement, about) for statement in effect.statements):
            return 0
        named = sum(self.open(param.sort) for param in tool.params)
        kept = self.true(tool.guard) + self.true(effect.when)
        infinite = [param for param in tool.params if self._infinite(param.sort)]
        kept += self._activity(infinite, (tool.guard, effect.when))
        fewest: list[int] = []
        for statement in effect.statements:
            match statement:
                case Choose(binder, where):
                    kept += self.true(where)
                    named += self.open(binder.sort)
                    if self._infinite(binder.sort):
                        kept += self._activity((binder,), (where,))
                case Insert(atom, binders, where) | Delete(atom, binders, where):
                    if _is_about(statement, about):
                        kept += self._statement(statement, binders, where, k)
                        fewest.append(self._variables(atom, binders))
                case Clear():
                    if _is_about(statement, about):
                        fewest.append(0)
                case Fresh():
                    pass
                case Ensure() | Assign():
                    raise CertificateRejected("effects are statements that insert and delete", tool.name)
                case _:
                    assert_never(statement)
        return max(0, k + named + kept - min(fewest))

    def _activity(self, binders: Iterable[fo.Binder], said: Iterable[fo.Formula]) -> int:
        """Return the number of values that keep the values of some variables active.

        Variables that a formula requires to occur in a fact need none.
        """
        cores = [core(formula) for formula in said]
        return sum(
            self.beside(binder.sort)
            for binder in binders
            if not any(names_in_fact(formula, binder.name) for formula in cores)
        )

    def _variables(self, atom: fo.Atom, binders: Iterable[fo.Binder]) -> int:
        """Return the number of variables of open sorts in the atom that are not binders of the statement."""
        own = {binder.name for binder in binders}
        sorts = self._schema.relation(atom.relation).sorts
        pairs = zip(atom.args, sorts, strict=True)
        return len(
            {t.name for t, sort in pairs if isinstance(t, fo.Var) and t.name not in own and self.open(sort)}
        )

    def _statement(
        self, statement: Insert | Delete, binders: tuple[fo.Binder, ...], where: fo.Formula, k: int
    ) -> int:
        """Return how many values keep the truth value of a statement's condition.

        This is for all facts over k values and C.
        """
        scope: dict[str, _Ranging] = {}
        condition, active = where, 0
        for binder in binders:
            if fo.Var(binder.name) not in statement.atom.args:
                condition = fo.Exists(binder, condition)
                continue
            values = self._bounds.get(binder.sort, k) if self._infinite(binder.sort) else 0
            scope[binder.name] = _Ranging(len(self.deployment.constants[binder.sort]) + values)
        said = core(condition)
        for binder in binders:
            if (
                isinstance(statement, Insert)
                and binder.name in scope
                and not names_in_fact(said, binder.name)
            ):
                active += (scope[binder.name].number or 0) * self.beside(binder.sort)
        both = [self._kept(said, wanted, scope, several=bool(scope)) for wanted in (True, False)]
        return active + (sum(both) if scope else max(both))


def _is_about(statement: Statement, about: frozenset[str] | None) -> bool:
    """Return whether a statement inserts or deletes facts of some relations, or for None of any relation."""
    match statement:
        case Insert(atom) | Delete(atom):
            return about is None or atom.relation in about
        case Clear(relations):
            return about is None or not about.isdisjoint(relations)
        case Ensure() | Assign():
            return True
        case _:
            return False


def _times(variables: Iterable[_Ranging], f: Core) -> int:
    """Return how many combinations of values the variables have together with all that they depend on."""
    reached: set[_Ranging] = set()
    todo = [*variables]
    while todo:
        if (variable := todo.pop()) not in reached:
            reached.add(variable)
            todo += variable.on
    numbers = [variable.number for variable in reached]
    if None in numbers:
        raise CertificateRejected(f"`{f}` rests on as many values as there are, and on no fixed number")
    return prod(number for number in numbers if number is not None)


def depends_on(sentence: fo.Formula) -> frozenset[str] | None:
    """Return the relations of a sentence if its truth depends on their facts only, or None.

    It does if each quantifier has to range over values in facts of the sentence: for ∃ the body requires such
    a fact where it is true. A value that only other facts have then makes no difference.
    """
    relations: set[str] = set()
    todo: list[Core] = [core(sentence)]
    while todo:
        match todo.pop():
            case fo.Atom(relation):
                relations.add(relation)
            case fo.Not(body):
                todo.append(body)
            case fo.And(parts):
                todo += parts
            case fo.Iff(left, right):
                todo += (left, right)
            case fo.Exists(binder, body) | fo.Count("atleast", _, binder, body):
                if not (binder.declared or names_in_fact(body, binder.name)):
                    return None
                todo.append(body)
            case fo.Truth():
                pass
            case fo.Equal() | fo.Compare() as f if not fo.children(f):
                pass
            case _:
                return None
    return frozenset(relations)


def names_in_fact(f: Core, name: str, wanted: bool = True) -> bool:
    """Return whether the formula, if it is true, requires a fact with the value of the variable.

    With ``wanted`` False: if it is false.
    """
    match f:
        case fo.Atom(_, args):
            return wanted and fo.Var(name) in args
        case fo.Not(body):
            return names_in_fact(body, name, not wanted)
        case fo.And(parts):
            found = (names_in_fact(part, name, wanted) for part in parts)
            return any(found) if wanted else bool(parts) and all(found)
        case fo.Count("atleast", 0):  # true, whatever there is
            return False
        case fo.Exists(binder, body) | fo.Count("atleast", _, binder, body):
            return wanted and binder.name != name and names_in_fact(body, name)
        case _:
            return False
