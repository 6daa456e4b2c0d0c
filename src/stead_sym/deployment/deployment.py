"""Represent the deployment A = ⟨E, T, Π⟩ as data: the content of a `.stead` file.

One decision: what is written is expanded here and nowhere else (`logic.syntax` describes the phases of
formulas, `deployment.expansion` does it). `Deployment.written` has the parts as they were written, for code
that prints or reviews them. The other attributes, and `Deployment.formula`, give expanded formulas, which the
semantics and the engines take.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.data.source import Loaded
from stead_sym.deployment.accepted import Accepted
from stead_sym.deployment.expansion import expanded
from stead_sym.deployment.following import History, followed, followed_formula, history_of
from stead_sym.deployment.messages import message_relations
from stead_sym.deployment.offered import offers
from stead_sym.deployment.parts import AgentRole, FairAction, Harness, Initially, Parts, Policy, Spec, View
from stead_sym.deployment.printer import print_initially, print_loaded, print_parts, print_texts
from stead_sym.deployment.tool import Tool
from stead_sym.errors import DeclarationError, Span
from stead_sym.logic.compose import as_formula
from stead_sym.logic.names import Head, Names, nearest
from stead_sym.logic.parser import parse_formula
from stead_sym.logic.sorts import resolve
from stead_sym.logic.substitution import expand
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Schema, Value, holds_message
from stead_sym.support.html import Displayed

Question: TypeAlias = str | fo.Formula
"""The name of a specification, or a sentence."""

_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Deployment(Displayed):
    """A STEAD except its agents: schema, D0, bounds, tools, views, specifications.

    ``init`` is D0, or, if there is an ``initially``, what every D0 includes. ``bounds`` has every unbounded
    sort as a key (0 if the file has no line). Of those that are ``unbounded`` (`bound case any`) any number
    of values may be in use: for these it has 0 too, and what needs a bound refuses them. ``written`` has
    resolved formulas; ``tools``, ``events``, ``agents``, ``fair`` and ``specs`` are the same parts expanded.
    ``text`` is what the deployment was parsed from, if it was and is complete.

    ``loaded`` are the files and databases that facts of ``init`` were read from, and ``stated`` the others,
    None if nothing was read. What a deployment is, and what it prints, depends on its facts only, and not on
    their source. ``accepted`` are the comments that accept findings. Behind the gates ``gated`` it is the
    deployment ``ungated`` with other guards (`deployment.gates`). With ``called`` agents call otherwise than
    in the deployment ``uncalled`` (`deployment.harness`). ``history`` is what states keep beside the
    database (`following`).
    """

    name: str
    schema: Schema
    init: Instance
    bounds: Mapping[str, int]
    written: Parts = field(default_factory=Parts)
    system: str | None = None
    instructions: str | None = None
    unbounded: frozenset[str] = frozenset()
    bound_spans: Mapping[str, Span] = field(
        default_factory=lambda: MappingProxyType({}), compare=False, repr=False
    )
    text: str | None = field(default=None, compare=False, repr=False)
    loaded: tuple[Loaded, ...] = field(default=(), compare=False, repr=False)
    stated: frozenset[Fact] | None = field(default=None, compare=False, repr=False)
    accepted: tuple[Accepted, ...] = field(default=(), compare=False, repr=False)
    gated: tuple[str, ...] = field(default=(), compare=False, repr=False)
    ungated: Deployment | None = field(default=None, compare=False, repr=False)
    called: str | None = field(default=None, compare=False, repr=False)
    uncalled: Deployment | None = field(default=None, compare=False, repr=False)
    history: History = field(default=History(), repr=False)

    def __str__(self) -> str:
        """Return the deployment as a `.stead` file."""
        return print_deployment(self)

    @cached_property
    def constants(self) -> Mapping[str, tuple[Value, ...]]:
        """Return C by sort: the values that a finite sort lists, or the identifiers of `init`.

        The latter include those with a text; they are sorted.
        """
        texts = {(text.sort, text.value) for text in self.schema.texts}
        return MappingProxyType(
            {
                sort.name: sort.values
                if sort.values is not None
                else tuple(
                    sorted(self.init.active_domain[sort.name] | {v for s, v in texts if s == sort.name})
                )
                for sort in self.schema.sorts
            }
        )

    @cached_property
    def sort_of_constant(self) -> Mapping[Value, str]:
        """Return the sort of every value of C; for a numeral, one of the sorts that list it."""
        return MappingProxyType({v: s for s, values in self.constants.items() for v in values})

    @cached_property
    def all_constants(self) -> frozenset[Value]:
        """Return C, the constants of all sorts."""
        return frozenset(self.sort_of_constant)

    def outside(self, sort: str, values: Iterable[Value]) -> tuple[Value, ...]:
        """Return those of the S-values that are not in C, in the given order."""
        known = frozenset(self.constants[sort])
        return tuple(value for value in values if value not in known)

    def within(self, bounds: Mapping[str, int]) -> Deployment:
        """Return the deployment with other bounds for some sorts, none of which is then `unbounded`."""
        return replace(
            self,
            bounds=MappingProxyType({**self.bounds, **bounds}),
            unbounded=self.unbounded.difference(bounds),
            text=None,
        )

    def with_tools(self, tools: Iterable[Tool], more: Sequence[Relation] = ()) -> Deployment:
        """Return the deployment with these tools and events, and with more relations, empty in D0."""
        written = replace(self.written, tools=tuple(tools))
        if not more:
            return replace(self, written=written, text=None)
        schema = replace(self.schema, relations=(*self.schema.relations, *more))
        return replace(
            self, schema=schema, init=replace(self.init, schema=schema), written=written, text=None
        )

    # The parts, expanded

    @cached_property
    def _expanded(self) -> Parts:
        parts = expanded(self.written, self.schema)
        return followed(parts, self.schema, self.history) if self.history else parts

    @cached_property
    def unfollowed(self) -> Deployment:
        """Return the deployment that keeps nothing beside the database."""
        if not self.history:
            return self
        schema = replace(self.schema, history=())
        return replace(self, schema=schema, init=Instance(schema, self.init.facts), history=History())

    def following(self, asked: Iterable[Spec], running: Mapping[str, str]) -> Deployment:
        """Return the deployment whose states keep the history that these specifications need.

        All other formulas that matter are included (`deployment.following`). It is this deployment if they
        are about no step and no past. ``running`` has the name of the policy that decides for each agent.
        """
        history = history_of(self._expanded, self.schema, (spec.formula for spec in asked), running)
        if not history:
            return self
        schema = replace(self.schema, history=history.relations)
        return replace(self, schema=schema, init=Instance(schema, self.init.facts), history=history)

    @cached_property
    def tools(self) -> tuple[Tool, ...]:
        """Return Ω with guards and effects: what agents call."""
        return tuple(tool for tool in self._expanded.tools if not tool.event)

    @cached_property
    def events(self) -> tuple[Tool, ...]:
        """Return the events, which happen without an agent."""
        return tuple(tool for tool in self._expanded.tools if tool.event)

    @property
    def in_batches(self) -> bool:
        """Return True if some agent makes several calls in one message (`deployment.messages`)."""
        return any(role.calls is not None for role in self.written.roles)

    def one_by_one(self) -> Deployment:
        """Return the deployment in which every agent makes one call and is asked again."""
        if not self.in_batches:
            return self
        agents = tuple(replace(agent, calls=None) for agent in self.written.agents)
        return self.calling(replace(self.written, agents=agents, calls=None))

    def calling(self, parts: Parts) -> Deployment:
        """Return the deployment with these parts, whose agents may call otherwise."""
        kept = (relation for relation in self.schema.relations if not holds_message(relation.name))
        schema = replace(self.schema, relations=(*kept, *message_relations(parts.roles, parts.tools)))
        return replace(self, schema=schema, init=Instance(schema, self.init.facts), written=parts, text=None)

    @property
    def harness(self) -> Harness:
        """Return how the agents are run where that is not in the file."""
        return Harness(self.gated, self.called)

    @property
    def may_end(self) -> fo.Expanded:
        """Return the condition of the `terminal` lines: a run may end there if no step is possible."""
        return fo.disjunction(tuple(line.when for line in self._expanded.terminal))

    @property
    def tools_and_events(self) -> tuple[Tool, ...]:
        """Return all that changes the state, in the order written."""
        return self._expanded.tools

    @cached_property
    def has_ensure(self) -> bool:
        """Return True if some tool or event has an `ensure`."""
        return any(tool.has_ensure for tool in self.tools_and_events)

    @cached_property
    def agents(self) -> tuple[AgentRole, ...]:
        """Return the agents, each with what it has from the file.

        An agent gets the views and texts of the file unless it has its own, and the policies, any of which it
        can be given. Without an `agent` item there is one agent, with an empty name.
        """
        parts = self._expanded
        return tuple(
            replace(
                role,
                views=role.views or parts.views,
                policies=(*role.policies, *parts.policies),
                system=self.system if role.system is None else role.system,
                instructions=self.instructions if role.instructions is None else role.instructions,
            )
            for role in parts.roles
        )

    @cached_property
    def initially(self) -> Initially | None:
        """Return the lines `initially any` as one, or None if D0 is `init`.

        It has all their relations, and the conjunction of their conditions.
        """
        lines = self._expanded.initially
        if not lines:
            return None
        relations = dict.fromkeys(name for line in lines for name in line.relations)
        return Initially(
            tuple(relations), fo.conjunction(tuple(line.where for line in lines)), span=lines[0].span
        )

    @property
    def views(self) -> tuple[View, ...]:
        """Return the `view` lines of the file, for agents without any of their own.

        If there are none, an agent is shown the whole state.
        """
        return self._expanded.views

    @property
    def policies(self) -> tuple[Policy, ...]:
        """Return the white-box agents of the file, which any agent can be given."""
        return self._expanded.policies

    @property
    def fair(self) -> tuple[fo.Expanded, ...]:
        """Return the fairness constraints on states."""
        return self._expanded.fair

    @property
    def fair_actions(self) -> tuple[FairAction, ...]:
        """Return the fairness constraints on actions."""
        return self.written.fair_actions

    @property
    def specs(self) -> tuple[Spec, ...]:
        """Return the specifications."""
        return self._expanded.specs

    @cached_property
    def names(self) -> Names:
        """Return the names that formulas over the deployment may mention."""
        tools = self.written.tools
        if self.in_batches:
            tools = expanded(self.written, self.schema).tools  # when a call may be written
        definitions = {
            **{definition.name: definition for definition in self.written.definitions},
            **offers(tools, self.schema),
        }
        return Names(self.schema, self.sort_of_constant, definitions, self._heads)

    @cached_property
    def _heads(self) -> Mapping[str, Head]:
        agents = self.written.agents
        return {
            tool.name: Head(
                tuple(param.sort for param in tool.params),
                tool.event,
                tuple(agent.name for agent in agents if tool.name in agent.tools),
            )
            for tool in self.written.tools
        }

    def formula(self, formula: fo.Raw | str, scope: Mapping[str, str] = _NOTHING) -> fo.Expanded:
        """Return a formula over the deployment, or the text of one, resolved and expanded.

        ``scope`` gives the sorts of its free variables; temporal operators are allowed. Raises `ParseError`
        and `DeclarationError`.
        """
        raw = parse_formula(formula) if isinstance(formula, str) else as_formula(formula)
        return self.told(
            expand(resolve(raw, self.names, scope, temporal=True), self.names.definitions), scope
        )

    def told(self, formula: fo.Expanded, scope: Mapping[str, str] = _NOTHING) -> fo.Expanded:
        """Return the formula over the relations of the `history`.

        Raises `DeclarationError` if it is about steps of which states keep nothing.
        """
        return (
            followed_formula(self._expanded, self.schema, self.history, formula, scope)
            if self.history
            else formula
        )

    def tool(self, name: str, span: Span | None = None) -> Tool:
        """Return the tool or event of that name; raises `DeclarationError` if there is none."""
        if name not in self._by_name:
            raise DeclarationError(f"unknown tool {name}; {_known(name, self.tools_and_events)}", span)
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> Mapping[str, Tool]:
        return {tool.name: tool for tool in self.tools_and_events}

    def tools_of(self, agent: AgentRole) -> tuple[Tool, ...]:
        """Return the tools of an agent."""
        return tuple(self.tool(name) for name in agent.tools)

    def agent(self, name: str) -> AgentRole:
        """Return the agent of that name; raises `DeclarationError` if there is none."""
        for agent in self.agents:
            if agent.name == name:
                return agent
        if self.agents[0].name == "":
            raise DeclarationError(f"there is no agent {name}: the deployment has one agent, without a name")
        raise DeclarationError(f"unknown agent {name}; {_known(name, self.agents)}")

    def chosen(self, names: Iterable[str] | None) -> tuple[Spec, ...]:
        """Return the specifications of these names (a text is one name), or all for None.

        Raises `DeclarationError` for an unknown name.
        """
        if names is None:
            return self.specs
        return tuple(map(self.spec, [names] if isinstance(names, str) else names))

    def asked(
        self, questions: Question | Iterable[Question] | None, deciding: Mapping[str, str] | None = None
    ) -> tuple[Deployment, tuple[Spec, ...]]:
        """Return the questions as specifications, with a deployment that has all of them.

        A question is the name of a specification, or a sentence as a formula or as text. Sentences become
        specifications of the deployment, each under its text. For None these are all of its own; if
        ``deciding`` is known, all that are for these agents (`Spec.is_for`).

        Raises `DeclarationError` for an unknown name and a formula that does not fit, and `ParseError`.
        """
        if questions is None:
            return self, tuple(s for s in self.specs if deciding is None or s.is_for(deciding, self.gated))
        listed = [questions] if isinstance(questions, str | fo.Formula) else list(questions)
        known = {spec.name for spec in self.written.specs}
        names: list[str] = []
        new: dict[str, Spec] = {}
        for question in listed:
            if isinstance(question, str) and (question in known or question.isidentifier()):
                names.append(question)
                continue
            raw = parse_formula(question) if isinstance(question, str) else as_formula(question)
            name = question if isinstance(question, str) else str(raw)
            names.append(name)
            new[name] = Spec(name, resolve(raw, self.names, temporal=True))
        kept = tuple(spec for spec in self.written.specs if spec.name not in new)
        asking = (
            replace(self, written=replace(self.written, specs=kept + tuple(new.values()))) if new else self
        )
        return asking, asking.chosen(dict.fromkeys(names))

    def spec(self, name: str) -> Spec:
        """Return the specification of that name; raises `DeclarationError` if there is none."""
        for spec in self.specs:
            if spec.name == name:
                return spec
        raise DeclarationError(f"unknown spec {name}; {_known(name, self.specs)}")

    def policy(self, name: str, role: AgentRole | None = None) -> Policy:
        """Return the policy of that name which an agent can be given, by default the first agent.

        Raises `DeclarationError` if there is none.
        """
        policies = (role or self.agents[0]).policies
        for policy in policies:
            if policy.name == name:
                return policy
        of = f" of agent {role.name}" if role is not None and role.name else ""
        raise DeclarationError(f"unknown policy {name}{of}; {_known(name, policies)}")


def as_deployment(deployment: object) -> Deployment:
    """Return the deployment, if it is one; raises `TypeError` otherwise."""
    if not isinstance(deployment, Deployment):
        raise TypeError(f"{deployment!r} is no deployment; `load` takes a file or the name of an example")
    return deployment


def print_deployment(deployment: Deployment, *, data: bool = True) -> str:
    """Return the text of the whole deployment, in the order in which its parts depend on each other.

    With ``data`` False the facts that were read from files and databases are left out. The items that read
    them are included, with how much they read as comments: for people, and for those with access to the
    files.
    """
    d, parts = deployment, deployment.written
    facts = d.init if data or d.stated is None else sorted(d.stated)
    bounds = [
        f"bound {sort} {number or 'any'}"
        for sort, number in d.bounds.items()
        if number or sort in d.unbounded
    ]
    blocks: list[Iterable[str]] = [
        [f"deployment {d.name}"],
        map(str, d.schema.sorts),
        (str(relation) for relation in d.schema.relations if not holds_message(relation.name)),
        map(str, d.schema.texts),
        ["init", *(f"  {fact}" for fact in facts)],
        *([] if data else map(print_loaded, d.loaded)),
        map(print_initially, parts.initially),
        bounds,
        *print_parts(parts),
        print_texts(d.system, d.instructions),
    ]
    return "\n\n".join(text for text in ("\n".join(block) for block in blocks) if text) + "\n"


def _known(name: str, items: Sequence[Tool | Spec | Policy | AgentRole]) -> str:
    """Return a known name close to the unknown one, or all names."""
    names = [item.name for item in items]
    listed = f"there are {', '.join(names)}" if names else "none is declared"
    return nearest(str(name), names, listed)
