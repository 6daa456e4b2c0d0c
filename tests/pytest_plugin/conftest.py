"""Runs of pytest within a test forget the modules that they import. What cannot be imported twice into one
process is imported before: the compiled part of sqlalchemy keeps what it finds the first time."""

import pytest
import sqlalchemy  # noqa: F401


@pytest.fixture(autouse=True)
def _without_langsmith(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the plugin of LangSmith, which comes with LangChain: it takes each run a second to import."""
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:langsmith_plugin")
