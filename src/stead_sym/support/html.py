"""Markup that is escaped by construction: for pages that the package writes, and for notebooks.

One decision: markup is a type of its own (`Html`), and only `tag` makes it. A text that stands in it, or in
an attribute, is escaped there, and a character that nobody would see is written as its escape sequence, so
that a value with hostile text is shown and never read as markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeAlias

from stead_sym.support.printable import printable, printable_lines

_VOID = frozenset({"br", "hr", "meta", "link", "rect", "path", "circle", "polyline"})


@dataclass(frozen=True, slots=True)
class Html:
    """Markup. Whoever makes one by hand answers for its text: use `tag`."""

    text: str

    def __str__(self) -> str:
        return self.text


Content: TypeAlias = "Html | str | int | float | Iterable[Content] | None"
"""What stands in an element: markup, text, numbers, several of these; None is nothing."""

Attribute: TypeAlias = str | int | float | bool | None


def tag(name: str, /, *content: Content, **attributes: Attribute) -> Html:
    """``<name …>content</name>``. In the names of attributes `_` is `-`, at their end nothing (``class_``);
    True is an attribute without a value, False and None are none."""
    opened = f"<{name}{''.join(map(_attribute, attributes.items()))}>"
    if name in _VOID and not content:
        return Html(opened if name in ("br", "hr", "meta", "link") else f"{opened[:-1]}/>")
    return Html(f"{opened}{_markup(content)}</{name}>")


def joined(*content: Content) -> Html:
    """Several pieces one after another."""
    return Html(_markup(content))


def _attribute(item: tuple[str, Attribute]) -> str:
    name, value = item
    if value is None or value is False:
        return ""
    shown = name.rstrip("_").replace("_", "-")
    return f" {shown}" if value is True else f' {shown}="{_escaped(str(value))}"'


def _markup(content: Content) -> str:
    match content:
        case None:
            return ""
        case Html(text):
            return text
        case str() | int() | float():
            return _escaped(str(content))
        case _:
            return "".join(map(_markup, content))


def _escaped(text: str) -> str:
    return escape(printable_lines(text))


# what notebooks are shown: a few styles of their own, since a cell has no style sheet

_TABLE = "display:inline-table;margin:0 1em 1em 0;vertical-align:top"
_CELL = "text-align:left;vertical-align:top;white-space:pre-line;padding:2px 12px 2px 0"


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table for a notebook; a cell is the text of its object, a newline in it a new line."""
    return str(
        tag(
            "table",
            tag("caption", caption, style=_CELL),
            tag("thead", tag("tr", (tag("th", column, style=_CELL) for column in columns))),
            tag("tbody", (tag("tr", (tag("td", str(cell), style=_CELL) for cell in row)) for row in rows)),
            style=_TABLE,
        )
    )


def paragraph(text: str) -> str:
    """One line of text for a notebook."""
    return str(tag("p", printable(text)))


def code(text: str) -> str:
    """Text of the deployment language for a notebook, its lines as they are."""
    return str(tag("pre", tag("code", text), style="white-space:pre-wrap;margin:0 0 1em 0"))


class Displayed:
    """What a notebook shows: the markup of `_repr_html_`, and where it shows none, the text."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return code(str(self))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Mapping[str, str]:
        return {"text/plain": str(self), "text/html": self._repr_html_()}
