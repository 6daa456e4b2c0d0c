"""Production runs on the decisions that the verification covered."""

from __future__ import annotations

import json
import random
from contextlib import closing

import pytest
from live_refunds import Database, Desk, main, operate

from postgresql import server
from stead_sym.agents.prompts.prompt import Prompt
from stead_sym.agents.records.store import Store
from stead_sym.agents.rules import RuleAgent
from stead_sym.analyses.production import NotVerified, VerifiedAgent
from stead_sym.deployment.files import load
from stead_sym.errors import DeclarationError
from stead_sym.models.agent import ModelAgent
from stead_sym.relational.instance import Instance
from stead_sym.report.data import report_data
from stead_sym.testing.byte_model import ByteModel
from stead_sym.verification.verify import verify

desk = load("refund")
prompt = Prompt.of(desk)


def run(agent, verified, cases=100, desks=1, words=":memory:", **options):
    with closing(Database(words, desks + 1)) as database:
        served = VerifiedAgent(desk, verified, agent, **options)
        return operate(served, database, cases=cases, desks=desks)


def progressing(store):
    """A model that works cases off: the seeds are tried in order, the first whose progress is verified."""
    for seed in range(20):
        agent = ModelAgent(ByteModel(seed), prompt, store)
        result = verify(desk, agent)
        if result["prog"].holds:
            return seed, result
    pytest.fail("no seed makes progress")


def test_a_hundred_cases_ask_nothing_that_was_not_verified(tmp_path):
    with Store(tmp_path / "decisions.sqlite") as store:
        seed, verified = progressing(store)
        asked = []
        model = ModelAgent(ByteModel(seed, seen=asked.append), prompt, store)
        done = run(model, verified)
    assert (done.cases, done.refunds, model.queries, asked) == (100, 100, 0, [])
    assert done.uncovered == ()
    assert (done.unapproved > 0) == (verified["auth"].holds is False)


@pytest.mark.parametrize(("policy", "unapproved"), [("baseline", 100), ("approving", 0)])
def test_rules_in_production(policy, unapproved):
    agent = RuleAgent.of(desk, policy)
    done = run(agent, verify(desk, agent))
    assert (done.cases, done.unapproved, done.uncovered) == (100, unapproved, ())


def test_rows_may_be_called_like_anything(monkeypatch):
    """Cases and tasks that share their keys, among them the names of rigid values and canonical ones."""
    odd = ["open", "resolved", "s1", "a2", "CASE_1", "TASK_2", "open@case", "issue_refund", "1", "=open", ""]
    handed_out = {"case": iter(odd), "task": iter(odd)}
    monkeypatch.setattr(Desk, "_new", lambda desk, kind: next(handed_out[kind]))
    agent = RuleAgent.of(desk, "approving")
    done = run(agent, verify(desk, agent), cases=len(odd))
    assert (done.cases, done.unapproved, done.uncovered) == (len(odd), 0, ())


def test_a_live_value_that_a_rigid_sort_lacks_is_refused():
    with pytest.raises(
        DeclarationError, match=r"late in CaseStatus\(c, late\) is no value of the rigid sort status"
    ):
        Instance.of(desk.schema, [("CaseStatus", ("c", "late"))])


def test_another_agent_than_the_verified_one_is_refused_before_it_does_anything():
    verified = verify(desk, RuleAgent.of(desk, "baseline"))
    done = run(RuleAgent.of(desk, "approving"), verified, cases=3)
    [refused] = done.uncovered
    assert (done.cases, done.decisions, done.refunds) == (0, 1, 0)  # it takes the case, as the other does
    assert isinstance(refused, NotVerified)
    assert str(refused).startswith("not verified: issue_refund(task-")
    assert {call.tool for call in refused.selected} == {"obtain_approval"}


def test_what_is_not_covered_is_carried_out_where_that_is_asked_for():
    verified = verify(desk, RuleAgent.of(desk, "baseline"))
    done = run(RuleAgent.of(desk, "approving"), verified, cases=3, on_unknown="ask")
    assert (done.cases, done.unapproved) == (3, 0)
    assert len(done.uncovered) >= 3


def test_decisions_of_a_report_are_carried_out_without_an_agent(tmp_path, monkeypatch, capsys):
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report_data(verify(desk, RuleAgent.of(desk, "approving")))))
    assert run(None, path, cases=5).unapproved == 0
    words = ["--report", str(path), "--cases", "3", "--desks", "2", "--database", str(tmp_path / "live")]
    monkeypatch.setattr("sys.argv", ["production", *words])
    assert main() == 0
    printed = capsys.readouterr().out
    assert printed == (
        "6 cases, 30 decisions, 6 refunds, 0 without approval; "
        "0 decisions that the verification did not cover\n"
    )


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_many_desks_at_once(kind, tmp_path):
    """Desks share the tables, and each sees its own case."""
    verified = verify(desk, RuleAgent.of(desk, "approving"))
    if kind == "sqlite":
        done = run(RuleAgent.of(desk, "approving"), verified, cases=5, desks=8, words=str(tmp_path / "live"))
    else:
        with server() as database:
            done = run(RuleAgent.of(desk, "approving"), verified, cases=5, desks=8, words=database())
    assert (done.cases, done.decisions, done.unapproved, done.uncovered) == (40, 200, 0, ())


def test_a_desk_that_somebody_changes_meanwhile_is_read_again(tmp_path, monkeypatch):
    """Two hands at one desk: each call is one that was decided on what the desk was then."""
    agent = VerifiedAgent(desk, verify(desk, RuleAgent.of(desk, "approving")))
    with closing(Database(str(tmp_path / "live"))) as database:
        one, other = (Desk(database, "desk", random.Random(seed)) for seed in range(2))
        decide, reads = agent.decide, []

        def interrupted(state):
            reads.append(state)
            if len(reads) == 1:
                other.turn(agent)
            return decide(state)

        monkeypatch.setattr(agent, "decide", interrupted)
        turn = one.turn(agent)
        assert len(reads) == 3
        assert reads[0] != reads[2]
        assert turn.call.tool == "obtain_approval"
        assert len(one.read(agent)[1].tuples("CaseStatus")) == 1


@pytest.mark.gate
def test_a_case_that_gets_nowhere_ends_the_run():
    agent = ModelAgent(
        next(m for m in map(ByteModel, range(20)) if not verify(desk, ModelAgent(m, prompt))["prog"].holds),
        prompt,
    )
    done = run(agent, verify(desk, agent))
    assert done.cases < 100
    assert done.uncovered == ()


def test_a_database_that_cannot_be_made_is_no_verdict(tmp_path, monkeypatch, capsys):
    """Status 1 would say that a decision was not covered."""
    monkeypatch.setattr("live_refunds.open_backend", lambda words: ByteModel())
    monkeypatch.setattr(
        "sys.argv",
        ["production", "bytes", "--database", str(tmp_path / "no" / "x"), "--store", str(tmp_path / "s")],
    )
    assert main() == 2
    assert capsys.readouterr().err.endswith(
        "unable to open database file; name a database that can be used\n"
    )
