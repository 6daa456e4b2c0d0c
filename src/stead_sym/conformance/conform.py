"""Compare a deployment with a running system: every call in every state of the model, on the real tools.

Of a state D and a call ω(u), the system agrees with the deployment if, loaded with D, it ends in some D' of
τ(D, ω(u)), up to a renaming of values that are in neither D nor u nor C; or, if the deployment does not offer
the call, if it ends in D. States are those reachable under any agent, one for each isomorphism class.

A tool of the system that lets the order of identifiers decide (the smallest id, say) is seen with one order
only. If asked for, and if single calls do not differ, two calls that a state offers are run at the same time
(`interleaved`).

One decision: a call that the deployment does not offer is made as well, also with an identifier that is not
there. A guard that the system lacks is found by the call that it should refuse.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

import stead_sym.logic.syntax as fo
from stead_sym.conformance.binding import Binding
from stead_sym.conformance.bound_tables import Cells, differing
from stead_sym.conformance.found import Conformance, Difference, Exercised, Kind
from stead_sym.conformance.interleaved import Interleaver
from stead_sym.conformance.system import CannotLoad, System, Unlisted, opened
from stead_sym.conformance.walks import Walker
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.initial import initial_states
from stead_sym.deployment.restriction import Restriction, normal_restriction, theorem_restriction
from stead_sym.deployment.semantics import calls_of, databases, possible, within
from stead_sym.deployment.tool import Call, Tool
from stead_sym.errors import InputError, Undecided
from stead_sym.evidence.data import text_digest
from stead_sym.logic.evaluate import holds
from stead_sym.relational.canonical import canonical_form, isomorphic
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value
from stead_sym.support.progress import Progress
from stead_sym.verification.verify import verify

MAX_STATES = 2_000
"""The default limit on the states that are loaded."""
MOST_EXPLORED = 100_000
"""The limit on the states that are explored, up to isomorphism."""
MOST_DIFFERENCES = 1
"""The limit on the differences that are kept of each tool and kind, the smallest first."""


def conform(
    deployment: Deployment,
    binding: Binding,
    *,
    max_states: int = MAX_STATES,
    concurrent: bool = False,
    walks: int = 0,
    progress: Progress | None = None,
) -> Conformance:
    """Run the tools of a system on the reachable states of a deployment, smallest first.

    With ``concurrent`` pairs of calls are run at the same time too, if the single calls do not differ. With
    ``walks`` so many random walks are made, if nothing differs by then. Raise
    `InputError` if the binding does not fit, and `Undecided` if more than `MOST_EXPLORED` states are
    reachable.
    """
    digest = text_digest(deployment)
    alone = deployment.one_by_one()  # a call of a message does what it does alone
    with opened(alone, binding, concurrent=concurrent) as system:
        there = reached(alone, progress)
        comparison = Comparison(there.deployment, binding, system, there.restriction, digest, progress)
        found = comparison.of(there.states, max_states, concurrent=concurrent)
        if not walks or not found.agrees:
            return found
        walked = Walker(there.deployment, binding, system, there.begins).walk(walks, progress=progress)
        more = () if walked.difference is None else (walked.difference,)
        return replace(found, differences=more, walks=walked.walks, walked=walked.calls)


@dataclass(frozen=True, slots=True)
class Reached:
    """The reachable states of a deployment under any agent, one of each isomorphism class, smallest first."""

    deployment: Deployment
    restriction: Restriction
    forms: Mapping[Instance, Instance]
    """By canonical form, relative to C, the state that stands for it."""
    begins: tuple[Instance, ...]
    """The initial states, one of each isomorphism class, smallest first."""

    @property
    def states(self) -> list[Instance]:
        """Return the states, smallest first."""
        return sorted(self.forms.values(), key=lambda state: (len(state), sorted(state)))


def reached(deployment: Deployment, progress: Progress | None = None) -> Reached:
    """Return the reachable states of a deployment.

    One state of each class suffices, since the steps of isomorphic states are isomorphic; and of the initial
    states those over as many values as the bounds allow. The symbolic engine has checked by then that no run
    breaks the definition or a claim.

    Raise `Undecided` if one does, or beyond `MOST_EXPLORED` classes, and `InputError` for a deployment that
    reads the past.
    """
    result = verify(deployment, "any", [], findings=False, progress=progress)
    deployment = result.deployment
    if result.broken is not None:
        why = f"{result.broken.claim}; " if result.broken.claim else ""
        raise Undecided(
            f"a run of the deployment breaks it: {why}`stead-sym verify` shows which and a remedy"
        )
    if deployment.history:
        raise InputError(
            "the deployment reads the past, which no database can be loaded with; keep it in a relation"
        )
    constants = deployment.all_constants
    restriction = theorem_restriction(deployment, [])
    given = initial_states(deployment, normal_restriction(deployment).values)
    begins = {canonical_form(state, constants).instance: state for state in sorted(given, key=sorted)}
    forms: dict[Instance, Instance] = {}
    waiting = deque(sorted(given, key=sorted))
    while waiting:
        state = waiting.popleft()
        form = canonical_form(state, constants).instance
        if form in forms:
            continue
        if len(forms) >= MOST_EXPLORED:
            raise Undecided(f"more than {MOST_EXPLORED:,} states are reachable; lower the bounds")
        forms[form] = state
        if progress is not None and len(forms) % 256 == 1:
            progress("reach", states=len(forms))
        afters = (databases(deployment, c, state, restriction) for c in sorted(possible(deployment, state)))
        waiting.extend(after for found in afters for after in found if within(restriction, after))
    return Reached(
        deployment,
        restriction,
        forms,
        tuple(sorted(begins.values(), key=lambda state: (len(state), sorted(state)))),
    )


@dataclass
class Comparison:
    """A comparison while it runs, with what it has found."""

    deployment: Deployment
    binding: Binding
    system: System
    restriction: Restriction
    digest: str = ""
    progress: Progress | None = None
    differences: list[Difference] = field(default_factory=list)
    _kinds: Counter[tuple[str, ...]] = field(default_factory=Counter)
    _raised: Counter[str] = field(default_factory=Counter)
    """By tool: the number of calls that raised an error though they did what the deployment says."""
    _elsewhere: dict[str, set[str]] = field(default_factory=dict)
    """By tool: what its calls changed that is in no relation."""
    _steps: dict[Instance, dict[Call, int]] = field(default_factory=dict)
    """By state and call that it offers: the number of statements and commits of the call alone."""
    _beyond: Cells = field(default_factory=dict)
    """The rest of the loaded state, which no relation has."""
    _loaded: Instance | None = None
    """The state that was loaded last; None if it was refused."""
    _is_changed: bool = False
    """True if a call has changed what was loaded."""

    def of(self, states: list[Instance], max_states: int, *, concurrent: bool = False) -> Conformance:
        """Return what the calls of these states show."""
        named = [tool for tool in self.deployment.tools_and_events if not tool.stays]
        tools = [tool for tool in named if tool.name in self.binding.tools]
        guards = {tool.name: Guard.of(tool) for tool in tools}
        unloaded: dict[str, Instance] = {}
        offered, not_offered = Counter[str](), Counter[str]()
        taken: dict[str, set[int]] = {tool.name: set() for tool in tools}
        for number, state in enumerate(states[:max_states]):
            if self.progress is not None:
                self.progress("conforming", states=number, calls=offered.total() + not_offered.total())
            try:
                self.load(state)
            except CannotLoad as error:
                unloaded.setdefault(str(error), state)
                continue
            for tool in tools:
                allowed = calls_of(self.deployment, tool, state)
                for call in self._calls(tool, state):
                    (offered if call in allowed else not_offered)[tool.name] += 1
                    guards[tool.name].note(call, state)
                    found = self.compare(tool, call, state, call in allowed)
                    if isinstance(found, Difference):
                        self._keep(found)
                    elif found is not None:
                        taken[tool.name].add(found)
        self.restore()
        exercised = {
            tool.name: Exercised(
                offered[tool.name],
                not_offered[tool.name],
                tuple(n for n in range(1, len(tool.effects) + 1) if n - 1 not in taken[tool.name]),
                guards[tool.name].number,
                guards[tool.name].never,
                self._raised[tool.name],
                tuple(sorted(self._elsewhere.get(tool.name, ()))),
            )
            for tool in tools
        }
        unbound = tuple(tool.name for tool in named if tool not in tools)
        asked = concurrent and not self.differences and not unloaded
        interleaved = self._interleave() if asked else None
        return Conformance(
            min(len(states), max_states),
            exercised,
            tuple(self.differences),
            unloaded,
            unbound,
            len(states) <= max_states,
            self.digest,
            interleaved,
            tuple(tool.name for tool in tools if asked and self._alone(tool)),
        )

    def _keep(self, found: Difference) -> None:
        """Keep a difference if there are few of its kind."""
        calls = [found.call.tool] if found.meanwhile is None else [found.call.tool, found.meanwhile.call.tool]
        key = (found.kind, *sorted(calls))
        self._kinds[key] += 1
        if self._kinds[key] <= MOST_DIFFERENCES:
            self.differences.append(found)

    def _interleave(self) -> int:
        """Run every two calls that a state offers, one amid the other; return how often."""
        interleaver = Interleaver(self.deployment, self.system, self.restriction)
        number = 0
        for at, (state, steps) in enumerate(self._steps.items()):
            if self.progress is not None:
                self.progress("interleaving", states=at, pairs=number)
            for first, second in product(sorted(steps), repeat=2):
                for step in range(2, steps[first] + 1):
                    found = interleaver.compare(state, first, second, step)
                    number += found is not False
                    if isinstance(found, Difference):
                        self._keep(found)
        return number

    def _alone(self, tool: Tool) -> bool:
        """Return True if no call could run amid one of this tool."""
        counts = (n for steps in self._steps.values() for call, n in steps.items() if call.tool == tool.name)
        return all(count < 2 for count in counts)

    def load(self, state: Instance) -> None:
        """Load a state; raise `InputError` if something else is read back."""
        self._loaded, self._is_changed = None, False
        self.system.load(state)
        try:
            there = self.system.state()
        except Unlisted as error:
            raise InputError(f"what was loaded cannot be read back: {error}; see to the binding") from None
        if there != state:
            lost, more = sorted(state.facts - there.facts), sorted(there.facts - state.facts)
            which = f"{lost[0]} is lost" if lost else f"{more[0]} is more"
            last = "" if self.system.last is None else f", or to what {self.system.last} has left there"
            raise InputError(f"what is read back is not what was loaded: {which}; see to the binding{last}")
        self._beyond = self.system.beyond()
        self._loaded = state

    def restore(self) -> None:
        """Load the last state again if a call has changed it.

        This is due before the next call there, and after the last call of all, so that a tool which leaves
        tables that cannot be loaded is always reported.
        """
        if self._is_changed and self._loaded is not None:
            self.load(self._loaded)

    def elsewhere(self, before: Instance, after: Instance | None) -> tuple[str, ...]:
        """Return the tables and columns of no relation that a call has changed; note if it changed anything.

        ``after`` is the state that was read after it, None if some cell there is no value.
        """
        found = tuple(differing(self._beyond, self.system.beyond()))
        self._is_changed = after != before or bool(found)
        return found

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

    def compare(self, tool: Tool, call: Call, state: Instance, allowed: bool) -> Difference | int | None:
        """Make a call in the state that was loaded last.

        Return a difference, or the number of the alternative that was taken, or None.
        """
        self.restore()
        if allowed:
            expected = {
                after: number
                for number in reversed(range(len(tool.effects)))
                for after in databases(self.deployment, call, state, self.restriction, number)
            }
        else:
            expected = {state: -1}
        steps: list[str] = []
        said = self.system.run(call, steps.append if allowed else None)
        if allowed:
            self._steps.setdefault(state, {})[call] = len(steps)
        try:
            found = self.system.state()
        except Unlisted as error:
            self.elsewhere(state, None)
            return Difference("value not listed", call, state, tuple(expected), None, str(error))
        self._elsewhere.setdefault(tool.name, set()).update(self.elsewhere(state, found))
        if found in expected:
            number = expected[found]
        else:
            fixed = self.deployment.all_constants.union(call.args, *state.active_domain.values())
            number = next((n for after, n in expected.items() if isomorphic(found, after, fixed)), -2)
        if allowed and said is not None and found == state and number < 0:
            return Difference("refused", call, state, tuple(expected), found, said)
        if number == -2:
            kind: Kind = "other result" if allowed else "not refused"
            return Difference(kind, call, state, tuple(expected), found, said)
        if said is not None and found != state:
            self._raised[tool.name] += 1
        return number if number >= 0 else None


# the literals of a guard, and the truth values that calls gave them


def literals_in(guard: fo.Formula) -> Iterator[fo.Formula]:
    """Yield the parts of a guard between its connectives; a part with a quantifier is one literal."""
    match guard:
        case fo.Truth():
            return
        case fo.Not(body):
            yield from literals_in(body)
        case fo.And(parts) | fo.Or(parts):
            for part in parts:
                yield from literals_in(part)
        case fo.Implies(left, right) | fo.Iff(left, right):
            yield from literals_in(left)
            yield from literals_in(right)
        case _:
            yield guard


@dataclass
class Guard:
    """The guard of a tool while calls are made, with the truth values that each literal has not had yet."""

    tool: Tool
    missing: dict[tuple[fo.Formula, bool], None]
    number: int

    @classmethod
    def of(cls, tool: Tool) -> Guard:
        """Return the guard of a tool before any call."""
        found = dict.fromkeys(literals_in(tool.guard))
        return cls(tool, {(literal, truth): None for literal in found for truth in (True, False)}, len(found))

    def note(self, call: Call, state: Instance) -> None:
        """Note the truth values of the literals for a call in a state."""
        sigma = self.tool.given(call)
        for literal, truth in list(self.missing):
            if holds(literal, state, sigma) is truth:
                del self.missing[literal, truth]

    @property
    def never(self) -> tuple[tuple[str, bool], ...]:
        """Return the literals that were never true, or never false, with that truth value."""
        return tuple((str(literal), truth) for literal, truth in self.missing)
