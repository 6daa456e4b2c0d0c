"""Evidence as JSON data, which `reading` reads back.

One decision: the data are complete. A reader needs the deployment and nothing else. The decisions of the
wrapped agents are stored with the runs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, assert_never

from msgspec import UNSET

from stead_sym.agents.records.digest import digest
from stead_sym.agents.records.weight import weight_data
from stead_sym.deployment.deployment import print_deployment
from stead_sym.evidence.document import (
    AgentData,
    AnyNode,
    DecisionData,
    EvaluatedData,
    EvidenceData,
    Json,
    Message,
    PartsData,
    PathData,
    RunData,
    StepData,
    UnshownData,
    ValuesData,
)
from stead_sym.evidence.tree import Evaluated, Evidence, Node, Parts, Run, Unshown, Values, variable

if TYPE_CHECKING:
    from stead_sym.agents.base import DecisionContext
    from stead_sym.agents.records.answer import Answer
    from stead_sym.agents.wrapper import Decision
    from stead_sym.deployment.deployment import Deployment
    from stead_sym.deployment.trace import Step
    from stead_sym.evidence.moves import Moves
    from stead_sym.relational.instance import Instance


def text_digest(deployment: Deployment) -> str:
    """Return the digest of the deployment's text without its specifications.

    Specifications are left out since they do not change the behaviour.
    """
    return digest(print_deployment(replace(deployment, written=replace(deployment.written, specs=()))))


def evidence_document(spec: str, formula: str, evidence: Evidence, moves: Moves) -> EvidenceData:
    """Return evidence with everything that its replay needs besides the deployment.

    ``formula`` is the sentence as it was written.
    """
    return _Writer(evidence, moves).document(spec, formula)


def evidence_data(spec: str, formula: str, evidence: Evidence, moves: Moves) -> dict[str, Json]:
    """Return the same as JSON data."""
    return evidence_document(spec, formula, evidence, moves).data()


class _Writer:
    """The numbers of states, nodes and decisions."""

    def __init__(self, evidence: Evidence, moves: Moves) -> None:
        self._evidence = evidence
        self._moves = moves
        self._nodes = _parents_first(evidence.root)
        self._number = {id(node): k for k, node in enumerate(self._nodes)}
        self._states: dict[Instance, int] = {}
        self._decisions: dict[str, dict[DecisionContext, tuple[int, DecisionData]]] = {}

    def document(self, spec: str, formula: str) -> EvidenceData:
        nodes = [self._node(node) for node in self._nodes]  # this numbers the states and the decisions
        return EvidenceData(
            deployment=self._moves.deployment.name,
            digest=text_digest(self._moves.deployment),
            spec=spec,
            formula=formula,
            holds=self._evidence.root.holds,
            of_many=self._evidence.of_many,
            completed=self._evidence.completed,
            bounds=UNSET if self._moves.raised is None else dict(self._moves.raised),
            gates=list(self._moves.deployment.gated) or UNSET,
            calls=self._moves.deployment.called or UNSET,
            asked=list(self._moves.deployment.history.asked) if self._moves.deployment.history else UNSET,
            agents={
                name: None
                if wrapper is None
                else AgentData(
                    agent=wrapper.agent.name,
                    known=dict(wrapper.known),
                    decisions=[record for _, record in self._decisions.get(name, {}).values()],
                )
                for name, wrapper in self._moves.wrappers.items()
            },
            states=[[*state] for state in self._states],
            nodes=nodes,
        )

    def _state(self, state: Instance) -> int:
        return self._states.setdefault(state, len(self._states))

    def _node(self, node: Node) -> AnyNode:
        claim: dict[str, Any] = {
            "formula": str(node.formula),
            "holds": node.holds,
            "state": self._state(node.state),
            "values": dict(node.assignment),
        }
        match node.reason:
            case Evaluated():
                return EvaluatedData(**claim)
            case Unshown():
                return UnshownData(**claim)
            case Parts(nodes):
                return PartsData(**claim, parts=[(k, self._number[id(part)]) for k, part in nodes])
            case Values(nodes):
                below = [(u, self._number[id(child)]) for u, child in nodes]
                return ValuesData(**claim, of=variable(node.formula), nodes=below)
            case Run():
                return PathData(**claim, run=self._run(node.state, node.reason))
            case _:
                assert_never(node.reason)

    def _run(self, state: Instance, run: Run) -> RunData:
        steps: list[StepData] = []
        for step in run.steps:
            steps.append(self._step(state, step))
            state = step.state
        self._note_loop(run)
        along = [[self._number[id(claim)] for claim in claims] for claims in run.along]
        return RunData(steps=steps, along=along, ends=run.ends, loop=run.loop)

    def _step(self, state: Instance, step: Step) -> StepData:
        move = self._moves(state, step)
        made = move.decision if step.actor is not None else None
        return StepData(
            call=step.call,
            agent=step.actor,
            to=self._state(step.state),
            offered=move.offered,
            selected=move.selected,
            outcomes=move.outcomes,
            decision=UNSET
            if made is None or step.actor is None
            else self._decided(step.actor, made, move.answer),
            names=UNSET if made is None else dict(made.names),
        )

    def _note_loop(self, run: Run) -> None:
        """Record what each agent decides in each state of the loop, if actions have fairness constraints.

        This includes states in which another agent takes the step: the loop's fairness depends on the calls
        that the agent might have made.
        """
        if run.loop is None or not self._moves.deployment.fair_actions:
            return
        for step in run.steps[run.loop :]:
            for role in self._moves.deployment.agents:
                for decided in self._moves.decided(step.state, role):
                    self._decided(role.name, *decided)

    def _decided(self, agent: str, decision: Decision, answer: Answer | None) -> int:
        """Return the number of a decision among the recorded ones of the agent, and record a new one."""
        context = decision.canonical
        own = self._decisions.setdefault(agent, {})
        if context not in own:
            record = DecisionData(
                facts=[*context.view],
                offered=sorted(context.calls),
                selected=sorted(decision.selected),
                **weighed(answer),
            )
            own[context] = len(own), record
        return own[context][0]


def weighed(answer: Answer | None) -> dict[str, Any]:
    """Return the fields of `Weighed` for an answer; none if there is no answer."""
    if answer is None:
        return {}
    messages = [Message(role=message.role, content=message.content) for message in answer.prompt]
    return {"key": answer.key, **weight_data(answer), "prompt": messages}


def _parents_first(root: Node) -> tuple[Node, ...]:
    """Return all nodes, the root first, each once and after every node that rests on it."""
    done: dict[int, Node] = {}
    todo = [(root, False)]
    while todo:
        node, below_done = todo.pop()
        if below_done:
            done[id(node)] = node
        elif id(node) not in done:
            todo.append((node, True))
            todo += [(child, False) for child in node.children if id(child) not in done]
    return tuple(reversed(done.values()))
