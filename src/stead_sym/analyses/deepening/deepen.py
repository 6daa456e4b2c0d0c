"""Verification without an established bound: bounds are increased, and each fragment is verified.

One decision: a specification that fails in a fragment fails in the deployment, for all behaviour beyond the
bounds (the theorem in `deepening.fragment`), so its verdict is `fails`. A specification that holds in a
fragment stays `unknown`, with a sentence about the fragment, since the bounds are not established. It is
`holds` only if it is shown without bounds, for every number of records (`analyses.views`). That is tried
after each fragment.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType

import stead_sym.logic.syntax as fo
from stead_sym.agents.roles import AgentLike, Wrappers, deciding, named, wrap_all
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.analyses.bounds import LIMIT, in_words
from stead_sym.analyses.deepening.fragment import (
    Bounds,
    Fragment,
    Leaping,
    fragment,
    leaping,
    starting_beyond,
)
from stead_sym.analyses.deepening.growth import Growth, growth
from stead_sym.analyses.deepening.recover import recovered
from stead_sym.analyses.deepening.remedy import Remedy, remedy
from stead_sym.analyses.deepening.result import Deepening, Found, Round
from stead_sym.analyses.deepening.schedule import bounds_to_try
from stead_sym.analyses.deepening.verdicts import Verdicts, rests_on
from stead_sym.analyses.views.every_number import EveryNumber
from stead_sym.analyses.views.proposing import proposed
from stead_sym.analyses.views.records import crowded
from stead_sym.analyses.views.shown import Shown, always
from stead_sym.deployment.claims import active_outside, claim_named, claims
from stead_sym.deployment.deployment import Deployment, Question, as_deployment
from stead_sym.deployment.parts import ANY, Spec
from stead_sym.deployment.restriction import fresh_values
from stead_sym.deployment.trace import Trace
from stead_sym.engines.symbolic.bdd.manager import Backend
from stead_sym.errors import BoundExceeded, DefinitionError, InputError, NoInitialState, Undecided
from stead_sym.evidence.prefix import breach
from stead_sym.relational.nauty import CANONICAL_SECONDS
from stead_sym.support.progress import Progress, saying
from stead_sym.verification.audit import of_decisions
from stead_sym.verification.findings.answered import answer_findings
from stead_sym.verification.findings.finding import Finding, without_accepted
from stead_sym.verification.findings.reached import nowhere_fair
from stead_sym.verification.hypotheses import Hypotheses
from stead_sym.verification.options import EngineName, Options
from stead_sym.verification.result import Verification
from stead_sym.verification.verdict import Verdict
from stead_sym.verification.verify import verified
from stead_sym.verification.widened import Widened

MOST_FACTS = 1_000
"""The size of the largest initial database that is explored within bounds.

