"""A model as an agent: what it asks, what it stores, what it selects."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine_pairs import examples
from generated.strategies import renamings
from stead_sym.agents.base import Agent, Counting, DecisionContext, FunctionAgent
from stead_sym.agents.prompts.prompt import Prompt
from stead_sym.agents.records.possible import Greedy
from stead_sym.agents.records.store import Store
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.deployment.files import load
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.semantics import offer
from stead_sym.errors import AgentError, InputError, ModelError, RestrictionError
from stead_sym.models.agent import ModelAgent
from stead_sym.relational.instance import Fact, Instance
from stead_sym.testing.byte_model import ByteModel, ByteTokenizer
from stead_sym.verification.verify import verify

desk = load("refund")
prompt = Prompt.of(desk)
pending = Instance.of(
    desk.schema,
    [
        Fact("Approver", ("s1", "a1")),
        Fact("Approver", ("s2", "a2")),
        Fact("CaseStatus", ("c", "open")),
        Fact("Handler", ("c", "s1")),
        Fact("PartOf", ("t", "c")),
    ],
)
context = DecisionContext(pending, offer(desk, pending))


def renamed(renaming):
    calls = frozenset(call.rename(renaming) for call in context.calls)
    return DecisionContext(context.view.rename(renaming), calls)


def test_it_is_an_agent_that_counts():
    agent = ModelAgent(ByteModel(), prompt)
    assert isinstance(agent, Agent)
    assert isinstance(agent, Counting)


@pytest.mark.parametrize("engine", ["explicit", "symbolic"])
@pytest.mark.parametrize("seed", range(3))
def test_verification_asks_once_per_context(engine, seed):
    store = Store()
    first = verify(desk, ModelAgent(ByteModel(seed), prompt, store), engine=engine)
    assert first.queries == first.contexts
    asked = []
    again = verify(desk, ModelAgent(ByteModel(seed, seen=asked.append), prompt, store), engine=engine)
    assert (again.queries, asked) == (0, [])
    assert again.contexts == first.contexts
    assert [v.word for v in again.verdicts.values()] == [v.word for v in first.verdicts.values()]
    assert again.decisions == first.decisions


def test_a_batch_goes_out_together_and_in_order():
    batches = []

    class Batching(ByteModel):
        def next_logprobs(self, requests):
            batches.append(len(requests))
            yield from reversed(list(super().next_logprobs(requests)))

    contexts = [renamed({"c": f"c{i}"}) for i in range(5)]
    selected = ModelAgent(Batching(1), prompt).select([*contexts, contexts[0]])
    assert batches[0] == 5
    assert selected == [ModelAgent(ByteModel(1), prompt).select([c])[0] for c in [*contexts, contexts[0]]]


@pytest.mark.parametrize("together", [1, 2, 5])
@pytest.mark.parametrize("weigh", [True, False])
def test_a_backend_that_takes_few_decisions_at_a_time_decides_all(together, weigh):
    model = ByteModel(1)
    model.together = together
    contexts = [renamed({"c": f"c{i}"}) for i in range(7)]
    agent = ModelAgent(model, prompt, weigh=weigh)
    assert agent.select(contexts) == ModelAgent(ByteModel(1), prompt).select(contexts)
    assert agent.queries == 7


def test_the_record_of_a_selection():
    agent = ModelAgent(ByteModel(2), prompt)
    [selected] = agent.select([context])
    answer = agent.answer(context)
    assert answer.selected == selected
    assert answer.prompt == prompt.messages(context)
    assert [offered.call for offered in answer.calls] == sorted(context.calls)
    assert answer.margin == min(b.margin for b in answer.branchings) > 0
    assert answer.model == {"name": "bytes:2", "bytes": "2"}
    assert agent.answer(renamed({"c": "other"})) is None


def test_a_tolerance_covers_what_is_close():
    tight = ModelAgent(ByteModel(3), prompt)
    [one] = tight.select([context])
    margin = tight.answer(context).margin
    for tolerance, wider in ((margin / 2, False), (margin * 1.01, True)):
        [selected] = ModelAgent(ByteModel(3), prompt, rule=Greedy(tolerance)).select([context])
        assert one <= selected
        assert (len(selected) > 1) == wider
    [everything] = ModelAgent(ByteModel(3), prompt, rule=Greedy(1e9)).select([context])
    assert everything == context.calls


def test_a_wider_tolerance_asks_only_about_new_nodes():
    store = Store()
    narrow = ModelAgent(ByteModel(3), prompt, store)
    narrow.select([context])
    wide = ModelAgent(ByteModel(3), prompt, store, rule=Greedy(1e9))
    wide.select([context])
    assert wide.requests == len(wide.answer(context).branchings) - narrow.requests


@settings(max_examples=examples(40))  # ten models, and renamings of few names
@given(st.data(), st.integers(0, 9))
def test_wrapped_it_is_equivariant(data, seed):
    renaming = data.draw(renamings(pending, desk.schema.rigid))
    wrapper = CanonicalWrapper(ModelAgent(ByteModel(seed), prompt), desk.schema, desk.tools)
    here, there = wrapper.decide([context, renamed(renaming)])
    assert there.calls == {call.rename(renaming) for call in here.calls}


def test_unwrapped_it_is_not():
    """Otherwise the test above would show nothing."""
    agent = ModelAgent(ByteModel(0), prompt)
    followed = {
        agent.select([renamed({"c": name})])[0] == {c.rename({"c": name}) for c in agent.select([context])[0]}
        for name in "defghij"
    }
    assert False in followed


def test_a_context_longer_than_the_window():
    asked = []
    agent = ModelAgent(ByteModel(window=900, seen=asked.append), prompt)
    with pytest.raises(
        ModelError, match=r"longer than the window of bytes:0, 900; shorten the prompt"
    ) as caught:
        agent.select([context])
    assert asked == []
    assert caught.value.exit_status == 2


def test_calls_with_the_same_tokens():
    class Blunt(ByteTokenizer):
        def text(self, text):
            return tuple(text.encode()[:12])

    model = ByteModel()
    model.tokenizer = Blunt()
    with pytest.raises(ModelError, match=r"maps the calls .* to the same tokens; spell them differently"):
        ModelAgent(model, prompt).select([context])


def test_a_backend_that_answers_too_little_or_nonsense():
    class Silent(ByteModel):
        def next_logprobs(self, requests):
            yield from ()

    class Short(ByteModel):
        def next_logprobs(self, requests):
            yield 0, [-1.0]

    store = Store()
    with pytest.raises(ModelError, match="left 1 of 1 requests unanswered"):
        ModelAgent(Silent(), prompt, store).select([context])
    with pytest.raises(AgentError, match="1 log-probabilities for"):
        ModelAgent(Short(), prompt, store).select([context])
    assert list(store.answers()) == []
    ModelAgent(ByteModel(), prompt, store).select([context])


@pytest.mark.parametrize("tolerance", [-1.0, float("nan"), float("inf")])
def test_tolerances_are_numbers(tolerance):
    with pytest.raises(InputError, match="tolerance"):
        ModelAgent(ByteModel(), prompt, rule=Greedy(tolerance))


def test_without_the_wrapper_nothing_carries_over():
    """The literal names reach the model, there are as many contexts as states, and the verdict says so."""
    agent = ModelAgent(ByteModel(4), prompt)
    bare = verify(desk, agent, wrapped=False)
    assert [verdict.holds for verdict in bare.verdicts.values()] == [None, None]
    assert "nothing carries over without the wrapper" in bare["auth"].reason
    assert bare.contexts > verify(desk, ModelAgent(ByteModel(4), prompt)).contexts
    assert any("case1" in str(context) for context, _ in bare.decisions)
    explicit = verify(desk, ModelAgent(ByteModel(4), prompt, agent.store), wrapped=False, engine="explicit")
    assert (explicit.states, explicit.transitions, explicit.queries) == (bare.states, bare.transitions, 0)
    assert [v.reason for v in explicit.verdicts.values()] == [v.reason for v in bare.verdicts.values()]
    with pytest.raises(RestrictionError, match="literal domain only"):
        verify(desk, agent, wrapped=False, domain="normal")


def test_a_wrapper_that_knows_more_than_the_constants_proves_nothing():
    wrapper = CanonicalWrapper(FunctionAgent(min_call), desk.schema, desk.tools, {"case1": "case"})
    assert verify(desk, wrapper, domain="theorem")["prog"].holds is None
    text = str(desk).replace("init\n", "init\n  RefundIssued(first)\n")  # a constant, but no case
    other = CanonicalWrapper(FunctionAgent(min_call), desk.schema, desk.tools, {"first": "case"})
    assert verify(parse_deployment(text), other, domain="theorem")["prog"].holds is None
    known = CanonicalWrapper(FunctionAgent(min_call), desk.schema, desk.tools, {"first": "task"})
    assert verify(parse_deployment(text), known, domain="theorem")["prog"].holds is not None


def min_call(context):
    return min(context.calls)
