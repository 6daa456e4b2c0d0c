"""Evidence about a bounded fragment, as evidence about the deployment itself.

One decision: what is shown is a claim that `sure(f)` holds, or that `possible(f)` fails, and its reason has
the shape of f with what the readings add (`deepening.fragment`). So the walk goes along f, and leaves that
out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stead_sym.evidence.build import seen
from stead_sym.evidence.tree import Evidence, Node, Parts, Reason, Run, Unshown, Values
from stead_sym.logic.syntax import (
    Count,
    Exists,
    Expanded,
    Forall,
    Formula,
    Iff,
    children,
    free_variables,
    is_temporal,
)
from stead_sym.relational.schema import Value


def recovered(evidence: Evidence, formula: Expanded) -> Evidence:
    """The evidence that A ⊨ f from evidence that A_b ⊨ sure(f), or that A ⊭ f from evidence that A_b ⊭
    possible(f): the same runs."""
    return replace(evidence, root=_Walk().node(evidence.root, formula))


class _Walk:
    """Nodes, each made once."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, int], Node] = {}

    def node(self, shown: Node, f: Formula) -> Node:
        """The claim about f that a claim about a reading of it makes."""
        key = id(shown), id(f)
        if key not in self._made:
            if is_temporal(f):
                own = {name: shown.assignment[name] for name in sorted(free_variables(f))}
                self._made[key] = Node(f, shown.holds, shown.state, own, self._reason(shown, f))
            else:
                self._made[key] = seen(f, shown.state, shown.assignment, shown.holds)
        return self._made[key]

    def _reason(self, shown: Node, f: Formula) -> Reason:
        match f, shown.reason:
            case Iff(left, right), Parts(nodes):
                sides: dict[int, Node] = {}
                for k, implication in nodes:
                    for j, part in _parts(implication):
                        place = j if k == 0 else 1 - j
                        sides[place] = self.node(part, (left, right)[place])
                return Parts(tuple(sorted(sides.items())))
            case Count("exactly", _, _, body), Parts(nodes):
                known: dict[Value, Node] = {}
                for _, count in nodes:
                    known.update((u, self.node(below, body)) for u, below in _sure(count))
                return Values(tuple(sorted(known.items())))
            case Count(_, _, _, body), Values():
                return Values(tuple((u, self.node(below, body)) for u, below in _sure(shown)))
            case _, Parts(nodes):
                return Parts(tuple((k, self.node(part, children(f)[k])) for k, part in nodes))
            case Exists(_, body) | Forall(_, body), Values(nodes):
                return Values(tuple((u, self.node(below, body)) for u, below in nodes))
            case _, Unshown():
                return Unshown()
            case _, Run() as run:
                return self._run(shown, run, f)
            case _:
                raise AssertionError(f"{shown.reason} is no reason for a reading of {f}")

    def _run(self, shown: Node, run: Run, f: Formula) -> Run:
        """The same run with what f asks of its states; where it only has to go on fairly, as it does within
        the bounds.
        """
        along = tuple(
            tuple(self._met(claim, _operand(shown.formula, claim.formula, f)) for claim in claims)
            for claims in run.along
        )
        if run.ends is None or run.loop is None:
            return Run(run.steps, along, run.ends, run.loop)
        onward = next(tail for claim in run.along[-1] if (tail := _onward(claim)) is not None)
        assert onward.loop is not None, "a run that never ends has a loop"
        steps = (*run.steps[: run.ends], *onward.steps)
        return Run(steps, along, run.ends, run.ends + onward.loop)

    def _met(self, claim: Node, f: Formula) -> Node:
        """The claim about f in a claim that the state is within the bounds, and f sure, or not that it is
        past them, or f possible.
        """
        for k, part in _parts(claim):
            if k == 1:
                return self.node(part, f)
        return seen(f, claim.state, claim.assignment, claim.holds)


def _parts(node: Node) -> tuple[tuple[int, Node], ...]:
    """The parts that a connective rests on; none where it is seen in the state."""
    return node.reason.nodes if isinstance(node.reason, Parts) else ()


def _sure(count: Node) -> Iterator[tuple[Value, Node]]:
    """The values of which it is sure whether they count: those that are sure to where that is asked, and
    those that cannot where it is asked which possibly do.
    """
    assert isinstance(count.formula, Count)
    assert isinstance(count.reason, Values)
    asked_sure = count.holds == (count.formula.comparison == "atleast")
    yield from ((u, below) for u, below in count.reason.nodes if below.holds == asked_sure)


def _operand(reading: Formula, claimed: Formula, f: Formula) -> Formula:
    """The operand of f that a claim on the run is about."""
    first, *_ = children(reading)
    return children(f)[0 if claimed == first else -1]


def _onward(claim: Node) -> Run | None:
    """The run that shows that a state goes on fairly within the bounds, where the claim says so."""
    for k, part in _parts(claim):
        if k == 2:
            shown = part.reason.nodes[0][1] if isinstance(part.reason, Parts) else part
            if isinstance(shown.reason, Run):
                return shown.reason
    return None
