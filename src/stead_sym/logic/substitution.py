"""Substitution, and the step from resolved to expanded formulas; both avoid capture.

Expanding puts the bodies of definitions where they are used, the meaning of an operator that is defined by
others in its place, and a quantifier where a `_` stands.

One decision: a bound variable is renamed (`x` to `x_1`, `x_2`, …) only when a name that comes in
would be captured. A constant counts as such a name: text says by its binders alone what a name is, so
no constant may come to stand under a binder of its own name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import count

from stead_sym.errors import DeclarationError
from stead_sym.logic.derived import meaning
from stead_sym.logic.names import constants
from stead_sym.logic.syntax import (
    MAX_DEPTH,
    WILDCARD,
    Atom,
    Binder,
    Compare,
    Count,
    Definition,
    Derived,
    Each,
    Exists,
    Expanded,
    Forall,
    Formula,
    Quantified,
    Resolved,
    Sum,
    Tally,
    Term,
    Use,
    Var,
    Wildcard,
    free_variables,
    map_children,
    map_terms,
    subformulas,
    terms,
    unexpanded,
)  # fmt: skip


def substitute(formula: Formula, images: Mapping[str, Term]) -> Formula:
    """φ[x := t]: every free occurrence of the variables replaced, all at once."""
    if not images:
        return formula
    if isinstance(formula, Quantified):
        return _under_binder(formula, images)
    return map_children(lambda f: substitute(f, images), map_terms(lambda t: _term(t, images), formula))


def substitute_terms(listed: Sequence[Term], images: Mapping[str, Term]) -> tuple[Term, ...]:
    """The terms with every free occurrence of the variables replaced, all at once."""
    replaced = substitute(Atom("", tuple(listed)), images)
    assert isinstance(replaced, Atom)
    return replaced.args


def expand(formula: Resolved, definitions: Mapping[str, Definition]) -> Expanded:
    """φ with every use of a definition replaced by its body, in which the arguments stand for the parameters,
    each operator of `logic.derived` by its meaning, and each atom with a `_` by `exists x. …` over it, x a
    variable that stands nowhere else.

    A definition may use others, declared before or after it; ``definitions`` are resolved. Raises
    `DeclarationError` for one that leads back to itself.
    """
    return _Expansion(formula, definitions).expanded(formula, ())


@dataclass(frozen=True)
class _Expansion:
    """What expanding a formula needs to know of the whole of it."""

    whole: Resolved
    definitions: Mapping[str, Definition]

    def expanded(self, formula: Formula, path: tuple[str, ...], depth: int = 1) -> Formula:
        """The formula expanded; ``path`` are the definitions whose bodies it stands in, ``depth`` is how
        deep it stands in the whole."""
        if max(depth, len(path)) > MAX_DEPTH:
            raise DeclarationError(
                f"nested more than {MAX_DEPTH} deep once `define`s are expanded; write less in each other",
                self.whole.span,
            )
        match formula:
            case Atom() | Use() | Compare() if any(isinstance(term, Wildcard) for term in terms(formula)):
                return self._quantified(formula, path, depth)
            case Use(name, args):
                if name in path:
                    cycle = " uses ".join((*path[path.index(name) :], name))
                    raise DeclarationError(
                        f"the define {name} leads back to itself ({cycle}); break the cycle", formula.span
                    )
                if name not in self.definitions:
                    raise unexpanded(formula)
                definition = self.definitions[name]
                body = self.expanded(definition.body, (*path, name), depth)
                return substitute(body, {p.name: t for p, t in zip(definition.params, args, strict=True)})
            case Derived():
                return self.expanded(meaning(formula), path, depth)
            case Exists() | Forall() | Count() | Each():
                body = self.expanded(formula.body, path, depth + 1)
                return _rebound(formula, body, constants(body))
            case _:
                # no function of ours in between: a formula may be nested as deep as Python allows calls
                return map_children(partial(self.expanded, path=path, depth=depth + 1), formula)

    def _quantified(self, formula: Atom | Use | Compare, path: tuple[str, ...], depth: int) -> Formula:
        """`P(c, _)` as `exists x. P(c, x)`."""
        named, binders = without_wildcards(terms(formula), self._names)
        replacing = iter(named)
        plain = self.expanded(map_terms(lambda _: next(replacing), formula), path, depth)
        for binder in reversed(binders):
            plain = Exists(binder, plain, span=formula.span)
        return plain

    @cached_property
    def _names(self) -> Iterator[str]:
        """Names for the variables of wildcards, none of which stands anywhere else."""
        bodies = (definition.body for definition in self.definitions.values())
        return wildcard_names(frozenset[str]().union(*map(_all_names, (self.whole, *bodies))))


def wildcard_names(taken: Set[str]) -> Iterator[str]:
    """`_1`, `_2`, … but for those that are taken: names for the variables that wildcards are expanded to."""
    return (name for name in (f"{WILDCARD}{number}" for number in count(1)) if name not in taken)


def without_wildcards(
    listed: Iterable[Term], names: Iterator[str]
) -> tuple[tuple[Term, ...], tuple[Binder, ...]]:
    """The terms with a variable for each wildcard, and these variables."""
    binders: list[Binder] = []

    def named(term: Term) -> Term:
        if not isinstance(term, Wildcard):
            return term
        binders.append(Binder(next(names), term.sort, wild=True, span=term.span))
        return Var(binders[-1].name, span=term.span)

    return tuple(map(named, listed)), tuple(binders)


def _under_binder(formula: Quantified, images: Mapping[str, Term]) -> Formula:
    free = free_variables(formula)
    inside = {x: t for x, t in images.items() if x in free}
    renamed = _rebound(formula, formula.body, frozenset().union(*map(_names_in, inside.values())))
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
    candidate, number = name, 0
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    return candidate


def _term(term: Term, images: Mapping[str, Term]) -> Term:
    if isinstance(term, Var) and term.name in images:
        # the place stays that of the occurrence, so that messages point at what was written
        return replace(images[term.name], span=term.span)
    return term


def _names_in(term: Term) -> frozenset[str]:
    """The names in a term."""
    if isinstance(term, Sum):
        return _names_in(term.left) | _names_in(term.right)
    return _all_names(term.each) if isinstance(term, Tally) else frozenset({str(term)})


def _all_names(formula: Formula) -> frozenset[str]:
    found: set[str] = set()
    for part in subformulas(formula):
        found.update(map(str, terms(part)))
        if isinstance(part, Quantified):
            found.add(part.binder.name)
    return frozenset(found)
