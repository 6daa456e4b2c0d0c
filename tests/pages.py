"""The pages of the documentation and the README as programs: their blocks run, in the order of the page.

A page is read in a folder of its own. What its blocks do there:

    stead              a whole deployment, written to NAME.stead, or to the file that `title="…"` names
    stead more         items that are added to the deployment above
    diff               hunks, from a line `--- FILE` on, applied to that file
    console            commands after `$ `, and below each what it prints: what goes to stdout, then what goes
                       to stderr, long lines folded; a line `…` stands for any lines. `cd examples` leads to
                       a copy of that folder
    python             runs; what it prints is the block `text` right below it, if there is one. With a title
                       it is written to that file instead
    sh, bash           commands that need what the tests do not have: a model, a server, a fresh environment.
                       They are read, not run: see `page_commands`
    json, toml, yaml, csv, sql
                       are read; with a title they are written to that file
    ebnf, text, html, dockerfile
                       are for people

For a server at localhost:8000 stands one that answers with the first function and the first of all its
arguments. As a program this module writes what is printed into the pages that it is given; look at what has
changed before you keep it.
"""

from __future__ import annotations

import contextlib
import csv
import difflib
import importlib.util
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from chat_server import first_call, serving
from page_commands import not_commands
from processes import said
from stead_sym.cli.main import main

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FOR_PEOPLE = frozenset(["ebnf", "text", "html", "dockerfile"])
SERVER = "localhost:8000"
PAPER = "\\listingheading{User-message template.}\n\\begin{lstlisting}\n%s\n\\end{lstlisting}\n" % (
    "[USERNAME] " * 5 + '\n{"do":"drop","ids":["<an id>"]}'
)
"""Stands for the paper's LaTeX source: a listing with its placeholders."""


@dataclass(frozen=True)
class Block:
    """The text between two fences, the words after the first of them, and the heading above."""

    info: str
    text: str
    heading: str
    line: int
    directly_after: str = ""
    """The kind of the block that this one follows with nothing in between."""

    @property
    def kind(self) -> str:
        """The words without the title."""
        return re.sub(r'\s*title="[^"]*"', "", self.info).strip()

    @property
    def title(self) -> str | None:
        """The name of the file that the block is."""
        found = re.search(r'title="([^"]*)"', self.info)
        return found[1] if found else None


@dataclass(frozen=True)
class Command:
    """A command of a page, and what the page says that it prints."""

    line: str
    output: str

    @property
    def words(self) -> list[str]:
        """The program and its arguments."""
        return shlex.split(re.sub(r"\s#.*", "", self.line))


