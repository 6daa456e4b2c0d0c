"""Export the restriction, with the agent's choices in it, to other model checkers: `docs/export.md`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
