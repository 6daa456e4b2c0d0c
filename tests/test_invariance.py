"""The answers do not depend on what has no meaning: the order of declarations, the names, the seed of hashes.

Verdicts, contexts and queries stay; on the literal domain the numbers of states and transitions do too.
Deployments are changed as files are: their text is taken apart, changed, and read again.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from itertools import groupby
from pathlib import Path

import families
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from engine_pairs import MAX_STATES, examples
from generated.deployments import deployments
from stead_sym.deployment.deployment import print_deployment
from stead_sym.deployment.files import load
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.tool import Clear, Delete, Insert
from stead_sym.errors import AgentError, DefinitionError, Undecided
from stead_sym.logic.names import WORDS
from stead_sym.relational.schema import Schema
from whole import verify

CASES = [
    ("refund", "baseline", "normal", "theorem"),
    ("refund", "approving", "normal", "theorem"),
    ("refund", "any", "normal", "theorem"),
    ("airline", "careful", "normal", "theorem"),
    ("airline", "any", "normal", "theorem"),
    ("desks 1", "approving", "theorem"),
    ("desks 3", "baseline", "normal"),
    ("refunds 1", "any", "theorem"),
    ("refunds 3", "any", "normal"),
    ("service_desk 4", "careful", "normal", "theorem"),
]


@cache
def subject(name):
    """A packaged example, or a family of the benchmarks at a size."""
    if " " not in name:
        return load(name)
    family, size = name.split()
    return getattr(families, family)(int(size))


def answers(deployment, policy, domain, called=str):
    """Return what must stay; ``called`` gives the names of specifications as they are to be compared."""
    agent = "any" if policy == "any" else deployment.policy(policy)
    try:
        result = verify(deployment, agent, domain=domain)
    except (AgentError, DefinitionError):
        return "a breach"  # which one of several is found first depends on the search
    counted = (result.states, result.transitions) if domain == "theorem" else ()
    verdicts = {called(spec): verdict.holds for spec, verdict in result.verdicts.items()}
    return verdicts, counted, result.contexts, result.queries


# the order of declarations


def items(deployment):
    """The items of the deployment's file, each fact of D0 one of its own: they may stand in any order."""
    text = print_deployment(replace(deployment, system=None, instructions=None))
    for item in re.split(r"\n+(?=\S)", text.strip()):
        word, *facts = item.split("\n  ")
        yield from (f"init {fact}" for fact in facts) if word == "init" else [item]
    for word in ("system", "instructions"):
        if (said := getattr(deployment, word)) is not None:
            yield f'{word} """{said}"""'


@st.composite
def shuffled(draw, deployment):
    """The deployment with its items in another order, and with them the values of finite sorts, the
    alternatives of a tool, and the changes of an effect between two variables. The rules of a policy stay:
    the first that matches counts."""

    def any_order(parts):
        return tuple(draw(st.permutations(parts)))

    def effect(old):
        def changes(statement):
            return isinstance(statement, Insert | Delete | Clear)

        runs = [(free, tuple(run)) for free, run in groupby(old.statements, changes)]
        return replace(
            old, statements=tuple(s for free, run in runs for s in (any_order(run) if free else run))
        )

    sorts = [
        s if s.values is None else replace(s, values=any_order(s.values)) for s in deployment.schema.sorts
    ]
    written = deployment.written
    tools = tuple(replace(t, effects=any_order([effect(e) for e in t.effects])) for t in written.tools)
    changed = replace(
        deployment,
        schema=Schema(tuple(sorts), deployment.schema.relations),
        written=replace(written, tools=tools),
    )
    return parse_deployment("\n".join(any_order(list(items(changed)))))


# names

_WORDS_OF_ITEMS = """
    deployment sort relation init bound define tool view policy system instructions spec rigid guard effect
    when where for call choose fresh insert delete clear ensure same empty A E U W
"""
_LANGUAGE = WORDS | set(_WORDS_OF_ITEMS.split())
_TOKEN = re.compile(r'"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|[A-Za-z_][A-Za-z0-9_]*')
_TREACHEROUS = """
    a a1 a2 a11 A1 A_1 a_1 b b1 c c0 case case1 case2 Case CASE_1 CASE_2 task1 order1 k K k1 K_1 x x1 x_1 y
    __ _1 _2 _x p0 t0 u0 v0 z z0 none idle now next state call_t0 R0 R1 TASK_1 service1 s s1 s2 m1
    event agent tools initially any key set in succ
"""
"""Names like those that a domain, a canonical context, an expansion, a diagram would make up."""


