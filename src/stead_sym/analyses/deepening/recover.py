"""Translation of evidence about a bounded fragment to evidence about the deployment itself.

One decision: the evidence is that `sure(f)` holds or `possible(f)` fails, and its reason has the structure of
f with the additions of the readings (`deepening.fragment`). So the traversal follows f and omits these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import stead_sym.logic.syntax as fo
from stead_sym.evidence.build import seen
from stead_sym.evidence.tree import Evidence, Node, Parts, Reason, Run, Unshown, Values
from stead_sym.relational.schema import Value


def recovered(evidence: Evidence, formula: fo.Expanded) -> Evidence:
    """Return evidence for f from evidence for a reading of it, with the same runs.

    From evidence that A_b ⊨ sure(f) this is evidence that A ⊨ f; from A_b ⊭ possible(f) it is that A ⊭ f.
    """
    return replace(evidence, root=_Walk().node(evidence.root, formula))


class _Walk:
    """The nodes built so far; each is built once."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, int], Node] = {}

    def node(self, shown: Node, f: fo.Formula) -> Node:
        """Return the claim about f that follows from a claim about a reading of it."""
        key = id(shown), id(f)
        if key not in self._made:
            if fo.is_temporal(f):
                own = {name: shown.assignment[name] for name in sorted(fo.free_variables(f))}
                self._made[key] = Node(f, shown.holds, shown.state, own, self._reason(shown, f))
            else:
                self._made[key] = seen(f, shown.state, shown.assignment, shown.holds)
        return self._made[key]

    def _reason(self, shown: Node, f: fo.Formula) -> Reason:
        match f, shown.reason:
            case fo.Iff(left, right), Parts(nodes):
                sides: dict[int, Node] = {}
                for k, implication in nodes:
                    for j, part in _parts(implication):
                        place = j if k == 0 else 1 - j
                        sides[place] = self.node(part, (left, right)[place])
                return Parts(tuple(sorted(sides.items())))
            case fo.Count("exactly", _, _, body), Parts(nodes):
                known: dict[Value, Node] = {}
                for _, count in nodes:
                    known.update((u, self.node(below, body)) for u, below in _sure(count))
                return Values(tuple(sorted(known.items())))
            case fo.Count(_, _, _, body), Values():
                return Values(tuple((u, self.node(below, body)) for u, below in _sure(shown)))
            case _, Parts(nodes):
                return Parts(tuple((k, self.node(part, fo.children(f)[k])) for k, part in nodes))
            case fo.Exists(_, body) | fo.Forall(_, body), Values(nodes):
                return Values(tuple((u, self.node(below, body)) for u, below in nodes))
            case _, Unshown():
                return Unshown()
            case _, Run() as run:
                return self._run(shown, run, f)
            case _:
                raise AssertionError(f"{shown.reason} is no reason for a reading of {f}")

    def _run(self, shown: Node, run: Run, f: fo.Formula) -> Run:
        """Return the same run with the claims of f about its states.

        If its last state only needs a fair continuation, it is the one within the bounds.
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

    def _met(self, claim: Node, f: fo.Formula) -> Node:
        """Return the claim about f in a claim about its reading at a state.

        The latter is that the state is within the bounds and f sure, or not that it is past them or f
        possible.
        """
        for k, part in _parts(claim):
            if k == 1:
                return self.node(part, f)
        return seen(f, claim.state, claim.assignment, claim.holds)


def _parts(node: Node) -> tuple[tuple[int, Node], ...]:
    """Return the parts that a connective rests on; empty if it is evaluated in the state."""
    return node.reason.nodes if isinstance(node.reason, Parts) else ()


def _sure(count: Node) -> Iterator[tuple[Value, Node]]:
    """Yield the values for which it is certain if they count.

    These are the values that surely count for the sure reading, and those that cannot for the possible one.
    """
    assert isinstance(count.formula, fo.Count)
    assert isinstance(count.reason, Values)
    asked_sure = count.holds == (count.formula.comparison == "atleast")
    yield from ((u, below) for u, below in count.reason.nodes if below.holds == asked_sure)


def _operand(reading: fo.Formula, claimed: fo.Formula, f: fo.Formula) -> fo.Formula:
    """Return the operand of f that a claim on the run is about."""
    first, *_ = fo.children(reading)
    return fo.children(f)[0 if claimed == first else -1]


def _onward(claim: Node) -> Run | None:
    """Return the fair run within the bounds that continues from a state, or None if the claim has none."""
    for k, part in _parts(claim):
        if k == 2:
            shown = part.reason.nodes[0][1] if isinstance(part.reason, Parts) else part
            if isinstance(shown.reason, Run):
                return shown.reason
    return None
