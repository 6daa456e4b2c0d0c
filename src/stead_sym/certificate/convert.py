"""Convert diagrams of the engine to those of certificates: one variable per fact, one per held value.

A field of the engine is log-coded: code i means that its i-th fact holds, code 0 that none does. Here

    "the field has code i"   becomes   the i-th fact holds,   "code 0"   becomes   none of them holds,

where the first of several facts decides. That the facts of a field exclude each other is stated in R only:
all other sets are read within R. One decision: the conversion is a recursion over nodes that creates
nodes, without a manager; the bits of a field are adjacent in the order of the engine, and so are its facts
here.
"""

from __future__ import annotations

from collections.abc import Mapping

from stead_sym.certificate.diagrams import FALSE, TRUE, Diagrams, Table
from stead_sym.engines.symbolic.bdd.manager import Bdd, deep
from stead_sym.engines.symbolic.encode.encoding import Encoding, Field
from stead_sym.engines.symbolic.encode.values import HELD, Vector
from stead_sym.relational.instance import Fact


class Sets:
    """The sets of one certificate, numbered in the order in which they are added."""

    def __init__(self) -> None:
        self.functions: list[Bdd] = []
        self._numbers: dict[int, int] = {}

    def number(self, function: Bdd) -> int:
        """Return the number of a set that is read within R, and add it if it is new."""
        number = self._numbers.get(int(function))
        if number is None:
            number = self._numbers[int(function)] = len(self.functions)
            self.functions.append(function)
        return number


class Converter:
    """Converts the diagrams of one certificate from an encoding that has all its variables."""

    def __init__(self, encoding: Encoding, within: frozenset[str]) -> None:
        """Set up the new variables.

        ``within`` are the values of U_f; facts over other values hold in no state.
        """
        self.encoding = encoding
        self.manager = encoding.manager
        self.table = Table()
        self._field_at: dict[int, Field] = {}
        self._level: dict[str, int] = {}  # of the new variables
        self._held_at: dict[int, int] = {}  # from the level of a held bit to the new level
        self._facts: dict[Field, list[tuple[int, int]]] = {}  # the new levels and the codes, last first
        self.order = self._arranged(within)
        self._known: dict[int, tuple[Bdd, int]] = {}
        self._exact: dict[tuple[int, int], tuple[Bdd, int]] = {}

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts with variables, in the order of these."""
        return self._listed

    def _arranged(self, within: frozenset[str]) -> tuple[str, ...]:
        """Return the new variables in the order of the engine's bits."""
        level = self.manager.level
        of_bit: dict[str, Field] = {field.bits[0]: field for field in self.encoding.fields}
        held = self._held_names(within)
        order: list[str] = []
        listed: list[Fact] = []
        self._by_place: list[Field] = []
        for bit in sorted([*of_bit, *held], key=level):
            if bit in held:
                self._held_at[level(bit)] = len(order)
                order.append(held[bit])
                continue
            field = of_bit[bit]
            for other in field.bits:
                self._field_at[level(other)] = field
            codes: list[tuple[int, int]] = []
            for fact, code in field.number.items():
                if within.issuperset(fact.args):
                    codes.append((len(order), code))
                    order.append(fact.key)
                    listed.append(fact)
            self._facts[field] = codes[::-1]
            self._by_place.append(field)
        self._place = {field: place for place, field in enumerate(self._by_place)}
        self._listed = tuple(listed)
        return tuple(order)

    def _held_names(self, within: frozenset[str]) -> Mapping[str, str]:
        """Return the new name of each bit of the held variables."""
        names: dict[str, str] = {}
        vectors: dict[str, tuple[Vector, int]] = {}
        for vector, index in self.encoding.of_role(HELD):
            vectors[vector.bits[0]] = vector, index
            for value, bit in zip(self.encoding.values[vector.sort], vector.bits, strict=False):
                if value in within:
                    names[bit] = f"{vector.sort}#{index}={value}"
        for left, right in self.encoding.mortal_pairs(vector for vector, _ in vectors.values()):
            bit = self.encoding.same_dead(left, right)
            one, other = sorted((vectors[left.bits[0]][1], vectors[right.bits[0]][1]))
            names[bit] = f"{left.sort}#{one}~{left.sort}#{other}"
        return names

    # sets

    def diagrams(self, sets: Sets, *states: Bdd) -> Diagrams:
        """Return the diagrams of the sets in their order, followed by those of some sets of states.

        The latter are restricted to the states in which no two facts of a field hold.
        """
        with deep(4 * self.manager.variables + 1000):
            roots = [*map(self._node, sets.functions), *(self._exactly(one, 0) for one in states)]
        used = sorted({level for level, _, _ in self.table.nodes})
        place = {level: number for number, level in enumerate(used)}
        nodes = [(place[level], low, high) for level, low, high in self.table.nodes]
        return Diagrams(tuple(self.order[level] for level in used), nodes, tuple(roots))

    def _node(self, function: Bdd) -> int:
        if function == self.manager.true:
            return TRUE
        if function == self.manager.false:
            return FALSE
        converted = self._known.get(int(function))
        if converted is not None:
            return converted[1]
        level = function.level
        field = self._field_at.get(level)
        if field is None:
            low, high = self.manager.branches(function)
            at = self._held_at.get(level)  # None for a value beyond U_f, which no variable holds
            result = self._node(low)
            if at is not None:
                result = self.table.node(at, result, self._node(high))
        else:
            by_code = self._by_code(function, field)
            result = self._node(by_code[0])
            for at, code in self._facts[field]:
                result = self.table.node(at, result, self._node(by_code[code]))
        self._known[int(function)] = function, result
        return result

    def _exactly(self, function: Bdd, place: int) -> int:
        if function == self.manager.false:
            return FALSE
        if place == len(self._by_place):
            return TRUE
        key = int(function), place
        converted = self._exact.get(key)
        if converted is not None:
            return converted[1]
        field = self._by_place[place]
        by_code = self._by_code(function, field)
        result = self._exactly(by_code[0], place + 1)
        lower: list[int] = []
        for at, code in self._facts[field]:
            alone = self._exactly(by_code[code], place + 1)
            for other in lower:
                alone = self.table.node(other, alone, FALSE)
            result = self.table.node(at, result, alone)
            lower.append(at)
        self._exact[key] = function, result
        return result

    def _by_code(self, function: Bdd, field: Field) -> list[Bdd]:
        """Return the cofactor of a function for each code of a field.

        No variable of the function is above the bits of the field.
        """
        level = [function]
        for bit in field.bits:
            at = self.manager.level(bit)
            level = [
                half
                for f in level
                for half in (
                    self.manager.branches(f)
                    if f not in (self.manager.true, self.manager.false) and f.level == at
                    else (f, f)
                )
            ]
        return level
