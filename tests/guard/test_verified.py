"""A guard that is held to what was verified: contexts that were never met, approvals, the log."""

from __future__ import annotations

import asyncio
import json
import random

import pytest
import sqlalchemy as sa
from live import binding, fill, schema_of
from small_desk import FUNCTIONS, TEXT, database, done

import stead_sym as st
from stead_sym.analyses.production import NotVerified
from stead_sym.deployment.restriction import around, normal_restriction
from stead_sym.deployment.semantics import offer, outcomes
from stead_sym.deployment.tool import Call
from stead_sym.errors import Undecided
from stead_sym.guard.decision import ToolCall
from stead_sym.relational.instance import Fact, Instance
from stead_sym.report.data import report_data

POLICIES = """
policy steady
  call approve(r, c)
  call pay(r) when Refund(id = r, state = approved)
  call pay(r)
  call answer(no)

policy quick
  call pay(r)
  call approve(r, c)
  call answer(yes)

spec settled AG (forall r. (Refund(id = r) -> EF Refund(id = r, state = paid)))
"""
ASKED = "initially any Clerk, Refund where forall r. (Refund(id = r) -> Refund(id = r, state = asked))"
FEW = TEXT.replace("bound refund 3", "bound refund 2").replace("initially any Clerk, Refund", ASKED)


@pytest.fixture(scope="module")
def desk():
    return st.parse_deployment(FEW + POLICIES)


@pytest.fixture(scope="module")
def steady(desk):
    return st.verify(desk, "steady")


def rows(bound, *statements):
    engine = sa.create_engine(bound.database)
    with engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    engine.dispose()


def test_the_call_of_the_agent_is_allowed_and_another_is_not_verified(desk, steady, tmp_path):
    with st.Guard(desk, database(tmp_path), verified=steady) as guard:
        assert guard.check("approve", {"r": 1, "c": "bob"}).allowed
        denied = guard.check("pay", {"r": 2})  # offered, but the agent approves first
        assert denied.reason == "not verified"
        assert denied.why == "not verified: approve(1, bob) was verified here, and not this call"
        assert denied.instead == (ToolCall("approve", {"r": 1, "c": "bob"}),)
        assert guard.calls() == [ToolCall("approve", {"r": 1, "c": "bob"})]
        assert guard.allowed_tools() == {"approve"}
        assert guard.check("pay", {"r": 3}).reason == "not offered"


def test_a_report_does_as_well_as_a_verification(desk, steady, tmp_path):
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report_data(steady)), encoding="utf-8")
    for verified in (json.loads(path.read_text()), path, str(path)):
        folder = tmp_path / str(type(verified).__name__)
        folder.mkdir()
        with st.Guard(desk, database(folder), verified=verified) as guard:
            assert guard.check("approve", {"r": 1, "c": "bob"}).allowed
            assert guard.check("pay", {"r": 2}).reason == "not verified"


@pytest.mark.parametrize(
    ("never_met", "reason"), [("deny", "not verified"), ("ask", "needs approval"), ("allow", None)]
)
def test_a_context_that_was_never_met_is_denied_allowed_or_asked_about(
    desk, steady, tmp_path, never_met, reason
):
    """The agent pays nothing before all is approved."""
    bound = database(tmp_path)
    rows(bound, "UPDATE refund SET state = 'paid' WHERE id = 2")
    with st.Guard(desk, bound, verified=steady, never_met=never_met) as guard:
        decision = guard.check("approve", {"r": 1, "c": "bob"})
        if reason is None:
            assert decision.not_verified == "no context like it was met"
            assert ToolCall("pay", {"r": 1}) in guard.calls()
        else:
            assert decision.reason == reason
            assert decision.why.endswith("not verified: no context like it was met")
            assert guard.calls() == []


