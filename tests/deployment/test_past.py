"""Steps and the past in formulas: what is refused, what the definition says of a run, both engines and both
domains, and histories that are written by hand in relations."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as hs

import stead_sym as st
from engine_pairs import examples
from generated.past import past_workflows
from stead_sym.cli.main import main
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.following import Before, SinceThen
from stead_sym.deployment.history import actors_told, begun
from stead_sym.deployment.language import parse_deployment
from stead_sym.deployment.restriction import theorem_restriction
from stead_sym.deployment.semantics import outcomes, possible, within
from stead_sym.errors import SteadError
from stead_sym.logic.evaluate import holds
from stead_sym.logic.parser import parse_formula
from stead_sym.relational.instance import Fact, Instance
from stead_sym.report.data import report_data
from stead_sym.report.terminal import reached
from whole import verify

ENGINES = ({"engine": "explicit"}, {"domain": "theorem"}, {"domain": "normal"})

BASE = """deployment d
sort o
relation P(o)
relation Q(o)
init P(o1)
bound o 1
define gone(x: o) = once P(x) & ~P(x)
tool pay(x: o) guard P(x) effect delete P(x)
event come() guard ~P(_) effect fresh y: o insert P(y)
"""
ERRORS = [
    ("spec z AG once AF P(o1)", "10:16: a temporal operator stands below an operator of the past"),
    ("spec z did foo(o1)", "10:8: unknown tool foo after `did`; declare it with"),
    ("spec z did pay()", "10:8: pay takes 1 argument (o), not 0; give it that many"),
    ("spec z did pay(o1) by desk", "10:8: there is one agent, without a name; leave out `by desk`"),
    ("spec z did come() by desk", "10:8: come is an event, which no agent calls; leave out `by desk`"),
    ("initially any P where once P(o1)", "10:23: `once P(o1)` cannot stand in `initially`: no step"),
    ("initially any P where did come()", "10:23: `did come()` cannot stand in `initially`"),
    ("fair once P(o1)", "10:6: `once P(o1)` cannot stand in `fair`"),
    ("fair gone(o1)", "7:21: `once P(o1)` cannot stand in `fair`"),
    ("tool e() effect ensure previously P(o1)", "10:24: `ensure` relates two databases"),
    ("tool e() effect ensure gone(o1)", "10:17: `ensure` relates two databases, which have no past"),
    ("spec z P(o1) since Q(o1) since P(o1)", '10:26: unexpected "since"; `f since g since h` reads in two'),
    ("spec z once(o1)", "10:8: unknown relation once; the operator stands before a formula: `once P(x)`"),
    ("spec z did(o1)", "10:8: unknown relation did; write `did tool(x)`: the step into the state was this"),
    ("agent a\n  tools pay\nspec z did pay(o1) by b", "12:8: b is no agent with the tool pay; it is"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), ERRORS)
def test_what_does_not_fit_is_told_with_its_place(text: str, message: str) -> None:
    with pytest.raises(st.errors.InputError) as caught:
        parse_deployment(BASE + text, "f")
    assert str(caught.value).startswith(f"f:{message}")


def test_older_files_may_have_relations_of_these_names() -> None:
    text = """deployment d
