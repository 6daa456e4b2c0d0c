"""`stead-sym replay`: what it confirms, what it refuses, and how it says so."""

from __future__ import annotations

import json

import pytest

from stead_sym.cli.main import main
from stead_sym.deployment.files import load, load_text


def report(capsys, tmp_path, *words):
    """The path of a report of `verify --json`, and the report."""
    main(["verify", *words, "--json"])
    path = tmp_path / "report.json"
    text = capsys.readouterr().out
    path.write_text(text, encoding="utf-8")
    return path, json.loads(text)


def replayed(capsys, *words):
    """The exit status of a replay, and what is printed."""
    status = main(["replay", *map(str, words)])
    return status, capsys.readouterr()


@pytest.mark.parametrize("agents", [("--agent", "any"), ("--policy", "baseline"), ("--policy", "approving")])
def test_a_report_replays(capsys, tmp_path, agents):
    path, data = report(capsys, tmp_path, "refund", *agents)
    status, printed = replayed(capsys, "refund", path)
    assert status == 0
    for name, spec in data["specs"].items():
        word = "nothing to replay" if spec["verdict"] == "holds" else "confirmed"
        line = next(line for line in printed.out.splitlines() if line.startswith(f"{name} "))
        assert line.startswith(
            f"{name} {spec['verdict']} under {agents[1].replace('any', 'any agent')}: {word}"
        )


def test_one_piece_of_evidence_is_a_file_too(capsys, tmp_path):
    _, data = report(capsys, tmp_path, "refund", "--agent", "any")
    path = tmp_path / "auth.json"
    path.write_text(json.dumps(data["specs"]["auth"]["evidence"]), encoding="utf-8")
    assert replayed(capsys, "refund", path)[0] == 0
    assert replayed(capsys, "refund", path, "--spec", "prog")[0] == 2


def test_a_question_replays(capsys, tmp_path):
    question = "EF exists t. RefundIssued(t) & EF ~exists c. CaseStatus(c, open)"
    path, data = report(capsys, tmp_path, "refund", "--policy", "approving", "--formula", question)
    status, printed = replayed(capsys, "refund", path)
    assert status == 0
    assert f"{data['specs'][question]['formula']} holds under approving: confirmed" in printed.out
    assert not printed.err  # the file is the one that was verified


def test_one_initial_state_is_not_all_of_them(capsys, tmp_path):
    question = "EF exists p, b. LiesIn(p, b)"
    path, data = report(capsys, tmp_path, "ward", "--agent", "any", "--formula", question)
    assert data["initial"] > 1
    status, printed = replayed(capsys, "ward", path)
    assert status == 0
    assert "shown at one initial state" in printed.out or data["specs"][question]["verdict"] == "fails"
    holds = "EF (exists b. Bed(b, single) | Bed(b, shared)) | true"
    path, data = report(capsys, tmp_path, "ward", "--agent", "any", "--formula", holds)
    assert data["specs"][holds]["verdict"] == "holds"
    assert "shown at one initial state" in replayed(capsys, "ward", path)[1].out


@pytest.mark.parametrize("calls", [[["obtain_approval", ["x"]]], [["no_such_tool", []]], [["", []]]])
def test_recorded_calls_fit_the_tools(capsys, tmp_path, calls):
    path, data = report(capsys, tmp_path, "refund", "--policy", "baseline")
    [some, *_] = data["specs"]["auth"]["evidence"]["agents"][""]["decisions"]
    for key, value in (("offered", calls), ("facts", [["PartOf", ["x"]]])):
        kept, some[key] = some[key], value
        path.write_text(json.dumps(data), encoding="utf-8")
        status, printed = replayed(capsys, "refund", path)
        some[key] = kept
        assert status == 2
        assert f"agents..decisions[0].{key}" in printed.err


def test_another_agent_would_not_have_done_it(capsys, tmp_path):
    path, _ = report(capsys, tmp_path, "refund", "--policy", "baseline")
    status, printed = replayed(capsys, "refund", path, "--policy", "approving")
    assert status == 1
    assert "auth fails under approving: NOT confirmed" in printed.out
    assert "step 2, issue_refund(task1)" in printed.out
    assert (
        replayed(capsys, "refund", path, "--agent", "any", "--spec", "auth")[0] == 1
    )  # decides nothing itself


def test_an_altered_decision_is_found_where_the_policy_is_there(capsys, tmp_path):
    path, data = report(capsys, tmp_path, "refund", "--policy", "baseline")
    decisions = data["specs"]["auth"]["evidence"]["agents"][""]["decisions"]
    some = next(decision for decision in decisions if len(decision["offered"]) > 1)
    some["selected"] = some["offered"]
    path.write_text(json.dumps(data), encoding="utf-8")
    status, printed = replayed(capsys, "refund", path)
    assert status == 1
    assert "is recorded to select" in printed.out


def test_the_step_that_is_not_one_is_named(capsys, tmp_path):
    path, data = report(capsys, tmp_path, "refund", "--agent", "any")
    evidence = data["specs"]["auth"]["evidence"]
    [run] = [node["run"] for node in evidence["nodes"] if "run" in node]
    run["steps"][1]["to"] = run["steps"][0]["to"]
    path.write_text(json.dumps(data), encoding="utf-8")
    status, printed = replayed(capsys, "refund", path, "--json")
    assert status == 1
    [auth] = [one for one in json.loads(printed.out) if one["spec"] == "auth"]
    assert auth["confirmed"] is False
    assert "step 2, issue_refund(task1): it does not lead from" in auth["fault"]


