"""Resolve items as they were written to a `Deployment`, with every check of what they declare.

One decision: deployments read from a file and those built in Python come as the same `Items`, whose parts are
the classes of the result with raw formulas. Items are in any order, so this goes by kind: schema, D0 and its
constants, definitions, and then everything that has formulas.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType

import stead_sym.logic.syntax as fo
from stead_sym.data.reading import Known, read_facts_from
from stead_sym.data.source import FactsFrom, Loaded
from stead_sym.deployment.callers import self_place
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.following import spoken
from stead_sym.deployment.messages import calls_in_messages, message_relations, refuse_beside_messages
from stead_sym.deployment.offered import offers, says_offered
from stead_sym.deployment.parts import (
    ANY,
    SELF,
    AgentRole,
    Calls,
    FairAction,
    Gate,
    Initially,
    Line,
    Parts,
    Policy,
    Rule,
    Spec,
    Terminal,
    View,
)
from stead_sym.deployment.resolve_texts import TextItem, with_texts
from stead_sym.deployment.resolve_tools import (
    declared_params,
    refuse_doubles,
    relation_signature,
    resolve_effects,
    resolve_head,
    scope_of,
)
from stead_sym.deployment.tool import Tool
from stead_sym.errors import DeclarationError, Span
from stead_sym.logic.names import Head, by_position, left_out
from stead_sym.logic.sorts import Names, check_name, expand, is_wildcard, nearest, resolve, substitute
from stead_sym.relational.instance import Fact, Instance, broken_keys, broken_references
from stead_sym.relational.schema import Relation, Schema, Sort, Value, is_numeral


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of text with its place."""

    text: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Bound:
    """`bound s n`, and `bound s any`, without a number."""

    sort: str
    number: int | None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class AgentItem:
    """`agent NAME` with the items that belong to it."""

    name: str
    tools: tuple[Text, ...] = ()
    views: tuple[View, ...] = ()
    policies: tuple[Policy, ...] = ()
    systems: tuple[Text, ...] = ()
    instructions: tuple[Text, ...] = ()
    calls: tuple[Calls, ...] = ()
    each: fo.Binder | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Items:
    """The items of a file, kind by kind, in the order written and with nothing checked."""

    titles: tuple[Text, ...]
    sorts: tuple[Sort, ...] = ()
    relations: tuple[Relation, ...] = ()
    texts: tuple[TextItem, ...] = ()
    facts: tuple[fo.Atom, ...] = ()
    loads: tuple[FactsFrom, ...] = ()
    bounds: tuple[Bound, ...] = ()
    definitions: tuple[fo.Definition, ...] = ()
    tools: tuple[Tool, ...] = ()
    views: tuple[View, ...] = ()
    policies: tuple[Policy, ...] = ()
    fair: tuple[fo.Raw | FairAction, ...] = ()
    specs: tuple[Spec, ...] = ()
    systems: tuple[Text, ...] = ()
    instructions: tuple[Text, ...] = ()
    agents: tuple[AgentItem, ...] = ()
    initially: tuple[Initially, ...] = ()
    terminal: tuple[Terminal, ...] = ()
    gates: tuple[Gate, ...] = ()
    calls: tuple[Calls, ...] = ()


