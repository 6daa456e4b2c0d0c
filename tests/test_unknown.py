"""A verdict is `unknown` exactly where a hypothesis that it needs is missing, whichever way it is asked for.

What is missing is put in on purpose, and known here without asking the audit: an agent that means the
offered calls too little, answers differently when it is asked again or knows what is no constant, a domain
that is too small, no wrapper, a formula of `ensure` that may lead anywhere, a claim that is broken, `fair`
lines that no run meets.
"""

import math
from dataclasses import dataclass

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as hs

import stead_sym as st
from engine_pairs import examples
from generated.workflows import workflows
from stead_sym.agents.records.possible import Branching
from stead_sym.agents.records.said import Samples, Unforced
from stead_sym.analyses.sweeps.run import Run
from stead_sym.analyses.sweeps.work import carry_out
from stead_sym.errors import InputError
from stead_sym.verification.readings import answer

FEW = 160
MODES = ({}, {"domain": "theorem"}, {"engine": "explicit"})
PHRASES = {
    "means the offered calls": ("less of its probability than is asked for", "how likely it writes"),
    "answers alike": ("answers differently when it is asked again",),
    "is equivariant": ("nothing carries over without the wrapper",),
    "the domain is large enough": ("on the forced domain",),
    "bounded": ("whether t exceeds a bound is not decided", "has ended"),
    "fairness leaves nothing out": ("it asks for a fair run",),
}
"""The words of a reason that names a hypothesis, which is given by the end of its name."""


def decoded(mass, known=True):
    """The log-probabilities of two tokens that have this much together."""
    node = Branching((), (1, 2), (math.log(mass / 2),) * 2)
    return st.agents.Decoding(
        (node,), st.agents.Greedy(), Unforced(1, 1, logprob=math.log(mass / 2)) if known else None
    )


def samples(context):
    first, *others = sorted(context.calls)
    return Samples((st.Given((first,)), st.Given((others[0] if others else first,))))


@dataclass(frozen=True)
class Keeping:
    """Takes the first call, and has a record of each decision."""

    kind: str
    name: str = "keeping"

    def select(self, contexts):
        return [frozenset({min(context.calls)}) for context in contexts]

    def answer(self, context):
        said = {
            "heavy": lambda: decoded(0.9),
            "light": lambda: decoded(0.2),
            "partly": lambda: decoded(0.9, known=False),
            "unsteady": lambda: samples(context),
        }[self.kind]()
        return st.agents.Answer("", (), "", (), said, frozenset({min(context.calls)}), {}, {}, "")


def given_agent(kind, deployment, role):
    if kind == "any":
        return "any"
    if kind == "knowing":
        constants = {"stranger": deployment.schema.sorts[0].name}
        return st.CanonicalWrapper(Keeping("heavy"), deployment.schema, deployment.tools_of(role), constants)
    return Keeping(kind)


KINDS = hs.sampled_from(("any", "heavy", "light", "partly", "unsteady", "knowing"))


def put_in(result, kinds, options):
    """The hypotheses that are missing, as they were put in."""
    for role, kind in kinds.items():
        who = f"agent {role}" if role else "the agent"
        met = [context for context, _ in result.agents[role].decisions]
        if options.get("min_mass") and kind in ("light", "partly") and met:
            yield f"{who} means the offered calls"
        if kind == "unsteady" and any(len(context.calls) > 1 for context in met):
            yield f"{who} answers alike"
        named = {sort: len(values) for sort, values in result.deployment.constants.items()}
        apart = not options.get("wrapped", True) and result.domain != named
        if kind == "knowing" or (apart and kind != "any"):
            yield f"{who} is equivariant"
    if any(one.size < one.required for one in result.restriction.derivation.values()):
        yield "the domain is large enough"


def assert_law(verdict, needed, found, hypotheses):
    """`unknown` exactly where one of the ``needed`` hypotheses is missing, which the reason names; else what
    was ``found``."""
    assert (verdict.holds is None) == bool(needed)
    assert {one.name for one in hypotheses.missing} >= needed
    if not needed:
        assert verdict.holds is found
        return
    phrases = [p for name in needed for end, of in PHRASES.items() if name.endswith(end) for p in of]
    assert any(phrase in verdict.reason for phrase in phrases)
    assert found is None or verdict.reason.startswith(f"it {'holds' if found else 'fails'} ")
    assert verdict.scope == ()
    assert verdict.said == "unknown"


