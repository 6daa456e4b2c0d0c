"""Decide specifications of a deployment under an agent: verdicts, hypotheses and findings."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