def resolve_items(items: Items, folder: Path | None = None) -> Deployment:
    """Return the deployment; files that it reads are relative to the folder.

    Raises `DeclarationError` for what is missing, doubled or does not fit, and for files to be read without a
    folder; `InputError` for data that cannot be read.
    """
    plain = _schema(items)
    known = _initial(items.facts, plain)
    stated = frozenset(known.facts)
    loaded = _loaded(items.loads, known, folder)
    schema, constants = with_texts(items.texts, plain, known.constants)
    init = Instance(schema, frozenset(known.facts))
    if not items.initially:
        _refuse_dangling(init, items.facts)
    names = Names(schema, constants)
    refuse_doubles("tool", ((t.name, t.span) for t in items.tools))
    tools = tuple(replace(t, params=declared_params(t.name, t.params, names)) for t in items.tools)
    heads = _heads(tools, items.agents)
    definitions = _definitions(
        items.definitions, replace(names, definitions=offers(tools, schema), tools=heads)
    )
    defined = {d.name: d for d in definitions}
    names = Names(schema, constants, {**defined, **offers(tools, schema)}, heads)
    tools = tuple(resolve_head(tool, names) for tool in tools)
    names = replace(names, definitions={**defined, **offers(tools, schema)})
    for definition in names.definitions.values():
        use = fo.Use(definition.name, fo.variables_of(definition.params), span=definition.span)
        expand(use, names.definitions)  # refuses a cycle
    refuse_doubles("spec", ((s.name, s.span) for s in items.specs))
    tools = tuple(resolve_effects(tool, names) for tool in tools)
    by_name = {tool.name: tool for tool in tools}
    agents = _agents(items.agents, by_name, names)
    own = tuple(tool for tool in tools if not tool.event)
    calls = _calls("the agent", items.calls, own)
    roles = Parts(tools=tools, agents=agents, calls=calls).roles
    gates = _gates(items.gates, by_name, names)
    schema = replace(schema, relations=(*schema.relations, *message_relations(roles, tools)))
    names = replace(names, schema=schema)
    agents = tuple(
        replace(
            role,
            views=_views(item.views, names, item.each),
            policies=_policies(item.policies, by_name, names, item.each),
        )
        for role, item in zip(agents, items.agents, strict=True)
    )
    fair = [_constraint(line, names) for line in items.fair]
    policies = [p.name for p in (*items.policies, *(p for agent in items.agents for p in agent.policies))]
    shared = _policies(items.policies, by_name, names)
    _refuse_other_callers(agents, by_name, (*shared, *(p for agent in agents for p in agent.policies)))
    actions = tuple(
        _fair_action(line, by_name, agents, names) for line in fair if isinstance(line, FairAction)
    )
    refuse_beside_messages(roles, actions)
    for viewed, listed in (
        (items.views or any(agent.views for agent in agents), shared),
        *((items.views or agent.views, agent.policies) for agent in agents),
    ):
        if viewed:
            _refuse_offered(listed, names)
    written = Parts(
        tools=tools,
        definitions=definitions,
        views=_views(items.views, names),
        policies=shared,
        fair=tuple(
            _without_past("fair", resolve(line, names), names, did=True)
            for line in fair
            if not isinstance(line, FairAction)
        ),
        fair_actions=actions,
        specs=tuple(
            _spec(spec, names, [*policies, *(a.name for a in agents)], [g.name for g in items.gates])
            for spec in items.specs
        ),
        agents=agents,
        initially=tuple(_initially(line, names) for line in items.initially),
        gates=gates,
        calls=calls,
        terminal=tuple(replace(line, when=resolve(line.when, names)) for line in items.terminal),
    )
    return Deployment(
        name=_title(items.titles),
        schema=schema,
        init=Instance(schema, init.facts),
        loaded=loaded,
        stated=stated if loaded else None,
        bounds=_bounds(items.bounds, schema),
        unbounded=frozenset(bound.sort for bound in items.bounds if bound.number is None),
        written=written,
        system=_text("system", items.systems),
        instructions=_text("instructions", items.instructions),
        bound_spans=MappingProxyType({b.sort: b.span for b in items.bounds if b.span is not None}),
    )


def _heads(tools: Iterable[Tool], agents: Iterable[AgentItem]) -> Mapping[str, Head]:
    """Return the heads of the tools and events, for `did`."""
    return {
        tool.name: Head(
            tuple(param.sort for param in tool.params),
            tool.event,
            tuple(a.name for a in agents if any(text.text == tool.name for text in a.tools)),
        )
        for tool in tools
    }


def _without_past(word: str, formula: fo.Resolved, names: Names, *, did: bool = False) -> fo.Resolved:
    """Return the formula, which follows the ``word``.

    Raises `DeclarationError` if it is about the past, or unless ``did`` about a step, perhaps by a
    definition.
    """
    for part in fo.subformulas(expand(formula, names.definitions)):
        if isinstance(part, fo.Past) or (isinstance(part, fo.Did) and not did):
            why = (
                "it is to hold again and again; ask it of the present, or keep what was in a relation"
                if did
                else "no step leads to an initial state; leave it out"
            )
            raise DeclarationError(
                f"`{spoken(part)}` cannot stand in `{word}`: {why}",
                part.span or formula.span,
            )
    return formula


