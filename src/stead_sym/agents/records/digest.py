"""One spelling of data as JSON, and the SHA-256 digests that are taken of it.

The decision: a digest is of the JSON with sorted keys and no optional spaces, so that equal data have equal
digests on every machine.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode
"""Made once: `json.dumps` with options makes an encoder for every call."""


def spelled(data: object) -> str:
    """The JSON text of ``data`` that digests are taken of; floats are spelled so that they read back
    exactly."""
    return _encode(data)


@lru_cache(maxsize=4096)
def spelled_tokens(tokens: tuple[int, ...]) -> str:
    """`spelled(tokens)`, kept for a while: the tokens of a prompt go into several digests and requests."""
    return spelled(tokens)


def joined(parts: Mapping[str, str] | Sequence[str]) -> str:
    """`spelled` of a dictionary or a list whose parts are spelled already."""
    if isinstance(parts, Mapping):
        return "{" + ",".join([f"{spelled(name)}:{parts[name]}" for name in sorted(parts)]) + "}"
    return f"[{','.join(parts)}]"


def digest(data: object) -> str:
    """SHA-256 of `spelled(data)`, in hexadecimal."""
    return digest_text(spelled(data))


def digest_text(text: str) -> str:
    """SHA-256 of a text, in hexadecimal: of its UTF-8, where halves of surrogate pairs, which JSON may spell,
    are encoded like other characters."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def digest_files(paths: Iterable[Path]) -> str:
    """SHA-256 over the names and the contents of files, in the order of their names."""
    whole = hashlib.sha256()
    for path in sorted(paths, key=lambda p: p.name):
        whole.update(spelled([path.name, digest_file(path)]).encode())
    return whole.hexdigest()


def digest_file(path: Path) -> str:
    """SHA-256 of the contents of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
