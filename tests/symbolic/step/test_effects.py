"""Compiled tools against the concrete semantics, call by call, in every reachable state."""

from __future__ import annotations

from hypothesis import given, reject, settings
from hypothesis import strategies as st

from engine_pairs import examples
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.deployment.semantics import exceeded, offer, successors
from stead_sym.deployment.tool import Call
from stead_sym.errors import DefinitionError, Undecided
from stead_sym.explicit.explore import explore
from stead_sym.progress import Pulse
from stead_sym.symbolic.plan.guess import first_guess
from stead_sym.symbolic.plan.planner import Task, plan
from stead_sym.testing.deployments import deployments
from stead_sym.testing.guess_breakers import short_of_room


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
        states = tuple(state for state in run if exceeded(deployment, state) is None)
    return restriction, Compiled(deployment, restriction), states


def assert_as_defined(deployment):
    restriction, compiled, states = compared(deployment)
    for state in states:
        calls = offer(deployment, state)
        assert compiled.offered(state) == calls
        found = {call: successors(deployment, call, state, restriction) for call in calls}
        assert compiled.effective(state) == {call for call, after in found.items() if after.exist}
        assert compiled.steps(state) == {
            (call, s) for call, after in found.items() for s in after.inside if not exceeded(deployment, s)
        }
        assert compiled.past_a_bound(state) == {
            call
            for call, after in found.items()
            if any(exceeded(deployment, s) for s in (*after.inside, *after.outside))
        }


@settings(max_examples=examples(40))
@given(deployments(specs=1, depth=2, total=False))
def test_offers_steps_and_effects_are_those_of_the_semantics(deployment):
    assert_as_defined(deployment)


@settings(max_examples=examples(40))
@given(st.one_of(short_of_room(), deployments(specs=1, depth=2, keep_bounds=False)))
def test_steps_past_a_bound_are_told_apart(deployment):
    assert_as_defined(deployment)