@dataclass
class Reader:
    """Runs the blocks of a page in the current folder and notes what is not as the page says."""

    name: str
    wrong: list[str] = field(default_factory=list)
    names: dict[str, object] = field(default_factory=lambda: {"__name__": "page"})
    file: str = ""
    status: int = 0
    printed: str | None = None
    renewed: dict[int, str] = field(default_factory=dict)
    """By the line of a block what should stand in it, where that is something else."""

    def read(self, found: Sequence[Block]) -> None:
        """All blocks, one after the other."""
        for block in found:
            printed, self.printed = self.printed, None
            match block.kind:
                case "stead" | "stead more":
                    self._deployment(block)
                case "diff":
                    self._patch(block)
                case "console":
                    self._console(block)
                case "python" if block.title:
                    compile(block.text, f"{self.name}:{block.line}", "exec")
                    Path(block.title).write_text(block.text, encoding="utf-8")
                case "python":
                    out = io.StringIO()
                    with contextlib.redirect_stdout(out):
                        exec(compile(block.text, f"{self.name}:{block.line}", "exec"), self.names)
                    self.printed = out.getvalue()
                case "text" if block.directly_after == "python" and printed is not None:
                    self._compare(block, block.text, printed, "the program above")
                case "sh" | "bash":
                    self.wrong += [f"{self.name}:{block.line}: {text}" for text in not_commands(block.text)]
                case "json" | "toml" | "yaml" | "csv" | "sql":
                    self._data(block)
                case kind if kind in FOR_PEOPLE:
                    pass
                case kind:
                    self.wrong.append(f"{self.name}:{block.line}: a block of an unknown kind: {kind!r}")

    def _deployment(self, block: Block) -> None:
        if block.kind == "stead":
            self.file = block.title or f"{block.text.split('deployment ', 1)[1].split()[0]}.stead"
            text = block.text
        else:
            text = f"{Path(self.file).read_text(encoding='utf-8')}\n{block.text}"
        Path(self.file).write_text(text, encoding="utf-8")

    def _patch(self, block: Block) -> None:
        first, rest = block.text.split("\n", 1)
        path = Path(first.removeprefix("--- "))
        text = path.read_text(encoding="utf-8")
        for hunk in re.split(r"^@@.*\n", rest, flags=re.MULTILINE):
            lines = hunk.splitlines()
            before = "".join(f"{line[1:]}\n" for line in lines if line[:1] in ("", " ", "-"))
            after = "".join(f"{line[1:]}\n" for line in lines if line[:1] in ("", " ", "+"))
            if hunk and text.count(before) != 1:
                self.wrong.append(
                    f"{self.name}:{block.line}: {path} has this {text.count(before)} times:\n{before}"
                )
            elif hunk:
                text = text.replace(before, after)
        path.write_text(text, encoding="utf-8")

    def _data(self, block: Block) -> None:
        if block.kind == "json":
            json.loads(block.text)
        elif block.kind == "toml":
            tomllib.loads(block.text)
        elif block.kind == "csv":
            list(csv.reader(block.text.splitlines(), strict=True))
        elif block.kind == "yaml" and importlib.util.find_spec("yaml"):
            import yaml

            yaml.safe_load(block.text)
        if block.title:
            Path(block.title).parent.mkdir(parents=True, exist_ok=True)
            Path(block.title).write_text(block.text, encoding="utf-8")

    def _console(self, block: Block) -> None:
        shown = []
        for command in commands(block.text):
            out, err = self._run(command)
            lines = folded(out + "".join(f"{line}\n" for line in said(err)))
            fits = alike(command.output.splitlines(), lines)
            shown += [f"$ {command.line}", *(command.output.splitlines() if fits else lines)]
            if not fits:
                self._differ(block, command.output.splitlines(), lines, command.line)
            expected = status_of(command.words, out, err)
            if expected is not None and self.status != expected:
                self.wrong.append(
                    f"{self.name}:{block.line}: {command.line}: status {self.status}, not {expected}"
                )
        if shown != block.text.splitlines():
            self.renewed[block.line] = "\n".join(shown) + "\n"

    def _run(self, command: Command) -> tuple[str, str]:
        words = command.words
        target = None
        if ">" in words:
            *words, _, target = words
        program, *arguments = words
        with stand_in(arguments) as (there, address):
            out, err = (
                text.replace(address, SERVER) if address else text for text in self.program(program, there)
            )
        if target:
            Path(target).write_text(out, encoding="utf-8")
            out = ""
        return out, err

    def program(self, program: str, arguments: list[str]) -> tuple[str, str]:
        """Return what a program prints to stdout and stderr; its status is kept."""
        out, err = io.StringIO(), io.StringIO()
        match program:
            case "stead-sym":
                with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                    try:
                        self.status = main(arguments)
                    except SystemExit as end:
                        self.status = int(end.code or 0)
            case "cd" if arguments == ["examples"]:
                shutil.copytree(ROOT / "examples", "examples", ignore=shutil.ignore_patterns("__pycache__"))
                os.chdir("examples")
            case "cat":
                for name in arguments:
                    out.write(Path(name).read_text(encoding="utf-8"))
            case "ls":
                [folder] = arguments or ["."]
                out.writelines(f"{path.name}\n" for path in sorted(Path(folder).iterdir()))
            case "echo" if arguments == ["$?"]:
                out.write(f"{self.status}\n")
            case "python" | "pytest":
                module = ["-m", "pytest", "-p", "no:cacheprovider"] if program == "pytest" else []
                ended = subprocess.run(
                    [sys.executable, *module, *arguments], capture_output=True, encoding="utf-8", check=False
                )
                self.status = ended.returncode
                return ended.stdout, ended.stderr
            case _:
                self.wrong.append(f"{self.name}: no program of the tests: {program}")
        return out.getvalue(), err.getvalue()

    def _compare(self, block: Block, expected: str, printed: str, what: str) -> None:
        if not alike(expected.splitlines(), printed.splitlines()):
            self._differ(block, expected.splitlines(), printed.splitlines(), what)
            self.renewed[block.line] = printed

    def _differ(self, block: Block, expected: list[str], printed: list[str], what: str) -> None:
        diff = "\n".join(difflib.unified_diff(expected, printed, "the page", what, lineterm="", n=1))
        self.wrong.append(f"{self.name}:{block.line}: {what} prints something else:\n{diff}")


def blocks(page: str) -> Iterator[Block]:
    """The blocks of a page, in their order."""
    last_end, last_kind, heading, line = 0, "", "", 1
    for match in FENCE.finditer(page):
        between = page[last_end : match.start()]
        heading = [heading, *re.findall(r"^#+ (.*)$", between, re.MULTILINE)][-1]
        line += between.count("\n")
        block = Block(match[1], match[2], heading, line, "" if between.strip() else last_kind)
        line += match[0].count("\n")
        last_end, last_kind = match.end(), block.kind
        yield block


