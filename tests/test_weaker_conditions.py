"""Proofs for every number of records without conditions that rest on too many, or on no number."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from itertools import combinations, product
from pathlib import Path
from random import Random

import pytest

import stead_sym as st
from generated import crowds, offices, records
from stead_sym.agents.roles import wrap_all
from stead_sym.analyses.views.every_number import EveryNumber
from stead_sym.analyses.views.needs import Needs, Outside
from stead_sym.analyses.views.shown import Shown
from stead_sym.analyses.views.weakening import is_free, parts, resting_on_none, stronger, weaker, without
from stead_sym.certificate.document import DOCUMENT
from stead_sym.certificate.verdict import CertificateRejected
from stead_sym.deployment.claims import claims
from stead_sym.deployment.initial import initial_states
from stead_sym.deployment.restriction import around, normal_restriction
from stead_sym.deployment.semantics import outcomes, possible
from stead_sym.errors import NoInitialState
from stead_sym.logic.evaluate import holds
from stead_sym.logic.kernel import core
from stead_sym.relational.instance import Fact, Instance

CASES = int(os.environ.get("VIEWS_CASES", "8"))

LOCKS = """
deployment locks
sort node
sort shard
relation Node(node)
relation Up(node, shard)
relation Lock(node)
relation Alarm()
bound node any
bound shard any
event join()
  effect
    fresh n: node
    fresh s: shard
    insert Node(n)
    insert Up(n, s)
event fail(n: node, s: shard)
  guard Up(n, s)
  effect
    delete Up(n, s)
tool take(n: node)
  guard Node(n) & ~Lock(_) & %s
  effect
    insert Lock(n)
tool ring()
  guard %s
  effect
    insert Alarm()
