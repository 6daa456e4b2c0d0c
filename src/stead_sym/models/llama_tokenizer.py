"""The tokenizer and the chat template of a GGUF file, without the library `transformers`.

One decision: a template is untrusted text, so it runs in Jinja's sandbox. It gets the variables that
`transformers` provides, except the clock: a prompt is a function of its messages.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from stead_sym.agents.prompts.prompt import Message
from stead_sym.agents.records.digest import digest
from stead_sym.agents.records.possible import Tokens
from stead_sym.errors import ModelError
from stead_sym.models.control_tokens import ControlTokens
from stead_sym.models.encoding import Encoded
from stead_sym.models.tokenizer import library

_CONTROL, _ADDED = 8, 16  # LLAMA_TOKEN_ATTR_CONTROL, LLAMA_TOKEN_ATTR_USER_DEFINED


class ChatTemplate:
    """A template in Jinja with the texts of the special tokens that it may use, such as `bos_token`."""

    def __init__(self, template: str, special: Mapping[str, str], name: str) -> None:
        """Compile a template of the model ``name``; raise `ModelError` if the text is no template."""
        library("jinja2", name, "llama")
        from jinja2.exceptions import TemplateError
        from jinja2.ext import loopcontrols
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        def refuse(message: str) -> None:
            raise TemplateError(message)

        self._wrong = TemplateError
        self._name = name
        self._special = dict(special)
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols]
        )
        environment.globals["raise_exception"] = refuse
        environment.filters["tojson"] = _as_json
        try:
            self._template = environment.from_string(template)
        except TemplateError as error:
            raise ModelError(f"{name}: its chat template is none: {error}; use another file") from None

    def text(self, messages: Sequence[Message]) -> str:
        """Return the chat as text, up to the start of the model's answer.

        Raise `ModelError` if the template rejects it.
        """
        chat = [message._asdict() for message in messages]
        try:
            text: str = self._template.render(
                messages=chat, add_generation_prompt=True, enable_thinking=False, **self._special
            )
            return text
        except self._wrong as error:
            raise ModelError(
                f"the chat template of {self._name} refuses the prompt: {error}; change the prompt's messages"
            ) from None


def _as_json(data: Any, indent: int | None = None) -> str:
    return json.dumps(data, ensure_ascii=False, indent=indent)


class LlamaVocabulary:
    """The vocabulary of a GGUF file, as `control_tokens.Vocabulary`."""

    def __init__(self, vocabulary: Any) -> None:
        self._vocabulary = vocabulary
        kinds = {number: int(vocabulary.get_attr(number)) for number in range(vocabulary.n_vocab)}
        known = {number for number, kind in kinds.items() if kind & (_CONTROL | _ADDED)}
        self.control = frozenset(number for number in known if vocabulary.get_text(number).strip())
        self.special = frozenset(number for number in self.control if kinds[number] & _CONTROL)

    def encoded(self, text: str) -> Encoded:
        """Return the tokens of a text; see `control_tokens.Vocabulary`."""
        return Encoded.of(self._vocabulary.tokenize(text, False, True), self.control)

    def plain(self, text: str) -> Tokens:
        """Return the tokens of a text without special tokens; see `control_tokens.Vocabulary`.

        Control tokens that are not special are still found in the text.
        """
        return tuple(self._vocabulary.tokenize(text, False, False))


class LlamaTokenizer:
    """The tokenizer and the chat template of a GGUF file.

    Raises `ModelError` if it has no template or no end token.
    """

    def __init__(self, model: Any, name: str) -> None:
        self._vocabulary = vocabulary = model.get_vocab()
        template = model.get_default_chat_template()
        if not template:
            raise ModelError(f"{name} has no chat template; use a file of a model that was trained to chat")
        self.end: int = vocabulary.token_eos()
        if self.end < 0:
            raise ModelError(f"{name} has no end token; use another file of this model")
        tokens = {"bos_token": vocabulary.token_bos(), "eos_token": self.end}
        special = {key: vocabulary.get_text(token) if token >= 0 else "" for key, token in tokens.items()}
        self._template = ChatTemplate(template, special, name)
        self._control = ControlTokens(LlamaVocabulary(vocabulary), name)
        self.identity: Mapping[str, str] = {"template": digest(template)}

    def prompt(self, messages: Sequence[Message]) -> Tokens:
        """Return the tokens of a chat up to the start of the model's answer.

        Text in a message never becomes a control token.
        """
        return self._control.prompt(messages, self._template.text)

    def text(self, text: str) -> Tokens:
        """Return the tokens of a text, without special ones at its ends or in it."""
        return self._control.text(text)

    def spelled(self, token: int) -> str:
        """Return the text of a token."""
        text: str = self._vocabulary.token_to_piece(token, 0, True)
        return text