def _refuse_offered(policies: Iterable[Policy], names: Names) -> None:
    """Refuse `offered` in policies of agents that are not shown all that guards and gates read."""
    for policy in policies:
        for rule in policy.rules:
            if says_offered(rule.when, names.definitions):
                raise DeclarationError(
                    f"policy {policy.name} says `offered`, which is about the whole state, but its agent has"
                    " views; write a condition on what is shown",
                    rule.when.span or rule.span,
                )


def _title(titles: tuple[Text, ...]) -> str:
    if not titles:
        raise DeclarationError("the deployment has no name; start with `deployment NAME`")
    if len(titles) > 1:
        raise DeclarationError("a second `deployment` line; a file holds one deployment", titles[1].span)
    check_name("deployment", titles[0].text, titles[0].span, words=False)
    return titles[0].text


def _text(kind: str, texts: tuple[Text, ...]) -> str | None:
    if len(texts) > 1:
        raise DeclarationError(f"a second `{kind}` text; join the two", texts[1].span)
    for text in texts:
        if '"""' in text.text:
            raise DeclarationError(f'the `{kind}` text holds """, which ends a text; leave it out', text.span)
        return text.text
    return None


def _schema(items: Items) -> Schema:
    for sort in items.sorts:
        check_name("sort", sort.name, sort.span, words=False)
        for value in () if sort.is_numeric else sort.values or ():
            if value not in ("true", "false"):
                check_name("value", value, sort.span)
    for relation in items.relations:
        check_name("relation", relation.name, relation.span)
        named = [name for name in relation.columns if name]
        for name in named:
            check_name("column", name, relation.span, words=False)
        refuse_doubles(f"column of {relation.name},", ((name, relation.span) for name in named))
    refuse_doubles("sort", ((s.name, s.span) for s in items.sorts))
    refuse_doubles("relation", ((r.name, r.span) for r in items.relations))
    return Schema(items.sorts, items.relations)


def _loaded(loads: tuple[FactsFrom, ...], known: Known, folder: Path | None) -> tuple[Loaded, ...]:
    """Read the files and databases, and add their facts and constants to the known ones."""
    if loads and folder is None:
        raise DeclarationError(
            "a text alone reads no files and no databases; load the deployment from its file, or give the"
            " folder that its files are in",
            loads[0].span,
        )
    return tuple(read_facts_from(item, known, folder) for item in loads if folder is not None)


def _initial(facts: tuple[fo.Atom, ...], schema: Schema) -> Known:
    """Return the facts of D0, and the constants with their sorts.

    The constants are the listed values and the identifiers of D0.
    """
    constants = {value: sorts[0] for value, sorts in schema.listed.items()}
    origin: dict[Value, Span | None] = {}
    names = Names(schema)
    found = []
    for written in facts:
        atom, sorts = by_position(written, names), names.signature(written.relation, written.span)
        if missing := left_out(written, schema.relation(written.relation)):
            raise DeclarationError(
                f"a fact of {atom.relation} has a value in every column; add {missing}", atom.span
            )
        if len(atom.args) != len(sorts):
            raise DeclarationError(
                f"the fact {atom} has {len(atom.args)} arguments, but {atom.relation} takes {len(sorts)}; "
                "give it that many",
                atom.span,
            )
        if any(map(fo.is_compound, atom.args)):
            raise DeclarationError(f"the fact {atom} has a sum in it; write the number", atom.span)
        for position, (term, sort) in enumerate(zip(atom.args, sorts, strict=True), 1):
            value, span = str(term), term.span or atom.span
            place = f"argument {position} of {atom.relation}"
            listed = schema.sort(sort)
            if listed.values is not None and value not in listed.rank:
                raise DeclarationError(
                    f"{value} is no value of sort {sort}, which {place} takes; write"
                    f" {' or '.join(listed.values)}",
                    span,
                )
            if listed.values is None and constants.setdefault(value, sort) != sort:
                first = origin.get(value)
                since = f" (from {first.line}:{first.column})" if first else ""
                raise DeclarationError(
                    f"{value} is of sort {constants[value]}{since}, but {place} takes {sort}; "
                    "rename one of the two",
                    span,
                )
            if value not in schema.listed:
                check_name("constant", value, span)
                origin.setdefault(value, span)
        found.append(Fact(atom.relation, tuple(map(str, atom.args))))
    for one, other in broken_keys(schema, found):
        raise DeclarationError(
            f"{one} and {other} have the same key, of which a state may hold one fact; remove one",
            next(atom.span for atom in facts if str(atom) == str(other)),
        )
    keyed: dict[tuple[str, object], Fact] = {}
    for fact in found:
        if keys := schema.relation(fact.relation).keys:
            keyed[fact.relation, itemgetter(*keys)(fact.args)] = fact
    return Known(schema, constants, set(found), keyed)


