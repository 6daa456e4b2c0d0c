"""Find what a verification has to keep beside the database: the last step and the past.

It keeps them as far as formulas are about them. One decision: a deployment that is `following` formulas has a
relation of its own for each `did`, `since` and `previously` in them (`Schema.history`), and in their place an
atom. So code that reads formulas or states need not handle the past. `deployment.history` defines what these
relations are, and the symbolic engine does so on diagrams. `once f` and `historically f` are `true since f`
and its dual by then. Two formulas that are equal except for the names of their free variables share a
relation: a state has each of them once.

Relevant are the specifications asked, guards, `when`, `where`, views, the policies that run, `fair` and
`terminal`; gates are in the guards. Nothing is kept for other formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.deployment.parts import AgentRole, Parts, Policy, View
from stead_sym.deployment.tool import Assign, Choose, Delete, Effect, Fresh, Insert, Statement, Tool
from stead_sym.errors import DeclarationError
from stead_sym.logic.printer import print_formula
from stead_sym.logic.substitution import substitute
from stead_sym.relational.schema import Relation, Schema

Scope: TypeAlias = Mapping[str, str]
"""The sort of each variable around a formula."""
Visit: TypeAlias = Callable[[fo.Expanded, Scope], fo.Expanded]


@dataclass(frozen=True, slots=True)
class LastStep:
    """`did ω(…)`: the ``relation`` has the arguments at these ``places`` of the last step.

    It has them if that step was a call of the ``tool``, by the ``agent`` unless it is None. ``whole``: it has
    all the arguments. ``refused``: `refused ω(…)`, the call was refused.
    """

    relation: Relation
    tool: str
    places: tuple[int, ...]
    agent: str | None
    whole: bool
    refused: bool = False


@dataclass(frozen=True, slots=True)
class SinceThen:
    """`f since g`: the ``relation`` has the values of the ``variables`` for which it is true."""

    relation: Relation
    variables: tuple[str, ...]
    left: fo.Formula
    right: fo.Formula


@dataclass(frozen=True, slots=True)
class Before:
    """`previously f`: the ``relation`` has the values of the ``variables`` for which it is true."""

    relation: Relation
    variables: tuple[str, ...]
    body: fo.Formula


Kept: TypeAlias = LastStep | SinceThen | Before


@dataclass(frozen=True, slots=True)
class History:
    """The relations that are kept beside the database; a formula within another one comes before it.

    ``agents``: the tools for whose last call the agent that made it is kept, with these agents. ``asked`` are
    the specifications that it is for, as text.
    """

    kept: tuple[Kept, ...] = ()
    agents: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    asked: tuple[str, ...] = field(default=(), compare=False)

    def __bool__(self) -> bool:
        """Return whether anything is kept."""
        return bool(self.kept)

    def __hash__(self) -> int:
        """Return the hash of what is kept."""
        return hash(self.kept)

    @property
    def relations(self) -> tuple[Relation, ...]:
        """Return the relations that are kept."""
        return tuple(each.relation for each in self.kept)

    @property
    def whole_steps(self) -> tuple[Relation, ...]:
        """Return the relations that record all arguments of the last step."""
        return tuple(each.relation for each in self.kept if isinstance(each, LastStep) and each.whole)

    def most_of_a_step(self, tools: Iterable[Tool], sort: str) -> int:
        """Return the largest number of parameters of the sort of a tool or event whose steps are kept."""
        named = {each.tool for each in self.kept if isinstance(each, LastStep)}
        return max((sum(p.sort == sort for p in t.params) for t in tools if t.name in named), default=0)


def history_of(
    parts: Parts, schema: Schema, specs: Iterable[fo.Expanded], running: Mapping[str, str]
) -> History:
    """Return the history that relevant formulas of the expanded parts, and the ``specs``, need.

    ``running`` has the name of the policy that decides for each agent.
    """
    following = _Following(parts, schema)
    mapped(parts, following, running)
    asked = [formula for formula in specs if fo.tells_of_steps(formula)]
    for formula in asked:
        following(formula, {})
    return History(tuple(following.kept.values()), following.agents, tuple(map(str, asked)))


def followed(parts: Parts, schema: Schema, history: History) -> Parts:
    """Return the expanded parts with an atom for each formula of which the history keeps the truth.

    A specification or a policy with other such formulas stays as it is, since it is not asked.
    """
    following = _Following(parts, schema, history)
    return mapped(parts, following, None)


def followed_formula(
    parts: Parts, schema: Schema, history: History, formula: fo.Expanded, scope: Scope
) -> fo.Expanded:
    """Return the formula with atoms of the history; raises `DeclarationError` if the history lacks one."""
    found = _Following(parts, schema, history)(formula, scope)
    if fo.tells_of_steps(found):
        raise DeclarationError(
            f"`{formula}` is about steps of which this verification keeps nothing; give it to `verify` among"
            " the questions",
            formula.span,
        )
    return found


class _Following:
    """The replacement of each formula of a history by an atom.

    Without a history it is made on the way, in ``kept``.
    """

    def __init__(self, parts: Parts, schema: Schema, history: History | None = None) -> None:
        self.schema = schema
        self.tools = {tool.name: tool for tool in parts.tools}
        self.having = {t: tuple(a.name for a in parts.agents if t in a.tools) for t in self.tools}
        self.making = {tool.carries: tool.name for tool in parts.tools if tool.carries is not None}
        self.grows = history is None
        self.kept: dict[str, Kept] = {each.relation.name: each for each in (history.kept if history else ())}
        self.agents: dict[str, tuple[str, ...]] = dict(history.agents if history else {})

    def __call__(self, formula: fo.Expanded, scope: Scope) -> fo.Expanded:
        if not fo.tells_of_steps(formula):
            return formula
        if isinstance(formula, fo.Quantified):
            inner = {**scope, formula.binder.name: formula.binder.sort}
            return replace(formula, body=self(formula.body, inner))
        formula = fo.map_children(
            lambda child: self(child, scope), formula
        )  # also in `count` and `sum` of terms
        if isinstance(formula, fo.Did):
            return self._did(formula)
        if isinstance(formula, fo.Past) and not any(map(fo.tells_of_steps, fo.children(formula))):
            return self._past(formula, scope)
        return formula

    def _did(self, formula: fo.Did) -> fo.Expanded:
        tool = self.tools[formula.tool]
        agent = None if tool.name in self.making else formula.agent  # only one agent has the tool
        if self.grows:
            if agent is not None and tool.name not in self.agents:
                self.agents[tool.name] = self.having[tool.name]
            whole = tuple(range(len(tool.params)))
            for who in (None, *self.agents.get(tool.name, ())):
                self._step(tool, whole, who, formula.refused)
        places = tuple(k for k, term in enumerate(formula.args) if not isinstance(term, fo.Wildcard))
        name = self._step(tool, places, agent, formula.refused)
        if name is None:
            return formula
        args, sorts = tuple(formula.args[k] for k in places), tuple(tool.params[k].sort for k in places)
        return fo.Atom(name, args, sorts=sorts, span=formula.span)

    def _step(self, tool: Tool, places: tuple[int, ...], agent: str | None, refused: bool) -> str | None:
        """Return the name of the relation; None if the history has no such relation."""
        blanks = (fo.Var(_blank(places.index(k))) if k in places else "_" for k in range(len(tool.params)))
        name = print_formula(fo.Did(tool.name, tuple(blanks), agent, refused))  # type: ignore[arg-type]
        if name not in self.kept:
            if not self.grows:
                return None
            sorts = tuple(tool.params[k].sort for k in places)
            relation = Relation(name, sorts, tells_history=True)
            whole = len(places) == len(tool.params)
            made = self.making.get(tool.name, tool.name)  # a call of a message is made when it is carried out
            self.kept[name] = LastStep(relation, made, places, agent, whole, refused)
        return name

    def _past(self, formula: fo.Past, scope: Scope) -> fo.Expanded:
        """Return the atom, or the formula itself if the history does not have it."""
        order = _in_order(formula)
        blanks = {name: fo.Var(_blank(k)) for k, name in enumerate(order)}
        general = substitute(formula, blanks)
        assert isinstance(general, fo.Past)
        sorts = tuple(scope[name] for name in order)
        name = spoken(general)
        while name in self.kept and self.kept[name].relation.sorts != sorts:
            name += "\N{PRIME}"
        if name not in self.kept:
            if not self.grows:
                return formula
            relation, names = Relation(name, sorts, tells_history=True), tuple(map(str, blanks.values()))
            match general:
                case fo.Since(left, right):
                    self.kept[name] = SinceThen(relation, names, left, right)
                case fo.Previously(body):
                    self.kept[name] = Before(relation, names, body)
        return fo.Atom(name, tuple(fo.Var(variable) for variable in order), span=formula.span)


def _blank(number: int) -> str:
    """Return the placeholder of an argument in the name of a relation of the history: `once Paid(‹1›)`."""
    return f"‹{number + 1}›"


def spoken(formula: fo.Past | fo.Did) -> str:
    """Return the formula as it is usually written: `once f` for `true since f`."""
    if isinstance(formula, fo.Since) and formula.left == fo.TRUE:
        return print_formula(fo.Derived("once", (formula.right,)))
    return print_formula(formula)


def _in_order(formula: fo.Formula) -> tuple[str, ...]:
    """Return the free variables in the order in which they first occur."""
    found: dict[str, None] = {}

    def visit(part: fo.Formula, bound: frozenset[str]) -> None:
        if isinstance(part, fo.Quantified):
            bound = bound | {part.binder.name}
        for term in fo.terms(part):
            if isinstance(term, fo.Var) and term.name not in bound:
                found[term.name] = None
        for child in fo.children(part):
            visit(child, bound)

    visit(formula, frozenset())
    assert found.keys() == fo.free_variables(formula)
    return tuple(found)


def mapped(parts: Parts, visit: Visit, running: Mapping[str, str] | None) -> Parts:
    """Return the parts with each formula replaced, except those of specifications.

    ``visit`` gets the sorts of the variables around the formula. Of the policies those are replaced that are
    ``running``. With None it is all policies, and the specifications too.
    """
    several = parts.agents or ()

    def policies(listed: tuple[Policy, ...], names: Iterable[str]) -> tuple[Policy, ...]:
        chosen = set(names)
        return tuple(
            _policy(policy, parts.tools, visit) if running is None or policy.name in chosen else policy
            for policy in listed
        )

    def agent(role: AgentRole) -> AgentRole:
        own = () if running is None else (running.get(role.name, ""),)
        return replace(role, views=_views(role.views, visit), policies=policies(role.policies, own))

    return replace(
        parts,
        tools=tuple(_tool(tool, visit) for tool in parts.tools),
        views=_views(parts.views, visit),
        policies=policies(parts.policies, () if running is None else running.values()),
        fair=tuple(visit(formula, {}) for formula in parts.fair),
        specs=parts.specs
        if running is not None
        else tuple(replace(spec, formula=visit(spec.formula, {})) for spec in parts.specs),
        agents=tuple(map(agent, several)),
        terminal=tuple(replace(line, when=visit(line.when, {})) for line in parts.terminal),
    )


def scoped_formulas(parts: Parts, running: Mapping[str, str] | None = None) -> list[tuple[fo.Formula, Scope]]:
    """Return the formulas that `mapped` visits, each with the sorts of the variables around it."""
    found = list[tuple[fo.Formula, Scope]]()

    def record(formula: fo.Expanded, scope: Scope) -> fo.Expanded:
        found.append((formula, dict(scope)))
        return formula

    mapped(parts, record, running)
    return found


def _views(views: tuple[View, ...], visit: Visit) -> tuple[View, ...]:
    return tuple(
        replace(view, where=visit(view.where, {p.name: p.sort for p in view.params})) for view in views
    )


def _policy(policy: Policy, tools: Iterable[Tool], visit: Visit) -> Policy:
    params = {tool.name: tool.params for tool in tools}

    def scope(tool: str, args: Iterable[fo.Term]) -> Scope:
        pairs = zip(args, params[tool], strict=True)
        return {term.name: param.sort for term, param in pairs if isinstance(term, fo.Var)}

    return replace(
        policy,
        rules=tuple(replace(r, when=visit(r.when, scope(r.tool, r.args))) for r in policy.rules),
    )


def _tool(tool: Tool, visit: Visit) -> Tool:
    scope = tool.scope
    return replace(
        tool,
        guard=visit(tool.guard, scope),
        effects=tuple(_effect(effect, scope, visit) for effect in tool.effects),
    )


def _effect(effect: Effect, scope: Scope, visit: Visit) -> Effect:
    inner, statements = dict(scope), list[Statement]()
    when = visit(effect.when, scope)
    for statement in effect.statements:
        match statement:
            case Choose(binder, where):
                inner[binder.name] = binder.sort
                statement = replace(statement, where=visit(where, inner))
            case Fresh(binder):
                inner[binder.name] = binder.sort
            case Insert(_, binders, where) | Delete(_, binders, where) | Assign(_, binders, where):
                own = {**inner, **{binder.name: binder.sort for binder in binders}}
                statement = replace(statement, where=visit(where, own))
            case _:
                pass
        statements.append(statement)
    return replace(effect, when=when, statements=tuple(statements))
