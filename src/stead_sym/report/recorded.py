"""A report of `verify --json` read back, as far as reports are compared.

One decision: what is read is checked where it is read, and what is not read is not looked at, so that reports
of other versions can be compared. A report of an error or of an interrupted run is a report too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from stead_sym.errors import InputError
from stead_sym.verification.verdict import OF_NOTHING

T = TypeVar("T")

COUNTS = ("initial", "states", "transitions", "contexts", "queries")
_WORDS = ("holds", "fails", "unknown")


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """One step of a run, as text; ``agent`` None: an event."""

    call: str
    agent: str | None
    added: tuple[str, ...]
    removed: tuple[str, ...]

    @property
    def label(self) -> str:
        """The call with who makes it, where that is not plain."""
        if self.agent is None:
            return f"{self.call}, an event"
        return f"{self.agent}: {self.call}" if self.agent else self.call


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run: the facts it starts with, its steps, and after how many of them the loop begins, if there is
    one."""

    start: tuple[str, ...] = ()
    steps: tuple[RecordedStep, ...] = ()
    loop: int | None = None


@dataclass(frozen=True, slots=True)
class RecordedVerdict:
    """One verdict, as it is said, with its formula, its scope and the run that shows it."""

    word: str
    formula: str
    reason: str
    run: RecordedRun
    scope: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Context:
    """A canonical decision context of one agent, as text."""

    agent: str
    facts: tuple[str, ...]
    offered: tuple[str, ...]

    def __str__(self) -> str:
        facts = f"{{ {', '.join(self.facts)} }}" if self.facts else "{ }"
        who = f"{self.agent} in " if self.agent else ""
        return f"{who}{facts} offering {', '.join(self.offered)}"


@dataclass(frozen=True, slots=True)
class Choice:
    """What an agent selected in a context; ``margin`` is that of a language model's decision, if it has
    one."""

    selected: tuple[str, ...]
    margin: float | None = None


@dataclass(frozen=True, slots=True)
class RecordedFinding:
    """A finding without its place, which moves with the lines of a file."""

    kind: str
    text: str
    spec: str | None

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


@dataclass(frozen=True)
class Recorded:
    """One report. ``error`` is the line of a run that ended in one, ``specs`` are the verdicts that it has.

    ``sorts`` are the unbounded sorts, whose values outside C have names like `case3`. ``active`` has the
    bound and the most active values of each sort, as text.
    """

    source: str
    error: str | None
    deployment: str | None
    agents: Mapping[str, str]
    domain: Mapping[str, int]
    active: Mapping[str, str]
    sorts: frozenset[str]
    counts: Mapping[str, int]
    specs: Mapping[str, RecordedVerdict]
    choices: Mapping[Context, Choice] = field(default_factory=dict)
    hypotheses: Mapping[str, str] = field(default_factory=dict)
    findings: frozenset[RecordedFinding] = frozenset()

    @property
    def least_margin(self) -> str | None:
        """The least margin of a decision, as text; None where no decision has one."""
        margins = [choice.margin for choice in self.choices.values() if choice.margin is not None]
        return f"{min(margins):.4g}" if margins else None

    def word(self, spec: str) -> str | None:
        """What is said of a specification; `unknown` where the run has ended before it had a verdict, None
        where it was not asked for."""
        if spec in self.specs:
            return self.specs[spec].word
        return "unknown" if self.error is not None else None


