"""Raising bounds: what a fragment shows is so in the deployment, and no reason to say that it holds."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache

import pytest
from hypothesis import assume, event, given, reject, settings
from hypothesis import strategies as hs

import stead_sym as st
from engine_pairs import examples
from generated.deployments import deployments
from generated.mortality import mortal_deployments
from generated.workflows import workflows
from stead_sym.analyses.deepening.deepen import deepen
from stead_sym.analyses.deepening.fragment import fragment, leaping
from stead_sym.analyses.deepening.result import Deepening, Found
from stead_sym.deployment.deployment import print_deployment
from stead_sym.deployment.parts import Spec
from stead_sym.errors import DefinitionError, InputError, Undecided
from stead_sym.evidence.data import evidence_data, text_digest
from stead_sym.evidence.reading import read_evidence
from stead_sym.evidence.recorded import recorded_wrappers
from stead_sym.evidence.replay import replay
from stead_sym.verification.options import EngineName
from whole import verify

GROWING = """
deployment growing
sort item
relation Held(item)
init
tool take()
  effect
    fresh x: item
    insert Held(x)
{more}
spec asked {spec}
"""


def growing(spec: str, more: str = "") -> st.Deployment:
    return st.parse_deployment(GROWING.format(spec=spec, more=more))


def answer(found: Deepening, spec: str = "asked") -> tuple[str, bool, int | None]:
    """The verdict, whether the specification is shown to be true, and the bound that shows either."""
    one = found.found[spec]
    return one.verdict.word, one.shown, None if one.within is None else max(one.within.values())


AT_LEAST = "atleast {} x. Held(x)"


ONLY_RUN = [
    ("AG ~(atleast 3 x. Held(x))", ("fails", False, 3)),
    ("EF atleast 3 x. Held(x)", ("unknown", True, 3)),
    (
        "AF atleast 3 x. Held(x)",
        ("unknown", True, 3),
    ),  # the boundary is no end: within 2 nothing is shown
    ("EG ~(atleast 3 x. Held(x))", ("fails", False, 3)),
    ("AG ((atleast 2 x. Held(x)) -> AX atleast 3 x. Held(x))", ("unknown", False, None)),
    ("AG ((atleast 2 x. Held(x)) -> AX atmost 2 x. Held(x))", ("fails", False, 3)),
    ("AX AX AX atleast 3 x. Held(x)", ("unknown", True, 3)),
    ("A[(atmost 3 x. Held(x)) W atleast 5 x. Held(x)]", ("fails", False, 4)),
    ("A[(atmost 3 x. Held(x)) U atleast 4 x. Held(x)]", ("unknown", True, 4)),
    ("E[(atmost 3 x. Held(x)) U atleast 5 x. Held(x)]", ("fails", False, 4)),
    ("EG exists x. Held(x)", ("fails", False, 0)),
    ("AG EF ~exists x. Held(x)", ("unknown", False, None)),  # false, but only all runs show it
    ("AG EX true", ("unknown", False, None)),
    # what stands negatively is read the other way: nothing of this is so
    ("EF ((atleast 2 x. Held(x)) & ~AX atleast 3 x. Held(x))", ("unknown", False, None)),
    ("EF ((atleast 2 x. Held(x)) & ((AX atleast 3 x. Held(x)) -> false))", ("unknown", False, None)),
    ("EF ((atleast 2 x. Held(x)) & ((AX atleast 3 x. Held(x)) <-> false))", ("unknown", False, None)),
    ("EF ((atleast 2 x. Held(x)) & atmost 1 x. AX Held(x))", ("unknown", False, None)),
    ("EF ((atleast 2 x. Held(x)) & exactly 0 x. AX Held(x))", ("unknown", False, None)),
    ("AF ((AX atleast 3 x. Held(x)) <-> (atleast 2 x. Held(x)))", ("unknown", True, 1)),
    ("AG ((AX atleast 3 x. Held(x)) <-> (atleast 3 x. Held(x)))", ("fails", False, 3)),
    ("AG ((atleast 3 x. Held(x)) <-> (AX atleast 3 x. Held(x)))", ("fails", False, 3)),
    ("AG exactly 0 x. AX Held(x)", ("fails", False, 2)),
    ("AG atmost 1 x. AX Held(x)", ("fails", False, 3)),
    ("AF (exactly 2 x. AX Held(x))", ("unknown", True, 3)),
    ("EF ((atleast 2 x. Held(x)) & atmost 0 x. EX ~Held(x))", ("unknown", True, 3)),
    ("AG ((atleast 2 x. Held(x)) -> atleast 1 x. EX ~Held(x))", ("fails", False, 3)),
    ("AG forall x. Held(x) -> AX Held(x)", ("holds", False, None)),  # for every number
    ("~EF atleast 3 x. Held(x)", ("fails", False, 3)),
]
"""The verdicts on the one run, within 5 records at most."""


@cache
def of_the_only_run(engine: EngineName) -> Deepening:
    """All of it is asked at once: one answer does not depend on what else is asked."""
    first, *others = (spec for spec, _ in ONLY_RUN)
    specs = "\n".join([first, *(f"spec asked{number} {spec}" for number, spec in enumerate(others, 1))])
    return deepen(growing(specs), limit=5, engine=engine)


@pytest.mark.parametrize("engine", ["symbolic", "explicit"])
@pytest.mark.parametrize("number", range(len(ONLY_RUN)), ids=[spec for spec, _ in ONLY_RUN])
def test_what_the_only_run_shows(number: int, engine: EngineName) -> None:
    assert answer(of_the_only_run(engine), f"asked{number or ''}") == ONLY_RUN[number][1]


def test_a_claim_about_all_runs_transfers_where_they_stay_within() -> None:
    """After `stop` nothing comes in any more: that something can always leave is refuted within the bound."""
    more = """
