"""Verification in a separate process, with limits and with a report however that process ends.

One decision: the process runs the command and returns its report. So the data are the same for a run that
completes, for one that is ended early, and for an error.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from stead_sym.agents.roles import ANY
from stead_sym.deployment.deployment import Deployment, as_deployment
from stead_sym.errors import InputError
from stead_sym.evidence.document import Json
from stead_sym.verification.request import Request

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); from stead_sym.cli import main, watcher;"
    " watcher.die_with_parent(); sys.exit(main.main())"
)


@dataclass(frozen=True, slots=True)
class Ended:
    """The result of a process: its exit status, or minus the signal that ended it, and its output."""

    status: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Json] | None:
        """The report that was printed, or None if there is none."""
        try:
            found = json.loads(self.out)
        except ValueError:
            return None
        return found if isinstance(found, dict) else None


def command_apart(
    words: Sequence[str],
    text: str,
    *,
    folder: str | None = None,
    environment: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> Ended:
    """Run the command with these arguments in a separate process and return its result.

    ``text`` is its stdin, ``folder`` its working directory, and ``environment`` adds variables. The process
    ends when this one does. After ``timeout`` seconds it is killed, as by a signal.
    """
    command = [sys.executable, "-P", "-c", _START, json.dumps(sys.path), *words]
    try:
        ended = subprocess.run(
            command,
            input=text,
            capture_output=True,
            encoding="utf-8",
            check=False,
            cwd=folder,
            env={**os.environ, **(environment or {})},
            timeout=timeout,
        )
    except subprocess.TimeoutExpired:  # `run` has killed the process by then
        return Ended(-signal.SIGKILL, "", f"it did not end within {timeout:g} s")
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def verify_apart(
    deployment: Deployment,
    agent: str | Mapping[str, str] = ANY,
    specs: Iterable[str] | None = None,
    *,
    gates: str | Iterable[str] = (),
    calls: str | None = None,
    timeout: float | None = None,
    memory: int | None = None,
) -> dict[str, Json]:
    """Verify in a separate process and return the report, in the format of `report_data`.

    ``agent`` is a policy of the deployment, ``"any"``, a model such as ``"hf:MODEL"``, or a mapping from
    agents to these. ``specs`` are names of specifications and formulas as text, ``gates`` names of gates,
    ``calls`` how agents call.

    After ``timeout`` seconds, beyond ``memory`` MiB, after a crash and for wrong input, the report is that of
    an error: ``"error"`` describes it, and ``"specs"`` has the verdicts established by then. For POSIX
    systems. Raises `InputError` if ``specs`` is empty, `RuntimeError` if the process printed no report.
    """
    known = {spec.name for spec in as_deployment(deployment).specs}
    asked = None if specs is None else [specs] if isinstance(specs, str) else list(specs)
    if asked == []:
        raise InputError("no specification is asked for; leave `specs` out for all of them")
    words = ["verify", "-", "--json", "--quiet", *Request.of(agent, asked, gates, known, calls=calls).words]
    if timeout is not None:
        words += ["--timeout", f"{timeout}"]
    if memory is not None:
        words += ["--memory", f"{memory}"]
    ended = command_apart(words, str(deployment))
    report = ended.report
    if report is None:
        raise RuntimeError(f"the process has ended with status {ended.status}: {ended.err.strip()}")
    return report
