"""Compute sets of views that no step leaves.

Theorem. Let V be a set of instances over at most k values outside C, k at least the number of columns of
open sorts of any relation, such that α_k(D0) ⊆ V for every D0, and let I be sentences that are true in each
part of an instance in which they are, whose negations need r_I values (`views.needs`): the declared keys,
for one. If every step from each D ∈ γ(V) with D ⊨ I over at most n values leads to a D' ∈ γ(V), for n as in
`views.steps`, and every step from one over at most n values, for r_I in place of k, to a D' ⊨ I, and if
every D0 ⊨ I, then every reachable instance, of every size, is in γ(V) and satisfies I. The proof is in
`docs/theory.md`.

If I has the bound b_S of a sort S, instances over more than b_S values of S need not be looked at, neither
for steps nor for what is asked of γ(V).

Proof. The theorem of `views.steps` is applied to a D ⊨ I, and gives a part D↾Y. In D at most b_S values of S
are active outside C. Values of Y that are not active in D are in no fact, so that D↾Y is a part on at most
b_S values of S. The same goes for a part of D in which a sentence is false. ∎

One decision: a set of instances over a few names is a diagram (`views.diagrams`), and the steps of a tool are
taken from all of γ(V) at once (`views.image`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations_with_replacement, count, product
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.analyses.views.diagrams import Diagrams
from stead_sym.analyses.views.gluing import Gluing
from stead_sym.analyses.views.image import Images, Step
from stead_sym.analyses.views.needs import Needs, Number, Outside, within_bounds
from stead_sym.analyses.views.parts import AT_FIRST, MOST_RECORDS, Facts, HowFar, Parts, Sizes, refuse_many
from stead_sym.analyses.views.records import Records
from stead_sym.analyses.views.steps import fewer, values
from stead_sym.analyses.views.weakening import LeftOut, fitting, weaker, without
from stead_sym.deployment.claims import active_outside, claim_named, written_integers
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.initial import no_initial_state
from stead_sym.deployment.tool import Call, Effect, Tool
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.logic.kernel import core
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value
from stead_sym.support.progress import Progress, Pulse

_Work: TypeAlias = tuple[Tool, Effect, Sizes]


@dataclass(frozen=True, slots=True)
class Assumed:
    """A ``sentence`` of I, with its ``name``.

    If its truth depends on the facts of some relations only, these are its ``relations``. If it states that a
    sort has at most a ``bound`` of values, ``sort`` is set. If ``starting``, its truth in initial instances
    has to be checked, since nothing in their definition implies it.
    """

    name: str
    sentence: fo.Expanded
    relations: frozenset[str] | None = None
    starting: bool = False
    sort: str | None = None
    bound: int = 0


def keys_and_bounds(deployment: Deployment, open_sorts: Collection[str]) -> Iterator[Assumed]:
    """Yield the declared keys, and the bounds of the sorts that are not open."""
    for relation in deployment.schema.relations:
        if relation.keys:
            claim = claim_named(deployment, f"key of {relation.name}")
            assert claim is not None
            yield Assumed(claim.name, claim.invariant, frozenset((relation.name,)))
    for sort, bound in deployment.bounds.items():
        if sort not in open_sorts:
            sentence = active_outside(deployment, sort, "atmost", bound)
            yield Assumed(f"bound {sort} {bound}", sentence, sort=sort, bound=bound)


def _bounds(assumed: Iterable[Assumed]) -> dict[str, int]:
    return {one.sort: one.bound for one in assumed if one.sort is not None}


def fitted(
    deployment: Deployment,
    k: int,
    assumed: Iterable[Assumed],
    left_out: tuple[LeftOut, ...],
    most: int,
) -> tuple[LeftOut, ...]:
    """Return conjuncts without which all steps rest on at most so many values.

    They include ``left_out``.

    The steps are those for parts on k values and for what is assumed. Raises `Undecided` if there are no such
    conjuncts, and `Outside`.
    """
    needs, assumed = Needs(deployment), tuple(assumed)
    bounds = _bounds(assumed)
    sorts = [sort.name for sort in deployment.schema.sorts if needs.is_open(sort.name)]
    parts = tuple(map(Counter, combinations_with_replacement(sorts, k)))
    asked = [(parts, None), *(((needs.refuted(one.sentence),), one.relations) for one in assumed)]

    def largest(tool: Tool, effect: Effect) -> int:
        found = (n for own, relations in asked for n in values(needs, tool, effect, own, relations))
        return max((within_bounds(number, bounds).total() for number in found), default=0)

    def numbers(tool: Tool) -> list[int]:
        return sorted((largest(tool, effect) for effect in tool.effects), reverse=True)

    for tool in deployment.tools_and_events:
        if (own := fitting(tool, numbers, most, left_out)) is None:
            number = numbers(weaker(tool, left_out))[0]
            refuse_many(number, f"a step of {tool.name}", fewer(needs, tool), most)
        else:
            left_out = own
    return left_out


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a view: an instance ``after``, of which the view is a part.

    A step by ``call`` from ``before`` in γ(V) leads to ``after``. Without a call ``after`` is an initial
    instance.
    """

    after: Facts
    before: Facts | None = None
    call: Call | None = None


