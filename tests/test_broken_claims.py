"""Claims of a file that a run breaks: a verdict on the claim with its run, what the run refutes besides, and
nothing else decided."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from types import MappingProxyType

import pytest
from hypothesis import assume, event, given, note, reject, settings
from hypothesis import strategies as st_

import stead_sym as st
from described import assert_described
from engine_pairs import examples, is_at_fault
from generated.deployments import deployments
from replayed import assert_verdicts_replay
from stead_sym.certificate.write import uncertifiable
from stead_sym.cli.main import main
from stead_sym.deployment.claims import claims
from stead_sym.errors import AgentError, DefinitionError, InputError, Undecided
from stead_sym.report.page import report_html

VOUCHERS = """
deployment vouchers
sort customer
sort voucher
relation Customer(customer)
relation Voucher(voucher, customer)
relation Served()
bound customer 1
bound voucher 5
event arrive()
  guard ~Customer(_)
  effect
    fresh c: customer
    insert Customer(c)
tool issue(c: customer)
  guard Customer(c)
  effect
    fresh v: voucher
    insert Voucher(v, c)
tool serve(c: customer)
  guard Customer(c)
  effect
    insert Served()
tool wait()
policy generous
  call issue(c)
  call wait()
spec few AG atmost 3 v. Voucher(v, _)
spec served AF Served()
spec never AG ~Served()
spec until A[~Voucher(_, _) W Served()]
spec possible EF Voucher(_, _)
spec twice AG forall c. (Customer(c) -> AX AX ~Voucher(_, c))
"""
ENGINES = ("explicit", "symbolic")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_model_that_issues_vouchers_for_ever(engine):
    result = st.verify(st.parse_deployment(VOUCHERS, "v.stead"), "generous", engine=engine)
    assert {name: verdict.word for name, verdict in result.verdicts.items()} == {
        "bound voucher 5": "fails",
        "few": "fails",
        "served": "unknown",
        "never": "unknown",
        "until": "fails",
        "possible": "unknown",  # no verdict but a failure rests on a run that is not known to go on
        "twice": "fails",
    }
    assert len(result["bound voucher 5"].trace.steps) == 7
    assert len(result["few"].trace.steps) == 5
    assert_verdicts_replay(result)
    with pytest.raises(st.errors.BoundExceeded):
        _ = result.engine
    assert uncertifiable(result)
    assert "2. issue(customer1)\n" in str(result["few"].trace)
    assert "3-5. issue(customer1), 3 times more\n     + 3 of Voucher" in str(result["few"].trace)
    with pytest.raises(InputError, match="covered"):
        st.VerifiedAgent(result.deployment, result)


def test_every_form_of_the_report(tmp_path, capsys):
    path = tmp_path / "v.stead"
    path.write_text(VOUCHERS, encoding="utf-8")
    words = [str(path), "--policy", "generous"]
    assert main(["verify", *words, "--json", "--certify", str(tmp_path / "c")]) == 1
    said = capsys.readouterr()
    assert "no certificate is written: `bound voucher 5` is broken" in said.err
    report = json.loads(said.out)
    assert_described(report)
    assert report["broken"] == "bound voucher 5"
    assert report["states"] is report["transitions"] is None
    assert len(report["specs"]["bound voucher 5"]["trace"]) == 7  # the data have every step
    (tmp_path / "r.json").write_text(said.out, encoding="utf-8")
    assert main(["replay", str(path), str(tmp_path / "r.json"), "--quiet"]) == 0
    assert "bound voucher 5 fails under generous: confirmed, 7 steps" in capsys.readouterr().out
    assert main(["blame", *words]) == 0
    out = capsys.readouterr().out
    assert "bound voucher 5 fails under generous" in out
    assert "It would hold with one decision taken otherwise" in out
    assert main(["diff", str(tmp_path / "r.json"), str(tmp_path / "r.json")]) == 0
    assert main(["verify", *words, "--quiet", "--timeout", "100", "--evidence", str(tmp_path / "e")]) == 1
    (shown,) = (tmp_path / "e").glob("bound-voucher-5-*.json")  # told by a process of its own, as it is found
    assert main(["replay", str(path), str(shown), "--quiet"]) == 0
    page = report_html(st.verify(st.load(path), "generous"))
    assert "5 times more" in page
    assert page.count('class="state"') >= 8
    with pytest.raises(InputError, match="covered"):
        st.VerifiedAgent(st.load(path), report)


@pytest.mark.parametrize("fair", ["Served()", "event arrive"])
def test_what_the_run_refutes_fails_under_fair_lines_too(fair):
    """Every finite run is the beginning of a fair one, or of one that the lines leave out."""
    text = f"{VOUCHERS}fair {fair}\n"
    result = st.verify(st.parse_deployment(text), "generous")
    failing = {v.spec for v in result.verdicts.values() if v.holds is False}
    assert failing == {"bound voucher 5", "few", "until", "twice"}
    assert_verdicts_replay(result)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("tool", "claim"),
    [
        ("tool t(x: a)\n  guard P(x)\n  effect\n    delete P(x)", "a step is possible"),
        ("tool t(x: a)\n  effect\n    choose y: a where y != x & P(y)\n    delete P(y)", "t has an effect"),
        ("tool t(x: a)\n  guard P(x)\n  effect\n    insert K(x, x)\n    insert K(x, c)", "key of K"),
    ],
)
def test_the_other_claims(tool, claim, engine):
    head = "deployment d\nsort a\nrelation P(a)\nrelation K(a key, a)\ninit\n  P(b)\n  P(c)\n"
    fixed = "spec s AG P(b)\nspec t AG true\n"
    result = st.verify(st.parse_deployment(f"{head}{tool}\n{fixed}"), engine=engine)
    assert result.broken.claim == claim
    assert result[claim].holds is False
    assert result["t"].holds is None
    assert_verdicts_replay(result)


@pytest.mark.parametrize("deepened", [False, True])
def test_what_another_agent_need_not_break_is_said(deepened):
    """Where the exploration ends early, or bounds are raised, as where it comes to its end."""
    desk = st.parse_deployment(VOUCHERS)
    of_any = st.deepen(desk, "any", limit=6).verdicts if deepened else st.verify(desk, "any").verdicts
    of_policy = st.verify(desk, "generous").verdicts
    could = ("some agent violates this; a specific agent may not",)
    failing = {name for name, verdict in of_any.items() if verdict.holds is False}
    assert failing > {"few", "until", "twice"}
    assert all(of_any[name].scope == could for name in failing - {"served"})
    assert not any(of_any[name].scope for name in failing & {"served"})  # as long as nobody comes
    assert not any(verdict.scope for verdict in of_policy.values())


def test_what_is_wrong_at_the_start_is_an_error():
    with pytest.raises(st.errors.NothingOffered):
        st.verify(st.parse_deployment("deployment d\nrelation P()\ntool t()\n  guard P()\nspec s AG P()\n"))


def test_a_run_ends_at_the_first_state_that_breaks_a_claim():
    """The key is broken on the way to the bound, which the symbolic engine looks at first."""
    text = """
