"""`stead-sym conform` as people run it."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

import stead_sym
from stead_sym.cli.main import main

_SRC = Path(stead_sym.__file__).parents[1]
_DESK = Path(__file__).resolve().parents[1] / "conform" / "case_desk.py"


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(_DESK.parent)
    import case_desk as desk

    (tmp_path / "desk.stead").write_text(desk.FILE)
    (tmp_path / "bound.py").write_text(
        "import case_desk\nbinding = case_desk.binding()\n"
        "weak = case_desk.binding(approve=case_desk.approve_one_own)\n"
        "loud = case_desk.binding(approve=lambda connection, r, s: print('!') or"
        " case_desk.approve(connection, r, s))\n"
    )
    (tmp_path / "broken.py").write_text("1 / 0")
    monkeypatch.delitem(__import__("sys").modules, "bound", raising=False)


def test_agreement_a_difference_and_a_limit_have_statuses_of_their_own(capsys):
    assert main(["conform", "desk.stead", "--binding", "bound"]) == 0
    assert "agree on all databases" in " ".join(capsys.readouterr().out.split())
    assert main(["conform", "desk.stead", "--binding", "bound:weak", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    [difference] = found["differences"]
    assert difference["kind"] == "not refused"
    assert difference["expected"] == [difference["before"]]
    assert main(["conform", "desk.stead", "--binding", "bound", "--max-states", "2"]) == 3


def test_another_database_is_used_and_left_with_its_tables(tmp_path, capsys):
    url = f"sqlite:///{tmp_path}/scratch.db"
    for _ in range(2):  # the second time its tables are there
        assert main(["conform", "desk.stead", "--binding", "bound", "--database", url, "--quiet"]) == 0


def test_another_database_that_holds_data_is_refused(tmp_path, capsys):
    with closing(sqlite3.connect(tmp_path / "mine.db")) as database:
        database.executescript(__import__("case_desk").SCHEMA)
        database.execute("INSERT INTO staff (id) VALUES (7)")
        database.commit()
        url = f"sqlite:///{tmp_path}/mine.db"
        assert main(["conform", "desk.stead", "--binding", "bound", "--database", url, "--quiet"]) == 2
        [line] = capsys.readouterr().err.splitlines()
        assert "the table staff of" in line
        assert database.execute("SELECT id FROM staff").fetchall() == [(7,)]


@pytest.mark.parametrize(
    ("binding", "says"),
    [
        ("nothing_here", "there is no module nothing_here"),
        ("bound:nothing", "has no nothing"),
        ("unbound", "the module unbound has no binding; write one there, `binding = Binding"),
        ("bound:case_desk", "is no Binding"),
        ("broken", "cannot be imported: ZeroDivisionError"),
    ],
)
def test_bad_input_is_one_line(binding, says, capsys, tmp_path):
    (tmp_path / "broken.py").write_text("1 / 0")
    (tmp_path / "unbound.py").write_text("")
    assert main(["conform", "desk.stead", "--binding", binding]) == 2
    [line] = [line for line in capsys.readouterr().err.splitlines() if "exploring" not in line]
    assert says in line


def test_what_a_tool_prints_is_no_part_of_the_report(capsys):
    assert main(["conform", "desk.stead", "--binding", "bound:loud", "--json", "--quiet"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["agrees"]
    assert "!" in printed.err


def test_differences_are_tests_that_fail_until_the_system_is_mended(tmp_path, capsys):
    words = ["conform", "desk.stead", "--quiet", "--test", "test_desk_kept.py", "--binding"]
    assert main([*words, "bound"]) == 0
    assert not (tmp_path / "test_desk_kept.py").exists()
    assert main([*words, "bound:weak"]) == 1
    path = [str(_DESK.parent), str(_SRC), str(tmp_path)]
    run = partial(
        subprocess.run,
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_desk_kept.py"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        capture_output=True,
        text=True,
        check=False,
    )
    failed = run()
    assert failed.returncode == 1, failed.stdout
    assert "the file does not offer it" in failed.stdout
    bound = (tmp_path / "bound.py").read_text()
    (tmp_path / "bound.py").write_text(
        bound.replace("weak = case_desk.binding(approve=case_desk.approve_one_own)", "weak = binding")
    )
    assert run().returncode == 0
    assert main([*words, "bound:weak"]) == 2
    assert "test_desk_kept.py is there already" in capsys.readouterr().err


def test_two_calls_at_the_same_time_are_a_test_too(tmp_path, capsys):
    (tmp_path / "bound_racing.py").write_text(
        "import case_desk, test_concurrent\n"
        "binding = case_desk.binding(pay=test_concurrent.pay_what_it_read)\n"
    )
    words = ["conform", "desk.stead", "--quiet", "--concurrent", "--test", "test_kept.py", "--binding"]
    assert main([*words, "bound_racing"]) == 1
    assert "and, at the same time," in " ".join(capsys.readouterr().out.split())
    text = (tmp_path / "test_kept.py").read_text()
    assert "def test_pay_and_pay_no_order():" in text
    assert "before_step=2" in text
    compile(text, "test_kept.py", "exec")


# verify --conformed


def test_a_verdict_says_on_what_the_system_was_compared(tmp_path, capsys):
    assert main(["conform", "desk.stead", "--binding", "bound", "--json", "--quiet"]) == 0
    (tmp_path / "report.json").write_text(capsys.readouterr().out)
    words = ["verify", "desk.stead", "--quiet", "--formula", "AG true", "--conformed", "report.json"]
    assert main([*words, "--json"]) == 0
    [one] = [
        one
        for one in json.loads(capsys.readouterr().out)["hypotheses"]["all"]
        if one["name"] == "compared with the running system"
    ]
    assert one["status"] == "established"
    assert "states (all that it reaches within its bounds)" in one["how"]
    main([word for word in words if word != "--quiet"])
    assert "compared with the running system on" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda report: report.update(agrees=False), "file and system differ by this report"),
        (lambda report: report.update(deployment="0"), "a different version of the deployment"),
        (lambda report: report["sources"].update({"bound.py": "0"}), "bound.py has changed since"),
        (lambda report: report["sources"].update({"gone.py": "0"}), "gone.py cannot be read"),
        (lambda report: report.pop("states"), "not a report of `stead-sym conform --json`"),
    ],
)
def test_a_report_that_is_not_of_this_file_and_system_is_refused(change, says, tmp_path, capsys):
    main(["conform", "desk.stead", "--binding", "bound", "--json", "--quiet"])
    report = json.loads(capsys.readouterr().out)
    change(report)
    (tmp_path / "report.json").write_text(json.dumps(report))
    assert main(["verify", "desk.stead", "--quiet", "--conformed", "report.json"]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert says in line


def test_the_report_has_the_digests_of_the_binding_and_of_the_tools(capsys):
    main(["conform", "desk.stead", "--binding", "bound", "--json", "--quiet"])
    sources = json.loads(capsys.readouterr().out)["sources"]
    assert "bound.py" in sources
    assert _DESK.as_posix() in sources


def test_what_a_program_that_a_tool_starts_prints_is_no_part_of_the_report(tmp_path):
    (tmp_path / "loud.py").write_text(
        "import case_desk, os, subprocess\n"
        "def pay(connection, r):\n"
        "    os.write(1, b'raw')\n"
        "    subprocess.run(['echo', 'loud'], check=True)\n"
        "    return case_desk.binding().tools['pay'](connection, r)\n"
        "binding = case_desk.binding(pay=pay)\n"
    )
    ended = subprocess.run(
        [
            sys.executable,
            "-m",
            "stead_sym",
            "conform",
            "desk.stead",
            "--binding",
            "loud",
            "--json",
            "--quiet",
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(_DESK.parent), str(_SRC)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert set(json.loads(ended.stdout)["tools"]) >= {"pay"}
    assert "rawloud" in ended.stderr


def test_a_tool_that_hangs_is_stopped(tmp_path):
    (tmp_path / "hanging.py").write_text(
        "import case_desk, threading\nbinding = case_desk.binding(pay=lambda r: threading.Event().wait())\n"
    )
    words = ["conform", "desk.stead", "--binding", "hanging", "--timeout", "5"]
    ended = subprocess.run(
        [sys.executable, "-m", "stead_sym", *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(_DESK.parent), str(_SRC)])},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == 3
    assert "stopped at the limit of 5 s (--timeout)" in ended.stderr


def test_a_report_is_refused_when_the_sql_of_the_system_has_changed(tmp_path, capsys):
    """The binding reads schema and tools as it likes, and tools read files of their own."""
    (tmp_path / "files.py").write_text(
        "from pathlib import Path\nimport case_desk\nfrom dataclasses import replace\n"
        "HERE = Path(__file__).parent\n"
        "def pay(connection, r):\n"
        "    (HERE / 'log.txt').open('a').write('paid')\n"
        "    (HERE / 'log.txt').read_text()\n"
        "    connection.exec_driver_sql((HERE / 'pay.sql').read_text(), (r,))\n"
        "binding = case_desk.binding(pay=pay)\n"
        "binding = replace(binding, schema=open('schema.sql').read())\n"
    )
    (tmp_path / "schema.sql").write_text(__import__("case_desk").SCHEMA)
    (tmp_path / "pay.sql").write_text(
        "UPDATE refunds SET state = 'paid' WHERE id = ? AND state = 'in review' AND approved_by IS NOT NULL"
    )
    assert main(["conform", "desk.stead", "--binding", "files", "--json", "--quiet"]) == 0
    report = capsys.readouterr().out
    (tmp_path / "report.json").write_text(report)
    assert {"files.py", "schema.sql", "pay.sql"} < set(json.loads(report)["sources"])
    assert "log.txt" not in json.loads(report)["sources"]
    words = ["verify", "desk.stead", "--agent", "any", "--conformed", "report.json", "--quiet"]
    assert main(words) == 0
    capsys.readouterr()
    for name in ("schema.sql", "pay.sql"):
        text = (tmp_path / name).read_text()
        (tmp_path / name).write_text(text + " ")
        assert main(words) == 2
        assert f"{name} has changed since the comparison" in capsys.readouterr().err
        (tmp_path / name).write_text(text)


def test_the_report_has_the_digests_of_the_whole_package_and_of_nothing_that_is_installed(tmp_path, capsys):
    """The binding is elsewhere, and the tool is a part of a function of one folder of the application."""
    for folder in ("shop_app", "shop_app/tools", "shop_app/db", "checks"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").write_text("")
    (tmp_path / "shop_app/db/rows.py").write_text("ROWS = ()\n")
    (tmp_path / "shop_app/tools/pay.py").write_text(
        "from shop_app.db import rows\ndef pay(how, connection, r):\n    how(connection, r)\n"
    )
    (tmp_path / "checks/partly.py").write_text(
        "from functools import partial\nimport case_desk\nfrom shop_app.tools.pay import pay\n"
        "binding = case_desk.binding(pay=partial(pay, lambda connection, r: None))\n"
    )
    main(["conform", "desk.stead", "--binding", "checks.partly", "--json", "--quiet"])
    sources = json.loads(capsys.readouterr().out)["sources"]
    assert {"checks/partly.py", "shop_app/tools/pay.py", "shop_app/db/rows.py"} <= set(sources)
    assert not [name for name in sources if "functools" in name or "site-packages" in name]
