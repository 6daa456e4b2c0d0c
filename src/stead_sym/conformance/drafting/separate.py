"""The smallest conjunction of literals that separates two sets of cases.

One decision: the search is exact up to a limit on its steps, and begins with a greedy answer. So a small
guard is the smallest one, and a large one is at least found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice

from stead_sym.conformance.drafting.literals import Case, Literal, Shape, Templates, cost

MOST_LITERALS = 6
"""The most literals of a conjunction."""
_MOST_SHAPES = 30_000
"""The most pairs of rows that are tried."""
_MOST_STEPS = 20_000
"""The limit on the steps of the exact search."""


@dataclass(frozen=True, slots=True)
class Separated:
    """A conjunction with its evidence.

    ``alone`` has for each literal the number of negative cases in which it alone is false.
    """

    literals: tuple[Literal, ...]
    alone: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Inseparable:
    """The first negative case, by number, that no literal tells from the positive ones."""

    number: int


@dataclass(frozen=True, slots=True)
class _Candidate:
    literal: Literal
    covers: int
    cost: int


def separate(
    templates: Templates, positives: Sequence[Case], negatives: Sequence[Case], most: int = MOST_LITERALS
) -> Separated | Inseparable:
    """Return the smallest conjunction that holds in all positive cases and in no negative one."""
    if not negatives:
        return Separated((), ())
    whole = (1 << len(negatives)) - 1
    shapes: list[Shape] = []
    covered = 0
    for more in (chain(templates.simple(), templates.looking()), islice(templates.joined(), _MOST_SHAPES)):
        shapes += more
        candidates = _candidates(templates, shapes, positives, negatives, whole)
        covered = 0
        for one in candidates:
            covered |= one.covers
        if covered == whole:
            found = _smallest(candidates, whole)
            if len(found) <= most:
                return _with_evidence(found, whole)
    missing = whole & ~covered
    return Inseparable((missing & -missing).bit_length() - 1 if missing else 0)


def _candidates(
    templates: Templates,
    shapes: Sequence[Shape],
    positives: Sequence[Case],
    negatives: Sequence[Case],
    whole: int,
) -> list[_Candidate]:
    """Return the literals that hold in all positive cases, the cheapest of those that exclude the same."""
    cheapest: dict[int, _Candidate] = {}
    for shape in shapes:
        truth = _constant(templates, shape, positives)
        if truth is None:
            continue
        there = 0
        for number, case in enumerate(negatives):
            if templates.holds(shape, case):
                there |= 1 << number
        covers = whole & ~there if truth else there
        literal = Literal(shape, truth)
        made = _Candidate(literal, covers, cost(literal))
        if covers and (covers not in cheapest or made.cost < cheapest[covers].cost):
            cheapest[covers] = made
    kept: list[_Candidate] = []
    for one in sorted(cheapest.values(), key=lambda c: (c.cost, -c.covers.bit_count())):
        if not any(one.covers & ~other.covers == 0 for other in kept):
            kept.append(one)
    return kept


def _constant(templates: Templates, shape: Shape, cases: Sequence[Case]) -> bool | None:
    """Return the truth value that a shape has in all cases, None if it has both."""
    first = templates.holds(shape, cases[0])
    return first if all(templates.holds(shape, case) is first for case in cases[1:]) else None


def _smallest(candidates: Sequence[_Candidate], whole: int) -> list[_Candidate]:
    """Return a cover of least cost, or after many steps the best that was found."""
    best = _greedy(candidates, whole)
    least = sum(one.cost for one in best)
    by_case: dict[int, list[_Candidate]] = {}
    steps = 0

    def covering(bit: int) -> list[_Candidate]:
        if bit not in by_case:
            by_case[bit] = [one for one in candidates if one.covers & bit]
        return by_case[bit]

    def search(left: int, chosen: list[_Candidate], spent: int) -> None:
        nonlocal best, least, steps
        steps += 1
        if steps > _MOST_STEPS:
            return
        if not left:
            if spent < least:
                best, least = list(chosen), spent
            return
        if len(chosen) >= MOST_LITERALS:
            return
        for one in min((covering(bit) for bit in _some_bits(left)), key=len):
            if spent + one.cost < least:
                search(left & ~one.covers, [*chosen, one], spent + one.cost)

    search(whole, [], 0)
    return _needed(best, whole)


def _some_bits(left: int, most: int = 40) -> list[int]:
    """Return some of the bits of a number, each alone."""
    bits: list[int] = []
    while left and len(bits) < most:
        bits.append(left & -left)
        left &= left - 1
    return bits


def _greedy(candidates: Sequence[_Candidate], whole: int) -> list[_Candidate]:
    left, chosen = whole, []
    while left:
        one = max(candidates, key=lambda c: (c.covers & left).bit_count() / c.cost)
        chosen.append(one)
        left &= ~one.covers
    return _needed(chosen, whole)


def _needed(chosen: Sequence[_Candidate], whole: int) -> list[_Candidate]:
    """Return a cover without those that the others make needless, the dearest first."""
    kept = list(chosen)
    for one in sorted(chosen, key=lambda c: -c.cost):
        rest = [other for other in kept if other is not one]
        covered = 0
        for other in rest:
            covered |= other.covers
        if covered == whole:
            kept = rest
    return kept


def _with_evidence(found: Sequence[_Candidate], whole: int) -> Separated:
    """Return the conjunction, what asks for rows first, with the cases that each literal alone excludes."""
    ordered = sorted(found, key=lambda c: (not c.literal.positive, c.cost))
    alone = []
    for one in ordered:
        others = 0
        for other in ordered:
            if other is not one:
                others |= other.covers
        alone.append((one.covers & ~others & whole).bit_count())
    return Separated(tuple(one.literal for one in ordered), tuple(alone))
