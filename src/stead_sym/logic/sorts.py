"""The step from raw to resolved formulas: names told apart, and the sort of each variable.

One decision: a variable that its binder gives no sort gets the one that its uses ask for, found by
union-find over the binders (positions of atoms, equalities). A sort that is written always wins,
and one that only a later name of the same list was given (`x, y: s`) counts last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias, assert_never

from stead_sym.errors import DeclarationError, Span
from stead_sym.logic.names import WORDS, Names, check_name, nearest
from stead_sym.logic.substitution import expand, substitute
from stead_sym.logic.syntax import (
    And,
    Atom,
    Binder,
    Const,
    Count,
    Empty,
    Equal,
    Exists,
    Expanded,
    Forall,
    Formula,
    Future,
    Globally,
    Iff,
    Implies,
    Name,
    Next,
    Not,
    Or,
    Quantified,
    Raw,
    Resolved,
    Same,
    Term,
    Truth,
    Until,
    Use,
    Var,
    conjunction,
    disjunction,
    map_children,
    subformulas,
    unexpanded,
)  # fmt: skip

__all__ = ["WORDS", "Names", "check_name", "expand", "nearest", "resolve", "substitute", "variables_by_sort"]

_NOTHING: Mapping[str, str] = MappingProxyType({})


def resolve(
    formula: Raw,
    names: Names,
    scope: Mapping[str, str] = _NOTHING,
    *,
    temporal: bool = False,
    primed: bool = False,
) -> Resolved:
    """The formula with names told apart, sorts given to binders, and definitions told from relations.

    A name is a variable where a quantifier of the formula or ``scope`` (variable → sort) declares it, and
    a constant otherwise. ``temporal`` and ``primed`` allow temporal operators, and primed symbols
    with `same` and `empty`. Raises `DeclarationError` for whatever is unknown, misplaced, of the wrong arity
    or sort, or of a sort that nothing determines.
    """
    inference = _Inference(names, temporal, primed)
    named = inference.formula(formula, dict(scope))
    return _with_sorts(named, iter(inference.solution()))


def _with_sorts(formula: Formula, solution: Iterator[str]) -> Formula:
    if isinstance(formula, Quantified) and formula.binder.known_sort is None:
        formula = replace(formula, binder=replace(formula.binder, known_sort=next(solution)))
    return map_children(lambda f: _with_sorts(f, solution), formula)


_Type: TypeAlias = str | int
"""A sort that is known, or the number of a binder whose sort is to be inferred."""


@dataclass(slots=True)
class _Inference:
    """One pass over one formula. Binders without a sort are numbered in the order they are met."""

    names: Names
    temporal: bool
    primed: bool
    binders: list[Binder] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    known: dict[int, tuple[str, Span | None]] = field(default_factory=dict)  # root -> sort, where it is from

    def formula(self, formula: Formula, scope: Mapping[str, _Type]) -> Formula:
        match formula:
            case Truth():
                return formula
            case Not() | Implies() | Iff():
                return map_children(lambda f: self.formula(f, scope), formula)
            case And(parts):
                return self._joined(formula, conjunction(tuple(self.formula(f, scope) for f in parts)))
            case Or(parts):
                return self._joined(formula, disjunction(tuple(self.formula(f, scope) for f in parts)))
            case Next() | Future() | Globally() | Until():
                if not self.temporal:
                    raise DeclarationError(
                        "a temporal operator stands in a first-order formula; only `spec` may hold them",
                        formula.span,
                    )
                return map_children(lambda f: self.formula(f, scope), formula)
            case Equal():
                return self._equal(formula, scope)
            case Atom():
                return self._atom(formula, scope)
            case Use(name, args):
                return self._atom(Atom(name, args, span=formula.span), scope)
            case Same(name) | Empty(name):
                word = "same" if isinstance(formula, Same) else "empty"
                if self.names.has_symbol(word):  # the file's own relation of that name
                    return self._atom(Atom(word, (Name(name, span=formula.span),), span=formula.span), scope)
                self._allow_primed(f"{word}({name})", formula.span)
                self._relation(name, formula.span)
                return formula
            case Exists() | Forall() | Count():
                return self._quantified(formula, scope)
            case _:
                assert_never(formula)

    @staticmethod
    def _joined(formula: And | Or, joined: Formula) -> Formula:
        return replace(joined, span=formula.span) if isinstance(joined, type(formula)) else joined

    def _quantified(self, formula: Quantified, scope: Mapping[str, _Type]) -> Formula:
        if isinstance(formula, Count) and formula.number < 0:
            raise DeclarationError(
                f"`{formula.comparison} {formula.number}` counts below 0; write 0 or more", formula.span
            )
        binder = formula.binder
        check_name("variable", binder.name, binder.span or formula.span)
        kind: _Type
        if binder.known_sort is not None:
            kind = self.names.sort(binder.known_sort, binder.span or formula.span)
        else:
            kind = len(self.binders)
            self.binders.append(replace(binder, span=binder.span or formula.span))
            self.parent.append(kind)
        body = self.formula(formula.body, {**scope, binder.name: kind})
        return replace(formula, body=body)

    def _atom(self, atom: Atom, scope: Mapping[str, _Type]) -> Atom | Use:
        if atom.primed:
            self._allow_primed(f"{atom.relation}'", atom.span)
            self._relation(atom.relation, atom.span)
        signature = self.names.signature(atom.relation, atom.span)
        if len(atom.args) != len(signature):
            takes = ", ".join(signature) or "none"
            raise DeclarationError(
                f"{atom.relation} takes {_arguments(len(signature))} ({takes}), not {len(atom.args)}; "
                "give it that many",
                atom.span,
            )
        args = []
        for position, (sort, written) in enumerate(zip(signature, atom.args, strict=True), 1):
            term, kind = self._term(written, scope, atom.span)
            place = f"argument {position} of {atom.relation}"
            self._expect(term, kind, sort, place, term.span or atom.span)
            args.append(term)
        if atom.relation in self.names.definitions:
            return Use(atom.relation, tuple(args), span=atom.span)
        return replace(atom, args=tuple(args))

    def _equal(self, formula: Equal, scope: Mapping[str, _Type]) -> Equal:
        left, left_kind = self._term(formula.left, scope, formula.span)
        right, right_kind = self._term(formula.right, scope, formula.span)
        left_sort, right_sort = self._sort(left_kind), self._sort(right_kind)
        if left_sort and right_sort and left_sort != right_sort:
            raise DeclarationError(
                f"{left} is of sort {left_sort} and {right} of sort {right_sort}: no value is of both; "
                "compare values of one sort",
                formula.span,
            )
        if isinstance(left_kind, int) and isinstance(right_kind, int):
            self._union(left_kind, right_kind)
        elif isinstance(left_kind, int):
            self.known.setdefault(self._root(left_kind), (str(right_sort), formula.span))
        elif isinstance(right_kind, int):
            self.known.setdefault(self._root(right_kind), (str(left_sort), formula.span))
        return replace(formula, left=left, right=right)

    def _term(self, term: Term, scope: Mapping[str, _Type], around: Span | None) -> tuple[Term, _Type]:
        name = str(term)
        if name in scope:
            return Var(name, span=term.span), scope[name]
        span = term.span or around
        if isinstance(term, Var):
            raise DeclarationError(f"no binder declares the variable {name}; quantify it", span)
        if name not in self.names.constants:
            hint = nearest(
                name, (*scope, *self.names.constants), "quantify it, or put it in a finite sort or `init`"
            )
            raise DeclarationError(
                f"unknown name {name}: no binder declares it and it is no constant of the deployment; {hint}",
                span,
            )
        return Const(name, span=term.span), self.names.constants[name]

    def _expect(self, term: Term, kind: _Type, sort: str, place: str, span: Span | None) -> None:
        found = self._sort(kind)
        if found is None:
            assert isinstance(kind, int)
            self.known[self._root(kind)] = (sort, span)
        elif found != sort:
            origin = self.known[self._root(kind)][1] if isinstance(kind, int) else None
            since = f" (from {origin.line}:{origin.column})" if origin else ""
            mend = "use another variable" if isinstance(term, Var) else f"use a constant of sort {sort}"
            raise DeclarationError(
                f"{term} is of sort {found}{since}, but {place} is of sort {sort}; {mend}", span
            )

    def _allow_primed(self, what: str, span: Span | None) -> None:
        if not self.primed:
            raise DeclarationError(f"{what} reads the state after the call; only `ensure` may do so", span)

    def _relation(self, name: str, span: Span | None) -> None:
        if name in self.names.definitions:
            raise DeclarationError(f"{name} is a define; here stands a relation of the schema", span)
        self.names.signature(name, span)

    def _root(self, number: int) -> int:
        while self.parent[number] != number:
            self.parent[number] = self.parent[self.parent[number]]
            number = self.parent[number]
        return number

    def _sort(self, kind: _Type) -> str | None:
        if isinstance(kind, str):
            return kind
        found = self.known.get(self._root(kind))
        return found[0] if found else None

    def _union(self, left: int, right: int) -> None:
        """Join two classes that do not know different sorts."""
        a, b = self._root(left), self._root(right)
        if a != b:
            self.parent[b] = a
            if b in self.known:
                self.known.setdefault(a, self.known.pop(b))

    def solution(self) -> tuple[str, ...]:
        """The sort of every numbered binder; what no use determines falls back on the list's sort."""
        offered: dict[int, set[str]] = {}
        for number, binder in enumerate(self.binders):
            if binder.default is not None:
                offered.setdefault(self._root(number), set()).add(binder.default)
        for number, binder in enumerate(self.binders):
            root = self._root(number)
            choices = offered.get(root, set())
            if root in self.known:
                continue
            if len(choices) != 1:
                why = f"{binder.name} may be of sort {' or '.join(sorted(choices))}" if choices else (
                    f"nothing says of which sort {binder.name} is"
                )  # fmt: skip
                raise DeclarationError(f"{why}; write `{binder.name}: SORT`", binder.span)
            self.known[root] = (choices.pop(), binder.span)
        return tuple(self.known[self._root(number)][0] for number in range(len(self.binders)))


def _arguments(count: int) -> str:
    return "1 argument" if count == 1 else f"{count} arguments"


def variables_by_sort(formula: Expanded) -> Mapping[str, frozenset[str]]:
    """var_S: the distinct names of the variables that the quantifiers of sort S bind.

    A sort without variables is no key. Raises `TypeError` for a formula that is not expanded: the variables
    of its definitions would be missing.
    """
    variables: dict[str, set[str]] = {}
    for f in subformulas(formula):
        match f:
            case Exists(binder) | Forall(binder) | Count(_, _, binder):
                variables.setdefault(binder.sort, set()).add(binder.name)
            case Use():
                raise unexpanded(f)
            case _:
                pass
    return {sort: frozenset(found) for sort, found in variables.items()}
