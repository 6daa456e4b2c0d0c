"""Verification of specifications of a deployment under an agent, to verdicts with evidence.

The answer is about the infinite-domain deployment. It is `holds` or `fails` only if each hypothesis of the
theorem that it needs was established. The engines check the bounds, that every state offers a call, and that
every offered call has an effect. The wrapper makes the agent equivariant. Guards, views and effects are
first-order with constants in C, so that Offer and τ are equivariant. The domain is at least as large as the
theorem requires.

One decision: an engine only decides truth in what it explored. The hypotheses are audited once (`audit`), and
each verdict follows from them and the engine's answer (`Hypotheses.concluded`).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias

from stead_sym.agents.roles import ANY, AgentLike, Wrappers, deciding, wrap_all
from stead_sym.deployment.deployment import Deployment, Question, as_deployment
from stead_sym.deployment.harness import in_harness
from stead_sym.deployment.parts import Harness, Spec
from stead_sym.deployment.restriction import Restriction, normal_restriction, theorem_restriction
from stead_sym.engines.protocol import Engine
from stead_sym.engines.symbolic.bdd.manager import Backend
from stead_sym.errors import DefinitionError
from stead_sym.evidence.moves import Moves
from stead_sym.evidence.renamed import renamed
from stead_sym.evidence.tree import Evidence
from stead_sym.relational.nauty import CANONICAL_SECONDS
from stead_sym.support.progress import Progress
from stead_sym.verification.answers import of_broken, of_engine, refuted
from stead_sym.verification.audit import audit
from stead_sym.verification.calls import changed_by_calls
from stead_sym.verification.explore import explored, telling_apart, watching
from stead_sym.verification.findings.finding import without_accepted
from stead_sym.verification.findings.gates import shares
from stead_sym.verification.findings.ranges import without_difference
from stead_sym.verification.findings.reached import Examined, nowhere_fair, reached_findings
from stead_sym.verification.findings.static import of_text
from stead_sym.verification.hypotheses import Hypotheses
from stead_sym.verification.options import Domain, EngineName, Options
from stead_sym.verification.orbits import Open
from stead_sym.verification.readings import answer
from stead_sym.verification.result import Verification, agent_runs
from stead_sym.verification.scope import Leeway, leeway
from stead_sym.verification.verdict import Verdict

MOST_LOOKED_AT = 25_000
"""The effort, in bits, to enumerate the contexts of a policy (`Engine.meets_contexts`).

