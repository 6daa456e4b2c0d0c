"""Formulas in which blocks of quantifiers, counts and connectives stand above, between and below temporal
operators, for the tests of both engines. What atoms say and which variables are bound is up to the test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hypothesis import strategies as st

import stead_sym.logic.syntax as fo

_QUANTIFIED = (
    fo.Exists,
    fo.Forall,
    lambda binder, body: fo.Not(fo.Exists(binder, body)),
    lambda binder, body: fo.Not(fo.Forall(binder, body)),
)


@dataclass(frozen=True)
class Mixed:
    """Makes formulas: ``leaf`` the atomic ones over a scope, the sorts of the variables; ``binders`` what a
    quantifier binds, which may shadow a name of the scope."""

    leaf: Callable[[Mapping[str, str]], st.SearchStrategy[fo.Formula]]
    binders: st.SearchStrategy[fo.Binder]

    def first_order(self, depth: int) -> st.SearchStrategy[fo.Formula]:
        """Sentences without temporal operators."""
        return _formulas(self, {}, depth, plain=True)

    def sentences(self, depth: int) -> st.SearchStrategy[fo.Formula]:
        return _formulas(self, {}, depth)

    def specifications(self, depth: int) -> st.SearchStrategy[fo.Formula]:
        """Sentences, each a temporal operator over another."""
        return st.builds(
            lambda operator, path, below: operator(path, below),
            st.sampled_from((fo.Next, fo.Future, fo.Globally, fo.Globally)),
            st.sampled_from("AE"),
            self.sentences(depth - 1),
        )


@st.composite
def _formulas(draw, made: Mixed, scope: Mapping[str, str], depth: int, plain: bool = False) -> fo.Formula:
    """A formula with its free variables in ``scope``; without temporal operators if ``plain``."""

    def sub(inner: Mapping[str, str] = scope, first_order: bool = False) -> fo.Formula:
        return draw(_formulas(made, inner, depth - 1, plain or first_order))

    if depth == 0:
        return draw(made.leaf(scope))
    kinds = ["leaf", "not", "and", "or", "implies", "iff", *["block"] * 4, "count", "count", "cut"]
    match draw(st.sampled_from(kinds if plain else [*kinds, *["unary"] * 3, "until"])):
        case "leaf":
            return draw(made.leaf(scope))
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
        case "cut":  # first-order beside temporal
            return draw(st.sampled_from((fo.And, fo.Or)))((sub(first_order=True), sub()))
        case "block":
            binders, inner = draw(st.lists(made.binders, min_size=1, max_size=3)), scope
            for binder in binders:
                inner = _bound(inner, binder)
            body = sub(inner)
            for binder in reversed(binders):
                body = draw(st.sampled_from(_QUANTIFIED))(binder, body)
            return body
        case "count":
            binder = draw(made.binders)
            compared, number = (
                draw(st.sampled_from(("atleast", "atmost", "exactly"))),
                draw(st.integers(0, 2)),
            )
            return fo.Count(compared, number, fo.Binder(binder.name, binder.sort), sub(_bound(scope, binder)))
        case "until":
            return fo.Until(draw(st.sampled_from("AE")), sub(), sub(), draw(st.booleans()))
        case _:
            operator = draw(st.sampled_from((fo.Next, fo.Future, fo.Globally)))
            return operator(draw(st.sampled_from("AE")), sub())


def _bound(scope: Mapping[str, str], binder: fo.Binder) -> Mapping[str, str]:
    """The scope below a binder, whose variable stands first."""
    return {binder.name: binder.sort, **{name: of for name, of in scope.items() if name != binder.name}}
