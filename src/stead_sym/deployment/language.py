"""Read the deployment language: from the text of a `.stead` file to a `Deployment`.

One decision: this module only reads. It turns the tree of `deployment.lark` into `Items`, unresolved and with
their places. Every check and all resolution of names is in `deployment.resolve`, which deployments built in
Python (`deployment.build`) go through as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import cast

from lark import Lark, Token

import stead_sym.logic.syntax as fo
from stead_sym.data.source import Argument, Column, Database, FactsFrom, File, Given, Into
from stead_sym.deployment.accepted import accepted_in
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import (
    Calls,
    Default,
    Expected,
    FairAction,
    Gate,
    Initially,
    Line,
    Policy,
    Rule,
    Spec,
    Terminal,
    View,
    invariant,
)
from stead_sym.deployment.resolve import AgentItem, Bound, Items, Text, resolve_items
from stead_sym.deployment.resolve_texts import TextItem
from stead_sym.deployment.tool import (
    Assign,
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
from stead_sym.errors import InputError, ParseError
from stead_sym.logic.parser import (
    FORMULA_GRAMMAR,
    PHRASES,
    FormulaReader,
    Node,
    build_parser,
    parse_tree,
    tokens_of,
    trees_of,
)
from stead_sym.relational.schema import Relation, Sort
from stead_sym.support.caches import keep_last

_STARTS = (
    "deployment", "tool_head", "statements", "rules", "gates", "facts", "loaded", "terms", "call", "params",
    "constraint",
)  # fmt: skip

_PHRASES: Mapping[str, str] = {
    **{terminal: phrase for terminal, phrase in PHRASES.items() if terminal != "$END"},
    "_DEPLOYMENT": "an item (`sort`, `relation`, `init`, `tool`, `spec`, …)",
    "_GUARD": "`guard`",
    "_EFFECT": "`effect`",
    "_WHEN": "`when`",
    "_WHERE": "`where`",
    "_CALL": "`call`",
    "_EACH": "`for each`",
    "LINE": "`permit` or `forbid`",
    "DEFAULT": "`default deny` or `default allow`",
    "REFUSES": "`refuses`",
    "REFUSED": "`refused`",
    "_INSERT": "a statement (`choose`, `fresh`, `insert`, `delete`, `set`, `clear`, `ensure`)",
    "RIGID": "`rigid`",
    "KEY": "`key`",
    "_REFERENCES": "`references`",
    "_TOTAL": "`total`",
    "EXPECTED": "`expect fails` or `expect holds`",
    "_ANY": "`any`",
    "_BELOW": "`<`",
    "_DOTS": "`..`",
    "STRING": 'a text in quotes ("…")',
    "_ENV": "`env`",
    "TABLE": "`table`",
    "QUERY": "`query`",
    "_INTO": "`into`",
    "OPTIONAL": "`?`",
    "TEXT": "a constant in single quotes ('…')",
    "_LBRACE": "`{`",
    "_RBRACE": "`}`",
    "STRONG": "`strong`",
    "ACTION": "`event`, `tool` or `outcome`",
    "TURNS": "`agent`",
    "$END": PHRASES["$END"],
}


def parse_deployment(text: str, source: str = "<text>", folder: str | Path | None = None) -> Deployment:
    """Return the deployment that the text describes; ``source`` is its name in messages.

    Files of `init from …` are relative to ``folder``. Without one no file and no database is opened, and a
    text that asks for it is refused, since its author may be unknown. Raises `ParseError` for text outside
    the language, `DeclarationError` for names, sorts and arities that do not fit together, and `InputError`
    for files and databases that cannot be read.
    """
    deployment = resolve_items(read_items(text, source), None if folder is None else Path(folder))
    all_of_it = None if deployment.loaded else text
    return replace(deployment, text=all_of_it, accepted=accepted_in(text, source))


def read_deployment(path: str | Path) -> Deployment:
    """Return `parse_deployment` of a file.

    Raises `InputError` as well if the file cannot be read as text.
    """
    return parse_deployment(read_text(path), str(path), Path(path).parent)


def read_text(path: str | Path, wanted: str = "a .stead file") -> str:
    """Return the text of a file in UTF-8.

    Raises `InputError` if there is none; the message has what is ``wanted``.
    """
    try:
        return decoded(Path(path).read_bytes(), str(path))
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(f"{path}: cannot be read ({why}); give the path of {wanted}") from None
    except ValueError as error:  # a path that no file system takes
        raise InputError(f"{str(path)!r}: not a path ({error}); give the path of {wanted}") from None


def decoded(content: bytes, source: str) -> str:
    """Return the text of the bytes in UTF-8, with any system's line feeds.

    Raises `InputError` if they are no such text.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{source}: not a text file (byte {error.start} is not UTF-8); save it as UTF-8"
        ) from None
    return with_line_feeds(text)


