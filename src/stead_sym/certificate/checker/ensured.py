"""Alternatives in the paper's form: D → D' iff D ⊨ when and D ⊕ D' ⊨ f, every fact of D' being free.

Facts of D' that the certificate gives no bit get one here, so that it shows whether some step inserts them.
In mode `theorem` there is one value more per unbounded sort: D holds b_S values at most, and with it every
D' of up to b_S + 1 is there up to renaming, so that a step past a bound shows. In mode `normal` the new
values of D' have the first unused names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod

from stead_sym.certificate.checker.formulas import Facts, Formulas
from stead_sym.certificate.checker.grounding import Grounding
from stead_sym.certificate.checker.space import copy_of
from stead_sym.deployment.tool import Call, Effect, Ensure, Tool
from stead_sym.errors import Undecided
from stead_sym.logic.syntax import conjunction
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Relation, Value
from stead_sym.symbolic.bdd.manager import Bdd

MOST = 20_000
"""So many facts a formula about arbitrary instances may be about."""

_BEYOND = "?"


class Ensuring:
    """The `ensure` alternatives of a deployment over the states of a grounding."""

    def __init__(self, grounding: Grounding) -> None:
        self.grounding = grounding
        self.space = grounding.space
        self.manager = grounding.space.manager
        self.deployment = grounding.deployment
        schema = self.deployment.schema
        self.values: Mapping[str, tuple[Value, ...]] = {
            sort: (*values, f"{sort}{_BEYOND}")
            if grounding.literal and schema.sort(sort).values is None
            else values
            for sort, values in self.space.domain.items()
        }
        facts = all_facts(schema.relations, self.values, "an `ensure`")
        self.extra = {fact: f"{fact}''" for fact in facts if fact not in self.space.atoms}
        self.manager.declare_bottom(self.extra.values())
        self.after = Facts(
            schema,
            {
                fact: self.manager.var(self.extra[fact]) if fact in self.extra else self.space.after(fact)
                for fact in facts
            },
        )
        space = self.space
        wide = type(space)(self.manager, self.values, space.atoms, space.static, space.mortal)
        self.joint = Formulas(wide, schema, grounding.facts, self.after, grounding.formulas.within)
        self.later = Formulas(wide, schema, self.after)

    def relation(self, tool: Tool, effect: Effect, call: Call, offered: Bdd) -> Bdd:
        """D → D' over the bits of D, their copies and the extra ones."""
        sigma = {p.name: u for p, u in zip(tool.params, call.args, strict=True)}
        asked = conjunction(tuple(s.formula for s in effect.statements if isinstance(s, Ensure)))
        made = offered & self.grounding.formulas(effect.when, sigma) & self.joint(asked, sigma)
        return made & self.manager.conj(self._first_names())

    def _first_names(self) -> Iterator[Bdd]:
        if not self.grounding.literal:
            for sort, values in self.space.domain.items():
                smaller = self.manager.true
                for value in self.deployment.outside(sort, values):
                    before, after = (
                        self.grounding.formulas.active(sort, value),
                        self.later.active(sort, value),
                    )
                    yield before | ~after | smaller
                    smaller = smaller & (before | after)

    @property
    def all_bits(self) -> frozenset[str]:
        """The bits of D'."""
        return frozenset(self.extra.values()) | {copy_of(bit) for bit in self.space.atoms.values()}

    def inside(self, made: Bdd, place: str) -> Bdd:
        """The steps of ``made`` over the bits that the certificate knows, none of them to a state beyond.

        Obligations: no step from R exceeds a bound, or inserts a fact without a bit that is over U_f, or
        deletes a static one.
        """
        m, ledger = self.manager, self.grounding.ledger
        here = self.grounding.reached & made
        for sort, bound in self.deployment.bounds.items():
            outside = self.deployment.outside(sort, self.values[sort])
            over = m.at_least(bound + 1, [self.later.active(sort, value) for value in outside])
            ledger.empty(here & over, f"the bound of {sort} is kept", place)
        beyond = m.false
        for fact, bit in self.extra.items():
            if any(value.endswith(_BEYOND) for value in fact.args):
                beyond = beyond | m.var(bit)
        here, made = here & ~beyond, made & ~beyond
        constant: dict[str, bool] = {}
        for fact, bit in self.extra.items():
            static = fact in self.space.static
            constant[bit] = static
            if any(value.endswith(_BEYOND) for value in fact.args):
                continue
            wrong = ~m.var(bit) if static else m.var(bit)
            what = f"no step {'deletes' if static else 'inserts'} {fact}"
            ledger.empty(here & wrong, what, place)
        return m.cofactor(made, constant)


def all_facts(
    relations: Sequence[Relation], values: Mapping[str, Sequence[Value]], what: str
) -> tuple[Fact, ...]:
    """The facts of some relations over these values; `Undecided` where they are too many."""
    number = sum(prod(len(values[sort]) for sort in relation.sorts) for relation in relations)
    if number > MOST:
        raise Undecided(f"unknown: {what} is about {number:,} facts, and {MOST:,} are checked at most")
    return tuple(
        Fact(relation.name, args)
        for relation in relations
        for args in product(*(values[sort] for sort in relation.sorts))
    )
