"""`terminal when f` against an event written by hand that stays where nothing else can happen."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as hs
from lark import Token, Tree

import stead_sym as st
import whole
from engine_pairs import _answers, examples
from generated.workflows import workflows
from stead_sym.agents.roles import by_agent
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.language import _parser, parse_deployment
from stead_sym.deployment.tool import Tool
from stead_sym.errors import NoInitialState, Undecided
from stead_sym.verification.options import EngineName

ITEMS = (
    "deployment process",
    "sort r",
    "relation R(s)",
    "init S(done)",
    'text t = "open"',
    "initially any S",
    "bound s any",
    "define d = S(open)",
    "tool t()",
    "event e()",
    "agent a",
    "tools close",
    "calls batch 2",
    "view S()",
    "policy p call close()",
    'system "you close"',
    'instructions "close"',
    "fair agent",
    "terminal",
    "gate g permit close()",
    "spec a true",
    "invariant i true",
)
"""An item of each kind of the language."""

PROCESS = """deployment process
sort s = { open, done } rigid
relation S(s)
init S(open)
tool close() guard S(open) effect clear S insert S(done)
"""


def parse(text: str) -> list[Tree[Token]]:
    """Return the items of a text, as the grammar has them."""
    return _parser().parse(text, "deployment").children


def by_hand(deployment: Deployment, conditions: list[str]) -> Deployment:
    """The deployment with an event `stop`, enabled where a condition is true and no guard for any value."""
    guards = []
    for tool in deployment.written.tools:
        guard = f"({tool.guard})"
        for param in tool.params:
            finite = deployment.schema.sort(param.sort).values is not None
            guard = f"(exists {param.name} {'in ' if finite else ': '}{param.sort}. {guard})"
        guards.append(f"~{guard}")
    condition = f"({' | '.join(conditions)}) & {' & '.join(guards)}"
    stop = Tool("stop", (), guard=deployment.formula(condition), event=True)
    return replace(deployment, written=replace(deployment.written, tools=(*deployment.written.tools, stop)))


@given(workflows(sound=False), hs.data())
@settings(max_examples=examples(60, quick=8))
def test_the_loop_of_terminal_states_is_an_event_that_stays(
    deployment: Deployment, data: hs.DataObject
) -> None:
    guards = [str(t.guard) for t in deployment.written.tools if not t.params]
    offered = ["true", "false", *(f"({g})" for g in guards), *(f"~({g})" for g in guards)]
    conditions = data.draw(hs.lists(hs.sampled_from(offered), min_size=1, max_size=2))
    lines = "".join(f"\nterminal when {condition}" for condition in conditions)
    terminal = parse_deployment(str(deployment) + lines)
    assert parse_deployment(str(terminal)) == terminal
    given = data.draw(hs.sampled_from(["any", "p", "q"]))
    agents = given if len(deployment.agents) == 1 else by_agent(deployment, [given])
    hand = by_hand(deployment, conditions)
    seen = []
    for options in ({"engine": "explicit", "max_states": 120}, {"domain": "theorem"}, {"domain": "normal"}):
        try:
            answers, result = _answers(terminal, agents, **options)
            expected, same = _answers(hand, agents, **options)
        except (NoInitialState, Undecided):
            return
        assert answers == expected
        if result is not None and same is not None:
            assert (result.states, result.transitions) == (same.states, same.transitions)
            seen.append(answers)
    event(f"answered: {bool(seen)}")
    assert all(answers == seen[0] for answers in seen)


def test_only_states_that_satisfy_a_line_are_terminal() -> None:
    done = parse_deployment(
        PROCESS + "terminal when S(done)\nspec a AG (S(done) -> AX S(done))\nspec b EF EG S(done)"
    )
    result = st.verify(done, "any")
    assert (result["a"].holds, result["b"].holds, result.states, result.transitions) == (True, True, 2, 2)
    with pytest.raises(st.errors.NothingOffered, match="say which these are with `terminal when …`"):
        whole.verify(parse_deployment(PROCESS + "terminal when S(open)\nspec a true"), "any")
    everywhere = parse_deployment(PROCESS + "terminal\nspec a AF S(done)")
    assert st.verify(everywhere, "any")["a"].holds


def test_a_policy_that_selects_nothing_is_in_no_terminal_state() -> None:
    lazy = parse_deployment(PROCESS + "terminal\npolicy lazy call close() when S(done)\nspec a true")
    with pytest.raises(st.errors.InputError, match="policy lazy selects nothing"):
        st.verify(lazy, "lazy")


def test_the_word_is_a_name_where_older_files_have_it() -> None:
    older = """deployment d relation terminal() relation Q()
    init terminal Q()
    tool terminal_() guard terminal & Q
    agent terminal tools terminal_
    fair agent terminal
    spec terminal terminal"""
    d = parse_deployment(older)
    assert not d.written.terminal
    assert len(d.init.facts) == 2
    assert d.specs[0].name == "terminal"


@pytest.mark.parametrize("item", ITEMS)
def test_any_item_may_follow_the_bare_line(item: str) -> None:
    line, after = parse(f"terminal {item}")
    assert line == parse("terminal")[0]
    assert [after] == parse(item)


def test_each_kind_of_item_is_tried() -> None:
    kinds = {rule.expansion[0].name for rule in _parser().rules if rule.origin.name == "_item"}
    tried = {node.data for item in ITEMS for node in parse(item)}
    assert tried | {"finite_sort", "ordered_sort", "numbers", "init_from"} == kinds


@pytest.mark.parametrize("engine", ["symbolic", "explicit"])
def test_the_loop_of_a_terminal_state_is_no_step(engine: EngineName) -> None:
    """In it the last step and the state before it stay those of the call that led there."""
    deployment = parse_deployment(
        PROCESS
        + """
terminal when S(done)
spec last   AG (did close() -> AG did close())
spec before AG (S(done) -> AG (previously S(open) & ~previously S(done)))
spec length AG (S(done) -> AX AX AX S(done))
"""
    )
    assert all(verdict.holds for verdict in st.verify(deployment, engine=engine).verdicts.values())
