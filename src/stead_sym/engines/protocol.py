"""What an engine answers once it has explored: the protocol that verdicts and findings rest on.

Both engines implement it, and neither knows of the other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from stead_sym.agents.base import DecisionContext
from stead_sym.agents.rules import RulesUsed
from stead_sym.deployment.parts import FairAction, Rule
from stead_sym.deployment.restriction import Restriction
from stead_sym.deployment.trace import Step, Trace
from stead_sym.evidence.tree import Evidence
from stead_sym.logic.syntax import Formula
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value
from stead_sym.support.html import Displayed, paragraph


@dataclass(frozen=True, slots=True)
class Quotient:
    """The reachable states in groups: ``sizes[i]`` states in group i, ``initial`` the groups with an initial
    state, ``moves`` the triples (i, ω, j) for which a step by ω leads from some state of i to one of j."""

    sizes: tuple[int, ...]
    initial: frozenset[int]
    moves: frozenset[tuple[int, str, int]]


SHOWN_STATES = 3
"""So many members of a set of states are shown in a notebook."""


class Shown(Displayed):
    """How a notebook shows a set of states: how many, and some of them."""

    __slots__ = ()

    def __str__(self: StateSet) -> str:
        return f"{self.count:,} state{'s' * (self.count != 1)}"

    def _repr_html_(self: StateSet) -> str:
        some = self.sample(SHOWN_STATES)
        more = f", {len(some)} of them:" if self.count > len(some) else ":" if some else ""
        return paragraph(f"{self}{more}") + "".join(state._repr_html_() for state in some)


class StateSet(Protocol):
    """A set of reachable states: whether it has any, its exact size, membership, and some members."""

    def __bool__(self) -> bool: ...
    @property
    def count(self) -> int: ...
    def __contains__(self, state: Instance, /) -> bool: ...
    def sample(self, number: int) -> tuple[Instance, ...]: ...


@dataclass(frozen=True, slots=True)
class Hidden:
    """The reachable states from which no fair run starts: how many, and a shortest ``run`` to one of them,
    whatever goes on from there. A run that enters one is on no fair run, so that nothing it does counts."""

    count: int
    run: Trace


Reaching: TypeAlias = Callable[[Formula], Trace | None]
"""A run to a state that an exploration has just reached in which the sentence, a first-order one, is true."""

Watch: TypeAlias = Callable[[Reaching], None]
"""What is called as an exploration goes on, each time that it has reached more states."""


class Constrained(Protocol):
    """What was explored, with other fairness constraints."""

    @property
    def is_fair_everywhere(self) -> bool:
        """Whether a run that meets the constraints starts in every reachable state. Elsewhere path
        quantifiers would range over nothing."""
        ...

    @property
    def hidden(self) -> Hidden | None:
        """The states in which no run starts that meets them; None where there are none."""
        ...

    @property
    def completed(self) -> Constrained:
        """The same states with F_k ∨ H for each constraint F_k, a first-order sentence, where H are the
        hidden states. Since H is closed under steps, what comes in are the runs that enter H, and from every
        state a run starts that counts: every finite run is the beginning of one."""
        ...

    def holds(self, formula: Formula) -> bool:
        """Whether the sentence holds at every initial state, path quantifiers over the runs that meet
        them."""
        ...

    def evidence(self, formula: Formula, holds: bool) -> Evidence:
        """Why the sentence holds, or fails, at an initial state in which it does: at one where a run starts
        that meets them, if there is one."""
        ...


class Engine(Protocol):
    """What an engine answers once it has explored; formulas are resolved and expanded."""

    name: str

    @property
    def initial(self) -> int:
        """The number of initial states."""
        ...

    @property
    def states(self) -> int: ...
    @property
    def transitions(self) -> int: ...
    @property
    def most_active(self) -> Mapping[str, int]:
        """Per unbounded sort the largest number of its values outside C that are active in a reachable
        state."""
        ...

    @property
    def open_leaps(self) -> Mapping[tuple[str, int], str]:
        """The `ensure` alternatives, by tool and number, that are taken in a reachable state and of which it
        is not decided whether they exceed a bound, each with why (`deployment.leaps`)."""
        ...

    @property
    def statistics(self) -> Mapping[str, int]: ...
    def meets_contexts(self, most: int | None) -> bool:
        """Whether the wrappers of all agents have met every context that some state of R shows. Those that
        were not, since nobody had to be asked, are looked for, unless that takes looking at more than
        ``most`` bits: as many as a state has for each context, and for each place in the data that may show
        one. None sets no limit."""
        ...

    def is_among_alike(self, agent: str) -> bool:
        """Whether several calls alike (`CanonicalWrapper.is_among_alike`) may happen in some state of R, for
        an agent with a wrapper. Where not all contexts were met it is enough that the agent selects two calls
        of one tool."""
        ...

    def rules_used(self, agent: str, rules: Sequence[Rule] | None = None) -> RulesUsed:
        """Return which rules of the policy that an agent follows match a call in some state of R, and which
        of them decide; or which of ``rules`` would in their place, that read no more than those do."""
        ...

    @property
    def restriction(self) -> Restriction: ...
    def holds(self, formula: Formula) -> bool:
        """Whether the sentence holds at every initial state."""
        ...

    def whatever_chosen(self, formula: Formula, *, holds: bool) -> bool:
        """Whether it is shown that the sentence holds at every initial state, or fails at one, whatever is
        chosen among calls alike: of each orbit of calls that an agent may make in a state one is made, in
        each state and each time anew. Then every finite run is the beginning of a fair one too.

        The deployment has no constraints on actions. Two labellings bound what a formula of the kernel is
        under all choices:

            sure ⟦f⟧      only pairs (D, σ) at which f is true whatever is chosen
            possible ⟦f⟧  all pairs (D, σ) at which f is true under some choice

        Each is CTL with a preimage of its own, and a negation goes from one to the other:

            pre_possible(X) = { D : D → D' for some D' ∈ X }
            pre_sure(X)     = { D : each call of some orbit leads from D to some D' ∈ X, or an event does }
            sure ⟦¬f⟧       = the complement of possible ⟦f⟧, and the other way round

        Law. Let f be true at D whatever is chosen if it is true at the root of each tree of runs from D that
        a choice, by all that has happened so far, leaves. Then sure ⟦f⟧ has such pairs only, and
        possible ⟦f⟧ has each pair where f is true at the root of one of these trees.

        Proof. By induction on f. Negation swaps the claims; ∧, ∃ and `atleast` are monotone, and f ↔ g is
        read as (f ∧ g) ∨ (¬f ∧ ¬g). Each node of a tree is the root of one, so that the claim about the body
        of EX, E[· U ·] and EG is one about each node; and runs of a tree are runs. For the first claim, at a
        node in pre_sure(X) the call that is left of some orbit has an outcome in X. So E[f U g] has a run by
        induction on the step of the fixpoint at which D comes in; EG f has one that stays in the greatest
        fixpoint, and comes to each fairness constraint again and again. ∎

        The converse fails where two path quantifiers ask for different choices, as in EF P ∨ EF Q.
        """
        ...

    def under(
        self, fair: Sequence[Formula], actions: Sequence[FairAction], *, idle: bool = False
    ) -> Constrained:
        """The same states with ``fair``, first-order sentences, and ``actions`` in place of the deployment's
        constraints. ``idle``: of the states with agents that do nothing. They only make calls of which
        every outcome is the state itself; where neither such a call is offered nor an event enabled, they do
        what they did."""
        ...

    @property
    def hidden(self) -> Hidden | None:
        """The states that the `fair` lines hide; None where a fair run starts in every reachable state."""
        ...

    @property
    def completed(self) -> Constrained:
        """The states under the deployment's constraints, completed (`Constrained.completed`)."""
        ...

    def satisfying(self, formula: Formula, assignment: Mapping[str, Value]) -> StateSet: ...
    def is_called(self, tool: str, condition: Formula, *, selected: bool) -> bool:
        """Whether some call ω(u) with (D, u) ⊨ f is offered in some D ∈ R, or with ``selected`` may be made
        there by an agent. An event is offered and selected wherever it is enabled. ``condition`` is
        first-order over the parameters of the tool."""
        ...

    def enabled_calls(self, tool: str, guard: Formula) -> int:
        """|{ (D, ω(u)) : D ∈ R, (D, u) ⊨ guard }|: how many calls the reachable states would enable if this
        were the guard of the tool, a first-order formula over its parameters, which range over what they do
        in an offer. On the domain of representatives the states are those with representatives."""
        ...

    def starts(self) -> Iterator[Instance]:
        """The initial states, one by one."""
        ...

    def steps(self, state: Instance) -> Iterator[Step]:
        """One step to each D' with D → D', for a reachable state D."""
        ...

    def quotient(self, agent: str, groups: Sequence[Collection[DecisionContext]]) -> Quotient:
        """The reachable states by what an agent is shown. A state is in group i where the agent's canonical
        context there is in ``groups[i]``, and in one more, the last, where the agent is offered nothing. A
        step by ω is one by a selected call of ω, whichever agent selects it, or by the event ω.

        ``groups`` are a partition of the canonical contexts that the agent was shown.
        """
        ...

    def evidence(self, formula: Formula, holds: bool) -> Evidence:
        """Why the sentence holds, or fails, at an initial state in which it does: at one where a fair run
        starts, if there is one."""
        ...
