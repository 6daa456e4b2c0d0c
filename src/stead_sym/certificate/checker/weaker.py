"""Deployments whose steps ask for less than those of the deployment that is certified.

Conjuncts of guards, of the `when` of alternatives, and of the `where` of `choose` are left out. A conjunct of
the `where` of an insertion or deletion becomes an atom of a relation that the file does not have: it is about
the variables of the conjunct, or about those of the written fact if the conjunct has others. That relation is
empty initially, and two events set it to anything about active values. Each run of the deployment is a run
of this one in which the relation is set before a step to where the conjunct is true, and cleared after it. So
what is true of all reachable states of this one is true of those of the deployment.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from itertools import count

import stead_sym.logic.syntax as fo
from stead_sym.certificate.document import LeftOut, free
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Choose, Clear, Delete, Effect, Insert, Statement, Tool
from stead_sym.logic.kernel import core
from stead_sym.relational.schema import Relation


def without(deployment: Deployment, left_out: Collection[LeftOut]) -> Deployment:
    """Return the deployment whose tools and events do not ask for some conjuncts of their conditions."""
    if not left_out:
        return deployment
    made = [_Weaker(tool, {one.place for one in left_out}) for tool in deployment.tools_and_events]
    relations = tuple(
        Relation(name, tuple(binder.sort for binder in columns))
        for one in made
        for name, columns in one.free.items()
    )
    tools = [
        *(one.result for one in made),
        *(event for relation in relations for event in _setting(relation)),
    ]
    return deployment.with_tools(tools, relations)


def _setting(relation: Relation) -> tuple[Tool, Tool]:
    """Return the events that add a fact about active values to a relation, and that clear it."""
    values = tuple(fo.Binder(f"x{number}", sort) for number, sort in enumerate(relation.sorts))
    adding = Insert(fo.Atom(relation.name, fo.variables_of(values)))
    return (
        Tool(f"{relation.name}?any", values, effects=(Effect((adding,)),), event=True),
        Tool(f"{relation.name}?none", effects=(Effect((Clear((relation.name,)),)),), event=True),
    )


def _asked(tool: Tool) -> Iterator[fo.Formula]:
    """Yield the conjuncts of the conditions of the insertions and deletions of a tool."""
    for effect in tool.effects:
        for statement in effect.statements:
            if isinstance(statement, Insert | Delete):
                yield from fo.conjuncts(core(statement.where))


@dataclass
class _Weaker:
    """A tool without the conjuncts at some ``places``, and the relations that are ``free`` in their place."""

    tool: Tool
    places: Collection[tuple[str, int, int, int]]
    free: dict[str, tuple[fo.Binder, ...]] = field(default_factory=dict)
    _known: dict[object, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        taken = {part.relation for part in _asked(self.tool) if isinstance(part, fo.Atom)}
        numbered = (free(self.tool.name, number) for number in count())
        self._names = (name for name in numbered if name not in taken)
        guard = self._rest(self.tool.guard, 0, 0)
        effects = [self._effect(effect, number) for number, effect in enumerate(self.tool.effects, 1)]
        self.result = replace(self.tool, guard=guard, effects=tuple(effects))

    def _effect(self, effect: Effect, alternative: int) -> Effect:
        when = self._rest(effect.when, alternative, 0)
        done = (self._statement(one, alternative, number) for number, one in enumerate(effect.statements, 1))
        return replace(effect, when=when, statements=tuple(done))

    def _is_out(self, alternative: int, statement: int, conjunct: int) -> bool:
        return (self.tool.name, alternative, statement, conjunct) in self.places

    def _rest(self, condition: fo.Formula, alternative: int, statement: int) -> fo.Formula:
        every = enumerate(fo.conjuncts(core(condition)))
        return fo.conjunction(tuple(f for n, f in every if not self._is_out(alternative, statement, n)))

    def _statement(self, statement: Statement, alternative: int, number: int) -> Statement:
        match statement:
            case Choose(_, where):
                return replace(statement, where=self._rest(where, alternative, number))
            case Insert(_, _, where) | Delete(_, _, where):
                asked: list[fo.Formula] = []
                for conjunct, part in enumerate(fo.conjuncts(core(where))):
                    out = self._is_out(alternative, number, conjunct)
                    one = self._anything(statement, part, alternative, number) if out else part
                    if not out or one not in asked:
                        asked.append(one)
                return replace(statement, where=fo.conjunction(tuple(asked)))
            case _:
                return statement

    def _anything(
        self, statement: Insert | Delete, part: fo.Formula, alternative: int, number: int
    ) -> fo.Atom:
        """Return the atom in the place of a conjunct. Statements that ask for the same share a relation."""
        columns = tuple(one for one in statement.binders if fo.Var(one.name) in statement.atom.args)
        own = fo.free_variables(part).intersection(one.name for one in statement.binders)
        key: object = alternative, number
        if own.issubset(one.name for one in columns):
            columns = tuple(one for one in columns if one.name in own)
            key = alternative, part, columns
        if key not in self._known:
            self._known[key] = next(self._names)
        name = self._known[key]
        self.free[name] = columns
        return fo.Atom(name, tuple(fo.Var(one.name) for one in columns))
