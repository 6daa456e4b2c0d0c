"""The public names of `stead_sym.support`, and where each comes from when it is first used."""

from .progress import Progress as Progress
