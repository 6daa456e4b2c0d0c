"""The replay of a log: whether each decision in it follows from the text of the deployment.

A replay needs no database. It shows that the log is whole, that it was written for this deployment, and that
each decision is the one that the deployment's guards, gates and bounds give for what the guard read. It
does not show that the guard read it right, nor that the database has changed as the tools' effects say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, get_args

from stead_sym.deployment.deployment import Deployment, print_deployment
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.parts import Gate, Harness
from stead_sym.deployment.printer import print_gate
from stead_sym.deployment.tool import Tool
from stead_sym.errors import InputError
from stead_sym.guard.decision import Allowed, Denied, NeverMet, Outcome, Reading, ToolCall
from stead_sym.guard.log import read_log
from stead_sym.guard.rules import Rules, bounds_of, rules_for

_OUTCOMES = get_args(Outcome)


@dataclass(frozen=True, slots=True)
class ReplayedLog:
    """A replayed log. ``fault`` is why a decision does not follow from the deployment, with its line.

    ``guards`` has the gates of each kind of guard that appended to it. ``outcomes`` counts what became of
    calls that were ``allowed``; of the others the log does not tell. Of those that were ``denied``,
    ``unread`` were so before anything was read that decides.
    """

    lines: int
    head: str
    guards: Sequence[str]
    allowed: int
    outcomes: Mapping[str, int]
    denied: int
    unread: int
    fault: str = ""

    @property
    def confirmed(self) -> bool:
        """True if every decision follows from the deployment."""
        return not self.fault


def replay_audit_log(path: str | Path, deployment: Deployment) -> ReplayedLog:
    """Replay the log of a guard; raise `InputError` if its chain is broken or it is of another deployment."""
    plain = deployment.ungated or deployment
    run = _Run(plain)
    number, head, fault = 0, "", ""
    for place, entry in read_log(path, plain):
        number, head = entry["n"], entry["hash"]
        if not fault:
            try:
                run.follow(entry)
            except _Fault as error:
                fault = f"{place}: {error}"
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                fault = f"{place}: no line that a guard writes ({type(error).__name__}: {error})"
    counts = run.counts
    outcomes = {event: counts[event] for event in _OUTCOMES if counts[event]}
    return ReplayedLog(
        number,
        head,
        tuple(run.kinds),
        counts["allowed"],
        outcomes,
        counts["denied"],
        counts["unread"],
        fault,
    )


class _Fault(Exception):
    """A line does not follow from the deployment and the lines before it."""


_Guarded: TypeAlias = Mapping[str, tuple[Tool, Rules]]
"""The tools of a guard's agent, and the rules for each."""


