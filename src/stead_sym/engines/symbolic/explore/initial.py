"""The set of initial states as a diagram over the state bits.

With representatives one D0 of each isomorphism class is enough: for ι an isomorphism that fixes C, (D0, ∅)
and (ι(D0), ∅) are equivalent, and equivalent pairs satisfy the same sentences (`encode.representatives`). One
decision: the values outside C in a D0 are among the first b_S names of their sort. They need not be the very
first ones, since a diagram would have to encode which names are used. Each class has such a member, since D0
holds at most b_S values outside C. Each member is a D0: its condition is first-order with constants in C, so
it is closed under isomorphism.
"""

from __future__ import annotations

from collections.abc import Iterator

from stead_sym.deployment.history import begun
from stead_sym.deployment.initial import no_initial_state
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.engines.symbolic.plan.planner import Plan
from stead_sym.engines.symbolic.step.history import Histories


def initial_set(plan: Plan) -> Bdd:
    """Return { D0 }, or all D0 that `initially any` admits (`deployment.initial`), over the state bits.

    Raise `NoInitialState` if there is none.
    """
    m, encoding, deployment = plan.encoding.manager, plan.encoding, plan.deployment
    if deployment.initially is None:
        return m.cube(encoding.encode(begun(deployment, deployment.init)))
    result = m.true
    for condition in _conditions(plan):
        result = result & condition
    if result == m.false:
        raise no_initial_state(deployment)
    return result


def _conditions(plan: Plan) -> Iterator[Bdd]:
    """Yield the conditions on each D0.

    The bounds are in the care set, or the number of names enforces them (see the module).
    """
    encoding, deployment = plan.encoding, plan.deployment
    assert deployment.initially is not None
    yield from _given(plan)
    yield encoding.care
    yield from map(encoding.well_coded, encoding.fields)
    yield ~encoding.doubled_keys
    yield ~encoding.dangling
    for sort, bound in deployment.bounds.items():
        outside = deployment.outside(sort, encoding.values[sort])
        known = deployment.outside(sort, plan.restriction.values[sort])
        names = known if plan.naming.literal else known[:bound]
        for value in outside:
            if value not in names:
                yield ~encoding.active(sort, value)
    yield plan.compiler.formula(deployment.initially.where, {})
    yield Histories(deployment, plan.compiler).initial


def _given(plan: Plan) -> Iterator[Bdd]:
    """Yield the conditions that the facts of `init` hold, and no others of relations that are not listed."""
    deployment, encoding = plan.deployment, plan.encoding
    assert deployment.initially is not None
    for relation in (each.name for each in deployment.schema.relations):
        for fact in encoding.dynamic_facts[relation]:
            if fact in deployment.init:
                yield encoding.atom(fact)
            elif relation not in deployment.initially.relations:
                yield ~encoding.atom(fact)