def with_line_feeds(text: str) -> str:
    """Return the text with a line feed at the end of each line, for the line ends of any system."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


_SORTS = ("sorts", "finite_sort", "ordered_sort", "numbers")
OF_AGENTS = ("agent_tools", "agent_calls", "view", "policy", "system", "instructions")
"""The items that may belong to an agent."""


@cache
def _parser() -> Lark:
    grammar = files("stead_sym.deployment").joinpath("deployment.lark").read_text(encoding="utf-8")
    return build_parser("deployments", FORMULA_GRAMMAR + grammar, _STARTS)


def _tree(text: str, start: str, source: str) -> Node:
    return parse_tree(_parser(), text, start, source, _PHRASES)


@keep_last(10)
def syntax_tree(text: str, source: str) -> Node:
    """Return the syntax tree of a file, in which every name is a token with its place.

    Raises `ParseError`.
    """
    return _tree(text, "deployment", source)


@keep_last(50)
def read_items(text: str, source: str) -> Items:
    """Return the items of a file as they are written; raises `ParseError`."""
    return _Reader(source).items(syntax_tree(text, source))


def read_tool_head(text: str, source: str) -> tuple[str, tuple[fo.Binder, ...]]:
    """Read `w(x: s)`, a name with parameters; raises `ParseError`."""
    return _Reader(source).head(_tree(text, "tool_head", source))


def read_effect(text: str, source: str) -> Effect:
    """Read what follows the word `effect`: perhaps `when f`, and statements; raises `ParseError`."""
    return _Reader(source).effect(_tree(text, "statements", source))


def read_rules(text: str, source: str) -> tuple[Rule, ...]:
    """Read the lines `call w(x) when f` of a policy; raises `ParseError`."""
    reader = _Reader(source)
    return tuple(reader.rule(node) for node in trees_of(_tree(text, "rules", source)))


def read_gate(text: str, source: str) -> Gate:
    """Read a `gate NAME` with its lines; raises `ParseError`."""
    return _Reader(source).gate(trees_of(_tree(text, "gates", source))[0])


def read_facts(text: str, source: str) -> tuple[fo.Atom, ...]:
    """Read the facts `P(a, b)` of an `init`; raises `ParseError`."""
    reader = _Reader(source).formulas
    return tuple(reader.atom(node) for node in trees_of(_tree(text, "facts", source)))


def read_constraint(text: str, source: str) -> fo.Formula | FairAction:
    """Read what follows the word `fair`; raises `ParseError`."""
    return _Reader(source).constraint(trees_of(_tree(text, "constraint", source))[0])


def read_into(text: str, source: str) -> tuple[Into, ...]:
    """Read what follows the word `into` of an `init from`: `Owner(order, user), Status(order, 'open')`.

    Raises `ParseError`.
    """
    return tuple(map(_Reader(source).into, trees_of(_tree(text, "loaded", source))))


@dataclass(frozen=True, slots=True)
class _Reader:
    """The reader of items, with one method for each rule of the grammar that is an item, or a part of one."""

    source: str

    @property
    def formulas(self) -> FormulaReader:
        return FormulaReader(self.source)

    def items(self, tree: Node) -> Items:
        own = self._belonging(tree)
        of_agents = {id(part) for parts in own.values() for part in parts}

        def named(*rules: str) -> Iterator[Node]:
            return (node for node in trees_of(tree) if node.data in rules and id(node) not in of_agents)

        read = self.formulas
        for word, stray in (
            *(("tools", node) for node in named("agent_tools")),
            *(("calls", node) for node in named("agent_calls") if own),
        ):
            raise ParseError(
                f"`{word}` stands outside an agent; indent it below an `agent NAME` line", read.span(stray)
            )
        return Items(
            titles=tuple(Text(str(_name(node)), read.span(node)) for node in named("title")),
            sorts=tuple(sort for node in named(*_SORTS) for sort in self.sorts(node)),
            relations=tuple(map(self.relation, named("relation"))),
            texts=tuple(map(self.text_value, named("text"))),
            facts=tuple(read.atom(fact) for node in named("init") for fact in trees_of(node)),
            loads=tuple(map(self.facts_from, named("init_from"))),
            initially=tuple(map(self.initially, named("initially"))),
            terminal=tuple(
                Terminal(self.condition(trees_of(node)), span=read.span(node)) for node in named("terminal")
            ),
            gates=tuple(map(self.gate, named("gate"))),
            calls=tuple(map(self.calls, named("agent_calls"))),
            bounds=tuple(map(self.bound, named("bound"))),
            definitions=tuple(map(self.definition, named("define"))),
            tools=tuple(map(self.tool, named("tool", "event"))),
            agents=tuple(self.agent(node, own[number]) for number, node in enumerate(named("agent"))),
            views=tuple(map(self.view, named("view"))),
            policies=tuple(map(self.policy, named("policy"))),
            fair=tuple(self.constraint(trees_of(node)[0]) for node in named("fair")),
            specs=tuple(map(self.spec, named("spec", "invariant"))),
            systems=tuple(self.text(node) for node in named("system")),
            instructions=tuple(self.text(node) for node in named("instructions")),
        )

    @staticmethod
    def _belonging(tree: Node) -> Mapping[int, list[Node]]:
        """Return the items of each `agent`, by its number: those after it that start further to the right."""
        own: dict[int, list[Node]] = {}
        column: int | None = None
        for node in trees_of(tree):
            if node.data == "agent":
                own[len(own)] = []
                column = node.meta.column
            elif column is not None and node.data in OF_AGENTS and node.meta.column > column:
                own[len(own) - 1].append(node)
            else:
                column = None
        return own

    def agent(self, node: Node, parts: list[Node]) -> AgentItem:
        def named(rule: str) -> Iterator[Node]:
            return (part for part in parts if part.data == rule)

        span = self.formulas.span
        name, *each = tokens_of(node)
        return AgentItem(
            name=str(name),
            tools=tuple(Text(str(t), span(t)) for part in named("agent_tools") for t in tokens_of(part)),
            views=tuple(map(self.view, named("view"))),
            policies=tuple(map(self.policy, named("policy"))),
            systems=tuple(map(self.text, named("system"))),
            instructions=tuple(map(self.text, named("instructions"))),
            calls=tuple(map(self.calls, named("agent_calls"))),
            each=fo.Binder(str(each[0]), str(each[1]), span=span(each[0])) if each else None,
            span=span(name),
        )

    def calls(self, node: Node) -> Calls:
        [token] = tokens_of(node)
        return Calls.of(token.split()[1:], self.formulas.span(token))

    def initially(self, node: Node) -> Initially:
        where = [child for child in trees_of(node) if child.data == "where"]
        relations = tuple(map(str, tokens_of(node)))
        return Initially(relations, self.condition(where), span=self.formulas.span(node))

    def facts_from(self, node: Node) -> FactsFrom:
        span = self.formulas.span(node)
        where, *more = tokens_of(node)
        into = tuple(map(self.into, trees_of(node)))
        if where.type == "STRING" and not more:
            return FactsFrom(File(_unquoted(where)), into, span=span)
        kind, rows = more
        source = Database(
            url=_unquoted(where) if where.type == "STRING" else None,
            variable=None if where.type == "STRING" else str(where),
            table=_unquoted(rows) if kind.type == "TABLE" else None,
            query=_unquoted(rows) if kind.type == "QUERY" else None,
        )
        return FactsFrom(source, into, span=span)

    def into(self, node: Node) -> Into:
        name = _name(node)
        return Into(str(name), tuple(map(self.argument, trees_of(node))), span=self.formulas.span(name))

    def argument(self, node: Node) -> Argument:
        first, *optional = tokens_of(node)
        if node.data == "given":
            return Given(first[1:-1].replace("''", "'"))
        name = _unquoted(first) if first.type == "STRING" else str(first)
        return Column(name, bool(optional), span=self.formulas.span(first))

    def sorts(self, node: Node) -> Iterator[Sort]:
        span = self.formulas.span
        match node.data:
            case "sorts":
                yield from (Sort(str(token), span=span(token)) for token in tokens_of(node))
            case "numbers":
                name, first, last = tokens_of(node)
                number = self.formulas.number
                yield Sort.numbers(str(name), number(first), number(last), span(name))
            case "ordered_sort":
                name, *values = (token for token in tokens_of(node) if token.type != "RIGID")
                listed = tuple(map(str, values))
                yield Sort(str(name), listed, rigid=True, ordered=True, span=span(name))
            case _:
                name, *rigid = tokens_of(node)
                listed = tuple(map(str, tokens_of(trees_of(node)[0])))
                yield Sort(str(name), listed, rigid=bool(rigid), span=span(name))

    def relation(self, node: Node) -> Relation:
        name, (columns, *total) = _name(node), trees_of(node)
        listed = trees_of(columns)
        words = [[str(token) for token in tokens_of(c) if token.type == "NAME"] for c in listed]
        keys = tuple(k for k, c in enumerate(listed) if tokens_of(c)[-1].type == "KEY")
        refers = tuple((k, str(_name(to))) for k, c in enumerate(listed) for to in trees_of(c))
        of = str(_name(total[0])) if total else None
        return Relation.of_columns(str(name), words, keys, refers, of, self.formulas.span(name))

    def text_value(self, node: Node) -> TextItem:
        *names, text = tokens_of(node)
        sort = str(names[1]) if len(names) > 1 else None
        return TextItem(str(names[0]), sort, _unquoted(text), self.formulas.span(names[0]))

    def spec(self, node: Node) -> Spec:
        name, read = _name(node), self.formulas
        *head, formula = trees_of(node)
        if node.data == "invariant":
            return invariant(str(name), read.formula(formula), read.span(name))
        words = {part.data: tokens_of(part) for part in head}
        expected = [cast(Expected, str(word).split()[1]) for word in words.get("expected", ())]
        whom = tuple(map(str, words.get("audience", ())))
        return Spec(
            str(name), read.formula(formula), whom, expected[0] if expected else None, span=read.span(name)
        )

    def bound(self, node: Node) -> Bound:
        sort, *number = tokens_of(node)
        most = self.formulas.number(number[0]) if number else None
        return Bound(str(sort), most, self.formulas.span(sort))

    def definition(self, node: Node) -> fo.Definition:
        name, trees = _name(node), trees_of(node)
        params = self.params(trees[0]) if len(trees) == 2 else ()
        return fo.Definition(
            str(name), params, self.formulas.formula(trees[-1]), span=self.formulas.span(name)
        )

    def params(self, node: Node) -> tuple[fo.Binder, ...]:
        return tuple(binder for child in trees_of(node) for binder in self.formulas.binders(child))

    def head(self, node: Node) -> tuple[str, tuple[fo.Binder, ...]]:
        return str(_name(node)), self.params(trees_of(node)[0])

    def tool(self, node: Node) -> Tool:
        name, params = self.head(node)
        _, *description = tokens_of(node)
        guards = [child for child in trees_of(node) if child.data == "guard"]
        if len(guards) > 1:
            raise ParseError(
                f"a second guard of {name}; join the two with `&`", self.formulas.span(guards[1])
            )
        effects = tuple(self.effect(child) for child in trees_of(node) if child.data == "effect")
        return Tool(
            name,
            params,
            _unquoted(description[0]) if description else "",
            self.condition(guards),
            effects or (Effect(),),
            event=node.data == "event",
            span=self.formulas.span(_name(node)),
        )

    def condition(self, nodes: list[Node]) -> fo.Formula:
        """Return the formula of a `guard`, `when` or `where`, or `true`."""
        return self.formulas.formula(trees_of(nodes[0])[0]) if nodes else fo.TRUE

    def effect(self, node: Node) -> Effect:
        when = [child for child in trees_of(node) if child.data == "when"]
        statements = [child for child in trees_of(node) if child.data != "when"]
        refused = bool(tokens_of(node))
        if refused and statements:
            raise ParseError(
                "an effect that is `refused` changes nothing; put its statements into another one",
                self.formulas.span(statements[0]),
            )
        return Effect(
            tuple(map(self.statement, statements)),
            self.condition(when),
            refused,
            span=self.formulas.span(node),
        )

    def constraint(self, node: Node) -> fo.Formula | FairAction:
        """Return what follows the word `fair`."""
        if node.data not in ("fair_calls", "fair_turns"):
            return self.formulas.formula(node)
        words = tokens_of(node)
        strong = words[0].type == "STRONG"
        kind, *names = words[strong:]
        span = self.formulas.span(names[0] if names else kind)
        name = str(names[0]) if names else None
        if node.data == "fair_turns":
            return FairAction("agent", name, strong, span=span)
        params = [tuple(map(str, tokens_of(terms))) for terms in trees_of(node)]
        given = params[0] if params else None
        match str(kind):
            case "event" | "tool" | "outcome" as about:
                return FairAction(about, name, strong, given, span=span)
            case _:
                raise AssertionError(f"the grammar has no `fair {kind}`")

    def statement(self, node: Node) -> Statement:
        read, span, trees = self.formulas, self.formulas.span(node), trees_of(node)
        where = [child for child in trees if child.data == "where"]
        match node.data:
            case "choose":
                return Choose(read.binder(trees[0]), self.condition(where), span=span)
            case "fresh":
                return Fresh(read.binder(trees[0]), span=span)
            case "insert" | "delete" | "set":
                binders = next((read.binders(child) for child in trees if child.data == "binders"), ())
                atom = read.atom(trees[0], into=node.data == "set")
                condition = self.condition(where)
                if node.data != "set":
                    return (Insert if node.data == "insert" else Delete)(atom, binders, condition, span=span)
                for child in trees:
                    if child.data == "into_column":
                        column = str(tokens_of(child)[0])
                        if atom.columns:
                            raise ParseError(
                                f"before the dot stands the key of {atom.relation}, without names of columns",
                                read.span(trees[0]),
                            )
                        value = read.term(child.children[1])
                        atom = replace(atom, args=(*atom.args, value))
                        return Assign(atom, binders, condition, column, span=span)
                return Assign(atom, binders, condition, span=span)
            case "clear":
                return Clear(tuple(map(str, tokens_of(node))), span=span)
            case "ensure":
                return Ensure(read.formula(trees[0]), span=span)
            case other:
                raise AssertionError(f"the grammar has a statement {other} that nothing reads")

    def view(self, node: Node) -> View:
        name, params = self.head(node)
        where = [child for child in trees_of(node) if child.data == "where"]
        return View(name, params, self.condition(where), span=self.formulas.span(_name(node)))

    def policy(self, node: Node) -> Policy:
        rules = tuple(map(self.rule, trees_of(node)))
        return Policy(str(_name(node)), rules, span=self.formulas.span(_name(node)))

    def gate(self, node: Node) -> Gate:
        default = [token for token in tokens_of(node) if token.type == "DEFAULT"]
        return Gate(
            str(_name(node)),
            tuple(map(self.line, trees_of(node))),
            cast(Default, default[0].split()[1]) if default else None,
            any(token.type == "REFUSES" for token in tokens_of(node)),
            span=self.formulas.span(_name(node)),
        )

    def line(self, node: Node) -> Line:
        read = self.rule(node)
        permits = tokens_of(node)[0] == "permit"
        return Line(permits, read.tool, read.args, read.when, span=self.formulas.span(node))

    def rule(self, node: Node) -> Rule:
        call, *when = trees_of(node)
        args = self.formulas.terms(trees_of(call)[0])
        return Rule(str(_name(call)), args, self.condition(when), span=self.formulas.span(call))

    def text(self, node: Node) -> Text:
        return Text(_unquoted(tokens_of(node)[0]), self.formulas.span(node))


def _unquoted(token: Token) -> str:
    """Return the text of a string.

    Between three quotes it is taken as written. Between single ones a backslash is special before a quote, a
    backslash, `n` and `t`, and is itself elsewhere.
    """
    if token.type == "LONG":
        return token[3:-3]
    parts = token[1:-1].split("\\\\")
    escapes = (('\\"', '"'), ("\\n", "\n"), ("\\t", "\t"))
    for escape, meaning in escapes:
        parts = [part.replace(escape, meaning) for part in parts]
    return "\\".join(parts)


def _name(node: Node) -> Token:
    return tokens_of(node)[0]
