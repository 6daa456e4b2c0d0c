"""Write formulas with few variables: as a person would who knows what each column holds.

Two rules are applied: `∃x. (f(x) & x = t)` is `f(t)` where x is in an atom of f, because an atom with a value
that is not active is false; and a column whose variable stands nowhere else need not be named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import stead_sym.logic.syntax as fo
from stead_sym.deployment.tool import Assign, Delete, Insert
from stead_sym.logic.folding import negate
from stead_sym.logic.substitution import substitute


def exists(binders: Sequence[fo.Binder], parts: Sequence[fo.Formula]) -> fo.Formula:
    """Return `exists x, …. f & …`; each variable must be in an atom among the parts."""
    over, held = without_equations(binders, parts)
    over, held = without_lone_columns(over, held)
    return fo.FALSE if fo.FALSE in held else fo.quantify(fo.Exists, over, fo.conjunction(tuple(held)))


def pinned(binders: Collection[str], parts: Sequence[fo.Formula]) -> Mapping[str, fo.Term]:
    """Return the terms that equations among the parts give for variables, no two for each other."""
    images: dict[str, fo.Term] = {}
    for part in _flat(parts):
        if not isinstance(part, fo.Equal):
            continue
        left, right = images.get(str(part.left), part.left), images.get(str(part.right), part.right)
        for one, other in ((left, right), (right, left)):
            if (
                isinstance(one, fo.Var)
                and one.name in binders
                and isinstance(other, fo.Var | fo.Const)
                and one != other
            ):
                images = {name: other if image == one else image for name, image in images.items()}
                images[one.name] = other
                break
    return images


def without_equations(
    binders: Sequence[fo.Binder], parts: Sequence[fo.Formula], keep: Collection[str] = ()
) -> tuple[list[fo.Binder], list[fo.Formula]]:
    """Eliminate the variables that equations among the parts give, except those in ``keep``."""
    names = {binder.name for binder in binders} - set(keep)
    images = pinned(names, parts)
    held = [substitute(part, images) for part in _flat(parts)]
    held = [part for part in held if not (isinstance(part, fo.Equal) and part.left == part.right)]
    return [b for b in binders if b.name not in images], list(dict.fromkeys(held))


def without_lone_columns(
    binders: Sequence[fo.Binder], parts: Sequence[fo.Formula], keep: Collection[str] = ()
) -> tuple[list[fo.Binder], list[fo.Formula]]:
    """Eliminate the variables that stand in one column of an atom only, except those in ``keep``."""
    times = Counter(str(term) for part in parts for term in _variables(part))
    lone = {b.name for b in binders if times[b.name] == 1} - set(keep)
    held: list[fo.Formula] = []
    gone: set[str] = set()
    for part in parts:
        if isinstance(part, fo.Atom) and part.columns:
            pairs = [(c, t) for c, t in zip(part.columns, part.args, strict=True) if str(t) not in lone]
            gone |= {str(t) for t in part.args} & lone
            pairs = pairs or [(part.columns[0], fo.Name(fo.WILDCARD))]
            part = replace(part, columns=tuple(c for c, _ in pairs), args=tuple(t for _, t in pairs))
        held.append(part)
    return [b for b in binders if b.name not in gone], held


def without_new(formula: fo.Formula, new: Collection[str]) -> fo.Formula:
    """Return what a formula says before variables get identifiers that are nowhere yet."""
    match formula:
        case fo.Atom(_, args) if any(isinstance(term, fo.Var) and term.name in new for term in args):
            return fo.FALSE
        case fo.Equal(left, right) if left != right and any(
            isinstance(term, fo.Var) and term.name in new for term in (left, right)
        ):
            return fo.FALSE
        case _:
            return fo.map_children(lambda part: without_new(part, new), formula)


def without_repetition(formula: fo.Formula) -> fo.Formula:
    """Return the conjunction, where a negated part does not say again that rows are there.

    `R(x, y) & ~(R(x, _) & ~S(x))` is `R(x, y) & S(x)`.
    """
    parts = [*fo.conjuncts(formula)]
    there = [atom for part in parts for atom in _there(part)]
    return fo.conjunction(
        tuple(_shorter(part, there) if isinstance(part, fo.Not) else part for part in parts)
    )


def _there(part: fo.Formula) -> Iterator[fo.Atom]:
    """Yield the atoms that hold for some values where a formula holds."""
    while isinstance(part, fo.Exists):
        part = part.body
    yield from (one for one in fo.conjuncts(part) if isinstance(one, fo.Atom))


def _shorter(part: fo.Not, there: Sequence[fo.Atom]) -> fo.Formula:
    """Return the negated part without the atoms that others among the formulas imply."""

    def implied(one: fo.Formula) -> bool:
        if not isinstance(one, fo.Atom) or not one.columns:
            return False
        says = {*zip(one.columns, one.args, strict=True)}
        return any(
            other.relation == one.relation and says <= {*zip(other.columns, other.args, strict=False)}
            for other in there
        )

    return negate(fo.conjunction(tuple(one for one in fo.conjuncts(part.body) if not implied(one))))


def tidied(statement: Insert | Delete | Assign, there: fo.Atom | None = None) -> Insert | Delete | Assign:
    """Return the statement with as few variables as it needs.

    ``there`` says that there is a row with the key, if the statement changes nothing where there is none.
    """
    names = {binder.name for binder in statement.binders}
    atom = substitute(statement.atom, pinned(names, [statement.where]))
    assert isinstance(atom, fo.Atom)
    over, held = without_equations(statement.binders, [statement.where])
    own = {str(term) for term in _variables(atom)}
    over, held = without_lone_columns(over, held, own)
    if there is not None and not over and held == [substitute(there, pinned(names, [statement.where]))]:
        held = []
    where = fo.quantify(fo.Exists, [one for one in over if one.name not in own], fo.conjunction(tuple(held)))
    return replace(statement, atom=atom, binders=tuple(b for b in over if b.name in own), where=where)


def _variables(formula: fo.Formula) -> Iterator[fo.Term]:
    """Yield the variables of a formula, once for each place where they stand."""
    for part in fo.subformulas(formula):
        for term in fo.terms(part):
            if isinstance(term, fo.Var):
                yield term


def _flat(parts: Sequence[fo.Formula]) -> Iterator[fo.Formula]:
    for part in parts:
        yield from (one for one in fo.conjuncts(part) if one != fo.TRUE)
