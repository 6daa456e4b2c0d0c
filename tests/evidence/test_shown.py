"""Evidence as text: every step and every claim of the tree is there, within the width, on terminals too."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from dataclasses import replace

import families
import pytest
from evidence_cases import NESTED, changes, nested, steps, told, verifications, with_evidence
from hypothesis import given, settings
from rich.cells import cell_len
from rich.console import Console

import stead_sym as st
from engine_pairs import examples
from stead_sym.cli.main import main
from stead_sym.evidence.data import evidence_data
from stead_sym.evidence.moves import Moves
from stead_sym.evidence.outline import outline
from stead_sym.evidence.reading import read_evidence
from stead_sym.evidence.recorded import recorded_wrappers
from stead_sym.evidence.tree import Parts, runs
from stead_sym.report.evidence import evidence_text, subject
from stead_sym.report.terminal import print_verification
from stead_sym.testing.byte_model import ByteModel


def text_of(result, name, width=100):
    return evidence_text(subject(result, name), result.moves, width)


def squeezed(text):
    return re.sub(r"\s", "", text)


def assert_all_is_said(result, name, width):
    evidence = result[name].evidence
    text = text_of(result, name, width)
    assert max(map(cell_len, text.splitlines())) <= width
    said = squeezed(text)
    assert all(squeezed(claim) in said for claim in told(evidence))
    assert said.count("aclaimaboutallruns") == len(evidence.unshown)
    wide = [line.split() for line in text_of(result, name, 300).splitlines()]
    for state, step in steps(evidence):
        assert any(contains(words, str(step.call).split()) for words in wide)
        for sign, facts in zip("+-", changes(state, step), strict=True):
            assert all(any(contains(words, [sign, *str(fact).split()]) for words in wide) for fact in facts)
    assert sum("repeat" in line for line in text.splitlines() if line.startswith("loop")) == sum(
        run.loop is not None for _, run in runs(evidence)
    )


def contains(words, part):
    return any(words[k : k + len(part)] == part for k in range(len(words)))


@settings(max_examples=examples(40))
@given(verifications())
def test_all_of_the_tree_is_said(result):
    for name in with_evidence(result):
        for width in (60, 100):
            assert_all_is_said(result, name, width)


@pytest.mark.parametrize("agent", ["any", "slow"])
def test_so_it_is_for_nested_operators_under_fairness(agent):
    result = nested(agent)
    for name in with_evidence(result):
        assert_all_is_said(result, name, 80)


@settings(max_examples=examples(40))
@given(verifications())
def test_the_numbered_runs_are_the_runs_of_the_tree(result):
    """Each step of a run of the tree is one step of a numbered run; run 1 begins as the trace does; each run
    begins in a state of another, and each claim that is said is about the state at which it is said."""
    for name in with_evidence(result):
        assert_numbered(result[name].evidence)


FIRST = """
deployment first
relation N()
tool on()
  effect insert N()
