"""The deployment A = ⟨E, T, Π⟩ as data: what a `.stead` file says.

One decision: definitions are expanded here and nowhere else (`logic.syntax` tells of the phases of formulas).
`Deployment.written` holds the parts as they were written, uses of `define` included, for whoever prints or
reviews them. The other attributes, and `Deployment.formula`, give expanded formulas, which is what the
semantics and the engines take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import assert_never

from stead_sym.deployment.tool import Choose, Clear, Delete, Effect, Ensure, Fresh, Insert, Statement, Tool
from stead_sym.errors import DeclarationError, Span
from stead_sym.logic.compose import as_formula
from stead_sym.logic.names import Names, constants, constants_among, nearest
from stead_sym.logic.parser import parse_formula
from stead_sym.logic.sorts import resolve
from stead_sym.logic.substitution import expand
from stead_sym.logic.syntax import TRUE, Binder, Definition, Expanded, Formula, Raw, Resolved, Term
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Schema, Value

_NOTHING: Mapping[str, str] = MappingProxyType({})


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
        """The values that the policy mentions. Their identity matters to it, so they belong to the set B that
        its wrapper leaves alone. `TypeError` for a policy that is not expanded."""
        named = constants_among(term for rule in self.rules for term in rule.args)
        return named.union(*(constants(rule.when) for rule in self.rules))


@dataclass(frozen=True, slots=True)
class Spec:
    """`spec NAME f`: an FO-CTL sentence to be checked at the initial state."""

    name: str
    formula: Formula
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a deployment that hold formulas. ``fair`` are the fairness constraints of the file."""

    tools: tuple[Tool, ...] = ()
    definitions: tuple[Definition, ...] = ()
    views: tuple[View, ...] = ()
    policies: tuple[Policy, ...] = ()
    fair: tuple[Formula, ...] = ()
    specs: tuple[Spec, ...] = ()

    def expanded(self) -> Parts:
        """The same parts with every use of a definition expanded, and no definitions left."""
        by_name = {definition.name: definition for definition in self.definitions}

        def closed(formula: Resolved) -> Expanded:
            return expand(formula, by_name)

        return Parts(
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


@dataclass(frozen=True)
class Deployment:
    """A STEAD but for its agent: schema, D0, bounds, tools, views, specifications.

    ``bounds`` has every unbounded sort as a key (0 where the file has no line). ``written`` holds resolved
    formulas; ``tools``, ``views``, ``policies``, ``fair`` and ``specs`` are the same parts expanded.
    ``text`` is what the deployment was parsed from, if it was.
    """

    name: str
    schema: Schema
    init: Instance
    bounds: Mapping[str, int]
    written: Parts = Parts()
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

    def outside(self, sort: str, values: Iterable[Value]) -> tuple[Value, ...]:
        """Those of the S-values that are not in C, in the order given."""
        known = frozenset(self.constants[sort])
        return tuple(value for value in values if value not in known)

    # The parts, expanded

    @cached_property
    def _expanded(self) -> Parts:
        return self.written.expanded()

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Ω with guards and effects."""
        return self._expanded.tools

    @property
    def views(self) -> tuple[View, ...]:
        """The `view` lines; without any the agent is shown the whole state."""
        return self._expanded.views

    @property
    def policies(self) -> tuple[Policy, ...]:
        """The white-box agents of the file."""
        return self._expanded.policies

    @property
    def fair(self) -> tuple[Expanded, ...]:
        """The fairness constraints."""
        return self._expanded.fair

    @property
    def specs(self) -> tuple[Spec, ...]:
        """The specifications."""
        return self._expanded.specs

    @cached_property
    def names(self) -> Names:
        """What formulas over the deployment may mention."""
        definitions = {definition.name: definition for definition in self.written.definitions}
        return Names(self.schema, self.sort_of_constant, definitions)

    def formula(self, formula: Raw | str, scope: Mapping[str, str] = _NOTHING) -> Expanded:
        """A formula over the deployment, or the text of one, resolved and expanded.

        ``scope`` gives the sorts of its free variables; temporal operators are allowed. Raises `ParseError`
        and `DeclarationError`.
        """
        raw = parse_formula(formula) if isinstance(formula, str) else as_formula(formula)
        return expand(resolve(raw, self.names, scope, temporal=True), self.names.definitions)

    def tool(self, name: str, span: Span | None = None) -> Tool:
        """The tool of that name; `DeclarationError` if there is none."""
        for tool in self.tools:
            if tool.name == name:
                return tool
        raise DeclarationError(f"unknown tool {name}; {_known(name, self.tools)}", span)

    def chosen(self, names: Iterable[str] | None) -> tuple[Spec, ...]:
        """The specifications of these names (a text is one name), or all for None; `DeclarationError` for a
        name that is not there."""
        if names is None:
            return self.specs
        return tuple(map(self.spec, [names] if isinstance(names, str) else names))

    def spec(self, name: str) -> Spec:
        """The specification of that name; `DeclarationError` if there is none."""
        for spec in self.specs:
            if spec.name == name:
                return spec
        raise DeclarationError(f"unknown spec {name}; {_known(name, self.specs)}")

    def policy(self, name: str) -> Policy:
        """The `policy` of that name; `DeclarationError` if there is none."""
        for policy in self.policies:
            if policy.name == name:
                return policy
        raise DeclarationError(f"unknown policy {name}; {_known(name, self.policies)}")


def as_deployment(deployment: object) -> Deployment:
    """The deployment, if it is one; `TypeError` otherwise."""
    if not isinstance(deployment, Deployment):
        raise TypeError(f"{deployment!r} is no deployment; `load` takes a file or the name of an example")
    return deployment


def _known(name: str, items: Sequence[Tool] | Sequence[Spec] | Sequence[Policy]) -> str:
    """A name close to the one that is unknown, or all that there are."""
    names = [item.name for item in items]
    listed = f"there are {', '.join(names)}" if names else "none is declared"
    return nearest(str(name), names, listed)


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
