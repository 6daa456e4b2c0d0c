"""A verification in another process, from Python: with limits, and whatever becomes of that process.

One decision: it is the command that runs there, so that its report is what comes back, the same data for a
run that is complete, for one that was ended early, and for an error.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping

from stead_sym.agent.models.catalogue import CATALOGUE
from stead_sym.agent.roles import ANY
from stead_sym.deployment.deployment import Deployment, as_deployment
from stead_sym.errors import InputError
from stead_sym.evidence.data import Json


def verify_apart(
    deployment: Deployment,
    agent: str | Mapping[str, str] = ANY,
    specs: Iterable[str] | None = None,
    *,
    timeout: float | None = None,
    memory: int | None = None,
) -> dict[str, Json]:
    """The report of a verification in a process of its own, as `report_data` has it.

    ``agent`` is a policy of the deployment, ``"any"``, or a model such as ``"hf:MODEL"``, or a mapping from
    agents to these; ``specs`` are names of specifications and formulas as text. Past ``timeout`` seconds or
    ``memory`` MiB, after a crash, and for wrong input, it is the report of an error: ``"error"`` says what
    happened, ``"specs"`` has the verdicts established by then. For POSIX systems. Raises `InputError` where
    no specification is asked for, `RuntimeError` where the process has not printed a report.
    """
    known = {spec.name for spec in as_deployment(deployment).specs}
    words = ["verify", "-", "--json", "--quiet", *_agents(agent)]
    asked = [] if specs is None else [specs] if isinstance(specs, str) else list(specs)
    if specs is not None and not asked:
        raise InputError("no specification is asked for; leave `specs` out for all of them")
    for question in asked:
        names = question in known or question.isidentifier()
        words += ["--spec" if names else "--formula", question]
    if timeout is not None:
        words += ["--timeout", f"{timeout}"]
    if memory is not None:
        words += ["--memory", f"{memory}"]
    ended = subprocess.run(
        [sys.executable, "-P", "-m", "stead_sym", *words],
        input=str(deployment),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    try:
        report: dict[str, Json] = json.loads(ended.stdout)
    except ValueError:
        said = ended.stderr.strip()
        raise RuntimeError(f"the process has ended with status {ended.returncode}: {said}") from None
    return report


def _agents(agent: str | Mapping[str, str]) -> Iterator[str]:
    """The words of the command that name the agents."""
    if isinstance(agent, str):
        yield from (_kind(agent), agent)
    else:
        for name, who in agent.items():
            yield from (_kind(who), f"{name}={who}")


def _kind(who: str) -> str:
    return "--agent" if who == ANY or ":" in who or who in CATALOGUE else "--policy"
