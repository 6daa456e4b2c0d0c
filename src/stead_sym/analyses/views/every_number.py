"""Decide whether a specification holds for every number of records.

One decision: agents that are rules are followed if that is possible (`views.choices`). Others may select
whatever they are offered, so that what is shown is true of each agent. No unbounded sort is taken to have a
bound.

Theorem. Let V be invariant (`views.closure`), and let ~f need r values (`views.needs`). If f is true in all
instances of γ(V) over at most r values, then AG f holds.

Proof. A reachable D is in γ(V). If f were false in it, it would be so in a part of D on r values, which is in
γ(V). ∎
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.agents.roles import Wrappers, known_values
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.analyses.views.asking import Answers, Asking
from stead_sym.analyses.views.choices import followed
from stead_sym.analyses.views.closure import Assumed, Closing, Closure, fitted, keys_and_bounds
from stead_sym.analyses.views.growing_slices import slices
from stead_sym.analyses.views.needs import Needs, Outside, deciding
from stead_sym.analyses.views.obstacle import Obstacle, breaking, obstacle
from stead_sym.analyses.views.parts import AT_FIRST, AT_LAST, MOST_RECORDS, HowFar
from stead_sym.analyses.views.records import Records, crowded, forgetting
from stead_sym.analyses.views.shown import (
    LACKING,
    NOT_ALWAYS,
    OF_STEPS,
    Proof,
    Shown,
    always,
    asks_for_a_record,
    claims_not_shown,
)
from stead_sym.analyses.views.slicing import Slice
from stead_sym.analyses.views.steps import How, Sought, ViewsPlan, looks, needed
from stead_sym.analyses.views.vacuity import empty_premises, idle_tools
from stead_sym.analyses.views.watching import watched
from stead_sym.analyses.views.weakening import LeftOut, in_words, is_free, resting_on_none, stronger, without
from stead_sym.deployment.claims import claims
from stead_sym.deployment.deployment import Deployment
from stead_sym.errors import Undecided
from stead_sym.relational.instance import Instance
from stead_sym.support.progress import Progress, saying
from stead_sym.verification.findings.finding import Finding
from stead_sym.verification.findings.gates import gate_findings

STEPS = 3
"""At most this many values of k are tried, starting with the number of columns of unbounded sorts."""


_MANY_RELATIONS = 12
"""A deployment with more relations than this is looked at in slices before it is looked at as a whole."""

_MOST_OPERATIONS = 5_000
"""A slice may take at most this many operations on diagrams."""

_NODES_BEFORE_WHOLE = 200_000
"""Before the whole is looked at, the diagrams of a slice may have at most this many nodes.

