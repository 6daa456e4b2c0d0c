"""The refund workflow in production: live rows in SQLite, decisions by a wrapped agent, tools that write.

The decision: production uses the objects of the verification, the same wrapper class, prompt and store, and
checks each decision it takes against those that the verification covered.

    python -m stead_sym.examples.production hf:DIR --cases 100 --store decisions.sqlite
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass

from stead_sym.agent.base import Agent, DecisionContext
from stead_sym.agent.models.agent import ModelAgent
from stead_sym.agent.models.backends import open_backend, open_store
from stead_sym.agent.prompts.prompt import Prompt
from stead_sym.agent.wrapper import CanonicalWrapper
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.semantics import offer, view
from stead_sym.deployment.tool import Call
from stead_sym.errors import InputError, SteadError
from stead_sym.files import load
from stead_sym.relational.instance import Fact, Instance
from stead_sym.verification import Verification, verify

TABLES = """
CREATE TABLE approver (service TEXT PRIMARY KEY, approver TEXT NOT NULL);
CREATE TABLE refund_case (id TEXT PRIMARY KEY, status TEXT NOT NULL, service TEXT NOT NULL);
CREATE TABLE task (
    id TEXT PRIMARY KEY, case_id TEXT NOT NULL REFERENCES refund_case (id), refunded_at TEXT
);
CREATE TABLE approval (
    task_id TEXT NOT NULL REFERENCES task (id), approver TEXT NOT NULL, UNIQUE (task_id, approver)
);
CREATE TABLE archive (case_id TEXT NOT NULL, task_id TEXT NOT NULL, approvals INTEGER NOT NULL);
"""
QUERIES: Mapping[str, str] = {
    "Approver": "SELECT service, approver FROM approver",
    "CaseStatus": "SELECT id, status FROM refund_case",
    "Handler": "SELECT id, service FROM refund_case",
    "PartOf": "SELECT id, case_id FROM task",
    "Approved": "SELECT task_id, approver FROM approval",
    "RefundIssued": "SELECT id FROM task WHERE refunded_at IS NOT NULL",
}
"""How the relations of the deployment are read from the tables."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a run in production did. ``uncovered`` are decisions that the verification did not have."""

    cases: int
    decisions: int
    queries: int
    refunds: int
    unapproved: int
    uncovered: tuple[DecisionContext, ...]


class Desk:
    """The refund desk: a database, and the tools that write to it."""

    def __init__(self, db: sqlite3.Connection, dice: random.Random) -> None:
        self._db = db
        self._dice = dice
        db.executescript(TABLES)
        with db:
            db.executemany("INSERT INTO approver VALUES (?, ?)", [("s1", "a1"), ("s2", "a2")])

    def read(self, deployment: Deployment) -> Instance:
        """The rows as an instance of the deployment's schema."""
        return Instance.of(
            deployment.schema,
            (Fact(name, tuple(row)) for name, query in QUERIES.items() for row in self._db.execute(query)),
        )

    def call(self, call: Call) -> None:
        """Carry out a call, in one transaction."""
        tools: Mapping[str, Callable[..., None]] = {
            "ingest_case": self._ingest_case,
            "issue_refund": self._issue_refund,
            "obtain_approval": self._obtain_approval,
            "resolve_case": self._resolve_case,
            "archive_case": self._archive_case,
        }
        with self._db:
            tools[call.tool](*call.args)

    @property
    def archived(self) -> int:
        """The number of cases that went all the way."""
        count: int = self._db.execute("SELECT count(*) FROM archive").fetchone()[0]
        return count

    @property
    def unapproved(self) -> int:
        """The number of those whose refund was paid without any approval."""
        count: int = self._db.execute("SELECT count(*) FROM archive WHERE approvals = 0").fetchone()[0]
        return count

    def _new(self, kind: str) -> str:
        return f"{kind}-{self._dice.getrandbits(64):016x}"

    def _ingest_case(self) -> None:
        case, task = self._new("case"), self._new("task")
        handler = self._dice.choice(["s1", "s2"])
        self._db.execute("INSERT INTO refund_case VALUES (?, 'open', ?)", (case, handler))
        self._db.execute("INSERT INTO task VALUES (?, ?, NULL)", (task, case))

    def _issue_refund(self, task: str) -> None:
        self._db.execute("UPDATE task SET refunded_at = datetime('now') WHERE id = ?", (task,))

    def _obtain_approval(self, task: str, approver: str) -> None:
        self._db.execute("INSERT OR IGNORE INTO approval VALUES (?, ?)", (task, approver))

    def _resolve_case(self, case: str) -> None:
        self._db.execute("UPDATE refund_case SET status = 'resolved' WHERE id = ?", (case,))

    def _archive_case(self, case: str) -> None:
        self._db.execute(
            "INSERT INTO archive SELECT case_id, id, (SELECT count(*) FROM approval WHERE task_id = task.id)"
            " FROM task WHERE case_id = ?",
            (case,),
        )
        tasks = "SELECT id FROM task WHERE case_id = ?"
        self._db.execute(f"DELETE FROM approval WHERE task_id IN ({tasks})", (case,))
        self._db.execute("DELETE FROM task WHERE case_id = ?", (case,))
        self._db.execute("DELETE FROM refund_case WHERE id = ?", (case,))


def operate(
    deployment: Deployment,
    agent: Agent,
    verified: Verification,
    db: sqlite3.Connection,
    *,
    cases: int,
    seed: int = 0,
    patience: int = 50,
) -> Run:
    """Work off ``cases`` cases. A case that takes more than ``patience`` decisions ends the run early."""
    dice = random.Random(seed)
    desk = Desk(db, dice)
    wrapper = CanonicalWrapper(agent, deployment.schema, deployment.tools)
    covered = dict(verified.decisions)
    uncovered: dict[DecisionContext, None] = {}
    decisions = refunds = since = 0
    while desk.archived < cases and since < patience:
        state = desk.read(deployment)
        context = DecisionContext(view(deployment, state), offer(deployment, state))
        decision = wrapper.decide([context])[0]
        if covered.get(decision.canonical) != decision.selected:
            uncovered[decision.canonical] = None
        call = dice.choice(sorted(decision.calls))
        before = desk.archived
        desk.call(call)
        decisions += 1
        refunds += call.tool == "issue_refund"
        since = 0 if desk.archived > before else since + 1
    return Run(desk.archived, decisions, wrapper.queries, refunds, desk.unapproved, tuple(uncovered))


def main() -> int:
    parser = argparse.ArgumentParser(description="Verify the refund workflow, then work off cases of it.")
    parser.add_argument("agent", metavar="hf:MODEL")
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--database", default=":memory:")
    parser.add_argument("--store", metavar="FILE")
    options = parser.parse_args()
    deployment = load("refund")
    try:
        agent = ModelAgent(open_backend(options.agent), Prompt.of(deployment), open_store(options.store))
        verified = verify(deployment, agent)
        print(verified)
        with closing(sqlite3.connect(options.database)) as db:
            run = operate(deployment, agent, verified, db, cases=options.cases)
    except SteadError as error:
        print(error, file=sys.stderr)
        return error.exit_status
    except sqlite3.Error as error:
        print(f"{options.database}: {error}; name a database that is not there yet", file=sys.stderr)
        return InputError.exit_status
    print(
        f"{run.cases} cases, {run.decisions} decisions, {run.queries} of them by asking the model; "
        f"{run.refunds} refunds, {run.unapproved} without approval; "
        f"{len(run.uncovered)} decisions that the verification did not cover"
    )
    return 1 if run.uncovered else 0


if __name__ == "__main__":
    sys.exit(main())
