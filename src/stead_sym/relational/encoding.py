"""Encode a schema and its rigid values as integers.

The decision: all sets of facts over them share one object, because it also caches the shapes of parts, the
layouts and the codes of hubs. It is thread-safe.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count

from stead_sym.relational.graph import Row
from stead_sym.relational.layout import Hub, Layout, lay_out
from stead_sym.relational.nauty import CANONICAL_SECONDS
from stead_sym.relational.schema import Schema, Value
from stead_sym.relational.shapes import Shape, Shapes

SMALL = 64
"""The maximum number of values outside B for which all facts form one part without hubs."""

HUB = 32
"""The maximum number of facts that a value may occur in without being a hub."""

_MAX_LAYOUTS = 256  # the size of the cache


class Encoding:
    """A schema and rigid values as integers, with the caches that all `Parts` over them share.

    Relations and sorts are numbered by position in the schema. ``rigid`` has, per sort, the values that keep
    their names there. The codes of F rigid values are -F to -1, in the order of their names. ``prefixes`` are
    the canonical names of each sort without their numbers. ``seconds`` is the time limit for nauty on one
    part.
    """

    def __init__(
        self,
        schema: Schema,
        rigid: Mapping[str, Iterable[Value]],
        *,
        small: int = SMALL,
        hub: int = HUB,
        seconds: float = CANONICAL_SECONDS,
    ) -> None:
        self.schema = schema
        self.small = small
        self.hub = hub
        numbers = {sort.name: number for number, sort in enumerate(schema.sorts)}
        self.columns = [tuple(numbers[sort] for sort in relation.sorts) for relation in schema.relations]
        self.places = {relation.name: place for place, relation in enumerate(schema.relations)}
        self.fixed = sorted({value for values in rigid.values() for value in values})
        codes = {value: place - len(self.fixed) for place, value in enumerate(self.fixed)}
        self.rigid = [{value: codes[value] for value in rigid.get(sort.name, ())} for sort in schema.sorts]
        self.prefixes = _prefixes(schema, self.fixed)
        self.shapes = Shapes(self.columns, seconds)
        self.layouts: dict[object, Layout] = {}
        self._hubs: dict[Hub, int] = {}
        self._next_hub = count(-len(self.fixed) - 1, -1)

    def hub_code(self, hub: Hub) -> int:
        """Return the code of a hub: less than those of rigid values, and the same in every call."""
        code = self._hubs.get(hub)
        return self._hubs.setdefault(hub, next(self._next_hub)) if code is None else code

    def lay_out(
        self,
        counts: Mapping[Shape, int],
        hubs: Mapping[int, Hub],
        hub_rows: frozenset[Row],
        ground: frozenset[Row],
    ) -> Layout:
        """Return the result of `layout.lay_out`, cached."""
        key = (frozenset(counts.items()), hub_rows, ground)
        layout = self.layouts.get(key)
        if layout is None:
            if len(self.layouts) >= _MAX_LAYOUTS:
                self.layouts = {}
            layout = lay_out(self.shapes, len(self.fixed), counts, hubs, hub_rows, ground)
            self.layouts[key] = layout
        return layout


def _prefixes(schema: Schema, rigid: Iterable[Value]) -> list[str]:
    """Return the prefix P of the canonical names P_1, P_2, … of each sort.

    It depends on ``schema`` and ``rigid`` only, never on an instance. Underscores are appended until no other
    sort, no rigid value and no listed value of the schema can have a name with this prefix.
    """
    taken = {value.rpartition("_")[0] for known in (rigid, schema.listed) for value in known}
    prefixes: list[str] = []
    for sort in schema.sorts:
        prefix = sort.name.upper()
        while prefix in taken:
            prefix += "_"
        taken.add(prefix)
        prefixes.append(prefix)
    return prefixes