def test_what_a_person_approves_is_made_and_logged(desk, steady, tmp_path):
    bound, log = database(tmp_path), tmp_path / "log"
    with st.Guard(desk, bound, verified=steady, never_met="ask", log=log) as guard:
        assert guard.call("pay", {"r": 2}, FUNCTIONS["pay"]).reason == "needs approval"
        assert done(bound) == []
        paid = guard.call("pay", {"r": 2}, FUNCTIONS["pay"], approved="ann")
        assert paid.result == "refund 2 is paid"
        assert paid.by[-1] == "approved by ann"
        assert "approve(1, bob) was verified here" in paid.not_verified
        again = asyncio.run(guard.acall("pay", {"r": 2}, FUNCTIONS["pay"], approved="ann"))
        assert again.reason == "not offered"
        forwarded = guard.forward("pay", {"r": 1}, lambda: "made", approved="ann")
        assert forwarded.result == "made"
        assert (
            asyncio.run(guard.acheck("approve", {"r": 1, "c": "ann"}, approved="eve")).reason == "not offered"
        )
    assert done(bound) == ["pay 2"]
    replayed = st.replay_audit_log(log, desk)
    assert replayed.confirmed
    assert "with a verification; what it never met: ask" in replayed.guards[0]


def test_an_approval_lifts_nothing_else(desk, steady, tmp_path):
    bound = database(tmp_path)
    with st.Guard(desk, bound, verified=steady, gates="rules", never_met="deny") as guard:
        assert guard.check("pay", {"r": 2}, approved="ann").reason == "not verified"
        assert guard.check("pay", {"r": 1}, approved="ann").reason == "not allowed"


@pytest.mark.parametrize(
    "change",
    [
        lambda entry: entry["read"].update(gap=""),
        lambda entry: entry["read"].update(gap="other"),
        lambda entry: entry.update(event="allowed", by=["guard"]),
    ],
)
def test_a_log_that_hides_a_gap_is_not_confirmed(desk, steady, tmp_path, change):
    from test_guard_replay import rewritten

    log = tmp_path / "log"
    with st.Guard(desk, database(tmp_path), verified=steady, log=log) as guard:
        guard.check("pay", {"r": 2})
    assert st.replay_audit_log(log, desk).confirmed

    def changed(entries):
        change(entries[-1])
        return entries

    rewritten(log, changed)
    assert not st.replay_audit_log(log, desk).confirmed


def test_an_approval_that_is_taken_out_of_the_log_is_missed(desk, steady, tmp_path):
    from test_guard_replay import rewritten

    log = tmp_path / "log"
    with st.Guard(desk, database(tmp_path), verified=steady, never_met="ask", log=log) as guard:
        guard.check("pay", {"r": 2}, approved="ann")

    def removed(entries):
        del entries[-1]["approved"]
        return entries

    rewritten(log, removed)
    assert not st.replay_audit_log(log, desk).confirmed


def test_what_was_verified_as_any_agent_is_covered_whole(desk, tmp_path):
    result = st.verify(desk, "any")
    with st.Guard(desk, database(tmp_path), verified=result) as guard:
        assert guard.check("pay", {"r": 2}).allowed
        assert guard.check("approve", {"r": 1, "c": "bob"}).allowed


def test_the_gates_of_the_report_are_in_force(desk, tmp_path):
    result = st.verify(desk, "quick", gates="rules")
    with st.Guard(desk, database(tmp_path), verified=result) as guard:
        assert guard.check("pay", {"r": 1}).reason == "not allowed"
        assert guard.check("pay", {"r": 2}).allowed


def test_more_records_than_were_verified_are_past_a_bound(desk, steady, tmp_path):
    bound = database(tmp_path)
    rows(bound, "INSERT INTO refund VALUES (3, 'bob', 'asked')")
    with st.Guard(desk, bound, verified=steady, never_met="allow") as guard:
        assert guard.check("approve", {"r": 1, "c": "bob"}).reason == "past a bound"


