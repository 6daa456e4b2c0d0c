"""Prompts as tokens in which control tokens are the chat template's alone.

A chat template surrounds the messages with control tokens such as `<|im_end|>`; a tokenizer finds these also
where a message spells them out, so that a text which an agent is shown could end its message and begin
another. The decision: a prompt is tokenized as a whole, as models are used to, and where control tokens come
out that the template did not write, piece by piece instead: the template's text as it is, the messages by a
tokenizer that knows no control tokens. So a prompt that spells none has the tokens that it always had.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import Any, Protocol

from stead_sym.agents.prompts.prompt import Message
from stead_sym.agents.records.possible import Tokens
from stead_sym.errors import ModelError
from stead_sym.models.encoding import Encoded, Encoder

Render = Callable[[Sequence[Message]], str]
"""A chat template: messages to the text of a prompt."""

_PRIVATE = range(0xF0000, 0xFFFFE)
"""Characters without a meaning, one of which marks where the messages are."""


class Vocabulary(Protocol):
    """A tokenizer, bare. ``control`` are its control tokens, white space aside; ``special`` are those of them
    that it calls special; others, such as `<tool_call>`, a model may be meant to write."""

    @property
    def control(self) -> frozenset[int]: ...
    @property
    def special(self) -> frozenset[int]: ...

    def encoded(self, text: str, /) -> Encoded:
        """The tokens of a text, control tokens where it spells them; these are what is watched for."""
        ...

    def plain(self, text: str, /) -> Tokens:
        """The tokens of a text by a tokenizer that knows no control tokens."""
        ...


class HubVocabulary:
    """That of a tokenizer of `transformers`: control tokens are those that were added to its vocabulary."""

    def __init__(self, tokenizer: Any) -> None:
        added = tokenizer.backend_tokenizer.get_added_tokens_decoder()
        self.control = frozenset(number for number, token in added.items() if token.content.strip())
        self.special = frozenset(number for number in self.control if added[number].special)
        self._tokenizer = tokenizer
        self._encoder = Encoder(tokenizer, self.control)

    def encoded(self, text: str) -> Encoded:
        """See `Vocabulary`."""
        return self._encoder.encode(text)

    def plain(self, text: str) -> Tokens:
        """See `Vocabulary`."""
        return tuple(self._without.encode(text, add_special_tokens=False).ids)

    @cached_property
    def _without(self) -> Any:
        """The tokenizer without the tokens that were added to its vocabulary."""
        backend = self._tokenizer.backend_tokenizer
        data = json.loads(backend.to_str())
        data.update(added_tokens=[], post_processor=None, truncation=None, padding=None)
        return type(backend).from_str(json.dumps(data))


class ControlTokens:
    """What keeps the control tokens of a vocabulary to the chat template. ``name`` is that of the model."""

    def __init__(self, vocabulary: Vocabulary, name: str) -> None:
        self._vocabulary = vocabulary
        self._name = name
        self._of_template: dict[tuple[str, ...], Tokens] = {}

    def prompt(self, messages: Sequence[Message], render: Render) -> Tokens:
        """The tokens of a prompt; `ModelError` where the template does not write each message once, and a
        message spells a control token."""
        encoded = self._vocabulary.encoded(render(messages))
        roles = tuple(message.role for message in messages)
        if roles not in self._of_template:
            pieces = self._pieces([Message(role, "") for role in roles], render)
            parts = (self._vocabulary.encoded(piece).watched for piece in pieces)
            self._of_template[roles] = tuple(token for part in parts for token in part)
        if encoded.watched == self._of_template[roles]:
            return encoded.tokens
        first, *others = self._pieces(messages, render)
        apart = list(self._vocabulary.encoded(first).tokens)
        for message, piece in zip(messages, others, strict=True):
            apart += [
                *self._plain(message.content, self._vocabulary.control),
                *self._vocabulary.encoded(piece).tokens,
            ]
        return tuple(apart)

    def text(self, text: str) -> Tokens:
        """The tokens of a text; what spells a special token in it is text like any other."""
        tokens = self._vocabulary.encoded(text).tokens
        return (
            tokens
            if self._vocabulary.special.isdisjoint(tokens)
            else self._plain(text, self._vocabulary.special)
        )

    def _pieces(self, messages: Sequence[Message], render: Render) -> list[str]:
        """What the template writes before, between and after the contents of the messages."""
        contents = "".join(message.content for message in messages)
        mark = next(chr(number) for number in _PRIVATE if chr(number) not in contents)
        marked = [Message(m.role, f"{mark}{number}{mark}") for number, m in enumerate(messages)]
        pieces = re.split(f"{mark}(\\d+){mark}", render(marked))
        if pieces[1::2] != [str(number) for number in range(len(messages))]:
            raise ModelError(
                f"the chat template of {self._name} does not write every message once, so that a text in it"
                " cannot be told from the template's own; use another template"
            )
        return pieces[::2]

    def _plain(self, text: str, refused: Collection[int]) -> Tokens:
        """The tokens of a text in which what spells a control token is a text like any other."""
        tokens = self._vocabulary.plain(text)
        if not self._holds(tokens, refused):
            return tokens
        # Some vocabularies hold the spelling of a control token as a word: then letter by letter.
        tokens = tuple(token for letter in text for token in self._vocabulary.plain(letter))
        if self._holds(tokens, refused):
            raise ModelError(
                f"the tokenizer of {self._name} has no way to write a text that spells one of its control"
                " tokens; take that out of the text"
            )
        return tokens

    @staticmethod
    def _holds(tokens: Tokens, refused: Collection[int]) -> bool:
        return any(token in refused for token in tokens)
