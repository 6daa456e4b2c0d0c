"""Express when a rule of a policy matches a call, as a first-order formula over the state.

A rule `call ω(t) when f` is evaluated on what its agent is shown, and its quantifiers range over the values
that the agent is shown or that stand in calls it is offered (`agents.rules`). Let [f] be f with

    [P(t)]  =  P(t) ∧ ⋁ { g(t) : a line `view P(x) where g` of the agent },
    [∃x. f] =  ∃x. occurs(x) ∧ [f],      and so for `atleast n x. f`,

where occurs(x) says that x stands in a shown fact or an offered call. If f has an atom that makes x active,
occurs(x) says only that x stands in a shown fact. An agent without `view` lines is shown all facts.

Law. D, σ ⊨ [f] iff view(D), σ ⊨ f over these values. By induction on f: an atom is true of the shown tuples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import stead_sym.logic.syntax as fo
from stead_sym.deployment.callers import called_by, itself, self_place
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import SELF, AgentRole, Rule
from stead_sym.deployment.tool import Tool
from stead_sym.logic.activity import implies_active
from stead_sym.logic.folding import conjoin, negate
from stead_sym.logic.kernel import Core, core
from stead_sym.logic.substitution import substitute
from stead_sym.relational.schema import tells_history

_ANY_OF_MANY = f"any {SELF}"
"""The variable for any of many agents, until it is the argument of a call; no file has this name."""


@dataclass(frozen=True)
class Selecting:
    """The rules of one agent, as formulas over the state.

    In those of many agents (`deployment.callers`) `self` is free, or has the value of the one that it is.
    """

    deployment: Deployment
    role: AgentRole

    @property
    def _is_any_of_many(self) -> bool:
        """Return True if `self` is free in the formulas, for any of many agents."""
        return self.role.each is not None and self.role.me is None

    def matched(self, rule: Rule, args: Sequence[fo.Term]) -> fo.Formula:
        """Return the formula that the arguments fit the rule's pattern and its `when`."""
        first: dict[str, fo.Term] = {}
        equal: list[fo.Formula] = []
        for term, arg in zip(rule.args, args, strict=True):
            known = first.setdefault(term.name, arg) if isinstance(term, fo.Var) else term
            if known is not arg:
                equal.append(fo.Equal(arg, known))
        if self._is_any_of_many:
            first[_ANY_OF_MANY] = args[self_place(self.deployment.tool(rule.tool))]
        return fo.conjunction((*equal, substitute(self.read(core(rule.when)), first)))

    def offered_and_matched(self, rule: Rule, but: fo.Formula = fo.FALSE) -> fo.Formula:
        """Return ∃w. guard(w) ∧ match(w): the rule matches some call, of which ``but`` is not true."""
        tool = self.deployment.tool(rule.tool)
        return self._of_some_call(
            tool, own_args(tool), conjoin(self.matched(rule, own_args(tool)), negate(but))
        )

    def read(self, formula: Core) -> fo.Formula:
        """Return [f]."""
        match formula:
            case fo.Atom(relation, args):
                return self.shown(relation, args)
            case fo.Exists(binder, body) | fo.Count("atleast", _, binder, body):
                inner = self.read(body)
                if binder.declared or implies_active(body, binder.name):
                    return replace(formula, body=inner)
                finite = self.deployment.schema.is_finite(binder.sort)
                ranging = fo.And((self.occurs(binder), inner))
                return replace(formula, binder=replace(binder, declared=finite), body=ranging)
            case fo.Each(binder, body):
                inner = self.read(body)
                if binder.declared or implies_active(body, binder.name):
                    return replace(formula, body=inner)
                finite = self.deployment.schema.is_finite(binder.sort)
                counted = _where(inner, self.occurs(binder))
                return replace(formula, binder=replace(binder, declared=finite), body=counted)
            case _:
                return fo.map_children(self.read, formula)

    def shown(self, relation: str, args: Sequence[fo.Term]) -> fo.Formula:
        """Return the formula that a tuple of a relation is shown."""
        atom = fo.Atom(relation, tuple(args), sorts=self.deployment.schema.relation(relation).sorts)
        if not self.role.views or tells_history(relation):
            return atom
        me: dict[str, fo.Term] = {name: fo.Const(value) for name, value in itself(self.role).items()}
        if self._is_any_of_many:
            me = {SELF: fo.Var(_ANY_OF_MANY)}
        cuts = (
            substitute(
                line.where, {**me, **dict(zip((param.name for param in line.params), args, strict=True))}
            )
            for line in self.role.views
            if line.relation == relation
        )
        return fo.conjunction((atom, fo.disjunction(tuple(cuts))))

    def occurs(self, binder: fo.Binder) -> fo.Formula:
        """Return the formula that the value of a variable occurs in a shown fact or an offered call."""
        if not self.role.views and not self.deployment.schema.is_finite(binder.sort):
            return fo.TRUE  # it is active, and all that is active is shown
        return fo.disjunction((*self._in_facts(binder), *self._in_calls(binder)))

    def _in_facts(self, binder: fo.Binder) -> Iterator[fo.Formula]:
        for relation in self.deployment.schema.relations:
            for place, sort in enumerate(relation.sorts):
                if sort == binder.sort:
                    others = [
                        fo.Binder(f"{binder.name}.{k}", other) for k, other in enumerate(relation.sorts)
                    ]
                    args = [fo.Var(binder.name if k == place else b.name) for k, b in enumerate(others)]
                    yield fo.quantify(
                        fo.Exists, others[:place] + others[place + 1 :], self.shown(relation.name, args)
                    )

    def _in_calls(self, binder: fo.Binder) -> Iterator[fo.Formula]:
        for name in self.role.tools:
            tool = self.deployment.tool(name)
            for place, param in enumerate(tool.params):
                if param.sort == binder.sort:
                    args = [fo.Var(f"{binder.name}.{k}") for k in range(len(tool.params))]
                    args[place] = fo.Var(binder.name)
                    if not self._is_any_of_many:
                        yield self._of_some_call(tool, args, fo.TRUE, fixed=place)
                        continue
                    is_it = fo.Equal(fo.Var(_ANY_OF_MANY), fo.Var(binder.name))
                    args[self_place(tool)] = fo.Var(_ANY_OF_MANY)
                    offered = self._of_some_call(tool, args, fo.TRUE, fixed=place)
                    yield fo.And((is_it, offered)) if place == self_place(tool) else offered

    def _of_some_call(
        self, tool: Tool, args: Sequence[fo.Var], formula: fo.Formula, fixed: int | None = None
    ) -> fo.Formula:
        """Return the formula that some offered call of the tool satisfies a formula.

        The arguments are variables; the one at the ``fixed`` place is free.
        """
        tool = called_by(self.role, tool)
        guard = substitute(tool.guard, dict(zip((param.name for param in tool.params), args, strict=True)))
        binders = []
        for place, (param, arg) in enumerate(zip(tool.params, args, strict=True)):
            finite = self.deployment.schema.is_finite(param.sort)
            if place != fixed and not (self._is_any_of_many and param.name == SELF):
                binders.append(fo.Binder(arg.name, param.sort, declared=finite))
        return fo.quantify(fo.Exists, binders, fo.conjunction((guard, formula)))


def _where(each: fo.Formula, condition: fo.Formula) -> fo.Formula:
    """Return the tally restricted to values for which a condition is true too."""
    if isinstance(each, fo.Each):
        return replace(each, body=_where(each.body, condition))
    assert isinstance(each, fo.Weight)
    return replace(each, condition=fo.And((condition, each.condition)))


def own_args(tool: Tool) -> tuple[fo.Var, ...]:
    """Return the parameters of a tool as the arguments of its call."""
    return fo.variables_of(tool.params)
