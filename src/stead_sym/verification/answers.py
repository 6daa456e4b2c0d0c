"""Answers to specifications over the explored states, before the hypotheses are taken into account.

Each answer comes with a flag: True if a finite run shows it. Such an answer is a failure, and that run is one
of the deployment whatever else is reachable. Fairness does not weaken it (`readings`): every finite run is
the prefix of a fair run, or of one that the `fair` lines leave out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from stead_sym.agents.roles import Wrappers
from stead_sym.deployment.claims import claim_named
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import Spec
from stead_sym.engines.protocol import Engine
from stead_sym.errors import DefinitionError
from stead_sym.evidence.prefix import breach, refutation
from stead_sym.evidence.renamed import renamed
from stead_sym.evidence.tree import Evidence
from stead_sym.support.progress import Progress
from stead_sym.verification.findings.starvation import by_events
from stead_sym.verification.readings import NOT_SHOWN_FAIR, answer
from stead_sym.verification.scope import Leeway
from stead_sym.verification.verdict import Verdict


def of_engine(
    deployment: Deployment,
    specs: Sequence[Spec],
    wrappers: Wrappers,
    engine: Engine,
    left_open: Leeway,
    progress: Progress | None,
) -> Iterator[tuple[Verdict, bool]]:
    """Yield the answer to each specification over all reachable states, and True if a finite run shows it."""
    for number, spec in enumerate(specs):
        if progress is not None:
            progress("check", specifications=number, of=len(specs))
        said = answer(engine, spec.formula)
        if said.holds is None:
            yield _found(deployment, spec, None), False
            continue
        evidence = said.evidence
        by_run = bool(engine.open_leaps) and not said.holds  # it is not used otherwise
        by_run = by_run and refutation(spec.formula, evidence.trace) is not None
        scope = (*said.scope, *left_open.scope(spec.formula, said.holds, evidence))
        if said.holds and (idle := by_events(deployment, engine, spec.formula)):
            scope = (*scope, idle)
        found = _found(deployment, spec, said.holds, renamed(evidence, deployment, wrappers))
        yield replace(found, scope=scope), by_run


def of_broken(
    deployment: Deployment, specs: Sequence[Spec], broken: DefinitionError, left_open: Leeway
) -> Iterator[tuple[Verdict, bool]]:
    """Yield the failure of the claim that a run breaks, then the answer to each specification.

    A specification that this run refutes fails; every other one is open.
    """
    claim, run = claim_named(deployment, broken.claim), broken.trace
    assert claim is not None, f"there is no claim {broken.claim}"
    why = f"{run.claim}; {broken.remedy}"
    shown = breach(claim, run)
    scope = left_open.scope(claim.formula, False, shown)
    yield Verdict(claim.name, claim.formula, False, why, shown, scope=scope, claim=True), True
    for spec in specs:
        evidence = refutation(spec.formula, run)
        if evidence is None:
            yield _found(deployment, spec, None), False
        else:
            yield refuted(deployment, spec, evidence, left_open), True


def refuted(deployment: Deployment, spec: Spec, evidence: Evidence, left_open: Leeway) -> Verdict:
    """Return the answer that a specification fails, with the evidence of a finite run.

    Constraints on actions leave out no finite run; those on states may (`readings`).
    """
    constrained = bool(deployment.fair or deployment.fair_actions)
    found = _found(deployment, spec, False, replace(evidence, completed=constrained))
    fairly = (NOT_SHOWN_FAIR,) if deployment.fair else ()
    return replace(found, scope=(*fairly, *left_open.scope(spec.formula, False, evidence)))


def _found(
    deployment: Deployment, spec: Spec, holds: bool | None, evidence: Evidence | None = None
) -> Verdict:
    """Return the answer to a specification; its verdict has the formula as it is written in the file."""
    written = next(one.formula for one in deployment.written.specs if one.name == spec.name)
    return Verdict(spec.name, written, holds, evidence=evidence, expected=spec.expected)
