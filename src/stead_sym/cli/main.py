"""The command `stead-sym`, and its exit status.

Imports that only some commands or errors need are local to them, since every command waits for the imports
here.

One decision: the exit status is the answer (0 every specification holds, 1 one fails, 2 the input is wrong, 3
unknown, 4 a bug). The requested output goes to stdout and everything else to stderr. An error that the
package raises on purpose is one line; any other is a bug and keeps its stack trace.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from stead_sym.cli.child import supervised
from stead_sym.cli.parser import FORMER, parser_of
from stead_sym.cli.watcher import Watcher
from stead_sym.errors import AgentError, InputError, SteadError

_BUG = 4
_INTERRUPTED = 130  # as for a process that SIGINT has ended
_CANNOT_WRITE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO})
_NO_READER = 141  # as for one that SIGPIPE has ended


def main(arguments: Sequence[str] | None = None, *, watcher: int | None = None) -> int:
    """Run the command and return its exit status.

    As a command (without ``arguments``), and with limits, a verification runs in a child process
    (`cli.child`). There, ``watcher`` is the descriptor that leads to the parent. An unexpected exception is
    printed with its stack trace, and the status is 4.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    words = [*FORMER.get(words[0], words[:1]), *words[1:]] if words else words
    call = argparse.Namespace()
    _open_what_is_closed()
    try:
        call.watcher = None if watcher is None else Watcher(watcher)
        ended = None if watcher is not None else supervised(words, as_command=arguments is None)
        if isinstance(ended, int):
            return ended
        options = parser_of(words[:1]).parse_args(words, call)
        status = _run(options) if ended is None else options.stopped(options, ended)
        sys.stdout.flush()
    except SteadError as error:
        from stead_sym.report.failures import print_error

        print_error(error, as_json="--json" in words)
        return error.exit_status
    except KeyboardInterrupt:
        print("stead-sym: interrupted", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe has left
        _let_go_of_stdout()
        return _NO_READER
    except Exception as error:  # noqa: BLE001 (the last resort: status 1 would mean that something fails)
        if isinstance(error, OSError) and error.errno in _CANNOT_WRITE and error.filename is None:
            _let_go_of_stdout()
            print(f"stead-sym: the output cannot be written ({error.strerror}); make room", file=sys.stderr)
            return InputError.exit_status
        from stead_sym.report.failures import print_bug

        print_bug(error, as_json="--json" in words)
        try:
            sys.stdout.flush()
        except OSError:  # the exit would retry the write, with a status of its own
            _let_go_of_stdout()
        return _BUG
    return status


def _run(options: argparse.Namespace) -> int:
    """Run the command and return its exit status.

    Raises `AgentError` if code of the user, such as that of an agent, exits: its exit status would be taken
    for an answer.
    """
    try:
        status: int = options.run(options)
    except SystemExit as end:
        raise AgentError(f"an agent, or what it calls, exits with {end.code!r}; let it answer") from end
    return status


def _open_what_is_closed() -> None:
    """Replace a closed stdout or stderr by a stream that discards everything.

    Otherwise Python has no such stream, and its descriptor would be that of the next file or socket that is
    opened.
    """
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            if nowhere != descriptor:
                os.dup2(nowhere, descriptor)
            stream = open(descriptor, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 (it stays open)
            setattr(sys, name, stream)


def _let_go_of_stdout() -> None:
    """Discard everything that is still to be written to stdout."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
