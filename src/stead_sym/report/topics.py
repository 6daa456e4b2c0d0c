"""The meaning of each error and each finding, with an example and a remedy.

One decision: the texts are in one file for readers, `topics.md`, and only their names are known here. A test
runs each example and checks that it produces the error or finding it is listed under.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from stead_sym.logic.names import nearest

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Topic:
    """One error or finding. ``kind`` is the language of the ``example``: `stead`, `sh` or `python`."""

    name: str
    meaning: str
    kind: str
    example: str
    remedy: str


@cache
def topics() -> Mapping[str, Topic]:
    """Return all topics, by name."""
    _, *parts = _text().split("\n## ")
    return MappingProxyType({topic.name: topic for topic in map(_topic, parts)})


@cache
def base() -> str:
    """Return the deployment that completes the examples that are single lines of a file."""
    found = _BLOCK.search(_text())
    assert found is not None, "topics.md begins with a deployment"
    return found[2]


def topic(words: str) -> Topic | None:
    """Return the topic of that name; upper case, spaces and hyphens are ignored."""
    return next((known for name, known in topics().items() if _plain(name) == _plain(words)), None)


def near(words: str, otherwise: str) -> str:
    """Return a question with the closest topic name, or ``otherwise`` if none is close."""
    return nearest(words, topics(), otherwise)


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).casefold()


def _text() -> str:
    return files("stead_sym.report").joinpath("topics.md").read_text(encoding="utf-8")


def _topic(part: str) -> Topic:
    name, body = part.split("\n", 1)
    found = _BLOCK.search(body)
    assert found is not None, f"{name} has no example"
    remedy = body[found.end() :].strip()
    return Topic(name.strip(), body[: found.start()].strip(), found[1], found[2], remedy.removeprefix("Do: "))
