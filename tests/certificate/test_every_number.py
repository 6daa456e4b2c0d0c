"""Certificates of what holds for every number of records: accepted as they are written, and refused when they
are altered, unless they still prove what they state."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

import stead_sym as st
from generated.records import text, waiting
from stead_sym.agents.base import DecisionContext, FunctionAgent
from stead_sym.agents.rules import RuleAgent
from stead_sym.analyses.deepening.deepen import deepen
from stead_sym.analyses.deepening.result import Deepening
from stead_sym.certificate.checker.needed import Needed
from stead_sym.certificate.document import DOCUMENT, digest
from stead_sym.certificate.verdict import CertificateRejected
from stead_sym.certificate.write import uncertifiable_views, write_views
from stead_sym.cli.main import main
from stead_sym.deployment.tool import Call
from stead_sym.errors import InputError, SteadError, Undecided
from test_slicing import WIDE
from test_views import DESK, DESK_OF_ONE, MIXING, RECORDS_OF_DATA, ROOMS, SIGNATURE, WAITING

CASES = int(os.environ.get("VIEWS_CASES", "12"))

FOLLOWING = """
deployment following
sort case
relation Open(case)
relation Asked(case)
relation Sent(case)
bound case any
event arrive()
  effect
    fresh c: case
    insert Open(c)
tool ask(c: case)
  guard Open(c) & ~Asked(c)
  effect
    insert Asked(c)
tool send(c: case)
  guard Open(c) & ~Sent(c)
  effect
    insert Sent(c)
tool wait()
policy careful
  call send(c) when Asked(c)
  call ask(c)
  call wait()
invariant one atmost 1 c: case. (Open(c) & Asked(c) & ~Open(c))
spec asked AG forall c: case. (Sent(c) -> Asked(c))
"""


STARTING = f"""{SIGNATURE}
bound a any
initially any P, Q where atmost 1 x. P(x)
spec s AG atmost 1 x. P(x)
"""


STARTING_IN_PAIRS = """
deployment pairs
sort a
relation P(a)
relation Q(a)
relation R(a key, a)
relation S(a references R)
bound a any
initially any P, Q, R, S where (forall x: a. (P(x) -> exists y: a. (R(x, y) & Q(y)))) & (atmost 1 x: a. Q(x))
tool idle()
tool drop(x: a)
  guard P(x)
  effect
    delete P(x)
