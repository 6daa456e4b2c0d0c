"""`stead-sym completion`: the script with which a shell completes the command.

One decision: the script is generated from the parser once (`shtab`), and the shell runs nothing when TAB is
pressed, since importing the package would be too slow there.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from stead_sym.cli.parser import subcommands
from stead_sym.errors import InputError
from stead_sym.support.extras import install

SHELLS = ("bash", "zsh", "fish")


def add_completion(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the arguments of `completion`."""
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=" or ".join(SHELLS))
    parser.set_defaults(run=_completion)


def _completion(options: argparse.Namespace) -> int:
    from stead_sym.cli.parser import whole_parser

    try:
        import shtab
    except ImportError:
        raise InputError(f"completion needs the library shtab; {install('completion')}") from None
    whole = whole_parser()
    _complete_paths(whole, {"FILE": shtab.FILE, "DIR": shtab.DIR})
    print(shtab.complete(whole, shell=options.shell))
    return 0


def _complete_paths(parser: argparse.ArgumentParser, kinds: Mapping[str, object]) -> None:
    """Set the completion of arguments named FILE or DIR to such paths."""
    for action in parser._actions:
        called = str(action.metavar).split("|")[0]
        if called in kinds:
            action.complete = kinds[called]  # type: ignore[attr-defined]
    for below in subcommands(parser).values():
        _complete_paths(below, kinds)
