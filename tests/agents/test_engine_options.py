"""Options of engines: read as JSON where they are JSON, refused in a line, and part of who answered."""

from __future__ import annotations

import pytest

from stead_sym.cli.main import main
from stead_sym.errors import InputError, at_least_one
from stead_sym.models.backends import open_backend
from stead_sym.models.engine_options import EngineOptions, refusing


def test_values_are_json_where_they_are():
    words = [
        "a=1",
        "b=true",
        "c=1.5",
        'd={"load_in_8bit": true}',
        "e=bfloat16",
        'f="7"',
        "g=",
        "h=x=y",
        "i=null",
    ]
    assert EngineOptions.parse(words).values == {
        "a": 1,
        "b": True,
        "c": 1.5,
        "d": {"load_in_8bit": True},
        "e": "bfloat16",
        "f": "7",
        "g": "",
        "h": "x=y",
        "i": None,
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["dtype"], "--engine-option 'dtype' is not KEY=VALUE; write one such as dtype=bfloat16"),
        (["=1"], "--engine-option '=1' is not KEY=VALUE; write one such as dtype=bfloat16"),
        (["a-b=1"], "--engine-option 'a-b=1' is not KEY=VALUE; write one such as dtype=bfloat16"),
        (["a=1", "a=2"], "--engine-option a is given twice; give it once"),
    ],
)
def test_words_that_are_no_options(words, message):
    with pytest.raises(InputError) as caught:
        EngineOptions.parse(words)
    assert str(caught.value) == message


def test_what_an_engine_does_not_know():
    options = EngineOptions({"dtipe": "float32"})
    options.check({"dtipe"}, "this engine")
    with pytest.raises(InputError) as caught:
        options.check({"dtype", "revision"}, "this engine, 1.0")
    assert str(caught.value) == (
        "--engine-option dtipe: this engine, 1.0 has no such option; did you mean dtype?"
        " leave it out, or see its documentation"
    )


def test_a_server_knows_its_tokenizer_only():
    with pytest.raises(InputError, match="--engine-option dtype: a server has no such option"):
        open_backend("vllm:http://127.0.0.1:1#M", EngineOptions({"dtype": "float32"}))


def test_what_determines_the_answer_is_part_of_who_answered():
    options = EngineOptions({"b": 2, "a": [1], "threads": 4})
    assert options.identity({"threads"}) == {"options": '{"a":[1],"b":2}'}
    assert options.identity({"threads", "a", "b"}) == {}


def test_a_constructor_that_refuses_is_one_line():
    with pytest.raises(InputError) as caught, refusing("this engine"):
        open_backend(wrong=1)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("this engine does not take the --engine-option given: ")


@pytest.mark.parametrize("value", [0, -1, True, "4", 1.5, None])
def test_numbers(value):
    assert at_least_one("batch", 1) == 1
    with pytest.raises(InputError, match="batch must be an integer of at least 1, got"):
        at_least_one("batch", value)


@pytest.mark.parametrize("command", [["verify", "refund"], ["blame", "refund"], ["bounds", "refund"]])
def test_options_without_a_model(capsys, command):
    assert main([*command, "--policy", "baseline", "--engine-option", "dtype=float32"]) == 2
    assert capsys.readouterr().err == (
        "stead-sym: --engine-option is for a language model; add --agent smollm2, or leave it out\n"
    )
