"""`stead-sym show`, a deployment as it is interpreted, and `stead-sym examples`, the packaged deployments.

The latter prints their names, or the text of one, with its comments. One decision: `show` prints the
deployment as text of the language, with computed properties as comments, so that its output can be read back.
"""

from __future__ import annotations

import argparse
import sys

from stead_sym.cli.options import add_file, add_harness
from stead_sym.cli.request import request_of
from stead_sym.deployment.deployment import print_deployment
from stead_sym.deployment.files import packaged_examples, packaged_text
from stead_sym.deployment.restriction import normal_restriction, theorem_restriction
from stead_sym.report.streams import console_on
from stead_sym.support.printable import printable
from stead_sym.verification.findings.static import lint


def add_show(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the arguments of `show`."""
    parser.set_defaults(run=_show)
    add_file(parser)
    add_harness(parser)
    parser.add_argument(
        "--facts", action="store_true", help="print the facts that were read, in the place of `init from`"
    )


def add_examples(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the arguments of `examples`."""
    parser.set_defaults(run=_examples)
    parser.add_argument("name", nargs="?", metavar="NAME", help="print this one, to start your own from")


def _show(options: argparse.Namespace) -> int:
    deployment = request_of(options).load()
    text = print_deployment(deployment, data=options.facts)
    if deployment.gated:
        text = f"# {deployment.name}{deployment.harness}: the guards have their conditions\n{text}"
    elif deployment.called:
        text = f"# {deployment.name}{deployment.harness}\n{text}"
    console = console_on(sys.stdout)
    if sys.stdout.isatty():
        console.print(text, soft_wrap=True)
    else:
        print(text)  # unchanged, so that it can be read back
    for heading, restriction in (
        ()
        if deployment.unbounded
        else (
            ("normal: the domain where fresh values have representatives", normal_restriction(deployment)),
            (
                "theorem: the literal domain, all specifications together",
                theorem_restriction(deployment, deployment.specs),
            ),
        )
    ):
        console.print(f"# {heading}:", soft_wrap=True)
        for derivation in restriction.derivation.values():
            console.print(f"#   {derivation}", soft_wrap=True)
    for finding in lint(deployment):
        print(printable(f"stead-sym: finding: {finding}"), file=sys.stderr)
    return 0


def _examples(options: argparse.Namespace) -> int:
    if options.name is None:
        print(*packaged_examples(), sep="\n")
    else:
        print(packaged_text(options.name), end="")
    return 0
