"""`verify --certify` and `check-certificate`: what they print and their exit statuses."""

from __future__ import annotations

import json

import pytest

from stead_sym.cli.main import main

VERIFY = ("verify", "refund", "--policy", "baseline", "--quiet", "--certify")


@pytest.fixture
def certificate(tmp_path, capsys):
    """The directory of a certificate in which one specification holds and one fails."""
    directory = tmp_path / "proof"
    assert main([*VERIFY, str(directory)]) == 1  # as without --certify: `auth` fails
    capsys.readouterr()
    return directory


def changed(directory, change):
    file = directory / "certificate.json"
    data = json.loads(file.read_text(encoding="utf-8"))
    change(data)
    file.write_text(json.dumps(data), encoding="utf-8")


def test_an_accepted_certificate(certificate, capsys):
    assert main(["check-certificate", str(certificate), "--about", "refund"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("accepted: refund under policy baseline in 4 contexts, mode normal: ")
    assert [line for line in out.splitlines() if line.startswith("spec ")] == [
        "spec auth fails, by 9 obligations:",
        "spec prog holds, by 5 obligations:",
    ]
    assert "    AG forall c: case. CaseStatus(c, open) -> AF CaseStatus(c, resolved)\n" in out


def test_the_account_as_json(certificate, capsys):
    assert main(["check-certificate", str(certificate), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["specs"] == {"auth": "fails", "prog": "holds"}
    assert [(claim["name"], claim["formula"][:9]) for claim in data["claims"]] == [
        ("auth", "AG forall"),
        ("prog", "AG forall"),
    ]
    assert data["agents"] == {"": "policy baseline in 4 contexts"}
    assert all(number > 0 for number in data["obligations"].values())


def test_a_rejected_certificate(certificate, capsys):
    changed(certificate, lambda data: data["specs"][0].update(verdict="holds"))
    assert main(["check-certificate", str(certificate)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("stead-sym: rejected: spec auth: ")
    assert captured.err.count("\n") == 1


def test_what_is_no_certificate(certificate, capsys):
    changed(certificate, lambda data: data.pop("reached"))
    assert main(["check-certificate", str(certificate)]) == 2
    assert "missing required field `reached`" in capsys.readouterr().err


def test_a_certificate_about_something_else(certificate, capsys):
    assert main(["check-certificate", str(certificate), "--about", "ward"]) == 2
    assert "is about another deployment than ward" in capsys.readouterr().err


@pytest.mark.parametrize("formula", ["AG ~did leave()", "AG ~once Left()", "AG ~refused leave()"])
def test_a_certificate_about_a_file_that_speaks_of_the_past(tmp_path, capsys, formula):
    file, proof = tmp_path / "door.stead", str(tmp_path / "proof")
    text = f"deployment door\nrelation Left()\ntool leave()\n  effect insert Left()\nspec stays {formula}\n"
    file.write_text(text, encoding="utf-8")
    main(["verify", str(file), "--quiet", "--certify", proof])
    assert main(["check-certificate", proof, "--about", str(file)]) == 0
    file.write_text(text.replace("insert Left()", "delete Left()"), encoding="utf-8")
    assert main(["check-certificate", proof, "--about", str(file)]) == 2
    assert "is about another deployment" in capsys.readouterr().err


def test_a_folder_with_other_files_is_left_alone(tmp_path, capsys):
    (tmp_path / "certificate.json").write_text("mine", encoding="utf-8")
    assert main([*VERIFY, str(tmp_path)]) == 2
    assert "no part of a certificate" in capsys.readouterr().err
    assert (tmp_path / "certificate.json").read_text(encoding="utf-8") == "mine"


def test_an_earlier_certificate_is_written_over(certificate, capsys):
    assert main([*VERIFY, str(certificate), "--spec", "prog"]) == 0
    capsys.readouterr()
    assert main(["check-certificate", str(certificate), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (list(data["specs"]), data["unclaimed"]) == (["prog"], ["auth"])
    assert main(["check-certificate", str(certificate)]) == 0
    assert capsys.readouterr().out.endswith("\nNothing is claimed about auth.\n")


def test_unknown_verdicts_have_no_certificate(tmp_path, capsys):
    new = tmp_path / "to" / "come"
    words = ["verify", "refund", "--domain", "case=1", "--force", "--certify", str(new)]
    assert main(words) == 3
    assert "no certificate is written: every verdict is unknown" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_explicit_engine_writes_none(tmp_path, capsys):
    assert main([*VERIFY, str(tmp_path), "--engine", "explicit"]) == 2
    assert "--certify is for the symbolic engine" in capsys.readouterr().err
