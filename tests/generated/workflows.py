"""Hypothesis strategies for deployments with all that the language's second version has: events, several
agents, any initial database, keys, `set`, `_`, ordered sorts, `x in s`.

The decision: one strategy, in which each of these is there more often than not, since what breaks engines is
how they meet. A *sound* deployment keeps its bounds, its keys and the conditions of the definition by
construction, as in `deployments.py`; one that is not sound may break any of them, and often does not within
reach.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from hypothesis import strategies as st

import stead_sym.logic.syntax as fo
from generated.formulas import Signature, formulas, sentences
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import Initially, Policy, Rule, Spec, View
from stead_sym.deployment.resolve import AgentItem, Bound, Items, Text, resolve_items
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.deployment.tool import (
    Assign,
    Choose,
    Clear,
    Delete,
    Effect,
    Ensure,
    Fresh,
    Insert,
    Statement,
    Tool,
)
from stead_sym.relational.instance import Fact, broken_keys
from stead_sym.relational.schema import Relation, Schema, Sort, Value

_INITIAL: Mapping[str, tuple[Value, ...]] = {"a": ("c0", "c1"), "b": ("d0",)}
"""The identifiers that the facts of `init` may hold, per unbounded sort."""
_FINITE = (
    Sort("k", ("k1", "k2"), rigid=True),
    Sort("k", ("k1", "k2")),
    Sort("o", ("lo", "hi"), rigid=True, ordered=True),
    Sort("o", ("lo", "mid", "hi"), rigid=True, ordered=True),
)
_MOST_CHOICES = 14
"""So many facts `initially any` may leave open on the literal domain: D0 is any set of them."""
_MOST_ENSURED = 6
"""So many facts an `ensure` may write about."""


@dataclass(frozen=True, slots=True)
class _Ground:
    """The schema and the constants of all formulas."""

    schema: Schema
    bounds: Mapping[str, int]
    init: tuple[Fact, ...]
    definitions: tuple[fo.Definition, ...] = ()

    @property
    def constants(self) -> Mapping[str, tuple[Value, ...]]:
        """C, per sort."""
        used: dict[str, set[Value]] = {sort: set() for sort in self.bounds}
        for name, args in self.init:
            for sort, value in zip(self.schema.relation(name).sorts, args, strict=True):
                if sort in used:
                    used[sort].add(value)
        return {s.name: s.values or tuple(sorted(used[s.name])) for s in self.schema.sorts}

    @property
    def finite(self) -> tuple[str, ...]:
        return tuple(sort.name for sort in self.schema.sorts if sort.values)

    @property
    def signature(self) -> Signature:
        symbols = {relation.name: relation.sorts for relation in self.schema.relations}
        symbols |= {d.name: tuple(param.sort for param in d.params) for d in self.definitions}
        ordered = tuple(sort.name for sort in self.schema.sorts if sort.ordered)
        return Signature(symbols, self.constants, ("x", "y"), ordered, self.finite, wildcards=True)


@st.composite
def workflows(
    draw: st.DrawFn, *, sound: bool = True, specs: int = 3, depth: int = 4, max_actions: int = 4
) -> Deployment:
    """A deployment with up to ``max_actions`` tools and events besides `idle`, which is one of them.

    Every agent, or the only one, can be given the policies `p` and `q`. Operators of the ``specs`` nest up to
    ``depth``. See the module for ``sound``.
    """
    ground = draw(_grounds())
    form = _Form(ground, sound)
    number = draw(st.integers(1, max_actions - 1))
    actions = [replace(draw(_actions(form, i)), event=draw(st.integers(0, 2)) == 2) for i in range(number)]
    if ground.bounds["a"] and draw(st.integers(0, 3)):
        actions.append(replace(draw(_arrivals(form)), event=draw(st.booleans())))
    idle = fo.TRUE if sound else draw(formulas(ground.signature, {}, depth=1))
    actions.append(Tool("idle", (), guard=idle, event=draw(st.booleans())))
    if all(action.event for action in actions):
        actions[0] = replace(actions[0], event=False)
    tools = [action for action in actions if not action.event]
    agents = draw(_agents(ground, tools)) if draw(st.integers(0, 2)) else ()
    shared = not agents or draw(st.booleans())
    several = not shared or draw(st.booleans())
    first_order = formulas(ground.signature, {}, depth=1)
    items = Items(
        titles=(Text("generated"),),
        sorts=ground.schema.sorts,
        relations=ground.schema.relations,
        facts=tuple(fo.Atom(fact.relation, tuple(map(fo.Const, fact.args))) for fact in ground.init),
        bounds=tuple(Bound(sort, bound) for sort, bound in ground.bounds.items()),
        definitions=ground.definitions,
        tools=tuple(actions),
        views=draw(_views(ground)) if several else (),
        policies=() if agents else (draw(_policies(ground, tools, "p")), draw(_policies(ground, tools, "q"))),
        fair=(draw(first_order),) if draw(st.integers(0, 5)) == 5 else (),
        specs=tuple(Spec(f"s{i}", draw(sentences(ground.signature, depth=depth))) for i in range(specs)),
        agents=agents,
        initially=draw(_initially(ground)) if draw(st.integers(0, 2)) else (),
    )
    deployment = resolve_items(items)
    if _choices(deployment) > _MOST_CHOICES:
        return resolve_items(replace(items, initially=()))
    return deployment


def _choices(deployment: Deployment) -> int:
    """Return how many facts `initially any` leaves open on the literal domain."""
    if deployment.initially is None:
        return 0
    sizes = theorem_restriction(deployment, deployment.specs).sizes
    relations = map(deployment.schema.relation, deployment.initially.relations)
    return sum(prod(sizes[sort] for sort in relation.sorts) for relation in relations)


# schema and data


@st.composite
def _grounds(draw: st.DrawFn) -> _Ground:
    bounds = {"a": draw(st.sampled_from((1, 1, 2, 0)))}
    if draw(st.integers(0, 3)) == 3:
        bounds["b"] = draw(st.integers(0, 1))
    finite = {sort.name: sort for sort in draw(st.lists(st.sampled_from(_FINITE), min_size=1, max_size=3))}
    for name in ("n", "m")[: draw(st.integers(0, 2))]:  # they share their numerals
        finite[name] = Sort.numbers(name, draw(st.integers(0, 1)), draw(st.integers(1, 2)))
    sorts = (*map(Sort, bounds), *finite.values())
    relations = []
    for i in range(draw(st.integers(2, 4))):
        most = 0 if i == 0 and draw(st.booleans()) else 2  # an `ensure` writes about listed values only
        open_columns = draw(st.lists(st.sampled_from(tuple(bounds)), max_size=most))
        listed = draw(st.lists(st.sampled_from(tuple(finite)), max_size=3 - len(open_columns)))
        columns = tuple(draw(st.permutations(open_columns + listed)))
        keys: tuple[int, ...] = ()
        if draw(st.integers(0, 2)) and columns:
            keys = tuple(sorted(draw(st.sets(st.integers(0, len(columns) - 1), min_size=1, max_size=2))))
        relations.append(Relation(f"R{i}", columns, keys))
    schema = Schema(sorts, tuple(relations))
    facts: list[Fact] = []
    for _ in range(draw(st.integers(0, 4))):
        relation = draw(st.sampled_from(relations))
        pools = [_INITIAL.get(sort) or finite[sort].values or () for sort in relation.sorts]
        fact = Fact(relation.name, tuple(draw(st.sampled_from(pool)) for pool in pools))
        if fact not in facts and not any(broken_keys(schema, (*facts, fact))):
            facts.append(fact)
    ground = _Ground(schema, bounds, tuple(facts))
    if draw(st.integers(0, 2)):
        return ground
    names = [sort.name for sort in sorts]
    head = tuple(
        fo.Binder(f"q{i}", s) for i, s in enumerate(draw(st.lists(st.sampled_from(names), max_size=2)))
    )
    body = draw(formulas(ground.signature, {param.name: param.sort for param in head}, depth=2))
    return replace(ground, definitions=(fo.Definition("Q", head, body),))


@st.composite
def _initially(draw: st.DrawFn, ground: _Ground) -> tuple[Initially, ...]:
    """One or two lines `initially any`, some of whose conditions rule out facts whatever else holds."""
    sizes = {sort: len(values) for sort, values in ground.constants.items()}
    sizes |= {sort: 2 * bound + sizes[sort] + 2 for sort, bound in ground.bounds.items()}
    relations = sorted(
        (prod(sizes[sort] for sort in relation.sorts), relation.name) for relation in ground.schema.relations
    )
    few = [name for facts, name in relations if facts <= _MOST_CHOICES // 2] or [relations[0][1]]
    lines = []
    for _ in range(draw(st.integers(1, 2))):
        names = tuple(draw(st.lists(st.sampled_from(few), min_size=1, max_size=2, unique=True)))
        where: fo.Formula = fo.TRUE
        match draw(st.sampled_from(("all", "some", "each", "each"))):
            case "some":
                where = draw(formulas(ground.signature, {}, depth=2))
            case "each":
                relation = ground.schema.relation(draw(st.sampled_from(few)))
                scope: dict[str, str] = {}
                args = []
                for i, sort in enumerate(relation.sorts):
                    again = [fo.Var(name) for name, of in scope.items() if of == sort and draw(st.booleans())]
                    scope |= {} if again else {f"x{i}": sort}
                    args.append(again[0] if again else fo.Var(f"x{i}"))
                if draw(st.integers(0, 3)) == 3:
                    scope["z"] = draw(st.sampled_from(ground.signature.sorts))
                said = draw(formulas(ground.signature, scope, depth=2))
                where = fo.Implies(fo.Atom(relation.name, tuple(args)), said)
                for name, sort in reversed(scope.items()):
                    where = fo.Forall(fo.Binder(name, sort), where)
        lines.append(Initially(names, where))
    return tuple(lines)


# tools and events


@dataclass(slots=True)
class _Form:
    """The forms that tools and events may have; see the module for ``sound``."""

    ground: _Ground
    sound: bool

    @property
    def schema(self) -> Schema:
        return self.ground.schema


@dataclass(slots=True)
class _Draft:
    """One alternative of an effect so far, with what has to be asked before it for the sake of bounds and
    keys."""

    scope: dict[str, str]
    statements: list[Statement] = field(default_factory=list)
    fresh: Counter[str] = field(default_factory=Counter)
    new: set[str] = field(default_factory=set)
    keyed: set[str] = field(default_factory=set)
    asked: list[fo.Formula] = field(default_factory=list)


@st.composite
def _actions(draw: st.DrawFn, form: _Form, number: int) -> Tool:
    ground = form.ground
    sorts = st.sampled_from([sort.name for sort in ground.schema.sorts])
    params = tuple(fo.Binder(f"p{i}", draw(sorts)) for i in range(draw(st.sampled_from((0, 1, 1, 2)))))
    scope = {param.name: param.sort for param in params}
    guards = [draw(formulas(ground.signature, scope, depth=2))] if draw(st.integers(0, 2)) == 2 else []
    drafts = [draw(_drafts(form, scope)) for _ in range(draw(st.sampled_from((1, 1, 2))))]
    effects: list[Effect] = []
    most: Counter[str] = Counter()
    for i, draft in enumerate(drafts):
        most |= draft.fresh
        guards += draft.asked
        when: fo.Formula = fo.TRUE
        if (i or not form.sound) and draw(st.booleans()):
            when = draw(formulas(ground.signature, scope, depth=1))
        effects.append(Effect(tuple(draft.statements), when))
    if draw(st.integers(0, 3)) == 3:
        effects += draw(_ensured(form, scope))
    if form.sound:
        guards += [_room(ground, sort, count) for sort, count in sorted(most.items())]
    return Tool(f"t{number}", params, guard=fo.conjunction(tuple(guards)), effects=tuple(effects))


@st.composite
def _arrivals(draw: st.DrawFn, form: _Form) -> Tool:
    """Something that creates a value, and inserts facts about it."""
    draft = _Draft({"f": "a"}, [Fresh(fo.Binder("f", "a"))], Counter({"a": 1}), {"f"})
    for _ in range(draw(st.integers(1, 2))):
        keyed = any(relation.keys for relation in form.schema.relations)
        statement = draw(_insertions(form, draft, keyed and draw(st.booleans())))
        if statement is not None:
            draft.statements.append(statement)
    guards = (*draft.asked, *([_room(form.ground, "a", 1)] if form.sound else []))
    return Tool("arrive", (), guard=fo.conjunction(guards), effects=(Effect(tuple(draft.statements)),))


def _room(ground: _Ground, sort: str, count: int) -> fo.Formula:
    """``count`` more values keep the bound."""
    outside = tuple(fo.Not(fo.Equal(fo.Var("z"), fo.Const(c))) for c in ground.constants[sort])
    return fo.Count("atmost", ground.bounds[sort] - count, fo.Binder("z", sort), fo.conjunction(outside))


@st.composite
def _drafts(draw: st.DrawFn, form: _Form, params: Mapping[str, str]) -> _Draft:
    draft = _Draft(dict(params))
    last = ("set", "set", "insert", "insert", "delete", "delete", "replace")
    kinds = (*last, "clear", "choose", "fresh", "fresh")
    number = draw(st.integers(1, 4))
    for i in range(number):
        kind = draw(st.sampled_from(kinds if i < number - 1 else last))
        statement = draw(_statements(form, draft, kind, f"v{i}"))
        if statement is not None:
            if kind == "replace" and isinstance(statement, Insert):
                draft.statements.append(Clear((statement.atom.relation,)))
            draft.statements.append(statement)
    return draft


@st.composite
def _statements(draw: st.DrawFn, form: _Form, draft: _Draft, kind: str, name: str) -> Statement | None:
    """A statement, which the draft takes note of; None where there is none of the kind."""
    ground, signature = form.ground, form.ground.signature
    match kind:
        case "choose":
            sort = draw(st.sampled_from(signature.sorts))
            if form.sound and not ground.constants[sort]:
                return None
            draft.scope = {name: sort, **draft.scope}
            where = draw(formulas(signature, draft.scope, depth=1)) if draw(st.booleans()) else fo.TRUE
            if form.sound and where != fo.TRUE:
                where = fo.Or(
                    (where, fo.Equal(fo.Var(name), fo.Const(draw(st.sampled_from(ground.constants[sort])))))
                )
            return Choose(fo.Binder(name, sort), where)
        case "fresh":
            sort = draw(st.sampled_from(tuple(ground.bounds)))
            if form.sound and draft.fresh[sort] >= ground.bounds[sort]:
                return None
            draft.scope = {name: sort, **draft.scope}
            draft.fresh[sort] += 1
            draft.new.add(name)
            return Fresh(fo.Binder(name, sort))
        case "clear":
            return Clear((draw(st.sampled_from([relation.name for relation in form.schema.relations])),))
        case "delete":
            return draw(_deletions(form, draft.scope))
        case _:
            return draw(_insertions(form, draft, kind == "set"))


@st.composite
def _deletions(draw: st.DrawFn, form: _Form, scope: Mapping[str, str]) -> Delete:
    relation = draw(st.sampled_from(form.schema.relations))
    inner, binders, args = dict(scope), list[fo.Binder](), list[fo.Term]()
    for i, sort in enumerate(relation.sorts):
        terms = form.ground.signature.terms(sort, inner)
        match draw(st.sampled_from(("term", "term", "wild", "for"))):
            case "term" if terms:
                args.append(draw(st.sampled_from(terms)))
            case "for":
                binders.append(fo.Binder(f"u{i}", sort))
                inner[f"u{i}"] = sort
                args.append(fo.Var(f"u{i}"))
            case _:
                args.append(fo.Wildcard(sort))
    where = draw(formulas(form.ground.signature, inner, depth=1)) if draw(st.booleans()) else fo.TRUE
    return Delete(fo.Atom(relation.name, tuple(args)), tuple(binders), where)


@st.composite
def _insertions(draw: st.DrawFn, form: _Form, draft: _Draft, setting: bool) -> Insert | Assign | None:
    """An insertion, or a `set` for a relation with keys.

    In a sound deployment an effect writes about a relation with keys once: by a `set`, whose binders stand
    in the key so that it has one value for each key, or where the guard says that there is nothing yet.
    """
    ground = form.ground
    relations = [r for r in form.schema.relations if not setting or r.keys]
    if form.sound:
        relations = [r for r in relations if r.name not in draft.keyed]
    if not relations:
        return None
    relation = draw(st.sampled_from(relations))
    careful = form.sound and bool(relation.keys)
    inner, binders, args = dict(draft.scope), list[fo.Binder](), dict[int, fo.Term]()
    for i, sort in sorted(enumerate(relation.sorts), key=lambda column: column[0] not in relation.keys):
        free = not careful or (setting and i in relation.keys)
        terms = ground.signature.terms(sort, draft.scope if careful else inner)
        if terms and not (free and draw(st.integers(0, 2)) == 2):
            # the variable declared last, more often than not
            args[i] = terms[0] if draw(st.booleans()) else draw(st.sampled_from(terms))
        elif free:
            binders.append(fo.Binder(f"u{i}", sort))
            inner[f"u{i}"] = sort
            args[i] = fo.Var(f"u{i}")
        else:
            return None
    atom = fo.Atom(relation.name, tuple(args[i] for i in range(relation.arity)))
    if careful and not setting:
        key = [args[k] for k in relation.keys]
        if not any(str(term) in draft.new for term in key):
            if any(str(term) in draft.scope and str(term)[0] != "p" for term in key):
                return None
            there = tuple(
                args[i] if i in relation.keys else fo.Wildcard(sort) for i, sort in enumerate(relation.sorts)
            )
            draft.asked.append(fo.Not(fo.Atom(relation.name, there)))
    if relation.keys:
        draft.keyed.add(relation.name)
    where = draw(formulas(ground.signature, inner, depth=1)) if draw(st.integers(0, 2)) == 2 else fo.TRUE
    return (Assign if setting else Insert)(atom, tuple(binders), where)


@st.composite
def _ensured(draw: st.DrawFn, form: _Form, params: Mapping[str, str]) -> list[Effect]:
    """An alternative with `ensure` that writes one relation over finite sorts; none where all are large."""
    values = form.ground.constants
    small = [
        relation
        for relation in form.schema.relations
        if not any(sort in form.ground.bounds for sort in relation.sorts)
        and prod(len(values[sort]) for sort in relation.sorts) <= _MOST_ENSURED
    ]
    if not small or sum(form.ground.bounds.values()) > 1:
        return []
    written = draw(st.sampled_from(small))
    primed = {written.name: written.sorts}
    plain = replace(form.ground.signature, wildcards=False)
    asked = [fo.Same(relation.name) for relation in form.schema.relations if relation != written]
    formula = draw(formulas(plain, params, depth=2, primed=primed))
    if form.sound and written.keys:
        formula = fo.conjunction((formula, _by_key(written)))
    return [Effect((*map(Ensure, asked), Ensure(formula)), draw(formulas(plain, params, depth=1)))]


def _by_key(relation: Relation) -> fo.Formula:
    """No two tuples of P' agree on the key."""
    names = [f"e{i}" for i in range(relation.arity)]
    others = [name if i in relation.keys else f"{name}o" for i, name in enumerate(names)]
    left = fo.Atom(relation.name, tuple(map(fo.Var, names)), primed=True)
    right = fo.Atom(relation.name, tuple(map(fo.Var, others)), primed=True)
    pairs = list(zip(names, others, relation.sorts, strict=True))
    same = fo.conjunction(tuple(fo.Equal(fo.Var(n), fo.Var(o)) for n, o, _ in pairs if n != o))
    formula: fo.Formula = fo.Not(fo.conjunction((left, right, fo.Not(same))))
    for name, other, sort in pairs:
        for one in dict.fromkeys((name, other)):
            formula = fo.Not(fo.Exists(fo.Binder(one, sort), fo.Not(formula)))
    return formula


