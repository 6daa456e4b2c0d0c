"""Room for the values that an alternative makes active: within the bounds, and in U_f.

One decision: if the syntax of an effect determines the number of values it adds, the bounds are tested before
it is grounded, and otherwise on the updates of each of its actions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.restriction import Restriction
from stead_sym.deployment.tool import Clear, Delete, Effect, Insert
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.engines.symbolic.step.formulas import Environment
from stead_sym.engines.symbolic.step.updates import Writer
from stead_sym.relational.schema import Value


class Room:
    """The states in which the successors of a step respect the bounds and are over U_f, ``restriction``.

    The encoding has the values of U_f, and may have a few more (`spare`): no state of U_f has them, but an
    `ensure` may lead there.
    """

    def __init__(self, deployment: Deployment, restriction: Restriction, writer: Writer) -> None:
        self.deployment = deployment
        self.restriction = restriction
        self.writer = writer
        self.encoding = writer.encoding
        self.manager = writer.manager

    # Within the bounds.

    @cached_property
    def care_after(self) -> Bdd:
        """The care set over the successor's copies."""
        copies = {bit: self.manager.var(self.encoding.primed(bit)) for bit in self.encoding.state_bits}
        return self.manager.substitute(self.encoding.care, copies)

    def before(self, effect: Effect) -> Bdd | None:
        """Return the states with room for an effect's fresh values within the bounds.

        The effect must only insert, and insert all of them unconditionally. None for other effects, which
        need a test of their updates (`after`). Without fresh values no value outside C becomes active.
        """
        m, encoding = self.manager, self.encoding
        if encoding.care == m.true or not effect.fresh:
            return m.true
        if any(isinstance(s, Delete | Clear) for s in effect.statements):
            return None
        inserts = [s for s in effect.statements if isinstance(s, Insert)]
        sure = _mentioned(s for s in inserts if s.where == fo.TRUE and not s.binders)
        fresh = [binder for binder in effect.fresh if binder.name in _mentioned(inserts)]
        if not sure.issuperset(binder.name for binder in fresh):
            return None
        drawn = Counter(binder.sort for binder in fresh)
        outside = self.deployment.outside
        return ~m.disj(
            encoding.more_active(self.deployment.bounds[sort] - number, outside(sort, encoding.values[sort]))
            for sort, number in drawn.items()
        )

    def after(self, updates: Mapping[str, Bdd]) -> Bdd:
        """Return the states in which these new values of bits lead into the care set."""
        return self.manager.substitute(self.encoding.care, updates)

    # In U_f.

    @cached_property
    def spare(self) -> Mapping[str, tuple[Value, ...]]:
        """Per sort the values of the encoding outside U_f."""
        return {
            sort: tuple(value for value in values if value not in self.restriction.members)
            for sort, values in self.encoding.values.items()
        }

    @cached_property
    def spare_active(self) -> Bdd:
        """The condition that D' is not over U_f, over the copies of the state bits."""
        active = self.encoding.active
        pairs = ((sort, value) for sort, values in self.spare.items() for value in values)
        return self.manager.disj(active(sort, value, primed=True) for sort, value in pairs)

    def lacking(self, effect: Effect, values: Environment, outside: Bdd) -> Bdd:
        """Return those of the states in which U_f has no room for the inserted fresh values.

        ``outside`` are states in which a fact outside U_f would be inserted, for the ``values`` of the
        effect's variables.
        """
        return outside & self._lacks(effect, values) if outside != self.manager.false else outside

    def _lacks(self, effect: Effect, values: Environment) -> Bdd:
        """Return the states in which active and inserted fresh values together exceed U_f's outside C.

        The fresh values of some sort differ from the active ones.
        """
        lacking = []
        for sort, drawn in Counter(binder.sort for binder in effect.fresh).items():
            others = self.deployment.outside(sort, self.restriction.values[sort])
            if drawn + self.deployment.bounds[sort] > len(others):
                active = [self.encoding.active(sort, value) for value in others]
                kept = [self._inserts(effect, b.name, values) for b in effect.fresh if b.sort == sort]
                lacking.append(self.manager.at_least(len(others) + 1, active + kept))
        return self.manager.disj(lacking)

    def _inserts(self, effect: Effect, name: str, values: Environment) -> Bdd:
        """Return the states in which some insertion holds the value of the variable."""
        return self.manager.disj(
            self.manager.exist(one.bound, one.when)
            for s in effect.statements
            if isinstance(s, Insert) and name in fo.free_variables(s.atom) - {b.name for b in s.binders}
            for one in self.writer.affected(s, values)
        )


def _mentioned(inserts: Iterable[Insert]) -> frozenset[str]:
    """Return the variables of an effect that its insertions mention, except their own binders."""
    names = (fo.free_variables(s.atom) - {binder.name for binder in s.binders} for s in inserts)
    return frozenset[str]().union(*names)
