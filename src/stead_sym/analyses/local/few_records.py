"""Runs that decide a specification, found on few records of the data and made again in the whole.

A *part* of D0 has its facts about some values of the infinite sorts, and all facts about none. The symbolic
engine explores a part whole. A run that it finds there is made again from D0: the same calls, each with the
successor that has the same facts about the values of the part. What others hold may bar a call, or take part
in its effect: then this is no run, and nothing is said. A run of D0 is evidence by itself, whatever it was
found on. What is left to show of all runs from its last state is asked on few facts of that state.

One decision: first come the rows that begin with a value, and the rows of the values in these: what a record
refers to. Then the rows nearby, whichever column connects them, up to `NEAR` values of a sort.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TypeAlias

import stead_sym.evidence.tree as tree
import stead_sym.logic.syntax as fo
from stead_sym.agents.roles import AgentLike, Wrappers, wrap_all
from stead_sym.analyses.local import traps
from stead_sym.analyses.local.concrete import FollowedRun
from stead_sym.analyses.local.field import Field
from stead_sym.analyses.local.loops import Loops
from stead_sym.analyses.local.questions import always, negation
from stead_sym.deployment.callers import step_by
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.history import begun
from stead_sym.deployment.restriction import Restriction, normal_restriction
from stead_sym.deployment.semantics import outcomes
from stead_sym.deployment.trace import Step, Trace
from stead_sym.engines.symbolic.bdd.manager import Backend
from stead_sym.engines.symbolic.engine import SymbolicEngine
from stead_sym.errors import AgentError, InputError, Undecided
from stead_sym.evidence.prefix import endless_evidence, refutation
from stead_sym.evidence.replay import replay
from stead_sym.evidence.tree import Evidence, closed
from stead_sym.logic.evaluate import holds as is_true
from stead_sym.logic.kernel import Core, core
from stead_sym.logic.substitution import with_constants
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Schema, Value
from stead_sym.verification.readings import answer

_Of: TypeAlias = tuple[str, Value]
"""A value with its sort."""

OWN = 8
"""The maximum number of values of a sort that the rows of some records mention."""

NEAR = 3
"""The maximum number of values of a sort in a part with rows nearby."""

MOST_SEEDS = 3
"""The maximum number of choices of records at a time."""


@dataclass(frozen=True, slots=True)
class Effort:
    """The maximum numbers of ``parts`` to explore, and of ``reports`` of the progress of each.

    A report is for about 4,096 sets of states. It is made when at least so many ``facts`` are followed.
    """

    parts: int
    reports: int
    facts: int = 0


FIRST, BRIEF, LAST = Effort(3, 6, 6), Effort(3, 6, 16), Effort(6, 40)
"""The effort on very few facts, while facts can join, and at last."""

MOST_SHOWN = 3
"""The maximum number of runs for a specification of which more is shown of their last states."""

Showing: TypeAlias = Callable[[Instance], Callable[[fo.Expanded], int | None]]
"""For a state, on how many facts it is shown that a sentence holds there; None if it is not."""


class FewRecords:
    """The parts of a deployment under its agents, in which runs are found."""

    def __init__(
        self,
        deployment: Deployment,
        agents: AgentLike | Mapping[str, AgentLike],
        backend: Backend | None,
        showing: Showing,
    ) -> None:
        """Take how sentences are shown on few facts."""
        self.deployment, self._agents, self._backend, self._showing = deployment, agents, backend, showing
        self._explored: set[tuple[fo.Expanded, frozenset[Fact]]] = set()
        self._found: dict[fo.Expanded, FollowedRun] = {}
        self._ends = Counter[fo.Expanded]()

    def parts(self, sentence: fo.Expanded) -> int:
        """Return how many parts were explored whole for a sentence."""
        return sum(one == sentence for one, _ in self._explored)

    @cached_property
    def _wrappers(self) -> Wrappers:
        return wrap_all(self.deployment, self._agents)

    @cached_property
    def _restriction(self) -> Restriction:
        return normal_restriction(self.deployment)

    def run(
        self,
        sentence: fo.Expanded,
        holds: bool,
        mentioned: Mapping[str, Sequence[Value]],
        seeds: Iterable[Mapping[str, Sequence[Value]]],
        field: Field,
        effort: Effort,
    ) -> FollowedRun | None:
        """Return a run that shows that a sentence is false, or ``holds``.

        ``seeds`` are values, by sort, of the records to look at, the most promising ones first. Each part has
        the constants that are ``mentioned``, too.
        """
        if sentence in self._found or self._ends[sentence] >= MOST_SHOWN:
            return self._found.get(sentence)
        seeds = [*islice(seeds, MOST_SEEDS)]
        grown = (
            _reached([*_each(mentioned), *_each(one)], rows, most)
            for rows, most in ((self._beginning, OWN), (self._beside, NEAR))
            for one in seeds
        )
        named = {value for _, value in _each(mentioned)}
        new = {
            part.init.facts: part
            for part in map(self._part, grown)
            if (sentence, part.init.facts) not in self._explored and named <= part.all_constants
        }
        for facts in sorted(new, key=len)[: effort.parts]:
            evidence = self._evidence(new[facts], sentence, holds, effort.reports)
            if evidence is not None and (
                found := self._in_whole(new[facts], evidence, sentence, holds, field)
            ):
                self._found[sentence] = found
                return found
        return None

    # parts

    @cached_property
    def _rows(self) -> Sequence[tuple[_Of, ...]]:
        """Return the values of infinite sorts of each fact of D0, with their sorts; each row once."""
        infinite = set(self.deployment.schema.infinite_sorts)
        rows = dict[tuple[_Of, ...], None]()
        for fact in sorted(self.deployment.init.facts):
            sorts = self.deployment.schema.relation(fact.relation).sorts
            row = tuple((s, value) for s, value in zip(sorts, fact.args, strict=True) if s in infinite)
            if len(row) > 1:
                rows[row] = None
        return tuple(rows)

    @cached_property
    def _beginning(self) -> Mapping[_Of, Sequence[tuple[_Of, ...]]]:
        found = defaultdict(list)
        for row in self._rows:
            found[row[0]].append(row)
        return found

    @cached_property
    def _beside(self) -> Mapping[_Of, Sequence[tuple[_Of, ...]]]:
        found = defaultdict(list)
        for row in self._rows:
            for one in dict.fromkeys(row):
                found[one].append(row)
        return found

    def _part(self, values: frozenset[_Of]) -> Deployment:
        """Return the deployment with the facts of D0 about these values alone."""
        init = self.deployment.init
        kept = Instance(init.schema, frozenset(_about(values, self.deployment.schema, init.facts)))
        return replace(self.deployment, init=kept, text=None)

    def _evidence(
        self, part: Deployment, sentence: fo.Expanded, holds: bool, reports: int
    ) -> Evidence | None:
        """Return why the sentence is false in a part, or ``holds``; None if it is not, or at a limit."""
        try:
            found = answer(self._explored_part(part, reports), sentence)
            evidence = found.evidence if found.holds is holds else None
        except Undecided:  # it may be explored with more effort
            return None
        except InputError:  # of the part, or its agent: it says nothing of the whole
            evidence = None
        self._explored.add((sentence, part.init.facts))
        return evidence

    def _explored_part(self, part: Deployment, reports: int) -> SymbolicEngine:
        """Return the states of a part; raise `Undecided` at the limit, and `InputError` of a claim."""
        return SymbolicEngine(
            part,
            wrap_all(part, self._agents),
            normal_restriction(part),
            literal=False,
            backend=self._backend,
            most_reports=reports,
        )

    # the whole

    def _in_whole(
        self, part: Deployment, evidence: Evidence, sentence: fo.Expanded, holds: bool, field: Field
    ) -> FollowedRun | None:
        """Return the run of some evidence, made again from D0, if it shows the same there."""
        trace = evidence.trace
        whole = _Names(part, self.deployment, normal_restriction(part), self._restriction)
        again = self._again(trace, whole)
        if again is None:
            return None
        if trace.loop is None and not holds:
            known, facts = frozenset[Core](), 0
            if evidence.unshown and self._ends[sentence] < MOST_SHOWN:
                self._ends[sentence] += 1
                known, facts = self._known(
                    again.last, replace(part, init=trace.last, text=None), evidence, whole
                )
            return self._confirmed(FollowedRun(again, known, facts), refutation(sentence, again, known))
        if trace.loop is not None and again.last == again.states[trace.loop]:
            run = replace(again, loop=trace.loop)
            if found := self._confirmed(FollowedRun(run), endless_evidence(sentence, run, holds)):
                return found
        start = len(again.steps) if trace.loop is None else trace.loop
        claims = [*_for_ever(evidence)]
        if any(fo.is_temporal(claim) for claim in claims):
            return None
        lasting = [whole.renamed(claim) for claim in claims]
        near = {sort: tuple(values) for sort, values in part.constants.items()}
        loops = Loops(
            field, again.states[start], lambda state: all(is_true(one, state, {}) for one in lasting), near
        )
        if (found_loop := loops.forever()) is None:
            return None
        steps, loop = found_loop
        run = replace(again, steps=(*again.steps[:start], *steps), loop=start + loop)
        return self._confirmed(FollowedRun(run), endless_evidence(sentence, run, holds))

    def _confirmed(self, found: FollowedRun, evidence: Evidence | None) -> FollowedRun | None:
        """Return the run if it is evidence, by its replay."""
        if evidence is None:
            return None
        if found.run.loop is None:
            evidence = replace(evidence, completed=bool(self.deployment.fair or self.deployment.fair_actions))
        try:
            return found if replay(self.deployment, self._wrappers, evidence).confirmed else None
        except AgentError:  # in the whole the agent may be at a loss on the way
            return None

    def _known(
        self, last: Instance, part: Deployment, evidence: Evidence, whole: _Names
    ) -> tuple[frozenset[Core], int]:
        """Return what is shown of all runs from the last state, of what the evidence needs.

        The second value is the maximum number of facts on which it is. The ``part`` begins with the last
        state of the run in it.
        """
        known, most = set[Core](), 0
        if self.deployment.history:
            return frozenset(), 0
        shown = self._showing(last)

        def shows(sentence: fo.Expanded) -> bool:
            nonlocal most
            facts = shown(sentence)
            most = max(most, facts or 0)
            return facts is not None

        for node in evidence.unshown:
            if node.state == part.init:
                claim = closed(node.formula, node.assignment)
                in_whole = whole.renamed(claim)
                if (
                    isinstance(claim, fo.Future)
                    and not node.holds
                    and self._is_trap(last, part, claim.body, shows, whole)
                ) or shows(in_whole if node.holds else negation(in_whole)):
                    known.add(core(in_whole if node.holds else fo.Not(in_whole)))
        return frozenset(known), most

    def _is_trap(
        self,
        last: Instance,
        part: Deployment,
        goal: fo.Expanded,
        shows: Callable[[fo.Expanded], bool],
        whole: _Names,
    ) -> bool:
        """Return if AG ¬g is shown by what stays as it is on few records (`local.traps`)."""
        try:
            engine = self._explored_part(part, LAST.reports)
            stays = [*traps.staying(part, goal, lambda one: engine.holds(always(one)))]
            kept, aim = [whole.renamed(one) for one in stays], whole.renamed(goal)
            sentences = (
                one
                for one in traps.none_else(self.deployment, last, kept)
                if engine.holds(always(whole.of_part(one)))
            )
            true = [one for one in islice(sentences, traps.MOST_SENTENCES) if shows(always(one))]
            return traps.shown(kept, aim, fo.conjunction(tuple(true)), shows)
        except (Undecided, InputError):
            return False

    def _again(self, trace: Trace, whole: _Names) -> Trace | None:
        """Return the run with the same calls from D0; None if there is none."""
        deployment = self.deployment
        state = begun(deployment, deployment.init)
        start, steps = state, list[Step]()
        for step in trace.steps:
            call = step.call.rename(whole.names)
            wanted = whole.facts_of_part(step.state)
            after = outcomes(deployment, call, state, self._restriction, step.actor)
            found = next((one for one in after if whole.facts(one) == wanted), None)
            if found is None:
                return None
            steps.append(step_by(deployment, call, found, step.actor))
            state = found
        return Trace(start, tuple(steps), None)


class _Names:
    """The names that the values of a part have in the whole: fresh values may have others there."""

    def __init__(
        self, part: Deployment, whole: Deployment, in_part: Restriction, in_whole: Restriction
    ) -> None:
        self._schema = part.schema
        infinite = part.schema.infinite_sorts
        self.names = {
            old: new
            for sort in infinite
            for old, new in zip(
                part.outside(sort, in_part.values[sort]),
                whole.outside(sort, in_whole.values[sort]),
                strict=False,
            )
        }
        known = {(sort, value) for sort in infinite for value in part.constants[sort]}
        self._own = known | {(sort, new) for sort in infinite for new in self.names.values()}

    def renamed(self, formula: fo.Expanded) -> fo.Expanded:
        """Return a formula of the part about the same values of the whole."""
        return with_constants(formula, {old: fo.Const(new) for old, new in self.names.items()})

    def of_part(self, formula: fo.Expanded) -> fo.Expanded:
        """Return a formula of the whole about the same values of the part."""
        return with_constants(formula, {new: fo.Const(old) for old, new in self.names.items()})

    def facts_of_part(self, state: Instance) -> frozenset[Fact]:
        """Return the facts of a state of the part, as facts of the whole."""
        return frozenset(Fact(fact.relation, self._args(fact.args)) for fact in state.facts)

    def facts(self, state: Instance) -> frozenset[Fact]:
        """Return the facts of a state of the whole that are about values of the part alone."""
        return frozenset(_about(self._own, self._schema, state.facts))

    def _args(self, args: Iterable[Value]) -> tuple[Value, ...]:
        return tuple(self.names.get(value, value) for value in args)


def _about(values: Set[_Of], schema: Schema, facts: Iterable[Fact]) -> Iterator[Fact]:
    """Yield the facts that have no other values of infinite sorts."""
    infinite = frozenset(schema.infinite_sorts)
    for fact in facts:
        args = zip(schema.relation(fact.relation).sorts, fact.args, strict=True)
        if all(one in values for one in args if one[0] in infinite):
            yield fact


def _each(values: Mapping[str, Sequence[Value]]) -> Iterator[_Of]:
    """Yield values with their sorts."""
    for sort, some in values.items():
        yield from ((sort, value) for value in some)


def _reached(seeds: Iterable[_Of], rows: Mapping[_Of, Sequence[Sequence[_Of]]], most: int) -> frozenset[_Of]:
    """Return the seeds, and what rows lead to from there: about ``most`` values of a sort."""
    waiting = [*seeds]
    found = dict.fromkeys(waiting)
    count = Counter(sort for sort, _ in found)
    for one in waiting:
        for row in rows.get(one, ()):
            for other in row:
                if other not in found and count[other[0]] < most:
                    found[other] = None
                    count[other[0]] += 1
                    waiting.append(other)
    return frozenset(found)


def _for_ever(evidence: Evidence) -> Iterator[fo.Formula]:
    """Yield what the evidence says of all states of an endless run, if it has one."""
    for node in tree.followed(evidence.root):
        match node.reason:
            case tree.Run(along=along, ends=None):
                for one in along[0]:
                    claim = closed(one.formula, one.assignment)
                    yield claim if one.holds else fo.Not(claim)
            case _:
                pass
