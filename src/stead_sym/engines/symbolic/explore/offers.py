"""The states in which calls are offered and events enabled, over the state bits and their selectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property

import stead_sym.logic.syntax as fo
from stead_sym.deployment.callers import called_by, self_place
from stead_sym.deployment.parts import AgentRole
from stead_sym.engines.symbolic.bdd.manager import Bdd, Bits
from stead_sym.engines.symbolic.encode.values import PARAM, Vector, bits_of
from stead_sym.engines.symbolic.step.effects import ToolInterface
from stead_sym.engines.symbolic.step.formulas import Compiler
from stead_sym.relational.schema import Value


class Offers:
    """The offers of some tools and events."""

    def __init__(self, compiler: Compiler, tools: Mapping[str, ToolInterface]) -> None:
        self.tools = tools
        self.beside = Compiler(compiler.encoding, PARAM, compiler.single)
        """A compiler over one-hot vectors, which are next to the records, like selectors."""

    def of(self, role: AgentRole) -> Offers:
        """Return the offers of one agent, which may be one of many."""
        if role.me is None:
            return self
        return Offers(self.beside, {name: self._called_by(role, role.me, name) for name in role.tools})

    def _called_by(self, role: AgentRole, me: Value, name: str) -> ToolInterface:
        interface = self.tools[name]
        own = self.beside.encoding.is_value(interface.params[self_place(interface.tool)], me)
        return replace(interface, tool=called_by(role, interface.tool), offered=interface.offered & own)

    @cached_property
    def calls(self) -> Mapping[str, Bdd]:
        """Per tool the states in which its calls are offered: the selection of an unrestricted agent."""
        return {name: self.under(name, tool.tool.guard) for name, tool in self.tools.items()}

    def under(self, name: str, guard: fo.Formula) -> Bdd:
        """Return the states in which a tool's calls would be offered under another guard.

        They are over the state bits and its selectors.
        """
        tool, valid = self.tools[name], self.beside.encoding.valid
        guarded = replace(tool.tool, guard=guard)
        return self.beside.manager.conj(
            [self.beside.offered(guarded, tool.selectors), *map(valid, tool.selectors)]
        )

    def selectors(self, name: str) -> Bits:
        """Return the bits of a tool's selectors."""
        return frozenset(bits_of(self.tools[name].selectors))

    def by(self, names: Iterable[str], states: Bdd) -> Bdd:
        """Return the states, of a set over the state bits, in which some call of these tools is offered."""
        m = self.beside.manager
        silent = states
        for name in names:
            silent = silent & ~m.and_exist(self.selectors(name), silent, self.calls[name])
        return states & ~silent

    def condition(self, name: str, formula: fo.Formula) -> Bdd:
        """Return ⟦f⟧ over the state bits and a tool's selectors, for a first-order f over its parameters."""
        return self.beside.formula(formula, self._scope(name))

    def conjuncts(self, name: str, formula: fo.Formula) -> Iterator[Bdd]:
        """Yield sets whose intersection is `condition`."""
        return self.beside.conjuncts(formula, self._scope(name))

    def _scope(self, name: str) -> Mapping[str, Vector]:
        """Return the selectors of a tool, by the names of its parameters."""
        tool = self.tools[name]
        return dict(zip((param.name for param in tool.tool.params), tool.selectors, strict=True))
