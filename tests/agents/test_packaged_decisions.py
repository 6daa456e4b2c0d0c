"""The decisions that come with the package: they answer what the packaged example asks today."""

from __future__ import annotations

import json

import pytest

from stead_sym.agents.prompts.prompt import Prompt
from stead_sym.agents.records.replay import ReplayAgent, packaged_recordings, read_answers
from stead_sym.cli.main import main
from stead_sym.deployment.files import load
from stead_sym.errors import StoreError
from stead_sym.models.catalogue import CATALOGUE
from stead_sym.verification.verify import verify

desk = load("refund")


@pytest.mark.parametrize(("domain", "states", "transitions"), [("theorem", 55, 72), ("normal", 7, 8)])
def test_the_refund_workflow_under_smollm2(domain, states, transitions):
    try:
        result = verify(desk, ReplayAgent("smollm2", Prompt.of(desk)), domain=domain)
    except StoreError as error:
        pytest.fail(
            f"the packaged recording no longer fits what a model is shown: {error}\n"
            "record it anew: python benchmarks/record.py smollm2 (it wants the extra `llama`)"
        )
    assert (result.states, result.transitions) == (states, transitions)
    assert (result.contexts, result.queries) == (4, 0)
    assert {name: verdict.word for name, verdict in result.verdicts.items()} == {
        "auth": "fails",
        "prog": "holds",
    }


def test_nothing_is_recorded_that_is_not_asked():
    agent = ReplayAgent("smollm2", Prompt.of(desk))
    result = verify(desk, agent, domain="theorem")
    asked = {agent.answer(context).key for context, _ in result.decisions}
    assert asked == {answer.key for answer in read_answers("smollm2")}


def test_recordings_are_of_models_of_the_catalogue_and_with_its_weights():
    assert packaged_recordings() == tuple(sorted(CATALOGUE))
    for name in packaged_recordings():
        for answer in read_answers(name):
            assert answer.model["weights"] == CATALOGUE[name].weights_digest
            assert answer.model["name"] == name


def test_the_command_and_a_file_of_that_name(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["verify", "refund", "--replay", "smollm2", "--domain", "theorem", "--json"]
    assert main(words) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["states"], report["transitions"], report["queries"]) == (55, 72, 0)
    (tmp_path / "smollm2").write_text("a file of one's own\n")
    assert main(words) == 2
    assert "smollm2:1: not JSON" in capsys.readouterr().out
