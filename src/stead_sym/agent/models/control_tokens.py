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
from typing import Any

from stead_sym.agent.models.encoding import Encoder
from stead_sym.agent.prompts.prompt import Message
from stead_sym.agent.records.possible import Tokens
from stead_sym.errors import ModelError

Render = Callable[[Sequence[Message]], str]
"""A chat template: messages to the text of a prompt."""

_PRIVATE = range(0xF0000, 0xFFFFE)
"""Characters that stand for nothing, one of which marks where the messages are."""


class ControlTokens:
    """The tokens of prompts and of other texts, by a tokenizer with these control tokens.

    ``encode`` gives the tokens of a text, control tokens where it spells them; ``plain`` does not look for
    those. ``special`` are those ``control`` tokens that the tokenizer calls special; others, such as
    `<tool_call>`, a model may be meant to write.
    """

    def __init__(
        self,
        encode: Callable[[str], Tokens],
        plain: Callable[[str], Tokens],
        control: Collection[int],
        special: Collection[int],
        name: str,
    ) -> None:
        self.control = frozenset(control)
        self.special = frozenset(special)
        self._encoded = encode
        self._unread = plain
        self._name = name
        self._of_template: dict[tuple[str, ...], Tokens] = {}

    @classmethod
    def of(cls, tokenizer: Any, name: str) -> ControlTokens:
        """Those of a fast tokenizer of the library `transformers`: the tokens that were added to its
        vocabulary, white space aside."""
        added = tokenizer.backend_tokenizer.get_added_tokens_decoder()
        control = {number: token for number, token in added.items() if token.content.strip()}
        special = {number for number, token in control.items() if token.special}
        return cls(Encoder(tokenizer).encode, _Plain(tokenizer).encode, control, special, name)

    def prompt(self, messages: Sequence[Message], render: Render) -> Tokens:
        """The tokens of a prompt; `ModelError` where the template does not write each message once, and a
        message spells a control token."""
        tokens = self._encoded(render(messages))
        roles = tuple(message.role for message in messages)
        if roles not in self._of_template:
            pieces = self._pieces([Message(role, "") for role in roles], render)
            self._of_template[roles] = self._among([t for p in pieces for t in self._encoded(p)])
        if self._among(tokens) == self._of_template[roles]:
            return tokens
        first, *others = self._pieces(messages, render)
        apart = list(self._encoded(first))
        for message, piece in zip(messages, others, strict=True):
            apart += [*self._plain(message.content, self.control), *self._encoded(piece)]
        return tuple(apart)

    def text(self, text: str) -> Tokens:
        """The tokens of a text, none of them special."""
        tokens = self._encoded(text)
        return tokens if self.special.isdisjoint(tokens) else self._plain(text, self.special)

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
        tokens = self._unread(text)
        if not self._holds(tokens, refused):
            return tokens
        # Some vocabularies hold the spelling of a control token as a word: then letter by letter.
        tokens = tuple(token for letter in text for token in self._unread(letter))
        if self._holds(tokens, refused):
            raise ModelError(
                f"the tokenizer of {self._name} has no way to write a text that spells one of its control"
                " tokens; take that out of the text"
            )
        return tokens

    @staticmethod
    def _holds(tokens: Tokens, refused: Collection[int]) -> bool:
        return any(token in refused for token in tokens)

    def _among(self, tokens: Sequence[int]) -> Tokens:
        return tuple(filter(self.control.__contains__, tokens))


class _Plain:
    """A tokenizer without the tokens that were added to its vocabulary, made when it is first needed."""

    def __init__(self, tokenizer: Any) -> None:
        self._backend = tokenizer.backend_tokenizer

    def encode(self, text: str) -> Tokens:
        return tuple(self._without.encode(text, add_special_tokens=False).ids)

    @cached_property
    def _without(self) -> Any:
        data = json.loads(self._backend.to_str())
        data.update(added_tokens=[], post_processor=None, truncation=None, padding=None)
        return type(self._backend).from_str(json.dumps(data))
