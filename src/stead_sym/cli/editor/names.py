"""The names of a file: the symbol of each, its declaration and its occurrences.

One decision: names are resolved in the syntax tree alone, with the scoping of the language (a name is a
variable if an enclosing quantifier, parameter or binder declares it). They are thus known even in a file with
sort errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from lark import Token, Tree

import stead_sym.logic.syntax as fo
from stead_sym.deployment.language import OF_AGENTS, parse_deployment, read_items, syntax_tree
from stead_sym.deployment.parts import ANY, SELF
from stead_sym.errors import InputError
from stead_sym.logic.names import is_name
from stead_sym.logic.parser import Node, tokens_of, trees_of

Kind: TypeAlias = Literal[
    "deployment", "sort", "relation", "column", "define", "tool", "event", "agent", "policy", "gate",
    "spec", "constant", "variable",
]  # fmt: skip
_USED: Mapping[str, Kind] = {
    "bound": "sort", "into": "relation", "fact": "relation", "initially": "relation",
    "view": "relation", "clear": "relation", "agent_tools": "tool", "fair_calls": "tool",
    "fair_turns": "agent",
}  # fmt: skip
"""The kind of the names that a rule of the grammar uses without declaring them."""
_AUDIENCE: tuple[Kind, ...] = ("policy", "agent", "gate")
"""The possible kinds of a name after `for`."""
_BINDING = frozenset(
    {"params", "binders", "binder", "declared", "tallied", "over", "declared_over", "choose", "fresh"}
)
"""The rules of the grammar that declare variables for the rest of the rule around them."""
_ABBREVIATIONS = ("same", "empty")
_SUCCESSOR = "succ"


class Place(NamedTuple):
    """The place of a name: ``line`` and ``column`` count from 1, in characters."""

    line: int
    column: int
    length: int


@dataclass(eq=False)
class Symbol:
    """The referent of a name.

    ``places`` are all of its occurrences, including the declaration, which is None if there is none. For the
    variable of a policy line, ``argument`` is the tool and the position that gives it its sort.
    """

    kind: Kind
    name: str
    declaration: Place | None = None
    places: list[Place] = field(default_factory=list)
    argument: tuple[str, int] | None = None


Scope: TypeAlias = Mapping[str, Symbol]


class Names:
    """The names in a text. Raises `ParseError` if it is no text of the language."""

    def __init__(self, text: str, source: str = "<text>") -> None:
        self._global: dict[tuple[str, str], Symbol] = {}
        self._local: list[Symbol] = []
        self._has_many = False
        self._walk(syntax_tree(text, source))

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """Every symbol that occurs, ordered by its first place."""
        found = [symbol for symbol in (*self._global.values(), *self._local) if symbol.places]
        return tuple(sorted(found, key=lambda symbol: min(symbol.places)))

    def at(self, line: int, column: int) -> tuple[Symbol, Place] | None:
        """Return the symbol at a place, or right before it."""
        for symbol in self.symbols:
            for place in symbol.places:
                if place.line == line and place.column <= column <= place.column + place.length:
                    return symbol, place
        return None

    def meaning(self) -> tuple[tuple[int, Kind, int], ...]:
        """Return which occurrences have the same referent.

        For each occurrence, in the order of the text, it has the number of its symbol, its kind, and 1 if it
        is declared there. Two texts that differ in names only have the same meaning if and only if these
        lists are equal.
        """
        numbered = enumerate(self.symbols)
        every = [(place, number, symbol) for number, symbol in numbered for place in symbol.places]
        return tuple(
            (number, symbol.kind, int(place == symbol.declaration))
            for place, number, symbol in sorted(every, key=lambda found: found[0])
        )

    # global names

    def _named(self, kind: Kind, token: Token, *, declares: bool = False) -> Symbol:
        """Return the symbol of a token; relations share their names with definitions, tools with events."""
        space = {"define": "relation", "event": "tool"}.get(kind, kind)
        symbol = self._global.setdefault((space, str(token)), Symbol(kind, str(token)))
        place = _place(token)
        symbol.places.append(place)
        if declares and symbol.declaration is None:
            symbol.kind, symbol.declaration = kind, place
        return symbol

    def _walk(self, tree: Node) -> None:
        items = trees_of(tree)
        for item in items:
            self._declare(item)
        for item in items:
            self._declare_constants(item)
        self._has_many = any(item.data == "agent" and tokens_of(item)[1:] for item in items)
        scope: Scope = {}
        for item in items:
            if item.data == "agent":
                scope = self._itself(item)
            self._read(item, scope if item.data in OF_AGENTS else {})

    def _itself(self, agent: Node) -> Scope:
        """Return the scope of the items of an agent: which of many it is."""
        _, *each = tokens_of(agent)
        if not each:
            return {}
        name, sort = each
        self._named("sort", sort)
        return {SELF: Symbol("variable", SELF), str(name): self._variable(name)}

    def _declare(self, item: Node) -> None:
        """Declare the name that an item declares for the whole file."""
        kinds: Mapping[str, Kind] = {
            "title": "deployment", "gate": "gate",
            "sorts": "sort", "finite_sort": "sort", "ordered_sort": "sort",
            "numbers": "sort", "relation": "relation", "define": "define", "tool": "tool", "event": "event",
            "agent": "agent", "policy": "policy", "spec": "spec", "invariant": "spec",
        }  # fmt: skip
        if item.data not in kinds:
            return
        first, *others = tokens_of(item)
        self._named(kinds[item.data], first, declares=True)
        if item.data == "sorts":
            for token in others:
                self._named("sort", token, declares=True)
        for column in trees_of(trees_of(item)[0]) if item.data == "relation" else ():
            *name, sort = (token for token in tokens_of(column) if token.type == "NAME")
            for token in name:
                self._column(first, token, declares=True)
            self._named("sort", sort)
        values = [token for token in others if token.type in ("NAME", "TRUE", "FALSE")]
        values += [token for tree in trees_of(item) if tree.data == "terms" for token in tokens_of(tree)]
        if item.data in ("finite_sort", "ordered_sort"):
            for token in values:
                self._constant(token, declares=True)

    def _declare_constants(self, item: Node) -> None:
        """Declare the constants of D0 first: a policy that precedes `init` may name them."""
        match item.data:
            case "init":
                for fact in trees_of(item):
                    for token in _terms(fact):
                        self._constant(token, declares=True)
            case "text":
                self._constant(_named_text(item)[0], declares=True)
            case _:
                pass

    def _column(self, relation: Token, token: Token, *, declares: bool = False) -> None:
        """Note a column, whose name is separate from those of the columns of other relations."""
        symbol = self._global.setdefault((f"column of {relation}", str(token)), Symbol("column", str(token)))
        symbol.places.append(_place(token))
        if declares and symbol.declaration is None:
            symbol.declaration = _place(token)

    def _columns(self, node: Node) -> None:
        """Note the names of columns in an atom or a fact."""
        for row in trees_of(node):
            for cell in trees_of(row):
                if cell.data == "named":
                    self._column(tokens_of(node)[0], tokens_of(cell)[0])

    def _constant(self, token: Token, *, declares: bool = False) -> None:
        if not _is_number(token) and token != fo.WILDCARD:
            self._named("constant", token, declares=declares)

    # scopes

    def _read(self, node: Node, scope: Scope) -> Scope:
        """Note the names of a node that are not declared for the whole file; return the scope after it."""
        names = [token for token in tokens_of(node) if token.type == "NAME"]
        for token in names if node.data in _USED else ():
            self._named(_USED[node.data], token)
        for token in names if node.data == "audience" else ():
            if token != ANY:
                known = (kind for kind in _AUDIENCE if (kind, str(token)) in self._global)
                self._named(next(known, "policy"), token)
        match node.data:
            case "fact":
                self._columns(node)
                return scope
            case "relation":
                columns, *total = trees_of(node)
                for to in (*(to for column in trees_of(columns) for to in trees_of(column)), *total):
                    self._relation(tokens_of(to)[0])
                return scope
            case "finite_sort" | "fair_calls":
                return scope  # the names below it are declared already, or have no meaning
            case "text":
                for token in names[1:]:
                    self._named("sort", token)
            case "binder" | "declared" | "over" | "declared_over":
                name, *sorts = names
                for token in sorts:
                    self._named("sort", token)
                return {**scope, str(name): self._variable(name)}
            case "did" | "refused":
                tool, *by = names
                self._named("tool", tool)
                for token in by:
                    self._named("agent", token)
            case "offered":
                self._named("tool", names[0])
            case "rule" | "line":
                scope = self._arguments(trees_of(node)[0], scope)
            case "atom" | "primed":
                self._atom(node, scope)
                return scope
            case "set":
                relation = tokens_of(trees_of(node)[0])[0]
                for part in trees_of(node):
                    if part.data == "into_column":
                        self._column(relation, tokens_of(part)[0])
            case "into_column":
                for token in tokens_of(node)[1:]:
                    self._term(token, scope)
            case "tally":  # the summand precedes the declaration of its variables
                [over, *others] = sorted(trees_of(node), key=lambda part: part.data != "tallied")
                inner = self._read(over, scope)
                for token in names:
                    self._term(token, inner)
                for part in others:
                    self._read(part, inner)
                return scope
            case "equal" | "unequal" | "compare" | "terms" | "cells" | "sum" | "open_sum":
                for token in tokens_of(node):
                    if token.type not in ("ORDERING", "SIGN"):
                        self._term(token, scope)
            case _:
                pass
        parts = trees_of(node)
        if node.data != "effect":  # its variables are for all parts of the node, also earlier ones
            parts.sort(key=lambda part: part.data not in _BINDING)
        for part in parts:
            if part.data != "call":
                inner = self._read(part, scope)
                scope = inner if part.data in _BINDING else scope
        return scope

    def _variable(self, token: Token) -> Symbol:
        symbol = Symbol("variable", str(token), _place(token), [_place(token)])
        if not (self._has_many and token == SELF):  # which is a word of the language there
            self._local.append(symbol)
        return symbol

    def _term(self, token: Token, scope: Scope) -> None:
        if str(token) in scope:
            scope[str(token)].places.append(_place(token))
        else:
            self._constant(token)

    def _arguments(self, call: Node, outer: Scope) -> Scope:
        """Return the scope of a policy line: an argument of its call is a variable, or a constant.

        It is a constant if the file declares one of that name.
        """
        tool = tokens_of(call)[0]
        self._named("tool", tool)
        scope = dict(outer)
        for position, token in enumerate(_terms(call)):
            constant = self._global.get(("constant", str(token)))
            declared = constant is not None and constant.declaration is not None
            if _is_number(token) or token == fo.WILDCARD or declared or str(token) in scope:
                self._term(token, scope)
            else:
                scope[str(token)] = self._variable(token)
                scope[str(token)].argument = (str(tool), position)
        return scope

    def _atom(self, node: Node, scope: Scope) -> None:
        name, terms = tokens_of(node)[0], _terms(node)
        declared = ("relation", str(name)) in self._global
        if str(name) in _ABBREVIATIONS and len(terms) == 1 and not declared:
            self._named("relation", terms[0])
            return
        if str(name) != _SUCCESSOR or declared:
            self._relation(name)
        self._columns(node)
        for token in terms:
            self._term(token, scope)
        for cell in _cells(node):
            for part in (cell, *trees_of(cell)) if isinstance(cell, Tree) else ():
                if part.data != "named":
                    self._read(part, scope)

    def _relation(self, token: Token) -> None:
        """Note a relation, written `P`, or `P'` in an `ensure`, or the tool of a call `t@1` in a message."""
        kind: Kind = "tool" if token.type == "PLACED" else "relation"
        name = token.partition("@")[0].removesuffix("'")
        self._named(kind, Token(token.type, name, line=token.line, column=token.column))


def _terms(node: Node) -> list[Token]:
    """Return the names and numbers that are arguments of an atom, a fact or a call, in the order written."""
    named = [tokens_of(cell)[1:] if isinstance(cell, Tree) else [cell] for cell in _plain(node)]
    return [token for tokens in named for token in tokens]


def _plain(node: Node) -> list[Token | Node]:
    """Return the arguments without those that are a sum or a count."""
    return [cell for cell in _cells(node) if not isinstance(cell, Tree) or cell.data == "named"]


def _cells(node: Node) -> list[Token | Node]:
    return [
        cell
        for child in trees_of(node)
        if child.data in ("terms", "row", "cells")
        for cell in child.children
        if cell is not None
    ]


def _named_text(item: Node) -> list[Token]:
    """Return the name of a text, and its sort if it is written."""
    return [token for token in tokens_of(item) if token.type == "NAME"]


def _place(token: Token) -> Place:
    return Place(token.line or 1, token.column or 1, len(token))


def renamed(text: str, places: list[Place], name: str) -> str:
    """Return the text with another name at these places."""
    lines = text.split("\n")
    for place in sorted(places, reverse=True):
        line = lines[place.line - 1]
        begin = place.column - 1
        lines[place.line - 1] = f"{line[:begin]}{name}{line[begin + place.length :]}"
    return "\n".join(lines)


def clashes(text: str, symbol: Symbol, name: str) -> str | None:
    """Return why a symbol cannot be renamed to a name, or None if every name keeps its meaning.

    A name would be captured, the text would no longer be a deployment, or data that are not read here may
    have the name.
    """
    if not is_name(name):
        return f"{name!r} is no name; use letters, digits and _, with no digit first"
    of_data = symbol.kind == "constant" or symbol.argument is not None
    new = renamed(text, symbol.places, name)
    try:
        before, after = Names(text), Names(new)
    except InputError as error:
        return f"{name} is no name there ({error.message})"
    if before.meaning() != after.meaning():
        return f"with the name {name} something in the file would mean something else"
    if of_data and read_items(text, "<text>").loads:
        return f"the data that the file reads may have {symbol.name} or {name} too; rename it by hand"
    try:
        parse_deployment(text)
    except InputError:
        return None  # a file with errors cannot get worse
    try:
        parse_deployment(new)
    except InputError as error:
        return error.message
    return None


def declared(names: Names) -> Iterator[Symbol]:
    """Return the symbols that the file declares for all of it, in the order of their places."""
    return (symbol for symbol in names.symbols if symbol.declaration and symbol.kind != "variable")


def _is_number(token: Token) -> bool:
    return token.removeprefix("-").isdecimal()
