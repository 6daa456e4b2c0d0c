"""A bug is a bug: an exception that nothing expected has a status of its own, and its stack trace."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest

from described import assert_described
from processes import said
from stead_sym.cli.main import main


def broken(*arguments, **options):
    raise KeyError("case4")


def test_a_bug_has_status_4_and_keeps_its_trace(capfd, monkeypatch):
    monkeypatch.setattr("stead_sym.verification.request.load", broken)
    assert main(["verify", "refund"]) == 4
    printed = capfd.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("Traceback (most recent call last):")
    assert printed.err.splitlines()[-1].startswith("stead-sym: a bug in stead-sym: KeyError: 'case4'; ")


@pytest.mark.parametrize(
    ("module", "name"), [("stead_sym.cli.verify", "verify"), ("stead_sym.cli.verify", "add_verify")]
)
def test_a_bug_as_json_is_an_object(module, name, capsys, monkeypatch):
    """While it verifies, and before the arguments are parsed."""
    monkeypatch.setattr(f"{module}.{name}", broken)
    assert main(["verify", "refund", "--json"]) == 4
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert_described(report)
    assert "KeyError: 'case4'" in report["error"]
    assert "Traceback" in printed.err
    assert printed.err.splitlines()[-1] == f"stead-sym: {report['error']}"


posix = pytest.mark.skipif(os.name != "posix", reason="takes a POSIX system")


@posix
@pytest.mark.parametrize("where", ["request_of", "verify", "report_data"])
def test_a_bug_in_the_child_process_is_the_same_bug(where, tmp_path):
    """The child reads, verifies, and prints: whatever of it breaks."""
    (tmp_path / "sitecustomize.py").write_text(
        textwrap.dedent(f"""
        import sys
        if sys.argv[0] == "-c":  # the child
            import stead_sym.cli.verify
            def broken(*arguments, **options):
                raise KeyError("case4")
            stead_sym.cli.verify.{where} = broken
        """)
    )
    ended = subprocess.run(
        [sys.executable, "-m", "stead_sym", "verify", "refund", "--policy", "baseline", "--json"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert ended.returncode == 4
    assert "KeyError: 'case4'" in json.loads(ended.stdout)["error"]
    assert ended.stderr.count("Traceback") == 1


@posix
def test_a_child_that_does_not_come_up_is_a_bug_too(tmp_path):
    """Python itself ends with status 1, which would say that a specification fails."""
    (tmp_path / "sitecustomize.py").write_text("import sys, os\nif sys.argv[0] == '-c':\n    os._exit(1)\n")
    ended = subprocess.run(
        [sys.executable, "-m", "stead_sym", "verify", "refund", "--json"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert ended.returncode == 4
    assert "has ended before it had an answer" in json.loads(ended.stdout)["error"]


@posix
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="takes a device that is always full")
@pytest.mark.parametrize("arguments", [["show", "refund"], ["verify", "refund", "--policy", "approving"]])
def test_a_full_disk_is_no_verdict(arguments):
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "stead_sym", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode == 2
    [line] = said(ended.stderr)
    assert line.startswith("stead-sym: the output cannot be written (No space left on device)")


def test_errors_that_are_expected_are_none(capsys):
    assert main(["verify", "nothing", "--json"]) == 2
    assert "bug" not in capsys.readouterr().out


def test_the_help_lists_every_status(capsys):
    for arguments in (["--help"], ["verify", "--help"]):
        with pytest.raises(SystemExit):
            main(arguments)
        assert "3 unknown, 4 a bug" in " ".join(capsys.readouterr().out.split())


def test_ctrl_c_is_no_bug(monkeypatch, capsys):
    def interrupted(*arguments, **options):
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        monkeypatch.setattr("stead_sym.verification.request.load", interrupted)
        assert main(["verify", "refund", "--json"]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr() == ("", "stead-sym: interrupted\n")
