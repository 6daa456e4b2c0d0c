"""Alternatives in the paper's form: D → D' iff D ⊨ when and D ⊕ D' ⊨ f, where every fact of D' is free.

Facts of D' without a bit in the certificate get one here, so that the checker detects whether some step
inserts them. In mode `theorem` there is one additional value per unbounded sort: D has at most b_S values,
and with the additional value every D' of up to b_S + 1 values is represented up to renaming, so that a step
beyond a bound is detected. In mode `normal` the new values of D' have the first unused names. If a step can
only exceed a bound by more than that, D' is read over as many further names as decide it
(`deployment.leaps`): `Leaping`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod

from stead_sym.certificate.checker.formulas import Facts, Formulas
from stead_sym.certificate.checker.grounding import Grounding
from stead_sym.certificate.checker.space import copy_of
from stead_sym.deployment.leaps import questions
from stead_sym.deployment.semantics import postcondition
from stead_sym.deployment.tool import Call, Effect, Tool
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.errors import Undecided
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Relation, Value

MOST = 20_000
"""The maximum number of facts of a formula about arbitrary instances."""

_BEYOND = "?"


class Ensuring:
    """The `ensure` alternatives of a deployment over the states of a grounding."""

    def __init__(self, grounding: Grounding, beyond: Mapping[str, int] | None = None) -> None:
        """Set up the bits of D'.

        ``beyond`` is the number of values in addition to those of the certificate; by default what the mode
        requires.
        """
        self.grounding = grounding
        self.space = grounding.space
        self.manager = grounding.space.manager
        self.deployment = grounding.deployment
        schema = self.deployment.schema
        more = {sort: int(grounding.literal) for sort in self.deployment.bounds} if beyond is None else beyond
        self.values: Mapping[str, tuple[Value, ...]] = {
            sort: (*values, *(f"{sort}{k}{_BEYOND}" for k in range(more.get(sort, 0))))
            for sort, values in self.space.domain.items()
        }
        facts = all_facts(schema.relations, self.values, "an `ensure`")
        mark = "''" if beyond is None else f"'{beyond}"
        self.extra = {fact: f"{fact}{mark}" for fact in facts if fact not in self.space.atoms}
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
        """Return D → D' over the bits of D, their copies and the extra ones."""
        sigma = tool.given(call)
        made = (
            offered & self.grounding.formulas(effect.when, sigma) & self.joint(postcondition(effect), sigma)
        )
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
        """Return the steps of ``made`` over the bits of the certificate; none leads to a state outside.

        Obligations: no step from R exceeds a bound, or inserts a fact over U_f without a bit, or deletes a
        static fact.
        """
        m, ledger = self.manager, self.grounding.ledger
        here = self.grounding.reached & made
        self.keeping_bounds(made, place)
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

    def keeping_bounds(self, made: Bdd, place: str) -> None:
        """Check the obligations that no step of ``made`` from R exceeds a bound."""
        here = self.grounding.reached & made
        for sort, bound in self.deployment.bounds.items():
            outside = self.deployment.outside(sort, self.values[sort])
            over = self.manager.at_least(bound + 1, [self.later.active(sort, value) for value in outside])
            self.grounding.ledger.empty(here & over, f"the bound of {sort} is kept", place)


class Leaping:
    """The `ensure` alternatives that may exceed a bound beyond the values of the certificate.

    They are read over as many names as decide whether they do.
    """

    def __init__(self, grounding: Grounding) -> None:
        self.grounding = grounding
        self.questions = questions(grounding.deployment)
        self._over: dict[tuple[str, int], Ensuring] = {}

    def check(self, tool: Tool, number: int, call: Call, taken: Bdd, dead: Bdd) -> Bdd:
        """Return the states of ``dead`` in which the call has no successor by this alternative either.

        Obligations: the question is decidable, and no step from the states ``taken`` exceeds a bound.
        """
        key = tool.name, number
        if key not in self.questions:
            return dead
        place, effect, manager = f"steps of {tool.name}", tool.effects[number], self.grounding.space.manager
        self.grounding.ledger.true(
            not self.questions[key].open, "it can be decided whether its `ensure` exceeds a bound", place
        )
        if key not in self._over:
            self._over[key] = Ensuring(self.grounding, self._beyond(self.questions[key].names))
        wide = self._over[key]
        wide.keeping_bounds(wide.relation(tool, effect, call, taken), place)
        if dead != manager.false:
            dead = dead & ~manager.exist(wide.all_bits, wide.relation(tool, effect, call, dead))
        return dead

    def _beyond(self, names: Mapping[str, int]) -> Mapping[str, int]:
        """Return the number of values needed in addition to the certificate's, by sort.

        With them every state leaves enough unused values.
        """
        deployment, domain = self.grounding.deployment, self.grounding.space.domain
        return {
            sort: max(0, number + deployment.bounds[sort] - len(deployment.outside(sort, domain[sort])))
            for sort, number in names.items()
        }


def all_facts(
    relations: Sequence[Relation], values: Mapping[str, Sequence[Value]], what: str
) -> tuple[Fact, ...]:
    """Return the facts of some relations over these values; raise `Undecided` if there are too many."""
    number = sum(prod(len(values[sort]) for sort in relation.sorts) for relation in relations)
    if number > MOST:
        raise Undecided(f"unknown: {what} is about {number:,} facts, and {MOST:,} are checked at most")
    return tuple(
        Fact(relation.name, args)
        for relation in relations
        for args in product(*(values[sort] for sort in relation.sorts))
    )
