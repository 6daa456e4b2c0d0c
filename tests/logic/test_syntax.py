"""The traversals of formulas."""

from __future__ import annotations

from stead_sym.logic.syntax import (
    TRUE,
    And,
    Atom,
    Binder,
    Const,
    Equal,
    Exists,
    Not,
    Use,
    Var,
    conjuncts,
    terms,
)

F, G, H = Atom("F"), Atom("G"), Atom("H")


def test_conjuncts_are_no_conjunctions_however_deep_they_lie():
    assert list(conjuncts(And((F, And((G, And((H, ~F)))), F | G)))) == [F, G, H, ~F, F | G]
    assert list(conjuncts(Not(F & G))) == [Not(F & G)]
    assert list(conjuncts(And(()))) == []


def test_the_terms_of_a_formula_are_its_own():
    x, c = Var("x"), Const("c")
    assert terms(Atom("P", (x, c))) == terms(Use("D", (x, c))) == terms(Equal(x, c)) == (x, c)
    assert terms(Exists(Binder("x", "a"), Equal(x, c))) == terms(Not(Equal(x, c))) == terms(TRUE) == ()