tool wait()
spec one AG atmost 1 n: node. Lock(n)
spec quiet AG ~Alarm()
"""
ON_NONE = "forall m: node. (Node(m) -> exists s: shard. Up(m, s))"
ON_MANY = "(atleast 9 m: node. Node(m))"


def shown(text: str, rounds: int = 1) -> tuple[dict[str, Shown], EveryNumber]:
    deployment = st.parse_deployment(text)
    specs = {spec.name: spec.formula for spec in deployment.specs}
    search = EveryNumber(deployment, specs, wrap_all(deployment, "any"))
    return {name: one for _ in range(rounds) for name, one in search.further(specs).items()}, search


@pytest.mark.parametrize("condition", [ON_NONE, ON_MANY], ids=["none", "many"])
def test_what_does_not_hang_on_a_condition_is_shown_without_it(condition: str, tmp_path: Path) -> None:
    """The certificate names what is left out. Leaving out what is needed is refused, and a run that needs the
    condition is no reason to say that something holds."""
    text = LOCKS % (condition, condition)
    found, search = shown(text)
    assert found.keys() == {"one"}
    said = "forall m: node. Node(m) -> exists s: shard. Up(m, s)"
    said = said if condition == ON_NONE else condition[1:-1]
    assert f"ring is taken without `{said}`" in search.reasons["quiet"]
    deepened = st.deepen(st.parse_deployment(text), specs="one", limit=1, findings=False)
    path = st.write_certificate(deepened, tmp_path / "c")
    assert [claim.name for claim in st.check_certificate(path).claims] == ["one"]
    document = json.loads((path / DOCUMENT).read_text())
    (induction,) = document["inductions"]
    left_out = induction["left_out"]
    assert {"tool": "take", "alternative": 0, "statement": 0, "conjunct": 2} in left_out
    for conjunct, refused in ((1, True), (7, False)):  # of no such conjunct there is nothing to leave out
        more = {"tool": "take", "alternative": 0, "statement": 0, "conjunct": conjunct}
        induction["left_out"] = [*left_out, more]
        (path / DOCUMENT).write_text(json.dumps(document))
        if refused:
            with pytest.raises(CertificateRejected):
                st.check_certificate(path)
        else:
            assert st.check_certificate(path).claims


def test_a_database_that_stands_in_the_way_of_weaker_tools_is_no_run() -> None:
    """Each step of it could be taken if the condition were not there."""
    _, search = shown(LOCKS % ("Node(n)", ON_NONE))
    assert not search.obstacles["quiet"].is_run
    _, search = shown(LOCKS % ("Node(n)", "true"))
    assert search.obstacles["quiet"].is_run


def test_a_claim_is_shown_by_the_alternatives_that_rest_on_few_records() -> None:
    """That a step is possible is said by a tool without a guard, whatever other guards ask for."""
    deployment = st.parse_deployment(LOCKS % (ON_NONE, ON_NONE))
    needs = Needs(deployment)
    by_name = {claim.name: stronger(needs, claim.invariant) for claim in claims(deployment)}
    assert str(by_name["a step is possible"]) == "true"
    found, _ = shown(LOCKS % ("~Up(n, _)", "~exists n: node. forall s: shard. ~Up(n, s)"))
    assert found["one"].left_open == ()
    deaf, _ = shown((LOCKS % (ON_NONE, "Lock(_)")).replace("tool wait()\n", ""))
    assert deaf["one"].left_open == ()  # join() has no guard
    stuck, _ = shown((LOCKS % (ON_NONE, "Lock(_)")).replace("tool wait()\n", "").replace(
        "event join()\n", "event join()\n  guard exists n: node. forall s: shard. ~Up(n, s)\n"
    ))  # fmt: skip
    assert stuck["one"].left_open == ("a step is possible",)


def facts_of(deployment: st.Deployment, state: Instance) -> frozenset[Fact]:
    """The facts of the relations that a deployment has."""
    return frozenset(fact for fact in state.facts if deployment.schema.has_relation(fact.relation))


def anything(wider: st.Deployment, state: Instance) -> list[Fact]:
    """The facts about active values that may stand in the place of conditions."""
    active = state.active_domain
    return [
        Fact(relation.name, args)
        for relation in wider.schema.relations
        if is_free(relation.name)
        for args in product(*(sorted(active[sort]) for sort in relation.sorts))
    ]


def too_many(wider: st.Deployment, state: Instance) -> bool:
    return len(anything(wider, state)) > 6


def with_anything(wider: st.Deployment, state: Instance) -> Iterator[Instance]:
    """The states in which conditions may be true of some values and false of others."""
    free = [] if too_many(wider, state) else anything(wider, state)
    for number in range(len(free) + 1):
        for chosen in combinations(free, number):
            yield Instance(wider.schema, state.facts.union(chosen))


@pytest.mark.parametrize(
    "made", [crowds.text, offices.text, records.text], ids=["crowds", "offices", "records"]
)
def test_a_deployment_can_do_what_it_can_with_fewer_conditions(made: Callable[[int], str]) -> None:
    """On walks: each outcome of a step is one of the weaker tools, from a state in which what stands in the
    place of conditions is true of some values. A sentence is true where a stronger one is."""
    left = stepped = claimed = 0
    for seed in range(CASES):
        random = Random(seed)
        deployment = st.parse_deployment(made(seed))
        needs = Needs(deployment)
        places = [place for tool in deployment.tools_and_events for place, _ in parts(tool)]
        chosen = {place for place in places if random.random() < 0.4}
        chosen |= {p for tool in deployment.tools_and_events for p in resting_on_none(needs, tool)}
        wider = without(deployment, chosen)
        left += len(chosen)
        restriction = normal_restriction(deployment.within(dict.fromkeys(deployment.unbounded, 3)))
        few = deployment.within(dict.fromkeys(deployment.unbounded, 1))
        strong = [(c.invariant, stronger(needs, c.invariant)) for c in claims(deployment)]
        try:
            state = random.choice(initial_states(few, restriction.values, 50))
        except NoInitialState:
            continue
        for _ in range(8):
            for sentence, one in strong:
                if holds(core(one), state):
                    claimed += 1
                    assert holds(core(sentence), state), f"seed {seed}"
            near = around(deployment, restriction, state)
            calls = sorted(possible(deployment, state))
            after = []
            for call in calls:
                own = list(outcomes(deployment, call, state, near))
                missing = set(own)
                for start in with_anything(wider, state):
                    if missing and call in possible(wider, start):
                        there = outcomes(wider, call, start, near)
                        missing -= {Instance(deployment.schema, facts_of(deployment, one)) for one in there}
                assert not missing or too_many(wider, state), f"seed {seed}, {call}"
                after += own
            stepped += len(after)
            if not after:
                break
            state = random.choice(after)
    assert left > CASES
    assert stepped > CASES
    assert claimed > CASES


def test_what_rests_on_no_number_is_left_out_alone() -> None:
    """Of a guard the other conjuncts stay, and of a tool the other alternatives."""
    deployment = st.parse_deployment(
        (LOCKS % (ON_NONE, "true")).replace(
            "  effect\n    insert Alarm()",
            f"  effect when {ON_NONE}\n    insert Alarm()\n  effect when Lock(_)\n",
        )
    )
    needs = Needs(deployment)
    take, ring = deployment.tool("take"), deployment.tool("ring")
    (place,) = resting_on_none(needs, take)
    assert (place.alternative, place.conjunct) == (0, 2)
    assert [str(part) for _, part in parts(weaker(take, [place]))][:2] == ["Node(n)", "~Lock(_)"]
    (other,) = resting_on_none(needs, ring)
    assert other.alternative == 1
    assert str(weaker(ring, [other]).effects[0].when) == "true"
    with pytest.raises(Outside):
        needs.kept(ring.effects[0].when)


SWEEP = """
deployment sweep
sort node
sort shard
relation Node(node)
relation Up(node, shard)
relation Lock(node)
relation Idle(node)
bound node any
bound shard any
event join()
  effect
    fresh n: node
    fresh s: shard
    insert Node(n)
    insert Up(n, s)
