"""Fields of numbers whose bits are interleaved: those that a step adds to one another.

Of two balances with a + b = 999, one above the other in the order, a diagram holds the other balance for each
value of the first, and a transfer every difference. With the bits interleaved by weight, and those of the
numbers that a call names beside them, both take a few carries per bit.

One decision: only few and large fields are interleaved. The bits of a record are apart then, and the sets of
many records that have nothing to do with one another are exponentially larger.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

import stead_sym.logic.syntax as fo
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Effect, Insert
from stead_sym.engines.symbolic.encode.encoding import Field
from stead_sym.relational.schema import Schema

_LARGE = 32  # the minimum number of facts of an interleaved field
_MOST = 8  # the maximum number of interleaved fields


def interleaved(fields: Sequence[Field], deployment: Deployment) -> tuple[Field, ...]:
    """Return the fields whose bits are interleaved, in the given order: a few, or none."""
    effects = (effect for tool in deployment.tools_and_events for effect in tool.effects)
    related = frozenset[str]().union(*(_related(effect, deployment.schema) for effect in effects))
    found = [field for field in fields if field.facts[0].relation in related and len(field.facts) >= _LARGE]
    return tuple(found) if 1 < len(found) <= _MOST else ()


def _related(effect: Effect, schema: Schema) -> Set[str]:
    """Return the relations whose numbers an alternative writes with those of another record in view."""
    numeric = {
        relation.name: [schema.sort(sort).is_numeric for sort in relation.sorts]
        for relation in schema.relations
    }
    records = {
        (atom.relation, tuple(str(t) for t, is_number in pairs if not is_number))
        for statement in effect.statements
        if isinstance(statement, Insert)
        for atom in (statement.atom, *_atoms(statement))
        if any(numeric.get(atom.relation, ()))
        for pairs in [list(zip(atom.args, numeric[atom.relation], strict=True))]
    }
    return {relation for relation, _ in records} if len(records) > 1 else frozenset()


def _atoms(statement: Insert) -> Iterator[fo.Atom]:
    return (part for part in fo.subformulas(statement.where) if isinstance(part, fo.Atom))