def test_a_content_that_no_sort_lists_is_not_verified(desk, steady, tmp_path):
    bound = database(tmp_path)
    rows(
        bound,
        "PRAGMA ignore_check_constraints = 1",
        "UPDATE refund SET state = 'lost' WHERE id = 2",
    )
    with st.Guard(desk, bound, verified=steady) as guard:
        decision = guard.check("approve", {"r": 1, "c": "bob"})
        assert decision.reason == "not verified"
        assert "a column of Refund holds 'lost', which is none of asked, approved, paid" in decision.why
        with pytest.raises(Undecided, match="a column of Refund holds 'lost'"):
            guard.calls_of(st.VerifiedAgent(desk, steady))


def test_the_calls_of_a_verified_agent_are_those_of_the_live_state(desk, steady, tmp_path):
    bound = database(tmp_path)
    agent = st.VerifiedAgent(desk, steady)
    with st.Guard(desk, bound, verified=steady) as guard:
        made = []
        while True:
            [call, *_] = guard.calls_of(agent)
            made.append(str(call))
            assert guard.call(call.tool, call.arguments, FUNCTIONS[call.tool]).allowed
            if call.tool == "answer":
                break
    assert made == ['approve(r=1, c="bob")', "pay(r=1)", "pay(r=2)", 'answer(config="no")']
    assert done(bound) == ["approve 1 bob", "pay 1", "pay 2"]
    with st.Guard(desk, bound) as guard:  # held by the agent alone
        assert guard.calls_of(agent) == [ToolCall("answer", {"config": "no"})]
        rows(bound, "DELETE FROM refund", "DELETE FROM clerk", "INSERT INTO refund VALUES (1, 'x', 'asked')")
        with pytest.raises(NotVerified):
            guard.calls_of(agent)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"never_met": "never"}, "unknown never_met 'never'"),
        ({"bounds": False}, "a verification is about the bounds of the file; leave out bounds=False"),
        ({"verified": {"x": 1}}, "no report of a verification"),
        ({"verified": "nowhere.json"}, "nowhere.json: cannot be read"),
    ],
)
def test_what_cannot_hold_an_agent_is_refused(desk, steady, tmp_path, given, message):
    with pytest.raises(st.InputError, match=message):
        st.Guard(desk, database(tmp_path), **{"verified": steady, **given})


def test_a_report_of_another_deployment_is_refused(desk, steady, tmp_path):
    other = st.parse_deployment(FEW.replace("bound clerk 2", "bound clerk 1") + POLICIES)
    with pytest.raises(st.InputError, match="the verification is of another deployment"):
        st.Guard(other, database(tmp_path), verified=steady)


@pytest.mark.parametrize("policy", ["baseline", "approving"])
def test_it_covers_what_a_verified_agent_does(tmp_path, policy):
    """In states that the agent reaches and in others, under names of their own."""
    refund = st.load("refund")
    result = st.verify(refund, policy)
    agent = st.VerifiedAgent(refund, result)
    url = f"sqlite:///{tmp_path / 'live.sqlite'}"
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        for statement in schema_of(refund.schema):
            connection.exec_driver_sql(statement)
    chosen = random.Random(policy)
    covered = []
    with st.Guard(refund, binding(refund.schema, url), verified=result) as guard:
        for state in states(refund, agent, chosen):
            with engine.begin() as connection:
                fill(connection, refund.schema, state.facts)
            try:
                calls = agent.decide(state).calls if offer(refund, state) else frozenset()
            except NotVerified:
                calls = frozenset()
            covered.append(bool(calls))
            for call in offer(refund, state):
                tool = next(one for one in refund.tools if one.name == call.tool)
                arguments = {p.name: u for p, u in zip(tool.params, call.args, strict=True)}
                assert guard.check(call.tool, arguments).allowed == (call in calls), (state, call)
            listed = {Call(one.tool, tuple(one.arguments.values())) for one in guard.calls(99)}
            assert listed == calls
    engine.dispose()
    assert 10 < sum(covered) < len(covered) - 10


