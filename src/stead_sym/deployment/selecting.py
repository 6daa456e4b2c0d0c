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

from stead_sym.deployment.callers import called_by, itself, self_place
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import SELF, AgentRole, Rule
from stead_sym.deployment.tool import Tool
from stead_sym.logic.activity import implies_active
from stead_sym.logic.folding import conjoin, negate
from stead_sym.logic.kernel import Core, core
from stead_sym.logic.substitution import substitute
from stead_sym.logic.syntax import (
    FALSE,
    TRUE,
    And,
    Atom,
    Binder,
    Const,
    Count,
    Each,
    Equal,
    Exists,
    Formula,
    Term,
    Var,
    Weight,
    conjunction,
    disjunction,
    map_children,
    quantify,
    variables_of,
)
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

    def matched(self, rule: Rule, args: Sequence[Term]) -> Formula:
        """Return the formula that the arguments fit the rule's pattern and its `when`."""
        first: dict[str, Term] = {}
        equal: list[Formula] = []
        for term, arg in zip(rule.args, args, strict=True):
            known = first.setdefault(term.name, arg) if isinstance(term, Var) else term
            if known is not arg:
                equal.append(Equal(arg, known))
        if self._is_any_of_many:
            first[_ANY_OF_MANY] = args[self_place(self.deployment.tool(rule.tool))]
        return conjunction((*equal, substitute(self.read(core(rule.when)), first)))

    def offered_and_matched(self, rule: Rule, but: Formula = FALSE) -> Formula:
        """Return ∃w. guard(w) ∧ match(w): the rule matches some call, of which ``but`` is not true."""
        tool = self.deployment.tool(rule.tool)
        return self._of_some_call(
            tool, own_args(tool), conjoin(self.matched(rule, own_args(tool)), negate(but))
        )

    def read(self, formula: Core) -> Formula:
        """Return [f]."""
        match formula:
            case Atom(relation, args):
                return self.shown(relation, args)
            case Exists(binder, body) | Count("atleast", _, binder, body):
                inner = self.read(body)
                if binder.declared or implies_active(body, binder.name):
                    return replace(formula, body=inner)
                finite = self.deployment.schema.is_finite(binder.sort)
                ranging = And((self.occurs(binder), inner))
                return replace(formula, binder=replace(binder, declared=finite), body=ranging)
            case Each(binder, body):
                inner = self.read(body)
                if binder.declared or implies_active(body, binder.name):
                    return replace(formula, body=inner)
                finite = self.deployment.schema.is_finite(binder.sort)
                counted = _where(inner, self.occurs(binder))
                return replace(formula, binder=replace(binder, declared=finite), body=counted)
            case _:
                return map_children(self.read, formula)

    def shown(self, relation: str, args: Sequence[Term]) -> Formula:
        """Return the formula that a tuple of a relation is shown."""
        atom = Atom(relation, tuple(args), sorts=self.deployment.schema.relation(relation).sorts)
        if not self.role.views or tells_history(relation):
            return atom
        me: dict[str, Term] = {name: Const(value) for name, value in itself(self.role).items()}
        if self._is_any_of_many:
            me = {SELF: Var(_ANY_OF_MANY)}
        cuts = (
            substitute(
                line.where, {**me, **dict(zip((param.name for param in line.params), args, strict=True))}
            )
            for line in self.role.views
            if line.relation == relation
        )
        return conjunction((atom, disjunction(tuple(cuts))))

    def occurs(self, binder: Binder) -> Formula:
        """Return the formula that the value of a variable occurs in a shown fact or an offered call."""
        if not self.role.views and not self.deployment.schema.is_finite(binder.sort):
            return TRUE  # it is active, and all that is active is shown
        return disjunction((*self._in_facts(binder), *self._in_calls(binder)))

    def _in_facts(self, binder: Binder) -> Iterator[Formula]:
        for relation in self.deployment.schema.relations:
            for place, sort in enumerate(relation.sorts):
                if sort == binder.sort:
                    others = [Binder(f"{binder.name}.{k}", other) for k, other in enumerate(relation.sorts)]
                    args = [Var(binder.name if k == place else b.name) for k, b in enumerate(others)]
                    yield quantify(
                        Exists, others[:place] + others[place + 1 :], self.shown(relation.name, args)
                    )

    def _in_calls(self, binder: Binder) -> Iterator[Formula]:
        for name in self.role.tools:
            tool = self.deployment.tool(name)
            for place, param in enumerate(tool.params):
                if param.sort == binder.sort:
                    args = [Var(f"{binder.name}.{k}") for k in range(len(tool.params))]
                    args[place] = Var(binder.name)
                    if not self._is_any_of_many:
                        yield self._of_some_call(tool, args, TRUE, fixed=place)
                        continue
                    is_it = Equal(Var(_ANY_OF_MANY), Var(binder.name))
                    args[self_place(tool)] = Var(_ANY_OF_MANY)
                    offered = self._of_some_call(tool, args, TRUE, fixed=place)
                    yield And((is_it, offered)) if place == self_place(tool) else offered

    def _of_some_call(
        self, tool: Tool, args: Sequence[Var], formula: Formula, fixed: int | None = None
    ) -> Formula:
        """Return the formula that some offered call of the tool satisfies a formula.

        The arguments are variables; the one at the ``fixed`` place is free.
        """
        tool = called_by(self.role, tool)
        guard = substitute(tool.guard, dict(zip((param.name for param in tool.params), args, strict=True)))
        binders = []
        for place, (param, arg) in enumerate(zip(tool.params, args, strict=True)):
            finite = self.deployment.schema.is_finite(param.sort)
            if place != fixed and not (self._is_any_of_many and param.name == SELF):
                binders.append(Binder(arg.name, param.sort, declared=finite))
        return quantify(Exists, binders, conjunction((guard, formula)))


def _where(each: Formula, condition: Formula) -> Formula:
    """Return the tally restricted to values for which a condition is true too."""
    if isinstance(each, Each):
        return replace(each, body=_where(each.body, condition))
    assert isinstance(each, Weight)
    return replace(each, condition=And((condition, each.condition)))


def own_args(tool: Tool) -> tuple[Var, ...]:
    """Return the parameters of a tool as the arguments of its call."""
    return variables_of(tool.params)
