"""A verified agent does what was verified, and nothing else unless that is asked for."""

from __future__ import annotations

import json
import random
from concurrent.futures import ThreadPoolExecutor

import graphs
import pytest

import stead_sym as st
from stead_sym.agents.base import DecisionContext
from stead_sym.analyses.production import NotVerified, VerifiedAgent
from stead_sym.errors import AgentError, DeclarationError, InputError
from stead_sym.relational.instance import Fact, Instance
from stead_sym.report.data import report_data

desk = st.load("refund")
baseline = st.verify(desk, "baseline")


def state(*facts, text="Approver(s1, a1) Approver(s2, a2)"):
    """An instance of the desk from texts."""
    atoms = [*text.split(") "), *facts]
    split = (atom.rstrip(")").partition("(") for atom in atoms)
    return st.Instance.of(desk.schema, [(name, tuple(args.split(", "))) for name, _, args in split])


START = state()
OPEN = state("CaseStatus(c7, open)", "Handler(c7, s2)", "PartOf(t9, c7)")
TWO = state(
    "CaseStatus(c7, open)", "Handler(c7, s2)", "PartOf(t9, c7)", "CaseStatus(c8, open)", "Handler(c8, s1)"
)
REFUND = frozenset({st.Call("issue_refund", ("t9",))})


def sources(tmp_path, result=baseline):
    """Return what a verified agent may be made from."""
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report_data(result)), encoding="utf-8")
    return [result, report_data(result), json.loads(path.read_text()), path, str(path)]


def test_what_was_verified_is_done_from_a_result_or_a_saved_report(tmp_path):
    for verified in sources(tmp_path):
        for agent in (None, "baseline"):
            served = VerifiedAgent(desk, verified, agent)
            assert served.decide(START).calls == {st.Call("ingest_case", ())}
            granted = served.decide(OPEN)
            assert (granted.calls, granted.covered, granted.not_verified) == (REFUND, True, None)
            assert served.decide(served.context(OPEN)).calls == REFUND


def test_a_context_that_was_never_met_is_refused_and_nobody_is_asked(tmp_path):
    asked = []

    def agent(context):
        asked.append(context)
        return min(context.calls)

    for verified in sources(tmp_path):
        for by in (None, agent):
            with pytest.raises(
                NotVerified,
                match=r"^not verified: no context like it was met; 2 of sort case besides the constants"
                r" \(c7, c8\), bound is 1 \(7 facts",
            ) as e:
                VerifiedAgent(desk, verified, by).decide(TWO)
            assert (e.value.context.view, e.value.selected, e.value.exit_status) == (TWO, None, 3)
            assert "\n" not in str(e.value)
    assert asked == []


def test_what_is_no_state_is_told():
    with pytest.raises(TypeError, match=r"^\[\] is no state; give an `Instance`, or a `DecisionContext`$"):
        VerifiedAgent(desk, baseline).decide([])


def test_an_agent_that_now_selects_otherwise_is_refused():
    served = VerifiedAgent(desk, baseline, "approving")
    assert served.decide(START).covered
    with pytest.raises(NotVerified, match=r"issue_refund\(t9\) was verified, now it is obtain_approval") as e:
        served.decide(OPEN)
    assert e.value.selected == {st.Call("obtain_approval", ("t9", "a2"))}


def test_an_agent_that_now_may_do_less_is_refused():
    """A verdict that some run exists may rest on what it does no longer."""
    result = st.verify(desk, lambda context: context.calls)
    served = VerifiedAgent(desk, result, "baseline")
    with pytest.raises(
        NotVerified, match=r"obtain_approval\(t9, a2\) was verified, now it is issue_refund\(t9\)"
    ):
        served.decide(OPEN)


def test_the_model_is_asked_where_that_is_wanted_and_the_answer_is_marked():
    served = VerifiedAgent(desk, baseline, "approving", on_unknown="ask")
    granted = served.decide(OPEN)
    assert granted.calls == {st.Call("obtain_approval", ("t9", "a2"))}
    assert not granted.covered
    assert "was verified, now it is" in str(granted.not_verified)
    assert served.decide(START).covered
    assert not served.decide(TWO).covered


