"""Domain sizes as the theorem has them, what overrides are allowed, and the names of the values."""

from __future__ import annotations

import pytest

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import Parts, Spec
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.errors import RestrictionError
from stead_sym.logic.parser import parse_formula
from stead_sym.logic.sorts import Names, resolve
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Relation, Schema, Sort

SCHEMA = Schema(
    (Sort("case"), Sort("task"), Sort("k", ("k1", "case2"), rigid=True)),
    (Relation("P", ("case", "task")), Relation("K", ("k",))),
)
NAMES = Names(SCHEMA, {"c": "case", "task1": "task", "k1": "k", "case2": "k"})


def spec(name, text):
    return Spec(name, resolve(parse_formula(text), NAMES, temporal=True))


def deployment(case=1, task=2, **parts):
    init = Instance.of(SCHEMA, [("P", ("c", "task1"))])
    return Deployment("small", SCHEMA, init, {"case": case, "task": task}, Parts(**parts))


ONE = spec("one", "AG forall x: case. EX exists x: case, y: task. P(x, y)")
TWO = spec("two", "AG forall x, z: case. x = z")


def test_sizes_are_the_theorems():
    restriction = theorem_restriction(deployment(), [ONE, TWO])
    assert restriction.sizes == {"case": 2 * 1 + 1 + 2, "task": 2 * 2 + 1 + 1, "k": 2}
    assert restriction.exact
    assert theorem_restriction(deployment(), [ONE]).sizes["case"] == 2 * 1 + 1 + 1
    assert theorem_restriction(deployment(), []).sizes == {"case": 3, "task": 5, "k": 2}


def test_variables_of_definitions_count():
    busy = fo.Definition("busy", (), resolve(parse_formula("exists u, v: case. u != v"), NAMES))
    names = Names(SCHEMA, NAMES.constants, {"busy": busy})
    uses = Spec("uses", resolve(parse_formula("AG (exists x: case. x = x) & busy()"), names, temporal=True))
    deployed = deployment(definitions=(busy,), specs=(uses,))
    assert theorem_restriction(deployed, deployed.specs).sizes["case"] == 2 * 1 + 1 + 3
    with pytest.raises(TypeError, match=r"busy\(\) uses the definition busy, which is not expanded"):
        theorem_restriction(deployed, [uses])


def test_constants_come_first_and_no_name_comes_twice():
    """The constant case2 belongs to k and task1 to task: neither is generated."""
    restriction = theorem_restriction(deployment(), [ONE])
    assert restriction.values["case"] == ("c", "case1", "case3", "case4")
    assert restriction.values["task"] == ("task1", "task2", "task3", "task4", "task5", "task6")
    assert restriction.values["k"] == ("k1", "case2")
    assert restriction.beyond("case", 2) == ("case5", "case6")
    assert restriction.beyond("k", 2) == ()


def test_names_of_two_sorts_never_meet():
    schema = Schema((Sort("a"), Sort("a1"), Sort("B"), Sort("b")), (Relation("Z", ()),))
    bounds = {"a": 60, "a1": 60, "B": 2, "b": 2}
    empty = Instance(schema, frozenset())
    restriction = theorem_restriction(Deployment("names", schema, empty, bounds), [])
    assert len(restriction.members) == sum(restriction.sizes.values()) == 248
    further = [value for sort in bounds for value in restriction.beyond(sort, 40)]
    assert len(set(further)) == 160
    assert restriction.members.isdisjoint(further)
    assert restriction.values["B"] == ("B1", "B2", "B3", "B4")


def test_the_derivation_is_shown():
    lines = str(theorem_restriction(deployment(), [ONE, TWO], {"task": 9})).splitlines()
    assert lines == [
        "case: 2·1 + 1 + 2 = 5 (2·bound + constants + variables, from two)",
        "task: 2·2 + 1 + 1 = 6 (2·bound + constants + variables, from one), set to 9",
        "k: 2 (finite: kept in full)",
    ]


def test_a_larger_domain_is_still_exact():
    restriction = theorem_restriction(deployment(), [ONE], {"case": 7, "k": 2})
    assert restriction.sizes["case"] == 7
    assert restriction.exact


def test_a_forced_smaller_domain_is_not_exact():
    restriction = theorem_restriction(deployment(), [ONE], {"case": 2}, force=True)
    assert restriction.values["case"] == ("c", "case1")
    assert not restriction.exact
    assert "below the theorem" in str(restriction)


@pytest.mark.parametrize(
    ("overrides", "force", "message"),
    [
        ({"case": 3}, False, r"domain case=3: the theorem asks for 2·1 \+ 1 \+ 1 = 4 values"),
        ({"case": 0}, False, r"domain case=0: below \|C ∩ U_case\| = 1, and C must fit in; give at least 4"),
        ({"case": 0}, True, r"domain case=0: below \|C ∩ U_case\| = 1, and C must fit in; give at least 4"),
        ({"case": -1}, True, "domain case=-1"),
        ({"k": 1}, True, "domain k=1: the sort is finite and kept in full; leave it out, or give 2"),
        ({"k": 3}, True, "domain k=3: the sort is finite"),
        ({"cases": 3}, True, "domain cases: there is no such sort; the sorts are case, task, k"),
    ],
)
def test_domains_that_are_refused(overrides, force, message):
    with pytest.raises(RestrictionError, match=message):
        theorem_restriction(deployment(), [ONE], overrides, force)
