"""Find what weakens a verdict for every number of records: vacuous premises and idle tools.

Such premises are true in no instance of γ(V), and such tools are offered in none. Every reachable state is in
γ(V), so the same is true of every run, for every number of records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.terminal import called
from stead_sym.verification.findings.finding import Finding

Never = Callable[[fo.Expanded], bool]
"""The test whether a sentence is shown to be true in no instance of γ(V)."""


def empty_premises(spec: str, formula: fo.Expanded, never: Never) -> Iterator[Finding]:
    """Yield a finding for each premise of a specification that is never true.

    Only premises of what it states of all states are examined, for all values of the variables around them.
    """
    for implication, binders in _implications(formula, ()):
        if never(fo.quantify(fo.Exists, binders, implication.left)):
            yield Finding(
                "premise never true",
                implication.left.span or implication.span,
                f"the premise `{implication.left}` is never true, however many records there are",
                "check the names and values in it, and whether the agent ever gets there",
                spec,
            )


def _implications(
    formula: fo.Expanded, binders: tuple[fo.Binder, ...]
) -> Iterator[tuple[fo.Implies, tuple[fo.Binder, ...]]]:
    """Yield the implications that a formula requires in all states, each with the ∀ around it."""
    match formula:
        case fo.Globally("A", body):
            yield from _implications(body, binders)
        case fo.Forall(binder, body):
            yield from _implications(body, (*binders, binder))
        case fo.And(parts):
            for part in parts:
                yield from _implications(part, binders)
        case fo.Implies(fo.Truth(), _) | fo.Implies(_, fo.Truth(False)):
            pass
        case fo.Implies(premise, _) if not fo.is_temporal(premise):
            yield formula, binders
        case _:
            pass


def idle_tools(deployment: Deployment, guarded: Deployment, agent: str, never: Never) -> Iterator[Finding]:
    """Yield a finding for each tool that is offered in no state, or never selected.

    ``guarded`` offers a tool only if it is selected.
    """
    for tool in deployment.tools_and_events:
        if tool.stays:
            continue
        offered = "enabled" if tool.event else "offered"
        if never(called(tool, deployment.schema)):
            yield Finding(
                "never offered",
                tool.span,
                f"{tool.name} is {offered} in no reachable state, however many records there are",
                "weaken its guard, let some effect make it true, or remove the tool",
            )
        elif never(called(guarded.tool(tool.name), deployment.schema)):
            yield Finding(
                "never selected",
                tool.span,
                f"{tool.name} may be offered, but {agent} never selects it, however many records there are",
                "the verdicts say nothing about what it does; verify another agent (`--agent any`) for that",
            )
