"""Beside a verdict on a file without a bound: hypotheses, commands, Python, findings."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

import stead_sym as st
from described import assert_described
from stead_sym.agents.base import DecisionContext, FunctionAgent
from stead_sym.agents.roles import wrap_all
from stead_sym.analyses.deepening.fragment import fragment, leaping
from stead_sym.analyses.views.closure import Closing
from stead_sym.analyses.views.every_number import EveryNumber
from stead_sym.analyses.views.shown import Shown
from stead_sym.certificate.checker.needed import names_in_fact
from stead_sym.certificate.verdict import CertificateRejected
from stead_sym.cli.main import main
from stead_sym.deployment.tool import Call
from stead_sym.deployment.witnesses import is_old
from stead_sym.errors import InputError
from stead_sym.export.model import exported
from stead_sym.logic.kernel import core

CASES = int(os.environ.get("VIEWS_CASES", "8"))

DESK = """
deployment desk
sort case
sort clerk = { ann, ben }
relation Open(case key, clerk)
relation Focus(case)
bound case any
event arrive(k: clerk)
  effect
    fresh c: case
    insert Open(c, k)
tool take(c: case)
  guard Open(c, _) & ~exists d: case. Focus(d)
  effect
    insert Focus(c)
tool leave(c: case)
  guard Focus(c)
  effect
    delete Focus(c)
    delete Open(c, _)
policy careful
  call leave(c) when Focus(c)
  call take(c) when Open(c, _)
spec mutex AG atmost 1 c: case. Focus(c)
spec few AG atmost 1 c: case. Open(c, _)
"""


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("desk.stead").write_text(DESK)
    return "desk.stead"


def test_what_verdicts_for_every_number_rest_on(desk: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The same hypotheses on the terminal, in JSON and on the page."""
    assert main(["verify", desk, "--agent", "any", "--json", "--quiet"]) == 1
    data = json.loads(capsys.readouterr().out)
    said = {one["name"]: (one["status"], one["how"]) for one in data["hypotheses"]["all"]}
    assert said["serial"][0] == said["keys hold"][0] == "established"
    assert "mutex by 2-views: 12 of them, in one induction with key of Open" in said["views are invariant"][1]
    assert said["bounded"] == ("by construction", "any number of case may be in use")
    assert said["runs are runs of the deployment"][1] == "replayed; few, within case 2"
    assert main(["verify", desk, "--policy", "careful", "--hypotheses", "--report", "page.html"]) == 1
    out = capsys.readouterr().out
    for name in (*said, "agents are followed"):
        assert " ".join(name.split()[:3]) in out
        assert f">{name}<" in Path("page.html").read_text()


def test_what_is_not_shown_with_it_is_no_hypothesis_that_is_established() -> None:
    """Whether a step is possible hangs on a record that not every part has; what has no condition is not
    mentioned, also in a slice."""
    text_ = (
        "deployment d\nsort a\nrelation P(a)\nrelation Q(a)\nrelation R(a, a)\nbound a any\n"
        "initially any P where exists x. P(x)\n"
        "event e()\n  guard atleast 9 x: a. P(x)\n  effect\n    fresh x: a\n    insert P(x)\n"
        "tool t(x: a)\n  guard P(x)\n  effect\n    insert Q(x)\nspec s AG forall x: a. (Q(x) -> P(x))\n"
    )
    found = st.deepen(st.parse_deployment(text_), limit=1)
    shown = found.found["s"].every_number
    assert shown is not None
    assert shown.relations
    assert shown.left_open == ("a step is possible",)
    status = {one.name: (one.status, one.how) for one in found.hypotheses.all}
    assert status["serial"] == ("not established", "not shown for every number: a step is possible")
    assert status["keys hold"] == ("established", "none is declared")


