"""From a deployment, an agent and specifications to verdicts with evidence.

The answer is about the infinite-domain deployment. It is `holds` or `fails` only where each
hypothesis of the theorem was established on the way: the engines check the bounds, that every state
offers a call and every offered call has an effect; the wrapper makes the agent equivariant; guards,
views and effects are first-order with constants in C, so that Offer and τ are equivariant; and the
domain is at least as large as the theorem asks. Where it was forced to be smaller the verdict is
`unknown`, whatever the restriction says.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

from stead_sym.agents.base import DecisionContext, Reporting, Spreading
from stead_sym.agents.records.answer import Answer, recorded_answers
from stead_sym.agents.records.repeated import repeated
from stead_sym.agents.records.weight import weight
from stead_sym.agents.roles import ANY, AgentLike, Wrappers, deciding, known_values, named, wrap_all
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.deployment.claims import claim_named
from stead_sym.deployment.deployment import Deployment, Question, as_deployment
from stead_sym.deployment.faults import as_shown
from stead_sym.deployment.parts import Spec
from stead_sym.deployment.restriction import Restriction, normal_restriction, theorem_restriction
from stead_sym.deployment.tool import Call
from stead_sym.deployment.trace import Trace
from stead_sym.engines.explicit.engine import ExplicitEngine
from stead_sym.engines.protocol import Engine, StateSet
from stead_sym.engines.symbolic.bdd.manager import Backend
from stead_sym.engines.symbolic.engine import SymbolicEngine
from stead_sym.errors import DeclarationError, DefinitionError, InputError, RestrictionError, Span
from stead_sym.evidence.moves import Moves
from stead_sym.evidence.prefix import breach, broken_claim, refutation
from stead_sym.evidence.renamed import renamed
from stead_sym.evidence.tree import Evidence
from stead_sym.logic.names import check_known, nearest
from stead_sym.logic.syntax import Raw, Resolved, free_variables
from stead_sym.relational.nauty import CANONICAL_SECONDS
from stead_sym.relational.schema import Value
from stead_sym.support.html import Displayed, code, paragraph, table
from stead_sym.support.progress import Progress
from stead_sym.verification.early import watching
from stead_sym.verification.findings.finding import Finding, in_order
from stead_sym.verification.findings.reached import Examined, nowhere_fair, reached_findings
from stead_sym.verification.findings.starvation import by_events
from stead_sym.verification.findings.static import lint
from stead_sym.verification.hypotheses import Hypotheses, audit, leaps_in_words
from stead_sym.verification.readings import answer
from stead_sym.verification.scope import leeway

EngineName: TypeAlias = Literal["symbolic", "explicit"]
Domain: TypeAlias = Literal["normal", "theorem"]

OF_NOTHING = "holds, of nothing"
"""How a verdict is printed that a finding empties: nothing ever happens of which the specification speaks."""


@dataclass(frozen=True, slots=True)
class Verdict(Displayed):
    """The answer to one specification, whose ``formula`` stands here as it was written.

    ``holds`` is None for `unknown`, with the ``reason``; of a claim of the file that fails the reason says
    what breaks it, and what to do. ``evidence`` shows why the sentence has its truth value in the
    restriction: as far as runs and values can, for a claim about all runs has none.
    ``scope`` are sentences that a reader has to know beside the word, because the word alone says more than
    is established. ``empty``: it holds, and a finding says that nothing ever came of what it asks.
    ``claim``: it is about a claim of the file, whose name ``spec`` is.
    """

    spec: str
    formula: Resolved
    holds: bool | None
    reason: str = ""
    evidence: Evidence | None = None
    scope: tuple[str, ...] = ()
    empty: bool = False
    claim: bool = False

    @property
    def trace(self) -> Trace | None:
        """The run through the evidence that shows most; None where that would only repeat a specification
        that holds."""
        if self.evidence is None:
            return None
        trace = self.evidence.trace
        return trace if trace.steps or trace.bindings or not self.evidence.root.holds else None

    @property
    def word(self) -> str:
        """`holds`, `fails` or `unknown`."""
        return {True: "holds", False: "fails", None: "unknown"}[self.holds]

    @property
    def said(self) -> str:
        """The word, or `holds, of nothing`."""
        return OF_NOTHING if self.empty else self.word

    def __str__(self) -> str:
        return verdict_line(self.spec, self.said, (self.reason, *self.scope))

    def _repr_html_(self) -> str:
        shown = "" if self.trace is None else self.trace._repr_html_()
        return paragraph(str(self)) + code(str(self.formula)) + shown


def verdict_line(spec: str, word: str, remarks: Iterable[str]) -> str:
    """A verdict in one line, with the remarks on it that are not empty."""
    said = "; ".join(filter(None, remarks))
    return f"{spec} {word}{': ' * bool(said)}{said}"


class Decisions(tuple[tuple[DecisionContext, frozenset[Call]], ...], Displayed):
    """Canonical contexts with what was selected there."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(f"{context} -> {_joined(sorted(selected))}" for context, selected in self)

    def _repr_html_(self) -> str:
        rows = [
            (number, _lines(context.view), _lines(sorted(context.calls)), _lines(sorted(selected)))
            for number, (context, selected) in enumerate(self, 1)
        ]
        return table("", ("context", "shown", "offered", "selected"), rows)


