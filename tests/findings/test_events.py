"""Starvation, events without end, keys at risk, databases without room: found where they are, and only
there."""

from __future__ import annotations

import pytest

import stead_sym as st
import stead_sym.logic.syntax as fo
from whole import verify

ENGINES = ("symbolic", "explicit")

DESK = """
deployment desk
sort case
relation Open(case)
bound case 1
event arrives()
  guard ~Open(_)
  effect
    fresh c: case
    insert Open(c)
event phones()
  guard {guard}
tool settle(c: case)
  guard Open(c)
  effect delete Open(c)
tool wait()
  guard ~Open(_)
policy p
  call settle(c)
  call wait()
{more}
spec served AG forall c. (Open(c) -> AF ~Open(c))
"""


def kinds(text, engine="symbolic", agent="p"):
    result = st.verify(st.parse_deployment(text, "f"), agent, engine=engine)
    return result, [finding.kind for finding in result.findings]


@pytest.mark.parametrize("engine", ENGINES)
def test_starvation_is_said_with_the_constraint_under_which_it_holds(engine):
    result, found = kinds(DESK.format(guard="true", more=""), engine)
    assert result["served"].holds is False
    assert "starvation" in found
    [finding] = [f for f in result.findings if f.kind == "starvation"]
    assert "the agent could act" in finding.text
    assert "`fair agent`" in finding.text
    mended, found = kinds(DESK.format(guard="true", more="fair agent"), engine)
    assert mended["served"].holds is True
    assert "idle agent" not in found


LAZY = """
deployment lazy
sort order
relation Open(order)
relation Confirmed(order)
bound order 1
event arrive()
  guard ~Open(_)
  effect
    fresh o: order
    insert Open(o)
event look()
tool confirm(o: order)
  guard Open(o) & ~Confirmed(o)
  effect insert Confirmed(o)
tool ship(o: order)
  guard Confirmed(o)
  effect
    delete Open(o)
    delete Confirmed(o)
tool wait()
policy good
  call confirm(o)
  call ship(o)
  call wait()
policy lazy
  call confirm(o)
  call wait()
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_proposed_helps_the_agent_that_acts_and_no_other(engine):
    text = f"{LAZY}spec shipped AG forall o. (Open(o) -> AF ~Open(o))"
    result, _ = kinds(text, engine, "good")
    [finding] = [f for f in result.findings if f.kind == "starvation"]
    assert finding.text.endswith("it holds under `fair agent`")
    result, found = kinds(f"{text} fair agent", engine, "good")
    assert result["shipped"].holds is True
    assert "idle agent" not in found
    for line in ("fair agent", "fair strong event look"):
        assert kinds(f"{text} {line}", engine, "lazy")[0]["shipped"].holds is False
    assert "starvation" not in kinds(text, engine, "lazy")[1]


@pytest.mark.parametrize("engine", ENGINES)
def test_that_an_idle_agent_passes_is_said(engine):
    """The negated premise as a constraint leaves out the runs of the policy that waits for ever: a finding,
    and no pass. Where orders can go away by themselves it hides nothing, and that policy passes."""
    text = f"{LAZY}fair ~Open(_) spec shipped AG forall o. (Open(o) -> AF ~Open(o))"
    result, found = kinds(text, engine, "lazy")
    assert result["shipped"].holds is False
    assert "fair hides" in found
    assert "idle agent" not in kinds(text, engine, "good")[1]
    leave = "event leave(o: order) guard Open(o) effect delete Open(o) delete Confirmed(o)"
    leaving = text.replace("event look()", f"event look() {leave}")
    result, found = kinds(leaving, engine, "lazy")
    assert result["shipped"].holds is True
    assert "idle agent" in found
    assert "idle agent" in kinds(leaving, engine, "good")[1]


@pytest.mark.parametrize("engine", ENGINES)
def test_what_events_alone_bring_about_is_said_and_is_no_finding(engine):
    """Under the line about the event alone, and beside others that it does not need; not where only a line
    about the states makes the idle agent pass."""
    leave = "event leave(o: order) guard Open(o) effect delete Open(o) delete Confirmed(o)"
    text = LAZY.replace("event look()", f"event look() {leave}")
    text += "spec shipped AG forall o. (Open(o) -> AF ~Open(o)) spec safe AG ~Confirmed(_) | true "
    alone = ("this rests on `fair event` lines alone: it holds for an agent that does nothing, too",)
    for policy in ("lazy", "good"):
        for lines in ("fair event leave", "fair event leave fair ~Open(_)"):
            result, found = kinds(text + lines, engine, policy)
            assert result["shipped"].holds
            assert result["shipped"].scope == alone
            assert result["safe"].scope == ()
            assert "idle agent" not in found
        result, found = kinds(f"{text} fair event look fair ~Open(_)", engine, policy)
        assert result["shipped"].scope == ()
        assert "idle agent" in found


@pytest.mark.parametrize("engine", ENGINES)
def test_a_premise_that_only_unfair_runs_meet(engine):
    more = "relation Bad() event spoil() guard ~Bad() effect insert Bad() event mend() guard Bad()"
    more += " effect delete Bad() fair ~Bad()"
    result, _ = kinds(f"{LAZY}{more} spec s AG (EG Bad() -> AF ~Bad())", engine, "good")
    [finding] = [f for f in result.findings if f.kind == "premise never true"]
    assert "the premise `EG Bad()` is true on no fair run" in finding.text


@pytest.mark.parametrize("engine", ENGINES)
def test_an_event_that_is_waited_for_comes_before_a_tool_that_the_agent_passes_over(engine):
    """Until somebody vouches, it is the agent that lets nobody in: what is missing is the event."""
    text = """
