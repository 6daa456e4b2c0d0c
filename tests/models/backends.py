"""Shared by the tests of language models: the libraries they need, the deployments, a server of their own.

STEAD_MODELS=required makes a library that is missing an error instead of a skip; CI sets it.
"""

from __future__ import annotations

import gc
import importlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from stead_sym.agents.prompts.prompt import Prompt
from stead_sym.deployment.files import load
from stead_sym.deployment.language import parse_deployment

if TYPE_CHECKING:
    from stead_sym.models.vllm_offline import VllmOffline

desk = load("refund")
prompt = Prompt.of(desk)
TWO_CASES = (
    str(desk)
    .replace("bound case 1", "bound case 2")
    .replace("bound task 1", "bound task 2")
    .replace("~exists c, q. CaseStatus(c, q)", "atmost 1 c. exists q. CaseStatus(c, q)")
    .replace("~(exists c: case, q: status. CaseStatus(c, q))", "atmost 1 c. exists q. CaseStatus(c, q)")
)
busy = parse_deployment(TWO_CASES, "two.stead")
SERVED = "small"
"""The name of the model in the answers of a server."""


def needs(extra: str, *modules: str) -> None:
    """Skip the calling module where a library of the extra is missing."""
    for module in modules:
        if os.environ.get("STEAD_MODELS") == "required":
            importlib.import_module(module)
        else:
            pytest.importorskip(module, reason=f"the extra `{extra}` is not installed")


def free_port() -> int:
    """A port of the loopback interface that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextmanager
def vllm_server(folder: Path, log: Path, *options: str) -> Iterator[str]:
    """The address of a vLLM server of the model in ``folder``, which runs until the block ends."""
    port = free_port()
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(folder)]
    command += ["--host", "127.0.0.1", "--port", str(port), "--served-model-name", SERVED]
    command += ["--dtype", "float32", "--enforce-eager", *options]
    with log.open("wb") as output, ended_with(command, output) as process:
        wait_for(process, port, log)
        yield f"http://127.0.0.1:{port}"


@contextmanager
def ended_with(command: Sequence[str], output) -> Iterator[subprocess.Popen]:
    # Without a process of its own for the one worker, whose start takes as long as the engine's.
    given = {**os.environ, "VLLM_ENABLE_V1_MULTIPROCESSING": "0"}
    process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=given)
    try:
        yield process
    finally:
        process.terminate()  # the server then ends the engine that it has started
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for(process: subprocess.Popen, port: int, log: Path, seconds: float = 1200.0) -> None:
    """Until somebody listens on the port."""
    last = time.monotonic() + seconds
    while time.monotonic() < last:
        if process.poll() is not None:
            break
        with socket.socket() as caller:
            if caller.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    pytest.fail(f"the server does not come up:\n{log.read_text(errors='replace')[-3000:]}")


def shown(report):
    """Return what a report says of the specifications, without the names and margins of who decided."""
    specs = {}
    for name, spec in report["specs"].items():
        evidence = {key: part for key, part in spec["evidence"].items() if key != "agents"}
        specs[name] = {**spec, "evidence": evidence}
    return specs


@contextmanager
def one_engine(load: Callable[[], VllmOffline]) -> Iterator[VllmOffline]:
    """A model in an engine of vLLM that is gone when the block ends. Engines of one process share a state,
    which the end of one takes from the others."""
    gc.collect()  # an engine that nobody holds any more ends now, and not under the next one
    backend = load()
    try:
        yield backend
    finally:
        backend.engine.llm_engine.engine_core.shutdown()
