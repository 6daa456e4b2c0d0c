"""Runs of the engines on the same input, one JSON row each; no times where their answers differ.

One decision: each run is a process of its own, so that its memory is its own and a limit can end it
whatever it is doing.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import families
from booking_desk import booking_desk
from ticket_system import ticket_system
from warehouse import warehouse

import stead_sym as st
from stead_sym.analyses.local.verify import localise
from stead_sym.report.graphs import MOST_LOOKED_AT
from stead_sym.support.memory import resident, with_huge_pages

WRITTEN: Mapping[str, Callable[..., str]] = {
    "booking_desk": booking_desk,
    "warehouse": warehouse,
    "ticket_system": ticket_system,
}
"""The texts of the families of `held_out.py`; below, `_gated` ends the names of their gated versions."""


def _parsed(name: str, gated: bool) -> Callable[[int], st.Deployment]:
    return lambda n: st.parse_deployment(WRITTEN[name](n, gated=gated))


FAMILIES: Mapping[str, Callable[[int], st.Deployment]] = {
    **{name + "_gated" * gated: _parsed(name, gated) for name in WRITTEN for gated in (False, True)},
    "desks": families.desks,
    "refunds": families.refunds,
    "service_desk": families.service_desk,
    "service_desk_any": families.service_desk_any,
    "returns_desk": families.returns_desk,
}
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "normal": {"engine": "symbolic", "domain": "normal", "findings": False},
    "theorem": {"engine": "symbolic", "domain": "theorem", "findings": False},
    "explicit": {"engine": "explicit", "domain": "theorem", "findings": False},
}
Row = dict[str, Any]


class Run(NamedTuple):
    """A run: the deployment ``family(size)`` under a policy of it (or `any`), by an engine on a
    domain; ``specs`` are those checked, all of them where it is empty.

    The setting `local` is no engine: each specification is shown or refuted on few facts.
    """

    family: str
    size: int
    policy: str
    setting: str
    specs: tuple[str, ...] = ()

    def __str__(self) -> str:
        specs = f" ({', '.join(self.specs)} only)" * bool(self.specs)
        return f"{self.family} {self.size}, {self.policy}: {self.setting}{specs}"


class Limits(NamedTuple):
    """Seconds of one run, its start included, and MiB of resident memory."""

    seconds: float
    mib: int


# the child: one run


@dataclass(slots=True)
class _Timed:
    """An agent with the CPU time it takes, so that this can be told from the time of checking."""

    agent: st.agents.Agent
    seconds: float = 0.0

    @property
    def name(self) -> str:
        return self.agent.name

    def select(self, contexts: Sequence[st.DecisionContext]) -> Sequence[Collection[st.Call]]:
        started = time.process_time()
        answers = self.agent.select(contexts)
        self.seconds += time.process_time() - started
        return answers


@dataclass(slots=True)
class _Teller:
    """A `Progress` that tells the parent, and keeps the largest number of nodes that it heard of."""

    channel: Connection
    nodes: int = 0
    told: float = 0.0

    def __call__(self, phase: str, /, **counts: int) -> None:
        self.nodes = max(self.nodes, counts.get("nodes", 0))
        if time.monotonic() - self.told > 0.25:
            self.told = time.monotonic()
            self.channel.send((phase, counts))


def measure(run: Run, channel: Connection) -> None:
    """Does the run; sends its row after what there is to tell on the way.

    ``seconds`` is CPU time from the deployment to all verdicts with their evidence, without the
    ``agent_seconds`` that a policy takes where it is asked state by state. Contexts are counted after that.
    ``nodes`` is the largest number of nodes of the diagrams, looked at four times a
    second and at the end.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this process
    desk = FAMILIES[run.family](run.size)
    if run.setting == "local":
        channel.send(_on_few_facts(run, desk, _Teller(channel)))
        return
    agent = _Timed(st.agents.Everything())
    asked: Any = {role.name: run.policy for role in desk.agents} if len(desk.agents) > 1 else run.policy
    timed = run.setting == "explicit" and len(desk.agents) == 1 and run.policy != "any"
    if timed and (plain := st.agents.wrap(desk, desk.policy(run.policy))) is not None:
        agent.agent = plain.agent
        asked = st.CanonicalWrapper(agent, desk.schema, desk.tools, plain.known)
    teller = _Teller(channel)
    started = time.process_time()
    result = st.verify(
        desk,
        asked,
        run.specs or None,
        progress=teller,
        **SETTINGS[run.setting],
    )
    seconds = time.process_time() - started - agent.seconds
    result = result.with_contexts(MOST_LOOKED_AT)
    statistics = dict(result.engine.statistics)
    row = {
        "verdicts": {name: verdict.word for name, verdict in result.verdicts.items()},
        "seconds": round(seconds, 3),
        "agent_seconds": round(agent.seconds, 3),
        "mib": _peak(),
        "nodes": max(teller.nodes, statistics.pop("nodes")) if "nodes" in statistics else None,
        "initial": result.initial,
        "states": result.states,
        "transitions": result.transitions,
        "contexts": result.contexts,
        "queries": result.queries,
        "asked": None if result.contexts is None else digest(result),
        **statistics,
    }
    channel.send(row)