deployment door
sort visitor
relation Waits(visitor)
relation Vouched(visitor)
bound visitor 1
event arrives()
  guard ~Waits(_)
  effect
    fresh v: visitor
    insert Waits(v)
tool let_in(v: visitor)
  guard Waits(v)
  effect
    delete Waits(v)
    delete Vouched(v)
tool wait() guard Waits(_)
event vouch(v: visitor)
  guard {guard}
  effect insert Vouched(v)
policy p
  call let_in(v) when Vouched(v)
  call wait()
spec in_at_last AG forall v. (Waits(v) -> AF ~Waits(v))
"""
    for guard, named in (
        (
            "Waits(v) & ~Vouched(v)",
            "vouch could act at any time from some step on, and others act instead; it holds under"
            " `fair event vouch`",
        ),
        (
            "Waits(v)",
            "vouch and the agent could act at any time from some step on, and others act instead; it holds"
            " under `fair event vouch` and `fair agent`",
        ),
    ):
        result, _ = kinds(text.format(guard=guard), engine)
        [finding] = [f for f in result.findings if f.kind == "starvation"]
        assert f"but only by runs on which {named}" in finding.text


@pytest.mark.parametrize("engine", ENGINES)
def test_what_holds_or_fails_for_another_reason_is_no_starvation(engine):
    result, found = kinds(DESK.format(guard="~Open(_)", more=""), engine)
    assert result["served"].holds is True
    assert "starvation" not in found
    lazy = DESK.format(
        guard="~Open(_)", more="tool yawn() guard Open(_)\npolicy q\n  call yawn()\n  call wait()"
    )
    result, found = kinds(
        lazy, engine, "q"
    )  # the agent itself does nothing: the constraint would keep no run
    assert result["served"].holds is False
    assert "starvation" not in found


@pytest.mark.parametrize("engine", ENGINES)
def test_an_agent_that_may_do_anything_is_not_starved(engine):
    text = DESK.format(guard="~Open(_)", more="tool yawn() guard Open(_)")
    result, found = kinds(text, engine, "any")
    assert result["served"].holds is False
    assert "starvation" not in found


@pytest.mark.parametrize("engine", ENGINES)
def test_constraints_can_be_tried_on_what_was_explored(engine):
    """`under` answers as a deployment with these lines does."""
    plain = st.verify(st.parse_deployment(DESK.format(guard="true", more="")), "p", engine=engine)
    for line in ("~exists c: case. Open(c)", "exists c: case. Open(c)", "false"):
        other = st.parse_deployment(DESK.format(guard="true", more=f"fair {line}"))
        with_line = st.verify(other, "p", engine=engine).engine
        for formula in (other.spec("served").formula, fo.Globally("E", fo.TRUE)):
            assert plain.engine.under(other.fair, ()).holds(formula) == with_line.holds(formula), line
        fairly = with_line.satisfying(fo.Globally("E", fo.TRUE), {}).count
        assert plain.engine.under(other.fair, ()).is_fair_everywhere == (fairly == plain.states), line


def test_an_event_without_end():
    assert "endless event" in kinds(DESK.format(guard="true", more=""))[1]
    for guard, more in (("~Open(_)", ""), ("true", "fair ~exists c: case. Open(c)")):
        assert "endless event" not in kinds(DESK.format(guard=guard, more=more))[1]
    for without_progress in ("EF ~Open(c)", "A[Open(c) W ~Open(c)]", "E[Open(c) U ~Open(c)]"):
        text = DESK.replace("AF ~Open(c)", without_progress).format(guard="true", more="")
        assert "endless event" not in kinds(text)[1]
    for progress in ("A[Open(c) U ~Open(c)]", "~EG Open(c)", "~E[Open(c) W false]"):
        text = DESK.replace("AF ~Open(c)", progress).format(guard="true", more="")
        assert "endless event" in kinds(text)[1]


def test_an_event_that_an_emptied_relation_ends():
    """`empty(P)` in an `ensure` changes P, as deleting its facts does."""
    emptied = DESK.format(guard="Open(_)", more="relation Bell()\ntool hush() guard Bell() effect ensure {}")
    rings = emptied.replace("event phones()\n  guard Open(_)", "event phones()\n  guard Bell()")
    ends = rings.format("empty(Bell) & same(Open)")
    assert "endless event" not in [f.kind for f in st.lint(st.parse_deployment(ends))]
    assert "endless event" in [f.kind for f in st.lint(st.parse_deployment(rings.format("same(Open)")))]


KEYED = """
deployment keyed
sort order
sort state = {{ new, paid }} rigid
relation State(order key, state)
bound order 1
event place()
  guard ~State(_, _)
  effect
    fresh o: order
    insert State(o, new)
