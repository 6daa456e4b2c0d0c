"""The canonical wrapper Π^can: any base agent made equivariant (section "Equivariance by Construction").

The decision: the *pair* (view, offered calls) is canonicalized, with the calls as facts of additional
relations, and the base agent is queried once per canonical pair. With σ one witness and R̂ the base agent's
answer to the canonical pair, Eq. (wrapper) is

    Π^can(D, A) = ⋃ { ρ⁻¹(R̂) : ρ ∈ Lab_B(D, A) } = { α(a) : a ∈ σ⁻¹(R̂), α ∈ Aut_B(D, A) },

since ρ⁻¹ = α ∘ σ⁻¹ for some automorphism α. So the union is computed as an orbit under generators. If Offer
is equivariant and the view is the whole state, Aut_B(D, A) = Aut_B(D), as in the paper.

Verification and production use the same class: in production it gets live instances and the calls offered
there. It is thread-safe. No lock is held during a query to the base agent, and a context that is pending for
one thread is awaited by the others.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from threading import Event, Lock
from types import MappingProxyType

from stead_sym.agents.base import Agent, Counting, DecisionContext, selected_from
from stead_sym.agents.joint import Canonical, Joint
from stead_sym.deployment.tool import Call, Tool
from stead_sym.errors import AgentError, DeclarationError
from stead_sym.relational.graph import Row
from stead_sym.relational.instance import Instance
from stead_sym.relational.layout import LayoutKey, Placement
from stead_sym.relational.nauty import CANONICAL_SECONDS
from stead_sym.relational.schema import Schema, Value


@dataclass(frozen=True, eq=False, slots=True)
class _Known:
    """A canonical context with the base agent's answer, and the orbit of that in the quotient."""

    canonical: Canonical
    selected: frozenset[Call]
    orbit: frozenset[Row]
    action_rigid: bool


@dataclass(frozen=True, eq=False)
class Decision:
    """The wrapper's decision in a concrete decision context (D, A).

    ``canonical`` is σ(D, A) and ``names`` is σ⁻¹, from canonical names, which are distinct across sorts, to
    the identifiers of (D, A), which may be spelled alike; ``selected`` is the base agent's answer R̂ to it;
    ``calls`` is Π^can(D, A). ``action_rigid``: every automorphism of (D, A) fixes every call of A (Definition
    "Action-rigidity"), so that a base agent that selects one call yields one call.
    """

    canonical: DecisionContext
    selected: frozenset[Call]
    action_rigid: bool
    _known: _Known = field(repr=False)
    _placement: Placement = field(repr=False)
    _joint: Joint = field(repr=False)

    @cached_property
    def names(self) -> Mapping[Value, Value]:
        """The renaming σ⁻¹, from canonical names to the context's identifiers."""
        return dict(zip(self._known.canonical.names, self._placement.names(), strict=True))

    @cached_property
    def calls(self) -> frozenset[Call]:
        """The calls Π^can(D, A)."""
        return self._joint.calls(self._placement, self._known.orbit)