def _on_few_facts(run: Run, desk: st.Deployment, progress: _Teller) -> Row:
    """Return the row of specifications that are shown, or refuted, on few facts; seconds are CPU time."""
    started = time.process_time()
    agents = {role.name: run.policy for role in desk.agents}
    found = localise(desk, agents, run.specs or None, progress=progress)
    return {
        "verdicts": {name: verdict.word for name, verdict in found.verdicts.items()},
        "reasons": {name: one.reason for name, one in found.verdicts.items() if one.holds is None},
        "facts": {name: shown.facts for name, shown in found.shown.items()},
        "seconds": round(time.process_time() - started, 3),
        "mib": _peak(),
    }


def _peak() -> int:
    """Return the largest memory of this process so far, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # KiB, on macOS bytes
    return peak // (1024 * 1024 if sys.platform == "darwin" else 1024)


def digest(result: st.Verification) -> str:
    """Stands for the contexts that the agent was asked, with what it selected, whatever their order."""
    lines = sorted(
        f"{context} -> {', '.join(map(str, sorted(calls)))}" for context, calls in result.decisions
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


# the parent: limits, and whether the runs agree


def supervised(run: Run, limits: Limits, progress: Callable[[str], None] = lambda text: None) -> Row:
    """The row of a run. Its ``outcome`` is `finished`, or why there are no figures: `time` and `memory` (a
    limit was reached; ``reached`` says how far it had come) or `failed`."""
    os.environ.update(with_huge_pages(os.environ))  # of the process that is measured, as of the command's
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=measure, args=(run, sender), daemon=True)
    started = time.monotonic()
    process.start()
    assert process.pid is not None
    sender.close()
    reached = "start"
    try:
        while True:
            try:
                if receiver.poll(0.2):
                    message = receiver.recv()
                    if isinstance(message, dict):
                        return {**row_of(run, "finished"), **message}
                    phase, counts = message
                    reached = ", ".join([phase, *(f"{number:,} {name}" for name, number in counts.items())])
            except EOFError:
                return {**row_of(run, "failed"), "reached": reached}
            elapsed = time.monotonic() - started
            progress(f"{reached} ({elapsed:.0f} s)")
            if elapsed > limits.seconds:
                return {**row_of(run, "time"), "limit": limits.seconds, "reached": reached}
            if resident(process.pid) > limits.mib * 2**20:
                return {**row_of(run, "memory"), "limit": limits.mib, "reached": reached}
    finally:
        process.kill()
        process.join()


def row_of(run: Run, outcome: str) -> Row:
    """The part of a row that every run has."""
    return {
        "case": run.family,
        "size": run.size,
        "policy": run.policy,
        "specs": list(run.specs),
        "setting": run.setting,
        "outcome": outcome,
    }


def differences(rows: Iterable[Row]) -> Iterator[str]:
    """Return what the finished runs on one input say differently, each difference in a few words.

    Verdicts, and contexts and queries where they were counted, are the same in all settings; on the literal
    domain, which the specifications determine, states and transitions are too.
    """
    finished = [row for row in rows if row["outcome"] == "finished"]
    for one, other in combinations(finished, 2):
        who = f"{one['setting']} and {other['setting']}"
        for spec in sorted(one["verdicts"].keys() & other["verdicts"].keys()):
            if one["verdicts"][spec] != other["verdicts"][spec]:
                yield f"{who}: {spec} {one['verdicts'][spec]} and {other['verdicts'][spec]}"
        literal = "normal" not in (one["setting"], other["setting"]) and one["specs"] == other["specs"]
        for figure in ("contexts", "queries", *("states", "transitions") * literal):
            if None not in (one[figure], other[figure]) and one[figure] != other[figure]:
                yield f"{who}: {one[figure]} and {other[figure]} {figure}"


def without_times(row: Row) -> Row:
    """The row of a run that others disagree with."""
    return {**row, "seconds": None, "agent_seconds": None}


def sweep(
    runs: Iterable[Sequence[Run]],
    limits: Limits,
    progress: Callable[[Run, str], None] = lambda run, text: None,
) -> Iterator[list[Row]]:
    """The rows of each group of runs; a group is one input, and groups come in the order of their sizes.

    A setting that does not finish is skipped on larger inputs of its kind. Raises `Disagreement`, with
    the rows, where the finished runs of a group disagree.
    """
    given_up: set[Run] = set()
    for group in runs:
        rows: list[Row] = []
        for run in group:
            kind = run._replace(size=0)
            if kind in given_up:
                rows.append(row_of(run, "skipped"))
                continue
            progress(run, "")
            row = supervised(run, limits, partial(progress, run))
            rows.append(row)
            if row["outcome"] != "finished":
                given_up.add(kind)
        if found := list(differences(rows)):
            raise Disagreement(f"{group[0].family} {group[0].size}: {'; '.join(found)}", rows)
        yield rows


class Disagreement(Exception):
    """The engines do not give the same answers. ``rows`` are without times."""

    def __init__(self, message: str, rows: Iterable[Row]) -> None:
        super().__init__(message)
        self.rows = [without_times(row) if row["outcome"] == "finished" else row for row in rows]
