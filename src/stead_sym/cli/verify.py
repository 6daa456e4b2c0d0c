"""`stead-sym verify`: specifications under an agent.

One decision: called as a command, or with limits, it does the work in a child process, which can be stopped
at any time (`cli.child`). The child sends its parent each verdict once it is established, and the reason if
it gives up. However it ends, these verdicts are reported. A module that only one option needs is imported for
that option.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from stead_sym.agents.roles import AgentLike, deciding
from stead_sym.analyses.bounds import LIMIT
from stead_sym.cli.agent_options import add_agents, add_model_options
from stead_sym.cli.agents import asked_names, chosen_agents
from stead_sym.cli.child import Stopped
from stead_sym.cli.limits import add_limits, display
from stead_sym.cli.localise import is_local_first, verify_locally
from stead_sym.cli.located import add_located, errors_located, locate_error, prepare_located, write_located
from stead_sym.cli.numbers import positive, probability
from stead_sym.cli.options import Options, add_domain, add_file, add_formulas, add_harness, add_specs, domain
from stead_sym.cli.request import DOMAIN, request_of
from stead_sym.cli.watcher import Watcher
from stead_sym.deployment.deployment import Deployment, Question
from stead_sym.engines.symbolic.bdd.manager import says_out_of_memory
from stead_sym.errors import InputError, SteadError, Undecided
from stead_sym.evidence.document import Json
from stead_sym.evidence.moves import Moves
from stead_sym.report.data import findings_data, report_data
from stead_sym.report.failures import print_error
from stead_sym.report.partial import known_verdicts, message, print_known
from stead_sym.report.progress import progress_line
from stead_sym.report.streams import console_on
from stead_sym.report.terminal import print_verdicts, print_verification
from stead_sym.support.printable import printable
from stead_sym.verification.findings.static import lint
from stead_sym.verification.verdict import Verdict, exit_status
from stead_sym.verification.verify import verify


def add_verify(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the arguments of `verify`."""
    parser.set_defaults(run=_verify)
    add_file(parser)
    add_agents(parser)
    asked_for = parser.add_argument_group("what is asked, and how strictly")
    add_specs(asked_for)
    add_harness(asked_for)
    add_formulas(asked_for)
    asked_for.add_argument(
        "--findings",
        choices=("on", "off"),
        default="on",
        help="look for what makes a verdict empty: vacuous specifications, tools never called (default: on)",
    )
    asked_for.add_argument(
        "--strict",
        action="store_true",
        help="fail with status 1 where there is any finding, after the verdicts",
    )
    asked_for.add_argument(
        "--min-mass",
        type=probability,
        metavar="P",
        help="verdicts are unknown where a model gives the offered calls less than P of its probability",
    )
    asked_for.add_argument(
        "--conformed",
        metavar="REPORT",
        help="a report of `conform --json`: the verdicts say on what the system was compared; refused if the"
        " file or the system's code has changed since",
    )
    add_written(parser.add_argument_group("what is printed and written"))
    add_model_options(parser)
    add_solving(parser.add_argument_group("how it is solved, and when it is given up"))
    parser.set_defaults(stopped=_stopped)


def _verify(options: argparse.Namespace) -> int:
    request = request_of(options)
    refuse_conflicts(options)
    prepare_located(options)
    with errors_located(options):
        deployment = request.load()
        if options.conformed is not None and (options.deepen or deployment.unbounded):
            raise InputError("--conformed is for a verification within the bounds of the file; leave it out")
        if options.method == "local":
            return verify_locally(options, deployment, request.questions)
        if options.deepen or deployment.unbounded:
            return _deepened(options, deployment, request.questions)
        if is_local_first(options, deployment):
            return verify_locally(options, deployment, request.questions)
        return _verify_here(options, deployment, request.questions)


def _deepened(options: argparse.Namespace, deployment: Deployment, questions: list[Question] | None) -> int:
    from stead_sym.cli.deepen import verify_deepening

    return verify_deepening(options, deployment, questions)


