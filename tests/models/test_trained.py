"""A model that was trained for a moment: it decides by the facts, but its names still matter to it."""

from __future__ import annotations

import pytest
import small_model
from backends import desk, needs, prompt
from hypothesis import given, settings
from hypothesis import strategies as st

from generated.strategies import renamings
from stead_sym.agents.base import FunctionAgent
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.cli.main import main
from stead_sym.models.agent import ModelAgent
from stead_sym.models.audit import rename
from stead_sym.models.huggingface import HuggingFace
from stead_sym.verification.verify import verify

needs("hf", "torch", "transformers")

STEPS = 60
"""Enough for most choices of the policy, too few for all."""
REACHABLE = [context for context, _ in verify(desk, FunctionAgent(lambda context: context.calls)).decisions]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    examples = list(small_model.refund_examples(prompt, "approving", 0, 20))
    texts = [text for messages, answer in examples for text in (*(m.content for m in messages), answer)]
    folder = small_model.build(tmp_path_factory.mktemp("trained"), texts, seed=0, hidden=64, layers=2)
    before = loss(folder, examples)
    assert small_model.train(folder, examples, steps=STEPS, rate=6e-3, batch=4) < 0.1 * before
    return folder


def loss(folder, examples):
    """The mean loss of a model that is not trained any further: one step at no rate."""
    return small_model.train(folder, examples, steps=1, rate=0.0)


@pytest.fixture(scope="module")
def agent(trained):
    return ModelAgent(HuggingFace.load(str(trained)), prompt)


def test_it_follows_the_policy_more_often_than_not(agent):
    met = small_model.contexts(desk, "approving", seed=0, walks=40, steps=12)
    offers = {context: call for context, call in met.items() if len(context.calls) > 1}
    right = [{call} == calls for call, calls in zip(offers.values(), agent.select(list(offers)), strict=True)]
    assert 2 * sum(right) >= len(right) > 2


def test_the_audit_finds_a_renaming_that_changes_its_call(trained, tmp_path, capsys):
    words = ["audit", "refund", "--agent", f"hf:{trained}", "--store", str(tmp_path / "d.sqlite")]
    assert main(words) == 1
    out = capsys.readouterr().out
    assert "  expected  " in out
    assert "  after     " in out
    assert main([*words, "--wrapped"]) == 0


@given(st.data())
@settings(max_examples=200)
def test_wrapped_no_renaming_of_a_reachable_context_does(agent, data):
    context = data.draw(st.sampled_from(REACHABLE))
    renaming = data.draw(renamings(context.view, desk.schema.rigid))
    wrapper = CanonicalWrapper(agent, desk.schema, desk.tools)
    here, there = wrapper.decide([context, rename(context, renaming)])
    assert there.calls == {call.rename(renaming) for call in here.calls}
