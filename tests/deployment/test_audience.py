"""`spec NAME for WHOM`: who a specification is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

import stead_sym as st
from stead_sym.agents.base import Everything
from stead_sym.cli.editor.names import Names
from stead_sym.cli.main import main
from stead_sym.errors import DeclarationError
from stead_sym.report.data import report_data

DESK = """
deployment desk
relation Done()
tool work()
  guard ~Done()
  effect
    insert Done()
tool wait()
policy lazy
  call wait()
policy busy
  call work()
  call wait()
"""
SPECS = """
spec always AG (Done() -> AX Done())
spec possible for any EF Done()
spec idle for lazy AG ~Done()
spec never for lazy, any AG ~Done()
"""


def asked(agent: object) -> list[str]:
    return [*st.verify(st.parse_deployment(DESK + SPECS), agent).verdicts]


def test_it_is_asked_only_of_those_whom_it_names() -> None:
    desk = st.parse_deployment(DESK + SPECS)
    assert asked("any") == asked(Everything()) == ["always", "possible"]
    assert (
        asked("lazy")
        == asked(desk.policy("lazy"))
        == asked(st.agents.wrap(desk, "lazy"))
        == ["always", "idle"]
    )
    assert asked("busy") == asked(lambda context: min(context.calls)) == ["always"]
    assert [*st.verify(desk, "lazy", "possible").verdicts] == ["possible"]


def test_of_several_agents_every_one_is_any_and_some_one_runs_the_policy() -> None:
    text = DESK.replace("policy lazy", "agent one\n  tools work, wait\nagent two\n  tools wait\npolicy lazy")
    desk = st.parse_deployment(text + SPECS)
    for agents, names in (
        ({"one": "any", "two": "any"}, ["always", "possible"]),
        ({"one": "any", "two": "lazy"}, ["always", "idle"]),
    ):
        assert [*st.verify(desk, agents).verdicts] == names


def test_what_is_not_asked_is_in_no_size() -> None:
    text = (
        "deployment d\nsort a\nrelation R(a)\nbound a 1\ntool t()\npolicy p\n  call t()\nspec one AG true\n"
    )
    many = f"spec many for any exists {', '.join(f'x{k}' for k in range(9))}: a. true\n"
    sizes = [st.verify(st.parse_deployment(text + more), "p", domain="theorem").domain for more in ("", many)]
    assert sizes[0] == sizes[1]


def test_it_is_printed_and_built_as_it_is_read() -> None:
    desk = st.parse_deployment(DESK + SPECS)
    assert "spec never for lazy, any\n" in str(desk)
    assert st.parse_deployment(str(desk)) == desk
    built = st.build_deployment(
        "d", sorts={}, relations={"P": ""}, tools=[st.tool("t")], specs={"possible for any": "EF P()"}
    )
    assert built.specs[0].whom == ("any",)


def test_for_is_a_name_as_before_where_nothing_else_fits() -> None:
    text = (
        "deployment d\nsort for = { a }\nrelation for(for)\ntool t(for: for)\n"
        "spec for for for for(a)\npolicy for\n  call t(x)\n"
    )
    desk = st.parse_deployment(text)
    assert (desk.specs[0].name, desk.specs[0].whom, str(desk.specs[0].formula)) == ("for", ("for",), "for(a)")
    old = st.parse_deployment(text.replace("spec for for for for(a)", "spec for for(a)\nspec s for (a)"))
    assert [(spec.whom, str(spec.formula)) for spec in old.specs] == [((), "for(a)"), ((), "for(a)")]


def test_whom_it_does_not_know_it_refuses() -> None:
    with pytest.raises(DeclarationError, match="spec s is for lzy, which is no policy; did you mean lazy"):
        st.parse_deployment(DESK + "spec s for lzy EF Done()\n")
    with pytest.raises(DeclarationError, match="spec s is for EF, which is no policy"):
        st.parse_deployment(DESK + "spec s for any, EF Done()\n")


@pytest.mark.parametrize("declared", ["gate lazy", "gate any", "policy any call wait()"])
def test_whom_a_name_means_is_never_guessed(declared: str) -> None:
    whom = "lazy" if declared == "gate lazy" else "any"
    st.parse_deployment(f"{DESK}{declared}\nspec s EF Done()")
    with pytest.raises(DeclarationError, match=f"spec s is for {whom}, which is two things here"):
        st.parse_deployment(f"{DESK}{declared}\nspec s for {whom} EF Done()")


def test_the_editor_knows_the_policy_there() -> None:
    names = Names(DESK + SPECS)
    lazy = next(symbol for symbol in names.symbols if (symbol.kind, symbol.name) == ("policy", "lazy"))
    assert len(lazy.places) == 3
    assert not any(symbol.name == "any" for symbol in names.symbols)


def test_a_name_of_an_agent_asks_where_it_is_decided() -> None:
    text = """deployment d relation Done()
    tool work() guard ~Done() effect insert Done()
    tool wait()
    agent clerk tools work policy lazy call work()
    agent boss tools wait policy calm call wait()
    spec s for clerk EF Done()"""
    d = st.parse_deployment(text)
    assert [*st.verify(d, {"clerk": "any", "boss": "calm"}).verdicts] == []
    assert [*st.verify(d, {"clerk": "lazy", "boss": "any"}).verdicts] == ["s"]


EXPECTING = (
    DESK
    + """
