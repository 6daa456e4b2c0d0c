"""Models run in this process by vLLM, as a backend.

The decision: one sampled token per branching node, and vLLM's prefix cache for all that prompts share, with
each other and with their answers' later tokens. Batches are of bounded size, since vLLM hands over the
answers of a batch all at once.
"""

from __future__ import annotations

import os
import random
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

from stead_sym.agent.models.agent import Request, Written, unforced
from stead_sym.agent.models.engine_answers import Question, Sampled, gathered, questions
from stead_sym.agent.models.huggingface import weights_identity
from stead_sym.agent.models.tokenizer import ChatTokenizer, library, reporting
from stead_sym.agent.records.said import Unforced

_DEFAULTS = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",  # the engine runs in this process, not in one of its own
    "VLLM_CPU_KVCACHE_SPACE": "4",  # GiB; by default vLLM takes nearly all memory of a machine without a GPU
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",  # stdout is kept for the report of the command
    "VLLM_NO_USAGE_STATS": "1",
}
_MOST = 128
"""So many tokens vLLM lets one request ask log-probabilities of."""


class VllmOffline:
    """A language model in an engine of vLLM. Build it with `load`."""

    together = 0

    def __init__(
        self, engine: Any, tokenizer: ChatTokenizer, name: str, weights: Mapping[str, str], batch: int = 64
    ) -> None:
        """``engine`` is a `vllm.LLM`, ``weights`` identify its weights, ``batch`` is how many requests it
        gets at one time."""
        self._vllm = library("vllm", name, "vllm")
        self.engine = engine
        self.batch = batch
        config = engine.model_config
        self.name = f"vllm:{name}"
        self.tokenizer = tokenizer
        self.window = int(config.max_model_len)
        self.identity = {
            "engine": "vllm",
            **weights,
            **tokenizer.identity,
            "dtype": str(config.dtype).removeprefix("torch."),
            "device": str(engine.llm_engine.vllm_config.device_config.device_type),
        }
        self.versions = {
            "vllm": self._vllm.__version__,
            "torch": library("torch", name, "vllm").__version__,
            "transformers": library("transformers", name, "vllm").__version__,
        }

    @classmethod
    def load(cls, name: str, *, revision: str | None = None, dtype: str | None = None) -> VllmOffline:
        """The model in a folder, or of that name on the hub.

        On the CPU it runs in float32, elsewhere in the number format that vLLM takes for its weights. The
        window is the model's, or what fits into memory. Environment variables of vLLM are respected, and set
        where they are not: no process of its own, no log on stdout. Raises `ModelError` where there is no
        such model or the libraries are not installed.
        """
        for variable, value in _DEFAULTS.items():
            os.environ.setdefault(variable, value)
        vllm = library("vllm", name, "vllm")
        on_cpu = library("vllm.platforms", name, "vllm").current_platform.is_cpu()
        tokenizer = ChatTokenizer.load(name, revision, "vllm")
        numbers = random.getstate()  # vLLM seeds the generator of this process
        engine = reporting(
            name,
            lambda: vllm.LLM(
                model=name,
                revision=revision,
                tokenizer_revision=revision,
                dtype=dtype or ("float32" if on_cpu else "auto"),
                max_model_len=-1,  # the longest window that memory allows
                enforce_eager=True,  # one token per request: compiling costs more than it saves
                enable_prefix_caching=True,
                block_size=32 if on_cpu else None,  # of shared prefixes; 128 there by default
                logprobs_mode="raw_logprobs",
                disable_log_stats=True,
                use_tqdm_on_load=False,
            ),
        )
        random.setstate(numbers)
        commit = getattr(engine.model_config.hf_config, "_commit_hash", None)
        return cls(engine, tokenizer, name, weights_identity(name, commit))

    def next_logprobs(self, requests: Sequence[Request]) -> Iterator[tuple[int, Sequence[float]]]:
        """See `model.Backend`."""
        return gathered(self.name, self._answers(questions(requests, _MOST)))

    def unforced(self, answers: Sequence[Written]) -> Iterator[tuple[int, Unforced]]:
        """See `agent.Unconstrained`."""
        for start in range(0, len(answers), self.batch):
            batch = answers[start : start + self.batch]
            outputs = self.engine.generate(
                [{"prompt_token_ids": list(written.prompt)} for written in batch],
                [
                    self._vllm.SamplingParams(
                        temperature=0.0, max_tokens=len(written.tokens), detokenize=False
                    )
                    for written in batch
                ],
                use_tqdm=False,
            )
            for number, (written, output) in enumerate(zip(batch, outputs, strict=True), start):
                choices = list(output.outputs[0].token_ids)
                yield number, unforced(written.tokens, choices, self.tokenizer.spelled)

    def _answers(self, asked: Sequence[Question]) -> Generator[tuple[Question, Sampled], None, None]:
        for start in range(0, len(asked), self.batch):
            batch = asked[start : start + self.batch]
            outputs = self.engine.generate(
                [{"prompt_token_ids": list(question.tokens)} for question in batch],
                [self._parameters(question) for question in batch],
                use_tqdm=False,
            )
            for question, output in zip(batch, outputs, strict=True):
                [completion] = output.outputs
                logprobs = {token: entry.logprob for token, entry in completion.logprobs[0].items()}
                yield question, Sampled(completion.token_ids[0], logprobs)

    def _parameters(self, question: Question) -> Any:
        return self._vllm.SamplingParams(
            temperature=0.0,
            max_tokens=1,
            allowed_token_ids=list(question.request.allowed),
            logprob_token_ids=list(question.asked),
            detokenize=False,
        )
