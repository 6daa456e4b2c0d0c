"""Verdicts on few facts hold: on generated deployments the explicit engine, which sees all facts, agrees with
what is shown and refuted, and each run is one of the deployment."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random
from unittest.mock import patch

from hypothesis import event, example, given, reject, settings
from hypothesis import strategies as st

import stead_sym.logic.syntax as fo
from engine_pairs import examples, replay
from generated.bulk import Bulk
from generated.crews import crew
from generated.deployments import deployments
from generated.integers import integer_deployment
from generated.messages import messages
from generated.past import past_workflows
from generated.refusals import refused_workflows
from generated.workflows import workflows
from stead_sym.agents.roles import wrap_all
from stead_sym.analyses.local.field import Field, can_be_followed
from stead_sym.analyses.local.model import Local, Shown, few_records
from stead_sym.analyses.local.questions import dual
from stead_sym.analyses.local.refinement import Refuted
from stead_sym.analyses.local.start import Start
from stead_sym.analyses.local.verify import localise
from stead_sym.analyses.local.writes import After
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.parts import FairAction
from stead_sym.deployment.restriction import normal_restriction
from stead_sym.deployment.semantics import each_call
from stead_sym.errors import DefinitionError, NoInitialState, SteadError, Undecided
from stead_sym.evidence.prefix import endless_evidence, refutation
from stead_sym.evidence.replay import replay as of_evidence
from stead_sym.logic.evaluate import holds
from stead_sym.logic.kernel import core
from stead_sym.verification.readings import answer
from stead_sym.verification.verify import verify


def sentences_of(deployment):
    """The specifications, and each as an invariant, at the next step, until another, at last, and as what can
    be, at once or always."""
    formulas_ = [spec.formula for spec in deployment.specs]
    for formula in formulas_:
        yield formula
        yield fo.Globally("A", formula)
        yield fo.Globally("A", fo.Next("A", formula))
        yield fo.Future("E", formula)
    for left, right in pairwise(formulas_):
        yield fo.Globally("A", fo.Until("A", left, right, weak=True))
        yield fo.Globally("A", fo.Implies(left, fo.Future("A", right)))
        yield fo.Globally("A", fo.Implies(left, fo.Future("E", right)))
        yield fo.Globally("A", fo.Implies(left, fo.Next("E", right)))
        yield fo.Globally("A", fo.Until("E", left, right))


def with_fair_events(deployment, *others):
    """The deployment with a constraint on each of its events, the ``others``, and none besides."""
    fair = (*(FairAction("event", e.name) for e in deployment.events if not e.stays), *others)
    return replace(deployment, written=replace(deployment.written, fair=(), fair_actions=fair), text=None)


CLERKS = """
deployment clerks
sort order
relation Open(order)
relation InHand(order)
relation Checked(order)
relation Bell()
init
  Open(o1)
  Open(o2)
  {first}
event take(o: order)
  guard {idle} & Open(o)
  effect
    insert InHand(o)
event ring()
  guard {bell}
  effect
    insert Bell()
tool look(o: order)
  guard InHand(o) & {unseen}
  effect
    insert Checked(o)
    delete Bell()
tool finish(o: order)
  guard InHand(o) & {seen}
  effect
    {gone}
    delete InHand(o)
tool wait()
agent checker
  tools look, {common} wait
  policy rules
    {one}
    call wait()
