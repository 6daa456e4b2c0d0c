"""Reports as JSON: what `stead-sym verify --json` prints, described by `report.schema.json` next to this.

One decision: a report is complete. Whatever the terminal shows is in it, numbers are exact, and a
trace is the steps in the deployment's own identifiers with the facts that each of them changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from itertools import zip_longest
from types import MappingProxyType

from stead_sym.agents.records.answer import Answer
from stead_sym.agents.records.weight import weight_data
from stead_sym.deployment.restriction import Restriction
from stead_sym.deployment.tool import Call
from stead_sym.deployment.trace import Trace
from stead_sym.errors import DefinitionError, SteadError
from stead_sym.evidence.data import Json, evidence_data, text_digest
from stead_sym.evidence.moves import Moves
from stead_sym.relational.instance import Fact
from stead_sym.verification.findings.finding import AcceptedFinding, Finding
from stead_sym.verification.hypotheses import Hypotheses
from stead_sym.verification.result import Verification
from stead_sym.verification.verdict import Verdict

_NONE: Mapping[str, int] = MappingProxyType({})


def report_data(result: Verification) -> dict[str, Json]:
    """The report of a verification."""
    return {
        "deployment": result.deployment.name,
        "digest": text_digest(result.deployment),
        "agent": result.agent,
        "agents": {
            name: {
                "agent": run.agent,
                "contexts": run.contexts,
                "queries": run.queries,
                "known": dict(run.known),
            }
            for name, run in result.agents.items()
        },
        "engine": result.options.engine,
        "mode": result.mode,
        "domain": dict(result.domain),
        "derivation": derivation_data(result.restriction),
        "initial": result.initial,
        "states": result.states,
        "transitions": result.transitions,
        "contexts": result.contexts,
        "queries": result.queries,
        "broken": None if result.broken is None else result.broken.claim,
        "seconds": result.seconds,
        "specs": {name: verdict_data(verdict, result.moves) for name, verdict in result.verdicts.items()},
        "findings": findings_data(result.findings),
        "accepted": accepted_data(result.accepted),
        "unexamined": result.unexamined,
        "hypotheses": hypotheses_data(result.hypotheses),
        "decisions": [
            {
                "agent": name,
                "facts": _texts(context.view),
                "offered": _texts(context.calls),
                "selected": _texts(selected),
                **_record(answer),
            }
            for name, run in result.agents.items()
            for (context, selected), answer in zip_longest(run.decisions, run.answers)
        ],
        "statistics": dict(result.statistics),
    }


def findings_data(findings: Iterable[Finding]) -> list[Json]:
    """What makes a verdict say less than it seems to."""
    return [_finding_data(finding) for finding in findings]


def _finding_data(finding: Finding) -> dict[str, Json]:
    return {
        "kind": finding.kind,
        "place": None if finding.place is None else str(finding.place),
        "text": finding.text,
        "remedy": finding.remedy,
        "spec": finding.spec,
    }


def accepted_data(accepted: Iterable[AcceptedFinding]) -> list[Json]:
    """The findings that a comment of the file accepts, each with the reason that it gives."""
    return [{**_finding_data(one.finding), "reason": one.reason} for one in accepted]


def hypotheses_data(hypotheses: Hypotheses) -> dict[str, Json]:
    """What the verdicts rest on."""
    return {
        "all": [{"name": h.name, "status": h.status, "how": h.how} for h in hypotheses.all],
        "activity": {
            sort: {"bound": activity.bound, "most": activity.most}
            for sort, activity in hypotheses.activity.items()
        },
        "widened": [
            {
                "agent": widened.agent,
                "facts": _texts(widened.context.view),
                "offered": _texts(widened.context.calls),
                "selected": _texts(widened.selected),
                "possible": _texts(widened.possible),
                "alike": [*widened.alike],
                "remedy": widened.remedy,
            }
            for widened in hypotheses.widened
        ],
    }


def derivation_data(restriction: Restriction) -> dict[str, Json]:
    """Where the size of every sort's domain comes from."""
    return {
        d.sort: {
            "size": d.size,
            "required": d.required,
            "bound": d.bound,
            "constants": d.constants,
            "variables": d.variables,
            "fresh": d.fresh,
            "spec": d.spec,
            "finite": d.finite,
        }
        for d in restriction.derivation.values()
    }


def error_data(
    error: SteadError,
    phase: str = "",
    counts: Mapping[str, int] = _NONE,
    specs: Mapping[str, Json] | None = None,
    findings: Sequence[Json] = (),
) -> dict[str, Json]:
    """The report of a run that ended in an error: its line, and the run that leads to it if it has one.

    Of a run that was ended before it had answered everything, ``phase`` and ``counts`` are how far it had
    come, ``specs`` the verdicts as `verdict_data` has them, `unknown` where there is none yet,
    and ``findings`` those that are there before anything is explored.
    """
    trace = error.trace if isinstance(error, DefinitionError) else None
    reached: dict[str, Json] = {"progress": {"phase": phase, "counts": dict(counts)}} if phase else {}
    run: dict[str, Json] = run_data(trace) if trace else {"trace": []}
    known: dict[str, Json] = {"specs": dict(specs), "findings": [*findings]} if specs else {}
    return {"error": str(error), **run, **reached, **known}


def run_data(trace: Trace) -> dict[str, Json]:
    """A run from the state in which it starts."""
    return {"start": _texts(trace.start), "trace": _steps(trace)}


def bug_data(error: Exception) -> dict[str, Json]:
    """The report of a run that ended in an exception that nothing expected."""
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return {"error": f"a bug in stead-sym: {what}; please report it with the trace on stderr", "trace": []}


def report_schema() -> dict[str, Json]:
    """The JSON Schema of both."""
    text = files("stead_sym.report").joinpath("report.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Json] = json.loads(text)
    return schema


def _record(answer: Answer | None) -> dict[str, Json]:
    """What is known of a decision that a language model took."""
    if answer is None:
        return {}
    return {
        "key": answer.key,
        **weight_data(answer),
        "model": dict(answer.model),
        "prompt": [{"role": message.role, "content": message.content} for message in answer.prompt],
    }


def verdict_data(verdict: Verdict, moves: Moves | None) -> dict[str, Json]:
    """One verdict with its evidence, of which ``moves`` tells who could have done otherwise."""
    trace = verdict.trace
    return {
        "verdict": verdict.word,
        "formula": str(verdict.formula),
        "reason": verdict.reason,
        "scope": list(verdict.scope),
        "empty": verdict.empty,
        "start": _texts(trace.start) if trace else [],
        "trace": _steps(trace),
        "loop": trace.loop if trace else None,
        "bindings": dict(trace.bindings) if trace else {},
        "claim": trace.claim if trace else "",
        "evidence": evidence_data(verdict.spec, str(verdict.formula), verdict.evidence, moves)
        if verdict.evidence and moves
        else None,
    }


def _steps(trace: Trace | None) -> list[Json]:
    if trace is None:
        return []
    steps: list[Json] = []
    for index, step in enumerate(trace.steps):
        added, removed = trace.changes(index)
        steps.append(
            {
                "call": str(step.call),
                "agent": step.actor,
                "added": [*map(str, added)],
                "removed": [*map(str, removed)],
            }
        )
    return steps


def _texts(items: Iterable[Fact] | Iterable[Call]) -> list[Json]:
    return [*map(str, sorted(items))]