It is a count and not a time, so that reports are the same on every machine.
"""

Told: TypeAlias = Callable[[Verdict, Moves], None]
"""A callback that receives each verdict once it is established."""


def verify(
    deployment: Deployment,
    agent: AgentLike | Mapping[str, AgentLike] = ANY,
    specs: Question | Iterable[Question] | None = None,
    *,
    engine: EngineName = "symbolic",
    domain: Domain | Mapping[str, int] | None = None,
    force: bool = False,
    backend: Backend | None = None,
    max_states: int | None = None,
    progress: Progress | None = None,
    wrapped: bool = True,
    findings: bool = True,
    min_mass: float | None = None,
    canonical_timeout: float = CANONICAL_SECONDS,
    established: Told | None = None,
    gates: str | Iterable[str] = (),
    calls: str | None = None,
) -> Verification:
    """Check specifications (by default all of the deployment) under an agent.

    ``specs`` are names of specifications, and sentences that the deployment does not contain, as formulas or
    as text.

    ``agent`` is a policy of the deployment (``desk.policy("baseline")``), a function from a decision context
    to an offered call or several, any `Agent`, or ``"any"``: everything offered. A policy may be given by its
    name.

    ``domain`` is ``"normal"``, in which fresh values have representatives (the default of the symbolic
    engine, and only there), ``"theorem"``, the literal domain of the theorem, or sizes for some sorts of the
    latter. Sizes below the theorem's raise `RestrictionError` unless ``force``, which makes the verdicts
    `unknown`. With ``wrapped`` False the agent is queried on the literal states of the literal domain,
    without the wrapper. It is not equivariant then, and the verdicts are `unknown` too.

    If the `fair` lines leave finite runs out, violations on these count too (`readings`). If no fair run
    starts at an initial state, a specification that is false only for that reason is `unknown`. With
    ``findings`` False no other sign of a vacuous verdict is looked for. ``backend`` is for the symbolic
    engine, ``max_states`` for the explicit one.

    ``established`` is called with each verdict and its moves once it is established, in the order of
    ``specs``. Before that, while states are explored, it is called with the invariants that fail in one of
    them. So the violations of an agent that is stopped, or raises an error, are reported up to then.

    A function, or another recorded agent, that answers a repeated query differently although it is to be
    queried once (`Asking`) leaves the verdicts `unknown`.

    With ``min_mass`` P the verdicts are `unknown` if a language model gives the offered calls of a reachable
    context less than P of its probability at some branching node: it prefers other answers.

    ``gates`` are names of gates of the deployment; an agent is offered the calls that all of them allow.
    ``calls`` is how agents call whatever the deployment has, such as ``"batch 2"`` or ``"sequential"``.
    A verdict that is another with the deployment's own calls is a finding.

    A run that breaks a claim of the file (a bound, a key, that every state has a step and that it has a
    successor) is a verdict on that claim (`Verification.broken`).

    Raises `InputError` for arguments that do not fit together or for unknown names. Raises `DefinitionError`
    with a trace if an initial state breaks such a claim for every agent, or if no state fulfils the `ensure`
    of an offered call. Raises `AgentError` if the agent selects nothing or a call that is not offered. Raises
    `Undecided` if more than ``max_states`` states are reachable. Raises `CanonicalLimit` if a context is so
    symmetric that nauty takes longer than ``canonical_timeout`` seconds to bring it into canonical form.
    """
    options = Options(
        engine, domain, force, wrapped, backend, max_states, findings, min_mass, canonical_timeout
    )
    run = in_harness(
        as_deployment(deployment), Harness((gates,) if isinstance(gates, str) else tuple(gates), calls)
    )
    result = verified(run, agent, specs, options, progress=progress, established=established)
    if not findings:
        return result
    quietly = replace(options, findings=False)
    changed = changed_by_calls(result, lambda other, who, asked: verified(other, who, asked, quietly))
    return replace(result, findings=(*result.findings, *changed))


def verified(
    deployment: Deployment,
    agent: AgentLike | Mapping[str, AgentLike],
    specs: Question | Iterable[Question] | None,
    options: Options,
    *,
    progress: Progress | None = None,
    established: Told | None = None,
    like: Verification | None = None,
) -> Verification:
    """Verify with the options as one value, as `verify` does.

    ``like`` is a verification, made in the same thread, of which this is a variant. Then the preparations of
    the deployment are reused, the contexts of policies are not enumerated, and the verdicts have no
    ``scope``.
    """
    started = time.perf_counter()
    as_deployment(deployment)
    if progress is not None and not callable(progress):
        raise TypeError(f"{progress!r} is nothing to call with progress; give a function, or None")
    running = deciding(deployment, agent)
    deployment, asked = deployment.asked(specs, running)
    deployment = deployment.following(asked, running)
    chosen = deployment.chosen(spec.name for spec in asked)
    if options.mode == "theorem":
        restriction = theorem_restriction(deployment, asked, options.sizes, options.force)
    else:
        restriction = normal_restriction(deployment)
    wrappers = wrap_all(deployment, agent, canonical_timeout=options.canonical_timeout)
    if not options.wrapped:
        wrappers = {name: telling_apart(deployment, w, restriction) for name, w in wrappers.items()}
    prepared = None if like is None else like.explored
    verifying = _Verifying(
        deployment, chosen, wrappers, restriction, options, progress, established, prepared
    )
    return verifying.result(started)


@dataclass(frozen=True)
class _Verifying:
    """One verification, with its specifications resolved and its agents wrapped."""

    deployment: Deployment
    specs: Sequence[Spec]
    wrappers: Wrappers
    restriction: Restriction
    options: Options
    progress: Progress | None
    established: Told | None
    like: Engine | None

    def result(self, started: float) -> Verification:
        """Explore, audit the hypotheses, decide the specifications, check vacuity."""
        watch = None if self.established is None else watching(self.specs, self._tell_early)
        found = explored(
            self.deployment, self.wrappers, self.restriction, self.options, self.progress, watch, self.like
        )
        engine = None if isinstance(found, DefinitionError) else found
        broken = found if isinstance(found, DefinitionError) else None
        restriction = self.restriction if engine is None else engine.restriction
        met = self.options.engine == "explicit" if engine is None else self._meets_contexts(engine)
        hypotheses = self._audit(found, restriction)
        left_open = self._leeway(engine)
        if isinstance(found, DefinitionError):
            answers = of_broken(self.deployment, self.specs, found, left_open)
        else:
            answers = of_engine(self.deployment, self.specs, self.wrappers, found, left_open, self.progress)
        moves = Moves(self.deployment, self.wrappers, restriction)
        verdicts: dict[str, Verdict] = {}
        for found_one, by_run in answers:
            verdicts[found_one.spec] = hypotheses.concluded(found_one, by_run=by_run)
            if self.established is not None:
                self.established(verdicts[found_one.spec], moves)
        examined = Examined()
        if self.options.findings:
            examined = self._examined(engine, verdicts, left_open, hypotheses)
        verdicts |= {name: replace(verdicts[name], empty=True) for name in examined.emptied}
        return Verification(
            deployment=self.deployment,
            agents=agent_runs(self.wrappers, met=met),
            restriction=restriction,
            options=self.options,
            verdicts=MappingProxyType(verdicts),
            seconds=time.perf_counter() - started,
            explored=engine,
            moves=moves,
            hypotheses=hypotheses,
            findings=examined.findings,
            accepted=examined.accepted,
            unexamined=examined.left,
            shares=() if engine is None or not self.options.findings else shares(self.deployment, engine),
            broken=broken,
        )

    def _meets_contexts(self, engine: Engine) -> bool:
        return engine.meets_contexts(0 if self.like is not None else MOST_LOOKED_AT)

    def _leeway(self, engine: Engine | None) -> Leeway:
        if self.like is not None:
            return Leeway(Open(self.deployment, engine, self.wrappers, self.specs))
        return leeway(self.deployment, engine, self.wrappers, self.specs)

    def _audit(self, found: Engine | DefinitionError | None, restriction: Restriction) -> Hypotheses:
        return audit(self.deployment, self.wrappers, restriction, found, self.options)

    def _tell_early(self, spec: Spec, evidence: Evidence) -> None:
        """Report a specification that a run refutes during the exploration."""
        assert self.established is not None
        evidence = renamed(evidence, self.deployment, self.wrappers)
        found = refuted(self.deployment, spec, evidence, leeway(self.deployment, None, self.wrappers))
        verdict = self._audit(None, self.restriction).concluded(found, by_run=True)
        if verdict.holds is False:
            self.established(verdict, Moves(self.deployment, self.wrappers, self.restriction))

    def _examined(
        self,
        engine: Engine | None,
        verdicts: Mapping[str, Verdict],
        left_open: Leeway,
        hypotheses: Hypotheses,
    ) -> Examined:
        """Return the findings; those over reachable states are for the specifications that hold or fail.

        Findings on the text are left out if what they warn of was verified, or makes no difference.
        """
        about = {None, *(spec.name for spec in self.specs)}
        stated = [finding for finding in of_text(self.deployment) if finding.spec in about]
        if engine is None:
            return self._accepting(Examined(tuple(stated)))
        if not hypotheses.missing_for(True):  # then the keys hold, however they were written
            stated = [finding for finding in stated if finding.kind != "key at risk"]
        if self.progress is not None:
            answers = Counter(verdict.holds for verdict in verdicts.values())
            counts = {"hold": answers[True], "fail": answers[False], "open": answers[None]}
            self.progress("findings", **{word: number for word, number in counts.items() if number})
        decided = [spec for spec in self.specs if verdicts[spec.name].holds is not None]
        idle = without_difference(self.deployment, decided, lambda said: answer(engine, said).holds)
        stated = [finding for finding in stated if finding not in idle]
        examined = reached_findings(self.deployment, engine, decided, self.wrappers)
        unfair = nowhere_fair(self.deployment, engine)
        of_whom = (
            one
            for spec in decided
            for one in left_open.findings(spec, verdicts[spec.name].holds, verdicts[spec.name].evidence)
        )
        every = (*stated, *unfair, *of_whom, *examined.findings)
        return self._accepting(replace(examined, findings=every))

    def _accepting(self, examined: Examined) -> Examined:
        agents = {ANY if one is None else one.agent.name for one in self.wrappers.values()}
        standing, accepted = without_accepted(self.deployment, examined.findings, agents)
        return replace(examined, findings=standing, accepted=accepted)
