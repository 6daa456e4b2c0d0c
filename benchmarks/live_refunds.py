"""The refund workflow in production: live rows in a database, and decisions by a verified agent.

Rows are in SQLite or PostgreSQL, and the tools write them. The decision: only verified calls are executed,
unless others are requested. No transaction is open while the agent decides: a desk is read in one, and the
call is made in another, which first checks that the desk is unchanged.

    stead-sym verify refund --agent hf:DIR --json > report.json
    python benchmarks/live_refunds.py --report report.json --cases 100
"""

from __future__ import annotations

import argparse
import random
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from stead_sym.agents.prompts.prompt import Prompt
from stead_sym.agents.records.store import open_store
from stead_sym.analyses.production import Granted, NotVerified, OnUnknown, VerifiedAgent
from stead_sym.deployment.files import load
from stead_sym.deployment.tool import Call
from stead_sym.errors import InputError, SteadError
from stead_sym.models.agent import ModelAgent
from stead_sym.models.backends import open_backend
from stead_sym.relational.instance import Fact, Instance
from stead_sym.verification.verify import verify

TABLES = (
    "CREATE TABLE desk (name TEXT PRIMARY KEY, version INTEGER NOT NULL)",
    "CREATE TABLE approver (service TEXT PRIMARY KEY, approver TEXT NOT NULL)",
    "CREATE TABLE refund_case (id TEXT PRIMARY KEY, desk TEXT NOT NULL, status TEXT NOT NULL,"
    " service TEXT NOT NULL)",
    "CREATE INDEX case_of_desk ON refund_case (desk)",
    "CREATE TABLE task (id TEXT PRIMARY KEY, case_id TEXT NOT NULL REFERENCES refund_case (id),"
    " refunded INTEGER NOT NULL)",
    "CREATE INDEX task_of_case ON task (case_id)",
    "CREATE TABLE approval (task_id TEXT NOT NULL REFERENCES task (id), approver TEXT NOT NULL,"
    " PRIMARY KEY (task_id, approver))",
    "CREATE TABLE archive (desk TEXT NOT NULL, case_id TEXT NOT NULL, task_id TEXT NOT NULL,"
    " approvals INTEGER NOT NULL)",
    "INSERT INTO approver VALUES ('s1', 'a1'), ('s2', 'a2')",
)
_TASKS = "FROM task JOIN refund_case ON case_id = refund_case.id"
QUERIES: Mapping[str, str] = {
    "Approver": "SELECT service, approver FROM approver",
    "CaseStatus": "SELECT id, status FROM refund_case WHERE desk = :desk",
    "Handler": "SELECT id, service FROM refund_case WHERE desk = :desk",
    "PartOf": f"SELECT task.id, case_id {_TASKS} WHERE desk = :desk",
    "Approved": f"SELECT task_id, approver {_TASKS} JOIN approval ON task_id = task.id WHERE desk = :desk",
    "RefundIssued": f"SELECT task.id {_TASKS} WHERE desk = :desk AND refunded = 1",
}
"""The queries that read the relations of the deployment from the tables, for one desk."""

_OF_CASE = "SELECT id FROM task WHERE case_id = :case_id"
CALLS: Mapping[str, tuple[str, ...]] = {
    "ingest_case": (
        "INSERT INTO refund_case VALUES (:new_case, :desk, 'open', :handler)",
        "INSERT INTO task VALUES (:new_task, :new_case, 0)",
    ),
    "issue_refund": ("UPDATE task SET refunded = 1 WHERE id = :task_id",),
    "obtain_approval": ("INSERT INTO approval VALUES (:task_id, :approver_id) ON CONFLICT DO NOTHING",),
    "resolve_case": ("UPDATE refund_case SET status = 'resolved' WHERE id = :case_id",),
    "archive_case": (
        "INSERT INTO archive SELECT :desk, case_id, id,"
        " (SELECT count(*) FROM approval WHERE task_id = task.id) FROM task WHERE case_id = :case_id",
        f"DELETE FROM approval WHERE task_id IN ({_OF_CASE})",
        "DELETE FROM task WHERE case_id = :case_id",
        "DELETE FROM refund_case WHERE id = :case_id",
    ),
}
"""The statements of each tool on the tables, over its parameters and the names of new rows."""


