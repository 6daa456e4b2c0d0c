"""The pages of the examples: what they say fails and what they say mends it, by both engines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import stead_sym as st
from pages import ROOT, Reader, blocks, verdicts
from pinned import DOMAINS, explored
from stead_sym.verification.findings.finding import Kind

pytestmark = pytest.mark.gate

PAGES = {
    path.stem: path for path in sorted((ROOT / "docs" / "examples").glob("*.md")) if path.stem != "index"
}
SMALLER = {
    # the literal domains of the explicit engine are larger: fewer values, the same verdicts
    "bank": [
        ("transfer 2", "transfer 1"), ("account 4", "account 2"), ("atmost 1 t. State", "atmost 0 t. State"),
    ],
    "ward": [("bed 4", "bed 1"), ("patient 2", "patient 1"), ("atmost 1 p. LiesIn", "atmost 0 p. LiesIn")],
    "access_requests": [("person 2", "person 1"), ("atmost 1 p. Works", "atmost 0 p. Works")],
    "pull_requests": [],
    "refund": [],
    "returns_desk": [],
}  # fmt: skip


@cache
def repaired(name: str) -> str:
    """The example with the changes of its page."""
    reader = Reader(name)
    file = Path(f"{name}.stead")
    file.write_text(packaged(name), encoding="utf-8")
    reader.read([block for block in blocks(PAGES[name].read_text(encoding="utf-8")) if block.kind == "diff"])
    assert reader.wrong == []
    return file.read_text(encoding="utf-8")


def packaged(name: str) -> str:
    return (Path(st.__file__).parent / "examples" / f"{name}.stead").read_text(encoding="utf-8")


def smaller(name: str, text: str) -> str:
    for old, new in SMALLER[name]:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def agents(text: str) -> Iterator[str]:
    deployment = st.parse_deployment(text)
    policies = {policy.name for role in deployment.agents for policy in role.policies}
    yield from sorted({*policies, *(policy.name for policy in deployment.policies), "any"})


def found(result: st.Verification) -> dict[str, bool | None]:
    return {name: verdict.holds for name, verdict in result.verdicts.items()}


def test_there_are_six_fields_and_each_has_its_page() -> None:
    assert set(PAGES) == set(SMALLER)
    assert len(PAGES) >= 6
    assert set(PAGES) <= set(st.deployment.packaged_examples())


@pytest.mark.parametrize("name", PAGES)
def test_it_shows_a_failure_its_repair_and_a_finding(name: str) -> None:
    text = PAGES[name].read_text(encoding="utf-8")
    before, after = re.split(r"^## The repair$", text, flags=re.MULTILINE)
    if "## What would be overlooked" in after:
        after, later = after.split("## What would be overlooked")
        before += later
    consoles = [[b.text for b in blocks(part) if b.kind == "console"] for part in (before, after)]
    assert any("fails" in verdicts(shown).values() for shown in consoles[0])
    assert any("holds" in verdicts(shown).values() for shown in consoles[1])
    kinds = set(re.findall(r"\*([a-z ]+)\*", before)) & set(Kind.__args__)  # type: ignore[attr-defined]
    assert kinds
    for kind in kinds:
        assert any(re.search(rf"^  {kind} ", shown, re.MULTILINE) for shown in consoles[0]), kind


@pytest.mark.parametrize("which", ["packaged", "repaired"])
@pytest.mark.parametrize("name", PAGES)
def test_the_engines_agree(name: str, which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = smaller(name, packaged(name) if which == "packaged" else repaired(name))
    for agent in agents(text):
        answers = []
        for engine, domains in DOMAINS.items():
            for domain in domains:
                try:
                    answers.append(found(explored(engine, text, agent, domain)))
                except st.SteadError as error:
                    answers.append({type(error).__name__: None})
        assert all(answer == answers[0] for answer in answers), (agent, answers)
        assert len(answers) >= 3


@pytest.mark.parametrize("name", PAGES)
def test_the_repair_mends_something_whatever_the_agent_does_or_under_a_policy(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of any agent nothing gets worse: a guard takes runs away. A policy may need what it took."""
    monkeypatch.chdir(tmp_path)
    more = []
    for agent in agents(packaged(name)):
        before = found(st.verify(st.load(name), agent))
        try:
            after = found(st.verify(st.parse_deployment(repaired(name)), agent))
        except st.AgentError:  # a policy that is not offered what it wants to do
            assert agent != "any"
            continue
        assert agent != "any" or all(after[spec] for spec, holds in before.items() if holds)
        more.append({spec for spec in after if after[spec] and not before[spec]})
    assert any(more)
