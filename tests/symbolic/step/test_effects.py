"""Compiled tools against the concrete semantics, call by call, in every reachable state."""

from __future__ import annotations

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from engine_pairs import examples
from generated.deployments import deployments
from generated.guess_breakers import short_of_room
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.deployment.semantics import breaks_claim, offer, successors
from stead_sym.deployment.tool import Call
from stead_sym.engines.explicit.explore import explore
from stead_sym.engines.symbolic.plan.guess import first_guess
from stead_sym.engines.symbolic.plan.planner import Task, plan
from stead_sym.engines.symbolic.step import effects
from stead_sym.errors import DefinitionError, Undecided
from stead_sym.support.progress import Pulse

_OWN = (
    "insert M({0})",
    "delete M({0})",
    "delete M({0}) for y: rec where N(y)",
    "insert M(y) for y: rec where y != {0} & N(y)",
    "delete M(y) for y: rec where y = {0} | ~N({0})",
    "insert K({0}, ta)",
    "delete K({0}, _)",
    "delete K({0}, ta)",
    "insert K(y, tb) for y: rec where K({0}, ta) & y = {0}",
    "insert Here({0})",
    "delete Here({0})",
)
_SHARED = (
    "clear M",
    "clear K",
    "clear Here",
    "insert M(y) for y: rec where N(y)",
    "delete M(y) for y: rec where ~N(y)",
    "insert M(y) for y: rec where Here(y) & ~M(y)",
    "insert M(r0)",
    "delete M(r1)",
    "delete M(_)",
    "delete K(y, tb) for y: rec",
    "insert K(y, tb) for y: rec where M(y) & ~K(y, _)",
    "insert K(y, tb) for y: rec where M(y)",
    "insert Here(r0)",
    "delete Here(y) for y: rec where K(y, ta)",
)
_TAGGED = (
    "delete M(y) for y: rec where q = ta",
    "insert Here(y) for y: rec where q = tb & N(y)",
    "delete K(y, q) for y: rec",
    "insert K(y, q) for y: rec where M(y) & ~K(y, _)",
)
_OVERLAP = """
deployment overlap
sort rec
sort tag = {{ ta, tb }}
relation Rec(rec)
relation M(rec)
relation N(rec)
relation K(rec{key}, tag)
relation Here(rec)
init
  Rec(r0)
  Rec(r1)
  N(r0)
  K(r0, ta)
  Here(r1)
tool idle()
tool flip()
  effect when N(r0)
    delete N(r0)
  effect when ~N(r0)
    insert N(r0)
{tools}
"""


@st.composite
def overlapping(draw):
    """Tools of which some statements mention the parameter, some nothing, and some a value of a finite sort,
    about the same facts."""
    tools = []
    for number in range(draw(st.integers(1, 2))):
        lines = [line.format("p") for line in draw(st.lists(st.sampled_from(_OWN), min_size=1, max_size=2))]
        lines += draw(st.lists(st.sampled_from(_SHARED), min_size=1, max_size=2))
        tagged = draw(st.lists(st.sampled_from(_TAGGED), max_size=2, unique=True))
        chosen = bool(tagged) and draw(st.booleans())
        guard = draw(
            st.sampled_from(
                [
                    "true",
                    "M(p)",
                    "~M(p)",
                    "Here(_)",
                    "~Here(p) & N(r0)",
                    "Here(p) | N(p)",
                    "Here(p) | (p = r1 & N(r0))",
                ]
            )
        )
        body = "\n    ".join(["choose q: tag"] * chosen + draw(st.permutations(lines + tagged)))
        params = "p: rec, q: tag" if tagged and not chosen else "p: rec"
        tools.append(f"tool t{number}({params})\n  guard {guard}\n  effect\n    {body}")
    key = draw(st.sampled_from(["", " key"]))
    return parse_deployment(_OVERLAP.format(key=key, tools="\n".join(tools)))


class Compiled:
    """The tools of a deployment over the literal domain, asked about one state at a time."""

    def __init__(self, deployment, restriction):
        self.plan = plan(Task(deployment, restriction, True), first_guess(deployment, True), Pulse())
        self.encoding, self.manager = self.plan.encoding, self.plan.encoding.manager

    def here(self, function, state):
        return self.manager.cofactor(function, self.encoding.encode(state))

    def calls(self, tool, function, vectors):
        """The calls of a tool that satisfy a function of its parameters or selectors."""
        return {Call(tool.tool.name, args) for args in self.encoding.tuples(function, vectors)}

    def offered(self, state):
        interfaces = (tool.interface for tool in self.plan.tools.values())
        return set().union(*(self.calls(i, self.here(i.offered, state), i.params) for i in interfaces))

    def effective(self, state):
        return set().union(
            *(
                self.calls(i, self.here(i.offered & i.effective, state), i.params)
                for i in (tool.interface for tool in self.plan.tools.values())
            )
        )

    def past_a_bound(self, state):
        """The calls that may exceed a bound, with values of U_f or with more."""
        tools = [(t.interface, t.exceeding | t.overflow) for t in self.plan.tools.values()]
        return set().union(*(self.calls(i, self.here(over, state), i.selectors) for i, over in tools))

    def steps(self, state):
        """{ (call, D') } for all calls."""
        m, encoding = self.manager, self.encoding
        found = set()
        for tool in self.plan.tools.values():
            selectors = tool.interface.selectors
            copies = {encoding.primed(bit): m.var(bit) for bit in encoding.order}
            after = m.substitute(self.here(tool.steps, state), copies)
            chosen = m.exist(encoding.state_bits, after)
            for call in self.calls(tool.interface, chosen, selectors):
                code = {}
                for selector, value in zip(selectors, call.args, strict=True):
                    code |= encoding.code(selector, value)
                left = m.cofactor(after, code)
                while left != m.false:
                    assignment = m.pick(left, encoding.order)
                    left = left & ~m.cube(assignment)
                    found.add((call, encoding.decode(assignment)))
        return found


