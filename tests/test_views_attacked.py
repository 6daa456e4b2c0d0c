"""Proofs for every number of records, against runs over a few, on deployments made to break it.

`VIEWS_CASES=2000 VIEWS_BOUND=6 pytest tests/test_views_attacked.py` looks at more, within larger bounds;
`VIEWS_FROM` is the first seed.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from random import Random

import pytest

import stead_sym as st
from generated import crowds, offices
from stead_sym.agents.roles import wrap_all
from stead_sym.analyses.deepening.deepen import deepen
from stead_sym.analyses.deepening.result import Deepening
from stead_sym.analyses.views.every_number import EveryNumber, Shown, always
from stead_sym.analyses.views.vacuity import empty_premises
from stead_sym.deployment.claims import claims
from stead_sym.deployment.gates import under_gates
from stead_sym.deployment.initial import initial_states
from stead_sym.deployment.parts import Spec
from stead_sym.deployment.restriction import around, normal_restriction
from stead_sym.deployment.semantics import outcomes, possible
from stead_sym.errors import KeyBroken, NoEffect, NoInitialState, NothingOffered, ReferenceBroken, Undecided
from stead_sym.logic.evaluate import holds
from stead_sym.logic.syntax import Formula, Globally, Not
from stead_sym.relational.instance import Instance
from stead_sym.verification.findings.finding import Finding

CASES = int(os.environ.get("VIEWS_CASES", "12"))
BOUND = int(os.environ.get("VIEWS_BOUND", "3"))
FIRST = int(os.environ.get("VIEWS_FROM", "0"))
STATES = 60 * BOUND
WALKS, STEPS = 4, 25


def attacked(made: Callable[[int], str], seed: int) -> tuple[st.Deployment, str]:
    """Return the deployment of a seed, behind its gate or not, and who acts."""
    deployment = st.parse_deployment(made(seed))
    gated = deployment.written.gates and seed % 3 == 0
    return under_gates(deployment, "g") if gated else deployment, "p" if seed % 2 else "any"


def shown(
    deployment: st.Deployment, agent: str, rounds: int
) -> tuple[Mapping[str, Shown], tuple[Finding, ...]]:
    """Return what parts on so many numbers of records show, and what weakens that."""
    specs = {spec.name: spec.formula for spec in deployment.specs}
    search = EveryNumber(deployment, specs, wrap_all(deployment, agent))
    holding = {name: one for _ in range(rounds) for name, one in search.further(specs).items()}
    return holding, tuple(search.findings)


def premises(spec: Spec) -> Iterator[tuple[Spec, Finding]]:
    """Yield for each premise of a specification that it is never true, and the finding that would say so."""
    asked: list[Formula] = []

    def never(sentence: Formula) -> bool:
        asked.append(sentence)
        return True

    for finding in empty_premises(spec.name, spec.formula, never):
        yield Spec(f"premise {len(asked)} of {spec.name}", Globally("A", Not(asked[-1]))), finding


def within_bounds(
    monkeypatch: pytest.MonkeyPatch, deployment: st.Deployment, agent: str, seed: int
) -> Deepening:
    """Return what runs within bounds refute, nothing being shown without them. Each run is replayed there."""
    with monkeypatch.context() as patched:
        patched.setattr(EveryNumber, "further", lambda self, asked: {})
        patched.setattr(EveryNumber, "is_open", False)
        patched.setattr("stead_sym.analyses.deepening.deepen.proposed", lambda *args, **options: {})
        if seed % 5 == 0:
            return deepen(deployment, agent, limit=min(BOUND, 2))
        return deepen(deployment, agent, limit=BOUND, max_states=STATES, engine="explicit")


def walked(deployment: st.Deployment, seed: int) -> set[str]:
    """The specifications that are false in some state of walks by random steps over up to `BOUND` records,
    whoever acts. A walk ends where a key or a bound is broken."""
    random, false = Random(seed), set[str]()
    sentences = [(s.name, f) for s in deployment.specs for f in always(s.formula) or ()]
    claimed = [c for c in claims(deployment) if c.name.startswith(("bound ", "key of "))]
    within = deployment.within(dict.fromkeys(deployment.unbounded, BOUND))
    restriction = normal_restriction(within)
    few = deployment.within(dict.fromkeys(deployment.unbounded, random.randint(0, min(BOUND, 3))))
    starts = initial_states(few, restriction.values, 200)
    for _ in range(WALKS):
        state = random.choice(starts)
        for _ in range(STEPS):
            if any(claim.broken(state) for claim in claimed):
                break
            false |= {name for name, sentence in sentences if not holds(sentence, state)}
            near = around(deployment, restriction, state)
            calls = sorted(possible(deployment, state))
            after = [s for call in calls for s in outcomes(deployment, call, state, near) if s != state]
            after = [s for s in after if records(deployment, s) <= BOUND]
            if not after:
                break
            state = random.choice(after)
    return false


def records(deployment: st.Deployment, state: Instance) -> int:
    return sum(len(deployment.outside(s, values)) for s, values in state.active_domain.items())


@pytest.mark.gate
@pytest.mark.parametrize("made", [crowds.text, offices.text], ids=["crowds", "offices"])
def test_what_is_shown_is_refuted_by_no_run(
    made: Callable[[int], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stead_sym.analyses.views.diagrams.MOST_NODES", 20_000)
    found = Counter[str]()
    for seed in range(FIRST, FIRST + CASES):
        deployment, agent = attacked(made, seed)
        monkeypatch.setattr("stead_sym.analyses.views.records.MOST_CONSTANTS", 0 if seed % 4 < 2 else 12)
        try:
            holding, findings = shown(deployment, agent, 1 + (seed % 7 == 0))
            asked = [pair for spec in deployment.specs if spec.name in holding for pair in premises(spec)]
            never = {spec.name: finding in findings for spec, finding in asked}
            specs = (*deployment.written.specs, *(spec for spec, _ in asked))
            deployment = replace(deployment, written=replace(deployment.written, specs=specs))
            false = walked(deployment, seed)
        except NoInitialState:
            continue
        assert not {name for name in holding if not holding[name].followed} & false, f"seed {seed}"
        found.update(seen=1, shown=len(holding), walked=len(false))
        found.update(sliced=sum(bool(one.relations) for one in holding.values()))
        found.update(
            forgetting=sum(bool(one.proof and one.proof.constants is not None) for one in holding.values())
        )
        found.update(helped=sum(bool(one.invariants) for one in holding.values()))
        found.update(followed=sum(one.followed for one in holding.values()))
        found.update(later=len(holding.keys() & {"first", "stays", "later"}))
        try:
            deepened = within_bounds(monkeypatch, deployment, agent, seed)
        except (KeyBroken, ReferenceBroken) as error:
            broken = "key of " if isinstance(error, KeyBroken) else " references "
            for one in holding.values():
                assert any(broken in claim for claim in one.left_open), f"seed {seed}"
            found.update(broken=1)
            continue
        except (NoInitialState, NoEffect, NothingOffered, Undecided):
            continue
        found[f"up to {deepened.bounds['a']}"] += 1
        failing = {name: one for name, one in deepened.found.items() if one.verdict.holds is False}
        assert not holding.keys() & failing.keys(), f"seed {seed}"
        assert all(one.verdict.evidence and not one.verdict.evidence.root.holds for one in failing.values())
        for name, is_found in never.items():
            assert not (is_found and name in failing), f"seed {seed}: {name}"
            found[f"premise {'never' if is_found else 'met' if name in failing else 'not met'}"] += 1
        failing = {name: one for name, one in failing.items() if name not in never}
        found.update(failing=len(failing))
        found.update(f"bound {one.within['a']}" for one in failing.values() if one.within)
    print(found)
    assert found["shown"] > CASES / 2
    assert found["failing"] > CASES / 4