@settings(max_examples=examples(FEW))
@given(workflows(specs=2, depth=2, max_actions=3), hs.data())
def test_generated_verdicts_are_unknown_exactly_where_something_is_missing(deployment, data):
    kinds = {role.name: data.draw(KINDS) for role in deployment.agents}
    agents = {role.name: given_agent(kinds[role.name], deployment, role) for role in deployment.agents}
    options = dict(data.draw(hs.sampled_from(MODES)))
    if options and data.draw(hs.booleans()):
        options["wrapped"] = False
    if data.draw(hs.booleans()):
        options["min_mass"] = 0.5
    if options.get("domain") == "theorem" and data.draw(hs.booleans()):
        constants = {s: len(values) for s, values in deployment.constants.items() if s in deployment.bounds}
        options |= {"domain": {s: n + deployment.bounds[s] for s, n in constants.items()}, "force": True}
    if options.get("engine") == "explicit":
        options["max_states"] = 200
    told = []
    try:
        result = st.verify(
            deployment, agents, established=lambda verdict, moves: told.append(verdict), **options
        )
    except (InputError, st.errors.Undecided):
        assume(False)
    expected = set(put_in(result, kinds, options))
    consequences = {"bounded", "serial", "keys hold", "fairness leaves nothing out"}
    assert {one.name for one in result.hypotheses.missing} - consequences == expected
    for verdict in result.verdicts.values():
        if verdict.claim:
            assert_law(verdict, expected, False, result.hypotheses)
            continue
        needed, found = set(expected), None
        if result.broken is not None:
            found = None if verdict.evidence is None else False
            needed |= {"bounded"} if found is None else set()
        else:
            found = answer(result.engine, deployment.spec(verdict.spec).formula).holds
            needed |= {"fairness leaves nothing out"} if found is None else set()
        assert_law(verdict, needed, found, result.hypotheses)
    event(f"{len(expected)} missing")
    event(f"broken: {result.broken is not None}")
    assert {name for name, verdict in result.verdicts.items() if verdict.empty} <= {
        name for name, verdict in result.verdicts.items() if verdict.holds
    }


HEAD = "deployment d\nsort a\nrelation P(a)\nrelation Q(a)\ninit P(x)\n"
TEXTS = {
    "nothing": ("bound a 2\ntool t()\n  effect insert Q(x)\ntool rest()\n", "", {}),
    "an ensure that may lead anywhere": (
        "bound a 2\ntool t()\n  effect insert Q(x)\n"
        "  effect ensure (forall y. Q'(y) -> exists z. P'(z) & z != y) & false\ntool rest()\n",
        "whether t exceeds a bound is not decided",
        {"kept", "seen"},
    ),
    "a bound that is broken": (
        "bound a 1\ntool t()\n  effect insert Q(x)\ntool u()\n  guard Q(x)\n  effect\n    fresh y: a\n"
        "    insert Q(y)\ntool rest()\n",
        "has ended",
        {"kept", "seen"},
    ),
    "a bound that is broken, and a fair line": (
        "bound a 1\nfair ~exists x. P(x)\ntool t()\n  effect insert Q(x)\ntool u()\n  guard Q(x)\n  effect\n"
        "    fresh y: a\n    insert Q(y)\ntool rest()\n",
        "has ended",
        {"kept", "seen"},
    ),
    "a line that no run meets": (
        "bound a 2\nfair false\ntool t()\n  effect insert Q(x)\ntool rest()\n",
        "it asks for a fair run",
        {"seen"},
    ),
}
SPECS = "spec kept AG P(x)\nspec seen EF Q(x)\nspec never AG ~Q(x)\n"
WORDS = {"kept": "holds", "seen": "holds", "never": "fails"}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("options", MODES)
def test_what_is_missing_in_the_file_leaves_what_needs_it_unknown(text, options):
    behaviour, phrase, unknown = TEXTS[text]
    told = []
    deployment = st.parse_deployment(HEAD + behaviour + SPECS)
    result = st.verify(deployment, established=lambda verdict, moves: told.append(verdict), **options)
    found = {name: result[name] for name in WORDS}
    assert {name for name, verdict in found.items() if verdict.holds is None} == {*unknown}
    assert {name: v.word for name, v in found.items() if v.holds is not None} == {
        name: word for name, word in WORDS.items() if name not in unknown
    }
    assert all(phrase in found[name].reason for name in unknown)
    assert bool(result.hypotheses.missing) == bool(unknown)
    assert {v.spec: v.word for v in told if v.spec in WORDS} == {name: v.word for name, v in found.items()}
    assert {v.spec: v.word for v in told[::-1] if v.holds is False}.items() <= {
        name: v.word for name, v in result.verdicts.items()
    }.items(), "what was told as it failed is not taken back"