def _joined(calls: Iterable[Call]) -> str:
    return ", ".join(map(str, calls))


def _lines(items: Iterable[object]) -> str:
    return "\n".join(map(str, items)) or "nothing"


@dataclass(frozen=True, slots=True)
class AgentRun:
    """What one agent was asked. ``agent`` is the name of the policy or model that decided for it, ``known``
    are the constants that it knows by name, besides those of rigid sorts, with their sorts.

    ``contexts`` and ``queries`` are None for the agent that selects everything offered: it is never
    shown a context. ``answers`` are the records of a language model's ``decisions``, in their order.
    """

    agent: str
    contexts: int | None = None
    queries: int | None = None
    decisions: Decisions = field(default_factory=Decisions)
    answers: tuple[Answer, ...] = ()
    known: Mapping[Value, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Verification(Displayed):
    """What `verify` found. ``result["auth"]`` is the verdict of one specification.

    Where a run breaks a claim of the file, such as a bound, the exploration ends with it (``broken``). The
    claim is the first of the verdicts then, under its name (`deployment.claims`); a specification fails where
    that run refutes it, and is unknown otherwise. How many states and transitions there are is not known, and
    ``explored`` is None.

    ``mode`` is `normal` where fresh values had representatives, `theorem` on the literal domain.
    ``initial`` is the number of initial states. ``agents`` has what each agent was asked, by its name, which
    is empty where there is one only; ``contexts``, ``queries``, ``decisions`` and ``answers`` are those of
    all agents together. ``moves`` says of a step who could have done otherwise. ``hypotheses`` are what the
    verdicts rest on. ``findings`` are what makes a verdict say less than it seems to; ``unexamined`` is how
    many subformulas were not tried for vacuity, since of a long specification not all are.
    """

    deployment: Deployment
    agents: Mapping[str, AgentRun]
    restriction: Restriction
    mode: Domain
    verdicts: Mapping[str, Verdict]
    initial: int | None
    states: int | None
    transitions: int | None
    seconds: float
    engine_name: EngineName
    explored: Engine | None
    hypotheses: Hypotheses
    moves: Moves
    findings: tuple[Finding, ...] = ()
    unexamined: int = 0
    broken: DefinitionError | None = None

    def __getitem__(self, spec: str) -> Verdict:
        return self.verdicts[spec]

    @property
    def engine(self) -> Engine:
        """The engine, which knows all reachable states. Raises the `DefinitionError` of the run that breaks a
        claim of the file, where there is one: then nobody knows them."""
        if self.explored is None:
            assert self.broken is not None, "nothing else ends an exploration with a result"
            raise self.broken.with_traceback(None)
        return self.explored

    @property
    def statistics(self) -> Mapping[str, int]:
        """What the answer took, as the engine counts it; empty where a broken claim ended the exploration."""
        return {} if self.explored is None else self.explored.statistics

    @property
    def agent(self) -> str:
        """Who decided: the policy or model of the only agent, or those of all with the names of the
        agents."""
        return named({name: run.agent for name, run in self.agents.items()})

    @property
    def contexts(self) -> int | None:
        """How many contexts the agents were shown, together; None where all select everything offered."""
        return _sum(run.contexts for run in self.agents.values())

    @property
    def queries(self) -> int | None:
        """How many answers the agents gave, together; None where all select everything offered."""
        return _sum(run.queries for run in self.agents.values())

    @property
    def decisions(self) -> Decisions:
        """The canonical contexts with the answers to them, agent by agent, in the order they were met."""
        return Decisions(decision for run in self.agents.values() for decision in run.decisions)

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The records of language models' decisions, agent by agent."""
        return tuple(answer for run in self.agents.values() for answer in run.answers)

    @property
    def domain(self) -> Mapping[str, int]:
        """The size of every sort's domain."""
        return self.restriction.sizes

    def satisfying(self, formula: Raw | str, assignment: Mapping[str, Value] | None = None) -> StateSet:
        """The reachable states of the restriction in which a formula holds, under values of its
        free variables.

        Raises `DeclarationError` for a formula that does not fit the deployment, for a value outside the
        restriction or of another sort than its variable, and where ``assignment`` has not exactly the free
        variables of the formula.
        """
        sigma = dict(assignment or {})
        resolved = self.deployment.formula(formula, self._scope(sigma))
        free = free_variables(resolved)
        if unknown := sorted(sigma.keys() - free):
            hint = nearest(unknown[0], free, "leave it out")
            raise DeclarationError(f"{unknown[0]} is no free variable of the formula; {hint}")
        return self.engine.satisfying(resolved, sigma)

    def _scope(self, assignment: Mapping[str, Value]) -> Mapping[str, str]:
        """The sort of every variable, as its value says; a numeral that several sorts list has no value."""
        listed = self.deployment.schema.listed
        sort_of = {value: sort for sort, values in self.restriction.values.items() for value in values}
        for name, value in assignment.items():
            if isinstance(value, str) and len(listed.get(value, ())) > 1:
                raise DeclarationError(
                    f"{value}, given for {name}, is a value of {' and of '.join(listed[value])};"
                    " write the number into the formula"
                )
            if not isinstance(value, str) or value not in sort_of:
                hint = nearest(str(value), sort_of, "`restriction.values` lists them")
                raise DeclarationError(f"{value}, given for {name}, is no value of the domain; {hint}")
        return {name: sort_of[value] for name, value in assignment.items()}

    def place(self, spec: str) -> Span | None:
        """Where a specification stands in its file, or a claim that is broken."""
        if self.broken is not None and spec == self.broken.claim:
            return self.broken.span
        return self.deployment.spec(spec).span

    @property
    def summary(self) -> str:
        """One line: deployment, agent, counts."""
        asked = "" if self.queries is None else f", {self.contexts} contexts, {self.queries} queries"
        counts = f"{self.states} states, {self.transitions} transitions"
        if self.initial is not None and self.initial > 1:
            counts = f"{self.initial} initial of {counts}"
        if self.broken is not None:
            counts = f"explored until `{self.broken.claim}` was broken"
        return f"{self.deployment.name} under {self.agent}: {counts}{asked}"

    def __str__(self) -> str:
        lines = [f"  {verdict}" for verdict in self.verdicts.values()]
        return "\n".join([self.summary, *lines, *(f"  finding: {finding}" for finding in self.findings)])

    def _repr_html_(self) -> str:
        rows = [
            (v.spec, v.said, "\n".join((v.reason or (v.trace.claim if v.trace else ""), *v.scope)))
            for v in self.verdicts.values()
        ]
        return paragraph(self.summary) + table("", ("spec", "verdict", "what shows it"), rows)


def verify(
    deployment: Deployment,
    agent: AgentLike | Mapping[str, AgentLike] = "any",
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
    established: Callable[[Verdict, Moves], None] | None = None,
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

    A run that breaks a claim of the file (a bound, a key, that there is always a step and that it leads
    somewhere) is a verdict on that claim (`Verification.broken`).

    Raises `InputError` for arguments that do not go together or name what is not there; `DefinitionError`
    with a trace where an initial state breaks such a claim, whatever the agent does, or where no state
    fulfils the `ensure` of a call that is offered; `AgentError` where the agent selects nothing or what is
    not offered, and `Undecided` where more than ``max_states`` states are reachable.
    Raises `CanonicalLimit` where a context's facts connect values so evenly that nauty takes longer than
    ``canonical_timeout`` seconds to bring them into canonical form.
    """
    started = time.perf_counter()
    as_deployment(deployment)
    _refuse_unknown(engine, domain, backend, max_states)
    if min_mass is not None and not 0 < min_mass <= 1:
        raise InputError(f"min_mass={min_mass!r} is not above 0 and at most 1; give such a number")
    if progress is not None and not callable(progress):
        raise TypeError(f"{progress!r} is nothing to call with progress; give a function, or None")
    deployment, chosen = deployment.asked(specs, deciding(deployment, agent))
    literal = engine == "explicit" or not wrapped if domain is None else domain != "normal"
    if not literal and not wrapped:
        raise RestrictionError("without the wrapper there is the literal domain only; take `theorem`")
    if not literal and engine == "explicit":
        raise RestrictionError(
            "the explicit engine knows the literal domain only; take `theorem`, or the symbolic engine"
        )
    sizes = domain if isinstance(domain, Mapping) else {}
    restriction = (
        theorem_restriction(deployment, chosen, sizes, force) if literal else normal_restriction(deployment)
    )
    wrappers = wrap_all(deployment, agent, canonical_timeout=canonical_timeout)
    if not wrapped:
        wrappers = {name: _telling_apart(deployment, w, restriction) for name, w in wrappers.items()}
    constants = deployment.sort_of_constant
    beyond = frozenset(
        value
        for wrapper in wrappers.values()
        if wrapper is not None
        for value, sort in wrapper.known.items()
        if value not in deployment.schema.rigid and constants.get(value) != sort
    )
    written = {spec.name: spec.formula for spec in deployment.written.specs}

    def refuted(spec: Spec, evidence: Evidence) -> None:
        assert established is not None
        constrained = bool(deployment.fair or deployment.fair_actions)
        evidence = renamed(replace(evidence, completed=constrained), deployment, wrappers)
        scope = leeway(deployment, None, wrappers).scope(spec.formula, False)
        verdict = Verdict(spec.name, written[spec.name], False, evidence=evidence, scope=scope)
        verdict = _carried(verdict, restriction, beyond, tuple(_of_decisions(wrappers, min_mass)))
        if verdict.holds is False:
            established(verdict, Moves(deployment, wrappers, restriction))

    watch = None if established is None else watching(chosen, refuted)
    built: Engine | DefinitionError
    with _reporting(wrappers, progress):
        try:
            if engine == "explicit":
                built = ExplicitEngine(
                    deployment, wrappers, restriction, progress, max_states=max_states, watch=watch
                )
            else:
                built = SymbolicEngine(
                    deployment,
                    wrappers,
                    restriction,
                    progress,
                    literal=literal,
                    backend=backend,
                    watch=watch,
                )
        except InputError as error:  # its frames hold the diagrams, which would live as long as it does
            error.with_traceback(None)
            if not isinstance(error, DefinitionError):
                raise error from error.__cause__
            built = as_shown(deployment, error, known_values(wrappers))
            if broken_claim(deployment, built) is None:
                raise built from error.__cause__
    doubts = (
        *(() if isinstance(built, DefinitionError) else _past_bounds(built)),
        *_of_decisions(wrappers, min_mass),
    )
    if isinstance(built, DefinitionError):
        moves = Moves(deployment, wrappers, restriction)
        told = [_carried(one, restriction, beyond, doubts) for one in _refuted(deployment, built, chosen)]
        if established is not None:
            for verdict in told:
                established(verdict, moves)
        about = {None, *(spec.name for spec in chosen)}
        return Verification(
            deployment=deployment,
            agents=MappingProxyType({name: _run(wrapper) for name, wrapper in wrappers.items()}),
            restriction=restriction,
            mode="theorem" if literal else "normal",
            verdicts=MappingProxyType({verdict.spec: verdict for verdict in told}),
            initial=None,
            states=None,
            transitions=None,
            seconds=time.perf_counter() - started,
            engine_name=engine,
            explored=None,
            moves=moves,
            hypotheses=audit(
                deployment,
                wrappers,
                restriction,
                built,
                wrapped=wrapped,
                beyond=beyond,
                open_leaps={},
                min_mass=min_mass,
            ),
            findings=in_order(finding for finding in lint(deployment) if finding.spec in about)
            if findings
            else (),
            broken=built,
        )
    unfair = nowhere_fair(deployment, built)
    moves = Moves(deployment, wrappers, built.restriction)
    left_open = leeway(deployment, built, wrappers)
    verdicts: dict[str, Verdict] = {}
    for spec in chosen:
        if progress is not None:
            progress("check", specifications=len(verdicts), of=len(chosen))
        verdict = _verdict(built, spec, written[spec.name], restriction, beyond, doubts, unfair)
        if verdict.evidence is not None:
            verdict = replace(verdict, evidence=renamed(verdict.evidence, deployment, wrappers))
        scope = (*verdict.scope, *left_open.scope(spec.formula, verdict.holds))
        if verdict.holds and (idle := by_events(deployment, built, spec.formula)):
            scope = (*scope, idle)
        verdict = replace(verdict, scope=scope)
        verdicts[spec.name] = verdict
        if established is not None:
            established(verdict, moves)
    seconds = time.perf_counter() - started
    examined = Examined()
    if findings:
        if progress is not None:
            progress("findings")
        examined = reached_findings(deployment, built, chosen, wrappers)
        names = {None, *(spec.name for spec in chosen)}
        stated = (finding for finding in lint(deployment) if finding.spec in names)
        of_whom = (one for spec in chosen for one in left_open.findings(spec, verdicts[spec.name].holds))
        examined = replace(examined, findings=in_order((*stated, *unfair, *of_whom, *examined.findings)))
        verdicts |= {name: replace(verdicts[name], empty=True) for name in examined.emptied}
    return Verification(
        deployment=deployment,
        agents=MappingProxyType({name: _run(wrapper) for name, wrapper in wrappers.items()}),
        restriction=built.restriction,
        mode="theorem" if literal else "normal",
        verdicts=MappingProxyType(verdicts),
        initial=built.initial,
        states=built.states,
        transitions=built.transitions,
        seconds=seconds,
        engine_name=engine,
        explored=built,
        moves=moves,
        hypotheses=audit(
            deployment,
            wrappers,
            built.restriction,
            built.most_active,
            wrapped=wrapped,
            beyond=beyond,
            open_leaps=built.open_leaps,
            min_mass=min_mass,
            hidden=built.hidden,
        ),
        findings=examined.findings,
        unexamined=examined.left,
    )


def _refuse_unknown(
    engine: EngineName,
    domain: Domain | Mapping[str, int] | None,
    backend: Backend | None,
    max_states: int | None,
) -> None:
    """Raise an error for an argument of `verify` that nothing would heed."""
    check_known("engine", engine, get_args(EngineName))
    if domain is not None and not isinstance(domain, Mapping):
        check_known("domain", domain, get_args(Domain))
    if backend is not None:
        check_known("backend", backend, get_args(Backend))
        if engine != "symbolic":
            raise InputError("the backend is that of the symbolic engine; leave it out for the explicit one")
    if max_states is not None:
        if engine != "explicit":
            raise InputError("only the explicit engine counts states as it goes; leave max_states out")
        if not isinstance(max_states, int) or max_states < 1:
            raise InputError(f"max_states={max_states!r} is no number of at least 1; give one")


def _sum(numbers: Iterable[int | None]) -> int | None:
    """The sum of those that are known; None where none is."""
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def _run(wrapper: CanonicalWrapper | None) -> AgentRun:
    """What an agent was asked."""
    if wrapper is None:
        return AgentRun(ANY)
    return AgentRun(
        wrapper.agent.name,
        wrapper.contexts,
        wrapper.queries,
        Decisions(wrapper.decisions),
        recorded_answers(wrapper.agent, wrapper.decisions),
        wrapper.known,
    )


@contextmanager
def _reporting(wrappers: Wrappers, progress: Progress | None) -> Iterator[None]:
    """Have the agents report while they are asked, as in one run."""
    agents = [wrapper.agent for wrapper in wrappers.values() if wrapper is not None]
    with ExitStack() as stack:
        for agent in agents:
            if isinstance(agent, Reporting):
                agent.report_to(progress)
                stack.callback(agent.report_to, None)
            if isinstance(agent, Spreading):
                stack.enter_context(agent.spreading())
        yield


def _past_bounds(engine: Engine) -> Iterator[str]:
    """A doubt where it is not decided whether an `ensure` leads past a bound."""
    if engine.open_leaps:
        yield f"within the bounds; {leaps_in_words(engine.open_leaps)}"


def _of_decisions(wrappers: Wrappers, min_mass: float | None) -> Iterator[str]:
    """The doubts about what the agents have decided."""
    yield from _unsteady(wrappers)
    if min_mass is not None:
        yield from _light(wrappers, min_mass)


def _light(wrappers: Wrappers, mass: float) -> Iterator[str]:
    """A doubt where in some decisions less than ``mass`` of the probability is on the offered calls."""
    weighed = [
        weight(recorded_answers(wrapper.agent, wrapper.decisions))
        for wrapper in wrappers.values()
        if wrapper is not None
    ]
    light = [answer for one in weighed if one is not None for answer in one.below(mass)]
    partly = [answer for one in weighed if one is not None for answer in one.partly_known]
    if partly and not light:
        yield (
            f"as the model decides, of which it is not known in {len(partly)}"
            f" context{'s' * (len(partly) > 1)} how likely it writes the forced tokens of a call (--min-mass"
            " counts them; run the model as hf: or llama:)"
        )
    if light:
        yield (
            f"as the model decides, which gives the offered calls of {len(light)}"
            f" context{'s' * (len(light) > 1)} less of its probability than is asked for (--min-mass)"
        )


def _unsteady(wrappers: Wrappers) -> Iterator[str]:
    """A doubt for each agent that answers a repeated question differently, and is to be asked once."""
    for wrapper in wrappers.values():
        told = None if wrapper is None else repeated(recorded_answers(wrapper.agent, wrapper.decisions))
        if wrapper is not None and told is not None and told.unsteady:
            yield (
                f"with what {wrapper.agent.name} answered, which answers differently when it is asked again"
                f" (in {len(told.unsteady)} of {len(told.again)} contexts; ask it several times)"
            )


def _telling_apart(
    deployment: Deployment, wrapper: CanonicalWrapper | None, restriction: Restriction
) -> CanonicalWrapper | None:
    """A wrapper that renames nothing: B is the whole domain, so that can_B(D) = D."""
    if wrapper is None:
        return None
    every = {value: sort for sort, values in restriction.values.items() for value in values}
    return CanonicalWrapper(
        wrapper.agent,
        deployment.schema,
        wrapper.tools,
        {**wrapper.known, **every},
        canonical_timeout=wrapper.canonical_timeout,
    )


def _verdict(
    engine: Engine,
    spec: Spec,
    written: Resolved,
    restriction: Restriction,
    beyond: frozenset[Value],
    doubts: Sequence[str],
    unfair: Sequence[Finding],
) -> Verdict:
    """What the engine finds, as far as it is a verdict; ``unfair`` is why there is no fair run at all."""
    said = answer(engine, spec.formula)
    if said.holds is None:
        return Verdict(spec.name, written, None, no_fair_run(unfair))
    verdict = Verdict(spec.name, written, said.holds, evidence=said.evidence, scope=said.scope)
    return _carried(verdict, restriction, beyond, doubts)


def no_fair_run(unfair: Sequence[Finding]) -> str:
    """Why a specification is unknown that is false only for want of a fair run; ``unfair`` is why there is
    none at all."""
    return f"it asks for a fair run, and {unfair[0].text if unfair else 'some initial state has none'}"


def _refuted(deployment: Deployment, broken: DefinitionError, specs: Iterable[Spec]) -> Iterator[Verdict]:
    """The verdict on the claim that a run breaks, and on each specification what that run says of it. Under
    fairness constraints that is nothing: a path quantifier ranges over fair runs then."""
    claim, run = claim_named(deployment, broken.claim), broken.trace
    assert claim is not None, f"there is no claim {broken.claim}"
    why = f"{run.claim}; {broken.remedy}"
    yield Verdict(claim.name, claim.formula, False, why, breach(claim, run), claim=True)
    written = {spec.name: spec.formula for spec in deployment.written.specs}
    constrained = deployment.fair or deployment.fair_actions
    for spec in specs:
        evidence = None if constrained else refutation(spec.formula, run)
        if evidence is not None:
            yield Verdict(spec.name, written[spec.name], False, evidence=evidence)
        else:
            reason = f"`{claim.name}` fails, and with the run that breaks it the exploration has ended"
            yield Verdict(spec.name, written[spec.name], None, reason)


def _carried(
    verdict: Verdict, restriction: Restriction, beyond: frozenset[Value], doubts: Sequence[str]
) -> Verdict:
    """The verdict, or that it is unknown where what was found does not carry over. ``beyond`` is B minus C,
    which the theorem wants empty, ``doubts`` are why the decisions bear too little weight, or the bounds are
    not established."""
    if verdict.holds is None:
        return verdict
    found = verdict.word
    if beyond:
        reason = (
            f"it {found} on the literal domain for an agent that tells {min(beyond)} from other values;"
            " nothing carries over without the wrapper"
        )
        return replace(verdict, holds=None, reason=reason)
    if doubts:
        return replace(verdict, holds=None, reason=f"it {found} {doubts[0]}")
    if restriction.exact:
        return verdict
    small = ", ".join(
        f"{d.sort}={d.size} (the theorem asks for {d.required})"
        for d in restriction.derivation.values()
        if d.size < d.required
    )
    return replace(verdict, holds=None, reason=f"it {found} on the forced domain {small}")
