"""The types of the reports as JSON, of which their schema is made.

One decision: a field that is not there in every report is `UNSET`, and one of which nothing is known is null,
so that a reader who knows the type knows what to expect.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import UNSET, Meta, UnsetType
from msgspec.json import schema_components

from stead_sym.deployment.parts import Expected
from stead_sym.evidence.document import Count, Document, EvidenceData, Json, Weighed
from stead_sym.verification.findings.finding import Kind
from stead_sym.verification.verdict import OF_NOTHING, Said, Word

Positive: TypeAlias = Annotated[int, Meta(ge=1)]
Seconds: TypeAlias = Annotated[float, Meta(ge=0)]
Mode: TypeAlias = Literal["normal", "theorem"]


# a verification


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
    `gates` are those that the agents were behind, where there were any.
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
    gates: list[str] | UnsetType = UNSET


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


# the difference of two reports


class ComparedData(Document):
    """One of two reports: its file, and the error in which the run ended."""

    source: str
    deployment: str | None
    error: str | None


class PartingData(Document):
    """Where two counterexamples part: the number of the step, from 1 (0: at their first databases), and the
    steps taken there (null: the run has ended)."""

    step: Count
    before: str | None
    after: str | None


class VerdictChangeData(Document):
    """A specification of either report. `reason` says why the verdict after is unknown, `scope` is that of
    the verdict after, where it is another than before. `reworded`: the formula is another. `run` has the
    steps of the counterexample after; `parting` is null where the counterexamples are the same but for names,
    or there are not two."""

    before: Said | None
    after: Said | None
    worse: bool
    reason: str
    scope: list[str] | None
    reworded: bool
    run: list[str]
    parting: PartingData | None


class FactChangeData(Document):
    """A count, an agent, a size, a bound or a hypothesis that changed, as text; null: there was none."""

    before: str | None
    after: str | None


class ChoiceData(Document):
    """What is selected, and its margin if it has one."""

    selected: list[str]
    margin: float | None


class DecisionChangeData(Document):
    """A context in which something else is selected."""

    agent: str
    facts: list[str]
    offered: list[str]
    before: ChoiceData
    after: ChoiceData


class ContextData(Document):
    """A context of one report only, and what is selected there."""

    agent: str
    facts: list[str]
    offered: list[str]
    selected: list[str]
    margin: float | None


class ContextsData(Document):
    """The contexts of one report only."""

    new: list[ContextData]
    gone: list[ContextData]


class ComparedFinding(Document):
    """A finding without its place."""

    kind: str
    text: str
    spec: str | None


class FindingsData(Document):
    """The findings of one report only."""

    new: list[ComparedFinding]
    gone: list[ComparedFinding]


class DifferenceReport(Document):
    """What `stead-sym diff` finds; `worse`: something got worse, and the exit status is 1."""

    before: ComparedData
    after: ComparedData
    worse: bool
    verdicts: dict[str, VerdictChangeData]
    facts: dict[str, FactChangeData]
    decisions: list[DecisionChangeData]
    contexts: ContextsData
    findings: FindingsData


# least bounds, and what raising bounds finds


class BoundData(Document):
    """A bound: as the file has it (null: it has no line), the least one, established (null: not found), and
    so many as were `seen` in some reachable state. `chosen`: `initially any` admits as many as it allows."""

    written: Count | None
    least: Count | None
    seen: Count
    chosen: bool


class OutgrownData(Document):
    """The sort that has more values than the limit, with a run to them and the tools that bring them in."""

    sort: str
    sources: dict[str, Count]
    start: list[str]
    trace: list[TraceStepData]


class BoundsReport(Document):
    """The least bounds of a deployment. `states` counts the reachable states, with representatives; null: not
    all were reached."""

    deployment: str
    agent: str
    limit: Count
    states: Count | None
    bounds: dict[str, BoundData]
    outgrown: OutgrownData | None


class RoundData(Document):
    """A fragment with its bounds; `unseen` are the sorts of which an `ensure` may bring in more at once than
    was looked at."""

    bounds: dict[str, Count]
    states: Count
    exceeded: list[str]
    unseen: list[str]


class ShownData(Document):
    """The bounds of the first fragment that shows that a specification is false, or true."""

    within: dict[str, Count]
    true: bool


class EveryNumberData(Document):
    """That a specification holds for every number of values of the `sorts`: by `views` parts on `k` of
    them. The claims in `left_open` are not shown with it. Unless what the agents select is `followed`, it is
    shown whatever that is."""

    k: Count
    views: Count
    sorts: list[str]
    left_open: list[str]
    followed: bool


class GrowthData(Document):
    """A run that goes round a loop and gains values each time."""

    text: str
    loop: list[str]
    enters: Count
    rounds: Count
    gained: Count
    sources: dict[str, Count]
    left: dict[str, Count]
    start: list[str]
    trace: list[TraceStepData]


class RemedyData(Document):
    """A change under which the bounds are established."""

    changes: list[str]
    bounds: list[str]
    agent: str


class DeepeningReport(Document):
    """What raising the bounds step by step has found. No bound was raised past `limit`. `established`: no run
    exceeds the last bounds. `rounds` are the fragments, with growing bounds. `stopped` is what has ended it
    early, empty: nothing."""

    deployment: str
    agent: str
    limit: Count
    seconds: Seconds
    established: bool
    rounds: list[RoundData]
    specs: dict[str, VerdictData]
    shown: dict[str, ShownData]
    every_number: dict[str, EveryNumberData]
    growth: dict[str, GrowthData]
    remedy: RemedyData | None
    stopped: str


# choices among records alike


class SeparationData(Document):
    """What would tell the possible calls apart, in how many of the states that show this."""

    relation: str
    states: Count
    of: Count


class SymmetricData(Document):
    """A context that is not action-rigid: the values that its automorphism moves, with their images; the
    offered calls that it moves; the values that automorphisms exchange, in classes; and of the possible calls
    those that are alike, in orbits."""

    agent: str
    facts: list[str]
    offered: list[str]
    automorphism: dict[str, str]
    moved: list[str]
    alike: list[list[str]]
    selected: list[str]
    possible: list[str]
    orbits: list[list[str]]
    separations: list[SeparationData]
    remedy: str


class KeptData(Document):
    """A verdict: why no choice of any kind changes it, and whether some single choice does."""

    verdict: Word
    kept: str | None
    differs: bool


class SingleChoiceData(Document):
    """A choice that was verified, in the contexts with these numbers: the call at place `rank`, from 0, of
    those alike. `holds` has the truth of the specifications, null where no run is fair."""

    contexts: list[Count]
    rank: Count
    holds: dict[str, bool | None]


class SymmetryReport(Document):
    """The contexts that are not action-rigid, numbered from 0, and what choices among records alike change.
    `states` are those of the literal domain, `met` the canonical contexts met, and `left` the single choices
    that were not tried."""

    deployment: str
    agent: str
    states: Count | None
    met: Count | None
    contexts: list[SymmetricData]
    specs: dict[str, KeptData]
    choices: list[SingleChoiceData]
    left: Count


# the plan of the symbolic engine


class RelationData(Document):
    """The facts of a relation: those that come and go, those that hold in every state, and the groups of the
    former. One fact at most holds for each choice of values in the columns `key`, from 0; null: a bit for
    each fact. `single`: no state holds two facts of the relation."""

    sorts: list[str]
    possible: Count
    static: Count
    fields: Count
    bits: Count
    key: list[Count] | None
    single: bool


class FreshData(Document):
    """A fresh value, named after that of the variable `anchor`; null: it has an unused name."""

    tool: str
    alternative: Count
    variable: str
    sort: str
    anchor: str | None
    names: dict[str, str]


class ToolData(Document):
    """A tool with its actions; `called`: the agent may call it."""

    alternatives: Count
    actions: Count
    called: bool
    event: bool


class ExplanationReport(Document):
    """The plan of the symbolic engine: domains, bits, names, actions of the tools."""

    deployment: str
    agent: str
    mode: Mode
    domain: dict[str, Count]
    derivation: dict[str, DerivationData]
    bits: Count
    actions: Count
    relations: dict[str, RelationData]
    fresh: list[FreshData]
    tools: dict[str, ToolData]


_COMMANDS = {
    "verify": Report,
    "explain": ExplanationReport,
    "bounds": BoundsReport,
    "verify --deepen": DeepeningReport,
    "symmetry": SymmetryReport,
    "diff": DifferenceReport,
}


def report_schema() -> dict[str, Json]:
    """The JSON Schema of what these commands print with `--json`, one of an error among them."""
    either, parts = schema_components([*_COMMANDS.values(), ErrorReport], ref_template="#/$defs/{name}")
    commands = ", ".join(f"`stead-sym {command} --json`" for command in _COMMANDS)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "stead-sym report",
        "description": f"What {commands} print, or the error that ended them.",
        "oneOf": [*either],
        "$defs": parts,
    }
