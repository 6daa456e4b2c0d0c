"""What a plan assumes of a deployment without proof, and how an assumption is confirmed or given
up.

Three things are guessed from the shape of the effects: that relations are functional, that some hold one
fact at most (`encode.mutex`), and that fresh values can be named after other values
(`encode.representatives`). One decision: a guess is an immutable value. A plan is made from it; `confirm`
finds in the plan which keys are broken, and the exploration which names are taken; then another plan is
made from a smaller guess, `Guess.without` what is broken.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from stead_sym.deployment.deployment import Deployment
from stead_sym.engines.symbolic.encode.mutex import Columns, Key, possible_keys, singles
from stead_sym.engines.symbolic.encode.representatives import Draw, possible_anchors
from stead_sym.engines.symbolic.plan.followers import strengthened
from stead_sym.engines.symbolic.step.effects import CompiledTool
from stead_sym.logic.syntax import Binder


@dataclass(frozen=True, slots=True)
class Broken:
    """The parts of a guess that do not hold: fresh variables that cannot be named after a variable (given
    by its name), and keys of which two facts can come to hold. False where nothing is broken."""

    anchors: frozenset[tuple[Draw, str]] = frozenset()
    keys: frozenset[Key] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.anchors or self.keys)


@dataclass(frozen=True, slots=True)
class Guess:
    """What a plan relies on.

    ``anchors``: per fresh variable the variables that it may be named after. It is named after the first of
    them; where there are none it takes the least name. ``keys``: per relation sets of columns that determine
    the others. ``singles``: the relations that hold one fact at most.
    """

    anchors: Mapping[Draw, tuple[Binder, ...]] = field(default_factory=dict)
    keys: Mapping[str, tuple[Columns, ...]] = field(default_factory=dict)
    singles: frozenset[str] = frozenset()

    @property
    def anchored(self) -> Mapping[Draw, Binder]:
        """The fresh variables that are named after another, each with that variable."""
        return {draw: binders[0] for draw, binders in self.anchors.items() if binders}

    def without(self, broken: Broken) -> Guess:
        """What is left of the guess: less than before, so that no planning goes on for ever."""
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
    """All that the shape of the effects suggests; without names for fresh values where they are
    ``literal``, any unused ones."""
    deployment = strengthened(deployment)
    keys = possible_keys(deployment)
    return Guess({} if literal else possible_anchors(deployment), keys, singles(deployment, keys))


def confirm(tools: Iterable[CompiledTool]) -> Broken:
    """What the effects of a plan's tools break of the keys that its encoding relies on."""
    return Broken(keys=frozenset[Key]().union(*(tool.broken for tool in tools)))
