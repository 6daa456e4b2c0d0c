"""Shields by plain enumeration, and small deployments to compare them on.

The states are those of the literal domain of the theorem, one by one; what agents may do is solved as a game
on this graph, straight from the definition: take away states until nothing changes. Nothing of the symbolic
engine is used, and of the demands only their formulas.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from random import Random

import stead_sym as st
import stead_sym.logic.syntax as fo
from stead_sym.deployment.initial import initial_states
from stead_sym.deployment.restriction import Restriction
from stead_sym.deployment.semantics import possible, successors
from stead_sym.deployment.tool import Call
from stead_sym.relational.instance import Instance


@dataclass
class Game:
    """``steps[D]`` are the calls and events of a state, each with all its outcomes."""

    deployment: st.Deployment
    restriction: Restriction
    demands: tuple[fo.Formula, ...]
    steps: dict[Instance, dict[Call, frozenset[Instance]]] = field(default_factory=dict)
    initial: tuple[Instance, ...] = ()

    def __post_init__(self) -> None:
        self.initial = tuple(initial_states(self.deployment, self.restriction))
        todo = list(self.initial)
        while todo:
            state = todo.pop()
            if state in self.steps:
                continue
            self.steps[state] = {
                call: frozenset(successors(self.deployment, call, state, self.restriction).inside)
                for call in possible(self.deployment, state)
            }
            todo.extend(after for afters in self.steps[state].values() for after in afters)

    def may_end(self, state: Instance) -> bool:
        """As a `terminal` line says, which is read here, and not through the loop that it stands for."""
        return any(
            st.holds(self.deployment.formula(line.when), state) for line in self.deployment.written.terminal
        )

    def is_event(self, call: Call) -> bool:
        return self.deployment.tool(call.tool).event

    def allowed(self, states: frozenset[Instance], state: Instance) -> Iterator[Call]:
        """The events, and the calls of which every outcome is in the set."""
        for call, afters in self.steps[state].items():
            if self.is_event(call) or afters <= states:
                yield call

    @cached_property
    def won(self) -> frozenset[Instance]:
        """The greatest set with the demands true, that no event leaves and where something is allowed."""
        states = frozenset(self.steps)
        while True:
            graph = {
                state: {after for call in self.allowed(states, state) for after in self.steps[state][call]}
                for state in states
            }
            kept = frozenset(
                state
                for state in states
                if (graph[state] or self.may_end(state))
                and graph[state] <= states
                and all(Reading(graph, states).true(demand, state, {}) for demand in self.demands)
            )
            if kept == states:
                return states
            states = kept

    @cached_property
    def reached(self) -> frozenset[Instance]:
        """Return what is reached in what is won."""
        seen: set[Instance] = set()
        todo = [state for state in self.initial if state in self.won]
        while todo:
            state = todo.pop()
            if state not in seen:
                seen.add(state)
                todo.extend(
                    after for call in self.allowed(self.won, state) for after in self.steps[state][call]
                )
        return frozenset(seen)

    def denied(self) -> Iterator[tuple[Instance, Call]]:
        """The calls that are not allowed in the states reached."""
        for state in self.reached:
            allowed = set(self.allowed(self.won, state))
            yield from ((state, call) for call in self.steps[state] if call not in allowed)

    def counts(self, tool: str) -> tuple[int, int]:
        """Return how many calls of the tool are enabled and allowed in the states reached."""
        enabled = [(s, c) for s in self.reached for c in self.steps[s] if c.tool == tool]
        return len(enabled), sum(call in set(self.allowed(self.won, state)) for state, call in enabled)


@dataclass(frozen=True)
class Reading:
    """Formulas with path quantifiers E over a finite graph, by their definitions."""

    graph: Mapping[Instance, set[Instance]]
    states: frozenset[Instance]

    def true(self, formula: fo.Formula, state: Instance, values: Mapping[str, str]) -> bool:
        if not fo.is_temporal(formula):
            return st.holds(formula, state, values)
        match formula:
            case fo.And(parts):
                return all(self.true(part, state, values) for part in parts)
            case fo.Or(parts):
                return any(self.true(part, state, values) for part in parts)
            case fo.Implies(left, right):
                return not self.true(left, state, values) or self.true(right, state, values)
            case fo.Forall(binder, body):
                there = state.active_domain[binder.sort]
                return all(self.true(body, state, {**values, binder.name: value}) for value in there)
            case fo.Exists(binder, body):
                there = state.active_domain[binder.sort]
                return any(self.true(body, state, {**values, binder.name: value}) for value in there)
            case fo.Next("E", body):
                return any(self.true(body, after, values) for after in self.graph[state] & self.states)
            case fo.Future("E", body):
                return any(self.true(body, after, values) for after in self.from_here(state, None, values))
            case fo.Until("E", left, right, weak=False):
                return any(self.true(right, after, values) for after in self.from_here(state, left, values))
            case fo.Globally("E", body):
                return self.endless(body, state, values)
            case _:
                raise AssertionError(f"{formula} is not of the fragment")

    def from_here(
        self, state: Instance, through: fo.Formula | None, values: Mapping[str, str]
    ) -> set[Instance]:
        """Return what a run reaches on which the formula holds until then."""
        seen, todo = {state}, [state]
        while todo:
            now = todo.pop()
            if through is None or self.true(through, now, values):
                new = self.graph[now] & self.states - seen
                seen |= new
                todo.extend(new)
        return seen

    def endless(self, body: fo.Formula, state: Instance, values: Mapping[str, str]) -> bool:
        """EG: the state is in the greatest set where the formula holds and a step stays."""
        staying = {one for one in self.states if self.true(body, one, values)}
        while less := {one for one in staying if not self.graph[one] & staying}:
            staying -= less
        return state in staying


class Maker:
    """A random deployment with at most two cases, and specifications of the shapes that have a shield."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def text(self) -> str:
        tools = [line for k in range(self.random.randint(2, 4)) for line in self._tool(f"t{k}")]
        most = self.random.choice([1, 2])
        ends = self._condition(None) if self.random.random() < 0.4 else ""
        specs = [f"spec s{k} {self._spec(bool(ends))}" for k in range(self.random.randint(1, 2))]
        return "\n".join(
            [
                "deployment game",
                "sort case",
                "sort status = { u, v, w } rigid",
                "relation In(case)",
                "relation St(case key, status)",
                "relation P(case)",
                "relation F()",
                f"bound case {most}",
                *([f"terminal when {ends}"] if ends else []),
                *(["init", "  F()"] if self.random.random() < 0.3 else []),
                "event arrive()",
                "  guard ~exists x: case. true" if most == 1 else "  guard atmost 1 x: case. true",
                "  effect",
                "    fresh c: case",
                "    insert In(c)",
                f"    insert St(c, {self._status()})",
                "tool idle()",
                *([f"  guard ~{ends}"] if ends else []),
                *tools,
                *specs,
            ]
        )

    def _status(self) -> str:
        return self.random.choice("uvw")

    def _literal(self, x: str | None) -> str:
        facts = ["F()", "P(_)", f"St(_, {self._status()})", "(exists y: case. P(y) & St(y, u))"]
        facts += [] if x is None else [f"P({x})", f"St({x}, {self._status()})"] * 3
        return self.random.choice(["", "~"]) + self.random.choice(facts)

    def _condition(self, x: str | None) -> str:
        parts = [self._literal(x) for _ in range(self.random.choice([1, 1, 2]))]
        return f"({self.random.choice([' & ', ' | ']).join(parts)})"

    def _statement(self, x: str | None) -> str:
        some = ["insert F()", "delete F()"]
        if x is not None:
            some = [f"set St({x}, {self._status()})"] * 2 + [f"insert P({x})", f"delete P({x})", *some]
        return f"    {self.random.choice(some)}"

    def _tool(self, name: str) -> Iterator[str]:
        x = "x" if self.random.random() < 0.7 else None
        kind = self.random.choice(["tool", "tool", "event"])
        yield f"{kind} {name}({'x: case' if x else ''})"
        yield f"  guard {f'In({x}) & ' if x else ''}{self._condition(x)}"
        for _ in range(self.random.choice([1, 1, 2])):
            yield "  effect"
            if x and self.random.random() < 0.15:
                yield from (f"    delete {fact}" for fact in (f"In({x})", f"St({x}, _)", f"P({x})"))
                continue
            made = (self._statement(x) for _ in range(self.random.randint(1, 2)))
            yield from {line.partition("(")[0]: line for line in made}.values()  # one status at most

    def _spec(self, ends: bool) -> str:
        x, y = self._condition("x"), self._condition("x")
        loops = [
            f"AG ({self._condition(None)} -> EX EF {self._condition(None)})",
            f"AG ({self._literal(None)} | EG {self._literal(None)})",
        ]
        return self.random.choice(
            [
                *(loops if not ends else []),
                f"AG forall x: case. ({x} -> {y})",
                f"AG ~({self._condition(None)} & {self._literal(None)})",
                f"AG EF {self._condition(None)}",
                f"AG forall x: case. ({x} -> EF {y})",
                f"AG forall x: case. ({x} -> E[{y} U {self._literal('x')}])",
                f"A[{self._condition(None)} W {self._condition(None)}]",
            ]
        )
