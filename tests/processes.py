"""What tests that start the command as a process have in common."""

import signal


def hear_ctrl_c() -> None:
    """In the new process, before the command: SIGINT interrupts it.

    A shell starts a job in the background with SIGINT ignored, and what the job starts inherits that: where
    pytest runs so, the command would rightly be deaf to it.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
