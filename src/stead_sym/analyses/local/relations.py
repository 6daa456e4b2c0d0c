"""Images of sets of states: where some steps of an abstraction lead to, and come from.

The steps that may change the same facts are one part: a BDD over the facts now and those then. A fixpoint
goes through the parts one after the other, each from all that is new to it since its last turn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from stead_sym.analyses.local.moves import Action, Move
from stead_sym.engines.symbolic.bdd.manager import Bdd, Bits, Manager
from stead_sym.errors import Undecided

MOST_NODES = 50_000
"""The maximum number of nodes of the reached states of an abstraction."""

_Pairs: TypeAlias = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """A ``relation`` over all variables ``now`` and those ``then`` that it may change.

    ``same`` says that these are as now. A set is renamed by it: what the renaming of parts of the set comes
    to is remembered by the manager.
    """

    now: Bits
    then: Bits
    relation: Bdd
    same: Bdd


class Relations:
    """The union of the relations of some actions; where it is ``unchanged``, a state may follow itself."""

    def __init__(self, manager: Manager, actions: Iterable[Action], unchanged: Bdd) -> None:
        self._m, self._unchanged = manager, unchanged
        parts: dict[_Pairs, list[Bdd]] = defaultdict(list)
        for action in actions:
            parts[_names(action)].append(action.relation)
        self._parts = [
            _Part(
                frozenset(now for now, _ in pairs),
                frozenset(then for _, then in pairs),
                manager.disj(some),
                manager.conj(manager.var(now).equiv(manager.var(then)) for now, then in pairs),
            )
            for pairs, some in parts.items()
        ]

    @classmethod
    def of_moves(cls, manager: Manager, moves: Iterable[Move]) -> Relations:
        """Return the union of the relations of moves."""
        moves = tuple(moves)
        unchanged = manager.disj(move.without for move in moves if move.action is None)
        return cls(manager, (move.action for move in moves if move.action is not None), unchanged)

    def image(self, states: Bdd) -> Bdd:
        """Return the states to which an action leads from these."""
        return self._m.disj(self._after(part, states) for part in self._parts)

    def before(self, states: Bdd) -> Bdd:
        """Return the states from which a step leads into these."""
        return self._m.disj([states & self._unchanged, *self._each_before(states)])

    def reached(self, states: Bdd, possible: Bdd) -> Bdd:
        """Return the states that can be reached from these through the ``possible`` ones.

        Raise `Undecided` if that takes too many nodes.
        """
        return self._fixpoint(states, self._after, possible, MOST_NODES)

    def reaching(self, through: Bdd, target: Bdd) -> Bdd:
        """Return the states from which a run through some states leads to the target."""
        return self._fixpoint(target, self._before, through)

    def _fixpoint(
        self,
        states: Bdd,
        by: Callable[[_Part, Bdd], Bdd],
        within: Bdd,
        most_nodes: int | None = None,
    ) -> Bdd:
        """Return the least set X with states ∪ (by(part, X) ∩ within) ⊆ X for each part."""
        done = [self._m.false] * len(self._parts)
        while not all(states == some for some in done):
            for k, part in enumerate(self._parts):
                new, done[k] = states & ~done[k], states
                if new != self._m.false:
                    states = states | (by(part, new) & within)
            if most_nodes is not None and states.dag_size > most_nodes:
                raise Undecided(f"the states of the facts take more than {most_nodes:,} nodes")
        return states

    def _each_before(self, states: Bdd) -> Iterator[Bdd]:
        return (self._before(part, states) for part in self._parts)

    def _after(self, part: _Part, states: Bdd) -> Bdd:
        after = self._m.and_exist(part.now, part.relation, states)
        return self._m.and_exist(part.then, part.same, after)

    def _before(self, part: _Part, states: Bdd) -> Bdd:
        primed = self._m.and_exist(part.now, part.same, states)
        return self._m.and_exist(part.then, part.relation, primed)


def _names(action: Action) -> _Pairs:
    """Return the names of the variables that an action changes, now and then."""
    return tuple((next(iter(now.support)), next(iter(then.support))) for now, then in action.change)
