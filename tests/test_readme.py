"""The README is a short page with the two commands, and CONTRIBUTING has the map of the tree."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAP = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    found = [text for kind, text in BLOCKS if kind == language]
    assert found, f"no {language} in the README"
    return found


def test_the_map_names_what_is_there_and_all_of_it() -> None:
    table = MAP.split("| layer | what |")[1].split("\n\n")[0]
    named = {name.rstrip("/") for name in re.findall(r"^\| `([\w.]+)/?` \|", table, re.MULTILINE)}
    package = ROOT / "src" / "stead_sym"
    there = {
        path.name
        for path in package.iterdir()
        if path.name[0] not in "_." and (path.is_dir() or path.suffix == ".py")
    }
    assert there - {"examples", "testing"} == named


@pytest.mark.parametrize("room", ["verification", "analyses", "engines/symbolic"])
def test_the_map_of_a_room_is_the_folder(room: str) -> None:
    table = MAP.split(f"| in `{room}/`, from the top down | what |")[1].split("\n\n")[0]
    cells = re.findall(r"^\| (`[^|]+) \|", table, re.MULTILINE)
    named = [name for cell in cells for name in re.findall(r"`([\w.]+)/?`", cell)]
    assert len(named) == len(set(named))
    folder = ROOT / "src" / "stead_sym" / room
    assert set(named) == {path.name for path in folder.iterdir() if path.name[0] != "_"}


def test_there_are_two_commands_of_one_line() -> None:
    install, test = (block.strip() for block in blocks("sh"))
    assert install.endswith("stead-sym verify refund --policy baseline")
    assert test.endswith("pytest")
    assert "\n" not in install + test


def test_it_is_short_and_the_commands_come_first() -> None:
    lines = README.splitlines()
    assert len(lines) <= 90
    assert lines.index("## Two commands") < 12


def test_the_commands_of_the_container_are_those_of_the_readme() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    install, _ = (block.strip() for block in blocks("sh"))
    words = re.findall(r'"([^"]+)"', dockerfile[dockerfile.index("ENTRYPOINT") :])
    assert install.endswith(" ".join(words))
