"""Join actions that each write a few bits into one relation; the other bits get their default.

An action does not constrain the bits that it does not write, nor those of selectors that are irrelevant to
it. In the union (`bdd.union`) they are idle: b' ≡ d_b for a bit b, where d_b = b unless all of the actions
give b another value (`updates`), and a bit of a selector is not set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from stead_sym.engines.symbolic.bdd.manager import Bdd, Bits
from stead_sym.engines.symbolic.bdd.union import union
from stead_sym.engines.symbolic.encode.encoding import Encoding
from stead_sym.engines.symbolic.encode.values import Vector


@dataclass(frozen=True, slots=True)
class Action:
    """Steps that write some state bits.

    ``relation`` ranges over the state bits, the copies of those in ``touched``, and the bits of selectors in
    ``touched``, which identify the call.
    """

    relation: Bdd
    touched: Bits


def framed(
    encoding: Encoding,
    actions: Iterable[Action],
    selectors: Sequence[Vector],
    defaults: Mapping[str, Bdd] = MappingProxyType({}),
) -> Bdd:
    """Return ⋁ of the actions over all bits of the database, their copies and the bits of the selectors.

    A bit that an action does not write gets its default, or stays if it has none; a selector has one value.
    """
    m = encoding.manager
    idle = {
        bit: m.var(encoding.primed(bit)).equiv(defaults[bit] if bit in defaults else m.var(bit))
        for bit in encoding.order
        if bit not in encoding.history_bits
    }
    idle |= {bit: ~m.var(bit) for vector in selectors if vector.one_hot for bit in vector.bits}
    return union(m, ((action.relation, action.touched & idle.keys()) for action in actions), idle)
