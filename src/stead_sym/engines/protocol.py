"""The protocol of an engine after exploration; verdicts and findings rest on it.

Both engines implement it, and neither depends on the other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.agents.base import DecisionContext
from stead_sym.agents.rules import RulesUsed
from stead_sym.deployment.parts import FairAction, Rule
from stead_sym.deployment.restriction import Restriction
from stead_sym.deployment.trace import Step, Trace
from stead_sym.evidence.tree import Evidence
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value
from stead_sym.support.html import Displayed, paragraph
from stead_sym.support.printable import plural


@dataclass(frozen=True, slots=True)
class Quotient:
    """The quotient of the reachable states by a partition into groups.

    ``sizes[i]`` is the number of states in group i, ``initial`` are the groups with an initial state,
    ``moves`` the triples (i, ω, j) such that a step by ω leads from some state of i to one of j.
    """

    sizes: tuple[int, ...]
    initial: frozenset[int]
    moves: frozenset[tuple[int, str, int]]


SHOWN_STATES = 3
"""The number of members of a set of states that a notebook displays."""


class Shown(Displayed):
    """A mixin that displays a set of states in a notebook: its size and some members."""

    __slots__ = ()

    def __str__(self: StateSet) -> str:
        """Return the number of states as text."""
        return plural(self.count, "state")

    def _repr_html_(self: StateSet) -> str:
        some = self.sample(SHOWN_STATES)
        more = f", {len(some)} of them:" if self.count > len(some) else ":" if some else ""
        return paragraph(f"{self}{more}") + "".join(state._repr_html_() for state in some)


class StateSet(Protocol):
    """A set of reachable states: emptiness, exact size, membership, and some members."""

    def __bool__(self) -> bool:
        """Return True if the set is not empty."""
        ...

    @property
    def count(self) -> int:
        """The number of states."""
        ...

    def __contains__(self, state: Instance, /) -> bool:
        """Return True if the state is a member."""
        ...

    def sample(self, number: int) -> tuple[Instance, ...]:
        """Return up to ``number`` different members."""
        ...


@dataclass(frozen=True, slots=True)
class Hidden:
    """The reachable states from which no fair run starts: their number, and a shortest ``run`` to one.

    The run may continue arbitrarily. A run that enters such a state is no fair run, so none of its steps
    counts.
    """

    count: int
    run: Trace


Reaching: TypeAlias = Callable[[fo.Formula], Trace | None]
"""A function that returns a run to a newly reached state that satisfies a first-order sentence, or None."""

Watch: TypeAlias = Callable[[Reaching], None]
"""A callback that an exploration calls each time it has reached more states."""


@dataclass(frozen=True, slots=True)
class Choosers:
    """The agents whose choice among the calls that they may make is left open.

    A ``free`` agent makes at least one of these calls. A ``tied`` agent makes at least one of each orbit, the
    calls that automorphisms of its context map to each other. All others make every call that they may make.
    """

    free: frozenset[str] = frozenset()
    tied: frozenset[str] = frozenset()


class Constrained(Protocol):
    """The explored states with other fairness constraints."""

    @property
    def is_fair_everywhere(self) -> bool:
        """True if a run that meets the constraints starts in every reachable state.

        In any other state path quantifiers would range over the empty set.
        """
        ...

    @property
    def hidden(self) -> Hidden | None:
        """The states from which no run starts that meets the constraints; None if there are none."""
        ...

    @property
    def completed(self) -> Constrained:
        """The same states with F_k ∨ H for each constraint F_k, where H are the hidden states.

        F_k is a first-order sentence. H is closed under steps, so the additional runs are those that enter H.
        From every state starts a run that counts: every finite run is a prefix of one.
        """
        ...

    def holds(self, formula: fo.Formula) -> bool:
        """Return True if the sentence holds initially, over the runs that meet the constraints.

        It must hold at every initial state.
        """
        ...

    def evidence(self, formula: fo.Formula, holds: bool) -> Evidence:
        """Return evidence that the sentence holds, or fails, at an initial state.

        It is an initial state where a run starts that meets the constraints, if there is one.
        """
        ...


class Engine(Protocol):
    """An engine after exploration; formulas are resolved and expanded."""

    name: str

    @property
    def initial(self) -> int:
        """The number of initial states."""
        ...

    @property
    def states(self) -> int:
        """The number of reachable states."""
        ...

    @property
    def databases(self) -> int:
        """The number of databases of the reachable states, without their record of the past."""
        ...

    @property
    def transitions(self) -> int:
        """The number of pairs D → D' of reachable states."""
        ...

    @property
    def most_active(self) -> Mapping[str, int]:
        """Per unbounded sort, the maximum number of active values outside C in a reachable state."""
        ...

    @property
    def open_leaps(self) -> Mapping[tuple[str, int], str]:
        """The `ensure` alternatives for which it is undecided if they exceed a bound, each with the reason.

        They are given by tool and number, and are taken in a reachable state (`deployment.leaps`).
        """
        ...

    @property
    def statistics(self) -> Mapping[str, int]:
        """Counts that describe the cost of the verification."""
        ...

    def meets_contexts(self, most: int | None) -> bool:
        """Return True if the wrappers of all agents have decided every context of the states in R.

        Contexts that needed no query are enumerated, unless that takes more than ``most`` bits: the number of
        bits of a state, for each context and for each place in the data that may give one. None is no limit.
        """
        ...

    def is_among_alike(self, agent: str) -> bool:
        """Return True if several symmetric calls may happen in some state of R, for an agent with a wrapper.

        See `CanonicalWrapper.is_among_alike`. True if it is not decided within a few contexts.
        """
        ...

    def rules_used(self, agent: str, rules: Sequence[Rule] | None = None) -> RulesUsed:
        """Return the rules of an agent's policy that match, and those that decide, in some state of R.

        With ``rules``: which of these would in their place; they may read no more than those of the policy.
        """
        ...

    @property
    def restriction(self) -> Restriction:
        """The restriction that was explored."""
        ...

    def holds(self, formula: fo.Formula) -> bool:
        """Return True if the sentence holds at every initial state."""
        ...

    def whatever_chosen(self, formula: fo.Formula, choosers: Choosers, *, holds: bool) -> bool:
        """Return True if the sentence is shown to hold, or to fail, for all choices of the ``choosers``.

        To hold is to hold at every initial state, to fail is to fail at one. The choosers choose in each
        state and each time anew. Every finite run must be a prefix of a fair one for all choices too.
        Constraints on actions are not heeded: neither are they met, nor is a run left out.

        A *family* of calls in a state is a set of which a chooser makes at least one. Two labellings bound
        the truth of a formula of the kernel over all choices:

            sure ⟦f⟧      only pairs (D, σ) at which f is true for all choices
            possible ⟦f⟧  all pairs (D, σ) at which f is true for some choice

        Each is CTL with a preimage of its own, and negation exchanges them:

            pre_possible(X) = { D : D → D' for some D' ∈ X }
            pre_sure(X)     = { D : each call of some family leads from D to some D' ∈ X, or a step does
                                    that nobody chooses }
            sure ⟦¬f⟧       = the complement of possible ⟦f⟧, and vice versa

        Law. Let f be true at D for all choices if it is true at the root of each tree of runs from D that a
        choice, which may depend on the whole past, leaves. Then sure ⟦f⟧ has such pairs only, and possible
        ⟦f⟧ has each pair where f is true at the root of one of these trees.

        Proof. By induction on f. Negation exchanges the claims; ∧, ∃ and `atleast` are monotone, and f ↔ g is
        read as (f ∧ g) ∨ (¬f ∧ ¬g). Each node of a tree is the root of one, so the claim about the body of
        EX, E[· U ·] and EG is one about each node; and runs of a tree are runs. For the first claim, at a
        node in pre_sure(X) a call that is left of some family has an outcome in X. So E[f U g] has a run, by
        induction on the step of the fixpoint at which D is added; EG f has one that stays in the greatest
        fixpoint, and visits each fairness constraint infinitely often. ∎

        The converse fails if two path quantifiers require different choices, as in EF P ∨ EF Q.
        """
        ...

    def under(
        self, fair: Sequence[fo.Formula], actions: Sequence[FairAction], *, idle: bool = False
    ) -> Constrained:
        """Return the same states with other fairness constraints.

        ``fair``, first-order sentences, and ``actions`` replace the deployment's constraints. ``idle``
        restricts to the states that are reachable if agents do nothing. Then agents only make calls of which
        every outcome is the state itself; if neither such a call is offered nor an event enabled, they act as
        before.
        """
        ...

    @property
    def hidden(self) -> Hidden | None:
        """The states that the `fair` lines hide; None if a fair run starts in every reachable state."""
        ...

    @property
    def completed(self) -> Constrained:
        """The states under the deployment's constraints, completed (`Constrained.completed`)."""
        ...

    def satisfying(self, formula: fo.Formula, assignment: Mapping[str, Value]) -> StateSet:
        """Return { D ∈ R : (D, σ) ⊨ f }."""
        ...

    def is_called(self, tool: str, condition: fo.Formula, *, selected: bool) -> bool:
        """Return True if some call ω(u) with (D, u) ⊨ f is offered in some D ∈ R.

        With ``selected`` an agent must be able to make it there. An event is offered and selected wherever it
        is enabled. ``condition`` is first-order over the parameters of the tool.
        """
        ...

    def enabled_calls(self, tool: str, guard: fo.Formula) -> int:
        """Return |{ (D, ω(u)) : D ∈ R, (D, u) ⊨ guard }|, the number of enabled calls under another guard.

        ``guard`` is a first-order formula over the tool's parameters, which have the same domains as in an
        offer. On the domain of representatives the states are those with representatives.
        """
        ...

    def starts(self) -> Iterator[Instance]:
        """Yield the initial states."""
        ...

    def steps(self, state: Instance) -> Iterator[Step]:
        """Yield one step to each D' with D → D', for a reachable state D."""
        ...

    def quotient(self, agent: str, groups: Sequence[Collection[DecisionContext]]) -> Quotient:
        """Return the quotient of the reachable states by the contexts of an agent.

        A state is in group i if the agent's canonical context there is in ``groups[i]``, and in an additional
        last group if the agent is offered nothing. A step by ω is one by a selected call of ω, whichever
        agent selects it, or by the event ω.

        ``groups`` are a partition of the canonical contexts that the agent was shown.
        """
        ...

    def evidence(self, formula: fo.Formula, holds: bool) -> Evidence:
        """Return evidence that the sentence holds, or fails, at an initial state.

        It is an initial state where a fair run starts, if there is one.
        """
        ...