def _refuse_dangling(init: Instance, written: tuple[fo.Atom, ...]) -> None:
    """Refuse a D0 that breaks a reference."""
    broken = sorted(broken_references(init.schema, init.facts), key=lambda pair: (pair[1].name, pair[0]))
    for fact, reference in broken:
        value = fact.args[reference.column]
        raise DeclarationError(
            f"{fact} is in `init`, but {value} is in no fact of {reference.target}, where `{reference.name}`"
            f" claims one; add it to `init`",
            next((atom.span for atom in written if str(atom) == str(fact)), reference.span),
        )


def _bounds(bounds: tuple[Bound, ...], schema: Schema) -> Mapping[str, int]:
    names = Names(schema)
    refuse_doubles("the bound of", ((b.sort, b.span) for b in bounds))
    for bound in bounds:
        if schema.is_finite(names.sort(bound.sort, bound.span)):
            raise DeclarationError(
                f"sort {bound.sort} is finite: its values are all constants, which no bound limits; "
                "remove the line",
                bound.span,
            )
        if bound.number is not None and bound.number < 0:
            raise DeclarationError(
                f"the bound of {bound.sort} is {bound.number}; write 0 or more", bound.span
            )
    claimed = {bound.sort: bound.number or 0 for bound in bounds}
    return MappingProxyType({sort: claimed.get(sort, 0) for sort in schema.infinite_sorts})


def _definitions(written: tuple[fo.Definition, ...], names: Names) -> tuple[fo.Definition, ...]:
    """Return the definitions, resolved over ``names``, which have those of `offered` already."""
    refuse_doubles("define", ((d.name, d.span) for d in written))
    headed = []
    for definition in written:
        check_name("define", definition.name, definition.span)
        if names.schema.has_relation(definition.name):
            raise DeclarationError(
                f"{definition.name} is a relation as well as a define; rename one", definition.span
            )
        headed.append(replace(definition, params=declared_params(definition.name, definition.params, names)))
    names = replace(names, definitions={**names.definitions, **{d.name: d for d in headed}})
    return tuple(replace(d, body=resolve(d.body, names, scope_of(d.params))) for d in headed)


def _view(view: View, names: Names, each: fo.Binder | None) -> View:
    signature = relation_signature(view.relation, names, view.span)
    if len(view.params) != len(signature):
        raise DeclarationError(
            f"the view of {view.relation} names {len(view.params)} columns of {len(signature)}; "
            "name them all",
            view.span,
        )
    refuse_doubles(f"column of the view of {view.relation},", ((p.name, p.span) for p in view.params))
    for param, sort in zip(view.params, signature, strict=True):
        check_name("column", param.name, param.span)
        if param.known_sort not in (None, sort):
            raise DeclarationError(
                f"column {param.name} of {view.relation} is of sort {sort}, not {param.known_sort}; "
                "leave the sort out",
                param.span or view.span,
            )
    params = tuple(
        replace(p, known_sort=s, default=None) for p, s in zip(view.params, signature, strict=True)
    )
    if each is None:
        return replace(view, params=params, where=resolve(view.where, names, scope_of(params)))
    for param in params:
        if param.name in (SELF, each.name):
            raise DeclarationError(
                f"column {param.name} of the view of {view.relation} has the name of the agent; take another",
                param.span or view.span,
            )
    where = resolve(view.where, names, {**_selves(each), **scope_of(params)})
    return replace(view, params=params, where=substitute(where, {each.name: fo.Var(SELF)}))


def _selves(each: fo.Binder) -> dict[str, str]:
    """Return the sort of `self`, and of the agent's own name for it."""
    return dict.fromkeys((SELF, each.name), each.sort)


