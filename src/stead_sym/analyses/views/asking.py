"""Guard the tools of an agent by the calls that it selects when it is asked.

Definition. A context c on values y outside C is what an agent is shown and offered, facts and calls over
y ∪ C in which each of y stands. Let ⟨c⟩(y) say that this is what it is shown and offered: that y are
different and not in C, which of the facts and calls over y ∪ C are shown and offered and which are not, and
that no other value stands in one. For a set K of contexts a tool has the guard

    guard_ω(u) ∧ ⋁ { ∃y. ⟨c⟩(y) ∧ u = t : c ∈ K, the agent selects ω(t) in c }.

Theorem (F2). Let V be invariant for these guards, let at most v values stand in what is shown and offered in
every D of γ(V), and let each context with an offered call that some D ∈ γ(V) has be in K, of D over v values
and those that keep it (`views.needs`). Then V is invariant for the agent.

Proof. By induction a reachable D is in γ(V). If something is offered in it, its context is on at most v
values, and one of a part of D on these and what keeps it, which is in γ(V); so it is in K. So a call is
selected in D, the agent being equivariant, just where its guard is true, and D' is in γ(V). ∎

K is found together with V: as long as γ(V) has a context that is not in K it is put to the agent, once,
through the same store as in a verification. If there are too many, or the agent answers differently when it
is asked again, its tools get no guards: it may select whatever it is offered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations, permutations, product
from operator import or_

import stead_sym.logic.syntax as fo
from stead_sym.agents.base import DecisionContext
from stead_sym.agents.wrapper import CanonicalWrapper, Decision
from stead_sym.analyses.views.closure import Closure
from stead_sym.analyses.views.needs import Needs, Number, Outside
from stead_sym.analyses.views.parts import Facts
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import AgentRole
from stead_sym.deployment.selecting import Selecting
from stead_sym.deployment.tool import Call, Tool
from stead_sym.deployment.witnesses import is_old
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.errors import AgentError, SteadError, StoreError, Undecided
from stead_sym.logic.kernel import core
from stead_sym.logic.substitution import substitute
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Value
from stead_sym.support.printable import one_line
from stead_sym.verification.audit import of_decisions

MOST_CONTEXTS = 64
"""At most this many contexts are put to an agent."""
MOST_VALUES = 2
"""A context has at most this many values of each sort."""


@dataclass(frozen=True, slots=True)
class _Context:
    facts: Facts
    calls: frozenset[Call]


@dataclass(frozen=True, slots=True)
class Answers:
    """The contexts that were put to an ``agent``, with the calls that it selected in them.

    Each context is its facts, its offered calls and the selected ones, on at most ``most`` values of each
    sort.
    """

    agent: str
    most: tuple[tuple[str, int], ...]
    contexts: frozenset[tuple[Facts, frozenset[Call], frozenset[Call]]]


class Asking:
    """The contexts of one agent, on at most ``most`` values of each sort, with what it selects in them."""

    def __init__(self, deployment: Deployment, role: AgentRole, wrapper: CanonicalWrapper) -> None:
        self.deployment, self.role, self.wrapper = deployment, role, wrapper.again()
        self.selecting = Selecting(deployment, role)
        self.sorts = deployment.schema.infinite_sorts
        self.most: Number = Counter(self.sorts)
        self.selected: dict[_Context, frozenset[Call]] = {}
        self._unanswered = ""
        shared = {name for other in deployment.agents if other is not role for name in other.tools}
        self.tools = tuple(deployment.tool(name) for name in role.tools if name not in shared)
        lines = {line.relation for line in role.views}
        self.relations = tuple(r for r in deployment.schema.relations if not role.views or r.name in lines)

    def few(self) -> Iterator[tuple[str, fo.Formula]]:
        """Yield for each sort the sentence that at most ``most`` of its values are shown or offered."""
        for sort in self.sorts:
            binder = fo.Binder("context.x", sort)
            outside = (
                fo.Not(fo.Equal(fo.Var(binder.name), fo.Const(c))) for c in self.deployment.constants[sort]
            )
            body = fo.conjunction((self.selecting.occurs(binder), *outside))
            yield sort, fo.Count("atmost", self.most[sort], binder, body)

    def guarded(self, deployment: Deployment) -> Deployment:
        """Return the deployment with the guards of this module."""
        names = {tool.name for tool in self.tools}
        tools = tuple(
            replace(tool, guard=fo.And((tool.guard, self._selects(tool)))) if tool.name in names else tool
            for tool in deployment.tools_and_events
        )
        return deployment.with_tools(tools)

    @property
    def answers(self) -> Answers:
        """Return all contexts that the agent was asked about, with what it selected."""
        contexts = frozenset((c.facts, c.calls, calls) for c, calls in self.selected.items())
        return Answers(self.role.name, tuple(self.most.items()), contexts)

    @property
    def doubt(self) -> str:
        """Return why what the agent selected is no guard of its tools; empty if nothing says so."""
        if self._unanswered:
            return self._unanswered
        decided = of_decisions({self.role.name: self.wrapper}, None)
        return next((one.how for one in decided if one.status == "not established"), "")

    def _selects(self, tool: Tool) -> fo.Formula:
        cases: list[fo.Formula] = []
        for context, calls in self.selected.items():
            said = self._said(context)
            for call in sorted(calls):
                if call.tool != tool.name:
                    continue
                terms = {f"context.{u}": fo.Var(p.name) for p, u in zip(tool.params, call.args, strict=True)}
                case: fo.Formula = substitute(said, terms)
                for param, value in zip(tool.params, call.args, strict=True):
                    own = self._term(value, context)
                    known = terms.get(own.name, own) if isinstance(own, fo.Var) else own
                    if known != fo.Var(param.name):
                        case = fo.And((case, fo.Equal(fo.Var(param.name), known)))
                for value, sort in self._values(context).items():
                    if f"context.{value}" not in terms:
                        case = fo.Exists(fo.Binder(f"context.{value}", sort), case)
                cases.append(case)
        return fo.disjunction(tuple(cases))

    def _values(self, context: _Context) -> dict[Value, str]:
        """Return the values outside C, each with its sort."""
        sorts = [(fact.args, self.deployment.schema.relation(fact.relation).sorts) for fact in context.facts]
        sorts += [(call.args, self._sorts(call.tool)) for call in context.calls]
        known = {u for values in self.deployment.constants.values() for u in values}
        return {u: s for args, own in sorts for u, s in zip(args, own, strict=True) if u not in known}

    def _sorts(self, tool: str) -> tuple[str, ...]:
        return tuple(param.sort for param in self.deployment.tool(tool).params)

    def _term(self, value: Value, context: _Context) -> fo.Term:
        return fo.Var(f"context.{value}") if value in self._values(context) else fo.Const(value)

    def _said(self, context: _Context) -> fo.Formula:
        """Return ⟨c⟩(y)."""
        sort_of = self._values(context)
        parts: list[fo.Formula] = []
        for (value, sort), (other, own) in combinations(sorted(sort_of.items()), 2):
            if sort == own:
                parts.append(fo.Not(fo.Equal(self._term(value, context), self._term(other, context))))
        domain: dict[str, list[Value]] = {s: list(c) for s, c in self.deployment.constants.items()}
        for value, sort in sort_of.items():
            parts += [fo.Not(fo.Equal(self._term(value, context), fo.Const(c))) for c in domain[sort]]
        for value, sort in sort_of.items():
            domain[sort].append(value)
        for item, formula in self._items(domain, {u: self._term(u, context) for u in sort_of}):
            there = context.facts if isinstance(item, Fact) else context.calls
            parts.append(formula if item in there else fo.Not(formula))
        for sort in self.sorts:
            binder = fo.Binder("context.x", sort)
            same = (
                fo.Equal(fo.Var(binder.name), fo.Var(f"context.{u}")) for u, s in sort_of.items() if s == sort
            )
            known = (fo.Equal(fo.Var(binder.name), fo.Const(c)) for c in self.deployment.constants[sort])
            parts.append(fo.Forall(binder, fo.Or((fo.Not(self.selecting.occurs(binder)), *same, *known))))
        return fo.conjunction(tuple(parts))

    def _items(
        self, domain: Mapping[str, Sequence[Value]], terms: Mapping[Value, fo.Term]
    ) -> Iterator[tuple[Fact | Call, fo.Formula]]:
        """Yield the facts and calls over some values, each with the formula that it is shown or offered."""
        for relation in self.relations:
            for args in product(*(domain[sort] for sort in relation.sorts)):
                own = tuple(terms.get(u, fo.Const(u)) for u in args)
                yield Fact(relation.name, args), self.selecting.shown(relation.name, own)
        for name in self.role.tools:
            tool = self.deployment.tool(name)
            for args in product(*(domain[param.sort] for param in tool.params)):
                given = {p.name: terms.get(u, fo.Const(u)) for p, u in zip(tool.params, args, strict=True)}
                active = [
                    fo.Exists(fo.Binder("context.z", p.sort), fo.Equal(fo.Var("context.z"), given[p.name]))
                    for p in tool.params
                    if p.sort in self.sorts and not is_old(tool.guard, p.name, frozenset())
                ]
                yield Call(name, args), fo.conjunction((substitute(tool.guard, given), *active))

    # which contexts there are

    def asks(self, closure: Closure) -> bool:
        """Ask about what is new in γ(V); return whether anything is, or ``doubt`` says why not."""
        try:
            return self.raised(closure) or self.ask(closure)
        except (AgentError, Outside, StoreError, Undecided) as error:
            self._unanswered = str(error).removeprefix("unknown: ")
            return True

    def raised(self, closure: Closure) -> bool:
        """Raise ``most`` of a sort if an instance of γ(V) shows or offers more values; return if it did.

        Raises `Undecided` past `MOST_VALUES`, and `Outside`.
        """
        for sort, sentence in self.few():
            if not closure.closing.shows([sentence]):
                self.most[sort] += 1
                if self.most[sort] > MOST_VALUES:
                    raise Undecided(
                        f"unknown: more than {MOST_VALUES} of {sort} are shown and offered at once"
                    )
                return True
        return False

    def ask(self, closure: Closure) -> bool:
        """Ask the agent about the contexts in γ(V) that are new; return whether there are any.

        Raises `Undecided` if there are too many, and `Outside`.
        """
        closing = closure.closing
        needs, diagrams = Needs(closing.deployment), closing.diagrams
        number = self.most + self._kept(needs)
        sizes = closure.gluing.sizes(number)
        ground = diagrams.grounded(sizes)
        blocks: list[tuple[Bdd, _Context]] = [
            (closure.gluing.over(sizes), _Context(frozenset(), frozenset()))
        ]
        names = {u: fo.Var(f"context.{u}") for own in diagrams.names(sizes) for u in own}
        sigma = {var.name: u for u, var in names.items()}
        for item, formula in self._items(diagrams.values(sizes), names):
            holds = ground.formula(core(formula), sigma)
            split: list[tuple[Bdd, _Context]] = []
            for states, context in blocks:
                if (without := states & ~holds) != diagrams.manager.false:
                    split.append((without, context))
                if (with_ := states & holds) != diagrams.manager.false:
                    split.append((with_, _with(context, item)))
            blocks = split
            if len(blocks) > 100 * MOST_CONTEXTS:
                raise Undecided("unknown: an agent has too many contexts to be asked about")
        met = {self._form(context): None for _, context in blocks if context.calls}
        new = [context for context in met if context not in self.selected]
        if len(self.selected) + len(new) > MOST_CONTEXTS:
            raise Undecided("unknown: an agent has too many contexts to be asked about")
        schema = self.wrapper.schema
        asked = [DecisionContext(Instance(schema, context.facts), context.calls) for context in new]
        for context, decision in zip(new, self._decided(asked), strict=True):
            self.selected[context] = decision.calls
        return bool(new)

    def _decided(self, contexts: Sequence[DecisionContext]) -> Sequence[Decision]:
        """Return the decisions of the wrapper.

        Raises `Undecided` for an exception of the agent's own code, since possibly no run reaches the
        context. A context that some run reaches is met in bounded verification too.
        """
        try:
            return self.wrapper.decide(contexts)
        except SteadError:
            raise
        except Exception as error:
            what = one_line(f"{type(error).__name__}: {error}")
            raise Undecided(f"unknown: it raises {what} in a context that a run may never come to") from error

    def _kept(self, needs: Needs) -> Number:
        """Return how many values keep a context on ``most`` values as it is."""
        domain = {
            sort: [*known, *(f"·{sort}{n}" for n in range(self.most[sort]))]
            for sort, known in self.deployment.constants.items()
        }
        terms = {u: fo.Var(f"context.{u}") for values in domain.values() for u in values if u.startswith("·")}
        number: Number = Counter()
        for _, formula in self._items(domain, terms):
            number += reduce(or_, (needs.kept(formula), needs.refuted(formula)))
        for sort in self.sorts:
            binder = fo.Binder("context.x", sort)
            different = [fo.Equal(fo.Var(binder.name), term) for term in terms.values()]
            number += needs.kept(
                fo.Forall(binder, fo.Or((fo.Not(self.selecting.occurs(binder)), *different)))
            )
        return number

    def _form(self, context: _Context) -> _Context:
        """Return the least renaming of the context to the first names of each sort."""
        sort_of = self._values(context)
        groups = [[u for u in sorted(sort_of) if sort_of[u] == sort] for sort in self.sorts]
        first = [
            [f"{sort}.{n}" for n in range(len(own))] for sort, own in zip(self.sorts, groups, strict=True)
        ]
        renamed: list[_Context] = []
        for orders in product(*map(permutations, groups)):
            to = {
                u: v
                for own, names in zip(orders, first, strict=True)
                for u, v in zip(own, names, strict=True)
            }
            facts = frozenset(fact.rename(to) for fact in context.facts)
            renamed.append(_Context(facts, frozenset(call.rename(to) for call in context.calls)))
        return min(renamed, key=lambda one: (sorted(one.facts), sorted(one.calls)))


def _with(context: _Context, item: Fact | Call) -> _Context:
    if isinstance(item, Fact):
        return replace(context, facts=context.facts | {item})
    return replace(context, calls=context.calls | {item})
