"""docs/decisions.md: its Python runs, and the options that it names are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import stead_sym as st
from stead_sym.cli.main import main

PAGE = (Path(__file__).parents[1] / "docs" / "decisions.md").read_text(encoding="utf-8")


def test_the_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    [code] = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    exec(compile(code, "decisions.md", "exec"), {})
    first, second = capsys.readouterr().out.splitlines()
    assert re.search(r" 0 of \d+$", first)
    assert second.startswith("Unforced(agreed=0, ")


def test_the_prompt_is_made_from_the_files_of_the_table(tmp_path: Path) -> None:
    desk = st.load("refund")
    table = re.findall(r"^\| `(\w+\.(?:txt|json))` \|", PAGE, re.MULTILINE)
    texts = {"calls.json": '{"ingest_case": "take the next case"}'}
    [texts["user.txt"]] = re.findall(r"^```text\n(You decide.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    texts["user.txt"] += "[TOOL SCHEMAS]\n"
    for name in table:
        (tmp_path / name).write_text(texts.get(name, f"what {name} says"), encoding="utf-8")
    decided = [context for context, _ in st.verify(desk, "baseline").decisions]
    [context] = [c for c in decided if [call.tool for call in c.calls] == ["ingest_case"]]
    system, user = st.Prompt.of(desk, tmp_path).messages(context)
    assert system.content == "what system.txt says"
    assert user.content.startswith(
        "You decide about refunds. The rules:\nwhat policy.txt says\n\nThe database: {"
    )
    assert user.content.endswith("Write one of these lines:\ntake the next case\nwhat tools.json says")


def test_the_options_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    named = set(re.findall(r"--[a-z]+[a-z-]*", PAGE))
    assert {"--min-mass", "--min-probability", "--temperature", "--tolerance", "--replay"} <= named
    with pytest.raises(SystemExit):
        main(["verify", "--help"])
    assert named <= set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
