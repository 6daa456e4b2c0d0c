"""Hypothesis strategies for schemas, instances and renamings.

The decision: names are drawn from small fixed pools, so that generated data are dense (values meet in
facts, symmetries occur) and examples shrink to something readable.
"""

from __future__ import annotations

from collections.abc import Set

from hypothesis import strategies as st

from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Schema, Sort, Value


@st.composite
def schemas(draw: st.DrawFn, *, max_sorts: int = 3, max_relations: int = 4, max_arity: int = 3) -> Schema:
    """A schema whose first sort is unbounded; the others may be finite, and then rigid or not."""
    sorts = [Sort("a")]
    for name in "bcdef"[: draw(st.integers(0, max_sorts - 1))]:
        size = draw(st.integers(0, 3))
        listed = tuple(f"{name}{i}" for i in range(size)) or None
        sorts.append(Sort(name, listed, rigid=listed is not None and draw(st.booleans())))
    names = st.sampled_from([sort.name for sort in sorts])
    signatures = st.lists(names, max_size=max_arity).map(tuple)
    relations = draw(st.lists(signatures, min_size=1, max_size=max_relations))
    return Schema(tuple(sorts), tuple(Relation(f"P{i}", sig) for i, sig in enumerate(relations)))


def pool(schema: Schema, sort: str, size: int) -> tuple[Value, ...]:
    """The values of U_S that strategies draw: all of a finite sort, ``size`` of an unbounded one."""
    listed = schema.sort(sort).values
    return listed if listed is not None else tuple(f"{sort}{i}" for i in range(size))


@st.composite
def instances(draw: st.DrawFn, schema: Schema, *, size: int = 3, max_facts: int = 8) -> Instance:
    """An instance with at most ``size`` values of each unbounded sort."""

    def facts(relation: Relation) -> st.SearchStrategy[Fact]:
        columns = [st.sampled_from(pool(schema, sort, size)) for sort in relation.sorts]
        return st.tuples(*columns).map(lambda args: Fact(relation.name, args))

    fact = st.sampled_from(schema.relations).flatmap(facts)
    return Instance(schema, draw(st.frozensets(fact, max_size=max_facts)))


@st.composite
def renamings(draw: st.DrawFn, instance: Instance, fixed: Set[Value]) -> dict[Value, Value]:
    """A C-preserving renaming of the instance, for C = ``fixed``: injective, sort by sort, and the
    identity on C. Names may be swapped, or be new where the sort is unbounded."""
    renaming: dict[Value, Value] = {}
    for sort, values in instance.active_domain.items():
        moved = sorted(values - fixed)
        targets = sorted({*pool(instance.schema, sort, 2 * len(moved) + 1), *moved} - fixed)
        renaming.update(zip(moved, draw(st.permutations(targets)), strict=False))
    return renaming
