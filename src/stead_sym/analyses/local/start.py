"""The abstract states of the initial databases, for all values that the names may stand for, or a few more.

A fact without names about relations that nothing writes is `fixed`: it is always as D0 says.

For each set of names of which some fact speaks, the facts about names of this set alone take the truth values
that they have for some choice of values; the abstract initial states are those that do so for each set. Most
choices make no fact true that speaks of two names, so that it is enough to go through those that do, and to
let each name alone have any of its values.

What is not looked up is left open: facts of relations of `initially any`, sentences that depend on which
values are active if there are such relations, sentences with a quantifier that no fact of the data bounds,
and comparisons with the value of a name that may be outside of C.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import count
from types import MappingProxyType

import stead_sym.logic.syntax as fo
from stead_sym.analyses.local.facts import depends_on_activity
from stead_sym.analyses.local.values import is_name, sort_of
from stead_sym.deployment.deployment import Deployment
from stead_sym.engines.symbolic.bdd.manager import Bdd, Manager
from stead_sym.logic.evaluate import holds, value_of
from stead_sym.logic.kernel import Core
from stead_sym.logic.substitution import substitute, with_constants
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Value

_Choice = tuple[Value, ...]

MOST_OF_A_KIND: Mapping[int, int] = {1: 16, 2: 5, 3: 3}
"""For a number of names, the maximum number of values each that no fact tells apart."""

MOST_NEAR = 200
"""The maximum number of values near to one."""

OUTSIDE = "\0outside"
"""A value outside C, which stands in no initial fact."""


def names_in(fact: fo.Formula) -> tuple[Value, ...]:
    """Return the names in a fact, sorted."""
    own = (term for part in fo.subformulas(fact) for term in fo.terms(part))
    return tuple(sorted({term.value for term in own if isinstance(term, fo.Const) and is_name(term.value)}))


def begins_with_at_most_one(deployment: Deployment, relation: str, state: Instance | None = None) -> bool:
    """Return if each initial state has at most one tuple in a relation; or the ``state``, if it is given."""
    initially = deployment.initially if state is None else None
    is_open = initially is not None and relation in initially.relations
    state = deployment.init if state is None else state
    return not is_open and len(state.by_relation.get(relation, ())) <= 1


class Start:
    """Index of the facts of D0 by their values; kept between questions."""

    def __init__(
        self,
        deployment: Deployment,
        mentioned: Mapping[str, Sequence[Value]],
        state: Instance | None = None,
        stands_for: Mapping[Value, Value] = MappingProxyType({}),
    ) -> None:
        """Take a ``state`` in which runs begin, where it is not D0; C is that of the deployment.

        A name that ``stands_for`` a value, one outside C, stands for no other.
        """
        self.state = state
        """The state in which runs begin; None if it is D0."""
        self._init = deployment.init if state is None else state
        is_open = state is None and deployment.initially is not None
        self._open = frozenset(deployment.initially.relations if is_open and deployment.initially else ())
        self._stands_for = stands_for
        self._constants = {sort: frozenset(values) for sort, values in deployment.constants.items()}
        taken = frozenset(stands_for.values())
        self._values = {
            sort: (
                *(value for value in values if value not in set(mentioned[sort])),
                *sorted(self._init.active_domain[sort] - self._constants[sort] - taken),
                OUTSIDE,
            )
            for sort, values in deployment.constants.items()
        }
        sorts = deployment.schema.sorts
        self._listed = frozenset(sort.name for sort in sorts if sort.values is not None or sort.is_numeric)
        self._true: dict[fo.Formula, frozenset[_Choice] | None] = {}
        names = frozenset(relation.name for relation in deployment.schema.relations)
        self.unwritten = (
            frozenset()
            if deployment.has_ensure
            else names.difference(*(one.changed for one in deployment.tools_and_events))
        )
        """The relations that no step changes."""

    def states(self, manager: Manager, bits: Mapping[Core, Bdd], inside: Mapping[Value, Bdd]) -> Bdd:
        """Return the abstract initial states; ``inside``: where a name stands for a value of C."""
        true = {fact: found for fact in bits if (found := self.true(fact)) is not None}
        by_names: dict[tuple[Value, ...], list[Core]] = defaultdict(list)
        for fact in true:
            by_names[names_in(fact)].append(fact)
        parts = [bits[fact] if true[fact] else ~bits[fact] for fact in by_names.pop((), [])]
        for one, bit in inside.items():
            own = by_names.pop((one,), [])
            kinds = {
                (self._is_inside(one, value), *((value,) in self._chosen(true[fact]) for fact in own))
                for value in self._values_of(one)
            }
            parts.append(self._any_of(manager, [bit, *(bits[fact] for fact in own)], kinds))
        for several, own in by_names.items():
            below = [fact for fact in true if set(names_in(fact)) <= set(several) and names_in(fact)]
            choices = frozenset[_Choice]().union(*(self._chosen(true[fact]) for fact in own))
            kinds = {
                (
                    *map(self._is_inside, several, choice),
                    *(
                        self._part(names_in(fact), several, choice) in self._chosen(true[fact])
                        for fact in below
                    ),
                )
                for choice in choices
            }
            functions = [*(inside[one] for one in several), *(bits[fact] for fact in below)]
            none = manager.conj(~bits[fact] for fact in own)
            parts.append(none | self._any_of(manager, functions, kinds))
        return manager.conj(parts)

    def _is_inside(self, one: Value, value: Value) -> bool:
        """Return if the value of a name is in C."""
        return value in self._constants[sort_of(one)]

    def _values_of(self, one: Value) -> Sequence[Value]:
        """Return the values that a name may have."""
        value = self._stands_for.get(one)
        return self._values[sort_of(one)] if value is None else (value,)

    def fixed(self, fact: Core) -> bool | None:
        """Return the truth value of a fact in every reachable state; None if it has names, or may change."""
        if names_in(fact) or not self.keeps(fact):
            return None
        true = self.true(fact)
        return None if true is None else bool(true)

    def keeps(self, fact: Core) -> bool:
        """Return if no step changes a fact: nothing writes its relations."""
        return self.unwritten.issuperset(fo.relations_in(fact)) and not depends_on_activity(fact)

    def knows(self, sort: str, value: Value) -> bool:
        """Return if the value is one of C that a name may stand for."""
        return value in self._allowed[sort]

    def kinds(self, names: Sequence[Value], facts: Iterable[Core]) -> Iterator[Mapping[Value, Value]]:
        """Yield values for all names, a few for each combination of truth values of the facts.

        `OUTSIDE` may be among them. Values that are near to each other in the data come first.
        """
        own: dict[tuple[Value, ...], list[frozenset[_Choice]]] = defaultdict(list)
        for fact in facts:
            if names_in(fact) and (true := self.true(fact)) is not None:
                own[names_in(fact)].append(true)
        most = MOST_OF_A_KIND.get(len(names), 2)
        for several, found in own.items():
            if len(several) > 1:
                together = sorted(frozenset[_Choice]().union(*found))
                kinds = [
                    frozenset(choice for choice in together if self._part(below, several, choice) in true)
                    for below, sets in own.items()
                    if set(below) <= set(several)
                    for true in sets
                ]
                for choice in _few_of_each(together, kinds, most):
                    yield from self._filled(names, own, dict(zip(several, choice, strict=True)), most)
        yield from self._filled(names, own, {}, most)

    def _filled(
        self,
        names: Sequence[Value],
        own: Mapping[tuple[Value, ...], Sequence[frozenset[_Choice]]],
        fixed: Mapping[Value, Value],
        most: int,
    ) -> Iterator[Mapping[Value, Value]]:
        """Yield the fixed values with values for the other names."""
        open_names = [one for one in names if one not in fixed]
        if not open_names:
            yield fixed
            return
        one = open_names[0]
        taken = {value for other, value in fixed.items() if sort_of(other) == sort_of(one)}
        near = self._near(fixed.values())
        among = [(v,) for v in self._values[sort_of(one)] if v == OUTSIDE or v not in taken]
        among.sort(key=lambda choice: near.get(choice[0], len(near)))
        for (value,) in _few_of_each(among, own.get((one,), ()), most):
            yield from self._filled(names, own, {**fixed, one: value}, most)

    def _near(self, values: Iterable[Value]) -> Mapping[Value, int]:
        """Return the values connected to these by facts, numbered from the nearest."""
        found: dict[Value, int] = {}
        waiting = [value for value in values if value != OUTSIDE]
        while waiting and len(found) < MOST_NEAR:
            ahead: dict[Value, None] = {}
            for value in waiting:
                for args in self._beside.get(value, ()):
                    ahead.update(dict.fromkeys(args))
            waiting = [value for value in ahead if value not in found]
            for value in waiting:
                found[value] = len(found)
        return found

    @cached_property
    def _beside(self) -> Mapping[Value, Sequence[Sequence[Value]]]:
        """Return for each value that a name may stand for the tuples of such values in its facts of D0."""
        found: dict[Value, list[tuple[Value, ...]]] = defaultdict(list)
        open_values = frozenset[Value]().union(*self._allowed.values())
        for fact in sorted(self._init.facts):
            args = tuple(value for value in fact.args if value in open_values)
            for value in args:
                found[value].append(args)
        return found

    @staticmethod
    def _chosen(found: frozenset[_Choice] | None) -> frozenset[_Choice]:
        assert found is not None
        return found

    @staticmethod
    def _part(names: Sequence[Value], several: Sequence[Value], choice: _Choice) -> _Choice:
        """Return the values of some of the names."""
        chosen = dict(zip(several, choice, strict=True))
        return tuple(chosen[one] for one in names)

    @staticmethod
    def _any_of(manager: Manager, functions: Sequence[Bdd], kinds: Set[tuple[bool, ...]]) -> Bdd:
        return manager.disj(
            manager.conj(one if value else ~one for one, value in zip(functions, kind, strict=True))
            for kind in sorted(kinds)
        )

    def true(self, fact: Core) -> frozenset[_Choice] | None:
        """Return the values of the names of a fact that make it true in D0; None if that is left open.

        The values are in the order of the names. Different names have different values.
        """
        if fact not in self._true:
            self._true[fact] = self._look_up(fact)
        return self._true[fact]

    def _look_up(self, fact: Core) -> frozenset[_Choice] | None:
        if not self._open.isdisjoint(fo.relations_in(fact)) or (self._open and depends_on_activity(fact)):
            return None
        names = names_in(fact)
        if _computes(fact) and not self._listed.isdisjoint(map(sort_of, names)):
            return None  # how a value outside C compares is not known
        if not names:
            return frozenset({()} if holds(fact, self._init) else ())
        free = with_constants(fact, {one: fo.Var(one) for one in names})
        if len(names) == 1:
            tried: Iterable[_Choice] = ((value,) for value in self._values_of(names[0]))
        else:
            atoms = [*bounding(free, count())]
            if not set(names) <= {t.name for a in atoms for t in a.args if isinstance(t, fo.Var)}:
                return None
            tried = {tuple(sigma[one] for one in names) for sigma in self._joined(atoms, set(names), {})}
        return frozenset(
            choice
            for choice in tried
            if all(self._allows(one, value) for one, value in zip(names, choice, strict=True))
            and len({*zip(map(sort_of, names), choice, strict=True)}) == len(names)
            and holds(free, self._init, dict(zip(names, choice, strict=True)))
        )

    def _allows(self, one: Value, value: Value) -> bool:
        """Return if a name may have a value."""
        given = self._stands_for.get(one)
        return value in self._allowed[sort_of(one)] if given is None else value == given

    @cached_property
    def _allowed(self) -> Mapping[str, frozenset[Value]]:
        return {sort: frozenset(values) for sort, values in self._values.items()}

    def _joined(
        self, atoms: Sequence[fo.Atom], names: Set[str], sigma: Mapping[str, Value]
    ) -> Iterator[Mapping[str, Value]]:
        """Yield values of the names with which all atoms hold, for some values of the other variables."""
        if names <= sigma.keys() or not atoms:
            yield sigma
            return

        def known(atom: fo.Atom) -> int:
            return sum(not isinstance(term, fo.Var) or term.name in sigma for term in atom.args)

        first = max(atoms, key=known)
        rest = [atom for atom in atoms if atom is not first]
        pattern = [sigma.get(t.name) if isinstance(t, fo.Var) else value_of(t, {}) for t in first.args]
        for args in self._init.matching(first.relation, pattern):
            extended = dict(sigma)
            pairs = [(t.name, v) for t, v in zip(first.args, args, strict=True) if isinstance(t, fo.Var)]
            if all(extended.setdefault(variable, value) == value for variable, value in pairs):
                yield from self._joined(rest, names, extended)


def _computes(fact: Core) -> bool:
    """Return if a fact compares values, or computes with them."""
    parts = fo.subformulas(fact)
    return any(isinstance(part, fo.Compare) or any(map(fo.is_compound, fo.arguments(part))) for part in parts)


def _few_of_each(choices: Iterable[_Choice], facts: Sequence[frozenset[_Choice]], most: int) -> list[_Choice]:
    """Return the first few of the choices that make the same facts true."""
    kinds: dict[tuple[bool, ...], list[_Choice]] = defaultdict(list)
    for choice in choices:
        own = kinds[tuple(choice in fact for fact in facts)]
        if len(own) < most:
            own.append(choice)
    return [choice for own in kinds.values() for choice in own]


def bounding(formula: Core, numbers: Iterator[int]) -> Iterator[fo.Atom]:
    """Yield atoms that hold wherever the formula does, for some values of its bound variables.

    Each bound variable gets a name of its own.
    """
    match formula:
        case fo.Atom(_, args) if not any(map(fo.is_compound, args)):
            yield formula
        case fo.And(parts):
            for part in parts:
                yield from bounding(part, numbers)
        case fo.Exists(binder, body):
            own = fo.Var(f"{binder.name}#{next(numbers)}")
            yield from bounding(substitute(body, {binder.name: own}), numbers)
        case fo.Count("atleast", number, binder, body) if number > 0:
            yield from bounding(fo.Exists(binder, body), numbers)
        case _:
            pass
