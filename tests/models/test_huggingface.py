"""A small model of the Qwen3 architecture, made from a seed, behind `transformers`."""

from __future__ import annotations

import json
import math
import random
import shutil
from contextlib import closing
from dataclasses import replace

import pytest
import small_model
from backends import desk, needs, prompt, shown
from live_refunds import Database, operate

from stead_sym.agents.base import DecisionContext
from stead_sym.agents.records.possible import Greedy
from stead_sym.agents.records.store import Store
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.analyses.production import VerifiedAgent
from stead_sym.cli.main import main
from stead_sym.deployment.files import load
from stead_sym.deployment.semantics import offer
from stead_sym.errors import InputError, ModelError
from stead_sym.models.agent import ModelAgent
from stead_sym.models.backend import Request
from stead_sym.models.engine_options import EngineOptions
from stead_sym.models.huggingface import HuggingFace
from stead_sym.verification.verify import verify

needs("hf", "torch", "transformers")


def test_it_is_built_from_its_seed(folder, texts, tmp_path):
    other = small_model.build(tmp_path / "other", texts, seed=2)
    assert (
        HuggingFace.load(str(other)).identity["weights"] != HuggingFace.load(str(folder)).identity["weights"]
    )
    moved = shutil.copytree(folder, tmp_path / "moved")
    assert HuggingFace.load(str(moved)).identity == HuggingFace.load(str(folder)).identity


@pytest.mark.parametrize("engine", ["explicit", "symbolic"])
def test_verification_asks_exactly_once_per_context(model, engine):
    agent = ModelAgent(model, prompt)
    result = verify(desk, agent, engine=engine)
    assert result.queries == result.contexts == len(result.decisions)
    for context, selected in result.decisions:
        assert len(selected) == 1
        assert agent.answer(context).selected == selected
        assert agent.answer(context).prompt == prompt.messages(context)
    assert verify(desk, ModelAgent(model, prompt, agent.store), engine=engine).queries == 0


@pytest.mark.parametrize("tolerance", [0.0, 1e9])
@pytest.mark.parametrize("together", [3, 32])
def test_kept_states_and_batches_change_nothing(folder, contexts, tolerance, together):
    """Every log-probability is that of one plain forward pass over the whole sequence."""
    model = HuggingFace.load(str(folder))
    model.together = together
    agent = ModelAgent(model, prompt, rule=Greedy(tolerance))
    selected = agent.select(contexts)
    deepest = 0
    for context in contexts:
        answer = agent.answer(context)
        tokens = model.tokenizer.prompt(answer.prompt)
        for branching in answer.branchings:
            plain = model.raw_logprobs(Request(tokens, branching.path, branching.allowed))
            assert branching.logprobs == pytest.approx(plain, abs=1e-4)
            deepest = max(deepest, len(branching.path))
    if tolerance:
        assert selected == [context.calls for context in contexts]
        assert deepest > 5
    one_by_one = [ModelAgent(model, prompt, rule=Greedy(tolerance)).select([c])[0] for c in contexts[:5]]
    assert one_by_one == selected[:5]


def test_kept_states_take_a_bounded_memory(folder):
    """Long sequences that share little: what is kept stays within the half, and every answer is that of a
    plain pass."""
    model = HuggingFace.load(str(folder), EngineOptions({"memory_mib": 1}))
    assert 300 < model._for_a_pass // model._state_bytes < 400  # tokens
    tokens = model.tokenizer.text("Numbers such as 1, 22 and 333, and words. ") * 40
    requests = [Request((7 + n, *tokens[n : n + 220 + n]), (), (5, 6, 299)) for n in range(5)]
    said = dict(model.next_logprobs(requests))
    assert 0 < model._kept <= model._for_a_pass
    assert len(model._rows) < len(requests)
    for number, request in enumerate(requests):
        assert said[number] == pytest.approx(model.raw_logprobs(request), abs=1e-4)
        later = Request(request.prompt, (11, 12), (5, 6))
        [(_, again)] = model.next_logprobs([later])
        assert again == pytest.approx(model.raw_logprobs(later), abs=1e-4)


