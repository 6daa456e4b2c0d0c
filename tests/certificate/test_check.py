"""Certificates of every kind of deployment are accepted, and state the verdicts of the explicit engine."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest
from hypothesis import event, given, settings

import stead_sym as st
from certified import DOMAINS, KINDS, PROFILES, given_agents, solved
from engine_pairs import examples
from stead_sym.agents.roles import by_agent
from stead_sym.certificate.diagrams import read_diagrams
from stead_sym.certificate.files import read_json
from stead_sym.certificate.write import uncertifiable
from stead_sym.engines.symbolic.bdd.manager import HAS_CUDD, Manager

TESTS = Path(__file__).parent.parent
CASES, CASES2 = TESTS / "conformance", TESTS / "conformance2"
EXPECTED, EXPECTED2 = (
    json.loads((folder / "expected.json").read_text(encoding="utf-8")) for folder in (CASES, CASES2)
)


def words(verdicts):
    return {
        name: {True: "holds", False: "fails"}[holds] for name, holds in verdicts.items() if holds is not None
    }


def certified(result, directory, **options):
    """Return what the check says of the certificate of a result."""
    return st.check_certificate(st.write_certificate(result, directory), **options)


def in_turn(ways, case, cases):
    """A quarter of the ways in the profile `quick`, at least one, by turns of the cases; else all of them."""
    turn = [*cases].index(case)
    return [ways[(turn + k) % len(ways)] for k in range(min(examples(len(ways)), len(ways)))]


@pytest.mark.parametrize("case", EXPECTED)
def test_the_conformance_cases(case, tmp_path):
    deployment = st.load(CASES / f"{case}.stead")
    for agent, domain in in_turn([*product(EXPECTED[case], DOMAINS)], case, EXPECTED):
        result = st.verify(deployment, agent, domain=domain, findings=False)
        expected = words(EXPECTED[case][agent]["specs"])
        assert dict(certified(result, tmp_path).verdicts) == expected, (agent, domain)


@pytest.mark.parametrize("case", EXPECTED2)
def test_the_conformance_cases_of_version_2(case, tmp_path):
    deployment, answers = st.load(CASES2 / f"{case}.stead"), EXPECTED2[case]
    agents = by_agent(deployment, answers["agents"])
    for domain in in_turn(DOMAINS, case, EXPECTED2):
        result = st.verify(deployment, agents, domain=domain, findings=False)
        assert dict(certified(result, tmp_path).verdicts) == words(answers["specs"]), domain


@pytest.mark.parametrize("profile", PROFILES)
def test_generated_deployments(profile, tmp_path_factory):
    directory = tmp_path_factory.mktemp(profile)

    @settings(max_examples=examples(5, slow=400))
    @given(PROFILES[profile], KINDS)
    def run(deployment, kinds):
        for domain in DOMAINS:
            result = solved(deployment, given_agents(deployment, kinds), domain)
            if result is None or uncertifiable(result):
                event("nothing to certify")
                continue
            claimed = words({name: verdict.holds for name, verdict in result.verdicts.items()})
            assert dict(certified(result, directory).verdicts) == claimed
            event("accepted")

    run()


@pytest.mark.skipif(not HAS_CUDD, reason="dd has no CUDD here, so both backends are the same")
def test_the_diagrams_in_python_accept_the_same(tmp_path):
    result = st.verify(st.load("refund"), "approving")
    accepted = certified(result, tmp_path, backend="autoref")
    assert accepted.obligations == st.check_certificate(tmp_path).obligations


def test_dd_reads_the_diagrams(tmp_path):
    """The file is in `dd`'s own format, and `read_diagrams` reads what `dd` writes."""
    import dd.autoref

    st.write_certificate(st.verify(st.load("refund"), "approving"), tmp_path)
    other = dd.autoref.BDD()
    roots = other.load(str(tmp_path / "diagrams.json"))
    names = list(other.vars)
    manager = Manager("autoref")
    manager.declare_bottom(names)
    own = read_diagrams(read_json(tmp_path / "diagrams.json"), "own", names).build(manager)
    assert [other.count(root, len(names)) for root in roots] == [
        manager.count(function, frozenset(names)) for function in own
    ]
    other.dump(str(tmp_path / "again.json"), roots)
    again = read_diagrams(read_json(tmp_path / "again.json"), "again", names).build(manager)
    assert again == own


def test_a_question_beside_the_specifications_is_certified_too(tmp_path):
    result = st.verify(st.load("refund"), "approving", ["AG EF exists c. CaseStatus(c, open)", "auth"])
    assert dict(certified(result, tmp_path).verdicts) == {
        name: verdict.word for name, verdict in result.verdicts.items()
    }


def test_the_summary_says_who_decides(tmp_path):
    deployment = st.load("refund")
    assert (
        "under policy approving in 5 contexts, mode normal"
        in certified(st.verify(deployment, "approving"), tmp_path).summary
    )
    assert "under any (everything offered)" in certified(st.verify(deployment), tmp_path).summary
    first = lambda context: min(context.calls)  # noqa: E731
    assert "under a table of" in certified(st.verify(deployment, first), tmp_path).summary


def test_a_policy_that_knows_all_constants_is_a_table(tmp_path):
    """Its wrapper leaves more alone than the policy mentions, so that its contexts are others."""
    deployment = st.load("refund")
    rules = st.agents.RuleAgent.of(deployment, "approving")
    literal = st.CanonicalWrapper(rules, deployment.schema, deployment.tools, deployment.sort_of_constant)
    accepted = certified(st.verify(deployment, literal), tmp_path)
    assert "under a table of" in accepted.summary
    assert dict(accepted.verdicts) == {"auth": "holds", "prog": "holds"}


def test_there_is_nothing_to_certify_in_unknown_verdicts(tmp_path):
    deployment = st.load("refund")
    forced = st.verify(deployment, domain={"case": 1}, force=True)
    with pytest.raises(st.InputError, match="every verdict is unknown"):
        st.write_certificate(forced, tmp_path)
    explicit = st.verify(deployment, engine="explicit")
    with pytest.raises(st.InputError, match="symbolic engine"):
        st.write_certificate(explicit, tmp_path)


def test_a_directory_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(st.InputError, match="cannot be written"):
        st.write_certificate(st.verify(st.load("refund")), tmp_path / "file")
