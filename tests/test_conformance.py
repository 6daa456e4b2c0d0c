"""The conformance cases and the paper's example: states, transitions, domain sizes, verdicts.

The folder `conformance` holds a hundred generated deployments with the answers of an independent explicit
checker, written from the definitions; `conformance2` has forty more with events, several agents, `initially
any`, keys, wildcards and ordered sorts. `conformance3` has small ones, each about one sentence of the
language of version 3, whose answers, states and transitions were counted by hand.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import stead_sym as st
from shared_folder import shared_folder
from stead_sym.agents.roles import by_agent
from stead_sym.errors import InputError

CASES = Path(__file__).parent / "conformance"
EXPECTED = json.loads((CASES / "expected.json").read_text(encoding="utf-8"))
CASES2 = Path(__file__).parent / "conformance2"
EXPECTED2 = json.loads((CASES2 / "expected.json").read_text(encoding="utf-8"))


def answers(deployment, agent, engine, domain="theorem"):
    """Return what an engine finds, in the words of the expected answers."""
    result = st.verify(deployment, agent, engine=engine, domain=domain, findings=False)
    return {
        "states": result.states,
        "transitions": result.transitions,
        "domain": dict(result.domain),
        "specs": {name: verdict.holds for name, verdict in result.verdicts.items()},
    }


LITERAL = ["explicit", pytest.param("symbolic", marks=pytest.mark.gate)]
"""The engines on the literal domain; the symbolic one has its representatives in every run of the tests."""


def agents(deployment):
    return {"p": deployment.policy("p"), "any": "any"}


@pytest.mark.parametrize("engine", LITERAL)
@pytest.mark.parametrize("case", sorted(EXPECTED))
def test_the_literal_restriction(case, engine):
    deployment = st.load(CASES / f"{case}.stead")
    for name, agent in agents(deployment).items():
        assert answers(deployment, agent, engine) == EXPECTED[case][name]


@pytest.mark.parametrize("case", sorted(EXPECTED))
def test_representatives(case):
    deployment = st.load(CASES / f"{case}.stead")
    for name, agent in agents(deployment).items():
        assert answers(deployment, agent, "symbolic", "normal")["specs"] == EXPECTED[case][name]["specs"]


def test_both_folders_hold_all_their_cases():
    assert (len(EXPECTED), len(EXPECTED2)) == (100, 40)
    for folder, expected in ((CASES, EXPECTED), (CASES2, EXPECTED2)):
        assert {path.stem for path in folder.glob("*.stead")} == expected.keys()


def result2(case, **options):
    """The result for a case of the second folder, its agents as the case says."""
    deployment = st.load(CASES2 / f"{case}.stead")
    given = by_agent(deployment, EXPECTED2[case]["agents"])
    return st.verify(deployment, given, findings=False, **options)


@pytest.mark.parametrize("engine", LITERAL)
@pytest.mark.parametrize("case", sorted(EXPECTED2))
def test_version_2_on_the_literal_restriction(case, engine):
    result, expected = result2(case, engine=engine, domain="theorem"), EXPECTED2[case]
    assert (result.initial, result.states, result.transitions) == (
        expected["initial"],
        expected["states"],
        expected["transitions"],
    )
    assert dict(result.domain) == expected["domain"]
    assert {name: verdict.holds for name, verdict in result.verdicts.items()} == expected["specs"]


@pytest.mark.parametrize("case", sorted(EXPECTED2))
def test_version_2_with_representatives(case):
    result = result2(case, domain="normal")
    expected = EXPECTED2[case]
    assert {name: verdict.holds for name, verdict in result.verdicts.items()} == expected["specs"]
    assert result.initial <= expected["initial"]
    assert result.states <= expected["states"]


@pytest.mark.parametrize("engine", ["explicit", "symbolic"])
@pytest.mark.parametrize(
    ("policy", "states", "transitions", "queries", "auth", "prog"),
    [
        ("baseline", 55, 72, 4, False, True),
        ("approving", 73, 90, 5, True, True),
        ("any", 217, 360, None, False, False),
    ],
)
def test_the_worked_example(policy, states, transitions, queries, auth, prog, engine):
    deployment = st.load("refund")
    agent = "any" if policy == "any" else deployment.policy(policy)
    result = st.verify(deployment, agent, engine=engine, domain="theorem")
    assert (result.states, result.transitions) == (states, transitions)
    assert result.contexts == result.queries == queries
    assert dict(result.domain) == {"case": 3, "task": 3, "service": 4, "status": 2}
    assert (result["auth"].holds, result["prog"].holds) == (auth, prog)


@pytest.mark.parametrize("cases", [CASES, CASES2])
def test_the_cases_are_those_of_the_shared_folder(cases):
    """They are kept twice, so that a checkout alone can run them."""
    shared = shared_folder() / cases.name
    for path in (*shared.glob("*.stead"), shared / "expected.json"):
        assert (cases / path.name).read_bytes() == path.read_bytes(), path.name


CASES3 = Path(__file__).parent / "conformance3"
EXPECTED3 = json.loads((CASES3 / "expected.json").read_text(encoding="utf-8"))
WRONG3 = {case for case, expected in EXPECTED3.items() if "wrong" in expected}
SIZES = ("initial", "states", "transitions")


def test_the_third_folder_holds_its_cases():
    assert {path.stem for path in CASES3.glob("*.stead")} == EXPECTED3.keys()


@pytest.mark.parametrize("case", sorted(WRONG3))
def test_version_3_refuses(case):
    """What is an error of the file is told with its line."""
    with pytest.raises(InputError, match=rf"{case}\.stead:{EXPECTED3[case]['wrong']}:"):
        st.load(CASES3 / f"{case}.stead")


@pytest.mark.parametrize(
    ("engine", "domain"), [("explicit", "theorem"), ("symbolic", "theorem"), ("symbolic", "normal")]
)
@pytest.mark.parametrize("case", sorted(EXPECTED3.keys() - WRONG3))
def test_version_3_by_hand(case, engine, domain):
    """Verdicts, which of them are `unexpected`, and sizes: ``domain`` is given where some sort is unbounded,
    so that representatives are fewer; what is `broken` with the length of its run; or the error that it
    `raises`."""
    expected = EXPECTED3[case]
    deployment = st.load(CASES3 / f"{case}.stead")
    agents, gates = expected.get("agents", "any"), expected.get("gates", [])
    options = {"engine": engine, "domain": domain, "findings": False, "gates": gates}
    if "raises" in expected:
        with pytest.raises(getattr(st.errors, expected["raises"])):
            st.verify(deployment, agents, **options)
        return
    result = st.verify(deployment, agents, **options)
    if "broken" in expected:
        assert [result.broken.claim, len(result.broken.trace.steps)] == expected["broken"]
        return
    assert {name: verdict.holds for name, verdict in result.verdicts.items()} == expected["specs"]
    if "unexpected" in expected:
        unexpected = [name for name, verdict in result.verdicts.items() if verdict.unexpected]
        assert unexpected == expected["unexpected"]
    if domain == "theorem" or "domain" not in expected:
        wanted = {name: expected[name] for name in SIZES if name in expected}
        assert {name: getattr(result, name) for name in wanted} == wanted
        assert expected.get("domain", {}).items() <= dict(result.domain).items()
