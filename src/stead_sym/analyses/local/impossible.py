"""Moves that are shown to be impossible in the states in which they would break a question.

A step may be made by a record that the question does not name: whoever is told something has called, and only
one calls at a time. Few facts about the names of the question do not say so. So it is asked, with names for
the values of the move, if its conditions are ever true where those facts of the question are that are the
same in all of the states. What is shown holds in every reachable state: there the move is no step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import stead_sym.logic.syntax as fo
from stead_sym.analyses.local.facts import mentions_individuals
from stead_sym.analyses.local.moves import Context, Impossible, Move, conditions_of, individuals_of
from stead_sym.analyses.local.steps import Steps
from stead_sym.analyses.local.values import kind
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.logic.kernel import Core, core
from stead_sym.relational.schema import Value

MOST_FAILED, MOST_FAILED_IN_ALL = 3, 8
"""The maximum numbers of times that it is asked in vain: about one tool, and about all."""


@dataclass(frozen=True, slots=True)
class Lemmas:
    """Conditions that were asked about, for all questions of a specification, and if they are ``never`` true.

    Moves that are ``known`` to be impossible follow. About some tools it was asked in vain: how often it
    ``failed``.
    """

    known: list[Impossible] = field(default_factory=list)
    never: dict[fo.Formula, bool] = field(default_factory=dict)
    failed: Counter[str] = field(default_factory=Counter)


class Asking:
    """Find moves that are impossible, for one question about some facts with some ``names``."""

    def __init__(
        self,
        lemmas: Lemmas,
        facts: Iterable[Core],
        names: frozenset[Value],
        values: Mapping[str, Sequence[Value]],
        is_never: Callable[[fo.Formula, Sequence[fo.Binder]], bool],
    ) -> None:
        """Take the ``values`` of each sort; ``is_never`` shows that a condition is true of no values."""
        self._lemmas, self._facts, self._names, self._values = lemmas, tuple(facts), names, values
        self._is_never = is_never
        self._tried = set[fo.Formula]()

    def finds(self, steps: Steps, made: Iterable[tuple[Move, Bdd]]) -> bool:
        """Return if a move is now shown to be impossible in all of the states from which it would be made."""
        found = False
        for move, states in made:
            if "other" not in map(kind, move.values.values()):
                continue
            context = steps.context(states, self._facts)
            # what sentences say is the same for more questions
            sentences = frozenset(one for one in context if isinstance(one[0], fo.Exists))
            for some in dict.fromkeys((sentences, context)):
                if some and self._shows(move, some):
                    one = Impossible(move.tool.name, move.by, move.values, self._names, some)
                    self._lemmas.known.append(one)
                    found = True
                    break
        return found

    def _shows(self, move: Move, context: Context) -> bool:
        """Return if a move is now shown to be impossible in a context."""
        loose = {one: fo.Binder(one, sort) for one, sort in individuals_of(move).items()}
        different = (
            fo.Not(fo.Equal(fo.Var(one), fo.Const(value)))
            for one, binder in loose.items()
            if kind(move.values[one]) == "other"
            for value in self._values[binder.sort]
        )
        said = (fact if true else fo.Not(fact) for fact, true in sorted(context, key=str))
        condition = fo.conjunction((*said, *different, *conditions_of(move, loose)))
        if mentions_individuals(core(condition)) or condition in self._tried:
            return False
        self._tried.add(condition)
        never, failed = self._lemmas.never, self._lemmas.failed
        if condition not in never:
            if failed[move.tool.name] >= MOST_FAILED or failed.total() >= MOST_FAILED_IN_ALL:
                return False
            never[condition] = self._is_never(condition, tuple(loose.values()))
            failed[move.tool.name] += not never[condition]
        return never[condition]
