"""Two workers on one store, in processes of their own: nothing is asked twice, and what one of them leaves
behind when it is killed the other takes over."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

pytest.importorskip("aiohttp")

from store_places import execute
from test_server import Quick, load, model, on_completions
from test_store import CONTEXTS, context, prompt

from served_model import serving
from stead_sym.agents.records.store import Store
from stead_sym.models.agent import ModelAgent
from stead_sym.testing.byte_model import ByteTokenizer

pytestmark = pytest.mark.gate

MANY = [context(f"case{i}") for i in range(400)]

WORKER = """
import sys
sys.path[:0] = sys.argv[5:]
import random
from test_bulk import MANY
from test_server import load, prompt
from stead_sym.models.agent import ModelAgent
from stead_sym.agents.records import claims
from stead_sym.agents.records.store import Store

claims.LEASE = float(sys.argv[4])
contexts = random.Random(sys.argv[3]).sample(MANY, len(MANY))
with Store(sys.argv[2]) as store:
    agent = ModelAgent(load(sys.argv[1], in_flight=16), prompt, store, weigh=False)
    agent.select(contexts)
print(agent.requests)
"""


def worker(url, place, seed, lease=15.0):
    tests = Path(__file__).resolve().parents[1]
    paths = [str(tests / "agents"), str(tests)]
    words = [sys.executable, "-c", WORKER, url, place, str(seed), str(lease), *paths]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def slowly(handler, body, answered):
    time.sleep(0.02)
    return answered


def counted(url):
    with urllib.request.urlopen(f"{url}/asked") as answer:
        return json.load(answer)


@pytest.fixture(scope="module")
def expected():
    agent = ModelAgent(Quick(), prompt, weigh=False)
    return agent.select(MANY), agent.requests


def selected(place):
    with Store(place) as store:
        found = {answer.prompt: answer.selected for _, answer in store.answers()}
    return [found[prompt.messages(one)] for one in MANY]


def test_two_workers_ask_nothing_twice(place, expected):
    with serving(model(), on_completions(slowly)) as url:
        workers = [worker(url, place, seed) for seed in range(2)]
        asked = [int(one.communicate(timeout=120)[0]) for one in workers]
        assert counted(url) == {"asked": expected[1], "again": 0}
    assert sum(asked) == expected[1]
    assert min(asked) > 0.1 * expected[1]
    assert selected(place) == expected[0]
    assert execute(place, "SELECT count(*) FROM decision")[0][0] == len(MANY)


def test_what_a_killed_worker_had_begun_is_taken_over(place, expected):
    """The questions that were out when it died may be asked again; nothing that was stored is."""
    most = 16 + 128  # with the server, and looked up ahead
    with serving(model(), on_completions(slowly)) as url:
        workers = [worker(url, place, seed, lease) for seed, lease in enumerate((1.0, 15.0))]
        with Store(place) as store:
            while len(list(store.answers())) < len(MANY) // 4:
                assert None in [one.poll() for one in workers], "both ended"
                time.sleep(0.02)
        workers[0].kill()
        workers[0].communicate()
        workers[1].communicate(timeout=120)
        assert workers[1].returncode == 0
        again = counted(url)
        assert again["asked"] - again["again"] == expected[1]
        assert again["again"] <= most
    assert selected(place) == expected[0]
    # The one that was killed may leave claims on what it had just decided; they end with its lease.
    assert len(execute(place, "SELECT id FROM worker")) <= 1
    assert execute(place, "SELECT key FROM claim WHERE worker NOT IN (SELECT id FROM worker)") == []


def test_threads_that_decide_at_once_ask_nothing_twice(place):
    import threading

    with serving(model(), on_completions(slowly)) as url, Store(place) as store:
        agents = [ModelAgent(load(url), prompt, store, weigh=False) for _ in range(6)]
        threads = [threading.Thread(target=agent.select, args=(CONTEXTS,)) for agent in agents]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert counted(url)["again"] == 0
        assert sum(agent.requests for agent in agents) == counted(url)["asked"]
        alone = ModelAgent(Quick(), prompt, weigh=False).select(CONTEXTS)
        assert all(agent.select(CONTEXTS) == alone for agent in agents)


def test_what_was_read_again_asks_nothing_and_tokenizes_nothing(place):
    """And is the same, record by record."""

    class Blind(ByteTokenizer):
        def prompt(self, messages):
            raise AssertionError("a prompt is tokenized")

    with Store(place) as store:
        first = ModelAgent(Quick(), prompt, store)
        chosen = first.select(CONTEXTS)
        blind = Quick(seen=lambda request: pytest.fail("asked"))
        blind.tokenizer = Blind()
        again = ModelAgent(blind, prompt, store)
        assert again.select(CONTEXTS) == chosen
        assert (again.queries, again.requests) == (0, 0)
        assert [again.answer(c) for c in CONTEXTS] == [first.answer(c) for c in CONTEXTS]
        with pytest.raises(AssertionError, match="tokenized"):
            ModelAgent(blind, prompt, store, weigh=False).select(MANY[:1])


def test_keys_are_the_digests_that_they_were(place):
    """Spelled in parts, they are those of the whole."""
    from stead_sym.agents.records.digest import digest
    from stead_sym.agents.records.possible import Greedy, Sampling, rule_data
    from stead_sym.models.walk import Walks
    from stead_sym.relational.canonical import FORM_VERSION

    for rule in (Greedy(0.5), Sampling(0.1, 2.0)):
        walks = Walks(Quick(), prompt, rule)
        walk = walks.begin(walks.draft(CONTEXTS[0]))
        calls = [[offered.text, offered.tokens] for offered in walk.calls]
        identity = {"bytes": "0"}
        assert walk.keys.decision == digest(
            {"model": identity, "canonical": FORM_VERSION, "prompt": walk.prompt, "calls": calls}
            | rule_data(rule)
        )
        assert walk.keys.prompt_digest == digest(walk.prompt)
        assert walk.keys.node((1, 2), (3, 4)) == digest([identity, walk.prompt, (1, 2), (3, 4)])
