"""Rule agents: what matches, what quantifiers range over, and that they treat identifiers alike."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stead_sym
import stead_sym.logic.syntax as fo
from generated.strategies import instances, pool, renamings, schemas
from stead_sym.agents.base import DecisionContext
from stead_sym.agents.rules import RuleAgent
from stead_sym.agents.wrapper import CanonicalWrapper
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.parts import Parts, Policy, Rule
from stead_sym.deployment.tool import Call, Tool
from stead_sym.errors import AgentError, DeclarationError, Span
from stead_sym.relational.instance import Instance
from stead_sym.relational.schema import Relation, Schema, Sort

SCHEMA = Schema(
    (Sort("task"), Sort("person"), Sort("status", ("open", "shut"), rigid=True)),
    (Relation("Is", ("task", "status")), Relation("Owns", ("person", "task"))),
)
CLOSE = Tool("close", (fo.Binder("t", "task"),))
MARK = Tool("mark", (fo.Binder("t", "task"), fo.Binder("q", "status")))
SWAP = Tool("swap", (fo.Binder("t", "task"), fo.Binder("u", "task")))
IDLE = Tool("idle")
TOOLS = (CLOSE, MARK, SWAP, IDLE)
T, U, P = fo.Var("t"), fo.Var("u"), fo.Var("p")


def select(rules, facts, calls):
    view = Instance.of(SCHEMA, facts)
    context = DecisionContext(view, frozenset(Call(*call) for call in calls))
    (answer,) = RuleAgent(Policy("p", tuple(rules)), TOOLS).select([context])
    return {tuple(call) for call in answer}


OPEN = [("Is", ("t1", "open")), ("Is", ("t2", "open")), ("Is", ("t3", "shut"))]
CLOSES = [("close", (t,)) for t in ("t1", "t2", "t3")]


def test_all_matches_of_the_first_rule_that_has_one():
    rules = [
        Rule("mark", (T, fo.Const("shut"))),
        Rule("close", (T,), fo.Atom("Is", (T, fo.Const("open")))),
        Rule("close", (T,)),
        Rule("idle"),
    ]
    assert select(rules, OPEN, [*CLOSES, ("idle", ())]) == {("close", ("t1",)), ("close", ("t2",))}
    assert select(rules, OPEN, [CLOSES[2], ("idle", ())]) == {("close", ("t3",))}
    assert select(rules, [], [("idle", ())]) == {("idle", ())}


def test_a_constant_must_be_the_argument():
    offered = [("mark", ("t1", "open")), ("mark", ("t1", "shut")), ("mark", ("t2", "shut"))]
    assert select([Rule("mark", (T, fo.Const("shut")))], OPEN, offered) == set(offered[1:])


def test_a_variable_that_stands_twice_takes_one_value():
    offered = [("swap", ("t1", "t2")), ("swap", ("t2", "t2")), ("swap", ("t2", "t1"))]
    assert select([Rule("swap", (T, T))], OPEN, offered) == {("swap", ("t2", "t2"))}
    assert select([Rule("swap", (T, U), ~fo.Equal(T, U))], OPEN, offered) == {offered[0], offered[2]}


def test_when_reads_the_view_and_a_variable_of_the_rule_is_shadowed_by_a_quantifier():
    owned = fo.Exists(fo.Binder("p", "person"), fo.Atom("Owns", (P, T)))
    facts = [*OPEN, ("Owns", ("ann", "t2"))]
    assert select([Rule("close", (T,), owned)], facts, CLOSES) == {("close", ("t2",))}
    some = fo.Exists(fo.Binder("t", "task"), fo.Atom("Is", (T, fo.Const("shut"))))
    assert select([Rule("close", (T,), some)], OPEN, CLOSES) == set(CLOSES)


def test_quantifiers_range_over_the_values_of_the_calls_too():
    """t9 stands in no shown fact: the offer alone shows it, and it counts as a task."""
    unseen = fo.Exists(
        fo.Binder("u", "task"), fo.Not(fo.Exists(fo.Binder("q", "status"), fo.Atom("Is", (U, fo.Var("q")))))
    )
    assert select([Rule("idle", (), unseen), Rule("close", (T,))], OPEN, [("idle", ()), *CLOSES]) == set(
        CLOSES
    )
    offered = [("idle", ()), ("close", ("t9",))]
    assert select([Rule("idle", (), unseen), Rule("close", (T,))], OPEN, offered) == {("idle", ())}


def test_no_match_is_one_clear_line():
    policy = Policy("p", (Rule("close", (T,), fo.FALSE),), span=Span("f.stead", 7, 1))
    context = DecisionContext(Instance.of(SCHEMA, OPEN[:1]), frozenset({Call("close", ("t1",))}))
    with pytest.raises(AgentError) as caught:
        RuleAgent(policy, TOOLS).select([context])
    assert str(caught.value) == (
        "f.stead:7:1: policy p selects nothing for { Is(t1, open) } offering close(t1); "
        "add a rule that matches, or a tool to wait with"
    )


def test_the_policy_of_a_deployment_has_its_definitions_expanded():
    opened = fo.Definition(
        "opened", (fo.Binder("x", "task"),), fo.Atom("Is", (fo.Var("x"), fo.Const("open")))
    )
    deployment = Deployment(
        name="d",
        schema=SCHEMA,
        init=Instance.of(SCHEMA, OPEN),
        bounds={"task": 0, "person": 0},
        written=Parts(
            tools=TOOLS,
            definitions=(opened,),
            policies=(Policy("p", (Rule("close", (T,), fo.Use("opened", (T,))),)),),
        ),
    )
    agent = RuleAgent.of(deployment, "p")
    assert agent.name == "p"
    context = DecisionContext(deployment.init, frozenset(Call(*call) for call in CLOSES))
    assert agent.select([context]) == [{Call("close", ("t1",)), Call("close", ("t2",))}]
    with pytest.raises(DeclarationError, match=r"^unknown policy q; "):
        RuleAgent.of(deployment, "q")


@st.composite
def formulas(draw, schema, scope, depth=2):
    """A first-order formula over ``scope`` (variable: sort), with constants of every sort."""
    shapes = ["atom"] if depth == 0 else ["atom", "quantifier", "not", "and", "or", "implies", "iff"]
    shape = draw(st.sampled_from(shapes))
    if shape == "atom":
        return draw(atoms(schema, scope))
    if shape == "quantifier":
        binder = fo.Binder(f"q{depth}", draw(st.sampled_from(schema.sorts)).name)
        body = draw(formulas(schema, {**scope, binder.name: binder.sort}, depth - 1))
        if kind := draw(st.sampled_from(["", "atleast", "atmost", "exactly"])):
            return fo.Count(kind, draw(st.integers(0, 2)), binder, body)
        return draw(st.sampled_from([fo.Exists, fo.Forall]))(binder, body)
    left = draw(formulas(schema, scope, depth - 1))
    if shape == "not":
        return fo.Not(left)
    right = draw(formulas(schema, scope, depth - 1))
    joined = {
        "and": fo.And((left, right)),
        "or": fo.Or((left, right)),
        "implies": fo.Implies(left, right),
        "iff": fo.Iff(left, right),
    }
    return joined[shape]


def atoms(schema, scope):
    terms = {
        sort.name: [fo.Var(x) for x, s in sorted(scope.items()) if s == sort.name]
        + [fo.Const(v) for v in pool(schema, sort.name, 1)]
        for sort in schema.sorts
    }
    equal = [fo.Equal(left, right) for some in terms.values() for left in some for right in some]
    facts = [
        fo.Atom(r.name, args) for r in schema.relations for args in product(*(terms[s] for s in r.sorts))
    ]
    return st.sampled_from([fo.TRUE, fo.FALSE, *equal, *facts])


def _bound(scope, args):
    return {x: sort for x, sort in scope.items() if fo.Var(x) in args}


@st.composite
def situations(draw):
    """A decision context, its tools, and a rule agent with a last resort."""
    schema = draw(schemas(max_sorts=2, max_relations=3))
    names = st.sampled_from([sort.name for sort in schema.sorts])
    tools = [
        Tool(f"t{i}", tuple(fo.Binder(f"x{j}", sort) for j, sort in enumerate(sorts)))
        for i, sorts in enumerate(draw(st.lists(st.lists(names, max_size=2), min_size=1, max_size=2)))
    ]
    calls = Schema(schema.sorts, tuple(Relation(t.name, tuple(p.sort for p in t.params)) for t in tools))
    view = draw(instances(schema, size=3, max_facts=6))
    offered = draw(instances(calls, size=3, max_facts=5))
    rules = []
    for tool in draw(st.lists(st.sampled_from(tools), min_size=1, max_size=3)):
        scope = {p.name: p.sort for p in tool.params}
        args = [draw(st.sampled_from([fo.Var(x), fo.Const(pool(schema, s, 1)[0])])) for x, s in scope.items()]
        rules.append(Rule(tool.name, tuple(args), draw(formulas(schema, _bound(scope, args)))))
    joint = Instance(Schema(schema.sorts, schema.relations + calls.relations), view.facts | offered.facts)
    everything = (*tools, IDLE)
    context = DecisionContext(view, frozenset({Call("idle", ()), *(Call(*fact) for fact in offered)}))
    return schema, everything, joint, context, RuleAgent(Policy("p", (*rules, Rule("idle"))), everything)


@given(situations(), st.data())
def test_rules_treat_alike_what_they_do_not_mention(situation, data):
    schema, tools, joint, context, agent = situation
    (answer,) = agent.select([context])
    wrapper = CanonicalWrapper(agent, schema, tools, known={value: value[0] for value in agent.constants})
    assert wrapper.calls(context.view, context.calls) == answer
    iota = data.draw(renamings(joint, schema.rigid | agent.constants))
    renamed = DecisionContext(context.view.rename(iota), frozenset(c.rename(iota) for c in context.calls))
    assert agent.select([renamed]) == [{call.rename(iota) for call in answer}]


def test_a_constant_that_is_not_rigid_is_met_where_the_wrapper_knows_it():
    rule = Rule("close", (T,), fo.Exists(fo.Binder("p", "person"), fo.Atom("Owns", (fo.Const("ann"), T))))
    agent = RuleAgent(Policy("p", (rule, Rule("mark", (fo.Const("t2"), fo.Var("q"))), Rule("idle"))), TOOLS)
    assert agent.constants == {"ann", "t2"}
    facts = [*OPEN, ("Owns", ("ann", "t1")), ("Owns", ("bob", "t2"))]
    view = Instance.of(SCHEMA, facts)
    offered = [*(Call(*call) for call in CLOSES), Call("mark", ("t2", "shut")), Call("idle", ())]
    renaming = CanonicalWrapper(agent, SCHEMA, TOOLS)
    knowing = CanonicalWrapper(agent, SCHEMA, TOOLS, known={"ann": "person", "t2": "task"})
    assert renaming.calls(view, offered) == {Call("idle", ())}
    assert knowing.calls(view, offered) == {Call("close", ("t1",))}
    assert knowing.calls(view, offered[2:]) == {Call("mark", ("t2", "shut"))}
    ((first, _), _) = knowing.decisions
    assert {fact.args[0] for fact in first.view if fact.relation == "Owns"} == {"ann", "PERSON_1"}


CREW = """deployment crew
sort worker = {{ w1, w2 }}
relation P(worker)
relation Done()
init P(w1)
tool give(s: worker) effect insert Done()
tool wait(s: worker)
policy p
  call give(s) when {when}
  call wait(s)
spec never AG ~Done()
"""


@pytest.mark.parametrize("engine", ["explicit", "symbolic"])
@pytest.mark.parametrize(
    ("when", "gives"),
    [
        ("forall v in worker. v != s", False),
        ("exists v in worker. v = s", True),
        ("exists v in worker. (~P(v) & v = s)", True),
        ("forall v in worker. P(v)", False),
        ("(count v in worker. ~P(v)) = 1", True),
        ("(count v in worker. P(v)) = 2", False),
        ("forall v in worker. (v = w2 | P(v))", True),
        ("exists u in worker. exists v in worker. (u != v & ~P(u) & ~P(v))", False),
    ],
)
def test_all_values_of_a_finite_sort_are_meant_whatever_the_wrapper_calls_them(engine, when, gives):
    """The sort is not rigid, so that its values have other names in the context of the agent."""
    deployment = stead_sym.parse_deployment(CREW.format(when=when))
    assert stead_sym.verify(deployment, "p", engine=engine, findings=False)["never"].holds is not gives
