"""Offers, views and successors of small deployments, against sets written out by hand."""

from __future__ import annotations

import pytest

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import Parts, View
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.deployment.semantics import exceeded, offer, successors, view, within
from stead_sym.deployment.tool import Call, Choose, Clear, Delete, Effect, Ensure, Fresh, Insert, Tool
from stead_sym.errors import DeclarationError
from stead_sym.logic.parser import parse_formula
from stead_sym.logic.sorts import Names, resolve
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Schema, Sort

SCHEMA = Schema(
    (Sort("a"), Sort("k", ("k1", "k2"), rigid=True)),
    (Relation("P", ("a",)), Relation("E", ("a", "a")), Relation("K", ("k",)), Relation("Z", ())),
)
NAMES = Names(SCHEMA, {"k1": "k", "k2": "k", "c": "a"})
X, Y, G = fo.Binder("x", "a"), fo.Binder("y", "a"), fo.Binder("g", "k")


def instance(*facts):
    """Facts as words: "Z", "P c", "E c u"."""
    words = [fact.split() for fact in facts]
    return Instance.of(SCHEMA, [(relation, tuple(args)) for relation, *args in words])


def formula(text, *scope, primed=False):
    return resolve(parse_formula(text), NAMES, {b.name: b.sort for b in scope}, primed=primed)


def atom(relation, *names):
    return fo.Atom(relation, tuple(fo.Const(n) if n in NAMES.constants else fo.Var(n) for n in names))


def deployment(*tools, init=("P c",), bound=1, views=()):
    return Deployment("small", SCHEMA, instance(*init), {"a": bound}, Parts(tools=tools, views=views))


def tool(*statements, params=(), guard=fo.TRUE, when=fo.TRUE):
    return Tool("w", params, guard=guard, effects=(Effect(statements, when),))


def after(deployed, state, *args):
    """The facts of the successors of w(args) inside and outside U_f."""
    found = successors(deployed, Call("w", args), state, theorem_restriction(deployed, ()))
    assert len(set(found.inside)) == len(found.inside)
    assert len(set(found.outside)) == len(found.outside)
    return set(found.inside), set(found.outside)


def sets(*states):
    """Instances as words: "P c, E c u"."""
    return {instance(*filter(None, state.split(", "))) for state in states}


def test_parameters_range_over_the_active_domain_and_over_all_values_of_finite_sorts():
    deployed = deployment(tool(params=(X, G)))
    every = {Call("w", (x, k)) for x in ("c", "u") for k in ("k1", "k2")}
    assert offer(deployed, instance("P c", "P u", "K k2")) == every
    assert offer(deployed, instance("P c", "P u")) == every  # no value of k is active
    assert offer(deployed, instance("K k2")) == frozenset()  # no value of a is active


def test_a_guard_selects_among_the_grounded_calls():
    guard = formula("P(x) & exists y. E(x, y)", X)
    deployed = deployment(tool(params=(X,), guard=guard))
    assert offer(deployed, instance("P c", "P u", "E u t", "E t t")) == {Call("w", ("u",))}


def test_a_call_whose_guard_fails_has_no_successor():
    deployed = deployment(tool(params=(X,), guard=formula("~P(x)", X)))
    assert not successors(deployed, Call("w", ("c",)), deployed.init, theorem_restriction(deployed, ())).exist


def test_without_view_lines_the_state_is_shown():
    state = instance("P c", "E u c")
    assert view(deployment(), state) == state


def test_view_lines_cut_down_and_unite():
    lines = (
        View("E", (X, Y), formula("P(x)", X, Y)),
        View("E", (X, Y), formula("x = y", X, Y)),
        View("Z", ()),
    )
    shown = view(deployment(views=lines), instance("P c", "E c u", "E u c", "E u u", "Z"))
    assert shown == instance("E c u", "E u u", "Z")


def test_view_quantifies_over_the_whole_state():
    lines = (View("E", (X, Y), formula("exists z: a. P(z) & z != x & z != y", X, Y)),)
    assert view(deployment(views=lines), instance("P u", "E c c")) == instance("E c c")


def test_delete_then_insert_whatever_the_order_written():
    insert, delete = Insert(atom("P", "c")), Delete(atom("P", "c"))
    for statements in ((insert, delete), (delete, insert)):
        assert after(deployment(tool(*statements)), instance("P c", "Z")) == (sets("P c, Z"), set())


def test_statements_read_the_old_state():
    """What the first statement inserts is not seen by the second."""
    move = Insert(atom("E", "x", "x"), (X,), formula("P(x)", X))
    deployed = deployment(tool(Insert(atom("P", "x"), (X,)), Clear(("P",)), move))
    assert after(deployed, instance("P c", "E c a1")) == (sets("P c, P a1, E c a1, E c c"), set())


