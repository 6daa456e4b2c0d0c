"""Check proposed calls of agents against guards and gates in a live database."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
