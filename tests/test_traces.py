"""Every trace is a run of the deployment, step by step, and shows what it claims to show."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, event, given, reject, settings
from hypothesis import strategies as st

import stead_sym.logic.syntax as fo
from engine_pairs import MAX_STATES, both, by_name, examples, replay
from generated.deployments import deployments
from generated.formulas import Signature, formulas
from stead_sym.agents.roles import wrap
from stead_sym.deployment.files import load
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.deployment.semantics import offer, successors
from stead_sym.deployment.trace import Trace, as_changes
from stead_sym.errors import Undecided
from stead_sym.logic.evaluate import holds
from stead_sym.relational.instance import Fact
from stead_sym.verification.verify import verify

DOMAINS = [("explicit", "theorem"), ("symbolic", "theorem"), ("symbolic", "normal")]


def specs_of_kinds(deployment, parts):
    """One specification per operator over first-order parts, each with evidence to be had when it fails."""
    f, g = parts
    formulas = {
        "ag": fo.Globally("A", f),
        "af": fo.Future("A", f),
        "ax": fo.Next("A", f),
        "au": fo.Until("A", f, g),
        "aw": fo.Until("A", f, g, weak=True),
        "eg": fo.Globally("E", f),
        "ef": fo.Future("E", f),
        "ex": fo.Next("E", f),
        "eu": fo.Until("E", f, g),
        "ew": fo.Until("E", f, g, weak=True),
        "ag_ef": fo.Globally("A", fo.Future("E", f)),
        "ef_ag": fo.Future("E", fo.Globally("A", f)),
        "ag_af": fo.Globally("A", fo.Future("A", f)),
        "ex_eg": fo.Next("E", fo.Globally("E", f)),
    }
    some = deployment.specs[0]
    specs = tuple(replace(some, name=n, formula=f) for n, f in formulas.items())
    return replace(deployment, written=replace(deployment.written, specs=specs))


@st.composite
def deployments_with_parts(draw):
    """A deployment with two closed first-order formulas over it."""
    deployment = draw(deployments(specs=1))
    relations = {relation.name: relation.sorts for relation in deployment.schema.relations}
    signature = Signature(relations, deployment.constants)
    parts = [draw(formulas(signature, {}, depth=3)) for _ in range(2)]
    return specs_of_kinds(deployment, parts), parts


def along(trace):
    """The states of the run from D0, and those of its loop (none, if it is finite)."""
    return trace.states, trace.states[trace.loop :] if trace.loop is not None else ()


def assert_shows(name, trace, truth, f, g):
    """The run shows why the formula of that kind holds or fails, f and g being first-order."""

    def now(formula, state):
        return holds(formula, state)

    states, loop = along(trace)
    match name, truth:
        case "ag", False:
            assert not now(f, trace.last)
        case "ef", True:
            assert now(f, trace.last)
        case "ax" | "ex", _:
            assert len(trace.steps) == 1
            assert now(f, trace.last) == truth
        case "af", False:
            assert loop
            assert not any(now(f, state) for state in states)
        case "eg", True:
            assert loop
            assert all(now(f, state) for state in states)
        case "eu", True:
            assert all(now(f, state) for state in states[:-1])
            assert now(g, trace.last)
        case "ew", True:
            assert all(now(f, state) for state in states[:-1])
            assert now(g, trace.last) or (loop and now(f, trace.last))
        case "au" | "aw", False:
            assert not any(now(g, state) for state in states)
            assert not now(f, trace.last) or (loop and name == "au")
        case "ag_ef", False:
            assert not now(f, trace.last)
        case "ef_ag", True:
            assert now(f, trace.last)
        case "ag_af", False:
            assert loop
            assert not any(now(f, state) for state in loop)
        case "ex_eg", True:
            assert loop
            assert all(now(f, state) for state in states[1:])
        case _:
            raise AssertionError(f"no run is asked for {name} that is {truth}")


SHOWN = {
    False: {"ag", "af", "ax", "au", "aw", "ag_ef", "ag_af"},
    True: {"eg", "ef", "ex", "eu", "ew", "ef_ag", "ex_eg"},
}


@pytest.mark.parametrize(("engine", "domain"), DOMAINS)
def test_runs_replay_and_show_what_they_claim(engine, domain):
    @settings(max_examples=examples(40))
    @given(deployments_with_parts(), st.sampled_from(["any", "policy", "names"]), st.integers(0, 9))
    def check(drawn, kind, seed):
        deployment, (f, g) = drawn
        deployment = replace(deployment, written=replace(deployment.written, fair=()))
        agent = {"any": "any", "policy": deployment.policy("p"), "names": by_name(seed)}[kind]
        try:
            verify(deployment, agent, engine="explicit", max_states=MAX_STATES)
        except Undecided:
            reject()
        result = verify(deployment, agent, engine=engine, domain=domain)
        restriction = (
            theorem_restriction(deployment, deployment.specs)
            if domain == "theorem"
            else result.engine.restriction
        )
        event(f"states: 2^{result.states.bit_length() - 1} and more")
        wrapper = wrap(deployment, agent)
        for name, verdict in result.verdicts.items():
            shown = name in SHOWN[verdict.holds]
            if shown:
                # a claim that holds here and now has no run to show: the empty one
                trace = verdict.trace if verdict.trace or not verdict.holds else Trace(deployment.init)
                assert trace is not None, name
                assert_shows(name, trace, verdict.holds, f, g)
            if verdict.trace is not None:
                replay(deployment, restriction, wrapper, verdict.trace)

    check()


@settings(max_examples=examples(60, quick=8))
@given(deployments(specs=3), st.integers(0, 9))
def test_traces_of_any_specification_replay(deployment, seed):
    agent = by_name(seed)
    try:
        pair = both(deployment, agent)
    except Undecided:
        reject()
    states = pair.explicit.states
    del pair
    assume(states > 1)
    restriction = theorem_restriction(deployment, deployment.specs)
    for engine, domain in DOMAINS:
        result = verify(deployment, agent, engine=engine, domain=domain)
        for spec, verdict in result.verdicts.items():
            if verdict.trace is None:
                continue
            over = restriction if domain == "theorem" else result.engine.restriction
            replay(deployment, over, wrap(deployment, agent), verdict.trace)
            formula = deployment.spec(spec).formula
            if verdict.holds is False and isinstance(formula, fo.Globally) and formula.path == "A":
                assert fo.is_temporal(formula.body) or not holds(formula.body, verdict.trace.last)


@pytest.mark.parametrize(("engine", "domain"), DOMAINS)
@pytest.mark.parametrize("agent", ["baseline", "any"])
def test_the_counterexample_of_the_worked_example(engine, domain, agent):
    """It ends in a refund of a task that the approver of its case has not approved."""
    deployment = load("refund")
    chosen = "any" if agent == "any" else deployment.policy(agent)
    result = verify(deployment, chosen, engine=engine, domain=domain)
    verdict = result["auth"]
    assert verdict.holds is False
    trace = verdict.trace
    assert trace is not None
    over = (
        theorem_restriction(deployment, deployment.specs)
        if domain == "theorem"
        else result.engine.restriction
    )
    replay(deployment, over, wrap(deployment, chosen), trace)
    assert [step.call.tool for step in trace.steps] == ["ingest_case", "issue_refund"]
    assert trace.loop is None
    (task,) = trace.steps[-1].call.args
    assert task == trace.bindings["t"]
    last = trace.last
    assert (task,) in last.tuples("RefundIssued")
    assert (task, trace.bindings["c"]) in last.tuples("PartOf")
    assert (trace.bindings["c"], trace.bindings["s"]) in last.tuples("Handler")
    assert (trace.bindings["s"], trace.bindings["a"]) in last.tuples("Approver")
    assert (task, trace.bindings["a"]) not in last.tuples("Approved")
    body = deployment.spec("auth").formula.body
    assert isinstance(body, fo.Forall)
    assert not holds(body, last)
    assert all(holds(body, state) for state in trace.states[:-1])


@pytest.mark.parametrize(("engine", "domain"), DOMAINS)
def test_the_lasso_of_the_worked_example(engine, domain):
    """With everything offered the case may stay open for ever: the loop of approvals closes."""
    deployment = load("refund")
    result = verify(deployment, "any", engine=engine, domain=domain)
    trace = result["prog"].trace
    assert result["prog"].holds is False
    assert trace is not None
    assert trace.loop is not None
    case = trace.bindings["c"]
    assert (case, "open") in trace.states[1].tuples("CaseStatus")
    assert not any((case, "resolved") in state.tuples("CaseStatus") for state in trace.states)
    assert trace.states[trace.loop] == trace.last


@pytest.mark.parametrize(("engine", "domain"), DOMAINS)
def test_a_fair_lasso_meets_every_constraint(engine, domain):
    deployment = parse_deployment("""