def states(deployment, agent, chosen):
    """States of a run of any agent, renamed, where some facts are left out in between."""
    constants = {u for values in deployment.constants.values() for u in values}
    state = Instance.of(deployment.schema, [("Approver", ("s1", "a1")), ("Approver", ("s2", "a2"))])
    for number in range(60):
        calls = sorted(offer(deployment, state))
        if not calls:
            return
        near = around(deployment, normal_restriction(deployment), state)
        after = outcomes(deployment, chosen.choice(calls), state, near)
        state = chosen.choice(sorted(after, key=lambda one: sorted(one.facts)))
        active = {u for values in state.active_domain.values() for u in values} - constants
        renamed = {u: f"{u[0]}{number}x{place}" for place, u in enumerate(sorted(active))}
        kept = [
            fact
            for fact in sorted(state.facts)
            if number % 3 or fact.relation == "Approver" or chosen.random() < 0.8
        ]
        yield Instance.of(
            deployment.schema, [Fact(f.relation, tuple(renamed.get(u, u) for u in f.args)) for f in kept]
        )


def test_relations_without_columns_are_read(tmp_path):
    """They are true if their table has a row, and the agent is not shown something else."""
    halted = st.parse_deployment("""
        deployment switch
        relation Halted()
        relation Fine()
        init
          Fine()
        tool go() "Go on."
        tool halt()
          effect
            insert Halted()
        policy careful
          call halt() when ~Halted()
          call go()
        spec s AG Fine()
        """)
    url = f"sqlite:///{tmp_path / 'live.sqlite'}"
    bound = binding(halted.schema, url)
    rows(bound, *schema_of(halted.schema))
    with st.Guard(halted, bound, verified=st.verify(halted, "careful")) as guard:
        for true, allowed in (({"Fine"}, ["halt"]), ({"Fine", "Halted"}, ["go"]), ({"Halted"}, []), ((), [])):
            rows(bound, "DELETE FROM fine", "DELETE FROM halted")
            rows(bound, *(f"INSERT INTO {relation.lower()} VALUES (NULL)" for relation in true))
            assert [tool for tool in ("go", "halt") if guard.check(tool).allowed] == allowed
            assert [call.tool for call in guard.calls()] == allowed


@pytest.mark.parametrize(
    ("call", "most"), [(("approve", {"r": 1, "c": "bob"}), 4), (("pay", {"r": 2}), 6), (("no", {}), 6)]
)
def test_a_decision_reads_the_state_once(desk, steady, tmp_path, call, most):
    """A query for the call, one for each relation, one for the bounds and one for each covered call."""
    with st.Guard(desk, database(tmp_path), verified=steady) as guard:
        asked = []

        def note(_, __, statement, *rest):
            asked.append(statement)

        sa.event.listen(sa.Engine, "before_cursor_execute", note)
        try:
            guard.check(*call)
        finally:
            sa.event.remove(sa.Engine, "before_cursor_execute", note)
        assert sum(statement.startswith("SELECT DISTINCT clerk_1.id") for statement in asked) == 1
        assert len(asked) <= most


def test_two_columns_whose_contents_are_written_alike_are_two_values(desk, steady, tmp_path):
    """SQLite keeps bytes in a column of texts, and the bytes b'bob' are not the text `b'bob'`."""
    bound = database(tmp_path)
    engine = sa.create_engine(bound.database)
    with engine.begin() as connection:
        for statement in ("DELETE FROM refund", "DELETE FROM clerk"):
            connection.exec_driver_sql(statement)
        connection.exec_driver_sql("INSERT INTO clerk VALUES (?), (?)", ("b'bob'", b"bob"))
        connection.exec_driver_sql("INSERT INTO refund VALUES (1, ?, 'asked')", ("b'bob'",))
    engine.dispose()
    with st.Guard(desk, bound, verified=steady) as guard:
        denied = guard.check("pay", {"r": 1})  # the other clerk has to approve it first
        assert denied.reason == "not verified"
        assert "which is no text" in denied.why
