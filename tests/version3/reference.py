"""The meaning of a deployment of version 3, by enumeration of states, runs and assignments.

Written from the language's reference and from nothing else of the package, so that a difference to an engine
is a mistake of one of the two. A *state* is a database, the last step as far as some formula that counts asks
for it, and the truth of each ``since`` and ``previously`` for all assignments of active values and constants.
States are those of the literal domain of the theorem: 2·b_S + |C ∩ U_S| + var_S values of each unbounded sort
S, and as many more as one step that a `did` names may hold. Instances have to be tiny.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, product

from branching import Graph
from language3 import (
    Atom,
    Binary,
    Binder,
    Deployment,
    Did,
    Formula,
    Past,
    Since,
    Spec,
    Value,
    Wild,
    below,
    parts,
)
from steps import Steps
from truth import Call, Datum, Facts, State, expanded


class TooLarge(Exception):
    """More states or initial databases than the caller wants to wait for."""


class NothingFair(Exception):
    """No fair run starts in some initial state, so that verdicts may be unknown."""


@dataclass(frozen=True)
class Broken:
    """An error, and after how many steps the nearest run comes to it."""

    kind: str
    length: int


@dataclass(frozen=True)
class Answer:
    """``broken`` is empty, or what the runs of the deployment break: then there are no verdicts."""

    domain: Mapping[str, int]
    broken: frozenset[Broken]
    initial: int
    states: int
    transitions: int
    verdicts: Mapping[str, bool]


class Reference(Steps):
    """A deployment with its agents (each ``any`` or a policy), the gates given and what is asked."""

    def __init__(
        self, d: Deployment, agents: Mapping[str, str], gates: tuple[str, ...] = (), limit: int = 3000
    ) -> None:
        self.d, self.agents, self.gates, self.limit = expanded(d, d), agents, gates, limit
        self.specs = {spec.name: spec.formula for spec in self.d.specs if self.is_asked(spec)}
        pasts: list[Formula] = []
        dids: list[Did] = []
        for place in self.relevant():
            for g in reversed([*parts(place)]):  # what is inside comes first
                if isinstance(g, Did):
                    dids.append(g)
                elif isinstance(g, Since | Past) and g not in pasts:
                    pasts.append(g)
        self.named = {did.tool for did in dids}
        self.named_by = {did.tool for did in dids if did.by is not None}
        super().__init__(self.d, pasts, agents, gates, self.sizes())

    # What is asked, what counts, and the domain.

    def is_asked(self, spec: Spec) -> bool:
        def fits(name: str) -> bool:
            if name == "any":
                return all(kind == "any" for kind in self.agents.values())
            if name in self.agents:
                return self.agents[name] != "any"
            return name in self.gates or name in self.agents.values()

        return all(fits(name) for name in spec.only_for)

    def relevant(self) -> Iterator[object]:
        """Return where formulas count for what is kept of steps and of the past."""
        yield from chain(self.specs.values(), self.d.fair, self.d.terminal, self.d.tools)
        for agent in self.d.agents:
            yield agent.views
            yield from (rules for name, rules in agent.policies if self.agents[agent.name] == name)
        yield from (rules for name, rules in self.d.gates if name in self.gates)

    def sizes(self) -> dict[str, tuple[Datum, ...]]:
        """U_f: finite sorts in full, of each other sort as many values as the theorem asks for."""
        bounds, found = dict(self.d.bounds), {}
        for sort in self.d.sorts:
            constants = self.d.constants(sort.name)
            found[sort.name] = tuple(constants)
            if sort.values is None:
                more = 2 * bounds.get(sort.name, 0) + max(
                    map(self.variables(sort.name), self.specs), default=0
                )
                named = (self.d.tool[name].params for name in self.named)
                more += max((sum(p.sort == sort.name for p in params) for params in named), default=0)
                found[sort.name] += tuple(f"{sort.name}{i}" for i in range(1, more + 1))
        return found

    def variables(self, sort: str) -> Callable[[str], int]:
        """var_S: the variables of that sort in a specification, and each ``_`` of its atoms, those in the
        arguments of `did` included.

        ``f <-> g`` is two implications, as in `tests/conformance2`: each ``_`` in it counts twice.
        """

        def blanks(node: object) -> int:
            found = 0
            if isinstance(node, Atom):
                columns = zip(node.args, self.d.relation[node.relation].columns, strict=True)
                found += sum(isinstance(term, Wild) and column.sort == sort for term, column in columns)
            found += sum(map(blanks, below(node)))
            return 2 * found if isinstance(node, Binary) and node.op == "<->" else found

        def of(spec: str) -> int:
            binders = {node.var for node in parts(self.specs[spec]) if isinstance(node, Binder)}
            return sum(var.sort == sort for var in binders) + blanks(self.specs[spec])

        return of

    # Runs.

    def initial_databases(self) -> Iterator[Facts]:
        given = frozenset(
            (fact.relation, tuple(term.value for term in fact.args if isinstance(term, Value)))
            for fact in self.d.init
        )
        if not self.d.initially:
            yield given
            return
        possible = [
            (name, row)
            for name in self.d.initially
            for row in product(*(self.domain[column.sort] for column in self.d.relation[name].columns))
            if (name, row) not in given
        ]
        if len(possible) > 12:
            raise TooLarge
        for chosen in product([False, True], repeat=len(possible)):
            facts = given | {fact for fact, there in zip(possible, chosen, strict=True) if there}
            if self.broken(facts) is None and self.holds(
                self.d.initially_where, self.reading(State(facts)), {}
            ):
                yield facts

    def kept(self, call: Call, agent: str | None) -> tuple[str, tuple[Datum, ...], str | None] | None:
        """Return what is kept of a step: nothing if no formula names its tool; the agent if one asks for
        it."""
        if call[0] not in self.named:
            return None
        return (*call, agent if call[0] in self.named_by else None)

    def steps(self, state: State) -> tuple[set[State], set[str], set[str]]:
        """The successors; what is broken in the state itself; what is broken by a step from it."""
        at = self.reading(state)
        taken: list[tuple[Call, str | None]] = []
        offers: list[Call] = []
        here: set[str] = set()
        for agent in self.d.agents:
            calls = self.offered(agent, at)
            offers += calls
            chosen = self.selected(agent, calls, at) if calls else []
            if calls and not chosen:
                here.add("selects nothing")
            taken += [(call, agent.name) for call in chosen]
        events = [call for tool in self.d.tools if tool.event for call in self.calls(tool, at)]
        taken += [(call, None) for call in events]
        if not offers and not events:
            if any(self.holds(f, at, {}) for f in self.d.terminal):
                return {state}, here, set()
            return set(), {*here, "nothing offered"}, set()
        here |= {
            f"{call[0]} has an effect"
            for call in (*offers, *events)
            if not any(True for _ in self.outcomes(call, at))
        }
        after: set[State] = set()
        wrong: set[str] = set()
        for call, by in taken:
            for facts in self.outcomes(call, at):
                if facts is None:
                    wrong.add("out of range")
                elif (claim := self.broken(facts)) is not None:
                    wrong.add(claim)
                elif all(
                    value in self.domain[column.sort]
                    for relation, row in facts
                    for column, value in zip(self.d.relation[relation].columns, row, strict=True)
                ):
                    after.add(self.with_past(State(facts, self.kept(call, by)), state))
        return after, here, wrong

    def answer(self) -> Answer:
        broken: dict[str, int] = {}
        level: list[State] = []
        for facts in self.initial_databases():
            claim = self.broken(facts)
            if claim is None:
                level.append(self.with_past(State(facts), None))
            else:
                broken.setdefault(claim, 0)
        initial = [*level]
        after: dict[State, set[State]] = {}
        length = 0
        while level:
            reached: list[State] = []
            for state in level:
                if state in after:
                    continue
                after[state], here, wrong = self.steps(state)
                for claim in here:
                    broken.setdefault(claim, length)
                for claim in wrong:
                    broken[claim] = min(broken.get(claim, length + 1), length + 1)
                reached += after[state]
                if len(after) > self.limit:
                    raise TooLarge
            level, length = reached, length + 1
        verdicts = {} if broken else self.verdicts(after, set(initial))
        return Answer(
            {sort: len(values) for sort, values in self.domain.items()},
            frozenset(Broken(*item) for item in broken.items()),
            len(set(initial)),
            len(after),
            sum(map(len, after.values())),
            verdicts,
        )

    def verdicts(self, after: Mapping[State, set[State]], initial: set[State]) -> dict[str, bool]:
        """Return what holds in all initial states, in both readings of the `fair` lines.

        The first is on fair runs, the second on these and on those that come to where no fair run starts.
        """
        plain = Graph(self, self.domain, after)
        fair = tuple(plain.satisfying(f, {}) for f in self.d.fair)
        first = Graph(self, self.domain, after, fair)
        lost = first.all & ~first.starts
        where = sum(1 << plain.number[state] for state in initial)
        if where & lost:
            raise NothingFair
        graphs = (first, Graph(self, self.domain, after, tuple(f | lost for f in fair)))
        return {
            name: not any(where & ~graph.satisfying(f, {}) for graph in graphs)
            for name, f in self.specs.items()
        }