A slice without the relations that keep parts apart may have far larger diagrams than the whole.
"""

_Closed: TypeAlias = list[tuple[Slice, int, Closure | None]]
"""The slices that were looked at by parts on so many values, with their closures if they have views."""


class _AsBefore(Undecided):
    """Nothing would be looked at that was not looked at before."""


@dataclass
class _Group:
    """The undecided specifications of a ``deployment``, each with the sentences to be always true in it.

    ``why_none`` says why the whole has no views, unless it ``has_whole``.
    """

    deployment: Deployment
    open: dict[str, tuple[fo.Expanded, ...]]
    has_whole: bool = True
    has_weaker: bool = True
    why_none: str = ""
    sliced: set[str] = field(default_factory=set)
    dropped: dict[str, tuple[fo.Expanded, ...]] = field(default_factory=dict)


def _columns(deployment: Deployment) -> int:
    """Return the least k: the largest number of columns of unbounded sorts of a relation, or 1."""
    return max(
        [1, *(sum(sort in deployment.bounds for sort in r.sorts) for r in deployment.schema.relations)]
    )


class EveryNumber:
    """The search for proofs of some specifications of one deployment, by parts on more and more values.

    ``asked`` are the wrappers of the agents that have to be asked (`views.asking`), by name, with the
    contexts that they were asked about.
    """

    def __init__(
        self,
        deployment: Deployment,
        specs: Mapping[str, fo.Expanded],
        wrappers: Wrappers,
        *,
        until: float = math.inf,
        progress: Progress | None = None,
        without_bounds: bool = False,
    ) -> None:
        """Prepare the search, which ends at the time ``until`` of the monotonic clock.

        With ``without_bounds``, bounds that the file writes are not assumed if it has other sorts without a
        bound. The results are then true for every number of values of each sort. Bounds of sorts with many
        identifiers in `init` are never assumed (`views.records`).
        """
        written = frozenset(deployment.bounds) - deployment.unbounded if deployment.unbounded else frozenset()
        self.without_bounds = written if without_bounds else written & crowded(deployment)
        if self.without_bounds:
            unbounded = deployment.unbounded | self.without_bounds
            deployment = replace(deployment, unbounded=unbounded, text=None)
        open_sorts = deployment.unbounded or deployment.bounds
        self.sorts = tuple(sort for sort in deployment.bounds if sort in open_sorts)
        self._reasons: dict[str, str] = {}
        self._unfollowed: dict[str, str] = {}
        self.obstacles: dict[str, Obstacle] = {}
        self.findings: dict[Finding, None] = {}
        self.asked: dict[str, CanonicalWrapper] = {}
        self._left_out: dict[str, str] = {}
        self._agents = " and ".join(w.agent.name for w in wrappers.values() if w is not None)
        self._deployment, self._formulas, self._wrappers = deployment, specs, wrappers
        self._left, self._more, self._until = STEPS, 0, until
        self._progress = saying(progress, "for every number")
        self._groups: list[_Group] = []
        self.records: Records | None = None
        if deployment.history:
            self._reasons = dict.fromkeys(specs, OF_STEPS)
            return
        deployment, self.records = forgetting(deployment, specs.values(), known_values(wrappers))
        guarded = self.selecting = followed(deployment, wrappers, _columns(deployment))
        self._follows = guarded.tools != deployment.tools
        self.asked = {
            role.name: made.again()
            for role in deployment.agents
            if (made := wrappers[role.name]) is not None
            and role.each is None
            and all(guarded.tool(name) == deployment.tool(name) for name in role.tools)
        }
        pairs = zip(guarded.tools_and_events, deployment.tools_and_events, strict=True)
        self._followed = tuple(one.name for one, other in pairs if one != other)
        needs = Needs(deployment)
        self._resting_on_none = tuple(
            place for tool in deployment.tools_and_events for place in resting_on_none(needs, tool)
        )
        self.guarded = without(guarded, self._resting_on_none)
        plain: dict[str, tuple[fo.Expanded, ...]] = {}
        for name, formula in specs.items():
            if (sentences := always(formula)) is not None:
                plain[name] = sentences
            elif (found := watched(guarded, formula)) is not None:
                self._groups.append(_Group(found.deployment, {name: found.sentences}))
            elif deployment.unbounded:
                self._reasons[name] = NOT_ALWAYS
        if plain:
            self._groups.insert(0, _Group(guarded, plain))

    @property
    def reasons(self) -> Mapping[str, str]:
        """Return why each specification is not shown, and which agents are not followed."""
        said = ((name, (why, self._unfollowed.get(name))) for name, why in self._reasons.items())
        return {name: "; ".join(filter(None, parts)) for name, parts in said}

    def further(self, asked: Collection[str]) -> Mapping[str, Shown]:
        """Return the specifications that parts on the next number of values show.

        Specifications that are not ``asked`` are dropped. For the others ``reasons`` has why they are not
        shown, and ``obstacles`` what stands in the way if views were found. ``findings`` has what weakens the
        verdicts.
        """
        for group in self._groups:
            group.open = {name: sentences for name, sentences in group.open.items() if name in asked}
        found: dict[str, Shown] = {}
        if self.is_open:
            for group in self._groups:
                if group.open:
                    k = _columns(group.deployment) + self._more
                    found |= self._of_group(group, k)
                    if group.open and self.asked:
                        found |= self._shown_of_asked(group, k)
            self._left, self._more = self._left - 1, self._more + 1
        return found

    def at_last(self, asked: Collection[str]) -> Mapping[str, Shown]:
        """Return the specifications that are shown if steps are looked at over more records.

        That takes longer: call it if `further` shows no more, and bounds are raised.
        """
        found: dict[str, Shown] = {}
        for group in self._groups:
            left = {**group.dropped, **group.open}
            group.open = {name: sentences for name, sentences in left.items() if name in asked}
            if group.open and not group.has_whole:
                self._more = 0
                found |= self._at_last(group, _columns(group.deployment))
        return found

    def plan(self) -> ViewsPlan:
        """Return what will be looked at; call it before `further`."""
        specs: dict[str, Sought] = {name: Sought("not shown", 0, why) for name, why in self._reasons.items()}
        for group in self._groups:
            how: How = "views" if group.deployment is self.selecting else "watched"
            for name, sentences in group.open.items():
                try:
                    specs[name] = Sought(how, needed(group.deployment, sentences).total())
                except Outside as error:
                    specs[name] = Sought("not shown", 0, str(error))
        helping = tuple(one.name for one in self._helping(self.guarded))
        declared = tuple(one.name for one in keys_and_bounds(self.guarded, self.sorts))
        least = _columns(self.guarded)
        bounds = {sort: b for sort, b in self.guarded.bounds.items() if sort not in self.sorts}
        return ViewsPlan(
            self._deployment,
            self.sorts,
            tuple(range(least, least + STEPS)),
            tuple(look for look in looks(self.guarded, least, bounds) if not is_free(look.tool)),
            {spec.name: specs[spec.name] for spec in self._deployment.specs if spec.name in specs},
            (*declared, *helping),
            self._weaker | self._left_out,
            self._choices,
        )

    @property
    def _choices(self) -> Mapping[str, str]:
        """Return for each agent a description of the choices that are looked at."""
        said: dict[str, str] = {}
        for role in self._deployment.agents:
            guarded = [name for name in role.tools if name in self._followed]
            if self._wrappers[role.name] is None:
                said[role.name] = "whatever is offered"
            elif guarded:
                said[role.name] = f"what its rules select, as guards of {', '.join(guarded)}"
            else:
                said[role.name] = (
                    "what it selects where it can be asked about contexts, else whatever is offered"
                )
        return said

    @property
    def _weaker(self) -> dict[str, str]:
        """Return by tool a description of the conditions that no number of records keeps true."""
        return dict(in_words(self.selecting, self._resting_on_none))

    def _of_group(self, group: _Group, k: int) -> Mapping[str, Shown]:
        """Return what the whole deployment shows, then what slices show if the whole is not decided.

        After these, the whole is tried without conditions that rest on too many records. If it has many
        relations, slices come first, by parts on the same number of values and with fewer nodes.
        """
        wide = len(group.deployment.schema.relations) > _MANY_RELATIONS
        most, found = k if wide else 0, dict[str, Shown]()
        if wide and group.has_whole:
            found |= self._by_slices(group, most, replace(AT_FIRST, nodes=_NODES_BEFORE_WHOLE))
        elif not group.has_whole:
            found |= self._by_slices(group, most)
        if group.has_whole and group.open:
            try:
                return {**found, **self._shown(group, k)}
            except (Outside, Undecided) as error:
                group.has_whole, group.why_none = False, str(error).removeprefix("unknown: ")
                found |= self._by_slices(group, most)
                for name in group.open:
                    self._reasons.setdefault(name, group.why_none)
        if group.has_weaker and not group.has_whole and group.open:
            try:
                found |= self._shown(group, k, fit=True)
            except (Outside, Undecided):
                group.has_weaker = False
        if not (group.has_whole or group.has_weaker):
            group.dropped |= group.open
            group.open = {name: group.open[name] for name in group.open if name in group.sliced}
        return found

    def _at_last(self, group: _Group, k: int) -> Mapping[str, Shown]:
        """Return what is shown if steps are looked at over more records than at first.

        That takes longer, so it comes last. Slices come before the whole. If the whole has no views either,
        the reason is no longer what it was at first.
        """
        found = dict(self._by_slices(group, far=AT_LAST))
        for fit in (False, True):
            if group.open:
                try:
                    found |= self._shown(group, k, fit=fit, far=AT_LAST)
                except (_AsBefore, Outside):
                    continue
                except Undecided as error:
                    for name in () if fit else group.open:
                        if self._reasons.get(name) == group.why_none:
                            self._reasons[name] = str(error).removeprefix("unknown: ")
        return found

    def _by_slices(self, group: _Group, most: int = 0, far: HowFar = AT_FIRST) -> Mapping[str, Shown]:
        """Return what slices show, the smallest that does; by parts on up to ``most`` values.

        ``sliced`` are then the specifications of which some slice has been closed: more values may show them.
        """
        found: dict[str, Shown] = {}
        group.sliced.clear()
        closed: _Closed = []
        for name, sentences in list(group.open.items()):
            for part, closure in self._closed_slices(
                group.deployment, sentences, self._more, most, far, closed
            ):
                group.sliced.add(name)
                if _is_always(closure, sentences):
                    self._examine(closure.closing, group, name, part)
                    known = tuple(filter(self.selecting.schema.has_relation, part.kept))
                    proof = self._proof(closure, group, ())
                    proof = replace(
                        proof,
                        kept=part.kept,
                        using=tuple(part.using.items()),
                        left_out=self._resting_on_none,
                        left_out_of_slice=closure.closing.left_out,
                    )
                    found |= self._shown_by(
                        closure, group, [name], self._claims_left, proof=proof, relations=known
                    )
                    break
        return found

    def _closed_slices(
        self,
        deployment: Deployment,
        sentences: Iterable[fo.Expanded],
        more: int,
        most: int = 0,
        far: HowFar = AT_FIRST,
        closed: _Closed | None = None,
    ) -> Iterator[tuple[Slice, Closure]]:
        """Yield the slices for some sentences that have views, each with its closure.

        Parts have ``more`` values beyond the least number, and then further values up to ``most``, unless
        they were looked at with a smaller ``more``. After a slice without views the next one is tried, which
        may read what ties the parameters of this one. What is ``closed`` as far is not closed again.
        """
        closed = [] if closed is None else closed
        with suppress(Outside):
            for part in slices(without(deployment, self._resting_on_none), sentences):
                least = max(_columns(part.deployment) + more, most if more else 0)
                for k in range(least, max(least, most) + 1):
                    known = [closure for one, of, closure in closed if of == k and one == part]
                    if not known:
                        known = [self._closed_slice(part, k, far)]
                        closed.append((part, k, known[0]))
                    if known[0] is not None:
                        yield part, known[0]

    def _closed_slice(self, part: Slice, k: int, far: HowFar) -> Closure | None:
        """Return the closure of a slice, if need be without conditions that rest on too many records."""
        own = self.records and self.records.within(part)
        within = far.within(_MOST_OPERATIONS)
        for fit in (False, True):
            with suppress(Outside, Undecided):
                return self._closed(part.deployment, k, own, fit=fit, far=within)
        return None

    def _shown(
        self, group: _Group, k: int, *, fit: bool = False, far: HowFar = AT_FIRST
    ) -> Mapping[str, Shown]:
        """Return what the whole deployment shows by views on k values.

        With ``fit``, conditions that rest on too many records are left out. Raises `Outside` and `Undecided`.
        """
        left_out = self._resting_on_none
        closure = self._closed(group.deployment, k, self.records, left_out=left_out, fit=fit, far=far)
        if closure.broken:
            said = "; ".join([f"{closure.broken} is not shown by {k}-views", *self._taken_without(closure)])
            self._reasons.update(dict.fromkeys(group.open, said))
            assert closure.breaking is not None
            with suppress(Undecided):
                if not _has_free(closure):
                    against = breaking(closure, closure.breaking)
                    self.obstacles.update(dict.fromkeys(group.open, against))
            # a slice may be without what is broken
            return {} if fit or far != AT_FIRST else self._by_slices(group)
        shown = [name for name, sentences in group.open.items() if self._always(closure, name, sentences)]
        for name in shown:
            self._examine(closure.closing, group, name, self.selecting)
        proof = self._proof(closure, group, ()) if shown else None
        left_open = tuple(claims_not_shown(closure.closing, self.selecting)) if shown else ()
        return self._shown_by(closure, group, shown, left_open, proof=proof)

    def _taken_without(self, closure: Closure) -> Iterator[str]:
        """Yield descriptions of what is left out of the conditions of tools."""
        for tool, why in in_words(self.selecting, closure.closing.left_out):
            yield f"{tool} is taken {why}"

    def _proof(self, closure: Closure, group: _Group, answers: tuple[Answers, ...]) -> Proof:
        known = self.selecting.schema.has_relation
        watched = tuple(r.name for r in group.deployment.schema.relations if not known(r.name))
        constants = None
        if self.records is not None:
            constants = tuple(u for sort in self.sorts for u in group.deployment.constants[sort])
        return Proof(
            closure,
            self._followed,
            watched,
            constants,
            answers,
            without_bounds=tuple(sorted(self.without_bounds)),
            left_out=closure.closing.left_out,
        )

    def _shown_of_asked(self, group: _Group, k: int) -> Mapping[str, Shown]:
        """Return what is shown if agents that have to be asked select what they answer (`views.asking`)."""
        every = asked = [
            Asking(self.selecting, role, self.asked[role.name])
            for role in self.selecting.agents
            if role.name in self.asked
        ]
        doubts: dict[str, str] = {}
        try:
            while asked:
                deployment, selecting = group.deployment, self.selecting
                for one in asked:
                    deployment, selecting = one.guarded(deployment), one.guarded(selecting)
                closure = self._closed(deployment, k, self.records, left_out=self._resting_on_none)
                if closure.broken or not any(one.asks(closure) for one in asked):
                    break
                doubts |= {one.wrapper.agent.name: one.doubt for one in asked if one.doubt}
                asked = [one for one in asked if not one.doubt]
        except (Outside, Undecided) as error:
            doubts, asked = {self._agents: str(error).removeprefix("unknown: ")}, []
        for one in every:
            self.asked[one.role.name] = self.asked[one.role.name].meeting(one.wrapper)
        said = "; ".join(f"what {agent} selects is not followed: {why}" for agent, why in doubts.items())
        self._unfollowed.update(dict.fromkeys(group.open, said))
        if not asked or closure.broken:
            return {}
        shown = [name for name, sentences in group.open.items() if self._always(closure, name, sentences)]
        for name in shown:
            self._examine(closure.closing, group, name, selecting)
        left_open = tuple(claims_not_shown(closure.closing, selecting)) if shown else ()
        proof = self._proof(closure, group, tuple(one.answers for one in asked)) if shown else None
        return self._shown_by(closure, group, shown, left_open, followed=True, proof=proof)

    def _shown_by(
        self,
        closure: Closure,
        group: _Group,
        names: Collection[str],
        left_open: tuple[str, ...],
        *,
        followed: bool | None = None,
        proof: Proof | None = None,
        relations: tuple[str, ...] = (),
    ) -> Mapping[str, Shown]:
        """Record that these specifications are shown, and return the result for each."""
        for name in names:
            del group.open[name]
            self._reasons.pop(name, None)
            self.obstacles.pop(name, None)
        if not names:
            return {}
        found = Shown(
            closure.k,
            closure.gluing.count(),
            self.sorts,
            left_open,
            self._follows if followed is None else followed,
            closure.closing.invariants,
            proof,
            relations,
        )
        return dict.fromkeys(names, found)

    def _closed(
        self,
        deployment: Deployment,
        k: int,
        records: Records | None,
        *,
        left_out: tuple[LeftOut, ...] = (),
        fit: bool = False,
        far: HowFar = AT_FIRST,
    ) -> Closure:
        """Return views on k values that are invariant with all invariants of the file that can be shown.

        The conjuncts ``left_out`` are removed, and with ``fit`` further ones. If steps are looked at further
        than at first, some step has to take more records. Raises `Outside` and `Undecided`.
        """
        declared = tuple(keys_and_bounds(deployment, self.sorts))
        helping = list(self._helping(deployment))
        while True:
            try:
                assumed = (*declared, *helping)
                if fit and (more := fitted(deployment, k, assumed, left_out, far.values)) == left_out:
                    raise _AsBefore("unknown: no condition rests on too many records")
                closing = Closing(
                    deployment,
                    k,
                    assumed,
                    until=self._until,
                    progress=self._progress,
                    records=records,
                    left_out=more if fit else left_out,
                    far=far,
                )
                if far.values > MOST_RECORDS >= max(closing.within.values(), default=0):
                    raise _AsBefore("unknown: no step takes more records than at first")
                closure = closing.closed()
            except Undecided as error:
                if not helping:
                    raise
                said = str(error).removeprefix("unknown: ")
                self._left_out.update((one.name, f"with invariant {one.name} {said}") for one in helping)
                helping = []
                continue
            broken = {one.name for one in helping} & {closure.broken}
            if not broken:
                return closure
            self._left_out.update((name, f"invariant {name} is not shown by {k}-views") for name in broken)
            helping = [one for one in helping if one.name not in broken]

    def _helping(self, deployment: Deployment) -> Iterator[Assumed]:
        """Yield the invariants of the file that can be shown by views.

        These are the invariants that are true in each part of an instance in which they are true.
        ``_left_out`` has the reasons for the others.
        """
        needs = Needs(deployment)
        self._left_out = {}
        for spec in deployment.specs:
            for sentence in always(spec.formula) or () if spec.helps else ():
                try:
                    needs.refuted(sentence)
                    if needs.kept(sentence).total():
                        raise Outside(
                            f"invariant {spec.name} says that there is a record; write a spec", spec.span
                        )
                except Outside as error:
                    self._left_out[spec.name] = str(error)
                else:
                    yield Assumed(spec.name, sentence, deciding(sentence), starting=True)

    @cached_property
    def _claims_left(self) -> tuple[str, ...]:
        """Return the claims that no slice shows.

        A slice has only its own keys, references and other bounds.
        """
        raised = {
            f"bound {sort} {bound}" for sort, bound in self.guarded.bounds.items() if sort in self.sorts
        }
        return tuple(
            claim.name
            for claim in claims(self.selecting)
            if not (claim.name in raised or self._is_shown(claim.invariant))
        )

    def _is_shown(self, claimed: fo.Expanded) -> bool:
        sentence = stronger(Needs(self.guarded), claimed)
        return sentence == fo.TRUE or any(
            _is_always(closure, [sentence])
            for _, closure in self._closed_slices(self.selecting, [sentence], 0)
        )

    @property
    def is_open(self) -> bool:
        """Return whether there are open specifications, and further numbers of values to try."""
        return self._left > 0 and any(group.open for group in self._groups)

    def _always(self, closure: Closure, name: str, sentences: tuple[fo.Expanded, ...]) -> bool:
        """Return whether the sentences of a specification are true in all of γ(V)."""
        try:
            found = next(closure.closing.against(sentences), None)
        except (Outside, Undecided) as error:
            why = str(error).removeprefix("unknown: ")
            self._reasons[name] = "; ".join([why, *self._taken_without(closure)])
            return False
        if found is not None:
            others = [why for other, why in self._left_out.items() if other != name]
            lacking = [LACKING] if asks_for_a_record(closure.closing.needs, sentences) else []
            shown = Instance(found.schema, frozenset(f for f in found.facts if not is_free(f.relation)))
            said = [f"{closure.k}-views do not exclude {shown}", *lacking, *self._taken_without(closure)]
            self._reasons[name] = "; ".join([*said, *others])
            with suppress(Undecided):
                if not _has_free(closure):
                    self.obstacles[name] = obstacle(closure, found)
        return found is None

    def _examine(self, closing: Closing, group: _Group, name: str, within: Deployment | Slice) -> None:
        """Find what weakens the verdict, in γ(V) of a slice or of the whole.

        The whole is given with the guards that agents set. If it is watched or guarded, it can reach what the
        deployment reaches under its agents.
        """

        def never(sentence: fo.Expanded) -> bool:
            if isinstance(within, Slice) and not within.asks(group.deployment, sentence):
                return False
            try:
                return closing.shows([fo.Not(sentence)])
            except (Outside, Undecided):
                return False

        self.findings |= dict.fromkeys(empty_premises(name, self._formulas[name], never))
        if not isinstance(within, Slice):
            idle = idle_tools(self._deployment, within, self._agents, never)
            self.findings |= dict.fromkeys(idle)
            lines = gate_findings(self._deployment, lambda sentence: not never(sentence))
            self.findings |= dict.fromkeys(lines)


def _has_free(closure: Closure) -> bool:
    """Return whether the closure includes steps that no tool takes (`views.weakening`)."""
    return any(is_free(relation.name) for relation in closure.closing.deployment.schema.relations)


def _is_always(closure: Closure, sentences: Iterable[fo.Expanded]) -> bool:
    """Return whether V is invariant and the sentences are shown to be true in all of γ(V)."""
    with suppress(Outside, Undecided):
        return not closure.broken and closure.closing.shows(sentences)
    return False
