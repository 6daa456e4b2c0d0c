"""The D' of an `ensure` formula: all of them, by trying every D' over the domain."""

from __future__ import annotations

from itertools import chain, combinations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import stead_sym.logic.syntax as fo
from engine_pairs import examples
from stead_sym.deployment.ensure import ensured
from stead_sym.logic.evaluate import holds
from stead_sym.logic.parser import parse_formula
from stead_sym.logic.sorts import Names, resolve
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Schema, Sort

SCHEMA = Schema(
    (Sort("a"), Sort("k", ("k1", "k2"))),
    (Relation("P", ("a",)), Relation("R", ("a", "k")), Relation("Z", ())),
)
DOMAIN = {"a": ("c", "u"), "k": ("k1", "k2")}
FACTS = (
    *(Fact("P", (u,)) for u in DOMAIN["a"]),
    *(Fact("R", (u, v)) for u in DOMAIN["a"] for v in DOMAIN["k"]),
    Fact("Z", ()),
)
ALL = [
    Instance(SCHEMA, frozenset(facts))
    for facts in chain.from_iterable(combinations(FACTS, n) for n in range(len(FACTS) + 1))
]
SIGMA = {"x": "u", "y": "c", "q": "k1"}

terms = {"a": [fo.Var("x"), fo.Var("y"), fo.Const("c")], "k": [fo.Var("q"), fo.Const("k2")]}
binders = st.sampled_from([fo.Binder("x", "a"), fo.Binder("y", "a"), fo.Binder("q", "k")])
atoms = st.one_of(
    st.builds(lambda t, p: fo.Atom("P", (t,), p), st.sampled_from(terms["a"]), st.booleans()),
    st.builds(
        lambda t, u, p: fo.Atom("R", (t, u), p),
        st.sampled_from(terms["a"]),
        st.sampled_from(terms["k"]),
        st.booleans(),
    ),
    st.builds(lambda p: fo.Atom("Z", (), p), st.booleans()),
    st.builds(fo.Equal, st.sampled_from(terms["a"]), st.sampled_from(terms["a"])),
    st.sampled_from([fo.TRUE, fo.FALSE, fo.Same("P"), fo.Same("R"), fo.Empty("R"), fo.Empty("Z")]),
)
formulas = st.recursive(
    atoms,
    lambda f: st.one_of(
        f.map(fo.Not),
        st.tuples(f, f).map(lambda pair: pair[0] & pair[1]),
        st.tuples(f, f).map(lambda pair: pair[0] | pair[1]),
        st.builds(fo.Implies, f, f),
        st.builds(fo.Iff, f, f),
        st.builds(fo.Exists, binders, f),
        st.builds(fo.Forall, binders, f),
        st.builds(fo.Count, st.sampled_from(["atleast", "atmost", "exactly"]), st.integers(0, 3), binders, f),
    ),
    max_leaves=8,
)


@settings(max_examples=examples(300), deadline=None)
@given(formulas, st.sets(st.sampled_from(FACTS), max_size=4))
@example(fo.Forall(fo.Binder("q", "k"), fo.Atom("R", (fo.Var("x"), fo.Var("q")), primed=True)), {FACTS[0]})
def test_every_successor_once_and_no_other(formula, facts):
    state = Instance(SCHEMA, frozenset(facts))
    found = list(ensured(formula, state, DOMAIN, SIGMA))
    assert len(found) == len(set(found))
    assert set(found) == {after for after in ALL if holds(formula, state, SIGMA, after=after)}


def test_a_constant_that_is_not_active_is_out_of_the_quantifiers_reach():
    """∀q (R'(x, q) ↔ q = k1) asks for R'(x, k1) only where k1 is active in D ⊕ D'."""
    names = Names(SCHEMA, {"c": "a", "k1": "k", "k2": "k"})
    text = "same(P) & empty(Z) & forall x, q. R'(x, q) <-> x = c & q = k1"
    formula = resolve(parse_formula(text), names, primed=True)
    state = Instance(SCHEMA, frozenset({Fact("P", ("c",))}))
    with_k1 = Instance(SCHEMA, state.facts | {Fact("R", ("c", "k1"))})
    assert set(ensured(formula, state, DOMAIN, {})) == {state, with_k1}
    k1_active = Instance(SCHEMA, state.facts | {Fact("R", ("u", "k1"))})
    assert set(ensured(formula, k1_active, DOMAIN, {})) == {with_k1}


def test_a_large_domain_is_searched_not_enumerated():
    """121 atoms, so 2^121 candidates, and 60 successors."""
    domain = {"a": tuple(f"u{i}" for i in range(60)), "k": ("k1",)}
    one = "empty(P) & empty(Z) & (exists x, q. R'(x, q)) & atmost 1 x. exists q. R'(x, q)"
    names = Names(SCHEMA, {"k1": "k", "k2": "k"})
    formula = resolve(parse_formula(one), names, primed=True)
    found = set(ensured(formula, Instance(SCHEMA, frozenset()), domain, {}))
    assert found == {Instance(SCHEMA, frozenset({Fact("R", (u, "k1"))})) for u in domain["a"]}


def test_a_temporal_operator_is_refused():
    with pytest.raises(ValueError, match="temporal operator"):
        list(ensured(fo.Next("E", fo.TRUE), ALL[0], DOMAIN, {}))
