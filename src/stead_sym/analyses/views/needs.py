"""Bound the number of values that a fact about a database rests on.

Let C be the constants, and for an instance D and a set Y of values outside C let D↾Y be the *part* of D on Y:
the facts of D whose values are in Y ∪ C. A value of Y that is active in D need not be so in D↾Y: a fact that
holds it may hold a value beside Y.

Definition. W *keeps* f true in D under σ if D↾Y, σ ⊨ f for every Y that includes W and the values of σ
outside C. A formula *needs* r values if wherever D, σ ⊨ f some W of at most r values keeps it true.

Lemma. In negation normal form (`logic.kernel`), of formulas without temporal operators,

    an atom, `=`, `<`, and their negations    need none: they are about values of σ and C;
    f ∧ g                                     what both need;
    f ∨ g                                     the larger number of each sort; below a ∀ what both need;
    ∃x. f                                     what f needs; one value, unless its sort is finite; and, unless
                                              f says in a fact that x is active, the others of such a fact;
    at least n x. f                           n times as many;
    ∀x. f, x of a finite sort                 what f needs, for each value of the sort that it depends on;
    ∀x. f, x of an open sort                  what f needs, if none of it depends on x;
    at most n x. f                            as ∀x. ¬f.

Let D_K be the facts of D of some relations K. A sentence f over K such that in its kernel each ∃x. g, and
each `at least n x. g`, says in a fact that x is active has the same truth in D and in D_K.

Proof. By induction for each subformula and σ: an atom of K is, and x ranges over ad(D_K) ⊆ ad(D) or ad(D),
where a value for which g is true is in a fact of K. ∎

Numbers are by sort. Any other formula is `Outside`, as ∀x ∃y. R(x, y): no number of values keeps it true for
every number of x. The proof is in `docs/theory.md`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.witnesses import is_old
from stead_sym.errors import Span
from stead_sym.logic.kernel import Core, core, outside_kernel, written

Number: TypeAlias = Counter[str]
"""The number of values of each open sort."""

Need: TypeAlias = Counter[tuple[frozenset[str], str]]
"""The number of values needed of a sort, by the variables that the choice of these values depends on."""


class Outside(Exception):
    """A part of a deployment, or a formula, at ``span`` rests on no fixed number of values.

    The message includes the remedy.
    """

    def __init__(self, said: str, span: Span | None) -> None:
        super().__init__(said)
        self.span = span

    def __str__(self) -> str:
        """Return the message with the location, if known."""
        return f"{self.args[0]} ({self.span})" if self.span is not None else str(self.args[0])


class _Each(Exception):
    """An ∃ or "at least n" ``formula`` has to be false for each value of its variable.

    It may rest on another value for each of them.
    """

    def __init__(self, formula: Core) -> None:
        super().__init__(str(formula))
        self.formula = formula


class Needs:
    """The numbers of values that formulas of one deployment need, with all of its unbounded sorts open."""

    def __init__(self, deployment: Deployment) -> None:
        self.deployment = deployment
        self.schema = deployment.schema
        self._needs: dict[tuple[Core, bool, bool], Need] = {}
        self._active: dict[str, Number] = {}

    def is_open(self, sort: str) -> bool:
        """Return whether the sort has no bound."""
        return not self.schema.is_finite(sort)

    def columns(self, relation: str) -> Number:
        """Return the number of columns of each open sort."""
        return Counter(filter(self.is_open, self.schema.relation(relation).sorts))

    def active(self, sort: str) -> Number:
        """Return how many further values a fact may have that makes a value of the sort active."""
        if sort not in self._active:
            holding = (self.columns(r.name) for r in self.schema.relations if sort in r.sorts)
            self._active[sort] = reduce(or_, (columns - Counter([sort]) for columns in holding), Counter())
        return self._active[sort].copy()

    def kept(self, formula: fo.Expanded) -> Number:
        """Return how many values a formula needs beside those of its free variables; raises `Outside`."""
        return _total(self.of(formula, True))

    def refuted(self, formula: fo.Expanded) -> Number:
        """Return how many values the negation of a formula needs; raises `Outside`."""
        return _total(self.of(formula, False))

    def of(self, formula: fo.Expanded, positive: bool, *, every: bool = False) -> Need:
        """Return what a formula needs, or its negation unless ``positive``.

        With ``every`` it is for many values of free variables at a time, of which different ones may rest on
        different sides of a disjunction. Raises `Outside`.
        """
        asked = core(formula), positive, every
        try:
            if asked not in self._needs:
                self._needs[asked] = self._of(*asked)
            return self._needs[asked].copy()
        except _Each as error:
            part = written(error.formula, formula)
            raise Outside(
                f"`{part}` may rest on another record for each value of its variable; keep in a relation what"
                " it asks for",
                part.span,
            ) from None

    def _of(self, f: Core, positive: bool, every: bool) -> Need:
        match f:
            case fo.Equal() | fo.Compare() if fo.children(f):
                raise Outside(
                    "`count` and `sum` are about all records at once, and parts of a database do not show"
                    " what they come to",
                    f.span,
                )
            case fo.Truth() | fo.Equal() | fo.Compare() | fo.Atom():
                return Counter()
            case fo.Not(body):
                return self._of(body, not positive, every)
            case fo.And(parts):
                needs = [self._of(part, positive, every) for part in parts]
                return sum(needs, Counter()) if positive or every else reduce(or_, needs)
            case fo.Iff(left, right):
                sides = [
                    self._of(left, side, every) + self._of(right, side is positive, every)
                    for side in (True, False)
                ]
                return sides[0] + sides[1] if every else sides[0] | sides[1]
            case fo.Exists(binder, body):
                return self._some(f, 1, binder, body, every) if positive else self._every(f, binder, body)
            case fo.Count("atleast", number, binder, body):
                if positive:
                    return self._some(f, number, binder, body, every)
                return self._every(f, binder, body)
            case _:
                raise outside_kernel(f)

    def _some(self, f: Core, number: int, binder: fo.Binder, body: Core, every: bool) -> Need:
        """Return what is needed so that at least ``number`` values satisfy the body."""
        free = fo.free_variables(f)
        need: Need = Counter(
            {(free, sort): number * each for sort, each in self.witness(binder, body).items()}
        )
        for (names, sort), each in self._of(body, True, every).items():
            need[(names - {binder.name}) | free if binder.name in names else names, sort] += number * each
        return need

    def witness(self, binder: fo.Binder, body: Core) -> Number:
        """Return the values that a witness of the body needs: itself, and those beside it in a fact."""
        if binder.declared:
            return Counter()
        own = Counter([binder.sort] if self.is_open(binder.sort) else [])
        return own if is_old(body, binder.name, frozenset()) else own + self.active(binder.sort)

    def _every(self, f: Core, binder: fo.Binder, body: Core) -> Need:
        """Return what is needed so that no value satisfies the body, or at most a given number of them."""
        values = self.schema.sort(binder.sort).values
        need: Need = Counter()
        for (names, sort), each in self._of(body, False, True).items():
            if binder.name not in names:
                need[names, sort] += each
            elif values is not None:
                need[names - {binder.name}, sort] += len(values) * each
            else:
                raise _Each(f)
        return need


def deciding(sentence: fo.Expanded) -> frozenset[str] | None:
    """Return relations on whose facts alone the truth of a sentence depends; None if others may matter."""
    whole = core(sentence)
    for part in fo.subformulas(whole):
        match part:
            case fo.Exists(binder, body) | fo.Count("atleast", _, binder, body):
                if not (binder.declared or is_old(body, binder.name, frozenset())):
                    return None
            case fo.Atom() | fo.Not() | fo.And() | fo.Iff() | fo.Truth():
                pass
            case fo.Equal() | fo.Compare() if not fo.children(part):
                pass
            case _:
                return None
    return frozenset(fo.relations_in(whole))


def within_bounds(number: Number, bounds: Mapping[str, int]) -> Number:
    """Return the number with no more values of a sort than its bound allows."""
    return Counter({sort: min(n, bounds.get(sort, n)) for sort, n in number.items()})


def _total(need: Need) -> Number:
    total: Number = Counter()
    for (_, sort), each in need.items():
        total[sort] += each
    return total
