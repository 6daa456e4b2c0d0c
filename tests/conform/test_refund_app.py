"""The refund desk of `examples/refund_app`: it does what its file says, and eight faulty versions do not."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import stead_sym as st
from postgresql import server
from refund_app.binding import binding
from refund_app.faults import FAULTS
from stead_sym.conformance.conform import conform, reached
from stead_sym.conformance.found import Difference

FILE = Path(__file__).parents[2] / "examples" / "refund_app" / "refunds.stead"
FOUND = {
    "a missing WHERE": ("other result", 7),
    "a wrong status": ("other result", 4),
    "a lost update": ("no order", 2),
    "a forgotten cascade": ("other result", 3),
    "a guard that is too weak": ("not refused", 3),
    "a guard that is too strong": ("refused", 5),
    "a wrong row by a join": ("other result", 8),
    "a write after a failed check": ("not refused", 3),
}
"""The way in which each fault shows, and how many facts the smallest database has that shows it."""


def faulty(fault):
    tool, function = FAULTS[fault]
    return replace(binding, tools={**binding.tools, tool: function})


def test_the_desk_does_what_its_file_says_also_for_two_calls_at_the_same_time():
    found = conform(st.load(FILE), binding, concurrent=True)
    assert found.differences == ()
    assert found.agrees
    assert found.complete
    assert found.interleaved > 100
    assert not found.alone
    assert all(one.offered and one.not_offered and not one.untaken for one in found.tools.values())
    assert all(one.literals and not one.never for one in found.tools.values())


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_in_the_smallest_database_that_shows_it(fault):
    found = conform(st.load(FILE), faulty(fault), concurrent=True)
    kind, size = FOUND[fault]
    assert {tool_of(one) for one in found.differences} == {FAULTS[fault][0]}
    first = found.differences[0]
    assert (first.kind, len(first.before)) == (kind, size)


def tool_of(difference: Difference) -> str:
    """The faulty tool of a difference: of two at the same time, the one that another ran amid."""
    return difference.call.tool


@cache
def states_of(size: int) -> int:
    """The number of reachable databases of at most so many facts; they are loaded first."""
    return sum(len(state) <= size for state in reached(st.load(FILE)).states)


def test_single_calls_do_not_show_a_lost_update():
    assert conform(st.load(FILE), faulty("a lost update")).agrees


@pytest.fixture(scope="module")
def database():
    with server() as new:
        yield new


@pytest.mark.gate
def test_the_desk_does_it_on_postgresql_too(database):
    """Single calls in all databases, and two at the same time in those of up to five facts."""
    bound = replace(binding, database=database())
    found = conform(st.load(FILE), bound)
    assert found.differences == ()
    assert found.complete
    assert not found.unloaded
    found = conform(st.load(FILE), bound, concurrent=True, max_states=states_of(5))
    assert found.differences == ()
    assert found.interleaved > 100
    assert not found.alone


@pytest.mark.gate
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_on_postgresql_too(fault, database):
    """No larger databases are asked for than the smallest one that shows it."""
    kind, size = FOUND[fault]
    bound = replace(faulty(fault), database=database())
    found = conform(st.load(FILE), bound, concurrent=True, max_states=states_of(size))
    assert {tool_of(one) for one in found.differences} == {FAULTS[fault][0]}
    # the constraint of the database refuses to leave the refund of an order that is gone
    assert ("refused" if fault == "a forgotten cascade" else kind) in {one.kind for one in found.differences}


@pytest.mark.gate
def test_serializable_transactions_lose_no_update(database):
    """In databases of up to three facts, which show more than one that loses it."""
    cancel = FAULTS["a lost update"][1]

    def serializable(connection, order_id):
        connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        return cancel(connection, order_id)

    mended = replace(binding, database=database(), tools={**binding.tools, "cancel_order": serializable})
    found = conform(st.load(FILE), mended, concurrent=True, max_states=states_of(3))
    assert found.agrees
    assert found.interleaved > 10
