"""An equivalent formula of fewer and narrower parts, in the states in which keys hold.

A conjunction below quantifiers is a query ∃x1 … xn. (c1 ∧ … ∧ cm). In it

    R(k, x) ∧ R(k, y)        has x = y, if the columns of k are a key of R,
    ∃x. (x = t ∧ f)          is f with t for x, where t is a value that x ranges over,
    ∃x1 … xn. C              is ∃x1 … xn. h(C) for a map h of the variables to terms with h(C) ⊆ C,
    ∃x. (f ∧ g)              is f ∧ ∃x. g, if x is not free in f.

In the third line, C → h(C) since it has fewer parts, and values for h(C) give values for C: x has that of
h(x). Each x that h moves is in an atom of C, so that its value is active. An atom beside the query, or beside
what encloses it, is true where the query matters: h may map a part to it. Innermost are those variables whose
values are not determined by the others: "some member of the owning team is on call" is then a sentence about
the team, which a policy, a guard and a question have in common.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from itertools import combinations, count, product

import stead_sym.logic.syntax as fo
from stead_sym.analyses.local.values import MARK
from stead_sym.deployment.tool import Choose, Delete, Insert, Statement, Tool
from stead_sym.logic.activity import implies_active
from stead_sym.logic.folding import conjoin, negate
from stead_sym.logic.kernel import Core, core
from stead_sym.logic.substitution import substitute
from stead_sym.relational.schema import Schema, tells_history

MOST_PARTS = 24
"""The maximum number of parts of a query in which some are looked for that others imply."""

Keys = Callable[[str], tuple[int, ...] | None]


class Normal:
    """The normal forms of formulas in states in which each ``key`` that is given holds."""

    def __init__(self, schema: Schema, key: Keys) -> None:
        self._schema, self._key = schema, key
        self._found: dict[Core, Core] = {}

    def __call__(self, formula: fo.Expanded) -> Core:
        """Return the normal form of a formula, which has the same free variables or fewer."""
        f = core(formula)
        if f not in self._found:
            self._found[f] = self._of(f, frozenset(), 0)
        return self._found[f]

    def _of(self, f: Core, given: frozenset[Core], depth: int) -> Core:
        """Return a formula that is equivalent where all of the ``given`` parts are true."""
        match f:
            case _ if f in given:
                return fo.TRUE
            case fo.Equal(left, right) if left == right:
                return fo.TRUE
            case fo.Not(body):
                return negate(self._of(body, given, depth))
            case fo.And() | fo.Exists() if not fo.is_temporal(f):
                query = Query(self._schema, self._key, given, depth)
                query.add(f)
                query.reduce()
                inner = query.given
                parts = [
                    part if isinstance(part, fo.Atom) else self._of(part, inner, depth + 1)
                    for part in query.parts
                ]
                return _nested(query.binders, [*fo.conjuncts(conjoin(*parts))], self._schema)
            case _:
                return fo.map_children(lambda part: self._of(part, frozenset(), depth + 1), f)


def with_normal_forms(tool: Tool, normal: Normal) -> Tool:
    """Return the tool with the normal forms of its conditions, the formulas of `ensure` excepted."""

    def of(statement: Statement) -> Statement:
        match statement:
            case Choose() | Insert() | Delete():
                return replace(statement, where=normal(statement.where))
            case _:
                return statement

    effects = (
        replace(effect, when=normal(effect.when), statements=tuple(map(of, effect.statements)))
        for effect in tool.effects
    )
    return replace(tool, guard=normal(tool.guard), effects=tuple(effects))


class Query:
    """∃x1 … xn. (c1 ∧ … ∧ cm), where the parts that ``given`` are outside of it are true."""

    def __init__(self, schema: Schema, key: Keys, given: frozenset[Core], depth: int) -> None:
        self._schema, self._key, self._outside = schema, key, given
        self._fresh = (f"{MARK}{depth}.{number}" for number in count())
        self.binders: list[fo.Binder] = []
        self.parts: list[Core] = []

    @property
    def given(self) -> frozenset[Core]:
        """Return the atoms that are true wherever a part matters, the parts outside included."""
        return self._outside.union(_plain(self.parts))

    def add(self, f: Core) -> None:
        """Add the parts of a formula, with variables of their own."""
        match f:
            case fo.And(parts):
                for part in parts:
                    self.add(part)
            case fo.Exists(binder, body):
                own = replace(binder, name=next(self._fresh))
                self.binders.append(own)
                self.add(substitute(body, {binder.name: fo.Var(own.name)}))
            case fo.Equal(left, right) if left == right:
                pass
            case _ if f not in self._outside and f not in self.parts and f != fo.TRUE:
                self.parts.append(f)
            case _:
                pass

    def reduce(self) -> None:
        """Leave out the variables that are another term, and the parts that others imply."""
        while images := self._equal() or self._by_key() or self._into_itself():
            self.binders = [one for one in self.binders if one.name not in images]
            parts, self.parts = self.parts, []
            for part in parts:
                self.add(substitute(part, images))

    @property
    def _movable(self) -> frozenset[str]:
        """Return the variables that range over active values."""
        return frozenset(binder.name for binder in self.binders if not binder.declared)

    def _equal(self) -> Mapping[str, fo.Term]:
        """Return a variable with a term that a part says it is equal to; nothing if there is none."""
        for part in self.parts:
            if isinstance(part, fo.Equal):
                for one, other in ((part.left, part.right), (part.right, part.left)):
                    for binder in self.binders:
                        if one == fo.Var(binder.name) and one != other and self._ranges_over(binder, other):
                            return {binder.name: other}
        return {}

    def _ranges_over(self, binder: fo.Binder, term: fo.Term) -> bool:
        """Return if a variable ranges over the value of a term, where all parts are true of it."""
        match term:
            case fo.Const(value):
                values = self._schema.sort(binder.sort).values
                alike = value in values if values is not None else not binder.declared
            case fo.Var(name):
                alike = any(one.name == name and one.sort == binder.sort for one in self.binders)
                alike = alike and not binder.declared
            case _:
                return False
        return alike and (binder.declared or any(implies_active(part, binder.name) for part in self.parts))

    def _by_key(self) -> Mapping[str, fo.Term]:
        """Return a variable with the term that a key says it is equal to; nothing if there is none."""
        movable = self._movable
        for one, other in combinations(_plain(self.parts), 2):
            if one.relation != other.relation or (key := self._key(one.relation)) is None:
                continue
            if any(one.args[column] != other.args[column] for column in key):
                continue
            for left, right in zip(one.args, other.args, strict=True):
                if left != right and isinstance(left, fo.Var) and left.name in movable:
                    return {left.name: right}
                if left != right and isinstance(right, fo.Var) and right.name in movable:
                    return {right.name: left}
        return {}

    def _into_itself(self) -> Mapping[str, fo.Term]:
        """Return terms for some variables with which each part is one there is; nothing if there are none."""
        if len(self.parts) > MOST_PARTS:
            return {}
        movable, targets = self._movable, [*self.parts, *sorted(self._outside, key=str)]
        for part, target in product(self.parts, targets):
            if part != target and (images := _match(part, target, movable, {})) is not None:
                moved = [one for one, term in images.items() if term != fo.Var(one)]
                if moved and (whole := self._extended(images, movable, targets)) is not None:
                    return {one: term for one, term in whole.items() if term != fo.Var(one)}
        return {}

    def _extended(
        self, images: Mapping[str, fo.Term], movable: Set[str], targets: Sequence[Core]
    ) -> Mapping[str, fo.Term] | None:
        """Return images with which each part with a moved variable is a target; None if there are none.

        The image of a variable is not one that is moved itself, so that to replace all at once is enough.
        """
        moved = {one for one, term in images.items() if term != fo.Var(one)}
        if any(images[one] == fo.Var(other) for one in moved for other in moved):
            return None
        for part in self.parts:
            if moved.isdisjoint(fo.free_variables(part)):
                continue
            if fo.free_variables(part) & movable <= images.keys():
                if substitute(part, dict(images)) not in targets:
                    return None
                continue
            for target in targets:
                more = _match(part, target, movable, images)
                if more is not None and (whole := self._extended(more, movable, targets)) is not None:
                    return whole
            return None
        return images


def _match(
    part: Core, target: Core, movable: Set[str], images: Mapping[str, fo.Term]
) -> Mapping[str, fo.Term] | None:
    """Return images of the part's variables, these included, with which an atom is another, or None."""
    atoms = _plain((part, target))
    if len(atoms) < 2 or atoms[0].relation != atoms[1].relation:
        return None
    part, target = atoms
    found = dict(images)
    for term, image in zip(part.args, target.args, strict=True):
        if isinstance(term, fo.Var) and term.name in movable:
            if found.setdefault(term.name, image) != image:
                return None
        elif term != image:
            return None
    return found


