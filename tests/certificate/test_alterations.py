"""A certificate with one thing altered is rejected, unless it still proves what it states."""

from __future__ import annotations

from collections import Counter

import pytest

from altered import NEVER_VALID, is_wrong, outcomes
from certified import PROFILES
from engine_pairs import examples

pytestmark = pytest.mark.gate


@pytest.mark.parametrize("profile", PROFILES)
def test_alterations(profile):
    found = outcomes(profile, examples(2, slow=150), most=examples(12, slow=1000))
    assert not any(is_wrong(*key) for key in found), found
    by_word = Counter(word for _, word in found.elements())
    assert by_word["rejected"] > by_word["accepted"]


def test_each_of_the_worst_alterations_is_tried():
    """With all alterations of a few deployments; none of these is ever accepted."""
    found = sum((outcomes(profile, 3, start=1) for profile in ("deployments", "named")), Counter())
    tried = {name for name, _ in found}
    assert tried >= NEVER_VALID
    assert not any(is_wrong(*key) for key in found), found
