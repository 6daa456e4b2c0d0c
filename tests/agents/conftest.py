"""Stores that the tests of agents share, in a file and in a PostgreSQL database."""

from __future__ import annotations

import pytest

from postgresql import server


@pytest.fixture(scope="session")
def new_database():
    """A function that makes a PostgreSQL database and returns its URL."""
    with server() as database:
        yield database


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    """A path or a URL where no store is yet."""
    if request.param == "sqlite":
        return str(tmp_path / "decisions.sqlite")
    return request.getfixturevalue("new_database")()
