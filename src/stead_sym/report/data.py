"""Reports as JSON: the output of `stead-sym verify --json`, by the types of `document`.

One decision: a report is complete. It includes everything that the terminal shows, and its numbers are exact.
A trace has the steps in the deployment's own identifiers, with the facts that each of them changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from types import MappingProxyType

from msgspec import UNSET, UnsetType, convert, to_builtins

from stead_sym.agents.base import DecisionContext
from stead_sym.agents.records.answer import Answer
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.restriction import Restriction
from stead_sym.deployment.tool import Call
from stead_sym.deployment.trace import Trace
from stead_sym.errors import DefinitionError, SteadError
from stead_sym.evidence.data import evidence_document, text_digest, weighed
from stead_sym.evidence.document import Json
from stead_sym.evidence.moves import Moves
from stead_sym.relational.instance import Fact
from stead_sym.report.document import (
    AcceptedData,
    ActivityData,
    AskedData,
    DerivationData,
    ErrorReport,
    FindingData,
    GateData,
    HypothesesData,
    HypothesisData,
    ProgressData,
    Report,
    TakenData,
    TraceStepData,
    VerdictData,
    WidenedData,
)
from stead_sym.verification.findings.finding import Finding
from stead_sym.verification.findings.gates import Share
from stead_sym.verification.hypotheses import Hypotheses
from stead_sym.verification.result import Verification
from stead_sym.verification.verdict import Verdict

_NONE: Mapping[str, int] = MappingProxyType({})


def report_data(result: Verification) -> dict[str, Json]:
    """Return the report of a verification, as JSON data."""
    return Report(
        deployment=result.deployment.name,
        digest=text_digest(result.deployment),
        agent=result.agent,
        agents=convert(result.agents, dict[str, AskedData], from_attributes=True),
        engine=result.options.engine,
        mode=result.mode,
        domain=dict(result.domain),
        derivation=derivation_data(result.restriction),
        initial=result.initial,
        states=result.states,
        transitions=result.transitions,
        contexts=result.contexts,
        queries=result.queries,
        broken=None if result.broken is None else result.broken.claim,
        gates=gates_data(result.deployment, result.shares),
        calls=result.deployment.called or UNSET,
        databases=UNSET if result.databases in (None, result.states) else result.databases,
        seconds=result.seconds,
        specs={name: verdict_data(verdict, result.moves) for name, verdict in result.verdicts.items()},
        findings=findings_data(result.findings),
        accepted=[
            AcceptedData(**to_builtins(_finding_data(one.finding)), reason=one.reason)
            for one in result.accepted
        ],
        unexamined=result.unexamined,
        hypotheses=hypotheses_data(result.hypotheses),
        decisions=[
            _decision(name, context, selected, answer)
            for name, run in result.agents.items()
            for (context, selected), answer in zip_longest(run.decisions, run.answers)
        ],
        statistics=dict(result.statistics),
    ).data()


def _decision(
    agent: str, context: DecisionContext, selected: Iterable[Call], answer: Answer | None
) -> TakenData:
    return TakenData(
        agent=agent,
        facts=texts(context.view),
        offered=texts(context.calls),
        selected=texts(selected),
        model=UNSET if answer is None else dict(answer.model),
        **weighed(answer),
    )


def findings_data(findings: Iterable[Finding]) -> list[FindingData]:
    """Return the findings as data: the ways in which a verdict is weaker than it seems."""
    return [_finding_data(finding) for finding in findings]


def _finding_data(finding: Finding) -> FindingData:
    return FindingData(
        kind=finding.kind,
        place=None if finding.place is None else str(finding.place),
        text=finding.text,
        remedy=finding.remedy,
        spec=finding.spec,
    )


def gates_data(deployment: Deployment, shares: Iterable[Share] = ()) -> list[GateData] | UnsetType:
    """Return the gates in force, with the ``shares`` of calls that they allow; `UNSET` for none."""
    counted = [GateData(share.gate, share.enabled, share.allowed) for share in shares]
    return counted or [GateData(gate) for gate in deployment.gated] or UNSET


def hypotheses_data(hypotheses: Hypotheses) -> HypothesesData:
    """Return the hypotheses of the verdicts as data."""
    return HypothesesData(
        all=convert(hypotheses.all, list[HypothesisData], from_attributes=True),
        activity=convert(hypotheses.activity, dict[str, ActivityData], from_attributes=True),
        widened=[
            WidenedData(
                agent=widened.agent,
                facts=texts(widened.context.view),
                offered=texts(widened.context.calls),
                selected=texts(widened.selected),
                possible=texts(widened.possible),
                alike=[*widened.alike],
                remedy=widened.remedy,
            )
            for widened in hypotheses.widened
        ],
    )


def derivation_data(restriction: Restriction) -> dict[str, DerivationData]:
    """Return the derivation of the size of every sort's domain as data."""
    listed = {one.sort: one for one in restriction.derivation.values()}
    return convert(listed, dict[str, DerivationData], from_attributes=True)


def error_data(
    error: SteadError,
    phase: str = "",
    counts: Mapping[str, int] = _NONE,
    specs: Mapping[str, Json] | None = None,
    findings: Sequence[Json] = (),
) -> dict[str, Json]:
    """Return the report of a run that ended in an error: its line, and the run that leads to it if any.

    If the run was ended before all verdicts were established, ``phase`` and ``counts`` are its progress.
    ``specs`` are then the verdicts as in `verdict_data`, `unknown` if there is none yet, and ``findings``
    those that precede the exploration.
    """
    trace = error.trace if isinstance(error, DefinitionError) else None
    return ErrorReport(
        error=str(error),
        start=texts(trace.start) if trace else UNSET,
        trace=steps(trace),
        progress=ProgressData(phase=phase, counts=dict(counts)) if phase else UNSET,
        specs=convert(specs, dict[str, VerdictData]) if specs else UNSET,
        findings=convert(findings, list[FindingData]) if specs else UNSET,
    ).data()


def bug_data(error: Exception) -> dict[str, Json]:
    """Return the report of a run that ended in an unexpected exception."""
    what = " ".join(f"{type(error).__name__}: {error}".split())
    line = f"a bug in stead-sym: {what}; please report it with the trace on stderr"
    return ErrorReport(error=line, trace=[]).data()


def verdict_data(verdict: Verdict, moves: Moves | None) -> VerdictData:
    """Return a verdict with its evidence; ``moves`` gives the alternatives to each of its steps."""
    trace = verdict.trace
    return VerdictData(
        verdict=verdict.word,
        formula=str(verdict.formula),
        reason=verdict.reason,
        scope=[*verdict.scope],
        empty=verdict.empty,
        start=texts(trace.start) if trace else [],
        trace=steps(trace),
        loop=trace.loop if trace else None,
        bindings=dict(trace.bindings) if trace else {},
        claim=trace.claim if trace else "",
        evidence=evidence_document(verdict.spec, str(verdict.formula), verdict.evidence, moves)
        if verdict.evidence and moves
        else None,
        expected=verdict.expected or UNSET,
    )


def steps(trace: Trace | None) -> list[TraceStepData]:
    """Return the steps of a run."""
    if trace is None:
        return []
    changes = [trace.changes(index) for index in range(len(trace.steps))]
    return [
        TraceStepData(
            call=str(step.call), agent=step.actor, added=[*map(str, added)], removed=[*map(str, removed)]
        )
        for step, (added, removed) in zip(trace.steps, changes, strict=True)
    ]


def texts(items: Iterable[Fact] | Iterable[Call]) -> list[str]:
    """Return facts or calls in their order, as text."""
    return [*map(str, sorted(items))]
