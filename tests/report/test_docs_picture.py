"""The picture in the page about reports is what the command prints today."""

from __future__ import annotations

from pathlib import Path

import stead_sym as st

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_picture_is_up_to_date():
    result = st.verify(st.load("refund"), "baseline", [], findings=False)
    assert st.draw_decisions(result).svg == (DOCS / "decisions.svg").read_text(encoding="utf-8")
