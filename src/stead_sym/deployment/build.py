"""Build deployments in Python, with the same content as a `.stead` file and the same checks.

One decision: formulas and statements are text in the language, or the objects that text is parsed to
(`logic.compose` makes formulas). Messages name the part of the deployment as the source, such as
``spec auth:1:4``.

    build_deployment(
        "door",
        sorts={"person": None, "state": rigid("open", "shut")},
        relations={"Door": "state", "Knocks": "person"},
        init=["Door(shut)"],
        bounds={"person": 1},
        tools=[
            tool("wait", effect="fresh p: person  insert Knocks(p)", guard="~exists p: person. true"),
            tool("let_in", "p: person", "Open to somebody.", guard="Knocks(p)", effect="clear Knocks"),
        ],
        policies={"polite": ["call let_in(p)", "call wait()"]},
        specs={"nobody_waits": "AG forall p. Knocks(p) -> AF ~Knocks(p)"},
    )

Several agents are `agents={"porter": role(tools="wait, let_in", policies={…})}`; `event(…)` is written as
`tool(…)` is; `ordered("small", "large")` and `range(6)` are ordered sorts; `"order key, status"` are columns
with a key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Literal, TypeAlias, cast

import stead_sym.logic.syntax as fo
from stead_sym.data.source import Database, FactsFrom, File
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.language import (
    read_constraint,
    read_effect,
    read_facts,
    read_gate,
    read_into,
    read_rules,
    read_tool_head,
)
from stead_sym.deployment.parts import (
    ANY,
    SELF,
    Expected,
    FairAction,
    Initially,
    Policy,
    Rule,
    Spec,
    Terminal,
    View,
    invariant,
)
from stead_sym.deployment.resolve import AgentItem, Bound, Items, Text, resolve_items
from stead_sym.deployment.resolve_texts import TextItem
from stead_sym.deployment.tool import Effect, Tool
from stead_sym.errors import DeclarationError
from stead_sym.logic.compose import as_formula
from stead_sym.logic.parser import parse_formula
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Relation, Sort

FormulaLike: TypeAlias = fo.Formula | str
Names: TypeAlias = str | Iterable[str]
"""Several names: a text with commas, or the names."""


@dataclass(frozen=True, slots=True)
class Rigid:
    """The values of a finite sort that belong to B."""

    values: tuple[str, ...]


def rigid(*values: str) -> Rigid:
    """Return the values of a finite sort whose identity may matter to the agent: `{ … } rigid`."""
    for value in values:
        _expect("value of a sort", value, str)
    return Rigid(values)


@dataclass(frozen=True, slots=True)
class Ordered:
    """The values of a finite, rigid sort in their order."""

    values: tuple[str, ...]


def ordered(*values: str) -> Ordered:
    """Return the values of an ordered sort, the least first: `{ small < medium < large }`.

    Numbers are a `range`.
    """
    for value in values:
        _expect("value of a sort", value, str)
    return Ordered(values)


def tool(
    name: str,
    params: str = "",
    description: str = "",
    *,
    guard: FormulaLike = fo.TRUE,
    effect: str | Effect | Sequence[str | Effect] = (),
) -> Tool:
    """Return a tool, whose names are resolved when `deployment` is called with it.

    ``params`` is a list `x: s, y: t`. ``effect`` is what may follow the word `effect` in a file. Several
    effects are alternatives, and an empty list changes nothing. Raises `ParseError`.
    """
    return _tool(name, params, description, guard, effect, event=False)


def event(
    name: str,
    params: str = "",
    description: str = "",
    *,
    guard: FormulaLike = fo.TRUE,
    effect: str | Effect | Sequence[str | Effect] = (),
) -> Tool:
    """Return an event, given as a `tool` is: it may happen whenever its guard is true."""
    return _tool(name, params, description, guard, effect, event=True)


def _tool(
    name: str,
    params: str,
    description: str,
    guard: FormulaLike,
    effect: str | Effect | Sequence[str | Effect],
    *,
    event: bool,
) -> Tool:
    _expect("name of a tool", name, str)
    _expect(f"parameters of {name}", params, str)
    _, binders = read_tool_head(f"{name}({params})", f"tool {name}")
    effects = [effect] if isinstance(effect, str | Effect) else effect
    for one in effects:
        _expect(f"effect of {name}", one, str, Effect)
    return Tool(
        name,
        binders,
        description,
        _formula(guard, f"guard of {name}"),
        tuple(read_effect(e, f"effect of {name}") if isinstance(e, str) else e for e in effects),
        event=event,
    )


def role(
    *,
    tools: Names,
    views: Mapping[str, FormulaLike] | None = None,
    policies: Mapping[str, Iterable[str | Rule]] | None = None,
    system: str | None = None,
    instructions: str | None = None,
    each: str | None = None,
) -> AgentItem:
    """Return one of several agents, with the names of its tools.

    The other parts are as for `deployment`, and are its own. `deployment` gives it its name. With ``each``, a
    sort, it is one agent for each value of the sort: `agent NAME for each self: SORT`.
    """
    return AgentItem(
        name="",
        tools=tuple(map(Text, _names(tools))),
        views=tuple(_view(head, where) for head, where in (views or {}).items()),
        policies=tuple(_policy(policy, rules) for policy, rules in (policies or {}).items()),
        systems=() if system is None else (Text(system),),
        instructions=() if instructions is None else (Text(instructions),),
        each=None if each is None else fo.Binder(SELF, each),
    )


def facts_from(
    source: str | PathLike[str],
    into: str,
    *,
    table: str | None = None,
    query: str | None = None,
) -> FactsFrom:
    """Return the facts of the rows of a file or a database: `init from "orders.csv" into Owner(order, user)`.

    With a table or a query, ``source`` is the URL of a database, or `env NAME` for a URL in an environment
    variable. ``into`` is what follows that word in a file. Paths are relative to the working directory, and
    are read when `deployment` is called with the item. Raises `ParseError`, and `TypeError` for both a table
    and a query.
    """
    _expect("source", source, str, PathLike)
    _expect("into", into, str)
    facts = read_into(into, "into")
    if table is None and query is None:
        return FactsFrom(File(str(source)), facts)
    if table is not None and query is not None:
        raise TypeError("a table and a query are given; leave one out")
    word, _, variable = str(source).partition(" ")
    if word == "env" and variable.strip():
        return FactsFrom(Database(variable=variable.strip(), table=table, query=query), facts)
    return FactsFrom(Database(url=str(source), table=table, query=query), facts)


def initially_any(relations: Names, where: FormulaLike = fo.TRUE) -> Initially:
    """Return the line `initially any P, Q where f`.

    D0 is then any instance of the facts of `init` and further facts of these relations that satisfies f.
    """
    return Initially(_names(relations), _formula(where, "initially any"))


def build_deployment(
    name: str,
    *,
    sorts: Mapping[str, Names | Rigid | Ordered | range | None],
    relations: Mapping[str, Names],
    init: Iterable[str | Fact | FactsFrom] = (),
    texts: Mapping[str, str] | None = None,
    bounds: Mapping[str, int | Literal["any"]] | None = None,
    define: Mapping[str, FormulaLike] | None = None,
    tools: Iterable[Tool] = (),
    views: Mapping[str, FormulaLike] | None = None,
    policies: Mapping[str, Iterable[str | Rule]] | None = None,
    fair: Iterable[FormulaLike | FairAction] = (),
    specs: Mapping[str, FormulaLike] | None = None,
    system: str | None = None,
    instructions: str | None = None,
    agents: Mapping[str, AgentItem] | None = None,
    initially: Initially | Iterable[Initially] = (),
    terminal: Iterable[FormulaLike] = (),
    gates: Mapping[str, Names] | None = None,
) -> Deployment:
    """Return the deployment with these parts; see `parse_deployment` for what each of them means.

    ``sorts``: None for an unbounded sort, the values of a finite one, `rigid(…)` for one in B, `ordered(…)`
    or a `range` of numbers for an ordered one. ``init``: facts, and `facts_from(…)`. ``bounds``: a number for
    a sort, or ``"any"``. ``relations``: the sorts of the columns, with `key` after those of a key, and names
    before them (`"id: order key, state: status"`); `references P` may follow a column, and `total P` the last
    one. ``texts``: from a constant, ``"m1"`` or ``"m1: message"``, to the text that it stands for. ``fair``:
    what follows the word `fair` in a file, such as ``"event approve"``. ``terminal``: the conditions of
    `terminal when …`. ``gates``: the lines of each, such as ``["forbid mail(p) when Secret(d)"]``.

    ``agents``: `role(…)` for each, if there are several. ``initially``: `initially_any(…)`. ``define`` and
    ``views``: from a head, such as ``"pending(t: task)"`` or ``"Focus(c)"``, to a formula; ``"true"`` shows
    all of a relation. ``policies``: `call` lines. ``specs``: from a name, ``"possible for any"``,
    ``"leak expect fails"`` or ``"invariant kept"``.

    Raises `ParseError` and `DeclarationError`, and `TypeError` for a part of another kind.
    """
    _expect("name", name, str)
    given = (sorts, relations, texts, bounds, define, views, policies, specs, agents)
    for mapping in (part or {} for part in given):
        _expect("part of a deployment", mapping, Mapping)
        for key in mapping:
            _expect("name", key, str)
    tools = tuple(tools)
    for one in tools:
        _expect("tool", one, Tool)
    lines = (initially,) if isinstance(initially, Initially) else tuple(initially)
    for line in lines:
        _expect("`initially_any`", line, Initially)
    for item in (agents or {}).values():
        _expect("`role`", item, AgentItem)
    listed_init = tuple(init)
    given_facts = [fact for fact in listed_init if not isinstance(fact, FactsFrom)]
    return resolve_items(
        Items(
            titles=(Text(name),),
            sorts=tuple(_sort(sort, values) for sort, values in sorts.items()),
            relations=tuple(_relation(relation, columns) for relation, columns in relations.items()),
            texts=tuple(_text_item(head, text) for head, text in (texts or {}).items()),
            facts=tuple(atom for fact in given_facts for atom in _facts(fact)),
            loads=tuple(item for item in listed_init if isinstance(item, FactsFrom)),
            bounds=tuple(_bound(sort, number) for sort, number in (bounds or {}).items()),
            definitions=tuple(_definition(head, body) for head, body in (define or {}).items()),
            tools=tools,
            views=tuple(_view(head, where) for head, where in (views or {}).items()),
            policies=tuple(_policy(policy, rules) for policy, rules in (policies or {}).items()),
            fair=tuple(
                read_constraint(line, "fair")
                if isinstance(line, str)
                else line
                if isinstance(line, FairAction)
                else as_formula(line)
                for line in fair
            ),
            specs=tuple(_spec(head, formula) for head, formula in (specs or {}).items()),
            systems=() if system is None else (Text(system),),
            instructions=() if instructions is None else (Text(instructions),),
            agents=tuple(replace(item, name=agent) for agent, item in (agents or {}).items()),
            initially=lines,
            gates=tuple(
                read_gate("\n".join([f"gate {gate}", *([ls] if isinstance(ls, str) else ls)]), f"gate {gate}")
                for gate, ls in (gates or {}).items()
            ),
            terminal=tuple(Terminal(_formula(when, "terminal when")) for when in terminal),
        ),
        Path(),
    )


def _relation(name: str, columns: Names) -> Relation:
    """Return the relation with columns such as `order key, customer references Customer`.

    After the last column `total Q` may follow.
    """
    words = [column.replace(":", " : ").split() for column in _names(columns)]
    total = None
    if words and words[-1][-2:-1] == ["total"]:
        words[-1], total = words[-1][:-2], words[-1][-1]
    refers = tuple((k, column[-1]) for k, column in enumerate(words) if column[-2:-1] == ["references"])
    for k, _ in refers:
        words[k] = words[k][:-2]
    for column in words:
        named = column[2:] if column[1:2] == [":"] else column
        if named[1:] not in ([], ["key"]) or ":" in named:
            raise DeclarationError(
                f"the column {' '.join(column)!r} of {name} is no sort; write a sort, or a sort and `key`,"
                " after a name and a colon if you like, and `references P` after it"
            )
    keys = tuple(k for k, column in enumerate(words) if len(column) > 1 and column[-1] == "key")
    sorts = [[word for word in column if word != ":"] for column in words]
    for k in keys:
        sorts[k] = sorts[k][:-1]
    return Relation.of_columns(name, [column or [""] for column in sorts], keys, refers, total)


def _expect(what: str, given: object, *kinds: type) -> None:
    """Raise `TypeError` for a value of none of the kinds."""
    if not isinstance(given, kinds) or isinstance(given, bool):
        names = " or ".join("text" if kind is str else kind.__name__ for kind in kinds)
        raise TypeError(f"{given!r} is no {what}; give {names}")


def _bound(sort: str, number: int | Literal["any"]) -> Bound:
    if number == ANY:
        return Bound(sort, None)
    _expect(f"bound of {sort}", number, int)
    assert isinstance(number, int)
    return Bound(sort, number)


def _formula(formula: FormulaLike, source: str) -> fo.Formula:
    return parse_formula(formula, source=source) if isinstance(formula, str) else as_formula(formula)


def _names(names: Names) -> tuple[str, ...]:
    if isinstance(names, str):
        return tuple(name.strip() for name in names.split(",")) if names.strip() else ()
    _expect("list of names", names, Iterable)
    listed = tuple(names)
    for name in listed:
        _expect("name", name, str)
    return listed


def _sort(name: str, values: Names | Rigid | Ordered | range | None) -> Sort:
    if values is None:
        return Sort(name)
    if isinstance(values, range):
        if values.step != 1:
            raise DeclarationError(f"the numbers of sort {name} are {values}; count up by 1")
        return Sort.numbers(name, values.start, values.stop - 1)
    if isinstance(values, Ordered):
        return Sort(name, values.values, rigid=True, ordered=True)
    if isinstance(values, Rigid):
        return Sort(name, values.values, rigid=True)
    return Sort(name, _names(values))


def _facts(fact: str | Fact) -> tuple[fo.Atom, ...]:
    if isinstance(fact, str):
        return read_facts(fact, "init")
    _expect("fact", fact, Fact)
    return (fo.Atom(fact.relation, tuple(map(fo.Const, fact.args))),)


def _text_item(head: str, text: str) -> TextItem:
    """Return the item for `m1` or `m1: message`."""
    _expect(f"text of {head}", text, str)
    value, colon, sort = (part.strip() for part in head.partition(":"))
    return TextItem(value, sort if colon else None, text)


def _spec(head: str, formula: FormulaLike) -> Spec:
    """Return the specification `NAME`, `NAME for AGENT, …` or `invariant NAME`.

    The first two may end with `expect fails` or `expect holds`.
    """
    if head.startswith("invariant "):
        return invariant(head.removeprefix("invariant ").strip(), _formula(formula, head))
    said, *expected = re.split(r"\s+expect\s+(?=(?:fails|holds)$)", head.strip())
    name, *whom = re.split(r"\s+for\s+|\s*,\s*", said)
    word = cast(Expected, expected[0]) if expected else None
    return Spec(name, _formula(formula, f"spec {name}"), tuple(whom), expected=word)


def _definition(head: str, body: FormulaLike) -> fo.Definition:
    name, params = read_tool_head(head, "define")
    return fo.Definition(name, params, _formula(body, f"define {name}"))


def _view(head: str, where: FormulaLike) -> View:
    relation, params = read_tool_head(head, "view")
    return View(relation, params, _formula(where, f"view {relation}"))


def _policy(name: str, rules: Iterable[str | Rule]) -> Policy:
    found: list[Rule] = []
    for rule in [rules] if isinstance(rules, str) else rules:
        _expect(f"rule of {name}", rule, str, Rule)
        found.extend(read_rules(rule, f"policy {name}") if isinstance(rule, str) else (rule,))
    return Policy(name, tuple(found))
