"""Put deployments into the harness that runs their agents: how these call, and behind which gates.

One decision: a harness is asked for with a verification, and makes another deployment of the one that is
written. What a verification writes names the harness, and what reads it builds the same deployment again.
"""

from __future__ import annotations

import re
from dataclasses import replace

from stead_sym.deployment.deployment import Deployment, print_deployment
from stead_sym.deployment.gates import under_gates
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.messages import calls_in_messages, refuse_beside_messages
from stead_sym.deployment.parts import Calls, Harness
from stead_sym.errors import InputError
from stead_sym.relational.schema import holds_message

_CALLS = re.compile(r"sequential|(batch|parallel)\s+\d{1,9}(\s+on\s+refusal\s+(skip|stop))?")


def in_harness(deployment: Deployment, harness: Harness) -> Deployment:
    """Return the deployment whose agents call as the harness has it, behind its gates.

    Raises `InputError` for an unknown gate, for one that is given twice, for calls that are none, and if the
    deployment cannot have such calls.
    """
    return under_gates(with_calls(deployment, harness.calls), harness.gates)


def with_calls(deployment: Deployment, words: str | None) -> Deployment:
    """Return the deployment in which every agent calls like this: `sequential`, or `batch 2 on refusal stop`.

    For None, and if every agent calls like this in the file, it is the deployment itself. Raises
    `InputError`.
    """
    if words is None:
        return deployment
    if deployment.ungated is not None:
        return under_gates(with_calls(deployment.ungated, words), deployment.gated)
    if not _CALLS.fullmatch(words.strip()):
        raise InputError(
            f"calls {words!r}: write `sequential`, `batch N` or `parallel N`, followed by `on refusal"
            " skip` or `on refusal stop` if need be"
        )
    calls = Calls.of(words.split())
    written = deployment.written
    by_name = {tool.name: tool for tool in written.tools}
    agents = tuple(
        replace(
            role,
            calls=calls_in_messages(f"agent {role.name}", calls, [by_name[name] for name in role.tools]),
        )
        for role in written.agents
    )
    own = [tool for tool in written.tools if not tool.event]
    alone = None if agents else calls_in_messages("the agent", calls, own)
    parts = replace(written, agents=agents, calls=alone)
    if parts == written:
        return deployment
    refuse_beside_messages(parts.roles, parts.fair_actions)
    called = deployment.calling(parts)
    _refuse_lost_places(deployment, called, words)
    plain = deployment.uncalled or deployment
    if parts.roles == plain.written.roles:
        return replace(called, called=None, uncalled=None)
    return replace(called, called=str(calls), uncalled=plain)


def under_recorded(deployment: Deployment, recorded: Harness, source: str) -> Deployment:
    """Return the deployment in the harness that ``source``, a file or a report, records.

    The part of a harness that the deployment has already is kept. Raises `InputError` if it is another than
    the recorded one, and for a recorded harness that the deployment cannot have.
    """
    now = deployment.harness
    conflicts = {
        "calls": now.calls and recorded.calls and now.calls != recorded.calls,
        "gates": now.gates and recorded.gates and {*now.gates} != {*recorded.gates},
    }
    for what, is_other in conflicts.items():
        if is_other:
            raise InputError(
                f"{source} was produced{recorded.alone(what)}, not{now.alone(what)}; leave out the {what}:"
                " the recorded ones are taken"
            )
    try:
        deployment = deployment if now.calls else with_calls(deployment, recorded.calls)
    except InputError as error:
        raise InputError(f"{source}: calls: {error.message}") from None
    try:
        return deployment if now.gates else under_gates(deployment, recorded.gates)
    except InputError as error:
        raise InputError(f"{source}: gates: {error.message}") from None


def _refuse_lost_places(before: Deployment, after: Deployment, words: str) -> None:
    """Refuse calls without a place of a message that the file asks for."""
    places = {r.name for r in before.schema.relations if holds_message(r.name)}
    if places <= {r.name for r in after.schema.relations}:
        return
    try:
        parse_deployment(print_deployment(after))
    except InputError as error:
        raise InputError(f"calls {words}: the file asks for calls of a message: {error.message}") from None
