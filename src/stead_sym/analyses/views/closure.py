"""Sets of views that no step leaves.

Theorem. Let V be a set of instances over at most k values outside C, k at least the number of columns of
open sorts of any relation, such that α_k(D0) ⊆ V for every D0, and let I be sentences that are true in each
part of an instance in which they are, whose negations need r_I values (`views.needs`): the declared keys,
for one. If every step from each D ∈ γ(V) with D ⊨ I over at most n values leads to a D' ∈ γ(V), for n as in
`views.steps`, and every step from one over at most n values, for r_I in place of k, to a D' ⊨ I, and if
every D0 ⊨ I, then every reachable instance, of every size, is in γ(V) and satisfies I. The proof is in
`docs/theory.md`.

One decision: the steps are those of `deployment.semantics`, of one instance at a time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count

from stead_sym.analyses.views.gluing import Gluing
from stead_sym.analyses.views.needs import Needs, Outside
from stead_sym.analyses.views.parts import Facts, Parts, refuse_many
from stead_sym.analyses.views.steps import values
from stead_sym.deployment.claims import active_outside, claim_named
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.initial import initial_states
from stead_sym.deployment.restriction import around, normal_restriction
from stead_sym.deployment.semantics import outcomes, possible
from stead_sym.deployment.tool import Tool
from stead_sym.errors import Undecided
from stead_sym.logic.evaluate import holds
from stead_sym.logic.syntax import Expanded, conjunction, conjuncts
from stead_sym.relational.instance import Fact, Instance, broken_keys

MOST_INSTANCES = 5_000
"""So many instances over the values that decide a step are looked at."""


@dataclass(frozen=True, slots=True)
class Assumed:
    """A ``sentence`` of I by its ``name``. One that says that a ``relation`` has its key names it.
    ``starting``: an initial instance has to be looked at to know that it is true there, since nothing in the
    definition of these says so."""

    name: str
    sentence: Expanded
    relation: str | None = None
    starting: bool = False

    def broken(self, state: Instance) -> bool:
        """D ⊭ the sentence."""
        if self.relation is None:
            return not holds(self.sentence, state)
        facts = (Fact(self.relation, args) for args in state.by_relation.get(self.relation, ()))
        return any(True for _ in broken_keys(state.schema, facts))


def keys_and_bounds(deployment: Deployment, open_sorts: Collection[str]) -> Iterator[Assumed]:
    """The declared keys, and the bounds of the other sorts."""
    for relation in deployment.schema.relations:
        if relation.keys:
            claim = claim_named(deployment, f"key of {relation.name}")
            assert claim is not None
            yield Assumed(claim.name, claim.invariant, relation.name)
    for sort, bound in deployment.bounds.items():
        if sort not in open_sorts:
            yield Assumed(f"bound {sort} {bound}", active_outside(deployment, sort, "atmost", bound))


@dataclass(frozen=True, slots=True)
class Closure:
    """The least set V of ``views`` over at most k values that is invariant by the theorem of this module.

    ``broken`` is what is assumed and a step from γ(V) breaks, if it does: then V says nothing. ``rounds`` is
    how often γ(V) was made, ``glued`` how many instances of it a step was taken from.
    """

    k: int
    views: frozenset[Facts]
    rounds: int
    glued: int
    broken: str = ""


class Closing:
    """The views of one deployment under all that can be selected in it."""

    def __init__(self, deployment: Deployment, k: int, assumed: Iterable[Assumed]) -> None:
        self.deployment, self.k = deployment, k
        self.needs, self.parts = Needs(deployment), Parts(deployment)
        self.assumed = tuple(assumed)
        self._admitted: dict[Facts, bool] = {}
        self.restriction = normal_restriction(deployment.within(dict.fromkeys(deployment.bounds, 0)))
        self.within = {tool.name: self._values(tool) for tool in deployment.tools_and_events}

    @property
    def most(self) -> int:
        """n of the step that needs the most."""
        return max(self.within.values(), default=0)

    def _values(self, tool: Tool) -> int:
        """n for all alternatives of a tool, and for all that is assumed."""
        asked = [(self.k, None), *((self.needs.refuted(a.sentence), a.relation) for a in self.assumed)]
        return max(
            values(self.needs, tool, effect, k, relation) for effect in tool.effects for k, relation in asked
        )

    def admitted(self, facts: Facts) -> bool:
        """Whether what is assumed is true."""
        if facts not in self._admitted:
            self._admitted[facts] = not self.broken(Instance(self.deployment.schema, facts))
        return self._admitted[facts]

    def broken(self, state: Instance) -> str:
        """The first of what is assumed that is false, if one is."""
        return next((one.name for one in self.assumed if one.broken(state)), "")

    def gluing(self, views: Iterable[Facts]) -> Gluing:
        """γ(V), those instances that satisfy what is assumed."""
        return Gluing(self.parts, frozenset(views), self.k, self.admitted)

    def closed(self) -> Closure:
        """The least V. Raises `Undecided` past `MOST_INSTANCES`."""
        refuse_many(self.most)
        views: set[Facts] = set()
        for start in self._initial():
            if broken := self.broken(start):
                return Closure(self.k, frozenset(), 0, 0, broken)
            views.update(self.parts.alpha(start.facts, self.k))
        stepped: set[Facts] = set()
        for rounds in count(1):
            new: set[Facts] = set()
            for facts in self.gluing(views).instances(self.most):
                if facts in stepped:
                    continue
                stepped.add(facts)
                if len(stepped) > MOST_INSTANCES:
                    raise Undecided(f"unknown: more than {MOST_INSTANCES:,} databases of {self.most} records")
                for after in self.after(facts):
                    if broken := self.broken(after):
                        return Closure(self.k, frozenset(views), rounds, len(stepped), broken)
                    new.update(self.parts.alpha(after.facts, self.k))
            if new <= views:
                return Closure(self.k, frozenset(views), rounds, len(stepped))
            views |= new
        raise AssertionError("the rounds are counted without end")

    def _initial(self) -> tuple[Instance, ...]:
        """Initial instances that have among them all parts on k values of initial instances of every size;
        and of one in which something assumed is false, a part in which it is."""
        lines = self.deployment.initially
        if lines is None:
            return (self.deployment.init,)
        parts, needed = [], 0
        for part in conjuncts(lines.where):
            try:
                needed += self.needs.kept(part)
            except Outside:
                continue  # without it there are more initial instances
            parts.append(part)
        n = max([self.k, *(self.needs.refuted(a.sentence) for a in self.assumed if a.starting)]) + needed
        refuse_many(n)
        open_sorts = self.deployment.unbounded or self.deployment.bounds
        within = self.deployment.within(dict.fromkeys(open_sorts, n))
        weaker = replace(
            within,
            written=replace(
                self.deployment.written, initially=(replace(lines, where=conjunction(tuple(parts))),)
            ),
        )
        domain = {s: (*c, *self.parts.names.get(s, ())[:n]) for s, c in self.deployment.constants.items()}
        found = initial_states(weaker, domain, MOST_INSTANCES + 1)
        if len(found) > MOST_INSTANCES:
            raise Undecided(f"unknown: more than {MOST_INSTANCES:,} initial databases of {n} records")
        return found

    def after(self, facts: Facts) -> Iterator[Instance]:
        """What the steps that need so many values lead to, up to renaming of fresh values."""
        state = Instance(self.deployment.schema, facts)
        size = len(self.parts.sort_of(facts))
        near = around(self.deployment, self.restriction, state)
        for call in possible(self.deployment, state):
            if size <= self.within[call.tool]:
                yield from outcomes(self.deployment, call, state, near)
