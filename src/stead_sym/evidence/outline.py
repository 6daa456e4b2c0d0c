"""Evidence as numbered runs, with the claims about each of their states.

One decision: a run continues if another run shows the claim about its last state, so that the first run
begins with the steps of `Evidence.trace`. Terminal, text, page and replay then use the same numbers for the
same steps.
"""

from __future__ import annotations

from dataclasses import dataclass

from stead_sym.deployment.trace import Step, Trace
from stead_sym.evidence.tree import Evidence, Node
from stead_sym.relational.instance import Instance


@dataclass(frozen=True, slots=True)
class Place:
    """The state after the first ``steps`` steps of a run, which is given by its number."""

    run: int
    steps: int


@dataclass(frozen=True, slots=True)
class Leg:
    """A step of a numbered run: number ``index``, from 0, of the run that is the reason of ``node``.

    ``fairly``: it only shows that the run continues fairly.
    """

    step: Step
    node: Node
    index: int
    fairly: bool = False


@dataclass(frozen=True, slots=True)
class Remark:
    """A claim about a state with its reason, in words.

    It is part of the reason of the last preceding remark with a smaller ``depth``.
    """

    depth: int
    text: str
    node: Node


@dataclass(frozen=True, slots=True)
class Numbered:
    """A run with a number.

    It begins in the state at ``begins``, which is None for the initial state. ``remarks`` has one tuple for
    every state, in the order of the steps, the first state included. ``loop`` is as in `Trace`.
    """

    number: int
    begins: Place | None
    start: Instance
    legs: tuple[Leg, ...]
    loop: int | None
    remarks: tuple[tuple[Remark, ...], ...]

    @property
    def trace(self) -> Trace:
        """The run without the claims about its states."""
        return Trace(self.start, tuple(leg.step for leg in self.legs), self.loop)

    @property
    def is_only_fair(self) -> bool:
        """True if the run only shows that another continues fairly."""
        return bool(self.legs) and all(leg.fairly for leg in self.legs)

    @property
    def fair_part(self) -> str:
        """The steps that only show that the run continues fairly, counted from 1; empty if there are none."""
        fair = [index for index, leg in enumerate(self.legs) if leg.fairly]
        return steps_in_words(fair[0], fair[-1] + 1) if fair else ""


@dataclass(frozen=True, slots=True)
class Outline:
    """The runs of a tree of evidence by their numbers, from 1; the first begins in the initial state."""

    evidence: Evidence
    runs: tuple[Numbered, ...]

    def words(self, place: Place) -> str:
        """Return a place in words, "at the start" or "after step 3".

        If there are several runs, "after step 3 of run 2".
        """
        run = self.runs[place.run - 1]
        if place.steps == 0:
            return "at the start" if run.begins is None else self.words(run.begins)
        return f"after {self._of_run(f'step {place.steps}', place.run)}"

    def step(self, node: Node, index: int) -> str:
        """Return step ``index``, from 0, of the run that is the reason of a node, in words."""
        for run in self.runs:
            for number, leg in enumerate(run.legs, 1):
                if leg.node is node and leg.index == index:
                    return self._of_run(f"step {number}", run.number)
        return f"step {index + 1}"

    def _of_run(self, what: str, number: int) -> str:
        return f"{what} of run {number}" if len(self.runs) > 1 else what


def steps_in_words(first: int, last: int) -> str:
    """Return the steps from number ``first`` + 1 to number ``last`` in words, counted from 1."""
    return f"step {last}" if first + 1 >= last else f"steps {first + 1}-{last}"
