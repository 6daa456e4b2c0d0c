"""A backend that runs GGUF files in this process with llama.cpp, without torch or a server.

The decision: the logits after a sequence of tokens are a function of that sequence alone, bit for bit,
independently of earlier requests. A sequence is run in blocks of one fixed length, one sequence at a time;
the attention states of whole blocks are kept for the next sequence that starts with the same blocks, and the
rest is recomputed.

Weights are widened to 32 bits unless `dtype` is given, since llama.cpp rounds activations to 8 bits for
quantized weights: its log-probabilities then have errors of 0.1, and depend on the block's length. With 32
bits they agree with `transformers` to 1e-4, and do not depend on the number of threads.

The tokenizer and the chat template of the file need no `transformers` either. A template is untrusted text,
so it runs in Jinja's sandbox. It gets the variables that `transformers` provides, except the clock: a prompt
is a function of its messages.
"""

from __future__ import annotations

import inspect
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from stead_sym.agents.prompts.prompt import Message
from stead_sym.agents.records.digest import digest, digest_file
from stead_sym.agents.records.possible import Tokens
from stead_sym.agents.records.said import Unforced
from stead_sym.errors import InputError, ModelError
from stead_sym.models.backend import Request, Written, common_length, unforced
from stead_sym.models.catalogue import Say
from stead_sym.models.control_tokens import ControlTokens
from stead_sym.models.convert import float32_gguf, llama_library
from stead_sym.models.encoding import Encoded
from stead_sym.models.engine_options import EngineOptions
from stead_sym.models.tokenizer import library

BLOCK = 32
"""The number of tokens that are run together."""
_FIRST_WINDOW = 2048
_CONTROL, _ADDED = 8, 16  # LLAMA_TOKEN_ATTR_CONTROL, LLAMA_TOKEN_ATTR_USER_DEFINED
_FLOAT32, _OFF = 0, 0  # GGML_TYPE_F32, LLAMA_FLASH_ATTN_TYPE_DISABLED
_OWN = frozenset({"n_ctx", "n_batch", "n_ubatch", "n_seq_max", "embeddings", "vocab_only", "no_alloc"})
"""Parameters of llama.cpp that the backend itself sets."""
_IRRELEVANT = frozenset(
    {"dtype", "n_threads", "n_threads_batch", "use_mmap", "use_mlock", "use_direct_io", "no_perf"}
)
"""Options that do not affect the answer, or are in the identity under another name."""


