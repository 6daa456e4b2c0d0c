"""Answers of inference engines: put together in whatever order they come, refused where they are none."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead_sym.errors import ModelError
from stead_sym.models.backend import Request
from stead_sym.models.engine_answers import Question, Sampled, gathered, questions

REQUEST = Request((1, 2), (3,), (10, 20, 30))
QUESTION = Question(0, REQUEST, (10, 20))
allowed_sets = st.sets(st.integers(0, 99), min_size=2, max_size=12).map(lambda tokens: tuple(sorted(tokens)))


def logprob(number, token):
    """Some model's log-probabilities."""
    return -((number * 31 + token * 17) % 101) - 1.0


def sampled(question):
    """Return what an engine of that model says."""
    best = max(question.request.allowed, key=lambda token: logprob(question.number, token))
    return Sampled(best, {token: logprob(question.number, token) for token in (best, *question.asked)})


def one(answer, question=QUESTION):
    """A stream of one answer."""
    yield question, answer


@given(st.lists(allowed_sets, max_size=5), st.integers(1, 13), st.randoms(use_true_random=False))
def test_every_request_is_answered_once_in_the_order_of_its_tokens(sets, most, dice):
    requests = [Request((1,), (), allowed) for allowed in sets]
    asked = questions(requests, most)
    assert all(0 < len(question.asked) <= most for question in asked)
    dice.shuffle(asked)
    answers = list(gathered("engine", ((question, sampled(question)) for question in asked)))
    assert sorted(answers) == [
        (number, tuple(logprob(number, token) for token in allowed)) for number, allowed in enumerate(sets)
    ]


def test_a_request_is_answered_as_soon_as_its_last_question_is():
    asked = questions([REQUEST, REQUEST], 2)
    given_out = []

    def answers():
        for question in asked:
            given_out.append(question)
            yield question, sampled(question)

    stream = gathered("engine", answers())
    assert next(stream)[0] == 0
    assert given_out == asked[:2]


def test_nothing_is_asked_for_after_an_answer_that_is_none():
    closed = []

    def answers():
        try:
            yield QUESTION, Sampled(11, {})
        finally:
            closed.append(True)

    with pytest.raises(ModelError) as caught:
        next(gathered("engine", answers()))
    assert closed == [True], caught


def test_the_sequence_is_the_prompt_and_the_answer_so_far():
    assert QUESTION.tokens == (1, 2, 3)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            Sampled(11, {11: -0.1, 10: -1.0, 20: -2.0}),
            "engine ignores allowed_token_ids: it sampled token 11, allowed were 10, 20, 30;",
        ),
        (Sampled(10, {10: -1.0}), "engine gives no log-probabilities of the allowed tokens 20;"),
        (Sampled(10, {10: -2.0, 20: -1.0}), "engine does not decode greedily: it sampled token 10, another"),
        (Sampled(30, {10: -2.0, 20: -1.0}), "engine does not decode greedily: it sampled token 30, another"),
        (Sampled(10, {10: 7.0, 20: -1.0}), "engine reports logits for log-probabilities;"),
    ],
)
def test_what_is_no_answer(answer, message):
    with pytest.raises(ModelError) as caught:
        list(gathered("engine", one(answer)))
    assert str(caught.value).startswith(message)


def test_a_tie_may_go_either_way_and_a_token_outside_the_question_may_win():
    for answer in (
        Sampled(10, {10: -1.0, 20: -1.0}),
        Sampled(20, {10: -1.0, 20: -1.0}),
        Sampled(30, {10: -1.0, 20: -1.0, 30: -0.5}),
    ):
        assert list(gathered("engine", one(answer))) == []
    rest = QUESTION._replace(asked=(30,))
    both = [(QUESTION, Sampled(30, {10: -1.0, 20: -1.0, 30: -0.5})), (rest, Sampled(30, {30: -0.5}))]
    random.Random(0).shuffle(both)
    assert list(gathered("engine", (pair for pair in both))) == [(0, (-1.0, -1.0, -0.5))]


def test_many_tokens_are_not_all_told():
    request = Request((), (), tuple(range(10)))
    with pytest.raises(ModelError, match=r"allowed were 0, 1, 2, 3, 4, …; use"):
        list(gathered("engine", one(Sampled(99, {0: -1.0}), Question(0, request, (0,)))))
