"""Slices of deployments can do whatever the whole can, and are small."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest

import stead_sym as st
import stead_sym.logic.syntax as fo
from generated.records import text, waiting
from stead_sym.agents.roles import wrap_all
from stead_sym.analyses.deepening.deepen import deepen
from stead_sym.analyses.views.choices import followed
from stead_sym.analyses.views.growing_slices import slices
from stead_sym.analyses.views.shown import always
from stead_sym.analyses.views.slicing import sliced
from stead_sym.analyses.views.watching import watched
from stead_sym.cli.main import main
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.initial import initial_states
from stead_sym.deployment.restriction import around, normal_restriction
from stead_sym.deployment.semantics import calls_of, outcomes, possible
from stead_sym.errors import InputError, NoInitialState
from stead_sym.logic.evaluate import holds
from stead_sym.relational.instance import Fact, Instance

CASES = int(os.environ.get("SLICING_CASES", "8"))
STATES = 40


def in_slice(whole: Deployment, part: Deployment, state: Instance) -> Instance:
    """D_K, from the definition."""
    names = {relation.name for relation in whole.schema.relations}
    facts = set[Fact]()
    for relation in part.schema.relations:
        if relation.name in names:
            facts |= {Fact(relation.name, args) for args in state.by_relation.get(relation.name, ())}
        else:
            [sort] = relation.sorts
            facts |= {Fact(relation.name, (u,)) for u in state.active_domain[sort]}
    return Instance(part.schema, frozenset(facts))


def steps(whole: Deployment) -> Iterator[tuple[Instance, Instance | None]]:
    """Initial instances, with None, and steps between reachable ones, some of them."""
    restriction = normal_restriction(whole.within(dict.fromkeys(whole.bounds, 2)))
    seen = dict[Instance, None]()
    for start in initial_states(whole.within(dict.fromkeys(whole.bounds, 2)), restriction.values, 6):
        yield start, None
        seen[start] = None
    todo = deque(seen)
    while todo:
        state = todo.popleft()
        near = around(whole, restriction, state)
        for call in possible(whole, state):
            for after in outcomes(whole, call, state, near):
                yield state, after
                small = all(len(after.active_domain[sort]) <= 3 for sort in whole.bounds)
                if small and after not in seen and len(seen) < STATES:
                    seen[after] = None
                    todo.append(after)


def follows(whole: Deployment, part: Deployment, before: Instance, after: Instance) -> bool:
    """Return if the slice leads from D_K to D'_K, by one step at most and by taking values out of use."""
    start, end = in_slice(whole, part, before), in_slice(whole, part, after)
    near = around(part, normal_restriction(part.within(dict.fromkeys(part.bounds, 2))), start, end)
    reached = {start}
    for call in possible(part, start):
        if not call.tool.startswith("forget_"):
            reached.update(outcomes(part, call, start, near))
    return any(taken_out(part, state, end, near) for state in reached)


def taken_out(part: Deployment, state: Instance, end: Instance, near: st.Restriction) -> bool:
    if not end.facts <= state.facts:
        return False
    while state != end:
        [first, *_] = sorted(state.facts - end.facts)
        if not first.relation.startswith("in_use_"):
            return False
        tool = part.tool(first.relation.replace("in_use_", "forget_"))
        calls = [call for call in calls_of(part, tool, state) if call.args == first.args]
        if not calls:
            return False
        [state] = outcomes(part, calls[0], state, near)
    return True


def asked(whole: Deployment) -> Iterator[tuple[Deployment, tuple[fo.Expanded, ...]]]:
    """Return what is asked of its slices, and of which deployment."""
    for spec in whole.specs:
        if (sentences := always(spec.formula)) is not None:
            yield whole, sentences
        elif (found := watched(whole, spec.formula)) is not None:
            yield found.deployment, found.sentences


@pytest.mark.parametrize("seed", range(CASES))
def test_a_slice_can_do_what_the_whole_can(seed: int) -> None:
    written = (text, waiting)[seed % 2](seed)
    try:
        given = st.parse_deployment(written)
    except InputError:
        return
    looked_at(given)


HIDDEN = """
deployment hidden
sort a
relation P(a)
relation Q(a)
relation F()
bound a any
event new()
  effect
    fresh x: a
    insert P(x)
event raise()
  guard exists x. (P(x) & ~Q(x))
  effect
    insert F()
spec all AG forall x: a. Q(x)
spec none AG ~F()
"""