A larger one is verified for every number of records only.
"""

_ROUNDS_BEFORE_LOOP = 3
"""The bound of a sort from which the loop along which it grows is searched, and once more at the end."""


def deepen(
    deployment: Deployment,
    agent: AgentLike | Mapping[str, AgentLike] = ANY,
    specs: Question | Iterable[Question] | None = None,
    *,
    engine: EngineName = "symbolic",
    backend: Backend | None = None,
    max_states: int | None = None,
    limit: int = LIMIT,
    canonical_timeout: float = CANONICAL_SECONDS,
    progress: Progress | None = None,
    findings: bool = True,
    told: Callable[[Deepening], None] | None = None,
) -> Deepening:
    """Decide specifications of a deployment in its fragments with bounds up to ``limit``.

    The specifications and the agent are given as to `verify`. If the file leaves sorts without a bound
    (`bound case any`), these bounds are raised, and those of the others are claims that are verified like
    specifications. Without such a line all bounds are raised.

    The bounds grow from 0 (from the deployment's if `initially any` admits every database up to them). Those
    that some run exceeds are raised by 1, and none above k before the fragment with k for every sort was
    explored. So the first fragment that decides a specification has the least bounds that do. The analysis
    ends if every specification is decided, if no run exceeds the bounds any more, and at the limit. ``told``
    is called with the result up to then after each fragment.

    A run that breaks a claim of the file (a key, a reference, that every state has a step and that it has a
    successor) is a verdict on that claim, as in `verify`. No fragment is explored after it.

    With ``findings`` False there are none. Raises what `verify` raises, and `InputError` if every sort is
    finite, and if fairness of actions is combined with fairness of states.
    Under fairness of actions alone only specifications that something is always true are decided, which does
    not depend on it. A limit that is reached after a fragment was explored ends the analysis; the results up
    to then are kept.
    """
    as_deployment(deployment)
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise InputError(f"limit={limit!r} is no number of at least 1; give one")
    if not deployment.bounds:
        raise InputError(
            "every sort is finite, so that there is no bound to raise; verify without raising bounds"
        )
    if deployment.fair_actions and deployment.fair:
        raise InputError(
            f"bounds are not raised under `fair {deployment.fair_actions[0]}` beside fairness of states:"
            " what a fragment shows of runs that are fair for both is not known; leave one of the lines out",
            deployment.fair_actions[0].span,
        )
    running = deciding(deployment, agent)
    asking, chosen = deployment.asked(specs, running)
    asking = asking.following(chosen, running)
    chosen = asking.chosen(spec.name for spec in chosen)
    # every finite run has a continuation that is fair for actions, so that no verdict depends on these lines
    leaps = leaping(replace(asking, written=replace(asking.written, fair_actions=()), text=None))
    wrappers = wrap_all(asking, agent, canonical_timeout=canonical_timeout)
    wrappers = {name: made and _wider(made, leaps.deployment) for name, made in wrappers.items()}
    options = Options(engine, backend=backend, max_states=max_states, findings=findings)
    run = _Run(asking, leaps, {s.name: s for s in chosen}, wrappers, options, limit, told, progress)
    stopped = ""
    if run.starts_large and asking.unbounded:
        while run.further():
            pass
    for bounds in bounds_to_try(asking, limit, run) if run.is_explored else ():
        try:
            run.see(bounds)
        except Undecided as error:
            if not run.rounds:
                raise
            stopped = str(error)
            break
        if run.broken:
            break
    if run.is_explored and not run.rounds and not run.broken:
        raise NoInitialState(
            f"no database within the bounds {in_words(bounds)} satisfies `initially any … where …` together"
            " with the keys and the references; weaken the condition, or look further with --max-bound",
            asking.initially.span if asking.initially is not None else None,
        )
    while asking.unbounded and run.further():
        pass
    if asking.unbounded and not stopped:
        run.at_last()
    if asking.unbounded and not stopped and not run.starts_large and not asking.history:
        run.propose()
    return replace(run.result(final=True), stopped=stopped)


def _claimed(deployment: Deployment) -> dict[str, Spec]:
    """Return the bounds of a file that leaves other sorts without one, as specifications."""
    return {
        claim.name: Spec(claim.name, claim.formula)
        for claim in claims(deployment)
        if deployment.unbounded and claim.name.startswith("bound ")
    }


def _counted(deployment: Deployment) -> dict[str, str]:
    """Return the bounds of sorts with many identifiers in `init`, each with the reason why it is not shown.

    The reason is empty if the bound holds by construction: no effect brings in a value of the sort.
    """
    fresh = fresh_values(deployment)
    return {
        f"bound {sort} {deployment.bounds[sort]}": f"`init` has {len(deployment.constants[sort]):,}"
        f" identifiers of {sort}, and parts of a database do not show which values are others"
        if fresh.get(sort)
        else ""
        for sort in sorted(crowded(deployment) - deployment.unbounded)
    }


def _meeting(
    ours: Mapping[str, CanonicalWrapper | None], theirs: Wrappers
) -> dict[str, CanonicalWrapper | None]:
    """Return our wrappers, which also met the contexts of theirs of the same agents."""
    return {
        name: one if one is None or (other := theirs.get(name)) is None else one.meeting(other)
        for name, one in ours.items()
    }


def _wider(wrapper: CanonicalWrapper, deployment: Deployment) -> CanonicalWrapper:
    """Return the wrapper for contexts over the schema of a deployment with an additional relation."""
    schema = deployment.schema.revealing(wrapper.told)
    if wrapper.schema == schema:
        return wrapper
    seconds = wrapper.canonical_timeout
    return CanonicalWrapper(wrapper.agent, schema, wrapper.tools, wrapper.known, canonical_timeout=seconds)


@dataclass
class _Run:
    """The fragments explored so far, and their results."""

    _deployment: Deployment
    _leaps: Leaping
    _specs: Mapping[str, Spec]
    _wrappers: Wrappers
    _options: Options
    _limit: int
    _told: Callable[[Deepening], None] | None
    _progress: Progress | None
    rounds: list[Round] = field(default_factory=list)
    _runs: dict[str, Trace] = field(default_factory=dict)
    _growths: dict[str, Growth] = field(default_factory=dict)
    _unfair: tuple[Finding, ...] = ()
    _widened: tuple[Widened, ...] = ()
    _remedy: Remedy | None = None
    _sought: frozenset[str] = frozenset()
    growing: tuple[str, ...] = ()
    broken: str = ""

    def __post_init__(self) -> None:
        self._started = time.perf_counter()
        claimed = _claimed(self._deployment)
        self._specs = {**self._specs, **claimed}
        counted = _counted(self._deployment) if claimed else {}
        formulas = {name: spec.formula for name, spec in self._specs.items() if name not in counted}
        search = partial(EveryNumber, self._deployment, formulas, self._wrappers, progress=self._progress)
        self._every_number = search()
        written = self._deployment.bounds.keys() - self._deployment.unbounded
        has_written = self._deployment.unbounded and self._every_number.without_bounds != written
        # what holds without the written bounds is shown without them
        self._searches = [*([search(without_bounds=True)] if has_written else []), self._every_number]
        self._verdicts = Verdicts(
            self._deployment, self._leaps, self._specs, self._wrappers, self._every_number, counted
        )
        constructed = {name for name, why in counted.items() if not why}
        self._found = {
            name: Found(self._verdicts.verdict(name, True if name in constructed else None))
            for name in self._specs
        }
        self._explored: dict[str, CanonicalWrapper | None] = dict(self._wrappers)

    @property
    def starts_large(self) -> bool:
        """True if the initial database is large, or its identifiers are values (`views.records`)."""
        is_large = bool(self._deployment.unbounded) and len(self._deployment.init) > MOST_FACTS
        return is_large or self._every_number.records is not None

    @property
    def is_explored(self) -> bool:
        """True if some specification is open within bounds, and the initial database is small enough."""
        if not (self.starts_large and self._deployment.unbounded):
            return True
        left = any(found.verdict.holds is None for found in self._found.values())
        return left and len(self._deployment.init) <= MOST_FACTS

    @property
    def is_done(self) -> bool:
        """True if a fragment was explored and no other can decide anything."""
        return bool(self.rounds) and bool(self._found) and not self._open

    def see(self, bounds: Bounds) -> None:
        """Verify the open specifications in the fragment with these bounds.

        A sort without a bound may initially have any number of values. The fragment has those of these
        databases that are within its bounds.
        """
        part = self._part(bounds)
        names = {name: f"possible {name}" for name in self._open}
        open_ = {name: self._specs[name].formula for name in names}
        asked = [
            *(Spec(names[name], part.possible(formula)) for name, formula in open_.items()),
            *(Spec(f"sure {name}", part.sure(formula)) for name, formula in open_.items()),
            *(
                Spec(f"past {sort}", fo.Future("E", active_outside(self._deployment, sort, "atleast", b + 1)))
                for sort, b in part.bounds.items()
            ),
        ]
        written = replace(part.deployment.written, specs=tuple(asked))
        names_asked = [spec.name for spec in asked]
        try:
            result = self._verified(part, replace(part.deployment, written=written), names_asked)
        except NoInitialState:
            if not starting_beyond(self._deployment):
                raise
            self.growing = tuple(bounds)  # a larger database may satisfy the condition
            return
        if result.broken is not None:
            self._take_broken(part, result, result.broken, open_)
            return
        most = MappingProxyType({sort: result.engine.most_active[sort] for sort in part.bounds})
        beyond = starting_beyond(self._deployment)
        exceeded = tuple(sort for sort, b in part.bounds.items() if most[sort] > b or sort in beyond)
        leaps = part.leaps is not None and result.engine.holds(fo.Future("E", part.leaps))
        unseen = self._leapt(part) if leaps and not exceeded else ()
        self.rounds.append(Round(part.bounds, result.engine.states, most, exceeded, unseen))
        self.growing = self.rounds[-1].growing
        for name in open_:
            self._found[name] = self._verdicts.decide(part, result, name)
        self._unfair = nowhere_fair(self._deployment, result.engine)
        self._note(result)
        for sort in exceeded:
            verdict = result[f"past {sort}"]
            if verdict.evidence is not None and verdict.evidence.root.holds:
                self._runs[sort] = verdict.evidence.trace
        if self.rounds[-1].growing or self._deployment.unbounded:
            self.further()
        self._explain(part)
        if self._told is not None:
            self._told(self.result())

    def _take_broken(
        self, part: Fragment, result: Verification, broken: DefinitionError, open_: Iterable[str]
    ) -> None:
        """Record that a run breaks a claim of the file, and the specifications that the run refutes."""
        claim = claim_named(self._deployment, broken.claim)
        assert claim is not None, f"there is no claim {broken.claim}"
        why = f"{broken.trace.claim}; {broken.remedy}"
        verdict = Verdict(claim.name, claim.formula, False, why, claim=True)
        self.broken = claim.name
        self._note(result)
        self._found[claim.name] = self._verdicts.refute(part, result, verdict, breach(claim, broken.trace))
        for name in open_:
            formula, shown = self._specs[name].formula, result[f"possible {name}"].evidence
            if shown is not None:
                own = recovered(shown, formula)
                self._found[name] = self._verdicts.refute(
                    part, result, self._verdicts.verdict(name, False), own
                )
        if self._told is not None:
            self._told(self.result())

    def _note(self, result: Verification) -> None:
        """Record what the agents were asked in a fragment."""
        self._explored = _meeting(self._explored, result.moves.wrappers)
        self._widened = result.hypotheses.widened

    def _part(self, bounds: Bounds) -> Fragment:
        """Return the fragment with these bounds."""
        open_ = {sort: bounds[sort] for sort in self._deployment.unbounded}
        return fragment(replace(self._leaps, deployment=self._leaps.deployment.within(open_)), bounds)

    def further(self) -> bool:
        """Continue the search for every number of records with one more value; return False if complete."""
        for search in self._searches:
            self._take(search.further(self._undecided))
        return any(search.is_open for search in self._searches)

    def at_last(self) -> None:
        """Look at steps over more records, for what is not decided after all bounds were raised."""
        for search in self._searches:
            self._take(search.at_last(self._undecided))

    @property
    def _undecided(self) -> list[str]:
        return [name for name, found in self._found.items() if found.verdict.holds is None]

    def _take(self, shown: Mapping[str, Shown]) -> None:
        """Record what is shown for every number of records."""
        for name, one in shown.items():
            holds = replace(self._verdicts.verdict(name, True, scope=one.scope), empty=self._is_empty(name))
            self._found[name] = Found(holds, every_number=one)

    @property
    def _open(self) -> list[str]:
        """The specifications that a fragment may decide."""
        return [
            name
            for name, one in self._found.items()
            if not one.decided and name not in self._verdicts.unasked
        ]

    @property
    def open_formulas(self) -> Sequence[fo.Expanded]:
        """The formulas of these specifications."""
        return [self._specs[name].formula for name in self._open]

    @property
    def _seen(self) -> tuple[Finding, ...]:
        """The findings on verdicts for every number of records."""
        return tuple(dict.fromkeys(one for search in self._searches for one in search.findings))

    def _is_empty(self, name: str) -> bool:
        """Return True if a specification holds vacuously; it is then a single implication."""
        said = self._specs[name].formula
        while isinstance(said, fo.Forall | fo.Globally):
            said = said.body
        return isinstance(said, fo.Implies) and any(one.spec == name for one in self._seen)

    def propose(self) -> None:
        """Search for invariants that show the specifications which are still open."""
        search = self._every_number
        open_ = {
            name: search.obstacles.get(name)
            for name in search.reasons
            if name in self._specs.keys() - _claimed(self._deployment).keys()
            and self._found[name].verdict.holds is None
            and (name in search.obstacles or always(self._specs[name].formula) is not None)
            and not (name in search.obstacles and search.obstacles[name].is_run)
        }
        formulas = {name: self._specs[name].formula for name in open_}
        found = proposed(self._deployment, formulas, self._wrappers, open_, progress=self._progress)
        self._found.update({name: replace(self._found[name], proposed=one) for name, one in found.items()})

    def _verified(self, part: Fragment, deployment: Deployment, asked: Iterable[str]) -> Verification:
        given = {name: ANY if made is None else made for name, made in self._wrappers.items()}
        options = replace(self._options, findings=False)
        return verified(deployment, given, asked, options, progress=self._saying(part.bounds))

    def _saying(self, bounds: Bounds) -> Progress | None:
        """Return the progress within some bounds, in terms of the specifications of the file.

        The specifications that a fragment is verified for are others.
        """
        decided = sum(one.decided for one in self._found.values())
        where = f"{decided} of {len(self._found)} specifications decided, within {in_words(bounds)}"
        if (listener := saying(self._progress, where)) is None:
            return None

        def passed_on(phase: str, /, **counts: int) -> None:
            listener(phase, **({} if "specifications" in counts else counts))

        return passed_on

    def _leapt(self, part: Fragment) -> tuple[str, ...]:
        """Return the sorts whose bounds an `ensure` exceeds in one step, or for which that is not decided.

        The step starts in the states of the fragment.
        """
        result = self._verified(part, part.whole, ())
        if isinstance(result.broken, BoundExceeded):
            active, outside = result.broken.trace.last.active_domain, self._deployment.outside
            return tuple(s for s, b in part.bounds.items() if len(outside(s, active[s])) > b)
        return tuple(part.bounds) if result.engine.open_leaps else ()

    def _explain(self, part: Fragment, *, final: bool = False) -> None:
        """Search for the loops along which sorts grow, and for a change that bounds them."""
        exceeded = [sort for sort in self.rounds[-1].exceeded if sort not in self._deployment.unbounded]
        self._growths = {sort: g for sort, g in self._growths.items() if sort in exceeded}
        self._runs = {sort: run for sort, run in self._runs.items() if sort in exceeded}
        for sort, run in self._runs.items():
            if sort not in self._growths and (part.bounds[sort] >= _ROUNDS_BEFORE_LOOP or final):
                loop = growth(part.whole, self._wrappers, run, sort)
                if loop is not None:
                    self._growths[sort] = loop
        growing = frozenset(self._growths)
        if growing and growing == frozenset(exceeded) and growing != self._sought:
            self._sought = growing
            self._remedy = remedy(self._deployment, self._wrappers, tuple(self._growths.values()))

    def result(self, *, final: bool = False) -> Deepening:
        """Return the result up to now; ``final``: no other fragment follows."""
        last = self.rounds[-1] if self.rounds else None
        if final and last is not None:
            self._explain(self._part(last.bounds), final=True)
        met = self._met
        rests_on = self._rests_on(met)
        decided = Hypotheses(tuple(of_decisions(self._explored, self._options.min_mass)), {})
        if self.broken:
            why = f"`{self.broken}` fails, and with the run that breaks it the exploration has ended"
            first = [self.broken, *(name for name in self._found if name != self.broken)]
            by_spec = {
                name: self._verdicts.conclude_unexplored(self._found[name], why, decided) for name in first
            }
        elif last is None:
            why = f"the initial database has {len(self._deployment.init):,} facts and is not explored"
            by_spec = {
                name: self._verdicts.conclude_unexplored(one, why, decided)
                for name, one in self._found.items()
            }
        else:
            by_spec = {
                name: self._verdicts.conclude(one, last, decided, self._unfair)
                for name, one in self._found.items()
            }
        names = {name: ANY if made is None else made.agent.name for name, made in self._wrappers.items()}
        seen = (*self._seen, *answer_findings(met)) if self._options.findings else ()
        findings, accepted = without_accepted(self._deployment, seen)
        return Deepening(
            self._deployment,
            named(names),
            tuple(self.rounds),
            MappingProxyType(by_spec),
            self._limit,
            time.perf_counter() - self._started,
            MappingProxyType(dict(self._growths)),
            MappingProxyType(dict(self._runs)),
            rests_on,
            self._remedy if last is not None and last.exceeded else None,
            findings=findings,
            accepted=accepted,
            wrappers=met,
            broken=self.broken,
            doubted=bool(decided.missing),
        )

    @property
    def _met(self) -> Wrappers:
        """The agents, with all contexts that they were asked about."""
        met = self._explored
        for search in self._searches:
            met = _meeting(met, search.asked)
        return MappingProxyType(met)

    def _rests_on(self, met: Wrappers) -> Hypotheses:
        found = self._found.items()
        return rests_on(
            self._deployment,
            met,
            {name: one.every_number for name, one in found if one.every_number is not None},
            [name for name, one in found if one.verdict.holds and one.every_number is None],
            {
                name: one.within
                for name, one in found
                if one.verdict.holds is False and one.within is not None
            },
            self._options,
            self._widened,
        )
