"""The public names of `stead_sym.analyses`, and where each comes from when it is first used."""

from .blame import Blame as Blame
from .bounds import Bounds as Bounds
from .bounds import SortBound as SortBound
from .deepening.growth import Growth as Growth
from .deepening.remedy import Remedy as Remedy
from .deepening.result import Deepening as Deepening
from .deepening.result import Found as Found
from .deepening.result import Round as Round
from .production import Granted as Granted
from .sweeps.sweep import Row as Row
from .sweeps.sweep import Sweep as Sweep
from .sweeps.work import RayExecutor as RayExecutor
from .symmetry import Symmetry as Symmetry
