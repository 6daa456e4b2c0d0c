"""The public names of `stead_sym.evidence`, and where each comes from when it is first used."""

from .replay import Replayed
from .tree import Evidence

__all__ = [
    # verdicts
    "Evidence",
    "Replayed",
]
