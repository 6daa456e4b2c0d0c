"""`verify` for tests that compare what is found where the whole of a deployment is explored: a broken claim
is an error to them, as it is to the engines."""

from __future__ import annotations

import stead_sym as st
from replayed import assert_verdicts_replay


def verify(*args, **options):
    """`stead_sym.verify`; raises the fault of a run that breaks a claim, after a replay of all that is
    reported of it."""
    result = st.verify(*args, **options)
    if result.broken is not None:
        assert_verdicts_replay(result)
        raise result.broken
    return result
