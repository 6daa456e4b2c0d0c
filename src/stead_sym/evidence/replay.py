"""Check of evidence step by step, by the concrete semantics and the wrapped agents, without an engine.

Each step must be a call that its agent may make, or an event that is enabled, and must lead to its recorded
state. Each claim must follow from its reason by the definition of its operator. One decision: evidence is
used only to choose the runs and values to check.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

import stead_sym.logic.syntax as fo
from stead_sym.agents.roles import Wrappers
from stead_sym.agents.selection import decision_contexts
from stead_sym.deployment.callers import caller
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.initial import is_initial
from stead_sym.deployment.parts import AgentRole
from stead_sym.deployment.restriction import around, normal_restriction
from stead_sym.deployment.semantics import breaks_claim, enabled, is_possible, leads_to, offer
from stead_sym.deployment.tool import Call
from stead_sym.deployment.trace import Step
from stead_sym.evidence.fair_loop import FairLoop
from stead_sym.evidence.outline import outline
from stead_sym.evidence.recorded import NotRecorded
from stead_sym.evidence.tree import Evaluated, Evidence, Node, Parts, Run, Unshown, Values, states_along
from stead_sym.logic.evaluate import declared, holds
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result of a replay: the first ``fault``, if any, and what was checked.

    ``steps`` and ``claims`` are the numbers of checked steps and claims, ``unshown`` the claims about all
    runs, which no run shows. ``unfair`` are states from which no fair run starts according to evidence that
    is `completed`. No run shows this either; loops there count although they do not meet the constraints.

    ``done`` are the confirmed steps, each with the state before it. ``at`` is the claim that the fault is
    about, with the number of the step of its run, from 0, or None. ``only_here``: a sentence holds only if it
    does so at every initial state, and the evidence is about one of several.
    """

    fault: str
    steps: int
    claims: int
    unshown: tuple[Node, ...] = ()
    done: frozenset[tuple[Instance, Step]] = frozenset()
    at: tuple[Node, int | None] | None = None
    only_here: bool = False
    unfair: tuple[Instance, ...] = ()

    @property
    def confirmed(self) -> bool:
        """True if the evidence shows its claim about its initial state.

        Claims that are ``unshown``, and those that states are ``unfair``, are excepted.
        """
        return not self.fault

    @property
    def complete(self) -> bool:
        """True if the evidence shows the verdict.

        Nothing remains that no run shows, or that is shown at only one of several initial states.
        """
        return self.confirmed and not (self.unshown or self.unfair or self.only_here)


def replay(
    deployment: Deployment,
    wrappers: Wrappers,
    evidence: Evidence,
    raised: Mapping[str, int] | None = None,
    *,
    claim: bool = False,
) -> Replayed:
    """Run evidence through the semantics of the deployment under wrapped agents.

    If it was found with ``raised`` bounds, its runs keep these, and begin within the bounds of the
    deployment. With ``claim`` it is about a claim of the deployment (`deployment.claims`), and all runs
    count, fair or not.

    A run may end in a state that exceeds a bound or violates a key, and continues from none. Exceptions of an
    agent, such as an `AgentError`, propagate.
    """
    checking = _Replay(deployment, wrappers, evidence, raised, claim)
    fault, at = "", None
    try:
        checking.check()
    except _Refuted as refuted:
        fault, at = str(refuted), refuted.at
    done = frozenset(checking.steps)
    only_here = evidence.root.holds and deployment.initially is not None
    unshown, unfair = tuple(checking.unshown), tuple(dict.fromkeys(checking.unfair))
    return Replayed(fault, len(done), len(checking.claims), unshown, done, at, only_here, unfair)


class _Refuted(Exception):
    """The evidence does not show its claim; the text gives the place and the reason.

    ``at`` is as in `Replayed`.
    """

    def __init__(self, text: str, at: tuple[Node, int | None] | None = None) -> None:
        super().__init__(text)
        self.at = at


