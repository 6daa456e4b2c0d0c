"""The decisions that a verification covers, looked up by the context of a live state.

One decision: a verification has recorded the answers of an agent to canonical contexts. A live context is
covered if it is isomorphic to one of these, and then by the calls that correspond to the recorded ones.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from stead_sym.agents.base import DecisionContext
from stead_sym.agents.joint import Joint
from stead_sym.agents.roles import ANY
from stead_sym.deployment.harness import under_recorded
from stead_sym.deployment.parts import AgentRole, Harness
from stead_sym.deployment.semantics import offer, view
from stead_sym.deployment.tool import Call
from stead_sym.errors import DeclarationError, InputError
from stead_sym.evidence.data import text_digest
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.nauty import CANONICAL_SECONDS
from stead_sym.support.printable import one_line
from stead_sym.verification.result import Verification, as_verification

if TYPE_CHECKING:
    from stead_sym.deployment.deployment import Deployment
    from stead_sym.relational.graph import Row
    from stead_sym.relational.layout import LayoutKey
    from stead_sym.relational.schema import Value

Verified: TypeAlias = Verification | Mapping[str, Any] | str | Path
"""A verification, or what `stead-sym verify --json` prints for it: a path, or the data."""

_MAX_VALUE_CHARACTERS = 40  # characters of a value in a message


class CoveredDecisions:
    """The decisions of an agent that a verification covers, up to isomorphism. Threads may share one.

    ``deployment`` is the one behind the gates that the report records, and ``role`` the agent. If the agent
    was verified as one that may do anything (``is_any``), every offered call is covered.

    Raises `InputError` for a report of another deployment or of unknown verdicts, for a deployment whose
    agents make several calls in one message or whose guards depend on steps, and for agents that are many.
    """

    def __init__(
        self,
        deployment: Deployment,
        verified: Verified,
        role: str | None = None,
        canonical_timeout: float = CANONICAL_SECONDS,
    ) -> None:
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
        self.known = recorded.known
        self.is_any = recorded.is_any
        tools = deployment.tools_of(self.role)
        self._joint = Joint(deployment.schema, tools, recorded.known, canonical_timeout)
        self._covered = self._orbits(recorded.decisions)

    def calls(self, context: DecisionContext) -> frozenset[Call] | None:
        """Return the calls that are covered in a context, or None if it is isomorphic to no verified one.

        Raise `InputError` for a context in which nothing is offered, and `CanonicalLimit` if its canonical
        form takes too long.
        """
        if self.is_any:
            return context.calls
        placement = self._joint.placement(context)
        rows = self._covered.get(placement.layout.key)
        return None if rows is None else self._joint.calls(placement, rows)

    def context(self, state: Instance) -> DecisionContext:
        """Return what the agent is shown and offered in a state.

        Raise `DeclarationError` for a value that its finite sort does not have. Verdicts are about the
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

    def beyond(self, context: DecisionContext) -> str:
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

    def _orbits(
        self, decisions: Iterable[tuple[DecisionContext, frozenset[Call]]]
    ) -> Mapping[LayoutKey, frozenset[Row]]:
        """Return the calls that may be made in each recorded context, as rows of its quotient."""
        orbits: dict[LayoutKey, frozenset[Row]] = {}
        for context, selected in decisions:
            if not selected or not selected <= context.calls:
                raise InputError(f"the report has {listed_calls(selected)} selected in {context}; restore it")
            placement, rows = self._joint.placed_orbit(context, selected)
            if orbits.setdefault(placement.layout.key, rows) != rows:
                raise InputError(f"the report has two answers to {context}; restore it")
        return orbits


@dataclass(frozen=True, slots=True)
class _Recorded:
    """The decisions in a report; ``is_any`` if the agent was verified as one that may do anything."""

    known: Mapping[Value, str] = field(default_factory=dict)
    decisions: Iterable[tuple[DecisionContext, frozenset[Call]]] = ()
    is_any: bool = False


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
        _refuse_broken(None if verified.broken is None else verified.broken.claim)
        _refuse_unknown({name: verdict.word for name, verdict in verified.verdicts.items()})
        _refuse_missing(one.name for one in verified.hypotheses.missing)
        if run.is_any:
            return _Recorded(is_any=True)
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
            is_any = run["contexts"] is None and run["agent"] == ANY
            if run["contexts"] is None and not is_any:
                _refuse_broken(data.get("broken"))
                raise InputError(
                    f"{self.source} has no decisions of {run['agent']}: its contexts were not counted; verify"
                    " again with `--contexts`"
                )
            _refuse_broken(data.get("broken"))
            _refuse_unknown({name: verdict["verdict"] for name, verdict in data["specs"].items()})
            told = data["hypotheses"]["all"]
            _refuse_missing(one["name"] for one in told if one["status"] == "not established")
            if is_any:
                return _Recorded(is_any=True)
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


def listed_calls(calls: Collection[Call]) -> str:
    """Return the calls as text, or the first ones if there are many."""
    first = [str(call) for call in sorted(calls)[:4]]
    return ", ".join([*first, "…"] if len(calls) > len(first) else first) or "nothing"
