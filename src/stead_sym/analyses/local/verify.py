"""Specifications of a deployment under its agents, each shown on few facts, refuted by a run, or unknown.

A run is replayed before it counts, by the semantics and the agents alone. One decision: it is looked for
where agents may do anything or follow rules. No other agent is asked: what a run of any agent breaks, this
one may keep.

No claim of the file is checked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from stead_sym.agents.roles import AgentLike, Wrappers, deciding, named, wrap_all
from stead_sym.agents.rules import RuleAgent
from stead_sym.analyses.local.concrete import can_be_followed
from stead_sym.analyses.local.model import Local, Refuted, Shown
from stead_sym.analyses.views.choices import followed
from stead_sym.deployment.deployment import Deployment, Question
from stead_sym.deployment.parts import Spec
from stead_sym.deployment.restriction import normal_restriction
from stead_sym.engines.symbolic.bdd.manager import Backend
from stead_sym.evidence.moves import Moves
from stead_sym.evidence.prefix import refutation
from stead_sym.evidence.renamed import renamed
from stead_sym.evidence.replay import replay
from stead_sym.support.progress import Progress
from stead_sym.verification.answers import refuted
from stead_sym.verification.verdict import Verdict


@dataclass(frozen=True)
class Localised:
    """What was found of a ``deployment`` under ``agent``: ``shown`` has how, for each specification that
    holds."""

    deployment: Deployment
    agent: str
    verdicts: Mapping[str, Verdict]
    shown: Mapping[str, Shown]
    seconds: float
    moves: Moves | None = None
    """What else could have happened on the runs by which some fail; None where none is looked for."""


def localise(
    deployment: Deployment,
    agents: Mapping[str, AgentLike],
    specs: Iterable[Question] | None = None,
    *,
    backend: Backend | None = None,
    progress: Progress | None = None,
    established: Callable[[Verdict, Moves | None], None] | None = None,
) -> Localised:
    """Show specifications on the few facts that each depends on, or refute them by a run that these guide.
    ``established`` is called with each verdict as soon as it is there."""
    started = time.perf_counter()
    running = deciding(deployment, agents)
    deployment, asked = deployment.asked(specs, running)
    deployment = deployment.following(asked, running)
    wrappers = wrap_all(deployment, agents)
    local = Local(followed(deployment, wrappers, None), backend)
    known = all(one is None or type(one.agent) is RuleAgent for one in wrappers.values())
    moves = None
    if known and can_be_followed(deployment):
        moves = Moves(deployment, wrappers, normal_restriction(deployment))
    written = {spec.name: spec.formula for spec in deployment.written.specs}
    verdicts: dict[str, Verdict] = {}
    shown: dict[str, Shown] = {}
    for number, spec in enumerate(asked):
        if progress is not None:
            progress("local", specifications=number, of=len(asked))
        how = local.shown(spec.formula, refuting=moves is not None)
        if isinstance(how, Shown):
            shown[spec.name] = how
            verdict = Verdict(spec.name, written[spec.name], True, scope=(str(how),), expected=spec.expected)
        elif isinstance(how, Refuted) and (found := _replayed(deployment, wrappers, spec, how)):
            verdict = found
        else:
            why = "the run that was found is not the agent's" if isinstance(how, Refuted) else how
            why = f"not shown on few facts: {why}"
            verdict = Verdict(spec.name, written[spec.name], None, why, expected=spec.expected)
        verdicts[spec.name] = verdict
        if established is not None:
            established(verdict, moves)
    agent = named({name: "any" if one is None else one.agent.name for name, one in wrappers.items()})
    seconds = time.perf_counter() - started
    return Localised(deployment, agent, MappingProxyType(verdicts), MappingProxyType(shown), seconds, moves)


def _replayed(deployment: Deployment, wrappers: Wrappers, spec: Spec, how: Refuted) -> Verdict | None:
    """That a specification fails by a run, if its replay confirms that."""
    evidence = refutation(spec.formula, how.run)
    assert evidence is not None, f"the run does not show that {spec.name} fails"
    verdict = refuted(deployment, spec, evidence)
    assert verdict.evidence is not None
    if not replay(deployment, wrappers, verdict.evidence).confirmed:
        return None
    return replace(verdict, evidence=renamed(verdict.evidence, deployment, wrappers))
