"""Gates: what they allow, against guards that say the same, and what is told of lines that do not fit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

import stead_sym as st
import stead_sym.logic.syntax as fo
from engine_pairs import _compared, examples
from generated.workflows import workflows
from stead_sym.agents.roles import by_agent
from stead_sym.cli.main import main
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.gates import under_gates
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.semantics import offer
from stead_sym.deployment.tool import Tool
from stead_sym.errors import NoInitialState, NothingOffered, Undecided

DESK = """deployment desk
sort order
sort s = { paid, refunded } rigid
relation St(order key, s)
relation Ok(order)
bound order 1
event arrive() guard ~St(_, _)
  effect fresh o: order insert St(o, paid)
event ship(o: order) guard St(o, refunded)
  effect delete St(o, _) delete Ok(o)
tool approve(o: order) guard St(o, paid) effect insert Ok(o)
tool refund(o: order, x: s) guard St(o, x) & ~St(o, refunded) effect set St(o, refunded)
"""
RULES = """gate rules
  permit approve(o) when ~Ok(o)
  permit refund(o, paid) when Ok(o)
  forbid refund(_, refunded)
gate silent
policy hasty call refund(o, x) call approve(o)
spec reviewed AG forall o. (St(o, refunded) -> Ok(o))
spec behind for rules AG EF St(_, refunded)
spec together for hasty, rules AG AF Ok(_)
"""


def test_agents_are_offered_what_the_gates_allow() -> None:
    d = parse_deployment(DESK + RULES)
    assert parse_deployment(str(d)) == d
    assert not st.verify(d, "hasty")["reviewed"].holds
    assert not st.verify(d, "hasty", gates="silent")["reviewed"].holds
    behind = st.verify(d, "hasty", gates=["rules", "silent"])
    assert {name: verdict.holds for name, verdict in behind.verdicts.items()} == {
        "reviewed": True,
        "behind": True,
        "together": True,
    }
    assert [*st.verify(d, "any").verdicts] == ["reviewed"]
    assert [*st.verify(d, "any", gates=["rules"]).verdicts] == ["reviewed", "behind"]
    assert {f.kind for f in behind.findings} == {"rule never matches"}


def test_in_python_and_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    d = st.build_deployment(
        "d",
        sorts={"s": st.rigid("x1", "x2")},
        relations={"P": "s"},
        tools=[st.tool("t", "x: s", effect="insert P(x)"), st.tool("wait")],
        gates={"g": ["forbid t(x1)"], "h": ["permit t(x) when ~P(x)", "permit wait()"]},
        specs={"a": "AG ~P(x1)"},
    )
    assert parse_deployment(str(d)) == d
    path = tmp_path / "d.stead"
    path.write_text(str(d))
    assert main(["verify", str(path), "--agent", "any", "--gate", "g", "--gate", "h"]) == 0
    assert "behind g and h" in " ".join(capsys.readouterr().out.split())
    assert main(["verify", str(path), "--agent", "any", "--gate", "h", "--quiet"]) == 1
    assert main(["verify", str(path), "--agent", "any", "--gate", "k", "--quiet"]) == 2
    assert "unknown gate k; there are g, h" in capsys.readouterr().err


def test_what_is_verified_behind_gates_is_checked_against_the_file_with_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, proof = tmp_path / "d.stead", str(tmp_path / "proof")
    more = "gate only forbid approve(o) when Ok(o)\nspec a AG forall o. (St(o, refunded) -> Ok(o))"
    path.write_text(f"{DESK}{RULES}{more}")
    given = ["--gate", "rules", "--gate", "only"]
    assert main(["verify", str(path), "--agent", "any", *given, "--certify", proof, "--quiet"]) == 0
    check = ["check-certificate", proof]
    assert main([*check, "--about", str(path), *given]) == 0
    assert main([*check, "--about", str(path), "--gate", "only", "--gate", "rules"]) == 0
    capsys.readouterr()
    assert main([*check, "--about", str(path)]) == 0
    capsys.readouterr()
    for fewer in (given[:2], given[2:]):
        assert main([*check, "--about", str(path), *fewer]) == 2
        assert "was produced behind rules and only, not behind" in capsys.readouterr().err
    path.write_text(path.read_text().replace("when Ok(o)\nspec", "when ~Ok(o)\nspec"))
    assert main([*check, "--about", str(path)]) == 2
    assert "the certificate is about another deployment than" in capsys.readouterr().err
    assert main([*check, *given]) == 2
    assert "say of which by --about FILE" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("permit arrive()", "arrive is an event, which no agent calls"),
        ("forbid refnd(_, _)", "unknown tool refnd; did you mean refund?"),
        ("permit approve(o) when Ok(p)", "unknown name p"),
        ("permit approve(o, paid)", "approve takes 1 arguments"),
        ("forbid refund(x, x)", "x stands for a order and for a s"),
        ("allow approve(o)", 'unexpected "allow"; write `permit`'),
    ],
)
def test_a_line_that_does_not_fit_is_told_with_its_place(line: str, message: str) -> None:
    with pytest.raises(st.errors.InputError, match="f:14:") as caught:
        parse_deployment(f"{DESK}gate g\n{line}", "f")
    assert message in str(caught.value)


def test_a_variable_that_is_used_once_is_a_finding() -> None:
    d = parse_deployment(DESK + "gate g forbid refund(o, payd)\nspec a true")
    found = [f.text for f in st.verify(d, "any").findings if f.kind == "unused variable"]
    assert [text.split(" of this")[0] for text in found] == ["the variable o", "the variable payd"]


def test_gate_is_a_name_where_older_files_have_it() -> None:
    d = parse_deployment(
        "deployment d relation gate() relation Q() init gate Q tool permit() guard gate spec gate gate"
    )
    assert (len(d.init.facts), d.written.gates, d.specs[0].name) == (2, (), "gate")


COUNTED = """gate a
  permit approve(o)
  permit refund(o, paid) when Ok(o)
  forbid refund(o, _) when ~Ok(o)
