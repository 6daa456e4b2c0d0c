"""Errors have one line that helps: agents, events, numbers, definitions in definitions."""

from __future__ import annotations

import pytest

import stead_sym as st

HEAD = """
deployment desk
sort case
sort n = 0..2
relation Open(case)
relation Score(case key, n)
event opens()
  guard ~Open(_)
  effect
    fresh c: case
    insert Open(c)
tool rate(c: case, k: n)
  guard Open(c)
  effect set Score(c, k)
"""
CHAIN = "".join(f"define d{i}() = ~d{i - 1}()\n" for i in range(1, 400))


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("agent a\n  tools rate, opens", "f:16:15: opens is an event, which no agent calls; name a tool"),
        ("policy p\n  call opens()", "f:16:8: opens is an event, which no agent calls; name a tool"),
        ("agent a\n  tools rat", "f:16:9: unknown tool rat of a; did you mean rate?"),
        ("policy p\n  call rate(c, 7)", "f:16:16: 7 is no value of sort n; take one of it"),
        ("spec s AG ~Score(_, 7)", "f:15:21: 7 is no value of sort n; take one of it"),
        ("define d0() = Open(_)\n" + CHAIN + "spec s AG d399()", "nested more than 200 deep once `define`s"),
    ],
)
def test_one_line_with_place_and_remedy(lines, says):
    with pytest.raises(st.errors.DeclarationError) as error:
        st.parse_deployment(HEAD + lines, "f")
    assert says in str(error.value)


def test_as_many_definitions_in_each_other_as_formulas_may_be_deep():
    lines = "define d0() = Open(_)\n" + "".join(CHAIN.splitlines(keepends=True)[:150]) + "spec s EF d150()"
    deployment = st.parse_deployment(HEAD + "bound case 1\n" + lines)
    assert st.verify(deployment)["s"].holds


@pytest.mark.parametrize("values", [st.rigid, st.ordered])
def test_values_are_texts(values):
    with pytest.raises(TypeError, match="1 is no value of a sort; give text"):
        values("a", 1)


def test_an_agent_that_answers_with_numbers():
    deployment = st.parse_deployment(HEAD + "bound case 1\nspec s AG ~Score(_, 2)")

    def rates(context):
        return st.Call("rate", ("case1", 1))

    with pytest.raises(st.AgentError, match="no collection of calls; return calls of the context"):
        st.verify(deployment, rates)


def test_defines_nested_as_deep_as_is_allowed_are_verified():
    chain = "".join(f"define e{k}() = ~e{k - 1}()\n" for k in range(1, 189))
    deployment = st.parse_deployment(
        f"{HEAD}bound case 1\ndefine e0() = Open(_)\n{chain}spec s AG (e188() <-> Open(_))", "f"
    )
    assert st.verify(deployment, "any", "s")["s"].holds
