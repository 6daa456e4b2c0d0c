"""Nothing that stands in a file of anyone's reaches a terminal as a control character: whatever text of an
input is replaced by one that would clear a screen, the output has none of it."""

from __future__ import annotations

import io
import json
import random
import re
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from stead_sym.agents.prompts.prompt import Prompt
from stead_sym.agents.records.replay import export_lines
from stead_sym.agents.records.store import Store
from stead_sym.cli.main import main
from stead_sym.deployment.files import load, load_text
from stead_sym.deployment.language import parse_deployment, read_deployment
from stead_sym.errors import InputError
from stead_sym.models.agent import ModelAgent
from stead_sym.testing.byte_model import ByteModel
from stead_sym.verification.verify import verify

EVIL = "x\x1b[2J\x9b\r\u202ey"
UNPRINTED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")
desk = load("refund")


class Terminal(io.StringIO):
    """Something that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def output(*words: str) -> str:
    """Return what a command writes on a terminal without colours; it must contain nothing to obey."""
    out, err = Terminal(), Terminal()
    with redirect_stdout(out), redirect_stderr(err):
        status = main(list(words))
    written = out.getvalue() + err.getvalue()
    assert status != 4, written
    assert not UNPRINTED.search(written), (words, UNPRINTED.search(written), ascii(written))
    return written


def places(data: object, path: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
    """Return where in JSON a text stands, as a value or as a key."""
    match data:
        case str():
            yield path
        case list():
            for number, item in enumerate(data):
                yield from places(item, (*path, number))
        case dict():
            for key, item in data.items():
                yield (*path, (key,))
                yield from places(item, (*path, key))


def spoilt(data: object, path: tuple[object, ...]) -> object:
    """The data with an evil text at a place."""
    match data, path:
        case str(), ():
            return f"{data}{EVIL}"
        case dict(), ((key,),):
            return {f"{name}{EVIL}" if name == key else name: item for name, item in data.items()}
        case dict(), (key, *rest):
            return {**data, key: spoilt(data[key], tuple(rest))}
        case list(), (number, *rest):
            return [spoilt(item, tuple(rest)) if n == number else item for n, item in enumerate(data)]
    raise AssertionError(path)


def spoil_each(file: Path, command: Callable[[], object], most: int = 60) -> int:
    """Run a command with each text of a JSON file spoilt, or with as many as that; in how many runs the
    evil text came out, escaped."""
    whole = file.read_text(encoding="utf-8")
    data = json.loads(whole)
    found = list(places(data))
    shown = 0
    for path in random.Random(0).sample(found, min(most, len(found))):
        file.write_text(json.dumps(spoilt(data, path)), encoding="utf-8")
        shown += "\\x1b[2J" in str(command())
    file.write_text(whole, encoding="utf-8")
    return shown


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store with the decisions of a verification, and its file."""
    path = tmp_path_factory.mktemp("store") / "store.sqlite"
    with Store(path) as opened:
        verify(desk, ModelAgent(ByteModel(), Prompt.of(desk), opened))
        lines = list(export_lines(answer for _, answer in opened.answers()))
    return path, lines


def test_reports_that_are_compared(tmp_path):
    for name, policy in (("one.json", "baseline"), ("two.json", "approving")):
        report = io.StringIO()
        with redirect_stdout(report):
            main(["verify", "refund", "--policy", policy, "--json", "--quiet"])
        (tmp_path / name).write_text(report.getvalue(), encoding="utf-8")
    one, two = map(str, (tmp_path / "one.json", tmp_path / "two.json"))
    assert spoil_each(tmp_path / "one.json", lambda: output("diff", one, two), 150) > 5


def test_evidence_that_is_replayed(tmp_path):
    output("verify", "refund", "--policy", "baseline", "--evidence", str(tmp_path / "shown"), "--quiet")
    file = tmp_path / "shown" / "auth.json"
    assert spoil_each(file, lambda: output("replay", "refund", str(file), "--policy", "baseline"), 150) > 5


