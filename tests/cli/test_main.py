"""The command: exit statuses, one line per error, what goes to which stream."""

import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import stead_sym as st
from described import assert_described
from processes import hear_ctrl_c
from stead_sym.cli.main import main
from stead_sym.testing.byte_model import ByteModel

COMMAND = (sys.executable, "-m", "stead_sym")

GROWING = """
deployment growing
sort item
relation Held(item)
init
tool take()
  effect
    fresh x: item
    insert Held(x)
bound item 2
spec never
  AG ~exists x: item. true
"""

PAIRS = """
deployment pairs
sort item
relation Held(item)
relation Pair(item, item)
init
bound item 4
tool rest()
tool take()
  guard atmost 3 x: item. Held(x)
  effect
    fresh x: item
    insert Held(x)
tool pair(x: item, y: item)
  effect
    insert Pair(x, y)
spec held
  AG forall x: item. Held(x)
"""


@pytest.fixture
def growing(tmp_path: Path) -> str:
    path = tmp_path / "growing.stead"
    path.write_text(GROWING, encoding="utf-8")
    return str(path)


def report_of(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    report: dict[str, object] = json.loads(capsys.readouterr().out)
    assert_described(report)
    return report


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["--policy", "approving"], 0),
        (["--policy", "baseline"], 1),
        (["--policy", "baseline", "--spec", "prog"], 0),
        (["--policy", "approving", "--spec", "prog", "auth"], 0),
        (["--agent", "any", "--engine", "explicit"], 1),
        (["--policy", "approving", "--domain", "case=4"], 0),
        (["--policy", "approving", "--domain", "theorem"], 0),
        (["--policy", "approving", "--domain", "normal"], 0),
        (["--policy", "approving", "--backend", "autoref"], 0),
        (["--policy", "approving", "--domain", "case=2", "--force"], 3),
        (["--agent", "any", "--engine", "explicit", "--max-states", "216"], 3),
        (["--agent", "any", "--engine", "explicit", "--max-states", "217"], 1),
    ],
)
def test_the_exit_status_is_the_answer(arguments: list[str], status: int) -> None:
    assert main(["verify", "refund", *arguments]) == status


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "which command?"),
        (["verify"], "FILE"),
        (["prove", "refund"], "prove"),
        (["verify", "missing.stead"], "missing.stead: cannot be read"),
        (["verify", "refunds"], "packaged example; did you mean refund? give the path of"),
        (["show", "refunds"], "packaged example"),
        (["verify", "refund", "--policy", "basline"], "unknown policy basline; did you mean baseline?"),
        (["verify", "refund", "--spec", "aut"], "unknown spec aut; did you mean auth?"),
        (["verify", "refund", "--domain", "case=300000000"], "more than 100,000 values are more than can"),
        (["explain", "refund", "--domain", "case=300000000"], "more than 100,000 values are more than can"),
        (["verify", "refund", "--domain", f"case={'9' * 5000}"], "case gets a size of 5000 digits"),
        (["verify", "refund", "--domain", "case=5,case=6"], "two sizes for case"),
        (["verify", "refund", "--max-states", "9" * 5000, "--engine", "explicit"], "--max-states"),
        (["verify", "refund", "--js"], "unrecognized arguments: --js"),
        (["verify", "refund", "--time", "3"], "unrecognized arguments: --time"),
        (
            ["verify", "refund", "--polcy", "x"],
            "--polcy x (did you mean --policy?); see `stead-sym verify --help`",
        ),
        (["verify", "refund", "--agent", "approving"], "approving is a policy; write --policy approving"),
        (["audit", "refund", "--agent", "hf:x", "--samples", "0"], "'0' is not a number of at least 1"),
        (["audit", "refund", "--agent", "hf:x", "--samples", "-3"], "'-3' is not a number of at least 1"),
        (["audit", "refund", "--agent", "hf:x", "--rounds", "0"], "'0' is not a number of at least 1"),
        (["verify", "refund", "--policy", "bold"], "unknown policy bold; there are baseline, approving"),
        (["verify", "refund", "--agent", "any", "--policy", "baseline"], "by --policy and by --agent"),
        (["verify", "refund", "--spec", "safe"], "unknown spec safe; there are auth, prog"),
        (["verify", "refund", "--domain", "normal", "--engine", "explicit"], "--domain theorem"),
        (["verify", "refund", "--domain", "normal", "--unwrapped"], "theorem"),
        (["verify", "refund", "--domain", "normal,case=5"], "SORT=N"),
        (["verify", "refund", "--domain", "case"], "SORT=N"),
        (["verify", "refund", "--domain", "case=-1"], "SORT=N"),
        (["verify", "refund", "--domain", "case=2"], "theorem"),
        (["verify", "refund", "--domain", "cases=9"], "no such sort"),
        (["verify", "refund", "--max-states", "0", "--engine", "explicit"], "at least 1"),
        (["verify", "refund", "--max-states", "9"], "--engine explicit"),
        (["verify", "refund", "--backend", "cudd", "--engine", "explicit"], "symbolic"),
        (["verify", "refund", "--engine", "quantum"], "quantum"),
    ],
)
def test_wrong_input_is_one_line_and_status_2(
    arguments: Sequence[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    errors = [line for line in captured.err.splitlines() if "for another agent" not in line]
    assert len(errors) == 1
    assert errors[0].startswith("stead-sym: ")
    assert says in errors[0]
    assert captured.out == ""


def test_an_error_in_a_file_names_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.stead"
    path.write_text("deployment bad\nsort case\nrelation P(case, color)\n", encoding="utf-8")
    assert main(["verify", str(path)]) == 2
    assert re.fullmatch(rf"stead-sym: {re.escape(str(path))}:3:\d+: .*color.*\n", capsys.readouterr().err)


def test_a_broken_claim_fails_with_its_run(growing: str, capsys: pytest.CaptureFixture[str]) -> None:
    for engine in ("symbolic", "explicit"):
        assert main(["verify", growing, "--agent", "any", "--engine", engine]) == 1
        out = capsys.readouterr().out
        assert "bound item 2 fails" in " ".join(out.split())
        steps = sum(line.split()[1:2] == ["take()"] for line in out.splitlines())
        assert steps == 3 + 1  # to break the bound, and to refute the specification


def test_a_broken_claim_as_json_carries_the_run(growing: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", growing, "--agent", "any", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert_described(report)
    run = report["specs"][report["broken"]]["trace"]
    assert [step["call"] for step in run] == ["take()"] * 3


def test_wrong_arguments_are_reported_as_json_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "refund", "--json", "--engine", "quantum"]) == 2
    assert "quantum" in str(report_of(capsys)["error"])


def test_the_report_is_what_the_library_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "refund", "--policy", "baseline", "--json"]) == 1
    report = report_of(capsys)
    desk = st.load("refund")
    expected = st.report.report_data(st.verify(desk, desk.policy("baseline")))
    same = expected.keys() - {"seconds", "statistics", "specs"}
    assert {key: report[key] for key in same} == {key: expected[key] for key in same}
    assert report["mode"] == "normal"


