"""CTL by labelling: the set of states that satisfy a formula, bottom-up, one assignment at a time.

Assignments are kept across temporal operators, as in the paper; quantifiers range over the active domain of
the current state. The one decision: a set of states is a Python integer, bit i for state i. The Boolean cases
are then the integer's operators, and only pre and the fixpoints traverse edges.

With fairness constraints every path quantifier ranges over the fair paths: those on which each constraint on
states holds infinitely often, and each constraint on actions is met (`explicit.actions`). In the completed
reading, a run that enters a state from which no fair run starts also counts, if it meets the constraints on
actions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from itertools import pairwise, product
from operator import and_, eq
from typing import TypeVar, assert_never

import stead_sym.logic.syntax as fo
from stead_sym.deployment.parts import FairAction
from stead_sym.deployment.restriction import Restriction
from stead_sym.deployment.tool import Call
from stead_sym.deployment.trace import Step, Trace
from stead_sym.engines.explicit.actions import ActionConstraint, Edge, FairSet, constraints, fair_sets
from stead_sym.engines.explicit.explore import Graph
from stead_sym.engines.explicit.integers import Integers
from stead_sym.logic.evaluate import ORDERINGS, compares, declared, fact_of, value_of
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Value

_K = TypeVar("_K")


class Labelling:
    """⟦f⟧σ ⊆ Reach for FO-CTL formulas f; `TypeError` for one that is not expanded.

    ⟦f⟧σ is computed once per subformula and assignment of its free variables. The runs that it returns as
    evidence (`step`, `until`, `forever`) are runs of the restriction.
    """

    def __init__(
        self,
        graph: Graph,
        restriction: Restriction,
        fair: Sequence[fo.Expanded] | None = None,
        actions: Sequence[FairAction] | None = None,
        *,
        completed: bool = False,
    ) -> None:
        """Label a graph under fairness constraints.

        ``fair`` and ``actions`` are the constraints, by default those of the deployment. With ``completed``
        each constraint F_k on states is replaced by F_k ∨ H, where H are the states from which no run starts
        that meets all constraints.
        """
        self.graph = graph
        self._restriction = restriction
        self._domain = restriction.values
        self._all = (1 << len(graph.states)) - 1
        self._sources: list[list[int]] = [[] for _ in graph.states]
        for source, targets in enumerate(graph.targets):
            for target in targets:
                self._sources[target].append(source)
        self._holding = self._bits_by(lambda state: state.facts)
        self._active = self._bits_by(
            lambda state: ((sort, u) for sort, values in state.active_domain.items() for u in values)
        )
        self._free: dict[fo.Formula, tuple[str, ...]] = {}
        self._memo: dict[tuple[fo.Formula, tuple[Value, ...]], int] = {}
        fair = graph.deployment.fair if fair is None else fair
        actions = graph.deployment.fair_actions if actions is None else actions
        self._given = fair, actions
        self._constraints = tuple(self._sat(f, {}) for f in fair)
        self._actions = constraints(graph, restriction, actions)
        self._is_constrained = bool(fair or actions)
        self._fair = self._eg(self._all)
        self.completed = completed
        if completed:
            hidden = self._not(self._fair)
            self._constraints = tuple(constraint | hidden for constraint in self._constraints)
            self._fair = self._all

    def completion(self) -> Labelling:
        """Return the labelling in which the runs that enter a hidden state count as well."""
        return Labelling(self.graph, self._restriction, *self._given, completed=True)

    def satisfying(
        self, formula: fo.Expanded, assignment: Mapping[str, Value] | None = None
    ) -> frozenset[Instance]:
        """Return the reachable states D with (D, σ) ⊨ f."""
        states = self.graph.states
        return frozenset(states[i] for i in _indices(self._sat(formula, assignment or {})))

    def holds(
        self, formula: fo.Expanded, state: Instance, assignment: Mapping[str, Value] | None = None
    ) -> bool:
        """Return True if (D, σ) ⊨ f; raise `KeyError` for a state that is not reachable."""
        return bool(self._sat(formula, assignment or {}) >> self.graph.index[state] & 1)

    def holds_initially(self, formula: fo.Expanded) -> bool:
        """Return True if M ↾ U_f ⊨ f: the sentence holds at every D0."""
        return not self.initially(fo.Not(formula))

    def initially(self, formula: fo.Expanded) -> tuple[Instance, ...]:
        """Return the initial states in which the sentence holds."""
        states = self.graph.states[: self.graph.initial]
        return tuple(state for state in states if self.holds(formula, state))

    def is_called(self, tool: str, condition: fo.Expanded, *, selected: bool) -> bool:
        """Return True if some reachable state has a call of the tool, offered or selected, that satisfies f.

        An event is selected wherever it is enabled.
        """
        params = self.graph.deployment.tool(tool).params
        where: dict[Call, list[int]] = {}
        for i, calls in enumerate(self.graph.actors if selected else self.graph.offered):
            for call in calls:
                if call.tool == tool:
                    where.setdefault(call, []).append(i)
        return any(
            self._bits(indices) & self._sat(condition, sigma)
            for call, indices in where.items()
            for sigma in [{param.name: u for param, u in zip(params, call.args, strict=True)}]
        )

    # The clauses of satisfaction, as sets of states.

    def _sat(self, formula: fo.Formula, sigma: Mapping[str, Value]) -> int:
        """Return ⟦f⟧σ, cached."""
        if formula not in self._free:
            self._free[formula] = tuple(sorted(fo.free_variables(formula)))
        key = formula, tuple(sigma[name] for name in self._free[formula])
        if key not in self._memo:
            self._memo[key] = self._evaluate(formula, sigma)
        return self._memo[key]

    def _evaluate(self, formula: fo.Formula, sigma: Mapping[str, Value]) -> int:
        def sat(f: fo.Formula) -> int:
            return self._sat(f, sigma)

        match formula:
            case fo.Truth(value):
                return self._all if value else 0
            case fo.Equal(left, right) | fo.Compare(_, left, right) if fo.is_compound(left) or fo.is_compound(
                right
            ):
                holds = ORDERINGS[formula.ordering] if isinstance(formula, fo.Compare) else eq
                pairs = product(
                    self._integers.denoted(left, sigma).items(), self._integers.denoted(right, sigma).items()
                )
                return _union(there & here for (i, there), (j, here) in pairs if holds(int(i), int(j)))
            case fo.Atom(relation, args, primed=False) if any(map(fo.is_compound, args)):
                return _union(
                    reduce(and_, (states for _, states in row), self._all)
                    & self._holding.get(Fact(relation, tuple(value for value, _ in row)), 0)
                    for row in product(*(self._integers.denoted(term, sigma).items() for term in args))
                )
            case fo.Equal(left, right):
                return self._all if value_of(left, sigma) == value_of(right, sigma) else 0
            case fo.Compare(ordering, left, right, sort) if sort == fo.INTEGERS:
                i, j = int(value_of(left, sigma)), int(value_of(right, sigma))
                return self._all if ORDERINGS[ordering](i, j) else 0
            case fo.Compare(_, left, right):
                values = value_of(left, sigma), value_of(right, sigma)
                return self._all if compares(formula, *values, self.graph.deployment.schema) else 0
            case fo.Atom(primed=False):
                return self._holding.get(fact_of(formula, sigma, self.graph.deployment.schema), 0)
            case fo.Not(body):
                return self._not(sat(body))
            case fo.And(parts):
                return self._not(_union(self._not(sat(part)) for part in parts))
            case fo.Or(parts):
                return _union(sat(part) for part in parts)
            case fo.Implies(left, right):
                return self._not(sat(left)) | sat(right)
            case fo.Iff(left, right):
                return self._not(sat(left) ^ sat(right))
            case fo.Exists(binder, body):
                return _union(self._instances(binder, body, sigma))
            case fo.Forall(binder, body):
                return self._not(_union(self._instances(binder, fo.Not(body), sigma)))
            case fo.Count(comparison, number, binder, body):
                enough = self._at_least(number, binder, body, sigma)
                if comparison == "atleast":
                    return enough
                no_more = self._not(self._at_least(number + 1, binder, body, sigma))
                return no_more if comparison == "atmost" else enough & no_more
            case fo.Next(path, body):  # AX f = ¬EX ¬f
                return self._ex(sat(body)) if path == "E" else self._not(self._ex(self._not(sat(body))))
            case fo.Future(path, body):  # EF f = E[true U f], AF f = ¬EG ¬f
                f = sat(body)
                return self._eu(self._all, f) if path == "E" else self._not(self._eg(self._not(f)))
            case fo.Globally(path, body):  # AG f = ¬EF ¬f
                f = sat(body)
                return self._eg(f) if path == "E" else self._not(self._eu(self._all, self._not(f)))
            case fo.Until("E", left, right, weak):  # E[f W g] = E[f U g] ∨ EG f
                f, g = sat(left), sat(right)
                return self._eu(f, g) | (self._eg(f) if weak else 0)
            case fo.Until(_, left, right, weak):  # A[f W g] = ¬E[¬g U ¬f ∧ ¬g], A[f U g] = A[f W g] ∧ AF g
                f, g = self._not(sat(left)), self._not(sat(right))
                return self._not(self._eu(g, f & g) | (0 if weak else self._eg(g)))
            case fo.Use() | fo.Derived():
                raise fo.unexpanded(formula)
            case fo.Since() | fo.Previously() | fo.Did():
                raise fo.unfollowed(formula)
            case fo.Each() | fo.Weight():
                raise ValueError(f"a part of a term is no formula: {formula}")
            case fo.Same() | fo.Empty() | fo.Atom():
                raise ValueError(f"a formula about the next state outside `ensure`: {formula}")
            case _:
                assert_never(formula)

    @cached_property
    def _integers(self) -> Integers:
        return Integers(self._all, self._sat, self._values)

    def _values(self, binder: fo.Binder) -> Iterator[tuple[Value, int]]:
        """Yield the values of a variable, each with the states in whose domain it is."""
        if binder.declared:
            yield from ((u, self._all) for u in declared(self.graph.deployment.schema, binder))
        else:
            yield from ((u, self._active.get((binder.sort, u), 0)) for u in self._domain[binder.sort])

    def _not(self, states: int) -> int:
        return self._all ^ states

    def _instances(self, binder: fo.Binder, body: fo.Formula, sigma: Mapping[str, Value]) -> Iterator[int]:
        """Yield, per value u of the sort, the states where u is active and satisfies the body.

        For `x in s` it is per declared value, active or not.
        """
        if binder.declared:
            for u in declared(self.graph.deployment.schema, binder):
                yield self._sat(body, {**sigma, binder.name: u})
            return
        for u in self._domain[binder.sort]:
            if active := self._active.get((binder.sort, u), 0):
                yield active & self._sat(body, {**sigma, binder.name: u})

    def _at_least(self, number: int, binder: fo.Binder, body: fo.Formula, sigma: Mapping[str, Value]) -> int:
        """Return the states where at least ``number`` active values satisfy the body."""
        counted = [self._all]  # counted[k]: the states with at least k satisfying values
        for satisfying in self._instances(binder, body, sigma):
            if len(counted) <= number:
                counted.append(0)
            for k in range(len(counted) - 1, 0, -1):
                counted[k] |= counted[k - 1] & satisfying
        return counted[number] if number < len(counted) else 0

    # The temporal kernel.

    def _ex(self, states: int) -> int:
        """Return EX X = pre(X), with X restricted to the states where a fair path starts."""
        return self._pre(states & self._fair)

    def _eu(self, left: int, right: int) -> int:
        """Return E[X U Y] = μZ. Y ∪ (X ∩ pre(Z)), with Y restricted to states where a fair path starts."""
        return self._reach(left, right & self._fair)

    def _reach(self, left: int, right: int) -> int:
        """Return μZ. Y ∪ (X ∩ pre(Z))."""
        reached = frontier = right
        while frontier:
            frontier = self._pre(frontier) & left & self._not(reached)
            reached |= frontier
        return reached

    def _eg(self, states: int) -> int:
        """Return EG X = νZ. X ∩ pre(Z).

        With fairness constraints F_k the fixpoint also has ⋂_k pre(μY. Z ∩ F_k ∪ X ∩ pre(Y)). With
        constraints on actions EG X is E[X U C], for C the union of the `fair_sets` within X.
        """
        if self._actions:
            return self._reach(states, _union(self._bits(found.states) for found in self._fair_sets(states)))
        stay = states
        while True:
            again = stay & self._pre(stay)
            for constraint in self._constraints:
                again &= self._pre(self._reach(states, again & constraint))
            if again == stay:
                return stay
            stay = again

    def _fair_sets(self, states: int) -> Iterator[FairSet]:
        visited = [frozenset(_indices(constraint)) for constraint in self._constraints]
        return fair_sets(self.graph, frozenset(_indices(states)), visited, self._actions)

    def _pre(self, states: int) -> int:
        """Return pre(X) = { D : D → D' for some D' ∈ X }."""
        return self._bits(source for target in _indices(states) for source in self._sources[target])

    # Runs as evidence.

    @property
    def goes_on(self) -> bool:
        """True if a finite prefix counts only if it extends to a fair run."""
        return self._is_constrained and not self.completed

    @property
    def hidden(self) -> tuple[int, ...]:
        """The numbers of the states from which no fair run starts."""
        return tuple(_indices(self._not(self._fair)))

    def run_to(self, number: int) -> Trace:
        """Return a shortest run to a state, given by its number.

        States are numbered breadth first, so on such a run the step to a state comes from its first
        predecessor.
        """
        graph, here, steps = self.graph, number, list[Step]()
        while here >= graph.initial:
            source = min(self._sources[here])
            call = next(call for call, target in graph.edges[source] if target == here)
            steps.append(graph.step(source, call, here))
            here = source
        return Trace(graph.states[here], tuple(reversed(steps)), of_many=graph.initial > 1)

    def step(
        self, formula: fo.Expanded, state: Instance, assignment: Mapping[str, Value] | None = None
    ) -> Step:
        """Return a step to a successor that satisfies f; raise `ValueError` unless (D, σ) ⊨ EX f."""
        path = self._path(self.graph.index[state], 0, self._sat(formula, assignment or {}) & self._fair)
        return path[0]

    def until(
        self,
        left: fo.Expanded,
        right: fo.Expanded,
        state: Instance,
        assignment: Mapping[str, Value] | None = None,
    ) -> tuple[Step, ...]:
        """Return a shortest run through states of f to a state of g, empty if g holds now.

        Raise `ValueError` unless (D, σ) ⊨ E[f U g].
        """
        sigma = assignment or {}
        start, goal = self.graph.index[state], self._sat(right, sigma) & self._fair
        return () if goal >> start & 1 else self._path(start, self._sat(left, sigma), goal)

    def forever(
        self, body: fo.Expanded, state: Instance, assignment: Mapping[str, Value] | None = None
    ) -> tuple[tuple[Step, ...], int]:
        """Return a run that stays in f for ever: its steps, and the number of them before the loop.

        The representation is that of `Trace`. The run is a shortest one. With fairness constraints the loop
        meets each of them, and the run need not be shortest, because a shortest one is hard to compute
        (Clarke, Grumberg, McMillan and Zhao 1995).

        Raise `ValueError` unless (D, σ) ⊨ EG f.
        """
        stay = self._eg(self._sat(body, assignment or {}))
        here = self.graph.index[state]
        if not stay >> here & 1:
            raise ValueError(f"no run stays in {body} for ever")
        if self._actions:
            return self._through_fair_set(here, stay)
        return self._in_rounds(here, stay) if self._constraints else self._shortest_lasso(here, stay)

    def _through_fair_set(self, here: int, stay: int) -> tuple[tuple[Step, ...], int]:
        """Return a run to the nearest of the `fair_sets`, and one round through it.

        The round visits a state of each constraint on states. For each constraint on actions that it has not
        met yet, it visits a state that does not enable the action, or in which a value is absent, or takes an
        edge by the action. It takes an alternative if the call may be made in the set, even if the round does
        not make the call otherwise. Then it returns to its start.
        """
        sets = {i: found for found in self._fair_sets(stay) for i in found.states}
        stem = () if here in sets else self._path(here, stay, self._bits(sets))
        here = self.graph.index[stem[-1].state] if stem else here
        inside, used = sets[here].states, sets[here].has
        within, round_, loop = self._bits(inside), [here], list[Step]()

        def follow(steps: Iterable[Step]) -> None:
            for step in steps:
                loop.append(step)
                round_.append(self.graph.index[step.state])

        def visit(goal: Iterable[int]) -> None:
            if (wanted := inside.intersection(goal)).isdisjoint(round_):
                follow(self._path(round_[-1], within, self._bits(wanted), used=used))

        for constraint in self._constraints:
            visit(_indices(constraint))
        for one in self._actions:
            edges = {(s, t): call for s, t, call in sorted(filter(used, one.edges))}
            if one.is_met(inside, False):
                if not one.action.strong and one.call is None:
                    visit(inside - one.enabled)
                elif not one.enabled.isdisjoint(inside):
                    visit(one.absent)
            elif edges and edges.keys().isdisjoint(pairwise(round_)):
                if round_[-1] not in (sources := {s for s, _ in edges}):
                    follow(self._path(round_[-1], within, self._bits(sources), used=used))
                source, target = next(edge for edge in edges if edge[0] == round_[-1])
                follow([self._step_of(one, source, edges[source, target], target)])
        if len(round_) == 1 or round_[-1] != here:
            follow(self._path(round_[-1], within, 1 << here, used=used))
        return (*stem, *loop), len(stem)

    def _step_of(self, one: ActionConstraint, source: int, call: Call, target: int) -> Step:
        """Return the step along an edge, by the constraint's agent if the constraint is for one."""
        step = self.graph.step(source, call, target)
        of = one.action.name
        return replace(step, actor=of) if one.action.kind == "agent" and of is not None else step

    def _in_rounds(self, here: int, stay: int) -> tuple[tuple[Step, ...], int]:
        """Return a run through ``stay`` in rounds, each of which visits the constraints one after the other.

        The loop is closed when a round ends at the start of an earlier one.
        """
        steps: list[Step] = []
        visited = {here: 0}  # the number of steps before each round, by the state in which it starts
        while True:
            for k, goal in enumerate(self._constraints, 1):
                closing = _union(1 << i for i in visited) if k == len(self._constraints) else 0
                steps += self._path(here, stay, stay & goal, closing)
                here = self.graph.index[steps[-1].state]
            if here in visited:
                return tuple(steps), visited[here]
            visited[here] = len(steps)

    def _shortest_lasso(self, start: int, stay: int) -> tuple[tuple[Step, ...], int]:
        """Return a shortest run through ``stay`` to a state, and on to itself.

        The stem is a shortest run to the state, and the loop a shortest one from there to itself.
        """
        found: tuple[tuple[Step, ...], int] | None = None
        layer, seen, distance = [start], {start}, 0
        while layer and (found is None or distance + 1 < len(found[0])):
            for entry in layer:
                longest = None if found is None else len(found[0]) - distance - 1
                loop = self._search(entry, stay, 1 << entry, longest=longest)
                if loop is not None:
                    stem = self._path(start, stay, 1 << entry) if entry != start else ()
                    found = (*stem, *loop), distance
            ahead = (target for source in layer for target in self.graph.targets[source])
            layer = [target for target in dict.fromkeys(ahead) if stay >> target & 1 and target not in seen]
            seen.update(layer)
            distance += 1
        assert found is not None, "a run that stays in a finite set returns to one of its states"
        return found

    def _path(
        self,
        start: int,
        through: int,
        goal: int,
        preferred: int = 0,
        used: Callable[[Edge], bool] | None = None,
    ) -> tuple[Step, ...]:
        """Return a shortest run of one step or more, through states of ``through``, to a state of ``goal``.

        Its edges are ``used``, if that condition is given. If some successor is in both ``goal`` and
        ``preferred``, the run is a step to such a one. Raise `ValueError` if there is no run.
        """
        for call, target in self.graph.edges[start]:
            if (goal & preferred) >> target & 1:
                return (self.graph.step(start, call, target),)
        run = self._search(start, through, goal, used=used)
        if run is None:
            raise ValueError("no such run: the caller relies on a formula that does not hold")
        return run

    def _search(
        self,
        start: int,
        through: int,
        goal: int,
        *,
        longest: int | None = None,
        used: Callable[[Edge], bool] | None = None,
    ) -> tuple[Step, ...] | None:
        """Return a shortest run of 1 to ``longest`` steps through ``through`` to ``goal``, or None.

        Its edges are ``used``, if that condition is given.
        """
        edges, step = self.graph.edges, self.graph.step
        before: dict[int, tuple[int, Call]] = {}
        queue = deque([(start, 1)])
        while queue:
            source, length = queue.popleft()
            if longest is not None and length > longest:
                return None
            for call, target in edges[source]:
                if target in before or (used is not None and not used((source, target, call))):
                    continue
                before[target] = source, call
                if goal >> target & 1:
                    run = [step(source, call, target)]
                    while source != start:
                        here = source
                        source, call = before[here]
                        run.append(step(source, call, here))
                    return tuple(reversed(run))
                if through >> target & 1:
                    queue.append((target, length + 1))
        return None

    # Sets of states as bits.

    def _bits_by(self, keys: Callable[[Instance], Iterable[_K]]) -> dict[_K, int]:
        """Return, for each key, the set of the states that have it."""
        members: dict[_K, list[int]] = {}
        for i, state in enumerate(self.graph.states):
            for key in keys(state):
                members.setdefault(key, []).append(i)
        return {key: self._bits(indices) for key, indices in members.items()}

    def _bits(self, indices: Iterable[int]) -> int:
        digits = bytearray(len(self.graph.states) // 8 + 1)
        for i in indices:
            digits[i >> 3] |= 1 << (i & 7)
        return int.from_bytes(digits, "little")


def _union(sets: Iterable[int]) -> int:
    union = 0
    for states in sets:
        union |= states
    return union


def _indices(states: int) -> Iterator[int]:
    """Yield the members of a set of states, ascending."""
    digits = bin(states)[:1:-1]
    i = digits.find("1")
    while i >= 0:
        yield i
        i = digits.find("1", i + 1)
