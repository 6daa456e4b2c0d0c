"""A report of `verify --json` read back, as far as reports are compared.

One decision: a report is read by the type that writes it, and one of another version, which has other parts,
is refused. A report of an error or of an interrupted run is a report too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from msgspec import UNSET, ValidationError, convert

from stead_sym.errors import InputError
from stead_sym.report.document import ErrorReport, FindingData, Report, VerdictData
from stead_sym.verification.verdict import Said

COUNTS = ("initial", "states", "transitions", "contexts", "queries")


@dataclass(frozen=True, slots=True)
class Context:
    """A canonical decision context of one agent, as text."""

    agent: str
    facts: tuple[str, ...]
    offered: tuple[str, ...]

    def __str__(self) -> str:
        facts = f"{{ {', '.join(self.facts)} }}" if self.facts else "{ }"
        who = f"{self.agent} in " if self.agent else ""
        return f"{who}{facts} offering {', '.join(self.offered)}"


@dataclass(frozen=True, slots=True)
class Choice:
    """What an agent selected in a context; ``margin`` is that of a language model's decision, if it has
    one."""

    selected: tuple[str, ...]
    margin: float | None = None


@dataclass(frozen=True, slots=True)
class RecordedFinding:
    """A finding without its place, which moves with the lines of a file."""

    kind: str
    text: str
    spec: str | None = None

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


@dataclass(frozen=True)
class Recorded:
    """One report. ``error`` is the line of a run that ended in one, ``specs`` are the verdicts that it has.

    ``sorts`` are the unbounded sorts, whose values outside C have names like `case3`. ``active`` has the
    bound and the most active values of each sort, as text.
    """

    source: str
    error: str | None
    specs: Mapping[str, VerdictData]
    findings: frozenset[RecordedFinding]
    deployment: str | None = None
    agents: Mapping[str, str] = field(default_factory=dict)
    domain: Mapping[str, int] = field(default_factory=dict)
    active: Mapping[str, str] = field(default_factory=dict)
    sorts: frozenset[str] = frozenset()
    counts: Mapping[str, int] = field(default_factory=dict)
    choices: Mapping[Context, Choice] = field(default_factory=dict)
    hypotheses: Mapping[str, str] = field(default_factory=dict)

    @property
    def least_margin(self) -> str | None:
        """The least margin of a decision, as text; None where no decision has one."""
        margins = [choice.margin for choice in self.choices.values() if choice.margin is not None]
        return f"{min(margins):.4g}" if margins else None

    def word(self, spec: str) -> Said | None:
        """What is said of a specification; `unknown` where the run has ended before it had a verdict, None
        where it was not asked for."""
        if spec in self.specs:
            return self.specs[spec].said
        return "unknown" if self.error is not None else None


def read_report(data: object, source: str) -> Recorded:
    """The report that ``data`` is; `InputError` with the place where it is none or of another version."""
    if not isinstance(data, dict) or not ("error" in data or {"specs", "decisions"} <= data.keys()):
        raise InputError(f"{source}: no report of a verification; give what `stead-sym verify --json` prints")
    try:
        return _of_error(data, source) if "error" in data else _of_verification(data, source)
    except (ValidationError, UnicodeEncodeError) as error:
        what = ascii(str(error))[1:-1]
        raise InputError(
            f"{source}: {what}; give what `stead-sym verify --json` prints in this version"
        ) from None


def _of_error(data: object, source: str) -> Recorded:
    report = convert(data, ErrorReport)
    return Recorded(
        source=source,
        error=report.error,
        specs=report.specs or {},
        findings=_findings(report.findings or []),
    )


def _of_verification(data: object, source: str) -> Recorded:
    report = convert(data, Report)
    counts = ((name, getattr(report, name)) for name in COUNTS)
    return Recorded(
        source=source,
        error=None,
        specs=report.specs,
        findings=_findings(report.findings),
        deployment=report.deployment,
        agents={name: asked.agent for name, asked in report.agents.items()},
        domain=report.domain,
        active={sort: f"{a.most} of {a.bound}" for sort, a in report.hypotheses.activity.items()},
        sorts=frozenset(sort for sort, derived in report.derivation.items() if not derived.finite),
        counts={name: count for name, count in counts if count is not None},
        choices={
            Context(d.agent, tuple(d.facts), tuple(d.offered)): Choice(
                tuple(d.selected), None if d.margin is UNSET else d.margin
            )
            for d in report.decisions
        },
        hypotheses={one.name: one.status for one in report.hypotheses.all},
    )


def _findings(findings: Iterable[FindingData]) -> frozenset[RecordedFinding]:
    return frozenset(RecordedFinding(one.kind, one.text, one.spec) for one in findings)
