"""Search for a condition that separates the calls of a tool that a shield allows from those that it denies.

Over the states that the shield reaches let A be the allowed calls of a tool and D the denied ones, pairs of a
state and arguments. A condition f on the parameters represents the shield if A ⊆ ⟦f⟧ and D ∩ ⟦f⟧ = ∅. It is
built from literals (`conditions`), and each of these inclusions is decided on the diagrams of all states. So
the result is equal to the shield and not a generalisation of examples. If the literals do not separate A and
D, there is no result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import stead_sym.logic.syntax as fo
from stead_sym.engines.symbolic.bdd.manager import Bdd, Manager

_DEPTH = 4  # the depth of a decision tree


@dataclass(frozen=True, slots=True)
class Literal:
    """A formula, the calls of A ∪ D for which it is true, and True if it comes from the demands."""

    formula: fo.Formula
    calls: Bdd
    said: bool

    @property
    def size(self) -> int:
        """The length of the text; a formula that is not about the call itself counts twice."""
        return len(str(self.formula)) * (1 if fo.free_variables(self.formula) else 2)


@dataclass(frozen=True, slots=True)
class Separating:
    """The search for one tool.

    ``literals`` are about its ``allowed`` and ``denied`` calls, sets over the state bits and its selectors.
    """

    manager: Manager
    allowed: Bdd
    denied: Bdd
    literals: Sequence[Literal]
    count: Callable[[Bdd], int]

    @property
    def condition(self) -> fo.Formula | None:
        """A formula f with A ⊆ ⟦f⟧ and D ∩ ⟦f⟧ = ∅, of few literals, or None if none was found."""
        nothing = self.manager.false
        if self.denied == nothing:
            return fo.TRUE
        if self.allowed == nothing:
            return fo.FALSE
        said = [one for one in self.literals if one.said]
        for pool in (said, self.literals):
            found = [one for one in (self._conjunction(pool), self._disjunction(pool)) if one is not None]
            if found:
                return min(found, key=lambda formula: len(str(formula)))
        return self._tree(self.allowed, self.denied, _DEPTH)

    def _conjunction(self, pool: Sequence[Literal]) -> fo.Formula | None:
        """Return a conjunction of literals true for all allowed calls that excludes the denied ones."""
        implied = (one for one in pool if self.allowed <= one.calls)
        chosen = self._cover(self.denied, ((one, ~one.calls) for one in implied))
        return None if chosen is None else fo.conjunction(tuple(one.formula for one in chosen))

    def _disjunction(self, pool: Sequence[Literal]) -> fo.Formula | None:
        """Return a disjunction of literals false for all denied calls that admits the allowed ones."""
        excluding = (one for one in pool if self.denied & one.calls == self.manager.false)
        chosen = self._cover(self.allowed, ((one, one.calls) for one in excluding))
        return None if chosen is None else fo.disjunction(tuple(one.formula for one in chosen))

    def _cover(self, of: Bdd, sets: Iterable[tuple[Literal, Bdd]]) -> list[Literal] | None:
        """Return literals whose sets cover the given set, chosen greedily and without redundant ones.

        The set that covers most of the rest comes first, and of equal ones that of the shortest literal.
        """
        nothing, offered, left = self.manager.false, list(sets), of
        chosen: list[tuple[Literal, Bdd]] = []
        while left != nothing:
            best = max(offered, key=lambda pair: (self.count(left & pair[1]), -pair[0].size), default=None)
            if best is None or left & best[1] == nothing:
                return None
            chosen.append(best)
            left = left & ~best[1]
        for pair in list(chosen):
            others = self.manager.disj(covered for one, covered in chosen if one is not pair[0])
            if of <= others:
                chosen.remove(pair)
        return [one for one, _ in chosen]

    def _tree(self, allowed: Bdd, denied: Bdd, depth: int) -> fo.Formula | None:
        """Return a decision tree as a formula: at each node the literal that leaves the least mixed."""
        nothing = self.manager.false
        if denied == nothing:
            return fo.TRUE
        if allowed == nothing:
            return fo.FALSE
        if depth == 0:
            return None

        def mixed(one: Literal) -> tuple[int, int]:
            return (
                min(self.count(allowed & one.calls), self.count(denied & one.calls))
                + min(self.count(allowed & ~one.calls), self.count(denied & ~one.calls)),
                one.size,
            )

        best = min(self.literals, key=mixed, default=None)
        if best is None:
            return None
        here = self._tree(allowed & best.calls, denied & best.calls, depth - 1)
        there = self._tree(allowed & ~best.calls, denied & ~best.calls, depth - 1)
        if here is None or there is None:
            return None
        return _either(best.formula, here, there)


def distinct_literals(
    manager: Manager, within: Bdd, found: Iterable[tuple[fo.Formula, Bdd, bool]]
) -> Sequence[Literal]:
    """Return the formulas and their negations with the calls ``within`` for which they are true.

    Of those that are true for the same calls only one is kept: one from the demands if there is any, and the
    shortest. Those that are true for all calls or none are left out.
    """
    by_calls: dict[int, Literal] = {}
    for formula, calls, said in found:
        for literal in (
            Literal(formula, calls & within, said),
            Literal(negated(formula), within & ~calls, said),
        ):
            if literal.calls in (manager.false, within):
                continue
            known = by_calls.get(int(literal.calls))
            if known is None or (not literal.said, literal.size) < (not known.said, known.size):
                by_calls[int(literal.calls)] = literal
    return tuple(by_calls.values())


def negated(formula: fo.Formula) -> fo.Formula:
    """Return ¬f, with the negation pushed inwards if that is easier to read."""
    match formula:
        case fo.Not(body):
            return body
        case fo.Forall(binder, body):
            return fo.Exists(binder, negated(body))
        case fo.Implies(left, right):
            return fo.conjunction((*fo.conjuncts(left), *fo.conjuncts(negated(right))))
        case fo.Or(parts):
            return fo.conjunction(tuple(map(negated, parts)))
        case fo.And(parts):
            return fo.disjunction(tuple(map(negated, parts)))
        case _:
            return fo.FALSE if formula == fo.TRUE else fo.TRUE if formula == fo.FALSE else fo.Not(formula)


def _either(condition: fo.Formula, here: fo.Formula, there: fo.Formula) -> fo.Formula:
    """Return condition & here | ~condition & there."""
    parts = []
    if here != fo.FALSE:
        parts.append(
            condition if here == fo.TRUE else fo.conjunction((*fo.conjuncts(condition), *fo.conjuncts(here)))
        )
    if there != fo.FALSE:
        against = negated(condition)
        parts.append(
            against if there == fo.TRUE else fo.conjunction((*fo.conjuncts(against), *fo.conjuncts(there)))
        )
    return fo.disjunction(tuple(parts))
