"""Parse formulas, and convert lark's errors to messages of one line.

One decision: the parser knows no schema, so its formulas are raw. A name is a `Var` if a quantifier of the
text binds it, and otherwise a `Name`, which `logic.sorts.resolve` classifies. The grammar is `formula.lark`.
`deployment.language` extends it and reads the formulas in its trees with `FormulaReader`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, TypeAlias, cast

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

import stead_sym.logic.syntax as fo
from stead_sym.errors import ParseError, Span
from stead_sym.logic.habits import habit
from stead_sym.logic.lexer import TerminalLexer
from stead_sym.support.caches import cache_folder, keep_last

Node: TypeAlias = Tree[Token]

MAX_DIGITS = 9

FORMULA_GRAMMAR = files("stead_sym.logic").joinpath("formula.lark").read_text(encoding="utf-8")

PHRASES: Mapping[str, str] = {
    "_NOT": "a formula",
    "_AND": "a connective (& | -> <->)",
    "_IFF": "a connective (& | -> <->)",
    "DERIVED": "a connective (& | -> <->)",
    "NAME": "a name",
    "INT": "a number",
    "NUMERAL": "a number",
    "_FOR": "`for`",
    "U": "`U` or `W`",
    "_EQUAL": "`=`",
    "ORDERING": "`<`, `<=`, `>` or `>=`",
    "_BY": "`by`",
    "_IN": "`in`",
    "_DOT": "`.`",
    "_COMMA": "`,`",
    "_COLON": "`:`",
    "_LPAR": "`(`",
    "_RPAR": "`)`",
    "_LSQB": "`[`",
    "_RSQB": "`]`",
    "$END": "the end",
}
"""The phrase for a terminal in a message; a terminal that represents a group has the group's phrase."""


def parse_formula(text: str, *, source: str = "<formula>") -> fo.Raw:
    """Return the formula that a text denotes; raise `ParseError` if it denotes none.

    `<->` associates to the left, `->` to the right, `~>` to neither. `a & b & c` is one conjunction of three
    parts, and parentheses are kept as nesting. A relation without arguments may be written without `()`.
    """
    return _read(text, source)


@keep_last(1_000)
def _read(text: str, source: str) -> fo.Raw:
    return FormulaReader(source).formula(parse_tree(_parser(), text, "formula", source, PHRASES))


def parse_binders(text: str) -> tuple[fo.Binder, ...]:
    """Return the variables of a list `x, y: s`, or of `x in s`, as written after `forall`.

    Raise `ParseError`.
    """
    source = "<variables>"
    return FormulaReader(source).binders(parse_tree(_parser(), text, "quantified", source, PHRASES))


def parse_tallied(text: str) -> tuple[fo.Binder, ...]:
    """Return the variables of a list `x, y: s, z in t`, as written after `count`. Raise `ParseError`."""
    source = "<variables>"
    return FormulaReader(source).over(parse_tree(_parser(), text, "tallied", source, PHRASES))


@cache
def _parser() -> Lark:
    return build_parser("formulas", FORMULA_GRAMMAR, ("formula", "quantified", "tallied"))


def build_parser(name: str, grammar: str, starts: tuple[str, ...]) -> Lark:
    """Return an LALR parser with a contextual lexer: a word is a keyword only where the grammar allows one.

    Its tables take a fifth of a second to compute, longer than most files take to verify. They are therefore
    cached by ``name`` in the user's cache folder, if it is writable. Lark recomputes them if the cached ones
    are damaged, or of another grammar or version of lark.
    """
    kept = cache_folder("grammars") / f"{name}.lark"
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
    return Lark(
        grammar,
        parser="lalr",
        start=list(starts),
        propagate_positions=True,
        maybe_placeholders=True,
        cache=str(kept),
        _plugins={"ContextualLexer": TerminalLexer},
    )


