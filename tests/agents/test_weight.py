"""The weight of a decision, against its definition: the distribution over all texts, by brute force."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_roles import post

import stead_sym
from stead_sym.agents.prompts.prompt import Prompt
from stead_sym.agents.records.answer import Answer
from stead_sym.agents.records.possible import Branching, Greedy, Sampling, rule_data, rule_from_data
from stead_sym.agents.records.said import Decoding, Given, Samples, Unforced
from stead_sym.agents.records.trie import Decoder, Trie
from stead_sym.agents.records.weight import percent, weight
from stead_sym.deployment.tool import Call
from stead_sym.errors import InputError, StoreError
from stead_sym.models.agent import ModelAgent
from stead_sym.models.backend import Request, unforced
from stead_sym.testing.byte_model import ALL, ByteModel
from stead_sym.verification.findings.answered import forced_choices

desk = stead_sym.load("refund")
prompt = Prompt.of(desk)

SEQUENCES = st.sets(
    st.lists(st.integers(1, 3), min_size=1, max_size=4).map(lambda s: (*s, 0)), min_size=1, max_size=7
).map(sorted)


def logprobs(seed, path):
    """Log-probabilities over a vocabulary of five tokens, two of which are never offered."""
    heights = [((seed * 7919 + hash((path, token))) % 1000) / 150 for token in range(5)]
    total = math.log(math.fsum(map(math.exp, heights)))
    return [height - total for height in heights]


def shares_of(found, seed, temperature):
    """The probability of each sequence when tokens are sampled inside the trie: from the definition, token by
    token, forced ones with probability 1."""
    result = {}
    for sequence in found:
        probability = 1.0
        for length, token in enumerate(sequence):
            allowed = {s[length] for s in found if s[:length] == sequence[:length]}
            said = logprobs(seed, sequence[:length])
            weights = {t: math.exp(said[t] / temperature) for t in allowed}
            probability *= weights[token] / math.fsum(weights.values())
        result[sequence] = probability
    return result


def decoded(found, seed, rule):
    decoder = Decoder(Trie(found), rule)
    while decoder.open:
        path, allowed = decoder.open[0]
        said = logprobs(seed, path)
        decoder.tell(path, [said[token] for token in allowed])
    return decoder


@given(
    SEQUENCES, st.integers(0, 99), st.sampled_from([0.3, 1.0, 2.5]), st.sampled_from([0.01, 0.2, 0.5, 1.0])
)
def test_sampling_keeps_what_is_likely_enough(found, seed, temperature, least):
    shares = shares_of(found, seed, temperature)
    decoder = decoded(found, seed, Sampling(least, temperature))
    [greedy] = decoded(found, seed, Greedy()).selected
    assert decoder.best == greedy
    wanted = {i for i, sequence in enumerate(found) if shares[sequence] >= least * (1 + 1e-9)}
    allowed = {i for i, sequence in enumerate(found) if shares[sequence] >= least * (1 - 1e-9)}
    assert wanted | {greedy} <= decoder.selected.keys() <= allowed | {greedy}
    for number, probability in decoder.selected.items():
        assert probability == pytest.approx(shares[found[number]])


@given(SEQUENCES, st.integers(0, 99))
def test_mass_and_entropy_are_those_of_the_definition(found, seed):
    decoder = decoded(found, seed, Greedy(1e300))  # visits every node
    said = Decoding(decoder.branchings, Greedy(1e300))
    shares = shares_of(found, seed, 1.0)
    entropy = -math.fsum(share * math.log2(share) for share in shares.values() if share)
    assert said.entropy == pytest.approx(entropy, abs=1e-9)
    for branching in said.branchings:
        outside = [t for t in range(5) if t not in branching.allowed]
        rest = math.fsum(math.exp(logprobs(seed, branching.path)[t]) for t in outside)
        assert branching.mass == pytest.approx(1 - rest)
    greedy = decoded(found, seed, Greedy())
    assert Decoding(greedy.branchings, Greedy()).entropy <= said.entropy + 1e-9


def test_of_several_branchings_the_least_counts():
    firm = Branching((), (1, 2), (math.log(0.9), math.log(0.05)))
    light = Branching((1,), (1, 2), (math.log(0.03), math.log(0.01)))
    said = Decoding((firm, light), Greedy())
    assert said.mass == pytest.approx(0.04)
    assert said.margin == pytest.approx(math.log(3))
    assert Decoding((), Greedy()).mass is Decoding((), Greedy()).margin is None
    assert said.entropy == pytest.approx(firm.entropy() + 0.9 / 0.95 * light.entropy())


def test_rules_are_read_back():
    for rule in (Greedy(), Greedy(0.5), Sampling(0.1), Sampling(0.01, 0.7)):
        assert rule_from_data(rule_data(rule)) == rule
    for data in (
        {},
        {"tolerance": -1.0},
        {"tolerance": 0.0, "temperature": 1.0},
        {"min_probability": 0.5},
        None,
    ):
        with pytest.raises(InputError):
            rule_from_data(data)


@pytest.mark.parametrize(("least", "temperature"), [(0.0, 1.0), (1.1, 1.0), (0.5, 0.0), (0.5, math.inf)])
def test_probabilities_and_temperatures_are_in_their_range(least, temperature):
    with pytest.raises(InputError, match=r"is not (above 0|a number above 0)"):
        Sampling(least, temperature)


def test_how_far_a_model_writes_a_call_by_itself():
    assert unforced((1, 2, 3), [1, 2, 3], str) == Unforced(3, 3)
    assert unforced((1, 2, 3), [1, 7, 3], str) == Unforced(1, 3, 7, "7")
    assert unforced((1, 2, 3), [1, 2], str) == Unforced(2, 3), "it stopped there"
    assert unforced((1, 2, 3), [1, 2], str).same is False


def test_the_model_is_asked_what_it_would_write_by_itself():
    """Compared with decoding all tokens greedily over the whole vocabulary."""
    model = ByteModel(3)
    agent = ModelAgent(model, prompt)
    result = stead_sym.verify(desk, agent, findings=False)
    for answer in result.answers:
        tokens = model.tokenizer.prompt(answer.prompt)
        written = []
        for _ in range(4):
            said = model.logprobs(Request(tokens, tuple(written), ALL))
            written.append(max(zip(said, ALL, strict=True))[1])
        call = decoded_call(answer)
        agreed = len(
            [*itertools.takewhile(lambda pair: pair[0] == pair[1], zip(written, call, strict=False))]
        )
        assert answer.said.unforced.agreed == agreed < 4
        assert answer.said.unforced.token == written[agreed]
    assert ModelAgent(model, prompt, weigh=False).select([result.decisions[0][0]])
    silent = ModelAgent(model, prompt, weigh=False)
    silent.select([result.decisions[0][0]])
    assert silent.answer(result.decisions[0][0]).said.unforced is None


def decoded_call(answer):
    [call] = answer.selected
    return next(offered.tokens for offered in answer.calls if offered.call == call)


def one_answer(seed=3):
    agent = ModelAgent(ByteModel(seed), prompt)
    stead_sym.verify(desk, agent, findings=False)
    return next(a for a in (answer for _, answer in agent.store.answers()) if a.branchings)


def test_records_of_the_first_version_are_read():
    answer = one_answer()
    data = answer.data()
    said = data.pop("said")
    data["tolerance"] = 0.0
    data["branchings"] = [
        {**node, "margin": b.margin} for node, b in zip(said["branchings"], answer.branchings, strict=True)
    ]
    assert Answer.from_data(data) == replace(answer, said=replace(answer.said, unforced=None))
    for broken in (
        {**data, "tolerance": -1.0},
        {**data, "tolerance": None},
        {**data, "branchings": [{"path": []}]},
        {**data, "branchings": 3},
    ):
        with pytest.raises(StoreError):
            Answer.from_data(broken)


def test_answers_without_tokens_are_checked():
    answer = one_answer()
    calls = tuple(replace_tokens(offered) for offered in answer.calls)
    first, second = (offered.call for offered in calls[:2])
    told = replace(
        answer,
        calls=calls,
        said=Samples((Given((first,), "why"), Given((second,)), Given((first,)))),
        selected=frozenset({first, second}),
    )
    assert Answer.from_data(told.data()) == told
    assert told.said.counts == {first: 2, second: 1}
    once = replace(told, selected=frozenset({first}))
    assert Answer.from_data(once.data()) == once, "the first answer counts, the others show that it varies"
    assert (told.margin, told.mass, told.covered, told.rule) == (None, None, None, None)
    for wrong in (
        replace(told, selected=frozenset({second})),
        replace(once, model={**told.model, "samples": "3"}),
        replace(told, said=Samples(())),
        replace(told, said=Samples((Given((Call("fly", ()),)),)), selected=frozenset({Call("fly", ())})),
    ):
        with pytest.raises(StoreError):
            Answer.from_data(wrong.data())


def replace_tokens(offered):
    return offered._replace(tokens=())


@pytest.mark.parametrize("rule", [Greedy(), Sampling(1e-3)])
def test_the_whole_answer_is_weighed_token_by_token(rule):
    """Against the definition: at each token of the call the mass of those that lead to an offered call."""
    model = ByteModel(3)
    for answer in stead_sym.verify(desk, ModelAgent(model, prompt, rule=rule), findings=False).answers:
        tokens = model.tokenizer.prompt(answer.prompt)
        calls = [offered.tokens for offered in answer.calls]
        path, product = (), 1.0
        while path not in calls:
            following = sorted({call[len(path)] for call in calls if call[: len(path)] == path})
            said = model.logprobs(Request(tokens, path, tuple(following)))
            product *= math.fsum(map(math.exp, said))
            path = (*path, following[said.index(max(said))])
        assert answer.whole == (pytest.approx(product, rel=1e-9) if len(calls) > 1 else None)
        assert answer.whole is None or answer.whole < answer.mass
        assert Answer.from_data(answer.data()) == answer


def test_what_is_not_known_of_the_forced_tokens_is_said():
    """Where calls part the model gives them enough; what is between may be as unlikely as it likes."""
    agent = ModelAgent(ByteModel(3), prompt, weigh=False)
    result = stead_sym.verify(desk, agent, min_mass=1e-6)
    assert weight(result.answers).mass > 1e-6
    assert weight(result.answers).whole is None
    assert all("how likely it writes the forced tokens" in v.reason for v in result.verdicts.values())
    assert [h.name for h in result.hypotheses.missing] == ["the agent means the offered calls"]


def test_less_mass_than_asked_for_is_unknown():
    result = stead_sym.verify(desk, ModelAgent(ByteModel(3), prompt))
    assert weight(result.answers).mass < 0.5, (
        "a model that is drawn at random gives the calls of a tool little"
    )
    least = weight(result.answers).whole
    assert least < weight(result.answers).mass
    assert [f.kind for f in result.findings].count("forced choice") == 1
    enough = stead_sym.verify(desk, ModelAgent(ByteModel(3), prompt), min_mass=least)
    assert {n: v.holds for n, v in enough.verdicts.items()} == {
        n: v.holds for n, v in result.verdicts.items()
    }
    less = stead_sym.verify(desk, ModelAgent(ByteModel(3), prompt), min_mass=least * 1.0001)
    assert all(verdict.holds is None and "--min-mass" in verdict.reason for verdict in less.verdicts.values())
    assert [h.name for h in less.hypotheses.missing] == ["the agent means the offered calls"]
    with pytest.raises(InputError, match="min_mass must be above 0 and at most 1, got 0"):
        stead_sym.verify(desk, "baseline", min_mass=0.0)
    policy = stead_sym.verify(desk, "baseline", min_mass=1.0)
    assert all(verdict.holds is not None for verdict in policy.verdicts.values()), "nothing was decoded"


class Sure(ByteModel):
    """All probability on the offered tokens."""

    def logprobs(self, request):
        said = super().logprobs(request)
        total = math.log(math.fsum(map(math.exp, said)))
        return [one - total for one in said]


@pytest.mark.parametrize("light", ["reader", "burner"])
def test_the_mass_of_every_agent_counts(light):
    agents = {
        role.name: ModelAgent((ByteModel if role.name == light else Sure)(3), Prompt.of(post, agent=role))
        for role in post.agents
    }
    result = stead_sym.verify(post, agents, min_mass=0.999)
    assert result["s"].holds is None
    assert "--min-mass" in result["s"].reason
    assert [h.name for h in result.hypotheses.missing] == [f"agent {light} means the offered calls"]


class Torn(ByteModel):
    """All probability on the offered tokens, to equal parts."""

    def logprobs(self, request):
        return [-math.log(len(request.allowed))] * len(request.allowed)


@pytest.mark.parametrize(("rule", "tied"), [(Greedy(), True), (Greedy(1e-9), False)])
def test_a_tie_that_greedy_decoding_breaks_is_a_finding(rule, tied):
    """With a tolerance, however small, both calls are possible, and the verdicts speak of both."""
    result = stead_sym.verify(desk, ModelAgent(Torn(), prompt, rule=rule))
    assert any(answer.margin == 0.0 for answer in result.answers)
    found = [finding for finding in result.findings if finding.kind == "tied choice"]
    assert len(found) == tied
    assert not any(
        f.kind == "tied choice" for f in stead_sym.verify(desk, ModelAgent(Sure(3), prompt)).findings
    )


def test_enough_mass_is_no_finding():
    result = stead_sym.verify(desk, ModelAgent(Sure(3), prompt))
    assert weight(result.answers).mass == pytest.approx(1.0)
    assert "forced choice" not in {finding.kind for finding in result.findings}
    assert not [*forced_choices({"": None})]


def test_a_sampling_agent_is_covered():
    """Whatever sampling does with at least that probability is among the transitions."""
    greedy = stead_sym.verify(desk, ModelAgent(ByteModel(3), prompt))
    sampled = stead_sym.verify(desk, ModelAgent(ByteModel(3), prompt, rule=Sampling(0.05)))
    everything = stead_sym.verify(desk, ModelAgent(ByteModel(3), prompt, rule=Sampling(1e-12, 5.0)))
    assert greedy.states <= sampled.states <= everything.states == stead_sym.verify(desk, "any").states
    weighed = weight(sampled.answers)
    assert 0.5 < weighed.covered <= 1.0
    assert weighed.sampling == Sampling(0.05)
    said = next(h for h in sampled.hypotheses.all if h.name == "what the agent may sample is possible")
    assert percent(weighed.covered) in said.how
    for answer in sampled.answers:
        again = answer.under(Sampling(0.05))
        assert again == answer


def test_percents_are_rounded_down():
    assert percent(1.0) == "100 %"
    assert percent(0.99999) == "99.99 %"
    assert percent(0.00001) == "1.0e-05"
    assert percent(0.0) == "0 %"
    assert percent(None) == "none"


def test_one_branching():
    branching = Branching((), (1, 2), (math.log(0.2), math.log(0.05)))
    assert branching.mass == pytest.approx(0.25)
    assert branching.shares() == pytest.approx((0.8, 0.2))
    assert branching.shares(0.5) == pytest.approx((16 / 17, 1 / 17))
    assert branching.entropy() == pytest.approx(-0.8 * math.log2(0.8) - 0.2 * math.log2(0.2))
