"""Canonical forms against brute force over all renamings, and on graphs that are hard to tell apart."""

from __future__ import annotations

import random
from itertools import combinations, permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import brute_force
from generated.strategies import instances, renamings, schemas
from stead_sym.errors import DeclarationError
from stead_sym.relational.canonical import canonical_form, isomorphic, orbit
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Schema, Sort

GRAPHS = Schema((Sort("node"),), (Relation("E", ("node", "node")),))


@st.composite
def structures(draw, size=2, max_facts=6):
    """An instance with five values outside B or fewer, and a set B that holds the rigid ones."""
    schema = draw(schemas())
    instance = draw(instances(schema, size=size, max_facts=max_facts))
    more = draw(st.frozensets(st.sampled_from(["a0", "b0", "c1"]), max_size=1))
    return instance, schema.rigid | more


@st.composite
def pairs(draw):
    """Two instances of a schema and a set B: one a renaming of the other, nearly so, or unrelated."""
    left, rigid = draw(structures())
    right = draw(st.one_of(st.just(left), instances(left.schema, size=2, max_facts=6)))
    right = right.rename(draw(renamings(right, rigid)))
    if draw(st.booleans()):
        facts = draw(instances(left.schema, size=2, max_facts=1)).facts
        kept = sorted(right.facts)
        if kept and draw(st.booleans()):
            kept.remove(draw(st.sampled_from(kept)))
        right = Instance(left.schema, frozenset(kept) | facts)
    return left, right, rigid


@given(pairs())
def test_forms_are_equal_exactly_for_isomorphic_instances(pair):
    left, right, rigid = pair
    expected = any(True for _ in brute_force.isomorphisms(left, right, rigid))
    assert (canonical_form(left, rigid).instance == canonical_form(right, rigid).instance) == expected
    assert isomorphic(left, right, rigid) == expected


@given(structures(size=4, max_facts=20))
def test_the_labelling_is_a_witness_onto_consecutive_names(structure):
    instance, rigid = structure
    form = canonical_form(instance, rigid)
    active = {v for values in instance.active_domain.values() for v in values}
    assert set(form.labelling) == active
    assert all(form.labelling[v] == v for v in active & rigid)
    assert instance.rename(form.labelling) == form.instance
    assert form.instance.rename({name: value for value, name in form.labelling.items()}) == instance
    for sort, values in instance.active_domain.items():
        names = {form.labelling[v] for v in values - rigid}
        assert names == {f"{sort.upper()}_{i + 1}" for i in range(len(values - rigid))}


@given(structures(size=4, max_facts=20))
def test_what_an_earlier_relation_mentions_has_the_smaller_number(structure):
    instance, rigid = structure
    form = canonical_form(instance, rigid).instance
    mentioned = {sort.name: 0 for sort in form.schema.sorts}
    for relation in form.schema.relations:
        numbers = {sort: set() for sort in mentioned}
        for args in form.tuples(relation.name):
            for sort, value in zip(relation.sorts, args, strict=True):
                if value not in rigid:
                    numbers[sort].add(int(value.rpartition("_")[2]))
        for sort, found in numbers.items():
            new = {number for number in found if number > mentioned[sort]}
            assert new == set(range(mentioned[sort] + 1, mentioned[sort] + 1 + len(new)))
            mentioned[sort] += len(new)


@given(structures(size=8, max_facts=30), st.data())
def test_forms_do_not_change_under_renaming(structure, data):
    instance, rigid = structure
    renamed = instance.rename(data.draw(renamings(instance, rigid)))
    assert canonical_form(renamed, rigid).instance == canonical_form(instance, rigid).instance


@given(structures())
def test_canonical_forms_are_their_own(structure):
    instance, rigid = structure
    form = canonical_form(instance, rigid).instance
    assert canonical_form(form, rigid).instance == form


@given(structures(size=3, max_facts=8))
def test_generators_generate_the_automorphism_group(structure):
    instance, rigid = structure
    values = sorted(v for vs in instance.active_domain.values() for v in vs)
    generators = canonical_form(instance, rigid).generators
    assert all(generator and all(u != v for u, v in generator.items()) for generator in generators)
    # A permutation is its list of images of all values, which is what a fact of that list becomes.
    group = orbit([Fact("all", tuple(values))], generators)
    expected = {Fact("all", tuple(values)).rename(a) for a in brute_force.automorphisms(instance, rigid)}
    assert group == expected


@given(structures(size=3, max_facts=8))
def test_the_orbit_of_a_fact_is_its_images_under_all_automorphisms(structure):
    instance, rigid = structure
    generators = canonical_form(instance, rigid).generators
    group = brute_force.automorphisms(instance, rigid)
    for fact in instance:
        assert orbit([fact], generators) == {fact.rename(alpha) for alpha in group}


def graph(edges):
    return Instance(GRAPHS, frozenset(Fact("E", (f"n{u}", f"n{v}")) for u, v in edges))


def cayley(differences):
    """The graph on Z4 × Z4 where u and v are adjacent when v − u is one of ``differences``."""
    points = list(product(range(4), repeat=2))
    return {(4 * a + b, 4 * ((a + i) % 4) + (b + j) % 4) for a, b in points for i, j in differences}