def parse_tree(parser: Lark, text: str, start: str, source: str, phrases: Mapping[str, str]) -> Node:
    """Return the syntax tree; raise `ParseError` for invalid text and for nesting beyond `MAX_DEPTH`."""
    if not isinstance(text, str):
        raise TypeError(f"{text!r} is no text; give what is to be read as text in the language")
    try:
        tree = parser.parse(text, start=start)
    except UnexpectedInput as error:
        raise _parse_error(error, text, source, phrases) from None
    todo = [(tree, 1)]
    while todo:
        node, depth = todo.pop()
        if depth > fo.MAX_DEPTH:
            where = Span(source, node.meta.line, node.meta.column) if not node.meta.empty else None
            raise ParseError(f"nested more than {fo.MAX_DEPTH} deep; name a part of it with `define`", where)
        todo.extend((child, depth + _quantifiers(node)) for child in trees_of(node))
    return tree


def _quantifiers(node: Node) -> int:
    """Return the depth that a node adds: each variable of a list is a quantifier."""
    listed = trees_of(node)[-2] if node.data in ("forall", "exists", "tally") else None
    return len(listed.children) if listed is not None and listed.data in ("binders", "tallied") else 1


def _parse_error(error: UnexpectedInput, text: str, source: str, phrases: Mapping[str, str]) -> ParseError:
    match error:
        case UnexpectedToken() if error.token.type == "$END":
            written = text.rstrip()
            line = written.count("\n") + 1
            place = Span(source, line, len(written) - (written.rfind("\n") + 1) + 1)
            found, allowed = "unexpected end", error.accepts or error.expected
        case UnexpectedToken():
            place = Span(source, error.line, error.column)
            found, allowed = f'unexpected "{_short(error.token)}"', error.accepts or error.expected
        case UnexpectedCharacters() if error.char == '"' and "STRING" in phrases:
            # the lexer has read the first two of three opening quotes as an empty text
            opened = 2 * text.startswith('""', max((error.pos_in_stream or 0) - 2, 0))
            return ParseError(
                'a text that is not closed; end it with " on the same line, or with """ if it starts so',
                Span(source, error.line, error.column - opened),
            )
        case UnexpectedCharacters():
            place = Span(source, error.line, error.column)
            found, allowed = f'unexpected "{error.char}"', error.allowed
        case _:
            raise error
    mend = None if found == "unexpected end" else habit(text, error.pos_in_stream or 0, set(allowed))
    return ParseError(f"{found}; {mend or f'expected {_alternatives(set(allowed), phrases)}'}", place)


def _short(text: str) -> str:
    first = text.split("\n", 1)[0]
    return first if first == text and len(first) <= 40 else first[:37] + "…"


def _alternatives(terminals: set[str], phrases: Mapping[str, str]) -> str:
    if terminals & {"_NOT", "_AND", "_IFF", "DERIVED"} or "NUMERAL" in terminals:
        terminals -= {"_LPAR"}
    if "_NOT" in terminals:
        terminals -= {"NAME", "INT", "NUMERAL"}
    listed = list(dict.fromkeys(phrase for terminal, phrase in phrases.items() if terminal in terminals))
    return (
        " or ".join(part for part in (", ".join(listed[:-1]), listed[-1]) if part)
        if listed
        else "nothing more"
    )


