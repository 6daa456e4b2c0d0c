"""Certificates: what makes verdicts checkable without a fixpoint, and who checks it.

`certificate.write` takes the sets that the symbolic engine has found; `certificate.checker` is a model of
its own. Of that engine it uses the file that imports `dd`; what else both share stands in
`docs/certificates.md`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
