"""Conditions that no run leaves, found on few records: from there no run leads to what is asked for.

Let a state be given from where a run should lead to g, and a part of it in which none does. T are the rows
that stay as they are in the part whatever happens, and the other values that the row of g may not have there.
S says of values of T that the rows of a relation connect them with no value that T does not mention, if it
says anything. T and S hold in the state. In the whole AG S is shown, and A[T ∧ ¬g W ¬S]: together AG ¬g.

One decision: T and S are guesses. What they are worth is shown on few facts of the whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import permutations

import stead_sym.logic.syntax as fo
from stead_sym.analyses.local.questions import always
from stead_sym.deployment.deployment import Deployment
from stead_sym.logic.substitution import expand
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Value

MOST_VALUES = 2
"""The maximum number of values that a value of T is connected with by a relation."""

MOST_SENTENCES = 4
"""The maximum number of sentences that S is made of."""


def _changed(deployment: Deployment) -> Sequence[Relation]:
    """Return the relations that some tool or event writes."""
    names = frozenset[str]().union(*(tool.changed for tool in deployment.tools_and_events))
    return tuple(one for one in deployment.schema.relations if one.name in names)


def staying(
    part: Deployment, goal: fo.Expanded, stays: Callable[[fo.Expanded], bool]
) -> Iterator[fo.Expanded]:
    """Yield T: what ``stays`` true in the part, of the rows of its D0 and of those of the goal."""
    relations = {relation.name: relation for relation in _changed(part)}
    for fact in sorted(part.init.facts):
        if fact.relation in relations and stays(_atom(fact)):
            yield _atom(fact)
    listed = {sort.name: sort.values for sort in part.schema.sorts if sort.values is not None}
    for atom in fo.subformulas(goal):
        if isinstance(atom, fo.Atom) and atom.relation in relations and not fo.free_variables(atom):
            for other in _other_rows(atom, relations[atom.relation], listed):
                if stays(fo.Not(other)):
                    yield fo.Not(other)


def none_else(deployment: Deployment, state: Instance, stays: Sequence[fo.Expanded]) -> Iterator[fo.Expanded]:
    """Yield parts of S: sentences that are true of a state, about the values that T mentions."""
    infinite = set(deployment.schema.infinite_sorts)
    values = _values(deployment, stays)
    for relation in _changed(deployment):
        columns = [column for column, sort in enumerate(relation.sorts) if sort in infinite]
        rows = state.by_relation.get(relation.name, ())
        for column, other in permutations(columns, 2):
            for value in values[relation.sorts[column]]:
                found = sorted({row[other] for row in rows if row[column] == value})
                if len(found) <= MOST_VALUES and set(found) <= set(values[relation.sorts[other]]):
                    yield _none_else(relation, column, value, other, found)


def question(stays: Sequence[fo.Expanded], goal: fo.Expanded, sentence: fo.Expanded) -> fo.Expanded:
    """Return A[T ∧ ¬g W ¬S], as AG (T ∧ ¬g) if S says nothing."""
    kept = fo.conjunction((*stays, fo.Not(goal)))
    if sentence == fo.TRUE:
        return always(kept)
    return expand(fo.Until("A", kept, fo.Not(sentence), weak=True), {})


def shown(
    stays: Sequence[fo.Expanded],
    goal: fo.Expanded,
    sentence: fo.Expanded,
    shows: Callable[[fo.Expanded], bool],
) -> bool:
    """Return if A[T ∧ ¬g W ¬S] is shown of some T among what ``stays``.

    What another record may change is left out, until the rest stays as it is for the reason that it does.
    """
    while stays and not shows(question(stays, goal, sentence)):
        fewer = [one for one in stays if shows(_alone(one, stays, sentence))]
        stays = fewer if len(fewer) < len(stays) else []
    return bool(stays)


def _alone(one: fo.Expanded, stays: Sequence[fo.Expanded], sentence: fo.Expanded) -> fo.Expanded:
    """Return A[t W ¬S ∨ ¬T'], where T' are the others of T."""
    others = fo.conjunction((sentence, *(other for other in stays if other != one)))
    return expand(fo.Until("A", one, fo.Not(others), weak=True), {})


def _atom(fact: Fact) -> fo.Atom:
    return fo.Atom(fact.relation, tuple(map(fo.Const, fact.args)))


def _other_rows(
    atom: fo.Atom, relation: Relation, listed: Mapping[str, Sequence[Value]]
) -> Iterator[fo.Atom]:
    """Yield the atom with other values of finite sorts in columns that its key determines."""
    if not relation.keys:
        return
    for column, sort in enumerate(relation.sorts):
        if column not in relation.keys and sort in listed:
            for value in listed[sort]:
                args = (fo.Const(value) if k == column else arg for k, arg in enumerate(atom.args))
                if (other := fo.Atom(atom.relation, tuple(args))) != atom:
                    yield other


def _values(deployment: Deployment, formulas: Iterable[fo.Expanded]) -> Mapping[str, Sequence[Value]]:
    """Return the values of infinite sorts in atoms, by sort."""
    found: dict[str, dict[Value, None]] = defaultdict(dict)
    for atom in (
        part for formula in formulas for part in fo.subformulas(formula) if isinstance(part, fo.Atom)
    ):
        sorts = deployment.schema.relation(atom.relation).sorts
        for sort, term in zip(sorts, atom.args, strict=True):
            if isinstance(term, fo.Const):
                found[sort][term.value] = None
    return {sort: tuple(found.get(sort, ())) for sort in deployment.schema.infinite_sorts}


def _none_else(
    relation: Relation, column: int, value: Value, other: int, found: Sequence[Value]
) -> fo.Expanded:
    """Return that rows with a value in a column have none but the ``found`` values in the other."""
    binders = {k: fo.Binder(f"x{k}", sort) for k, sort in enumerate(relation.sorts) if k != column}
    args = tuple(fo.Var(binders[k].name) if k in binders else fo.Const(value) for k in range(relation.arity))
    different = (fo.Not(fo.Equal(fo.Var(binders[other].name), fo.Const(one))) for one in found)
    body = fo.conjunction((fo.Atom(relation.name, args), *different))
    return fo.Not(fo.quantify(fo.Exists, tuple(binders.values()), body))