class _Run:
    """The lines so far: guards that were opened, and calls that were allowed without an outcome yet."""

    def __init__(self, deployment: Deployment) -> None:
        self._plain = deployment
        self._guards: dict[int, _Guarded] = {}
        self._open: set[int] = set()
        self.counts = Counter[str]()
        self.kinds: dict[str, None] = {}

    def follow(self, entry: Mapping[str, Any]) -> None:
        """Check the next line; raise `_Fault`."""
        match entry["event"]:
            case "opened":
                self._guards[entry["n"]] = self._opened(entry)
            case "allowed" | "denied":
                self._decided(entry)
            case "torn":
                pass  # nobody acted on it
            case event if event in _OUTCOMES:
                if entry["of"] not in self._open:
                    raise _Fault(f"line {entry['of']} has no allowed call that is under way")
                self._open.remove(entry["of"])
            case event:
                raise _Fault(f"no guard writes the event {event!r}")
        self.counts[entry["event"]] += 1

    def _opened(self, entry: Mapping[str, Any]) -> _Guarded:
        if not isinstance(entry["digest"], str) or not isinstance(entry["bounds"], bool):
            raise _Fault("no guard opens a log so")
        gates = [self._gate(text) for text in entry["gates"]]
        alone = self._plain.one_by_one()
        try:
            role = alone.agent(entry["agent"])
        except InputError as error:
            raise _Fault(str(error)) from None
        bounds = bounds_of(alone) if entry["bounds"] else {}
        never_met = entry.get("never_met")
        if never_met not in (None, *get_args(NeverMet)):
            raise _Fault(f"no guard does {never_met!r} in contexts that were never met")
        kind = (
            f"{role.name}{Harness(tuple(gate.name for gate in gates)) if gates else ' without gates'}".strip()
        )
        if never_met is not None:
            kind += f", with a verification; what it never met: {never_met}"
        self.kinds[kind if entry["bounds"] else f"{kind}, also past the bounds"] = None
        tools = alone.tools_of(role)
        return {tool.name: (tool, rules_for(tool, gates, alone, bounds, never_met)) for tool in tools}

    def _gate(self, text: str) -> Gate:
        """Return the gate that a text prints: one of the file, or that of a shield."""
        for gate in self._plain.written.gates:
            if "\n".join(print_gate(gate)) == text:
                return gate
        bare = replace(self._plain, written=replace(self._plain.written, specs=()))
        try:
            gated = parse_deployment(f"{print_deployment(bare)}\n{text}\n")
        except InputError as error:
            raise _Fault(f"this is no gate of {self._plain.name}: {text} ({error})") from None
        return gated.written.gates[-1]

    def _decided(self, entry: Mapping[str, Any]) -> None:
        if entry["opened"] not in self._guards:
            raise _Fault(f"line {entry['opened']} opens no guard")
        rules = self._guards[entry["opened"]]
        call = ToolCall(entry["tool"], entry["arguments"])
        if "read" not in entry:
            self._unread(entry, call, rules)
            return
        if call.tool not in rules:
            raise _Fault(f"the agent has no tool {call.tool}")
        tool, own = rules[call.tool]
        if sorted(call.arguments) != sorted(param.name for param in tool.params):
            raise _Fault(f"{call} has other arguments than the tool")
        decision = own.decide(call, _reading(entry["read"], own), entry.get("approved"))
        if isinstance(decision, Allowed) and (own.never_met is None) != (entry["read"].get("gap") is None):
            raise _Fault(f"{call} is allowed, and what was read is of a guard with another verification")
        if isinstance(decision, Denied):
            follows: Sequence[object] = ["denied", decision.reason, decision.why]
            logged = [entry["event"], entry.get("reason"), entry.get("why")]
        else:
            follows = ["allowed", list(decision.by)]
            logged = [entry["event"], entry.get("by")]
            self._open.add(entry["n"])
        if follows != logged:
            raise _Fault(f"{call} is logged as {_shown(logged)}, and what was read gives {_shown(follows)}")

    def _unread(self, entry: Mapping[str, Any], call: ToolCall, rules: _Guarded) -> None:
        """Check a denial for which nothing was read."""
        reason, known = entry.get("reason"), call.tool in rules
        fits = {"unknown tool": not known, "bad arguments": known, "undecided": True}
        if entry["event"] != "denied" or not fits.get(str(reason)):
            raise _Fault(f"{call} is {entry['event']}, {reason}, and nothing was read that shows it")
        self.counts["unread"] += 1


def _reading(data: Mapping[str, Any], rules: Rules) -> Reading:
    """Return what was read for these rules; raise `_Fault` if it is of others."""
    read = Reading(**data)
    values = [read.guard, *(value for gate in read.gates.values() for value in gate), *read.within.values()]
    shape = {gate.gate: len(gate.lines) for gate in rules.gates}
    fits = {gate: len(values) for gate, values in read.gates.items()} == shape
    if (
        not fits
        or set(read.within) != set(rules.bounds)
        or not all(isinstance(value, bool) for value in values)
        or not isinstance(read.possibly, bool | None)
        or not isinstance(read.gap, str | None)
    ):
        raise _Fault("what was read is of other gates or bounds than the guard's")
    return read


def _shown(parts: Sequence[object]) -> str:
    return ", ".join(map(str, parts))
