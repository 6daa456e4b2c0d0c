"""The kernel of the logic, and the equations that reduce any formula to it.

A formula of the kernel has ¬ ∧ ↔ ∃ and `atleast`, the temporal operators EX, E[f U g] and EG, and the atoms:
`true`, `=`, `<`, P(t), and in an `ensure` P'(t), `same(P)` and `empty(P)`. The terms of `=` and `<` may be
sums and tallies (`logic.integers` reduces such a comparison to a linear form), those of P are variables and
constants. Every other operator is defined by simpler ones (`definition`), and `core` replaces operators by
their definitions until only those of the kernel are left:

    f ∨ g = ¬(¬f ∧ ¬g)         f → g = ¬(f ∧ ¬g)            ∀x. f = ¬∃x. ¬f
    atmost n x. f = ¬(atleast n+1 x. f)                     exactly n = atleast n ∧ atmost n
    AX f = ¬EX ¬f              EF f = E[true U f]           AF f = ¬EG ¬f          AG f = ¬E[true U ¬f]
    P(…, t, …) = ∃y ∈ s. P(…, y, …) ∧ y = t      for a sum or tally t in a column of the sort s
    E[f W g] = E[f U g] ∨ EG f      A[f W g] = ¬E[¬g U ¬f ∧ ¬g]      A[f U g] = A[f W g] ∧ ¬EG ¬g

Law. (D, σ) ⊨ f iff (D, σ) ⊨ core(f), in every state, under every assignment, and over any set of runs, such
as the fair ones.

Proof. By induction each equation has to hold with g replaced by core(g). The first two lines are the
definitions of the connectives and of counting; ∀ and ∃ range over the same values. A is "on every run" and E
"on some run" of one set, which gives AX, AF and AG; and f holds at some position of a run iff `true` does up
to one where f holds, which gives EF. A run satisfies f until g weakly iff it does so strongly or f holds on
all of it: E[f W g]. It does not iff there is a position where neither f nor g holds and g did not hold
before: with the first such position this is ¬g U (¬f ∧ ¬g), hence A[f W g]. It satisfies f until g strongly
iff it does so weakly and g holds at some position: A[f U g]. ∎

↔ is in the kernel although it could be defined, because its definition has both sides twice. The operands
that other definitions have twice (`exactly`, A[f U g]) are shared objects: a formula is a graph, and a cache
by formula computes each result once. No ¬¬ is left.

An evaluator of the kernel supports every operator that `definition` defines. The explicit engine, evidence
and `evaluate` interpret formulas as they are written, so that the two check each other.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.logic.substitution import fresh_name

Core: TypeAlias = fo.Formula
"""A formula of the kernel: its path quantifiers are E, its counting quantifiers `atleast`."""


def definition(formula: fo.Formula) -> fo.Formula | None:
    """Return the right-hand side of the equation for the outermost operator; None for one of the kernel."""
    match formula:
        case fo.Atom(_, args) if any(map(fo.is_compound, args)):
            return without_integer_terms(formula)
        case fo.Or(parts):
            return fo.Not(fo.And(tuple(map(fo.Not, parts))))
        case fo.Implies(left, right):
            return fo.Not(fo.And((left, fo.Not(right))))
        case fo.Forall(binder, body):
            return fo.Not(fo.Exists(binder, fo.Not(body)))
        case fo.Count("atmost", number):
            return fo.Not(replace(formula, comparison="atleast", number=number + 1))
        case fo.Count("exactly"):
            return fo.And((replace(formula, comparison="atleast"), replace(formula, comparison="atmost")))
        case fo.Next("A", body):
            return fo.Not(fo.Next("E", fo.Not(body)))
        case fo.Future("E", body):
            return fo.Until("E", fo.TRUE, body)
        case fo.Future("A", body):
            return fo.Not(fo.Globally("E", fo.Not(body)))
        case fo.Globally("A", body):
            return fo.Not(fo.Until("E", fo.TRUE, fo.Not(body)))
        case fo.Until("E", left, right, weak=True):
            return fo.Or((fo.Until("E", left, right), fo.Globally("E", left)))
        case fo.Until("A", left, right, weak=True):
            return fo.Not(fo.Until("E", fo.Not(right), fo.And((fo.Not(left), fo.Not(right)))))
        case fo.Until("A", left, right):
            return fo.And((replace(formula, weak=True), fo.Not(fo.Globally("E", fo.Not(right)))))
        case _:
            return None


def without_integer_terms(atom: fo.Atom) -> fo.Formula:
    """Return the atom with each sum and tally replaced by an equal variable of the column's sort.

    The result is false if the sort lacks the integer.
    """
    taken = frozenset(map(str, fo.terms(atom))) | fo.free_variables(atom)
    binders, equal = list[fo.Binder](), list[fo.Formula]()

    def named(place: int, term: fo.Term) -> fo.Term:
        if not fo.is_compound(term):
            return term
        binders.append(fo.Binder(fresh_name(f"_n{place}", taken), atom.sorts[place], declared=True))
        equal.append(fo.Equal(fo.Var(binders[-1].name), term, span=atom.span))
        return fo.Var(binders[-1].name)

    args = tuple(named(place, term) for place, term in enumerate(atom.args))
    formula: fo.Formula = fo.And((replace(atom, args=args), *equal))
    for binder in reversed(binders):
        formula = fo.Exists(binder, formula, span=atom.span)
    return formula


@lru_cache(maxsize=1 << 16)
def core(formula: fo.Expanded) -> Core:
    """Return the formula of the kernel with the same meaning; a formula of the kernel gives an equal one.

    Raise `TypeError` for the use of a definition.
    """
    given, negated = formula, False
    while (defined := definition(formula)) is not None or isinstance(formula, fo.Not):
        if defined is not None:
            formula = defined
        elif isinstance(formula, fo.Not):
            formula, negated = formula.body, not negated
    if isinstance(formula, fo.Use | fo.Derived):
        raise fo.unexpanded(formula)
    if any(core(child) is not child for child in fo.children(formula)):
        formula = fo.map_children(core, formula)
    if not negated:
        return formula
    return given if isinstance(given, fo.Not) and given.body is formula else fo.Not(formula)


def written(part: Core, formula: fo.Expanded) -> fo.Formula:
    """Return the subformula whose core is this part or its negation; the part itself if there is none."""
    alike = {part, core(fo.Not(part))}
    return next((f for f in fo.subformulas(formula) if core(f) in alike), part)


def outside_kernel(formula: fo.Formula) -> TypeError:
    """Return the error for a formula outside the kernel."""
    return TypeError(f"{formula} is no formula of the kernel, `core` of it is")
