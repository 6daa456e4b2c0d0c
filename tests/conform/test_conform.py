"""A deployment against the desk that runs: they agree, and each fault planted in the desk is found."""

from __future__ import annotations

from dataclasses import replace

import case_desk as desk
import pytest

import stead_sym as st
from stead_sym.conformance.binding import Binding, Rows
from stead_sym.conformance.conform import conform
from stead_sym.errors import InputError


def test_the_desk_is_what_its_file_says():
    found = conform(desk.deployment(), desk.binding())
    assert not found.differences
    assert not found.unloaded
    assert found.agrees
    assert found.complete
    assert not found.unbound
    assert all(one.offered and one.not_offered and not one.untaken for one in found.tools.values())


@pytest.mark.parametrize("fault", desk.FAULTS)
def test_a_planted_fault_is_found(fault):
    tool, broken = desk.FAULTS[fault]
    found = conform(desk.deployment(), desk.binding(**{tool: broken}))
    assert found.differences or found.unloaded, fault
    assert {difference.call.tool for difference in found.differences} == {tool}
    smallest = min(len(difference.before) for difference in found.differences)
    assert smallest <= 6


def small(tool="", **binding):
    """A deployment of one relation with an anonymous column, and a database with columns beside it."""
    file = "deployment d\nsort a\nsort kind = { x, y } rigid\n"
    file += "relation P(id: a key, kind: kind)\nrelation Open(a)\n"
    file += "init\n  P(one, x)\n  Open(one)\ntool flip(i: a)\n  guard P(i, x)\n  effect\n    set P(i, y)\n"
    schema = "CREATE TABLE p (id TEXT PRIMARY KEY, kind TEXT NOT NULL, open INTEGER NOT NULL,"
    schema += " total NUMERIC NOT NULL)"
    given = {
        "tools": {"flip": "UPDATE p SET kind = 'y' WHERE id = :i"},
        "scratch": True,
        "schema": schema,
        "relations": {"Open": Rows("p", ("id",), {"open": 1})},
        "defaults": {"p": {"open": 0, "total": 3}},
    }
    return st.parse_deployment(f"{file}{tool}\nterminal"), Binding("sqlite://", **{**given, **binding})


def test_relations_share_the_rows_of_a_table_and_the_rest_has_defaults():
    found = conform(*small())
    assert found.agrees
    assert found.tools["flip"].offered == 1


def test_a_state_that_the_database_refuses_is_named_with_its_reason():
    deployment, binding = small(
        "event drop(i: a)\n  guard P(i, y)\n  effect\n    delete Open(i)\n    delete P(i, _)\n"
    )
    found = conform(deployment, replace(binding, defaults={"p": {"open": 0}}))
    assert not found.agrees
    assert found.unbound == ("drop",)
    [(reason, state)] = found.unloaded.items()
    assert "NOT NULL" in reason
    assert len(state) == 2


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"scratch": False}, "not marked as a scratch database"),
        ({"schema": ""}, "no table stands for P"),
        ({"relations": {}}, "no table stands for Open"),
        ({"relations": {"Open": Rows("q", ("id",))}}, "table q, which is not there"),
        ({"relations": {"Open": Rows("p", ("id", "kind"))}}, "has 1 columns and is bound to 2"),
        ({"relations": {"Open": Rows("p", ("no",))}}, "p.no, which is not there"),
        ({"tools": {"flop": "SELECT 1"}}, "flop, which is no tool"),
        ({"schema": "CREATE TABL p (id TEXT)"}, "cannot be used"),
        ({"relations": {"Open": Rows("p", ("id",), {"kind": "x"})}}, "read back"),
    ],
)
def test_a_binding_that_does_not_fit_is_an_error_in_one_line(changed, says):
    with pytest.raises(InputError, match=says) as error:
        conform(*small(**changed))
    assert "\n" not in str(error.value)


def test_a_file_that_reads_the_past_cannot_be_compared():
    deployment, binding = small("tool again(i: a)\n  guard once P(i, y)\n  effect\n    set P(i, x)\n")
    with pytest.raises(InputError, match="reads the past"):
        conform(deployment, binding)


def test_a_limit_is_not_taken_for_agreement():
    found = conform(desk.deployment(), desk.binding(), max_states=3)
    assert (found.states, found.complete, found.agrees) == (3, False, True)


def test_identifiers_are_spelled_as_the_binding_says():
    seen = []

    def flip(connection, i):
        seen.append(i)
        connection.exec_driver_sql("UPDATE p SET kind = 'y' WHERE id = ?", (i,))

    deployment, binding = small(tools={"flip": flip})
    assert conform(deployment, replace(binding, identifiers={"a": lambda n: f"T-{n:03}"})).agrees
    assert "T-001" in seen
