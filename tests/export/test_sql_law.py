"""Deployments exported as SQL and imported again: the same calls, which lead to the same databases."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass
from itertools import product
from random import Random

import pytest
from hypothesis import event, given, reject, settings
from hypothesis import strategies as st

import stead_sym as stead
from engine_pairs import examples
from generated.deployments import deployments
from generated.integers import integer_deployment
from generated.records import text as records
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.files import packaged_examples
from stead_sym.deployment.restriction import Derivation, Restriction
from stead_sym.deployment.semantics import calls_of, databases
from stead_sym.deployment.tool import Call
from stead_sym.errors import SteadError
from stead_sym.export.sql import to_sql
from stead_sym.export.sql_tables import sql_tables
from stead_sym.imports.ddl import read_ddl
from stead_sym.imports.draft import draft
from stead_sym.imports.transactions import read_transactions
from stead_sym.relational.canonical import isomorphic
from stead_sym.relational.instance import Fact, Instance, broken_keys, broken_references, out_of_range

pytest.importorskip("sqlglot")


def over(deployment, values):
    """The restriction of a deployment to these values."""
    return Restriction(
        values,
        {
            sort.name: Derivation(sort.name, 9, 0, 0, None, sort.values is not None, len(values[sort.name]))
            for sort in deployment.schema.sorts
        },
    )


@dataclass(frozen=True)
class Imported:
    """A deployment, and what comes back of its SQL; ``same`` are the tools that do."""

    written: Deployment
    deployment: Deployment
    same: tuple[str, ...]
    tools: str

    def value(self, sort, other, value):
        """A value of a sort of the deployment as one of the imported sort."""
        listed = self.written.schema.sort(sort).values
        if listed is None:
            return value
        return (self.deployment.schema.sort(other).values or listed)[listed.index(value)]

    def state(self, state):
        """A state with the relations and values of the imported deployment."""
        tables = sql_tables(self.written, "postgres")
        facts = set()
        for table, relation in zip(tables.values(), self.deployment.schema.relations, strict=True):
            others = [place for place in range(len(table.columns)) if place not in table.key]
            for args in state.tuples(table.relation.name):
                if not args:  # a relation without columns has one column of one value
                    args = self.deployment.schema.sort(relation.sorts[0]).values
                    facts.add(Fact(relation.name, args))
                    continue
                places = [*table.key, *others]
                sorts = table.relation.sorts
                cells = [
                    self.value(sorts[k], s, args[k]) for k, s in zip(places, relation.sorts, strict=True)
                ]
                facts.add(Fact(relation.name, tuple(cells)))
        return Instance(self.deployment.schema, frozenset(facts))

    def call(self, call):
        """A call, for the imported tool."""
        params = self.written.tool(call.tool).params
        given = {p.name: (p.sort, u) for p, u in zip(params, call.args, strict=True)}
        others = self.deployment.tool(call.tool).params  # in the order in which SQL names them
        assert given.keys() == {param.name for param in others}
        args = [self.value(given[p.name][0], p.sort, given[p.name][1]) for p in others]
        return Call(call.tool, tuple(args))

    def restriction(self, restriction):
        """The values of the imported sorts: those that columns of them have there."""
        values = {}
        tables = sql_tables(self.written, "postgres")
        for table, relation in zip(tables.values(), self.deployment.schema.relations, strict=True):
            others = [place for place in range(len(table.columns)) if place not in table.key]
            for k, sort in zip([*table.key, *others], relation.sorts, strict=False):
                values[sort] = restriction.values[table.relation.sorts[k]]
        for sort in self.deployment.schema.sorts:
            values[sort.name] = sort.values or values[sort.name]
        return over(self.deployment, values)


def imported(deployment):
    """The deployment that the SQL of another one is imported as, without the limits that the import adds."""
    sql = to_sql(deployment, "postgres")
    transactions = read_transactions(sql.tools, "postgres") if "-- name:" in sql.tools else ()
    keep = [name.strip('"') for name in re.findall(r"CREATE TABLE (\S+)", sql.tables)]
    made = draft("imported", read_ddl(sql.tables, "postgres"), [], keep=keep, transactions=transactions)
    text = re.sub(r"\batmost 1 one: \w+\. true", "true", made.text)
    back = stead.parse_deployment(text)
    left = {re.split(r"[,:] ", one)[0] for one in made.left_out}
    params = {tool.name: {param.name for param in tool.params} for tool in deployment.written.tools}
    same = (  # a parameter on which nothing depends does not come back
        tool.name
        for tool in back.tools
        if tool.name not in left and params[tool.name] == {param.name for param in tool.params}
    )
    return Imported(deployment, back, tuple(same), sql.tools)


def agrees(made, states, restriction):
    """Compare the tools that came back in these states; return how many calls were compared."""
    other = made.restriction(restriction)
    tools = [tool for tool in made.written.tools_and_events if tool.name in made.same]
    compared = 0
    for state in states:
        there = made.state(state)
        known = frozenset().union(*there.active_domain.values(), *made.deployment.constants.values())
        for tool in tools:
            offered = calls_of(made.written, tool, state)
            found = calls_of(made.deployment, made.deployment.tool(tool.name), there)
            ends = {call: ends_of(made.written, call, state, restriction) for call in offered}
            sound = [call for call in sorted(offered) if ends[call]]
            unsound = {made.call(call) for call in offered.difference(sound)}
            assert {*map(made.call, sound)} == found - unsound, f"{tool}\n{state}\n{made.tools}"
            for call in sound:
                fixed = known.union(made.call(call).args)
                mine = [made.state(end) for end in ends[call]]
                theirs = [*databases(made.deployment, made.call(call), there, other)]
                for some, all_ in ((mine, theirs), (theirs, mine)):
                    for one in some:
                        assert any(isomorphic(one, end, fixed) for end in all_), (
                            f"{call}\n{state}\n{one}\n{made.tools}"
                        )
                compared += 1
    return compared


def is_broken(state):
    """Return if a database is one that no deployment may reach."""
    claims = broken_keys, broken_references, out_of_range
    return any(next(broken(state.schema, state.facts), None) is not None for broken in claims)


def ends_of(deployment, call, state, restriction):
    """Return where a call leads; None if it breaks what the deployment claims."""
    try:
        ends = [*databases(deployment, call, state, restriction)]
    except SteadError:
        return None
    return None if any(map(is_broken, ends)) else ends


def some_states(deployment, random, number=6):
    """Some small databases of a deployment's schema, which keep keys and references, and values for them."""
    schema = deployment.schema
    values = {
        sort.name: sort.values or (*deployment.constants[sort.name][:2], f"{sort.name}1", f"{sort.name}2")
        for sort in schema.sorts
    }
    found = [deployment.init]
    for _ in range(number * 5):
        facts = frozenset(
            Fact(relation.name, tuple(random.choice(values[sort][:5]) for sort in relation.sorts))
            for relation in random.choices(schema.relations, k=random.choice([1, 2, 3, 4, 6]))
        )
        state = Instance(schema, facts)
        if not is_broken(state) and len(found) <= number:
            found.append(state)
    return found, over(deployment, values)