def _verify_here(
    options: argparse.Namespace, deployment: Deployment, questions: list[Question] | None
) -> int:
    if options.max_bound is not None:
        raise InputError("--max-bound is how far --deepen goes; add --deepen, or leave it out")
    agents = chosen_agents(deployment, options)
    compared = None
    if options.conformed is not None:
        from stead_sym.conformance.report import conformed

        compared = conformed(deployment.ungated or deployment, options.conformed)
    if options.evidence is not None:
        from stead_sym.report.folder import prepare, write_evidence

        prepare(Path(options.evidence), asked_names(deployment, agents, questions))
    if options.certify is not None:
        from stead_sym.certificate.write import check_directory, uncertifiable, write_certificate

        check_directory(options.certify)
    if options.report is not None:
        from stead_sym.report.page import prepare_report, write_report

        prepare_report(Path(options.report))
    with display(options) as progress:
        if progress is not None:
            progress("plan")
        told = _teller(deployment, agents, questions, options)
        with _told_of_memory(options), _told_of_errors(options):
            result = verify(
                deployment,
                agents,
                questions,
                engine=options.engine,
                domain=domain(options.domain),
                force=options.force,
                backend=options.backend,
                max_states=options.max_states,
                progress=progress,
                wrapped=not options.unwrapped,
                findings=options.findings == "on",
                min_mass=options.min_mass,
                established=told,
            )
            if compared is not None:
                result = result.with_hypothesis(compared)
            if options.contexts:
                result = result.with_contexts()
            if options.certify is not None and not uncertifiable(result):
                write_certificate(result, options.certify)
            if options.report is not None:
                if progress is not None:
                    progress("report")
                write_report(result, options.report)
            report = json.dumps(report_data(result), indent=2) if options.json else ""
    if options.json:
        print(report)
    elif options.quiet:
        print_verdicts(result, console_on(sys.stdout))
        emptied = {verdict.spec for verdict in result.verdicts.values() if verdict.empty}
        for finding in result.findings:
            if not options.strict and finding.spec not in emptied:
                continue
            print(printable(f"stead-sym: finding: {finding}"), file=sys.stderr)
    else:
        print_verification(result, console_on(sys.stdout), hypotheses=options.hypotheses)
    if options.certify is not None and (why := uncertifiable(result)):
        print(f"stead-sym: no certificate is written: {why}", file=sys.stderr)
    if options.evidence is not None:
        write_evidence(result, Path(options.evidence))
    write_located(result, options)
    return exit_status(result.verdicts.values(), refused=options.strict and bool(result.findings))


def _stopped(options: argparse.Namespace, ended: Stopped) -> int:
    """Report the established verdicts of a child that was ended before it had printed its report.

    Returns status 1 if some specification fails, which is true however the run ended, else 3, or 130 after
    Ctrl-C.
    """
    from stead_sym.cli.deepen import is_deepening, stopped_deepening

    if options.deepen or is_deepening(ended):
        return stopped_deepening(options, ended)
    verdicts = () if ended.printing else known_verdicts(ended.kept, ended.reason)
    if not options.json and any(known.established for known in verdicts):
        print_known(verdicts, console_on(sys.stdout), quiet=options.quiet)
    sys.stdout.flush()
    if options.report is not None and not ended.printing:
        from stead_sym.report.page import write_stopped

        write_stopped(options.file, ended.reason, verdicts, options.report)
    if ended.interrupted and not options.json:
        raise KeyboardInterrupt
    reached = progress_line(ended.phase, ended.counts, ended.seconds)
    if verdicts and all(known.established for known in verdicts):
        reached = "every verdict stands, the findings are missing (--findings off leaves them out)"
        if ended.phase == "report":
            reached = "every verdict stands, the report is missing"
    error = Undecided(f"unknown: {ended.reason}; {reached}")
    specs: dict[str, Json] = {known.spec: dict(known.data) for known in verdicts}
    locate_error(error, options)
    as_json = options.json and not ended.printing
    print_error(
        error, as_json=as_json, phase=ended.phase, counts=ended.counts, specs=specs, findings=ended.findings
    )
    if ended.interrupted:
        raise KeyboardInterrupt
    return 1 if any(known.not_as_expected for known in verdicts) else error.exit_status


def _teller(
    deployment: Deployment,
    agents: Mapping[str, AgentLike],
    asked: Sequence[Question] | None,
    options: argparse.Namespace,
) -> Callable[[Verdict, Moves], None] | None:
    """Return the function that sends an established verdict to the parent; None if there is no parent.

    The findings on the text and the requested specifications are sent first.
    """
    if options.watcher is None:
        return None
    parent: Watcher = options.watcher
    console = None if options.json and options.report is None else console_on(sys.stdout)
    asking, chosen = deployment.asked(asked, deciding(deployment, agents))
    if options.findings == "on":
        about = {None, *(spec.name for spec in chosen)}
        found = findings_data(one for one in lint(asking) if one.spec in about)
        parent.keep_findings([finding.data() for finding in found])
    written = {spec.name: spec.formula for spec in asking.written.specs}
    for spec in chosen:
        open_question = Verdict(spec.name, written[spec.name], None, expected=spec.expected)
        parent.keep(spec.name, message(open_question, None, None, established=False))

    def tell(verdict: Verdict, moves: Moves) -> None:
        parent.keep(verdict.spec, message(verdict, moves, console))
        parent.has_kept_failure |= verdict.not_as_expected
        if options.evidence is not None:
            from stead_sym.report.folder import write_early

            write_early(verdict, moves, [spec.name for spec in chosen], Path(options.evidence))

    return tell


