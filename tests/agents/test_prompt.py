"""Prompts: what the model is sent."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generated.strategies import renamings
from stead_sym.agents.base import DecisionContext
from stead_sym.agents.prompts.prompt import Message, Prompt
from stead_sym.deployment.files import load
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.semantics import offer, view
from stead_sym.deployment.tool import Call
from stead_sym.errors import InputError
from stead_sym.relational.instance import Fact, Instance

desk = load("refund")
CANONICAL = {"s1": "SERVICE_1", "a1": "SERVICE_2", "s2": "SERVICE_3", "a2": "SERVICE_4"}
live = Instance.of(
    desk.schema,
    [
        Fact("Approver", ("s1", "a1")),
        Fact("Approver", ("s2", "a2")),
        Fact("CaseStatus", ("CASE_1", "open")),
        Fact("Handler", ("CASE_1", "s1")),
        Fact("PartOf", ("TASK_1", "CASE_1")),
    ],
)
pending = live.rename(CANONICAL)


def renamed_context(deployment):
    """Return what the agent is shown and offered in the state, under canonical names."""
    calls = frozenset(call.rename(CANONICAL) for call in offer(deployment, live))
    return DecisionContext(view(deployment, live).rename(CANONICAL), calls)


context = renamed_context(desk)


def write(directory, **texts):
    for name, text in texts.items():
        (directory / name.replace("_", ".")).write_text(text, encoding="utf-8")
    return directory


def test_the_packaged_prompt_shows_state_tools_and_calls():
    system, user = Prompt.of(desk).messages(context)
    assert (system.role, user.role) == ("system", "user")
    assert '"CaseStatus": [["CASE_1", "open"]]' in user.content
    assert '"RefundIssued": []' in user.content
    assert "Pay the refund of an open task." in user.content
    assert user.content.count('{"name": "issue_refund", "arguments": {"task_id": "TASK_1"}}') == 1
    assert "[" + "POLICY TEXT]" not in user.content


def test_a_deployment_overrides_the_texts():
    texts = replace(desk, system="Be brief.", instructions="Close what is open.")
    system, user = Prompt.of(texts).messages(context)
    assert system == Message("system", "Be brief.")
    assert "Close what is open." in user.content


def test_files_override_the_deployment(tmp_path):
    folder = write(
        tmp_path, system_txt="", policy_txt="From a file.\n", user_txt="[POLICY TEXT]|[CASE]|[Handler.2]\n"
    )
    [user] = Prompt.of(replace(desk, instructions="From the deployment."), folder).messages(context)
    assert user == Message("user", "From a file.|CASE_1|SERVICE_1")


def test_what_is_not_shown_is_not_in_the_prompt():
    text = str(desk) + "\nview CaseStatus(c, q) where true\n"
    narrow = parse_deployment(text, "narrow.stead")
    content = Prompt.of(narrow).messages(renamed_context(narrow))[1].content
    assert "CaseStatus" in content
    assert "Handler" not in content


@given(st.data())
def test_equal_contexts_have_equal_prompts_and_different_ones_different(data):
    prompt = Prompt.of(desk)
    renaming = data.draw(renamings(pending, desk.schema.rigid))
    other = DecisionContext(
        context.view.rename(renaming), frozenset(call.rename(renaming) for call in context.calls)
    )
    assert (prompt.messages(other) == prompt.messages(context)) == (other == context)


def test_call_texts_are_told_apart():
    texts = {Prompt.of(desk).call_text(call) for call in context.calls}
    assert len(texts) == len(context.calls) == 3


def test_values_are_quoted():
    call = Call("issue_refund", ('a"b, c',))
    assert json.loads(Prompt.of(desk).call_text(call))["arguments"] == {"task_id": 'a"b, c'}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, r"no prompt texts there; put in one of system\.txt, user\.txt"),
        ({"user_txt": "a [CASES]"}, r"user\.txt:1:3: unknown placeholder \[CASES\]; write one of"),
        ({"user_txt": "\n[SERVICE]"}, r"user\.txt:2:1: \[SERVICE\]: the context has 4 values of SERVICE"),
        (
            {"user_txt": "[Approver.1]"},
            r"user\.txt:1:1: \[Approver\.1\]: the context has 2 facts of Approver",
        ),
        ({"calls_json": '{"issue_refund": 1}'}, r"calls\.json: should be"),
        ({"calls_json": '{"issue_refund": \n}'}, r"calls\.json:2:1: not JSON"),
        ({"calls_json": '{"pay": "x"}'}, r"calls\.json:1:1: unknown tool pay; there are ingest_case"),
        (
            {"calls_json": '{"issue_refund": "pay [CASE]"}'},
            r"calls\.json, issue_refund:1:5: unknown placeholder \[CASE\]; write one of \[task_id\]",
        ),
    ],
)
def test_errors_are_one_line_with_the_place(tmp_path, files, message):
    with pytest.raises(InputError, match=message) as caught:
        Prompt.of(desk, write(tmp_path, **files)).messages(context)
    assert "\n" not in str(caught.value)