def test_what_will_be_looked_at_is_explained(desk: str, capsys: pytest.CaptureFixture[str]) -> None:
    """k, n with what it is made of, what is shown in one induction, what is followed of the agent."""
    assert main(["explain", desk, "--policy", "careful"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "desk under careful, for every number of case" in out
    assert "k = 1, the most columns that a relation has for them, then 2 and 3" in out
    assert "with it key of Open, in one induction" in out
    assert "agent what its rules select, as guards of take, leave" in out
    assert "few all databases on 2 records whose parts are in V" in out
    assert main(["explain", desk, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert_described(data)
    assert [(one["tool"], one["named"], one["written"], one["total"]) for one in data["looks"]] == [
        ("arrive", 0, 1, 0), ("take", 1, 1, 1), ("leave", 1, 1, 1)
    ]  # fmt: skip
    assert main(["explain", desk, "--domain", "theorem"]) == 2
    assert "leave it out" in capsys.readouterr().err


def test_what_is_explained_is_what_is_done(desk: str) -> None:
    """n of each tool is what the views are closed over, and what is left out is named with its place."""
    deployment = st.load(desk)
    plan = EveryNumber(
        deployment, {s.name: s.formula for s in deployment.specs}, wrap_all(deployment, "any")
    ).plan()
    assert {look.tool: look.total for look in plan.looks} == Closing(deployment, 1, ()).within
    every = st.parse_deployment(
        DESK.replace("guard Focus(c)", "guard Focus(c) & forall x: case. exists y: case. Near(x, y)").replace(
            "relation Focus(case)", "relation Focus(case)\nrelation Near(case, case)"
        )
        + "invariant some exists c: case. Focus(c)\nspec ends AF Focus(_)\n"
    )
    plan = EveryNumber(every, {s.name: s.formula for s in every.specs}, wrap_all(every, "any")).plan()
    assert not [look for look in plan.looks if look.outside]
    assert plan.left_out.keys() == {"leave", "some"}
    said = "`forall x: case. exists y: case. Near(x, y)`"
    assert plan.left_out["leave"].startswith(f"without {said}, {said} may rest on another record")
    assert "says that there is a record; write a spec" in plan.left_out["some"]
    assert plan.specs["ends"].how == "not shown"


def test_every_command_answers_or_refuses_in_one_line(desk: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What has an answer without a bound gives it; the rest says what to write."""
    assert main(["check", desk]) == 0
    assert "key of Open, something to do in every state" in " ".join(capsys.readouterr().out.split())
    assert main(["bounds", desk, "--limit", "2", "--agent", "any"]) == 3
    out = " ".join(capsys.readouterr().out.split())
    assert "case any ? no bound up to 2; 3 are in use in some state" in out
    sarif = ["--sarif", "log.sarif", "--annotate"]
    assert main(["verify", desk, "--policy", "careful", "--quiet", *sarif]) == 1
    assert "::error file=desk.stead,line=" in capsys.readouterr().out
    rules = [one["ruleId"] for one in json.loads(Path("log.sarif").read_text())["runs"][0]["results"]]
    assert rules == ["scope", "fails"]
    for words in ("verify --contexts", "verify --force", "blame", "graph", "symmetry"):
        command, *options = words.split()
        assert main([command, desk, *options, "--policy", "careful"]) == 2
        assert "bound case any" in capsys.readouterr().err.splitlines()[-1]


def test_bounds_of_initial_databases_of_any_size_are_refused() -> None:
    some = "initially any Open where atmost 1 c: case. Focus(c)\nevent arrive"
    deployment = st.parse_deployment(DESK.replace("event arrive", some))
    with pytest.raises(InputError, match="admit any number of case, so that there is no least bound"):
        st.least_bounds(deployment)


def test_a_sweep_has_verdicts_for_every_number(desk: str) -> None:
    found = st.sweep([st.Run(desk, "any", options=("--max-bound", "2"))], workers=1)
    [row] = found.rows
    assert row.result.outcome == "done"
    assert row.result.specs == {"mutex": "holds", "few": "fails"}
    assert row.result.scope["mutex"][0].startswith("for every number of case")


def test_python_takes_what_was_found_or_says_what_it_needs(desk: str) -> None:
    deployment = st.load(desk)
    found = st.deepen(deployment, "careful", limit=2)
    assert found.place("mutex") == deployment.spec("mutex").span
    assert st.write_report(found, "page.html").read_text() == st.report_html(found)
    assert st.check_certificate(st.write_certificate(found, "certificate")).verdicts == {"mutex": "holds"}
    few = found.found["few"]
    assert few.verdict.evidence is not None
    assert st.replay(deployment, found.wrappers, few.verdict.evidence, few.within).confirmed
    with pytest.raises(InputError, match=r"in Python by `st\.deepen`"):
        st.verify(deployment)
    for use in (st.draw_states, st.draw_decisions, st.exported, st.decisions_frame):
        with pytest.raises(InputError, match="got a Deepening; write bounds into the file"):
            use(found)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="needed, got a Deepening"):
        st.blame(found, "few")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="needed, got a Deepening"):
        st.VerifiedAgent(deployment, found)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="verdicts for every number of records"):
        st.VerifiedAgent(deployment, st.verify_apart(deployment, "careful"))


def test_findings_may_be_left_out_and_accepted() -> None:
    text = f"{DESK}tool never(c: case)\n  guard Focus(c) & ~Open(c, _)\n  effect\n    delete Focus(c)\n"
    found = st.deepen(st.parse_deployment(text), limit=1)
    assert [one.kind for one in found.findings] == ["never offered"]
    assert st.deepen(st.parse_deployment(text), limit=1, findings=False).findings == ()
    accepted = text.replace("never(c: case)", "never(c: case) # accepted never offered: kept for later")
    found = st.deepen(st.parse_deployment(accepted), limit=1)
    assert found.findings == ()
    assert [one.reason for one in found.accepted] == ["kept for later"]


EMPTY_PREMISE = """
deployment d
sort a
relation R(a)
relation S(a)
relation T(a)
relation N(a, a)
bound a any
event both()
  effect
    fresh x: a
    insert R(x)
    insert S(x)
event alone()
  effect
    fresh x: a
    insert T(x)
event near(x: a)
  guard T(x) & (atleast 9 y: a. T(y))
  effect
    insert N(x, x)
spec s AG forall x: a. (~S(x) -> ~R(x))
spec t AG forall x: a. (R(x) & ~S(x) -> T(x))
spec u AG forall x: a. (~R(x) & S(x) -> A[S(x) W R(x)])
"""


def test_a_premise_that_a_slice_does_not_show_is_not_empty() -> None:
    """A value in T alone is in no relation of the slice, which the premise of s does not ask for."""
    found = st.deepen(st.parse_deployment(EMPTY_PREMISE), limit=1)
    shown = found.found["s"].every_number
    assert shown is not None
    assert set(shown.relations) == {"R", "S"}
    assert found["s"].said == "holds"
    assert found["t"].said == "holds, of nothing"
    assert {one.spec for one in found.findings} >= {"t"}
    assert "s" not in {one.spec for one in found.findings}


def test_a_premise_of_what_is_until_something_comes_may_be_empty() -> None:
    text = EMPTY_PREMISE.replace(" & (atleast 9 y: a. T(y))", "")
    found = st.deepen(st.parse_deployment(text), limit=1)
    assert found["u"].said == "holds, of nothing"
    assert {one.spec for one in found.findings} == {"t", "u"}


ONE_IN_HAND = """
deployment focused
sort a
relation P(a)
relation Focus(a)
relation Done(a)
relation Bad(a)
bound a any
event arrive()
  effect
    fresh x: a
    insert P(x)
event take(x: a)
  guard P(x) & ~Focus(_)
  effect
    insert Focus(x)
tool finish(x: a)
  guard Focus(x)
  effect
    insert Done(x)
    clear Focus
tool spoil(x: a)
  guard Focus(x)
  effect
    insert Bad(x)
    clear Focus
tool never(x: a)
  guard Focus(x) & ~P(x)
  effect
    clear Focus
tool wait()
view Focus(x)
view Done(x) where Focus(x)
spec clean AG ~Bad(_)
spec empty AG forall x: a. (Bad(x) -> Done(x))
"""


def finishing(context: DecisionContext) -> list[Call]:
    return [call for call in context.calls if call.tool == "finish"] or [Call("wait", ())]


def test_findings_where_an_agent_is_asked() -> None:
    found = st.deepen(st.parse_deployment(ONE_IN_HAND), finishing, limit=1)
    assert found["clean"].said == "holds"
    assert found["empty"].said == "holds, of nothing"
    assert {one.kind for one in found.findings} == {"never offered", "never selected", "premise never true"}
    assert "spoil may be offered, but finishing never selects it" in str(found.findings)
    anybody = st.deepen(st.parse_deployment(ONE_IN_HAND), limit=1)
    assert anybody["clean"].said == "fails"


def test_an_agent_that_raises_where_no_run_comes_is_not_followed() -> None:
    """What its code raises in a context of views is the reason, and no crash."""

    class Strange(Exception):
        pass

    def strange(context: DecisionContext) -> list[Call]:
        raise Strange("whatever is asked")

    deployment = st.parse_deployment(ONE_IN_HAND)
    formulas = {s.name: s.formula for s in deployment.specs}
    for agent in (FunctionAgent(strange), strange):
        search = EveryNumber(deployment, formulas, wrap_all(deployment, agent))
        assert not [name for _ in range(2) for name in search.further(["clean"])]
        assert "what strange selects is not followed: " in search.reasons["clean"]
        assert "raises Strange: whatever is asked" in search.reasons["clean"]


def test_what_an_agent_knows_by_name_stays_a_constant() -> None:
    """Of many records of `init` one is known to the agent, which spoils it alone."""
    rows = "".join(f"  P(r{n})\n" for n in range(20))
    deployment = st.parse_deployment(f"{ONE_IN_HAND}init\n{rows}")

    def choose(context: DecisionContext) -> list[Call]:
        return [call for call in context.calls if call == Call("spoil", ("r5",))] or finishing(context)

    wrapper = st.CanonicalWrapper(
        FunctionAgent(choose), deployment.schema, deployment.tools_of(deployment.agents[0]), {"r5": "a"}
    )
    formulas = {s.name: s.formula for s in deployment.specs}
    search = EveryNumber(deployment, formulas, wrap_all(deployment, wrapper))
    assert search.records is not None
    assert not [name for _ in range(3) for name in search.further(["clean"])]
    plain = EveryNumber(deployment, formulas, wrap_all(deployment, FunctionAgent(choose)))
    assert [name for _ in range(3) for name in plain.further(["clean"])] == ["clean"]


def choosing(seed: int) -> str:
    """A file with records in `init` that may leave and be chosen again, when nothing holds them any more."""
    random = Random(seed)
    conditions = [
        "P(x)",
        "~P(x)",
        "~S(x, _)",
        "~P(x) & ~S(x, _)",
        "S(x, u)",
        "~Q(x)",
        "~exists y: a. Q(y)",
        "",
    ]
    changes = ["insert Q(x)", "insert S(x, v)", "insert S(x, u)", "insert P(x)", "insert R(x, x)"]
    lines = ["deployment d\nsort a\nsort k = { u, v } rigid\nrelation P(a)\nrelation Q(a)\nrelation S(a, k)"]
    rows = random.sample(["P(c0)", "P(c1)", "S(c1, u)", "S(c2, v)", "Q(c2)"], 3)
    lines += ["relation R(a, a)\nrelation G()\nbound a any\ninit", *(f"  {row}" for row in rows)]
    for number in range(2):
        gone = random.sample(["delete P(x)", "delete S(x, _)", "delete Q(x)", "delete R(x, _)"], 2)
        guard = random.choice(["P(x)", "S(x, _)", "Q(x)", "P(x) & ~Q(x)"])
        lines.append(f"tool drop{number}(x: a)\n  guard {guard}\n  effect\n    " + "\n    ".join(gone))
        where = f" where {said}" if (said := random.choice(conditions)) else ""
        done = random.sample(changes, random.choice([1, 1, 2]))
        effect = [f"choose x: a{where}", *done]
        if random.random() < 0.3:
            effect = [f"choose x: a{where}", "choose y: a where ~P(y)", "insert R(x, y)"]
        chosen = "\n    ".join(effect)
        lines.append(f"tool pick{number}()\n  effect\n    {chosen}\n  effect\n    insert G()")
    if random.random() < 0.5:
        lines.append("event birth()\n  effect\n    fresh x: a\n    insert P(x)")
    facts = ["P(x)", "Q(x)", "S(x, u)", "S(x, v)", "R(x, x)", "~P(x)", "~Q(x)", "~S(x, _)"]
    for number in range(4):
        lines.append("spec s{} AG forall x: a. ({} & {} -> {})".format(number, *random.sample(facts, 3)))
    return "\n".join([*lines, "tool idle()", "spec few AG atmost 2 x: a. Q(x)"]) + "\n"


def test_records_of_init_that_are_gone_may_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """As constants they may be, as values as any others they are covered by inactive ones: no bounded run
    refutes what is shown so."""
    monkeypatch.setattr("stead_sym.analyses.views.records.MOST_CONSTANTS", 0)
    holding = failing = 0
    for seed in range(CASES):
        deployment = st.parse_deployment(choosing(seed))
        formulas = {spec.name: spec.formula for spec in deployment.specs}
        search = EveryNumber(deployment, formulas, wrap_all(deployment, "any"))
        assert search.records is not None
        shown = {name: one for _ in range(2) for name, one in search.further(list(formulas)).items()}
        leaps = leaping(deployment)
        for b in (0, 1):
            part = fragment(replace(leaps, deployment=deployment.within({"a": b})), {"a": b})
            specs = tuple(replace(s, formula=part.possible(s.formula)) for s in deployment.specs)
            written = replace(part.deployment.written, specs=specs)
            result = st.verify(replace(part.deployment, written=written), findings=False)
            failed = {name for name in formulas if result[name].holds is False}
            assert not shown.keys() & failed, f"seed {seed} within {b}"
            failing += len(failed)
        holding += len(shown)
    assert holding > CASES / 2
    assert failing > CASES / 2


def test_what_asks_for_another_record_is_told_so() -> None:
    """The part on a case alone has no clerk; a clerk of a finite sort is in every part."""
    text = (
        "deployment d\nsort case\nsort clerk%s\nrelation Paid(case)\nrelation By(case, clerk)\n"
        "bound case any\n"
        "event pay(%s)\n  effect\n    fresh c: case\n%s    insert Paid(c)\n    insert By(c, k)\n"
        "spec by AG forall c: case. (Paid(c) -> By(c, _))\nspec none AG ~Paid(_)\n"
    )
    open_ = st.deepen(st.parse_deployment(text % ("\nbound clerk any", "", "    fresh k: clerk\n")), limit=1)
    assert "it asks that there is a record, which a part of a database may lack" in open_["by"].reason
    assert "asks that there is a record" not in open_["none"].reason
    finite = st.deepen(st.parse_deployment(text % (" = { ann, ben }", "k: clerk", "")), limit=1)
    assert finite["by"].holds


def _shown(text_: str, *, rounds: int = 1) -> dict[str, Shown]:
    deployment = st.parse_deployment(text_)
    specs = {spec.name: spec.formula for spec in deployment.specs}
    search = EveryNumber(deployment, specs, wrap_all(deployment, "any"))
    return {name: one for _ in range(rounds) for name, one in search.further(specs).items()}


UNTIED = """
deployment untied
sort a, b, c
relation R(a, b, c)
relation S(a, b, c)
bound a any
bound b any
bound c any
event begin()
  effect
    fresh x: a
    fresh y: b
    fresh z: c
    insert R(x, y, z)
event tie(x: a, y: b, z: c)
  effect
    insert R(x, y, z)
tool copy(x: a, y: b, z: c)
  guard R(x, y, z)
  effect
    insert S(x, y, z)
spec own AG forall x: a, y: b, z: c. (S(x, y, z) -> R(x, y, z))
spec wrong AG forall x: a, y: b, z: c. (R(x, y, z) -> S(x, y, z))
"""


def test_a_parameter_that_no_fact_ties_does_not_take_the_values_beside_it(tmp_path: Path) -> None:
    """It is in use. Slices before the one that says so have no views, which ends nothing; what a certificate
    says of that slice is checked."""
    found = st.deepen(st.parse_deployment(UNTIED), specs="own", limit=1)
    shown = found.found["own"].every_number
    assert shown is not None
    assert shown.proof is not None
    assert dict(shown.proof.using).keys() == {"a", "b", "c"}
    assert st.check_certificate(st.write_certificate(found, tmp_path / "c")).claims[0].name == "own"
    assert _shown(UNTIED).keys() == {"own"}


MIXED = """
deployment mixed
sort task, file
relation Task(task)
relation File(file)
relation Seen(task, file)
relation Lost(file)
bound task 2
bound file any
event create()
  effect
    fresh f: file
    insert File(f)
event begin()
  guard atmost 1 t: task. Task(t)
  effect
    fresh t: task
    insert Task(t)
tool read(t: task, f: file)
  guard Task(t) & File(f)
  effect insert Seen(t, f)
tool write(t: task, f: file)
  guard Task(t) & File(f) & Seen(t, f)
  effect
    insert Lost(f) where ~Seen(t, f)
    delete Seen(u, f) for u where u != t
tool rest()
spec kept AG ~Lost(_)
"""


def test_a_written_bound_beside_any_loses_no_verdict(tmp_path: Path) -> None:
    """What holds for every number of all sorts holds within the bound, which is then a claim of its own."""
    found = st.deepen(st.parse_deployment(MIXED), limit=1)
    for name, sorts in (("kept", ("task", "file")), ("bound task 2", ("file",))):
        assert found[name].holds
        shown = found.found[name].every_number
        assert shown is not None
        assert shown.sorts == sorts
    bounded = next(one for one in found.hypotheses.all if one.name == "bounded")
    assert bounded.status == "established"
    path = st.write_certificate(found, tmp_path / "c")
    assert st.check_certificate(path).claims[0].name == "kept"


def test_what_a_written_bound_is_needed_for_is_not_shown_without_it(tmp_path: Path) -> None:
    """One P is there by the bound alone: the certificate that does without it is refused."""
    needs_bound = (
        "deployment d\nsort a, b\nrelation P(a)\nrelation Q(b)\nbound a 1\nbound b any\ninitially any P\n"
        "event e()\n  effect\n    fresh y: b\n    insert Q(y)\ntool w()\nspec one AG atmost 1 x: a. P(x)\n"
    )
    found = st.deepen(st.parse_deployment(needs_bound), limit=1)
    shown = found.found["one"].every_number
    assert shown is not None
    assert shown.sorts == ("b",)
    path = st.write_certificate(found, tmp_path / "c")
    assert st.check_certificate(path).unbounded == ("b",)
    document = path / "certificate.json"
    data = json.loads(document.read_text())
    for induction in data["inductions"]:
        induction["without_bounds"] = ["a"]
    document.write_text(json.dumps(data, indent=1, ensure_ascii=False))
    with pytest.raises((CertificateRejected, InputError)):
        st.check_certificate(path)


def test_a_certificate_is_about_every_number_of_a_sort_if_all_of_its_claims_are(tmp_path: Path) -> None:
    """Of two claims, one needs the bound of a; the other is shown without it, in a later induction."""
    text = (
        "deployment d\nsort a, b\nrelation P(a)\nrelation Q(b)\nrelation N(a)\nbound a 1\nbound b any\n"
        "initially any P\nevent e()\n  effect\n    fresh y: b\n    insert Q(y)\ntool w()\n"
        "spec one AG atmost 1 x: a. P(x)\nspec none AG ~N(_)\n"
    )
    path = st.write_certificate(st.deepen(st.parse_deployment(text), limit=1), tmp_path / "c")
    data = json.loads((path / "certificate.json").read_text())
    assert [one["without_bounds"] for one in data["inductions"]] == [[], ["a"]]
    assert st.check_certificate(path).unbounded == ("b",)


FAIR = """
deployment cutoff
sort job
relation Open(job)
relation Done(job)
bound job any
event arrive()
  effect
    fresh j: job
    insert Open(j)
event finish(j: job)
  guard Open(j)
  effect
    insert Done(j)
fair event finish
spec opened AG forall j: job. (Done(j) -> Open(j))
spec none AG ~Done(_)
spec ends AG forall j: job. (Open(j) -> AF Done(j))
"""


def test_what_is_always_true_does_not_hang_on_fairness_of_actions(tmp_path: Path) -> None:
    found = st.deepen(st.parse_deployment(FAIR), limit=2)
    assert [found[name].holds for name in ("opened", "none", "ends")] == [True, False, None]
    assert found["ends"].reason.startswith("under `fair event finish` only what is always true")
    path = st.write_certificate(found, tmp_path / "c")
    assert [claim.name for claim in st.check_certificate(path).claims] == ["opened"]
    both = FAIR.replace("fair event finish", "fair event finish\nfair ~Open(_) | Done(_)")
    with pytest.raises(InputError, match="beside fairness of states"):
        st.deepen(st.parse_deployment(both), limit=1)


def test_certificates_and_exports_say_what_is_always_true_under_fairness_of_actions(tmp_path: Path) -> None:
    """In the mode with bounds, too: what may hang on fairness is left out, and a certificate that claims it
    is refused."""
    bounded = FAIR.replace("bound job any", "bound job 1").replace(
        "event arrive()", "event arrive()\n  guard ~Open(_)"
    )
    result = st.verify(st.parse_deployment(bounded))
    assert [result[name].holds for name in ("opened", "none", "ends")] == [True, False, True]
    path = st.write_certificate(result, tmp_path / "c")
    assert [(c.name, c.verdict) for c in st.check_certificate(path).claims] == [
        ("opened", "holds"),
        ("none", "fails"),
    ]
    smv = st.to_smv(exported(result))
    assert "spec_opened" in smv
    assert "spec_ends" not in smv
    document = path / "certificate.json"
    data = json.loads(document.read_text())
    data["specs"][1]["name"] = data["specs"][1]["formula"] = "EG ~Done(_)"
    document.write_text(json.dumps(data, indent=1, ensure_ascii=False))
    with pytest.raises(InputError, match="under which only what is always true"):
        st.check_certificate(path)
    result = st.verify(st.parse_deployment(bounded), specs="ends")
    with pytest.raises(InputError, match="only what is always true"):
        st.write_certificate(result, tmp_path / "d")
    with pytest.raises(InputError, match="ask only what is always true"):
        exported(result)


APART = """
deployment apart
sort room, guest
relation Room(room)
relation Guest(guest)
relation In(room, guest)
bound room any
bound guest any
event build()
  effect
    fresh r: room
    insert Room(r)
event arrive()
  effect
    fresh g: guest
    insert Guest(g)
tool enter(r: room, g: guest)
  guard Room(r) & Guest(g)
  effect insert In(r, g)
spec few AG forall r: room. atmost 2 g: guest. In(r, g)
"""


def test_sorts_are_raised_apart() -> None:
    """A run that needs one room and three guests is found there, before there are two rooms."""
    found = st.deepen(st.parse_deployment(APART), limit=3)
    assert found.found["few"].within == {"room": 1, "guest": 3}
    assert all(one.bounds["room"] < 2 for one in found.rounds)


def test_initial_databases_that_are_not_empty_are_looked_for() -> None:
    """No bound can be raised that the file has not: the least database that satisfies the condition counts,
    and nothing is said of a condition that none satisfies."""
    begins = (
        "deployment d\nsort a\nrelation P(a)\nrelation Q(a)\nbound a any\n"
        "initially any P where exists x, y: a. P(x) & P(y) & x != y\n"
        "tool t(x: a)\n  guard P(x)\n  effect insert Q(x)\nspec s AG forall x: a. (Q(x) -> P(x))\n"
        "spec u AG ~Q(_)\n"
    )
    found = st.deepen(st.parse_deployment(begins), limit=3)
    assert found["s"].holds
    assert found["u"].holds is False
    assert found.found["u"].within == {"a": 2}
    nothing = begins.replace("P(x) & P(y) & x != y", "P(x) & ~P(x)").replace(", y", "")
    with pytest.raises(InputError, match="weaken the condition"):
        st.deepen(st.parse_deployment(nothing), limit=2)


def test_gates_are_named_and_their_idle_lines_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "g.stead"
    file.write_text(
        "deployment d\nsort a\nrelation P(a)\nrelation Never(a)\nrelation Q(a)\nbound a any\n"
        "event e()\n  effect\n    fresh x: a\n    insert P(x)\n"
        "tool t(x: a)\n  guard P(x)\n  effect insert Q(x)\ntool w()\n"
        "gate g\n  permit t(_)\n  permit w()\n  forbid t(_) when exists p. Never(p)\n"
        "spec s AG forall x: a. (Q(x) -> P(x))\n"
    )
    assert main(["verify", str(file), "--gate", "g"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "d under any behind g" in out
    assert "rule never matches" in out
    assert main(["verify", str(file), "--gate", "g", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert_described(data)
    assert [one["gate"] for one in data["gates"]] == ["g"]
    assert [one["kind"] for one in data["findings"]] == ["rule never matches"]
    assert main(["verify", str(file)]) == 0
    assert "behind" not in capsys.readouterr().out


def test_what_cannot_be_shown_for_every_number_says_so_first() -> None:
    text_ = DESK.replace("spec few", "spec back AG forall c: case. (Focus(c) -> EF ~Focus(c))\nspec few")
    found = st.deepen(st.parse_deployment(text_), limit=1)
    assert found["back"].reason.startswith("for every number: it cannot be shown this way: only `AG`")


@pytest.mark.parametrize(
    ("formula", "says"),
    [
        ("atleast 2 y: a. R(x, y)", True),
        ("atleast 0 y: a. R(x, y)", False),
        ("atmost 1 y: a. R(x, y)", False),
        ("exactly 0 y: a. R(x, y)", False),
        ("exists y: a. R(x, y)", True),
        ("P(x) & ~P(x)", True),
    ],
)
def test_which_counts_say_that_a_value_is_active(formula: str, says: bool) -> None:
    """Both for views and in the checker of their certificates: at least none of something is always so."""
    deployment = st.parse_deployment(
        "deployment d\nsort a\nrelation P(a)\nrelation R(a, a)\nbound a any\ntool t()\nspec s AG true\n"
    )
    read = deployment.formula(formula, {"x": "a"})
    assert is_old(read, "x", frozenset()) is says
    assert names_in_fact(core(read), "x") is says
