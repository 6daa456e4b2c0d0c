"""Gates and calls on every command: taken by what verifies, recorded where it writes, applied when read."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

import stead_sym as st
from pytest_stead.lines import parse
from stead_sym.analyses.sweeps.plan import read_plan
from stead_sym.analyses.sweeps.run import Run
from stead_sym.cli.child import EXPLORING
from stead_sym.cli.main import main
from stead_sym.cli.parser import subcommands, whole_parser
from stead_sym.cli.request import add_request, request_of
from stead_sym.cli.simulate import stepper_of
from stead_sym.deployment.gates import under_gates
from stead_sym.deployment.harness import with_calls
from stead_sym.deployment.parts import Harness
from stead_sym.deployment.semantics import enabled, offer, outcomes
from stead_sym.deployment.tool import Call
from stead_sym.export.model import exported
from stead_sym.export.storm import to_storm
from stead_sym.relational.instance import Fact, Instance
from stead_sym.report.recorded import read_report
from stead_sym.verification.request import Request

DESK = """deployment desk
sort order
sort s = { paid, refunded } rigid
relation St(order key, s)
relation Ok(order)
bound order 1
event arrive() guard ~St(_, _)
  effect fresh o: order insert St(o, paid)
event ship(o: order) guard St(o, refunded)
  effect delete St(o, _) delete Ok(o)
tool approve(o: order) guard St(o, paid) & ~Ok(o) effect insert Ok(o)
tool refund(o: order) guard St(o, paid) effect set St(o, refunded)
tool wait()
gate rules
  permit approve(_)
  permit refund(o) when Ok(o)
  permit wait()
gate idle
  forbid wait() when St(_, refunded)
