"""Formulas over two sorts, in which a name now stands for a record and now for a listed value, on deployments
whose records come and go by `ensure`: both domains of the symbolic engine against the explicit one.

Quantifiers of `x in s` stand beside those over active values, in blocks with them and above and below
temporal operators; a variable is shadowed by one of the other sort; and an `ensure` may take any records
away that a variable still holds, and draw others in the same step.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import event, given, reject, settings
from hypothesis import strategies as st

import stead_sym
import stead_sym.logic.syntax as fo
from engine_pairs import agreeing, examples
from mixed_formulas import Mixed
from stead_sym.errors import Undecided

_NAMES = ("x", "y", "z")
_RELATIONS = {"P": ("a",), "K": ("a", "k"), "L": ("k",), "F": ()}
_KINDS = {
    "sort k = { k1, k2 }": ("k1", "k2"),
    "sort k = { k1, k2 } rigid": ("k1", "k2"),
    "sort k = 0..1": ("0", "1"),
    "sort k = { only }": ("only",),
}
_TOOLS = {
    "label(x: a, x2: k)": "guard P(x) & ~K(x, x2)\neffect\n  insert K(x, x2)",
    "light(x: k)": "guard ~L(x)\neffect\n  insert L(x)",
    "dim": "guard exists x in k. L(x)\neffect\n  clear L",
    "flag": "effect\n  insert F()",
    "name_all": "guard F()\neffect\n  insert K(x, z) for x: a, z: k where P(x) & L(z)\n  clear F",
    "drop(x: a)": "guard P(x)\neffect\n  delete P(x)\n  delete K(x, _)",
    "unlabel": "guard exists x. P(x) & K(x, _)\neffect\n  delete P(x) for x where K(x, _)",
}
_SAME = {name: f"same({name})" for name in _RELATIONS}
_ENSURED = {
    "some_leave": {"P": "forall x: a. P'(x) -> P(x)"},
    "others_come": {"P": "forall x: a. P'(x) <-> ~P(x)"},
    "others_may_come": {"P": "forall x: a. P'(x) -> ~P(x)", "K": "empty(K)"},
    "all_anew": {"P": "exactly {b} x: a. P'(x)", "K": "forall x: k. forall y: a. K'(y, x) -> P'(y) & L(x)"},
    "one_replaced(x: a)": {"P": "~P'(x) & forall y: a. P(y) & y != x -> P'(y)", "K": "empty(K)"},
    "labels_stay(x: k)": {"P": "empty(P)", "K": "forall y: a. forall z in k. K'(y, z) <-> K(y, z) & z = x"},
    "relight": {"L": "forall x in k. L'(x) <-> ~L(x)"},
}
"""The conditions of an `ensure` on relations; the others stay as they are, and no bound is exceeded."""
_DEFINED = (
    "exists y in k. K(x, y)",
    "forall y: k. exists z: a. K(x, y) -> K(z, y) & z != x",
    "P(x) <-> exists x in k. L(x)",
)
"""Bodies that bind names which arguments of D may have."""


@st.composite
def leaves(draw, scope: Mapping[str, str], constants: Mapping[str, tuple[str, ...]]) -> fo.Formula:
    """An atomic formula over the variables and constants of either sort."""

    def term(sort: str, wild: bool = True) -> fo.Term:
        options: list[fo.Term] = [fo.Var(name) for name, of in scope.items() if of == sort] * 3
        options += [fo.Const(value) for value in constants[sort]]
        options += [fo.Wildcard(sort)] if wild and (not options or draw(st.integers(0, 3)) == 3) else []
        return draw(st.sampled_from(options)) if options else fo.Wildcard(sort)

    kind = draw(st.sampled_from(("=", "<", *"PPKKKLLF", "D")))
    if kind in _RELATIONS:
        return fo.Atom(kind, tuple(term(sort) for sort in _RELATIONS[kind]))
    sort = "k" if kind == "<" else draw(st.sampled_from("ak"))
    left, right = term(sort, wild=False), term(sort, wild=False)
    if kind == "D":
        return fo.Use("D", (left,)) if isinstance(left, fo.Var) and sort == "a" else fo.Atom("F")
    if not (isinstance(left, fo.Var) or isinstance(right, fo.Var)) or fo.Wildcard in (
        type(left),
        type(right),
    ):
        return fo.Atom("F")
    if kind == "=" or "0" not in constants["k"]:
        return fo.Equal(left, right)
    return fo.Compare(draw(st.sampled_from(("<", "<=", "succ"))), left, right, "k")


@st.composite
def binders(draw) -> fo.Binder:
    """Two of three are records."""
    name, sort = draw(st.sampled_from(_NAMES)), draw(st.sampled_from("aak"))
    return fo.Binder(name, sort, declared=sort == "k" and draw(st.booleans()))


@st.composite
def two_sorted(draw, depth=5):
    """A deployment with records and listed values, one or two ways in which an `ensure` changes records, and
    three specifications."""
    kinds = draw(st.sampled_from(sorted(_KINDS)))
    bound, constant = draw(st.sampled_from((1, 1, 2))), draw(st.booleans())
    constants = {"a": ("c",) * constant, "k": _KINDS[kinds]}
    formulas = Mixed(lambda scope: leaves(scope, constants), binders())
    lines = ["deployment two_sorted", "sort a", kinds, f"bound a {bound}"]
    lines += [f"relation {name}({', '.join(sorts)})" for name, sorts in _RELATIONS.items()]
    lines += (
        ["init", f"  {draw(st.sampled_from(('P(c)', f'K(c, {_KINDS[kinds][-1]})')))}"] if constant else []
    )
    lines.append(f"define D(x: a) = {draw(st.sampled_from(_DEFINED))}")
    lines.append("tool rest()")
    number = draw(st.integers(1, bound))
    outside = " & x != c" if constant else ""
    lines.append(f"tool make()\n  guard atmost {bound - number} x: a. x = x{outside}\n  effect")
    lines += [f"    fresh u{i}: a\n    insert P(u{i})" for i in range(number)]
    chosen = draw(st.lists(st.sampled_from(sorted(_TOOLS)), max_size=2, unique=True))
    for head in chosen:
        body = _TOOLS[head].replace("\n", "\n  ")
        lines.append(f"tool {head if '(' in head else f'{head}()'}\n  {body}")
    for head in draw(st.lists(st.sampled_from(sorted(_ENSURED)), min_size=1, max_size=2, unique=True)):
        says = {**_SAME, **_ENSURED[head]}
        kept = f"atmost {bound} x: a. (P'(x) | exists w: k. K'(x, w)){outside}"
        formula = " & ".join(f"({said.format(b=bound)})" for said in [*says.values(), kept])
        when = draw(formulas.first_order(1))
        lines.append(f"tool {head if '(' in head else f'{head}()'}\n  effect when {when}")
        lines.append(f"    ensure {formula}\n  effect\n    insert L(z) for z: k where L(z)")
    if draw(st.integers(0, 3)) == 0:
        lines.append(f"fair {draw(formulas.first_order(2))}")
    lines += [f"spec s{i}\n  {draw(formulas.specifications(depth))}" for i in range(3)]
    return stead_sym.parse_deployment("\n".join([*lines, ""]))


@settings(max_examples=examples(40, quick=5), deadline=None)
@given(two_sorted())
def test_two_sorts_and_ensured_changes(deployment):
    try:
        results = agreeing(deployment, max_states=200)
    except Undecided:
        reject()
    event(f"states: 2^{results[0].states.bit_length() - 1} and more" if results else "a fault")


_LAMPS = """
deployment lamps
sort a
sort k = {{ k1, k2 }}
relation P(a)
relation L(k)
bound a 1
tool make()
  guard ~P(_)
  effect
    fresh u: a
    insert P(u)
