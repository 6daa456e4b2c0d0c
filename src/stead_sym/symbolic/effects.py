"""Tools as BDDs: who is offered what, and what each alternative of an effect does to the bits.

An alternative whose statements insert and delete becomes *actions*: one per choice of values for the
variables that its statements mention (they say *where* it writes), found by descending through
the values and dropping every branch on which the condition is already false. The variables that
only conditions mention stay log-coded and are quantified. An action has no frame conditions:
it says what the bits become that it writes, and nothing of the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Choose, Clear, Delete, Effect, Ensure, Fresh, Insert, Tool
from stead_sym.logic.syntax import Binder, conjunction, free_variables
from stead_sym.relational.schema import Value
from stead_sym.symbolic.compile import Compiler, Environment
from stead_sym.symbolic.encoding import Vector, bits_of
from stead_sym.symbolic.manager import Bdd
from stead_sym.symbolic.naming import Draw, Naming, Place
from stead_sym.symbolic.writes import Writer


@dataclass(frozen=True, slots=True)
class ToolInterface:
    """A tool over the state bits and one vector per parameter.

    ``offered``: the parameters are active and the guard holds. ``effective``: some alternative has a
    successor in the infinite domain (a fresh value is never lacking there).
    """

    tool: Tool
    params: tuple[Vector, ...]
    offered: Bdd
    effective: Bdd


@dataclass(frozen=True, slots=True)
class Action:
    """One alternative with the variables fixed that say where it writes.

    ``condition`` ranges over the state bits and the vectors of the parameters that are not fixed;
    ``args`` are the tool's arguments, values where fixed. ``updates`` gives the new value of each
    written bit over the old state bits. ``fresh`` are the drawn values with their sorts, ``about``
    all values that are fixed.
    """

    tool: str
    args: tuple[Vector | Value, ...]
    condition: Bdd
    updates: Mapping[str, Bdd]
    fresh: tuple[tuple[str, Value], ...] = ()
    about: frozenset[Value] = frozenset()


@dataclass(frozen=True, slots=True)
class RelationalAction:
    """An `ensure` alternative: ``relation`` over state bits, primed bits and parameter vectors."""

    tool: str
    args: tuple[Vector | Value, ...]
    relation: Bdd


@dataclass(frozen=True, slots=True)
class CompiledTool:
    """A tool's interface with the actions of all its alternatives.

    ``overflow``, over the state bits and the parameters: an alternative inserts fresh values of a
    sort, more than U_f has left. At the sizes of the theorem the bound is exceeded then.
    ``stuck`` likewise, per fresh variable that is named after another value: the name is taken.
    """

    interface: ToolInterface
    actions: tuple[Action, ...]
    relational: tuple[RelationalAction, ...]
    overflow: Bdd
    stuck: Mapping[Draw, Bdd]


class EffectCompiler:
    """Compiles the tools of one deployment (definitions expanded)."""

    def __init__(self, deployment: Deployment, compiler: Compiler, naming: Naming, writer: Writer) -> None:
        self.deployment = deployment
        self.naming = naming
        self.writer = writer
        self.compiler = compiler
        self.encoding = compiler.encoding
        self.manager = compiler.manager

    def tool(self, tool: Tool) -> CompiledTool:
        """The BDDs of one tool."""
        m = self.manager
        env: dict[str, Vector | Value] = {}
        params = []
        for binder in tool.params:
            vector = self.compiler.bound_vector(binder, env)
            env[binder.name] = vector
            params.append(vector)
        offered = m.conj(
            [*(self.encoding.active(v.sort, v) for v in params), self.compiler.formula(tool.guard, env)]
        )
        effective, overflow = m.false, m.false
        stuck: dict[Draw, Bdd] = {}
        actions: list[Action] = []
        relational: list[RelationalAction] = []
        for number, effect in enumerate(tool.effects):
            place = (tool.name, number)
            if effect.is_ensure:
                ensured = self._ensure(tool, params, env, effect)
                relational.append(ensured)
                primed = frozenset(map(self.encoding.primed, self.encoding.state_bits))
                effective = effective | m.exist(primed, ensured.relation)
                continue
            scope, condition, drawn, taken = self._condition(place, effect, env)
            local = frozenset(bits_of(term for name, term in scope.items() if name not in env))
            effective = effective | m.and_exist(local, condition, drawn)
            stuck |= {draw: m.exist(local, offered & where) for draw, where in taken.items()}
            possible = offered & condition & drawn
            for action, no_room in self._ground(tool, params, env, scope, possible, effect):
                if action.condition != m.false:
                    actions.append(action)
                if no_room != m.false:
                    overflow = overflow | self._with_args(params, action.args, no_room)
        interface = ToolInterface(tool, tuple(params), offered, effective)
        return CompiledTool(interface, tuple(actions), tuple(relational), overflow, stuck)

    def _with_args(self, params: list[Vector], args: tuple[Vector | Value, ...], condition: Bdd) -> Bdd:
        """A condition of an action, over the vectors of all parameters again."""
        pairs = zip(params, args, strict=True)
        return self.manager.conj([condition, *(self.encoding.equal(v, u) for v, u in pairs)])

    # conditions

    def _condition(
        self, place: Place, effect: Effect, env: Environment
    ) -> tuple[Environment, Bdd, Bdd, Mapping[Draw, Bdd]]:
        """The variables in scope at the end of the block, what `when` and `choose` ask of them, what
        the fresh ones may be, and for each that is named after another where its name is taken."""
        m, encoding = self.manager, self.encoding
        scope = dict(env)
        taken: dict[Draw, Bdd] = {}
        condition, drawn = self.compiler.formula(effect.when, scope), m.true
        fresh: dict[str, Vector] = {}
        for statement in effect.statements:
            match statement:
                case Choose(binder, where):
                    vector = self.compiler.bound_vector(binder, scope)
                    scope[binder.name] = vector
                    constants = self.deployment.constants[vector.sort]
                    among = encoding.active(vector.sort, vector) | encoding.is_among(vector, constants)
                    asked = among & self.compiler.formula(where, scope)
                    if free_variables(where) & fresh.keys():
                        drawn = drawn & asked
                    else:
                        condition = condition & asked
                case Fresh(binder):
                    vector = self.compiler.bound_vector(binder, scope)
                    scope[binder.name] = vector
                    others = [other for other in fresh.values() if other.sort == vector.sort]
                    may_be = self._draw(place, binder, vector, others, scope)
                    if (place, binder.name) in self.naming.anchors:
                        free = m.exist(frozenset(vector.bits), may_be)
                        taken[place, binder.name] = condition & drawn & ~free
                    drawn = drawn & may_be
                    fresh[binder.name] = vector
                case Insert() | Delete() | Clear() | Ensure():
                    pass
                case _:
                    assert_never(statement)
        return scope, condition, drawn, taken

    def _draw(
        self, place: Place, binder: Binder, vector: Vector, others: Sequence[Vector], scope: Environment
    ) -> Bdd:
        """What the next fresh value may be, outside ad(D) and C and none of ``others``: any such
        value, the name that goes with the anchor's value, or the least name (see `naming`)."""
        m, encoding = self.manager, self.encoding
        if self.naming.literal:
            taken = [encoding.active(vector.sort, vector)]
            taken.append(encoding.is_among(vector, self.deployment.constants[vector.sort]))
            taken += [encoding.equal(vector, other) for other in others]
            return encoding.valid(vector, phantoms=True) & ~m.disj(taken)
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
        for value in encoding.values[vector.sort]:
            if value not in self.deployment.constants[vector.sort]:
                taken_here = encoding.active(vector.sort, value) | m.disj(
                    encoding.is_value(other, value) for other in others
                )
                entries[value] = earlier_taken & ~taken_here
                earlier_taken = earlier_taken & taken_here
        return encoding.table(vector, entries)

    # fresh values that U_f has not

    def _lacks(self, effect: Effect, values: Mapping[str, Value]) -> Bdd:
        """The states with fewer unused values of some sort than the fresh ones that the effect inserts:
        with the active values, from which they differ, these are more than U_f has outside C."""
        lacking = []
        for sort, drawn in _fresh_counts(effect).items():
            others = [v for v in self.encoding.values[sort] if v not in self.deployment.constants[sort]]
            if drawn + self.deployment.bounds[sort] > len(others):
                active = [self.encoding.active(sort, value) for value in others]
                kept = [self._inserts(effect, b.name, values) for b in effect.fresh if b.sort == sort]
                lacking.append(self.compiler.at_least(len(others) + 1, active + kept))
        return self.manager.disj(lacking)

    def _inserts(self, effect: Effect, name: str, values: Mapping[str, Value]) -> Bdd:
        """The states in which some insertion holds the value of the variable."""
        return self.manager.disj(
            when
            for s in effect.statements
            if isinstance(s, Insert) and name in free_variables(s.atom) - {b.name for b in s.binders}
            for _, when in self.writer.affected(s, values)
        )

    # actions

    def _ground(
        self,
        tool: Tool,
        params: list[Vector],
        env: Environment,
        scope: Environment,
        condition: Bdd,
        effect: Effect,
    ) -> Iterator[tuple[Action, Bdd]]:
        """The actions of one alternative, each with the condition on which U_f has no room for it."""
        where_written = [name for name in scope if name in _written_variables(effect)]
        settled = {*env, *where_written}
        loose = frozenset(bits_of(term for name, term in scope.items() if name not in settled))
        condition = self.manager.exist(loose, condition)
        fresh = {binder.name: str(binder.sort) for binder in effect.fresh}
        vectors = {name: scope[name] for name in where_written}
        for assignment, case in self.manager.cases(condition, bits_of(vectors.values())):
            values = {
                name: self.encoding.value(vector, assignment)
                for name, vector in vectors.items()
                if isinstance(vector, Vector)
            }
            written = self.writer.write(effect, values, case)
            outside = written.outside
            args = tuple(
                values.get(binder.name, vector) for binder, vector in zip(tool.params, params, strict=True)
            )
            drawn = tuple((fresh[name], value) for name, value in values.items() if name in fresh)
            about = frozenset(values.values())
            no_room = case & outside
            if no_room != self.manager.false:
                no_room = no_room & self._lacks(effect, values)
            yield Action(tool.name, args, case & ~outside, written.updates, drawn, about), no_room

    # ensure

    def _ensure(self, tool: Tool, params: list[Vector], env: Environment, effect: Effect) -> RelationalAction:
        """The relation of an `ensure` alternative: `when` read in D, its formulas in D ⊕ D'."""
        m = self.manager
        for bit in self.encoding.state_bits:
            self.encoding.primed(bit)
        asked = conjunction(tuple(s.formula for s in effect.statements if isinstance(s, Ensure)))
        relation = m.conj(
            [
                self.compiler.formula(effect.when, env),
                *(self.encoding.well_coded(field, primed=True) for field in self.encoding.fields),
                self.compiler.formula(asked, env, joint=True),
                self._least_names(),
            ]
        )
        return RelationalAction(tool.name, tuple(params), relation)

    def _least_names(self) -> Bdd:
        """With representatives: the values that D' has and D has not are the least unused names."""
        m, encoding, conditions = self.manager, self.encoding, []
        if not self.naming.literal:
            for sort, values in encoding.values.items():
                smaller_used = m.true
                for value in values:
                    if value not in self.deployment.constants[sort]:
                        before, after = (
                            encoding.active(sort, value),
                            encoding.active(sort, value, primed=True),
                        )
                        conditions.append(before | ~after | smaller_used)
                        smaller_used = smaller_used & (before | after)
        return m.conj(conditions)


def _fresh_counts(effect: Effect) -> Mapping[str, int]:
    """How many fresh values of each sort the effect draws."""
    return Counter(str(binder.sort) for binder in effect.fresh)


def _written_variables(effect: Effect) -> frozenset[str]:
    """The variables that an insertion or deletion mentions, its own binders excepted."""
    names: set[str] = set()
    for s in effect.statements:
        if isinstance(s, Insert | Delete):
            own = {binder.name for binder in s.binders}
            names |= (free_variables(s.atom) | free_variables(s.where)) - own
    return frozenset(names)