sort o
relation once(o)
relation did(o)
relation previously()
relation since()
init once(o1) previously()
tool by(x: o) guard once(x) & previously & ~did(x) effect insert did(x)
tool idle()
spec z AG (once(o1) & (since | previously & once once(o1)))
"""
    deployment = parse_deployment(text)
    assert parse_deployment(str(deployment)) == deployment
    assert [v.word for v in st.verify(deployment).verdicts.values()] == ["holds"]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("AG once W", "AG once W()"),
        ("once W & P(x)", "once W() & P(x)"),
        ("previously U -> once U", "previously U() -> once U()"),
        ("A[once U U once W]", "A[once U() U once W()]"),
        ("once U since W", "once U() since W()"),
        ("(historically W)", "historically W()"),
        ("exists U. once U != x & once U = y", "exists U. once U != x & once U = y"),
        ("A[once U q]", "A[once() U q()]"),
        ("A[once U (q & r)]", "A[once() U q() & r()]"),
        ("A[once W ~q]", "A[once() W ~q()]"),
        ("A[did U (q)]", "A[did() U q()]"),
    ],
)
def test_what_stands_after_the_words_may_be_named_as_an_operator(written: str, read: str) -> None:
    """`U` and `W` are read as operators only where an older file can have meant them."""
    assert str(parse_formula(written)) == read
    assert parse_formula(read) == parse_formula(written)


@settings(max_examples=examples(100))
@given(past_workflows(sound=False))
def test_it_prints_back(deployment: Deployment) -> None:
    again = parse_deployment(str(deployment))
    assert str(again) == str(deployment)
    assert again.written == deployment.written


# the definition, of a whole run


def truth(
    deployment: Deployment, run: list[Instance], kept: SinceThen | Before, sigma: Mapping[str, str]
) -> bool:
    """(Dn, σ) ⊨ f for the last state of a run, as section "The past" of the language page has it: with the
    index s and the index j."""
    n = len(run) - 1

    def counts(number: int) -> bool:
        return all(
            value in deployment.constants[sort] or value in run[number].active_domain[sort]
            for sort, value in zip(kept.relation.sorts, sigma.values(), strict=True)
        )

    if not counts(n):
        return False
    s = n
    while s > 0 and counts(s - 1):
        s -= 1
    if isinstance(kept, Before):
        return n - 1 >= s and holds(kept.body, run[n - 1], sigma)
    return any(
        holds(kept.right, run[j], sigma) and all(holds(kept.left, run[i], sigma) for i in range(j + 1, n + 1))
        for j in range(s, n + 1)
    )


def walks(deployment: Deployment, choose: Random, steps: int) -> Iterator[list[Instance]]:
    """The beginnings of a run."""
    restriction = theorem_restriction(deployment, deployment.specs)
    run = [begun(deployment, deployment.init)]
    yield run
    for _ in range(steps):
        calls = sorted(possible(deployment, run[-1]))
        if not calls:
            return
        call = choose.choice(calls)
        agents = tuple(a.name for a in deployment.agents if call.tool in a.tools)
        actor = choose.choice(actors_told(deployment, call, agents))
        found = {
            after
            for after in outcomes(deployment, call, run[-1], restriction, actor)
            if within(restriction, after)
        }
        if not found:
            return
        if deployment.tool(call.tool).stays:
            assert found == {run[-1]}
            return
        run = [*run, choose.choice(sorted(found, key=sorted))]
        yield run


@settings(max_examples=examples(150, slow=2000))
@given(past_workflows(sound=False), hs.integers(0, 10**6))
def test_a_state_keeps_what_the_definition_says_of_its_run(plain: Deployment, seed: int) -> None:
    deployment = plain.following(plain.specs, {})
    for run in walks(deployment, Random(seed), 6) if plain.initially is None else ():
        for kept in deployment.history.kept:
            if isinstance(kept, SinceThen | Before):
                told = run[-1].tuples(kept.relation.name)
                every = {()}
                for sort in kept.relation.sorts:
                    values = {v for state in run for v in state.active_domain[sort]}
                    values |= set(deployment.constants[sort])
                    every = {(*before, value) for before in every for value in values}
                for values in every:
                    sigma = dict(zip(kept.variables, values, strict=True))
                    assert (values in told) == truth(deployment, run, kept, sigma), (kept, values)
                event("true" if told else "false")


# both engines


def found(deployment: Deployment, **options: object) -> tuple[object, ...]:
    """The kind of error, or the verdicts with the number of states and transitions."""
    try:
        result = verify(deployment, findings=False, **options)
    except SteadError as error:
        return (type(error).__name__,)
    verdicts = {name: verdict.holds for name, verdict in result.verdicts.items()}
    return (verdicts, result.states, result.transitions)


@settings(max_examples=examples(60, slow=1000, quick=8))
@given(past_workflows())
def test_both_engines_and_both_domains_agree(deployment: Deployment) -> None:
    explicit = found(deployment, engine="explicit", max_states=300)
    if explicit == ("Undecided",):
        return
    assert found(deployment, domain="theorem") == explicit
    assert found(deployment, domain="normal")[:1] == explicit[:1]
    event("kept" if deployment.following(deployment.specs, {}).history else "nothing to keep")


# laws against histories by hand

TICKETS = """deployment tickets
sort t
sort s = { open, done } rigid
relation T(t key, s)
bound t 2
"""
FORMULAS = [
    ("once T(x, done)", "Done(x)"),
    ("previously T(x, done)", "Before(x)"),
    ("T(x, open) since did again(x)", "Reopened(x)"),
    ("did again(x)", "Again(x)"),
    ("historically T(x, open)", "~(Done(x) | T(x, done))"),
]
STEPS = {
    "come() guard atmost 1 y: t. T(y, _)": ("event", "fresh x: t insert T(x, open)", None),
    "finish(x: t) guard T(x, open)": ("tool", "set T(x, done)", "finish"),
    "again(x: t) guard T(x, done)": ("tool", "set T(x, open)", "again"),
    "drop(x: t) guard T(x, _)": ("tool", "delete T(x, _)", "drop"),
    "idle()": ("tool", "", None),
}


def by_hand() -> str:
    """The tickets with relations that each step brings up to date: whether a ticket was ever done, whether it
    was in the state before, whether it was reopened and is open since, and whether it was reopened right
    now."""
    lines = [TICKETS, "relation Done(t)\nrelation Before(t)\nrelation Reopened(t)\nrelation Again(t)\n"]
    for head, (kind, effect, name) in STEPS.items():
        more = ["clear Again, Before", "insert Before(y) for y where T(y, done)"]
        if name == "finish":
            more += ["insert Done(x)", "delete Reopened(x)"]
        if name == "again":
            more += ["insert Again(x)", "insert Reopened(x)"]
        if name == "drop":
            more = [
                "clear Again, Before",
                "insert Before(y) for y where T(y, done) & y != x",
                "delete Done(x)",
                "delete Reopened(x)",
            ]
        lines.append(f"{kind} {head} effect {effect} {' '.join(more)}\n")
    return "".join(lines)


def in_formulas() -> str:
    return TICKETS + "".join(f"{kind} {head} effect {effect}\n" for head, (kind, effect, _) in STEPS.items())


@pytest.mark.parametrize("options", ENGINES)
def test_histories_in_relations_say_the_same(options: dict[str, str]) -> None:
    choose = Random(1)
    shapes = [
        "AG forall x. ({0} -> {1})",
        "EF exists x. ({0} & ~{1})",
        "AG forall x. ({0} -> AF {1})",
        "AG forall x. ({0} -> EX ({1} & EX {0}))",
        "EF exists x. ({0} & EG {1})",
    ]
    pairs = [(shape, choose.choice(FORMULAS), choose.choice(FORMULAS)) for shape in shapes * 4]
    words = {
        side: [
            verdict.holds
            for verdict in st.verify(
                parse_deployment(
                    text
                    + "".join(
                        f"spec s{k} {shape.format(f'({one[side]})', f'({other[side]})')}\n"
                        for k, (shape, one, other) in enumerate(pairs)
                    )
                ),
                findings=False,
                **options,
            ).verdicts.values()
        ]
        for side, text in enumerate((in_formulas(), by_hand()))
    }
    assert words[0] == words[1]
    assert {True, False} == set(words[0])


@pytest.mark.parametrize("options", ENGINES)
def test_a_history_makes_no_value_active(options: dict[str, str]) -> None:
    """The bound is that of the database, although the last step has a second value, and a new record has no
    past although it may have the name of an old one."""
    text = BASE.replace("init P(o1)\n", "") + (
        "spec none AG forall x. (did pay(x) -> false)\n"
        "spec named AG forall x. (P(x) -> AX (did pay(x) -> ~P(x)))\n"
        "spec lost AG forall x. (did come() & P(x) -> ~previously P(x))\n"
        "spec again EF exists x. (P(x) & EX (did pay(x) & EX P(x)))\n"
    )
    result = st.verify(parse_deployment(text), **options)
    assert {name: verdict.holds for name, verdict in result.verdicts.items()} == {
        "none": True,
        "named": True,
        "lost": True,
        "again": True,
    }


def test_what_is_not_used_costs_nothing() -> None:
    plain = parse_deployment(BASE + "spec a AG atmost 1 x. P(x)\n")
    more = parse_deployment(
        BASE + "spec a AG atmost 1 x. P(x)\nspec b AG once P(o1)\ngate g permit pay(x) when once P(x)\n"
        "policy p call pay(x) when did come()\n"
    )
    assert not more.following([more.spec("a")], {"": "any"}).history
    for options in ENGINES:
        assert found(plain, **options) == found(more, specs="a", **options)
    assert more.following([more.spec("b")], {"": "any"}).history.relations[0].name == "once P(o1)"


def test_equal_formulas_share_a_relation() -> None:
    deployment = parse_deployment(
        BASE + "spec a AG forall x. (once P(x) -> forall y. (~once P(y) | once P(y)))\nspec b AG once P(o1)\n"
    )
    names = [relation.name for relation in deployment.following(deployment.specs, {}).history.relations]
    assert names == ["once P(‹1›)", "once P(o1)"]


def test_formulas_that_exchange_arguments_are_told_apart() -> None:
    """A place of the inner name is put in a place of the outer one."""
    base = """deployment d
