"""The public names of `stead_sym.report`, and where each comes from when it is first used."""

from .data import report_data, report_schema
from .diagram import Drawing

__all__ = [
    # verdicts
    "Drawing",
    "report_data",
    "report_schema",
]
