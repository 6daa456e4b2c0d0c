"""A verification as one HTML file that needs no network: `write_report`.

The page is plain HTML, which a reader without scripts, a printer and a screen reader get as it is; the script
in `page.js` adds steps by keyboard and drawings that can be zoomed. One decision: nothing that stands in the
page can run. All text is escaped where it is put in (`stead_sym.html`), and the page's policy allows the one
style and the one script that came with the package, by their digests, and nothing else, no address either.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from stead_sym.deployment.printer import print_deployment
from stead_sym.deployment.restriction import Derivation
from stead_sym.errors import InputError
from stead_sym.evidence.data import text_digest
from stead_sym.findings.finding import Finding
from stead_sym.html import Content, Html, joined, tag
from stead_sym.hypotheses import Hypothesis
from stead_sym.report.decision_graph import decision_graph
from stead_sym.report.diagram import STYLE
from stead_sym.report.page_decisions import Budget, decisions_of
from stead_sym.report.page_evidence import evidence_of, title_of
from stead_sym.report.terminal import domain_text, plural, shown_by
from stead_sym.verification import Verdict, Verification

MARKER = "<!doctype html>\n<!-- report of stead-sym -->"
"""How a report begins."""

_MARKS = {"holds": "✔", "fails": "✘", "unknown": "?"}
_MEANING = {
    "holds": "true of the deployment itself, with as many records as ever come in: no run refutes it",
    "fails": "not true: a run of the deployment shows that, step by step",
    "unknown": "not answered: the reason stands with it; what was found so far is no answer",
}


def report_html(result: Verification) -> str:
    """The page."""
    style, script = _packaged("page.css") + STYLE, _packaged("page.js")
    decisions = [
        decisions_of(result, k, name, decision_graph(result, name), budget)
        for budget in [Budget()]
        for k, name in enumerate(result.agents)
    ]
    sections = [
        _section("verdicts", "Verdicts", _verdicts(result)),
        _section("findings", "Findings", _findings(result), count=len(result.findings)),
        _section("hypotheses", "What the verdicts rest on", _hypotheses(result)),
        _section("evidence", "Evidence", _evidence(result)),
        _section("decisions", "Decisions", decisions, count=len(result.decisions)),
        _section("domain", "Sizes of the domains", _domain(result)),
        _section("statistics", "Statistics", _statistics(result)),
        _section("deployment", "The deployment", _deployment(result)),
    ]
    title = f"{result.deployment.name} under {result.agent}"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title}: {_answer(result)}"),
        tag("style", Html(style)),
    )
    body = tag(
        "body",
        tag("a", "To the verdicts", class_="skip", href="#verdicts"),
        _header(result),
        tag(
            "nav",
            tag("ul", (tag("li", tag("a", name, href=f"#{anchor}")) for anchor, name, _ in sections)),
            aria_label="Sections",
        ),
        tag("main", (section for _, _, section in sections)),
        _footer(),
        tag("script", Html(script)),
    )
    return f"{MARKER}\n{tag('html', head, body, lang='en')}\n"


def prepare_report(path: Path) -> None:
    """Raise `InputError` where a report cannot be written to a path, before there is one: where the folder is
    not there, and where something stands there that is no report."""
    try:
        there = path.exists() or path.is_symlink()
        if there:
            with path.open("rb") as file:
                head = file.read(len(MARKER)).decode("utf-8", "replace")
            if head and head != MARKER:
                raise InputError(f"{path}: is there already, and is no report; give another file")
        with path.open("ab"):
            pass
        if not there:
            path.unlink()
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); give another file") from None


def write_report(result: Verification, path: str | Path) -> Path:
    """Write the report to a file, and return its path. Only an earlier report is written over.

    Raises `InputError` where the file is something else, and where it cannot be written.
    """
    path = Path(path)
    prepare_report(path)
    try:
        path.write_text(report_html(result), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); give another file") from None
    return path


def _packaged(name: str) -> str:
    return files("stead_sym.report").joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    def digest(text: str) -> str:
        return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"

    return (
        f"default-src 'none'; style-src {digest(style)}; script-src {digest(script)};"
        " base-uri 'none'; form-action 'none'"
    )


# the frame


def _section(anchor: str, name: str, *content: Content, count: int | None = None) -> tuple[str, str, Html]:
    heading = tag("h2", name, tag("span", f" {count:,}", class_="count") if count else None, id=f"{anchor}-h")
    return anchor, name, tag("section", heading, content, id=anchor, aria_labelledby=f"{anchor}-h")


def _answer(result: Verification) -> str:
    """The verdicts in one sentence."""
    words = [verdict.word for verdict in result.verdicts.values()]
    if not words:
        return "no specification was checked"
    several = {"holds": "hold", "fails": "fail", "unknown": "are unknown"}
    if len(set(words)) == 1:
        one = "is unknown" if words[0] == "unknown" else words[0]
        if len(words) == 1:
            return f"the specification {one}"
        every = "both" if len(words) == 2 else f"all {len(words)}"
        return f"{every} specifications {several[words[0]]}"
    parts = []
    for word in ("fails", "unknown", "holds"):
        if number := words.count(word):
            one = "is unknown" if word == "unknown" else word
            parts.append(f"{number} {one if number == 1 else several[word]}")
    return f"of {plural(len(words), 'specification')}, {', '.join(parts)}"


def _header(result: Verification) -> Html:
    counts = [plural(result.states, "state"), plural(result.transitions, "transition")]
    if result.initial > 1:
        counts.insert(0, plural(result.initial, "initial state"))
    asked = "nobody was asked: whatever is offered may happen"
    if result.contexts is not None and result.queries is not None:
        asked = (
            f"{plural(result.contexts, 'context')} shown, {plural(result.queries, 'query', 'queries')} asked"
        )
    who = "any agent" if result.contexts is None else result.agent
    answer = _answer(result)
    worst = next(
        (w for w in ("fails", "unknown", "holds") if w in {v.word for v in result.verdicts.values()}), "none"
    )
    return tag(
        "header",
        tag("p", "stead-sym report", class_="eyebrow"),
        tag("h1", result.deployment.name, tag("span", f" under {who}", class_="under")),
        tag("p", f"{answer[0].upper()}{answer[1:]}.", class_=f"answer {worst}"),
        _pairs(
            [
                ("reached", ", ".join(counts)),
                ("agent", asked),
                ("domain", domain_text(result.restriction, result.mode)),
                ("engine", f"{result.engine.name}, {result.seconds:.2f} s"),
            ]
        ),
    )


def _footer() -> Html:
    return tag(
        "footer",
        tag("p", "Written by stead-sym. This file is complete: it loads nothing and sends nothing."),
    )


def _pairs(pairs: Sequence[tuple[str, Content]]) -> Html:
    return tag("dl", (tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs))


def _table(
    caption: str, columns: Sequence[str], rows: Sequence[Sequence[Content]], *, stacks: bool = False
) -> Html:
    """A table that scrolls sideways where it does not fit, or with ``stacks`` becomes a list; the first cell
    of a row heads it."""
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


# sections


def _verdicts(result: Verification) -> Iterator[Html]:
    if not result.verdicts:
        yield tag("p", "No specification was checked: the deployment meets its definition and its bounds.")
        return
    yield tag(
        "ol",
        (
            tag("li", _verdict(result, number, verdict), class_=f"verdict {verdict.word}")
            for number, verdict in enumerate(result.verdicts.values(), 1)
        ),
        class_="verdicts",
    )
    words = [word for word in _MEANING if word in {verdict.word for verdict in result.verdicts.values()}]
    yield tag("dl", (tag("div", tag("dt", w), tag("dd", _MEANING[w])) for w in words), class_="legend")


def _verdict(result: Verification, number: int, verdict: Verdict) -> Html:
    about = [finding for finding in result.findings if finding.spec == verdict.spec]
    shown = shown_by(replace(verdict, reason="")).removesuffix(", below")
    link = tag("a", shown, href=f"#evidence-{number}") if verdict.trace else None
    return joined(
        tag(
            "h3",
            tag("span", _MARKS[verdict.word], class_="mark", aria_hidden="true"),
            f" {title_of(number, verdict)} ",
            tag("span", verdict.word, class_="word"),
        ),
        tag("pre", tag("code", str(verdict.formula)), class_="formula"),
        tag("p", verdict.reason) if verdict.reason else None,
        tag("p", "shown by ", link) if link else tag("p", shown) if not verdict.reason else None,
        tag(
            "p",
            tag("a", f"{plural(len(about), 'finding')} about it", href="#findings"),
            ", which makes the verdict say less than it seems to",
            class_="about",
        )
        if about
        else None,
    )


def _findings(result: Verification) -> Iterator[Html]:
    yield tag("p", "What makes a verdict say less than it seems to, each with what to do about it.")
    if result.findings:
        titles = {v.spec: title_of(number, v) for number, v in enumerate(result.verdicts.values(), 1)}
        items = (tag("li", _finding(finding, titles.get(finding.spec or ""))) for finding in result.findings)
        yield tag("ul", items, class_="findings")
    else:
        yield tag("p", "None.", class_="none")
    if result.unexamined:
        parts = plural(result.unexamined, "subformula")
        yield tag("p", f"{parts} not tried for vacuity: a long specification is looked at in part.")


def _finding(finding: Finding, about: str | None) -> Html:
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
    """A sentence in which what stands between backticks is code."""
    for number, part in enumerate(text.split("`")):
        yield tag("code", part) if number % 2 else part


def _hypotheses(result: Verification) -> Iterator[Html]:
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
    yield _table(
        "Hypotheses",
        ("hypothesis", "status", "how"),
        [
            (h.name, _status(h), (tag("div", part) for part in h.how.split("; ")))
            for h in result.hypotheses.all
        ],
        stacks=True,
    )
    yield tag(
        "p",
        "A value is active where some fact has it. C is the set of the constants: the values that the"
        " deployment names. A bound is how many values outside C may be active at a time.",
        class_="gloss",
    )
    if result.hypotheses.widened:
        yield tag("h3", "Choices among records that nothing tells apart")
        yield tag(
            "p",
            "Where the agent's call could mean any of several records alike, each of them is taken to be"
            " possible.",
        )
        yield tag(
            "ul", (tag("li", f"{w.agent}: " if w.agent else None, str(w)) for w in result.hypotheses.widened)
        )


def _status(hypothesis: Hypothesis) -> Html:
    missing = hypothesis.status == "not established"
    return tag("span", hypothesis.status, class_="status missing" if missing else "status")


def _evidence(result: Verification) -> Iterator[Html]:
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


def _domain(result: Verification) -> Iterator[Html]:
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
    yield _table("Sizes", ("sort", "size", "bound", "constants", named, "sum"), rows)


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


def _statistics(result: Verification) -> Iterator[Html]:
    numbers = [(name.replace("_", " "), f"{value:,}") for name, value in result.engine.statistics.items()]
    activity = [
        (f"most {sort} in use", f"{activity.most:,} of {activity.bound:,}")
        for sort, activity in result.hypotheses.activity.items()
    ]
    counts = [
        ("states", f"{result.states:,}"),
        ("transitions", f"{result.transitions:,}"),
        ("initial states", f"{result.initial:,}"),
    ]
    for name, run in result.agents.items():
        if run.contexts is not None:
            who = f"{name}: " if name else ""
            counts += [(f"{who}contexts", f"{run.contexts:,}"), (f"{who}queries", f"{run.queries or 0:,}")]
    yield tag("div", _pairs([*counts, *activity, *numbers]), class_="numbers")


def _deployment(result: Verification) -> Iterator[Html]:
    text = print_deployment(result.deployment)
    yield tag(
        "details",
        tag("summary", "The text that was verified, normalised"),
        tag("pre", tag("code", text), class_="source", tabindex=0),
    )
    digest = tag("code", text_digest(result.deployment))
    yield tag("p", "Digest, without the specifications: ", digest, class_="quiet")
