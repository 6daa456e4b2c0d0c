"""The answer to one specification."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from stead_sym.deployment.parts import Expected
from stead_sym.deployment.trace import Trace
from stead_sym.evidence.tree import Evidence
from stead_sym.logic.syntax import Resolved
from stead_sym.support.html import Displayed, code, paragraph

Word: TypeAlias = Literal["holds", "fails", "unknown"]
Said: TypeAlias = Literal["holds", "holds, of nothing", "fails", "unknown"]
OF_NOTHING: Literal["holds, of nothing"] = "holds, of nothing"
"""How a verdict is printed that a finding empties: nothing ever happens of which the specification speaks."""


@dataclass(frozen=True, slots=True)
class Verdict(Displayed):
    """The answer to one specification, whose ``formula`` stands here as it was written.

    ``holds`` is None for `unknown`, with the ``reason``; of a claim of the file that fails the reason says
    what breaks it, and what to do. ``evidence`` shows why the sentence has its truth value in the
    restriction: as far as runs and values can, for a claim about all runs has none.
    ``scope`` are sentences that a reader has to know beside the word, because the word alone says more than
    is established. ``empty``: it holds, and a finding says that nothing ever came of what it asks.
    ``claim``: it is about a claim of the file, whose name ``spec`` is. ``expected`` is the word that the file
    expects, None where it says none.
    """

    spec: str
    formula: Resolved
    holds: bool | None
    reason: str = ""
    evidence: Evidence | None = None
    scope: tuple[str, ...] = ()
    empty: bool = False
    claim: bool = False
    expected: Expected | None = None

    @property
    def trace(self) -> Trace | None:
        """The run through the evidence that shows most; None where that would only repeat a specification
        that holds."""
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
        """The word, or `holds, of nothing`."""
        return OF_NOTHING if self.empty else self.word

    @property
    def unexpected(self) -> bool:
        """Whether the word is another than the one that is expected: `holds`, where the file says nothing. So
        is `unknown`, always."""
        return self.word != (self.expected or "holds")

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is said beside the word, as far as there is any: the reason, what was expected, the scope."""
        return tuple(filter(None, (self.reason, expectation(self.word, self.expected), *self.scope)))

    def __str__(self) -> str:
        return verdict_line(self.spec, self.said, self.remarks)

    def _repr_html_(self) -> str:
        shown = "" if self.trace is None else self.trace._repr_html_()
        return paragraph(str(self)) + code(str(self.formula)) + shown


def expectation(word: str, expected: str | None) -> str:
    """What a word is, seen from what the file expects; empty where it expects nothing."""
    if expected is None:
        return ""
    return "as expected" if word == expected else f"not as expected: the file says `expect {expected}`"


def verdict_line(spec: str, word: str, remarks: Iterable[str]) -> str:
    """A verdict in one line, with the remarks on it that are not empty."""
    said = "; ".join(filter(None, remarks))
    return f"{spec} {word}{': ' * bool(said)}{said}"
