"""The public names of `stead_sym.evidence`, and where each comes from when it is first used."""

from .replay import Replayed as Replayed
from .tree import Evidence as Evidence
