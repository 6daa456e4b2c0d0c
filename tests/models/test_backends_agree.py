"""One model through transformers, vLLM in this process, and a vLLM server: the same to 1e-4 in float32."""

from __future__ import annotations

import json
import random
import subprocess
import sys

import pytest
from backends import SERVED, busy, desk, needs, shown

from stead_sym.agents.prompts.prompt import Prompt
from stead_sym.agents.records.possible import Greedy
from stead_sym.cli.main import main
from stead_sym.models.agent import ModelAgent
from stead_sym.models.backend import Request
from stead_sym.models.vllm_server import VllmServer
from stead_sym.verification.verify import verify

needs("vllm", "torch", "transformers", "aiohttp", "vllm")

CLOSE = 1e-4


@pytest.fixture(scope="module")
def served(server):
    return VllmServer.load(f"{server}#{SERVED}")


@pytest.fixture(scope="module")
def backends(model, offline, served):
    return model, offline, served


def margins(answers):
    return [branching.margin for answer in answers for branching in answer.branchings]


@pytest.mark.parametrize("tolerance", [0.0, 0.05], ids=["greedy", "tolerant"])
@pytest.mark.parametrize("deployment", [desk, busy], ids=["one case", "two cases"])
def test_verdicts_decisions_and_margins(backends, deployment, tolerance):
    prompt = Prompt.of(deployment)
    agents = [ModelAgent(backend, prompt, rule=Greedy(tolerance)) for backend in backends]
    results = [verify(deployment, agent) for agent in agents]
    answers = [
        [agent.answer(context) for context, _ in result.decisions]
        for agent, result in zip(agents, results, strict=True)
    ]
    reference = results[0]
    assert all(result.queries == result.contexts for result in results)
    # Nothing below rests on a tie that rounding could break either way.
    assert min(margins(answers[0])) > CLOSE
    for result, given in zip(results[1:], answers[1:], strict=True):
        assert [v.word for v in result.verdicts.values()] == [v.word for v in reference.verdicts.values()]
        assert result.decisions == reference.decisions
        assert (result.states, result.transitions) == (reference.states, reference.transitions)
        assert margins(given) == pytest.approx(margins(answers[0]), abs=CLOSE)
        for one, other in zip(given, answers[0], strict=True):
            assert one.said.unforced[:4] == other.said.unforced[:4]
            assert one.said.unforced.logprob == pytest.approx(other.said.unforced.logprob, abs=CLOSE)


def test_log_probabilities_at_every_node(backends, contexts):
    """With an endless tolerance every branching node is asked about, the deep ones too."""
    agents = [ModelAgent(backend, Prompt.of(desk), rule=Greedy(1e9)) for backend in backends]
    for agent in agents:
        assert agent.select(contexts) == [context.calls for context in contexts]
    compared = 0
    for context in contexts:
        reference, *others = (agent.answer(context).branchings for agent in agents)
        for branchings in others:
            for one, other in zip(reference, branchings, strict=True):
                assert (one.path, one.allowed) == (other.path, other.allowed)
                assert other.logprobs == pytest.approx(one.logprobs, abs=CLOSE)
                compared += 1
    assert compared > 100


def test_more_tokens_than_one_request_may_ask_about(backends, model):
    """Both kinds of vLLM limit that number; the requests are split and put together again."""
    dice = random.Random(0)
    tokens = tuple(dice.sample(range(300), 40))
    request = Request(tokens, (5, 7), tuple(range(3, 303)))
    plain = model.raw_logprobs(request)
    for backend in backends:
        [(number, logprobs)] = backend.next_logprobs([request])
        assert number == 0
        assert logprobs == pytest.approx(plain, abs=CLOSE)


def test_identities_tell_them_apart_and_nothing_else(backends, folder):
    """A decision of one backend is never taken for another's; what they share is called the same."""
    identities = [dict(backend.identity) for backend in backends]
    assert len({json.dumps(identity, sort_keys=True) for identity in identities}) == 3
    for name in ("tokenizer", "template"):
        assert len({identity[name] for identity in identities}) == 1
    huggingface, offline, _ = identities
    assert (huggingface["weights"], huggingface["dtype"]) == (offline["weights"], offline["dtype"])
    assert all(backend.window == 4096 for backend in backends)


def test_the_command_prints_the_same_report(folder, server, tmp_path, capsys):
    """vLLM in a process of its own, as a user runs it: nothing but the report is on stdout."""
    reports = []
    for words in (f"hf:{folder}", f"vllm:{server}#{SERVED}"):
        store = str(tmp_path / f"{len(reports)}.sqlite")
        assert main(["verify", "refund", "--agent", words, "--store", store, "--json"]) in (0, 1)
        reports.append(json.loads(capsys.readouterr().out))
    command = [sys.executable, "-m", "stead_sym", "verify", "refund", "--agent", f"vllm:{folder}", "--json"]
    command += ["--store", str(tmp_path / "offline.sqlite")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode in (0, 1), ended.stderr
    reports.append(json.loads(ended.stdout))
    first = reports[0]
    assert first["queries"] == first["contexts"] > 1
    for report in reports[1:]:
        assert shown(report) == shown(first)
        for name in ("states", "transitions", "contexts", "queries"):
            assert report[name] == first[name], name
        for one, other in zip(report["decisions"], first["decisions"], strict=True):
            for name in ("facts", "offered", "prompt", "selected"):
                assert one[name] == other[name], name
            assert one["margin"] == pytest.approx(other["margin"], abs=CLOSE)
