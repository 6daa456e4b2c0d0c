"""A claim is its formula: no name makes a certificate say what it does not prove."""

from __future__ import annotations

import json
import shutil

import pytest

import stead_sym as st
from altered import checked
from stead_sym.cli.main import main

BAD = """
deployment bad
relation Bad()
relation Safe()
tool spoils()
  effect
    insert Bad()
spec never AG ~Bad()
"""
TRUE, AFTER = "true | Bad()", "AG (Bad() -> A[Bad() W Safe()])"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate of a specification that fails, and of two questions about which nothing is wrong."""
    result = st.verify(
        st.parse_deployment(BAD), "any", ["never", TRUE, f" {AFTER}  # as ever\n"], findings=False
    )
    return st.write_certificate(result, tmp_path_factory.mktemp("claims"))


@pytest.fixture
def refusal(certificate, tmp_path):
    """Return what the check says of the certificate with other claims."""
    copy = shutil.copytree(certificate, tmp_path / "copy")
    file = copy / "certificate.json"
    data = json.loads(file.read_text(encoding="utf-8"))

    def of(*claims):
        never, trivial, after = data["specs"]
        made = [{**{"never": never, TRUE: trivial, AFTER: after}[claim[0]], **claim[1]} for claim in claims]
        file.write_text(json.dumps({**data, "specs": made}), encoding="utf-8")
        return checked(copy)

    return of


def test_questions_are_named_by_their_texts(certificate, capsys):
    proved = st.check_certificate(certificate)
    assert dict(proved.verdicts) == {"never": "fails", TRUE: "holds", AFTER: "holds"}
    assert [claim.formula for claim in proved.claims] == ["AG ~Bad()", TRUE, AFTER]
    assert main(["check-certificate", str(certificate)]) == 0
    out = capsys.readouterr().out
    assert f"\nquestion holds, by 1 obligation:\n    {TRUE}\n" in out
    assert f":\n    {AFTER}\n" in out


NAMES = (
    *("AG ~Bad()", "never", "AG ~Bad", "Never", "Bad", "", "#", f"{TRUE} # AG ~Bad()", "never: AG ~Bad()"),
    *(
        "never\u200b",
        "\u200bnever",
        "n\u0435ver",
        "\uff4eever",
        "never\u0301",
        "nev\x1b[2Jer",
        "[b]never[/b]",
    ),
    *(" never", "never ", "never\n", f"{TRUE} ", f"{TRUE}\n", f"\t{TRUE}", f"{TRUE}\u00a0"),
    *("n" * 10**6, "(" * 10**5, "AG " * 10**5 + "Bad()"),
)


@pytest.mark.parametrize("name", NAMES, ids=lambda name: ascii(name)[:30])
def test_a_name_that_is_not_the_formula(refusal, name):
    error = refusal((TRUE, {"name": name}))
    assert isinstance(error, st.InputError)
    assert str(error).isascii() or "…" in str(error)
    assert len(str(error)) < 500


def test_a_name_may_be_any_text_of_the_formula(refusal):
    assert refusal((TRUE, {"name": "true|Bad"})) is None
    assert refusal((TRUE, {"name": "true|Bad", "formula": "(true) or Bad()"})) is None


@pytest.mark.parametrize("formula", [f"{TRUE} # AG ~Bad()", "never", "AG ~Bad()", "", f"{TRUE}\u200b"])
def test_a_formula_that_is_not_the_name(refusal, formula):
    assert isinstance(refusal((TRUE, {"formula": formula})), st.InputError)


def test_one_name_is_claimed_once(refusal):
    assert "a specification is there twice" in str(refusal((TRUE, {}), (AFTER, {}), (TRUE, {})))


def test_a_key_is_given_once(certificate, tmp_path):
    copy = shutil.copytree(certificate, tmp_path / "copy")
    file = copy / "certificate.json"
    text = file.read_text(encoding="utf-8")
    file.write_text(
        text.replace('"verdict": "fails"', '"verdict": "holds", "verdict": "fails"'), encoding="utf-8"
    )
    assert "the key 'verdict' is there twice" in str(checked(copy))