@dataclass(frozen=True)
class _Taken:
    """The steps of ``work`` that found new views; for the initial instances ``work`` is None.

    They start in γ of the views ``before``; with what they find the views are those ``after`` it.
    """

    work: _Work | None
    before: Mapping[Sizes, Bdd]
    after: Mapping[Sizes, Bdd]


@dataclass(frozen=True)
class Closure:
    """The least set V of ``views`` over at most k values that is invariant by the theorem of this module.

    ``broken`` is what is assumed and a step from γ(V) breaks, if it does: then V says nothing, and
    ``breaking`` is that step. ``rounds`` is how often all steps were taken, and ``gluing`` has V as diagrams.
    ``taken`` are the steps that found something, one after the other.
    """

    closing: Closing
    rounds: int
    taken: Sequence[_Taken]
    broken: str = ""
    breaking: Origin | None = None

    @property
    def k(self) -> int:
        """Return the number of values that a view has at most."""
        return self.closing.k

    @property
    def gluing(self) -> Gluing:
        """Return V as diagrams, which gives γ(V)."""
        return self.closing.gluing

    @cached_property
    def views(self) -> frozenset[Facts]:
        """Return V, as forms."""
        return self.gluing.forms()

    def age(self, view: Facts) -> int:
        """Return the index of the steps that found the view, which is a form."""
        size, bits = self.gluing.coded(view)
        found = self.closing.diagrams.manager.satisfies
        return next(n for n, one in enumerate(self.taken) if found(one.after[size], bits))

    def origin(self, view: Facts) -> Origin:
        """Return the origin of the view, which is a form."""
        return self.closing.origin(view, self.taken[self.age(view)])


@dataclass(frozen=True)
class _Asked:
    """A condition of initial instances, for given active values of some variables.

    At most ``needed`` further values keep it true.
    """

    formula: fo.Expanded
    needed: Number
    binders: tuple[fo.Binder, ...] = ()
    sigma: Mapping[str, Value] = field(default_factory=dict)


