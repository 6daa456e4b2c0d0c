"""`stead-sym counter-machine`: the deployment that runs a counter machine, as text."""

from __future__ import annotations

import argparse

from stead_sym.cli.numbers import positive
from stead_sym.deployment.counter_machine import counter_machine, read_program
from stead_sym.deployment.files import load_program


def add_counter_machine(parser: argparse.ArgumentParser) -> None:
    """The arguments of `counter-machine`."""
    parser.set_defaults(run=_counter_machine)
    parser.add_argument(
        "program",
        metavar="PROGRAM",
        help="a file with an instruction a line, or -: stdin (docs/theory.md)",
    )
    parser.add_argument(
        "--bound", type=positive, metavar="N", default=1, help="the sum of the counters (default: 1)"
    )


def _counter_machine(options: argparse.Namespace) -> int:
    print(counter_machine(read_program(*load_program(options.program)), options.bound), end="")
    return 0
