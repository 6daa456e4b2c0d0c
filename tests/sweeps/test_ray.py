"""Sweeps on a real Ray cluster of two nodes, each with one processor."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sweeping import expected, runs, write_killer

import stead_sym as st
from stead_sym.cli.main import main

if os.environ.get("STEAD_RAY") != "required":
    pytest.importorskip("ray", reason="a cluster needs the extra ray")

os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 (by default its workers wait for all else that runs)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """One cluster for the last tests of this file: the first one asks for `auto`, and must find none."""
    import ray
    from ray.cluster_utils import Cluster

    started = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        yield started
    finally:
        ray.shutdown()
        started.shutdown()


@pytest.fixture
def node(cluster: Any) -> Any:
    """The node of the cluster beside its head, a new one if there is none."""
    if not cluster.worker_nodes:
        cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    [found] = cluster.worker_nodes
    return found


def test_the_command_on_a_cluster_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import ray

    runs(tmp_path, 1)
    (tmp_path / "sweep.toml").write_text(
        "timeout = 100\n[[runs]]\ndeployment = 'toy.stead'\nagent = ['both', 'nobody', 'any']\n", "utf-8"
    )
    words = ["sweep", str(tmp_path / "sweep.toml"), "--workers", "2", "--json"]
    assert main([*words, "--ray", "local"]) == 1
    assert not ray.is_initialized()
    out, err = capsys.readouterr()
    rows = json.loads(out)["runs"]
    assert [(row["agent"], row["outcome"]) for row in rows] == [
        ("both", "done"),
        ("nobody", "error"),
        ("any", "done"),
    ]
    assert rows[2]["specs"] == {"aged": "fails", "emptied": "holds"}
    assert "3 of 3" in err
    for address in ("auto", "127.0.0.1:1", "ray://127.0.0.1:1", "127.0.0.1:123456", "nonsense"):
        assert main([*words, "--again", "--ray", address]) == 2
        assert f"{address}: no Ray cluster (" in capsys.readouterr().err


def test_many_runs_of_which_one_kills_its_worker(cluster: Any, node: Any, tmp_path: Path) -> None:
    write_killer(tmp_path, levels=2)
    listed, file = runs(tmp_path, 8), tmp_path / "results.jsonl"
    store = str(tmp_path / "decisions.sqlite")
    first = st.sweep(
        listed, store=store, results=file, executor=lambda: st.analyses.RayExecutor(cluster.address), tries=1
    )
    assert (tmp_path / "killed").exists()
    assert [row.result.outcome for row in first.rows].count("done") == 7
    assert first.rows[3].result.outcome == "lost"
    assert "WorkerCrashedError" in first.rows[3].result.error
    second = st.sweep(
        listed, store=store, results=file, executor=lambda: st.analyses.RayExecutor(cluster.address), tries=1
    )
    assert [row.run.agent for row in second.rows if row.fresh] == ["python:killer:once"]
    assert {row.result.outcome for row in second.rows} == {"done"}
    known: dict[str, dict[str, str]] = {}
    for row in second.rows:  # bounds change nothing here but what identifies a run
        assert row.result.specs == known.setdefault(str(row.run.agent), expected(row.run))


def test_a_node_that_dies_costs_the_runs_on_it(cluster: Any, node: Any, tmp_path: Path) -> None:
    listed = [run for run in runs(tmp_path, 13) if run.agent != "python:killer:once"]
    removed = threading.Event()

    def told(row: st.analyses.Row, number: int, of: int) -> None:
        if number == 3 and not removed.is_set():
            removed.set()
            cluster.remove_node(node, allow_graceful=False)

    found = st.sweep(listed, executor=lambda: st.analyses.RayExecutor(cluster.address), tries=3, told=told)
    assert removed.is_set()
    assert [row.result.outcome for row in found.rows] == ["done"] * 12
