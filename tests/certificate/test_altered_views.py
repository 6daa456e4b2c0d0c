"""Altered certificates of what holds for every number of records: none is accepted that is no proof."""

from __future__ import annotations

from collections import Counter

import altered_certificates
import pytest


@pytest.mark.parametrize("name", ["illinois", "token_ring", pytest.param("ward", marks=pytest.mark.gate)])
def test_what_is_accepted_is_a_proof(name: str) -> None:
    words, kinds = Counter[str](), set[str]()
    for _, kind, word, _ in altered_certificates.altered(40, 1, [name]):
        words[word] += 1
        kinds.add(kind)
    assert not words["wrong"]
    assert words["refused"] > words["accepted"]
    assert len(kinds) > 10


def test_what_is_no_proof_is_recognised() -> None:
    """Most certificates that the checker refuses are no proofs by the other judgement either."""
    found = Counter[bool]()
    kinds = ("a view is removed", "a fact is removed", "another k")
    for _, _, word, data in altered_certificates.altered(12, 3, ["illinois"], kinds=kinds):
        if word == "refused":
            found[altered_certificates.is_proof(data, "any")] += 1
    assert found[False] > found[True]