relation Stopped()
tool stop()
  guard ~Stopped() & exactly 2 x. Held(x)
  effect insert Stopped()
tool rest()
  guard Stopped()
"""
    text = str(growing("AG EF ~exists x. Held(x)", more)).replace(
        "tool take()", "tool take()\n  guard ~Stopped()"
    )
    found = deepen(st.parse_deployment(text), limit=5)
    assert answer(found) == ("fails", False, 2)
    trace = found["asked"].trace
    assert trace is not None
    assert [step.call.tool for step in trace.steps] == ["take", "take", "stop"]


@pytest.mark.parametrize("fair", ["Held(_) & Ready()", "exactly 2 x. Held(x)", "Ready()"])
@pytest.mark.parametrize("spec", ["AG ~(exactly 2 x. Held(x))", "AF Ready()", "EX exists x. Held(x)"])
def test_fairness_within_and_beyond(fair: str, spec: str) -> None:
    """What is found under fairness constraints is what the bounded deployment says."""
    more = f"""
bound item 3
relation Ready()
tool flip()
  effect
    insert Ready() where ~Ready()
    delete Ready() where Ready()
fair {fair}
"""
    text = str(growing(spec, more)).replace("tool take()", "tool take()\n  guard atmost 2 x. Held(x)")
    agree(st.parse_deployment(text), "any")


def written_down(deployment: st.Deployment, name: str, one: Found) -> None:
    """The evidence, read back from what is written of it, is confirmed by the semantics alone."""
    assert one.verdict.evidence is not None
    assert one.moves is not None
    data = evidence_data(name, str(one.verdict.formula), one.verdict.evidence, one.moves)
    written = read_evidence(deployment, json.loads(json.dumps(data)), "evidence")
    assert (written.digest, written.bounds) == (text_digest(deployment), one.within)
    wrappers = recorded_wrappers(deployment, written.agents)
    assert replay(deployment, wrappers, written.evidence, written.bounds).confirmed


def agree(deployment: st.Deployment, agent: str, limit: int = 6) -> Deepening:
    """Whatever deepening finds is so, and at the end of a bounded deployment all is found."""
    exact = verify(deployment, agent, findings=False)
    found = deepen(deployment, agent, limit=limit)
    for name, one in found.found.items():
        assert one.verdict.word in ("fails", "unknown")
        truth = exact[name].holds
        if one.verdict.holds is False:
            assert truth is False, (name, one.within)
        if one.shown:
            assert truth is True, (name, one.within)
        if one.decided:
            written_down(deployment, name, one)
        leaps = any(e.is_ensure for tool in deployment.tools_and_events for e in tool.effects)
        if found.established and truth is not None and not leaps:
            assert one.decided, name
    if found.established:
        text = print_deployment(deployment).splitlines()
        written = [line for line in text if not line.startswith("bound ")]
        kept = st.verify(st.parse_deployment("\n".join([*written, *found.lines])), agent, findings=False)
        assert {name: v.holds for name, v in kept.verdicts.items()} == {
            n: v.holds for n, v in exact.verdicts.items()
        }
    return found


BROKEN = """
deployment desk
sort order, person
sort state = {{ new, done }} rigid
relation State(order key, state)
relation Person(person key)
relation Owner(order key, person references Person)
relation Ended()
bound order any
bound person any
tool begin()
  guard ~Ended() & ~exists o. State(o, _)
  effect
    fresh o: order
    insert State(o, new)
{more}
spec never_done AG ~exists o. State(o, done)
spec never_owned AG ~exists o. Owner(o, _)
spec known AG forall o. (State(o, _) -> State(o, new) | State(o, done))
spec ends AF Ended()
"""

BREAKING = [
    (
        "key of State",
        "tool finish(o: order)\n  guard State(o, new)\n  effect\n    insert State(o, done)",
    ),
    (
        "Owner.2 references Person",
        "tool own(o: order)\n  guard State(o, new)\n  effect\n    fresh p: person\n    insert Owner(o, p)",
    ),
    (
        "a step is possible",
        "tool end(o: order)\n  guard State(o, new) & ~Ended()\n  effect\n    insert Ended()",
    ),
    (
        "finish has an effect",
        "tool finish(o: order)\n  guard State(o, _)\n  effect when State(o, new)\n    set State(o, done)",
    ),
]


@pytest.mark.parametrize("engine", ["symbolic", "explicit"])
@pytest.mark.parametrize(("claim", "more"), BREAKING, ids=[claim for claim, _ in BREAKING])
def test_a_claim_that_a_run_breaks_fails_as_in_a_verification(
    claim: str, more: str, engine: EngineName
) -> None:
    """The run is one of the deployment; nothing else is known of what was not refuted or shown."""
    deployment = st.parse_deployment(BROKEN.format(more=more))
    seen: list[Deepening] = []
    found = deepen(deployment, engine=engine, told=seen.append)
    assert found.broken == seen[-1].broken == claim
    first = next(iter(found.found.values()))
    whole = st.verify(deployment.within({"order": 1, "person": 1}), engine=engine)
    assert whole[claim].holds is found[claim].holds is False
    assert first.verdict is found[claim]
    assert found[claim].claim
    assert found[claim].formula == whole[claim].formula
    for one in found.found.values():
        if one.verdict.holds is False:
            assert one.verdict.evidence is not None
            assert replay(deployment, found.wrappers, one.verdict.evidence, one.within).confirmed
        elif one.verdict.holds is None:
            assert f"`{claim}` fails, and with the run that breaks it" in one.verdict.reason
        else:
            assert one.every_number is not None
            assert claim in one.every_number.left_open
    assert (found["never_done"].holds is False) == claim.endswith(("key of State", "an effect"))
    assert not found.established


def test_what_is_shown_without_a_broken_claim_holds() -> None:
    """A slice without the key says what is always so, and that the key is not shown."""
    deployment = st.parse_deployment(BROKEN.format(more=BREAKING[0][1]))
    found = deepen(deployment)
    assert found["never_owned"].holds
    assert found["known"].holds is None
    assert "explored until `key of State` was broken" in str(found)


def agree_if_sound(deployment: st.Deployment, agent: str) -> None:
    try:
        found = agree(deployment, agent)
    except (DefinitionError, InputError, Undecided):
        reject()
    event(f"{len(found.rounds)} rounds")
    for one in found.found.values():
        early = one.within not in (None, found.bounds) or not found.established
        event(f"{'shown' if one.shown else one.verdict.word}{' early' * early}")


AGENTS = hs.sampled_from(("any", "p"))


@settings(max_examples=examples(60, quick=8))
@given(deployments(specs=3), AGENTS)
def test_generated_deployments(deployment: st.Deployment, agent: str) -> None:
    agree_if_sound(deployment, agent)


@settings(max_examples=examples(30, quick=4))
@given(mortal_deployments(bound=3))
def test_generated_deployments_with_held_values(deployment: st.Deployment) -> None:
    agree_if_sound(deployment, "any")


@settings(max_examples=examples(40, quick=5))
@given(workflows(specs=3, depth=3), AGENTS)
def test_generated_workflows(deployment: st.Deployment, agent: str) -> None:
    agree_if_sound(deployment, agent)


@dataclass(frozen=True)
class Planted:
    """A deployment that grows for ever, and the least bound at which its violation shows."""

    deployment: st.Deployment
    least: int


@hs.composite
def planted(draw: hs.DrawFn) -> Planted:
    """Items come in by ``batch`` at a time; the violation needs ``needed`` of them at once, or as many as the
    batches make; it may need further steps, and other things happen beside."""
    batch = draw(hs.integers(1, 3))
    needed = draw(hs.integers(1, 3))
    drops, other = draw(hs.booleans()), draw(hs.booleans())
    steps = draw(hs.integers(0, 2))
    relations = {"Held": "item", "Bad": "", **{f"Step{k}": "" for k in range(steps)}}
    least = max(needed, batch) if drops else -(-needed // batch) * batch
    tools = [
        st.tool("rest"),
        st.tool(
            "take",
            effect="\n".join(
                [*(f"fresh x{k}: item" for k in range(batch)), *(f"insert Held(x{k})" for k in range(batch))]
            ),
        ),
    ]
    if drops:
        tools.append(st.tool("drop", "x: item", guard="Held(x)", effect="delete Held(x)"))
    if other:
        relations |= {"Note": "page, item"}
        tools.append(
            st.tool(
                "note",
                "x: item",
                guard="Held(x) & atmost 1 p: page. true",
                effect="fresh p: page\ninsert Note(p, x)",
            )
        )
    ready = "true"
    for k in range(steps):
        tools.append(st.tool(f"step{k}", guard=ready, effect=f"insert Step{k}()"))
        ready = f"Step{k}()"
    exactly = draw(st_comparison) if drops or least == needed else "atleast"
    tools.append(st.tool("break", guard=f"({exactly} {needed} x. Held(x)) & {ready}", effect="insert Bad()"))
    form = draw(hs.sampled_from(("AG ~Bad()", "~EF Bad()", "A[~Bad() W false]", "AG AX ~Bad()")))
    deployment = st.build_deployment(
        "planted",
        sorts={"item": None, **({"page": None} if other else {})},
        relations=relations,
        tools=tools,
        specs={"asked": form, "kept": "AG (Bad() -> Bad())"},
    )
    return Planted(deployment, least)


st_comparison = hs.sampled_from(("atleast", "exactly"))


@settings(max_examples=examples(20))
@given(planted())
def test_a_planted_violation_is_found_at_its_least_bound(case: Planted) -> None:
    found = deepen(case.deployment, limit=case.least + 1)
    assert found.found["asked"].verdict.word == "fails"
    within = found.found["asked"].within
    assert within is not None
    assert within["item"] == case.least
    assert found["kept"].word != "fails"
    assume(case.least > 1)
    early = deepen(case.deployment, limit=case.least - 1)
    assert early["asked"].word == "unknown"
    assert early["kept"].word != "fails"


def test_two_sorts_that_grow_are_raised_together() -> None:
    text = """
