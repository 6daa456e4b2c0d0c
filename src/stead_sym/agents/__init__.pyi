"""The public names of `stead_sym.agents`, and where each comes from when it is first used."""

from .base import Agent as Agent
from .base import Everything as Everything
from .base import FunctionAgent as FunctionAgent
from .python import PythonAgent as PythonAgent
from .recorded import Asking as Asking
from .recorded import RecordedAgent as RecordedAgent
from .records.answer import Answer as Answer
from .records.possible import Greedy as Greedy
from .records.replay import ReplayAgent as ReplayAgent
from .records.said import Decoding as Decoding
from .records.weight import Weight as Weight
from .roles import wrap as wrap
from .rules import RuleAgent as RuleAgent
from .wrapper import Decision as Decision