def test_the_log_probabilities_are_those_of_the_whole_vocabulary(model, contexts):
    agent = ModelAgent(model, prompt)
    agent.select(contexts[:1])
    answer = agent.answer(contexts[0])
    tokens = model.tokenizer.prompt(answer.prompt)
    vocabulary = tuple(range(model._config.vocab_size))
    whole = model.raw_logprobs(Request(tokens, answer.branchings[0].path, vocabulary))
    assert sum(map(math.exp, whole)) == pytest.approx(1.0, abs=1e-4)


def test_answers_are_tokenized_on_their_own(model):
    text = '{"name": "issue_refund", "arguments": {"task_id": "TASK_1"}}'
    assert model.tokenizer._tokenizer.decode(model.tokenizer.text(text)) == text
    assert model.tokenizer.end not in model.tokenizer.text(text)


def test_wrapped_no_renaming_matters_and_unwrapped_one_does(model, contexts):
    wrapper = CanonicalWrapper(ModelAgent(model, prompt), desk.schema, desk.tools)
    bare = ModelAgent(model, prompt)
    dice = random.Random(1)
    followed = set()
    for context in contexts[:20]:
        renaming = {}
        for sort, values in context.view.active_domain.items():
            if sort != "status":
                names = sorted(values)
                renaming.update(zip(names, dice.sample(names, len(names)), strict=True))
        moved = DecisionContext(
            context.view.rename(renaming), frozenset(call.rename(renaming) for call in context.calls)
        )
        here, there = wrapper.decide([context, moved])
        assert there.calls == {call.rename(renaming) for call in here.calls}
        one, other = bare.select([context, moved])
        followed.add(other == {call.rename(renaming) for call in one})
    assert followed == {True, False}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("/nowhere/at/all", "/nowhere/at/all: no such folder; name a folder that has a model"),
        ("no/such-model-here", "no/such-model-here: no model can be loaded from there: "),
    ],
)
def test_a_model_that_is_not_there(name, message):
    with pytest.raises(ModelError) as caught:
        HuggingFace.load(name)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_a_folder_without_a_model(tmp_path):
    with pytest.raises(ModelError, match="no model can be loaded from there"):
        HuggingFace.load(str(tmp_path))


def test_damaged_weights(folder, tmp_path):
    broken = shutil.copytree(folder, tmp_path / "broken")
    weights = broken / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ModelError, match="no model can be loaded from there"):
        HuggingFace.load(str(broken))


def test_no_chat_template(folder, tmp_path):
    bare = shutil.copytree(folder, tmp_path / "bare")
    (bare / "chat_template.jinja").unlink()
    with pytest.raises(ModelError, match="has no chat template"):
        HuggingFace.load(str(bare))


def test_a_context_longer_than_the_window(folder, tmp_path):
    texts = ["a few words"]
    short = HuggingFace.load(str(small_model.build(tmp_path / "short", texts, window=64)))
    store = Store()
    with pytest.raises(ModelError, match=r"is longer than the window of hf:.*, 64; shorten the prompt"):
        verify(desk, ModelAgent(short, prompt, store))
    assert list(store.answers()) == []


def test_a_chat_template_that_refuses_the_system_message(folder, tmp_path, contexts):
    picky = shutil.copytree(folder, tmp_path / "picky")
    refusal = "{% if messages[0].role == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
    refusal += "{% for message in messages %}{{ message.content }}{% endfor %}x"
    (picky / "chat_template.jinja").write_text(refusal)
    model = HuggingFace.load(str(picky))
    with pytest.raises(ModelError, match="refuses the prompt: no system role; change the prompt's messages"):
        ModelAgent(model, prompt).select(contexts[:1])
    ModelAgent(model, replace(prompt, system="")).select(contexts[:1])


def test_the_command_and_production_share_a_store(folder, tmp_path, capsys):
    store = str(tmp_path / "decisions.sqlite")
    assert main(["verify", "refund", "--agent", f"hf:{folder}", "--store", store, "--json"]) in (0, 1)
    first = json.loads(capsys.readouterr().out)
    assert first["queries"] == first["contexts"] == len(first["decisions"])
    assert all(decision["prompt"] and len(decision["selected"]) == 1 for decision in first["decisions"])
    main(["decisions", "export", "--store", store])
    lines = tmp_path / "decisions.jsonl"
    lines.write_text(capsys.readouterr().out)
    assert main(["verify", "refund", "--replay", str(lines), "--json"]) in (0, 1)
    again = json.loads(capsys.readouterr().out)
    assert (again["queries"], shown(again), again["states"]) == (0, shown(first), first["states"])
    decided = [agents[""]["decisions"] for agents in _agents_of_evidence(first)]
    assert any(decision["prompt"] and decision["key"] for decisions in decided for decision in decisions)
    with Store(store) as opened, closing(Database(":memory:", 2)) as database:
        agent = ModelAgent(HuggingFace.load(str(folder)), prompt, opened)
        done = operate(VerifiedAgent(desk, verify(desk, agent), agent), database, cases=100)
    assert (agent.queries, agent.requests, done.uncovered) == (0, 0, ())
    if first["specs"]["prog"]["verdict"] == "holds":
        assert done.cases == 100


