"""Certificates: data by which verdicts can be checked without computing a fixpoint, and the checker.

`certificate.write` takes the sets that the symbolic engine has found. `certificate.checker` is a model of its
own. Of that engine it uses only the file that imports `dd`; `docs/certificates.md` lists what else both
share.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
