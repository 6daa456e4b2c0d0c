"""The changes of the followed facts by an alternative of a tool, for values of its variables.

An alternative with values leads to D' = (D - deleted) ∪ inserted. Of an atom A that is followed

    A is inserted  or  A holds and is not deleted   surely   implies  A',
    A'  implies  A may be inserted  or  A holds and is not surely deleted.

A sentence p with a quantifier keeps its truth value unless, at some value of each quantifier, an atom of p is
inserted or deleted that p is monotone or antitone in, as the change of p asks for (`After.may_turn`). After
the step it is as D' says, which is read as D is (`local.reading`), each atom in the way above. What no
statement writes is as in D, where the conditions of the step are true, also of the values that it is about.
What is open in the condition of a statement has one truth value in one step
(`reading.Fixed`): the statement writes wherever it does, in all facts at once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Set
from functools import cached_property, lru_cache
from typing import TypeAlias

import stead_sym.logic.syntax as fo
from stead_sym.analyses.local.facts import (
    deciding,
    depends_on_activity,
    mentions_individuals,
    with_value,
    with_values,
)
from stead_sym.analyses.local.reading import Fixed, Known, Reading
from stead_sym.analyses.local.values import same
from stead_sym.deployment.tool import Clear, Delete, Effect, Insert
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.logic.activity import implies_active
from stead_sym.logic.evaluate import value_of
from stead_sym.logic.kernel import Core, core
from stead_sym.logic.substitution import substitute_terms
from stead_sym.relational.schema import Schema, Value

Environment = Mapping[str, fo.Term]


class Write:
    """One alternative with ``values`` of its variables, read in D by ``reading``."""

    def __init__(
        self,
        effect: Effect,
        values: Environment,
        reading: Reading,
        fixed: Fixed | None = None,
    ) -> None:
        """Read the conditions of statements by ``fixed``, by default by ``reading``."""
        self.effect, self._values, self._reading, self._fixed = effect, values, reading, fixed
        self._condition, self._changed = fixed or reading, effect.changed
        self._changes: dict[fo.Atom, tuple[Known, Known]] = {}

    def may_change(self, fact: Core) -> tuple[bool, bool]:
        """Return if a fact may become true, and if it may become false.

        Only the relations that are written and their arguments are considered.
        """
        up = down = False
        for atom, sign in occurring(fact):
            for relation, args, inserts in self._written:
                if relation == atom.relation and _may_meet(atom, args):
                    up |= sign == 0 or (sign > 0) is inserts
                    down |= sign == 0 or (sign > 0) is not inserts
        if depends_on_activity(fact) and self._written:
            return True, True
        return up, down

    def leaves(self, f: Core) -> bool:
        """Return if a formula without individuals keeps its truth value: none of its relations is written."""
        relations = _relations_read(f)
        return relations is not None and self._changed.isdisjoint(relations)

    @cached_property
    def _written(self) -> list[tuple[str, tuple[fo.Term, ...] | None, bool]]:
        """Return the written relations, with their arguments (None for all) and if they are inserted."""
        written: list[tuple[str, tuple[fo.Term, ...] | None, bool]] = []
        for statement in self.effect.statements:
            match statement:
                case Insert(atom) | Delete(atom):
                    args = substitute_terms(atom.args, self._free(statement))
                    written.append((atom.relation, args, isinstance(statement, Insert)))
                case Clear(relations):
                    written.extend((relation, None, False) for relation in relations)
                case _:
                    pass
        return written

    @property
    def inserted(self) -> Iterator[tuple[str, tuple[fo.Term, ...]]]:
        """Yield the inserted atoms; terms of `for each` are variables."""
        for relation, args, inserts in self._written:
            if inserts and args is not None:
                yield relation, args

    def _free(self, statement: Insert | Delete) -> Environment:
        """Return the values of the variables that the statement does not bind."""
        own = {binder.name for binder in statement.binders}
        return {name: value for name, value in self._values.items() if name not in own}

    @property
    def open(self) -> frozenset[str]:
        """Return the variables for what is open in the conditions of statements."""
        return self._fixed.variables if self._fixed else frozenset()

    def values_of(self, names: Set[str]) -> frozenset[tuple[str, fo.Term]]:
        """Return the values of some variables."""
        return frozenset((name, value) for name, value in self._values.items() if name in names)

    def after(self, atom: fo.Atom, before: Known) -> Known:
        """Return what is known of A', given what is known of A."""
        inserted, deleted = self.changes(atom)
        return inserted | (before & ~deleted)

    def changes(self, atom: fo.Atom) -> tuple[Known, Known]:
        """Return where A is inserted, and where it is deleted."""
        if atom not in self._changes:
            self._changes[atom] = self._computed_changes(atom)
        return self._changes[atom]

    def _computed_changes(self, atom: fo.Atom) -> tuple[Known, Known]:
        inserted = deleted = self._reading.false
        for statement in self.effect.statements:
            match statement:
                case Insert():
                    inserted = inserted | self._meets(statement, atom)
                case Delete():
                    deleted = deleted | self._meets(statement, atom)
                case Clear(relations) if atom.relation in relations:
                    deleted = self._reading.true
                case _:
                    pass
        return inserted, deleted

    def reads(self, atom: fo.Atom) -> Iterator[fo.Formula]:
        """Yield the conditions under which the statements insert or delete this fact."""
        for statement in self.effect.statements:
            if isinstance(statement, Insert | Delete) and statement.atom.relation == atom.relation:
                yield self._about(statement, atom)[1]

    def _meets(self, statement: Insert | Delete, atom: fo.Atom) -> Known:
        """Return where the statement writes this fact."""
        reading = self._reading
        if statement.atom.relation != atom.relation:
            return reading.false
        whole, where, active = self._about(statement, atom)
        known = whole if whole == reading.false else whole & self._condition(where)
        if isinstance(statement, Insert) and not active:
            return Known(reading.manager.false, known.may)
        return known

    def _about(self, statement: Insert | Delete, atom: fo.Atom) -> tuple[Known, fo.Formula, bool]:
        """Return if the arguments are those of the fact, the condition of the write, and if it is active.

        It is active if it implies that the values of the statement's variables are.
        """
        reading = self._reading
        bound = {binder.name for binder in statement.binders}
        images: dict[str, fo.Term] = dict(self._free(statement))
        whole = reading.true
        for term, value in zip(statement.atom.args, atom.args, strict=True):
            if fo.is_compound(term):
                whole = whole & reading.nothing
            elif isinstance(term, fo.Var) and term.name in bound and term.name not in images:
                images[term.name] = value
            else:
                image = images[term.name] if isinstance(term, fo.Var) else term
                alike = same(value_of(image, {}), value_of(value, {}))
                if alike is False:
                    return reading.false, fo.TRUE, True
                whole = whole & reading.constant(alike)
        where: fo.Formula = statement.where
        for binder in statement.binders:
            if binder.name not in images:
                where = fo.Exists(binder, where)
        active = all(n not in images or implies_active(core(statement.where), n) for n in bound)
        return whole, with_values(where, tuple(images.items())), active


