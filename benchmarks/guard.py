"""The cost of a guard's checks on a live refund desk with many records.

    python benchmarks/guard.py --records 100000
    python benchmarks/guard.py --database postgresql+psycopg://user@host/db

The decision: the shield of the refund example is in force, each kind of answer is timed by itself, on records
drawn anew for each check, and what the guard proposes as indices is created first. `without` times the
checks in which no other calls are listed. A wrong answer ends the run.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import sqlalchemy as sa

import stead_sym as st
from stead_sym.conformance.binding import Binding, Rows

TABLES = {
    "case_status": ("case_id", "status"),
    "handler": ("case_id", "service"),
    "part_of": ("task_id", "case_id"),
    "approver": ("service", "approver"),
    "approved": ("task_id", "approver"),
    "refund_issued": ("task_id",),
}
RELATIONS = ("CaseStatus", "Handler", "PartOf", "Approver", "Approved", "RefundIssued")


def binding(url: str) -> Binding:
    """The tables of the desk as the relations of `refund`."""
    pairs = zip(RELATIONS, TABLES.items(), strict=True)
    return Binding(url, {}, relations={name: Rows(table, columns) for name, (table, columns) in pairs})


def fill(engine: sa.Engine, records: int) -> None:
    """Fill new tables with open cases of one task each; every second task is approved."""
    rows: dict[str, list[tuple[str, ...]]] = {
        "case_status": [(f"c{n}", "open") for n in range(records)],
        "handler": [(f"c{n}", f"s{1 + n // 2 % 2}") for n in range(records)],
        "part_of": [(f"t{n}", f"c{n}") for n in range(records)],
        "approver": [("s1", "a1"), ("s2", "a2")],
        "approved": [(f"t{n}", f"a{1 + n // 2 % 2}") for n in range(0, records, 2)],
        "refund_issued": [(f"t{n}",) for n in range(0, records, 10)],
    }
    with engine.begin() as connection:
        for table, columns in TABLES.items():
            made = ", ".join(f"{column} VARCHAR NOT NULL" for column in columns)
            connection.execute(sa.text(f"CREATE TABLE {table} ({made}, PRIMARY KEY ({', '.join(columns)}))"))
            names = [f":{column}" for column in columns]
            connection.execute(
                sa.text(f"INSERT INTO {table} VALUES ({', '.join(names)})"),
                [dict(zip(columns, row, strict=True)) for row in rows[table]],
            )


def answers(records: int) -> dict[str, Sequence[int]]:
    """The tasks whose refund is allowed, not allowed by the shield, and not offered."""
    return {
        "allowed": [n for n in range(records) if n % 2 == 0 and n % 10],
        "not allowed": range(1, records, 2),
        "not offered": range(0, records, 10),
    }


def timed(guard: st.Guard, records: int, checks: int, label: str) -> Iterator[dict[str, object]]:
    """Time the checks of each kind of answer, in milliseconds."""
    dice = random.Random(1)
    for answer, tasks in answers(records).items():
        times = []
        for task in dice.choices(tasks, k=checks):
            started = time.perf_counter()
            decision = guard.check("issue_refund", {"task_id": f"t{task}"})
            times.append(1000 * (time.perf_counter() - started))
            found = "allowed" if isinstance(decision, st.guard.Allowed) else decision.reason
            if found != answer:
                sys.exit(f"t{task} is {found}, and should be {answer}")
        yield {
            "answer": answer,
            "others": label,
            "records": records,
            "median ms": round(statistics.median(times), 2),
            "99% ms": round(sorted(times)[int(0.99 * (len(times) - 1))], 2),
        }


def main() -> None:
    """Print a row of JSON for each kind of answer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--checks", type=int, default=500)
    parser.add_argument("--database", help="the URL of an empty database; by default a new one of SQLite")
    options = parser.parse_args()
    desk = st.load("refund")
    shield = st.shield(desk)
    with tempfile.TemporaryDirectory() as folder:
        url = options.database or f"sqlite:///{Path(folder) / 'live.sqlite'}"
        engine = sa.create_engine(url)
        fill(engine, options.records)
        with st.Guard(desk, binding(url), shield=shield, bounds=False) as guard:
            guard.check("issue_refund", {"task_id": "none"})
            with engine.begin() as connection:
                for statement in guard.indices:
                    connection.execute(sa.text(statement))
                if engine.dialect.name == "postgresql":
                    connection.execute(sa.text("ANALYZE"))
        for label, instead in (("without", 0), ("five", 5)):
            with st.Guard(desk, binding(url), shield=shield, bounds=False, instead=instead) as guard:
                for row in timed(guard, options.records, options.checks, label):
                    print(json.dumps(row), flush=True)
        engine.dispose()


if __name__ == "__main__":
    main()
