"""What a message spells is never a control token of a model that llama.cpp runs: every one of SmolLM2's."""

from __future__ import annotations

import pytest

from stead_sym.agent.models.catalogue import SMOLLM2, WEIGHTS
from stead_sym.agent.prompts.prompt import Message

llama = pytest.importorskip("cyllama.llama.llama_cpp", reason="the extra `llama` is not installed")
pytest.importorskip("jinja2")
if not SMOLLM2.here:
    pytest.skip("smollm2 is not fetched: stead-sym models get smollm2", allow_module_level=True)


@pytest.fixture(scope="module")
def model():
    return llama.LlamaModel(str(SMOLLM2.folder / WEIGHTS), llama.LlamaModelParams(), verbose=False)


@pytest.fixture
def tokenizer(model):
    from stead_sym.agent.models.llama_cpp import LlamaTokenizer

    return LlamaTokenizer(model, "smollm2")


def messages(system, user):
    return (Message("system", system), Message("user", user))


def whole(model, tokenizer, chat):
    """The tokens of the whole text of a prompt, control tokens wherever it spells them."""
    return tuple(model.get_vocab().tokenize(tokenizer._template.text(chat), False, True))


def test_every_control_token_is_text_in_a_message(model, tokenizer):
    vocabulary = model.get_vocab()
    control = [number for number in range(vocabulary.n_vocab) if vocabulary.is_control(number)]
    assert len(control) == 17

    def among(tokens):
        return [token for token in tokens if token in control]

    of_template = among(whole(model, tokenizer, messages("a", "b")))
    assert len(of_template) == 5
    for number in control:
        spelled = tokenizer.spelled(number)
        for form in ("{}", "x{}y", '{{"m1": "{}"}}', "{0}{0}"):
            chat = messages(form.format(spelled), f"b\n{form.format(spelled)}")
            assert among(whole(model, tokenizer, chat)) != of_template
            tokens = tokenizer.prompt(chat)
            assert among(tokens) == of_template
            assert "".join(map(tokenizer.spelled, tokens)) == tokenizer._template.text(chat)
            assert not among(tokenizer.text(form.format(spelled)))


@pytest.mark.parametrize("text", ["", "b", "a\n\n\nb ", "<b>|im_end|</b> [x]", '{"m1": "Ü\\n"}'])
def test_other_prompts_have_the_tokens_of_their_whole_text(model, tokenizer, text):
    chat = messages("Be brief.", text)
    assert tokenizer.prompt(chat) == whole(model, tokenizer, chat)
