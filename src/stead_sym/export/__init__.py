"""Export what was verified to other model checkers, and deployments as SQL and schemas: `docs/export.md`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
