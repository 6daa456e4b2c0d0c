"""Compare what was verified with `--calls` with the deployment whose agents call as its file has it.

One decision: a remedy is verified before it is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from stead_sym.agents.revised import rules_of
from stead_sym.agents.roles import ANY
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.harness import in_harness
from stead_sym.deployment.parts import Harness
from stead_sym.errors import AgentError, DefinitionError, Undecided
from stead_sym.verification.findings.finding import Finding
from stead_sym.verification.result import Verification

Verifying = Callable[[Deployment, Mapping[str, str], Sequence[str]], Verification]
"""A verification of these specifications, under policies of the deployment or `any`."""


def changed_by_calls(result: Verification, verifying: Verifying) -> Iterator[Finding]:
    """Yield a finding for each specification whose verdict is another if agents call as the file has it.

    There is none unless agents call otherwise, and every agent is a policy of the file or selects anything:
    a model would be asked about other states.
    """
    deployment, agents = result.deployment, _policies(result)
    called, plain = deployment.called, deployment.uncalled
    if called is None or plain is None or agents is None:
        return
    asked = {spec.name: spec for spec in deployment.specs if spec.name in result.verdicts}

    def verdicts(harness: Harness) -> Mapping[str, bool | None]:
        try:
            found = verifying(in_harness(plain, harness), agents, [*asked])
        except (AgentError, DefinitionError, Undecided):  # such an agent cannot run there
            return {}
        return {name: verdict.holds for name, verdict in found.verdicts.items()}

    as_written = "the calls of the file" if plain.in_batches else "one call at a time"
    before = verdicts(Harness(deployment.gated))
    failing = [name for name in asked if before.get(name) and result[name].holds is False]
    remedies: dict[str, str] = {}
    for harness, words in _tried(deployment, plain) if failing else ():
        now = verdicts(harness)
        remedies = {**{name: words for name in failing if now.get(name)}, **remedies}
    for name in failing:
        yield Finding(
            "several calls",
            asked[name].span,
            f"`spec {name}` fails with calls {called}, and holds with {as_written}",
            remedies.get(name, f"let the harness allow {as_written}"),
            name,
        )
    for name in asked:
        if before.get(name) is False and result[name].holds:
            yield Finding(
                "several calls",
                asked[name].span,
                f"`spec {name}` holds with calls {called}, and fails with {as_written}",
                "do not rely on it for a harness that calls otherwise",
                name,
            )


def _policies(result: Verification) -> Mapping[str, str] | None:
    """Return the policy of the file, or `any`, for each agent; None if some agent is neither."""
    found: dict[str, str] = {}
    for role in result.deployment.agents:
        wrapper = result.moves.wrappers[role.name]
        rules = None if wrapper is None else rules_of(wrapper)
        if wrapper is not None and (rules is None or rules.name not in {p.name for p in role.policies}):
            return None
        found[role.name] = ANY if rules is None else rules.name
    return found


def _tried(deployment: Deployment, plain: Deployment) -> Iterator[tuple[Harness, str]]:
    """Yield the harnesses that may be a remedy, in words: one more gate, or messages that a refusal ends."""
    called, gated = deployment.called, deployment.gated
    for gate in plain.written.gates:
        if gate.name not in gated:
            yield (
                Harness((*gated, gate.name), called),
                f"put agents behind the gate {gate.name}, `--gate {gate.name}`: it is asked again when the"
                " turn of a call comes, and then the specification holds",
            )
    if called is not None and called.startswith("batch") and not called.endswith("stop"):
        stopping = f"{called} on refusal stop"
        yield (
            Harness(gated, stopping),
            f"let a refused call end the message, `calls {stopping}`: then the specification holds",
        )