agent closer
  tools finish, look, wait
  policy rules
    {other}
    call wait()
{fair}
spec in_hand exists o. InHand(o)
spec open    exists o. Open(o) & ~InHand(o)
spec seen    forall o. (InHand(o) -> Checked(o))
spec bell    Bell()
"""
DRAWN = {
    "first": ["", "InHand(o1)", "InHand(o1) InHand(o2)"],
    "idle": ["~InHand(_)", "~InHand(o)", "true"],
    "bell": ["true", "~Bell()", "InHand(_)"],
    "unseen": ["true", "~Checked(o)", "Bell()"],
    "seen": ["true", "Checked(o)", "~Bell()"],
    "gone": ["delete Open(o)", "delete Checked(o)", "clear InHand"],
    "common": ["", "finish,"],
    "one": ["call look(o)", "call look(o) when ~Bell()", "call look(o) when Checked(o)"],
    "other": ["call finish(o)", "call finish(o) when Checked(o)", "call look(o)\n    call finish(o)"],
    "fair": [
        "",
        "fair agent",
        "fair agent checker",
        "fair agent closer",
        "fair strong agent",
        "fair event take\nfair agent",
    ],
}


def assert_law(deployment, agent="any"):
    """Nothing is shown that does not hold, and nothing refuted but by a run."""
    try:
        explored = verify(deployment, agent, [], engine="explicit", findings=False, max_states=400).explored
    except (DefinitionError, NoInitialState, Undecided):
        reject()
    if explored is None:  # a claim of the file is broken
        reject()
    local, few = Local.under(deployment, agent), few_records(deployment, agent)
    wrappers, restriction = wrap_all(deployment, agent), normal_restriction(deployment)
    for formula in map(deployment.formula, sentences_of(deployment)):
        opposite = dual(formula) if can_be_followed(deployment) else None
        asked, truth = (formula, True) if opposite is None else (opposite, False)
        how = local.shown(asked, refuting=few, negated=None if truth else formula)
        holds = answer(explored, formula).holds
        event(
            f"{'left open' if isinstance(how, str) else type(how).__name__}, {'holds' if holds else 'fails'}"
        )
        # A run that is found hides what would be shown without it.
        for one in (how, local.shown(asked)) if isinstance(how, Refuted) else (how,):
            assert not isinstance(one, Shown) or holds is truth, f"{formula}: {one}"
        if isinstance(how, Refuted):
            assert holds is not truth, f"{formula}: {how}"
            replay(deployment, restriction, wrappers, how.run)
            if how.run.loop is None:
                assert refutation(formula, how.run, how.known) is not None
            else:
                evidence = endless_evidence(formula, how.run, not truth)
                assert evidence is not None
                assert of_evidence(deployment, wrappers, evidence).complete


def test_a_choice_that_depends_on_a_fresh_value():
    """Whether it finds a value is no sentence; nothing is said to be surely possible then."""
    deployment = parse_deployment(
        "deployment d\nsort a\nsort m = { one, two }\nrelation P(a)\nrelation Q(a)\nbound a 1\n"
        "tool come()\n  effect\n    delete P(_)\n    fresh v: a\n    choose w: m where Q(v) | w = two\n"
        "    insert P(v)\ntool rest()\nspec s EX AF EG P(_)\nspec t EX EX P(_)\n"
    )
    explored = verify(deployment, "any", engine="explicit", findings=False).verdicts
    for name, verdict in localise(deployment, "any", [*explored]).verdicts.items():
        assert verdict.holds in (None, explored[name].holds), name


@settings(max_examples=examples(60, quick=8))
@given(workflows())
def test_workflows(deployment):
    assert_law(deployment)


@settings(max_examples=examples(60, quick=8))
@given(deployments())
def test_deployments(deployment):
    assert_law(deployment)


@settings(max_examples=examples(200, quick=15))
@given(st.integers(0, 10**6))
def test_statements_about_many_records(seed):
    assert_law(parse_deployment(Bulk(seed).text()))


@settings(max_examples=examples(20, quick=3))
@given(st.integers(0, 10**6))
def test_integers(seed):
    """Numerals that no sort lists are among them, and sums that leave a sort."""
    try:
        deployment = parse_deployment(integer_deployment(seed))
    except SteadError:
        reject()
    assert_law(deployment)


def test_a_numeral_that_no_sort_lists():
    """No call is made with it, and it may stand in what is followed."""
    deployment = parse_deployment(
        "deployment d\nsort m = 0..2\nrelation L(m)\nrelation G()\ninit\n  L(0)\ntool t()\n  effect\n"
        "    insert L(1)\ntool u()\n  guard exists x: m. (L(x) & x > 5)\n  effect\n    insert G()\n"
        "spec small AG exists x: m. (L(x) & x < 5)\nspec sum AG ~L(4 + 0)\nspec none AG ~G()\n"
        "spec other EF exists x: m. (L(x) & x + 1 = 4)\n"
    )
    explored = verify(deployment, "any", engine="explicit", findings=False).verdicts
    found = localise(deployment, "any").verdicts
    assert found["small"].holds is True
    for name, verdict in found.items():
        assert verdict.holds in (None, explored[name].holds), name


@settings(max_examples=examples(60, quick=5))
@given(workflows())
def test_fair_events(deployment):
    assert_law(with_fair_events(deployment))


@settings(max_examples=examples(60, quick=5))
@given(workflows())
def test_fair_agents(deployment):
    assert_law(with_fair_events(deployment, FairAction("agent")))


@settings(max_examples=examples(60, quick=6))
@given(st.integers(0, 10**6))
def test_fair_agents_with_tools_in_common(seed):
    """Two agents share each tool with one draw in two; their rules say which of them may make a call."""
    draw = Random(seed)
    deployment = parse_deployment(CLERKS.format(**{key: draw.choice(lines) for key, lines in DRAWN.items()}))
    agents = {role.name: draw.choice(["any", "rules"]) for role in deployment.agents}
    assert_law(deployment, agents)


@settings(max_examples=examples(30, quick=4))
@given(st.integers(0, 10**6), st.booleans())
def test_agents_that_are_many(seed, listed):
    """A policy of many is followed as guards, in which `self` is the parameter of the tool."""
    deployment = parse_deployment(crew(seed, listed=listed).many)
    agents = {role.name: "any" if role.name == "boss" else "p" for role in deployment.agents}
    assert_law(deployment, agents)


@settings(max_examples=examples(60))
@given(st.one_of(past_workflows(), refused_workflows(), messages(past=True)))
def test_steps_and_the_past(deployment):
    """The method as users call it, where formulas speak of what is kept beside the database."""
    asked = [*sentences_of(deployment)]
    try:
        verdicts = verify(
            deployment, "any", asked, engine="explicit", findings=False, max_states=400
        ).verdicts
    except (DefinitionError, NoInitialState, Undecided):
        reject()
    local = localise(deployment, {role.name: "any" for role in deployment.agents}, asked)
    wrappers = wrap_all(local.deployment, "any")
    for name, verdict in local.verdicts.items():
        event(f"{verdict.holds}")
        assert verdict.holds is None or verdicts[name].holds in (None, verdict.holds), name
        if verdict.evidence is not None and name not in local.shown:
            assert of_evidence(local.deployment, wrappers, verdict.evidence).confirmed


of_many_records = st.integers(0, 10**6).map(lambda seed: parse_deployment(Bulk(seed).text()))
ALIKE = """
deployment alike
sort a
sort b
relation P(a)
relation Q(a)
relation R(a, b)
relation S(b)
relation U(a)
relation V(a)
init
  P(a1)
  P(a2)
  R(a1, b1)
  S(b1)