NORMAL = {
    "baseline": (7, 8, 4, 4, "fails", "holds"),
    "approving": (9, 10, 5, 5, "holds", "holds"),
    "any": (25, 40, None, None, "fails", "fails"),
}
LITERAL = {
    "baseline": (55, 72, 4, 4, "fails", "holds"),
    "approving": (73, 90, 5, 5, "holds", "holds"),
    "any": (217, 360, None, None, "fails", "fails"),
}


@pytest.mark.parametrize("agent", list(NORMAL))
@pytest.mark.parametrize(
    ("options", "mode", "size", "expected"),
    [
        ([], "normal", 2, NORMAL),
        (["--domain", "normal"], "normal", 2, NORMAL),
        (["--domain", "theorem"], "theorem", 3, LITERAL),
        (["--domain", "theorem", "--engine", "explicit"], "theorem", 3, LITERAL),
        (["--engine", "explicit"], "theorem", 3, LITERAL),
    ],
)
def test_the_worked_example_has_the_known_numbers(
    agent: str,
    options: list[str],
    mode: str,
    size: int,
    expected: dict[str, tuple[object, ...]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    chosen = ["--agent", "any"] if agent == "any" else ["--policy", agent]
    main(["verify", "refund", *chosen, *options, "--json"])
    report: Any = report_of(capsys)
    counts = tuple(report[key] for key in ("states", "transitions", "contexts", "queries"))
    verdicts = tuple(report["specs"][spec]["verdict"] for spec in ("auth", "prog"))
    assert (*counts, *verdicts) == expected[agent]
    assert report["mode"] == mode
    assert report["domain"] == {"case": size, "task": size, "service": 4, "status": 2}
    fresh = report["derivation"]["case"]["fresh"]
    assert fresh == (1 if mode == "normal" else None)


def test_unknown_verdicts_are_reported_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    main(["verify", "refund", "--policy", "approving", "--domain", "case=2", "--force", "--json"])
    specs = report_of(capsys)["specs"]
    assert isinstance(specs, dict)
    assert {spec["verdict"] for spec in specs.values()} == {"unknown"}
    assert all("case=2" in spec["reason"] for spec in specs.values())


def test_without_an_agent_the_first_policy_is_taken_and_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "refund"]) == 1
    captured = capsys.readouterr()
    assert "refund under baseline" in captured.out
    assert captured.err.count("\n") == 1
    assert all(word in captured.err for word in ("baseline", "--policy approving", "--agent any"))


