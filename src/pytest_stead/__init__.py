"""The pytest plugin of stead-sym: `.stead` files as tests, and the fixture `stead`.

One decision: pytest loads this module whenever it starts, so it is outside the package `stead_sym` and
imports nothing of it. The rest of the plugin is imported when a `.stead` file is collected or a test requests
the fixture.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_stead.warned import SteadFinding, SteadScope

if TYPE_CHECKING:
    from pytest_stead.fixture import Stead

__all__ = ["SteadFinding", "SteadScope", "stead"]

OF_NOTHING = "holds, of nothing"
"""The word of `stead_sym.verification.verify`, which is not imported here."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--stead-update` and the setting `stead_files`."""
    parser.getgroup("stead", "verification of agents (stead-sym)").addoption(
        "--stead-update",
        action="store_true",
        help="ask models what is not recorded yet, and record their decisions beside the tests",
    )
    parser.addini(
        "stead_files",
        "deployments to collect, one per line: a path or a pattern from the folder of this file, and options"
        " of `stead-sym verify`",
        type="linelist",
        default=[],
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse wrong lines of `stead_files`, and queries to models from several processes."""
    if config.getini("stead_files"):
        from pytest_stead.collect import read_settings

        read_settings(config)
    distributed = getattr(config.option, "dist", "no") != "no" and bool(getattr(config.option, "tx", ()))
    if config.option.stead_update and distributed:
        raise pytest.UsageError("--stead-update asks models in one process; add -n 0")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Return the collector of a `.stead` file that the command line or `stead_files` names."""
    if file_path.suffix != ".stead":
        return None
    from pytest_stead.collect import collector

    return collector(file_path, parent)


def pytest_report_teststatus(
    report: pytest.CollectReport | pytest.TestReport,
) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """Return a status of its own for a specification that holds vacuously.

    It passes, and is counted and coloured apart from those that hold.
    """
    said = dict(report.user_properties) if isinstance(report, pytest.TestReport) else {}
    if report.when == "call" and report.passed and said.get("stead_verdict") == OF_NOTHING:
        return "empty", "o", (OF_NOTHING.upper(), {"yellow": True})
    return None


@pytest.fixture
def stead(request: pytest.FixtureRequest) -> Stead:
    """Return a `Stead`, which verifies deployments, each once in a session."""
    from pytest_stead.fixture import Stead

    return Stead(request)
