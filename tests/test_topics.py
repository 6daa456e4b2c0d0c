"""Every error and every finding is explained, and each example gives what it stands under."""

from __future__ import annotations

import inspect
import shlex
from pathlib import Path
from typing import get_args

import pytest

import stead_sym as st
from stead_sym import errors
from stead_sym.cli import deepen, limits, verify
from stead_sym.cli.main import main
from stead_sym.report import failures
from stead_sym.report.topics import Topic, base, topic, topics
from stead_sym.verification.findings.finding import Finding, Kind
from stead_sym.verification.findings.static import lint

KINDS = {kind.replace(" ", "-") for kind in get_args(Kind)}
NAMED = {
    **vars(errors),
    **{name: getattr(st, name) for name in st.__all__},
    "CertificateRejected": st.certificate.CertificateRejected,
}
ERRORS = {
    name for name, value in NAMED.items() if inspect.isclass(value) and issubclass(value, st.SteadError)
}
VERDICTS = {"fails", "unknown"}


def test_every_error_and_every_finding_has_a_topic_and_nothing_else_has() -> None:
    assert topics().keys() == KINDS | ERRORS | VERDICTS


def text_of(found: Topic) -> str:
    return found.example if found.example.startswith("deployment") else base() + found.example


def found_in(found: Topic, tmp_path: Path) -> list[Finding]:
    match found.kind:
        case "stead":
            deployment = st.parse_deployment(text_of(found), "d.stead")
            stated = lint(deployment)
            policies = [policy.name for policy in deployment.policies] or ["any"]
            try:
                gates = [gate.name for gate in deployment.written.gates]
                return [*stated, *st.verify(deployment, policies[0], gates=gates).findings]
            except st.errors.DefinitionError:  # what a finding warns of may come true
                return [*stated]
        case "python":
            results: list[st.Verification] = []

            def verify(*words: object, **named: object) -> None:
                results.append(st.verify(*words, **named))  # type: ignore[arg-type]

            public = type(
                "public", (), {**{name: getattr(st, name) for name in st.__all__}, "verify": verify}
            )
            file = tmp_path / "example.py"  # where a function is, its source is found
            file.write_text(found.example)
            exec(compile(found.example, str(file), "exec"), {"st": public})
            return [finding for result in results for finding in result.findings]
        case _:
            words = shlex.split(found.example)
            desk = st.load(words[2])
            replayed = st.agents.ReplayAgent(words[4], st.Prompt.of(desk))
            return list(st.verify(desk, replayed).findings)


@pytest.mark.parametrize("name", sorted(KINDS))
def test_the_example_of_a_finding_gives_it(name: str, tmp_path: Path) -> None:
    kinds = {finding.kind.replace(" ", "-") for finding in found_in(topics()[name], tmp_path)}
    assert name in kinds


@pytest.mark.parametrize("name", sorted(VERDICTS))
def test_the_example_of_a_verdict_gives_it(name: str) -> None:
    result = st.verify(st.parse_deployment(text_of(topics()[name])))
    assert {verdict.word for verdict in result.verdicts.values()} == {name}


@pytest.mark.parametrize("name", sorted(ERRORS))
def test_the_example_of_an_error_raises_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = topics()[name]
    expected: type[st.SteadError] = NAMED[name]
    raised: list[BaseException] = []

    def note(error: st.SteadError, **_: object) -> None:
        raised.append(error)

    # each module that has it, and not only the first: one that is imported meanwhile would keep `note`
    for module in (failures, deepen, limits, verify):
        monkeypatch.setattr(module, "print_error", note)
    monkeypatch.chdir(tmp_path)
    match found.kind:
        case "stead":
            Path("d.stead").write_text(text_of(found))
            if issubclass(expected, st.errors.DefinitionError):
                assert main(["verify", "d.stead", "--quiet"]) == 1
                assert isinstance(st.verify(st.load("d.stead")).broken, expected)
                return
            assert main(["verify", "d.stead", "--quiet"]) == expected.exit_status
            assert isinstance(raised[0], expected)
        case "sh":
            program, *words = shlex.split(found.example)
            assert program == "stead-sym"
            assert main([*words]) != 0
            said = capsys.readouterr()
            assert (
                any(isinstance(error, expected) for error in raised) or "certificate" in said.out + said.err
            )
        case _:
            names = {"st": st, "CanonicalLimit": st.errors.CanonicalLimit}
            with pytest.raises(expected):
                exec(found.example, names)


@pytest.mark.parametrize(
    "words", ["BoundExceeded", "bound exceeded", "premise-never-true", "Premise never true"]
)
def test_a_topic_is_found_however_it_is_spelled(words: str) -> None:
    assert topic(words) is not None


def test_explain_prints_topics(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "topics"]) == 0
    assert set(capsys.readouterr().out.split()) == set(topics())
    assert main(["explain", "premise", "never", "true"]) == 0
    out = capsys.readouterr().out
    assert "premise-never-true" in out
    assert "spec s AG forall o. (State(o, lost) -> AF State(o, paid))" in out
    assert "deployment orders" in out
    assert "whether the agent ever gets there" in " ".join(out.split())


def test_a_topic_that_is_misspelled_gets_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "BoundExeeded"]) == 2
    assert "did you mean BoundExceeded?" in capsys.readouterr().err
    assert main(["explain", "what now"]) == 2
    assert "`stead-sym explain topics` lists them" in capsys.readouterr().err
    assert main(["explain", "what", "now"]) == 2
    assert "`stead-sym explain topics` lists them" in capsys.readouterr().err
