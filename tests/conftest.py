"""Configuration of the test suite. Its place puts this folder, and so `shared_folder`, on the path.

`pytest` runs the core: verdicts, evidence and agents, in a few minutes. What starts processes, kills them,
waits or takes long is marked `gate`, and so is all that stands around the core (`_AROUND`); `pytest -m gate`
runs it.

HYPOTHESIS_PROFILE says how many examples generated tests take: a quarter in `quick`, the default and what the
gate takes, all in `ci`, and in `slow` ten times as many, new ones each time; the header says the seed, with
which `--hypothesis-seed` runs the same ones again. `unshrunk` is `ci` that stops at the first example that
fails, for who only wants to know that one does.

Where PYTHONDONTWRITEBYTECODE is set, as in images of containers, bytecode goes to the cache of pytest: each
worker, and each of the many processes that the tests start, would compile what it imports anew.
"""

from __future__ import annotations

import gc
import os
import random
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

from replayed import replay_everything

_GENERATED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
_PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "quick")
_AROUND = ("cli", "editor", "export", "models", "pytest_plugin", "sweeps")
"""The folders of tests of what stands around the core: they start processes."""

# What the caller adds is for this run, and not for those that tests start.
os.environ.pop("PYTEST_ADDOPTS", None)

settings.register_profile("ci", derandomize=True, deadline=None, suppress_health_check=_GENERATED)
settings.register_profile("quick", settings.get_profile("ci"), max_examples=25)
settings.register_profile("unshrunk", settings.get_profile("ci"), phases=[Phase.explicit, Phase.generate])
settings.register_profile("slow", max_examples=1000, deadline=None, suppress_health_check=_GENERATED)
settings.load_profile(_PROFILE)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose the seed of the slow profile before hypothesis reads it, and where bytecode is kept."""
    if _PROFILE == "slow" and config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(random.SystemRandom().randrange(2**32))
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):  # before the workers start, and for what they start
        kept = Path(__file__).parents[1] / ".pytest_cache" / "bytecode"
        os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = str(kept)
        sys.dont_write_bytecode = False
        config.add_cleanup(partial(_forget_written, kept / Path(tempfile.gettempdir()).relative_to("/")))


def _forget_written(kept: Path) -> None:
    """Remove the bytecode of files that tests have written, which no later run has."""
    for folder in kept.glob("pytest-of-*"):
        shutil.rmtree(folder, ignore_errors=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests of the folders around the core."""
    around = {Path(__file__).parent / folder for folder in _AROUND}
    for item in items:
        if around.intersection(item.path.parents):
            item.add_marker(pytest.mark.gate)


def pytest_collection_finish() -> None:
    """Collect garbage seldom, and never look at what was imported: both took a seventh of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(700, 10, 50)


def pytest_report_header(config: pytest.Config) -> str | None:
    """The seed of the slow profile."""
    return f"seed of the generated tests: {config.option.hypothesis_seed}" if _PROFILE == "slow" else None


@pytest.fixture(autouse=True, scope="session")
def _every_evidence_is_replayed():
    undo = replay_everything()
    yield
    undo()
