"""The types of the report of a verification as JSON; what other commands write has its types beside what
writes it, and `schema` makes one schema of all.

One decision: a field that is not there in every report is `UNSET`, and one of which nothing is known is null,
so that a reader who knows the type knows what to expect.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import UNSET, Meta, UnsetType

from stead_sym.deployment.parts import Expected
from stead_sym.evidence.document import Count, Document, EvidenceData, Weighed
from stead_sym.verification.findings.finding import Kind
from stead_sym.verification.verdict import OF_NOTHING, Said, Word

Positive: TypeAlias = Annotated[int, Meta(ge=1)]
Seconds: TypeAlias = Annotated[float, Meta(ge=0)]
Mode: TypeAlias = Literal["normal", "theorem"]


class TraceStepData(Document):
    """A step of a run: the call, the agent that makes it (empty where there is only one; null: an event), and
    the facts that it adds and removes."""

    call: str
    agent: str | None
    added: list[str]
    removed: list[str]

    @property
    def label(self) -> str:
        """The call with who makes it, where that is not plain."""
        if self.agent is None:
            return f"{self.call}, an event"
        return f"{self.agent}: {self.call}" if self.agent else self.call


class VerdictData(Document):
    """A verdict.

    `reason` says why it is unknown, and of a claim of the file that fails what breaks it, and what to do.
    `scope` has what a reader has to know beside the word, which alone says more than is established:
    sentences. `empty`: it holds, of nothing; a finding about it says that what it speaks of never happens.
    `start` has the facts of the state in which the `trace` starts. After its last step the run is where it
    was after `loop` steps, for ever; null: no loop. `bindings` are the values of the quantified variables
    that the trace is about, and `claim` is what its last state, or the loop, shows. `evidence` is all of the
    evidence, a tree of runs that `stead-sym replay` checks; the trace is the one run through it that shows
    most. `expected`: the verdict that the file expects, where it says so.
    """

    verdict: Word
    formula: str
    reason: str
    scope: list[str]
    empty: bool
    start: list[str]
    trace: list[TraceStepData]
    loop: Count | None
    bindings: dict[str, str]
    claim: str
    evidence: EvidenceData | None
    expected: Expected | UnsetType = UNSET

    @property
    def said(self) -> Said:
        """The verdict, or `holds, of nothing`."""
        return OF_NOTHING if self.empty else self.verdict


class DerivationData(Document):
    """Where the size of a sort's domain comes from.

    `required`: all values of a finite sort; else 2 * bound + constants + variables in mode theorem, and
    constants + bound + fresh in mode normal. `fresh` is the most fresh values of the sort that one effect
    draws, null in mode theorem; `spec` the specification with the most variables of the sort.
    """

    size: Count
    required: Count
    bound: Count
    constants: Count
    variables: Count
    fresh: Count | None
    spec: str | None
    finite: bool


class AskedData(Document):
    """What an agent was asked; `agent` is the policy or model that decided for it, `known` are the constants
    that it knows by name, besides those of rigid sorts, with their sorts."""

    agent: str
    contexts: Count | None
    queries: Count | None
    known: dict[str, str]


class FindingData(Document):
    """What makes a verdict say less than it seems to; `place` is file:line:column, `spec` the specification
    that it is about."""

    kind: Kind
    place: str | None
    text: str
    remedy: str
    spec: str | None


class AcceptedData(FindingData):
    """A finding that a comment of the file accepts, with its reason."""

    reason: str


class HypothesisData(Document):
    """A hypothesis of the verdicts, and how it was established."""

    name: str
    status: Literal["established", "by construction", "not established"]
    how: str


class ActivityData(Document):
    """The bound of an unbounded sort, and the most values outside the constants that are active in a
    reachable state, exactly."""

    bound: Count
    most: Count


class WidenedData(Document):
    """A canonical decision context in which the calls selected stand for more: its automorphisms make all
    possible ones of them by exchanging values that are alike. `remedy` would tell them apart."""

    agent: str
    facts: list[str]
    offered: list[str]
    selected: list[str]
    possible: list[str]
    alike: list[str]
    remedy: str


class HypothesesData(Document):
    """What the verdicts rest on."""

    all: list[HypothesisData]
    activity: dict[str, ActivityData]
    widened: list[WidenedData]


class TakenData(Weighed, kw_only=True):
    """What an agent selects in a canonical decision context; `model` is what identifies a model."""

    agent: str
    facts: list[str]
    offered: list[str]
    selected: list[str]
    model: dict[str, str] | UnsetType = UNSET


class GateData(Document):
    """A gate in force."""

    gate: str
    enabled: Count | None = None
    allowed: Count | None = None


class Report(Document):
    """The report of a verification.

    `digest` is that of the text of the deployment without its specifications. `agents` has what each agent
    was asked, by its name, empty where there is only one. Of the `initial` states there are a few of each
    isomorphism class in mode normal. `states` counts the reachable states, exactly, null where a broken claim
    ended the exploration; `transitions` pairs of states, null where they were not counted; `contexts` the
    distinct canonical decision contexts, null where the agent is never shown one; `queries` answers of the
    base agent, null where there is none. `broken` is the claim of the file, among `specs`, that a run breaks:
    it ended the exploration. `accepted` are findings that a comment of the file accepts. Of a long
    specification so many subformulas were `unexamined` for vacuity. `decisions` come in the order in which
    their contexts were met. The names in `statistics`, what the answer took, depend on the engine.
    `gates` are those that the agents were behind, where there were any, with how many calls of agents the
    reachable states enable without gates, and how many of these the gate allows; null where findings, and so
    these numbers, were not looked for.
    """

    deployment: str
    digest: str
    agent: str
    agents: dict[str, AskedData]
    engine: Literal["symbolic", "explicit"]
    mode: Mode
    domain: dict[str, Count]
    derivation: dict[str, DerivationData]
    initial: Positive | None
    states: Positive | None
    transitions: Count | None
    contexts: Count | None
    queries: Count | None
    broken: str | None
    seconds: Seconds
    specs: dict[str, VerdictData]
    findings: list[FindingData]
    accepted: list[AcceptedData]
    unexamined: Count
    hypotheses: HypothesesData
    decisions: list[TakenData]
    statistics: dict[str, int]
    gates: list[GateData] | UnsetType = UNSET


class ProgressData(Document):
    """How far a run had come that a limit, a signal or a crash has ended."""

    phase: str
    counts: dict[str, Count]


class ErrorReport(Document):
    """The report of a run that ended in an error.

    `error` is the line that stands on stderr, after the stack trace where it is a bug (exit status 4). A run
    that leads to the error has `start` and `trace`. Of a run that was ended from outside `specs` has the
    verdicts established before, unknown for the others, and `findings` those on the text: those over the
    reachable states, and the hypotheses, are not known.
    """

    error: str
    trace: list[TraceStepData]
    start: list[str] | UnsetType = UNSET
    progress: ProgressData | UnsetType = UNSET
    specs: dict[str, VerdictData] | UnsetType = UNSET
    findings: list[FindingData] | UnsetType = UNSET
