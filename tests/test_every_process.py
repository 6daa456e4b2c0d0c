"""The same input has the same output in every process: the verdicts, the evidence and every figure.

Python puts strings into a set in an order of the process's own. Whatever walks through a set of names, of
values or of facts and builds on what comes first differs from run to run: a run that nobody can repeat, or
figures in which a change cannot be told from chance.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.gate

_VERIFY = """
import json, sys
import stead_sym as st
from families import desks, returns_desk, service_desk
from stead_sym.report.data import report_data

name, size, engine = sys.argv[1:]
made = {"desks": desks, "returns_desk": returns_desk, "service_desk": service_desk}
deployment = made[name](int(size)) if name in made else st.load(name)
agent = deployment.policies[0]
print(json.dumps(report_data(st.verify(deployment, agent, engine=engine))))
"""


def said(seed: int, *words: str) -> dict[str, object]:
    """Return what verification says of a deployment, with sets of strings in the order of the seed."""
    path = str(Path(__file__).parents[1] / "benchmarks")
    ended = subprocess.run(
        [sys.executable, "-c", _VERIFY, *words],
        env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    data = json.loads(ended.stdout)
    del data["seconds"]
    for steps in ("steps", "planned_steps"):  # CUDD's caches go by where nodes lie in memory
        data["statistics"].pop(steps, None)
    return data


@pytest.mark.parametrize(
    "words",
    [
        ("refund", "1", "symbolic"),
        ("refund", "1", "explicit"),
        ("airline_records", "1", "symbolic"),
        ("returns_desk", "6", "symbolic"),
        ("desks", "3", "symbolic"),
        ("service_desk", "8", "symbolic"),
    ],
    ids="-".join,
)
def test_every_process_says_the_same(words):
    assert said(1, *words) == said(2, *words)
