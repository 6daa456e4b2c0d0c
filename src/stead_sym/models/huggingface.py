"""A backend that runs models in this process with `transformers`.

The decision: attention states are computed once. Prompts of one deployment have a common prefix, so one
prompt is run first and the others continue from the shared states; an answer's later tokens continue from its
prompt. The rest is run in batches, padded on the right, where causal attention has no effect.

The memory for it is bounded by `memory_mib`, independently of the number and length of contexts: shared
states are stored once, the oldest states are evicted, and long sequences are run in pieces. The states of a
single sequence are always kept, even if they exceed the bound.

Models with layers other than attention (recurrent states) cannot be continued from the middle; every request
is run from its start, in one piece.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from stead_sym.agents.records.digest import digest, digest_files
from stead_sym.agents.records.possible import Tokens
from stead_sym.agents.records.said import Unforced
from stead_sym.errors import at_least_one
from stead_sym.models.backend import Request, Written, common_length, unforced
from stead_sym.models.engine_options import EngineOptions, refusing
from stead_sym.models.tokenizer import ChatTokenizer, library, reporting

Tensor: TypeAlias = Any
States: TypeAlias = "tuple[tuple[Tensor, Tensor], ...]"
"""Keys and values per layer, each of shape (1, heads, tokens, width); empty if nothing is kept."""

_WEIGHTS = (".safetensors", ".bin", ".pt")
_MIN_TOKENS = 64
"""The number of tokens up to which recomputation is negligible."""
_OWN = ("device", "tokenizer", "together", "memory_mib")
_IRRELEVANT = frozenset(
    {"dtype", "revision", "device_map", "max_memory", "offload_folder", "low_cpu_mem_usage", "cache_dir"}
    | {"local_files_only", "token", "trust_remote_code", "use_safetensors"}
)
"""Options that do not affect the answer, or are in the identity under another name."""
_ATTENTION = {"full_attention", "sliding_attention"}


@dataclass(frozen=True, slots=True)
class _Row:
    """Tokens with the attention states after each of them.

    The first ``start`` states are the first of ``shared``, which other rows have too, and the rest are
    ``own``.
    """

    tokens: Tokens = ()
    own: States = ()
    shared: States = ()
    start: int = 0

    def until(self, end: int, layer: int, part: int) -> tuple[Tensor, ...]:
        """Return keys (part 0) or values (1) of the first ``end`` tokens, in one piece or two."""
        pieces = []
        if self.start:
            pieces.append(self.shared[layer][part][..., : min(self.start, end), :])
        if end > self.start:
            pieces.append(self.own[layer][part][..., : end - self.start, :])
        return tuple(pieces)


@dataclass(frozen=True, slots=True)
class _Job:
    """A request to run: its tokens, and a row whose first ``start`` tokens are those of the request."""

    number: int
    request: Request
    tokens: Tokens
    base: _Row
    start: int


class HuggingFace:
    """A causal language model in `transformers`; build it with `load`."""

    def __init__(
        self, model: Any, tokenizer: ChatTokenizer, name: str, weights: Mapping[str, str], together: int = 32
    ) -> None:
        """Wrap a model.

        ``weights`` identify the weights. The attention states of at most ``together`` decisions are kept.
        """
        self._torch = library("torch", name)
        self._transformers = library("transformers", name)
        self._model = model.eval()
        self._config = model.config.get_text_config()
        self._keeps_logits = "logits_to_keep" in inspect.signature(model.forward).parameters
        self._continues = set(getattr(self._config, "layer_types", None) or _ATTENTION) <= _ATTENTION
        self._rows: dict[Tokens, _Row] = {}
        self._reference = _Row()
        self.name = f"hf:{name}"
        self.tokenizer = tokenizer
        self.together = together
        self.batch_tokens = 16384
        size = sum(part.numel() * part.element_size() for part in model.parameters())
        self.memory_mib: int = max(1024, size // 2**21)  # in addition to the weights, half of their size
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
        """Return the model in a folder, or of that name on the hub; ``called`` is its display name.

        It runs on a GPU if there is one, in the number format of its weights; on the CPU in float32. Options
        are `device`, `tokenizer` (another folder or name), the numbers `together` and `memory_mib` of this
        class, and the arguments of the model's `from_pretrained`, such as `dtype`, `revision`, `device_map`
        and `quantization_config`. Raise `InputError` for others, and `ModelError` if there is no such model
        or the libraries are not installed.
        """
        torch = library("torch", name)
        transformers = library("transformers", name)
        given = dict((options or EngineOptions()).values)
        own = {key: given.pop(key) for key in _OWN if key in given}
        where = own.get("device") or ("cuda" if torch.cuda.is_available() else "cpu")
        given.setdefault("dtype", "float32" if where == "cpu" else "auto")
        revision = given.get("revision")
        tokenizer = ChatTokenizer.load(
            str(own.get("tokenizer", name)), None if "tokenizer" in own else revision
        )
        transformers.utils.logging.disable_progress_bar()
        with refusing("transformers"):
            model = reporting(name, lambda: transformers.AutoModelForCausalLM.from_pretrained(name, **given))
        if not {"device_map", "quantization_config"} & given.keys():  # these place the weights
            model = model.to(where)
        commit = getattr(model.config, "_commit_hash", None)
        identity = {**weights_identity(name, commit), **EngineOptions(given).identity(_IRRELEVANT)}
        backend = cls(model, tokenizer, called or name, identity)
        for key in ("together", "memory_mib"):
            if key in own:
                setattr(backend, key, at_least_one(f"--engine-option {key}", own[key]))
        return backend

    def next_logprobs(self, requests: Sequence[Request]) -> Iterator[tuple[int, Sequence[float]]]:
        """Yield the log-probabilities of each request; see `backend.Backend`."""
        jobs = [self._job(number, request) for number, request in enumerate(requests)]
        while jobs:
            if shared := self._unshared(jobs):
                yield from self._run([shared])
                if row := self._rows.get(shared.request.prompt):
                    self._reference = self._alone(row)
                jobs = [self._job(job.number, job.request) for job in jobs if job is not shared]
                continue
            for batch in self._batches(jobs):
                yield from self._run(batch)
            break

    def unforced(self, answers: Sequence[Written]) -> Iterator[tuple[int, Unforced]]:
        """Yield the comparison of each call with greedy decoding; see `backend.Unconstrained`.

        It takes one pass over the tokens of each call, from the kept states of its prompt.
        """
        torch = self._torch
        for number, (prompt, tokens) in enumerate(answers):
            job = self._job(number, Request(prompt, (), ()))
            if self._continues and len(prompt) - job.start > _MIN_TOKENS:
                list(self._run([job]))  # its states were evicted
                job = self._job(number, job.request)
            options: dict[str, Any] = {"use_cache": False}
            if job.start:
                options |= {"past_key_values": self._past([job], job.start), "use_cache": True}
            if self._keeps_logits:
                options["logits_to_keep"] = len(tokens)
            rest = [*prompt[job.start :], *tokens[:-1]]
            with torch.inference_mode():
                ids = torch.tensor([rest], device=self._model.device)
                logits = self._model(input_ids=ids, **options).logits[0, -len(tokens) :]
                written = torch.tensor(tokens, device=logits.device)
                logprob = float(logits.double().log_softmax(-1).gather(-1, written[:, None]).sum())
            yield number, unforced(tokens, logits.argmax(-1).tolist(), self.tokenizer.spelled, logprob)

    def raw_logprobs(self, request: Request) -> list[float]:
        """Return the log-probabilities of one request, by one plain forward pass without caches."""
        tokens = (*request.prompt, *request.path)
        [(_, logprobs)] = self._forward([_Job(0, request, tokens, _Row(), 0)], keep=False)
        return logprobs

    def _job(self, number: int, request: Request) -> _Job:
        """Return the request as a job that continues from the row with the longest common prefix.

        At least one token is left to run.
        """
        tokens = (*request.prompt, *request.path)
        base = self._rows.get(request.prompt, self._reference)
        start = min(common_length(base.tokens, tokens), len(tokens) - 1)
        return _Job(number, request, tokens, base, start if self._continues else 0)

    def _unshared(self, jobs: Sequence[_Job]) -> _Job | None:
        """Return a job whose prompt should run first, so that the others continue from it, or None."""
        fresh = [job for job in jobs if job.request.prompt not in self._rows]
        if not fresh or not self._continues:
            return None
        common = min(common_length(fresh[0].tokens, job.tokens) for job in fresh)
        covered = min(job.start for job in fresh)
        return fresh[0] if covered < min(common, len(fresh[0].tokens) - 1) // 2 else None

    def _batches(self, jobs: Iterable[_Job]) -> Iterator[list[_Job]]:
        """Yield jobs that run together: with equally long states before them, and a bounded number of tokens.

        Prompts that continue from the reference all start at the shortest common prefix with it.
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
                if batch and not self._fit(len(batch) + 1, len(job.tokens), start):
                    yield batch
                    batch = []
                batch.append(job)
            yield batch

    def _fit(self, rows: int, length: int, start: int) -> bool:
        """Return True if this number of sequences may run together from ``start`` to a ``length``."""
        states = rows * length * self._state_bytes
        logits = rows * rows * self._config.vocab_size * 4
        few = rows * (length - start) <= self.batch_tokens
        return few and 2 * states + 4 * logits <= self._for_a_pass

    @property
    def _for_a_pass(self) -> int:
        """The memory of one pass in bytes: half of the total. The other half is for kept states."""
        return self.memory_mib * 2**19

    @cached_property
    def _state_bytes(self) -> int:
        """The size in bytes of the attention states after one token."""
        config = self._config
        heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        size: int = self._model.dtype.itemsize
        return 2 * int(config.num_hidden_layers) * int(heads) * int(width) * size

    def _piece(self, rows: int, length: int) -> int:
        """Return the number of tokens of each sequence that are run at one time."""
        config = self._config
        scores = 2 * 4 * int(config.num_attention_heads) * length  # as scores, and again as probabilities
        inner = 4 * 4 * int(getattr(config, "intermediate_size", None) or 4 * config.hidden_size)
        left = self._for_a_pass - 2 * rows * length * self._state_bytes
        return max(_MIN_TOKENS, left // (rows * (scores + inner)))

    def _run(self, batch: Sequence[_Job]) -> Iterator[tuple[int, Sequence[float]]]:
        return iter(self._forward(batch, keep=self._continues))

    def _forward(self, batch: Sequence[_Job], *, keep: bool) -> list[tuple[int, list[float]]]:
        """Return the answers to jobs with the same start; with ``keep`` their states are kept as rows."""
        torch, start = self._torch, batch[0].start
        device = self._model.device
        rests = [job.tokens[start:] for job in batch]
        width = max(map(len, rests))
        ids = torch.tensor([[*rest, *[rest[-1]] * (width - len(rest))] for rest in rests], device=device)
        piece = self._piece(len(batch), start + width) if keep else width
        past = self._past(batch, start) if start else None
        results: list[tuple[int, list[float]]] = []
        with torch.inference_mode():
            for first in range(0, width, piece):
                here = {i: len(rest) - 1 - first for i, rest in enumerate(rests)}
                here = {i: end for i, end in here.items() if 0 <= end < piece}
                ends = sorted(set(here.values())) or [0]
                options: dict[str, Any] = {"use_cache": keep}
                if past is not None:
                    options["past_key_values"] = past
                if self._keeps_logits:
                    options["logits_to_keep"] = torch.tensor(ends, device=device)
                output = self._model(input_ids=ids[:, first : first + piece], **options)
                past = output.past_key_values if keep else None
                for i, end in here.items():
                    logits = output.logits[i, ends.index(end) if self._keeps_logits else end].float()
                    logprobs = logits[list(batch[i].request.allowed)] - logits.logsumexp(-1)
                    results.append((batch[i].number, logprobs.tolist()))
                del output
            if keep:
                self._keep(batch, past)
        return results

    def _past(self, batch: Sequence[_Job], start: int) -> Any:
        """Return the states of the first ``start`` tokens of every job, as one cache."""
        torch = self._torch
        layers = range(int(self._config.num_hidden_layers))
        bases = [job.base for job in batch]
        same = all(base is bases[0] for base in bases)

        def joined(layer: int, part: int) -> Tensor:
            rows = [_joined(torch, base.until(start, layer, part)) for base in (bases[:1] if same else bases)]
            return rows[0].expand(len(batch), -1, -1, -1) if same else torch.cat(rows)

        return self._transformers.DynamicCache([(joined(i, 0), joined(i, 1)) for i in layers])

    def _keep(self, batch: Sequence[_Job], cache: Any) -> None:
        """Keep the states of the jobs, and evict the oldest ones beyond the bound."""
        for i, job in enumerate(batch):
            length, base = len(job.tokens), job.base
            flat = base is self._reference  # other prompts continue from the reference too
            shared, start = (base.own, job.start) if flat else (base.shared, base.start)
            own = tuple(
                (
                    layer.keys[i : i + 1, :, start:length].clone(),
                    layer.values[i : i + 1, :, start:length].clone(),
                )
                for layer in cache.layers
            )
            self._rows.pop(job.request.prompt, None)  # so that the newest row is last
            self._rows[job.request.prompt] = _Row(job.tokens, own, shared if start else (), start)
        while len(self._rows) > 1 and (len(self._rows) > self.together or self._kept > self._for_a_pass):
            del self._rows[next(iter(self._rows))]
        if self._kept > self._for_a_pass and all(
            row.shared is not self._reference.own for row in self._rows.values()
        ):
            self._reference = _Row()  # its states were shared only by evicted prompts

    @property
    def _kept(self) -> int:
        """The size in bytes of the kept states."""
        rows = (*self._rows.values(), self._reference)
        own = sum(len(row.tokens) - row.start for row in rows)
        shared = {id(row.shared): row.shared[0][0].shape[-2] for row in rows if row.shared}
        shared.pop(id(self._reference.own), None)
        return int(own + sum(shared.values())) * self._state_bytes

    def _alone(self, row: _Row) -> _Row:
        """Return the row with all of its states as its own."""
        if not row.start:
            return row
        torch, end = self._torch, len(row.tokens)
        layers = range(len(row.own))
        return _Row(
            row.tokens,
            tuple(
                (_joined(torch, row.until(end, i, 0)), _joined(torch, row.until(end, i, 1))) for i in layers
            ),
        )


def _joined(torch: Any, pieces: Sequence[Tensor]) -> Tensor:
    return pieces[0] if len(pieces) == 1 else torch.cat(pieces, dim=-2)


def weights_identity(name: str, revision: str | None) -> dict[str, str]:
    """Return the identity of the weights: a digest for a folder, name and commit for a model of the hub."""
    folder = Path(name)
    if folder.is_dir():
        files = [path for path in folder.iterdir() if path.suffix in _WEIGHTS]
        return {
            "weights": digest_files(files),
            "config": digest((folder / "config.json").read_text(encoding="utf-8")),
        }
    return {"model": name, "revision": revision or "unknown"}
