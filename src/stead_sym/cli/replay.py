"""`stead-sym replay`: check of evidence step by step, without an engine.

One decision: without options for agents the decisions in the evidence are used, since a failure must replay
without the model. A policy of the file is evaluated again, since it is available.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from stead_sym.agents.roles import Wrappers, named_wrappers, wrap, wrap_all
from stead_sym.cli.agents import chosen_agents
from stead_sym.cli.request import add_request, request_of
from stead_sym.deployment.claims import claim_named
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.files import load_json
from stead_sym.deployment.gates import under_gates
from stead_sym.deployment.harness import under_recorded
from stead_sym.deployment.restriction import normal_restriction
from stead_sym.errors import InputError
from stead_sym.evidence.data import text_digest
from stead_sym.evidence.moves import Moves
from stead_sym.evidence.reading import Written, read_evidence
from stead_sym.evidence.recorded import RECORDED, decisions_that_differ, recorded_wrappers
from stead_sym.evidence.replay import Replayed, replay
from stead_sym.guard.log import is_log
from stead_sym.guard.replay import replay_audit_log
from stead_sym.report.replayed import print_replayed
from stead_sym.report.streams import console_on
from stead_sym.support.printable import plural, printable


def add_replay(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the arguments of `replay`."""
    parser.set_defaults(run=_replay)
    add_request(parser)
    parser.add_argument(
        "evidence",
        metavar="EVIDENCE",
        help="a report of `verify --json`, or a file of `verify --evidence`, or a guard's log; - is stdin",
    )
    parser.add_argument(
        "--spec", dest="only", metavar="NAME", help="only the evidence for this specification"
    )
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")
    detail = parser.add_mutually_exclusive_group()
    detail.add_argument("--quiet", action="store_true", help="print what was found, and no runs")
    detail.add_argument(
        "--verbose", action="store_true", help="print the decisions on the runs too, with their contexts"
    )


def _replay(options: argparse.Namespace) -> int:
    plain = request_of(options).load()
    if is_log(options.evidence):
        return _replay_log(plain, options)
    found = list(_evidence(plain, options))
    if not found:
        what = f"evidence for {options.only}" if options.only else "evidence"
        raise InputError(f"{options.evidence}: there is no {what}; give a report of `verify --json`")
    given = any((options.policy, options.agent, options.replay))
    results: list[tuple[Written, Replayed, Wrappers]] = []
    for written in found:
        gated = under_recorded(plain, written.harness, options.evidence)
        deployment = written.followed(gated)
        asked = wrap_all(deployment, chosen_agents(gated, options)) if given else None
        wrappers = asked if asked is not None else _recorded(deployment, written, options.canonical_timeout)
        claim = claim_named(deployment, written.spec) is not None
        replayed = replay(deployment, wrappers, written.evidence, written.bounds, claim=claim)
        differing = decisions_that_differ(deployment, wrappers, written.agents)
        if replayed.confirmed and differing:
            replayed = replace(replayed, fault=differing[0])
        results.append((written, replayed, wrappers))
    if options.json:
        print(json.dumps([_data(written, replayed) for written, replayed, _ in results], indent=2))
    else:
        for written, replayed, wrappers in results:
            deployment = written.followed(plain)
            _print(deployment, written, replayed, wrappers)
            if not options.quiet:
                moves = Moves(deployment, wrappers, normal_restriction(_raised(deployment, written)))
                print_replayed(written.evidence, replayed, moves, console_on(sys.stdout), options.verbose)
    return 0 if all(replayed.confirmed for _, replayed, _ in results) else 1


def _replay_log(deployment: Deployment, options: argparse.Namespace) -> int:
    """Replay the log of a guard, and print what it shows."""
    if options.only or options.policy or options.agent or options.replay:
        raise InputError(
            f"{options.evidence}: the log of a guard has decisions, and no specifications or agents; leave"
            " these options out"
        )
    replayed = replay_audit_log(options.evidence, deployment)
    if options.json:
        print(json.dumps(asdict(replayed), indent=2))
        return 0 if replayed.confirmed else 1
    if not replayed.confirmed:
        print(printable(f"NOT confirmed: {replayed.fault}"))
        return 1
    print(f"{options.evidence}: confirmed, {plural(replayed.lines, 'line')}")
    print(printable(f"  guards: {'; '.join(replayed.guards)}"))
    done = [f"{number} {outcome}" for outcome, number in replayed.outcomes.items()]
    if left := replayed.allowed - sum(replayed.outcomes.values()):
        done.append(f"{left} without an outcome")
    became = f" ({', '.join(done)})" if done else ""
    print(f"  {plural(replayed.allowed, 'call')} allowed{became}, {replayed.denied} denied")
    taken = f", and that {plural(replayed.unread, 'call')} could not be decided" if replayed.unread else ""
    print(f"  taken as logged: what the guard read in the database{taken}")
    return 0


