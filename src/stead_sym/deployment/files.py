"""Load deployments by file or by name.

One decision: the path of an existing file stands for that file, `-` for the text on stdin, and any other
plain name for the packaged example of that name.
"""

from __future__ import annotations

import json
import sys
from importlib.resources import files
from os.path import exists, isfile
from pathlib import Path

from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.language import decoded, parse_deployment, read_text
from stead_sym.errors import InputError
from stead_sym.logic.names import nearest

_SUFFIX = ".stead"


def packaged_examples() -> tuple[str, ...]:
    """Return the names of the packaged examples."""
    entries = files("stead_sym").joinpath("examples").iterdir()
    return tuple(sorted(e.name.removesuffix(_SUFFIX) for e in entries if e.name.endswith(_SUFFIX)))


def packaged_text(name: str) -> str:
    """Return the text of a packaged example, with its comments; raises `InputError` for an unknown name."""
    if name not in packaged_examples():
        hint = nearest(name, packaged_examples(), "")
        raise InputError(
            f"{name or repr('')}: no packaged example;{' ' * bool(hint)}{hint}"
            f" name one of {', '.join(packaged_examples())}"
        )
    return files("stead_sym").joinpath("examples", f"{name}{_SUFFIX}").read_text(encoding="utf-8")


def load(source: str | Path) -> Deployment:
    """Return the deployment of a `.stead` file, of a packaged example by its name, or with `-` of stdin.

    Files that it reads are relative to the file, or, for a text on stdin, to the working directory. Raises
    `InputError` if there is neither, and `ParseError` or `DeclarationError`, which are such errors, if the
    text is no deployment.
    """
    text, name = load_text(source)
    return parse_deployment(text, name, Path(name).parent)


def load_text(source: str | Path) -> tuple[str, str]:
    """Return the text that `load` parses, and the name that stands for it in messages."""
    path = Path(source)
    if str(source) == "-":
        return _stdin(), "<stdin>"
    if isfile(path):
        return read_text(path), str(path)
    if str(source) in packaged_examples():
        return packaged_text(str(source)), f"{source}{_SUFFIX}"
    if path.name == str(source) and not path.suffix:
        if path.name and isfile(beside := path.with_suffix(_SUFFIX)):
            raise InputError(f"{source}: neither a file nor a packaged example; did you mean {beside}?")
        hint = nearest(str(source), packaged_examples(), "")
        raise InputError(
            f"{str(source) or repr('')}: neither a file nor a packaged example;{' ' * bool(hint)}{hint}"
            f" give the path of a {_SUFFIX} file, or one of {', '.join(packaged_examples())}"
        )
    if not exists(path) and path.name in {f"{name}{_SUFFIX}" for name in packaged_examples()}:
        raise InputError(
            f"{source}: cannot be read (there is no such file); the packaged example is {path.stem}"
        )
    if not exists(path) and (hint := nearest(path.stem, _beside(path), "")):
        hint = f"{hint.removesuffix('?')}{_SUFFIX}?"
        raise InputError(f"{source}: cannot be read (there is no such file); {hint}")
    return read_text(source), str(source)  # which raises, since no text can be read there


def load_json(source: str, what: str) -> object:
    """Return the JSON in a file, or with `-` on stdin.

    Raises `InputError` if there is none; the message names ``what`` is expected.
    """
    path = Path(source)
    try:
        text = _stdin() if source == "-" else decoded(path.read_bytes(), source)
        found: object = json.loads(text)
    except OSError as error:
        raise InputError(f"{source}: cannot be read ({error.strerror or error}); give {what}") from None
    except json.JSONDecodeError as error:
        place = f"{source}:{error.lineno}:{error.colno}"
        raise InputError(f"{place}: no JSON ({error.msg}); give {what}") from None
    except (ValueError, RecursionError) as error:  # a number too long, or nested too deep
        raise InputError(f"{source}: no JSON that can be read ({error}); give {what}") from None
    return found


def _stdin() -> str:
    """Return the text on stdin; raises `InputError` if it is closed, or not in UTF-8."""
    if sys.stdin is None or sys.stdin.closed:
        raise InputError("<stdin>: nothing comes in; give the path of a file, or pipe the text in")
    return decoded(sys.stdin.buffer.read(), "<stdin>")


def _beside(path: Path) -> list[str]:
    """Return the names of the deployments in the folder of the path, without their suffix."""
    try:
        return [entry.stem for entry in path.parent.iterdir() if entry.suffix == _SUFFIX]
    except OSError:
        return []
