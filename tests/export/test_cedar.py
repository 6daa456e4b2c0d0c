"""Rules of Cedar against what they are made of: cedarpy decides the same calls as the formulas.

The shield's own side is the game of `games`, solved state by state, and for other formulas their truth in a
state. What a request has is read off its state by `CedarRules.request`; one test writes a request by hand.
"""

from __future__ import annotations

import json
import os
from random import Random

import pytest
from peers import absent

import stead_sym as st
import stead_sym.logic.syntax as fo
from games import Game, Maker
from stead_sym.analyses.shield.cedar import CedarRules, cedar_rules
from stead_sym.relational.instance import Instance

try:
    import cedarpy
except ImportError:
    cedarpy = None

CASES = int(os.environ.get("SHIELD_CASES", "15"))

KEYED = """
deployment desk
sort case, task
sort service = { s1, a1, s2, a2 }
relation Approver(service key, service)
relation Handler(case key, handler: service, level: service)
relation PartOf(task key, case)
relation Approved(task, service)
relation Paid(task)
init
  Approver(s1, a1)
  Approver(s2, a2)
bound case 1
bound task 1
tool take()
  guard ~PartOf(_, _)
  effect
    choose s: service where s = s1 | s = s2
    fresh c: case
    fresh t: task
    insert Handler(c, s, s1)
    insert PartOf(t, c)
tool pay(t: task)
  guard PartOf(t, _) & ~Paid(t)
  effect insert Paid(t)
tool approve(t: task, a: service)
  guard PartOf(t, _) & Approver(_, a)
  effect insert Approved(t, a)
tool close(t: task)
  guard Paid(t)
  effect clear Handler, PartOf, Approved, Paid
spec auth AG forall t, c, s, a.
  (Paid(t) & PartOf(t, c) & Handler(c, s, _) & Approver(s, a) -> Approved(t, a))
"""


def peer():
    if cedarpy is None:
        absent("cedarpy is not installed; `pip install cedarpy` gets it")
    return cedarpy


def decides(rules: CedarRules, questions: list[tuple[st.Call, Instance]]) -> list[bool]:
    """Return what the rules answer, without errors; rules, requests and entities fit the schema."""
    cedar = peer()
    checked = cedar.validate_policies(rules.text, rules.schema)
    assert checked.validation_passed, (rules.text, [str(error) for error in checked.errors])
    schema, policies = cedar.Schema.from_str(rules.schema), cedar.PolicySet.from_str(rules.text)
    answers = []
    for call, state in questions:
        request, entities = rules.request(call, state)
        answer = cedar.is_authorized(request, policies, json.dumps(entities), schema=schema)
        assert not answer.diagnostics.errors, answer.diagnostics.errors
        answers.append(answer.allowed)
    return answers


def assert_shield(text: str) -> tuple[CedarRules, set[bool]]:
    """Compare all calls in all states that the shield reaches; return the rules and the answers."""
    written = st.parse_deployment(text)
    found = st.shield(written)
    rules, followed = found.cedar, found.deployment
    own = {spec.name for spec in written.specs}
    asked = [spec.formula for spec in followed.specs if spec.name not in own]  # the demands, each under AG
    demands = tuple(formula.body for formula in asked if isinstance(formula, fo.Globally))
    assert len(demands) == len(asked) > 0
    game = Game(followed, st.theorem_restriction(followed, ()), demands)
    assert bool(rules.text) == (found.lost is None and not rules.unsaid)
    if not rules.text:
        return rules, set()
    questions, expected = [], []
    for state in sorted(game.reached, key=str):
        allowed = set(game.allowed(game.won, state))
        calls = [call for call in game.steps[state] if not game.is_event(call)]
        questions.extend((call, state) for call in calls)
        expected.extend(call in allowed for call in calls)
    assert decides(rules, questions) == expected
    return rules, set(expected)


@pytest.mark.parametrize("seed", range(CASES))
def test_they_decide_as_the_game_on_generated_deployments(seed: int) -> None:
    assert_shield(Maker(seed).text())