deployment two
sort box, item
relation Box(box)
relation In(item, box)
tool rest()
tool open()
  effect
    fresh b: box
    insert Box(b)
tool put(b: box)
  guard atleast 2 c. Box(c)
  effect
    fresh x: item
    insert In(x, b)
spec asked AG ~atleast 3 x. exists b. In(x, b)
"""
    found = deepen(st.parse_deployment(text), limit=4)
    assert answer(found) == ("fails", False, 3)
    assert all(max(one.bounds.values()) <= 3 for one in found.rounds)


def test_bounds_are_raised_from_0_whatever_the_file_says() -> None:
    found = deepen(growing("AG ~(atleast 1 x. Held(x))", "bound item 3"), limit=5)
    assert answer(found) == ("fails", False, 1)


def test_no_sort_is_raised_past_one_that_has_just_begun_to_grow() -> None:
    text = """
deployment two
sort box, item
relation Box(box)
relation In(item, box)
tool open()
  effect
    fresh b: box
    insert Box(b)
tool put(b: box)
  effect
    fresh x: item
    insert In(x, b)
spec asked AG ~exists x, b. In(x, b)
"""
    assert deepen(st.parse_deployment(text), limit=3).found["asked"].within == {"box": 1, "item": 1}


def test_any_initial_database_is_one_of_the_deployment() -> None:
    """D0 has at most as many values as the file says, however far the bounds are raised."""
    text = """
