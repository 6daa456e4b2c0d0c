"""The point of divergence of two counterexamples, up to the names of values outside the constants C."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from itertools import zip_longest

from stead_sym.evidence.document import Count, Document
from stead_sym.relational.canonical import isomorphic
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Schema, Sort
from stead_sym.report.document import TraceStepData, VerdictData


class PartingData(Document):
    """The point of divergence of two counterexamples.

    `step` is the first step, from 1, that differs in more than the names of values outside C; 0: their first
    databases differ. `before` and `after` are the steps taken there, null if the run has ended. If only the
    loops differ, it is the step after the last.
    """

    step: Count
    before: str | None
    after: str | None


def part(before: VerdictData, after: VerdictData, sorts: Set[str]) -> PartingData | None:
    """Return the point of divergence of two runs, or None if they are equal up to a bijection.

    The bijection is between the values outside C, which are named after one of ``sorts`` with a number.
    """
    if not _alike(before, after, 0, sorts):
        return PartingData(0, None, None)
    for k, (old, new) in enumerate(zip_longest(before.trace, after.trace), 1):
        if old is None or new is None or not _alike(before, after, k, sorts):
            return PartingData(k, _label(old), _label(new))
    if before.loop != after.loop:
        return PartingData(len(after.trace) + 1, None, None)
    return None


def _label(step: TraceStepData | None) -> str | None:
    return None if step is None else step.label


def _alike(before: VerdictData, after: VerdictData, steps: int, sorts: Set[str]) -> bool:
    """Return True if the runs are isomorphic for the first ``steps`` steps.

    Each run becomes an instance whose relations are the facts and calls of each step.
    """
    first, second = (frozenset(_happening(run, steps)) for run in (before, after))
    arities = {fact.relation: len(fact.args) for fact in first | second}
    schema = Schema((Sort("value"),), tuple(Relation(r, ("value",) * n) for r, n in arities.items()))
    names = {value for fact in first | second for value in fact.args}
    prefixes = "|".join(re.escape(name) for sort in sorts for name in (sort, sort.lower()))
    generated = re.compile(rf"(?:{prefixes})\d+")
    fixed = {name for name in names if not (prefixes and generated.fullmatch(name))}
    return isomorphic(Instance(schema, first), Instance(schema, second), fixed)


def _happening(run: VerdictData, steps: int) -> Iterator[Fact]:
    """Yield the facts and calls of the first ``steps`` steps, each with its position."""
    for fact in run.start:
        yield _placed("start", fact)
    for k, step in enumerate(run.trace[:steps], 1):
        yield _placed(f"{k} by {'event' if step.agent is None else repr(step.agent)}", step.call)
        for kind, facts in (("added", step.added), ("removed", step.removed)):
            for fact in facts:
                yield _placed(f"{k} {kind}", fact)


def _placed(place: str, text: str) -> Fact:
    name, _, inside = text.partition("(")
    args = tuple(inside.removesuffix(")").split(", ")) if inside not in ("", ")") else ()
    return Fact(f"{place} {name}/{len(args)}", args)
