"""Production runs on the decisions that the verification covered."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from stead_sym.agent.models.agent import ModelAgent
from stead_sym.agent.prompts.prompt import Prompt
from stead_sym.agent.records.store import Store
from stead_sym.agent.rules import RuleAgent
from stead_sym.errors import DeclarationError
from stead_sym.examples.production import Desk, main, operate
from stead_sym.files import load
from stead_sym.relational.instance import Instance
from stead_sym.testing.byte_model import ByteModel
from stead_sym.verification import verify

desk = load("refund")
prompt = Prompt.of(desk)


def run(agent, verified, cases=100):
    with closing(sqlite3.connect(":memory:")) as db:
        return operate(desk, agent, verified, db, cases=cases)


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
        done = run(ModelAgent(ByteModel(seed, seen=asked.append), prompt, store), verified)
    assert (done.cases, done.refunds, done.queries, asked) == (100, 100, 0, [])
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


def test_another_agent_than_the_verified_one_is_noticed():
    verified = verify(desk, RuleAgent.of(desk, "baseline"))
    assert run(RuleAgent.of(desk, "approving"), verified, cases=3).uncovered


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
    monkeypatch.setattr("stead_sym.examples.production.open_backend", lambda words: ByteModel())
    monkeypatch.setattr(
        "sys.argv",
        ["production", "bytes", "--database", str(tmp_path / "no" / "x"), "--store", str(tmp_path / "s")],
    )
    assert main() == 2
    assert capsys.readouterr().err.endswith(
        "unable to open database file; name a database that is not there yet\n"
    )
