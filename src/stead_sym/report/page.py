"""A verification as one HTML file that needs no network: `write_report`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from stead_sym.analyses.deepening.result import Deepening
from stead_sym.report.domains import domain_text
from stead_sym.report.graphs import MOST_LOOKED_AT, decision_graph
from stead_sym.report.page_decisions import Budget, decisions_of
from stead_sym.report.page_deepening import deepening_html
from stead_sym.report.page_frame import MARKER, WORST_FIRST, answered, page_of, section_of
from stead_sym.report.page_sections import (
    deployment_section,
    domain_section,
    evidence_section,
    findings_section,
    hypotheses_section,
    pairs,
    statistics_section,
    verdicts_section,
)
from stead_sym.report.partial import KnownVerdict
from stead_sym.report.streams import prepare_file, write_file
from stead_sym.report.terminal import reached
from stead_sym.support.html import Html, tag
from stead_sym.support.printable import plural
from stead_sym.verification.result import Verification
from stead_sym.verification.verdict import OF_NOTHING, verdict_line


def report_html(result: Verification | Deepening) -> str:
    """Return the page of a result."""
    if isinstance(result, Deepening):
        return deepening_html(result)
    result = result.with_contexts(MOST_LOOKED_AT)
    budget = Budget()
    decisions = [
        decisions_of(result, k, name, decision_graph(result, name), budget)
        for k, name in enumerate(result.agents)
    ]
    sections = [
        section_of("verdicts", "Verdicts", verdicts_section(result)),
        section_of("findings", "Findings", findings_section(result), count=len(result.findings)),
        section_of("hypotheses", "What the verdicts rest on", hypotheses_section(result)),
        section_of("evidence", "Evidence", evidence_section(result)),
        section_of("decisions", "Decisions", decisions, count=len(result.decisions)),
        section_of("domain", "Sizes of the domains", domain_section(result)),
        section_of("statistics", "Statistics", statistics_section(result)),
        section_of("deployment", "The deployment", deployment_section(result.deployment)),
    ]
    title = f"{result.deployment.name} under {result.agent}: {_answer(result)}"
    return page_of(title, _header(result), sections)


def stopped_html(source: str, why: str, verdicts: Sequence[KnownVerdict]) -> str:
    """Return the page of a run that ended early, for the reason ``why``, with its ``verdicts`` so far."""
    rows = (
        tag(
            "li",
            tag("p", verdict_line(known.spec, known.word, known.remarks)),
            tag("pre", Text.from_ansi(known.evidence).plain) if known.evidence else None,
            class_=f"verdict {known.word}",
        )
        for known in verdicts
    )
    header = tag(
        "header",
        tag("p", "stead-sym report", class_="eyebrow"),
        tag("h1", source),
        tag("p", f"The run has ended before its report: {why}.", class_="answer unknown"),
    )
    section = section_of("verdicts", "What was known by then", tag("ol", rows, class_="verdicts"))
    return page_of(f"{source}: ended early", header, [section])


def prepare_report(path: Path) -> None:
    """Raise `InputError` if a report cannot be written to a path, before there is one.

    This is so if the folder does not exist, and if the path has a file that is no report.
    """
    prepare_file(path, MARKER, "report")


def write_report(result: Verification | Deepening, path: str | Path) -> Path:
    """Write the report to a file, and return its path. Only an earlier report is overwritten.

    Raises `InputError` if the file is something else, and if it cannot be written.
    """
    path = Path(path)
    prepare_report(path)
    write_file(path, report_html(result))
    return path


def write_stopped(source: str, why: str, verdicts: Sequence[KnownVerdict], path: str | Path) -> None:
    """Write `stopped_html` to a file, as `write_report` does.

    Otherwise the report of an earlier run would be taken for that of this one.
    """
    path = Path(path)
    prepare_report(path)
    write_file(path, stopped_html(source, why, verdicts))


def _answer(result: Verification) -> str:
    """Return the verdicts in one sentence."""
    claims = [verdict for verdict in result.verdicts.values() if verdict.claim]
    if claims:
        others = [verdict.said for verdict in result.verdicts.values() if not verdict.claim]
        said = f"{claims[0].spec} {claims[0].word if claims[0].holds is False else 'is unknown'}"
        return f"{said}; {answered(others)}" if others else said
    return answered([verdict.said for verdict in result.verdicts.values()])


def _header(result: Verification) -> Html:
    counts = reached(result)
    asked = "nobody was asked: whatever is offered may happen" if result.is_any else "contexts not counted"
    if result.contexts is not None and result.queries is not None:
        asked = (
            f"{plural(result.contexts, 'context')} shown, {plural(result.queries, 'query', 'queries')} asked"
        )
    who = f"{'any agent' if result.is_any else result.agent}{result.deployment.harness}"
    answer = _answer(result)
    worst = next((w for w in WORST_FIRST if w in {v.said for v in result.verdicts.values()}), "none")
    return tag(
        "header",
        tag("p", "stead-sym report", class_="eyebrow"),
        tag("h1", result.deployment.name, tag("span", f" under {who}", class_="under")),
        tag(
            "p",
            f"{answer[0].upper()}{answer[1:]}.",
            class_=f"answer {'empty' if worst == OF_NOTHING else worst}",
        ),
        pairs(
            [
                ("reached", ", ".join(counts)),
                ("agent", asked),
                *(("gate", str(share)) for share in result.shares),
                ("domain", domain_text(result.restriction, result.mode)),
                ("engine", f"{result.options.engine}, {result.seconds:.2f} s"),
            ]
        ),
    )
