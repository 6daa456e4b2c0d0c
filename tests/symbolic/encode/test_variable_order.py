"""The order of the bits: a permutation of the fields, linked ones near each other, no part of any answer."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from families import desks, service_desk
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from engine_pairs import examples
from generated.deployments import deployments
from stead_sym.deployment.build import build_deployment
from stead_sym.engines.symbolic.encode.encoding import Field
from stead_sym.engines.symbolic.encode.variable_order import Order, arranged
from stead_sym.engines.symbolic.plan import planner
from stead_sym.errors import Undecided
from stead_sym.relational.instance import Fact
from stead_sym.verification.verify import verify


def counted(deployment, domain):
    agent = deployment.policy(deployment.policies[0].name) if deployment.policies else "any"
    result = verify(deployment, agent, domain=domain)
    verdicts = {name: verdict.holds for name, verdict in result.verdicts.items()}
    return result.states, result.transitions, result.contexts, verdicts


def in_any_order(seed):
    """An order of the fields that knows nothing of entities."""

    def shuffle(fields, static, deployment):
        listed = sorted(fields, key=lambda field: field.facts)
        random.Random(seed).shuffle(listed)
        order = arranged(listed, static, deployment)
        return Order(tuple(listed), dict.fromkeys(order.beside, listed[-1].bits[0]) if listed else {})

    return shuffle


@settings(max_examples=examples(25))
@given(deployments(specs=2, depth=3), st.integers(0, 9), st.sampled_from(["normal", "theorem"]))
def test_no_answer_depends_on_the_order(deployment, seed, domain):
    try:
        verify(deployment, engine="explicit", max_states=80)
    except Undecided:
        reject()
    expected = counted(deployment, domain)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planner, "arranged", in_any_order(seed))
        assert counted(deployment, domain) == expected


@pytest.mark.parametrize("deployment", [service_desk(3), desks(2)], ids=lambda d: d.name)
def test_nor_do_those_of_families(deployment, monkeypatch):
    expected = counted(deployment, "normal")
    monkeypatch.setattr(planner, "arranged", in_any_order(1))
    assert counted(deployment, "normal") == expected


ENTITIES = build_deployment(
    "entities",
    sorts={"entity": None, "who": None},
    relations={
        **dict.fromkeys("ABCDEF", "entity"),
        "Next": "entity, entity",
        "Flag": "",
        "Open": "entity",
        "Approved": "entity, who",
    },
)


def test_the_fields_of_an_entity_stand_together():
    """Of two dozen entities with three fields each, linked to the next by a static fact: no field of another
    entity is in between, and linked entities are neighbours."""
    names = [f"n{i}" for i in range(24)]
    made = [Field.of([Fact(p, (name,)) for p in pair]) for name in names for pair in ("AB", "CD", "EF")]
    flag = Field.of([Fact("Flag", ())])
    links = [Fact("Next", pair) for pair in pairwise(names)]
    shuffled = [*made, flag]
    random.Random(3).shuffle(shuffled)
    order = arranged(shuffled, links, ENTITIES)
    assert sorted(order.fields, key=str) == sorted(shuffled, key=str)
    assert order.fields[0] == flag, "what no entity owns stands above all else"
    owners = [field.facts[0].args[0] for field in order.fields[1:]]
    runs = [owner for i, owner in enumerate(owners) if i == 0 or owners[i - 1] != owner]
    assert runs in (names, names[::-1])
    own = {name: next(f.bits[0] for f in order.fields[1:] if f.facts[0].args[0] == name) for name in names}
    assert order.beside == own, "the bits of a value stand above the first field of its own"


def test_a_value_that_many_are_linked_to_draws_no_record_apart():
    """An employee who handles all cases: the approvals of a case stay with the case."""
    cases = [f"c{i}" for i in range(9)]
    made = [Field.of([Fact("Open", (case,))]) for case in cases]
    made += [Field.of([Fact("Approved", (case, who))]) for case in cases for who in ("ann", "bob")]
    random.Random(5).shuffle(made)
    for number in range(3, 10):  # as many cases; with one or two nothing tells a case from an employee
        listed = [field for field in made if int(field.facts[0].args[0][1:]) < number]
        owners = [field.facts[0].args[0] for field in arranged(listed, (), ENTITIES).fields]
        assert sum(a != b for a, b in pairwise(owners)) == number - 1


def test_a_customer_with_many_orders_stands_with_them():
    """Nine orders are many, but no large part of all orders: what says whose they are draws them together."""
    orders = {f"o{k}": "big" if k < 9 else f"u{k // 2}" for k in range(60)}
    owned = [Fact("Approved", owner) for owner in orders.items()]
    fields = [Field.of([Fact("Open", (order,))]) for order in orders]
    fields += [Field.of([Fact("A", (user,))]) for user in sorted(set(orders.values()))]
    order = arranged(fields, owned, ENTITIES)
    place = {field.facts[0].args[0]: k for k, field in enumerate(order.fields)}
    own = sorted(place[value] for value in ("big", *(o for o, user in orders.items() if user == "big")))
    assert own == list(range(own[0], own[0] + 10))
