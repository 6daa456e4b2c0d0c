"""Tools as BDDs: where their calls are offered, and which steps each alternative of an effect makes.

An alternative whose statements insert and delete becomes *actions*: one per choice of values for the
variables that its statements mention (they say *where* it writes), found by descending through
the values and dropping every branch on which the condition is already false. The variables that
only conditions mention stay log-coded and are quantified. An action says what the bits become that it
writes; `frame_conditions` joins a tool's actions to one relation, in which all others stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import assert_never

from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.restriction import Restriction
from stead_sym.deployment.tool import Choose, Clear, Delete, Effect, Ensure, Fresh, Insert, Tool
from stead_sym.logic.syntax import TRUE, Binder, conjunction, free_variables
from stead_sym.progress import Report
from stead_sym.relational.schema import Value
from stead_sym.symbolic.bdd.manager import Bdd
from stead_sym.symbolic.encode.mutex import Key
from stead_sym.symbolic.encode.representatives import Draw, Naming, Place
from stead_sym.symbolic.encode.values import Vector, bits_of
from stead_sym.symbolic.step.formulas import Compiler, Environment
from stead_sym.symbolic.step.frame_conditions import Action, framed
from stead_sym.symbolic.step.updates import Write, Writer


@dataclass(frozen=True, slots=True)
class ToolInterface:
    """A tool over the state bits and one vector per parameter.

    ``offered``: the parameters are active and the guard holds. ``effective``: some alternative has a
    successor in the infinite domain (a fresh value is never lacking there). ``params`` are log-coded, to
    go through calls; ``selectors`` stand for the parameters in sets of selected calls.
    """

    tool: Tool
    params: tuple[Vector, ...]
    selectors: tuple[Vector, ...]
    offered: Bdd
    effective: Bdd


@dataclass(frozen=True, slots=True)
class CompiledTool:
    """A tool's interface with the steps of all its alternatives.

    ``steps`` ranges over the state bits, the successor's copies and the selectors: (D, call, D').
    ``actions`` is the number of actions in it.
    ``exceeding``, over the state bits and the selectors: a successor over the encoding's values exceeds a
    bound. Where the encoding has a care set, ``steps`` leads to no such state.
    ``overflow``, over the same: an alternative inserts fresh values of a sort, more than U_f has left. At
    the sizes of the theorem the bound is exceeded then.
    ``stuck``, over the state bits and the parameters, per fresh variable that is named after another
    value: the name is taken. ``broken``: the keys that the encoding relies on and the tool may break.
    """

    interface: ToolInterface
    steps: Bdd
    actions: int
    exceeding: Bdd
    overflow: Bdd
    stuck: Mapping[Draw, Bdd]
    broken: frozenset[Key]


class EffectCompiler:
    """Compiles the tools of one deployment (definitions expanded).

    The encoding has the values of U_f, ``restriction``, and may have a few more (`_spare`): no state of U_f
    has them, but an `ensure` may lead there.
    """

    def __init__(
        self,
        deployment: Deployment,
        restriction: Restriction,
        compiler: Compiler,
        naming: Naming,
        writer: Writer,
    ) -> None:
        self.deployment = deployment
        self.restriction = restriction
        self.naming = naming
        self.writer = writer
        self.compiler = compiler
        self.encoding = compiler.encoding
        self.manager = compiler.manager

    def tool(self, tool: Tool, report: Report) -> CompiledTool:
        """The BDDs of one tool; ``report`` is told after each action how many there are."""
        m = self.manager
        sorts = [binder.sort for binder in tool.params]
        params = self.encoding.distinct(sorts)
        selectors = self.encoding.distinct(sorts, "param")
        env = {binder.name: vector for binder, vector in zip(tool.params, params, strict=True)}
        offered = self.compiler.offered(tool, params) & self.encoding.care
        effective, exceeding, overflow = m.false, m.false, m.false
        stuck: dict[Draw, Bdd] = {}
        actions: list[Action] = []
        broken = frozenset[Key]()
        for number, effect in enumerate(tool.effects):
            place = (tool.name, number)
            if effect.is_ensure:
                relation, copies = self._ensure(env, effect), self.encoding.primed_bits
                effective = effective | m.exist(copies, relation)
                made = self._by_selectors(params, selectors, {}, offered & relation)
                exceeding = exceeding | m.and_exist(copies, made, ~self._care_after)
                touched = self.encoding.state_bits | set(bits_of(selectors))
                actions.append(Action(made & self._care_after & ~self._spare_active, touched))
                continue
            scope, condition, drawn, taken = self._condition(place, effect, env)
            local = frozenset(bits_of(term for name, term in scope.items() if name not in env))
            effective = effective | m.and_exist(local, condition, drawn)
            stuck |= {draw: m.exist(local, offered & where) for draw, where in taken.items()}
            possible = offered & condition & drawn
            room = self._room(effect)
            if room is not None and (too_many := possible & ~room) != m.false:
                found = self._by_selectors(params, selectors, {}, m.exist(local, too_many))
                exceeding, possible = exceeding | found, possible & room
            for values, case, written in self._ground(env, scope, possible, effect):
                broken |= written.broken
                named = ((v, values.get(b.name)) for b, v in zip(tool.params, params, strict=True))
                fixed = {vector: value for vector, value in named if value is not None}
                if (no_room := self._no_room(effect, values, case & written.outside)) != m.false:
                    overflow = overflow | self._by_selectors(params, selectors, fixed, no_room)
                inside = case & ~written.outside
                if effect.fresh and room is None:
                    kept = m.substitute(self.encoding.care, written.updates)
                    if (too_many := inside & ~kept) != m.false:
                        exceeding = exceeding | self._by_selectors(params, selectors, fixed, too_many)
                    inside = inside & kept
                if inside != m.false:
                    after = m.conj(
                        m.var(self.encoding.primed(bit)).equiv(new) for bit, new in written.updates.items()
                    )
                    enabled = self._by_selectors(params, selectors, fixed, inside)
                    about = frozenset(self._about(params, selectors, fixed))
                    actions.append(Action(enabled & after, about | written.updates.keys()))
                    report(**{f"actions of {tool.name}": len(actions)})
        interface = ToolInterface(tool, params, selectors, offered, effective)
        steps = framed(self.encoding, actions, selectors)
        return CompiledTool(interface, steps, len(actions), exceeding, overflow, stuck, broken)

    @cached_property
    def _care_after(self) -> Bdd:
        """The care set over the successor's copies."""
        copies = {bit: self.manager.var(self.encoding.primed(bit)) for bit in self.encoding.state_bits}
        return self.manager.substitute(self.encoding.care, copies)

    def _by_selectors(
        self,
        params: Sequence[Vector],
        selectors: Sequence[Vector],
        fixed: Mapping[Vector, Value],
        condition: Bdd,
    ) -> Bdd:
        """A condition on a call, over the tool's selectors: where a parameter is fixed its selector has
        that value (`framed` says that it has no other), the others take over from their vectors."""
        m, encoding = self.manager, self.encoding
        loose = {v: s for v, s in zip(params, selectors, strict=True) if v not in fixed}
        same = m.conj(encoding.equal(v, s) & encoding.valid(s) for v, s in loose.items())
        taken = m.and_exist(frozenset(bits_of(loose)), condition, same)
        pairs = ((s, fixed[v]) for v, s in zip(params, selectors, strict=True) if v in fixed)
        return m.conj([taken, *(encoding.is_value(s, value) for s, value in pairs)])

    def _about(
        self, params: Sequence[Vector], selectors: Sequence[Vector], fixed: Mapping[Vector, Value]
    ) -> Iterator[str]:
        """The bits of the selectors that the relation of an action ranges over (`Action.touched`): of a
        selector with a fixed value those that are set, of any other all."""
        for vector, selector in zip(params, selectors, strict=True):
            if vector in fixed:
                yield from (bit for bit, on in self.encoding.code(selector, fixed[vector]).items() if on)
            else:
                yield from selector.bits

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
        value, the name that goes with the anchor's value, or the least name (`encode.representatives`)."""
        m, encoding = self.manager, self.encoding
        if self.naming.literal:
            taken = [encoding.active(vector.sort, vector)]
            taken.append(encoding.is_among(vector, self.deployment.constants[vector.sort]))
            taken.append(encoding.is_among(vector, self._spare[vector.sort]))
            taken += [encoding.equal(vector, other) for other in others]
            return encoding.valid(vector, beyond=True) & ~m.disj(taken)
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

    def _room(self, effect: Effect) -> Bdd | None:
        """For an effect that only inserts, and all its fresh values in any case: the states that have room
        for them within the bounds. For others None: that shows in what they write only. Without fresh
        values no value outside C becomes active."""
        m, encoding = self.manager, self.encoding
        if encoding.care == m.true or not effect.fresh:
            return m.true
        if any(isinstance(s, Delete | Clear) for s in effect.statements):
            return None
        inserts = [s for s in effect.statements if isinstance(s, Insert)]
        sure = _mentioned(s for s in inserts if s.where == TRUE and not s.binders)
        fresh = [binder for binder in effect.fresh if binder.name in _mentioned(inserts)]
        if not sure.issuperset(binder.name for binder in fresh):
            return None
        drawn = Counter(binder.sort for binder in fresh)
        outside = self.deployment.outside
        return ~m.disj(
            encoding.more_active(self.deployment.bounds[sort] - number, outside(sort, encoding.values[sort]))
            for sort, number in drawn.items()
        )

    # room in U_f for fresh values

    def _lacks(self, effect: Effect, values: Mapping[str, Value]) -> Bdd:
        """The states in which the active values of some sort and the fresh ones that the effect inserts,
        which differ from them, are together more than U_f has outside C."""
        lacking = []
        for sort, drawn in _fresh_counts(effect).items():
            others = self.deployment.outside(sort, self.restriction.values[sort])
            if drawn + self.deployment.bounds[sort] > len(others):
                active = [self.encoding.active(sort, value) for value in others]
                kept = [self._inserts(effect, b.name, values) for b in effect.fresh if b.sort == sort]
                lacking.append(self.manager.at_least(len(others) + 1, active + kept))
        return self.manager.disj(lacking)

    def _inserts(self, effect: Effect, name: str, values: Mapping[str, Value]) -> Bdd:
        """The states in which some insertion holds the value of the variable."""
        return self.manager.disj(
            when
            for s in effect.statements
            if isinstance(s, Insert) and name in free_variables(s.atom) - {b.name for b in s.binders}
            for _, when in self.writer.affected(s, values)
        )

    def _no_room(self, effect: Effect, values: Mapping[str, Value], outside: Bdd) -> Bdd:
        """Those of the states where U_f has no room for the fresh values that are inserted."""
        return outside & self._lacks(effect, values) if outside != self.manager.false else outside

    # actions

    def _ground(
        self, env: Environment, scope: Environment, condition: Bdd, effect: Effect
    ) -> Iterator[tuple[Mapping[str, Value], Bdd, Write]]:
        """The values of the variables that say where an alternative writes, what is left of its
        condition for them, and what it writes."""
        where_written = [name for name in scope if name in _written_variables(effect)]
        settled = {*env, *where_written}
        loose = frozenset(bits_of(term for name, term in scope.items() if name not in settled))
        condition = self.manager.exist(loose, condition)
        vectors = {name: scope[name] for name in where_written}
        for assignment, case in self.manager.cases(condition, bits_of(vectors.values())):
            values = {
                name: self.encoding.value(vector, assignment)
                for name, vector in vectors.items()
                if isinstance(vector, Vector)
            }
            yield values, case, self.writer.write(effect, values, case)

    # ensure

    def _ensure(self, env: Environment, effect: Effect) -> Bdd:
        """The relation of an `ensure` alternative: `when` read in D, its formulas in D ⊕ D'."""
        asked = conjunction(tuple(s.formula for s in effect.statements if isinstance(s, Ensure)))
        return self.manager.conj(
            [
                self.compiler.formula(effect.when, env),
                *(self.encoding.well_coded(field, primed=True) for field in self.encoding.fields),
                self.compiler.formula(asked, env, joint=True),
                self._least_names(),
            ]
        )

    @cached_property
    def _spare(self) -> Mapping[str, tuple[Value, ...]]:
        """Per sort the values of the encoding that are not in U_f."""
        return {
            sort: tuple(value for value in values if value not in self.restriction.members)
            for sort, values in self.encoding.values.items()
        }

    @cached_property
    def _spare_active(self) -> Bdd:
        """Over the copies of the state bits: D' is not over U_f."""
        active = self.encoding.active
        pairs = ((sort, value) for sort, values in self._spare.items() for value in values)
        return self.manager.disj(active(sort, value, primed=True) for sort, value in pairs)

    def _least_names(self) -> Bdd:
        """With representatives: the values that D' has and D has not are the least unused names."""
        m, encoding, conditions = self.manager, self.encoding, []
        if not self.naming.literal:
            for sort, values in encoding.values.items():
                smaller_used = m.true
                for value in self.deployment.outside(sort, values):
                    before = encoding.active(sort, value)
                    after = encoding.active(sort, value, primed=True)
                    conditions.append(before | ~after | smaller_used)
                    smaller_used = smaller_used & (before | after)
        return m.conj(conditions)


def _fresh_counts(effect: Effect) -> Mapping[str, int]:
    """How many fresh values of each sort the effect draws."""
    return Counter(binder.sort for binder in effect.fresh)


def _written_variables(effect: Effect) -> frozenset[str]:
    """The variables that an insertion or deletion mentions, its own binders excepted."""
    names: set[str] = set()
    for s in effect.statements:
        if isinstance(s, Insert | Delete):
            own = {binder.name for binder in s.binders}
            names |= (free_variables(s.atom) | free_variables(s.where)) - own
    return frozenset(names)


def _mentioned(inserts: Iterable[Insert]) -> frozenset[str]:
    """The variables of an effect that its insertions mention, their own binders excepted."""
    names = (free_variables(s.atom) - {binder.name for binder in s.binders} for s in inserts)
    return frozenset[str]().union(*names)
