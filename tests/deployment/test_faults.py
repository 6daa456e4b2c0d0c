"""The faults of a deployment: found by both engines, also where effects are formulas, and worded alike."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import event, given, reject, settings
from hypothesis import strategies as st

import stead_sym.logic.syntax as fo
from engine_pairs import examples, is_at_fault, replay
from generated.formulas import Signature, formulas
from generated.workflows import workflows
from stead_sym.deployment import build
from stead_sym.deployment.files import load_text
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.parts import Rule
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.deployment.semantics import leads_to, offer, possible, successors
from stead_sym.deployment.tool import Effect, Ensure, Tool
from stead_sym.errors import BoundExceeded, DefinitionError, NoEffect, Undecided, ValueOutOfRange
from stead_sym.relational.instance import Fact
from whole import verify

MODES = {
    "normal": {"domain": "normal"},
    "theorem": {"domain": "theorem"},
    "explicit": {"engine": "explicit"},
}

DESK = """deployment desk
sort job
sort place = { inbox, outbox } rigid
relation At(job, place)
init
  At(first, inbox)
bound job 1
tool idle()
  guard IDLE
tool take()
  guard TAKE
  effect
    fresh j: job
    insert At(j, inbox)
tool move(j: job)
  guard At(j, inbox) & MOVE
  effect when WHEN
    delete At(j, inbox)
    insert At(j, outbox)
