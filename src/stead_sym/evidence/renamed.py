"""Renaming of the generated values of evidence from 1, in the order in which a reader meets them.

The order (`deployment.renaming`) begins with the run that is shown, and continues with the rest of the tree.
One decision: one permutation applies to the whole tree. A value has the same name in every claim, and claims
about it remain true.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from stead_sym.agents.roles import Wrappers, known_values
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.renaming import naming
from stead_sym.deployment.trace import Step
from stead_sym.evidence.tree import Evaluated, Evidence, Node, Parts, Reason, Run, Unshown, Values
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value


def renamed(evidence: Evidence, deployment: Deployment, wrappers: Wrappers) -> Evidence:
    """Return the same evidence about a deployment under wrapped agents, its generated values named from 1.

    Constants keep their names, and so do the values that an agent knows. The result is shown by runs of the
    infinite-domain deployment, whichever representatives an engine uses.
    """
    found = naming(deployment, known_values(wrappers), evidence.trace)
    for node in evidence.nodes:
        found.state(node.state)
        if isinstance(node.reason, Run):
            for step in node.reason.steps:
                found.step(step)
    if all(old == new for old, new in found.renaming.items()):
        return evidence
    return permuted(evidence, found.renaming)


def permuted(evidence: Evidence, renaming: Mapping[Value, Value]) -> Evidence:
    """Return ι of the evidence, for an injective ι; values that ``renaming`` lacks keep their names."""
    return replace(evidence, root=_Walk(renaming).node(evidence.root))


class _Walk:
    """The renamed nodes and states, each made once."""

    def __init__(self, renaming: Mapping[Value, Value]) -> None:
        self._renaming = renaming
        self._nodes: dict[int, Node] = {}
        self._states: dict[Instance, Instance] = {}

    def node(self, node: Node) -> Node:
        """Return ι of a claim and of its reason."""
        if id(node) not in self._nodes:
            own = {name: self._value(value) for name, value in node.assignment.items()}
            self._nodes[id(node)] = replace(
                node, state=self._state(node.state), assignment=own, reason=self._reason(node.reason)
            )
        return self._nodes[id(node)]

    def _reason(self, reason: Reason) -> Reason:
        match reason:
            case Evaluated() | Unshown():
                return reason
            case Parts(nodes):
                return Parts(tuple((k, self.node(below)) for k, below in nodes))
            case Values(nodes):
                return Values(tuple((self._value(value), self.node(below)) for value, below in nodes))
            case Run(steps, along):
                return replace(
                    reason,
                    steps=tuple(self._step(step) for step in steps),
                    along=tuple(tuple(map(self.node, nodes)) for nodes in along),
                )
            case _:
                assert_never(reason)

    def _step(self, step: Step) -> Step:
        return replace(step, call=step.call.rename(self._renaming), state=self._state(step.state))

    def _value(self, value: Value) -> Value:
        return self._renaming.get(value, value)

    def _state(self, state: Instance) -> Instance:
        if state not in self._states:
            self._states[state] = state.rename(self._renaming)
        return self._states[state]
