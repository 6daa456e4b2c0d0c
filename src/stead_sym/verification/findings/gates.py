"""What gates do to the calls that the reachable states enable: how many each lets through, and lines that do
nothing.

One decision: calls are counted as the tools enable them without any gate, over the states that are reachable
behind all of them, so that the numbers of several gates can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.gates import allowed, matched
from stead_sym.deployment.parts import Gate, Line
from stead_sym.deployment.terminal import over
from stead_sym.deployment.tool import Tool
from stead_sym.engines.protocol import Engine
from stead_sym.logic.substitution import expand
from stead_sym.logic.syntax import Exists, Expanded, Formula, Iff, Not, Resolved, conjunction
from stead_sym.verification.findings.finding import Finding


@dataclass(frozen=True, slots=True)
class Share:
    """How many calls of agents the reachable states enable, and how many of these a gate allows:

    enabled = |{ (D, ω(u)) : D ∈ R, (D, u) ⊨ guard_ω }|, and ``allowed`` those that the gate lets through.
    """

    gate: str
    enabled: int
    allowed: int

    def __str__(self) -> str:
        return f"{self.gate} allows {self.allowed:,} of {self.enabled:,} enabled calls"


def shares(deployment: Deployment, engine: Engine) -> tuple[Share, ...]:
    """What each gate in force lets through, in the order of the file."""
    tools = _tools(deployment)
    enabled = sum(engine.enabled_calls(tool.name, tool.guard) for tool in tools)

    def let_through(gate: Gate) -> int:
        return sum(engine.enabled_calls(tool.name, _allowing(deployment, tool, [gate])) for tool in tools)

    return tuple(Share(gate.name, enabled, let_through(gate)) for gate in _in_force(deployment))


def gate_findings(deployment: Deployment, is_reached: Callable[[Formula], bool]) -> Iterator[Finding]:
    """Yield the lines of the gates in force that match no call which would be offered without gates, and
    those without which the same calls would be allowed. ``is_reached`` is whether a sentence is true in some
    reachable state, or may be."""
    gates = _in_force(deployment)
    for gate in gates:
        for number, line in enumerate(gate.lines):
            tool = next(one for one in _tools(deployment) if one.name == line.tool)
            matching = conjunction((tool.guard, _read(deployment, tool, matched(line, tool))))
            whose = f"`{_shown(line)}` of gate {gate.name}"
            if not is_reached(over(Exists, tool, matching, deployment.schema)):
                yield Finding(
                    "rule never matches",
                    line.span,
                    f"{whose} matches no call that is enabled in a reachable state",
                    "weaken its condition, or remove the line",
                )
            elif not _matters(deployment, is_reached, gates, gate, number):
                yield Finding(
                    "rule never selects",
                    line.span,
                    f"{whose} never matters: without it the same calls are allowed in every reachable state",
                    "remove it, or one of the lines that say the same",
                )


def _matters(
    deployment: Deployment,
    is_reached: Callable[[Formula], bool],
    gates: Sequence[Gate],
    gate: Gate,
    number: int,
) -> bool:
    """Whether without the line of this number other calls would be allowed, of those that are enabled in
    some reachable state."""
    less = replace(gate, lines=(*gate.lines[:number], *gate.lines[number + 1 :]))
    others = [less if one is gate else one for one in gates]
    return any(
        is_reached(over(Exists, tool, Not(Iff(now, then)), deployment.schema))
        for tool in _tools(deployment)
        if (now := _allowing(deployment, tool, gates)) != (then := _allowing(deployment, tool, others))
    )


def _allowing(deployment: Deployment, tool: Tool, gates: Sequence[Gate]) -> Formula:
    """Of the parameters of a tool: its call is enabled, and these gates allow it."""
    says = (_read(deployment, tool, allowed(gate, tool)) for gate in gates)
    return conjunction((tool.guard, *says))


def _in_force(deployment: Deployment) -> list[Gate]:
    return [gate for gate in deployment.written.gates if gate.name in deployment.gated]


def _tools(deployment: Deployment) -> tuple[Tool, ...]:
    """The tools, with the guards that they have without gates."""
    tools = () if deployment.ungated is None else deployment.ungated.tools
    return tuple(replace(tool, guard=_read(deployment, tool, tool.guard)) for tool in tools)


def _read(deployment: Deployment, tool: Tool, formula: Resolved) -> Expanded:
    """The formula over the parameters of a tool, as the states tell it."""
    scope = {param.name: param.sort for param in tool.params}
    return deployment.told(expand(formula, deployment.names.definitions), scope)


def _shown(line: Line) -> str:
    return f"{'permit' if line.permits else 'forbid'} {line.tool}(…)"
