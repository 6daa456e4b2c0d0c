"""What the finite prefix of a run shows, whatever comes after it and whatever else may happen.

A run shows that a path quantifier E is true, or an A false, where what its operator waits for comes within
the prefix. Nothing else about runs is shown: no claim about all runs, and none that is about for ever. So
what is shown here stays true of every deployment that has the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import assert_never

from stead_sym.deployment.claims import Claim, claim_named
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.trace import Trace
from stead_sym.errors import DefinitionError
from stead_sym.evidence.build import seen
from stead_sym.evidence.tree import Evidence, Node, Parts, Run, Values
from stead_sym.logic.evaluate import declared
from stead_sym.logic.evaluate import holds as evaluated
from stead_sym.logic.syntax import (
    And,
    Binder,
    Count,
    Exists,
    Expanded,
    Forall,
    Formula,
    Future,
    Globally,
    Iff,
    Implies,
    Next,
    Not,
    Or,
    Temporal,
    Until,
    free_variables,
    is_temporal,
)
from stead_sym.relational.schema import Value


def broken_claim(deployment: Deployment, error: DefinitionError) -> Claim | None:
    """The claim that the behaviour of a deployment breaks, as the error says. None where no step leads to the
    state at fault, so that the file is wrong whatever an agent does, and where no sentence says what is
    broken."""
    return claim_named(deployment, error.claim) if error.trace.steps else None


def breach(claim: Claim, run: Trace) -> Evidence:
    """The run as evidence against a claim that its last state breaks."""
    assert claim.broken(run.last), f"{claim.name} is kept in {run.last}"
    node = _Prefix(run).until(claim.formula, claim.invariant, False, 0, len(run.steps), {})
    return Evidence(node, run.of_many)


def refutation(sentence: Expanded, run: Trace) -> Evidence | None:
    """Why the sentence is false at the start of the run; None where the run does not show that."""
    node = _Prefix(run).shown(sentence, 0, {}, False)
    return None if node is None else Evidence(node, run.of_many)


class _Prefix:
    """Claims about the states of a run, each made once. A state is given by the number of steps before it."""

    def __init__(self, run: Trace) -> None:
        self._run = run
        self._states = run.states
        self._made: dict[tuple[Formula, int, tuple[tuple[str, Value], ...], bool], Node | None] = {}

    def shown(self, formula: Formula, at: int, sigma: Mapping[str, Value], truth: bool) -> Node | None:
        """The claim that the formula has this truth value in a state, with its reason; None where the run
        does not show it."""
        own = {name: sigma[name] for name in sorted(free_variables(formula))}
        key = formula, at, tuple(own.items()), truth
        if key not in self._made:
            self._made[key] = self._shown(formula, at, own, truth)
        return self._made[key]

    def until(
        self,
        formula: Formula,
        body: Formula,
        truth: bool,
        at: int,
        end: int,
        sigma: Mapping[str, Value],
    ) -> Node:
        """The claim of `EF body`, true, or `AG body`, false, shown by the state ``end``."""
        last = self.shown(body, end, sigma, truth)
        assert last is not None, f"{body} is not shown after {end} steps"
        return self._along(formula, truth, at, end, sigma, {}, (last,))

    def _shown(self, formula: Formula, at: int, sigma: Mapping[str, Value], truth: bool) -> Node | None:
        if not is_temporal(formula):
            state = self._states[at]
            return seen(formula, state, sigma, truth) if evaluated(formula, state, sigma) == truth else None
        match formula:
            case Not(body):
                return self._parts(formula, at, sigma, truth, {0: (body, not truth)}, every=True)
            case And(parts):
                aims = {k: (part, truth) for k, part in enumerate(parts)}
                return self._parts(formula, at, sigma, truth, aims, every=truth)
            case Or(parts):
                aims = {k: (part, truth) for k, part in enumerate(parts)}
                return self._parts(formula, at, sigma, truth, aims, every=not truth)
            case Implies(left, right):
                aims = {0: (left, not truth), 1: (right, truth)}
                return self._parts(formula, at, sigma, truth, aims, every=not truth)
            case Iff(left, right):
                for value in (True, False):
                    aims = {0: (left, value), 1: (right, value == truth)}
                    if node := self._parts(formula, at, sigma, truth, aims, every=True):
                        return node
                return None
            case Exists(binder, body):
                return self._values(formula, binder, body, at, sigma, truth, some=truth)
            case Forall(binder, body):
                return self._values(formula, binder, body, at, sigma, truth, some=not truth)
            case Count(_, _, binder, body):
                return self._values(formula, binder, body, at, sigma, truth, some=False)
            case Next(path, body) if truth == (path == "E"):
                if at == len(self._run.steps) or not (last := self.shown(body, at + 1, sigma, truth)):
                    return None
                return self._along(formula, truth, at, at + 1, sigma, {}, (last,))
            case Future("E", body) | Globally("A", body) if truth == isinstance(formula, Future):
                return self._first(formula, truth, at, sigma, {}, ((body, truth),))
            case Until("E", left, right) if truth:
                return self._first(formula, truth, at, sigma, {left: True}, ((right, True),))
            case Until("A", left, right) if not truth:
                return self._first(formula, truth, at, sigma, {right: False}, ((right, False), (left, False)))
            case _ if isinstance(formula, Temporal):
                return None
            case _:
                raise AssertionError(f"{formula} is no claim about runs")

    def _parts(
        self,
        formula: Formula,
        at: int,
        sigma: Mapping[str, Value],
        truth: bool,
        aims: Mapping[int, tuple[Formula, bool]],
        *,
        every: bool,
    ) -> Node | None:
        """A connective by the parts that have the truth values wanted: all of them, or one."""
        found = {k: self.shown(part, at, sigma, wanted) for k, (part, wanted) in aims.items()}
        nodes = tuple((k, node) for k, node in found.items() if node is not None)
        if not nodes or (every and len(nodes) < len(aims)):
            return None
        return self._node(formula, at, sigma, truth, Parts(nodes if every else nodes[:1]))

    def _values(
        self,
        formula: Exists | Forall | Count,
        binder: Binder,
        body: Formula,
        at: int,
        sigma: Mapping[str, Value],
        truth: bool,
        *,
        some: bool,
    ) -> Node | None:
        """A quantifier by one value that decides (``some``), or else by all that its variable ranges over."""
        state = self._states[at]
        among = (
            declared(state.schema, binder) if binder.declared else sorted(state.active_domain[binder.sort])
        )
        nodes: list[tuple[Value, Node]] = []
        for value in among:
            under = {**sigma, binder.name: value}
            wanted = (True, False) if isinstance(formula, Count) else (truth,)
            node = next(filter(None, (self.shown(body, at, under, one) for one in wanted)), None)
            if node is not None and some:
                return self._node(formula, at, sigma, truth, Values(((value, node),)))
            if node is not None:
                nodes.append((value, node))
            elif not some:
                return None
        if some or (isinstance(formula, Count) and _counts(formula, nodes) != truth):
            return None
        return self._node(formula, at, sigma, truth, Values(tuple(nodes)))

    def _first(
        self,
        formula: Formula,
        truth: bool,
        at: int,
        sigma: Mapping[str, Value],
        during: Mapping[Formula, bool],
        last: tuple[tuple[Formula, bool], ...],
    ) -> Node | None:
        """A run to the first state in which all of ``last`` is shown, ``during`` in all states before it."""
        for end in range(at, len(self._states)):
            nodes = tuple(self._all(last, end, sigma))
            if len(nodes) == len(last):
                return self._along(formula, truth, at, end, sigma, during, nodes)
            if len(tuple(self._all(during.items(), end, sigma))) < len(during):
                return None
        return None

    def _along(
        self,
        formula: Formula,
        truth: bool,
        at: int,
        end: int,
        sigma: Mapping[str, Value],
        during: Mapping[Formula, bool],
        last: tuple[Node, ...],
    ) -> Node:
        before = (tuple(self._all(during.items(), number, sigma)) for number in range(at, end))
        run = Run(self._run.steps[at:end], (*before, last), end - at)
        return self._node(formula, at, sigma, truth, run)

    def _all(
        self, aims: Iterable[tuple[Formula, bool]], at: int, sigma: Mapping[str, Value]
    ) -> Iterator[Node]:
        for formula, truth in aims:
            if node := self.shown(formula, at, sigma, truth):
                yield node

    def _node(
        self,
        formula: Formula,
        at: int,
        sigma: Mapping[str, Value],
        truth: bool,
        reason: Parts | Values | Run,
    ) -> Node:
        own = {name: sigma[name] for name in sorted(free_variables(formula))}
        return Node(formula, truth, self._states[at], own, reason)


def _counts(formula: Count, nodes: Sequence[tuple[Value, Node]]) -> bool:
    """The truth value of a count from that of its body for each value."""
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
