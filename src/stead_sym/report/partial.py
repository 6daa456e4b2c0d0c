"""The known verdicts of a verification that has ended early.

One decision: a verdict is passed on as finished data and finished text as soon as it is established. Printing
it then requires neither the deployment nor an engine, which may no longer exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from rich.console import Console

from stead_sym.evidence.document import Json
from stead_sym.evidence.moves import Moves
from stead_sym.report.data import verdict_data
from stead_sym.report.verdicts import print_evidence, verdict_row, verdict_table
from stead_sym.verification.verdict import Verdict, expectation, not_as_expected, verdict_line


@dataclass(frozen=True, slots=True)
class KnownVerdict:
    """A verdict as it is printed.

    ``shown`` is what shows it in a few words, and its scope; ``evidence`` is printed below the table, and
    ``data`` is its part of the report. ``established``: there is a verdict; otherwise it is open.
    """

    spec: str
    established: bool
    shown: str
    evidence: str
    data: Mapping[str, Json]

    @property
    def word(self) -> str:
        """The word `holds`, `fails` or `unknown`; vacuity is unknown before the findings."""
        return str(self.data["verdict"])

    @property
    def remarks(self) -> tuple[str, ...]:
        """The reason of an unknown verdict, the expected one, and the scope."""
        scope = self.data["scope"]
        assert isinstance(scope, list)
        return str(self.data["reason"]), expectation(self.word, self._expected), *map(str, scope)

    @property
    def not_as_expected(self) -> bool:
        """True if the specification is decided, and not as expected."""
        return not_as_expected(self.word, self._expected)

    @property
    def _expected(self) -> str | None:
        said = self.data.get("expected")
        return None if said is None else str(said)


def message(
    verdict: Verdict, moves: Moves | None, console: Console | None, *, established: bool = True
) -> dict[str, Json]:
    """Return the verdict as JSON, to be passed on.

    It is the text as printed on ``console``, or if that is None, the evidence as data, which ``moves``
    completes.
    """
    text = ""
    if console is not None:
        with console.capture() as printed:
            print_evidence(verdict, moves, console)
        text = printed.get()
    data = verdict_data(verdict, moves if console is None else None).data()
    return asdict(KnownVerdict(verdict.spec, established, verdict_row(verdict)[-1], text, data))


def known_verdicts(messages: Iterable[Mapping[str, Json]], reason: str) -> tuple[KnownVerdict, ...]:
    """Return the verdicts of the messages; ``reason`` is why the others are missing."""
    verdicts: list[KnownVerdict] = []
    for sent in messages:
        verdict = KnownVerdict(**sent)  # type: ignore[arg-type]  # from `message`
        if not verdict.established:
            missing = f"not reached: {reason}"
            verdict = KnownVerdict(verdict.spec, False, missing, "", {**verdict.data, "reason": missing})
        verdicts.append(verdict)
    return tuple(verdicts)


def print_known(verdicts: Sequence[KnownVerdict], console: Console, *, quiet: bool) -> None:
    """Print the table of verdicts with the evidence below it; with ``quiet`` a line for each."""
    if quiet:
        for known in verdicts:
            console.print(verdict_line(known.spec, known.word, known.remarks), soft_wrap=True)
        return
    console.print(verdict_table([(known.spec, known.word, known.shown) for known in verdicts], console))
    for known in verdicts:
        console.file.write(known.evidence)