def _views(views: tuple[View, ...], names: Names, each: fo.Binder | None = None) -> tuple[View, ...]:
    refuse_doubles("view of", ((v.relation, v.span) for v in views))
    return tuple(_view(view, names, each) for view in views)


def _policies(
    policies: tuple[Policy, ...], tools: Mapping[str, Tool], names: Names, each: fo.Binder | None = None
) -> tuple[Policy, ...]:
    refuse_doubles("policy", ((p.name, p.span) for p in policies))
    return tuple(_policy(policy, tools, names, each) for policy in policies)


def _refuse_other_callers(
    agents: Iterable[AgentRole], tools: Mapping[str, Tool], policies: Iterable[Policy]
) -> None:
    """Refuse rules that name another caller than `self` for a tool of many agents."""
    many = {name: agent for agent in agents if agent.each is not None for name in agent.tools}
    for policy in policies:
        for rule in policy.rules:
            if rule.tool in many and rule.args[self_place(tools[rule.tool])] != fo.Var(SELF):
                raise DeclarationError(
                    f"policy {policy.name} is of one {many[rule.tool].name}, which calls {rule.tool} itself;"
                    f" write `{SELF}` for its parameter {SELF}",
                    rule.span,
                )


def _agents(agents: tuple[AgentItem, ...], tools: Mapping[str, Tool], names: Names) -> tuple[AgentRole, ...]:
    """Return the agents without their views and policies."""
    refuse_doubles("agent", ((agent.name, agent.span) for agent in agents))
    roles = tuple(_agent(agent, tools, names) for agent in agents)
    _refuse_shared_selves(roles)
    given = {name for role in roles for name in role.tools}
    for tool in tools.values() if agents else ():
        if not tool.event and tool.name not in given:
            raise DeclarationError(
                f"the tool {tool.name} belongs to no agent; name it in the `tools` of one,"
                " or make it an `event`",
                tool.span,
            )
    return roles


def _agent(agent: AgentItem, tools: Mapping[str, Tool], names: Names) -> AgentRole:
    check_name("agent", agent.name, agent.span, words=False)
    if not agent.tools:
        raise DeclarationError(
            f"agent {agent.name} has no tools; write `tools …` below it, indented", agent.span
        )
    refuse_doubles(f"tool of {agent.name},", ((tool.text, tool.span) for tool in agent.tools))
    for tool in agent.tools:
        if tool.text not in tools:
            hint = nearest(tool.text, tools, f"declare it with `tool {tool.text}(…)`")
            raise DeclarationError(f"unknown tool {tool.text} of {agent.name}; {hint}", tool.span)
        _refuse_event(tools[tool.text], tool.span)
    each = None
    if agent.each is not None:
        check_name("variable", agent.each.name, agent.each.span)
        each = names.sort(agent.each.sort, agent.each.span)
        _refuse_without_self(agent, each, tools)
    return AgentRole(
        agent.name,
        tuple(tool.text for tool in agent.tools),
        system=_text("system", agent.systems),
        instructions=_text("instructions", agent.instructions),
        calls=_calls(f"agent {agent.name}", agent.calls, [tools[tool.text] for tool in agent.tools]),
        each=each,
        span=agent.span,
    )


def _refuse_without_self(agent: AgentItem, each: str, tools: Mapping[str, Tool]) -> None:
    """Refuse what an agent for each value of a sort cannot have."""
    for tool in agent.tools:
        if not any(param.name == SELF and param.sort == each for param in tools[tool.text].params):
            raise DeclarationError(
                f"agent {agent.name} is one for each {each}, and its tool {tool.text} does not take who calls"
                f" it; add the parameter `{SELF}: {each}`",
                tool.span,
            )


def _refuse_shared_selves(agents: Sequence[AgentRole]) -> None:
    """Refuse tools that one agent and each of many call."""
    many = {name: agent for agent in agents if agent.each is not None for name in agent.tools}
    for agent in agents:
        for name in agent.tools:
            if agent.each is None and name in many:
                raise DeclarationError(
                    f"agent {agent.name} is one, and its tool {name} takes who of {many[name].name} calls it;"
                    " give each of them a tool of its own",
                    agent.span,
                )


