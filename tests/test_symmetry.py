"""Choices among records alike: the paper's propositions on generated contexts and deployments, and what
`symmetry` says of them."""

from __future__ import annotations

import copy
import hashlib
import json
import subprocess
import sys

import jsonschema
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as some

import stead_sym as st
from brute_force import context_automorphisms
from described import assert_described
from engine_pairs import MAX_STATES, by_name, examples
from generated.deployments import deployments
from stead_sym.analyses.symmetry import symmetry
from stead_sym.errors import DefinitionError, InputError, Undecided
from stead_sym.report.symmetry import symmetry_data
from stead_sym.verification.readings import answer
from whole import verify

MOST_VALUES = 6  # in contexts whose automorphisms are found by trying all renamings


def group(context, tools, rigid):
    """Aut_B(D, A) by trying all renamings; None where there are too many."""
    named = {value for fact in context.view for value in fact.args}
    if len(named.union(*(call.args for call in context.calls)) - rigid) > MOST_VALUES:
        return None
    return context_automorphisms(context, tools, rigid)


def reached(deployment, agent):
    """The wrapper of an agent, the verification, and each decision with the group of its context."""
    wrapper = st.agents.wrap(deployment, agent)
    assert wrapper is not None
    try:
        result = verify(deployment, wrapper, engine="explicit", max_states=MAX_STATES, findings=False)
    except (DefinitionError, Undecided):
        reject()
    found = []
    for state in result.satisfying("true").sample(result.states):
        if offered := st.offer(deployment, state):
            context = st.DecisionContext(st.view(deployment, state), offered)
            [decision] = wrapper.decide([context])
            found.append((context, decision, group(context, wrapper.tools, wrapper.rigid)))
    return wrapper, result, found


# Proposition "No equivariant symmetry breaking"


@settings(max_examples=examples(40))
@given(deployments(), some.sampled_from(["a", "b", "c"]))
def test_what_an_equivariant_agent_selects_alone_no_automorphism_moves(deployment, seed):
    _, _, found = reached(deployment, by_name(seed))
    for _, decision, alphas in found:
        if len(decision.calls) == 1 and alphas is not None:
            assert {call.rename(alpha) for alpha in alphas for call in decision.calls} == decision.calls


@settings(max_examples=examples(40))
@given(deployments(), some.sampled_from(["a", "b"]))
def test_an_agent_that_breaks_a_symmetry_does_not_follow_a_renaming(deployment, seed):
    """Asked without the wrapper, whoever selects a call that an automorphism moves, and that alone, answers
    the renamed context, which is the same, with the same call and not with the renamed one."""
    agent = by_name(seed)
    _, _, found = reached(deployment, agent)
    for context, _, alphas in found:
        [answer] = agent.select([context])
        selected = frozenset(answer)
        for alpha in alphas or ():
            renamed = st.DecisionContext(
                context.view.rename(alpha), frozenset(call.rename(alpha) for call in context.calls)
            )
            assert renamed == context
            [again] = agent.select([renamed])
            follows = frozenset(again) == {call.rename(alpha) for call in selected}
            assert follows == (selected == {call.rename(alpha) for call in selected})


# Proposition "Singleton preservation under action-rigidity"


@settings(max_examples=examples(40))
@given(deployments(), some.sampled_from(["a", "b"]))
def test_where_contexts_are_action_rigid_one_call_stays_one_call(deployment, seed):
    """By the definition: every automorphism fixes every call. `symmetry` lists exactly the other contexts."""
    wrapper, _, found = reached(deployment, by_name(seed))
    listed = symmetry(deployment, wrapper, max_states=MAX_STATES, most_choices=1).contexts
    listed = {one.context: one for one in listed}
    for context, decision, alphas in found:
        if alphas is not None:
            rigid = all(call.rename(alpha) == call for alpha in alphas for call in context.calls)
            assert rigid == (decision.canonical not in listed)
            if rigid:
                assert len(decision.calls) == 1
    for one in listed.values():
        assert one.context.view.rename(one.automorphism) == one.context.view
        assert {call.rename(one.automorphism) for call in one.context.calls} == one.context.calls
        assert one.moved == {call for call in one.context.calls if call.rename(one.automorphism) != call}
        assert one.moved
        assert bool(one.orbits) == (len(one.possible) > 1)


# what no choice changes