class InSqlite:
    """The exported tables and tools of a deployment, in a database in memory."""

    def __init__(self, deployment):
        self.deployment = deployment
        self.tables = sql_tables(deployment, "sqlite")
        sql = to_sql(deployment, "sqlite")
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        self.connection.executescript(f"PRAGMA foreign_keys = ON;\n{sql.tables}")
        parts = re.split(r"^-- name: (\w+)\n", sql.tools, flags=re.MULTILINE)
        self.tools = {}
        for name, body in zip(parts[1::2], parts[2::2], strict=True):
            lines = [line for line in body.splitlines() if line and not line.startswith("--")]
            self.tools[name] = [line.removesuffix(";") for line in lines]

    def after(self, call, state):
        """The database after a call in a state; None if it is refused."""
        self.connection.execute("BEGIN")
        try:
            return self._after(call, state)
        finally:
            self.connection.execute("ROLLBACK")

    def _after(self, call, state):
        for table in self.tables.values():
            for args in state.tuples(table.relation.name):
                listed, marks = ", ".join(table.written), ", ".join("?" * len(table.written))
                self.connection.execute(
                    f"INSERT INTO {table.name} ({listed}) VALUES ({marks})", args or ("yes",)
                )
        params = self.deployment.tool(call.tool).params
        numeric = {sort.name for sort in self.deployment.schema.sorts if sort.is_numeric}
        given = {p.name: int(u) if p.sort in numeric else u for p, u in zip(params, call.args, strict=True)}
        try:
            for statement in self.tools[call.tool]:
                names = set(re.findall(r":(\w+)", statement))
                new = {name: f"new {name}" for name in names - given.keys()}
                found = self.connection.execute(statement, {**new, **given})
                if statement.startswith("SELECT") and found.fetchone() is None:
                    return None
        except sqlite3.IntegrityError:
            return None
        if self.connection.execute("PRAGMA foreign_key_check").fetchone() is not None:
            return None
        facts = set()
        for table in self.tables.values():
            for row in self.connection.execute(f"SELECT {', '.join(table.written)} FROM {table.name}"):
                args = map(str, row) if table.columns else ()
                facts.add(Fact(table.relation.name, tuple(args)))
        return Instance(self.deployment.schema, frozenset(facts))


