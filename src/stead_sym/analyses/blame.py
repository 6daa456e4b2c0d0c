"""Blame: the decisions of an agent that a failing specification rests on, found by solving variants.

A decision is *withdrawn* if the agent selects some other offered call instead, or fewer calls, and *widened*
if it may select anything offered. A specification that fails because of a run fails as long as that run
exists. So one of the decisions on the run has to change, and only solving again shows which other calls make
the specification hold. The evidence of each variant that still fails gives the decisions to change next
(Reiter's hitting sets, 1987). Variants are tried by the number of decisions that they change, so that the
first ones that hold are the smallest. If all of these leave an agent that never does anything, the search
continues to larger ones, within its limit.

For a universal specification it is enough to try single calls: if a set of calls makes it hold, so does each
call of the set. Other specifications may need sets of calls. These are not tried, and the result reports that
variants were left out.

One decision: a change replaces the answer to a canonical context. So each variant is an agent behind the same
wrapper, and as equivariant as the agent that is blamed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.agents.base import DecisionContext
from stead_sym.agents.records.answer import Answer, recorded_answer
from stead_sym.agents.revised import revised, rules_of
from stead_sym.deployment.claims import claim_named
from stead_sym.deployment.tool import Call
from stead_sym.errors import AgentError, DefinitionError, InputError, Undecided
from stead_sym.evidence.moves import Moves
from stead_sym.evidence.tree import Evidence, runs, states_along
from stead_sym.logic.substitution import expand
from stead_sym.support.progress import Progress
from stead_sym.verification.findings.occurrences import quantifies
from stead_sym.verification.options import Domain
from stead_sym.verification.result import Verification, as_verification
from stead_sym.verification.verdict import Verdict
from stead_sym.verification.verify import verified

MOST_SOLVED = 100
"""The number of variants that are solved at most by default."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The selection of an agent in a canonical context.

    ``answer`` is the record of it if a language model decided.
    """

    agent: str
    context: DecisionContext
    selected: frozenset[Call]
    answer: Answer | None = None

    @property
    def margin(self) -> float | None:
        """The log-probability by which the model preferred its selection, or None."""
        return None if self.answer is None else self.answer.margin

    @property
    def others(self) -> frozenset[Call]:
        """The offered calls that it does not select."""
        return self.context.calls - self.selected


@dataclass(frozen=True, slots=True)
class Change:
    """A decision with the selection that replaces it."""

    decision: Decision
    instead: frozenset[Call]

    @property
    def words(self) -> str:
        """The replacement in words: "anything offered", "any other call", or the calls."""
        if self.instead == self.decision.context.calls:
            return "anything offered"
        calls = ", ".join(map(str, sorted(self.instead)))
        return f"any other call ({calls})" if len(self.instead) > 1 else calls


@dataclass(frozen=True, slots=True)
class Mend:
    """A repair: changes under which the specification holds.

    ``broken`` are the specifications that hold without the changes and fail with them. ``idle``: with the
    changes no agent that decides ever selects a call with an effect.
    """

    changes: tuple[Change, ...]
    broken: tuple[str, ...] = ()
    idle: bool = False


@dataclass(frozen=True, slots=True)
class Blame:
    """The decisions that a failing specification rests on.

    ``mends`` are the smallest sets of changes under which it holds. If all of these are idle, the smallest
    ones found that are not idle are included. It is empty if there are none or none were found. ``solved`` is
    the number of variants that were tried. ``complete``: no set smaller than the first was left untried.
    ``limited``: the search stopped at its limit. ``shown`` are the decisions on the runs of the evidence, and
    ``close`` those of them whose margin is at most ``tolerance``.
    """

    spec: str
    mends: tuple[Mend, ...]
    shown: tuple[Decision, ...]
    close: tuple[Decision, ...]
    tolerance: float
    solved: int
    complete: bool
    limited: bool = False

    @property
    def is_idle(self) -> bool:
        """Return True if there are mends, and the agents never do anything with any of them."""
        return bool(self.mends) and all(mend.idle for mend in self.mends)


BlameCallback: TypeAlias = Callable[[Blame], None]
"""A callback that receives the partial result after each variant."""


def blame(
    result: Verification,
    spec: str,
    *,
    tolerance: float = 0.0,
    most_solved: int = MOST_SOLVED,
    progress: Progress | None = None,
    so_far: BlameCallback | None = None,
) -> Blame:
    """Return the smallest sets of decisions without which a failing specification would hold.

    ``tolerance``: decisions of a language model with at most this margin are listed as close. At most
    ``most_solved`` variants are tried, and as many of the repairs for what else they break.

    Raises `InputError` if the specification does not fail, or if every agent selects everything that it is
    offered, so that there is no decision.
    """
    verdict = as_verification(result).verdicts.get(spec)
    if verdict is None:
        raise InputError(f"{spec} was not verified; there are {', '.join(result.verdicts)}")
    if verdict.holds is not False:
        raise InputError(
            f"{spec} {'holds' if verdict.holds else 'is unknown'}; only what fails is to blame on somebody"
        )
    if all(wrapper is None for wrapper in result.moves.wrappers.values()):
        raise InputError(
            "every agent may select anything it is offered, and decides nothing; name a policy or a model"
        )
    search = _Search(result, verdict, most_solved, tolerance, progress, so_far)
    search.run()
    return search.found


_Changes: TypeAlias = tuple[Change, ...]


@dataclass
class _Search:
    """A breadth-first search through sets of changes; ``solved`` counts the variants that were solved."""

    _result: Verification
    _verdict: Verdict
    _most_solved: int
    _tolerance: float
    _progress: Progress | None
    _so_far: BlameCallback | None
    solved: int = 0
    limited: bool = False
    complete: bool = False
    _mends: dict[frozenset[tuple[str, DecisionContext]], Mend] = field(default_factory=dict)

    def __post_init__(self) -> None:
        deployment = self._result.deployment
        tools = any(action.kind == "tool" for action in deployment.fair_actions)
        self._choices_make_fair = tools or bool(deployment.fair)
        formula = expand(self._verdict.formula, deployment.names.definitions)
        self._universal = not self._choices_make_fair and quantifies(formula, "A")
        assert self._verdict.evidence is not None, "what fails has evidence"
        self._shown = tuple(_on_runs(self._verdict.evidence, self._result.moves))

    @property
    def found(self) -> Blame:
        """The result up to now."""
        near, mends = self._tolerance, tuple(self._mends.values())
        close = tuple(d for d in self._shown if d.margin is not None and d.margin <= near)
        return Blame(
            self._verdict.spec, mends, self._shown, close, near, self.solved, self.complete, self.limited
        )

    def run(self) -> None:
        """Try sets of changes by their size, until some of one size are repairs that are not idle."""
        complete = True
        failing: list[tuple[_Changes, Verification]] = [((), self._result)]
        self._tried: set[frozenset[tuple[str, DecisionContext, frozenset[Call]]]] = set()
        while failing and not self.limited and all(mend.idle for mend in self._mends.values()):
            all_tried, failing = self._larger(failing)
            self.complete = self.complete or (complete and bool(self._mends))
            complete = complete and all_tried and not self.limited
        self.complete = self.complete or complete

    def _larger(
        self, failing: Sequence[tuple[_Changes, Verification]]
    ) -> tuple[bool, list[tuple[_Changes, Verification]]]:
        """Try the sets that add one change to a failing one.

        Return True if these are all that could be repairs, and the sets that still fail.
        """
        still: list[tuple[_Changes, Verification]] = []
        all_tried = True
        for changes, result in failing:
            tried_all, following = self._next(changes, result)
            all_tried = all_tried and tried_all
            for more in following:
                known = self._mends.get(_contexts(more))
                if (known and not known.idle) or (key := frozenset(map(_key, more))) in self._tried:
                    continue
                if self.solved >= self._most_solved:
                    self.limited = True
                    return all_tried, still
                self._tried.add(key)
                self.solved += 1
                variant = self._solve(more, [self._verdict.spec])
                holds = None if variant is None else _holds(variant, self._verdict.spec)
                if variant is None or holds is None:
                    all_tried = False  # more changes might give a verdict
                elif not holds:
                    still.append((more, variant))
                elif not (idle := _is_idle(variant)) or known is None:
                    self._mends[_contexts(more)] = Mend(more, self._broken(more), idle)
                if self._so_far is not None:
                    self._so_far(self.found)
        return all_tried, still

    def _next(self, changes: _Changes, result: Verification) -> tuple[bool, Sequence[_Changes]]:
        """Return the sets with one more decision, which the evidence of a variant suggests.

        The first value is True if these are all that could be repairs.
        """
        evidence = result[self._verdict.spec].evidence
        assert evidence is not None
        seen_through = not evidence.unshown
        decisions = _on_runs(evidence, result.moves) if seen_through else _taken(result)
        changed = _contexts(changes)
        all_tried = not (seen_through and self._choices_make_fair)  # other choices may make the run unfair
        following: list[_Changes] = []
        for decision in decisions:
            if (decision.agent, decision.context) not in changed:
                instead = _alternatives(decision, widen=not seen_through)
                all_tried = all_tried and (self._universal or _is_every(instead, decision, seen_through))
                following += ((*changes, Change(decision, calls)) for calls in instead)
        return all_tried, following

    def _solve(self, changes: _Changes, specs: Sequence[str]) -> Verification | None:
        """Return the variant with these changes, solved as the original was.

        The result is None if it breaks a claim of the deployment, has more states than the options allow, or
        leads a policy to a context in which it has no rule.
        """
        if self._progress is not None:
            self._progress("blame", variants=self.solved, decisions=len(changes))
        result = self._result
        wrappers = {
            name: wrapper
            and revised(wrapper, {c.decision.context: c.instead for c in changes if c.decision.agent == name})
            for name, wrapper in result.moves.wrappers.items()
        }
        literal = {s: d.size for s, d in result.restriction.derivation.items() if not d.finite}
        domain: Domain | Mapping[str, int] = "normal" if result.mode == "normal" else literal
        try:
            return verified(
                result.deployment,
                {name: wrapper or "any" for name, wrapper in wrappers.items()},
                [spec for spec in specs if claim_named(result.deployment, spec) is None],
                replace(result.options, domain=domain, findings=False),
                like=result,
            )
        except AgentError:
            if not all(wrapper is None or rules_of(wrapper) for wrapper in wrappers.values()):
                raise
            return None
        except (DefinitionError, Undecided):
            return None

    def _broken(self, changes: _Changes) -> tuple[str, ...]:
        """Return the other specifications that hold without the changes and fail with them."""
        others = [v.spec for v in self._result.verdicts.values() if v.holds and v.spec != self._verdict.spec]
        variant = self._solve(changes, others) if others else None
        return () if variant is None else tuple(v.spec for v in variant.verdicts.values() if v.holds is False)


def _holds(result: Verification, spec: str) -> bool | None:
    """Return True if a specification, or a claim of the file, holds; None if that is unknown."""
    if spec in result.verdicts:
        return result[spec].holds
    return True if result.broken is None else None


def _is_idle(result: Verification) -> bool:
    """Return True if no agent that decides ever selects a call with an effect."""
    decided = {
        name
        for role in result.deployment.agents
        if result.moves.wrappers[role.name] is not None
        for name in role.tools
    }
    return not any(
        result.engine.is_called(tool.name, fo.TRUE, selected=True)
        for tool in result.deployment.tools
        if tool.name in decided and any(effect.statements for effect in tool.effects)
    )


def _on_runs(evidence: Evidence, moves: Moves) -> Iterator[Decision]:
    """Yield the decisions that steps of the evidence rest on, each once, in the order of the steps."""
    decisions: dict[tuple[str, DecisionContext], Decision] = {}
    for node, run in runs(evidence):
        for state, step in zip(states_along(node.state, run), run.steps, strict=False):
            move = moves(state, step)
            if move.decision is not None and step.actor is not None:
                canonical = move.decision.canonical
                decision = Decision(step.actor, canonical, move.decision.selected, move.answer)
                decisions.setdefault((step.actor, canonical), decision)
    yield from decisions.values()


def _taken(result: Verification) -> Iterator[Decision]:
    """Yield all decisions of a run."""
    result = result.with_contexts()
    for name, wrapper in result.moves.wrappers.items():
        if wrapper is not None:
            for context, selected in wrapper.decisions:
                yield Decision(name, context, selected, recorded_answer(wrapper.agent, context))


def _alternatives(decision: Decision, *, widen: bool) -> Sequence[frozenset[Call]]:
    """Return alternative selections: any other call, each single one, and with ``widen`` anything."""
    offered = decision.context.calls
    single = (frozenset({call}) for call in sorted(offered))
    sets = dict.fromkeys((*([offered] if widen else []), decision.others, *single))
    return [calls for calls in sets if calls and calls != decision.selected]


def _is_every(instead: Sequence[frozenset[Call]], decision: Decision, seen_through: bool) -> bool:
    """Return True if these are all alternatives, except those that keep a run which shows the failure."""
    keeping = (1 << len(decision.others)) - 1 if seen_through else 0
    return len(instead) + keeping == (1 << len(decision.context.calls)) - 2


def _contexts(changes: _Changes) -> frozenset[tuple[str, DecisionContext]]:
    return frozenset((change.decision.agent, change.decision.context) for change in changes)


def _key(change: Change) -> tuple[str, DecisionContext, frozenset[Call]]:
    return change.decision.agent, change.decision.context, change.instead
