"""Candidate conditions that may separate the allowed calls of a tool from the denied ones.

They are first-order formulas over the tool's parameters, as text: the demands, read of the parameters; facts
about the parameters; and pairs of facts with a common value. One decision: policies and guards contribute
nothing, so that the result was not written down before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Assign, Delete, Insert, Tool
from stead_sym.logic.substitution import fresh_name, substitute
from stead_sym.relational.schema import Relation

_CLAUSES = 200  # readings of the demands that are tried at most
_FACTS = 200
_JOINS = 300
_VALUES = 8  # values of a finite sort that are tried for a parameter
_DROPPED = 3  # literals on relations that the tool writes; further ones are always kept


def conditions(
    deployment: Deployment, tool: Tool, demands: Sequence[fo.Expanded]
) -> Iterator[tuple[str, bool]]:
    """Yield each condition as text, with True if it comes from the demands; some may be equivalent."""
    scope = tool.scope
    for text in islice(_read_of(tool, scope, demands), _CLAUSES):
        yield text, True
    near = _near(deployment, tool, demands)
    for text in islice(_facts(near, scope), _FACTS):
        yield text, False
    for text in _comparisons(deployment, scope):
        yield text, False
    for text in islice(_joins(near, scope), _JOINS):
        yield text, False


# readings of the demands


@dataclass(frozen=True, slots=True)
class _Clause:
    """The clause ∀ binders. ⋀ left → ⋁ right."""

    binders: tuple[fo.Binder, ...]
    left: tuple[fo.Formula, ...]
    right: tuple[fo.Formula, ...]

    @classmethod
    def of(cls, formula: fo.Formula) -> _Clause:
        binders: list[fo.Binder] = []
        while isinstance(formula, fo.Forall):
            binders.append(formula.binder)
            formula = formula.body
        asked: tuple[fo.Formula, ...] = ()
        while isinstance(formula, fo.Implies):
            asked = (*asked, *fo.conjuncts(formula.left))
            formula = formula.right
        said = _disjuncts(formula)
        asked += tuple(part for one in said if isinstance(one, fo.Not) for part in fo.conjuncts(one.body))
        return cls(tuple(binders), asked, tuple(one for one in said if not isinstance(one, fo.Not)))

    def without(self, dropped: Iterable[fo.Formula]) -> _Clause:
        left_out = tuple(dropped)
        return _Clause(self.binders, tuple(part for part in self.left if part not in left_out), self.right)

    def of_parameters(self, images: Mapping[str, fo.Var]) -> fo.Formula | None:
        """Return the clause with parameters for some of its variables, or None if it is empty."""
        if not self.left and not self.right:
            return None
        said: fo.Formula = fo.disjunction(self.right)
        if self.left:
            left = fo.conjunction(self.left)
            said = fo.Implies(left, said) if self.right else fo.Not(left)
        for binder in reversed(self.binders):
            if binder.name not in images and binder.name in fo.free_variables(said):
                said = fo.Forall(binder, said)
        return substitute(said, images)


def _disjuncts(formula: fo.Formula) -> tuple[fo.Formula, ...]:
    return formula.parts if isinstance(formula, fo.Or) else (formula,)


def _read_of(tool: Tool, scope: Mapping[str, str], demands: Sequence[fo.Expanded]) -> Iterator[str]:
    """Yield the demands and their parts, with parameters for some of their variables.

    Each is also read without literals about relations that the tool writes, which its call may make true.
    """
    written = frozenset(_written(tool))
    for demand in demands:
        for said, sorts in _first_order(demand, {}):
            clause = _Clause.of(said)
            known = {**sorts, **{binder.name: binder.sort for binder in clause.binders}}
            own = [part for part in clause.left if _is_made_true(part, tool, written)][:_DROPPED]
            for images in _images(known, scope):
                if not (fo.free_variables(said) <= images.keys()):
                    continue
                for number in range(len(own) + 1):
                    for dropped in combinations(own, number):
                        read = clause.without(dropped).of_parameters(images)
                        if read is not None and fo.free_variables(read) <= scope.keys():
                            yield str(read)


def _is_made_true(formula: fo.Formula, tool: Tool, written: frozenset[str]) -> bool:
    """Return True if a call of the tool may make the formula true: it is about the call or what it writes."""
    called = any(isinstance(part, fo.Did) and part.tool == tool.name for part in fo.subformulas(formula))
    return called or not written.isdisjoint(fo.relations_in(formula))


def _first_order(
    formula: fo.Expanded, sorts: Mapping[str, str]
) -> Iterator[tuple[fo.Expanded, Mapping[str, str]]]:
    """Yield the largest parts without path quantifiers, with the sorts of the variables bound around them."""
    if not fo.is_temporal(formula):
        yield formula, sorts
        return
    match formula:
        case fo.Forall(binder, body) | fo.Exists(binder, body):
            yield from _first_order(body, {**sorts, binder.name: binder.sort})
        case fo.And(parts) | fo.Or(parts):
            for part in parts:
                yield from _first_order(part, sorts)
        case fo.Implies(left, right):
            yield from _first_order(left, sorts)
            yield from _first_order(right, sorts)
        case _:
            for part in fo.subformulas(formula):
                if part is not formula and not fo.is_temporal(part):
                    yield part, sorts


def _images(known: Mapping[str, str], scope: Mapping[str, str]) -> Iterator[Mapping[str, fo.Var]]:
    """Yield the ways to replace some variables by parameters of their sorts."""
    choices = [[None, *(param for param, sort in scope.items() if sort == of)] for of in known.values()]
    for chosen in product(*choices):
        yield {name: fo.Var(param) for name, param in zip(known, chosen, strict=True) if param is not None}


def _written(tool: Tool) -> Iterator[str]:
    for effect in tool.effects:
        for statement in effect.statements:
            if isinstance(statement, Insert | Delete | Assign):
                yield statement.atom.relation


# facts about the parameters


def _near(deployment: Deployment, tool: Tool, demands: Sequence[fo.Expanded]) -> Sequence[Relation]:
    """Return the relations, first those of the demands and of the tool's guard."""
    first = dict.fromkeys(
        (*(name for demand in demands for name in fo.relations_in(demand)), *fo.relations_in(tool.guard))
    )
    rank = {name: place for place, name in enumerate(first)}
    relations = deployment.schema.relations
    return sorted(relations, key=lambda relation: rank.get(relation.name, len(rank)))


