"""The verdict on one specification."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.deployment.parts import Expected
from stead_sym.deployment.trace import Trace
from stead_sym.errors import Undecided
from stead_sym.evidence.tree import Evidence
from stead_sym.support.html import Displayed, code, paragraph

Word: TypeAlias = Literal["holds", "fails", "unknown"]
Said: TypeAlias = Literal["holds", "holds, of nothing", "fails", "unknown"]
OF_NOTHING: Literal["holds, of nothing"] = "holds, of nothing"
"""The printed form of a vacuous verdict: what the specification is about never happens."""


@dataclass(frozen=True, slots=True)
class Verdict(Displayed):
    """The verdict on one specification; ``formula`` is as it was written.

    ``holds`` is None for `unknown`, with the ``reason``. For a claim of the file that fails, the reason is
    what breaks it, and a remedy. ``evidence`` shows why the sentence has its truth value in the restriction,
    as far as runs and values can: a claim about all runs has none.

    ``scope`` are sentences that qualify the word, if the word alone claims more than is established.
    ``empty``: it holds vacuously, by a finding. ``claim``: the verdict is about a claim of the file, named by
    ``spec``. ``expected`` is the word that the file expects, or None.
    """

    spec: str
    formula: fo.Resolved
    holds: bool | None
    reason: str = ""
    evidence: Evidence | None = None
    scope: tuple[str, ...] = ()
    empty: bool = False
    claim: bool = False
    expected: Expected | None = None

    @property
    def trace(self) -> Trace | None:
        """The most informative run of the evidence, or None if it would only repeat the specification."""
        if self.evidence is None:
            return None
        trace = self.evidence.trace
        return trace if trace.steps or trace.bindings or not self.evidence.root.holds else None

    @property
    def word(self) -> Word:
        """`holds`, `fails` or `unknown`."""
        return "unknown" if self.holds is None else "holds" if self.holds else "fails"

    @property
    def said(self) -> Said:
        """The word, or the printed form of a vacuous verdict."""
        return OF_NOTHING if self.empty else self.word

    @property
    def unexpected(self) -> bool:
        """True if the word differs from the expected one, which is `holds` if the file expects none.

        It is always true for `unknown`.
        """
        return self.word != (self.expected or "holds")

    @property
    def not_as_expected(self) -> bool:
        """True if the specification is decided, and not as expected."""
        return not_as_expected(self.word, self.expected)

    @property
    def remarks(self) -> tuple[str, ...]:
        """The remarks that are not empty: the reason, the expectation, the scope."""
        return tuple(filter(None, (self.reason, expectation(self.word, self.expected), *self.scope)))

    def __str__(self) -> str:
        """Return the verdict in one line."""
        return verdict_line(self.spec, self.said, self.remarks)

    def _repr_html_(self) -> str:
        shown = "" if self.trace is None else self.trace._repr_html_()
        return paragraph(str(self)) + code(str(self.formula)) + shown


def not_as_expected(word: str, expected: str | None) -> bool:
    """Return True if the word decides a specification, but is not the expected one (by default `holds`)."""
    return word not in ("unknown", expected or "holds")


def exit_status(verdicts: Iterable[Verdict], *, refused: bool = False) -> int:
    """Return 1 if some specification is decided, and not as expected, else 3 if one is unknown, else 0.

    If ``refused``, it is 1 for another reason, such as findings with `--strict`.
    """
    found = list(verdicts)
    if refused or any(verdict.not_as_expected for verdict in found):
        return 1
    return Undecided.exit_status if any(verdict.holds is None for verdict in found) else 0


def expectation(word: str, expected: str | None) -> str:
    """Return how a word compares with what the file expects; empty if it expects nothing."""
    if expected is None:
        return ""
    return "as expected" if word == expected else f"not as expected: the file says `expect {expected}`"


def verdict_line(spec: str, word: str, remarks: Iterable[str]) -> str:
    """Return a verdict in one line, with the remarks that are not empty."""
    said = "; ".join(filter(None, remarks))
    return f"{spec} {word}{': ' * bool(said)}{said}"
