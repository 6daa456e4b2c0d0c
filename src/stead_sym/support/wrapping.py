"""Text and tables that break lines between identifiers, not within them, if there is room.

One decision: a word that is too long for a line, such as `RefundIssued(task1,`, is broken after punctuation.
A table narrows its widest columns first, and none so far that an identifier breaks.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from rich import table, text
from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, JustifyMethod, OverflowMethod, RenderableType, RenderResult
from rich.containers import Lines
from rich.measure import Measurement
from rich.padding import Padding, PaddingDimensions
from rich.style import StyleType

_SIGN = r"(?:^[+-] )?"  # the sign before a fact that a step changes; no line ends in it
_WORD = re.compile(_SIGN + r"\s*\S+\s*")
_PIECE = re.compile(_SIGN + r"\s*(?:[^\w\s]*\w+[^\w\s]*|[^\w\s]+)\s*")
_UNLIMITED = 100_000


class Text(text.Text):
    """A text that is wrapped between identifiers."""

    def wrap(
        self,
        console: Console,
        width: int,
        *,
        justify: JustifyMethod | None = None,
        overflow: OverflowMethod | None = None,
        tab_size: int = 8,
        no_wrap: bool | None = None,
    ) -> Lines:
        """Return the text in lines of at most that width."""
        if no_wrap:
            return super().wrap(
                console, width, justify=justify, overflow=overflow, tab_size=tab_size, no_wrap=True
            )
        lines = Lines()
        for line in self.split(allow_blank=True):
            for part in line.divide(tuple(_breaks(line.plain, width))):
                part.rstrip()
                lines.append(part)
        if justify or self.justify:
            lines.justify(console, width, justify=justify or self.justify or "default", overflow="fold")
        return lines

    def blank_copy(self, plain: str = "") -> Text:
        """Return an empty text with the same style."""
        return Text(plain, style=self.style, justify=self.justify, end=self.end)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Return the width of the longest unbreakable piece and that of the longest line."""
        least = max((cell_len(piece.group().strip()) for piece in _PIECE.finditer(self.plain)), default=0)
        return Measurement(least, max(map(cell_len, self.plain.splitlines()), default=0))


class Table(table.Table):
    """A table whose columns are as wide as their identifiers, if there is room."""

    @classmethod
    def grid(
        cls,
        *headers: table.Column | str,
        padding: PaddingDimensions = 0,
        collapse_padding: bool = True,
        pad_edge: bool = False,
        expand: bool = False,
    ) -> Table:
        """Return a table without headings and rules."""
        return cls(
            *headers,
            box=None,
            padding=padding,
            collapse_padding=collapse_padding,
            show_header=False,
            show_edge=False,
            pad_edge=pad_edge,
            expand=expand,
        )

    def add_row(
        self,
        *renderables: RenderableType | None,
        style: StyleType | None = None,
        end_section: bool = False,
    ) -> None:
        """Add a row of cells; strings are `Text`."""
        cells = (Text(cell) if isinstance(cell, str) else cell for cell in renderables)
        super().add_row(*cells, style=style, end_section=end_section)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render the table with columns that fit the available width."""
        free = options.update(width=_UNLIMITED)
        needs = [
            [Measurement.get(console, free, cell) for cell in (column.header, *column.cells)]
            for column in self.columns
        ]
        widths = [max(need.maximum for need in column) for column in needs]
        least = [
            width if column.no_wrap else min(width, max(need.minimum for need in need_of))
            for column, width, need_of in zip(self.columns, widths, needs, strict=True)
        ]
        between = Measurement.get(console, free, self).maximum - sum(widths)
        for column, width in zip(
            self.columns, _fitted(widths, least, options.max_width - between), strict=True
        ):
            column.width = width
        yield from super().__rich_console__(console, options)
        for column in self.columns:
            column.width = None


def labelled(rows: Iterable[tuple[str, RenderableType]] = ()) -> Table:
    """Return a grid with labels on the left and their content on the right."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, said in rows:
        grid.add_row(label, said)
    return grid


def headed(*columns: str, folds: Collection[str] = (), right: Collection[str] = ()) -> Table:
    """Return a table with dim headings.

    Lines may break in the columns named in ``folds``; those in ``right`` are aligned to the right.
    """
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for column in columns:
        justify: JustifyMethod = "right" if column in right else "left"
        table.add_column(column, justify=justify, no_wrap=column not in folds, overflow="fold")
    return table


def spaced(parts: Iterable[RenderableType]) -> list[RenderableType]:
    """Return the parts with an empty line between them."""
    found: list[RenderableType] = []
    for part in parts:
        found += [Text(""), part] if found else [part]
    return found


def indented(body: RenderableType) -> Padding:
    """Return a part of a report, indented below the line that it belongs to."""
    return Padding(body, (0, 0, 0, 2), expand=False)


def _fitted(widths: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Return the widths, the widest reduced until all fit into the room.

    A width falls below its entry in ``least`` only if the room is too small for all of these.
    """
    fitted = list(widths)
    while sum(fitted) > max(room, len(fitted)):
        spare = [k for k, width in enumerate(fitted) if width > least[k]] or range(len(fitted))
        fitted[max(spare, key=lambda k: fitted[k])] -= 1
    return fitted


def _breaks(line: str, width: int) -> Iterator[int]:
    """Yield the positions at which a line is broken.

    A break comes before a word that no longer fits; inside a word longer than a line, between its pieces;
    inside a piece longer than a line, anywhere.
    """
    used = 0
    for word in _WORD.finditer(line):
        if used + cell_len(word.group().rstrip()) <= width:
            used += cell_len(word.group())
            continue
        whole = cell_len(word.group().rstrip()) <= width
        for piece in (word,) if whole else _PIECE.finditer(line, *word.span()):
            if used and used + cell_len(piece.group().rstrip()) > width:
                yield piece.start()
                used = 0
            parts = chop_cells(piece.group(), width) if cell_len(piece.group().rstrip()) > width else ()
            start = piece.start()
            for part in parts[:-1]:
                start += len(part)
                yield start
            used += cell_len(parts[-1] if parts else piece.group())
