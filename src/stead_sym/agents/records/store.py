"""The store of decisions, to which rows are only ever added: an SQLite file, or a PostgreSQL database.

The decision: three tables. `node` has what the model said at one branching node, and each answer to a
question that is put several times, written the moment it is known; `decision` has the finished answers;
`question` has their keys by the texts that were asked, so that what is known is found without a tokenizer. So
a process that ends in the middle of a batch loses no answer of the model: the next one finds the nodes. A row
carries the digest of its contents, and every read checks it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeGuard

from stead_sym.agents.records.answer import Answer, given_data, given_from_data
from stead_sym.agents.records.digest import digest_text, joined, spelled
from stead_sym.agents.records.said import Given, is_logprob
from stead_sym.errors import StoreError

if TYPE_CHECKING:
    import sqlalchemy as sa

    from stead_sym.agents.records.claims import Claims


class Store:
    """The decisions in a file, or in the database behind a PostgreSQL URL; without either, in memory. A file
    that is not there is made with ``create``, and an error without. ``name`` says where they are, without a
    user or a password.

    Every method raises `StoreError` for a row that is corrupt, for two rows of one key that disagree (both
    name the row), and for a database that cannot be worked with. Many threads may use one store, and several
    processes one file or database.
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
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, or the connections."""
        self.database.close()

    def get(self, key: str) -> Answer | None:
        """The decision of that key, if there is one."""
        return self.get_many([key]).get(key)

    def get_many(self, keys: Iterable[str]) -> dict[str, Answer]:
        """The decisions that are known of these keys."""
        with self.database.reading() as connection:
            rows = self._rows(connection, "decision", list(keys))
        return {key: self._only(found, key) for key, found in rows.items()}

    def put(self, answer: Answer) -> Answer:
        """Add a decision, and return the one that is then in the store.

        If there is one of that key already, nothing is added; `StoreError` where it selects otherwise.
        """
        return self.put_many([answer])[0]

    def put_many(self, answers: Sequence[Answer]) -> list[Answer]:
        """Add decisions as `put` does; those that are then in the store, in the order given.

        Where one of them selects otherwise than the one that is there, the others are added all the same.
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
        """The log-probabilities at the branching nodes that are known of these keys."""
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
        """Add what the model said at branching nodes, by their keys, where it is not known."""
        self._add("node", {key: spelled(list(logprobs)) for key, logprobs in nodes.items()})

    def get_heard(self, keys: Iterable[str]) -> dict[str, Given]:
        """Single answers to questions that are put several times, as far as they are known by these keys."""
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
        """Add such an answer, unless it is known."""
        self._add("node", {key: spelled(given_data(given))})

    def answers(self) -> Iterator[tuple[int, Answer]]:
        """All decisions with the numbers of their rows, oldest first."""
        for row in self.database.all_rows("decision"):
            number, body = self._checked("decision", row)
            yield number, self._answer(number, body)

    def get_questions(self, keys: Iterable[str]) -> dict[str, str]:
        """The keys of the decisions that answer these questions, as far as there are any."""
        if not self.database.is_complete:
            return {}
        with self.database.reading() as connection:
            rows = self._rows(connection, "question", list(keys))
        return {key: str(found[0][1]) for key, found in rows.items()}

    def put_questions(self, questions: Mapping[str, str]) -> None:
        """Add the keys of the decisions that answer questions."""
        self.database.complete()
        self._add("question", {key: spelled(decision) for key, decision in questions.items()})

    def claims(self) -> Claims:
        """The claims of one worker on questions, to be used as a context manager."""
        from stead_sym.agents.records.claims import Claims

        return Claims(self.database)

    def _add(self, name: str, texts: Mapping[str, str]) -> dict[str, list[tuple[int, Any]]]:
        """Add rows of these contents for the keys that have none. Where some had one, the rows that are then
        there of all of them."""
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
        """The numbers and the contents of the rows of each key, oldest first, checked."""
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
        """The answer of the rows, which are of one key and must agree."""
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
    """Whether contents are those of a node: log-probabilities, minus infinity among them."""
    return isinstance(body, list) and all(one == -math.inf or is_logprob(one) for one in body)


def contents(row: tuple[int, str, str, str]) -> Any:
    """The data of a row; `ValueError` where its digest is that of other contents, or they are no data."""
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
    """`digest([key, body])`, where ``text`` is `spelled(body)`, without spelling it once more."""
    return digest_text(joined([spelled(key), text]))


def _calls(answer: Answer) -> str:
    return ", ".join(map(str, sorted(answer.selected)))
