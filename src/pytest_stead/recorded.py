"""Decisions of models in files beside the tests, so that the tests need no model.

One decision: a file has the decisions of one model for one agent of one deployment, and is named accordingly.
It is JSON Lines, sorted, so that a changed decision is a changed line under review. While models are queried,
their answers go to a store beside it that exists until the file is written. No error or crash loses an
answer.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from stead_sym.agents.records.answer import Answer
from stead_sym.agents.records.digest import digest
from stead_sym.agents.records.replay import export_lines, read_answers
from stead_sym.agents.records.store import Store
from stead_sym.agents.roles import ANY, told_apart
from stead_sym.cli.recorded import keeps_answers, kind_of
from stead_sym.deployment.deployment import Deployment
from stead_sym.errors import StoreError


@dataclass
class Recordings:
    """The files of decisions beside a deployment: ``folder`` and ``stem`` are those of its file."""

    folder: Path
    stem: str
    updating: bool
    _files: dict[str, Path] = field(default_factory=dict)
    _asking: tuple[Path, Store] | None = None
    """The store of the answers that are not in the files yet, and its path."""
    _left: tuple[Answer, ...] = ()
    """The answers in it from an earlier session that was not completed."""

    def settle(self, deployment: Deployment, options: argparse.Namespace) -> None:
        """Let every model in ``options`` answer from its file; while updating, from its file first.

        Raises `StoreError` if a file is missing.
        """
        named, others = told_apart(deployment, options.agent or ())
        words = {
            role.name: named.get(role.name, others)
            for role in deployment.agents
            if role.name in named or others is not None
        }
        kept: list[str] = []
        replayed: list[str] = list(options.replay or ())
        store: Store | None = None
        for agent, word in words.items():
            prefix = f"{agent}=" if agent else ""
            file = self._file(agent, word or ANY)
            if word is None or kind_of(word) == "any" or (not file.exists() and not keeps_answers(word)):
                kept.append(f"{prefix}{word}")
            elif self.updating:
                kept.append(f"{prefix}{word}")
                self._files[agent] = file
                store = store or self._store(file)
                store.put_many(read_answers(file) if file.exists() else [])
            elif file.exists():
                replayed.append(f"{prefix}{file}")
            else:
                raise StoreError(
                    f"{file}: the decisions of {word} are not recorded; run `pytest --stead-update -n 0`"
                    " where the model is, and commit the file"
                )
        options.agent, options.replay = kept or None, replayed or None
        if store is not None:
            options.store, options.opened_store = str(self.folder), store

    def keep(self, answers: Mapping[str, Sequence[Answer]]) -> None:
        """Write the decisions of the models, by agent, with those already in the files of the same models."""
        for agent, file in self._files.items():
            if new := answers[agent]:
                known = (*(read_answers(file) if file.exists() else ()), *self._left)
                _write(file, (*_of_the_same(new[0], known), *new))
        if self._asking is not None:
            path, store = self._asking
            store.close()
            path.unlink(missing_ok=True)

    def _store(self, file: Path) -> Store:
        path = file.with_name(f".{file.name}.asking.sqlite")
        store = Store(path)
        self._asking = (path, store)
        self._left = tuple(answer for _, answer in store.answers())
        return store

    def _file(self, agent: str, word: str) -> Path:
        model = re.sub(r"[^A-Za-z0-9_.]+", "-", word).strip("-")
        parts = (self.stem, agent, model, "decisions.jsonl")
        return self.folder / ".".join(part for part in parts if part)


def _of_the_same(answer: Answer, others: Iterable[Answer]) -> Iterable[Answer]:
    return (other for other in others if _identity(other.model) == _identity(answer.model))


def _identity(model: Mapping[str, str]) -> str:
    return digest({key: value for key, value in model.items() if key != "name"})


def _write(file: Path, answers: Iterable[Answer]) -> None:
    """Write the answers, each key once, sorted; the file is replaced as a whole or not at all."""
    found = {answer.key: answer for answer in answers}
    lines = "".join(f"{line}\n" for line in export_lines(found[key] for key in sorted(found)))
    if file.exists() and file.read_text(encoding="utf-8") == lines:
        return
    new = file.with_name(f".{file.name}.new")
    try:
        new.write_text(lines, encoding="utf-8")
        os.replace(new, file)
    except OSError as error:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise StoreError(f"{file}: cannot be written ({error.strerror or error}); make room for it") from None
