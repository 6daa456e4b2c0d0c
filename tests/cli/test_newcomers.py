"""The commands for who begins: `new`, `check`, `watch`, `completion`, and an example in every help."""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import redirect_stderr
from pathlib import Path

import pytest

import stead_sym as st
from stead_sym.cli.main import main
from stead_sym.cli.new import TEMPLATES, template
from stead_sym.cli.parser import HELP_EXAMPLES, subcommands, whole_parser
from stead_sym.report.topics import base

pytest_plugins = ["pytester"]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "100")


# new


def written(name: str) -> st.Deployment:
    """The deployment that `new` writes from a template."""
    assert main(["new", "mine", "--template", name]) == 0
    return st.load("mine.stead")


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_verifies_without_findings(name: str) -> None:
    deployment = written(name)
    agents = {role.name: role.policies[0].name for role in deployment.agents}
    result = st.verify(deployment, agents)
    assert len(result.verdicts) > 1
    assert {verdict.word for verdict in result.verdicts.values()} == {"holds"}
    assert result.findings == ()


@pytest.mark.parametrize(
    ("name", "spec"), [("approval", "approved"), ("table", "approved"), ("database", "reviewed")]
)
def test_what_a_template_says_of_any_agent_is_so(name: str, spec: str) -> None:
    assert f"--agent any\n#       whatever an agent could do: `{spec}` fails" in template(name)
    assert st.verify(written(name), "any")[spec].holds is False


def test_a_template_with_data_reads_what_is_written_beside_it() -> None:
    Path("mine.csv").write_text("theirs")
    assert main(["new", "mine", "--template", "table"]) == 2
    assert not Path("mine.stead").exists()
    Path("mine.csv").unlink()
    assert main(["new", "mine", "--template", "table"]) == 0
    rows = Path("mine.csv").read_text().splitlines()
    Path("mine.csv").write_text("\n".join([*rows, "Z 9,zoe,gold"]))
    assert "Owner(account_Z_20_9, zoe)" in {str(fact) for fact in st.load("mine.stead").init}


def test_what_the_template_of_agents_says_of_any_sorter_is_so() -> None:
    deployment = st.parse_deployment(template("agents"))
    assert st.verify(deployment, {"sorter": "any", "writer": "prompt"})["sorted_first"].holds


@pytest.mark.parametrize("name", TEMPLATES)
def test_new_writes_a_file_that_verifies_and_a_test_that_passes(name: str, pytester: pytest.Pytester) -> None:
    assert main(["new", "front-desk", "--template", name, "--tests"]) == 0
    text = Path("front-desk.stead").read_text()
    assert "deployment front_desk\n" in text
    assert "stead-sym verify front-desk.stead " in text
    assert main(["verify", "front-desk.stead", "--quiet"]) == 0
    pytester.path.joinpath("front-desk.stead").write_text(text)
    for data in Path().glob("*.csv"):
        pytester.path.joinpath(data.name).write_text(data.read_text())
    pytester.makepyfile(test_front_desk=Path("test_front_desk.py").read_text())
    pytester.runpytest().assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["new", "desk"], "desk.stead: is there already; give another name, or remove it"),
        (["new", "no/where"], "no/where.stead: cannot be written (No such file or directory)"),
        (["new", "1x"], "'1x' is no name for a deployment"),
        (["new", "x", "--template", "bank"], "invalid choice: 'bank'"),
    ],
)
def test_new_refuses(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("desk.stead").write_text("mine")
    assert main(words) == 2
    assert said in capsys.readouterr().err
    assert Path("desk.stead").read_text() == "mine"


def test_new_writes_all_or_nothing_and_through_no_link(capsys: pytest.CaptureFixture[str]) -> None:
    Path("link.stead").symlink_to("elsewhere.stead")
    assert main(["new", "link"]) == 2
    assert not Path("elsewhere.stead").exists()
    Path("test_desk2.py").write_text("mine")
    assert main(["new", "desk2", "--tests"]) == 2
    assert not Path("desk2.stead").exists()
    assert Path("test_desk2.py").read_text() == "mine"
    assert "is there already" in capsys.readouterr().err


@pytest.mark.parametrize("folder", [b"caf\xe9", b"a\x1b[31mb", b"n\nl"])
def test_new_in_a_folder_of_any_name(folder: bytes) -> None:
    path = Path(os.fsdecode(folder))
    path.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "stead_sym", "new", str(path / "desk")], capture_output=True, check=True
    )
    assert path.joinpath("desk.stead").exists()
    assert not re.search(rb"[^\x20-\x7e\n]", done.stdout + done.stderr)


