"""Deployments whose formulas speak of the last step and of the past, made from any other: parts of their
formulas are put below `once`, `previously` and the like, beside another part, or are replaced by `did`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random

from hypothesis import strategies as st

import stead_sym.logic.syntax as fo
from generated.workflows import workflows
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.following import mapped


@st.composite
def past_workflows(draw: st.DrawFn, *, sound: bool = True, specs: int = 2, depth: int = 3) -> Deployment:
    """A generated workflow with steps and the past in its formulas."""
    deployment = draw(workflows(sound=sound, specs=specs, depth=depth, max_actions=3))
    return with_past(deployment, Random(draw(st.integers(0, 10**6))))


def with_past(deployment: Deployment, choose: Random) -> Deployment:
    """The deployment with steps and the past in some of its formulas."""
    parts = deployment.written
    often = choose.choice((0.05, 0.15, 0.3))

    def did(scope: Mapping[str, str]) -> fo.Did:
        tool = choose.choice(parts.tools)
        args: list[fo.Term] = []
        for param in tool.params:
            known: list[fo.Term] = [fo.Var(name) for name, sort in scope.items() if sort == param.sort]
            known += [fo.Const(value) for value in deployment.constants[param.sort][:1]]
            args.append(choose.choice([*known, *known, fo.Wildcard(param.sort)]))
        having = [agent.name for agent in parts.agents if tool.name in agent.tools]
        by = choose.choice([None, *having]) if having and not tool.event else None
        return fo.Did(tool.name, tuple(args), by)

    def changed(formula: fo.Formula, scope: Mapping[str, str]) -> fo.Formula:
        inner = scope
        if isinstance(formula, fo.Quantified):
            inner = {**scope, formula.binder.name: formula.binder.sort}
        formula = fo.map_children(lambda child: changed(child, inner), formula)
        if fo.is_temporal(formula) or choose.random() > often:
            return formula
        match choose.randrange(8):
            case 0 | 1:
                return fo.Since(fo.TRUE, formula)
            case 2:
                return fo.Previously(formula)
            case 3:
                return fo.Not(fo.Since(fo.TRUE, fo.Not(formula)))
            case 4:
                return fo.Since(formula, did(scope))
            case 5 if fo.children(formula):
                return fo.Since(fo.Not(did(scope)) if choose.random() < 0.5 else fo.TRUE, formula)
            case _:
                return did(scope)

    written = replace(mapped(parts, changed, None), fair=parts.fair)
    return replace(deployment, written=written, text=None)
