"""Decisions in the page of a report: the graph, and every context with the calls offered and selected.

One decision: the text of a page is limited (`Budget`). A prompt shared by several decisions appears once.
What is left out is counted, with the command that shows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from stead_sym.agents.prompts.prompt import Message
from stead_sym.agents.records.answer import Answer
from stead_sym.agents.records.said import Decoding, Given, Samples
from stead_sym.agents.records.weight import freedom_words, weight_words
from stead_sym.report.drawing import diagram_svg
from stead_sym.report.graphs import NOT_COUNTED, DecisionGraph, decision_diagram
from stead_sym.support.html import Content, Html, joined, tag
from stead_sym.support.printable import plural
from stead_sym.verification.result import AgentRun, Verification

_MAX_DECISIONS = 300
_MAX_FACTS, _MAX_CALLS = 60, 60
_MAX_PROMPT_CHARACTERS = 600_000  # characters of prompts


@dataclass
class Budget:
    """The remaining room in a page, and the messages that it already has.

    Each message has its anchor, and the place in words.
    """

    room: int = _MAX_PROMPT_CHARACTERS
    decisions: int = _MAX_DECISIONS
    messages: dict[Message, tuple[str, str]] = field(default_factory=dict)


def decision_anchor(agent: int, number: int) -> str:
    """Return the anchor of decision ``number``, from 1, of an agent, given by its index in the deployment."""
    return f"decision-{agent}-{number}"


def decisions_of(
    result: Verification, place: int, name: str, graph: DecisionGraph | str, budget: Budget
) -> Html:
    """Return the decisions of an agent, the ``place``-th of the deployment."""
    run = result.agents[name]
    heading = tag("h3", f"{name}, decided by {run.agent}") if name else None
    if isinstance(graph, str):
        if run.contexts is None:
            text = "Nobody was asked: whatever is offered may happen."
            if not run.is_any:
                text = f"The contexts were not counted, {NOT_COUNTED}."
            return tag("section", heading, tag("p", text, class_="none"), class_="agent")
        drawing: Content = tag("p", f"There is no drawing: {graph}.", class_="none")
    else:
        drawing = _figure(result, place, graph)
    sizes = {} if isinstance(graph, str) else _sizes(graph)
    answers = dict(enumerate(run.answers))
    room = min(budget.decisions, len(run.decisions))
    budget.decisions -= room
    left = len(run.decisions) - room
    return tag(
        "section",
        heading,
        tag(
            "p",
            "The agent is asked once per canonical context: what it is shown and offered, up to the names of"
            " records",
            _example(run),
            ".",
        ),
        drawing,
        _gloss(run),
        (
            _decision(run, place, number, answers.get(number), sizes.get(number), graph, budget)
            for number in range(room)
        ),
        tag("p", f"{plural(left, 'more decision')} left out; --json lists all of them.", class_="quiet")
        if left
        else None,
        class_="agent",
    )


def _gloss(run: AgentRun) -> Content:
    """Return the meaning of the numbers beside the decisions of a language model."""
    if not any(isinstance(answer.said, Decoding) for answer in run.answers):
        return None
    return tag(
        "p",
        "The margin of a decision is the difference of log-probabilities where the offered calls part; “on"
        " the offer” is how much of its probability the model gives these calls at all; “if free” is what"
        " it writes where it may write anything.",
        class_="gloss",
    )


def _example(run: AgentRun) -> str:
    """Return the meaning of a canonical name, by one of the first that occur."""
    for context, _ in run.decisions:
        for sort, values in context.view.active_domain.items():
            if f"{sort.upper()}_1" in values:
                return f": {sort.upper()}_1 stands for any {sort}"
    return ""


def _figure(result: Verification, place: int, graph: DecisionGraph) -> Html:
    diagram = decision_diagram(result, graph, lambda number: f"#{decision_anchor(place, number + 1)}")
    notes = [*diagram.notes]
    if graph.is_summary:
        contexts = len(graph.run.decisions)
        notes = [
            f"Summarised: {contexts} contexts are more than can be drawn, so that those in which the same"
            " tools are offered and selected are one node. The numbers of states are exact."
        ]
    drawing = diagram_svg(diagram, inline=True).svg
    return tag(
        "figure",
        tag("div", Html(drawing), class_="canvas", tabindex=0, role="region", aria_label=diagram.title),
        tag(
            "figcaption",
            "Every context with the reachable states that show it. Bold with ▸: what the agent selects; grey:"
            " offered too. Solid: the agent's step",
            _legend(graph),
            ". ",
            (joined(note, " ") for note in notes),
        ),
        class_="graph",
    )


def _legend(graph: DecisionGraph) -> Iterator[str]:
    yield "; dashed: an event; dotted: another agent's" if graph.agent else "; dashed: an event"


def _sizes(graph: DecisionGraph) -> dict[int, int]:
    """Return how many states show each context that is a node of its own."""
    return {
        group[0]: size
        for group, size in zip(graph.groups, graph.quotient.sizes, strict=False)
        if len(group) == 1
    }


def _decision(
    run: AgentRun,
    place: int,
    number: int,
    answer: Answer | None,
    states: int | None,
    graph: DecisionGraph | str,
    budget: Budget,
) -> Html:
    context, selected = run.decisions[number]
    facts, calls = sorted(context.view.facts), sorted(context.calls)
    chosen = ", ".join(map(str, sorted(selected)[:3])) + ", …" * (len(selected) > 3)
    rows: list[tuple[str, Content]] = [
        ("shown", _listed([tag("code", str(fact)) for fact in facts], _MAX_FACTS, "no facts")),
        (
            "offered",
            _listed(
                [
                    tag("strong", tag("code", f"▸ {call}"), tag("span", " (selected)", class_="unseen"))
                    if call in selected
                    else tag("code", f"  {call}")
                    for call in calls
                ],
                _MAX_CALLS,
                "nothing",
            ),
        ),
    ]
    if answer is not None:
        rows.append(("weight", weight_words(answer)))
        if free := freedom_words(answer):
            rows.append(("if free", free))
        if isinstance(answer.said, Samples):
            rows.append(("answered", tag("ul", map(_given, answer.said.answers), class_="plain")))
        rows.append(("record", tag("code", answer.key)))
    if next_ := _next(place, number, graph):
        rows.append(("leads to", next_))
    return tag(
        "details",
        tag(
            "summary",
            tag("span", f"context {number + 1} ", class_="number"),
            tag("code", chosen),
            tag("span", f" {plural(states, 'state')}", class_="quiet") if states is not None else None,
        ),
        tag("dl", (tag("div", tag("dt", name), tag("dd", value)) for name, value in rows)),
        _prompt(place, number, answer, budget) if answer is not None else None,
        class_="decision",
        id=decision_anchor(place, number + 1),
    )


def _given(given: Given) -> Html:
    """Return one answer, with its note."""
    calls = ", ".join(map(str, given.calls))
    return tag("li", tag("code", calls), f": {given.note}" if given.note else None)


def _next(place: int, number: int, graph: DecisionGraph | str) -> Content:
    """Return links to the contexts that a step leads to: the content of the drawing, in words."""
    if isinstance(graph, str) or (number,) not in graph.groups:
        return None
    links: list[Content] = []
    for target, tools in graph.successors(graph.groups.index((number,))).items():
        by = f" by {', '.join(tools)}"
        if target == len(graph.groups):
            links.append(joined("states that offer it nothing", by))
        else:
            first, many = graph.groups[target][0], len(graph.groups[target])
            words = f"context {first + 1}" if many == 1 else f"{many} contexts such as {first + 1}"
            links.append(joined(tag("a", words, href=f"#{decision_anchor(place, first + 1)}"), by))
    return tag("ul", (tag("li", link) for link in links)) if links else None


def _listed(items: list[Html], most: int, none: str) -> Html:
    if not items:
        return tag("span", none, class_="quiet")
    more = tag("li", f"and {len(items) - most:,} more", class_="quiet") if len(items) > most else None
    return tag("ul", (tag("li", item) for item in items[:most]), more, class_="plain")


def _prompt(place: int, number: int, answer: Answer, budget: Budget) -> Content:
    """Return the messages that the model was sent, each at its first place in the page."""
    if not answer.prompt:
        return None
    shown: list[Html] = []
    for turn, message in enumerate(answer.prompt):
        if message in budget.messages:
            anchor, words = budget.messages[message]
            text: Content = tag("p", "the same as in ", tag("a", words, href=f"#{anchor}"), class_="quiet")
        elif len(message.content) > budget.room:
            text = tag("p", f"left out: stead-sym models decisions show {answer.key[:12]}", class_="quiet")
        else:
            budget.room -= len(message.content)
            anchor = f"{decision_anchor(place, number + 1)}-{turn}"
            budget.messages[message] = anchor, f"context {number + 1}"
            text = tag("pre", message.content, class_="prompt", id=anchor, tabindex=0)
        shown.append(tag("div", tag("h4", message.role), text))
    return tag("details", tag("summary", "what the model was asked"), shown, class_="asked")
