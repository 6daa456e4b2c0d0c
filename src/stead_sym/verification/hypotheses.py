"""What a verdict rests on: every hypothesis of the theorem of exact finite verification, with how it was
established.

One decision: a hypothesis that a run breaks ends the exploration with that run (`deployment.faults`), so that
nothing here is ever false; but one that was not established says so, and the verdicts are `unknown` then,
failures that a run shows aside. What was looked at in every state of a domain that is too small, or under an
agent that no wrapper makes equivariant, is not established.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from stead_sym.agents.base import DecisionContext
from stead_sym.agents.records.answer import recorded_answers
from stead_sym.agents.records.repeated import repeated
from stead_sym.agents.records.weight import percent, weight
from stead_sym.agents.roles import Wrappers, known_values
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import AgentRole
from stead_sym.deployment.renaming import named_run
from stead_sym.deployment.restriction import Restriction
from stead_sym.deployment.tool import Call
from stead_sym.engines.protocol import Hidden
from stead_sym.errors import DefinitionError
from stead_sym.logic.syntax import TRUE
from stead_sym.relational.schema import Value
from stead_sym.support.html import Displayed, paragraph, table

Status: TypeAlias = Literal["established", "by construction", "not established"]


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One hypothesis: whether it is established, and how, or why not."""

    name: str
    status: Status
    how: str

    def __str__(self) -> str:
        return f"{self.name}: {self.status}; {self.how}"


@dataclass(frozen=True, slots=True)
class Activity:
    """``most`` is max |(ad(D) \\ C) ∩ U_S| over the reachable states D, exactly; ``bound`` is b_S."""

    bound: int
    most: int


@dataclass(frozen=True, slots=True)
class Widened:
    """A canonical decision context that is not action-rigid (Definition "Action-rigidity"), so that more may
    happen there than the base agent ``selected``: ``possible`` are all calls that the automorphisms of the
    context make of these.

    ``alike`` are the values outside B in which the ``possible`` calls differ, ``remedy`` says what would tell
    these apart.
    """

    agent: str
    context: DecisionContext
    selected: frozenset[Call]
    possible: frozenset[Call]
    alike: tuple[Value, ...]
    remedy: str

    def __str__(self) -> str:
        calls = ", ".join(map(str, sorted(self.possible)))
        chosen = ", ".join(map(str, sorted(self.selected)))
        return f"{chosen} is selected, any of {calls} may happen; {self.remedy}"


@dataclass(frozen=True, slots=True)
class Hypotheses(Displayed):
    """The hypotheses of one verification; ``activity`` per unbounded sort; ``widened`` the contexts in which
    a selected call stands for several."""

    all: tuple[Hypothesis, ...]
    activity: Mapping[str, Activity]
    widened: tuple[Widened, ...] = ()

    @property
    def missing(self) -> tuple[Hypothesis, ...]:
        """Those that are not established."""
        return tuple(hypothesis for hypothesis in self.all if hypothesis.status == "not established")

    def __str__(self) -> str:
        return "\n".join(map(str, (*self.all, *self.widened)))

    def _repr_html_(self) -> str:
        rows = [(h.name, h.status, h.how.replace("; ", "\n")) for h in self.all]
        widened = "".join(paragraph(f"widened: {one}") for one in self.widened)
        return table("", ("hypothesis", "status", "how"), rows) + widened