@dataclass(frozen=True, slots=True)
class FormulaReader:
    """A reader of the formula grammar's trees; ``source`` is the name of the text in every span."""

    source: str

    def span(self, node: Node | Token) -> Span | None:
        """Return the start of the node; None if it has no token."""
        if isinstance(node, Token):
            return Span(self.source, node.line or 1, node.column or 1)
        return None if node.meta.empty else Span(self.source, node.meta.line, node.meta.column)

    def number(self, token: Token) -> int:
        """Return the value of a numeral; raise `ParseError` if it has more than `MAX_DIGITS` digits."""
        if len(token) > MAX_DIGITS:
            raise ParseError(
                f"a number of {len(token)} digits; write one of {MAX_DIGITS} at most", self.span(token)
            )
        return int("".join(token.split()))

    def terms(self, node: Node, bound: frozenset[str] = frozenset()) -> tuple[fo.Term, ...]:
        """Return the terms of a list; names in ``bound`` are variables."""
        return tuple(self.term(part, bound) for part in node.children)

    def term(self, node: Node | Token, bound: frozenset[str] = frozenset()) -> fo.Term:
        """Return one term; names in ``bound`` are variables."""
        span = self.span(node)
        if isinstance(node, Token):
            if node.type == "NUMERAL":
                return fo.Name(str(self.number(node)), span=span)
            return fo.Var(str(node), span=span) if str(node) in bound else fo.Name(str(node), span=span)
        if node.data in ("sum", "open_sum"):
            left, sign, right = node.children
            return fo.Sum(
                self.term(left, bound), cast(fo.Sign, str(sign)), self.term(right, bound), span=span
            )
        *of, listed, condition = node.children[1:]
        assert isinstance(listed, Tree)
        assert isinstance(condition, Tree)
        binders = self.over(listed)
        inner = bound | {binder.name for binder in binders}
        each: fo.Formula = fo.Weight(
            tuple(self.term(term, inner) for term in of), self.formula(condition, inner), span=span
        )
        for binder in reversed(binders):
            each = fo.Each(binder, each, span=binder.span)
        return fo.Tally(each, span=span)

    def over(self, node: Node) -> tuple[fo.Binder, ...]:
        """Return the variables of a `count` or `sum`, `x: s, y in t`."""
        found: list[fo.Binder] = []
        default: str | None = None
        for child in reversed(trees_of(node)):
            name, *sort = tokens_of(child)
            declared = child.data == "declared_over"
            known = str(sort[0]) if sort else None
            found.append(
                fo.Binder(str(name), known, None if sort else default, declared, span=self.span(name))
            )
            default = default if declared else known or default
        return tuple(reversed(found))

    def atom(self, node: Node, bound: frozenset[str] = frozenset(), *, into: bool = False) -> fo.Atom:
        """Return the atom `P(t, u)`, or `P` for `P()`, or `P(c = t, d = u)`.

        Raise `ParseError` for an atom with both named and unnamed arguments. ``into``: it stands behind
        `set`, where the unnamed ones may be meant as the key.
        """
        name, row = tokens_of(node)[0], node.children[1]
        cells = row.children if isinstance(row, Tree) else []
        named = [cell for cell in cells if isinstance(cell, Tree) and cell.data == "named"]
        if named and len(named) < len(cells):
            mend = "name the columns of all, or of none"
            if into and cells[-len(named) :] == named:
                key = ", ".join(str(self.term(cell, bound)) for cell in cells[: -len(named)])
                values = ((tokens_of(cell)[0], self.term(cell.children[1], bound)) for cell in named)
                mend = "write " + " and ".join(f"`set {name}({key}).{c} = {value}`" for c, value in values)
            raise ParseError(
                f"{name} has arguments with and without a column's name; {mend}", self.span(named[0])
            )
        args = tuple(
            self.term(c.children[1] if isinstance(c, Tree) and c.data == "named" else c, bound) for c in cells
        )
        columns = tuple(str(tokens_of(cell)[0]) for cell in named)
        return fo.Atom(str(name), args, columns=columns, span=self.span(node))

    def binders(self, node: Node) -> tuple[fo.Binder, ...]:
        """Return the variables of a list; one without a sort has the next sort in the list as its default."""
        found: list[fo.Binder] = []
        default: str | None = None
        if node.data == "declared":
            name, sort = tokens_of(node)
            return (fo.Binder(str(name), str(sort), declared=True, span=self.span(name)),)
        for child in reversed(trees_of(node)):
            binder = self.binder(child, default)
            default = binder.known_sort or default
            found.append(binder)
        return tuple(reversed(found))

    def binder(self, node: Node, default: str | None = None) -> fo.Binder:
        """Return one variable, `x` or `x: s`."""
        name, *sort = tokens_of(node)
        return (
            fo.Binder(str(name), str(sort[0]), span=self.span(name))
            if sort
            else fo.Binder(str(name), None, default, span=self.span(name))
        )

    def formula(self, node: Node, bound: frozenset[str] = frozenset()) -> fo.Raw:
        """Return the formula of a tree, inside quantifiers for the variables ``bound``."""
        span, tokens = self.span(node), tokens_of(node)
        match node.data:
            case "truth":
                return fo.Truth(tokens[0] == "true", span=span)
            case "atom":
                return _abbreviation(self.atom(node, bound))
            case "primed":
                args = self.terms(trees_of(node)[0], bound)
                return fo.Atom(tokens[0].removesuffix("'"), args, primed=True, span=span)
            case "equal":
                return fo.Equal(*self.terms(node, bound), span=span)
            case "unequal":
                return fo.Not(fo.Equal(*self.terms(node, bound), span=span), span=span)
            case "compare":
                left, ordering, right = node.children
                return fo.Compare(
                    cast(fo.Ordering, str(ordering)),
                    self.term(left, bound),
                    self.term(right, bound),
                    span=span,
                )
            case "did" | "refused":
                tool, *by = tokens
                args = self.terms(trees_of(node)[0], bound)
                agent = str(by[0]) if by else None
                return fo.Did(str(tool), args, agent, node.data == "refused", span=span)
            case "offered":
                return fo.Use(fo.OFFERED + tokens[0], self.terms(trees_of(node)[0], bound), span=span)
            case "forall" | "exists":
                list_node, body_node = trees_of(node)
                binders = self.binders(list_node)
                body = self.formula(body_node, bound | {b.name for b in binders})
                quantifier = fo.Forall if node.data == "forall" else fo.Exists
                for k, binder in reversed(list(enumerate(binders))):
                    body = quantifier(binder, body, span=binder.span if k else span)
                return body
            case "count":
                binder_node, body_node = trees_of(node)
                binder = self.binder(binder_node)
                body = self.formula(body_node, bound | {binder.name})
                comparison = cast(fo.Comparison, str(tokens[0]))
                return fo.Count(comparison, self.number(tokens[1]), binder, body, span=span)
        parts = tuple(self.formula(child, bound) for child in trees_of(node))
        path: fo.Path = _path(tokens)
        match node.data:
            case "not_":
                return fo.Not(*parts, span=span)
            case "and_":
                return fo.And(parts, span=span)
            case "or_":
                return fo.Or(parts, span=span)
            case "implies":
                return fo.Implies(*parts, span=span)
            case "iff":
                return fo.Iff(*parts, span=span)
            case "derived":
                return fo.Derived(str(tokens[0]), parts, span=span)
            case "since":
                return fo.Since(*parts, span=span)
            case "past":
                word = str(tokens[0])
                return (
                    fo.Previously(*parts, span=span)
                    if word == "previously"
                    else fo.Derived(word, parts, span=span)
                )
            case "next":
                return fo.Next(path, *parts, span=span)
            case "future":
                return fo.Future(path, *parts, span=span)
            case "globally":
                return fo.Globally(path, *parts, span=span)
            case "until":
                return fo.Until(path, parts[0], parts[1], weak=tokens[1] == "W", span=span)
            case other:
                raise AssertionError(f"the grammar has a rule {other} that nothing reads")


def _path(tokens: list[Token]) -> Literal["A", "E"]:
    return "E" if tokens and tokens[0].startswith("E") else "A"


def _abbreviation(atom: fo.Atom) -> fo.Formula:
    """Return `same(P)` and `empty(P)` as such, other atoms unchanged.

    `resolve` turns them back into atoms if the deployment has a relation of that name.
    """
    if atom.relation in ("same", "empty") and len(atom.args) == 1 and not atom.columns:
        abbreviation = fo.Same if atom.relation == "same" else fo.Empty
        return abbreviation(str(atom.args[0]), span=atom.span)
    return atom


def trees_of(node: Node) -> list[Node]:
    """Return the children of a node that are nodes."""
    return [child for child in node.children if isinstance(child, Tree)]


def tokens_of(node: Node) -> list[Token]:
    """Return the children of a node that are tokens."""
    return [child for child in node.children if isinstance(child, Token)]
