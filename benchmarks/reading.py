"""Reading facts: time and memory from a file or a database to the deployment, and on to its domain sizes.

    python benchmarks/reading.py [--facts 1000000] [--values 20000]

Writes tables of random orders (an order and a user to each row, two facts) into a temporary folder, as CSV,
compressed CSV, Parquet (extra `data`) and SQLite, and reads each in a process of its own. The last two rows
read a table of so many orders as `--values` says, once into a finite sort that lists them and once into an
open one. Prints one row of JSON each: facts, seconds to the deployment, to the sizes of its domain and to the
digest of its text, of the clock and of the processor (on a busy machine look at the latter), and the most
memory that the process had.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import stead_sym as st
from stead_sym.evidence.data import text_digest

HEAD = """deployment shop
sort user
{order}
sort status = {{ open, packed, sent, returned }} rigid
relation Owner(order, user)
relation Status(order, status)
{init}
tool wait()
spec some_order EF exists o: order. Status(o, open)
"""
INTO = "into Owner(order, user), Status(order, status)"


def rows(number: int, different: int) -> list[tuple[str, int, str]]:
    """So many rows of so many different orders, whose numbers look like those of a shop."""
    random.seed(7)
    status = ("open", "packed", "sent", "returned")
    return [
        (f"A-{k % different}", random.randrange(1, 1 + number // 3), random.choice(status))
        for k in range(number)
    ]


def write(folder: Path, number: int) -> dict[str, str]:
    """The tables; the kind of each with what stands in `init from`."""
    table, header = rows(number, number), ("order", "user", "status")
    with open(folder / "orders.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *table])
    with open(folder / "orders.csv", "rb") as plain, gzip.open(folder / "orders.csv.gz", "wb", 6) as packed:
        shutil.copyfileobj(plain, packed)
    with sqlite3.connect(folder / "orders.sqlite") as connection:
        connection.execute('create table orders ("order" text, user integer, status text)')
        connection.executemany("insert into orders values (?, ?, ?)", table)
    kinds = {
        "csv": '"orders.csv"',
        "csv.gz": '"orders.csv.gz"',
        "sqlite": '"sqlite:///orders.sqlite" table "orders"',
    }
    if find_spec("pyarrow"):
        import pyarrow as pa
        from pyarrow import parquet

        arrays = {name: list(column) for name, column in zip(header, zip(*table, strict=True), strict=True)}
        parquet.write_table(pa.table(arrays), folder / "orders.parquet")
        kinds["parquet"] = '"orders.parquet"'
    return kinds


def measured(file: Path) -> dict[str, object]:
    """The costs of reading one deployment, in this process."""
    clock, cpu = [time.perf_counter()], [time.process_time()]

    def lap() -> None:
        clock.append(time.perf_counter())
        cpu.append(time.process_time())

    deployment = st.load(file)
    lap()
    st.deployment.normal_restriction(deployment)
    lap()
    text_digest(deployment)
    lap()
    stages = ("read", "sizes", "digest")
    return {
        "facts": len(deployment.init),
        **{f"{stage}_s": round(clock[k + 1] - clock[k], 2) for k, stage in enumerate(stages)},
        **{f"{stage}_cpu_s": round(cpu[k + 1] - cpu[k], 2) for k, stage in enumerate(stages)},
        "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def apart(case: str, file: Path) -> None:
    """Measure in a process of its own, and print the row."""
    done = subprocess.run(
        [sys.executable, __file__, "--one", str(file)], capture_output=True, text=True, check=True
    )
    print(json.dumps({"case": case, **json.loads(done.stdout)}), flush=True)


def main() -> None:
    """Run the cases."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--facts", type=int, default=1_000_000)
    parser.add_argument("--values", type=int, default=20_000)
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measured(options.one)))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, source in write(folder, options.facts // 2).items():
            file = folder / f"{kind}.stead"
            file.write_text(
                HEAD.format(order="sort order", init=f"init from {source} {INTO}"), encoding="utf-8"
            )
            apart(kind, file)
        table = rows(options.values, options.values)
        with open(folder / "some.csv", "w", newline="", encoding="utf-8") as out:
            csv.writer(out).writerows([("order", "user", "status"), *table])
        listed = ", ".join(f"order_A_{k}" for k in range(options.values))
        for kind, sort in (("open sort", "sort order"), ("finite sort", f"sort order = {{ {listed} }}")):
            file = folder / "some.stead"
            file.write_text(HEAD.format(order=sort, init=f'init from "some.csv" {INTO}'), encoding="utf-8")
            apart(f"{kind} of {options.values}", file)


if __name__ == "__main__":
    main()
