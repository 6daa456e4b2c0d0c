"""First-order satisfaction: the corners of the semantics, and an evaluator by grounding as the oracle."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import NAMES, POOL, SCHEMA, states, well_sorted

import stead_sym.logic.syntax as fo
from stead_sym.logic.evaluate import holds, value_of
from stead_sym.logic.parser import parse_formula
from stead_sym.logic.sorts import resolve, substitute
from stead_sym.relational.instance import Fact, Instance

D = Instance.of(SCHEMA, [("P", ("c0",)), ("Q", ("c0", "n")), ("R", ("n", "k1"))])
AFTER = Instance.of(SCHEMA, [("P", ("m",)), ("R", ("n", "k1")), ("R", ("m", "k2"))])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("P(c0)", True),
        ("P(c1)", False),
        ("N", False),
        ("c0 = c0", True),
        ("c1 = c1", True),  # equality does not ask whether a value is active
        ("c0 = c1", False),
        ("exists x: a. x = c1", False),  # a constant that stands in no fact is not in range
        ("exists x: k. x = k1", True),
        ("exists x: k. x = k2", False),  # a rigid value that stands in no fact is not in range
        ("forall x: k. x = k1", True),
        ("exactly 2 x: a. true", True),
        ("atleast 2 x: a. P(x)", False),
        ("atmost 1 x: a. P(x)", True),
        ("atleast 0 x: a. false", True),
        ("exactly 0 x: a. false", True),
        ("forall x. P(x) -> exists y. Q(x, y)", True),
        ("exists x. P(x) & exists x. R(x, k1) & ~P(x)", True),
        ("P(c0) <-> N", False),
        ("v = c1", True),
        ("exists x. x = v", False),  # the value of a free variable may be inactive
        ("~P(v)", True),
    ],
)
def test_on_one_state(text, value):
    formula = resolve(parse_formula(text), NAMES, {"v": "a"})
    assert holds(formula, D, {"v": "c1"}) is value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("P(c0) & ~P'(c0)", True),
        ("exists x. P'(x) & ~P(x)", True),
        ("exactly 3 x: a. true", True),  # c0 and n before, n and m after
        ("exists x: k. x = k2", True),
        ("same(P)", False),
        ("same(N)", True),
        ("empty(Q)", True),
        ("empty(R)", False),
        ("forall x, y. R(x, y) -> R'(x, y)", True),
    ],
)
def test_on_two_states(text, value):
    assert holds(resolve(parse_formula(text), NAMES, primed=True), D, after=AFTER) is value


def test_a_given_domain_takes_the_place_of_the_active_one():
    formula = resolve(parse_formula("exists x. x = c1"), NAMES)
    assert holds(formula, D, active={"a": {"c1"}, "k": set()})


@pytest.mark.parametrize(
    ("text", "message"),
    [("AX P(c0)", "temporal"), ("P'(c0)", "outside `ensure`"), ("empty(P)", "outside `ensure`")],
)
def test_what_it_does_not_evaluate(text, message):
    formula = resolve(parse_formula(text), NAMES, temporal=True, primed=True)
    with pytest.raises(ValueError, match=message):
        holds(formula, D)


def test_the_value_of_a_term():
    assert (value_of(fo.Const("c0"), {}), value_of(fo.Var("x"), {"x": "n"})) == ("c0", "n")
    with pytest.raises(KeyError):
        value_of(fo.Var("x"), {})


def grounded(formula, state):
    """The formula with each quantifier written out over the active domain."""

    def each(binder, body):
        return [
            grounded(substitute(body, {binder.name: fo.Const(u)}), state)
            for u in sorted(state.active_domain[binder.sort])
        ]

    match formula:
        case fo.Exists(binder, body):
            return fo.Or(tuple(each(binder, body)))
        case fo.Forall(binder, body):
            return fo.And(tuple(each(binder, body)))
        case fo.Count(comparison, number, binder, body):
            copies = each(binder, body)
            return fo.Truth(
                {"atleast": int.__ge__, "atmost": int.__le__, "exactly": int.__eq__}[comparison](
                    [propositional(c, state) for c in copies].count(True), number
                )
            )
        case fo.Not(body):
            return fo.Not(grounded(body, state))
        case fo.And(parts) | fo.Or(parts):
            return type(formula)(tuple(grounded(part, state) for part in parts))
        case fo.Implies(left, right) | fo.Iff(left, right):
            return type(formula)(grounded(left, state), grounded(right, state))
    return formula


def propositional(formula, state):
    """The truth value of a formula without variables, by table."""
    match formula:
        case fo.Truth(value):
            return value
        case fo.Equal(left, right):
            return left.value == right.value
        case fo.Atom(relation, args):
            return Fact(relation, tuple(t.value for t in args)) in state.facts
        case fo.Not(body):
            return not propositional(body, state)
        case fo.And(parts):
            return False not in [propositional(part, state) for part in parts]
        case fo.Or(parts):
            return True in [propositional(part, state) for part in parts]
        case fo.Implies(left, right):
            return (propositional(left, state), propositional(right, state)) != (True, False)
        case fo.Iff(left, right):
            return propositional(left, state) is propositional(right, state)
    raise AssertionError(formula)


@given(st.data(), states())
def test_agrees_with_the_grounding(data, state):
    formula = data.draw(well_sorted({"v": "a"}))
    value = data.draw(st.sampled_from(POOL["a"]))
    ground = grounded(substitute(formula, {"v": fo.Const(value)}), state)
    assert holds(formula, state, {"v": value}) == propositional(ground, state)


@given(st.data(), states())
def test_renaming_values_outside_c_changes_nothing(data, state):
    """Lemma of the paper behind everything: (D, ν) ⊨ φ iff (ι(D), ι∘ν) ⊨ φ for ι the identity on C."""
    formula = data.draw(well_sorted({"v": "a"}))
    value = data.draw(st.sampled_from(POOL["a"]))
    iota = {"c2": "elsewhere"}
    renamed = state.rename(iota)
    assert holds(formula, state, {"v": value}) == holds(formula, renamed, {"v": iota.get(value, value)})


@given(well_sorted({"v": "a"}), states())
def test_counting_is_what_quantifiers_can_say(body, state):
    """`atleast 2` is two different values; `atmost` and `exactly` follow from it."""
    x, y = fo.Binder("v", "a"), fo.Binder("v2", "a")
    other = substitute(body, {"v": fo.Var("v2")})
    two = fo.Exists(x, body & fo.Exists(y, other & ~fo.Equal(fo.Var("v"), fo.Var("v2"))))
    assert holds(fo.Count("atleast", 2, x, body), state) == holds(two, state)
    assert holds(fo.Count("atmost", 1, x, body), state) != holds(two, state)
    assert holds(fo.Count("exactly", 1, x, body), state) == (
        holds(fo.Exists(x, body), state) and not holds(two, state)
    )