tool pay(o: order)
  guard {guard}
  effect
{effect}
tool rest()
spec s AG forall o. atmost 1 q. State(o, q)
"""


@pytest.mark.parametrize(
    ("guard", "effect", "risk"),
    [
        ("State(o, new)", "    insert State(o, paid)", True),
        ("State(o, new)", "    set State(o, paid)", False),
        ("State(o, new)", "    delete State(o, new)\n    insert State(o, paid)", False),
        ("State(o, new)", "    delete State(o, _)\n    insert State(o, paid)", False),
        ("State(o, new)", "    set State(p, paid) for p where State(p, new)", False),
        ("State(o, new)", "    clear State\n    insert State(o, paid)", False),
    ],
)
def test_a_key_that_an_insertion_may_break(guard, effect, risk):
    deployment = st.parse_deployment(KEYED.format(guard=guard, effect=effect), "f")
    found = [finding for finding in st.lint(deployment) if finding.kind == "key at risk"]
    assert bool(found) == risk
    for engine in ENGINES:
        if risk:
            with pytest.raises(st.errors.KeyBroken):
                verify(deployment, engine=engine)
        else:
            assert st.verify(deployment, engine=engine)["s"].holds


@pytest.mark.parametrize(
    ("names", "where", "risk"),
    [
        ("s", "State(o, s)", False),  # State's key leaves one s for o
        ("s", "exists t. Twice(o, s, t)", True),
        ("s, t", "State(o, t) & Next(t, s)", False),  # and that of Next one s for t
        ("s, t", "Next(t, s)", True),
    ],
)
def test_a_key_that_a_key_keeps(names, where, risk):
    deployment = st.parse_deployment(f"""
    deployment copies
    sort order
    sort state = {{ new, paid }} rigid
    relation State(order key, state)
    relation Twice(order, state, state)
    relation Next(state key, state)
    relation Copy(order key, state)
    bound order 1
    init
      Next(new, paid)
      Next(paid, new)
    event place()
      guard ~State(_, _)
      effect
        fresh o: order
        insert State(o, new)
        insert Twice(o, new, new)
        insert Twice(o, paid, new)
    tool copy(o: order)
      guard State(o, _) & ~Copy(o, _)
      effect
        insert Copy(o, s) for {names} where {where}
    tool rest()
    spec s AG forall o. atmost 1 q. Copy(o, q)
    """)
    assert any(finding.kind == "key at risk" for finding in st.lint(deployment)) == risk
    for engine in ENGINES:
        result = st.verify(deployment, engine=engine)
        assert isinstance(result.broken, st.errors.KeyBroken) == risk
        assert result["s"].holds == (not risk)


@pytest.mark.parametrize(("bound", "found"), [("", True), ("bound order 1", False)])
def test_any_database_needs_room(bound, found):
    text = f"""
    deployment store
    sort order
    sort state = {{ new, paid }} rigid
    relation State(order, state)
    initially any State
    {bound}
    tool rest()
    spec s AG forall o. (State(o, new) -> EF State(o, new))
    """
    assert ("no room initially" in [f.kind for f in st.lint(st.parse_deployment(text))]) == found


@pytest.mark.parametrize("engine", ENGINES)
def test_what_only_strong_fairness_changes_could_act_again_and_again(engine):
    text = """