tool drop()
  effect
    clear P
tool light(x: k)
  effect
    insert L(x)
tool dim()
  effect
    clear L
spec s
  {}
"""


@pytest.mark.parametrize(
    ("spec", "holds"),
    [
        ("AG ((exists x: a. exists x: k. L(x)) -> exists y: a. P(y))", True),
        ("AG (~(forall x: a. ~exists x: k. L(x)) -> exists y: a. P(y))", True),
        ("AG ((exists x: k. exists x: a. P(x)) -> exists y: k. L(y))", True),
        ("AG (P(_) -> exists x in k. exists x: a. P(x))", True),
        ("AG (P(_) -> exists x: k. exists x: a. P(x))", False),
        ("EF ((exists x: a. exists x: k. L(x)) & EX ~exists x: a. exists x: k. L(x))", True),
    ],
)
def test_a_value_that_is_shadowed_by_one_of_the_other_sort_has_to_be_there(spec, holds):
    """`exists x: a` asks for an active record even where all that is said of x is about a lamp."""
    deployment = stead_sym.parse_deployment(_LAMPS.format(spec))
    for options in ({"engine": "explicit"}, {"domain": "theorem"}, {"domain": "normal"}):
        assert stead_sym.verify(deployment, findings=False, **options).verdicts["s"].holds is holds, options
