"""A language model from the words of a command line, such as `hf:MODEL`.

The decision: nothing of a backend is imported before its kind is asked for.
"""

from __future__ import annotations

import os
from pathlib import Path

from stead_sym.agent.models.agent import Backend
from stead_sym.agent.records.store import Store
from stead_sym.errors import InputError, StoreError

KINDS = ("hf:MODEL", "vllm:MODEL", "vllm:http://HOST:PORT#MODEL")
"""What `open_backend` takes. MODEL is a folder, or the name of a model on the Hugging Face hub; behind an
address, the name that the server has for it."""


def open_backend(words: str, *, dtype: str | None = None) -> Backend:
    """The backend that ``words`` name. Raises `InputError` for other words, `ModelError` from the backend."""
    kind, _, model = words.partition(":")
    if kind == "hf" and model:
        from stead_sym.agent.models.huggingface import HuggingFace

        return HuggingFace.load(model, dtype=dtype)
    if kind == "vllm" and model.startswith(("http://", "https://")):
        from stead_sym.agent.models.vllm_server import VllmServer

        return VllmServer.load(model)
    if kind == "vllm" and model:
        from stead_sym.agent.models.vllm_offline import VllmOffline

        return VllmOffline.load(model, dtype=dtype)
    raise InputError(f"unknown agent {words!r}; write any, or a model as {' or '.join(KINDS)}")


def open_store(path: str | None = None, *, create: bool = True) -> Store:
    """The store in a file; by default the user's own. It is made where there is none, unless ``create`` is
    False: then another file has to be there already, and the user's own is taken to be empty."""
    if path is not None:
        return Store(path, create=create)
    home = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    folder = Path(home, "stead-sym")
    file = folder / "decisions.sqlite"
    if not create:
        return Store(file, create=False) if file.exists() else Store()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder}: {error.strerror}; name a store with --store") from None
    return Store(file)
