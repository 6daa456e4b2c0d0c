"""Specifications of a deployment under its agents, each shown on few facts or unknown.

One decision: nothing is refuted here, and no claim of the file is checked: a specification that is not shown
is unknown, and says why.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from stead_sym.agents.roles import AgentLike, deciding, named, wrap_all
from stead_sym.analyses.local.model import Local, Shown
from stead_sym.analyses.views.choices import followed
from stead_sym.deployment.deployment import Deployment, Question
from stead_sym.engines.symbolic.bdd.manager import Backend
from stead_sym.support.progress import Progress
from stead_sym.verification.verdict import Verdict


@dataclass(frozen=True)
class Localised:
    """What was shown of a ``deployment`` under ``agent``: ``shown`` has how, for each specification that
    holds."""

    deployment: Deployment
    agent: str
    verdicts: Mapping[str, Verdict]
    shown: Mapping[str, Shown]
    seconds: float


def localise(
    deployment: Deployment,
    agents: Mapping[str, AgentLike],
    specs: Iterable[Question] | None = None,
    *,
    backend: Backend | None = None,
    progress: Progress | None = None,
    established: Callable[[Verdict], None] | None = None,
) -> Localised:
    """Show specifications on the few facts that each depends on. ``established`` is called with each verdict
    as soon as it is there."""
    started = time.perf_counter()
    running = deciding(deployment, agents)
    deployment, asked = deployment.asked(specs, running)
    deployment = deployment.following(asked, running)
    wrappers = wrap_all(deployment, agents)
    local = Local(followed(deployment, wrappers, None), backend)
    written = {spec.name: spec.formula for spec in deployment.written.specs}
    verdicts: dict[str, Verdict] = {}
    shown: dict[str, Shown] = {}
    for number, spec in enumerate(asked):
        if progress is not None:
            progress("local", specifications=number, of=len(asked))
        how = local.shown(spec.formula)
        if isinstance(how, Shown):
            shown[spec.name] = how
            verdict = Verdict(spec.name, written[spec.name], True, scope=(str(how),), expected=spec.expected)
        else:
            why = f"not shown on few facts: {how}"
            verdict = Verdict(spec.name, written[spec.name], None, why, expected=spec.expected)
        verdicts[spec.name] = verdict
        if established is not None:
            established(verdict)
    agent = named({name: "any" if one is None else one.agent.name for name, one in wrappers.items()})
    seconds = time.perf_counter() - started
    return Localised(deployment, agent, MappingProxyType(verdicts), MappingProxyType(shown), seconds)
