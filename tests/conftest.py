"""Configuration of the test suite. Its place puts this folder, and so `shared_folder`, on the path.

HYPOTHESIS_PROFILE=slow runs the generated tests on new examples each time, and ten times as many;
HYPOTHESIS_PROFILE=unshrunk stops at the first example that fails, for who only wants to know that one does.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

_GENERATED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

settings.register_profile("ci", derandomize=True, deadline=None, suppress_health_check=_GENERATED)
settings.register_profile("unshrunk", settings.get_profile("ci"), phases=[Phase.explicit, Phase.generate])
settings.register_profile("slow", max_examples=1000, deadline=None, suppress_health_check=_GENERATED)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
