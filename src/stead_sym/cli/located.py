"""--sarif and --annotate: results and findings for tools that show them at their line of the file.

One decision: a run that ends in an error writes its log too. Otherwise a CI job that uploads the log would
show the results of the run before.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from stead_sym import __version__
from stead_sym.errors import SteadError
from stead_sym.report.sarif import MARKER, annotation_lines, error_annotation, sarif_data, sarif_error
from stead_sym.report.streams import prepare_file, write_file

if TYPE_CHECKING:
    from stead_sym.analyses.deepening.result import Deepening
    from stead_sym.cli.options import Options
    from stead_sym.evidence.document import Json
    from stead_sym.verification.result import Verification


def add_located(parser: Options) -> None:
    """Add --sarif and --annotate."""
    parser.add_argument(
        "--sarif",
        metavar="FILE",
        help="write what does not hold, and the findings, there as SARIF 2.1.0 (code scanning, editors)",
    )
    parser.add_argument(
        "--annotate",
        action="store_true",
        help="print them for a workflow of GitHub too, which shows them at their lines",
    )


def prepare_located(options: argparse.Namespace) -> None:
    """Raise `InputError` if the log cannot be written, before anything is solved for it."""
    if options.sarif is not None:
        prepare_sarif(options.sarif)


def write_located(result: Verification | Deepening, options: argparse.Namespace) -> None:
    """Write and print the results that the options request."""
    if options.sarif is not None:
        write_sarif(options.sarif, sarif_data(result, __version__))
    if options.annotate:
        print(*annotation_lines(result), sep="\n", end="\n" * any(annotation_lines(result)))


@contextmanager
def errors_located(options: argparse.Namespace) -> Iterator[None]:
    """Write and print the error that the block ends in, if it does."""
    try:
        yield
    except SteadError as error:
        locate_error(error, options)
        raise


def locate_error(error: SteadError, options: argparse.Namespace) -> None:
    """Write and print an error."""
    if options.sarif is not None:
        write_sarif(options.sarif, sarif_error(error, __version__))
    if options.annotate:
        print(error_annotation(error))


def prepare_sarif(path: str) -> None:
    """Raise `InputError` if no log can be written to a path: only an earlier log is overwritten."""
    prepare_file(Path(path), MARKER, "SARIF log of stead-sym")


def write_sarif(path: str, data: Mapping[str, Json]) -> None:
    """Write the log to a file; `InputError` if that is impossible."""
    write_file(path, f"{json.dumps(data, indent=2)}\n")
