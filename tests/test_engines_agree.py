"""Two engines that share only the definitions: on generated deployments they agree on everything.

States, transitions, contexts, queries, verdicts, and, for every subformula of every specification
and every assignment of its free variables over U_f, the set of states that satisfy it.
"""

from __future__ import annotations

import pytest
from hypothesis import event, given, reject, settings
from hypothesis import strategies as st

from engine_pairs import (
    both,
    by_name,
    engines,
    examples,
    fault,
    is_at_fault,
    replay,
    scoped_subformulas,
    some_by_name,
)
from generated.deployments import deployments
from generated.formulas import assignments
from stead_sym.agents.roles import wrap
from stead_sym.agents.rules import RuleAgent
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.deployment.deployment import print_deployment
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.engines.symbolic.bdd.manager import HAS_CUDD
from stead_sym.errors import BoundExceeded, Undecided
from stead_sym.verification.readings import answer
from stead_sym.verification.verify import verify


def compared(deployment, agent="any", **options):
    """The pair of engines; the example is given up where it is too large or has nothing to compare."""
    try:
        pair = both(deployment, agent, **options)
    except Undecided:
        reject()
    states = pair.explicit.states
    if states == 1:
        del pair  # else it would live in the frames of the exception, with diagrams in a cycle
        reject()
    event(f"states: 2^{states.bit_length() - 1} and more")
    return pair


def assert_agreement(pair):
    explicit, symbolic = pair
    assert (symbolic.states, symbolic.transitions) == (explicit.states, explicit.transitions)
    assert symbolic.most_active == explicit.most_active
    first, second = (wrappers[""] for wrappers in pair.wrappers)
    if first is not None:
        assert (first.contexts, first.queries) == (second.contexts, second.queries)
        assert dict(first.decisions) == dict(second.decisions)
    for spec in pair.deployment.specs:
        assert symbolic.holds(spec.formula) == explicit.holds(spec.formula), spec
        for formula, scope in scoped_subformulas(spec.formula):
            for sigma in assignments(scope, pair.restriction.values):
                expected = explicit.satisfying(formula, sigma)
                found = symbolic.satisfying(formula, sigma)
                assert found.count == expected.count, f"{formula} under {sigma}"
                assert all(state in found for state in expected.states), f"{formula} under {sigma}"


@settings(max_examples=examples(60))
@given(deployments())
def test_with_everything_offered(deployment):
    assert_agreement(compared(deployment))


@settings(max_examples=examples(60))
@given(deployments(), st.booleans())
def test_with_the_policy(deployment, asked):
    """The contexts that are looked for where the policy is compiled are those that are met by asking it, in
    which it selects the same."""
    assert_agreement(compared(deployment, deployment.policy("p"), asked=asked))


@settings(max_examples=examples(60))
@given(deployments(), st.integers(0, 9), st.booleans())
def test_with_a_function_that_looks_at_names(deployment, seed, several):
    assert_agreement(compared(deployment, some_by_name(seed) if several else by_name(seed)))


@settings(max_examples=examples(40))
@given(deployments())
def test_the_wrapper_leaves_a_policy_as_it_is(deployment):
    """Its rules are first-order with constants in B: the policy is equivariant already, so that the
    wrapper selects in every reachable state what the rules select there."""
    pair = compared(deployment, deployment.policy("p"))
    rules = RuleAgent.of(deployment, "p")
    literal = CanonicalWrapper(rules, deployment.schema, deployment.tools, deployment.sort_of_constant)
    assert_same = both(deployment, literal)
    assert (assert_same.explicit.states, assert_same.explicit.transitions) == (
        pair.explicit.states,
        pair.explicit.transitions,
    )


@pytest.mark.skipif(not HAS_CUDD, reason="dd has no CUDD here, so both backends are the same")
@settings(max_examples=examples(15))
@given(deployments(max_tools=2, specs=1, depth=3), st.integers(0, 9))
def test_with_the_diagrams_in_python(deployment, seed):
    assert_agreement(compared(deployment, by_name(seed), backend="autoref", max_states=40))


@settings(max_examples=examples(60))
@given(deployments(keep_bounds=False))
def test_a_bound_is_exceeded_in_both_or_in_none(deployment):
    assert_same_faults(deployment, "any", same_kind=True)


@settings(max_examples=examples(60))
@given(deployments(keep_bounds=False, total=False), st.integers(0, 9))
def test_a_breach_of_the_definition_is_found_by_both(deployment, seed):
    """Which of several breaches comes first depends on the search; that there is one does not."""
    assert_same_faults(deployment, by_name(seed), same_kind=False)


def assert_same_faults(deployment, agent, *, same_kind):
    restriction = theorem_restriction(deployment, deployment.specs)
    faults = {}
    for name, build in engines(deployment, agent, max_states=300).items():
        try:
            faults[name] = fault(build)
        except Undecided:
            reject()
    explicit, symbolic = faults["explicit"], faults["symbolic"]
    event(f"fault: {type(explicit).__name__}")
    assert (explicit is None) == (symbolic is None), (explicit, symbolic)
    if explicit is None:
        return
    if same_kind:
        assert type(explicit) is type(symbolic) is BoundExceeded
    wrapped = CanonicalWrapper(agent, deployment.schema, deployment.tools) if agent != "any" else None
    for error in (explicit, symbolic):
        replay(deployment, restriction, wrapped, error.trace, leaves_domain=True)
        assert is_at_fault(deployment, restriction, error)


@settings(max_examples=examples(100))
@given(deployments(keep_bounds=False, total=False))
def test_a_generated_deployment_prints_as_a_file_that_reads_the_same(deployment):
    assert parse_deployment(print_deployment(deployment)) == deployment


@settings(max_examples=examples(30))
@given(deployments())
def test_a_larger_domain_gives_the_same_verdicts(deployment):
    """The theorem: from its sizes on the verdict does not depend on the domain."""
    compared(deployment, max_states=60)
    least = verify(deployment, domain="theorem")
    larger = {sort: size + 1 for sort, size in least.domain.items() if sort in deployment.bounds}
    assert answers(verify(deployment, domain=larger)) == answers(least)


@settings(max_examples=examples(60))
@given(deployments(specs=4), st.integers(0, 9), st.sampled_from(["any", "policy", "one", "some"]))
def test_representatives_for_fresh_values_give_the_same_verdicts(deployment, seed, kind):
    """The symbolic engine's own domain, in which a fresh value stands for all that are alike."""
    agents = {
        "any": "any",
        "policy": deployment.policy("p"),
        "one": by_name(seed),
        "some": some_by_name(seed),
    }
    pair = compared(deployment, agents[kind])
    expected = {spec.name: answer(pair.explicit, spec.formula).holds for spec in deployment.specs}
    result = verify(deployment, agents[kind], domain="normal", findings=False)
    assert answers(result) == expected
    assert result.states <= pair.explicit.states
    if kind != "any":
        wrapper = pair.wrappers[0][""]
        assert (result.contexts, result.queries) == (wrapper.contexts, wrapper.queries)
    wrapped = wrap(deployment, agents[kind])
    for verdict in result.verdicts.values():
        if verdict.trace is not None:
            replay(deployment, result.engine.restriction, wrapped, verdict.trace)


def answers(result):
    """The truth values by specification."""
    return {name: verdict.holds for name, verdict in result.verdicts.items()}