def _agents_of_evidence(report):
    return [spec["evidence"]["agents"] for spec in report["specs"].values()]


def test_the_audit_finds_a_violation_and_none_behind_the_wrapper(folder, tmp_path, capsys):
    words = ["audit", "refund", "--agent", f"hf:{folder}", "--store", str(tmp_path / "d.sqlite")]
    assert main(words) == 1
    assert "  expected  " in capsys.readouterr().out
    assert main([*words, "--wrapped"]) == 0
    assert "20 of 20 renamings followed" in capsys.readouterr().out


def test_the_airline_context_has_seven_calls_and_a_name_that_breaks_it(folder, tmp_path, capsys):
    airline = load("airline")
    assert len(offer(airline, airline.init)) == 7
    words = ["audit", "airline", "--agent", f"hf:{folder}", "--store", str(tmp_path / "d.sqlite")]
    search = ["--context", "0", "--search", "amelia_davis_8890", "--grammar", "[a-z]{6}_[0-9]{4}"]
    assert main([*words, *search]) == 1
    out = capsys.readouterr().out
    assert "  breaks  amelia_davis_8890=" in out
    name = out.split("amelia_davis_8890=")[1].split()[0]
    assert main([*words, "--context", "0", "--rename", f"amelia_davis_8890={name}"]) == 1
    assert "0 of 1 renamings followed" in capsys.readouterr().out


def test_the_command_reports_a_model_that_is_not_there(tmp_path, capsys):
    store = str(tmp_path / "d.sqlite")
    assert main(["verify", "refund", "--agent", "hf:/nowhere", "--store", store]) == 2
    assert capsys.readouterr().err == (
        "stead-sym: /nowhere: no such folder; name a folder that has a model, or a model of the hub\n"
    )


def test_options_go_to_the_model_and_into_who_answered(folder, model):
    given = {"attn_implementation": "eager", "together": 2, "memory_mib": 7, "low_cpu_mem_usage": True}
    backend = HuggingFace.load(str(folder), EngineOptions(given))
    assert backend._config._attn_implementation == "eager"
    assert (backend.together, backend.memory_mib) == (2, 7)
    assert dict(backend.identity) == {**model.identity, "options": '{"attn_implementation":"eager"}'}
    narrow = HuggingFace.load(str(folder), EngineOptions({"dtype": "bfloat16"}))
    assert dict(narrow.identity) == {**model.identity, "dtype": "bfloat16"}


def test_a_tokenizer_from_elsewhere(folder, model, tmp_path):
    elsewhere = tmp_path / "tokenizer"
    elsewhere.mkdir()
    for file in folder.iterdir():
        if file.suffix in (".json", ".jinja") and file.name != "config.json":
            shutil.copy(file, elsewhere)
    moved = HuggingFace.load(str(folder), EngineOptions({"tokenizer": str(elsewhere)}))
    assert dict(moved.identity) == dict(model.identity)
    with pytest.raises(ModelError, match="/nowhere: no such folder"):
        HuggingFace.load(str(folder), EngineOptions({"tokenizer": "/nowhere"}))


@pytest.mark.parametrize("given", [{"dtipe": "float32"}, {"together": 0}, {"memory_mib": "much"}])
def test_options_that_it_does_not_take(folder, tmp_path, capsys, given):
    with pytest.raises(InputError, match="--engine-option") as caught:
        HuggingFace.load(str(folder), EngineOptions(given))
    assert "\n" not in str(caught.value)
    [(key, value)] = given.items()
    words = ["verify", "refund", "--agent", f"hf:{folder}", "--store", str(tmp_path / "d.sqlite")]
    assert main([*words, "--engine-option", f"{key}={value}"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
