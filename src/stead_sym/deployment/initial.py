"""Compute the initial states: D0 itself, or every D0 that `initially any` lines admit.

One decision: the initial states are the models of one proposition, like the successors of an `ensure`
(`deployment.ensure`). Each possible fact is a propositional variable; the proposition is the condition of the
lines, with a threshold for each bound and for each key, and the references.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.ensure import (
    Grounding,
    Proposition,
    at_least,
    conjunction,
    disjunction,
    models,
    negation,
)
from stead_sym.deployment.history import begun
from stead_sym.deployment.semantics import breaks_claim
from stead_sym.errors import NoInitialState
from stead_sym.logic.evaluate import holds
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value


def initial_states(
    deployment: Deployment, domain: Mapping[str, Sequence[Value]], most: int | None = None
) -> tuple[Instance, ...]:
    """Return every D0 over ``domain``, or ``most`` of them.

    D0 is `init`, with perhaps more facts of the relations of `initially any`, and D0 ⊨ f. It has at most b_S
    active values outside C, no two facts with one key, and no value that is not where a reference claims it
    to be. Raises `NoInitialState` if there is none.
    """
    if deployment.initially is None:
        return (begun(deployment, deployment.init),)
    ground = Grounding(Instance(deployment.schema, frozenset()), domain)
    facts = {atom: fact for fact, atom in ground.number.items()}
    admitted = conjunction(
        *_given(deployment, ground),
        *_within_bounds(deployment, ground),
        *_by_keys(deployment, ground),
        *_by_references(deployment, ground),
        ground(_of_successor(deployment.initially.where), {}),
    )
    states = tuple(
        begun(deployment, Instance(deployment.schema, frozenset(facts[atom] for atom in model)))
        for model in islice(models(admitted, tuple(facts)), most)
    )
    if not states:
        raise no_initial_state(deployment)
    return states


def is_initial(deployment: Deployment, state: Instance) -> bool:
    """Return whether D is an initial state: `init`, or what `initially any` admits."""
    any_of, given = deployment.initially, deployment.init.facts
    if state != begun(deployment, state.database):
        return False
    state = state.database
    if any_of is None:
        return state.facts == given
    others = {fact.relation for fact in state.facts - given}
    return (
        given <= state.facts
        and others.issubset(any_of.relations)
        and not breaks_claim(deployment, state)
        and holds(any_of.where, state, {})
    )


def no_initial_state(deployment: Deployment) -> NoInitialState:
    """Return the error that the lines admit no D0."""
    assert deployment.initially is not None
    return NoInitialState(
        "no database satisfies `initially any … where …` together with the bounds, the keys and the"
        " references, so that every specification would hold of nothing; weaken the condition, or raise a"
        " bound",
        deployment.initially.span,
    )


def _given(deployment: Deployment, ground: Grounding) -> Iterator[Proposition]:
    """Yield literals: the facts of `init` are true, and others of relations that are not listed false."""
    assert deployment.initially is not None
    for fact, atom in ground.number.items():
        if fact in deployment.init:
            yield atom
        elif fact.relation not in deployment.initially.relations:
            yield -atom


def _within_bounds(deployment: Deployment, ground: Grounding) -> Iterator[Proposition]:
    for sort, bound in deployment.bounds.items():
        if sort in deployment.unbounded:
            continue
        active = [
            disjunction(*ground.containing.get((sort, value), ()))
            for value in deployment.outside(sort, ground.domain[sort])
        ]
        yield negation(at_least(bound + 1, active))


def _by_keys(deployment: Deployment, ground: Grounding) -> Iterator[Proposition]:
    groups: dict[tuple[str, tuple[Value, ...]], list[Proposition]] = {}
    for fact, atom in ground.number.items():
        relation = deployment.schema.relation(fact.relation)
        if relation.keys:
            groups.setdefault((fact.relation, relation.key(fact.args)), []).append(atom)
    yield from (negation(at_least(2, group)) for group in groups.values())


def _by_references(deployment: Deployment, ground: Grounding) -> Iterator[Proposition]:
    for reference in deployment.schema.references:
        there: dict[Value, list[Proposition]] = {}
        for fact, atom in ground.number.items():
            if fact.relation == reference.target:
                there.setdefault(fact.args[reference.into], []).append(atom)
        for fact, atom in ground.number.items():
            if fact.relation == reference.relation:
                yield disjunction(-atom, *there.get(fact.args[reference.column], ()))


def _of_successor(formula: fo.Expanded) -> fo.Formula:
    """Return the same formula about D', for an empty D."""
    if isinstance(formula, fo.Atom):
        return replace(formula, primed=True)
    return fo.map_children(_of_successor, formula)
