"""The prompts of the paper, from a source of the same form, and from its own source where that is at hand."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from shared_folder import shared_folder
from stead_sym.agents.base import DecisionContext
from stead_sym.agents.prompts.paper import PAPER_PROMPTS, VARIABLE, is_paper, listings
from stead_sym.agents.prompts.prompt import Message, Prompt
from stead_sym.cli.main import main
from stead_sym.deployment.files import load
from stead_sym.deployment.semantics import offer, view
from stead_sym.deployment.tool import Call
from stead_sym.errors import InputError
from stead_sym.relational.instance import Fact, Instance
from stead_sym.verification.verify import verify

desk, airline = load("refund"), load("airline")
live = Instance.of(
    desk.schema,
    [
        Fact("Approver", ("SERVICE_1", "SERVICE_2")),
        Fact("Approver", ("SERVICE_3", "SERVICE_4")),
        Fact("CaseStatus", ("CASE_1", "open")),
        Fact("Handler", ("CASE_1", "SERVICE_1")),
        Fact("PartOf", ("TASK_1", "CASE_1")),
    ],
)
context = DecisionContext(live, offer(desk, live))
TOOLS = json.dumps([{"name": tool.name, "arguments": {}} for tool in desk.tools], indent=1)
ANSWER = '{"do":"drop","ids":["<an id>","..."]}'
SOURCE = "\n".join(
    f"\\listingheading{{{heading}.}}\n\\begin{{lstlisting}}\n{text}\n\\end{{lstlisting}}\nText {{between}}.\n"
    for heading, text in [
        ("User-message template", f'Drop what [USERNAME] may.\n\n{ANSWER}\n{{"user": "[USERNAME]"}}'),
        ("Output for \\texttt{a\\_b}", '{"do":"drop","ids":["r1","r2"]}'),
        ("System message", "Be [exact]. "),
        (
            "User-message template",
            "P\n[POLICY TEXT]\n\nT\n[TOOL SCHEMAS]\nS\n[CURRENT RELATIONAL STATE]\nEnd.",
        ),
        ("Tool-schema serialization", TOOLS),
        ("Policy text", "Go on.\n"),
        ("Control policy text", "Ask first."),
    ]
)


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "paper.tex"
    path.write_text(SOURCE, encoding="utf-8")
    return path


def test_the_listings_are_taken_byte_for_byte(source):
    found = listings(source)
    assert list(found) == [
        "User-message template",
        "Output for \\texttt{a\\_b}",
        "System message",
        "User-message template 2",
        "Tool-schema serialization",
        "Policy text",
        "Control policy text",
    ]
    assert found["System message"] == "Be [exact]. "
    assert found["Policy text"] == "Go on.\n"
    assert found["Tool-schema serialization"] == TOOLS


@pytest.mark.parametrize(("word", "policy"), [("paper", "Go on.\n"), ("paper-control", "Ask first.")])
def test_the_workflow(source, word, policy):
    prompt = Prompt.of(desk, f"{word}:{source}")
    state = prompt.state_text(live)
    assert prompt.messages(context) == (
        Message("system", "Be [exact]. "),
        Message("user", f"P\n{policy}\n\nT\n{TOOLS}\nS\n{state}\nEnd."),
    )


def test_the_source_may_stand_in_the_environment(source, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(source))
    assert Prompt.of(desk, "paper").messages(context) == Prompt.of(desk, f"paper:{source}").messages(context)


def test_the_airline(source):
    prompt = Prompt.of(airline, f"paper-airline:{source}")
    shown = DecisionContext(view(airline, airline.init), offer(airline, airline.init))
    [message] = prompt.messages(shown)
    assert message.content == f'Drop what amelia_davis_8890 may.\n\n{ANSWER}\n{{"user": "amelia_davis_8890"}}'
    assert prompt.call_text(Call("cancel_two", ("r1", "r2"))) == '{"do":"drop","ids":["r1","r2"]}'
    assert prompt.call_text(Call("rest", ())) == '{"name": "rest", "arguments": {}}'


@pytest.mark.parametrize(
    ("deployment", "word", "message"),
    [
        (desk, "paper:nowhere.tex", r"nowhere\.tex: cannot be read \(No such file"),
        (desk, "paper", r"write paper:PATH/paper\.tex, or set STEAD_SYM_PAPER; \./paper is a folder"),
        (airline, "paper:SOURCE", r"of other tools than airline has \(archive_case, .*use them with the exa"),
        (desk, "paper-airline:SOURCE", r"all of sort reservation, and refund has none"),
        (desk, "paper-control:SOURCE", r"no listing with the heading 'Control policy text'"),
    ],
)
def test_errors_are_one_line(source, monkeypatch, deployment, word, message):
    monkeypatch.delenv(VARIABLE, raising=False)
    if "control" in word:
        source.write_text(SOURCE.replace("{Control policy", "{Other policy"), encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        Prompt.of(deployment, word.replace("SOURCE", str(source)))
    assert "\n" not in str(caught.value)


def test_a_folder_of_that_name_is_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper" / "policy.txt").write_text("From a folder.", encoding="utf-8")
    assert "From a folder." in Prompt.of(desk, "./paper").messages(context)[1].content
    assert is_paper("paper:x")
    assert not is_paper("papers")


def test_a_verification_is_told_of_a_source_that_is_missing(capsys, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    words = ["verify", "refund", "--replay", "none.jsonl", "--prompts"]
    for name in PAPER_PROMPTS:
        assert main([*words, name]) == 2
        assert f"write {name}:PATH/paper.tex" in capsys.readouterr().err


# From the paper's own source.


def paper(name):
    return f"{name}:{shared_folder() / 'paper.tex'}"


def between(before, after):
    """Return what stands between two pieces of the paper, by hand."""
    text = (shared_folder() / "paper.tex").read_text(encoding="utf-8")
    assert text.count(before) == 1
    return text.split(before)[1].split(after)[0]


@pytest.mark.parametrize(
    ("name", "heading"), [("paper", "Policy text"), ("paper-control", "Control policy text")]
)
def test_the_prompt_of_the_worked_example(name, heading):
    policy = between(f"\\listingheading{{{heading}.}}\n\\begin{{lstlisting}}\n", "\n\\end{lstlisting}")
    schemas = between("{Tool-schema serialization.}\n\\begin{lstlisting}\n", "\n\\end{lstlisting}")
    prompt = Prompt.of(desk, paper(name))
    system, user = prompt.messages(context)
    assert system.content.startswith("You are a deterministic database-facing tool agent.")
    assert user.content == (
        f"POLICY\n{policy}\n\nTOOL SCHEMAS\n{schemas}\n\n"
        f"CURRENT RELATIONAL STATE\n{prompt.state_text(live)}\n\n"
        "Select the unique policy-compliant tool call."
    )
    # The listing serializes the tools as this package does, with descriptions of its own.
    words = {tool["name"]: tool["description"] for tool in json.loads(schemas)}
    tools = tuple(replace(tool, description=words[tool.name]) for tool in desk.written.tools)
    worked = replace(desk, written=replace(desk.written, tools=tools))
    assert Prompt.of(worked).schemas == schemas


@pytest.mark.parametrize("username", ["amelia_davis_8890", "ea0q883c_00yla6i6"])
def test_the_prompt_of_the_case_study(username):
    renaming = {"amelia_davis_8890": username}
    prompt = Prompt.of(airline, paper("paper-airline"))
    start = airline.init.rename(renaming)
    shown = DecisionContext(start, offer(airline, airline.init))
    [message] = prompt.messages(shown)
    template = between(
        "no other text or data.\n\n\\listingheading{User-message template.}\n\\begin{lstlisting}\n", "\n\\end"
    )
    assert message.content == template.replace("[USERNAME]", username)
    assert message.content.count(username) == 5
    texts = {prompt.call_text(call) for call in shown.calls}
    assert len(texts) == 7
    found = listings(shared_folder() / "paper.tex")
    outputs = {text for heading, text in found.items() if re.match("Output for", heading)}
    assert len(outputs) == 2
    assert outputs <= texts


def test_a_verification_with_the_prompts_of_the_paper():
    from stead_sym.models.agent import ModelAgent
    from stead_sym.testing.byte_model import ByteModel

    agent = ModelAgent(ByteModel(), Prompt.of(desk, paper("paper")))
    result = verify(desk, agent, domain="theorem")
    assert result.queries == result.contexts
    for shown, _ in result.decisions:
        assert agent.answer(shown).prompt == agent.prompt.messages(shown)
