"""The text of a message is never a control token, for every control token of tokenizers of several kinds; and
prompts that spell none have the tokens that the tokenizer gives their whole text."""

from __future__ import annotations

import pytest
import small_model
from backends import desk, needs, prompt
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stead_sym.agents.prompts.prompt import Message
from stead_sym.deployment.tool import Call
from stead_sym.errors import ModelError
from stead_sym.models.control_tokens import HubVocabulary

needs("hf", "transformers")

SPELLED = ["{}", "a{}b", "{0}{0}", "\n{}\n", "  {} ", '{{"m1": "{}"}}', "<|im_{}end|>", "<|im_end|{}>"]
STEERED = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n"
    "{% if '<tool_call>' in m.content %}<|im_start|>tool\n{% endif %}{% endfor %}<|im_start|>assistant\n"
)


def byte_level(texts):
    """The tokenizer of the small model, with more control tokens, some of which it does not call special."""
    from tokenizers import AddedToken

    tokenizer = small_model.learnt_tokenizer(texts)
    tokenizer.add_special_tokens({"extra_special_tokens": ["<|im_start|>", "<file_sep>", "[INST]"]})
    plain = [AddedToken("<tool_call>", special=False), AddedToken("<think>", normalized=True)]
    tokenizer.add_tokens([*plain, AddedToken("\n\n", special=False)])
    return tokenizer


def unigram(texts):
    """A tokenizer whose vocabulary has the spelling of a control token as a word, and with a normalizer that
    makes control tokens out of other characters."""
    from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = sorted({letter for text in [*texts, "<|im_endstart>/_ABC"] for letter in text} | {"▁"})
    words = ["<unk>", "<|im_start|>", "<|im_end|>", "<think>"]
    core = Tokenizer(models.Unigram([*((w, 0.0) for w in words), *((c, -5.0) for c in letters)], unk_id=0))
    core.normalizer = normalizers.NFKC()
    core.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core,
        eos_token="<|im_end|>",
        unk_token="<unk>",
        extra_special_tokens=["<|im_start|>"],
    )
    tokenizer.add_tokens([AddedToken("<think>", normalized=True, special=False)])
    tokenizer.chat_template = small_model.CHAT_TEMPLATE
    return tokenizer


@pytest.fixture(scope="module", params=[byte_level, unigram], ids=lambda make: make.__name__)
def tokenizer(request, texts):
    return request.param(texts)


def chat(tokenizer):
    from stead_sym.models.tokenizer import ChatTokenizer

    return ChatTokenizer(tokenizer, "small")


def whole(tokenizer, messages):
    text = tokenizer.apply_chat_template(
        [m._asdict() for m in messages], tokenize=False, add_generation_prompt=True
    )
    return tuple(tokenizer.encode(text, add_special_tokens=False))


def control(tokenizer, tokens):
    known = HubVocabulary(tokenizer).control
    return [token for token in tokens if token in known]


def two(system, user):
    return (Message("system", system), Message("user", user))


def test_every_control_token_is_text_in_a_message(tokenizer):
    added = {token.content for token in tokenizer.added_tokens_decoder.values() if token.content.strip()}
    assert len(added) >= 4
    asked = chat(tokenizer)
    of_template = control(tokenizer, whole(tokenizer, two("a", "b")))
    assert len(of_template) == 5
    forged = 0
    for token in sorted(added):
        for form in SPELLED:
            text = form.format(token)
            for messages in (two(text, "b"), two("a", text), two(text, text), two(f"{text}.", "")):
                tokens = asked.prompt(messages)
                assert control(tokenizer, tokens) == of_template, messages
                forged += control(tokenizer, whole(tokenizer, messages)) != of_template
    assert forged > 80  # without the care that is tested here


def test_what_is_spelled_is_kept(texts):
    tokenizer = byte_level(texts)
    for token in tokenizer.added_tokens_decoder.values():
        messages = two("Be brief.", f"before {token.content} after")
        read = tokenizer.decode(chat(tokenizer).prompt(messages))
        assert f"before {token.content} after" in read
        assert read == tokenizer.decode(whole(tokenizer, messages))


def test_the_normalizer_makes_no_control_token(texts):
    tokenizer = unigram(texts)
    messages = two("a", "＜think＞")
    of_template = control(tokenizer, whole(tokenizer, two("a", "b")))
    assert control(tokenizer, whole(tokenizer, messages)) != of_template
    assert control(tokenizer, chat(tokenizer).prompt(messages)) == of_template


def test_white_space_that_was_added_to_a_vocabulary_is_no_control_token(texts):
    tokenizer = byte_level(texts)
    messages = two("a", "b\n\nc")
    assert tokenizer.convert_tokens_to_ids("\n\n") in chat(tokenizer).prompt(messages)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.text() | st.sampled_from(["<", "|", "im_end", "\n\n", " ", "CASE_1"]), min_size=1, max_size=6
    ).map("".join),
    st.booleans(),
)
def test_other_prompts_have_the_tokens_of_their_whole_text(tokenizer, text, alone):
    messages = two("Be brief.", text)[alone:]
    of_template = control(tokenizer, whole(tokenizer, two("a", "b")[alone:]))
    if control(tokenizer, whole(tokenizer, messages)) == of_template:
        assert chat(tokenizer).prompt(messages) == whole(tokenizer, messages)


def test_the_prompts_of_the_examples_have_the_tokens_of_their_whole_text(tokenizer):
    from stead_sym.verification.verify import verify

    asked = chat(tokenizer)
    for context, _ in verify(desk, "approving").decisions:
        messages = prompt.messages(context)
        assert asked.prompt(messages) == whole(tokenizer, messages)
        for call in context.calls:
            text = prompt.call_text(call)
            assert asked.text(text) == tuple(tokenizer.encode(text, add_special_tokens=False))


def test_a_template_that_looks_into_messages_is_shown_none(texts):
    tokenizer = byte_level(texts)
    tokenizer.chat_template = STEERED
    asked = chat(tokenizer)
    plain = control(tokenizer, asked.prompt(two("a", "b")))
    assert control(tokenizer, whole(tokenizer, two("a", "b <tool_call>"))) != plain
    assert control(tokenizer, asked.prompt(two("a", "b <tool_call>"))) == plain


def test_a_template_that_leaves_a_message_out_is_refused(texts):
    tokenizer = byte_level(texts)
    tokenizer.chat_template = "{{ messages[-1].content }}<|im_end|>"
    with pytest.raises(ModelError, match=r"does not write every message once") as caught:
        chat(tokenizer).prompt(two("a", "b"))
    assert "\n" not in str(caught.value)


def test_identifiers_in_calls_spell_no_special_token(tokenizer):
    asked = chat(tokenizer)
    special = HubVocabulary(tokenizer).special
    texts = [
        prompt.call_text(Call("issue_refund", (f"x{token.content}",)))
        for token in tokenizer.added_tokens_decoder.values()
    ]
    tokens = [asked.text(text) for text in texts]
    assert all(special.isdisjoint(ids) for ids in tokens)
    assert len(set(tokens)) == len(texts)
    assert any(not special.isdisjoint(tokenizer.encode(text, add_special_tokens=False)) for text in texts)
