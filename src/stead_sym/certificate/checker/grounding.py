"""Tools as ground steps: every call, alternative and choice of values, directly from the syntax.

    D →_ω(u) D'  iff  D ⊨ guard(u), u ∈ ad(D); for some alternative D ⊨ when and values of its `choose` and
                      `fresh`; D' = (D minus what it deletes) plus what it inserts

A `Step` states where it can be taken and the new value of each fact that it writes; all others are unchanged.
Everything is read in D. What no state of R admits is left out, and so is what no state of R can write. That a
step inserts no fact without a bit, and deletes no static fact, is an obligation on R.

In mode `theorem` a fresh value is any unused one. If U_f may have fewer unused values than an alternative
draws, a value beyond U_f stands for those outside: a step that inserts one exceeds the bound (U_f has room
for b_S more values than a state has), so that no step may do so. In mode `normal` a fresh value has one name:
the one that the certificate assigns to it after the value of another variable, or the first unused one of its
sort. Any name is exact that is unused and assigned to no other fresh value of the step; these are obligations
on R.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

import stead_sym.logic.syntax as fo
from stead_sym.certificate.checker.formulas import Facts, Formulas
from stead_sym.certificate.checker.ledger import Ledger
from stead_sym.certificate.checker.space import Space
from stead_sym.certificate.document import Named
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.integer_terms import out_of_range, without_integer_terms
from stead_sym.deployment.tool import Assign, Call, Choose, Clear, Delete, Effect, Ensure, Fresh, Insert, Tool
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.logic.evaluate import value_of
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Value

Sigma = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Step:
    """A step that may be taken in the states ``where``, with the new values of the facts that it writes."""

    where: Bdd
    writes: Mapping[Fact, Bdd]


@dataclass(frozen=True, slots=True)
class Leaf:
    """The values of the variables of an alternative, and the states in which it may take them."""

    tool: Tool
    number: int
    sigma: Sigma
    where: Bdd


@dataclass
class Grounding:
    """The tools of a deployment over the states of ``reached`` (R).

    With ``any_value`` a chosen value need not be active (`checker.starting`).
    """

    space: Space
    deployment: Deployment
    formulas: Formulas
    facts: Facts
    reached: Bdd
    ledger: Ledger
    literal: bool
    named: Mapping[tuple[str, int, str], Named]
    any_value: bool = False
    _few: dict[tuple[str, int], Bdd] = field(default_factory=dict)

    @property
    def _none(self) -> Bdd:
        return self.space.manager.false

    def possible(self, states: Bdd) -> bool:
        """Return whether some of these states is in R."""
        return self.reached & states != self._none

    # calls

    def calls(self, tool: Tool) -> Mapping[Call, Bdd]:
        """Return the calls of a tool that some state of R offers, each with where it is offered."""
        offers: dict[Call, Bdd] = {}
        everywhere = self.space.manager.true
        for sigma, where in self._assigned(tool.params, tool.guard, {}, everywhere, offered=True):
            offered = where & self.formulas(tool.guard, sigma)
            if self.possible(offered):
                offers[Call(tool.name, tuple(sigma[p.name] for p in tool.params))] = offered
        return offers

    def _assigned(
        self,
        binders: Sequence[fo.Binder],
        condition: fo.Formula,
        sigma: Sigma,
        where: Bdd,
        *,
        offered: bool = False,
    ) -> Iterator[tuple[Sigma, Bdd]]:
        """Yield active values for these variables, each choice with where it is possible.

        The variables of a call that is ``offered`` take every value of a finite sort.
        """
        if not binders:
            yield sigma, where
            return
        first, rest = binders[0], binders[1:]
        hidden = {name: value for name, value in sigma.items() if name not in {b.name for b in binders}}
        finite = self.deployment.schema.is_finite(first.sort)
        every = first.declared or (offered and finite)
        for value in self.formulas.candidates(first, condition, hidden):
            here = where if every else where & self.formulas.active(first.sort, value)
            if here != self._none:
                chosen = {**sigma, first.name: value}
                yield from self._assigned(rest, condition, chosen, here, offered=offered)

    # alternatives

    def leaves(self, tool: Tool, call: Call, offered: Bdd) -> Iterator[Leaf]:
        """Yield the instances of the alternatives of a call that insert and delete."""
        sigma = tool.given(call)
        for number, effect in enumerate(tool.effects):
            if not effect.is_ensure:
                where = offered & self.formulas(effect.when, sigma)
                for values, here in self._values(tool, number, 0, sigma, where, ()):
                    yield Leaf(tool, number, values, here)

    def _values(
        self, tool: Tool, number: int, at: int, sigma: Sigma, where: Bdd, drawn: tuple[Value, ...]
    ) -> Iterator[tuple[Sigma, Bdd]]:
        """Yield the values of `choose` and `fresh` from the statement ``at`` on.

        Each choice comes with where it is possible.
        """
        if not self.possible(where):
            return
        effect = tool.effects[number]
        if at == len(effect.statements):
            yield sigma, where
            return
        match effect.statements[at]:
            case Choose(binder, condition):
                constants = self.deployment.constants[binder.sort]
                for value in self.formulas.candidates(binder, condition, sigma):
                    chosen = {**sigma, binder.name: value}
                    here = where & self.formulas(condition, chosen)
                    if value not in constants and not self.any_value:
                        here = here & self.formulas.active(binder.sort, value)
                    yield from self._values(tool, number, at + 1, chosen, here, drawn)
            case Fresh(binder):
                for value, here in self._fresh(tool, number, binder, sigma, where, drawn):
                    bound = {**sigma, binder.name: value}
                    yield from self._values(tool, number, at + 1, bound, here, (*drawn, value))
            case _:
                yield from self._values(tool, number, at + 1, sigma, where, drawn)

    def _fresh(
        self, tool: Tool, number: int, binder: fo.Binder, sigma: Sigma, where: Bdd, drawn: tuple[Value, ...]
    ) -> Iterator[tuple[Value, Bdd]]:
        """Yield the possible values of a fresh variable, each with where it is possible."""
        sort, active = binder.sort, self.formulas.active
        unused = [u for u in self.deployment.outside(sort, self.space.domain[sort]) if u not in drawn]
        place = f"steps of {tool.name}"
        if self.literal:
            for value in unused:
                yield value, where & ~active(sort, value)
            total = sum(other.sort == sort for other in tool.effects[number].fresh)
            yield f"{binder.name}?", where & self._fewer_unused(sort, total)
            return
        named = self.named.get((tool.name, number, binder.name))
        if named is not None:
            value = named.names.get(sigma[named.after], "")
            known = value in unused
            taken = active(sort, value) if known else self.space.manager.true
            self.ledger.empty(self.reached & where & taken, f"the name for {binder.name} is free", place)
            yield value, where & ~taken
            return
        for value in unused:
            yield value, where & ~active(sort, value)
            where = where & active(sort, value)
        self.ledger.empty(self.reached & where, f"some name is free for {binder.name}", place)

    def _fewer_unused(self, sort: str, number: int) -> Bdd:
        """Return the states of R in which fewer than ``number`` values of U_f outside C are unused.

        There are none if U_f has ``number`` more values outside C than the bound, which holds in R.
        """
        if (sort, number) not in self._few:
            outside = self.deployment.outside(sort, self.space.domain[sort])
            few = self._none
            if len(outside) - self.deployment.bounds[sort] < number:
                unused = [self.reached & ~self.formulas.active(sort, value) for value in outside]
                few = self.reached & ~self.space.manager.at_least(number, unused)
            self._few[sort, number] = few
        return self._few[sort, number]

    # writes

    def step(self, leaf: Leaf, where: Bdd) -> Step:
        """Return the effect of a leaf in the states ``where``, in which its call is selected."""
        m, effect, place = self.space.manager, leaf.tool.effects[leaf.number], f"steps of {leaf.tool.name}"
        inserted: dict[Fact, Bdd] = {}
        deleted: dict[Fact, Bdd] = {}
        beyond_sorts = self.formulas(out_of_range(effect, self.deployment.schema), leaf.sigma)
        self.ledger.empty(self.reached & where & beyond_sorts, "no step leaves a sort of integers", place)
        for statement in without_integer_terms(effect, self.deployment.schema).statements:
            match statement:
                case Clear(relations):
                    for relation in relations:
                        deleted.update(dict.fromkeys(self.facts.of(relation), m.true))
                case Insert(atom, binders, condition):
                    for fact, when in self._inserted(
                        atom.relation, atom.args, binders, condition, leaf.sigma
                    ):
                        inserted[fact] = inserted.get(fact, m.false) | when
                case Delete(atom, binders, condition):
                    for fact, when in self._deleted(atom.relation, atom.args, binders, condition, leaf.sigma):
                        deleted[fact] = deleted.get(fact, m.false) | when
                case Choose() | Fresh():
                    pass
                case Ensure() | Assign():
                    raise AssertionError(f"{statement} among statements that insert and delete")
                case _:
                    assert_never(statement)
        here = self.reached & where
        writes: dict[Fact, Bdd] = {}
        beyond = {f"{binder.name}?": binder.sort for binder in effect.fresh}
        for fact, when in inserted.items():
            if sorts := {beyond[value] for value in fact.args if value in beyond}:
                for sort in sorts:
                    few = self._fewer_unused(sort, _inserted_fresh(effect, sort))
                    self.ledger.empty(here & when & few, f"the bound of {sort} leaves room", place)
                where, here = where & ~when, here & ~when
            elif fact not in self.space.atoms and fact not in self.space.static:
                self.ledger.empty(here & when, f"no step inserts {fact}", place)
        for fact in inserted.keys() | deleted.keys():
            comes, goes = inserted.get(fact, m.false), deleted.get(fact, m.false)
            if fact in self.space.static:
                self.ledger.empty(here & goes & ~comes, f"no step deletes {fact}", place)
            elif fact in self.space.atoms:
                old = self.space.now(fact)
                new = comes | (old & ~goes)
                if new != old:
                    writes[fact] = new
        return Step(where, writes)

    def _inserted(
        self,
        relation: str,
        args: tuple[fo.Term, ...],
        binders: Sequence[fo.Binder],
        condition: fo.Formula,
        sigma: Sigma,
    ) -> Iterator[tuple[Fact, Bdd]]:
        """Yield the facts that an insertion adds, each with where it does."""
        for values, active in self._assigned(binders, condition, sigma, self.space.manager.true):
            when = active & self.formulas(condition, values)
            if when != self._none:
                yield Fact(relation, tuple(value_of(term, values) for term in args)), when

    def _deleted(
        self,
        relation: str,
        args: tuple[fo.Term, ...],
        binders: Sequence[fo.Binder],
        condition: fo.Formula,
        sigma: Sigma,
    ) -> Iterator[tuple[Fact, Bdd]]:
        """Yield the facts that a deletion removes if they hold, each with where it does.

        The values of these facts are active there.
        """
        bound = {binder.name: binder for binder in binders}
        outer = {name: value for name, value in sigma.items() if name not in bound}
        pattern = tuple(
            None if isinstance(term, fo.Var) and term.name in bound else value_of(term, outer)
            for term in args
        )
        for fact in self.facts.matching(relation, pattern):
            values = dict(outer)
            named = [
                (term.name, value)
                for term, value in zip(args, fact.args, strict=True)
                if isinstance(term, fo.Var) and term.name in bound
            ]
            values.update(named)
            if all(values[name] == value for name, value in named):
                rest = [binder for name, binder in bound.items() if name not in values]
                when = self.space.manager.disj(
                    active & self.formulas(condition, inner)
                    for inner, active in self._assigned(rest, condition, values, self.space.manager.true)
                )
                if when != self._none:
                    yield fact, when


def _inserted_fresh(effect: Effect, sort: str) -> int:
    """Return how many fresh values of a sort an alternative may insert."""
    mentioned = frozenset[str]().union(
        *(fo.free_variables(s.atom) for s in effect.statements if isinstance(s, Insert))
    )
    return sum(binder.sort == sort and binder.name in mentioned for binder in effect.fresh)