def read_report(data: object, source: str) -> Recorded:
    """The report that ``data`` is; `InputError` with the place where it is none."""
    report = _Part(data, source, "")
    found = report.mapping()
    if "error" not in found and not {"specs", "decisions"} <= found.keys():
        raise InputError(f"{source}: no report of a verification; give what `stead-sym verify --json` prints")
    derivation = report.items("derivation")
    return Recorded(
        source=source,
        error=report["error"].optional(_Part.text),
        deployment=report["deployment"].optional(_Part.text),
        agents={name: part["agent"].text() for name, part in report.items("agents").items()},
        domain={name: part.number() for name, part in report.items("domain").items()},
        active={
            name: f"{part['most'].number()} of {part['bound'].number()}"
            for name, part in report["hypotheses"].items("activity").items()
        },
        sorts=frozenset(sort for sort, part in derivation.items() if part["finite"].value is not True),
        counts={name: report[name].number() for name in COUNTS if report[name].value is not None},
        specs={name: _verdict(part) for name, part in report.items("specs").items()},
        choices=dict(map(_choice, report.parts("decisions"))),
        hypotheses={part["name"].text(): part["status"].text() for part in report["hypotheses"].parts("all")},
        findings=frozenset(map(_finding, report.parts("findings"))),
    )


class _Part:
    """A part of the data with the place where it stands. What is absent or null is a part whose value is
    None."""

    def __init__(self, value: Any, source: str, path: str) -> None:
        self.value = value
        self._source = source
        self._path = path

    def __getitem__(self, name: str) -> _Part:
        return self._below(name, self.mapping().get(name))

    def items(self, name: str) -> Mapping[str, _Part]:
        """The entries of the object of that name; none where it is absent."""
        part = self[name]
        return {key: part._below(key, value) for key, value in part.mapping().items()}

    def parts(self, name: str) -> Sequence[_Part]:
        """The elements of the list of that name; none where it is absent."""
        part = self[name]
        if part.value is None:
            return ()
        if not isinstance(part.value, list):
            raise part._wrong("a list")
        return [part._below(str(index), value) for index, value in enumerate(part.value)]

    def mapping(self) -> Mapping[str, Any]:
        """The object that it is; an empty one where it is absent."""
        if self.value is None and self._path:
            return {}
        if not isinstance(self.value, dict):
            raise self._wrong("an object")
        return self.value

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self._wrong("text")
        return self.value

    def word(self) -> str:
        """The word of a verdict."""
        if self.value not in _WORDS:
            raise self._wrong("holds, fails or unknown")
        return self.text()

    def number(self) -> int:
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self._wrong("a whole number")
        return self.value

    def decimal(self) -> float:
        if not isinstance(self.value, int | float) or isinstance(self.value, bool):
            raise self._wrong("a number")
        return self.value

    def texts(self, name: str) -> tuple[str, ...]:
        return tuple(part.text() for part in self.parts(name))

    def optional(self, read: Callable[[_Part], T]) -> T | None:
        """What ``read`` makes of it; None where it is absent."""
        return None if self.value is None else read(self)

    def _below(self, name: str, value: object) -> _Part:
        shown = name if name.isprintable() else ascii(name)
        return _Part(value, self._source, f"{self._path}.{shown}" if self._path else shown)

    def _wrong(self, expected: str) -> InputError:
        place = self._path or "all of it"
        return InputError(
            f"{self._source}: {place} is not {expected}; give what `stead-sym verify --json` prints"
        )


def _verdict(part: _Part) -> RecordedVerdict:
    steps = tuple(map(_step, part.parts("trace")))
    empty = part["empty"].value is True
    return RecordedVerdict(
        OF_NOTHING if empty else part["verdict"].word(),
        part["formula"].text(),
        part["reason"].optional(_Part.text) or "",
        RecordedRun(part.texts("start"), steps, part["loop"].optional(_Part.number)),
        part.texts("scope"),
    )


def _step(part: _Part) -> RecordedStep:
    agent = part["agent"].optional(_Part.text)
    return RecordedStep(part["call"].text(), agent, part.texts("added"), part.texts("removed"))


def _choice(part: _Part) -> tuple[Context, Choice]:
    context = Context(part["agent"].text(), part.texts("facts"), part.texts("offered"))
    return context, Choice(part.texts("selected"), part["margin"].optional(_Part.decimal))


def _finding(part: _Part) -> RecordedFinding:
    return RecordedFinding(part["kind"].text(), part["text"].text(), part["spec"].optional(_Part.text))
