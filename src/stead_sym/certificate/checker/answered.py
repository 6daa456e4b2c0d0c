"""Guards over the state from the answers of a queried agent, for an arbitrary number of records.

A context c is what is shown and offered to the agent, on values y outside C. Let ⟨c⟩(y) state that the y are
distinct and not in C, that among the facts and calls over y ∪ C exactly those of c are shown and offered, and
that no other value occurs in what is shown and offered. A tool of this agent alone gets the additional guard

    ⋁ { ∃y. ⟨c⟩(y) ∧ u = t : the agent selects ω(t) in c }.

Obligations, for γ of the views: at most the given number of values of each sort occurs in what is shown and
offered; and wherever a call is offered some ⟨c⟩ is true. The latter is checked over as many values as a
context has, plus those that keep the truth value of each of its facts and calls, and of their absence. The
written guards define what is offered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product

import stead_sym.logic.syntax as fo
from stead_sym.certificate.checker.needed import Needed, names_in_fact
from stead_sym.certificate.document import Answers, Entry
from stead_sym.certificate.verdict import CertificateRejected
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import AgentRole
from stead_sym.deployment.selecting import Selecting
from stead_sym.deployment.tool import Call, Tool
from stead_sym.logic.kernel import core
from stead_sym.logic.substitution import substitute
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Value

Named = Mapping[Value, str]
"""The values of a context outside C, each with its sort."""


@dataclass(frozen=True)
class Answered:
    """The answers of one agent of a deployment whose tools have the written guards."""

    deployment: Deployment
    role: AgentRole
    answers: Answers

    @cached_property
    def _selecting(self) -> Selecting:
        return Selecting(self.deployment, self.role)

    @property
    def _infinite(self) -> tuple[str, ...]:
        return self.deployment.schema.infinite_sorts

    @cached_property
    def _contexts(self) -> tuple[tuple[Entry, Named], ...]:
        return tuple((entry, self._named(entry)) for entry in self.answers.contexts)

    def _named(self, entry: Entry) -> Named:
        """Return the values of a context.

        Raise `CertificateRejected` if the entry is not a context with an answer.
        """
        place, schema = f"decisions of {self.role.name or 'the agent'}", self.deployment.schema
        found: dict[Value, str] = {}
        lines = {line.relation for line in self.role.views}
        there = [(f.args, schema.relation(f.relation).sorts) for f in entry.shown if self._is_shown(f, lines)]
        there += [(c.args, self._sorts(c)) for c in entry.offered if c.tool in self.role.tools]
        fits = len(there) == len(entry.shown) + len(entry.offered)
        for args, sorts in there:
            fits = fits and len(args) == len(sorts)
            for value, sort in zip(args, sorts, strict=False):
                if value in self.deployment.all_constants:
                    fits = fits and value in self.deployment.constants[sort]
                else:
                    fits = fits and sort in self._infinite and found.setdefault(value, sort) == sort
        if not fits or not entry.selected or not set(entry.selected) <= set(entry.offered):
            raise CertificateRejected("some offered calls are selected in what is shown and offered", place)
        return found

    def _is_shown(self, fact: Fact, lines: set[str]) -> bool:
        known = self.deployment.schema.has_relation(fact.relation)
        return known and (not self.role.views or fact.relation in lines)

    def _sorts(self, call: Call) -> tuple[str, ...]:
        return tuple(param.sort for param in self.deployment.tool(call.tool).params)

    # guards

    def guarded(self, deployment: Deployment) -> Deployment:
        """Return a deployment with these tools whose guards also state the selection."""
        others = {n for role in self.deployment.agents if role.name != self.role.name for n in role.tools}
        own = set(self.role.tools) - others
        tools = tuple(
            replace(tool, guard=fo.And((tool.guard, self._selects(tool)))) if tool.name in own else tool
            for tool in deployment.tools_and_events
        )
        return deployment.with_tools(tools)

    def _selects(self, tool: Tool) -> fo.Formula:
        cases: list[fo.Formula] = []
        for entry, named in self._contexts:
            for call in sorted(entry.selected):
                if call.tool != tool.name:
                    continue
                terms: dict[Value, fo.Term] = {}
                equal: list[fo.Formula] = []
                for param, value in zip(tool.params, call.args, strict=True):
                    first = terms.setdefault(value, fo.Var(param.name)) if value in named else fo.Const(value)
                    if first != fo.Var(param.name):
                        equal.append(fo.Equal(fo.Var(param.name), first))
                left = {value: sort for value, sort in named.items() if value not in terms}
                said = fo.conjunction((self._said(entry, named, terms), *equal))
                cases.append(_some(left, said))
        return fo.disjunction(tuple(cases))

    def _said(self, entry: Entry, named: Named, terms: Mapping[Value, fo.Term]) -> fo.Formula:
        """Return ⟨c⟩(y)."""
        to = {value: terms.get(value, _var(value)) for value in named}
        parts: list[fo.Formula] = [
            fo.Not(fo.Equal(to[u], to[v])) for u, v in combinations(sorted(named), 2) if named[u] == named[v]
        ]
        domain = {sort: list(values) for sort, values in self.deployment.constants.items()}
        for value, sort in named.items():
            parts += [fo.Not(fo.Equal(to[value], fo.Const(c))) for c in self.deployment.constants[sort]]
            domain[sort].append(value)
        there = {*entry.shown, *entry.offered}
        parts += [said if item in there else fo.Not(said) for item, said in self._items(domain, to)]
        return fo.conjunction((*parts, *(self._no_other(sort, domain[sort], to) for sort in self._infinite)))

    def _no_other(self, sort: str, values: Sequence[Value], to: Mapping[Value, fo.Term]) -> fo.Formula:
        binder = fo.Binder("context.x", sort)
        same = (fo.Equal(fo.Var(binder.name), to.get(value, fo.Const(value))) for value in values)
        return fo.Forall(binder, fo.Or((fo.Not(self._selecting.occurs(binder)), *same)))

    def _items(
        self, domain: Mapping[str, Sequence[Value]], to: Mapping[Value, fo.Term]
    ) -> Iterator[tuple[Fact | Call, fo.Formula]]:
        """Yield each fact and call over some values, with the formula that it is shown, or offered."""
        lines = {line.relation for line in self.role.views}
        for relation in self.deployment.schema.relations:
            if not self.role.views or relation.name in lines:
                for args in product(*(domain[sort] for sort in relation.sorts)):
                    terms = tuple(to.get(value, fo.Const(value)) for value in args)
                    yield Fact(relation.name, args), self._selecting.shown(relation.name, terms)
        for name in self.role.tools:
            tool = self.deployment.tool(name)
            for args in product(*(domain[param.sort] for param in tool.params)):
                given = {p.name: to.get(u, fo.Const(u)) for p, u in zip(tool.params, args, strict=True)}
                active = (
                    fo.Exists(fo.Binder("context.z", p.sort), fo.Equal(fo.Var("context.z"), given[p.name]))
                    for p in tool.params
                    if p.sort in self._infinite and not names_in_fact(core(tool.guard), p.name)
                )
                yield Call(name, args), fo.conjunction((substitute(tool.guard, given), *active))

    # obligations

    def few(self) -> Iterator[fo.Formula]:
        """Yield a sentence per sort: at most the given number of its values is shown or offered."""
        for sort in self._infinite:
            binder = fo.Binder("context.x", sort)
            outside = (
                fo.Not(fo.Equal(fo.Var(binder.name), fo.Const(c))) for c in self.deployment.constants[sort]
            )
            body = fo.conjunction((self._selecting.occurs(binder), *outside))
            yield fo.Count("atmost", self.answers.most.get(sort, 0), binder, body)

    def covered(self) -> fo.Formula:
        """Return the formula that some context matches wherever something is offered."""
        nothing = (fo.Not(self._offered(self.deployment.tool(name))) for name in self.role.tools)
        cases = (_some(named, self._said(entry, named, {})) for entry, named in self._contexts)
        return fo.disjunction((fo.conjunction(tuple(nothing)), *cases))

    def _offered(self, tool: Tool) -> fo.Formula:
        guard: fo.Formula = tool.guard
        for param in reversed(tool.params):
            finite = self.deployment.schema.is_finite(param.sort)
            guard = fo.Exists(replace(param, declared=finite), guard)
        return guard

    def keeping(self, needed: Needed) -> tuple[Mapping[str, int], int]:
        """Return the maximal number of values of each sort in a context, and of further values.

        The further values keep everything that is stated about those of the context.
        """
        most = {sort: self.answers.most.get(sort, 0) for sort in self._infinite}
        domain = {sort: list(values) for sort, values in self.deployment.constants.items()}
        to: dict[Value, fo.Term] = {}
        for sort, number in most.items():
            for value in (f"{sort}!{place}" for place in range(number)):
                domain[sort].append(value)
                to[value] = _var(value)
        beside = sum(max(needed.true(f), needed.false(f)) for _, f in self._items(domain, to))
        return most, beside + sum(needed.true(self._no_other(s, domain[s], to)) for s in self._infinite)


def _var(value: Value) -> fo.Var:
    return fo.Var(f"context.{value}")


def _some(named: Named, formula: fo.Formula) -> fo.Formula:
    for value, sort in named.items():
        formula = fo.Exists(fo.Binder(f"context.{value}", sort), formula)
    return formula
