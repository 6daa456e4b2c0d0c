"""What every layer may use and none is about: progress, markup, printable text, folders, memory."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
