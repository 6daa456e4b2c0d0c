"""Plans: the verifications of a sweep, read from `SWEEP.toml`.

    store = "decisions.sqlite"

    [[runs]]
    deployment = ["refund", "desk.stead"]
    agent = ["any", "baseline"]
    bounds = { case = [1, 2] }

One decision: each table `runs` is a product. Every key with a list in place of a single value is an axis, and
the runs are all combinations. Keys before the first table apply to all of them.
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

from stead_sym.analyses.sweeps.run import Run
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.language import read_text
from stead_sym.deployment.parts import AS_WRITTEN, Harness
from stead_sym.errors import InputError, SteadError
from stead_sym.logic.names import nearest
from stead_sym.support.printable import one_line

_AXES = ("deployment", "size", "agent", "gates", "calls", "prompts", "engine", "domain")
_LISTS = ("specs", "options")
_LIMITS: Mapping[str, tuple[type, ...]] = {"timeout": (int, float), "memory": (int,), "max_states": (int,)}
_RUN = (*_AXES, *_LISTS, "bounds", *_LIMITS)
_FILE = ("store", "runs", *_LISTS, *_LIMITS)
_NUMBERS = frozenset({"size"})


@dataclass(frozen=True, slots=True)
class Plan:
    """The runs of a file, and the store that they share; None stands for the user's own store."""

    runs: tuple[Run, ...]
    store: str | None = None


def read_plan(path: str | Path, harness: Harness = AS_WRITTEN) -> Plan:
    """Return the plan in a file, with all agents in the harness. Paths in it are relative to it.

    Raises `InputError` for a file that is no plan, and if a table has gates or calls of its own beside those
    of the harness.
    """
    source = str(path)
    try:
        found = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{source}: no TOML ({error}); mend it") from None
    _refuse_unknown(found, _FILE, source)
    store = found.get("store")
    if store is not None and not isinstance(store, str):
        raise InputError(f"{source}: `store` is no text; write a file, or `env NAME` for a URL")
    if store is not None and "://" in store:
        raise InputError(f"{source}: `store` is a URL; put it into a variable and write `env NAME`")
    tables = found.get("runs", [])
    if not isinstance(tables, list) or not tables or not all(isinstance(one, dict) for one in tables):
        raise InputError(f"{source}: there are no runs; write a table `[[runs]]` with a `deployment`")
    common = {name: found[name] for name in (*_LISTS, *_LIMITS) if name in found}
    folder = str(Path(path).parent)
    given = {"gates": " ".join(harness.gates)} if harness.gates else {}
    given |= {"calls": harness.calls} if harness.calls else {}
    for name, option in (("gates", "--gate"), ("calls", "--calls")):
        if name in given and any(name in table for table in tables):
            raise InputError(f"{source}: `{name}` has the {name} of runs; leave out {option}, or `{name}`")
    runs = [
        run
        for number, table in enumerate(tables, 1)
        for run in _runs({**common, **given, **table}, folder, f"{source}: runs {number}")
    ]
    return Plan(tuple(runs), store)


def _runs(table: Mapping[str, Any], folder: str, place: str) -> Iterator[Run]:
    _refuse_unknown(table, _RUN, place)
    if "deployment" not in table:
        raise InputError(f"{place}: which deployment? Write `deployment = …`")
    axes = {name: _axis(table[name], name, place) for name in _AXES if name in table}
    fixed: dict[str, Any] = {name: _words(table[name], name, place) for name in _LISTS if name in table}
    for name, kinds in _LIMITS.items():
        if name in table:
            fixed[name] = _positive(table[name], kinds, name, place)
    bounds = table.get("bounds", {})
    if not isinstance(bounds, dict):
        raise InputError(f"{place}: `bounds` is no table; write `bounds = {{ SORT = NUMBER }}`")
    numbers = [_bounds(bounds[sort], sort, place) for sort in bounds]
    for chosen in product(*axes.values()):
        given = dict(zip(axes, chosen, strict=True))
        given["deployment"] = _deployment(given["deployment"], given.get("size"), folder, place)
        for counts in product(*numbers):
            yield Run(**fixed, **given, bounds=dict(zip(bounds, counts, strict=True)), folder=folder)