def carried_out(deployment, random):
    """Compare the exported tools, in SQLite, with the deployment; return how many calls were compared."""
    system = InSqlite(deployment)
    states, restriction = some_states(deployment, random)
    number = 0
    for state in states:
        known = frozenset().union(*state.active_domain.values(), *deployment.constants.values())
        for name in system.tools:
            tool = deployment.tool(name)
            ranges = [restriction.values[param.sort] for param in tool.params]
            offered = calls_of(deployment, tool, state)
            for call in (Call(name, args) for args in product(*ranges)):
                ends = ends_of(deployment, call, state, restriction) if call in offered else []
                if ends is None:
                    continue
                after = system.after(call, state)
                said = f"{call}\n{state}\n{after}\n{system.tools[name]}"
                if not ends:
                    assert after in (None, state), said
                else:
                    assert after is not None, said
                    assert any(isomorphic(after, end, known.union(call.args)) for end in ends), said
                number += 1
    return number


def compared(deployment, random):
    """Compare a deployment with what comes back of it, in some states; return how many calls were."""
    made = imported(deployment)
    states, restriction = some_states(made.written, random)
    return agrees(made, states, restriction) + carried_out(deployment, random)


@pytest.mark.parametrize("name", packaged_examples())
def test_packaged_examples_come_back(name):
    assert compared(stead.load(name), Random(7)) > 0


def some(number):
    """Return how many calls were compared, in words."""
    return "no call compared" if number == 0 else "calls compared"


@settings(max_examples=examples(25, 300), deadline=None)
@given(deployments(choose=False, alternatives=1), st.randoms(use_true_random=False))
def test_generated_deployments_come_back(deployment, random):
    event(some(compared(deployment, random)))


@settings(max_examples=examples(25, 300), deadline=None)
@given(st.integers(0, 10**6))
def test_generated_records_come_back(seed):
    event(some(compared(stead.parse_deployment(records(seed)), Random(seed))))


@settings(max_examples=examples(15, 200), deadline=None)
@given(st.integers(0, 10**6))
def test_integers_come_back(seed):
    try:
        deployment = stead.parse_deployment(integer_deployment(seed))
    except SteadError:
        reject()
    event(some(compared(deployment, Random(seed))))
