"""`stead-sym draft`: guards and effects of tools that are code, from what they change in small databases."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from os.path import lexists
from pathlib import Path

from stead_sym.cli.limits import add_limits, display
from stead_sym.cli.modules import prints_to_stderr, user_binding
from stead_sym.cli.numbers import positive
from stead_sym.cli.options import add_binding, add_file
from stead_sym.conformance.drafting.drafted import MOST_RUNS, draft_tools
from stead_sym.conformance.drafting.text import summary, text_with
from stead_sym.deployment.files import load
from stead_sym.errors import InputError
from stead_sym.support.printable import printable


def add_draft(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `draft`."""
    parser.set_defaults(run=_draft)
    add_file(parser)
    add_binding(parser)
    parser.add_argument(
        "--tool",
        metavar="NAME",
        nargs="+",
        default=[],
        help="draft these tools, also if they have an effect (default: those that have none)",
    )
    parser.add_argument(
        "--max-runs",
        type=positive,
        default=MOST_RUNS,
        metavar="N",
        help=f"run each tool at most so often (default: {MOST_RUNS:,})",
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="choose other databases (default: 0)"
    )
    add_limits(parser)
    parser.add_argument("-o", "--output", metavar="OUT", help="the file to write (default: stdout)")
    parser.add_argument("--quiet", action="store_true", help="no progress")


def _draft(options: argparse.Namespace) -> int:
    output = None if options.output is None else Path(options.output)
    if output is not None and lexists(output):
        raise InputError(f"{output}: is there already; give another name, or remove it")
    deployment = load(options.file)
    with prints_to_stderr():  # what the tools print is no part of the draft
        binding, _ = user_binding(options.binding)
        if options.database is not None:
            binding = replace(binding, database=options.database)
        with display(options) as progress:
            drafted = draft_tools(
                deployment,
                binding,
                named=options.tool,
                max_runs=options.max_runs,
                seed=options.seed,
                progress=progress,
            )
    folder = Path.cwd() if output is None else output.parent
    own = Path(options.file)
    given = own.read_text(encoding="utf-8") if own.is_file() else None
    text = text_with(deployment, drafted, given, folder)
    if output is None:
        print(text, end="")
    else:
        try:
            with output.open("x", encoding="utf-8") as new:
                new.write(text)
        except OSError as error:
            raise InputError(f"{output}: cannot be written ({error.strerror}); name another place") from None
        print(printable(output))
    for line in summary(drafted):
        print(f"stead-sym: {line}", file=sys.stderr)
    then = "FILE" if output is None else printable(output)
    print(
        f"stead-sym: next: read it, then stead-sym conform {then} --binding {printable(options.binding)}",
        file=sys.stderr,
    )
    return 0
