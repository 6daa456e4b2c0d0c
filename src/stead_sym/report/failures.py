"""Errors and bugs as the command reports them: on stderr, and as JSON on request."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.cells import cell_len

from stead_sym.deployment.language import read_text
from stead_sym.errors import DefinitionError, InputError, Span, SteadError, Undecided
from stead_sym.evidence.document import Json
from stead_sym.report.data import bug_data, error_data
from stead_sym.report.streams import console_on
from stead_sym.report.topics import topics
from stead_sym.report.verdicts import print_trace

_MAX_LINE_CHARACTERS = 160


def print_error(
    error: SteadError,
    *,
    as_json: bool,
    phase: str = "",
    counts: Mapping[str, int] | None = None,
    specs: Mapping[str, Json] | None = None,
    findings: Sequence[Json] = (),
) -> None:
    """Print the error on stderr in one line, with the run that leads to it.

    On a terminal, also print the line of the file that it is about. With ``as_json``, also print a report on
    stdout. It has the ``phase`` in which a run was ended, its ``counts``, and the verdicts and findings known
    by then.
    """
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
        print(json.dumps(error_data(error, phase, counts or {}, specs, findings), indent=2))


def _marked_line(place: Span) -> list[str]:
    """Return the line of a file that a place is in, and a mark below the column.

    Return nothing if the place is in no file, or in a line that cannot be printed unchanged.
    """
    try:
        lines = read_text(place.source).split("\n") if Path(place.source).is_file() else []
    except InputError:
        return []
    line = lines[place.line - 1].replace("\t", " ").rstrip() if place.line <= len(lines) else ""
    if not line.isprintable() or cell_len(line) > _MAX_LINE_CHARACTERS:
        return []
    return [line, " " * cell_len(line[: place.column - 1]) + "^"] if line else []


def print_bug(error: Exception, *, as_json: bool) -> None:
    """Print the stack trace of an unexpected exception on stderr.

    With ``as_json``, also print a report on stdout.
    """
    traceback.print_exception(error)
    data = bug_data(error)
    print(f"stead-sym: {data['error']}", file=sys.stderr)
    if as_json:
        print(json.dumps(data, indent=2))
