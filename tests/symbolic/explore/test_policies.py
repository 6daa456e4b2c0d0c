"""A policy as formulas selects what the same policy does where it is asked about each context."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stead_sym
from engine_pairs import both, examples
from stead_sym.agents.roles import wrap
from stead_sym.agents.rules import RuleAgent
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.engines.protocol import Choosers
from stead_sym.engines.symbolic.bdd.saturation import Saturation
from stead_sym.engines.symbolic.explore import reach
from stead_sym.errors import AgentError, Undecided

_RELATIONS = {"P": (), "R": ("a",), "S": ("a", "k"), "T": ("a", "a"), "F": ("k",)}
_HEAD = """deployment drawn
sort a
sort k = { k1, k2 }
relation P()
relation R(a)
relation S(a key, k)
relation T(a, a)
relation F(k)
tool go(x: a, y: a)
  guard {guard}
  effect
    insert T(x, y)
    delete R(x)
tool mark(x: a, i: k)
  guard R(x) | S(x, _)
  effect
    set S(x, i)
tool switch(i: k)
  guard ~F(i)
  effect
    insert F(i)
tool idle()
event turn(x: a)
  guard R(x) & ~P()
  effect insert P()
event back()
  guard P()
  effect
    clear P, F
    insert R(c1)
"""


def _drawn(seed):
    """A deployment with a policy of rules with quantifiers over what is shown, as text."""
    pick = random.Random(seed)

    def term(sort, scope):
        own = [name for name, of in scope.items() if of == sort]
        constants = ["k1", "k2"] if sort == "k" else ["c1"]
        return pick.choice(own * 3 + constants)

    def formula(scope, depth):
        kind = pick.randrange(8 if depth else 3)
        if kind <= 1:
            relation, sorts = pick.choice([*_RELATIONS.items()])
            return f"{relation}({', '.join(term(sort, scope) for sort in sorts)})"
        if kind == 2:
            sort = pick.choice("aak")
            return f"{term(sort, scope)} {pick.choice(['=', '!='])} {term(sort, scope)}"
        if kind == 3:
            return f"~({formula(scope, depth - 1)})"
        if kind == 4:
            word = pick.choice(["&", "|", "->", "<->"])
            return f"({formula(scope, depth - 1)} {word} {formula(scope, depth - 1)})"
        sort, name = pick.choice("aak"), f"v{depth}"
        word = pick.choice(["exists", "exists", "forall", "atleast 2", "atmost 1"])
        return f"({word} {name}: {sort}. {formula({**scope, name: sort}, depth - 1)})"

    def rule():
        name, sorts = pick.choice([("go", "aa"), ("mark", "ak"), ("switch", "k")])
        args = [
            pick.choice(["x", "y"] if sort == "a" else ["i"])
            if pick.random() < 0.8
            else ("c1" if sort == "a" else "k1")
            for sort in sorts
        ]
        scope = {arg: sort for arg, sort in zip(args, sorts, strict=True) if arg in "xyi"}
        return f"  call {name}({', '.join(args)}) when {formula(scope, 2)}\n"

    lines = [_HEAD.replace("{guard}", pick.choice(["R(x) & R(y)", "R(x) & ~T(x, y)", "R(x) & S(y, _)"]))]
    for relation, sorts in _RELATIONS.items():
        if pick.random() < 0.6:
            names = {f"z{n}": sort for n, sort in enumerate(sorts)}
            where = f" where {formula(names, 1)}" if pick.random() < 0.5 else ""
            lines.append(f"view {relation}({', '.join(names)}){where}\n")
    lines.append("view P()\n" if len(lines) == 1 and pick.random() < 0.5 else "")
    lines.append("policy p\n" + "".join(rule() for _ in range(pick.randint(1, 4))) + "  call idle()\n")
    lines.append("init\n  R(c1)\n  R(c2)\n  S(c2, k1)\n" + "  T(c2, c3)\n" * pick.randint(0, 1))
    return "".join(lines)


@settings(max_examples=examples(60))
@given(st.integers(0, 10**6), st.booleans())
def test_a_compiled_policy_selects_what_it_answers(seed, wide):
    """In every reached state; the rules that match and decide are those of its contexts. Also where calls are
    added sweep by sweep."""
    deployment = stead_sym.parse_deployment(_drawn(seed))
    with pytest.MonkeyPatch.context() as patch:
        if wide:
            patch.setattr(reach, "_WIDE", 0)
        try:
            pair = both(deployment, "p", max_states=400)
        except Undecided:
            return
    explicit, symbolic = pair.explicit, pair.symbolic
    assert (symbolic.states, symbolic.transitions) == (explicit.states, explicit.transitions)
    assert symbolic.rules_used("") == explicit.rules_used("")
    first, second = (wrappers[""] for wrappers in pair.wrappers)
    assert dict(first.decisions) == dict(second.decisions)
    model = symbolic._model
    for state in explicit.satisfying(deployment.formula("true"), {}).states:
        selected = set(model._calls_in(state, model.by_agent[""]))
        assert selected == {call for call, agent in model.selection(state).items() if agent is not None}


_TWO = """deployment two
sort a
relation R(a)
relation Done(a)
tool take(x: a)
  guard R(x) & ~Done(x)
  effect insert Done(x)
