"""Findings on events, keys and `initially any`: valid lines that are probably not meant as written."""

from __future__ import annotations

from collections.abc import Iterator

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.keys import respects
from stead_sym.deployment.tool import Assign, Insert
from stead_sym.verification.findings.finding import Finding
from stead_sym.verification.findings.occurrences import asks_for_progress
from stead_sym.verification.findings.ranges import changed_by


def endless_events(deployment: Deployment) -> Iterator[Finding]:
    """Yield the events that nothing ever disables, if a specification asks for progress.

    There are none if the file has a `fair` line.
    """
    if (
        deployment.fair
        or deployment.fair_actions
        or not any(asks_for_progress(spec.formula) for spec in deployment.specs)
    ):
        return
    changing = {name for tool in deployment.tools_and_events for name in changed_by(tool)}
    for event in (event for event in deployment.events if event.is_written):
        read = fo.relations_in(event.guard)
        unbounded = any(not deployment.schema.is_finite(param.sort) for param in event.params)
        if not unbounded and changing.isdisjoint(read) and event.guard != fo.Truth(False):
            yield Finding(
                "endless event",
                event.span,
                f"nothing ends the guard of {event.name}, so that a run may consist of it alone from some"
                " state on: whatever should come at last (`AF`, `A[… U …]`) need not",
                "give it a guard that its effect makes false, or add a `fair` line",
            )


def keys_at_risk(deployment: Deployment) -> Iterator[Finding]:
    """Yield the insertions that may add a second fact with the same key."""
    written = {tool.name: tool for tool in deployment.written.tools}
    carried = {tool.carries for tool in deployment.tools_and_events}
    for tool in deployment.tools_and_events:
        if tool.stays or tool.name in carried:
            continue
        # a call that is carried out may be refused, which the file does not write
        for effect, own in zip(tool.effects, written[tool.carries or tool.name].effects, strict=False):
            setting = [s for s in own.statements if isinstance(s, Assign)]
            whole = [(s.atom, s.binders) for s in setting if s.column is None]
            columns = {s.span for s in setting if s.column is not None}
            for statement in effect.statements:
                if (
                    isinstance(statement, Insert)
                    and (statement.atom, statement.binders) not in whole
                    and statement.span not in columns
                ):
                    relation = deployment.schema.relation(statement.atom.relation)
                    if relation.keys and not respects(
                        tool, effect, statement, relation.keys, deployment.schema
                    ):
                        yield Finding(
                            "key at risk",
                            statement.span or effect.span or tool.span,
                            f"`insert {statement.atom}` of {tool.carries or tool.name} may add a second fact"
                            " with its key",
                            f"write `set {statement.atom}`, which replaces the one that is there, or ask in"
                            " the guard that there is none",
                        )


def no_room_initially(deployment: Deployment) -> Iterator[Finding]:
    """Yield `initially any` of a relation over a sort with bound 0, which has no values but constants."""
    lines = deployment.initially
    for name in () if lines is None else lines.relations:
        for sort in dict.fromkeys(deployment.schema.relation(name).sorts):
            if deployment.bounds.get(sort, 1) == 0:
                has = "its constants only" if deployment.constants[sort] else "no value at all"
                yield Finding(
                    "no room initially",
                    lines.span if lines else None,
                    f"`initially any {name}` speaks of databases that hold {has} of sort {sort}, whose"
                    " bound is 0",
                    f"write `bound {sort} N` with as many as the databases in question may have",
                )