spec a expect fails AG ~Done()
spec b expect holds AG (Done() -> AX Done())
spec c for any expect fails AG (Done() -> AX Done())
spec d EF Done()
"""
)


def test_what_is_expected_is_said_with_the_verdict() -> None:
    d = st.parse_deployment(EXPECTING)
    assert st.parse_deployment(str(d)) == d
    verdicts = st.verify(d, "any").verdicts
    assert {name: verdict.unexpected for name, verdict in verdicts.items()} == {
        "a": False,
        "b": False,
        "c": True,
        "d": False,
    }
    assert str(verdicts["a"]).startswith("a fails: as expected")
    assert "c holds: not as expected: the file says `expect fails`" in str(verdicts["c"])
    data = report_data(st.verify(d, "any"))["specs"]
    assert [one.get("expected") for one in data.values()] == ["fails", "holds", "fails", None]


@pytest.mark.parametrize(
    ("specs", "status"), [(["a", "b", "d"], 0), (["c"], 1), (["a", "c"], 1), (["b"], 0), (["a"], 0)]
)
def test_the_exit_status_is_about_what_was_not_expected(
    specs: list[str], status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "d.stead"
    path.write_text(EXPECTING)
    assert main(["verify", str(path), "--agent", "any", "--quiet", "--spec", *specs]) == status
    capsys.readouterr()


def test_what_is_unknown_is_expected_nowhere() -> None:
    d = st.parse_deployment(
        EXPECTING.replace("effect\n    insert Done()\n", "") + "spec e expect fails EF Done()"
    )
    broken = st.parse_deployment(
        str(d).replace("tool wait()", "tool wait() guard false") + "spec f expect fails EG ~Done()"
    )
    verdict = st.verify(broken, "any")["f"]
    assert verdict.holds is not False
    assert verdict.unexpected


def test_expect_is_a_name_where_older_files_have_it() -> None:
    d = st.parse_deployment(
        DESK + "relation expect() relation fails() spec expect fails spec s expect & fails"
    )
    assert [(spec.name, spec.expected, str(spec.formula)) for spec in d.specs] == [
        ("expect", None, "fails()"),
        ("s", None, "expect() & fails()"),
    ]


def test_in_python_a_specification_says_what_it_expects() -> None:
    d = st.build_deployment(
        "d", sorts={}, relations={"P": ""}, tools=[st.tool("t")], specs={"a for any expect fails": "AG P"}
    )
    assert (d.specs[0].name, d.specs[0].whom, d.specs[0].expected) == ("a", ("any",), "fails")
    assert not st.verify(d, "any")["a"].unexpected


def test_where_nothing_is_asked_it_is_said_that_all_is_for_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "d.stead"
    file.write_text(
        "deployment d\nrelation P()\ntool t() effect insert P()\npolicy p call t()\nspec s for any EF P()\n",
        encoding="utf-8",
    )
    assert main(["verify", str(file), "--policy", "p"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert (
        "No specification was checked (those of the file are for others; `--spec NAME` asks for one)" in shown
    )