spec few AG atmost 1 x: a. Q(x)
spec to_it AG forall x: a, y: a. (P(x) & Q(y) & R(x, y) -> x = y | ~R(x, x))
"""


@cache
def found_of(text_: str, agent: str = "any") -> Deepening:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("stead_sym.analyses.views.proposing.SECONDS", 0.0)
        return deepen(st.parse_deployment(text_), agent, limit=1)


def altered(directory: Path, change: Callable[[Any], object]) -> None:
    """Change the data of a certificate; the digest is that of the text that is there then."""
    path = directory / DOCUMENT
    data = json.loads(path.read_text())
    change(data)
    data["deployment"]["sha256"] = digest(data["deployment"]["text"])
    path.write_text(json.dumps(data))


def all_refused(directory: Path, alterations: Mapping[str, Callable[[Any], object]]) -> None:
    """Each of these makes a certificate one that is refused."""
    written = (directory / DOCUMENT).read_text()
    for name, altering in alterations.items():
        altered(directory, altering)
        with pytest.raises((CertificateRejected, InputError)):
            pytest.fail(f"{name}: {st.check_certificate(directory)}")
        (directory / DOCUMENT).write_text(written)


@pytest.mark.parametrize(
    ("text_", "agent", "claims"),
    [
        (f"{DESK}bound case any\n", "any", {"four_eyes", "mutex"}),
        (MIXING, "any", {"apart"}),
        (ROOMS, "any", {"one"}),
        (FOLLOWING, "careful", {"one", "asked"}),
        (STARTING, "any", {"s"}),
        (STARTING_IN_PAIRS, "any", {"few", "to_it"}),
    ],
)  # fmt: skip
def test_what_is_written_is_accepted(text_: str, agent: str, claims: set[str], tmp_path: Path) -> None:
    found = found_of(text_, agent)
    checked = st.check_certificate(write_views(found, tmp_path))
    assert checked.verdicts == dict.fromkeys(claims, "holds")
    assert {name for name, one in found.found.items() if one.every_number} >= claims
    assert set(checked.unbounded) >= found.deployment.unbounded
    assert checked.number > 10


def test_at_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (file := tmp_path / "d.stead").write_text(MIXING)
    where = str(tmp_path / "proof")
    assert main(["verify", str(file), "--agent", "any", "--quiet", "--certify", where]) == 0
    capsys.readouterr()
    assert main(["check-certificate", where, "--about", str(file)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("accepted: mixing under any (everything offered), for every number of case: ")
    file.write_text(f"{WAITING}spec s EF Done(_)\n")
    main(["verify", str(file), "--agent", "any", "--quiet", "--certify", where, "--max-bound", "1"])
    assert "no certificate is written: nothing of what is always true is shown" in capsys.readouterr().err


UNTIL = {
    "s0": "A[~Stop() W Stop()]",
    "s1": "A[~Asked(_) W Open(_)] & AG (Stop() -> AG Stop())",
    "s2": "AG forall c: case. (Open(c) -> A[Open(c) W Done(c)])",
    "s3": "AG forall c: case. (Open(c) -> (Asked(c) -> A[Asked(c) W Done(c)]))",
    "s4": "AG forall c: case. (Open(c) & ~Asked(c) -> AX Open(c))",
    "s5": "AG ~(Open(_) & ~Open(_))",
}
WAITING_FOR = WAITING + "".join(f"spec {name} {formula}\n" for name, formula in UNTIL.items())


def stated(data: Any, formula: str) -> None:
    data["specs"][0].update(name=formula, formula=formula)


def forgetful(data: Any) -> None:
    data["inductions"][0].update(
        views=[v for v in data["inductions"][0]["views"] if "watched?0" not in str(v)]
    )


WAITED_FOR: dict[str, dict[str, Callable[[Any], object]]] = {
    "s2": {
        "what is to be is more": lambda data: stated(
            data, "AG forall c: case. (Open(c) -> A[Open(c) & ~Asked(c) W Done(c)])"
        ),
        "what is to come is less": lambda data: stated(
            data, "AG forall c: case. (Open(c) -> A[Open(c) W Done(c) & ~Asked(c)])"
        ),
        "it is asked of more": lambda data: stated(
            data, "AG forall c: case. (Asked(c) -> A[Open(c) W Done(c)])"
        ),
        "nothing is to come": lambda data: stated(data, "AG forall c: case. (Open(c) -> AG Open(c))"),
        "a value that is in no fact": lambda data: stated(
            data, "AG forall c: case. (Open(c) -> A[Open(c) W ~Open(c)])"
        ),
        "a quantifier about no fact": lambda data: stated(
            data, "AG forall c: case. (Open(c) -> A[Open(c) & (exists d: case. Open(c)) W Done(c)])"
        ),
        "nobody watches": lambda data: data["inductions"][0].update(watched=False),
        "what is always true": lambda data: stated(data, "AG forall c: case. (Open(c) -> Open(c))"),
        "two claims": lambda data: (
            data["specs"].append({"name": "s4", "formula": UNTIL["s4"]}),
            data["inductions"][0].update(shown=[0, 1]),
        ),
        "nothing is remembered": forgetful,
        "nothing is remembered nor to come": lambda data: (
            forgetful(data),
            stated(data, "AG forall c: case. (Open(c) -> AG Open(c))"),
        ),
    },
    "s4": {
        "in the next state but one": lambda data: stated(
            data, "AG forall c: case. (Open(c) & ~Asked(c) -> AG Open(c))"
        ),
        "no condition": lambda data: stated(data, "AG forall c: case. (Open(c) -> AX Open(c))"),
    },
    "s1": {"one of two": lambda data: stated(data, "A[~Asked(_) W Open(_)] & AG (Open(_) -> AG Open(_))")},
}


@pytest.mark.parametrize("name", UNTIL)
def test_what_is_until_something_comes(name: str, tmp_path: Path) -> None:
    found = found_of(f"{WAITING}spec {name} {UNTIL[name]}\n")
    write_views(found, tmp_path)
    assert st.check_certificate(tmp_path).verdicts == {name: "holds"}
    all_refused(tmp_path, WAITED_FOR.get(name, {}))


def test_each_is_watched_for_by_itself(tmp_path: Path) -> None:
    checked = st.check_certificate(write_views(found_of(WAITING_FOR), tmp_path))
    assert checked.verdicts == dict.fromkeys(UNTIL, "holds")


ROWS = "".join(f"  S(r{n}, u)\n  T(r{n}, b0)\n" for n in range(20)) + "  Q(r0)\n"
DATA = f"{RECORDS_OF_DATA}invariant few forall x, y. (Q(x) & Q(y) & ~T(x, b0) -> T(y, b0))\ninit\n{ROWS}"


def written(data: Any, old: str, new: str) -> None:
    source = data["deployment"]
    assert old in source["text"]
    source["text"] = source["text"].replace(old, new)


OF_DATA: dict[str, Callable[[Any], object]] = {
    "nothing is a constant": lambda data: data["inductions"][0].update(constants=[]),
    "all are constants": lambda data: data["inductions"][0].update(constants=None),
    "another row": lambda data: written(data, "  Q(r0)\n", "  Q(r0)\n  R(r0, r1)\n"),
    "another row beside": lambda data: written(data, "  S(r7, u)\n", "  S(r7, w)\n"),
    "a row less": lambda data: written(data, "  T(r0, b0)\n", ""),
    "a key twice": lambda data: written(data, "  Q(r0)\n", "  Q(r0)\n  T(r0, b1)\n"),
    "what is chosen is any": lambda data: written(data, "where T(x, b0)", ""),
    "a row is mentioned": lambda data: written(
        data, "guard S(x, u) & ~Q(_)", "guard S(x, u) & x != r1 & ~Q(_)"
    ),
}


def test_identifiers_of_large_data_are_values(tmp_path: Path) -> None:
    write_views(found_of(DATA), tmp_path)
    assert st.check_certificate(tmp_path).verdicts == {"known": "holds", "few": "holds"}
    data = json.loads((tmp_path / DOCUMENT).read_text())
    assert data["inductions"][0]["constants"] == ["b0"]
    views = data["inductions"][0]["views"]
    fewer = {
        f"without {view}": lambda data, at=at: data["inductions"][0]["views"].pop(at)
        for at, view in enumerate(views)
    }
    all_refused(tmp_path, OF_DATA | fewer)


ASKED = (
    DESK_OF_ONE
    % "S(x, _) & ~Focus(_)"
    + "tool pay(x: a)\n  guard Focus(x) & S(x, u)\n  effect\n    set S(x, v)\n    insert P(x)\n"
    "tool lose(x: a)\n  guard Focus(x)\n  effect\n    insert Q(x)\n"
    "view Q(x) where Focus(x)\n"
    "spec few AG atmost 1 x. Focus(x)\nspec paid AG forall x: a. (P(x) -> S(x, v))\nspec lost AG ~Q(_)\n"
)


def asked_about(deployment: st.Deployment) -> Deepening:
    """A clerk that takes and pays, and loses nothing."""

    def choose(context: DecisionContext) -> list[Call]:
        order = ("lose", "wait", "leave", "take", "pay")
        return [max(sorted(context.calls), key=lambda call: order.index(call.tool))]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("stead_sym.analyses.views.proposing.SECONDS", 0.0)
        return deepen(deployment, FunctionAgent(choose), limit=1)


def contexts(data: Any) -> Any:
    [answers] = next(one for one in data["inductions"] if one.get("answers"))["answers"]
    return answers["contexts"]


def offering(data: Any, tool: str) -> Any:
    return next(one for one in contexts(data) if tool in (call[0] for call in one["offered"]))


OF_ANSWERS: dict[str, Callable[[Any], object]] = {
    "another is selected": lambda data: offering(data, "lose").update(
        selected=[c for c in offering(data, "lose")["offered"] if c[0] == "lose"]
    ),
    "nothing is selected": lambda data: offering(data, "pay").update(selected=[]),
    "what is not offered is selected": lambda data: offering(data, "pay").update(selected=[["lose", ["z"]]]),
    "a call is not offered": lambda data: offering(data, "pay").update(
        offered=[c for c in offering(data, "pay")["offered"] if c[0] != "lose"]
    ),
    "a fact is not shown": lambda data: offering(data, "pay")["shown"].pop(),
    "what is not shown": lambda data: offering(data, "pay")["shown"].append(["P", ["a.0"]]),
    "fewer values": lambda data: next(o for o in data["inductions"] if o.get("answers"))["answers"][0].update(
        most={}
    ),
    "nobody was asked": lambda data: next(o for o in data["inductions"] if o.get("answers")).update(
        answers=[]
    ),
    "who follows a policy": lambda data: data["agents"][0].update(policy="p"),
    "another agent": lambda data: next(o for o in data["inductions"] if o.get("answers"))["answers"][
        0
    ].update(name="b"),
    "the agent is shown more": lambda data: written(data, "view Focus(x)\n", "view Focus(x)\nview P(x)\n"),
    "more is offered": lambda data: written(data, "guard Focus(x) & S(x, u)", "guard Focus(x)"),
}


def test_an_agent_that_was_asked(tmp_path: Path) -> None:
    write_views(asked_about(st.parse_deployment(ASKED)), tmp_path)
    checked = st.check_certificate(tmp_path)
    assert checked.verdicts == dict.fromkeys(("few", "paid", "lost"), "holds")
    data = json.loads((tmp_path / DOCUMENT).read_text())
    number = len(contexts(data))
    assert checked.agents == {"": f"answers in {number} contexts"}
    fewer = {
        f"not asked about {one}": lambda data, at=at: contexts(data).pop(at)
        for at, one in enumerate(contexts(data))
    }
    all_refused(tmp_path, OF_ANSWERS | fewer)


WITH_SLICES = """
deployment parts
sort a
sort k = { u, v }
relation P(a)
relation S(a, k)
relation Focus(a)
relation F()
bound a any
event new(z: k)
  effect
    fresh x: a
    insert P(x)
    insert S(x, z)
