"""Bounded fragments of a deployment, as deployments, and the meaning of a formula there for the whole.

One decision: the fragment is a deployment in the same language, so that the engines verify it exactly and
need no notion of fragments. A step past a bound is taken, and the state that it leads to never changes
afterwards. Nothing is assumed about what comes after it, as the two readings of a formula express.

Definition "Bounded fragment". For bounds b let X_b be the sentence "more than b_S values outside C are
active, for some sort S". The fragment A_b has the tools and events of A, their guards with ~X_b, and one
event more, which is enabled if X_b holds and changes nothing. Its runs are the runs of A as long as these
keep b, each followed for ever by the first state past b that it meets. An effect draws at most f_S values of
S, so that A_b has the bounds b_S + f_S by construction. An `ensure` may lead further past b: it is followed
one value past b. It may also lead to a fact of its own, `leapt`, which stands for all states further away and
counts as past b. With `initially any` a D0 may be past b: A_b has it too, and stays in it, so that A_b has
the bounds of A if these are larger.

Definition "Sure and possible". Over A_b, with W = ~X_b, for a formula f of A

    sure(f) = f = possible(f)                      if f has no temporal operator,
    sure(~f) = ~possible(f)                        possible(~f) = ~sure(f),
    sure(Q g) = Q (W & sure(g))                    possible(Q g) = Q (X_b | possible(g))

for Q one of AX, EX, AF, EF, AG, EG, and likewise for both operands of U and W. Connectives and quantifiers
pass the reading to their operands, and reverse it for operands in a negative position. With fairness
constraints F, those of A_b are F | X_b, and the state that an E operator leads to must start a fair run
within the bounds: sure(EX g) = EX (W & sure(g) & EG W), sure(E[g U h]) = E[(W & sure(g)) U (W & sure(h) & EG
W)], and dually for A.

Theorem. If A_b ⊨ sure(f) then A ⊨ f, and if A_b ⊭ possible(f) then A ⊭ f. The proof is in `docs/theory.md`.

Both are about the fair reading (`readings`). In the completed one every finite run counts, so that no
continuation has to be fair: there finite(f) is possible(f) without that condition. A run within b that shows
finite(f) to be false is one of A, and its loop, if no fair run of A_b leaves it, is one that no fair run of A
leaves. So a refutation that consists of runs alone is one in A.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.deployment.claims import active_outside, counted_outside
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.restriction import fresh_values
from stead_sym.deployment.tool import Effect, Ensure, Insert, Tool
from stead_sym.logic.substitution import fresh_name
from stead_sym.relational.schema import Relation

Bounds: TypeAlias = Mapping[str, int]


@dataclass(frozen=True)
class Leaping:
    """A deployment with an additional relation ``leapt`` that has no fact (see the module).

    ``leapt`` is None if no effect is a formula.
    """

    deployment: Deployment
    leapt: str | None = None


@dataclass(frozen=True)
class Fragment:
    """A_b: its ``deployment``, the ``bounds`` b, and X_b, the sentence that a state is ``past`` them.

    ``stay`` is the name of its own event. ``leaps`` is the sentence that an `ensure` was followed only up to
    one value past b, or None if there is no `ensure`. ``whole`` is A with the bounds b: the runs of A_b
    within the bounds are runs of it.
    """

    whole: Deployment
    deployment: Deployment
    bounds: Bounds
    past: fo.Formula
    stay: str
    leaps: fo.Atom | None

    def sure(self, formula: fo.Expanded) -> fo.Expanded:
        """Return the formula that holds in A_b only if this one holds in A."""
        return self._reading.read(formula, True)

    def possible(self, formula: fo.Expanded) -> fo.Expanded:
        """Return the formula that holds in A_b if this one holds in A."""
        return self._reading.read(formula, False)

    def finite(self, formula: fo.Expanded) -> fo.Expanded:
        """Return `possible` under the reading in which every finite run counts."""
        return _Reading(self.past, False).read(formula, False)

    @property
    def goes_on(self) -> fo.Formula:
        """EG W: a fair run starts here that stays within the bounds."""
        return fo.Globally("E", fo.Not(self.past))

    @property
    def _reading(self) -> _Reading:
        return _Reading(self.past, bool(self.whole.fair))


def leaping(deployment: Deployment) -> Leaping:
    """Return the deployment from which fragments are made, with the relation `leapt` if needed."""
    if not deployment.has_ensure:
        return Leaping(deployment)
    schema = deployment.schema
    taken = {relation.name for relation in schema.relations}
    leapt = fresh_name("leapt", taken.union(d.name for d in deployment.written.definitions))
    wider = replace(schema, relations=(*schema.relations, Relation(leapt, ())))
    return Leaping(replace(deployment, schema=wider, init=replace(deployment.init, schema=wider)), leapt)


def fragment(given: Leaping, bounds: Bounds) -> Fragment:
    """Return A_b for bounds b, one for each unbounded sort.

    If D0 may be any database (`initially any`), the bounds of the deployment limit it, whatever b is. So D0
    may have more values than b_S.
    """
    deployment = given.deployment
    leaps = None if given.leapt is None else fo.Atom(given.leapt, ())
    past = fo.disjunction((exceeding(deployment, bounds), *(() if leaps is None else (leaps,))))
    stay = fresh_name("stay", (tool.name for tool in deployment.tools_and_events))
    written = deployment.written
    within = partial(_within, deployment, bounds, past, leaps)
    tools = (*map(within, written.tools), Tool(stay, (), guard=past, effects=(Effect(),), event=True))
    starting = fo.Not(exceeding(deployment, deployment.bounds))
    drawn, initial = _most_drawn(deployment), initial_bounds(deployment)
    fragment_ = replace(
        deployment,
        bounds=MappingProxyType(
            {sort: max(b + drawn.get(sort, 0), initial.get(sort, 0)) for sort, b in bounds.items()}
        ),
        written=replace(
            written,
            tools=tools,
            fair=tuple(fo.Or((constraint, past)) for constraint in written.fair),
            initially=tuple(
                replace(line, where=fo.And((line.where, starting))) for line in written.initially
            ),
            specs=(),
        ),
        text=None,
    )
    staying = tuple(map(partial(_not_leaping, leaps), written.tools))
    whole = replace(
        deployment, bounds=MappingProxyType(dict(bounds)), written=replace(written, tools=staying), text=None
    )
    return Fragment(whole, fragment_, bounds, past, stay, leaps)


def initial_bounds(deployment: Deployment) -> Bounds:
    """Return how many values outside C a D0 may have, for the sorts that `initially any` leaves open."""
    line = deployment.initially
    chosen = () if line is None else line.relations
    sorts = {sort for name in chosen for sort in deployment.schema.relation(name).sorts}
    return {sort: b for sort, b in deployment.bounds.items() if sort in sorts}


def starting_beyond(deployment: Deployment) -> Set[str]:
    """Return the sorts of which some initial database may have more values than any fragment."""
    return initial_bounds(deployment).keys() & deployment.unbounded


def exceeding(deployment: Deployment, bounds: Bounds) -> fo.Formula:
    """Return X_b: for some sort S more than b_S values outside C are active."""
    return fo.disjunction(
        tuple(active_outside(deployment, sort, "atleast", b + 1) for sort, b in bounds.items())
    )


def _most_drawn(deployment: Deployment) -> Mapping[str, int]:
    """Return f_S, the largest number of values of S by which one step can exceed a bound."""
    most = dict(fresh_values(deployment.with_tools(map(_drawing, deployment.written.tools))))
    if deployment.has_ensure:
        most = {sort: max(1, most.get(sort, 0)) for sort in deployment.bounds}
    return most


def _drawing(tool: Tool) -> Tool:
    """Return the tool without its `ensure` effects."""
    return replace(tool, effects=tuple(effect for effect in tool.effects if not effect.is_ensure))


def _within(
    deployment: Deployment, bounds: Bounds, past: fo.Formula, leaps: fo.Atom | None, tool: Tool
) -> Tool:
    """Return the tool with its guard restricted to states within the bounds."""
    guard = fo.Not(past) if tool.guard == fo.TRUE else fo.And((tool.guard, fo.Not(past)))
    effects: list[Effect] = []
    for effect in tool.effects:
        if effect.is_ensure and leaps is not None:
            effects += _one_past(deployment, bounds, leaps, effect)
        else:
            effects.append(effect)
    return replace(tool, guard=guard, effects=tuple(effects))


def _not_leaping(leaps: fo.Atom | None, tool: Tool) -> Tool:
    """Return the tool such that its formulas keep `leapt` empty."""
    nowhere = () if leaps is None else (Ensure(fo.Not(replace(leaps, primed=True))),)
    return replace(
        tool,
        effects=tuple(
            replace(effect, statements=(*effect.statements, *nowhere)) if effect.is_ensure else effect
            for effect in tool.effects
        ),
    )


def _one_past(deployment: Deployment, bounds: Bounds, leaps: fo.Atom, effect: Effect) -> Iterator[Effect]:
    """Yield the `ensure` effect to at most b_S + 1 values of each S, and one for all other outcomes."""
    most = tuple(
        Ensure(counted_outside(deployment, sort, "atmost", b + 1, partial(_active_after, deployment, sort)))
        for sort, b in bounds.items()
    )
    nowhere = Ensure(fo.Not(replace(leaps, primed=True)))
    yield replace(effect, statements=(*effect.statements, *most, nowhere))
    yield Effect(statements=(Insert(leaps),), when=effect.when)


def _active_after(deployment: Deployment, sort: str, variable: fo.Var) -> fo.Formula:
    """Return the formula that the value is in some fact of D'."""
    taken = {variable.name, *deployment.sort_of_constant}
    facts: list[fo.Formula] = []
    for relation in deployment.schema.relations:
        for place, own in enumerate(relation.sorts):
            if own != sort:
                continue
            others = [fresh_name(f"y{k}", taken) for k in range(len(relation.sorts))]
            args = tuple(variable if k == place else fo.Var(name) for k, name in enumerate(others))
            fact: fo.Formula = fo.Atom(relation.name, args, primed=True)
            for k, name in reversed(tuple(enumerate(others))):
                if k != place:
                    fact = fo.Exists(fo.Binder(name, relation.sorts[k]), fact)
            facts.append(fact)
    return fo.disjunction(tuple(facts))


