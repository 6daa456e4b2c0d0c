"""The one kind of markup that notebooks are shown: small tables, everything in them escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_TABLE = '<table style="display:inline-table;margin:0 1em 1em 0;vertical-align:top">'
_CELL = "text-align:left;vertical-align:top;white-space:pre-line;padding:2px 12px 2px 0"


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; a cell is the text of its object, a newline in it a new line."""
    head = "".join(f'<th style="{_CELL}">{escape(column)}</th>' for column in columns)
    body = "".join(
        "<tr>" + "".join(f'<td style="{_CELL}">{escape(str(cell))}</td>' for cell in row) + "</tr>"
        for row in rows
    )
    return (
        f'{_TABLE}<caption style="{_CELL}">{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def paragraph(text: str) -> str:
    """One line of text, escaped."""
    return f"<p>{escape(text)}</p>"
