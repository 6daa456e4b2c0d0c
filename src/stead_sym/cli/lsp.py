"""`stead-sym lsp`: the language server that editors start.

One decision: the library of the protocol (`pygls`, extra `lsp`) is imported when the command runs, and given
streams of its own, since it closes them at the end.
"""

from __future__ import annotations

import argparse
import os

from stead_sym.errors import InputError
from stead_sym.support.extras import install


def add_lsp(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the arguments of `lsp`."""
    parser.set_defaults(run=_lsp)
    parser.add_argument("--stdio", action="store_true", help="speak over stdin and stdout (the only way)")


def _lsp(options: argparse.Namespace) -> int:
    try:
        from stead_sym.cli.editor.server import make_server
    except ImportError:
        raise InputError(f"lsp needs the library pygls; {install('lsp')}") from None
    with os.fdopen(os.dup(0), "rb") as stdin, os.fdopen(os.dup(1), "wb") as stdout:
        make_server().start_io(stdin, stdout)
    return 0
