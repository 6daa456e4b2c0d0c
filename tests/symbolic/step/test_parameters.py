"""Conditions on a call, over the log-coded parameters and over the selectors: the same calls."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

import stead_sym.logic.syntax as fo
from engine_pairs import examples
from stead_sym.deployment.tool import Tool
from stead_sym.engines.symbolic.bdd.manager import Manager
from stead_sym.engines.symbolic.encode.encoding import Encoding, Field
from stead_sym.engines.symbolic.step.parameters import Parameters
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Relation, Schema, Sort

SCHEMA = Schema((Sort("a"), Sort("k", ("k1", "k2"))), (Relation("P", ("a",)),))
VALUES = {"a": ("a1", "a2", "a3"), "k": ("k1", "k2")}
NAMES = {"x": "a", "y": "a", "z": "k"}
TOOL = Tool("t", tuple(fo.Binder(name, sort) for name, sort in NAMES.items()), fo.TRUE, ())
CALLS = list(product(*(VALUES[sort] for sort in NAMES.values())))


def parameters():
    fields = [Field.of([Fact("P", (value,))]) for value in VALUES["a"]]
    return Parameters.of(Encoding(Manager(), SCHEMA, VALUES, fields=fields), TOOL)


def code(made, vectors, call):
    return {
        bit: on for v, u in zip(vectors, call, strict=True) for bit, on in made.encoding.code(v, u).items()
    }


def test_the_names_stand_for_vectors_of_their_sorts():
    made = parameters()
    assert {name: vector.sort for name, vector in made.scope.items()} == NAMES
    assert not any(vector.one_hot for vector in made.vectors)
    assert all(selector.one_hot for selector in made.selectors)
    assert len({*made.vectors, *made.selectors}) == 6


@settings(max_examples=examples(60))
@given(
    st.sets(st.tuples(st.sampled_from([0, 1, 2]), st.sampled_from(CALLS))),
    st.fixed_dictionaries({}, optional={name: st.sampled_from(VALUES[sort]) for name, sort in NAMES.items()}),
)
def test_selected_calls_are_those_of_the_condition(rows, values):
    """Of a condition for some fixed values: the calls with these values that satisfy it."""
    made = parameters()
    m, encoding = made.encoding.manager, made.encoding
    bits = encoding.order
    condition = m.disj(m.cube({bits[k]: True, **code(made, made.vectors, call)}) for k, call in sorted(rows))
    for name, value in values.items():
        condition = m.cofactor(condition, encoding.code(made.scope[name], value))
    selected = made.selected(condition, values)
    for call, state in product(CALLS, product((False, True), repeat=len(bits))):
        fits = all(call[list(NAMES).index(name)] == value for name, value in values.items())
        here = {**dict(zip(bits, state, strict=True)), **code(made, made.selectors, call)}
        expected = fits and any(state[k] for k, c in rows if c == call)
        assert m.satisfies(selected, here) == expected
    assert selected.support <= {*bits, *made.touched(values)}
    loose = (s for name, s in zip(NAMES, made.selectors, strict=True) if name not in values)
    assert all(m.implies(selected, encoding.valid(selector)) for selector in loose)


def test_an_action_touches_of_a_fixed_selector_what_is_set():
    made = parameters()
    x, y, z = made.selectors
    assert made.touched({}) == {*x.bits, *y.bits, *z.bits}
    assert made.touched({"y": "a2", "u": "a1"}) == {*x.bits, y.bits[1], *z.bits}
