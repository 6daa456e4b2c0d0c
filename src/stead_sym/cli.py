"""The command `stead-sym`: verify a deployment, show one, list the packaged examples.

One decision: the exit status is the answer (0 every specification holds, 1 one fails, 2 the input is
wrong, 3 unknown), what was asked for goes to stdout and everything else to stderr. An error that
the package raises on purpose is one line; any other is a bug and keeps its stack trace.
"""

from __future__ import annotations

import argparse
import io
import json
import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import NoReturn, TextIO

from rich.console import Console

from stead_sym import __version__
from stead_sym.agent.choose import KINDS, open_backend, open_store
from stead_sym.agent.model import ModelAgent
from stead_sym.agent.prompt import Prompt
from stead_sym.agent.replay import ReplayAgent
from stead_sym.api import load, load_text, packaged_examples
from stead_sym.audits import add_audit
from stead_sym.decisions import add_decisions
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.lint import lint
from stead_sym.deployment.restriction import normal_restriction, theorem_restriction
from stead_sym.errors import DefinitionError, InputError, SteadError
from stead_sym.report.data import error_data, report_data
from stead_sym.report.progress import ProgressDisplay
from stead_sym.report.terminal import print_trace, print_verdicts, print_verification
from stead_sym.verification import AgentLike, Domain, Verification, verify

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        options = _parser().parse_args(words)
        run: Callable[[argparse.Namespace], int] = options.run
        status = run(options)
        sys.stdout.flush()
    except SteadError as error:
        _print_error(error, as_json="--json" in words)
        return error.exit_status
    except KeyboardInterrupt:
        print("stead-sym: interrupted", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe has left; there is nobody to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


class _Parser(argparse.ArgumentParser):
    """Wrong arguments are wrong input: one line, like any other."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}; see `{self.prog} --help`")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="stead-sym",
        description="Verify agents that act on relational data: specifications hold, or a run shows why not.",
        epilog="exit status: 0 every specification holds, 1 one fails, 2 the input is wrong, 3 unknown",
    )
    parser.add_argument("--version", action="version", version=f"stead-sym {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    check = commands.add_parser(
        "verify",
        help="check specifications under an agent",
        usage="stead-sym verify FILE [options]",  # FILE first: --spec takes every name that follows it
        epilog=parser.epilog,
    )
    check.set_defaults(run=_verify)
    _add_file(check)
    agent = check.add_mutually_exclusive_group()
    agent.add_argument("--policy", metavar="NAME", help="a policy of the file as the agent")
    agent.add_argument(
        "--agent",
        metavar=f"any|{'|'.join(KINDS)}",
        help="any: whatever agent; everything offered can happen. MODEL: a folder, or a name on the hub",
    )
    agent.add_argument(
        "--replay", metavar="FILE", help="answer from exported decisions, without a model (JSON Lines)"
    )
    check.add_argument(
        "--unwrapped",
        action="store_true",
        help="ask the agent about literal identifiers, without the wrapper; verdicts are then unknown",
    )
    check.add_argument("--prompts", metavar="DIR", help="take texts of the model's prompt from files there")
    check.add_argument(
        "--store", metavar="FILE", help="the store of the model's decisions (default: your own)"
    )
    check.add_argument(
        "--tolerance",
        type=_tolerance,
        metavar="D",
        help="let the model select all that comes within D of its choice, in log-probability (default: 0)",
    )
    check.add_argument(
        "--spec", metavar="NAME", nargs="+", action="extend", help="only these specifications (default: all)"
    )
    check.add_argument("--engine", choices=("symbolic", "explicit"), default="symbolic")
    check.add_argument(
        "--domain",
        metavar="normal|theorem|SORT=N,...",
        help="normal: fresh values have representatives (default, symbolic engine only); theorem: the literal"
        " domain (default of the explicit engine); SORT=N: that one, with more values of some sorts",
    )
    check.add_argument(
        "--force", action="store_true", help="accept domains below the theorem's; verdicts are then unknown"
    )
    check.add_argument("--backend", choices=("cudd", "autoref"), help="the diagrams of the symbolic engine")
    check.add_argument(
        "--max-states", type=_positive, metavar="N", help="give up past so many states (explicit engine)"
    )
    check.add_argument("--json", action="store_true", help="print the report as JSON")
    check.add_argument("--quiet", action="store_true", help="print the verdicts only; no notes, no progress")

    show = commands.add_parser(
        "show", help="print a deployment, normalised, with its domain sizes and warnings"
    )
    show.set_defaults(run=_show)
    _add_file(show)

    add_decisions(
        commands.add_parser("decisions", help="list, show and export the decisions that models have taken")
    )

    add_audit(commands.add_parser("audit", help="do a model's choices follow renamings of what it is shown?"))

    listing = commands.add_parser("examples", help="list the packaged examples")
    listing.set_defaults(run=_examples)
    return parser


def _add_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a .stead file, or the name of a packaged example")


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of at least 1")
    return int(text)


def _tolerance(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of at least 0")
    return number


# verify


def _verify(options: argparse.Namespace) -> int:
    if options.max_states is not None and options.engine != "explicit":
        raise InputError("--max-states limits the explicit engine; add --engine explicit, or leave it out")
    if options.backend is not None and options.engine != "symbolic":
        raise InputError("--backend is for the symbolic engine; leave it out with --engine explicit")
    with_model = options.replay is not None or options.agent not in (None, "any")
    for name in ("prompts", "store", "tolerance"):
        if getattr(options, name) is not None and not with_model:
            raise InputError(f"--{name} is for a language model; add --agent {KINDS[0]}, or leave it out")
    domain = _domain(options.domain)
    if domain == "normal" and options.engine != "symbolic":
        raise InputError(
            "--domain normal is for the symbolic engine; leave it out, or write --domain theorem,"
            f" with --engine {options.engine}"
        )
    deployment = load(options.file)
    agent = _agent(deployment, options)
    stderr = _console(sys.stderr)
    with nullcontext() if options.quiet else ProgressDisplay(stderr) as progress:
        result = verify(
            deployment,
            agent,
            options.spec,
            engine=options.engine,
            domain=domain,
            force=options.force,
            backend=options.backend,
            max_states=options.max_states,
            progress=progress,
            wrapped=not options.unwrapped,
        )
    if options.json:
        print(json.dumps(report_data(result), indent=2))
    elif options.quiet:
        print_verdicts(result, _console(sys.stdout))
    else:
        print_verification(result, _console(sys.stdout))
    return _status(result)


def _agent(deployment: Deployment, options: argparse.Namespace) -> AgentLike:
    """The agent asked for; else the file's first policy; else everything offered."""
    if options.policy is not None:
        return deployment.policy(options.policy)
    if options.replay is not None:
        return ReplayAgent(options.replay, Prompt.of(deployment, options.prompts), options.tolerance)
    if options.agent not in (None, "any"):
        prompt = Prompt.of(deployment, options.prompts)
        store = open_store(options.store)
        return ModelAgent(open_backend(options.agent), prompt, store, options.tolerance or 0.0)
    if options.agent is not None or not deployment.policies:
        if options.agent is None:
            _note(options, f"{deployment.name} has no policy: taking any agent, whatever it selects")
        return "any"
    first, *others = deployment.policies
    choices = "".join(f" --policy {policy.name}," for policy in others)
    _note(options, f"taking policy {first.name}; for another agent:{choices} --agent any")
    return first


def _domain(text: str | None) -> Domain | Mapping[str, int] | None:
    """The name of a mode, or the sizes in `case=5,task=5`; None leaves it to the engine."""
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
        sizes[sort] = int(number)
    return sizes


def _status(result: Verification) -> int:
    answers = {verdict.holds for verdict in result.verdicts.values()}
    if False in answers:
        return 1
    return 3 if None in answers else 0


# show, examples


def _show(options: argparse.Namespace) -> int:
    text, source = load_text(options.file)
    deployment = parse_deployment(text, source)
    console = _console(sys.stdout)
    console.print(str(deployment), soft_wrap=True)
    for heading, restriction in (
        ("normal: the domain where fresh values have representatives", normal_restriction(deployment)),
        (
            "theorem: the literal domain, all specifications together",
            theorem_restriction(deployment, deployment.specs),
        ),
    ):
        console.print(f"# {heading}:", soft_wrap=True)
        for derivation in restriction.derivation.values():
            console.print(f"#   {derivation}", soft_wrap=True)
    for warning in lint(deployment, text):
        print(f"stead-sym: warning: {warning}", file=sys.stderr)
    return 0


def _examples(_options: argparse.Namespace) -> int:
    for name in packaged_examples():
        print(name)
    return 0


# streams


def _console(stream: TextIO) -> Console:
    """A console that takes text as it is, and replaces what the stream's encoding lacks."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")
    return Console(file=stream, highlight=False, markup=False, emoji=False)


def _note(options: argparse.Namespace, text: str) -> None:
    if not options.quiet:
        print(f"stead-sym: {text}", file=sys.stderr)


def _print_error(error: SteadError, *, as_json: bool) -> None:
    print(f"stead-sym: {error}", file=sys.stderr)
    if isinstance(error, DefinitionError):
        print_trace(error.trace, _console(sys.stderr))
    if as_json:
        print(json.dumps(error_data(error), indent=2))
