"""Explain what stands in the way of a specification: an instance of γ(V) in which it is false.

The explanation includes how the parts of the instance come about. A run need not reach it: it is put together
from views, and a step leads to each of these from an instance that is put together likewise. The steps are
given from an initial instance on. Of the parts of each instance the one that was found last is the one whose
step comes before it. One decision: what stands for the same record in two steps has the same name in both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, permutations

from stead_sym.analyses.views.closure import Closure, Origin
from stead_sym.analyses.views.parts import Facts, renamed_facts
from stead_sym.deployment.tool import Call
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value


@dataclass(frozen=True, slots=True)
class Leading:
    """A step by ``call`` from ``before``, an instance of γ(V), to ``after``, of which ``part`` is a new view.

    Without a call ``after`` is an initial instance.
    """

    after: Instance
    part: Instance
    before: Instance | None = None
    call: Call | None = None


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A ``state`` that stands in the way: a sentence of the specification is false, and ``k``-views admit it.

    If ``broken`` names an assumption, the last of the steps breaks it instead. ``steps`` lead to the parts of
    the state; the first of them leads to an initial instance. If the conditions of tools are ``weaker`` than
    they are written (`views.weakening`), there may be no run with these steps.
    """

    k: int
    state: Instance
    steps: tuple[Leading, ...]
    broken: str = ""
    weaker: bool = False

    @property
    def is_run(self) -> bool:
        """Return whether the steps are a run of the deployment that ends in ``state``."""
        if self.weaker:
            return False
        starts = [step.before for step in self.steps[1:]] + [self.state]
        return all(step.after == start for step, start in zip(self.steps, starts, strict=True))


def obstacle(closure: Closure, state: Instance) -> Obstacle:
    """Return the steps that lead to an instance of γ(V)."""
    telling = _Telling(closure)
    steps = tuple(telling.before(state.facts))[::-1]
    return Obstacle(closure.k, state, steps, weaker=bool(closure.closing.left_out))


def breaking(closure: Closure, origin: Origin) -> Obstacle:
    """Return the steps that lead to an instance in which an assumption is false."""
    telling = _Telling(closure)
    last = telling.leading(origin, origin.after, {})
    earlier = () if origin.before is None else tuple(telling.before(origin.before))[::-1]
    weaker = bool(closure.closing.left_out)
    return Obstacle(closure.k, last.after, (*earlier, last), closure.broken, weaker)


class _Telling:
    """The steps to the views of one closure."""

    def __init__(self, closure: Closure) -> None:
        closing = closure.closing
        self._parts, self._schema, self._k = closing.parts, closing.deployment.schema, closing.k
        self._closure = closure

    def before(self, facts: Facts) -> Iterator[Leading]:
        """Yield the steps that lead to an instance, the last first."""
        while True:
            part = max(self._within(facts), key=lambda part: self._closure.age(self._parts.form(part)))
            origin = self._closure.origin(self._parts.form(part))
            leading = self.leading(origin, part, self._renaming(origin, part))
            yield leading
            if leading.before is None:
                return
            facts = leading.before.facts

    def leading(self, origin: Origin, part: Facts, renaming: Mapping[Value, Value]) -> Leading:
        """Return a step under other names."""

        def instance(facts: Facts) -> Instance:
            return Instance(self._schema, renamed_facts(facts, renaming))

        return Leading(
            instance(origin.after),
            Instance(self._schema, part),
            None if origin.before is None else instance(origin.before),
            None if origin.call is None else origin.call.rename(renaming),
        )

    def _within(self, facts: Facts) -> Iterator[Facts]:
        """Yield the parts on at most k values."""
        values = sorted(self._parts.sort_of(facts))
        for size in range(min(self._k, len(values)) + 1):
            for kept in combinations(values, size):
                yield self._parts.part(facts, kept)

    def _renaming(self, origin: Origin, part: Facts) -> Mapping[Value, Value]:
        """Return names for the values of a step under which it leads to an instance that has this part."""
        after, own = origin.after, self._parts.sort_of(part)
        sort_of = self._parts.sort_of(after)
        targets = sorted(own)
        for chosen in permutations(sorted(sort_of), len(targets)):
            if any(sort_of[v] != own[u] for v, u in zip(chosen, targets, strict=True)):
                continue
            renaming = dict(zip(chosen, targets, strict=True))
            if renamed_facts(self._parts.part(after, chosen), renaming) == part:
                return self._completed(renaming, {**self._parts.sort_of(origin.before or ()), **sort_of})
        raise AssertionError("a view is a part of what it comes from")

    def _completed(
        self, renaming: Mapping[Value, Value], sort_of: Mapping[Value, str]
    ) -> Mapping[Value, Value]:
        """Rename the other values to the first names that are not in use."""
        result = dict(renaming)
        taken = set(renaming.values())
        for value, sort in sorted(sort_of.items()):
            if value not in result:
                result[value] = next(name for name in self._parts.names[sort] if name not in taken)
                taken.add(result[value])
        return result
