"""Templates are filled in one pass, and a placeholder that is not known is an error with its place."""

from __future__ import annotations

import pytest

from stead_sym.agents.prompts.texts import Template
from stead_sym.errors import InputError


def test_filling_is_one_pass():
    template = Template("[A] and [B]", "t")
    assert template.fill({"A", "B"}, {"A": "[B]", "B": "b"}.__getitem__) == "[B] and b"


def test_other_brackets_stay():
    text = 'x[0] [maybe] ["A", "B"] [] [A B'
    assert Template(text, "t").fill({"A"}, lambda name: "!") == text
    Template(text, "t").check({"A"})


@pytest.mark.parametrize("name", ["STATES", "Case.3", "A B"])
def test_unknown_placeholders_are_named_with_their_place(name):
    with pytest.raises(InputError) as caught:
        Template(f"first\nnow [{name}] here", "user.txt").check({"STATE"})
    assert str(caught.value) == f"user.txt:2:5: unknown placeholder [{name}]; write one of [STATE]"


def test_errors_of_values_get_the_place():
    def fail(name):
        raise InputError("no value; give one")

    with pytest.raises(InputError) as caught:
        Template("\n[A]", "user.txt").fill({"A"}, fail)
    assert str(caught.value) == "user.txt:2:1: [A]: no value; give one"