def commands(text: str) -> Iterator[Command]:
    """The commands of a block "console"."""
    assert text.startswith("$ "), text
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, output = part.split("\n", 1)
        yield Command(line, output)


def read_page(path: Path) -> Reader:
    """Run a page in a folder of its own; what is wrong with it is in the answer."""
    reader = Reader(path.name)
    found = list(blocks(path.read_text(encoding="utf-8")))
    with tempfile.TemporaryDirectory() as folder:
        programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        given = {"COLUMNS": "80", "XDG_DATA_HOME": f"{folder}/.data", "OPENAI_API_KEY": "none"}
        given["PATH"] = programs
        with (
            contextlib.chdir(folder),
            mock.patch.dict(os.environ, given),
            mock.patch("sys.path", [folder, *sys.path]),
        ):
            Path("paper.tex").write_text(PAPER, encoding="utf-8")
            reader.read(found)
        # A module of this page is not one of the same name of the next.
        for name, module in list(sys.modules.items()):
            if (getattr(module, "__file__", None) or "").startswith(f"{folder}{os.sep}"):
                del sys.modules[name]
    return reader


@contextlib.contextmanager
def stand_in(arguments: list[str]) -> Iterator[tuple[list[str], str]]:
    """The arguments with the address of a server that runs meanwhile in the place of `SERVER`, and that
    address; as they are, and nothing, where none of them asks it."""
    if not any(f"//{SERVER}/" in argument for argument in arguments):
        yield arguments, ""
        return
    with serving(lambda request, _: first_call(request)) as (url, _):
        address = url.removesuffix("/v1")
        yield [argument.replace(SERVER, address) for argument in arguments], address


def status_of(words: list[str], out: str, err: str) -> int | None:
    """The exit status that goes with what a verification prints; None for another command."""
    out = out.replace(" fails: as expected", " holds")
    out = re.sub(r"^(  ✘  \S+ +)fails(?=.*\n +as expected$)", r"\1holds", out, flags=re.MULTILINE)
    if words[:2] != ["stead-sym", "verify"] or not {">", "--json", "--help"}.isdisjoint(words):
        return None
    found = list(verdicts(out).values())
    if not found:  # wrong input, of which the place is told, or a limit
        return 2 if re.search(r"^stead-sym: \S+:\d+:\d+: ", err, re.MULTILINE) else None
    strict = "--strict" in words and bool(
        re.search(r"^findings$|^stead-sym: finding: ", out + err, re.MULTILINE)
    )
    return 1 if "fails" in found or strict else 3 if "unknown" in found else 0


def verdicts(output: str) -> dict[str, str]:
    """The verdicts in what a quiet or a full report prints, by specification."""
    said = r"(holds|fails|unknown(?!:))(?:, of nothing)?(?:[:,] .*)?"
    quiet = re.findall(rf"^(?!stead-sym)(\S.*?) {said}$", output, re.MULTILINE)
    full = re.findall(r"^  [✘✔○?]  (\S+) +(holds|fails|unknown)\b", output, re.MULTILINE)
    return dict([*quiet, *full])


def folded(text: str) -> list[str]:
    """The lines of an output as a page has them."""
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    fold = textwrap.TextWrapper(100, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)
    return [part for line in lines for part in (fold.wrap(line) if len(line) > fold.width else [line])]


def normalised(lines: list[str]) -> list[str]:
    """Without what differs from run to run: the time, and which of alike values a run takes."""
    # with its unit, or as the last column of a table
    timeless = (re.sub(r"\b\d+\.\d+ ?s\b|(?<= )\d+\.\d$", "T s", line) for line in lines)
    timeless = (re.sub(r" +T s$", " T s", line) for line in timeless)
    return [re.sub(r"\b([a-z]+)\d+\b", r"\1N", line).rstrip() for line in timeless]


def alike(expected: list[str], printed: list[str]) -> bool:
    """Return if this was printed, where a line `…` of the page stands for any lines."""
    pattern = "".join(
        "(.*\n)*" if line.strip() == "…" else f"{re.escape(line)}\n" for line in normalised(expected)
    )
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in normalised(printed))) is not None


def renew(path: Path) -> list[str]:
    """Write what the blocks of a page print into it; what is wrong with it besides."""
    text = path.read_text(encoding="utf-8")
    reader = read_page(path)

    def renewed(match: re.Match[str]) -> str:
        line = text.count("\n", 0, match.start()) + 1
        return f"```{match[1]}\n{reader.renewed[line]}```" if line in reader.renewed else match[0]

    path.write_text(FENCE.sub(renewed, text), encoding="utf-8")
    return reader.wrong


if __name__ == "__main__":
    for given in sys.argv[1:]:
        print("\n".join(renew(Path(given))))
