"""Texts to token ids, without computing again what many texts begin with.

The decision: a tokenizer splits a text into words first, and each word has its tokens whatever stands around
it; so a text can be cut between two words. It is cut only after a line feed that no white space follows, only
for tokenizers whose splitting is of a kind that ends a word there, and only as long as the tokens are those
of the whole text wherever that is checked: at the first texts and at some of the later ones.
"""

from __future__ import annotations

import json
import re
from typing import Any

from stead_sym.agent.records.possible import Tokens

_WORTH = 256  # characters that a beginning has at least
_BEGINNINGS = 8
_FIRST, _SOME = 4, 256  # so many texts are checked at first, and one of so many later


class _Beginning:
    """What several texts begin with, and its tokens."""

    def __init__(self, text: str, tokens: Tokens) -> None:
        self.text = text
        self.tokens = tokens
        self.used = 0

    def checks(self) -> bool:
        """Whether this use of it is one to be checked."""
        self.used += 1
        return self.used <= _FIRST or self.used % _SOME == 0


class Encoder:
    """The token ids of texts, none added, by a fast tokenizer of the library `transformers`."""

    def __init__(self, tokenizer: Any) -> None:
        self._backend = tokenizer.backend_tokenizer
        self._cuts = _ends_words_with_lines(json.loads(self._backend.to_str()))
        self._beginnings: list[_Beginning] = []
        self._last = ""

    def encode(self, text: str) -> Tokens:
        """The tokens of a text. What spells a control token is one."""
        if not self._cuts or len(text) < _WORTH:
            return self._whole(text)
        for beginning in self._beginnings:
            if text.startswith(beginning.text):
                return self._continued(beginning, text)
        shared = _lines(self._last, text)
        self._last = text
        if len(shared) < _WORTH or len(self._beginnings) == _BEGINNINGS:
            return self._whole(text)
        beginning = _Beginning(shared, self._whole(shared))
        self._beginnings.append(beginning)
        return self._continued(beginning, text)

    def _continued(self, beginning: _Beginning, text: str) -> Tokens:
        rest = text[len(beginning.text) :]
        if rest[:1].isspace():
            return self._whole(text)
        tokens = beginning.tokens + self._whole(rest)
        if beginning.checks() and tokens != (whole := self._whole(text)):
            self._cuts = False
            return whole
        return tokens

    def _whole(self, text: str) -> Tokens:
        return tuple(self._backend.encode(text, add_special_tokens=False).ids)


def _lines(one: str, other: str) -> str:
    """What two texts begin with, up to a line feed after which both go on with the same visible character."""
    pairs = zip(one, other, strict=False)
    length = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
    ends = [found.start() + 1 for found in re.finditer(r"\n(?=\S)", one[:length])]
    return one[: ends[-1]] if ends else ""


def _ends_words_with_lines(tokenizer: Any) -> bool:
    """Whether a tokenizer, as JSON data, splits by the kinds of rules after which no word goes on from a line
    feed to a character that is no white space."""
    normalizer, splitting = tokenizer.get("normalizer"), tokenizer.get("pre_tokenizer")
    if normalizer is not None and normalizer.get("type") not in ("NFC", "NFKC"):
        return False
    return splitting is not None and _splits(splitting)


def _splits(rule: Any) -> bool:
    match rule:
        case {"type": "Sequence", "pretokenizers": list(rules)}:
            return any(map(_splits, rules)) and all(_splits(part) or _adds_nothing(part) for part in rules)
        case {"type": "Split", "pattern": {"Regex": str(pattern)}}:
            return r"\s" in pattern
        case {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}:
            return True
        case _:
            return False


def _adds_nothing(rule: Any) -> bool:
    match rule:
        case {"type": "ByteLevel", "add_prefix_space": False} | {"type": "Digits"}:
            return True
        case _:
            return False
