"""Reports: the terminal at several widths, JSON against its schema, progress."""

import io
import json
from typing import Any

import jsonschema
import pytest
from rich.console import Console

import stead_sym as st
from described import assert_described
from stead_sym.report.data import error_data, report_data
from stead_sym.report.progress import ProgressDisplay, progress_line
from stead_sym.report.schema import report_schema
from stead_sym.report.terminal import print_verdicts, print_verification

AGENTS = ("baseline", "approving", "any")


def verified(agent: str, **options: Any) -> st.Verification:
    desk = st.load("refund")
    return st.verify(desk, "any" if agent == "any" else desk.policy(agent), **options)


def printed(result: st.Verification, width: int = 100, encoding: str = "utf-8") -> str:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    print_verification(result, Console(file=stream, width=width, highlight=False, markup=False))
    stream.seek(0)
    return stream.read()


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("agent", AGENTS)
def test_nothing_is_wider_than_the_terminal_and_nothing_is_lost(agent: str, width: int) -> None:
    result = verified(agent)
    text = printed(result, width)
    assert max(map(len, text.splitlines())) <= width
    words = text.split()
    for verdict in result.verdicts.values():
        assert verdict.spec in words
        assert verdict.word in words
        if verdict.trace is not None:
            assert all(step.call.tool in text for step in verdict.trace.steps)
            assert set(verdict.trace.claim.split()) <= set(words)


def test_the_counts_are_there() -> None:
    assert "7 states, 8 transitions, 4 contexts, 4 queries" in printed(verified("baseline"))
    literal = printed(verified("any", domain="theorem"))
    assert "217 states, 360 transitions\n" in literal.replace(" \n", "\n").replace("  ", "")


def test_what_the_sizes_of_the_domains_rest_on_is_said() -> None:
    finite = "service 4, status 2"
    assert f"case 2, task 2, {finite} (representatives)" in printed(verified("any"))
    assert f"case 3, task 3, {finite} (by the theorem)" in printed(verified("any", domain="theorem"))
    assert f"case 4, task 3, {finite} (above the theorem)" in printed(verified("any", domain={"case": 4}))


def test_a_verdict_about_the_initial_state_shows_that_state() -> None:
    text = (
        "deployment d\nsort a\nrelation P(a)\nrelation N()\n{}bound a 1\ntool t()\nspec s EF N()\nspec t ~N"
    )
    for init, facts in (("init P(c0) P(c1)\n", "P(c0), P(c1)"), ("", "no facts")):
        result = st.verify(st.parse_deployment(text.format(init)))
        said = printed(result)
        assert "the initial state, below" in said
        shown = [line.split() for line in said.splitlines()]
        assert shown.count(["state", *facts.split()]) == said.count("the initial state, below")
        traces = [verdict.trace for verdict in result.verdicts.values() if verdict.trace is not None]
        assert traces
        assert all(f"state: {facts}" in str(trace) for trace in traces)


def test_every_changed_fact_is_shown_with_its_sign() -> None:
    result = verified("any", specs=["auth"])
    trace = result["auth"].trace
    assert trace is not None
    text = printed(result)
    for index in range(len(trace.steps)):
        added, removed = trace.changes(index)
        assert all(f"+ {fact}" in text for fact in added)
        assert all(f"- {fact}" in text for fact in removed)


def test_a_loop_is_marked_at_its_steps() -> None:
    result = verified("any", specs=["prog"])
    trace = result["prog"].trace
    assert trace is not None
    assert trace.loop is not None
    marked = [line for line in printed(result).splitlines() if line.strip().startswith("↺")]
    assert len(marked) == len(trace.steps) - trace.loop
    assert trace.repeats in printed(result)


def test_without_symbols_the_words_stay() -> None:
    text = printed(verified("any"), encoding="ascii")
    assert text.isascii()
    assert "fails" in text
    assert "repeats for ever" in text


def test_unknown_says_why() -> None:
    text = printed(verified("approving", domain={"case": 2}, force=True))
    assert "unknown" in text
    assert "forced" in text
    assert "the theorem asks for 3" in " ".join(text.split())


def test_no_specification_is_said_and_not_silent() -> None:
    assert "No specification was checked" in printed(verified("any", specs=[]))


def test_verdicts_alone_are_one_line_each() -> None:
    stream = io.StringIO()
    print_verdicts(verified("baseline"), Console(file=stream, width=20))
    assert stream.getvalue() == "auth fails\nprog holds\n"


@pytest.mark.parametrize("engine", ["symbolic", "explicit"])
@pytest.mark.parametrize("agent", AGENTS)
def test_a_report_is_json_by_the_schema(agent: str, engine: Any) -> None:
    result = verified(agent, engine=engine)
    report = json.loads(json.dumps(report_data(result)))
    jsonschema.Draft202012Validator.check_schema(report_schema())
    assert_described(report)
    assert report["states"] == result.states
    size = {"normal": 2, "theorem": 3}[report["mode"]]
    assert report["mode"] == ("normal" if engine == "symbolic" else "theorem")
    assert report["domain"] == {"case": size, "task": size, "service": 4, "status": 2}
    assert len(report["decisions"]) == (result.contexts or 0)


