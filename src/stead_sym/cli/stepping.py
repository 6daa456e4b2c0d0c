"""A run that is made by hand: the present state, the possible steps, and the steps so far.

One decision: no engine is used. The offered, selected and possible calls are computed from the concrete state
by the semantics (`deployment.semantics`) and by the wrapped agents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stead_sym.agents.roles import Wrappers
from stead_sym.deployment.callers import step_by
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.initial import initial_states
from stead_sym.deployment.restriction import normal_restriction
from stead_sym.deployment.semantics import enabled, exceeded, offer
from stead_sym.deployment.tool import Call
from stead_sym.deployment.trace import Trace
from stead_sym.evidence.moves import Moves
from stead_sym.relational.instance import Fact, Instance, broken_keys, broken_references

MOST_STARTS = 200


@dataclass(frozen=True, slots=True)
class Choice:
    """One call that is offered, or an event that is enabled.

    ``actor`` is as in `Step`. ``selected``: the agent may make the call. ``after`` are at most
    `MOST_OUTCOMES` states to which it may lead, up to the names of fresh values.
    """

    actor: str | None
    call: Call
    selected: bool
    after: tuple[Instance, ...]


class Stepper:
    """A run of a deployment under wrapped agents, and a position in it.

    Steps after the position can be taken again until another step is taken there.
    """

    def __init__(self, deployment: Deployment, wrappers: Wrappers) -> None:
        self.deployment = deployment
        self.wrappers = wrappers
        restriction = normal_restriction(deployment)
        self._moves = Moves(deployment, wrappers, restriction)
        self.starts = initial_states(deployment, restriction.values, MOST_STARTS)
        self.run = Trace(self.starts[0], of_many=len(self.starts) > 1)
        self.position = 0
        """The number of steps of the run that are taken."""

    @property
    def state(self) -> Instance:
        """The state at the position."""
        return self.run.states[self.position]

    @property
    def changed(self) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
        """The facts that the last step taken has added and removed."""
        return self.run.changes(self.position - 1) if self.position else ((), ())

    def choices(self) -> tuple[Choice, ...]:
        """Return the choices in the state: calls of the agents, those that they may make first, then events.

        An exception of an agent that cannot decide propagates.
        """
        state = self.state
        calls = []
        for role in self.deployment.agents:
            offered = offer(self.deployment, state, role)
            decided = self._moves.decided(state, role)
            selected = {call for decision, _ in decided for call in decision.calls} if decided else offered
            calls += [self._choice(role.name, call, call in selected) for call in sorted(offered)]
        calls.sort(key=lambda choice: not choice.selected)
        events = (self._choice(None, call, True) for call in sorted(enabled(self.deployment, state)))
        return (*calls, *events)

    def _choice(self, actor: str | None, call: Call, selected: bool) -> Choice:
        return Choice(actor, call, selected, self._moves.after(self.state, call))

    def take(self, choice: Choice, after: Instance) -> None:
        """Take a choice to one of the states that it may lead to.

        The steps after the present position are dropped.
        """
        steps = (*self.run.steps[: self.position], step_by(self.deployment, choice.call, after, choice.actor))
        self.run = Trace(self.run.start, steps, of_many=self.run.of_many)
        self.position += 1

    def back(self) -> bool:
        """Go back by a step; return False at the start."""
        if not self.position:
            return False
        self.position -= 1
        return True

    def forward(self) -> bool:
        """Take the next step of the run again; return False if there is none.

        After the last step of a run with a loop the loop begins anew.
        """
        if self.position < len(self.run.steps):
            self.position += 1
            return True
        if self.run.loop is not None:
            self.position = self.run.loop + 1
            return True
        return False

    def start_at(self, start: Instance) -> None:
        """Make this initial state the start of a new run."""
        self.run, self.position = Trace(start, of_many=self.run.of_many), 0

    def follow(self, run: Trace) -> None:
        """Move to the start of a run, with all of its steps ahead."""
        self.run, self.position = run, 0

    def faults(self, choices: Sequence[Choice]) -> Iterator[str]:
        """Yield how the state violates the definition of a deployment; ``choices`` are those of the state."""
        if (sort := exceeded(self.deployment, self.state)) is not None:
            yield f"more values of {sort} are in use than `bound` claims"
        for one, other in broken_keys(self.deployment.schema, self.state.facts):
            yield f"{one} and {other} have the same key"
        for fact, reference in broken_references(self.deployment.schema, self.state.facts):
            value = fact.args[reference.column]
            yield f"{fact} holds, but {value} is in no fact of {reference.target}"
        if not choices:
            yield "nothing is offered and no event is enabled"
        yield from (f"{choice.call} leads nowhere" for choice in choices if not choice.after)
