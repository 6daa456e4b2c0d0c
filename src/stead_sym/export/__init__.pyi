"""The public names of `stead_sym.export`, and where each comes from when it is first used."""

from .model import Export as Export
from .sql import Sql as Sql