def test_a_person_is_asked_where_that_is_wanted():
    seen = []

    def person(unknown):
        seen.append(unknown)
        return max(unknown.context.calls)

    served = VerifiedAgent(desk, baseline, on_unknown="escalate", escalate=person)
    assert served.decide(OPEN).covered
    assert seen == []
    granted = served.decide(TWO)
    assert granted.calls == {max(st.offer(desk, TWO))}
    assert [granted.not_verified] == seen
    both = VerifiedAgent(
        desk, baseline, on_unknown="escalate", escalate=lambda unknown: unknown.context.calls
    )
    assert both.decide(TWO).calls == st.offer(desk, TWO)


@pytest.mark.parametrize("answer", [[], [st.Call("issue_refund", ("t1",))], None, "idle"])
def test_what_a_person_may_not_answer(answer):
    served = VerifiedAgent(desk, baseline, on_unknown="escalate", escalate=lambda unknown: answer)
    with pytest.raises(AgentError):
        served.decide(TWO)


def test_interchangeable_records_are_all_covered():
    """What was recorded for one of two tickets that look alike is verified for either."""
    queue = st.parse_deployment("""
deployment queue
sort ticket
relation Open(ticket)
initially any Open where atleast 2 t. Open(t)
bound ticket 2
tool close(t: ticket) "Close a ticket."
  guard Open(t)
  effect
    delete Open(t)
tool wait() "Wait."
  effect
    clear Open
spec s AG true
""")
    result = st.verify(queue, lambda context: min(context.calls))
    served = VerifiedAgent(queue, json.loads(json.dumps(report_data(result))))
    live = st.Instance.of(queue.schema, [("Open", ("x",)), ("Open", ("y",))])
    assert served.decide(live).calls == {st.Call("close", ("x",)), st.Call("close", ("y",))}


def test_constants_that_an_agent_knows_by_name_are_not_renamed():
    """The policy serves case7 only; another case in its place is another context."""
    text = """
deployment queue
sort case
relation Open(case)
init
  Open(case7)
tool close(c: case) "Close a case."
  guard Open(c)
  effect
    delete Open(c)
    insert Open(c)
policy own
  call close(case7)
spec s AG true
"""
    queue = st.parse_deployment(text)
    result = st.verify(queue, "own")
    for verified in (result, report_data(result)):
        served = VerifiedAgent(queue, verified)
        own, other = (st.Instance.of(queue.schema, [("Open", (name,))]) for name in ("case7", "case8"))
        assert served.decide(own).calls == {st.Call("close", ("case7",))}
        with pytest.raises(NotVerified):
            served.decide(other)
    with pytest.raises(InputError, match="knows other constants by name"):
        VerifiedAgent(queue, result, lambda context: min(context.calls))
    unnamed = st.verify(queue, lambda context: min(context.calls))
    with pytest.raises(InputError, match="knows other constants by name"):
        VerifiedAgent(queue, unnamed, "own")


def test_each_of_several_agents_has_its_own_decisions():
    ward = st.load("ward")
    result = st.verify(ward, {"bed_agent": "careful", "discharge_agent": lambda context: context.calls})
    assert all(len(run.decisions) > 2 for run in result.agents.values())
    with pytest.raises(InputError, match="there are several agents"):
        VerifiedAgent(ward, result)
    for name, run in result.agents.items():
        served = VerifiedAgent(ward, report_data(result), role=name)
        for context, selected in run.decisions:
            assert selected <= served.decide(context).calls <= context.calls


def without(data, *path):
    data = json.loads(json.dumps(data))
    inside = data
    for step in path[:-1]:
        inside = inside[step]
    del inside[path[-1]]
    return data


def altered(change):
    data = report_data(baseline)
    change(data)
    return data


