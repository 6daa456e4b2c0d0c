"""Decide whether an `ensure` can lead past a bound: over how many names, and by a search from a state.

An `ensure` f leads from D to every D' with D ⊕ D' ⊨ f, and D' may have any number of values. Call a value new
if it is neither in ad(D) nor in C.

Theorem. Let f need k_s values of each sort s (`deployment.witnesses`), and let some D' with D ⊕ D' ⊨ f have
more than b_S active values of the sort S outside C. Then so has some D'' with D ⊕ D'' ⊨ f and D'' ⊆ D' that
has at most N_T = Σ_s h_s · m(s, T) new values of each sort T, where

    h_S = max(k_S, b_S + 1 + min(k_S, |C_S|)),   h_s = min(k_s, |U_s|) for finite s,   h_s = k_s for others;
    m(s, T) = the most columns of sort T, of those that can hold a new value, in a relation with a column s.

Proof. Choose witnesses in D' for the existential quantifiers of f. Of sort S, w of them are new and c are
constants, w + c ≤ k_S; a new one is active in D' and outside C, so that max(0, b_S + 1 − w) further values
make b_S + 1 active ones outside C. For each of these values, and each witness that is not in ad(D), keep one
fact of D' that holds it: at most max(w, b_S + 1) + c ≤ h_S facts for the sort S, h_s for another. Let K be
ad(D), C and the values of these facts, and D'' the facts of D' over K. The new values in K are in columns
that can hold one, in one of the facts: at most N_T. D'' is the substructure of D' that K induces, its active
values are active in D', and the witnesses are active in D ⊕ D''. So what is quantified universally stays
true, what is quantified existentially has its witness, and an expanded quantifier says in D'' of each of its
values what it says in D' (`deployment.witnesses`). D'' has b_S + 1 active values of S outside C. ∎

Likewise some D' exists at all only if one with as few new values does, without b_S + 1 in h_S: a call has an
effect, or has none, by the same names. Where the shape of f bounds the new values of D' by n_T
(`deployment.brought_in`), N_T is at most n_T, and where it does for every T nothing is asked of the form of
f: D'' = D'. Two facts with one key in a D' within the bounds show in the domain of the bounds; in one past
them the bound is broken.

Names for b_S + 1 new values of each sort are there in every domain (`deployment.semantics.outcomes`). Where
N_T ≤ b_T + 1 for all T there is nothing more to ask; otherwise the engines ask over N_T names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from types import MappingProxyType
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.deployment.brought_in import Sources, columns_bounded
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.ensure import (
    YES,
    Grounding,
    Proposition,
    assign,
    at_least,
    conjunction,
    disjunction,
    models,
    negation,
)
from stead_sym.deployment.restriction import Restriction, around
from stead_sym.deployment.semantics import given, postcondition, takes
from stead_sym.deployment.tool import Call, Effect, Tool
from stead_sym.deployment.witnesses import Needs, OutsideForm, Witnesses
from stead_sym.logic.kernel import written
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value

MOST_FACTS = 5_000
"""A D' over the names that decide the question may have at most this many facts."""

MOST_BRANCHES = 100_000
"""The search from one state has at most this many branches."""

_INSTEAD = (
    "write the effect as `insert` and `delete` statements, or say how much it brings in, as"
    " `forall x. P'(x) -> P(x) | x = c` or `atmost 2 x. P'(x)` do"
)


@dataclass(frozen=True, slots=True)
class Asked:
    """The question whether an alternative leads past a bound.

    It is decided over this number of new ``names`` of each unbounded sort, none if the domain of the bounds
    decides it. If it cannot be decided, ``open`` says why, with the remedy.
    """

    names: Mapping[str, int]
    open: str = ""


Questions: TypeAlias = Mapping[tuple[str, int], Asked]
"""The questions by tool and number of the alternative, except those that the domain of the bounds decides."""


def questions(deployment: Deployment) -> Questions:
    """Return the questions about all tools and events of a deployment."""
    by_alternative: dict[tuple[str, int], Asked] = {}
    if deployment.bounds:
        for tool in deployment.tools_and_events:
            for number, effect in enumerate(tool.effects):
                if effect.is_ensure and (about := asked(deployment, tool, effect)) != Asked({}):
                    by_alternative[tool.name, number] = about
    return MappingProxyType(by_alternative)


def asked(deployment: Deployment, tool: Tool, effect: Effect) -> Asked:
    """Return the question about one `ensure` alternative of a tool."""
    formula, bounds = postcondition(effect), deployment.bounds
    old = frozenset(p.name for p in tool.params if not deployment.schema.is_finite(p.sort))
    columns = columns_bounded(formula, old, deployment.schema)
    limits = {sort: _bounded(deployment, sort, columns) for sort in bounds}
    if all(most is not None and most <= bounds[sort] + 1 for sort, most in limits.items()):
        return Asked({})
    try:
        names = _sufficient(deployment, Witnesses(deployment).needs(formula, old), columns)
    except OutsideForm as error:
        if None in limits.values():
            return Asked({}, _outside(written(error.formula, formula)))
        names = dict.fromkeys(bounds, 0)
    else:
        limits = {
            sort: names[sort] if most is None else min(most, names[sort]) for sort, most in limits.items()
        }
    names = {sort: most for sort, most in limits.items() if most is not None}
    if all(number <= bounds[sort] + 1 for sort, number in names.items()):
        return Asked({})
    number = _facts(deployment, names)
    if number > MOST_FACTS:
        sizes = ", ".join(f"{number:,} of {sort}" for sort, number in names.items())
        return Asked(
            {},
            f"it takes {sizes} as new values to find out, and so states of up to {number:,} facts, of which"
            f" {MOST_FACTS:,} are looked at; {_INSTEAD}",
        )
    return Asked(names)