class LlamaCpp:
    """A language model in a GGUF file; build it with `load`."""

    together = 1

    def __init__(self, llama: Any, model: Any, name: str, identity: Mapping[str, str], context: Any) -> None:
        """Wrap a loaded model.

        ``llama`` is the library's module, ``model`` its model, ``context`` the parameters to run it with.
        """
        self._llama = llama
        self._model = model
        self._parameters = context
        self._context: Any = None
        self._batch = llama.LlamaBatch(n_tokens=BLOCK, embd=0, n_seq_max=1)
        self._room = 0
        self._kept: Tokens = ()
        self.name = name
        self.tokenizer = LlamaTokenizer(model, name)
        self.window = int(model.n_ctx_train)
        self.identity = {"engine": "llama.cpp", **identity, **self.tokenizer.identity, "block": str(BLOCK)}
        self.versions = {"cyllama": version("cyllama"), "ggml": llama.ggml_version()}

    @classmethod
    def load(
        cls,
        file: str | Path,
        options: EngineOptions | None = None,
        *,
        name: str | None = None,
        say: Say = lambda line: None,
    ) -> LlamaCpp:
        """Return the model in a GGUF file; ``name`` is its display name, by default `llama:FILE`.

        Options are `dtype`: `float32` (the default), or `auto` for the weights as in the file, and the
        parameters of llama.cpp's models and contexts by their own names, such as `n_threads` (half the cores
        by default). Raise `InputError` for others, and `ModelError` if there is no such file, it is not a
        chat model, or the library is not installed.
        """
        name = name or f"llama:{file}"
        options = options or EngineOptions({})
        llama = llama_library(name)
        kinds = (llama.LlamaModelParams(), llama.LlamaContextParams())
        known = {option: target for target in kinds for option in _settable(target) - _OWN}
        options.check({"dtype", *known}, f"llama.cpp, {version('cyllama')}")
        dtype = options.values.get("dtype", "float32")
        if dtype not in ("float32", "auto"):
            raise InputError(f"dtype={dtype}: llama.cpp runs a file in float32, or with dtype=auto as it is")
        _set_up(kinds, known, options)
        path = Path(file)
        if not path.is_file():
            raise ModelError(f"{path}: no such file; name a GGUF file, or get one: `stead-sym models list`")
        weights = digest_file(path)
        run = float32_gguf(path, weights, say) if dtype == "float32" else path
        try:
            model = _model_class(llama)(str(run), kinds[0], False)
        except (OSError, ValueError) as error:
            why = str(error).split(". ")[0]
            raise ModelError(f"{path}: llama.cpp cannot load it: {why}; use a whole GGUF file") from None
        identity = {"weights": weights, "dtype": str(dtype), **options.identity(_IRRELEVANT)}
        return cls(llama, model, name, identity, kinds[1])

    def next_logprobs(self, requests: Sequence[Request]) -> Iterator[tuple[int, Sequence[float]]]:
        """Yield the log-probabilities of each request; see `backend.Backend`.

        Requests with a common prefix are run one after the other.
        """
        for number, (prompt, path, allowed) in sorted(enumerate(requests), key=lambda pair: pair[1][:2]):
            [logits] = self._logits((*prompt, *path), 1)
            total = _total(logits)
            yield number, [logits[token] - total for token in allowed]

    def unforced(self, answers: Sequence[Written]) -> Iterator[tuple[int, Unforced]]:
        """Yield the comparison of each call with greedy decoding; see `backend.Unconstrained`.

        It takes one pass over the tokens of each call.
        """
        for number, (prompt, tokens) in enumerate(answers):
            choices: list[int] = []
            logprob = 0.0
            for token, logits in zip(tokens, self._logits((*prompt, *tokens[:-1]), len(tokens)), strict=True):
                choices.append(logits.index(max(logits)))
                logprob += logits[token] - _total(logits)
            yield number, unforced(tokens, choices, self.tokenizer.spelled, logprob)

    def _logits(self, tokens: Tokens, wanted: int) -> Iterator[list[float]]:
        """Yield the logits after each of the last ``wanted`` tokens, over the whole vocabulary."""
        self._make_room(len(tokens))
        first = len(tokens) - wanted
        start = min(common_length(self._kept, tokens), first) // BLOCK * BLOCK
        self._kept = tokens[:start]
        self._context.memory_seq_rm(0, start, -1)
        for position in range(start, len(tokens), BLOCK):
            block = tokens[position : position + BLOCK]
            self._batch.clear()
            for place, token in enumerate(block, position):
                self._batch.add(token, place, [0], place >= first)
            try:
                self._context.decode(self._batch)
            except (RuntimeError, ValueError) as error:
                raise ModelError(f"{self.name}: llama.cpp fails: {error}; use another file") from None
            self._kept = tokens[: position + len(block)]
            for place in range(max(first, position), position + len(block)):
                yield self._context.get_logits_ith(place - position)

    def _make_room(self, tokens: int) -> None:
        """Ensure a context for this number of tokens; its memory grows with the longest sequence so far."""
        if tokens <= self._room:
            return
        room = max(self._room, _FIRST_WINDOW)
        while room < tokens:
            room *= 2
        if self._context is not None:
            self._context.close()
        self._parameters.n_ctx = self._room = min(room, max(self.window, tokens))
        self._kept = ()
        try:
            self._context = self._llama.LlamaContext(self._model, self._parameters)
        except (RuntimeError, ValueError) as error:
            raise ModelError(f"{self.name}: {str(error).split('. ')[0]}; shorten the prompt") from None


def _total(logits: Sequence[float]) -> float:
    """Return the logarithm of the sum of all exponentials."""
    top = max(logits)
    return top + math.log(math.fsum(math.exp(value - top) for value in logits))