@pytest.mark.parametrize(
    ("verified", "message"),
    [
        ({}, "the report: no report of a verification; "),
        ([], "the report: no report of a verification; "),
        (without(report_data(baseline), "digest"), "a report of an earlier version, without a digest; "),
        (without(report_data(baseline), "agents", "", "known"), "the report: a part is missing"),
        (without(report_data(baseline), "decisions", 0, "selected"), "the report: a part is missing"),
        (without(report_data(baseline), "specs"), "the report: a part is missing"),
        (altered(lambda r: r["agents"][""].update(known={"x": "clerk"})), "unknown sort clerk"),
        (report_data(st.verify(st.load("bank"))), "the report: not of this version of refund; "),
        (st.verify(st.load("bank")), "the verification is of another deployment than refund; "),
        (st.verify(desk, "any"), "the agent was verified as one that may do anything"),
        (report_data(st.verify(desk, "any")), "the agent was verified as one that may do anything"),
        (altered(lambda r: r["decisions"][1]["facts"].append("Nobody(x)")), "'Nobody(x)' is no fact or call"),
        (altered(lambda r: r["decisions"][1]["facts"].append("RefundIssued(x, y)")), "is no fact or call of"),
        (altered(lambda r: r["decisions"][1]["selected"].clear()), "the report has nothing selected in "),
        (altered(lambda r: r["decisions"][1]["selected"].append("ingest_case()")), "ingest_case"),
        (
            altered(
                lambda r: r["decisions"].append(
                    {**r["decisions"][1], "selected": ["obtain_approval(TASK_1, SERVICE_2)"]}
                )
            ),
            "two answers",
        ),
        ("/nowhere/report.json", "/nowhere/report.json: cannot be read (No such file or directory); "),
        (__file__, "not JSON; name what `stead-sym verify --json` printed"),
    ],
)
def test_what_nothing_can_be_held_to(verified, message):
    with pytest.raises(InputError) as caught:
        VerifiedAgent(desk, verified)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on_unknown": "ignore"}, "unknown on_unknown 'ignore'"),
        ({"on_unknown": "ask"}, "needs somebody to ask"),
        ({"on_unknown": "escalate"}, "go together"),
        ({"escalate": min}, "go together"),
        ({"agent": "any"}, "may do anything"),
        ({"role": "clerk"}, "there is no agent clerk"),
    ],
)
def test_arguments_that_do_not_go_together(options, message):
    with pytest.raises(InputError, match=message):
        VerifiedAgent(desk, baseline, **options)


def unsteady():
    """An agent that answers a repeated question differently."""
    chance = random.Random(7)
    return lambda context: chance.choice(sorted(context.calls))


@pytest.mark.parametrize(
    "options",
    [
        {"agent": unsteady()},
        {"agent": "baseline", "domain": {"case": 1, "task": 1}, "force": True},
        {"agent": "baseline", "engine": "explicit", "wrapped": False},
        {"agent": "baseline", "specs": []},
    ],
    ids=["unsteady", "forced", "unwrapped", "nothing asked"],
)
def test_no_decision_is_covered_where_no_verdict_is_known(options):
    """Whatever made the verdicts unknown, the decisions that were met on the way are covered by none."""
    result = st.verify(desk, **options)
    assert not any(verdict.holds is not None for verdict in result.verdicts.values())
    assert result.agents[""].decisions
    for verified in (result, report_data(result)):
        with pytest.raises(InputError, match=r"^(the verdict on auth is not known|no specification was ver)"):
            VerifiedAgent(desk, verified)


def test_one_verdict_that_is_not_known_is_one_too_many():
    for word in ("unknown", "Holds", None, True):
        with pytest.raises(InputError, match="the verdict on prog is not known"):
            VerifiedAgent(desk, altered(lambda r, word=word: r["specs"]["prog"].update(verdict=word)))


