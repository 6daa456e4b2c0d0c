"""FO-CTL over the reachable states, for all assignments at once.

⟦f⟧ ranges over the state bits and the vectors of f's free variables: the pairs (D, σ) with D ∈ R and σ over
U_f such that (D, σ) ⊨ f. An assignment is kept across temporal operators because its vectors are not state
bits: no preimage affects them. Only the kernel is interpreted (`logic.kernel`).

For a formula without temporal operators the product of R with all assignments is not built: its quantifiers
are evaluated over R alone, a block of them at once.

With `fair` lines every path quantifier ranges over the fair runs: those on which each constraint on states
holds infinitely often, and each constraint on actions is met (`check.actions`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import stead_sym.logic.syntax as fo
from stead_sym.deployment.parts import FairAction
from stead_sym.engines.symbolic.bdd.fixpoint import globally
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.engines.symbolic.check.actions import ActionSteps, fair_actions
from stead_sym.engines.symbolic.check.held_values import Pairs
from stead_sym.engines.symbolic.check.operators import Operators
from stead_sym.engines.symbolic.encode.values import HELD, Vector, bits_of
from stead_sym.engines.symbolic.explore.reach import ReachableStates
from stead_sym.engines.symbolic.step.formulas import Compiler, Environment, Reading, reading
from stead_sym.logic.kernel import Core, core, outside_kernel


class Checker(Compiler):
    """Satisfying sets of formulas (resolved, definitions expanded) over one reachable set.

    It compiles first-order formulas as `Compiler` does, except for quantifiers and counts, which are
    evaluated within R. `formula` agrees with ⟦f⟧ on the pairs of a reachable state and an assignment, and is
    arbitrary elsewhere.
    """

    def __init__(
        self,
        model: ReachableStates,
        fair: Sequence[fo.Formula] = (),
        actions: Sequence[FairAction] = (),
        hidden: Bdd | None = None,
    ) -> None:
        """Create a checker under fairness constraints.

        ``fair`` are the constraints F_k on states, first-order sentences. With ``hidden``, the states from
        which no run starts that meets all constraints, each is replaced by F_k ∨ hidden. ``actions`` are the
        constraints on actions.
        """
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

    def sat(self, formula: fo.Expanded, env: Environment) -> Bdd:
        """Return ⟦f⟧ ⊆ R × assignments of ``env`` to f's free variables."""
        return self._set(core(formula), env)

    def _set(self, formula: Core, env: Environment) -> Bdd:
        key = reading(formula, env)
        if key not in self._sets:
            self._sets[key] = self._sat(formula, env)
            self.model.report("check", subformulas=len(self._sets) + len(self._memo))
        return self._sets[key]

    def _alike(self, formula: Core, env: Environment) -> Bdd:
        """Return a set that agrees with ⟦f⟧ on R × assignments, as `formula` does; ⟦f⟧ if f is temporal."""
        return self._set(formula, env) if fo.is_temporal(formula) else self._compiled(formula, env, False)

    def holds_initially(self, formula: fo.Expanded) -> bool:
        """Return True if D0 ⊨ f for every D0, for a sentence.

        Every reachable state is reachable from some D0. So `AG f` holds there iff f holds in all of R, and
        with a single D0 `EF f` holds iff f holds in some state of R; neither needs a fixpoint.
        """
        return self._holds_initially(core(formula))

    def _holds_initially(self, formula: Core) -> bool:
        alone = self.model.has_one_initial
        match formula:
            case fo.Not(fo.Until("E", fo.Truth(True), body)):
                return self.fairly(self.model.reached) & self._set(body, {}) == self.manager.false
            case fo.Not(body) if alone:
                return not self._holds_initially(body)
            case fo.And(parts):
                return all(map(self._holds_initially, parts))
            case fo.Until("E", fo.Truth(True), body) if alone:
                return self.fairly(self._set(body, {})) != self.manager.false
            case _:
                return self.model.initial & ~self._set(formula, {}) == self.manager.false

    def initially(self, formula: fo.Formula) -> Bdd:
        """Return the initial states in which a sentence holds."""
        return self.model.initial & self.sat(formula, {})

    def pairs(self, formula: fo.Formula, env: Environment) -> Pairs:
        """Return the transitions over the states and the free variables of a formula."""
        vectors = {u for x in fo.free_variables(formula) if isinstance(u := env[x], Vector)}
        key = tuple(sorted(vectors, key=lambda vector: vector.bits))
        if key not in self._pairs:
            self._pairs[key] = self._pairing(key)
        return self._pairs[key]

    def _pairing(self, vectors: Sequence[Vector]) -> Pairs:
        return Pairs(self.model.plan, self.model.transitions, vectors, self.model.report)

    def operators(self, pairs: Pairs) -> Operators:
        """Return CTL over the reachable states and all assignments to some variables."""
        if pairs.vectors not in self._operators:
            everywhere = self.model.reached & pairs.assignments
            operators = Operators(pairs, everywhere, self._fair, self.constraints, self._steps(pairs))
            self._operators[pairs.vectors] = operators
        return self._operators[pairs.vectors]

    def _sat(self, formula: Core, env: Environment) -> Bdd:
        ctl = self.operators(self.pairs(formula, env))
        everywhere = ctl.everywhere
        if not fo.is_temporal(formula):
            return everywhere & self._compiled(formula, env, False)

        def here(f: Core) -> Bdd:
            return everywhere & self._alike(f, env)

        match formula:
            case fo.Not(body):
                return ctl.negation(here(body))
            case fo.And(parts):
                return everywhere & self.manager.conj(self._alike(part, env) for part in parts)
            case fo.Iff(left, right):
                return everywhere & here(left).equiv(here(right))
            case fo.Exists(binder, body):
                return everywhere & self._exists(binder, body, env)
            case fo.Count("atleast", number, binder, body):
                return everywhere & self._at_least(number, binder, body, env)
            case fo.Next("E", body):
                return ctl.exists_next(here(body))
            case fo.Globally("E", body):
                return ctl.exists_globally(here(body))
            case fo.Until("E", left, right, weak=False):
                return ctl.exists_until(here(left), here(right))
            case _:
                raise outside_kernel(formula)

    def _exists(self, binder: fo.Binder, body: Core, env: Environment, joint: bool = False) -> Bdd:
        """Return ∃ bits(x). active(x) ∧ ⟦body⟧, within R, for the bound variable x.

        A block of quantifiers is evaluated at once for all its variables.
        """
        assert not joint
        binders = [binder]
        while isinstance(body, fo.Exists) and body.binder.name not in {known.name for known in binders}:
            binders.append(body.binder)
            body = body.body
        vectors, member = self._member(binders, body, env)
        return self.manager.and_exist(frozenset(bits_of(vectors)), self.model.reached, member)

    def _at_least(
        self, number: int, binder: fo.Binder, body: Core, env: Environment, joint: bool = False
    ) -> Bdd:
        """Return the set where active(x) ∧ ⟦body⟧ for at least ``number`` values x.

        Values are counted over the assignments of the other variables alone. The bits for the dead values
        that x shares with another variable do not affect the count.
        """
        assert not joint
        [vector], member = self._member([binder], body, env)
        everywhere = self.operators(self.pairs(fo.Exists(binder, body), env)).everywhere
        return self.so_many(number, vector, everywhere & member)

    def _member(
        self, binders: Sequence[fo.Binder], body: Core, env: Environment
    ) -> tuple[Sequence[Vector], Bdd]:
        """Return vectors for the bound variables x, and ⋀ active(x) ∧ ⟦body⟧.

        The set is over the state bits, the bits of these vectors and those of the body's other free
        variables. For `x in s` any declared value qualifies. An active value is not dead, so the bits for
        equal dead values of x and another variable are fixed to 0.
        """
        vectors = list[Vector]()
        inner = dict(env)
        for binder in binders:
            vectors.append(self.bound_vector(binder, inner))
            inner[binder.name] = vectors[-1]
        member = self._alike(body, inner)
        for binder, vector in zip(binders, vectors, strict=True):
            member = member & self.ranging(binder, vector, body)
        terms = (inner[name] for name in fo.free_variables(body))
        pairs = (pair for pair in self.encoding.mortal_pairs(terms) if not set(pair).isdisjoint(vectors))
        return vectors, self.manager.cofactor(
            member, dict.fromkeys((self.encoding.same_dead(*pair) for pair in pairs), False)
        )

    @cached_property
    def constraints(self) -> tuple[Bdd, ...]:
        """The states of each fairness constraint, a first-order sentence.

        The hidden states are included if these count.
        """
        reached, compiler = self.model.reached, self.model.compiler
        return tuple(self._counting | reached & compiler.formula(fair, {}) for fair in self._constraints)

    @cached_property
    def _fair(self) -> Bdd:
        """The states from which a fair run starts; all if there are no constraints."""
        if not self.is_constrained:
            return self.manager.true
        pairs = self._pairing(())
        return globally(pairs.relation, self.model.reached, self.constraints, self._steps(pairs))

    def _steps(self, pairs: Pairs) -> ActionSteps | None:
        """Return the steps of pairs with the constraints on actions, or None if there are none."""
        return ActionSteps(self.model, pairs, self.actions) if self.actions else None

    @property
    def is_constrained(self) -> bool:
        """True if path quantifiers range over fair runs only."""
        return bool(self._constraints or self.actions)

    @property
    def hidden(self) -> Bdd:
        """The reachable states from which no fair run starts."""
        return self.model.reached & ~self._fair

    def completion(self) -> Checker:
        """Return the checker for which the runs that enter a hidden state count as well."""
        return Checker(self.model, self._constraints, self._actions, self.hidden)

    def fairly(self, states: Bdd) -> Bdd:
        """Return those of the states from which a fair run starts."""
        return states & self._fair

    def vectors(self, formula: fo.Formula, sorts: Mapping[str, str]) -> Mapping[str, Vector]:
        """Return a vector for each free variable of the formula, given their sorts."""
        env: dict[str, Vector] = {}
        for name in sorted(fo.free_variables(formula)):
            env[name] = self.encoding.unused(sorts[name], env.values(), self.role)
        return env
