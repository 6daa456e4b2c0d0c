"""From a deployment, an agent and specifications to verdicts with evidence.

The answer is about the infinite-domain deployment. It is `holds` or `fails` only where each hypothesis of the
theorem that it needs was established on the way: the engines check the bounds, that every state offers a call
and every offered call has an effect; the wrapper makes the agent equivariant; guards, views and effects are
first-order with constants in C, so that Offer and τ are equivariant; and the domain is at least as large as
the theorem asks.

One decision: an engine only says what it has found. Which hypotheses there are is asked once (`audit`), and
each verdict is what they leave of that (`Hypotheses.concluded`).
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
from stead_sym.deployment.gates import under_gates
from stead_sym.deployment.parts import Spec
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
from stead_sym.verification.early import watching
from stead_sym.verification.explore import explored, telling_apart
from stead_sym.verification.findings.accepted import without_accepted
from stead_sym.verification.findings.gates import shares
from stead_sym.verification.findings.reached import Examined, nowhere_fair, reached_findings
from stead_sym.verification.findings.static import of_text
from stead_sym.verification.hypotheses import Hypotheses
from stead_sym.verification.options import Domain, EngineName, Options
from stead_sym.verification.orbits import Open
from stead_sym.verification.result import Verification, agent_runs
from stead_sym.verification.scope import Leeway, leeway
from stead_sym.verification.verdict import Verdict

MOST_LOOKED_AT = 25_000
"""So many bits are looked at for the contexts of a policy (`Engine.meets_contexts`): a count and not a time,
so that what is reported is the same on any machine."""

Told: TypeAlias = Callable[[Verdict, Moves], None]
"""What is called with a verdict as soon as it is there."""


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
) -> Verification:
    """Check specifications (by default all of the deployment) under an agent. ``specs`` are their names, and
    sentences that the deployment does not hold, as formulas or as text.

    ``agent`` is a policy of the deployment (``desk.policy("baseline")``), a function from a decision
    context to an offered call or several, any `Agent`, or ``"any"``: everything offered. A policy may be
    given by its name.

    ``domain`` is ``"normal"``, in which fresh values have representatives (the default of the symbolic
    engine, and only there), ``"theorem"``, the literal domain of the theorem, or sizes for some
    sorts of the latter; below the theorem's they raise `RestrictionError` unless ``force``, and then the
    verdicts are `unknown`. With ``wrapped`` False the agent is asked about the literal states of the literal
    domain, without the wrapper: it is not equivariant then, and the verdicts are `unknown` too.

    Where the `fair` lines leave finite runs out, what these violate counts too (`readings`). Where no fair
    run starts at an initial state, a specification that is false only for that is `unknown`. With
    ``findings`` False no other sign of an empty verdict is looked for. ``backend`` is for the symbolic
    engine, ``max_states`` for the explicit one. ``established`` is called with each verdict as soon as it is
    there, in the order of ``specs``, and with its moves; and before that, as states are reached, with the
    invariants that fail in one of them: so what an agent that is stopped, or raises an error, had done wrong
    by then is known.

    A function, or another recorded agent, that answers a repeated question differently although it is to be
    asked once (`Asking`) leaves the verdicts `unknown`.

    With ``min_mass`` P the verdicts are `unknown` where a language model gives the offered calls of a
    reachable context less than P of its probability, at some branching node: then it would rather say
    something else.

    ``gates`` are names of gates of the deployment, all of which have to allow what an agent is offered.

    A run that breaks a claim of the file (a bound, a key, that there is always a step and that it leads
    somewhere) is a verdict on that claim (`Verification.broken`).

    Raises `InputError` for arguments that do not go together or name what is not there; `DefinitionError`
    with a trace where an initial state breaks such a claim, whatever the agent does, or where no state
    fulfils the `ensure` of a call that is offered; `AgentError` where the agent selects nothing or what is
    not offered, and `Undecided` where more than ``max_states`` states are reachable.
    Raises `CanonicalLimit` where a context's facts connect values so evenly that nauty takes longer than
    ``canonical_timeout`` seconds to bring them into canonical form.
    """
    options = Options(
        engine, domain, force, wrapped, backend, max_states, findings, min_mass, canonical_timeout
    )
    gated = under_gates(as_deployment(deployment), gates)
    return verified(gated, agent, specs, options, progress=progress, established=established)


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
    """`verify`, with the options as one value. ``like`` is a verification, made in the same thread, of which
    this is a variant: the deployment is not prepared again, the contexts of policies are not enumerated, and
    the verdicts have no ``scope``."""
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
    """One verification, with its questions resolved and its agents wrapped."""

    deployment: Deployment
    specs: Sequence[Spec]
    wrappers: Wrappers
    restriction: Restriction
    options: Options
    progress: Progress | None
    established: Told | None
    like: Engine | None

    def result(self, started: float) -> Verification:
        """First what is explored, then the hypotheses, then the verdicts, then what empties them."""
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
        for answer, by_run in answers:
            verdicts[answer.spec] = hypotheses.concluded(answer, by_run=by_run)
            if self.established is not None:
                self.established(verdicts[answer.spec], moves)
        examined = self._examined(engine, verdicts, left_open) if self.options.findings else Examined()
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
        """Tell of a specification that a run refutes while the exploration goes on."""
        assert self.established is not None
        evidence = renamed(evidence, self.deployment, self.wrappers)
        scope = leeway(self.deployment, None, self.wrappers).scope(spec.formula, False, evidence)
        found = replace(refuted(self.deployment, spec, evidence), scope=scope)
        verdict = self._audit(None, self.restriction).concluded(found, by_run=True)
        if verdict.holds is False:
            self.established(verdict, Moves(self.deployment, self.wrappers, self.restriction))

    def _examined(
        self, engine: Engine | None, verdicts: Mapping[str, Verdict], left_open: Leeway
    ) -> Examined:
        """The findings, those over reachable states of the specifications that hold or fail."""
        about = {None, *(spec.name for spec in self.specs)}
        stated = [finding for finding in of_text(self.deployment) if finding.spec in about]
        if engine is None:
            return self._accepting(Examined(tuple(stated)))
        if self.progress is not None:
            answers = Counter(verdict.holds for verdict in verdicts.values())
            counts = {"hold": answers[True], "fail": answers[False], "open": answers[None]}
            self.progress("findings", **{word: number for word, number in counts.items() if number})
        decided = [spec for spec in self.specs if verdicts[spec.name].holds is not None]
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
