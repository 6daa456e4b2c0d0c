"""The types of the report of a verification as JSON.

Other commands define their types in the module that writes them, and `schema` makes one schema of all. One
decision: a field that is absent from some reports is `UNSET`, and one whose value is unknown is null. The
types alone thus describe every report.
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
    """A step of a run: the call, its agent, and the facts that it adds and removes.

    `agent` is empty if there is only one, and null for an event.
    """

    call: str
    agent: str | None
    added: list[str]
    removed: list[str]

    @property
    def label(self) -> str:
        """The call with its agent, if there are several, or marked as an event."""
        if self.agent is None:
            return f"{self.call}, an event"
        return f"{self.agent}: {self.call}" if self.agent else self.call


class VerdictData(Document):
    """A verdict.

    `reason` is the reason why it is unknown; for a failing claim of the file it is the cause and the remedy.
    `scope` has sentences that restrict the verdict, which alone would state more than is established.
    `empty`: it holds vacuously; a finding about it names what never happens.

    `start` has the facts of the state in which the `trace` starts. After its last step the run is in the
    state after `loop` steps, for ever; null: no loop. `bindings` are the values of the quantified variables
    that the trace is about, and `claim` is what its last state, or the loop, shows. `evidence` is the
    complete evidence, a tree of runs that `stead-sym replay` checks. The trace is the single run through it
    that shows most. `expected`: the verdict that the file expects, if it states one.
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
        """The verdict, or `holds, of nothing` if it holds vacuously."""
        return OF_NOTHING if self.empty else self.verdict


class DerivationData(Document):
    """The derivation of the size of a sort's domain.

    `required`: all values of a finite sort; otherwise 2 * bound + constants + variables in mode theorem, and
    constants + bound + fresh in mode normal. `fresh` is the maximum number of fresh values of the sort that
    one effect draws, null in mode theorem. `spec` is the specification with the most variables of the sort.
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
    """The queries to an agent.

    `agent` is the policy or model that decided for it. `known` are the constants that it knows by name,
    besides those of rigid sorts, with their sorts.
    """

    agent: str
    contexts: Count | None
    queries: Count | None
    known: dict[str, str]


class FindingData(Document):
    """A way in which a verdict is weaker than it seems.

    `place` is file:line:column, `spec` the specification that it is about.
    """

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
    """The bound of an unbounded sort, and its exact maximum number of active values.

    The maximum is over the reachable states, and the constants are not counted.
    """

    bound: Count
    most: Count


class WidenedData(Document):
    """A canonical decision context in which the selected calls represent more.

    Its automorphisms exchange symmetric values, which makes all `possible` calls of the selected ones.
    `remedy` would distinguish them.
    """

    agent: str
    facts: list[str]
    offered: list[str]
    selected: list[str]
    possible: list[str]
    alike: list[str]
    remedy: str


class HypothesesData(Document):
    """The hypotheses of the verdicts."""

    all: list[HypothesisData]
    activity: dict[str, ActivityData]
    widened: list[WidenedData]


class TakenData(Weighed, kw_only=True):
    """The calls that an agent selects in a canonical decision context; `model` identifies a model."""

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

    `digest` is the digest of the deployment's text without its specifications. `agents` has the queries to
    each agent, by its name, which is empty if there is only one. Of the `initial` states there are a few of
    each isomorphism class in mode normal. `states` counts the reachable states, exactly; null if a violated
    claim ended the exploration. `transitions` counts pairs of states, null if they were not counted.
    `contexts` counts the distinct canonical decision contexts, null if the agent is never shown one.
    `queries` counts answers of the base agent, null if there is none.

    `broken` is the claim of the file, among `specs`, that a run violates: it ended the exploration.
    `accepted` are findings that a comment of the file accepts. `unexamined` is the number of subformulas of
    long specifications that were not checked for vacuity. `decisions` come in the order in which their
    contexts were met. The names in `statistics`, the cost of the verification, depend on the engine.

    `gates` are the gates in force, if any. Each has the number of calls of agents that the reachable states
    enable without gates, and the number of these that it allows. Both are null if findings, and so these
    numbers, were not computed. `calls` is how agents call, such as `batch 2`, if not as in the file.
    `databases` counts the databases of the reachable states, if there are fewer: the past is kept.
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
    calls: str | UnsetType = UNSET
    databases: Positive | UnsetType = UNSET


class ProgressData(Document):
    """The progress of a run that a limit, a signal or a crash has ended."""

    phase: str
    counts: dict[str, Count]


class ErrorReport(Document):
    """The report of a run that ended in an error.

    `error` is the line on stderr, which follows the stack trace if it is a bug (exit status 4). If a run
    leads to the error, it has `start` and `trace`. If the run was ended from outside, `specs` has the
    verdicts established before, unknown for the others. `findings` then has those on the text: those over the
    reachable states, and the hypotheses, are not known.
    """

    error: str
    trace: list[TraceStepData]
    start: list[str] | UnsetType = UNSET
    progress: ProgressData | UnsetType = UNSET
    specs: dict[str, VerdictData] | UnsetType = UNSET
    findings: list[FindingData] | UnsetType = UNSET
