"""Hypothesis strategies for formulas: any syntax, and well-sorted formulas over one small schema."""

from __future__ import annotations

from hypothesis import strategies as st

import stead_sym.logic.syntax as fo
from mixed_formulas import Mixed
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import Parts
from stead_sym.deployment.tool import Call
from stead_sym.engines.explicit.explore import Graph
from stead_sym.logic.sorts import Names
from stead_sym.relational.instance import Fact, Instance
from stead_sym.relational.schema import Relation, Schema, Sort

VARIABLES = ("x", "y", "z", "x_1")
SCHEMA = Schema(
    (Sort("a"), Sort("k", ("k1", "k2"), rigid=True)),
    (Relation("P", ("a",)), Relation("Q", ("a", "a")), Relation("R", ("a", "k")), Relation("N", ())),
)
POOL = {"a": ("c0", "c1", "c2"), "k": ("k1", "k2")}
GRAPH_SCHEMA = Schema((Sort("n", ("n0", "n1", "n2", "n3")),), (Relation("P", ("n",)), Relation("G", ())))
NAMES = Names(SCHEMA, {"c0": "a", "c1": "a", "k1": "k", "k2": "k"})


def truths():
    return st.booleans().map(fo.Truth)


@st.composite
def syntax(draw, bound=frozenset(), depth=4):
    """Any raw formula as `parse_formula` may give it."""
    term = st.sampled_from(["c0", "c1", "U", "AX_", *sorted(bound)]).map(
        lambda n: fo.Var(n) if n in bound else fo.Name(n)
    )
    relation = st.sampled_from(["P", "Q1", "A", "E", "U", "W", "call", "same"])

    def atoms():
        args = st.lists(term, max_size=3).map(tuple)
        return st.builds(fo.Atom, relation, args, primed=st.booleans()).filter(
            lambda a: a.primed or a.relation != "same" or len(a.args) != 1
        )

    if depth == 0 or draw(st.integers(0, 5)) == 0:
        return draw(
            st.one_of(
                truths(), st.builds(fo.Equal, term, term), atoms(),
                st.builds(fo.Same, relation), st.builds(fo.Empty, relation),
            )
        )  # fmt: skip
    below = syntax(bound, depth - 1)
    path = st.sampled_from("AE")
    parts = st.lists(below, min_size=2, max_size=3).map(tuple)
    kind = draw(st.integers(0, 12))
    match kind:
        case 0:
            return fo.Not(draw(below))
        case 1:
            return fo.And(draw(parts))
        case 2:
            return fo.Or(draw(parts))
        case 3:
            return fo.Implies(draw(below), draw(below))
        case 4:
            return fo.Iff(draw(below), draw(below))
        case 5:
            return draw(st.sampled_from([fo.Next, fo.Future, fo.Globally]))(draw(path), draw(below))
        case 6:
            return fo.Until(draw(path), draw(below), draw(below), weak=draw(st.booleans()))
        case 10:
            word = draw(st.sampled_from(["once", "historically", "previously"]))
            return fo.Previously(draw(below)) if word == "previously" else fo.Derived(word, (draw(below),))
        case 11:
            return fo.Since(draw(below), draw(below))
        case 12:
            args = tuple(draw(st.lists(term | st.just(fo.Name("_")), max_size=3)))
            tool = draw(st.sampled_from(["U", "W", "gate", "P"]))
            if draw(st.booleans()):
                return fo.Use(fo.OFFERED + tool, args)
            return fo.Did(tool, args, draw(st.sampled_from([None, "U"])), draw(st.booleans()))
    name = draw(st.sampled_from(VARIABLES))
    binder = fo.Binder(name, draw(st.sampled_from([None, "a", "k"])))
    body = draw(syntax(bound | {name}, depth - 1))
    if kind == 7:
        comparison = draw(st.sampled_from(["atleast", "atmost", "exactly"]))
        return fo.Count(comparison, draw(st.integers(0, 12)), binder, body)
    return (fo.Exists if kind == 8 else fo.Forall)(binder, body)