class Database:
    """The tables of all desks, created if they do not exist.

    ``words`` is a file for SQLite, `:memory:` for one thread, or the URL of a PostgreSQL database.
    """

    def __init__(self, words: str, connections: int = 5) -> None:
        options = {"check_same_thread": False, "timeout": 60.0}
        # In SQLite a waiting writer sleeps; threads of one process can use a lock instead.
        self.turns: Any = threading.Lock()
        if "://" in words:
            url = sa.make_url(words).set(drivername="postgresql+psycopg")
            self.turns = nullcontext()
            self.reading = sa.create_engine(url, pool_size=connections, isolation_level="REPEATABLE READ")
        elif words == ":memory:":
            self.reading = sa.create_engine("sqlite://", poolclass=sa.StaticPool, connect_args=options)
        else:
            file = sa.URL.create("sqlite", database=words)
            self.reading = sa.create_engine(file, pool_size=connections, connect_args=options)
        self.writing = self.reading.execution_options(writes=True)
        if self.reading.dialect.name == "sqlite":
            sa.event.listen(self.reading, "connect", _prepare)
            sa.event.listen(self.reading, "begin", _begin)
        with self.writing.begin() as connection:
            if not sa.inspect(connection).has_table("desk"):
                for statement in TABLES:
                    connection.exec_driver_sql(statement)

    def close(self) -> None:
        """Close all connections."""
        self.reading.dispose()


