"""Questions asked of an abstraction that follows more and more facts, until it shows them or cannot.

The facts are first those that a question reads. Those join that decide if runs to its violation are possible;
where none is left, those of names that a followed sentence with a quantifier depends on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, assert_never

import stead_sym.logic.syntax as fo
from stead_sym.analyses.local.abstraction import Abstraction, Facts, Scope
from stead_sym.analyses.local.concrete import FollowedRun, Following
from stead_sym.analyses.local.facts import facts_in, projections, with_value
from stead_sym.analyses.local.few_records import BRIEF, FIRST, LAST, Effort, FewRecords
from stead_sym.analyses.local.field import Field
from stead_sym.analyses.local.impossible import Asking
from stead_sym.analyses.local.moves import Action, Move
from stead_sym.analyses.local.questions import asks_for_runs, decided, never
from stead_sym.analyses.local.reading import Reading
from stead_sym.analyses.local.runs import Runs
from stead_sym.analyses.local.start import names_in
from stead_sym.analyses.local.steps import Steps
from stead_sym.analyses.local.values import numbered
from stead_sym.analyses.local.witnesses import Witness, of_determined, of_existing, of_staying, of_steps
from stead_sym.deployment.trace import Trace
from stead_sym.engines.symbolic.bdd.manager import Backend, Bdd
from stead_sym.errors import Undecided
from stead_sym.logic.kernel import Core, core
from stead_sym.support.printable import plural

MOST_FOR_KEYS = 24
"""The maximum number of facts that are followed for a key, or a lemma, that may be of use."""

MOST_ALONE = 32
"""The maximum number of facts that others join for which the only reason is that there may be a tuple."""

MORE = 1.5
"""The ratio of the numbers of facts at which a run is searched, and searched again."""

FEW_LOOPS = 2
"""The number of states from which an endless run is searched before facts join."""

MOST_TRIED, MOST_TRIED_LAST = 100, 1_500
"""The maximum numbers of states to follow an abstract run: while facts can join, and at last."""


@dataclass(frozen=True, slots=True)
class Refuted:
    """A ``run`` of the deployment by which a specification fails, or its dual holds.

    The abstraction that guided it follows ``facts`` many facts. By it, more is ``known`` of all runs from the
    last state (`evidence.prefix.refutation`).
    """

    facts: int
    run: Trace
    known: frozenset[fo.Formula] = frozenset()


@dataclass(frozen=True, slots=True)
class Refuting:
    """Runs by which a ``sentence`` is false, or ``holds``, are followed in the deployment of a ``field``."""

    field: Field
    sentence: fo.Expanded
    holds: bool
    few: FewRecords


_Sets: TypeAlias = Iterator[frozenset[Core]]
_Attempt: TypeAlias = int | Refuted | frozenset[Core] | str | None


@dataclass(slots=True)
class _Ways:
    """The ways to answer a question beside more facts; with how many a run was ``searched`` last."""

    brief: Callable[[Iterable[Witness]], Iterator[int]]
    early: Iterator[int]
    late: Iterator[int] | None
    refuting: Refuting | None
    lemmas: Asking
    search: Following | None = None
    searched: int = 0
    efforts: list[Effort] = field(default_factory=lambda: [FIRST, BRIEF])
    is_begun: bool = False


class Question:
    """One question, asked with more and more facts."""

    def __init__(self, question: fo.Formula, scope: Scope, backend: Backend | None) -> None:
        self._question, self._scope, self._backend = question, scope, backend
        self._facts = Facts(scope, names_in(question), backend)
        self._found: Abstraction | None = None

    def answer(
        self,
        refuting: Refuting | None,
        brief: Callable[[Iterable[Witness]], Iterator[int]] = lambda _: iter(()),
        early: Iterable[int] = (),
        late: Iterator[int] | None = None,
    ) -> int | Refuted | str:
        """Return on how many facts the question is shown, a run that breaks it, or why there is neither.

        ``brief``, ``early`` and ``late`` yield on how many it is shown in other ways. They are asked once:
        before a run is searched, by what the first facts leave open; after that; and before facts join that
        say little about what a run may go on with.
        """
        whole = self._scope.normal(decided(core(self._question), self._scope.deployment.schema))
        if whole == fo.TRUE:
            return 0
        more = self._facts.new(facts_in(whole))
        names, values = frozenset(self._facts.inside), self._facts.values
        lemmas = Asking(self._scope.lemmas, more, names, values, self._is_never)
        ways = _Ways(brief, iter(early), late, refuting, lemmas)
        why = f"more than {self._scope.most} facts may matter"
        found = None
        while len(self._facts) + len(more) <= self._scope.most:
            self._facts.follow(more)
            found = self._found = self._facts.abstraction(whole)
            if found.shows_it():
                return len(self._facts)
            match next((one for one in self._attempts(found, ways) if one is not None), ""):
                case frozenset() as more:
                    pass
                case str():
                    why = f"something could break it that {plural(len(self._facts), 'fact')} did not decide"
                    break
                case int() | Refuted() as answer:
                    return answer
                case other:
                    assert_never(other)
        return self._at_last(found, ways, why)

    def _attempts(self, found: Abstraction, ways: _Ways) -> Iterator[_Attempt]:
        """Yield what each way to go on comes to, in the order of what it costs where it fails.

        An answer; facts to join, none if there is a new lemma; an empty text if others are not worth while;
        None if the way fails.
        """
        stays = bool(found.runs.left)
        if stays and not ways.is_begun:
            yield next(ways.brief(self.witnesses()), None)
        ways.is_begun = True
        if ways.refuting is not None:
            ways.search = self._search(ways.refuting, found.runs)
            if len(self._facts) >= MORE * ways.searched:
                ways.searched = len(self._facts)
                yield self._refuted(ways.search.run(MOST_TRIED, loops=FEW_LOOPS))
            facts = math.inf if found.endless and len(ways.efforts) > 1 else len(self._facts)
            if ways.efforts and facts >= ways.efforts[0].facts:
                yield self._on_few_records(found, ways, ways.efforts.pop(0))
        yield next(ways.early, None) if stays else None
        yield self._with_lemmas(ways.lemmas, found.steps, found.staying())
        yield self._first_new(self._going_on(found))
        # what it costs is not spent before a run is searched that breaks the question
        exists = ways.refuting is None and asks_for_runs(core(self._question))
        if (stays or (exists and len(self._facts) > MOST_FOR_KEYS)) and ways.late is not None:
            yield next(ways.late, None)
        elif stays and len(self._facts) > MOST_FOR_KEYS:
            yield ""
        yield self._first_new(self._on_the_way(found))
        yield self._with_lemmas(ways.lemmas, found.steps, found.breaking())
        yield self._first_new(self._others(found))

    def _at_last(self, found: Abstraction | None, ways: _Ways, why: str) -> int | Refuted | str:
        """Return an answer where no further facts are followed, or ``why`` there is none."""
        shown = None if ways.late is None else next(ways.late, None)
        if shown is not None:
            return shown
        run = None if found is None else self._on_few_records(found, ways, LAST)
        if run is None and ways.search is not None:
            run = self._refuted(ways.search.run(MOST_TRIED_LAST))
        if run is not None:
            return run
        if asks_for_runs(core(self._question)):
            why = "it asks for a run from each of many states, as EF does, which few facts do not show"
        if ways.search is None or ways.refuting is None:
            return why
        return f"{why}, and {_not_found(ways.search, ways.refuting)}"

    def _refuted(self, found: FollowedRun | None) -> Refuted | None:
        return None if found is None else Refuted(found.facts or len(self._facts), found.run, found.known)

    def _with_lemmas(
        self, lemmas: Asking, steps: Steps, made: Iterable[tuple[Move, Bdd]]
    ) -> frozenset[Core] | None:
        """Return no facts if a move is now shown to be impossible, else None."""
        return frozenset() if self._scope.asking and lemmas.finds(steps, made) else None

    def _on_few_records(self, found: Abstraction, ways: _Ways, effort: Effort) -> Refuted | None:
        """Return a run found on few records, of those for which the facts leave the question open."""
        if ways.refuting is None or ways.search is None:
            return None
        is_open = found.initial & ~found.runs.known(found.whole, found.reached).must
        choices = ways.search.choices(is_open)
        infinite = self._scope.deployment.schema.infinite_sorts
        mentioned = {sort: self._scope.mentioned[sort] for sort in infinite}
        one = ways.refuting
        run = one.few.run(one.sentence, one.holds, mentioned, choices, one.field, effort)
        return self._refuted(run)

    def _search(self, refuting: Refuting, runs: Runs) -> Following:
        now, inside = self._facts.now, self._facts.inside
        sentence, broken = refuting.sentence, core(fo.Not(self._question))
        return Following(refuting.field, runs, now, inside, sentence, broken, holds=refuting.holds)

    def _first_new(self, sets: Iterable[frozenset[Core]]) -> frozenset[Core] | None:
        """Return the new facts of the first set that has some, the plain ones if there are any."""
        new = next(filter(None, map(self._facts.new, sets)), None)
        return new and (frozenset(filter(_is_plain, new)) or new)

    def _going_on(self, found: Abstraction) -> _Sets:
        """Yield the facts that decide what a run that stays may go on with."""
        for left in found.runs.left:
            read = self._fewest_first(map(found.lasting.reads, left.moves))
            yield from read
            yield from self._fewest_first(self._instances(facts, found.reading) for facts in read)
            yield from self._fewest_first(found.lasting.may_go_on(left.ends))

    def _on_the_way(self, found: Abstraction) -> _Sets:
        """Yield the facts that decide if a run may be missing, or come to break the question."""
        yield _union(one.reads for one in found.runs.helpful(found.whole, found.reached))
        for stage in found.stages():
            actions = [action for action, _ in stage]
            read = _union(one.reads | one.beyond for one in actions)
            yield frozenset(filter(self._scope.start.keeps, read))  # no further step comes with these
            yield from self._with_instances(actions, found.reading)

    def _others(self, found: Abstraction) -> _Sets:
        """Yield other facts that may matter."""
        yield from self._with_instances(found.runs.actions, found.reading)
        if found.endless:
            yield found.steps.fair_reads()
        yield self._instances(self._facts.bits, found.reading)
        if len(self._facts) <= MOST_ALONE:
            schema = self._scope.deployment.schema
            yield _union(projections(fact, schema) for fact in self._facts.bits)
            yield _union(one.beyond for one in found.runs.actions)

    def _fewest_first(self, sets: Iterable[frozenset[Core]]) -> Iterable[frozenset[Core]]:
        """Return the sets in the order of how many of their facts are new, and about no name."""

        def cost(facts: frozenset[Core]) -> tuple[int, int, Sequence[str]]:
            new = self._facts.new(facts)
            return sum(not names_in(fact) for fact in new), len(new), sorted(map(str, new))

        return sorted(sets, key=cost)

    def _is_never(self, condition: fo.Formula, binders: Sequence[fo.Binder]) -> bool:
        """Return if it is shown that a condition is true of no values in any reachable state."""
        used = {sort: numbered(self._facts.inside, sort) for sort in self._scope.named}
        scope = replace(self._scope, most=MOST_FOR_KEYS, turns=(), asking=False)
        asked = never(condition, binders, self._scope.mentioned, used)
        try:
            return all(isinstance(Question(one, scope, self._backend).answer(None), int) for one in asked)
        except Undecided:
            return False

    def witnesses(self) -> Iterator[Witness]:
        """Yield conditions on further values, by what the facts that are followed leave open."""
        deployment, found = self._scope.deployment, self._found
        if found is None:
            return
        for left in found.runs.left:
            yield from of_determined(left.moves, deployment.schema)
        for left in found.runs.left:
            yield from of_staying(left.moves, deployment)
        if asks_for_runs(core(self._question)):
            is_open = found.reached & ~found.runs.known(found.whole, found.reached).must
            for at in (is_open, found.reached):
                for one in found.runs.helpful(found.whole, found.reached, at):
                    made = [move for move in one.changing if found.runs.is_made(move, at)]
                    yield from of_existing(made, deployment)
            yield from of_steps(self._question, self._facts.bits, deployment)

    def _with_instances(self, actions: Iterable[Action], reading: Reading) -> Iterator[frozenset[Core]]:
        """Yield the facts that actions read, then the instances of those that are followed sentences."""
        reads = _union(one.reads for one in actions)
        yield reads
        yield self._instances(reads, reading)

    def _instances(self, facts: Iterable[Core], reading: Reading) -> frozenset[Core]:
        """Return the facts that the sentences ∃x. f among some facts depend on, for names and constants.

        Those of f at values for which the facts that are followed leave open if f is true.
        """
        found: set[Core] = set()
        for fact in facts:
            if isinstance(fact, fo.Exists):
                for value in self._facts.values[fact.binder.sort]:
                    body = with_value(fact.body, fact.binder.name, value)
                    known = reading(body)
                    if known.must != known.may:
                        found.update(facts_in(body))
        return frozenset(found)


def _union(sets: Iterable[frozenset[Core]]) -> frozenset[Core]:
    return frozenset[Core]().union(*sets)


def _is_plain(fact: Core) -> bool:
    """Return if a fact is an atom, or that there is a tuple: it costs little to follow, and may do."""
    while isinstance(fact, fo.Exists):
        fact = fact.body
    return isinstance(fact, fo.Atom)


def _not_found(search: Following, refuting: Refuting) -> str:
    """Return that no run was found, and how much was searched."""
    looked = f"{plural(search.tried, 'state')} searched"
    if endless := len(refuting.field.endless):
        looked += f", for endless runs from {endless}"
    if parts := refuting.few.parts(refuting.sentence):
        looked += f", {plural(parts, 'part')} of the data explored"
    return f"no run that {'shows' if refuting.holds else 'breaks'} it was found ({looked})"
