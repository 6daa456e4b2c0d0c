"""The decisions that a verification covers, looked up for calls in a live database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import sqlalchemy as sa

from stead_sym.analyses.covered_decisions import CoveredDecisions, listed_calls
from stead_sym.deployment.tool import Call, Tool
from stead_sym.errors import CanonicalLimit, DeclarationError, Undecided
from stead_sym.guard.cells import Cells
from stead_sym.guard.live_state import LiveState, read_state


@dataclass(frozen=True, slots=True)
class LiveCoverage:
    """The verified decisions of the guarded agent, over the cells of its database."""

    decisions: CoveredDecisions
    cells: Cells

    def at(self, connection: sa.Connection) -> CoveredNow:
        """Return what is covered in the state that a transaction sees."""
        return CoveredNow(self, connection)


@dataclass(frozen=True, slots=True)
class _Covered:
    """The covered calls in a state, or why there are none."""

    calls: frozenset[Call] = frozenset()
    state: LiveState | None = None
    why_none: str = ""


@dataclass
class CoveredNow:
    """The calls that are covered in the state of one transaction, which is read once, when it is needed."""

    coverage: LiveCoverage
    connection: sa.Connection = field(repr=False)

    @property
    def is_whole(self) -> bool:
        """True if every offered call is covered."""
        return self.coverage.decisions.is_any

    def gap(self, tool: Tool, contents: Mapping[str, object]) -> str:
        """Return why the verification does not cover a call, or "" if it does."""
        if self.is_whole:
            return ""
        found, value = self._found, self.coverage.cells.value
        if found.state is None:
            return found.why_none
        call = Call(tool.name, tuple(value(contents[p.name], p.sort) for p in tool.params))
        return (
            "" if call in found.calls else f"{listed_calls(found.calls)} was verified here, and not this call"
        )

    def calls(self) -> Iterator[tuple[str, Mapping[str, object]]]:
        """Yield the covered calls, unless every one is, as tools with what stands for their arguments."""
        state = self._found.state
        if state is not None:
            tools = {tool.name: tool for tool in self.coverage.decisions.deployment.tools}
            for call in sorted(self._found.calls):
                pairs = zip(tools[call.tool].params, call.args, strict=True)
                yield call.tool, {p.name: state.content(value, p.sort) for p, value in pairs}

    @cached_property
    def _found(self) -> _Covered:
        decisions = self.coverage.decisions
        try:
            state = read_state(self.connection, self.coverage.cells)
            context = decisions.context(state.instance)
            calls = decisions.calls(context) if context.calls else None
        except (CanonicalLimit, DeclarationError, Undecided) as why:
            return _Covered(why_none=str(why))
        if calls is None:
            return _Covered(why_none=f"no context like it was met{decisions.beyond(context)}")
        return _Covered(calls, state)
