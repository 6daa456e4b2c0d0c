"""vLLM in this process as a backend."""

from __future__ import annotations

import random
import shutil

import pytest
from backends import desk, needs, prompt

from stead_sym.agents.records.store import Store
from stead_sym.cli.main import main
from stead_sym.errors import InputError, ModelError
from stead_sym.models.agent import ModelAgent
from stead_sym.models.engine_options import EngineOptions
from stead_sym.models.vllm_offline import VllmOffline
from stead_sym.verification.verify import verify

needs("vllm", "torch", "transformers", "aiohttp", "vllm")


@pytest.mark.parametrize("engine", ["explicit", "symbolic"])
def test_verification_asks_exactly_once_per_context(offline, engine):
    agent = ModelAgent(offline, prompt)
    result = verify(desk, agent, engine=engine)
    assert result.queries == result.contexts == len(result.decisions)
    assert verify(desk, ModelAgent(offline, prompt, agent.store), engine=engine).queries == 0


def test_batches_change_nothing_and_come_in_one_by_one(offline, contexts, monkeypatch):
    whole = ModelAgent(offline, prompt)
    selected = whole.select(contexts)
    monkeypatch.setattr(offline, "batch", 3)
    store = Store()

    class Stopping(VllmOffline):
        """The same, but it ends in the middle of what it is asked."""

        def next_logprobs(self, requests):
            for number, answer in enumerate(super().next_logprobs(requests)):
                if number == 6:
                    raise KeyboardInterrupt
                yield answer

    stopping = Stopping.__new__(Stopping)
    stopping.__dict__.update(offline.__dict__)
    with pytest.raises(KeyboardInterrupt):
        ModelAgent(stopping, prompt, store).select(contexts)
    rest = ModelAgent(offline, prompt, store)
    assert rest.select(contexts) == selected
    assert rest.requests == whole.requests - 6


def test_what_identifies_it(offline):
    assert (offline.identity["dtype"], offline.identity["device"]) == ("float32", "cpu")
    assert set(offline.versions) == {"vllm", "torch", "transformers"}


def test_random_numbers_of_the_caller_are_not_touched(folder):
    """vLLM seeds the generators of the process it runs in."""
    random.seed(1)
    expected = [random.random() for _ in range(3)]
    random.seed(1)
    found = [random.random()]
    VllmOffline.load(str(folder))
    assert [*found, random.random(), random.random()] == expected


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("/nowhere/at/all", "/nowhere/at/all: no such folder; name a folder that has a model"),
        ("no/such-model-here", "no/such-model-here: no model can be loaded from there: "),
    ],
)
def test_a_model_that_is_not_there(tmp_path, capsys, name, message):
    words = ["verify", "refund", "--agent", f"vllm:{name}", "--store", str(tmp_path / "d.sqlite")]
    assert main(words) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"stead-sym: {message}")
    assert error.count("\n") == 1


@pytest.mark.parametrize("broken", ["model.safetensors", "config.json"])
@pytest.mark.parametrize("how", ["gone", "cut"])
def test_a_damaged_model(folder, tmp_path, broken, how):
    copy = shutil.copytree(folder, tmp_path / "broken")
    if how == "gone":
        (copy / broken).unlink()
    else:
        (copy / broken).write_bytes((copy / broken).read_bytes()[:300])
    with pytest.raises(ModelError, match="no model can be loaded from there: ") as caught:
        VllmOffline.load(str(copy))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"quantisation": "fp8"},
            r"--engine-option quantisation: vLLM, .* has no such option; did you mean quant",
        ),
        ({"logprobs_mode": "raw_logits"}, r"--engine-option logprobs_mode: vLLM, .* has no such option"),
        ({"batch": 0}, r"--engine-option batch must be an integer of at least 1, got 0"),
    ],
)
def test_options_that_it_does_not_take(folder, given, message):
    with pytest.raises(InputError, match=message) as caught:
        VllmOffline.load(str(folder), EngineOptions(given))
    assert "\n" not in str(caught.value)
