"""The gates that a guard enforces: those of the deployment that are named, and that of a shield."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from stead_sym.analyses.shield.shield import Shield
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.gates import under_gates
from stead_sym.deployment.parts import Gate, Harness
from stead_sym.errors import InputError
from stead_sym.evidence.data import text_digest


def gates_named(plain: Deployment, names: Sequence[str]) -> Sequence[Gate]:
    """Return the gates of these names; raise `InputError` for an unknown one."""
    under_gates(plain, names)
    return [gate for gate in plain.written.gates if gate.name in names]


def gates_of_shield(shield: Shield, plain: Deployment, names: Sequence[str]) -> Sequence[Gate]:
    """Return the gate of a shield; raise `InputError` if it is of another deployment, or has no gate."""
    of = shield.deployment.ungated or shield.deployment
    if text_digest(_without_fair(of)) != text_digest(_without_fair(plain)):
        raise InputError(f"the shield is of another deployment than {plain.name}; compute the one of this")
    missing = [name for name in shield.deployment.gated if name not in names]
    if missing:
        raise InputError(f"the shield was computed{Harness(tuple(missing))}; give the same gates")
    if shield.lost is not None:
        raise InputError(
            "the shield has a run that no restriction of agents prevents; nothing can be guarded"
        )
    if shield.gate is None and any(tool.denied for tool in shield.tools):
        raise InputError("the shield has no gate, since no condition says what a tool may do; write a gate")
    return [] if shield.gate is None else [shield.gate]


def _without_fair(deployment: Deployment) -> Deployment:
    return replace(deployment, written=replace(deployment.written, fair=(), fair_actions=()), text=None)