deployment given
sort item
relation Held(item)
bound item 1
initially any Held
tool rest()
tool take()
  effect
    fresh x: item
    insert Held(x)
spec asked atmost 1 x. Held(x)
spec grows AG atmost 2 x. Held(x)
"""
    deployment = st.parse_deployment(text)
    found = deepen(deployment, limit=4)
    assert answer(found) == ("unknown", True, 1)
    assert answer(found, "grows") == ("fails", False, 3)
    written_down(deployment, "grows", found.found["grows"])
    begun = deepen(st.parse_deployment(text.replace("bound item 1", "bound item 2")), specs=["asked"])[
        "asked"
    ]
    assert begun.evidence is not None
    wrappers = {"": None}
    assert "is no initial state" in replay(deployment, wrappers, begun.evidence, {"item": 2}).fault


def test_a_formula_in_the_place_of_an_effect_is_followed_within_the_bounds() -> None:
    more = """
tool leap()
  effect
    ensure atleast 2 x. Held'(x)
"""
    found = deepen(growing("AG ~(atleast 2 x. Held(x))", more), limit=3)
    assert answer(found) == ("fails", False, 2)
    # of all runs nothing is sure: a leap to three values from none is not seen within the bound 1
    assert answer(deepen(growing("AX exactly 1 x. Held(x)", more), limit=3)) == ("fails", False, 2)
    assert answer(deepen(growing("AX exists x. Held(x)", more), limit=3))[0] == "unknown"


def test_a_leap_that_is_not_seen_leaves_nothing_sure_about_all_runs() -> None:
    text = """