def _axis(given: Any, name: str, place: str) -> list[Any]:
    """Return the texts, or numbers, of an axis; several agents of one run are a table."""
    listed = given if isinstance(given, list) else [given]
    for one in listed:
        several = name == "agent" and isinstance(one, dict) and one
        if several and all(isinstance(who, str) for who in one.values()):
            continue
        fits = (
            isinstance(one, int) and not isinstance(one, bool) if name in _NUMBERS else isinstance(one, str)
        )
        if not fits:
            what = "a number" if name in _NUMBERS else "a text"
            raise InputError(f"{place}: `{name}` has {one!r}; write {what}, or a list of them")
    if not listed:
        raise InputError(f"{place}: `{name}` is an empty list, so that there are no runs; leave it out")
    return listed


def _words(given: Any, name: str, place: str) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise InputError(f"{place}: `{name}` is no list of texts; write one")
    return tuple(given)


def _positive(given: Any, kinds: tuple[type, ...], name: str, place: str) -> Any:
    fits = isinstance(given, kinds) and not isinstance(given, bool)
    if not fits or not 0 < given < float("inf"):
        what = "a number" if float in kinds else "a whole number"
        raise InputError(f"{place}: `{name}` is {given!r}; write {what} above 0")
    return given


def _bounds(given: Any, sort: str, place: str) -> list[int]:
    listed = given if isinstance(given, list) else [given]
    for one in listed:
        if not isinstance(one, int) or isinstance(one, bool) or one < 0:
            raise InputError(f"{place}: the bound of {sort} has {one!r}; write numbers of at least 0")
    if not listed:
        raise InputError(
            f"{place}: the bound of {sort} is an empty list, so that there are no runs; leave it out"
        )
    return listed


def _deployment(word: str, size: int | None, folder: str, place: str) -> Deployment | str:
    """Return the name of a file or an example, or the deployment that `python:MODULE:FUNCTION` returns."""
    kind, _, rest = word.partition(":")
    if kind != "python":
        if size is not None:
            raise InputError(f"{place}: `size` is for a deployment `python:MODULE:FUNCTION`; leave it out")
        return word
    module, _, function = rest.partition(":")
    if (beside := os.path.abspath(folder)) not in sys.path:
        sys.path.insert(0, beside)
    try:
        make = _function(module, function)
        if make is None:
            raise InputError(f"{place}: {word} is not there; write python:MODULE:FUNCTION")
        made = make() if size is None else make(size)
    except SteadError:
        raise
    except Exception as error:  # any error of the user's module is reported, and kept as the cause
        what = one_line(f"{type(error).__name__}: {error}".removesuffix(": "))
        given = "no size" if size is None else f"size {size}"
        raise InputError(f"{place}: {word} with {given} raises {what}; mend it") from error
    if not isinstance(made, Deployment):
        raise InputError(f"{place}: {word} gives {type(made).__name__}, and no deployment")
    return made


def _function(module: str, name: str) -> Callable[..., object] | None:
    """Return a function of a module, or None if there is no such module or name."""
    try:
        loaded = import_module(module)
    except ValueError:  # the name is empty
        return None
    except ModuleNotFoundError as error:
        if f"{module}.".startswith(f"{error.name}."):
            return None
        raise  # a different module, which this one imports
    found: Callable[..., object] | None = getattr(loaded, name, None)
    return found


def _refuse_unknown(table: Mapping[str, Any], known: tuple[str, ...], place: str) -> None:
    for name in table:
        if name not in known:
            hint = nearest(name, known, f"there are {', '.join(known)}")
            raise InputError(f"{place}: unknown key `{name}`; {hint}")
