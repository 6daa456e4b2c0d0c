"""Guards in libraries of agents, on the libraries themselves: good agents, rogue ones, races, errors."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from scripted_agents import LIBRARIES, Desk, Talk, langchain, of_the_guide
from small_desk import FUNCTIONS, TEXT, database, done

import stead_sym as st

pytestmark = pytest.mark.gate

ALLOWED = [[("approve", {"r": 1, "c": "bob"}), ("pay", {"r": 2})], [("pay", {"r": 1})]]
WAYS = [
    pytest.param(library, kind, in_loop, id=f"{library.__name__}-{kind}{'-in-loop' * in_loop}")
    for library in LIBRARIES
    for kind in ("functions", "existing")
    for in_loop in (False, True)
]


@pytest.fixture
def desk(tmp_path):
    bound = database(tmp_path)
    with st.Guard(st.parse_deployment(TEXT), bound, gates="rules", log=tmp_path / "log") as guard:
        yield Desk(guard, FUNCTIONS, bound)


def events(folder):
    assert st.check_audit_log(folder / "log").lines
    return [json.loads(line)["event"] for line in (folder / "log").read_text().splitlines()]


@pytest.mark.parametrize(("library", "kind", "in_loop"), WAYS)
def test_a_good_agent_is_never_refused(desk, tmp_path, library, kind, in_loop):
    talk = Talk(ALLOWED)
    library(desk, kind, talk, in_loop=in_loop)
    assert talk.answers == ["refund 1 is approved", "refund 2 is paid", "refund 1 is paid"]
    assert not any(talk.errors)
    assert done(desk.bound) == ["approve 1 bob", "pay 1", "pay 2"]
    counted = events(tmp_path)
    assert (counted.count("allowed"), counted.count("done"), counted.count("denied")) == (3, 3, 0)


@pytest.mark.parametrize(("library", "kind", "in_loop"), WAYS)
def test_a_rogue_agent_is_told_why_and_what_else(desk, tmp_path, library, kind, in_loop):
    talk = Talk(
        [[("pay", {"r": 1})], [("approve", {"r": 1, "c": "ann"}), ("pay", {"r": "1"})], [("pay", {})]]
    )
    library(desk, kind, talk, in_loop=in_loop)
    refused, own, *bad = talk.answers
    assert refused == (
        "pay(r=1) was not carried out: no line of gate rules permits it."
        ' Allowed now: approve(r=1, c="bob"); pay(r=2).'
    )
    assert own.startswith('approve(r=1, c="ann") was not carried out: its guard is not true')
    assert len(bad) == 2
    assert all(talk.errors)
    assert done(desk.bound) == []
    assert "allowed" not in events(tmp_path)


STEADY = """
policy steady
  call approve(r, c)
  call pay(r)
  call answer(no)

spec paid_for_good AG forall r. (Refund(id = r, state = paid) -> AG Refund(id = r, state = paid))
"""


@pytest.mark.parametrize(("library", "kind", "in_loop"), WAYS)
def test_an_agent_is_held_to_what_was_verified(tmp_path, library, kind, in_loop):
    bound, steady = database(tmp_path), st.parse_deployment(TEXT + STEADY)
    talk = Talk([[("pay", {"r": 2})], *([call] for message in ALLOWED for call in message)])
    with st.Guard(steady, bound, verified=st.verify(steady, "steady")) as guard:
        library(Desk(guard, FUNCTIONS, bound), kind, talk, in_loop=in_loop)
    early, *others = talk.answers
    why = "not verified: approve(1, bob) was verified here, and not this call"
    assert early == f'pay(r=2) was not carried out: {why}. Allowed now: approve(r=1, c="bob").'
    assert others == ["refund 1 is approved", "refund 2 is paid", "refund 1 is paid"]


@pytest.mark.parametrize(("library", "kind", "in_loop"), WAYS)
def test_of_two_calls_that_race_in_a_message_one_gets_through(desk, tmp_path, library, kind, in_loop):
    talk = Talk([[("pay", {"r": 2})] * 4])
    library(desk, kind, talk, in_loop=in_loop)
    assert sorted(answer == "refund 2 is paid" for answer in talk.answers) == [False, False, False, True]
    assert sum("its guard is not true" in answer for answer in talk.answers) == 3
    assert done(desk.bound) == ["pay 2"]
    assert events(tmp_path).count("done") == 1


class Broken(Exception):
    pass


def broken(connection, r):
    FUNCTIONS["pay"](connection, r)
    raise Broken("the printer is on fire")


@pytest.mark.parametrize(("library", "kind", "in_loop"), WAYS)
def test_an_error_of_a_tool_is_passed_on_and_undone(desk, tmp_path, library, kind, in_loop):
    desk.functions = {**FUNCTIONS, "pay": broken}
    with pytest.raises(Exception, match="on fire") as caught:
        library(desk, kind, Talk([[("pay", {"r": 2})]]), in_loop=in_loop)
    assert Broken in (type(caught.value), type(caught.value.__cause__))  # the OpenAI Agents SDK wraps it
    assert done(desk.bound) == []
    assert events(tmp_path) == ["opened", "allowed", "failed"]
    assert desk.guard.check("pay", {"r": 2}).allowed  # and another call gets its turn


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_tool_that_the_deployment_lacks_is_refused(desk, library):
    talk = Talk([[("drop_tables", {})]])
    library(desk, "existing", talk)
    [answer] = talk.answers
    assert answer.startswith("drop_tables() was not carried out: there is no tool drop_tables")


@pytest.mark.parametrize("library", LIBRARIES)
def test_tools_have_the_schemas_of_the_guard_and_any_names_of_arguments(desk, library):
    talk = Talk([[("pay", {"r": 2})], [("answer", {"config": "yes"})]])
    library(desk, "functions", talk)
    assert talk.answers == ["refund 2 is paid", "answered yes"]


@pytest.mark.parametrize(
    ("kind", "options", "shown"),
    [
        ("functions", {}, [{"approve", "pay"}, {"approve", "answer"}]),
        (
            "existing",
            {"unguarded": ["drop_tables"]},
            [{"approve", "pay", "drop_tables"}, {"approve", "drop_tables"}],
        ),
    ],
)
@pytest.mark.parametrize("in_loop", [False, True])
def test_langchain_shows_only_the_tools_that_have_an_allowed_call(desk, kind, options, shown, in_loop):
    talk = Talk([[("pay", {"r": 2})]])
    langchain(desk, kind, talk, in_loop=in_loop, **options)
    assert talk.tools == shown


def test_a_function_of_no_tool_is_a_line(desk):
    of_the_guide("langchain")
    from stead_sym.guard.adapters.langchain import guarded_tools

    with pytest.raises(st.InputError, match="unknown tool 'pya'; there are approve, pay, answer"):
        guarded_tools(desk.guard, {"pya": FUNCTIONS["pay"]})


@pytest.mark.parametrize("module", ["langchain", "openai_agents", "pydantic_ai"])
def test_a_missing_library_is_a_line_that_names_it(module):
    """Also without the libraries: a module of this name that is None is one that is not there."""
    library = {"openai_agents": "agents"}.get(module, module)
    program = f"import sys; sys.modules['{library}'] = None; import stead_sym.guard.adapters.{module}"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.stderr.splitlines()[-1].startswith(
        f"ImportError: this adapter needs the library {library}; "
    )
    assert "pip install" in ended.stderr or "install its extra" in ended.stderr
    assert "During handling" not in ended.stderr
