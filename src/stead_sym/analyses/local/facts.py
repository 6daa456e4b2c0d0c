"""Facts: what a state of an abstraction may say.

A *fact* is a closed formula of the kernel over constants and names: an atom, or a sentence with a quantifier,
which is followed as a whole, as "some ticket is on the desk"; how its variables are called does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

import stead_sym.logic.syntax as fo
from stead_sym.analyses.local.values import MARK, is_name, kind
from stead_sym.logic.activity import implies_active
from stead_sym.logic.evaluate import value_of
from stead_sym.logic.kernel import Core, core
from stead_sym.logic.names import constants
from stead_sym.logic.substitution import substitute
from stead_sym.relational.schema import Schema, Value, tells_history


@lru_cache(maxsize=1 << 16)
def as_fact(formula: Core) -> Core | None:
    """Return the fact that a closed atom or quantified sentence about the database is; None for others.

    Individuals are in no fact. Sentences that differ in the names of bound variables are one fact.
    """
    if (
        not isinstance(formula, fo.Atom | fo.Exists | fo.Count)
        or fo.free_variables(formula)
        or fo.is_temporal(formula)
    ):
        return None
    if isinstance(formula, fo.Atom) and any(map(fo.is_compound, formula.args)):
        return None
    parts = tuple(fo.subformulas(formula))
    if any(isinstance(part, fo.Atom) and tells_history(part.relation) for part in parts):
        return None
    own = (term for part in parts for term in fo.terms(part))
    if any(kind(term.value) != "named" for term in own if isinstance(term, fo.Const)):
        return None
    return renamed(formula)[0]


def renamed(formula: Core) -> tuple[Core, int]:
    """Return the formula with bound variables named by the depth of their scopes, and its own depth."""
    below = [0]

    def of_child(child: Core) -> Core:
        changed, nested = renamed(child)
        below.append(nested)
        return changed

    changed = fo.map_children(of_child, formula)
    depth = max(below)
    if isinstance(changed, fo.Exists | fo.Count):
        name = f"{MARK}{depth}"
        body = core(substitute(changed.body, {changed.binder.name: fo.Var(name)}))
        binder = fo.Binder(name, changed.binder.sort, declared=changed.binder.declared)
        return replace(changed, binder=binder, body=body), depth + 1
    return changed, depth


def facts_in(formula: fo.Formula) -> Iterator[Core]:
    """Yield the facts that a formula reads; of nested ones the outer one."""
    f = core(formula)
    if (fact := as_fact(f)) is not None:
        yield fact
    else:
        for child in fo.children(f):
            yield from facts_in(child)


@lru_cache(maxsize=1 << 16)
def projections(formula: fo.Formula, schema: Schema) -> frozenset[Core]:
    """Return for each atom about a name and other values the fact that there is one about the name."""
    found = set()
    for atom in fo.subformulas(core(formula)):
        if (
            not isinstance(atom, fo.Atom)
            or any(map(fo.is_compound, atom.args))
            or tells_history(atom.relation)
        ):
            continue
        loose = [isinstance(term, fo.Var) or kind(value_of(term, {})) != "named" for term in atom.args]
        if not any(loose) or not any(
            isinstance(term, fo.Const) and is_name(term.value) for term in atom.args
        ):
            continue
        names = [f"{MARK}{place}" for place in range(len(loose))]
        args = [
            fo.Var(name) if is_loose else term
            for name, term, is_loose in zip(names, atom.args, loose, strict=True)
        ]
        projection: fo.Formula = replace(atom, args=tuple(args), primed=False)
        for name, sort, is_loose in zip(names, schema.relation(atom.relation).sorts, loose, strict=True):
            if is_loose:
                projection = fo.Exists(fo.Binder(name, sort), projection)
        if (fact := as_fact(core(projection))) is not None:
            found.add(fact)
    return frozenset(found)


@lru_cache(maxsize=1 << 16)
def deciding(formula: Core, schema: Schema) -> frozenset[str]:
    """Return the relations that decide if a formula is true, for values of its variables.

    If it matters which values of a sort are active, these are all that have a column of the sort, too.
    """
    sorts = active_sorts(formula)
    active = (relation.name for relation in schema.relations if not sorts.isdisjoint(relation.sorts))
    return frozenset((*fo.relations_in(formula), *active))


def depends_on_activity(fact: Core) -> bool:
    """Return if the truth value may depend on which values are active, with the same truth of its atoms."""
    return bool(active_sorts(fact))


@lru_cache(maxsize=1 << 14)
def active_sorts(fact: Core) -> frozenset[str]:
    """Return the sorts whose active values matter to the truth value, with the same truth of its atoms."""
    return frozenset(
        part.binder.sort
        for part in fo.subformulas(fact)
        if isinstance(part, fo.Exists | fo.Count | fo.Each)
        and not part.binder.declared
        and not implies_active(part.body, part.binder.name)
    )


def mentions_individuals(formula: Core) -> bool:
    """Return if the formula mentions a value that is no constant and no name."""
    return any(kind(value) != "named" for value in constants(formula))


@lru_cache(maxsize=1 << 16)
def mentions_some(formula: Core) -> bool:
    """Return if the formula mentions the individual of a quantifier."""
    return any(kind(value) == "some" for value in constants(formula))


@lru_cache(maxsize=1 << 17)
def with_values(formula: fo.Formula, values: tuple[tuple[str, fo.Term], ...]) -> Core:
    """Return the formula with terms for variables; the same in every round of facts and each question."""
    return core(substitute(formula, dict(values)))


@lru_cache(maxsize=1 << 17)
def with_value(body: Core, name: str, value: Value) -> Core:
    """Return the formula with a value for a variable."""
    return core(substitute(body, {name: fo.Const(value)}))
