"""A replay of evidence on a terminal: its runs, with a mark at each step and claim that was checked.

One decision: of an unconfirmed step only the content of the evidence is shown, which may be anything.
"""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console, Group

from stead_sym.deployment.trace import Step
from stead_sym.evidence.moves import Move, Moves
from stead_sym.evidence.outline import Leg, outline
from stead_sym.evidence.replay import Replayed
from stead_sym.evidence.tree import Evidence, Node, Run, states_along
from stead_sym.relational.instance import Instance
from stead_sym.report.evidence import constraints_of, shown_decisions, shown_runs
from stead_sym.support.wrapping import indented


def print_replayed(
    evidence: Evidence, replayed: Replayed, moves: Moves, console: Console, verbose: bool = False
) -> None:
    """Print the runs of replayed evidence; nothing if there are none.

    A tick marks each confirmed step, and a cross the failure of the replay. With ``verbose``, also print the
    decisions on the runs.
    """
    shown = outline(evidence)
    if not any(run.legs for run in shown.runs):
        return

    def known(state: Instance, step: Step) -> Move | None:
        return moves(state, step) if (state, step) in replayed.done else None

    marks = _Marks(replayed, ascii_only=console.options.ascii_only)
    console.print()
    console.print(
        indented(
            shown_runs(
                shown,
                known,
                fair=constraints_of(moves.deployment),
                checked=marks,
                ascii_only=console.options.ascii_only,
            )
        )
    )
    if verbose and (decisions := shown_decisions(shown, known, prompts=False)):
        console.print()
        console.print(indented(Group(*decisions)))
    console.print()


@dataclass(frozen=True, slots=True)
class _Marks:
    """The marks beside steps and claims: a tick if a replay confirmed it, a cross where it failed."""

    replayed: Replayed
    ascii_only: bool

    def step(self, leg: Leg) -> str:
        if self.replayed.at == (leg.node, leg.index):
            return self._wrong
        assert isinstance(leg.node.reason, Run)
        before = states_along(leg.node.state, leg.node.reason)[leg.index]
        return ("+" if self.ascii_only else "✔") if (before, leg.step) in self.replayed.done else ""

    def claim(self, node: Node) -> str:
        return self._wrong if self.replayed.at == (node, None) else ""

    @property
    def _wrong(self) -> str:
        return "x" if self.ascii_only else "✘"
