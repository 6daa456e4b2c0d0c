"""`stead-sym diff`: comparison of two reports, after a change of a prompt, a model or a deployment.

One decision: the exit status is 1 if something got worse and 0 otherwise, whatever else changed.
"""

from __future__ import annotations

import argparse
import json
import sys

from stead_sym.deployment.files import load_json
from stead_sym.errors import InputError
from stead_sym.report.diff import compare
from stead_sym.report.diff_output import print_difference
from stead_sym.report.recorded import read_report
from stead_sym.report.streams import console_on


def add_diff(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the arguments of `diff`."""
    parser.set_defaults(run=_diff)
    parser.epilog = "exit status: 0 nothing got worse, 1 a verdict did, 2 the input is wrong"
    parser.add_argument("before", metavar="BEFORE", help="a report of `verify --json`, or -: stdin")
    parser.add_argument("after", metavar="AFTER", help="another one")
    parser.add_argument("--json", action="store_true", help="print the difference as JSON")


def _diff(options: argparse.Namespace) -> int:
    if options.before == options.after == "-":
        raise InputError("both reports cannot come from stdin; give a file for one of them")
    before, after = (
        read_report(load_json(source, "a report of `verify --json`"), "<stdin>" if source == "-" else source)
        for source in (options.before, options.after)
    )
    difference = compare(before, after)
    if options.json:
        print(json.dumps(difference.data(), indent=2))
    else:
        print_difference(difference, console_on(sys.stdout))
    return 1 if difference.worse else 0
