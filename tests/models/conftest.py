"""Language models that are made from a seed, behind each backend, each started once and only when needed."""

from __future__ import annotations

import os
import random

import pytest
import small_model
from backends import busy, one_engine, prompt, vllm_server

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # models this small are slower with more


@pytest.fixture(scope="session")
def texts():
    """Return what a tokenizer is learnt from."""
    examples = list(small_model.refund_examples(prompt, "approving", 0, 3))
    return [text for messages, answer in examples for text in (*(m.content for m in messages), answer)]


@pytest.fixture(scope="session")
def folder(tmp_path_factory, texts):
    return small_model.build(tmp_path_factory.mktemp("model") / "small", texts, seed=1, spread=0.2)


@pytest.fixture(scope="session")
def model(folder):
    from stead_sym.models.huggingface import HuggingFace

    return HuggingFace.load(str(folder))


@pytest.fixture(scope="module")
def offline(folder):
    from stead_sym.models.vllm_offline import VllmOffline

    with one_engine(lambda: VllmOffline.load(str(folder))) as backend:
        yield backend


@pytest.fixture(scope="session")
def server(folder, tmp_path_factory):
    """The address of a vLLM server, which also takes function tools on its chat endpoint."""
    options = ("--enable-auto-tool-choice", "--tool-call-parser", "hermes")
    with vllm_server(folder, tmp_path_factory.mktemp("server") / "log", *options) as url:
        yield url


@pytest.fixture(scope="session")
def contexts():
    """Contexts of two concurrent cases, under names of many lengths."""
    met = small_model.contexts(busy, "baseline", seed=0, walks=30, steps=25)
    dice = random.Random(0)
    offers = [(c, call) for c, call in met.items() if len(c.calls) > 1]
    return [small_model.renamed(*dice.choice(offers), (), dice)[0] for _ in range(40)]
