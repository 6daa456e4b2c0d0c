"""Which formulas say of a variable, by their shape alone, that its value is active.

∃x. f ranges over ad(D). Where f has an atom with x that has to hold, no other value satisfies f, and
ad(D) need not be asked: it can be as large as the database, and f speaks of one record.
"""

from __future__ import annotations

from typing import assert_never

from stead_sym.logic.syntax import (
    And,
    Atom,
    Compare,
    Count,
    Empty,
    Equal,
    Exists,
    Forall,
    Formula,
    Future,
    Globally,
    Iff,
    Implies,
    Next,
    Not,
    Or,
    Same,
    Truth,
    Until,
    Use,
    Var,
)


def implies_active(formula: Formula, name: str, *, negated: bool = False) -> bool:
    """Whether (D, σ) ⊨ f implies σ(x) ∈ ad(D) for the variable x of this name, or ⊨ ¬f with ``negated``, as
    far as the shape of f shows it; of an atom with a primed symbol σ(x) ∈ ad(D')."""

    def some(*parts: tuple[Formula, bool]) -> bool:
        return any(implies_active(part, name, negated=sign) for part, sign in parts)

    def each(*parts: tuple[Formula, bool]) -> bool:
        return all(implies_active(part, name, negated=sign) for part, sign in parts)

    match formula:
        case Truth(value):
            return value is negated  # what never holds implies everything
        case Atom(_, args):
            return not negated and Var(name) in args
        case Not(body):
            return implies_active(body, name, negated=not negated)
        case And(parts) | Or(parts):
            joins = some if isinstance(formula, And) is not negated else each
            return joins(*((part, negated) for part in parts))
        case Implies(left, right):
            return some((left, False), (right, True)) if negated else each((left, True), (right, False))
        case Exists(binder, body):
            return binder.name != name and not negated and implies_active(body, name)
        case Forall(binder, body):
            return binder.name != name and negated and implies_active(body, name, negated=True)
        case Iff() | Count() | Equal() | Compare() | Same() | Empty() | Use():
            return False
        case Next() | Future() | Globally() | Until():
            return False
        case _:
            assert_never(formula)