def test_values_may_be_active_by_what_a_slice_has_not() -> None:
    """A value that a guard asks for, and one that a specification speaks of."""
    assert looked_at(st.parse_deployment(HIDDEN)) == 3


def looked_at(given: Deployment) -> int:
    """Return how many slices were compared with the whole."""
    compared = 0
    for whole, sentences in asked(given):
        parts = [part.deployment for part in slices(whole, sentences)]
        if not parts:
            continue
        try:
            found = list(steps(whole))
        except NoInitialState:
            continue
        for part in parts:
            compared += 1
            for before, after in found:
                here = in_slice(whole, part, before)
                for sentence in sentences:
                    assert holds(sentence, before) or not holds(sentence, here), (str(part), str(before))
                if after is not None:
                    assert follows(whole, part, before, after), f"{part}\n{before}\n{after}"
                elif part.initially is None:
                    assert part.init == here
                else:
                    assert part.init.facts <= here.facts
                    assert holds(part.initially.where, here)
                    changed = here.facts - part.init.facts
                    assert {fact.relation for fact in changed} <= set(part.initially.relations)
    return compared


WIDE = (
    "deployment wide\nsort case\nrelation Focus(case)\nrelation Paid(case)\nrelation Near(case, case)\n"
    + "".join(f"relation R{n}(case)\n" for n in range(12))
    + "bound case any\nevent arrive() effect fresh c: case insert R0(c)\n"
    + "".join(f"event move{n}(c: case) guard R{n}(c) effect insert R{n + 1}(c)\n" for n in range(11))
    + "tool take(c: case) guard (forall d: case. exists e: case. (R11(c) & Near(d, e))) & ~Focus(_)"
    " effect insert Focus(c)\ntool pay(c: case) guard Focus(c) effect insert Paid(c) delete Focus(c)\n"
    "tool wait()\nspec one AG atmost 1 c: case. Focus(c)\n"
    "spec later AG forall c: case. (Focus(c) -> AX (Focus(c) | Paid(c)))\nspec none AG ~Paid(_)\n"
)


def test_a_wide_deployment_is_shown_by_what_it_speaks_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Fifteen relations, and a guard that no number of records keeps true."""
    (file := tmp_path / "wide.stead").write_text(WIDE)
    main(["verify", str(file), "--quiet", "--max-bound", "1"])
    said = " ".join(capsys.readouterr().out.split())
    whoever = "for every number of case, whatever an agent selects"
    assert f"one holds: {whoever} (2-views of Focus: " in said
    assert f"later holds: {whoever} (1-views of Focus, Paid: " in said
    assert "none unknown" in said


def test_slices_with_large_diagrams_are_looked_at_if_the_whole_shows_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No slice is small enough to be looked at before the whole, which takes too many records."""
    crowd = WIDE.replace("forall d: case. exists e: case. (R11(c) & Near(d, e))", "atleast 9 d: case. R11(d)")
    assert crowd != WIDE
    monkeypatch.setattr("stead_sym.analyses.views.every_number._NODES_BEFORE_WHOLE", 0)
    monkeypatch.setattr("stead_sym.analyses.views.diagrams._BETWEEN", 1)
    shown = deepen(st.parse_deployment(crowd), "any", "one", limit=1).found["one"].every_number
    assert shown is not None
    assert shown.relations == ("Focus",)


def test_a_sort_stays_of_which_only_two_values_are_compared() -> None:
    """A view compares the level of one box with that of another, whose relation is not in the slice."""
    deployment = st.parse_deployment(
        "deployment levels\nsort box\nsort level = 0..2\nbound box any\nrelation At(box key, level)\n"
        "relation Seen(box, box)\nrelation Gone(box)\ninit\n  At(c, 2)\n"
        "event come()\n  effect\n    fresh b: box\n    insert At(b, 0)\n"
        "tool lose(x: box)\n  guard Seen(x, x)\n  effect\n    insert Gone(x)\ntool wait()\n"
        "view At(b, n) where Seen(b, b) | n < 2\nview Seen(b, d)\n"
        "policy p\n  call lose(x) when At(c, 2)\n  call wait()\n"
        "spec kept AG forall x: box. ~(Gone(x) & ~Seen(x, x))\n"
    )
    guarded = followed(deployment, wrap_all(deployment, "p"), 2)
    part = sliced(guarded, frozenset({"Seen", "Gone"}), [deployment.specs[0].formula.body])
    assert [sort.name for sort in part.deployment.schema.sorts] == ["box", "level"]
    assert deepen(deployment, "p", "kept", limit=2)["kept"].holds is True
