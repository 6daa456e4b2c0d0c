"""Initial instances of every size, by their parts, for `initially any P, … where f`.

A part D0↾X is also a part of D0↾Y for Y ⊇ X. Let Y contain the values that keep true each conjunct of f that
some number of values keeps true; and for a conjunct ∀x. g, if so many values keep g true for values of x,
those that keep it true for all x in X ∪ C. So D0↾Y is `init` with more facts of P, …, and satisfies the
former, and the latter for these x. References of the schema are conjuncts of this kind. A conjunct of any
other form is left out, which admits more instances.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import stead_sym.logic.syntax as fo
from stead_sym.certificate.checker.formulas import Formulas
from stead_sym.certificate.checker.needed import Needed
from stead_sym.certificate.checker.over_names import Given, OverNames, sizes_of
from stead_sym.certificate.verdict import CertificateRejected
from stead_sym.deployment.claims import claim_named
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.relational.schema import Value


@dataclass(frozen=True)
class _Condition:
    """A conjunct ∀x. g, where ``needs`` values keep g true for values of x."""

    binders: tuple[fo.Binder, ...]
    body: fo.Expanded
    needs: int


class Starting:
    """The initial instances of one deployment."""

    def __init__(self, given: Given, needed: Needed) -> None:
        self._given, self._deployment, self._needed = given, given.deployment, needed

    @cached_property
    def _conditions(self) -> tuple[_Condition, ...]:
        lines = self._deployment.initially
        assert lines is not None
        found = [*fo.conjuncts(lines.where)]
        for reference in self._deployment.schema.references:
            claim = claim_named(self._deployment, reference.name)
            assert claim is not None
            found.append(claim.invariant)
        return tuple(one for condition in found if (one := self._condition(condition)) is not None)

    def _condition(self, formula: fo.Expanded) -> _Condition | None:
        binders: list[fo.Binder] = []
        while True:
            try:
                return _Condition(tuple(binders), formula, self._needed.true(formula))
            except CertificateRejected:
                if not isinstance(formula, fo.Forall):
                    return None
                binders.append(formula.binder)
                formula = formula.body

    def over(self, sizes: tuple[int, ...], most: int) -> Iterator[tuple[OverNames, Bdd]]:
        """Yield the parts D0↾Y, where X has the given names, and Y further ones: ``most`` in all."""
        first = dict(zip(self._given.sorts, sizes, strict=True))
        kept: list[_Condition] = []
        beside = 0
        for one in self._conditions:
            number = one.needs * prod(
                len(self._deployment.constants[binder.sort]) + first.get(binder.sort, 0)
                for binder in one.binders
            )
            if sum(sizes) + beside + number <= most:
                beside += number
                kept.append(one)
        for more in sizes_of(beside, len(sizes)):
            yield self._over(sizes, tuple(a + b for a, b in zip(sizes, more, strict=True)), kept)

    def _over(
        self, sizes: tuple[int, ...], wide: tuple[int, ...], kept: list[_Condition]
    ) -> tuple[OverNames, Bdd]:
        deployment, init = self._deployment, self._deployment.init
        assert deployment.initially is not None
        there = OverNames(
            self._given, wide, extra=init.facts, relations=deployment.initially.relations, first=sizes
        )
        m, space = there.space.manager, there.space
        listed = set(deployment.initially.relations)
        fixed = {
            bit: fact in init
            for fact, bit in space.atoms.items()
            if fact in init or fact.relation not in listed
        }
        start = m.cube(fixed) & there.keys_and_bounds
        formulas = Formulas(space, deployment.schema, there.facts)
        for one in kept:
            for sigma in self._assignments(one, there):
                active = [
                    formulas.active(binder.sort, sigma[binder.name])
                    for binder in one.binders
                    if not binder.declared
                ]
                for case in formulas.refuting(one.body, sigma):
                    start = start & ~m.conj((*active, case))
        return there, start

    def _assignments(self, one: _Condition, there: OverNames) -> Iterator[dict[str, Value]]:
        """Yield the values of the binders among the first names and C."""
        constants = self._deployment.constants
        ranges = [(*constants[b.sort], *there.first.get(b.sort, ())) for b in one.binders]
        for values in product(*ranges):
            yield {binder.name: value for binder, value in zip(one.binders, values, strict=True)}
