"""Blame: the changes that are found mend, by the explicit engine; no smaller ones do, by trying them all."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import chain, combinations

import pytest
from hypothesis import event, given, reject, settings
from hypothesis import strategies as st

import stead_sym as stead
from engine_pairs import MAX_STATES, by_name, examples, some_by_name
from generated.deployments import deployments
from generated.formulas import Signature, formulas
from stead_sym.agents.revised import revised
from stead_sym.agents.roles import wrap
from stead_sym.analyses.blame import blame
from stead_sym.cli.main import main
from stead_sym.deployment.language import parse_deployment
from stead_sym.engines.symbolic import engine
from stead_sym.errors import DefinitionError, InputError, Undecided
from stead_sym.logic.evaluate import holds
from stead_sym.logic.syntax import Future, Globally, Not
from whole import verify


def subsets(calls):
    """All nonempty sets of calls."""
    calls = sorted(calls)
    return map(frozenset, chain.from_iterable(combinations(calls, n) for n in range(1, len(calls) + 1)))


def holds_with(deployment, agent, changes, spec):
    """Whether the specification holds by the explicit engine, with other answers to some contexts."""
    wrapper = revised(wrap(deployment, agent), changes)
    try:
        result = verify(deployment, wrapper, [spec], engine="explicit", max_states=MAX_STATES, findings=False)
    except DefinitionError:
        return False
    return result[spec].holds


@st.composite
def invariants(draw):
    """A deployment with specifications AG f, AF f and EF f, where f holds in D0 and ¬f may come."""
    deployment = draw(deployments(specs=1, max_tools=2, max_bound=1))
    relations = {relation.name: relation.sorts for relation in deployment.schema.relations}
    f = draw(formulas(Signature(relations, deployment.constants), {}, depth=1))
    f = f if holds(f, deployment.init) else Not(f)
    wanted = {"ag": Globally("A", f), "af": Future("A", Not(f)), "ef": Future("E", Not(f))}
    specs = tuple(
        replace(deployment.specs[0], name=name, formula=formula) for name, formula in wanted.items()
    )
    return replace(deployment, written=replace(deployment.written, specs=specs))


@pytest.mark.gate
@settings(max_examples=examples(20))
@given(invariants(), st.integers(0, 9), st.sampled_from([by_name, some_by_name]))
def test_what_is_found_mends_and_nothing_smaller_does(deployment, seed, kind):
    agent = kind(seed)
    try:
        explicit = verify(deployment, agent, engine="explicit", max_states=60, findings=False)
    except Undecided:
        reject()
    failing = [verdict for verdict in explicit.verdicts.values() if verdict.holds is False]
    if not failing:
        reject()
    result = verify(deployment, agent, findings=False)
    for verdict in failing:
        found = blame(result, verdict.spec, most_solved=12)
        sizes = {len(mend.changes) for mend in found.mends}
        event(f"changes: {sizes or 'none'}, complete: {found.complete}")
        assert len(sizes) <= 1
        for mend in found.mends:
            changes = {change.decision.context: change.instead for change in mend.changes}
            assert len(changes) == len(mend.changes)
            assert holds_with(deployment, agent, changes, verdict.spec)
            for other in deployment.specs:
                if result[other.name].holds:
                    assert (other.name in mend.broken) != holds_with(deployment, agent, changes, other.name)
        if found.complete and sizes != {1}:
            for context, selected in result.decisions:
                for instead in subsets(context.calls):
                    if instead != selected:
                        assert not holds_with(deployment, agent, {context: instead}, verdict.spec)


TWO = """
deployment two
sort k = { left, right } rigid
relation Asked(k)
relation Paid(k)
view Asked(x)
tool ask(x: k)
  guard (~exists y. Asked(y))
  effect
    insert Asked(x)
tool pay(x: k)
  guard Asked(x)
  effect
    insert Paid(x)
    clear Asked
tool refuse(x: k)
  guard Asked(x)
  effect
    clear Asked
event ring(x: k)
  guard ~exists y. Asked(y)
  effect
    insert Asked(x)
policy generous
  call pay(x)
  call ask(x) when x = left
spec never AG ~exists x. Paid(x)
spec not_left AG ~Paid(left)
spec can EF ~exists x. Paid(x) & EG Asked(left)
spec rings AG ~Asked(right)
"""


def test_two_decisions_are_needed_where_two_runs_show_it():
    result = verify(parse_deployment(TWO), "generous")
    both = blame(result, "never")
    assert both.complete
    assert [len(mend.changes) for mend in both.mends] == [2]
    assert {str(call) for change in both.mends[0].changes for call in change.decision.selected} == {
        "pay(left)",
        "pay(right)",
    }
    one = blame(result, "not_left")
    assert [[change.words for change in mend.changes] for mend in one.mends] == [["refuse(left)"]]


def test_what_events_do_is_on_nobody():
    found = blame(verify(parse_deployment(TWO), "generous"), "rings")
    assert found.complete
    assert not found.mends
    assert not found.shown


def test_a_decision_can_be_too_narrow():
    text = TWO.replace(
        "spec rings", "spec refuses EF (Asked(left) & EX (~exists x. Asked(x) | Paid(x)))\nspec rings"
    )
    found = blame(verify(parse_deployment(text), "generous"), "refuses")
    assert {change.words for mend in found.mends for change in mend.changes} == {"anything offered"}


@pytest.mark.parametrize(
    ("agent", "spec", "message"),
    [
        ("generous", "nobody", "was not verified; there are never"),
        ("any", "never", "decides nothing; name a policy"),
        ("generous", "rings_not", "was not verified"),
    ],
)
def test_what_cannot_be_blamed_is_said(agent, spec, message):
    with pytest.raises(InputError, match=message):
        blame(verify(parse_deployment(TWO), agent), spec)


def test_what_holds_is_not_blamed():
    with pytest.raises(InputError, match="auth holds"):
        blame(stead.verify(stead.load("refund"), "approving"), "auth")


def test_a_limit_is_no_answer(tmp_path, capsys):
    found = blame(verify(parse_deployment(TWO), "generous"), "never", most_solved=1)
    assert not found.mends
    assert not found.complete
    file = tmp_path / "two.stead"
    file.write_text(TWO, encoding="utf-8")
    assert main(["blame", str(file), "--policy", "generous", "--spec", "never", "--limit", "1"]) == 0
    assert "(1 variant solved, and not all there are); raise --limit" in " ".join(
        capsys.readouterr().out.split()
    )


def test_an_agent_that_may_do_several_things_can_do_fewer():
    everything = stead.agents.FunctionAgent(lambda context: context.calls)
    found = blame(verify(parse_deployment(TWO), everything), "not_left")
    assert [[change.words for change in mend.changes] for mend in found.mends] == [["refuse(left)"]]


SHARED = """
deployment shared
relation Read()
relation Seen()
tool read()
  effect
    insert Read()
