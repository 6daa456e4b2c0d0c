"""A verified agent on live data: it makes the decisions that were verified, and reports all others.

One decision: a verification has recorded the answers of an agent to canonical contexts. A live context is
covered if it is isomorphic to one of these and the agent may make exactly the corresponding calls there. The
verdicts are about these decisions only. ``on_unknown`` determines what happens in any other context; by
default it is refused. A verification whose verdicts are unknown covers no context.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from stead_sym.agents.base import DecisionContext, FunctionAgent
from stead_sym.agents.roles import AgentLike, wrap
from stead_sym.analyses.covered_decisions import CoveredDecisions, Verified, listed_calls
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Call
from stead_sym.errors import AgentError, CanonicalLimit, InputError, Undecided
from stead_sym.logic.names import check_known
from stead_sym.relational.instance import Instance
from stead_sym.relational.nauty import CANONICAL_SECONDS

OnUnknown: TypeAlias = Literal["refuse", "escalate", "ask"]


class NotVerified(Undecided):
    """A decision that the verification does not cover.

    ``context`` is the live context, and ``selected`` are the calls that the agent would make there, or None
    if it was not queried.
    """

    def __init__(self, message: str, context: DecisionContext, selected: frozenset[Call] | None) -> None:
        super().__init__(message)
        self.context = context
        self.selected = selected


@dataclass(frozen=True, slots=True)
class Granted:
    """The calls that may be made in a live context; the caller makes any one of them.

    ``not_verified`` is the reason why the verdicts are not about this decision, or None if they are.
    """

    calls: frozenset[Call]
    not_verified: NotVerified | None = None

    @property
    def covered(self) -> bool:
        """True if the verdicts are about this decision."""
        return self.not_verified is None


Escalate: TypeAlias = Callable[[NotVerified], Call | Collection[Call]]


class VerifiedAgent:
    """An agent of a deployment, restricted to its verified decisions. Threads may share one.

    ``verified`` is a `Verification`, or the output of `stead-sym verify --json`: a path, or the data. Without
    ``agent`` the recorded decisions are carried out, and no model is needed. With one, such as a model with
    its store, it is queried in the canonical wrapper, and its answer is compared with the record. ``role`` is
    the name of the agent if there are several.

    ``on_unknown`` determines what happens in a context that is isomorphic to no verified one, and if the
    agent may now act differently than was verified. `refuse` raises `NotVerified`. `escalate` calls the
    function ``escalate``, for example to query a person. `ask` takes the agent's own answer. The last two
    return `Granted` with the reason why it is not covered. A context whose canonical form takes more than
    ``canonical_timeout`` seconds is not covered either; no agent can be queried then, and `ask` raises too.

    The gates that the report records are in force here too: ``deployment`` is the one behind them.

    Raises `InputError` for a report of another deployment, of unknown verdicts, or of an agent that was
    verified as one that may do anything and thus has no decisions, for a deployment whose agents make several
    calls in one message, for agents that are many, and if arguments do not fit together.
    """

    def __init__(
        self,
        deployment: Deployment,
        verified: Verified,
        agent: AgentLike | None = None,
        *,
        role: str | None = None,
        on_unknown: OnUnknown = "refuse",
        escalate: Escalate | None = None,
        canonical_timeout: float = CANONICAL_SECONDS,
    ) -> None:
        check_known("on_unknown", on_unknown, get_args(OnUnknown))
        if (on_unknown == "escalate") != (escalate is not None):
            raise InputError("on_unknown='escalate' and a function to escalate to go together; give both")
        if on_unknown == "ask" and agent is None:
            raise InputError("on_unknown='ask' needs somebody to ask; give the agent")
        self._decisions = CoveredDecisions(deployment, verified, role, canonical_timeout)
        if self._decisions.is_any:
            whose = f"agent {self._decisions.role.name}" if self._decisions.role.name else "the agent"
            raise InputError(
                f"{whose} was verified as one that may do anything, so that nothing is recorded to hold it"
                " to; verify the agent that is to work"
            )
        self.deployment = self._decisions.deployment
        self.role = self._decisions.role
        self._on_unknown = on_unknown
        self._escalate = escalate
        self._wrapper = None
        if agent is not None:
            self._wrapper = wrap(self.deployment, agent, self.role, canonical_timeout=canonical_timeout)
            if self._wrapper is None:
                raise InputError("an agent that may do anything has nothing to be held to; name the agent")
            if self._wrapper.known != self._decisions.known:
                raise InputError(
                    "the agent knows other constants by name than the one that was verified; verify this one"
                )

    def decide(self, state: Instance | DecisionContext) -> Granted:
        """Return what the agent may do in a live state, or in a context that was made from one.

        A context is a view of the state with the offered calls. Raises `NotVerified` if the decision is
        refused, `InputError` for a state in which nothing is offered or that does not fit the deployment, and
        `AgentError` for calls that are not offered. An error of the agent, or of the function ``escalate``,
        is passed on.
        """
        context = state if isinstance(state, DecisionContext) else self.context(state)
        try:
            verified = self._decisions.calls(context)
        except CanonicalLimit as limit:  # it is not known if a verified context is isomorphic
            return self._unknown(str(limit), context, None)
        if verified is None:
            why = f"no context like it was met{self._decisions.beyond(context)}"
            return self._unknown(why, context, self._asked(context) if self._on_unknown == "ask" else None)
        if self._wrapper is None:
            return Granted(verified)
        calls = self._asked(context)
        if calls == verified:
            return Granted(verified)
        return self._unknown(
            f"{listed_calls(verified)} was verified, now it is {listed_calls(calls)}", context, calls
        )

    def context(self, state: Instance) -> DecisionContext:
        """Return what the agent is shown and offered in a state.

        Raises `DeclarationError` for a value that its finite sort does not have.
        """
        return self._decisions.context(state)

    def _asked(self, context: DecisionContext) -> frozenset[Call]:
        assert self._wrapper is not None
        return self._wrapper.decide([context])[0].calls

    def _unknown(self, why: str, context: DecisionContext, calls: frozenset[Call] | None) -> Granted:
        shown = f"{len(context.view)} facts, offering {listed_calls(context.calls)}"
        unknown = NotVerified(
            f"not verified: {why} ({shown}); verify again, or decide it by hand", context, calls
        )
        match self._on_unknown:
            case "refuse":
                raise unknown
            case "ask":
                if calls is None:  # the wrapper cannot query the agent without a canonical form
                    raise unknown
                return Granted(calls, unknown)
            case "escalate":
                escalate = self._escalate
                assert escalate is not None
                [given] = FunctionAgent(lambda _: escalate(unknown)).select([context])
                if not given or not context.calls.issuperset(given):
                    raise AgentError(f"escalated, the answer is {given!r}; give calls that are offered")
                return Granted(frozenset(given), unknown)