def audit(
    deployment: Deployment,
    wrappers: Wrappers,
    restriction: Restriction,
    explored: Mapping[str, int] | DefinitionError,
    *,
    wrapped: bool,
    beyond: Iterable[Value],
    open_leaps: Mapping[tuple[str, int], str],
    min_mass: float | None = None,
    hidden: Hidden | None = None,
) -> Hypotheses:
    """The hypotheses of a verification. What the engines check on the way is established where the
    exploration has come to its end; ``explored`` is `most_active` of an `Engine` then, and otherwise the
    fault that has ended it.

    ``beyond`` is B minus C, ``open_leaps`` and ``hidden`` as an `Engine` has them, ``min_mass`` what the
    offered calls should have of a language model's probability.
    """
    outside = sorted(beyond)
    carries_over = restriction.exact and not outside
    if isinstance(explored, DefinitionError):
        activity: Mapping[str, Activity] = {}
        how = f"the exploration ended with a run that breaks `{explored.claim}`: {explored.trace.claim}"
        names = ("bounded", "serial", "keys hold")
        checked = tuple(Hypothesis(name, "not established", how) for name in names)
    else:
        activity = {sort: Activity(bound, explored[sort]) for sort, bound in deployment.bounds.items()}
        checked = (_bounded(activity, open_leaps), _serial(deployment), _keys(deployment))
    return Hypotheses(
        (
            *(
                hypothesis
                if carries_over or hypothesis.status == "not established"
                else replace(hypothesis, status="not established", how=f"as explored: {hypothesis.how}")
                for hypothesis in (*checked, *_fair(deployment, wrappers, hidden))
            ),
            Hypothesis(
                "offer and effects are equivariant",
                "by construction",
                "guards, views and effects are first-order formulas with constants in C",
            ),
            Hypothesis(
                "constants of the specifications are in C",
                "by construction",
                "a name in a formula is a variable or a constant of the deployment",
            ),
            _domain(restriction),
            *_agents(deployment, wrappers, wrapped, outside),
            *_weights(wrappers, min_mass),
            *_repetitions(wrappers),
        ),
        activity,
        tuple(
            widened
            for role in deployment.agents
            if (wrapper := wrappers[role.name]) is not None
            for widened in _widened(deployment, role, wrapper)
        ),
    )


def _bounded(activity: Mapping[str, Activity], open_leaps: Mapping[tuple[str, int], str]) -> Hypothesis:
    seen = ", ".join(f"{sort} {a.most} of {a.bound}" for sort, a in activity.items())
    how = f"in every reachable state; most active outside C: {seen}" if seen else "every sort is finite"
    if open_leaps:
        return Hypothesis("bounded", "not established", leaps_in_words(open_leaps))
    return Hypothesis("bounded", "established", how)


def leaps_in_words(open_leaps: Mapping[tuple[str, int], str]) -> str:
    """Why it is not decided whether the bounds are kept."""
    (name, _), why = next(iter(open_leaps.items()))
    return f"whether {name} exceeds a bound is not decided: {why}"


def _serial(deployment: Deployment) -> Hypothesis:
    acts = "offers a call or enables an event" if deployment.events else "offers a call"
    how = f"every reachable state {acts}, and each of these has a successor"
    return Hypothesis("serial", "established", how)


def _keys(deployment: Deployment) -> Hypothesis:
    keyed = [relation.name for relation in deployment.schema.relations if relation.keys]
    how = f"of {', '.join(keyed)}, in every reachable state" if keyed else "none is declared"
    return Hypothesis("keys hold", "established", how)


def _fair(deployment: Deployment, wrappers: Wrappers, hidden: Hidden | None) -> Iterator[Hypothesis]:
    """That the `fair` lines, where there are any, are machine-closed."""
    if hidden is not None:
        yield Hypothesis(
            "fairness leaves nothing out", "not established", left_out(hidden, deployment, wrappers)
        )
    elif deployment.fair:
        how = "a fair run starts in every reachable state, so that every finite run is the beginning of one"
        yield Hypothesis("fairness leaves nothing out", "established", how)


def left_out(hidden: Hidden, deployment: Deployment, wrappers: Wrappers) -> str:
    """How many states the `fair` lines hide, and a run into one."""
    number = f"{hidden.count} reachable state{'s' * (hidden.count > 1)}"
    steps = named_run(deployment, known_values(wrappers), hidden.run)[0].steps
    where = (
        f"such as the one after {', '.join(str(step.call) for step in steps)}"
        if steps
        else "an initial one too"
    )
    return f"no fair run starts in {number}, {where}"


def _domain(restriction: Restriction) -> Hypothesis:
    sizes = "; ".join(map(str, restriction.derivation.values()))
    status: Status = "established" if restriction.exact else "not established"
    return Hypothesis("the domain is large enough", status, sizes)


def _agents(
    deployment: Deployment, wrappers: Wrappers, wrapped: bool, beyond: list[Value]
) -> Iterator[Hypothesis]:
    for role in deployment.agents:
        wrapper = wrappers[role.name]
        name = f"agent {role.name} is equivariant" if role.name else "the agent is equivariant"
        if wrapper is None:
            yield Hypothesis(name, "by construction", "whatever is offered may happen")
        elif wrapped and not beyond:
            how = "the canonical wrapper asks it once per isomorphism class of contexts"
            yield Hypothesis(name, "by construction", how)
        elif wrapped:
            how = f"it knows {beyond[0]}, which is no constant of the deployment"
            yield Hypothesis(name, "not established", how)
        else:
            yield Hypothesis(name, "not established", "it is asked without the wrapper")


