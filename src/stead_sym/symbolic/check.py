"""FO-CTL over the reachable states, all assignments at once.

⟦f⟧ ranges over the state bits and the vectors of f's free variables: the pairs (D, σ) with D ∈ R and
σ over U_f such that (D, σ) ⊨ f. An assignment is kept across temporal operators because its vectors
are not state bits: no preimage touches them. The kernel is ¬ ∧ ∃ EX EU EG; the rest is derived.

With `fair` lines every path quantifier ranges over the fair runs: those on which each constraint
holds infinitely often.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import assert_never

from stead_sym.logic.syntax import (
    And,
    Atom,
    Binder,
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
    free_variables,
    is_temporal,
)
from stead_sym.relational.schema import Value
from stead_sym.symbolic.compile import Environment
from stead_sym.symbolic.encoding import Vector
from stead_sym.symbolic.fixpoint import globally, until
from stead_sym.symbolic.manager import Bdd
from stead_sym.symbolic.reach import ReachableStates


class Checker:
    """Satisfying sets of formulas (resolved, definitions expanded) over one reachable set."""

    def __init__(self, model: ReachableStates) -> None:
        self.model = model
        self.compiler = model.compiler
        self.encoding = model.encoding
        self.manager = model.manager
        self._memo: dict[tuple[Formula, tuple[tuple[str, Vector | Value], ...]], Bdd] = {}

    def sat(self, formula: Formula, env: Environment) -> Bdd:
        """⟦f⟧ ⊆ R × assignments of ``env`` to f's free variables."""
        key = (formula, tuple(sorted((x, env[x]) for x in free_variables(formula))))
        if key not in self._memo:
            if is_temporal(formula):
                self._memo[key] = self._sat(formula, env)
            else:
                self._memo[key] = self.compiler.formula(formula, env) & self._all(formula, env)
            if self.model.progress is not None:
                self.model.progress("check", subformulas=len(self._memo), nodes=self.manager.nodes)
        return self._memo[key]

    def _all(self, formula: Formula, env: Environment) -> Bdd:
        """R × all assignments to the free variables of the formula."""
        vectors = [u for x in free_variables(formula) if not isinstance(u := env[x], str)]
        return self.manager.conj([self.model.reached, *(self.encoding.valid(v) for v in vectors)])

    def _sat(self, formula: Formula, env: Environment) -> Bdd:
        m = self.manager
        everywhere = self._all(formula, env)

        def here(f: Formula) -> Bdd:
            return self.sat(f, env)

        def exists_next(f: Bdd) -> Bdd:
            return self.pre(self.fairly(f))

        def exists_until(f: Bdd, g: Bdd) -> Bdd:
            return self.reaches(f, self.fairly(g))

        def negated(f: Bdd) -> Bdd:
            return everywhere & ~f

        match formula:
            case Truth() | Equal() | Atom() | Same() | Empty():
                raise AssertionError("a formula without temporal operators is compiled")
            case Not(body):
                return negated(here(body))
            case And(parts):
                return everywhere & m.conj(map(here, parts))
            case Or(parts):
                return everywhere & m.disj(map(here, parts))
            case Implies(left, right):
                return negated(here(left)) | (everywhere & here(right))
            case Iff(left, right):
                return everywhere & here(left).equiv(here(right))
            case Exists(binder, body):
                return everywhere & self._exists(binder, env, lambda inner: self.sat(body, inner))
            case Forall(binder, body):
                return negated(self._exists(binder, env, lambda inner: ~self.sat(body, inner)))
            case Count(comparison, number, binder, body):
                vector = self.compiler.bound_vector(binder, env)
                inner = self.sat(body, {**env, binder.name: vector})
                member = inner & self.encoding.active(vector.sort, vector)
                return everywhere & self.compiler.compare_count(comparison, number, vector, member)
            case Next("E", body):
                return everywhere & exists_next(here(body))
            case Next("A", body):
                return negated(exists_next(negated(here(body))))
            case Future("E", body):
                return everywhere & exists_until(everywhere, here(body))
            case Future("A", body):
                return negated(self.globally(negated(here(body))))
            case Globally("E", body):
                return self.globally(everywhere & here(body))
            case Globally("A", body):
                return negated(exists_until(everywhere, negated(here(body))))
            case Until("E", left, right, weak):
                f, g = everywhere & here(left), everywhere & here(right)
                strong = exists_until(f, g)
                return strong | self.globally(f) if weak else strong
            case Until("A", left, right, weak):
                no_f, no_g = negated(here(left)), negated(here(right))
                broken = exists_until(no_g, no_f & no_g)
                return negated(broken if weak else broken | self.globally(no_g))
            case _:
                assert_never(formula)  # type: ignore[arg-type]  # mypy does not narrow the path literals

    def _exists(self, binder: Binder, env: Environment, body: Callable[[Environment], Bdd]) -> Bdd:
        vector = self.compiler.bound_vector(binder, env)
        inner = body({**env, binder.name: vector})
        active = self.encoding.active(vector.sort, vector)
        return self.manager.and_exist(frozenset(vector.bits), active, inner)

    def pre(self, target: Bdd) -> Bdd:
        """⟦EX f⟧ = pre(⟦f⟧) ∩ R."""
        return self.model.transitions.preimage(target) & self.model.reached

    def reaches(self, through: Bdd, target: Bdd) -> Bdd:
        """μZ. Y ∨ (X ∧ pre(Z))."""
        return until(self.pre, through, target, self.manager.false)

    def globally(self, body: Bdd) -> Bdd:
        """⟦EG f⟧ over the fair runs."""
        return globally(self.pre, body, self.constraints, self.manager.false)

    @cached_property
    def constraints(self) -> tuple[Bdd, ...]:
        """The states of each fairness constraint."""
        return tuple(self.sat(constraint, {}) for constraint in self.model.deployment.fair)

    @cached_property
    def _fair(self) -> Bdd:
        """The states from which a fair run starts."""
        return self.globally(self.model.reached)

    def fairly(self, states: Bdd) -> Bdd:
        """Those of the states from which a fair run starts: all, where nothing constrains runs."""
        return states & self._fair if self.constraints else states

    def at(self, formula: Formula, assignment: Mapping[str, Value]) -> Bdd:
        """The states of R that satisfy the formula under one assignment, over the state bits.

        The set is computed for all assignments and cut at this one, so that evidence is read off the
        same diagrams as the verdict.
        """
        env: dict[str, Vector | Value] = {}
        code: dict[str, bool] = {}
        counts: dict[str, int] = {}
        for name in sorted(free_variables(formula)):
            sort = self._sort_of(assignment[name])
            vector = self.encoding.vector("var", sort, counts.get(sort, 0))
            counts[sort] = counts.get(sort, 0) + 1
            env[name] = vector
            code.update(self.encoding.code(vector, assignment[name]))
        return self.manager.cofactor(self.sat(formula, env), code)

    def _sort_of(self, value: Value) -> str:
        return next(sort for sort, values in self.encoding.values.items() if value in values)