tool idle()
policy p
  call take(x) when x != x | {when}
  call idle()
spec all_done EF forall x. (R(x) -> Done(x))
init
  R(r1)
  R(r2)
  R(r3)
"""


def test_contexts_are_counted_where_they_are_few_or_asked_for(monkeypatch):
    desk = stead_sym.parse_deployment(_TWO.format(when="true"))
    assert stead_sym.verify(desk, "p").contexts == 4
    monkeypatch.setattr("stead_sym.verification.verify.MOST_LOOKED_AT", 0)
    result = stead_sym.verify(desk, "p")
    assert (result.contexts, result.queries, len(result.decisions)) == (None, None, 0)
    assert not result.is_any
    assert result.with_contexts(0) is result
    assert result.with_contexts().contexts == 4


def test_without_contexts_several_calls_may_be_a_choice_among_alike(monkeypatch):
    """Of a few contexts it is looked whether they show calls alike."""
    monkeypatch.setattr("stead_sym.verification.verify.MOST_LOOKED_AT", 0)
    for when, choice in (("true", True), ("forall y. (R(y) & ~Done(y) -> y = x)", False)):
        desk = stead_sym.parse_deployment(_TWO.format(when=when))
        result = stead_sym.verify(desk, "p", findings=False)
        assert result.engine.is_among_alike("") == choice
        assert result.contexts is None
        formula, tied = desk.specs[0].formula, Choosers(tied=frozenset([""]))
        assert result.engine.whatever_chosen(formula, tied, holds=bool(result["all_done"].holds))


def test_a_policy_that_selects_nothing_somewhere_is_an_error(monkeypatch):
    """Also where no context is looked for."""
    monkeypatch.setattr("stead_sym.verification.verify.MOST_LOOKED_AT", 0)
    desk = stead_sym.parse_deployment(_TWO.format(when="true").replace("  call idle()\n", ""))
    with pytest.raises(AgentError, match=r"policy p selects nothing for .*Done"):
        stead_sym.verify(desk, "p")


def test_a_policy_that_selects_nothing_soon_is_told_before_everything_is_explored(monkeypatch):
    """Three orders after the start nobody has a rule; all orders together have 3^40 states."""

    def explored(*_):
        raise AssertionError("more was explored than the first steps")

    monkeypatch.setattr(Saturation, "closure", explored)
    desk = stead_sym.parse_deployment(
        "deployment d sort o sort s = { new, sent, paid } rigid sort n = 0..3"
        " relation St(o key, s) relation N(n) init"
        + "".join(f" St(o{k}, new)" for k in range(40))
        + " N(0) tool send(x: o, i: n, j: n) guard St(x, new) & N(i) & succ(i, j)"
        " effect set St(x, sent) delete N(i) insert N(j)"
        " tool pay(x: o) guard St(x, sent) effect set St(x, paid)"
        " tool again(x: o) guard St(x, paid) effect set St(x, new) tool stay()"
        " policy p call send(x, i, j) when ~N(3) call pay(x) when ~N(3)"
    )
    with pytest.raises(AgentError, match=r"policy p selects nothing for .*N\(3\)"):
        stead_sym.verify(desk, "p")


def test_constants_that_the_wrapper_renames_are_not_known_to_a_policy():
    """A wrapper of one's own may not know what a policy mentions: then it is asked, and never meets it."""
    desk = stead_sym.parse_deployment(_TWO.format(when="x = r1"))
    blind = CanonicalWrapper(RuleAgent.of(desk, "p"), desk.schema, desk.tools)
    assert stead_sym.verify(desk, blind, findings=False).states == 1
    assert stead_sym.verify(desk, wrap(desk, "p"), findings=False).states == 2


_SHARED = """deployment shared
sort a
relation R(a)
relation Done(a)
agent one
  tools take, idle
  policy p
    call idle()
agent two
  tools take
tool take(x: a)
  guard R(x) & ~Done(x)
  effect insert Done(x)
tool idle()
init
  R(r1)
  R(r2)
"""


def test_an_agent_that_selects_everything_keeps_a_tool_that_it_shares(monkeypatch):
    monkeypatch.setattr(reach, "_WIDE", -1)
    desk = stead_sym.parse_deployment(_SHARED)
    pair = both(desk, {"one": "p", "two": "any"})
    assert pair.symbolic.states == pair.explicit.states == 4
    assert pair.symbolic.transitions == pair.explicit.transitions
