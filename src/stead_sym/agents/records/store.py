"""The append-only store of decisions: an SQLite file, or a PostgreSQL database.

The decision: there are three tables. `node` has the log-probabilities at one branching node, and each answer
to a repeated query, written as soon as it is known. `decision` has the finished answers. `question` has their
keys by the texts of the query, so that a decision is found without a tokenizer. So a process that ends in the
middle of a batch loses no answer of the model: the next one finds the nodes. A row has the digest of its
contents, and every read checks it.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeGuard

from stead_sym.agents.prompts.prompt import Message
from stead_sym.agents.records.answer import Answer, Offered, given_data, given_from_data
from stead_sym.agents.records.digest import digest_text, joined, spelled
from stead_sym.agents.records.said import Given, is_logprob
from stead_sym.errors import StoreError

if TYPE_CHECKING:
    import sqlalchemy as sa

    from stead_sym.agents.records.claims import Claims


class Store:
    """The decisions in a file, or in a PostgreSQL database; without either, in memory.

    With ``create`` a missing file is created, without it is an error. ``name`` is the location without a user
    or a password.

    Every method raises `StoreError` for a corrupt row, for two rows of one key that disagree (both name the
    row), and for an error of the database. A store is thread-safe, and several processes may share a file or
    database.
    """

    def __init__(self, path: str | Path | None = None, *, create: bool = True) -> None:
        if not isinstance(path, str | Path | None):
            raise TypeError(f"{path!r} is no path of a store; give one, or None for a store in memory")
        from stead_sym.agents.records import database

        place = None if path is None else str(path)
        if place is not None and "://" not in place and not create and not database.is_there(place):
            raise StoreError(f"{path}: there is no store of decisions; name the file of one")
        self.database = database.Database(place, create=create)
        self.name = self.database.name

    def __enter__(self) -> Self:
        """Return the store itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the store."""
        self.close()

    def close(self) -> None:
        """Close the file, or the connections."""
        self.database.close()

    def get(self, key: str) -> Answer | None:
        """Return the decision with that key; None if there is none."""
        return self.get_many([key]).get(key)

    def get_many(self, keys: Iterable[str]) -> dict[str, Answer]:
        """Return the existing decisions with these keys."""
        with self.database.reading() as connection:
            rows = self._rows(connection, "decision", list(keys))
        return {key: self._only(found, key) for key, found in rows.items()}

    def put(self, answer: Answer) -> Answer:
        """Add a decision, and return the one that is then in the store.

        If there is one with that key already, nothing is added; raises `StoreError` if its selection differs.
        """
        return self.put_many([answer])[0]

    def put_many(self, answers: Sequence[Answer]) -> list[Answer]:
        """Add decisions as `put` does; return those that are then in the store, in the order given.

        If one of them disagrees with an existing one, the others are added nevertheless.
        """
        new: dict[str, Answer] = {}
        for answer in answers:
            new.setdefault(answer.key, answer)
        rows = self._add("decision", {key: answer.spelled() for key, answer in new.items()})
        there = new | {key: self._only(found, key) for key, found in rows.items()}
        for answer in answers:
            kept = there[answer.key]
            if kept.selected != answer.selected:
                number = f"decision {rows[answer.key][0][0]}" if answer.key in rows else "a decision of now"
                raise StoreError(
                    f"{self.name}: {number} selects {_calls(kept)} where {_calls(answer)} was selected now; "
                    "a near-tie went the other way: verify with a tolerance, or with the store that served "
                    "before"
                )
        return [there[answer.key] for answer in answers]

    def get_nodes(self, keys: Iterable[str]) -> dict[str, tuple[float, ...]]:
        """Return the known log-probabilities at branching nodes with these keys."""
        with self.database.reading() as connection:
            rows = self._rows(connection, "node", list(keys))
        for (first, body), *others in rows.values():
            if not _are_logprobs(body):
                raise StoreError(f"{self.name}: node {first} has no log-probabilities; use another store")
            for number, other in others:
                if other != body:
                    raise StoreError(
                        f"{self.name}: nodes {first} and {number} are two answers for one key; use another "
                        "store"
                    )
        return {key: tuple(found[0][1]) for key, found in rows.items()}

    def put_nodes(self, nodes: Mapping[str, Sequence[float]]) -> None:
        """Add the log-probabilities at branching nodes, by their keys, unless they are known."""
        self._add("node", {key: spelled(list(logprobs)) for key, logprobs in nodes.items()})

    def get_heard(self, keys: Iterable[str]) -> dict[str, Given]:
        """Return the known single answers to repeated queries, by these keys."""
        with self.database.reading() as connection:
            rows = self._rows(connection, "node", list(keys))
        found = {}
        for key, [(number, body), *_] in rows.items():
            try:
                found[key] = given_from_data(body)
            except StoreError as error:
                raise StoreError(f"{self.name}: node {number}: {error.message}; use another store") from None
        return found

    def put_heard(self, key: str, given: Given) -> None:
        """Add a single answer to a repeated query, unless it is known."""
        self._add("node", {key: spelled(given_data(given))})

    def answers(self) -> Iterator[tuple[int, Answer]]:
        """Yield all decisions with the numbers of their rows, oldest first."""
        for row in self.database.all_rows("decision"):
            number, body = self._checked("decision", row)
            yield number, self._answer(number, body)

    def get_questions(self, keys: Iterable[str]) -> dict[str, str]:
        """Return the keys of existing decisions by these keys of queries."""
        if not self.database.is_complete:
            return {}
        with self.database.reading() as connection:
            rows = self._rows(connection, "question", list(keys))
        return {key: str(found[0][1]) for key, found in rows.items()}

    def put_questions(self, questions: Mapping[str, str]) -> None:
        """Add the keys of decisions by the keys of queries."""
        self.database.complete()
        self._add("question", {key: spelled(decision) for key, decision in questions.items()})

    def claims(self) -> Claims:
        """Return the claims of one worker, a context manager."""
        from stead_sym.agents.records.claims import Claims

        return Claims(self.database)

    def _add(self, name: str, texts: Mapping[str, str]) -> dict[str, list[tuple[int, Any]]]:
        """Add rows with these contents for the keys that have none.

        If some keys had one, returns the rows that then exist for all of them.
        """
        rows = {key: _row(key, text) for key, text in texts.items()}
        with self.database.writing() as connection:
            if not self.database.has_unique_keys:
                there = self._rows(connection, name, list(rows))
                new = [row for key, row in rows.items() if key not in there]
                self.database.add(connection, name, new)
                return there
            if self.database.add(connection, name, list(rows.values())) == len(rows):
                return {}
            return self._rows(connection, name, list(rows))

    def _rows(
        self, connection: sa.Connection, name: str, keys: Sequence[str]
    ) -> dict[str, list[tuple[int, Any]]]:
        """Return the numbers and the checked contents of the rows of each key, oldest first."""
        found: dict[str, list[tuple[int, Any]]] = {}
        for row in self.database.rows(connection, name, keys):
            found.setdefault(row[1], []).append(self._checked(name, row))
        return found

    def _checked(self, name: str, row: tuple[int, str, str, str]) -> tuple[int, Any]:
        number = row[0]
        try:
            return number, contents(row)
        except ValueError as error:
            raise StoreError(
                f"{self.name}: {name} {number} is corrupt ({error}); restore the file from a backup, or keep"
                " the rest with `stead-sym models decisions salvage`"
            ) from None

    def _answer(self, number: int, body: Any) -> Answer:
        try:
            return Answer.from_data(body)
        except StoreError as error:
            raise StoreError(f"{self.name}: decision {number}: {error.message}; use another store") from None

    def _only(self, rows: Sequence[tuple[int, Any]], key: str) -> Answer:
        """Return the answer in the rows of one key, which must agree."""
        (first, body), *others = rows
        answer = self._answer(first, body)
        if answer.key != key:
            raise StoreError(
                f"{self.name}: decision {first} is filed under the key of another; use another store"
            )
        for number, other in others:
            if self._answer(number, other).selected != answer.selected:
                raise StoreError(
                    f"{self.name}: decisions {first} and {number} are two answers for one key; use "
                    "another store"
                )
        return answer


def _are_logprobs(body: object) -> TypeGuard[list[float]]:
    """Return True for the contents of a node: log-probabilities, possibly minus infinity."""
    return isinstance(body, list) and all(one == -math.inf or is_logprob(one) for one in body)


def contents(row: tuple[int, str, str, str]) -> Any:
    """Return the data of a row; raise `ValueError` if its digest is wrong, or if they are no data."""
    _, key, text, recorded = row
    if not (isinstance(key, str) and isinstance(text, str)) or _digest(key, text) != recorded:
        raise ValueError("its digest does not match")
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested without end") from None


def _row(key: str, text: str) -> dict[str, str]:
    return {"key": key, "body": text, "digest": _digest(key, text)}


def _digest(key: str, text: str) -> str:
    """Return `digest([key, body])`, where ``text`` is `spelled(body)`, without computing it again."""
    return digest_text(joined([spelled(key), text]))


def _calls(answer: Answer) -> str:
    return ", ".join(map(str, sorted(answer.selected)))


def known(
    store: Store, asked: Mapping[str, tuple[tuple[Message, ...], tuple[Offered, ...]]]
) -> dict[str, Answer]:
    """Return the existing decisions of the keys, each of which is given with its prompt and its calls.

    Raise `StoreError` for a decision with another prompt or other calls.
    """
    answers = store.get_many(asked)
    for key, answer in answers.items():
        if (answer.prompt, answer.calls) != asked[key]:
            raise of_another_question(store, answer)
    return answers


def of_another_question(store: Store, answer: Answer) -> StoreError:
    """Return the error for a decision whose key belongs to another query."""
    return StoreError(
        f"{store.name}: decision {answer.key[:12]} has other calls, or another prompt, than what"
        " its key was made of; use another store"
    )


def open_store(path: str | None = None, *, create: bool = True) -> Store:
    """Return the store in a file; by default the user's own.

    It is created if it does not exist, unless ``create`` is False: then a named file must exist, and a
    missing store of the user's own is taken to be empty.

    `env NAME` is the file or the URL in that environment variable, so that no command line shows it.
    """
    word, _, variable = (path or "").partition(" ")
    if word == "env" and variable:
        path = os.environ.get(variable.strip())
        if not path:
            raise StoreError(f"the environment variable {variable} is not set; let it hold the store's URL")
    if path is not None:
        return Store(path, create=create)
    home = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    folder = Path(home, "stead-sym")
    file = folder / "decisions.sqlite"
    if not create:
        return Store(file, create=False) if file.exists() else Store()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder}: {error.strerror}; name a store with --store") from None
    return Store(file)