ROOK = cayley([(0, 1), (0, 2), (0, 3), (1, 0), (2, 0), (3, 0)])
SHRIKHANDE = cayley([(0, 1), (0, 3), (1, 0), (3, 0), (1, 1), (3, 3)])


def common_neighbours(edges):
    """The numbers of common neighbours of adjacent, and of other, pairs of vertices."""
    near = {u: {w for v, w in edges if v == u} for u in range(16)}
    counts = {True: set(), False: set()}
    for u, v in product(range(16), repeat=2):
        if u != v:
            counts[(u, v) in edges].add(len(near[u] & near[v]))
    return counts, {len(near[u]) for u in near}


def test_two_strongly_regular_graphs_are_told_apart():
    assert common_neighbours(ROOK) == common_neighbours(SHRIKHANDE) == ({True: {2}, False: {2}}, {6})
    rook, shrikhande = (canonical_form(graph(edges), frozenset()) for edges in (ROOK, SHRIKHANDE))
    assert rook.instance != shrikhande.instance
    shuffle = random.Random(5)
    for edges, form in ((ROOK, rook), (SHRIKHANDE, shrikhande)):
        for _ in range(20):
            image = shuffle.sample(range(16), 16)
            shuffled = graph((image[u], image[v]) for u, v in edges)
            assert canonical_form(shuffled, frozenset()).instance == form.instance


def test_group_orders_of_the_strongly_regular_graphs():
    # 1152 = 2·(4!)² for the rook's graph, 192 for Shrikhande's: the literature's numbers.
    for edges, order in ((ROOK, 1152), (SHRIKHANDE, 192)):
        generators = canonical_form(graph(edges), frozenset()).generators
        assert len(orbit([Fact("all", tuple(f"n{i}" for i in range(16)))], generators)) == order


def test_sizes_of_colour_classes_count():
    """Two graphs that differ in the colours of their vertices only: one certificate of nauty's."""
    schema = Schema((Sort("s"),), (Relation("P", ("s",)), Relation("Q", ("s",))))
    forms = [
        canonical_form(Instance.of(schema, [(p, (f"v{i}",)) for i, p in enumerate(word)]), frozenset())
        for word in ("PPPQ", "PPQQ", "PQQQ", "QPQQ")
    ]
    assert forms[0].instance != forms[1].instance != forms[2].instance != forms[0].instance
    assert forms[2].instance == forms[3].instance


def test_all_pairs_of_ternary_facts():
    """Every way in which values repeat within facts and are shared between them."""
    schema = Schema((Sort("s"),), (Relation("P", ("s", "s", "s")),))
    facts = [Fact("P", args) for args in product("xyz", repeat=3)]
    for pair in combinations(facts, 2):
        instance = Instance(schema, frozenset(pair))
        form = canonical_form(instance, frozenset())
        for image in permutations("xyz"):
            renamed = instance.rename(dict(zip("xyz", image, strict=True)))
            assert canonical_form(renamed, frozenset()).instance == form.instance
        group = brute_force.automorphisms(instance, frozenset())
        for fact in pair:
            assert orbit([fact], form.generators) == {fact.rename(alpha) for alpha in group}


def test_same_values_twice_are_no_pair():
    loop, edge = graph([(0, 0), (1, 1)]), graph([(0, 1), (1, 0)])
    assert not isomorphic(loop, edge, frozenset())
    one_way, back = graph([(0, 1), (1, 2)]), graph([(1, 0), (1, 2)])
    assert not isomorphic(one_way, back, frozenset())
    assert isomorphic(one_way, graph([(2, 1), (1, 0)]), frozenset())


def test_fixed_values_keep_their_names():
    left, right = graph([(0, 1)]), graph([(2, 1)])
    assert isomorphic(left, right, frozenset())
    assert isomorphic(left, right, frozenset({"n1"}))
    assert not isomorphic(left, right, frozenset({"n0"}))
    assert not isomorphic(left, right, frozenset({"n2"}))


def test_canonical_names_are_never_rigid_or_listed_ones():
    schema = Schema(
        (Sort("case"), Sort("Case"), Sort("status", ("CASE_1", "CASE__2"), rigid=True), Sort("x", ("X_3",))),
        (Relation("P", ("case", "Case", "status", "x")),),
    )
    form = canonical_form(Instance.of(schema, [("P", ("c", "d", "CASE_1", "X_3"))]), schema.rigid)
    (fact,) = form.instance
    assert fact.args[2] == "CASE_1"
    assert fact.args == ("CASE___1", "CASE____1", "CASE_1", "X__1")


def test_nullary_facts_and_nothing():
    schema = Schema((Sort("s"),), (Relation("On", ()), Relation("Off", ())))
    nothing, on, off = (Instance.of(schema, facts) for facts in ([], [("On", ())], [("Off", ())]))
    forms = {canonical_form(instance, frozenset()).instance for instance in (nothing, on, off)}
    assert forms == {nothing, on, off}


def test_a_value_of_two_sorts_is_refused():
    schema = Schema((Sort("case"), Sort("task")), (Relation("PartOf", ("task", "case")),))
    instance = Instance.of(schema, [("PartOf", ("1", "1"))])
    with pytest.raises(
        DeclarationError, match=r"^the value 1 is in two sorts, case and task .*another name$"
    ):
        canonical_form(instance, frozenset())
