"""Prompts: what the model is sent, and the paper's two exact prompts from its own listings."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_folder import shared_folder
from stead_sym.agent.base import DecisionContext
from stead_sym.agent.prompts.prompt import Message, Prompt
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.semantics import offer, view
from stead_sym.deployment.tool import Call
from stead_sym.errors import InputError
from stead_sym.files import load
from stead_sym.relational.instance import Fact, Instance
from stead_sym.testing.strategies import renamings

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
    """What the agent is shown and offered in the state, under canonical names."""
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


# The paper's own prompts, from its listings.


def listings() -> dict[str, str]:
    """The listings of the paper by their headings; a listing's text ends before the last line feed."""
    source = (shared_folder() / "paper.tex").read_text(encoding="utf-8")
    found = re.findall(
        r"\\listingheading\{(.*?)\.\}\s*\\begin\{lstlisting\}\n(.*?)\n\\end\{lstlisting\}", source, re.DOTALL
    )
    texts: dict[str, str] = {}
    for heading, text in found:
        texts[heading if heading not in texts else f"{heading} 2"] = text
    return texts


def test_the_prompt_of_the_worked_example(tmp_path):
    paper = listings()
    template = paper["User-message template 2"]
    folder = write(
        tmp_path,
        system_txt=paper["System message"] + "\n",
        user_txt=template + "\n",
        policy_txt=paper["Policy text"] + "\n",
    )
    # The tools' descriptions are data of the deployment; their serialization must be that of the listing.
    words = {tool["name"]: tool["description"] for tool in json.loads(paper["Tool-schema serialization"])}
    tools = tuple(replace(tool, description=words[tool.name]) for tool in desk.written.tools)
    worked = replace(desk, written=replace(desk.written, tools=tools))
    prompt = Prompt.of(worked, folder)
    system, user = prompt.messages(context)
    assert system.content == paper["System message"]
    head, tail = template.split("[CURRENT RELATIONAL STATE]")
    head = head.replace("[POLICY TEXT]", paper["Policy text"])
    head = head.replace("[TOOL SCHEMAS]", paper["Tool-schema serialization"])
    assert user.content == head + prompt.state_text(context.view) + tail
    assert "[" + "TOOL SCHEMAS]" not in user.content
    assert user.content.startswith("POLICY\nProcess each refund case to completion.")
    verbatim = write(folder, tools_json=paper["Tool-schema serialization"] + "\n")
    assert Prompt.of(desk, verbatim).messages(context) == (system, user)


AIRLINE = """
deployment cancellation
sort username, reservation
relation Account(username)
relation Booked(reservation, username)
relation Before(reservation, reservation)
init
  Account(amelia_davis_8890)
  Booked(r_fbfc2b_9a51, amelia_davis_8890)
  Booked(r_de65cf_5140, amelia_davis_8890)
  Booked(r_46bfa7_9a14, amelia_davis_8890)
  Before(r_fbfc2b_9a51, r_de65cf_5140)
  Before(r_fbfc2b_9a51, r_46bfa7_9a14)
  Before(r_de65cf_5140, r_46bfa7_9a14)
tool cancel_one(r: reservation)
  guard exists u. Booked(r, u)
tool cancel_two(r: reservation, s: reservation)
  guard Before(r, s)
tool cancel_three(r: reservation, s: reservation, t: reservation)
  guard Before(r, s) & Before(s, t)
"""


def one_of_the_calls(*names):
    ids = ",".join(f'"[{name}]"' for name in names)
    return f'{{"action":"cancel_reservations","reservation_ids":[{ids}]}}'


@pytest.mark.parametrize("username", ["amelia_davis_8890", "ea0q883c_00yla6i6"])
def test_the_prompt_of_the_case_study(tmp_path, username):
    paper = listings()
    calls = {
        "cancel_one": one_of_the_calls("r"),
        "cancel_two": one_of_the_calls("r", "s"),
        "cancel_three": one_of_the_calls("r", "s", "t"),
    }
    template = paper["User-message template"]
    folder = write(tmp_path, system_txt="", user_txt=template + "\n", calls_json=json.dumps(calls))
    airline = parse_deployment(AIRLINE.replace("amelia_davis_8890", username), "airline.stead")
    prompt = Prompt.of(airline, folder)
    shown = DecisionContext(airline.init, offer(airline, airline.init))
    [message] = prompt.messages(shown)
    assert message.content == template.replace("[USERNAME]", username)
    assert message.content.count(username) == 5
    texts = {prompt.call_text(call) for call in shown.calls}
    assert len(texts) == 7
    outputs = {text for heading, text in paper.items() if heading.startswith("Output for")}
    assert len(outputs) == 2
    assert outputs <= texts
