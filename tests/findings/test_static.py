"""Warnings: for what each kind is about, at its place, and for nothing else."""

from __future__ import annotations

import pytest

from stead_sym.deployment.language import parse_deployment
from stead_sym.verification.findings.static import lint

BASE = """
deployment d
sort a, b
sort k = { k1, k2 } rigid
sort m = { m1, m2 }
relation P(a)
relation R(a, k)
relation N()
init P(c0) R(c0, k1) N()
bound a 2
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("define @D() = N", "the define D is not used; remove it"),
        ("spec s forall @x: a. N", "the body does not mention x"),
        ("tool t(@k1: a)", "the variable k1 has the name of a constant of sort k"),
        ("spec s exists @c0: a. P(c0)", "the variable c0 has the name of a constant of sort a"),
        ("tool t(x: a) policy p call t(x) when R(@c0, k1) & P(x)", "c0 is not rigid: "),
        ("tool t(x: a) policy p call t(@c0)", "c0 is not rigid: "),
        ("spec s N & @~exists x. P(x) & N", "the negation takes in everything after the quantifier"),
        ("spec s @~forall x, y. (P(x) | N) -> P(y)", "the negation takes in everything"),
        ("spec s @~exists x. P(x) ~> N", "the negation takes in everything"),
        ("spec s AG @~exists x. P(x) since N", "the negation takes in everything"),
        ("spec s AG @exists x. P(x) -> N", "`exists x: a. P(x) -> N()` is true as soon as `P(x)` is false"),
        ("tool t(x: a) guard @exists y. P(y) -> N", "`exists y: a. P(y) -> N()` is true as soon as"),
        (
            "spec s AG @forall q: k. exists x. R(x, q)",
            "`forall q` ranges over the values of k that some fact",
        ),
        ("spec s AG @exists q: m. q != m1", "`exists q` ranges over the values of m that some fact"),
        ("spec s AG @forall q: k. ~AF exists x. R(x, q)", "`forall q` ranges over the values of k"),
        (
            "relation S(m)\ninit S(m1) S(m2)\ntool t() effect delete S(m1)\nspec s AG @forall q: m. S(q)",
            "`forall q` ranges over the values of m",
        ),
        (
            "relation S(m)\ntool t() effect fresh u: a\n insert P(u)\ntool w() effect clear P\n"
            "spec s AG forall x. (P(x) -> AX @AG ~P(x))",
            "`AG ~P(x)` speaks of the identifier x, not of the a that had it",
        ),
        (
            "tool t() effect fresh u: a\n insert P(u)\ntool w() effect clear P\n"
            "spec s AG forall x. (P(x) -> AX @~EF P(x))",
            "`~EF P(x)` speaks of the identifier x",
        ),
        ("relation L()\nspec @s AG ~(L & N)", "s reads L, which is empty in every state"),
        ("relation L()\ndefine D() = N -> L\nspec @s AG D", "s reads L, which is empty"),
        (
            "relation L()\ntool t() effect ensure same(L) & (N'() | P'(_))\n  effect ensure empty(L)\n"
            "spec @s AG ~(L & N)",
            "s reads L, which is empty",
        ),
        (
            "view P(x)\ntool t(x: a) policy p call @t(x) when exists y. R(x, y)",
            "`call t(x) when exists y: k. R(x, y)` of policy p reads R, of which no view line shows anything",
        ),
    ],
)
def test_warnings(text, message):
    full = BASE + text
    before = full[: full.index("@")]
    full = full.replace("@", "")
    (warning,) = lint(parse_deployment(full, "f"))
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    assert str(warning).startswith(f"f:{line}:{column}: {message}")


@pytest.mark.parametrize(
    "text",
    [
        "define D() = N spec s D",
        "spec s exists x: a. true",
        "spec s ~exists x. (P(x) & N)",
        "spec s ~(exists x. P(x) & N)",
        "spec s (~exists x. P(x)) & N",
        "spec s ~exists x. P(x)",
        "tool t(x: a, y: k) policy p call t(x, k1) when R(x, k2)",
        "spec s AG exists x. P(x) & N",
        "spec s AG exists x. (N -> P(x))",
        "spec s AG forall q: k. forall x. (R(x, q) -> P(x))",
        "spec s AG exists q: k. exists x. R(x, q)",
        "relation S(m)\ninit S(m1) S(m2)\ntool t() effect clear P\nspec s AG forall q: m. S(q)",
        "relation L(a)\ntool t() effect fresh u: a\n insert P(u)\n insert L(u)\ntool w() effect clear P\n"
        "spec s AG forall x. (P(x) -> AX AG ~P(x))",
        "tool t() effect fresh u: a\n insert P(u)\ntool w() effect clear P\nspec s AG forall x. ~P(x)",
        "tool t() effect fresh u: a\n insert P(u)\ntool w() effect clear P\n"
        "spec s AG forall x. (P(x) -> AF ~P(x))",
        "relation L()\ntool t() effect insert L\nspec s AG ~(L & N)",
        "relation L(a key, k)\ntool t(x: a) effect set L(x, k1)\nspec s AG ~exists x, y. (L(x, y) & N)",
        "relation L()\ntool t() effect ensure same(N)\nspec s AG ~(L & N)",
        "relation L()\ntool t() effect ensure same(N) & (same(L) | ~N)\nspec s AG ~(L & N)",
        "relation L()\ninitially any L\nspec s AG ~(L & N)",
        "relation L()\ntool t() guard L & N",
        "view P(x)\nview R(x, y)\ntool t(x: a) policy p call t(x) when exists y. R(x, y)",
        "tool t(x: a) policy p call t(x) when exists y. R(x, y)",
    ],
)
def test_no_warning(text):
    assert lint(parse_deployment(BASE + text)) == ()


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        (
            "tool t() effect fresh u: a\n insert P(u)\ntool w() effect clear P\n"
            "spec s AG forall y. (P(y) -> AX AG ~P(y))",
            "A[… W ~exists y_1. y_1 = y]",
        ),
        (
            "sort n = 0..2\nspec s forall y in n. succ(y, _)",
            "write `exists y_1 in n.`, with y_1 in the place of `_`",
        ),
    ],
)
def test_a_proposal_binds_a_name_of_its_own(text, remedy):
    (warning,) = lint(parse_deployment(BASE + text, "f"))
    assert remedy in warning.remedy
