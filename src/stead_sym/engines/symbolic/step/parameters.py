"""The parameters of a tool, twice: log-coded to enumerate its calls, and as selectors for sets of calls.

Conditions are compiled over the log-coded parameters. One decision: stored diagrams, the steps of a tool and
the sets of its calls, range over the selectors: these are one-hot, so that each is next to the record that it
names. Numbers name no record, and are log-coded here too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from stead_sym.deployment.tool import Tool
from stead_sym.engines.symbolic.bdd.manager import Bdd, Bits
from stead_sym.engines.symbolic.encode.encoding import Encoding
from stead_sym.engines.symbolic.encode.values import PARAM, Vector, bits_of
from stead_sym.engines.symbolic.step.formulas import Environment
from stead_sym.relational.schema import Value


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a tool, in order.

    The ``vectors`` are for the enumeration of its calls, the ``selectors`` for sets of them.
    """

    encoding: Encoding
    names: tuple[str, ...]
    vectors: tuple[Vector, ...]
    selectors: tuple[Vector, ...]

    @classmethod
    def of(cls, encoding: Encoding, tool: Tool) -> Parameters:
        """Return the parameters of a tool."""
        sorts = [binder.sort for binder in tool.params]
        names = tuple(binder.name for binder in tool.params)
        return cls(encoding, names, encoding.distinct(sorts), encoding.distinct(sorts, PARAM))

    @property
    def scope(self) -> Environment:
        """The vectors of the parameters' names in the tool's formulas."""
        return dict(zip(self.names, self.vectors, strict=True))

    def selected(self, condition: Bdd, values: Mapping[str, Value]) -> Bdd:
        """Return a condition on a call, over the selectors instead of the vectors.

        A selector of a parameter that ``values`` fixes has that value (`framed` adds that it has no other).
        """
        m, encoding, fixed = self.encoding.manager, self.encoding, self._fixed(values)
        if condition == m.false:
            return condition
        loose = {v: s for v, s in zip(self.vectors, self.selectors, strict=True) if s not in fixed}
        same = m.conj(encoding.equal_valid(v, s) for v, s in loose.items())
        taken = m.and_exist(frozenset(bits_of(loose)), condition, same)
        return m.conj([taken, *(encoding.is_value(selector, value) for selector, value in fixed.items())])

    def touched(self, values: Mapping[str, Value]) -> Bits:
        """Return the bits of the selectors over which the relation of an action ranges (`Action.touched`).

        For a selector with a fixed value these are the set bits, for any other all bits.
        """
        return frozenset(self._touched(self._fixed(values)))

    def _touched(self, fixed: Mapping[Vector, Value]) -> Iterator[str]:
        for selector in self.selectors:
            if selector in fixed and selector.one_hot:
                yield self.encoding.bit(selector, fixed[selector])
            else:
                yield from selector.bits

    def _fixed(self, values: Mapping[str, Value]) -> Mapping[Vector, Value]:
        """Return the selectors of the parameters that have a value."""
        pairs = zip(self.names, self.selectors, strict=True)
        return {selector: values[name] for name, selector in pairs if name in values}
