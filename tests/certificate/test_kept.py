"""Certificates of verdicts that rest on the last step and on the past: the checker makes of each step what
its definition says, whatever the engine has made of it."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path

import pytest

import stead_sym as st
from stead_sym.certificate.document import DOCUMENT
from stead_sym.certificate.verdict import CertificateRejected
from stead_sym.deployment.following import LastStep, SinceThen
from stead_sym.deployment.language import parse_deployment
from stead_sym.engines.symbolic.plan.relaxation import Relaxation
from stead_sym.engines.symbolic.step.history import Histories
from stead_sym.errors import InputError

CASES = Path(__file__).parent.parent / "conformance3"
OF_STEPS = sorted(
    name for name in json.loads((CASES / "expected.json").read_text(encoding="utf-8"))
    if name >= "c80" and name.startswith(("c", "d"))
)  # fmt: skip

DESK = parse_deployment("""deployment desk
sort t
sort s = { new, approved, rejected, paid } rigid
relation T(t key, s)
relation Seen(t)
bound t 1
event ask() guard ~T(_, _) effect fresh x: t insert T(x, new)
event forget(x: t) guard T(x, paid) effect delete T(x, _) delete Seen(x)
event see(x: t) guard T(x, new) effect insert Seen(x)
agent clerk
  tools approve, reject
agent boss
  tools approve, pay
tool approve(x: t) guard T(x, new) | T(x, rejected) effect set T(x, approved)
tool reject(x: t) guard T(x, approved) effect set T(x, rejected)
tool pay(x: t) guard once did approve(x) by boss & ~T(x, paid) effect set T(x, paid)
spec by_boss AG forall x. (did pay(x) -> once did approve(x))
spec not_rejected AG forall x. (did pay(x) -> (~did reject(x) since did approve(x)))
spec by_clerk AG forall x. (did approve(x) -> did approve(x) by boss)
spec before AG forall x. (did pay(x) -> previously T(x, approved))
spec new_first AG forall x. once T(x, new)
spec unseen AG forall x. ~once Seen(x)
spec not_new AG forall x. (T(x, paid) -> ~once T(x, new))
spec gone AG forall x. (T(x, paid) -> AX (did forget(x) -> ~T(x, _)))
policy checked
  call pay(x) when ~did reject(x) since did approve(x)
  call approve(x)
""")


def accepted(result, directory):
    return dict(st.check_certificate(st.write_certificate(result, directory)).verdicts)


@pytest.mark.parametrize("case", OF_STEPS)
def test_the_conformance_cases(case: str, tmp_path: Path) -> None:
    domain = ("normal", "theorem")[OF_STEPS.index(case) % 2]
    try:
        deployment = st.load(CASES / f"{case}.stead")
    except InputError:
        return  # a case of what is refused
    gates = [gate.name for gate in deployment.written.gates]
    for agent in ("any", *(policy.name for policy in deployment.policies)):
        result = st.verify(deployment, agent, domain=domain, gates=gates, findings=False)
        if result.broken is None and result.verdicts:
            words = {name: v.word for name, v in result.verdicts.items()}
            assert accepted(result, tmp_path) == words


@pytest.mark.parametrize("agents", ["any", {"clerk": "any", "boss": "checked"}])
@pytest.mark.parametrize("domain", ["normal", "theorem"])
def test_who_acts_and_what_is_gone_is_kept(agents: object, domain: str, tmp_path: Path) -> None:
    result = st.verify(DESK, agents, domain=domain, findings=False)
    found = accepted(result, tmp_path)
    assert found == {name: v.word for name, v in st.verify(DESK, agents, engine="explicit").verdicts.items()}
    assert found["by_boss"] == found["new_first"] == found["gone"] == "holds"
    assert found["by_clerk"] == found["unseen"] == "fails"


def never_revoked(self):
    """f since g as if f did not matter."""
    for kept, fact in self._facts():
        if isinstance(kept, SinceThen):
            now = self._then(self._read(kept.right, kept, fact)) | self._atom(fact)
            yield self._atom(fact, primed=True).equiv(self._then(self._counts(kept.relation, fact)) & now)
        elif not isinstance(kept, LastStep):
            yield self._atom(fact, primed=True).equiv(self.manager.true)


def forgotten(self):
    """Nothing that was true is so for more than a step."""
    for kept, fact in self._facts():
        if isinstance(kept, SinceThen):
            yield self._atom(fact, primed=True).equiv(self._then(self._read(kept.right, kept, fact)))
        elif not isinstance(kept, LastStep):
            yield self._atom(fact, primed=True).equiv(self.manager.false)


def by_nobody(self, tool, params, refused):
    """No step is the last one."""
    for kept, fact in self._facts():
        if isinstance(kept, LastStep):
            yield ~self._atom(fact, primed=True)


WRONG = {
    "never_revoked": ("_lasting", never_revoked, "not_rejected"),
    "forgotten": ("_lasting", forgotten, "not_new"),
    "by_nobody": ("_last", by_nobody, "by_clerk"),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_engine_that_keeps_something_else_has_no_certificate(name, monkeypatch, tmp_path) -> None:
    attribute, wrong, spec = WRONG[name]
    assert st.verify(DESK, specs=spec)[spec].holds is False
    if attribute == "_lasting":
        wrong = cached_property(lambda self, made=wrong: list(made(self)))
        wrong.__set_name__(Histories, attribute)
    monkeypatch.setattr(Histories, attribute, wrong)
    result = st.verify(DESK, specs=spec, findings=False)
    assert result[spec].holds, "the alteration does nothing"
    with pytest.raises(CertificateRejected):
        accepted(result, tmp_path)


def test_an_engine_that_keeps_nothing_of_something_has_no_certificate(monkeypatch, tmp_path) -> None:
    """A fact that is not listed is false always, which every step has to show."""
    dynamic = Relaxation.dynamic.fget
    monkeypatch.setattr(
        Relaxation,
        "dynamic",
        property(lambda self: tuple(f for f in dynamic(self) if f.relation != "once Seen(‹1›)")),
    )
    result = st.verify(DESK, specs="unseen", findings=False)
    assert result["unseen"].holds, "the alteration does nothing"
    with pytest.raises(CertificateRejected, match=r"no step makes once Seen\(t1\) true"):
        accepted(result, tmp_path)


def test_what_is_kept_cannot_be_left_out(tmp_path: Path) -> None:
    """Facts about the past are no decoration of a certificate: without one it is none."""
    path = st.write_certificate(st.verify(DESK, findings=False), tmp_path) / DOCUMENT
    whole = json.loads(path.read_text(encoding="utf-8"))
    told = [fact for fact in whole["facts"] if " " in fact[0]]
    assert {fact[0] for fact in told} >= {"did pay(‹1›)", "once T(‹1›, new)", "did approve(‹1›) by boss"}
    for fact in told:
        kept = [other for other in whole["facts"] if other != fact]
        path.write_text(json.dumps({**whole, "facts": kept}), encoding="utf-8")
        with pytest.raises((CertificateRejected, InputError)):
            st.check_certificate(tmp_path)
    path.write_text(json.dumps({**whole, "static": [*whole["static"], ["unknown", []]]}), encoding="utf-8")
    with pytest.raises(InputError):
        st.check_certificate(tmp_path)
