"""The step from raw to resolved formulas: names told apart, and the sort of each variable.

One decision: a variable that its binder gives no sort gets the one that its uses ask for, found by
union-find over the binders (positions of atoms, equalities, comparisons). A sort that is written always wins,
and one that only a later name of the same list was given (`x, y: s`) counts last. A numeral that several
sorts list is of the sort that its place asks for, found in the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias

from stead_sym.errors import DeclarationError, Span
from stead_sym.logic.columns import by_position
from stead_sym.logic.derived import meaning
from stead_sym.logic.names import WORDS, Names, check_name, nearest
from stead_sym.logic.substitution import expand, substitute
from stead_sym.logic.syntax import (
    WILDCARD,
    And,
    Atom,
    Compare,
    Const,
    Count,
    Derived,
    Empty,
    Equal,
    Exists,
    Expanded,
    Forall,
    Formula,
    Iff,
    Name,
    Or,
    Quantified,
    Raw,
    Resolved,
    Same,
    Temporal,
    Term,
    Use,
    Var,
    Wildcard,
    children,
    conjunction,
    disjunction,
    map_children,
    subformulas,
    terms,
    unexpanded,
)  # fmt: skip
from stead_sym.relational.schema import Schema

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
    if isinstance(formula, Compare):
        sort = next(solution)
        left, right = (Wildcard(sort, span=t.span) if is_wildcard(t) else t for t in terms(formula))
        return replace(formula, left=left, right=right, known_sort=sort)
    return map_children(lambda f: _with_sorts(f, solution), formula)


_Type: TypeAlias = str | int
"""A sort that is known, or the number of a variable or numeral whose sort is to be inferred."""


@dataclass(frozen=True, slots=True)
class _Unknown:
    """A variable or a numeral without a sort so far. ``default`` is a variable's (`Binder.default`),
    ``among`` are the sorts that list a numeral."""

    name: str
    span: Span | None
    default: str | None = None
    among: tuple[str, ...] = ()


@dataclass(slots=True)
class _Inference:
    """One pass over one formula. What has no sort yet is numbered in the order it is met; ``asked`` are the
    types of the binders without a sort and of the comparisons, in that order."""

    names: Names
    temporal: bool
    primed: bool
    unknown: list[_Unknown] = field(default_factory=list)
    asked: list[_Type | tuple[_Type, Compare]] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    known: dict[int, tuple[str, Span | None]] = field(default_factory=dict)  # root -> sort, where it is from

    def formula(self, formula: Formula, scope: Mapping[str, _Type]) -> Formula:
        outermost = meaning(formula) if isinstance(formula, Derived) else formula
        if isinstance(outermost, Temporal) and not self.temporal:
            raise DeclarationError(
                "a temporal operator stands in a first-order formula; only `spec` may hold them",
                formula.span,
            )
        match formula:
            case And(parts):
                return self._joined(formula, conjunction(tuple(self.formula(f, scope) for f in parts)))
            case Or(parts):
                return self._joined(formula, disjunction(tuple(self.formula(f, scope) for f in parts)))
            case Equal():
                return self._equal(formula, scope)
            case Compare():
                return self._compare(formula, scope)
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
                return map_children(lambda f: self.formula(f, scope), formula)

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
        span = binder.span or formula.span
        if binder.known_sort is not None:
            kind = self.names.sort(binder.known_sort, span)
            if binder.declared and self.names.schema.sort(kind).values is None:
                raise DeclarationError(
                    f"sort {kind} has no declared values for {binder.name} to range over;"
                    f" write `{binder.name}: {kind}`, over the active ones",
                    span,
                )
        else:
            kind = self._new(_Unknown(binder.name, span, default=binder.default))
            self.asked.append(kind)
        body = self.formula(formula.body, {**scope, binder.name: kind})
        return replace(formula, body=body)

    def _new(self, unknown: _Unknown) -> int:
        self.unknown.append(unknown)
        self.parent.append(len(self.parent))
        return len(self.parent) - 1

    def _atom(self, atom: Atom, scope: Mapping[str, _Type]) -> Atom | Use | Compare:
        atom = by_position(atom, self.names)
        if atom.relation == "succ" and not atom.primed and not self.names.has_symbol("succ"):
            if len(atom.args) != 2:
                raise DeclarationError(
                    f"`succ` takes 2 arguments, not {len(atom.args)}; write `succ(x, y)`", atom.span
                )
            return self._compare(Compare("succ", *atom.args, span=atom.span), scope)
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
        args: list[Term] = []
        for position, (sort, written) in enumerate(zip(signature, atom.args, strict=True), 1):
            if is_wildcard(written):
                args.append(Wildcard(sort, span=written.span))
                continue
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
        self._unify(left, left_kind, right, right_kind, formula.span)
        return replace(formula, left=left, right=right)

    def _compare(self, formula: Compare, scope: Mapping[str, _Type]) -> Compare:
        slot = len(self.asked)
        self.asked.append("")  # comparisons are met before what stands in them
        typed: list[tuple[Term, _Type]] = []
        for written in (formula.left, formula.right):
            if is_wildcard(written) and formula.ordering == "succ":
                typed.append((written, self._new(_Unknown(WILDCARD, written.span))))
            else:
                typed.append(self._term(written, scope, formula.span))
        (left, kind), (right, right_kind) = typed
        if formula.known_sort is not None:  # the formula has been through here before
            self._unify(left, kind, right, formula.known_sort, formula.span)
        self._unify(left, kind, right, right_kind, formula.span)
        compared = replace(formula, left=left, right=right)
        self.asked[slot] = kind, compared
        return compared

    def _unify(self, left: Term, left_kind: _Type, right: Term, right_kind: _Type, span: Span | None) -> None:
        """The two terms are of one sort."""
        left_sort, right_sort = self._sort(left_kind), self._sort(right_kind)
        if left_sort and right_sort and left_sort != right_sort:
            raise DeclarationError(
                f"{left} is of sort {left_sort} and {right} of sort {right_sort}: no value is of both; "
                "compare values of one sort",
                span,
            )
        if isinstance(left_kind, int) and isinstance(right_kind, int):
            self._union(left_kind, right_kind)
        elif isinstance(left_kind, int):
            self.known.setdefault(self._root(left_kind), (str(right_sort), span))
        elif isinstance(right_kind, int):
            self.known.setdefault(self._root(right_kind), (str(left_sort), span))

    def _term(self, term: Term, scope: Mapping[str, _Type], around: Span | None) -> tuple[Term, _Type]:
        name = str(term)
        if name in scope:
            return Var(name, span=term.span), scope[name]
        span = term.span or around
        if isinstance(term, Var):
            raise DeclarationError(f"no binder declares the variable {name}; quantify it", span)
        if is_wildcard(term):
            raise DeclarationError(
                "`_` stands in atoms of formulas and in deletions only; name the value with a quantifier",
                span,
            )
        sorts = self.names.sorts_of(name)
        if len(sorts) > 1:
            return Const(name, span=term.span), self._new(_Unknown(name, span, among=sorts))
        if not sorts and name.isdecimal():
            raise DeclarationError(
                f"no sort of numbers has {name}; declare one as `sort n = 0..{name}`", span
            )
        if not sorts:
            mend = (
                "introduce it (a quantifier; in an effect `choose` or `fresh`), or put it in a finite sort or"
                " `init`"
            )
            hint = nearest(name, (*scope, *self.names.constants), mend)
            raise DeclarationError(
                f"unknown name {name}: no binder declares it and it is no constant of the deployment; {hint}",
                span,
            )
        return Const(name, span=term.span), sorts[0]

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
        """The sort of every binder that has none and of every comparison, in the order they were met. What
        no use determines falls back on the list's sort; a numeral without any has none, and needs none
        outside comparisons."""
        offered: dict[int, set[str]] = {}
        for number, unknown in enumerate(self.unknown):
            if unknown.default is not None:
                offered.setdefault(self._root(number), set()).add(unknown.default)
        for root, choices in offered.items():
            if root not in self.known and len(choices) == 1:
                self.known[root] = (next(iter(choices)), None)
        for number, unknown in enumerate(self.unknown):
            found = self._sort(number)
            if unknown.among and found is not None and found not in unknown.among:
                raise DeclarationError(
                    f"{unknown.name} is no value of sort {found}; take one of it", unknown.span
                )
        return tuple(self._answer(asked, offered) for asked in self.asked)

    def _answer(self, asked: _Type | tuple[_Type, Compare], offered: Mapping[int, set[str]]) -> str:
        comparison = asked[1] if isinstance(asked, tuple) else None
        kind = asked[0] if isinstance(asked, tuple) else asked
        sort = self._sort(kind)
        if sort is None:
            assert isinstance(kind, int)
            unknown, choices = self.unknown[kind], offered.get(self._root(kind), set())
            if comparison is not None:
                raise DeclarationError(
                    f"nothing says of which sort the values of `{comparison}` are;"
                    " compare with a variable `x: SORT`",
                    comparison.span,
                )
            why = f"{unknown.name} may be of sort {' or '.join(sorted(choices))}" if choices else (
                f"nothing says of which sort {unknown.name} is"
            )  # fmt: skip
            raise DeclarationError(f"{why}; write `{unknown.name}: SORT`", unknown.span)
        if comparison is not None and not self.names.schema.sort(sort).ordered:
            raise DeclarationError(
                f"sort {sort} has no order, so that `{comparison}` says nothing;"
                f" declare it as `sort {sort} = {{ first < second }}`",
                comparison.span,
            )
        return sort


def is_wildcard(term: Term) -> bool:
    """The term is `_`, resolved or not."""
    return isinstance(term, Wildcard) or (isinstance(term, Name) and term.text == WILDCARD)


def used_sort(formula: Expanded, name: str, schema: Schema) -> str | None:
    """The sort that the uses of a free variable give it; None where it only stands in equalities with
    constants or with variables of which no more is known."""
    equal = {name}
    while True:
        size = len(equal)
        for part in subformulas(formula):
            match part:
                case Atom(relation, args):
                    for term, sort in zip(args, schema.relation(relation).sorts, strict=True):
                        if isinstance(term, Var) and term.name in equal:
                            return sort
                case Compare(_, left, right):
                    if any(isinstance(term, Var) and term.name in equal for term in (left, right)):
                        return part.sort
                case Exists(binder) | Forall(binder) | Count(_, _, binder) if binder.name in equal - {name}:
                    return binder.sort
                case Equal(Var(one), Var(other)) if {one, other} & equal:
                    equal |= {one, other}
                case _:
                    pass
        if len(equal) == size:
            return None


def _arguments(count: int) -> str:
    return "1 argument" if count == 1 else f"{count} arguments"


def variables_by_sort(formula: Expanded) -> Mapping[str, int]:
    """var_S: how many variables of sort S the formula has, those with one name counted once.

    The paper's formulas have no `f <-> g`: it stands for (f -> g) & (g -> f). A `_` is a variable of its own
    in each of the two copies of f, and counts so. A sort without variables is no key. Raises `TypeError` for
    a formula that is not expanded: the variables of its definitions would be missing.
    """
    named: dict[str, set[str]] = {}
    wild: Counter[str] = Counter()

    def visit(f: Formula, copies: int) -> None:
        match f:
            case Exists(binder) if binder.wild:
                wild[binder.sort] += copies
            case Exists(binder) | Forall(binder) | Count(_, _, binder):
                named.setdefault(binder.sort, set()).add(binder.name)
            case Use():
                raise unexpanded(f)
            case _:
                pass
        for child in children(f):
            visit(child, 2 * copies if isinstance(f, Iff) else copies)

    visit(formula, 1)
    return {sort: len(named.get(sort, ())) + wild[sort] for sort in named.keys() | wild.keys()}
