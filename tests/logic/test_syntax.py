"""The traversals of formulas."""

from __future__ import annotations

import stead_sym.logic.syntax as fo

F, G, H = fo.Atom("F"), fo.Atom("G"), fo.Atom("H")


def test_conjuncts_are_no_conjunctions_however_deep_they_lie():
    assert list(fo.conjuncts(fo.And((F, fo.And((G, fo.And((H, ~F)))), F | G)))) == [F, G, H, ~F, F | G]
    assert list(fo.conjuncts(fo.Not(F & G))) == [fo.Not(F & G)]
    assert list(fo.conjuncts(fo.And(()))) == []


def test_the_terms_of_a_formula_are_its_own():
    x, c = fo.Var("x"), fo.Const("c")
    assert (
        fo.terms(fo.Atom("P", (x, c))) == fo.terms(fo.Use("D", (x, c))) == fo.terms(fo.Equal(x, c)) == (x, c)
    )
    assert (
        fo.terms(fo.Exists(fo.Binder("x", "a"), fo.Equal(x, c)))
        == fo.terms(fo.Not(fo.Equal(x, c)))
        == fo.terms(fo.TRUE)
        == ()
    )