class _Replay:
    """The progress of a replay.

    ``steps`` are the checked steps, each with the state before it. ``claims`` are the checked nodes by
    identity.
    """

    def __init__(
        self,
        deployment: Deployment,
        wrappers: Wrappers,
        evidence: Evidence,
        raised: Mapping[str, int] | None,
        claim: bool,
    ) -> None:
        self._fair = () if claim else deployment.fair
        self._fair_actions = () if claim else deployment.fair_actions
        self._deployment = deployment if raised is None else deployment.within(raised)
        self._starting = deployment
        self._wrappers = wrappers
        self._evidence = evidence
        self._restriction = normal_restriction(self._deployment)
        self._calls: dict[tuple[Instance, str | None, Value | None], frozenset[Call]] = {}
        self.steps: set[tuple[Instance, Step]] = set()
        self.claims: set[int] = set()
        self.unshown: list[Node] = []
        self.unfair: list[Instance] = []

    def check(self) -> None:
        node = self._evidence.root
        if not is_initial(self._starting, node.state):
            raise _Refuted(f"the run begins in {node.state}, which is no initial state")
        self._claim(node, node.state, {})

    # claims

    def _claim(self, node: Node, state: Instance, sigma: Mapping[str, Value]) -> None:
        """Check a claim, which must be about this state under this assignment."""
        wanted = {name: sigma[name] for name in fo.free_variables(node.formula)}
        if node.state != state:
            raise _refuted(node, f"is about {node.state}, where it is needed of {state}")
        if node.assignment != wanted:
            raise _refuted(
                node, f"has the values {_listed(node.assignment)}, where {_listed(wanted)} are needed"
            )
        if id(node) in self.claims:
            return
        self.claims.add(id(node))
        match node.reason:
            case Evaluated():
                if fo.is_temporal(node.formula):
                    raise _refuted(node, "is about runs, and is not seen in a state")
                if holds(node.formula, state, wanted) != node.holds:
                    raise _refuted(node, f"is not so in {state}")
            case Unshown():
                if not _is_about_all(node.formula, node.holds):
                    raise _refuted(node, "is no claim about all runs, so that there is something to show")
                self.unshown.append(node)
            case Parts(nodes):
                self._parts(node, nodes)
            case Values(nodes):
                self._values(node, nodes)
            case Run():
                self._run(node, node.reason)
            case _:
                assert_never(node.reason)

    def _parts(self, node: Node, nodes: Sequence[tuple[int, Node]]) -> None:
        parts = fo.children(node.formula)
        known: dict[int, bool] = {}
        for k, part in nodes:
            if k >= len(parts) or part.formula != parts[k]:
                raise _refuted(node, f"has no part {k} that reads {part.formula}")
            self._claim(part, node.state, node.assignment)
            known[k] = part.holds
        if _connected(node.formula, [known.get(k) for k in range(len(parts))]) != node.holds:
            raise _refuted(node, "does not follow from the parts that are shown")

    def _values(self, node: Node, nodes: Sequence[tuple[Value, Node]]) -> None:
        match node.formula:
            case fo.Exists(binder, body) | fo.Forall(binder, body) | fo.Count(_, _, binder, body):
                among = self._range(binder, node.state)
            case _:
                raise _refuted(node, "has no variable")
        known: dict[Value, bool] = {}
        for u, below in nodes:
            if u not in among:
                raise _refuted(
                    node, f"is shown by {u}, which {binder.name} does not range over in {node.state}"
                )
            if below.formula != body:
                raise _refuted(node, f"is shown by a claim about {below.formula}")
            self._claim(below, node.state, {**node.assignment, binder.name: u})
            known[u] = below.holds
        if _quantified(node.formula, known, len(among)) != node.holds:
            raise _refuted(node, "does not follow from the values that are shown")

    def _range(self, binder: fo.Binder, state: Instance) -> frozenset[Value]:
        if binder.declared:
            return frozenset(declared(state.schema, binder))
        return state.active_domain[binder.sort]

    # runs

    def _run(self, node: Node, run: Run) -> None:
        states = states_along(node.state, run)
        for number, (state, step) in enumerate(zip(states, run.steps, strict=False), 1):
            self._step(node, number, state, step)
        self._loop(node, run, states)
        last = len(run.steps) - 1 if run.ends is None else run.ends
        if not (last <= len(run.steps) and len(run.along) == last + 1):
            raise _refuted(
                node,
                f"is shown by a run of {len(run.steps)} steps, but {len(run.along)} states are described",
            )
        during, at_end = self._wanted(node, run)
        for number, (state, claims) in enumerate(zip(states, run.along, strict=False)):
            for claim in claims:
                if claim.formula not in fo.children(node.formula):
                    raise _refuted(node, f"is shown by a claim about {claim.formula}")
                self._claim(claim, state, node.assignment)
            shown = {(claim.formula, claim.holds) for claim in claims}
            wanted = at_end if number == run.ends else during
            for formula, truth in wanted - shown:
                where = f"after {self._words(node, number)}" if number else "where its run begins"
                raise _refuted(
                    node, f"needs {formula} to be {str(truth).lower()} {where}, which is not shown"
                )

    def _step(self, node: Node, number: int, state: Instance, step: Step) -> None:
        """Check a transition D → D' by a call that may be made."""
        if (state, step) in self.steps:
            return
        try:
            fault = self._step_fault(state, step)
        except NotRecorded as missing:
            fault = str(missing)
        if fault:
            raise _refuted(node, f"fails at {self._words(node, number)}, {step.label}: {fault}", number)
        self.steps.add((state, step))

    def _step_fault(self, state: Instance, step: Step) -> str:
        """Return why the step cannot be taken from the state; empty if it can."""
        deployment = self._deployment
        if not self._may_be_made(state, step):
            who = "the agent" if step.actor == "" else step.actor
            what = (
                "no such event is enabled"
                if step.actor is None
                else f"{who} is not offered, or does not select, the call"
            )
            return f"{what} in {state}"
        near = around(deployment, self._restriction, state, step.state)
        if not leads_to(deployment, step.call, state, step.state, near):
            return f"it does not lead from {state} to {step.state}"
        return (
            f"{state} is past a bound, out of range, or breaks a key or a reference"
            if breaks_claim(deployment, state)
            else ""
        )

    def _words(self, node: Node, number: int) -> str:
        """Return step ``number``, from 1, of the run that shows a node, as the outline numbers it."""
        return outline(self._evidence).step(node, number - 1)

    def _may_be_made(self, state: Instance, step: Step) -> bool:
        """Return if an event is enabled, or an agent may make a call, in a state."""
        deployment = self._deployment
        role = next((role for role in deployment.agents if role.name == step.actor), None)
        if role is not None and self._wrappers[role.name] is not None:
            return step.call in self._possible(state, step.actor, step.call)
        tools = deployment.tools_of(role) if role is not None else deployment.events
        made = any(tool.name == step.call.tool for tool in tools)
        return made and (role is not None or step.actor is None) and is_possible(deployment, step.call, state)

    def _possible(self, state: Instance, actor: str | None, made: Call | None = None) -> frozenset[Call]:
        """Return the calls that an agent may make in a state, or for None the events that are enabled.

        Of many agents these are the calls of all of them, or of that one which makes the call ``made``.
        """
        deployment = self._deployment
        role = next((role for role in deployment.agents if role.name == actor), None)
        if role is not None and made is not None:
            role = caller(deployment, role, made)
        key = state, actor, None if role is None else role.me
        if key not in self._calls:
            happening = enabled(deployment, state) if actor is None else frozenset[Call]()
            self._calls[key] = happening if role is None else self._selected(state, role)
        return self._calls[key]

    def _selected(self, state: Instance, role: AgentRole) -> frozenset[Call]:
        deployment, wrapper = self._deployment, self._wrappers[role.name]
        if wrapper is None:
            return offer(deployment, state, role)
        contexts = decision_contexts(deployment, wrapper, state, role)
        return frozenset(call for context in contexts for call in wrapper.calls(context.view, context.calls))

    def _loop(self, node: Node, run: Run, states: Sequence[Instance]) -> None:
        """Check that the loop closes and meets every fairness constraint.

        Without constraints a run that ends needs no loop, since every state has a successor. Nor does it if
        the evidence is `completed`. A loop that misses a constraint on states then counts if no fair run
        starts there, which is recorded.
        """
        completed = self._evidence.completed
        if run.loop is None:
            if run.ends is None:
                raise _refuted(node, "needs a run without end, and there is no loop")
            if (self._fair or self._fair_actions) and not completed:
                raise _refuted(node, "needs a fair run, and no loop meets the constraints")
            return
        if not run.loop < len(run.steps) or states[run.loop] != states[-1]:
            raise _refuted(node, f"has a loop from {self._words(node, run.loop + 1)} on that does not close")
        for constraint in self._fair:
            if not any(holds(constraint, state, {}) for state in states[run.loop :]):
                if completed:
                    self.unfair.append(states[run.loop])
                    break
                raise _refuted(node, f"has a loop that never meets {constraint}")
        if not self._fair_actions:
            return
        loop = states[run.loop :]
        fair = FairLoop(self._deployment, self._restriction, self._fair_actions, loop, self._possible)
        try:
            fault = fair.fault
        except NotRecorded as missing:
            fault = f"of which it is not recorded whether it is fair: {missing}"
        if fault:
            raise _refuted(node, f"has a loop {fault}")

    def _wanted(self, node: Node, run: Run) -> tuple[frozenset[_Aim], frozenset[_Aim]]:
        """Return what the operator requires before the end of the run, and at the end.

        If the run has no end, the first applies to all of its states.
        """
        endless = run.ends is None
        match node.formula, node.holds:
            case (fo.Next("E", body), True) | (fo.Next("A", body), False) if run.ends == 1:
                return frozenset(), frozenset({(body, node.holds)})
            case (fo.Future("E", body), True) | (fo.Globally("A", body), False) if not endless:
                return frozenset(), frozenset({(body, node.holds)})
            case (fo.Future("A", body), False) | (fo.Globally("E", body), True) if endless:
                return frozenset({(body, node.holds)}), frozenset()
            case (fo.Until("E", left, _, True), True) if endless:
                return frozenset({(left, True)}), frozenset()
            case (fo.Until("E", left, right), True) if not endless:
                return frozenset({(left, True)}), frozenset({(right, True)})
            case (fo.Until("A", _, right, False), False) if endless:
                return frozenset({(right, False)}), frozenset()
            case (fo.Until("A", left, right), False) if not endless:
                return frozenset({(right, False)}), frozenset({(right, False), (left, False)})
            case _:
                raise _refuted(node, "is not shown by such a run")