"""


def desk(idle="true", take="false", move="false", when="true", bound="bound job 1"):
    words = {"IDLE": idle, "TAKE": take, "MOVE": move, "WHEN": when}
    text = re.sub("IDLE|TAKE|MOVE|WHEN", lambda found: words[found[0]], DESK)
    return parse_deployment(text.replace("bound job 1\n", f"{bound}\n"), "desk.stead")


FAULTS = {
    "no call at the start": (
        desk(idle="false"),
        "desk.stead:8:6: no call is offered in the initial state { At(first, inbox) }; weaken a guard, or add"
        " a tool that changes nothing for states where all work is done, or say"
        " which these are with `terminal when …`",
        "no call is offered",
    ),
    "no call after a step": (
        desk(idle="false", move="true"),
        "desk.stead:8:6: no call is offered in { At(first, outbox) }, reached after 1 step; weaken a guard,"
        " or add a tool that changes nothing for states where all work is done, or say"
        " which these are with `terminal when …`",
        "no call is offered",
    ),
    "an effect that does not apply": (
        desk(move="true", when="At(j, outbox)"),
        "desk.stead:15:6: move(first) is offered, but none of its effects applies, in the initial state"
        " { At(first, inbox) }; strengthen its guard, or let one of its effects apply",
        "move(first) is offered, but none of its effects applies",
    ),
    "a bound": (
        desk(take="exists j. At(j, inbox)"),
        "desk.stead:7:7: 2 values of sort job are in use besides the constants after take(), in"
        " { At(first, inbox), At(job1, inbox), At(job2, inbox) }, reached after 2 steps, but `bound job 1`"
        " claims at most 1; raise the bound, or strengthen the guards that let more in",
        "2 values of sort job are in use besides the constants",
    ),
    "a bound without a line": (
        desk(take="true", bound="# no bound"),
        "desk.stead:10:6: 1 value of sort job is in use besides the constants after take(), in"
        " { At(first, inbox), At(job1, inbox) }, reached after 1 step, but without a line `bound job 1` the"
        " claim is at most 0; raise the bound, or strengthen the guards that let more in",
        "1 value of sort job is in use besides the constants",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", FAULTS)
def test_all_engines_say_the_same(case, mode):
    deployment, message, claim = FAULTS[case]
    with pytest.raises(DefinitionError) as caught:
        verify(deployment, **MODES[mode])
    assert str(caught.value) == message
    assert caught.value.trace.claim == claim
    assert f"shows: {claim}" in str(caught.value.trace)


@pytest.mark.parametrize("mode", ["theorem", "explicit"])
def test_a_domain_that_is_too_small_is_unknown_in_both(mode):
    text = DESK.replace("guard IDLE", "guard false").replace("guard TAKE", "guard ~exists j. At(j, outbox)")
    text = text.replace("fresh j: job\n", "fresh j: job\n    clear At\n").replace("& MOVE", "& false")
    deployment = parse_deployment(text.replace("when WHEN", ""))
    sizes = {**MODES[mode], "domain": {"job": 2}}
    with pytest.raises(
        Undecided, match=r"has too few values for any step from { At\(job1, inbox\) }, reached"
    ):
        verify(deployment, force=True, **sizes)


def test_a_message_lists_some_facts_only():
    relations = {"P": "k, k", "Q": "k"}
    values = [f"v{i}" for i in range(9)]
    init = [Fact("P", (left, right)) for left in values for right in values]
    crowd = build.build_deployment("crowd", sorts={"k": values}, relations=relations, init=init, tools=[])
    with pytest.raises(DefinitionError, match="and 69 more facts") as caught:
        verify(crowd)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("mode", MODES)
def test_a_formula_in_place_of_a_statement(mode):
    """What reads as an insertion is none: without a prime it asks for what the guard excludes."""
    deployment = instead_of_insert("ensure RefundIssued(task_id)")
    with pytest.raises(NoEffect, match=r"none of its effects applies, in .*reached after 1 step") as caught:
        verify(deployment, deployment.policy("baseline"), **MODES[mode])
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(
        "P'(…) the one after, where anything may hold that the formula leaves open)"
    )
    assert [step.call.tool for step in caught.value.trace.steps] == ["ingest_case"]


@pytest.mark.parametrize("mode", MODES)
def test_a_formula_that_says_nothing_of_the_rest(mode):
    """With the prime everything else may change: far too many outcomes to list, of which one will do."""
    deployment = instead_of_insert("ensure RefundIssued'(task_id)")
    with pytest.raises(BoundExceeded, match="after issue_refund") as caught:
        verify(deployment, deployment.policy("baseline"), **MODES[mode])
    assert [step.call.tool for step in caught.value.trace.steps] == ["ingest_case", "issue_refund"]
    assert len(caught.value.trace.last.active_domain["case"]) > 1


def instead_of_insert(statement):
    text, source = load_text("refund")
    assert text.count("insert RefundIssued(task_id)") == 1
    return parse_deployment(text.replace("insert RefundIssued(task_id)", statement), source)


RELATIONS = {"P": ("a",), "R": ("a", "k"), "Z": ()}


@st.composite
def ensuring(draw):
    """A deployment with a tool that draws a value for another, and tools whose effects are any formulas."""
    bound = draw(st.integers(0, 1))
    init = draw(st.sampled_from([[], [Fact("P", ("c",))], [Fact("R", ("c", "k1")), Fact("Z", ())]]))
    constants = {"a": ("c",) if init else (), "k": ("k1", "k2")}
    signature = Signature(RELATIONS, constants)

    def primed(formula):
        if isinstance(formula, fo.Atom):
            return fo.Atom(formula.relation, formula.args, primed=draw(st.booleans()))
        return fo.map_children(primed, formula)

    tools = [Tool("idle")]
    for i in range(draw(st.integers(1, 2))):
        formula = primed(draw(formulas(signature, {}, depth=3)))
        guard = draw(formulas(signature, {}, depth=1))
        tools.append(Tool(f"t{i}", (), guard=guard, effects=(Effect((Ensure(formula),)),)))
    if draw(st.booleans()):
        effect = "\n".join(["fresh x: a", "insert R(x, k1)", "insert P(x)"])
        tools.append(build.tool("take", guard="~exists x: a. true", effect=effect))
    return build.build_deployment(
        "ensuring",
        sorts={"a": None, "k": build.rigid("k1", "k2")},
        relations={name: ", ".join(sorts) for name, sorts in RELATIONS.items()},
        init=init,
        bounds={"a": bound},
        tools=tools,
        policies={"p": [Rule("idle")]},
        specs={"s": draw(st.sampled_from(["AG Z()", "AG forall x: a. (P(x) -> EF ~P(x))"]))},
    )


@settings(max_examples=examples(60))
@given(ensuring())
def test_formulas_as_effects_are_at_fault_in_all_modes_or_in_none(deployment):
    restriction = theorem_restriction(deployment, deployment.specs)
    found, faults = {}, {}
    for mode, options in MODES.items():
        limit = {"max_states": 60} if mode == "explicit" else {}
        try:
            found[mode] = verify(deployment, **options, **limit)["s"].holds
        except DefinitionError as error:
            found[mode], faults[mode] = "fault", error.with_traceback(None)
        except Undecided:
            reject()
    event(str(found["explicit"]))
    assert len(set(found.values())) == 1, found
    for mode, error in faults.items():
        assert is_at_fault(deployment, restriction, error)
        if mode != "normal":
            replay(deployment, restriction, None, error.trace, leaves_domain=True)


@settings(max_examples=examples(60))
@given(ensuring())
def test_where_a_call_leads_is_what_its_outcomes_are(deployment):
    restriction = theorem_restriction(deployment, deployment.specs)
    calls = offer(deployment, deployment.init)
    found = {call: successors(deployment, call, deployment.init, restriction) for call in calls}
    some = {deployment.init}.union(*({*one.inside[:20], *one.outside[:20]} for one in found.values()))
    for call, one in found.items():
        reached = {*one.inside, *one.outside}
        for after in some:
            assert leads_to(deployment, call, deployment.init, after, restriction) == (after in reached)


@settings(max_examples=examples(40))
@given(workflows(specs=0))
def test_statements_lead_to_what_their_outcomes_are_and_to_nothing_near_them(deployment):
    """Asked of some states after a step, and of these with one fact more or less."""
    restriction = theorem_restriction(deployment, deployment.specs)

    def outcomes(state):
        for call in sorted(possible(deployment, state)):
            found = successors(deployment, call, state, restriction)
            yield call, {*found.inside, *found.outside}

    later = [state for _, reached in outcomes(deployment.init) for state in sorted(reached, key=str)[:1]]
    for state in (deployment.init, *later[:3]):
        for call, reached in outcomes(state):
            asked = {state, *sorted(reached, key=str)[:6]}
            for one in tuple(asked):
                facts = sorted(one.facts | state.facts)[:4]
                asked |= {replace(one, facts=one.facts ^ {fact}) for fact in facts}
            for one in asked:
                assert leads_to(deployment, call, state, one, restriction) == (one in reached)


@pytest.mark.parametrize("mode", MODES)
def test_a_formula_about_values_that_are_named_after_others(mode):
    """A case is named after its desk, and there are more desks than the domain has cases."""
    deployment = parse_deployment("""
