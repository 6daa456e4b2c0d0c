"""The rules that decide a call once the truth of the formulas in them is known.

One decision: a guard and the replay of its log decide by the same function, the one from what a database
holds, the other from what the log has of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.gates import under_gates
from stead_sym.deployment.parts import Gate, Harness
from stead_sym.deployment.printer import print_line
from stead_sym.deployment.tool import Tool
from stead_sym.errors import InputError
from stead_sym.evidence.data import text_digest
from stead_sym.guard.decision import Allowed, Decision, Denied, NeverMet, Reading, ToolCall

if TYPE_CHECKING:
    from stead_sym.analyses.shield.shield import Shield


@dataclass(frozen=True, slots=True)
class GateLine:
    """A line of a gate for a tool, as it is printed."""

    text: str
    permits: bool


@dataclass(frozen=True, slots=True)
class GateLines:
    """The lines of a gate for a tool; ``denies`` if one of them has to permit a call."""

    gate: str
    denies: bool
    lines: tuple[GateLine, ...]


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules for the calls of a tool: its guard as it is printed, gates, and the bounds of sorts.

    ``never_met`` is what happens to a call that the verification does not cover, or None without one.
    """

    guard: str
    gates: tuple[GateLines, ...]
    bounds: Mapping[str, int]
    never_met: NeverMet | None = None

    def reading(self, values: Sequence[bool]) -> Reading:
        """Return what the truth values mean; each is in favour of the call, of guard, lines, then bounds."""
        guard, *others = values
        left = iter(others)
        gates = {gate.gate: tuple(next(left) == line.permits for line in gate.lines) for gate in self.gates}
        return Reading(guard, gates, dict(zip(self.bounds, left, strict=True)))

    def decide(self, call: ToolCall, read: Reading, approved: str | None = None) -> Decision:
        """Return the decision about a call for which this was read.

        ``approved`` is who has approved the call, if somebody has.
        """
        for sort, bound in self.bounds.items():
            if not read.within[sort]:
                why = f"more than {bound} values of sort {sort} are in use, for which nothing is verified"
                return Denied(call, "past a bound", why, read=read)
        if not read.guard:
            why = f"its guard is not true: {self.guard}"
            return self._unless_possible(Denied(call, "not offered", why, read=read), read)
        by = [f"guard {self.guard}"]
        for gate in self.gates:
            matching = [line for line, matches in self._matched(gate, read) if matches]
            permitting = [line.text for line in matching if line.permits]
            forbidding = [line.text for line in matching if not line.permits]
            if forbidding or (gate.denies and not permitting):
                no_line = f"no line of gate {gate.gate} permits it"
                own = f"gate {gate.gate} does not let it through: {forbidding[0]}" if forbidding else no_line
                denied = Denied(call, "not allowed", own, gate.gate, read=read)
                return self._unless_possible(denied, read)
            by.extend(f"gate {gate.gate}: {text}" for text in permitting)
        if read.gap and self.never_met != "allow":
            if self.never_met == "deny":
                return Denied(call, "not verified", f"not verified: {read.gap}", read=read)
            if approved is None:
                why = f"a person has to approve it, since it is not verified: {read.gap}"
                return Denied(call, "needs approval", why, read=read)
            by.append(f"approved by {approved}")
        return Allowed(call, tuple(by), read=read)

    def _matched(self, gate: GateLines, read: Reading) -> Iterator[tuple[GateLine, bool]]:
        return zip(gate.lines, read.gates[gate.gate], strict=True)

    def _unless_possible(self, denied: Denied, read: Reading) -> Denied:
        """Return the denial, as undecided if the rules may be true for a content that no sort lists."""
        if not read.possibly:
            return denied
        why = f"{denied.why}; that depends on a content which no value of its finite sort stands for"
        return replace(denied, reason="undecided", why=why)


def rules_for(
    tool: Tool,
    gates: Sequence[Gate],
    deployment: Deployment,
    bounds: Mapping[str, int],
    never_met: NeverMet | None = None,
) -> Rules:
    """Return the rules for a tool of the deployment behind gates."""
    written = next(one for one in deployment.written.tools if one.name == tool.name)
    found = []
    for gate in gates:
        own = tuple(GateLine(print_line(one), one.permits) for one in gate.lines if one.tool == tool.name)
        if own or gate.denies:
            found.append(GateLines(gate.name, gate.denies, own))
    return Rules(str(written.guard), tuple(found), bounds, never_met)


def bounds_of(deployment: Deployment) -> Mapping[str, int]:
    """Return the bounds that a database has to keep: those of sorts whose values are not listed."""
    return {
        sort: bound
        for sort, bound in deployment.bounds.items()
        if sort not in deployment.unbounded and not deployment.schema.is_finite(sort)
    }


# the gates that a guard enforces


def gates_named(plain: Deployment, names: Sequence[str]) -> Sequence[Gate]:
    """Return the gates of these names; raise `InputError` for an unknown one."""
    under_gates(plain, names)
    return [gate for gate in plain.written.gates if gate.name in names]


def gates_of_shield(shield: Shield, plain: Deployment, names: Sequence[str]) -> Sequence[Gate]:
    """Return the gate of a shield; raise `InputError` if it is of another deployment, or has no gate."""
    of = shield.deployment.ungated or shield.deployment
    if text_digest(_without_fair(of)) != text_digest(_without_fair(plain)):
        raise InputError(f"the shield is of another deployment than {plain.name}; compute the one of this")
    missing = [name for name in shield.deployment.gated if name not in names]
    if missing:
        raise InputError(f"the shield was computed{Harness(tuple(missing))}; give the same gates")
    if shield.lost is not None:
        raise InputError(
            "the shield has a run that no restriction of agents prevents; nothing can be guarded"
        )
    if shield.gate is None and any(tool.denied for tool in shield.tools):
        raise InputError("the shield has no gate, since no condition says what a tool may do; write a gate")
    return [] if shield.gate is None else [shield.gate]


def _without_fair(deployment: Deployment) -> Deployment:
    return replace(deployment, written=replace(deployment.written, fair=(), fair_actions=()), text=None)