@contextmanager
def _told_of_memory(options: argparse.Namespace) -> Iterator[None]:
    """Report to the parent, in a child, that an exception is due to a lack of memory."""
    try:
        yield
    except (MemoryError, SystemError, RuntimeError) as error:
        if options.watcher is not None and says_out_of_memory(error):
            options.watcher.give_up("memory has run out: make room")
        raise


@contextmanager
def _told_of_errors(options: argparse.Namespace) -> Iterator[None]:
    """Have the parent report the verdicts if an error ends the child after a failed specification.

    An error is for example that of an agent. The failure remains valid in spite of the error.
    """
    try:
        yield
    except SteadError as error:
        if options.watcher is not None and options.watcher.has_kept_failure:
            options.watcher.give_up(str(error))
        raise


def add_written(group: Options) -> None:
    """Add the options for output and files."""
    group.add_argument("--quiet", action="store_true", help="print the verdicts only; no notes, no progress")
    group.add_argument("--json", action="store_true", help="print the report as JSON")
    group.add_argument(
        "--hypotheses", action="store_true", help="print in full what the verdicts rest on, and why it is so"
    )
    group.add_argument(
        "--contexts", action="store_true", help="count the contexts of policies too where they are many"
    )
    group.add_argument(
        "--report", metavar="OUT.html", help="write all of it as one HTML page, which needs no network"
    )
    group.add_argument(
        "--evidence",
        metavar="DIR",
        help="write the evidence for each verdict there: NAME.json for `replay`, NAME.txt to be read",
    )
    add_located(group)
    group.add_argument(
        "--certify", metavar="DIR", help="write a certificate of the verdicts there (see check-certificate)"
    )


def add_solving(group: Options) -> None:
    """Add the options for the engine, the domain, and the limits."""
    add_limits(group)
    group.add_argument(
        "--method",
        choices=("auto", "local", "monolithic"),
        default="monolithic",
        help="monolithic: from all reachable states (default); local: on the few facts that a specification"
        " depends on; what these do not decide is unknown; auto: where the data are large, local, and"
        " monolithic what is left open",
    )
    group.add_argument("--engine", choices=("symbolic", "explicit"), default="symbolic")
    group.add_argument("--backend", choices=("cudd", "autoref"), help="the diagrams of the symbolic engine")
    group.add_argument(
        "--max-states", type=positive, metavar="N", help="give up past so many states (explicit engine)"
    )
    add_domain(
        group,
        DOMAIN,
    )
    group.add_argument(
        "--force", action="store_true", help="accept domains below the theorem's; verdicts are then unknown"
    )
    group.add_argument(
        "--unwrapped",
        action="store_true",
        help="ask the agent about literal identifiers, without the wrapper; verdicts are then unknown",
    )
    group.add_argument(
        "--deepen",
        action="store_true",
        help="raise the bounds step by step: what fails on the way is a verdict, what is shown for every"
        " number of records holds, and why no bound is kept is explained",
    )
    group.add_argument(
        "--max-bound",
        type=positive,
        metavar="N",
        help=f"raise no bound past N, with --deepen (default: {LIMIT})",
    )


def refuse_conflicts(options: argparse.Namespace) -> None:
    """Raise `InputError` for conflicting options."""
    if options.annotate and options.json:
        raise InputError(
            "--annotate prints lines of its own; leave it out with --json, or write --sarif FILE"
        )
    if options.strict and options.findings == "off":
        raise InputError("--strict fails on findings; leave out --findings off, or --strict")
    if options.certify is not None and options.engine != "symbolic":
        raise InputError("--certify is for the symbolic engine; leave it out with --engine explicit")
    if options.max_states is not None and options.engine != "explicit":
        raise InputError("--max-states limits the explicit engine; add --engine explicit, or leave it out")
    if options.backend is not None and options.engine != "symbolic":
        raise InputError("--backend is for the symbolic engine; leave it out with --engine explicit")
    if domain(options.domain) == "normal" and options.engine != "symbolic":
        raise InputError(
            "--domain normal is for the symbolic engine; leave it out, or write --domain theorem,"
            f" with --engine {options.engine}"
        )
