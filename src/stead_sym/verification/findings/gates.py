"""Findings on gates over the reachable states: how many calls each allows, and lines that have no effect.

One decision: calls are counted as the tools enable them without any gate, over the states that are reachable
behind all gates. So the numbers of several gates can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.gates import allowed, matched
from stead_sym.deployment.parts import AgentRole, Gate, Line, Rule
from stead_sym.deployment.terminal import over
from stead_sym.deployment.tool import Tool
from stead_sym.engines.protocol import Engine
from stead_sym.logic.substitution import expand
from stead_sym.verification.findings.finding import Finding

Reached: TypeAlias = Callable[[fo.Formula], bool]
"""Return True if a sentence is true in some reachable state, or may be."""


@dataclass(frozen=True, slots=True)
class Share:
    """The number of calls of agents that the reachable states enable, and how many of these a gate allows.

    ``enabled`` = |{ (D, ω(u)) : D ∈ R, (D, u) ⊨ guard_ω }|, and ``allowed`` is the number of these that the
    gate allows.
    """

    gate: str
    enabled: int
    allowed: int

    def __str__(self) -> str:
        """Return the share as text."""
        return f"{self.gate} allows {self.allowed:,} of {self.enabled:,} enabled calls"


def shares(deployment: Deployment, engine: Engine) -> tuple[Share, ...]:
    """Return the share of each gate in force, in the order of the file."""
    tools = _tools(deployment)
    enabled = sum(engine.enabled_calls(tool.name, tool.guard) for tool in tools)

    def let_through(gate: Gate) -> int:
        return sum(engine.enabled_calls(tool.name, _allowing(deployment, tool, [gate])) for tool in tools)

    return tuple(Share(gate.name, enabled, let_through(gate)) for gate in _in_force(deployment))


def under_gates(deployment: Deployment) -> str:
    """Return the words that end a sentence about the states that the gates in force leave; empty without."""
    return ("", " under this gate", " under these gates")[min(len(deployment.gated), 2)]


def gate_findings(deployment: Deployment, is_reached: Reached) -> Iterator[Finding]:
    """Yield findings on the gates in force that allow no call, and on their lines that have no effect.

    These are the lines that match no call which would be offered without gates, and those without which the
    same calls would be allowed.
    """
    gates = _in_force(deployment)
    enabled = [tool for tool in _tools(deployment) if _is_met(deployment, is_reached, tool, tool.guard)]
    for gate in gates:
        if enabled and not any(_is_allowed(deployment, is_reached, tool, [gate]) for tool in enabled):
            yield Finding(
                "gate leaves nothing",
                gate.span,
                f"the gate {gate.name} allows no call that is enabled in a reachable state",
                "let it permit what agents are there for",
            )
        for number, line in enumerate(gate.lines):
            tool = next(one for one in _tools(deployment) if one.name == line.tool)
            matching = fo.conjunction((tool.guard, _read(deployment, tool, matched(line, tool))))
            whose = f"`{_shown(line)}` of gate {gate.name}"
            if not _is_met(deployment, is_reached, tool, matching):
                parts = tuple(fo.conjuncts(line.when))
                variants = [matched(replace(line, when=part), tool) for part in (fo.TRUE, *parts)]
                called, *true = (
                    _is_met(
                        deployment,
                        is_reached,
                        tool,
                        fo.conjunction((tool.guard, _read(deployment, tool, one))),
                    )
                    for one in variants
                )
                why = never_met("no such call is enabled", parts if called else (), true)
                yield Finding(
                    "rule never matches",
                    line.span,
                    f"{whose} matches no call that is enabled in a reachable state: {why}",
                    "weaken its condition, or remove the line",
                )
            elif not _alone(gate, line) and not _matters(deployment, is_reached, gates, gate, number):
                yield Finding(
                    "rule never selects",
                    line.span,
                    f"{whose} never matters: without it the same calls are allowed in every reachable state",
                    "remove it, or one of the lines that say the same",
                )


def never_met(uncalled: str, parts: Sequence[fo.Formula], true: Sequence[bool]) -> str:
    """Return in words why a line matches no call.

    There is no call (``uncalled``, without ``parts``), some parts of its condition are never true of one, or
    all of them never are at the same time.
    """
    if not parts:
        return uncalled
    false = [f"`{part}`" for part, holds in zip(parts, true, strict=True) if not holds]
    if not false:
        return "the parts of its condition are never true all at once"
    return f"{' and '.join(false)} {'is' if len(false) == 1 else 'are'} true of none"


def forbidden(deployment: Deployment, engine: Engine, role: AgentRole, rule: Rule) -> bool:
    """Return True if the gates in force forbid a call that the rule is about in some reachable state.

    If the agent is shown a view, the rule's condition is not evaluated.
    """
    tool = next((one for one in _tools(deployment) if one.name == rule.tool), None)
    gates = _in_force(deployment)
    if tool is None or not gates:
        return False
    about = matched(Line(True, rule.tool, rule.args, fo.TRUE if role.views else rule.when), tool)
    stopped = fo.Not(_allowing(deployment, tool, gates))
    met = fo.conjunction((tool.guard, _read(deployment, tool, about), stopped))
    return _is_met(deployment, lambda sentence: bool(engine.satisfying(sentence, {})), tool, met)


def never_allowed(deployment: Deployment, is_reached: Reached) -> frozenset[str]:
    """Return the tools that some reachable state enables and that the gates in force never allow."""
    gates = _in_force(deployment)
    return frozenset(
        tool.name
        for tool in _tools(deployment)
        if _is_met(deployment, is_reached, tool, tool.guard)
        and not _is_allowed(deployment, is_reached, tool, gates)
    )


def _is_allowed(deployment: Deployment, is_reached: Reached, tool: Tool, gates: Sequence[Gate]) -> bool:
    """Return True if the gates allow a call of the tool that some reachable state enables."""
    return _is_met(deployment, is_reached, tool, _allowing(deployment, tool, gates))


def _alone(gate: Gate, line: Line) -> bool:
    """Return True if the line is the only `permit` of its gate.

    Without it the gate would allow every call that no line names, including those of tools that are added
    later.
    """
    return gate.default is None and line.permits and sum(one.permits for one in gate.lines) == 1


def _matters(
    deployment: Deployment, is_reached: Reached, gates: Sequence[Gate], gate: Gate, number: int
) -> bool:
    """Return True if the gates allow other calls without the line of this number.

    Only calls that some reachable state enables count.
    """
    less = replace(gate, lines=(*gate.lines[:number], *gate.lines[number + 1 :]))
    others = [less if one is gate else one for one in gates]
    return any(
        _is_met(deployment, is_reached, tool, fo.Not(fo.Iff(now, then)))
        for tool in _tools(deployment)
        if (now := _allowing(deployment, tool, gates)) != (then := _allowing(deployment, tool, others))
    )


def _allowing(deployment: Deployment, tool: Tool, gates: Sequence[Gate]) -> fo.Formula:
    """Return the condition on a tool's parameters that its call is enabled and these gates allow it."""
    says = (_read(deployment, tool, allowed(gate, tool)) for gate in gates)
    return fo.conjunction((tool.guard, *says))


def _is_met(deployment: Deployment, is_reached: Reached, tool: Tool, condition: fo.Formula) -> bool:
    """Return True if some values of the parameters satisfy the condition in some reachable state."""
    return is_reached(over(fo.Exists, tool, condition, deployment.schema))


def _in_force(deployment: Deployment) -> list[Gate]:
    return [gate for gate in deployment.written.gates if gate.name in deployment.gated]


def _tools(deployment: Deployment) -> tuple[Tool, ...]:
    """Return the tools with their guards without gates."""
    tools = () if deployment.ungated is None else deployment.ungated.tools
    return tuple(replace(tool, guard=_read(deployment, tool, tool.guard)) for tool in tools)


def _read(deployment: Deployment, tool: Tool, formula: fo.Resolved) -> fo.Expanded:
    """Return the formula over the parameters of a tool, in terms of the relations of the states."""
    scope = tool.scope
    return deployment.told(expand(formula, deployment.names.definitions), scope)


def _shown(line: Line) -> str:
    return f"{'permit' if line.permits else 'forbid'} {line.tool}(…)"
