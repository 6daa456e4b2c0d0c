"""The cost of certificates: the time of writing and of checking them, as ratios to that of verifying.

    python benchmarks/certificates.py [--repeat 3] [--case desks:16:approving:normal …]

Prints one line of a table per case. `certify` is the CPU time of verifying and writing a certificate, `check`
that of checking it, both divided by the CPU time of verifying alone (with findings, as the command does it);
of each time the least of several is taken. One decision: all of it happens in one process, repetition by
repetition, so that whatever else the machine does falls on all three alike.
"""

from __future__ import annotations

import argparse
import gc
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from families import desks, refunds, service_desk

import stead_sym as st

_T = TypeVar("_T")
FAMILIES = {"desks": desks, "refunds": refunds, "service_desk": service_desk}
CASES = (
    "desks:4:approving:normal",
    "desks:16:approving:normal",
    "desks:32:approving:normal",
    "desks:2:approving:theorem",
    "refunds:2:any:normal",
    "refunds:4:any:normal",
    "refunds:2:any:theorem",
    "service_desk:20:careful:normal",
    "service_desk:5:careful:theorem",
)


@dataclass(frozen=True)
class Case:
    """A deployment of a family under a policy, in a mode."""

    family: str
    size: int
    policy: str
    mode: str

    @classmethod
    def of(cls, text: str) -> Case:
        """The case that `desks:16:approving:normal` says."""
        family, size, policy, mode = text.split(":")
        return cls(family, int(size), policy, mode)

    def __str__(self) -> str:
        return f"{self.family} {self.size}, {self.policy}, {self.mode}"


@dataclass(frozen=True)
class Cost:
    """CPU seconds, and what the certificate takes on disk."""

    states: int
    verify: float
    write: float
    check: float
    kib: int
    obligations: int

    @property
    def cells(self) -> Iterator[str]:
        """The cells of a row."""
        yield from (f"{self.states:,}", f"{self.verify:.2f} s")
        yield from (f"{(self.verify + self.write) / self.verify:.2f}", f"{self.check / self.verify:.2f}")
        yield from (f"{self.kib:,} KiB", str(self.obligations))


def timed(function: Callable[[], _T]) -> tuple[float, _T]:
    """The CPU seconds of a call, and its result."""
    gc.collect()
    started = time.process_time()
    result = function()
    return time.process_time() - started, result


def cost(case: Case, repeat: int) -> Cost:
    """The least times of a case; `AssertionError` where the check states other verdicts."""
    deployment = FAMILIES[case.family](case.size)
    times: list[tuple[float, float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(repeat):
            verify, result = timed(lambda: st.verify(deployment, case.policy, domain=case.mode))
            write, path = timed(lambda result=result: st.write_certificate(result, folder))
            words = {name: verdict.word for name, verdict in result.verdicts.items()}
            states = result.states
            del result
            check, checked = timed(lambda path=path: st.check_certificate(path))
            assert dict(checked.verdicts) == words, case
            times.append((verify, write, check))
        size = sum(file.stat().st_size for file in Path(folder).iterdir())
    least = (min(column) for column in zip(*times, strict=True))
    return Cost(states, *least, size // 1024, checked.number)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--repeat", type=int, default=3, metavar="N", help="times are the least of N (default: 3)"
    )
    parser.add_argument("--case", type=Case.of, action="append", metavar="FAMILY:SIZE:POLICY:MODE")
    options = parser.parse_args(arguments)
    heads = ("case", "states", "verify", "certify", "check", "files", "obligations")
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    for case in options.case or map(Case.of, CASES):
        print(f"| {case} | {' | '.join(cost(case, options.repeat).cells)} |", flush=True)


if __name__ == "__main__":
    main()
