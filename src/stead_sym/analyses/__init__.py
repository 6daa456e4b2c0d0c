"""What is asked beside a verification: bounds, blame, symmetry, deepening, sweeps, agents at work."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
