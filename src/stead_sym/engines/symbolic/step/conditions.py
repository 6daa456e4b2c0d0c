"""Compile the `when`, `choose` and `fresh` of an alternative, the conditions before it writes.

One decision: the domain of fresh values is kept apart from the other conditions. In the infinite domain a
fresh value always exists; on a restriction it may not, and the two cases have to be distinguished.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Assign, Choose, Clear, Delete, Effect, Ensure, Fresh, Insert
from stead_sym.engines.symbolic.bdd.manager import Bdd, Bits
from stead_sym.engines.symbolic.encode.representatives import Draw, Naming, Place
from stead_sym.engines.symbolic.encode.values import FRESH, Vector, bits_of
from stead_sym.engines.symbolic.step.formulas import Compiler, Environment
from stead_sym.relational.schema import Value


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of an alternative that inserts and deletes, over the state bits and its variables.

    ``scope``: the variables at the end of the block, ``local`` the bits of those that are no parameters of
    the tool. ``asked``: the conditions of `when` and `choose` on them, as a conjunction. ``drawn``: the
    possible fresh values, with the conditions of `choose` on these. ``taken``: for each fresh variable that
    is named after another, the states in which its name is taken.
    """

    scope: Environment
    local: Bits
    asked: tuple[Bdd, ...]
    drawn: Bdd
    taken: Mapping[Draw, Bdd]


class ConditionCompiler:
    """A compiler of the conditions of alternatives.

    ``spare``: per sort the values of the encoding outside U_f, which no fresh variable takes.
    """

    def __init__(
        self,
        deployment: Deployment,
        compiler: Compiler,
        naming: Naming,
        spare: Mapping[str, Sequence[Value]],
    ) -> None:
        self.deployment = deployment
        self.compiler = compiler
        self.encoding = compiler.encoding
        self.manager = compiler.manager
        self.naming = naming
        self.spare = spare

    def conditions(self, place: Place, effect: Effect, env: Environment) -> Conditions:
        """Return the conditions of an alternative; ``env`` has the parameters of its tool."""
        m, encoding = self.manager, self.encoding
        scope = dict(env)
        taken: dict[Draw, Bdd] = {}
        asked, drawn = list(self.compiler.conjuncts(effect.when, scope)), m.true
        fresh: dict[str, Vector] = {}
        for statement in effect.statements:
            match statement:
                case Choose(binder, where):
                    vector = self.compiler.bound_vector(binder, scope)
                    scope[binder.name] = vector
                    constants = self.deployment.constants[vector.sort]
                    among = encoding.active(vector.sort, vector) | encoding.is_among(vector, constants)
                    if fo.free_variables(where) & fresh.keys():
                        drawn = drawn & among & self.compiler.formula(where, scope)
                    else:
                        asked += [among, *self.compiler.conjuncts(where, scope)]
                case Fresh(binder):
                    vector = self._fresh_vector(binder, scope)
                    scope[binder.name] = vector
                    others = [other for other in fresh.values() if other.sort == vector.sort]
                    may_be = self._draw(place, binder, vector, others, scope)
                    if (place, binder.name) in self.naming.anchors:
                        free = m.exist(frozenset(vector.bits), may_be)
                        taken[place, binder.name] = m.conj(asked) & drawn & ~free
                    drawn = drawn & may_be
                    fresh[binder.name] = vector
                case Insert() | Delete() | Assign() | Clear() | Ensure():
                    pass
                case _:
                    assert_never(statement)
        local = frozenset(bits_of(term for name, term in scope.items() if name not in env))
        return Conditions(scope, local, tuple(asked), drawn, taken)

    def _fresh_vector(self, binder: fo.Binder, scope: Environment) -> Vector:
        """Return the vector of a fresh variable.

        Any of n unused values may be drawn: with a one-hot vector each does not need an action (`effects`).
        """
        if self.naming.literal:
            return self.encoding.unused(binder.sort, scope.values(), FRESH)
        return self.compiler.bound_vector(binder, scope)

    def _draw(
        self, place: Place, binder: fo.Binder, vector: Vector, others: Sequence[Vector], scope: Environment
    ) -> Bdd:
        """Return the possible next fresh values, outside ad(D) and C and none of ``others``.

        It is any such value, the name that goes with the anchor's value, or the least name
        (`encode.representatives`).
        """
        m, encoding = self.manager, self.encoding
        if self.naming.literal:
            taken = [encoding.active(vector.sort, vector)]
            taken.append(encoding.is_among(vector, self.deployment.constants[vector.sort]))
            taken.append(encoding.is_among(vector, self.spare[vector.sort]))
            taken += [encoding.equal(vector, other) for other in others]
            return (encoding.valid(vector) | encoding.none(vector)) & ~m.disj(taken)
        draw = (place, binder.name)
        if draw in self.naming.anchors:
            anchor = scope[self.naming.anchors[draw].name]
            named = m.disj(
                encoding.is_value(anchor, value)
                & encoding.is_value(vector, name)
                & ~encoding.active(vector.sort, name)
                for value, name in self.naming.names[draw].items()
            )
            return named & ~m.disj(encoding.equal(vector, other) for other in others)
        entries: dict[Value, Bdd] = {}
        earlier_taken = m.true
        for value in self.deployment.outside(vector.sort, encoding.values[vector.sort]):
            taken_here = encoding.active(vector.sort, value) | m.disj(
                encoding.is_value(other, value) for other in others
            )
            entries[value] = earlier_taken & ~taken_here
            earlier_taken = earlier_taken & taken_here
        return encoding.table(vector, entries)
