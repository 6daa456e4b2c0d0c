"""`stead-sym sweep`: many verifications from one file, on this machine or a cluster."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from stead_sym.analyses.sweeps.plan import read_plan
from stead_sym.analyses.sweeps.sweep import TRIES, Row, sweep
from stead_sym.analyses.sweeps.table import label, print_sweep, sweep_csv, sweep_data
from stead_sym.analyses.sweeps.work import RayExecutor
from stead_sym.cli.numbers import positive
from stead_sym.cli.options import add_harness, harness_of
from stead_sym.report.streams import console_on
from stead_sym.support.printable import printable


def add_sweep(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the arguments of `sweep`."""
    parser.set_defaults(run=_sweep)
    parser.add_argument("file", metavar="SWEEP.toml", help="which deployments, agents, prompts and sizes")
    add_harness(parser)
    parser.add_argument(
        "--results",
        metavar="FILE",
        help="where results are kept: what is there is not done again (default: SWEEP.results.jsonl beside)",
    )
    parser.add_argument("--again", action="store_true", help="do again what is there already")
    parser.add_argument(
        "--workers", type=positive, metavar="N", help="so many runs at a time (default: one per processor)"
    )
    parser.add_argument(
        "--ray",
        metavar="local|auto|ADDRESS",
        help="run on a Ray cluster: one that is started here, or another",
    )
    parser.add_argument(
        "--tries",
        type=positive,
        default=TRIES,
        metavar="N",
        help=f"start a run so often whose process is killed (default: {TRIES})",
    )
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="print the table as JSON")
    shape.add_argument("--csv", action="store_true", help="print the table as CSV")
    parser.add_argument("--quiet", action="store_true", help="do not tell results as they come")


def _sweep(options: argparse.Namespace) -> int:
    plan = read_plan(options.file, harness_of(options))
    address, workers = options.ray, options.workers
    found = sweep(
        plan.runs,
        store=plan.store,
        results=options.results or Path(options.file).with_suffix(".results.jsonl"),
        executor=None if address is None else lambda: RayExecutor(address, workers),
        workers=workers,
        tries=options.tries,
        again=options.again,
        told=None if options.quiet else _tell,
    )
    if options.json:
        print(json.dumps(sweep_data(found), indent=2))
    elif options.csv:
        print(sweep_csv(found), end="")
    else:
        print_sweep(found, console_on(sys.stdout))
    return found.exit_status


def _tell(row: Row, number: int, of: int) -> None:
    """Print one line for a run when its result arrives."""
    result = row.result
    words = ", ".join(f"{spec} {result.said(spec)}" for spec in result.specs)
    said = words if result.outcome == "done" else f"{result.outcome}: {result.error}"
    time = f"({result.seconds:.1f} s)" if row.fresh else "(known)"
    print(printable(f"stead-sym: {number} of {of}: {label(row)}: {said} {time}"), file=sys.stderr, flush=True)