policy hasty call refund(o) call approve(o) call wait()
spec reviewed AG forall o. (St(o, refunded) -> Ok(o))
spec never AG ~Ok(_)
"""
GATES = ["--gate", "rules", "--gate", "idle"]
BOTH = ("rules", "idle")


@pytest.fixture
def desk(tmp_path: Path) -> str:
    path = tmp_path / "desk.stead"
    path.write_text(DESK)
    return str(path)


def verified(desk: str, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    main(["verify", desk, "--policy", "hasty", "--quiet", "--json", *words])
    return json.loads(capsys.readouterr().out)


# which options there are

AGENTS = {"--policy", "--agent"}
MODELS = {
    "--replay", "--prompts", "--store", "--samples", "--concurrency", "--tries", "--deadline", "--tolerance",
    "--min-probability", "--temperature", "--engine-option", "--canonical-timeout",
}  # fmt: skip
QUESTIONS = {"--spec", "--formula"}
HERE = {"--domain"}
OF_VERIFY_ALONE = {
    "--force", "--unwrapped", "--min-mass", "--deepen", "--max-bound",  # what verdicts are unknown for
    "--engine", "--method", "--backend", "--max-states", "--timeout", "--memory",  # how it is solved
    "--findings", "--strict", "--quiet", "--json", "--hypotheses", "--contexts", "--report", "--evidence",
    "--annotate", "--sarif", "--certify", "--conformed", "-h", "--help",  # what is told
}  # fmt: skip
WHAT_IS_VERIFIED = {"--gate", "--calls"} | AGENTS | MODELS | QUESTIONS | HERE
LACKS = {
    "verify": set(),
    "blame": set(),
    "export": set(),
    "symmetry": HERE,  # on the literal domain
    "bounds": HERE | QUESTIONS,  # asks how many records there are
    "graph": QUESTIONS,  # draws states
    "simulate": QUESTIONS | HERE,
    "replay": HERE | {"--formula"},  # evidence has its question and its domain
    "explain": MODELS,  # a model changes nothing in the plan
    "check": AGENTS | MODELS | QUESTIONS | HERE,  # explores nothing
    "show": AGENTS | MODELS | QUESTIONS | HERE,
    "sweep": (AGENTS | MODELS | QUESTIONS | HERE) - {"--tries"},  # the file has them; --tries is of runs
}


def options_of(parser: argparse.ArgumentParser) -> set[str]:
    return set(parser._option_string_actions)


@pytest.mark.parametrize("command", LACKS)
def test_what_changes_what_is_verified_is_an_option_of_every_command(command: str) -> None:
    commands = subcommands(whole_parser())
    own = options_of(commands["verify"])
    assert own == WHAT_IS_VERIFIED | OF_VERIFY_ALONE  # a new option of `verify` has to be put somewhere
    assert WHAT_IS_VERIFIED - options_of(commands[command]) == LACKS[command]


def test_every_command_with_limits_can_be_stopped() -> None:
    limited = {name for name, one in subcommands(whole_parser()).items() if "--timeout" in options_of(one)}
    assert limited == EXPLORING


def test_a_request_is_read_back_from_its_words() -> None:
    for given in (
        Request.of("hasty", ["reviewed", "EF Ok(_)"], BOTH),
        Request.of({"": "hasty"}, None, "rules"),
        Request.of({"a": "any", "b": "hf:some/model"}, (), ()),
        Run("desk", {"a": "careful", "b": "any"}, gates="rules idle")._request,
        Request.of("hasty", None, (), calls="batch 2 on refusal stop"),
        Run("desk", "hasty", gates="rules", calls="batch 2")._request,
    ):
        parser = argparse.ArgumentParser()
        add_request(parser, questions=True, domain_help="")
        read = request_of(parser.parse_args([given.file, *given.words]))
        assert read.words == given.words
        assert read.harness == given.harness
        line = parse(given.words, Path())
        assert request_of(argparse.Namespace(**{**vars(line), "file": "-"})).words == read.words


def test_an_agent_without_a_name_is_given_by_name_too(desk: str) -> None:
    assert Request.of({"": "hasty"}, None, ()).words == ("--policy", "hasty")
    assert Run(desk, {"": "hasty"}).words == Run(desk, "hasty").words


# what each of them does with gates


@pytest.mark.parametrize(
    ("words", "with_gates", "without"),
    [
        (["check"], "offers 1 call, 1 event", "offers 1 call, 1 event"),
        (["show"], "guard St(o, paid) & Ok(o)", "guard St(o, paid)\n"),
        (["explain"], "desk under any agent behind rules and idle", "desk under any agent\n"),
        (["bounds", "--agent", "any"], "behind rules and idle", "desk under any"),
        (
            ["blame", "--policy", "hasty"],
            "never fails under hasty behind",
            "reviewed fails under hasty",
        ),
        (["symmetry", "--policy", "hasty"], "desk under hasty behind rules", "desk under hasty"),
        (
            ["export", "--policy", "hasty", "--smv", "-"],
            "desk under hasty behind rules and idle",
            "desk under",
        ),
        (["graph", "--policy", "hasty", "--of", "decisions", "--format", "dot"], "approve", "refund"),
    ],
    ids=lambda one: one[0] if isinstance(one, list) else "",
)
def test_a_command_looks_at_the_deployment_behind_the_gates(
    words: list[str], with_gates: str, without: str, desk: str, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = []
    for gates, expected in ((GATES, with_gates), ([], without)):
        assert main([words[0], desk, *words[1:], *gates]) == 0
        outputs.append(capsys.readouterr().out)
        assert expected in outputs[-1] or expected in " ".join(outputs[-1].split())
    assert outputs[0] != outputs[1] or words == ["check"]
    assert main([words[0], desk, *words[1:], "--gate", "ruls"]) == 2
    assert "unknown gate ruls; did you mean rules?" in capsys.readouterr().err


def test_check_counts_the_calls_behind_the_gates(desk: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(desk).write_text(DESK.replace("event arrive()", "init St(o1, paid)\nevent arrive()"))
    for gates, calls in ((GATES, 2), ([], 3)):
        assert main(["check", desk, *gates]) == 0
        assert f"offers {calls} calls" in " ".join(capsys.readouterr().out.split())


def test_the_runs_of_a_sweep_are_behind_the_gates_of_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "desk.stead").write_text(DESK)
    plan = tmp_path / "s.toml"
    plan.write_text('[[runs]]\ndeployment = "desk.stead"\nagent = ["hasty", "any"]\n')
    assert [run.words[-4:] for run in read_plan(plan, Harness(BOTH)).runs] == [tuple(GATES)] * 2
    assert {run.key for run in read_plan(plan, Harness(BOTH)).runs}.isdisjoint(
        run.key for run in read_plan(plan).runs
    )
    plan.write_text(f'{plan.read_text()}gates = ["", "rules"]\n')
    assert len(read_plan(plan).runs) == 4
    assert main(["sweep", str(plan), "--gate", "rules"]) == 2
    assert "`gates` has the gates of runs; leave out --gate, or `gates`" in capsys.readouterr().err


def test_an_exported_transition_is_a_step_of_the_file_that_the_gates_allow(desk: str) -> None:
    """The steps are taken by the semantics of the file without gates, and what these say is written below."""
    d = st.load(desk)
    result = st.verify(d, "any", gates=BOTH, domain="theorem")
    export = exported(result)
    states = [export.graph.states[node.state] for node in export.nodes.nodes]
    lines = to_storm(export).transitions.splitlines()[1:]
    written = {(states[int(one)], states[int(other)]) for one, _, other, _ in map(str.split, lines)}

    def allowed(call: Call, state: Instance) -> bool:
        refunded = any(fact.relation == "St" and fact.args[1] == "refunded" for fact in state)
        return Fact("Ok", call.args) in state if call.tool == "refund" else not refunded

    steps, known = set(), {*result.restriction.values["order"]}
    for state in states:
        calls = {call for call in offer(d, state) if allowed(call, state)} | enabled(d, state)
        found = [after for call in calls for after in outcomes(d, call, state, result.restriction)]
        steps |= {(state, after) for after in found if after.active_domain["order"] <= known}
    assert written == steps
    assert len(steps) == result.transitions
    assert len(written) < (st.verify(d, "any", domain="theorem").transitions or 0)


def test_the_contexts_of_an_audit_are_those_behind_the_gates(
    desk: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gated_agents.py").write_text("def first(context):\n    return sorted(context.calls)[-1]\n")
    monkeypatch.chdir(tmp_path)
    audit = ["models", "audit", desk, "--agent", "python:gated_agents:first", "--samples", "1"]
    for gates, calls in ((GATES, 2), ([], 3)):
        assert main([*audit, *gates]) in (0, 1)
        assert f"({calls} calls)" in capsys.readouterr().out
    assert main([*audit, "--gate", "ruls"]) == 2


@pytest.mark.parametrize("recorded", [True, False])
def test_the_stepper_offers_what_the_gates_allow(
    recorded: bool, desk: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verified(desk, capsys, *GATES, "--evidence", str(tmp_path / "out"))
    options = parse(["--policy", "hasty"], tmp_path)
    options.evidence = str(tmp_path / "out" / "never.json") if recorded else None
    stepper = stepper_of(st.load(desk) if recorded else under_gates(st.load(desk), BOTH), options)
    assert stepper.deployment.gated == BOTH
    assert len(stepper.run.steps) == (2 if recorded else 0)
    arrived = stepper.choices()[-1]
    stepper.take(arrived, arrived.after[0])
    assert sorted(choice.call.tool for choice in stepper.choices()) == ["approve", "wait"]


# what is written


def test_what_is_written_behind_gates_is_read_behind_them(
    desk: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, report, proof = tmp_path / "out", tmp_path / "report.json", str(tmp_path / "proof")
    data = verified(desk, capsys, *GATES, "--evidence", str(folder), "--certify", proof)
    report.write_text(json.dumps(data))
    assert [one["gate"] for one in data["gates"]] == [*BOTH]
    assert data["specs"]["never"]["evidence"]["gates"] == [*BOTH]
    for source in (folder / "never.json", report):
        for gates in ([], GATES, [*GATES[2:], *GATES[:2]]):
            assert main(["replay", desk, str(source), "--spec", "never", *gates]) == 0
            printed = capsys.readouterr()
            assert "never fails under hasty behind rules and idle: confirmed" in printed.out
            assert printed.err == ""
        assert main(["replay", desk, str(source), "--gate", "rules"]) == 2
        told = f"{source} was produced behind rules and idle, not behind rules; leave out the gates"
        assert told in capsys.readouterr().err.replace(": specs.reviewed", "")
    agent = st.VerifiedAgent(st.load(desk), report)
    assert agent.deployment.gated == BOTH
    assert st.VerifiedAgent(under_gates(st.load(desk), BOTH), report).deployment.gated == BOTH
    with pytest.raises(st.InputError, match="was produced behind rules and idle, not behind idle"):
        st.VerifiedAgent(under_gates(st.load(desk), "idle"), report)
    assert main(["check-certificate", proof, "--about", desk]) == 0
    assert "hasty in 3 contexts behind rules and idle" in " ".join(capsys.readouterr().out.split())
    assert main(["check-certificate", proof, "--about", desk, "--gate", "idle"]) == 2
    assert "was produced behind rules and idle, not behind idle" in capsys.readouterr().err


def test_what_names_no_gates_is_read_as_before(
    desk: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Reports without gates, and those of versions that did not record the gates."""
    plain, old = tmp_path / "plain.json", tmp_path / "old.json"
    plain.write_text(json.dumps(verified(desk, capsys)))
    assert '"gates"' not in plain.read_text()
    assert main(["replay", desk, str(plain)]) == 0
    assert capsys.readouterr().err == ""
    assert main(["replay", desk, str(plain), "--gate", "rules"]) == 1
    printed = capsys.readouterr()
    assert "was produced without gates, and is replayed behind rules" in printed.err
    assert "reviewed fails under hasty behind rules: NOT confirmed" in printed.out
    data = verified(desk, capsys, *GATES)
    for one in data["specs"].values():
        one["evidence"].pop("gates")
    old.write_text(json.dumps(data))
    assert main(["replay", desk, str(old), *GATES]) == 0
    assert capsys.readouterr().err == ""
    assert main(["replay", desk, str(old), "--spec", "never"]) == 1
    assert "was produced from a different version of the deployment" in capsys.readouterr().err