gate b
  forbid approve(o) when Ok(o)
  forbid approve(_) when Ok(_)
  forbid refund(_, refunded)
gate c
  permit approve(_)
spec works AG EF Ok(_)
"""


@pytest.mark.parametrize("engine", ["symbolic", "explicit"])
def test_how_much_of_the_offer_a_gate_lets_through(engine: str) -> None:
    """Where an order x is paid `approve(x)` and `refund(x, paid)` are enabled, with and without Ok(x): four
    calls for each value of the domain."""
    d = parse_deployment(DESK + COUNTED)
    behind = st.verify(d, gates=["a", "b"], engine=engine, domain="theorem")
    times = behind.domain["order"]
    assert [str(share) for share in behind.shares] == [
        f"a allows {3 * times} of {4 * times} enabled calls",
        f"b allows {3 * times} of {4 * times} enabled calls",
    ]
    assert [(f.kind, f.place and f.place.line) for f in behind.findings if f.kind.startswith("rule")] == [
        ("rule never selects", 16),
        ("rule never selects", 18),
        ("rule never selects", 19),
        ("rule never matches", 20),
    ]
    assert st.verify(d, gates=["a"], engine=engine, findings=False).shares == ()


@given(workflows(), hs.data())
@settings(max_examples=examples(40))
def test_what_gates_let_through_is_counted_as_the_definition_says(d: Deployment, data: hs.DataObject) -> None:
    tools = [tool for tool in d.written.tools if not tool.event]
    lines = []
    for tool in data.draw(hs.lists(hs.sampled_from(tools), min_size=1, max_size=3)):
        when = data.draw(hs.sampled_from(["true", *(f"~({t.guard})" for t in tools if not t.params)]))
        word = data.draw(hs.sampled_from(["permit", "forbid"]))
        lines.append(f"  {word} {tool.name}({', '.join(p.name for p in tool.params)}) when {when}")
    written = parse_deployment(f"{d}\ngate g\n" + "\n".join(lines))
    gated = under_gates(written, ["g"])
    try:
        results = [
            st.verify(written, gates="g", engine=engine, domain="theorem", canonical_timeout=120)
            for engine in ("explicit", "symbolic")
        ]
    except (NoInitialState, NothingOffered, Undecided):
        return
    if any(result.explored is None for result in results):
        return
    states = results[0].engine.satisfying(fo.TRUE, {}).sample(results[0].engine.states)
    allowed = sum(len(offer(gated, state)) for state in states)
    enabled = sum(len(offer(written, state)) for state in states)
    for result in results:
        [share] = result.shares
        assert (share.enabled, share.allowed) == (enabled, allowed)
    kinds = [[f.place for f in r.findings if f.kind == "rule never selects"] for r in results]
    assert kinds[0] == kinds[1]
    for place in kinds[0]:
        assert place is not None
        less = [line for number, line in enumerate(lines) if number != place.line - str(d).count("\n") - 3]
        without = under_gates(parse_deployment(f"{d}\ngate g\n" + "\n".join(less)), ["g"])
        assert all(offer(without, state) == offer(gated, state) for state in states)


def by_hand(d: Deployment, lines: list[tuple[str, str, list[str], str]]) -> Deployment:
    """The deployment with guards that say what these lines of one gate say, from the language page."""
    permits = any(word == "permit" for word, *_ in lines)

    def guarded(tool: Tool) -> Tool:
        if tool.event:
            return tool
        own = {"permit": ["false"], "forbid": ["false"]}
        for word, name, args, when in lines:
            if name == tool.name:
                said = [f"{p.name} = {a}" for p, a in zip(tool.params, args, strict=True) if a != "_"]
                own[word].append(
                    " & ".join([*(part for part in said if len(set(part.split(" = "))) > 1), when])
                )
        text = f"~({' | '.join(f'({f})' for f in own['forbid'])})"
        if permits:
            text += f" & ({' | '.join(f'({f})' for f in own['permit'])})"
        scope = {p.name: p.sort for p in tool.params}
        return replace(tool, guard=d.formula(f"({tool.guard}) & {text}", scope))

    return replace(d, written=replace(d.written, tools=tuple(map(guarded, d.written.tools))), text=None)


@given(workflows(), hs.data())
@settings(max_examples=examples(60, quick=8))
def test_a_gate_is_what_it_says_in_the_guards(d: Deployment, data: hs.DataObject) -> None:
    tools = [tool for tool in d.written.tools if not tool.event and tool.name != "idle"]
    lines = [("permit", t.name, [], "true") for t in d.written.tools if t.name == "idle" and not t.event]
    lines = lines if data.draw(hs.booleans()) else []
    conditions = [str(t.guard) for t in d.written.tools if not t.params]
    for tool in data.draw(hs.lists(hs.sampled_from(tools), max_size=3)) if tools else []:
        args = []
        for param in tool.params:
            values = d.schema.sort(param.sort).values or ()
            args.append(data.draw(hs.sampled_from(["_", param.name, *values])))
        when = data.draw(
            hs.sampled_from(["true", *(f"({c})" for c in conditions), *(f"~({c})" for c in conditions)])
        )
        lines.append((data.draw(hs.sampled_from(["permit", "forbid"])), tool.name, args, when))
    gate = "".join(f"\n  {word} {name}({', '.join(args)}) when {when}" for word, name, args, when in lines)
    written = parse_deployment(f"{d}\ngate g{gate}")
    assert parse_deployment(str(written)) == written
    agent = data.draw(hs.sampled_from(["any", "p"]))
    agents = agent if len(d.agents) == 1 else by_agent(d, [agent])
    try:
        answers, results = _compared(under_gates(written, ["g"]), agents, 120)
        expected, guarded = _compared(by_hand(d, lines), agents, 120)
    except (NoInitialState, Undecided, st.errors.AgentError):
        return
    assert answers == expected
    assert [(r.states, r.transitions) for r in results] == [(r.states, r.transitions) for r in guarded]
