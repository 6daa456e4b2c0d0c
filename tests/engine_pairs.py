"""Both engines on one deployment, and the replay of runs by the concrete semantics: shared by the tests."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from math import ceil

from hypothesis import settings

import stead_sym.logic.syntax as fo
from stead_sym.agents.base import DecisionContext, FunctionAgent
from stead_sym.agents.roles import wrap_all
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.deployment.semantics import enabled, exceeded, offer, successors, view
from stead_sym.engines.explicit.engine import ExplicitEngine
from stead_sym.engines.symbolic.engine import SymbolicEngine
from stead_sym.errors import (
    BoundExceeded,
    DefinitionError,
    KeyBroken,
    NoEffect,
    NothingOffered,
    ReferenceBroken,
)
from stead_sym.logic.evaluate import holds
from stead_sym.relational.instance import broken_references
from whole import verify

MAX_STATES = 120


@dataclass(frozen=True)
class Pair:
    """The engines with the wrapped agents, by their names, that each was given."""

    deployment: object
    restriction: object
    explicit: ExplicitEngine
    symbolic: SymbolicEngine
    wrappers: tuple

    def __iter__(self):
        yield self.explicit
        yield self.symbolic


class BlackBox:
    """A base agent of which nothing is known but what it answers: the symbolic engine has to ask it."""

    def __init__(self, agent):
        self.name = agent.name
        self.select = agent.select


def black_box(wrapper):
    """The wrapper with its base agent as a black box."""
    return wrapper and CanonicalWrapper(BlackBox(wrapper.agent), wrapper.schema, wrapper.tools, wrapper.known)


def both(deployment, agent="any", *, backend=None, specs=None, max_states=MAX_STATES, asked=False):
    """The explicit engine first: it raises `Undecided` where there are too many states. Both know the
    contexts of policies; with ``asked`` policies are black boxes, whose contexts are met on the way."""
    chosen = deployment.specs if specs is None else specs
    restriction = theorem_restriction(deployment, chosen)
    wrappers = wrap_all(deployment, agent), wrap_all(deployment, agent)
    if asked:
        wrappers = tuple({name: black_box(one) for name, one in each.items()} for each in wrappers)
    explicit = ExplicitEngine(deployment, wrappers[0], restriction, max_states=max_states)
    symbolic = SymbolicEngine(deployment, wrappers[1], restriction, backend=backend)
    assert symbolic.meets_contexts(None)
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


def scoped_subformulas(formula, scope=None):
    """Every subformula with the sorts of the variables in scope that are free in it."""
    scope = scope or {}
    free = fo.free_variables(formula)
    yield formula, {name: sort for name, sort in scope.items() if name in free}
    inner = (
        {**scope, formula.binder.name: formula.binder.sort} if isinstance(formula, fo.Quantified) else scope
    )
    for child in fo.children(formula):
        yield from scoped_subformulas(child, inner)


def is_initial(deployment, state):
    """Return if the instance is a D0 of the deployment, word by word from the definition."""
    lines = deployment.initially
    if lines is None:
        return state == deployment.init
    added = {fact.relation for fact in state.facts - deployment.init.facts}
    return (
        deployment.init.facts <= state.facts
        and added <= set(lines.relations)
        and holds(lines.where, state)
        and exceeded(deployment, state) is None
        and not has_broken_key(deployment, state)
    )


def has_broken_key(deployment, state):
    """Return if two facts of one relation agree on the columns of its key, by trying all pairs."""
    for relation in deployment.schema.relations:
        for left, right in combinations(state.tuples(relation.name), 2):
            if relation.keys and all(left[k] == right[k] for k in relation.keys):
                return True
    return False


def actors(deployment, wrappers, state):
    """Per call that may be made in the state those that may make it: names of agents, None for an event.

    ``wrappers`` has each agent's, or is that of the only agent; None selects everything."""
    found = {call: {None} for call in enabled(deployment, state)}
    for agent in deployment.agents:
        wrapper = wrappers[agent.name] if isinstance(wrappers, Mapping) else wrappers
        for one, offered in _each(deployment, agent, offer(deployment, state, agent)):
            if wrapper is not None:
                offered = wrapper.calls(view(deployment, state, one), offered)
            for call in offered:
                found.setdefault(call, set()).add(agent.name)
    return found


