"""Open the backend that a command line names, such as `smollm2` or `hf:MODEL`.

The decision: the modules of a backend are imported only when its kind is requested.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from stead_sym.errors import InputError
from stead_sym.logic.names import nearest
from stead_sym.models.catalogue import CATALOGUE, WEIGHTS, Say, fetched
from stead_sym.models.engine_options import EngineOptions
from stead_sym.support.printable import without_credentials

if TYPE_CHECKING:
    from stead_sym.models.backend import Backend
    from stead_sym.models.connection import Patience

KINDS = (*CATALOGUE, "hf:MODEL", "vllm:MODEL", "vllm:http://HOST:PORT#MODEL", "llama:FILE.gguf")
"""The names that `open_backend` accepts.

MODEL is a folder, or the name of a model on the Hugging Face hub or in the catalogue; after an address, the
name under which the server has it.
"""
CHAT_KIND = "openai:http://HOST/v1#MODEL"
"""The name of a model behind a chat interface, which is no backend: its tokens are not decoded here."""


def open_backend(
    words: str,
    options: EngineOptions | None = None,
    *,
    say: Say = lambda line: None,
    patience: Patience | None = None,
    in_flight: int | None = None,
) -> Backend:
    """Return the backend that ``words`` name.

    ``say`` is called with a line before a long operation, such as fetching a model. ``patience`` and
    ``in_flight`` apply to servers.

    Raise `InputError` for other words and for options that the engine does not support, `ModelError` from
    the backend.
    """
    options = options or EngineOptions()
    kind, _, model = words.partition(":")
    if words in CATALOGUE or (kind == "llama" and model):
        from stead_sym.models.convert import llama_library
        from stead_sym.models.llama_cpp import LlamaCpp

        llama_library(words)  # before anything is fetched
        named = CATALOGUE.get(words)
        file = fetched(named, say) / WEIGHTS if named else Path(model)
        return LlamaCpp.load(file, options, name=words if named else None, say=say)
    if kind == "hf" and model:
        from stead_sym.models.huggingface import HuggingFace

        return HuggingFace.load(_folder(model, "hf", say), options, called=model)
    if is_server(words):
        from stead_sym.models.vllm_server import IN_FLIGHT, VllmServer

        options.check({"tokenizer"}, "a server")
        own = options.values.get("tokenizer")
        tokenizer = None if own is None else str(own)
        return VllmServer.load(
            model, tokenizer=tokenizer, patience=patience, in_flight=in_flight or IN_FLIGHT
        )
    if kind == "vllm" and model:
        from stead_sym.models.vllm_offline import VllmOffline

        return VllmOffline.load(_folder(model, "vllm", say), options, called=model)
    shown = without_credentials(words)
    others = "or an agent of another kind as python:MODULE:OBJECT or openai:http://HOST/v1#MODEL"
    listed = f"write any, or a model as {' or '.join(KINDS)}, {others}"
    raise InputError(f"unknown agent {shown!r}; {nearest(words, CATALOGUE, listed)}")


def is_server(words: str) -> bool:
    """Return True if the words are those of one or several vLLM servers."""
    return words.startswith(("vllm:http://", "vllm:https://"))


def _folder(model: str, extra: str, say: Say) -> str:
    """Return the folder of a model of the catalogue, as safetensors; any other name unchanged."""
    if model not in CATALOGUE or os.path.isdir(model):
        return model
    from stead_sym.models.convert import needs_to_convert, safetensors_folder

    needs_to_convert(model, extra)  # before anything is fetched
    named = CATALOGUE[model]
    return str(safetensors_folder(fetched(named, say) / WEIGHTS, named.weights_digest, model, extra, say))
