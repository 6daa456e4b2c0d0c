"""Questions asked of an abstraction that follows more and more facts, until it shows them or cannot.

The facts are first those that a question reads. Those join that decide if runs to its violation are possible;
where none is left, those of names that a followed sentence with a quantifier depends on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TypeAlias, assert_never

from stead_sym.analyses.local.concrete import MOST_LOOPS, Following
from stead_sym.analyses.local.facts import facts_in, projections, with_value
from stead_sym.analyses.local.field import Field
from stead_sym.analyses.local.impossible import Asking, Lemmas
from stead_sym.analyses.local.lasting import Lasting
from stead_sym.analyses.local.moves import Action, Move, conditions_of, individuals_of
from stead_sym.analyses.local.normal import Normal
from stead_sym.analyses.local.questions import asks_for_runs, decided, never
from stead_sym.analyses.local.reading import Reading
from stead_sym.analyses.local.runs import Left, Runs
from stead_sym.analyses.local.start import Start, names_in
from stead_sym.analyses.local.steps import Steps
from stead_sym.analyses.local.values import numbered, sort_of
from stead_sym.analyses.local.writes import relations_written
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Tool
from stead_sym.deployment.trace import Trace
from stead_sym.engines.symbolic.bdd.manager import Backend, Bdd, Manager
from stead_sym.errors import Undecided
from stead_sym.logic.kernel import Core, core
from stead_sym.logic.syntax import (
    TRUE,
    And,
    Atom,
    Binder,
    Exists,
    Expanded,
    Formula,
    Globally,
    Not,
    conjuncts,
    free_variables,
    subformulas,
)
from stead_sym.relational.schema import Value, tells_history
from stead_sym.support.printable import plural

MOST_FACTS, MOST_FOR_KEYS = 64, 24
"""The maximum numbers of facts that are followed: for a specification, and for a key that may be of use."""

MOST_ALONE = 32
"""The maximum number of facts that others join for which the only reason is that there may be a tuple."""

MORE = 1.5
"""The ratio of the numbers of facts at which a run is searched, and searched again."""

FEW_LOOPS = 1
"""The number of states from which an endless run is searched before other ways are tried."""

MOST_TRIED, MOST_TRIED_LAST = 100, 1_500
"""The maximum numbers of states to follow an abstract run: while facts can join, and at last."""


@dataclass(frozen=True, slots=True)
class Refuted:
    """A ``run`` of the deployment by which a specification fails, or its dual holds.

    The abstraction that guided it follows ``facts`` many facts.
    """

    facts: int
    run: Trace


@dataclass(frozen=True, slots=True)
class Refuting:
    """Runs by which a ``sentence`` is false, or ``holds``, are followed in the deployment of a ``field``."""

    field: Field
    sentence: Expanded
    holds: bool


@dataclass(frozen=True, slots=True)
class Scope:
    """The values and the deployment that the questions of a specification are about.

    The constants that are ``mentioned``, by sort, the sorts that are ``named``, and the ``start`` of runs.
    ``exact`` are the tools of which each enabled call may be made. ``key`` gives the columns of a relation
    that are shown to determine the others, None if none are; ``starts_with_keys`` if no initial state breaks
    a declared key. ``rest`` are the values of each finite sort beside the constants that are mentioned
    (`Reading`), ``turns`` the tools of agents with a fairness constraint (`Steps`). Where one of ``acting``
    is true some step is possible, and a fact may have other integers of sorts that are ``unlisted``. ``most``
    bounds the number of facts that are followed. ``lemmas`` are used, and if ``asking`` more are asked for.
    """

    deployment: Deployment
    normal: Normal
    exact: frozenset[str]
    key: Callable[[str], tuple[int, ...] | None]
    starts_with_keys: bool
    mentioned: Mapping[str, tuple[Value, ...]]
    named: frozenset[str]
    start: Start
    rest: Mapping[str, tuple[Value, ...]]
    acting: tuple[Formula, ...] = ()
    unlisted: frozenset[str] = frozenset()
    turns: tuple[tuple[Tool, ...], ...] = ()
    most: int = MOST_FACTS
    lemmas: Lemmas = field(default_factory=Lemmas)
    asking: bool = True


_Sets: TypeAlias = Iterator[frozenset[Core]]


@dataclass(frozen=True, slots=True)
class _Round:
    """The abstraction that follows certain facts, with its ``initial`` states and those ``reached``.

    The question, ``whole``, may be about ``endless`` runs.
    """

    whole: Core
    reading: Reading
    steps: Steps
    lasting: Lasting
    runs: Runs
    initial: Bdd
    reached: Bdd
    endless: bool

    def shows_it(self) -> bool:
        """Return if the question surely holds."""
        return self.initial <= self.runs.known(self.whole, self.reached).must

    def staying(self) -> Iterator[tuple[Move, Bdd]]:
        """Yield the moves by which a run may stay, with the states where it may."""
        for left in self.runs.left:
            yield from ((move, left.region) for move in left.moves)

    def stages(self) -> Iterator[Iterator[tuple[Action, Bdd]]]:
        """Yield the actions by which the question may come to be broken, with where they start."""
        if isinstance(self.whole, Not):
            yield from self.runs.ways(self.whole.body, self.initial, self.reached)

    def breaking(self) -> Iterator[tuple[Move, Bdd]]:
        """Yield the moves of these."""
        for stage in self.stages():
            yield from ((self.steps.move_of(action), states) for action, states in stage)


@dataclass(slots=True)
class _Ways:
    """The ways to answer a question beside more facts; with how many a run was ``searched`` last."""

    early: Iterator[int]
    late: Iterator[int] | None
    refuting: Refuting | None
    lemmas: Asking
    search: Following | None = None
    searched: int = 0


class Question:
    """One question, asked with more and more facts."""

    def __init__(self, question: Formula, scope: Scope, backend: Backend | None) -> None:
        self._question, self._scope, self._backend = question, scope, backend
        self._manager = Manager(backend)
        self._manager.sift()  # facts join in an order that says little about what belongs together
        self._names = names_in(question)
        self._values = {
            sort: (*values, *(one for one in self._names if sort_of(one) == sort))
            for sort, values in scope.mentioned.items()
        }
        self._bits: dict[Core, tuple[Bdd, Bdd]] = {}
        self._open: list[str] = []
        self._left: Sequence[Left] = ()
        self._inside = {one: self._bit(f"inside {k}") for k, one in enumerate(self._names)}

    def _bit(self, label: str) -> tuple[Bdd, Bdd]:
        self._manager.declare_bottom((label, f"{label}'"))
        return self._manager.var(label), self._manager.var(f"{label}'")

    def answer(
        self, refuting: Refuting | None, early: Iterable[int] = (), late: Iterator[int] | None = None
    ) -> int | Refuted | str:
        """Return on how many facts the question is shown, a run that breaks it, or why there is neither.

        ``early`` and ``late`` yield on how many it is shown in other ways. They are asked once: before a run
        is searched, and before facts join that say little about what a run may go on with.
        """
        whole = self._scope.normal(decided(core(self._question), self._scope.deployment.schema))
        if whole == TRUE:
            return 0
        more = frozenset(facts_in(whole))
        lemmas = Asking(self._scope.lemmas, more, frozenset(self._names), self._values, self._is_never)
        ways = _Ways(iter(early), late, refuting, lemmas)
        why = f"more than {self._scope.most} facts may matter"
        while len(self._bits) + len(more) <= self._scope.most:
            for fact in sorted(more, key=str):
                self._bits[fact] = self._bit(f"fact {len(self._bits)}")
            found = self._round(whole)
            if found.shows_it():
                return len(self._bits)
            self._left = found.runs.left
            match next((one for one in self._attempts(found, ways) if one is not None), ""):
                case frozenset() as more:
                    pass
                case str():
                    why = f"something could break it that {plural(len(self._bits), 'fact')} did not decide"
                    break
                case int() | Refuted() as answer:
                    return answer
                case other:
                    assert_never(other)
        return self._at_last(whole, ways, why)

    def _attempts(self, found: _Round, ways: _Ways) -> Iterator[int | Refuted | frozenset[Core] | str | None]:
        """Yield what each way to go on comes to, in the order of what it costs where it fails.

        An answer; facts to join, none if there is a new lemma; an empty text if others are not worth while;
        None if the way fails.
        """
        stays, search = bool(found.runs.left), None
        if ways.refuting is not None:
            ways.search = self._search(ways.refuting, found.runs)
            if len(self._bits) >= MORE * ways.searched:
                ways.searched, search = len(self._bits), ways.search
        if search is not None:
            yield self._refuted(search.run(MOST_TRIED, loops=FEW_LOOPS if stays else MOST_LOOPS))
        if stays:
            yield next(ways.early, None)
        if search is not None and stays:
            yield self._refuted(search.run(MOST_TRIED))
        yield self._with_lemmas(ways.lemmas, found.steps, found.staying())
        yield self._first_new(self._going_on(found))
        if stays and ways.late is not None:
            yield next(ways.late, None)
        elif stays and len(self._bits) > MOST_FOR_KEYS:
            yield ""
        yield self._first_new(self._on_the_way(found))
        yield self._with_lemmas(ways.lemmas, found.steps, found.breaking())
        yield self._first_new(self._others(found))

    def _at_last(self, whole: Core, ways: _Ways, why: str) -> int | Refuted | str:
        """Return an answer where no further facts are followed, or ``why`` there is none."""
        shown = None if ways.late is None else next(ways.late, None)
        if shown is not None:
            return shown
        run = None if ways.search is None else self._refuted(ways.search.run(MOST_TRIED_LAST))
        if run is not None:
            return run
        if asks_for_runs(whole):
            return "it asks for a run from each of many states, as EF does, which few facts do not show"
        if ways.search is None or ways.refuting is None:
            return why
        return f"{why}, and {_not_found(ways.search, ways.refuting)}"

    def _refuted(self, run: Trace | None) -> Refuted | None:
        return None if run is None else Refuted(len(self._bits), run)

    def _with_lemmas(
        self, lemmas: Asking, steps: Steps, made: Iterable[tuple[Move, Bdd]]
    ) -> frozenset[Core] | None:
        """Return no facts if a move is now shown to be impossible, else None."""
        return frozenset() if self._scope.asking and lemmas.finds(steps, made) else None

    def _search(self, refuting: Refuting, runs: Runs) -> Following:
        bits = {fact: now for fact, (now, _) in self._bits.items()}
        inside = {one: now for one, (now, _) in self._inside.items()}
        broken = core(Not(self._question))
        return Following(refuting.field, runs, bits, inside, refuting.sentence, broken, holds=refuting.holds)

    def _first_new(self, sets: Iterable[frozenset[Core]]) -> frozenset[Core] | None:
        """Return the new facts of the first set that has some, the plain ones if there are any."""
        new = next(filter(None, (some.difference(self._bits) for some in sets)), None)
        return new and (frozenset(filter(_is_plain, new)) or new)

    def _round(self, whole: Core) -> _Round:
        """Return the abstraction that follows the facts that there are."""
        m, scope, deployment = self._manager, self._scope, self._scope.deployment
        bits = {fact: now for fact, (now, _) in self._bits.items()}
        reading = Reading(m, deployment.schema, self._values, scope.named, bits, scope.key, scope.rest)
        inside = {one: now for one, (now, _) in self._inside.items()}
        known = bits | {part: m.conj(bits[atom] for atom in part.parts) for part in _joined(whole, bits)}
        initial = self._scope.start.states(m, known, inside) & self._agreeing(reading, self._first_key)
        possible = self._agreeing(reading, scope.key)
        steps = Steps(
            deployment,
            scope.normal,
            reading,
            self._bits,
            lambda one: ~inside[one],
            self._open_part,
            scope.turns,
            scope.lemmas.known,
        )
        sure = steps.sure(scope.exact) if asks_for_runs(whole) and not deployment.fair else ()
        endless = not deployment.fair and any(isinstance(f, Globally) for f in subformulas(whole))
        lasting = Lasting(reading, steps, steps.certain(scope.exact, scope.acting), scope.unlisted)
        runs = Runs(m, steps.actions(), possible, reading, steps.fair() if endless else (), sure, lasting)
        return _Round(whole, reading, steps, lasting, runs, initial, runs.reached(initial), endless)

    def _going_on(self, found: _Round) -> _Sets:
        """Yield the facts that decide what a run that stays may go on with."""
        for left in found.runs.left:
            read = self._fewest_first(map(found.lasting.reads, left.moves))
            yield from read
            yield from self._fewest_first(self._instances(facts, found.reading) for facts in read)
            yield from self._fewest_first(found.lasting.may_go_on(left.ends))

    def _on_the_way(self, found: _Round) -> _Sets:
        """Yield the facts that decide if a run may be missing, or come to break the question."""
        yield _union(one.reads for one in found.runs.helpful(found.whole, found.reached))
        for stage in found.stages():
            yield from self._with_instances((action for action, _ in stage), found.reading)

    def _others(self, found: _Round) -> _Sets:
        """Yield other facts that may matter."""
        yield from self._with_instances(found.runs.actions, found.reading)
        if found.endless:
            yield found.steps.fair_reads()
        yield self._instances(self._bits, found.reading)
        if len(self._bits) <= MOST_ALONE:
            schema = self._scope.deployment.schema
            yield _union(projections(fact, schema) for fact in self._bits)
            yield _union(one.beyond for one in found.runs.actions)

    def _fewest_first(self, sets: Iterable[frozenset[Core]]) -> Iterable[frozenset[Core]]:
        """Return the sets in the order of how many of their facts are new, and about no name."""

        def cost(facts: frozenset[Core]) -> tuple[int, int, Sequence[str]]:
            new = facts - self._bits.keys()
            return sum(not names_in(fact) for fact in new), len(new), sorted(map(str, new))

        return sorted(sets, key=cost)

    def _is_never(self, condition: Formula, binders: Sequence[Binder]) -> bool:
        """Return if it is shown that a condition is true of no values in any reachable state."""
        used = {sort: numbered(self._names, sort) for sort in self._scope.named}
        scope = replace(self._scope, most=MOST_FOR_KEYS, turns=(), asking=False)
        asked = never(condition, binders, self._scope.mentioned, used)
        try:
            return all(isinstance(Question(one, scope, self._backend).answer(None), int) for one in asked)
        except Undecided:
            return False

    def witnesses(self) -> Iterator[tuple[tuple[Binder, ...], Atom]]:
        """Yield atoms about what moves write by which a run may stay; none of these writes the relation.

        The relations are those that begin with at most one tuple: few values have to be asked about.
        """
        for left in self._left:
            written = {relation for move in left.moves for relation in relations_written(move.effect)}
            for move in left.moves:
                loose = {one: Binder(one, sort) for one, sort in individuals_of(move).items()}
                for atom in conditions_of(move, loose):
                    if isinstance(atom, Atom) and not (
                        tells_history(atom.relation) or atom.relation in written
                    ):
                        names = free_variables(atom)
                        binders = tuple(loose[one] for one in loose if one in names)
                        if binders and self._scope.start.has_at_most_one(atom.relation):
                            yield binders, atom

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
            if isinstance(fact, Exists):
                for value in self._values[fact.binder.sort]:
                    body = with_value(fact.body, fact.binder.name, value)
                    known = reading(body)
                    if known.must != known.may:
                        found.update(facts_in(body))
        return frozenset(found)

    def _open_part(self, number: int) -> str:
        """Return the name of the n-th variable for conditions that are left open; steps share them."""
        if number == len(self._open):
            self._open.append(f"open {number}")
            self._manager.declare_bottom(self._open[-1:])
        return self._open[number]

    def _first_key(self, relation: str) -> tuple[int, ...] | None:
        """Return the columns of a relation that determine the others in every initial state."""
        scope = self._scope
        if scope.start.has_at_most_one(relation):
            return ()
        return scope.deployment.schema.relation(relation).keys or None if scope.starts_with_keys else None

    def _agreeing(self, reading: Reading, keys: Callable[[str], tuple[int, ...] | None]) -> Bdd:
        """Return the abstract states in which quantified sentences agree with the facts, and keys hold."""
        m = self._manager
        parts = []
        for fact, (now, _) in self._bits.items():
            if not isinstance(fact, Atom):
                known = reading.by_operator(fact)
                parts.append((~known.must | now) & (~now | known.may))
        for (one, (left, _)), (other, (right, _)) in combinations(self._bits.items(), 2):
            if isinstance(one, Atom) and isinstance(other, Atom) and _share_key(one, other, keys):
                parts.append(~left | ~right)
        return m.conj(parts)


def _joined(question: Core, followed: Mapping[Core, Bdd]) -> Iterator[And]:
    """Yield conjunctions of followed atoms of a question that share names.

    No fact may speak of all their names. In D0 the names have values together, not in pairs.
    """
    for part in subformulas(question):
        left = [atom for atom in conjuncts(part) if isinstance(atom, Atom) and atom in followed]
        while left and isinstance(part, And):
            together = [left.pop(0)]
            for one in together:
                near = [atom for atom in left if not set(names_in(one)).isdisjoint(names_in(atom))]
                together += near
                left = [atom for atom in left if atom not in near]
            if len(together) > 1:
                yield And(tuple(together))


def _union(sets: Iterable[frozenset[Core]]) -> frozenset[Core]:
    return frozenset[Core]().union(*sets)


def _is_plain(fact: Core) -> bool:
    """Return if a fact is an atom, or that there is a tuple: it costs little to follow, and may do."""
    while isinstance(fact, Exists):
        fact = fact.body
    return isinstance(fact, Atom)


def _not_found(search: Following, refuting: Refuting) -> str:
    """Return that no run was found, and how much was searched."""
    looked = f"{plural(search.tried, 'state')} searched"
    if endless := len(refuting.field.endless):
        looked += f", for endless runs from {endless}"
    return f"no run that {'shows' if refuting.holds else 'breaks'} it was found ({looked})"


def _share_key(one: Atom, other: Atom, keys: Callable[[str], tuple[int, ...] | None]) -> bool:
    key = keys(one.relation) if one.relation == other.relation else None
    return one != other and key is not None and all(one.args[k] == other.args[k] for k in key)