def compared(deployment):
    """The compiled tools and the reachable states, as far as the first breach of a bound."""
    restriction = theorem_restriction(deployment, deployment.specs)
    try:
        states = explore(deployment, {"": None}, restriction, max_states=60).states
    except Undecided:
        reject()
    except DefinitionError as error:
        run = (error.trace.start, *(step.state for step in error.trace.steps))
        states = tuple(state for state in run if not breaks_claim(deployment, state))
    return restriction, Compiled(deployment, restriction), states


def assert_as_defined(deployment):
    restriction, compiled, states = compared(deployment)
    for state in states:
        calls = offer(deployment, state)
        assert compiled.offered(state) == calls
        found = {call: successors(deployment, call, state, restriction) for call in calls}
        assert compiled.effective(state) == {call for call, after in found.items() if after.exist}
        assert compiled.steps(state) == {
            (call, s)
            for call, after in found.items()
            for s in after.inside
            if not breaks_claim(deployment, s)
        }
        assert compiled.past_a_bound(state) == {
            call
            for call, after in found.items()
            if any(breaks_claim(deployment, s) for s in (*after.inside, *after.outside))
        }


@settings(max_examples=examples(40))
@given(deployments(specs=1, depth=2, total=False))
def test_offers_steps_and_effects_are_those_of_the_semantics(deployment):
    assert_as_defined(deployment)


@settings(max_examples=examples(40))
@given(st.one_of(short_of_room(), deployments(specs=1, depth=2, keep_bounds=False)))
def test_steps_past_a_bound_are_told_apart(deployment):
    assert_as_defined(deployment)


@settings(max_examples=examples(50))
@given(overlapping())
def test_what_all_actions_do_meets_what_one_of_them_does(deployment):
    assert_as_defined(deployment)


def test_what_one_action_deletes_is_no_second_fact_of_a_key():
    """Of each record the tag becomes tb, of one by a statement of its own."""
    tool = (
        "tool t(p: rec)\n  guard Rec(p)\n  effect\n"
        "    set K(p, tb)\n    insert K(y, tb) for y: rec where K(y, _)\n"
    )
    assert_as_defined(parse_deployment(_OVERLAP.format(key=" key", tools=tool)))


@pytest.mark.parametrize("guard", ["Here(p) | (p = r1 & N(r0))", "(Here(r0) & M(p)) | (Here(r1) & ~M(p))"])
def test_some_calls_tell_which_fact_is_cleared_and_some_do_not(guard):
    """That of one record can only be made where it is here, that of the other also where it is not; or which
    record is here is a matter of another relation."""
    tool = f"tool t(p: rec)\n  guard {guard}\n  effect\n    insert M(p)\n    clear Here\n"
    move = "tool move(p: rec)\n  effect\n    clear Here\n    insert Here(p)\n"
    deployment = parse_deployment(_OVERLAP.format(key="", tools=tool + move))
    assert Compiled(deployment, theorem_restriction(deployment, ())).plan.guess.singles == {"Here"}
    assert_as_defined(deployment)


@settings(max_examples=examples(15))
@given(deployments(specs=1, depth=2, total=False))
def test_calls_that_are_gone_through_are_those_that_are_not(deployment):
    """Of parameters that an effect does not mention there is an action for each value, or one for all."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(effects, "_FEW_CALLS", 0)
        patched.setattr(effects, "_CALLS_PER_VALUE", 1000)
        assert_as_defined(deployment)


def test_calls_are_gone_through_where_they_are_many_but_not_as_many_as_pairs(monkeypatch):
    """To hand over any of the records in hand is an action for each of them."""
    records = 70
    desk = parse_deployment(
        "deployment desk\nsort rec\nrelation Rec(rec)\nrelation Over()\ninit\n"
        + "".join(f"  Rec(r{k})\n" for k in range(records))
        + "tool over(p: rec)\n  effect\n    insert Over()\n"
        + "tool both(p: rec, q: rec)\n  effect\n    insert Over()\n"
    )
    tools = Compiled(desk, theorem_restriction(desk, desk.specs)).plan.tools
    assert (tools["over"].actions, tools["both"].actions) == (records, 1)
    monkeypatch.setattr(effects, "_FEW_CALLS", records)
    tools = Compiled(desk, theorem_restriction(desk, desk.specs)).plan.tools
    assert (tools["over"].actions, tools["both"].actions) == (1, 1)


def test_what_is_cleared_makes_room_for_what_comes():
    deployment = parse_deployment("""
deployment renewal
sort rec
relation M(rec)
relation K(rec)
bound rec 2
tool come()
  guard atmost 1 x: rec. x = x
  effect
    fresh x: rec
    insert K(x)
tool renew()
  guard K(_)
  effect
    clear M, K
    fresh x: rec
    insert M(x)
tool idle()
""")
    assert_as_defined(deployment)
