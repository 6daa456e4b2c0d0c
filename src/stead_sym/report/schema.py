"""The JSON schema of the reports, derived from the types that write them."""

from __future__ import annotations

from msgspec.json import schema_components

from stead_sym.evidence.document import Json
from stead_sym.report.bounds import BoundsReport
from stead_sym.report.deepening import DeepeningReport
from stead_sym.report.diff import DifferenceReport
from stead_sym.report.document import ErrorReport, Report
from stead_sym.report.explanation import ExplanationReport
from stead_sym.report.localised import LocalReport
from stead_sym.report.shield import ShieldReport
from stead_sym.report.symmetry import SymmetryReport
from stead_sym.report.views_plan import ViewsPlanReport

_COMMANDS = {
    "verify": Report,
    "explain": ExplanationReport,
    "explain, without a bound": ViewsPlanReport,
    "bounds": BoundsReport,
    "shield": ShieldReport,
    "verify --deepen": DeepeningReport,
    "verify --method local": LocalReport,
    "symmetry": SymmetryReport,
    "diff": DifferenceReport,
}


def report_schema() -> dict[str, Json]:
    """Return the JSON Schema of the output of these commands with `--json`, including that of an error."""
    either, parts = schema_components([*_COMMANDS.values(), ErrorReport], ref_template="#/$defs/{name}")
    commands = ", ".join(f"`stead-sym {command} --json`" for command in _COMMANDS)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "stead-sym report",
        "description": f"What {commands} print, or the error that ended them.",
        "oneOf": [*either],
        "$defs": parts,
    }
