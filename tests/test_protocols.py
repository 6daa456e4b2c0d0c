"""Protocols of peers' benchmarks: what was published of them, and that a fault in each is found."""

from __future__ import annotations

import protocols
import pytest

NAMES = sorted(protocols.FAULTS)
SLOW = {"client_database", "german"}
"""These take longer."""
UNKNOWN = {"szymanski_one_by_one"}
"""Protocols whose published property is not shown; the benchmark takes minutes to say so."""
LONG = {"german_data"}
"""Protocols whose published property is shown in minutes, by the benchmark."""
FOUND_SOON = {"bakery", "illinois", "leader_ring", "moesi", "readers_writers", "token_ring"}
"""Their faults are."""


FAULTY = [name for name in NAMES if protocols.FAULTS[name] is not None and name not in UNKNOWN]
"""The protocols whose fault is searched for here; the benchmark takes minutes for unknown ones."""


def gated(names: list[str], late: set[str]) -> list[object]:
    """Names as parameters, some of them at the gate."""
    return [pytest.param(name, marks=[pytest.mark.gate] * (name in late)) for name in names]


@pytest.mark.parametrize("name", gated([name for name in NAMES if name not in UNKNOWN | LONG], SLOW))
def test_what_was_published_is_shown_for_every_number(name: str) -> None:
    published = next(protocols.variants(name))
    words = {word for _, _, _, word, *_ in protocols.rows(*published, limit=1)}
    assert words == {"holds"}


@pytest.mark.parametrize("name", gated(FAULTY, set(FAULTY) - FOUND_SOON))
def test_a_fault_is_found_with_a_run(name: str) -> None:
    _, faulty = protocols.variants(name)
    assert "fails" in {word for _, _, _, word, *_ in protocols.rows(*faulty)}


def test_every_protocol_has_a_fault() -> None:
    assert {file.stem for file in protocols.FILES.glob("*.stead")} == protocols.FAULTS.keys()
