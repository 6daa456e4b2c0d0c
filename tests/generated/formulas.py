"""Hypothesis strategies for well-sorted formulas.

The decision: variables of every sort share a few names, so that inner binders often shadow outer ones,
with another sort at times, and a retained variable often meets a temporal operator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from hypothesis import strategies as st

import stead_sym.logic.syntax as fo
from stead_sym.relational.schema import Value

_LEAVES = ("atom", "atom", "atom", "equal", "truth")
_BOOLEAN = ("not", "and", "or", "implies", "iff")
_BINDING = ("exists", "forall", "exists", "forall", "count")
_TEMPORAL = ("next", "future", "globally", "until")
_COMPARISONS: tuple[fo.Comparison, ...] = ("atleast", "atmost", "exactly")
_ORDERINGS: tuple[fo.Ordering, ...] = ("<", "<=", ">", ">=", "succ")
_PATHS: tuple[fo.Path, ...] = ("A", "E")


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

    def terms(self, sort: str, scope: Mapping[str, str]) -> list[fo.Term]:
        """The variables of ``scope`` that are of the sort, then its constants."""
        variables = [fo.Var(name) for name, of in scope.items() if of == sort]
        return [*variables, *(fo.Const(c) for c in self.constants[sort] if c not in scope)]

    def tells(self, sort: str, *terms: fo.Term) -> bool:
        """Return if the terms say that they are of the sort: a constant of several sorts and `_` do not."""
        shared = {c for s, constants in self.constants.items() if s != sort for c in constants}
        return any(
            isinstance(t, fo.Var) or (isinstance(t, fo.Const) and t.value not in shared) for t in terms
        )


@st.composite
def formulas(
    draw: st.DrawFn,
    signature: Signature,
    scope: Mapping[str, str],
    *,
    depth: int = 2,
    temporal: bool = False,
    primed: Mapping[str, tuple[str, ...]] | None = None,
) -> fo.Formula:
    """A formula with its free variables among ``scope`` (variable → sort); names and sorts are resolved.

    ``depth`` bounds how deep connectives, quantifiers and operators nest. With ``temporal`` it may be of
    FO-CTL; ``primed`` are the relations that it may read in D', with `same` and `empty` (`ensure`).
    """

    def leaf(scope: Mapping[str, str]) -> fo.Formula:
        more = ("primed", "primed", "frame") if primed else ()
        match draw(st.sampled_from(_LEAVES + more + (("compare", "compare") if signature.ordered else ()))):
            case "compare":
                sort = draw(st.sampled_from(signature.ordered))
                ordering = draw(st.sampled_from(_ORDERINGS))
                terms = st.sampled_from(signature.terms(sort, scope))
                left, right = draw(terms), draw(terms)
                if ordering == "succ" and signature.wildcards and draw(st.integers(0, 3)) == 3:
                    left, right = (
                        (fo.Wildcard(sort), right) if draw(st.booleans()) else (left, fo.Wildcard(sort))
                    )
                return (
                    fo.Compare(ordering, left, right, sort) if signature.tells(sort, left, right) else fo.TRUE
                )
            case "equal":
                sorts = [sort for sort in signature.sorts if signature.terms(sort, scope)]
                if not sorts:
                    return fo.TRUE
                sort = draw(st.sampled_from(sorts))
                terms = st.sampled_from(signature.terms(sort, scope))
                left, right = draw(terms), draw(terms)
                return fo.Equal(left, right) if signature.tells(sort, left, right) else fo.TRUE
            case "truth":
                return draw(st.sampled_from((fo.TRUE, fo.FALSE)))
            case "frame":
                relation = draw(st.sampled_from(sorted(primed or ())))
                return fo.Same(relation) if draw(st.booleans()) else fo.Empty(relation)
            case kind:
                return atom(
                    scope, (primed or {}) if kind == "primed" else signature.symbols, kind == "primed"
                )

    def atom(scope: Mapping[str, str], symbols: Mapping[str, tuple[str, ...]], after: bool) -> fo.Formula:
        columns = {name: [signature.terms(sort, scope) for sort in sorts] for name, sorts in symbols.items()}
        wild = signature.wildcards and not after
        usable = sorted(name for name, terms in columns.items() if wild or all(terms))
        if not usable:
            return fo.TRUE
        # an atom about a variable says more than one about constants only
        telling = [name for name in usable if any(t and isinstance(t[0], fo.Var) for t in columns[name])]
        name = draw(st.sampled_from(telling or usable))
        args: list[fo.Term] = []
        for sort, known in zip(symbols[name], columns[name], strict=True):
            if not known or (wild and draw(st.integers(0, 3)) == 3):
                args.append(fo.Wildcard(sort))
            else:
                args.append(draw(st.sampled_from(known)))
        return fo.Atom(name, tuple(args), after)

    def build(scope: Mapping[str, str], depth: int) -> fo.Formula:
        kinds = [*_BOOLEAN, *_BINDING, *(_TEMPORAL * 2 if temporal else ())]
        kinds += ["among"] * 3 if signature.declared else []
        if depth == 0 or draw(st.integers(0, 4)) == 0:
            return leaf(scope)

        def sub(inner: Mapping[str, str] = scope) -> fo.Formula:
            return build(inner, depth - 1)

        def bound() -> tuple[fo.Binder, fo.Formula]:
            name, sort = draw(st.sampled_from(signature.names)), draw(st.sampled_from(signature.sorts))
            # the innermost variable first: it is the one that atoms prefer
            inner = {name: sort, **{other: of for other, of in scope.items() if other != name}}
            return fo.Binder(name, sort), sub(inner)

        kind = draw(st.sampled_from(kinds))
        path: fo.Path = draw(st.sampled_from(_PATHS)) if kind in _TEMPORAL else "A"
        match kind:
            case "not":
                return fo.Not(sub())
            case "and":
                return fo.And((sub(), sub()))
            case "or":
                return fo.Or((sub(), sub()))
            case "implies":
                return fo.Implies(sub(), sub())
            case "iff":
                return fo.Iff(sub(), sub())
            case "exists":
                return fo.Exists(*bound())
            case "forall":
                return fo.Forall(*bound())
            case "count":
                comparison = draw(st.sampled_from(_COMPARISONS))
                return fo.Count(comparison, draw(st.integers(0, 3)), *bound())
            case "among":
                name, sort = draw(st.sampled_from(signature.names)), draw(st.sampled_from(signature.declared))
                binder = fo.Binder(name, sort, declared=True)
                inner = sub({name: sort, **{other: of for other, of in scope.items() if other != name}})
                return fo.Exists(binder, inner) if draw(st.booleans()) else fo.Forall(binder, inner)
            case "next":
                return fo.Next(path, sub())
            case "future":
                return fo.Future(path, sub())
            case "globally":
                return fo.Globally(path, sub())
            case _:
                return fo.Until(path, sub(), sub(), draw(st.booleans()))

    return build(scope, depth)


@st.composite
def sentences(draw: st.DrawFn, signature: Signature, *, depth: int = 4) -> fo.Formula:
    """A sentence of FO-CTL with a temporal operator outermost, or below quantifiers that reach into it."""
    scope: dict[str, str] = {}
    binders: list[tuple[bool, fo.Binder]] = []
    for name in signature.names[: draw(st.integers(0, 1))]:
        scope[name] = draw(st.sampled_from(signature.sorts))
        declared = scope[name] in signature.declared and draw(st.booleans())
        binders.append((draw(st.booleans()), fo.Binder(name, scope[name], declared=declared)))
    body = draw(formulas(signature, scope, depth=depth - 1 - len(binders), temporal=True))
    path: fo.Path = draw(st.sampled_from(_PATHS))
    formula: fo.Formula
    match draw(st.sampled_from(_TEMPORAL[:3])):
        case "globally":
            formula = fo.Globally(path, body)
        case "future":
            formula = fo.Future(path, body)
        case _:
            formula = fo.Next(path, body)
    for universal, binder in reversed(binders):
        formula = fo.Forall(binder, formula) if universal else fo.Exists(binder, formula)
    if binders and (inside := draw(st.sampled_from(("", "some", "all")))):
        # quantified where a run has got to, not at the start
        formula = fo.Future("E", formula) if inside == "some" else fo.Globally("A", formula)
    return formula


def assignments(scope: Mapping[str, str], values: Mapping[str, Sequence[Value]]) -> list[dict[str, Value]]:
    """All assignments to the variables of ``scope`` over the values of their sorts."""
    columns = [values[sort] for sort in scope.values()]
    return [dict(zip(scope, row, strict=True)) for row in product(*columns)]