event fail(n: node, s: shard)
  guard Up(n, s)
  effect
    delete Up(n, s)
tool take(n: node)
  guard Node(n) & ~Lock(_)
  effect
    insert Lock(n)
    insert Idle(m) for m: node where Node(m) & %s
tool free()
  effect
    clear Lock
    delete Idle(m) for m: node where %s
tool wait()
spec one AG atmost 1 n: node. Lock(n)
spec known AG forall n: node. (Idle(n) -> Node(n))
spec down AG forall n: node. (Idle(n) -> ~Up(n, _))
"""


ALL_UP = "(forall x: node. (Node(x) -> exists s: shard. Up(x, s)))"
FOUR_UP = "(atleast 4 s: shard. Up(m, s))"


@pytest.mark.parametrize(
    "condition", [ALL_UP, FOUR_UP, f"{ALL_UP} & {FOUR_UP}"], ids=["none", "many", "both"]
)
def test_a_condition_of_a_statement_may_be_anything(condition: str, tmp_path: Path) -> None:
    """What is written where it is true is written or not. The rest of the condition is asked for."""
    text = SWEEP % (condition, condition)
    found, search = shown(text)
    assert found.keys() == {"one", "known"}
    assert "free?" not in str(search.reasons)
    deepened = st.deepen(st.parse_deployment(text), specs=["one", "known"], limit=1, findings=False)
    path = st.write_certificate(deepened, tmp_path / "c")
    assert {claim.name for claim in st.check_certificate(path).claims} == {"one", "known"}
    document = json.loads((path / DOCUMENT).read_text())
    for induction in document["inductions"]:
        induction["views"] = [view for view in induction["views"] if "free?" not in json.dumps(view)]
    (path / DOCUMENT).write_text(json.dumps(document))
    with pytest.raises(CertificateRejected):
        st.check_certificate(path)


def test_statements_that_ask_for_the_same_write_the_same() -> None:
    """A `set` deletes and inserts, where one condition is true: the key is kept."""
    text = """
        deployment levels
        sort case
        sort level = 0..2
        relation At(case key, level)
        relation By(case, case)
        bound case any
        event arrive()
          effect
            fresh c: case
            insert At(c, 0)
        event tie(c: case, d: case)
          guard At(c, _) & At(d, _)
          effect
            insert By(c, d)
        tool raise_all()
          effect
            set At(c, 1) for c: case where forall d: case. (By(c, d) -> exists e: case. By(d, e))
        tool wait()
        spec low AG ~At(_, 2)
        spec once AG forall c: case. atmost 1 l: level. At(c, l)
    """
    found, _ = shown(text)
    assert found.keys() == {"low", "once"}


def test_what_is_watched_for_is_so_without_a_condition(tmp_path: Path) -> None:
    """What makes a condition true or false is no step that is watched, for the checker neither."""
    text = f"""
        deployment arrivals
        sort node
        sort shard
        relation Node(node)
        relation Up(node, shard)
        relation New(node)
        relation Idle(node)
        bound node any
        bound shard any
        event join()
          effect
            fresh n: node
            fresh s: shard
            clear New
            insert Node(n)
            insert Up(n, s)
            insert New(n)
        tool sweep()
          effect
            clear New
            insert Idle(m) for m: node where Node(m) & {ALL_UP}
        tool wait()
          effect
            clear New
        spec once AG forall n: node. (New(n) -> AX (Node(n) & ~New(n)))
    """
    found, _ = shown(text)
    assert found.keys() == {"once"}
    path = st.write_certificate(st.deepen(st.parse_deployment(text), limit=1, findings=False), tmp_path / "c")
    assert [claim.name for claim in st.check_certificate(path).claims] == ["once"]
