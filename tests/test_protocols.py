"""Protocols of peers' benchmarks: what was published of them, and that a fault in each is found."""

from __future__ import annotations

from collections import Counter
from typing import Any

import protocols
import pytest

from stead_sym.analyses.views.closure import Closing
from stead_sym.analyses.views.parts import MOST_NODES

NAMES = sorted(protocols.FAULTS)
SLOW = {"client_database", "german"}
"""These take longer."""
SLICED = "german_data"
"""A protocol that is verified once, by the test that also counts how often its slices are looked at."""
UNKNOWN = {"szymanski_one_by_one"}
"""Protocols whose published property is not shown; the benchmark takes minutes to say so."""
FOUND_LATE = {"burns", "german"}
"""Protocols whose fault takes half a minute to find: the benchmark searches for it."""
FOUND_SOON = {"bakery", "illinois", "leader_ring", "moesi", "readers_writers", "token_ring"}
"""Protocols whose fault is found in a moment; the faults of the others are searched for at the gate."""


FAULTY = [n for n in NAMES if protocols.FAULTS[n] is not None and n not in UNKNOWN | FOUND_LATE]
"""The protocols whose fault is searched for here; the benchmark takes minutes for unknown ones."""


def gated(names: list[str], late: set[str]) -> list[object]:
    """Names as parameters, some of them at the gate."""
    return [pytest.param(name, marks=[pytest.mark.gate] * (name in late)) for name in names]


@pytest.mark.parametrize("name", gated([n for n in NAMES if n not in UNKNOWN | {SLICED}], SLOW))
def test_what_was_published_is_shown_for_every_number(name: str) -> None:
    published = next(protocols.variants(name))
    words = {word for _, _, _, word, *_ in protocols.rows(*published, limit=1)}
    assert words == {"holds"}


@pytest.mark.gate
def test_a_slice_is_looked_at_once_and_gives_way_to_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show what was published of a protocol, and look at each of its slices once.

    Without half of its relations, the parts of this protocol fit together in far more ways than with all.
    """
    closings: list[Closing] = []

    def closing(*args: Any, **options: Any) -> Closing:
        closings.append(Closing(*args, **options))
        return closings[-1]

    monkeypatch.setattr("stead_sym.analyses.views.every_number.Closing", closing)
    rows = protocols.rows(*next(protocols.variants(SLICED)), limit=1)
    assert {word for _, _, _, word, *_ in rows} == {"holds"}
    before = [one for one in closings if one.diagrams.far.nodes < MOST_NODES]
    looks = Counter((one.k, str(one.deployment)) for one in before)
    assert len(looks) > 8
    assert set(looks.values()) == {1}
    assert max(one.diagrams.manager.nodes for one in closings) < MOST_NODES // 5


@pytest.mark.parametrize("name", gated(FAULTY, set(FAULTY) - FOUND_SOON))
def test_a_fault_is_found_with_a_run(name: str) -> None:
    _, faulty = protocols.variants(name)
    assert "fails" in {word for _, _, _, word, *_ in protocols.rows(*faulty)}


def test_every_protocol_has_a_fault() -> None:
    """And a faulty variant can be made of each of which none is searched for here."""
    assert {file.stem for file in protocols.FILES.glob("*.stead")} == protocols.FAULTS.keys()
    assert all(len([*protocols.variants(name)]) == 2 for name in FOUND_LATE | UNKNOWN)
