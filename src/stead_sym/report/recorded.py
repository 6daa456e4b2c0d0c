"""A report of `verify --json` read back, as far as reports are compared.

One decision: what is read is checked where it is read, and what is not read is not looked at, so that reports
of other versions can be compared. A report of an error or of an interrupted run is a report too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec import Struct, ValidationError, convert
from msgspec import field as renamed

from stead_sym.errors import InputError
from stead_sym.verification.verdict import OF_NOTHING, Said, Word

COUNTS = ("initial", "states", "transitions", "contexts", "queries")


class RecordedStep(Struct, frozen=True):
    """One step of a run, as text; ``agent`` None: an event."""

    call: str
    agent: str | None = None
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The call with who makes it, where that is not plain."""
        if self.agent is None:
            return f"{self.call}, an event"
        return f"{self.agent}: {self.call}" if self.agent else self.call


class RecordedVerdict(Struct, frozen=True):
    """One verdict with its formula, its scope, and the run that shows it: the facts with which the run
    starts, its steps, and after how many of them the loop begins, if there is one."""

    verdict: Word
    formula: str
    reason: str | None = None
    scope: tuple[str, ...] = ()
    empty: bool = False
    start: tuple[str, ...] = ()
    steps: tuple[RecordedStep, ...] = renamed(name="trace", default=())
    loop: int | None = None

    @property
    def word(self) -> Said:
        """The verdict as it is said."""
        return OF_NOTHING if self.empty else self.verdict


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


class RecordedFinding(Struct, frozen=True):
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
    deployment: str | None
    agents: Mapping[str, str]
    domain: Mapping[str, int]
    active: Mapping[str, str]
    sorts: frozenset[str]
    counts: Mapping[str, int]
    specs: Mapping[str, RecordedVerdict]
    choices: Mapping[Context, Choice] = field(default_factory=dict)
    hypotheses: Mapping[str, str] = field(default_factory=dict)
    findings: frozenset[RecordedFinding] = frozenset()

    @property
    def least_margin(self) -> str | None:
        """The least margin of a decision, as text; None where no decision has one."""
        margins = [choice.margin for choice in self.choices.values() if choice.margin is not None]
        return f"{min(margins):.4g}" if margins else None

    def word(self, spec: str) -> Said | None:
        """What is said of a specification; `unknown` where the run has ended before it had a verdict, None
        where it was not asked for."""
        if spec in self.specs:
            return self.specs[spec].word
        return "unknown" if self.error is not None else None


def read_report(data: object, source: str) -> Recorded:
    """The report that ``data`` is; `InputError` with the place where it is none."""
    if not isinstance(data, dict) or not ("error" in data or {"specs", "decisions"} <= data.keys()):
        raise InputError(f"{source}: no report of a verification; give what `stead-sym verify --json` prints")
    try:
        report = convert({name: part for name, part in data.items() if part is not None}, _Report)
    except (ValidationError, UnicodeEncodeError) as error:  # half a surrogate pair is no text
        what = ascii(str(error))[1:-1]
        raise InputError(f"{source}: {what}; give what `stead-sym verify --json` prints") from None
    counts = ((name, getattr(report, name)) for name in COUNTS)
    return Recorded(
        source=source,
        error=report.error,
        deployment=report.deployment,
        agents={name: run.agent for name, run in report.agents.items()},
        domain=report.domain,
        active={sort: f"{a.most} of {a.bound}" for sort, a in report.hypotheses.activity.items()},
        sorts=frozenset(sort for sort, derived in report.derivation.items() if not derived.finite),
        counts={name: count for name, count in counts if count is not None},
        specs=report.specs,
        choices={
            Context(d.agent, d.facts, d.offered): Choice(d.selected, d.margin) for d in report.decisions
        },
        hypotheses={one.name: one.status for one in report.hypotheses.all},
        findings=frozenset(report.findings),
    )


class _Run(Struct):
    agent: str


class _Activity(Struct):
    most: int
    bound: int


class _Hypothesis(Struct):
    name: str
    status: str


class _Hypotheses(Struct, frozen=True):
    all: tuple[_Hypothesis, ...] = ()
    activity: dict[str, _Activity] = {}


class _Derived(Struct):
    finite: bool = False


class _Decision(Struct):
    agent: str
    facts: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()
    selected: tuple[str, ...] = ()
    margin: float | None = None


class _Report(Struct):
    """What is read of a report. One of an error has few of its parts."""

    error: str | None = None
    deployment: str | None = None
    agents: dict[str, _Run] = {}
    domain: dict[str, int] = {}
    derivation: dict[str, _Derived] = {}
    initial: int | None = None
    states: int | None = None
    transitions: int | None = None
    contexts: int | None = None
    queries: int | None = None
    specs: dict[str, RecordedVerdict] = {}
    decisions: tuple[_Decision, ...] = ()
    hypotheses: _Hypotheses = _Hypotheses()
    findings: tuple[RecordedFinding, ...] = ()
