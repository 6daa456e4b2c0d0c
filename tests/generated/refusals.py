"""Deployments with a gate that refuses, made from generated workflows, with `refused` in their formulas."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from hypothesis import strategies as st

import stead_sym.logic.syntax as fo
from generated.past import with_past
from generated.workflows import workflows
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.following import mapped
from stead_sym.deployment.gates import under_gates
from stead_sym.deployment.language import parse_deployment

_EITHER = st.booleans()


@st.composite
def refusing(draw: st.DrawFn, *, past: bool = False) -> Deployment:
    """A workflow with a gate `g` that refuses, with steps in its formulas if ``past``."""
    d = draw(workflows(specs=2, depth=3, max_actions=3))
    if past:
        d = with_past(d, Random(draw(st.integers(0, 10**6))))
    return draw(with_gate(d, refuses=st.just(True)))


@st.composite
def with_gate(draw: st.DrawFn, d: Deployment, *, refuses: st.SearchStrategy[bool] = _EITHER) -> Deployment:
    """The deployment with a gate `g`."""
    tools = [tool for tool in d.written.tools if not tool.event]
    lines = []
    for tool in draw(st.lists(st.sampled_from(tools), min_size=1, max_size=3)):
        when = draw(st.sampled_from(["true", *(f"~({t.guard})" for t in tools if not t.params)]))
        word = draw(st.sampled_from(["permit", "forbid"]))
        lines.append(f"  {word} {tool.name}({', '.join(p.name for p in tool.params)}) when {when}")
    default = draw(st.sampled_from(["", " default deny", " default allow"]))
    return parse_deployment(f"{d}\ngate g{default}{' refuses' * draw(refuses)}\n" + "\n".join(lines))


@st.composite
def refused_workflows(draw: st.DrawFn) -> Deployment:
    """A workflow behind a gate that refuses, with steps in its formulas, some of them refused."""
    d = draw(refusing(past=True))
    choose = Random(draw(st.integers(0, 10**6)))
    events = {tool.name for tool in d.written.tools if tool.event}

    def refused(formula: fo.Formula) -> fo.Formula:
        formula = fo.map_children(refused, formula)
        if isinstance(formula, fo.Did) and formula.tool not in events and choose.random() < 0.5:
            return replace(formula, refused=True)
        return formula

    parts = d.written
    written = replace(mapped(parts, lambda formula, _: refused(formula), None), fair=parts.fair)
    return under_gates(replace(d, written=written, text=None), "g")
