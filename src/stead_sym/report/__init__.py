"""Reports of a verification, as JSON and on a terminal, and the progress of a long run."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