def test_certificates_that_are_checked(tmp_path):
    folder = tmp_path / "proof"
    output("verify", "refund", "--policy", "baseline", "--certify", str(folder), "--quiet")
    file = folder / "certificate.json"
    assert spoil_each(file, lambda: output("check-certificate", str(folder)), 25) > 2


def test_recorded_decisions(tmp_path, store):
    _, lines = store
    file = tmp_path / "decisions.jsonl"
    first, *others = lines

    def replayed() -> str:
        changed = json.loads(file.read_text(encoding="utf-8"))
        both = tmp_path / "both.jsonl"
        both.write_text("\n".join([json.dumps(changed), *others]), encoding="utf-8")
        return output("verify", "refund", "--replay", str(both))

    file.write_text(first, encoding="utf-8")
    spoil_each(file, replayed, 30)


def test_a_store(tmp_path):
    """Identifiers and texts of a prompt in a store, as `decisions` lists and shows them."""
    path = tmp_path / "store.sqlite"
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "system.txt").write_text(f"Be brief.{EVIL}\n\tAnd good.", encoding="utf-8")
    (tmp_path / "prompts" / "calls.json").write_text(
        json.dumps({"issue_refund": f"pay [task_id] {EVIL}"}), encoding="utf-8"
    )
    with Store(path) as opened:
        verify(desk, ModelAgent(ByteModel(), Prompt.of(desk, tmp_path / "prompts"), opened))
        keys = [answer.key for _, answer in opened.answers()]
    shown = "".join(output("decisions", "show", key, "--store", str(path)) for key in keys)
    assert "Be brief.x\\x1b[2J" in shown
    assert "\n\tAnd good." in shown
    assert "pay TASK_1 x\\x1b[2J" in shown
    output("decisions", "list", "--store", str(path))


@pytest.mark.parametrize("command", ["verify", "show", "explain", "blame", "bounds", "export"])
def test_a_file(tmp_path, command):
    """Each line of a file is spoilt in turn, inside its texts, its comments and its code."""
    text, _ = load_text("airline")
    file = tmp_path / "file.stead"
    lines = text.splitlines()
    for number in random.Random(0).sample(range(len(lines)), 12):
        for changed in (f"{lines[number]}{EVIL}", lines[number].replace("Cancel", f"Cancel{EVIL}")):
            file.write_text("\n".join([*lines[:number], changed, *lines[number + 1 :]]), encoding="utf-8")
            output(command, str(file), *(["--format", "smv"] if command == "export" else []))


def test_words_of_the_command(tmp_path):
    for words in (
        ["verify", f"no{EVIL}"],
        ["verify", "refund", "--policy", f"no{EVIL}"],
        ["verify", "refund", "--agent", f"hf:./{EVIL}"],
        ["verify", "refund", f"--{EVIL}"],
        ["verify", "refund", "--domain", EVIL],
        ["verify", "refund", "--prompts", str(tmp_path / EVIL), "--replay", EVIL],
        ["diff", EVIL, EVIL],
        ["replay", "refund", EVIL],
        ["check-certificate", EVIL],
        ["decisions", "list", "--store", str(tmp_path / EVIL)],
    ):
        assert "\\x1b[2J" in output(*words)
    for option in ("--spec", "--formula"):
        assert 'unexpected "\\x1b"' in output("verify", "refund", option, f"AG {EVIL}")


def test_a_file_that_is_written_has_the_text_as_it_is(tmp_path, capsys):
    file = tmp_path / "file.stead"
    file.write_text(f'{load("airline")}\nsystem """a \n{EVIL}"""\n'.replace("\r", ""), encoding="utf-8")
    assert main(["show", str(file)]) == 0
    assert parse_deployment(capsys.readouterr().out) == read_deployment(file)


def test_the_text_of_an_error_is_one_printable_line():
    error = InputError(f"a\n{EVIL}")
    assert str(error).isprintable()
    assert error.message == f"a\n{EVIL}"