def test_a_recorded_gate_that_the_file_has_not_is_one_line(
    desk: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.json"
    report.write_text(json.dumps(verified(desk, capsys, *GATES)))
    Path(desk).write_text(DESK.replace("gate idle", "gate lazy"))
    assert main(["replay", desk, str(report)]) == 2
    assert "gates: unknown gate idle; there are rules, lazy" in capsys.readouterr().err
    with pytest.raises(st.InputError, match="gates: unknown gate idle"):
        st.VerifiedAgent(st.load(desk), report)


@pytest.mark.parametrize("gates", [7, ["rules"], [{"gate": 3}], {"rules": 1}, [{"gat": "rules"}]])
def test_gates_of_a_report_that_are_none_are_no_stack_trace(gates: object, desk: str) -> None:
    with pytest.raises(st.InputError):
        st.VerifiedAgent(st.load(desk), {"gates": gates})
    with pytest.raises(st.InputError):
        read_report({"decisions": [], "gates": gates}, "a report")


def test_the_difference_of_two_reports_names_the_gates(
    desk: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, gates in (("a", []), ("b", GATES)):
        (tmp_path / name).write_text(json.dumps(verified(desk, capsys, *gates)))
    main(["diff", str(tmp_path / "a"), str(tmp_path / "b")])
    assert "gates - -> rules and idle" in " ".join(capsys.readouterr().out.split())
    main(["diff", str(tmp_path / "b"), str(tmp_path / "a"), "--json"])
    change = {"before": "rules and idle", "after": None}
    assert json.loads(capsys.readouterr().out)["facts"]["gates"] == change


def test_without_a_bound_the_gates_are_named_too(
    desk: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(desk).write_text(DESK.replace("bound order 1", "bound order any"))
    page, report = tmp_path / "page.html", tmp_path / "report.json"
    words = ["verify", desk, "--agent", "any", "--spec", "never", "--max-bound", "1", *GATES]
    assert main([*words, "--report", str(page)]) == 1
    assert capsys.readouterr().out.startswith("desk under any behind rules and idle")
    assert "under any behind rules and idle" in page.read_text()
    main([*words, "--json"])
    report.write_text(capsys.readouterr().out)
    assert [one["gate"] for one in json.loads(report.read_text())["gates"]] == [*BOTH]
    assert main(["replay", desk, str(report), "--quiet"]) == 0
    assert "behind rules and idle: confirmed" in capsys.readouterr().out


# what each of them does with calls

REFUNDS = """deployment refunds
sort times = 0..2
relation Refunded(times)
init Refunded(0)
tool refund()
  guard ~Refunded(2)
  effect
    choose m: times where exists n. (Refunded(n) & succ(n, m))
    clear Refunded
    insert Refunded(m)
tool wait()
gate first default allow
  forbid refund() when ~Refunded(0)
policy careful call refund() when Refunded(0) call wait()
spec once AG ~Refunded(2)
"""
BATCH = ["--calls", "batch", "2"]


@pytest.fixture
def refunds(tmp_path: Path) -> str:
    path = tmp_path / "refunds.stead"
    path.write_text(REFUNDS)
    return str(path)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["verify", "--policy", "careful"], "refunds under careful with calls batch 2"),
        (["show"], "calls batch 2\n"),
        (["explain", "--policy", "careful"], "refunds under careful with calls batch 2"),
        (["bounds", "--agent", "any"], "refunds under any with calls batch 2"),
        (["blame", "--policy", "careful"], "once fails under careful with calls batch 2"),
        (["symmetry", "--policy", "careful"], "refunds under careful with calls batch 2"),
        (["export", "--policy", "careful", "--smv", "-"], "refunds under careful with calls batch 2"),
        (["graph", "--policy", "careful", "--format", "dot"], "refund@message"),
        (
            ["graph", "--policy", "careful", "--format", "dot"],
            "states of refunds under careful with calls batch 2",
        ),
        (
            ["graph", "--policy", "careful", "--of", "decisions", "--format", "dot"],
            "decision graph, refunds under careful with calls batch 2",
        ),
    ],
    ids=lambda one: one[0] if isinstance(one, list) else "",
)
def test_a_command_looks_at_the_deployment_with_the_calls(
    words: list[str], said: str, refunds: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([words[0], refunds, *words[1:], *BATCH]) in (0, 1)
    assert said in (out := capsys.readouterr().out) or said in " ".join(out.split())
    main([words[0], refunds, *words[1:]])
    assert said not in " ".join(capsys.readouterr().out.split())
    assert main([words[0], refunds, *words[1:], "--calls", "batch", "7"]) == 2
    assert "a message has at least 1 call and at most 3, got 7" in capsys.readouterr().err
    assert main([words[0], refunds, *words[1:], "--calls", "twice"]) == 2
    assert "calls 'twice': write `sequential`, `batch N` or `parallel N`" in capsys.readouterr().err


@pytest.mark.parametrize("engine", ["explicit", "symbolic"])
def test_calls_that_are_asked_for_are_those_of_a_file_that_has_them(engine: Any, refunds: str) -> None:
    plain = st.load(refunds)
    for calls in ("batch 2", "batch 3 on refusal stop", "sequential"):
        written = st.parse_deployment(f"{REFUNDS}calls {calls}\n")
        asked = st.verify(plain, "careful", calls=calls, engine=engine)
        of_file = st.verify(written, "careful", engine=engine)
        assert (asked.states, asked.transitions) == (of_file.states, of_file.transitions)
        assert asked["once"].holds == of_file["once"].holds == (calls == "sequential")
        assert with_calls(plain, calls) == written
        assert with_calls(written, "sequential") == plain
        assert with_calls(with_calls(plain, calls), "sequential").called is None
        assert with_calls(written, calls) is written
    held = st.verify(plain, "careful", calls="batch 2", gates="first", engine=engine)
    assert held["once"].holds
    assert held.summary.startswith("refunds under careful with calls batch 2 behind first:")


def test_what_is_written_with_calls_is_read_with_them(
    refunds: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, report, proof = tmp_path / "out", tmp_path / "report.json", str(tmp_path / "proof")
    words = ["verify", refunds, "--policy", "careful", "--json", *BATCH]
    main([*words, "--evidence", str(folder), "--certify", proof])
    report.write_text(capsys.readouterr().out)
    data = json.loads(report.read_text())
    assert data["calls"] == data["specs"]["once"]["evidence"]["calls"] == "batch 2"
    for source in (folder / "once.json", report):
        for calls in ([], BATCH):
            assert main(["replay", refunds, str(source), *calls]) == 0
            printed = capsys.readouterr()
            assert "once fails under careful with calls batch 2: confirmed" in printed.out
            assert printed.err == ""
        assert main(["replay", refunds, str(source), "--calls", "sequential"]) in (0, 2)
        assert main(["replay", refunds, str(source), "--calls", "batch", "3"]) == 2
        told = "was produced with calls batch 2, not with calls batch 3; leave out the calls"
        assert told in capsys.readouterr().err
    assert main(["check-certificate", proof, "--about", refunds]) == 0
    assert "with calls batch 2" in " ".join(capsys.readouterr().out.split())
    assert main(["check-certificate", proof, "--about", refunds, "--calls", "batch", "3"]) == 2
    assert "was produced with calls batch 2, not with calls batch 3" in capsys.readouterr().err
    with pytest.raises(st.InputError, match="make several calls in one message"):
        st.VerifiedAgent(st.load(refunds), data)


def test_what_names_no_calls_is_confirmed_of_no_others(
    refunds: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain, batched = tmp_path / "plain.json", tmp_path / "batched.json"
    for file, words in ((plain, []), (batched, BATCH)):
        main(["verify", refunds, "--agent", "any", "--json", *words])
        file.write_text(capsys.readouterr().out)
    assert '"calls"' not in plain.read_text()
    assert main(["replay", refunds, str(plain)]) == 0
    capsys.readouterr()
    assert main(["replay", refunds, str(plain), *BATCH]) == 1
    printed = capsys.readouterr()
    assert "was produced without --calls, and is replayed with calls batch 2" in printed.err
    assert "NOT confirmed" in printed.out
    main(["diff", str(plain), str(batched)])
    assert "calls - -> batch 2" in " ".join(capsys.readouterr().out.split())


def test_the_runs_of_a_sweep_have_the_calls_of_the_command(
    refunds: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "s.toml"
    plan.write_text('[[runs]]\ndeployment = "refunds.stead"\nagent = "careful"\n')
    [run] = read_plan(plan, Harness(calls="batch 2")).runs
    [plain] = read_plan(plan).runs
    assert run.words[-2:] == ("--calls", "batch 2")
    assert run.key != plain.key
    assert run.job().digest != plain.job().digest
    plan.write_text(f'{plan.read_text()}calls = ["sequential", "batch 2"]\n')
    assert [run.about["calls"] for run in read_plan(plan).runs] == ["sequential", "batch 2"]
    assert main(["sweep", str(plan), *BATCH]) == 2
    assert "`calls` has the calls of runs; leave out --calls, or `calls`" in capsys.readouterr().err


def test_calls_that_a_file_cannot_have_are_one_line(refunds: str, capsys: pytest.CaptureFixture[str]) -> None:
    for more, said in (
        (
            "calls batch 2\nspec waits AG ~wait@1()\n",
            "calls sequential: the file asks for calls of a message",
        ),
        ("fair tool wait\n", "write `fair strong tool wait`"),
    ):
        Path(refunds).write_text(REFUNDS + more)
        calls = ["sequential"] if "batch" in more else ["batch", "2"]
        assert main(["verify", refunds, "--policy", "careful", "--calls", *calls]) == 2
        assert said in capsys.readouterr().err