# agents


@st.composite
def _agents(draw: st.DrawFn, ground: _Ground, tools: Sequence[Tool]) -> tuple[AgentItem, ...]:
    """One to three agents with tools, views and policies of their own; some tools are shared."""
    names = ("ann", "bob", "eve")[: draw(st.sampled_from((2, 3, 1)))]
    indices = st.sets(st.integers(0, len(tools) - 1), min_size=1)
    chosen = {name: draw(indices) for name in names}
    chosen[names[0]] |= set(range(len(tools))).difference(*chosen.values())
    owned = {name: [tools[i] for i in sorted(own)] for name, own in chosen.items()}
    return tuple(
        AgentItem(
            name,
            tuple(Text(tool.name) for tool in own),
            draw(_views(ground)),
            (draw(_policies(ground, own, "p")), draw(_policies(ground, own, "q"))),
        )
        for name, own in owned.items()
    )


@st.composite
def _views(draw: st.DrawFn, ground: _Ground) -> tuple[View, ...]:
    """No `view` lines, or lines for some relations."""
    lines: list[View] = []
    if draw(st.booleans()):
        return ()
    for relation in ground.schema.relations:
        if draw(st.integers(0, 3)) < 3:
            params = tuple(fo.Binder(f"y{i}", sort) for i, sort in enumerate(relation.sorts))
            scope = {param.name: param.sort for param in params}
            where = draw(formulas(ground.signature, scope, depth=1)) if draw(st.booleans()) else fo.TRUE
            lines.append(View(relation.name, tuple(fo.Binder(name) for name in scope), where))
    return tuple(lines)


@st.composite
def _policies(draw: st.DrawFn, ground: _Ground, tools: Sequence[Tool], name: str) -> Policy:
    """Rules with conditions, then one for each tool, so that something always matches."""
    rules: list[Rule] = []
    for tool in draw(st.permutations(tools)):
        scope: dict[str, str] = {}
        args: list[fo.Term] = []
        for i, param in enumerate(tool.params):
            terms = ground.signature.terms(param.sort, scope)
            if terms and draw(st.integers(0, 3)) == 3:
                args.append(draw(st.sampled_from(terms)))
            else:
                scope[f"p{i}"] = param.sort
                args.append(fo.Var(f"p{i}"))
        if draw(st.booleans()):
            rules.append(Rule(tool.name, tuple(args), draw(formulas(ground.signature, scope, depth=2))))
    for tool in draw(st.permutations(tools)):
        rules.append(Rule(tool.name, tuple(fo.Var(f"p{i}") for i in range(len(tool.params)))))
    return Policy(name, tuple(rules))
