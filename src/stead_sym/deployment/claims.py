"""The claims of a deployment about its reachable states, as sentences.

They are the bounds, the keys, the references, and that there is always a step.

One decision: a claim is a first-order sentence with AG before it, so that a run that breaks it is evidence
like any other. AG ranges over all runs, fair or not, since a claim is about every reachable state. For a tool
with an `ensure` there is no claim that its calls have a successor: first-order logic cannot express that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.terminal import called, over
from stead_sym.deployment.tool import Choose, Effect, Statement, Tool
from stead_sym.errors import Span
from stead_sym.logic.evaluate import holds
from stead_sym.logic.folding import conjoin
from stead_sym.logic.substitution import fresh_name, substitute
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Reference, Relation, Value

ALWAYS_A_STEP = "a step is possible"
"""The name of the claim that every reachable state offers a call or enables an event."""


@dataclass(frozen=True)
class Claim:
    """A claim by its ``name``, with its place in the file."""

    name: str
    written: Callable[[], fo.Formula] = field(compare=False, repr=False)
    span: Span | None = field(default=None, compare=False)

    @cached_property
    def invariant(self) -> fo.Formula:
        """Return the first-order sentence that every reachable state has to satisfy."""
        return self.written()

    @property
    def formula(self) -> fo.Globally:
        """Return AG of the invariant."""
        return fo.Globally("A", self.invariant)

    def broken(self, state: Instance) -> bool:
        """Return whether D ⊭ the invariant."""
        return not holds(self.invariant, state)


def claims(deployment: Deployment) -> Iterator[Claim]:
    """Yield all claims of a deployment.

    They are `bound S b` for every unbounded sort except those of `bound S any`, with 0 if there is no line;
    `range of P` for every relation into which an effect writes a sum; `key of P` for every relation with a
    key; `P.c references Q` and `Q total P` for the references of the schema; `a step is possible`; and
    `T has an effect` for every tool and event whose effects are statements.
    """
    for sort, bound in deployment.bounds.items():
        if sort in deployment.unbounded:
            continue
        keeps = partial(active_outside, deployment, sort, "atmost", bound)
        yield Claim(f"bound {sort} {bound}", keeps, deployment.bound_spans.get(sort))
    for name in sorted(written_integers(deployment)):
        relation = deployment.schema.relation(name)
        yield Claim(f"range of {name}", partial(_range, deployment, relation), relation.span)
    for relation in deployment.schema.relations:
        if relation.keys:
            key = partial(determined, deployment, relation, relation.keys)
            yield Claim(f"key of {relation.name}", key, relation.span)
    for reference in deployment.schema.references:
        yield Claim(reference.name, partial(_refers, deployment, reference), reference.span)
    yield Claim(ALWAYS_A_STEP, partial(_possible, deployment))
    for tool in deployment.tools_and_events:
        if not tool.has_ensure:
            yield Claim(f"{tool.name} has an effect", partial(_effective, deployment, tool), tool.span)


def claim_named(deployment: Deployment, name: str) -> Claim | None:
    """Return the claim of that name; None if there is none."""
    return next((claim for claim in claims(deployment) if claim.name == name), None)


def active_outside(deployment: Deployment, sort: str, comparison: fo.Comparison, number: int) -> fo.Count:
    """Return the sentence that this number of values of the sort outside C are active."""
    return counted_outside(deployment, sort, comparison, number, lambda variable: fo.TRUE)


def counted_outside(
    deployment: Deployment,
    sort: str,
    comparison: fo.Comparison,
    number: int,
    condition: Callable[[fo.Var], fo.Formula],
) -> fo.Count:
    """Return the sentence that this number of active values of the sort outside C satisfy a condition."""
    variable = fo.Var(fresh_name("x", deployment.sort_of_constant))
    constants = (fo.Not(fo.Equal(variable, fo.Const(value))) for value in deployment.constants[sort])
    body = fo.conjunction(tuple(part for part in (condition(variable), *constants) if part != fo.TRUE))
    return fo.Count(comparison, number, fo.Binder(variable.name, sort), body)


def written_integers(deployment: Deployment) -> frozenset[str]:
    """Return the relations into which some effect inserts a sum or a tally.

    Such a value may be none of the column.
    """
    return frozenset().union(*(e.computed for t in deployment.tools_and_events for e in t.effects))


def _range(deployment: Deployment, relation: Relation) -> fo.Formula:
    """Return ∀x. P(x) → ⋀ over the columns of sorts of integers of ∃y ∈ s. y = xᵢ.

    It is about the state that an effect would lead to, which may be no instance of the schema.
    """
    names = [fresh_name(f"x{column + 1}", deployment.sort_of_constant) for column in range(relation.arity)]
    inside = tuple(
        fo.Exists(fo.Binder(f"y_{name}", sort, declared=True), fo.Equal(fo.Var(f"y_{name}"), fo.Var(name)))
        for name, sort in zip(names, relation.sorts, strict=True)
        if deployment.schema.sort(sort).is_numeric
    )
    binders = map(fo.Binder, names, relation.sorts)
    return fo.quantify(fo.Forall, binders, fo.Implies(_atom(relation, names), fo.conjunction(inside)))


def determined(deployment: Deployment, relation: Relation, columns: Collection[int]) -> fo.Formula:
    """Return ∀ x, y, y'. P(x, y) ∧ P(x, y') → y = y', with x in these columns: they determine the others.

    No columns do if there is at most one tuple.
    """
    taken = set(deployment.sort_of_constant)
    others: list[str] = []
    right: list[str] = []
    for column in range(relation.arity):
        others.append(fresh_name(f"x{column + 1}", taken))
        right.append(others[-1] if column in columns else fresh_name(f"y{column + 1}", taken))
    both = fo.And((_atom(relation, others), _atom(relation, right)))
    equal = fo.conjunction(
        tuple(fo.Equal(fo.Var(x), fo.Var(y)) for x, y in zip(others, right, strict=True) if x != y)
    )
    sorts = dict(zip((*others, *right), (*relation.sorts, *relation.sorts), strict=True))
    return fo.quantify(fo.Forall, map(fo.Binder, sorts, sorts.values()), fo.Implies(both, equal))


def _refers(deployment: Deployment, reference: Reference) -> fo.Formula:
    """Return ∀ x. P(x) → ∃ y. Q(y), such that the two agree on the columns of the reference."""
    taken = set(deployment.sort_of_constant)
    source, target = map(deployment.schema.relation, (reference.relation, reference.target))
    left = [fresh_name(f"x{column + 1}", taken) for column in range(source.arity)]
    right = [fresh_name(f"y{column + 1}", taken) for column in range(target.arity)]
    right[reference.into] = left[reference.column]
    others = [fo.Binder(right[k], target.sorts[k]) for k in range(target.arity) if k != reference.into]
    there = fo.quantify(fo.Exists, others, _atom(target, right))
    return fo.quantify(fo.Forall, map(fo.Binder, left, source.sorts), fo.Implies(_atom(source, left), there))


def _atom(relation: Relation, names: Sequence[str]) -> fo.Atom:
    return fo.Atom(relation.name, tuple(map(fo.Var, names)))


def _possible(deployment: Deployment) -> fo.Formula:
    """Return ⋁ over the tools and events ω of ∃ u. guard_ω(u)."""
    return fo.disjunction(tuple(called(tool, deployment.schema) for tool in deployment.tools_and_events))


def can_take(
    deployment: Deployment, tool: Tool, constants: Mapping[str, Sequence[Value]] | None = None
) -> fo.Formula:
    """⋁ over the alternatives of "it is enabled and its statements find their values", of the parameters.

    A statement finds active values and ``constants``, by sort; by default these are all of C. With fewer the
    formula may be true of less.
    """
    return fo.disjunction(tuple(can_take_effect(deployment, effect, constants) for effect in tool.effects))


def _effective(deployment: Deployment, tool: Tool) -> fo.Formula:
    """Return ∀ u. guard_ω(u) → ⋁ over the alternatives: it is enabled, and its statements find values."""
    return over(fo.Forall, tool, fo.Implies(tool.guard, can_take(deployment, tool)), deployment.schema)


def can_take_effect(
    deployment: Deployment, effect: Effect, constants: Mapping[str, Sequence[Value]] | None = None
) -> fo.Formula:
    """Return "the alternative is enabled and its statements find their values" (`can_take`)."""
    known = deployment.constants if constants is None else constants
    return conjoin(effect.when, _feasible(deployment, effect.statements, known))


def _feasible(
    deployment: Deployment, statements: Sequence[Statement], known: Mapping[str, Sequence[Value]]
) -> fo.Formula:
    """Return that every `choose` finds a value in ad(D) or C; the other statements always find theirs."""
    for number, statement in enumerate(statements):
        if isinstance(statement, Choose):
            sort, name = statement.binder.sort, statement.binder.name
            body = conjoin(statement.where, _feasible(deployment, statements[number + 1 :], known))
            if deployment.schema.is_finite(sort):
                return fo.Exists(fo.Binder(name, sort, declared=True), body)
            named = (substitute(body, {name: fo.Const(value)}) for value in known[sort])
            return fo.disjunction((fo.Exists(fo.Binder(name, sort), body), *named))
    return fo.TRUE
