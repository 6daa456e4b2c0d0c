"""The audit of hypotheses: what is counted is what is there, what is widened is an orbit, what is missing is
said."""

import pytest
from hypothesis import given, reject, settings

import stead_sym as st
from brute_force import automorphisms
from engine_pairs import MAX_STATES, by_name, examples
from generated.deployments import deployments
from stead_sym.errors import DefinitionError, Undecided
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Schema
from stead_sym.verification.hypotheses import Hypotheses
from whole import verify

ALIKE = """
deployment alike
sort case
relation Open(case)
relation Urgent(case)
init Open(a) Open(b) Open(c) Urgent(c)
bound case {bound}
{view}
tool close(x: case) "Close a case."
  guard Open(x) & atleast 2 y. Open(y)
  effect delete Open(x)
tool more()
  guard ~Open(a) & atmost 2 y. Open(y)
  effect
    fresh x: case
    insert Open(x)
tool rest()
spec s AG exists x. Open(x)
"""


def alike(view: str = "", bound: int = 5) -> st.Deployment:
    return st.parse_deployment(ALIKE.format(view=view, bound=bound))


def first(context: st.DecisionContext) -> st.Call:
    return min(context.calls)


def statuses(hypotheses: Hypotheses) -> dict[str, str]:
    return {hypothesis.name: hypothesis.status for hypothesis in hypotheses.all}


@pytest.mark.parametrize("options", [{"engine": "explicit"}, {"domain": "theorem"}, {"domain": "normal"}])
def test_the_most_active_values_are_counted_and_not_the_bound(options: dict[str, str]) -> None:
    desk = alike(bound=4)
    result = st.verify(desk, **options)  # type: ignore[arg-type]
    states = result.satisfying("true").sample(result.states)
    constants = set(desk.constants["case"])
    most = max(len(state.active_domain["case"] - constants) for state in states)
    assert len(states) == result.states
    assert most == 3
    assert result.hypotheses.activity["case"].most == most
    assert result.hypotheses.activity["case"].bound == 4
    assert set(statuses(result.hypotheses).values()) == {"established", "by construction"}


def brute_force(context: st.DecisionContext, calls: frozenset[st.Call], schema: Schema) -> set[st.Call]:
    """The calls that the automorphisms of a context make of some, by trying all renamings."""
    arities = {call.tool: len(call.args) for call in context.calls}
    sorts = {call.tool: tuple("case" for _ in call.args) for call in context.calls}
    joint = Schema(schema.sorts, (*schema.relations, *(Relation(f"call {t}", sorts[t]) for t in arities)))
    facts = {Fact(f"call {call.tool}", call.args) for call in context.calls}
    instance = Instance(joint, context.view.facts.union(facts))
    return {call.rename(alpha) for alpha in automorphisms(instance, schema.rigid) for call in calls}


def test_choices_among_records_alike_are_shown_with_what_would_tell_them_apart() -> None:
    desk = alike(view="view Open(x) where true")
    result = st.verify(desk, first)
    shown = {widened.context: widened for widened in result.hypotheses.widened}
    for context, selected in result.decisions:
        expected = brute_force(context, selected, desk.schema)
        assert expected == (shown[context].possible if context in shown else selected)
    start = shown[result.decisions[0][0]]
    assert {len(start.selected), len(start.possible)} == {1, 3}
    assert start.alike == ("CASE_1", "CASE_2", "CASE_3")
    assert "a `view` of Urgent could" in start.remedy
    assert start.context.view.facts == {Fact("Open", (case,)) for case in start.alike}


def test_a_view_of_what_differs_narrows_the_choice() -> None:
    seen, hidden = (st.verify(alike(view), first) for view in ("", "view Open(x) where true"))
    assert len(hidden.hypotheses.widened[0].possible) == 3
    assert len(seen.hypotheses.widened[0].possible) == 2
    assert "a relation in which each case has a place of its own would" in seen.hypotheses.widened[0].remedy


def test_where_the_agent_picks_all_of_its_own_nothing_is_widened() -> None:
    assert st.verify(alike(), lambda context: context.calls).hypotheses.widened == ()
    assert st.verify(alike(), "any").hypotheses.widened == ()


@settings(max_examples=examples(40))
@given(deployments())
def test_what_is_widened_is_what_the_wrapper_lets_happen(deployment: st.Deployment) -> None:
    """In each reachable state the deployment may make exactly the calls that the audit shows for its context,
    or those that the agent selected where the audit shows nothing."""
    wrapper = st.agents.wrap(deployment, by_name("a"))
    assert wrapper is not None
    try:
        result = verify(deployment, wrapper, engine="explicit", max_states=MAX_STATES, findings=False)
    except (DefinitionError, Undecided):
        reject()
    shown = {widened.context: widened for widened in result.hypotheses.widened}
    for state in result.satisfying("true").sample(result.states):
        if offered := st.offer(deployment, state):
            decision = wrapper.decide([st.DecisionContext(st.view(deployment, state), offered)])[0]
            widened = shown.get(decision.canonical)
            expected = decision.selected if widened is None else widened.possible
            assert {call.rename(decision.names) for call in expected} == decision.calls
            assert widened is None or not decision.action_rigid


def test_what_is_not_established_is_said() -> None:
    desk = st.load("refund")
    forced = st.verify(desk, "approving", domain={"case": 2}, force=True)
    assert statuses(forced.hypotheses)["the domain is large enough"] == "not established"
    assert statuses(forced.hypotheses)["bounded"] == "not established"
    unwrapped = st.verify(desk, first, wrapped=False)
    assert statuses(unwrapped.hypotheses)["the agent is equivariant"] == "not established"
    assert statuses(unwrapped.hypotheses)["bounded"] == "not established"
    for result in (forced, unwrapped):
        assert {verdict.word for verdict in result.verdicts.values()} == {"unknown"}
    known = st.agents.wrap(desk, first)
    assert known is not None
    knowing = st.CanonicalWrapper(known.agent, desk.schema, desk.tools, {"case7": "case"})
    result = st.verify(desk, knowing)
    [missing] = [h for h in result.hypotheses.missing if h.name == "the agent is equivariant"]
    assert "case7" in missing.how


def test_every_agent_and_every_key_is_named() -> None:
    result = st.verify(st.load("ward"), {"bed_agent": "careful", "discharge_agent": "any"})
    by_name_ = {h.name: h for h in result.hypotheses.all}
    assert "wrapper" in by_name_["agent bed_agent is equivariant"].how
    assert "whatever is offered" in by_name_["agent discharge_agent is equivariant"].how
    assert "LiesIn, Bed" in by_name_["keys hold"].how


def test_whether_an_ensure_exceeds_a_bound_is_established_or_not() -> None:
    text = (
        "deployment d\nsort a\nrelation P(a)\nrelation Q(a)\ninit P(x)\nbound a 2\n"
        "tool t()\n  effect ensure same(P) & atmost 2 y. Q'(y)\ntool rest()"
    )
    assert not st.verify(st.parse_deployment(text), specs=[]).hypotheses.missing
    text = text.replace("ensure", "ensure (forall y. Q'(y) -> exists z. P'(z) & z != y) & false &")
    text = text.replace("same(P) &", "").replace("effect ensure", "effect  effect ensure")
    [bounded] = st.verify(st.parse_deployment(text), specs=[]).hypotheses.missing
    assert bounded.name == "bounded"
    assert "whether t exceeds a bound is not decided" in bounded.how
