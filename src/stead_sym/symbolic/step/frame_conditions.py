"""Many actions, each of which writes a few bits, as one relation with frame conditions: the others stay.

An action leaves open what becomes of the bits that it does not write. In the union of two actions each
side needs a frame condition b' = b for the bits that only the other writes. One decision: the actions are
sorted by the place of their bits in the order and joined in pairs, as a balanced tree. Neighbours write
neighbouring bits, so that the conditions are short until near the root, and take O(n log n) steps for n
bits together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from stead_sym.symbolic.bdd.manager import Bdd, Bits
from stead_sym.symbolic.encode.encoding import Encoding
from stead_sym.symbolic.encode.values import Vector


@dataclass(frozen=True, slots=True)
class Action:
    """Steps that write some state bits: ``relation`` ranges over the state bits, the copies of those in
    ``touched``, and the bits of selectors in ``touched``, which say what the action is about."""

    relation: Bdd
    touched: Bits


def framed(encoding: Encoding, actions: Iterable[Action], selectors: Sequence[Vector]) -> Bdd:
    """⋁ of the actions over all state bits, all copies and the bits of the selectors: what an action
    does not write stays, a selector has one value."""
    m = encoding.manager
    idle = {bit: m.var(encoding.primed(bit)).equiv(m.var(bit)) for bit in encoding.order}
    idle |= {bit: ~m.var(bit) for vector in selectors if vector.one_hot for bit in vector.bits}

    def still(bits: Set[str]) -> Bdd:
        """The frame condition: state bits among these keep their values, and bits of one-hot selectors are
        not set, so that no call about these values is meant."""
        result = m.true
        for bit in sorted(bits, key=m.level, reverse=True):
            result = idle[bit] & result
        return result

    parts = [(action.relation, action.touched & idle.keys()) for action in actions]
    parts.sort(key=lambda part: min(map(m.level, part[1]), default=0))
    while len(parts) > 1:
        joined = []
        for (left, of_left), (right, of_right) in zip(parts[::2], parts[1::2], strict=False):
            union = (left & still(of_right - of_left)) | (right & still(of_left - of_right))
            joined.append((union, of_left | of_right))
        parts = joined + parts[len(joined) * 2 :]
    return m.disj(relation & still(idle.keys() - touched) for relation, touched in parts)
