"""The examples of `docs/language.md`, and what running them prints.

A block "stead" is a whole deployment, and a block "stead more" adds items to the one before it. A block "csv
orders.csv" is a file of that name, which lies beside every deployment. A block "console" is a command on the
deployment above it, whose file has its name, with what the command prints: first what goes to stdout, then
what goes to stderr, lines that are long for a page folded. Run as a program this module writes these outputs
into the page; look at what has changed before you keep it.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from stead_sym.cli.main import main

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "language.md"
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """What stands between two fences, the words after the first of them, and the heading above."""

    kind: str
    text: str
    heading: str
    line: int


@dataclass(frozen=True)
class Session:
    """A command on a deployment, and what the page says that it prints."""

    name: str
    file: str
    command: str
    output: str

    @property
    def words(self) -> list[str]:
        """The arguments of the command."""
        program, *words = shlex.split(self.command)
        assert program == "stead-sym", self.command
        return words


def blocks(page: str) -> Iterator[Block]:
    """The blocks of a page, in their order."""
    for match in FENCE.finditer(page):
        before = page[: match.start()]
        heading = re.findall(r"^#+ (.*)$", FENCE.sub("", before), re.MULTILINE)[-1]
        yield Block(match[1], match[2], heading, before.count("\n") + 1)


def sessions(page: str) -> Iterator[Session]:
    """The commands of a page, each with the deployment above it."""
    file, name = "", ""
    for block in blocks(page):
        if block.kind == "stead":
            file = block.text
            name = file.split()[1]
        elif block.kind == "stead more":
            file = f"{file}\n{block.text}"
        elif block.kind == "console":
            prompt, output = block.text.split("\n", 1)
            assert file, f"line {block.line}: a command before any deployment"
            assert prompt.startswith(f"$ stead-sym verify {name}.stead"), f"line {block.line}: {prompt}"
            yield Session(name, file, prompt.removeprefix("$ "), output)


def write_files(page: str, folder: Path) -> None:
    """The files of the page that are no deployments."""
    for block in blocks(page):
        kind, _, name = block.kind.partition(" ")
        if kind == "csv":
            (folder / name).write_text(block.text, encoding="utf-8")


def run(session: Session, more: Sequence[str] = ()) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of a command, with further arguments, in a folder with its file."""
    out, err = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        write_files(PAGE.read_text(encoding="utf-8"), Path(folder))
        Path(folder, f"{session.name}.stead").write_text(session.file, encoding="utf-8")
        with (
            contextlib.chdir(folder),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            columns = os.environ.get("COLUMNS")
            os.environ["COLUMNS"] = "80"
            try:
                status = main([*session.words, *more])
            finally:
                del os.environ["COLUMNS"]
                if columns is not None:
                    os.environ["COLUMNS"] = columns
    return status, out.getvalue(), err.getvalue()


def folded(text: str) -> list[str]:
    """The lines of an output as the page has them."""
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    fold = textwrap.TextWrapper(100, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)
    return [part for line in lines for part in (fold.wrap(line) if len(line) > fold.width else [line])]


def normalised(lines: list[str]) -> list[str]:
    """Without what differs from run to run: the time."""
    return [re.sub(r"\d+\.\d+ s\b", "T s", line) for line in lines]


def _write() -> None:
    page = PAGE.read_text(encoding="utf-8")
    found = sessions(page)

    def renewed(match: re.Match[str]) -> str:
        if match[1] != "console":
            return match[0]
        session = next(found)
        _, out, err = run(session)
        lines = folded(out + err)
        if normalised(lines) == normalised(session.output.splitlines()):
            return match[0]
        return "\n".join(["```console", f"$ {session.command}", *lines, "```"])

    PAGE.write_text(FENCE.sub(renewed, page), encoding="utf-8")


if __name__ == "__main__":
    _write()
