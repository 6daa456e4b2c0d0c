"""Two calls at the same time: what ends as in some order of the two, and what does not."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

import case_desk as desk
import sqlalchemy as sa
from hypothesis import given, settings
from test_conform_law import System, explored

from engine_pairs import examples
from generated.deployments import deployments
from stead_sym.conformance.conform import conform
from stead_sym.conformance.printed import print_conformance
from stead_sym.report.streams import console_on


def pay_what_it_read(connection, r):
    """Look first, and pay later whatever has happened meanwhile."""
    row = connection.exec_driver_sql("SELECT state, approved_by FROM refunds WHERE id = ?", (r,)).first()
    if row is None or row.state != "in review" or row.approved_by is None:
        raise ValueError("not to be paid")
    connection.exec_driver_sql("UPDATE refunds SET state = 'paid' WHERE id = ?", (r,))


def pay_in_one_transaction(connection, r):
    """Begin before looking, which the driver of SQLite does not do by itself."""
    connection.exec_driver_sql("BEGIN")
    pay_what_it_read(connection, r)


def test_the_tools_of_the_desk_can_run_at_the_same_time():
    found = conform(desk.deployment(), desk.binding(), concurrent=True)
    assert found.agrees
    assert found.interleaved > 20
    assert not found.alone


def test_a_refund_is_not_paid_twice():
    found = conform(desk.deployment(), desk.binding(pay=pay_what_it_read), concurrent=True)
    [twice] = found.differences
    assert (twice.kind, twice.call.tool) == ("no order", "pay")
    assert twice.meanwhile.call == twice.call
    assert twice.meanwhile.step.startswith("UPDATE")
    assert not found.agrees


def test_what_a_transaction_has_read_is_locked():
    assert conform(desk.deployment(), desk.binding(pay=pay_in_one_transaction), concurrent=True).agrees


def test_it_is_found_again_in_the_same_way():
    both = [conform(desk.deployment(), desk.binding(pay=pay_what_it_read), concurrent=True) for _ in range(2)]
    assert both[0] == both[1]


def test_pairs_are_run_only_if_single_calls_agree():
    tool, broken = desk.FAULTS["a wrong status"]
    found = conform(desk.deployment(), desk.binding(**{tool: broken}), concurrent=True)
    assert found.differences
    assert found.interleaved is None


def test_a_tool_with_connections_of_its_own_is_said_to_run_alone(tmp_path):
    url = f"sqlite:///{tmp_path}/scratch.db"
    engine = sa.create_engine(url, connect_args={"timeout": 0.5})  # amid another call it waits in vain

    def pay(r):
        with engine.begin() as connection:
            connection.execute(sa.text(desk.PAY), {"r": r})

    binding = desk.binding(pay=pay)
    found = conform(desk.deployment(), replace(binding, database=url), concurrent=True)
    assert found.agrees
    assert found.alone == ("pay",)
    assert printed(found).endswith("also for two calls at the same time, but none amid pay.")
    assert "at the same time" not in printed(replace(found, interleaved=0))


def printed(found):
    """Return what is printed of a comparison, in one line."""
    out = StringIO()
    print_conformance(desk.deployment(), found, console_on(out))
    return " ".join(out.getvalue().split())


class Optimistic(System):
    """The tools of a deployment, each of which writes only if nothing has changed since it read."""

    def tool(self, tool):
        run = super().tool(tool)

        def read(connection):
            tables = [f"SELECT * FROM t_{relation.name}" for relation in self.deployment.schema.relations]
            return [sorted(map(tuple, connection.exec_driver_sql(one))) for one in tables]

        def checked(connection, **arguments):
            before = read(connection)
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            if read(connection) != before:
                raise ValueError("something has changed")
            run(connection, **arguments)

        return checked


@settings(max_examples=examples(8))
@given(deployments())
def test_tools_that_notice_a_change_agree(deployment):
    result = explored(deployment)
    found = conform(
        deployment, Optimistic(result.deployment, result.restriction).binding, max_states=5, concurrent=True
    )
    assert found.differences == ()