def _prepare(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # only `_begin` starts transactions
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")


def _begin(connection: sa.Connection) -> None:
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@dataclass(frozen=True, slots=True)
class Turn:
    """One decision of a desk: the granted calls, and the call that was made."""

    granted: Granted
    call: Call


class Desk:
    """A refund desk: one case at a time, as in the deployment; several desks share the tables."""

    def __init__(self, database: Database, name: str, dice: random.Random) -> None:
        self._database = database
        self._name = name
        self._dice = dice
        with database.turns, database.writing.begin() as connection:
            connection.execute(
                sa.text("INSERT INTO desk VALUES (:desk, 0) ON CONFLICT DO NOTHING"), {"desk": name}
            )

    def turn(self, agent: VerifiedAgent) -> Turn:
        """Read the desk, decide, and make one of the granted calls; retry if the desk has changed meanwhile.

        Exceptions of the agent are propagated, with nothing written.
        """
        while True:
            version, state = self.read(agent)
            granted = agent.decide(state)
            call = self._dice.choice(sorted(granted.calls))
            if self._made(agent, call, version):
                return Turn(granted, call)

    def read(self, agent: VerifiedAgent) -> tuple[int, Instance]:
        """Return the version of the desk, and its rows as an instance of the deployment's schema."""
        desk = {"desk": self._name}
        with self._database.reading.begin() as connection:
            version = connection.execute(_VERSION, desk).scalar_one()
            facts = [
                Fact(name, tuple(row))
                for name, query in _PREPARED.items()
                for row in connection.execute(query, desk)
            ]
        return version, Instance.of(agent.deployment.schema, facts)

    def _made(self, agent: VerifiedAgent, call: Call, version: int) -> bool:
        """Make the call, in one transaction; return False if the desk's version has changed."""
        params = [param.name for param in agent.deployment.tool(call.tool).params]
        values = {
            **dict(zip(params, call.args, strict=True)),
            "desk": self._name,
            "version": version,
        }
        if call.tool == "ingest_case":
            new = {"new_case": self._new("case"), "new_task": self._new("task")}
            values |= {**new, "handler": self._dice.choice(["s1", "s2"])}
        with self._database.turns, self._database.writing.begin() as connection:
            if not connection.execute(_ADVANCE, values).rowcount:
                return False
            for statement in _STATEMENTS[call.tool]:
                connection.execute(statement, values)
        return True

    def _new(self, kind: str) -> str:
        return f"{kind}-{self._dice.getrandbits(64):016x}"

    def archived(self) -> tuple[int, int]:
        """Return the number of archived cases, and of those that were refunded without any approval."""
        with self._database.reading.begin() as connection:
            row = connection.execute(_ARCHIVED, {"desk": self._name}).one()
        return row[0], row[1]


_VERSION = sa.text("SELECT version FROM desk WHERE name = :desk")
_ADVANCE = sa.text("UPDATE desk SET version = version + 1 WHERE name = :desk AND version = :version")
_ARCHIVED = sa.text(
    "SELECT count(*), count(CASE WHEN approvals = 0 THEN 1 END) FROM archive WHERE desk = :desk"
)
_PREPARED = {name: sa.text(query) for name, query in QUERIES.items()}
_STATEMENTS = {name: [sa.text(one) for one in statements] for name, statements in CALLS.items()}


@dataclass(frozen=True, slots=True)
class Run:
    """The result of a run in production.

    ``uncovered`` are the decisions outside the verification; if these are refused, the one at which a desk
    stopped and which was not executed.
    """

    cases: int
    decisions: int
    refunds: int
    unapproved: int
    uncovered: tuple[NotVerified, ...]


def operate(
    agent: VerifiedAgent, database: Database, *, cases: int, desks: int = 1, seed: int = 0, patience: int = 50
) -> Run:
    """Process ``cases`` cases at each of the desks, in parallel.

    A desk stops early at a refused decision, and if a case takes more than ``patience`` decisions.
    """
    with ThreadPoolExecutor(desks) as threads:
        work = [
            threads.submit(_work, agent, database, f"desk {number}", cases, seed + number, patience)
            for number in range(desks)
        ]
        runs = [one.result() for one in work]
    return Run(
        sum(run.cases for run in runs),
        sum(run.decisions for run in runs),
        sum(run.refunds for run in runs),
        sum(run.unapproved for run in runs),
        tuple(unknown for run in runs for unknown in run.uncovered),
    )


def _work(agent: VerifiedAgent, database: Database, name: str, cases: int, seed: int, patience: int) -> Run:
    desk = Desk(database, name, random.Random(seed))
    uncovered: list[NotVerified] = []
    done = decisions = refunds = since = 0
    while done < cases and since < patience:
        try:
            turn = desk.turn(agent)
        except NotVerified as refused:
            uncovered.append(refused)
            break
        if turn.granted.not_verified is not None:
            uncovered.append(turn.granted.not_verified)
        decisions += 1
        refunds += turn.call.tool == "issue_refund"
        archived = turn.call.tool == "archive_case"
        done, since = done + archived, 0 if archived else since + 1
    archived_cases, unapproved = desk.archived()
    return Run(archived_cases, decisions, refunds, unapproved, tuple(uncovered))


def main() -> int:
    """Run the command line, and return the exit status."""
    parser = argparse.ArgumentParser(description="Work off refund cases with a verified agent.")
    parser.add_argument("agent", metavar="hf:MODEL", nargs="?", help="default: the decisions of the report")
    parser.add_argument(
        "--report", metavar="FILE", help="of `stead-sym verify refund --json`; default: verify"
    )
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--database", default=":memory:", help="a file, or postgresql://…")
    parser.add_argument("--desks", type=int, default=1)
    parser.add_argument("--store", metavar="FILE")
    parser.add_argument("--on-unknown", choices=["refuse", "ask"], default="refuse")
    options = parser.parse_args()
    deployment = load("refund")
    try:
        model = None
        if options.agent is not None:
            model = ModelAgent(open_backend(options.agent), Prompt.of(deployment), open_store(options.store))
        if options.report is None and model is None:
            raise InputError("there is nothing verified to work by; name a model, or a report")
        verified: Any = options.report
        if verified is None and model is not None:
            verified = verify(deployment, model)
            print(verified)
        on_unknown: OnUnknown = options.on_unknown
        agent = VerifiedAgent(deployment, verified, model, on_unknown=on_unknown)
        database = Database(options.database, options.desks + 1)
        try:
            run = operate(agent, database, cases=options.cases, desks=options.desks)
        finally:
            database.close()
    except SteadError as error:
        print(error, file=sys.stderr)
        return error.exit_status
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or error).splitlines()[0]
        print(f"{options.database}: {reason}; name a database that can be used", file=sys.stderr)
        return InputError.exit_status
    print(
        f"{run.cases} cases, {run.decisions} decisions, {run.refunds} refunds, {run.unapproved} without"
        f" approval; {len(run.uncovered)} decisions that the verification did not cover"
    )
    for unknown in run.uncovered[:3]:
        print(f"  {unknown}")
    return 1 if run.uncovered else 0


if __name__ == "__main__":
    sys.exit(main())
