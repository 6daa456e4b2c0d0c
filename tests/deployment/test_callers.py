"""Agents that are many: both engines, both domains, and against an agent for each worker written by hand."""

from __future__ import annotations

import json

import pytest
from hypothesis import event, given, reject, settings
from hypothesis import strategies as hs

import stead_sym as st
from engine_pairs import both, examples
from generated.crews import crew
from stead_sym.agents.prompts.prompt import Prompt
from stead_sym.agents.selection import decision_contexts
from stead_sym.certificate.verdict import CertificateRejected
from stead_sym.deployment.build import build_deployment, role, tool
from stead_sym.deployment.deployment import print_deployment
from stead_sym.deployment.language import parse_deployment
from stead_sym.errors import AgentError, DefinitionError, InputError, Undecided
from whole import verify

SEEDS = hs.integers(0, 10**6)
MAX_STATES = 400


def read(text):
    """The deployment of a text, which is the same when printed and read again."""
    deployment = parse_deployment(text)
    assert parse_deployment(print_deployment(deployment)) == deployment
    return deployment


def pair_of(deployment, agent, **options):
    try:
        pair = both(deployment, agent, max_states=MAX_STATES, **options)
    except (Undecided, DefinitionError):
        reject()
    if pair.explicit.states == 1:
        reject()
    event(f"states: 2^{pair.explicit.states.bit_length() - 1} and more")
    return pair


def assert_agreement(pair):
    explicit, symbolic = pair
    assert (symbolic.states, symbolic.transitions) == (explicit.states, explicit.transitions)
    assert symbolic.most_active == explicit.most_active
    for name, first in pair.wrappers[0].items():
        second = pair.wrappers[1][name]
        if first is not None:
            assert (first.contexts, first.queries) == (second.contexts, second.queries)
            assert dict(first.decisions) == dict(second.decisions)
    for spec in pair.deployment.specs:
        assert symbolic.holds(spec.formula) == explicit.holds(spec.formula), spec
    for agent in pair.deployment.agents:
        assert symbolic.is_among_alike(agent.name) == explicit.is_among_alike(agent.name)
        first = pair.wrappers[0][agent.name]
        if first is not None and hasattr(first.agent, "policy"):
            assert symbolic.rules_used(agent.name) == explicit.rules_used(agent.name)


def agents_of(deployment, policy="p"):
    return {role.name: "any" if role.name == "boss" else policy for role in deployment.agents}


@settings(max_examples=examples(60))
@given(SEEDS, hs.booleans(), hs.sampled_from(["any", "policy", "asked"]))
def test_engines_agree(seed, listed, who):
    deployment = read(crew(seed, listed=listed).many)
    agents = agents_of(deployment, "any" if who == "any" else "p")
    assert_agreement(pair_of(deployment, agents, asked=who == "asked"))


WAYS = (("explicit", "theorem"), ("symbolic", "theorem"), ("symbolic", "normal"))


def result_of(deployment, agent, engine, domain):
    limit = {"max_states": MAX_STATES} if engine == "explicit" else {}
    try:
        result = verify(deployment, agent, engine=engine, domain=domain, **limit)
    except (AgentError, DefinitionError, Undecided):
        reject()
    if result.broken is not None:
        reject()
    verdicts = {name: verdict.holds for name, verdict in result.verdicts.items()}
    return verdicts, (result.states, result.transitions) if domain == "theorem" else None


@settings(max_examples=examples(40, quick=5))
@given(SEEDS, hs.booleans(), hs.sampled_from(["any", "p", "p"]))
def test_one_agent_per_worker_by_hand(seed, rigid, policy):
    """The law: many agents are one agent for each worker with tools of its own."""
    one = crew(seed, listed=True, rigid=rigid)
    many, hand = read(one.many), parse_deployment(one.by_hand)
    for engine, domain in WAYS:
        expected = result_of(hand, agents_of(hand, policy), engine, domain)
        assert result_of(many, agents_of(many, policy), engine, domain) == expected


@settings(max_examples=examples(30))
@given(SEEDS, hs.booleans(), hs.sampled_from(["any", "p"]))
def test_the_domains_agree(seed, listed, policy):
    deployment = read(crew(seed, listed=listed).many)
    agents = agents_of(deployment, policy)
    first, *others = (result_of(deployment, agents, *way)[0] for way in WAYS)
    assert all(one == first for one in others)