class Closing:
    """The search for the views of one deployment, for every selection of calls that it allows.

    The conjuncts ``left_out`` are removed from conditions (`views.weakening`). The search ends at the time
    ``until`` of the monotonic clock. ``records`` is D0 if it has many records (`views.records`). Steps are
    looked at as ``far`` as it says.
    """

    def __init__(
        self,
        deployment: Deployment,
        k: int,
        assumed: Iterable[Assumed],
        *,
        until: float = math.inf,
        progress: Progress | None = None,
        records: Records | None = None,
        left_out: tuple[LeftOut, ...] = (),
        far: HowFar = AT_FIRST,
    ) -> None:
        deployment = without(deployment, left_out)
        self.deployment, self.k, self._records, self.left_out = deployment, k, records, left_out
        for relation in sorted(written_integers(deployment)):
            raise Outside(
                f"an effect writes a sum into {relation}, and parts of a database do not show what that is",
                deployment.schema.relation(relation).span,
            )
        self.needs, self.parts = Needs(deployment), Parts(deployment, far.values)
        self.assumed = tuple(assumed)
        self._bounds = _bounds(self.assumed)
        of_records = () if records is None else records.relations
        self.diagrams = Diagrams(deployment, self.parts, until, far, of_records)
        self._pulse = Pulse(progress, {"nodes": lambda: self.diagrams.manager.nodes})
        self.images = Images(self.diagrams, records is not None)
        self.gluing = Gluing(self.diagrams, k, [core(one.sentence) for one in self.assumed])
        self.work = tuple(self._work(map(self.gluing.number, self.gluing.views)))
        self._breaking = [
            (one, tuple(self._work([self.needs.refuted(one.sentence)], one.relations)))
            for one in self.assumed
        ]

    def _work(self, parts: Iterable[Number], relations: Collection[str] | None = None) -> Iterator[_Work]:
        """Yield the alternatives that change such parts, each with the numbers of names to look at."""
        numbers = tuple(parts)
        for tool in self.deployment.tools_and_events:
            for effect in tool.effects:
                found = values(self.needs, tool, effect, numbers, relations)
                sizes = {self.gluing.sizes(within_bounds(number, self._bounds)) for number in found}
                yield from ((tool, effect, one) for one in sorted(sizes) if not _is_within(one, sizes))

    @property
    def within(self) -> dict[str, int]:
        """Return for each tool the largest number of names over which its steps are looked at."""
        every = [*self.work, *(work for _, own in self._breaking for work in own)]
        return {
            tool.name: max((sum(sizes) for other, _, sizes in every if other is tool), default=0)
            for tool in self.deployment.tools_and_events
        }

    def closed(self) -> Closure:
        """Return the least V.

        Raises `Undecided` if that takes too many names or nodes, or too much time.
        """
        for name, number in self.within.items():
            instead = fewer(self.needs, self.deployment.tool(name))
            refuse_many(number, f"a step of {name}", instead, self.parts.most)
            if number > MOST_RECORDS:
                self.diagrams.doing = f"a step of {name}, over databases of {number} records,"
                self.diagrams.instead = instead
        taken: list[_Taken] = []
        broken, breaking = self._initial()
        taken.append(_Taken(None, {}, dict(self.gluing.views)))
        if broken:
            return Closure(self, 0, taken, broken, breaking)
        for rounds in count(1):
            found = len(taken)
            for work in self.work:
                self._pulse(f"{self.k}-views", round=rounds)
                before = dict(self.gluing.views)
                self._step(*work)
                if before != self.gluing.views:
                    taken.append(_Taken(work, before, dict(self.gluing.views)))
            if found == len(taken):
                break
        for one, works in self._breaking:
            for tool, effect, sizes in works:
                for step in self.images.steps(tool, effect, sizes, self.gluing.over(sizes)):
                    case = self.images.breaking(step, one.sentence)
                    if case != self.diagrams.manager.false:
                        return Closure(self, rounds, taken, one.name, self._origin(step, case))
        return Closure(self, rounds, taken)

    def _step(self, tool: Tool, effect: Effect, sizes: Sizes) -> None:
        """Add the parts of all instances that the alternative leads to."""
        for step in self.images.steps(tool, effect, sizes, self.gluing.over(sizes)):
            for size in self.gluing.views:
                for found in self.images.parts(step, size):
                    self.gluing.add(size, found)
        self.gluing.close()

    def origin(self, view: Facts, taken: _Taken) -> Origin:
        """Return the origin of a view, given the steps by which it was found."""
        if taken.work is None and self._records is not None:
            return Origin(view)
        if taken.work is None:
            size, bits = self.gluing.coded(view)
            wide, found = self._starting(size, self.gluing.number(size))
            return Origin(self.diagrams.fewest(found & self.diagrams.manager.cube(bits), wide))
        tool, effect, sizes = taken.work
        start = Gluing(self.diagrams, self.k, self.gluing.assumed, taken.before).over(sizes)
        for step in self.images.steps(tool, effect, sizes, start):
            for case in self.images.leading(step, view):
                return self._origin(step, case)
        raise AssertionError(f"no step leads to {sorted(view)}")

    def _origin(self, step: Step, case: Bdd) -> Origin:
        """Return the origin for one instance of ``case`` and this step."""
        before = self.diagrams.fewest(case, step.sizes)
        return Origin(self.images.after(step, before), before, step.call)

    def against(self, sentences: Iterable[fo.Expanded]) -> Iterator[Instance]:
        """Yield for each sentence that is false in some instance of γ(V) one with the fewest facts.

        Raises `Outside` and `Undecided`.
        """
        for sentence in sentences:
            number = within_bounds(self.needs.refuted(sentence), self._bounds)
            sizes = self.gluing.sizes(number)
            refuted = self.diagrams.refuting(self.gluing.over(sizes), sentence, sizes)
            if refuted != self.diagrams.manager.false:
                facts = self.parts.form(self.diagrams.fewest(refuted, sizes))
                yield Instance(self.deployment.schema, facts)

    def shows(self, sentences: Iterable[fo.Expanded]) -> bool:
        """Return whether the sentences are true in all of γ(V); raises `Outside` and `Undecided`."""
        return next(self.against(sentences), None) is None

    @property
    def invariants(self) -> tuple[str, ...]:
        """Return the names of the invariants of the file that are assumed."""
        return tuple(dict.fromkeys(one.name for one in self.assumed if one.starting))

    def initial(self) -> Iterator[Instance]:
        """Yield initial instances, or parts of some, over k values and what keeps their condition true."""
        for sizes in self.gluing.views:
            if self._records is not None:
                wide, found = sizes, self._records.views(self.diagrams, self.k)[sizes]
            else:
                wide, found = self._starting(sizes, self.gluing.number(sizes))
            for facts in self.diagrams.models(found, wide):
                yield Instance(self.deployment.schema, facts)

    def _initial(self) -> tuple[str, Origin | None]:
        """Add the parts of the initial instances of every size; return an assumption that is false in one.

        The result is its name with the origin of that instance, or an empty name and None.
        """
        if self._records is not None:
            views = self._records.views(self.diagrams, self.k)
            self.gluing.views.update(views)
            known = [core(one.sentence) for one in self.assumed if not one.starting]
            start = Gluing(self.diagrams, self.k, known, views)
            return self._false_initially(lambda sizes, _: (sizes, start.over(sizes)))
        for sizes in self.gluing.views:
            wide, found = self._starting(sizes, self.gluing.number(sizes))
            beyond = self.diagrams.facts(wide) - self.diagrams.facts(sizes)
            self.gluing.add(sizes, self.diagrams.manager.exist(self.diagrams.bits(beyond), found))
        self.gluing.close()
        return self._false_initially(self._starting)

    def _false_initially(
        self, starting: Callable[[Sizes, Number], tuple[Sizes, Bdd]]
    ) -> tuple[str, Origin | None]:
        for one in self.assumed:
            if one.starting:
                number = self.needs.refuted(one.sentence)
                wide, found = starting(self.gluing.sizes(number), number)
                found = self.diagrams.refuting(found, one.sentence, wide)
                if found != self.diagrams.manager.false:
                    return one.name, Origin(self.diagrams.fewest(found, wide))
        return "", None

    def _starting(self, sizes: Sizes, number: Number) -> tuple[Sizes, Bdd]:
        """Return instances that include all parts of initial instances over ``sizes`` names.

        They have further names, for the values that keep the condition of initial instances true. The size of
        all names comes with them.

        A conjunct that no number of values keeps true, as ∀x. g(x) with an ∃ in g, is kept true for the x of
        the part, by what keeps g(x) true for each of them, or left out.
        """
        init, lines = self.deployment.init.facts, self.deployment.initially
        names = self.diagrams.values(sizes)
        asked = [_Asked(one.sentence, Counter()) for one in self.assumed if not one.starting]
        for part in self._conditions():
            kept = tuple(self._kept_true(part, names))
            wider = sum((one.needed for one in kept), number)
            if wider.total() <= MOST_RECORDS:
                number, asked = wider, [*asked, *kept]
        wide = self.gluing.sizes(number)
        refuse_many(sum(wide))
        ground, m = self.diagrams.grounded(wide), self.diagrams.manager
        any_of = () if lines is None else lines.relations
        facts = self.diagrams.facts(wide)
        found = m.cube(
            {self.diagrams.bit(f): f in init for f in facts if f in init or f.relation not in any_of}
        )
        for one in asked if lines is not None else ():
            some = [~active for b in one.binders for u, active in ground.ranging(b) if u == one.sigma[b.name]]
            for condition in ground.conjuncts(core(one.formula), one.sigma):
                found = self.diagrams.limited(found & m.disj((*some, condition)))
        if found == m.false:
            raise no_initial_state(self.deployment)
        return wide, found

    def _conditions(self) -> Iterator[fo.Expanded]:
        """Yield the conditions that every initial instance satisfies; none without an ``initially`` line."""
        if self.deployment.initially is not None:
            yield from fo.conjuncts(self.deployment.initially.where)
            for reference in self.deployment.schema.references:
                claim = claim_named(self.deployment, reference.name)
                assert claim is not None
                yield claim.invariant

    def _kept_true(self, part: fo.Expanded, names: Mapping[str, Sequence[Value]]) -> Iterator[_Asked]:
        """Yield the instances of a conjunct that can be kept true, or the conjunct itself."""
        binders: list[fo.Binder] = []
        while True:
            with suppress(Outside):
                needed = self.needs.kept(part)
                break
            if not isinstance(part, fo.Forall):
                return
            binders.append(part.binder)
            part = part.body
        for chosen in product(*(names[binder.sort] for binder in binders)):
            sigma = dict(zip((binder.name for binder in binders), chosen, strict=True))
            yield _Asked(part, needed, tuple(binders), sigma)


def _is_within(sizes: Sizes, others: Iterable[Sizes]) -> bool:
    """Return whether another size has no fewer names of any sort."""
    return any(sizes != other and all(a <= b for a, b in zip(sizes, other, strict=True)) for other in others)