def test_without_an_agent_and_policies_everything_offered_is_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "small.stead"
    path.write_text(GROWING.replace("  effect", "  guard ~exists x: item. true\n  effect"), encoding="utf-8")
    assert main(["verify", str(path)]) == 1  # nothing is offered once an item is held
    assert "no policy" in capsys.readouterr().err.splitlines()[0]


def test_quiet_prints_verdicts_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "refund", "--quiet"]) == 1
    captured = capsys.readouterr()
    assert captured.out.splitlines() == ["auth fails", "prog holds"]
    assert captured.err == ""


def test_quiet_prints_what_empties_a_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "desk.stead"
    path.write_text(
        "deployment desk sort case relation Open(case) relation Lost(case) bound case 1 init Open(c0)"
        " tool wait() spec lost AG forall c. (Lost(c) -> AF ~Open(c)) spec open AG Open(_)"
    )
    assert main(["verify", str(path), "--quiet"]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[0].startswith("lost holds, of nothing")
    assert [line.split(": ")[1] for line in captured.err.splitlines()] == ["finding"] * 2
    assert "the premise `Lost(c)` is true at no reachable state" in captured.err


def test_check_says_which_calls_of_the_first_state_have_no_effect(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "desk.stead"
    path.write_text(
        "deployment desk sort case relation Open(case) bound case 1 event arrive() guard ~Open(_)"
        " effect when Open(_) fresh c: case insert Open(c) tool wait()"
    )
    assert main(["check", str(path)]) == 0
    assert "arrive() is enabled, but none of its effects applies" in " ".join(capsys.readouterr().out.split())


def test_show_prints_a_file_that_is_the_same_deployment(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "refund"]) == 0
    out = capsys.readouterr().out
    assert st.parse_deployment(out) == st.load("refund")
    assert "#   case: 0 + 1 + 1 = 2" in out
    assert "#   case: 2·1 + 0 + 1 = 3" in out


def test_show_prints_findings_with_their_places(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "warned.stead"
    path.write_text(GROWING + "define idle() = true\n", encoding="utf-8")
    assert main(["show", str(path)]) == 0
    line = GROWING.count("\n") + 1
    assert capsys.readouterr().err.startswith(f"stead-sym: finding: {path}:{line}:")


def test_examples_lists_the_packaged_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["examples"]) == 0
    assert tuple(capsys.readouterr().out.split()) == st.deployment.packaged_examples()


def test_an_example_is_printed_as_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["examples", "bank"]) == 0
    file = Path(st.__file__).parent / "examples" / "bank.stead"
    assert capsys.readouterr().out == file.read_text(encoding="utf-8")
    assert main(["examples", "banc"]) == 2
    assert "banc: no packaged example; did you mean bank? name one of" in capsys.readouterr().err


def test_version_and_help_end_with_status_0(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--version"], ["--help"], ["verify", "--help"], ["show", "--help"]):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 0
    assert f"stead-sym {st.__version__}\n" in capsys.readouterr().out


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, **environment},
        check=False,
    )


