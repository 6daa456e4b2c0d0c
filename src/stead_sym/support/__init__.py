"""Provide small utilities for all layers: progress, markup, printable text, cache folders, memory."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
