"""The canonical JSON text of data, and its SHA-256 digests.

The decision: digests are taken of JSON with sorted keys and no optional spaces, so that equal data have equal
digests on every machine.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode
"""A shared encoder: `json.dumps` with options creates an encoder for every call."""


def spelled(data: object) -> str:
    """Return the JSON text of ``data`` for digests; floats are written so that they read back exactly."""
    return _encode(data)


@lru_cache(maxsize=4096)
def spelled_tokens(tokens: tuple[int, ...]) -> str:
    """Return `spelled(tokens)`, cached: the tokens of a prompt are part of several digests and requests."""
    return spelled(tokens)


def joined(parts: Mapping[str, str] | Sequence[str]) -> str:
    """Return `spelled` of a dictionary or a list whose parts are spelled already."""
    if isinstance(parts, Mapping):
        return "{" + ",".join([f"{spelled(name)}:{parts[name]}" for name in sorted(parts)]) + "}"
    return f"[{','.join(parts)}]"


def digest(data: object) -> str:
    """Return the SHA-256 of `spelled(data)`, in hexadecimal."""
    return digest_text(spelled(data))


def digest_text(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8, in hexadecimal.

    Unpaired surrogates, which JSON may have, are encoded like other characters.
    """
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def digest_files(paths: Iterable[Path]) -> str:
    """Return the SHA-256 over the names and the contents of files, in the order of their names."""
    whole = hashlib.sha256()
    for path in sorted(paths, key=lambda p: p.name):
        whole.update(spelled([path.name, digest_file(path)]).encode())
    return whole.hexdigest()


def digest_file(path: Path) -> str:
    """Return the SHA-256 of the contents of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
