"""A report of `stead-sym conform --json`: read it, and refuse it if file or system have changed since."""

from __future__ import annotations

import inspect
import os
import sys
import sysconfig
from collections.abc import Collection
from functools import partial
from pathlib import Path
from types import ModuleType

from msgspec import Struct, ValidationError, convert

from stead_sym.agents.records.digest import digest_file
from stead_sym.conformance.binding import Binding
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.files import load_json
from stead_sym.errors import InputError
from stead_sym.evidence.data import text_digest
from stead_sym.verification.hypotheses import Hypothesis

NAME = "compared with the running system"
"""The hypothesis of a verification that was given a report."""


class ReportData(Struct):
    """The part of a report that identifies the compared file and system."""

    agrees: bool
    complete: bool
    states: int
    calls: int
    unbound: list[str]
    deployment: str
    sources: dict[str, str]
    interleaved: int | None = None


def sources_of(binding: Binding, module: ModuleType, read: Collection[Path] = ()) -> dict[str, str]:
    """Return the digests of the files that a binding and its tools are made of, by path.

    These are the Python files of the module and of the functions, those of the imported modules that are in
    their packages or folders, or below, and of the files that were ``read``, such as SQL, those there or
    below the working directory; but for what is installed. A path below the working directory is relative.
    """
    functions = [*binding.tools.values(), *binding.identifiers.values(), binding.schema]
    found = [_file_of(one) for one in (module, *filter(callable, functions))]
    files = {file for path in found if path is not None and not _is_installed(file := Path(path).resolve())}
    folders = {_package_of(file) for file in files}
    imported = [getattr(sys.modules[name], "__file__", None) or "" for name in list(sys.modules)]
    for file in {Path(path).resolve() for path in imported if path.endswith(".py")}:
        if any(_is_own(file, folder) for folder in folders):
            files.add(file)
    here = Path(os.getcwd()).resolve()
    for file in read:
        if file.suffix != ".pyc" and any(_is_own(file, folder) for folder in (*folders, here)):
            files.add(file)
    named = {file.relative_to(here) if file.is_relative_to(here) else file: file for file in files}
    return {path.as_posix(): digest_file(file) for path, file in sorted(named.items())}


def _package_of(file: Path) -> Path:
    """Return the folder of the outermost package that a file is in, or else its folder."""
    folder = file.parent
    while (folder / "__init__.py").is_file() and (folder.parent / "__init__.py").is_file():
        folder = folder.parent
    return folder


def _is_installed(file: Path) -> bool:
    """Return True if a file is of an installed package or of Python's own library."""
    library = Path(sysconfig.get_path("stdlib")).resolve()
    return "site-packages" in file.parts or file.is_relative_to(library)


def _is_own(file: Path, folder: Path) -> bool:
    """Return True if a file is in a folder or below, and of no installed package there."""
    return file.is_relative_to(folder) and "site-packages" not in file.relative_to(folder).parts


def _file_of(one: object) -> str | None:
    """Return the Python file of a module or a function, None if it has none."""
    while isinstance(one, partial):
        one = one.func
    try:
        return inspect.getsourcefile(inspect.unwrap(one))  # type: ignore[arg-type]
    except TypeError:  # an object that can be called: its class says what it does
        return inspect.getsourcefile(type(one)) if type(one).__module__ != "builtins" else None


def conformed(deployment: Deployment, report: str) -> Hypothesis:
    """Return the hypothesis that a report establishes of a deployment.

    Raise `InputError` if it is no report, if file and system differ by it, or if the file or the code of the
    system has changed since.
    """
    again = "run stead-sym conform again"
    try:
        data = convert(load_json(report, "a report of `stead-sym conform --json`"), ReportData)
    except ValidationError as error:
        raise InputError(f"{report}: not a report of `stead-sym conform --json` ({error})") from None
    if not data.agrees:
        raise InputError(f"{report}: file and system differ by this report; mend one, and {again}")
    if data.deployment != text_digest(deployment):
        raise InputError(f"{report} was produced from a different version of the deployment; {again}")
    for name, digest in data.sources.items():
        try:
            same = digest_file(Path(name)) == digest
        except OSError:
            raise InputError(
                f"{report}: {name} cannot be read, which the system was made of; {again}, in this folder"
            ) from None
        if not same:
            raise InputError(f"{report}: {name} has changed since the comparison; {again}")
    pairs = f", {data.interleaved:,} pairs at the same time" if data.interleaved is not None else ""
    which = "all that it reaches within its bounds" if data.complete else "the smallest, not all"
    unbound = f"; not run: {', '.join(data.unbound)}" if data.unbound else ""
    how = f"on {data.states:,} states ({which}), {data.calls:,} calls{pairs}{unbound}"
    return Hypothesis(NAME, "established", how, "system")
