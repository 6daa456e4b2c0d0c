"""Evidence as a tree: the reasons why a formula has its truth value in a state, under an assignment.

A node is a claim (D, σ) ⊨ f, or (D, σ) ⊭ f, with its reason. The reason of an existential path quantifier
that holds, or a universal one that fails, is a run. It has a node for each requirement of the formula on one
of its states. A connective is shown by its parts, a quantifier by values, a first-order formula by
evaluation. No run can show a claim about all runs: the tree ends there with `Unshown`.

One decision: nodes are shared. A claim that is needed at several places is one node. The size of the evidence
is thus bounded by the number of subformulas, states and assignments that occur in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

import stead_sym.logic.syntax as fo
from stead_sym.deployment.trace import Step, Trace
from stead_sym.logic.substitution import substitute
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value
from stead_sym.support.html import Displayed


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The reason of a first-order formula: evaluation in the state."""


@dataclass(frozen=True, slots=True)
class Unshown:
    """The reason of a claim about all runs from the state, which no single run shows."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The reason of a connective: its `children`, given by their numbers, that decide its truth value."""

    nodes: tuple[tuple[int, Node], ...]


@dataclass(frozen=True, slots=True)
class Values:
    """The reason of a quantifier: a single value that decides, or otherwise all values of its range."""

    nodes: tuple[tuple[Value, Node], ...]


@dataclass(frozen=True, slots=True)
class Run:
    """The reason of a path quantifier: a run from the state.

    ``along[i]`` are the claims about the state after i steps. With ``loop = k`` the state after the last step
    is that after k steps, and the steps from there on repeat for ever (`Trace`).

    ``ends = n``: the state that the operator requires comes after n steps. The steps after it exist only
    under fairness constraints, unless the evidence is `completed`, and show that the run continues fairly.
    None: it never comes, and the run has a loop; ``along`` then has the claims of all states but the last,
    which is one of them.
    """

    steps: tuple[Step, ...]
    along: tuple[tuple[Node, ...], ...]
    ends: int | None = None
    loop: int | None = None


Reason: TypeAlias = Evaluated | Unshown | Parts | Values | Run


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """The claim (D, σ) ⊨ f, or with ``holds`` False (D, σ) ⊭ f, and its reason.

    ``assignment`` has the values of the free variables of f and no others. Nodes are distinguished by
    identity.
    """

    formula: fo.Expanded
    holds: bool
    state: Instance
    assignment: Mapping[str, Value]
    reason: Reason

    @property
    def children(self) -> tuple[Node, ...]:
        """The claims that this one rests on."""
        match self.reason:
            case Evaluated() | Unshown():
                return ()
            case Parts(nodes) | Values(nodes):
                return tuple(node for _, node in nodes)
            case Run(along=along):
                return tuple(node for nodes in along for node in nodes)
            case _:
                assert_never(self.reason)

    @property
    def claim(self) -> str:
        """The claim in words: the formula with the values of its variables, and its truth."""
        return f"{closed(self.formula, self.assignment)} is {'true' if self.holds else 'false'}"


@dataclass(frozen=True, slots=True)
class Evidence(Displayed):
    """The reason why a sentence holds, or fails, at the initial state of the ``root``.

    ``of_many``: there are other initial states, so that a report must give this one.

    ``completed``: path quantifiers also range over the runs that enter a state from which no fair run starts.
    Every finite run then counts, for every continuation. That no fair run continues from a loop which does
    not meet the constraints is a claim about all runs, which no run shows.
    """

    root: Node
    of_many: bool = False
    completed: bool = False

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes, each once, the root first."""
        found: dict[int, Node] = {}
        todo = [self.root]
        while todo:
            node = todo.pop()
            if id(node) not in found:
                found[id(node)] = node
                todo += reversed(node.children)
        return tuple(found.values())

    @property
    def unshown(self) -> tuple[Node, ...]:
        """The claims about all runs that the evidence rests on."""
        return tuple(node for node in self.nodes if isinstance(node.reason, Unshown))

    @property
    def trace(self) -> Trace:
        """The single run through the tree that shows most.

        If a claim rests on several, it follows the first with a run, and after a run the last claim about its
        last state.
        """
        steps: tuple[Step, ...] = ()
        bindings: dict[str, Value] = {}
        node = self.root
        for node in followed(self.root):
            match node.reason:
                case Values(((value, _),)) if is_witness(node):
                    bindings[variable(node.formula)] = value
                case Run(ahead, along, None, loop):
                    assert loop is not None, "a run that never ends has a loop"
                    shown = along[0][0]
                    body = shown.formula if shown.holds else negation(shown.formula)
                    claim = f"for ever: {closed(body, shown.assignment)}"
                    return Trace(
                        self.root.state, steps + ahead, len(steps) + loop, bindings, claim, self.of_many
                    )
                case Run(ahead, _, ends):
                    steps += ahead[:ends]
        return Trace(self.root.state, steps, None, bindings, node.claim, self.of_many)

    def __str__(self) -> str:
        """Return the run that shows most, as text."""
        return str(self.trace)

    def _repr_html_(self) -> str:
        return self.trace._repr_html_()


def followed(node: Node) -> Iterator[Node]:
    """Yield the claims that a single run can show, beginning with ``node``.

    If a claim rests on several, the first with a run follows, and after a run the last claim about its end.
    """
    while True:
        yield node
        match node.reason:
            case Parts(((_, _), *_) as nodes):
                node = _telling([below for _, below in nodes])
            case Values(((_, below),)) if is_witness(node):
                node = below
            case Run(_, (*_, (*_, last)), int()):
                node = last
            case _:
                return


def runs(evidence: Evidence) -> Iterator[tuple[Node, Run]]:
    """Yield the runs of the tree, each with the node that it is the reason of."""
    for node in evidence.nodes:
        if isinstance(node.reason, Run):
            yield node, node.reason


def states_along(start: Instance, run: Run) -> tuple[Instance, ...]:
    """Return the state in which a run begins, and the state after each step."""
    return (start, *(step.state for step in run.steps))


def negation(formula: fo.Formula) -> fo.Formula:
    """Return ¬f, or g if f is ¬g."""
    return formula.body if isinstance(formula, fo.Not) else fo.Not(formula)


def closed(formula: fo.Formula, assignment: Mapping[str, Value]) -> fo.Formula:
    """Return the formula with values in place of variables."""
    return substitute(formula, {name: fo.Const(value) for name, value in assignment.items()})


def _telling(nodes: Sequence[Node]) -> Node:
    """Return the first of the nodes with a run, or else the first about runs, or else the first."""
    with_run = (node for node in nodes if any(isinstance(n.reason, Run) for n in Evidence(node).nodes))
    temporal = (node for node in nodes if fo.is_temporal(node.formula))
    return next(with_run, None) or next(temporal, nodes[0])


def is_witness(node: Node) -> bool:
    """Return True if one value decides: it makes an ∃ true, or a ∀ false."""
    return isinstance(node.formula, fo.Exists if node.holds else fo.Forall)


def variable(formula: fo.Formula) -> str:
    """Return the variable of a quantifier."""
    assert isinstance(formula, fo.Quantified), f"{formula} has no variable of its own"
    return formula.binder.name
