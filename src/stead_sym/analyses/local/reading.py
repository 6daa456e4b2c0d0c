"""The states in which a formula must be true, and may be, if only a few facts are known.

A state of the abstraction says of each fact that is followed whether it holds (`local.facts`).

Law. Let h give to each name the value that it stands for, different values to different ones and none that
the formula mentions, let s be the abstract state of D under h, and let h give to the individuals of f any
values of their kinds. Then s ∈ must(f) implies D ⊨ h(f), and D ⊨ h(f) implies s ∈ may(f).

Proof. By induction on f. What is followed is as s says, and what nothing writes as D0 does. An atom R(t)
that is neither is in must nowhere, and in may unless s says of a sentence ∃x. R(u), of which t is an
instance, that it is false, or nothing writes R and D0 has no instance of t. Negation swaps the two, ∧ and ↔
are monotone in them. ∃x. f ranges over active values, each of which is a constant, what a name stands for,
or a value that `some` individual stands for: may is the union of may(f) over these. Where f has an atom
with x that has to hold, x is active if f is true; elsewhere a value is in must only where s says of a fact
with it that it holds. `Some` individual is in must nowhere, since there may be none. ∎
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, product
from types import MappingProxyType

import stead_sym.logic.syntax as fo
from stead_sym.analyses.local.facts import as_fact, mentions_some, with_value
from stead_sym.analyses.local.start import Start
from stead_sym.analyses.local.values import MARK, individual, is_constant, is_name, kind, same, sort_of
from stead_sym.engines.symbolic.bdd.manager import Bdd, Manager
from stead_sym.logic.activity import implies_active
from stead_sym.logic.evaluate import compares, value_of
from stead_sym.logic.kernel import Core, core, outside_kernel
from stead_sym.relational.schema import Schema, Value, is_numeral, tells_history

MOST_COMPARED = 10_000
"""The maximum number of pairs of values that are compared for two that stand for one of each."""


class Fixed:
    """The reading of conditions in one state: what a ``reading`` leaves open is the same wherever it stands.

    An open part has a variable of its own, so that a statement that deletes and inserts on one condition does
    both or neither. The step is to be taken for some values of the ``variables``. A part about `some`
    individual stays open, since it stands for different values in different places.
    """

    def __init__(self, reading: Reading, variable: Callable[[int], str]) -> None:
        """``variable`` returns the name of the n-th variable, which stands for nothing else."""
        self._reading, self._variable = reading, variable
        self._parts: dict[Core, str] = {}

    @property
    def variables(self) -> frozenset[str]:
        """Return the names of the variables in use."""
        return frozenset(self._parts.values())

    def __call__(self, formula: fo.Formula) -> Known:
        """Return where the formula must, and where it may, be true."""
        f = core(formula)
        match f:
            case fo.Not(body):
                return ~self(body)
            case fo.And(parts):
                whole = self._reading.true
                for part in parts:
                    whole = whole & self(part)
                return whole
        known = self._reading(f)
        if known.must == known.may or mentions_some(f):
            return known
        if f not in self._parts:
            self._parts[f] = self._variable(len(self._parts))
        true = known.must | (self._reading.manager.var(self._parts[f]) & known.may)
        return Known(true, true)


@dataclass(frozen=True, slots=True)
class Known:
    """The abstract states in which a formula must, and in which it may, be true."""

    must: Bdd
    may: Bdd

    def __invert__(self) -> Known:
        """Return where the negation must, and may, be true."""
        return Known(~self.may, ~self.must)

    def __and__(self, other: Known) -> Known:
        """Return where the conjunction must be true, and a superset of where it may be."""
        return Known(self.must & other.must, self.may & other.may)

    def __or__(self, other: Known) -> Known:
        """Return a subset of where the disjunction must be true, and where it may be."""
        return Known(self.must | other.must, self.may | other.may)


def tuple_in(sentence: Core) -> fo.Atom | None:
    """Return the atom of a sentence ∃x. R(t), which is true where any such tuple is; None for any other."""
    # A step may write an integer that its sort does not declare.
    while isinstance(sentence, fo.Exists) and not sentence.binder.declared:
        if not implies_active(sentence.body, sentence.binder.name):
            return None
        sentence = sentence.body
    return sentence if isinstance(sentence, fo.Atom) and not any(map(fo.is_compound, sentence.args)) else None


def is_instance(pattern: Sequence[fo.Term], args: Sequence[fo.Term]) -> bool:
    """Return if these arguments, constants, surely are as in a pattern for some values of its variables."""
    images: dict[str, Value] = {}
    for term, arg in zip(pattern, args, strict=True):
        value = value_of(arg, {})
        if isinstance(term, fo.Var) and term.name not in images:
            images[term.name] = value
        elif same(value_of(term, images), value) is not True:
            return False
    return True


class Reading:
    """⟦f⟧ over the facts that are ``followed``, each with its bit."""

    def __init__(
        self,
        manager: Manager,
        schema: Schema,
        values: Mapping[str, Sequence[Value]],
        open_sorts: frozenset[str],
        followed: Mapping[Core, Bdd],
        keys: Callable[[str], tuple[int, ...] | None] = lambda _: None,
        rest: Mapping[str, Sequence[Value]] = MappingProxyType({}),
        start: Start | None = None,
    ) -> None:
        """Take the ``values`` of each sort, constants and names; the ``open_sorts`` have others.

        ``keys`` gives the columns of a relation that determine the others in every reachable state, None if
        that is not known. ``rest`` gives the values that names and other individuals of a finite sort stand
        for: its declared values without the constants. It lacks sorts of which a fact may have another value.
        ``start`` tells what is as D0 says in every reachable state; None if that is not known.
        """
        self.manager, self.schema, self.values, self.open_sorts = manager, schema, values, open_sorts
        self._followed, self._keys, self.rest, self._start = followed, keys, rest, start
        self._memo: dict[Core, Known] = {}
        self._where_active: dict[tuple[str, Value], Bdd] = {}
        self.nothing = Known(manager.false, manager.true)
        self.true, self.false = Known(manager.true, manager.true), Known(manager.false, manager.false)

    def __call__(self, formula: fo.Formula) -> Known:
        """Return where a closed first-order formula must, and where it may, be true."""
        f = core(formula)
        known = self._memo.get(f)
        if known is None:
            fact = as_fact(f)
            bit = None if fact is None else self._followed.get(fact)
            true = self._start.fixed(fact) if self._start and fact is not None and bit is None else None
            if bit is not None:
                known = Known(bit, bit)
            elif true is not None:
                known = self.constant(true)
            else:
                known = self.by_operator(f)
            self._memo[f] = known
        return known

    def by_operator(self, f: Core) -> Known:
        """Return the same by the outermost operator, even if the formula is a followed fact."""
        match f:
            case fo.Truth(value):
                return self.constant(value)
            case fo.Equal(left, right) if not (fo.is_compound(left) or fo.is_compound(right)):
                return self.constant(self._equal(value_of(left, {}), value_of(right, {})))
            case fo.Compare(_, left, right, str(sort)) if sort != fo.INTEGERS:
                one, other = (self._stands_for(value_of(term, {}), sort) for term in (left, right))
                pairs = product(one, other) if len(one) * len(other) <= MOST_COMPARED else ()
                truths = {compares(f, *pair, self.schema) for pair in pairs}
                return self.constant(truths.pop()) if len(truths) == 1 else self.nothing
            case fo.Equal() | fo.Compare():
                return self.nothing
            case fo.Atom():
                return self.atom(f)
            case fo.Not(body):
                return ~self(body)
            case fo.And(parts):
                whole = self.true
                for part in parts:
                    if whole == self.false:
                        break
                    whole = whole & self(part)
                return whole
            case fo.Iff(left, right):
                a, b = self(left), self(right)
                return (a & b) | (~a & ~b)
            case fo.Exists(binder, body):
                return self._some(binder, body, 1)
            case fo.Count("atleast", number, binder, body):
                return self._some(binder, body, number)
            case _ if isinstance(f, fo.Temporal):
                raise ValueError(f"temporal operator in a first-order formula: {f}")
            case _:
                raise outside_kernel(f)

    def atom(self, atom: fo.Atom) -> Known:
        """Return what is known of an atom that is not followed.

        It is false if it has a `new` value, if a sentence is that says that there is one like it, if nothing
        writes the relation and D0 has none like it, or if another tuple with the same key is true.
        """
        if any(map(fo.is_compound, atom.args)) or tells_history(atom.relation):
            return self.nothing
        values = [value_of(term, {}) for term in atom.args]
        if "new" in map(kind, values):
            return self.false
        start = self._start
        if start and atom.relation in start.unwritten and start.fixed(self._some_like(atom)) is False:
            return self.false
        implied = (
            bit for one, bit in self._implied.get(atom.relation, ()) if is_instance(one.args, atom.args)
        )
        others = (~bit for bit in self._instead(atom.relation, values))
        return Known(self.manager.false, self.manager.conj([*implied, *others]))

    def _some_like(self, atom: fo.Atom) -> Core:
        """Return that there is a tuple as the atom, for some values that its individuals may stand for."""
        args, parts = list[fo.Term](), list[fo.Formula]()
        binders = list[fo.Binder]()
        for term, sort in zip(atom.args, self._sorts[atom.relation], strict=True):
            value = value_of(term, {})
            if kind(value) == "named":
                args.append(term)
                continue
            binders.append(fo.Binder(f"{MARK}{len(binders)}", sort))
            args.append(fo.Var(binders[-1].name))
            if kind(value) != "any":  # it is none of the constants
                others = filter(is_constant, self.values[sort])
                parts += (fo.Not(fo.Equal(args[-1], fo.Const(one))) for one in others)
        return core(
            fo.quantify(fo.Exists, binders, fo.conjunction((replace(atom, args=tuple(args)), *parts)))
        )

    def _instead(self, relation: str, values: Sequence[Value]) -> Iterator[Bdd]:
        """Yield the followed atoms of the relation with surely the same key and surely other values."""
        keys = self._keys(relation) if relation in self._atoms else None
        if keys is None:
            return
        for args, bit in self._atoms[relation]:
            alike = [same(one, other) for one, other in zip(args, values, strict=True)]
            if False in alike and all(alike[column] for column in keys):
                yield bit

    @cached_property
    def _sorts(self) -> Mapping[str, tuple[str, ...]]:
        """Return the sorts of the columns of each relation."""
        return {relation.name: relation.sorts for relation in self.schema.relations}

    @cached_property
    def _atoms(self) -> Mapping[str, Sequence[tuple[Sequence[Value], Bdd]]]:
        """Return the values of the atoms that are followed, by relation."""
        found: dict[str, list[tuple[Sequence[Value], Bdd]]] = {}
        for fact, bit in self._followed.items():
            if isinstance(fact, fo.Atom):
                values = [value_of(term, {}) for term in fact.args]
                found.setdefault(fact.relation, []).append((values, bit))
        return found

    @cached_property
    def _implied(self) -> Mapping[str, list[tuple[fo.Atom, Bdd]]]:
        """Return the atoms R(t) of the sentences ∃x. R(t) that are followed with their bits, by relation."""
        found: dict[str, list[tuple[fo.Atom, Bdd]]] = {}
        for fact, bit in self._followed.items():
            atom = tuple_in(fact)
            if atom is not None and atom is not fact:
                found.setdefault(atom.relation, []).append((atom, bit))
        return found

    def witnesses(self, binder: fo.Binder, body: Core) -> Iterable[Value]:
        """Return individuals of which the body of ∃x may surely be true; none unless a step inserts them."""
        return ()

    def constant(self, value: bool | None) -> Known:
        """Return the reading of a truth value that is the same everywhere."""
        return self.nothing if value is None else self.true if value else self.false

    def _equal(self, left: Value, right: Value) -> bool | None:
        """Return if two values are the same, or None if unknown, as it can be for integers of two sorts."""
        open_values = [value for value in (left, right) if not is_constant(value)]
        sorts = {sort_of(value) for value in open_values}
        listed = all(
            value in self.values[sort] for value in (left, right) for sort in sorts if is_numeral(value)
        )
        return same(left, right) if len(sorts) < 2 and listed else None

    def _stands_for(self, value: Value, sort: str) -> Sequence[Value]:
        """Return the values of a finite sort that a value may stand for; none if that is not known."""
        if is_constant(value):
            return (value,)
        return self.rest.get(sort, ()) if kind(value) in ("named", "other", "some") else ()

    def others(self, binder: fo.Binder) -> list[Value]:
        """Return `some` individual if a variable has values beside the constants and names."""
        if binder.sort in self.open_sorts:
            return [individual("some", binder.sort, binder.name)]
        return []

    def _some(self, binder: fo.Binder, body: Core, number: int) -> Known:
        """Return where at least ``number`` values satisfy the body."""
        m = self.manager
        if number <= 0:
            return self.true
        sure = binder.declared or implies_active(body, binder.name)
        values = self.values[binder.sort]
        of_each = [self._at(binder, body, value) for value in values]
        may = [one.may for one in of_each]
        other = m.disj(self._at(binder, body, one).may for one in self.others(binder))
        if number == 1 and (determined := self._determined(binder, body)):
            there = [m.disj(bits[value] for bits in determined if value in bits) for value in values]
            elsewhere = [m.disj(there[:k] + there[k + 1 :]) for k in range(len(there))]
            may = [one & ~taken for one, taken in zip(may, elsewhere, strict=True)]
            other = other & ~m.disj(there)
        # A name of a sort of integers may stand for one that a step has written and no sort declares.
        undeclared = binder.declared and self.schema.sort(binder.sort).is_numeric
        pairs = [(k, v) for k, v in zip(of_each, values, strict=True) if not (undeclared and is_name(v))]
        surely = [k.must if sure else k.must & self._active(binder.sort, v) for k, v in pairs]
        must = m.at_least(number, surely)
        if sure and number == 1:
            must = must | m.disj(self._at(binder, body, one).must for one in self.witnesses(binder, body))
        return Known(must, m.at_least(number, may) | other)

    def _active(self, sort: str, value: Value) -> Bdd:
        """Return states in which a value is active: a fact has it, or a sentence says that one has."""
        if (sort, value) not in self._where_active:
            tuples = list(chain.from_iterable(self._implied.values()))
            atoms = ((fact, bit) for fact, bit in self._followed.items() if isinstance(fact, fo.Atom))
            tuples += [(fact, bit) for fact, bit in atoms if not fact.primed]
            self._where_active[sort, value] = self.manager.disj(
                bit
                for atom, bit in tuples
                if (fo.Const(value), sort) in zip(atom.args, self._sorts[atom.relation], strict=True)
            )
        return self._where_active[sort, value]

    def _determined(self, binder: fo.Binder, body: Core) -> list[dict[Value, Bdd]]:
        """Return, for each required atom whose key determines the variable, its followed bits by value."""
        found = []
        for part in fo.conjuncts(body):
            if isinstance(part, fo.Atom) and not part.primed and fo.Var(binder.name) in part.args:
                facts = {v: as_fact(with_value(part, binder.name, v)) for v in self.values[binder.sort]}
                known = {
                    v: self._followed[f] for v, f in facts.items() if f is not None and f in self._followed
                }
                keys = self._keys(part.relation) if known else None
                if keys is not None and fo.Var(binder.name) not in {part.args[column] for column in keys}:
                    found.append(known)
        return found

    def _at(self, binder: fo.Binder, body: Core, value: Value) -> Known:
        return self(with_value(body, binder.name, value))
