"""Analyses beyond a single verification: bounds, blame, symmetry, deepening, sweeps, agents in production."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
