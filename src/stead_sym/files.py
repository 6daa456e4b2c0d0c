"""Deployments by file or by name.

One decision: a file that exists is that file; any other plain name is one of the packaged examples.
"""

from __future__ import annotations

from importlib.resources import files
from os.path import isfile
from pathlib import Path

from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.language import parse_deployment, read_text
from stead_sym.errors import InputError

_SUFFIX = ".stead"


def packaged_examples() -> tuple[str, ...]:
    """The names of the packaged examples."""
    entries = files("stead_sym").joinpath("examples").iterdir()
    return tuple(sorted(e.name.removesuffix(_SUFFIX) for e in entries if e.name.endswith(_SUFFIX)))


def load(source: str | Path) -> Deployment:
    """The deployment in a `.stead` file, or a packaged example by its name.

    Raises `InputError`: where there is neither, and, as `ParseError` or `DeclarationError`, where the
    text is no deployment.
    """
    return parse_deployment(*load_text(source))


def load_text(source: str | Path) -> tuple[str, str]:
    """The text that `load` parses, and the name that stands for it in messages."""
    path = Path(source)
    if isfile(path):
        return read_text(path), str(path)
    if str(source) in packaged_examples():
        example = files("stead_sym").joinpath("examples", f"{source}{_SUFFIX}")
        return example.read_text(encoding="utf-8"), f"{source}{_SUFFIX}"
    if path.name != str(source) or path.suffix:
        return read_text(source), str(source)  # which raises, since there is no such file
    raise InputError(
        f"{source}: neither a file nor a packaged example; give the path of a {_SUFFIX} file, or one of "
        + ", ".join(packaged_examples())
    )
