"""Blame: the changes that are found mend, by the explicit engine; no smaller ones do, by trying them all."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import chain, combinations
from pathlib import Path

import pytest
from hypothesis import event, given, reject, settings
from hypothesis import strategies as st

import stead_sym as stead
import stead_sym.logic.syntax as fo
from engine_pairs import MAX_STATES, by_name, examples, some_by_name
from generated.deployments import deployments
from generated.formulas import Signature, formulas
from stead_sym.agents.revised import revised
from stead_sym.agents.roles import wrap
from stead_sym.analyses.blame import blame
from stead_sym.cli.child import Stopped
from stead_sym.cli.main import main
from stead_sym.cli.parser import parser_of
from stead_sym.deployment.language import parse_deployment
from stead_sym.engines.symbolic import engine
from stead_sym.engines.symbolic.explore import contexts
from stead_sym.engines.symbolic.explore.contexts import ContextFinder
from stead_sym.errors import AgentError, DefinitionError, InputError, Undecided
from stead_sym.logic.evaluate import holds
from whole import verify


def subsets(calls):
    """All nonempty sets of calls."""
    calls = sorted(calls)
    return map(frozenset, chain.from_iterable(combinations(calls, n) for n in range(1, len(calls) + 1)))


def holds_with(deployment, agent, changes, spec):
    """Return if the specification holds by the explicit engine, with other answers to some contexts."""
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
    f = f if holds(f, deployment.init) else fo.Not(f)
    wanted = {"ag": fo.Globally("A", f), "af": fo.Future("A", fo.Not(f)), "ef": fo.Future("E", fo.Not(f))}
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


@settings(max_examples=examples(40, slow=400))
@given(deployments(specs=2, max_tools=3, max_bound=2), st.data())
def test_other_answers_of_a_policy_are_compiled_into_it(deployment, data):
    """A policy with other answers in some contexts, by its formulas and by the explicit engine."""
    [role] = deployment.agents
    policy = data.draw(st.sampled_from([policy.name for policy in role.policies] or reject()))
    try:
        explicit = verify(deployment, policy, engine="explicit", max_states=60, findings=False)
        if not (contexts := [(one, calls) for one, calls in explicit.decisions if len(one.calls) > 1]):
            reject()
        some = data.draw(st.lists(st.sampled_from(contexts), min_size=1, max_size=3, unique=True))
        changes = {context: data.draw(st.sampled_from([*subsets(context.calls)])) for context, _ in some}
        wrapper = revised(explicit.moves.wrappers[role.name], changes)
        expected = verify(deployment, wrapper, engine="explicit", max_states=200, findings=False)
    except (AgentError, DefinitionError, Undecided):
        reject()
    event(f"another verdict: {verdicts(expected) != verdicts(explicit)}")
    for domain in ("theorem", "normal"):
        found = verify(deployment, wrapper, domain=domain, findings=False)
        assert verdicts(found) == verdicts(expected)
        if domain == "theorem" and found.broken is None:
            assert (found.states, found.transitions) == (expected.states, expected.transitions)


def verdicts(result):
    return {name: verdict.holds for name, verdict in result.verdicts.items()}


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


def test_no_context_is_enumerated_for_a_variant_of_a_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are as many as the reachable states show, of which most have nothing to do with the failure."""
    result = stead.verify(stead.load("refund"), "baseline")
    picked: list[object] = []
    monkeypatch.setattr(ContextFinder, "picked", lambda *given: picked.append(given))
    [mend] = blame(result, "auth").mends
    assert picked == []
    assert len(mend.changes) == 1


def test_a_relation_too_large_for_all_states_is_left_to_the_enumeration(monkeypatch):
    result = stead.verify(stead.load("refund"), "baseline")
    expected = blame(result, "auth")
    monkeypatch.setattr(contexts, "_LIMIT", 0)
    assert blame(result, "auth") == expected


FORK = """
deployment fork
relation A()
relation B()
tool a()
  guard ~A() & ~B()
  effect
    insert A()
tool b()
  guard ~A() & ~B()
  effect
    insert B()
tool after()
  guard A() | B()
policy left
  call a()
  call after() when A()
spec never AG ~A()
"""


