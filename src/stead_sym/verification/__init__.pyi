"""The public names of `stead_sym.verification`, and where each comes from when it is first used."""

from .findings.finding import Finding as Finding
from .hypotheses import Hypotheses as Hypotheses
from .hypotheses import Hypothesis as Hypothesis
from .result import AgentRun as AgentRun
from .widened import Widened as Widened
