"""The constructs of the language's second version, said in the first one: the answers are the same.

Each rewriting is written here from the language page, apart from `deployment.expansion` and the engines:
keys become a condition on states that is asked afterwards, `set` a deletion and an insertion, `_` a variable
of its own right at the atom, comparisons and `x in s` disjunctions over constants, events tools of an agent
that selects everything, several agents that select everything one.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import count, product

import pytest
from hypothesis import event, given, note, reject, settings
from hypothesis import strategies as st

import stead_sym.logic.syntax as fo
from engine_pairs import MAX_STATES, examples
from generated.workflows import workflows
from stead_sym.deployment.parts import Initially
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.deployment.tool import Assign, Choose, Delete, Ensure, Insert
from stead_sym.errors import DefinitionError, KeyBroken, NoInitialState, Undecided
from stead_sym.logic.substitution import substitute
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Schema
from whole import verify


def rewritten(deployment, formula=lambda f: f, statements=lambda s: [s], tool=lambda t: t):
    """The deployment as written, with every formula, statement and tool replaced."""
    parts = deployment.written

    def effect(written):
        changed = tuple(new for s in written.statements for new in statements(inside(s)))
        return replace(written, when=formula(written.when), statements=changed)

    def inside(s):
        match s:
            case Choose() | Insert() | Delete() | Assign():
                return replace(s, where=formula(s.where))
            case Ensure():
                return replace(s, formula=formula(s.formula))
            case _:
                return s

    def views(lines):
        return tuple(replace(view, where=formula(view.where)) for view in lines)

    def policies(listed):
        return tuple(
            replace(policy, rules=tuple(replace(r, when=formula(r.when)) for r in policy.rules))
            for policy in listed
        )

    return replace(
        deployment,
        written=replace(
            parts,
            tools=tuple(
                tool(replace(t, guard=formula(t.guard), effects=tuple(map(effect, t.effects))))
                for t in parts.tools
            ),
            definitions=tuple(replace(d, body=formula(d.body)) for d in parts.definitions),
            views=views(parts.views),
            policies=policies(parts.policies),
            fair=tuple(map(formula, parts.fair)),
            specs=tuple(replace(spec, formula=formula(spec.formula)) for spec in parts.specs),
            agents=tuple(
                replace(a, views=views(a.views), policies=policies(a.policies)) for a in parts.agents
            ),
            initially=tuple(replace(line, where=formula(line.where)) for line in parts.initially),
        ),
    )


def without_wildcards(deployment):
    numbers = count()

    def named(args):
        names = {i: f"w{next(numbers)}" for i, term in enumerate(args) if isinstance(term, fo.Wildcard)}
        binders = tuple(fo.Binder(name, args[i].sort) for i, name in names.items())
        return tuple(fo.Var(names[i]) if i in names else term for i, term in enumerate(args)), binders

    def formula(f):
        if not any(isinstance(term, fo.Wildcard) for term in fo.terms(f)):
            return fo.map_children(formula, f)
        args, binders = named(fo.terms(f))
        match f:
            case fo.Atom() | fo.Use():
                f = replace(f, args=args)
            case fo.Compare():
                f = replace(f, left=args[0], right=args[1])
        for binder in reversed(binders):
            f = fo.Exists(binder, f)
        return f

    def statements(s):
        if isinstance(s, Delete):
            args, binders = named(s.atom.args)
            s = replace(s, atom=replace(s.atom, args=args), binders=s.binders + binders)
        return [s]

    return rewritten(deployment, formula, statements)


def without_set(deployment):
    """`set P(k, v)`: delete P(k, w) for all w, insert P(k, v)."""

    def statements(s):
        if not isinstance(s, Assign):
            return [s]
        relation = deployment.schema.relation(s.atom.relation)
        others = {i: f"d{i}" for i in range(relation.arity) if i not in relation.keys}
        old = tuple(fo.Var(others[i]) if i in others else term for i, term in enumerate(s.atom.args))
        binders = tuple(fo.Binder(name, relation.sorts[i]) for i, name in others.items())
        return [
            Delete(replace(s.atom, args=old), s.binders + binders, s.where),
            Insert(s.atom, s.binders, s.where),
        ]

    return rewritten(deployment, statements=statements)


def without_keys(deployment):
    """No declared keys; every D0 keeps them still."""
    deployment = without_set(deployment)
    schema = deployment.schema
    plain = Schema(schema.sorts, tuple(replace(relation, keys=()) for relation in schema.relations))
    parts = deployment.written
    if parts.initially:
        parts = replace(parts, initially=(*parts.initially, Initially((), fo.Not(broken(deployment)))))
    return replace(deployment, schema=plain, init=Instance(plain, deployment.init.facts), written=parts)


def broken(deployment):
    """Some relation has two facts that agree on the columns of its key."""
    found = []
    for relation in deployment.schema.relations:
        if not relation.keys:
            continue
        left = [f"l{i}" for i in range(relation.arity)]
        right = [name if i in relation.keys else f"r{i}" for i, name in enumerate(left)]
        same = fo.conjunction(tuple(fo.Equal(fo.Var(a), fo.Var(b)) for a, b in zip(left, right, strict=True)))
        atoms = [fo.Atom(relation.name, tuple(map(fo.Var, names))) for names in (left, right)]
        formula = fo.And((*atoms, fo.Not(same)))
        for names in (left, right):
            for name, sort in zip(names, relation.sorts, strict=True):
                formula = fo.Exists(fo.Binder(name, sort), formula)
        found.append(formula)
    return fo.disjunction(tuple(found))


def without_orders(deployment):
    """x < y: some pair of constants of which the first is listed before the second."""
    holds = {
        "<": lambda i, j: i < j,
        "<=": lambda i, j: i <= j,
        ">": lambda i, j: i > j,
        ">=": lambda i, j: i >= j,
        "succ": lambda i, j: j == i + 1,
    }

    def formula(f):
        if not isinstance(f, fo.Compare):
            return fo.map_children(formula, f)
        if f.sort == fo.INTEGERS:  # of two numerals
            return fo.Truth(holds[f.ordering](int(f.left.value), int(f.right.value)))
        values = deployment.schema.sort(f.sort).values
        pairs = product(enumerate(values), repeat=2)
        return fo.disjunction(
            tuple(
                fo.And((fo.Equal(f.left, fo.Const(v)), fo.Equal(f.right, fo.Const(w))))
                for (i, v), (j, w) in pairs
                if holds[f.ordering](i, j)
            )
        )

    result = rewritten(deployment, formula)
    schema = result.schema
    plain = Schema(
        tuple(replace(s, ordered=s.is_numeric) for s in schema.sorts),  # a range is ordered as it is written
        schema.relations,
    )
    return replace(result, schema=plain, init=Instance(plain, result.init.facts))


def without_in(deployment):
    """`exists x in s. f`: f for one of the constants, whether or not it is active."""

    def formula(f):
        f = fo.map_children(formula, f)
        if not isinstance(f, fo.Exists | fo.Forall) or not f.binder.declared:
            return f
        values = deployment.schema.sort(f.binder.sort).values
        parts = tuple(substitute(f.body, {f.binder.name: fo.Const(value)}) for value in values)
        return fo.disjunction(parts) if isinstance(f, fo.Exists) else fo.conjunction(parts)

    return rewritten(deployment, formula)


def without_events(deployment):
    """Under agents that select everything an event is a tool of one of them."""
    parts = deployment.written
    tools = tuple(replace(tool, event=False) for tool in parts.tools)
    agents = parts.agents
    if agents:
        own = tuple(tool.name for tool in parts.tools if tool.event)
        agents = (replace(agents[0], tools=agents[0].tools + own), *agents[1:])
    return replace(deployment, written=replace(parts, tools=tools, agents=agents))


def without_agents(deployment):
    """Agents that select everything are one that does."""
    return replace(deployment, written=replace(deployment.written, agents=()))


# in this order: each leaves nothing that the ones after it cannot read
STEPS = {
    "_": without_wildcards,
    "keys": without_keys,
    "in": without_in,
    "orders": without_orders,
    "events": without_events,
    "agents": without_agents,
}
ALWAYS = ("_", "keys", "in", "orders")  # the others are about agents that select everything


def is_version_1(deployment):
    """Return if nothing of the second version is left but numerals and `initially any`."""
    text = str(deployment).replace("initially any", "")
    new = {"event", "agent", "key", "set", "in", "_", "succ", "<", "<=", ">", ">="}
    return not new & set(re.findall(r"\w+|<->|->|[<>]=?", text))


def explicitly(deployment, agents, **options):
    """Return what the explicit engine finds, or the error."""
    note(f"{agents}\n{deployment}")
    try:
        return verify(deployment, agents, engine="explicit", max_states=MAX_STATES, findings=False, **options)
    except Undecided:
        reject()
    except (DefinitionError, NoInitialState) as error:
        return error.with_traceback(None)


def answers(result):
    return {name: verdict.holds for name, verdict in result.verdicts.items()}


def common_sizes(deployment, other):
    """A literal domain that is large enough for both. A define that is used twice has two variables for each
    `_` in it, and its rewriting one; what a constant is put into may have a variable renamed."""
    both = [theorem_restriction(d, d.specs).sizes for d in (deployment, other)]
    return {sort: max(sizes[sort] for sizes in both) for sort in deployment.bounds}


def assert_same(deployment, other, agents, others):
    """The same counts by one engine on each, the same verdicts with representatives."""
    sizes = common_sizes(deployment, other)
    expected = explicitly(other, others, domain=sizes)
    if isinstance(expected, NoInitialState):
        with pytest.raises(NoInitialState):
            verify(deployment, agents, findings=False)
        return
    literal = verify(deployment, agents, domain=sizes, findings=False)
    assert (literal.initial, literal.states, literal.transitions) == (
        expected.initial,
        expected.states,
        expected.transitions,
    )
    assert answers(literal) == answers(expected)
    event(f"states: {min(literal.states, 8)}")
    for written, wrapped in ((deployment, agents), (other, others)):
        assert answers(verify(written, wrapped, domain="normal", findings=False)) == answers(expected)


@settings(max_examples=examples(50, slow=600))
@given(workflows(specs=3), st.sampled_from(("any", "p", "q")), st.sets(st.sampled_from(ALWAYS), min_size=1))
def test_each_addition_can_be_said_without_it(deployment, agents, chosen):
    other = deployment
    for name in ALWAYS:
        if name in chosen or (name == "_" and "orders" in chosen):  # `succ(x, _)` is said by both
            other = STEPS[name](other)
    assert_same(deployment, other, agents, agents)


@settings(max_examples=examples(40, slow=600))
@given(workflows(specs=3))
def test_all_of_it_can_be_said_in_the_first_version(deployment):
    """Under agents that select everything nothing of the second version is left but `initially any`."""
    other = deployment
    for step in STEPS.values():
        other = step(other)
    event(f"agents: {len(deployment.agents)}, events: {len(deployment.events)}")
    assert is_version_1(other)
    assert_same(deployment, other, "any", "any")


@settings(max_examples=examples(40, slow=600))
@given(workflows(sound=False, specs=1, depth=2))
def test_a_key_is_broken_where_two_facts_with_it_can_come_to_hold(deployment):
    """`KeyBroken` iff some state with two facts that agree on a key is reached without the declarations, by
    fair runs or others, where nothing else is amiss."""
    plain = without_keys(deployment)
    free = explicitly(plain, "any")
    if isinstance(free, Exception):
        reject()
    is_broken = free.engine.satisfying(plain.formula(broken(deployment)), {}).count > 0
    event(f"broken: {is_broken}")
    for options in ({"engine": "explicit"}, {"domain": "theorem"}, {"domain": "normal"}):
        if is_broken:
            with pytest.raises(KeyBroken):
                verify(deployment, findings=False, **options)
        else:
            found = verify(deployment, findings=False, **options)
            assert answers(found) == answers(free)
            if options != {"domain": "normal"}:
                assert (found.states, found.transitions) == (free.states, free.transitions)
