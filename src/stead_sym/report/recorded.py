"""Reading of a report of `verify --json`, including one without a bound, or of the local method.

One decision: a report is read by the type that writes it, and one of another version, with other fields, is
refused. A report of an error or of an interrupted run is a report too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from msgspec import ValidationError, convert

from stead_sym.errors import InputError
from stead_sym.report.deepening import DeepeningReport, EveryNumberData
from stead_sym.report.document import ErrorReport, FindingData, Report, VerdictData
from stead_sym.report.localised import LocalReport
from stead_sym.verification.verdict import Said

AnyReport: TypeAlias = Report | DeepeningReport | LocalReport | ErrorReport


@dataclass(frozen=True)
class Recorded:
    """A report with its file."""

    source: str
    report: AnyReport

    @property
    def error(self) -> str | None:
        """The line of a run that ended in an error."""
        return self.report.error if isinstance(self.report, ErrorReport) else None

    @property
    def deployment(self) -> str | None:
        """The name of the deployment; None for a run that ended in an error."""
        return None if isinstance(self.report, ErrorReport) else self.report.deployment

    @property
    def specs(self) -> Mapping[str, VerdictData]:
        """The verdicts in the report."""
        return self.report.specs or {}

    @property
    def findings(self) -> list[FindingData]:
        """The findings in the report."""
        return [] if isinstance(self.report, LocalReport) else self.report.findings or []

    @property
    def sorts(self) -> frozenset[str]:
        """The unbounded sorts, whose values outside C have names like `case3`."""
        match self.report:
            case Report():
                return frozenset(sort for sort, one in self.report.derivation.items() if not one.finite)
            case DeepeningReport():
                return frozenset(sort for one in self.report.rounds for sort in one.bounds)
            case LocalReport():
                return frozenset(self.report.sorts)
            case ErrorReport():
                return frozenset()
            case _:
                assert_never(self.report)

    @property
    def every_number(self) -> Mapping[str, EveryNumberData]:
        """The proofs of specifications for every number of records."""
        return self.report.every_number if isinstance(self.report, DeepeningReport) else {}

    def word(self, spec: str) -> Said | None:
        """Return the verdict of a specification.

        It is `unknown` if the run has ended before its verdict, and None if it was not requested.
        """
        if spec in self.specs:
            return self.specs[spec].said
        return "unknown" if self.error is not None else None


def read_report(data: object, source: str) -> Recorded:
    """Return ``data`` as a report; `InputError` with the place if it is none or of another version."""
    marks: dict[str, type[AnyReport]] = {
        "error": ErrorReport,
        "explored": LocalReport,
        "every_number": DeepeningReport,
        "decisions": Report,
    }
    kind = next((kind for mark, kind in marks.items() if isinstance(data, dict) and mark in data), None)
    if kind is None:
        raise InputError(f"{source}: no report of a verification; give what `stead-sym verify --json` prints")
    try:
        report = convert(data, kind)
    except (ValidationError, UnicodeEncodeError) as error:
        what = ascii(str(error))[1:-1]
        raise InputError(
            f"{source}: {what}; give what `stead-sym verify --json` prints in this version"
        ) from None
    return Recorded(source, report)
