"""Files that commands write: what somebody has is never lost, and a place that takes none is one line."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit

import jsonschema
import pytest
from test_sarif import SCHEMA

from stead_sym.cli.main import main
from stead_sym.deployment.files import load_text

VERIFY = ("verify", "--policy", "baseline", "--quiet")
WRITING = {
    "report": (*VERIFY, "--report"),
    "log": (*VERIFY, "--sarif"),
    "log of check": ("check", "--quiet", "--sarif"),
    "graph": ("graph", "--policy", "baseline", "--quiet", "--out"),
    "smv": ("export", "--policy", "baseline", "--quiet", "--smv"),
}
"""Each command with the option last that names the file it writes."""


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("desk.stead").write_text(load_text("refund")[0], encoding="utf-8")


def run(what: str, target: str, source: str = "desk.stead") -> int:
    command, *options = WRITING[what]
    return main([command, source, *options, target])


@pytest.mark.parametrize("what", WRITING)
def test_the_deployment_is_never_written_over(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = Path("desk.stead").read_bytes()
    os.symlink("desk.stead", "link")
    os.link("desk.stead", "other")
    for target in ("desk.stead", "./desk.stead", "link", "other"):
        assert run(what, target) == 2
        assert "give another file" in (said := capsys.readouterr().err) or "name another file" in said
        assert Path("desk.stead").read_bytes() == before


@pytest.mark.parametrize("what", ["report", "log", "log of check"])
def test_only_what_the_package_wrote_is_written_over(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine").write_text('{"version": "2.1.0"}')
    assert run(what, "mine") == 2
    assert "is there already, and is no " in capsys.readouterr().err
    assert Path("mine").read_text() == '{"version": "2.1.0"}'
    Path("mine").write_text("")
    for _ in range(2):
        assert run(what, "mine") in (0, 1)
    assert Path("mine").read_text()


@pytest.mark.parametrize("what", WRITING)
@pytest.mark.parametrize("target", [".", "nowhere/file", "desk.stead/file", "/dev/full", "n" * 300])
def test_a_place_that_takes_no_file_is_one_line(
    what: str, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(what, target) == 2
    [*_, said] = capsys.readouterr().err.splitlines()
    assert "cannot be written (" in said


@pytest.mark.parametrize("what", ["report", "log", "graph"])
def test_a_pipe_gets_all_of_it_and_is_not_read(what: str) -> None:
    os.mkfifo("pipe")
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(Path("pipe").read_bytes()), daemon=True)
    reader.start()
    run(what, "pipe")
    reader.join(60)
    run(what, "plain")
    assert len(got) == 1
    assert len(got[0]) == pytest.approx(Path("plain").stat().st_size, abs=20)  # seconds stand in a report


@pytest.mark.parametrize(
    "name", [b"caf\xe9.stead", b"a:b %20#?.stead", b'n\nl "q" [x].stead', "日本 \u202e.stead".encode()]
)
def test_a_log_of_a_file_of_any_name_is_one(name: bytes) -> None:
    path = os.fsdecode(name)
    Path("desk.stead").rename(path)
    for target, source in (("log", path), ("whole", str(Path(path).absolute()))):
        assert run("log", target, source) == 1
        log = json.loads(Path(target).read_text(encoding="utf-8"))
        jsonschema.validate(log, SCHEMA)
        place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        url = urlsplit(place)
        assert (url.query, url.fragment, url.netloc) == ("", "", "")
        assert unquote_to_bytes(url.path) == os.fsencode(source)
    assert run("report", "report.html", path) == 1