@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        ("states", 55.5),
        ("states", 0),
        ("domain", {"case": "3"}),
        ("specs", {"auth": "fails"}),
        ("mode", "literal"),
        ("more", 1),
    ],
)
def test_the_schema_refuses_what_is_no_report(key: str, wrong: object) -> None:
    report = {**report_data(verified("baseline")), key: wrong}
    with pytest.raises(jsonschema.ValidationError):
        assert_described(report)


def test_the_steps_of_a_report_replay() -> None:
    """The changes of each step, applied in turn to D0, reach a state that refutes the specification."""
    result = verified("baseline")
    specs = report_data(result)["specs"]
    assert isinstance(specs, dict)
    verdict: Any = specs["auth"]
    facts = {str(fact) for fact in result.deployment.init}
    for step in verdict["trace"]:
        assert facts.isdisjoint(step["added"])
        assert facts.issuperset(step["removed"])
        facts = (facts - set(step["removed"])) | set(step["added"])
    trace = result["auth"].trace
    assert trace is not None
    assert facts == {str(fact) for fact in trace.last}
    assert f"RefundIssued({verdict['bindings']['t']})" in facts


def test_an_error_without_a_run_has_an_empty_trace() -> None:
    report = error_data(st.InputError("wrong; mend it", st.errors.Span("a.stead", 1, 2)))
    assert report == {"error": "a.stead:1:2: wrong; mend it", "trace": []}
    assert_described(report)


def test_a_short_run_shows_no_progress() -> None:
    stream = io.StringIO()
    with ProgressDisplay(lambda: Console(file=stream), patience=3600) as progress:
        verified("any", progress=progress)
    assert stream.getvalue() == ""


def test_where_there_is_no_terminal_lines_keep_their_distance() -> None:
    stream = io.StringIO()
    with ProgressDisplay(lambda: Console(file=stream), patience=0, interval=3600) as progress:
        progress("reach", states=1200, contexts=4)
        progress("check", nodes=5)
    assert stream.getvalue() == "stead-sym: exploring: 1,200 states, 4 contexts (0 s)\n"


def test_a_fraction_stays_while_parts_of_its_phase_report_their_own_counts() -> None:
    stream = io.StringIO()
    with ProgressDisplay(lambda: Console(file=stream, width=200), patience=0, interval=0) as progress:
        progress("check", specifications=1, of=5)
        progress("check", nodes=7, subformulas=3)
        progress("findings")
    assert stream.getvalue().splitlines() == [
        "stead-sym: checking: 1 of 5 specifications (0 s)",
        "stead-sym: checking: 1 of 5 specifications, 7 nodes of diagrams in memory, 3 parts of specifications"
        " (0 s)",
        "stead-sym: looking for findings (0 s)",
    ]


def give_up(console: Console) -> None:
    with ProgressDisplay(lambda: console, patience=0) as progress:
        verified("any", engine="explicit", max_states=216, progress=progress)


def test_on_a_terminal_a_spinner_says_the_phase_and_is_gone_after_an_error() -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=80, _environ={"TERM": "xterm"})
    with pytest.raises(st.errors.Undecided):
        give_up(console)
    assert "exploring: " in stream.getvalue()
    assert stream.getvalue().count("\x1b[?25l") == stream.getvalue().count("\x1b[?25h") == 1  # the cursor


def test_a_total_stands_beside_what_it_is_the_total_of() -> None:
    counts = {"tools": 3, "of": 1200, "actions of ship": 1234}
    assert progress_line("plan", counts, 21.4) == "preparing: 3 of 1,200 tools, 1,234 actions of ship (21 s)"
    assert progress_line("reach", {"states": 5}, 0) == "exploring: 5 states (0 s)"
    assert progress_line("plan", {}, 0) == "preparing (0 s)"


@pytest.mark.parametrize("width", [40, 80])
def test_the_hypotheses_are_one_line_and_in_full_on_demand(width: int) -> None:
    result = verified("approving", domain={"case": 2}, force=True)
    stream = io.StringIO()
    print_verification(result, Console(file=stream, width=width), hypotheses=True)
    text = stream.getvalue()
    assert max(map(len, text.splitlines())) <= width
    assert {word for h in result.hypotheses.all for word in h.how.replace(";", "").split()} <= set(
        text.replace(";", "").split()
    )
    brief = printed(result)
    assert "case 1 of 1, task 1 of 1 in use at most" in brief
    assert "not established: bounded, serial, keys hold" in brief
    assert "first-order formulas" not in brief