tool mark(x: a, y: a)
  guard R(x, _)
  effect
    insert P(x) for z: b where R(y, z) & S(z)
tool exchange(x: a, y: a)
  guard P(y)
  effect
    delete P(x)
tool pass(x: a, y: a)
  guard Q(y)
  effect
    delete P(x)
    insert P(y) where R(x, _)
tool clear(x: a, y: a)
  guard R(x, _) | Q(y)
  effect
    delete Q(x)
    delete P(y) where exists v: b. (S(v) | Q(y))
tool part(x: a, y: a)
  effect
    insert Q(x) where U(x)
    delete P(y) where V(y)
event come(x: a, z: b)
  guard P(x)
  effect
    insert Q(x)
    insert R(x, z)
    insert S(z)
    insert U(x)
    insert V(x)
event go(x: a, z: b)
  effect
    delete R(x, z)
    delete Q(x)
    delete S(z)
spec some   exists x. P(x)
spec many   forall x. (Q(x) -> exists y. (P(y) & R(y, _)))
spec both   exists x. (P(x) & (Q(x) | exists z: b. (R(x, z) & S(z))))
spec apart  P(a1) | exists y. (P(y) & ~Q(y))
spec either Q(a1) | exists x. P(x)
spec about  exists z: b. (S(z) | P(a1))
"""


@settings(max_examples=examples(100, quick=40))
@given(st.one_of(of_many_records, workflows(), deployments()), st.integers(0, 10**6))
@example(parse_deployment(ALIKE), 1)
def test_a_formula_is_looked_up_where_all_that_decides_it_is_the_same(deployment, seed):
    field = Field(deployment, Start(deployment, {sort.name: () for sort in deployment.schema.sorts}))
    draw, tools = Random(seed), deployment.tools_and_events
    of_sort = field.restriction.values
    given = [
        (core(guard), {param.name: draw.choice(of_sort[param.sort]) for param in tool.params})
        for tool in tools
        for guard in (tool.guard, fo.Not(tool.guard))
        if all(of_sort[param.sort] for param in tool.params)
        for _ in range(8)
    ]
    given += [(core(spec.formula), {}) for spec in deployment.specs if not fo.is_temporal(spec.formula)]
    state = field.initial
    for _ in range(20):
        for formula, values in given:
            assert field.holds(formula, state, values) == holds(formula, state, values)
        after = [
            one
            for tool in tools
            for call in each_call(deployment, tool, state, {})
            for by in range(len(tool.effects))
            for one in field.after(call, state, by)
        ]
        if not after:
            break
        state = draw.choice(after)


@settings(max_examples=examples(100, quick=12))
@given(st.one_of(of_many_records, workflows(), deployments()))
@example(parse_deployment(ALIKE))
def test_what_is_kept_of_one_step_is_what_another_makes_of_a_sentence(deployment):
    once, compared = After._once, []

    def both(after, sentence, to, compute):
        kept = once(after, sentence, to, compute)
        compared.append(kept == compute())
        return kept

    with patch.object(After, "_once", both):
        local = Local.under(deployment)
        for spec in deployment.specs:
            local.shown(fo.Globally("A", spec.formula))
    assert all(compared)
    event("some sentences" if compared else "none")
