"""All rows behind the scaling figure, the figure itself, and the table of its page, in one command.

    python benchmarks/scaling.py --full             hours, most of them explicit search at its limit
    python benchmarks/scaling.py --small            a minute, into build/benchmarks
    python benchmarks/scaling.py --plot             the figure and the table again, from the rows

One decision: the rows are kept in a file next to the figure, each session of them under a line that
says when, where and how they were made. `--only FAMILY` replaces the rows of that family and keeps the
others.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from runs import SETTINGS, Disagreement, Limits, Row, Run, sweep
from tables import duration, table

ROOT = Path(__file__).resolve().parents[1]
FIGURES = ROOT / "benchmarks" / "figures"
PAGE = ROOT / "docs" / "explanation" / "scaling.md"
_MARKED = re.compile(r"(<!-- written by benchmarks/scaling.py -->\n).*?(<!-- up to here -->)", re.DOTALL)


class Series(NamedTuple):
    """The runs of one family under one policy, for every size in every setting."""

    family: str
    policy: str
    sizes: tuple[int, ...]
    settings: tuple[str, ...] = tuple(SETTINGS)
    specs: tuple[str, ...] = ()

    def groups(self) -> Iterator[list[Run]]:
        """One group of runs for each size."""
        for size in self.sizes:
            yield [Run(self.family, size, self.policy, setting, self.specs) for setting in self.settings]


FULL = (
    Series("desks", "baseline", (1, 2, 3, 4, 8, 16, 32, 64, 128)),
    Series("desks", "approving", (1, 2, 3, 4, 8, 16, 32, 64, 128)),
    Series("refunds", "any", (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)),
    Series("refunds", "any", (1, 2, 3, 4, 5), ("theorem",), ("auth",)),
    Series("service_desk", "careful", (3, 4, 5, 6, 7, 8, 10, 30, 100, 200, 500, 1000)),
)
SMALL = (
    Series("desks", "baseline", (1, 2, 4, 8)),
    Series("desks", "approving", (1, 2, 4, 8)),
    Series("refunds", "any", (1, 2, 3, 4, 6)),
    Series("refunds", "any", (1, 2, 3), ("theorem",), ("auth",)),
    Series("service_desk", "careful", (3, 4, 5, 6, 10, 20)),
)


def session(command: Sequence[str], limits: Limits) -> dict[str, Any]:
    """When, where and how rows are made."""
    return {
        "session": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": shlex.join(["python", "benchmarks/scaling.py", *command]),
        "machine": f"{_processor()}, {os.cpu_count()} cores, {_memory()} GiB, {platform.system()}",
        "limits": {"seconds": limits.seconds, "mib": limits.mib},
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("stead-sym", "dd", "pynauty")},
        },
    }


def _processor() -> str:
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text("utf-8"), re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else platform.processor() or platform.machine()


def _memory() -> int:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)


class RowFile:
    """The rows as JSON lines: sessions, each before the rows that name it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        texts = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        read = [json.loads(text) for text in texts]
        self.sessions: list[Mapping[str, Any]] = [line for line in read if "command" in line]
        self.rows: list[Row] = [line for line in read if "command" not in line]

    def start(self, header: Mapping[str, Any], families: frozenset[str]) -> None:
        """Begin a session that makes all rows of ``families`` anew."""
        self.rows = [row for row in self.rows if row["case"] not in families]
        used = {row["session"] for row in self.rows}
        self.sessions = [*(line for line in self.sessions if line["session"] in used), header]

    def add(self, rows: Sequence[Row]) -> None:
        """Add rows of the last session, and write the file."""
        self.rows += [{**row, "session": self.sessions[-1]["session"]} for row in rows]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lines = []
        for header in self.sessions:
            own = [row for row in self.rows if row["session"] == header["session"]]
            lines += [json.dumps(line, ensure_ascii=False) for line in (header, *own)]
        self.path.write_text("\n".join(lines) + "\n", encoding="utf-8")


