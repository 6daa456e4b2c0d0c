"""The public names of `stead_sym.engines`, and where each comes from when it is first used."""

from .protocol import Engine as Engine
from .protocol import StateSet as StateSet
from .symbolic.plan.explain import Explanation as Explanation
