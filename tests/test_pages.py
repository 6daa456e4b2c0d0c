"""The documentation says what is so: every block of every page runs, and every link leads somewhere."""

from __future__ import annotations

import re
from argparse import ArgumentParser, _SubParsersAction
from pathlib import Path

import pytest

from page_commands import not_options
from pages import FENCE, ROOT, blocks, read_page
from stead_sym.cli.parser import whole_parser
from stead_sym.verification.findings.finding import ACCEPTABLE, Kind

pytestmark = pytest.mark.gate

DOCS = ROOT / "docs"
PAGES = [*sorted(DOCS.rglob("*.md")), *sorted(ROOT.glob("*.md"))]
"""The pages of the site, and those beside the README."""


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def prose(path: Path) -> str:
    """A page without its blocks."""
    return FENCE.sub("", path.read_text(encoding="utf-8"))


def anchors(path: Path) -> set[str]:
    """Return what a link into a page can name, as GitHub and MkDocs both make it from the headings."""
    headings = re.findall(r"^#+ (.*)$", prose(path), re.MULTILINE)
    plain = (re.sub(r"[^\w -]", "", heading.lower()).strip() for heading in headings)
    return {re.sub(r"[ -]+", "-", heading) for heading in plain} | {
        heading.replace(" ", "-") for heading in plain
    }


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_its_blocks_do_as_it_says(path: Path) -> None:
    assert "\n".join(read_page(path).wrong) == ""


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_every_fence_is_closed(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(re.findall(r"^\s*```", text, re.MULTILINE)) == 2 * len(list(blocks(text)))


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_its_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", prose(path))):
        if re.match(r"https?:", target):
            continue
        file, _, anchor = target.partition("#")
        there = (path.parent / file).resolve() if file else path
        assert there.is_file(), f"{target}: no such file"
        assert there.is_relative_to(ROOT), target
        if anchor and there.suffix == ".md":
            assert anchor in anchors(there), f"{target}: no such heading"


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_the_commands_in_its_text_are_the_program_s(path: Path) -> None:
    """`stead-sym COMMAND … --option` in the text: the command and its options are there."""
    for line in re.findall(r"`(stead-sym [^`]+)`", prose(path)):
        _, command, *words = line.split()
        if re.fullmatch(r"--\w+|COMMAND", command) or re.fullmatch(r"\d+", "".join(words)):
            continue  # no command, or the name of a format
        parser = whole_parser()
        for word in (command, *words):  # the command, and the command of a command: `models audit`
            if not (known := _commands_of(parser)) or word.startswith("--"):
                break
            one_of = word.split("|")  # `get|list`: either
            assert set(one_of) <= known.keys(), line
            parser = known[one_of[0]]
        options = {option for action in parser._actions for option in action.option_strings}
        given = {word.partition("=")[0] for word in words if word.startswith("--")}
        assert given <= options, line


def _commands_of(parser: ArgumentParser) -> dict[str, ArgumentParser]:
    """The commands that a parser has below it, by name."""
    return next((a.choices for a in parser._actions if isinstance(a, _SubParsersAction)), {})


def written(folder: Path, text: str) -> list[str]:
    page = folder / "page.md"
    page.write_text(text, encoding="utf-8")
    return read_page(page).wrong


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("```console\n$ stead-sym verify refund --policy baseline --quiet\nauth holds\n```\n", "auth fails"),
        ("```console\n$ cat nothing\n```\n", None),
        ("```python\nprint(1)\n```\n\n```text\n2\n```\n", "+1"),
        ("```python\nassert False\n```\n", None),
        ("```sh\nstead-sym verify refund --polices baseline\n```\n", "unrecognized arguments"),
        ("```sh\npip install '.[nothing]' && stead-sym --version\n```\n", "no such extra: nothing"),
        ("```sh\nwizard\n```\n", "an unknown program"),
        ("```sh\npython benchmarks/nothing.py\n```\n", "no such program"),
        ("```json\n{\n```\n", None),
        ("```stead\ndeployment one\n```\n\n```diff\n--- one.stead\n-sort s\n```\n", "0 times"),
        ("```ruby\n1\n```\n", "unknown kind"),
    ],
)  # fmt: skip
def test_what_a_page_says_wrongly_is_noticed(tmp_path: Path, text: str, said: str | None) -> None:
    if said is None:
        with pytest.raises((AssertionError, OSError, ValueError)):
            written(tmp_path, text)
    else:
        assert said in "\n".join(written(tmp_path, text))


def test_what_a_page_says_rightly_passes(tmp_path: Path) -> None:
    text = """
```stead
deployment lamp
relation On()
tool press()
  guard ~On()
  effect insert On()
tool rest()
spec dark AG ~On()
```
```stead more
spec once EF On()
```
```console
$ stead-sym verify lamp.stead --agent any --quiet
dark fails: some agent violates this; a specific agent may not
once holds: some agent does this; a specific agent may not
$ echo $?
1
```
```diff
--- lamp.stead
@@ the tool
 tool press()
-  guard ~On()
+  guard ~On() & On()
   effect insert On()
```
```console
$ stead-sym verify lamp.stead --agent any --quiet --findings off > verdicts
$ cat verdicts
…
once fails
```
```python
import stead_sym as st
print(st.load("lamp.stead").name)
```
```text
lamp
```
"""
    assert written(tmp_path, text) == []


def test_options_are_those_of_the_command() -> None:
    assert not list(not_options(["verify", "refund", "--policy", "baseline"]))
    assert list(not_options(["show", "refund", "--policy", "baseline"]))


def test_every_command_is_on_the_page_of_the_command_line() -> None:
    [known] = [action.choices for action in whole_parser()._actions if action.choices]
    page = (DOCS / "reference" / "command-line.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^## (\S+)$", page, re.MULTILINE)) == sorted(known)


def test_every_kind_of_finding_is_on_its_page() -> None:
    page = (DOCS / "reference" / "findings.md").read_text(encoding="utf-8")
    named_there = {
        kind for row in re.findall(r"^\| (\*.*?\*) \|", page, re.MULTILINE) for kind in row.split(", ")
    }
    assert {kind.strip("*") for kind in named_there} == set(Kind.__args__)  # type: ignore[attr-defined]
    listed = page[page.index("What can be accepted is") : page.index("Every other finding")]
    assert {" ".join(kind.split()) for kind in re.findall(r"\*([^*]+)\*", listed)} == ACCEPTABLE