def test_another_text_of_the_deployment_is_said(capsys, tmp_path):
    path, _ = report(capsys, tmp_path, "refund", "--agent", "any")
    other = tmp_path / "other.stead"
    text, _ = load_text("refund")
    other.write_text(text.replace("bound case 1", "bound case 2").replace("bound task 1", "bound task 2"))
    status, printed = replayed(capsys, other, path)
    assert status == 0
    assert "was produced from a different version of the deployment" in printed.err


BAD = {
    "no file": None,
    "no JSON": "{",
    "another JSON": "[1, 2]",
    "deep": "[" * 100_000,
    "no evidence": '{"specs": {}}',
    "specs are no object": '{"specs": 3}',
    "an error report": '{"error": "x", "trace": []}',
    "half": '{"format": "stead-sym evidence 2"}',
    "the first format": '{"format": "stead-sym evidence 1"}',
    "another format": '{"format": "stead-sym evidence 99"}',
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_evidence_is_one_line(capsys, tmp_path, name):
    path = tmp_path / "bad.json"
    if BAD[name] is not None:
        path.write_text(BAD[name], encoding="utf-8")
    status, printed = replayed(capsys, "refund", path)
    assert status == 2
    assert not printed.out
    [line] = printed.err.strip().splitlines()
    assert str(path) in line


def kind(part):
    """Return the type or the keys of an item, which items that the same code reads share."""
    return tuple(part) if isinstance(part, dict) else type(part).__name__


def spoiled(data, replacements, seen, place=()):
    """Copies of JSON data in which one part is another thing, or is gone; of the items of a list, the first
    of each kind. ``seen`` collects the places, in which an item has its kind for its index."""
    for key in list(data) if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ():
        kept = data[key]
        here = (*place, kind(kept) if isinstance(data, list) else key)
        for other in () if here in seen else (*replacements, ...):
            if other is ...:
                if isinstance(data, list):
                    continue
                del data[key]
            else:
                data[key] = other
            yield
            data[key] = kept
        seen.add(here)
        yield from spoiled(kept, replacements, seen, here)


def test_whatever_is_spoiled_there_is_no_stack_trace(capsys, tmp_path, monkeypatch):
    path, data = report(capsys, tmp_path, "refund", "--policy", "baseline")
    evidence = data["specs"]["auth"]["evidence"]
    deployment = load("refund")
    monkeypatch.setattr("stead_sym.verification.request.load", lambda _: deployment)  # the same one each time
    statuses, seen = set(), set()
    for _ in spoiled(evidence, (None, -1, 10**30, "x", [], {}, [["x"]], True, 0.5), seen):
        path.write_text(json.dumps(evidence), encoding="utf-8")
        status, printed = replayed(capsys, "refund", path)
        assert status in (0, 1, 2), printed.err
        statuses.add(status)
    assert statuses == {0, 1, 2}
    assert len(seen) > 60


def test_what_stands_beside_the_tree_has_to_fit_it(capsys, tmp_path):
    path, data = report(capsys, tmp_path, "refund", "--agent", "any")
    auth = data["specs"]["auth"]
    for whole, change, message in (
        (auth["evidence"], {"holds": True}, "holds is not what the root says"),
        (auth["evidence"], {"agents": {"": None, "ghost": None}}, "have ghost"),
        (auth, {"verdict": "holds"}, "the evidence shows that it fails"),
        (auth["evidence"], {"spec": "prog"}, "is not that of prog"),
    ):
        kept = dict(whole)
        whole.update(change)
        path.write_text(json.dumps(data), encoding="utf-8")
        status, printed = replayed(capsys, "refund", path)
        whole.update(kept)
        assert status == 2
        assert message in printed.err


def test_a_name_cannot_look_like_a_verdict(capsys, tmp_path):
    _, data = report(capsys, tmp_path, "refund", "--agent", "any")
    evidence = data["specs"]["auth"]["evidence"]
    evidence["spec"] = "prog holds: confirmed\nauth"
    path = tmp_path / "one.json"
    path.write_text(json.dumps(evidence), encoding="utf-8")
    status, printed = replayed(capsys, "refund", path, "--quiet")
    [line] = printed.out.splitlines()
    assert status == 0
    assert line.startswith(evidence["formula"])


def test_what_a_recorded_agent_knows_is_said(capsys, tmp_path):
    _, data = report(capsys, tmp_path, "refund", "--policy", "baseline")
    evidence = data["specs"]["auth"]["evidence"]
    evidence["agents"][""]["agent"] = "somebody"
    path = tmp_path / "one.json"
    path.write_text(json.dumps(evidence), encoding="utf-8")
    assert "is taken to tell" not in replayed(capsys, "refund", path, "--quiet")[1].out
    evidence["agents"][""]["known"] = {"open": "status"}
    path.write_text(json.dumps(evidence), encoding="utf-8")
    status, printed = replayed(capsys, "refund", path, "--quiet")
    assert status == 0
    assert "somebody (recorded) is taken to tell these from others of their sorts: open" in printed.out


def test_what_is_recorded_for_no_canonical_context_is_found(capsys, tmp_path):
    _, data = report(capsys, tmp_path, "refund", "--policy", "baseline")
    evidence = data["specs"]["auth"]["evidence"]
    agent = evidence["agents"][""]
    agent["agent"] = "somebody"
    other = json.loads(json.dumps(agent["decisions"][0]).replace("SERVICE_1", "someone"))
    assert other != agent["decisions"][0]
    agent["decisions"].append(other)
    path = tmp_path / "one.json"
    path.write_text(json.dumps(evidence), encoding="utf-8")
    status, printed = replayed(capsys, "refund", path, "--quiet")
    assert status == 1
    assert "NOT confirmed: the agent is recorded for" in printed.out
    del agent["decisions"][0]
    path.write_text(json.dumps(evidence), encoding="utf-8")
    status, printed = replayed(capsys, "refund", path, "--quiet")
    assert status == 1
    assert "no decision is recorded for" in printed.out
