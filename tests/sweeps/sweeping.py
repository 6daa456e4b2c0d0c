"""Small runs for the tests of sweeps, and an agent that kills processes."""

from __future__ import annotations

from pathlib import Path

import stead_sym as st

DESK = """
deployment toy

sort thing
sort state = { new, old } rigid

relation Is(thing key, state)

bound thing 1

event come()
  effect when atmost 0 x: thing. x = x
    fresh x: thing
    insert Is(x, new)
  effect when exists x: thing. x = x

tool age(x: thing)
  guard Is(x, new)
  effect
    set Is(x, old)

tool take(x: thing)
  effect
    delete Is(x, _)

policy ageing
  call age(x)
  call take(x)

policy taking
  call take(x)

policy both
  call age(x) when Is(x, new)
  call take(x) when Is(x, old)

policy old_first
  call take(x) when Is(x, old)
  call age(x)

spec aged    AG forall x. (Is(x, new) -> A[Is(x, new) W Is(x, old)])
spec emptied AG EF ~Is(_, _)
"""
AGENTS = ("ageing", "taking", "both", "old_first", "any")
KILLER = """
import os, signal
import stead_sym as st
from stead_sym.agents.records import claims

claims.LEASE = 1.0  # so that the next run need not wait long for what this one has begun

HERE = os.path.dirname(os.path.abspath(__file__))

@st.agent(identity="killer")
def once(context):
    marker = os.path.join(HERE, "killed")
    if not os.path.exists(marker):
        open(marker, "w").close()
        victim = os.getpid()
        for _ in range({levels}):
            with open(f"/proc/{{victim}}/stat") as file:
                victim = int(file.read().rpartition(")")[2].split()[1])
        os.kill(victim, signal.SIGKILL)
    return min(context.calls)
"""


def write_killer(folder: Path, levels: int) -> None:
    """The agent `python:killer:once`: when it is first asked it kills a process, its own with level 0, that
    of the command with 1, and whoever waits for that with 2."""
    (folder / "killer.py").write_text(KILLER.format(levels=levels), encoding="utf-8")


def runs(folder: Path, number: int) -> list[st.Run]:
    """So many different runs, of which the fourth has the agent that kills."""
    (folder / "toy.stead").write_text(DESK, encoding="utf-8")
    listed = [
        st.Run("toy.stead", agent, bounds={"thing": bound}, timeout=120, folder=str(folder))
        for bound in range(1, 1 + -(-number // len(AGENTS)))
        for agent in AGENTS
    ][:number]
    if number > 3:
        listed[3] = st.Run("toy.stead", "python:killer:once", timeout=120, folder=str(folder))
    return listed


def expected(run: st.Run) -> dict[str, str]:
    """The verdicts, as they are here and now."""
    who = "old_first" if "killer" in str(run.agent) else str(run.agent)
    result = st.verify(run.built, who)
    return {name: verdict.word for name, verdict in result.verdicts.items()}
