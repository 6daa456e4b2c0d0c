"""The lines of the setting `stead_files`: the deployments to test, and their agents.

One decision: after the pattern a line has options as `stead-sym verify` takes them, so that tests and the
command line use the same words.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from stead_sym.agents.prompts.paper import is_paper
from stead_sym.analyses.bounds import LIMIT
from stead_sym.cli.agent_options import add_agents, add_model_options
from stead_sym.cli.agents import refuse_without_model
from stead_sym.cli.numbers import positive, probability
from stead_sym.cli.options import add_domain, add_formulas, add_harness, add_specs
from stead_sym.errors import InputError

SETTING = "stead_files"


@dataclass(frozen=True, slots=True)
class Line:
    """One line: a pattern for paths below ``root``, and the words of the options after it."""

    root: Path
    pattern: str
    words: tuple[str, ...]

    def fits(self, path: Path) -> bool:
        """Return True if the line is for the file."""
        return path in self.root.glob(self.pattern)

    @property
    def name(self) -> str:
        """The options as they appear in the name of a test: `policy approving`."""
        return " ".join(word.removeprefix("--") for word in self.words)


def read_lines(root: Path, lines: Sequence[str]) -> Iterator[Line]:
    """Yield the lines of the setting. Raises `InputError`."""
    for line in lines:
        try:
            words = shlex.split(line, comments=True)
        except ValueError as error:
            raise InputError(f"{SETTING}: {line!r}: {error}; close the quote") from None
        if not words:
            continue
        pattern, *options = words
        if pattern.startswith("-"):
            raise InputError(f"{SETTING}: {line!r} starts with an option; write the path of a file before it")
        if Path(pattern).is_absolute() or ".." in Path(pattern).parts:
            raise InputError(
                f"{SETTING}: {pattern} is not below the folder of the settings; write it from there"
            )
        if not any(path.suffix == ".stead" for path in _found(root, pattern)):
            raise InputError(
                f"{SETTING}: {root / pattern}: there is no such .stead file; mend the line or remove it"
            )
        parse(options, root)
        yield Line(root, pattern, tuple(options))


def _found(root: Path, pattern: str) -> Iterator[Path]:
    """Yield the files that match the pattern; `InputError` if it is none."""
    try:
        yield from root.glob(pattern)
    except (IndexError, ValueError):  # such as for an empty one, or a `**` that is not a whole part
        raise InputError(f"{SETTING}: {pattern!r} is no pattern; write the path of a file") from None


def parse(words: Sequence[str], root: Path) -> argparse.Namespace:
    """Parse the words, with paths from ``root``. Raises `InputError`."""
    parser = _Parser(prog=SETTING, allow_abbrev=False, add_help=False)
    add_agents(parser)
    add_model_options(parser)
    add_specs(parser)
    add_harness(parser)
    add_formulas(parser)
    add_domain(parser, "")
    parser.add_argument("--min-mass", type=probability)
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--max-bound", type=positive, default=LIMIT)
    options = parser.parse_args(list(words))
    refuse_without_model(options)
    if options.store is not None:
        raise InputError(f"{SETTING}: decisions are kept beside the file that they are of; leave out --store")
    if options.prompts is not None and not is_paper(options.prompts):
        options.prompts = str(root / options.prompts)
    options.replay = [_from(root, word) for word in options.replay or ()] or None
    options.quiet = True
    options.file = ""  # pytest has collected it
    return options


def _from(root: Path, word: str) -> str:
    """Return the file of `--replay [AGENT=]FILE`, from ``root``; a name of the package is unchanged."""
    agent, equals, file = word.rpartition("=")
    return f"{agent}{equals}{root / file}" if (root / file).is_file() else word


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InputError(f"{self.prog}: {message}; `stead-sym verify --help` has the options")