def resolved(wrapper, seed):
    """An agent that takes any one of the calls that the wrapper lets happen, by the letters of all names."""

    def takes(context):
        calls = wrapper.calls(context.view, context.calls)
        return min(calls, key=lambda call: hashlib.sha256(f"{seed}{context}{call}".encode()).digest())

    return takes


SPECS = [
    "AG exists x. Open(x)",
    "AF ~Open(c)",
    "EF ~Open(a)",
    "AG (Open(c) -> EF ~Open(c))",
    "~EF (~Open(a) & ~Open(b))",
    "~EF ~(exists x. Open(x))",
    "EF ~(exists x. Open(x))",
    "AX AG atmost 2 x. Open(x)",
    "EF ~Open(a) <-> EF ~Open(b)",
    "A[Open(c) W ~Open(a)]",
    "AG AF exactly 1 x. Open(x)",
]


@settings(max_examples=examples(30))
@given(deployments(), some.integers(0, 3))
def test_what_is_kept_is_kept_whatever_the_choice(deployment, seed):
    wrapper, _, _ = reached(deployment, by_name("a"))
    found = symmetry(deployment, wrapper, max_states=MAX_STATES, most_choices=1)
    assert_kept(deployment, wrapper, found, seed)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_kept_is_kept_of_specifications_of_every_kind(seed):
    desk = alike()
    wrapper = st.agents.wrap(desk, first)
    found = symmetry(desk, wrapper, SPECS)
    assert [*found.kept] == [SPECS[0], *SPECS[5:8], SPECS[10]]
    assert_kept(desk, wrapper, found, seed)


def assert_kept(deployment, wrapper, found, seed):
    chosen = [spec.formula for spec in deployment.asked([*found.result.verdicts])[1]]
    variant = st.verify(deployment, resolved(wrapper, seed), engine="explicit", wrapped=False, findings=False)
    for (name, verdict), formula in zip(found.result.verdicts.items(), chosen, strict=True):
        if name in found.kept and verdict.holds is not None and variant.verdicts:
            assert answer(variant.engine, formula).holds == verdict.holds


# an example whose answers are known


ALIKE = """
deployment alike
sort case
relation Open(case)
relation Before(case, case)
init Open(a) Open(b) Open(c) {order}
bound case 3
view Open(x) where true
{view}
tool close(x: case) "Close a case."
  guard Open(x) & atleast 2 y. Open(y)
  effect delete Open(x)
tool rest()
  guard atmost 1 y. Open(y)
spec s AG exists x. Open(x)
"""


def alike(view="", order="Before(a, b) Before(b, c) Before(a, c)"):
    return st.parse_deployment(ALIKE.format(view=view, order=order))


def first(context):
    return min(context.calls)


def test_single_choices_show_which_verdicts_hang_on_them():
    """Two of three cases are closed: the first two by identifier, or the last two, or the middle one and
    then the last."""
    found = symmetry(alike(), first, ["AF ~Open(c)", "EF ~Open(a)", "EF ~Open(b)", "AG exists x. Open(x)"])
    assert [one.selected for one in found.contexts] == [{st.Call("close", ("CASE_1",))}] * 2
    assert [len(one.possible) for one in found.choosing] == [3, 2]
    assert [one.alike for one in found.contexts] == [
        (("CASE_1", "CASE_2", "CASE_3"),),
        (("CASE_1", "CASE_2"),),
    ]
    everywhere = [choice for choice in found.choices if len(choice.contexts) == 2]
    by_name = {
        name: [choice.holds[name] for choice in everywhere]
        for name in ("AF ~Open(c)", "EF ~Open(a)", "EF ~Open(b)")
    }
    assert by_name == {
        "AF ~Open(c)": [False, True, True],
        "EF ~Open(a)": [True, False, False],
        "EF ~Open(b)": [True, True, True],
    }
    assert len(found.choices) == 3 + 3 + 2
    assert set(found.differing) == {"AF ~Open(c)", "EF ~Open(a)"}
    assert [*found.kept] == ["AG exists x. Open(x)"]


