"""The public names of `stead_sym.engines`, and where each comes from when it is first used."""

from .protocol import Engine, StateSet
from .symbolic.plan.explain import Explanation

__all__ = [
    # engine
    "Engine",
    "Explanation",
    "StateSet",
]
