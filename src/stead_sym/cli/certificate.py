"""`stead-sym check-certificate`: check that a certificate is a proof of what it states."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from rich.padding import Padding

from stead_sym.certificate.checker.check import check_certificate
from stead_sym.certificate.verdict import CheckedCertificate
from stead_sym.cli.options import add_harness, harness_of
from stead_sym.deployment.deployment import print_deployment
from stead_sym.deployment.files import load
from stead_sym.deployment.harness import in_harness, under_recorded
from stead_sym.errors import InputError
from stead_sym.report.streams import console_on
from stead_sym.support.wrapping import Table


def add_check_certificate(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the arguments of `check-certificate`."""
    parser.set_defaults(run=_check)
    parser.epilog = "exit status: 0 accepted, 1 rejected, 2 no certificate, 3 not decided"
    parser.add_argument("directory", metavar="DIR", help="what `verify --certify DIR` has written")
    parser.add_argument(
        "--about", metavar="FILE", help="a deployment; the certificate has to be about it, as it is now"
    )
    add_harness(parser)
    parser.add_argument("--backend", choices=("cudd", "autoref"), help="the diagrams of the checker")
    parser.add_argument("--json", action="store_true", help="print the account as JSON")


def _check(options: argparse.Namespace) -> int:
    harness = harness_of(options)
    if str(harness) and options.about is None:
        option = "--gate" if harness.gates else "--calls"
        raise InputError(f"{option} is about a deployment; say of which by --about FILE")
    about = None
    if options.about is not None:
        about = in_harness(load(options.about), harness)
    checked = check_certificate(options.directory, backend=options.backend)
    if about is not None:
        now = under_recorded(about, checked.harness, options.directory)
        # as text, since what is checked keeps the history that its specifications speak of
        if print_deployment(now) != print_deployment(checked.deployment):
            raise InputError(
                f"{options.directory}: the certificate is about another deployment than {options.about} has"
                " now; verify that one with --certify, with its gates if it has any"
            )
    if options.json:
        print(json.dumps(_data(checked), indent=2))
    else:
        console = console_on(sys.stdout)
        console.print(checked.summary, soft_wrap=True)
        console.print()
        console.print(_table(checked))
        specs = {spec.name for spec in checked.deployment.specs}
        for claim in checked.claims:
            what = f"spec {claim.name}" if claim.name in specs else "question"
            number = f"{claim.obligations} obligation{'s' * (claim.obligations != 1)}"
            console.print(f"\n{what} {claim.verdict}, by {number}:")
            console.print(Padding(claim.formula, (0, 0, 0, 4)))
        if checked.unclaimed:
            console.print(f"\nNothing is claimed about {', '.join(checked.unclaimed)}.")
    return 0


def _table(checked: CheckedCertificate) -> Table:
    table = Table("part", "obligations", box=None, pad_edge=False, header_style="")
    for part, number in checked.obligations.items():
        table.add_row(part, str(number))
    return table


def _data(checked: CheckedCertificate) -> dict[str, object]:
    return {
        "deployment": checked.deployment.name,
        "mode": checked.mode,
        "agents": dict(checked.agents),
        "gates": list(checked.harness.gates),
        "calls": checked.harness.calls,
        "specs": dict(checked.verdicts),
        "claims": [asdict(claim) for claim in checked.claims],
        "unclaimed": list(checked.unclaimed),
        "obligations": dict(checked.obligations),
        "facts": checked.facts,
        "nodes": checked.nodes,
        "seconds": checked.seconds,
    }