sort o
relation P(o, o)
relation R(o, o)
init P(a, b) R(b, a)
bound o 0
tool idle()
"""
    held = "spec held AG exists x, y. once (P(x, y) & once R(y, x))\n"
    not_held = "spec not_held AG exists x, y. once (P(x, y) & once R(x, x))\n"
    for text in (held + not_held, not_held + held):
        deployment = parse_deployment(base + text)
        names = [r.name for r in deployment.following(deployment.specs, {}).history.relations]
        assert "once (P(‹1›, ‹2›) & once R(‹2›, ‹1›))" in names
        for options in ENGINES:
            verdicts = st.verify(deployment, **options).verdicts
            assert {name: v.holds for name, v in verdicts.items()} == {"held": True, "not_held": False}


@pytest.mark.parametrize(
    "text",
    [
        "AG forall x. ((once exists y. (P(y) & once Q(x))) & Q(x) -> P(x))",
        "AG ((once exists y. P(y)) -> AF Q(o1))",
        "AG ((previously exists y. P(y)) since Q(o1))",
        "AG forall x. ((previously P(x)) since (did pay(x) since Q(x)))",
        "AG (((~exists y. P(y)) since Q(o1)) | P(o1))",
        "AG (~(P(o1) since Q(o1)) & previously (P(o1) since Q(o1)))",
        "AG forall x. ((~did pay(x)) since (once ~exists y. (Q(y) & previously (Q(x) since P(y)))))",
    ],
)
def test_a_formula_over_what_is_kept_reads_as_the_formula_that_it_stands_for(text: str) -> None:
    deployment = parse_deployment(BASE + f"spec a {text}\n")
    following = deployment.following(deployment.specs, {})
    assert deployment.formula(str(following.spec("a").formula)) == deployment.spec("a").formula


@settings(max_examples=examples(100))
@given(past_workflows())
def test_generated_formulas_over_what_is_kept_read_as_those_that_they_stand_for(
    deployment: Deployment,
) -> None:
    following = deployment.following(deployment.specs, {})
    for spec in deployment.specs:
        assert deployment.formula(str(following.spec(spec.name).formula)) == spec.formula


POLICY = """deployment pol
sort t
sort s = { a, b } rigid
relation T(t key, s)
bound t 2
event come() guard atmost 1 x: t. T(x, _) effect fresh x: t insert T(x, a)
tool go(x: t) guard T(x, a) effect set T(x, b)
tool back(x: t) guard T(x, b) effect set T(x, a)
tool wait()
policy careful
  call go(x) when ~once did go(x)
  call back(x) when did go(x)
  call wait()