deployment leaping
sort item
relation Held(item)
init
tool leap()
  effect
  effect
    ensure atleast 3 x. Held'(x)
spec asked AG ~exists x. Held(x)
spec stays EF ~exists x. Held(x)
"""
    found = deepen(st.parse_deployment(text), limit=1)
    assert answer(found) == ("unknown", False, None)
    assert answer(found, "stays") == ("unknown", True, 0)


LEAPS = """
deployment leaping
sort item
relation Held(item)
relation On()
init
tool rest()
{more}
spec never AG ~exists x. Held(x)
spec three AG ~atleast 3 x. Held(x)
"""


@pytest.mark.parametrize("alternative", [True, False])
@pytest.mark.parametrize(
    ("formula", "never", "three"),
    [
        ("exactly 3 x. Held'(x)", 3, 3),
        ("(atmost 3 x. Held'(x)) & ~(atmost 2 x. Held'(x))", 3, 3),
        (
            "exists x, y, z. Held'(x) & Held'(y) & Held'(z) & x != y & y != z & x != z"
            " & forall u. Held'(u) -> u = x | u = y | u = z",
            3,
            3,
        ),
        ("(forall x. Held(x) -> Held'(x)) & exactly 2 x. Held'(x) & ~Held(x)", 2, 4),
        ("~(atmost 2 x. Held'(x))", 3, 3),
        ("~exactly 0 x. Held'(x) & atleast 3 x. Held'(x)", 3, 3),
        ("(atleast 2 x. Held'(x)) <-> true", 2, 3),
        ("atleast 9 x. Held'(x)", None, None),
        ("~exists x, y, z. Held'(x) | Held'(y) | Held'(z)", None, None),
    ],
)
def test_a_leap_of_several_values_is_found_at_its_least_bound(
    formula: str, never: int | None, three: int | None, alternative: bool
) -> None:
    """Whether the tool has another effect, with which the formula can be passed over, or none."""
    more = f"tool leap()\n{'  effect' * alternative}\n  effect\n    ensure ({formula}) & same(On)"
    found = deepen(st.parse_deployment(LEAPS.format(more=more)), limit=4)
    for spec, least in (("never", never), ("three", three)):
        assert answer(found, spec) == (("unknown", False, None) if least is None else ("fails", False, least))


@pytest.mark.parametrize("engine", ["symbolic", "explicit"])
def test_the_least_bounds_are_said_where_a_formula_was_looked_at_further(engine: EngineName) -> None:
    more = "tool leap()\n  effect\n    ensure (exactly 2 x. Held'(x)) & same(On)"
    found = deepen(st.parse_deployment(LEAPS.format(more=more)), specs=["three"], engine=engine, limit=4)
    assert found.bounds == {"item": 2}
    assert found.lines == ("bound item 2",)
    assert "no run exceeds item 2" in found["three"].reason


def test_a_formula_that_is_not_followed_hides_nothing_else() -> None:
    """What other tools do is seen at each bound, also at those at which the formula leads nowhere."""
    more = """
tool take()
  guard ~exists x. Held(x)
  effect
    fresh x: item
    insert Held(x)
tool leap()
  effect
    ensure exactly 4 x. Held'(x)
