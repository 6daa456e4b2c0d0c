"""Define the steps of a deployment in a concrete state.

The calls it offers and the events it enables, what it shows to each agent, and where a call or an event leads
are written from the definitions. The one decision: successors are computed over U_f and a few values beyond
it (`Restriction.beyond`), since the restriction →_f = → ∩ (D(U_f) × D(U_f)) constrains the two states of a
transition, not the witnesses of `fresh`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

import stead_sym.logic.syntax as fo
from stead_sym.deployment.callers import itself
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.ensure import allows, ensured
from stead_sym.deployment.history import actor_in, recorded
from stead_sym.deployment.parts import AgentRole
from stead_sym.deployment.restriction import Restriction
from stead_sym.deployment.tool import (
    Assign,
    Call,
    Choose,
    Clear,
    Delete,
    Effect,
    Ensure,
    Fresh,
    Insert,
    Statement,
    Tool,
)
from stead_sym.errors import DeclarationError
from stead_sym.logic.evaluate import denoted_by, holds, solutions
from stead_sym.relational.instance import Fact, Instance, broken_keys, broken_references, out_of_range
from stead_sym.relational.schema import Value


def offer(deployment: Deployment, state: Instance, agent: AgentRole | None = None) -> frozenset[Call]:
    """Return Offer(D) = { ω(u) : D ⊨ guard_ω(u) }, for the tools ω of an agent, or for all tools.

    u is over ad(D), or over all of U_S if the sort S is finite.
    """
    return _enabled_calls(
        deployment, deployment.tools if agent is None else deployment.tools_of(agent), state
    )


def enabled(deployment: Deployment, state: Instance) -> frozenset[Call]:
    """Return the events that may happen in D, as calls; their parameters range as those of tools do."""
    return _enabled_calls(deployment, deployment.events, state)


def possible(deployment: Deployment, state: Instance) -> frozenset[Call]:
    """Return the calls offered and the events enabled in D."""
    return _enabled_calls(deployment, deployment.tools_and_events, state)


def calls_of(deployment: Deployment, tool: Tool, state: Instance) -> frozenset[Call]:
    """Return the calls of one tool, or event, for which its guard is true in D."""
    return frozenset(each_call(deployment, tool, state, {}))


def each_call(
    deployment: Deployment, tool: Tool, state: Instance, fixed: Mapping[str, Value]
) -> Iterator[Call]:
    """Yield the calls of one tool, or event, with the ``fixed`` values for which its guard is true in D."""
    domains: dict[str, frozenset[Value]] = {}
    for param in sorted(tool.params, key=lambda param: param.name not in fixed):
        values = _range(deployment, param, state)
        domains[param.name] = values & {fixed[param.name]} if param.name in fixed else values
    for sigma in solutions(tool.guard, domains, state, {}):
        yield Call(tool.name, tuple(sigma[param.name] for param in tool.params))


def is_possible(deployment: Deployment, call: Call, state: Instance) -> bool:
    """Return whether the call is one of its tool, or event, in D (`calls_of`)."""
    tool = deployment.tool(call.tool)
    return all(
        value in _range(deployment, param, state) for param, value in zip(tool.params, call.args, strict=True)
    ) and holds(tool.guard, state, given(deployment, call))


def _enabled_calls(deployment: Deployment, tools: Iterable[Tool], state: Instance) -> frozenset[Call]:
    return frozenset(call for tool in tools for call in calls_of(deployment, tool, state))


def _range(deployment: Deployment, param: fo.Binder, state: Instance) -> frozenset[Value]:
    """Return the values that a parameter ranges over: a listed value can be chosen even if no fact has it."""
    listed = deployment.schema.sort(param.sort).values
    return state.active_domain[param.sort] if listed is None else frozenset(listed)


def view(deployment: Deployment, state: Instance, agent: AgentRole | None = None) -> Instance:
    """Return what an agent is shown of D: all of it, or what its `view` lines select.

    A fact is shown if some line for its relation has a `where` that is true of its values in D, and of `self`
    if the agent is one of many. Without ``agent`` it is the only one; raises `DeclarationError` if there are
    several.
    """
    if agent is None:
        agent, *others = deployment.agents
        if others:
            raise DeclarationError(
                f"there are several agents ({', '.join(a.name for a in deployment.agents)});"
                " say whose view is meant"
            )
    if not agent.views:
        return state.database
    shown: set[Fact] = set()
    me = itself(agent)
    for line in agent.views:
        names = tuple(param.name for param in line.params)
        shown.update(
            Fact(line.relation, args)
            for args in state.tuples(line.relation)
            if holds(line.where, state, {**me, **dict(zip(names, args, strict=True))})
        )
    return Instance(state.schema, frozenset(shown))


def shown(
    deployment: Deployment,
    state: Instance,
    agent: AgentRole,
    offered: Iterable[Call],
    told: Collection[str],
    known: Collection[Value] = (),
) -> Instance:
    """Return what an agent is shown that is offered these calls.

    Of the relations ``told`` of the past it is shown the facts about values that it is shown or offered, or
    that are ``known`` to it by name.
    """
    seen = view(deployment, state, agent)
    if not told:
        return seen
    names = {value for values in seen.active_domain.values() for value in values}
    names.update(known, *(call.args for call in offered))
    names.update(value for sort in deployment.schema.sorts for value in sort.values or ())
    facts = {fact for fact in state.facts if fact.relation in told and names.issuperset(fact.args)}
    return Instance(state.schema, seen.facts | facts)


@dataclass(frozen=True, slots=True)
class Successors:
    """τ(D, a), each state once.

    ``inside``: the successors over U_f, those of the restriction. ``outside``: successors in the infinite
    system that have a value beyond U_f, up to renaming the values beyond U_f.
    """

    inside: tuple[Instance, ...]
    outside: tuple[Instance, ...]

    @property
    def exist(self) -> bool:
        """Return whether the call has a successor at all: τ(D, a) ≠ ∅."""
        return bool(self.inside or self.outside)


def successors(deployment: Deployment, call: Call, state: Instance, restriction: Restriction) -> Successors:
    """Return τ(D, a) for D over U_f; it is empty if the guard of the call is false."""
    inside: dict[Instance, None] = {}
    outside: dict[Instance, None] = {}
    for after in outcomes(deployment, call, state, restriction):
        (inside if within(restriction, after) else outside)[after] = None
    return Successors(tuple(inside), tuple(outside))


def within(restriction: Restriction, state: Instance) -> bool:
    """Return whether the state is over U_f, that is, in D(U_f)."""
    return all(
        restriction.members.issuperset(values) if values else True for values in state.active_domain.values()
    )


def outcomes(
    deployment: Deployment,
    call: Call,
    state: Instance,
    restriction: Restriction,
    actor: str | None = None,
    *,
    by: int | None = None,
) -> Iterator[Instance]:
    """Yield the successors by a call of the agent ``actor``, with their history (`deployment.history`).

    See `databases` for their databases, and for ``by``.
    """
    sigma = given(deployment, call)
    for effect in _enabled(deployment, call, state, sigma, by):
        for database in _written(deployment, state, restriction, effect, sigma):
            yield recorded(deployment, state, call, actor, database, refused=effect.refused)


def databases(
    deployment: Deployment, call: Call, state: Instance, restriction: Restriction, by: int | None = None
) -> Iterator[Instance]:
    """Yield the databases of the successors one by one, inside or outside U_f, possibly repeated.

    With ``by`` these are only those by this alternative, from 0.

    Values beyond U_f, for U_S infinite:

    * For statements, one per `fresh` variable of the alternative. Then every D' of the infinite system is
      among the outcomes up to a renaming of values outside ad(D) ∪ C ∪ U_f. Every D' over U_f is an outcome
      itself, also if a `fresh` value that D' does not have had to come from beyond U_f.
    * For `ensure`, one. At the theorem's sizes U_f has at least 2·b_S values outside C, and D at most b_S. So
      with one more value each D' with up to b_S + 1 active values outside C is among the outcomes up to
      renaming. Whether a formula leads past a bound only further than that is decided in `deployment.leaps`.

    An outcome outside U_f but within the bounds needs no following at the theorem's sizes: D ⊕ D' has at most
    2·b_S values outside C, so some renaming that fixes ad(D) ∪ C takes D' to an outcome over U_f.
    """
    sigma = given(deployment, call)
    for effect in _enabled(deployment, call, state, sigma, by):
        yield from _written(deployment, state, restriction, effect, sigma)


def _written(
    deployment: Deployment,
    state: Instance,
    restriction: Restriction,
    effect: Effect,
    sigma: Mapping[str, Value],
) -> Iterator[Instance]:
    """Yield the databases that one alternative leads to."""
    if effect.is_ensure:
        domain = {s: (*known, *restriction.beyond(s, 1)) for s, known in restriction.values.items()}
        yield from ensured(postcondition(effect), state, domain, sigma)
    else:
        for draft in _drafts(deployment, state, restriction, effect, sigma):
            yield Instance(state.schema, (state.database.facts - draft.deleted) | draft.inserted)


def leads_to(
    deployment: Deployment,
    call: Call,
    state: Instance,
    after: Instance,
    restriction: Restriction,
    *,
    by: int | None = None,
) -> bool:
    """Return whether D' ∈ τ(D, a), for D over U_f; with ``by`` whether this alternative leads there.

    This is equivalent to D' being among the `outcomes`, but cheaper. The formula of an `ensure`, which may
    have as many outcomes as there are instances, is only evaluated for this one. For statements only their
    changes are compared, not all facts of each outcome.
    """
    actor = actor_in(deployment, call, after, None)
    now, then = state.database.facts, after.database.facts
    sigma, come, gone = given(deployment, call), then - now, now - then
    for effect in _enabled(deployment, call, state, sigma, by):
        if deployment.history and after != recorded(
            deployment, state, call, actor, after.database, refused=effect.refused
        ):
            continue
        if effect.is_ensure:
            if allows(postcondition(effect), state, after.database, restriction.values, sigma):
                return True
        elif any(
            come <= draft.inserted <= then
            and gone <= draft.deleted
            and then.isdisjoint(draft.deleted - draft.inserted)
            for draft in _drafts(deployment, state, restriction, effect, sigma)
        ):
            return True
    return False


def exceeded(deployment: Deployment, state: Instance) -> str | None:
    r"""Return a sort S with |(ad(D) \ C) ∩ U_S| > b_S, or None if the state keeps within all bounds."""
    for sort, active in state.active_domain.items():
        if sort in deployment.unbounded or sort not in deployment.bounds:
            continue
        if len(deployment.outside(sort, active)) > deployment.bounds.get(sort, 0):
            return sort
    return None


def breaks_claim(deployment: Deployment, state: Instance) -> bool:
    """Return whether the state breaks a claim of the deployment.

    It may exceed a bound, have two facts with one declared key, break a reference, or have an integer that is
    not in the sort of its column.
    """
    schema, facts = deployment.schema, state.facts
    return (
        exceeded(deployment, state) is not None
        or any(broken_keys(schema, facts))
        or any(broken_references(schema, facts))
        or any(out_of_range(schema, facts))
    )


def given(deployment: Deployment, call: Call) -> Mapping[str, Value]:
    """Return the values that a call gives to the parameters of its tool."""
    return deployment.tool(call.tool).given(call)


def _enabled(
    deployment: Deployment, call: Call, state: Instance, sigma: Mapping[str, Value], by: int | None
) -> Iterator[Effect]:
    """Yield the alternatives of a call that may be taken, or with ``by`` only that one if it may."""
    tool = deployment.tool(call.tool)
    among = tool.effects if by is None else tool.effects[by : by + 1]
    return (effect for effect in among if takes(tool, effect, state, sigma))


def takes(tool: Tool, effect: Effect, state: Instance, sigma: Mapping[str, Value]) -> bool:
    """Return whether an alternative may be taken in D: the guard of its tool and its `when` are true."""
    return holds(tool.guard, state, sigma) and holds(effect.when, state, sigma)


def postcondition(effect: Effect) -> fo.Formula:
    """Return the conjunction of the formulas of an effect in the paper's form."""
    formulas: list[fo.Formula] = []
    for statement in effect.statements:
        if not isinstance(statement, Ensure):
            raise DeclarationError(
                "`ensure` stands with other statements in one effect; write the whole effect in one form",
                statement.span or effect.span,
            )
        formulas.append(statement.formula)
    return fo.conjunction(tuple(formulas))


