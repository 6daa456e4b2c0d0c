"""Explain a plan before exploration: domains, facts, bits, names, actions.

One decision: the figures are those of the plan that `verify` would start with, not estimates. All of its
assumptions are checked except one: the exploration may find that the name of a fresh value is taken, and then
restarts with another plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

from stead_sym.deployment.deployment import Deployment, Question, as_deployment
from stead_sym.deployment.restriction import Restriction, normal_restriction, theorem_restriction
from stead_sym.engines.symbolic.bdd.manager import Backend, at_work
from stead_sym.engines.symbolic.encode.encoding import Field
from stead_sym.engines.symbolic.encode.representatives import Naming
from stead_sym.engines.symbolic.plan.guess import first_guess
from stead_sym.engines.symbolic.plan.planner import Plan, Task, plan
from stead_sym.engines.symbolic.step.effects import CompiledTool
from stead_sym.logic.names import check_known
from stead_sym.relational.schema import Relation, Value
from stead_sym.support.progress import Pulse

Domain: TypeAlias = Literal["normal", "theorem"]


@dataclass(frozen=True, slots=True)
class ExplainedRelation:
    """The facts of one relation.

    ``possible`` facts change, ``static`` ones hold in every state, all others in none. ``fields`` groups of
    the possible ones are coded in ``bits`` bits together. ``key``: the columns (from 0) such that a field has
    all facts that agree on them, at most one of which holds; None if every fact has a bit of its own.
    ``single``: no state holds two facts of the relation.
    """

    name: str
    sorts: tuple[str, ...]
    possible: int
    static: int
    fields: int
    bits: int
    key: tuple[int, ...] | None
    single: bool


@dataclass(frozen=True, slots=True)
class ExplainedFresh:
    """One `fresh` statement: its variable, sort, and the choice of its value.

    With ``anchor`` the value is named after the value of that variable, as given by ``names``. Otherwise it
    is the least name that is not active, or any such name on the literal domain.
    """

    tool: str
    alternative: int
    variable: str
    sort: str
    anchor: str | None
    names: Mapping[Value, Value]


@dataclass(frozen=True, slots=True)
class ExplainedTool:
    """A tool with the numbers of its alternatives and of their actions.

    An action is an alternative with values for all variables that determine where it writes.
    """

    name: str
    alternatives: int
    actions: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """The plan of the symbolic engine for a deployment."""

    deployment: Deployment
    mode: Domain
    restriction: Restriction
    relations: tuple[ExplainedRelation, ...]
    fresh: tuple[ExplainedFresh, ...]
    tools: tuple[ExplainedTool, ...]

    @property
    def bits(self) -> int:
        """The number of state bits."""
        return sum(relation.bits for relation in self.relations)

    @property
    def actions(self) -> int:
        """The number of actions in the transition relation if every tool can be called."""
        return sum(tool.actions for tool in self.tools)


@at_work()
def explain(
    deployment: Deployment,
    specs: Question | Iterable[Question] | None = None,
    *,
    domain: Domain | Mapping[str, int] | None = None,
    backend: Backend | None = None,
) -> Explanation:
    """Return the plan that `verify` with the same arguments would explore.

    The specifications (by default all), and formulas among them, determine the sizes of the literal domain,
    and what states record of the past.

    Raise `DeclarationError` for an unknown specification, `RestrictionError` for sizes that the theorem does
    not allow.
    """
    as_deployment(deployment)
    if domain is not None and not isinstance(domain, Mapping):
        check_known("domain", domain, get_args(Domain))
    if backend is not None:
        check_known("backend", backend, get_args(Backend))
    literal = domain not in (None, "normal")
    deployment, chosen = deployment.asked(specs)
    deployment = deployment.following(chosen, {})
    sizes = domain if isinstance(domain, Mapping) else {}
    restriction = (
        theorem_restriction(deployment, chosen, sizes) if literal else normal_restriction(deployment)
    )
    task = Task(deployment, restriction, literal, backend)
    planned = plan(task, first_guess(deployment, literal), Pulse())
    return Explanation(
        deployment=deployment,
        mode="theorem" if literal else "normal",
        restriction=planned.restriction,
        relations=tuple(
            _relation(planned, relation, relation.name in planned.guess.singles)
            for relation in (*deployment.schema.relations, *deployment.schema.history)
        ),
        fresh=tuple(_fresh(deployment, planned.naming)),
        tools=tuple(_tool(tool) for tool in planned.tools.values()),
    )


def _relation(planned: Plan, relation: Relation, single: bool) -> ExplainedRelation:
    own = [field for field in planned.encoding.fields if field.facts[0].relation == relation.name]
    return ExplainedRelation(
        name=relation.name,
        sorts=tuple(map(str, relation.sorts)),
        possible=sum(len(field.facts) for field in own),
        static=len(planned.encoding.static_facts[relation.name]),
        fields=len(own),
        bits=sum(len(field.bits) for field in own),
        key=_key(own),
        single=single,
    )


def _key(fields: Iterable[Field]) -> tuple[int, ...] | None:
    """Return the columns on which the facts of each field agree; None if no field has several facts."""
    several = [field.facts for field in fields if len(field.facts) > 1]
    if not several:
        return None
    columns = range(len(several[0][0].args))
    return tuple(k for k in columns if all(len({fact.args[k] for fact in facts}) == 1 for facts in several))


def _fresh(deployment: Deployment, naming: Naming) -> Iterable[ExplainedFresh]:
    for tool in deployment.tools_and_events:
        for number, effect in enumerate(tool.effects):
            for binder in effect.fresh:
                draw = ((tool.name, number), binder.name)
                anchor = naming.anchors.get(draw)
                yield ExplainedFresh(
                    tool=tool.name,
                    alternative=number,
                    variable=binder.name,
                    sort=binder.sort,
                    anchor=None if anchor is None else anchor.name,
                    names=MappingProxyType(dict(naming.names.get(draw, {}))),
                )


def _tool(compiled: CompiledTool) -> ExplainedTool:
    tool = compiled.interface.tool
    return ExplainedTool(tool.name, len(tool.effects), compiled.actions)
