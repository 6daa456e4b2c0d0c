"""Tools as BDDs: the states that offer their calls, and the steps of each alternative of an effect.

An alternative whose statements insert and delete becomes *actions*: one per choice of values for the
variables that its statements mention (they determine *where* it writes). The choices are enumerated by
descending through the values and pruning every branch on which the condition is already false. The variables
that only conditions mention stay log-coded and are quantified. Fresh values that may be any unused ones are
not enumerated: k of them over n values would be n^k actions that hardly differ. They are one-hot, the updates
of an action depend on them, and they are quantified at its end. Neither are numbers that a record holds: the
new bits of its field are functions of theirs, sums of adders (`updates`).

The cost of an action should depend on what it affects, not on the number of records. So the conjuncts of an
alternative's condition that depend on the state alone (`~exists c. Focus(c)`), with all records in them, are
kept out of the actions, and unconditional statements are compiled once (`updates`). With C the former, case_u
the rest of the condition for the values u, f_{u,b} the new values of the few bits that an action writes and
d_b those of all others, the steps of an alternative are

    C ∧ ⋁_u (case_u ∧ selectors = u ∧ ⋀_b b' ≡ (f_{u,b} or d_b)),

and `frame_conditions` computes the disjunction in one pass over the order of the bits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import count
from math import prod
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.integer_terms import out_of_range, without_integer_terms
from stead_sym.deployment.restriction import Restriction
from stead_sym.deployment.tool import Delete, Effect, Ensure, Insert, Tool, mentioned_variables
from stead_sym.engines.symbolic.bdd.manager import Bdd, Bits
from stead_sym.engines.symbolic.encode.mutex import Key
from stead_sym.engines.symbolic.encode.representatives import Draw, Naming, Place
from stead_sym.engines.symbolic.encode.values import Vector, bits_of
from stead_sym.engines.symbolic.step.conditions import ConditionCompiler, Conditions
from stead_sym.engines.symbolic.step.formulas import Compiler, Environment
from stead_sym.engines.symbolic.step.frame_conditions import Action, framed
from stead_sym.engines.symbolic.step.history import Histories
from stead_sym.engines.symbolic.step.parameters import Parameters
from stead_sym.engines.symbolic.step.room import Room
from stead_sym.engines.symbolic.step.updates import Shared, Write, Writer, shared_variables
from stead_sym.relational.schema import Value
from stead_sym.support.progress import Report

_FEW_CALLS = 64  # the maximum number of calls that are turned into selectors at once
_CALLS_PER_VALUE = 4  # the maximum number of calls per value that are enumerated
_MAX_GROUPS = 64  # the maximum number of groups of actions that share the updates of bulk statements

_Kind: TypeAlias = tuple[frozenset[str], tuple[tuple[str, Value], ...]]
"""The common properties of actions that share the updates of bulk statements.

