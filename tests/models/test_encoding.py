"""Texts that are tokenized line by line have the tokens of the whole text, for tokenizers of every kind."""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest

tokenizers = pytest.importorskip("tokenizers")

from stead_sym.models import encoding  # noqa: E402
from stead_sym.models.encoding import Encoder  # noqa: E402

LLAMA = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
SPLITS = {
    "llama 3": LLAMA,
    "with slashes": LLAMA.replace(r"[\r\n]*", r"[\r\n/]*"),
    "gpt-2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "letters after line feeds": LLAMA.replace(r"[^\r\n\p{L}\p{N}]?\p{L}+", r"[^\r\p{L}\p{N}]?\p{L}+"),
    "whole lines": r"[^\n]+\n?|\s+",
}
WORDS = ["a", "Za", "é", "中", "7", "42", '"', "]", "},", "/", "//", "'s", "<|end|>", "—", "\U0001f600", "—a"]
SPACES = ["\n", "\n", "\n", " ", "  ", "\t", "\r\n", "\x0b", "\x1c", "\x85", "\xa0", "\u2028", "\n\n", "", ""]


def byte_level(regex):
    return tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=regex)


def split(pattern):
    parts = tokenizers.pre_tokenizers
    return parts.Sequence([parts.Split(tokenizers.Regex(pattern), "isolated"), byte_level(False)])


def kinds():
    parts = tokenizers.pre_tokenizers
    yield "bytes", byte_level(True), None
    yield "digits", parts.Sequence([parts.Digits(individual_digits=True), byte_level(True)]), None
    yield "composed", byte_level(True), tokenizers.normalizers.NFKC()
    yield "words", parts.Whitespace(), None
    yield "metaspace", parts.Metaspace(), None
    yield "bare", None, None
    for name, pattern in SPLITS.items():
        yield name, split(pattern), None


def text(dice, length):
    return "".join(dice.choice(WORDS) + dice.choice(SPACES) for _ in range(length))


def learnt(pre_tokenizer, normalizer, added=()):
    """A tokenizer that has learnt from texts of the same kind, so that tokens go over every place where its
    words do."""
    core = tokenizers.Tokenizer(tokenizers.models.BPE())
    if pre_tokenizer is not None:
        core.pre_tokenizer = pre_tokenizer
    if normalizer is not None:
        core.normalizer = normalizer
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=3000,
        initial_alphabet=sorted({*tokenizers.pre_tokenizers.ByteLevel.alphabet(), *"".join(WORDS + SPACES)}),
        show_progress=False,
    )
    dice = random.Random(7)
    core.train_from_iterator([text(dice, 60) for _ in range(600)], trainer)
    core.add_tokens([*added])
    return SimpleNamespace(backend_tokenizer=core)


@pytest.mark.parametrize(
    ("kind", "pre_tokenizer", "normalizer"), [pytest.param(*k, id=k[0]) for k in kinds()]
)
def test_lines_have_the_tokens_of_the_whole(kind, pre_tokenizer, normalizer, monkeypatch):
    monkeypatch.setattr(encoding, "_FIRST", 0)  # what is checked on the way would hide a wrong cut
    monkeypatch.setattr(encoding, "_SOME", 1 << 60)
    tokenizer = learnt(pre_tokenizer, normalizer, [tokenizers.AddedToken("<|end|>", special=True)])
    encoder = Encoder(tokenizer)
    dice = random.Random(0)
    for _ in range(400):
        some = text(dice, 120)
        assert len(some) >= encoding._MIN_CHARACTERS
        whole = tokenizer.backend_tokenizer.encode(some, add_special_tokens=False).ids
        assert encoder.encode(some).tokens == tuple(whole), (kind, some)


def test_the_usual_kinds_are_cut_within_an_indented_text():
    for kind, pre_tokenizer, normalizer in kinds():
        encoder = Encoder(learnt(pre_tokenizer, normalizer))
        cut = encoder._cut
        pieces = [] if cut is None else cut.pieces('{\n  "A": [],\n  "B": []\n}\n\nEnd\n/a\n b')
        assert "".join(pieces) == ("" if cut is None else '{\n  "A": [],\n  "B": []\n}\n\nEnd\n/a\n b')
        usual = kind in ("bytes", "digits", "composed", "llama 3", "with slashes", "gpt-2")
        assert (len(pieces) > 5) == usual, kind


@pytest.mark.parametrize("strip", ["lstrip", "rstrip"])
def test_tokens_that_take_up_white_space_are_respected(strip, monkeypatch):
    monkeypatch.setattr(encoding, "_FIRST", 0)
    monkeypatch.setattr(encoding, "_SOME", 1 << 60)
    added = tokenizers.AddedToken("<|end|>", special=True, **{strip: True})
    tokenizer = learnt(byte_level(True), None, [added])
    some = "<|end|>\n a\n<|end|>\nb\n\n" * 40
    whole = tokenizer.backend_tokenizer.encode(some, add_special_tokens=False).ids
    assert Encoder(tokenizer).encode(some).tokens == tuple(whole)


def test_a_cut_that_is_wrong_after_all_is_given_up():
    class Odd:
        """A tokenizer whose tokens depend on the length of the text."""

        pre_tokenizer = byte_level(True)

        def to_str(self):
            core = tokenizers.Tokenizer(tokenizers.models.BPE())
            core.pre_tokenizer = self.pre_tokenizer
            return core.to_str()

        def encode(self, text, add_special_tokens):
            return SimpleNamespace(ids=[len(text)])

    encoder = Encoder(SimpleNamespace(backend_tokenizer=Odd()))
    some = "line\n" * 100
    assert {encoder.encode(some).tokens for _ in range(2 * encoding._FIRST)} == {(500,)}
