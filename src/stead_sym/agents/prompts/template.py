"""Texts with placeholders in square brackets, as prompts are written.

The decision: a text is filled in one pass, so an inserted text is never read as a placeholder. A bracket that
is no known placeholder is kept, unless it has the form of one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from stead_sym.errors import InputError, Span

_BRACKETS = re.compile(r"\[([A-Za-z_][A-Za-z0-9_ ]*(?:\.[0-9]+)?)\]")


@dataclass(frozen=True, slots=True)
class Template:
    """A text whose placeholders are `[NAME]`, `[A FEW WORDS]` or `[Relation.2]`.

    ``source`` names the file, or other source of the text, in messages.
    """

    text: str
    source: str

    def check(self, known: Collection[str]) -> None:
        """Raise `InputError` for an unknown placeholder in capitals, or of the form `Relation.2`."""
        for match in _BRACKETS.finditer(self.text):
            name = match[1]
            if name not in known and (name.isupper() or "." in name):
                raise InputError(
                    f"unknown placeholder [{name}]; write one of "
                    + ", ".join(f"[{other}]" for other in sorted(known)),
                    self._span(match.start()),
                )

    def fill(self, known: Collection[str], value: Callable[[str], str]) -> str:
        """Return the text with ``value(name)`` for every known placeholder `[name]`.

        An `InputError` of ``value`` is raised again with the position of the placeholder.
        """

        def filled(match: re.Match[str]) -> str:
            if match[1] not in known:
                return match[0]
            try:
                return value(match[1])
            except InputError as error:
                raise InputError(f"[{match[1]}]: {error.message}", self._span(match.start())) from None

        return _BRACKETS.sub(filled, self.text)

    def _span(self, offset: int) -> Span:
        before = self.text[:offset]
        return Span(self.source, before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1)