SHIFT = """deployment shift
sort worker = { ann, ben }
sort ticket
relation Open(ticket)
relation Holds(worker, ticket)
init
  Open(t1)
  Open(t2)
tool take(self: worker, t: ticket)
  guard Open(t)
  effect
    delete Open(t)
    insert Holds(self, t)
tool wait(self: worker)
agent worker for each w: worker
  tools take, wait
  view Open(t)
  view Holds(v, t) where v = w
  policy p
    call take(self, t) when ~(exists u. Holds(self, u))
    call wait(self)
spec one AG forall w in worker. atmost 1 t. Holds(w, t)
spec never AG forall t: ticket. ~Holds(ben, t)
"""


def first(context):
    """Return the first call: a function that is asked like a model."""
    return min(context.calls)


@pytest.mark.parametrize("engine", ["explicit", "symbolic"])
def test_workers_alike_share_one_question(engine):
    """At first both workers are shown two open tickets; who has taken one is told apart."""
    deployment = read(SHIFT)
    result = st.verify(deployment, {"worker": first}, engine=engine, domain="theorem", findings=False)
    contexts = [context for context, _ in result.agents["worker"].decisions]
    assert all(len({call.args[0] for call in context.calls}) == 1 for context in contexts)
    opened = sorted((len(c.view.tuples("Open")), len(c.view.tuples("Holds"))) for c in contexts)
    assert opened == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0)]


@pytest.mark.parametrize("engine", ["explicit", "symbolic"])
def test_runs_say_who_called(engine):
    result = st.verify(read(SHIFT), "p", engine=engine, domain="theorem", findings=False)
    assert result["one"].holds
    [step] = result["never"].evidence.trace.steps
    assert step.who == "worker(ben)"
    assert step.label.startswith("worker(ben): take(ben, ")


def test_a_prompt_says_which_one_is_asked():
    deployment = read(SHIFT)
    [role] = deployment.agents
    contexts = [*decision_contexts(deployment, None, deployment.init, role)]
    prompt = Prompt.of(deployment)
    firsts = [prompt.messages(context)[-1].content.split("\n")[0] for context in contexts]
    assert firsts == ['You are the worker "ann".', 'You are the worker "ben".']


def test_from_python():
    agents = {
        "worker": role(
            tools="take, wait",
            each="worker",
            views={"Open(t)": "true", "Holds(v, t)": "v = self"},
            policies={"p": ["call take(self, t) when ~(exists u. Holds(self, u))", "call wait(self)"]},
        )
    }
    built = build_deployment(
        "shift",
        sorts={"worker": ["ann", "ben"], "ticket": None},
        relations={"Open": "ticket", "Holds": "worker, ticket"},
        init=["Open(t1)", "Open(t2)"],
        tools=[
            tool(
                "take",
                "self: worker, t: ticket",
                guard="Open(t)",
                effect="delete Open(t) insert Holds(self, t)",
            ),
            tool("wait", "self: worker"),
        ],
        agents=agents,
    )
    assert built.written.agents == read(SHIFT).written.agents


@pytest.mark.parametrize("agent", ["any", "p", first], ids=["any", "p", "first"])
def test_certificates(agent, tmp_path):
    agents = {"worker": agent}
    result = st.verify(read(SHIFT), agents, findings=False)
    st.write_certificate(result, tmp_path / "certificate")
    checked = st.check_certificate(tmp_path / "certificate")
    assert {claim.name for claim in checked.claims} == {"one", "never"}


def test_a_certificate_of_another_choice_is_rejected(tmp_path):
    """A table in which a worker does less than its policy, in one context."""
    result = st.verify(read(SHIFT), "p", findings=False)
    file = st.write_certificate(result, tmp_path / "certificate") / "certificate.json"
    data = json.loads(file.read_text(encoding="utf-8"))
    [table] = data["agents"]
    entry = next(entry for entry in table["contexts"] if len(entry["selected"]) > 1)
    entry["selected"] = entry["selected"][:1]
    file.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(CertificateRejected):
        st.check_certificate(file.parent)


def test_what_is_for_agents_that_are_one():
    deployment = read(SHIFT)
    result = st.verify(deployment, "p", findings=False)
    with pytest.raises(InputError, match="worker is one agent for each worker"):
        st.VerifiedAgent(deployment, result, "p")
    with pytest.raises(InputError, match="one for each worker, which make single calls"):
        st.verify(deployment, "p", calls="batch 2")


def test_what_bounds_a_sort_is_an_event():
    """A tool that removes records would take nobody who calls it."""
    text = """deployment grow
sort worker
sort job
relation Open(job)
relation Free(worker)
init
  Free(w1)
tool open(self: worker)
  guard Free(self)
  effect
    fresh j: job
    insert Open(j)
agent worker for each w: worker
  tools open
  policy p
    call open(self)
spec s AG EF exists w. Free(w)
"""
    found = st.deepen(read(text), "p", limit=2)
    assert found.remedy is not None
    assert "add an event `archive_job(x: job)` that can always happen" in str(found.remedy)
