"""The abstraction of a deployment for one question: the facts that are followed, and the runs over them.

Each fact has two bits, for now and for after a step. A name has one bit: if it stands for a value of C.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations

import stead_sym.logic.syntax as fo
from stead_sym.analyses.local.impossible import Lemmas
from stead_sym.analyses.local.lasting import Lasting
from stead_sym.analyses.local.moves import Action, Move
from stead_sym.analyses.local.normal import Normal
from stead_sym.analyses.local.questions import asks_for_runs
from stead_sym.analyses.local.reading import Reading
from stead_sym.analyses.local.runs import Runs
from stead_sym.analyses.local.start import Start, begins_with_at_most_one, names_in
from stead_sym.analyses.local.steps import Steps
from stead_sym.analyses.local.values import sort_of
from stead_sym.analyses.local.writes import Outcomes
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Tool
from stead_sym.engines.symbolic.bdd.manager import Backend, Bdd, Manager
from stead_sym.logic.kernel import Core
from stead_sym.logic.names import constants
from stead_sym.relational.schema import Value

MOST_FACTS = 64
"""The maximum number of facts that are followed for a specification."""


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
    acting: tuple[fo.Formula, ...] = ()
    unlisted: frozenset[str] = frozenset()
    turns: tuple[tuple[Tool, ...], ...] = ()
    most: int = MOST_FACTS
    lemmas: Lemmas = field(default_factory=Lemmas)
    asking: bool = True


@dataclass(frozen=True, slots=True)
class Abstraction:
    """An abstraction over the facts that are followed, with what it tells of runs.

    It has the ``initial`` abstract states, and those ``reached``. The question, ``whole``, may be about
    ``endless`` runs.
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
        if isinstance(self.whole, fo.Not):
            yield from self.runs.ways(self.whole.body, self.initial, self.reached)

    def breaking(self) -> Iterator[tuple[Move, Bdd]]:
        """Yield the moves of these."""
        for stage in self.stages():
            yield from ((self.steps.move_of(action), states) for action, states in stage)


class Facts:
    """The facts that are followed for a question with some ``names``, none at first."""

    def __init__(self, scope: Scope, names: Iterable[Value], backend: Backend | None) -> None:
        self._scope = scope
        self._manager = Manager(backend)
        self._manager.sift()  # facts join in an order that says little about what belongs together
        names = tuple(names)
        self.values = {
            sort: (*values, *(one for one in names if sort_of(one) == sort))
            for sort, values in scope.mentioned.items()
        }
        """The constants and names of each sort."""
        self.bits: dict[Core, tuple[Bdd, Bdd]] = {}
        """The bits of each fact, now and then."""
        self._open: list[str] = []
        self._outcomes: Outcomes = {}
        self.inside = {one: self._bit(f"inside {k}")[0] for k, one in enumerate(names)}
        """The bit of each name."""

    def _bit(self, label: str) -> tuple[Bdd, Bdd]:
        self._manager.declare_bottom((label, f"{label}'"))
        return self._manager.var(label), self._manager.var(f"{label}'")

    def __len__(self) -> int:
        """Return the number of facts."""
        return len(self.bits)

    def new(self, facts: Iterable[Core]) -> frozenset[Core]:
        """Return those of the facts that are not followed and may change."""
        return frozenset(
            one for one in facts if one not in self.bits and self._scope.start.fixed(one) is None
        )

    def follow(self, facts: Iterable[Core]) -> None:
        """Follow further facts, too: about no other values than these, which alone are told apart.

        Beside them a fact may mention integers outside of all sorts, with which no call is made.
        """
        told = set().union(*self.values.values())
        for fact in sorted(facts, key=str):
            untold = constants(fact) - told
            assert untold.isdisjoint(self._scope.deployment.all_constants), (
                f"{fact} is about values of which no move is known"
            )
            self.bits[fact] = self._bit(f"fact {len(self)}")

    @property
    def now(self) -> dict[Core, Bdd]:
        """Return the bit of each fact for now."""
        return {fact: now for fact, (now, _) in self.bits.items()}

    def abstraction(self, whole: Core) -> Abstraction:
        """Return what the facts that there are tell of a question."""
        m, scope, deployment = self._manager, self._scope, self._scope.deployment
        bits = self.now
        reading = Reading(
            m, deployment.schema, self.values, scope.named, bits, scope.key, scope.rest, scope.start
        )
        inside = self.inside
        known = bits | {part: m.conj(bits[atom] for atom in part.parts) for part in _joined(whole, bits)}
        initial = self._scope.start.states(m, known, inside) & self._agreeing(reading, self._first_key)
        possible = self._agreeing(reading, scope.key)
        steps = Steps(
            deployment,
            scope.normal,
            reading,
            self.bits,
            lambda one: ~inside[one],
            self._open_part,
            scope.turns,
            scope.lemmas.known,
            self._outcomes,
        )
        sure = steps.sure(scope.exact) if asks_for_runs(whole) and not deployment.fair else ()
        endless = not deployment.fair and any(isinstance(f, fo.Globally) for f in fo.subformulas(whole))
        lasting = Lasting(reading, steps, steps.certain(scope.exact, scope.acting), scope.unlisted)
        runs = Runs(m, steps.actions(), possible, reading, steps.fair() if endless else (), sure, lasting)
        return Abstraction(whole, reading, steps, lasting, runs, initial, runs.reached(initial), endless)

    def _open_part(self, number: int) -> str:
        """Return the name of the n-th variable for conditions that are left open; steps share them."""
        if number == len(self._open):
            self._open.append(f"open {number}")
            self._manager.declare_bottom(self._open[-1:])
        return self._open[number]

    def _first_key(self, relation: str) -> tuple[int, ...] | None:
        """Return the columns of a relation that determine the others in every initial state."""
        scope = self._scope
        if begins_with_at_most_one(scope.deployment, relation, scope.start.state):
            return ()
        return scope.deployment.schema.relation(relation).keys or None if scope.starts_with_keys else None

    def _agreeing(self, reading: Reading, keys: Callable[[str], tuple[int, ...] | None]) -> Bdd:
        """Return the abstract states in which quantified sentences agree with the facts, and keys hold."""
        m = self._manager
        parts = []
        for fact, (now, _) in self.bits.items():
            if not isinstance(fact, fo.Atom):
                known = reading.by_operator(fact)
                parts.append((~known.must | now) & (~now | known.may))
        for (one, (left, _)), (other, (right, _)) in combinations(self.bits.items(), 2):
            if isinstance(one, fo.Atom) and isinstance(other, fo.Atom) and _share_key(one, other, keys):
                parts.append(~left | ~right)
        return m.conj(parts)


def _joined(question: Core, followed: Mapping[Core, Bdd]) -> Iterator[fo.And]:
    """Yield conjunctions of followed atoms of a question that share names.

    No fact may speak of all their names. In D0 the names have values together, not in pairs.
    """
    for part in fo.subformulas(question):
        left = [atom for atom in fo.conjuncts(part) if isinstance(atom, fo.Atom) and atom in followed]
        while left and isinstance(part, fo.And):
            together = [left.pop(0)]
            for one in together:
                near = [atom for atom in left if not set(names_in(one)).isdisjoint(names_in(atom))]
                together += near
                left = [atom for atom in left if atom not in near]
            if len(together) > 1:
                yield fo.And(tuple(together))


def _share_key(one: fo.Atom, other: fo.Atom, keys: Callable[[str], tuple[int, ...] | None]) -> bool:
    key = keys(one.relation) if one.relation == other.relation else None
    return one != other and key is not None and all(one.args[k] == other.args[k] for k in key)