# check


def test_check_says_what_needs_no_exploring(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "ward"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "3 sorts, 6 relations, 3 tools, 3 events, 1 policy, 5 specifications" in out
    assert "patient 3, bed 4, room 2 (representatives)" in out
    assert "patient: 2·2 + 0 + 2 = 6" in out
    assert "one of the first states offers 0 calls, 1 event may happen" in out
    assert "left to verify bound patient 2, bound bed 4, key of LiesIn, key of Bed" in out
    assert "(hidden-relation)" in out


def test_check_counts_the_relations_of_messages_apart(capsys: pytest.CaptureFixture[str]) -> None:
    counts = []
    for calls in ("sequential", "batch 2", "parallel 2"):
        assert main(["check", "refund", "--calls", *calls.split()]) == 0
        counts.append(" ".join(capsys.readouterr().out.split()).partition(" agent ")[0])
    alone, batch, parallel = counts
    tools = len(st.load("refund").tools)
    assert batch == f"{alone} {2 * tools} more relations for the calls of messages"
    assert parallel == f"{alone} {2 * tools + 1} more relations for the calls of messages"


def test_check_does_not_explore(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("something is explored")

    monkeypatch.setattr("stead_sym.verification.explore.SymbolicEngine", refuse)
    assert main(["check", "refund"]) == 0
    assert main(["verify", "refund", "--quiet"]) == 4, "the trap is set where verify explores"


def test_check_is_strict_where_it_is_asked_to(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "ward", "--strict", "--quiet"]) == 1
    assert main(["check", "refund", "--strict", "--quiet"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "no findings"


def test_check_finds_what_the_first_state_shows(capsys: pytest.CaptureFixture[str]) -> None:
    Path("d.stead").write_text("deployment d\nrelation P()\ntool t() guard P()\n")
    assert main(["check", "d.stead"]) == 0
    assert "nothing can happen there" in " ".join(capsys.readouterr().out.split())
    Path("d.stead").write_text(base() + "initially any State where false\n")
    assert main(["check", "d.stead"]) == 2
    assert "initially any" in capsys.readouterr().err


# watch


@pytest.fixture
def watching() -> Iterator[subprocess.Popen[str]]:
    Path("d.stead").write_text(base() + "spec s AG true\n")
    command = [
        sys.executable,
        "-m",
        "stead_sym",
        "watch",
        "--interval",
        "0.05",
        "check",
        "d.stead",
        "--quiet",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        overdue = threading.Timer(120, process.terminate)  # so that a line that never comes is a failure
        overdue.start()
        yield process
        overdue.cancel()
        process.terminate()


def said_next(process: subprocess.Popen[str], what: str) -> int:
    """Read lines until one holds this; how many runs have begun meanwhile."""
    assert process.stdout is not None
    begun = 0
    for line in process.stdout:
        begun += line.startswith("stead-sym check d.stead")
        if what in line:
            return begun
    raise AssertionError(f"{what} is not said")


def save(text: str) -> None:
    """Replace the file at once, as many editors do."""
    Path("new.stead").write_text(text)
    Path("new.stead").rename("d.stead")


def test_watch_runs_again_after_each_save_and_only_then(watching: subprocess.Popen[str]) -> None:
    assert said_next(watching, "no findings") == 1
    time.sleep(0.5)  # nothing is saved, so nothing runs
    save(base() + "spec s AG exists o. State(o, lost) -> Flag()\n")
    assert said_next(watching, "(exists-implies)") == 1
    save(base() + "spec s AG\n")
    assert said_next(watching, "unexpected end") == 1
    Path("d.stead").unlink()
    time.sleep(0.2)
    save(base())
    assert said_next(watching, "no findings") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["check", "missing.stead"], "there is no such file to watch"),
        (["check"], "watch which file? Write `stead-sym watch check FILE`"),
        (["d.stead"], "watch which command? Write `stead-sym watch verify d.stead`"),
        (["simulate", "d.stead"], "simulate cannot be watched; write verify or check or"),
    ],
)
def test_watch_wants_a_command_and_a_file(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("d.stead").write_text(base())
    assert main(["watch", *words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["verfy", "refund"], "invalid choice: 'verfy'; did you mean verify?; see `stead-sym --help`"),
        (["new", "x", "--template", "agent"], "invalid choice: 'agent'; did you mean agents?; see"),
        (["completion", "tcsh"], "invalid choice: 'tcsh' (choose from"),
    ],
)
def test_a_wrong_choice_gets_the_one_that_was_meant(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            [],
            "which command? Begin with `stead-sym new NAME` or `stead-sym verify refund`; see",
        ),
        (["d.stead"], "d.stead is a file, and no command; write `stead-sym verify d.stead`"),
        (["new", "x", "--template", "d.stead"], "invalid choice: 'd.stead' (choose from"),
    ],
)
def test_without_a_command_the_next_one_is_named(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("d.stead").write_text(base())
    assert main(words) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(("words", "usage"), [(["help"], "COMMAND ..."), (["help", "new"], "new [-h]")])
def test_help_is_asked_for_by_word_too(
    words: list[str], usage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 0
    assert usage in capsys.readouterr().out


def test_the_options_of_verify_stand_in_groups(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["verify", "--help"])
    titles = re.findall(r"^(\S.*):$", capsys.readouterr().out, re.MULTILINE)
    assert titles == [
        "positional arguments", "options", "the agent", "what is asked, and how strictly",
        "what is printed and written", "how a model is asked", "how it is solved, and when it is given up",
    ]  # fmt: skip


# completion


def test_bash_completes_commands_options_and_choices(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("shtab", reason="it makes the scripts")
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash here")
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out

    def completed(line: str) -> set[str]:
        words = shlex.split(line) + ([""] if line.endswith(" ") else [])
        quoted = " ".join(map(shlex.quote, words))
        run = (
            f'COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _shtab_stead_sym; echo "${{COMPREPLY[@]}}"'
        )
        ended = subprocess.run([bash, "-c", f"{script}\n{run}"], capture_output=True, text=True, check=True)
        return {word.strip() for word in ended.stdout.split()}

    assert {"verify", "check", "new", "watch"} <= completed("stead-sym ")
    assert completed("stead-sym ver") == {"verify"}
    assert completed("stead-sym verify refund --eng") >= {"--engine"}
    assert completed("stead-sym new desk --template ") >= set(TEMPLATES)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_a_script_that_knows_the_commands(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("shtab", reason="it makes the scripts")
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for command in subcommands(whole_parser()):
        assert command in script
    if (program := shutil.which(shell)) is not None:
        subprocess.run([program, "-n"], input=script, text=True, check=True)


# help

_ELSEWHERE = {
    "models decisions",
    "models audit",
    "models get",
    "models decisions show",
    "models decisions salvage",
    "models decisions list",
    "models decisions export",
}
"""Commands whose example wants a model or decisions."""
_ENDLESS = {"sweep", "import", "draft", "conform", "guard", "simulate", "watch", "lsp", "completion"}
"""Commands that do not end by themselves, want a file of their own, or write where a shell looks."""


def commands() -> Iterator[str]:
    def below(parser: object, name: str) -> Iterator[str]:
        for word, sub in subcommands(parser).items():  # type: ignore[arg-type]
            yield f"{name} {word}".strip()
            yield from below(sub, f"{name} {word}".strip())

    return below(whole_parser(), "")


def test_every_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    for command in commands():
        with pytest.raises(SystemExit):
            main([*command.split(), "--help"])
        assert f"example: {HELP_EXAMPLES[command]}\n" in capsys.readouterr().out
    assert set(HELP_EXAMPLES) == set(commands())


@pytest.mark.parametrize("former", ["decisions", "audit"])
def test_former_names_are_answered(former: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([former, "--help"])
    assert capsys.readouterr().out.startswith(f"usage: stead-sym models {former} ")


def test_every_command_is_in_the_help_of_all(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    listed, more = capsys.readouterr().out.split("\nmore:\n")
    described = re.findall(r"^  ([a-z]\S*) ", listed, re.MULTILINE)
    assert len(described) <= 18
    assert {*described, *re.findall(r"[a-z-]+", more.split("\n\n")[0])} == set(subcommands(whole_parser()))


def test_every_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    Path("program.txt").write_text("p: inc a -> q\nq: halt\n")
    bin_folder = Path("bin").absolute()
    bin_folder.mkdir()
    program = bin_folder / "stead-sym"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m stead_sym "$@"\n')
    program.chmod(0o755)
    for command, example in HELP_EXAMPLES.items():
        if command in _ELSEWHERE | _ENDLESS:
            words = re.sub(r">.*", "", example)
            options = whole_parser().parse_args(shlex.split(words)[1:])
            assert callable(options.run)
            continue
        if not re.search("[>;]", example):  # what needs no shell needs no process either
            program_name, *arguments = shlex.split(example)
            assert program_name == "stead-sym"
            assert main(arguments) in (0, 1), (example, capsys.readouterr().err)
            assert "".join(capsys.readouterr()) or "--out " in example, example
            continue
        ended = subprocess.run(
            ["sh", "-c", example],
            env={**os.environ, "PATH": f"{bin_folder}:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode in (0, 1), (example, ended.stderr)
        assert ended.stdout or ended.stderr or re.search("> |--out ", example), example


# errors


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def said_of(text: str, stream: io.StringIO) -> list[str]:
    Path("d.stead").write_text(base() + text, encoding="utf-8")
    with redirect_stderr(stream):
        assert main(["check", "d.stead"]) == 2
    return [line for line in stream.getvalue().splitlines() if "explain" not in line]


@pytest.mark.parametrize(
    ("line", "shown", "wide"),
    [
        ("spec s AG (State(_, open) @&& Flag())", "spec s AG (State(_, open) && Flag())", 0),
        ("\tspec s AG @Stat(_, open)", " spec s AG Stat(_, open)", 0),
        ('text open = "日本" spec s @&', 'text open = "日本" spec s &', 2),
    ],
)
def test_a_terminal_is_shown_the_line_with_a_mark_below_the_place(line: str, shown: str, wide: int) -> None:
    column = line.index("@") + line.startswith("spec s AG (")  # of `&&` the second is what is wrong
    _, whole, mark = said_of(line.replace("@", "") + "\n", Terminal())
    assert whole == f"  {shown}"
    assert mark == " " * (2 + column + wide) + "^"


@pytest.mark.parametrize("line", ["x" * 200 + " &", "\x1b[2J spec s & &"])
def test_a_line_that_would_not_be_printed_as_it_stands_is_not_shown(line: str) -> None:
    assert len(said_of(f"spec s\n{line}\n", Terminal())) == 1


def test_elsewhere_an_error_is_one_line() -> None:
    assert len(said_of("spec s AG (Flag() && Flag())\n", io.StringIO())) == 1
