"""Indistinguishable records: contexts that are not action-rigid, and the effect of their choices on verdicts.

The analysis also names the hidden relations that would distinguish the records.

No equivariant agent selects just one of several calls that an automorphism of the context maps to each other
(Proposition "No equivariant symmetry breaking"), so the wrapper lets any of them happen. A deployed agent
takes one of them. For some specifications this cannot matter, because its runs are runs of the set-valued
agent: what holds on all runs of that agent holds on its runs too. For others `Engine.whatever_chosen` shows
that no choice changes the verdict. The rest are verified again with single choices.

One decision: a single choice goes by the order of identifiers. It takes the first of the interchangeable
calls, or the second, and so on, in each state anew. Such an agent is not equivariant, so its verdict is about
the literal domain of the restriction only. That is enough to show that a verdict depends on the choice. If no
single choice changes a verdict, another kind of choice still may.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import stead_sym.logic.syntax as fo
from stead_sym.agents.base import DecisionContext
from stead_sym.agents.roles import AgentLike, Wrappers, deciding, wrap_all
from stead_sym.agents.selection import decision_contexts
from stead_sym.agents.wrapper import CanonicalWrapper, Decision
from stead_sym.deployment.callers import caller, callers
from stead_sym.deployment.deployment import Deployment, Question, as_deployment
from stead_sym.deployment.parts import AgentRole, Spec
from stead_sym.deployment.semantics import offer, view
from stead_sym.deployment.tool import Call
from stead_sym.engines.explicit.check import Labelling
from stead_sym.engines.explicit.choices import chosen, orbits
from stead_sym.engines.explicit.engine import ExplicitConstrained, ExplicitEngine
from stead_sym.engines.protocol import Choosers
from stead_sym.errors import InputError
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value
from stead_sym.support.progress import Progress
from stead_sym.verification.findings.occurrences import quantifies
from stead_sym.verification.options import Options
from stead_sym.verification.orbits import MOST_CHOICES, single_choices
from stead_sym.verification.readings import answer
from stead_sym.verification.result import Verification
from stead_sym.verification.verify import verified

MOST_STATES = 20_000
"""The largest number of states of the literal domain that are explored."""


@dataclass(frozen=True, slots=True)
class Separation:
    """A relation that is not shown to the agent, or not in full, and would distinguish its calls.

    If ``relation`` were shown, the calls that may happen would be distinguished in ``states`` of the ``of``
    states that show this context.
    """

    relation: str
    states: int
    of: int


@dataclass(frozen=True, slots=True)
class Symmetric:
    """A canonical decision context that is not B-action-rigid (Definition "Action-rigidity").

    ``automorphism`` is a witness; ``moved`` are the offered calls that it moves. ``alike`` are the classes of
    values that automorphisms exchange. The base agent selected the calls ``selected``, and any of the calls
    ``possible`` may happen; ``orbits`` are the classes of these that automorphisms map to each other.
    ``separations`` are the relations of the deployment that would distinguish them, and ``remedy`` is the
    same in words.
    """

    agent: str
    context: DecisionContext
    automorphism: Mapping[Value, Value]
    moved: frozenset[Call]
    alike: tuple[tuple[Value, ...], ...]
    selected: frozenset[Call]
    possible: frozenset[Call]
    orbits: tuple[frozenset[Call], ...] = ()
    separations: tuple[Separation, ...] = ()
    remedy: str = ""

    @property
    def cycles(self) -> str:
        """The automorphism in cycles: `(CASE_1 CASE_2)(TASK_1 TASK_2)`."""
        unvisited, cycles = dict(self.automorphism), []
        for value in sorted(self.automorphism):
            cycle = []
            while value in unvisited:
                cycle.append(value)
                value = unvisited.pop(value)
            if cycle:
                cycles.append(f"({' '.join(cycle)})")
        return "".join(cycles)


@dataclass(frozen=True, slots=True)
class SingleChoice:
    """An agent that resolves the choice in ``contexts`` by the order of identifiers.

    In the states that show them it takes the call at position ``rank`` of the interchangeable ones, or the
    last one if there are fewer. ``holds`` has the truth of each specification on the literal domain under
    this agent, None if no run is fair.
    """

    contexts: tuple[Symmetric, ...]
    rank: int
    holds: Mapping[str, bool | None]


@dataclass(frozen=True, slots=True)
class Symmetry:
    """The effect of choices among indistinguishable records on the verdicts of ``result``.

    ``result`` is on the literal domain if there is such a choice. ``contexts`` are the contexts met that are
    not action-rigid. ``kept`` maps each specification whose verdict no choice of any kind changes to the
    reason. The other specifications were verified again with each of ``choices``; ``left`` counts the choices
    that were not tried.
    """

    result: Verification
    contexts: tuple[Symmetric, ...]
    kept: Mapping[str, str]
    choices: tuple[SingleChoice, ...] = ()
    left: int = 0

    @property
    def choosing(self) -> tuple[Symmetric, ...]:
        """The contexts in which one of several symmetric calls may happen."""
        return tuple(context for context in self.contexts if context.orbits)

    @property
    def differing(self) -> Mapping[str, tuple[SingleChoice, ...]]:
        """The specifications whose verdict some single choice changes, with these choices."""
        differing = {
            name: tuple(choice for choice in self.choices if choice.holds.get(name) is not verdict.holds)
            for name, verdict in self.result.verdicts.items()
            if name not in self.kept
        }
        return {name: choices for name, choices in differing.items() if choices}


def symmetry(
    deployment: Deployment,
    agent: AgentLike | Mapping[str, AgentLike],
    specs: Question | Sequence[Question] | None = None,
    *,
    most_choices: int = MOST_CHOICES,
    max_states: int = MOST_STATES,
    progress: Progress | None = None,
) -> Symmetry:
    """Return the contexts that are not action-rigid, and the effect of symmetric choices on verdicts.

    First the deployment is verified, which meets every context. If some context is not action-rigid, the
    literal domain is explored state by state. Raises what `verify` raises, `Undecided` if that domain has
    more than ``max_states`` states, and `InputError` if every agent selects everything that it is offered, so
    that there is no choice.
    """
    as_deployment(deployment)
    wrappers = wrap_all(deployment, agent)
    if all(wrapper is None for wrapper in wrappers.values()):
        raise InputError(
            "every agent may select anything it is offered, and chooses nothing; name a policy or a model"
        )
    _, asked = deployment.asked(specs, deciding(deployment, agent))
    given = {name: wrapper or "any" for name, wrapper in wrappers.items()}
    result = verified(deployment, given, specs, Options(findings=False), progress=progress).with_contexts()
    if all(met is None or met.met_action_rigid for met in result.moves.wrappers.values()):
        return Symmetry(result, (), dict(_kept(deployment, asked, result, False)))
    options = Options("explicit", max_states=max_states, findings=False)
    result = verified(deployment, given, specs, options, progress=progress)
    contexts = tuple(_symmetric(deployment, result, wrappers))
    assert isinstance(result.engine, ExplicitEngine), "it was asked for"
    kept = dict(_kept(deployment, asked, result, any(one.orbits for one in contexts)))
    open_specs = [spec for spec in asked if spec.name not in kept]
    if not open_specs:
        return Symmetry(result, contexts, kept)
    graph, restriction = result.engine.graph, result.restriction
    alike = orbits(graph, result.moves.wrappers)
    choosing = {(one.agent, one.context): one for one in contexts if one.orbits}
    plans = [*single_choices({place: max(map(len, one.orbits)) for place, one in choosing.items()})]
    choices: list[SingleChoice] = []
    for places, rank in plans[:most_choices]:
        if progress is not None:
            progress("symmetry", choices=len(choices), of=min(len(plans), most_choices))
        single = ExplicitConstrained(Labelling(chosen(graph, alike, places, rank), restriction))
        holds = {spec.name: answer(single, spec.formula).holds for spec in open_specs}
        choices.append(SingleChoice(tuple(choosing[place] for place in places), rank, holds))
    return Symmetry(result, contexts, kept, tuple(choices), max(0, len(plans) - most_choices))


# the contexts


def _symmetric(deployment: Deployment, result: Verification, wrappers: Wrappers) -> Iterator[Symmetric]:
    met = result.moves.wrappers
    states = result.satisfying("true").sample(result.engine.states)
    for role in deployment.agents:
        wrapper = met[role.name]
        if wrapper is None:
            continue
        shown: dict[DecisionContext, list[tuple[Instance, Decision]]] = {}
        for state in states:
            for decision in wrapper.decide([*decision_contexts(deployment, wrapper, state, role)]):
                if not decision.action_rigid:
                    shown.setdefault(decision.canonical, []).append((state, decision))
        for context, selected in wrapper.decisions:
            if context in shown:
                yield _described(deployment, role, wrapper, context, selected, shown[context])


def _described(
    deployment: Deployment,
    role: AgentRole,
    wrapper: CanonicalWrapper,
    context: DecisionContext,
    selected: frozenset[Call],
    shown: Sequence[tuple[Instance, Decision]],
) -> Symmetric:
    generators = wrapper.automorphisms(context)
    automorphism = next(g for g in generators if any(call.rename(g) != call for call in context.calls))
    alike = [orbit for orbit in wrapper.orbits(context, selected) if len(orbit) > 1]
    separations = tuple(_separations(deployment, role, wrapper, shown)) if alike else ()
    moving = frozenset[Call]().union(*alike)
    sorts = {
        param.sort
        for tool in wrapper.tools
        for column, param in enumerate(tool.params)
        if len({call.args[column] for call in moving if call.tool == tool.name}) > 1
    }
    return Symmetric(
        role.name,
        context,
        automorphism,
        frozenset(call for call in context.calls if call.rename(automorphism) != call),
        _classes(generators),
        selected,
        wrapper.orbit(context, selected),
        tuple(alike),
        separations,
        _remedy(deployment, separations, sorts) if alike else "",
    )


def _classes(generators: Collection[Mapping[Value, Value]]) -> tuple[tuple[Value, ...], ...]:
    """Return the orbits of values that have two or more members."""
    over: dict[Value, set[Value]] = {}
    for generator in generators:
        for value, image in generator.items():
            one, other = over.setdefault(value, {value}), over.setdefault(image, {image})
            if one is not other:
                one |= other
                over.update(dict.fromkeys(other, one))
    return tuple(sorted({tuple(sorted(members)) for members in over.values()}))


def _separations(
    deployment: Deployment,
    role: AgentRole,
    wrapper: CanonicalWrapper,
    shown: Sequence[tuple[Instance, Decision]],
) -> Iterator[Separation]:
    """Yield the relations that distinguish the possible calls in some state, the most effective first."""
    whole = {view.relation for view in role.views if view.where == fo.TRUE}
    hidden = [r.name for r in deployment.schema.relations if role.views and r.name not in whole]
    counts: Counter[str] = Counter()
    for state, decision in shown:
        own = caller(deployment, role, min(decision.calls))
        seen = view(deployment, state, own)
        [(_, offered)] = callers(deployment, own, offer(deployment, state, role))
        for relation in hidden:
            more = Instance(seen.schema, seen.facts.union(f for f in state.facts if f.relation == relation))
            if more != seen:
                generators = wrapper.automorphisms(DecisionContext(more, offered))
                counts[relation] += all(c.rename(g) == c for c in decision.calls for g in generators)
    for relation, states in counts.most_common():
        if states:
            yield Separation(relation, states, len(shown))


def _remedy(deployment: Deployment, separations: Sequence[Separation], sorts: Collection[str]) -> str:
    relations = [f"{one.relation} (in {one.states} of {one.of} states)" for one in separations]
    parts = [f"show {' or '.join(relations)}"] if relations else []
    if not any(one.states == one.of for one in separations):
        listed = " and ".join(sorted(sorts))
        makers = [
            tool.name
            for tool in deployment.tools_and_events
            for effect in tool.effects
            if any(binder.sort in sorts for binder in effect.fresh)
        ]
        written = f", written by {' and '.join(dict.fromkeys(makers))}" if makers else ""
        parts.append(
            f"keep a relation in which no two values of sort {listed} have the same place, such as the order"
            f" of arrival{written}, and show it"
        )
    return "; or ".join(parts)


# the choices


def _kept(
    deployment: Deployment, specs: Sequence[Spec], result: Verification, choosing: bool
) -> Iterator[tuple[str, str]]:
    """Yield the specifications whose verdict no choice changes, with the reason."""
    fewer = any(action.kind == "tool" for action in deployment.fair_actions)  # a choice may violate it
    fewer = fewer or bool(deployment.fair)  # a choice may hide more states, and runs into them count
    tied = Choosers(tied=frozenset(name for name, one in result.moves.wrappers.items() if one is not None))
    for spec in specs:
        holds = result[spec.name].holds
        if not choosing:
            yield spec.name, "there is no choice among records alike"
        elif holds is None:
            yield spec.name, "it is unknown"
        elif not fewer and quantifies(spec.formula, "A" if holds else "E"):
            runs = "all runs, and a choice only takes runs away" if holds else "a run, and a choice adds none"
            yield spec.name, f"it {'holds of' if holds else 'asks for'} {runs}"
        elif not deployment.fair_actions and result.engine.whatever_chosen(spec.formula, tied, holds=holds):
            yield spec.name, f"it {'holds' if holds else 'fails'} whatever is chosen, each time anew"
