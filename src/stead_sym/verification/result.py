"""The result of a verification: verdicts, hypotheses, findings, and the decisions of the agents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import stead_sym.logic.syntax as fo
from stead_sym.agents.base import DecisionContext
from stead_sym.agents.records.answer import Answer, recorded_answers
from stead_sym.agents.revised import rules_of
from stead_sym.agents.roles import ANY, Wrappers, named
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.restriction import Restriction
from stead_sym.deployment.tool import Call
from stead_sym.engines.protocol import Engine, StateSet
from stead_sym.errors import DeclarationError, DefinitionError, InputError, Span
from stead_sym.evidence.moves import Moves
from stead_sym.logic.names import nearest
from stead_sym.relational.schema import Value
from stead_sym.support.html import Displayed, paragraph, table
from stead_sym.verification.findings.finding import AcceptedFinding, Finding
from stead_sym.verification.findings.gates import Share
from stead_sym.verification.hypotheses import Hypotheses, Hypothesis
from stead_sym.verification.options import Domain, Options
from stead_sym.verification.verdict import Verdict


class Decisions(tuple[tuple[DecisionContext, frozenset[Call]], ...], Displayed):
    """Canonical contexts, each with the calls selected there."""

    __slots__ = ()

    def __str__(self) -> str:
        """Return the decisions, one a line."""
        return "\n".join(f"{context} -> {_joined(sorted(selected))}" for context, selected in self)

    def _repr_html_(self) -> str:
        rows = [
            (number, _lines(context.view), _lines(sorted(context.calls)), _lines(sorted(selected)))
            for number, (context, selected) in enumerate(self, 1)
        ]
        return table("", ("context", "shown", "offered", "selected"), rows)


def _joined(calls: Iterable[Call]) -> str:
    return ", ".join(map(str, calls))


def _lines(items: Iterable[object]) -> str:
    return "\n".join(map(str, items)) or "nothing"


@dataclass(frozen=True, slots=True)
class AgentRun:
    """The queries to one agent and its answers.

    ``agent`` is the name of the policy or model that decided for it. ``known`` are the constants that it
    distinguishes, besides those of rigid sorts, with their sorts.

    ``contexts`` and ``queries`` are None, and ``decisions`` is empty, in two cases. The agent selects
    everything offered (``is_any``) and is never shown a context; or it is a policy with too many contexts to
    count (`Verification.with_contexts`). ``answers`` are the records of a language model's ``decisions``, in
    their order.
    """

    agent: str
    contexts: int | None = None
    queries: int | None = None
    decisions: Decisions = field(default_factory=Decisions)
    answers: tuple[Answer, ...] = ()
    known: Mapping[Value, str] = field(default_factory=dict)
    is_any: bool = False

    @classmethod
    def of(cls, wrapper: CanonicalWrapper | None, *, met: bool) -> AgentRun:
        """Return the queries to an agent; None stands for the agent that selects everything offered.

        ``met``: every context was enumerated, not only those that required a query.
        """
        if wrapper is None:
            return cls(ANY, is_any=True)
        if not met and rules_of(wrapper) is not None:
            return cls(wrapper.agent.name, known=wrapper.known)
        answers = recorded_answers(wrapper.agent, wrapper.decisions)
        decisions = Decisions(wrapper.decisions)
        return cls(wrapper.agent.name, wrapper.contexts, wrapper.queries, decisions, answers, wrapper.known)


def as_verification(result: object) -> Verification:
    """Return the result if it is a verification, and raise `InputError` otherwise.

    The result of `deepen` is none, since it has no single finite state space.
    """
    if not isinstance(result, Verification):
        raise InputError(
            f"the result of `verify` is needed, got a {type(result).__name__}; write bounds into the file and"
            " verify within them"
        )
    return result


def agent_runs(wrappers: Wrappers, *, met: bool) -> Mapping[str, AgentRun]:
    """Return `AgentRun.of` each agent."""
    return MappingProxyType({name: AgentRun.of(one, met=met) for name, one in wrappers.items()})


@dataclass(frozen=True)
class Verification(Displayed):
    """The result of `verify`; ``result["auth"]`` is the verdict of one specification.

    A run that breaks a claim of the file, such as a bound, ends the exploration (``broken``). The claim is
    then the first of the verdicts, under its name (`deployment.claims`). A specification that this run
    refutes fails, and every other one is unknown. The numbers of states and transitions are not known, and
    ``explored`` is None.

    ``options`` are those of `verify`. ``seconds`` is the elapsed time. ``agents`` has the `AgentRun` of each
    agent by name; the name is empty if there is only one. ``contexts``, ``queries``, ``decisions`` and
    ``answers`` are those of all agents together. ``moves`` has the alternatives at each step.

    ``hypotheses`` are the assumptions of the verdicts, with their status. ``findings`` are signs that a
    verdict establishes less than it seems to; ``accepted`` are those that a comment of the file accepts.
    ``unexamined`` is the number of subformulas that were not tried for vacuity, since a long specification
    has too many. ``shares`` has, for each gate in force, the number of enabled calls that it allows, if
    findings were computed.
    """

    deployment: Deployment
    agents: Mapping[str, AgentRun]
    restriction: Restriction
    options: Options
    verdicts: Mapping[str, Verdict]
    seconds: float
    explored: Engine | None
    hypotheses: Hypotheses
    moves: Moves
    findings: tuple[Finding, ...] = ()
    accepted: tuple[AcceptedFinding, ...] = ()
    unexamined: int = 0
    shares: tuple[Share, ...] = ()
    broken: DefinitionError | None = None

    def __getitem__(self, spec: str) -> Verdict:
        """Return the verdict of a specification."""
        return self.verdicts[spec]

    def with_contexts(self, most: int | None = None) -> Verification:
        """Return the same result with the contexts of policies.

        A policy is compiled to formulas without its contexts, so that `verify` enumerates them only if they
        are few. ``most`` limits the effort (`Engine.meets_contexts`). If it is exceeded, or a claim is
        broken, the result is unchanged.
        """
        uncounted = any(run.contexts is None and not run.is_any for run in self.agents.values())
        if not uncounted or self.explored is None or not self.explored.meets_contexts(most):
            return self
        return replace(self, agents=agent_runs(self.moves.wrappers, met=True))

    def with_hypothesis(self, one: Hypothesis) -> Verification:
        """Return the result with one more hypothesis."""
        return replace(self, hypotheses=replace(self.hypotheses, all=(*self.hypotheses.all, one)))

    @property
    def mode(self) -> Domain:
        """`normal` if fresh values had representatives, `theorem` on the literal domain."""
        return self.options.mode

    @property
    def engine(self) -> Engine:
        """The engine with all reachable states.

        Raises the `DefinitionError` of the run that breaks a claim of the file, if there is one: the
        exploration is then incomplete.
        """
        if self.explored is None:
            assert self.broken is not None, "nothing else ends an exploration with a result"
            raise self.broken.with_traceback(None)
        return self.explored

    @property
    def initial(self) -> int | None:
        """The number of initial states, or None if a broken claim ended the exploration."""
        return None if self.explored is None else self.explored.initial

    @property
    def states(self) -> int | None:
        """|R|, the number of reachable states, or None as for ``initial``."""
        return None if self.explored is None else self.explored.states

    @property
    def databases(self) -> int | None:
        """The number of databases in R, or None as for ``initial``.

        States with one database differ in the past and the last step that are kept.
        """
        return None if self.explored is None else self.explored.databases

    @property
    def transitions(self) -> int | None:
        """The number of pairs D → D' in R, or None as for ``initial``.

        It is counted on access, which can take longer than the verification.
        """
        return None if self.explored is None else self.explored.transitions

    @property
    def statistics(self) -> Mapping[str, int]:
        """The effort of the verification, by the engine's counters; empty if a broken claim ended it."""
        return {} if self.explored is None else self.explored.statistics

    @property
    def agent(self) -> str:
        """The policy or model of the only agent, or those of all agents with the agents' names."""
        return named({name: run.agent for name, run in self.agents.items()})

    @property
    def contexts(self) -> int | None:
        """The number of contexts shown to all agents together.

        It is None if every agent selects everything offered, or if the contexts of some policy were not
        counted.
        """
        return _sum(run.contexts for run in self.agents.values() if not run.is_any)

    @property
    def queries(self) -> int | None:
        """The number of answers of all agents together, or None as for ``contexts``."""
        return _sum(run.queries for run in self.agents.values() if not run.is_any)

    @property
    def is_any(self) -> bool:
        """True if every agent selects everything that it is offered."""
        return all(run.is_any for run in self.agents.values())

    @property
    def decisions(self) -> Decisions:
        """The canonical contexts with their answers, agent by agent, in the order of the queries."""
        return Decisions(decision for run in self.agents.values() for decision in run.decisions)

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The records of language models' decisions, agent by agent."""
        return tuple(answer for run in self.agents.values() for answer in run.answers)

    @property
    def domain(self) -> Mapping[str, int]:
        """The size of every sort's domain."""
        return self.restriction.sizes

    def satisfying(self, formula: fo.Raw | str, assignment: Mapping[str, Value] | None = None) -> StateSet:
        """Return the reachable states in which a formula holds under values of its free variables.

        Raises `DeclarationError` for a formula that does not fit the deployment, for a value outside the
        restriction or of another sort than its variable, and if ``assignment`` does not have exactly the free
        variables of the formula.
        """
        sigma = dict(assignment or {})
        resolved = self.deployment.formula(formula, self._scope(sigma))
        free = fo.free_variables(resolved)
        if unknown := sorted(sigma.keys() - free):
            hint = nearest(unknown[0], free, "leave it out")
            raise DeclarationError(f"{unknown[0]} is no free variable of the formula; {hint}")
        return self.engine.satisfying(resolved, sigma)

    def _scope(self, assignment: Mapping[str, Value]) -> Mapping[str, str]:
        """Return the sort of every variable, by its value; a numeral that several sorts list is ambiguous."""
        listed = self.deployment.schema.listed
        sort_of = {value: sort for sort, values in self.restriction.values.items() for value in values}
        for name, value in assignment.items():
            if isinstance(value, str) and len(listed.get(value, ())) > 1:
                raise DeclarationError(
                    f"{value}, given for {name}, is a value of {' and of '.join(listed[value])};"
                    " write the number into the formula"
                )
            if not isinstance(value, str) or value not in sort_of:
                hint = nearest(str(value), sort_of, "`restriction.values` lists them")
                raise DeclarationError(f"{value}, given for {name}, is no value of the domain; {hint}")
        return {name: sort_of[value] for name, value in assignment.items()}

    def place(self, spec: str) -> Span | None:
        """Return the position in the file of a specification, or of a claim that is broken."""
        if self.broken is not None and spec == self.broken.claim:
            return self.broken.span
        return self.deployment.spec(spec).span

    @property
    def summary(self) -> str:
        """One line with the deployment, the agent and the counts."""
        asked = "" if self.queries is None else f", {self.contexts} contexts, {self.queries} queries"
        counts = f"{self.states} states, {self.transitions} transitions"
        if self.initial is not None and self.initial > 1:
            counts = f"{self.initial} initial of {counts}"
        if self.broken is not None:
            counts = f"explored until `{self.broken.claim}` was broken"
        return f"{self.deployment.name} under {self.agent}{self.deployment.harness}: {counts}{asked}"

    def __str__(self) -> str:
        """Return the summary, the verdicts and the findings, one a line."""
        lines = [f"  {verdict}" for verdict in self.verdicts.values()]
        return "\n".join([self.summary, *lines, *(f"  finding: {finding}" for finding in self.findings)])

    def _repr_html_(self) -> str:
        rows = [
            (v.spec, v.said, "\n".join((*(() if v.reason or not v.trace else (v.trace.claim,)), *v.remarks)))
            for v in self.verdicts.values()
        ]
        return paragraph(self.summary) + table("", ("spec", "verdict", "what shows it"), rows)


def _sum(numbers: Iterable[int | None]) -> int | None:
    """Return the sum, or None if there are no numbers or one is not known."""
    every = list(numbers)
    known = [number for number in every if number is not None]
    return sum(known) if known and len(known) == len(every) else None
