"""A model behind vLLM's own chat endpoint: whatever it writes, what is recorded is an offered call."""

from __future__ import annotations

import math

import pytest
from backends import SERVED, busy, desk, needs, prompt

import stead_sym as st
from stead_sym.agents.recorded import Asking
from stead_sym.agents.records.replay import export_lines
from stead_sym.models.chat import chat_agent

needs("chat", "openai", "torch", "transformers", "vllm")

ASKING = Asking(concurrency=8, tries=2, deadline=240.0)


@pytest.fixture(scope="module")
def url(server):
    return f"{server}/v1#{SERVED}"


def test_a_verdict_and_its_replay(url, tmp_path):
    store = st.Store()
    agent = chat_agent(url, prompt, store, ASKING)
    result = st.verify(desk, agent)
    assert result.states > 1
    chosen = [answer for answer in result.answers if len(answer.calls) > 1]
    assert chosen
    for answer in chosen:
        offered = {call.call for call in answer.calls}
        assert answer.selected <= offered
        for given in answer.said.answers:
            assert given.logprob is not None
            assert -math.inf < given.logprob <= 0.0
    file = tmp_path / "decisions.jsonl"
    file.write_text("\n".join(export_lines(answer for _, answer in store.answers())))
    replayed = st.verify(desk, st.agents.ReplayAgent(file, agent.respondent.texts))
    assert replayed.decisions == result.decisions
    again = st.verify(desk, chat_agent(url, prompt, store, ASKING))
    assert (again.queries, again.decisions) == (0, result.decisions)


def test_at_temperature_0_it_answers_the_same(url, contexts, monkeypatch):
    # A model that was not trained writes as much as it may, for minutes.
    monkeypatch.setattr("stead_sym.models.chat._MAX_TOKENS", 100)
    some = [context for context in contexts if len(context.calls) > 1][:2]
    prompted = st.Prompt.of(busy)
    once = chat_agent(url, prompted, None, ASKING)
    first = once.select(some)
    assert max(len(once.answer(context).said.answers) for context in some) > 1, "some are asked again"
    one_by_one = chat_agent(url, prompted, None, Asking(deadline=240.0, probe=False))
    assert one_by_one.select(some) == first


def test_samples(url, contexts):
    context = max(contexts, key=lambda context: len(context.calls))
    agent = chat_agent(url, st.Prompt.of(busy), None, Asking(samples=8, concurrency=8, deadline=240.0))
    [selected] = agent.select([context])
    answers = agent.answer(context).said.answers
    assert len(answers) == 8
    assert selected == {call for given in answers for call in given.calls}
    assert len({given.logprob for given in answers}) > 1, "the samples differ"
