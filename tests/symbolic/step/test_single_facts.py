"""A conjunction rewritten to speak once of the only fact of a relation: the same in every state that holds
one such fact at most, and no longer speaking of it twice."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stead_sym.logic.syntax as fo
from engine_pairs import examples
from generated.formulas import Signature, formulas
from stead_sym.engines.symbolic.step.single_facts import merged
from stead_sym.logic.evaluate import holds
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Schema, Sort

VALUES = {"a": ("a1", "a2", "a3"), "s": ("on", "off")}
SYMBOLS = {"One": ("a",), "Pair": ("a", "a"), "Mixed": ("a", "s"), "Many": ("a", "a"), "Tag": ("s",)}
SINGLE = frozenset({"One", "Pair", "Mixed"})
SCHEMA = Schema(
    (Sort("a"), Sort("s", VALUES["s"])), tuple(Relation(name, sorts) for name, sorts in SYMBOLS.items())
)
SIGNATURE = Signature(SYMBOLS, {"a": ("a1",), "s": VALUES["s"]}, names=("x", "y"), declared=("s",))
SCOPE = {"p": "a", "x": "a", "q": "s"}
"""The free variables: a quantified one may be called `x` too."""


def facts(relation):
    return [Fact(relation, args) for args in product(*(VALUES[sort] for sort in SYMBOLS[relation]))]


@st.composite
def states(draw):
    """A state with one fact at most of each single relation."""
    one = [draw(st.sampled_from((None, *facts(name)))) for name in sorted(SINGLE)]
    several = [draw(st.frozensets(st.sampled_from(facts(name)), max_size=4)) for name in ("Many", "Tag")]
    return Instance(SCHEMA, frozenset(filter(None, one)).union(*several))


@st.composite
def blocks(draw):
    """∃ up to three variables, of any sort, with names that other blocks have as well: atoms of single
    relations mostly, and anything else."""
    scope, binders = dict(SCOPE), []
    for _ in range(draw(st.integers(0, 3))):
        sort = draw(st.sampled_from(("a", "a", "s")))
        declared = sort == "s" and draw(st.booleans())
        binders.append(fo.Binder(draw(st.sampled_from(("x", "y", "p"))), sort, declared=declared))
        scope[binders[-1].name] = sort
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        relation = draw(st.sampled_from(sorted(SINGLE)))
        if draw(st.integers(0, 3)) == 0:
            parts.append(draw(formulas(SIGNATURE, scope, depth=2)))
        elif all(SIGNATURE.terms(sort, scope) for sort in SYMBOLS[relation]):
            terms = (st.sampled_from(SIGNATURE.terms(sort, scope)) for sort in SYMBOLS[relation])
            parts.append(fo.Atom(relation, tuple(map(draw, terms))))
    formula = fo.conjunction(tuple(parts))
    for binder in reversed(binders):
        formula = fo.Exists(binder, formula)
    return formula


def spoken(parts):
    """The atoms of single relations among the parts and below their quantifiers ∃."""
    for part in parts:
        while isinstance(part, fo.Exists):
            part = part.body
        for inner in fo.conjuncts(part):
            if isinstance(inner, fo.Atom) and inner.relation in SINGLE:
                yield inner.relation


@st.composite
def several_blocks(draw):
    """Blocks, some of which may be there twice, as the same object."""
    parts = draw(st.lists(blocks(), min_size=1, max_size=4))
    again = draw(st.lists(st.sampled_from(parts), min_size=len(parts) == 1, max_size=2))
    return draw(st.permutations(parts + again))


@settings(max_examples=examples(150))
@given(several_blocks(), st.lists(states(), min_size=1, max_size=12))
def test_the_same_holds_and_each_single_fact_is_spoken_of_once(parts, found):
    before = fo.And(tuple(parts))
    after = merged(before, SINGLE)
    assert len(set(spoken(after))) == len(list(spoken(after)))
    assert fo.free_variables(fo.conjunction(after)) <= fo.free_variables(before)
    for state in found:
        for p, x, q in product(VALUES["a"], VALUES["a"], VALUES["s"]):
            sigma = {"p": p, "x": x, "q": q}
            assert all(holds(f, state, sigma) for f in after) == holds(before, state, sigma), (before, after)


def exists(names, body):
    for name in reversed(names.split()):
        body = fo.Exists(fo.Binder(name, "a"), body)
    return body


def atom(relation, names):
    return fo.Atom(relation, tuple(fo.Var(name) for name in names.split()))


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param(
            [
                exists("c", atom("One", "c") & atom("Many", "p c")),
                exists("s c", atom("One", "c") & atom("Many", "s c")),
            ],
            [exists("c s", fo.And((atom("One", "c"), atom("Many", "p c"), atom("Many", "s c"))))],
            id="one variable for both",
        ),
        pytest.param(
            [atom("One", "p"), exists("c", atom("One", "c") & atom("Many", "c c"))],
            [atom("One", "p"), atom("Many", "p p")],
            id="a parameter in its place",
        ),
        pytest.param(
            [atom("One", "p"), atom("One", "x")],
            [atom("One", "p"), fo.Equal(fo.Var("p"), fo.Var("x"))],
            id="two parameters are equal",
        ),
        pytest.param(
            [atom("One", "p"), exists("c", atom("One", "c")), *[atom("One", "p")] * 2],
            [atom("One", "p")],
            id="the same is said again",
        ),
        pytest.param(
            [
                atom("One", "p"),
                exists("c d", fo.And((atom("One", "c"), atom("Many", "d d"), atom("Tag", "q")))),
            ],
            [exists("d", atom("Many", "d d")), atom("One", "p"), atom("Tag", "q")],
            id="what the variables do not link is apart",
        ),
        pytest.param(
            [exists("c d", atom("Pair", "c d")), exists("e", atom("Pair", "e e") & atom("Many", "e p"))],
            [exists("d", atom("Pair", "d d") & atom("Many", "d p"))],
            id="a variable for another, which is for a third",
        ),
        pytest.param(
            [atom("One", "p"), fo.Not(exists("c", atom("One", "c")))],
            [atom("One", "p"), fo.Not(exists("c", atom("One", "c")))],
            id="what is denied is left alone",
        ),
        pytest.param(
            [exists("c", atom("One", "c")), exists("c", atom("Many", "c c"))],
            [exists("c", atom("One", "c")), exists("c", atom("Many", "c c"))],
            id="nothing is spoken of twice",
        ),
    ],
)
def test_what_becomes_of_conjunctions(parts, expected):
    assert sorted(map(str, merged(fo.And(tuple(parts)), SINGLE))) == sorted(map(str, expected))
    again = fo.And(tuple(expected))
    assert merged(again, SINGLE) == again.parts


def test_relations_with_several_facts_are_left_alone():
    formula = exists("c", atom("One", "c")) & exists("c", atom("One", "c") & atom("Many", "c c"))
    assert merged(formula, frozenset({"Pair"})) == formula.parts
