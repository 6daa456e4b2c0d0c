"""Models run in this process by `transformers`, as a backend.

The decision: attention states are computed once. Prompts of one deployment begin alike, so one prompt is
run first and the others continue from what they share with it; an answer's later tokens continue from its
prompt. What is left goes through the model in batches, padded on the right, where causal attention never
looks.

Models with layers that are not attention (recurrent states) cannot be continued from the middle; there every
request is run from its beginning.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from stead_sym.agent.models.agent import Request, Written, unforced
from stead_sym.agent.models.engine_options import EngineOptions, at_least_one, refusing
from stead_sym.agent.models.tokenizer import ChatTokenizer, library, reporting
from stead_sym.agent.records.digest import digest, digest_files
from stead_sym.agent.records.possible import Tokens
from stead_sym.agent.records.said import Unforced

Tensor: TypeAlias = Any
States: TypeAlias = "tuple[tuple[Tensor, Tensor], ...]"
"""Keys and values per layer, each of shape (1, heads, tokens, width)."""

_WEIGHTS = (".safetensors", ".bin", ".pt")
_OWN = ("device", "tokenizer", "together", "memory_mib")
_IRRELEVANT = frozenset(
    {"dtype", "revision", "device_map", "max_memory", "offload_folder", "low_cpu_mem_usage", "cache_dir"}
    | {"local_files_only", "token", "trust_remote_code", "use_safetensors"}
)
"""Options that do not determine the answer, or are in the identity under a name of their own."""
_ATTENTION = {"full_attention", "sliding_attention"}


@dataclass(frozen=True, slots=True)
class _Row:
    """Tokens with the attention states after each of them; no states where the model has none to keep."""

    tokens: Tokens
    states: States


@dataclass(frozen=True, slots=True)
class _Job:
    """A request to be run: its tokens, and a row whose first ``start`` tokens are those of the request."""

    number: int
    request: Request
    tokens: Tokens
    base: _Row
    start: int


class HuggingFace:
    """A causal language model behind `transformers`. Build it with `load`."""

    def __init__(
        self, model: Any, tokenizer: ChatTokenizer, name: str, weights: Mapping[str, str], together: int = 32
    ) -> None:
        """``weights`` identify the weights. At most ``together`` decisions keep their attention states."""
        self._torch = library("torch", name)
        self._transformers = library("transformers", name)
        self._model = model.eval()
        self._config = model.config.get_text_config()
        self._keeps_logits = "logits_to_keep" in inspect.signature(model.forward).parameters
        self._continues = set(getattr(self._config, "layer_types", None) or _ATTENTION) <= _ATTENTION
        self._rows: dict[Tokens, _Row] = {}
        self._reference = _Row((), ())
        self.name = f"hf:{name}"
        self.tokenizer = tokenizer
        self.together = together
        self.batch_tokens = 16384
        self.window = int(getattr(self._config, "max_position_embeddings", 0) or 1 << 30)
        dtype = str(model.dtype).removeprefix("torch.")
        self.identity = {**weights, **tokenizer.identity, "dtype": dtype, "device": model.device.type}
        self.versions = {
            "torch": self._torch.__version__,
            "transformers": self._transformers.__version__,
        }

    @classmethod
    def load(
        cls, name: str, options: EngineOptions | None = None, *, called: str | None = None
    ) -> HuggingFace:
        """The model in a folder, or of that name on the hub; ``called`` is what it is called instead.

        It runs on a GPU where there is one, in the number format of its weights; on the CPU in float32.
        Options are `device`, `tokenizer` (a folder or a name of its own), the numbers `together` and
        `memory_mib` of this class, and whatever `from_pretrained` of the model takes, such as `dtype`,
        `revision`, `device_map` and `quantization_config`. Raises `InputError` for others, and `ModelError`
        where there is no such model or the libraries are not installed.
        """
        torch = library("torch", name)
        transformers = library("transformers", name)
        given = dict((options or EngineOptions()).values)
        own = {key: given.pop(key) for key in _OWN if key in given}
        where = own.get("device") or ("cuda" if torch.cuda.is_available() else "cpu")
        given.setdefault("dtype", "float32" if where == "cpu" else "auto")
        revision = given.get("revision")
        tokenizer = ChatTokenizer.load(own.get("tokenizer", name), None if "tokenizer" in own else revision)
        transformers.utils.logging.disable_progress_bar()
        load = transformers.AutoModelForCausalLM.from_pretrained
        with refusing("transformers"):
            model = reporting(name, lambda: load(name, **given))
        if not {"device_map", "quantization_config"} & given.keys():  # these say where the weights go
            model = model.to(where)
        commit = getattr(model.config, "_commit_hash", None)
        identity = {**weights_identity(name, commit), **EngineOptions(given).identity(_IRRELEVANT)}
        backend = cls(model, tokenizer, called or name, identity)
        for key in ("together", "memory_mib"):
            if key in own:
                setattr(backend, key, at_least_one(key, own[key]))
        return backend

    def next_logprobs(self, requests: Sequence[Request]) -> Iterator[tuple[int, Sequence[float]]]:
        """See `model.Backend`."""
        jobs = [self._job(number, request) for number, request in enumerate(requests)]
        while jobs:
            if shared := self._unshared(jobs):
                yield from self._run([shared])
                self._reference = self._rows.get(shared.request.prompt, self._reference)
                jobs = [self._job(job.number, job.request) for job in jobs if job is not shared]
                continue
            for batch in self._batches(jobs):
                yield from self._run(batch)
            break
        while len(self._rows) > self.together:
            del self._rows[next(iter(self._rows))]

    def unforced(self, answers: Sequence[Written]) -> Iterator[tuple[int, Unforced]]:
        """See `agent.Unconstrained`: one pass over the tokens of each call, from what is kept of its
        prompt."""
        torch = self._torch
        for number, (prompt, tokens) in enumerate(answers):
            job = self._job(number, Request(prompt, (), ()))
            options: dict[str, Any] = {"use_cache": False}
            if job.start:
                options |= {"past_key_values": self._past([job], job.start), "use_cache": True}
            if self._keeps_logits:
                options["logits_to_keep"] = len(tokens)
            rest = [*prompt[job.start :], *tokens[:-1]]
            with torch.inference_mode():
                ids = torch.tensor([rest], device=self._model.device)
                logits = self._model(input_ids=ids, **options).logits[0, -len(tokens) :]
            yield number, unforced(tokens, logits.argmax(-1).tolist(), self.tokenizer.spelled)

    def raw_logprobs(self, request: Request) -> list[float]:
        """The same for one request, by one plain forward pass that keeps nothing."""
        tokens = (*request.prompt, *request.path)
        [(_, logprobs)] = self._forward([_Job(0, request, tokens, _Row((), ()), 0)], keep=False)
        return logprobs

    def _job(self, number: int, request: Request) -> _Job:
        """The request, to continue from the row that shares most with it; at least one token is left to
        run."""
        tokens = (*request.prompt, *request.path)
        base = self._rows.get(request.prompt, self._reference)
        start = min(_shared(base.tokens, tokens), len(tokens) - 1)
        return _Job(number, request, tokens, base, start if self._continues else 0)

    def _unshared(self, jobs: Sequence[_Job]) -> _Job | None:
        """A job whose prompt is to be run first, so that the other prompts continue from it."""
        fresh = [job for job in jobs if job.request.prompt not in self._rows]
        if not fresh or not self._continues:
            return None
        common = min(_shared(fresh[0].tokens, job.tokens) for job in fresh)
        covered = min(job.start for job in fresh)
        return fresh[0] if covered < min(common, len(fresh[0].tokens) - 1) // 2 else None

    def _batches(self, jobs: Iterable[_Job]) -> Iterator[list[_Job]]:
        """Jobs that run together: equally long states before them, a bounded number of tokens to run.

        Prompts that continue from the reference all start where the one that shares least with it does.
        """
        groups: dict[int, list[_Job]] = {}
        jobs = list(jobs)
        fresh = [job for job in jobs if job.base is self._reference]
        least = min((job.start for job in fresh), default=0)
        for job in jobs:
            start = least if job.base is self._reference else job.start
            groups.setdefault(start, []).append(_Job(job.number, job.request, job.tokens, job.base, start))
        for start, group in groups.items():
            batch: list[_Job] = []
            for job in sorted(group, key=lambda job: len(job.tokens)):
                if batch and (len(batch) + 1) * (len(job.tokens) - start) > self.batch_tokens:
                    yield batch
                    batch = []
                batch.append(job)
            yield batch

    def _run(self, batch: Sequence[_Job]) -> Iterator[tuple[int, Sequence[float]]]:
        return iter(self._forward(batch, keep=self._continues))

    def _forward(self, batch: Sequence[_Job], *, keep: bool) -> list[tuple[int, list[float]]]:
        """One pass of the model; with ``keep`` the attention states of the jobs are kept as rows."""
        torch, start = self._torch, batch[0].start
        device = self._model.device
        rests = [job.tokens[start:] for job in batch]
        width = max(map(len, rests))
        ends = sorted({len(rest) - 1 for rest in rests})
        ids = torch.tensor([[*rest, *[rest[-1]] * (width - len(rest))] for rest in rests], device=device)
        options: dict[str, Any] = {"use_cache": keep}
        if start:
            options["past_key_values"] = self._past(batch, start)
        if self._keeps_logits:
            options["logits_to_keep"] = torch.tensor(ends, device=device)
        with torch.inference_mode():
            output = self._model(input_ids=ids, **options)
            if keep:
                self._keep(batch, output.past_key_values)
            results = []
            for i, (job, rest) in enumerate(zip(batch, rests, strict=True)):
                end = len(rest) - 1
                logits = output.logits[i, ends.index(end) if self._keeps_logits else end].float()
                logprobs = logits[list(job.request.allowed)] - logits.logsumexp(-1)
                results.append((job.number, logprobs.tolist()))
        return results

    def _past(self, batch: Sequence[_Job], start: int) -> Any:
        """The states of the first ``start`` tokens of every job, as one cache."""
        torch = self._torch
        layers = range(len(batch[0].base.states))
        same = all(job.base is batch[0].base for job in batch)

        def joined(layer: int, part: int) -> Tensor:
            if same:
                states = batch[0].base.states[layer][part][..., :start, :]
                return states.expand(len(batch), -1, -1, -1)
            return torch.cat([job.base.states[layer][part][..., :start, :] for job in batch])

        return self._transformers.DynamicCache([(joined(i, 0), joined(i, 1)) for i in layers])

    def _keep(self, batch: Sequence[_Job], cache: Any) -> None:
        for i, job in enumerate(batch):
            length = len(job.tokens)
            states = tuple(
                (layer.keys[i : i + 1, :, :length], layer.values[i : i + 1, :, :length])
                for layer in cache.layers
            )
            self._rows.pop(job.request.prompt, None)  # so that the newest row stands last
            self._rows[job.request.prompt] = _Row(job.tokens, states)


def weights_identity(name: str, revision: str | None) -> dict[str, str]:
    """What identifies the weights: their digest for a folder, name and commit for a model of the hub."""
    folder = Path(name)
    if folder.is_dir():
        files = [path for path in folder.iterdir() if path.suffix in _WEIGHTS]
        return {
            "weights": digest_files(files),
            "config": digest((folder / "config.json").read_text(encoding="utf-8")),
        }
    return {"model": name, "revision": revision or "unknown"}


def _shared(left: Tokens, right: Tokens) -> int:
    """How many tokens two sequences have in common at their beginning."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((i for i, (one, other) in pairs if one != other), min(len(left), len(right)))