@st.composite
def well_sorted(draw, scope=None, depth=3, names=NAMES):
    """A resolved first-order formula over `SCHEMA`, free in the variables of ``scope`` (name -> sort)."""
    scope = scope or {}
    terms = {
        sort: [*(fo.Const(c) for c, s in names.constants.items() if s == sort)]
        + [fo.Var(v) for v, s in scope.items() if s == sort]
        for sort in ("a", "k")
    }

    def pick(sort):
        return draw(st.sampled_from(terms[sort]))

    if depth == 0 or draw(st.integers(0, 4)) == 0:
        kind = draw(st.integers(0, 4))
        if kind == 0:
            return draw(truths())
        if kind == 1:
            sort = draw(st.sampled_from(["a", "k"]))
            return fo.Equal(pick(sort), pick(sort))
        symbols = {**{r.name: r.sorts for r in SCHEMA.relations}}
        symbols |= {n: tuple(p.sort for p in d.params) for n, d in names.definitions.items()}
        name = draw(st.sampled_from(sorted(symbols)))
        symbol = fo.Use if name in names.definitions else fo.Atom
        return symbol(name, tuple(pick(sort) for sort in symbols[name]))
    below = well_sorted(scope, depth - 1, names)
    match draw(st.integers(0, 6)):
        case 0:
            return fo.Not(draw(below))
        case 1:
            return fo.And((draw(below), draw(below)))
        case 2:
            return fo.Or((draw(below), draw(below)))
        case 3:
            return draw(st.sampled_from([fo.Implies, fo.Iff]))(draw(below), draw(below))
        case quantifier:
            binder = fo.Binder(draw(st.sampled_from(VARIABLES)), draw(st.sampled_from(["a", "k"])))
            body = draw(well_sorted({**scope, binder.name: binder.sort}, depth - 1, names))
            if quantifier == 4:
                comparison = draw(st.sampled_from(["atleast", "atmost", "exactly"]))
                return fo.Count(comparison, draw(st.integers(0, 3)), binder, body)
            return (fo.Exists if quantifier == 5 else fo.Forall)(binder, body)


@st.composite
def states(draw):
    """An instance of `SCHEMA` over `POOL`."""
    facts = st.one_of(
        [
            st.tuples(*(st.sampled_from(POOL[s]) for s in r.sorts)).map(lambda args, n=r.name: Fact(n, args))
            for r in SCHEMA.relations
        ]
    )
    return Instance(SCHEMA, draw(st.frozensets(facts, max_size=6)))


@st.composite
def definitions(draw):
    """Two definitions, the first of which may use the second."""
    second = fo.Definition("E2", (fo.Binder("y", "a"),), draw(well_sorted({"y": "a"}, 2)))
    inner = Names(SCHEMA, NAMES.constants, {"E2": second})
    params = (fo.Binder("x", "a"), fo.Binder("z", "k"))
    first = fo.Definition("E1", params, draw(well_sorted({"x": "a", "z": "k"}, 2, inner)))
    return {"E1": first, "E2": second}


def _graph_leaves(scope):
    held = [fo.Atom("P", (fo.Var(name),)) for name in sorted(scope)]
    return st.sampled_from([fo.Atom("G"), *held])


@st.composite
def temporal_formulas(draw):
    """Draw blocks of quantifiers, counts and connectives around all temporal operators."""
    mixed = Mixed(_graph_leaves, st.builds(fo.Binder, st.sampled_from("xy"), st.just("n")))
    first, second = draw(mixed.sentences(3)), draw(mixed.sentences(2))
    path = draw(st.sampled_from("AE"))
    return draw(
        st.sampled_from(
            [
                first,
                *(operator(path, first) for operator in (fo.Next, fo.Future, fo.Globally)),
                *(fo.Until(path, first, second, weak=weak) for weak in (False, True)),
            ]
        )
    )


@st.composite
def small_graphs(draw):
    """Draw graphs of 2 to 4 states over `GRAPH_SCHEMA`, with all runs or the fair ones."""
    number = draw(st.integers(2, 4))
    facts = [Fact("G", ()), *(Fact("P", (u,)) for u in GRAPH_SCHEMA.sort("n").values)]
    chosen = draw(
        st.lists(st.frozensets(st.sampled_from(facts)), min_size=number, max_size=number, unique=True)
    )
    instances = tuple(Instance(GRAPH_SCHEMA, holding) for holding in chosen)
    targets = st.lists(st.integers(0, number - 1), min_size=1, max_size=2, unique=True)
    call = Call("go", ())
    edges = tuple(tuple((call, target) for target in draw(targets)) for _ in instances)
    fair = draw(st.sampled_from([(), (fo.Atom("G"),), (fo.Atom("G"), fo.Not(fo.Atom("G")))]))
    deployment = Deployment("graph", GRAPH_SCHEMA, instances[0], {}, Parts(fair=fair))
    nothing, actors = (frozenset(),) * number, ({call: ("",)},) * number
    return Graph(deployment, 1, instances, edges, nothing, actors)