deployment d
relation Mail()
relation Night()
init Mail()
event dusk() guard ~Night() effect insert Night()
event dawn() guard Night() effect clear Night
tool fetch() guard Mail() & ~Night() effect clear Mail
tool wait() guard ~Night()
policy p
  call fetch()
  call wait()
spec fetched AF ~Mail()
"""
    result, _ = kinds(text, engine)
    [finding] = [f for f in result.findings if f.kind == "starvation"]
    assert "the agent could act again and again, and others act instead" in finding.text
    assert "`fair strong agent`" in finding.text


JOBS = """
deployment jobs
sort job
relation Open(job)
relation Spoiled(job)
bound job 1
event arrive()
  guard ~Open(_)
  effect
    fresh j: job
    insert Open(j)
tool submit(j: job)
  guard Open(j)
  {succeeds}
  {fails}
policy p
  call submit(j)
{more}
spec finished AG forall j. (Open(j) -> AF ~Open(j))
"""
SUCCEEDS = "effect delete Open(j)"


def jobs(more="", succeeds=SUCCEEDS, fails="effect"):
    return JOBS.format(more=more, succeeds=succeeds, fails=fails)


def test_an_alternative_that_inserts_what_is_there_can_be_written_without_it():
    result, _ = kinds(jobs("fair outcome submit", fails="effect\n    insert Open(j)"), "symbolic")
    [finding] = result.findings
    assert (finding.kind, finding.text.split(" changes ")[0]) == ("no change", "alternative 2 of submit")
    assert "write `effect` alone if it is to change nothing" in finding.remedy


@pytest.mark.parametrize("engine", ENGINES)
def test_a_call_that_fails_for_ever_is_no_fault_of_others(engine):
    result, _ = kinds(jobs(), engine)
    assert result["finished"].holds is False
    [finding] = [f for f in result.findings if f.kind == "starvation"]
    assert "others" not in str(finding)
    assert "submit is taken again and again, and a possible outcome of it never comes" in finding.text
    assert "it holds under `fair outcome submit`" in finding.text
    mended, found = kinds(jobs("fair outcome submit"), engine)
    assert "no change" not in found
    assert mended["finished"].holds is True
    assert {"starvation", "idle agent"}.isdisjoint(found)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_event_and_an_outcome_are_proposed_together(engine):
    result, _ = kinds(jobs("event phone()\nspec other AF exists j. Open(j)"), engine)
    [finding] = [f for f in result.findings if f.kind == "starvation" and f.spec == "finished"]
    assert "the agent could act at any time from some step on, and others act instead, or on which" in str(
        finding
    )
    assert "`fair agent` and `fair outcome submit`" in finding.text
    mended, _ = kinds(jobs("event phone()\nfair agent\nfair outcome submit"), engine)
    assert mended["finished"].holds is True


@pytest.mark.parametrize("engine", ENGINES)
def test_an_outcome_that_soon_is_possible_no_more_is_not_proposed(engine):
    spoiling = {"succeeds": "effect when ~Spoiled(j) delete Open(j)", "fails": "effect insert Spoiled(j)"}
    for more in ("", "fair outcome submit"):
        result, _ = kinds(jobs(more, **spoiling), engine)
        assert result["finished"].holds is False
        assert not [f for f in result.findings if "holds under" in f.text]


@pytest.mark.parametrize("engine", ENGINES)
def test_what_one_alternative_chooses_is_left_open_and_not_laid_on_others(engine):
    chosen = "effect choose k: way insert Tried(k) delete Open(j) where k = well"
    text = jobs(succeeds=chosen, fails="").replace(
        "sort job\n", "sort job\nsort way = { well, ill }\nrelation Tried(way)\n"
    )
    result, _ = kinds(text, engine)
    assert result["finished"].holds is False
    [finding] = [f for f in result.findings if f.kind == "starvation"]
    assert "others act instead" not in finding.text
    assert "does not help even if it acts again and again" in finding.text


@pytest.mark.parametrize("engine", ENGINES)
def test_lines_about_outcomes_do_not_let_an_agent_pass_that_could_wait(engine):
    waiting = jobs("fair outcome submit").replace(
        "policy p", "tool wait()\npolicy lazy\n  call wait()\npolicy p"
    )
    result, found = kinds(waiting, engine, "lazy")
    assert result["finished"].holds is False
    assert "idle agent" not in found
    ringing = "event ring() guard ~Rung() effect insert Rung() effect"
    text = jobs(f"relation Rung()\n{ringing}\nfair event ring\nfair outcome ring\nspec rung AF Rung()")
    result, found = kinds(text.replace("policy p", "tool wait()\npolicy p\n  call wait()"), engine)
    assert result["rung"].holds is True
    assert "idle agent" not in found
    assert "this rests on `fair event` and `fair outcome` lines alone" in " ".join(result["rung"].scope)


LEDGER = """
deployment ledger
sort order
sort state = { new, paid } rigid
relation Waiting(order)
relation State(order key, state)
bound order 1
event place()
  guard ~Waiting(_) & ~State(_, _)
  effect
    fresh o: order
    insert Waiting(o)
tool note(o: order)
  guard Waiting(o)
  effect
    delete Waiting(o)
    insert State(o, new)
tool pay(o: order)
  guard State(o, new)
  effect
    set State(o, paid)
tool rest()
spec s AG forall o. atmost 1 q. State(o, q)
"""


def risks(findings):
    return [finding for finding in findings if finding.kind == "key at risk"]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_key_that_the_run_verified_is_not_at_risk(engine):
    """By the text alone `note` may add a second state; that no noted order waits takes all states."""
    deployment = st.parse_deployment(LEDGER, "f")
    assert risks(st.lint(deployment))
    result = st.verify(deployment, engine=engine)
    assert result["s"].holds
    assert not risks(result.findings)
    kept = LEDGER.replace("    delete Waiting(o)\n", "")
    assert risks(st.verify(st.parse_deployment(kept, "f"), engine=engine).findings)


def test_a_key_is_at_risk_where_the_domain_is_too_small_to_verify_it():
    small = st.verify(st.parse_deployment(LEDGER, "f"), engine="explicit", domain={"order": 1}, force=True)
    assert small["s"].holds is None
    assert risks(small.findings)