tool take(x: a)
  guard P(x) & ~Focus(_) & ~F()
  effect
    insert Focus(x)
tool leave(x: a)
  guard S(x, u)
  effect
    delete Focus(x)
    delete P(x)
event once(z: k)
  guard ~exists x. (P(x) | S(x, z))
  effect
    insert F()
"""
IN_USE = f"{WITH_SLICES}spec kept AG atmost 1 x. Focus(x)\n"
KNOWN = f"{IN_USE}init P(c0)\n"
OUT_OF_USE = f"{WITH_SLICES}spec some AG forall x: a. (Focus(x) -> P(x) | ~P(x))\n"
OF_LISTED = f"{WITH_SLICES}spec listed AG forall z: k. (~F() | F())\n"


OF_SLICES: dict[str, Callable[[Any], object]] = {
    "a relation less": lambda data: data["inductions"][0]["relations"].pop(),
    "a relation more": lambda data: data["inductions"][0]["relations"].append("R0"),
    "a relation that is not there": lambda data: data["inductions"][0]["relations"].append("R99"),
    "the whole": lambda data: data["inductions"][0].update(relations=None),
    "answers": lambda data: data["inductions"][0].update(answers=[{"name": "", "most": {}, "contexts": []}]),
    "a weaker guard": lambda data: written(data, " & ~Focus(_)", ""),
    "an invariant of other relations": lambda data: (
        written(data, "spec one", "invariant few AG atmost 1 c: case. R0(c)\nspec one"),
        data["inductions"][0].update(invariants=["few"]),
    ),
    "a condition of other relations": lambda data: written(
        data, "insert Focus(c)\n", "insert Focus(c) for d: case where R0(d)\n"
    ),
}


def staying(data: Any) -> None:
    views = [view for view in data["inductions"][0]["views"] if ["in_use?a", ["c0"]] in view]
    assert views
    data["inductions"][0].update(views=views)


def without_use(induction: Any) -> None:
    views = {
        json.dumps([fact for fact in view if not fact[0].startswith("in_use?")])
        for view in induction["views"]
    }
    induction.update(in_use=[], views=[json.loads(view) for view in sorted(views)])


@pytest.mark.parametrize(
    ("text_", "claims"),
    [
        (WIDE, ["later", "one"]),
        (IN_USE, ["kept"]),
        (KNOWN, ["kept"]),
        (OUT_OF_USE, ["some"]),
        (OF_LISTED, ["listed"]),
    ],
    ids=["wide", "in use", "known", "out of use", "listed"],
)
def test_what_is_shown_of_slices(
    text_: str, claims: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stead_sym.analyses.views.every_number._MANY_RELATIONS", 1)
    found = found_of.__wrapped__(text_)
    for name in claims:
        shown = found.found[name].every_number
        assert shown is not None
        assert shown.relations
    write_views(found, tmp_path)
    assert sorted(st.check_certificate(tmp_path).verdicts) == sorted(claims)
    data = json.loads((tmp_path / DOCUMENT).read_text())
    for at, one in enumerate(data["inductions"]):
        fewer = {
            f"without {view}": lambda data, at=at, number=number: data["inductions"][at]["views"].pop(number)
            for number, view in enumerate(one["views"])
        }
        all_refused(tmp_path, fewer)
        all_refused(tmp_path, {"no values in use": lambda data, at=at: without_use(data["inductions"][at])})
    if text_ == WIDE:
        all_refused(tmp_path, OF_SLICES)
    if text_ == KNOWN:
        all_refused(tmp_path, {"c0 stays in use": staying})


def weaker_guard(data: Any) -> None:
    source = data["deployment"]
    assert "& ~exists d: case. Focus(d)" in source["text"]
    source["text"] = source["text"].replace("& ~exists d: case. Focus(d)", "")


ALTERATIONS: dict[str, Callable[[Any], None]] = {
    "a weaker guard": weaker_guard,
    "a lower k": lambda data: data["inductions"][-1].update(k=1),
    "a larger k": lambda data: data["inductions"][-1].update(k=4),
    "no views": lambda data: data["inductions"][-1].update(views=[]),
    "no empty view": lambda data: data["inductions"][-1]["views"].remove([]),
    "a view that is not": lambda data: data["inductions"][-1]["views"].append(
        [["Focus", ["case1"]], ["Focus", ["case2"]]]
    ),
    "a view of no relation": lambda data: data["inductions"][-1]["views"].append([["Lost", ["case1"]]]),
    "a view of another sort": lambda data: data["inductions"][-1]["views"].append([["St", ["ann", "open"]]]),
    "another sentence": lambda data: data["specs"][-1].update(
        name="AG atmost 0 c: case. Focus(c)", formula="AG atmost 0 c: case. Focus(c)"
    ),
    "a name of another sentence": lambda data: data["specs"][-1].update(name="wrong"),
    "what is not always": lambda data: data["specs"][-1].update(name="EF Focus(_)", formula="EF Focus(_)"),
    "nothing shows it": lambda data: data["inductions"][-1].update(shown=[]),
    "a claim that is not there": lambda data: data["inductions"][-1].update(shown=[7]),
    "an invariant that is not there": lambda data: data["inductions"][-1].update(invariants=["mutex"]),
    "a tool that is followed": lambda data: data["agents"][0].update(followed=["take"]),
    "a policy that is not there": lambda data: data["agents"][0].update(policy="p", followed=["take"]),
    "no agent": lambda data: data.update(agents=[]),
}


def test_rules_that_are_no_policy_are_not_certified() -> None:
    deployment = st.parse_deployment(FOLLOWING)
    rules = RuleAgent.of(deployment, "careful")
    other = replace(rules, policy=replace(rules.policy, name="other"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("stead_sym.analyses.views.proposing.SECONDS", 0.0)
        found = deepen(deployment, other, limit=1)
    assert found["asked"].holds
    assert "rules that are no policy" in uncertifiable_views(found)


@pytest.mark.parametrize("name", ALTERATIONS)
def test_what_is_altered_is_refused(name: str, tmp_path: Path) -> None:
    write_views(found_of(f"{DESK}bound case any\n"), tmp_path)
    altered(tmp_path, ALTERATIONS[name])
    with pytest.raises((CertificateRejected, InputError)):
        st.check_certificate(tmp_path)


def test_views_have_all_values_of_a_fact(tmp_path: Path) -> None:
    """What no view is large enough for would be taken to be nowhere."""
    text_ = (
        "deployment d\nsort a\nrelation Two(a, a)\nbound a any\ntool idle()\n"
        "initially any Two where forall x: a. ~Two(x, x)\nspec s AG ~(Two(_, _) & ~Two(_, _))\n"
    )
    write_views(found_of(text_), tmp_path)

    def smaller(data: Any) -> None:
        stated(data, "AG ~Two(_, _)")
        data["inductions"][0].update(k=1, views=[[]])

    altered(tmp_path, smaller)
    with pytest.raises(CertificateRejected, match="k is at least 2"):
        st.check_certificate(tmp_path)


def test_a_policy_is_more_than_any_agent(tmp_path: Path) -> None:
    write_views(found_of(FOLLOWING, "careful"), tmp_path)
    altered(tmp_path, lambda data: data["agents"][0].update(policy=None, followed=[]))
    with pytest.raises(CertificateRejected, match="steps of send: the parts of what send"):
        st.check_certificate(tmp_path)


def test_an_invariant_that_is_not_assumed_shows_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stead_sym.analyses.views.every_number.STEPS", 1)
    line = "invariant few forall c: case, d: case. ~(Focus(c) & Focus(d) & c != d)\n"
    write_views(found_of(MIXING + line), tmp_path)
    assert st.check_certificate(tmp_path).verdicts == {"apart": "holds", "few": "holds"}
    altered(tmp_path, lambda data: data["inductions"][0].update(invariants=[]))
    with pytest.raises(CertificateRejected, match=r"steps of (take|mix)"):
        st.check_certificate(tmp_path)


@pytest.mark.parametrize(
    ("formula", "kept", "refuted"),
    [
        ("exists x. P(x)", 1, 0),
        ("exists x. ~P(x)", 2, 0),
        ("exists x: a. (P(x) | Q(x)) & exists y. R(x, y)", 2, 0),
        ("(exists x. P(x)) | (atleast 3 x. Q(x))", 3, 0),
        ("atmost 2 x. P(x)", 0, 3),
        ("exactly 2 x. P(x)", 2, 3),
        ("exists z: k. z = u", 1, 0),
        ("exists z in k. z = u", 0, 0),
        ("forall z in k. exists x. S(x, z)", 2, 0),
        ("forall x. (P(x) -> exists y. Q(y))", 1, 1),
        ("forall x. ((P(x) & exists y. Q(y)) | (~P(x) & exists y. P(y)))", 2, 2),
        ("(exists x. P(x)) <-> (exists x. Q(x))", 2, 1),
        ("forall x. exists y. R(x, y)", None, 2),
        # a name that is bound again: y depends on the x before
        ("forall x. (P(x) -> exists y. (R(x, y) & exists x. R(y, x)))", None, 1),
        ("atleast 2 x. exists y. (R(x, y) & exists z. R(y, z))", 6, 0),
    ],
)
def test_how_many_values_the_checker_asks_for(formula: str, kept: int | None, refuted: int | None) -> None:
    deployment = st.parse_deployment(SIGNATURE)
    needed, resolved = Needed(deployment), deployment.formula(formula)
    for number, ask in ((kept, needed.true), (refuted, needed.false)):
        if number is None:
            with pytest.raises(CertificateRejected):
                ask(resolved)
        else:
            assert ask(resolved) == number


def alterations(data: Any, random: Random) -> tuple[str, Any]:
    """One change of a certificate, and whether it is surely to be refused."""
    views = data["inductions"][0]["views"]
    match random.randrange(4):
        case 0:
            views.remove(random.choice(views))
            return "a view is missing", True
        case 1:
            data["inductions"][0]["k"] += random.choice((-1, 1))
            return "another k", False
        case 2:
            view = random.choice(views)
            view.append(random.choice(random.choice(views) or [["P", ["a1"]]]))
            return "a fact more", False
        case _:
            view = random.choice(views)
            if view:
                view.remove(random.choice(view))
            return "a fact less", False


@pytest.mark.parametrize(
    ("made", "agent", "many"), [(text, "any", 12), (text, "p", 12), (text, "any", 0), (waiting, "any", 0)]
)
def test_generated_deployments(
    made: Callable[[int], str], agent: str, many: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is written is accepted, and refused without one of its views. Other changes are mostly refused; a
    set of views that is larger may still be one that no step leaves."""
    monkeypatch.setattr("stead_sym.analyses.views.every_number._MANY_RELATIONS", many)
    accepted = refused = 0
    for seed in range(2000, 2000 + CASES // 2 // (1 + (made is waiting))):
        try:
            found = found_of.__wrapped__(made(seed), agent)
        except SteadError:
            continue
        if uncertifiable_views(found):
            continue
        random = Random(seed)
        write_views(found, tmp_path)
        try:
            st.check_certificate(tmp_path)
        except Undecided:
            continue
        accepted += 1
        written = (tmp_path / DOCUMENT).read_text()
        for _ in range(4):
            said: list[tuple[str, bool]] = []
            altered(tmp_path, lambda data: said.append(alterations(data, random)))  # noqa: B023
            try:
                st.check_certificate(tmp_path)
                assert not said[0][1], f"seed {seed}: {said[0][0]}"
            except (CertificateRejected, InputError, Undecided):
                refused += 1
            (tmp_path / DOCUMENT).write_text(written)
    assert accepted > CASES / 16
    assert refused > accepted
