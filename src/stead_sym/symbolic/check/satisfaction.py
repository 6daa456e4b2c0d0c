"""FO-CTL over the reachable states, all assignments at once.

⟦f⟧ ranges over the state bits and the vectors of f's free variables: the pairs (D, σ) with D ∈ R and
σ over U_f such that (D, σ) ⊨ f. An assignment is kept across temporal operators because its vectors
are not state bits: no preimage touches them. The kernel is ¬ ∧ ∃ EX EU EG; the rest is derived.

With `fair` lines every path quantifier ranges over the fair runs: those on which each constraint
holds infinitely often.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import assert_never

from stead_sym.logic.syntax import (
    And,
    Atom,
    Binder,
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
    free_variables,
)
from stead_sym.relational.schema import Value
from stead_sym.symbolic.bdd.fixpoint import globally
from stead_sym.symbolic.bdd.manager import Bdd
from stead_sym.symbolic.check.held_values import Pairs
from stead_sym.symbolic.check.operators import Operators
from stead_sym.symbolic.encode.values import Vector
from stead_sym.symbolic.explore.reach import ReachableStates
from stead_sym.symbolic.step.formulas import Compiler, Environment


class Checker:
    """Satisfying sets of formulas (resolved, definitions expanded) over one reachable set."""

    def __init__(self, model: ReachableStates, fair: Sequence[Formula] = ()) -> None:
        """``fair``: the fairness constraints, first-order sentences."""
        self.model = model
        self._constraints = tuple(fair)
        self.encoding = model.encoding
        self.compiler = Compiler(model.encoding, role="held")
        self.manager = model.manager
        self._memo: dict[tuple[Formula, tuple[tuple[str, Vector | Value], ...]], Bdd] = {}
        self._pairs: dict[tuple[Vector, ...], Pairs] = {}
        self._operators: dict[tuple[Vector, ...], Operators] = {}

    def sat(self, formula: Formula, env: Environment) -> Bdd:
        """⟦f⟧ ⊆ R × assignments of ``env`` to f's free variables."""
        key = (formula, tuple(sorted((x, env[x]) for x in free_variables(formula))))
        if key not in self._memo:
            self._memo[key] = self._sat(formula, env)
            self.model.report("check", subformulas=len(self._memo))
        return self._memo[key]

    def holds_initially(self, formula: Formula) -> bool:
        """D0 ⊨ f for every D0, for a sentence. Every reachable state is reachable from some D0, so there `AG
        f` only asks whether f holds in all of R, and where there is one D0, `EF f` whether it holds in some:
        no fixpoint."""
        alone = self.model.has_one_initial
        match formula:
            case Not(body) if alone:
                return not self.holds_initially(body)
            case And(parts):
                return all(map(self.holds_initially, parts))
            case Or(parts) if alone:
                return any(map(self.holds_initially, parts))
            case Implies(left, right) if alone:
                return not self.holds_initially(left) or self.holds_initially(right)
            case Globally("A", body):
                return self.fairly(self.model.reached) & ~self.sat(body, {}) == self.manager.false
            case Future("E", body) if alone:
                return self.fairly(self.sat(body, {})) != self.manager.false
            case _:
                return self.model.initial & ~self.sat(formula, {}) == self.manager.false

    def initially(self, formula: Formula) -> Bdd:
        """The initial states in which a sentence holds."""
        return self.model.initial & self.sat(formula, {})

    def pairs(self, formula: Formula, env: Environment) -> Pairs:
        """The transitions over the states and the free variables of a formula."""
        vectors = {u for x in free_variables(formula) if isinstance(u := env[x], Vector)}
        key = tuple(sorted(vectors, key=lambda vector: vector.bits))
        if key not in self._pairs:
            self._pairs[key] = Pairs(self.model.plan, self.model.transitions, key, self.model.report)
        return self._pairs[key]

    def operators(self, pairs: Pairs) -> Operators:
        """CTL over the reachable states and all assignments to some variables."""
        if pairs.vectors not in self._operators:
            everywhere = self.model.reached & pairs.assignments
            operators = Operators(pairs, everywhere, self._fair, self.constraints)
            self._operators[pairs.vectors] = operators
        return self._operators[pairs.vectors]

    def _sat(self, formula: Formula, env: Environment) -> Bdd:
        m, ctl = self.manager, self.operators(self.pairs(formula, env))
        everywhere = ctl.everywhere

        def here(f: Formula) -> Bdd:
            return everywhere & self.sat(f, env)

        match formula:
            case Truth() | Equal() | Compare() | Atom() | Use() | Same() | Empty():
                return everywhere & self.compiler.formula(formula, env)
            case Not(body):
                return ctl.negation(here(body))
            case And(parts):
                return everywhere & m.conj(self.sat(part, env) for part in parts)
            case Or(parts):
                return everywhere & m.disj(self.sat(part, env) for part in parts)
            case Implies(left, right):
                return ctl.negation(here(left)) | here(right)
            case Iff(left, right):
                return everywhere & here(left).equiv(here(right))
            case Exists(binder, body):
                return everywhere & self._exists(binder, body, env)
            case Forall(binder, body):
                return ctl.negation(self._exists(binder, Not(body), env))
            case Count(comparison, number, binder, body):
                vector, member = self._member(binder, body, env)
                return everywhere & self.compiler.compare_count(comparison, number, vector, member)
            case Next(path, body):
                return ctl.exists_next(here(body)) if path == "E" else ctl.all_next(here(body))
            case Future(path, body):
                return ctl.exists_future(here(body)) if path == "E" else ctl.all_future(here(body))
            case Globally(path, body):
                return ctl.exists_globally(here(body)) if path == "E" else ctl.all_globally(here(body))
            case Until("E", left, right, weak):
                return (ctl.exists_weak_until if weak else ctl.exists_until)(here(left), here(right))
            case Until(_, left, right, weak):
                return (ctl.all_weak_until if weak else ctl.all_until)(here(left), here(right))
            case _:
                assert_never(formula)

    def _member(self, binder: Binder, body: Formula, env: Environment) -> tuple[Vector, Bdd]:
        """A vector for the variable x that is bound, and active(x) ∧ ⟦body⟧ over the state bits, the bits
        of x and those of the body's other free variables; of `x in s` any declared value does. An active
        value is not dead, so that no bit says that x and another variable hold the same dead value."""
        vector = self.compiler.bound_vector(binder, env)
        inner = {**env, binder.name: vector}
        member = self.sat(body, inner) & self.compiler.ranging(binder, vector, body)
        terms = (inner[name] for name in free_variables(body))
        pairs = (pair for pair in self.encoding.mortal_pairs(terms) if vector in pair)
        return vector, self.manager.cofactor(
            member, dict.fromkeys((self.encoding.same_dead(*pair) for pair in pairs), False)
        )

    def _exists(self, binder: Binder, body: Formula, env: Environment) -> Bdd:
        """∃ bits(x). active(x) ∧ ⟦body⟧ for the variable x that is bound."""
        vector, member = self._member(binder, body, env)
        return self.manager.exist(frozenset(vector.bits), member)

    @cached_property
    def constraints(self) -> tuple[Bdd, ...]:
        """The states of each fairness constraint, a first-order sentence."""
        reached, compiler = self.model.reached, self.model.compiler
        return tuple(reached & compiler.formula(fair, {}) for fair in self._constraints)

    @cached_property
    def _fair(self) -> Bdd:
        """The states from which a fair run starts: where nothing constrains runs, all."""
        if not self.constraints:
            return self.manager.true
        return globally(self.model.transitions, self.model.reached, self.constraints)

    def fairly(self, states: Bdd) -> Bdd:
        """Those of the states from which a fair run starts."""
        return states & self._fair

    def vectors(self, formula: Formula, sorts: Mapping[str, str]) -> Mapping[str, Vector]:
        """A vector for each free variable of the formula, given their sorts."""
        env: dict[str, Vector] = {}
        for name in sorted(free_variables(formula)):
            env[name] = self.encoding.unused(sorts[name], env.values(), self.compiler.role)
        return env
