"""The steps between abstract states, by the tools and events that may write a followed fact.

A variable of an alternative takes each constant and name of its sort and an `other` individual, or, if none
of the facts that are followed could tell, `any` one. A step that writes none of the facts is one from each
abstract state to itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from itertools import islice, product
from math import prod

import stead_sym.logic.syntax as fo
from stead_sym.analyses.local.facts import facts_in, projections
from stead_sym.analyses.local.moves import (
    Action,
    Certain,
    Context,
    Impossible,
    Move,
    Sure,
    conditions,
    in_terms,
)
from stead_sym.analyses.local.normal import Normal
from stead_sym.analyses.local.reading import Fixed, Known, Reading
from stead_sym.analyses.local.values import individual, is_constant, is_name, same
from stead_sym.analyses.local.writes import After, Kept, Outcomes, Write, occurring
from stead_sym.deployment.claims import can_take, can_take_effect
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.terminal import over
from stead_sym.deployment.tool import Choose, Delete, Effect, Fresh, Insert, Tool
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.errors import Undecided
from stead_sym.logic.activity import implies_active
from stead_sym.logic.kernel import Core, core
from stead_sym.logic.substitution import substitute
from stead_sym.relational.schema import Value

MOST_FAIR = 64
"""The maximum number of choices of values of an event whose constraint is used."""

MOST_SURE = 64
"""The maximum number of choices of values for which an alternative is looked at that can surely be taken."""

MOST_CHOICES = 4_096
"""The maximum number of choices of values of an alternative."""


class Steps:
    """The steps over the ``facts`` that are followed, ``bits`` for each: now and then."""

    def __init__(
        self,
        deployment: Deployment,
        normal: Normal,
        reading: Reading,
        bits: Mapping[Core, tuple[Bdd, Bdd]],
        outside: Callable[[Value], Bdd],
        open_part: Callable[[int], str],
        turns: Sequence[Sequence[Tool]],
        impossible: Sequence[Impossible],
        outcomes: Outcomes,
    ) -> None:
        """Build the steps; ``open_part``: see `Fixed`. What is ``impossible`` is no step.

        The ``outcomes`` are of steps over fewer facts, with the same bits (`Kept`).

        ``outside``: where a name stands for a value outside C. ``turns`` are the tools of each agent with a
        fairness constraint, guarded by what it selects.
        """
        self._open_part, self._turns, self._known = open_part, turns, impossible
        self._normal = normal
        self._sentences = Kept(reading.schema, bits, outcomes)
        self._deployment, self._reading, self._bits, self._outside = deployment, reading, bits, outside
        self._m = reading.manager
        self._constants = {s: [v for v in of if is_constant(v)] for s, of in reading.values.items()}
        self._names = frozenset(one for of in reading.values.values() for one in of if is_name(one))
        self._kept: dict[tuple[str, int], list[Move]] = {}
        self._columns = {
            (atom.relation, column)
            for fact in bits
            for atom, _ in occurring(fact)
            for column, term in enumerate(atom.args)
            if isinstance(term, fo.Const)
        }

    def actions(self) -> Iterator[Action]:
        """Yield the steps, each over the facts that it may change."""
        for tool in self._deployment.tools_and_events:
            for by, effect in enumerate(tool.effects):
                yield from self._of_alternative(tool, by, effect)

    def fair(self) -> Iterator[Sure]:
        """Yield what fairness constraints are about: events, for the values of each, and agents."""
        for event, given in self._constrained():
            enabled = self._surely(event, given, self._possible(event, given))
            if enabled != self._m.false:
                yield Sure(enabled, self._taken(event, range(len(event.effects)), given))
        for number, tools in enumerate(self._turns):
            enabled, moves = self._m.false, list[Move]()
            for tool in tools:
                moves += self._taken(self._in_turn(number, tool), range(len(tool.effects)), {})
                enabled = enabled | self._surely(tool, {}, self._possible(tool, {}))
            if enabled != self._m.false:
                yield Sure(enabled, tuple(moves))

    def _in_turn(self, number: int, tool: Tool) -> Tool:
        """Return the tool as an agent calls it: what another agent does with it is not this one's turn."""
        same = self._deployment.tool(tool.name).guard == tool.guard
        return tool if same else replace(tool, name=f"{tool.name} {number}")

    def moves(self) -> Iterator[Move]:
        """Yield all moves, those by an agent with a fairness constraint apart from those by others, too."""
        own = (self._in_turn(number, tool) for number, tools in enumerate(self._turns) for tool in tools)
        tools = {tool.name: tool for tool in (*self._deployment.tools_and_events, *own)}
        for tool in tools.values():
            for by in range(len(tool.effects)):
                yield from self._ways(tool, by)

    def _possible(self, tool: Tool, given: Mapping[str, Value]) -> fo.Formula:
        """Return that a tool can be called with these values, and some for the other parameters."""
        happens = fo.conjunction((tool.guard, can_take(self._deployment, tool, self._constants)))
        return self._normal(_for_some(self._deployment, tool, given, happens))

    def sure(self, exact: Set[str]) -> Iterator[Sure]:
        """Yield the alternatives that may change a followed fact, for values of some of the parameters.

        The other parameters have some values. An agent selects any call of the tools that are ``exact`` that
        it is offered. What writes integers that it computes is left out: they may be out of range.
        """
        for tool in self._deployment.tools_and_events:
            for by, effect in enumerate(tool.effects):
                if tool.name in exact and not effect.is_ensure and not effect.computed:
                    for given in self._given(tool):
                        moves = self._taken(tool, [by], given)
                        if any(move.action is not None for move in moves):
                            takes = can_take_effect(self._deployment, effect, self._constants)
                            happens = fo.conjunction((tool.guard, takes))
                            some = self._normal(_for_some(self._deployment, tool, given, happens))
                            enabled = self._surely(tool, given, some)
                            yield Sure(enabled, moves, frozenset(facts_in(some)))

    def certain(self, exact: Set[str], acting: Iterable[fo.Formula]) -> Iterator[Certain]:
        """Yield conditions under which a step is possible, whatever the agents select.

        They are the formulas ``acting``, and that a call of the tools that are ``exact`` is enabled.
        """
        for formula in acting:
            yield Certain(self._reading(formula), frozenset(facts_in(formula)))
        for tool in self._deployment.tools_and_events:
            if tool.name in exact and not any(e.is_ensure or e.computed for e in tool.effects):
                for given in self._given(tool):
                    some = self._possible(tool, given)
                    if not fo.free_variables(some):
                        known = Known(self._surely(tool, given, some), self._reading(some).may)
                        yield Certain(known, frozenset(facts_in(some)))

    def _given(self, tool: Tool) -> Iterator[Mapping[str, Value]]:
        """Yield values of some of the parameters, first of none."""
        ranges = [(None, *self._reading.values[param.sort]) for param in tool.params]
        for chosen in islice(product(*ranges), MOST_SURE):
            yield {p.name: value for p, value in zip(tool.params, chosen, strict=True) if value is not None}

    def fair_reads(self) -> frozenset[Core]:
        """Return the facts that decide if such an event is enabled, or an agent can make a call."""
        guards = [substitute(event.guard, in_terms(given)) for event, given in self._constrained()]
        guards += [self._possible(tool, {}) for tools in self._turns for tool in tools]
        may = (guard for guard in guards if self._reading(guard).may != self._m.false)
        return frozenset(fact for guard in may for fact in facts_in(guard))

    def _constrained(self) -> Iterator[tuple[Tool, Mapping[str, Value]]]:
        for name in sorted({str(one.name) for one in self._deployment.fair_actions if one.kind == "event"}):
            event = self._deployment.tool(name)
            ranges = [self._reading.values[param.sort] for param in event.params]
            if not event.has_ensure and prod(map(len, ranges)) <= MOST_FAIR:
                for chosen in product(*ranges):
                    yield event, {p.name: value for p, value in zip(event.params, chosen, strict=True)}

    def _surely(self, tool: Tool, given: Mapping[str, Value], some: fo.Formula) -> Bdd:
        """Return where a tool surely can be called with these values, and some for the other parameters.

        ``some`` is the condition of that (`_for_some`). All values are active there. It is nowhere if the
        condition has a fresh value, as a `choose` may.
        """
        for param in tool.params:
            if param.name not in given:
                continue
            if self._reading.schema.is_finite(param.sort):
                if is_name(given[param.name]):
                    return self._m.false
            elif not implies_active(core(tool.guard), param.name):
                return self._m.false
        return self._m.false if fo.free_variables(some) else self._reading(some).must

    def _taken(self, tool: Tool, alternatives: Iterable[int], given: Mapping[str, Value]) -> tuple[Move, ...]:
        """Return what some alternatives may do with these values."""
        return tuple(
            move
            for by in alternatives
            for move in self._ways(tool, by)
            if all(same(move.values[name], value) is not False for name, value in given.items())
        )

    def _ways(self, tool: Tool, by: int) -> Sequence[Move]:
        """Return the moves of an alternative, for all choices of values."""
        if (tool.name, by) not in self._kept:
            effect = tool.effects[by]
            if effect.is_ensure:  # it may lead anywhere
                action = Action(tool.name, by, {}, self._m.true, tuple(self._bits.values()), frozenset())
                self._kept[tool.name, by] = [Move(tool, by, {}, action, lambda: self._m.false)]
                return self._kept[tool.name, by]
            self._kept[tool.name, by] = [
                Move(
                    tool,
                    by,
                    values,
                    self._action(tool, by, effect, values),
                    partial(self._may, tool, by, values),
                )
                for values in self._choices(tool, effect)
            ]
        return self._kept[tool.name, by]

    def _may(self, tool: Tool, by: int, given: Mapping[str, Value]) -> Bdd:
        """Return where an alternative may be taken with these values."""
        effect, values = tool.effects[by], in_terms(given)
        enabled = self._enabled(effect, values, conditions(tool, effect, values))
        return enabled & ~self._impossible(tool, by, given)

    def _impossible(self, tool: Tool, by: int, values: Mapping[str, Value]) -> Bdd:
        """Return states in which an alternative is known not to be taken with these values."""
        return self._m.disj(
            self._m.conj(self._truth(*one) for one in known.context)
            for known in self._known
            if known.covers(tool.name, by, values, self._names)
            and all(fact in self._bits for fact, _ in known.context)
        )

    def _truth(self, fact: Core, true: bool) -> Bdd:
        now, _ = self._bits[fact]
        return now if true else ~now

    def context(self, states: Bdd, facts: Iterable[Core]) -> Context:
        """Return the truth values of those of the facts that have the same one in all the states."""
        both = ((fact, true) for fact in facts for true in (False, True))
        return frozenset(one for one in both if states <= self._truth(*one))

    def move_of(self, action: Action) -> Move:
        """Return the move with this step."""
        return next(move for move in self._kept[action.tool, action.by] if move.action is action)

    def _of_alternative(self, tool: Tool, by: int, effect: Effect) -> Iterator[Action]:
        if effect.is_ensure:
            yield from (move.action for move in self._ways(tool, by) if move.action is not None)
            return
        unread = {name: fo.Var(name) for name in _variables(tool, effect)}
        if not any(any(Write(effect, unread, self._reading).may_change(fact)) for fact in self._bits):
            return
        yield from (move.action for move in self._ways(tool, by) if move.action is not None)

    def _action(self, tool: Tool, by: int, effect: Effect, given: Mapping[str, Value]) -> Action | None:
        """Return the step of an alternative with these values; None if it changes no fact."""
        m, values = self._m, in_terms(given)
        fixed = Fixed(self._reading, self._open_part)
        write = Write(effect, values, self._reading, fixed)
        changes = {fact: ways for fact in self._bits if any(ways := write.may_change(fact))}
        if not changes:
            return None
        when = [*conditions(tool, effect, values)]
        step = self._enabled(effect, values, when) & ~self._impossible(tool, by, given)
        if step == m.false:
            return None
        bits = {fact: pair[fact in changes] for fact, pair in self._bits.items()}
        after = After(self._reading, write, bits, when, (tool.name, by), self._sentences)
        for fact, (up, down) in changes.items():
            now, then = self._bits[fact]
            if isinstance(fact, fo.Atom):
                known = write.after(fact, Known(now, now))
                when.extend(write.reads(fact))
            else:
                known = after.by_operator(fact)
                step = step & (~then | now | after.may_turn(fact, True) if up else ~then | now)
                step = step & (~now | then | after.may_turn(fact, False) if down else ~now | then)
            step = step & (~known.must | then) & (~then | known.may)
        if fixed.variables:
            step = m.and_exist(fixed.variables, step, m.true)
        reads = frozenset(fact for formula in when for fact in facts_in(formula))
        schema = self._reading.schema
        beyond = frozenset(fact for formula in when for fact in projections(formula, schema))
        return Action(
            tool.name, by, given, step, tuple(self._bits[fact] for fact in changes), reads, beyond - reads
        )

    def _enabled(self, effect: Effect, values: Mapping[str, fo.Term], formulas: Iterable[fo.Formula]) -> Bdd:
        """Return where the alternative may be taken with these values."""
        may = self._m.true
        for binder in effect.fresh:
            value = values[binder.name]
            assert isinstance(value, fo.Const)
            if is_name(value.value):
                may = may & self._outside(value.value) & self._in_no_fact(value.value)
        for formula in formulas:
            if may == self._m.false:
                break
            may = may & self._reading(formula).may
        return may

    def _in_no_fact(self, value: Value) -> Bdd:
        """Return where no followed atom with the value is true."""
        return self._m.conj(
            ~now
            for fact, (now, _) in self._bits.items()
            if isinstance(fact, fo.Atom) and fo.Const(value) in fact.args
        )

    def _choices(self, tool: Tool, effect: Effect) -> Iterator[Mapping[str, Value]]:
        """Yield the combinations of values that the variables of an alternative may have."""
        fresh = {binder.name for binder in effect.fresh}
        ranges = {
            binder.name: list(self._range(tool, effect, binder, binder.name in fresh))
            for binder in _variables(tool, effect).values()
        }
        number = 1
        for listed in ranges.values():
            number *= len(listed)
        if number > MOST_CHOICES:
            raise Undecided(f"{tool.name} has {number:,} choices of values that may matter")
        for chosen in product(*ranges.values()):
            values = dict(zip(ranges, chosen, strict=True))
            if all(
                same(values[one], value) is not True
                for one in fresh
                for other, value in values.items()
                if other != one and self._sorts(tool, effect)[other] == self._sorts(tool, effect)[one]
            ):
                yield values

    def _sorts(self, tool: Tool, effect: Effect) -> Mapping[str, str]:
        return {name: binder.sort for name, binder in _variables(tool, effect).items()}

    def _range(self, tool: Tool, effect: Effect, binder: fo.Binder, fresh: bool) -> Iterator[Value]:
        values = self._reading.values[binder.sort]
        if fresh:
            yield from filter(is_name, values)
            yield individual("new", binder.sort, binder.name)
        elif not self._matters(binder.name, tool, effect):
            yield individual("any", binder.sort, binder.name)
        else:
            yield from values
            if binder.sort in self._reading.open_sorts:
                yield individual("other", binder.sort, binder.name)

    def _matters(self, name: str, tool: Tool, effect: Effect) -> bool:
        """Return if the variable is compared, or stands in a column in which a followed fact has a value."""
        for formula in _formulas(tool, effect):
            for part in fo.subformulas(formula):
                match part:
                    case fo.Atom(relation, args):
                        if any(
                            (relation, column) in self._columns
                            for column, term in enumerate(args)
                            if term == fo.Var(name)
                        ):
                            return True
                    case fo.Equal() | fo.Compare() if fo.Var(name) in fo.terms(part):
                        return True
                    case _:
                        pass
        return False


