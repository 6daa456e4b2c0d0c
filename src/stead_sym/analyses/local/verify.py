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
from stead_sym.analyses.local.field import can_be_followed
from stead_sym.analyses.local.model import Local, Shown, few_records
from stead_sym.analyses.local.questions import dual
from stead_sym.analyses.local.refinement import Refuted
from stead_sym.deployment.deployment import Deployment, Question
from stead_sym.deployment.history import begun
from stead_sym.deployment.parts import Spec
from stead_sym.deployment.restriction import normal_restriction
from stead_sym.engines.symbolic.bdd.manager import Backend
from stead_sym.evidence.moves import Moves
from stead_sym.evidence.prefix import endless_evidence, refutation
from stead_sym.evidence.renamed import renamed
from stead_sym.evidence.replay import replay
from stead_sym.evidence.tree import Evidence, Node, Unshown
from stead_sym.support.progress import Progress
from stead_sym.verification.answers import refuted
from stead_sym.verification.result import Verification
from stead_sym.verification.scope import Leeway, leeway
from stead_sym.verification.verdict import Verdict


@dataclass(frozen=True)
class Localised:
    """The verdicts on a ``deployment`` under ``agent``.

    ``shown`` has how each specification was shown that few facts decide, and how, of one that fails by a run,
    what is said of all runs from its end. ``explored`` are those that were decided from all reachable states.
    """

    deployment: Deployment
    agent: str
    verdicts: Mapping[str, Verdict]
    shown: Mapping[str, Shown]
    seconds: float
    moves: Moves | None = None
    """The branching information for the runs of evidence; None if no runs are searched."""
    explored: frozenset[str] = frozenset()

    def followed_by(self, result: Verification) -> Localised:
        """Return these verdicts with those of a verification of what they leave open.

        The verification may add the verdict on a claim of the file that a run breaks.
        """
        return replace(
            self,
            verdicts=MappingProxyType({**self.verdicts, **result.verdicts}),
            seconds=self.seconds + result.seconds,
            moves=result.moves if self.moves is None else self.moves,
            explored=frozenset(result.verdicts.keys() & self.verdicts.keys()),
        )


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

    ``established`` is called with each verdict as soon as it is there.
    """
    started = time.perf_counter()
    running = deciding(deployment, agents)
    deployment, asked = deployment.asked(specs, running)
    deployment = deployment.following(asked, running)
    asked = deployment.chosen(spec.name for spec in asked)
    wrappers = wrap_all(deployment, agents)
    local = Local.under_all(deployment, wrappers, backend)
    left_open = leeway(deployment, None, wrappers, asked)
    known = all(one is None or type(one.agent) is RuleAgent for one in wrappers.values())
    moves = few = None
    if known and can_be_followed(deployment):
        moves = Moves(deployment, wrappers, normal_restriction(deployment))
        few = few_records(deployment, agents, backend)
    written = {spec.name: spec.formula for spec in deployment.written.specs}
    verdicts: dict[str, Verdict] = {}
    shown: dict[str, Shown] = {}
    for number, spec in enumerate(asked):
        if progress is not None:
            progress("local", specifications=number, of=len(asked))
        negation = dual(spec.formula) if can_be_followed(deployment) else None
        how = local.shown(
            spec.formula if negation is None else negation,
            refuting=few,
            negated=None if negation is None else spec.formula,
        )
        if isinstance(how, Shown):
            shown[spec.name] = how
            verdict = Verdict(
                spec.name,
                written[spec.name],
                negation is None,
                evidence=None if negation is None else _of_all_runs(deployment, spec),
                expected=spec.expected,
            )
            hedges = left_open.scope(spec.formula, verdict.holds, verdict.evidence)
            verdict = replace(verdict, scope=(str(how), *hedges))
        elif isinstance(how, Refuted) and (
            found := _replayed(deployment, wrappers, spec, how, left_open, holds=negation is not None)
        ):
            verdict = found
            if how.known:
                shown[spec.name] = Shown(how.facts, 1)
                said = f"what is said here of all runs from a state is {shown[spec.name]}"
                verdict = replace(verdict, scope=(said, *verdict.scope))
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


def _of_all_runs(deployment: Deployment, spec: Spec) -> Evidence:
    """Return that a specification EF f fails in the initial state: a claim about all runs."""
    return Evidence(Node(spec.formula, False, begun(deployment, deployment.init), {}, Unshown()))


def _replayed(
    deployment: Deployment, wrappers: Wrappers, spec: Spec, how: Refuted, left_open: Leeway, *, holds: bool
) -> Verdict | None:
    """Return that a specification fails, or holds, by a run, if its replay confirms that."""
    if how.run.loop is None:
        evidence = refutation(spec.formula, how.run, how.known)
    else:
        evidence = endless_evidence(spec.formula, how.run, holds)
    assert evidence is not None, f"the run does not show that {spec.name} {'holds' if holds else 'fails'}"
    verdict = refuted(deployment, spec, evidence, left_open)
    if how.run.loop is not None:  # it is fair, and no continuation is needed
        scope = left_open.scope(spec.formula, holds, evidence)
        verdict = replace(verdict, holds=holds, evidence=evidence, scope=scope)
    assert verdict.evidence is not None
    if not replay(deployment, wrappers, verdict.evidence).confirmed:
        return None
    return replace(verdict, evidence=renamed(verdict.evidence, deployment, wrappers))