def _facts(relations: Iterable[Relation], scope: Mapping[str, str]) -> Iterator[str]:
    """Yield facts R(x, _), with a parameter or any value in each column."""
    for relation in relations:
        columns = [[*(p for p, sort in scope.items() if sort == of), fo.WILDCARD] for of in relation.sorts]
        for args in product(*columns):
            yield f"{relation.name}({', '.join(args)})"


def _comparisons(deployment: Deployment, scope: Mapping[str, str]) -> Iterator[str]:
    for left, right in combinations(scope, 2):
        if scope[left] == scope[right]:
            yield f"{left} = {right}"
            if deployment.schema.sort(scope[left]).ordered:
                yield f"{left} < {right}"
    for param, name in scope.items():
        yield from (f"{param} = {value}" for value in (deployment.schema.sort(name).values or ())[:_VALUES])


def _joins(relations: Sequence[Relation], scope: Mapping[str, str]) -> Iterator[str]:
    """Yield two facts with a common value, which may be required to differ from a parameter.

    At least one of them is about a parameter.
    """
    name = fresh_name("x", scope)
    for sort in dict.fromkeys(of for relation in relations for of in relation.sorts):
        around = list(_around(relations, sort, name, scope))
        for (left, about), (right, of_right) in combinations(around, 2):
            if about or of_right:
                yield f"exists {name}: {sort}. ({left} & {right})"
        for fact, _ in around:
            for param in (param for param, of in scope.items() if of == sort):
                yield f"exists {name}: {sort}. ({fact} & {name} != {param})"


def _around(
    relations: Iterable[Relation], sort: str, name: str, scope: Mapping[str, str]
) -> Iterator[tuple[str, bool]]:
    """Yield the facts with the variable in one column, and True if a parameter is in another."""
    for relation in relations:
        for place, of in enumerate(relation.sorts):
            if of != sort:
                continue
            columns = [
                [name] if k == place else [*(p for p, own in scope.items() if own == other), fo.WILDCARD]
                for k, other in enumerate(relation.sorts)
            ]
            for args in product(*columns):
                yield f"{relation.name}({', '.join(args)})", not {*args}.isdisjoint(scope)
