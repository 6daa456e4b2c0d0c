"""Tokenize prompts such that only the chat template writes control tokens.

A chat template surrounds the messages with control tokens such as `<|im_end|>`. A tokenizer finds these also
in a message that spells them, so a text in an agent's view could end its message and start another. The
decision: a prompt is tokenized as a whole, as in the training of models. If that gives control tokens that
the template did not write, it is tokenized piece by piece instead: the template's text unchanged, the
messages by a tokenizer without control tokens. So a prompt that spells none has its usual tokens.
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
"""A chat template: a function from messages to the text of a prompt."""

_PRIVATE = range(0xF0000, 0xFFFFE)
"""Unassigned characters, one of which marks the positions of the messages."""


class Vocabulary(Protocol):
    """A plain tokenizer.

    ``control`` are its control tokens, except white space; ``special`` are those of them that it marks as
    special. The others, such as `<tool_call>`, may be part of a model's output.
    """

    @property
    def control(self) -> frozenset[int]:
        """The control tokens, except white space."""
        ...

    @property
    def special(self) -> frozenset[int]:
        """The control tokens that the tokenizer marks as special."""
        ...

    def encoded(self, text: str, /) -> Encoded:
        """Return the tokens of a text, including spelled control tokens; these are the watched ones."""
        ...

    def plain(self, text: str, /) -> Tokens:
        """Return the tokens of a text by a tokenizer without control tokens."""
        ...


class HubVocabulary:
    """The vocabulary of a `transformers` tokenizer; its control tokens are the added ones."""

    def __init__(self, tokenizer: Any) -> None:
        added = tokenizer.backend_tokenizer.get_added_tokens_decoder()
        self.control = frozenset(number for number, token in added.items() if token.content.strip())
        self.special = frozenset(number for number in self.control if added[number].special)
        self._tokenizer = tokenizer
        self._encoder = Encoder(tokenizer, self.control)

    def encoded(self, text: str) -> Encoded:
        """Return the tokens of a text; see `Vocabulary`."""
        return self._encoder.encode(text)

    def plain(self, text: str) -> Tokens:
        """Return the tokens of a text without control tokens; see `Vocabulary`."""
        return tuple(self._without.encode(text, add_special_tokens=False).ids)

    @cached_property
    def _without(self) -> Any:
        """The tokenizer without added tokens."""
        backend = self._tokenizer.backend_tokenizer
        data = json.loads(backend.to_str())
        data.update(added_tokens=[], post_processor=None, truncation=None, padding=None)
        return type(backend).from_str(json.dumps(data))


class ControlTokens:
    """A tokenizer of prompts that reserves the control tokens for the chat template.

    ``name`` is that of the model.
    """

    def __init__(self, vocabulary: Vocabulary, name: str) -> None:
        self._vocabulary = vocabulary
        self._name = name
        self._of_template: dict[tuple[str, ...], Tokens] = {}

    def prompt(self, messages: Sequence[Message], render: Render) -> Tokens:
        """Return the tokens of a prompt.

        Raise `ModelError` if a message spells a control token and the template does not write each message
        exactly once.
        """
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
        """Return the tokens of a text, with special tokens in it as plain text."""
        tokens = self._vocabulary.encoded(text).tokens
        return (
            tokens
            if self._vocabulary.special.isdisjoint(tokens)
            else self._plain(text, self._vocabulary.special)
        )

    def _pieces(self, messages: Sequence[Message], render: Render) -> list[str]:
        """Return the template's text before, between and after the contents of the messages."""
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
        """Return the tokens of a text, with control tokens in it as plain text."""
        tokens = self._vocabulary.plain(text)
        if not self._holds(tokens, refused):
            return tokens
        # Some vocabularies have the spelling of a control token as a word; then tokenize letter by letter.
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