Outcomes: TypeAlias = dict[Hashable, tuple[Bdd, ...]]
"""The readings of sentences after steps, by all that decides them (`Kept`)."""


class Kept:
    """A cache of sentences as they are after steps, shared by steps and by sets of ``followed`` facts.

    After two steps by one alternative a sentence is read alike if they agree in the values that decide how
    its relations are written, in the conditions that are about these relations alone, and in the facts that
    are followed about them and about what the statements read. Where it matters which values of a sort are
    active, all relations with a column of that sort are among them. What has an open part (`Fixed`) is not
    kept.
    """

    def __init__(self, schema: Schema, followed: Iterable[Core], outcomes: Outcomes) -> None:
        """Use the ``outcomes`` that are known with fewer facts, and add to them."""
        self._schema, self._followed, self.outcomes = schema, tuple(followed), outcomes
        self._about: dict[frozenset[str], frozenset[Core]] = {}

    def writing(self, effect: Effect, relations: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
        """Return the variables, and the relations, that decide how an alternative writes some relations."""
        names, read = set[str](), set[str]()
        for statement in effect.statements:
            if isinstance(statement, Insert | Delete) and statement.atom.relation in relations:
                own, where = fo.free_variables(statement.atom), statement.where
                for binder in statement.binders:
                    if binder.name not in own:
                        where = fo.Exists(binder, where)
                names |= own | fo.free_variables(where)
                read |= deciding(core(where), self._schema)
        return frozenset(names), frozenset(read)

    def about(self, relations: frozenset[str]) -> frozenset[Core]:
        """Return the followed facts about these relations alone."""
        if relations not in self._about:
            about = (fact for fact in self._followed if relations.issuperset(fo.relations_in(fact)))
            self._about[relations] = frozenset(about)
        return self._about[relations]


class After(Reading):
    """The reading of D', by D and a ``write``; ``followed`` has the facts that are followed in D'.

    Of D the ``conditions`` of the step are true, also those about individuals.
    """

    def __init__(
        self,
        before: Reading,
        write: Write,
        followed: Mapping[Core, Bdd],
        conditions: Iterable[fo.Formula],
        by: Hashable,
        kept: Kept,
    ) -> None:
        """Read after a step of the alternative ``by``, and use what is ``kept`` of others."""
        super().__init__(
            before.manager, before.schema, before.values, before.open_sorts, followed, rest=before.rest
        )
        self._before, self._write = before, write
        self._by, self._kept = by, kept
        self._turns: dict[tuple[Core, bool], Bdd] = {}
        self._deciding: dict[frozenset[str], Hashable] = {}
        parts = [part for condition in conditions for part in fo.conjuncts(core(condition))]
        self._given = {
            part.body if isinstance(part, fo.Not) else part: not isinstance(part, fo.Not) for part in parts
        }

    def __call__(self, formula: fo.Formula) -> Known:
        """Return where a closed first-order formula must, and may, be true in D'."""
        f = core(formula)
        if f not in self._memo:
            given = self._given.get(f)
            if given is not None and not any(self._write.may_change(f)):
                self._memo[f] = self.constant(given)
            elif self._write.leaves(f):
                self._memo[f] = self._before(f)
        return super().__call__(f)

    def atom(self, atom: fo.Atom) -> Known:
        """Return where an atom must, and may, be true in D'."""
        if any(map(fo.is_compound, atom.args)):
            return self.nothing
        given = self._given.get(atom)
        return self._write.after(atom, self._before(atom) if given is None else self.constant(given))

    def by_operator(self, f: Core) -> Known:
        """Return the same by the outermost operator, even if the formula is a followed fact."""
        if not isinstance(f, fo.Exists | fo.Count):
            return super().by_operator(f)

        def computed() -> tuple[Bdd, Bdd]:
            known = super(After, self).by_operator(f)
            return known.must, known.may

        must, may = self._once(f, None, computed)
        return Known(must, may)

    def _once(self, f: Core, to: bool | None, compute: Callable[[], tuple[Bdd, ...]]) -> tuple[Bdd, ...]:
        """Return what is computed of a quantified formula, or what another step has made of it (`Kept`)."""
        key = f, to, self._decisive(deciding(f, self.schema))
        if (known := self._kept.outcomes.get(key)) is None:
            known = compute()
            variables = self._write.open
            if not variables or all(variables.isdisjoint(self.manager.support(one)) for one in known):
                self._kept.outcomes[key] = known
        return known

    def _decisive(self, relations: frozenset[str]) -> Hashable:
        """Return all of the step that tells which facts about some relations are true after it."""
        if relations not in self._deciding:
            names, read = self._kept.writing(self._write.effect, relations)
            given = ((f, true) for f, true in self._given.items() if relations.issuperset(fo.relations_in(f)))
            about = self._kept.about(relations | read)
            self._deciding[relations] = self._by, self._write.values_of(names), frozenset(given), about
        return self._deciding[relations]

    def may_turn(self, f: Core, to: bool) -> Bdd:
        """Return a superset of where the truth value of a formula changes ``to`` this.

        An atom of it has to be inserted or deleted, by its sign, at a value of each quantifier, unless the
        formula depends on which values are active.
        """
        if (f, to) not in self._turns:
            if isinstance(f, fo.Exists) and not depends_on_activity(f):
                [self._turns[f, to]] = self._once(f, to, lambda: (self._computed_turn(f, to),))
            else:
                self._turns[f, to] = self._computed_turn(f, to)
        return self._turns[f, to]

    def _computed_turn(self, f: Core, to: bool) -> Bdd:
        m = self.manager
        if depends_on_activity(f):
            return m.true
        match f:
            case fo.Atom() if not any(map(fo.is_compound, f.args)):
                inserted, deleted = self._write.changes(f)
                return inserted.may if to else deleted.may
            case fo.Not(body):
                return self.may_turn(body, not to)
            case fo.And(parts):
                return m.disj(self.may_turn(part, to) for part in parts)
            case fo.Exists(binder, body):
                found = m.false
                for value in (*self.values[binder.sort], *self.others(binder)):
                    instance = with_value(body, binder.name, value)
                    turned = self.may_turn(instance, to)
                    if turned != m.false:
                        known = self(instance)
                        found = found | (turned & (known.may if to else ~known.must))
                return found
            case fo.Truth():
                return m.false
            case fo.Equal(left, right) | fo.Compare(_, left, right, _):
                return m.true if fo.is_compound(left) or fo.is_compound(right) else m.false
            case _:
                return m.true

    def witnesses(self, binder: fo.Binder, body: Core) -> Iterable[Value]:
        """Return the individuals that the step inserts where a required atom of the body has x."""
        for atom in required(body):
            for relation, args in self._write.inserted:
                if relation == atom.relation:
                    for own, term in zip(atom.args, args, strict=True):
                        if own == fo.Var(binder.name) and isinstance(term, fo.Const):
                            yield term.value


def required(formula: Core) -> Iterator[fo.Atom]:
    """Yield the atoms that have to be true, for some values of variables, if the formula is."""
    for part in fo.conjuncts(formula):
        if isinstance(part, fo.Exists):
            yield from required(part.body)
        elif isinstance(part, fo.Atom):
            yield part


def _may_meet(atom: fo.Atom, args: tuple[fo.Term, ...] | None) -> bool:
    """Return if a fact with these arguments, whose variables stand for any value, may be the atom's."""
    if args is None:
        return True
    return all(
        isinstance(a, fo.Var) or isinstance(b, fo.Var) or fo.is_compound(a) or fo.is_compound(b)
        or same(value_of(a, {}), value_of(b, {})) is not False
        for a, b in zip(atom.args, args, strict=True)
    )  # fmt: skip


@lru_cache(maxsize=1 << 14)
def occurring(formula: Core) -> tuple[tuple[fo.Atom, int], ...]:
    """Return the atoms of a formula, with 1 if it is monotone in the atom, -1 antitone, 0 if not sure."""
    if isinstance(formula, fo.Atom) and not any(map(fo.is_compound, formula.args)):
        return ((formula, 1),)
    found = [] if not isinstance(formula, fo.Atom) else [(formula, 1)]
    for child, sign in zip(fo.children(formula), _signs(formula), strict=True):
        found += [(atom, sign * own) for atom, own in occurring(child)]
    return tuple(found)


def _signs(formula: Core) -> tuple[int, ...]:
    given = fo.signs(formula)
    number = len(fo.children(formula))
    return given if len(given) == number else (0,) * number


@lru_cache(maxsize=1 << 17)
def _relations_read(f: Core) -> frozenset[str] | None:
    """Return the relations that decide the truth of a formula; None with individuals, or if activity does."""
    if mentions_individuals(f) or depends_on_activity(f):
        return None
    return frozenset(fo.relations_in(f))
