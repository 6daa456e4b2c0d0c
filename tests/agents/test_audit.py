"""Audits and searches: what they find is a violation, and a wrapped agent has none."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generated.strategies import renamings
from stead_sym.agents.base import DecisionContext, FunctionAgent
from stead_sym.agents.prompts.prompt import Message, Prompt
from stead_sym.agents.wrapper import CanonicalWrapper, WrappedAgent
from stead_sym.deployment.files import load
from stead_sym.deployment.semantics import offer
from stead_sym.errors import InputError
from stead_sym.models.agent import ModelAgent
from stead_sym.models.audit import Grammar, audit, changed_places, lead, rename, search, values
from stead_sym.relational.instance import Fact, Instance
from stead_sym.testing.byte_model import ByteModel

pytestmark = pytest.mark.gate

desk = load("refund")
prompt = Prompt.of(desk)
state = Instance.of(
    desk.schema,
    [
        Fact("Approver", ("s1", "a1")),
        Fact("Approver", ("s2", "a2")),
        Fact("CaseStatus", ("case17", "open")),
        Fact("Handler", ("case17", "s1")),
        Fact("PartOf", ("task17", "case17")),
    ],
)
context = DecisionContext(state, offer(desk, state))
RIGID = desk.schema.rigid


def first(context):
    return min(context.calls)


def of_the_handler(context):
    """Equivariant: the approval of the handler's own approver."""
    [(_, handler)] = context.view.tuples("Handler")
    [approver] = [a for s, a in context.view.tuples("Approver") if s == handler]
    return next(c for c in context.calls if c.args[1:] == (approver,))


def test_an_agent_that_reads_the_facts_follows():
    results = audit(FunctionAgent(of_the_handler), context, [{"a1": "a2", "a2": "a1"}, {"a1": "x"}], RIGID)
    assert [result.follows for result in results] == [True, True]
    assert [str(call) for call in results[1].after] == ["obtain_approval(task17, x)"]


def test_an_agent_that_reads_the_names_does_not():
    def least_approver(context):
        return min((c for c in context.calls if len(c.args) == 2), key=str)

    [result] = audit(FunctionAgent(least_approver), context, [{"a1": "a2", "a2": "a1"}], RIGID)
    assert not result.follows
    assert result.before == result.after != result.expected


@given(st.data(), st.integers(0, 9))
def test_the_audit_of_a_wrapped_agent_is_always_followed(data, seed):
    wrapper = CanonicalWrapper(ModelAgent(ByteModel(seed), prompt), desk.schema, desk.tools)

    renaming = data.draw(renamings(state, RIGID))
    assert audit(WrappedAgent(wrapper), context, [renaming], RIGID)[0].follows


@pytest.mark.parametrize(
    ("renaming", "message"),
    [
        ({"open": "shut"}, "moves the rigid value open"),
        ({"a1": "open"}, "moves the rigid value open"),
        ({"a1": "a2"}, "takes two values to one"),
        ({"nobody": "x"}, "has no value nobody; name one of a1, a2, case17"),
    ],
)
def test_what_is_no_renaming(renaming, message):
    with pytest.raises(InputError, match=message):
        audit(FunctionAgent(first), context, [renaming], RIGID)


def test_changed_places_are_counted():
    def messages(text):
        return [Message("user", text)]

    assert changed_places(messages("a b a"), messages("x b x"), {"a": "x"}) == 2
    assert changed_places(messages("a b"), messages("b a"), {"a": "b", "b": "a"}) == 2
    assert changed_places(messages("a b a"), messages("x b a"), {"a": "x"}) is None
    assert changed_places(messages("a b x"), messages("x b x"), {"a": "x"}) is None
    assert changed_places(messages("a"), messages("a"), {}) == 0
    here, there = (prompt.messages(c) for c in (context, rename(context, {"case17": "x9"})))
    assert changed_places(here, there, {"case17": "x9"}) == sum(m.content.count("case17") for m in here) == 3


def test_grammars():
    grammar = Grammar.of("[a-c][xyz]{2}_[0-9]")
    assert grammar.slots == ("abc", "xyz", "xyz", "_", "0123456789")
    dice = random.Random(0)
    for _ in range(50):
        name = grammar.sample(dice)
        for word in (name, grammar.mutate(name, dice)):
            assert len(word) == 5
            assert all(letter in slot for letter, slot in zip(word, grammar.slots, strict=True))


@pytest.mark.parametrize("pattern", ["", "[a-", "[]", "a{0}", "(a)", "[z-a]"])
def test_patterns_that_are_none(pattern):
    with pytest.raises(InputError, match=r"grammar|class"):
        Grammar.of(pattern)


@pytest.mark.parametrize("seed", range(4))
def test_the_search_finds_a_name_that_breaks_an_erratic_model(seed):
    agent = ModelAgent(ByteModel(seed), prompt)
    found = search(agent, context, "case17", Grammar.of("[a-z]{4}[0-9]{2}"), RIGID, rounds=10)
    best = found[0]
    assert not best.audit.follows
    assert best.lead < 0
    assert best.places == 3
    [again] = audit(ModelAgent(ByteModel(seed), prompt), context, [{"case17": best.name}], RIGID)
    assert again == best.audit
    followers = [candidate for candidate in found if candidate.audit.follows]
    assert all(candidate.lead > 0 for candidate in followers)
    assert [c.lead for c in followers] == sorted(c.lead for c in followers)


def test_the_lead_is_the_least_on_the_way():
    agent = ModelAgent(ByteModel(0), prompt)
    [selected] = agent.select([context])
    answer = agent.answer(context)
    assert lead(answer, selected) == answer.margin
    assert all(lead(answer, {call}) < 0 for call in context.calls - selected)


def test_a_value_that_is_not_there():
    with pytest.raises(InputError, match="has no value open that may be renamed; name one of a1"):
        search(ModelAgent(ByteModel(0), prompt), context, "open", Grammar.of("a"), RIGID)
    assert "open" in values(context)
