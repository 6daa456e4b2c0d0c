"""The public names of `stead_sym.report`, and where each comes from when it is first used."""

from .data import report_data as report_data
from .drawing import Drawing as Drawing
from .schema import report_schema as report_schema
