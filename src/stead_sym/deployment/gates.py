"""Put deployments behind gates, which allow calls of agents: `permit w(x) when f` and `forbid w(x) when f`.

One decision: a deployment behind gates is the deployment whose tools have the conditions of the gates in
their guards. So everything that reads a deployment respects them: agents are offered what is enabled and
allowed. Events are not gated. A gate that refuses is in the effects instead: each effect of a tool gets the
condition that the call is allowed, and one more, `effect refused`, the condition that it is not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import Gate, Line
from stead_sym.deployment.tool import Effect, Tool
from stead_sym.errors import InputError
from stead_sym.logic.folding import conjoin
from stead_sym.logic.names import nearest
from stead_sym.logic.sorts import is_wildcard, substitute


def under_gates(deployment: Deployment, names: str | Iterable[str]) -> Deployment:
    """Return the deployment behind these gates, or itself for none.

    Raises `InputError` for an unknown gate, and for one that is given twice.
    """
    listed = [names] if isinstance(names, str) else list(names)
    if not listed:
        return deployment
    if deployment.ungated is not None:
        raise InputError("the deployment already has gates; give all of them at once")
    known = {gate.name: gate for gate in deployment.written.gates}
    for name in listed:
        if name not in known:
            there = f"there are {', '.join(known)}" if known else "the file has none: write `gate NAME`"
            raise InputError(f"unknown gate {name}; {nearest(str(name), known, there)}")
        if listed.count(name) > 1:
            raise InputError(f"the gate {name} is given twice; leave one out")
    gates = [gate for name, gate in known.items() if name in listed]  # in one order, whatever is given first
    tools = tuple(tool if tool.event else _gated(tool, gates) for tool in deployment.written.tools)
    return replace(deployment.with_tools(tools), ungated=deployment, gated=tuple(gate.name for gate in gates))


def _gated(tool: Tool, gates: Iterable[Gate]) -> Tool:
    """Return the tool behind gates: they are in its guard, or in its effects if they refuse."""
    gates = tuple(gates)
    guard = conjoin(tool.guard, *(allowed(gate, tool) for gate in gates if not gate.refuses))
    passes = conjoin(*(allowed(gate, tool) for gate in gates if gate.refuses))
    effects = tool.effects
    if passes != fo.TRUE:
        taken = (replace(effect, when=conjoin(passes, effect.when)) for effect in effects)
        effects = (*taken, Effect(when=fo.Not(passes), refused=True))
    return replace(tool, guard=guard, effects=effects)


def allowed(gate: Gate, tool: Tool) -> fo.Formula:
    """Return the formula, of the parameters of a tool, that the gate allows its call.

    No `forbid` line matches it. If the gate denies what no line matches, some `permit` line matches it.
    """
    own = [line for line in gate.lines if line.tool == tool.name]
    forbidding = (fo.Not(matched(line, tool)) for line in own if not line.permits)
    permitting = fo.disjunction(tuple(matched(line, tool) for line in own if line.permits))
    if not gate.denies or permitting == fo.TRUE:
        return fo.conjunction(tuple(forbidding))
    return fo.conjunction((permitting, *forbidding))


def matched(line: Line, tool: Tool) -> fo.Resolved:
    """Return the formula, of the parameters of a tool, that the line matches its call.

    A variable that occurs twice in the line makes the two arguments equal.
    """
    images: dict[str, fo.Term] = {}
    equal: list[fo.Formula] = []
    for term, param in zip(line.args, tool.params, strict=True):
        own = fo.Var(param.name)
        if isinstance(term, fo.Var):
            if images.setdefault(term.name, own) != own:
                equal.append(fo.Equal(images[term.name], own))
        elif isinstance(term, fo.Const):
            equal.append(fo.Equal(own, term))
        else:
            assert is_wildcard(term), f"{term} is no argument of a gate's line"
    when = substitute(line.when, images)
    return fo.conjunction((*equal, *(() if when == fo.TRUE else (when,))))