@dataclass(frozen=True, slots=True)
class _Reading:
    """The two readings of formulas: sure (``certain`` is True below) and possible.

    ``fair``: there are fairness constraints.
    """

    past: fo.Formula
    fair: bool

    def read(self, f: fo.Formula, certain: bool) -> fo.Formula:
        """Return the formula under one of the readings."""
        if not fo.is_temporal(f):
            return f
        match f:
            case fo.Iff(left, right):
                return self.read(fo.And((fo.Implies(left, right), fo.Implies(right, left))), certain)
            case fo.Count("exactly"):
                both = replace(f, comparison="atleast"), replace(f, comparison="atmost")
                return self.read(fo.And(both), certain)
            case fo.Next(path):
                ends: tuple[bool, ...] = (True,)
            case fo.Future(path):
                ends = (path == "E",)
            case fo.Globally(path):
                ends = (path == "A",)
            case fo.Until(path):
                ends = (path == "A", path == "E")
            case _:
                sides = iter(fo.signs(f))
                return fo.map_children(lambda part: self.read(part, certain == (next(sides) > 0)), f)
        here = iter(ends)
        return fo.map_children(lambda body: self._met(body, path, certain, ends=next(here)), f)

    def _met(self, body: fo.Formula, path: str, certain: bool, *, ends: bool) -> fo.Formula:
        """Return what a path operator requires of a state that it leads to.

        For sure, the state is within the bounds and satisfies the body surely. For possible, it is past them
        or satisfies the body possibly. ``ends``: a run that shows an E, or refutes an A, may end there, and
        must have a fair continuation.
        """
        read = self.read(body, certain)
        fairly = self.fair and ends and certain == (path == "E")
        on = fo.Globally("E", fo.Not(self.past))
        if certain:
            return fo.And((fo.Not(self.past), read, *((on,) if fairly else ())))
        return fo.Or((self.past, read, *((fo.Not(on),) if fairly else ())))
