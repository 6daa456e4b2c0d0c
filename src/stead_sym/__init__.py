"""Exact verification of agents that act on relational data; ``import stead_sym as st``.

The public names are in the stub beside this file, with the modules that they come from. One decision: a
module is imported when one of its names is first used, so that a command waits only for the modules it needs.
"""

import lazy_loader

__version__ = "0.2.0"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
