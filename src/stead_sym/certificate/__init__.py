"""Certificates: what makes verdicts checkable without a fixpoint, and who checks it.

`certificate.writer` takes the sets that the symbolic engine has found; `certificate.checker` is a model of
its own, which shares no code with that engine but the file that imports `dd`.
"""
