"""The public names of `stead_sym.guard`, and where each comes from when it is first used."""

from .decision import Allowed as Allowed
from .decision import Denied as Denied
from .decision import Reading as Reading
from .decision import ToolCall as ToolCall
from .log import CheckedLog as CheckedLog
from .replay import ReplayedLog as ReplayedLog
from .transactions import EndedTransaction as EndedTransaction