deployment fairness
sort k = { k0, k1, k2, k3 } rigid
relation At(k)
init
  At(k0)
tool go()
  effect
    choose x: k
    clear At
    insert At(x)
fair At(k1)
fair At(k2)
spec reaches AF At(k3)
""")
    result = verify(deployment, engine=engine, domain=domain)
    trace = result["reaches"].trace
    assert result["reaches"].holds is False
    states, loop = along(trace)
    visited = {value for state in loop for (value,) in state.tuples("At")}
    assert {"k1", "k2"} <= visited
    assert not any(("k3",) in state.tuples("At") for state in states)
    replay(deployment, theorem_restriction(deployment, deployment.specs), None, trace)


def test_replay_refuses_what_is_not_a_run():
    """The oracle of this module can fail."""
    deployment = load("refund")
    restriction = theorem_restriction(deployment, deployment.specs)
    trace = verify(deployment, domain="theorem")["auth"].trace
    stays = replace(trace.steps[1], state=trace.steps[0].state)
    stuck = replace(trace, steps=(trace.steps[0], stays))
    headless = replace(trace, steps=trace.steps[1:])
    with pytest.raises(AssertionError, match="does not lead"):
        replay(deployment, restriction, None, stuck)
    with pytest.raises(AssertionError, match="is not selected"):
        replay(deployment, restriction, None, headless)
    assert successors(deployment, trace.steps[0].call, trace.start, restriction).exist
    assert trace.steps[0].call in offer(deployment, trace.start)


def test_a_row_that_is_replaced_is_told_by_its_key_and_what_differs():
    deployment = parse_deployment(
        "deployment d\nsort r\nsort s = { open, paid }\nsort n = 0..3\nrelation Order(r key, s)\n"
        "relation Wide(r key, s, n, n)\nrelation Free(r, s)\nrelation Pair(r key, s key)\n"
    )

    def told(added, removed):
        def facts(text):
            return [
                Fact(name, tuple(args.split()))
                for name, args in (f.split(":") for f in text.split("; ") if f)
            ]

        return [str(change) for change in as_changes(deployment.schema, facts(added), facts(removed))]

    assert told("Order:x paid", "Order:x open") == ["Order(x): open -> paid"]
    assert told("Wide:x open 2 0", "Wide:x paid 1 0") == ["Wide(x): s paid -> open, column 3 1 -> 2"]
    assert told("Order:x paid", "Order:y open") == ["+ Order(x, paid)", "- Order(y, open)"]
    assert told("Free:x paid; Pair:x open", "Free:x open; Pair:x paid") == [
        "+ Free(x, paid)",
        "+ Pair(x, open)",
        "- Free(x, open)",
        "- Pair(x, paid)",
    ]
    # two rows of one key, on the way to an error, are told one by one
    assert told("Order:x paid; Order:x open", "") == ["+ Order(x, open)", "+ Order(x, paid)"]
