"""Which formulas say of a variable, by their shape alone, that its value is active.

∃x. f ranges over ad(D). Where f has an atom with x that has to hold, no other value satisfies f, and
ad(D) need not be asked: it can be as large as the database, and f speaks of one record.
"""

from __future__ import annotations

from stead_sym.logic.kernel import Core
from stead_sym.logic.syntax import And, Atom, Each, Exists, Not, Truth, Var, Weight
from stead_sym.relational.schema import tells_history


def implies_active(formula: Core, name: str, *, negated: bool = False) -> bool:
    """Whether (D, σ) ⊨ f implies σ(x) ∈ ad(D) for the variable x of this name, or ⊨ ¬f with ``negated``, as
    far as the shape of f shows it; of an atom with a primed symbol σ(x) ∈ ad(D')."""
    match formula:
        case Truth(value):
            return value is negated  # what never holds implies everything
        case Atom(relation, args):
            return not negated and Var(name) in args and not tells_history(relation)
        case Not(body):
            return implies_active(body, name, negated=not negated)
        case And(parts):
            return (all if negated else any)(implies_active(part, name, negated=negated) for part in parts)
        case Weight(_, condition):
            return not negated and implies_active(condition, name)
        case Exists(binder, body) | Each(binder, body):
            return binder.name != name and not negated and implies_active(body, name)
        case _:
            return False
