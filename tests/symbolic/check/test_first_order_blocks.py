"""First-order parts of temporal formulas, read within the reachable states, against the explicit engine.

Blocks of quantifiers, counts and negations stand above, between and below temporal operators, over values
that die while they are held; names are shadowed, and each formula has free variables in some places.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import event, given, reject, settings
from hypothesis import strategies as st

import stead_sym
import stead_sym.logic.syntax as fo
from engine_pairs import agreeing, examples
from generated.mortality import mortal_deployments
from mixed_formulas import Mixed
from stead_sym.engines.symbolic.encode.values import Vector
from stead_sym.errors import Undecided


@st.composite
def leaves(draw, scope: Mapping[str, str], constants: tuple[str, ...]) -> fo.Formula:
    """An atomic formula over P(a), Q(a), E(a, a) and F()."""
    terms = [*map(fo.Var, scope), *map(fo.Const, constants)]
    if not terms:
        return draw(st.sampled_from((fo.Atom("F"), fo.TRUE, fo.FALSE)))
    one, other = draw(st.sampled_from(terms)), draw(st.sampled_from(terms))
    equal = fo.Equal(one, other) if isinstance(one, fo.Var) or isinstance(other, fo.Var) else fo.Atom("F")
    atoms = (fo.Atom("P", (one,)), fo.Atom("Q", (one,)), fo.Atom("E", (one, other)), equal, fo.Atom("F"))
    return draw(st.sampled_from(atoms))


_BINDERS = st.builds(fo.Binder, st.sampled_from(("x", "y", "z")), st.just("a"))


@st.composite
def deployments_of_blocks(draw, depth=5):
    """A deployment whose values die, with specifications of blocks; with a fairness constraint at times, or
    with many D0."""
    deployment = draw(mortal_deployments(specs=3))
    constants = ("c",) if deployment.init.facts else ()
    formulas = Mixed(lambda scope: leaves(scope, constants), _BINDERS)
    lines = [str(deployment).partition("\nspec ")[0]]
    if draw(st.integers(0, 3)) == 0:
        lines.append("initially any P, F")
    if draw(st.integers(0, 3)) == 0:
        lines.append(f"fair {draw(formulas.first_order(2))}")
    for number in range(3):
        plain = draw(st.integers(0, 3)) == 3
        formula = draw(formulas.sentences(depth) if plain else formulas.specifications(depth + 1))
        lines.append(f"spec s{number}\n  {formula}")
    return stead_sym.parse_deployment("\n".join([*lines, ""]))


def assert_own_bits(checker):
    """Each set ranges over the bits of the states and of its own variables, and no others."""
    compiled = [(read, found) for (read, _), found in checker._memo.items()]
    for (formula, named), found in [*checker._sets.items(), *compiled]:
        vectors = [term for _, term in named if isinstance(term, Vector)]
        own = checker.encoding.state_bits.union(checker.encoding.held_bits(vectors))
        assert checker.manager.support(found) <= own, formula


@settings(max_examples=examples(60, quick=8), deadline=None)
@given(deployments_of_blocks())
def test_blocks_and_counts_between_temporal_operators(deployment):
    try:
        results = agreeing(deployment, max_states=200)
    except Undecided:
        reject()
    event("several D0" if results and deployment.initially else "verdicts" if results else "a fault")
    for result in results:
        assert_own_bits(result.engine.checker)


_TWO_AT_ONCE = """
deployment two
sort a
relation P(a)
bound a 2
tool rest()
tool make()
  guard atmost 0 x: a. x = x
  effect
    fresh u: a
    fresh v: a
    insert P(u)
    insert P(v)
tool remove(x: a)
  guard P(x)
  effect
    delete P(x)
spec s
  {}
"""


@pytest.mark.parametrize(
    ("spec", "holds"),
    [
        ("AG forall w: a. EX atleast 1 x: a. P(x) & w = w", True),
        ("AG forall w: a. (exists y: a. y != w) -> EX exactly 2 x: a. x = w | P(x)", True),
        ("AG forall w: a. (exists y: a. y != w) -> EX atleast 1 x: a. x != w", True),
        ("AG forall w, y: a. EX atleast 1 x: a. x = w & y = y", True),
        ("AG forall w: a. EX exactly 2 x: a. x = w | P(x)", False),
        ("AG forall w, y: a. EX EX (w != y -> atmost 0 x: a. x = w | x = y)", True),
    ],
)
def test_a_count_is_the_same_whatever_dead_value_its_variable_could_share(spec, holds):
    """What is counted is bound beside a variable that may be dead; afterwards nothing speaks of it."""
    deployment = stead_sym.parse_deployment(_TWO_AT_ONCE.format(spec))
    explicit = stead_sym.verify(deployment, engine="explicit", findings=False)
    found = stead_sym.verify(deployment, domain="normal", findings=False)
    assert explicit.verdicts["s"].holds is found.verdicts["s"].holds is holds
    assert_own_bits(found.engine.checker)