class CanonicalWrapper:
    """Π^can over a base agent, relative to B: the values whose identity may matter to the agent.

    B = ``rigid`` has the rigid values of ``schema`` and ``known``, further constants that the agent knows by
    name, with their sorts: for a `RuleAgent`, those that its policy mentions. A verdict needs B ⊆ C. An
    identifier of another sort that is spelled like one of B is renamed like any other. ``tools`` are the
    tools that may be offered. ``canonical_timeout`` is the time limit in seconds for nauty on one connected
    component. Answers are cached: a wrapper queries its base agent once per canonical context in its
    lifetime.
    """

    def __init__(
        self,
        agent: Agent,
        schema: Schema,
        tools: Sequence[Tool],
        known: Mapping[Value, str] = MappingProxyType({}),
        *,
        canonical_timeout: float = CANONICAL_SECONDS,
    ) -> None:
        if not isinstance(known, Mapping):
            raise TypeError("the values that an agent knows come with their sorts; give a mapping to these")
        for value, sort in known.items():
            own = schema.listed.get(value, (schema.sort(sort).name,))
            if sort not in own:
                raise DeclarationError(f"the known value {value} is of sort {own[0]}, not {sort}; give that")
        self.agent = agent
        self.schema = schema
        self.tools = tuple(tools)
        self.known = known
        self.rigid = schema.rigid | known.keys()
        self.canonical_timeout = canonical_timeout
        self._joint = Joint(schema, tools, known, canonical_timeout)
        self._lock = Lock()
        self._decided: dict[LayoutKey, _Known] = {}
        self._asking: dict[LayoutKey, Event] = {}
        self._met: dict[LayoutKey, _Known] = {}
        self._asked = _Asked()

    def again(self) -> CanonicalWrapper:
        """Return the wrapper with the same cache and new counts, for another run."""
        other = copy(self)
        other._met, other._asked = {}, _Asked()
        return other

    def meeting(self, other: CanonicalWrapper) -> CanonicalWrapper:
        """Return the wrapper with the same cache, which met the contexts of both, with their queries."""
        both = self.again()
        both._met = {**self._met, **other._met}
        both._asked.queries = self.queries + other.queries
        return both

    def without_memory(self) -> CanonicalWrapper:
        """Return the same wrapper with a memory of its own, for questions that do not count."""
        other = self.again()
        other._lock, other._decided, other._asking = Lock(), {}, {}
        return other

    def from_memory(self) -> CanonicalWrapper:
        """Return the same wrapper with the same memory, whose base agent is never queried.

        A context that is not in the memory raises `NotAsked`.
        """
        other = self.again()
        other.agent = _Silent(self.agent.name)
        return other

    @property
    def told(self) -> frozenset[str]:
        """The relations of the past in its agent's view."""
        return frozenset(relation.name for relation in self.schema.relations if relation.tells_history)

    @property
    def contexts(self) -> int:
        """The number of distinct canonical contexts so far."""
        return len(self._met)

    @property
    def met_action_rigid(self) -> bool:
        """True if every context so far is action-rigid (Definition "Action-rigidity")."""
        return all(known.action_rigid for known in self._met.values())

    @property
    def is_among_alike(self) -> bool:
        """True if several symmetric calls may happen in some context so far.

        Either the agent selects all of them or the wrapper adds the rest of their orbit. In production one of
        them is made.
        """
        return any(len(orbit) > 1 for decision in self.decisions for orbit in self.orbits(*decision))

    @property
    def queries(self) -> int:
        """The number of answers of the base agent, without those of its store, if it has one."""
        with self._lock:
            return self._asked.queries

    @property
    def decisions(self) -> tuple[tuple[DecisionContext, frozenset[Call]], ...]:
        """The canonical contexts with the base agent's answers, in the order of their first occurrences."""
        with self._lock:
            return tuple((known.canonical.context, known.selected) for known in self._met.values())

    def calls(self, view: Instance, offered: Collection[Call]) -> frozenset[Call]:
        """Return Π^can(D, A) for one context: the calls that the deployment may make there."""
        return self.decide([DecisionContext(view, frozenset(offered))])[0].calls

    def decide(self, contexts: Sequence[DecisionContext]) -> list[Decision]:
        """Return Π^can at each context; new ones are passed to the base agent in one `Agent.select`.

        Raise `AgentError` for an answer that is empty or not offered, `DeclarationError` for a context that
        does not fit the schema or the tools, `InputError` for one that offers nothing, and `CanonicalLimit`
        for one whose canonical form is not found in time. Exceptions of the base agent are propagated; then
        nothing of the batch is kept.
        """
        placed = [self._joint.placement(context) for context in contexts]
        keys: dict[LayoutKey, Placement] = {}
        for placement in placed:
            keys.setdefault(placement.layout.key, placement)
        self._settle(keys)
        found = []
        with self._lock:
            for placement in placed:
                known = self._decided[placement.layout.key]
                self._met.setdefault(placement.layout.key, known)
                found.append(known)
        return [
            Decision(
                known.canonical.context, known.selected, known.action_rigid, known, placement, self._joint
            )
            for known, placement in zip(found, placed, strict=True)
        ]

    def orbit(self, context: DecisionContext, calls: Collection[Call]) -> frozenset[Call]:
        """Return { α(a) : a in ``calls``, α ∈ Aut_B(D, A) }, without a query.

        These are the calls that the deployment may make in a canonical context in which its base agent
        selects ``calls``.
        """
        return self._joint.calls(*self._joint.placed_orbit(context, calls))

    def orbits(self, context: DecisionContext, calls: Collection[Call]) -> tuple[frozenset[Call], ...]:
        """Return the disjoint orbits within `orbit`; calls of one orbit are symmetric."""
        generators = self.automorphisms(context)
        left, found = set(calls), list[frozenset[Call]]()
        while left:
            orbit, new = set[Call](), {min(left)}
            while new:
                orbit |= new
                new = {call.rename(generator) for call in new for generator in generators} - orbit
            found.append(frozenset(orbit))
            left -= orbit
        return tuple(found)

    def automorphisms(self, context: DecisionContext) -> tuple[Mapping[Value, Value], ...]:
        """Return generators of Aut_B(D, A), each given by the values that it moves, without a query.

        No two values of the context may be spelled alike.
        """
        return self._joint.automorphisms(context)

    def _settle(self, placed: Mapping[LayoutKey, Placement]) -> None:
        """Ensure an answer to every context.

        Queries that are pending in another thread are awaited; if these fail, this thread sends them again.
        """
        while True:
            event = Event()
            with self._lock:
                missing = [key for key in placed if key not in self._decided]
                mine = [key for key in missing if key not in self._asking]
                others = [self._asking[key] for key in missing if key in self._asking]
                self._asking.update(dict.fromkeys(mine, event))
            if mine:
                try:
                    self._ask({key: placed[key] for key in mine})
                finally:
                    with self._lock:
                        for key in mine:
                            del self._asking[key]
                    event.set()
            for other in others:
                other.wait()
            if not missing:
                return

    def _ask(self, placed: Mapping[LayoutKey, Placement]) -> None:
        canonical = [self._joint.canonical(placement.layout) for placement in placed.values()]
        contexts = [one.context for one in canonical]
        with self._lock:
            self._asked.begin(self.agent)
        answered = 0
        try:
            answers = self.agent.select(contexts)
            if not isinstance(answers, Sequence):
                raise AgentError(
                    f"agent {self.agent.name} answers {answers!r} to a list of contexts;"
                    " return one answer for each"
                )
            if len(answers) != len(contexts):
                raise AgentError(
                    f"agent {self.agent.name} gave {len(answers)} answers for {len(contexts)} contexts; "
                    "return one per context, in their order"
                )
            selected = [selected_from(self.agent, *pair) for pair in zip(contexts, answers, strict=True)]
            answered = len(selected)
        finally:
            with self._lock:
                self._asked.end(self.agent, answered)
        found = {}
        for one, calls, (key, placement) in zip(canonical, selected, placed.items(), strict=True):
            layout = placement.layout
            orbit = self._joint.orbit(one, layout, calls)
            found[key] = _Known(one, calls, orbit, self._joint.fixed(one, layout))
        with self._lock:
            self._decided.update(found)


