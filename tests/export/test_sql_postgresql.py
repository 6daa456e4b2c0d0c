"""Tables and tools that are exported as SQL run on PostgreSQL, and do there what the deployment says.

The rows are loaded and read by statements of this file, not by those of `conform`.
"""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path
from random import Random

import pytest
import sqlalchemy as sa

import stead_sym as st
from postgresql import server
from stead_sym.conformance.binding import Binding, sql_tools
from stead_sym.conformance.conform import conform
from stead_sym.conformance.walks import small_restriction
from stead_sym.deployment.initial import initial_states
from stead_sym.deployment.restriction import normal_restriction
from stead_sym.deployment.semantics import calls_of, databases, possible
from stead_sym.deployment.tool import Call
from stead_sym.export.sql_tables import sql_tables
from stead_sym.relational.canonical import isomorphic
from stead_sym.relational.instance import Fact, Instance

ROOT = Path(__file__).parents[2]
FILES = [
    *(ROOT / "src" / "stead_sym" / "examples" / f"{name}.stead" for name in ("bank", "refund", "ward")),
    ROOT / "examples" / "refund_app" / "refunds.stead",
]
ODD = """deployment odd
sort User, order, table
sort status = { select_, Grant_, in_20_review, it_27_s } rigid
sort level = { low < middle < high } rigid
sort n = 0..2
relation User(id: User key)
relation Order(id: order key, User: User references User, group: status, left: n)
relation OrderTable(from: order key references Order, table)
relation Grant(order: order references Order, level)
relation Closed()
init
  User(Ann)
  Order(O1, Ann, select_, 2)
  Order(o2, Ann, it_27_s, 1)
  OrderTable(O1, T)
  Grant(O1, middle)
tool take(order: order, k: n)
  guard 0 < k & (exists m: n. Order(id = order, left = m) & k <= m) & ~Closed()
  effect set Order(order).left = m - k for m where Order(id = order, left = m)
tool limit(order: order)
  guard exists l. (Grant(order, l) & l < high) & Order(id = order, group = select_)
  effect
    set Order(order).group = Grant_
    delete Grant(order, _)
    insert Grant(order, high)
tool close()
  guard Order(left = 0)
  effect insert Closed()
tool reopen(table: table)
  guard Closed() & OrderTable(_, table)
  effect
    delete Closed()
    set Order(o).group = in_20_review for o: order where OrderTable(o, table)
tool split(order: order)
  guard Order(id = order, group = it_27_s) & atmost 3 o: order. Order(id = o)
  effect
    fresh new: order
    insert Order(new, u, select_, 1) for u: User where Order(id = order, User = u)
terminal
"""
RUNS = 36


@pytest.fixture(scope="module")
def database():
    with server() as new:
        yield new


class Exported:
    """A deployment as tables and tools in a database."""

    def __init__(self, deployment, engine):
        self.deployment, self.engine = deployment, engine
        sql = st.to_sql(deployment, "postgres")
        self.left_out = sql.left_out
        self.tables = sql_tables(deployment, "postgres")
        with engine.begin() as connection:
            for statement in [*split(sql.tables), *split(sql.rows)]:
                connection.exec_driver_sql(statement)
        self.tools = {}
        for part in re.split(r"^-- name: ", sql.tools, flags=re.MULTILINE)[1:]:
            name, body = part.split("\n", 1)
            self.tools[name] = split(re.sub(r"^--.*\n", "", body, flags=re.MULTILINE))

    def columns(self, relation):
        table = self.tables[relation.name]
        return table.name, ", ".join(table.columns or ("there",))

    def state(self, connection):
        facts = set()
        for relation in self.deployment.schema.relations:
            name, columns = self.columns(relation)
            for row in connection.exec_driver_sql(f"SELECT {columns} FROM {name}"):
                facts.add(Fact(relation.name, tuple(str(cell) for cell in row[: len(relation.sorts)])))
        return Instance(self.deployment.schema, frozenset(facts))

    def load(self, connection, state):
        order, left = [], list(self.deployment.schema.relations)
        while left:
            order += [r for r in left if not {target for _, target in r.refers} & {one.name for one in left}]
            left = [relation for relation in left if relation not in order]
        for relation in reversed(order):
            connection.exec_driver_sql(f"DELETE FROM {self.columns(relation)[0]}")
        for relation in order:
            name, columns = self.columns(relation)
            for args in state.tuples(relation.name):
                cells = tuple(map(self.cell, relation.sorts, args)) or ("yes",)
                marks = ", ".join(["%s"] * len(cells))
                connection.exec_driver_sql(f"INSERT INTO {name} ({columns}) VALUES ({marks})", cells)

    def cell(self, sort, value):
        return int(value) if self.deployment.schema.sort(sort).is_numeric else value

    def run(self, state, call):
        """Make a call in a state; return where it leads, and whether it was refused."""
        params = self.deployment.tool(call.tool).params
        given = {p.name: self.cell(p.sort, value) for p, value in zip(params, call.args, strict=True)}
        with self.engine.connect() as connection:
            self.load(connection, state)
            for statement in self.tools[call.tool]:
                names = re.findall(r"(?<![:\w]):(\w+)", statement)
                values = {name: given.get(name, f"new {name}") for name in names}
                found = connection.execute(sa.text(statement), values)
                if statement.startswith("SELECT") and found.first() is None:
                    return state, True
            return self.state(connection), False