def test_the_approval_rule_follows_keys() -> None:
    rules, answers = assert_shield(KEYED)
    assert answers == {True, False}
    path = "context.input.t.PartOf.Handler.handler"
    condition = (
        "unless {\n"
        "  context.input.t has PartOf &&\n"
        "  context.input.t.PartOf has Handler &&\n"
        f"  {path} has Approver &&\n"
        f"  !context.input.t.Approved.contains({path}.Approver)\n"
        "};"
    )
    assert condition in rules.text
    assert rules.text.count("permit (") == 4


def test_names_that_cedar_has_for_itself() -> None:
    rules, answers = assert_shield(
        """
deployment like
sort String
sort Agent = { is, has }
relation in(String key, then: Agent, if: Agent)
relation Set(Agent, String)
bound String 1
event come() guard ~in(_, _, _) effect choose a: Agent fresh s: String insert in(s, a, is)
tool else_(like: String, principal: Agent) guard in(like, _, _) effect insert Set(principal, like)
tool wait()
spec s AG forall x, a. (Set(a, x) -> in(x, a, is))
"""
    )
    assert answers == {True, False}
    assert 'has "in"' in rules.text
    assert "entity Agent_1;" in rules.schema


def test_a_request_as_somebody_writes_it() -> None:
    """From the comments of the rules alone, with other records than any state has."""
    cedar, rules = peer(), st.shield(st.parse_deployment(KEYED)).cedar

    def uid(kind: str, name: str) -> dict[str, str]:
        return {"type": f"desk::{kind}", "id": name}

    def entity(kind: str, name: str, **attributes: object) -> dict[str, object]:
        return {"uid": uid(kind, name), "attrs": attributes, "parents": []}

    def pays(*approved: str) -> bool:
        others = [
            entity(
                "case",
                "C-17",
                Handler={
                    "handler": {"__entity": uid("service", "s1")},
                    "level": {"__entity": uid("service", "s2")},
                },
            ),
            entity("service", "s1", Approver={"__entity": uid("service", "a1")}),
            entity("service", "s2", Approver={"__entity": uid("service", "a2")}),
        ]
        by = [{"__entity": uid("service", one)} for one in approved]
        task = entity("task", "T-1", PartOf={"__entity": uid("case", "C-17")}, Approved=by)
        request = {
            "principal": 'desk::Agent::"model"',
            "action": 'desk::Action::"pay"',
            "resource": 'desk::Database::"live"',
            "context": {"input": {"t": {"__entity": uid("task", "T-1")}}},
        }
        answer = cedar.is_authorized(request, rules.text, [task, *others], schema=rules.schema)
        assert not answer.diagnostics.errors
        return bool(answer.allowed)

    assert [pays(), pays("a2"), pays("a1"), pays("a1", "a2")] == [False, False, True, True]


@pytest.mark.parametrize("name", ["returns_desk", "airline", "partial_refunds", "pull_requests"])
def test_they_decide_as_the_game_on_examples(name: str) -> None:
    """Those that Cedar expresses and that are small enough for the literal domain."""
    rules, answers = assert_shield(str(st.load(name)))
    assert rules.text
    assert answers == {True, False}


RICH = """
deployment rich
sort person, item
sort level = { lo < mid < hi }
sort points = 0..4
sort status = { new, old } rigid
relation Owner(item key, person)
relation Boss(person key, person)
relation Likes(person, item)
relation Rank(person key, level: level, points: points)
relation Tag(item, status)
relation Cap(status key, points)
relation Near(item, item)
relation Flag()
init
  Likes(ann, box)
bound person 3
bound item 3
tool t(p: person, q: person, i: item, l: level, m: points, s: status)
"""
SCOPE = {"p": "person", "q": "person", "i": "item", "l": "level", "m": "points", "s": "status"}
VALUES = {
    "person": ["ann", "bob", "cy"],
    "item": ["box", "cup", "pen"],
    "level": ["lo", "mid", "hi"],
    "points": [*"01234"],
    "status": ["new", "old"],
}
CONSTANTS = {**VALUES, "person": ["ann"], "item": ["box"]}


