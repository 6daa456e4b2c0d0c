"""The public names of `stead_sym.verification`, and where each comes from when it is first used."""

from .findings.finding import Finding
from .hypotheses import Hypotheses, Hypothesis
from .result import AgentRun
from .widened import Widened

__all__ = [
    # verdicts
    "AgentRun",
    "Finding",
    # what verdicts rest on
    "Hypotheses",
    "Hypothesis",
    "Widened",
]
