"""Hypothesis strategies for deployments whose values die while specifications hold them, and come back.

The decision: one unbounded sort, several values of which are created together and leave one by one, together
or in another relation's place, so that few states have many assignments; specifications hold two or three
variables over nested temporal operators. Two values that die at once, one after the other, and come back
under another name are where representatives are easiest to get wrong.
"""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import strategies as st

import stead_sym.logic.syntax as fo
from stead_sym.deployment import build
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Tool

_UNARY = ("P", "Q")
_BINARY = "E"
_FLAG = "F"
_KILLS: Mapping[str, tuple[str, str]] = {
    "rm_all": ("exists x: a. x = x", "clear P, Q, E"),
    "rm_p": ("exists x. P(x)", "clear P"),
    "rm_one(x: a)": (
        "P(x) | Q(x)",
        "delete P(x)\ndelete Q(x)\ndelete E(x, _y) for _y\ndelete E(_y, x) for _y",
    ),
    "rm_pair(x: a, y: a)": ("P(x) & Q(y)", "delete P(x)\ndelete Q(y)\nclear E"),
    "rm_others(x: a)": ("P(x)", "delete P(y) for y where y != x\ndelete Q(y) for y where y != x\nclear E"),
    "rm_linked(x: a)": ("exists y. E(x, y)", "delete P(y) for y where E(x, y)\ndelete E(x, y) for y"),
}
_MOVES: Mapping[str, tuple[str, str]] = {
    "swap(x: a)": ("P(x)", "delete P(x)\ninsert Q(x)"),
    "back(x: a)": ("Q(x)", "delete Q(x)\ninsert P(x)"),
    "mark": ("true", "insert F()"),
    "unmark": ("F()", "clear F"),
}


@st.composite
def mortal_deployments(
    draw: st.DrawFn, *, bound: int = 2, variables: int = 3, depth: int = 4, specs: int = 3
) -> Deployment:
    """A deployment over relations P(a), Q(a), E(a, a), F(), with `make` and one to three ways to die. Its
    specifications hold two to ``variables`` variables of sort a; operators nest up to ``depth``."""
    bound = draw(st.integers(1, bound))
    constants = draw(st.integers(0, 1))
    tools = [draw(_making(bound, constants))]
    kills = draw(st.lists(st.sampled_from(sorted(_KILLS)), min_size=1, max_size=3, unique=True))
    moves = draw(st.lists(st.sampled_from(sorted(_MOVES)), max_size=2, unique=True))
    for head, (guard, effect) in {**_KILLS, **_MOVES}.items():
        if head in (*kills, *moves):
            name, _, params = head.partition("(")
            tools.append(build.tool(name, params.rstrip(")"), guard=guard, effect=effect))
    return build.build_deployment(
        "mortal",
        sorts={"a": None},
        relations={"P": "a", "Q": "a", _BINARY: "a, a", _FLAG: ""},
        init=["Q(c)"] * constants,
        bounds={"a": bound},
        tools=[build.tool("rest"), *tools],
        specs={
            f"s{i}": draw(holding_sentences(variables=variables, depth=depth, constants=("c",) * constants))
            for i in range(specs)
        },
    )


@st.composite
def _making(draw: st.DrawFn, bound: int, constants: int) -> Tool:
    """`make`: as many values at once as there is room for, or one at a time."""
    number = draw(st.integers(1, bound))
    outside = "x = x & x != c" if constants else "x = x"
    lines = [f"fresh u{i}: a" for i in range(number)]
    for i in range(number):
        kind = draw(st.sampled_from(("P", "P", "Q", "E")))
        lines.append(f"insert E(u{i}, u{max(i - 1, 0)})" if kind == "E" else f"insert {kind}(u{i})")
    return build.tool("make", guard=f"atmost {bound - number} x: a. {outside}", effect="\n".join(lines))


@st.composite
def holding_sentences(
    draw: st.DrawFn, *, variables: int = 3, depth: int = 4, constants: tuple[str, ...] = ()
) -> fo.Formula:
    """A sentence Op1 quantified(x, y, …). (distinct →) Op2 …: its variables are bound where a run has got to
    and held while time goes on. Half of the sentences ask that the values differ. ``constants`` may be
    compared with them."""
    names = ("x", "y", "z")[: draw(st.integers(2, max(2, variables)))]
    body = draw(holding_formulas(names, depth=depth - 1, constants=constants))
    universal = draw(st.booleans())
    if draw(st.booleans()):
        pairs = [(v, w) for i, v in enumerate(names) for w in names[:i]]
        different = fo.conjunction(tuple(fo.Not(fo.Equal(fo.Var(v), fo.Var(w))) for v, w in pairs))
        body = fo.Implies(different, body) if universal else fo.And((different, body))
    for name in reversed(names):
        body = fo.Forall(fo.Binder(name, "a"), body) if universal else fo.Exists(fo.Binder(name, "a"), body)
    return draw(_temporal(body))


@st.composite
def _temporal(draw: st.DrawFn, body: fo.Formula) -> fo.Formula:
    """The formula under one temporal operator."""
    path: fo.Path = draw(st.sampled_from(("A", "E")))
    match draw(st.sampled_from(("next", "future", "globally", "globally"))):
        case "next":
            return fo.Next(path, body)
        case "future":
            return fo.Future(path, body)
        case _:
            return fo.Globally(path, body)


@st.composite
def holding_formulas(
    draw: st.DrawFn, names: tuple[str, ...], *, depth: int = 3, constants: tuple[str, ...] = ()
) -> fo.Formula:
    """A formula with some of the names free (all of sort a), mostly below temporal operators."""

    def leaf() -> fo.Formula:
        terms = st.sampled_from([fo.Var(name) for name in names])
        match draw(st.sampled_from(("P", "P", "Q", "Q", "E", "=", "F"))):
            case "E":
                return fo.Atom(_BINARY, (draw(terms), draw(terms)))
            case "=":
                others: list[fo.Term] = [*map(fo.Var, names), *map(fo.Const, constants)]
                return fo.Equal(draw(terms), draw(st.sampled_from(others)))
            case "F":
                return fo.Atom(_FLAG)
            case relation:
                return fo.Atom(relation, (draw(terms),))

    if depth == 0 or draw(st.integers(0, 5)) == 0:
        return draw(st.sampled_from((leaf(), fo.Not(leaf()))))
    below = holding_formulas(names, depth=depth - 1, constants=constants)
    match draw(st.sampled_from(("temporal", "temporal", "temporal", "until", "and", "or", "not", "bound"))):
        case "temporal":
            return draw(_temporal(draw(below)))
        case "until":
            path: fo.Path = draw(st.sampled_from(("A", "E")))
            return fo.Until(path, draw(below), draw(below), draw(st.booleans()))
        case "and":
            return fo.And((draw(below), draw(below)))
        case "or":
            return fo.Or((draw(below), draw(below)))
        case "not":
            return fo.Not(draw(below))
        case _:  # a variable bound anew, where others are held that may be dead
            name = draw(st.sampled_from(names))
            binder, body = fo.Binder(name, "a"), draw(below)
            return fo.Exists(binder, body) if draw(st.booleans()) else fo.Forall(binder, body)
