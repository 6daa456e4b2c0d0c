"""Verifications of a test session, each done once for any number of tests.

One decision: an error is kept like a result. Every test of a deployment that violates its definition fails
with the same line, without another verification.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar, cast

import pytest
from rich.console import Console

from pytest_stead.warned import SteadFinding, SteadScope
from stead_sym.analyses.deepening.result import Deepening
from stead_sym.deployment.trace import Trace
from stead_sym.errors import DefinitionError, Span, SteadError
from stead_sym.report.obstacle import print_obstacle
from stead_sym.report.verdicts import print_evidence, print_trace
from stead_sym.support.printable import printable, printable_lines
from stead_sym.verification.findings.finding import Finding
from stead_sym.verification.result import Verification
from stead_sym.verification.verdict import Verdict, expectation

T = TypeVar("T")


@dataclass
class Runs:
    """The verifications of a session, by request."""

    _known: dict[Hashable, object] = field(default_factory=dict)

    def __call__(self, key: Hashable, verified: Callable[[], T]) -> T:
        """Return the verification of that key, done now if it is new.

        Raises the `SteadError` that ended it.
        """
        if key not in self._known:
            try:
                self._known[key] = verified()
            except SteadError as error:
                self._known[key] = error
        known = self._known[key]
        if isinstance(known, SteadError):
            raise known.with_traceback(None)
        return cast(T, known)


def failure(result: Verification, verdict: Verdict, place: Span | None, width: int, again: str = "") -> str:
    """Return the output of a failing test, with the run that shows the verdict."""
    run = _drawn(width, lambda console: print_evidence(verdict, result.moves, console)).strip("\n")
    return _told(result.agent, verdict, run, place, again)


def failure_without_bound(
    found: Deepening, spec: str, place: Span | None, width: int, again: str = ""
) -> str:
    """Return the same for a file with `bound … any`: the run, or the obstacle."""
    one = found.found[spec]

    def draw(console: Console) -> None:
        print_evidence(one.verdict, one.moves, console)
        if one.obstacle is not None:
            print_obstacle(spec, one.obstacle, found.deployment, console)

    return _told(found.agent, one.verdict, _drawn(width, draw).strip("\n"), place, again)


def _told(agent: str, verdict: Verdict, run: str, place: Span | None, again: str) -> str:
    """Return the output of a failing test.

    It is the run that shows the verdict, or the reason if it is unknown, and the command that verifies it
    again. The last line has the place to which an editor can jump.
    """
    remarks = [
        *([f"reason: {verdict.reason}"] if verdict.reason else ()),
        expectation(verdict.word, verdict.expected),
        *verdict.scope,
    ]
    said = f"{verdict.spec} {verdict.word} under {agent}"
    lines = [line for line in (*remarks, run, again) if line]
    return "\n".join(map(printable_lines, [*lines, f"{place}: {said}" if place else said]))


def fault(error: SteadError, width: int) -> str:
    """Return the output of a test that ended in an error: its line, and the run that leads to it."""
    text = str(error)
    if isinstance(error, DefinitionError):
        trace: Trace = error.trace
        text += "\n" + _drawn(width, lambda console: print_trace(trace, console))
    return text


def tell(findings: Iterable[Finding]) -> list[str]:
    """Issue each finding as a warning at its place in the file.

    Returns the lines of those that a filter of warnings makes errors, for the caller to fail with.
    """
    told = (
        _warn(SteadFinding(printable(f"{found.kind}: {found.text}; {found.remedy}")), found.place)
        for found in findings
    )
    return [line for line in told if line]


def tell_scope(verdict: Verdict, place: Span | None) -> list[str]:
    """Issue the scope of a verdict as a warning at the specification's place; the result is as in `tell`."""
    line = _warn(SteadScope(printable(str(verdict))), place) if verdict.scope else ""
    return [line] if line else []


def _warn(said: pytest.PytestWarning, place: Span | None) -> str:
    """Issue a warning. Returns its line if it is an error, and otherwise nothing."""
    try:
        if place is None:
            warnings.warn(said, stacklevel=3)
        else:
            warnings.warn_explicit(said, None, place.source, place.line)
    except type(said):
        return f"{place}: {said}" if place else str(said)
    return ""


def _drawn(width: int, draw: Callable[[Console], None]) -> str:
    out = io.StringIO()
    draw(Console(file=out, width=width, highlight=False, markup=False, emoji=False, color_system=None))
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    return "\n".join(lines)
