"""Both engines in both domains against an enumeration that was written from the language's reference alone.

`VERSION3_CASES` says how many generated deployments (`dense.py`) are compared, 8 where nothing is said, and
`VERSION3_SEED` with which number they begin.
"""

from __future__ import annotations

import os
from random import Random

import pytest
from dense import deployment, settings
from language3 import Deployment
from printed import text_of
from reference import Answer, NothingFair, Reference, TooLarge

import stead_sym as st
from stead_sym.errors import AgentError, DefinitionError, NoInitialState

LANDED = (
    "columns",
    "column sets",
    "terminal",
    "gates",
    "for",
    "references",
    "did",
    "past",
    "fair",
    "integers",
)
"""The constructs of version 3 that the engines have."""
CASES = int(os.environ.get("VERSION3_CASES", "8"))
FIRST = int(os.environ.get("VERSION3_SEED", "0"))
WAYS = (("explicit", "theorem"), ("symbolic", "theorem"), ("symbolic", "normal"))


def kind_of(claim: str) -> str:
    """A broken claim of an engine in the words of the reference."""
    if claim.startswith("bound"):
        return " ".join(claim.split()[:2])
    if claim.startswith("key of"):
        return "key"
    if claim.startswith("range of"):
        return "out of range"
    if " references " in claim or " total " in claim:
        return "reference"
    return {"a step is possible": "nothing offered"}.get(claim, claim)


def found(d: Deployment, agents: dict[str, str], gates: tuple[str, ...], engine: str, domain: str):
    """Return what an engine says: sizes and verdicts, or the broken claim and the length of its run."""
    read = st.parse_deployment(text_of(d), "d.stead")
    agent = agents.get("", agents)
    try:
        result = st.verify(read, agent, engine=engine, domain=domain, gates=gates, findings=False)
    except NoInitialState:
        return "no initial state", 0
    except AgentError:
        return "selects nothing", None
    except DefinitionError as error:
        return kind_of(error.claim), 0
    if result.broken is not None:
        assert not any(verdict.holds for verdict in result.verdicts.values())
        return kind_of(result.broken.claim), len(result.broken.trace.steps)
    return result


def difference(expected: Answer, result, domain: str) -> str | None:
    """Return what is not as expected, in a line."""
    if isinstance(result, tuple):
        kind, length = result
        lengths = {broken.kind: broken.length for broken in expected.broken}
        if kind == "no initial state":
            return None if not expected.initial and not lengths else f"got {result}, expected {expected}"
        if kind not in lengths:
            return f"got {result}, expected {expected}"
        if length not in (None, lengths[kind]):
            return f"a run of {length} steps to {kind}, expected a shortest one: {lengths}"
        return None
    if expected.broken or not expected.initial:
        return f"nothing broken, expected {expected}"
    verdicts = {name: verdict.holds for name, verdict in result.verdicts.items()}
    if verdicts != dict(expected.verdicts):
        return f"verdicts {verdicts}, expected {dict(expected.verdicts)}"
    if domain == "theorem":
        sizes = (dict(result.domain), result.initial, result.states, result.transitions)
        wanted = (dict(expected.domain), expected.initial, expected.states, expected.transitions)
        if sizes != wanted:
            return f"sizes {sizes}, expected {wanted}"
    return None


def compared(seed: int, constructs: tuple[str, ...] = LANDED) -> list[str] | None:
    """The differences between the reference and the engines; None where nothing is compared."""
    random = Random(seed)
    d = deployment(random, constructs)
    agents, gates = settings(random, d)
    try:
        expected = Reference(d, agents, gates, limit=400).answer()
    except (TooLarge, NothingFair):
        return None
    wrong = []
    for engine, domain in WAYS:
        line = difference(expected, found(d, agents, gates, engine, domain), domain)
        if line is not None:
            wrong.append(f"{engine}, {domain}, {agents} behind {gates}: {line}")
    return wrong


@pytest.mark.parametrize("seed", range(FIRST, FIRST + CASES))
def test_the_engines_find_what_the_reference_finds(seed: int) -> None:
    assert not compared(seed)