def identifiers(text):
    """The names in the text of a deployment, without the words of the language."""
    return sorted({t for t in _TOKEN.findall(text) if t[0] != '"'} - _LANGUAGE)


def renamed(text, names):
    """The text with other names. An injective ``names`` keeps what is bound where, whatever each name is
    used for: as a sort and as a variable, say."""
    return _TOKEN.sub(lambda token: names.get(token[0], token[0]), text)


@st.composite
def renamings(draw, deployment, text):
    """Other names for all that the text holds: they swap among themselves, and new ones come in. Every other
    constant gets a name that its sort's domain would make up for a new value."""
    known = identifiers(text)
    pool = sorted({*known, *_TREACHEROUS.split()})
    names = dict(zip(known, draw(st.permutations(pool)), strict=False))
    for constant, sort in deployment.sort_of_constant.items():
        made_up = f"{names[sort].lower()}{draw(st.integers(1, 3))}"
        if draw(st.booleans()) and made_up not in names.values():
            names[constant] = made_up
    return names


# the tests


def small(deployment, policy):
    """Gives the example up where it is large, or where nothing ever happens."""
    agent = "any" if policy == "any" else deployment.policy(policy)
    try:
        states = verify(deployment, agent, engine="explicit", max_states=MAX_STATES).states
    except Undecided:
        reject()
    except (AgentError, DefinitionError):
        return
    if states == 1:
        reject()


def assert_order_is_nothing(data, deployment, policy, domains):
    other = data.draw(shuffled(deployment))
    for domain in domains:
        assert answers(other, policy, domain) == answers(deployment, policy, domain), domain


def assert_names_are_nothing(data, deployment, policy, domains):
    text = print_deployment(deployment)
    names = data.draw(renamings(deployment, text))
    other = parse_deployment(renamed(text, names))
    for domain in domains:
        expected = answers(deployment, policy, domain, names.__getitem__)
        assert answers(other, names.get(policy, policy), domain) == expected, domain


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(case[:2]))
@settings(max_examples=examples(2))
@given(st.data())
def test_order(case, data):
    name, policy, *domains = case
    assert_order_is_nothing(data, subject(name), policy, domains)


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(case[:2]))
@settings(max_examples=examples(2))
@given(st.data())
def test_names(case, data):
    name, policy, *domains = case
    assert_names_are_nothing(data, subject(name), policy, domains)


@settings(max_examples=examples(25))
@given(st.data(), deployments(), st.sampled_from(["any", "p"]))
def test_order_in_generated_deployments(data, deployment, policy):
    small(deployment, policy)
    assert_order_is_nothing(data, deployment, policy, ("normal", "theorem"))


@settings(max_examples=examples(25))
@given(st.data(), deployments(), st.sampled_from(["any", "p"]))
def test_names_in_generated_deployments(data, deployment, policy):
    small(deployment, policy)
    assert_names_are_nothing(data, deployment, policy, ("normal", "theorem"))


@pytest.mark.gate
@settings(max_examples=examples(15))
@given(st.data(), deployments(keep_bounds=False, total=False), st.sampled_from(["any", "p"]))
def test_that_there_is_a_breach(data, deployment, policy):
    """Of bounds, of what is offered, of effects: it does not depend on order and names either."""
    small(deployment, policy)
    assert_order_is_nothing(data, deployment, policy, ("normal", "theorem"))
    assert_names_are_nothing(data, deployment, policy, ("normal", "theorem"))


@pytest.mark.gate
def test_the_seed_of_hashes():
    """Two processes whose sets are in different orders: the same answers, and the same canonical contexts
    with the same decisions."""
    script = (
        "import json, test_invariance as t\n"
        "print(json.dumps([t.told(*case) for case in t.CASES], default=str))"
    )
    told = set()
    for seed in ("0", "1"):
        env = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path]),
        }
        ended = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True, env=env
        )
        assert len(json.loads(ended.stdout)) == len(CASES)
        told.add(ended.stdout)
    assert len(told) == 1


def told(name, policy, *domains):
    """The answers in every domain, and what the agent was asked and said in the first."""
    deployment = subject(name)
    agent = "any" if policy == "any" else deployment.policy(policy)
    asked = verify(deployment, agent, domain=domains[0]).decisions
    said = sorted(f"{context}: {', '.join(sorted(map(str, calls)))}" for context, calls in asked)
    return [[answers(deployment, policy, domain) for domain in domains], said]
