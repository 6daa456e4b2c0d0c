"""The cost of decisions in production: on large live views, and from many threads on live databases.

    python benchmarks/production.py views
    python benchmarks/production.py threads --database live.sqlite --threads 50 --seconds 60
    python benchmarks/production.py threads --database postgresql://user@host/db

The decision: times are measured from outside, one row of JSON per measurement, and a run in which a
decision is not covered prints no times.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing

from live_refunds import Database, Desk

import stead_sym as st

SIZES = (1_000, 2_000, 5_000, 10_000, 20_000)


def live(desk: st.Deployment, size: int, kind: str, dice: random.Random) -> st.DecisionContext:
    """A view of ``size`` facts and the refunds that can be paid there: `hubs`: two handlers have all cases;
    `parts`: each case has a handler of its own; `one by one`: no two cases are alike."""
    facts = [st.relational.Fact("Approver", ("s1", "a1")), st.relational.Fact("Approver", ("s2", "a2"))]
    calls = []
    while len(facts) < size:
        case, task = f"c{dice.getrandbits(48):x}", f"t{dice.getrandbits(48):x}"
        status = dice.choice(["open", "resolved"])
        handler = dice.choice(["s1", "s2"]) if kind == "hubs" else f"s{case}"
        facts += [
            st.relational.Fact("CaseStatus", (case, status)),
            st.relational.Fact("Handler", (case, handler)),
            st.relational.Fact("PartOf", (task, case)),
        ]
        if kind == "one by one":
            facts += [
                st.relational.Fact("PartOf", (f"{task}.{i}", case)) for i in range(len(facts) % 97 % 40)
            ]
        if status == "resolved":
            facts.append(st.relational.Fact("RefundIssued", (task,)))
        else:
            calls.append(st.Call("issue_refund", (task,)))
    return st.DecisionContext(st.Instance.of(desk.schema, facts), frozenset(calls))


def changed(context: st.DecisionContext, dice: random.Random) -> st.DecisionContext:
    """The context after the refund of one task was paid."""
    paid = dice.choice(sorted(context.calls))
    view = st.Instance(
        context.view.schema, context.view.facts | {st.relational.Fact("RefundIssued", paid.args)}
    )
    return st.DecisionContext(view, context.calls - {paid})


def copied(context: st.DecisionContext) -> st.DecisionContext:
    """An equal context, read anew."""
    view = st.Instance.of(
        context.view.schema, [st.relational.Fact(*map(_copy, fact)) for fact in context.view.facts]
    )
    return st.DecisionContext(view, frozenset(st.Call(*call) for call in context.calls))


def _copy(part: object) -> object:
    return tuple("".join([*value]) for value in part) if isinstance(part, tuple) else part


def views(sizes: tuple[int, ...]) -> Iterator[dict[str, object]]:
    """Milliseconds of processor time of a decision: the first on new data, the same object again, an equal
    one, after one case has changed so that the context is new, and back at one that was seen."""
    desk = st.load("refund")
    for kind in ("hubs", "parts", "one by one"):
        for size in sizes:
            dice = random.Random(size)
            wrapper = st.CanonicalWrapper(st.agents.FunctionAgent(_first), desk.schema, desk.tools)
            wrapper.decide([live(desk, 300, kind, dice)])  # imports, and whatever else happens once
            context = live(desk, size, kind, dice)
            later = changed(context, dice)
            row: dict[str, object] = {"case": kind, "facts": len(context.view), "calls": len(context.calls)}
            for name, one in [
                ("first", context),
                ("again", context),
                ("equal", copied(context)),
                ("changed", later),
                ("back", context),
            ]:
                started = time.process_time()
                [decision] = wrapper.decide([one])
                row[f"{name} ms"] = _ms(time.process_time() - started)
            started = time.process_time()
            row["selected"] = len(decision.calls)
            row["calls ms"] = _ms(time.process_time() - started)
            yield row


def _first(context: st.DecisionContext) -> st.Call:
    return min(context.calls)


def threads(words: str, number: int, seconds: float) -> dict[str, object]:
    """So many desks work for so long, each in a thread; latencies of whole turns (read, decide, write) and of
    decisions alone, in milliseconds."""
    desk = st.load("refund")
    served = st.VerifiedAgent(desk, st.verify(desk, "approving"), "approving")
    turns: list[list[float]] = [[] for _ in range(number)]
    decisions: list[float] = []
    decide = served.decide

    def timed(state: st.Instance | st.DecisionContext) -> st.analyses.Granted:
        started = time.perf_counter()
        granted = decide(state)
        decisions.append(time.perf_counter() - started)
        return granted

    served.decide = timed  # type: ignore[method-assign]
    faults: list[BaseException] = []
    uncovered = 0
    with closing(Database(words, number)) as database:
        desks = [Desk(database, f"desk {i}", random.Random(i)) for i in range(number)]
        until = time.perf_counter() + seconds

        def work(one: Desk, own: list[float]) -> None:
            nonlocal uncovered
            try:
                while (started := time.perf_counter()) < until:
                    uncovered += not one.turn(served).granted.covered
                    own.append(time.perf_counter() - started)
            except BaseException as fault:
                faults.append(fault)
                raise

        started = time.perf_counter()
        running = [threading.Thread(target=work, args=pair) for pair in zip(desks, turns, strict=True)]
        for one in running:
            one.start()
        for one in running:
            one.join()
        wall = time.perf_counter() - started
        kind = database.reading.dialect.name
        cases, unapproved = (sum(found) for found in zip(*(one.archived() for one in desks), strict=True))
    found = [one for own in turns for one in own]
    if faults or uncovered or unapproved:
        return {"case": kind, "threads": number, "uncovered": uncovered, "faults": [*map(repr, faults)]}
    return {
        "case": kind,
        "threads": number,
        "seconds": round(wall, 1),
        "decisions": len(found),
        "uncovered": uncovered,
        "cases": cases,
        "unapproved": unapproved,
        "least of a thread": min(map(len, turns)),
        "per second": round(len(found) / wall),
        **_latencies("turn", found),
        **_latencies("decision", decisions),
    }


def _latencies(name: str, found: list[float]) -> dict[str, object]:
    cuts = statistics.quantiles(found, n=100)
    return {
        f"{name} median ms": _ms(statistics.median(found)),
        f"{name} 99th percentile ms": _ms(cuts[98]),
        f"{name} most ms": _ms(max(found)),
    }


def _ms(seconds: float) -> float:
    return round(1000 * seconds, 3)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=["views", "threads"])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument(
        "--database", default="live.sqlite", help="a file that is not there, or postgresql://…"
    )
    parser.add_argument("--threads", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    if options.what == "views":
        for row in views(tuple(options.sizes)):
            print(json.dumps(row), flush=True)
        return 0
    row = threads(options.database, options.threads, options.seconds)
    print(json.dumps(row))
    return 0 if row.get("cases") else 1


if __name__ == "__main__":
    sys.exit(main())
