"""Deployments by file or by name, built in Python, and printed back."""

from pathlib import Path

import pytest

import stead_sym as st

DOOR = """
deployment door
sort person
sort state = { ajar, shut } rigid
relation Door(state)
relation Knocks(person)
init
  Door(shut)
bound person 1
tool wait()
  guard ~exists p: person. true
  effect
    fresh p: person
    insert Knocks(p)
tool let_in(p: person) "Open to somebody."
  guard Knocks(p)
  effect
    clear Knocks
spec nobody_waits
  AG forall p. (Knocks(p) -> AF ~Knocks(p))
"""


def test_a_packaged_example_is_loaded_by_name() -> None:
    desk = st.load("refund")
    assert desk.name == "refund"
    assert {policy.name for policy in desk.policies} == {"baseline", "approving"}
    assert "refund" in st.deployment.packaged_examples()


def test_every_packaged_example_loads_and_prints_back_as_itself() -> None:
    for name in st.deployment.packaged_examples():
        deployment = st.load(name)
        assert st.parse_deployment(str(deployment)) == deployment


def test_a_file_is_loaded_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "door.stead"
    path.write_text(DOOR, encoding="utf-8")
    assert st.load(path) == st.load(str(path)) == st.parse_deployment(DOOR)


def test_a_file_goes_before_an_example_of_the_same_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "refund").write_text(DOOR, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert st.load("refund").name == "door"


def test_a_folder_does_not_hide_an_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "refund").mkdir()
    monkeypatch.chdir(tmp_path)
    assert st.load("refund").name == "refund"


@pytest.mark.parametrize("source", ["refunds", "", "a\0b"])
def test_an_unknown_name_lists_the_packaged_examples(source: str) -> None:
    with pytest.raises(st.InputError, match=r"packaged example.*refund") as caught:
        st.load(source)
    assert "\n" not in str(caught.value)


def test_a_file_named_without_its_suffix_and_an_example_named_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "door.stead").write_text(DOOR, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(st.InputError, match=r"^door: neither .*; did you mean door\.stead\?$"):
        st.load("door")
    with pytest.raises(
        st.InputError, match=r"^refund\.stead: cannot be read .*; the packaged example is refund$"
    ):
        st.load("refund.stead")


@pytest.mark.parametrize("source", ["missing.stead", "nowhere/refund", "x" * 5000 + ".stead"])
def test_a_missing_file_is_named(source: str) -> None:
    with pytest.raises(st.InputError, match="cannot be read") as caught:
        st.load(source)
    assert str(caught.value).startswith(source)


def test_an_error_in_a_file_has_its_place(tmp_path: Path) -> None:
    path = tmp_path / "door.stead"
    path.write_text(DOOR.replace("clear Knocks", "clear Knock"), encoding="utf-8")
    line = next(n for n, text in enumerate(DOOR.splitlines(), 1) if "clear Knocks" in text)
    with pytest.raises(st.errors.DeclarationError) as caught:
        st.load(path)
    assert str(caught.value).startswith(f"{path}:{line}:")


def test_built_and_composed_in_python_it_is_the_same_deployment() -> None:
    knocks = st.logic.atom("Knocks", "p")
    door = st.build_deployment(
        "door",
        sorts={"person": None, "state": st.rigid("ajar", "shut")},
        relations={"Door": "state", "Knocks": "person"},
        init=["Door(shut)"],
        bounds={"person": 1},
        tools=[
            st.tool("wait", guard="~exists p: person. true", effect="fresh p: person  insert Knocks(p)"),
            st.tool("let_in", "p: person", "Open to somebody.", guard="Knocks(p)", effect="clear Knocks"),
        ],
        specs={"nobody_waits": st.logic.AG(st.logic.forall("p", knocks >> st.logic.AF(~knocks)))},
    )
    assert door == st.parse_deployment(DOOR)
    assert st.verify(door)["nobody_waits"].holds


def test_a_verdict_without_a_run_has_no_trace() -> None:
    result = st.verify(st.load("refund"), specs=["auth"])
    assert result["auth"].trace is not None
    desk = st.load("refund")
    assert st.verify(desk, desk.policy("approving"))["auth"].trace is None


def test_notebook_tables_show_what_there_is_and_escape_it() -> None:
    desk = st.load("refund")
    result = st.verify(desk, desk.policy("baseline"))
    trace = result["auth"].trace
    assert trace is not None
    assert "issue_refund" in trace._repr_html_()
    assert "-&gt; Approved" in trace._repr_html_()  # the arrow of the claim
    assert "->" not in trace._repr_html_()
    assert trace.last._repr_html_().count("<table") == len({fact.relation for fact in trace.last})
    assert "no facts" in st.Instance(desk.schema, frozenset())._repr_html_()
    assert "0 + 1 + 1 = 2" in result.restriction._repr_html_()
    literal = st.verify(desk, desk.policy("baseline"), domain="theorem")
    assert "2·1 + 0 + 1 = 3" in literal.restriction._repr_html_()
    assert "auth" in result._repr_html_()
    assert "fails" in result._repr_html_()


def test_a_trace_prints_its_steps_and_its_loop() -> None:
    trace = st.verify(st.load("refund"))["prog"].trace
    assert trace is not None
    assert trace.loop is not None
    text = str(trace)
    assert all(f"{number}. {step.call}" in text for number, step in enumerate(trace.steps, 1))
    assert f"loop: {trace.repeats}" in text
    assert str(len(trace.steps)) in trace.repeats
