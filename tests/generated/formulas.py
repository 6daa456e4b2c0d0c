"""Hypothesis strategies for well-sorted formulas.

The decision: variables of every sort share a few names, so that inner binders often shadow outer ones,
with another sort at times, and a retained variable often meets a temporal operator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from hypothesis import strategies as st

from stead_sym.logic.syntax import (
    FALSE,
    TRUE,
    And,
    Atom,
    Binder,
    Compare,
    Comparison,
    Const,
    Count,
    Empty,
    Equal,
    Exists,
    Forall,
    Formula,
    Future,
    Globally,
    Iff,
    Implies,
    Next,
    Not,
    Or,
    Ordering,
    Path,
    Same,
    Term,
    Until,
    Var,
    Wildcard,
)
from stead_sym.relational.schema import Value

_LEAVES = ("atom", "atom", "atom", "equal", "truth")
_BOOLEAN = ("not", "and", "or", "implies", "iff")
_BINDING = ("exists", "forall", "exists", "forall", "count")
_TEMPORAL = ("next", "future", "globally", "until")
_COMPARISONS: tuple[Comparison, ...] = ("atleast", "atmost", "exactly")
_ORDERINGS: tuple[Ordering, ...] = ("<", "<=", ">", ">=", "succ")
_PATHS: tuple[Path, ...] = ("A", "E")


@dataclass(frozen=True, slots=True)
class Signature:
    """The symbols that generated formulas may mention.

    ``symbols``: relations, and definitions, with the sorts of their columns; ``constants``: per sort
    (every sort is a key); ``names``: those that binders take. ``ordered`` sorts are compared, over the
    ``declared`` ones there is `x in s`, and with ``wildcards`` atoms and `succ` have `_` at times.
    """

    symbols: Mapping[str, tuple[str, ...]]
    constants: Mapping[str, Sequence[Value]]
    names: tuple[str, ...] = ("x", "y")
    ordered: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()
    wildcards: bool = False

    @property
    def sorts(self) -> tuple[str, ...]:
        return tuple(self.constants)

    def terms(self, sort: str, scope: Mapping[str, str]) -> list[Term]:
        """The variables of ``scope`` that are of the sort, then its constants."""
        variables = [Var(name) for name, of in scope.items() if of == sort]
        return [*variables, *(Const(c) for c in self.constants[sort] if c not in scope)]

    def tells(self, sort: str, *terms: Term) -> bool:
        """Return if the terms say that they are of the sort: a constant of several sorts and `_` do not."""
        shared = {c for s, constants in self.constants.items() if s != sort for c in constants}
        return any(isinstance(t, Var) or (isinstance(t, Const) and t.value not in shared) for t in terms)


@st.composite
def formulas(
    draw: st.DrawFn,
    signature: Signature,
    scope: Mapping[str, str],
    *,
    depth: int = 2,
    temporal: bool = False,
    primed: Mapping[str, tuple[str, ...]] | None = None,
) -> Formula:
    """A formula with its free variables among ``scope`` (variable → sort); names and sorts are resolved.

    ``depth`` bounds how deep connectives, quantifiers and operators nest. With ``temporal`` it may be of
    FO-CTL; ``primed`` are the relations that it may read in D', with `same` and `empty` (`ensure`).
    """

    def leaf(scope: Mapping[str, str]) -> Formula:
        more = ("primed", "primed", "frame") if primed else ()
        match draw(st.sampled_from(_LEAVES + more + (("compare", "compare") if signature.ordered else ()))):
            case "compare":
                sort = draw(st.sampled_from(signature.ordered))
                ordering = draw(st.sampled_from(_ORDERINGS))
                terms = st.sampled_from(signature.terms(sort, scope))
                left, right = draw(terms), draw(terms)
                if ordering == "succ" and signature.wildcards and draw(st.integers(0, 3)) == 3:
                    left, right = (Wildcard(sort), right) if draw(st.booleans()) else (left, Wildcard(sort))
                return Compare(ordering, left, right, sort) if signature.tells(sort, left, right) else TRUE
            case "equal":
                sorts = [sort for sort in signature.sorts if signature.terms(sort, scope)]
                if not sorts:
                    return TRUE
                sort = draw(st.sampled_from(sorts))
                terms = st.sampled_from(signature.terms(sort, scope))
                left, right = draw(terms), draw(terms)
                return Equal(left, right) if signature.tells(sort, left, right) else TRUE
            case "truth":
                return draw(st.sampled_from((TRUE, FALSE)))
            case "frame":
                relation = draw(st.sampled_from(sorted(primed or ())))
                return Same(relation) if draw(st.booleans()) else Empty(relation)
            case kind:
                return atom(
                    scope, (primed or {}) if kind == "primed" else signature.symbols, kind == "primed"
                )

    def atom(scope: Mapping[str, str], symbols: Mapping[str, tuple[str, ...]], after: bool) -> Formula:
        columns = {name: [signature.terms(sort, scope) for sort in sorts] for name, sorts in symbols.items()}
        wild = signature.wildcards and not after
        usable = sorted(name for name, terms in columns.items() if wild or all(terms))
        if not usable:
            return TRUE
        # an atom about a variable says more than one about constants only
        telling = [name for name in usable if any(t and isinstance(t[0], Var) for t in columns[name])]
        name = draw(st.sampled_from(telling or usable))
        args: list[Term] = []
        for sort, known in zip(symbols[name], columns[name], strict=True):
            if not known or (wild and draw(st.integers(0, 3)) == 3):
                args.append(Wildcard(sort))
            else:
                args.append(draw(st.sampled_from(known)))
        return Atom(name, tuple(args), after)

    def build(scope: Mapping[str, str], depth: int) -> Formula:
        kinds = [*_BOOLEAN, *_BINDING, *(_TEMPORAL * 2 if temporal else ())]
        kinds += ["among"] * 3 if signature.declared else []
        if depth == 0 or draw(st.integers(0, 4)) == 0:
            return leaf(scope)

        def sub(inner: Mapping[str, str] = scope) -> Formula:
            return build(inner, depth - 1)

        def bound() -> tuple[Binder, Formula]:
            name, sort = draw(st.sampled_from(signature.names)), draw(st.sampled_from(signature.sorts))
            # the innermost variable first: it is the one that atoms prefer
            inner = {name: sort, **{other: of for other, of in scope.items() if other != name}}
            return Binder(name, sort), sub(inner)

        kind = draw(st.sampled_from(kinds))
        path: Path = draw(st.sampled_from(_PATHS)) if kind in _TEMPORAL else "A"
        match kind:
            case "not":
                return Not(sub())
            case "and":
                return And((sub(), sub()))
            case "or":
                return Or((sub(), sub()))
            case "implies":
                return Implies(sub(), sub())
            case "iff":
                return Iff(sub(), sub())
            case "exists":
                return Exists(*bound())
            case "forall":
                return Forall(*bound())
            case "count":
                comparison = draw(st.sampled_from(_COMPARISONS))
                return Count(comparison, draw(st.integers(0, 3)), *bound())
            case "among":
                name, sort = draw(st.sampled_from(signature.names)), draw(st.sampled_from(signature.declared))
                binder = Binder(name, sort, declared=True)
                inner = sub({name: sort, **{other: of for other, of in scope.items() if other != name}})
                return Exists(binder, inner) if draw(st.booleans()) else Forall(binder, inner)
            case "next":
                return Next(path, sub())
            case "future":
                return Future(path, sub())
            case "globally":
                return Globally(path, sub())
            case _:
                return Until(path, sub(), sub(), draw(st.booleans()))

    return build(scope, depth)


@st.composite
def sentences(draw: st.DrawFn, signature: Signature, *, depth: int = 4) -> Formula:
    """A sentence of FO-CTL with a temporal operator outermost, or below quantifiers that reach into it."""
    scope: dict[str, str] = {}
    binders: list[tuple[bool, Binder]] = []
    for name in signature.names[: draw(st.integers(0, 1))]:
        scope[name] = draw(st.sampled_from(signature.sorts))
        declared = scope[name] in signature.declared and draw(st.booleans())
        binders.append((draw(st.booleans()), Binder(name, scope[name], declared=declared)))
    body = draw(formulas(signature, scope, depth=depth - 1 - len(binders), temporal=True))
    path: Path = draw(st.sampled_from(_PATHS))
    formula: Formula
    match draw(st.sampled_from(_TEMPORAL[:3])):
        case "globally":
            formula = Globally(path, body)
        case "future":
            formula = Future(path, body)
        case _:
            formula = Next(path, body)
    for universal, binder in reversed(binders):
        formula = Forall(binder, formula) if universal else Exists(binder, formula)
    if binders and (inside := draw(st.sampled_from(("", "some", "all")))):
        # quantified where a run has got to, not at the start
        formula = Future("E", formula) if inside == "some" else Globally("A", formula)
    return formula


def assignments(scope: Mapping[str, str], values: Mapping[str, Sequence[Value]]) -> list[dict[str, Value]]:
    """All assignments to the variables of ``scope`` over the values of their sorts."""
    columns = [values[sort] for sort in scope.values()]
    return [dict(zip(scope, row, strict=True)) for row in product(*columns)]
