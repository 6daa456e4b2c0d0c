"""Evidence from a run, finite or endless, whatever other runs exist.

A run shows that a path quantifier E is true, or an A false, if the state that its operator requires comes
within the prefix. Of an endless run, a lasso, what is true in all of its states is shown, too. No claim about
all runs is; what is known of them is left to whoever knows it. The evidence therefore remains valid for every
deployment that has the run; that of a finite one is also valid for every continuation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

import stead_sym.logic.syntax as fo
from stead_sym.deployment.claims import Claim, claim_named
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.trace import Trace
from stead_sym.errors import DefinitionError
from stead_sym.evidence.build import seen
from stead_sym.evidence.tree import Evidence, Node, Parts, Reason, Run, Unshown, Values
from stead_sym.logic.candidates import worth_trying
from stead_sym.logic.evaluate import declared
from stead_sym.logic.evaluate import holds as evaluated
from stead_sym.logic.kernel import core
from stead_sym.logic.substitution import substitute
from stead_sym.relational.schema import Value


def broken_claim(deployment: Deployment, error: DefinitionError) -> Claim | None:
    """Return the claim that the behaviour of a deployment violates, as named by the error.

    Return None if no step leads to the state at fault, since the file is then wrong for every agent. Return
    None also if no sentence expresses the violated claim.
    """
    return claim_named(deployment, error.claim) if error.trace.steps else None


def breach(claim: Claim, run: Trace) -> Evidence:
    """Return the run as evidence against a claim that its last state violates."""
    assert claim.broken(run.last), f"{claim.name} is kept in {run.last}"
    prefix, end = _Prefix(run), len(run.steps)
    last = prefix.shown(claim.invariant, end, {}, False)
    assert last is not None, f"{claim.invariant} is not shown after {end} steps"
    return Evidence(_Claimed(prefix, claim.formula, 0, {}, False).along(end, (), (last,)), run.of_many)


def refutation(sentence: fo.Expanded, run: Trace, known: Set[fo.Formula] = frozenset()) -> Evidence | None:
    """Return why the sentence is false at the start of the run, or None if the run does not show it.

    The sentences ``known`` to be true of its last state are about all runs from there; they have no variables
    and are of the kernel.
    """
    return _evidence(sentence, replace(run, loop=None), False, known)


def endless_evidence(sentence: fo.Expanded, run: Trace, holds: bool) -> Evidence | None:
    """Return why the sentence has this truth value at the start of a lasso, or None if that is not shown."""
    assert run.loop is not None, "the run ends"
    return _evidence(sentence, run, holds)


def _evidence(
    sentence: fo.Expanded, run: Trace, holds: bool, known: Set[fo.Formula] = frozenset()
) -> Evidence | None:
    node = _Prefix(run, known).shown(sentence, 0, {}, holds)
    return None if node is None else Evidence(node, run.of_many)


class _Prefix:
    """The claims about the states of a run, each made once; a state is the number of steps before it.

    If the run has a loop, each run of the evidence goes on along it for ever. The sentences that are
    ``known`` are true of its last state.
    """

    def __init__(self, run: Trace, known: Set[fo.Formula] = frozenset()) -> None:
        self.run, self._known = run, known
        self.states = run.states
        self._made: dict[tuple[fo.Formula, int, tuple[tuple[str, Value], ...], bool], Node | None] = {}

    def shown(self, formula: fo.Formula, at: int, sigma: Mapping[str, Value], truth: bool) -> Node | None:
        """Return the claim that the formula has this truth value in a state.

        Return None if the run does not show it.
        """
        if self.run.loop is not None and at == len(self.run.steps):
            at = self.run.loop
        own = {name: sigma[name] for name in sorted(fo.free_variables(formula))}
        key = formula, at, tuple(own.items()), truth
        if key not in self._made:
            self._made[key] = _Claimed(self, formula, at, own, truth).shown()
        return self._made[key]

    def is_known(self, formula: fo.Formula, at: int, sigma: Mapping[str, Value], truth: bool) -> bool:
        """Return if a claim about all runs from a state is known."""
        if at < len(self.run.steps) or not self._known:
            return False
        closed = substitute(formula, {name: fo.Const(value) for name, value in sigma.items()})
        return core(closed if truth else fo.Not(closed)) in self._known


_Aims: TypeAlias = Sequence[tuple[fo.Formula, bool]]
"""Formulas, each with the truth value to show for it."""


@dataclass(frozen=True, slots=True)
class _Claimed:
    """A claim to show: the formula has this truth value after ``at`` steps, under an assignment.

    The methods return its node, or None if the run does not show it.
    """

    prefix: _Prefix
    formula: fo.Formula
    at: int
    sigma: Mapping[str, Value]
    truth: bool

    def shown(self) -> Node | None:
        """Return the node by the structure of the formula."""
        formula, truth, state = self.formula, self.truth, self.prefix.states[self.at]
        if not fo.is_temporal(formula):
            sigma = self.sigma
            return seen(formula, state, sigma, truth) if evaluated(formula, state, sigma) == truth else None
        match formula:
            case fo.Not(body):
                return self._parts([(body, not truth)], every=True)
            case fo.And(parts):
                return self._parts([(part, truth) for part in parts], every=truth)
            case fo.Or(parts):
                return self._parts([(part, truth) for part in parts], every=not truth)
            case fo.Implies(left, right):
                return self._parts([(left, not truth), (right, truth)], every=not truth)
            case fo.Iff(left, right):
                ways = ([(left, value), (right, value == truth)] for value in (True, False))
                return next(filter(None, (self._parts(way, every=True) for way in ways)), None)
            case fo.Exists(binder, body):
                return self._values(binder, body, some=truth)
            case fo.Forall(binder, body):
                return self._values(binder, body, some=not truth)
            case fo.Count(_, _, binder, body):
                return self._values(binder, body, some=False)
            case fo.Next(path, body) if truth == (path == "E"):
                if self.at == len(self.prefix.run.steps) or not (last := self._at(self.at + 1, body, truth)):
                    return None
                return self.along(self.at + 1, (), (last,))
            case fo.Future("E", body) | fo.Globally("A", body) if truth == isinstance(formula, fo.Future):
                return self._first((), [(body, truth)])
            case fo.Until("E", left, right, weak) if truth:
                found = self._first([(left, True)], [(right, True)])
                return found or (self._forever(left, True) if weak else None)
            case fo.Until("A", left, right, weak) if not truth:
                found = self._first([(right, False)], [(right, False), (left, False)])
                return found or (None if weak else self._forever(right, False))
            case fo.Future("A", body) | fo.Globally("E", body) if truth == isinstance(formula, fo.Globally):
                return self._forever(body, truth)
            case _ if isinstance(formula, fo.Temporal):
                known = self.prefix.is_known(formula, self.at, self.sigma, truth)
                return self._node(Unshown()) if known else None
            case _:
                raise AssertionError(f"{formula} is no claim about runs")

    def along(self, end: int, during: _Aims, last: tuple[Node, ...]) -> Node:
        """Return the node by the run to the state after ``end`` steps, about which ``last`` is claimed."""
        before = (tuple(self._all(number, during)) for number in range(self.at, end))
        run, number = self.prefix.run, end - self.at
        if run.loop is None:
            return self._node(Run(run.steps[self.at : end], (*before, last), number))
        steps = (*run.steps[self.at :], *run.steps[run.loop : end])
        return self._node(Run(steps, (*before, last), number, max(run.loop, end) - self.at))

    def _forever(self, body: fo.Formula, truth: bool) -> Node | None:
        """Return the node by the endless run, in all states of which the formula has this truth value."""
        run = self.prefix.run
        if run.loop is None:
            return None
        numbers = (*range(self.at, len(run.steps)), *range(run.loop, self.at))
        found = [self._at(number, body, truth) for number in numbers]
        along = tuple((node,) for node in found if node is not None)
        if len(along) < len(numbers):
            return None
        steps = tuple(run.steps[number] for number in numbers)
        return self._node(Run(steps, along, None, max(run.loop - self.at, 0)))

    def _parts(self, aims: _Aims, *, every: bool) -> Node | None:
        """Return the node of a connective by the parts with the required truth values, all or one."""
        found = enumerate(self._at(self.at, part, wanted) for part, wanted in aims)
        nodes = tuple((k, node) for k, node in found if node is not None)
        if not nodes or (every and len(nodes) < len(aims)):
            return None
        return self._node(Parts(nodes if every else nodes[:1]))

    def _values(self, binder: fo.Binder, body: fo.Formula, *, some: bool) -> Node | None:
        """Return the node of a quantifier by one value (``some``), or by all values of its range."""
        state, count = self.prefix.states[self.at], isinstance(self.formula, fo.Count)
        among: Collection[Value] = state.active_domain[binder.sort]
        if binder.declared:
            among = declared(state.schema, binder)
        if some:
            among = worth_trying(among, body, binder.name, state, self.sigma, self.truth)
        nodes: list[tuple[Value, Node]] = []
        for value in among if binder.declared else sorted(among):
            under = {**self.sigma, binder.name: value}
            wanted = (True, False) if count else (self.truth,)
            shown = (self.prefix.shown(body, self.at, under, one) for one in wanted)
            node = next(filter(None, shown), None)
            if node is not None and some:
                return self._node(Values(((value, node),)))
            if node is not None:
                nodes.append((value, node))
            elif not some:
                return None
        if some or (isinstance(self.formula, fo.Count) and _counts(self.formula, nodes) != self.truth):
            return None
        return self._node(Values(tuple(nodes)))

    def _first(self, during: _Aims, last: _Aims) -> Node | None:
        """Return the node by a run to the first state that shows all of ``last``.

        All states before it show all of ``during``.
        """
        for end in range(self.at, len(self.prefix.states)):
            nodes = tuple(self._all(end, last))
            if len(nodes) == len(last):
                return self.along(end, during, nodes)
            if len(tuple(self._all(end, during))) < len(during):
                return None
        return None

    def _at(self, at: int, formula: fo.Formula, truth: bool) -> Node | None:
        return self.prefix.shown(formula, at, self.sigma, truth)

    def _all(self, at: int, aims: _Aims) -> Iterator[Node]:
        return filter(None, (self._at(at, formula, truth) for formula, truth in aims))

    def _node(self, reason: Reason) -> Node:
        return Node(self.formula, self.truth, self.prefix.states[self.at], self.sigma, reason)


def _counts(formula: fo.Count, nodes: Sequence[tuple[Value, Node]]) -> bool:
    """Return the truth value of a count from that of its body for each value."""
    number = sum(node.holds for _, node in nodes)
    match formula.comparison:
        case "atleast":
            return number >= formula.number
        case "atmost":
            return number <= formula.number
        case "exactly":
            return number == formula.number
        case _:
            assert_never(formula.comparison)
