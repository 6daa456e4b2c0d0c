"""The parser of the command `stead-sym`, and its exit status.

One decision: the exit status is the answer (0 every specification holds, 1 one fails, 2 the input is
wrong, 3 unknown, 4 a bug), what was asked for goes to stdout and everything else to stderr. An error that
the package raises on purpose is one line; any other is a bug and keeps its stack trace.
"""

from __future__ import annotations

import argparse
import errno
import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from stead_sym import __version__
from stead_sym.cli.audit import add_audit
from stead_sym.cli.blame import add_blame
from stead_sym.cli.bounds import add_bounds
from stead_sym.cli.certificate import add_check_certificate
from stead_sym.cli.check import add_check
from stead_sym.cli.child import Watcher
from stead_sym.cli.completion import add_completion
from stead_sym.cli.decisions import add_decisions
from stead_sym.cli.diff import add_diff
from stead_sym.cli.examples_of_help import add_examples_to_help
from stead_sym.cli.explain import add_explain
from stead_sym.cli.export import add_export
from stead_sym.cli.graph import add_graph
from stead_sym.cli.lsp import add_lsp
from stead_sym.cli.machine import add_counter_machine
from stead_sym.cli.models import add_models
from stead_sym.cli.new import add_new
from stead_sym.cli.replay import add_replay
from stead_sym.cli.show import add_examples, add_show
from stead_sym.cli.simulate import add_simulate
from stead_sym.cli.sweep import add_sweep
from stead_sym.cli.symmetry import add_symmetry
from stead_sym.cli.verify import add_verify
from stead_sym.cli.watch import add_watch
from stead_sym.errors import InputError, SteadError
from stead_sym.logic.names import nearest
from stead_sym.report.streams import print_bug, print_error

_BUG = 4
_INTERRUPTED = 130  # as of a process that SIGINT has ended
_CANNOT_WRITE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO})
_NO_READER = 141  # as of one that SIGPIPE has ended
_NO_COMMAND = "the following arguments are required: COMMAND"
_STATUS = "exit status: 0 every specification holds, 1 one fails, 2 the input is wrong, 3 unknown, 4 a bug"


def main(arguments: Sequence[str] | None = None, *, watcher: int | None = None) -> int:
    """Run the command and return its exit status.

    As a command (without ``arguments``), and with limits, a verification runs in a child process
    (`cli.child`); there, ``watcher`` is the descriptor that leads to the parent. An exception that nothing
    expected is printed with its stack trace, and the status is 4.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    call = argparse.Namespace(words=words, as_command=arguments is None)
    _open_what_is_closed()
    try:
        call.watcher = None if watcher is None else Watcher(watcher)
        options = _parser().parse_args(words, call)
        run: Callable[[argparse.Namespace], int] = options.run
        status = run(options)
        sys.stdout.flush()
    except SteadError as error:
        print_error(error, as_json="--json" in words)
        return error.exit_status
    except KeyboardInterrupt:
        print("stead-sym: interrupted", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe has left; there is nobody to tell
        _let_go_of_stdout()
        return _NO_READER
    except Exception as error:  # noqa: BLE001 (the last resort: status 1 would mean that something fails)
        if isinstance(error, OSError) and error.errno in _CANNOT_WRITE and error.filename is None:
            _let_go_of_stdout()
            print(f"stead-sym: the output cannot be written ({error.strerror}); make room", file=sys.stderr)
            return InputError.exit_status
        print_bug(error, as_json="--json" in words)
        try:
            sys.stdout.flush()
        except OSError:  # what could not be written would be tried again at the end, with a status of its own
            _let_go_of_stdout()
        return _BUG
    return status


def _open_what_is_closed() -> None:
    """Give what is written to a closed stdout or stderr to nobody. Python has no such stream then, and its
    descriptor would be that of the next file or socket that is opened."""
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            if nowhere != descriptor:
                os.dup2(nowhere, descriptor)
            stream = open(descriptor, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 (it stays open)
            setattr(sys, name, stream)


def _let_go_of_stdout() -> None:
    """Whatever is still to be written to stdout goes nowhere."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Parser(argparse.ArgumentParser):
    """Wrong arguments are wrong input: one line, like any other. An option has to be written in full:
    whether ``--json`` is among the words has to be known before they are parsed."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Words that no argument takes are told by the subcommand that they were given to."""
        found, left = super().parse_known_args(args, namespace)
        if left and self._subparsers is None:
            hint = nearest(left[0].partition("=")[0], self._option_string_actions, "")
            self.error(f"unrecognized arguments: {' '.join(left)}{f' ({hint})' if hint else ''}")
        return found, left

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{_with_hint(message)}; see `{self.prog} --help`")