class Formulas:
    """Random conditions as text, many of which have no equivalent without a quantifier."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.schema = st.parse_deployment(RICH).schema

    def formula(self, depth: int, scope: dict[str, str]) -> str:
        kind = self.random.choice(
            ["atom"] * 3 + ["equal", "compare"] + ["not", "and", "or", "implies"] * (depth > 0)
        )
        if depth > 0 and self.random.random() < 0.5:
            kind = self.random.choice(["exists", "forall"])
        smaller = [self.formula(depth - 1, scope) for _ in range(2)] if depth > 0 else []
        match kind:
            case "exists" | "forall":
                name = f"x{len(scope)}"
                sort = self.random.choice(["person", "item", "points", "level"])
                within = {**scope, name: sort}
                near = " & ".join(self.atom(within, name) for _ in range(self.random.choice([1, 1, 2])))
                inner = f"({self.formula(depth - 1, within)})"
                sign = "&" if kind == "exists" else "->"
                rest = inner if self.random.random() < 0.7 else "Flag()"
                return f"{kind} {name}: {sort}. (({near}) {sign} {rest})"
            case "not":
                return f"~({smaller[0]})"
            case "and" | "or" | "implies":
                sign = {"and": "&", "or": "|", "implies": "->"}[kind]
                return f"({smaller[0]}) {sign} ({smaller[1]})"
            case "equal":
                sort = self.random.choice([*VALUES])
                return (
                    f"{self.variable(sort, scope)} {self.random.choice(['=', '!='])} {self.term(sort, scope)}"
                )
            case "compare":
                sort = self.random.choice(["level", "points"])
                sign = self.random.choice(["<", "<=", ">", ">="])
                if sort == "points" and self.random.random() < 0.3:
                    return f"{self.variable(sort, scope)} + 1 {sign} {self.term(sort, scope)}"
                return f"{self.variable(sort, scope)} {sign} {self.term(sort, scope)}"
            case _:
                return self.atom(scope)

    def variable(self, sort: str, scope: dict[str, str]) -> str:
        return self.random.choice([name for name, of in scope.items() if of == sort])

    def term(self, sort: str, scope: dict[str, str]) -> str:
        return self.random.choice([name for name, of in scope.items() if of == sort] * 3 + CONSTANTS[sort])

    def atom(self, scope: dict[str, str], using: str | None = None) -> str:
        """An atom; with ``using``, one with this variable."""
        relations = [r for r in self.schema.relations if using is None or scope[using] in r.sorts]
        relation = self.random.choice(relations)
        args = ["_" if self.random.random() < 0.15 else self.term(sort, scope) for sort in relation.sorts]
        if using is not None:
            args[self.random.choice([k for k, s in enumerate(relation.sorts) if s == scope[using]])] = using
        return f"{relation.name}({', '.join(args)})"

    def state(self) -> Instance:
        facts: dict[tuple[str, tuple[str, ...]], tuple[str, tuple[str, ...]]] = {}
        for relation in self.schema.relations:
            for _ in range(self.random.choice([0, 1, 3, 5])):
                args = tuple(self.random.choice(VALUES[sort]) for sort in relation.sorts)
                facts[relation.name, relation.key(args) or args] = (relation.name, args)
        return Instance.of(self.schema, facts.values())

    def call(self) -> st.Call:
        return st.Call("t", tuple(self.random.choice(VALUES[sort]) for sort in SCOPE.values()))


@pytest.mark.parametrize("seed", range(CASES))
def test_formulas_are_true_where_their_rules_permit(seed: int) -> None:
    peer()
    deployment, made = st.parse_deployment(RICH), Formulas(seed)
    expressed = 0
    for _ in range(40):
        text = made.formula(2, dict(SCOPE))
        formula = deployment.formula(text, SCOPE)
        rules = cedar_rules(deployment, {"t": formula}, text)
        if not rules.text:
            assert rules.unsaid["t"]
            continue
        expressed += 1
        questions = [(made.call(), made.state()) for _ in range(8)]
        expected = [
            st.holds(formula, state, dict(zip(SCOPE, call.args, strict=True))) for call, state in questions
        ]
        assert decides(rules, questions) == expected, text
    assert expressed > 10
