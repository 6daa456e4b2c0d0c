"""One verification of a sweep: its arguments, its key, and the job for a worker.

One decision: a run is identified by everything that its answer depends on: the deployment as text with all
its facts, the arguments of the command, limits included, the texts of prompts, the code of agents in Python,
and the version of this package. If any of these changes, it is another run that still has to be carried out.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

from stead_sym.agents.roles import ANY
from stead_sym.deployment.deployment import Deployment, print_deployment
from stead_sym.deployment.files import load
from stead_sym.deployment.harness import in_harness
from stead_sym.errors import InputError
from stead_sym.evidence.data import text_digest
from stead_sym.support.extras import own_version
from stead_sym.verification.request import Request

_NOTHING: Mapping[str, str] = MappingProxyType({})
_KILL_SECONDS = 60.0
"""The seconds past its limit after which a process that does not end by itself is killed."""


@dataclass(frozen=True, slots=True)
class Job:
    """The message to a worker: the arguments of the command, the text on its stdin, its working directory.

    ``digest`` is that of the deployment. A worker that reads the deployment itself may find a different one.
    """

    words: tuple[str, ...]
    text: str
    folder: str
    digest: str
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout: float | None = None


@dataclass(frozen=True)
class Run:
    """One verification.

    ``deployment`` is one, or a file or an example's name. ``agent`` is a policy, ``"any"``, a model such as
    ``"hf:MODEL"`` or ``"python:MODULE:NAME"``, or a mapping from agents to these. ``bounds`` replace the
    deployment's own. ``gates`` has the names of gates that the agents are behind, separated by spaces.
    ``calls`` is how they call, if not as in the deployment.
    ``prompts`` is a folder, ``options`` are further arguments of `stead-sym verify`.

    ``timeout`` (seconds), ``memory`` (MiB) and ``max_states`` (explicit engine) limit the run. ``size`` is
    for the table only. Files, and modules of agents, are relative to ``folder``.
    """

    deployment: Deployment | str
    agent: str | Mapping[str, str] = ANY
    specs: tuple[str, ...] = ()
    gates: str | None = None
    calls: str | None = None
    prompts: str | None = None
    engine: str | None = None
    domain: str | None = None
    bounds: Mapping[str, int] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    timeout: float | None = None
    memory: int | None = None
    max_states: int | None = None
    size: int | None = None
    folder: str = "."

    @cached_property
    def built(self) -> Deployment:
        """The deployment, with the bounds of the run. Raises `InputError`."""
        whole = self.deployment if isinstance(self.deployment, Deployment) else _loaded(self._file)
        if unknown := sorted(self.bounds.keys() - whole.bounds.keys()):
            raise InputError(
                f"{whole.name} has no unbounded sort {unknown[0]}; there are"
                f" {', '.join(sorted(whole.bounds)) or 'none'}"
            )
        return whole.within(self.bounds) if self.bounds else whole

    @cached_property
    def key(self) -> str:
        """The key of the run. Raises `InputError` if the deployment cannot be read."""
        whole = hashlib.sha256(print_deployment(self.built).encode())
        for part in ("\0".join(self.words), "\0".join(self._fingerprints()), own_version()):
            whole.update(b"\0\0" + part.encode())
        return whole.hexdigest()

    @property
    def _file(self) -> str:
        """The path of the file, or the name of the example."""
        assert isinstance(self.deployment, str)
        path = Path(self.folder, self.deployment)
        return str(path) if path.is_file() or path.suffix else self.deployment

    @property
    def words(self) -> tuple[str, ...]:
        """The arguments of the command after the file, without the store."""
        given: list[str] = []
        for flag, value in (
            ("--prompts", self.prompts),
            ("--engine", self.engine),
            ("--domain", self.domain),
            ("--timeout", None if self.timeout is None else f"{self.timeout:g}"),
            ("--memory", self.memory),
            ("--max-states", self.max_states),
        ):
            if value is not None:
                given += [flag, f"{value}"]
        return replace(self._request, options=(*given, *self.options)).words

    @property
    def _request(self) -> Request:
        return Request.of(self.agent, self.specs or None, self._gates, calls=self.calls)

    @property
    def about(self) -> dict[str, object]:
        """The columns of the table that describe the run."""
        return {
            "deployment": self.built.name,
            "size": self.size,
            "bounds": ", ".join(f"{sort} {number}" for sort, number in self.bounds.items()) or None,
            "agent": self.agent if isinstance(self.agent, str) else _listed(self.agent),
            "gates": None if self.gates is None else " ".join(self._gates) or "none",
            "calls": self.calls,
            "prompts": self.prompts,
            "engine": self.engine,
            "domain": self.domain,
        }

    def job(self, store: str | None = None) -> Job:
        """Return the job for a worker. ``store`` is a file, or `env NAME` for a URL in that variable.

        A deployment whose facts come from files is read by the worker, from the same path; any other is sent.
        """
        reads = bool(self.built.loaded) and isinstance(self.deployment, str) and not self.bounds
        source = os.path.abspath(self._file) if reads else "-"
        words = ["verify", source, "--json", "--quiet", *self.words]
        environment: dict[str, str] = {}
        if store is not None and self._asks:
            if variable := variable_of(store):
                environment[variable] = os.environ.get(variable, "")
            words += ["--store", store if variable else os.path.abspath(Path(self.folder, store))]
        return Job(
            tuple(words),
            "" if reads else print_deployment(self.built),
            os.path.abspath(self.folder),
            text_digest(in_harness(self.built, self._request.harness)),
            environment,
            None if self.timeout is None else self.timeout + _KILL_SECONDS,
        )

    @property
    def _gates(self) -> tuple[str, ...]:
        return tuple((self.gates or "").split())

    @property
    def _agents(self) -> tuple[str, ...]:
        return (self.agent,) if isinstance(self.agent, str) else tuple(self.agent.values())

    @property
    def _asks(self) -> bool:
        """True if some agent's decisions are kept in a store."""
        return any(word.rpartition("=")[2] != ANY for word in self._request.agents)

    def _fingerprints(self) -> Iterator[str]:
        """Yield digests of the files that the answer depends on and that the arguments only name."""
        if self.prompts is not None:
            yield from _contents(Path(self.folder, self.prompts))
        for agent in self._agents:
            kind, _, rest = agent.partition(":")
            if kind == "python":
                yield from _contents(_module(rest.partition(":")[0], self.folder))
            elif rest and (path := Path(self.folder, rest)).exists():
                yield from _sizes(path)


