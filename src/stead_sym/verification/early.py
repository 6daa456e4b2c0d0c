"""Refutation of invariants during the exploration: a finite run that violates one is a counterexample.

One decision: only `AG f` with f first-order is considered, alone or in a conjunction, since a single state
refutes it. An exploration that is stopped has reported the violations found by then. One that completes
reports them again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from stead_sym.deployment.parts import Spec
from stead_sym.engines.protocol import Reaching, Watch
from stead_sym.evidence.prefix import refutation
from stead_sym.evidence.tree import Evidence
from stead_sym.logic.syntax import And, Expanded, Globally, Not, is_temporal


def watching(specs: Iterable[Spec], refuted: Callable[[Spec, Evidence], None]) -> Watch:
    """Return the function that an engine calls while it explores.

    It calls ``refuted`` once for each specification with an invariant that is false in a reached state.
    """
    open_specs = [(spec, tuple(_invariants(spec.formula))) for spec in specs]

    def look(reaching: Reaching) -> None:
        for spec, invariants in tuple(open_specs):
            run = next(filter(None, (reaching(Not(body)) for body in invariants)), None)
            if run is not None:
                evidence = refutation(spec.formula, run)
                assert evidence is not None, f"the run does not show that {spec.name} fails"
                open_specs.remove((spec, invariants))
                refuted(spec, evidence)

    return look


def _invariants(formula: Expanded) -> Iterator[Expanded]:
    """Yield the f of each `AG f` such that the formula is false once f is false in a reachable state."""
    match formula:
        case Globally("A", body) if not is_temporal(body):
            yield body
        case And(parts):
            for part in parts:
                yield from _invariants(part)
