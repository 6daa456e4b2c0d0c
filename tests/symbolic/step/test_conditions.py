"""The meaning of `when`, `choose` and `fresh`, against an enumeration of the values in every state."""

from __future__ import annotations

from itertools import combinations, product

import pytest

from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.restriction import normal_restriction, theorem_restriction
from stead_sym.deployment.tool import Choose, Fresh
from stead_sym.engines.symbolic.encode.representatives import Naming
from stead_sym.engines.symbolic.plan.guess import first_guess
from stead_sym.engines.symbolic.plan.planner import Task, plan
from stead_sym.engines.symbolic.step.conditions import ConditionCompiler
from stead_sym.logic.evaluate import holds
from stead_sym.relational.instance import Instance
from stead_sym.support.progress import Pulse

TEXT = """
deployment d
sort a
relation P(a)
relation Q(a)
bound a 3
init Q(c0)
tool t()
  effect
    {}
tool idle()
tool some() guard atmost 1 x: a. P(x) effect
  fresh u: a
  insert P(u)
tool off(x: a) guard P(x) effect delete P(x)
tool forget() effect clear Q
"""
BLOCKS = (
    "when exists x. P(x)\n fresh u: a\n insert P(u)",
    "choose x: a\n insert Q(x)",
    "choose x: a where P(x)\n choose y: a where x != y\n insert Q(y)",
    "fresh u: a\n fresh v: a\n insert P(u)",
    "fresh u: a\n choose x: a where x != u & ~P(u)\n fresh v: a\n insert P(v)",
    "choose x: a where P(x)\n fresh u: a\n choose y: a where P(y) & y != x\n insert Q(u)",
)
OUTSIDE = "outside U_f"


def compiled(block, literal):
    deployment = parse_deployment(TEXT.format(block.replace("\n", "\n   ")))
    restriction = theorem_restriction(deployment, ()) if literal else normal_restriction(deployment)
    made = plan(Task(deployment, restriction, literal), first_guess(deployment, literal), Pulse())
    naming = Naming(literal, {}, {})
    spare = dict.fromkeys(made.encoding.values, ())
    effect = deployment.tools[0].effects[0]
    conditions = ConditionCompiler(deployment, made.compiler, naming, spare)
    return deployment, made, effect, conditions.conditions(("t", 0), effect, {})


def states(deployment, encoding):
    """The states that the encoding has a code for, as far as they keep the bound."""
    facts = [fact for facts in encoding.dynamic_facts.values() for fact in facts]
    for number in range(3):
        for chosen in combinations(facts, number):
            state = Instance(deployment.schema, frozenset({*encoding.static, *chosen}))
            if encoding.has_code(state):
                yield state


def enumerated(deployment, effect, state, values, literal):
    """The assignments that the text of the block allows."""
    found = [{}] if holds(effect.when, state) else []
    active, constants = state.active_domain["a"], deployment.constants["a"]
    for statement in effect.statements:
        match statement:
            case Choose(binder, where):
                found = [
                    {**sigma, binder.name: u}
                    for sigma in found
                    for u in sorted({*active, *constants})
                    if holds(where, state, {**sigma, binder.name: u})
                ]
            case Fresh(binder):
                extended = []
                for sigma in found:
                    drawn = {sigma[b.name] for b in effect.fresh if b.name in sigma}
                    unused = [u for u in values if u not in active and u not in constants and u not in drawn]
                    may_be = [*unused, f"{OUTSIDE} {binder.name}"] if literal else unused[:1]
                    extended += [{**sigma, binder.name: u} for u in may_be]
                found = extended
            case _:
                pass
    return found


@pytest.mark.parametrize("literal", [True, False])
@pytest.mark.parametrize("block", BLOCKS)
def test_the_values_are_those_that_the_text_allows(block, literal):
    deployment, made, effect, conditions = compiled(block, literal)
    encoding, m, values = made.encoding, made.encoding.manager, made.encoding.values["a"]
    assert all(v.one_hot == (literal and n in "uv") for n, v in conditions.scope.items())
    assert conditions.local == {bit for v in conditions.scope.values() for bit in v.bits}
    seen = 0
    for state in states(deployment, encoding):
        here = m.cofactor(m.conj(conditions.asked) & conditions.drawn, encoding.encode(state))
        allowed = enumerated(deployment, effect, state, values, literal)
        seen += len(allowed)
        for choice in product(*([*values, OUTSIDE] for _ in conditions.scope)):
            sigma, code = {}, {}
            for (name, vector), value in zip(conditions.scope.items(), choice, strict=True):
                if value != OUTSIDE:
                    sigma[name], code = value, {**code, **encoding.code(vector, value)}
                elif vector.one_hot:
                    sigma[name], code = f"{OUTSIDE} {name}", {**code, **dict.fromkeys(vector.bits, False)}
            if len(sigma) == len(choice):
                assert m.satisfies(here, code) == (sigma in allowed)
    assert seen
