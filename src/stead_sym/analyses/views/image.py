"""Compute the steps of a tool from instances over a few names, as diagrams.

Names that no argument and no chosen variable has are exchangeable. So arguments take new names in their
order, and the parts of what a step leads to are looked at once for each kind. What is found is closed under
permutations of names when it is added (`views.gluing`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, permutations, product

import stead_sym.logic.syntax as fo
from stead_sym.analyses.views.diagrams import Diagrams, Grounded
from stead_sym.analyses.views.parts import Facts, Sizes
from stead_sym.deployment.tool import Call, Choose, Clear, Delete, Effect, Fresh, Insert, Statement, Tool
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.logic.evaluate import value_of
from stead_sym.logic.kernel import core
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Value


@dataclass(frozen=True)
class Step:
    """The steps of an alternative by a ``call``, from instances over ``sizes`` names that satisfy ``case``.

    They lead to instances over ``after`` names, which include the fresh values. The first ``used`` names of
    each open sort are arguments or chosen. ``written`` has the new truth values of the facts that change.
    """

    call: Call
    sizes: Sizes
    after: Sizes
    used: Sizes
    case: Bdd
    written: Mapping[Fact, Bdd]


@dataclass(frozen=True)
class _Draft:
    sigma: Mapping[str, Value]
    used: tuple[int, ...]
    case: Bdd
    inserted: Mapping[Fact, Bdd] = field(default_factory=dict)
    deleted: Mapping[Fact, Bdd] = field(default_factory=dict)
    drawn: tuple[int, ...] = ()


class Images:
    """The steps of one deployment.

    If ``records`` of `init` are no longer constants (`views.records`), a chosen value need not be active.
    """

    def __init__(self, diagrams: Diagrams, records: bool = False) -> None:
        self.diagrams, self.manager, self.records = diagrams, diagrams.manager, records
        self.sorts = diagrams.parts.sorts

    def steps(self, tool: Tool, effect: Effect, sizes: Sizes, start: Bdd) -> Iterator[Step]:
        """Yield the steps from a set of instances over ``sizes`` names that is closed under permutations."""
        ground = self.diagrams.grounded(sizes)
        none = (0,) * len(sizes)
        drafts = [_Draft({}, none, start, drawn=none)]
        for param in tool.params:
            drafts = [d for draft in drafts for d in self._given(ground, sizes, draft, param)]
        for draft in drafts:
            here = self._where(ground, self._where(ground, draft, tool.guard), effect.when)
            for done in self._written(ground, sizes, here, effect.statements):
                written = {
                    fact: (ground.atom(fact) & ~done.deleted.get(fact, self.manager.false))
                    | done.inserted.get(fact, self.manager.false)
                    for fact in done.inserted.keys() | done.deleted.keys()
                }
                after = tuple(map(sum, zip(sizes, done.drawn, strict=True)))
                call = Call(tool.name, tuple(draft.sigma[param.name] for param in tool.params))
                yield Step(call, sizes, after, done.used, done.case, written)

    def _names(self, sizes: Sizes, draft: _Draft, binder: fo.Binder) -> Iterator[tuple[Value, _Draft]]:
        """Yield the names that the draft uses and one more, each with the draft that uses it."""
        if binder.sort in self.sorts:
            sort = self.sorts.index(binder.sort)
            for place, name in enumerate(self.diagrams.names(sizes)[sort][: draft.used[sort] + 1]):
                used = max(draft.used[sort], place + 1)
                yield name, replace(draft, used=(*draft.used[:sort], used, *draft.used[sort + 1 :]))

    def _given(self, ground: Grounded, sizes: Sizes, draft: _Draft, param: fo.Binder) -> Iterator[_Draft]:
        """Yield the draft with each possible value of a parameter."""
        constants = self.diagrams.deployment.constants[param.sort]
        listed = self.diagrams.deployment.schema.is_finite(param.sort)
        choices = [*((value, draft) for value in constants), *self._names(sizes, draft, param)]
        for value, chosen in choices:
            case = chosen.case if listed else chosen.case & ground.active(param.sort, value)
            if case != self.manager.false:
                yield replace(chosen, case=case, sigma={**chosen.sigma, param.name: value})

    def _where(self, ground: Grounded, draft: _Draft, condition: fo.Expanded) -> _Draft:
        case = draft.case
        for part in ground.conjuncts(core(condition), draft.sigma):
            case = case & part
        return replace(draft, case=self.diagrams.limited(case))

    def _written(
        self, ground: Grounded, sizes: Sizes, draft: _Draft, statements: Sequence[Statement]
    ) -> Iterator[_Draft]:
        """Yield the draft after the statements, for every choice of values."""
        if draft.case == self.manager.false:
            return
        if not statements:
            yield draft
            return
        first, rest = statements[0], statements[1:]
        match first:
            case Choose(binder, where):
                known = [(value, draft) for value in self.diagrams.deployment.constants[binder.sort]]
                named = [
                    (
                        name,
                        one
                        if self.records
                        else replace(one, case=one.case & ground.active(binder.sort, name)),
                    )
                    for name, one in self._names(sizes, draft, binder)
                ]
                for value, one in (*known, *named):
                    bound = replace(one, sigma={**one.sigma, binder.name: value})
                    yield from self._written(ground, sizes, self._where(ground, bound, where), rest)
            case Fresh(binder):
                sort = self.sorts.index(binder.sort)
                place = sizes[sort] + draft.drawn[sort]
                drawn = (*draft.drawn[:sort], draft.drawn[sort] + 1, *draft.drawn[sort + 1 :])
                name = self.diagrams.parts.names[binder.sort][place]
                bound = replace(draft, drawn=drawn, sigma={**draft.sigma, binder.name: name})
                yield from self._written(ground, sizes, bound, rest)
            case Insert(atom, binders, where):
                facts = self._facts(ground, draft, atom.relation, atom.args, binders, where)
                yield from self._written(
                    ground, sizes, replace(draft, inserted=self._merged(draft.inserted, facts)), rest
                )
            case Delete(atom, binders, where):
                facts = self._facts(ground, draft, atom.relation, atom.args, binders, where)
                yield from self._written(
                    ground, sizes, replace(draft, deleted=self._merged(draft.deleted, facts)), rest
                )
            case Clear(relations):
                every = {fact: self.manager.true for fact in ground.facts if fact.relation in relations}
                yield from self._written(
                    ground, sizes, replace(draft, deleted={**draft.deleted, **every}), rest
                )
            case _:
                raise AssertionError(f"{first} is outside of the fragment")

    def _merged(self, one: Mapping[Fact, Bdd], other: Mapping[Fact, Bdd]) -> Mapping[Fact, Bdd]:
        return {**one, **{fact: one.get(fact, self.manager.false) | when for fact, when in other.items()}}

    def _facts(
        self,
        ground: Grounded,
        draft: _Draft,
        relation: str,
        args: tuple[fo.Term, ...],
        binders: tuple[fo.Binder, ...],
        where: fo.Expanded,
    ) -> Mapping[Fact, Bdd]:
        """Return { P(t)σ' : σ' extends σ by active values for the binders, D ⊨ where }.

        Each fact comes with the diagram of the instances D.
        """
        found: dict[Fact, Bdd] = {}
        for values in product(*(ground.values[binder.sort] for binder in binders)):
            sigma = {**draft.sigma, **{b.name: u for b, u in zip(binders, values, strict=True)}}
            when = self.manager.true
            for binder, value in zip(binders, values, strict=True):
                when = when & ground.active(binder.sort, value)
            when = when & ground.formula(core(where), sigma)
            if when != self.manager.false:
                fact = Fact(relation, tuple(value_of(term, sigma) for term in args))
                found[fact] = found.get(fact, self.manager.false) | when
        return found

    # what a step leads to

    def parts(self, step: Step, size: Sizes) -> Iterator[Bdd]:
        """Yield the changed parts on ``size`` values of what a step leads to, over the first names.

        If there are fewer values, the other names are not active.
        """
        for kept in self._kept(step, size):
            yield from self._part(step, size, kept)

    def _kept(self, step: Step, size: Sizes) -> Iterator[Mapping[str, tuple[Value, ...]]]:
        """Yield choices of ``size`` names of each sort, or of all if there are fewer.

        First come names that are used or fresh, then others, of which one choice stands for all.
        """
        each: list[list[tuple[Value, ...]]] = []
        for sort, names in enumerate(self.diagrams.names(step.after)):
            own = (*names[: step.used[sort]], *names[step.sizes[sort] :])
            others = names[step.used[sort] : step.sizes[sort]]
            most = min(size[sort], len(names))
            each.append(
                [
                    (*some, *others[: most - n])
                    for n in range(most + 1)
                    if most - n <= len(others)
                    for some in combinations(own, n)
                ]
            )
        for chosen in product(*each):
            yield dict(zip(self.sorts, chosen, strict=True))

    def _part(self, step: Step, size: Sizes, kept: Mapping[str, tuple[Value, ...]]) -> Iterator[Bdd]:
        m = self.manager
        sizes = tuple(len(kept[sort]) for sort in self.sorts)
        to = {
            name: first
            for names, own in zip(self.diagrams.names(sizes), kept.values(), strict=True)
            for first, name in zip(names, own, strict=True)
        }
        back = {first: name for name, first in to.items()}
        facts = [fact.rename(back) for fact in self.diagrams.facts(sizes)]
        changed = {fact: step.written[fact] for fact in facts if fact in step.written}
        if not changed:
            return
        before = self.diagrams.facts(step.sizes)
        stays = self.diagrams.bits(fact for fact in facts if fact in before and fact not in changed)
        read = frozenset[str]().union(*(m.support(value) for value in changed.values()))
        bits = self.diagrams.bits(before)
        result = m.exist(bits - stays - read, step.case)
        for fact, value in changed.items():
            result = result & m.var(f"{self.diagrams.bit(fact)}'").equiv(value)
        result = self.diagrams.limited(m.exist(bits - stays, result))
        images = {f"{self.diagrams.bit(fact)}'": self.diagrams.atom(fact.rename(to)) for fact in changed}
        images |= {self.diagrams.bit(f): self.diagrams.atom(f.rename(to)) for f in facts if f not in changed}
        lacking = [fact for fact in facts if fact not in before and fact not in changed]
        result = result & self.diagrams.none_of(lacking)
        result = m.substitute(result, images)
        yield result & self.diagrams.none_beyond(sizes, size)

    def breaking(self, step: Step, sentence: fo.Expanded) -> Bdd:
        """Return the instances from which the step leads to one in which a sentence is false."""
        m, after = self.manager, self.diagrams.grounded(step.after)
        new = {self.diagrams.bit(f): self._value(step, f) for f in self.diagrams.facts(step.after)}
        parts = after.conjuncts(core(sentence), {})
        return m.disj(step.case & ~m.substitute(part, new) for part in parts)

    def _value(self, step: Step, fact: Fact) -> Bdd:
        """Return the instances in which a fact holds after the step."""
        if fact in step.written:
            return step.written[fact]
        stays = fact in self.diagrams.facts(step.sizes)
        return self.diagrams.atom(fact) if stays else self.manager.false

    def leading(self, step: Step, view: Facts) -> Iterator[Bdd]:
        """Yield sets of instances from which the step leads to one of which the view is a part."""
        sizes = self.diagrams.parts.sizes(view)
        if all(a <= b for a, b in zip(sizes, step.after, strict=True)):
            for kept in self._kept(step, sizes):
                names = zip(self.diagrams.names(sizes), kept.values(), strict=True)
                to = {first: name for own, chosen in names for first, name in zip(own, chosen, strict=True)}
                for order in self._orders(sizes):
                    case = step.case
                    for fact in self.diagrams.facts(sizes):
                        value = self._value(step, fact.rename(order).rename(to))
                        case = case & (value if fact in view else ~value)
                    if case != self.manager.false:
                        yield case

    def _orders(self, sizes: Sizes) -> Iterator[Mapping[Value, Value]]:
        """Yield the permutations of names."""
        names = self.diagrams.names(sizes)
        for orders in product(*map(permutations, names)):
            yield {
                u: v
                for own, order in zip(names, orders, strict=True)
                for u, v in zip(own, order, strict=True)
            }

    def after(self, step: Step, before: Facts) -> Facts:
        """Return the instance that the step leads to from one instance."""
        facts = self.diagrams.facts(step.after)
        true = {self.diagrams.bit(fact): fact in before for fact in facts}
        holding = (f for f in facts if self.manager.satisfies(self._value(step, f), true))
        return self.diagrams.given.union(holding)
