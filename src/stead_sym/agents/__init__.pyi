"""The public names of `stead_sym.agents`, and where each comes from when it is first used."""

from .base import Agent, Everything, FunctionAgent
from .python import PythonAgent
from .recorded import Asking, RecordedAgent
from .records.answer import Answer
from .records.possible import Greedy
from .records.replay import ReplayAgent
from .records.said import Decoding
from .records.weight import Weight
from .roles import wrap
from .rules import RuleAgent
from .wrapper import Decision

__all__ = [  # noqa: RUF022 - in groups
    # wrapper
    "Agent",
    "Decision",
    "Everything",
    "FunctionAgent",
    "RuleAgent",
    "wrap",
    # recorded agents: of any kind, and language models
    "Answer",
    "Asking",
    "Decoding",
    "Greedy",
    "PythonAgent",
    "RecordedAgent",
    "ReplayAgent",
    "Weight",
]
