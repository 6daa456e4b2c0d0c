"""Greedy decoding inside a trie, against its definition by brute force."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead_sym.agents.records.possible import Branching, Greedy, Reached, Sampling, kept
from stead_sym.agents.records.trie import Decoder, Trie
from stead_sym.errors import AgentError

sequences = st.sets(
    st.lists(st.integers(1, 3), min_size=1, max_size=5).map(lambda s: (*s, 0)), min_size=1, max_size=8
).map(sorted)


def model(seed, levels=None):
    """A function of the path: log-probabilities per token, from few levels where ties are wanted."""

    def logprob(path, token):
        dice = random.Random(f"{seed} {path} {token}")
        return float(-dice.randint(0, levels)) if levels else -dice.random() * 5

    return logprob


def decode(found, logprob, tolerance=0.0):
    decoder = Decoder(Trie(found), Greedy(tolerance))
    asked = []
    while decoder.open:
        path, allowed = decoder.open[-1]
        asked.append(path)
        decoder.tell(path, [logprob(path, token) for token in allowed])
    return decoder, asked


def token_by_token(found, logprob, tolerance=0.0):
    """The definition, walked one token at a time over the list of sequences: forced steps included."""
    if len(found) == 1:
        return {found[0]}
    length = next(i for i in range(99) if len({s[: i + 1] for s in found}) > 1)
    path = found[0][:length]
    scores = {s[length]: logprob(path, s[length]) for s in found}
    top = max(scores.values())
    first = min(token for token, score in scores.items() if score == top)
    kept = {t for t, score in scores.items() if top - score < tolerance} | {first}
    return {
        s
        for token in kept
        for s in token_by_token([s for s in found if s[length] == token], logprob, tolerance)
    }


@given(sequences, st.integers(0, 99), st.sampled_from([None, 1, 2]), st.sampled_from([0.0, 0.5, 1.5, 99.0]))
def test_decoding_is_the_definition(found, seed, levels, tolerance):
    logprob = model(seed, levels)
    decoder, asked = decode(found, logprob, tolerance)
    assert {found[i] for i in decoder.selected} == token_by_token(found, logprob, tolerance)
    assert len(asked) == len(set(asked)) == len(decoder.branchings)
    assert all(len(branching.allowed) > 1 for branching in decoder.branchings)


@given(sequences, st.integers(0, 99))
def test_without_tolerance_one_sequence_is_selected(found, seed):
    decoder, asked = decode(found, model(seed, 1))
    assert len(decoder.selected) == 1
    assert len(asked) <= len(found) - 1


@given(sequences, st.integers(0, 99))
def test_an_endless_tolerance_selects_everything(found, seed):
    decoder, _ = decode(found, model(seed), 1e300)
    assert len(decoder.selected) == len(found)


def test_forced_tokens_are_not_asked_about():
    found = [(5, 6, 7, 0), (5, 6, 8, 8, 0)]
    decoder = Decoder(Trie(found), Greedy())
    assert decoder.open == (((5, 6), (7, 8)),)
    decoder.tell((5, 6), [-2.0, -1.0])
    assert decoder.open == ()
    assert decoder.selected.keys() == {1}
    assert decoder.best == 1
    assert [b.margin for b in decoder.branchings] == [1.0]


def followed(branching, tolerance):
    return tuple(token for token, _ in kept(Greedy(tolerance), branching, Reached()))


def test_ties_go_to_the_least_token():
    branching = Branching((), (4, 7, 9), (-3.0, -1.0, -1.0))
    assert (branching.best, branching.margin) == (7, 0.0)
    assert followed(branching, 0.0) == (7,)
    assert followed(branching, 1e-9) == (7, 9)


def test_the_tolerance_is_strict():
    assert followed(Branching((), (1, 2), (-1.0, -1.5)), 0.5) == (1,)
    assert followed(Branching((), (1, 2), (-1.0, -1.5)), 0.51) == (1, 2)


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ([(1, 0), (2, 0), (1, 0)], "calls 1 and 3 have the same tokens"),
        ([(1,), (1, 2)], "the tokens of call 1 begin another call"),
    ],
)
def test_calls_that_cannot_be_told_apart(found, message):
    with pytest.raises(AgentError, match=message):
        Trie(found)


@pytest.mark.parametrize("said", [(-1.0,), (-1.0, math.nan), (-math.inf, -math.inf), (1.0, math.inf)])
def test_log_probabilities_that_order_nothing(said):
    with pytest.raises(AgentError, match="log-probabilities"):
        Branching((), (1, 2), said)


def sampled(found, logprob, temperature):
    """The probability of each sequence when each token is sampled among those that lead to one of them, and
    whether every token of it is the likeliest there, the least of several."""
    probabilities, greedy = {}, set()
    for sequence in found:
        product, likeliest = 1.0, True
        for length, token in enumerate(sequence):
            path = sequence[:length]
            children = {s[length] for s in found if s[:length] == path}
            weights = {child: math.exp(logprob(path, child) / temperature) for child in children}
            product *= weights[token] / sum(weights.values())
            likeliest &= token == max(sorted(children), key=lambda child: logprob(path, child))
        probabilities[sequence] = product
        greedy |= {sequence} if likeliest else set()
    return probabilities, greedy


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("least", [1e-4, 0.05, 0.2, 0.6, 1.0])
def test_sampling_keeps_the_calls_that_are_likely_enough_and_the_greedy_one(least, temperature):
    """No others: not those that begin greedily, nor those that are the likeliest after an unlikely start."""
    dice = random.Random(f"{least} {temperature}")
    kept_by_rule = 0
    for seed in range(120):
        found = sorted(
            {(*dice.choices((1, 2, 3), k=dice.randint(1, 4)), 0) for _ in range(dice.randint(2, 9))}
        )
        logprob = model(seed, dice.choice((None, 3)))
        probabilities, greedy = sampled(found, logprob, temperature)
        assert math.isclose(sum(probabilities.values()), 1.0)
        decoder = Decoder(Trie(found), Sampling(least, temperature))
        while decoder.open:
            path, allowed = decoder.open[-1]
            decoder.tell(path, [logprob(path, token) for token in allowed])
        selected = {found[number]: probability for number, probability in decoder.selected.items()}
        sure = {s for s, p in probabilities.items() if p > least * (1 + 1e-9)} | greedy
        assert (
            sure <= selected.keys() <= sure | {s for s, p in probabilities.items() if p > least * (1 - 1e-9)}
        )
        assert all(math.isclose(p, probabilities[s]) for s, p in selected.items())
        assert {found[decoder.best]} == greedy
        kept_by_rule += len(selected)
    assert kept_by_rule > 120 or least > 0.5
