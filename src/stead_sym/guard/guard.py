"""A guard: which calls of an agent are carried out, decided in the live database.

A call is allowed if its tool's guard is true in what the database holds, no line of the gates forbids it, and
one permits it if a gate asks for that: the same formulas that were verified, read there by queries
(`guard.queries`). Whatever cannot be read or decided is denied.

One decision: the formulas of a tool are one query with the arguments as its parameters, built once. So a
decision is about one snapshot, and costs what its indices cost.
"""

from __future__ import annotations

import asyncio
import inspect
import random
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias, get_args

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from stead_sym.analyses.covered_decisions import CoveredDecisions, Verified
from stead_sym.conformance.binding import Binding
from stead_sym.conformance.bound_tables import BoundTables, reason_of, shown_url
from stead_sym.data.spelling import Unusable
from stead_sym.deployment.deployment import Deployment, as_deployment
from stead_sym.errors import InputError
from stead_sym.export.schemas import arguments_schema
from stead_sym.guard.cells import Cells
from stead_sym.guard.coverage import LiveCoverage, read_state
from stead_sym.guard.decision import (
    Allowed,
    Decision,
    Denied,
    NeverMet,
    Outcome,
    Proposal,
    ToolCall,
    proposal,
    shown,
)
from stead_sym.guard.forwarding import Forwarding
from stead_sym.guard.log import DecisionLog
from stead_sym.guard.plans import Plans
from stead_sym.guard.rules import gates_named, gates_of_shield
from stead_sym.guard.transactions import (
    EndedTransaction,
    indexed,
    is_conflict,
    live_engine,
    transaction,
    unended,
)
from stead_sym.logic.names import check_known, nearest

if TYPE_CHECKING:
    from stead_sym.analyses.production import VerifiedAgent
    from stead_sym.analyses.shield.shield import Shield
    from stead_sym.deployment.tool import Tool

_TRIES = 12  # of a transaction that conflicts with others

Do: TypeAlias = Callable[..., object]
"""A function that carries a call out: given the connection, and the arguments by name."""


