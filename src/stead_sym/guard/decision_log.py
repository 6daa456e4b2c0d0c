"""The lines that a guard appends to its log: how it was opened, its decisions, and what became of calls."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import AgentRole, Gate
from stead_sym.deployment.printer import print_gate
from stead_sym.evidence.data import text_digest
from stead_sym.guard.decision import Allowed, Decision, NeverMet, Outcome, Proposal, json_text
from stead_sym.guard.log import AuditLog


class DecisionLog:
    """The log of one guard, which other guards may append to as well; nothing is kept without a path."""

    def __init__(self, path: str | Path | None) -> None:
        self._log = None if path is None else AuditLog(path)
        self._opened = 0  # the number of the line that the guard begins with

    def open(
        self,
        deployment: Deployment,
        role: AgentRole,
        gates: Sequence[Gate],
        bounds: bool,
        never_met: NeverMet | None,
    ) -> None:
        """Append what the guard enforces; raise `OSError`."""
        if self._log is not None:
            entry: dict[str, object] = {
                "deployment": deployment.name,
                "digest": text_digest(deployment),
                "agent": role.name,
                "gates": ["\n".join(print_gate(gate)) for gate in gates],
                "bounds": bounds,
            }
            self._opened = self._log.append(
                "opened", entry if never_met is None else {**entry, "never_met": never_met}
            )

    def decision(self, decision: Decision, proposed: Proposal) -> Decision:
        """Return the decision once it is in the log; raise `OSError`."""
        if self._log is None:
            return decision
        arguments = {name: json.loads(json_text(one)) for name, one in decision.call.arguments.items()}
        called = {"tool": decision.call.tool, "arguments": arguments}
        entry: dict[str, object] = {"opened": self._opened, **called}
        if proposed.approved is not None:
            entry["approved"] = proposed.approved
        if decision.read is not None:
            entry["read"] = asdict(decision.read)
        if isinstance(decision, Allowed):
            return replace(decision, entry=self._log.append("allowed", {**entry, "by": list(decision.by)}))
        self._log.append("denied", {**entry, "reason": decision.reason, "why": decision.why})
        return decision

    def outcome(self, allowed: Allowed, event: Outcome) -> None:
        """Append what became of a call, if it can be written."""
        if self._log is not None and allowed.entry is not None:
            with suppress(OSError):  # the call is made; its own line is in the log
                self._log.append(event, {"of": allowed.entry})
