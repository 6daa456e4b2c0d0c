"""A verified agent on live data: it makes the decisions that were verified, and reports all others.

One decision: a verification has recorded the answers of an agent to canonical contexts. A live context is
covered if it is isomorphic to one of these and the agent may make exactly the corresponding calls there. The
verdicts are about these decisions only. ``on_unknown`` determines what happens in any other context; by
default it is refused. A verification whose verdicts are unknown covers no context.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from stead_sym.agents.base import DecisionContext, FunctionAgent
from stead_sym.agents.joint import Joint
from stead_sym.agents.roles import ANY, AgentLike, wrap
from stead_sym.agents.wording import one_line
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.harness import under_recorded
from stead_sym.deployment.parts import AgentRole, Harness
from stead_sym.deployment.semantics import offer, view
from stead_sym.deployment.tool import Call
from stead_sym.errors import AgentError, CanonicalLimit, DeclarationError, InputError, Undecided
from stead_sym.evidence.data import text_digest
from stead_sym.logic.names import check_known
from stead_sym.relational.graph import Row
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.layout import LayoutKey
from stead_sym.relational.nauty import CANONICAL_SECONDS
from stead_sym.relational.schema import Value
from stead_sym.verification.result import Verification, as_verification

OnUnknown: TypeAlias = Literal["refuse", "escalate", "ask"]

_MAX_VALUE_CHARACTERS = 40  # characters of a value in a message


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
        verified: Verification | Mapping[str, Any] | str | Path,
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
        if deployment.following((), {}).history:
            raise InputError(
                f"what {deployment.name} offers depends on steps, which live data do not tell: keep what"
                " matters in a relation, instead of `did` and `once`"
            )
        source = str(verified) if isinstance(verified, str | Path) else "the report"
        report = _read(verified) if isinstance(verified, str | Path) else verified
        deployment = under_recorded(deployment, _recorded_harness(report), source)
        if deployment.in_batches:
            raise InputError(
                f"agents of {deployment.name} make several calls in one message, and a verified agent is"
                " asked for one; verify with `calls sequential`"
            )
        many = [other for other in deployment.agents if other.each is not None and role in (None, other.name)]
        if many:
            raise InputError(
                f"{many[0].name} is one agent for each {many[0].each}, and a verified agent is one; guard its"
                " calls with `stead_sym.guard`"
            )
        self.deployment = deployment
        self.role = deployment.agents[0] if role is None else deployment.agent(role)
        if role is None and len(deployment.agents) > 1:
            names = ", ".join(one.name for one in deployment.agents)
            raise InputError(f"there are several agents ({names}); say which is meant, with `role`")
        recorded = _recorded(deployment, self.role, report, source)
        self._on_unknown = on_unknown
        self._escalate = escalate
        tools = deployment.tools_of(self.role)
        self._joint = Joint(deployment.schema, tools, recorded.known, canonical_timeout)
        self._covered = self._orbits(recorded.decisions)
        self._wrapper = None
        if agent is not None:
            self._wrapper = wrap(deployment, agent, self.role, canonical_timeout=canonical_timeout)
            if self._wrapper is None:
                raise InputError("an agent that may do anything has nothing to be held to; name the agent")
            if self._wrapper.known != recorded.known:
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
            placement = self._joint.placement(context)
        except CanonicalLimit as limit:  # it is not known if a verified context is isomorphic
            return self._unknown(str(limit), context, None)
        rows = self._covered.get(placement.layout.key)
        if rows is None:
            why = f"no context like it was met{self._beyond(context)}"
            return self._unknown(why, context, self._asked(context) if self._on_unknown == "ask" else None)
        verified = self._joint.calls(placement, rows)
        if self._wrapper is None:
            return Granted(verified)
        calls = self._asked(context)
        if calls == verified:
            return Granted(verified)
        return self._unknown(f"{_listed(verified)} was verified, now it is {_listed(calls)}", context, calls)

    def context(self, state: Instance) -> DecisionContext:
        """Return what the agent is shown and offered in a state.

        Raises `DeclarationError` for a value that its finite sort does not have. Verdicts are about the
        declared values; every other value of the remaining sorts is isomorphic to one that was verified.
        """
        if not isinstance(state, Instance):
            raise TypeError(f"{state!r} is no state; give an `Instance`, or a `DecisionContext`")
        self._check(state)
        return DecisionContext(
            view(self.deployment, state, self.role), offer(self.deployment, state, self.role)
        )

    def _check(self, state: Instance) -> None:
        """Raise `DeclarationError` for a state that the deployment cannot be in."""
        try:
            active = state.active_domain
        except ValueError:  # an instance that was not made by `Instance.of`
            raise DeclarationError(
                "a fact of the state has another number of arguments than its relation; use `Instance.of`"
            ) from None
        for sort in self.deployment.schema.sorts:
            strangers = active[sort.name].difference(sort.values or active[sort.name])
            if strangers:
                raise DeclarationError(
                    f"{min(strangers)} is no value of the finite sort {sort.name}; there are "
                    f"{', '.join(sort.values or ())}"
                )

    def _asked(self, context: DecisionContext) -> frozenset[Call]:
        assert self._wrapper is not None
        return self._wrapper.decide([context])[0].calls

    def _beyond(self, context: DecisionContext) -> str:
        """Return, in words, the sorts with more values in the context than in any verified context."""
        exceeding = []
        for sort, active in context.view.active_domain.items():
            more = sorted(self.deployment.outside(sort, active))
            bound = self.deployment.bounds.get(sort, len(more))
            if sort not in self.deployment.unbounded and len(more) > bound:
                first = ", ".join(one_line(value, _MAX_VALUE_CHARACTERS) for value in more[:3])
                listed = f"{first}, …" if len(more) > 3 else first
                exceeding.append(
                    f"; {len(more)} of sort {sort} besides the constants ({listed}), bound is {bound}"
                )
        return "".join(exceeding)

    def _unknown(self, why: str, context: DecisionContext, calls: frozenset[Call] | None) -> Granted:
        shown = f"{len(context.view)} facts, offering {_listed(context.calls)}"
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

    def _orbits(
        self, decisions: Iterable[tuple[DecisionContext, frozenset[Call]]]
    ) -> Mapping[LayoutKey, frozenset[Row]]:
        """Return the calls that may be made in each recorded context, as rows of its quotient."""
        orbits: dict[LayoutKey, frozenset[Row]] = {}
        for context, selected in decisions:
            if not selected or not selected <= context.calls:
                raise InputError(f"the report has {_listed(selected)} selected in {context}; restore it")
            placement, rows = self._joint.placed_orbit(context, selected)
            if orbits.setdefault(placement.layout.key, rows) != rows:
                raise InputError(f"the report has two answers to {context}; restore it")
        return orbits


@dataclass(frozen=True, slots=True)
class _Recorded:
    known: Mapping[Value, str]
    decisions: Iterable[tuple[DecisionContext, frozenset[Call]]]


def _recorded_harness(verified: Verification | Mapping[str, Any]) -> Harness:
    """Return the harness that the agents were verified in; an empty one for data that is no such report."""
    if isinstance(verified, Verification):
        return verified.deployment.harness
    if not isinstance(verified, Mapping):
        return Harness()
    gates, calls = verified.get("gates"), verified.get("calls")
    listed = gates if isinstance(gates, list) else []
    names = (one.get("gate") for one in listed if isinstance(one, Mapping))
    return Harness(
        tuple(name for name in names if isinstance(name, str)), calls if isinstance(calls, str) else None
    )


def _recorded(
    deployment: Deployment, role: AgentRole, verified: Verification | Mapping[str, Any], source: str
) -> _Recorded:
    """Return the recorded decisions of an agent."""
    if isinstance(verified, Verification):
        if text_digest(verified.deployment) != text_digest(deployment):
            raise InputError(
                f"the verification is of another deployment than {deployment.name}; verify this one"
            )
        run = verified.agents[role.name]
        if run.is_any:
            raise _unheld(role)
        _refuse_broken(None if verified.broken is None else verified.broken.claim)
        _refuse_unknown({name: verdict.word for name, verdict in verified.verdicts.items()})
        _refuse_missing(one.name for one in verified.hypotheses.missing)
        if run.contexts is None:
            run = verified.with_contexts().agents[role.name]
        return _Recorded(run.known, run.decisions)
    if not isinstance(verified, Mapping | list):  # a list is no report; `_Report` rejects it
        as_verification(verified)
    return _Report(deployment, source).read(verified, role)


def _read(path: str | Path) -> Any:
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error}); name a report") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path}: not JSON; name what `stead-sym verify --json` printed") from None


def _unheld(role: AgentRole) -> InputError:
    whose = f"agent {role.name}" if role.name else "the agent"
    return InputError(
        f"{whose} was verified as one that may do anything, so that nothing is recorded to hold it to;"
        " verify the agent that is to work"
    )


def _refuse_broken(claim: Any) -> None:
    """Raise `InputError` if the verification ended with a run that breaks a claim.

    Such a verification has not met all contexts.
    """
    if claim is not None:
        raise InputError(
            f"a run breaks `{one_line(str(claim))}`, and no decision is covered beyond it; see the run in the"
            " report, mend that, and verify again"
        )


def _refuse_unknown(words: Mapping[str, Any]) -> None:
    """Raise `InputError` if some verdict, given as a word, cannot cover decisions."""
    if not words:
        raise InputError("no specification was verified, so that no verdict covers a decision; verify one")
    for name, word in words.items():
        if word not in ("holds", "fails"):
            raise InputError(
                f"the verdict on {one_line(str(name))} is not known, so that it covers no decision; see the"
                " reason in the report, mend that, and verify again"
            )


def _refuse_missing(names: Iterable[Any]) -> None:
    """Raise `InputError` if the bounds are not established, so that not all contexts were met.

    A verdict may be `fails` nevertheless, so that `_refuse_unknown` does not detect this.
    """
    if "bounded" in names:
        raise InputError(
            "the bounds are not established, and no decision is covered beyond them; see the reason in the"
            " report, mend that, and verify again"
        )


@dataclass(frozen=True, slots=True)
class _Report:
    """A reader of the decisions in a report, which is external data, over a deployment."""

    deployment: Deployment
    source: str

    def read(self, data: Any, role: AgentRole) -> _Recorded:
        if isinstance(data, Mapping) and "every_number" in data:
            raise self._fault(
                "verdicts for every number of records, which are not about a list of decisions",
                "write bounds into the file and verify within them",
            )
        if not isinstance(data, Mapping) or "decisions" not in data:
            raise self._fault("no report of a verification", "give what `stead-sym verify --json` prints")
        if "digest" not in data:
            raise self._fault("a report of an earlier version, without a digest", "verify again")
        if data["digest"] != text_digest(self.deployment):
            raise self._fault(f"not of this version of {self.deployment.name}", "verify it again")
        try:
            run = data["agents"][role.name]
            if run["contexts"] is None:
                if run["agent"] == ANY:
                    raise _unheld(role)
                _refuse_broken(data.get("broken"))
                raise InputError(
                    f"{self.source} has no decisions of {run['agent']}: its contexts were not counted; verify"
                    " again with `--contexts`"
                )
            _refuse_broken(data.get("broken"))
            _refuse_unknown({name: verdict["verdict"] for name, verdict in data["specs"].items()})
            told = data["hypotheses"]["all"]
            _refuse_missing(one["name"] for one in told if one["status"] == "not established")
            known = {value: self.deployment.schema.sort(sort).name for value, sort in run["known"].items()}
            decisions = [self._decision(item) for item in data["decisions"] if item["agent"] == role.name]
        except (KeyError, TypeError, AttributeError):
            raise self._fault(
                "a part is missing, or is of another kind than it should be", "restore it"
            ) from None
        return _Recorded(known, decisions)

    def _decision(self, item: Mapping[str, Any]) -> tuple[DecisionContext, frozenset[Call]]:
        schema = self.deployment.schema
        arities = {relation.name: relation.arity for relation in schema.relations}
        facts = Instance.of(schema, [Fact(*self._atom(text, arities)) for text in item["facts"]])
        tools = {tool.name: len(tool.params) for tool in self.deployment.tools}
        calls = frozenset(Call(*self._atom(text, tools)) for text in item["offered"])
        selected = frozenset(Call(*self._atom(text, tools)) for text in item["selected"])
        return DecisionContext(facts, calls), selected

    def _atom(self, text: str, arities: Mapping[str, int]) -> tuple[str, tuple[Value, ...]]:
        """Split `P(u, v)` into its name and values; values that contain `, ` are ambiguous and an error."""
        name, opening, inside = text.partition("(")
        args = tuple(inside[:-1].split(", ")) if inside != ")" or arities.get(name) else ()
        if not opening or not inside.endswith(")") or arities.get(name) != len(args):
            raise self._fault(f"{text!r} is no fact or call of {self.deployment.name}", "restore it")
        return name, args

    def _fault(self, what: str, remedy: str) -> InputError:
        return InputError(f"{self.source}: {what}; {remedy}")


def _listed(calls: Collection[Call]) -> str:
    """Return the calls as text, or the first ones if there are many."""
    first = [str(call) for call in sorted(calls)[:4]]
    return ", ".join([*first, "…"] if len(calls) > len(first) else first) or "nothing"
