"""Substitution and the expansion of `define`, both capture-avoiding.

One decision: a bound variable is renamed (`x` to `x_1`, `x_2`, …) only when a name that comes in
would be captured. A constant counts as such a name: text says by its binders alone what a name is, so
no constant may come to stand under a binder of its own name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from stead_sym.errors import DeclarationError
from stead_sym.logic.syntax import (
    Atom,
    Const,
    Count,
    Definition,
    Equal,
    Exists,
    Forall,
    Formula,
    Quantified,
    Term,
    Var,
    free_variables,
    map_children,
    subformulas,
)  # fmt: skip


def substitute(formula: Formula, terms: Mapping[str, Term]) -> Formula:
    """φ[x := t]: every free occurrence of the variables replaced, all at once."""
    if not terms:
        return formula
    match formula:
        case Atom():
            return replace(formula, args=tuple(_term(t, terms) for t in formula.args))
        case Equal():
            return replace(formula, left=_term(formula.left, terms), right=_term(formula.right, terms))
        case Exists() | Forall() | Count():
            return _under_binder(formula, terms)
        case _:
            return map_children(lambda f: substitute(f, terms), formula)


def expand(formula: Formula, definitions: Mapping[str, Definition]) -> Formula:
    """φ with every use of a definition replaced by its body, in which the arguments stand for the parameters.

    A definition may use others, declared before or after it. Raises `DeclarationError` for one that
    leads back to itself, and for a primed use.
    """
    return _expand(formula, definitions, ()) if definitions else formula


def _expand(formula: Formula, definitions: Mapping[str, Definition], path: tuple[str, ...]) -> Formula:
    match formula:
        case Atom(name, args, primed) if name in definitions:
            definition = definitions[name]
            if primed:
                raise DeclarationError(
                    f"{name} is a define and has no primed form; prime the relations in its body",
                    formula.span,
                )
            if name in path:
                cycle = " uses ".join((*path[path.index(name) :], name))
                raise DeclarationError(
                    f"the define {name} leads back to itself ({cycle}); break the cycle", formula.span
                )
            body = _expand(definition.body, definitions, (*path, name))
            return substitute(body, {p.name: t for p, t in zip(definition.params, args, strict=True)})
        case Exists() | Forall() | Count():
            body = _expand(formula.body, definitions, path)
            return _rebound(formula, body, _constants(body))
        case _:
            return map_children(lambda f: _expand(f, definitions, path), formula)


def _under_binder(formula: Quantified, terms: Mapping[str, Term]) -> Formula:
    free = free_variables(formula)
    inside = {x: t for x, t in terms.items() if x in free}
    renamed = _rebound(formula, formula.body, {str(t) for t in inside.values()})
    return replace(renamed, body=substitute(renamed.body, inside)) if inside else formula


def _rebound(formula: Quantified, body: Formula, taken: Iterable[str]) -> Quantified:
    """The quantifier over ``body``, its variable renamed if ``taken`` holds the name."""
    taken = frozenset(taken)
    name = formula.binder.name
    if name not in taken:
        return replace(formula, body=body)
    fresh = fresh_name(name, taken | _all_names(body))
    return replace(
        formula, binder=replace(formula.binder, name=fresh), body=substitute(body, {name: Var(fresh)})
    )


def fresh_name(name: str, taken: Iterable[str]) -> str:
    """``name``, or the first of `name_1`, `name_2`, … that is not taken."""
    taken = frozenset(taken)
    candidate, count = name, 0
    while candidate in taken:
        count += 1
        candidate = f"{name}_{count}"
    return candidate


def _term(term: Term, terms: Mapping[str, Term]) -> Term:
    if isinstance(term, Var) and term.name in terms:
        # the place stays that of the occurrence, so that messages point at what was written
        return replace(terms[term.name], span=term.span)
    return term


def _terms(formula: Formula) -> tuple[Term, ...]:
    match formula:
        case Atom(_, args):
            return args
        case Equal(left, right):
            return (left, right)
        case _:
            return ()


def _constants(formula: Formula) -> frozenset[str]:
    return frozenset(t.value for f in subformulas(formula) for t in _terms(f) if isinstance(t, Const))


def _all_names(formula: Formula) -> frozenset[str]:
    terms = {str(t) for f in subformulas(formula) for t in _terms(f)}
    return frozenset(terms | {f.binder.name for f in subformulas(formula) if isinstance(f, Quantified)})
