"""The names of fresh values that are named after other values, computed by relaxed reachability.

The i-th value found for an anchor gives the i-th name. One decision: a name is allocated when a value of the
anchor is found, so no more names are allocated than needed. After relaxed reachability `AnchoredNames.broken`
has the unsuitable anchors: those with too few values, and those whose values are themselves named after an
anchor, which might need unboundedly many names. This affects size, not correctness: the exploration checks
that a name is free when it is drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.restriction import Restriction
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.engines.symbolic.encode.encoding import Encoding
from stead_sym.engines.symbolic.encode.representatives import Draw, Place
from stead_sym.engines.symbolic.encode.values import Vector
from stead_sym.engines.symbolic.plan.guess import Broken
from stead_sym.engines.symbolic.step.formulas import Environment
from stead_sym.relational.schema import Value


class FreshVariables:
    """The fresh variables of a deployment with the variables that they are named after, if any."""

    def __init__(
        self, deployment: Deployment, restriction: Restriction, anchored: Mapping[Draw, fo.Binder]
    ) -> None:
        self.restriction = restriction
        self.anchored = anchored
        self.constants = deployment.constants
        self.bounds = deployment.bounds
        self.sorts = {
            ((tool.name, number), binder.name): str(binder.sort)
            for tool in deployment.tools_and_events
            for number, effect in enumerate(tool.effects)
            for binder in effect.fresh
        }

    def siblings(self, draw: Draw) -> list[Draw]:
        """Return the fresh variables of the same alternative, sort and anchor, in order: they share names."""
        return [
            other
            for other, anchor in self.anchored.items()
            if other[0] == draw[0] and self.sorts[other] == self.sorts[draw] and anchor == self.anchored[draw]
        ]

    def pool(self) -> Mapping[str, tuple[Value, ...]]:
        """Return the restriction's values, and enough more that every anchor's value can have its name."""
        values = dict(self.restriction.values)
        for draw, anchor in self.anchored.items():
            sort, count = self.sorts[draw], len(self.siblings(draw))
            wanted = len(self.restriction.values[str(anchor.sort)]) * count
            wanted += len(self.constants[sort])
            if wanted > len(values[sort]):
                values[sort] = self.restriction.values[sort] + self.restriction.beyond(sort, wanted)
        return values


class AnchoredNames:
    """The fresh values that relaxed reachability allows (`FreshValues`).

    These are the names of anchored variables, allocated during the computation, and for the others any value
    that is no constant.
    """

    def __init__(self, variables: FreshVariables, encoding: Encoding) -> None:
        """Start without names; ``encoding`` has vectors over `FreshVariables.pool`."""
        self.variables = variables
        self.encoding = encoding
        self.names: dict[Draw, dict[Value, Value]] = {draw: {} for draw in variables.anchored}
        self._endless: set[Draw] = set()
        self._taken: Counter[str] = Counter()  # per sort the maximum number of names of one anchor

    def __call__(self, place: Place, binder: fo.Binder, scope: Environment, possible: Bdd) -> Bdd:
        """Return the possible values of a fresh variable, with those of its anchor."""
        m, sort, draw = self.encoding.manager, str(binder.sort), (place, binder.name)
        values, vector = self.variables.restriction.values, scope[binder.name]
        assert isinstance(vector, Vector)
        if draw not in self.variables.anchored:
            constants = self.variables.constants[sort]
            unused = [value for value in values[sort] if value not in constants]
            return self.encoding.is_among(vector, unused or self.encoding.beyond[sort])
        anchor = scope[self.variables.anchored[draw].name]
        assert isinstance(anchor, Vector)
        others = frozenset(possible.support - set(anchor.bits))
        found = [value for (value,) in self.encoding.tuples(m.exist(others, possible), (anchor,))]
        named = set(values[anchor.sort]).intersection(found)
        if len(named) < len(found):
            self._endless.add(draw)  # the anchor is itself named after an anchor, perhaps cyclically
        return m.disj(
            self.encoding.is_value(anchor, value) & self.encoding.is_value(vector, self._name(draw, value))
            for value in found
            if value in named
        )

    def _name(self, draw: Draw, anchor: Value) -> Value:
        """Return the name of a fresh variable for one value of its anchor."""
        if anchor not in self.names[draw]:
            sort, siblings = self.variables.sorts[draw], self.variables.siblings(draw)
            number = len(self.names[draw]) * len(siblings) + siblings.index(draw)
            names = self.encoding.values[sort]
            self.names[draw][anchor] = names[len(self.variables.constants[sort]) + number]
            self._taken[sort] = max(self._taken[sort], number + 1)
        return self.names[draw][anchor]

    @property
    def broken(self) -> Broken:
        """The anchors with fewer values than the bounds allow fresh ones, and those that are anchored."""
        bounds, sorts = self.variables.bounds, self.variables.sorts
        scarce = {
            draw
            for draw, names in self.names.items()
            if len(names) * len(self.variables.siblings(draw)) < bounds[sorts[draw]]
        }
        return Broken(
            anchors=frozenset((draw, self.variables.anchored[draw].name) for draw in scarce | self._endless)
        )

    @property
    def used(self) -> Mapping[str, tuple[Value, ...]]:
        """The values of the restriction and those that anchors allocated beyond it."""
        used: dict[str, tuple[Value, ...]] = {}
        for sort, values in self.variables.restriction.values.items():
            needed = len(self.variables.constants[sort]) + self._taken[sort]
            used[sort] = self.encoding.values[sort][: max(len(values), needed)]
        return used
