"""`stead-sym watch`: run another command again whenever its file is saved.

One decision: the command runs in a new process each time, so that nothing of an earlier run can influence it.
A save while it runs ends it.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from stead_sym.cli.numbers import seconds
from stead_sym.errors import InputError
from stead_sym.support.printable import printable

WATCHED = ("verify", "check", "show", "explain", "bounds")
_TICK_SECONDS = 0.3
_SETTLE_SECONDS = 0.05
_KILL_SECONDS = 5.0


def add_watch(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the arguments of `watch`."""
    parser.set_defaults(run=_watch)
    parser.add_argument(
        "--interval", type=seconds, default=_TICK_SECONDS, metavar="SECONDS", help=argparse.SUPPRESS
    )
    parser.add_argument("command", metavar="COMMAND", help=" or ".join(WATCHED))
    parser.add_argument("file", metavar="FILE", nargs="?", default="", help="a .stead file")
    parser.add_argument(
        "rest", metavar="OPTIONS", nargs=argparse.REMAINDER, help="the options of that command"
    )


def _watch(options: argparse.Namespace) -> int:
    if options.command not in WATCHED:
        if Path(options.command).is_file():
            raise InputError(f"watch which command? Write `stead-sym watch verify {options.command}`")
        raise InputError(f"{options.command} cannot be watched; write {' or '.join(WATCHED)}")
    if not options.file:
        raise InputError(f"watch which file? Write `stead-sym watch {options.command} FILE`")
    path = Path(options.file)
    if not path.is_file():
        raise InputError(f"{options.file}: there is no such file to watch; give the path of a .stead file")
    words = [options.command, options.file, *options.rest]
    seen: tuple[int, int, int] | None = None
    running: subprocess.Popen[bytes] | None = None
    try:
        while True:
            now = _stamp(path)
            if now is not None and now != seen:
                time.sleep(_SETTLE_SECONDS)  # an editor may still be writing
                seen = _stamp(path)
                _end(running)
                running = _start(words)
            time.sleep(options.interval)
    finally:
        _end(running)


def _start(words: Sequence[str]) -> subprocess.Popen[bytes]:
    clear = "\x1b[2J\x1b[H" if sys.stdout.isatty() else ""
    print(f"{clear}stead-sym {printable(shlex.join(words))}  ({time.strftime('%H:%M:%S')})", flush=True)
    return subprocess.Popen([sys.executable, "-m", "stead_sym", *words])


def _end(running: subprocess.Popen[bytes] | None) -> None:
    if running is not None and running.poll() is None:
        running.terminate()
        try:
            running.wait(_KILL_SECONDS)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """Return the identity, the time of writing and the size of a file.

    Return None while it does not exist, as when an editor replaces it.
    """
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size
