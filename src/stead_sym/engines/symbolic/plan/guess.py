"""The unproved assumptions of a plan, and their check.

Three properties are assumed from the syntax of the effects: that relations are functional, that some hold at
most one fact (`encode.mutex`), and that fresh values can be named after other values
(`encode.representatives`). One decision: a guess is an immutable value. A plan is made from it; `confirm`
computes the keys that the plan violates, and the exploration the names that are taken; then another plan is
made from a smaller guess, `Guess.without` the violated parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.engines.symbolic.encode.mutex import Columns, Key, possible_keys, singles
from stead_sym.engines.symbolic.encode.representatives import Draw, possible_anchors
from stead_sym.engines.symbolic.plan.followers import strengthened
from stead_sym.engines.symbolic.step.effects import CompiledTool


@dataclass(frozen=True, slots=True)
class Broken:
    """The violated parts of a guess; false if there are none.

    They are fresh variables that cannot be named after a variable (given by its name), and keys of which two
    facts can hold.
    """

    anchors: frozenset[tuple[Draw, str]] = frozenset()
    keys: frozenset[Key] = frozenset()

    def __bool__(self) -> bool:
        """Return True if any part is violated."""
        return bool(self.anchors or self.keys)


@dataclass(frozen=True, slots=True)
class Guess:
    """The assumptions of a plan.

    ``anchors``: per fresh variable the variables that it may be named after. It is named after the first of
    them; if there are none it takes the least name. ``keys``: per relation sets of columns that determine the
    others. ``singles``: the relations that hold at most one fact.
    """

    anchors: Mapping[Draw, tuple[fo.Binder, ...]] = field(default_factory=dict)
    keys: Mapping[str, tuple[Columns, ...]] = field(default_factory=dict)
    singles: frozenset[str] = frozenset()

    @property
    def anchored(self) -> Mapping[Draw, fo.Binder]:
        """The fresh variables that are named after another, each with that variable."""
        return {draw: binders[0] for draw, binders in self.anchors.items() if binders}

    def without(self, broken: Broken) -> Guess:
        """Return the guess without the violated parts; it is smaller, so planning terminates."""
        left = Guess(
            {
                draw: tuple(binder for binder in binders if (draw, binder.name) not in broken.anchors)
                for draw, binders in self.anchors.items()
            },
            {
                relation: tuple(key for key in keys if (relation, key) not in broken.keys)
                for relation, keys in self.keys.items()
            },
            frozenset(relation for relation in self.singles if (relation, ()) not in broken.keys),
        )
        assert left != self, "what is broken was guessed"
        return left


def first_guess(deployment: Deployment, literal: bool) -> Guess:
    """Return all assumptions that the syntax of the effects suggests.

    If fresh values are ``literal``, any unused ones, they have no names.
    """
    deployment = strengthened(deployment)
    keys = possible_keys(deployment)
    return Guess({} if literal else possible_anchors(deployment), keys, singles(deployment, keys))


def confirm(tools: Iterable[CompiledTool]) -> Broken:
    """Return the keys of the encoding that the effects of a plan's tools violate."""
    return Broken(keys=frozenset[Key]().union(*(tool.broken for tool in tools)))
