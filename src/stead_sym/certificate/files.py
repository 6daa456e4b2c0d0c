"""A certificate on disk: the directory with `certificate.json` and `diagrams.json`.

One decision: each part of the files is validated before it is used. For arbitrary files the result is a
`Certificate` or an `InputError` of one line.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypeVar

import msgspec

from stead_sym.certificate.document import (
    DIAGRAMS,
    DOCUMENT,
    FORMAT,
    VIEWS_FORMAT,
    Certificate,
    ViewsCertificate,
    digest,
    short,
)
from stead_sym.errors import InputError

T = TypeVar("T")


def read_json(path: Path) -> object:
    """Return the data in a JSON file; raise `InputError` if it cannot be read or is not JSON."""
    return _json(path, _text(path))


def write_document(directory: Path, certificate: Certificate | ViewsCertificate) -> None:
    """Write `certificate.json`."""
    data = msgspec.json.format(msgspec.json.encode(certificate), indent=1)
    (directory / DOCUMENT).write_bytes(data + b"\n")


def read_document(directory: Path) -> Certificate | ViewsCertificate:
    """Read `certificate.json`; raise `InputError` for anything that is not a certificate."""
    path = directory / DOCUMENT
    text = _text(path)
    _json(path, text)
    form = _typed(path, text, _Headed).format
    if form not in (FORMAT, VIEWS_FORMAT):
        raise InputError(
            f"{path}: the format is {form[:60]!r}; this version reads {FORMAT!r} and {VIEWS_FORMAT!r}"
        )
    certificate = _typed(path, text, Certificate) if form == FORMAT else _typed(path, text, ViewsCertificate)
    if certificate.deployment.sha256 != digest(certificate.deployment.text):
        raise _damaged(path, "the digest is not that of the deployment's text")
    return certificate


def read_diagram_data(directory: Path) -> tuple[object, str]:
    """Return the data in `diagrams.json`, and the name of the file."""
    path = directory / DIAGRAMS
    return read_json(path), str(path)


class _Headed(msgspec.Struct):
    format: str


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); give the directory of a certificate"
        ) from None
    except UnicodeDecodeError as error:
        raise _damaged(path, f"no JSON ({error.reason})") from None


def _json(path: Path, text: str) -> object:
    """Return the data of a JSON text in which no key occurs twice."""
    try:
        return json.loads(text, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, f"no JSON ({' '.join(str(error).split())[:120]})") from None


def _typed(path: Path, text: str, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _damaged(path, ascii(str(error))[1:-1][:200]) from None


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object of JSON.

    Raise `ValueError` for a key that occurs twice, because parsers differ in which value they take.
    """
    data = dict(pairs)
    if len(data) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {short(next(k for k in keys if keys.count(k) > 1))} is there twice")
    return data


def _damaged(path: Path, what: str) -> InputError:
    return InputError(f"{path}: {what}; the file is damaged, write the certificate again")
