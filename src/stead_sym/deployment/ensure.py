"""Enumerate all D' that an `ensure` formula allows: ground it to propositional logic, and search for models.

The formula relates D, which is known, to D', of which every fact over a finite domain is one
proposition. The one decision: the only connective is the threshold "at least n of these". It is
conjunction (n = all), disjunction (n = 1) and counting at once, and its negation is a threshold again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, product
from typing import TypeAlias, TypeVar

import stead_sym.logic.syntax as fo
from stead_sym.errors import Undecided
from stead_sym.logic.evaluate import compares, declared, fact_of, value_of
from stead_sym.logic.integers import decided, grounded, linear
from stead_sym.logic.kernel import Core, core, outside_kernel
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Value

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class AtLeast:
    """At least ``number`` of ``parts`` are true; ``atoms`` are the propositions that occur in them."""

    number: int
    parts: tuple[Proposition, ...]
    atoms: frozenset[int] = field(compare=False, repr=False)

    @property
    def is_conjunction(self) -> bool:
        """Return whether all parts have to be true."""
        return self.number == len(self.parts)


Proposition: TypeAlias = int | AtLeast
"""A literal (the number of an atom, negative if it is negated), or a threshold."""

YES = AtLeast(0, (), frozenset())
NO = AtLeast(1, (), frozenset())


def at_least(number: int, parts: Collection[Proposition]) -> Proposition:
    """Return the threshold, simplified.

    True and false parts are counted off, and a lone part stands for itself.
    """
    open_parts = [part for part in parts if part is not YES and part is not NO]
    number -= sum(part is YES for part in parts)
    if number <= 0:
        return YES
    if number > len(open_parts):
        return NO
    if len(open_parts) == 1:
        return open_parts[0]
    if number in (1, len(open_parts)):  # a disjunction of disjunctions is one, and so for conjunctions
        flat: list[Proposition] = []
        for part in open_parts:
            nested = isinstance(part, AtLeast) and (part.is_conjunction if number > 1 else part.number == 1)
            flat.extend(part.parts if isinstance(part, AtLeast) and nested else (part,))
        number = 1 if number == 1 else len(flat)
        open_parts = flat
    atoms: set[int] = set()
    for part in open_parts:
        atoms.update(part.atoms if isinstance(part, AtLeast) else (abs(part),))
    return AtLeast(number, tuple(open_parts), frozenset(atoms))


def conjunction(*parts: Proposition) -> Proposition:
    """Return the conjunction of the parts."""
    return at_least(len(parts), parts)


def disjunction(*parts: Proposition) -> Proposition:
    """Return the disjunction of the parts."""
    return at_least(1, parts)


def negation(proposition: Proposition) -> Proposition:
    """Return the negation: ¬(at least n of m) is at least m − n + 1 of the negated parts."""
    if isinstance(proposition, int):
        return -proposition
    parts = proposition.parts
    return at_least(len(parts) - proposition.number + 1, tuple(map(negation, parts)))


def assign(proposition: Proposition, truth: Mapping[int, bool]) -> Proposition:
    """Return the proposition under a partial assignment of its atoms, simplified."""
    if isinstance(proposition, int):
        known = truth.get(abs(proposition))
        return proposition if known is None else YES if known == (proposition > 0) else NO
    if proposition.atoms.isdisjoint(truth):
        return proposition
    return at_least(proposition.number, tuple(assign(part, truth) for part in proposition.parts))


def models(
    proposition: Proposition, atoms: Sequence[int], most: int | None = None
) -> Iterator[frozenset[int]]:
    """Yield each set M ⊆ ``atoms`` that satisfies the proposition once.

    The search propagates unit literals, then branches. Raises `Undecided` after ``most`` branches.
    """
    branches = count(1)

    def search(rest: Proposition, truth: Mapping[int, bool]) -> Iterator[frozenset[int]]:
        while units := _units(rest):
            if any(-literal in units for literal in units):
                return
            forced = {abs(literal): literal > 0 for literal in units}
            truth = {**truth, **forced}
            rest = assign(rest, forced)
        if rest is NO:
            return
        if rest is YES:
            true = {atom for atom, value in truth.items() if value}
            free = [atom for atom in atoms if atom not in truth]
            for choice in product((True, False), repeat=len(free)):
                yield frozenset(true.union(atom for atom, value in zip(free, choice, strict=True) if value))
            return
        if next(branches) == most:
            raise Undecided(f"unknown: {most:,} branches of the search for a model are not enough")
        atom = _branching_atom(rest)
        for value in (True, False):
            yield from search(assign(rest, {atom: value}), {**truth, atom: value})

    return search(proposition, {})


def _units(proposition: Proposition) -> frozenset[int]:
    """Return the literals that the outermost connective makes true in every model."""
    if isinstance(proposition, int):
        return frozenset((proposition,))
    if not proposition.is_conjunction:
        return frozenset()
    return frozenset(part for part in proposition.parts if isinstance(part, int))


def _branching_atom(proposition: Proposition) -> int:
    """Return an atom of the first alternative that is still open.

    Making it true tends to decide the other alternatives.
    """
    while isinstance(proposition, AtLeast):
        literals = [part for part in proposition.parts if isinstance(part, int)]
        proposition = max(literals) if literals else proposition.parts[0]
    return abs(proposition)


def ensured(
    formula: fo.Expanded,
    state: Instance,
    domain: Mapping[str, Sequence[Value]],
    assignment: Mapping[str, Value],
) -> Iterator[Instance]:
    """Yield { D' over ``domain`` : (D ⊕ D', σ) ⊨ f }, quantifiers over ad(D ⊕ D').

    ``domain`` gives the values of each sort and includes ad(D) and C. Raises `TypeError` for a formula that
    is not expanded, `ValueError` for a temporal operator.
    """
    ground = Grounding(state, domain)
    number = ground.number
    facts = {atom: fact for fact, atom in number.items()}
    for model in models(ground(formula, assignment), tuple(facts)):
        yield Instance(state.schema, frozenset(facts[atom] for atom in model))


def allows(
    formula: fo.Formula,
    state: Instance,
    after: Instance,
    domain: Mapping[str, Sequence[Value]],
    assignment: Mapping[str, Value],
) -> bool:
    """Return whether (D ⊕ D', σ) ⊨ f for one D', which may have values beyond ``domain``.

    Otherwise it is as `ensured`.
    """
    seen = {
        sort: tuple(dict.fromkeys((*values, *sorted(after.active_domain[sort]))))
        for sort, values in domain.items()
    }
    ground = Grounding(state, seen)
    truth = {atom: fact in after for fact, atom in ground.number.items()}
    return assign(ground(formula, assignment), truth) is YES


class Grounding:
    """The map from f to ⟦f⟧, a proposition over the facts of D', given D and the finite domain.

    ``number`` is the atom of each fact of D', ``containing`` the atoms of the facts that have a value.
    """

    def __init__(self, state: Instance, domain: Mapping[str, Sequence[Value]]) -> None:
        self.state = state
        self.domain = domain
        self.number: dict[Fact, int] = {}
        self.containing: dict[tuple[str, Value], list[int]] = {}
        for relation in state.schema.relations:
            for args in product(*(domain[sort] for sort in relation.sorts)):
                atom = self.number[Fact(relation.name, args)] = len(self.number) + 1
                for place in set(zip(relation.sorts, args, strict=True)):
                    self.containing.setdefault(place, []).append(atom)

    def __call__(self, formula: fo.Expanded, sigma: Mapping[str, Value]) -> Proposition:
        """Return ⟦f⟧ under σ."""
        return self._ground(core(formula), sigma)

    def _ground(self, formula: Core, sigma: Mapping[str, Value]) -> Proposition:
        match formula:
            case fo.Truth(value):
                return YES if value else NO
            case fo.Equal() | fo.Compare() if (form := linear(formula)) is not None:
                items, constant = grounded(form, sigma, self._instances, self._ground, conjunction)
                return decided(form.ordering, constant, items, _choice, YES, NO)
            case fo.Equal(left, right):
                return YES if value_of(left, sigma) == value_of(right, sigma) else NO
            case fo.Compare(_, left, right):
                values = value_of(left, sigma), value_of(right, sigma)
                return YES if compares(formula, *values, self.state.schema) else NO
            case fo.Atom():
                fact = fact_of(formula, sigma, self.state.schema)
                if formula.primed:
                    return self.number.get(fact, NO)
                return YES if fact in self.state else NO
            case fo.Not(body):
                return negation(self._ground(body, sigma))
            case fo.And(parts):
                return self._all(parts, lambda part: self._ground(part, sigma))
            case fo.Iff(left, right):
                a, b = self._ground(left, sigma), self._ground(right, sigma)
                return disjunction(conjunction(a, b), conjunction(negation(a), negation(b)))
            case fo.Exists(binder, body):
                return self._at_least(1, binder, body, sigma)
            case fo.Count("atleast", number, binder, body):
                return self._at_least(number, binder, body, sigma)
            case fo.Same(relation):
                return self._extension(relation, self.state.tuples(relation))
            case fo.Empty(relation):
                return self._extension(relation, ())
            case fo.Next() | fo.Globally() | fo.Until():
                raise ValueError(f"temporal operator in a first-order formula: {formula}")
            case _:
                raise outside_kernel(formula)

    @staticmethod
    def _all(items: Sequence[_T], ground: Callable[[_T], Proposition]) -> Proposition:
        """Return the conjunction; stop at the first part that is false."""
        parts: list[Proposition] = []
        for item in items:
            parts.append(ground(item))
            if parts[-1] is NO:
                return NO
        return conjunction(*parts)

    def _at_least(
        self, number: int, binder: fo.Binder, body: Core, sigma: Mapping[str, Value]
    ) -> Proposition:
        """Return that at least ``number`` active values satisfy the body; of `x in s` declared ones."""
        members: list[Proposition] = []
        for u in declared(self.state.schema, binder) if binder.declared else self.domain[binder.sort]:
            member = self._ground(body, {**sigma, binder.name: u})
            members.append(member if binder.declared else self._and_active(binder.sort, u, member))
            if members[-1] is YES and number == 1:
                return YES
        return at_least(number, tuple(members))

    def _instances(
        self, binder: fo.Binder, body: fo.Formula, sigma: Mapping[str, Value]
    ) -> Iterator[tuple[Proposition, Value]]:
        """Yield the values of a variable, each after the proposition that the variable ranges over it."""
        for u in declared(self.state.schema, binder) if binder.declared else self.domain[binder.sort]:
            yield YES if binder.declared else self._and_active(binder.sort, u, YES), u

    def _and_active(self, sort: str, value: Value, body: Proposition) -> Proposition:
        """Return u ∈ ad(D ⊕ D') ∧ body.

        If the body is false once all facts of D' with u are, it implies that u is active, and stands for the
        conjunction. This turns most of a frame condition into unit literals.
        """
        if body is NO or value in self.state.active_domain[sort]:
            return body
        atoms = self.containing.get((sort, value), [])
        if assign(body, dict.fromkeys(atoms, False)) is NO:
            return body
        return conjunction(disjunction(*atoms), body)

    def _extension(self, relation: str, tuples: Collection[tuple[Value, ...]]) -> Proposition:
        """Return the proposition that D'(P) is exactly ``tuples``."""
        return conjunction(
            *(
                atom if fact.args in tuples else -atom
                for fact, atom in self.number.items()
                if fact.relation == relation
            )
        )


def _choice(condition: Proposition, then: Proposition, otherwise: Proposition) -> Proposition:
    """Return the proposition that is ``then`` if the condition is true, and ``otherwise`` if not."""
    if then is otherwise:
        return then
    return disjunction(conjunction(condition, then), conjunction(negation(condition), otherwise))
