"""Occurrences of subformulas: position, polarity, replacement, and those whose truth depends on fairness.

One decision: an occurrence is a path of child numbers (in the order of `children`), so that the same
subformula written twice is two occurrences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.errors import Span

Path: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A subformula at its position.

    ``above`` are the formulas around it, outermost first. ``polarity`` is +1 if the whole formula is monotone
    in this part, -1 if it is antitone, and 0 if neither is certain (under `<->`, in the body of `exactly`).
    """

    formula: fo.Formula
    path: Path
    above: tuple[fo.Formula, ...]
    polarity: int

    @property
    def place(self) -> Span | None:
        """The position in the file, or that of the closest formula around it that has one."""
        spans = (formula.span for formula in (self.formula, *reversed(self.above)))
        return next((span for span in spans if span is not None), None)

    @property
    def inside(self) -> tuple[Occurrence, ...]:
        """The occurrences of its immediate subformulas."""
        f, above = self.formula, (*self.above, self.formula)
        return tuple(
            Occurrence(child, (*self.path, k), above, self.polarity * sign)
            for k, (child, sign) in enumerate(zip(fo.children(f), fo.signs(f), strict=True))
        )


def occurrences(formula: fo.Formula) -> Iterator[Occurrence]:
    """Yield every occurrence, each before the occurrences that it contains."""
    todo = [Occurrence(formula, (), (), 1)]
    while todo:
        first = todo.pop()
        yield first
        todo.extend(reversed(first.inside))


def quantifies(formula: fo.Formula, path: Literal["A", "E"]) -> bool:
    """Return True if every path quantifier becomes this one when negations are pushed inwards.

    Then truth is preserved if transitions are removed (A), or if some are added (E). A formula without
    temporal operators has both properties. Under `<->` and in the body of `exactly` every quantifier becomes
    both.
    """
    return all(
        (one.formula.path == path) == (one.polarity > 0) and one.polarity != 0
        for one in occurrences(formula)
        if isinstance(one.formula, fo.Temporal)
    )


def replaced(formula: fo.Formula, path: Path, by: fo.Formula) -> fo.Formula:
    """Return the formula with ``by`` at the occurrence."""
    if not path:
        return by
    numbers = iter(range(len(fo.children(formula))))
    return fo.map_children(
        lambda child: replaced(child, path[1:], by) if next(numbers) == path[0] else child, formula
    )


def without_part(parent: fo.Formula, child: int, by: bool) -> fo.Formula | None:
    """Return a formula without this child that is equivalent to the parent with ``by`` in its place.

    The result is None if there is no simpler one.
    """
    match parent:
        case fo.Implies(_, right) if child == 0 and by:
            return right
        case fo.Implies(left, _) if child == 1 and not by:
            return fo.Not(left)
        case fo.Or(parts) if not by:
            return fo.disjunction((*parts[:child], *parts[child + 1 :]))
        case fo.Until(path, _, right, weak=False) if child == 0 and by:
            return fo.Future(path, right)
        case fo.Until(_, _, right) if child == 0 and not by:
            return right
        case fo.Until(path, left, _, weak=True) if child == 1 and not by:
            return fo.Globally(path, left)
        case _:
            return None


def constant(formula: fo.Formula, known: Mapping[Path, bool], path: Path = ()) -> bool | None:
    """Return the truth value that the formula has in every state, or None if that is not decided.

    ``known`` are values of occurrences, by their paths. The formula is at ``path``; everything else may have
    any truth value.
    """
    if path in known:
        return known[path]
    below = [constant(child, known, (*path, k)) for k, child in enumerate(fo.children(formula))]
    match formula:
        case fo.Truth(value):
            return value
        case fo.Not():
            return None if below[0] is None else not below[0]
        case fo.And():
            return False if False in below else None if None in below else True
        case fo.Or():
            return True if True in below else None if None in below else False
        case fo.Implies():
            return True if below[0] is False or below[1] is True else None
        case fo.Iff():
            return None if None in below else below[0] == below[1]
        case fo.Until():
            return True if below[1] is True else None
        case fo.Forall() | fo.Next("A") | fo.Future("A") | fo.Globally("A"):
            return True if below[0] is True else None
        case fo.Exists() | fo.Next("E") | fo.Future("E") | fo.Globally("E"):
            return False if below[0] is False else None
        case _:
            return None


def met(occurrence: Occurrence) -> fo.Formula:
    """Return a sentence that is true if evaluation can meet the occurrence in a state in which it is true.

    Evaluation starts at the initial state, and the quantifiers around the occurrence may take any value. On
    the way quantifiers become `exists`, `AX` and `EX` become `EX`, and the other temporal operators `EF`. On
    the way into a conclusion the premise is true as well. All other parts are left out, so that the sentence
    over-approximates.
    """
    formula = occurrence.formula
    for around, child in zip(reversed(occurrence.above), reversed(occurrence.path), strict=True):
        match around:
            case fo.Implies(left, _) if child == 1:
                formula = fo.And((left, formula))
            case fo.Next():
                formula = fo.Next("E", formula)
            case _ if isinstance(around, fo.Temporal):
                formula = fo.Future("E", formula)
            case _ if isinstance(around, fo.Quantified):
                formula = fo.Exists(around.binder, formula)
            case _:
                pass
    return formula


def asks_for_progress(formula: fo.Formula) -> bool:
    """Return True if the formula asks for progress on all runs, or for its absence on some run.

    AF, A[f U g], EG and E[f W g] do. Fairness can change their truth, since no finite run decides it.
    """
    match formula:
        case fo.Future("A") | fo.Globally("E") | fo.Until("A", weak=False) | fo.Until("E", weak=True):
            return True
        case _:
            return any(map(asks_for_progress, fo.children(formula)))
