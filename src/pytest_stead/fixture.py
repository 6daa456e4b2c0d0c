"""The fixture `stead`: verification inside a test function.

One decision: models are named by words, as on the command line, so that their decisions can be kept beside
the test. An agent that is given as an object is queried directly.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_stead.collect import runs_of, width_of
from pytest_stead.lines import parse
from pytest_stead.recorded import Recordings
from pytest_stead.runs import failure, tell, tell_scope
from stead_sym.agents.roles import AgentLike
from stead_sym.cli.agents import chosen_agents
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.files import load
from stead_sym.deployment.gates import under_gates
from stead_sym.deployment.harness import with_calls
from stead_sym.models.catalogue import CATALOGUE
from stead_sym.verification.request import Request
from stead_sym.verification.result import Verification
from stead_sym.verification.verify import verify


class Stead:
    """Verification for the tests of a session. Equal requests of several tests are verified once."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._config = request.config
        self._folder = request.path.parent

    def verify(
        self,
        deployment: str | Path | Deployment,
        agent: AgentLike | Mapping[str, AgentLike] = "any",
        *specs: str,
        **settings: Any,
    ) -> Verification:
        """Run `stead_sym.verify`, with findings as warnings, and return its result.

        The deployment is a path from the folder of the test, the name of a packaged example, or a
        `Deployment`.

        ``agent`` may also be a model, or a Python agent, in words: `hf:MODEL`, `openai:…`, `python:…`,
        `smollm2`. It answers from the decisions beside the deployment, or beside the test if that is no file.
        With `--stead-update` it is queried for what is not recorded. ``specs`` are names and sentences,
        ``settings`` go to `stead_sym.verify`.

        Raises what `stead_sym.verify` raises, and `StoreError` if decisions are not recorded.
        """
        result = self._result(deployment, agent, specs, settings)
        _fail(_told(result))
        return result

    def holds(
        self,
        deployment: str | Path | Deployment,
        agent: AgentLike | Mapping[str, AgentLike] = "any",
        *specs: str,
        **settings: Any,
    ) -> Verification:
        """Run `verify`; the test fails, with the runs, if a specification does not hold.

        If the file expects that it fails, the test fails if it holds.
        """
        result = self._result(deployment, agent, specs, settings)
        width = width_of(self._config)
        failed = [
            failure(result, verdict, result.place(name), width)
            for name, verdict in result.verdicts.items()
            if verdict.unexpected
        ]
        _fail([*failed, *_told(result)])
        return result

    def _result(
        self,
        deployment: str | Path | Deployment,
        agent: AgentLike | Mapping[str, AgentLike],
        specs: tuple[str, ...],
        settings: Mapping[str, Any],
    ) -> Verification:
        source = deployment if isinstance(deployment, Deployment) else self._source(deployment)
        beside = source if isinstance(source, str) and Path(source).is_file() else str(self._folder)
        key = (_key(source), beside, _key(agent), specs, _key(settings))
        return runs_of(self._config)(key, lambda: self._verify(source, agent, specs, settings))

    def _source(self, deployment: str | Path) -> str:
        beside = self._folder / deployment
        return os.path.relpath(beside) if beside.is_file() else str(deployment)

    def _verify(
        self,
        source: str | Deployment,
        agent: AgentLike | Mapping[str, AgentLike],
        specs: tuple[str, ...],
        settings: Mapping[str, Any],
    ) -> Verification:
        deployment = source if isinstance(source, Deployment) else load(source)
        path = Path(source) if isinstance(source, str) else None
        is_file = path is not None and path.is_file()
        recordings = Recordings(
            path.parent if path is not None and is_file else self._folder,
            path.stem if path is not None else deployment.name,
            self._config.option.stead_update,
        )
        settings = dict(settings)
        deployment = with_calls(deployment, settings.pop("calls", None))
        deployment = under_gates(deployment, settings.pop("gates", ()))
        agents = _with_models(deployment, agent, recordings)
        result = verify(deployment, agents, specs or None, **settings)
        recordings.keep({name: run.answers for name, run in result.agents.items()})
        return result


def _told(result: Verification) -> list[str]:
    """Issue findings and scopes as warnings, and return the lines of those that are errors."""
    told = tell(result.findings)
    for spec, verdict in result.verdicts.items():
        told += tell_scope(verdict, result.place(spec))
    return told


def _fail(texts: list[str]) -> None:
    if texts:
        pytest.fail("\n\n".join(texts), pytrace=False)


@dataclass(frozen=True, slots=True, eq=False)
class _Itself:
    """A key that is equal only for the same object."""

    value: object

    def __eq__(self, other: object) -> bool:
        """Return True for a key of the same object."""
        return isinstance(other, _Itself) and self.value is other.value

    def __hash__(self) -> int:
        """Return the identity of the object."""
        return id(self.value)


def _key(value: object) -> Hashable:
    """Return a key for a request: texts and numbers compare by value, other objects by identity."""
    match value:
        case str() | Path() | int() | float() | None:
            return value
        case Mapping():
            return tuple(sorted((str(name), _key(item)) for name, item in value.items()))
        case _:
            return _Itself(value)


def _with_models(
    deployment: Deployment, agent: AgentLike | Mapping[str, AgentLike], recordings: Recordings
) -> AgentLike | Mapping[str, AgentLike]:
    """Return the agents, with models in place of their words."""
    given = agent if isinstance(agent, Mapping) else {role.name: agent for role in deployment.agents}
    words = {
        name: word
        for name, word in given.items()
        if isinstance(word, str) and (":" in word or word in CATALOGUE)
    }
    if not words:
        return agent
    options = parse(Request.of(words, None, ()).words, Path())
    recordings.settle(deployment, options)
    models = chosen_agents(deployment, options)
    return {**given, **{name: models[name] for name in words}}
