"""The parser of the command `stead-sym`: its subcommands in groups, their examples, and errors in one line.

One decision: an example of a `--help` runs unchanged, after those above it, with the content of the package.
A test runs each that needs no model and ends by itself.
"""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

from stead_sym import __version__
from stead_sym.errors import InputError

_NO_COMMAND = "the following arguments are required: COMMAND"
_STATUS = "exit status: 0 every specification holds, 1 one fails, 2 the input is wrong, 3 unknown, 4 a bug"


class _Parser(argparse.ArgumentParser):
    """The parser: an error in the arguments is reported in one line.

    An option must be written in full, because the presence of ``--json`` must be known before the arguments
    are parsed.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments; the subcommand they were given to reports those that are not recognised."""
        parsed, unrecognized = super().parse_known_args(args, namespace)
        if unrecognized and self._subparsers is None:
            from stead_sym.logic.names import nearest

            hint = nearest(unrecognized[0].partition("=")[0], self._option_string_actions, "")
            self.error(f"unrecognized arguments: {' '.join(unrecognized)}{f' ({hint})' if hint else ''}")
        return parsed, unrecognized

    def error(self, message: str) -> NoReturn:
        """Raise `InputError` with the message and a hint."""
        raise InputError(f"{_with_hint(message)}; see `{self.prog} --help`")


class _Grouped(_Parser):
    """The parser of the whole command: its help has the subcommands in groups."""

    def format_help(self) -> str:
        """Return the usage, the purpose, a section for each group, the options, the exit status."""
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        formatter.add_text(self.description)
        commands = {action.dest: action for action in self._subcommands._choices_actions}
        *groups, (title, others) = _GROUPS.items()
        for name, group in groups:
            formatter.start_section(name)
            formatter.add_arguments([commands[command] for command in group])
            formatter.end_section()
        formatter.start_section(title)
        formatter.add_text(", ".join(others))
        formatter.end_section()
        formatter.start_section("options")
        formatter.add_arguments([action for action in self._actions if action.option_strings])
        formatter.end_section()
        formatter.add_text(self.epilog)
        return formatter.format_help()

    @property
    def _subcommands(self) -> argparse._SubParsersAction[argparse.ArgumentParser]:
        [found] = [one for one in self._actions if isinstance(one, argparse._SubParsersAction)]
        return found


def _with_hint(message: str) -> str:
    """Return the message with a suggestion in place of the list of all choices.

    The suggestion is `verify` for a file, or the nearest choice.
    """
    from stead_sym.logic.names import nearest

    if message == _NO_COMMAND:
        return "which command? Begin with `stead-sym new NAME` or `stead-sym verify refund`"
    if found := re.search(r"invalid choice: '(.*)' \(choose from (.*)\)", message):
        if message.startswith("argument COMMAND") and Path(found[1]).is_file():
            return f"{found[1]} is a file, and no command; write `stead-sym verify {found[1]}`"
        hint = nearest(found[1], re.findall(r"[\w-]+", found[2]), "")
        return f"{message[: found.start()]}invalid choice: {found[1]!r}; {hint}" if hint else message
    return message


@dataclass(frozen=True, slots=True)
class _Command:
    """A subcommand: its line in the list of all, and the function that adds its arguments.

    The module of the function is imported for this command only. ``usage`` is given if the usual one
    misleads: FILE first, since `--spec` takes every name that follows it. ``status`` is the meaning of its
    exit status, for the end of its help.
    """

    help: str
    arguments: str
    usage: str | None = None
    status: str | None = None