These are the relations whose cleared fact each action determines, and the values of some variables.
"""


@dataclass(frozen=True, slots=True)
class ToolInterface:
    """A tool over the state bits and one vector per parameter.

    ``offered``: the parameters are active and the guard holds. ``effective``: some alternative has a
    successor in the infinite domain (where a fresh value always exists). ``params`` are log-coded, to
    enumerate calls; ``selectors`` represent the parameters in sets of selected calls.
    """

    tool: Tool
    params: tuple[Vector, ...]
    selectors: tuple[Vector, ...]
    offered: Bdd
    effective: Bdd


@dataclass(frozen=True, slots=True)
class CompiledTool:
    """A tool's interface with the steps of all its alternatives.

    ``steps`` ranges over the state bits, the successor's copies and the selectors: (D, call, D'). It is the
    union of ``alternatives``, the steps of each alternative. ``actions`` is the number of actions in it.

    ``exceeding``, over the state bits and the selectors: a successor over the encoding's values exceeds a
    bound, holds two facts with one declared key, or would hold an integer outside its column's sort. If the
    encoding has a care set, ``steps`` leads to no state beyond a bound, and to none with two facts of one key
    that have no code together.

    ``overflow``, over the same: an alternative inserts more fresh values of a sort than U_f has left. At the
    sizes of the theorem the bound is exceeded then.

    ``stuck``, over the state bits and the parameters, per fresh variable that is named after another value:
    the name is taken. ``broken``: the keys that the encoding relies on and the tool may violate.
    """

    interface: ToolInterface
    steps: Bdd
    alternatives: tuple[Bdd, ...]
    actions: int
    exceeding: Bdd
    overflow: Bdd
    stuck: Mapping[Draw, Bdd]
    broken: frozenset[Key]


@dataclass(frozen=True, slots=True)
class _Alternative:
    """The contribution of one alternative to its tool.

    The fields are those of `CompiledTool` and `ToolInterface`.
    """

    effective: Bdd
    steps: Bdd
    actions: int
    exceeding: Bdd
    overflow: Bdd
    stuck: Mapping[Draw, Bdd]
    broken: frozenset[Key]


class EffectCompiler:
    """A compiler of the tools of one deployment (definitions expanded) over a restriction U_f."""

    def __init__(
        self,
        deployment: Deployment,
        restriction: Restriction,
        compiler: Compiler,
        naming: Naming,
        writer: Writer,
    ) -> None:
        self.deployment = deployment
        self.naming = naming
        self.writer = writer
        self.compiler = compiler
        self.encoding = compiler.encoding
        self.manager = compiler.manager
        self.histories = Histories(deployment, compiler)
        self.room = Room(deployment, restriction, writer)
        self.conditions = ConditionCompiler(deployment, compiler, naming, self.room.spare)

    def tool(self, tool: Tool, report: Report) -> CompiledTool:
        """Return the BDDs of one tool; ``report`` gets the number of actions after each."""
        m = self.manager
        params = Parameters.of(self.encoding, tool)
        offering = tuple(self.compiler.offering(tool, params.vectors))
        offered = m.conj([*offering, self.encoding.care])
        known = count(1)

        def said() -> None:
            report(**{f"actions of {tool.name}": next(known)})

        parts = [
            self._ensuring(effect, params, offered, said)
            if effect.is_ensure
            else self._writing((tool.name, number), effect, params, offering, said)
            for number, effect in enumerate(tool.effects)
        ]
        effective = m.disj(part.effective for part in parts)
        alternatives = tuple(
            self.histories.after(tool, params, part.steps, refused=effect.refused)
            for part, effect in zip(parts, tool.effects, strict=True)
        )
        return CompiledTool(
            interface=ToolInterface(tool, params.vectors, params.selectors, offered, effective),
            steps=m.disj(alternatives),
            alternatives=alternatives,
            actions=sum(part.actions for part in parts),
            exceeding=m.disj(part.exceeding for part in parts),
            overflow=m.disj(part.overflow for part in parts),
            stuck={draw: where for part in parts for draw, where in part.stuck.items()},
            broken=frozenset[Key]().union(*(part.broken for part in parts)),
        )

    # An alternative of `insert`, `delete` and `clear`.

    def _writing(
        self,
        place: Place,
        effect: Effect,
        params: Parameters,
        offering: Sequence[Bdd],
        said: Callable[[], None],
    ) -> _Alternative:
        """Return an alternative that inserts and deletes: one action per choice of where it writes.

        All of ``offering`` must hold. ``said`` is called after each action.
        """
        m, conditions = self.manager, self.conditions.conditions(place, effect, params.scope)
        common, possible = self._split(params, conditions, offering)
        actions, exceeding, overflow = dict[_Kind, list[Action]](), m.false, m.false
        broken, breaking = set[Key](), list[tuple[frozenset[Key], Bdd]]()
        beyond = self.compiler.formula(out_of_range(effect, self.encoding.schema), conditions.scope)
        if beyond != m.false:
            exceeding = params.selected(m.exist(conditions.local, possible & beyond), {})
            possible = possible & ~beyond
        effect = without_integer_terms(effect, self.encoding.schema)
        if (room := self.room.before(effect)) is not None:
            exceeding = exceeding | params.selected(m.exist(conditions.local, possible & ~room), {})
            possible = possible & room
        loose = self._not_enumerated(effect, conditions)
        drawn = frozenset(bits_of(loose.values())) & conditions.local
        agreeing = sorted(self._agreeing(effect, conditions, loose.keys()))
        shared: dict[_Kind, Shared] = {}
        for values, case in self._ground(params, conditions, possible, effect, loose.keys()):
            terms: Environment = {**values, **loose}
            told = self.writer.told(effect, case)
            kind = frozenset(told), tuple((name, values[name]) for name in agreeing)
            if kind not in shared:
                shared[kind] = self.writer.shared(effect, common, kind[0], dict(kind[1]))
                breaking += shared[kind].write.breaking.items()
            written = self.writer.write(effect, terms, case, shared[kind], told)
            broken |= written.broken
            breaking += written.breaking.items()
            lacking = m.exist(drawn, self.room.lacking(effect, terms, case & written.outside))
            overflow = overflow | params.selected(lacking, values)
            inside = case & ~written.outside
            doubled = m.disj(written.doubled.values())
            exceeding = exceeding | params.selected(m.exist(drawn, inside & doubled), values)
            inside = inside & ~doubled
            if room is None:
                kept = self.room.after({**shared[kind].write.updates, **written.updates})
                too_many = m.exist(drawn, inside & ~kept)
                exceeding = exceeding | params.selected(too_many, values)
                inside = inside & kept
            if inside != m.false:
                action = self._action(params, values, loose.values(), drawn, inside, written)
                actions.setdefault(kind, []).append(action)
                said()
        for keys in dict(breaking):
            if common & m.disj(where for of, where in breaking if of == keys) != m.false:
                broken |= keys
        steps = m.disj(
            framed(self.encoding, made, params.selectors, shared[kind].write.updates)
            for kind, made in actions.items()
        )
        return _Alternative(
            effective=m.and_exist(conditions.local, m.conj(conditions.asked), conditions.drawn),
            steps=common & steps,
            actions=sum(map(len, actions.values())),
            exceeding=common & exceeding,
            overflow=common & overflow,
            stuck={
                draw: m.exist(conditions.local, m.conj([*offering, at]))
                for draw, at in conditions.taken.items()
            },
            broken=frozenset(broken),
        )

    def _not_enumerated(self, effect: Effect, conditions: Conditions) -> Mapping[str, Vector]:
        """Return the vectors that the updates of an action depend on: fresh values, and numbers.

        A number is enumerated if it distinguishes facts of several fields in some statement.
        """
        written = _written_vectors(effect, conditions)
        fields = set[fo.Term]()
        for statement in effect.statements:
            if isinstance(statement, Insert | Delete):
                within = self.writer.numbers(statement.atom.relation)
                fields |= {term for k, term in enumerate(statement.atom.args) if k not in within}
        return {
            name: vector
            for name, vector in written.items()
            if vector.one_hot or (vector.sort in self.encoding.first and fo.Var(name) not in fields)
        }

    def _agreeing(self, effect: Effect, conditions: Conditions, loose: Set[str]) -> Set[str]:
        """Return the variables whose values distinguish actions that share the updates of bulk statements.

        They are those of finite sorts, except ``loose`` ones, unless they have too many joint values.
        """
        sizes = {
            name: len(self.encoding.values[vector.sort])
            for name, vector in _written_vectors(effect, conditions).items()
            if self.encoding.schema.is_finite(vector.sort) and name not in loose
        }
        agreeing = shared_variables(effect, sizes.keys())
        return agreeing if prod(sizes[name] for name in agreeing) <= _MAX_GROUPS else frozenset()

    def _split(self, params: Parameters, conditions: Conditions, offering: Sequence[Bdd]) -> tuple[Bdd, Bdd]:
        """Return two sets whose intersection is where an alternative is possible.

        The first has the conditions on the state alone, the second those on the parameters and variables too.
        Over a care set they are not separated, since either can be exponentially larger than both.
        """
        m, encoding = self.manager, self.encoding
        asked = [*offering, *conditions.asked, conditions.drawn]
        if encoding.care != m.true:
            return m.true, m.conj([encoding.care, *asked])
        if m.false in asked:
            return m.false, m.false
        alone = [encoding.are_states(condition) for condition in asked]
        return (
            m.conj(condition for condition, of_state in zip(asked, alone, strict=True) if of_state),
            m.conj(condition for condition, of_state in zip(asked, alone, strict=True) if not of_state),
        )

    def _ground(
        self, params: Parameters, conditions: Conditions, possible: Bdd, effect: Effect, loose: Set[str]
    ) -> Iterator[tuple[Mapping[str, Value], Bdd]]:
        """Yield the values of the variables that determine where an alternative writes.

        Each comes with the cofactor of the ``possible`` steps. Variables of ``loose`` are left open.
        """
        m, written = self.manager, _written_vectors(effect, conditions)
        vectors = {name: vector for name, vector in written.items() if name not in loose}
        settled = frozenset(bits_of([*params.vectors, *written.values()]))
        possible = m.exist(conditions.local - settled, possible)
        named = dict(zip(params.names, params.vectors, strict=True))
        calls = vectors | {name: vector for name, vector in named.items() if name not in loose}
        if len(calls) > len(vectors) and self._are_gone_through(possible, calls.values()):
            vectors = calls
        bits = sorted(bits_of(vectors.values()), key=m.level)  # so that the enumeration builds no diagram
        for assignment, case in m.cases(possible, bits):
            yield {name: self.encoding.value(v, assignment) for name, v in vectors.items()}, case

    def _are_gone_through(self, possible: Bdd, vectors: Iterable[Vector]) -> bool:
        """Return True if there is an action for each choice of these vectors too.

        The effect mentions only some of them. There may be as many choices as pairs of records, which hardly
        differ. But if there are not many more than records, this takes linear time, whereas turning log-coded
        parameters into selectors (`Parameters.selected`) takes quadratic time.
        """
        m, encoding = self.manager, self.encoding
        bits = frozenset(bits_of(vectors))
        number = m.count(m.exist(frozenset(possible.support) - bits, possible), bits)
        return _FEW_CALLS < number <= _CALLS_PER_VALUE * sum(map(len, encoding.values.values()))

    def _action(
        self,
        params: Parameters,
        values: Mapping[str, Value],
        loose: Collection[Vector],
        drawn: Bits,
        where: Bdd,
        written: Write,
    ) -> Action:
        """Return the action that makes these updates in the states ``where``, for some values of ``drawn``.

        The updates may depend on the vectors ``loose``, of which ``drawn`` are the bits of those that are no
        parameters. The condition that the fresh vectors have one value is added to every bit: a bit of a
        log-coded field is a disjunction of bits of a one-hot vector, and several of them are a code, which is
        exponentially larger.
        """
        m, encoding = self.manager, self.encoding
        fresh = [vector for vector in loose if vector.one_hot]
        single = m.conj(encoding.valid(vector) | encoding.none(vector) for vector in fresh)
        bits = sorted(written.updates, key=m.level)
        after = m.conj(m.var(encoding.primed(bit)).equiv(written.updates[bit]) & single for bit in bits)
        if set(loose).isdisjoint(params.vectors):
            relation = m.and_exist(drawn, params.selected(where, values), after)
        else:
            relation = params.selected(m.and_exist(drawn, where, after), values)
        return Action(relation, params.touched(values) | written.updates.keys())

    # An alternative of `ensure`.

    def _ensuring(
        self, effect: Effect, params: Parameters, offered: Bdd, said: Callable[[], None]
    ) -> _Alternative:
        """Return an `ensure` alternative: one action, which may write every bit.

        ``said`` is called after it.
        """
        m, relation = self.manager, self._ensured(effect, params.scope)
        made = params.selected(offered & relation, {})
        within = made & self.room.care_after & ~self.room.spare_active
        said()
        return _Alternative(
            effective=m.exist(self.encoding.primed_bits, relation),
            steps=within,
            actions=1,
            exceeding=m.and_exist(self.encoding.primed_bits, made, ~self.room.care_after),
            overflow=m.false,
            stuck={},
            broken=frozenset(),
        )

    def _ensured(self, effect: Effect, env: Environment) -> Bdd:
        """Return the relation of an `ensure` alternative: `when` over D, its formulas over D ⊕ D'."""
        asked = fo.conjunction(tuple(s.formula for s in effect.statements if isinstance(s, Ensure)))
        relation = self.manager.conj(
            [
                self.compiler.formula(effect.when, env),
                *(self.encoding.well_coded(field, primed=True) for field in self.encoding.fields),
                self.compiler.formula(asked, env, joint=True),
            ]
        )
        for condition in self._least_names():  # their conjunction is large if the formula makes little active
            relation = relation & condition
        return relation

    def _least_names(self) -> Iterator[Bdd]:
        """Yield functions whose conjunction is that the new values of D' are the least unused names.

        There are none without representatives.
        """
        m, encoding = self.manager, self.encoding
        if not self.naming.literal:
            for sort, values in encoding.values.items():
                smaller_used = m.true
                for value in self.deployment.outside(sort, values):
                    before = encoding.active(sort, value)
                    after = encoding.active(sort, value, primed=True)
                    yield before | ~after | smaller_used
                    smaller_used = smaller_used & (before | after)


def _written_vectors(effect: Effect, conditions: Conditions) -> Mapping[str, Vector]:
    """Return the vectors of the variables that insertions and deletions mention."""
    statements = (s for s in effect.statements if isinstance(s, Insert | Delete))
    names = frozenset[str]().union(*map(mentioned_variables, statements))
    scope = conditions.scope.items()
    return {name: term for name, term in scope if name in names and isinstance(term, Vector)}
