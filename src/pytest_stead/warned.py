"""The warnings of the plugin, which need nothing of `stead_sym`."""

from __future__ import annotations

import pytest


class SteadFinding(pytest.PytestWarning):
    """A finding: a way in which a verdict is weaker than it seems.

    `-W error::pytest_stead.SteadFinding` makes every finding a failure.
    """

    __module__ = "pytest_stead"


class SteadScope(pytest.PytestWarning):
    """A specification holds with a scope: sentences that restrict the verdict.

    The word alone would state more than is established.
    """

    __module__ = "pytest_stead"