def _raised(deployment: Deployment, written: Written) -> Deployment:
    """Return the deployment with the bounds that the evidence was found with."""
    return deployment if written.bounds is None else deployment.within(written.bounds)


def _recorded(deployment: Deployment, written: Written, seconds: float) -> Wrappers:
    """Return the agents of the evidence; those that are policies of the file are evaluated again."""
    wrappers = dict(recorded_wrappers(deployment, written.agents, canonical_timeout=seconds))
    for role in deployment.agents:
        recorded = written.agents[role.name]
        if recorded is not None and recorded.agent in {policy.name for policy in role.policies}:
            wrappers[role.name] = wrap(deployment, recorded.agent, role, canonical_timeout=seconds)
    return wrappers


def _evidence(deployment: Deployment, options: argparse.Namespace) -> Iterator[Written]:
    """Yield the requested evidence in the file."""
    data = load_json(options.evidence, "a report of `verify --json`, or a file of `verify --evidence`")
    if isinstance(data, dict) and "specs" in data:
        reports: Mapping[str, Any] = data["specs"] if isinstance(data["specs"], dict) else {}
        parts: list[tuple[str, str | None, Mapping[str, Any]]] = [
            (f"{options.evidence}: specs.{name}", name, report)
            for name, report in reports.items()
            if isinstance(report, dict)
        ]
    else:
        parts = [(options.evidence, None, {"evidence": data})]
    for source, name, report in parts:
        if report.get("evidence") is not None:
            written = read_evidence(deployment, report["evidence"], source)
            verdict = "holds" if written.evidence.root.holds else "fails"
            if name is not None and name != written.spec:
                raise InputError(f"{source}: the evidence is for {written.spec}; restore the report")
            if name is not None and report.get("verdict") not in (verdict, "unknown"):
                raise InputError(f"{source}: the evidence shows that it {verdict}; restore the report")
            if options.only in (None, written.spec):
                yield written


def _print(deployment: Deployment, written: Written, replayed: Replayed, wrappers: Wrappers) -> None:
    if written.digest != text_digest(deployment):
        origin = "from a different version of the deployment"
        for part, other in (("gates", deployment.ungated), ("--calls", _uncalled(deployment))):
            if other is not None and written.digest == text_digest(other):
                origin = f"without {part}, and is replayed{deployment.harness}"
        print(printable(f"stead-sym: the evidence for {written.spec} was produced {origin}"), file=sys.stderr)
    agents = f"{named_wrappers(wrappers, 'any agent')}{deployment.harness}"
    is_known = written.spec in {spec.name for spec in deployment.specs} or claim_named(
        deployment, written.spec
    )
    sentence = written.spec if is_known else written.formula
    verdict = printable(f"{sentence} {'holds' if written.evidence.root.holds else 'fails'} under {agents}")
    if not replayed.confirmed:
        print(f"{verdict}: NOT confirmed: {printable(replayed.fault)}")
        return
    if replayed.unshown and replayed.claims == 1:
        print(f"{verdict}: nothing to replay, since it is about all runs")
        return
    done = f"{plural(replayed.steps, 'step')}, {plural(replayed.claims, 'claim')}"
    print(f"{verdict}: confirmed, {done}")
    if written.bounds is not None:
        raised = ", ".join(f"{sort} {bound}" for sort, bound in written.bounds.items())
        print(f"  within raised bounds, {raised}")
    if replayed.only_here:
        print("  shown at one initial state; to hold it has to hold at all of them")
    for name, recorded in written.agents.items():
        own = wrappers.get(name)
        if recorded is not None and recorded.known and own is not None and own.agent.name.endswith(RECORDED):
            values = ", ".join(sorted(recorded.known))
            print(
                printable(f"  {own.agent.name} is taken to tell these from others of their sorts: {values}")
            )
    for claim in _unshown(replayed):
        print(printable(f"  not shown by a run, since it is about all runs: {claim}"))


def _uncalled(deployment: Deployment) -> Deployment | None:
    """Return the deployment whose agents call as in its file, behind the same gates."""
    return deployment.uncalled and under_gates(deployment.uncalled, deployment.gated)


def _unshown(replayed: Replayed) -> list[str]:
    """Return the claims that no run shows."""
    unfair = (f"no fair run starts in {state}" for state in replayed.unfair)
    return [*(node.claim for node in replayed.unshown), *unfair]


def _data(written: Written, replayed: Replayed) -> dict[str, object]:
    return {
        "spec": written.spec,
        "holds": written.evidence.root.holds,
        "confirmed": replayed.confirmed,
        "complete": replayed.complete,
        "fault": replayed.fault,
        "steps": replayed.steps,
        "claims": replayed.claims,
        "only_here": replayed.only_here,
        "unshown": _unshown(replayed),
        "gates": list(written.harness.gates),
        "calls": written.harness.calls,
    }
