"""Two reports compared: what got worse, which decisions changed, where two counterexamples part.

One decision: a verdict got worse where something that was known no longer is: `holds` became anything else,
`holds, of nothing` and the specification gone included, or this or `unknown` became `fails`. What is new is
reported, and is never worse.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from itertools import zip_longest

from stead_sym.relational.canonical import isomorphic
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Schema, Sort
from stead_sym.report.document import TraceStepData, VerdictData
from stead_sym.report.recorded import COUNTS, Choice, Context, Recorded, RecordedFinding
from stead_sym.verification.verdict import OF_NOTHING, Said

Change = tuple[str | None, str | None]
"""What something was before and is after; None: it was not there."""


@dataclass(frozen=True, slots=True)
class Parting:
    """Where two counterexamples part: at step ``step``, counted from 1, up to which they are the same but for
    the names of values outside C; 0: at the databases with which they start. ``before`` and ``after`` are the
    steps taken there, None where a run has ended. Where only the loops differ, ``step`` is the one after the
    last."""

    step: int
    before: TraceStepData | None
    after: TraceStepData | None


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """One specification in two reports. ``before`` and ``after`` are verdicts, None where it is not asked
    for.

    ``reworded``: its formula is another. ``run`` are the steps of the counterexample after, where there is
    one; ``parting`` is where it leaves the one before, None where they are the same or there is only one.
    ``scope`` is that of the verdict after, None where it is as before.
    """

    spec: str
    before: Said | None
    after: Said | None
    reason: str
    reworded: bool
    run: tuple[TraceStepData, ...] = ()
    parting: Parting | None = None
    scope: tuple[str, ...] | None = None
    expects_failure: bool = False

    @property
    def worse(self) -> bool:
        """Something that was known no longer is; of a specification that is expected to fail, that it
        does."""
        if self.expects_failure:
            return self.after not in (None, "fails") and self.before != self.after
        return (self.before == "holds" and self.after != "holds") or (
            self.before in ("unknown", OF_NOTHING) and self.after == "fails"
        )

    @property
    def better(self) -> bool:
        """The other way round."""
        if self.expects_failure:
            return self.after == "fails" and self.before not in (None, "fails")
        return (self.after == "holds" and self.before in ("fails", "unknown", OF_NOTHING)) or (
            self.before == "fails" and self.after in ("unknown", OF_NOTHING)
        )


@dataclass(frozen=True, slots=True)
class DecisionChange:
    """A decision context that both have, with another selection."""

    context: Context
    before: Choice
    after: Choice


@dataclass(frozen=True)
class Difference:
    """What two reports differ in.

    ``verdicts`` are all specifications of either, those of the report after first; ``facts`` are changed
    counts, sizes, hypotheses and agents, by their names; ``errors`` the errors in which the runs ended.
    """

    before: Recorded
    after: Recorded
    errors: Change
    facts: Mapping[str, Change]
    verdicts: tuple[VerdictChange, ...]
    decisions: tuple[DecisionChange, ...]
    new_contexts: Mapping[Context, Choice]
    gone_contexts: Mapping[Context, Choice]
    new_findings: tuple[RecordedFinding, ...]
    gone_findings: tuple[RecordedFinding, ...]

    @property
    def worse(self) -> tuple[VerdictChange, ...]:
        """The specifications that got worse."""
        return tuple(change for change in self.verdicts if change.worse)

    @property
    def got_worse(self) -> bool:
        """A verdict got worse, or a run that had come to its end no longer does."""
        before, after = self.errors
        return bool(self.worse) or (before is None and after is not None)

    @property
    def is_none(self) -> bool:
        """The reports say the same."""
        changed = any(
            v.before != v.after or v.reworded or v.parting or v.scope is not None for v in self.verdicts
        )
        contexts = self.decisions or self.new_contexts or self.gone_contexts
        findings = self.new_findings or self.gone_findings
        before, after = self.errors
        return not (changed or contexts or findings or self.facts or before != after)


def compare(before: Recorded, after: Recorded) -> Difference:
    """What differs in the second report from the first."""
    both = before.choices.keys() & after.choices.keys()
    return Difference(
        before=before,
        after=after,
        errors=(before.error, after.error),
        facts=dict(_facts(before, after)),
        verdicts=tuple(
            _verdict(before, after, spec) for spec in dict.fromkeys((*after.specs, *before.specs))
        ),
        decisions=tuple(
            DecisionChange(context, before.choices[context], choice)
            for context, choice in after.choices.items()
            if context in both and before.choices[context].selected != choice.selected
        ),
        new_contexts={c: choice for c, choice in after.choices.items() if c not in both},
        gone_contexts={c: choice for c, choice in before.choices.items() if c not in both},
        new_findings=_sorted(after.findings - before.findings),
        gone_findings=_sorted(before.findings - after.findings),
    )


def _sorted(findings: Set[RecordedFinding]) -> tuple[RecordedFinding, ...]:
    return tuple(sorted(findings, key=str))


def _facts(before: Recorded, after: Recorded) -> Iterator[tuple[str, Change]]:
    """The changes of what each of the reports has one of. A report of an error does not have all of them."""
    named: list[tuple[str, str | None, str | None]] = [
        ("deployment", before.deployment, after.deployment),
        *((f"agent {name}".strip(), *pair) for name, pair in _pairs(before.agents, after.agents)),
        *((name, *pair) for name, pair in _pairs(before.counts, after.counts)),
        ("least margin", before.least_margin, after.least_margin),
        *((f"domain {sort}", *pair) for sort, pair in _pairs(before.domain, after.domain)),
        *((f"bounded {sort}", *pair) for sort, pair in _pairs(before.active, after.active)),
        *((name, *pair) for name, pair in _pairs(before.hypotheses, after.hypotheses)),
    ]
    ended = before.error is not None or after.error is not None
    for name, was, now in named:
        if was != now and not (ended and (was is None or now is None)):
            yield name, (was, now)


def _pairs(
    before: Mapping[str, object], after: Mapping[str, object]
) -> Iterator[tuple[str, tuple[str | None, str | None]]]:
    """Per name what it is before and after, as text."""
    order = {name: k for k, name in enumerate(COUNTS)}
    for name in sorted({*before, *after}, key=lambda name: (order.get(name, 0), name)):
        yield name, (_text(before.get(name)), _text(after.get(name)))


def _text(value: object) -> str | None:
    return f"{value:,}" if isinstance(value, int) else None if value is None else str(value)


def _verdict(before: Recorded, after: Recorded, spec: str) -> VerdictChange:
    was, now = before.word(spec), after.word(spec)
    old, new = before.specs.get(spec), after.specs.get(spec)
    fails = new is not None and new.verdict == "fails"
    parting = None
    if old is not None and new is not None and fails and old.verdict == "fails":
        parting = part(old, new, before.sorts | after.sorts)
    return VerdictChange(
        spec,
        was,
        now,
        new.reason if new is not None else (after.error or "" if now is not None else ""),
        old is not None and new is not None and old.formula != new.formula,
        tuple(new.trace) if new is not None and fails else (),
        parting,
        tuple(new.scope) if new is not None and new.scope != (old.scope if old is not None else []) else None,
        new is not None and new.expected == "fails",
    )


def part(before: VerdictData, after: VerdictData, sorts: Set[str]) -> Parting | None:
    """Where two runs part; None where they are the same up to a bijection between the values outside C, which
    are named after one of ``sorts`` with a number."""
    if not _alike(before, after, 0, sorts):
        return Parting(0, None, None)
    for k, (old, new) in enumerate(zip_longest(before.trace, after.trace), 1):
        if old is None or new is None or not _alike(before, after, k, sorts):
            return Parting(k, old, new)
    if before.loop != after.loop:
        return Parting(len(after.trace) + 1, None, None)
    return None


def _alike(before: VerdictData, after: VerdictData, steps: int, sorts: Set[str]) -> bool:
    """Whether the runs are isomorphic up to so many steps: each becomes an instance whose relations are what
    happens at a step."""
    first, second = (frozenset(_happening(run, steps)) for run in (before, after))
    arities = {fact.relation: len(fact.args) for fact in first | second}
    schema = Schema((Sort("value"),), tuple(Relation(r, ("value",) * n) for r, n in arities.items()))
    names = {value for fact in first | second for value in fact.args}
    prefixes = "|".join(re.escape(name) for sort in sorts for name in (sort, sort.lower()))
    generated = re.compile(rf"(?:{prefixes})\d+")
    fixed = {name for name in names if not (prefixes and generated.fullmatch(name))}
    return isomorphic(Instance(schema, first), Instance(schema, second), fixed)


def _happening(run: VerdictData, steps: int) -> Iterator[Fact]:
    """What happens up to so many steps, each fact and call with the place where it stands."""
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