def _for_some(
    deployment: Deployment, tool: Tool, given: Mapping[str, Value], condition: fo.Formula
) -> fo.Formula:
    """Return that a condition is true of the given values, and of some of the other parameters."""
    others = tuple(param for param in tool.params if param.name not in given)
    parts = [part for part in fo.conjuncts(core(substitute(condition, in_terms(given)))) if part != fo.TRUE]
    about = [part for part in parts if fo.free_variables(part)]
    some = over(fo.Exists, replace(tool, params=others), fo.conjunction(tuple(about)), deployment.schema)
    return fo.conjunction((*(part for part in parts if part not in about), some))


def _variables(tool: Tool, effect: Effect) -> Mapping[str, fo.Binder]:
    """Return the parameters of the tool and the variables of the alternative's statements."""
    own = (s.binder for s in effect.statements if isinstance(s, Choose | Fresh))
    binders = (*tool.params, *own)
    found = {binder.name: binder for binder in binders}
    if len(found) < len(binders):
        raise Undecided(f"{tool.name} has two variables of one name")
    return found


def _formulas(tool: Tool, effect: Effect) -> Iterator[fo.Formula]:
    """Yield the formulas that an alternative reads, and the atoms that it writes."""
    yield from (core(tool.guard), core(effect.when))
    for statement in effect.statements:
        if isinstance(statement, Choose):
            yield core(statement.where)
        elif isinstance(statement, Insert | Delete):
            yield statement.atom
            yield core(statement.where)
