"""Capture-avoiding substitution, and the expansion of resolved formulas.

Expansion replaces the use of a definition by its body, a derived operator by its meaning, and a `_` by a
quantified variable.

One decision: a bound variable is renamed (`x` to `x_1`, `x_2`, …) only if an inserted name would be captured.
Constants count as such names: in text only the binders decide what a name denotes, so no constant may end up
under a binder of its own name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import count

import stead_sym.logic.syntax as fo
from stead_sym.errors import DeclarationError
from stead_sym.logic.derived import meaning
from stead_sym.logic.names import constants
from stead_sym.relational.schema import Value


def substitute(formula: fo.Formula, images: Mapping[str, fo.Term]) -> fo.Formula:
    """Return φ[x := t], with all free occurrences of the variables replaced simultaneously."""
    if fo.free_variables(formula).isdisjoint(images):
        return formula
    if isinstance(formula, fo.Quantified):
        return _under_binder(formula, images)
    return fo.map_children(lambda f: substitute(f, images), fo.map_terms(lambda t: _term(t, images), formula))


def substitute_terms(listed: Sequence[fo.Term], images: Mapping[str, fo.Term]) -> tuple[fo.Term, ...]:
    """Return the terms with all free occurrences of the variables replaced simultaneously."""
    replaced = substitute(fo.Atom("", tuple(listed)), images)
    assert isinstance(replaced, fo.Atom)
    return replaced.args


def with_constants(formula: fo.Formula, images: Mapping[Value, fo.Term]) -> fo.Formula:
    """Return the formula with other terms for constants; no binder has the name of one of them."""

    def replaced(term: fo.Term) -> fo.Term:
        return images.get(term.value, term) if isinstance(term, fo.Const) else term

    return fo.map_children(lambda f: with_constants(f, images), fo.map_terms(replaced, formula))


def expand(formula: fo.Resolved, definitions: Mapping[str, fo.Definition]) -> fo.Expanded:
    """Return φ with definitions, derived operators and wildcards expanded.

    Each use of a definition is replaced by its body with the arguments for the parameters, each operator of
    `logic.derived` by its meaning, and each atom with a `_` by `exists x. …` over it, x a variable that
    occurs nowhere else.

    A definition may use others, declared before or after it; ``definitions`` are resolved. Raise
    `DeclarationError` for a cyclic one.
    """
    return _Expansion(formula, definitions).expanded(formula, ())


@dataclass(frozen=True)
class _Expansion:
    """The context of an expansion: the whole formula and the definitions."""

    whole: fo.Resolved
    definitions: Mapping[str, fo.Definition]

    def expanded(self, formula: fo.Formula, path: tuple[str, ...], depth: int = 1) -> fo.Formula:
        """Return the formula expanded.

        ``path`` are the definitions whose bodies enclose it, ``depth`` is its depth in the whole.
        """
        if max(depth, len(path)) > fo.MAX_DEPTH:
            raise DeclarationError(
                f"nested more than {fo.MAX_DEPTH} deep once `define`s are expanded; write less in each other",
                self.whole.span,
            )
        match formula:
            case fo.Atom() | fo.Use() | fo.Compare() if any(
                isinstance(term, fo.Wildcard) for term in fo.terms(formula)
            ):
                return self._quantified(formula, path, depth)
            case fo.Use(name, args):
                if name in path:
                    cycle = " uses ".join((*path[path.index(name) :], name))
                    what = f"`{name}`" if name.startswith(fo.OFFERED) else f"the define {name}"
                    raise DeclarationError(
                        f"{what} leads back to itself ({cycle}); break the cycle", formula.span
                    )
                if name not in self.definitions:
                    raise fo.unexpanded(formula)
                definition = self.definitions[name]
                body = self.expanded(definition.body, (*path, name), depth)
                return substitute(body, {p.name: t for p, t in zip(definition.params, args, strict=True)})
            case fo.Derived():
                return self.expanded(meaning(formula), path, depth)
            case fo.Exists() | fo.Forall() | fo.Count() | fo.Each():
                body = self.expanded(formula.body, path, depth + 1)
                return _rebound(formula, body, constants(body))
            case _:
                # no Python function in between, so that nesting uses as few stack frames as possible
                return fo.map_children(partial(self.expanded, path=path, depth=depth + 1), formula)

    def _quantified(
        self, formula: fo.Atom | fo.Use | fo.Compare, path: tuple[str, ...], depth: int
    ) -> fo.Formula:
        """Return `P(c, _)` as `exists x. P(c, x)`."""
        named, binders = without_wildcards(fo.terms(formula), self._names)
        replacing = iter(named)
        plain = self.expanded(fo.map_terms(lambda _: next(replacing), formula), path, depth)
        params = self.definitions[formula.definition].params if isinstance(formula, fo.Use) else ()
        finite = {param.sort for param in params if param.declared}
        for binder in reversed(binders):
            if binder.sort in finite:
                binder = replace(binder, declared=True, wild=False)
            plain = fo.Exists(binder, plain, span=formula.span)
        return plain

    @cached_property
    def _names(self) -> Iterator[str]:
        """Names for the variables of wildcards, none of which occurs anywhere else."""
        bodies = (definition.body for definition in self.definitions.values())
        return wildcard_names(frozenset[str]().union(*map(_all_names, (self.whole, *bodies))))


def wildcard_names(taken: Set[str]) -> Iterator[str]:
    """Yield `_1`, `_2`, … except the taken ones, as names for the variables of wildcards."""
    return (name for name in (f"{fo.WILDCARD}{number}" for number in count(1)) if name not in taken)


def without_wildcards(
    listed: Iterable[fo.Term], names: Iterator[str]
) -> tuple[tuple[fo.Term, ...], tuple[fo.Binder, ...]]:
    """Return the terms with a variable for each wildcard, and the binders of these variables."""
    binders: list[fo.Binder] = []

    def named(term: fo.Term) -> fo.Term:
        if not isinstance(term, fo.Wildcard):
            return term
        binders.append(fo.Binder(next(names), term.sort, wild=True, span=term.span))
        return fo.Var(binders[-1].name, span=term.span)

    return tuple(map(named, listed)), tuple(binders)


def _under_binder(formula: fo.Quantified, images: Mapping[str, fo.Term]) -> fo.Formula:
    free = fo.free_variables(formula)
    inside = {x: t for x, t in images.items() if x in free}
    renamed = _rebound(formula, formula.body, frozenset().union(*map(_names_in, inside.values())))
    return replace(renamed, body=substitute(renamed.body, inside))


def _rebound(formula: fo.Quantified, body: fo.Formula, taken: Iterable[str]) -> fo.Quantified:
    """Return the quantifier over ``body``, with its variable renamed if ``taken`` holds the name."""
    taken = frozenset(taken)
    name = formula.binder.name
    if name not in taken:
        return replace(formula, body=body)
    fresh = fresh_name(name, taken | _all_names(body))
    return replace(
        formula, binder=replace(formula.binder, name=fresh), body=substitute(body, {name: fo.Var(fresh)})
    )


def fresh_name(name: str, taken: Iterable[str]) -> str:
    """Return ``name``, or the first of `name_1`, `name_2`, … that is not taken."""
    taken = frozenset(taken)
    candidate, number = name, 0
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    return candidate


def _term(term: fo.Term, images: Mapping[str, fo.Term]) -> fo.Term:
    if isinstance(term, fo.Var) and term.name in images:
        # keep the span of the occurrence, so that messages point at the written text
        return replace(images[term.name], span=term.span)
    return term


def _names_in(term: fo.Term) -> frozenset[str]:
    """Return the names in a term."""
    if isinstance(term, fo.Sum):
        return _names_in(term.left) | _names_in(term.right)
    return _all_names(term.each) if isinstance(term, fo.Tally) else frozenset({str(term)})


def _all_names(formula: fo.Formula) -> frozenset[str]:
    found: set[str] = set()
    for part in fo.subformulas(formula):
        found.update(map(str, fo.terms(part)))
        if isinstance(part, fo.Quantified):
            found.add(part.binder.name)
    return frozenset(found)
