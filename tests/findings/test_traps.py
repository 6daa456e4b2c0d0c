"""Each trap is said, at its place and with a remedy, and the deployment beside it is not accused of it."""

from __future__ import annotations

import pytest

import stead_sym as st
from finding_traps import BASE, TRAPS

ENGINES = ("symbolic", "explicit")


def verified(lines, trap, engine, **options):
    deployment = st.parse_deployment(BASE + lines, "f")
    agent = "any" if trap.policy is None else deployment.policy(trap.policy)
    gates = [gate.name for gate in deployment.written.gates]
    return st.verify(deployment, agent, engine=engine, gates=gates, calls=trap.calls, **options)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.kind)
def test_trap(trap, engine):
    falls = verified(trap.falls, trap, engine)
    found = [finding for finding in falls.findings if finding.kind == trap.kind]
    assert found, falls.findings
    for finding in found:
        assert finding.place is not None
        assert finding.place.source == "f"
        assert finding.place.line > BASE.count("\n")
        assert finding.text
        assert finding.remedy
    assert not verified(trap.falls, trap, engine, findings=False).findings
    beside = verified(trap.stays_out, trap, engine)
    assert [f for f in beside.findings if f.kind == trap.kind] == []
    if trap.kind not in ("never selected", "hidden relation"):
        assert beside.findings == ()
