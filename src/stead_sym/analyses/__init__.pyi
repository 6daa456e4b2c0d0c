"""The public names of `stead_sym.analyses`, and where each comes from when it is first used."""

from .blame import Blame
from .bounds import Bounds, SortBound
from .deepening.deepen import Deepening, Found, Round
from .deepening.growth import Growth
from .deepening.remedy import Remedy
from .production import Granted
from .sweeps.executors import RayExecutor
from .sweeps.sweep import Row, Sweep
from .symmetry import Symmetry

__all__ = [  # noqa: RUF022 - in groups
    # verdicts
    "Blame",
    "Symmetry",
    # sweeps
    "RayExecutor",
    "Row",
    "Sweep",
    # production
    "Granted",
    # where no bound is established
    "Deepening",
    "Found",
    "Growth",
    "Remedy",
    "Round",
    # what verdicts rest on
    "Bounds",
    "SortBound",
]
