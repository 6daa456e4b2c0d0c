"""Large sets of facts, solved by refinement and in parts: against brute force, against nauty on the whole
graph, and on graphs that are hard to tell apart."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations, product
from unittest.mock import patch

import graphs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_canonical import pairs
from test_canonical import structures as tiny
from test_parts import group, structures

import brute_force
from generated.strategies import renamings
from stead_sym.errors import CanonicalLimit
from stead_sym.relational import large, shapes
from stead_sym.relational.canonical import canonical_form, isomorphic, orbit
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.large import refined
from stead_sym.relational.nauty import search, search_apart
from stead_sym.relational.schema import Relation, Schema, Sort

NONE = frozenset[str]()


@contextmanager
def from_so_many(rows: int) -> Iterator[None]:
    """Sets of more rows than this count as large."""
    with patch.object(shapes, "LARGE", rows), patch.object(large, "_MIN_VERTICES", sys.maxsize):
        yield


def classes(instances, rigid=NONE):
    """The numbers of instances with equal canonical forms."""
    found = {}
    for number, instance in enumerate(instances):
        found.setdefault(canonical_form(instance, rigid).instance, []).append(number)
    return sorted(found.values())


# against brute force


@given(pairs())
def test_forms_are_equal_exactly_for_isomorphic_instances(pair):
    left, right, rigid = pair
    expected = any(True for _ in brute_force.isomorphisms(left, right, rigid))
    with from_so_many(0):
        assert isomorphic(left, right, rigid) == expected


@given(tiny(size=3, max_facts=8))
def test_generators_generate_the_automorphism_group(structure):
    instance, rigid = structure
    values = sorted(v for vs in instance.active_domain.values() for v in vs)
    with from_so_many(0):
        found = orbit([Fact("all", tuple(values))], canonical_form(instance, rigid).generators)
    group = brute_force.automorphisms(instance, rigid)
    assert found == {Fact("all", tuple(values)).rename(alpha) for alpha in group}


def digraph(edges):
    return Instance(graphs.SCHEMA, frozenset(Fact("P", (f"n{u}", f"n{v}")) for u, v in edges))


@pytest.mark.parametrize("least", [0, shapes.LARGE])
def test_the_classes_are_those_of_the_paper_s_minimal_labelling(least):
    """All digraphs on three vertices, loops included, and some on six, each with a copy under other names."""
    everything = [*product(range(3), repeat=2)]
    small = [digraph(chosen) for size in range(5) for chosen in combinations(everything, size)]
    dice = random.Random(6)
    some = []
    for _ in range(25):
        edges = dice.sample([*product(range(6), repeat=2)], dice.randrange(4, 13))
        image = dice.sample(range(6), 6)
        some += [digraph(edges), digraph([(image[u], image[v]) for u, v in edges])]
    for instances in (small, some):
        expected = {}
        for number, instance in enumerate(instances):
            expected.setdefault(brute_force.least_labelling(instance, NONE), []).append(number)
        with from_so_many(least):
            assert classes(instances) == sorted(expected.values())


# against nauty on the whole graph


@given(structures(), st.data())
def test_classes_and_groups_are_those_of_the_whole_graph(structure, data):
    instance, rigid = structure
    facts = sorted(instance.facts)
    near = Instance(instance.schema, instance.facts - set(facts[: data.draw(st.integers(0, 1))]))
    near = near.rename(data.draw(renamings(near, rigid)))
    whole, expected = canonical_form(instance, rigid), isomorphic(instance, near, rigid)
    with from_so_many(0):
        form = canonical_form(instance, rigid)
        assert isomorphic(instance, near, rigid) == expected
        assert canonical_form(form.instance, rigid).instance == form.instance
    assert instance.rename(form.labelling) == form.instance
    assert all(instance.rename(generator) == instance for generator in form.generators)
    assert group(instance, form.generators) == group(instance, whole.generators)


ALIKE = [  # in number of vertices and edges at least, two by two
    [graphs.rook(4), graphs.shrikhande()],
    [graphs.gadgets(graphs.cubic(4)), graphs.gadgets(graphs.cubic(4), twisted=True)],
    [graphs.gadgets(graphs.ladder(3)), graphs.gadgets(graphs.ladder(3), twisted=True)],
    [graphs.binary_tree(40), graphs.tree_at_random(40)],
    [graphs.copies(graphs.rook(3), 2), graphs.copies(graphs.paley(5), 2)],
    [graphs.latin_square(4), graphs.latin_square(5), graphs.grid(6), graphs.at_random(40)],
]


@pytest.mark.parametrize("alike", ALIKE)
@pytest.mark.parametrize("least", [0, 40, sys.maxsize])
def test_graphs_that_are_hard_to_tell_apart_are_told_apart(alike, least):
    contexts = [graphs.context(one.shuffled(seed)) for one in alike for seed in range(4)]
    with from_so_many(least):
        assert classes(contexts) == [[4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3] for i in range(len(alike))]


@pytest.mark.parametrize(
    "graph",
    [graphs.gadgets(graphs.ladder(4)), graphs.binary_tree(80), graphs.latin_square(6), graphs.grid(9)],
)
def test_orbits_of_vertices_and_pairs_are_those_of_the_whole_graph(graph):
    instance = graphs.context(graph)
    with from_so_many(sys.maxsize):
        whole = canonical_form(instance, NONE).generators
    form = canonical_form(instance, NONE)
    assert all(instance.rename(generator) == instance for generator in form.generators)
    for pair in [("v0", "v0"), ("v0", "v1"), ("v3", "v7"), ("v1", "v20")]:
        assert orbit([Fact("P", pair)], form.generators) == orbit([Fact("P", pair)], whole)


def test_links_of_many_kinds_and_of_three_values():
    """Layers of vertices, links that go one way, and rows of three values, where refinement does not help:
    a ring is turned over only if its links look the same from both ends."""
    relations = [Relation(name, ("s",) * arity) for name, arity in zip("PQRT", (2, 2, 2, 3), strict=True)]
    schema = Schema((Sort("s"),), tuple(relations))

    def ring(kinds, triples=False, size=12):
        facts = set()
        for i in range(size):
            u, v, w = (f"v{(i + step) % size}" for step in range(3))
            for name, both in kinds[i % len(kinds)]:
                facts |= {Fact(name, (u, v))} | ({Fact(name, (v, u))} if both else set())
            facts |= {Fact("T", (u, v, w))} if triples else set()
        return Instance(schema, frozenset(facts))

    for kinds, triples, size in [
        ([[("P", True)]], False, 24),
        ([[("P", True)], [("Q", True)]], False, 12),
        ([[("P", True)], [("Q", True)], [("P", True), ("Q", True)]], False, 4),
        ([[("P", False)]], False, 12),
        ([[("P", True)]], True, 12),
    ]:
        with from_so_many(0):
            found = canonical_form(ring(kinds, triples), NONE)
        values = Fact("all", tuple(f"v{i}" for i in range(12)))
        assert len(orbit([values], found.generators)) == size
        with from_so_many(0):
            turned = ring(kinds, triples).rename({f"v{i}": f"v{5 * i % 12}" for i in range(12)})
            assert canonical_form(turned, NONE).instance == found.instance


def test_links_through_values_that_are_alone():
    """The edges of a cube are each marked with one of two values: four parallel ones with the first, or four
    of which two and two are parallel. Each corner has one edge of the one kind and two of the other."""
    schema = Schema((Sort("s"),), (Relation("T", ("s", "s", "s")),))
    corners = [*product((0, 1), repeat=3)]
    edges = [
        (u, v) for u, v in combinations(corners, 2) if sum(a != b for a, b in zip(u, v, strict=True)) == 1
    ]
    parallel = {(u, v) for u, v in edges if u[0] != v[0]}
    mixed = {(u, v) for u, v in edges if (u[0] != v[0] if u[2] else u[1] != v[1]) and u[2] == v[2]}
    assert len(parallel) == len(mixed) == 4
    contexts = []
    for marked in (parallel, mixed):
        for seed in range(4):
            names = random.Random(seed).sample([f"v{i}" for i in range(10)], 10)
            named = dict(zip([*corners, "one", "other"], names, strict=True))
            facts = [
                Fact("T", (named[u], named[v], named["one" if edge in marked else "other"]))
                for edge in edges
                for u, v in (edge, edge[::-1])
            ]
            contexts.append(Instance(schema, frozenset(facts)))
    with from_so_many(0):
        assert classes(contexts) == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_parts_that_differ_in_what_all_of_them_are_linked_with_are_not_swapped():
    """Two triangles of which all corners are linked with one value, three with another."""
    facts = [Fact("P", ("b", "b"))]
    for number, centre in enumerate("aabbb"):
        corners = [f"{centre}{number}.{i}" for i in range(3)]
        facts += [Fact("P", pair) for u, v in combinations(corners, 2) for pair in ((u, v), (v, u))]
        facts += [Fact("P", (centre, corner)) for corner in corners]
    instance = Instance(graphs.SCHEMA, frozenset(facts))
    with from_so_many(0):
        form = canonical_form(instance, NONE)
        assert all(instance.rename(generator) == instance for generator in form.generators)
        sizes = [len(orbit([Fact("P", (v, v))], form.generators)) for v in ("a0.0", "b2.0", "a")]
    assert sizes == [6, 9, 1]


# what it costs


def test_trees_go_to_nauty_in_small_pieces():
    """Equal subtrees are counted: what is left is one small tree."""
    with patch.object(large, "search_apart", side_effect=AssertionError):
        form = canonical_form(graphs.context(graphs.binary_tree(1023)), NONE)
    assert len(orbit([Fact("P", ("v1022", "v1022"))], form.generators)) == 512


def test_refinement_tells_apart_what_links_tell_apart():
    rows = [(-9, 0, 1), (-9, 1, 2), (-9, 2, 3)]
    assert sorted(refined(rows, [0] * 4)) == [0, 1, 2, 3]
    ring = [(-9, i, (i + 1) % 6) for i in range(6)]
    assert refined(ring, [0] * 6) == [0] * 6
    assert sorted(refined(ring, [0, *[1] * 5])) == [0, 1, 2, 3, 4, 5]
    both = [*ring, *[(-9, (i + 1) % 6, i) for i in range(6)]]
    cells = refined(both, [0, *[1] * 5])
    assert (cells[1], cells[2]) == (cells[5], cells[4])
    assert len(set(cells)) == 4


# the limit


def test_a_process_of_its_own_finds_the_same():
    adjacency = {0: [1], 1: [2], 2: [3], 3: [0], 4: [0]}
    coloured = [{0, 1, 2, 3}, {4}]
    assert search_apart(5, adjacency, coloured, 10) == search(5, adjacency, coloured)


def test_past_the_limit_there_is_no_form():
    hard = graphs.context(graphs.gadgets(graphs.cubic(30)))
    with pytest.raises(CanonicalLimit, match=r"^no canonical form within 0.001 s.*--canonical-timeout"):
        canonical_form(hard, NONE, canonical_timeout=0.001)
    canonical_form(hard, NONE)


def test_a_crash_of_the_process_is_no_answer(monkeypatch):
    monkeypatch.setattr("stead_sym.relational.nauty._CHILD", "import os; os.kill(os.getpid(), 9)")
    with pytest.raises(CanonicalLimit, match="memory"):
        search_apart(1, {}, [{0}], 10)
    monkeypatch.setattr("stead_sym.relational.nauty._CHILD", "raise SystemExit(3)")
    with pytest.raises(RuntimeError, match="ended with 3"):
        search_apart(1, {}, [{0}], 10)


FILE = """
deployment ring
sort node
relation E(node, node)
init {init}
bound node 0
tool visit(x: node)
  guard E(x, x)
tool rest()
policy visiting
  call visit(x)
  call rest()
spec s AG exists x. E(x, x)
"""


@pytest.mark.gate
def test_a_verification_past_the_limit_is_unknown(tmp_path):
    edges = graphs.gadgets(graphs.cubic(30)).edges
    size = 1 + max(max(edge) for edge in edges)
    init = " ".join(f"E(v{u}, v{v}) E(v{v}, v{u})" for u, v in edges)
    init += " " + " ".join(f"E(v{u}, v{u})" for u in range(size))
    (tmp_path / "ring.stead").write_text(FILE.format(init=init))
    command = [sys.executable, "-m", "stead_sym", "verify", str(tmp_path / "ring.stead"), "--policy"]
    command += ["visiting", "--canonical-timeout", "0.001", "--engine", "explicit", "--quiet"]
    ended = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert (ended.returncode, ended.stdout) == (3, "")
    assert "no canonical form within 0.001 s" in ended.stderr
