"""Each test of this folder that asks for an engine runs on both."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["explicit", "symbolic"])
def engine(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name