def test_a_stream_that_has_no_symbols_gets_none() -> None:
    for arguments in (["verify", "refund", "--agent", "any"], ["verify", "--help"]):
        ended = run(*arguments, PYTHONIOENCODING="ascii")
        assert ended.stdout.isascii()
        assert ended.stdout
        assert "Traceback" not in ended.stderr


def test_no_colour_means_no_colour(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def printed(**environment: str) -> str:
        with monkeypatch.context() as patch:
            for name in ("FORCE_COLOR", "NO_COLOR", "TERM"):
                patch.delenv(name, raising=False)
            for name, value in environment.items():
                patch.setenv(name, value)
            main(["verify", "refund", "--agent", "any"])
        return capsys.readouterr().out

    assert "\x1b[32m" in printed(FORCE_COLOR="1", TERM="xterm-256color")
    plain = printed(FORCE_COLOR="1", NO_COLOR="1", TERM="xterm-256color")
    assert not re.search(r"\x1b\[3[0-7]m", plain)
    assert "\x1b" not in printed(FORCE_COLOR="1", TERM="dumb")
    assert "\x1b" not in printed()


def test_a_reader_who_leaves_is_not_an_error() -> None:
    for command in ("show", "verify"):
        reader, writer = os.pipe()
        os.close(reader)
        ended = subprocess.run(
            [*COMMAND, command, "refund"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
        )
        os.close(writer)
        assert ended.returncode == 141  # as if SIGPIPE had ended it; 1 would say that something fails
        assert "Traceback" not in ended.stderr
        assert "Exception" not in ended.stderr


def test_a_long_run_says_where_it_is_and_can_be_interrupted(tmp_path: Path) -> None:
    path = tmp_path / "pairs.stead"
    path.write_text(PAIRS, encoding="utf-8")
    with subprocess.Popen(
        [*COMMAND, "verify", str(path), "--agent", "any", "--engine", "explicit"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_ctrl_c,
    ) as process:
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        earlier = ("stead-sym: plan", "stead-sym: preparing")  # on a slow machine
        line = next(line for line in lines if not line.startswith(earlier))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert re.fullmatch(r"stead-sym: exploring: [\d,]+ states, .*\(\d+ s\)\n", line)
    assert (out, err) == ("", "stead-sym: interrupted\n")
    assert process.returncode == 130


SMALL = GROWING.replace("  effect", "  guard ~exists x: item. true\n  effect") + "tool rest()\n"


@pytest.mark.parametrize("limits", [[], ["--timeout", "60"]])
def test_a_dash_reads_stdin(limits: list[str]) -> None:
    """Also where the work is done in a child process."""
    ended = subprocess.run(
        [*COMMAND, "verify", "-", "--agent", "any", *limits],
        input=SMALL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert "growing under any agent" in ended.stdout, ended.stderr
    assert ended.returncode == 1
    ended = subprocess.run(
        [*COMMAND, "verify", "-", *limits],
        input="deployment x\nsprt a\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith("stead-sym: <stdin>:2:1: ")


@pytest.mark.parametrize(("command", "says"), [("show", "deployment growing"), ("explain", "growing")])
def test_a_dash_reads_stdin_for_all(
    command: str, says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(SMALL.encode())))
    assert main([command, "-"]) == 0
    assert says in capsys.readouterr().out


@pytest.mark.parametrize("command", ["verify", "show", "explain"])
def test_stdin_that_is_no_text(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe")))
    assert main([command, "-"]) == 2
    assert capsys.readouterr().err.startswith("stead-sym: <stdin>: not a text file (byte 0 is not UTF-8)")


@pytest.mark.parametrize("command", ["verify", "show"])  # in a child process, and in its own
def test_stdin_that_is_closed(command: str) -> None:
    closed = subprocess.run(
        ["sh", "-c", f'"$0" -m stead_sym {command} - <&-', sys.executable], capture_output=True, check=False
    )
    assert closed.returncode == 2
    assert closed.stderr.startswith(b"stead-sym: <stdin>: nothing comes in")
    assert closed.stderr.count(b"\n") == 1


def test_audit_reads_stdin_too(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"deployment x\nsprt a\n")))
    assert main(["audit", "-", "--agent", "hf:x"]) == 2
    assert capsys.readouterr().err.startswith("stead-sym: <stdin>:2:1: ")


def test_an_audit_without_a_choice_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("stead_sym.cli.audit.opened", lambda *_: ByteModel())
    path, words = tmp_path / "f.stead", ["--agent", "hf:x", "--store", str(tmp_path / "d.sqlite")]
    tools = "tool on() guard ~N() effect insert N()\ntool off() guard N() effect clear N"
    text = f"deployment d\nrelation N()\n{tools}"
    path.write_text(text, encoding="utf-8")
    assert main(["audit", str(path), *words]) == 0
    assert capsys.readouterr().out == (
        "in no context is more than one call offered: there is no choice to audit\n"
    )
    path.write_text(text + "\ntool stay()", encoding="utf-8")
    main(["audit", str(path), *words])
    assert "no choice" not in capsys.readouterr().out


@pytest.mark.parametrize("command", [["verify", "airline", "--policy", "careful"], ["explain", "refund"]])
def test_what_no_terminal_reads_has_no_spaces_at_the_ends_of_lines(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(command)
    lines = capsys.readouterr().out.splitlines()
    assert any("  " in line for line in lines)
    assert [line for line in lines if line != line.rstrip()] == []


def test_a_file_whose_name_is_mistyped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "growing.stead").write_text(GROWING, encoding="utf-8")
    for typo in ("growin.stead", "growing.sted", "Growing.stead"):
        assert main(["verify", str(tmp_path / typo)]) == 2
        error = capsys.readouterr().err
        assert error.endswith("; did you mean growing.stead?\n")
        assert error.count(str(tmp_path)) == 1


@pytest.mark.parametrize("engine", ["symbolic", "explicit"])
def test_a_count_that_nothing_reaches_costs_nothing(
    engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "many.stead"
    counts = (
        "spec no\n  EF atleast 300000000 x: item. Held(x)\nspec yes\n  AG atmost 300000000 x: item. Held(x)\n"
    )
    text = SMALL.replace("init\n", "init\n  Held(first)\n  Held(second)\n").replace(
        "exists x: item. true", "true"
    )
    path.write_text(text + counts + "spec nor\n  EF exactly 300000000 x: item. Held(x)\n", encoding="utf-8")
    assert main(["verify", str(path), "--agent", "any", "--engine", engine, "--json"]) == 1
    specs: Any = report_of(capsys)["specs"]
    assert {name: specs[name]["verdict"] for name in ("no", "yes", "nor")} == {
        "no": "fails",
        "yes": "holds",
        "nor": "fails",
    }


@pytest.mark.parametrize("engine", ["symbolic", "explicit"])
def test_a_bound_that_no_engine_can_explore_is_unknown(
    engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "many.stead"
    path.write_text(SMALL.replace("bound item 2", "bound item 300000000"), encoding="utf-8")
    assert main(["verify", str(path), "--agent", "any", "--engine", engine]) == 3
    error = capsys.readouterr().err
    assert "unknown: `bound item 300000000` asks for " in error
    assert error.endswith("lower the bound\n")
    assert main(["show", str(path)]) == 3
    assert main(["explain", str(path)]) == 3


VERIFY = "verify refund --policy approving --quiet"  # in a child process


@pytest.mark.parametrize(
    ("arguments", "closed"),
    [
        *((VERIFY, closed) for closed in (">&-", "2>&-", ">&- 2>&-", "<&- >&-", "<&- >&- 2>&-")),
        ("show refund", ">&-"),
        ("show refund", "<&- >&- 2>&-"),
    ],
)
def test_streams_that_are_closed_take_nothing_and_change_nothing(arguments: str, closed: str) -> None:
    command = ["sh", "-c", f'"$0" -m stead_sym {arguments} {closed}', sys.executable]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0
    assert ended.stderr == ""
    assert bool(ended.stdout) == (">&-" not in closed.replace("2>&-", ""))


@pytest.mark.parametrize("columns", ["0", "-5", "x"])
def test_a_terminal_without_columns_is_written_to(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert main(["verify", "refund", "--policy", "approving", "--quiet"]) == 0
    assert capsys.readouterr().out.split() == ["auth", "holds", "prog", "holds"]
