"""Conditions w(x) on values that a question does not name, by which it may be shown in two parts.

AG f follows from AG (w(u) → f) for all values u, and AG ((∃x. w(x)) ∨ f) (`questions.by_witness`). Which w is
tried decides about time alone. It speaks of
- what a key determines, or of a relation that begins with at most one tuple: few values have to be asked of;
- what a fair event is enabled by: it comes for these values, not only for some;
- where runs have to exist, what no step changes about a value that a step takes: with the holder of *this*
  reservation a call identifies, it is known what comes of the call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.analyses.local.moves import Move, conditions_of, individuals_of
from stead_sym.analyses.local.start import begins_with_at_most_one, names_in
from stead_sym.analyses.local.values import sort_of
from stead_sym.analyses.local.writes import relations_written, required
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Delete, Insert, Tool
from stead_sym.logic.kernel import Core, core
from stead_sym.logic.substitution import substitute_terms
from stead_sym.relational.schema import Schema, tells_history

Witness: TypeAlias = tuple[tuple[fo.Binder, ...], fo.Formula]
"""Variables x and a condition w(x), which mentions names of the question and no other variables."""

_VALUE = "w"


def of_keys(question: Core, schema: Schema) -> Iterator[Witness]:
    """Yield atoms of a question with a variable that a declared key of constants and names determines."""
    for part in (part for part in fo.subformulas(question) if isinstance(part, fo.Exists)):
        for atom in (one for one in fo.conjuncts(part.body) if isinstance(one, fo.Atom)):
            if _has_key(atom, schema) and fo.free_variables(atom) == {part.binder.name}:
                yield (part.binder,), atom


def of_fair_events(question: fo.Formula, events: Iterable[Tool], schema: Schema) -> Iterator[Witness]:
    """Yield atoms of guards of fair events, with a parameter and otherwise names of the question."""
    names = _names_by_sort(question)
    for event in events:
        for atom in (part for part in fo.subformulas(core(event.guard)) if isinstance(part, fo.Atom)):
            sorts = schema.relation(atom.relation).sorts
            for param in event.params:
                others = {
                    term.name: names.get(sort)
                    for term, sort in zip(atom.args, sorts, strict=True)
                    if isinstance(term, fo.Var) and term.name != param.name
                }
                known = {name: term for name, term in others.items() if term is not None}
                if fo.Var(param.name) in atom.args and len(known) == len(others):
                    yield (param,), fo.Atom(atom.relation, substitute_terms(atom.args, known))


def of_staying(moves: Sequence[Move], deployment: Deployment) -> Iterator[Witness]:
    """Yield atoms about what moves write by which a run may stay; none of these writes the relation.

    The relations are those that begin with at most one tuple.
    """
    written = {relation for move in moves for relation in relations_written(move.effect)}
    for move in moves:
        loose = {one: fo.Binder(one, sort) for one, sort in individuals_of(move).items()}
        for atom in conditions_of(move, loose):
            if isinstance(atom, fo.Atom) and not (tells_history(atom.relation) or atom.relation in written):
                names = fo.free_variables(atom)
                binders = tuple(loose[one] for one in loose if one in names)
                if binders and begins_with_at_most_one(deployment, atom.relation):
                    yield binders, atom


def of_steps(question: fo.Formula, followed: Iterable[Core], deployment: Deployment) -> Iterator[Witness]:
    """Yield what no step changes about a value for which a step may decide a followed sentence.

    First conditions that a key of names determines, the shortest one first. Then the longest one without
    names: it says that there is any such value.
    """
    found = dict.fromkeys(_of_steps(question, followed, deployment))

    def length(one: Witness) -> int:
        return len(tuple(fo.conjuncts(one[1])))

    def is_determined(one: Witness) -> bool:
        return any(
            isinstance(part, fo.Atom) and _has_key(part, deployment.schema) for part in fo.conjuncts(one[1])
        )

    yield from sorted(filter(is_determined, found), key=length)
    yield from sorted((one for one in found if not names_in(one[1])), key=length, reverse=True)[:1]


def _has_key(atom: fo.Atom, schema: Schema) -> bool:
    """Return if an atom has constants or names in all columns of a declared key."""
    keys = () if tells_history(atom.relation) else schema.relation(atom.relation).keys
    return bool(keys) and all(isinstance(atom.args[column], fo.Const) for column in keys)


def _of_steps(question: fo.Formula, followed: Iterable[Core], deployment: Deployment) -> Iterator[Witness]:
    """Yield what no step changes about such values.

    Let a followed sentence be about R(… x …), which steps write. It is what the sentence requires of x
    beside, and what the guard requires of a parameter that stands for x where R is written. A variable of a
    sort that the question names becomes its name.
    """
    schema, names = deployment.schema, _names_by_sort(question)
    actions = [tool for tool in deployment.tools_and_events if not tool.has_ensure]
    changed = frozenset[str]().union(*(relations_written(e) for tool in actions for e in tool.effects))
    for part in (part for fact in followed for part in fo.subformulas(fact) if isinstance(part, fo.Exists)):
        sort, variable = part.binder.sort, fo.Var(part.binder.name)
        if sort in names or schema.is_finite(sort):
            continue
        places = {
            (atom.relation, column)
            for atom in fo.subformulas(part.body)
            if isinstance(atom, fo.Atom) and atom.relation in changed
            for column, term in enumerate(atom.args)
            if term == variable
        }
        fixed = _fixed(part.body, variable, changed, schema, names) if places else []
        for tool, param in _taking(actions, places):
            fixed += _fixed(core(tool.guard), param, changed, schema, names)
        if fixed:
            yield (fo.Binder(_VALUE, sort),), fo.conjunction(tuple(dict.fromkeys(fixed)))


def _names_by_sort(question: fo.Formula) -> Mapping[str, fo.Const]:
    return {sort_of(one): fo.Const(one) for one in names_in(question)}


def _taking(actions: Iterable[Tool], places: Iterable[tuple[str, int]]) -> Iterator[tuple[Tool, fo.Var]]:
    """Yield the tools and events with a parameter that stands in such a column of what they write."""
    places = set(places)
    for tool in actions:
        params = {fo.Var(param.name) for param in tool.params}
        written = (s.atom for e in tool.effects for s in e.statements if isinstance(s, Insert | Delete))
        taken = {atom.args[at] for atom in written for name, at in places if atom.relation == name}
        yield from ((tool, param) for param in sorted(taken & params, key=str) if isinstance(param, fo.Var))


def _fixed(
    formula: Core, variable: fo.Var, changed: frozenset[str], schema: Schema, names: Mapping[str, fo.Const]
) -> list[fo.Formula]:
    """Return what a formula requires of a variable that no step changes, as conditions on `_VALUE`."""
    found = list[fo.Formula]()
    for atom in required(formula):
        sorts = schema.relation(atom.relation).sorts if not tells_history(atom.relation) else ()
        if atom.relation in changed or variable not in atom.args or not sorts:
            continue
        terms = list[fo.Term]()
        others = list[fo.Binder]()
        for term, sort in zip(atom.args, sorts, strict=True):
            if term == variable:
                terms.append(fo.Var(_VALUE))
            elif not isinstance(term, fo.Var):
                terms.append(term)
            elif sort in names:
                terms.append(names[sort])
            else:
                others.append(fo.Binder(f"{_VALUE}{len(others)}", sort))
                terms.append(fo.Var(others[-1].name))
        found.append(fo.quantify(fo.Exists, others, replace(atom, args=tuple(terms))))
    return found
