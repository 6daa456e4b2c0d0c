"""The streams that commands write to.

One decision: what is written is fit for the stream. A character that its encoding lacks becomes a question
mark, one that a terminal would obey, which may come from anybody's file, is written as its escape sequence,
and where no terminal reads it lines have no spaces at their ends.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from typing import TextIO, cast

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from stead_sym.support.printable import printable_lines

_WIDTH = 80
_OBEYED = re.compile(r"[^ -~\n\t]")
_SPACES_AT_END = re.compile(r" +(?=\n)")


def console_on(stream: TextIO) -> Console:
    """A console that takes text as it is, and replaces what the stream's encoding lacks."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")
    file = stream if stream.isatty() else cast("TextIO", _Trimmed(stream))
    console = _Console(file=file, highlight=False, markup=False, emoji=False)
    if console.width < 1:  # COLUMNS may say so, and nothing would be printed
        console.width = _WIDTH
    return console


class _Trimmed:
    """A stream of lines, without the spaces that fill a line up to the width of a column: as much of a
    `TextIO` as a console uses of one that is no terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.encoding = stream.encoding

    def write(self, text: str) -> int:
        return self._stream.write(_SPACES_AT_END.sub("", text))

    def flush(self) -> None:
        self._stream.flush()


class _Console(Console):
    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments to be printed. Control characters in texts are escaped, so that only the console
        itself controls the terminal."""
        for segment in super().render(renderable, options):
            if segment.control or not _OBEYED.search(segment.text):
                yield segment
            else:
                yield Segment(printable_lines(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        """The reader has left, which the caller deals with; what is inherited exits with status 1."""
        raise BrokenPipeError
