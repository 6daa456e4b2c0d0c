"""Substitution, and the step from resolved to expanded formulas; both avoid capture.

One decision: a bound variable is renamed (`x` to `x_1`, `x_2`, …) only when a name that comes in
would be captured. A constant counts as such a name: text says by its binders alone what a name is, so
no constant may come to stand under a binder of its own name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from stead_sym.errors import DeclarationError
from stead_sym.logic.names import constants
from stead_sym.logic.syntax import (
    Atom,
    Count,
    Definition,
    Equal,
    Exists,
    Expanded,
    Forall,
    Formula,
    Quantified,
    Resolved,
    Term,
    Use,
    Var,
    free_variables,
    map_children,
    subformulas,
    terms,
    unexpanded,
)  # fmt: skip


def substitute(formula: Formula, images: Mapping[str, Term]) -> Formula:
    """φ[x := t]: every free occurrence of the variables replaced, all at once."""
    if not images:
        return formula
    match formula:
        case Atom() | Use():
            return replace(formula, args=tuple(_term(t, images) for t in formula.args))
        case Equal():
            return replace(formula, left=_term(formula.left, images), right=_term(formula.right, images))
        case Exists() | Forall() | Count():
            return _under_binder(formula, images)
        case _:
            return map_children(lambda f: substitute(f, images), formula)


def expand(formula: Resolved, definitions: Mapping[str, Definition]) -> Expanded:
    """φ with every use of a definition replaced by its body, in which the arguments stand for the parameters.

    A definition may use others, declared before or after it; ``definitions`` are resolved. Raises
    `DeclarationError` for one that leads back to itself.
    """
    return _expand(formula, definitions, ())


def _expand(formula: Formula, definitions: Mapping[str, Definition], path: tuple[str, ...]) -> Formula:
    match formula:
        case Use(name, args):
            if name in path:
                cycle = " uses ".join((*path[path.index(name) :], name))
                raise DeclarationError(
                    f"the define {name} leads back to itself ({cycle}); break the cycle", formula.span
                )
            if name not in definitions:
                raise unexpanded(formula)
            definition = definitions[name]
            body = _expand(definition.body, definitions, (*path, name))
            return substitute(body, {p.name: t for p, t in zip(definition.params, args, strict=True)})
        case Exists() | Forall() | Count():
            body = _expand(formula.body, definitions, path)
            return _rebound(formula, body, constants(body))
        case _:
            return map_children(lambda f: _expand(f, definitions, path), formula)


def _under_binder(formula: Quantified, images: Mapping[str, Term]) -> Formula:
    free = free_variables(formula)
    inside = {x: t for x, t in images.items() if x in free}
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


def _term(term: Term, images: Mapping[str, Term]) -> Term:
    if isinstance(term, Var) and term.name in images:
        # the place stays that of the occurrence, so that messages point at what was written
        return replace(images[term.name], span=term.span)
    return term


def _all_names(formula: Formula) -> frozenset[str]:
    found: set[str] = set()
    for part in subformulas(formula):
        found.update(map(str, terms(part)))
        if isinstance(part, Quantified):
            found.add(part.binder.name)
    return frozenset(found)
