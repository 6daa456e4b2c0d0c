"""The union of many functions, each over a few variables, with all other variables idle.

Each function concerns only some of the variables, such as the transition relation of one action. In the union
it must also require that every other variable is *idle*: a bit of the successor equals that of the state, a
bit of a one-hot vector is not set.

One decision: the functions are sorted by the positions of their variables in the order and joined in pairs,
as a balanced tree. When two parts are joined, each gets the idleness condition for the variables that only
the other concerns. Neighbours concern neighbouring variables, so these conditions are short until near the
root, and take O(n log n) steps for n variables together. Each part carries the condition that its own
variables are idle; the other part needs this condition if the two concern different variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from stead_sym.engines.symbolic.bdd.manager import Bdd, Bits, Manager


def union(manager: Manager, functions: Iterable[tuple[Bdd, Bits]], idle: Mapping[str, Bdd]) -> Bdd:
    """Return ⋁ over the functions (f, B) of f ∧ ⋀_{b ∉ B} idle_b, for the variables b of ``idle``.

    ``idle`` has all variables of every B.
    """
    place = {name: manager.level(name) for name in idle}

    def still(names: Set[str]) -> Bdd:
        """Return the condition that all of these are idle."""
        result = manager.true
        for name in sorted(names, key=place.__getitem__, reverse=True):
            result = idle[name] & result
        return result

    parts = [(function, own, still(own)) for function, own in functions]
    parts.sort(key=lambda part: min(map(place.__getitem__, part[1]), default=0))
    while len(parts) > 1:
        joined = []
        for (left, of_left, left_idle), (right, of_right, right_idle) in zip(
            parts[::2], parts[1::2], strict=False
        ):
            apart = of_left.isdisjoint(of_right)
            around_left = right_idle if apart else still(of_right - of_left)
            around_right = left_idle if apart else still(of_left - of_right)
            both = (left & around_left) | (right & around_right)
            joined.append((both, of_left | of_right, left_idle & around_left))
        parts = joined + parts[len(joined) * 2 :]
    return manager.disj(function & still(idle.keys() - own) for function, own, _ in parts)
