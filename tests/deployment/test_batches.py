"""Several calls in one message: against the same deployment with its queue written out, and its limits."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, event, given, reject, settings
from hypothesis import strategies as hs

import stead_sym as st
import stead_sym.logic.syntax as fo
from engine_pairs import MAX_STATES, examples
from generated.messages import messages, with_own_tools
from generated.past import past_workflows
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.parts import AgentRole, Calls, Spec
from stead_sym.deployment.printer import print_statement
from stead_sym.deployment.terminal import called
from stead_sym.deployment.tool import Tool
from stead_sym.errors import AgentError, DefinitionError, NoInitialState, Undecided
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


TWO = """deployment two
sort who = {{ one, other, neither }}
relation Last(who)
relation Twice(who)
init Last(neither)
agent a
  tools first, idle
  {first}
agent b
  tools second
  {second}
tool first()
  guard ~Twice(one)
  effect when Last(one)
    insert Twice(one)
  effect when ~Last(one)
    clear Last
    insert Last(one)
  effect refused when Last(other) & Twice(other)
tool idle()
tool second()
  guard ~Twice(other)
  effect when Last(other)
    insert Twice(other)
  effect when ~Last(other)
    clear Last
    insert Last(other)
event tick()
  guard ~Last(neither)
  effect
    clear Last
    insert Last(neither)
