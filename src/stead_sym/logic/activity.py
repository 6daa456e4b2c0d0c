"""A syntactic test that a formula implies that a variable's value is active.

∃x. f ranges over ad(D). If f requires an atom with x to hold, no inactive value satisfies f, and the
membership in ad(D) need not be tested. ad(D) can be as large as the database even if f is about one record.
"""

from __future__ import annotations

import stead_sym.logic.syntax as fo
from stead_sym.logic.kernel import Core
from stead_sym.relational.schema import tells_history


def implies_active(formula: Core, name: str, *, negated: bool = False) -> bool:
    """Return True if (D, σ) ⊨ f syntactically implies σ(x) ∈ ad(D) for the variable x of this name.

    With ``negated`` the premise is (D, σ) ⊨ ¬f. For an atom with a primed symbol the conclusion is σ(x) ∈
    ad(D'). The test is sound and incomplete.
    """
    match formula:
        case fo.Truth(value):
            return value is negated  # an unsatisfiable formula implies everything
        case fo.Atom(relation, args):
            return not negated and fo.Var(name) in args and not tells_history(relation)
        case fo.Not(body):
            return implies_active(body, name, negated=not negated)
        case fo.And(parts):
            return (all if negated else any)(implies_active(part, name, negated=negated) for part in parts)
        case fo.Weight(_, condition):
            return not negated and implies_active(condition, name)
        case fo.Exists(binder, body) | fo.Each(binder, body):
            return binder.name != name and not negated and implies_active(body, name)
        case _:
            return False
