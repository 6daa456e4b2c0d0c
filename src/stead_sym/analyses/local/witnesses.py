"""Conditions w(x) on values that a question does not name, by which it may be shown in two parts.

AG f follows from AG (w(u) → f) for all values u, and AG ((∃x. w(x)) ∨ f), or the same with the parts of f
about one state alone (`questions.by_witness`). Which w is tried decides about time alone. It speaks of
- what keys determine, or of a relation that begins with at most one tuple: few values have to be asked of;
- what a fair event is enabled by: it comes for these values, not only for some;
- where runs have to exist, what no step changes about a value that a step takes: with the holder of *this*
  reservation a call identifies, it is known what comes of the call.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from typing import NamedTuple

import stead_sym.logic.syntax as fo
from stead_sym.analyses.local.facts import mentions_individuals
from stead_sym.analyses.local.moves import Move, conditions_of, individuals_of
from stead_sym.analyses.local.start import begins_with_at_most_one, bounding, names_in
from stead_sym.analyses.local.values import sort_of
from stead_sym.analyses.local.writes import required
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Delete, Insert, Tool
from stead_sym.logic.kernel import Core, core
from stead_sym.logic.substitution import substitute, substitute_terms
from stead_sym.relational.schema import Schema, tells_history


class Witness(NamedTuple):
    """Variables x and a condition w(x), which mentions names of the question and no other variables.

    Conditions ``then`` are about further variables, those before, and names; each as this one. ``always``:
    they should be true of some values wherever the question is about a state.
    """

    binders: tuple[fo.Binder, ...]
    condition: fo.Formula
    then: Witness | None = None
    always: bool = False

    @property
    def some(self) -> Core:
        """Return ∃x. w(x)."""
        return core(fo.quantify(fo.Exists, self.binders, self.condition))

    def of(self, values: Mapping[str, fo.Term]) -> Witness:
        """Return the same of certain values of variables that come before."""
        then = None if self.then is None else self.then.of(values)
        return self._replace(condition=substitute(self.condition, values), then=then)


_VALUE = "w"


def of_keys(question: Core, schema: Schema) -> Iterator[Witness]:
    """Yield atoms of a question with a variable that a declared key of constants and names determines."""
    for part in (part for part in fo.subformulas(question) if isinstance(part, fo.Exists)):
        for atom in (one for one in fo.conjuncts(part.body) if isinstance(one, fo.Atom)):
            if _has_key(atom, schema) and fo.free_variables(atom) == {part.binder.name}:
                yield Witness((part.binder,), atom)


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
                    args = substitute_terms(atom.args, known)
                    yield Witness((param,), fo.Atom(atom.relation, args), always=True)


def of_determined(moves: Sequence[Move], schema: Schema) -> Iterator[Witness]:
    """Yield what determines a value of a move by which a run may stay: keys of names, or of what these do.

    For its own owner a ticket can be routed once only.
    """
    for move in moves:
        by = _determining(_own_conditions(move), schema)
        for name in sorted(individuals_of(move).keys() & by.keys()):
            yield _chain(_atoms_for(name, by), by, schema)


def of_existing(moves: Sequence[Move], deployment: Deployment) -> Iterator[Witness]:
    """Yield what determines a value of a move that may lead where a run should: the most that it does.

    A relation that begins with at most one tuple determines it, too, and of a disjunction each part may.
    """

    def is_single(atom: fo.Atom) -> bool:
        return not tells_history(atom.relation) and begins_with_at_most_one(deployment, atom.relation)

    for move in moves:
        conditions = _own_conditions(move)
        for more in (core(fo.TRUE), *chain.from_iterable(map(_disjuncts, conditions))):
            by = _determining([*conditions, more], deployment.schema, is_single)
            chains = [_atoms_for(name, by) for name in sorted(individuals_of(move).keys() & by.keys())]
            for atoms in chains:
                if not any(set(atoms) < set(other) for other in chains):
                    yield _chain(atoms, by, deployment.schema)


def _own_conditions(move: Move) -> Sequence[Core]:
    """Return the conditions of a move that mention no individuals, with its variables for these."""
    return [part for part in conditions_of(move, individuals_of(move)) if not mentions_individuals(part)]


def _disjuncts(condition: Core) -> Iterator[Core]:
    """Yield the parts of a disjunction."""
    if isinstance(condition, fo.Not) and isinstance(condition.body, fo.And):
        yield from (core(fo.Not(part)) for part in condition.body.parts)


def _determining(
    conditions: Sequence[Core], schema: Schema, is_single: Callable[[fo.Atom], bool] = lambda _: False
) -> Mapping[str, fo.Atom]:
    """Return, for each variable that conditions determine, the atom that does; single ones come last."""
    numbers, by = count(), dict[str, fo.Atom]()
    atoms = [atom for part in conditions for atom in bounding(part, numbers)]
    while True:
        keyed = (one for one in atoms if _has_key(one, schema, by))
        new = (one for one in (*keyed, *filter(is_single, atoms)) if fo.free_variables(one) - by.keys())
        if (atom := next(new, None)) is None:
            return by
        by |= dict.fromkeys(fo.free_variables(atom) - by.keys(), atom)


def _atoms_for(name: str, by: Mapping[str, fo.Atom]) -> Sequence[fo.Atom]:
    """Return the atoms that determine a variable, in the order in which they do."""
    waiting = [name]
    for one in waiting:
        waiting += sorted(other for other in fo.free_variables(by[one]) if other not in waiting)
    needed = {by[one] for one in waiting}
    return [atom for atom in dict.fromkeys(by.values()) if atom in needed]


def _chain(atoms: Sequence[fo.Atom], by: Mapping[str, fo.Atom], schema: Schema) -> Witness:
    """Return the atoms, each with the variables that it adds."""
    found: Witness | None = None
    for atom in reversed(atoms):
        columns = zip(atom.args, schema.relation(atom.relation).sorts, strict=True)
        sorts = {term.name: sort for term, sort in columns if isinstance(term, fo.Var)}
        own = tuple(fo.Binder(one, sort) for one, sort in sorts.items() if by[one] == atom)
        found = Witness(own, atom, found, always=_has_key(atom, schema, by.keys()))
    assert found is not None
    return found


def of_staying(moves: Sequence[Move], deployment: Deployment) -> Iterator[Witness]:
    """Yield atoms about what moves write by which a run may stay; none of these writes the relation.

    The relations are those that begin with at most one tuple.
    """
    changed = {relation for move in moves for relation in move.effect.changed}
    for move in moves:
        loose = {one: fo.Binder(one, sort) for one, sort in individuals_of(move).items()}
        for atom in conditions_of(move, loose):
            if isinstance(atom, fo.Atom) and not (tells_history(atom.relation) or atom.relation in changed):
                names = fo.free_variables(atom)
                binders = tuple(loose[one] for one in loose if one in names)
                if binders and begins_with_at_most_one(deployment, atom.relation):
                    yield Witness(binders, atom)


def of_steps(question: fo.Formula, followed: Iterable[Core], deployment: Deployment) -> Iterator[Witness]:
    """Yield what no step changes about a value for which a step may decide a followed sentence.

    First conditions that a key of names determines, the shortest one first. Then the longest one without
    names: it says that there is any such value.
    """
    found = dict.fromkeys(_of_steps(question, followed, deployment))

    def length(one: Witness) -> int:
        return len(tuple(fo.conjuncts(one.condition)))

    def is_determined(one: Witness) -> bool:
        return any(
            isinstance(part, fo.Atom) and _has_key(part, deployment.schema)
            for part in fo.conjuncts(one.condition)
        )

    yield from sorted(filter(is_determined, found), key=length)
    yield from sorted((one for one in found if not names_in(one.condition)), key=length, reverse=True)[:1]


def _has_key(atom: fo.Atom, schema: Schema, known: Container[str] = ()) -> bool:
    """Return if an atom has constants, names or ``known`` variables in all columns of a declared key."""
    keys = () if tells_history(atom.relation) else schema.relation(atom.relation).keys
    return bool(keys) and all(
        term.name in known if isinstance(term, fo.Var) else isinstance(term, fo.Const)
        for term in (atom.args[column] for column in keys)
    )


def _of_steps(question: fo.Formula, followed: Iterable[Core], deployment: Deployment) -> Iterator[Witness]:
    """Yield what no step changes about such values.

    Let a followed sentence be about R(… x …), which steps write. It is what the sentence requires of x
    beside, and what the guard requires of a parameter that stands for x where R is written. A variable of a
    sort that the question names becomes its name.
    """
    schema, names = deployment.schema, _names_by_sort(question)
    actions = [tool for tool in deployment.tools_and_events if not tool.has_ensure]
    changed = frozenset[str]().union(*(tool.changed for tool in actions))
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
            yield Witness((fo.Binder(_VALUE, sort),), fo.conjunction(tuple(dict.fromkeys(fixed))))


def _names_by_sort(question: fo.Formula) -> Mapping[str, fo.Const]:
    return {sort_of(one): fo.Const(one) for one in names_in(question)}


def _taking(actions: Iterable[Tool], places: Iterable[tuple[str, int]]) -> Iterator[tuple[Tool, fo.Var]]:
    """Yield the tools and events with a parameter that stands in such a column of what they write."""
    places = set(places)
    for tool in actions:
        params = {fo.Var(param.name) for param in tool.params}
        atoms = (s.atom for e in tool.effects for s in e.statements if isinstance(s, Insert | Delete))
        taken = {atom.args[at] for atom in atoms for name, at in places if atom.relation == name}
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