def _bounded(deployment: Deployment, sort: str, columns: Mapping[tuple[str, int], Sources]) -> int | None:
    """Return n_S, the largest number of new values of the sort in D'; None if the shape does not bound it."""
    sources: dict[fo.Formula | str, int] = {}
    for relation in deployment.schema.relations:
        for place, own in enumerate(relation.sorts):
            if own == sort:
                if (relation.name, place) not in columns:
                    return None
                sources |= columns[relation.name, place]
    return sum(sources.values())


def _sufficient(
    deployment: Deployment, needs: Needs, columns: Mapping[tuple[str, int], Sources]
) -> dict[str, int]:
    """Return N_T for each unbounded sort T, the largest over the sorts S that may exceed their bound."""
    schema, bounds = deployment.schema, deployment.bounds

    def open_columns(relation: str, sort: str) -> int:
        sorts = schema.relation(relation).sorts
        return sum(own == sort and columns.get((relation, k)) != {} for k, own in enumerate(sorts))

    def most(kind: str, name: str, sort: str) -> int:
        holding = [r.name for r in schema.relations if name in r.sorts] if kind == "sort" else [name]
        return max((open_columns(relation, sort) for relation in holding), default=0)

    names = dict.fromkeys(bounds, 0)
    for exceeding, bound in bounds.items():
        kept = dict(needs)
        for kind, name in needs:
            values = schema.sort(name).values if kind == "sort" else None
            if values is not None:
                kept[kind, name] = min(needs[kind, name], len(values))
        key = "sort", exceeding
        k = kept.get(key, 0)
        kept[key] = max(k, bound + 1 + min(k, len(deployment.constants[exceeding])))
        for sort in bounds:
            total = sum(each * most(*key, sort) for key, each in kept.items())
            names[sort] = max(names[sort], total)
    return names


def _facts(deployment: Deployment, names: Mapping[str, int]) -> int:
    """Return the number of facts over ad(D), C and the names."""
    size = {
        sort: len(known) + deployment.bounds.get(sort, 0) + names.get(sort, 0)
        for sort, known in deployment.constants.items()
    }
    return sum(prod(size[sort] for sort in relation.sorts) for relation in deployment.schema.relations)


def _outside(formula: fo.Formula) -> str:
    return f"`{formula}` asks for further values for each value that is brought in; {_INSTEAD}"


# from one state


def past_a_bound(
    deployment: Deployment, about: Questions, call: Call, state: Instance, restriction: Restriction
) -> Instance | None:
    """Return some D' ∈ τ(D, a) that exceeds a bound, by an alternative with a question, or None.

    Raises `Undecided` if the search takes too long.
    """
    tool, sigma = deployment.tool(call.tool), given(deployment, call)
    for number, effect in enumerate(tool.effects):
        question = about.get((tool.name, number))
        if question is None or not question.names or not takes(tool, effect, state, sigma):
            continue
        near = around(deployment, restriction, state)
        new = {sort: near.beyond(sort, names) for sort, names in question.names.items()}
        domain = {sort: (*known, *new.get(sort, ())) for sort, known in near.values.items()}
        ground = Grounding(state, domain)
        facts = {atom: fact for fact, atom in ground.number.items()}
        wanted = conjunction(
            ground(postcondition(effect), sigma), _exceeding(deployment, ground), *_in_order(ground, new)
        )
        for model in models(wanted, tuple(facts), most=MOST_BRANCHES):
            return Instance(state.schema, frozenset(facts[atom] for atom in _smaller(wanted, model, facts)))
    return None


def left_open(
    deployment: Deployment, about: Questions, call: Call, state: Instance
) -> Iterator[tuple[str, int]]:
    """Yield the alternatives that a call may take in D and for which exceeding a bound is undecided."""
    tool, sigma = deployment.tool(call.tool), given(deployment, call)
    for number, effect in enumerate(tool.effects):
        key = tool.name, number
        if key in about and about[key].open and takes(tool, effect, state, sigma):
            yield key


def _smaller(wanted: Proposition, model: frozenset[int], atoms: Collection[int]) -> frozenset[int]:
    """Return a minimal model within the model: facts are left out while the proposition stays true."""
    for atom in sorted(model, reverse=True):
        if assign(wanted, {other: other != atom and other in model for other in atoms}) is YES:
            model = model - {atom}
    return model


def _exceeding(deployment: Deployment, ground: Grounding) -> Proposition:
    """Return that more than b_S values of some sort S outside C are active in D'."""
    return disjunction(
        *(
            at_least(
                bound + 1, [_active(ground, sort, u) for u in deployment.outside(sort, ground.domain[sort])]
            )
            for sort, bound in deployment.bounds.items()
        )
    )


def _in_order(ground: Grounding, new: Mapping[str, Sequence[Value]]) -> Iterator[Proposition]:
    """Yield that new names are taken in their order, since any renaming of them makes another such D'."""
    for sort, names in new.items():
        for first, second in pairwise(names):
            yield disjunction(_active(ground, sort, first), negation(_active(ground, sort, second)))


def _active(ground: Grounding, sort: str, value: Value) -> Proposition:
    """Return that the value is in some fact of D'."""
    return disjunction(*ground.containing.get((sort, value), ()))
