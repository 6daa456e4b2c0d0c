"""The plan of the symbolic engine on a terminal and as JSON.

One decision: both have the same content, the terminal in tables. Both state where the exploration may still
change the plan.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET, UnsetType, convert
from rich.console import Console, Group, RenderableType

from stead_sym.engines.symbolic.plan.explain import ExplainedFresh, ExplainedRelation, Explanation
from stead_sym.evidence.document import Count, Document, Json
from stead_sym.report.data import derivation_data, gates_data
from stead_sym.report.document import DerivationData, GateData, Mode
from stead_sym.report.verdicts import heading
from stead_sym.support.wrapping import Text, headed, indented


class RelationData(Document):
    """The facts of a relation, and their encoding.

    `possible` facts change, `static` ones hold in every state, all others in none. `fields` groups of the
    possible ones are encoded in `bits` bits. At most one fact holds for each choice of values in the columns
    `key`, from 0; null: a bit for each fact. `single`: no state holds two facts of the relation.
    """

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
    """The plan of the symbolic engine: domains, bits, names, actions of the tools.

    `gates` and `calls` are as in a `Report`.
    """

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
    gates: list[GateData] | UnsetType = UNSET
    calls: str | UnsetType = UNSET


def print_explanation(
    explanation: Explanation, console: Console, agent: str, never_called: Sequence[str]
) -> None:
    """Print the whole plan; ``never_called`` are tools that the agent has no rule for."""
    title = heading(explanation.deployment, agent)
    modes = {"normal": "fresh values have representatives", "theorem": "the literal domain of the theorem"}
    console.print(Group(title, indented(Text(f"domain {explanation.mode}: {modes[explanation.mode]}"))))
    domains = [str(d) for d in explanation.restriction.derivation.values()]
    console.print(indented(indented(Text("\n".join(domains)))))
    console.print()
    console.print(_relations(explanation))
    if explanation.fresh:
        console.print()
        literal = explanation.mode == "theorem"
        guess = "" if literal else " (names after others are given up where one is taken)"
        console.print(
            _section(f"fresh values{guess}", [_fresh(fresh, literal) for fresh in explanation.fresh])
        )
    console.print()
    console.print(_tools(explanation))
    if never_called:
        console.print(indented(Text(f"{agent} never calls {', '.join(never_called)}")))


def explanation_data(explanation: Explanation, agent: str, never_called: Sequence[str]) -> dict[str, Json]:
    """Return the same as data: an `ExplanationReport`."""
    relations = {relation.name: relation for relation in explanation.relations}
    return ExplanationReport(
        deployment=explanation.deployment.name,
        agent=agent,
        gates=gates_data(explanation.deployment),
        calls=explanation.deployment.called or UNSET,
        mode=explanation.mode,
        domain=dict(explanation.restriction.sizes),
        derivation=derivation_data(explanation.restriction),
        bits=explanation.bits,
        actions=explanation.actions,
        relations=convert(relations, dict[str, RelationData], from_attributes=True),
        fresh=convert(explanation.fresh, list[FreshData], from_attributes=True),
        tools={
            tool.name: ToolData(
                alternatives=tool.alternatives,
                actions=tool.actions,
                called=tool.name not in never_called,
                event=explanation.deployment.tool(tool.name).event,
            )
            for tool in explanation.tools
        },
    ).data()


def _relations(explanation: Explanation) -> RenderableType:
    numbers = ("possible", "static", "bits")
    table = headed("relation", *numbers, "coded", folds=("relation", "coded"), right=numbers)
    for r in explanation.relations:
        signature = str(explanation.deployment.schema.relation(r.name)).removeprefix("relation ")
        table.add_row(Text(signature), f"{r.possible:,}", f"{r.static:,}", f"{r.bits:,}", Text(_coded(r)))
    return Group(Text(f"facts, in {explanation.bits:,} bits"), indented(table))


def _coded(relation: ExplainedRelation) -> str:
    """Return how the possible facts are encoded in bits."""
    single = "one fact at most" if relation.single else ""
    if not relation.possible:
        return "static" if relation.static else "never holds"
    if relation.key is None:
        return ", ".join(filter(None, (single, "a bit for each fact")))
    sorts = relation.sorts
    columns = [sorts[k] + f" (column {k + 1})" * (sorts.count(sorts[k]) > 1) for k in relation.key]
    return ", ".join(filter(None, (single, f"one fact per {', '.join(columns)}" if columns else "")))


def _fresh(fresh: ExplainedFresh, literal: bool) -> str:
    place = f"{fresh.tool}, alternative {fresh.alternative + 1}: {fresh.variable} of sort {fresh.sort}"
    if literal:
        return f"{place} is any unused name"
    if fresh.anchor is None:
        return f"{place} is the least unused name"
    pairs = ", ".join(f"{name} for {anchor}" for anchor, name in fresh.names.items())
    return f"{place} is named after {fresh.anchor}: {pairs}"


def _tools(explanation: Explanation) -> RenderableType:
    numbers = ("alternatives", "actions")
    table = headed("tool", *numbers, folds=("tool",), right=numbers)
    for tool in explanation.tools:
        event = explanation.deployment.tool(tool.name).event
        table.add_row(Text(tool.name + ", an event" * event), f"{tool.alternatives:,}", f"{tool.actions:,}")
    return Group(Text(f"transitions, by {explanation.actions:,} actions"), indented(table))


def _section(title: str, lines: Sequence[str]) -> RenderableType:
    return Group(Text(title), indented(Text("\n".join(lines))))
