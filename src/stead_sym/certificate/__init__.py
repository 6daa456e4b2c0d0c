"""Certificates: data by which verdicts are checked without a fixpoint computation, and their checker.

`certificate.write` writes the sets that the symbolic engine computed. `certificate.checker` builds a model of
its own. From that engine it uses only the module that imports `dd`; `docs/certificates.md` lists what else
both share.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
