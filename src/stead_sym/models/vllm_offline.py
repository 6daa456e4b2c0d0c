"""A backend that runs models in this process with vLLM.

The decision: there is one sampled token per branching node, and vLLM's prefix cache serves everything that
prompts share, with each other and with their answers' later tokens. Batches have a bounded size, since vLLM
returns the answers of a batch all at once.
"""

from __future__ import annotations

import os
import random
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from stead_sym.agents.records.said import Unforced
from stead_sym.errors import at_least_one
from stead_sym.models.backend import Request, Written
from stead_sym.models.engine_answers import Question, Sampled, gathered, questions, read_by
from stead_sym.models.engine_options import EngineOptions, refusing
from stead_sym.models.huggingface import weights_identity
from stead_sym.models.tokenizer import ChatTokenizer, library, reporting

_DEFAULTS = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",  # run the engine in this process
    "VLLM_CPU_KVCACHE_SPACE": "4",  # GiB; by default vLLM takes nearly all memory of a machine without a GPU
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",  # stdout is reserved for the command's report
    "VLLM_NO_USAGE_STATS": "1",
}
_TOKENS_PER_REQUEST = 128
"""The maximum number of tokens whose log-probabilities a request to vLLM may ask for."""


_OWN = frozenset({"model", "logprobs_mode", "use_tqdm_on_load", "skip_tokenizer_init", "runner", "convert"})
"""Arguments of the engine that the backend itself sets."""
_IRRELEVANT = frozenset(
    {"tokenizer", "dtype", "revision", "tokenizer_revision", "code_revision", "trust_remote_code", "hf_token"}
    | {"max_model_len", "max_num_seqs", "max_num_batched_tokens", "gpu_memory_utilization", "swap_space"}
    | {"kv_cache_memory_bytes", "cpu_offload_gb", "download_dir", "load_format", "disable_log_stats"}
    | {"enable_prefix_caching", "block_size", "distributed_executor_backend"}
)
"""Options that do not affect the answer, or are in the identity under another name."""


class VllmOffline:
    """A language model in an engine of vLLM; build it with `load`."""

    together = 0

    def __init__(
        self, engine: Any, tokenizer: ChatTokenizer, name: str, weights: Mapping[str, str], batch: int = 64
    ) -> None:
        """Wrap an engine.

        ``engine`` is a `vllm.LLM`, ``weights`` identify its weights, ``batch`` is the number of requests that
        it gets at one time.
        """
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
    def load(
        cls, name: str, options: EngineOptions | None = None, *, called: str | None = None
    ) -> VllmOffline:
        """Return the model in a folder, or of that name on the hub; ``called`` is its display name.

        Options are `batch`, `tokenizer` (another folder or name), and the arguments of `vllm.LLM` by their
        own names, such as `dtype`, `revision`, `quantization` and `tensor_parallel_size`. On the CPU it runs
        in float32, otherwise in vLLM's number format for its weights. The window is the model's, or what fits
        into memory. Environment variables of vLLM are respected; defaults are set for those that are missing:
        no separate process, no log on stdout. Raise `InputError` for other options, and `ModelError` if
        there is no such model or the libraries are not installed.
        """
        given = dict((options or EngineOptions()).values)
        batch = at_least_one("--engine-option batch", given.pop("batch", 64))
        for variable, value in _DEFAULTS.items():
            os.environ.setdefault(variable, value)
        vllm = library("vllm", name, "vllm")
        on_cpu = library("vllm.platforms", name, "vllm").current_platform.is_cpu()
        EngineOptions(given).check(_engine_arguments(name), f"vLLM, {vllm.__version__}")
        own, revision = given.get("tokenizer"), given.get("revision")
        tokenizer = ChatTokenizer.load(own or name, None if own else revision, "vllm")
        arguments = {
            "dtype": "float32" if on_cpu else "auto",
            "max_model_len": -1,  # the longest window that memory allows
            "enforce_eager": True,  # for one token per request compilation costs more than it saves
            "enable_prefix_caching": True,
            "block_size": 32 if on_cpu else None,  # of shared prefixes; the CPU's default is 128
            "tokenizer_revision": None if own else revision,
            "disable_log_stats": True,
            **given,
        }
        numbers = random.getstate()  # vLLM seeds the generator of this process
        with refusing("vLLM"):
            engine = reporting(
                name,
                lambda: vllm.LLM(
                    model=name, logprobs_mode="raw_logprobs", use_tqdm_on_load=False, **arguments
                ),
            )
        random.setstate(numbers)
        commit = getattr(engine.model_config.hf_config, "_commit_hash", None)
        identity = {**weights_identity(name, commit), **EngineOptions(given).identity(_IRRELEVANT)}
        return cls(engine, tokenizer, called or name, identity, batch)

    def next_logprobs(self, requests: Sequence[Request]) -> Iterator[tuple[int, Sequence[float]]]:
        """Yield the log-probabilities of each request; see `backend.Backend`."""
        return gathered(self.name, self._answers(questions(requests, _TOKENS_PER_REQUEST)))

    def unforced(self, answers: Sequence[Written]) -> Iterator[tuple[int, Unforced]]:
        """Yield the comparison of each call with greedy decoding; see `backend.Unconstrained`.

        The call is read except for its last token, which is sampled.
        """
        for start in range(0, len(answers), self.batch):
            batch = answers[start : start + self.batch]
            outputs = self.engine.generate(
                [{"prompt_token_ids": [*prompt, *tokens[:-1]]} for prompt, tokens in batch],
                [
                    self._vllm.SamplingParams(
                        temperature=0.0,
                        max_tokens=1,
                        prompt_logprobs=1,
                        logprob_token_ids=[tokens[-1]],
                        detokenize=False,
                    )
                    for _, tokens in batch
                ],
                use_tqdm=False,
            )
            for number, (written, output) in enumerate(zip(batch, outputs, strict=True), start):
                read = output.prompt_logprobs[len(written.prompt) :]
                places = [_logprobs(place) for place in (*read, output.outputs[0].logprobs[0])]
                yield number, read_by(self.name, written, places, self.tokenizer.spelled)

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
                yield question, Sampled(completion.token_ids[0], _logprobs(completion.logprobs[0]))

    def _parameters(self, question: Question) -> Any:
        return self._vllm.SamplingParams(
            temperature=0.0,
            max_tokens=1,
            allowed_token_ids=list(question.request.allowed),
            logprob_token_ids=list(question.asked),
            detokenize=False,
        )


def _logprobs(place: Mapping[int, Any]) -> dict[int, float]:
    """Return the log-probabilities of the tokens that vLLM reports at one position."""
    return {token: entry.logprob for token, entry in place.items()}


def _engine_arguments(name: str) -> frozenset[str]:
    """Return the names of the arguments of an engine of vLLM."""
    kind = library("vllm.engine.arg_utils", name, "vllm").EngineArgs
    return frozenset(field.name for field in fields(kind)) - _OWN
