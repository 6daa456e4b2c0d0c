"""Decisions in bulk through servers: what they cost the client, and that nothing is asked twice or lost.

    python benchmarks/bulk.py [--contexts 10000] [--names canonical] [--servers 1] [--agent vllm:http://…#MODEL]

Without `--agent` servers that answer at once are started in processes of their own; they speak vLLM's
protocol, with a tokenizer that is learnt from the prompts. Prints one row of JSON: time of the processor that
the client takes per decision (prompts, tokens, keys, requests, store), memory above the start, the same
contexts read back, two workers at once, one of two workers killed, and from these what a million contexts on
eight servers would take. `yardstick_ms` is what spelling the numbers of one such prompt as JSON takes at the
same time: on a busy machine compare with that.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import timeit
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from decisions import canonical_contexts, literal_contexts
from small_model import learnt_tokenizer

from stead_sym.agents.base import DecisionContext
from stead_sym.agents.prompts.prompt import Prompt
from stead_sym.agents.records.store import Store
from stead_sym.deployment.files import load
from stead_sym.models.agent import ModelAgent
from stead_sym.models.vllm_server import VllmServer
from stead_sym.support.memory import resident

SERVED = "quick"
"""The name of the model of the servers that are started here."""
SERVER = Path(__file__).resolve().parents[1] / "tests" / "served_model.py"


@contextmanager
def quick_servers(number: int, folder: Path) -> Iterator[str]:
    """Servers that answer at once, as words of a backend."""
    processes = []
    try:
        for _ in range(number):
            words = [str(SERVER), "--name", SERVED, "--root", str(folder)]
            processes.append(
                subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True, cwd="/")
            )
        urls = [process.stdout.readline().strip() for process in processes if process.stdout]
        yield ",".join(f"{url}#{SERVED}" for url in urls)
    finally:
        for process in processes:
            process.kill()
            process.communicate()


class Peak:
    """The greatest memory while it is on, above that at its start, in MiB."""

    def __enter__(self) -> Peak:
        self._start = self._most = resident(os.getpid())
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ending.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ending.wait(0.1):
            self._most = max(self._most, resident(os.getpid()))

    @property
    def above(self) -> float:
        return (self._most - self._start) / 2**20


def bulk(contexts: list[DecisionContext], words: str, place: str, weigh: bool) -> dict[str, Any]:
    """All contexts once from the model, and once from the store."""
    prompt = Prompt.of(load("refund"))
    row: dict[str, Any] = {}
    server = VllmServer.load(words)
    with Store(place) as store:
        agent = ModelAgent(server, prompt, store, weigh=weigh)
        started, used = time.perf_counter(), time.process_time()
        with Peak() as peak:
            selected = agent.select(contexts)
        row["client_ms"] = 1000 * (time.process_time() - used) / len(contexts)
        row["decisions_per_second"] = len(contexts) / (time.perf_counter() - started)
        row["requests"] = agent.requests
        row["memory_mib"] = peak.above
        again = ModelAgent(server, prompt, store, weigh=weigh)
        started, used = time.perf_counter(), time.process_time()
        if again.select(contexts) != selected or again.requests:
            raise AssertionError("what was read back is not what was decided")
        row["read_back_seconds"] = time.perf_counter() - started
        row["read_back_cpu_seconds"] = time.process_time() - used
        started = time.perf_counter()
        if sum(1 for _ in store.answers()) != len(contexts):
            raise AssertionError("the store has not one decision for each context")
        row["all_records_seconds"] = time.perf_counter() - started
    row["store_bytes"] = os.path.getsize(place) / len(contexts) if os.path.exists(place) else None
    return row


def work(contexts: list[DecisionContext], words: str, place: str, seed: int) -> None:
    """One worker: decide all contexts, in an order of its own."""
    shuffled = random.Random(seed).sample(contexts, len(contexts))
    with Store(place) as store:
        ModelAgent(VllmServer.load(words), Prompt.of(load("refund")), store, weigh=False).select(shuffled)


def two_workers(contexts: list[DecisionContext], words: str, place: str, *, kill: bool) -> dict[str, int]:
    """Return what the servers were asked by two processes that decide the same contexts, and how much of it
    again; with ``kill`` the first of them is killed after a third."""
    before = asked(words)
    spawn = multiprocessing.get_context("spawn")
    with Store(place) as store:
        workers = [spawn.Process(target=work, args=(contexts, words, place, seed)) for seed in range(2)]
        for worker in workers:
            worker.start()
        if kill:
            while sum(1 for _ in store.answers()) < len(contexts) // 3:
                time.sleep(0.1)
            workers[0].kill()
        for worker in workers:
            worker.join()
        if workers[1].exitcode or (not kill and workers[0].exitcode):
            raise AssertionError("a worker failed")
        decided = sum(1 for _ in store.answers())
    after = asked(words)
    counted = {name: after[name] - before[name] for name in after}
    if decided != len(contexts) or (not kill and counted["again"]):
        raise AssertionError(f"{decided} decisions of {len(contexts)}, {counted}")
    return counted


def asked(words: str) -> dict[str, int]:
    """Return what the servers count, all together."""
    whole = {"asked": 0, "again": 0}
    for address in words.split(","):
        with urllib.request.urlopen(address.partition("#")[0] + "/asked") as answer:
            counted = json.load(answer)
        whole = {name: number + counted[name] for name, number in whole.items()}
    return whole


def on_paper(row: dict[str, Any]) -> dict[str, float]:
    """A million contexts on eight servers, one client: from what one decision costs here, if the servers
    answer as fast as it asks, and what each of them has to manage for that."""
    seconds = row["client_ms"] * 1000
    return {
        "client_hours": seconds / 3600,
        "requests_per_second_and_server": row["requests"] / row["contexts"] * 1e6 / seconds / 8,
        "store_gib": row["store_bytes"] * 1e6 / 2**30,
        "read_back_minutes": row["read_back_seconds"] / row["contexts"] * 1e6 / 60,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure decisions in bulk.")
    parser.add_argument("--contexts", type=int, default=10_000)
    parser.add_argument("--servers", type=int, default=1)
    parser.add_argument("--agent", help="servers that are there already, as `stead-sym verify` takes them")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--names",
        choices=["canonical", "literal"],
        default="canonical",
        help="contexts as the wrapper passes them on, or under names that hardly any two have in common",
    )
    parser.add_argument("--weigh", action="store_true", help="also ask what the model would write by itself")
    options = parser.parse_args()
    deployment = load("refund")
    make = canonical_contexts if options.names == "canonical" else literal_contexts
    contexts = make(deployment, options.contexts, options.seed)
    prompt = Prompt.of(deployment)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = [message.content for context in contexts[:200] for message in prompt.messages(context)]
        learnt_tokenizer(texts).save_pretrained(folder / "tokenizer")
        if options.agent is not None:
            words = options.agent.removeprefix("vllm:")
            row = bulk(contexts, words, str(folder / "bulk.sqlite"), options.weigh)
        else:
            with quick_servers(options.servers, folder / "tokenizer") as words:
                row = bulk(contexts, words, str(folder / "bulk.sqlite"), options.weigh)
            for what, kill in (("two_workers", False), ("one_killed", True)):
                with quick_servers(options.servers, folder / "tokenizer") as words:
                    row[what] = two_workers(contexts, words, str(folder / what), kill=kill)
        row["yardstick_ms"] = 1000 * timeit.timeit(lambda: json.dumps([*range(550)]), number=2000) / 2000
        row |= {
            "contexts": len(contexts),
            "servers": options.servers,
            "weigh": options.weigh,
            "names": options.names,
        }
        row["on_paper"] = on_paper(row)
    print(json.dumps(row))


if __name__ == "__main__":
    main()