def variable_of(store: str) -> str | None:
    """Return the environment variable with the URL of a store, for a store given as `env NAME`."""
    word, _, variable = store.partition(" ")
    return variable.strip() if word == "env" and variable.strip() else None


@cache
def _loaded(file: str) -> Deployment:
    return load(file)


def _listed(agents: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={who}" for name, who in agents.items())


def _module(name: str, folder: str) -> Path | None:
    """Return the file of a module, or None if it is not found here: a worker may have it."""
    beside = Path(folder, *name.split(".")).with_suffix(".py")
    if beside.is_file():
        return beside
    if name.split(".")[0] in sys.modules or "." not in name:
        try:
            found = find_spec(name)
        except (ImportError, ValueError):
            return None
        return Path(found.origin) if found and found.origin else None
    return None


def _contents(path: Path | None) -> Iterator[str]:
    """Yield the digest of a file, or of those of a folder."""
    if path is None:
        return
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    for file in files:
        if file.is_file():
            yield f"{file.name} {hashlib.sha256(file.read_bytes()).hexdigest()}"


def _sizes(path: Path) -> Iterator[str]:
    """Yield the sizes and times of the files of a model: its weights are too large to be read for this."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    for file in files:
        if file.is_file():
            yield f"{file.name} {file.stat().st_size} {file.stat().st_mtime_ns}"
