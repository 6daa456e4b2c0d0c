"""A small language model of the Qwen3 architecture, built on demand: the base agent of tests and benchmarks.

The decision: nothing is downloaded. The tokenizer is a byte-level BPE trained on the given texts, the weights
are drawn from a seed (the theory assumes nothing about a base agent's choices) and, on request, trained on
examples.

    python benchmarks/small_model.py DIR [--seed N] [--train SECONDS]
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stead_sym.agents.base import DecisionContext
from stead_sym.agents.prompts.prompt import Message, Prompt
from stead_sym.agents.rules import RuleAgent
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.files import load
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.deployment.semantics import offer, successors, view
from stead_sym.deployment.tool import Call
from stead_sym.errors import ModelError
from stead_sym.models.tokenizer import library
from stead_sym.relational.schema import Value

CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")


def build(
    directory: str | Path,
    texts: Iterable[str],
    *,
    seed: int = 0,
    vocabulary: int = 1024,
    hidden: int = 96,
    layers: int = 3,
    window: int = 4096,
    spread: float = 0.1,
) -> Path:
    """Write a model with random weights to ``directory``, with a tokenizer trained on ``texts``.

    ``spread`` is the standard deviation of the weights; the greater, the more erratic the choices.
    """
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    tokenizer = learnt_tokenizer(texts, vocabulary)
    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        intermediate_size=3 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,  # the minimum for which every backend has a kernel
        max_position_embeddings=window,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        initializer_range=spread,
    )
    path = Path(directory)
    Qwen3ForCausalLM(config).save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


def train(
    directory: str | Path,
    examples: Sequence[tuple[Sequence[Message], str]],
    *,
    seconds: float | None = None,
    steps: int | None = None,
    seed: int = 0,
    batch: int = 8,
    rate: float = 2e-3,
) -> float:
    """Train the model in ``directory`` to answer the prompts with the texts; return the last mean loss.

    It takes ``seconds``, or a number of ``steps``, with which the seed determines the result except for
    rounding.
    """
    import torch
    from torch.nn.functional import cross_entropy
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(directory)
    model = AutoModelForCausalLM.from_pretrained(directory, dtype="float32").train()
    rows = [_example(tokenizer, messages, text) for messages, text in examples]
    dice = random.Random(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)
    started = time.monotonic()
    losses: list[float] = []

    def progress() -> float:
        """Return the finished fraction of the training, from 0 to 1."""
        if steps is not None:
            return len(losses) / steps
        assert seconds is not None, "give seconds or steps"
        return (time.monotonic() - started) / seconds

    while (done := progress()) < 1:
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1.0, 0.02 + done * 20) * (1.02 - done)
        chosen = dice.sample(rows, min(batch, len(rows)))
        width = max(len(tokens) for tokens, _ in chosen)
        ids = torch.tensor([[*tokens, *[0] * (width - len(tokens))] for tokens, _ in chosen])
        wanted = torch.full_like(ids, -100)
        for i, (tokens, start) in enumerate(chosen):
            wanted[i, start : len(tokens)] = ids[i, start : len(tokens)]
        states = model.model(input_ids=ids).last_hidden_state[:, :-1][wanted[:, 1:] != -100]
        loss = cross_entropy(model.lm_head(states), wanted[:, 1:][wanted[:, 1:] != -100])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    model.eval().save_pretrained(directory)
    recent = losses[-20:]
    return sum(recent) / len(recent)


def contexts(
    deployment: Deployment, policy: str, *, seed: int, walks: int, steps: int
) -> dict[DecisionContext, Call]:
    """Return the canonical contexts on random walks under any offered calls, each with the policy's call."""
    agent = RuleAgent.of(deployment, policy)
    known = {value: deployment.sort_of_constant[value] for value in agent.constants}
    wrapper = CanonicalWrapper(agent, deployment.schema, deployment.tools, known)
    dice = random.Random(seed)
    met: dict[DecisionContext, Call] = {}
    restriction = theorem_restriction(deployment, deployment.specs)
    for _ in range(walks):
        state = deployment.init
        for _ in range(steps):
            calls = offer(deployment, state)
            decision = wrapper.decide([DecisionContext(view(deployment, state), frozenset(calls))])[0]
            met.setdefault(decision.canonical, min(decision.selected))
            call = dice.choice(sorted(calls))
            state = dice.choice(sorted(successors(deployment, call, state, restriction).inside, key=str))
    return met


def renamed(
    context: DecisionContext, call: Call, fixed: Iterable[Value], dice: random.Random
) -> tuple[DecisionContext, Call]:
    """Return the context and the call under a renaming to names of the same kind, CASE_7 for CASE_1."""
    keep = set(fixed)
    renaming: dict[Value, Value] = {}
    for sort, values in context.view.active_domain.items():
        names = sorted(set(values) - keep)
        numbers = dice.sample(range(1, len(names) + 6), len(names))
        renaming.update((name, f"{sort.upper()}_{n}") for name, n in zip(names, numbers, strict=True))
    calls = frozenset(c.rename(renaming) for c in context.calls)
    return DecisionContext(context.view.rename(renaming), calls), call.rename(renaming)


def refund_examples(
    prompt: Prompt, policy: str, seed: int, copies: int
) -> Iterator[tuple[tuple[Message, ...], str]]:
    """Yield prompts of the refund workflow with the policy's answers, each context under some renamings."""
    desk = load("refund")
    dice = random.Random(seed)
    for context, call in contexts(desk, policy, seed=seed, walks=40, steps=12).items():
        for _ in range(copies):
            shown, answer = renamed(context, call, desk.schema.rigid, dice)
            yield prompt.messages(shown), prompt.call_text(answer)


def learnt_tokenizer(texts: Iterable[str], vocabulary: int = 1024) -> Any:
    """Return a byte-level BPE tokenizer of the library `transformers`, trained on texts."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=list(_SPECIAL),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    core.train_from_iterator(texts, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        extra_special_tokens=["<|im_start|>"],
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    return tokenizer


def _example(tokenizer: Any, messages: Sequence[Message], text: str) -> tuple[list[int], int]:
    chat: list[Mapping[str, str]] = [message._asdict() for message in messages]
    before = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    start = tokenizer.encode(before, add_special_tokens=False)
    answer = tokenizer.encode(text, add_special_tokens=False)
    return [*start, *answer, tokenizer.eos_token_id], len(start)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Make a small language model for the refund workflow.")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--train", type=float, default=0.0, metavar="SECONDS")
    options = parser.parse_args()
    try:
        for module in ("torch", "transformers", "tokenizers"):
            library(module, "the small model")
    except ModelError as error:
        parser.exit(error.exit_status, f"{error}\n")
    prompt = Prompt.of(load("refund"))
    examples = list(refund_examples(prompt, "approving", options.seed, 20))
    texts = [text for messages, answer in examples for text in (*(m.content for m in messages), answer)]
    build(options.directory, texts, seed=options.seed)
    if options.train:
        loss = train(options.directory, examples, seconds=options.train, seed=options.seed)
        print(f"{options.directory}: mean loss {loss:.4f} over the last steps")


if __name__ == "__main__":
    main()
