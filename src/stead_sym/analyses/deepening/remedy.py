"""Repairs: a small change of the deployment under which the growing sorts have bounds, verified first.

One decision: only a change that was verified is suggested. Each candidate is a deployment of its own whose
least bounds are computed; the first candidate for which they are established is suggested. Candidates are
tried in this order. A removal that leaves facts about a value behind also deletes these. A tool or event that
adds values gets a guard with `atmost`. If such a guard would block everything, a new tool that is always
offered removes values from the database.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.agents.roles import ANY, AgentLike, Wrappers
from stead_sym.agents.rules import RuleAgent
from stead_sym.analyses.bounds import Bounds, least_bounds
from stead_sym.analyses.deepening.growth import Growth
from stead_sym.deployment.claims import active_outside
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import Policy, Rule
from stead_sym.deployment.printer import print_statement
from stead_sym.deployment.tool import Delete, Effect, Tool
from stead_sym.errors import DeclarationError, DefinitionError, InputError, Undecided
from stead_sym.logic.substitution import fresh_name

_BOUND_MARGIN = 4
"""The number by which the least bounds of a changed deployment may exceed the numbers in its guards."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """A change that bounds a deployment.

    ``words`` describe it in the language, one line each. ``deployment`` is the result, and ``bounds`` are its
    least bounds. They are established under ``agent``: the same as before, or `any`.
    """

    words: tuple[str, ...]
    deployment: Deployment
    bounds: Bounds
    agent: str

    def __str__(self) -> str:
        """Return the change and the bounds that it leads to as a sentence."""
        lines = ", ".join(self.bounds.lines) or "no line `bound`"
        who = "whatever the agent does" if self.agent == ANY else f"under {self.agent}"
        return f"{'; '.join(self.words)}: then {lines} {'is' if ',' not in lines else 'are'} kept {who}"


_Change: TypeAlias = tuple[tuple[str, ...], Deployment]
"""A change in words, and the changed deployment."""


def remedy(deployment: Deployment, wrappers: Wrappers, growths: Sequence[Growth]) -> Remedy | None:
    """Return the first candidate under which the bounds of the deployment are established, or None.

    They are established under the given agents if these are rules, and otherwise under any agent: a changed
    deployment would give a model queries that it has not answered.
    """
    ruled = all(made is None or isinstance(made.agent, RuleAgent) for made in wrappers.values())
    deciding = {
        name: made.agent.name if made is not None and ruled else ANY for name, made in wrappers.items()
    }
    limit = _BOUND_MARGIN + max(_room(deployment, growth.sort) for growth in growths)
    for words, changed in _candidates(deployment, growths):
        if (bounds := _established(changed, deciding, limit)) is not None:
            fewer = _fewer(deployment, growths, words, deciding, limit)
            if fewer is not None:
                words, changed, bounds = fewer
            who = ", ".join(dict.fromkeys(deciding.values()))
            return Remedy(words, changed, bounds, who)
    return None


def _established(changed: Deployment, deciding: Mapping[str, AgentLike], limit: int) -> Bounds | None:
    """Return the least bounds of a deployment if they are established, and None otherwise."""
    try:
        bounds = least_bounds(changed, deciding, limit=limit)
    except (DefinitionError, InputError, Undecided):  # no call is offered or selected, or a limit is reached
        return None
    return bounds if bounds.outgrown is None else None


# the candidates


def _candidates(deployment: Deployment, growths: Sequence[Growth]) -> Iterator[_Change]:
    """Yield the changes to try, the smallest first."""
    yield from _removals(deployment, growths)
    guarded = _guarded(deployment, _sources(growths))
    yield guarded
    sorts = list(dict.fromkeys(growth.sort for growth in growths))
    for sort in sorts:
        yield _archived(guarded, sort)
    every = _guarded(deployment, _all_sources(deployment, growths))
    if every[0] != guarded[0]:
        yield every
        for sort in sorts:
            yield _archived(every, sort)


def _fewer(
    deployment: Deployment,
    growths: Sequence[Growth],
    words: tuple[str, ...],
    deciding: Mapping[str, AgentLike],
    limit: int,
) -> tuple[tuple[str, ...], Deployment, Bounds] | None:
    """Return the change with one guard if it is enough alone, and None otherwise."""
    sources = _all_sources(deployment, growths)
    if len(words) < 2 or len(sources) < 2:
        return None
    for source in sources:
        alone, changed = _guarded(deployment, (source,))
        if set(alone) < set(words) and (bounds := _established(changed, deciding, limit)) is not None:
            return alone, changed, bounds
    return None


_Source: TypeAlias = tuple[str, str]
"""A tool or event, and a sort of which it adds values."""


def _sources(growths: Iterable[Growth]) -> tuple[_Source, ...]:
    """Return the tools and events that add values along the loops."""
    return tuple(dict.fromkeys((tool, growth.sort) for growth in growths for tool in growth.sources))


def _all_sources(deployment: Deployment, growths: Iterable[Growth]) -> tuple[_Source, ...]:
    """Return all tools and events that may add values of the sorts that grow."""
    sorts = dict.fromkeys(growth.sort for growth in growths)
    return tuple((tool.name, s) for s in sorts for tool in deployment.tools_and_events if _drawn(tool, s))


def _drawn(tool: Tool, sort: str) -> int:
    """Return the largest number of fresh values of a sort that an effect of the tool draws."""
    return max(sum(binder.sort == sort for binder in effect.fresh) for effect in tool.effects)


def _room(deployment: Deployment, sort: str) -> int:
    """Return how many values a guard allows at most.

    It is the bound of the file, or the number of values that one call adds if that is larger.
    """
    drawn = max(_drawn(tool, sort) for tool in deployment.tools_and_events)
    return max(deployment.bounds[sort], drawn, 1)


def _removals(deployment: Deployment, growths: Sequence[Growth]) -> Iterator[_Change]:
    """Yield the changes by which a tool or event that deletes a fact about a value deletes the rest as well.

    The tool or event is in the loop, and the value of the sort that grows.
    """
    for growth in growths:
        for name in dict.fromkeys(growth.loop):
            tool = _written(deployment, name)
            for variable in _held(tool, growth.sort):
                gone = tuple(
                    statement
                    for left in growth.left
                    for statement in _all_about(deployment, left, variable, growth.sort)
                )
                if gone and _deletes_about(tool, variable):
                    listed = ", ".join(f"`{print_statement(statement)}`" for statement in gone)
                    changed = replace(tool, effects=tuple(_with(effect, gone) for effect in tool.effects))
                    yield (f"let {name} {listed}",), _with_tools(deployment, {name: changed})


def _held(tool: Tool, sort: str) -> tuple[fo.Var, ...]:
    """Return the parameters of a tool of the sort."""
    return tuple(fo.Var(param.name) for param in tool.params if param.sort == sort)


def _deletes_about(tool: Tool, variable: fo.Var) -> bool:
    return any(isinstance(s, Delete) and variable in s.atom.args for e in tool.effects for s in e.statements)


def _with(effect: Effect, gone: Sequence[Delete]) -> Effect:
    if effect.is_ensure:
        return effect
    return replace(effect, statements=(*effect.statements, *gone))


def _all_about(deployment: Deployment, relation: str, variable: fo.Var, sort: str) -> Iterator[Delete]:
    """Yield the statements that delete every fact of a relation with a value of the sort in some column."""
    columns = deployment.schema.relation(relation).sorts
    taken = {variable.name, *deployment.sort_of_constant}
    names = [fresh_name(f"y{k}", taken) for k in range(len(columns))]
    for place, column in enumerate(columns):
        if column == sort:
            args = tuple(variable if k == place else fo.Var(name) for k, name in enumerate(names))
            others = (fo.Binder(name, columns[k]) for k, name in enumerate(names) if k != place)
            yield Delete(fo.Atom(relation, args), tuple(others))


def _guarded(deployment: Deployment, sources: Iterable[_Source]) -> _Change:
    """Return the change by which each source waits until there is room for the values that it adds."""
    words: list[str] = []
    changed: dict[str, Tool] = {}
    for name, sort in sources:
        tool = changed.get(name, _written(deployment, name))
        number = _room(deployment, sort) - _drawn(tool, sort)
        room = active_outside(deployment, sort, "atmost", max(0, number))
        words.append(f"add `{room}` to the guard of {name}")
        changed[name] = replace(tool, guard=_joined(tool.guard, room))
    return tuple(words), _with_tools(deployment, changed)


def _archived(change: _Change, sort: str) -> _Change:
    """Return the change with a tool that removes any value of a sort, for every agent and policy."""
    words, deployment = change
    name = fresh_name(f"archive_{sort}", (tool.name for tool in deployment.tools_and_events))
    variable = fo.Var(fresh_name("x", deployment.sort_of_constant))
    constants = tuple(fo.Not(fo.Equal(variable, fo.Const(c))) for c in deployment.constants[sort])
    gone = tuple(
        statement
        for relation in deployment.schema.relations
        for statement in _all_about(deployment, relation.name, variable, sort)
    )
    tool = Tool(
        name,
        (fo.Binder(variable.name, sort),),
        f"Take a {sort} out of the database.",
        fo.conjunction(constants),
        (Effect(statements=gone),),
        event=any(role.each is not None for role in deployment.agents),  # whose tools take who calls
    )
    rule = Rule(name, (variable,))
    written = deployment.written
    does = ", ".join(f"`{print_statement(statement)}`" for statement in gone)
    if tool.event:
        said = f"add an event `{name}({variable}: {sort})` that can always happen: {does}"
        return (*words, said), deployment.with_tools((*written.tools, tool))
    added = replace(
        written,
        tools=(*written.tools, tool),
        policies=tuple(_ending(policy, rule) for policy in written.policies),
        agents=tuple(
            replace(
                agent,
                tools=(*agent.tools, name),
                policies=tuple(_ending(policy, rule) for policy in agent.policies),
            )
            for agent in written.agents
        ),
    )
    said = f"add a tool `{name}({variable}: {sort})` that can always run, last in each policy: {does}"
    return (*words, said), replace(deployment, written=added, text=None)


def _ending(policy: Policy, rule: Rule) -> Policy:
    return replace(policy, rules=(*policy.rules, rule))


def _joined(guard: fo.Formula, more: fo.Formula) -> fo.Formula:
    return more if guard == fo.TRUE else fo.And((guard, more))


def _written(deployment: Deployment, name: str) -> Tool:
    """Return the tool or event as it was written."""
    for tool in deployment.written.tools:
        if tool.name == name:
            return tool
    raise DeclarationError(f"unknown tool {name}")


def _with_tools(deployment: Deployment, changed: Mapping[str, Tool]) -> Deployment:
    tools = tuple(changed.get(tool.name, tool) for tool in deployment.written.tools)
    return deployment.with_tools(tools)
