"""Relaxed reachability finds every fact that ever holds, and takes for static only what always does."""

from __future__ import annotations

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from engine_pairs import examples
from generated.deployments import deployments
from generated.formulas import Signature, assignments, formulas
from generated.guess_breakers import crowded_relations
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.engines.explicit.explore import explore
from stead_sym.engines.symbolic.bdd.manager import Manager
from stead_sym.engines.symbolic.encode.encoding import Encoding
from stead_sym.engines.symbolic.encode.values import bits_of
from stead_sym.engines.symbolic.plan.anchored_names import AnchoredNames, FreshVariables
from stead_sym.engines.symbolic.plan.guess import first_guess
from stead_sym.engines.symbolic.plan.planner import Task, plan
from stead_sym.engines.symbolic.plan.relaxation import Relaxation
from stead_sym.errors import Undecided
from stead_sym.logic.evaluate import holds
from stead_sym.support.progress import Pulse


def relaxed(deployment, single):
    """Over the literal domain, with the explicit engine's states."""
    restriction = theorem_restriction(deployment, deployment.specs)
    try:
        states = explore(deployment, {"": None}, restriction, max_states=80).states
    except Undecided:
        reject()
    values = restriction.values
    lacking = {sort: 1 for sort, known in values.items() if len(known) == len(deployment.constants[sort])}
    encoding = Encoding(Manager(), deployment.schema, values, beyond=lacking)
    names = AnchoredNames(FreshVariables(deployment, restriction, {}), encoding)
    return Relaxation(deployment, encoding, names, values, single, lambda **counts: None, values), states


def confirmed_singles(deployment):
    """The relations that hold one fact at most, as planning confirms."""
    restriction = theorem_restriction(deployment, deployment.specs)
    return plan(Task(deployment, restriction, True), first_guess(deployment, True), Pulse()).guess.singles


generated = st.one_of(crowded_relations(), deployments(specs=1, depth=2))


@settings(max_examples=examples(40))
@given(generated, st.booleans())
def test_every_fact_that_ever_holds_is_found_and_static_ones_always_hold(deployment, with_singles):
    single = confirmed_singles(deployment) if with_singles else frozenset()
    found, states = relaxed(deployment, single)
    static, dynamic = found.static, set(found.dynamic)
    assert not static & dynamic
    for state in states:
        assert static <= state.facts <= static | dynamic


@settings(max_examples=examples(40))
@given(st.data(), generated)
def test_what_a_formula_may_and_must_be(data, deployment):
    """may(f) has every assignment under which f holds in some reachable state, must(f) none under which it
    fails in one: both sides of what is read from the facts, ¬ and counts included."""
    found, states = relaxed(deployment, frozenset())
    encoding, m = found.encoding, found.manager
    signature = Signature({r.name: r.sorts for r in deployment.schema.relations}, deployment.constants)
    scope = data.draw(st.sampled_from([{}, *({"x": sort} for sort in signature.sorts)]))
    formula = data.draw(formulas(signature, scope, depth=3))
    vectors = dict(zip(scope, encoding.distinct(scope.values()), strict=True))
    may, must = found.reads(formula, vectors), found.reads(formula, vectors, must=True)
    assert may.support | must.support <= set(bits_of(vectors.values()))
    for sigma in assignments(scope, found.encoding.values):
        code = {}
        for name, value in sigma.items():
            code |= encoding.code(vectors[name], value)
        truths = {holds(formula, state, sigma) for state in states}
        if True in truths:
            assert m.satisfies(may, code)
        if False in truths:
            assert not m.satisfies(must, code)


@pytest.mark.parametrize("known", range(4))
@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("comparison", ["atleast", "atmost", "exactly"])
def test_counts_are_read_on_the_safe_side(known, number, comparison):
    """Of three values some are in P for good: what a count may be is no less than the truth, what it must be
    no more."""
    facts = "\n".join(f"  P(k{i + 1})" for i in range(known))
    head = "deployment counts\nsort k = { k1, k2, k3 }\nrelation P(k)\nrelation Q(k)\n"
    deployment = parse_deployment(
        f"{head}{f'init{chr(10)}{facts}{chr(10)}' if known else ''}tool idle()\n"
        f"spec counted {comparison} {number} x. P(x)\n"
    )
    found, (state,) = relaxed(deployment, frozenset())
    formula = deployment.specs[0].formula
    truth = holds(formula, state, {})
    may, must = found.reads(formula, {}), found.reads(formula, {}, must=True)
    assert may == found.manager.true or not truth
    assert must == found.manager.false or truth