def _calls(agent: str, written: tuple[Calls, ...], tools: Iterable[Tool]) -> Calls | None:
    """Return how the agent calls its tools; None if it makes one call and is asked again."""
    if len(written) > 1:
        raise DeclarationError(f"a second `calls` of {agent}; leave one out", written[1].span)
    return calls_in_messages(agent, written[0], tools) if written else None


def _refuse_event(tool: Tool, span: Span | None) -> None:
    if tool.event:
        raise DeclarationError(f"{tool.name} is an event, which no agent calls; name a tool", span)


def _constraint(line: fo.Raw | FairAction, names: Names) -> fo.Raw | FairAction:
    """Return the line; `fair agent` is about a relation `agent` without columns if there is one."""
    if isinstance(line, FairAction) and line == FairAction("agent") and names.has_symbol("agent"):
        return fo.Atom("agent", span=line.span)
    return line


def _fair_action(
    line: FairAction, tools: Mapping[str, Tool], agents: tuple[AgentRole, ...], names: Names
) -> FairAction:
    """Return the constraint, if it is about an event, a tool or an agent that exists."""
    if line.kind == "agent":
        known = [agent.name for agent in agents]
        if line.name is not None and line.name not in known:
            hint = nearest(line.name, known, "write `fair agent`: there is one agent, without a name")
            raise DeclarationError(f"unknown agent {line.name}; {hint}", line.span)
        for agent in agents:
            if agent.each is not None and line.name in (None, agent.name):
                raise DeclarationError(
                    f"{agent.name} is one agent for each {agent.each}, which `fair agent` cannot name; write"
                    f" `fair tool {agent.tools[0]}`, which is fair to each call",
                    line.span,
                )
        return line
    tool = None if line.name is None else tools.get(line.name)
    if line.kind == "outcome":
        tool = _with_outcomes(line, tools)
    elif tool is None or tool.event != (line.kind == "event"):
        if tool is not None:
            other = "event" if tool.event else "tool"
            raise DeclarationError(
                f"{tool.name} is {'an event' if tool.event else 'a tool'}; write `fair {other} {tool.name}`",
                line.span,
            )
        of_kind = [name for name, one in tools.items() if one.event == (line.kind == "event")]
        hint = nearest(str(line.name), of_kind, f"declare it with `{line.kind} {line.name}(…)`")
        raise DeclarationError(f"unknown {line.kind} {line.name}; {hint}", line.span)
    for name in line.params or ():
        if names.sorts_of(name):
            raise DeclarationError(
                f"{name} is a constant, but the constraint is about every call of {tool.name}; leave the"
                " arguments out",
                line.span,
            )
    if line.params is not None and len(set(line.params)) != len(tool.params):
        raise DeclarationError(
            f"the arguments of {tool.name} name its {len(tool.params)} parameters, each by a name of its own;"
            " leave them out",
            line.span,
        )
    return line


def _with_outcomes(line: FairAction, tools: Mapping[str, Tool]) -> Tool:
    """Return the tool or event that `fair outcome` is about."""
    tool = tools.get(str(line.name))
    if tool is None:
        hint = nearest(str(line.name), list(tools), f"declare it with `tool {line.name}(…)`")
        raise DeclarationError(f"unknown tool or event {line.name}; {hint}", line.span)
    if line.strong:
        raise DeclarationError(
            f"fairness of outcomes is always strong; write `fair outcome {tool.name}`", line.span
        )
    if len(tool.effects) < 2:
        raise DeclarationError(
            f"{tool.name} has one alternative, so that none of its outcomes can be kept back; write what may"
            " happen as several alternatives, each with its own `effect`, or leave the line out",
            line.span,
        )
    return tool


def _initially(line: Initially, names: Names) -> Initially:
    for relation in line.relations:
        relation_signature(relation, names, line.span)
    refuse_doubles("relation of this `initially any`,", ((r, line.span) for r in line.relations))
    return replace(line, where=_without_past("initially", resolve(line.where, names), names))


def _policy(policy: Policy, tools: Mapping[str, Tool], names: Names, each: fo.Binder | None) -> Policy:
    check_name("policy", policy.name, policy.span, words=False)
    if not policy.rules:
        raise DeclarationError(f"policy {policy.name} has no rule; write `call TOOL(…)` lines", policy.span)
    return replace(policy, rules=tuple(_rule(rule, tools, names, each) for rule in policy.rules))


