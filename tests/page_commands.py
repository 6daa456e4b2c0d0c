"""Commands that a page shows and the tests do not run: what can be said of them by reading.

One decision: programs are listed. What a page may ask of its reader is an interface, and a program that is
not listed is rather a misspelt one.
"""

from __future__ import annotations

import importlib.util
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

from stead_sym.cli.parser import whole_parser
from stead_sym.errors import InputError

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = frozenset(
    (
        *(
            ".ci/peers.sh",
            ".ci/run",
            ".ci/site",
            "./pan",
            "NuSMV",
            "[",
            "bash",
            "cat",
            "cd",
            "code",
            "cp",
            "docker",
        ),
        *(
            "export",
            "gcc",
            "git",
            "hadolint",
            "jq",
            "lint-imports",
            "mkdir",
            "mkdocs",
            "mypy",
            "npm",
            "npx",
            "pip",
            "psql",
        ),
        *(
            "pytest",
            "python",
            "python3",
            "rm",
            "ruff",
            "source",
            "stead-sym",
            "storm",
            "tee",
            "twine",
            "vllm",
        ),
    )
)
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "optional-dependencies"
].keys()
NOT_YET_THERE = frozenset(["build", "venv"])
"""Modules that a page may run where the tests lack them."""


def not_commands(text: str) -> Iterator[str]:
    """Return what is wrong with the commands of a block "sh"."""
    for line in text.replace("\\\n", " ").splitlines():
        reading = shlex.shlex(re.sub(r"(^|\s)#.*", "", line), posix=True, punctuation_chars=True)
        reading.commenters = ""  # `#` within a word is no comment
        reading.whitespace_split = True
        for words in _simple(list(reading)):
            program = words[0].removeprefix(".venv/bin/")
            if program not in PROGRAMS:
                yield f"an unknown program: {program}"
            elif program == "stead-sym":
                yield from not_options(words[1:])
            elif program in ("python", "python3") and words[1:2] and words[1].endswith(".py"):
                if not (ROOT / words[1]).is_file():
                    yield f"no such program: {words[1]}"
            elif program in ("python", "python3") and words[1:2] == ["-m"]:
                if words[2] not in NOT_YET_THERE and importlib.util.find_spec(words[2]) is None:
                    yield f"no such module: {words[2]}"
            elif program == "pip":
                extras = {
                    e for word in words for group in re.findall(r"\[(.*?)\]", word) for e in group.split(",")
                }
                if unknown := extras - EXTRAS:
                    yield f"no such extra: {', '.join(unknown)}"


def _simple(words: list[str]) -> Iterator[list[str]]:
    """The simple commands of a line, without redirections and assignments."""
    here: list[str] = []
    skip = False
    for word in [*words, ";"]:
        if skip:
            skip = False
        elif set(word) <= set(";&|()"):
            if here:
                yield here
            here = []
        elif set(word) <= set("<>"):
            skip = True
            if here and here[-1] in ("1", "2"):
                here.pop()
        elif here or not re.match(r"\w+=", word):
            here.append(word)


def not_options(words: list[str]) -> Iterator[str]:
    """Return what `stead-sym` does not understand of these arguments."""
    try:
        whole_parser().parse_args(words)
    except InputError as error:
        yield f"stead-sym {' '.join(words)}: {error}"
    except SystemExit:  # --help and --version
        pass