def test_a_variant_that_leads_to_where_the_policy_has_no_rule_is_left_out():
    found = blame(verify(parse_deployment(FORK), "left"), "never")
    assert (found.mends, found.solved, found.complete) == ((), 1, False)


def test_what_is_known_is_told_after_each_variant():
    result = verify(parse_deployment(TWO), "generous")
    told = []
    found = blame(result, "never", so_far=told.append)
    assert [one.solved for one in told] == [*range(1, found.solved + 1)]
    assert not any(one.complete for one in told)
    assert told[-1].mends == found.mends
    assert found.complete


OFFICE = """
deployment office
relation Done()
relation Approved()
relation Asked()
{view}
tool ask()
  guard {ask}
  effect
    insert Asked()
tool work()
  guard ~Done()
  effect
    insert Done()
tool wait()
event approve()
  guard ~Approved()
  effect
    insert Approved()
policy busy
  call work()
  call wait()
spec approved AG (Done() -> Approved())
"""


def test_the_search_goes_on_past_changes_that_leave_nothing_to_do(tmp_path, capsys):
    file = tmp_path / "office.stead"
    file.write_text(OFFICE.format(view="view Done()", ask="~Asked() & ~Done()"), encoding="utf-8")
    found = blame(verify(stead.load(str(file)), "busy"), "approved")
    assert [(len(mend.changes), mend.idle) for mend in found.mends] == [(1, True), (2, False)]
    assert main(["blame", str(file), "--policy", "busy"]) == 0
    assert "stead-sym shield" not in capsys.readouterr().out


def test_a_gate_is_offered_where_only_idleness_mends(tmp_path, capsys, monkeypatch):
    """The agent does not see the approval, and a gate does."""
    monkeypatch.chdir(tmp_path)  # a long path would be broken into lines
    file = Path("office.stead")
    text = OFFICE.format(view="view Done()", ask="false")
    file.write_text(text, encoding="utf-8")
    found = blame(verify(stead.load(str(file)), "busy"), "approved")
    assert found.is_idle
    assert main(["blame", str(file), "--policy", "busy"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert f"Behind the gate of `stead-sym shield {file} --spec approved` it holds of every agent" in printed
    assert main(["blame", str(file), "--policy", "busy", "--json"]) == 0
    [answer] = json.loads(capsys.readouterr().out)
    assert answer["gate"] == "gate shield default allow\n  forbid work() when ~Approved()"


class _Kept:
    """The connection to a parent, which keeps what it is sent and sees no end."""

    def __init__(self):
        self.kept = []

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def __call__(self, phase, /, **counts):
        pass

    def keep(self, name, found):
        self.kept.append({"name": name, **found})


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_run_that_is_stopped_prints_what_it_had_found(tmp_path, capsys, form):
    """After any variant: the specifications before are answered, and the last as far as it was."""
    file = tmp_path / "two.stead"
    file.write_text(TWO, encoding="utf-8")
    words = ["blame", str(file), "--policy", "generous", "--spec", "not_left", "never", *form]
    options = parser_of(words[:1]).parse_args(words)
    options.watcher = _Kept()
    assert options.run(options) == 0
    whole = capsys.readouterr().out
    for known in options.watcher.kept:
        again = parser_of(words[:1]).parse_args(words)
        ended = Stopped("stopped at the limit of 3 s (--timeout)", "blame", {"variants": 2}, 3.0, [known])
        assert again.stopped(again, ended) == 3
        printed = capsys.readouterr()
        assert "stopped at the limit of 3 s" in printed.err
        if form:
            answers = json.loads(printed.out)
            assert [one["spec"] for one in answers] == ["not_left", "never"][: len(answers)]
            assert json.loads(whole)[: len(answers) - 1] == answers[:-1]
        else:
            assert printed.out.startswith("not_left fails under generous")
    assert printed.out == whole
    incomplete = [
        k for k in options.watcher.kept if "not all" in k["text"] or '"complete": false' in k["text"]
    ]
    assert 0 < len(incomplete) < len(options.watcher.kept)
