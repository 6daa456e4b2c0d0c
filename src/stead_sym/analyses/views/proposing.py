"""Propose an `invariant` with which a specification is shown for every number of records.

Without it something stands in the way.

A candidate excludes an instance that stands in the way, or one of those that the steps to it start from: some
of its facts, and some that it has not, are together in no state,

    ∀x. ¬(F1 ∧ … ∧ Fi ∧ x different),   or   ∀x. (F1 ∧ … ∧ Fi ∧ x different → G1 ∨ … ∨ Gj).

The fewer facts it has, the more it excludes. One decision: it is tried before it is proposed. Those that are
false in a state that runs through states of few records reach are left out; the others are assumed one after
the other, those with few facts first, with parts on more and more values, until one of them is shown together
with the specification, or the time is over.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, islice, permutations, product

import stead_sym.logic.syntax as fo
from stead_sym.agents.roles import Wrappers
from stead_sym.analyses.views.closure import Closing
from stead_sym.analyses.views.every_number import STEPS, EveryNumber
from stead_sym.analyses.views.needs import Needs, Outside
from stead_sym.analyses.views.obstacle import Obstacle
from stead_sym.analyses.views.parts import Facts, Parts, renamed_facts
from stead_sym.analyses.views.shown import Shown, always
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import Spec
from stead_sym.deployment.restriction import around, normal_restriction
from stead_sym.deployment.semantics import outcomes, possible
from stead_sym.errors import Undecided
from stead_sym.logic.evaluate import holds
from stead_sym.logic.substitution import fresh_name
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Value
from stead_sym.support.progress import Progress, Pulse

SECONDS = 10.0
"""Candidates are tried for this long, for all specifications of a deployment together."""
MOST_FACTS = 3
"""Candidates are about at most this many facts."""
_MOST_CANDIDATES = 2_000
_MOST_STATES = 300
_RECORDS = 4


@dataclass(frozen=True, slots=True)
class Proposed:
    """The line ``invariant NAME f`` with which a specification is ``shown``."""

    name: str
    sentence: fo.Formula
    shown: Shown

    @property
    def line(self) -> str:
        """Return the line as it is to be written in the file."""
        return f"invariant {self.name} {self.sentence}"


def proposed(
    deployment: Deployment,
    specs: Mapping[str, fo.Expanded],
    wrappers: Wrappers,
    obstacles: Mapping[str, Obstacle | None],
    *,
    seconds: float | None = None,
    progress: Progress | None = None,
) -> Mapping[str, Proposed]:
    """Return for each specification that is not shown the first candidate that helps to show it, if any.

    ``obstacles`` has what stands in the way of each.
    """
    until = time.monotonic() + (SECONDS if seconds is None else seconds)
    pulse = Pulse(progress)
    found: dict[str, Proposed] = {}
    for name, against in obstacles.items():
        for one in found.values():  # what helps to show one may help to show another
            if shown := _Trial(deployment, name, specs[name], wrappers, one.sentence, until).further():
                found[name] = replace(one, shown=shown)
                break
        else:
            first = _first(deployment, name, specs[name], wrappers, against, until, pulse)
            if first is not None:
                found[name] = first
    return found


def _first(
    deployment: Deployment,
    name: str,
    spec: fo.Expanded,
    wrappers: Wrappers,
    against: Obstacle | None,
    until: float,
    pulse: Pulse,
) -> Proposed | None:
    guarded = EveryNumber(deployment, {name: spec}, wrappers).selecting
    states = _reached(guarded, until)
    trials = [
        _Trial(deployment, name, spec, wrappers, sentence, until)
        for sentence in _candidates(guarded, spec, against)
        if time.monotonic() < until and all(holds(sentence, state) for state in states)
    ]
    for _ in range(STEPS):
        for number, trial in enumerate(trials):
            pulse("invariants that would help", tried=number, of=len(trials))
            if time.monotonic() > until:
                return None
            if (shown := trial.further()) is not None:
                return Proposed(trial.name, trial.sentence, shown)
    return None


class _Trial:
    """The search for one specification of a deployment whose file has one more line."""

    def __init__(
        self,
        deployment: Deployment,
        spec: str,
        formula: fo.Expanded,
        wrappers: Wrappers,
        sentence: fo.Formula,
        until: float,
    ) -> None:
        known = {one.name for one in deployment.specs}
        self.name, self.sentence, self._spec = fresh_name("kept", known), sentence, spec
        line = Spec(self.name, fo.Globally("A", sentence), helps=True)
        written = replace(deployment.written, specs=(*deployment.written.specs, line))
        wider = replace(deployment, written=written, text=None)
        asked = {spec: formula, self.name: wider.spec(self.name).formula}
        self._search = EveryNumber(wider, asked, wrappers, until=until)

    def further(self) -> Shown | None:
        """Look at parts on the next number of values; return the result if the line helps."""
        shown = self._search.further([self._spec, self.name]).get(self._spec)
        return shown if shown is not None and self.name in shown.invariants else None


def _reached(deployment: Deployment, until: float) -> list[Instance]:
    """Return states that runs through states of few records reach, up to renaming, the largest first."""
    parts = Parts(deployment)
    restriction = normal_restriction(deployment.within(dict.fromkeys(deployment.bounds, 0)))
    try:
        starts = list(islice(Closing(deployment, 1, ()).initial(), _MOST_STATES))
    except (Outside, Undecided):
        return []
    seen = dict.fromkeys(parts.form(state.facts) for state in starts)
    todo = deque(seen)
    while todo and len(seen) < _MOST_STATES and time.monotonic() < until:
        state = Instance(deployment.schema, todo.popleft())
        near = around(deployment, restriction, state)
        for call in sorted(possible(deployment, state)):
            for after in outcomes(deployment, call, state, near):
                if (
                    sum(parts.sizes(after.facts)) <= _RECORDS
                    and (form := parts.form(after.facts)) not in seen
                ):
                    seen[form] = None
                    todo.append(form)
    return [Instance(deployment.schema, facts) for facts in sorted(seen, key=len, reverse=True)]


def _candidates(deployment: Deployment, spec: fo.Expanded, against: Obstacle | None) -> list[fo.Formula]:
    """Return sentences that exclude an obstacle, those about few facts first.

    The sentences of the specification itself come before them.
    """
    needs, parts = Needs(deployment), Parts(deployment)
    own = [sentence for sentence in always(spec) or () if _can_be_assumed(needs, sentence)]
    if against is None:
        return own
    instances = [step.before.facts for step in reversed(against.steps) if step.before is not None]
    seen: set[tuple[Facts, Facts]] = set()
    patterns: list[tuple[int, int, Facts, Facts]] = []
    for place, facts in enumerate([against.state.facts, *instances]):
        for there, absent in _patterns(deployment, parts, facts):
            form = _form(parts, there, absent)
            if form not in seen:
                seen.add(form)
                patterns.append((len(there) + len(absent), place, *form))
        if len(patterns) > _MOST_CANDIDATES:
            break
    patterns.sort(key=lambda one: (one[0], one[1], sorted(one[2]), sorted(one[3])))
    sentences = (_sentence(deployment, parts, there, absent) for _, _, there, absent in patterns)
    return [*own, *(one for one in sentences if one not in own)]


def _can_be_assumed(needs: Needs, sentence: fo.Expanded) -> bool:
    try:
        return needs.refuted(sentence).total() > 0 and needs.kept(sentence).total() == 0
    except Outside:
        return False


def _patterns(deployment: Deployment, parts: Parts, facts: Facts) -> Iterator[tuple[Facts, Facts]]:
    """Yield facts of an instance, each with facts about their values that it lacks."""
    known = sorted(fact for fact in facts if fact.relation in {r.name for r in deployment.schema.relations})
    for size in range(1, MOST_FACTS + 1):
        for there in combinations(known, size):
            yield frozenset(there), frozenset()
            values = sorted(parts.sort_of(there))
            missing = [fact for fact in _about(deployment, parts, values) if fact not in facts]
            for absent in range(1, min(2, MOST_FACTS - size) + 1):
                for chosen in combinations(missing, absent):
                    yield frozenset(there), frozenset(chosen)


def _about(deployment: Deployment, parts: Parts, values: Iterable[Value]) -> Iterator[Fact]:
    """Yield the facts over some values outside C and finite sorts."""
    sort_of = {value: sort for value in values for sort in parts.sorts if value in parts.names[sort]}
    for relation in deployment.schema.relations:
        domains = [
            deployment.schema.sort(sort).values or [value for value in sort_of if sort_of[value] == sort]
            for sort in relation.sorts
        ]
        for args in product(*domains):
            if not relation.sorts or sort_of.keys() & set(args):
                yield Fact(relation.name, args)


def _form(parts: Parts, there: Facts, absent: Facts) -> tuple[Facts, Facts]:
    """Return the least of what both sets become by renaming their values."""
    sort_of = parts.sort_of(there)
    values = sorted(sort_of, key=lambda value: (sort_of[value], value))
    names = [
        parts.names[sort][place]
        for sort in sorted(set(sort_of.values()))
        for place in range(sum(own == sort for own in sort_of.values()))
    ]
    renamed = (
        (renamed_facts(there, renaming), renamed_facts(absent, renaming))
        for order in permutations(values)
        if [sort_of[value] for value in order] == [sort_of[value] for value in values]
        for renaming in [dict(zip(order, names, strict=True))]
    )
    return min(renamed, key=lambda both: (sorted(both[0]), sorted(both[1])))


def _sentence(deployment: Deployment, parts: Parts, there: Facts, absent: Facts) -> fo.Formula:
    """Return the sentence that the facts ``there`` imply one of ``absent``, or are not all true if empty."""
    sort_of = parts.sort_of(there)
    number = {sort: sum(own == sort for own in sort_of.values()) for sort in sort_of.values()}
    initials = [sort[0].lower() for sort in number]
    taken = {value for values in deployment.constants.values() for value in values}
    names: dict[Value, str] = {}
    for value, sort in sorted(sort_of.items(), key=lambda item: (item[1], item[0])):
        stem = sort[0].lower() if initials.count(sort[0].lower()) == 1 else sort.lower()
        place = sum(sort_of[other] == sort for other in names) + 1
        names[value] = fresh_name(stem if number[sort] == 1 else f"{stem}{place}", {*taken, *names.values()})

    def atom(fact: Fact) -> fo.Atom:
        args: tuple[fo.Term, ...] = tuple(
            fo.Var(names[value]) if value in names else fo.Const(value) for value in fact.args
        )
        return fo.Atom(fact.relation, args)

    different: list[fo.Formula] = [
        fo.Not(fo.Equal(fo.Var(names[a]), fo.Var(names[b])))
        for a, b in combinations(names, 2)
        if sort_of[a] == sort_of[b]
    ]
    said: list[fo.Formula] = [*map(atom, sorted(there)), *different]
    together = said[0] if len(said) == 1 else fo.And(tuple(said))
    instead = fo.disjunction(tuple(map(atom, sorted(absent))))
    result: fo.Formula = fo.Implies(together, instead) if absent else fo.Not(together)
    for value in reversed(names):
        result = fo.Forall(fo.Binder(names[value], sort_of[value]), result)
    return result
