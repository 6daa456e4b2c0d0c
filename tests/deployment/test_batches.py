"""Several calls in one message: against the same deployment with its queue written out, and its limits."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, event, given, reject, settings
from hypothesis import strategies as hs

import stead_sym as st
from engine_pairs import MAX_STATES, examples
from generated.workflows import workflows
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.parts import AgentRole, Calls
from stead_sym.deployment.printer import print_statement
from stead_sym.deployment.tool import Tool
from stead_sym.errors import DefinitionError, NoInitialState, Undecided
from stead_sym.logic.printer import print_formula
from whole import verify

DESK = """deployment desk
sort times = 0..2
relation Refunded(times)
init Refunded(0)
agent desk
  tools refund, wait
  {calls}
  policy careful
    call refund() when Refunded(0)
    call wait()
tool refund()
  guard ~Refunded(2)
  effect
    choose m: times where exists n. (Refunded(n) & succ(n, m))
    clear Refunded
    insert Refunded(m)
tool wait()
spec once AG ~Refunded(2)
"""


@hs.composite
def batches(draw: hs.DrawFn) -> Deployment:
    """A workflow with one or two agents that call in batches."""
    d = draw(workflows(specs=2, max_actions=3))
    assume(not any(effect.is_ensure for tool in d.written.tools for effect in tool.effects))
    assume(not d.written.fair_actions)
    parts = d.written
    if not parts.agents:
        tools = tuple(tool.name for tool in parts.tools if not tool.event)
        parts = replace(parts, agents=(AgentRole("a", tools),))
    shared = {name for agent in parts.agents for name in agent.tools}
    assume(sum(len(agent.tools) for agent in parts.agents) == len(shared))
    number = draw(hs.integers(1, len(parts.agents)))
    most = draw(hs.sampled_from([2, 2, 3]))
    calls = draw(hs.sampled_from(["", " on refusal stop", " on refusal skip"]))
    agents = [replace(a, calls=Calls(most, "stop" in calls)) for a in parts.agents[:number]]
    written = replace(parts, agents=(*agents, *parts.agents[number:]))
    return parse_deployment(str(replace(d, written=written, text=None)))


def by_hand(d: Deployment) -> Deployment:
    """The deployment with its messages as relations of its own.

    `Of_t(n, x)` is the n-th call of a message, `Busy` is true while a message is carried out.
    """
    batched = {name: agent for agent in d.written.agents if agent.calls for name in agent.tools}
    tools = {tool.name: tool for tool in d.written.tools}
    relations = ["relation Busy()"]
    for name in batched:
        relations.append(f"relation Of_{name}({', '.join(('place', *(p.sort for p in tools[name].params)))})")

    def filled(place: str, names: list[str] | tuple[str, ...]) -> str:
        return (
            "(false"
            + "".join(f" | Of_{n}({', '.join((place, *('_' for _ in tools[n].params)))})" for n in names)
            + ")"
        )

    nothing = f"~Busy() & ~(exists n: place. {filled('n', list(batched))})"

    def written(tool: Tool) -> str:
        params = ", ".join(f"{p.name}: {p.sort}" for p in tool.params)
        guard = f"({print_formula(tool.guard)})"
        if tool.name not in batched:
            return _tool(tool, "event" if tool.event else "tool", tool.name, params, f"{guard} & {nothing}", [
                (print_formula(e.when), [*map(print_statement, e.statements)], "") for e in tool.effects
            ])  # fmt: skip
        agent = batched[tool.name]
        assert agent.calls is not None
        own, most = agent.tools, agent.calls.most
        others = [name for name in batched if name not in own]
        head = ", ".join(("turn", *(p.name for p in tool.params)))
        first = f"(Of_{tool.name}({head}) & ~(exists n: place. (n < turn & {filled('n', own)})))"
        more = f"(exists n: place, turn: place. ({first} & n > turn & {filled('n', own)}))"
        next_one = [
            f"delete Of_{tool.name}({head}) for turn: place where {first}",
            f"insert Busy() where {more}",
            f"delete Busy() where ~{more}",
        ]
        ended = [f"clear Busy, {', '.join(f'Of_{name}' for name in own)}"] if agent.calls.stops else next_one
        free = f"~Busy() & ~{filled(f'place{most}', own)} & ~(exists n: place. {filled('n', others)})"
        second = f"exists n: place. (succ(n, turn) & {filled('n', own)})"
        new = f"~{filled('turn', own)} & (turn = place1 | ({second}))"
        write = [f"choose turn: place where {new}", f"insert Of_{tool.name}({head})"]
        effects = [
            (f"{guard} & {print_formula(e.when)}", [*map(print_statement, e.statements), *next_one], "")
            for e in tool.effects
        ]
        effects.append((f"~{guard}", ended, ""))
        return "\n".join([
            _tool(tool, "tool", tool.name, params, f"{guard} & {free}", [("true", write, "")]),
            _tool(tool, "event", f"made_{tool.name}", params, f"exists turn: place. {first}", effects),
        ])  # fmt: skip

    plain = replace(
        d,
        schema=replace(d.schema, relations=tuple(r for r in d.schema.relations if "@" not in r.name)),
        written=replace(
            d.written,
            tools=(),
            agents=(),
            policies=(),
        ),
        text=None,
    )
    text = str(plain)
    agents = []
    for agent in d.written.agents:
        agents.append(f"agent {agent.name}\n  tools {', '.join(agent.tools)}")
    blocks = [
        text,
        "sort place = { place1 < place2 < place3 }",
        *relations,
        *map(written, d.written.tools),
        *agents,
    ]
    return parse_deployment("\n".join(blocks))


def _tool(
    tool: Tool, word: str, name: str, params: str, guard: str, effects: list[tuple[str, list[str], str]]
) -> str:
    lines = [f"{word} {name}({params})", f"  guard {guard}"]
    for when, statements, _ in effects:
        lines += [f"  effect when {when}", *(f"    {statement}" for statement in statements)]
    return "\n".join(lines)


def found(d: Deployment, **options) -> object:
    """The verdicts and counts, or the kind of the error."""
    try:
        result = verify(d, "any", findings=False, **options)
    except Undecided:
        reject()
    except (DefinitionError, NoInitialState) as error:
        return type(error)
    sizes = None if options.get("domain") == "normal" else (result.initial, result.states, result.transitions)
    return {name: verdict.holds for name, verdict in result.verdicts.items()}, sizes


@settings(max_examples=examples(40, slow=600))
@given(batches())
def test_a_message_is_a_queue_written_by_hand(d: Deployment) -> None:
    assert parse_deployment(str(d)) == d
    explicit = {"engine": "explicit", "max_states": MAX_STATES}
    expected = found(by_hand(d), **explicit)
    event(f"error: {isinstance(expected, type)}")
    assert found(d, **explicit) == expected
    assert found(d, domain="theorem") == expected
    normal = found(d, domain="normal")
    assert normal == expected or normal[0] == expected[0]


@pytest.mark.parametrize("calls", ["", "calls sequential", "calls batch 1"])
def test_a_message_of_one_call_is_a_call(calls: str) -> None:
    d = parse_deployment(DESK.format(calls=calls))
    assert d == parse_deployment(DESK.format(calls=""))
    assert st.verify(d, "careful")["once"].holds


@pytest.mark.parametrize("engine", ["explicit", "symbolic"])
def test_what_is_decided_on_one_view_is_done_twice(engine: str) -> None:
    d = parse_deployment(DESK.format(calls="calls batch 2"))
    verdict = st.verify(d, "careful", engine=engine)["once"]
    assert not verdict.holds
    assert [str(step.call) for step in verdict.trace.steps] == [
        "refund()", "refund()", "refund@message()", "refund@message()",
    ]  # fmt: skip
