"""Proofs of verdicts, from the sets that the symbolic engine computed.

Mirrors `certificate.checker.bounds`: the same recursion over the core of a formula, with ⟦f⟧ as both bounds
of f. What the engine computed by a fixpoint becomes a set that one preimage checks, or a sequence of rings.
"""

from __future__ import annotations

from collections.abc import Mapping

import stead_sym.logic.syntax as fo
from stead_sym.certificate.checker.bounds import Address, side_of, written
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
from stead_sym.logic.kernel import Core, core


class Prover:
    """Creates proofs over the sets of one checker."""

    def __init__(self, checker: Checker, sets: Sets) -> None:
        self.checker = checker
        self.sets = sets
        self.manager = checker.manager
        self.model = checker.model
        self._bounded: set[tuple[Core, tuple[tuple[str, Vector], ...], bool]] = set()

    def fair(self) -> Mapping[str, Bound]:
        """Return the bounds of the states from which a fair run starts."""
        if not self.checker.constraints:
            return {}
        reached = self.model.reached
        pairs = self.checker.pairs(fo.TRUE, {})
        fair = self.checker.fairly(reached)
        return {
            "lower": self._staying(pairs, reached, fair),
            "upper": self._leaving(pairs, reached),
        }

    def prove(self, formula: fo.Formula, verdict: bool) -> tuple[Proof, Mapping[str, Bound]]:
        """Return a proof that the sentence holds at every D0, or fails at one, with its bounds."""
        bounds: dict[str, Bound] = {}
        self._bounded.clear()
        return self._prove(core(formula), verdict, verdict, (), bounds), bounds

    def _prove(self, formula: Core, value: bool, every: bool, at: Address, bounds: dict[str, Bound]) -> Proof:
        """Return a proof that the sentence has the truth value at every D0.

        With ``every`` False, at some D0.
        """
        alone = self.model.has_one_initial

        def part(f: Core, number: int) -> Proof:
            return self._prove(f, value, every, (*at, number), bounds)

        def false(f: Core) -> bool:
            return self.checker.holds_initially(fo.Not(f)) if every else not self.checker.holds_initially(f)

        match formula:
            case fo.Not(body):
                return self._prove(body, not value, every, (*at, 0), bounds)
            case fo.And(parts) if value and (every or alone):
                return Each(tuple(part(f, number) for number, f in enumerate(parts)))
            case fo.And(parts) if not value and any(map(false, parts)):
                number = next(k for k, f in enumerate(parts) if false(f))
                return One(number, part(parts[number], number))
            case fo.Until("E", fo.Truth(True), body) if alone or every != value:
                self._bounds(body, (*at, 1), {}, value, bounds)
                return self._run(self.checker.sat(body, {})) if value else Everywhere()
            case _:
                self._bounds(formula, at, {}, value, bounds)
                return Initially()

    def _run(self, target: Bdd) -> Run:
        """Return a shortest run to a state of the target from which a fair run starts."""
        trace = self.model.trace_to(self.checker.fairly(target))
        states = (trace.start, *(step.state for step in trace.steps))
        return Run(tuple(tuple(state) for state in states))

    # bounds of temporal nodes

    def _bounds(
        self, formula: Core, at: Address, env: Mapping[str, Vector], lower: bool, bounds: dict[str, Bound]
    ) -> None:
        """Add the bounds of all temporal nodes of a formula."""
        own = tuple((name, env[name]) for name in sorted(fo.free_variables(formula)))
        if not fo.is_temporal(formula) or (formula, own, lower) in self._bounded:
            return
        self._bounded.add((formula, own, lower))
        inner: Mapping[str, Vector] = env
        sides: tuple[bool, ...] = (lower,)
        match formula:
            case fo.Not():
                sides = (not lower,)
            case fo.Iff():
                sides = (lower, not lower)
            case fo.Exists(binder) | fo.Count(_, _, binder):
                vector = self.checker.encoding.unused(binder.sort, env.values(), HELD)
                inner = {**env, binder.name: vector}
            case _:
                pass
        for side in sides:
            for number, child in enumerate(fo.children(formula)):
                self._bounds(child, (*at, number), inner, side, bounds)
        if isinstance(formula, fo.Until | fo.Globally):
            operator = "EG" if isinstance(formula, fo.Globally) else "EU"
            bounds[written(at, operator, side_of(lower))] = self._bound(formula, env, lower)

    def _bound(self, formula: fo.Until | fo.Globally, env: Mapping[str, Vector], lower: bool) -> Bound:
        """Return the set, or the sets, that bound a node itself."""
        pairs = self.checker.pairs(formula, env)
        everywhere = self.checker.operators(pairs).everywhere
        exact = everywhere & self.checker.sat(formula, env)

        def here(f: Core) -> Bdd:
            return everywhere & self.checker.sat(f, env)

        if isinstance(formula, fo.Until):
            if not lower:
                return Closed(self.sets.number(exact))
            return Rings(self._rings(pairs, here(formula.left), self.checker.fairly(here(formula.right))))
        body = here(formula.body)
        return self._staying(pairs, body, exact) if lower else self._leaving(pairs, body)

    def _rings(self, pairs: Pairs, f: Bdd, target: Bdd) -> tuple[int, ...]:
        """Return T_i = f ∩ pre(T_{i−1}) minus the rings before, starting from T_0 = ``target``."""
        reaching, last, rings = target, target, list[int]()
        while (last := f & pairs.relation.preimage(last) & ~reaching) != self.manager.false:
            reaching = reaching | last
            rings.append(self.sets.number(last))
        return tuple(rings)

    def _staying(self, pairs: Pairs, f: Bdd, stay: Bdd) -> Bound:
        """Return the greatest set that runs of EG f stay in, with the rings from it to each constraint."""
        visits = (self._rings(pairs, f, stay & constraint) for constraint in self.checker.constraints)
        return Staying(self.sets.number(stay), tuple(visits))

    def _leaving(self, pairs: Pairs, f: Bdd) -> Bound:
        """Return, step by step, the states that cannot stay in f."""
        staying, steps = f, list[Leave]()
        false = self.manager.false
        while True:
            before = staying
            while (gone := staying & ~pairs.relation.preimage(staying)) != false:
                steps.append(Leave(self.sets.number(gone)))
                staying = staying & ~gone
            for number, constraint in enumerate(self.checker.constraints):
                near = pairs.relation.reaching(staying & constraint, staying)
                if (gone := staying & ~pairs.relation.preimage(near)) != false:
                    steps.append(Leave(self.sets.number(gone), number, self.sets.number(near)))
                    staying = staying & ~gone
            if staying == before:
                return Leaving(tuple(steps))