@pytest.mark.gate
@pytest.mark.parametrize("text", TEXTS)
def test_every_way_says_so(text, stead, tmp_path):
    """As a function, in the plugin, in a process, in a sweep."""
    behaviour, _, unknown = TEXTS[text]
    words = {name: "unknown" if name in unknown else word for name, word in WORDS.items()}
    file = tmp_path / "d.stead"
    file.write_text(HEAD + behaviour + SPECS)
    apart = st.verify_apart(st.load(str(file)))["specs"]
    swept = carry_out(Run(str(file)).job()).specs
    tested = {name: verdict.word for name, verdict in stead.verify(str(file)).verdicts.items()}
    for said in ({name: one["verdict"] for name, one in apart.items()}, swept, tested):
        assert {name: said[name] for name in words} == words


@pytest.mark.gate
@pytest.mark.parametrize(
    ("limits", "options"),
    [
        ({"max_states": 1, "engine": "explicit"}, ()),
        ({"timeout": 0.01}, ()),
        ({"memory": 1}, ()),
        ({"domain": "a=2"}, ("--force",)),
        ({"agent": "python:agents:first"}, ("--unwrapped",)),
    ],
)
def test_a_run_that_is_stopped_or_forced_has_no_verdict_that_holds(limits, options, tmp_path):
    (tmp_path / "agents.py").write_text("def first(context):\n    return min(context.calls)\n")
    text = HEAD + TEXTS["nothing"][0] + SPECS
    run = Run(st.parse_deployment(text), folder=str(tmp_path), options=options, **limits)
    result = carry_out(run.job())
    assert {*result.specs.values()} <= {"unknown"}, result
    assert result.outcome == ("done" if options else "stopped"), result


def test_what_holds_of_nothing_on_a_domain_that_is_too_small_is_unknown():
    text = HEAD + "bound a 1\ntool t()\n  effect delete P(x)\ntool rest()\nspec v AG ~exists y. Q(y)\n"
    empty = st.parse_deployment(text + "spec w AG forall y. Q(y) -> P(y)\n")
    assert st.verify(empty)["w"].said == "holds, of nothing"
    forced = st.verify(empty, domain={"a": 2}, force=True)
    assert forced["w"].said == "unknown"
    assert not any("w holds" in str(finding) for finding in forced.findings)


def test_where_every_value_is_a_constant_nothing_is_missing_without_the_wrapper():
    text = "deployment d\nsort k = { u, v }\nrelation P(k)\ninit P(u)\ntool t(x: k)\n  effect insert P(x)\n"
    result = st.verify(st.parse_deployment(text + "spec s EF P(v)\n"), Keeping("heavy"), wrapped=False)
    assert not result.hypotheses.missing
    assert result["s"].holds is not None


def test_where_a_claim_is_broken_it_is_not_known_that_fair_runs_start_everywhere():
    behaviour = TEXTS["a bound that is broken"][0]
    result = st.verify(st.parse_deployment(HEAD + behaviour + "fair exists x. P(x)\n" + SPECS))
    assert result.broken is not None
    assert "fairness leaves nothing out" in {one.name for one in result.hypotheses.missing}


DESK = """deployment desk
sort a
relation At(a key, step)
sort step = { one, two, bad, good } rigid
init At(x, one)
bound a 1
tool left()
  guard At(x, one)
  effect set At(x, bad)
tool right()
  guard At(x, one)
  effect set At(x, two)
tool go()
  guard At(x, two)
  effect set At(x, good)
tool on()
  guard At(x, two)
  effect set At(x, good)
tool rest()
  guard At(x, bad) | At(x, good)
spec s AG ~At(x, bad)
"""


@dataclass(frozen=True)
class Later(Keeping):
    """Bears little in the second step only."""

    def answer(self, context):
        later = any("two" in fact.args for fact in context.view)
        return (super() if later else Keeping("heavy")).answer(context)


def test_a_mend_is_none_where_the_decisions_after_it_bear_too_little():
    desk = st.parse_deployment(DESK)
    for min_mass, kind, mended in ((None, "light", True), (0.5, "heavy", True), (0.5, "light", False)):
        result = st.verify(desk, Later(kind), min_mass=min_mass)
        blame = st.blame(result, "s")
        assert bool(blame.mends) is mended
        assert blame.complete is mended


GROWS = """deployment grows
sort a
relation P(a)
relation Q(a)
{fair}tool more()
  guard atmost {most} x. P(x)
  effect
    fresh y: a
    insert P(y)
tool other()
tool rest()
bound a 9
spec never AG ~exists y. P(y)
spec few EG ~exists y. P(y)
"""


