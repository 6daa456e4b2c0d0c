"""Comparison of two reports: verdicts that got worse, changed decisions, differences of counterexamples.

One decision: a verdict got worse if something established no longer is. That means `holds` became anything
else, including `holds, of nothing` and a removed specification, or `holds, of nothing` or `unknown` became
`fails`. If the file expects that it fails, `fails` and `holds` change places. New specifications are
reported, and are never worse.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import UNSET

from stead_sym.evidence.document import Document
from stead_sym.report.deepening import DeepeningReport
from stead_sym.report.document import ErrorReport, Report
from stead_sym.report.localised import LocalReport
from stead_sym.report.parting import PartingData, part
from stead_sym.report.recorded import Recorded
from stead_sym.verification.verdict import OF_NOTHING, Said

_COUNTS = ("initial", "states", "transitions", "contexts", "queries")


class ComparedData(Document):
    """One of two reports: its file, and the error in which the run ended."""

    source: str
    deployment: str | None
    error: str | None


class FactChangeData(Document):
    """A count, an agent, a size, a bound or a hypothesis that changed, as text; null if there was none."""

    before: str | None
    after: str | None


class VerdictChangeData(Document):
    """A specification of either report.

    `reason` is the reason if the verdict after is unknown. `scope` is that of the verdict after, if it
    differs from before, and `every_number` the views that show it for every number of records, if they
    differ. `reworded`: the formula differs. `run` has the steps of the counterexample after. `parting` is
    null if the counterexamples differ only in names, or if there are not two.
    """

    before: Said | None
    after: Said | None
    worse: bool
    reason: str
    scope: list[str] | None
    every_number: FactChangeData | None
    reworded: bool
    run: list[str]
    parting: PartingData | None

    @property
    def better(self) -> bool:
        """True if the specification is now decided, or no longer refuted.

        A failure that did not get worse is one that the file expects.
        """
        if self.worse or None in (self.before, self.after) or self.before == self.after:
            return False
        return self.after in ("holds", "fails") or self.before == "fails"

    @property
    def changed(self) -> bool:
        """True if anything reported about the specification differs."""
        words = self.before != self.after or self.reworded
        return words or self.parting is not None or self.scope is not None


class ChoiceData(Document):
    """The selected calls, and their margin if there is one."""

    selected: list[str]
    margin: float | None


class CanonicalContext(Document):
    """A canonical decision context of one agent."""

    agent: str
    facts: list[str]
    offered: list[str]

    def __str__(self) -> str:
        """Return the context as text."""
        facts = f"{{ {', '.join(self.facts)} }}" if self.facts else "{ }"
        who = f"{self.agent} in " if self.agent else ""
        return f"{who}{facts} offering {', '.join(self.offered)}"


class DecisionChangeData(CanonicalContext):
    """A context in which the selection differs."""

    before: ChoiceData
    after: ChoiceData


class ContextData(CanonicalContext):
    """A context of one report only, with the calls selected there."""

    selected: list[str]
    margin: float | None


class ContextsData(Document):
    """The contexts of one report only."""

    new: list[ContextData]
    gone: list[ContextData]


class ComparedFinding(Document):
    """A finding without its place, which moves with the lines of a file."""

    kind: str
    text: str
    spec: str | None


class FindingsData(Document):
    """The findings of one report only."""

    new: list[ComparedFinding]
    gone: list[ComparedFinding]


class DifferenceReport(Document):
    """The result of `stead-sym diff`; `worse`: something got worse, and the exit status is 1."""

    before: ComparedData
    after: ComparedData
    worse: bool
    verdicts: dict[str, VerdictChangeData]
    facts: dict[str, FactChangeData]
    decisions: list[DecisionChangeData]
    contexts: ContextsData
    findings: FindingsData

    @property
    def is_none(self) -> bool:
        """True if the reports are equal in content."""
        contexts = self.decisions or self.contexts.new or self.contexts.gone
        findings = self.findings.new or self.findings.gone
        changed = any(change.changed for change in self.verdicts.values())
        return not (changed or contexts or findings or self.facts or self.before.error != self.after.error)


def compare(before: Recorded, after: Recorded) -> DifferenceReport:
    """Return the differences of the second report from the first.

    All specifications of either have a verdict there, those of ``after`` first.
    """
    specs = dict.fromkeys((*after.specs, *before.specs))
    verdicts = {spec: _verdict(before, after, spec) for spec in specs}
    ended = before.error is None and after.error is not None
    was, now = _choices(before), _choices(after)
    return DifferenceReport(
        before=ComparedData(before.source, before.deployment, before.error),
        after=ComparedData(after.source, after.deployment, after.error),
        worse=ended or any(change.worse for change in verdicts.values()),
        verdicts=verdicts,
        facts=dict(_facts(before, after)),
        decisions=[
            DecisionChangeData(agent, [*facts], [*offered], was[agent, facts, offered], choice)
            for (agent, facts, offered), choice in now.items()
            if was.get((agent, facts, offered), choice).selected != choice.selected
        ],
        contexts=ContextsData(new=[*_only(now, was)], gone=[*_only(was, now)]),
        findings=FindingsData(new=_found_only(after, before), gone=_found_only(before, after)),
    )


_Context = tuple[str, tuple[str, ...], tuple[str, ...]]
"""The agent, the facts, the offered calls."""


def _choices(recorded: Recorded) -> dict[_Context, ChoiceData]:
    decisions = recorded.report.decisions if isinstance(recorded.report, Report) else []
    return {
        (d.agent, tuple(d.facts), tuple(d.offered)): ChoiceData(
            d.selected, None if d.margin is UNSET else d.margin
        )
        for d in decisions
    }


def _only(these: Mapping[_Context, ChoiceData], others: Mapping[_Context, object]) -> Iterator[ContextData]:
    for (agent, facts, offered), choice in these.items():
        if (agent, facts, offered) not in others:
            yield ContextData(agent, [*facts], [*offered], choice.selected, choice.margin)


def _found_only(these: Recorded, others: Recorded) -> list[ComparedFinding]:
    own, other = ({(f.kind, f.text, f.spec) for f in one.findings} for one in (these, others))
    found = sorted(own - other, key=lambda one: f"{one[0]}: {one[1]}")
    return [ComparedFinding(kind, text, spec) for kind, text, spec in found]


def _facts(before: Recorded, after: Recorded) -> Iterator[tuple[str, FactChangeData]]:
    """Yield the changes of the facts that each report has exactly one of.

    A report of an error has none. Of reports of two kinds the common facts are compared.
    """
    if not isinstance(before.report, ErrorReport) and not isinstance(after.report, ErrorReport):
        was, now = dict(_told(before.report)), dict(_told(after.report))
        is_one_kind = type(before.report) is type(after.report)
        for key in sorted({*was, *now} if is_one_kind else was.keys() & now.keys()):
            if was.get(key) != now.get(key):
                yield key[1].strip(), FactChangeData(was.get(key), now.get(key))


def _told(report: Report | DeepeningReport | LocalReport) -> Iterator[tuple[tuple[int, str], str]]:
    """Yield the facts that a report has exactly one of, by their place in the list and their name."""
    yield (0, "deployment"), report.deployment
    agents = {"": report} if isinstance(report, LocalReport) else report.agents
    for name, asked in agents.items():
        yield (1, f"agent {name}"), asked.agent
    if report.gates is not UNSET:
        yield (1, "gates"), " and ".join(one.gate for one in report.gates)
    if report.calls is not UNSET:
        yield (1, "calls"), report.calls
    if isinstance(report, LocalReport):
        return
    yield from _counted(report) if isinstance(report, Report) else _raised(report)
    for hypothesis in report.hypotheses.all:
        yield (13, hypothesis.name), hypothesis.status


def _counted(report: Report) -> Iterator[tuple[tuple[int, str], str]]:
    for place, name in enumerate(_COUNTS, 2):
        if (count := getattr(report, name)) is not None:
            yield (place, name), f"{count:,}"
    margins = [d.margin for d in report.decisions if d.margin is not UNSET and d.margin is not None]
    if margins:
        yield (10, "least margin"), f"{min(margins):.4g}"
    for sort, size in report.domain.items():
        yield (11, f"domain {sort}"), f"{size:,}"
    for sort, active in report.hypotheses.activity.items():
        yield (12, f"bounded {sort}"), f"{active.most} of {active.bound}"


def _raised(report: DeepeningReport) -> Iterator[tuple[tuple[int, str], str]]:
    bounds = report.rounds[-1].bounds if report.rounds else {}
    for sort, bound in bounds.items():
        yield (11, f"raised {sort}"), f"{bound}"
    if report.rounds:
        yield (11, "states within these bounds"), f"{report.rounds[-1].states:,}"
    for sort in report.unbounded or bounds:
        yield (12, f"bounded {sort}"), "any number" if report.unbounded else "not by the file"
    if report.stopped:
        yield (14, "ended early"), report.stopped


def _verdict(before: Recorded, after: Recorded, spec: str) -> VerdictChangeData:
    was, now = before.word(spec), after.word(spec)
    old, new = before.specs.get(spec), after.specs.get(spec)
    fails = new is not None and new.verdict == "fails"
    expecting = old if new is None else new
    parting = None
    if old is not None and new is not None and old.verdict == "fails" and fails:
        parting = part(old, new, before.sorts | after.sorts)
    return VerdictChangeData(
        before=was,
        after=now,
        worse=_is_worse(was, now, expected=expecting is not None and expecting.expected == "fails"),
        reason=new.reason if new is not None else (after.error or "" if now is not None else ""),
        scope=new.scope if new is not None and new.scope != (old.scope if old is not None else []) else None,
        every_number=_change(*(_shown_by(one, spec) for one in (before, after))),
        reworded=old is not None and new is not None and old.formula != new.formula,
        run=[step.label for step in new.trace] if new is not None and fails else [],
        parting=parting,
    )


def _shown_by(report: Recorded, spec: str) -> str | None:
    """Return the views that show a specification for every number of records, or None if there are none."""
    shown = report.every_number.get(spec)
    if shown is None:
        return None
    about = f" of {', '.join(shown.relations)}" if shown.relations else ""
    with_ = f" with {', '.join(shown.invariants)}" if shown.invariants else ""
    return f"{shown.k}-views{about}: {shown.views} of them{with_}"


def _change(before: str | None, after: str | None) -> FactChangeData | None:
    return None if before == after else FactChangeData(before, after)


def _is_worse(before: Said | None, after: Said | None, *, expected: bool) -> bool:
    """Return True if an established property no longer is established, or an open one is refuted.

    A specification that is ``expected`` to fail should fail, and each way to hold refutes it.
    """
    if expected:
        return (before == "fails" and after != "fails") or (
            before == "unknown" and after in ("holds", OF_NOTHING)
        )
    return (before == "holds" and after != "holds") or (
        before in ("unknown", OF_NOTHING) and after == "fails"
    )