def test_what_would_tell_apart_does():
    hidden = symmetry(alike(), first, ["AF ~Open(c)"])
    for one in hidden.choosing:
        [separation] = one.separations
        assert (separation.relation, separation.states) == ("Before", separation.of)
        assert one.remedy == f"show Before (in {separation.of} of {separation.of} states)"
    assert [one.separations[0].of for one in hidden.choosing] == [1, 3]
    shown = symmetry(alike("view Before(x, y) where true"), first, ["AF ~Open(c)"])
    assert shown.contexts == ()
    assert shown.kept == {"AF ~Open(c)": "there is no choice among records alike"}


def test_a_relation_that_separates_some_is_said_to_and_an_order_is_asked_for():
    found = symmetry(alike(order="Before(a, c) Before(b, c)"), first, ["AF ~Open(c)"])
    three, two = found.choosing
    assert three.separations == ()
    assert "order of arrival" in three.remedy
    assert [(one.states, one.of) for one in two.separations] == [(2, 3)]
    assert two.remedy.startswith("show Before (in 2 of 3 states); or keep a relation")


def test_choices_left_out_are_counted():
    found = symmetry(alike(), first, ["AF ~Open(c)"], most_choices=5)
    assert (len(found.choices), found.left) == (5, 3)


def test_an_agent_that_may_do_anything_has_no_choice_to_make():
    with pytest.raises(InputError, match="chooses nothing; name a policy"):
        symmetry(alike(), "any")
    with pytest.raises(Undecided, match="more than 2 states"):
        symmetry(alike(), first, max_states=2)


def test_the_command(tmp_path):
    text = ALIKE.format(view="", order="")
    text += "spec c_closes AF ~Open(c)\npolicy some\n  call close(x)\n  call rest()\n"
    (tmp_path / "alike.stead").write_text(text)
    words = [sys.executable, "-m", "stead_sym", "symmetry", str(tmp_path / "alike.stead")]
    words += ["--policy", "some", "--quiet"]
    told = subprocess.run(words, capture_output=True, encoding="utf-8", check=True).stdout
    assert "2 of 3 contexts are not action-rigid, 2 with a choice among records alike" in told
    assert "s holds: no choice changes this" in told
    assert "c_closes fails: it hangs on the choice: with number 2 of those alike it holds" in told
    data = json.loads(subprocess.run([*words, "--json"], capture_output=True, check=True).stdout)
    assert_described(data)
    assert data["contexts"][1]["orbits"] == [["close(CASE_1)", "close(CASE_2)"]]
    assert data["specs"]["c_closes"] == {
        "verdict": "fails",
        "kept": None,
        "differs": True,
    }
    assert [one["alike"] for one in data["contexts"]] == [
        [["CASE_1", "CASE_2", "CASE_3"]],
        [["CASE_1", "CASE_2"]],
    ]


def test_the_data_are_those_of_the_answer():
    found = symmetry(alike(), first, ["AF ~Open(c)"])
    data = json.loads(json.dumps(symmetry_data(found)))
    assert_described(data)
    for part in ("contexts", "specs", "choices"):  # what the schema says of them is not empty
        altered = copy.deepcopy(data)
        one = altered[part]["AF ~Open(c)"] if part == "specs" else altered[part][0]
        one["more"] = 1
        with pytest.raises(jsonschema.ValidationError):
            assert_described(altered)
    assert data["specs"] == {"AF ~Open(c)": {"verdict": "fails", "kept": None, "differs": True}}
    assert [choice["contexts"] for choice in data["choices"][:4]] == [[0, 1], [0, 1], [0, 1], [0]]
    assert [choice["holds"]["AF ~Open(c)"] for choice in data["choices"][:3]] == [False, True, True]
    assert data["contexts"][1]["automorphism"] == {"CASE_1": "CASE_2", "CASE_2": "CASE_1"}


def test_where_no_records_are_alike_the_literal_domain_is_not_explored() -> None:
    """2^16 states, more than `symmetry` goes through, and a context that shows one flag."""
    flags = ", ".join(f"f{n}" for n in range(16))
    desk = st.parse_deployment(
        f"""deployment flags
sort flag = {{ {flags} }} rigid
relation On(flag)
event flip(f: flag)
  guard ~On(f)
  effect
    insert On(f)
view On(f) where f = f0
tool wait()
policy idle
  call wait()
spec on AG EF On(f1)
"""
    )
    found = st.symmetry(desk, "idle")
    assert found.result.states == 2**16
    assert (found.contexts, found.choices) == ((), ())
    assert found.kept == {"on": "there is no choice among records alike"}
