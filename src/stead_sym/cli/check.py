"""`stead-sym check`: all results about a deployment that need no exploration.

One decision: the initial state is examined, since it needs no search: the calls that are offered there, and
if there is such a state at all. Every question about other reachable states is left to `verify`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import islice

from rich.console import Console, Group

from stead_sym import __version__
from stead_sym.cli.located import prepare_sarif, write_sarif
from stead_sym.cli.options import add_file, add_harness
from stead_sym.cli.request import request_of
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.faults import no_effect
from stead_sym.deployment.initial import initial_states
from stead_sym.deployment.restriction import Restriction, normal_restriction, theorem_restriction
from stead_sym.deployment.semantics import enabled, exceeded, offer, outcomes
from stead_sym.deployment.trace import Trace
from stead_sym.errors import InputError
from stead_sym.relational.schema import holds_message
from stead_sym.report.domains import domain_text
from stead_sym.report.sarif import sarif_error, sarif_findings
from stead_sym.report.streams import console_on
from stead_sym.support.wrapping import Text, indented, labelled
from stead_sym.verification.findings.finding import Finding
from stead_sym.verification.findings.static import lint

_MOST_CALLS = 100
"""The maximum number of calls of the first state that are checked for an effect."""


def add_check(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the arguments of `check`."""
    parser.set_defaults(run=_check)
    add_file(parser)
    add_harness(parser)
    parser.add_argument("--strict", action="store_true", help="status 1 where there is any finding")
    parser.add_argument("--sarif", metavar="FILE", help="write findings and errors there as SARIF 2.1.0")
    parser.add_argument("--quiet", action="store_true", help="print the findings only")


def _check(options: argparse.Namespace) -> int:
    if options.sarif is not None:
        prepare_sarif(options.sarif)
    try:
        deployment = request_of(options).load()
        findings = lint(deployment)
        said = list(_lines(deployment))
    except InputError as error:
        if options.sarif is not None:
            write_sarif(options.sarif, sarif_error(error, __version__))
        raise
    if options.sarif is not None:
        write_sarif(options.sarif, sarif_findings(findings, __version__))
    console = console_on(sys.stdout)
    if not options.quiet:
        _print(deployment, said, console)
    _print_findings(findings, console)
    return 1 if findings and options.strict else 0


def _lines(d: Deployment) -> Iterator[tuple[str, str]]:
    """Yield the content of the file, the domain sizes, and the properties by construction.

    The last line lists what is left to `verify`.
    """
    asked, d = d.specs, d.following(d.specs, {})
    messages = sum(holds_message(relation.name) for relation in d.schema.relations)
    parts = [
        (len(d.schema.sorts), "sort"),
        (len(d.schema.relations) - messages, "relation"),
        (len(d.tools), "tool"),
        (sum(event.is_written for event in d.events), "event"),
        (len({policy.name for agent in d.agents for policy in agent.policies}), "policy"),
        (len(d.specs), "specification"),
    ]
    yield "has", ", ".join(f"{n} {_plural(word, n)}" for n, word in parts if n)
    if messages:
        yield "", f"{messages} more {_plural('relation', messages)} for the calls of messages"
    for role in d.agents:
        shown = ", ".join(view.relation for view in role.views) or "the whole state"
        calls = "" if role.calls is None else f"; calls {role.calls}"
        name = role.name if role.each is None else f"{role.name} for each {role.each}"
        yield name or "agent", f"{', '.join(role.tools) or 'no tools'}; is shown {shown}{calls}"
    claims = [f"bound {sort} {bound}" for sort, bound in d.bounds.items() if sort not in d.unbounded]
    claims += [f"key of {relation.name}" for relation in d.schema.relations if relation.keys]
    claims += [reference.name for reference in d.schema.references]
    by_construction = "offers and effects are equivariant: all formulas are first-order over constants"
    left = "left to verify", ", ".join([*claims, "something to do in every state", "every specification"])
    if d.unbounded:
        yield "domain", f"any number of {', '.join(sorted(d.unbounded))} (`stead-sym explain` says more)"
        yield "by construction", by_construction
        yield left
        return
    theorem = theorem_restriction(d, asked)
    yield "domain", domain_text(normal_restriction(d), "normal")
    if theorem.sizes:
        yield "", domain_text(theorem, "theorem")
    for derivation in theorem.derivation.values():
        yield "", str(derivation)
    yield from _initially(d, theorem)
    yield "by construction", by_construction
    yield left


def _initially(d: Deployment, restriction: Restriction) -> Iterator[tuple[str, str]]:
    """Yield what the first state offers. Raises `NoInitialState` if there is none."""
    [state] = islice(initial_states(d, restriction.values, 1), 1)
    offered, happening = offer(d, state), enabled(d, state)
    calls, events = len(offered), len(happening)
    which = "the first state" if d.initially is None else "one of the first states"
    text = f"{which} offers {calls} {_plural('call', calls)}, {events} {_plural('event', events)} may happen"
    yield "initially", text if calls + events else f"{text}: nothing can happen there"
    for call in islice(sorted(offered | happening), _MOST_CALLS):
        of_ensure = d.tool(call.tool).has_ensure  # needs a search
        if not of_ensure and next(outcomes(d, call, state, restriction), None) is None:
            yield "", str(no_effect(d, call, Trace(state)))
    if (sort := exceeded(d, state)) is not None:
        yield "", f"{which} exceeds the bound of {sort}"


def _plural(word: str, number: int) -> str:
    return word if number == 1 else f"{word.removesuffix('y')}ies" if word == "policy" else f"{word}s"


def _print(deployment: Deployment, lines: list[tuple[str, str]], console: Console) -> None:
    console.print(Group(Text(deployment.name, "bold"), indented(labelled(lines))))


def _print_findings(findings: tuple[Finding, ...], console: Console) -> None:
    for finding in findings:
        name = finding.kind.replace(" ", "-")
        console.print(f"{finding} ({name})", soft_wrap=True)
    if not findings:
        console.print("no findings")
