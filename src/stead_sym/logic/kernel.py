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

from stead_sym.logic.substitution import fresh_name
from stead_sym.logic.syntax import (
    TRUE,
    And,
    Atom,
    Binder,
    Count,
    Derived,
    Equal,
    Exists,
    Expanded,
    Forall,
    Formula,
    Future,
    Globally,
    Implies,
    Next,
    Not,
    Or,
    Term,
    Until,
    Use,
    Var,
    children,
    free_variables,
    is_compound,
    map_children,
    subformulas,
    terms,
    unexpanded,
)

Core: TypeAlias = Formula
"""A formula of the kernel: its path quantifiers are E, its counting quantifiers `atleast`."""


def definition(formula: Formula) -> Formula | None:
    """Return the right-hand side of the equation for the outermost operator; None for one of the kernel."""
    match formula:
        case Atom(_, args) if any(map(is_compound, args)):
            return without_integer_terms(formula)
        case Or(parts):
            return Not(And(tuple(map(Not, parts))))
        case Implies(left, right):
            return Not(And((left, Not(right))))
        case Forall(binder, body):
            return Not(Exists(binder, Not(body)))
        case Count("atmost", number):
            return Not(replace(formula, comparison="atleast", number=number + 1))
        case Count("exactly"):
            return And((replace(formula, comparison="atleast"), replace(formula, comparison="atmost")))
        case Next("A", body):
            return Not(Next("E", Not(body)))
        case Future("E", body):
            return Until("E", TRUE, body)
        case Future("A", body):
            return Not(Globally("E", Not(body)))
        case Globally("A", body):
            return Not(Until("E", TRUE, Not(body)))
        case Until("E", left, right, weak=True):
            return Or((Until("E", left, right), Globally("E", left)))
        case Until("A", left, right, weak=True):
            return Not(Until("E", Not(right), And((Not(left), Not(right)))))
        case Until("A", left, right):
            return And((replace(formula, weak=True), Not(Globally("E", Not(right)))))
        case _:
            return None


def without_integer_terms(atom: Atom) -> Formula:
    """Return the atom with each sum and tally replaced by an equal variable of the column's sort.

    The result is false if the sort lacks the integer.
    """
    taken = frozenset(map(str, terms(atom))) | free_variables(atom)
    binders, equal = list[Binder](), list[Formula]()

    def named(place: int, term: Term) -> Term:
        if not is_compound(term):
            return term
        binders.append(Binder(fresh_name(f"_n{place}", taken), atom.sorts[place], declared=True))
        equal.append(Equal(Var(binders[-1].name), term, span=atom.span))
        return Var(binders[-1].name)

    args = tuple(named(place, term) for place, term in enumerate(atom.args))
    formula: Formula = And((replace(atom, args=args), *equal))
    for binder in reversed(binders):
        formula = Exists(binder, formula, span=atom.span)
    return formula


@lru_cache(maxsize=1 << 16)
def core(formula: Expanded) -> Core:
    """Return the formula of the kernel with the same meaning; a formula of the kernel gives an equal one.

    Raise `TypeError` for the use of a definition.
    """
    given, negated = formula, False
    while (defined := definition(formula)) is not None or isinstance(formula, Not):
        if defined is not None:
            formula = defined
        elif isinstance(formula, Not):
            formula, negated = formula.body, not negated
    if isinstance(formula, Use | Derived):
        raise unexpanded(formula)
    if any(core(child) is not child for child in children(formula)):
        formula = map_children(core, formula)
    if not negated:
        return formula
    return given if isinstance(given, Not) and given.body is formula else Not(formula)


def written(part: Core, formula: Expanded) -> Formula:
    """Return the subformula whose core is this part or its negation; the part itself if there is none."""
    alike = {part, core(Not(part))}
    return next((f for f in subformulas(formula) if core(f) in alike), part)


def outside_kernel(formula: Formula) -> TypeError:
    """Return the error for a formula outside the kernel."""
    return TypeError(f"{formula} is no formula of the kernel, `core` of it is")