tool rest()
spec left A[AX ~N() U AF N()]
spec right A[N() U AF N()]
"""


def test_so_it_is_where_runs_begin_in_several_ways():
    """Run 1 is that of the last claim about the end of a run, not of the first, and a run that only shows
    fairness has a loop of its own."""
    first = st.verify(st.parse_deployment(FIRST), findings=False)
    bank = st.verify(st.load("bank"), "any", findings=False)
    for result in (first, bank, nested(), nested("slow")):
        for name in with_evidence(result):
            assert_numbered(result[name].evidence)
    [_, fair] = outline(bank["eventually_paid"].evidence).runs
    assert fair.is_only_fair
    assert fair.loop
    trace = first["left"].trace
    assert [step.call.tool for step in trace.steps] == ["on"]
    assert len(outline(first["left"].evidence).runs) == 2


def assert_numbered(evidence):
    shown = outline(evidence)
    legs = Counter((id(leg.node), leg.index) for run in shown.runs for leg in run.legs)
    assert legs == Counter((id(node), k) for node, run in runs(evidence) for k in range(len(run.steps)))
    trace = evidence.trace
    first = shown.runs[0]
    assert tuple(leg.step for leg in first.legs)[: len(trace.steps)] == trace.steps
    assert trace.loop is None or first.loop == trace.loop
    for run in shown.runs:
        if run.begins is not None:
            assert shown.runs[run.begins.run - 1].trace.states[run.begins.steps] == run.start
            assert run.begins.run < run.number
        for before, leg in zip(run.trace.states, run.legs, strict=False):
            assert before == (leg.node.state, *(s.state for s in leg.node.reason.steps))[leg.index]
            assert leg.fairly == (leg.node.reason.ends is not None and leg.index >= leg.node.reason.ends)
        assert run.loop is None or run.trace.states[run.loop] == run.trace.states[-1]
        for state, remarks in zip(run.trace.states, run.remarks, strict=True):
            assert all(remark.node.state == state for remark in remarks)


def test_what_a_claim_rests_on_stands_below_it_and_further_in():
    result = nested()
    shown = outline(result["two"].evidence)
    for run in shown.runs:
        for remarks in run.remarks:
            for k, remark in enumerate(remarks):
                if isinstance(remark.node.reason, Parts) and "as above" not in remark.text:
                    below = [r.node for r in remarks[k + 1 :] if r.depth == remark.depth + 1]
                    assert all(part in below for part in remark.node.children)


def test_what_holds_all_along_a_run_is_said_once_and_what_its_end_shows_there():
    text = text_of(nested(), "weak")
    assert len(re.findall(r"until then: ~Alert\(\) is true$", text, re.M)) == 1
    assert text.count(" ~Alert() is true\n") == 1
    until = text_of(nested(), "until")
    assert re.search(r"^ +until then: exists t: ticket\. Open\(t\) is false$", until, re.M)
    assert re.search(
        r"^after step 1 +exists t: ticket\. Open\(t\) is false\n +~Alert\(\) is false$", until, re.M
    )


def test_the_tail_that_is_only_fair_and_what_it_meets_are_said():
    text = text_of(nested(), "until")
    assert re.search(r"^fair +steps? 2-\d: there only to show that the run goes on fairly$", text, re.M)
    assert re.search(r"^fair +~Alert\(\) is met after step \d, again and again$", text, re.M)
    assert re.search(r"^fair +~exists t: ticket\. Open\(t\) is met after step \d", text, re.M)


def test_evidence_from_a_file_reads_the_same():
    result = nested("slow")
    for name in with_evidence(result):
        verdict = result[name]
        data = evidence_data(name, str(verdict.formula), verdict.evidence, result.moves)
        written = read_evidence(result.deployment, json.loads(json.dumps(data)), "the evidence")
        wrappers = recorded_wrappers(result.deployment, written.agents)
        moves = Moves(result.deployment, wrappers, result.restriction)
        again = replace(subject(result, name), evidence=written.evidence)
        assert evidence_text(again, moves) == text_of(result, name)


def test_decisions_are_there_with_what_the_agent_saw():
    result = st.verify(st.load("refund"), "baseline", ["auth"], findings=False)
    text = text_of(result, "auth")
    assert re.search(r"^decision 1 of the agent\nshown +Approver\(SERVICE_\d, SERVICE_\d\)$", text, re.M)
    last = text.split("decision 2 of the agent\n")[1]
    move = result.moves(*steps(result["auth"].evidence)[1])
    for fact in move.decision.canonical.view:
        assert str(fact) in last
    for call in move.decision.canonical.calls:
        assert last.count(str(call)) == 1 + (call in move.decision.selected)
    assert re.search(r"taken +at step 2: CASE_1 = case1, .*TASK_1 = task1$", last, re.M | re.S)
    assert "decision 3" not in text


def test_one_decision_at_several_steps_is_one():
    """What the agent is not shown may differ."""
    result = st.verify(families.desks(3), "baseline", ["prog"], findings=False)
    text = text_of(result, "prog")
    wanted = steps(result["prog"].evidence)
    decisions = [result.moves(state, step).decision for state, step in wanted]
    contexts = {(decision.canonical.view, decision.canonical.calls) for decision in decisions}
    assert len(re.findall(r"^decision \d+ of the agent$", text, re.M)) == len(contexts)
    assert len(contexts) < len({state for state, _ in wanted})
    assert len(re.findall(r"\bstep \d", text.split("decision 1")[1])) == len(wanted)


def test_the_margin_and_the_prompt_of_a_model():
    desk = st.load("refund")
    result = st.verify(desk, st.ModelAgent(ByteModel(3), st.Prompt.of(desk)), findings=False)
    seen = 0
    for name in with_evidence(result):
        text = text_of(result, name)
        for state, step in steps(result[name].evidence):
            answer = result.moves(state, step).answer
            seen += 1
            assert answer.key in text
            for message in answer.prompt:
                assert squeezed(message.content) in squeezed(text)
            if answer.margin is not None:
                assert f"weight    margin {answer.margin:.4g}" in text
                assert f"margin {answer.margin:.4g}" in text.split("decision 1")[0]
    assert seen


# the terminal


def printed(result, width):
    stream = io.StringIO()
    print_verification(result, Console(file=stream, width=width, highlight=False, markup=False))
    return stream.getvalue()


def test_who_branched_stands_in_a_column_only_where_someone_did():
    result = st.verify(st.load("refund"), "baseline", ["auth"], findings=False)
    assert [result.moves(*pair).branching for pair in steps(result["auth"].evidence)] == [
        "environment 1 of 2",
        "agent 1 of 3",
    ]
    text = printed(result, 80)
    assert re.search(r"step +call +branched +facts", text)
    assert re.search(r"1 +ingest_case\(\) +environment 1 of 2 +\+ CaseStatus", text)
    assert re.search(r"2 +issue_refund\(task1\) +agent 1 of 3 +\+ RefundIssued", text)
    alone = "deployment d\nrelation N()\ntool on()\neffect insert N()\nspec s AG ~N()"
    plain = printed(st.verify(st.parse_deployment(alone), findings=False), 80)
    assert re.search(r"step +call +facts", plain)
    assert "branched" not in plain


def test_where_agents_are_named_who_branched_stands_below_them():
    text = printed(st.verify(st.load("ward"), findings=False), 80)
    assert re.search(r"step +by +call +facts", text)
    assert re.search(r"event +arrive\(\) .*\n +environment 1 of \d+ ", text)


def test_runs_that_are_not_shown_are_counted():
    result = nested()
    counted = {}
    for name in with_evidence(result):
        alone = replace(result, verdicts={name: result[name]})
        others = outline(result[name].evidence).runs[1:]
        more = sum(not all(leg.fairly for leg in run.legs) for run in others)
        counted[name] = len(others), more
        said = re.findall(r"(\d+) more runs?: --evidence DIR has all", printed(alone, 80))
        assert said == ([str(more)] if more else [])
    assert any(more > 0 for _, more in counted.values())
    assert any(more < every for every, more in counted.values())


# replay


@pytest.fixture
def nested_file(tmp_path):
    path = tmp_path / "nested.stead"
    path.write_text(NESTED, encoding="utf-8")
    assert main(["verify", str(path), "--agent", "any", "--evidence", str(tmp_path / "out")]) == 1
    return path, tmp_path / "out"


def test_a_replay_ticks_every_step(nested_file, capsys):
    path, out = nested_file
    for name in ("two", "alerts", "until"):
        capsys.readouterr()
        assert main(["replay", str(path), str(out / f"{name}.json")]) == 0
        lines = capsys.readouterr().out.splitlines()
        ticks = [line for line in lines if re.match(r"  ?[ ↺] *✔ +\d+ ", line)]
        data = json.loads((out / f"{name}.json").read_text(encoding="utf-8"))
        number = sum(len(node["run"]["steps"]) for node in data["nodes"] if "run" in node)
        assert len(ticks) == number > 0
        assert not any("✘" in line for line in lines)


def test_a_replay_marks_the_step_at_which_it_fails(nested_file, capsys):
    path, out = nested_file
    data = json.loads((out / "two.json").read_text(encoding="utf-8"))
    first = next(node["run"] for node in data["nodes"] if "run" in node)
    first["steps"][1]["call"] = ["calm", []]
    first["steps"][1]["agent"] = ""
    (out / "two.json").write_text(json.dumps(data), encoding="utf-8")
    capsys.readouterr()
    assert main(["replay", str(path), str(out / "two.json")]) == 1
    text = capsys.readouterr().out
    assert "NOT confirmed" in text
    assert "fails at step 2 of run 1, calm()" in text
    assert re.search(r"✔ +1 ", text)
    assert re.search(r"✘ +2 .*calm\(\)", text)
    assert text.count("✘") == 1
    assert re.search(r"^ +3 +", text, re.M)  # what the replay did not come to has no mark


def test_a_replay_marks_the_claim_that_does_not_follow(nested_file, capsys):
    path, out = nested_file
    data = json.loads((out / "two.json").read_text(encoding="utf-8"))
    claim = next(node for node in data["nodes"] if node["formula"] == "Open(t)")
    claim["holds"] = False
    (out / "two.json").write_text(json.dumps(data), encoding="utf-8")
    capsys.readouterr()
    assert main(["replay", str(path), str(out / "two.json"), "--verbose"]) == 1
    text = capsys.readouterr().out
    assert re.search(r"✘ .*Open\(ticket\d\) is false", text)
    assert text.count("✘") == 1
    assert "✔" in text


def test_a_quiet_replay_is_a_line_and_a_verbose_one_has_decisions(tmp_path, capsys):
    assert main(["verify", "refund", "--policy", "baseline", "--evidence", str(tmp_path)]) == 1
    outs = {}
    for option in ("--quiet", "--verbose", ""):
        capsys.readouterr()
        assert main(["replay", "refund", str(tmp_path / "auth.json"), *filter(None, [option])]) == 0
        outs[option] = capsys.readouterr().out
    assert outs["--quiet"] == "auth fails under baseline: confirmed, 2 steps, 6 claims\n"
    assert "decision 2 of the agent" in outs["--verbose"]
    assert "decision" not in outs[""]
    assert outs["--verbose"].startswith(outs[""].rstrip())
