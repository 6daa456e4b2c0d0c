"""Arguments that several commands take: the file, the specifications and gates, the domain."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from stead_sym.deployment.parts import Harness
from stead_sym.errors import InputError
from stead_sym.logic.parser import MAX_DIGITS

if TYPE_CHECKING:
    from stead_sym.verification.options import Domain


Options: TypeAlias = argparse.ArgumentParser | argparse._ArgumentGroup
"""A target for options: a command, or a group of its options under a heading of their own."""


def add_file(parser: argparse.ArgumentParser) -> None:
    """Add FILE, the deployment."""
    parser.add_argument(
        "file", metavar="FILE", help="a .stead file, the name of a packaged example, or -: stdin"
    )


def add_binding(
    parser: argparse.ArgumentParser,
    *,
    help: str = "the Binding of the system (default name: binding)",
    database: str = "another scratch database than the binding's",
) -> None:
    """Add --binding and --database; the default texts are for tools that run in a scratch database."""
    parser.add_argument("--binding", metavar="MODULE[:NAME]", required=True, help=help)
    parser.add_argument("--database", metavar="URL", help=database)


def add_specs(parser: Options) -> None:
    """Add --spec."""
    parser.add_argument(
        "--spec", metavar="NAME", nargs="+", action="extend", help="only these specifications (default: all)"
    )


def add_harness(parser: Options) -> None:
    """Add --gate and --calls, which `harness_of` reads."""
    parser.add_argument(
        "--gate",
        metavar="NAME",
        action="append",
        help="agents are offered only what this gate allows; again for more, all of which have to",
    )
    parser.add_argument(
        "--calls",
        metavar="WORD",
        nargs="+",
        help="agents call like this, whatever the file says: sequential, or several calls in one message,"
        " batch N or parallel N; and then on refusal skip or stop",
    )


def harness_of(options: argparse.Namespace) -> Harness:
    """Return the harness of the options that the command has."""
    calls = getattr(options, "calls", None)
    return Harness(tuple(getattr(options, "gate", None) or ()), None if calls is None else " ".join(calls))


def add_formulas(parser: Options) -> None:
    """Add --formula."""
    parser.add_argument(
        "--formula", metavar="'AG ...'", action="append", help="ask this too, or only this without --spec"
    )


def add_domain(parser: Options, default: str) -> None:
    """Add --domain, which `domain` reads."""
    parser.add_argument("--domain", metavar="normal|theorem|SORT=N,...", help=default)


def domain(text: str | None) -> Domain | Mapping[str, int] | None:
    """Return the name of a mode, or the sizes in `case=5,task=5`; None leaves it to the engine."""
    if text is None:
        return None
    if text == "normal":
        return "normal"
    if text == "theorem":
        return "theorem"
    sizes: dict[str, int] = {}
    for part in text.split(","):
        sort, equals, number = (piece.strip() for piece in part.partition("="))
        if not (sort and equals and number.isascii() and number.isdigit()):
            raise InputError(
                f"argument --domain: {part.strip()!r} is not SORT=N;"
                " write normal, theorem, or sizes such as case=5,task=5"
            )
        if sort in sizes:
            raise InputError(f"argument --domain: two sizes for {sort}; give one")
        if len(number) > MAX_DIGITS:
            raise InputError(
                f"argument --domain: {sort} gets a size of {len(number)} digits; give a smaller one"
            )
        sizes[sort] = int(number)
    return sizes
