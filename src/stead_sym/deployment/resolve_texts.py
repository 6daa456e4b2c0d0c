"""Resolve constants that stand for a text, from `text m1 = "…"` to the schema.

One decision: such a constant has its sort like any other, from the sort that lists it or the fact of `init`
that has it. If neither does, the item itself declares it: `text m1: message = "…"`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from stead_sym.errors import DeclarationError, Span
from stead_sym.logic.names import Names, check_name
from stead_sym.relational.schema import Schema, TextValue, Value


@dataclass(frozen=True, slots=True)
class TextItem:
    """`text VALUE: SORT = "…"`; ``sort`` is None if the item does not give it."""

    value: str
    sort: str | None
    text: str
    span: Span | None = None


_UNPRINTED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""Characters that no text may have: control characters except tab and line feed, and halves of characters."""


def with_texts(
    items: tuple[TextItem, ...], schema: Schema, constants: Mapping[Value, str]
) -> tuple[Schema, Mapping[Value, str]]:
    """Return the schema with the values that stand for a text, and the constants with these values."""
    names = Names(schema, constants)
    texts: list[TextValue] = []
    for item in items:
        check_name("text", item.value, item.span)
        known = constants.get(item.value)
        if item.sort is not None:
            names.sort(item.sort, item.span)  # raises where there is none
        if known is None and item.sort is None:
            raise DeclarationError(
                f"of which sort is {item.value}? No sort lists it and no fact of `init` holds it; write"
                f" `text {item.value}: SORT = …`",
                item.span,
            )
        if known is not None and item.sort not in (None, known):
            raise DeclarationError(
                f"{item.value} is of sort {known}, not {item.sort}; leave the sort out, or rename one",
                item.span,
            )
        if bad := _UNPRINTED.search(item.text):
            raise DeclarationError(
                f"the text of {item.value} holds the control character U+{ord(bad[0]):04X}; leave it out",
                item.span,
            )
        texts.append(TextValue(item.value, known or item.sort or "", item.text, span=item.span))
    own = {text.value: text.sort for text in texts}
    return (replace(schema, texts=tuple(texts)), {**constants, **own}) if texts else (schema, constants)
