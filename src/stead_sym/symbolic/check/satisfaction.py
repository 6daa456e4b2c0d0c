"""FO-CTL over the reachable states, all assignments at once.

⟦f⟧ ranges over the state bits and the vectors of f's free variables: the pairs (D, σ) with D ∈ R and
σ over U_f such that (D, σ) ⊨ f. An assignment is kept across temporal operators because its vectors
are not state bits: no preimage touches them. The kernel is ¬ ∧ ∃ EX EU EG; the rest is derived.

What has no temporal operator keeps no assignment, and the product of R with all of them is not built for it:
its quantifiers are taken over R alone, a block of them at once.

With `fair` lines every path quantifier ranges over the fair runs: those on which each constraint on states
holds infinitely often, and each constraint on actions is met (`check.actions`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import assert_never

from stead_sym.deployment.parts import FairAction
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
    is_temporal,
)
from stead_sym.symbolic.bdd.fixpoint import globally
from stead_sym.symbolic.bdd.manager import Bdd
from stead_sym.symbolic.check.actions import fair_actions
from stead_sym.symbolic.check.held_values import Pairs
from stead_sym.symbolic.check.operators import Operators
from stead_sym.symbolic.encode.values import HELD, Vector, bits_of
from stead_sym.symbolic.explore.reach import ReachableStates
from stead_sym.symbolic.step.formulas import Compiler, Environment, Reading, reading


class Checker(Compiler):
    """Satisfying sets of formulas (resolved, definitions expanded) over one reachable set.

    It compiles first-order formulas as `Compiler` does, but for quantifiers and counts, which are taken
    within R: `formula` agrees with ⟦f⟧ on the pairs of a reachable state and an assignment, and may be
    anything elsewhere.
    """

    def __init__(
        self,
        model: ReachableStates,
        fair: Sequence[Formula] = (),
        actions: Sequence[FairAction] = (),
        hidden: Bdd | None = None,
    ) -> None:
        """``fair``: the fairness constraints F_k on states, first-order sentences; with ``hidden``, the
        states from which no run starts that meets all constraints, it is F_k ∨ hidden for each of them.
        ``actions``: the constraints on actions."""
        super().__init__(model.encoding, HELD, model.compiler.single)
        self.model = model
        self._constraints = tuple(fair)
        self._actions = tuple(actions)
        self.actions = tuple(of_action for action in actions for of_action in fair_actions(model, action))
        self.completed = hidden is not None
        self._counting = self.manager.false if hidden is None else hidden
        self._sets: dict[Reading, Bdd] = {}
        self._pairs: dict[tuple[Vector, ...], Pairs] = {}
        self._operators: dict[tuple[Vector, ...], Operators] = {}

    def sat(self, formula: Formula, env: Environment) -> Bdd:
        """⟦f⟧ ⊆ R × assignments of ``env`` to f's free variables."""
        key = reading(formula, env)
        if key not in self._sets:
            self._sets[key] = self._sat(formula, env)
            self.model.report("check", subformulas=len(self._sets) + len(self._memo))
        return self._sets[key]

    def _alike(self, formula: Formula, env: Environment) -> Bdd:
        """What agrees with ⟦f⟧ on R × assignments, as `formula` does; of a temporal formula ⟦f⟧ itself."""
        return self.sat(formula, env) if is_temporal(formula) else self.formula(formula, env)

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
            along = tuple(action.over(pairs) for action in self.actions)
            operators = Operators(pairs, everywhere, self._fair, self.constraints, along)
            self._operators[pairs.vectors] = operators
        return self._operators[pairs.vectors]

    def _sat(self, formula: Formula, env: Environment) -> Bdd:
        m, ctl = self.manager, self.operators(self.pairs(formula, env))
        everywhere = ctl.everywhere
        if not is_temporal(formula):
            return everywhere & self.formula(formula, env)

        def here(f: Formula) -> Bdd:
            return everywhere & self._alike(f, env)

        match formula:
            case Truth() | Equal() | Compare() | Atom() | Use() | Same() | Empty():
                raise AssertionError(f"{formula} has no temporal operator")
            case Not(body):
                return ctl.negation(here(body))
            case And(parts):
                return everywhere & m.conj(self._alike(part, env) for part in parts)
            case Or(parts):
                return everywhere & m.disj(self._alike(part, env) for part in parts)
            case Implies(left, right):
                return ctl.negation(here(left)) | here(right)
            case Iff(left, right):
                return everywhere & here(left).equiv(here(right))
            case Exists(binder, body):
                return everywhere & self._exists(binder, body, env)
            case Forall(binder, body):
                return ctl.negation(self._exists(binder, Not(body), env))
            case Count():
                return everywhere & self._counted(formula, env)
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

    def _exists(self, binder: Binder, body: Formula, env: Environment, joint: bool = False) -> Bdd:
        """∃ bits(x). active(x) ∧ ⟦body⟧, within R, for the variable x that is bound; for all variables of a
        block of quantifiers at once."""
        assert not joint
        binders, inner = [binder], _as_exists(body)
        while inner is not None and inner.binder.name not in {known.name for known in binders}:
            binders.append(inner.binder)
            body, inner = inner.body, _as_exists(inner.body)
        vectors, member = self._member(binders, body, env)
        return self.manager.and_exist(frozenset(bits_of(vectors)), self.model.reached, member)

    def _counted(self, formula: Count, env: Environment, joint: bool = False) -> Bdd:
        """The number of values x with active(x) ∧ ⟦body⟧ compares as asked.

        It is counted over the assignments of the other variables alone. Those of x have bits that say which
        dead value it shares with another variable, of which a count says nothing.
        """
        assert not joint
        [vector], member = self._member([formula.binder], formula.body, env)
        within = self.operators(self.pairs(formula, env)).everywhere & member
        return self.compare_count(formula.comparison, formula.number, vector, within)

    def _member(
        self, binders: Sequence[Binder], body: Formula, env: Environment
    ) -> tuple[Sequence[Vector], Bdd]:
        """Vectors for the variables x that are bound, and ⋀ active(x) ∧ ⟦body⟧ over the state bits, the bits
        of these and those of the body's other free variables; of `x in s` any declared value does. An active
        value is not dead, so that no bit says that x and another variable hold the same dead value."""
        vectors = list[Vector]()
        inner = dict(env)
        for binder in binders:
            vectors.append(self.bound_vector(binder, inner))
            inner[binder.name] = vectors[-1]
        member = self._alike(body, inner)
        for binder, vector in zip(binders, vectors, strict=True):
            member = member & self.ranging(binder, vector, body)
        terms = (inner[name] for name in free_variables(body))
        pairs = (pair for pair in self.encoding.mortal_pairs(terms) if not set(pair).isdisjoint(vectors))
        return vectors, self.manager.cofactor(
            member, dict.fromkeys((self.encoding.same_dead(*pair) for pair in pairs), False)
        )

    @cached_property
    def constraints(self) -> tuple[Bdd, ...]:
        """The states of each fairness constraint, a first-order sentence, with those that are hidden where
        these count."""
        reached, compiler = self.model.reached, self.model.compiler
        return tuple(self._counting | reached & compiler.formula(fair, {}) for fair in self._constraints)

    @cached_property
    def _fair(self) -> Bdd:
        """The states from which a fair run starts: where nothing constrains runs, all."""
        if not self.is_constrained:
            return self.manager.true
        pairs = Pairs(self.model.plan, self.model.transitions, (), self.model.report)
        along = [action.over(pairs) for action in self.actions]
        return globally(self.model.transitions, self.model.reached, self.constraints, along)

    @property
    def is_constrained(self) -> bool:
        """Whether path quantifiers range over fair runs only."""
        return bool(self._constraints or self.actions)

    @property
    def hidden(self) -> Bdd:
        """The reachable states from which no fair run starts."""
        return self.model.reached & ~self._fair

    def completion(self) -> Checker:
        """The checker for which the runs that enter a hidden state count as well."""
        return Checker(self.model, self._constraints, self._actions, self.hidden)

    def fairly(self, states: Bdd) -> Bdd:
        """Those of the states from which a fair run starts."""
        return states & self._fair

    def vectors(self, formula: Formula, sorts: Mapping[str, str]) -> Mapping[str, Vector]:
        """A vector for each free variable of the formula, given their sorts."""
        env: dict[str, Vector] = {}
        for name in sorted(free_variables(formula)):
            env[name] = self.encoding.unused(sorts[name], env.values(), self.role)
        return env


def _as_exists(formula: Formula) -> Exists | None:
    """The formula as ∃x. f, if it is one or ¬∀x. ¬f."""
    match formula:
        case Exists():
            return formula
        case Not(Forall(binder, body)):
            return Exists(binder, Not(body))
        case _:
            return None