def _each(deployment, agent, offered):
    """The agent with what it is offered, or each of many with the calls of which it is `self`."""
    if agent.each is None:
        return [(agent, offered)] if offered else []
    owners = {}
    for call in offered:
        names = [param.name for param in deployment.tool(call.tool).params]
        owners.setdefault(call.args[names.index("self")], set()).add(call)
    return [(replace(agent, me=me), frozenset(calls)) for me, calls in owners.items()]


def replay(deployment, restriction, wrappers, trace, *, leaves_domain=False):
    """Asserts that the trace is a run of the restriction under the wrapped agents, from a D0, and that each
    step is its actor's.

    ``leaves_domain``: the last step may lead out of U_f (to a state past a bound).
    """
    assert is_initial(deployment, trace.start)
    for i, (before, step) in enumerate(zip(trace.states, trace.steps, strict=False)):
        may = actors(deployment, wrappers, before)
        assert step.call in may, f"{step.call} is not selected in {before}"
        assert step.actor in may[step.call], f"{step.call} is not for {step.actor} to make in {before}"
        found = successors(deployment, step.call, before, restriction)
        reached = found.inside
        if leaves_domain and i == len(trace.steps) - 1:
            reached += found.outside
        assert step.state in reached, f"{step.call} does not lead from {before} to {step.state}"
    if trace.loop is not None:
        assert 0 <= trace.loop < len(trace.steps)
        assert trace.states[trace.loop] == trace.last


def is_at_fault(deployment, restriction, error):
    """Return if the last state of the error's trace is really what the error says."""
    last = error.trace.last
    match error:
        case BoundExceeded():
            return exceeded(deployment, last) is not None
        case KeyBroken():
            return has_broken_key(deployment, last)
        case ReferenceBroken():
            return any(broken_references(deployment.schema, last.facts))
        case NothingOffered():
            return not offer(deployment, last) | enabled(deployment, last)
        case NoEffect():
            calls = offer(deployment, last) | enabled(deployment, last)
            return any(not successors(deployment, c, last, restriction).exist for c in calls)
    raise AssertionError(f"no check for {type(error)}")


def context(deployment, state):
    """The decision context of a state."""
    return DecisionContext(view(deployment, state), offer(deployment, state))


def examples(number, slow=None, quick=None):
    """Return how many examples a test takes in the profile of hypothesis that is in force.

    ``number`` in `ci`, a quarter in `quick`, and in `slow` ten times as many. ``slow`` and ``quick`` replace
    the last two: a law takes fewer in `quick` if its examples take long.
    """
    share = settings().max_examples / 100  # the profiles differ in hypothesis' own default, 100 in `ci`
    if quick and share < 1:
        return quick
    return slow if slow and share > 1 else ceil(share * number)


def assert_same_answers(deployment, agent="any", *, max_states=MAX_STATES):
    """Asserts that both domains of the symbolic engine have the answers of the explicit one, and the literal
    domain its states and transitions. Returns the answers by specification, or the name of the error."""
    return _compared(deployment, agent, max_states)[0]


def agreeing(deployment, agent="any", *, max_states=MAX_STATES):
    """The results on both domains of the symbolic engine, after `assert_same_answers`, their traces replayed;
    none where the engines find the same fault."""
    results = _compared(deployment, agent, max_states)[1]
    wrappers = wrap_all(deployment, agent)
    for result in results:
        for verdict in result.verdicts.values():
            if verdict.trace is not None:
                replay(deployment, result.engine.restriction, wrappers, verdict.trace)
    return results


def _compared(deployment, agent, max_states):
    """The answers that all engines have, and the results of the symbolic one."""
    expected, explicit = _answers(deployment, agent, engine="explicit", max_states=max_states)
    results = []
    for domain in ("theorem", "normal"):
        answers, found = _answers(deployment, agent, domain=domain)
        assert answers == expected, f"on the domain {domain}"
        if found is not None:
            assert found.engine.most_active == explicit.engine.most_active, f"on the domain {domain}"
            if domain == "theorem":
                counted = explicit.states, explicit.databases, explicit.transitions
                sizes = found.states, found.databases, found.transitions
                assert sizes == counted, f"on the domain {domain}"
            results.append(found)
    return expected, results


def _answers(deployment, agent, **options):
    try:
        result = verify(deployment, agent, findings=False, **options)
    except DefinitionError as error:
        error.with_traceback(None)  # its frames hold the engine, and with the error a cycle
        return type(error).__name__, None
    return {name: verdict.holds for name, verdict in result.verdicts.items()}, result
