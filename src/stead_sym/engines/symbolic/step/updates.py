"""The new values of the bits that an effect writes: shared ones once, and those of each action.

The statements give, for each fact, the states in which it is deleted and in which it is inserted. These
determine the new values of the bits of its field, and the keys of the encoding that the effect may violate
(`step.invariants`).

One decision: a statement that mentions none of the variables of its alternative (`clear P`, or a bulk
statement over all facts), or only some that have few values (`delete P(x) for x where answer = no`), does the
same in all actions that agree on these. With d_b the new value that such statements give to a bit b, and d_b
= b for a bit that they do not write, an action with the values u is

    b' ≡ f_{u,b} for the few bits that a statement about u writes, and b' ≡ d_b for all others:

N actions that each clear N bits cost N, not N². `Shared` has d, `Write` the exceptions f_u of one action, and
`frame_conditions` joins the two.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product
from types import MappingProxyType
from typing import assert_never

import stead_sym.logic.syntax as fo
from stead_sym.deployment.tool import (
    Assign,
    Choose,
    Clear,
    Delete,
    Effect,
    Ensure,
    Fresh,
    Insert,
    mentioned_variables,
)
from stead_sym.engines.symbolic.bdd.manager import Bdd, Bits
from stead_sym.engines.symbolic.encode.encoding import Field
from stead_sym.engines.symbolic.encode.mutex import Key, is_declared, keys_of
from stead_sym.engines.symbolic.encode.values import Vector, bits_of, number_in
from stead_sym.engines.symbolic.step.formulas import Compiler, Environment, denoted
from stead_sym.engines.symbolic.step.invariants import Arrival, Codes, may_meet, meeting
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Value


@dataclass(frozen=True, slots=True)
class Write:
    """The new values of the written bits over the old ones.

    ``outside``: the states in which a fact without bits would be inserted, one outside U_f. ``doubled``:
    those after which two facts with one declared key would hold, for which a field has no code. ``broken``:
    the assumed keys of the encoding of which two facts could hold afterwards; one that an earlier write of
    the same `Writer` violates is not tested again. ``breaking`` has other keys, each with the states that
    violate it if they are among the alternative's common ones. The common condition of all its actions is as
    large as the database, so it is tested once for all of them.
    """

    updates: Mapping[str, Bdd]
    outside: Bdd
    doubled: Mapping[Field, Bdd]
    broken: frozenset[Key]
    breaking: Mapping[frozenset[Key], Bdd]


@dataclass(frozen=True, slots=True)
class _Facts:
    """The facts that some statements delete and insert, per field.

    ``leaving`` has parts of the states in which the fact that holds is deleted, ``arriving`` parts of the
    insertions.
    """

    leaving: dict[Field, list[Bdd]] = dataclasses.field(default_factory=dict)
    arriving: dict[Field, list[Codes]] = dataclasses.field(default_factory=dict)

    def delete(self, field: Field, when: Bdd) -> None:
        """Add states in which the fact of the field holds and is deleted."""
        self.leaving.setdefault(field, []).append(when)

    def insert(self, field: Field, codes: Codes) -> None:
        """Add insertions into the field."""
        self.arriving.setdefault(field, []).append(codes)


@dataclass(frozen=True, slots=True)
class Affected:
    """Facts that a statement inserts or deletes.

    They are those with the ``terms``, for the values of the vectors among these, in the states ``when``, over
    the same vectors. Those of ``bound`` are variables of the statement.
    """

    terms: tuple[Vector | Value, ...]
    when: Bdd
    bound: Bits = frozenset()


@dataclass(frozen=True, slots=True)
class _Target:
    """The facts of a field with some terms, over the vectors among these.

    ``held``: such a fact holds. ``codes`` are those of the facts, bit by bit.
    """

    field: Field
    held: Bdd
    codes: Codes


@dataclass(frozen=True, slots=True)
class Shared:
    """The updates common to all actions of an alternative that agree on the variables ``of``.

    Each action applies in some of the states of ``common``. ``write`` has the new values d_b, and ``facts``
    those from which they are computed.
    """

    of: Set[str]
    common: Bdd
    facts: _Facts
    write: Write


_NOTHING: Mapping[str, tuple[Fact, ...]] = MappingProxyType({})


class Writer:
    """A compiler from statements to updates of bits."""

    def __init__(self, compiler: Compiler) -> None:
        self.compiler = compiler
        self.encoding = compiler.encoding
        self.manager = compiler.manager
        self.single = compiler.single
        self._facts: dict[tuple[str, tuple[Vector | Value, ...]], Bdd] = {}
        self._known_targets: dict[tuple[str, tuple[Vector | Value, ...]], tuple[Sequence[_Target], Bdd]] = {}
        self._held: dict[tuple[str, Bdd], Bdd] = {}
        self._numbers: dict[str, Sequence[int]] = {}
        self._broken: set[Key] = set()

    def shared(
        self,
        effect: Effect,
        common: Bdd,
        told: Set[str] = frozenset(),
        values: Mapping[str, Value] = MappingProxyType({}),
    ) -> Shared:
        """Return the updates by statements of an effect that mention no variable outside ``values``.

        They are for the states of ``common``. Clearing the relations of ``told`` is left to the actions,
        since these determine the fact (`told`).
        """
        facts, outside = _Facts(), self.manager.false
        for statement in effect.statements:
            match statement:
                case Clear(relations):
                    for name in relations:
                        if name not in told:
                            for field in self._touched(self.encoding.dynamic_facts[name]):
                                facts.delete(field, self._occupied(field))
                case Insert() | Delete() if mentioned_variables(statement) <= values.keys():
                    outside = outside | self._collect(statement, values, facts)
                case _:
                    pass
        nothing = Write({}, outside, {}, frozenset(), {})
        alone = Shared(values.keys(), common, _Facts(), nothing)
        write = self._write(effect, facts, self.manager.true, alone, _NOTHING)
        return dataclasses.replace(alone, facts=facts, write=write)

    def told(self, effect: Effect, case: Bdd) -> Mapping[str, tuple[Fact, ...]]:
        """Return the cleared relations with at most one fact for which ``case`` narrows down this fact.

        Each comes with the possible facts. Writing the bits of these only keeps an action short, which
        saturation exploits.
        """
        cleared = {name for s in effect.statements if isinstance(s, Clear) for name in s.relations}
        present = {name: self._present(name, case) for name in sorted(cleared & self.single)}
        every = self.encoding.dynamic_facts
        return {name: facts for name, facts in present.items() if len(facts) < len(every[name])}

    def write(
        self,
        effect: Effect,
        values: Environment,
        case: Bdd,
        shared: Shared,
        told: Mapping[str, tuple[Fact, ...]] = _NOTHING,
    ) -> Write:
        """Return the updates by the statements of an effect for values of its variables.

        They are for the states of ``case`` that are in the common set of ``shared``, all in the care set. The
        updates are those that differ from the shared ones; the other fields except ``breaking`` include
        these. A one-hot vector represents any value that ``case`` allows, and the updates depend on it.
        """
        facts, outside = _Facts(), shared.write.outside
        for fact in chain.from_iterable(told.values()):
            for field in self._touched([fact]):
                facts.delete(field, self.encoding.atom(fact))
        for statement in effect.statements:
            match statement:
                case Insert() | Delete():
                    if not mentioned_variables(statement) <= shared.of:
                        outside = outside | self._collect(statement, values, facts)
                case Choose() | Fresh() | Ensure() | Clear():
                    pass
                case Assign():
                    raise AssertionError(f"{statement} is not expanded")
                case _:
                    assert_never(statement)
        write = self._write(effect, facts, case, shared, told)
        return dataclasses.replace(write, outside=outside)

    def _collect(self, statement: Insert | Delete, values: Environment, facts: _Facts) -> Bdd:
        """Add the facts that a statement deletes or inserts to ``facts``.

        Returns the states in which it inserts a fact without bits.
        """
        m, outside = self.manager, self.manager.false
        for one in self.affected(statement, values):
            targets, known = self._targets(statement.atom.relation, one.terms)
            for target in targets:
                if isinstance(statement, Delete):
                    facts.delete(target.field, m.and_exist(one.bound, one.when, target.held))
                else:
                    ones, zeros = (
                        tuple(m.and_exist(one.bound, one.when, code) for code in codes)
                        for codes in target.codes
                    )
                    facts.insert(target.field, (ones, zeros))
            if isinstance(statement, Insert):
                outside = outside | m.and_exist(one.bound, one.when, ~known)
        return outside

    def _targets(self, relation: str, terms: tuple[Vector | Value, ...]) -> tuple[Sequence[_Target], Bdd]:
        """Return the fields of the facts with these terms, and where such a fact has bits or is static."""
        key = (relation, terms)
        if key not in self._known_targets:
            m, encoding, of = self.manager, self.encoding, dict[Field, list[Fact]]()
            fixed = [(k, term) for k, term in enumerate(terms) if isinstance(term, str)]
            facts = encoding.facts_at(relation, *fixed[0]) if fixed else encoding.facts_of(relation)
            facts = [fact for fact in facts if all(fact.args[k] == value for k, value in fixed)]
            for fact in facts:
                if (field := encoding.field(fact)) is not None:
                    of.setdefault(field, []).append(fact)

            def where(some: Iterable[Fact]) -> Bdd:
                return encoding.choice(terms, [(fact.args, m.true) for fact in some])

            targets = list[_Target]()
            for field, own in of.items():
                held = encoding.choice(terms, [(fact.args, encoding.atom(fact)) for fact in own])
                weights = [1 << k for k in reversed(range(len(field.bits)))]
                ones = [where(fact for fact in own if field.number[fact] & weight) for weight in weights]
                meant = where(own)
                targets.append(_Target(field, held, (ones, [meant & ~one for one in ones])))
            self._known_targets[key] = targets, where(facts)
        return self._known_targets[key]

    def _write(
        self, effect: Effect, own: _Facts, case: Bdd, shared: Shared, told: Mapping[str, tuple[Fact, ...]]
    ) -> Write:
        """Return the updates of the fields of ``own`` facts, by these and the shared ones."""
        m, care = self.manager, self.encoding.care
        broken = set(self._broken_singles(effect, case, own, shared, told)) | shared.write.broken
        updates: dict[str, Bdd] = {}
        breaking = dict[frozenset[Key], Bdd]()
        doubled = dict(shared.write.doubled)  # of a field that the action writes, too, known again below
        for field in dict.fromkeys((*own.leaving, *own.arriving)):
            within = case & self.encoding.well_coded(field) if care == m.true else case
            leaving = self._leaving([field], own, shared.facts)
            come = self._arrivals([field], own, shared.facts)
            doubled.pop(field, None)
            if len(field.facts) > 1 and come:
                met = within & meeting(m, self._occupied(field) & ~leaving, come)
                if met != m.false and is_declared(field, self.encoding.schema):
                    doubled[field] = met
                elif met != m.false:
                    keys = keys_of(field)
                    breaking[keys] = breaking.get(keys, m.false) | met
            for bit, new in self._field_bits(field, leaving, come).items():
                settled = self._settle(shared.write.updates.get(bit, m.var(bit)), new, within)
                if settled is not None:
                    updates[bit] = settled
        self._broken |= broken
        return Write(updates, shared.write.outside, doubled, frozenset(broken), breaking)

    def _leaving(self, fields: Iterable[Field], *of: _Facts) -> Bdd:
        """Return the states in which a fact of the fields holds and is deleted by any of the statements."""
        return self.manager.disj(
            when for field in fields for facts in of for when in facts.leaving.get(field, ())
        )

    def _arrivals(self, fields: Iterable[Field], *of: _Facts) -> Sequence[Arrival]:
        """Return the insertions into the fields by any of the statements."""
        parts = ((field, [p for facts in of for p in facts.arriving.get(field, ())]) for field in fields)
        return [Arrival.of(self.manager, field, codes) for field, codes in parts if codes]

    def _occupied(self, field: Field) -> Bdd:
        """Return the states in which some fact of the field holds."""
        return ~self.manager.point(field.code(None))

    def _touched(self, facts: Iterable[Fact]) -> Iterable[Field]:
        """Return the fields of the facts that have bits."""
        fields = (self.encoding.field(fact) for fact in facts)
        return dict.fromkeys(field for field in fields if field is not None)

    # Relations with at most one fact, and one bit for each.

    def _present(self, relation: str, case: Bdd) -> tuple[Fact, ...]:
        """Return the facts of a relation that may hold in ``case``: the known one, or those of its field.

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
        """Yield the facts that hold according to the bits on the path, with their fields."""
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
        self, effect: Effect, case: Bdd, own: _Facts, shared: Shared, told: Mapping[str, tuple[Fact, ...]]
    ) -> Iterator[Key]:
        """Yield the single relations of which two facts could hold afterwards."""
        m, atom = self.manager, self.encoding.atom
        cleared = {name for s in effect.statements if isinstance(s, Clear) for name in s.relations}
        for relation in sorted({field.facts[0].relation for field in own.arriving} & self.single):
            if (relation, ()) in self._broken:
                continue
            fields = self._touched(self.encoding.dynamic_facts[relation])
            if relation in cleared:
                stays = m.false
            else:
                present = told.get(relation) or self._present(relation, case)
                if len(present) < len(self.encoding.dynamic_facts[relation]):
                    held = m.disj(map(atom, present))
                else:
                    held = self._some_held(relation, shared.common)
                stays = held & ~self._leaving(fields, own, shared.facts)
            for_good = m.true if self.encoding.static_facts[relation] else m.false
            come = self._arrivals(fields, own, shared.facts)
            if may_meet(m, stays | for_good, come, case, shared.common):
                yield relation, ()

    def _some_held(self, relation: str, common: Bdd) -> Bdd:
        """Return the states of ``common`` in which some fact of the relation holds, cached.

        The set is as large as the relation, and needed for each action.
        """
        key = (relation, common)
        if key not in self._held:
            facts = self.encoding.dynamic_facts[relation]
            self._held[key] = self.manager.disj(map(self.encoding.atom, facts)) & common
        return self._held[key]

    # Fields.

    def _field_bits(self, field: Field, leaving: Bdd, come: Iterable[Arrival]) -> Mapping[str, Bdd]:
        """Return the new bits of a field that never holds two facts.

        They are those of the inserted fact, or of the one that held and is not deleted. If there are both,
        they are the same fact.
        """
        m = self.manager
        news = {bit: m.var(bit) & ~leaving for bit in field.bits}
        for arrival in come:
            for bit, one in zip(field.bits, arrival.ones, strict=True):
                news[bit] = news[bit] | one
        return news

    def _settle(self, default: Bdd, new: Bdd, case: Bdd) -> Bdd | None:
        """Return the new value of a bit, simplified to a constant if possible; None if it is the default."""
        m = self.manager
        if new == default:
            return None
        if new not in (m.true, m.false):
            if m.implies(case, ~new):
                new = m.false
            elif m.implies(case, new):
                new = m.true
        return None if m.implies(case, new.equiv(default)) else new

    # The facts that a statement affects.

    def affected(self, statement: Insert | Delete, values: Environment) -> Iterator[Affected]:
        """Yield the facts that a statement may insert or delete.

        A fact that has no bit and is not static is included: an insertion outside U_f.
        """
        mentioned = mentioned_variables(statement)
        loose = {
            name: term
            for name, term in values.items()
            if isinstance(term, Vector) and term.one_hot and name in mentioned
        }
        for chosen, where in self._choices(loose):
            for one in self._affected(statement, {**values, **chosen}):
                yield dataclasses.replace(one, when=where & one.when)

    def _choices(self, loose: Mapping[str, Vector]) -> Iterator[tuple[Mapping[str, Value], Bdd]]:
        """Yield the joint values of one-hot vectors, with the states in which they have them.

        A vector without a set bit represents a value outside U_f, which differs from variable to variable.
        """
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

    def _affected(self, statement: Insert | Delete, values: Environment) -> Iterator[Affected]:
        """Yield `affected`, if every variable that the statement mentions has a value, or is a number."""
        m, atom = self.manager, statement.atom
        scope: dict[str, Vector | Value] = dict(values)
        for binder in statement.binders:
            scope[binder.name] = self.compiler.bound_vector(binder, scope)
        bound = {b.name: scope[b.name] for b in statement.binders}
        # A deleted fact must hold, so the values of the atom are active.
        about = fo.conjunction((atom, statement.where)) if isinstance(statement, Delete) else statement.where
        ranging = (
            self.compiler.ranging(binder, vector, about)
            for binder in statement.binders
            if isinstance(vector := bound[binder.name], Vector)
        )
        when = m.conj([*ranging, self.compiler.formula(statement.where, scope)])
        in_atom = {t.name for t in atom.args if isinstance(t, fo.Var)} & bound.keys()
        when = m.exist(frozenset(bits_of(v for name, v in bound.items() if name not in in_atom)), when)
        if when == m.false:
            return
        terms = tuple(denoted(term, scope) for term in atom.args)
        fixed = tuple(term for term in terms if isinstance(term, str))
        free = {term for term in terms if isinstance(term, Vector)}
        within = self.numbers(atom.relation)
        numbers = {terms[k] for k in within}.difference(t for k, t in enumerate(terms) if k not in within)
        kept = frozenset(bits_of(bound[name] for name in in_atom if bound[name] in numbers))
        places = tuple(bound[name] for name in sorted(in_atom) if bound[name] not in numbers)
        if not places or any(map(self.encoding.is_beyond, fixed)):  # no fact beyond U_f has bits
            yield Affected(terms, when, frozenset(bits_of(bound[name] for name in in_atom)))
            return
        possible = m.exist(frozenset(bits_of(free.difference(places))), self._possible(atom.relation, terms))
        for assignment, here in m.cases(when & possible, bits_of(places)):
            taken = {v: self.encoding.value(v, assignment) for v in places if isinstance(v, Vector)}
            yield Affected(tuple(taken.get(t, t) if isinstance(t, Vector) else t for t in terms), here, kept)

    def _possible(self, relation: str, terms: tuple[Vector | Value, ...]) -> Bdd:
        """Return the values of the vectors among the terms for which a fact can hold.

        Such a fact has bits, or is static.
        """
        if (relation, terms) not in self._facts:
            fixed = [(k, term) for k, term in enumerate(terms) if isinstance(term, str)]
            facts = self.encoding.facts_at(relation, *fixed[0]) if fixed else self.encoding.facts_of(relation)
            leaves = [(fact.args, self.manager.true) for fact in facts]
            self._facts[relation, terms] = self.encoding.choice(terms, leaves)
        return self._facts[relation, terms]

    def numbers(self, relation: str) -> Sequence[int]:
        """Return the columns of numbers that distinguish only facts of one field.

        These are not enumerated: the field's new bits are computed from those of the numbers.
        """
        if relation not in self._numbers:
            encoding, of = self.encoding, dict[tuple[Value, ...], set[Field]]()
            sorts = encoding.schema.relation(relation).sorts
            fields = self._touched(encoding.dynamic_facts[relation])
            columns = [
                k
                for k, sort in enumerate(sorts)
                if sort in encoding.first
                and any(len({fact.args[k] for fact in field.facts}) > 1 for field in fields)
            ]
            for fact in encoding.dynamic_facts[relation]:
                others = tuple(value for k, value in enumerate(fact.args) if k not in columns)
                of.setdefault(others, set()).update(filter(None, [encoding.field(fact)]))
            self._numbers[relation] = columns if all(len(each) == 1 for each in of.values()) else ()
        return self._numbers[relation]


def shared_variables(effect: Effect, few: Set[str]) -> frozenset[str]:
    """Return the variables of bulk statements that mention none outside ``few``, which have few values."""
    bulk = (s for s in effect.statements if isinstance(s, Insert | Delete) and s.binders)
    return frozenset[str]().union(*(own for s in bulk if (own := mentioned_variables(s)) <= few))
