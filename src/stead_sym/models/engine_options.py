"""Options for the engine that runs a model, as `KEY=VALUE`.

The decision: an option is passed to the engine's own constructor under the engine's own name. Every option
becomes part of the identity of the answers, except those known not to affect them.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from stead_sym.agents.records.digest import spelled
from stead_sym.errors import InputError
from stead_sym.logic.names import nearest


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """Options by name, with JSON values."""

    values: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(cls, words: Iterable[str]) -> EngineOptions:
        """Return the options in `KEY=VALUE`, each given once; a VALUE that is not JSON is a string.

        Raise `InputError` for other words.
        """
        values: dict[str, Any] = {}
        for word in words:
            key, equals, text = word.partition("=")
            if not equals or not key.isidentifier():
                raise InputError(
                    f"--engine-option {word!r} is not KEY=VALUE; write one such as dtype=bfloat16"
                )
            if key in values:
                raise InputError(f"--engine-option {key} is given twice; give it once")
            values[key] = _value(text)
        return cls(values)

    def check(self, known: Collection[str], engine: str) -> None:
        """Raise `InputError` for an option that ``engine`` does not support."""
        for key in self.values:
            if key not in known:
                hint = nearest(key, known, "")
                raise InputError(
                    f"--engine-option {key}: {engine} has no such option;{' ' * bool(hint)}{hint}"
                    " leave it out, or see its documentation"
                )

    def identity(self, irrelevant: Collection[str]) -> dict[str, str]:
        """Return the options as a part of a backend's identity, without the irrelevant ones.

        It is empty if none is left.
        """
        left = {key: value for key, value in self.values.items() if key not in irrelevant}
        return {"options": spelled(left)} if left else {}


@contextmanager
def refusing(engine: str) -> Iterator[None]:
    """Convert an engine's `TypeError` for a constructor argument to an `InputError` of one line."""
    try:
        yield
    except TypeError as error:
        said = str(error).strip().splitlines()[0] if str(error).strip() else "an argument is wrong"
        raise InputError(f"{engine} does not take the --engine-option given: {said}; leave it out") from None


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
