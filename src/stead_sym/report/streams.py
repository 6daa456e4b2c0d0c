"""What every command writes in the same way: text on a stream, and the line of an error.

One decision: what is written is fit for the stream. A character that its encoding lacks becomes a question
mark, one that a terminal would obey, which may come from anybody's file, is written as its escape sequence,
and where no terminal reads it lines have no spaces at their ends.
"""

from __future__ import annotations

import io
import json
import re
import sys
import traceback
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TextIO, cast

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from stead_sym.deployment.language import read_text
from stead_sym.errors import DefinitionError, InputError, Span, SteadError, Undecided
from stead_sym.evidence.data import Json
from stead_sym.printable import printable_lines
from stead_sym.report.data import bug_data, error_data
from stead_sym.report.terminal import print_trace
from stead_sym.report.topics import topics

_WIDTH = 80
_MOST_OF_A_LINE = 160
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
        """The segments of what is to be printed, in which only those that the console itself makes control
        the terminal."""
        for segment in super().render(renderable, options):
            if segment.control or not _OBEYED.search(segment.text):
                yield segment
            else:
                yield Segment(printable_lines(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        """The reader has left, which the caller deals with; what is inherited exits with status 1."""
        raise BrokenPipeError


def print_error(
    error: SteadError,
    *,
    as_json: bool,
    phase: str = "",
    counts: Mapping[str, int] | None = None,
    specs: Mapping[str, Json] | None = None,
) -> None:
    """The error on stderr, one line, with the run that leads to it, and on a terminal the line of the file
    that it is about; with ``as_json`` also as a report on stdout, which has the ``phase`` in which a run was
    ended, its ``counts`` and the verdicts known by then."""
    print(f"stead-sym: {error}", file=sys.stderr)
    if sys.stderr.isatty() and isinstance(error, InputError) and error.span is not None:
        for line in _marked_line(error.span):
            print(f"  {line}", file=sys.stderr)
    name = type(error).__name__
    if sys.stderr.isatty() and name in topics() and type(error) not in (InputError, Undecided):
        print(f"stead-sym: `stead-sym explain {name}` says more", file=sys.stderr)
    if isinstance(error, DefinitionError):
        print_trace(error.trace, console_on(sys.stderr))
    if as_json:
        print(json.dumps(error_data(error, phase, counts or {}, specs), indent=2))


def _marked_line(place: Span) -> list[str]:
    """The line of a file that a place is in, and a mark below the column. Nothing where it is in no file, or
    in a line that would not be printed as it stands."""
    try:
        lines = read_text(place.source).split("\n") if Path(place.source).is_file() else []
    except InputError:
        return []
    line = lines[place.line - 1].replace("\t", " ").rstrip() if place.line <= len(lines) else ""
    if not line.isprintable() or cell_len(line) > _MOST_OF_A_LINE:
        return []
    return [line, " " * cell_len(line[: place.column - 1]) + "^"] if line else []


def print_bug(error: Exception, *, as_json: bool) -> None:
    """The stack trace of an exception that nothing expected, on stderr; with ``as_json`` also a report on
    stdout."""
    traceback.print_exception(error)
    data = bug_data(error)
    print(f"stead-sym: {data['error']}", file=sys.stderr)
    if as_json:
        print(json.dumps(data, indent=2))