def _with_hint(message: str) -> str:
    """What was meant in place of the list of all choices: a file is verified, and one choice is close."""
    if message == _NO_COMMAND:
        return "which command? Begin with `stead-sym new NAME` or `stead-sym verify refund`"
    if found := re.search(r"invalid choice: '(.*)' \(choose from (.*)\)", message):
        if message.startswith("argument COMMAND") and Path(found[1]).is_file():
            return f"{found[1]} is a file, and no command; write `stead-sym verify {found[1]}`"
        hint = nearest(found[1], re.findall(r"[\w-]+", found[2]), "")
        return f"{message[: found.start()]}invalid choice: {found[1]!r}; {hint}" if hint else message
    return message


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="stead-sym",
        description="Verify agents that act on relational data: specifications hold, or a run shows why not."
        " To begin: `stead-sym new NAME`, then `stead-sym verify NAME.stead`.",
        epilog=_STATUS,
    )
    parser.add_argument("--version", action="version", version=f"stead-sym {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    add_verify(
        commands.add_parser(
            "verify",
            help="check specifications under an agent",
            usage="stead-sym verify FILE [options]",  # FILE first: --spec takes every name that follows it
            epilog=parser.epilog,
        )
    )
    add_sweep(
        commands.add_parser("sweep", help="many verifications from one file, here or on a cluster; resumable")
    )
    add_new(commands.add_parser("new", help="write a commented deployment to start from, which verifies"))
    add_check(
        commands.add_parser(
            "check",
            help="say what can be said without exploring: findings, sizes of domains, what is left to verify",
        )
    )
    add_simulate(commands.add_parser("simulate", help="step through a deployment on a full screen"))
    add_watch(
        commands.add_parser(
            "watch",
            help="run verify or another command again whenever the file is saved",
            usage="stead-sym watch COMMAND FILE [options of the command]",
        )
    )
    add_show(
        commands.add_parser("show", help="print a deployment, normalised, with its domain sizes and warnings")
    )
    add_explain(
        commands.add_parser(
            "explain",
            help="print what an error or a finding means, or what the symbolic engine will work on",
        )
    )

    add_blame(
        commands.add_parser("blame", help="without which decisions would a failing specification hold?")
    )
    add_symmetry(
        commands.add_parser(
            "symmetry", help="does a verdict hang on choices among records that nothing tells apart?"
        )
    )
    add_replay(
        commands.add_parser(
            "replay",
            help="check evidence step by step: does it show what it claims?",
            epilog="exit status: 0 all of it is confirmed, 1 some is not, 2 the input is wrong",
        )
    )
    add_diff(
        commands.add_parser("diff", help="compare two reports: verdicts, decisions, where two runs part")
    )

    add_bounds(commands.add_parser("bounds", help="find the least bounds that a deployment keeps"))

    add_export(
        commands.add_parser(
            "export",
            help="write what was verified for another model checker: NuSMV, Storm, Spin",
            usage="stead-sym export FILE [options]",  # as for verify
        )
    )

    add_graph(commands.add_parser("graph", help="draw the states, or the decisions of an agent: SVG or DOT"))

    add_decisions(
        commands.add_parser("decisions", help="list, show and export the decisions that models have taken")
    )

    add_models(commands.add_parser("models", help="list and get the models that have a short name"))

    add_check_certificate(
        commands.add_parser("check-certificate", help="check what `verify --certify` has written, on its own")
    )

    add_audit(commands.add_parser("audit", help="do a model's choices follow renamings of what it is shown?"))

    add_examples(commands.add_parser("examples", help="list the packaged examples, or print one"))

    add_counter_machine(
        commands.add_parser("counter-machine", help="print the deployment that runs a counter machine")
    )
    add_completion(
        commands.add_parser("completion", help="print the script with which a shell completes commands"),
        _parser,
    )
    add_lsp(commands.add_parser("lsp", help="run the language server, for editors"))
    add_examples_to_help(parser)
    return parser
