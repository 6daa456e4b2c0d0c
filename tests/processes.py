"""Shared by tests that start the command as a process."""

import re
import signal


def hear_ctrl_c() -> None:
    """In the new process, before the command: SIGINT interrupts it.

    A shell starts a job in the background with SIGINT ignored, and what the job starts inherits that: where
    pytest runs so, the command would rightly be deaf to it.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def said(stderr: str) -> list[str]:
    """The lines on stderr but for those of progress, which a machine that is slow or busy is told."""
    return [line for line in stderr.splitlines() if not re.fullmatch(r"stead-sym: .* \(\d+ s\)", line)]
