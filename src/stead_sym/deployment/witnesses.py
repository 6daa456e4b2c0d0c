"""Count the values that an `ensure` formula needs D' to have: its existential quantifiers, by sort.

Read in negation normal form, a formula over D ⊕ D' is a Boolean combination of ∃^k ∀* sentences where

    ∃x. f       needs a value, and what f needs;            ∀x. f   needs nothing if f needs nothing;
    f ∧ g       needs what both need;                       f ∨ g   the larger of the two, sort by sort;
    at least n  is ∃^n, `atmost n` is ∀^(n+1), `exactly n` both; `same(P)` and `empty(P)` are ∀.

One decision: a quantifier over values that D or the schema already has is expanded. Its values are those of a
finite sort, all of them for `x in s`, or those of ad(D) where the body says so (∃x. P(x) ∧ …, ∀x. P(x) → …
with an unprimed atom): an ∃ over ad(D) needs no value of its own, and a ∀ needs what its body needs, once for
each of the at most b_S + |C_S| values. Any other ∀ whose body needs a value is outside of this form.
"""

from __future__ import annotations

from collections import Counter
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.logic.kernel import Core, core, outside_kernel

Needs: TypeAlias = Counter[tuple[str, str]]
"""The number of values of a sort, ("sort", S), that D' makes active and D does not.

For ("fact", P) it is the number of facts of a relation.
"""


class OutsideForm(Exception):
    """An ∃ ``formula`` over values that D' may bring in is negated.

    So it needs further values for each of them.
    """

    def __init__(self, formula: Core) -> None:
        super().__init__(str(formula))
        self.formula = formula


class Witnesses:
    """The needs of the formulas of one deployment."""

    def __init__(self, deployment: Deployment) -> None:
        self._schema = deployment.schema
        self._known: dict[tuple[fo.Iff, frozenset[str], bool], Needs] = {}
        self._most = {
            sort.name: len(sort.values)
            if sort.values is not None
            else deployment.bounds.get(sort.name, 0) + len(deployment.constants[sort.name])
            for sort in deployment.schema.sorts
        }

    def needs(self, formula: fo.Expanded, old: frozenset[str]) -> Needs:
        """Return what the formula needs; raises `OutsideForm`.

        ``old`` are the variables in scope whose values are in ad(D).
        """
        return self._needs(core(formula), old, True)

    def _needs(self, f: Core, old: frozenset[str], positive: bool) -> Needs:
        """Return what f needs, or its negation unless ``positive``."""
        match f:
            case fo.Equal() | fo.Compare() if fo.children(f):  # of a count no number of values is enough
                raise OutsideForm(f)
            case fo.Truth() | fo.Equal() | fo.Compare() | fo.Atom():
                return Counter()
            case fo.Not(body):
                return self._needs(body, old, not positive)
            case fo.And(parts):
                total: Needs = Counter()
                for part in parts:
                    more = self._needs(part, old, positive)
                    total = total + more if positive else total | more
                return total
            case fo.Iff():
                return self._either(f, old, positive)
            case fo.Exists(binder, body):
                if positive:
                    return self._some(1, binder, body, old)
                return self._every(f, binder, body, old)
            case fo.Count("atleast", number, binder, body):
                if positive:
                    return self._some(number, binder, body, old)
                return self._every(f, binder, body, old)  # all values but so many do not satisfy the body
            case fo.Same(relation) | fo.Empty(relation):
                return Counter() if positive else Counter({("fact", relation): 1})
            case fo.Next() | fo.Globally() | fo.Until():
                raise ValueError(f"temporal operator in a first-order formula: {f}")
            case _:
                raise outside_kernel(f)

    def _either(self, f: fo.Iff, old: frozenset[str], positive: bool) -> Needs:
        """Return what f ↔ g = (f ∧ g) ∨ (¬f ∧ ¬g) needs, or ¬(f ↔ g) = (f ∧ ¬g) ∨ (¬f ∧ g).

        Each is looked at only once: of nested ones there are exponentially many occurrences.
        """
        key = f, old, positive
        if key not in self._known:
            first, second = (
                self._needs(f.left, old, side) + self._needs(f.right, old, side is positive)
                for side in (True, False)
            )
            self._known[key] = first | second
        return self._known[key]

    def _some(self, number: int, binder: fo.Binder, body: Core, old: frozenset[str]) -> Needs:
        """Return what is needed so that at least ``number`` values satisfy the body."""
        known = is_old(body, binder.name, old - {binder.name})
        inner = self._needs(body, old | {binder.name} if known else old - {binder.name}, True)
        needed: Needs = Counter({key: number * each for key, each in inner.items()})
        if not (known or binder.declared):
            needed["sort", binder.sort] += number
        return +needed

    def _every(self, f: Core, binder: fo.Binder, body: Core, old: frozenset[str]) -> Needs:
        """Return what is needed so that no value satisfies the body, or at most some number of them."""
        known = is_old(body, binder.name, old - {binder.name})
        inner = self._needs(body, old | {binder.name} if known else old - {binder.name}, False)
        if known or self._is_finite(binder.sort):
            return Counter({key: self._most[binder.sort] * each for key, each in inner.items()})
        if all(kind == "sort" and self._is_finite(name) for kind, name in inner):
            # all values of these sorts that are active in D' are kept so: each ∃ over them is a disjunction
            return Counter({key: self._most[key[1]] for key in inner})
        raise OutsideForm(f)

    def _is_finite(self, sort: str) -> bool:
        return self._schema.is_finite(sort)


def is_old(
    formula: fo.Expanded, name: str, old: frozenset[str], positive: bool = True, constants: bool = False
) -> bool:
    """Return whether the formula, or its negation, syntactically implies that a variable is in ad(D).

    It does by an unprimed atom, or an equality with a variable of ``old``. With ``constants``, it may also be
    in C.
    """

    def is_known(term: fo.Term) -> bool:
        return term.name in old if isinstance(term, fo.Var) else constants

    match core(formula):
        case fo.Truth(value):
            return value is not positive
        case fo.Atom(_, args, primed):
            return positive and not primed and fo.Var(name) in args
        case fo.Equal(left, right):
            pairs = ((left, right), (right, left))
            return positive and any(one == fo.Var(name) and is_known(other) for one, other in pairs)
        case fo.Not(body):
            return is_old(body, name, old, not positive, constants)
        case fo.And(parts):
            say = (is_old(part, name, old, positive, constants) for part in parts)
            return any(say) if positive else all(say)
        case fo.Count("atleast", 0):
            return False
        case fo.Exists(binder, body) | fo.Count("atleast", _, binder, body):
            inner = old - {binder.name}
            return binder.name != name and positive and is_old(body, name, inner, positive, constants)
        case _:
            return False
