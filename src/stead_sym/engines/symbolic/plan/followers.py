"""Strengthen guards by implied emptiness: relations that hold facts only while another one does.

P *follows* Q if P ≠ ∅ implies Q ≠ ∅ in every reachable state. A guard ~exists x̄. Q(x̄) then implies that P
is empty too. Before an insertion into P this is the reason why P holds at most one fact: a call has one wish,
and one number that was wished for, since both are made when there is no call. So `strengthened` adds ~exists
x̄. P(x̄) to such guards, and the assumptions about P (`encode.mutex`) are proved as for relations with
explicit guards. Otherwise P has a bit for each fact, and a step that depends on the fact that holds has a
case for each set of them. This is applied to relations between values only, not to those that mention
records: these have a bit next to each record in any case.

One decision: that P follows Q is a syntactic property of the effects. By induction over a run: D0 has it, and
it is preserved by an effect that inserts a fact of Q unconditionally, that inserts nothing into P and removes
all of it, or that neither inserts into P nor removes anything from Q. So the guards are equivalent in every
reachable state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Clear, Delete, Effect, Insert, Tool


def strengthened(deployment: Deployment) -> Deployment:
    """Return the deployment with the implied emptiness of relations added to its guards."""
    tools = tuple(_strengthened(deployment, tool) for tool in deployment.tools_and_events)
    if tools == deployment.tools_and_events:
        return deployment
    return deployment.with_tools(tools)


def _strengthened(deployment: Deployment, tool: Tool) -> Tool:
    names = [relation.name for relation in deployment.schema.relations]
    empty = [name for name in names if _says_empty(tool, name)]
    inserted = {
        s.atom.relation for effect in tool.effects for s in effect.statements if isinstance(s, Insert)
    }
    implied = (
        _nothing_in(deployment, name)
        for name in names
        if name in inserted
        and name not in empty
        and _is_of_values(deployment, name)
        and any(follows(deployment, name, other) for other in empty)
    )
    return replace(tool, guard=fo.conjunction((*fo.conjuncts(tool.guard), *implied)))


def _is_of_values(deployment: Deployment, relation: str) -> bool:
    """Return True if the relation has columns, all of sorts with rigid values, which are no records."""
    rigid = {sort.name for sort in deployment.schema.sorts if sort.rigid}
    return bool(sorts := deployment.schema.relation(relation).sorts) and rigid.issuperset(sorts)


def follows(deployment: Deployment, relation: str, other: str) -> bool:
    """Return True if every reachable state with a fact of ``relation`` provably has one of ``other``.

    The proof is syntactic.
    """
    started = deployment.initially.relations if deployment.initially is not None else ()
    if relation in started or other in started:
        return False
    if deployment.init.tuples(relation) and not deployment.init.tuples(other):
        return False
    return all(
        _keeps(effect, relation, other) for tool in deployment.tools_and_events for effect in tool.effects
    )


def _keeps(effect: Effect, relation: str, other: str) -> bool:
    if effect.is_ensure:
        return False
    if any(
        isinstance(s, Insert) and s.atom.relation == other and not s.binders and s.where == fo.TRUE
        for s in effect.statements
    ):
        return True
    if any(isinstance(s, Insert) and s.atom.relation == relation for s in effect.statements):
        return False
    return relation in set(_emptied(effect)) or not any(_removes(s, other) for s in effect.statements)


def _removes(statement: object, relation: str) -> bool:
    match statement:
        case Clear(relations):
            return relation in relations
        case Delete(atom):
            return atom.relation == relation
        case _:
            return False


def _emptied(effect: Effect) -> Iterator[str]:
    """Yield the relations of which an effect deletes every fact."""
    for statement in effect.statements:
        match statement:
            case Clear(relations):
                yield from relations
            case Delete(atom, binders, where) if where == fo.TRUE:
                if _is_any(atom, {binder.name for binder in binders}):
                    yield atom.relation
            case _:
                pass


def _says_empty(tool: Tool, relation: str) -> bool:
    """Return True if the guard has a conjunct ~exists x̄. P(x̄)."""
    return any(
        isinstance(part, fo.Not) and _is_some(part.body, relation, frozenset())
        for part in fo.conjuncts(tool.guard)
    )


def _is_some(formula: fo.Formula, relation: str, bound: frozenset[str]) -> bool:
    match formula:
        case fo.Exists(binder, body):
            return _is_some(body, relation, bound | {binder.name})
        case fo.Atom():
            return formula.relation == relation and _is_any(formula, bound)
        case _:
            return False


def _is_any(atom: fo.Atom, bound: set[str] | frozenset[str]) -> bool:
    """Return True if the atom is P(x, y, …) with distinct bound variables, so that it covers every fact."""
    names = [term.name for term in atom.args if isinstance(term, fo.Var)]
    return len(set(names)) == len(names) == len(atom.args) and bound.issuperset(names)


def _nothing_in(deployment: Deployment, relation: str) -> fo.Formula:
    """Return ~exists x̄. P(x̄)."""
    sorts = deployment.schema.relation(relation).sorts
    binders = [fo.Binder(f"of_{relation}_{k}", sort) for k, sort in enumerate(sorts)]
    return fo.Not(fo.quantify(fo.Exists, binders, fo.Atom(relation, fo.variables_of(binders))))
