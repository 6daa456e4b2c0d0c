"""Parsing: precedence, synonyms, reach of quantifiers, names, places, messages."""

from __future__ import annotations

import pytest

import stead_sym.logic.syntax as fo
from stead_sym.errors import ParseError, Span
from stead_sym.logic.compose import (
    AF,
    AG,
    AU,
    AW,
    AX,
    EF,
    EG,
    EU,
    EW,
    EX,
    atleast,
    atmost,
    atom,
    empty,
    equal,
    exactly,
    exists,
    forall,
    iff,
    leads_to,
    same,
)
from stead_sym.logic.parser import parse_binders, parse_formula

P, Q, N = atom("P", "x"), atom("Q", "x"), atom("N")


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("P(x) & Q(x) & N()", fo.And((P, Q, N))),
        ("P(x) & (Q(x) & N())", P & (Q & N)),
        ("P(x) | Q(x) | N()", fo.Or((P, Q, N))),
        ("P(x) | Q(x) & N()", P | (Q & N)),
        ("P(x) -> Q(x) -> N()", P >> (Q >> N)),
        ("P(x) <-> Q(x) <-> N()", iff(iff(P, Q), N)),
        ("P(x) -> Q(x) <-> N() | P(x)", iff(P >> Q, N | P)),
        ("P(x) <-> Q(x) ~> N() -> P(x)", leads_to(iff(P, Q), N >> P)),
        ("~P(x)~>~Q(x)", leads_to(~P, ~Q)),
        ("forall x. P(x) ~> Q(x)", forall("x", leads_to(P, Q))),
        ("~P(x) & Q(x)", ~P & Q),
        ("not P(x) and !Q(x) or N", (~P & ~Q) | N),
        ("~AX ~P(x)", ~AX(~P)),
        ("AG EF P(x) -> EG AF Q(x)", AG(EF(P)) >> EG(AF(Q))),
        ("EX(P(x)) & Q(x)", EX(P) & Q),
        ("A[P(x) U Q(x)] & E[P(x) U N]", AU(P, Q) & EU(P, N)),
        ("A [P(x) W Q(x) | N]|E[N W N]", AW(P, Q | N) | EW(N, N)),
        ("x = y & x != y", equal("x", "y") & ~equal("x", "y")),
        ("~x = y", ~equal("x", "y")),
        ("true & false", fo.TRUE & fo.FALSE),
        ("P'(x) & same(P) & empty(Q)", fo.And((atom("P'", "x"), same("P"), empty("Q")))),
        ("exists x. P(x) & Q(x)", exists("x", P & Q)),
        ("N & exists x. P(x) | Q(x)", N & exists("x", P | Q)),
        ("N -> forall x. P(x) -> Q(x)", N >> forall("x", P >> Q)),
        ("~exists x. P(x) & Q(x)", ~exists("x", P & Q)),
        ("(~exists x. P(x)) & Q(x)", ~exists("x", P) & Q),
        ("AG forall x. P(x) -> Q(x)", AG(forall("x", P >> Q))),
        ("AG ~exists x. P(x) <-> Q(x)", AG(~exists("x", iff(P, Q)))),
        ("atleast 2 x. P(x) & Q(x)", atleast(2, "x", P & Q)),
        ("N | atmost 0 x: a. P(x) | Q(x)", N | atmost(0, "x: a", P | Q)),
        ("exactly 1 x. atleast 3 y. R(x, y)", exactly(1, "x", atleast(3, "y", atom("R", "x", "y")))),
        ("forall x, y: s. R(x, y)", forall("x, y: s", atom("R", "x", "y"))),
        ("# all\nP(x) # one\n & # two\n Q(x)", P & Q),
        ("A(x) & E = U & AXE(W)", fo.And((atom("A", "x"), equal("E", "U"), atom("AXE", "W")))),
        (
            "flag(true) & x = false & true = x",
            fo.And((atom("flag", "true"), equal("x", "false"), equal("true", "x"))),
        ),
    ],
)
def test_reads_as(text, formula):
    assert parse_formula(text) == formula


def test_a_name_is_a_variable_only_under_its_quantifier():
    formula = parse_formula("P(x) & exists x. R(x, y)")
    assert formula == fo.And(
        (fo.Atom("P", (fo.Name("x"),)), fo.Exists(fo.Binder("x"), fo.Atom("R", (fo.Var("x"), fo.Name("y")))))
    )


def test_a_variable_without_a_sort_has_the_next_sort_of_its_list_as_default():
    binders = parse_binders("x, y: s, z, w: t, v")
    assert [(b.name, b.known_sort, b.default) for b in binders] == [
        ("x", None, "s"), ("y", "s", None), ("z", None, "t"), ("w", "t", None), ("v", None, None),
    ]  # fmt: skip


def test_places():
    formula = parse_formula("P(x) &\n  exists u, v.\n R(u, c)", source="f")
    assert formula.span == Span("f", 1, 1)
    outer = formula.parts[1]
    assert (outer.span, outer.binder.span) == (Span("f", 2, 3), Span("f", 2, 10))
    assert outer.body.span == Span("f", 2, 13)
    assert outer.body.body.args[1].span == Span("f", 3, 7)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f:1:1: unexpected end; expected a formula"),
        ("P(x) &\n", "f:1:7: unexpected end; expected a formula"),
        ("P(x) & & Q", 'f:1:8: unexpected "&"; expected a formula'),
        ("P(x)\nQ(x)", 'f:2:1: unexpected "Q"; expected a connective (& | -> <->) or the end'),
        ("P(x", "f:1:4: unexpected end; expected `=`, `,` or `)`"),
        ("P(x,)", 'f:1:5: unexpected ")"; expected a name or a number'),
        ("forall x) P(x)", 'f:1:9: unexpected ")"; expected `in`, `.`, `,` or `:`'),
        ("exists x: . P(x)", 'f:1:11: unexpected "."; expected a name'),
        ("atleast x. P(x)", 'f:1:9: unexpected "x"; expected a number'),
        ("atleast -1 x. P(x)", 'f:1:9: unexpected "-1"; expected a number'),
        ("x =", "f:1:4: unexpected end; expected a name or a number"),
        ("A[P(x)]", 'f:1:7: unexpected "]"; expected `U` or `W`'),
        (
            "N ~> N ~> N",
            'f:1:8: unexpected "~>"; `f ~> g ~> h` reads in two ways: put one of them in parentheses',
        ),
        ("P(x) & $y", 'f:1:8: unexpected "$"; expected a formula'),
        ("atleast 12345678901 x. P(x)", "f:1:9: a number of 11 digits; write one of 9 at most"),
    ],
)
def test_one_line_with_the_place(text, message):
    with pytest.raises(ParseError) as error:
        parse_formula(text, source="f")
    assert str(error.value) == message


@pytest.mark.parametrize(
    "text",
    [
        "~" * (fo.MAX_DEPTH + 1) + "P",
        "forall " + ", ".join(f"x{i}" for i in range(fo.MAX_DEPTH + 1)) + ". P",
        "P -> " * 5000 + "P",
    ],
)
def test_nesting_has_a_limit(text):
    with pytest.raises(ParseError, match="nested more than 200 deep; name a part of it with `define`"):
        parse_formula(text)


def test_parentheses_and_long_conjunctions_are_not_nesting():
    assert parse_formula("(" * 5000 + "N" + ")" * 5000) == N
    assert len(parse_formula(" & ".join(["N"] * 5000)).parts) == 5000


def test_counting_takes_one_variable():
    with pytest.raises(ValueError, match="one variable"):
        atleast(1, "x, y", N)