def test_bulk_statements_range_over_the_active_domain():
    everywhere = Insert(atom("K", "g"), (G,))
    assert after(deployment(tool(everywhere)), instance("P c")) == (sets("P c"), set())
    assert after(deployment(tool(everywhere)), instance("P c", "K k1")) == (sets("P c, K k1"), set())


def test_choose_takes_active_values_and_constants():
    deployed = deployment(tool(Clear(("P", "E")), Choose(X), Insert(atom("P", "x"))))
    assert after(deployed, instance("P a1")) == (sets("P a1", "P c"), set())


def test_choose_is_cut_down_by_where():
    deployed = deployment(tool(Choose(X, formula("P(x) & x != c", X)), Insert(atom("E", "x", "x"))))
    assert after(deployed, instance("P c", "P a1")) == (sets("P c, P a1, E a1 a1"), set())
    assert after(deployed, instance("P c")) == (set(), set())


def test_fresh_values_avoid_active_values_and_constants():
    """U_f is {c, a1, a2}: with a1 active and c absent, a2 is the only fresh value over it."""
    deployed = deployment(tool(Clear(("P",)), Fresh(X), Insert(atom("P", "x"))))
    assert after(deployed, instance("P a1")) == (sets("P a2"), sets("P a3"))


def test_a_fresh_value_may_come_from_beyond_where_the_successor_does_not_hold_it():
    """U_f is {c}. The pair D → D' is over U_f, whatever stood witness for `fresh`."""
    deployed = deployment(tool(Fresh(X), Insert(fo.Atom("Z"))), bound=0)
    assert after(deployed, instance("P c")) == (sets("P c, Z"), set())


def test_fresh_values_differ():
    deployed = deployment(tool(Fresh(X), Fresh(Y), Insert(atom("E", "x", "y"))))
    assert after(deployed, instance("P c")) == (
        sets("P c, E a1 a2", "P c, E a2 a1"),
        sets("P c, E a1 a3", "P c, E a2 a3", "P c, E a3 a1", "P c, E a3 a2", "P c, E a3 a4"),
    )


def test_a_finite_sort_has_no_fresh_value():
    deployed = deployment(tool(Fresh(G), Insert(atom("K", "g"))))
    assert after(deployed, instance("P c")) == (set(), set())


def test_alternatives_that_are_enabled():
    effects = (
        Effect((Insert(fo.Atom("Z")),), formula("P(x)", X)),
        Effect((Delete(atom("P", "x")),), formula("P(x)", X)),
        Effect((Clear(("P",)),), formula("~P(x)", X)),
    )
    deployed = deployment(Tool("w", (X,), effects=effects))
    assert after(deployed, instance("P c"), "c") == (sets("P c, Z", ""), set())
    assert after(deployed, instance("P c", "E a1 a1"), "a1") == (sets("E a1 a1"), set())


def test_a_tool_without_effect_changes_nothing():
    deployed = deployment(Tool("w"))
    assert after(deployed, instance("P c")) == (sets("P c"), set())


def test_ensure_reaches_one_value_beyond():
    """Exactly one value that was not active holds P; U_f is {c, a1, a2}, a3 stands for what is beyond."""
    text = "empty(E) & empty(K) & empty(Z) & (exists x. P'(x) & ~P(x) & forall y: a. P'(y) -> x = y)"
    deployed = deployment(tool(Ensure(formula(text, primed=True))))
    assert after(deployed, instance("P c")) == (sets("P a1", "P a2"), sets("P a3"))


def test_ensure_reads_the_arguments_of_the_call():
    text = "same(P) & empty(K) & empty(Z) & E'(x, x) & forall y, z: a. E'(y, z) -> y = x & z = x"
    deployed = deployment(tool(Ensure(formula(text, X, primed=True)), params=(X,)))
    assert after(deployed, instance("P c", "P a1"), "a1") == (sets("P c, P a1, E a1 a1"), set())


def test_ensure_does_not_mix_with_statements():
    deployed = deployment(tool(Ensure(formula("same(P)", primed=True)), Clear(("P",))))
    with pytest.raises(DeclarationError, match="write the whole effect in one form"):
        after(deployed, deployed.init)


def test_bounds_count_active_values_outside_the_constants():
    deployed = deployment(bound=1)
    assert exceeded(deployed, instance("P c", "P u")) is None
    assert exceeded(deployed, instance("P t", "E u t")) == "a"
    assert exceeded(deployed, instance("K k1", "K k2")) is None


def test_within_the_restriction():
    restriction = theorem_restriction(deployment(), ())
    assert restriction.values["a"] == ("c", "a1", "a2")
    assert within(restriction, instance("P c", "E a1 a2"))
    assert not within(restriction, Instance(SCHEMA, frozenset({Fact("P", ("a3",))})))