def _gates(gates: tuple[Gate, ...], tools: Mapping[str, Tool], names: Names) -> tuple[Gate, ...]:
    refuse_doubles("gate", ((gate.name, gate.span) for gate in gates))
    for gate in gates:
        check_name("gate", gate.name, gate.span, words=False)
    return tuple(
        replace(gate, lines=tuple(_line(line, tools, names) for line in gate.lines)) for gate in gates
    )


def _line(line: Line, tools: Mapping[str, Tool], names: Names) -> Line:
    """Resolve a line of a gate as a line of a policy, with `_` for any value."""
    names_of = [f"{fo.WILDCARD}any_value_{k}" for k in range(len(line.args))]
    pairs = list(zip(names_of, line.args, strict=True))
    wild = {name: term for name, term in pairs if is_wildcard(term)}
    named = (fo.Var(name, span=term.span) if is_wildcard(term) else term for name, term in pairs)
    read = _rule(Rule(line.tool, tuple(named), line.when, span=line.span), tools, names)
    args = (wild.get(str(term), term) for term in read.args)
    sorts = (param.sort for param in tools[line.tool].params)
    any_value = (
        fo.Wildcard(sort, span=term.span) if is_wildcard(term) else term
        for term, sort in zip(args, sorts, strict=True)
    )
    return replace(line, args=tuple(any_value), when=read.when)


def _rule(rule: Rule, tools: Mapping[str, Tool], names: Names, each: fo.Binder | None = None) -> Rule:
    if rule.tool not in tools:
        hint = nearest(rule.tool, tools, f"declare it with `tool {rule.tool}(…)`")
        raise DeclarationError(f"unknown tool {rule.tool}; {hint}", rule.span)
    _refuse_event(tools[rule.tool], rule.span)
    params = tools[rule.tool].params
    if len(rule.args) != len(params):
        listed = ", ".join(map(str, params)) or "none"
        raise DeclarationError(
            f"{rule.tool} takes {len(params)} arguments ({listed}), not {len(rule.args)}; give it that many",
            rule.span,
        )
    scope: dict[str, str] = {}
    args: list[fo.Term] = []
    for term, param in zip(rule.args, params, strict=True):
        name, sort = str(term), param.sort
        if each is not None and name == each.name:
            name = SELF
        if not isinstance(term, fo.Var) and name not in scope and sort in names.sorts_of(name):
            args.append(fo.Const(name, span=term.span))
            continue
        if scope.setdefault(name, sort) != sort:
            raise DeclarationError(
                f"{name} stands for a {scope[name]} and for a {sort}; use two variables",
                term.span or rule.span,
            )
        if is_numeral(name):
            raise DeclarationError(
                f"{name} is no value of sort {sort}; take one of it", term.span or rule.span
            )
        check_name("variable", name, term.span or rule.span)
        args.append(fo.Var(name, span=term.span))
    if each is None or SELF not in scope:
        return replace(rule, args=tuple(args), when=resolve(rule.when, names, scope))
    when = resolve(rule.when, names, {**_selves(each), **scope})
    return replace(rule, args=tuple(args), when=substitute(when, {each.name: fo.Var(SELF)}))


def _spec(spec: Spec, names: Names, deciding: Sequence[str], gates: Sequence[str]) -> Spec:
    check_name("spec", spec.name, spec.span, words=False)
    known = [ANY, *dict.fromkeys(deciding), *gates]
    for whom in spec.whom:
        if known.count(whom) > 1:
            raise DeclarationError(
                f"spec {spec.name} is for {whom}, which is two things here (`{ANY}` is every agent);"
                " give the policy or gate another name",
                spec.span,
            )
        if whom not in known:
            hint = nearest(whom, known, f"`for` takes `{ANY}`, a policy, an agent or a gate of the file")
            raise DeclarationError(f"spec {spec.name} is for {whom}, which is no policy; {hint}", spec.span)
    formula = resolve(spec.formula, names, temporal=True)
    if spec.helps and any(map(fo.is_temporal, fo.children(formula))):
        raise DeclarationError(
            f"invariant {spec.name} has a temporal operator, and is about one state; write it as a spec",
            spec.span,
        )
    return replace(spec, formula=formula)
