"""An engine with a fault gets no wrong verdict past the check."""

from __future__ import annotations

import pytest

from engine_pairs import examples
from unsound import FAULTS, outcomes

pytestmark = pytest.mark.gate

SEEN = {  # faults that give a wrong verdict among so many first examples
    "a key or single fact that is guessed is not confirmed": 15,
    "a name that is taken is drawn": 30,
    "all that is offered is selected": 15,
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_no_wrong_verdict_is_accepted(fault):
    found = outcomes(fault, examples(3, slow=150))
    assert not found["wrong verdicts, accepted"], found
    assert any("Error" not in word for word in found), f"{found}: the fault no longer fits what it replaces"


@pytest.mark.parametrize("name", SEEN)
def test_wrong_verdicts_are_given_and_rejected(name):
    fault = next(fault for fault in FAULTS if fault.name == name)
    assert outcomes(fault, SEEN[name])["wrong verdicts, rejected"]
