"""The new values of the bits that an effect writes, for given values of the variables that it writes about.

The statements give, for each fact, the states in which it is deleted and in which it is inserted; from
these come the new values of the bits of its field, and which keys that the encoding relies on the
effect may break (`step.invariants`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import assert_never

from stead_sym.deployment.tool import Assign, Choose, Clear, Delete, Effect, Ensure, Fresh, Insert
from stead_sym.logic.syntax import Var, free_variables
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Value
from stead_sym.symbolic.bdd.manager import Bdd
from stead_sym.symbolic.encode.encoding import Field
from stead_sym.symbolic.encode.mutex import Key, is_declared, keys_of
from stead_sym.symbolic.encode.values import Vector, bits_of, number_in
from stead_sym.symbolic.step.formulas import Compiler, Environment, denoted
from stead_sym.symbolic.step.invariants import may_meet, meeting


@dataclass(frozen=True, slots=True)
class Write:
    """The new values of the written bits over the old ones, where ``case`` holds.

    ``outside``: the states in which a fact without bits would be inserted, one outside U_f. ``doubling``:
    those after which two facts with one declared key would hold, which no field has a code for. ``broken``:
    the keys of which two facts could hold afterwards, of the guessed ones that the encoding relies on.
    """

    updates: Mapping[str, Bdd]
    outside: Bdd
    doubling: Bdd
    broken: frozenset[Key]


class Writer:
    """Turns statements into updates of bits.

    ``single``: relations that are taken to hold one fact at most.
    """

    def __init__(self, compiler: Compiler, single: Set[str]) -> None:
        self.compiler = compiler
        self.encoding = compiler.encoding
        self.manager = compiler.manager
        self.single = single
        self._index: dict[tuple[str, int, Value], tuple[Fact, ...]] = {}
        self._indexed: set[tuple[str, int]] = set()
        self._facts: dict[tuple[str, tuple[Vector | Value, ...]], Bdd] = {}

    def write(self, effect: Effect, values: Environment, case: Bdd) -> Write:
        """What the statements of an effect do in the states of ``case``, all in the care set, for values of
        its variables. A one-hot vector stands for any value that ``case`` allows, and the updates depend
        on it."""
        m = self.manager
        deleted: dict[Fact, Bdd] = {}
        inserted: dict[Fact, Bdd] = {}
        outside = m.false
        for statement in effect.statements:
            match statement:
                case Clear(relations):
                    for name in relations:
                        deleted.update(dict.fromkeys(self._present(name, case), m.true))
                case Delete():
                    for fact, when in self.affected(statement, values):
                        deleted[fact] = deleted.get(fact, m.false) | when
                case Insert():
                    for fact, when in self.affected(statement, values):
                        if self.encoding.field(fact) is not None:
                            inserted[fact] = inserted.get(fact, m.false) | when
                        elif fact not in self.encoding.static:
                            outside = outside | when
                case Choose() | Fresh() | Ensure():
                    pass
                case Assign():
                    raise AssertionError(f"{statement} is not expanded")
                case _:
                    assert_never(statement)
        broken = set(self._broken_singles(effect, case, deleted, inserted))
        updates: dict[str, Bdd] = {}
        doubling = m.false
        for field, facts in self._touched(deleted.keys() | inserted.keys()).items():
            within = case & self.encoding.well_coded(field) if self.encoding.care == m.true else case
            gone = {fact: deleted[fact] for fact in sorted(facts & deleted.keys())}
            come = {fact: inserted[fact] for fact in sorted(facts & inserted.keys())}
            leaving = self._leaving(gone)
            occupied = ~m.point(field.code(None)) & ~leaving
            if len(field.facts) > 1 and come:
                met = within & meeting(self.compiler, occupied, come)
                if is_declared(field, self.encoding.schema):
                    doubling = doubling | met
                elif met != m.false:
                    broken |= keys_of(field)
            for bit, new in self._field_bits(field, leaving, come).items():
                settled = self._settle(bit, new, within)
                if settled is not None:
                    updates[bit] = settled
        return Write(updates, outside, doubling, frozenset(broken))

    def _touched(self, facts: Iterable[Fact]) -> Mapping[Field, set[Fact]]:
        """The facts that have bits, by field."""
        touched: dict[Field, set[Fact]] = {}
        for fact in facts:
            field = self.encoding.field(fact)
            if field is not None:
                touched.setdefault(field, set()).add(fact)
        return touched

    # relations with one fact at most, one bit for each

    def _present(self, relation: str, case: Bdd) -> tuple[Fact, ...]:
        """The facts of a relation that may hold in ``case``: the only one, if it is known, or those of
        the field that it is in.

        A fact that holds throughout the case holds on any path to it.
        """
        m, atom = self.manager, self.encoding.atom
        if relation in self.single and case != m.false:
            for field, fact in self._held_on(m.path(case)):
                if fact.relation == relation:
                    if case & ~atom(fact) == m.false:
                        return (fact,)
                    if case & ~m.disj(map(atom, field.facts)) == m.false:
                        return field.facts
        return self.encoding.dynamic_facts[relation]

    def _held_on(self, path: Mapping[str, bool]) -> Iterator[tuple[Field, Fact]]:
        """The facts whose bits, as far as the path sets them, say that they hold, with their fields."""
        fields = (self._field_of.get(bit) for bit, value in path.items() if value)  # None: of a parameter
        for field in dict.fromkeys(filter(None, fields)):
            number = number_in(field.bits, path)
            if number <= len(field.facts):
                yield field, field.facts[number - 1]

    @cached_property
    def _field_of(self) -> Mapping[str, Field]:
        """The field of each state bit."""
        return {bit: field for field in self.encoding.fields for bit in field.bits}

    def _broken_singles(
        self,
        effect: Effect,
        case: Bdd,
        deleted: Mapping[Fact, Bdd],
        inserted: Mapping[Fact, Bdd],
    ) -> Iterator[Key]:
        """The single relations of which two facts could hold afterwards."""
        m = self.manager
        for relation in sorted({fact.relation for fact in inserted} & self.single):
            come = {fact: when for fact, when in inserted.items() if fact.relation == relation}
            present = self._present(relation, case)
            if any(isinstance(s, Clear) and relation in s.relations for s in effect.statements):
                held = m.false
            elif len(present) < len(self.encoding.dynamic_facts[relation]):
                held = m.disj(map(self.encoding.atom, present))
            else:
                held = self._any[relation]
            gone = {fact: when for fact, when in deleted.items() if fact.relation == relation}
            stays = held & ~self._leaving(gone)
            for_good = m.true if self.encoding.static_facts[relation] else m.false
            if may_meet(self.compiler, stays | for_good, come, case):
                yield relation, ()

    @cached_property
    def _any(self) -> Mapping[str, Bdd]:
        """For each single relation: some fact of it holds."""
        return {
            name: self.manager.disj(map(self.encoding.atom, self.encoding.dynamic_facts[name]))
            for name in self.single
        }

    # fields

    def _leaving(self, deleted: Mapping[Fact, Bdd]) -> Bdd:
        """Where one of the facts holds and is deleted."""
        return self.manager.disj(when & self.encoding.atom(fact) for fact, when in deleted.items())

    def _field_bits(self, field: Field, leaving: Bdd, inserted: Mapping[Fact, Bdd]) -> Mapping[str, Bdd]:
        """The new bits of a field of which no two facts meet: those of the fact inserted or of the one that
        held and is not deleted. Where there are both they are the same fact."""
        m = self.manager
        news: dict[str, list[Bdd]] = {bit: [m.var(bit) & ~leaving] for bit in field.bits}
        for fact, when in inserted.items():
            for bit, value in field.code(fact).items():
                if value:
                    news[bit].append(when)
        return {bit: m.disj(functions) for bit, functions in news.items()}

    def _settle(self, bit: str, new: Bdd, case: Bdd) -> Bdd | None:
        """The new value of a bit, constant where the case makes it so; None where it stays."""
        m, old = self.manager, self.manager.var(bit)
        if new == old:
            return None
        if new not in (m.true, m.false):
            if m.implies(case, ~new):
                new = m.false
            elif m.implies(case, new):
                new = m.true
        return None if m.implies(case, new.equiv(old)) else new

    # which facts a statement is about

    def affected(self, statement: Insert | Delete, values: Environment) -> Iterator[tuple[Fact, Bdd]]:
        """The facts that a statement may insert or delete, each with the states in which it does.

        A fact that no bit and no static fact stands for is given too: an insertion outside U_f.
        """
        loose = {name: term for name, term in values.items() if isinstance(term, Vector)}
        if loose:
            mentioned = mentioned_variables(statement)
            loose = {name: vector for name, vector in loose.items() if name in mentioned}
        for chosen, where in self._choices(loose):
            for fact, when in self._affected(statement, {**values, **chosen}):
                yield fact, where & when

    def _choices(self, loose: Mapping[str, Vector]) -> Iterator[tuple[Mapping[str, Value], Bdd]]:
        """The values that one-hot vectors may have together, with where they have them. No bit set stands
        for a value outside U_f, which differs from variable to variable."""
        encoding = self.encoding
        of_each = (
            [
                *((value, encoding.is_value(v, value)) for value in encoding.values[v.sort]),
                (f"{name}?", encoding.none(v)),
            ]
            for name, v in loose.items()
        )
        for choice in product(*of_each):
            values = dict(zip(loose, (value for value, _ in choice), strict=True))
            yield values, self.manager.conj(where for _, where in choice)

    def _affected(self, statement: Insert | Delete, values: Environment) -> Iterator[tuple[Fact, Bdd]]:
        """`affected`, where every variable that the statement mentions has a value."""
        m, atom = self.manager, statement.atom
        scope: dict[str, Vector | Value] = dict(values)
        for binder in statement.binders:
            scope[binder.name] = self.compiler.bound_vector(binder, scope)
        bound = {b.name: scope[b.name] for b in statement.binders}
        vectors = [v for v in bound.values() if isinstance(v, Vector)]
        when = m.conj(
            [
                *(self.encoding.active(v.sort, v) for v in vectors),
                self.compiler.formula(statement.where, scope),
            ]
        )
        in_atom = {t.name for t in atom.args if isinstance(t, Var)} & bound.keys()
        when = m.exist(frozenset(bits_of(v for name, v in bound.items() if name not in in_atom)), when)
        if when == m.false:
            return
        terms = tuple(denoted(term, scope) for term in atom.args)
        fixed = tuple(term for term in terms if isinstance(term, str))
        if not in_atom:
            yield Fact(atom.relation, fixed), when
            return
        beyond = next(filter(self.encoding.is_beyond, fixed), None)
        if beyond is not None:  # no such fact has bits: all that matters is whether there is one
            some = frozenset(bits_of(bound[name] for name in in_atom))
            yield Fact(atom.relation, (beyond,)), m.exist(some, when)
            return
        places = tuple(bound[name] for name in sorted(in_atom))
        for assignment, here in m.cases(when & self._possible(atom.relation, terms), bits_of(places)):
            taken = {v: self.encoding.value(v, assignment) for v in places if isinstance(v, Vector)}
            yield Fact(atom.relation, tuple(taken[t] if isinstance(t, Vector) else t for t in terms)), here

    def _possible(self, relation: str, terms: tuple[Vector | Value, ...]) -> Bdd:
        """The values of the vectors among the terms for which there is a fact with bits, or a static one."""
        if (relation, terms) not in self._facts:
            fixed = [(k, term) for k, term in enumerate(terms) if isinstance(term, str)]
            if fixed:
                facts = self._at(relation, *fixed[0])
            else:
                facts = self.encoding.dynamic_facts[relation] + self.encoding.static_facts[relation]
            leaves = [(fact.args, self.manager.true) for fact in facts]
            self._facts[relation, terms] = self.encoding.choice(terms, leaves)
        return self._facts[relation, terms]

    def _at(self, relation: str, position: int, value: Value) -> tuple[Fact, ...]:
        """The facts of a relation, with bits or static, that have the value in one place."""
        if (relation, position) not in self._indexed:
            self._indexed.add((relation, position))
            grouped: dict[Value, list[Fact]] = {}
            for fact in self.encoding.dynamic_facts[relation] + self.encoding.static_facts[relation]:
                grouped.setdefault(fact.args[position], []).append(fact)
            for found, facts in grouped.items():
                self._index[relation, position, found] = tuple(facts)
        return self._index.get((relation, position, value), ())


def mentioned_variables(statement: Insert | Delete) -> frozenset[str]:
    """The variables of an effect that an insertion or deletion mentions, its own binders excepted."""
    own = {binder.name for binder in statement.binders}
    return (free_variables(statement.atom) | free_variables(statement.where)) - own
