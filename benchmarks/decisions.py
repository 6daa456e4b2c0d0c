"""Decisions per second of a language model, against its own raw forward passes over the same prompts.

    python benchmarks/decisions.py MODEL [--contexts 200]

Prints one row of JSON. `overhead` compares the agent (prompts, tokens, trie, store on disk) with one plain
forward pass per context; it is negative where attention states shared between prompts save more than all
of that costs.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from pathlib import Path

from stead_sym.agent.base import DecisionContext
from stead_sym.agent.huggingface import HuggingFace
from stead_sym.agent.model import ModelAgent, Request
from stead_sym.agent.prompt import Prompt
from stead_sym.agent.store import Store
from stead_sym.api import load
from stead_sym.deployment.deployment import Deployment
from stead_sym.testing.small_model import contexts, renamed


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


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure decisions per second.")
    parser.add_argument("model")
    parser.add_argument("--contexts", type=int, default=200)
    options = parser.parse_args()
    deployment = load("refund")
    prompt = Prompt.of(deployment)
    asked = literal_contexts(deployment, options.contexts, 0)
    backend = HuggingFace.load(options.model)
    prompts = [backend.tokenizer.prompt(prompt.messages(context)) for context in asked]
    for tokens in prompts[:5]:
        backend.raw_logprobs(Request(tokens, (), (0, 1)))
    started = time.perf_counter()
    for tokens in prompts:
        backend.raw_logprobs(Request(tokens, (), (0, 1)))
    raw = time.perf_counter() - started
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "decisions.sqlite")) as store:
        agent = ModelAgent(backend, prompt, store)
        started = time.perf_counter()
        agent.select(asked)
        seconds = time.perf_counter() - started
        requests = agent.requests
    row = {
        "backend": backend.name,
        "contexts": len(asked),
        "prompt_tokens": sum(map(len, prompts)) / len(prompts),
        "requests": requests,
        "decisions_per_second": len(asked) / seconds,
        "passes_per_second": len(asked) / raw,
        "overhead": seconds / raw - 1,
    }
    print(json.dumps(row))


if __name__ == "__main__":
    main()
