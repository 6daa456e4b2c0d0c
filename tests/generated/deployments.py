"""Hypothesis strategies for whole deployments, small enough to enumerate.

The decision: a deployment is *sound* unless asked otherwise. A tool with fresh values carries a guard
that keeps the bound, its first alternative applies always, `choose` always has a choice and `idle()`
is always offered, so that the definition of a deployment holds by construction and no example is lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

import stead_sym.logic.syntax as fo
from generated.formulas import Signature, formulas, sentences
from stead_sym.deployment import build
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import Rule
from stead_sym.deployment.tool import Choose, Clear, Delete, Effect, Fresh, Insert, Statement, Tool
from stead_sym.relational.instance import Fact
from stead_sym.relational.schema import Value

_INITIAL: Mapping[str, tuple[Value, ...]] = {"a": ("c0", "c1"), "b": ("d0",)}
"""The identifiers that D0 may hold, per unbounded sort."""
_LISTED: Mapping[str, tuple[Value, ...]] = {"k": ("k1", "k2"), "m": ("m1", "m2")}
_SHAPES = ((1, 0), (1, 1), (2, 1), (0, 1), (2, 0), (1, 2), (0, 0), (0, 2))
"""Columns of a relation: how many of unbounded sorts, how many of finite ones."""


@dataclass(frozen=True, slots=True)
class _Ground:
    """The part of a deployment that all formulas refer to."""

    bounds: Mapping[str, int]
    finite: tuple[str, ...]
    relations: Mapping[str, tuple[str, ...]]
    init: tuple[Fact, ...]
    definitions: Mapping[str, fo.Formula] = field(default_factory=dict)
    heads: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def sorts(self) -> tuple[str, ...]:
        return (*self.bounds, *self.finite)

    @property
    def columns(self) -> tuple[str, ...]:
        """The sorts that occur in D0, or in some relation: there may be a call with such arguments."""
        initial = {sort for name, _ in self.init for sort in self.relations[name]}
        return tuple(sorted(initial or {s for sorts in self.relations.values() for s in sorts} or {"a"}))

    @property
    def constants(self) -> Mapping[str, tuple[Value, ...]]:
        """C, per sort."""
        used: dict[str, set[Value]] = {sort: set() for sort in self.bounds}
        for name, args in self.init:
            for sort, value in zip(self.relations[name], args, strict=True):
                if sort in used:
                    used[sort].add(value)
        return {s: tuple(sorted(used[s])) if s in used else _LISTED[s] for s in self.sorts}

    @property
    def signature(self) -> Signature:
        return Signature({**self.relations, **self.heads}, self.constants)


@st.composite
def deployments(
    draw: st.DrawFn,
    *,
    max_tools: int = 3,
    specs: int = 2,
    depth: int = 4,
    keep_bounds: bool = True,
    total: bool = True,
    fresh: bool = True,
    choose: bool = True,
    alternatives: int = 2,
    max_bound: int = 2,
    max_arity: int = 3,
) -> Deployment:
    """A deployment with tool `idle`, a policy `p` whose last rule is `call idle()`, and specifications.

    ``keep_bounds=False`` leaves out the guards that keep the bounds, ``total=False`` what gives every
    offered call an effect. ``fresh``, ``choose`` and ``alternatives`` limit the effects.
    """
    ground = draw(_grounds(max_bound, max_arity))
    rigid = draw(st.booleans())
    number = draw(st.integers(min(2, max_tools), max_tools))
    form = _Form(keep_bounds, total, fresh, choose, alternatives)
    tools = [draw(_tools(ground, f"t{i}", form)) for i in range(number)]
    idle = fo.TRUE if total else draw(formulas(ground.signature, {}, depth=1))
    first_order = formulas(ground.signature, {}, depth=1)
    return build.build_deployment(
        "generated",
        sorts={
            **dict.fromkeys(ground.bounds),
            **{s: build.rigid(*_LISTED[s]) if s == "k" or rigid else _LISTED[s] for s in ground.finite},
        },
        relations=ground.relations,
        init=ground.init,
        bounds=ground.bounds,
        define={
            f"{name}({', '.join(f'q{i}: {sort}' for i, sort in enumerate(ground.heads[name]))})": body
            for name, body in ground.definitions.items()
        },
        tools=[Tool("idle", (), "Do nothing.", idle), *tools],
        views=draw(_views(ground)),
        policies={"p": [*draw(_rules(ground, tools)), Rule("idle")]},
        fair=[draw(first_order)] if draw(st.integers(0, 5)) == 5 else [],
        specs={f"s{i}": draw(sentences(ground.signature, depth=depth)) for i in range(specs)},
    )


@st.composite
def _grounds(draw: st.DrawFn, max_bound: int, max_arity: int) -> _Ground:
    bounds = {"a": draw(st.sampled_from([n for n in (1, 1, 2, 0) if n <= max_bound]))}
    shapes = [shape for shape in _SHAPES if sum(shape) <= max_arity]
    if draw(st.integers(0, 2)) == 2:
        bounds["b"] = draw(st.integers(0, min(1, max_bound)))
    finite = ("k", "m") if draw(st.integers(0, 2)) == 2 else ("k",)
    relations: dict[str, tuple[str, ...]] = {}
    for i in range(draw(st.integers(2, 4))):
        open_columns, listed = draw(st.sampled_from(shapes))
        columns = [draw(st.sampled_from(tuple(bounds))) for _ in range(open_columns)]
        columns += [draw(st.sampled_from(finite)) for _ in range(listed)]
        relations[f"R{i}"] = tuple(draw(st.permutations(columns)))
    facts = []
    for _ in range(draw(st.integers(0, 4))):
        name = draw(st.sampled_from(sorted(relations)))
        pools = [_INITIAL.get(sort) or _LISTED[sort] for sort in relations[name]]
        facts.append(Fact(name, tuple(draw(st.sampled_from(pool)) for pool in pools)))
    ground = _Ground(bounds, finite, relations, tuple(dict.fromkeys(facts)))
    if draw(st.integers(0, 3)) < 3:
        return ground
    head = tuple(draw(st.lists(st.sampled_from(ground.sorts), max_size=2)))
    body = draw(formulas(ground.signature, {f"q{i}": sort for i, sort in enumerate(head)}, depth=2))
    return _Ground(bounds, finite, relations, ground.init, {"Q": body}, {"Q": head})


@dataclass(frozen=True, slots=True)
class _Form:
    """The forms that tools may have; see `deployments`."""

    keep_bounds: bool
    total: bool
    fresh: bool
    choose: bool
    alternatives: int


@st.composite
def _tools(draw: st.DrawFn, ground: _Ground, name: str, form: _Form) -> Tool:
    sorts = st.sampled_from(ground.columns)
    params = tuple(fo.Binder(f"p{i}", draw(sorts)) for i in range(draw(st.integers(0, 2))))
    scope = {param.name: param.sort for param in params}
    guards = [draw(formulas(ground.signature, scope, depth=2))] if draw(st.integers(0, 2)) == 2 else []
    effects: list[Effect] = []
    most: Counter[str] = Counter()
    for i in range(draw(st.integers(1, form.alternatives))):
        when: fo.Formula = fo.TRUE
        if (i or not form.total) and draw(st.booleans()):
            when = draw(formulas(ground.signature, scope, depth=1))
        effect, kept = draw(_effects(ground, scope, when, form))
        effects.append(effect)
        most |= kept
    if form.keep_bounds:
        guards += [
            draw(_room(ground.bounds[s] - count, s, ground.constants[s])) for s, count in sorted(most.items())
        ]
    return Tool(name, params, guard=fo.conjunction(tuple(guards)), effects=tuple(effects))


@st.composite
def _room(draw: st.DrawFn, most: int, sort: str, constants: Sequence[Value]) -> fo.Formula:
    """At most ``most`` values outside C are active: by counting, or by naming one too many."""
    if draw(st.booleans()):
        outside = tuple(fo.Not(fo.Equal(fo.Var("z"), fo.Const(c))) for c in constants)
        return fo.Count("atmost", most, fo.Binder("z", sort), fo.conjunction(outside))
    names = [f"z{i}" for i in range(most + 1)]
    different = [fo.Not(fo.Equal(fo.Var(n), fo.Const(c))) for n in names for c in constants]
    different += [fo.Not(fo.Equal(fo.Var(n), fo.Var(o))) for i, n in enumerate(names) for o in names[:i]]
    formula = fo.conjunction(tuple(different))
    for n in reversed(names):
        formula = fo.Exists(fo.Binder(n, sort), formula)
    return fo.Not(formula)


@st.composite
def _effects(
    draw: st.DrawFn, ground: _Ground, params: Mapping[str, str], when: fo.Formula, form: _Form
) -> tuple[Effect, Counter[str]]:
    """One alternative, with the number of fresh values per sort that it may insert."""
    scope = dict(params)
    statements: list[Statement] = []
    kept: Counter[str] = Counter()
    loose: set[str] = set()  # fresh values that no insertion may hold
    kinds = ["insert", "insert", "delete", "clear", *["choose"] * form.choose, *["fresh"] * 2 * form.fresh]
    number = draw(st.integers(2, 4))
    for i in range(number):
        kind = draw(st.sampled_from(kinds)) if i < number - 1 else "insert"
        if kind in ("choose", "fresh"):
            # now and then the name of a parameter, which it then hides
            name = draw(st.sampled_from((f"v{i}", f"v{i}", "p0")))
            sort = draw(st.sampled_from(ground.sorts if kind == "choose" else tuple(ground.bounds)))
            if kind == "choose" and form.total and not ground.constants[sort]:
                continue
            scope = {name: sort, **{n: of for n, of in scope.items() if n != name}}
            loose.discard(name)
            if kind == "choose":
                statements.append(Choose(fo.Binder(name, sort), draw(_condition(ground, name, scope, form))))
                continue
            statements.append(Fresh(fo.Binder(name, sort)))
            if form.keep_bounds and (kept[sort] >= ground.bounds[sort] or draw(st.integers(0, 3)) == 3):
                loose.add(name)
            else:
                kept[sort] += 1
        elif kind == "clear":
            statements.append(Clear((draw(st.sampled_from(sorted(ground.relations))),)))
        else:
            statements.append(draw(_changes(ground, scope, loose if kind == "insert" else set(), kind)))
    return Effect(tuple(statements), when), +kept


@st.composite
def _condition(
    draw: st.DrawFn, ground: _Ground, name: str, scope: Mapping[str, str], form: _Form
) -> fo.Formula:
    """Return what `choose` asks for; satisfiable by construction where the form is total."""
    if draw(st.booleans()):
        return fo.TRUE
    where = draw(formulas(ground.signature, scope, depth=1))
    if not form.total:
        return where
    return fo.Or(
        (where, fo.Equal(fo.Var(name), fo.Const(draw(st.sampled_from(ground.constants[scope[name]])))))
    )


@st.composite
def _changes(
    draw: st.DrawFn, ground: _Ground, scope: Mapping[str, str], loose: set[str], kind: str
) -> Insert | Delete:
    """`insert` or `delete`, of one fact or of all that a condition selects."""
    relation = draw(st.sampled_from(sorted(ground.relations)))
    hiding = draw(st.integers(0, 3)) == 3  # a binder hides the parameter p0, if there is one
    known = {n: sort for n, sort in scope.items() if n not in loose and not (hiding and n == "p0")}
    binders: list[fo.Binder] = []
    inner = dict(scope)
    args: list[fo.Term] = []
    for i, sort in enumerate(ground.relations[relation]):
        terms = ground.signature.terms(sort, known)
        if terms and draw(st.integers(0, 2)) < 2:  # the variable declared last, more often than not
            args.append(terms[0] if draw(st.booleans()) else draw(st.sampled_from(terms)))
            continue
        name = "p0" if hiding and not binders else f"u{i}"
        binders.append(fo.Binder(name, sort))
        inner[name] = known[name] = sort
        args.append(fo.Var(name))
    where = draw(formulas(ground.signature, inner, depth=1)) if draw(st.booleans()) else fo.TRUE
    made = Insert if kind == "insert" else Delete
    return made(fo.Atom(relation, tuple(args)), tuple(binders), where)


@st.composite
def _views(draw: st.DrawFn, ground: _Ground) -> Mapping[str, fo.Formula]:
    """No `view` lines, or lines for some relations."""
    if draw(st.integers(0, 2)) < 2:
        return {}
    lines: dict[str, fo.Formula] = {}
    for name, sorts in sorted(ground.relations.items()):
        if draw(st.integers(0, 3)) < 3:
            columns = {f"y{i}": sort for i, sort in enumerate(sorts)}
            whole = draw(st.booleans())
            where = fo.TRUE if whole else draw(formulas(ground.signature, columns, depth=1))
            lines[f"{name}({', '.join(columns)})"] = where
    return lines


@st.composite
def _rules(draw: st.DrawFn, ground: _Ground, tools: Sequence[Tool]) -> list[Rule]:
    rules: list[Rule] = []
    for tool in draw(st.permutations(tools)):
        scope: dict[str, str] = {}
        args: list[fo.Term] = []
        for i, param in enumerate(tool.params):
            sort = param.sort
            terms = ground.signature.terms(sort, scope)  # a variable again, or a constant
            if terms and draw(st.integers(0, 3)) == 3:
                args.append(draw(st.sampled_from(terms)))
            else:
                scope[f"p{i}"] = sort
                args.append(fo.Var(f"p{i}"))
        when = draw(formulas(ground.signature, scope, depth=2)) if draw(st.booleans()) else fo.TRUE
        rules.append(Rule(tool.name, tuple(args), when))
    return rules
