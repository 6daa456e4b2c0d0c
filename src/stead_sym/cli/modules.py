"""Import and run code of the user: an agent, the tools of a system, a binding.

One decision: the interpreter reports each file that this code opens (`sys.addaudithook`), since a binding
reads them in ways of its own. Such a hook cannot be removed; it does nothing unless files are to be noted.
What C code opens, such as the file of an SQLite database, is not reported.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import cache, reduce
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from stead_sym.errors import InputError
from stead_sym.logic.names import nearest
from stead_sym.support.printable import one_line

if TYPE_CHECKING:
    from stead_sym.conformance.binding import Binding


_STDOUT, _STDERR = 1, 2

_noted: list[tuple[dict[str, None], dict[str, None]]] = []
"""For each user that notes files, innermost last, those that were opened to read and to write."""


def user_module(word: str, module: str) -> ModuleType:
    """Return a module; it, and what it imports later, is searched in the current folder first.

    Raise `InputError`, which names the ``word`` of the command line, if there is no such module or it cannot
    be imported.
    """
    if (folder := os.getcwd()) not in sys.path:
        sys.path.insert(0, folder)
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise _unloadable(word, error) from error
        raise InputError(
            f"{word}: there is no module {error.name} in this folder or installed; name one"
        ) from None
    except (Exception, SystemExit) as error:  # any exception of the user's module is reported, and chained
        raise _unloadable(word, error) from error


def user_object(word: str, module: str, path: str) -> Any:
    """Return the object at a dotted path in a module; see `user_module`.

    Raise `InputError` if there is none.
    """
    loaded = user_module(word, module)
    try:
        return reduce(getattr, path.split("."), loaded)
    except AttributeError:
        hint = nearest(path, vars(loaded), "name what it has")
        raise InputError(f"{word}: the module {module} has no {path}; {hint}") from None


def user_binding(words: str) -> tuple[Binding, ModuleType]:
    """Return the binding that a module holds, and the module; raise `InputError` if there is none."""
    from stead_sym.conformance.binding import Binding

    module, _, name = words.partition(":")
    found = user_module(words, module)
    if not name and not hasattr(found, "binding"):
        raise InputError(
            f"{words}: the module {module} has no binding; write one there, `binding = Binding(…)`, or name"
            " another: MODULE:NAME"
        )
    binding = user_object(words, module, name or "binding")
    if not isinstance(binding, Binding):
        raise InputError(f"{words}: {name or 'binding'} is no Binding; name one: MODULE:NAME")
    return binding, found


def _unloadable(word: str, error: BaseException) -> InputError:
    what = one_line(f"{type(error).__name__}: {error}".removesuffix(": "))
    return InputError(f"{word}: the module cannot be imported: {what}; mend it")


@contextmanager
def prints_to_stderr() -> Iterator[None]:
    """Send stdout to stderr meanwhile, also that of subprocesses and of libraries in C.

    So stdout has the report alone.
    """
    try:
        is_own = sys.stdout.fileno() == _STDOUT
    except (OSError, AttributeError):  # another stream stands for it
        is_own = False
    if not is_own:
        with redirect_stdout(sys.stderr):
            yield
        return
    sys.stdout.flush()
    kept = os.dup(_STDOUT)
    os.dup2(_STDERR, _STDOUT)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, _STDOUT)
        os.close(kept)


@contextmanager
def files_read() -> Iterator[Collection[Path]]:
    """Yield a collection of the files that are read meanwhile and not written; it is complete at the end."""
    _hook()
    read, written = dict[str, None](), dict[str, None]()
    found: set[Path] = set()
    _noted.append((read, written))
    try:
        yield found
    finally:
        _noted.remove((read, written))
        found |= {Path(name).resolve() for name in read if name not in written and os.path.isfile(name)}


@cache
def _hook() -> None:
    """Have opened files noted, in this process once."""
    sys.addaudithook(_note)


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if event != "open" or not _noted:
        return
    name, mode, flags = arguments
    if not isinstance(name, str | bytes):
        return
    if isinstance(mode, str):
        writes = any(letter in mode for letter in "wax+")
    else:
        writes = isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))
    path = os.path.abspath(os.fsdecode(name))
    for read, written in _noted:
        (written if writes else read)[path] = None