tool look()
  effect
    insert Seen()
agent first
  tools read, look
agent last
  tools read, look
spec unread AG ~Read()
"""


@pytest.mark.parametrize("engine", ["symbolic", "explicit"])
@pytest.mark.parametrize(
    ("readers", "blamed"), [(["first"], "first"), (["last"], "last"), (["first", "last"], "first")]
)
def test_who_makes_a_call_that_several_agents_have(engine, readers, blamed):
    """The one that selects it, the first of them if both do."""
    shared = parse_deployment(SHARED)

    def selects(tool):
        return stead.agents.FunctionAgent(
            lambda context: [call for call in context.calls if call.tool == tool]
        )

    agents = {role.name: selects("read" if role.name in readers else "look") for role in shared.agents}
    result = verify(shared, agents, engine=engine)
    [step] = result["unread"].trace.steps
    assert step.actor == blamed
    found = blame(result, "unread")
    assert [decision.agent for decision in found.shown] == [blamed]
    assert {change.decision.agent for mend in found.mends for change in mend.changes} == set(readers)


FOUR = (
    "deployment four\nrelation Start()\ninit Start()\nevent rest()\n  guard ~Start()\npolicy c\n  call c()\n"
    + "".join(
        f"relation {name}()\ntool {name.lower()}()\n  guard Start()\n"
        f"  effect\n    delete Start()\n    insert {name}()\n"
        for name in "ABCD"
    )
)


def test_sets_that_were_not_tried_are_no_answer(tmp_path, capsys):
    """Only {a, b} mends, which is neither one call nor all others, nor all."""
    file = tmp_path / "four.stead"
    file.write_text(f"{FOUR}spec s (EF A()) & (EF B()) & (AG ~C()) & (AG ~D())\n", encoding="utf-8")
    found = blame(verify(stead.load(str(file)), "c"), "s")
    assert (found.mends, found.complete, found.limited) == ((), False, False)
    assert main(["blame", str(file), "--policy", "c"]) == 0
    assert capsys.readouterr().out.endswith("variants solved, and not\n  all there are)\n\n")


def test_single_calls_are_enough_for_all_runs():
    text = f"{FOUR}spec s (AG ~C()) & (AF (C() | D() & E()))\nrelation E()\n"
    found = blame(verify(parse_deployment(text), "c"), "s")
    assert (found.mends, found.complete) == ((), True)


def test_the_command(capsys):
    assert main(["blame", "refund", "--policy", "baseline"]) == 0
    printed = capsys.readouterr().out
    assert "It would hold with one decision taken otherwise" in printed
    assert "instead  obtain_approval(TASK_1, SERVICE_2)" in printed
    assert main(["blame", "refund", "--policy", "approving"]) == 0
    assert capsys.readouterr().out == "no specification fails under approving\n"
    assert main(["blame", "refund", "--policy", "baseline", "--json"]) == 0
    [auth] = json.loads(capsys.readouterr().out)
    assert [change["selected"] for change in auth["mends"][0]["changes"]] == [["issue_refund(TASK_1)"]]
    assert main(["blame", "refund", "--agent", "any"]) == 2


@pytest.mark.parametrize(
    ("wait", "idle"), [("tool wait()", True), ("tool wait()\n effect\n  insert Asked()", False)]
)
def test_a_change_after_which_nothing_is_ever_done_is_said_to_be_that(tmp_path, capsys, wait, idle):
    file = tmp_path / "office.stead"
    file.write_text(
        f"""
deployment office
relation Done()
relation Asked()
tool work()
  guard ~Done()
  effect
    insert Done()
{wait}
policy busy
  call work()
  call wait()
spec never AG ~Done()
"""
    )
    result = verify(stead.load(str(file)), "busy")
    assert [mend.idle for mend in blame(result, "never").mends] == [idle]
    assert main(["blame", str(file), "--policy", "busy"]) == 0
    assert ("never does anything" in capsys.readouterr().out) == idle


def test_variants_use_the_plan_of_the_verification(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is planned does not depend on the agent, and takes more than half of the time of a variant."""
    result = stead.verify(stead.load("refund"), "baseline")
    planned: list[object] = []
    monkeypatch.setattr(engine, "plan", lambda *given: planned.append(given))
    assert blame(result, "auth").solved > 0
    assert planned == []
