"""Lark's contextual lexer, with one regular expression for each terminal.

Lark compiles a union for each set of terminals that some state of the parser allows: 52 for a small file,
which takes longer than to verify it. One decision: each terminal is compiled once, and those of a state are
tried one after the other, in lark's order. Python tries the alternatives of a union in the same way, so that
the tokens are the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lark import lexer
from lark.lexer import TerminalDef


class _Scanner(lexer.Scanner):
    """A scanner with one regular expression for each terminal; `re` keeps what it has compiled."""

    def _build_mres(self, terminals: Sequence[TerminalDef], max_size: int) -> list[re.Pattern[str]]:
        one_each: list[re.Pattern[str]] = super()._build_mres(terminals, 1)  # type: ignore[no-untyped-call]
        return one_each


class _BasicLexer(lexer.BasicLexer):
    """The lexer of one state; the grammars here have no callbacks of their own."""

    def _build_scanner(self) -> lexer.Scanner:
        flags, module, use_bytes = self.g_regex_flags, self.re, self.use_bytes
        made = lexer._create_unless(self.terminals, flags, module, use_bytes)  # type: ignore[no-untyped-call]
        terminals, self.callback = made
        self._scanner = _Scanner(terminals, flags, module, use_bytes)  # type: ignore[no-untyped-call]
        return self._scanner


class TerminalLexer(lexer.ContextualLexer):
    """A contextual lexer that compiles each terminal once."""

    BasicLexer = _BasicLexer
