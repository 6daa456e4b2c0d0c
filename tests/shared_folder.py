"""The folder of the language page, the examples and the conformance cases: in, or next to, the checkout."""

from __future__ import annotations

from pathlib import Path

import pytest


def shared_folder() -> Path:
    """The folder `shared`; the test, or the module that asks, is skipped where there is none."""
    root = Path(__file__).resolve().parents[1]
    for place in (root / "shared", root.parent / "shared"):
        if (place / "language.md").is_file():
            return place
    pytest.skip("no folder `shared` in or next to the checkout", allow_module_level=True)
