"""Exploration of the reachable states by an engine, with progress reports of the agents.

A finite run that violates an invariant is reported during the exploration, as a counterexample.

One decision: only `AG f` with f first-order is such an invariant, alone or in a conjunction, since a single
state refutes it. An exploration that is stopped has reported the violations found by then. One that completes
reports them again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager

import stead_sym.logic.syntax as fo
from stead_sym.agents.base import Reporting, Spreading
from stead_sym.agents.roles import Wrappers, known_values
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.faults import as_shown
from stead_sym.deployment.parts import Spec
from stead_sym.deployment.restriction import Restriction
from stead_sym.engines.explicit.engine import ExplicitEngine
from stead_sym.engines.protocol import Engine, Reaching, Watch
from stead_sym.engines.symbolic.engine import SymbolicEngine
from stead_sym.errors import DefinitionError, InputError
from stead_sym.evidence.prefix import broken_claim, refutation
from stead_sym.evidence.tree import Evidence
from stead_sym.support.progress import Progress
from stead_sym.verification.options import Options


def explored(
    deployment: Deployment,
    wrappers: Wrappers,
    restriction: Restriction,
    options: Options,
    progress: Progress | None,
    watch: Watch | None,
    like: Engine | None = None,
) -> Engine | DefinitionError:
    """Return an engine with all reachable states, or the error with the run that breaks a claim of the file.

    ``like`` is an engine whose preparations are reused if they apply. Raises any other error that ends the
    exploration.
    """
    with _reporting(wrappers, progress):
        try:
            if options.engine == "explicit":
                return ExplicitEngine(
                    deployment, wrappers, restriction, progress, max_states=options.max_states, watch=watch
                )
            return SymbolicEngine(
                deployment,
                wrappers,
                restriction,
                progress,
                literal=options.mode == "theorem",
                backend=options.backend,
                watch=watch,
                like=like if isinstance(like, SymbolicEngine) else None,
            )
        except InputError as error:  # its frames would keep the diagrams alive
            error.with_traceback(None)
            if not isinstance(error, DefinitionError):
                raise error from error.__cause__
            fault = as_shown(deployment, error, known_values(wrappers))
            if broken_claim(deployment, fault) is None:
                raise fault from error.__cause__
            return fault


def telling_apart(
    deployment: Deployment, wrapper: CanonicalWrapper | None, restriction: Restriction
) -> CanonicalWrapper | None:
    """Return a wrapper that renames no value: B is the whole domain, so that can_B(D) = D."""
    if wrapper is None:
        return None
    every = {value: sort for sort, values in restriction.values.items() for value in values}
    return CanonicalWrapper(
        wrapper.agent,
        deployment.schema,
        wrapper.tools,
        {**wrapper.known, **every},
        canonical_timeout=wrapper.canonical_timeout,
    )


@contextmanager
def _reporting(wrappers: Wrappers, progress: Progress | None) -> Iterator[None]:
    """Let the agents report their progress while they are queried, and spread their queries."""
    agents = [wrapper.agent for wrapper in wrappers.values() if wrapper is not None]
    with ExitStack() as stack:
        for agent in agents:
            if isinstance(agent, Reporting):
                agent.report_to(progress)
                stack.callback(agent.report_to, None)
            if isinstance(agent, Spreading):
                stack.enter_context(agent.spreading())
        yield


def watching(specs: Iterable[Spec], refuted: Callable[[Spec, Evidence], None]) -> Watch:
    """Return the function that an engine calls while it explores.

    It calls ``refuted`` once for each specification with an invariant that is false in a reached state.
    """
    open_specs = [(spec, tuple(_invariants(spec.formula))) for spec in specs]

    def look(reaching: Reaching) -> None:
        for spec, invariants in tuple(open_specs):
            run = next(filter(None, (reaching(fo.Not(body)) for body in invariants)), None)
            if run is not None:
                evidence = refutation(spec.formula, run)
                assert evidence is not None, f"the run does not show that {spec.name} fails"
                open_specs.remove((spec, invariants))
                refuted(spec, evidence)

    return look


def _invariants(formula: fo.Expanded) -> Iterator[fo.Expanded]:
    """Yield the f of each `AG f` such that the formula is false once f is false in a reachable state."""
    match formula:
        case fo.Globally("A", body) if not fo.is_temporal(body):
            yield body
        case fo.And(parts):
            for part in parts:
                yield from _invariants(part)
