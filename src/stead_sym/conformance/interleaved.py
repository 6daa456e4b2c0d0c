"""Two calls at the same time: one runs from its begin to its end before a step of the other.

A step is a statement that goes to the database, or a commit. With a₁ … aₙ the steps of one call and B the
other, a₁ … aₖ₋₁ B aₖ … aₙ is run for each k > 1, and the same with the two exchanged. This is enough for two
calls whose steps are fixed: if an interleaving is not conflict-serializable, some a precedes a conflicting b
and some b' precedes a conflicting a'. If a comes before a' in its call, B between the two keeps both orders;
otherwise b' comes before b, and the first call between these two does.

One decision: there are no threads. B runs inside the event that SQLAlchemy sends before a step, on a
connection of its own. So each run can be repeated. A lock that the first call holds is not released before B
ends, so that B is refused it at once. The run in which B would go on after the first call is one of those in
which the two are exchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from stead_sym.conformance.found import Difference, Meanwhile
from stead_sym.conformance.system import System, Unlisted
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.restriction import Restriction
from stead_sym.deployment.semantics import databases, is_possible
from stead_sym.deployment.tool import Call
from stead_sym.relational.canonical import isomorphic
from stead_sym.relational.instance import Instance


@dataclass(frozen=True, slots=True)
class Interleaver:
    """A system on which one call is run amid another, and the orders of the two that explain the result."""

    deployment: Deployment
    system: System
    restriction: Restriction

    def compare(self, state: Instance, first: Call, second: Call, at: int) -> Difference | bool:
        """Run ``second`` before the step ``at`` of ``first``.

        Return True if the result is that of some order, and False if the first call has no such step.
        """
        self.system.load(state)
        steps: list[str] = []
        said: list[str | None] = []

        def watch(step: str) -> None:
            steps.append(step)
            if len(steps) == at:
                said.append(self.system.run(second))

        said_first = self.system.run(first, watch)
        if not said:
            return False
        calls = tuple(call for call, refused in ((first, said_first), (second, said[0])) if refused is None)
        meanwhile = Meanwhile(second, at, steps[at - 1])
        try:
            found = self.system.state()
        except Unlisted as error:
            return Difference("value not listed", first, state, (), None, str(error), meanwhile)
        known = self.deployment.all_constants.union(first.args, second.args, *state.active_domain.values())
        ends: dict[Instance, None] = {}
        for order in permutations(calls):
            for end, idle in self._ends(state, order):
                ends.setdefault(end)
                if (found == end or isomorphic(found, end, known)) and self._idle(state, order, idle):
                    return True
        return Difference("no order", first, state, tuple(ends), found, None, meanwhile)

    def _ends(self, state: Instance, order: Sequence[Call]) -> Iterator[tuple[Instance, tuple[int, ...]]]:
        """Yield the states to which calls lead one after the other, with the places of those not offered."""
        if not order:
            yield state, ()
            return
        *earlier, last = order
        for middle, idle in self._ends(state, earlier):
            if is_possible(self.deployment, last, middle):
                for end in databases(self.deployment, last, middle, self.restriction):
                    yield end, idle
            else:
                yield middle, (*idle, len(earlier))

    def _idle(self, state: Instance, order: Sequence[Call], places: Sequence[int]) -> bool:
        """Return True if the calls in these places are not refused in this order, one after the other.

        A call that the deployment does not offer there and that the system refuses there must be refused
        amid another call too; otherwise two are told that they did what only one did.
        """
        if not places:
            return True
        self.system.load(state)
        said = [self.system.run(call) for call in order]
        return all(said[place] is None for place in places)
