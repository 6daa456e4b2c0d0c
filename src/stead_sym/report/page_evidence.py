"""Evidence in the page of a report: runs as lists of steps, each with its changes.

One decision: of the states, the page has the facts of the first one and the changes of every step only; the
script of the page adds them up. A long run through large states thus stays small, and a reader without the
script reads the changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from stead_sym.agents.records.weight import is_weighed, weight_words
from stead_sym.deployment.trace import Change, Folded, as_changes, folded
from stead_sym.evidence.moves import MOST_OUTCOMES, Move
from stead_sym.evidence.outline import Numbered, Outline, outline
from stead_sym.relational.instance import Fact
from stead_sym.report.evidence import constraints_met, constraints_of
from stead_sym.report.page_decisions import decision_anchor
from stead_sym.report.steps import actor_word
from stead_sym.support.html import Content, Html, joined, tag
from stead_sym.support.printable import plural
from stead_sym.verification.result import Verification
from stead_sym.verification.verdict import Verdict

_MAX_STEPS, _MAX_RUNS, _MAX_FACTS = 400, 12, 500
_FACTS_SHOWN_AT_FIRST = 12  # more facts of a first state are folded


def title_of(number: int, verdict: Verdict) -> str:
    """Return the title of a specification in the page.

    An unnamed one has only its formula, which is shown beside the title. ``number`` is its place among the
    verdicts.
    """
    return verdict.spec if verdict.claim or verdict.spec.isidentifier() else f"question {number}"


def evidence_of(result: Verification, number: int, verdict: Verdict) -> Html:
    """Return the evidence for one verdict; ``number`` is its place among the verdicts."""
    assert verdict.evidence is not None
    assert verdict.trace is not None
    shown = outline(verdict.evidence)
    trace = verdict.trace
    bound = ", ".join(f"{name} = {value}" for name, value in trace.bindings.items())
    left = len(shown.runs) - _MAX_RUNS
    return tag(
        "article",
        tag(
            "h3",
            f"{title_of(number, verdict)} ",
            tag("span", verdict.said, class_="word"),
            id=f"evidence-{number}-h",
        ),
        tag("pre", tag("code", str(verdict.formula)), class_="formula"),
        tag(
            "dl",
            tag("div", tag("dt", "with"), tag("dd", tag("code", bound))) if bound else None,
            tag("div", tag("dt", "shows"), tag("dd", tag("code", trace.claim))) if trace.claim else None,
            class_="claim",
        ),
        (_run(result, title_of(number, verdict), number, shown, run) for run in shown.runs[:_MAX_RUNS]),
        tag("p", f"{left:,} more runs are left out; --evidence DIR writes all of them.", class_="quiet")
        if left > 0
        else None,
        class_=f"evidence {'empty' if verdict.empty else verdict.word}",
        id=f"evidence-{number}",
        aria_labelledby=f"evidence-{number}-h",
    )


def _run(result: Verification, spec: str, number: int, shown: Outline, run: Numbered) -> Html:
    name = f"run {run.number} of {len(shown.runs)}" if len(shown.runs) > 1 else "the run"
    anchor = f"run-{number}-{run.number}"
    met = {steps: str(formula) for formula, steps in constraints_met(run, constraints_of(result.deployment))}
    steps = min(len(run.legs), _MAX_STEPS)
    several, whole = len(shown.runs) > 1, steps == len(run.legs)
    notes = [
        None if whole else f"The first {steps:,} of {len(run.legs):,} steps; --evidence DIR writes all.",
        f"{run.fair_part}: there only to show that the run goes on fairly" if run.fair_part else None,
    ]
    loop = joined(tag("span", "↺ ", aria_hidden="true"), run.trace.repeats)
    return tag(
        "section",
        tag("h4", f"{name[0].upper()}{name[1:]}", _begins(number, shown, run)) if several else None,
        tag(
            "ol",
            _first(run, anchor, met.get(0)),
            (_part(result, run, part, anchor, met) for part in _parts_of(run, steps)),
            class_="timeline",
        ),
        tag("p", loop, class_="repeats") if run.trace.repeats else None,
        (tag("p", note, class_="quiet") for note in notes if note),
        class_="run",
        id=anchor,
        aria_label=f"{spec}: {name}, {plural(len(run.legs), 'step')}",
        data_loop=run.loop if whole else None,
        data_steps=len(run.legs),
    )


def _begins(number: int, shown: Outline, run: Numbered) -> Content:
    """Return where a run begins, unless it begins at the start."""
    if run.begins is None:
        return None
    anchor = f"run-{number}-{run.begins.run}-{run.begins.steps}"
    return joined(", from the state ", tag("a", shown.words(run.begins), href=f"#{anchor}"))


def _first(run: Numbered, anchor: str, met: str | None) -> Html:
    facts = sorted(run.start.facts)
    listed = tag(
        "ul",
        (tag("li", _fact(fact), data_relation=fact.relation) for fact in facts[:_MAX_FACTS]),
        tag("li", f"and {len(facts) - _MAX_FACTS:,} more facts") if len(facts) > _MAX_FACTS else None,
        class_="facts",
    )
    if not facts:
        listed = tag("p", "no facts", class_="quiet")
    elif len(facts) > _FACTS_SHOWN_AT_FIRST:
        listed = tag("details", tag("summary", f"{len(facts):,} facts"), listed)
    return tag(
        "li",
        tag("a", "start" if run.begins is None else "where it begins", class_="head", href=f"#{anchor}-0"),
        listed,
        _claims(run, 0, met),
        class_="state",
        id=f"{anchor}-0",
        data_facts=len(facts),
    )


def _parts_of(run: Numbered, steps: int) -> list[int | Folded]:
    """Return the steps that fit in the page; repetitions of the same steps are folded into one."""
    legs = [leg.step for leg in run.legs[:steps]]
    loop = None if run.loop is None or run.loop >= steps else run.loop
    return folded(legs, [run.trace.changes(k) for k in range(steps)], loop)


def _part(
    result: Verification, run: Numbered, part: int | Folded, anchor: str, met: Mapping[int, str]
) -> Html:
    if not isinstance(part, Folded):
        return _step(result, run, part, anchor, met.get(part + 1))
    steps = (_step(result, run, k, anchor, met.get(k + 1)) for k in range(part.first, part.last))
    changes = tag("span", f" ({', '.join(part.changes)})", class_="quiet") if part.changes else None
    said = (f"{part.numbers} ", tag("code", part.calls), f", {part.times} times more", changes)
    return tag("li", tag("details", tag("summary", said), tag("ol", steps)), class_="folded")


def _step(result: Verification, run: Numbered, k: int, anchor: str, met: str | None) -> Html:
    leg = run.legs[k]
    changes = as_changes(run.start.schema, *run.trace.changes(k))
    move = result.moves(run.trace.states[k], leg.step)
    repeats = run.loop is not None and k >= run.loop
    return tag(
        "li",
        tag(
            "a",
            tag("span", f"{k + 1} ", class_="number"),
            tag("code", str(leg.step.call.carried or leg.step.call)),
            class_="head",
            href=f"#{anchor}-{k + 1}",
        ),
        tag("p", _who(result, leg.step.actor, actor_word(leg.step), move), class_="who"),
        _changes(changes),
        _claims(run, k + 1, met),
        class_="state repeated" if repeats else "state",
        id=f"{anchor}-{k + 1}",
    )


_SIGNED = {"+": ("ins", "added"), "-": ("del", "removed"), "": ("span", "changed")}
"""The element and the class of a change, by its sign."""


def _changes(changes: Sequence[Change]) -> Html:
    if not changes:
        return tag("p", "no change", class_="quiet")
    items = (
        tag(
            "li",
            tag(element, tag("code", change.text)),
            class_=kind,
            data_relation=change.relation,
            data_added=change.added and str(change.added),
            data_removed=change.removed and str(change.removed),
        )
        for change in changes
        for element, kind in (_SIGNED[change.sign],)
    )
    return tag("ul", items, class_="changes")


def _fact(fact: Fact) -> Html:
    return tag("code", str(fact))


def _who(result: Verification, actor: str | None, word: str, move: Move) -> Iterator[Content]:
    """Yield the actor of a step, the numbers of calls offered and selected, and the number of outcomes."""
    others = "of the message" if word == "message" else "an event"
    yield others if actor is None else f"by {word}" if actor else "by the agent"
    if move.offered > 1:
        every = move.selected == move.offered
        some = "any" if every else f"{move.selected}"
        is_ = "may be" if every else "is" if move.selected == 1 else "are"
        yield f"; {some} of the {move.offered} offered calls {is_} selected"
    if actor is not None and move.decision is not None:
        context = move.decision.canonical
        names = list(result.agents)
        for number, (other, _) in enumerate(result.agents[actor].decisions, 1):
            if other == context:
                anchor = decision_anchor(names.index(actor), number)
                yield joined(" in ", tag("a", f"context {number}", href=f"#{anchor}"))
    if move.answer is not None and is_weighed(move.answer):
        yield f"; {weight_words(move.answer)}"
    if move.outcomes > 1:
        many = f"{move.outcomes}{' or more' * (move.outcomes >= MOST_OUTCOMES)}"
        yield f"; one of {many} possible outcomes"


def _claims(run: Numbered, steps: int, met: str | None) -> Content:
    """Return the claims about the state after ``steps`` steps, and the fairness constraint that it meets."""
    remarks = run.remarks[steps]
    if not remarks and met is None:
        return None
    return tag(
        "ul",
        (tag("li", remark.text, class_=f"depth-{min(remark.depth, 6)}") for remark in remarks),
        tag("li", f"meets the fairness constraint {met}") if met is not None else None,
        class_="claims",
    )