def split(text):
    return [one.strip() for one in re.split(r";\s*(?:\n|\Z)", text) if one.strip()]


@pytest.mark.gate
@pytest.mark.parametrize("file", [*FILES, None], ids=lambda file: "odd names" if file is None else file.stem)
def test_exported_tools_lead_where_the_deployment_does(file, database):
    deployment = (st.load(file) if file else st.parse_deployment(ODD)).one_by_one()
    engine = sa.create_engine(database())
    system, random = Exported(deployment, engine), Random(0)
    constants = frozenset().union(*deployment.constants.values())
    begins = list(islice(initial_states(deployment, normal_restriction(deployment).values), 100))
    offered, refused, seen = dict.fromkeys(system.tools, 0), 0, set()
    for _ in range(40):
        state = random.choice(begins)
        for _ in range(10):
            for name in system.tools:
                tool = deployment.tool(name)
                allowed = sorted(calls_of(deployment, tool, state))
                ranges = [
                    deployment.schema.sort(p.sort).values or sorted(state.active_domain[p.sort])
                    for p in tool.params
                ]
                calls = random.sample(allowed, min(2, len(allowed)))
                if all(ranges):
                    calls.append(Call(name, tuple(map(random.choice, ranges))))
                for call in calls:
                    if (state, call) in seen or offered[name] >= RUNS:
                        continue
                    seen.add((state, call))
                    after, was_refused = system.run(state, call)
                    if call not in allowed:
                        refused += 1
                        assert after == state, (state, call)
                        continue
                    offered[name] += 1
                    assert not was_refused, (state, call)
                    ends = list(databases(deployment, call, state, small_restriction(deployment, state)))
                    fixed = constants.union(call.args, *state.active_domain.values())
                    assert any(isomorphic(after, end, fixed) for end in ends), (state, call, after)
            following = sorted(possible(deployment, state))
            random.shuffle(following)
            restriction = small_restriction(deployment, state)
            ends = (end for call in following for end in databases(deployment, call, state, restriction))
            state = next(ends, None)
            if state is None:
                break
    engine.dispose()
    assert len(system.tools) + len(system.left_out) == len(
        [tool for tool in deployment.tools_and_events if not tool.stays]
    )
    assert system.tools
    assert all(offered.values()), offered
    assert refused


@pytest.mark.gate
@pytest.mark.parametrize(("level", "agrees"), [("serializable", True), ("read%20committed", False)])
def test_exported_tools_need_serializable_transactions_for_two_calls_at_the_same_time(
    level, agrees, database, tmp_path
):
    """A SELECT that is a guard locks nothing."""
    text = re.sub(r"bound (order|refund) 2", r"bound \1 1", FILES[-1].read_text())
    deployment = st.parse_deployment(text)
    sql = st.to_sql(deployment, "postgres")
    sql.write(tmp_path)
    url = f"{database()}?options=-c%20default_transaction_isolation={level.replace('%20', chr(92) + '%20')}"
    binding = Binding(url, sql_tools(tmp_path / "tools.sql"), scratch=True, schema=sql.tables)
    found = conform(deployment, binding, concurrent=True)
    assert not found.unloaded
    assert {one.kind for one in found.differences} == (set() if agrees else {"no order"})
    assert found.interleaved > 30
