"""Tokenize texts line by line, with a cache of lines.

The decision: a tokenizer first splits a text into words, and the tokens of a word do not depend on its
context. So a text can be cut between two words, and prompts of one deployment have most of their lines in
common. A text is cut at its line feeds, only for tokenizers that end a word there (`_Cut`), and only as long
as the tokens equal those of the whole text whenever that is checked: at the first texts and at some of the
later ones.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Container, Iterable, Sequence
from itertools import chain, pairwise, product
from typing import Any, NamedTuple

from stead_sym.agents.records.possible import Tokens

_MIN_CHARACTERS = 256  # the minimum length of a text that is cut, in characters
_FIRST, _SOME = 4, 256  # the first texts are checked, and later one of this number
_MAX_CHANGES = 64  # the maximum number of times that the common prefix is recomputed
_MAX_KEPT_CHARACTERS = 1 << 20  # the capacity of the cache of lines, in characters


class Encoded(NamedTuple):
    """The tokens of a text, and the watched ones among them, in order."""

    tokens: Tokens
    watched: Tokens

    @classmethod
    def of(cls, tokens: Iterable[int], watched: Container[int]) -> Encoded:
        """Return the tokens with those that are in ``watched``."""
        tokens = tuple(tokens)
        return cls(tokens, tuple(token for token in tokens if token in watched))


class _Cut(NamedTuple):
    """A rule for cutting a text at line feeds.

    A cut is at the end of a match of ``pattern``, or at its start if ``before``. ``lefts`` and ``rights`` are
    sample texts: there must be a word boundary between any two of them.
    """

    pattern: re.Pattern[str]
    before: bool
    lefts: Sequence[str]
    rights: Sequence[str]

    def places(self, text: str, start: int = 0) -> list[int]:
        """Return the positions of the cuts, from ``start`` on."""
        first = start if self.before else max(0, start - 1)
        found = self.pattern.finditer(text, first)
        return [match.start() if self.before else match.end() for match in found]

    def pieces(self, text: str, start: int = 0) -> list[str]:
        """Return the pieces of the text from ``start`` on."""
        bounds = pairwise((start, *self.places(text, start), len(text)))
        return [text[one:other] for one, other in bounds if one < other]


_LETTERS = (*"aé中1", "42", "},", "'s", "<|", "—", *string.punctuation.replace("/", ""))
_LINES = tuple(f"{letter}\n" for letter in (*_LETTERS, "", "\n", "  ", "a ", ". ", "\t"))
_CUTS = (
    # For tokenizers whose words include line feeds only with other white space, like GPT-2's.
    _Cut(
        re.compile(r"\n(?<=\S\n)"),
        True,
        _LETTERS,
        [f"\n{rest}" for rest in (*_LETTERS, "/", "", "\n", " a", '  "', "\t", "\r\n", "  \n")],
    ),
    # For tokenizers whose words may end with line feeds, like Llama 3's, or with line feeds and slashes.
    _Cut(
        re.compile(r"\n(?=[^\S\r\n]*[^\s/])"),
        False,
        _LINES,
        [f"{space}{rest}" for space in ("", " ", "  ", "\t") for rest in _LETTERS],
    ),
    # For both.
    _Cut(re.compile(r"\n(?=[^\s/])"), False, _LINES, _LETTERS),
)


class Encoder:
    """A fast tokenizer of the library `transformers`, with caches; it adds no tokens."""

    def __init__(self, tokenizer: Any, watched: Container[int] = ()) -> None:
        """Analyse a tokenizer; ``watched`` are the tokens to report in `Encoded.watched`."""
        self._backend = tokenizer.backend_tokenizer
        self._cut = _cut(self._backend)
        self._watched = watched
        self._used = 0
        self._lines: dict[str, Encoded] = {}
        self._room = _MAX_KEPT_CHARACTERS
        self._latest = "", "", Encoded((), ())
        self._changes = _MAX_CHANGES

    def encode(self, text: str) -> Encoded:
        """Return the tokens of a text, with control tokens where it spells them."""
        if self._cut is None or len(text) < _MIN_CHARACTERS:
            return self._whole(text)
        known = self._lines
        start, beginning = self._beginning(self._cut, text)
        lines = [known.get(line) or self._line(line) for line in self._cut.pieces(text, start)]
        encoded = Encoded(
            tuple(chain(beginning.tokens, *(line.tokens for line in lines))),
            tuple(chain(beginning.watched, *(line.watched for line in lines))),
        )
        self._used += 1
        checked = self._used <= _FIRST or self._used % _SOME == 0
        if checked and encoded != (whole := self._whole(text)):
            self._cut = None
            return whole
        return encoded

    def _beginning(self, cut: _Cut, text: str) -> tuple[int, Encoded]:
        """Return the length and the tokens of the common prefix of this text and the latest ones.

        The prefix ends at a cut. Most of a prompt is the same in all of them.
        """
        last, shared, encoded = self._latest
        if shared and text.startswith(shared) and _is_place(cut, text, len(shared)):
            return len(shared), encoded
        if not self._changes:
            return 0, Encoded((), ())
        self._changes -= 1
        length = max((p for p in cut.places(text) if last.startswith(text[:p])), default=0)
        encoded = self._whole(text[:length])
        self._latest = text, text[:length], encoded
        return length, encoded

    def _line(self, text: str) -> Encoded:
        self._room -= len(text)
        if self._room < 0:
            self._lines, self._room = {}, _MAX_KEPT_CHARACTERS
        encoded = self._lines[text] = self._whole(text)
        return encoded

    def _whole(self, text: str) -> Encoded:
        return Encoded.of(self._backend.encode(text, add_special_tokens=False).ids, self._watched)


def _is_place(cut: _Cut, text: str, place: int) -> bool:
    """Return True if the text is cut at this position."""
    match = cut.pattern.match(text, place if cut.before else place - 1)
    return match is not None and place == (match.start() if cut.before else match.end())


def _cut(backend: Any) -> _Cut | None:
    """Return the rule with the most cuts that is valid for a tokenizer; None if there is none."""
    data = json.loads(backend.to_str())
    if not (_ends_words_with_lines(data) and all(map(_stands_alone, data["added_tokens"]))):
        return None

    def cuts(left: str, right: str) -> bool:
        words = backend.pre_tokenizer.pre_tokenize_str(left + right)
        return any(start == len(left) for _, (start, _) in words)

    for cut in _CUTS:
        if all(cuts(left, right) for left, right in product(cut.lefts, cut.rights)):
            return cut
    return None


def _stands_alone(added: Any) -> bool:
    """Return True if an added token includes no surrounding white space."""
    return not (added["lstrip"] or added["rstrip"] or "\n" in added["content"])


def _ends_words_with_lines(tokenizer: Any) -> bool:
    """Return True if no word of the tokenizer, given as JSON data, continues from a line feed to other text.

    It is decided by the kinds of its splitting rules.
    """
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
