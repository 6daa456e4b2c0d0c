"""Names that go with the values of anchors: enough, different where they must be, and no constants."""

from __future__ import annotations

from hypothesis import given, settings

from engine_pairs import examples
from generated.guess_breakers import named_after_others
from stead_sym.deployment.restriction import normal_restriction
from stead_sym.engines.symbolic.plan.anchored_names import FreshVariables
from stead_sym.engines.symbolic.plan.guess import Broken, first_guess
from stead_sym.engines.symbolic.plan.planner import Task, attempt
from stead_sym.support.progress import Pulse


def last(deployment):
    """The first plan that confirms its own guess; and its guess."""
    task = Task(deployment, normal_restriction(deployment), False)
    guess = first_guess(deployment, False)
    while isinstance(made := attempt(task, guess, Pulse()), Broken):
        guess = guess.without(made)
    return made, FreshVariables(deployment, task.restriction, guess.anchored)


@settings(max_examples=examples(60))
@given(named_after_others())
def test_names_are_different_and_enough(deployment):
    made, variables = last(deployment)
    assert made.naming.anchors == variables.anchored
    for draw, names in made.naming.names.items():
        sort, siblings = variables.sorts[draw], variables.siblings(draw)
        assert draw in siblings
        known = set(made.restriction.values[str(made.naming.anchors[draw].sort)])
        assert names.keys() <= known
        shared = [name for other in siblings for name in made.naming.names[other].values()]
        assert len(set(shared)) == len(shared), "no two values of an anchor give one name, and no two draws"
        assert set(shared) <= set(made.restriction.values[sort]).difference(deployment.constants[sort])
        assert len(names) * len(siblings) >= deployment.bounds[sort], "as many as can be active at once"


@settings(max_examples=examples(60))
@given(named_after_others())
def test_the_domain_keeps_its_values_and_grows_by_names_that_are_taken(deployment):
    made, variables = last(deployment)
    pool = variables.pool()
    taken = {name for names in made.naming.names.values() for name in names.values()}
    for sort, values in normal_restriction(deployment).values.items():
        used = made.restriction.values[sort]
        assert used[: len(values)] == values
        assert used == pool[sort][: len(used)]
        assert used == values or used[-1] in taken
        assert made.encoding.values[sort] == used
