"""The decisions that a verification covers, looked up for calls in a live database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from stead_sym.analyses.covered_decisions import CoveredDecisions, listed_calls
from stead_sym.deployment.tool import Call, Tool
from stead_sym.errors import CanonicalLimit, DeclarationError, Undecided
from stead_sym.guard.cells import Cells
from stead_sym.guard.decision import ToolCall
from stead_sym.guard.live_state import LiveState, read_state


@dataclass(frozen=True, slots=True)
class LiveCoverage:
    """The verified decisions of the guarded agent, over the cells of its database."""

    decisions: CoveredDecisions
    cells: Cells

    def gap(self, connection: sa.Connection, tool: Tool, contents: Mapping[str, object]) -> str:
        """Return why the verification does not cover a call in the present state, or "" if it does."""
        if self.decisions.is_any:
            return ""
        try:
            verified, _ = self._covered(connection)
        except Undecided as why:
            return str(why)
        call = Call(tool.name, tuple(self.cells.value(contents[p.name], p.sort) for p in tool.params))
        return "" if call in verified else f"{listed_calls(verified)} was verified here, and not this call"

    def calls(self, connection: sa.Connection) -> Sequence[ToolCall] | None:
        """Return the calls that are covered in the present state, or None if every offered call is."""
        if self.decisions.is_any:
            return None
        try:
            verified, state = self._covered(connection)
        except Undecided:
            return ()
        tools = {tool.name: tool for tool in self.decisions.deployment.tools}
        return [
            state.as_proposed(call, {p.name: p.sort for p in tools[call.tool].params})
            for call in sorted(verified)
        ]

    def _covered(self, connection: sa.Connection) -> tuple[frozenset[Call], LiveState]:
        """Return the covered calls in the present state, and the state; raise `Undecided` without any."""
        state = read_state(connection, self.cells)
        try:
            context = self.decisions.context(state.instance)
            verified = self.decisions.calls(context) if context.calls else None
        except (CanonicalLimit, DeclarationError) as why:
            raise Undecided(str(why)) from None
        if verified is None:
            raise Undecided(f"no context like it was met{self.decisions.beyond(context)}")
        return verified, state
