"""Several agents: each its own view, tools, prompt, policy and model; who is who by name."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

import stead_sym as st
from stead_sym.agents.roles import by_agent, wrap_all
from stead_sym.agents.selection import selection
from stead_sym.report.terminal import print_verification
from stead_sym.testing.byte_model import ByteModel

POST = """
deployment post
sort letter
relation Here(letter)
relation Read(letter)
bound letter 1
event comes()
  guard ~Here(_)
  effect
    fresh l: letter
    insert Here(l)
tool read(l: letter) guard Here(l) effect insert Read(l)
tool burn(l: letter) guard Here(l) effect delete Here(l) delete Read(l)
agent reader
  tools read, burn
  view Here(l)
tool stamp(l: letter) guard Here(l)
agent burner
  tools burn, read, stamp
spec s AG (forall l. (Read(l) -> Here(l)))
"""
post = st.parse_deployment(POST)
ward = st.load("ward")
beds, discharges = ward.agents


def test_each_wrapper_has_the_tools_of_its_agent():
    wrappers = wrap_all(ward, {"bed_agent": "careful", "discharge_agent": "any"})
    assert wrappers["discharge_agent"] is None
    assert [tool.name for tool in wrappers["bed_agent"].tools] == ["assign", "refer"]


def test_one_policy_name_stands_for_all():
    wrappers = wrap_all(ward, "careful")
    assert {name: w.agent.name for name, w in wrappers.items()} == dict.fromkeys(wrappers, "careful")
    rules = {name: w.agent.policy for name, w in wrappers.items()}
    assert rules["bed_agent"] != rules["discharge_agent"]


def never(context):
    raise AssertionError("not asked")


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"bed_agent": "any"}, st.InputError, "agent discharge_agent is given nothing"),
        ({"bed_agent": "any", "nurse": "any"}, st.errors.DeclarationError, "unknown agent nurse"),
        (
            {"bed_agent": "any", "discharge_agent": "bold"},
            st.errors.DeclarationError,
            "unknown policy bold of agent",
        ),
        (never, st.InputError, "there are several agents"),
        ({"bed_agent": "any", "discharge_agent": 3}, TypeError, "3 is no agent"),
    ],
)
def test_who_is_not_there_is_refused(given, error, says):
    with pytest.raises(error, match=says):
        st.verify(ward, given)
    refund = st.load("refund")
    with pytest.raises(st.errors.DeclarationError, match="the deployment has one agent, without a name"):
        st.verify(refund, {"clerk": "any"})


def test_words_are_told_apart():
    assert by_agent(ward, ["careful"]) == {"bed_agent": "careful", "discharge_agent": "careful"}
    assert by_agent(ward, ["any", "bed_agent=careful"]) == {"bed_agent": "careful", "discharge_agent": "any"}
    assert by_agent(ward, ["bed_agent=hf:a=b"]) == {"bed_agent": "hf:a=b"}
    assert by_agent(st.load("refund"), ["x=y"]) == {"": "x=y"}


@pytest.mark.parametrize("engine", ["symbolic", "explicit"])
def test_agents_answer_with_calls_that_they_were_offered(engine):
    def thief(context):
        [letter] = context.view.active_domain["letter"]
        return st.Call("stamp", (letter,))

    with pytest.raises(st.AgentError, match="selects stamp"):
        st.verify(post, {"reader": thief, "burner": "any"}, engine=engine)


def test_a_prompt_speaks_of_one_agent_only():
    mine, theirs = (st.Prompt.of(ward, agent=role) for role in (beds, discharges))
    assert (mine.shown, theirs.shown) == (("Waiting", "Bed"), ("LiesIn", "Fit"))
    assert '"assign"' in mine.schemas
    assert '"discharge"' not in mine.schemas
    assert "arrive" not in mine.schemas + theirs.schemas


def test_prompt_texts_by_agent(tmp_path):
    own = tmp_path / "bed_agent"
    own.mkdir()
    (own / "system.txt").write_text("You give beds.")
    (tmp_path / "system.txt").write_text("You work in a ward.")
    assert st.Prompt.of(ward, tmp_path, beds).system == "You give beds."
    assert st.Prompt.of(ward, tmp_path, discharges).system == "You work in a ward."


@pytest.mark.parametrize("engine", ["symbolic", "explicit"])
def test_two_models_share_a_store_and_are_asked_once_each(engine):
    store = st.Store()

    def models():
        return {
            role.name: st.ModelAgent(ByteModel(seed), st.Prompt.of(post, agent=role), store)
            for seed, role in enumerate(post.agents)
        }

    first = st.verify(post, models(), engine=engine)
    assert first["s"].holds
    runs = first.agents
    assert runs["reader"].contexts == 1
    assert runs["burner"].contexts in (1, 2)  # a letter that was read looks different to it
    assert all(run.queries == run.contexts == len(run.answers) for run in runs.values())
    console = Console(width=120, record=True, file=io.StringIO())
    print_verification(first, console)
    shown = console.export_text().split("closest decisions of the model")[1]
    assert all(name in shown for name in runs)  # a margin is an agent's
    again = st.verify(post, models(), engine=engine)
    assert again.queries == 0
    assert again.decisions == first.decisions


def test_the_selection_is_the_union_with_all_events():
    state = st.Instance.of(
        ward.schema,
        [("Waiting", ("p",)), ("Bed", ("b", "single")), ("Clean", ("b",)), ("LiesIn", ("q", "c"))],
    )
    actors = selection(ward, dict.fromkeys(("bed_agent", "discharge_agent")), state)
    assert actors == {
        st.Call("assign", ("p", "b")): "bed_agent",
        st.Call("refer", ("p",)): "bed_agent",
        st.Call("confirm_fit", ("q",)): None,
    }
    careful = selection(ward, wrap_all(ward, "careful"), state)
    assert st.Call("assign", ("p", "b")) not in careful  # the policy asks for a shared bed
    assert careful.keys() < actors.keys()
