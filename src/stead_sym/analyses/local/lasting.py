"""The moves that a run may make again and again while it stays in certain states.

A *tally* is the number of tuples of a relation with given constants and names in some columns. A move that
surely takes away such a tuple is made finitely often if no move that goes on adds one. One that surely adds
a tuple is, if none takes one away and there is an end to what can be added: there was none before, or the
values of the other columns are among finitely many.

Law. If a run stays in certain states from some step on, then from some step on it makes only moves that are
`lasting` there.

Proof. By induction on the rounds in which moves are left out. From some step on the run makes none that were
left out before. Of these that go on, none moves the tally of a move that is left out now in the other
direction: so each time this is made the tally comes nearer to 0, or to the number of all tuples of these
values, and never goes back. The values are finitely many if none of the moves has a `fresh` value of their
sort: the others write constants, values of finite sorts and active ones, of which there are finitely many in
the first of these states. ∎
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, product

import stead_sym.logic.syntax as fo
from stead_sym.analyses.local.facts import facts_in
from stead_sym.analyses.local.moves import Certain, Move, conditions, in_terms
from stead_sym.analyses.local.reading import Reading, is_instance, tuple_in
from stead_sym.analyses.local.steps import Steps
from stead_sym.analyses.local.values import individual, is_name, kind, sort_of
from stead_sym.analyses.local.writes import Write
from stead_sym.deployment.tool import Insert
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.logic.evaluate import value_of
from stead_sym.logic.kernel import Core, core
from stead_sym.logic.substitution import substitute_terms
from stead_sym.relational.schema import tells_history

MOST_NAMED = 16
"""The maximum number of choices of names for what may be any value."""


@dataclass(frozen=True, slots=True)
class _Tally:
    """The tuples as ``atom``, whose arguments are constants, names, and `any` values.

    A move ``adds`` one each time, or takes one away. If it is the ``first`` there was none before.
    """

    atom: fo.Atom
    adds: bool
    first: bool = False


class Lasting:
    """Moves read by a ``reading``, and what they surely do."""

    def __init__(
        self,
        reading: Reading,
        steps: Steps,
        certain: Iterable[Certain],
        unlisted: frozenset[str],
    ) -> None:
        """Take what is ``certain`` to be possible: there no run ends.

        A fact may have integers of the ``unlisted`` sorts that no sort declares.
        """
        self._reading, self._steps, self._unlisted = reading, steps, unlisted
        self._more, self._certain = iter(certain), list[Certain]()
        self._writes: dict[Move, Write] = {}

    @cached_property
    def moves(self) -> tuple[Move, ...]:
        """Return all moves."""
        return tuple(self._steps.moves())

    def surely_goes_on(self, states: Bdd) -> Bdd:
        """Return states in which a step surely is possible, all if these are among the given ones."""
        surely = self._reading.manager.disj(one.known.must for one in self._certain)
        while not states <= surely and (one := next(self._more, None)) is not None:
            self._certain.append(one)
            surely = surely | one.known.must
        return surely

    def may_go_on(self, states: Bdd) -> Iterator[frozenset[Core]]:
        """Yield the facts that decide if a step is possible that may be in some of these states."""
        self.surely_goes_on(states)
        may = (
            one
            for one in self._certain
            if states & one.known.may & ~one.known.must != self._reading.manager.false
        )
        yield from (one.reads for one in may)

    def __call__(self, moves: Mapping[Move, Bdd]) -> list[Move]:
        """Return the moves that may be made again and again, each made in the states that are given."""
        left = dict(moves)
        while gone := [move for move in left if self._comes_to_an_end(move, left)]:
            for move in gone:
                del left[move]
        return [*left]

    def reads(self, move: Move) -> frozenset[Core]:
        """Return the facts that decide if a move may be made, with names for what may be `any` value."""
        any_value = {name: sort_of(value) for name, value in move.values.items() if kind(value) == "any"}
        names = {name: [*filter(is_name, self._reading.values[sort])] for name, sort in any_value.items()}
        own = {name: found for name, found in names.items() if found}
        cases = (dict(zip(own, chosen, strict=True)) for chosen in islice(product(*own.values()), MOST_NAMED))
        return frozenset(
            fact
            for case in cases
            for formula in conditions(move.tool, move.effect, in_terms({**move.values, **case}))
            for fact in facts_in(formula)
        )

    def _write(self, move: Move) -> Write:
        if move not in self._writes:
            self._writes[move] = Write(move.effect, in_terms(move.values), self._reading)
        return self._writes[move]

    def _comes_to_an_end(self, move: Move, moves: Mapping[Move, Bdd]) -> bool:
        """Return if a move is made finitely often where no others are made for ever."""
        if move.effect.is_ensure:
            return False
        values, states = in_terms(move.values), moves[move]
        given = [
            core(part) for f in conditions(move.tool, move.effect, values) for part in fo.conjuncts(core(f))
        ]

        def ends(given: Sequence[Core], states: Bdd) -> bool:
            return any(self._holds_out(tally, moves) for tally in self._tallies(move, given, states))

        if ends(given, states):
            return True
        for part in given:
            if isinstance(part, fo.Not) and isinstance(part.body, fo.And):
                cases = [core(fo.Not(one)) for one in part.body.parts]
                if all(
                    here == self._reading.manager.false
                    or ends([*given, *(core(one) for one in fo.conjuncts(case))], here)
                    for case in cases
                    for here in [states & self._reading(case).may]
                ):
                    return True
        return False

    def _tallies(self, move: Move, given: Sequence[Core], states: Bdd) -> Iterator[_Tally]:
        """Yield tallies that a move surely changes, made in these states where the ``given`` is true."""
        write, false = self._write(move), self._reading.manager.false
        for atom in given:
            if isinstance(atom, fo.Atom) and _is_plain(atom):
                _, deleted = write.changes(atom)
                if states <= deleted.must:
                    yield self._tally(atom, adds=False)
        nothing = [part.body for part in given if isinstance(part, fo.Not)]
        for statement in move.effect.statements:
            if not isinstance(statement, Insert):
                continue
            own = {binder.name for binder in statement.binders}
            images = {name: value for name, value in in_terms(move.values).items() if name not in own}
            atom = replace(statement.atom, args=substitute_terms(statement.atom.args, images))
            if not _is_plain(atom) or not states <= write.changes(atom)[0].must:
                continue
            tally = self._tally(atom, adds=True)
            if any(_is_an_instance(tally.atom, none) for none in nothing):
                yield replace(tally, first=True)
            elif (
                any(_is_an_instance(atom, none) for none in nothing)
                or states & self._reading(atom).may == false
            ):
                yield tally

    def _tally(self, atom: fo.Atom, *, adds: bool) -> _Tally:
        sorts = self._reading.schema.relation(atom.relation).sorts
        args = (
            term
            if kind(value_of(term, {})) == "named"
            else fo.Const(individual("any", sort, f"column {column}"))
            for column, (term, sort) in enumerate(zip(atom.args, sorts, strict=True))
        )
        return _Tally(replace(atom, args=tuple(args)), adds)

    def _holds_out(self, tally: _Tally, moves: Mapping[Move, Bdd]) -> bool:
        """Return if no move changes the tally in the other direction, and there is an end to it."""
        endless = tally.adds and not tally.first
        sorts = {
            sort_of(term.value)
            for term in tally.atom.args
            if isinstance(term, fo.Const) and kind(term.value) == "any"
        }
        if endless and not sorts.isdisjoint(self._unlisted):
            return False
        for move, states in moves.items():
            if move.effect.is_ensure:
                return False
            if endless and any(binder.sort in sorts for binder in move.effect.fresh):
                return False
            inserted, deleted = self._write(move).changes(tally.atom)
            back = deleted if tally.adds else inserted
            if states & back.may != self._reading.manager.false:
                return False
        return True


def _is_plain(atom: fo.Atom) -> bool:
    """Return if an atom is one of the database, of values."""
    return not (
        atom.primed
        or fo.free_variables(atom)
        or any(map(fo.is_compound, atom.args))
        or tells_history(atom.relation)
    )


def _is_an_instance(atom: fo.Atom, sentence: Core) -> bool:
    """Return if a tuple as the atom makes a sentence true that says that there is one."""
    some = tuple_in(sentence)
    return (
        some is not None
        and some.relation == atom.relation
        and not some.primed
        and is_instance(some.args, atom.args)
    )
