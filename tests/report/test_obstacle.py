"""Obstacles on a terminal: at most some dozens of steps and facts are printed, and JSON has all."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO

import pytest
from rich.console import Console

import stead_sym as st
from stead_sym.analyses.views.obstacle import Leading, Obstacle
from stead_sym.deployment.tool import Call
from stead_sym.relational.instance import Fact, Instance
from stead_sym.report.obstacle import MOST_FACTS, MOST_STEPS, obstacle_data, print_obstacle

DEPLOYMENT = st.parse_deployment("""
deployment growing
sort a
bound a 1
relation P(a)
tool add()
  effect
    fresh x: a
    insert P(x)
""")


def having(facts: int) -> Instance:
    return Instance(DEPLOYMENT.schema, frozenset(Fact("P", (f"a{n:03}",)) for n in range(facts)))


def one_by_one(steps: int) -> Obstacle:
    """A run that adds one fact in each step."""
    leading = [Leading(having(0), having(0))]
    leading += [Leading(having(n + 1), having(1), having(n), Call("add", ())) for n in range(steps)]
    return Obstacle(1, having(steps), tuple(leading))


def at_once(facts: int) -> Obstacle:
    """One step beside many facts that adds many."""
    some = Leading(having(2 * facts), having(1), having(facts), Call("add", ()))
    return Obstacle(1, having(2 * facts), (Leading(having(0), having(0)), some))


def printed(obstacle: Obstacle) -> str:
    console = Console(file=StringIO(), width=100_000, color_system=None)
    print_obstacle("few", obstacle, DEPLOYMENT, console)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("steps", [MOST_STEPS - 1, MOST_STEPS + 14])
def test_the_last_steps_are_printed(steps: int) -> None:
    text = printed(one_by_one(steps))
    assert text.count("add()") == min(steps, MOST_STEPS)
    assert (f"{steps + 1 - MOST_STEPS} steps before these; --json has all" in text) is (steps >= MOST_STEPS)
    assert f"P(a{steps - 1:03})" in text


def test_what_is_left_out_of_the_facts_is_counted() -> None:
    text = printed(at_once(MOST_FACTS + 5))
    assert text.count("and 5 more") == 2  # put in, and added
    assert f"and {MOST_FACTS + 10} more" in text  # of the database
    assert "more" not in printed(at_once(MOST_FACTS // 2))


@pytest.mark.parametrize("made", [one_by_one, at_once])
def test_json_has_all(made: Callable[[int], Obstacle]) -> None:
    obstacle = made(90)
    data = obstacle_data(obstacle)
    assert len(data.facts) == len(obstacle.state)
    assert [len(step.after) for step in data.steps] == [len(step.after) for step in obstacle.steps]
