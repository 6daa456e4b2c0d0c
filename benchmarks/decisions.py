"""Decisions per second of a language model, against the raw forward passes of the same backend.

    python benchmarks/decisions.py hf:MODEL|vllm:MODEL|vllm:http://HOST:PORT#MODEL [--contexts 200]

Prints one row of JSON. `overhead` compares the agent (prompts, tokens, trie, store on disk, every branching
node) with one plain forward pass per context: the same prompts, one token, no constraint, nothing shared. It
is negative where what the agent shares between prompts saves more than all of that costs. `overhead_shared`
compares it with the backend's own passes with its prefix cache on, where it has one. All in the same run,
each from nothing cached. For `hf:`, `difference` is the most by which the lead of one token over another
differs from that in one plain pass, through rounding, and `other_choices` how many nodes choose another
token there.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from small_model import contexts, renamed

from stead_sym.agents.base import DecisionContext
from stead_sym.agents.prompts.prompt import Prompt
from stead_sym.agents.records.possible import Tokens
from stead_sym.agents.records.store import Store
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.files import load
from stead_sym.deployment.semantics import offer, view
from stead_sym.deployment.tool import Call
from stead_sym.models.agent import ModelAgent
from stead_sym.models.backend import Backend, Request
from stead_sym.models.backends import open_backend
from stead_sym.models.connection import Talk
from stead_sym.models.huggingface import HuggingFace
from stead_sym.models.vllm_offline import VllmOffline
from stead_sym.models.vllm_server import VllmServer
from stead_sym.relational.instance import Instance


def literal_contexts(deployment: Deployment, number: int, seed: int) -> list[DecisionContext]:
    """Different contexts with a choice: canonical ones under random names."""
    dice = random.Random(seed)
    met = [
        c
        for c in contexts(deployment, "baseline", seed=seed, walks=40, steps=12).items()
        if len(c[0].calls) > 1
    ]
    found: dict[DecisionContext, None] = {}
    while len(found) < number:
        found[renamed(*dice.choice(met), deployment.schema.rigid, dice)[0]] = None
    return list(found)


class _Anything:
    """An agent that would make any offered call."""

    name = "anything"

    def select(self, contexts: Sequence[DecisionContext]) -> list[frozenset[Call]]:
        """All calls."""
        return [context.calls for context in contexts]


def canonical_contexts(deployment: Deployment, number: int, seed: int) -> list[DecisionContext]:
    """Different canonical contexts with a choice, as the wrapper passes them on: those of random states with
    up to three values of a sort and up to two facts of a relation."""
    dice = random.Random(seed)
    schema = deployment.schema
    values = {
        sort.name: sorted(sort.values or (f"{sort.name}{i}" for i in range(3))) for sort in schema.sorts
    }
    wrapper = CanonicalWrapper(_Anything(), schema, deployment.tools, deployment.sort_of_constant)
    tuples = {relation.name: [*product(*map(values.get, relation.sorts))] for relation in schema.relations}
    found: dict[DecisionContext, None] = {}
    while len(found) < number:
        facts = [
            (name, args) for name, every in tuples.items() for args in dice.sample(every, dice.randrange(3))
        ]
        state = Instance.of(schema, facts)
        if len(calls := offer(deployment, state)) > 1:
            [decision] = wrapper.decide([DecisionContext(view(deployment, state), calls)])
            found[decision.canonical] = None
    return list(found)


def forward(backend: Backend, prompts: Sequence[Tokens], salts: Sequence[str]) -> float:
    """The seconds that one token after each prompt takes, as fast as the backend is without this package.

    Attention states are shared between prompts of the same salt only, if at all.
    """
    salted = list(zip(prompts, salts, strict=True))
    started = time.perf_counter()
    match backend:
        case HuggingFace():
            for tokens in prompts:
                backend.raw_logprobs(Request(tokens, (), (0, 1)))
        case VllmOffline():
            from vllm import SamplingParams

            backend.engine.generate(
                [{"prompt_token_ids": list(tokens), "cache_salt": salt} for tokens, salt in salted],
                SamplingParams(temperature=0.0, max_tokens=1, detokenize=False),
                use_tqdm=False,
            )
        case VllmServer():
            bodies = [
                {
                    "model": backend.model,
                    "prompt": tokens,
                    "cache_salt": salt,
                    "max_tokens": 1,
                    "temperature": 0,
                }
                for tokens, salt in salted
            ]
            with Talk(backend.name, backend.patience.connect) as talk:
                talk.wait(_together(talk, backend, [json.dumps(body).encode() for body in bodies]))
        case _:
            raise TypeError(type(backend).__name__)
    return time.perf_counter() - started


def rounding(backend: HuggingFace, agent: ModelAgent, asked: Sequence[DecisionContext]) -> tuple[float, int]:
    """The largest difference to plain passes in the lead of the best token, and how many differ in it."""
    largest, other = 0.0, 0
    for context in asked:
        answer = agent.answer(context)
        assert answer is not None
        prompt = backend.tokenizer.prompt(answer.prompt)
        for node in answer.branchings:
            plain = backend.raw_logprobs(Request(prompt, node.path, node.allowed))
            best = max(range(len(plain)), key=node.logprobs.__getitem__)
            leads = [node.logprobs[best] - one for one in node.logprobs]
            largest = max(
                largest, *(abs(plain[best] - p - lead) for p, lead in zip(plain, leads, strict=True))
            )
            other += plain[best] < max(plain)
    return largest, other


async def _together(talk: Talk, backend: VllmServer, bodies: Sequence[bytes]) -> None:
    """Send all bodies, as many at a time as the backend has questions under way."""
    free = asyncio.Semaphore(backend.in_flight)

    async def send(body: bytes) -> None:
        async with free:
            await talk.ask(backend.addresses[0], "/v1/completions", body, seconds=600.0)

    await asyncio.gather(*map(send, bodies))


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure decisions per second.")
    parser.add_argument("backend", help="as `stead-sym verify --agent` takes it")
    parser.add_argument("--contexts", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0, help="another one where a server knows these contexts")
    options = parser.parse_args()
    deployment = load("refund")
    prompt = Prompt.of(deployment)
    asked = literal_contexts(deployment, options.contexts, options.seed)
    warm = literal_contexts(deployment, 5, options.seed + 1)
    backend = open_backend(options.backend)
    prompts, early = (
        [backend.tokenizer.prompt(prompt.messages(context)) for context in group] for group in (asked, warm)
    )
    run = str(time.time_ns())  # so that a server finds nothing of an earlier run
    forward(backend, early, [f"{run} early {i}" for i in range(len(early))])
    ModelAgent(backend, prompt).select(warm)
    plain = forward(backend, prompts, [f"{run} {i}" for i in range(len(prompts))])
    shares = not isinstance(backend, HuggingFace)
    shared = forward(backend, prompts, [run] * len(prompts)) if shares else None
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "decisions.sqlite")) as store:
        agent = ModelAgent(backend, prompt, store)
        started = time.perf_counter()
        agent.select(asked)
        seconds = time.perf_counter() - started
        requests = agent.requests
        rounded = rounding(backend, agent, asked[:100]) if isinstance(backend, HuggingFace) else (None, None)
    row = {
        "backend": backend.name,
        "contexts": len(asked),
        "prompt_tokens": sum(map(len, prompts)) / len(prompts),
        "requests": requests,
        "decisions_per_second": len(asked) / seconds,
        "passes_per_second": len(asked) / plain,
        "overhead": seconds / plain - 1,
        "overhead_shared": seconds / shared - 1 if shared else None,
        "difference": rounded[0],
        "other_choices": rounded[1],
    }
    print(json.dumps(row))


if __name__ == "__main__":
    main()