_Aim = tuple[fo.Formula, bool]


def _refuted(node: Node, why: str, step: int | None = None) -> _Refuted:
    """Return the fault of a claim.

    ``step`` is the number, from 1, of the step of its run that it is about.
    """
    return _Refuted(f"the claim that {node.claim} {why}", (node, None if step is None else step - 1))


def _listed(values: Mapping[str, Value]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in sorted(values.items())) or "none"


def _is_about_all(formula: fo.Formula, truth: bool) -> bool:
    """Return True if the claim is about all runs: A and true, or E and false."""
    return (
        isinstance(formula, fo.Next | fo.Future | fo.Globally | fo.Until) and (formula.path == "A") == truth
    )


def _connected(formula: fo.Formula, parts: Sequence[bool | None]) -> bool | None:
    """Return the truth value of a connective from those of its parts, with None for unknown values."""
    match formula:
        case fo.Not():
            return None if parts[0] is None else not parts[0]
        case fo.And():
            return False if False in parts else None if None in parts else True
        case fo.Or():
            return True if True in parts else None if None in parts else False
        case fo.Implies():
            return True if parts[0] is False or parts[1] is True else None if None in parts else False
        case fo.Iff():
            return None if None in parts else parts[0] == parts[1]
        case _:
            return None


def _quantified(formula: fo.Formula, known: Mapping[Value, bool], size: int) -> bool | None:
    """Return the truth value of a quantifier over ``size`` values, or None if it is undecided.

    ``known`` are the truth values of its body for some of them.
    """
    least = sum(known.values())
    most = size - (len(known) - least)
    match formula:
        case fo.Exists():
            return True if least else None if most else False
        case fo.Forall():
            return False if most < size else None if least < size else True
        case fo.Count("atleast", number):
            return True if least >= number else None if most >= number else False
        case fo.Count("atmost", number):
            return False if least > number else None if most > number else True
        case fo.Count(_, number):
            return least == number if least == most else None if least <= number <= most else False
        case _:
            return None