class Display:
    """A progress display on stderr: on a terminal a line that is written over, else a line for each run."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()

    def __call__(self, run: Run, text: str) -> None:
        if self._terminal:
            print(f"\r\x1b[K{run}: {text}"[:110], end="", file=sys.stderr, flush=True)
        elif not text:
            print(f"{run} …", file=sys.stderr, flush=True)

    def done(self, row: Row) -> None:
        run = Run(row["case"], row["size"], row["policy"], row["setting"], tuple(row["specs"]))
        match row["outcome"]:
            case "finished":
                text = f"{duration(row['seconds'])}, {row['mib']:,} MiB"
            case "time":
                text = f"stopped after {row['limit']:g} s, {row['reached']}"
            case "memory":
                text = f"stopped above {row['limit']:,} MiB, {row['reached']}"
            case outcome:
                text = outcome
        print(
            f"{chr(13) + chr(27) + '[K' if self._terminal else ''}{run}: {text}", file=sys.stderr, flush=True
        )


def with_table(page: str, rows: Sequence[Row]) -> str:
    """The page with the table of these rows between its marks."""
    if not _MARKED.search(page):
        raise ValueError("the page has no marks for the table")
    return _MARKED.sub(lambda marks: f"{marks[1]}{table(rows)}\n{marks[2]}", page)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "--full", action="store_true", help="all sizes; writes the figure of the documentation"
    )
    which.add_argument("--small", action="store_true", help="small sizes")
    which.add_argument("--plot", action="store_true", help="no runs: the figure from the rows there are")
    parser.add_argument("--only", nargs="+", metavar="FAMILY", choices=sorted({s.family for s in FULL}))
    parser.add_argument("--up-to", type=int, metavar="SIZE", help="leave larger sizes out")
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="of one run (600, small: 5)")
    parser.add_argument("--memory", type=int, metavar="MIB", default=8192, help="of one run (8192)")
    parser.add_argument("--folder", type=Path, help="where rows and figure go")
    words = sys.argv[1:] if arguments is None else list(arguments)
    options = parser.parse_args(words)

    folder = options.folder or (ROOT / "build" / "benchmarks" if options.small else FIGURES)
    kept = RowFile(folder / "scaling.jsonl")
    sound = True
    if not options.plot:
        limits = Limits(options.limit or (600 if options.full else 5), options.memory)
        try:
            sound = _run(kept, _chosen(options), limits, words)
        except KeyboardInterrupt:
            sys.exit(f"\nstopped; the rows so far are in {kept.path}, --plot draws them")
    if not kept.rows:
        sys.exit(f"{kept.path}: no rows; make them with --full or --small")
    from figures import draw  # here and not above, since every run imports this module again

    draw(kept.rows, kept.sessions, folder / "scaling.svg")
    print(table(kept.rows))
    if folder == FIGURES:
        PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), kept.rows), encoding="utf-8")
    return 0 if sound else 1


def _chosen(options: argparse.Namespace) -> list[Series]:
    largest = options.up_to or max(size for series in FULL for size in series.sizes)
    return [
        series._replace(sizes=tuple(size for size in series.sizes if size <= largest))
        for series in (FULL if options.full else SMALL)
        if not options.only or series.family in options.only
    ]


def _run(kept: RowFile, chosen: Sequence[Series], limits: Limits, words: Sequence[str]) -> bool:
    """Make the rows. False where engines disagree, which ends that series, or a run ends without an answer
    and within its limits."""
    kept.start(session(words, limits), frozenset(series.family for series in chosen))
    display = Display()
    sound = True
    for series in chosen:
        try:
            for rows in sweep(series.groups(), limits, display):
                kept.add(rows)
                for row in rows:
                    display.done(row)
                    sound = sound and row["outcome"] != "failed"
        except Disagreement as found:
            kept.add(found.rows)
            print(f"the engines disagree: {found}", file=sys.stderr)
            sound = False
    return sound


if __name__ == "__main__":
    sys.exit(main())
