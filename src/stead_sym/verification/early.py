"""What is refuted before everything is explored: a finite run against an invariant stays one.

One decision: only `AG f` with f first-order is looked for, alone or in a conjunction, since a state shows
that it is false. So an exploration that somebody stops has said what went wrong by then, and one that comes
to its end says it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from stead_sym.deployment.parts import Spec
from stead_sym.engines.protocol import Reaching, Watch
from stead_sym.evidence.prefix import refutation
from stead_sym.evidence.tree import Evidence
from stead_sym.logic.syntax import And, Expanded, Globally, Not, is_temporal


def watching(specs: Iterable[Spec], refuted: Callable[[Spec, Evidence], None]) -> Watch:
    """The function that an engine calls while it explores. It calls ``refuted`` once for each specification
    of which some invariant is false in a state that was reached."""
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
    """The f of each `AG f`, where that is false once f is false in a reachable state."""
    match formula:
        case Globally("A", body) if not is_temporal(body):
            yield body
        case And(parts):
            for part in parts:
                yield from _invariants(part)