@pytest.mark.parametrize("padding", [0, 300], ids=["small", "large"])
def test_what_is_offered_is_not_said_by_the_view(padding):
    """A fact of the relation in which offered calls are kept would have calls carried out that are not
    offered."""
    names = [f"z{number}" for number in range(padding)]
    facts = OPEN.facts | {Fact("RefundIssued", (name,)) for name in names}
    served = VerifiedAgent(desk, baseline, on_unknown="escalate", escalate=lambda u: min(u.context.calls))
    calls = st.offer(desk, OPEN)
    served.decide(DecisionContext(Instance(desk.schema, facts), calls))
    for call in calls:
        smuggled = facts | {Fact(f"call {call.tool}", call.args)}
        with pytest.raises(DeclarationError, match="unknown relation call "):
            served.decide(DecisionContext(Instance(desk.schema, smuggled), calls - {call}))


@pytest.mark.parametrize(
    ("fact", "message"),
    [
        (
            Fact("CaseStatus", ("c7", "weird")),
            "weird is no value of the finite sort status; there are open, ",
        ),
        (Fact("Handler", ("c7", "s9")), "s9 is no value of the finite sort service; there are s1, "),
        (Fact("Handler", ("c7",)), "another number of arguments"),
        (Fact("Nobody", ("c7",)), "unknown relation Nobody"),
    ],
)
def test_states_that_the_deployment_cannot_be_in(fact, message):
    served = VerifiedAgent(desk, baseline, "baseline", on_unknown="ask")
    with pytest.raises(DeclarationError, match=message):
        served.decide(Instance(desk.schema, OPEN.facts | {fact}))


def test_values_that_a_finite_sort_lacks_are_not_taken_for_those_that_it_has():
    """They are opaque to the agent, so that the context is isomorphic to one that was met."""
    queue = st.parse_deployment("""
deployment queue
sort ticket
sort amount = { small, huge }
relation Open(ticket, amount)
init
  Open(t1, small)
tool swap(t: ticket) "Change the amount."
  guard exists a. Open(t, a)
  effect
    clear Open
    insert Open(t1, huge)
spec s AG true
""")
    served = VerifiedAgent(queue, st.verify(queue, lambda context: min(context.calls)))

    def state(amount):
        return st.Instance.of(queue.schema, [("Open", ("x", amount))])

    assert served.decide(state("huge")).calls == {st.Call("swap", ("x",))}
    for amount in ("vast", "x", "AMOUNT_1"):
        with pytest.raises(
            DeclarationError, match=f"{amount} is no value of the finite sort amount; there are"
        ):
            served.decide(state(amount))


def test_a_context_without_a_canonical_form_in_time_is_not_covered():
    """Approvers who approve for each other as in a graph that is hard to bring into canonical form."""
    edges = graphs.gadgets(graphs.cubic(30)).edges
    facts = [
        st.relational.Fact("Approver", (f"s{a}", f"s{b}")) for u, v in edges for a, b in ((u, v), (v, u))
    ]
    ingest = frozenset({st.Call("ingest_case", ())})
    hard = st.DecisionContext(st.Instance.of(desk.schema, facts), ingest)
    with pytest.raises(NotVerified, match=r"no canonical form within 0\.001 s") as refused:
        VerifiedAgent(desk, baseline, canonical_timeout=0.001).decide(hard)
    assert refused.value.selected is None
    with pytest.raises(NotVerified, match="no canonical form"):
        VerifiedAgent(desk, baseline, "baseline", on_unknown="ask", canonical_timeout=0.001).decide(hard)
    escalating = VerifiedAgent(
        desk, baseline, on_unknown="escalate", escalate=lambda _: min(ingest), canonical_timeout=0.001
    )
    assert (escalating.decide(hard).calls, escalating.decide(hard).covered) == (ingest, False)
    with pytest.raises(NotVerified, match="no context like it"):
        VerifiedAgent(desk, baseline).decide(hard)


def test_threads_share_one():
    served = VerifiedAgent(desk, baseline, "baseline")
    with ThreadPoolExecutor(16) as threads:
        found = list(threads.map(served.decide, [OPEN, START] * 200))
    assert [granted.calls for granted in found] == [REFUND, frozenset({st.Call("ingest_case", ())})] * 200