@dataclass(frozen=True, slots=True)
class _Draft:
    """The result of the statements up to now: σ, the fresh values taken, facts to insert and delete."""

    sigma: Mapping[str, Value]
    fresh: tuple[Value, ...] = ()
    inserted: frozenset[Fact] = frozenset()
    deleted: frozenset[Fact] = frozenset()

    def bind(self, binder: fo.Binder, value: Value) -> _Draft:
        return replace(self, sigma={**self.sigma, binder.name: value})


def _drafts(
    deployment: Deployment,
    state: Instance,
    restriction: Restriction,
    effect: Effect,
    sigma: Mapping[str, Value],
) -> Iterator[_Draft]:
    """Yield the result of an alternative of statements, for each choice of values.

    It leads to D' = (D minus deletes) plus inserts.
    """
    return _Write(deployment, state, restriction, effect)(effect.statements, _Draft(sigma))


class _Write:
    """The drafts of one alternative, its statements one after the other."""

    def __init__(
        self, deployment: Deployment, state: Instance, restriction: Restriction, effect: Effect
    ) -> None:
        self.state = state
        self.known = {s: state.active_domain[s].union(deployment.constants[s]) for s in restriction.values}
        sorts = [binder.sort for binder in effect.fresh]
        self.unused = {
            s: [u for u in restriction.values[s] if u not in self.known[s]] for s in dict.fromkeys(sorts)
        }
        self.beyond = {s: restriction.beyond(s, sorts.count(s)) for s in dict.fromkeys(sorts)}

    def __call__(self, statements: Sequence[Statement], draft: _Draft) -> Iterator[_Draft]:
        if not statements:
            yield draft
            return
        first, rest = statements[0], statements[1:]
        match first:
            case Choose(binder, where):
                domain = {binder.name: self.known[binder.sort]}
                for sigma in solutions(where, domain, self.state, draft.sigma):
                    yield from self(rest, draft.bind(binder, sigma[binder.name]))
            case Fresh(binder):
                for value in self._fresh(binder.sort, draft):
                    yield from self(rest, replace(draft.bind(binder, value), fresh=(*draft.fresh, value)))
            case Insert(atom, binders, where):
                facts = self._facts(atom, binders, where, draft)
                yield from self(rest, replace(draft, inserted=draft.inserted | facts))
            case Delete(atom, binders, where):
                facts = self._facts(atom, binders, fo.conjunction((atom, where)), draft)
                yield from self(rest, replace(draft, deleted=draft.deleted | facts))
            case Clear(relations):
                facts = frozenset(fact for fact in self.state.facts if fact.relation in relations)
                yield from self(rest, replace(draft, deleted=draft.deleted | facts))
            case Ensure():
                raise AssertionError("an effect with `ensure` has no other statements")
            case Assign():
                raise AssertionError(f"{first} is not expanded")
            case _:
                assert_never(first)

    def _fresh(self, sort: str, draft: _Draft) -> Iterator[Value]:
        """Yield the values of U_f outside ad(D) ∪ C that are not taken, then one beyond U_f.

        One is enough there: a renaming that keeps everything else exchanges any two of them.
        """
        yield from (u for u in self.unused[sort] if u not in draft.fresh)
        yield from [u for u in self.beyond[sort] if u not in draft.fresh][:1]

    def _facts(
        self, atom: fo.Atom, binders: tuple[fo.Binder, ...], where: fo.Formula, draft: _Draft
    ) -> frozenset[Fact]:
        """Return { P(t)σ' : σ' extends σ by active values for the binders, D ⊨ where }.

        An integer that is in no column's sort occurs in a fact nevertheless: a state with it breaks a claim.
        """
        domains = {binder.name: self.state.active_domain[binder.sort] for binder in binders}
        return frozenset(
            Fact(atom.relation, tuple(denoted_by(term, self.state, sigma) for term in atom.args))
            for sigma in solutions(where, domains, self.state, draft.sigma)
        )