def _weights(wrappers: Wrappers, min_mass: float | None) -> Iterator[Hypothesis]:
    """What is asked of the decisions of language models, and what they stand for, beyond the theorem."""
    for agent, wrapper in wrappers.items():
        if wrapper is None:
            continue
        weighed = weight(recorded_answers(wrapper.agent, wrapper.decisions))
        if weighed is None:
            continue
        who = f"agent {agent}" if agent else "the agent"
        if min_mass is not None:
            light, partly = len(weighed.below(min_mass)), len(weighed.partly_known)
            whole = "" if weighed.whole is None else f", and {percent(weighed.whole)} over a whole answer"
            yield Hypothesis(
                f"{who} means the offered calls",
                "not established" if light or partly else "established",
                f"it gives them {percent(weighed.mass)} of its probability or more at every branching node"
                f"{whole}; {percent(min_mass)} is asked for, and {light} of {len(weighed.answers)} decisions"
                " have less" + f"; of {partly} the forced tokens are not known" * (partly > 0),
            )
        if weighed.sampling is not None:
            yield Hypothesis(
                f"what {who} may sample is possible",
                "by construction",
                f"{weighed.sampling}: of all that it may sample in a context, at least"
                f" {percent(weighed.covered)} is taken to be possible; the verdicts leave out the rest",
            )


def _repetitions(wrappers: Wrappers) -> Iterator[Hypothesis]:
    """What stands for an agent that does not always answer alike, or that should and does not."""
    for agent, wrapper in wrappers.items():
        if wrapper is None:
            continue
        told = repeated(recorded_answers(wrapper.agent, wrapper.decisions))
        if told is None:
            continue
        who = f"agent {agent}" if agent else "the agent"
        if told.samples > 1:
            yield Hypothesis(
                f"what {who} answered is possible",
                "by construction",
                f"it was asked {told.samples} times wherever it has a choice, and answered differently in"
                f" {len(told.divided)} of {len(told.again)} contexts; the verdicts leave out what it did not"
                " answer then",
            )
        elif told.unsteady:
            yield Hypothesis(
                f"{who} answers alike",
                "not established",
                f"asked again, it answers differently in {len(told.unsteady)} of {len(told.again)} contexts",
            )


def _widened(deployment: Deployment, role: AgentRole, wrapper: CanonicalWrapper) -> Iterator[Widened]:
    for context, selected in wrapper.decisions:
        possible = wrapper.orbit(context, selected)
        if possible != selected:
            alike = _alike(context, selected, possible, wrapper)
            yield Widened(
                role.name, context, selected, possible, tuple(alike), _remedy(deployment, role, alike)
            )


def _alike(
    context: DecisionContext,
    selected: frozenset[Call],
    possible: frozenset[Call],
    wrapper: CanonicalWrapper,
) -> Mapping[Value, str]:
    """The values that stand at one place of calls with one tool, where these differ, with their sorts."""
    found: dict[Value, str] = {}
    params = {tool.name: tool.params for tool in wrapper.tools}
    for tool in sorted({call.tool for call in possible - selected}):
        calls = sorted(call for call in possible if call.tool == tool)
        for param, values in zip(params[tool], zip(*(call.args for call in calls), strict=True), strict=True):
            if len(set(values)) > 1:
                found.update((value, param.sort) for value in sorted(values))
    return found


def _remedy(deployment: Deployment, role: AgentRole, alike: Mapping[Value, str]) -> str:
    """What would tell the values apart: a relation over their sorts that the agent is not shown, or only in
    part, or a new one."""
    sorts = set(alike.values())
    values = " and ".join(alike) if len(alike) < 4 else f"{len(alike)} values such as {min(alike)}"
    whole = {view.relation for view in role.views if view.where == TRUE}
    hidden = [
        relation.name
        for relation in deployment.schema.relations
        if role.views and relation.name not in whole and sorts.intersection(relation.sorts)
    ]
    if hidden:
        return f"nothing shown tells {values} apart; a `view` of {' or '.join(hidden)} could"
    listed = ", ".join(sorted(sorts))
    return f"nothing tells {values} apart; a relation in which each {listed} has a place of its own would"