deployment marking
sort case
sort desk = { d1, d2, d3, d4, d5, d6 }
relation At(case, desk)
relation Mark(case)
init
  At(first, d1)
bound case 1
tool route()
  guard atmost 1 c: case. true
  effect
    choose d: desk where true
    fresh c: case
    insert At(c, d)
tool mark()
  effect
    ensure same(At) & forall c: case. (Mark'(c) <-> exists d: desk. At(c, d))
spec all_can_be_marked
  AG forall c, d. (At(c, d) -> EX Mark(c))
""")
    result = verify(deployment, **MODES[mode])
    assert result["all_can_be_marked"].holds
    assert mode != "normal" or result.domain["case"] > 1 + 1 + 2  # constants, bound, room for `ensure`


@pytest.mark.parametrize("mode", MODES)
def test_the_fact_that_is_written_is_named_and_not_what_is_kept_of_its_value(mode):
    """A formula of the past begins with a bracket, and would come before all relations."""
    deployment = parse_deployment("""
deployment counting
sort n = 0..2
relation At(n)
init At(0)
event up(i: n)
  guard At(i)
  effect
    delete At(i)
    insert At(i + 1)
spec seen AG forall i: n. ((At(i) -> i < 2) since At(0) | At(i))
""")
    with pytest.raises(
        ValueOutOfRange, match=r"^<text>:6:7: up\(2\) in .* writes At\(3\), but n ends at 2;"
    ) as found:
        verify(deployment, **MODES[mode])
    assert found.value.claim == "range of At"
    assert len(found.value.trace.steps) == 3
