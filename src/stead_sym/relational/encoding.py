"""A schema and the values that keep their names, as numbers.

The decision: one object for all sets of facts over them, since it also keeps what they have in common: the
shapes of parts and the layouts that were worked out, and the codes of hubs. Several threads may use it.
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
"""Facts over so many values outside B, or fewer, are one part without hubs."""

HUB = 32
"""A value in more facts than this is a hub."""

_MAX_LAYOUTS = 256  # that are remembered


class Encoding:
    """A schema and rigid values as numbers, and what `Parts` over them remember together.

    Relations and sorts have their places in the schema. ``rigid`` has, per sort, the values that keep their
    names there; of F of them in all the codes are -F to -1, in the order of the names. ``prefixes`` are the
    canonical names of each sort without their numbers. ``seconds`` is how long nauty may take for one part.
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
        """The code of a hub: less than those of rigid values, and the same whenever it is asked for."""
        code = self._hubs.get(hub)
        return self._hubs.setdefault(hub, next(self._next_hub)) if code is None else code

    def lay_out(
        self,
        counts: Mapping[Shape, int],
        hubs: Mapping[int, Hub],
        hub_rows: frozenset[Row],
        ground: frozenset[Row],
    ) -> Layout:
        """`layout.lay_out`, remembered."""
        key = (frozenset(counts.items()), hub_rows, ground)
        layout = self.layouts.get(key)
        if layout is None:
            if len(self.layouts) >= _MAX_LAYOUTS:
                self.layouts = {}
            layout = lay_out(self.shapes, len(self.fixed), counts, hubs, hub_rows, ground)
            self.layouts[key] = layout
        return layout


def _prefixes(schema: Schema, rigid: Iterable[Value]) -> list[str]:
    """The spelling of each sort's canonical names: P in P_1, P_2, …

    It depends on ``schema`` and ``rigid`` only, never on an instance. An underscore is added until no
    other sort, no rigid value and no listed value of the schema can have a name so spelled.
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
