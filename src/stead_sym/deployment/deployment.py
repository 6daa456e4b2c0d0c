"""The deployment A = ⟨E, T, Π⟩ as data: what a `.stead` file says, names and sorts resolved.

`Deployment` holds formulas as they were written (uses of `define` included), so that it prints back
as a file; `Deployment.core` is the same deployment with every `define` expanded, which is what
the semantics and the engines read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import assert_never

from stead_sym.deployment.tool import Choose, Clear, Delete, Effect, Ensure, Fresh, Insert, Statement, Tool
from stead_sym.errors import DeclarationError, Span
from stead_sym.logic.sorts import expand
from stead_sym.logic.syntax import TRUE, Binder, Const, Definition, Formula, Term, constants
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Schema, Value


@dataclass(frozen=True, slots=True)
class View:
    """`view P(x, y) where f`: of P, the agent is shown the tuples satisfying f."""

    relation: str
    params: tuple[Binder, ...]
    where: Formula = TRUE
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Rule:
    """`call w(x) when f`: one line of a policy. ``args`` are matched against a call's arguments:
    a variable takes the value there (the same one wherever it stands), a constant must be it."""

    tool: str
    args: tuple[Term, ...] = ()
    when: Formula = TRUE
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Policy:
    """`policy NAME`: the first rule that matches some offered call selects all its matches."""

    name: str
    rules: tuple[Rule, ...]
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)

    @property
    def constants(self) -> frozenset[Value]:
        """The values that the policy mentions (definitions expanded). Their identity matters to it,
        so they belong to the set B that its wrapper leaves alone."""
        named = {t.value for rule in self.rules for t in rule.args if isinstance(t, Const)}
        return frozenset(named).union(*(constants(rule.when) for rule in self.rules))


@dataclass(frozen=True, slots=True)
class Spec:
    """`spec NAME f`: an FO-CTL sentence to be checked at the initial state."""

    name: str
    formula: Formula
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Deployment:
    """A STEAD but for its agent: schema, D0, bounds, tools, views, specifications.

    ``bounds`` has every unbounded sort as a key (0 where the file has no line).
    ``fair`` is kept for the fairness constraints of the file, ``text`` for what it was parsed from, if any.
    """

    name: str
    schema: Schema
    init: Instance
    bounds: Mapping[str, int]
    tools: tuple[Tool, ...]
    definitions: tuple[Definition, ...] = ()
    views: tuple[View, ...] = ()
    policies: tuple[Policy, ...] = ()
    fair: tuple[Formula, ...] = ()
    specs: tuple[Spec, ...] = ()
    system: str | None = None
    instructions: str | None = None
    bound_spans: Mapping[str, Span] = field(
        default_factory=lambda: MappingProxyType({}), compare=False, repr=False
    )
    text: str | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        """The deployment as a `.stead` file."""
        from stead_sym.deployment.printer import print_deployment  # the printer imports this module

        return print_deployment(self)

    @cached_property
    def constants(self) -> Mapping[str, tuple[Value, ...]]:
        """C, per sort: the values a finite sort lists, then the identifiers of D0 (sorted)."""
        return MappingProxyType(
            {
                sort.name: sort.values
                if sort.values is not None
                else tuple(sorted(self.init.active_domain[sort.name]))
                for sort in self.schema.sorts
            }
        )

    @cached_property
    def sort_of_constant(self) -> Mapping[Value, str]:
        """The sort of every value of C."""
        return MappingProxyType({v: s for s, values in self.constants.items() for v in values})

    @cached_property
    def core(self) -> Deployment:
        """The same deployment with every `define` expanded, and no definitions left."""
        by_name = {d.name: d for d in self.definitions}

        def closed(formula: Formula) -> Formula:
            return expand(formula, by_name)

        return replace(
            self,
            definitions=(),
            tools=tuple(
                replace(
                    tool,
                    guard=closed(tool.guard),
                    effects=tuple(_map_effect(closed, effect) for effect in tool.effects),
                )
                for tool in self.tools
            ),
            views=tuple(replace(view, where=closed(view.where)) for view in self.views),
            policies=tuple(
                replace(p, rules=tuple(replace(r, when=closed(r.when)) for r in p.rules))
                for p in self.policies
            ),
            fair=tuple(map(closed, self.fair)),
            specs=tuple(replace(spec, formula=closed(spec.formula)) for spec in self.specs),
        )

    def tool(self, name: str, span: Span | None = None) -> Tool:
        """The tool of that name; `DeclarationError` if there is none."""
        for tool in self.tools:
            if tool.name == name:
                return tool
        raise DeclarationError(f"unknown tool {name}; {_known(t.name for t in self.tools)}", span)

    def spec(self, name: str) -> Spec:
        """The specification of that name; `DeclarationError` if there is none."""
        for spec in self.specs:
            if spec.name == name:
                return spec
        raise DeclarationError(f"unknown spec {name}; {_known(s.name for s in self.specs)}")

    def policy(self, name: str) -> Policy:
        """The `policy` of that name; `DeclarationError` if there is none."""
        for policy in self.policies:
            if policy.name == name:
                return policy
        raise DeclarationError(f"unknown policy {name}; {_known(p.name for p in self.policies)}")


def _known(names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return f"there are {listed}" if listed else "none is declared"


def _map_effect(transform: Callable[[Formula], Formula], effect: Effect) -> Effect:
    """The effect with every formula in it transformed."""

    def statement(s: Statement) -> Statement:
        match s:
            case Choose() | Insert() | Delete():
                return replace(s, where=transform(s.where))
            case Ensure():
                return replace(s, formula=transform(s.formula))
            case Fresh() | Clear():
                return s
            case _:
                assert_never(s)

    return replace(
        effect,
        when=transform(effect.when),
        statements=tuple(map(statement, effect.statements)),
    )
