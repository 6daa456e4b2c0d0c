"""Comparisons of integers as diagrams (`logic.integers`).

For a number in a log-coded vector each bit is an item. A one-hot vector is a single item: its bits exclude
each other. One decision: for a tally each fact that it counts is an item, enumerated by descending through
the values of its variables, which prunes those that never count; facts that exclude each other, like those of
one record, form one item. Numbers of which at most one counts in a state, like the amount of a record, are
not enumerated: each bit of them is an item.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.engines.symbolic.encode.encoding import Encoding
from stead_sym.engines.symbolic.encode.values import Vector, bits_of
from stead_sym.logic.integers import Item, Linear, coefficients, decided
from stead_sym.relational.schema import Value

_Environment: TypeAlias = Mapping[str, Vector | Value]
Counted: TypeAlias = Callable[[Sequence[tuple[fo.Binder, Vector]], fo.Formula, _Environment, bool], Bdd]


class Integers:
    """A compiler of comparisons of integers; tallies, if any, need to be told what they count.

    ``counted`` returns where a formula is true of some variables' vectors, over the bits of these and the
    states; its last argument tells if the formula may have primed symbols (`formulas.Compiler.counted`).
    """

    def __init__(self, encoding: Encoding, counted: Counted | None = None) -> None:
        self.encoding = encoding
        self.manager = encoding.manager
        self._counted = counted

    def compared(self, form: Linear, env: _Environment, joint: bool) -> Bdd:
        """Return Σ cᵢ·aᵢ + c ⋈ 0 over the state bits and the vectors of ``env``."""
        m, items, constant = self.manager, list[tuple[Bdd, int]](), form.constant
        exclusive: list[Item[Bdd]] = []
        for part, times in form.parts:
            if isinstance(part, fo.Tally):
                items += self._tally(part.each, times, env, joint, m.true)
                continue
            constant += self._least(env[part.name], times)
            bits = self._bits(env[part.name], times)
            if isinstance(vector := env[part.name], Vector) and vector.one_hot:
                exclusive.append(bits)
            else:
                items += bits
        ordered = sorted(
            (*exclusive, *self._grouped(items, env)), key=lambda item: self._place(item[0][0], env)
        )
        return decided(form.ordering, constant, ordered, m.ite, m.true, m.false)

    def _least(self, term: Vector | Value, times: int) -> int:
        """Return the constant summand of an integer: a value, or the least value of a log-coded vector."""
        if isinstance(term, str):
            return times * int(term)
        return 0 if term.one_hot else times * self.encoding.first[term.sort]

    def _bits(self, term: Vector | Value, times: int) -> list[tuple[Bdd, int]]:
        """Return the weights of a vector's bits."""
        if isinstance(term, str):
            return []
        m = self.manager
        if term.one_hot:
            values = self.encoding.values[term.sort]
            return [(self.encoding.is_value(term, value), times * int(value)) for value in values]
        return [(m.var(bit), times << k) for k, bit in enumerate(reversed(term.bits))]

    def _tally(
        self, each: fo.Formula, times: int, env: _Environment, joint: bool, where: Bdd
    ) -> Iterator[tuple[Bdd, int]]:
        """Yield the states in which each instance of a tally counts, with its weight."""
        m, encoding = self.manager, self.encoding
        inner, vectors, binders = dict(env), list[Vector](), list[fo.Binder]()
        while isinstance(each, fo.Each):
            vectors.append(encoding.unused(each.binder.sort, inner.values()))
            binders.append(each.binder)
            inner[each.binder.name] = vectors[-1]
            each = each.body
        assert isinstance(each, fo.Weight)
        assert self._counted is not None
        counted = self._counted([*zip(binders, vectors, strict=True)], each.condition, inner, joint)
        outer = [term for term in env.values() if isinstance(term, Vector) and term.one_hot]
        member = m.conj([where, counted, *map(encoding.valid, outer)])
        names = [binder.name for binder in binders]
        for values, case in self._instances(member, vectors):
            inner = {**env, **{name: values.get(v, v) for name, v in zip(names, vectors, strict=True)}}
            rest = frozenset(bits_of(v for v in vectors if v not in values))
            for term in each.of or (fo.Const("1"),):
                for counts, weight in self._weighed(term, times, inner, joint, case):
                    yield m.exist(rest, counts), weight

    def _instances(
        self, member: Bdd, vectors: Sequence[Vector]
    ) -> Iterator[tuple[Mapping[Vector, Value], Bdd]]:
        """Yield values of the vectors, each with the cofactor, except of numbers that a state determines."""
        if member == self.manager.false:
            return
        names = [vector for vector in vectors if vector.sort not in self.encoding.first]
        if not names and self._determined(member, vectors):
            yield {}, member
            return
        names = names or list(vectors[:1])
        rest = [vector for vector in vectors if vector not in names]
        for assignment, case in self.manager.cases(member, sorted(bits_of(names), key=self.manager.level)):
            values = {vector: self.encoding.value(vector, assignment) for vector in names}
            yield from (({**values, **more}, part) for more, part in self._instances(case, rest))

    def _determined(self, member: Bdd, vectors: Sequence[Vector]) -> bool:
        """Return True if in each state at most one tuple of values of the vectors is a member."""
        if not vectors:
            return True
        bits = frozenset(bits_of(vectors))
        around, some = self.manager.support(member) | bits, self.manager.exist(bits, member)
        return self.manager.count(member, around) == self.manager.count(some, around - bits)

    def _weighed(
        self, term: fo.Term, times: int, env: _Environment, joint: bool, where: Bdd
    ) -> Iterator[tuple[Bdd, int]]:
        """Yield the summands of a term in the given states."""
        parts, constant = coefficients(term, times)
        for part, own in parts.items():
            if isinstance(part, fo.Tally):
                yield from self._tally(part.each, own, env, joint, where)
            else:
                constant += self._least(env[part.name], own)
                yield from ((where & bit, weight) for bit, weight in self._bits(env[part.name], own))
        if constant:
            yield where, constant

    def _grouped(self, items: Iterable[tuple[Bdd, int]], env: _Environment) -> Iterator[Item[Bdd]]:
        """Yield the items, with consecutive ones that exclude each other joined: the values of one record."""
        m, group, union = self.manager, list[tuple[Bdd, int]](), self.manager.false
        for where, weight in sorted(items, key=lambda item: self._place(item[0], env)):
            if group and where & union != m.false:
                yield group
                group, union = [], m.false
            group.append((where, weight))
            union = union | where
        if group:
            yield group

    def _place(self, where: Bdd, env: _Environment) -> int:
        """Return the topmost level of a function, ignoring the bits of the vectors in scope."""
        around = frozenset(bits_of(env.values()))
        levels = [self.manager.level(bit) for bit in where.support]
        own = [self.manager.level(bit) for bit in where.support if bit not in around]
        return min(own or levels, default=0)
