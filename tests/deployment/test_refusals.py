"""Gates that refuse, against guards moved into effects, and the word for what no line of a gate matches."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import event, given, reject, settings
from hypothesis import strategies as hs

import stead_sym as st
import stead_sym.logic.syntax as fo
from engine_pairs import MAX_STATES, examples
from generated.refusals import refused_workflows, refusing
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.gates import allowed, under_gates
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.parts import Gate
from stead_sym.deployment.tool import Effect
from stead_sym.errors import DefinitionError, NoInitialState, Undecided
from test_desugarings import assert_same
from whole import verify


def moved(d: Deployment) -> Deployment:
    """The deployment with what its gate says in effects, and one more effect that does nothing."""
    [gate] = d.written.gates
    tools = []
    for tool in d.written.tools:
        if not tool.event:
            passes = allowed(gate, tool)
            taken = [replace(e, when=fo.conjunction((passes, e.when))) for e in tool.effects]
            tool = replace(tool, effects=(*taken, Effect(when=fo.Not(passes))))
        tools.append(tool)
    return replace(d, written=replace(d.written, tools=tuple(tools), gates=()), text=None)


@settings(max_examples=examples(40, slow=600, quick=5))
@given(refusing(), hs.sampled_from(("any", "p")))
def test_a_refusal_is_an_effect_that_does_nothing(d: Deployment, agents: str) -> None:
    gated = under_gates(d, "g")
    event(f"refuses: {any(e.refused for t in gated.written.tools for e in t.effects)}")
    again = parse_deployment(str(gated))
    assert again.written.tools == gated.written.tools
    assert again.written.gates == d.written.gates
    assert_same(gated, moved(d), agents, agents)


@settings(max_examples=examples(30, slow=600))
@given(refused_workflows())
def test_engines_agree_on_steps_that_were_refused(d: Deployment) -> None:
    found = []
    for engine, domain in (("explicit", "theorem"), ("symbolic", "theorem"), ("symbolic", "normal")):
        most = {"max_states": MAX_STATES} if engine == "explicit" else {}
        try:
            result = verify(d, "any", engine=engine, domain=domain, findings=False, **most)
        except Undecided:
            reject()
        except (DefinitionError, NoInitialState) as error:
            found.append((type(error), None))
            continue
        sizes = (result.states, result.transitions) if domain == "theorem" else None
        found.append(({name: verdict.holds for name, verdict in result.verdicts.items()}, sizes))
    assert found[0] == found[1]
    assert found[0][0] == found[2][0]


DESK = """deployment desk
sort k = { k1, k2 } rigid
relation P(k)
tool put(x: k) guard ~P(x) effect insert P(x)
tool wait()
"""


@pytest.mark.parametrize(
    ("word", "lines", "put", "wait"),
    [
        ("", "forbid put(k1)", "x != k1", "true"),
        ("default allow", "forbid put(k1)", "x != k1", "true"),
        ("default deny", "forbid put(k1)", "false & x != k1", "false"),
        ("", "permit put(k1)", "x = k1", "false"),
        ("default allow", "permit put(k1)", "true", "true"),
        ("default deny", "permit put(k1)", "x = k1", "false"),
        ("default deny", "", "false", "false"),
        ("default allow", "", "true", "true"),
    ],
)
def test_the_word_says_what_no_line_matches(word: str, lines: str, put: str, wait: str) -> None:
    d = parse_deployment(f"{DESK}gate g {word}\n{lines}")
    assert parse_deployment(str(d)) == d
    said = {tool.name: str(allowed(d.written.gates[0], tool)) for tool in d.written.tools}
    assert said == {"put": put, "wait": wait}


def test_evidence_of_a_refusal_is_replayed() -> None:
    d = parse_deployment(f"{DESK}gate g default allow refuses forbid put(k1)\nspec s AG ~refused put(_)")
    for engine in ("symbolic", "explicit"):
        verdict = st.verify(d, gates="g", engine=engine)["s"]
        assert not verdict.holds
        assert verdict.evidence is not None


def test_in_python() -> None:
    d = st.build_deployment(
        "d",
        sorts={"k": st.rigid("k1", "k2")},
        relations={"P": "k"},
        tools=[
            st.tool("t", "x: k", effect=["insert P(x)", "refused when x = k1"]),
            st.tool("wait"),
        ],
        specs={"a": "AG ~refused t(k2)", "b": "EF refused t(k1)"},
    )
    assert parse_deployment(str(d)) == d
    assert all(verdict.holds for verdict in st.verify(d).verdicts.values())
    assert str(st.logic.refused("t", "x", by="a")) == "refused t(x) by a"
    assert Gate("g", default="deny").denies