def _set_up(kinds: tuple[Any, Any], known: Mapping[str, Any], options: EngineOptions) -> None:
    """Set the parameters of a model and of its contexts: the backend's, then the options."""
    model, context = kinds
    model.n_gpu_layers = 0
    context.n_batch = context.n_ubatch = BLOCK
    context.n_seq_max = 1
    context.n_threads = context.n_threads_batch = max(1, len(os.sched_getaffinity(0)) // 2)
    context.flash_attn_type = _OFF
    context.type_k = context.type_v = _FLOAT32
    for option, value in options.values.items():
        if option in known:
            try:
                setattr(known[option], option, value)
            except (TypeError, ValueError, OverflowError, AttributeError) as error:
                raise InputError(f"{option}={value}: llama.cpp does not take that: {error}") from None


def _settable(parameters: Any) -> set[str]:
    kind = type(parameters)
    return {name for name in dir(kind) if inspect.isgetsetdescriptor(getattr(kind, name))}


def _model_class(llama: Any) -> Any:
    """Return the library's class of models, with the missing attribute `n_vocab`.

    The library's contexts need the size of the vocabulary to return logits.
    """

    class Model(llama.LlamaModel):  # type: ignore[misc]
        @property
        def n_vocab(self) -> int:
            """The size of the vocabulary."""
            return int(self.get_vocab().n_vocab)

    return Model


class ChatTemplate:
    """A template in Jinja with the texts of the special tokens that it may use, such as `bos_token`."""

    def __init__(self, template: str, special: Mapping[str, str], name: str) -> None:
        """Compile a template of the model ``name``; raise `ModelError` if the text is no template."""
        library("jinja2", name, "llama")
        from jinja2.exceptions import TemplateError
        from jinja2.ext import loopcontrols
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        def refuse(message: str) -> None:
            raise TemplateError(message)

        self._wrong = TemplateError
        self._name = name
        self._special = dict(special)
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols]
        )
        environment.globals["raise_exception"] = refuse
        environment.filters["tojson"] = _as_json
        try:
            self._template = environment.from_string(template)
        except TemplateError as error:
            raise ModelError(f"{name}: its chat template is none: {error}; use another file") from None

    def text(self, messages: Sequence[Message]) -> str:
        """Return the chat as text, up to the start of the model's answer.

        Raise `ModelError` if the template rejects it.
        """
        chat = [message._asdict() for message in messages]
        try:
            text: str = self._template.render(
                messages=chat, add_generation_prompt=True, enable_thinking=False, **self._special
            )
            return text
        except self._wrong as error:
            raise ModelError(
                f"the chat template of {self._name} refuses the prompt: {error}; change the prompt's messages"
            ) from None


def _as_json(data: Any, indent: int | None = None) -> str:
    return json.dumps(data, ensure_ascii=False, indent=indent)


class LlamaVocabulary:
    """The vocabulary of a GGUF file, as `control_tokens.Vocabulary`."""

    def __init__(self, vocabulary: Any) -> None:
        self._vocabulary = vocabulary
        kinds = {number: int(vocabulary.get_attr(number)) for number in range(vocabulary.n_vocab)}
        known = {number for number, kind in kinds.items() if kind & (_CONTROL | _ADDED)}
        self.control = frozenset(number for number in known if vocabulary.get_text(number).strip())
        self.special = frozenset(number for number in self.control if kinds[number] & _CONTROL)

    def encoded(self, text: str) -> Encoded:
        """Return the tokens of a text; see `control_tokens.Vocabulary`."""
        return Encoded.of(self._vocabulary.tokenize(text, False, True), self.control)

    def plain(self, text: str) -> Tokens:
        """Return the tokens of a text without special tokens; see `control_tokens.Vocabulary`.

        Control tokens that are not special are still found in the text.
        """
        return tuple(self._vocabulary.tokenize(text, False, False))


class LlamaTokenizer:
    """The tokenizer and the chat template of a GGUF file.

    Raises `ModelError` if it has no template or no end token.
    """

    def __init__(self, model: Any, name: str) -> None:
        self._vocabulary = vocabulary = model.get_vocab()
        template = model.get_default_chat_template()
        if not template:
            raise ModelError(f"{name} has no chat template; use a file of a model that was trained to chat")
        self.end: int = vocabulary.token_eos()
        if self.end < 0:
            raise ModelError(f"{name} has no end token; use another file of this model")
        tokens = {"bos_token": vocabulary.token_bos(), "eos_token": self.end}
        special = {key: vocabulary.get_text(token) if token >= 0 else "" for key, token in tokens.items()}
        self._template = ChatTemplate(template, special, name)
        self._control = ControlTokens(LlamaVocabulary(vocabulary), name)
        self.identity: Mapping[str, str] = {"template": digest(template)}

    def prompt(self, messages: Sequence[Message]) -> Tokens:
        """Return the tokens of a chat up to the start of the model's answer.

        Text in a message never becomes a control token.
        """
        return self._control.prompt(messages, self._template.text)

    def text(self, text: str) -> Tokens:
        """Return the tokens of a text, without special ones at its ends or in it."""
        return self._control.text(text)

    def spelled(self, token: int) -> str:
        """Return the text of a token."""
        text: str = self._vocabulary.token_to_piece(token, 0, True)
        return text
