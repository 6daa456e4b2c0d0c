"""Chromium without a window, from Debian's package, driven by playwright.

Where one of them or axe-core (`.ci/browser.sh`) is missing, tests that ask for pages are skipped;
STEAD_BROWSER=required makes that an error, and CI sets it.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

AXE = Path(__file__).resolve().parents[2] / ".ci" / "browser" / "axe.min.js"


def _missing() -> str:
    if importlib.util.find_spec("playwright") is None:
        return "playwright is not installed (pip install '.[browser]')"
    if shutil.which("chromium") is None:
        return "chromium is not installed (apt-get install chromium)"
    return "" if AXE.exists() else "axe-core is not there (.ci/browser.sh)"


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser."""
    if why := _missing():
        if os.environ.get("STEAD_BROWSER") == "required":
            raise RuntimeError(why)
        pytest.skip(why)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield browser
        browser.close()
