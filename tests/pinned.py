"""Shared by tests of small deployments: their verdicts, and their states as they are written by hand."""

from __future__ import annotations

import pytest

from stead_sym.deployment.language import parse_deployment
from stead_sym.errors import InputError
from whole import verify

DOMAINS = {"explicit": ("theorem",), "symbolic": ("theorem", "normal")}
"""The domains of each engine."""


def explored(engine, text, agent="any", domain="theorem"):
    """Return what `verify` finds, on the way to the findings too."""
    return verify(parse_deployment(text, "small.stead"), agent, engine=engine, domain=domain)


def verdicts(engine, text, agent="any"):
    """Verdicts by name, over the literal domain; with representatives they are the same."""
    first, *others = [
        {name: verdict.holds for name, verdict in explored(engine, text, agent, domain).verdicts.items()}
        for domain in DOMAINS[engine]
    ]
    for found in others:
        assert found == first
    return first


def counts(engine, text, agent="any"):
    """Reachable states and transitions of the literal restriction."""
    result = explored(engine, text, agent)
    return result.states, result.transitions


def written(state):
    """The facts of a state as `states` has them."""
    return frozenset(str(fact).replace(", ", ",") for fact in state)


def reachable(result):
    """The reachable states, each as a set of printed facts."""
    found = result.satisfying("true").sample(1000)
    assert len(found) == result.states
    return {written(state) for state in found}


def states(*lines):
    """States as written: "P(c) E(c,d)"."""
    return {frozenset(line.split()) for line in lines}


def effect(*statements, kind="tool", name="t"):
    """A tool or an event with an effect of these statements."""
    return "\n    ".join([f"{kind} {name}()\n  effect", *statements]) + "\n"


def assert_fault(engine, text, kind, last, steps, agent="any"):
    """Asserts that there is an error of the kind, whose run of so many steps ends in the state ``last``,
    given as it is written."""
    for domain in DOMAINS[engine]:
        with pytest.raises(kind) as caught:
            explored(engine, text, agent, domain)
        assert type(caught.value) is kind
        assert "\n" not in str(caught.value)
        trace = caught.value.trace
        assert len(trace.steps) == steps
        assert {written(trace.last)} == states(last)


def assert_refused(text):
    """Asserts that the text is no deployment, and that one line with the place says so."""
    with pytest.raises(InputError) as caught:
        parse_deployment(text, "small.stead")
    assert str(caught.value).startswith("small.stead:")
    assert "\n" not in str(caught.value)
