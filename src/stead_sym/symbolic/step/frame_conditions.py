"""Many actions, each of which writes a few bits, as one relation with frame conditions: the others get their
default.

An action leaves open what becomes of the bits that it does not write. In the union of two actions each
side needs a frame condition b' ≡ d_b for the bits that only the other writes, where d_b = b unless all of
the actions give b another value (`updates`). One decision: the actions are sorted by the place of their bits
in the order and joined in pairs, as a balanced tree. Neighbours write neighbouring bits, so that the
conditions are short until near the root, and take O(n log n) steps for n bits together. Each part carries the
frame condition of its own bits, which is the other side's where they write different ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from types import MappingProxyType

from stead_sym.symbolic.bdd.manager import Bdd, Bits
from stead_sym.symbolic.encode.encoding import Encoding
from stead_sym.symbolic.encode.values import Vector


@dataclass(frozen=True, slots=True)
class Action:
    """Steps that write some state bits: ``relation`` ranges over the state bits, the copies of those in
    ``touched``, and the bits of selectors in ``touched``, which say what the action is about."""

    relation: Bdd
    touched: Bits


def framed(
    encoding: Encoding,
    actions: Iterable[Action],
    selectors: Sequence[Vector],
    defaults: Mapping[str, Bdd] = MappingProxyType({}),
) -> Bdd:
    """⋁ of the actions over all state bits, all copies and the bits of the selectors: a bit that an action
    does not write gets its default, or stays if it has none, and a selector has one value."""
    m = encoding.manager
    idle = {
        bit: m.var(encoding.primed(bit)).equiv(defaults[bit] if bit in defaults else m.var(bit))
        for bit in encoding.order
    }
    idle |= {bit: ~m.var(bit) for vector in selectors if vector.one_hot for bit in vector.bits}
    place = {bit: m.level(bit) for bit in idle}

    def still(bits: Set[str]) -> Bdd:
        """The frame condition: state bits among these get their defaults, and bits of one-hot selectors are
        not set, so that no call about these values is meant."""
        result = m.true
        for bit in sorted(bits, key=place.__getitem__, reverse=True):
            result = idle[bit] & result
        return result

    touched = [(action.relation, action.touched & idle.keys()) for action in actions]
    parts = [(relation, bits, still(bits)) for relation, bits in touched]
    parts.sort(key=lambda part: min(map(place.__getitem__, part[1]), default=0))
    while len(parts) > 1:
        joined = []
        for (left, of_left, left_idle), (right, of_right, right_idle) in zip(
            parts[::2], parts[1::2], strict=False
        ):
            apart = of_left.isdisjoint(of_right)
            around_left = right_idle if apart else still(of_right - of_left)
            around_right = left_idle if apart else still(of_left - of_right)
            union = (left & around_left) | (right & around_right)
            joined.append((union, of_left | of_right, left_idle & around_left))
        parts = joined + parts[len(joined) * 2 :]
    return m.disj(relation & still(idle.keys() - bits) for relation, bits, _ in parts)
