"""An example for the `--help` of every command.

One decision: an example runs unchanged, after those above it, with the content of the package. A test runs
each that needs no model and ends by itself.
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Mapping
from types import MappingProxyType

HELP_EXAMPLES: Mapping[str, str] = MappingProxyType(
    {
        "verify": "stead-sym verify refund --policy baseline --evidence out --report refund.html",
        "check": "stead-sym check ward",
        "show": "stead-sym show refund",
        "explain": "stead-sym explain premise-never-true",
        "import": "stead-sym import --ddl schema.sql --tools tools.json -o desk.stead",
        "new": "stead-sym new desk --template agents",
        "simulate": "stead-sym simulate refund --policy baseline",
        "watch": "stead-sym watch verify desk.stead",
        "blame": "stead-sym blame refund --policy baseline",
        "shield": "stead-sym shield refund --write guarded.stead",
        "symmetry": "stead-sym symmetry airline",
        "replay": "stead-sym replay refund out/auth.json",
        "diff": "stead-sym verify refund --json > before.json; stead-sym diff before.json before.json",
        "bounds": "stead-sym bounds refund",
        "draft": "stead-sym draft desk.stead --binding desk_binding -o drafted.stead",
        "conform": "stead-sym conform desk.stead --binding desk_binding",
        "guard": "stead-sym guard desk.stead --binding desk_binding --mcp desk-server",
        "export": "stead-sym export refund --policy baseline --smv refund.smv",
        "graph": "stead-sym graph refund --policy baseline --of decisions --out refund.svg",
        "sweep": "stead-sym sweep prompts.toml --workers 4",
        "models decisions": "stead-sym models decisions list",
        "models decisions list": "stead-sym models decisions list --agent hf:MODEL",
        "models decisions show": "stead-sym models decisions show 3a34166515a4",
        "models decisions export": "stead-sym models decisions export > decisions.jsonl",
        "models decisions salvage": "stead-sym models decisions salvage damaged.sqlite sound.sqlite",
        "models": "stead-sym models list",
        "models list": "stead-sym models list",
        "models get": "stead-sym models get smollm2",
        "check-certificate": "stead-sym verify refund --certify proof; stead-sym check-certificate proof",
        "models audit": "stead-sym models audit refund --agent smollm2",
        "examples": "stead-sym examples",
        "completion": "stead-sym completion bash > ~/.local/share/bash-completion/completions/stead-sym",
        "lsp": "stead-sym lsp",
    }
)


def add_examples_to_help(parser: argparse.ArgumentParser, name: str = "") -> None:
    """Add the example to the help of each command, in one line, so that it can be copied."""
    if name in HELP_EXAMPLES:
        more = f"\n\n{textwrap.fill(parser.epilog)}" if parser.epilog else ""
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.epilog = f"example: {HELP_EXAMPLES[name]}{more}"
    for word, below in subcommands(parser).items():
        add_examples_to_help(below, f"{name} {word}".strip())


def subcommands(parser: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    """Return the parsers of a command's own commands."""
    for action in parser._actions:  # argparse has no other access to them
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}
