"""Plan the symbolic representation of a deployment: names, facts with bits, fields, compiled tools.

One decision: a plan is a function of a task and a guess (`plan.guess`). If the plan shows that a part of the
guess is wrong, that part is dropped and the plan is made again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.restriction import Restriction
from stead_sym.engines.symbolic.bdd.manager import Backend, Manager
from stead_sym.engines.symbolic.encode.encoding import Encoding, Field
from stead_sym.engines.symbolic.encode.mutex import fields
from stead_sym.engines.symbolic.encode.representatives import Naming
from stead_sym.engines.symbolic.encode.values import FAIR, HELD, PARAM
from stead_sym.engines.symbolic.encode.variable_order import arranged, interleaved
from stead_sym.engines.symbolic.plan.anchored_names import AnchoredNames, FreshVariables
from stead_sym.engines.symbolic.plan.followers import strengthened
from stead_sym.engines.symbolic.plan.guess import Broken, Guess, confirm
from stead_sym.engines.symbolic.plan.relaxation import Relaxation
from stead_sym.engines.symbolic.step.effects import CompiledTool, EffectCompiler
from stead_sym.engines.symbolic.step.formulas import Compiler
from stead_sym.engines.symbolic.step.updates import Writer
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Value
from stead_sym.support.progress import Pulse


@dataclass(frozen=True)
class Plan:
    """A ``task`` ready for exploration.

    ``deployment`` is the task's; ``restriction`` is the task's extended by names. The keys and single
    relations of the ``guess`` are proved; only the exploration can find out if names that go with anchors are
    ever taken.
    """

    task: Task
    deployment: Deployment
    restriction: Restriction
    guess: Guess
    naming: Naming
    encoding: Encoding
    compiler: Compiler
    tools: Mapping[str, CompiledTool]


@dataclass(frozen=True, slots=True)
class Task:
    """The input of planning: a deployment (definitions expanded) over a restriction.

    ``literal``: fresh values are any unused ones of U_f; otherwise representatives.
    """

    deployment: Deployment
    restriction: Restriction
    literal: bool
    backend: Backend | None = None


def plan(task: Task, guess: Guess, report: Pulse) -> Plan:
    """Return the plan under the guess, without the assumptions that the plan itself refutes.

    ``report`` gets the phase "plan": the rounds of relaxed reachability, then the tool that is being
    compiled, with the number of its actions so far.
    """
    while isinstance(made := attempt(task, guess, report), Broken):
        guess = guess.without(made)
    return made


def attempt(task: Task, guess: Guess, report: Pulse) -> Plan | Broken:
    """Return the plan that the guess gives, or the violated parts of the guess."""
    deployment = strengthened(task.deployment)
    ground = _grounded(replace(task, deployment=deployment), guess, report)
    if isinstance(ground, Broken):
        return ground
    told = {relation.name for relation in deployment.schema.history}
    every = (
        *fields(deployment, ground.dynamic, guess.keys),
        *(Field.of([fact]) for fact in ground.dynamic if fact.relation in told),
    )
    order = arranged(every, ground.static, deployment)
    encoding = Encoding(
        Manager(task.backend),
        deployment.schema,
        ground.values,
        ground.static,
        order.fields,
        mortal=frozenset() if task.literal else _mortal(deployment, ground.restriction),
        beside=order.beside,
        at_most=_at_most(deployment, ground.values) if task.literal else (),
        foreseen=_foreseen(deployment),
        interleaved=interleaved(order.fields, deployment),
    )
    compiler = Compiler(encoding, single=guess.singles)
    writer = Writer(compiler)
    effects = EffectCompiler(deployment, ground.restriction, compiler, ground.naming, writer)
    tools = {
        tool.name: effects.tool(
            tool, partial(report, "plan", tools=number, of=len(deployment.tools_and_events))
        )
        for number, tool in enumerate(deployment.tools_and_events, 1)
    }
    broken = confirm(tools.values())
    return broken or Plan(
        task, task.deployment, ground.restriction, guess, ground.naming, encoding, compiler, tools
    )


def _at_most(
    deployment: Deployment, values: Mapping[str, Sequence[Value]]
) -> Sequence[tuple[int, Sequence[Value]]]:
    """Return the bounds, for the care set of the encoding (`Encoding.care`).

    It is useful on the literal domain only, which has many more values than can be active at once; the number
    of representatives hardly exceeds the bounds.
    """
    return [(b, deployment.outside(s, values[s])) for s, b in deployment.bounds.items()]


def _mortal(deployment: Deployment, restriction: Restriction) -> Set[str]:
    """Return the sorts with values that can leave the state: those that are no constants."""
    constants = deployment.constants
    return frozenset(s for s, values in restriction.values.items() if len(values) > len(constants[s]))


@dataclass(frozen=True, slots=True)
class _Ground:
    """The names of fresh values, and the facts that can hold.

    ``values`` are those of the restriction and of `_beyond`.
    """

    restriction: Restriction
    values: Mapping[str, tuple[Value, ...]]
    naming: Naming
    static: frozenset[Fact]
    dynamic: tuple[Fact, ...]


def _grounded(task: Task, guess: Guess, report: Pulse) -> _Ground | Broken:
    """Compute relaxed reachability, which also gives the values of the anchors and so the names."""
    deployment, restriction = task.deployment, task.restriction
    variables = FreshVariables(deployment, restriction, guess.anchored)
    beyond = _beyond(task)
    values = {sort: (*known, *beyond[sort]) for sort, known in variables.pool().items()}
    # a fresh value that no fact ever holds needs no room in U_f
    lacking = {sort: 1 for sort, known in values.items() if not deployment.outside(sort, known)}
    encoding = Encoding(Manager(task.backend), deployment.schema, values, beyond=lacking)
    names = AnchoredNames(variables, encoding)
    ensured = {sort: (*known, *beyond[sort]) for sort, known in restriction.values.items()}
    report_plan = partial(report, "plan")
    starting = _starting(task)
    facts = Relaxation(deployment, encoding, names, ensured, guess.singles, report_plan, starting)
    if broken := names.broken:
        return broken
    naming = Naming(task.literal, guess.anchored, names.names)
    used = restriction.extended(names.used)
    values = {sort: (*known, *beyond[sort]) for sort, known in used.values.items()}
    return _Ground(used, values, naming, facts.static, facts.dynamic)


def _starting(task: Task) -> Mapping[str, Sequence[Value]]:
    """Return the possible values in a D0 of `initially any` (`explore.initial`).

    These are all of U_f, or the first b_S of the names for values outside C.
    """
    deployment, values = task.deployment, task.restriction.values
    if task.literal:
        return values
    constants, bounds = deployment.constants, deployment.bounds
    return {sort: known[: len(constants[sort]) + bounds.get(sort, 0)] for sort, known in values.items()}


def _beyond(task: Task) -> Mapping[str, tuple[Value, ...]]:
    """Return per sort a value outside U_f if an `ensure` is read over the literal domain.

    This is as in `deployment.semantics`, so that a step beyond a bound is visible. Representatives have room
    for it.
    """
    number = 1 if task.literal and task.deployment.has_ensure else 0
    return {sort: task.restriction.beyond(sort, number) for sort in task.restriction.values}


def _foreseen(deployment: Deployment) -> Mapping[tuple[str, str], int]:
    """Return the number of one-hot vectors of each role and sort, to declare them with the state bits.

    Inserting a variable among the others takes time linear in their number. A missing vector is nevertheless
    inserted on demand (`encode.values`).

    They are for the parameters of a tool, the columns of a relation in an agent's view, and the variables of
    a specification that are in scope at once.
    """
    params = [Counter(binder.sort for binder in tool.params) for tool in deployment.tools_and_events]
    columns = [Counter(relation.sorts) for relation in deployment.schema.relations]
    fair = [
        Counter(binder.sort for binder in deployment.tool(str(action.name)).params)
        for action in deployment.fair_actions
        if action.kind != "agent"
    ]
    held = [_in_scope(spec.formula) for spec in deployment.specs]
    return {
        (role, sort): number
        for role, numbers in ((PARAM, params + columns), (FAIR, fair), (HELD, held))
        for sort, number in _most(numbers).items()
    }


def _in_scope(formula: fo.Formula) -> Counter[str]:
    """Return the largest numbers of variables of each sort that a formula binds one within the other."""
    below = _most(map(_in_scope, fo.children(formula)))
    return below + Counter([formula.binder.sort]) if isinstance(formula, fo.Quantified) else below


def _most(numbers: Iterable[Counter[str]]) -> Counter[str]:
    most = Counter[str]()
    for each in numbers:
        most |= each
    return most
