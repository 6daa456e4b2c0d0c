"""Pages of 2 MiB for the processes that work on diagrams, and the resident memory of a process."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from stead_sym.cli.main import main
from stead_sym.support.memory import resident, with_huge_pages

ASKED = "glibc.malloc.hugetlb=1"
SETTING = Path("/sys/kernel/mm/transparent_hugepage/enabled")

IN_LARGE_PAGES = """
import ctypes, pathlib, re
c = ctypes.CDLL(None)
c.malloc.restype = ctypes.c_void_p
blocks = [c.malloc(32_000) for _ in range(2_000)]
for block in blocks:
    ctypes.memset(block, 1, 32_000)
print(re.search(r"AnonHugePages: *(\\d+) kB", pathlib.Path("/proc/self/smaps_rollup").read_text())[1])
"""
"""The part of 64 MB, asked for in blocks as CUDD does for its nodes, is in large pages."""


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        (None, ASKED),
        ("", ASKED),
        ("glibc.malloc.check=3", f"glibc.malloc.check=3:{ASKED}"),
        ("glibc.malloc.hugetlb=0", "glibc.malloc.hugetlb=0"),
        ("glibc.malloc.hugetlb=2:glibc.malloc.check=3", "glibc.malloc.hugetlb=2:glibc.malloc.check=3"),
    ],
)
def test_what_the_user_has_set_stays(own, expected):
    before = {"HOME": "/home/me"} if own is None else {"HOME": "/home/me", "GLIBC_TUNABLES": own}
    kept = dict(before)
    assert with_huge_pages(before) == {"HOME": "/home/me", "GLIBC_TUNABLES": expected}
    assert before == kept


def gives_large_pages():
    """Return if this system gives large pages to who asks, and has a C library that asks."""
    name, version = platform.libc_ver()
    recent = name == "glibc" and tuple(map(int, version.split("."))) >= (2, 35)
    return recent and SETTING.exists() and "[madvise]" in SETTING.read_text(encoding="ascii")


@pytest.mark.skipif(not gives_large_pages(), reason="large pages are for all processes here, or for none")
def test_a_process_gets_them():
    def large(environment):
        command = [sys.executable, "-c", IN_LARGE_PAGES]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return int(done.stdout)

    bare = {name: value for name, value in os.environ.items() if name != "GLIBC_TUNABLES"}
    assert large(bare) == 0
    assert large(with_huge_pages(bare)) > 20_000


@pytest.mark.skipif(os.name != "posix", reason="a verification has a process of its own on POSIX systems")
def test_a_verification_asks_for_them(tmp_path, monkeypatch, capsys):
    told = tmp_path / "told"
    agent = f"""
import os, pathlib

def first(context):
    pathlib.Path({str(told)!r}).write_text(os.environ["GLIBC_TUNABLES"])
    return min(context.calls)
"""
    (tmp_path / "telling_agents.py").write_text(agent, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.check=0")
    words = ["verify", "refund", "--agent", "python:telling_agents:first", "--timeout", "100", "--quiet"]
    assert main(words) in (0, 1)
    assert told.read_text(encoding="utf-8") == f"glibc.malloc.check=0:{ASKED}"
    capsys.readouterr()


def test_resident_memory_of_a_process_and_of_one_that_has_ended():
    assert 2**20 < resident(os.getpid()) < 2**40
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert resident(process.pid) > 0
        process.communicate(b"\n")
    assert resident(process.pid) == 0
