"""The command with a language model's decisions: replay, prompts, the store. No model is loaded here."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import stead_sym as st
from described import assert_described
from stead_sym.agents.prompts.prompt import Prompt
from stead_sym.agents.records.possible import Greedy
from stead_sym.agents.records.store import Store, open_store
from stead_sym.cli.main import main
from stead_sym.models.agent import ModelAgent
from stead_sym.testing.byte_model import ByteModel


@pytest.fixture
def store(tmp_path: Path) -> str:
    path = tmp_path / "decisions.sqlite"
    desk = st.load("refund")
    with Store(path) as opened:
        for tolerance in (0.0, 1e9):
            st.verify(desk, ModelAgent(ByteModel(), Prompt.of(desk), opened, Greedy(tolerance)))
    return str(path)


@pytest.fixture
def lines(store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    path = tmp_path / "decisions.jsonl"
    assert main(["decisions", "export", "--store", store]) == 0
    path.write_text(capsys.readouterr().out, encoding="utf-8")
    return str(path)


def report(capsys: pytest.CaptureFixture[str]) -> dict:
    data = json.loads(capsys.readouterr().out)
    assert_described(data)
    return data


def test_a_replay_shows_prompts_and_margins(lines, capsys):
    desk = st.load("refund")
    expected = st.verify(desk, ModelAgent(ByteModel(), Prompt.of(desk)))
    statuses = {True: 0, False: 1}
    wanted = statuses[all(verdict.holds for verdict in expected.verdicts.values())]
    assert main(["verify", "refund", "--replay", lines, "--tolerance", "0", "--json"]) == wanted
    data = report(capsys)
    assert data["agent"] == "bytes:0 (replayed)"
    assert (data["contexts"], data["queries"]) == (expected.contexts, 0)
    assert {name: v["verdict"] for name, v in data["specs"].items()} == {
        name: verdict.word for name, verdict in expected.verdicts.items()
    }
    for decision in data["decisions"]:
        assert [message["role"] for message in decision["prompt"]] == ["system", "user"]
        assert (decision["margin"] is None) == (len(decision["offered"]) == 1)


def test_the_terminal_lists_the_closest_decisions(lines, capsys):
    main(["verify", "refund", "--replay", lines, "--tolerance", "0"])
    table = capsys.readouterr().out.split("closest decisions of the model\n")[1].split("\n\n")[0]
    margins = [float(margin) for margin in re.findall(r"^ +(\d+\.\d+) ", table, re.MULTILINE)]
    assert margins == sorted(margins)
    assert margins


def test_a_tolerance_gives_more_to_the_agent(lines, capsys):
    main(["verify", "refund", "--replay", lines, "--tolerance", "0", "--json"])
    greedy = report(capsys)
    main(["verify", "refund", "--replay", lines, "--tolerance", "1e9", "--json"])
    anything = report(capsys)
    assert all(set(d["selected"]) == set(d["offered"]) for d in anything["decisions"])
    assert anything["states"] > greedy["states"]


def test_sampling_gives_more_to_the_agent(lines, capsys):
    main(["verify", "refund", "--replay", lines, "--tolerance", "0", "--json"])
    greedy = report(capsys)
    status = main(["verify", "refund", "--replay", lines, "--min-probability", "0.05", "--json"])
    sampled = report(capsys)
    assert status == (0 if all(spec["verdict"] == "holds" for spec in sampled["specs"].values()) else 1)
    assert sampled["states"] >= greedy["states"]
    wider = {tuple(d["offered"]): set(d["selected"]) for d in sampled["decisions"]}
    assert all(set(d["selected"]) <= wider[tuple(d["offered"])] for d in greedy["decisions"])
    for decision in sampled["decisions"]:
        assert decision["rule"] == "sampling at temperature 1 down to a probability of 0.05"
        assert 0 < decision["covered"] <= 1
        assert decision["entropy"] >= 0
    main(["verify", "refund", "--replay", lines, "--min-probability", "0.05", "--temperature", "0.5"])
    text = " ".join(capsys.readouterr().out.split())
    assert "sampling at temperature 0.5 down to a probability of 0.05, which takes in" in text


def test_what_a_decision_weighs_is_printed(lines, store, capsys):
    main(["verify", "refund", "--replay", lines, "--tolerance", "0"])
    text = " ".join(capsys.readouterr().out.split())
    assert (
        "or more of the probability is on the offered ones; over whole answers, forced tokens too, " in text
    )
    assert "choices are made without the constraint too" in text
    assert "forced choice in" in text
    main(["verify", "refund", "--replay", lines, "--tolerance", "0", "--json"])
    decisions = report(capsys)["decisions"]
    lightest = min((d for d in decisions if d["mass"] is not None), key=lambda d: d["mass"])
    assert lightest["key"][:12] in text
    assert not lightest["unforced"]["same"]
    main(["decisions", "show", lightest["key"], "--store", store])
    shown = capsys.readouterr().out
    assert "on the offer)" in shown
    assert "\nunforced   0 of" in shown
    assert "\nentropy    " in shown


def test_less_mass_than_asked_for_is_unknown(lines, capsys):
    words = ["verify", "refund", "--replay", lines, "--tolerance", "0", "--json"]
    assert main([*words, "--min-mass", "0.99"]) == 3
    data = report(capsys)
    assert {spec["verdict"] for spec in data["specs"].values()} == {"unknown"}
    assert all("(--min-mass)" in spec["reason"] for spec in data["specs"].values())
    assert main([*words, "--min-mass", "0.0001"]) == 3, "the forced tokens are far less likely"
    capsys.readouterr()
    assert main([*words, "--min-mass", "5e-324"]) in (0, 1)


def test_a_replay_with_other_prompts_lacks_the_contexts(lines, tmp_path, capsys):
    (tmp_path / "policy.txt").write_text("Do something else.\n")
    words = ["verify", "refund", "--replay", lines, "--prompts", str(tmp_path)]
    assert main([*words, "--tolerance", "0"]) == 2
    error = capsys.readouterr().err
    assert "decisions.jsonl: no decision for" in error
    assert " under this prompt; verify with the model and export again" in error
    assert error.count("\n") == 1


def test_list_and_show(store, capsys):
    assert main(["decisions", "list", "--store", store]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert any("forced" in row and "ingest_case()" in row for row in rows)
    key = next(row.split()[0] for row in rows if "forced" not in row)
    assert main(["decisions", "show", key, "--store", store]) == 0
    shown = capsys.readouterr().out
    assert "--- user\nWhat to do:" in shown
    assert "(margin " in shown
    assert shown.count("\n* ") >= 1
    for action in ("list", "export"):
        assert main(["decisions", action, "--store", store, "--agent", "hf:other"]) == 0
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert ": no decisions of hf:other; there are those of " in err


def test_an_export_is_all_there_is(store, lines):
    with Store(store) as opened:
        assert len(Path(lines).read_text().splitlines()) == len(list(opened.answers()))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["verify", "refund", "--agent", "gpt"], "unknown agent 'gpt'; write any, or a model as smollm2"),
        (["verify", "refund", "--agent", "hf:"], "unknown agent 'hf:'"),
        (
            ["verify", "refund", "--policy", "baseline", "--tolerance", "1"],
            "--tolerance is for a language model",
        ),
        (["verify", "refund", "--agent", "any", "--prompts", "."], "--prompts is for a language model"),
        (["verify", "refund", "--replay", "x", "--tolerance", "-1"], "'-1' is not a number of at least 0"),
        (
            ["verify", "refund", "--policy", "baseline", "--min-mass", "1"],
            "--min-mass is for a language model",
        ),
        (
            ["verify", "refund", "--replay", "x", "--min-mass", "0"],
            "'0' is not a number above 0 and at most 1",
        ),
        (["verify", "refund", "--replay", "x", "--min-probability", "2"], "'2' is not a number above 0 and"),
        (["verify", "refund", "--replay", "x", "--temperature", "1"], "add --min-probability P, or leave it"),
        (
            ["verify", "refund", "--replay", "x", "--tolerance", "1", "--min-probability", "0.1"],
            "--tolerance widens greedy decoding; leave it out, or --min-probability",
        ),
        (
            ["verify", "refund", "--replay", "nowhere.jsonl"],
            "stead-sym: nowhere.jsonl: cannot be read (No such file or directory); name a file that",
        ),
        (["verify", "refund", "--replay", "x", "--prompts", "nowhere"], "nowhere: no prompt texts there"),
        (["decisions", "show", "f00", "--store", "{store}"], "no decisions have a key that begins with f00"),
        (["decisions", "list", "--store", "/"], "/: unable to open database file"),
        (["decisions"], "the following arguments are required: ACTION"),
    ],
)
def test_errors_are_one_line_and_status_2(store, arguments, message, capsys):
    assert main([word.replace("{store}", store) for word in arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_the_default_store_is_the_users_own(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert main(["decisions", "list"]) == 0  # nothing was decided, and nothing is made for the question
    assert not (tmp_path / "data").exists()
    assert capsys.readouterr().out == ""
    desk = st.load("refund")
    with open_store() as opened:
        st.verify(desk, ModelAgent(ByteModel(), Prompt.of(desk), opened), ())
    assert (tmp_path / "data" / "stead-sym" / "decisions.sqlite").is_file()
    assert main(["decisions", "list"]) == 0
    assert "ingest_case()" in capsys.readouterr().out


@pytest.mark.parametrize("action", [["list"], ["export"], ["show", "f00"]])
def test_a_store_that_is_not_there_is_not_made(action, tmp_path, capsys):
    (tmp_path / "empty.sqlite").touch()
    for name in ("typo.sqlite", "empty.sqlite"):
        assert main(["decisions", *action, "--store", str(tmp_path / name)]) == 2
        assert f"{name}: there is no store of decisions" in capsys.readouterr().err
    assert [(path.name, path.stat().st_size) for path in tmp_path.iterdir()] == [("empty.sqlite", 0)]


def test_the_package_imports_no_library_of_language_models():
    import subprocess
    import sys

    code = (
        "import sys, stead_sym, stead_sym.cli.main;"
        "print({'torch', 'transformers', 'vllm'} & set(sys.modules))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "set()\n"
