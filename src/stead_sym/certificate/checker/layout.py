"""The variables of the checker, and their order.

The diagrams are built in the order of their file. Then the variables are reordered: to the reversed order of
the hints, with the copies for the successor below their bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

import stead_sym.logic.syntax as fo
from stead_sym.certificate.checker.decisions import NAME
from stead_sym.certificate.checker.space import Space, Vector, copy_of, mortal_pairs, same_dead_bit
from stead_sym.certificate.checker.statement import Statement
from stead_sym.certificate.diagrams import Diagrams
from stead_sym.certificate.document import AgentTable, Certificate
from stead_sym.deployment.deployment import Deployment
from stead_sym.engines.symbolic.bdd.manager import Bdd, Manager
from stead_sym.relational.schema import Value


def declared(manager: Manager, certificate: Certificate, statement: Statement) -> Space:
    """Return the space of a certificate with all vectors that its formulas and contexts use."""
    deployment = statement.deployment
    mortal = frozenset(
        sort
        for sort, values in certificate.domain.items()
        if certificate.mode == "normal" and len(values) > len(deployment.constants[sort])
    )
    atoms = {fact: fact.key for fact in certificate.facts}
    space = Space(manager, certificate.domain, atoms, frozenset(certificate.static), mortal)
    for formula in (claim.formula for claim in statement.claims):
        _hold(space, formula, {})
    for table in certificate.agents:
        for sort, number in _names(deployment, table).items():
            for index in range(number):
                space.vector(sort, index, NAME)
    return space


def _hold(space: Space, formula: fo.Formula, scope: Mapping[str, Vector]) -> None:
    """Allocate a vector for each variable that a temporal operator keeps."""
    inner = dict(scope)
    if isinstance(formula, fo.Quantified) and fo.is_temporal(formula.body):
        inner[formula.binder.name] = space.unused(formula.binder.sort, scope.values())
    for child in fo.children(formula):
        if fo.is_temporal(child):
            _hold(space, child, inner)


def _names(deployment: Deployment, table: AgentTable) -> Mapping[str, int]:
    """Return the maximal number of names of each sort in a context of the table.

    It is at most the number of values of that sort in the context.
    """
    most: dict[str, int] = {}
    for entry in table.entries or ():
        values: dict[str, set[Value]] = {}
        for fact in entry.shown:
            for sort, value in zip(deployment.schema.relation(fact.relation).sorts, fact.args, strict=False):
                values.setdefault(sort, set()).add(value)
        for call in entry.offered:
            for param, value in zip(deployment.tool(call.tool).params, call.args, strict=False):
                values.setdefault(param.sort, set()).add(value)
        for sort, found in values.items():
            names = len(found - deployment.schema.rigid)
            most[sort] = max(most.get(sort, 0), names)
    return most


def rearranged(space: Space, diagrams: Diagrams, certificate: Certificate) -> list[Bdd]:
    """Return the sets of the certificate over the variables in the order of the checker."""
    manager, bits = space.manager, space.bits
    manager.declare_bottom(diagrams.order)
    sets = diagrams.build(manager)
    own = list(dict.fromkeys(chain(_hinted(space, certificate), bits)))
    manager.rearrange([bit for bit in own if manager.has(bit)])
    for above, bit in zip(("", *own), own, strict=False):
        if not manager.has(bit):
            if above:
                manager.declare_below(bit, above)
            else:
                manager.declare_top([bit])
    for bit in space.atoms.values():
        manager.declare_below(copy_of(bit), bit)
    held = [v for v in space.vectors.values() if v.mortal]
    for vector in held:
        for bit in vector.bits.values():
            manager.declare_below(copy_of(bit), bit)
    for pair in mortal_pairs(held):
        bit = same_dead_bit(*pair)
        manager.declare_below(copy_of(bit), bit)
    return sets


def _hinted(space: Space, certificate: Certificate) -> Iterator[str]:
    """Yield the bits in the order of the hints, each record reversed; a hint that names no bit is skipped.

    A record starts with values, followed by the facts about them. Reversing the order of all hints instead
    would be slow for large diagrams.
    """
    facts = set(space.atoms.values())
    beside: dict[str, list[str]] = {}
    for vector in space.vectors.values():
        for value, bit in vector.bits.items():
            beside.setdefault(f"{vector.sort}={value}", []).append(bit)
    record: list[str] = []
    for hint in certificate.order:
        if hint not in facts and record and record[-1] in facts:
            yield from reversed(record)
            record = []
        record += [hint] if hint in facts else beside.get(hint, ())
    yield from reversed(record)
