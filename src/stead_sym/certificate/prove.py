"""The proofs of verdicts, from the sets that the symbolic engine has computed.

Mirrors `certificate.checker.bounds`: the same walk over a formula, with ⟦f⟧ for both bounds of f. What the
engine found by a fixpoint becomes a set that one preimage checks, or rings of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from stead_sym.certificate.convert import Sets
from stead_sym.certificate.document import (
    Bound,
    Closed,
    Each,
    Everywhere,
    Initially,
    Leave,
    Leaving,
    One,
    Proof,
    Rings,
    Run,
    Staying,
)
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.engines.symbolic.check.held_values import Pairs
from stead_sym.engines.symbolic.check.satisfaction import Checker
from stead_sym.engines.symbolic.encode.values import HELD, Vector
from stead_sym.logic.syntax import (
    TRUE,
    And,
    Count,
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
    Until,
    children,
    is_temporal,
)  # fmt: skip

Address: TypeAlias = tuple[int, ...]


class Prover:
    """Proofs over the sets of one checker."""

    def __init__(self, checker: Checker, sets: Sets) -> None:
        self.checker = checker
        self.sets = sets
        self.manager = checker.manager
        self.model = checker.model

    def fair(self) -> Mapping[str, Bound]:
        """The bounds of the states from which a fair run starts."""
        if not self.checker.constraints:
            return {}
        reached = self.model.reached
        pairs = self.checker.pairs(TRUE, {})
        fair = self.checker.fairly(reached)
        return {
            "lower": self._staying(pairs, reached, fair),
            "upper": self._leaving(pairs, reached),
        }

    def prove(self, formula: Formula, verdict: bool) -> tuple[Proof, Mapping[str, Bound]]:
        """A proof that the sentence holds at every D0, or fails at one."""
        bounds: dict[str, Bound] = {}
        return self._prove(formula, verdict, (), bounds), bounds

    def _prove(self, formula: Formula, verdict: bool, at: Address, bounds: dict[str, Bound]) -> Proof:
        alone, reached = self.model.has_one_initial, self.model.reached

        def part(f: Formula, number: int, word: bool) -> Proof:
            return self._prove(f, word, (*at, number), bounds)

        def holds(f: Formula) -> bool:
            return self.checker.holds_initially(f)

        match formula:
            case Not(body) if alone:
                return One(0, part(body, 0, not verdict))
            case And(parts) if verdict:
                return Each(tuple(part(f, number, True) for number, f in enumerate(parts)))
            case And(parts):
                number = next(k for k, f in enumerate(parts) if not holds(f))
                return One(number, part(parts[number], number, False))
            case Or(parts) if alone and verdict:
                number = next(k for k, f in enumerate(parts) if holds(f))
                return One(number, part(parts[number], number, True))
            case Or(parts) if alone:
                return Each(tuple(part(f, number, False) for number, f in enumerate(parts)))
            case Implies(left, right) if alone and verdict:
                return One(1, part(right, 1, True)) if holds(right) else One(0, part(left, 0, False))
            case Implies(left, right) if alone:
                return Each((part(left, 0, True), part(right, 1, False)))
            case Globally("A", body):
                self._bounds(body, (*at, 0), {}, verdict, bounds)
                if verdict:
                    return Everywhere()
                return self._run(reached & ~self.checker.sat(body, {}))
            case Future("E", body) if alone:
                self._bounds(body, (*at, 0), {}, verdict, bounds)
                return self._run(self.checker.sat(body, {})) if verdict else Everywhere()
            case _:
                self._bounds(formula, at, {}, verdict, bounds)
                return Initially()

    def _run(self, target: Bdd) -> Run:
        """A shortest run to a state of the target from which a fair run starts."""
        trace = self.model.trace_to(self.checker.fairly(target))
        states = (trace.start, *(step.state for step in trace.steps))
        return Run(tuple(tuple(state) for state in states))

    # bounds of temporal nodes

    def _bounds(
        self, formula: Formula, at: Address, env: Mapping[str, Vector], lower: bool, bounds: dict[str, Bound]
    ) -> None:
        """The sets for all temporal nodes of a formula."""
        if not is_temporal(formula):
            return
        sides: Iterable[bool] = (lower,) * len(children(formula))
        inner = env
        match formula:
            case Not():
                sides = (not lower,)
            case Implies():
                sides = (not lower, lower)
            case Iff(left, right):
                for number, child in enumerate((left, right)):
                    self._bounds(child, (*at, number), env, not lower, bounds)
            case Exists() | Forall() | Count():
                encoding = self.checker.encoding
                vector = encoding.unused(formula.binder.sort, env.values(), HELD)
                inner = {**env, formula.binder.name: vector}
                if getattr(formula, "comparison", "atleast") == "atmost":
                    sides = (not lower,)
                elif getattr(formula, "comparison", "") == "exactly":
                    sides = (lower,)
                    self._bounds(formula.body, (*at, 0), inner, not lower, bounds)
            case _:
                pass
        for number, (child, side) in enumerate(zip(children(formula), sides, strict=True)):
            self._bounds(child, (*at, number), inner, side, bounds)
        for operator, side, bound in self._own(formula, env, lower):
            where = ".".join(map(str, at)) or "top"
            bounds[f"{where} {operator} {'lower' if side else 'upper'}"] = bound

    def _own(
        self, formula: Formula, env: Mapping[str, Vector], lower: bool
    ) -> Iterable[tuple[str, bool, Bound]]:
        """The sets of a temporal node itself."""
        if not isinstance(formula, Next | Future | Globally | Until):
            return
        pairs = self.checker.pairs(formula, env)
        everywhere = self.checker.operators(pairs).everywhere

        def here(f: Formula) -> Bdd:
            return everywhere & self.checker.sat(f, env)

        def without(f: Formula) -> Bdd:
            return everywhere & ~self.checker.sat(f, env)

        match formula:
            case Next():
                pass
            case Future("E", body):
                yield "EU", lower, self._until(pairs, everywhere, here(body), lower, here(formula))
            case Future(_, body):
                yield "EG", not lower, self._globally(pairs, without(body), not lower, without(formula))
            case Globally("E", body):
                yield "EG", lower, self._globally(pairs, here(body), lower, here(formula))
            case Globally(_, body):
                yield (
                    "EU",
                    not lower,
                    self._until(pairs, everywhere, without(body), not lower, without(formula)),
                )
            case Until("E", left, right, weak):
                yield "EU", lower, self._until(pairs, here(left), here(right), lower)
                if weak:
                    yield "EG", lower, self._globally(pairs, here(left), lower)
            case Until(_, left, right, weak):
                wait = without(right)
                broken = without(left) & wait
                exact = without(formula) if weak else None
                yield "EU", not lower, self._until(pairs, wait, broken, not lower, exact)
                if not weak:
                    yield "EG", not lower, self._globally(pairs, wait, not lower)

    def _until(self, pairs: Pairs, f: Bdd, g: Bdd, lower: bool, exact: Bdd | None = None) -> Bound:
        """The set, or the rings, of E[f U g]; ``exact`` is ⟦E[f U g]⟧ where it is known."""
        target = self.checker.fairly(g)
        if lower:
            return Rings(self._rings(pairs, f, target))
        return Closed(self.sets.number(pairs.relation.reaching(target, f) if exact is None else exact))

    def _rings(self, pairs: Pairs, f: Bdd, target: Bdd) -> tuple[int, ...]:
        """T_i = f ∩ pre(T_{i−1}) without what was found before, from T_0 = ``target`` on."""
        found, last, rings = target, target, list[int]()
        while (last := f & pairs.relation.preimage(last) & ~found) != self.manager.false:
            found = found | last
            rings.append(self.sets.number(last))
        return tuple(rings)

    def _globally(self, pairs: Pairs, f: Bdd, lower: bool, exact: Bdd | None = None) -> Bound:
        if not lower:
            return self._leaving(pairs, f)
        stay = self.checker.operators(pairs).exists_globally(f) if exact is None else exact
        return self._staying(pairs, f, stay)

    def _staying(self, pairs: Pairs, f: Bdd, stay: Bdd) -> Bound:
        """The greatest set that runs of EG f stay in, with the way from it to each constraint."""
        visits = (self._rings(pairs, f, stay & constraint) for constraint in self.checker.constraints)
        return Staying(self.sets.number(stay), tuple(visits))

    def _leaving(self, pairs: Pairs, f: Bdd) -> Bound:
        """What cannot stay in f, step by step."""
        left, steps = f, list[Leave]()
        false = self.manager.false
        while True:
            before = left
            while (gone := left & ~pairs.relation.preimage(left)) != false:
                steps.append(Leave(self.sets.number(gone)))
                left = left & ~gone
            for number, constraint in enumerate(self.checker.constraints):
                near = pairs.relation.reaching(left & constraint, left)
                if (gone := left & ~pairs.relation.preimage(near)) != false:
                    steps.append(Leave(self.sets.number(gone), number, self.sets.number(near)))
                    left = left & ~gone
            if left == before:
                return Leaving(tuple(steps))
