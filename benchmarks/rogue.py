"""A rogue agent against a guard: forbidden payments on many connections at once, a good agent beside them.

    python benchmarks/rogue.py --attempts 1000 --connections 20
    python benchmarks/rogue.py --http
    python benchmarks/rogue.py --database postgresql+psycopg://user@host/db

The decision: the tools behind the guard check nothing (`careless_desk.py`), so that nothing else stands
between the agents and the money. Each connection has a proxy of its own, as a process, and these know of each
other only by the database; with `--http` all have one. A payment that gets through, a refusal that is not in
the log, and a refusal of the good agent end the run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

import anyio
import careless_desk
from mcp import Client, StdioServerParameters, stdio_client

import stead_sym as st

ROOT = Path(__file__).parents[1]
FILE = ROOT / "examples" / "refund_app" / "refunds.stead"


@dataclass(frozen=True)
class Desk:
    """The refunds by their numbers, and the log of the proxies.

    Agents have to let those that wait alone, and those that are paid. The good agent approves and pays hers,
    and all connections try to pay each that is raced for at the same time.
    """

    url: str
    log: Path
    waiting = range(1000, 1050)
    paid = range(2000, 2010)
    hers = range(3000, 3010)
    raced = range(4000, 4003)

    def fill(self) -> None:
        """Make the tables and the refunds."""
        waiting = dict.fromkeys([*self.waiting, *self.hers], "requested")
        states = {**waiting, **dict.fromkeys(self.raced, "approved"), **dict.fromkeys(self.paid, "paid")}
        careless_desk.new_desk(self.url, states).dispose()

    def forbidden(self) -> Iterator[dict[str, object]]:
        """The arguments of payments that no rule permits, for ever."""
        for w, p in zip(cycle(self.waiting), cycle(self.paid), strict=False):
            yield from ({"refund_id": number} for number in (w, p, w, 9, w, -1, w))
            yield from ({"refund_id": text} for text in (str(w), f"{w} OR 1=1", None, [w], w + 0.5, True))
            yield from ({"refund_id": w, "approved": True}, {"id": w}, {})

    def words(self) -> list[str]:
        """The command of a proxy."""
        server = [sys.executable, str(ROOT / "benchmarks" / "careless_desk.py"), self.url]
        guard = [sys.executable, "-m", "stead_sym", "guard", str(FILE), "--binding", "refund_app.binding"]
        options = ["--database", self.url, "--no-bounds", "--log", str(self.log), "--mcp-timeout", "600"]
        return [*guard, *options, "--mcp", shlex.join(server)]

    def start(self, *more: str) -> tuple[subprocess.Popen[str], str]:
        """Start a proxy that serves by HTTP, and return it with its URL."""
        words = [*self.words(), "--http", "127.0.0.1:0", *more]
        proxy = subprocess.Popen(words, env=environment(), stderr=subprocess.PIPE, text=True)
        assert proxy.stderr is not None
        for line in proxy.stderr:
            if found := re.search(r"serving (http:\S+)", line):
                return proxy, found[1]
        sys.exit(f"the proxy has ended with status {proxy.wait()}")

    def client(self, url: str | None) -> Client:
        """A client of the proxy at a URL, or of a new one."""
        if url is not None:
            return Client(url)
        command, *arguments = self.words()
        started = StdioServerParameters(command=command, args=arguments, env=environment())
        return Client(stdio_client(started, errlog=sys.__stderr__))


def environment() -> dict[str, str]:
    """The environment of proxies, which find there what this process finds."""
    path = os.pathsep.join([str(ROOT / "examples"), str(ROOT / "src"), *sys.path[1:]])
    return {**os.environ, "PYTHONPATH": path}


async def attack(desk: Desk, connections: int, attempts: int, url: str | None) -> Counter[str]:
    """Return how many calls of each agent had which answer."""
    answers: Counter[str] = Counter()

    async def call(agent: str, client: Client, tool: str, arguments: dict[str, object]) -> None:
        answer = await client.call_tool(tool, arguments)
        text = " ".join(getattr(part, "text", "") for part in answer.content)
        refused = answer.is_error and "was not carried out" in text
        answers[f"{agent} {'refused' if refused else 'failed' if answer.is_error else 'done'}"] += 1

    async def race(client: Client) -> None:
        for number in desk.raced:
            await call("racing", client, "pay_refund", {"refund_id": number})

    async def forbidden(client: Client, calls: Sequence[dict[str, object]]) -> None:
        for arguments in calls:
            await call("rogue", client, "pay_refund", arguments)

    async def compliant(client: Client) -> None:
        for number in desk.hers:
            await call("good", client, "approve_refund", {"refund_id": number, "staff_id": 2})
            await call("good", client, "pay_refund", {"refund_id": number})

    async with AsyncExitStack() as stack:
        rogues = [await stack.enter_async_context(desk.client(url)) for _ in range(connections)]
        good = await stack.enter_async_context(desk.client(url))
        async with anyio.create_task_group() as together:
            for client in rogues:
                together.start_soon(race, client)
        calls = list(islice(desk.forbidden(), attempts))
        async with anyio.create_task_group() as together:
            together.start_soon(compliant, good)
            for place, client in enumerate(rogues):
                together.start_soon(forbidden, client, calls[place::connections])
    return answers


def shortcomings(desk: Desk, connections: int, attempts: int, *, http: bool) -> Iterator[str]:
    """Attack a desk, and yield what is not as it should be: answers, the database, or the log."""
    proxy, url = desk.start() if http else (None, None)
    try:
        answers = anyio.run(attack, desk, connections, attempts, url)
    finally:
        if proxy is not None:
            proxy.terminate()
            proxy.wait()
    through = len(desk.raced) + 2 * len(desk.hers)
    late = len(desk.raced) * (connections - 1)
    expected = Counter({"rogue refused": attempts, "good done": 2 * len(desk.hers)})
    expected.update({"racing done": len(desk.raced), "racing refused": late})
    if answers != expected:
        yield f"the answers are {dict(answers)}, and should be {dict(expected)}"
    engine = careless_desk.connected(desk.url)
    with engine.connect() as connection:
        paid = careless_desk.payments(connection)
    engine.dispose()
    if paid != [*desk.hers, *desk.raced]:
        yield f"the payments are {paid}"
    replayed = st.replay_audit_log(desk.log, st.load(FILE))
    if not replayed.confirmed:
        yield replayed.fault
    logged = (replayed.allowed, replayed.outcomes, replayed.denied)
    if logged != (through, {"done": through}, attempts + late):
        yield f"the log has {replayed}"


def main() -> None:
    """Print a row of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--attempts", type=int, default=1000)
    parser.add_argument("--connections", type=int, default=20)
    parser.add_argument("--http", action="store_true", help="one proxy by HTTP for all connections")
    parser.add_argument("--database", help="the URL of an empty database; by default a new one of SQLite")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = options.database or f"sqlite:///{Path(folder) / 'live.sqlite'}"
        desk = Desk(url, Path(folder) / "audit.jsonl")
        desk.fill()
        started = time.perf_counter()
        for line in shortcomings(desk, options.connections, options.attempts, http=options.http):
            sys.exit(line)
        seconds = round(time.perf_counter() - started, 1)
    row = {"database": url.split(":")[0], "http": options.http, "connections": options.connections}
    print(json.dumps({**row, "refused": options.attempts, "through": 0, "seconds": seconds}))


if __name__ == "__main__":
    main()
