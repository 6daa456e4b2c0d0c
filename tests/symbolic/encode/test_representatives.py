"""Representatives of fresh values: the states are those of the literal domain, up to renaming.

What they become beside the values that a specification holds is tested where pairs are.
"""

from __future__ import annotations

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from brute_force import isomorphisms
from engine_pairs import examples, fault
from generated.deployments import deployments
from generated.guess_breakers import named_after_others
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.deployment.semantics import exceeded
from stead_sym.engines.explicit.explore import explore
from stead_sym.engines.symbolic.encode.representatives import possible_anchors
from stead_sym.errors import DefinitionError, Undecided
from whole import verify


def classes(states, fixed):
    """One of each class of isomorphic states."""
    found = []
    for state in sorted(states, key=str):
        if not any(next(isomorphisms(state, other, fixed), None) is not None for other in found):
            found.append(state)
    return found


@settings(max_examples=examples(40))
@given(st.one_of(deployments(specs=1, depth=2), named_after_others()))
def test_every_state_of_the_literal_domain_has_a_representative_and_no_other_state_is_there(deployment):
    try:
        graph = explore(
            deployment, {"": None}, theorem_restriction(deployment, deployment.specs), max_states=80
        )
    except Undecided:
        reject()
    fixed = frozenset(deployment.sort_of_constant)
    result = verify(deployment, domain="normal")
    represented = result.satisfying("true").sample(1000)
    assert len(represented) == result.states <= len(graph.states)
    literal = classes(graph.states, fixed)
    ours = classes(represented, fixed)
    assert len(ours) == len(literal)
    assert len(classes([*ours, *literal], fixed)) == len(literal)


@settings(max_examples=examples(20))
@given(deployments(specs=1, depth=2, keep_bounds=False))
def test_a_bound_that_is_exceeded_is_exceeded_by_representatives(deployment):
    try:
        verify(deployment, engine="explicit", max_states=100)
        expected = None
    except Undecided:
        reject()
    except DefinitionError as error:
        expected = type(error)
    found = fault(lambda: verify(deployment, domain="normal"))
    assert (None if found is None else type(found)) == expected
    assert found is None or exceeded(deployment, found.trace.last) is not None


LINKS = """
deployment links
sort case, task
sort k = { k1, k2 } rigid
bound case 2
bound task 2
relation H(case, k)
relation Part(task, case)
relation Alone(task)
tool go(p: k, q: k)
  effect
"""


@pytest.mark.parametrize(
    ("effect", "anchors"),
    [
        ("fresh c: case  insert H(c, p)", {"c": ["p"]}),
        ("fresh c: case  insert H(c, k1)", {"c": []}),
        ("choose z: k  fresh c: case  insert H(c, z)", {"c": ["z"]}),
        ("fresh c: case  choose z: k  insert H(c, z)", {"c": []}),
        ("fresh c: case  fresh t: task  insert H(c, p)  insert Part(t, c)", {"c": ["p"], "t": ["p", "c"]}),
        ("fresh t: task  fresh c: case  insert Part(t, c)", {"t": [], "c": ["t"]}),
        ("fresh c: case  insert H(c, p)  insert H(c, q)", {"c": ["p", "q"]}),
        ("fresh t: task  insert Alone(t)", {"t": []}),
        ("fresh c: case  insert H(c, z) for z: k", {"c": []}),
    ],
)
def test_what_a_fresh_value_may_be_named_after(effect, anchors):
    """Variables before it that inserted facts link to it, fresh ones last; no constant, no bound variable."""
    found = possible_anchors(parse_deployment(f"{LINKS}    {effect}\n"))
    assert {name: [binder.name for binder in binders] for (_, name), binders in found.items()} == anchors
