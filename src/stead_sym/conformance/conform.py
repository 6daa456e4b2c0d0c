"""Compare a deployment with a running system: every call in every state of the model, on the real tools.

Of a state D and a call ω(u), the system agrees with the deployment if, loaded with D, it ends in some D' of
τ(D, ω(u)), up to a renaming of values that are in neither D nor u nor C; or, if the deployment does not offer
the call, if it ends in D. States are those reachable under any agent, one for each isomorphism class.

A tool of the system that lets the order of identifiers decide (the smallest id, say) is seen with one order
only.

One decision: a call that the deployment does not offer is made as well, also with an identifier that is not
there. A guard that the system lacks is found by the call that it should refuse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Literal, TypeAlias

from stead_sym.conformance.binding import Binding
from stead_sym.conformance.system import CannotLoad, System, Unlisted, opened
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.restriction import Restriction
from stead_sym.deployment.semantics import calls_of, databases
from stead_sym.deployment.tool import Call, Tool
from stead_sym.engines.explicit.engine import ExplicitEngine
from stead_sym.errors import InputError, Undecided
from stead_sym.relational.canonical import canonical_form, isomorphic
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value
from stead_sym.support.progress import Progress
from stead_sym.verification.verify import verify

MAX_STATES = 2_000
"""So many states are loaded by default."""
MOST_EXPLORED = 100_000
"""So many states are explored at most."""
MOST_DIFFERENCES = 1
"""So many differences are kept of each tool and kind, the smallest first."""

Kind: TypeAlias = Literal["refused", "not refused", "other result", "value not listed"]
"""How a system differs: it refuses a call that the deployment offers, or changes something though the
deployment does not offer the call; it ends in another state; it writes a value that the file lacks."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A call on which deployment and system differ.

    ``expected`` are the states that the deployment leads to, only ``before`` if it does not offer the call;
    ``found`` is where the system ends, None if that cannot be read. ``said`` is what the system says.
    """

    kind: Kind
    call: Call
    before: Instance
    expected: tuple[Instance, ...]
    found: Instance | None
    said: str | None = None


@dataclass(frozen=True, slots=True)
class Exercised:
    """How often a tool was called: where the deployment offers the call, and where it does not.

    ``untaken`` are the numbers of the alternatives, from 1, that no call of the system ended in.
    """

    offered: int
    not_offered: int
    untaken: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Conformance:
    """What a comparison found.

    ``unloaded`` are the reasons that the database gave for refusing states, each with the first such state.
    ``unbound`` are the tools and events that the binding does not run. ``complete`` says that every
    reachable state was loaded, up to isomorphism.
    """

    states: int
    tools: Mapping[str, Exercised]
    differences: tuple[Difference, ...]
    unloaded: Mapping[str, Instance]
    unbound: tuple[str, ...]
    complete: bool

    @property
    def calls(self) -> int:
        """The number of calls that were made."""
        return sum(one.offered + one.not_offered for one in self.tools.values())

    @property
    def agrees(self) -> bool:
        """Return True if no difference was found, and every state could be loaded."""
        return not self.differences and not self.unloaded


def conform(
    deployment: Deployment,
    binding: Binding,
    *,
    max_states: int = MAX_STATES,
    progress: Progress | None = None,
) -> Conformance:
    """Run the tools of a system on the reachable states of a deployment, smallest first.

    Raise `InputError` if the binding does not fit, and `Undecided` if more than `MOST_EXPLORED` states are
    reachable.
    """
    with opened(deployment, binding) as system:
        explored = _explored(deployment, progress)
        deployment, restriction = explored.graph.deployment, explored.restriction
        comparison = _Comparison(deployment, binding, system, restriction, progress)
        return comparison.of(_states(explored), max_states)


def _explored(deployment: Deployment, progress: Progress | None) -> ExplicitEngine:
    """Return the explicit engine over the states that are reachable under any agent."""
    result = verify(
        deployment, "any", [], engine="explicit", findings=False, max_states=MOST_EXPLORED, progress=progress
    )
    if result.broken is not None or not isinstance(result.engine, ExplicitEngine):
        raise Undecided("the deployment breaks its definition or a claim; verify it first")
    if result.deployment.history:
        raise InputError(
            "the deployment reads the past, which no database can be loaded with; keep it in a relation"
        )
    return result.engine


def _states(engine: ExplicitEngine) -> list[Instance]:
    """Return the reachable states up to isomorphism that fixes C, smallest first."""
    constants = frozenset[Value]().union(*engine.graph.deployment.constants.values())
    classes = {canonical_form(state, constants).instance: state for state in engine.graph.states}
    return sorted(classes.values(), key=lambda state: (len(state), sorted(state)))


@dataclass
class _Comparison:
    """A comparison while it runs."""

    deployment: Deployment
    binding: Binding
    system: System
    restriction: Restriction
    progress: Progress | None

    def of(self, states: list[Instance], max_states: int) -> Conformance:
        """Return what the calls of these states show."""
        named = [tool for tool in self.deployment.tools_and_events if not tool.stays]
        tools = [tool for tool in named if tool.name in self.binding.tools]
        differences: list[Difference] = []
        unloaded: dict[str, Instance] = {}
        offered, not_offered = Counter[str](), Counter[str]()
        taken: dict[str, set[int]] = {tool.name: set() for tool in tools}
        kinds = Counter[tuple[str, str]]()
        for number, state in enumerate(states[:max_states]):
            if self.progress is not None:
                self.progress("conforming", states=number, calls=offered.total() + not_offered.total())
            try:
                self._load(state)
            except CannotLoad as error:
                unloaded.setdefault(str(error), state)
                continue
            for tool in tools:
                allowed = calls_of(self.deployment, tool, state)
                for call in self._calls(tool, state):
                    (offered if call in allowed else not_offered)[tool.name] += 1
                    found = self._compare(tool, call, state, call in allowed)
                    if isinstance(found, int):
                        taken[tool.name].add(found)
                    elif found is not None:
                        kinds[tool.name, found.kind] += 1
                        if kinds[tool.name, found.kind] <= MOST_DIFFERENCES:
                            differences.append(found)
        exercised = {
            tool.name: Exercised(
                offered[tool.name],
                not_offered[tool.name],
                tuple(n for n in range(1, len(tool.effects) + 1) if n - 1 not in taken[tool.name]),
            )
            for tool in tools
        }
        unbound = tuple(tool.name for tool in named if tool not in tools)
        complete = len(states) <= max_states
        return Conformance(
            min(len(states), max_states), exercised, tuple(differences), unloaded, unbound, complete
        )

    def _load(self, state: Instance) -> None:
        """Load a state; raise `InputError` if something else is read back."""
        self.system.load(state)
        try:
            there = self.system.state()
        except Unlisted as error:
            raise InputError(f"what was loaded cannot be read back: {error}; see to the binding") from None
        if there != state:
            lost, more = sorted(state.facts - there.facts), sorted(there.facts - state.facts)
            which = f"{lost[0]} is lost" if lost else f"{more[0]} is more"
            raise InputError(f"what is read back is not what was loaded: {which}; see to the binding")

    def _calls(self, tool: Tool, state: Instance) -> Iterator[Call]:
        """Yield all calls of a tool over the values of a state, and one unknown identifier of each sort."""
        ranges: list[list[Value]] = []
        for param in tool.params:
            listed = self.deployment.schema.sort(param.sort).values
            unknown = f"{param.sort}_unknown"
            ranges.append(
                [*sorted(state.active_domain[param.sort]), unknown] if listed is None else list(listed)
            )
        for args in product(*ranges):
            yield Call(tool.name, args)

    def _compare(self, tool: Tool, call: Call, state: Instance, allowed: bool) -> Difference | int | None:
        """Make a call; return a difference, or the number of the alternative that was taken, or None."""
        if allowed:
            expected = {
                after: number
                for number in reversed(range(len(tool.effects)))
                for after in databases(self.deployment, call, state, self.restriction, number)
            }
        else:
            expected = {state: -1}
        said = self.system.run(call)
        try:
            found = self.system.state()
        except Unlisted as error:
            self._load(state)
            return Difference("value not listed", call, state, tuple(expected), None, str(error))
        if found != state:
            self._load(state)
        if found in expected:
            number = expected[found]
        else:
            values = (*self.deployment.constants.values(), *state.active_domain.values())
            fixed = frozenset(call.args).union(*values)
            number = next((n for after, n in expected.items() if isomorphic(found, after, fixed)), -2)
        if allowed and said is not None and found == state and number < 0:
            return Difference("refused", call, state, tuple(expected), found, said)
        if number == -2:
            kind: Kind = "other result" if allowed else "not refused"
            return Difference(kind, call, state, tuple(expected), found, said)
        return number if number >= 0 else None
