"""The initial states: D0, or all D0 that `initially any` admits.

    { D0 : D0 is `init` but for more facts of the listed relations, D0 ⊨ f, at most b_S values outside C are
           active, no two facts have one key, no reference is broken }

over U_f; in mode `normal` over C and the first b_S names of each sort. These suffice: D0 has at most b_S
values outside C, an isomorphism that fixes C maps them to the first b_S names, and the result is a D0,
because the condition is first-order with constants in C. Facts without a bit get one here, so that the
checker detects whether some D0 contains them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stead_sym.certificate.checker.ensured import all_facts
from stead_sym.certificate.checker.formulas import Facts, Formulas
from stead_sym.certificate.checker.ledger import Ledger
from stead_sym.certificate.checker.space import Space
from stead_sym.deployment.deployment import Deployment
from stead_sym.engines.symbolic.bdd.manager import Bdd
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Value


def initial_states(space: Space, deployment: Deployment, ledger: Ledger, *, literal: bool) -> Bdd:
    """Return all D0, over the bits of the facts of the database.

    Obligations: there is a D0; each contains the static facts, and none a fact without a bit.
    """
    m, place = space.manager, "initial states"
    if deployment.initially is None:
        listed = space.static | space.atoms.keys()
        missing = sorted(deployment.init.facts - listed)
        ledger.true(not missing, f"D0 holds only facts that are listed, not {missing[:1]}", place)
        strange = sorted(space.static - deployment.init.facts)
        ledger.true(not strange, f"D0 holds the static facts, not {strange[:1]}", place)
        return m.cube({space.atoms[fact]: fact in deployment.init for fact in space.database})
    allowed = {
        sort: values
        if literal
        else values[: len(deployment.constants[sort]) + deployment.bounds.get(sort, 0)]
        for sort, values in space.domain.items()
    }
    relations = [deployment.schema.relation(name) for name in deployment.initially.relations]
    within = deployment.init.facts.union(all_facts(relations, allowed, "`initially any`"))
    extra = {fact: f"{fact}°" for fact in sorted(within) if fact not in space.atoms}
    m.declare_bottom(extra.values())
    holding = {
        fact: space.now(fact) if fact in space.atoms else m.var(extra[fact]) for fact in sorted(within)
    }
    result = m.true
    for condition in _conditions(space, deployment, holding):
        result = result & condition
    formulas = Formulas(space, deployment.schema, Facts(deployment.schema, holding), within=result)
    result = result & formulas(deployment.initially.where, {})
    for fact in space.database:
        if fact not in within:
            result = result & ~space.now(fact)
    ledger.true(result != m.false, "there is an initial state", place)
    for fact, bit in extra.items():
        static = fact in space.static
        wrong = ~m.var(bit) if static else m.var(bit)
        ledger.empty(result & wrong, f"every D0 has {fact}" if static else f"no D0 has {fact}", place)
    strange = sorted(space.static - within)
    ledger.true(not strange, f"D0 holds the static facts, not {strange[:1]}", place)
    return m.exist(frozenset(extra.values()), result)


def _conditions(space: Space, deployment: Deployment, holding: Mapping[Fact, Bdd]) -> Iterator[Bdd]:
    assert deployment.initially is not None
    m, schema = space.manager, deployment.schema
    for fact in deployment.init.facts:
        yield holding[fact]
    facts = Facts(schema, holding)
    formulas = Formulas(space, schema, facts)
    yield from broken_keys(space, deployment, holding, negated=True)
    for broken in broken_references(space, deployment, holding):
        yield ~broken
    for sort, bound in deployment.bounds.items():
        outside = deployment.outside(sort, space.domain[sort])
        yield ~m.at_least(bound + 1, [formulas.active(sort, value) for value in outside])


def broken_keys(
    space: Space, deployment: Deployment, holding: Mapping[Fact, Bdd], *, negated: bool = False
) -> Iterator[Bdd]:
    """Yield, per declared key, the states in which two facts share it.

    With ``negated``, yield the complements.
    """
    groups: dict[tuple[str, tuple[Value, ...]], list[Bdd]] = {}
    for fact, where in holding.items():
        relation = deployment.schema.relation(fact.relation)
        if relation.keys:
            groups.setdefault((fact.relation, relation.key(fact.args)), []).append(where)
    for group in groups.values():
        if len(group) > 1:
            broken = space.manager.at_least(2, group)
            yield ~broken if negated else broken


def broken_references(space: Space, deployment: Deployment, holding: Mapping[Fact, Bdd]) -> Iterator[Bdd]:
    """Yield, per fact, the states in which it holds and breaks a reference."""
    for reference in deployment.schema.references:
        there: dict[Value, list[Bdd]] = {}
        for fact, where in holding.items():
            if fact.relation == reference.target:
                there.setdefault(fact.args[reference.into], []).append(where)
        for fact, where in holding.items():
            if fact.relation == reference.relation:
                yield where & ~space.manager.disj(there.get(fact.args[reference.column], ()))