def _plain(parts: Iterable[Core]) -> list[fo.Atom]:
    """Return the parts that are atoms of the database, without sums."""
    return [
        part
        for part in parts
        if isinstance(part, fo.Atom)
        and not part.primed
        and not tells_history(part.relation)
        and not any(map(fo.is_compound, part.args))
    ]


def _nested(binders: Sequence[fo.Binder], parts: Sequence[Core], schema: Schema) -> Core:
    """Return ∃x1 … xn. (c1 ∧ … ∧ cm) with each quantifier around the parts that need it."""
    if not binders:
        return fo.conjunction(tuple(parts))
    bound = {binder.name for binder in binders}
    found: list[Core] = [part for part in parts if bound.isdisjoint(fo.free_variables(part))]
    left = [part for part in parts if not bound.isdisjoint(fo.free_variables(part))]
    while left:
        together, names = [left.pop(0)], set[str]()
        while (now := set().union(*map(fo.free_variables, together)) & bound) != names:
            names = now
            together += [part for part in left if not names.isdisjoint(fo.free_variables(part))]
            left = [part for part in left if part not in together]
        order = [part for part in parts if part in together]
        own = [binder for binder in binders if binder.name in names]
        outer = max(own, key=lambda one: _rank(one, bound, order, schema))
        rest = [binder for binder in own if binder is not outer]
        found.append(fo.Exists(outer, _nested(rest, order, schema)))
    used = frozenset[str]().union(*map(fo.free_variables, parts)) if parts else frozenset()
    found += [fo.Exists(binder, fo.TRUE) for binder in binders if binder.name not in used]
    return conjoin(*found)


def _rank(binder: fo.Binder, bound: Set[str], parts: Sequence[Core], schema: Schema) -> tuple[bool, int]:
    """Return if a key of other terms determines a variable, and in how many parts it is."""

    def determines(part: fo.Atom) -> bool:
        keys = schema.relation(part.relation).keys
        given = (part.args[column] for column in keys)
        return bool(keys) and all(not isinstance(term, fo.Var) or term.name not in bound for term in given)

    atoms = [part for part in _plain(parts) if fo.Var(binder.name) in part.args]
    return any(map(determines, atoms)), sum(binder.name in fo.free_variables(part) for part in parts)
