"""The results of the iterative bound increase as a page: verdicts, obstacles, local views, runs.

One decision: a local view is shown as a small database. The views are folded, and if there are many the
smallest of them are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stead_sym.analyses.bounds import in_words
from stead_sym.analyses.deepening.result import Deepening, Found
from stead_sym.analyses.views.shown import Shown
from stead_sym.deployment.trace import as_changes
from stead_sym.relational.instance import Fact
from stead_sym.report.obstacle import call_words, changed, in_the_way, put_in, told
from stead_sym.report.page_frame import answered, page_of, section_of
from stead_sym.report.page_sections import (
    deployment_section,
    finding_of,
    hypotheses_table,
    pairs,
    table_of,
    verdict_opening,
    verdict_scope,
)
from stead_sym.support.html import Content, Html, joined, tag
from stead_sym.support.printable import plural

MOST_LISTED = 20_000
"""If there are more views none is listed: to sort them takes too long."""

MOST_VIEWS = 48
"""The maximum number of views of one set that are shown."""


def deepening_html(found: Deepening) -> str:
    """Return the page of a result."""
    words = [one.verdict.said for one in found.found.values()]
    answer = answered(words)
    worst = next((w for w in ("fails", "unknown", "holds") if w in words), "none")
    who = f"{found.agent}{found.deployment.harness}"
    header = tag(
        "header",
        tag("p", "stead-sym report", class_="eyebrow"),
        tag("h1", found.deployment.name, tag("span", f" under {who}", class_="under")),
        tag("p", f"{answer[0].upper()}{answer[1:]}.", class_=f"answer {worst}"),
        pairs(
            [
                ("asked", f"for every number of {' and '.join(_sorts(found))}"),
                ("raised", f"to {in_words(found.bounds)}, in {plural(len(found.rounds), 'step')}"),
                ("engine", f"views and bounded fragments, {found.seconds:.2f} s"),
                *([("ended early", found.stopped)] if found.stopped else []),
                *([("ended early", f"a run breaks `{found.broken}`")] if found.broken else []),
            ]
        ),
    )
    sections = [
        section_of("verdicts", "Verdicts", _verdicts(found)),
        section_of("findings", "Findings", _findings(found), count=len(found.findings)),
        section_of("way", "What stands in the way", _obstacles(found)),
        section_of("hypotheses", "What the verdicts rest on", _hypotheses(found)),
        section_of("views", "Views", _views(found)),
        section_of("evidence", "Evidence", _runs(found)),
        section_of("bounds", "Bounds", _rounds(found)),
        section_of("deployment", "The deployment", deployment_section(found.deployment)),
    ]
    return page_of(f"{found.deployment.name} under {who}: {answer}", header, sections)


def _sorts(found: Deepening) -> list[str]:
    open_sorts = found.deployment.unbounded or found.deployment.bounds
    return [sort for sort in found.deployment.bounds if sort in open_sorts]


def _verdicts(found: Deepening) -> Html:
    return tag(
        "ol",
        (
            tag("li", _verdict(number, one), class_=f"verdict {one.verdict.word}")
            for number, one in enumerate(found.found.values())
        ),
        class_="verdicts",
    )


def _verdict(number: int, one: Found) -> Html:
    verdict = one.verdict
    return joined(
        verdict_opening(verdict, verdict.spec),
        verdict_scope(verdict),
        tag("p", tag("a", "what stands in the way", href=f"#way-{number}")) if one.obstacle else None,
        tag("p", tag("a", "the run that shows it", href=f"#run-{number}")) if _has_run(one) else None,
    )


def _findings(found: Deepening) -> Iterator[Html]:
    yield tag("p", "What makes a verdict say less than it seems to, each with what to do about it.")
    if found.findings:
        items = (tag("li", finding_of(one, one.spec)) for one in found.findings)
        yield tag("ul", items, class_="findings")
    else:
        yield tag("p", "None.", class_="none")


def _has_run(one: Found) -> bool:
    return one.decided and one.verdict.trace is not None


def _obstacles(found: Deepening) -> Iterator[Html]:
    if not any(one.obstacle for one in found.found.values()):
        yield tag("p", "Nothing that is known.", class_="none")
    for place, (name, one) in enumerate(found.found.items()):
        if one.obstacle is None:
            continue
        obstacle, beside = one.obstacle, put_in(one.obstacle.steps)
        yield tag("h3", name, id=f"way-{place}")
        yield tag("p", f"{_capital(in_the_way(obstacle))}.")
        yield database(obstacle.state)
        yield tag("p", f"{_capital(told(obstacle))}.")
        columns = ("step", *(["put in"] if any(beside) else []), "call", "facts")
        yield table_of(
            f"Steps to what stands in the way of {name}",
            columns,
            [
                (
                    str(number or ""),
                    *([_lines(facts)] if any(beside) else []),
                    tag("code", call_words(step, found.deployment)),
                    _lines(changed(step)),
                )
                for number, (step, facts) in enumerate(zip(obstacle.steps, beside, strict=True))
            ],
            stacks=True,
        )
        if one.proposed is not None:
            yield tag("p", "With this line in the file it is shown:")
            yield tag("pre", tag("code", one.proposed.line), class_="formula")


def _capital(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"


def _lines(items: Iterable[str]) -> Content:
    return [tag("div", tag("code", item)) for item in items]


def database(facts: Iterable[Fact]) -> Html:
    """Return a small database: a line for each relation that has facts."""
    rows: dict[str, list[str]] = {}
    for fact in sorted(facts):
        rows.setdefault(fact.relation, []).append(f"({', '.join(fact.args)})" if fact.args else "true")
    if not rows:
        return tag("p", "no facts", class_="none")
    return tag(
        "dl",
        (tag("div", tag("dt", name), tag("dd", " ".join(own))) for name, own in rows.items()),
        class_="database",
    )


def _shown(found: Deepening) -> dict[Shown, list[str]]:
    """Return the proofs for every number of records, each with the specifications it shows."""
    result: dict[Shown, list[str]] = {}
    for name, one in found.found.items():
        if one.every_number is not None:
            result.setdefault(one.every_number, []).append(name)
    return result


def _hypotheses(found: Deepening) -> Iterator[Html]:
    yield tag(
        "p",
        "That no step leads from a database all of whose parts on k records are views to one that has another"
        " part was checked on all such databases over as many records as decide a step, so that nothing"
        " depends on how many there are. No verdict of this page needs what is not established here.",
    )
    yield from hypotheses_table(found.hypotheses)


def _views(found: Deepening) -> Iterator[Html]:
    shown = [(one, names) for one, names in _shown(found).items() if one.proof is not None]
    if not shown:
        yield tag("p", "None that show a specification.", class_="none")
    for one, names in shown:
        assert one.proof is not None
        if one.views > MOST_LISTED:
            said = f"{one.k}-views that show {' and '.join(names)}: {one.views:,}, too many for a list"
            yield tag("p", said, class_="none")
            continue
        views = sorted(one.proof.views, key=lambda view: (len(view), sorted(view)))
        few = f", the smallest {MOST_VIEWS} of them" if len(views) > MOST_VIEWS else ""
        yield tag(
            "details",
            tag(
                "summary",
                f"{one.k}-views that show {' and '.join(names)}",
                tag("span", f" {len(views):,}{few}", class_="count"),
            ),
            tag("ul", (tag("li", database(view)) for view in views[:MOST_VIEWS]), class_="views"),
        )


def _runs(found: Deepening) -> Iterator[Html]:
    if not any(map(_has_run, found.found.values())):
        yield tag("p", "No verdict has a run to show.", class_="none")
    for place, one in enumerate(found.found.values()):
        trace = one.verdict.trace
        if trace is None or not _has_run(one):
            continue
        yield tag("h3", f"{one.verdict.spec} ", one.verdict.said, id=f"run-{place}")
        if trace.of_many:
            yield tag("p", f"from {trace.start}")
        schema = trace.start.schema
        changes = [as_changes(schema, *trace.changes(index)) for index in range(len(trace.steps))]
        yield table_of(
            f"The run of {one.verdict.spec}",
            ("step", "call", "facts"),
            [
                (str(number), tag("code", step.label), _lines(map(str, own)))
                for number, (step, own) in enumerate(zip(trace.steps, changes, strict=True), 1)
            ],
            stacks=True,
        )
        for label, text in trace.remarks:
            yield tag("p", f"{label}: {text}", class_="quiet")


def _rounds(found: Deepening) -> Iterator[Html]:
    yield tag(
        "p",
        "Beside views the bounds were raised step by step, so that what fails is found with a run.",
    )
    yield table_of(
        "How far bounds were raised",
        ("bounds", "states", "exceeded by some run"),
        [(in_words(one.bounds), f"{one.states:,}", ", ".join(one.growing) or "none") for one in found.rounds],
    )
