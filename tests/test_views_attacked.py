"""Proofs for every number of records, against runs over a few, on deployments made to break it.

`VIEWS_CASES=2000 VIEWS_BOUND=6 pytest tests/test_views_attacked.py` looks at more, within larger bounds;
`VIEWS_FROM` is the first seed.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

import stead_sym as st
import stead_sym.logic.syntax as fo
from few_records import FewRecords, obligation
from generated import crowds, offices
from stead_sym.agents.roles import wrap_all
from stead_sym.analyses.deepening.deepen import deepen
from stead_sym.analyses.deepening.result import Deepening
from stead_sym.analyses.views.closure import Closing
from stead_sym.analyses.views.every_number import EveryNumber
from stead_sym.analyses.views.parts import AT_FIRST, HowFar
from stead_sym.analyses.views.shown import Shown, always
from stead_sym.analyses.views.vacuity import empty_premises
from stead_sym.deployment.gates import under_gates
from stead_sym.deployment.parts import Spec
from stead_sym.errors import DefinitionError, NoInitialState, Undecided
from stead_sym.verification.findings.finding import Finding

CASES = int(os.environ.get("VIEWS_CASES", "8"))
BOUND = int(os.environ.get("VIEWS_BOUND", "3"))
FIRST = int(os.environ.get("VIEWS_FROM", "0"))
MOST_NODES, MOST_OPERATIONS = 5_000, 600
"""The limits of diagrams: the few deployments with large ones take most of the time, and show little."""
BUDGET = 300 * BOUND
"""The number of calls and steps that are looked at of one deployment (`few_records`)."""


def attacked(made: Callable[[int], str], seed: int) -> tuple[st.Deployment, str]:
    """Return the deployment of a seed, behind its gate or not, and who acts."""
    deployment = st.parse_deployment(made(seed))
    gated = deployment.written.gates and seed % 3 == 0
    return under_gates(deployment, "g") if gated else deployment, "p" if seed % 2 else "any"


def shown(
    deployment: st.Deployment, agent: str, rounds: int, without_bounds: bool
) -> tuple[EveryNumber, Mapping[str, Shown]]:
    """Return what parts on so many numbers of records show, and the search for it."""
    specs = {spec.name: spec.formula for spec in deployment.specs}
    search = EveryNumber(deployment, specs, wrap_all(deployment, agent), without_bounds=without_bounds)
    return search, {name: one for _ in range(rounds) for name, one in search.further(specs).items()}


def closing(*args: Any, far: HowFar = AT_FIRST, **options: Any) -> Closing:
    """Return a closing that takes at most `MOST_OPERATIONS`, also of a whole deployment."""
    return Closing(*args, far=far.within(MOST_OPERATIONS, MOST_NODES), **options)


def sort_of(why: str) -> str:
    """Return the sort of a reason for `unknown`."""
    sorts = {
        "views do not exclude": "not shown by views",
        "-views": "an assumption is not shown",
        "are looked at": "too many records at once",
        "another record for each": "another record for each value",
        "nodes": "too many nodes",
        "operations": "too many operations",
        "it cannot be shown this way": "another form",
    }
    return next((said for part, said in sorts.items() if part in why), "other")


def premises(spec: Spec) -> Iterator[tuple[Spec, Finding]]:
    """Yield for each premise of a specification that it is never true, and the finding that would say so."""
    asked: list[fo.Formula] = []

    def never(sentence: fo.Formula) -> bool:
        asked.append(sentence)
        return True

    for finding in empty_premises(spec.name, spec.formula, never):
        yield Spec(f"premise {len(asked)} of {spec.name}", fo.Globally("A", fo.Not(asked[-1]))), finding


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
        return deepen(deployment, agent, limit=min(BOUND, 3), max_states=180, engine="explicit")


def refuted(runs: FewRecords, deployment: st.Deployment) -> Iterator[str]:
    """Yield the specifications that some run refutes."""
    for spec in deployment.specs:
        if (sentences := always(spec.formula)) is not None:
            if runs.violates(sentences):
                yield spec.name
        elif (owed := obligation(spec.formula)) is not None and runs.breaks(owed):
            yield spec.name


def idle(runs: FewRecords, deployment: st.Deployment, findings: tuple[Finding, ...]) -> Iterator[str]:
    """Yield each finding that a tool is never offered or selected; raises if some run shows otherwise."""
    for finding in findings:
        offered = {"never offered": runs.possible, "never selected": runs.selected}.get(finding.kind)
        for tool in deployment.tools_and_events if offered is not None else ():
            if tool.span == finding.place:
                assert tool.name not in offered, f"{finding}"
                yield finding.kind


def compared(
    runs: FewRecords,
    deployment: st.Deployment,
    holding: Mapping[str, Shown],
    never: Mapping[str, bool],
    findings: tuple[Finding, ...],
) -> Counter[str]:
    """Assert that no run refutes what is shown, breaks a claim that is not left open, or meets a finding.

    ``never`` has the premises, as specifications that they are never true, with whether that was found.
    """
    false = set(refuted(runs, deployment))
    assert not holding.keys() & false
    for name, one in holding.items():
        assert runs.broken <= set(one.left_open), name
    assert not {name for name, is_found in never.items() if is_found} & false
    found = Counter(idle(runs, deployment, findings))
    found.update(compared=len(holding), refuted=len(false - never.keys()), states=len(runs.reached))
    most = max(runs.reached.values(), default=0)
    found.update({f"complete up to {runs.complete}": 1, f"reached {most}": 1})
    for name, is_found in never.items():
        found[f"premise {'never' if is_found else 'met' if name in false else 'not met'}"] += 1
    return found


@pytest.mark.gate
@pytest.mark.parametrize("made", [crowds.text, offices.text], ids=["crowds", "offices"])
def test_what_is_shown_is_refuted_by_no_run(
    made: Callable[[int], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    views = "stead_sym.analyses.views"
    monkeypatch.setattr(f"{views}.every_number._MOST_OPERATIONS", MOST_OPERATIONS // 2)
    monkeypatch.setattr(f"{views}.every_number.Closing", closing)
    found = Counter[str]()
    for seed in range(FIRST, FIRST + CASES):
        deployment, agent = attacked(made, seed)
        monkeypatch.setattr(f"{views}.records.MOST_CONSTANTS", 0 if seed % 4 < 2 else 12)
        without_bounds = seed % 3 == 1 and deployment.unbounded != deployment.bounds.keys()
        try:
            search, holding = shown(deployment, agent, 1 + (seed % 7 == 0), without_bounds)
        except NoInitialState:
            continue
        found.update(seen=1, shown=len(holding), unbounded=len(holding) * without_bounds)
        found.update(f"unknown: {sort_of(why)}" for why in search.reasons.values())
        if not holding:
            continue
        found.update(with_some=1)
        found.update(sliced=sum(bool(one.relations) for one in holding.values()))
        found.update(
            forgetting=sum(bool(one.proof and one.proof.constants is not None) for one in holding.values())
        )
        found.update(helped=sum(bool(one.invariants) for one in holding.values()))
        found.update(followed=sum(one.followed for one in holding.values()))
        found.update(later=len(holding.keys() & {"first", "stays", "later"}))
        findings = tuple(search.findings)
        asked = [pair for spec in deployment.specs if spec.name in holding for pair in premises(spec)]
        never = {spec.name: finding in findings for spec, finding in asked}
        specs = (*deployment.written.specs, *(spec for spec, _ in asked))
        deployment = replace(deployment, written=replace(deployment.written, specs=specs))
        assumed_nowhere = (
            deployment.bounds if without_bounds else deployment.unbounded | search.without_bounds
        )
        free = replace(deployment, unbounded=frozenset(assumed_nowhere))
        whoever = {name: one for name, one in holding.items() if not one.followed}
        by_rules = len(whoever) < len(holding)
        try:
            if whoever:
                runs = FewRecords(free, None, BOUND, BUDGET, seed)
                told = ({}, ()) if by_rules else (never, findings)  # these are true of the agent alone
                found += compared(runs, free, whoever, *told)
            if by_rules:
                runs = FewRecords(free, wrap_all(free, agent), BOUND, BUDGET, seed)
                found += compared(runs, free, holding, never, findings)
        except NoInitialState:
            continue
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        if seed % 2 and seed % 5:
            continue  # the engines are slower, and compared for the others
        try:
            deepened = within_bounds(monkeypatch, deployment, agent, seed)
        except (DefinitionError, NoInitialState, Undecided):
            continue
        if deepened.broken:
            assert all(deepened.broken in one.left_open for one in holding.values()), f"seed {seed}"
            found.update(broken=1)
        else:
            found[f"engine up to {deepened.bounds['a']}"] += 1
        failing = {name: one for name, one in deepened.found.items() if one.verdict.holds is False}
        assert not holding.keys() & failing.keys(), f"seed {seed}"
        assert all(one.verdict.evidence and not one.verdict.evidence.root.holds for one in failing.values())
        for name, is_found in never.items():
            assert not (is_found and name in failing), f"seed {seed}: {name}"
        found.update(failing=len(failing.keys() - never.keys()))
    print(found)
    assert found["shown"] > CASES / 2
    assert found["refuted"] > CASES / 4
    assert found["failing"]
