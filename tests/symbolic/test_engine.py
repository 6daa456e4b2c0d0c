"""The symbolic engine as `verification` sees it, against the explicit engine; and the stack it works on."""

from __future__ import annotations

import inspect

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import stead_sym.logic.syntax as fo
from engine_pairs import both, examples, replay, some_by_name
from generated.deployments import deployments
from generated.formulas import Signature, formulas
from stead_sym.deployment.files import load
from stead_sym.deployment.restriction import normal_restriction
from stead_sym.engines.symbolic.bdd.manager import Manager
from stead_sym.engines.symbolic.engine import SymbolicEngine
from stead_sym.engines.symbolic.plan.explain import explain
from stead_sym.errors import Undecided
from stead_sym.relational.instance import Instance
from stead_sym.verification.verify import verify


@st.composite
def explored(draw):
    """Both engines, and a sentence."""
    deployment = draw(deployments(specs=1, max_tools=2))
    try:
        pair = both(deployment, draw(st.sampled_from(["any", some_by_name(3)])), max_states=60)
    except Undecided:
        reject()
    relations = {relation.name: relation.sorts for relation in deployment.schema.relations}
    return pair, draw(formulas(Signature(relations, deployment.constants), {}, depth=2, temporal=True))


@settings(max_examples=examples(30))
@given(explored())
def test_sets_of_states(drawn):
    """Count, membership and samples are those of the listed set; what is no reachable state is no member."""
    pair, sentence = drawn
    everything = pair.explicit.satisfying(fo.TRUE, {}).states
    assert (pair.symbolic.states, pair.symbolic.transitions) == (len(everything), pair.explicit.transitions)
    for formula in (sentence, fo.Not(sentence)):
        listed, found = pair.explicit.satisfying(formula, {}).states, pair.symbolic.satisfying(formula, {})
        assert found.count == len(listed)
        assert {state for state in everything if state in found} == listed
        for number in (0, 1, 3, len(everything) + 1):
            sample = found.sample(number)
            assert len(sample) == len(set(sample)) == min(number, len(listed))
            assert listed.issuperset(sample)
        for state in everything:
            for fact in state.facts:
                changed = Instance(state.schema, state.facts - {fact})
                assert (changed in found) == (changed in listed)


@settings(max_examples=examples(30))
@given(explored())
def test_whether_a_call_is_offered_or_selected(drawn):
    """`is_called`, for each tool and conditions over its parameters."""
    pair, _ = drawn
    for tool in pair.deployment.tools:
        for condition in (fo.TRUE, tool.guard, fo.Not(tool.guard)):
            for selected in (False, True):
                found = pair.symbolic.is_called(tool.name, condition, selected=selected)
                assert found == pair.explicit.is_called(tool.name, condition, selected=selected)


@settings(max_examples=examples(30))
@given(explored())
def test_evidence_is_a_run(drawn):
    pair, sentence = drawn
    for formula in (sentence, fo.Future("E", sentence)):
        holds = pair.explicit.holds(formula)
        assert pair.symbolic.holds(formula) == holds
        replay(
            pair.deployment, pair.restriction, pair.wrappers[1], pair.symbolic.evidence(formula, holds).trace
        )


@pytest.fixture
def limit():
    """The soft limit of the stack, set to the usual 8 MiB."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_STACK)
    if before[1] != resource.RLIM_INFINITY:
        pytest.skip("the hard limit leaves nothing to raise")
    resource.setrlimit(resource.RLIMIT_STACK, (1 << 23, before[1]))
    yield lambda: resource.getrlimit(resource.RLIMIT_STACK)[0]
    resource.setrlimit(resource.RLIMIT_STACK, before)


def test_all_work_on_diagrams_has_a_deep_stack_and_leaves_the_limit_as_it_was(limit, monkeypatch):
    """Each method of the manager that is called anywhere below a public call notes the limit; after each
    public call the limit is what it was before."""
    seen = set()

    def noting(function):
        def noted(*args, **options):
            seen.add(limit())
            return function(*args, **options)

        return noted

    for name, method in list(vars(Manager).items()):
        if inspect.isfunction(method) and name != "level":  # a level is of the order, not of a diagram
            monkeypatch.setattr(Manager, name, noting(method))
    monkeypatch.setattr(Manager, "nodes", property(noting(Manager.nodes.fget)))

    def works(call):
        """The result of a call that works on diagrams."""
        seen.clear()
        result = call()
        assert limit() == 1 << 23
        assert seen == {1 << 27}
        return result

    deployment = load("refund")
    works(lambda: explain(deployment))
    restriction = normal_restriction(deployment)
    engine = works(lambda: SymbolicEngine(deployment, {"": None}, restriction, literal=False))
    spec = next(spec for spec in deployment.specs if not engine.holds(spec.formula))
    works(lambda: engine.states)
    works(lambda: engine.transitions)
    works(lambda: engine.statistics)
    works(lambda: engine.holds(fo.Future("E", fo.Not(spec.formula))))
    works(lambda: engine.evidence(spec.formula, False))
    assert works(lambda: engine.is_called(deployment.tools[0].name, fo.TRUE, selected=True))
    some = works(lambda: engine.satisfying(fo.Not(spec.formula), {}))
    assert works(lambda: some.count) > 0
    assert works(lambda: some.sample(2))
    assert works(lambda: deployment.init in engine.satisfying(fo.TRUE, {}))
    works(lambda: verify(deployment))
