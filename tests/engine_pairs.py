"""Both engines on one deployment, and the replay of runs by the concrete semantics: shared by the tests."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from hypothesis import settings

from stead_sym.agent.base import DecisionContext, FunctionAgent
from stead_sym.agent.roles import wrap_all
from stead_sym.agent.selection import selection
from stead_sym.deployment.initial import initial_states
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.deployment.semantics import enabled, exceeded, offer, successors, view
from stead_sym.errors import BoundExceeded, DefinitionError, KeyBroken, NoEffect, NothingOffered
from stead_sym.explicit.engine import ExplicitEngine
from stead_sym.relational.instance import broken_keys
from stead_sym.symbolic.engine import SymbolicEngine
from stead_sym.verification import verify

MAX_STATES = 120


@dataclass(frozen=True)
class Pair:
    """The engines with the wrapper that each was given."""

    deployment: object
    restriction: object
    explicit: ExplicitEngine
    symbolic: SymbolicEngine
    wrappers: tuple

    def __iter__(self):
        yield self.explicit
        yield self.symbolic


def both(deployment, agent="any", *, backend=None, specs=None, max_states=MAX_STATES):
    """The explicit engine first: it raises `Undecided` where there are too many states."""
    chosen = deployment.specs if specs is None else specs
    restriction = theorem_restriction(deployment, chosen)
    wrappers = wrap_all(deployment, agent), wrap_all(deployment, agent)
    explicit = ExplicitEngine(deployment, wrappers[0], restriction, max_states=max_states)
    symbolic = SymbolicEngine(deployment, wrappers[1], restriction, backend=backend)
    return Pair(deployment, restriction, explicit, symbolic, wrappers)


def engines(deployment, agent="any", specs=None, max_states=None):
    """By name, what builds each of the engines."""
    restriction = theorem_restriction(deployment, deployment.specs if specs is None else specs)
    return {
        "explicit": lambda: ExplicitEngine(
            deployment, wrap_all(deployment, agent), restriction, max_states=max_states
        ),
        "symbolic": lambda: SymbolicEngine(deployment, wrap_all(deployment, agent), restriction),
    }


def sentence(deployment, text):
    """A sentence over the deployment, resolved and expanded."""
    return deployment.formula(text)


def fault(build):
    """The `DefinitionError` that building an engine raises; None if there is none."""
    try:
        build()
    except DefinitionError as error:
        return error.with_traceback(None)  # its frames hold the engine, and with the error a cycle
    return None


def by_name(seed):
    """An agent that picks one call by the letters of all names in the context: not equivariant at all."""

    def picks(context):
        return min(context.calls, key=lambda call: _digest(seed, context, call))

    return FunctionAgent(picks)


def some_by_name(seed):
    """The same, with one call or several."""

    def picks(context):
        even = [c for c in sorted(context.calls) if _digest(seed, context, c) % 2 == 0]
        return even or [min(context.calls)]

    return FunctionAgent(picks)


def _digest(seed, context, call):
    return int(hashlib.sha256(f"{seed} {context} {call}".encode()).hexdigest(), 16)


def replay(deployment, restriction, wrappers, trace, *, leaves_domain=False):
    """Asserts that the trace is a run of the restriction under the wrapped agents (or the only one).

    ``leaves_domain``: the last step may lead out of U_f (to a state past a bound).
    """
    agents = wrappers if isinstance(wrappers, Mapping) else {"": wrappers}
    assert trace.start in initial_states(deployment, restriction.values)
    for i, (before, step) in enumerate(zip(trace.states, trace.steps, strict=False)):
        calls = selection(deployment, agents, before)
        assert step.call in calls, f"{step.call} is not selected in {before}"
        assert calls[step.call] == step.actor
        found = successors(deployment, step.call, before, restriction)
        reached = found.inside
        if leaves_domain and i == len(trace.steps) - 1:
            reached += found.outside
        assert step.state in reached, f"{step.call} does not lead from {before} to {step.state}"
    if trace.loop is not None:
        assert 0 <= trace.loop < len(trace.steps)
        assert trace.states[trace.loop] == trace.last


def is_at_fault(deployment, restriction, error):
    """Whether the last state of the error's trace is really what the error says."""
    last = error.trace.last
    match error:
        case BoundExceeded():
            return exceeded(deployment, last) is not None
        case KeyBroken():
            return any(broken_keys(deployment.schema, last.facts))
        case NothingOffered():
            return not offer(deployment, last) | enabled(deployment, last)
        case NoEffect():
            calls = offer(deployment, last) | enabled(deployment, last)
            return any(not successors(deployment, c, last, restriction).exist for c in calls)
    raise AssertionError(f"no check for {type(error)}")


def context(deployment, state):
    """The decision context of a state."""
    return DecisionContext(view(deployment, state), offer(deployment, state))


def examples(number, slow=None):
    """How many examples a test takes: so many, and in the profile `slow` ten times as many, or ``slow``."""
    if settings().max_examples <= 100:
        return number
    return slow or 10 * number


def assert_same_answers(deployment, agent="any", *, max_states=MAX_STATES):
    """Asserts that both domains of the symbolic engine have the answers of the explicit one, and the literal
    domain its states and transitions. Returns the answers by specification, or the name of the error."""
    expected, counted = _answers(deployment, agent, engine="explicit", max_states=max_states)
    for domain in ("theorem", "normal"):
        found, states = _answers(deployment, agent, domain=domain)
        assert found == expected, f"on the domain {domain}"
        if domain == "theorem":
            assert states == counted, f"on the domain {domain}"
    return expected


def _answers(deployment, agent, **options):
    try:
        result = verify(deployment, agent, findings=False, **options)
    except DefinitionError as error:
        return type(error).__name__, None
    answers = {name: verdict.holds for name, verdict in result.verdicts.items()}
    return answers, (result.states, result.transitions)