spec never AG ~(Twice(one) & Twice(other))
spec next AG (Twice(one) -> EX Twice(other))
"""


def by_hand(d: Deployment) -> Deployment:
    """The deployment with its messages as relations of its own.

    `Of_t(n, x)` is the n-th call of a message, `Busy_a` is true while one of agent a is carried out.
    """
    calling = [agent for agent in d.written.agents if agent.calls]
    batched = {name: agent for agent in d.written.agents if agent.calls for name in agent.tools}
    tools = {tool.name: tool for tool in d.written.tools}
    relations = [f"relation Busy_{agent.name}()" for agent in calling]
    for name in batched:
        relations.append(f"relation Of_{name}({', '.join(('place', *(p.sort for p in tools[name].params)))})")

    def filled(place: str, names: list[str] | tuple[str, ...]) -> str:
        return (
            "(false"
            + "".join(f" | Of_{n}({', '.join((place, *('_' for _ in tools[n].params)))})" for n in names)
            + ")"
        )

    def letting(others: list[AgentRole]) -> str:
        """No message is written, and if one is carried out its calls come in any order."""
        found = ["true"]
        for agent in others:
            begun = f"Busy_{agent.name}()" if agent.calls.parallel else "false"
            found.append(f"({begun} | ~(exists n: place. {filled('n', agent.tools)}))")
        return " & ".join(found)

    def written(tool: Tool) -> str:
        params = ", ".join(f"{p.name}: {p.sort}" for p in tool.params)
        guard = f"({print_formula(tool.guard)})"
        if tool.name not in batched:
            word = "event" if tool.event else "tool"
            return _tool(tool, word, tool.name, params, f"{guard} & {letting(calling)}", [
                (print_formula(e.when), [*map(print_statement, e.statements)], "") for e in tool.effects
            ])  # fmt: skip
        agent = batched[tool.name]
        assert agent.calls is not None
        own, most = agent.tools, agent.calls.most
        busy, others = f"Busy_{agent.name}", letting([other for other in calling if other is not agent])
        head = ", ".join(("turn", *(p.name for p in tool.params)))
        same = f"Of_{tool.name}({', '.join(('n', *(p.name for p in tool.params)))})"
        earlier = same if agent.calls.parallel else filled("n", own)
        first = f"(Of_{tool.name}({head}) & ~(exists n: place. (n < turn & {earlier})))"
        more = f"(exists n: place, turn: place. ({first} & n != turn & {filled('n', own)}))"
        next_one = [
            f"delete Of_{tool.name}({head}) for turn: place where {first}",
            f"insert {busy}() where {more}",
            f"delete {busy}() where ~{more}",
        ]
        all_of_it = ", ".join((busy, *(f"Of_{name}" for name in own)))
        ended = [f"clear {all_of_it}"] if agent.calls.stops else next_one
        free = f"~{busy}() & ~{filled(f'place{most}', own)} & {others}"
        second = f"exists n: place. (succ(n, turn) & {filled('n', own)})"
        new = f"~{filled('turn', own)} & (turn = place1 | ({second}))"
        write = [f"choose turn: place where {new}", f"insert Of_{tool.name}({head})"]
        effects = [
            (
                f"{guard} & ({print_formula(e.when)})",
                ended if e.refused else [*map(print_statement, e.statements), *next_one],
                "",
            )
            for e in tool.effects
        ]
        effects.append((f"~{guard}", ended, ""))
        turn = f"(exists turn: place. {first})" + (f" & {others}" if agent.calls.parallel else "")
        return "\n".join([
            _tool(tool, "tool", tool.name, params, f"{guard} & {free}", [("true", write, "")]),
            _tool(tool, "event", f"made_{tool.name}", params, turn, effects),
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


def found(d: Deployment, agents="any", **options) -> object:
    """The verdicts and counts, or the kind of the error."""
    try:
        result = verify(d, agents, findings=False, **options)
    except Undecided:
        reject()
    except (AgentError, DefinitionError, NoInitialState) as error:
        return type(error)
    sizes = None if options.get("domain") == "normal" else (result.initial, result.states, result.transitions)
    return {name: verdict.holds for name, verdict in result.verdicts.items()}, sizes


@settings(max_examples=examples(40, slow=600, quick=5))
@given(messages())
def test_a_message_is_a_queue_written_by_hand(d: Deployment) -> None:
    assert parse_deployment(str(d.ungated or d)) == (d.ungated or d)
    explicit = {"engine": "explicit", "max_states": MAX_STATES}
    expected = found(by_hand(d), **explicit)
    event(f"error: {isinstance(expected, type)}")
    assert found(d, **explicit) == expected
    assert found(d, domain="theorem") == expected
    normal = found(d, domain="normal")
    assert normal == expected or normal[0] == expected[0]


@pytest.mark.parametrize("first", ["batch 3 on refusal stop", "parallel 2", "parallel 3 on refusal stop"])
@pytest.mark.parametrize("second", ["sequential", "batch 2", "parallel 2"])
def test_messages_of_two_agents_are_queues_written_by_hand(first: str, second: str) -> None:
    d = parse_deployment(TWO.format(first=f"calls {first}", second=f"calls {second}"))
    expected = found(by_hand(d), engine="explicit")
    assert found(d, engine="explicit") == expected
    assert found(d, domain="theorem") == expected


@pytest.mark.parametrize("calls", ["", "calls sequential", "calls batch 1", "calls parallel 1"])
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


def without_next(d: Deployment) -> Deployment:
    """The deployment with questions that do not tell a step that changes nothing from none."""
    enabled_ = [called(tool, d.schema) for tool in d.tools_and_events]
    parts = [part for spec in d.specs for part in fo.subformulas(spec.formula)]
    asked = [f for f in (*enabled_, *parts) if not fo.is_temporal(f) and not fo.free_variables(f)][:6]
    formulas = [fo.Globally("A", f) for f in asked] + [fo.Future("A", f) for f in asked]
    specs = tuple(Spec(f"s{k}", formula) for k, formula in enumerate(formulas))
    return replace(d, written=replace(d.written, specs=specs), text=None)


@settings(max_examples=examples(40, quick=5))
@given(messages(past=True), hs.sampled_from(["any", "p"]))
def test_engines_agree_on_messages_with_the_past(d: Deployment, agent: str) -> None:
    agents = {role.name: agent if any(p.name == agent for p in role.policies) else "any" for role in d.agents}
    expected = found(d, agents, engine="explicit", max_states=MAX_STATES)
    assert found(d, agents, domain="theorem") == expected
    normal = found(d, agents, domain="normal")
    assert normal == expected or normal[0] == expected[0]


@settings(max_examples=examples(30, quick=4))
@given(past_workflows(), hs.booleans(), hs.booleans())
def test_a_message_of_one_call_is_a_call_with_its_past(d: Deployment, parallel: bool, stops: bool) -> None:
    """It is written by a step that `did`, `refused` and the past do not tell from none."""
    d = without_next(with_own_tools(d))
    # a value of a finite sort is active as long as a call that has it waits
    assume(all(d.schema.sort(param.sort).values is None for tool in d.tools for param in tool.params))
    calling = tuple(replace(agent, calls=Calls(1, stops, parallel)) for agent in d.written.agents)
    for domain in ("theorem", "normal"):
        expected = found(d, domain=domain)
        several = found(d.calling(replace(d.written, agents=calling)), domain=domain)
        event(f"error: {isinstance(expected, type)}")
        assert several == expected if isinstance(expected, type) else several[0] == expected[0]


@pytest.mark.parametrize(
    ("calls", "more"),
    [
        ("", "spec s AG ~refund@1()"),
        ("calls batch 2", "spec s AG ~refund@3()"),
        ("calls batch 2", "spec s AG ~look@1()"),
        ("calls batch 2", "event e() guard refund@1()"),
        ("calls batch 2", "gate g default allow forbid wait() when refund@1()"),
    ],
)
def test_a_call_of_a_message_that_is_not_there_is_one_line(calls: str, more: str) -> None:
    with pytest.raises(
        st.errors.DeclarationError, match=r"call [13] of a message is there if the agent with"
    ):
        parse_deployment(f"{DESK.format(calls=calls)}{more}\n")
