"""Generated values are named from 1 in the order in which they appear, by one permutation."""

from __future__ import annotations

from itertools import combinations_with_replacement, count

import pytest
from hypothesis import event, given, reject, settings
from hypothesis import strategies as st

from engine_pairs import by_name, examples
from generated.workflows import workflows
from stead_sym.deployment.language import parse_deployment
from stead_sym.errors import InputError, NoEffect, Undecided
from stead_sym.evidence.renamed import permuted, renamed
from stead_sym.evidence.replay import replay
from stead_sym.evidence.tree import Run
from stead_sym.verification.verify import verify

MODES = [{}, {"domain": "theorem"}, {"engine": "explicit"}]


def values(evidence):
    """All values of the evidence, in the order of the tree; a state as its facts."""
    for node in evidence.nodes:
        yield from node.assignment.values()
        if isinstance(node.reason, Run):
            yield from (value for step in node.reason.steps for value in step.call.args)


def states(evidence):
    for node in evidence.nodes:
        yield node.state
        if isinstance(node.reason, Run):
            yield from (step.state for step in node.reason.steps)


def generated(deployment, state):
    """The generated values of a state, per sort."""
    return {s: frozenset(deployment.outside(s, state.active_domain[s])) for s in deployment.bounds}


@given(workflows(specs=2), st.sampled_from(MODES), st.randoms(use_true_random=False))
@settings(max_examples=examples(100, quick=13))
def test_renamed_evidence_is_the_same_up_to_a_permutation(deployment, mode, random):
    try:
        verify(deployment, engine="explicit", max_states=300, findings=False)
        result = verify(deployment, findings=False, **mode)
    except (InputError, Undecided):
        reject()
    engine, wrappers = result.engine, result.moves.wrappers
    some = (f"{r.name}({', '.join('_' * r.arity)})" for r in deployment.schema.relations)
    formulas = [spec.formula for spec in deployment.specs] + [deployment.formula(f"EF {one}") for one in some]
    scrambling = {}
    for sort, names in engine.restriction.values.items():
        names = deployment.outside(sort, names)
        scrambling |= zip(names, random.sample(names, len(names)), strict=True)
    constants = {value for values in deployment.constants.values() for value in values}
    for formula in formulas:
        found = permuted(engine.evidence(formula, engine.holds(formula)), scrambling)
        shown = renamed(found, deployment, wrappers)
        replayed = replay(deployment, wrappers, shown)
        assert replayed.confirmed, replayed.fault
        assert renamed(shown, deployment, wrappers) is shown
        pairs = set(zip(values(found), values(shown), strict=True))
        assert len({old for old, _ in pairs}) == len(pairs) == len({new for _, new in pairs})
        assert all(old == new for old, new in pairs if {old, new} & constants)
        both = tuple(dict.fromkeys(zip(states(found), states(shown), strict=True)))
        for (one, named), (other, other_named) in combinations_with_replacement(both, 2):
            assert len(one.facts & other.facts) == len(named.facts & other_named.facts)
        assert_in_order(deployment, shown.trace)
        event("renamed" if shown is not found else "as it was")


def assert_in_order(deployment, run):
    """The values that a state of the run is the first to have are the next ones by their numbers."""
    met = {sort: frozenset() for sort in deployment.bounds}
    for state in run.states:
        for sort, active in generated(deployment, state).items():
            new = active - met[sort]
            met[sort] |= active
            taken = {value for constants in deployment.constants.values() for value in constants}
            names = (f"{sort}{k}" for k in count(1))
            expected = [next(n for n in names if n not in taken) for _ in met[sort]]
            assert met[sort] == set(expected), (sort, new, str(run))


DESK = """deployment desk
sort job
relation Open(job)
relation Next(job, job)
init Open(job2)
bound job 2
event arrive()
  guard atmost 2 j. Open(j)
  effect
    fresh j: job
    insert Open(j)
event link(i: job, j: job)
  guard Open(i) & Open(j) & ~i = j & ~(exists k. Next(j, k)) & ~Next(i, j)
  effect insert Next(i, j)
tool close(j: job)
  guard Open(j) & ~j = job2
  effect
    clear Next
    delete Open(j)
tool wait()
spec pair AG ~(exists i, j. Next(i, j) & ~i = job2 & ~j = job2)
spec again AG forall j. Open(j) -> AF ~Open(j)
"""


@pytest.mark.parametrize("mode", MODES)
def test_constants_keep_their_names_and_the_others_count_past_them(mode):
    result = verify(parse_deployment(DESK), **mode)
    assert not result["pair"].holds
    *_, last = result["pair"].trace.steps
    assert last.call.tool == "link"
    assert set(last.call.args) == {"job1", "job3"}


@pytest.mark.parametrize("mode", MODES)
def test_the_run_of_a_fault_is_named_from_1_in_its_words_too(mode):
    broken = DESK.replace("  effect\n    clear Next\n    delete", "  effect when ~Open(j)\n    delete")
    fault = verify(parse_deployment(broken), **mode).broken
    assert isinstance(fault, NoEffect)
    assert fault.call.args == ("job1",)
    assert "close(job1) is offered" in str(fault)
    assert str(fault.trace.last) == "{ Open(job1), Open(job2) }"


def test_an_agent_that_tells_values_apart_keeps_their_names():
    """Without the wrapper no permutation leads from runs to runs."""
    text = DESK.replace("bound job 2", "bound job 1").replace("atmost 2 j", "atmost 1 j")
    for seed in range(3):
        result = verify(parse_deployment(text), by_name(seed), engine="explicit", wrapped=False)
        for verdict in result.verdicts.values():
            if verdict.evidence is not None:
                assert replay(result.deployment, result.moves.wrappers, verdict.evidence).confirmed
                assert renamed(verdict.evidence, result.deployment, result.moves.wrappers) is verdict.evidence