@pytest.mark.parametrize("fair", ["", "fair exists x. P(x)\n", "fair false\n"])
def test_raised_bounds_give_no_verdict_on_an_agent_that_answers_differently(fair):
    desk = st.parse_deployment(GROWS.format(fair=fair, most=1))
    assert st.deepen(desk, Keeping("heavy"))["never"].holds is False
    for verdict in st.deepen(desk, Keeping("unsteady")).verdicts.values():
        assert verdict.holds is None
        assert "answers differently" in verdict.reason or "asks for a fair run" in verdict.reason


def test_what_failed_within_lower_bounds_is_unknown_where_the_agent_is_found_to_answer_differently():
    @dataclass(frozen=True)
    class Full(Keeping):
        def answer(self, context):
            return (super() if len(context.view.facts) > 1 else Keeping("heavy")).answer(context)

    desk = st.parse_deployment(GROWS.format(fair="", most=3) + "spec open AG EF ~Q(_)\n")
    told = []
    found = st.deepen(desk, Full("unsteady"), told=told.append)
    assert told[1]["never"].holds is False
    assert found["never"].holds is None
    assert "answers differently" in found["never"].reason


def test_a_broken_claim_is_unknown_of_an_agent_that_answers_differently():
    """Raising bounds says of it what verification says, and so of what its run refutes."""
    text = """
deployment keyed
sort a
sort k = { u, v } rigid
relation R(a key, k)
bound a BOUND
tool new()
  guard ~R(_, _)
  effect
    fresh x: a
    insert R(x, u)
tool put(x: a)
  guard R(x, _)
  effect
    insert R(x, v)
tool wait()
spec one AG forall x: a. atmost 1 y: k. R(x, y)
"""
    bounded = st.parse_deployment(text.replace("BOUND", "2"))
    for desk in (st.parse_deployment(text.replace("BOUND", "any")), bounded):
        assert st.deepen(desk, "any", limit=1)["key of R"].holds is False
        for verdict in st.deepen(desk, Keeping("unsteady"), limit=1).verdicts.values():
            assert verdict.holds is None
            assert "answers differently" in verdict.reason
    for verdict in st.verify(bounded, Keeping("unsteady")).verdicts.values():
        assert verdict.holds is None


@pytest.mark.parametrize("orders", [3, 14])
def test_what_only_parts_were_asked_about_is_unknown_of_an_agent_that_answers_differently(orders):
    """Of many orders nothing is explored, so that the agent is asked about contexts of parts alone."""
    text = """
deployment many
sort a
sort k = { new, good, bad } rigid
relation S(a key, k)
relation Cur(a)
bound a any
tool agree(x: a)
  guard Cur(x) & S(x, new)
  effect
    set S(x, good)
    delete Cur(x)
tool burn(x: a)
  guard Cur(x) & S(x, new)
  effect
    set S(x, bad)
    delete Cur(x)
event next(x: a)
  guard S(x, new) & ~Cur(_)
  effect insert Cur(x)
tool wait()
view Cur(x)
spec never AG ~S(_, bad)
spec one AG atmost 1 x. Cur(x)
"""
    init = "".join(f"init S(o{number}, new)\n" for number in range(orders))
    desk = st.parse_deployment(text + init)
    assert st.deepen(desk, Keeping("heavy"))["never"].holds is True
    found = st.deepen(desk, Keeping("unsteady"))
    assert found["never"].holds is None
    assert "answers differently" in found["never"].reason
    assert "the agent answers alike" in {one.name for one in found.hypotheses.missing}
    assert found["one"].holds is True  # whatever an agent selects
    assert "whatever an agent selects" in found["one"].scope[0]


TWO = """
deployment two
sort a
sort k = { new, good, bad } rigid
relation S(a key, k)
relation C(a)
relation D(a)
relation F()
bound a any
event come()
  effect
    fresh x: a
    insert S(x, new)
event next(x: a)
  guard S(x, new) & ~C(_)
  effect insert C(x)
event then(x: a)
  guard S(x, good) & ~D(_)
  effect insert D(x)
tool agree(x: a)
  guard C(x) & S(x, new)
  effect
    set S(x, good)
    delete C(x)
tool burn(x: a)
  guard C(x) & S(x, new)
  effect
    set S(x, bad)
    delete C(x)
tool mark(x: a)
  guard D(x)
  effect delete D(x)
tool note(x: a)
  guard D(x)
  effect
    delete D(x)
    insert F()
tool wait()
tool pause()
agent first
  tools agree, burn, wait
  view C(x)
  policy agreeing
    call agree(x)
    call wait()
agent second
  tools mark, note, pause
  view D(x)
spec never AG ~S(_, bad)
spec quiet AG ~F()
spec one AG atmost 1 x. C(x)
"""


