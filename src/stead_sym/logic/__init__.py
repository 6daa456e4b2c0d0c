"""First-order CTL: syntax, text, sorts, and first-order satisfaction in an instance."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
