"""Markup that is escaped by construction, for the package's pages and for notebooks.

One decision: markup has a type of its own, `Html`, and only `tag` makes it. Text in an element or an
attribute is escaped there, and an invisible character is written as its escape sequence. A value with hostile
text is therefore displayed and never parsed as markup.
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
    """Markup, already escaped; build it with `tag`."""

    text: str

    def __str__(self) -> str:
        """Return the markup as text."""
        return self.text


Content: TypeAlias = "Html | str | int | float | Iterable[Content] | None"
"""The content of an element: markup, text, numbers, or several of these; None is empty content."""

Attribute: TypeAlias = str | int | float | bool | None


def tag(name: str, /, *content: Content, **attributes: Attribute) -> Html:
    """Return ``<name …>content</name>``.

    In attribute names `_` stands for `-`, and a trailing `_` is dropped (``class_``). True gives an attribute
    without a value; False and None give no attribute.
    """
    opened = f"<{name}{''.join(map(_attribute, attributes.items()))}>"
    if name in _VOID and not content:
        return Html(opened if name in ("br", "hr", "meta", "link") else f"{opened[:-1]}/>")
    return Html(f"{opened}{_markup(content)}</{name}>")


def joined(*content: Content) -> Html:
    """Return the concatenation of several pieces."""
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


# Markup for notebooks has inline styles, since a cell has no style sheet.

_TABLE = "display:inline-table;margin:0 1em 1em 0;vertical-align:top"
_CELL = "text-align:left;vertical-align:top;white-space:pre-line;padding:2px 12px 2px 0"


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table for a notebook; a cell shows its object's text, with line breaks kept."""
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
    """Return one line of text for a notebook."""
    return str(tag("p", printable(text)))


def code(text: str) -> str:
    """Return text of the deployment language for a notebook, with line breaks kept."""
    return str(tag("pre", tag("code", text), style="white-space:pre-wrap;margin:0 0 1em 0"))


class Displayed:
    """A mixin for display in notebooks: markup from `_repr_html_`, with the text as the fallback."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return code(str(self))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Mapping[str, str]:
        return {"text/plain": str(self), "text/html": self._repr_html_()}