@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [
        ("heavy", "heavy", {"never", "quiet", "one"}),
        ("heavy", "unsteady", {"never", "one"}),
        ("unsteady", "heavy", {"quiet", "one"}),
        ("unsteady", "unsteady", {"one"}),
        ("agreeing", "unsteady", {"never", "one"}),
    ],
)
def test_what_is_shown_for_every_number_rests_on_the_agents_that_answer_alike(first, second, shown):
    agents = {"first": first if first == "agreeing" else Keeping(first), "second": Keeping(second)}
    found = st.deepen(st.parse_deployment(TWO), agents, limit=1)
    assert {name for name, verdict in found.verdicts.items() if verdict.holds} == shown
    others = [verdict for verdict in found.verdicts.values() if not verdict.holds]
    for verdict in others:
        assert verdict.holds is None
        for agent in {first, second} & {"unsteady"}:
            assert f"what {Keeping(agent).name} selects is not followed" in verdict.reason
            assert "it answers differently in 1 of" in verdict.reason


BESIDE = """
deployment beside
sort a
relation C(a)
relation F()
relation Bad()
relation Good()
bound a any
event next(x: a)
  guard ~C(_)
  effect insert C(x)
event come()
  effect
    fresh x: a
    insert P(x)
relation P(a)
event leave(x: a)
  guard C(x)
  effect delete C(x)
event clash(x: a, y: a)
  guard C(x) & C(y) & x != y
  effect insert F()
tool agree()
  effect insert Good()
tool burn()
  effect insert Bad()
tool wait()
  effect delete Good()
view F()
spec never AG ~Bad()
"""


class Beside(Keeping):
    """Answers alike but where F() is shown, as 1-views do and no run does."""

    def answer(self, context):
        return (super() if context.view.facts else Keeping("heavy")).answer(context)


@pytest.mark.parametrize("records", [0, 14])
def test_an_agent_counts_by_its_answers_in_the_contexts_of_the_proof(records):
    init = "".join(f"init P(o{number})\n" for number in range(records))
    found = st.deepen(st.parse_deployment(BESIDE + init), Beside("unsteady"), limit=1)
    assert found["never"].holds is True
    [met] = [one for one in found.hypotheses.missing if one.ground == "decisions"]
    assert "in 1 of 1 contexts" in met.how
    every = found.found["never"].every_number
    assert (every.k, len(every.proof.answers[0].contexts)) == (2, 1)
    [finding] = [one for one in found.findings if one.kind == "unsteady agent"]
    assert "answers differently in 1 of" in finding.text


def test_a_context_that_only_views_have_may_lack_an_answer(tmp_path):
    """Decisions that are replayed are those of some run; no run comes to what 1-views show."""

    class Recorded(Keeping):
        def select(self, contexts):
            if any(context.view.facts for context in contexts):
                raise st.errors.StoreError("the file has no decision for this context")
            return super().select(contexts)

    found = st.deepen(st.parse_deployment(BESIDE), Recorded("heavy"), limit=1)
    assert found["never"].holds is True


def test_bounds_that_decisions_in_doubt_keep_are_not_proposed():
    text = GROWS.format(fair="", most=1) + "spec most AG atmost 2 y. P(y)\n"
    for kind, kept in (("heavy", True), ("unsteady", False)):
        found = st.deepen(st.parse_deployment(text), Keeping(kind), "most")
        assert found.established is kept
        assert found.lines == (("bound a 2",) if kept else ())
        assert ("write that into the file" in found["most"].reason) is kept
        assert ("answers differently" in found["most"].reason) is not kept


def test_bounds_are_not_established_of_an_agent_that_answers_differently():
    desk = st.parse_deployment(GROWS.format(fair="", most=1))
    assert st.least_bounds(desk, Keeping("heavy")).sorts["a"].least == 2
    with pytest.raises(st.errors.Undecided, match="the agent answers alike: not established"):
        st.least_bounds(desk, Keeping("unsteady"))


def test_a_failure_is_neither_certified_nor_covers_decisions_where_not_all_reachable_states_are_known(
    tmp_path,
):
    result = st.verify(st.parse_deployment(HEAD + TEXTS["an ensure that may lead anywhere"][0] + SPECS))
    assert result["never"].holds is False
    with pytest.raises(InputError, match="not decided"):
        st.write_certificate(result, tmp_path)
    held = st.verify(result.deployment, lambda context: context.calls, "never")
    for source in (held, st.report.report_data(held)):
        with pytest.raises(InputError, match="the bounds are not established"):
            st.VerifiedAgent(result.deployment, source)
