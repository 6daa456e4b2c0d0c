"""What each error and each finding means, with an example and what to do about it.

One decision: the texts stand in one file that people read too, `topics.md`, and nothing but their names is
known here. A test makes each example and sees that it gives what it stands under.
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
    """One error or finding. ``kind`` is what the ``example`` is written in: `stead`, `sh` or `python`."""

    name: str
    meaning: str
    kind: str
    example: str
    remedy: str


@cache
def topics() -> Mapping[str, Topic]:
    """All of them, by name."""
    _, *parts = _text().split("\n## ")
    return MappingProxyType({topic.name: topic for topic in map(_topic, parts)})


@cache
def base() -> str:
    """The deployment that examples are lines of which are not a whole one."""
    found = _BLOCK.search(_text())
    assert found is not None, "topics.md begins with a deployment"
    return found[2]


def topic(words: str) -> Topic | None:
    """The topic of that name, in which upper case, spaces and hyphens do not matter."""
    return next((known for name, known in topics().items() if _plain(name) == _plain(words)), None)


def near(words: str, otherwise: str) -> str:
    """A question after a topic with a name close to this, or ``otherwise``."""
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
