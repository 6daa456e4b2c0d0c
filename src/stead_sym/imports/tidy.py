"""Write formulas with few variables: as a person would who knows what each column holds.

Two rules are applied: `∃x. (f(x) & x = t)` is `f(t)` where x is in an atom of f, because an atom with a value
that is not active is false; and a column whose variable stands nowhere else need not be named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from stead_sym.deployment.tool import Assign, Delete, Insert
from stead_sym.logic.folding import negate
from stead_sym.logic.substitution import substitute
from stead_sym.logic.syntax import (
    FALSE,
    TRUE,
    WILDCARD,
    Atom,
    Binder,
    Const,
    Equal,
    Exists,
    Formula,
    Name,
    Not,
    Term,
    Var,
    conjunction,
    conjuncts,
    map_children,
    quantify,
    subformulas,
    terms,
)


def exists(binders: Sequence[Binder], parts: Sequence[Formula]) -> Formula:
    """Return `exists x, …. f & …`; each variable must be in an atom among the parts."""
    over, held = without_equations(binders, parts)
    over, held = without_lone_columns(over, held)
    return FALSE if FALSE in held else quantify(Exists, over, conjunction(tuple(held)))


def pinned(binders: Collection[str], parts: Sequence[Formula]) -> Mapping[str, Term]:
    """Return the terms that equations among the parts give for variables, no two for each other."""
    images: dict[str, Term] = {}
    for part in _flat(parts):
        if not isinstance(part, Equal):
            continue
        left, right = images.get(str(part.left), part.left), images.get(str(part.right), part.right)
        for one, other in ((left, right), (right, left)):
            if (
                isinstance(one, Var)
                and one.name in binders
                and isinstance(other, Var | Const)
                and one != other
            ):
                images = {name: other if image == one else image for name, image in images.items()}
                images[one.name] = other
                break
    return images


def without_equations(
    binders: Sequence[Binder], parts: Sequence[Formula], keep: Collection[str] = ()
) -> tuple[list[Binder], list[Formula]]:
    """Eliminate the variables that equations among the parts give, except those in ``keep``."""
    names = {binder.name for binder in binders} - set(keep)
    images = pinned(names, parts)
    held = [substitute(part, images) for part in _flat(parts)]
    held = [part for part in held if not (isinstance(part, Equal) and part.left == part.right)]
    return [b for b in binders if b.name not in images], list(dict.fromkeys(held))


def without_lone_columns(
    binders: Sequence[Binder], parts: Sequence[Formula], keep: Collection[str] = ()
) -> tuple[list[Binder], list[Formula]]:
    """Eliminate the variables that stand in one column of an atom only, except those in ``keep``."""
    times = Counter(str(term) for part in parts for term in _variables(part))
    lone = {b.name for b in binders if times[b.name] == 1} - set(keep)
    held: list[Formula] = []
    gone: set[str] = set()
    for part in parts:
        if isinstance(part, Atom) and part.columns:
            pairs = [(c, t) for c, t in zip(part.columns, part.args, strict=True) if str(t) not in lone]
            gone |= {str(t) for t in part.args} & lone
            pairs = pairs or [(part.columns[0], Name(WILDCARD))]
            part = replace(part, columns=tuple(c for c, _ in pairs), args=tuple(t for _, t in pairs))
        held.append(part)
    return [b for b in binders if b.name not in gone], held


def without_new(formula: Formula, new: Collection[str]) -> Formula:
    """Return what a formula says before variables get identifiers that are nowhere yet."""
    match formula:
        case Atom(_, args) if any(isinstance(term, Var) and term.name in new for term in args):
            return FALSE
        case Equal(left, right) if left != right and any(
            isinstance(term, Var) and term.name in new for term in (left, right)
        ):
            return FALSE
        case _:
            return map_children(lambda part: without_new(part, new), formula)


def without_repetition(formula: Formula) -> Formula:
    """Return the conjunction, where a negated part does not say again that rows are there.

    `R(x, y) & ~(R(x, _) & ~S(x))` is `R(x, y) & S(x)`.
    """
    parts = [*conjuncts(formula)]
    there = [atom for part in parts for atom in _there(part)]
    return conjunction(tuple(_shorter(part, there) if isinstance(part, Not) else part for part in parts))


def _there(part: Formula) -> Iterator[Atom]:
    """Yield the atoms that hold for some values where a formula holds."""
    while isinstance(part, Exists):
        part = part.body
    yield from (one for one in conjuncts(part) if isinstance(one, Atom))


def _shorter(part: Not, there: Sequence[Atom]) -> Formula:
    """Return the negated part without the atoms that others among the formulas imply."""

    def implied(one: Formula) -> bool:
        if not isinstance(one, Atom) or not one.columns:
            return False
        says = {*zip(one.columns, one.args, strict=True)}
        return any(
            other.relation == one.relation and says <= {*zip(other.columns, other.args, strict=False)}
            for other in there
        )

    return negate(conjunction(tuple(one for one in conjuncts(part.body) if not implied(one))))


def tidied(statement: Insert | Delete | Assign, there: Atom | None = None) -> Insert | Delete | Assign:
    """Return the statement with as few variables as it needs.

    ``there`` says that there is a row with the key, if the statement changes nothing where there is none.
    """
    names = {binder.name for binder in statement.binders}
    atom = substitute(statement.atom, pinned(names, [statement.where]))
    assert isinstance(atom, Atom)
    over, held = without_equations(statement.binders, [statement.where])
    own = {str(term) for term in _variables(atom)}
    over, held = without_lone_columns(over, held, own)
    if there is not None and not over and held == [substitute(there, pinned(names, [statement.where]))]:
        held = []
    where = quantify(Exists, [one for one in over if one.name not in own], conjunction(tuple(held)))
    return replace(statement, atom=atom, binders=tuple(b for b in over if b.name in own), where=where)


def _variables(formula: Formula) -> Iterator[Term]:
    """Yield the variables of a formula, once for each place where they stand."""
    for part in subformulas(formula):
        for term in terms(part):
            if isinstance(term, Var):
                yield term


def _flat(parts: Sequence[Formula]) -> Iterator[Formula]:
    for part in parts:
        yield from (one for one in conjuncts(part) if one != TRUE)
