"""The sections of a report, from the verdicts to the text that was verified, and the numbers behind them.

One decision: each section states its purpose in one sentence, for readers without knowledge of the theory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from stead_sym.deployment.deployment import Deployment, print_deployment
from stead_sym.deployment.restriction import Derivation
from stead_sym.evidence.data import text_digest
from stead_sym.report.page_evidence import evidence_of, title_of
from stead_sym.report.terminal import nothing_checked
from stead_sym.report.verdicts import MARKS, shown_by
from stead_sym.support.html import Content, Html, joined, tag
from stead_sym.support.printable import plural
from stead_sym.verification.findings.finding import Finding
from stead_sym.verification.findings.gates import under_gates
from stead_sym.verification.hypotheses import Hypotheses, Hypothesis
from stead_sym.verification.result import Verification
from stead_sym.verification.verdict import OF_NOTHING, Verdict, expectation

_MEANING = {
    "holds": "true of the deployment itself, with as many records as ever come in: no run refutes it",
    OF_NOTHING: "true only because what it speaks of never happens{gates}: a finding says what",
    "fails": "not true: a run of the deployment shows that, step by step",
    "unknown": "not answered: the reason stands with it; what was found so far is no answer",
}


def verdicts_section(result: Verification) -> Iterator[Html]:
    """Yield the verdicts, with a legend of the words used."""
    if not result.verdicts:
        yield tag("p", nothing_checked(result))
        return
    yield tag(
        "ol",
        (
            tag("li", _verdict(result, number, verdict), class_=f"verdict {_class(verdict)}")
            for number, verdict in enumerate(result.verdicts.values(), 1)
        ),
        class_="verdicts",
    )
    words = [word for word in _MEANING if word in {verdict.said for verdict in result.verdicts.values()}]
    gates = under_gates(result.deployment)
    meanings = ((word, _MEANING[word].format(gates=gates)) for word in words)
    yield tag("dl", (tag("div", tag("dt", w), tag("dd", said)) for w, said in meanings), class_="legend")


def _class(verdict: Verdict) -> str:
    return "empty" if verdict.empty else verdict.word


def verdict_opening(verdict: Verdict, title: str) -> Html:
    """Return the first part of a verdict: its mark and word, the formula, and the reason if it is unknown."""
    return joined(
        tag(
            "h3",
            tag("span", MARKS[verdict.said][0], class_="mark", aria_hidden="true"),
            f" {title} ",
            tag("span", verdict.said, class_="word"),
        ),
        tag("pre", tag("code", str(verdict.formula)), class_="formula"),
        tag("p", verdict.reason) if verdict.reason else None,
    )


def verdict_scope(verdict: Verdict) -> Html:
    """Return the expectation and the scope of a verdict."""
    said = (expectation(verdict.word, verdict.expected), *verdict.scope)
    return joined(tag("p", line, class_="scope") for line in said if line)


def _verdict(result: Verification, number: int, verdict: Verdict) -> Html:
    about = [finding for finding in result.findings if finding.spec == verdict.spec]
    shown = shown_by(replace(verdict, reason="")).removesuffix(", below")
    link = tag("a", shown, href=f"#evidence-{number}") if verdict.trace else None
    return joined(
        verdict_opening(verdict, title_of(number, verdict)),
        tag("p", "shown by ", link) if link else tag("p", shown) if shown and not verdict.reason else None,
        verdict_scope(verdict),
        tag(
            "p",
            tag("a", f"{plural(len(about), 'finding')} about it", href="#findings"),
            ", which makes the verdict say less than it seems to",
            class_="about",
        )
        if about
        else None,
    )


def findings_section(result: Verification) -> Iterator[Html]:
    """Yield the findings, the accepted ones, and the number of unexamined subformulas."""
    yield tag("p", "What makes a verdict say less than it seems to, each with what to do about it.")
    if result.findings:
        titles = {v.spec: title_of(number, v) for number, v in enumerate(result.verdicts.values(), 1)}
        items = (
            tag("li", finding_of(finding, titles.get(finding.spec or ""))) for finding in result.findings
        )
        yield tag("ul", items, class_="findings")
    else:
        yield tag("p", "None.", class_="none")
    if result.accepted:
        yield tag("p", "Accepted by a comment of the file:")
        yield tag("ul", (tag("li", str(one)) for one in result.accepted))
    if result.unexamined:
        parts = plural(result.unexamined, "subformula")
        yield tag("p", f"{parts} not tried for vacuity: a long specification is looked at in part.")


def finding_of(finding: Finding, about: str | None) -> Html:
    """Return one finding, and the specification it is about."""
    return joined(
        tag(
            "h3",
            finding.kind,
            tag("span", f" about {about}", class_="quiet") if about else None,
        ),
        tag("p", _prose(finding.text)),
        tag("p", tag("span", "What to do: ", class_="quiet"), _prose(finding.remedy)),
        tag("p", tag("code", str(finding.place)), class_="quiet") if finding.place else None,
    )


def _prose(text: str) -> Iterator[Content]:
    """Yield the parts of a sentence, those between backticks as code."""
    for number, part in enumerate(text.split("`")):
        yield tag("code", part) if number % 2 else part


def hypotheses_section(result: Verification) -> Iterator[Html]:
    """Yield the hypotheses of the verdicts, with an introduction."""
    missing = result.hypotheses.missing
    yield tag(
        "p",
        "A verdict on the finite domain that was explored is one on the deployment itself where all of these"
        " hold. None is taken on trust: ",
        "each was established while exploring, or holds by construction."
        if not missing
        else f"{plural(len(missing), 'hypothesis', 'hypotheses')} could not be established, so that the"
        " verdicts are unknown.",
    )
    yield from hypotheses_table(result.hypotheses)


def hypotheses_table(hypotheses: Hypotheses) -> Iterator[Html]:
    """Yield each hypothesis, with how it was established or why not, and the choices that were widened."""
    yield table_of(
        "Hypotheses",
        ("hypothesis", "status", "how"),
        [(h.name, _status(h), (tag("div", part) for part in h.how.split("; "))) for h in hypotheses.all],
        stacks=True,
    )
    yield tag(
        "p",
        "A value is active where some fact has it. C is the set of the constants: the values that the"
        " deployment names. A bound is how many values outside C may be active at a time.",
        class_="gloss",
    )
    if hypotheses.widened:
        yield tag("h3", "Choices among records that nothing tells apart")
        yield tag(
            "p",
            "Where the agent's call could mean any of several records alike, each of them is taken to be"
            " possible.",
        )
        yield tag("ul", (tag("li", f"{w.agent}: " if w.agent else None, str(w)) for w in hypotheses.widened))


def _status(hypothesis: Hypothesis) -> Html:
    missing = hypothesis.status == "not established"
    return tag("span", hypothesis.status, class_="status missing" if missing else "status")


def evidence_section(result: Verification) -> Iterator[Html]:
    """Yield the evidence for each verdict that has a run."""
    shown = [(k, v) for k, v in enumerate(result.verdicts.values(), 1) if v.trace is not None]
    if not shown:
        yield tag(
            "p",
            "No verdict has a run to show: what holds of all runs, no single one shows.",
            class_="none",
        )
        return
    yield tag(
        "p",
        "Each step with the facts that it adds (",
        tag("ins", "+"),
        ") and removes (",
        tag("del", "−"),
        ").",
        tag(
            "span",
            " Go through the steps with the buttons, or with the keys ",
            (joined(tag("kbd", key), " ") for key in ("←", "→", "Home", "End")),
            class_="scripted",
        ),
    )
    for number, verdict in shown:
        yield evidence_of(result, number, verdict)


def deployment_section(deployment: Deployment) -> Iterator[Html]:
    """Yield the text that was verified, and its digest."""
    text = print_deployment(deployment)
    yield tag(
        "details",
        tag("summary", "The text that was verified, normalised"),
        tag("pre", tag("code", text), class_="source", tabindex=0),
    )
    digest = tag("code", text_digest(deployment))
    yield tag("p", "Digest, without the specifications: ", digest, class_="quiet")


def domain_section(result: Verification) -> Iterator[Html]:
    """Yield the sizes of the domains, with their derivation."""
    literal = result.mode == "theorem"
    yield tag(
        "p",
        "How many values of each sort are enough to answer for unboundedly many: "
        + (
            "twice the bound, the constants, and the variables of a specification (the literal domain of the"
            " theorem)."
            if literal
            else "the constants, the bound, and the fresh values of one effect; a representative stands for"
            " every value that is not in use, which changes no verdict."
        ),
    )
    rows = [_derivation(derivation, literal) for derivation in result.restriction.derivation.values()]
    named = "variables of a specification" if literal else "fresh values of one effect"
    yield table_of("Sizes", ("sort", "size", "bound", "constants", named, "sum"), rows)


def _derivation(derived: Derivation, literal: bool) -> Sequence[Content]:
    if derived.finite:
        return derived.sort, derived.size, "–", derived.constants, "–", "finite: kept in full"
    more: Content = derived.variables if literal else derived.fresh
    if literal and derived.spec is not None:
        more = f"{derived.variables} ({derived.spec})"
    sum_ = str(derived).split(": ", 1)[1].partition(" (")[0].partition(",")[0]
    if derived.size > derived.required:
        sum_ += f"; {derived.size} are used"
    elif derived.size < derived.required:
        sum_ += f"; forced to {derived.size}, below what is needed"
    return derived.sort, derived.size, derived.bound, derived.constants, more, sum_


def statistics_section(result: Verification) -> Iterator[Html]:
    """Yield the counts of the verification and the statistics of the engine."""
    numbers = [(name.replace("_", " "), f"{value:,}") for name, value in result.statistics.items()]
    activity = [
        (f"most {sort} in use", f"{activity.most:,} of {activity.bound:,}")
        for sort, activity in result.hypotheses.activity.items()
    ]
    known = (
        ("states", result.states),
        *([] if result.databases == result.states else [("without the past", result.databases)]),
        ("transitions", result.transitions),
        ("initial states", result.initial),
    )
    counts = [(name, "not known" if number is None else f"{number:,}") for name, number in known]
    for name, run in result.agents.items():
        if run.contexts is not None:
            who = f"{name}: " if name else ""
            counts += [(f"{who}contexts", f"{run.contexts:,}"), (f"{who}queries", f"{run.queries or 0:,}")]
    yield tag("div", pairs([*counts, *activity, *numbers]), class_="numbers")


def pairs(pairs: Sequence[tuple[str, Content]]) -> Html:
    """Return a list of names with their values."""
    return tag("dl", (tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs))


def table_of(
    caption: str, columns: Sequence[str], rows: Sequence[Sequence[Content]], *, stacks: bool = False
) -> Html:
    """Return a table; the first cell of a row heads it.

    If it is too wide it scrolls sideways, or with ``stacks`` becomes a list.
    """
    return tag(
        "div",
        tag(
            "table",
            tag("caption", caption, class_="unseen"),
            tag("thead", tag("tr", (tag("th", column, scope="col") for column in columns))),
            tag(
                "tbody",
                (
                    tag("tr", tag("th", first, scope="row"), (tag("td", cell) for cell in rest))
                    for first, *rest in rows
                ),
            ),
        ),
        class_="scrolls stacks" if stacks else "scrolls",
        tabindex=0,
        role="region",
        aria_label=caption,
    )
