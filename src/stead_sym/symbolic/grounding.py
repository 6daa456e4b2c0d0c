"""Which facts need bits: those of relations that some effect can write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Clear, Delete, Insert
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Value


@dataclass(frozen=True, slots=True)
class Grounding:
    """``static``: facts that hold in every state; ``dynamic``: facts that may come and go.
    Every other fact is false in every state."""

    static: frozenset[Fact]
    dynamic: tuple[Fact, ...]


def ground(deployment: Deployment, values: Mapping[str, tuple[Value, ...]]) -> Grounding:
    """The facts over ``values`` that need bits. An `ensure` may write every relation."""
    written: set[str] = set()
    for tool in deployment.tools:
        for effect in tool.effects:
            if effect.is_ensure:
                written.update(relation.name for relation in deployment.schema.relations)
            for statement in effect.statements:
                match statement:
                    case Insert(atom) | Delete(atom):
                        written.add(atom.relation)
                    case Clear(relations):
                        written.update(relations)
                    case _:
                        pass
    dynamic = tuple(
        Fact(relation.name, args)
        for relation in deployment.schema.relations
        if relation.name in written
        for args in product(*(values[sort] for sort in relation.sorts))
    )
    static = frozenset(fact for fact in deployment.init.facts if fact.relation not in written)
    return Grounding(static, dynamic)
