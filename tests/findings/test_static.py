"""Warnings: for what each kind is about, at its place, and for nothing else."""

from __future__ import annotations

import pytest

from stead_sym.deployment.language import parse_deployment
from stead_sym.findings.static import lint

BASE = """
deployment d
sort a, b
sort k = { k1, k2 } rigid
sort m = { m1, m2 }
relation P(a)
relation R(a, k)
relation N()
init P(c0) R(c0, k1)
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
        ("spec s @~forall x, y. (P(x) | N) -> R(x, y)", "the negation takes in everything"),
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
    ],
)
def test_no_warning(text):
    assert lint(parse_deployment(BASE + text)) == ()