class NotAsked(Exception):
    """An error: a silent base agent has no cached answer for a context.

    Callers that only want the cache catch it; it is not visible to users.
    """


@dataclass(frozen=True, slots=True)
class _Silent:
    """A base agent that answers nothing."""

    name: str

    def select(self, contexts: Sequence[DecisionContext]) -> Sequence[Collection[Call]]:
        """Raise `NotAsked`."""
        raise NotAsked(f"{self.name} was not asked about {contexts[0]}")


@dataclass(slots=True)
class _Asked:
    """A count of the base agent's answers.

    For an agent that counts them itself it is the difference, from the first query of several concurrent
    threads to the last answer.
    """

    queries: int = 0
    _open: int = 0
    _before: int = 0

    def begin(self, agent: Agent) -> None:
        """Note the start of a query."""
        if isinstance(agent, Counting):
            if not self._open:
                self._before = agent.queries
            self._open += 1

    def end(self, agent: Agent, answered: int) -> None:
        """Note the end of a query with this number of answers."""
        if not isinstance(agent, Counting):
            self.queries += answered
            return
        self._open -= 1
        if not self._open:
            self.queries += agent.queries - self._before


@dataclass(frozen=True, slots=True)
class WrappedAgent:
    """A wrapper as an agent: it selects Π^can(D, A), for instance in an audit."""

    wrapper: CanonicalWrapper

    @property
    def name(self) -> str:
        """The name of the agent, marked as wrapped."""
        return f"{self.wrapper.agent.name}, wrapped"

    def select(self, contexts: Sequence[DecisionContext]) -> list[frozenset[Call]]:
        """Return the calls of `CanonicalWrapper.decide`."""
        return [decision.calls for decision in self.wrapper.decide(contexts)]