deployment d
sort a
sort k = { k1, k2 }
relation R(a, k key)
bound a 2
tool t()
  effect
    fresh x: a
    fresh y: a
    insert R(y, z) for z: k
tool u()
  effect
    fresh x: a
    insert R(x, k1)
"""
    for engine in ENGINES:
        result = st.verify(st.parse_deployment(text), engine=engine)
        assert result.broken.claim == "key of R"
        assert_verdicts_replay(result)


# generated deployments


def with_keys(deployment, marks):
    """The deployment with keys: for each relation with columns, a number whose bits say which."""
    numbers = iter(marks)

    def marked(match):
        columns = match[2].split(", ")
        mark = next(numbers, 0)
        keyed = [f"{column} key" if mark >> k & 1 else column for k, column in enumerate(columns)]
        return f"relation {match[1]}({', '.join(keyed)})"

    return st.parse_deployment(re.sub(r"(?m)^relation (\w+)\(([^()]+)\)", marked, str(deployment)))


def found(deployment, agent, **options):
    try:
        return st.verify(deployment, agent, findings=False, **options)
    except (DefinitionError, AgentError) as error:
        return type(error).__name__


def larger(deployment, broken):
    """The deployment without the claim: larger bounds, no keys, a tool for a state in which nothing can be
    done. None where there is no such change."""
    match broken:
        case st.errors.BoundExceeded():
            bounds = {sort: bound + 1 for sort, bound in deployment.bounds.items()}
            return replace(deployment, bounds=MappingProxyType(bounds))
        case st.errors.KeyBroken():
            return st.parse_deployment(str(deployment).replace(" key", ""))
        case st.errors.NothingOffered():
            [claim] = [claim for claim in claims(deployment) if claim.name == broken.claim]
            return st.parse_deployment(f"{deployment}\nevent stay_()\n  guard ~({claim.invariant})\n")
    return None


def check(deployment, agent):
    """The engines agree whether a claim is broken; every run replays and breaks it; what fails beside it
    fails where the claim is not made."""
    try:
        results = [
            found(deployment, agent, engine="explicit", max_states=200),
            found(deployment, agent, domain="theorem"),
            found(deployment, agent),
        ]
    except Undecided:
        reject()
    broken = [result if isinstance(result, str) else result.broken is not None for result in results]
    if any(isinstance(result, str) for result in results):
        return "an error"  # which one comes first is up to the order in which states are looked at
    assert broken[0] == broken[1] == broken[2]
    if not broken[0]:
        return "kept"
    for result in results:
        first, *others = result.verdicts.values()
        assert first.spec == result.broken.claim
        assert first.holds is False
        assert not any(verdict.holds for verdict in others)
        assert is_at_fault(deployment, result.restriction, result.broken)
        assert_verdicts_replay(result)
        refuted = [verdict.spec for verdict in others if verdict.holds is False]
        assert_refuted_without(deployment, agent, result, refuted)
    kinds = {type(result.broken).__name__ for result in results}
    return f"{' or '.join(sorted(kinds))}{', with a refuted specification' * bool(refuted)}"


def assert_refuted_without(deployment, agent, result, refuted):
    mended, broken = deployment, result.broken
    for _ in range(4):
        mended = larger(mended, broken)
        if not refuted or mended is None:
            return
        try:
            again = found(mended, agent, engine="explicit", max_states=300)
        except Undecided:
            return
        if isinstance(again, str):
            return
        for spec in refuted:
            assert again[spec].holds is not True
            assert again.broken is not None or again[spec].holds is False
        if again.broken is None:
            event("refuted without the claim")
            return
        broken = again.broken


@settings(max_examples=examples(30), deadline=None)
@given(st_.data())
def test_generated_deployments_that_break_their_claims(data):
    free = deployments(keep_bounds=False, total=data.draw(st_.booleans()))
    deployment = data.draw(free)
    if data.draw(st_.booleans()):
        marks = data.draw(st_.lists(st_.integers(0, 3), min_size=4, max_size=4))
        try:
            deployment = with_keys(deployment, marks)
        except InputError:
            reject()
    note(str(deployment))
    agent = data.draw(st_.sampled_from(["any", *(policy.name for policy in deployment.policies)]))
    assume(deployment.specs)
    event(check(deployment, agent))
