"""First-order parts of temporal formulas, read within the reachable states, against the explicit engine.

Blocks of quantifiers, counts and negations stand above, between and below temporal operators, over values
that die while they are held; names are shadowed, and each formula has free variables in some places.
"""

from __future__ import annotations

import pytest
from hypothesis import event, given, reject, settings
from hypothesis import strategies as st

import stead_sym
from engine_pairs import examples, replay
from stead_sym.agent.roles import wrap
from stead_sym.errors import DefinitionError, Undecided
from stead_sym.logic.syntax import (
    FALSE,
    TRUE,
    And,
    Atom,
    Binder,
    Const,
    Count,
    Equal,
    Exists,
    Forall,
    Formula,
    Future,
    Globally,
    Iff,
    Implies,
    Next,
    Not,
    Or,
    Until,
    Var,
)
from stead_sym.symbolic.encode.values import Vector
from stead_sym.testing.mortality import mortal_deployments

_NAMES = ("x", "y", "z")


@st.composite
def mixed(draw, scope: tuple[str, ...], depth: int, constants: tuple[str, ...], first_order=False) -> Formula:
    """A formula over P(a), Q(a), E(a, a) and F() with its free variables in ``scope``."""

    def sub(inner=scope, plain=False) -> Formula:
        return draw(mixed(inner, depth - 1, constants, first_order or plain))

    def leaf() -> Formula:
        terms = [*map(Var, scope), *map(Const, constants)]
        if not terms:
            return draw(st.sampled_from((Atom("F"), TRUE, FALSE)))
        one, other = draw(st.sampled_from(terms)), draw(st.sampled_from(terms))
        return draw(
            st.sampled_from(
                (
                    Atom("P", (one,)),
                    Atom("Q", (one,)),
                    Atom("E", (one, other)),
                    Equal(one, other) if isinstance(one, Var) or isinstance(other, Var) else Atom("F"),
                    Atom("F"),
                )
            )
        )

    if depth == 0:
        return leaf()
    kinds = ["leaf", "not", "and", "or", "implies", "iff", "block", "block", "block", "count", "count", "cut"]
    kind = draw(st.sampled_from(kinds if first_order else [*kinds, "unary", "unary", "unary", "until"]))
    match kind:
        case "leaf":
            return leaf()
        case "not":
            return Not(sub())
        case "and":
            return And((sub(), sub()))
        case "or":
            return Or((sub(), sub()))
        case "implies":
            return Implies(sub(), sub())
        case "iff":
            return Iff(sub(), sub())
        case "cut":  # first-order beside temporal
            return draw(st.sampled_from((And, Or)))((sub(plain=True), sub()))
        case "block":
            names = draw(st.lists(st.sampled_from(_NAMES), min_size=1, max_size=3))
            body = sub(tuple(dict.fromkeys((*names, *scope))))
            for name in names:
                shape = draw(st.sampled_from((Exists, Forall, "not forall", "not exists")))
                if isinstance(shape, str):
                    inner = (Forall if shape == "not forall" else Exists)(Binder(name, "a"), body)
                    body = Not(inner)
                else:
                    body = shape(Binder(name, "a"), body)
            return body
        case "count":
            name = draw(st.sampled_from(_NAMES))
            comparison = draw(st.sampled_from(("atleast", "atmost", "exactly")))
            body = sub(tuple(dict.fromkeys((name, *scope))))
            return Count(comparison, draw(st.integers(0, 2)), Binder(name, "a"), body)
        case "until":
            return Until(draw(st.sampled_from("AE")), sub(), sub(), draw(st.booleans()))
        case _:
            operator = draw(st.sampled_from((Next, Future, Globally)))
            return operator(draw(st.sampled_from("AE")), sub())


@st.composite
def deployments_of_blocks(draw, depth=5):
    """A deployment whose values die, with specifications of blocks; with a fairness constraint at times, or
    with many D0."""
    deployment = draw(mortal_deployments(specs=3))
    constants = ("c",) if deployment.init.facts else ()
    lines = [str(deployment).partition("\nspec ")[0]]
    if draw(st.integers(0, 3)) == 0:
        lines.append("initially any P, F")
    if draw(st.integers(0, 3)) == 0:
        lines.append(f"fair {draw(mixed((), 2, constants, first_order=True))}")
    for number in range(3):
        operator = draw(st.sampled_from((Next, Future, Globally, None)))
        body = draw(mixed((), depth, constants))
        formula = body if operator is None else operator(draw(st.sampled_from("AE")), body)
        lines.append(f"spec s{number}\n  {formula}")
    return stead_sym.parse_deployment("\n".join([*lines, ""]))


def verdicts(deployment, **options):
    try:
        return stead_sym.verify(deployment, findings=False, **options)
    except DefinitionError as error:
        error.with_traceback(None)
        return None


def assert_own_bits(checker):
    """Each set ranges over the bits of the states and of its own variables, and no others."""
    compiled = [(read, found) for (read, _), found in checker._memo.items()]
    for (formula, named), found in [*checker._sets.items(), *compiled]:
        vectors = [term for _, term in named if isinstance(term, Vector)]
        own = checker.encoding.state_bits.union(checker.encoding.held_bits(vectors))
        assert checker.manager.support(found) <= own, formula


def assert_agreement(deployment):
    try:
        explicit = verdicts(deployment, engine="explicit", max_states=200)
    except Undecided:
        reject()
    event("a fault" if explicit is None else "several D0" if deployment.initially else "verdicts")
    for domain in ("theorem", "normal"):
        found = verdicts(deployment, domain=domain)
        assert (found is None) == (explicit is None)
        if found is None:
            continue
        assert {n: v.word for n, v in found.verdicts.items()} == {
            n: v.word for n, v in explicit.verdicts.items()
        }, domain
        assert_own_bits(found.engine.checker)
        wrapped = wrap(deployment, "any")
        for verdict in found.verdicts.values():
            if verdict.trace is not None:
                replay(deployment, found.engine.restriction, wrapped, verdict.trace)


@settings(max_examples=examples(60), deadline=None)
@given(deployments_of_blocks())
def test_blocks_and_counts_between_temporal_operators(deployment):
    assert_agreement(deployment)


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
    assert verdicts(deployment, engine="explicit").verdicts["s"].holds is holds
    found = verdicts(deployment, domain="normal")
    assert found.verdicts["s"].holds is holds
    assert_own_bits(found.engine.checker)