class Guard:
    """A decision for every call that an agent proposes, in a live database. Threads may share one.

    ``binding`` names the database and binds its tables to the relations, as for `stead-sym conform`; what
    runs the tools is not needed. ``gates`` are gates of the deployment, and ``shield`` is what `shield`
    returned for it: its gate is in force beside them. ``agent`` is the name of the agent if there are
    several. A denial lists at most ``instead`` calls that are allowed.

    A deployment is verified for at most `bound` values of a sort. A call in a database that has more is
    denied, unless ``bounds`` is False, which is right for guards and gates that were verified for every
    number of records.

    ``verified`` is a verification of the deployment or its report, as for `VerifiedAgent`: the calls of the
    agent are then held to the decisions that were verified. ``never_met`` is what happens to another call
    that guard and gates let through, be it in a context that no verified one is isomorphic to. It is denied,
    it is allowed with the reason in `Allowed.not_verified`, or it `needs approval`: then it is made if it is
    proposed again with ``approved``, the name of who has approved it. The gates that the report records are
    in force. If the agent was verified as one that may do anything, every offered call is covered.

    ``log`` is a file that every decision is appended to (`check_audit_log`). If it cannot be written, the
    call is denied.

    Raises `InputError` for a database that cannot be used or does not fit the deployment, for a shield of
    another deployment, and for guards and gates that no query decides.
    """

    def __init__(
        self,
        deployment: Deployment,
        binding: Binding,
        *,
        gates: str | Iterable[str] = (),
        shield: Shield | None = None,
        agent: str | None = None,
        bounds: bool = True,
        verified: Verified | None = None,
        never_met: NeverMet = "deny",
        instead: int = 5,
        log: str | Path | None = None,
    ) -> None:
        plain = as_deployment(deployment).ungated or deployment
        if not isinstance(binding, Binding):
            raise TypeError(f"{binding!r} is no binding; give a `Binding`")
        if instead < 0:
            raise InputError(f"instead must be at least 0, got {instead}")
        check_known("never_met", never_met, get_args(NeverMet))
        decisions = None if verified is None else self._decisions(deployment, verified, agent, bounds)
        recorded = () if decisions is None else decisions.deployment.gated
        named = [gates] if isinstance(gates, str) else list(gates)
        names = dict.fromkeys([*deployment.gated, *recorded, *named])
        in_force = list(gates_named(plain, list(names)))
        if shield is not None:
            in_force.extend(gates_of_shield(shield, plain, list(names)))
        if agent is None and len(plain.agents) > 1:
            listed = ", ".join(one.name for one in plain.agents)
            raise InputError(
                f"there are several agents ({listed}); name the one that is guarded, with `agent`"
            )
        self.deployment = plain
        self._role = plain.agents[0] if agent is None else plain.agent(agent)
        self._instead = instead
        self._log = DecisionLog(log)
        self._engine = live_engine(binding.database)
        self._forwarding = Forwarding(self._engine, self._check, self._refused, self.record)
        try:
            with self._engine.connect() as connection:
                alone = plain.one_by_one()  # a call of a message has to pass when its turn comes
                self._cells = Cells(alone, BoundTables(alone, binding, connection), connection)
                tools = alone.tools_of(self._role)
                self._plans = Plans(
                    alone,
                    self._cells,
                    tools,
                    in_force,
                    bounds=bounds,
                    coverage=None if decisions is None else LiveCoverage(decisions, self._cells),
                    never_met=None if decisions is None else never_met,
                )
                self._plans.try_all(connection)
                self._indexed = set(indexed(connection))
            self._log.open(plain, self._role, in_force, bounds, None if decisions is None else never_met)
        except (SQLAlchemyError, ImportError) as error:
            self._engine.dispose()
            why = f"{shown_url(binding.database)}: cannot be guarded ({reason_of(error)})"
            raise InputError(f"{why}; see to the database") from None
        except OSError as error:
            self._engine.dispose()
            raise InputError(f"{log}: cannot be written ({error}); name another file") from None
        except BaseException:
            self._engine.dispose()
            raise

    @staticmethod
    def _decisions(
        deployment: Deployment, verified: Verified, agent: str | None, bounds: bool
    ) -> CoveredDecisions:
        """Return the decisions that a verification covers; raise `InputError` if none can be looked up."""
        if not bounds:
            raise InputError("a verification is about the bounds of the file; leave out bounds=False")
        return CoveredDecisions(deployment, verified, agent)

    def __enter__(self) -> Self:
        """Return the guard, which is closed in the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the guard."""
        self.close()

    def close(self) -> None:
        """Close the connections to the database."""
        self._engine.dispose()

    # decisions

    def check(
        self, tool: str, arguments: Mapping[str, object] | None = None, *, approved: str | None = None
    ) -> Decision:
        """Return if a call may be made in the present state of the database.

        Nothing holds the state until the call is made: `call` does both in one transaction.
        """
        return self._check(proposal(tool, arguments, approved))

    async def acheck(
        self, tool: str, arguments: Mapping[str, object] | None = None, *, approved: str | None = None
    ) -> Decision:
        """Return the decision of `check`, which another thread takes meanwhile."""
        return await asyncio.to_thread(self._check, proposal(tool, arguments, approved))

    def call(
        self, tool: str, arguments: Mapping[str, object] | None, do: Do, *, approved: str | None = None
    ) -> Decision:
        """Check a call, and carry it out with ``do`` if it is allowed, in one serialisable transaction.

        ``do`` is called with the connection and the arguments by name. It must not end the transaction, and
        must do nothing outside the database, since it is called again after a conflict with another one.
        What it returns is the `result`. If it raises, nothing is changed, and the exception is passed on.
        """
        return self._call(proposal(tool, arguments, approved), do)

    async def acall(
        self, tool: str, arguments: Mapping[str, object] | None, do: Do, *, approved: str | None = None
    ) -> Decision:
        """Return the decision of `call`, which another thread carries out meanwhile."""
        return await asyncio.to_thread(self._call, proposal(tool, arguments, approved), do)

    def forward(
        self,
        tool: str,
        arguments: Mapping[str, object] | None,
        make: Callable[[], object],
        is_error: Callable[[Any], bool] = lambda _: False,
        *,
        approved: str | None = None,
    ) -> Decision:
        """Check a call, and make it with ``make`` if it is allowed, one call after the other.

        For tools that run elsewhere, in transactions of their own. What was checked is what the call finds,
        unless something else than the calls that this guard forwards writes to the database meanwhile:
        `call` does both in one transaction. What ``make`` returns is the `result`; ``is_error`` tells an
        answer that the log has as `failed`. An exception is passed on.
        """
        return self._forwarding.forward(proposal(tool, arguments, approved), make, is_error)

    async def aforward(
        self,
        tool: str,
        arguments: Mapping[str, object] | None,
        make: Callable[[], Awaitable[object]],
        is_error: Callable[[Any], bool] = lambda _: False,
        *,
        approved: str | None = None,
    ) -> Decision:
        """Return the decision of `forward` for a call that is awaited."""
        return await self._forwarding.aforward(proposal(tool, arguments, approved), make, is_error)

    def one_by_one(
        self, tool: str, arguments: Mapping[str, object] | None, *, approved: str | None = None
    ) -> AbstractContextManager[Decision]:
        """Check a call that is made elsewhere; until the block ends, no other guard that asks so decides.

        That holds for all guards of the database, also those of other processes. It does not hold off what
        writes to the database without a guard.
        """
        return self._forwarding.one_by_one(proposal(tool, arguments, approved))

    def record(self, allowed: Allowed, event: Outcome) -> None:
        """Append to the log what became of an allowed call that was made outside of `call`.

        Without such a line the log shows that the call was allowed, and not if it was made.
        """
        self._log.outcome(allowed, event)

    def calls_of(self, agent: VerifiedAgent) -> Sequence[ToolCall]:
        """Return the calls that a verified agent makes in the present state: any of them may be proposed.

        Raise `NotVerified` if the agent refuses the state, `Undecided` for a state that cannot be one of the
        deployment, and `InputError` if the database cannot be read. An error of the agent is passed on.
        """
        try:
            with transaction(self._engine, writes=False) as connection:
                state = read_state(connection, self._cells)
        except SQLAlchemyError as error:
            raise InputError(f"the database cannot be read ({reason_of(error)}); see to it") from None
        granted = agent.decide(state.instance)
        sorts = {tool.name: tool.scope for tool in self._plans.tools.values()}
        return [state.as_proposed(call, sorts[call.tool]) for call in sorted(granted.calls)]

    def calls(self, limit: int = 20) -> Sequence[ToolCall]:
        """Return calls that are allowed in the present state, at most ``limit`` of each tool.

        Raise `InputError` if the database cannot be read.
        """
        try:
            with transaction(self._engine, writes=False) as connection:
                return self._plans.allowed(connection, limit)
        except SQLAlchemyError as error:
            raise InputError(f"the database cannot be read ({reason_of(error)}); see to it") from None

    def allowed_tools(self) -> frozenset[str]:
        """Return the tools that have an allowed call now; none if the database cannot be read."""
        try:
            return frozenset(call.tool for call in self.calls(1))
        except InputError:
            return frozenset()

    # what the guard is

    @property
    def tools(self) -> Sequence[Mapping[str, object]]:
        """The tools of the agent as function schemas: `name`, `description` and `inputSchema`."""
        return [self._schema(tool) for tool in self._plans.tools.values()]

    @property
    def indices(self) -> Sequence[str]:
        """Statements that create the indices that queries so far could use and the database lacks."""
        quoted = self._engine.dialect.identifier_preparer.quote
        doubled = "%%" if self._engine.dialect.paramstyle in ("format", "pyformat") else "%"

        def quote(name: str) -> str:
            return quoted(name).replace(doubled, "%")

        return [
            f"CREATE INDEX {quote(f'{table}_{column}')} ON {quote(table)} ({quote(column)})"
            for table, column in sorted(set(self._plans.sought) - self._indexed)
        ]

    def _schema(self, tool: Tool) -> Mapping[str, object]:
        arguments = arguments_schema(tool, self._cells.json_type)
        return {"name": tool.name, "description": tool.description, "inputSchema": arguments}

    # deciding

    def _check(self, proposed: Proposal) -> Decision:
        try:
            with transaction(self._engine, writes=False) as connection:
                return self._log.decision(self._decide(connection, proposed), proposed)
        except (SQLAlchemyError, OSError) as error:
            return self._undecided(proposed, error)

    def _call(self, proposed: Proposal, do: Do) -> Decision:
        for attempt in range(_TRIES):
            decision: Decision | None = None
            try:
                with transaction(self._engine, writes=True) as connection:
                    decision = self._log.decision(self._decide(connection, proposed), proposed)
                    if isinstance(decision, Denied):
                        return decision
                    contents = self._plans.contents(proposed.call)
                    with unended(connection):
                        done = replace(decision, result=_result(do(connection, **contents)))
                self.record(done, "done")
                return done
            except BaseException as error:
                conflict = isinstance(error, DBAPIError) and is_conflict(error)
                if isinstance(decision, Allowed):
                    self.record(decision, "conflict" if conflict else _outcome(error))
                if not conflict:
                    if decision is None and isinstance(error, SQLAlchemyError | OSError):
                        return self._undecided(proposed, error)
                    raise
            time.sleep(random.uniform(0, 0.002 * 2 ** min(attempt, 7)))
        why = f"it conflicts with others at the same time, also when tried {_TRIES} times"
        return self._refused(proposed, why)

    def _decide(self, connection: sa.Connection, proposed: Proposal) -> Decision:
        call = proposed.call
        tool = self._plans.tools.get(call.tool)
        contents: Mapping[str, object] = {}
        covered = self._plans.covered(connection)
        decision: Decision
        if tool is None:
            there = f"there are {', '.join(self._plans.tools)}"
            name = shown(call.tool)
            why = f"there is no tool {name}; {nearest(name, self._plans.tools, there)}"
            decision = Denied(call, "unknown tool", why)
        else:
            try:
                contents = self._plans.contents(call)
                decision = self._plans.decide(connection, proposed, contents, covered)
            except Unusable as error:
                tool, decision = None, Denied(call, "bad arguments", str(error))
        if isinstance(decision, Allowed) or decision.reason == "past a bound":
            return decision
        others = self._plans.instead(connection, tool, contents, self._instead, covered)
        return replace(decision, instead=others)

    def _undecided(self, proposed: Proposal, error: SQLAlchemyError | OSError) -> Denied:
        what = "database cannot be read" if isinstance(error, SQLAlchemyError) else "log cannot be written"
        return self._refused(proposed, f"the {what} ({reason_of(error)})")

    def _refused(self, proposed: Proposal, why: str) -> Denied:
        """Return a denial for which nothing was read."""
        denied = Denied(proposed.call, "undecided", why)
        with suppress(OSError):  # the log may be what cannot be used
            self._log.decision(denied, proposed)
        return denied


def _result(returned: object) -> object:
    """Return what a function has returned; raise `TypeError` for what would have to be awaited."""
    if inspect.isawaitable(returned):
        if inspect.iscoroutine(returned):
            returned.close()
        raise TypeError("the function that carries a call out is asynchronous; give a plain one")
    return returned


def _outcome(error: BaseException) -> Outcome:
    """Return what became of a call whose transaction failed."""
    lost = isinstance(error, DBAPIError) and error.connection_invalidated  # perhaps after it was committed
    return "unknown" if lost or isinstance(error, EndedTransaction) else "failed"