spec once_only AG forall x. (did go(x) -> ~previously once did go(x))
spec twice     AG forall x. (T(x, b) -> AX ~did back(x))
"""


@pytest.mark.parametrize("options", ENGINES)
def test_a_policy_is_told_of_the_past_of_what_it_is_shown(options: dict[str, str]) -> None:
    deployment = parse_deployment(POLICY)
    for agent in ("careful", deployment.policy("careful")):
        result = st.verify(deployment, agent, **options)
        assert {n: v.holds for n, v in result.verdicts.items()} == {"once_only": True, "twice": False}
    assert st.verify(deployment, **options)["once_only"].holds is False
    [context] = [
        context
        for context, selected in st.verify(deployment, "careful", engine="explicit").agents[""].decisions
        if {call.tool for call in selected} == {"back"} and len(context.view.database) == 1
    ]
    assert not any(relation.startswith("did wait") for relation, _ in context.view.facts)


def test_an_agent_that_is_no_policy_is_shown_the_database_only() -> None:
    seen: set[str] = set()

    def look(context: object) -> object:
        seen.update(fact.relation for fact in context.view.facts)  # type: ignore[attr-defined]
        return min(context.calls)  # type: ignore[attr-defined]

    for options in ENGINES:
        st.verify(parse_deployment(POLICY), look, **options)
    assert seen == {"T"}


@pytest.mark.parametrize("options", ENGINES)
def test_a_claim_may_be_broken_by_a_guard_of_the_past(options: dict[str, str]) -> None:
    text = BASE + "tool twice(x: o) guard P(x) & once did come() effect fresh y: o insert P(y)\n"
    broken = st.verify(parse_deployment(text + "spec a AG P(o1)\n"), **options).broken
    assert isinstance(broken, st.errors.BoundExceeded)
    assert [step.call.tool for step in broken.trace.steps] == ["pay", "come", "twice"]


def test_evidence_with_the_past_is_read_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d.stead").write_text(POLICY)
    for agent in (["--agent", "any"], ["--policy", "careful"]):
        capsys.readouterr()
        assert main(["verify", "d.stead", *agent, "--json"]) == 1
        Path("r.json").write_text(capsys.readouterr().out)
        assert main(["replay", "d.stead", "r.json"]) == 0
        out = capsys.readouterr().out
        assert "confirmed" in out
    data = json.loads(Path("r.json").read_text())
    step = data["specs"]["twice"]["evidence"]["nodes"][0]["run"]["steps"][-1]
    assert step["call"][0] == "go"
    step["call"][0] = "back"
    Path("r.json").write_text(json.dumps(data))
    assert main(["replay", "d.stead", "r.json"]) == 1


def test_what_is_not_kept_cannot_be_asked() -> None:
    deployment = parse_deployment(BASE + "spec a AG (did pay(_) -> once P(o1))\n")
    result = st.verify(deployment)
    assert result.satisfying("did pay(_)")
    with pytest.raises(st.errors.DeclarationError, match="of which this verification keeps nothing"):
        result.satisfying("previously did pay(_)")
    with pytest.raises(st.errors.DeclarationError, match="of which a database alone does not tell"):
        st.holds(deployment.formula("once P(o1)"), deployment.init)


def test_the_same_in_python() -> None:
    logic = st.logic
    f = logic.AG(logic.since(~logic.did("pay", "o1", by="a"), logic.once(logic.atom("P", "o1"))))
    assert str(f) == "AG (~did pay(o1) by a since once P(o1))"
    assert logic.parse_formula(str(f)) == f
    g = logic.historically(logic.previously(logic.did("pay", "_")))
    assert logic.parse_formula(str(g)) == g


def test_the_last_step_takes_values_of_the_domain() -> None:
    deployment = parse_deployment(BASE + "spec a AG forall x. (P(x) -> AX ~did pay(x))\n")
    followed = deployment.following(deployment.specs, {})
    derived = theorem_restriction(followed, deployment.specs).derivation["o"]
    assert (derived.required, derived.last) == (2 * 1 + 1 + 1 + 1, 1)
    assert Fact("did pay(‹1›)", ("o1",)) in next(
        outcomes(
            followed,
            st.deployment.Call("pay", ("o1",)),
            followed.init,
            theorem_restriction(followed, deployment.specs),
        )
    )


@pytest.mark.parametrize("engine", ["explicit", "symbolic"])
def test_a_premise_about_what_left_with_the_step_is_told_how_to_ask(engine: str) -> None:
    """`did drop(x)` is true of no active x."""
    text = (
        "deployment d\nsort o\nrelation P(o)\nbound o 1\n"
        "event come() guard ~P(_) effect fresh x: o insert P(x)\n"
        "tool drop(x: o) guard P(x) effect delete P(x)\n"
        "spec gone AG forall x: o. (did drop(x) -> previously P(x))\n"
        "spec none AG forall x: o. (P(x) & ~P(x) -> P(x))\n"
    )
    found = st.verify(parse_deployment(text), "any", engine=engine).findings
    told = {f.spec: f.remedy for f in found if f.kind == "premise never true"}
    assert "AX (did w(x)" in told["gone"]
    assert "AX" not in told["none"]


@pytest.mark.parametrize("options", ENGINES)
def test_sizes_are_told_with_and_without_what_is_kept(options: dict[str, str]) -> None:
    """Two databases; off, it was on once or never."""
    text = (
        "deployment d relation On() tool on() guard ~On() effect insert On()"
        " tool off() guard On() effect delete On() spec s "
    )
    plain = st.verify(parse_deployment(text + "AG EF On()"), **options)
    kept = st.verify(parse_deployment(text + "EF (once On() & ~On())"), **options)
    assert (plain.states, plain.databases) == (2, 2)
    assert (kept.states, kept.databases) == (3, 2)
    assert reached(plain) == ["2 states", "2 transitions"]
    assert reached(kept) == ["3 states (2 without the past)", "3 transitions"]
    assert "databases" not in report_data(plain)
    assert report_data(kept)["databases"] == 2
