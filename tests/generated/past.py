"""Deployments whose formulas speak of the last step and of the past, made from any other: parts of their
formulas are put below `once`, `previously` and the like, beside another part, or are replaced by `did`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random

from hypothesis import strategies as st

from generated.workflows import workflows
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.following import mapped
from stead_sym.logic.syntax import (
    TRUE,
    Const,
    Did,
    Formula,
    Not,
    Previously,
    Quantified,
    Since,
    Term,
    Var,
    Wildcard,
    children,
    is_temporal,
    map_children,
)


@st.composite
def past_workflows(draw: st.DrawFn, *, sound: bool = True, specs: int = 2, depth: int = 3) -> Deployment:
    """A generated workflow with steps and the past in its formulas."""
    deployment = draw(workflows(sound=sound, specs=specs, depth=depth, max_actions=3))
    return with_past(deployment, Random(draw(st.integers(0, 10**6))))


def with_past(deployment: Deployment, choose: Random) -> Deployment:
    """The deployment with steps and the past in some of its formulas."""
    parts = deployment.written
    often = choose.choice((0.05, 0.15, 0.3))

    def did(scope: Mapping[str, str]) -> Did:
        tool = choose.choice(parts.tools)
        args: list[Term] = []
        for param in tool.params:
            known: list[Term] = [Var(name) for name, sort in scope.items() if sort == param.sort]
            known += [Const(value) for value in deployment.constants[param.sort][:1]]
            args.append(choose.choice([*known, *known, Wildcard(param.sort)]))
        having = [agent.name for agent in parts.agents if tool.name in agent.tools]
        by = choose.choice([None, *having]) if having and not tool.event else None
        return Did(tool.name, tuple(args), by)

    def changed(formula: Formula, scope: Mapping[str, str]) -> Formula:
        inner = scope
        if isinstance(formula, Quantified):
            inner = {**scope, formula.binder.name: formula.binder.sort}
        formula = map_children(lambda child: changed(child, inner), formula)
        if is_temporal(formula) or choose.random() > often:
            return formula
        match choose.randrange(8):
            case 0 | 1:
                return Since(TRUE, formula)
            case 2:
                return Previously(formula)
            case 3:
                return Not(Since(TRUE, Not(formula)))
            case 4:
                return Since(formula, did(scope))
            case 5 if children(formula):
                return Since(Not(did(scope)) if choose.random() < 0.5 else TRUE, formula)
            case _:
                return did(scope)

    written = replace(mapped(parts, changed, None), fair=parts.fair)
    return replace(deployment, written=written, text=None)
