"""The plan that `stead-sym explain` prints for a file without a bound, on a terminal and as JSON."""

from __future__ import annotations

from msgspec import UNSET, UnsetType, convert
from rich.console import Console, Group, RenderableType

from stead_sym.analyses.views.parts import MOST_RECORDS
from stead_sym.analyses.views.steps import How, Look, ViewsPlan
from stead_sym.evidence.document import Count, Document, Json
from stead_sym.report.data import gates_data
from stead_sym.report.document import GateData
from stead_sym.report.verdicts import heading
from stead_sym.support.printable import plural
from stead_sym.support.wrapping import Text, headed, indented, labelled


class LookData(Document):
    """An alternative of a tool or event, with the number of records over which its steps are examined.

    They are examined over `total` = x + `named` - `written` + `kept` records for local views on x records, or
    fewer if a bound of the file allows no more of a sort.
    `outside` is the reason why they are not, empty if they are.
    """

    tool: str
    event: bool
    alternative: Count
    named: Count
    written: Count
    kept: Count
    total: Count
    outside: str


class SoughtData(Document):
    """The method for a specification; over `needs` records it is refuted if it is false anywhere."""

    how: How
    needs: Count
    reason: str


class ViewsPlanReport(Document):
    """The plan of the proof for every number of values of the `sorts`.

    It uses local views on `ks` of them, one number after the other; `looks` are the steps for the first.
    `together` is shown in one induction. `left_out` are invariants that cannot be, with the reasons. `agents`
    describes which choices of each agent are examined. `gates` and `calls` are as in a `Report`.
    """

    deployment: str
    agent: str
    sorts: list[str]
    ks: list[Count]
    looks: list[LookData]
    specs: dict[str, SoughtData]
    together: list[str]
    left_out: dict[str, str]
    agents: dict[str, str]
    gates: list[GateData] | UnsetType = UNSET
    calls: str | UnsetType = UNSET


def views_plan_data(plan: ViewsPlan, agent: str) -> dict[str, Json]:
    """Return the plan as data: a `ViewsPlanReport`."""
    return ViewsPlanReport(
        deployment=plan.deployment.name,
        agent=agent,
        gates=gates_data(plan.deployment),
        calls=plan.deployment.called or UNSET,
        sorts=[*plan.sorts],
        ks=[*plan.ks],
        looks=convert(plan.looks, list[LookData], from_attributes=True),
        specs=convert(plan.specs, dict[str, SoughtData], from_attributes=True),
        together=[*plan.together],
        left_out=dict(plan.left_out),
        agents=dict(plan.agents),
    ).data()


def print_views_plan(plan: ViewsPlan, console: Console, agent: str) -> None:
    """Print the whole plan."""
    title = heading(plan.deployment, agent)
    every = f", for every number of {' and '.join(plan.sorts)}"
    grid = labelled()
    first, *others = plan.ks
    later = " and ".join(map(str, others))
    grid.add_row(
        "views",
        f"V, the parts on k records of initial databases and of what steps lead to; k = {first}, the most"
        f" columns that a relation has for them, then {later} where these show less than is asked",
    )
    if plan.together:
        grid.add_row("with it", f"{', '.join(plan.together)}, in one induction")
    for name, why in plan.left_out.items():
        grid.add_row("without", f"{name}: {why}")
    for name, what in plan.agents.items():
        grid.add_row(name or "agent", what)
    console.print(Group(title.append(every), indented(grid)))
    console.print()
    console.print(_looks(plan))
    console.print()
    console.print(_specs(plan))


def _looks(plan: ViewsPlan) -> RenderableType:
    numbers = ("m", "v", "g", "n")
    table = headed("step", *numbers, "", folds=("step", ""), right=numbers)
    for one in plan.looks:
        cells = ("", "", "", "-") if one.outside else map(str, (one.named, one.written, one.kept, one.total))
        table.add_row(Text(_step(one, plan)), *cells, Text(_remark(one)))
    title = Text(f"steps, each over n = k + m - v + g records, for k = {plan.ks[0]}")
    said = "m named by the step, v of these in the fact that it writes, g witnesses of what it asks"
    if any(sort not in plan.sorts for sort in plan.deployment.bounds):
        said += "; of a sort with a bound no more than it allows"
    legend = Text(said)
    return Group(title, indented(table), indented(legend))


def _step(one: Look, plan: ViewsPlan) -> str:
    several = sum(other.tool == one.tool for other in plan.looks) > 1
    name = f"{one.tool}, alternative {one.alternative}" if several else one.tool
    return name + ", an event" * one.event


def _remark(one: Look) -> str:
    if one.outside:
        return one.outside
    return f"more than {MOST_RECORDS}: looked at in slices" if one.total > MOST_RECORDS else ""


def _specs(plan: ViewsPlan) -> RenderableType:
    table = headed("spec", "asked of", folds=("spec", "asked of"))
    for name, sought in plan.specs.items():
        table.add_row(Text(name, "bold"), Text(_sought(sought.how, sought.needs, sought.reason)))
    return Group(Text("specifications"), indented(table))


def _sought(how: How, needs: int, reason: str) -> str:
    if how == "not shown":
        return f"not shown for every number: {reason}"
    records = f"all databases on {plural(needs, 'record')} whose parts are in V"
    return f"{records}, with what is to be remembered as relations" if how == "watched" else records
