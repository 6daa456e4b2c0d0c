"""Verdicts on specifications, made of evidence in fragments and of the search for every number of records.

One decision: a fragment's evidence is replayed in the deployment, and only consequences for the whole
deployment are returned, by the rule of `readings`. A refutation in either reading of fairness refutes, and a
specification is true only if it is so in both.

The hypotheses are like those of a verification (`verification.audit`), each established or not, so that
reports show, write and compare them in the same way. A verdict that stands needs none that is missing: `AG f`
is about every state that a run reaches, even if the run has no continuation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import stead_sym.logic.syntax as fo
from stead_sym.agents.roles import Wrappers
from stead_sym.analyses.bounds import in_words
from stead_sym.analyses.deepening.fragment import Bounds, Fragment, Leaping, starting_beyond
from stead_sym.analyses.deepening.recover import recovered
from stead_sym.analyses.deepening.result import Found, Round
from stead_sym.analyses.views.every_number import EveryNumber
from stead_sym.analyses.views.shown import NOT_ALWAYS, Shown, always
from stead_sym.deployment.claims import ALWAYS_A_STEP
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import Spec
from stead_sym.engines.protocol import Engine
from stead_sym.evidence.moves import Moves
from stead_sym.evidence.renamed import renamed
from stead_sym.evidence.replay import replay
from stead_sym.evidence.tree import Evidence, Parts
from stead_sym.verification.audit import OF_THE_LANGUAGE, of_agents, of_decisions
from stead_sym.verification.findings.finding import Finding
from stead_sym.verification.hypotheses import Hypotheses, Hypothesis, Status
from stead_sym.verification.options import Options
from stead_sym.verification.readings import FAIR_ALONE, NOT_SHOWN_FAIR, answer, no_fair_run
from stead_sym.verification.result import Verification
from stead_sym.verification.scope import leeway
from stead_sym.verification.verdict import Verdict
from stead_sym.verification.widened import Widened


@dataclass(frozen=True)
class Verdicts:
    """Verdicts on the ``specs`` of a ``deployment`` under its agents.

    ``leaps`` is the deployment that fragments are made of. ``every_number`` searches for proofs without
    bounds, and ``counted`` are the bounds that it does not search for, each with the reason. The reason is
    empty if the bound holds by construction.
    """

    deployment: Deployment
    leaps: Leaping
    specs: Mapping[str, Spec]
    wrappers: Wrappers
    every_number: EveryNumber
    counted: Mapping[str, str]

    @cached_property
    def _written(self) -> Mapping[str, fo.Formula]:
        return {spec.name: spec.formula for spec in self.deployment.written.specs}

    @cached_property
    def unasked(self) -> Mapping[str, str]:
        """The reasons why no fragment decides some specifications, by name."""
        return {
            name: f"under `fair {lines[0]}` only what is always true is decided; write a bound to ask this"
            for name, spec in self.specs.items()
            if (lines := self.deployment.fair_actions)
            and name not in self.counted
            and always(spec.formula) is None
        }

    def verdict(
        self,
        name: str,
        holds: bool | None,
        evidence: Evidence | None = None,
        scope: tuple[str, ...] = (),
    ) -> Verdict:
        """Return a verdict on the formula of a specification as it is written."""
        spec = self.specs[name]
        written = self._written.get(name, spec.formula)
        return Verdict(name, written, holds, evidence=evidence, scope=scope, expected=spec.expected)

    def decide(self, part: Fragment, result: Verification, name: str) -> Found:
        """Return the result of a fragment for a specification."""
        formula = self.specs[name].formula
        shown, scope = _evidence_within(part, result.engine, formula)
        if shown is None or (shown.root.holds and starting_beyond(self.deployment)):
            return Found(self.verdict(name, None))
        evidence = recovered(shown, formula)
        if not evidence.root.holds:
            return self.refute(part, result, self.verdict(name, False, scope=scope), evidence)
        evidence, moves = self._replayed(part, result, name, evidence)
        return Found(self.verdict(name, None, evidence=evidence), part.bounds, shown=True, moves=moves)

    def refute(self, part: Fragment, result: Verification, verdict: Verdict, shown: Evidence) -> Found:
        """Return the result that a specification or a claim fails in the fragment, by this evidence."""
        evidence, moves = self._replayed(part, result, verdict.spec, shown)
        left_open = leeway(self.deployment, None, result.moves.wrappers)
        formula = self.specs[verdict.spec].formula if verdict.spec in self.specs else verdict.formula
        scope = (*verdict.scope, *left_open.scope(formula, False, evidence))
        return Found(replace(verdict, evidence=evidence, scope=scope), part.bounds, moves=moves)

    def _replayed(
        self, part: Fragment, result: Verification, name: str, shown: Evidence
    ) -> tuple[Evidence, Moves]:
        """Return evidence in names of the file, which is replayed, with its moves."""
        evidence = renamed(shown, self.deployment, self.wrappers)
        replayed = replay(self.leaps.deployment, self.wrappers, evidence, part.bounds)
        assert replayed.confirmed, f"the run of {name} is not confirmed: {replayed.fault}"
        return evidence, Moves(self.deployment, self.wrappers, result.restriction, part.bounds)

    def _why_not_always(self, name: str) -> str | None:
        """Return why a specification is not shown for every number of records."""
        return self.counted.get(name) or self.every_number.reasons.get(name)

    def conclude_unexplored(self, found: Found, reason: str, decided: Hypotheses) -> Found:
        """Return the result without an exploration, or if none goes on, for this reason."""
        concluded = _concluded(found, decided)
        if concluded is not found or found.verdict.holds is not None:
            return concluded
        name = found.verdict.spec
        if why := self._why_not_always(name):
            reason = f"{reason}; for every number: {why}"
        obstacle = self.every_number.obstacles.get(name)
        return replace(found, verdict=replace(found.verdict, reason=reason), obstacle=obstacle)

    def conclude(self, found: Found, last: Round, decided: Hypotheses, unfair: tuple[Finding, ...]) -> Found:
        """Return the result after the last fragment, with the reason for `unknown`.

        ``unfair`` are the findings that no run is fair there.
        """
        verdict, concluded = found.verdict, _concluded(found, decided)
        if concluded is not found or verdict.holds is not None:
            return concluded
        if (why := self.unasked.get(verdict.spec)) is not None:
            return replace(found, verdict=replace(verdict, reason=why))
        within = in_words(found.within or last.bounds)
        said = f"{'shown to be true' if found.shown else 'nothing refutes it'} within the bounds {within}"
        if not last.growing and unfair and not found.shown:
            reason = no_fair_run(one.text for one in unfair)
        elif not last.growing and (missing := decided.missing):
            reason = f"{said} {missing[0].doubt}"
        elif not last.growing:
            reason = f"{said}; no run exceeds {in_words(last.most)}: for a verdict write that into the file"
        elif found.shown:
            reason = f"{said}, which are not established"
        elif last.exceeded:
            reason = f"{said}; {' and '.join(last.exceeded)} can exceed them"
        else:
            reason = f"{said}; a formula of `ensure` may bring in more of {' and '.join(last.unseen)} at once"
        if last.growing and (why := self._why_not_always(verdict.spec)):
            of_views = f"for every number: {why}"
            reason = (
                f"{of_views}; {reason}" if why == NOT_ALWAYS and not found.shown else f"{reason}; {of_views}"
            )
        if found.proposed is not None:
            reason = f"{reason}; with `{found.proposed.line}` in the file it is shown"
        return replace(
            found,
            verdict=replace(verdict, reason=reason),
            obstacle=self.every_number.obstacles.get(verdict.spec) if last.growing else None,
        )


def _evidence_within(
    part: Fragment, engine: Engine, formula: fo.Expanded
) -> tuple[Evidence | None, tuple[str, ...]]:
    """Return evidence in the fragment that decides the formula in the whole deployment, with its scope.

    The evidence is about a reading of the formula. It shows that the formula fails, or is true; it is None if
    nothing is shown. The engine has explored the fragment.
    """
    possible, sure = part.possible(formula), part.sure(formula)
    if not part.whole.fair:
        if not engine.holds(possible):
            return engine.evidence(possible, False), ()
        return (engine.evidence(sure, True) if engine.holds(sure) else None), ()
    if not engine.satisfying(part.past, {}).count:  # the fragment is the whole deployment
        said = answer(engine, possible)
        if said.holds:
            said = answer(engine, sure)
        return (None if said.holds is None else said.evidence), said.scope
    refuted = fo.Implies(part.goes_on, possible)
    if not engine.holds(refuted):  # at a D0 with a fair run, as `readings` requires
        root = engine.evidence(refuted, False).root
        assert isinstance(root.reason, Parts), "both sides of an implication that fails are shown"
        return Evidence(dict(root.reason.nodes)[1], engine.initial > 1), ()
    finite = part.finite(formula)
    surely = engine.holds(sure)
    if not engine.completed.holds(finite):
        evidence = engine.completed.evidence(finite, False)
        if not evidence.unshown:
            fairly = surely and not engine.holds(fo.Not(part.goes_on))
            return evidence, (FAIR_ALONE if fairly else NOT_SHOWN_FAIR,)
    if surely and not engine.satisfying(fo.And((fo.Not(part.past), fo.Not(part.goes_on))), {}).count:
        return engine.evidence(sure, True), ()  # no state is hidden: the readings agree
    return None, ()


def _concluded(found: Found, decided: Hypotheses) -> Found:
    """Return a failure as `unknown` if it rests on decisions that the agents may not mean.

    ``decided`` are the hypotheses on what they decided in the fragments. What is shown for every number
    of records rests on none that is in doubt (`views.asking`).
    """
    if found.verdict.holds is not False:
        return found
    verdict = decided.concluded(found.verdict, by_run=True)
    return found if verdict.holds is False else Found(replace(verdict, evidence=None))


def rests_on(
    deployment: Deployment,
    wrappers: Wrappers,
    shown: Mapping[str, Shown],
    constructed: Collection[str],
    runs: Mapping[str, Bounds],
    options: Options,
    widened: tuple[Widened, ...] = (),
) -> Hypotheses:
    """Return the hypotheses of verdicts for every number of records, and of refutations within bounds.

    The former are ``shown``, the latter are by ``runs`` within some bounds, both by specification. The claims
    of the file are included; bounds that hold by construction are ``constructed``.
    """
    left_open = {claim for one in shown.values() for claim in one.left_open}
    left_open |= set(_bounds_left(deployment, shown)).difference(constructed)
    every = (
        *_views(deployment, shown),
        *_claims(deployment, left_open, constructed, known=bool(shown)),
        *OF_THE_LANGUAGE,
        *of_agents(deployment, wrappers, options),
        *_followed(deployment, wrappers, shown),
        *of_decisions(wrappers, options.min_mass),
        *_replayed(runs),
    )
    return Hypotheses(every, {}, widened)


def _bounds_left(deployment: Deployment, shown: Mapping[str, Shown]) -> Iterator[str]:
    """Yield the written bounds that are neither shown nor assumed in an induction that was ended."""
    for sort, bound in deployment.bounds.items():
        name = f"bound {sort} {bound}"
        if name not in shown and all(sort in one.sorts for one in shown.values()):
            yield name


def _views(deployment: Deployment, shown: Mapping[str, Shown]) -> Iterator[Hypothesis]:
    """Yield the hypothesis of the theorem: no step leaves γ(V), and what is shown is true in all of it."""
    sets: dict[str, list[str]] = {}
    for name, one in shown.items():
        sets.setdefault(f"{one.by_views}{_together(one)}", []).append(name)
    if sets:
        lines = [
            "no step from a database of any size whose parts are all among these views leads to another part"
        ]
        lines += [f"{', '.join(names)} by {how}" for how, names in sets.items()]
        yield Hypothesis("views are invariant", "established", "; ".join(lines))


def _together(one: Shown) -> str:
    """Return, in words, the claims that are shown in the same induction, of a slice its own."""
    assumed = () if one.proof is None else one.proof.closure.closing.assumed
    together = [claim.name for claim in assumed if not claim.starting]
    return f", in one induction with {', '.join(together)}" if together else ""


def _claims(
    deployment: Deployment, left_open: Collection[str], constructed: Collection[str], *, known: bool
) -> Iterator[Hypothesis]:
    """Yield the claims of the file about its reachable states; ``known``: something is shown of them all."""

    def claimed(name: str, claims: Collection[str], otherwise: str) -> Hypothesis:
        missing = [claim for claim in claims if claim in left_open]
        status: Status = "established" if known and not missing else "not established"
        if not known:
            return Hypothesis(name, status, "nothing is shown of all reachable states")
        if missing:
            return Hypothesis(name, status, f"not shown for every number: {', '.join(missing)}")
        return Hypothesis(name, status, otherwise)

    always = "in every database all of whose parts are among the views"
    open_sorts = deployment.unbounded or deployment.bounds
    bounds = [f"bound {sort} {b}" for sort, b in deployment.bounds.items() if sort not in open_sorts]
    free = (
        f"any number of {', '.join(sort for sort in deployment.bounds if sort in open_sorts)} may be in use"
    )
    if constructed:
        free = f"{free}; {', '.join(constructed)}, since no effect brings in another value"
    if bounds := [name for name in bounds if name not in constructed]:
        yield claimed("bounded", bounds, f"{free}; {', '.join(bounds)}, {always}")
    else:
        yield Hypothesis("bounded", "by construction", free)
    steps = [ALWAYS_A_STEP, *(f"{tool.name} has an effect" for tool in deployment.tools_and_events)]
    yield claimed("serial", steps, f"a step is possible and has an effect, {always}")
    keyed = [f"key of {relation.name}" for relation in deployment.schema.relations if relation.keys]
    yield claimed("keys hold", keyed, f"{', '.join(keyed)}, {always}" if keyed else "none is declared")
    if named := [reference.name for reference in deployment.schema.references]:
        yield claimed("references hold", named, f"{', '.join(named)}, {always}")


def _followed(deployment: Deployment, wrappers: Wrappers, shown: Mapping[str, Shown]) -> Iterator[Hypothesis]:
    """Yield the hypothesis on the agents' choices that verdicts for every number of records need."""
    if not shown or all(wrapper is None for wrapper in wrappers.values()):
        return
    by_any = [name for name, one in shown.items() if not one.followed]
    by_choice = [name for name, one in shown.items() if one.followed]
    lines = []
    if by_any:
        lines.append(f"{', '.join(by_any)}: whatever an agent selects of what it is offered")
    if by_choice:
        lines.append(f"{', '.join(by_choice)}: where an agent selects, as guards of its tools")
    yield Hypothesis(
        "agents are followed", "established" if by_choice else "by construction", "; ".join(lines)
    )


def _replayed(runs: Mapping[str, Bounds]) -> Iterator[Hypothesis]:
    """Yield the hypothesis that a run within some bounds is one of the deployment."""
    if runs:
        lines = (f"{name}, within {in_words(bounds)}" for name, bounds in runs.items())
        yield Hypothesis("runs are runs of the deployment", "established", f"replayed; {'; '.join(lines)}")
