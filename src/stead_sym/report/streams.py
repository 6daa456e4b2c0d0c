"""The output of commands: streams, and files at paths that the user gives.

One decision: output is made safe for the stream. A character that its encoding lacks becomes a question mark.
A control character, which may come from any file, is written as its escape sequence. If the stream is no
terminal, spaces at the ends of lines are removed.

An existing file is inspected before the verification starts. A report or a log replaces an earlier one only,
and nothing replaces the deployment, so that a mistyped path destroys no file.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from os.path import samefile
from pathlib import Path
from typing import TextIO, cast

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from stead_sym.errors import InputError
from stead_sym.support.printable import printable_lines

_WIDTH = 80
_OBEYED = re.compile(r"[^ -~\n\t]")
_SPACES_AT_END = re.compile(r" +(?=\n)")


def console_on(stream: TextIO) -> Console:
    """Return a console that takes text as it is, and replaces what the stream's encoding lacks."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")
    file = stream if stream.isatty() else cast("TextIO", _Trimmed(stream))
    console = _Console(file=file, highlight=False, markup=False, emoji=False)
    if console.width < 1:  # possible through COLUMNS; nothing would be printed
        console.width = _WIDTH
    return console


class _Trimmed:
    """A stream of lines, without the spaces that fill a line up to the width of a column.

    It implements as much of `TextIO` as a console uses of a stream that is no terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.encoding = stream.encoding

    def write(self, text: str) -> int:
        """Write text without spaces at the ends of lines."""
        return self._stream.write(_SPACES_AT_END.sub("", text))

    def flush(self) -> None:
        """Flush the stream."""
        self._stream.flush()


class _Console(Console):
    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments to be printed.

        Control characters in texts are escaped, so that only the console itself controls the terminal.
        """
        for segment in super().render(renderable, options):
            if segment.control or not _OBEYED.search(segment.text):
                yield segment
            else:
                yield Segment(printable_lines(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        """Raise `BrokenPipeError` for the caller; the inherited method exits with status 1."""
        raise BrokenPipeError


def prepare_file(path: Path, marker: str, what: str) -> None:
    """Raise `InputError` if a file cannot be written, before there is anything to write.

    This is so if the folder does not exist, and if the path has a file that is no ``what``, which begins with
    ``marker``. A device and a pipe are not touched: they accept any content, once.
    """
    try:
        there = path.exists() or path.is_symlink()
        if path.exists() and not path.is_file() and not path.is_dir():
            return
        if there:
            with path.open("rb") as file:
                head = file.read(len(marker.encode())).decode("utf-8", "replace")
            if head and head != marker:
                raise InputError(f"{path}: is there already, and is no {what}; give another file")
        with path.open("ab"):
            pass
        if not there:
            path.unlink()
    except OSError as error:
        raise unwritable(path, error) from None


def refuse_source(target: str, source: str) -> None:
    """Raise `InputError` if the file to write is the deployment itself."""
    try:
        same = samefile(target, source)
    except OSError:  # one of them is no file, or does not exist yet
        same = False
    if same:
        raise InputError(f"{target}: is the deployment itself; name another file")


def write_file(path: str | Path, text: str) -> None:
    """Write a file; `InputError` if that is impossible."""
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise unwritable(path, error) from None


def unwritable(path: str | Path, error: OSError) -> InputError:
    """Return the error for a file that cannot be written."""
    return InputError(f"{path}: cannot be written ({error.strerror or error}); name another file")
