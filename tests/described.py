"""Reports as JSON are as their schema says. It is made once, which takes longer than what it checks."""

from __future__ import annotations

import jsonschema

from stead_sym.report.schema import report_schema

_SCHEMA = jsonschema.Draft202012Validator(report_schema())


def assert_described(report: object) -> None:
    """The schema of the reports allows this data."""
    _SCHEMA.validate(report)
