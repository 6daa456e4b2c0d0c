"""Steps of an abstraction: what a tool or an event may do for certain values of its variables.

An *action* is over the facts that it may change, and a *move* has one, or changes none of the facts. What is
not done in a context is `Impossible`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.analyses.local.facts import with_values
from stead_sym.analyses.local.reading import Known
from stead_sym.analyses.local.values import is_name, kind, sort_of
from stead_sym.deployment.tool import Choose, Effect, Tool
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.logic.kernel import Core, core
from stead_sym.relational.schema import Value

Context: TypeAlias = frozenset[tuple[Core, bool]]
"""The truth values of some facts."""


@dataclass(frozen=True, slots=True)
class Action:
    """The step of an alternative ``by`` of a ``tool`` with ``values`` of its variables.

    Its ``relation`` is over all facts now and those then that it may ``change``, pairs of variables; it
    depends on the facts that it ``reads``, and on atoms about other values, of which there are none where the
    facts ``beyond`` are false.
    """

    tool: str
    by: int
    values: Mapping[str, Value]
    relation: Bdd
    change: tuple[tuple[Bdd, Bdd], ...]
    reads: frozenset[Core]
    beyond: frozenset[Core] = frozenset()


@dataclass(frozen=True, eq=False)
class Move:
    """An alternative ``by`` of a ``tool`` with values of its variables, and its step.

    There is none if it changes no fact. ``may`` returns where the alternative may be taken.
    """

    tool: Tool
    by: int
    values: Mapping[str, Value]
    action: Action | None
    may: Callable[[], Bdd]

    @property
    def effect(self) -> Effect:
        """Return the alternative."""
        return self.tool.effects[self.by]

    @cached_property
    def without(self) -> Bdd:
        """Return where the alternative may be taken, if it changes no fact."""
        return self.may()


@dataclass(frozen=True, eq=False)
class Sure:
    """A tool or an event, for certain values or some, that surely can be called or happen.

    It is surely ``enabled`` in some states, and may be any of the ``moves``. The facts that it ``reads``
    decide if it is enabled.
    """

    enabled: Bdd
    moves: tuple[Move, ...]
    reads: frozenset[Core] = frozenset()

    @cached_property
    def changing(self) -> tuple[Move, ...]:
        """Return the moves that may change a fact."""
        return tuple(move for move in self.moves if move.action is not None)


@dataclass(frozen=True, slots=True)
class Certain:
    """A condition under which some step is possible, and the facts that it reads."""

    known: Known
    reads: frozenset[Core]


@dataclass(frozen=True, slots=True)
class Impossible:
    """An alternative ``by`` of a ``tool`` cannot be taken with these values in any state of a ``context``.

    An `other` value is none of the ``names``.
    """

    tool: str
    by: int
    values: Mapping[str, Value]
    names: frozenset[Value]
    context: Context

    def covers(self, tool: str, by: int, values: Mapping[str, Value], names: Set[Value]) -> bool:
        """Return if this is said of these moves, of which an `other` value is none of these names."""
        return (self.tool, self.by) == (tool, by) and all(
            kind(value) == "any"
            or (value == values[one] and (kind(value) == "named" or self.names <= names))
            or (kind(value) == "other" and is_name(values[one]) and values[one] not in self.names)
            for one, value in self.values.items()
        )


def in_terms(values: Mapping[str, Value]) -> Mapping[str, fo.Term]:
    """Return the values as terms."""
    return {name: fo.Const(value) for name, value in values.items()}


def conditions(tool: Tool, effect: Effect, values: Mapping[str, fo.Term]) -> Iterator[fo.Formula]:
    """Yield the conditions for taking the alternative with these values."""
    for formula in (tool.guard, effect.when, *(s.where for s in effect.statements if isinstance(s, Choose))):
        yield with_values(formula, tuple(values.items()))


def individuals_of(move: Move) -> Mapping[str, str]:
    """Return the variables of a move that have no certain value, nor a new one, with their sorts."""
    return {one: sort_of(value) for one, value in move.values.items() if kind(value) in ("other", "any")}


def conditions_of(move: Move, loose: Container[str]) -> Iterator[Core]:
    """Yield the conditions of a move, with some of its variables as they are."""
    values = {one: fo.Var(one) if one in loose else fo.Const(v) for one, v in move.values.items()}
    for formula in conditions(move.tool, move.effect, values):
        yield from map(core, fo.conjuncts(core(formula)))