"""
    found = deepen(st.parse_deployment(LEAPS.format(more=more)), limit=4)
    assert answer(found, "never") == ("fails", False, 1)
    assert answer(found, "three") == ("fails", False, 4)
    assert (
        "may bring in more of item at once"
        in deepen(st.parse_deployment(LEAPS.format(more=more)), specs=["three"], limit=2)["three"].reason
    )


def test_an_agent_is_not_shown_that_a_formula_was_not_followed() -> None:
    seen: list[st.DecisionContext] = []

    def leaps(context: st.DecisionContext) -> st.Call:
        seen.append(context)
        return min(context.calls)

    more = "tool leap()\n  effect\n    ensure (exactly 2 x. Held'(x)) & same(On)"
    desk = st.parse_deployment(LEAPS.format(more=more))
    for agent in (leaps, st.CanonicalWrapper(st.agents.FunctionAgent(leaps), desk.schema, desk.tools)):
        found = deepen(desk, agent, limit=3)
        assert answer(found, "never") == ("fails", False, 2)
        written_down(desk, "never", found.found["never"])
    assert {fact.relation for context in seen for fact in context.view} <= {"Held"}


def test_bounds_that_are_kept_are_said_and_nothing_holds_by_them() -> None:
    found = deepen(st.load("refund"), "approving")
    assert found.established
    assert found.lines == ("bound case 1", "bound task 1")
    assert found["prog"].word == "unknown"
    assert found["prog"].reason.endswith("for a verdict write that into the file")
    assert found["auth"].scope[0] == "for every number of case and task (2-views: 43 of them)"


def test_an_agent_is_asked_once_for_each_context() -> None:
    asked: list[st.DecisionContext] = []

    def takes(context: st.DecisionContext) -> st.Call:
        asked.append(context)
        return min(context.calls)

    desk = st.load("refund")
    st.verify(desk, takes, ["prog"])
    alone = len(asked)
    deepen(desk, takes, ["prog"])
    assert len(asked) == 2 * alone


def test_finite_sorts_have_no_bound_to_raise() -> None:
    with pytest.raises(InputError, match="every sort is finite"):
        deepen(st.parse_deployment("deployment d\nrelation On()\ninit\ntool rest()\nspec s AG true"))


def test_the_limit_is_a_number() -> None:
    with pytest.raises(InputError, match="at least 1"):
        deepen(replace(st.load("refund")), limit=0)


OPEN = """
deployment open_start
sort item
relation Held(item)
relation Full()
bound item 2
initially any Held
tool take()
  guard ~Full()
  effect
    fresh x: item
    insert Held(x)
    insert Full()
tool drop(x: item)
  guard Held(x)
  effect
    delete Held(x)
tool wait()
spec first atmost 1 x. Held(x)
spec first_too ~(atmost 1 x. Held(x)) -> EX atleast 3 x. Held(x)
spec next AX atmost 2 x. Held(x)
spec never AG atmost 2 x. Held(x)
spec three AG atmost 3 x. Held(x)
spec empties AG EF ~exists x. Held(x)
spec one_by_one forall x. Held(x) -> E[Held(x) U Full()]
spec again forall x. AG (~Held(x) -> EF Held(x))
spec kept exists x. EG Held(x)
"""


@pytest.mark.parametrize("fair", ["", "fair Full()\n"])
@pytest.mark.parametrize("b", range(4))
def test_an_initial_database_past_the_bounds(b: int, fair: str) -> None:
    """Its fragment has it too, and nothing that is to come of it is sure there."""
    deployment = st.parse_deployment(OPEN + fair)
    wider = f"bound item 3\ninitially any Held where atmost 2 x: item. true\n{fair}"
    exact = st.verify(st.parse_deployment(OPEN.replace("bound item 2\n", "") + wider), findings=False)
    part = fragment(leaping(deployment), {"item": b})
    specs = tuple(
        Spec(f"{kind} {spec.name}", getattr(part, kind)(spec.formula))
        for spec in deployment.specs
        for kind in ("sure", "possible")
    )
    written = replace(part.deployment.written, specs=specs)
    found = st.verify(replace(part.deployment, written=written), findings=False)
    for spec in deployment.specs:
        sure, possible = found[f"sure {spec.name}"].holds, found[f"possible {spec.name}"].holds
        assert sure <= exact[spec.name].holds <= possible, spec.name
        assert b < 3 or sure == possible, spec.name


def test_bounds_for_the_file_leave_the_initial_databases_as_they_are() -> None:
    found = deepen(st.parse_deployment(OPEN), specs=["never", "three"])
    assert found.lines == ("bound item 3", "initially any Held where atmost 2 x: item. true")
    written = OPEN.replace("bound item 2", "\n".join(found.lines))
    assert st.verify(st.parse_deployment(written))["three"].holds