_GROUPS = {
    "write a deployment": {
        "new": _Command("write a commented deployment to start from, which verifies", "new.add_new"),
        "import": _Command(
            "draft a deployment from the schema of a database and the tools of an agent",
            "importing.add_import",
        ),
        "check": _Command(
            "say what can be said without exploring: findings, sizes of domains, what is left to verify",
            "check.add_check",
        ),
        "explain": _Command(
            "print what an error or a finding means, or what the symbolic engine will work on",
            "explain.add_explain",
        ),
        "simulate": _Command("step through a deployment on a full screen", "simulate.add_simulate"),
        "bounds": _Command("find the least bounds that a deployment keeps", "bounds.add_bounds"),
    },
    "verify it": {
        "verify": _Command(
            "check specifications under an agent",
            "verify.add_verify",
            "stead-sym verify FILE [options]",
            _STATUS,
        ),
        "sweep": _Command(
            "many verifications from one file, here or on a cluster; resumable", "sweep.add_sweep"
        ),
        "blame": _Command("without which decisions would a failing specification hold?", "blame.add_blame"),
        "shield": _Command(
            "the most that any agent may do such that specifications hold, as a gate",
            "shield.add_shield",
            "stead-sym shield FILE [options]",
        ),
    },
    "use what was found": {
        "replay": _Command(
            "check evidence step by step: does it show what it claims?",
            "replay.add_replay",
            status="exit status: 0 all of it is confirmed, 1 some is not, 2 the input is wrong",
        ),
        "diff": _Command("compare two reports: verdicts, decisions, where two runs part", "diff.add_diff"),
        "graph": _Command("draw the states, or the decisions of an agent: SVG or DOT", "graph.add_graph"),
        "export": _Command(
            "write what was verified for another model checker; tools as function schemas, or all as SQL",
            "export.add_export",
            "stead-sym export FILE [options]",
        ),
    },
    "use it with the system": {
        "draft": _Command(
            "run the system's own tools on small databases, and propose their guards and effects",
            "draft.add_draft",
            "stead-sym draft FILE --binding MODULE [options]",
            "exit status: 0 written, 2 the input is wrong, 3 a limit ended it",
        ),
        "conform": _Command(
            "run the system's own tools on the states of the deployment: does it do what the file says?",
            "conform.add_conform",
            "stead-sym conform FILE --binding MODULE [options]",
            "exit status: 0 they agree, 1 they differ, 2 the input is wrong, 3 not all states were run",
        ),
        "guard": _Command(
            "serve the tools of an MCP server, and forward the calls that the deployment allows",
            "guard.add_guard",
            "stead-sym guard FILE --binding MODULE --mcp COMMAND [options]",
            "exit status: 0 the client has closed the connection, 2 the input is wrong",
        ),
    },
    "language models": {
        "models": _Command("get models, look at what they have decided, audit them", "models.add_models"),
    },
    "more": {
        "watch": _Command(
            "run verify or another command again whenever the file is saved",
            "watch.add_watch",
            "stead-sym watch COMMAND FILE [options of the command]",
        ),
        "show": _Command(
            "print a deployment, normalised, with its domain sizes and warnings", "show.add_show"
        ),
        "symmetry": _Command(
            "does a verdict hang on choices among records that nothing tells apart?", "symmetry.add_symmetry"
        ),
        "check-certificate": _Command(
            "check what `verify --certify` has written, on its own", "certificate.add_check_certificate"
        ),
        "examples": _Command("list the packaged examples, or print one", "show.add_examples"),
        "completion": _Command(
            "print the script with which a shell completes commands", "completion.add_completion"
        ),
        "lsp": _Command("run the language server, for editors", "lsp.add_lsp"),
    },
}
"""The commands by their purpose. The overall help lists only the names of those in the last group."""

FORMER = {"decisions": ["models", "decisions"], "audit": ["models", "audit"]}
"""The replacements for former names of commands."""

_COMMANDS = {name: command for group in _GROUPS.values() for name, command in group.items()}


def whole_parser() -> argparse.ArgumentParser:
    """Return the parser of the command with the arguments of all subcommands."""
    return parser_of(_COMMANDS)


def parser_of(named: Collection[str]) -> argparse.ArgumentParser:
    """Return the parser with the arguments of the subcommands that are named."""
    parser = _Grouped(
        prog="stead-sym",
        description="Verify agents that act on relational data: specifications hold, or a run shows why not."
        " To begin: `stead-sym new NAME`, then `stead-sym verify NAME.stead`.",
        epilog=_STATUS,
    )
    parser.add_argument("--version", action="version", version=f"stead-sym {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)
    for name, command in _COMMANDS.items():
        below = commands.add_parser(name, help=command.help, usage=command.usage, epilog=command.status)
        if name in named:
            module, function = command.arguments.split(".")
            getattr(import_module(f"stead_sym.cli.{module}"), function)(below)
    add_examples_to_help(parser)
    return parser


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
